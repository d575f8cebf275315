// shape.c - views, and the operations that move whole dimensions about.
//
// Every view is made here, twice: over the tensor's own storage and over its
// origin, while its copy is pending (tensor.h).
#include <string.h>

#include "host/ops.h"
#include "support/parallel.h"

// Dimension `to` of out is dimension `from` of t.
static void take_dim(Tensor *out, int to, const Tensor *t, int from)
{
    out->shape[to] = t->shape[from];
    out->strides[to] = t->strides[from];
    out->origin_strides[to] = t->origin_strides[from];
}

static void new_dim(Tensor *out, int at, int64_t size)
{
    out->shape[at] = size;
    out->strides[at] = out->origin_strides[at] = 0;
}

Tensor tensor_permute(const Tensor *t, const int *order)
{
    Tensor out = *t;
    for (int d = 0; d < t->rank; d++)
        take_dim(&out, d, t, order[d]);
    return out;
}

Tensor tensor_unsqueeze(const Tensor *t, int dim)
{
    Tensor out = *t;
    out.rank++;
    for (int d = t->rank; d > dim; d--)
        take_dim(&out, d, t, d - 1);
    new_dim(&out, dim, 1);
    out.strides[dim] = dim < t->rank ? t->shape[dim] * t->strides[dim] : 1;
    return out;
}

Tensor tensor_squeeze(const Tensor *t, uint32_t mask)
{
    Tensor out = *t;
    out.rank = 0;
    for (int d = 0; d < t->rank; d++)
        if (!(mask >> d & 1) || t->shape[d] != 1)
            take_dim(&out, out.rank++, t, d);
    return out;
}

Tensor tensor_slice(const Tensor *t, int dim, int64_t from, int64_t size,
                    int64_t step)
{
    Tensor out = *t;
    out.offset += from * t->strides[dim];
    out.origin_offset += from * t->origin_strides[dim];
    out.shape[dim] = size;
    out.strides[dim] *= step;
    out.origin_strides[dim] *= step;
    return out;
}

Tensor tensor_select(const Tensor *t, int dim, int64_t at)
{
    Tensor one = tensor_slice(t, dim, at, 1, 1);
    return tensor_squeeze(&one, 1u << dim);
}

Tensor tensor_expand(const Tensor *t, int rank, const int64_t *shape)
{
    Tensor out = *t;
    out.rank = rank;
    for (int d = 0; d < rank; d++) {
        int own = d - (rank - t->rank);
        if (own < 0 || (t->shape[own] == 1 && shape[d] != 1))
            new_dim(&out, d, shape[d]);
        else
            take_dim(&out, d, t, own);
    }
    return out;
}

Tensor tensor_diagonal(const Tensor *t, int64_t first, int d0, int d1)
{
    int64_t rows = t->shape[d0], cols = t->shape[d1], n;
    int64_t r = first < 0 ? -first : 0, c = first > 0 ? first : 0;
    Tensor out = *t;
    n = rows - r < cols - c ? rows - r : cols - c;
    n = n > 0 ? n : 0;
    if (n) {
        out = tensor_slice(&out, d0, r, n, 1);
        out = tensor_slice(&out, d1, c, n, 1);
    }
    Tensor whole = out;
    out.rank = 0;
    for (int d = 0; d < t->rank; d++)
        if (d != d0 && d != d1)
            take_dim(&out, out.rank++, &whole, d);
    new_dim(&out, out.rank, n);
    out.strides[out.rank] = whole.strides[d0] + whole.strides[d1];
    out.origin_strides[out.rank] = whole.origin_strides[d0]
                                   + whole.origin_strides[d1];
    out.rank++;
    return out;
}

// ---- other shapes -----------------------------------------------------------

// Strides for `shape` over elements of t's shape at `old` strides: each group
// of new dimensions must cover a run of old ones that is evenly spaced.
static bool fit_strides(const Tensor *t, const int64_t *old, int rank,
                        const int64_t *shape, int64_t *strides)
{
    int d = rank - 1;
    for (int e = t->rank - 1; e >= 0;) {
        int64_t have = t->shape[e], base = old[e], want = 1;
        if (have == 1) {
            e--;
            continue;
        }
        for (e--; e >= 0 && (t->shape[e] == 1 || old[e] == base * have); e--)
            have *= t->shape[e];
        for (; d >= 0 && want * shape[d] <= have && have % shape[d] == 0
               && (want < have || shape[d] == 1); d--) {
            strides[d] = base * want;
            want *= shape[d];
        }
        if (want != have)
            return false;
    }
    for (; d >= 0; d--)
        strides[d] = 1;                     // sizes of 1 are left
    return true;
}

bool tensor_view(Tensor *out, const Tensor *t, int rank, const int64_t *shape)
{
    Tensor v = *t;
    v.rank = rank;
    memcpy(v.shape, shape, rank * sizeof *shape);
    if (tensor_count(t) == 0)
        tensor_row_major(&v);
    else if (!fit_strides(t, t->strides, rank, shape, v.strides))
        return false;
    if (tensor_is_pending(t)
        && !fit_strides(t, t->origin_strides, rank, shape, v.origin_strides))
        tensor_data(t);                     // makes the copy
    *out = tensor_retain(&v);
    return true;
}

bool tensor_reshape(Tensor *out, const Tensor *t, int rank,
                    const int64_t *shape)
{
    Tensor whole;
    if (tensor_view(out, t, rank, shape))
        return true;
    if (!tensor_cast(&whole, t, t->dtype, true))
        return false;
    bool ok = tensor_view(out, &whole, rank, shape);
    tensor_release(&whole);
    return ok;
}

bool tensor_cat(TensorHeap *h, Tensor *out, const Tensor *const *in, int count,
                int dim, DType result)
{
    int64_t shape[TENSOR_MAX_RANK], at = 0;
    memcpy(shape, in[0]->shape, sizeof shape);
    shape[dim] = 0;
    for (int i = 0; i < count; i++)
        shape[dim] += in[i]->shape[dim];
    if (!tensor_new_raw(h, out, result, in[0]->rank, shape))
        return false;
    for (int i = 0; i < count; i++) {
        Tensor part = tensor_slice(out, dim, at, in[i]->shape[dim], 1);
        at += in[i]->shape[dim];
        tensor_assign(&part, in[i]);
    }
    return true;
}

// [..., n, ...] -> [..., n, 1 expanded to r, ...] -> merged.
bool tensor_repeat_interleave(Tensor *out, const Tensor *t, int64_t n, int dim)
{
    Tensor wide = tensor_unsqueeze(t, dim + 1), merged;
    int64_t shape[TENSOR_MAX_RANK];
    memcpy(shape, wide.shape, sizeof shape);
    shape[dim + 1] = n;
    wide = tensor_expand(&wide, wide.rank, shape);
    memcpy(shape, t->shape, sizeof shape);
    shape[dim] *= n;
    if (tensor_view(&merged, &wide, t->rank, shape)) {
        tensor_copy_later(out, &merged);
        tensor_release(&merged);
        return true;
    }
    return tensor_reshape(out, &wide, t->rank, shape);
}

// ---- triangles --------------------------------------------------------------

typedef struct {
    const Tensor *src;
    Tensor *out;
    int64_t diagonal;
    bool upper;
} Triangle;

// One row: the part that stays is copied, the rest cleared.
static void triangle_row(void *ctx, int worker, int64_t row)
{
    const Triangle *c = ctx;
    const Tensor *o = c->out;
    Tensor from = *c->src;
    size_t bytes = dtype_bytes(o->dtype, 1);
    int64_t cols = o->shape[o->rank - 1], rest = row;
    int64_t i = row % o->shape[o->rank - 2];
    int64_t edge = i + c->diagonal + (c->upper ? 0 : 1);
    edge = edge < 0 ? 0 : edge > cols ? cols : edge;
    char *at = (char *)tensor_data(o) + row * cols * (int64_t)bytes;
    for (int d = o->rank - 2; d >= 0; d--) {
        from = tensor_select(&from, d, rest % o->shape[d]);
        rest /= o->shape[d];
    }
    (void)worker;
    memset(at + (c->upper ? 0 : edge * (int64_t)bytes), 0,
           (c->upper ? edge : cols - edge) * bytes);
    from = c->upper ? tensor_slice(&from, 0, edge, cols - edge, 1)
                    : tensor_slice(&from, 0, 0, edge, 1);
    tensor_read(&from, o->dtype, at + (c->upper ? edge * (int64_t)bytes : 0),
                CAST_SAT);
}

bool tensor_triangle(Tensor *out, const Tensor *t, int64_t diagonal,
                     bool upper)
{
    if (!tensor_new_raw(tensor_heap(t), out, t->dtype, t->rank, t->shape))
        return false;
    Tensor source = tensor_source(t);
    int64_t cols = t->shape[t->rank - 1];
    int64_t far = cols + t->shape[t->rank - 2] + 1;
    diagonal = diagonal < -far ? -far : diagonal > far ? far : diagonal;
    Triangle c = {&source, out, diagonal, upper};
    if (tensor_count(out) > 0)
        parallel_for(tensor_count(out) / cols, 16, triangle_row, &c);
    return true;
}
