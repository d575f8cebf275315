// run_options.c - the options of `tilesim run`, read and checked.
#include <string.h>

#include "cli/run.h"

// ---- --print and --block ----------------------------------------------------

// "0:4" or "3" or ":" of a --print slice.
static bool print_range(Text t, int64_t *from, int64_t *to)
{
    const char *colon = memchr(t.at, ':', t.len);
    *from = 0;
    *to = INT64_MAX;
    if (!colon) {
        if (!text_to_i64(t, from) || *from < 0)
            return false;
        *to = *from + 1;
        return true;
    }
    Text a = text_trim(text_slice(t, 0, colon - t.at));
    Text b = text_trim(text_slice(t, colon + 1 - t.at, t.len));
    return (!a.len || (text_to_i64(a, from) && *from >= 0))
           && (!b.len || (text_to_i64(b, to) && *to >= *from));
}

static bool print_slices(Text t, InterpPrint *p)
{
    for (size_t i = 0; i <= t.len;) {
        size_t j = i;
        while (j < t.len && t.at[j] != ',')
            j++;
        if (p->rank == INTERP_MAX_RANK
            || !print_range(text_trim(text_slice(t, i, j)), &p->from[p->rank],
                            &p->to[p->rank]))
            return false;
        p->rank++;
        i = j + 1;
    }
    return true;
}

// acc_s[0:4,:]@k=3
static bool print_spec(Text t, InterpPrint *p)
{
    const char *at = memchr(t.at, '@', t.len);
    if (at) {
        Text when = text_slice(t, at + 1 - t.at, t.len);
        const char *eq = memchr(when.at, '=', when.len);
        if (!eq || !text_to_i64(text_slice(when, eq + 1 - when.at, when.len),
                                &p->loop_value))
            return false;
        p->loop_var = text_slice(when, 0, eq - when.at);
        t = text_slice(t, 0, at - t.at);
    }
    const char *open = memchr(t.at, '[', t.len);
    p->buffer = open ? text_slice(t, 0, open - t.at) : t;
    if (!p->buffer.len || !open)
        return p->buffer.len > 0;
    return t.at[t.len - 1] == ']'
           && print_slices(text_slice(t, open + 1 - t.at, t.len - 1), p);
}

static void read_prints(Run *r)
{
    const Cli *c = r->s.cli;
    const TextList *v = &c->values[OPT_PRINT];
    InterpPrint *prints = new_array(c->arena, InterpPrint, v->len + 1);
    for (int i = 0; i < v->len; i++)
        if (!print_spec(v->at[i], &prints[i]))
            cli_usage(c, "--print '%.*s': expected NAME[SLICES]@VAR=N, as in "
                      "'acc_s[0:4,:]@k=3'", TEXT_ARG(v->at[i]));
    r->judge.prints = prints;
    r->judge.print_count = v->len;
}

static void read_block(Run *r)
{
    const Cli *c = r->s.cli;
    r->judge.block[0] = -1;
    if (!cli_given(c, OPT_BLOCK))
        return;
    cli_block(c, r->judge.block);
}

// Buffers and loop variables that --print can name.
typedef struct {
    Arena *arena;
    Map buffers, vars;
} PrintNames;

static bool visit_names(void *ctx, IrStmt *s)
{
    PrintNames *n = ctx;
    if (s->kind == STMT_ALLOC)
        map_set(n->arena, &n->buffers, s->buffer->name, s);
    for (int i = 0; s->kind == STMT_FOR && i < s->var_count; i++)
        if (s->loop != LOOP_PARALLEL)
            map_set(n->arena, &n->vars, s->vars[i]->name, s);
    return true;
}

static bool refuse_print(Run *r, const char *what, Text name, const Map *names)
{
    TextBuf b = {0};
    Diag *d = r->s.cli->diag;
    for (int i = 0; i < names->len; i++)
        buf_printf(&b, "%s%.*s", i ? ", " : "", TEXT_ARG(names->at[i].key));
    diag_error(d, EXIT_USAGE, (Span){0}, "print",
               "--print: the kernel has no %s '%.*s'", what, TEXT_ARG(name));
    if (b.len)
        diag_note(d, (Span){0}, "it has %.*s", (int)b.len, b.at);
    buf_release(&b);
    return false;
}

static bool check_print(Run *r, const IrKernel *k, const InterpPrint *p)
{
    PrintNames n = {.arena = r->s.cli->arena};
    ir_walk(k->body, visit_names, NULL, &n);
    for (int i = 0; i < k->param_count; i++)
        if (!k->params[i].is_scalar)
            map_set(n.arena, &n.buffers, k->params[i].name, r);
    if (!map_find(&n.buffers, p->buffer))
        return refuse_print(r, "buffer", p->buffer, &n.buffers);
    if (p->loop_var.len && !map_find(&n.vars, p->loop_var))
        return refuse_print(r, "loop over", p->loop_var, &n.vars);
    return true;
}

bool run_check_prints(Run *r, const IrKernel *k)
{
    for (int i = 0; i < r->judge.print_count; i++)
        if (!check_print(r, k, &r->judge.prints[i]))
            return false;
    return true;
}

void run_read_options(Run *r, Cli *c)
{
    CaseOptions *f = &r->files;
    Text blocks = cli_text(c, OPT_BLOCKS, "24");
    r->judge.rtol = cli_float(c, OPT_RTOL, 1e-2);
    r->judge.atol = cli_float(c, OPT_ATOL, 1e-2);
    r->judge.norm_tol = cli_float(c, OPT_NORM_TOL, 0);
    r->judge.ratio = 0.01;
    r->judge.sample_blocks =
        text_is(blocks, "all") ? 0 : cli_int(c, OPT_BLOCKS, 24, 1, INT32_MAX);
    read_prints(r);
    read_block(r);
    f->in = session_pairs(c, OPT_IN, &f->in_count);
    if (!cli_given(c, OPT_EMIT))        // whose -o is the file's name alone
        f->out = session_pairs(c, OPT_OUT, &f->out_count);
    f->expect = session_pairs(c, OPT_EXPECT, &f->expect_count);
    if (cli_given(c, OPT_BLOCK) && f->expect_count)
        cli_usage(c, "--block runs a part, --expect compares the whole: "
                  "choose one");
}

Numerics run_numerics(const Cli *c)
{
    const Device *devices[16], *named;
    Text name = cli_text(c, OPT_NUMERICS, "ieee");
    if (text_is(name, "ieee"))
        return NUMERICS_IEEE;
    if (!text_is(name, "h100") && !text_is(name, "mi300x"))
        cli_usage(c, "--numerics '%.*s': expected ieee, h100 or mi300x",
                  TEXT_ARG(name));
    named = device_find(name);
    cli_devices(c, session_target(c), devices, countof(devices));
    if (devices[0]->arch != named->arch)
        cli_usage(c, "--numerics=%s is the arithmetic of %s, and the target "
                  "%s is %s", named->name, device_arch_name(named),
                  devices[0]->name, device_arch_name(devices[0]));
    return NUMERICS_EXACT;
}
