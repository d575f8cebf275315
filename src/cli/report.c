// report.c - the result of `run` on one screen: the answer, why, how much.
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "support/parallel.h"

void report_column(TextBuf *b, size_t line, int width)
{
    do
        buf_addc(b, ' ');
    while ((int)(b->len - line) < width);
}

// 1e-06 less the 0, and everything below 0.1 with an exponent.
static void report_number(TextBuf *b, double x)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%g", x);
    if (x > 0 && x < 0.1)
        for (int precision = 0; precision < 6; precision++) {
            snprintf(digits, sizeof digits, "%.*e", precision, x);
            if (fabs(strtod(digits, NULL) - x) <= 1e-9 * x)
                break;
        }
    for (const char *p = digits; *p; p++)
        if (!(p[0] == '0' && p > digits && p[-1] == '-'))
            buf_addc(b, *p);
}

static void put_rel(TextBuf *b, double x)
{
    if (x == 0)
        buf_puts(b, "rel 0");
    else
        buf_printf(b, "rel %.1e", x);
}

// ---- one output -------------------------------------------------------------

static void shape(TextBuf *b, const Tensor *t)
{
    buf_addc(b, '[');
    for (int d = 0; d < t->rank; d++)
        buf_printf(b, "%s%lld", d ? "," : "", (long long)t->shape[d]);
    buf_addc(b, ']');
}

void report_row(TextBuf *b, size_t *line, const char *name,
                const char *what)
{
    *line = b->len;
    buf_printf(b, "  %s", name);
    report_column(b, *line, 14);
    buf_puts(b, what);
    report_column(b, *line, 47);
}

static void row_end(TextBuf *b, size_t line, const char *verdict,
                    const char *format, ...) PRINTF_LIKE(4, 5);
static void row_end(TextBuf *b, size_t line, const char *verdict,
                    const char *format, ...)
{
    va_list args;
    report_column(b, line, 62);
    buf_puts(b, verdict);
    report_column(b, line, 69);
    va_start(args, format);
    buf_vprintf(b, format, args);
    va_end(args);
    buf_addc(b, '\n');
}

// The same, less the line's end: "ok     limit 1e-6".
void report_row_limit(TextBuf *b, size_t line, const char *verdict,
                      double limit)
{
    report_column(b, line, 62);
    buf_puts(b, verdict);
    report_column(b, line, 69);
    buf_puts(b, "limit ");
    report_number(b, limit);
}

static const char *word(Judged j)
{
    return j == JUDGED_OK ? "ok" : j == JUDGED_BAD ? "WRONG" : "-";
}

static void algorithm_row(TextBuf *b, const RunReport *r,
                          const OutputVerdict *o)
{
    size_t line;
    report_row(b, &line, "algorithm", "the program computed in f64");
    if (o->algorithm == JUDGED_NOT) {
        row_end(b, line, "-", "%s", r->v->no_algorithm ? r->v->no_algorithm
                                                     : "no block ran");
        return;
    }
    put_rel(b, o->algorithm_rel);
    report_row_limit(b, line, word(o->algorithm), o->algorithm_limit);
    buf_printf(b, ", %lld of %lld blocks\n", (long long)r->v->sampled,
               (long long)r->v->blocks);
}

static void rounding_row(TextBuf *b, const RunReport *r,
                         const OutputVerdict *o)
{
    size_t line;
    report_row(b, &line, "rounding",
               r->subject ? r->subject : "the program as written");
    put_rel(b, o->rounding_rel);
    bool slice = o->bad_slice >= 0 && o->rounding_rel <= o->rounding_limit;
    report_row_limit(b, line, word(o->rounding), o->rounding_limit);
    if (slice)
        buf_printf(b, ", exceeded by %.*s[%lld]", TEXT_ARG(o->name),
                   (long long)o->bad_slice);
    buf_addc(b, '\n');
}

static void upstream_row(TextBuf *b, const OutputVerdict *o, double rtol,
                         double atol)
{
    size_t line;
    TextBuf rule = {0};
    int64_t n = tensor_count(&o->got);
    double rms = n ? sqrt(o->sums.ref2 / n) : 0;
    buf_puts(&rule, "rtol ");
    report_number(&rule, rtol);
    buf_puts(&rule, ", atol ");
    report_number(&rule, atol);
    buf_puts(&rule, ", <= 1 %");
    buf_addc(&rule, '\0');
    report_row(b, &line, "upstream", rule.at);
    buf_release(&rule);
    buf_printf(b, "%.3f %%", o->upstream_percent);
    if (o->upstream_passes && rms < 10 * atol)
        row_end(b, line, "pass",
                "near blind here: rms(%.*s) is %.2g", TEXT_ARG(o->name), rms);
    else
        row_end(b, line, o->upstream_passes ? "pass" : "fail",
                "for information");
}

void report_index(TextBuf *b, const OutputVerdict *o, const int64_t *index)
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
    report_column(b, line, 14);
    report_index(b, o, o->worst_index);
    buf_printf(b, " = %.5g, reference %.5g", o->worst_got, o->worst_ref);
    if (dtype_is_float(o->dtype))
        buf_printf(b, ", %.2g ulp of %s", o->worst_ulps,
                   dtype_info(o->dtype)->brief);
    buf_addc(b, '\n');
}

// Which two of program, reference and file agree.
static const char *agreement(const OutputVerdict *o)
{
    bool file_ref = o->expect_ref_rel <= o->expect_limit;
    bool ours = o->rounding == JUDGED_OK, both = !o->expect_wrong;
    if (both && file_ref)
        return "all three agree";
    if (both)
        return "program and file agree, the reference stands alone";
    if (file_ref)
        return "file and reference agree, the program stands alone";
    return ours ? "program and reference agree, the file stands alone"
                : "no two agree";
}

static void expect_row(TextBuf *b, const OutputVerdict *o)
{
    size_t line;
    if (!o->has_expect)
        return;
    report_row(b, &line, "expected", "the program against the file");
    put_rel(b, o->expect_got_rel);
    report_row_limit(b, line, o->expect_wrong ? "WRONG" : "ok", o->expect_limit);
    buf_addc(b, '\n');
    if (!o->ref.storage)
        return;
    report_row(b, &line, "", "the reference against the file");
    put_rel(b, o->expect_ref_rel);
    row_end(b, line, o->expect_ref_rel <= o->expect_limit ? "ok" : "WRONG",
            "%s", agreement(o));
}

void report_output(TextBuf *b, const RunReport *r, const OutputVerdict *o)
{
    size_t line = b->len;
    buf_printf(b, "\n%.*s %s", TEXT_ARG(o->name), dtype_info(o->dtype)->brief);
    shape(b, &o->got);
    line++;
    if (r->v->has_reference) {
        report_column(b, line, 62);
        buf_printf(b, "against %.*s, in f64", TEXT_ARG(r->reference));
    }
    buf_addc(b, '\n');
    if (r->v->has_reference) {
        algorithm_row(b, r, o);
        rounding_row(b, r, o);
        upstream_row(b, o, cli_float(r->cli, OPT_RTOL, 1e-2),
                     cli_float(r->cli, OPT_ATOL, 1e-2));
        worst_row(b, o);
    }
    expect_row(b, o);
}

// ---- the last lines ---------------------------------------------------------

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

static void watched_checks(TextBuf *b, const RunReport *r)
{
    for (int g = 0; g < CHECK_GROUP_COUNT; g++)
        if (r->watched >> g & 1 && g != CHECK_BOUNDS &&
            check_group_exists((CheckGroup)g))
            buf_printf(b, "   %s %s", check_group_name((CheckGroup)g),
                       r->wrong >> g & 1 ? "WRONG"
                       : r->limited      ? "in part"
                                         : "ok");
}

static void checks_line(TextBuf *b, const RunReport *r)
{
    const Verdict *v = r->v;
    int64_t never = count_where(v, false), more = count_where(v, true);
    buf_printf(b, "\nchecks    bounds %s",
               has_finding(v, "out-of-bounds") || r->wrong >> CHECK_BOUNDS & 1
                   ? "WRONG" : "ok");
    watched_checks(b, r);
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
    for (int i = 0; i < run->launches; i++) {
        const int64_t *g = run->grid[i];
        if (!g[0] || !g[1] || !g[2])
            buf_printf(b, "blocks    the grid is %lld x %lld x %lld: nothing "
                       "to launch                            note\n",
                       (long long)g[0], (long long)g[1], (long long)g[2]);
    }
    if (run->idle_blocks > 0)
        buf_printf(b, "blocks    %lld of %lld find work\n",
                   (long long)(run->blocks_total - run->idle_blocks),
                   (long long)run->blocks_total);
}

void report_scaled(TextBuf *b, double x, double step, const char *const *unit)
{
    while (x >= step && unit[1]) {
        x /= step;
        unit++;
    }
    buf_printf(b, x < 9.95 ? "%.2g %s" : x < 999.5 ? "%.3g %s" : "%.0f %s", x,
               *unit);
}

static void work_line(TextBuf *b, const RunReport *r)
{
    static const char *const flop[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP",
                                       "TFLOP", NULL};
    static const char *const byte[] = {"B", "KiB", "MiB", "GiB", "TiB", NULL};
    const InterpResult *run = &r->v->run;
    buf_puts(b, "work      ");
    if (run->flops > 0) {
        report_scaled(b, run->flops, 1000, flop);
        buf_puts(b, " in ");
    }
    buf_printf(b, "%.2f s", run->seconds);
    if (r->v->has_reference)
        buf_printf(b, "; reference %.2f s", r->v->reference_seconds);
    buf_puts(b, "; peak ");
    report_scaled(b, r->host->heap.peak, 1024, byte);
    buf_addc(b, '\n');
}

static void stopped_line(TextBuf *b, const Verdict *v)
{
    const char *why = parallel_cancelled() == SIGINT ? "by Ctrl-C"
                                                     : "by --timeout";
    if (v->stopped == STOPPED_RUN)
        buf_printf(b, "stopped %s: %lld of %lld blocks were done, nothing was "
                   "compared\n", why, (long long)v->run.blocks_done,
                   (long long)v->run.blocks_total);
    else if (v->stopped == STOPPED_REFERENCE)
        buf_printf(b, "stopped %s: the kernel ran, its reference did not\n",
                   why);
    else
        buf_printf(b, "stopped %s: all but the run in f64 was done\n", why);
}

void report_last_line(TextBuf *b, const RunReport *r)
{
    const Verdict *v = r->v;
    int wrong = 0, expected = 0;
    for (int i = 0; i < v->output_count; i++) {
        wrong += v->outputs[i].wrong;
        expected += v->outputs[i].has_expect;
    }
    buf_addc(b, '\n');
    if (v->stopped) {
        stopped_line(b, v);
        return;
    }
    int judged = v->has_reference ? v->output_count : expected;
    buf_puts(b, r->exit == EXIT_CLEAN ? "ok: " : "failed: ");
    if (wrong && judged == 1)
        buf_puts(b, "1 output wrong");
    else if (wrong)
        buf_printf(b, "%d of %d outputs wrong", wrong, judged);
    else if (judged)
        buf_printf(b, "%d output%s right", judged, judged == 1 ? "" : "s");
    else
        buf_puts(b, "ran, compared with nothing");
    int64_t found = r->watched ? r->found : v->run.finding_total;
    buf_printf(b, ", %lld finding%s\n", (long long)found,
               found == 1 ? "" : "s");
}

static bool has_numbers(const Verdict *v)
{
    return v->stopped == STOPPED_NOT || v->stopped == STOPPED_F64;
}

void report_text(TextBuf *b, const RunReport *r)
{
    const Verdict *v = r->v;
    report_head(b, r);
    for (int i = 0; has_numbers(v) && i < v->output_count; i++)
        report_output(b, r, &v->outputs[i]);
    for (int i = 0; has_numbers(v) && i < v->output_count; i++)
        report_mismatch(b, &v->outputs[i], r->reference);
    checks_line(b, r);
    blocks_line(b, r);
    work_line(b, r);
    if (r->targets && !v->stopped)
        report_targets(b, r);
    if (!r->script || v->stopped)
        report_last_line(b, r);
}

// ---- a sweep's line ---------------------------------------------------------

static void row_end_of_sweep(TextBuf *b, size_t line, Text sweep)
{
    report_column(b, line, 44);
    buf_text(b, sweep);
}

static void sweep_number(TextBuf *b, const char *name, bool known, double x)
{
    if (known && x != 0)
        buf_printf(b, "%s %.1e", name, x);
    else
        buf_printf(b, "%s %s      ", name, known ? "0" : "-");
}

void report_line(TextBuf *b, const RunReport *r)
{
    size_t line = b->len;
    double algorithm = 0, rounding = 0;
    const char *where = "";
    bool in_f64 = false;
    const Verdict *v = r->v;
    if (v->failed || !has_numbers(v)) {
        report_line_not_run(b, v->failed ? r->exit : EXIT_INTERRUPTED,
                            r->sweep);
        return;
    }
    for (int i = 0; i < v->output_count; i++) {
        const OutputVerdict *o = &v->outputs[i];
        in_f64 = in_f64 || o->algorithm != JUDGED_NOT;
        algorithm = fmax(algorithm, o->algorithm_rel);
        rounding = fmax(rounding, o->rounding_rel);
        if (o->wrong && !*where)
            where = o->mismatch.pattern;
    }
    buf_puts(b, r->exit == EXIT_CLEAN ? "ok     " : "WRONG  ");
    sweep_number(b, "algorithm", v->has_reference && in_f64, algorithm);
    sweep_number(b, "  rounding", v->has_reference, rounding);
    row_end_of_sweep(b, line, r->sweep);
    if (*where)
        buf_printf(b, "   %s", where);
    buf_addc(b, '\n');
}

void report_line_not_run(TextBuf *b, ExitCode code, Text sweep)
{
    size_t line = b->len;
    if (code == EXIT_INTERRUPTED)
        buf_puts(b, "stopped");
    else
        buf_printf(b, "exit %d", code);
    row_end_of_sweep(b, line, sweep);
    buf_addc(b, '\n');
}
