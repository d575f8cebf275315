// reduce.c - sums, maxima and their kind along dimensions.
//
// The reduced dimensions are brought to the end and become one. A row is read
// in chunks, as doubles or 64-bit integers; each chunk gives a Partial, and
// partials are combined in order. Long rows are cut in segments that threads
// share out. Where the cuts are depends on the sizes alone, so the result does
// not depend on the threads.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/ops.h"
#include "support/parallel.h"

enum {
    CHUNK = 1024, BUFFER = 16 * CHUNK, MOST_ROWS = 256,
    SEGMENT = 1 << 18,
};

// What is known of some elements of a row.
typedef struct {
    int64_t count, at;          // at: of the extreme
    double sum, sum2;           // or product; mean and squared deviations;
                                // maximum and sum of exponentials
    int64_t whole;              // of integers
    bool any, all;
} Partial;

typedef struct {
    Tensor src;                 // kept..., one reduced
    int kept;
    int64_t rows, row;          // results, elements of each
    int64_t last, group;        // size of the last kept dimension, rows at once
    int64_t groups, segments;
    Tensor *out;
    Reduction op;
    bool ints;
    double power;               // of REDUCE_NORM
    const Lanes *lanes;
    Partial *partials;          // [row][segment] when there are several
} Rows;

// ---- one chunk --------------------------------------------------------------

static bool is_max(Reduction op)
{
    return op == REDUCE_AMAX || op == REDUCE_ARGMAX;
}

static double sum_of(const Rows *r, const double *v, int64_t n)
{
    double sum = 0;
    r->lanes->reduce(LANE_OP_ADD, LANE_F64, DT_F64, &sum, v, n);
    return sum;
}

// A sum that is no NaN says that there is none; then lanes find the extreme.
static bool plain_extreme(const Rows *r, Partial *p, const double *v)
{
    double sum = sum_of(r, v, p->count);
    if ((r->op != REDUCE_AMAX && r->op != REDUCE_AMIN) || isnan(sum))
        return false;
    p->sum = v[0];
    r->lanes->reduce(is_max(r->op) ? LANE_OP_MAX : LANE_OP_MIN, LANE_F64,
                     DT_F64, &p->sum, v, p->count);
    return true;
}

static void chunk_extreme(const Rows *r, Partial *p, const double *v)
{
    bool max = is_max(r->op);
    if (plain_extreme(r, p, v))
        return;
    p->sum = v[0];
    for (int64_t i = 1; i < p->count && !isnan(p->sum); i++)
        if (isnan(v[i]) || (max ? v[i] > p->sum : v[i] < p->sum)) {
            p->sum = v[i];
            p->at = i;
        }
}

static void chunk_variance(const Rows *r, Partial *p, double *v)
{
    p->sum = sum_of(r, v, p->count) / (double)p->count;
    for (int64_t i = 0; i < p->count; i++)
        v[i] = (v[i] - p->sum) * (v[i] - p->sum);
    p->sum2 = sum_of(r, v, p->count);
}

static void chunk_norm(const Rows *r, Partial *p, double *v)
{
    bool largest = isinf(r->power);
    for (int64_t i = 0; i < p->count; i++)
        v[i] = r->power == 2 ? v[i] * v[i] : fabs(v[i]);
    if (!largest) {
        p->sum = sum_of(r, v, p->count);
        return;
    }
    for (int64_t i = 0; i < p->count; i++)
        p->sum = v[i] > p->sum || isnan(v[i]) ? v[i] : p->sum;
}

// exp(v - shift) of elements that may all be -inf.
static void chunk_exponentials(const Rows *r, Partial *p, double *v)
{
    double max = -INFINITY;
    for (int64_t i = 0; i < p->count; i++)
        max = v[i] > max || isnan(v[i]) ? v[i] : max;
    double shift = isinf(max) ? 0 : max;
    for (int64_t i = 0; i < p->count; i++)
        v[i] -= shift;
    r->lanes->op[LANE_OP_EXP][LANE_F64](v, v, NULL, NULL, p->count);
    p->sum = shift;
    p->sum2 = sum_of(r, v, p->count);
}

static Partial float_chunk(const Rows *r, double *v, int64_t n)
{
    Partial p = {.count = n, .all = true};
    switch (r->op) {
    case REDUCE_PROD:
        p.sum = 1;
        for (int64_t i = 0; i < n; i++)
            p.sum *= v[i];
        break;
    case REDUCE_VAR0:
    case REDUCE_VAR1:
        chunk_variance(r, &p, v);
        break;
    case REDUCE_NORM:
        chunk_norm(r, &p, v);
        break;
    case REDUCE_LOGSUMEXP:
        chunk_exponentials(r, &p, v);
        break;
    case REDUCE_ANY:
    case REDUCE_ALL:
    case REDUCE_COUNT:
        for (int64_t i = 0; i < n; i++) {
            p.any = p.any || v[i] != 0;
            p.all = p.all && v[i] != 0;
            p.whole += v[i] != 0;
        }
        break;
    case REDUCE_SUM:
    case REDUCE_MEAN:
        p.sum = sum_of(r, v, n);
        break;
    default:
        chunk_extreme(r, &p, v);
        break;
    }
    return p;
}

static Partial int_chunk(const Rows *r, const int64_t *v, int64_t n)
{
    Partial p = {.count = n, .all = true};
    uint64_t sum = 0, product = 1;
    bool max = is_max(r->op);
    int64_t best = v[0];
    for (int64_t i = 0; i < n; i++) {
        sum += (uint64_t)v[i];
        p.any = p.any || v[i] != 0;
        p.all = p.all && v[i] != 0;
        p.whole += v[i] != 0;
    }
    if (r->op == REDUCE_PROD)
        for (int64_t i = 0; i < n; i++)
            product *= (uint64_t)v[i];
    for (int64_t i = 1; i < n; i++)
        if (max ? v[i] > best : v[i] < best) {
            best = v[i];
            p.at = i;
        }
    p.whole = r->op == REDUCE_SUM ? (int64_t)sum
              : r->op == REDUCE_PROD ? (int64_t)product
              : r->op == REDUCE_COUNT ? p.whole : best;
    return p;
}

// ---- together ---------------------------------------------------------------

static bool better(const Rows *r, const Partial *a, const Partial *b)
{
    bool max = is_max(r->op);
    if (r->ints)
        return max ? b->whole > a->whole : b->whole < a->whole;
    if (isnan(a->sum) || isnan(b->sum))
        return !isnan(a->sum);
    return max ? b->sum > a->sum : b->sum < a->sum;
}

static void merge_variance(Partial *a, const Partial *b)
{
    double n = (double)(a->count + b->count), delta = b->sum - a->sum;
    double share = (double)b->count / n;
    a->sum += delta * share;
    a->sum2 += b->sum2 + delta * delta * (double)a->count * share;
}

static double exponential(const Rows *r, double v)
{
    r->lanes->op[LANE_OP_EXP][LANE_F64](&v, &v, NULL, NULL, 1);
    return v;
}

static void merge_exponentials(const Rows *r, Partial *a, const Partial *b)
{
    double max = a->sum > b->sum ? a->sum : b->sum;
    a->sum2 = a->sum2 * exponential(r, a->sum - max)
              + b->sum2 * exponential(r, b->sum - max);
    a->sum = max;
}

static void merge_extreme(const Rows *r, Partial *a, const Partial *b)
{
    if (!better(r, a, b))
        return;
    a->at = a->count + b->at;
    a->sum = b->sum;
    a->whole = b->whole;
}

static void merge(const Rows *r, Partial *a, const Partial *b)
{
    bool largest = r->op == REDUCE_NORM && isinf(r->power);
    if (a->count == 0) {
        *a = *b;
        return;
    }
    a->any = a->any || b->any;
    a->all = a->all && b->all;
    if (r->op == REDUCE_VAR0 || r->op == REDUCE_VAR1)
        merge_variance(a, b);
    else if (r->op == REDUCE_LOGSUMEXP)
        merge_exponentials(r, a, b);
    else if (r->op >= REDUCE_AMAX && r->op <= REDUCE_ARGMIN)
        merge_extreme(r, a, b);
    else if (largest)
        a->sum = b->sum > a->sum || isnan(b->sum) ? b->sum : a->sum;
    else if (r->op == REDUCE_PROD) {
        a->sum *= b->sum;
        a->whole = (int64_t)((uint64_t)a->whole * (uint64_t)b->whole);
    } else {
        a->sum += b->sum;
        a->whole = (int64_t)((uint64_t)a->whole + (uint64_t)b->whole);
    }
    a->count += b->count;
}

static double logarithm(const Rows *r, double v)
{
    r->lanes->op[LANE_OP_LOG][LANE_F64](&v, &v, NULL, NULL, 1);
    return v;
}

static double float_result(const Rows *r, const Partial *p)
{
    switch (r->op) {
    case REDUCE_MEAN:
        return p->sum / (double)r->row;
    case REDUCE_VAR0:
        return p->sum2 / (double)r->row;
    case REDUCE_VAR1:
        return r->row > 1 ? p->sum2 / (double)(r->row - 1) : NAN;
    case REDUCE_NORM:
        return r->power == 2 ? sqrt(p->sum) : p->sum;
    case REDUCE_LOGSUMEXP:
        return p->count ? logarithm(r, p->sum2) + p->sum : -INFINITY;
    case REDUCE_PROD:
        return p->count ? p->sum : 1;
    default:
        return p->sum;
    }
}

static void put_result(const Rows *r, int64_t row, const Partial *p)
{
    size_t bytes = dtype_bytes(r->out->dtype, 1);
    char *out = (char *)tensor_data(r->out) + row * (int64_t)bytes;
    if (r->op == REDUCE_ANY)
        num_put_i64(r->out->dtype, out, p->any);
    else if (r->op == REDUCE_ALL)
        num_put_i64(r->out->dtype, out, p->all || !p->count);
    else if (r->op == REDUCE_ARGMAX || r->op == REDUCE_ARGMIN)
        num_put_i64(r->out->dtype, out, p->at);
    else if (r->op == REDUCE_COUNT)
        num_put_i64(r->out->dtype, out, p->whole);
    else if (r->ints)
        num_put_i64(r->out->dtype, out,
                    p->count ? p->whole : r->op == REDUCE_PROD);
    else
        num_put_f64(r->out->dtype, out, float_result(r, p));
}

// ---- a group of rows --------------------------------------------------------

// Rows [first, first + n) of the last kept dimension at `outer` of the others,
// elements [at, at + cols).
static Tensor piece(const Rows *r, int64_t outer, int64_t first, int64_t n,
                    int64_t at, int64_t cols)
{
    Tensor t = {.storage = r->src.storage, .dtype = r->src.dtype, .rank = 2,
                .shape = {n, cols}, .offset = r->src.offset};
    const int64_t *strides = r->src.strides;
    t.strides[1] = strides[r->kept];
    t.offset += at * strides[r->kept];
    if (r->kept == 0)
        return t;
    t.strides[0] = strides[r->kept - 1];
    t.offset += first * strides[r->kept - 1];
    for (int d = r->kept - 2; d >= 0; d--) {
        t.offset += outer % r->src.shape[d] * strides[d];
        outer /= r->src.shape[d];
    }
    return t;
}

static Partial chunk(const Rows *r, void *v, int64_t n)
{
    return r->ints ? int_chunk(r, v, n) : float_chunk(r, v, n);
}

static void reduce_group(void *ctx, int worker, int64_t item)
{
    const Rows *r = ctx;
    Partial p[MOST_ROWS] = {{0}};
    _Alignas(64) double buffer[BUFFER];
    int64_t segment = item % r->segments, group = item / r->segments;
    int64_t outer = group / r->groups, first = group % r->groups * r->group;
    int64_t n = r->last - first < r->group ? r->last - first : r->group;
    int64_t end = (segment + 1) * SEGMENT < r->row ? (segment + 1) * SEGMENT
                                                   : r->row;
    (void)worker;
    for (int64_t at = segment * SEGMENT; at < end; at += CHUNK) {
        int64_t cols = end - at < CHUNK ? end - at : CHUNK;
        Tensor t = piece(r, outer, first, n, at, cols);
        tensor_read(&t, r->ints ? DT_I64 : DT_F64, buffer, CAST_SAT);
        for (int64_t i = 0; i < n; i++) {
            Partial next = chunk(r, buffer + i * cols, cols);
            merge(r, &p[i], &next);
        }
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t row = outer * r->last + first + i;
        if (r->segments > 1)
            r->partials[row * r->segments + segment] = p[i];
        else
            put_result(r, row, &p[i]);
    }
}

static void join_segments(void *ctx, int worker, int64_t row)
{
    const Rows *r = ctx;
    Partial *p = r->partials + row * r->segments;
    (void)worker;
    for (int64_t s = 1; s < r->segments; s++)
        merge(r, &p[0], &p[s]);
    put_result(r, row, &p[0]);
}

// ---- entries ----------------------------------------------------------------

Tensor rows_to_end(const Tensor *t, uint32_t mask, int *kept)
{
    int order[TENSOR_MAX_RANK], n = 0;
    for (int d = 0; d < t->rank; d++)
        if (!(mask >> d & 1))
            order[n++] = d;
    *kept = n;
    for (int d = 0; d < t->rank; d++)
        if (mask >> d & 1)
            order[n++] = d;
    return tensor_permute(t, order);
}

// Kept dimensions merged where memory allows, the reduced ones to one.
static bool arrange(Rows *r, const Tensor *t, uint32_t mask, Tensor *hold)
{
    int64_t shape[TENSOR_MAX_RANK + 1], flat[2];
    Tensor source = tensor_source(t);
    Tensor moved = rows_to_end(&source, mask, &r->kept);
    r->rows = r->row = 1;
    for (int d = 0; d < t->rank; d++)
        *(d < r->kept ? &r->rows : &r->row) *= moved.shape[d];
    if (r->rows == 0 || r->row == 0)
        return true;
    memcpy(shape, moved.shape, sizeof moved.shape);
    flat[0] = r->rows;
    flat[1] = shape[r->kept] = r->row;
    bool viewed = tensor_view(hold, &moved, 2, flat)
                  || (r->kept < TENSOR_MAX_RANK
                      && tensor_view(hold, &moved, r->kept + 1, shape));
    if (!viewed && !tensor_reshape(hold, &moved, 2, flat))
        return false;
    r->src = *hold;
    return true;
}

static void share_out(Rows *r)
{
    int64_t chunk_cols = r->row < CHUNK ? r->row : CHUNK;
    r->kept = r->src.rank - 1;
    r->last = r->kept ? r->src.shape[r->kept - 1] : 1;
    r->group = BUFFER / chunk_cols;
    r->group = r->group < MOST_ROWS ? r->group : MOST_ROWS;
    r->group = r->group < r->last ? r->group : r->last;
    r->groups = (r->last + r->group - 1) / r->group;
    r->segments = (r->row + SEGMENT - 1) / SEGMENT;
}

static void empty_rows(const Rows *r)
{
    Partial none = {.all = true};
    for (int64_t i = 0; i < r->rows; i++)
        put_result(r, i, &none);
}

static bool run_rows(Rows *r)
{
    if (r->rows == 0)
        return true;
    if (r->row == 0) {
        empty_rows(r);
        return true;
    }
    share_out(r);
    if (r->segments > 1)
        r->partials = xcalloc(r->rows * r->segments, sizeof *r->partials);
    int64_t items = r->rows / r->last * r->groups * r->segments;
    parallel_for(items, 1, reduce_group, r);
    if (r->segments > 1)
        parallel_for(r->rows, 64, join_segments, r);
    free(r->partials);
    return true;
}

bool tensor_reduce(TensorHeap *h, Tensor *out, const Tensor *t, Reduction op,
                   uint32_t mask, bool keep, DType result)
{
    return tensor_norm(h, out, t, op, mask, keep, result, 2);
}

bool tensor_norm(TensorHeap *h, Tensor *out, const Tensor *t, Reduction op,
                 uint32_t mask, bool keep, DType result, double power)
{
    int64_t shape[TENSOR_MAX_RANK];
    int rank = 0;
    Tensor hold = {0};
    Rows r = {.op = op, .lanes = lanes_best(), .out = out, .power = power};
    r.ints = !dtype_is_float(t->dtype) && !dtype_is_float(result);
    for (int d = 0; d < t->rank; d++) {
        bool gone = mask >> d & 1;
        if (!gone || keep)
            shape[rank++] = gone ? 1 : t->shape[d];
    }
    if (!tensor_new_raw(h, out, result, rank, shape))
        return false;
    bool ok = arrange(&r, t, mask, &hold) && run_rows(&r);
    tensor_release(&hold);
    if (!ok)
        tensor_release(out);
    return ok;
}
