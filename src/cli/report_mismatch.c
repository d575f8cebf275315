// report_mismatch.c - a wrong output, like a diff: first, where, how many.
#include "cli/report.h"

// "all over", or "within [0 x 3..7 x all]"
static void box(TextBuf *b, const OutputVerdict *o)
{
    const Mismatch *m = &o->mismatch;
    bool all = true;
    for (int d = 0; d < o->got.rank; d++)
        all = all && m->first[d] == 0 && m->last[d] == o->got.shape[d] - 1;
    if (all) {
        buf_puts(b, "all over");
        return;
    }
    buf_puts(b, "within [");
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
    buf_addc(b, ']');
}

// A NaN has no sign to speak of.
static void put_value(TextBuf *b, double x)
{
    if (x != x)
        buf_puts(b, "nan");
    else
        buf_printf(b, "%.6g", x);
}

static void count_line(TextBuf *b, const OutputVerdict *o)
{
    const Mismatch *m = &o->mismatch;
    size_t line = b->len;
    buf_puts(b, "  where");
    report_column(b, line, 14);
    buf_grouped(b, m->count);
    buf_puts(b, " of ");
    buf_grouped(b, m->total);
    buf_puts(b, " elements stand out");
    if (m->count) {
        buf_puts(b, ", ");
        box(b, o);
    }
    buf_addc(b, '\n');
}

static void mismatch_block_text(TextBuf *b, const OutputVerdict *o)
{
    const Mismatch *m = &o->mismatch;
    int64_t index[TENSOR_MAX_RANK];
    size_t line = b->len;
    buf_puts(b, "  first");
    report_column(b, line, 14);
    if (m->first_flat >= 0) {
        flat_to_index(&o->got, m->first_flat, index);
        report_index(b, o, index);
        buf_puts(b, "  expected ");
        put_value(b, m->expected);
        buf_puts(b, ", found ");
        put_value(b, m->found);
        if (m->block[0] >= 0)
            buf_printf(b, ", stored by block (%lld,%lld,%lld)",
                       (long long)m->block[0], (long long)m->block[1],
                       (long long)m->block[2]);
        else if (m->never_stored)
            buf_puts(b, ", never stored");
    } else {
        buf_puts(b, "no element differs by itself");
    }
    buf_addc(b, '\n');
    count_line(b, o);
    if (m->pattern[0]) {
        line = b->len;
        buf_puts(b, "  looks like");
        report_column(b, line, 14);
        buf_printf(b, "%s\n", m->pattern);
    }
}

static void headline(TextBuf *b, const OutputVerdict *o, Text reference)
{
    buf_puts(b, "\nerror: ");
    if (o->against_file)
        buf_printf(b, "%.*s differs from the expected file by %.2g "
                   "[expected]\n", TEXT_ARG(o->name), o->expect_got_rel);
    else if (o->algorithm == JUDGED_BAD)
        buf_printf(b, "%.*s is not what %.*s computes: it differs by %.2g even "
                   "in f64 [algorithm]\n", TEXT_ARG(o->name),
                   TEXT_ARG(reference), o->algorithm_rel);
    else
        buf_printf(b, "%.*s is further from %.*s than %s explains: %.2g "
                   "[rounding]\n", TEXT_ARG(o->name), TEXT_ARG(reference),
                   dtype_info(o->dtype)->name, o->rounding_rel);
}

void report_mismatch(TextBuf *b, const OutputVerdict *o, Text reference)
{
    if (!o->wrong)
        return;
    headline(b, o, reference);
    mismatch_block_text(b, o);
}
