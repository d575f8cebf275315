// rows.c - rows to rows along a dimension: softmax, running sums, sorting.
//
// A thread takes a few adjacent rows, brings them to f64 or i64, works on each
// and writes them back. Rows of f64 in order are worked on in place.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/ops.h"
#include "support/parallel.h"

enum { GROUP_ELEMENTS = 1 << 14, ACROSS = 8 };

typedef struct {
    Tensor src, dst, at;        // the row dimension last
    bool has_at, ints, in_place;
    RowOp op;
    int64_t row, last, group, groups;
    int kept;
    DType work;                 // DT_F64 or DT_I64
    char *scratch;              // per worker: rows, one more, places
    size_t scratch_bytes;
    const Lanes *lanes;
} Rows;

// What one thread works with.
typedef struct {
    void *rows, *spare;
    int64_t *places, *order;
} Scratch;

// ---- one row ----------------------------------------------------------------

// Pieces that stay in the first cache.
enum { PIECE = 1024 };

static void fill(double *out, double v, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = v;
}

// exp(v - max) and its sum. Of a row with a NaN that is NaN, whatever max is.
static double exponentials(const Rows *r, double *dst, const double *v,
                           double max, int64_t n, bool keep)
{
    const Lanes *l = r->lanes;
    double shift[PIECE], sum = 0;
    fill(shift, max, n < PIECE ? n : PIECE);
    for (int64_t at = 0; at < n; at += PIECE) {
        int64_t m = n - at < PIECE ? n - at : PIECE;
        double piece[PIECE], *out = keep ? dst + at : piece;
        l->op[LANE_OP_SUB][LANE_F64](out, v + at, shift, NULL, m);
        l->op[LANE_OP_EXP][LANE_F64](out, out, NULL, NULL, m);
        l->reduce(LANE_OP_ADD, LANE_F64, DT_F64, &sum, out, m);
    }
    return sum;
}

static double row_max(const Rows *r, const double *v, int64_t n)
{
    double max = -INFINITY;
    r->lanes->reduce(LANE_OP_MAX, LANE_F64, DT_F64, &max, v, n);
    return max;
}

// Stable: the maximum is subtracted first. All -inf gives NaN, as in torch.
static void softmax(const Rows *r, double *dst, const double *v, int64_t n)
{
    double sums[PIECE];
    double sum = exponentials(r, dst, v, row_max(r, v, n), n, true);
    fill(sums, sum, n < PIECE ? n : PIECE);
    for (int64_t at = 0; at < n; at += PIECE)
        r->lanes->op[LANE_OP_DIV][LANE_F64](dst + at, dst + at, sums, NULL,
                                            n - at < PIECE ? n - at : PIECE);
}

static void log_softmax(const Rows *r, double *dst, const double *v, int64_t n)
{
    double max = row_max(r, v, n);
    double sum = exponentials(r, dst, v, max, n, false);
    r->lanes->op[LANE_OP_LOG][LANE_F64](&sum, &sum, NULL, NULL, 1);
    for (int64_t i = 0; i < n; i++)
        dst[i] = v[i] - max - sum;
}

static void scan_floats(RowOp op, double *dst, const double *v, int64_t n)
{
    double acc = op == ROWS_CUMPROD ? 1 : 0;
    for (int64_t i = 0; i < n; i++)
        dst[i] = acc = op == ROWS_CUMPROD ? acc * v[i] : acc + v[i];
}

static void scan_ints(RowOp op, int64_t *dst, const int64_t *v, int64_t n)
{
    uint64_t acc = op == ROWS_CUMPROD ? 1 : 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t x = (uint64_t)v[i];
        acc = op == ROWS_CUMPROD ? acc * x : acc + x;
        dst[i] = (int64_t)acc;
    }
}

// ---- order ------------------------------------------------------------------

// Is element i of a row above element j, NaN above all?
static bool above(const Rows *r, const void *row, int64_t i, int64_t j)
{
    const int64_t *w = row;
    const double *v = row;
    if (r->ints)
        return w[i] > w[j];
    return v[i] > v[j] || (isnan(v[i]) && !isnan(v[j]));
}

// Later equal elements win, and every NaN.
static void running_extreme(const Rows *r, const Scratch *s, void *dst,
                            const void *v)
{
    int64_t best = 0;
    for (int64_t i = 0; i < r->row; i++) {
        bool nan = !r->ints && isnan(((const double *)v)[i]);
        bool kept_nan = !r->ints && isnan(((const double *)v)[best]);
        bool worse = r->op == ROWS_CUMMAX ? above(r, v, best, i)
                                          : above(r, v, i, best);
        if (nan || (!kept_nan && !worse))
            best = i;
        s->places[i] = best;
        memcpy((char *)s->spare + i * 8, (const char *)v + best * 8, 8);
    }
    memcpy(dst, s->spare, r->row * 8);
}

static bool goes_first(const Rows *r, const void *v, int64_t a, int64_t b)
{
    return r->op == ROWS_SORT_UP ? !above(r, v, a, b) : !above(r, v, b, a);
}

// Bottom-up merge sort of places.
static void sort_places(const Rows *r, const Scratch *s, const void *v)
{
    int64_t *from = s->places, *to = s->order, n = r->row;
    for (int64_t i = 0; i < n; i++)
        from[i] = i;
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t at = 0; at < n; at += 2 * width) {
            int64_t mid = at + width < n ? at + width : n;
            int64_t end = at + 2 * width < n ? at + 2 * width : n;
            for (int64_t k = at, i = at, j = mid; k < end; k++)
                to[k] = j == end || (i < mid && goes_first(r, v, from[i],
                                                           from[j]))
                            ? from[i++] : from[j++];
        }
        int64_t *keep = from;
        from = to;
        to = keep;
    }
    if (from != s->places)
        memcpy(s->places, from, n * sizeof *from);
}

static void sort_row(const Rows *r, const Scratch *s, void *dst, const void *v)
{
    sort_places(r, s, v);
    for (int64_t i = 0; i < r->row; i++)
        memcpy((char *)s->spare + i * 8, (const char *)v + s->places[i] * 8, 8);
    memcpy(dst, s->spare, r->row * 8);
}

static void transform(const Rows *r, const Scratch *s, void *dst, const void *v)
{
    switch (r->op) {
    case ROWS_SOFTMAX:
        softmax(r, dst, v, r->row);
        break;
    case ROWS_LOG_SOFTMAX:
        log_softmax(r, dst, v, r->row);
        break;
    case ROWS_CUMSUM:
    case ROWS_CUMPROD:
        if (r->ints)
            scan_ints(r->op, dst, v, r->row);
        else
            scan_floats(r->op, dst, v, r->row);
        break;
    case ROWS_CUMMAX:
    case ROWS_CUMMIN:
        running_extreme(r, s, dst, v);
        break;
    default:
        sort_row(r, s, dst, v);
        break;
    }
}

// ---- a group of rows --------------------------------------------------------

// Rows [first, first + n) of the last kept dimension at `outer` of the others.
static Tensor piece(const Rows *r, const Tensor *t, int64_t outer,
                    int64_t first, int64_t n)
{
    Tensor out = *t;
    for (int d = r->kept - 2; d >= 0; d--) {
        int64_t at = outer % t->shape[d];
        outer /= t->shape[d];
        out = tensor_select(&out, d, at);
    }
    return r->kept ? tensor_slice(&out, 0, first, n, 1)
                   : tensor_unsqueeze(&out, 0);
}

// Contiguous memory back to rows of a view.
static void write_back(Tensor *to, DType from, const void *data)
{
    size_t bytes = dtype_bytes(to->dtype, 1);
    int64_t cols = to->shape[1];
    char *base = tensor_data(to), row[1024 * 8];
    for (int64_t i = 0; i < to->shape[0]; i++)
        for (int64_t at = 0; at < cols; at += 1024) {
            int64_t n = cols - at < 1024 ? cols - at : 1024;
            char *out = base + (i * to->strides[0] + at * to->strides[1])
                                   * (int64_t)bytes;
            bool straight = to->strides[1] == 1;
            num_convert_torch(to->dtype, straight ? out : row, from,
                              (const char *)data + (i * cols + at) * 8, n);
            for (int64_t j = 0; !straight && j < n; j++)
                memcpy(out + j * to->strides[1] * (int64_t)bytes,
                       row + j * bytes, bytes);
        }
}

static Scratch scratch_of(const Rows *r, int worker)
{
    char *at = r->scratch + worker * r->scratch_bytes;
    int64_t elements = r->group * r->row;
    return (Scratch){
        .rows = at,
        .places = (int64_t *)(at + elements * 8),
        .spare = at + 2 * elements * 8,
        .order = (int64_t *)(at + 2 * elements * 8 + r->row * 8),
    };
}

static void run_group(void *ctx, int worker, int64_t item)
{
    const Rows *r = ctx;
    Scratch s = scratch_of(r, worker);
    int64_t outer = item / r->groups, first = item % r->groups * r->group;
    int64_t n = r->last - first < r->group ? r->last - first : r->group;
    Tensor from = piece(r, &r->src, outer, first, n);
    Tensor to = piece(r, &r->dst, outer, first, n);
    char *src = s.rows, *dst = s.rows;
    int64_t src_row = r->row, dst_row = r->row;
    int64_t *places = s.places;
    if (r->in_place) {
        src = tensor_data(&from);
        dst = tensor_data(&to);
        src_row = from.strides[0];
        dst_row = to.strides[0];
    } else {
        tensor_read(&from, r->work, src, CAST_TORCH);
    }
    for (int64_t i = 0; i < n; i++) {
        s.places = places + (r->in_place ? 0 : i * r->row);
        transform(r, &s, dst + i * dst_row * 8, src + i * src_row * 8);
    }
    if (!r->in_place)
        write_back(&to, r->work, dst);
    if (r->has_at) {
        Tensor at = piece(r, &r->at, outer, first, n);
        write_back(&at, DT_I64, places);
    }
}

// ---- the entry --------------------------------------------------------------

static bool is_row_of(const Tensor *t, DType work)
{
    return t->dtype == work && t->strides[t->rank - 1] == 1;
}

static void share_out(Rows *r)
{
    bool across = r->src.strides[r->kept] != 1 || r->dst.strides[r->kept] != 1;
    r->last = r->kept ? r->src.shape[r->kept - 1] : 1;
    r->group = GROUP_ELEMENTS / (r->row + 1) + 1;
    if (across && r->group < ACROSS)
        r->group = ACROSS;
    r->group = r->group < r->last ? r->group : r->last;
    r->groups = (r->last + r->group - 1) / r->group;
    r->in_place = !r->has_at && is_row_of(&r->src, r->work)
                  && is_row_of(&r->dst, r->work);
    r->scratch_bytes = (size_t)(2 * r->group + 2) * r->row * 8;
    if (r->in_place && r->op < ROWS_CUMMAX)
        r->scratch_bytes = 0;
}

static bool run_rows(Rows *r)
{
    if (tensor_count(&r->src) == 0)
        return true;
    share_out(r);
    r->scratch = malloc(r->scratch_bytes * parallel_threads() + 1);
    if (!r->scratch)
        return false;
    parallel_for(tensor_count(&r->src) / r->row / r->last * r->groups, 1,
                 run_group, r);
    free(r->scratch);
    return true;
}

static bool can_reuse(const Tensor *reuse, const Tensor *t, DType result)
{
    return reuse && reuse->dtype == result && tensor_is_contiguous(reuse)
           && !tensor_is_shared(reuse) && !tensor_is_pending(reuse)
           && reuse->storage == t->storage && tensor_same_shape(reuse, t);
}

static void leave_alone(Tensor *at)
{
    if (at)
        tensor_assign_number(at, 0, 0);
}

bool tensor_rows(TensorHeap *h, Tensor *out, Tensor *at, const Tensor *t,
                 RowOp op, int dim, DType result, Tensor *reuse)
{
    Rows r = {.op = op, .lanes = lanes_best(), .has_at = at != NULL};
    Tensor source = tensor_source(t);
    r.ints = !dtype_is_float(t->dtype) && !dtype_is_float(result);
    r.work = r.ints ? DT_I64 : DT_F64;
    if (at && !tensor_new_raw(h, at, DT_I64, t->rank, t->shape))
        return false;
    if (can_reuse(reuse, t, result))
        *out = tensor_retain(reuse);
    else if (!tensor_new_raw(h, out, result, t->rank, t->shape))
        return false;
    if (t->rank == 0 && op != ROWS_SOFTMAX && op != ROWS_LOG_SOFTMAX) {
        tensor_assign(out, t);
        leave_alone(at);
        return true;
    }
    if (t->rank == 0)
        source.strides[0] = source.shape[0] = source.rank = 1;
    Tensor whole = *out;
    if (t->rank == 0)
        whole.strides[0] = whole.shape[0] = whole.rank = 1;
    r.src = rows_to_end(&source, 1u << dim, &r.kept);
    r.dst = rows_to_end(&whole, 1u << dim, &r.kept);
    if (at)
        r.at = rows_to_end(at, 1u << dim, &r.kept);
    r.row = r.src.shape[r.kept];
    return run_rows(&r);
}
