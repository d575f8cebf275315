// debug_print.c - what a stopped block holds: names, tiles, places, owners.
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/debug.h"

// ---- what the names are -----------------------------------------------------

static Arena *arena_of(const Debug *d)
{
    return d->s.cli->arena;
}

// The innermost of that name; NULL: there is none here.
static const CodeName *debug_name(const Debug *d, Text name)
{
    for (int i = d->step->name_count - 1; i >= 0; i--)
        if (text_eq(d->step->name[i].name, name))
            return &d->step->name[i];
    return NULL;
}

// A tile as a tensor of float64 or int64.
static bool tile_tensor(Debug *d, const CodeName *n, Tensor *out)
{
    InterpTile tile;

    if (!interp_stop_tile(d->at, n->buffer, &tile)
        || !tensor_new_raw(&d->s.host->heap, out,
                           dtype_is_float(n->dtype) ? DT_F64 : DT_I64,
                           tile.rank, tile.shape))
        return false;
    interp_stop_read(d->at, n->buffer, tensor_data(out));
    return true;
}

static bool name_value(Debug *d, const CodeName *n, Value *out)
{
    Tensor t;

    if (n->buffer >= 0) {
        if (!tile_tensor(d, n, &t))
            return false;
        *out = tensor_value(d->s.host, t);
    } else if (dtype_is_float(n->dtype)) {
        *out = v_float(interp_stop_float(d->at, n));
    } else if (n->dtype == DT_BOOL) {
        *out = v_bool(interp_stop_int(d->at, n) != 0);
    } else {
        *out = v_int(interp_stop_int(d->at, n));
    }
    return true;
}

// The names of the program that the expression has.
static void bind_names(Debug *d, Module *m, Text e)
{
    Lang *l = d->s.host->lang;
    Value v;

    for (size_t i = 0; i < e.len;) {
        size_t j = i;

        while (j < e.len && (isalnum((unsigned char)e.at[j]) || e.at[j] == '_'))
            j++;
        Text name = text_slice(e, i, j);
        const CodeName *n = name.len ? debug_name(d, name) : NULL;
        if (n && name_value(d, n, &v)) {
            module_set(l, m, text_cstr(arena_of(d), name), v);
            lang_pin(l, v);
        }
        i = j + (name.len == 0);
    }
}

static Diag *new_diag(const Debug *d, FILE *out)
{
    return diag_create(d->s.cli->sources, out, d->s.cli->color);
}

// The value stays pinned. False after saying why.
bool debug_evaluate(Debug *d, Text e, Value *out)
{
    Lang *l = d->s.host->lang;
    Module *m = lang_module(l, "debug");
    Diag *say = new_diag(d, d->in == stdin ? stdout : stderr);
    bool ok;

    bind_names(d, m, e);
    ok = lang_evaluate(l, say, e, m, out);
    diag_destroy(say);
    return ok;
}

// ---- where it is ------------------------------------------------------------

int debug_line(const Debug *d)
{
    Span at = d->step->at;

    return sources_place(d->s.cli->sources, at.file, at.begin).line;
}

static void put_scalars(Debug *d, TextBuf *b)
{
    for (int i = 0; i < d->step->name_count; i++) {
        const CodeName *n = &d->step->name[i];

        if (n->buffer >= 0 || debug_name(d, n->name) != n)
            continue;
        buf_printf(b, "  %.*s ", TEXT_ARG(n->name));
        if (dtype_is_float(n->dtype))
            buf_printf(b, "%.9g", interp_stop_float(d->at, n));
        else
            buf_printf(b, "%" PRId64, interp_stop_int(d->at, n));
    }
}

static void put_block(Debug *d, TextBuf *b)
{
    int64_t at[3];
    int rank = interp_stop_block(d->at, at), first;
    int threads = interp_stop_threads(d->at, &first);

    buf_puts(b, "block (");
    for (int i = 0; i < rank; i++)
        buf_printf(b, "%s%" PRId64, i ? "," : "", at[i]);
    buf_addc(b, ')');
    if (threads)
        buf_printf(b, " threads %d to %d", first, first + threads - 1);
}

void debug_place(Debug *d, const char *why)
{
    TextBuf b = {0};
    const SourceSet *sources = d->s.cli->sources;
    int line = debug_line(d);

    if (*why)
        buf_printf(&b, "%s\n", why);
    put_block(d, &b);
    if (d->step->stmt < 0) {
        buf_puts(&b, ": the end\n");
    } else {
        put_scalars(d, &b);
        buf_printf(&b, "\n%5d   %.*s\n", line,
                   TEXT_ARG(sources_line(sources, d->step->at.file, line)));
    }
    buf_write(&b, stdout);
    buf_release(&b);
}

// ---- commands that show -----------------------------------------------------

static void show_buf(TextBuf *b)
{
    buf_write(b, stdout);
    buf_release(b);
}

static void show_value(Debug *d, Value v)
{
    Tensor *t = tensor_of(v);
    TextBuf b = {0};

    if (t) {
        debug_show_tensor(&b, t);
    } else {
        value_repr(d->s.host->lang, &b, v);
        buf_addc(&b, '\n');
    }
    show_buf(&b);
}

// A tile that each thread has to itself, or that is not there yet.
static bool explain_absent(Debug *d, Text e)
{
    const CodeName *n = debug_name(d, e);
    InterpTile tile;

    if (!n || n->buffer < 0 || interp_stop_tile(d->at, n->buffer, &tile))
        return false;
    debug_fail(d, "%.*s is each thread's own, or not there yet: it cannot be "
               "shown", TEXT_ARG(e));
    return true;
}

void debug_print(Debug *d, Text e)
{
    int pins = lang_pins(d->s.host->lang);
    Value v;

    if (!e.len)
        debug_fail(d, "print what? A name, a slice as in x[0:4,:], an "
                   "expression");
    else if (!explain_absent(d, e)) {
        if (debug_evaluate(d, e, &v))
            show_value(d, v);
        else
            d->failed = !d->talks;
    }
    lang_unpin(d->s.host->lang, pins);
}

void debug_heat(Debug *d, Text e)
{
    int pins = lang_pins(d->s.host->lang);
    TextBuf b = {0};
    Value v;

    if (explain_absent(d, e) || !debug_evaluate(d, e, &v))
        d->failed = !d->talks;
    else if (!tensor_of(v))
        debug_fail(d, "heat takes a tile or a slice of one");
    else
        debug_show_heat(&b, tensor_of(v));
    show_buf(&b);
    lang_unpin(d->s.host->lang, pins);
}

// NAME[i,j]: the numbers in it.
static bool read_indices(Debug *d, Text e, int64_t *index, int rank)
{
    Value v;
    List *list = NULL;

    if (!debug_evaluate(d, e, &v))
        return false;
    if (v.kind == VAL_LIST)
        list = v.list;
    for (int i = 0; list && i < rank && i < list->len; i++)
        if (list->at[i].kind == VAL_INT)
            index[i] = list->at[i].i;
        else
            list = NULL;
    if (!list || list->len != rank) {
        debug_fail(d, "it has %d dimension%s: name one element, as in x[0%s]",
                   rank, rank == 1 ? "" : "s", rank > 1 ? ",0" : "");
        return false;
    }
    return true;
}

static const IrBuffer *buffer_of(const Debug *d, const CodeName *n)
{
    return d->kernel->ir->buffers[n->buffer];
}

static void owner_of(Debug *d, const CodeName *n, Text indices)
{
    const Device *target = d->s.host->options.device;
    InterpTile tile;
    int64_t index[IR_MAX_RANK];
    TextBuf b = {0};
    PlanRules rules = session_rules(d->s.cli, PLAN_TILELANG);
    Plan *p;

    if (!interp_stop_tile(d->at, n->buffer, &tile)) {
        debug_fail(d, "each thread has its own");
        return;
    }
    if (!read_indices(d, indices, index, tile.rank))
        return;
    for (int i = 0; i < tile.rank; i++)
        if (index[i] < 0 || index[i] >= tile.shape[i]) {
            debug_fail(d, "index %d is %" PRId64 ", and there are %" PRId64, i,
                 index[i], tile.shape[i]);
            return;
        }
    p = plan_build(arena_of(d), d->kernel->ir, target, rules);
    if (!p)
        return;
    buf_printf(&b, "%s, rules %s: ", target->name, plan_rules_name(rules));
    debug_show_owner(&b, p, d->launch, buffer_of(d, n), tile.shape, index);
    show_buf(&b);
}

void debug_owner(Debug *d, Text e)
{
    const char *open = e.len ? memchr(e.at, '[', e.len) : NULL;
    Text name = open ? text_trim(text_slice(e, 0, open - e.at)) : e;
    const CodeName *n = debug_name(d, name);

    if (!open || !n || n->buffer < 0)
        debug_fail(d, "owner takes an element of a tile, as in acc_s[3,5]");
    else
        owner_of(d, n, text_slice(e, open - e.at, e.len));
}

void debug_where(Debug *d, Text e)
{
    (void)e;
    debug_place(d, "");
}

void debug_list(Debug *d, Text e)
{
    int line = debug_line(d), first = line > 5 ? line - 5 : 1;
    const SourceSet *sources = d->s.cli->sources;
    uint32_t file = d->step->at.file;
    int last = sources_place(sources, file,
                             (uint32_t)sources_get(sources, file)->text.len)
                   .line;

    (void)e;
    for (int i = first; i <= line + 5 && i <= last; i++) {
        bool stops = false;

        for (int k = 0; k < d->breaks.len; k++)
            stops |= d->breaks.at[k].line == i;
        printf("%5d %c%c %.*s\n", i, i == line ? '>' : ' ', stops ? '*' : ' ',
               TEXT_ARG(sources_line(sources, file, i)));
    }
}

static void put_tile(Debug *d, TextBuf *b, const CodeName *n)
{
    InterpTile tile;
    bool there = interp_stop_tile(d->at, n->buffer, &tile);

    buf_printf(b, "  %-16.*s %s", TEXT_ARG(n->name),
               dtype_info(n->dtype)->name);
    for (int i = 0; there && i < tile.rank; i++)
        buf_printf(b, "%s%" PRId64, i ? "," : "[", tile.shape[i]);
    buf_puts(b, there ? "]" : "  each thread's own");
    buf_puts(b, there && tile.global ? "  global\n" : "\n");
}

void debug_names(Debug *d, Text e)
{
    TextBuf b = {0};

    (void)e;
    put_scalars(d, &b);
    if (b.len)
        buf_addc(&b, '\n');
    for (int i = 0; i < d->step->name_count; i++)
        if (d->step->name[i].buffer >= 0
            && debug_name(d, d->step->name[i].name) == &d->step->name[i])
            put_tile(d, &b, &d->step->name[i]);
    show_buf(&b);
}
