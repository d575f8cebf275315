// sweep.c - --sweep: a grid of launches.
#include "cli/sweep.h"

#include <string.h>

#include "support/parallel.h"

typedef struct {
    Session *s;
    SweepVisit *visit;
    void *ctx;
} Sweep;

static Text words_of(Arena *a, const NamedText *d, int from, int to)
{
    TextBuf b = {0};
    for (int i = from; i < to; i++)
        buf_printf(&b, "%s%.*s=%.*s", i > from ? " " : "", TEXT_ARG(d[i].name),
                   TEXT_ARG(d[i].value));
    Text t = text_copy(a, buf_view(&b));
    buf_release(&b);
    return t;
}

static void visit_point(const Sweep *w, const NamedText *d, int count)
{
    int fixed = w->s->define_count;
    SweepPoint p = {.defines = d, .count = count, .fixed = fixed};
    p.words = words_of(w->s->cli->arena, d, fixed, count);
    w->visit(w->ctx, &p);
}

// ---- NAME=A,B ... -----------------------------------------------------------

typedef struct {
    Text name;
    TextList values;
} Axis;

static Axis parse_axis(const Session *s, Text word)
{
    Axis a = {0};
    Cli *c = s->cli;
    Text values;
    cli_pair(c, OPT_SWEEP, word, &a.name, &values);
    for (int i = 0; i < s->define_count; i++)
        if (text_eq(s->defines[i].name, a.name))
            cli_usage(c, "'%.*s' is given by -D and by --sweep",
                      TEXT_ARG(a.name));
    int nested = 0;
    for (size_t i = 0, from = 0; i <= values.len; i++) {
        char ch = i < values.len ? values.at[i] : ',';
        nested += ch == '[' || ch == '(';
        nested -= ch == ']' || ch == ')';
        if (ch == ',' && nested == 0) {
            if (i == from)
                cli_usage(c, "--sweep '%.*s': a value is missing",
                          TEXT_ARG(word));
            vec_push(c->arena, &a.values, text_slice(values, from, i));
            from = i + 1;
        }
    }
    return a;
}

static int parse_axes(const Session *s, Text t, Axis *axes, int room)
{
    int n = 0;
    for (size_t i = 0; i < t.len;) {
        size_t j = i;
        while (j < t.len && t.at[j] != ' ')
            j++;
        if (j > i) {
            if (n == room)
                cli_usage(s->cli, "--sweep: at most %d names", room);
            axes[n++] = parse_axis(s, text_slice(t, i, j));
        }
        i = j + 1;
    }
    if (n == 0)
        cli_usage(s->cli, "--sweep '%.*s': expected NAME=A,B,... or autotune",
                  TEXT_ARG(t));
    return n;
}

static void sweep_axes(const Sweep *w, Text spec)
{
    Session *s = w->s;
    Axis axes[16];
    int at[16] = {0}, n = parse_axes(s, spec, axes, 16);
    int fixed = s->define_count;
    while (!parallel_cancelled()) {
        NamedText *d = new_array(s->cli->arena, NamedText, fixed + n + 1);
        for (int i = 0; i < fixed; i++)
            d[i] = s->defines[i];
        for (int i = 0; i < n; i++)
            d[fixed + i] = (NamedText){axes[i].name, axes[i].values.at[at[i]]};
        visit_point(w, d, fixed + n);
        int i = n - 1;
        while (i >= 0 && ++at[i] == axes[i].values.len)
            at[i--] = 0;
        if (i < 0)
            return;
    }
}

// ---- autotune ---------------------------------------------------------------

static bool overridden(const Session *s, Text name)
{
    for (int i = 0; i < s->define_count; i++)
        if (text_eq(s->defines[i].name, name))
            return true;
    return false;
}

// Appends a configuration of the program's own, as text that -D takes back,
// less what -D overrides.
static int config_pairs(const Session *s, const Dict *d, NamedText *out)
{
    int n = 0;
    for (int i = 0; i < d->len; i++) {
        if (d->keys[i].kind != VAL_STR || overridden(s, d->keys[i].s))
            continue;
        TextBuf b = {0};
        value_repr(s->host->lang, &b, d->values[i]);
        out[n++] = (NamedText){d->keys[i].s,
                               text_copy(s->cli->arena, buf_view(&b))};
        buf_release(&b);
    }
    return n;
}

static void sweep_configs(const Sweep *w, const List *configs)
{
    Session *s = w->s;
    int fixed = s->define_count;
    for (int i = 0; i < configs->len && !parallel_cancelled(); i++) {
        if (configs->at[i].kind != VAL_DICT)
            continue;
        const Dict *config = configs->at[i].dict;
        NamedText *d = new_array(s->cli->arena, NamedText,
                                 fixed + config->len + 1);
        for (int j = 0; j < fixed; j++)
            d[j] = s->defines[j];
        visit_point(w, d, fixed + config_pairs(s, config, d + fixed));
    }
}

static void sweep_autotune(const Sweep *w)
{
    Candidate c;
    Host *h = w->s->host;
    Diag *d = w->s->cli->diag;
    if (!launch_choose(h, h->module, cli_text(w->s->cli, OPT_KERNEL, ""), &c))
        return;
    int errors = diag_raised(d);
    List *configs = jit_configs(h, c.value);
    if (configs && configs->len)
        sweep_configs(w, configs);
    else if (diag_raised(d) == errors)
        diag_error(d, EXIT_USAGE, (Span){0}, "no-configs",
                   configs ? "'%.*s' has an empty list of autotune "
                             "configurations"
                           : "'%.*s' has no autotune configurations",
                   TEXT_ARG(c.name));
}

void sweep_points(Session *s, SweepVisit *visit, void *ctx)
{
    Sweep w = {s, visit, ctx};
    Text spec = cli_text(s->cli, OPT_SWEEP, "");
    if (text_is(spec, "autotune"))
        sweep_autotune(&w);
    else
        sweep_axes(&w, spec);
}
