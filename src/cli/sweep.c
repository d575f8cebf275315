// sweep.c - `tilesim run --sweep`: a grid of launches, one line each.
#include <string.h>

#include "cli/run.h"
#include "support/parallel.h"

// ---- NAME=A,B ... -----------------------------------------------------------

typedef struct {
    Text name;
    TextList values;
} Axis;

static Axis parse_axis(Run *r, Text word)
{
    Axis a = {0};
    Cli *c = r->s.cli;
    Text values;
    cli_pair(c, OPT_SWEEP, word, &a.name, &values);
    for (int i = 0; i < r->s.define_count; i++)
        if (text_eq(r->s.defines[i].name, a.name))
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

static int parse_axes(Run *r, Text t, Axis *axes, int room)
{
    int n = 0;
    for (size_t i = 0; i < t.len;) {
        size_t j = i;
        while (j < t.len && t.at[j] != ' ')
            j++;
        if (j > i) {
            if (n == room)
                cli_usage(r->s.cli, "--sweep: at most %d names", room);
            axes[n++] = parse_axis(r, text_slice(t, i, j));
        }
        i = j + 1;
    }
    if (n == 0)
        cli_usage(r->s.cli, "--sweep '%.*s': expected NAME=A,B,... or autotune",
                  TEXT_ARG(t));
    return n;
}

static Text sweep_words(Run *r, const NamedText *d, int from, int to)
{
    TextBuf b = {0};
    for (int i = from; i < to; i++)
        buf_printf(&b, "%s%.*s=%.*s", i > from ? " " : "", TEXT_ARG(d[i].name),
                   TEXT_ARG(d[i].value));
    Text t = text_copy(r->s.cli->arena, buf_view(&b));
    buf_release(&b);
    return t;
}

static void sweep_axes(Run *r, Text spec)
{
    Axis axes[16];
    int at[16] = {0}, n = parse_axes(r, spec, axes, 16);
    int fixed = r->s.define_count;
    NamedText *d = new_array(r->s.cli->arena, NamedText, fixed + n + 1);
    for (int i = 0; i < fixed; i++)
        d[i] = r->s.defines[i];
    while (!parallel_cancelled()) {
        for (int i = 0; i < n; i++)
            d[fixed + i] = (NamedText){axes[i].name, axes[i].values.at[at[i]]};
        run_one(r, d, fixed + n, sweep_words(r, d, fixed, fixed + n));
        int i = n - 1;
        while (i >= 0 && ++at[i] == axes[i].values.len)
            at[i--] = 0;
        if (i < 0)
            return;
    }
}

// The program's own configurations, as text: -D takes them back.
static int config_pairs(Run *r, const Dict *d, NamedText *out, int room)
{
    int n = 0;
    for (int i = 0; i < d->len && n < room; i++) {
        if (d->keys[i].kind != VAL_STR)
            continue;
        TextBuf b = {0};
        value_repr(r->s.host->lang, &b, d->values[i]);
        out[n++] = (NamedText){d->keys[i].s,
                               text_copy(r->s.cli->arena, buf_view(&b))};
        buf_release(&b);
    }
    return n;
}

static bool overridden(const Run *r, Text name)
{
    for (int i = 0; i < r->s.define_count; i++)
        if (text_eq(r->s.defines[i].name, name))
            return true;
    return false;
}

static void sweep_configs(Run *r, const List *configs)
{
    int fixed = r->s.define_count;
    for (int i = 0; i < configs->len && !parallel_cancelled(); i++) {
        NamedText more[64], d[128];
        if (configs->at[i].kind != VAL_DICT || fixed > 64)
            continue;
        int count = config_pairs(r, configs->at[i].dict, more, 64), n = 0;
        for (int j = 0; j < fixed; j++)
            d[n++] = r->s.defines[j];
        for (int j = 0; j < count; j++)
            if (!overridden(r, more[j].name))
                d[n++] = more[j];
        run_one(r, d, n, sweep_words(r, d, fixed, n));
    }
}

static void sweep_autotune(Run *r)
{
    Candidate c;
    Host *h = r->s.host;
    if (!launch_choose(h, h->module, cli_text(r->s.cli, OPT_KERNEL, ""), &c))
        return;
    List *configs = jit_configs(h, c.value);
    if (configs)
        sweep_configs(r, configs);
    else
        diag_error(r->s.cli->diag, EXIT_USAGE, (Span){0}, "no-configs",
                   "'%.*s' has no autotune configurations", TEXT_ARG(c.name));
}

// ---- both -------------------------------------------------------------------

static void part(TextBuf *b, int n, const char *what)
{
    if (n)
        buf_printf(b, "%s%d %s", b->len ? ", " : "", n, what);
}

void run_sweep(Run *r, Text spec)
{
    TextBuf b = {0};
    ReferenceCache cache = {0};
    r->judge.cache = &cache;
    if (text_is(spec, "autotune"))
        sweep_autotune(r);
    else
        sweep_axes(r, spec);
    reference_forget(&cache);
    r->judge.cache = NULL;
    part(&b, r->rows[0], "ok");
    part(&b, r->rows[1], "wrong");
    part(&b, r->rows[2], "without a result");
    if (b.len && !r->s.cli->json)
        printf("\n%d launches: %.*s\n", r->rows[0] + r->rows[1] + r->rows[2],
               (int)b.len, b.at);
    buf_release(&b);
}
