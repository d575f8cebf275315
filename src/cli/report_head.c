// report_head.c - the first lines of a report: what was run, on what.
#include <string.h>

#include "cli/report.h"

enum { HEAD_WIDTH = 52, WIDEST = 100 };

// ---- arguments --------------------------------------------------------------

static bool is_number(Text t)
{
    int64_t n;
    return text_to_i64(t, &n);
}

// block_M, block_N, ... are shown together as the tile.
static bool is_tile(const IrConfig *c, int i)
{
    Text name = c->argument_names[i];
    return (text_starts(name, "block_") || text_starts(name, "BLOCK_"))
           && is_number(c->argument_values[i]);
}

static Text unquoted(Text v)
{
    bool quoted = v.len >= 2 && (v.at[0] == '\'' || v.at[0] == '"');
    return quoted ? text_slice(v, 1, v.len - 1) : v;
}

// "heads 8", "causal" for is_causal=True; nothing for what is off.
static void argument(TextBuf *b, const IrConfig *c, int i)
{
    Text name = c->argument_names[i], v = unquoted(c->argument_values[i]);
    if (is_tile(c, i) || text_is(name, "threads") || text_is(v, "False")
        || text_is(v, "None"))
        return;
    bool flag = text_is(v, "True");
    if (flag && text_starts(name, "is_"))
        name = text_slice(name, 3, name.len);
    buf_printf(b, "  %.*s", TEXT_ARG(name));
    if (!flag)
        buf_printf(b, " %.*s", TEXT_ARG(v));
}

// As many as there is room for. Sizes first: the T.const ones of an eager kernel
// come last in the table.
static bool arguments(TextBuf *b, const KernelObject *k)
{
    const IrConfig *c = &k->ir->config;
    int n = c->argument_count;
    int first = n - k->const_count;
    size_t start = b->len;
    for (int i = 0; i < n; i++) {
        size_t before = b->len;
        argument(b, c, first > 0 ? (first + i) % n : i);
        if (b->len - start > HEAD_WIDTH) {
            b->len = before;
            return false;
        }
    }
    return true;
}

// Is the tile block_M x block_N [x block_K], in this order?
static bool is_mnk(const IrConfig *c)
{
    int n = 0;
    for (int i = 0; i < c->argument_count; i++) {
        Text name = c->argument_names[i];
        if (is_tile(c, i)
            && (n == 3 || name.len != 7 || name.at[6] != "MNK"[n++]))
            return false;
    }
    return true;
}

// "   tile 128x64, ", or "   tile N=32 H=64, "
static void tile(TextBuf *b, const IrConfig *c)
{
    bool mnk = is_mnk(c), any = false;
    for (int i = 0; i < c->argument_count; i++) {
        Text name = c->argument_names[i];
        if (!is_tile(c, i))
            continue;
        buf_puts(b, any ? mnk ? "x" : " " : "   tile ");
        if (!mnk)
            buf_printf(b, "%.*s=", (int)name.len - 6, name.at + 6);
        buf_text(b, c->argument_values[i]);
        any = true;
    }
    buf_puts(b, any ? ", " : "   ");
}

// Of up to three launches each; of more, the numbers that occur.
typedef struct {
    int64_t at[8];
    int len, launches;
    bool distinct;
} Threads;

static bool seen(const Threads *t, int64_t n)
{
    for (int i = 0; i < t->len && t->distinct; i++)
        if (t->at[i] == n)
            return true;
    return t->len == (int)countof(t->at);
}

static bool count_launch(void *ctx, IrStmt *s)
{
    ((Threads *)ctx)->launches += s->kind == STMT_LAUNCH;
    return s->kind != STMT_LAUNCH;
}

static bool visit_launch(void *ctx, IrStmt *s)
{
    Threads *t = ctx;
    int64_t n = 1;
    for (int i = 0; s->kind == STMT_LAUNCH && i < 3; i++)
        n *= s->threads[i];
    if (s->kind != STMT_LAUNCH)
        return true;
    if (!seen(t, n))
        t->at[t->len++] = n;
    return false;
}

static void threads(TextBuf *b, const IrKernel *ir)
{
    Threads t = {0};
    ir_walk(ir->body, count_launch, NULL, &t);
    t.distinct = t.launches > 3;
    ir_walk(ir->body, visit_launch, NULL, &t);
    for (int i = 0; i < t.len; i++)
        buf_printf(b, "%s%lld", !i ? "" : i + 1 < t.len ? ", " : " and ",
                   (long long)t.at[i]);
    buf_puts(b, " threads");
    if (t.distinct)
        buf_printf(b, ", %d launches", t.launches);
}

// ---- all of them, with -v ---------------------------------------------------

// As -D takes them.
static void all_arguments(TextBuf *b, const IrConfig *c)
{
    size_t line = b->len;
    buf_puts(b, "arguments");
    report_column(b, line, 18);
    for (int i = 0; i < c->argument_count; i++) {
        Text name = c->argument_names[i], v = unquoted(c->argument_values[i]);
        bool first = b->len - line == 18;
        if (!first && b->len - line + name.len + v.len + 2 > WIDEST) {
            buf_addc(b, '\n');
            line = b->len;
            report_column(b, line, 18);
            first = true;
        }
        buf_printf(b, "%s%.*s=%.*s", first ? "" : " ", TEXT_ARG(name),
                   TEXT_ARG(v));
    }
    buf_addc(b, '\n');
}

// ---- the lines --------------------------------------------------------------

void report_name(TextBuf *b, const Cli *cli, const IrKernel *ir)
{
    if (ir->at.file) {
        const Source *s = sources_get(cli->sources, ir->at.file);
        const char *slash = strrchr(s->path, '/');
        buf_printf(b, "%s:%d ", slash ? slash + 1 : s->path,
                   sources_place(cli->sources, ir->at.file, ir->at.begin)
                       .line);
    }
    buf_printf(b, "%.*s", TEXT_ARG(ir->name));
}

void report_kernel(TextBuf *b, const Cli *cli, const KernelObject *k)
{
    const IrKernel *ir = k->ir;
    size_t line = b->len;
    report_name(b, cli, ir);
    report_column(b, line, 16);
    bool whole = arguments(b, k);
    tile(b, &ir->config);
    threads(b, ir);
    if (!whole && !cli->verbose)
        buf_puts(b, "  (-v: all)");
    buf_addc(b, '\n');
    if (cli->verbose && ir->config.argument_count)
        all_arguments(b, &ir->config);
}

static void inputs_line(TextBuf *b, const RunReport *r)
{
    size_t line = b->len;
    Text last = {0};
    DType dtype = DT_BOOL;
    buf_puts(b, "inputs");
    report_column(b, line, 18);
    buf_printf(b, "seed %llu", (unsigned long long)r->host->options.seed);
    for (int i = 0; i < r->c->kernel->ir->param_count; i++) {
        const KernelArg *a = &r->c->args[i];
        Text words = r->c->supply[i];
        bool same = text_eq(words, last) && a->tensor.dtype == dtype;
        if (a->is_scalar || !words.len || same)
            continue;
        buf_printf(b, ", %.*s %s", TEXT_ARG(words),
                   dtype_info(a->tensor.dtype)->brief);
        last = words;
        dtype = a->tensor.dtype;
    }
    buf_addc(b, '\n');
}

const char *report_basis(const Device *d, Basis b)
{
    return d->vendor == VENDOR_AMD ? "model, not confirmed on hardware"
                                   : basis_name(b);
}

// Is that the first multiplication by its instruction?
static bool is_first(const PlanMatrices *m, int i)
{
    for (int j = 0; j < i; j++)
        if (m->at[j].mma == m->at[i].mma)
            return false;
    return true;
}

static void numerics_lines(TextBuf *b, const PlanMatrices *m)
{
    const char *what = "T.gemm";
    for (int i = 0; m && i < m->len; i++) {
        size_t line = b->len;
        if (!is_first(m, i))
            continue;
        buf_puts(b, what);
        report_column(b, line, 18);
        if (m->at[i].mma)
            buf_printf(b, "%s as on %s: %s\n", m->at[i].mma->name,
                       m->device->name,
                       report_basis(m->device, m->at[i].mma->bits));
        else
            buf_puts(b, "fused multiply-adds of the threads\n");
        what = "";
    }
}

void report_head(TextBuf *b, const RunReport *r)
{
    report_kernel(b, r->cli, r->c->kernel);
    inputs_line(b, r);
    numerics_lines(b, r->c->kernel->matrices);
}
