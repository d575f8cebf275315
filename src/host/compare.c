// compare.c - norms of differences, the same for any number of threads.
#include <math.h>
#include <stdlib.h>

#include "host/verdict.h"
#include "support/parallel.h"

enum { PART = 16384 };

static void compare_one(CompareSums *s, const CompareRule *rule, double got,
                        double ref, int64_t at)
{
    s->compared++;
    if (isnan(got) || isnan(ref)) {
        if (isnan(got) && isnan(ref))
            return;
        s->nan_only += isnan(got);
        s->inf_only += isnan(ref);
        s->over++;
        return;
    }
    if (isinf(got) || isinf(ref)) {
        if (got != ref) {
            s->inf_only++;
            s->over++;
        }
        return;
    }
    double d = fabs(got - ref);
    s->diff2 += d * d;
    s->ref2 += ref * ref;
    s->over += !(d <= rule->atol + rule->rtol * fabs(ref));
    if (s->worst_at < 0 || d > s->worst) {
        s->worst = d;
        s->worst_at = at;
    }
}

typedef struct {
    const Tensor *got, *ref;
    int64_t from, to;
    const CompareRule *rule;
    CompareSums *parts;
} Compare;

static void load(const Tensor *t, int64_t from, int64_t n, double *out)
{
    const char *at = tensor_data(t);
    num_convert(DT_F64, out, t->dtype, at + dtype_bytes(t->dtype, from), n);
}

static void compare_part(void *ctx, int worker, int64_t item)
{
    const Compare *c = ctx;
    double got[512], ref[512];
    CompareSums s = {.worst_at = -1};
    int64_t at = c->from + item * PART, end = at + PART;
    (void)worker;
    for (end = end < c->to ? end : c->to; at < end; at += 512) {
        int64_t n = end - at < 512 ? end - at : 512;
        load(c->got, at, n, got);
        load(c->ref, at, n, ref);
        for (int64_t i = 0; i < n; i++)
            if (!c->rule->written || c->rule->written[at + i])
                compare_one(&s, c->rule, got[i], ref[i], at + i);
    }
    c->parts[item] = s;
}

static void add_sums(CompareSums *all, const CompareSums *s)
{
    all->compared += s->compared;
    all->diff2 += s->diff2;
    all->ref2 += s->ref2;
    all->nan_only += s->nan_only;
    all->inf_only += s->inf_only;
    all->over += s->over;
    if (s->worst_at >= 0 && (all->worst_at < 0 || s->worst > all->worst)) {
        all->worst = s->worst;
        all->worst_at = s->worst_at;
    }
}

CompareSums compare_range(const Tensor *got, const Tensor *ref, int64_t from,
                          int64_t to, const CompareRule *rule)
{
    CompareSums all = {.worst_at = -1,
                       .least = dtype_info(rule->format)->min_normal};
    int64_t parts = (to - from + PART - 1) / PART;
    if (parts <= 0)
        return all;
    Compare c = {got, ref, from, to, rule, xcalloc(parts, sizeof *c.parts)};
    parallel_for(parts, 1, compare_part, &c);
    for (int64_t i = 0; i < parts; i++)
        add_sums(&all, &c.parts[i]);
    free(c.parts);
    return all;
}

// A NaN or infinity that the reference does not have is an infinite error.
//
// A format of unit roundoff u and least normal number m keeps x as
// x (1 + d) + e with |d| <= u and |e| <= u m: below m its steps get no finer,
// and an error is no larger for a reference that is smaller still. So a norm
// counts as at least that of as many m; for float16 that is 6.1e-5 an element.
double compare_rel(const CompareSums *s)
{
    double least2 = (double)s->compared * s->least * s->least;
    double ref2 = s->ref2 > least2 ? s->ref2 : least2;

    if (s->nan_only || s->inf_only)
        return INFINITY;
    if (s->diff2 == 0)
        return 0;
    return ref2 == 0 ? INFINITY : sqrt(s->diff2 / ref2);
}
