// report.c - the result of `run` on one screen: the answer, why, how much.
#include <math.h>
#include <string.h>

#include "cli/report.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void column(TextBuf *b, size_t line, int width)
{
    do
        buf_addc(b, ' ');
    while ((int)(b->len - line) < width);
}

// ---- the first lines ---------------------------------------------------------------

static void arguments(TextBuf *b, const RunReport *r)
{
    const IrConfig *c = &r->c->kernel->ir->config;
    size_t start = b->len;
    bool cut = false;
    for (int i = 0; i < c->argument_count && !cut; i++) {
        Text v = c->argument_values[i];
        cut = !r->cli->verbose && b->len - start > 60;
        if (cut || text_is(v, "False") || text_is(v, "None"))
            continue;
        buf_printf(b, "  %.*s", TEXT_ARG(c->argument_names[i]));
        if (!text_is(v, "True"))
            buf_printf(b, " %.*s", TEXT_ARG(v));
    }
    if (cut)
        buf_puts(b, "  (-v: all)");
}

static void headline(TextBuf *b, const RunReport *r)
{
    const IrKernel *ir = r->c->kernel->ir;
    const Source *s = sources_get(r->cli->sources, ir->at.file);
    size_t line = b->len;
    if (s)
        buf_printf(b, "%s:%d ", base_name(s->path),
                   sources_place(r->cli->sources, ir->at.file, ir->at.begin)
                       .line);
    buf_printf(b, "%.*s", TEXT_ARG(ir->name));
    column(b, line, 16);
    arguments(b, r);
    buf_addc(b, '\n');
}

static void inputs_line(TextBuf *b, const RunReport *r)
{
    size_t line = b->len;
    Text last = {0};
    buf_puts(b, "inputs");
    column(b, line, 18);
    buf_printf(b, "seed %llu",
               (unsigned long long)r->host->options.seed);
    for (int i = 0; i < r->c->kernel->ir->param_count; i++) {
        const KernelArg *a = &r->c->args[i];
        Text words = r->c->supply[i];
        if (a->is_scalar || !words.len || text_eq(words, last))
            continue;
        buf_printf(b, ", %.*s %s", TEXT_ARG(words),
                   dtype_info(a->tensor.dtype)->brief);
        last = words;
    }
    buf_addc(b, '\n');
}

// ---- one output ------------------------------------------------------------------------

static void shape(TextBuf *b, const Tensor *t)
{
    buf_addc(b, '[');
    for (int d = 0; d < t->rank; d++)
        buf_printf(b, "%s%lld", d ? "," : "", (long long)t->shape[d]);
    buf_addc(b, ']');
}

static void row_start(TextBuf *b, size_t *line, const char *name,
                      const char *what)
{
    *line = b->len;
    buf_printf(b, "  %s", name);
    column(b, *line, 14);
    buf_puts(b, what);
    column(b, *line, 47);
}

static void row_end(TextBuf *b, size_t line, const char *verdict,
                    const char *format, ...) PRINTF_LIKE(4, 5);
static void row_end(TextBuf *b, size_t line, const char *verdict,
                    const char *format, ...)
{
    va_list args;
    column(b, line, 62);
    buf_puts(b, verdict);
    column(b, line, 69);
    va_start(args, format);
    buf_vprintf(b, format, args);
    va_end(args);
    buf_addc(b, '\n');
}

static const char *word(Judged j)
{
    return j == JUDGED_OK ? "ok" : j == JUDGED_BAD ? "WRONG" : "-";
}

static void algorithm_row(TextBuf *b, const RunReport *r,
                          const OutputVerdict *o)
{
    size_t line;
    row_start(b, &line, "algorithm", "the program computed in f64");
    if (o->algorithm == JUDGED_NOT) {
        row_end(b, line, "-", "%s", r->v->no_algorithm ? r->v->no_algorithm
                                                     : "no block ran");
        return;
    }
    buf_printf(b, "rel %.1e", o->algorithm_rel);
    row_end(b, line, word(o->algorithm), "limit %g, %lld of %lld blocks",
            o->algorithm_limit, (long long)r->v->sampled,
            (long long)r->v->blocks);
}

static void rounding_row(TextBuf *b, const OutputVerdict *o)
{
    size_t line;
    row_start(b, &line, "rounding", "the program as written");
    buf_printf(b, "rel %.1e", o->rounding_rel);
    if (o->bad_slice >= 0 && o->rounding_rel <= o->rounding_limit)
        row_end(b, line, "WRONG", "limit %g, exceeded by %.*s[%lld]",
                o->rounding_limit, TEXT_ARG(o->name), (long long)o->bad_slice);
    else
        row_end(b, line, word(o->rounding), "limit %g", o->rounding_limit);
}

static void upstream_row(TextBuf *b, const OutputVerdict *o, double rtol,
                         double atol)
{
    size_t line;
    char rule[64];
    int64_t n = tensor_count(&o->got);
    double rms = n ? sqrt(o->sums.ref2 / n) : 0;
    snprintf(rule, sizeof rule, "rtol %g, atol %g, <= 1 %%", rtol, atol);
    row_start(b, &line, "upstream", rule);
    buf_printf(b, "%.3f %%", o->upstream_percent);
    if (rms < 10 * atol)
        row_end(b, line, o->upstream_passes ? "pass" : "fail",
                "near blind here: rms(%.*s) is %.2g", TEXT_ARG(o->name), rms);
    else
        row_end(b, line, o->upstream_passes ? "pass" : "fail",
                "for information");
}

static void index_words(TextBuf *b, const OutputVerdict *o,
                        const int64_t *index)
{
    buf_printf(b, "%.*s[", TEXT_ARG(o->name));
    for (int d = 0; d < o->got.rank; d++)
        buf_printf(b, "%s%lld", d ? "," : "", (long long)index[d]);
    buf_addc(b, ']');
}

static void worst_row(TextBuf *b, const OutputVerdict *o)
{
    size_t line = b->len;
    if (o->sums.worst_at < 0)
        return;
    buf_puts(b, "  worst");
    column(b, line, 14);
    index_words(b, o, o->worst_index);
    buf_printf(b, " = %.5g, reference %.5g", o->worst_got, o->worst_ref);
    if (dtype_is_float(o->dtype))
        buf_printf(b, ", %.2g ulp of %s", o->worst_ulps,
                   dtype_info(o->dtype)->brief);
    buf_addc(b, '\n');
}

static void expect_row(TextBuf *b, const OutputVerdict *o)
{
    size_t line;
    double limit = verdict_norm_tol(o->dtype);
    if (!o->has_expect)
        return;
    row_start(b, &line, "expected", "the file against the program");
    buf_printf(b, "rel %.1e", o->expect_got_rel);
    row_end(b, line, o->expect_got_rel <= limit ? "ok" : "WRONG", "limit %g",
            limit);
    if (!o->ref.storage)
        return;
    bool file_ref = o->expect_ref_rel <= limit;
    bool ours = o->rounding == JUDGED_OK, both = o->expect_got_rel <= limit;
    row_start(b, &line, "", "the file against the reference");
    buf_printf(b, "rel %.1e", o->expect_ref_rel);
    row_end(b, line, file_ref ? "ok" : "WRONG", "%s",
            both && file_ref ? "all three agree"
            : both ? "program and file agree, the reference stands alone"
            : file_ref ? "file and reference agree, the program stands alone"
            : ours ? "program and reference agree, the file stands alone"
                   : "no two agree");
}

static void output_block(TextBuf *b, const RunReport *r, const OutputVerdict *o)
{
    size_t line = b->len;
    buf_printf(b, "\n%.*s %s", TEXT_ARG(o->name), dtype_info(o->dtype)->brief);
    shape(b, &o->got);
    line++;
    if (r->v->has_reference) {
        column(b, line, 62);
        buf_printf(b, "against %.*s, in f64", TEXT_ARG(r->reference));
    }
    buf_addc(b, '\n');
    if (r->v->has_reference) {
        algorithm_row(b, r, o);
        rounding_row(b, o);
        upstream_row(b, o, cli_float(r->cli, OPT_RTOL, 1e-2),
                     cli_float(r->cli, OPT_ATOL, 1e-2));
        worst_row(b, o);
    }
    expect_row(b, o);
}

// ---- a wrong output, like a diff ----------------------------------------------------------

static void box(TextBuf *b, const OutputVerdict *o)
{
    const Mismatch *m = &o->mismatch;
    for (int d = 0; d < o->got.rank; d++) {
        if (d)
            buf_puts(b, " x ");
        if (m->first[d] == 0 && m->last[d] == o->got.shape[d] - 1)
            buf_puts(b, "all");
        else if (m->first[d] == m->last[d])
            buf_printf(b, "%lld", (long long)m->first[d]);
        else
            buf_printf(b, "%lld..%lld", (long long)m->first[d],
                       (long long)m->last[d]);
    }
}

static void count_line(TextBuf *b, const OutputVerdict *o)
{
    const Mismatch *m = &o->mismatch;
    size_t line = b->len;
    buf_puts(b, "  where");
    column(b, line, 14);
    buf_grouped(b, m->count);
    buf_puts(b, " of ");
    buf_grouped(b, m->total);
    buf_puts(b, " elements stand out");
    if (m->count) {
        buf_puts(b, ", within [");
        box(b, o);
        buf_addc(b, ']');
    }
    buf_addc(b, '\n');
}

static void mismatch_block_text(TextBuf *b, const OutputVerdict *o)
{
    const Mismatch *m = &o->mismatch;
    int64_t index[TENSOR_MAX_RANK];
    size_t line = b->len;
    buf_puts(b, "  first");
    column(b, line, 14);
    if (m->first_flat >= 0) {
        flat_to_index(&o->got, m->first_flat, index);
        index_words(b, o, index);
        buf_printf(b, "  expected %.6g, found %.6g", m->expected, m->found);
        if (m->block[0] >= 0)
            buf_printf(b, ", stored by block (%lld,%lld,%lld)",
                       (long long)m->block[0], (long long)m->block[1],
                       (long long)m->block[2]);
        else
            buf_puts(b, ", stored by no block");
    } else {
        buf_puts(b, "no element differs by itself");
    }
    buf_addc(b, '\n');
    count_line(b, o);
    if (m->pattern[0]) {
        line = b->len;
        buf_puts(b, "  looks like");
        column(b, line, 14);
        buf_printf(b, "%s\n", m->pattern);
    }
}

static void wrong_output(TextBuf *b, const OutputVerdict *o)
{
    bool algorithm = o->algorithm == JUDGED_BAD;
    double error = algorithm ? o->algorithm_rel : o->rounding_rel;
    if (!o->wrong || !o->ref.storage)
        return;
    buf_puts(b, "\nerror: ");
    if (algorithm)
        buf_printf(b, "%.*s is not the reference's algorithm: it differs by "
                   "%.2g even in f64 [algorithm]\n", TEXT_ARG(o->name), error);
    else
        buf_printf(b, "%.*s is further from the reference than %s explains: "
                   "%.2g [rounding]\n", TEXT_ARG(o->name),
                   dtype_info(o->dtype)->name, error);
    mismatch_block_text(b, o);
}

// ---- the last lines --------------------------------------------------------------------------

static int64_t count_where(const Verdict *v, bool once)
{
    int64_t n = 0;
    for (int i = 0; i < v->output_count; i++)
        n += once ? v->outputs[i].written_more : v->outputs[i].written_never;
    return n;
}

static bool has_finding(const Verdict *v, const char *id)
{
    for (int i = 0; i < v->run.finding_count; i++)
        if (!strcmp(v->run.findings[i].id, id))
            return true;
    return false;
}

static void checks_line(TextBuf *b, const RunReport *r)
{
    const Verdict *v = r->v;
    int64_t never = count_where(v, false), more = count_where(v, true);
    buf_printf(b, "\nchecks    bounds %s",
               has_finding(v, "out-of-bounds") ? "WRONG" : "ok");
    if (v->has_reference && never) {
        buf_puts(b, "   ");
        buf_grouped(b, never);
        buf_puts(b, " elements never written");
    } else if (v->has_reference && more) {
        buf_puts(b, "   ");
        buf_grouped(b, more);
        buf_puts(b, " elements written more than once");
    } else if (v->has_reference) {
        buf_puts(b, "   every element written once");
    }
    buf_addc(b, '\n');
}

static void blocks_line(TextBuf *b, const RunReport *r)
{
    const InterpResult *run = &r->v->run;
    if (run->idle_blocks > 0)
        buf_printf(b, "blocks    %lld of %lld find work\n",
                   (long long)(run->blocks_total - run->idle_blocks),
                   (long long)run->blocks_total);
}

static void work_line(TextBuf *b, const RunReport *r)
{
    const InterpResult *run = &r->v->run;
    buf_puts(b, "work      ");
    if (run->flops > 0)
        buf_printf(b, "%.3g GFLOP in ", run->flops * 1e-9);
    buf_printf(b, "%.2f s", run->seconds);
    if (r->v->has_reference)
        buf_printf(b, "; reference %.2f s", r->v->reference_seconds);
    buf_printf(b, "; peak %.1f GiB\n", r->host->heap.peak / 0x1p30);
}

static void last_line(TextBuf *b, const RunReport *r)
{
    const Verdict *v = r->v;
    int wrong = 0;
    for (int i = 0; i < v->output_count; i++)
        wrong += v->outputs[i].wrong;
    buf_addc(b, '\n');
    if (v->run.cancelled) {
        buf_printf(b, "stopped: %lld of %lld blocks were done\n",
                   (long long)v->run.blocks_done,
                   (long long)v->run.blocks_total);
        return;
    }
    buf_puts(b, r->exit == EXIT_CLEAN ? "ok: " : "failed: ");
    if (v->has_reference && wrong)
        buf_printf(b, "%d of %d outputs wrong", wrong, v->output_count);
    else if (v->has_reference)
        buf_printf(b, "%d output%s right", v->output_count,
                   v->output_count == 1 ? "" : "s");
    else
        buf_puts(b, "ran, compared with nothing");
    buf_printf(b, ", %lld finding%s\n", (long long)v->run.finding_total,
               v->run.finding_total == 1 ? "" : "s");
}

void report_text(TextBuf *b, const RunReport *r)
{
    const Verdict *v = r->v;
    headline(b, r);
    inputs_line(b, r);
    for (int i = 0; !v->run.cancelled && i < v->output_count; i++)
        output_block(b, r, &v->outputs[i]);
    for (int i = 0; i < v->output_count; i++)
        wrong_output(b, &v->outputs[i]);
    checks_line(b, r);
    blocks_line(b, r);
    work_line(b, r);
    last_line(b, r);
}

// ---- a sweep's line ------------------------------------------------------------------------------

void report_line(TextBuf *b, const RunReport *r)
{
    size_t line = b->len;
    double algorithm = 0, rounding = 0;
    const char *where = "";
    buf_puts(b, r->exit == EXIT_CLEAN ? "ok     " : "WRONG  ");
    for (int i = 0; i < r->v->output_count; i++) {
        const OutputVerdict *o = &r->v->outputs[i];
        algorithm = fmax(algorithm, o->algorithm_rel);
        rounding = fmax(rounding, o->rounding_rel);
        if (o->wrong && !*where)
            where = o->mismatch.pattern;
    }
    if (r->v->failed) {
        buf_printf(b, "exit %d", r->exit);
        column(b, line, 42);
    } else {
        buf_printf(b, "algorithm %.1e  rounding %.1e", algorithm, rounding);
        column(b, line, 42);
    }
    buf_printf(b, " %.*s", TEXT_ARG(r->sweep));
    if (*where)
        buf_printf(b, "   %s", where);
    buf_addc(b, '\n');
}
