// reduce.c - sums, maxima, softmax, running sums along dimensions.
//
// The reduced dimensions are brought to the end; then each result is one pass
// over a row. Floats are summed in f64 and rounded once, in a fixed order.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/ops.h"
#include "support/parallel.h"

enum { CHUNK = 1024 };

typedef struct {
    Tensor src;                 // dimensions: kept..., reduced...
    int kept;                   // how many are kept
    int64_t rows, row;          // results, elements of each
    Tensor *out;
    Reduction op;
    RowOp row_op;
    const Lanes *lanes;
} Rows;

static int64_t offset_of(const Tensor *t, int from, int to, int64_t flat)
{
    int64_t at = 0;
    for (int d = to - 1; d >= from; d--) {
        at += flat % t->shape[d] * t->strides[d];
        flat /= t->shape[d];
    }
    return at;
}

// Elements [first, first + n) of row `row` as doubles.
static void read_row(const Rows *r, int64_t row, int64_t first, int64_t n,
                     double *out)
{
    const Tensor *t = &r->src;
    size_t bytes = dtype_bytes(t->dtype, 1);
    char *base = (char *)tensor_data(t)
                 + offset_of(t, 0, r->kept, row) * (int64_t)bytes;
    int last = t->rank - 1;
    bool straight = t->rank - r->kept == 1 && t->strides[last] == 1;
    if (straight) {
        r->lanes->load_f64[t->dtype](out, base + first * bytes, NULL, NULL, n);
        return;
    }
    char packed[CHUNK * 8];
    for (int64_t i = 0; i < n; i++)
        memcpy(packed + i * bytes,
               base + offset_of(t, r->kept, t->rank, first + i)
                          * (int64_t)bytes, bytes);
    r->lanes->load_f64[t->dtype](out, packed, NULL, NULL, n);
}

static int64_t read_i64(const Rows *r, int64_t row, int64_t i)
{
    const Tensor *t = &r->src;
    size_t bytes = dtype_bytes(t->dtype, 1);
    return num_get_i64(t->dtype,
                       (char *)tensor_data(t)
                           + (offset_of(t, 0, r->kept, row)
                              + offset_of(t, r->kept, t->rank, i))
                                 * (int64_t)bytes);
}

// ---- one result -----------------------------------------------------------------------

static int64_t integer_result(const Rows *r, int64_t row)
{
    int64_t acc = r->op == REDUCE_PROD ? 1 : 0;
    for (int64_t i = 0; i < r->row; i++) {
        int64_t v = read_i64(r, row, i);
        if (r->op == REDUCE_SUM)
            acc = (int64_t)((uint64_t)acc + (uint64_t)v);
        else if (r->op == REDUCE_PROD)
            acc = (int64_t)((uint64_t)acc * (uint64_t)v);
        else if (i == 0 || (r->op == REDUCE_AMAX ? v > acc : v < acc))
            acc = v;
    }
    return acc;
}

typedef struct {
    double acc, acc2;
    int64_t at;                 // of the extreme
    bool any, all, nan;
} Partial;

static void extreme(const Rows *r, Partial *p, double v, int64_t i)
{
    bool max = r->op == REDUCE_AMAX || r->op == REDUCE_ARGMAX;
    if (p->nan)
        return;
    if (isnan(v) || i == 0 || (max ? v > p->acc : v < p->acc)) {
        p->acc = v;
        p->at = i;
        p->nan = isnan(v);
    }
}

static void accumulate(const Rows *r, Partial *p, const double *v, int64_t n,
                       int64_t first)
{
    double sum = 0;
    switch (r->op) {
    case REDUCE_SUM:
    case REDUCE_MEAN:
    case REDUCE_VAR0:
    case REDUCE_VAR1:
        r->lanes->reduce(LANE_OP_ADD, LANE_F64, DT_F64, &sum, v, n);
        p->acc += sum;
        break;
    case REDUCE_PROD:
        p->acc = first ? p->acc : 1;
        for (int64_t i = 0; i < n; i++)
            p->acc *= v[i];
        break;
    case REDUCE_NORM:
        for (int64_t i = 0; i < n; i++)
            p->acc += v[i] * v[i];
        break;
    case REDUCE_ANY:
    case REDUCE_ALL:
        for (int64_t i = 0; i < n; i++) {
            p->any = p->any || v[i] != 0;
            p->all = p->all && v[i] != 0;
        }
        break;
    default:
        for (int64_t i = 0; i < n; i++)
            extreme(r, p, v[i], first + i);
        break;
    }
}

static double variance(const Rows *r, int64_t row, double mean)
{
    double buffer[CHUNK], sum = 0;
    for (int64_t at = 0; at < r->row; at += CHUNK) {
        int64_t n = r->row - at < CHUNK ? r->row - at : CHUNK;
        read_row(r, row, at, n, buffer);
        for (int64_t i = 0; i < n; i++)
            sum += (buffer[i] - mean) * (buffer[i] - mean);
    }
    return sum / (double)(r->row - (r->op == REDUCE_VAR1));
}

static double finish(const Rows *r, int64_t row, const Partial *p)
{
    switch (r->op) {
    case REDUCE_MEAN:
        return p->acc / (double)r->row;
    case REDUCE_VAR0:
    case REDUCE_VAR1:
        return variance(r, row, p->acc / (double)r->row);
    case REDUCE_NORM:
        return sqrt(p->acc);
    case REDUCE_ARGMAX:
    case REDUCE_ARGMIN:
        return (double)p->at;
    case REDUCE_ANY:
        return p->any;
    case REDUCE_ALL:
        return p->all;
    case REDUCE_PROD:
        return r->row ? p->acc : 1;
    default:
        return p->acc;
    }
}

static void reduce_row(void *ctx, int worker, int64_t row)
{
    const Rows *r = ctx;
    Partial p = {.all = true};
    double buffer[CHUNK];
    size_t bytes = dtype_bytes(r->out->dtype, 1);
    char *out = (char *)tensor_data(r->out) + row * bytes;
    bool whole = !dtype_is_float(r->src.dtype)
                 && (r->op == REDUCE_SUM || r->op == REDUCE_PROD
                     || r->op == REDUCE_AMAX || r->op == REDUCE_AMIN);
    (void)worker;
    if (whole) {
        num_put_i64(r->out->dtype, out, integer_result(r, row));
        return;
    }
    for (int64_t at = 0; at < r->row; at += CHUNK) {
        int64_t n = r->row - at < CHUNK ? r->row - at : CHUNK;
        read_row(r, row, at, n, buffer);
        accumulate(r, &p, buffer, n, at);
    }
    num_put_f64(r->out->dtype, out, finish(r, row, &p));
}

static void order_dims(Rows *r, const Tensor *t, uint32_t mask)
{
    int order[TENSOR_MAX_RANK], n = 0;
    for (int d = 0; d < t->rank; d++)
        if (!(mask >> d & 1))
            order[n++] = d;
    r->kept = n;
    for (int d = 0; d < t->rank; d++)
        if (mask >> d & 1)
            order[n++] = d;
    r->src = tensor_permute(t, order);
    r->rows = r->row = 1;
    for (int d = 0; d < t->rank; d++)
        *(d < r->kept ? &r->rows : &r->row) *= r->src.shape[d];
}

bool tensor_reduce(TensorHeap *h, Tensor *out, const Tensor *t, Reduction op,
                   uint32_t mask, bool keep, DType result)
{
    int64_t shape[TENSOR_MAX_RANK];
    int rank = 0;
    Rows r = {.op = op, .lanes = lanes_best(), .out = out};
    for (int d = 0; d < t->rank; d++) {
        bool gone = mask >> d & 1;
        if (!gone || keep)
            shape[rank++] = gone ? 1 : t->shape[d];
    }
    if (!tensor_new(h, out, result, rank, shape))
        return false;
    order_dims(&r, t, mask);
    int64_t grain = r.row > 0 && r.row < 4096 ? 4096 / r.row : 1;
    parallel_for(r.rows, grain, reduce_row, &r);
    return true;
}

// ---- rows to rows -------------------------------------------------------------------------

static double running(RowOp op, double acc, double v, bool first)
{
    switch (op) {
    case ROWS_CUMPROD:
        return first ? v : acc * v;
    case ROWS_CUMMAX:
        return first || v > acc || isnan(v) ? v : acc;
    default:
        return first ? v : acc + v;
    }
}

static void scan(RowOp op, double *v, int64_t n)
{
    double acc = 0;
    for (int64_t i = 0; i < n; i++)
        v[i] = acc = running(op, acc, v[i], i == 0);
}

// Stable: the maximum is subtracted first. All -inf gives NaN, as in torch.
static void softmax(const Lanes *lanes, double *v, int64_t n, bool log)
{
    double max = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++)
        max = v[i] > max || isnan(v[i]) ? v[i] : max;
    for (int64_t i = 0; i < n; i++)
        v[i] -= max;
    if (log) {
        double *e = xcalloc(n, sizeof *e);
        lanes->op[LANE_OP_EXP][LANE_F64](e, v, NULL, NULL, n);
        lanes->reduce(LANE_OP_ADD, LANE_F64, DT_F64, &sum, e, n);
        free(e);
        lanes->op[LANE_OP_LOG][LANE_F64](&sum, &sum, NULL, NULL, 1);
        for (int64_t i = 0; i < n; i++)
            v[i] -= sum;
        return;
    }
    lanes->op[LANE_OP_EXP][LANE_F64](v, v, NULL, NULL, n);
    lanes->reduce(LANE_OP_ADD, LANE_F64, DT_F64, &sum, v, n);
    for (int64_t i = 0; i < n; i++)
        v[i] /= sum;
}

static void write_row(const Rows *r, int64_t row, const double *v)
{
    const Tensor *o = r->out;
    size_t bytes = dtype_bytes(o->dtype, 1);
    char *base = (char *)tensor_data(o)
                 + offset_of(o, 0, r->kept, row) * (int64_t)bytes;
    int64_t stride = o->strides[r->kept];
    if (stride == 1) {
        r->lanes->store_f64[o->dtype](base, v, NULL, NULL, r->row);
        return;
    }
    for (int64_t i = 0; i < r->row; i++)
        num_put_f64(o->dtype, base + i * stride * (int64_t)bytes, v[i]);
}

static void transform_row(void *ctx, int worker, int64_t row)
{
    const Rows *r = ctx;
    (void)worker;
    double *v = xcalloc(r->row + 1, sizeof *v);
    for (int64_t at = 0; at < r->row; at += CHUNK) {
        int64_t n = r->row - at < CHUNK ? r->row - at : CHUNK;
        read_row(r, row, at, n, v + at);
    }
    if (r->row_op == ROWS_SOFTMAX || r->row_op == ROWS_LOG_SOFTMAX)
        softmax(r->lanes, v, r->row, r->row_op == ROWS_LOG_SOFTMAX);
    else
        scan(r->row_op, v, r->row);
    write_row(r, row, v);
    free(v);
}

bool tensor_rows(TensorHeap *h, Tensor *out, const Tensor *t, RowOp op, int dim,
                 DType result, Tensor *reuse)
{
    Rows r = {.row_op = op, .lanes = lanes_best()};
    int order[TENSOR_MAX_RANK], n = 0;
    if (t->rank == 0)
        return tensor_cast(out, t, result, true);
    if (reuse && reuse->dtype == result && tensor_is_contiguous(reuse)
        && !tensor_is_shared(reuse) && reuse->storage == t->storage)
        *out = tensor_retain(reuse);
    else if (!tensor_new(h, out, result, t->rank, t->shape))
        return false;
    for (int d = 0; d < t->rank; d++)
        if (d != dim)
            order[n++] = d;
    order[n] = dim;
    Tensor moved = tensor_permute(out, order);
    r.out = &moved;
    order_dims(&r, t, 1u << dim);
    int64_t grain = r.row > 0 && r.row < 4096 ? 4096 / r.row : 1;
    parallel_for(r.rows, grain, transform_row, &r);
    return true;
}
