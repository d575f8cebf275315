// shape.c - views and the operations that move elements about.
#include <string.h>

#include "host/ops.h"
#include "support/parallel.h"

// Views here borrow the storage: whoever keeps one retains it.
Tensor tensor_permute(const Tensor *t, const int *order)
{
    Tensor out = *t;
    for (int d = 0; d < t->rank; d++) {
        out.shape[d] = t->shape[order[d]];
        out.strides[d] = t->strides[order[d]];
    }
    return out;
}

Tensor tensor_unsqueeze(const Tensor *t, int dim)
{
    Tensor out = *t;
    out.rank++;
    for (int d = t->rank; d > dim; d--) {
        out.shape[d] = t->shape[d - 1];
        out.strides[d] = t->strides[d - 1];
    }
    out.shape[dim] = 1;
    out.strides[dim] = 0;
    return out;
}

Tensor tensor_squeeze(const Tensor *t, uint32_t mask)
{
    Tensor out = *t;
    out.rank = 0;
    for (int d = 0; d < t->rank; d++) {
        if ((mask >> d & 1) && t->shape[d] == 1)
            continue;
        out.shape[out.rank] = t->shape[d];
        out.strides[out.rank++] = t->strides[d];
    }
    return out;
}

// Strides for `shape` over t's elements without a copy: each group of new
// dimensions must cover a run of old ones that is evenly spaced.
static bool view_strides(const Tensor *t, int rank, const int64_t *shape,
                         int64_t *strides)
{
    int old = t->rank - 1;
    int64_t base = 1, have = 1, want = 1;
    int d = rank - 1;
    while (old >= 0 && t->shape[old] == 1)
        old--;
    base = old >= 0 ? t->strides[old] : 1;
    for (; d >= 0; d--) {
        strides[d] = base * want;
        want *= shape[d];
        while (want > have && old >= 0) {
            int64_t expected = t->strides[old] * t->shape[old];
            have *= t->shape[old--];
            while (old >= 0 && t->shape[old] == 1)
                old--;
            if (want > have && old >= 0 && t->strides[old] != expected)
                return false;
        }
        if (want == have && old >= 0) {
            base = t->strides[old];
            have = want = 1;
        }
        if (want > have)
            return false;
    }
    return true;
}

bool tensor_reshape(Tensor *out, const Tensor *t, int rank,
                    const int64_t *shape)
{
    Tensor whole;
    int64_t strides[TENSOR_MAX_RANK];
    bool view = tensor_count(t) > 0 && view_strides(t, rank, shape, strides);
    if (view)
        whole = tensor_retain(t);
    else if (!tensor_contiguous(&whole, t))
        return false;
    *out = whole;
    out->rank = rank;
    memcpy(out->shape, shape, rank * sizeof *shape);
    if (view)
        memcpy(out->strides, strides, rank * sizeof *strides);
    else
        tensor_row_major(out);
    return true;
}

bool tensor_cat(TensorHeap *h, Tensor *out, const Tensor *const *in, int count,
                int dim, DType result)
{
    int64_t shape[TENSOR_MAX_RANK], at = 0;
    memcpy(shape, in[0]->shape, sizeof shape);
    shape[dim] = 0;
    for (int i = 0; i < count; i++)
        shape[dim] += in[i]->shape[dim];
    if (!tensor_new(h, out, result, in[0]->rank, shape))
        return false;
    for (int i = 0; i < count; i++) {
        Tensor part = *out;
        part.shape[dim] = in[i]->shape[dim];
        part.offset += at * part.strides[dim];
        at += in[i]->shape[dim];
        tensor_assign(&part, in[i]);
    }
    return true;
}

// [..., n, ...] -> [..., n, 1 expanded to r, ...] -> merged.
bool tensor_repeat_interleave(Tensor *out, const Tensor *t, int64_t n, int dim)
{
    Tensor wide = tensor_unsqueeze(t, dim + 1);
    int64_t shape[TENSOR_MAX_RANK];
    wide.shape[dim + 1] = n;
    memcpy(shape, t->shape, sizeof shape);
    shape[dim] *= n;
    return tensor_reshape(out, &wide, t->rank, shape);
}

// ---- by index ---------------------------------------------------------------------------

static int64_t index_at(const Tensor *index, int64_t flat)
{
    int64_t at = 0;
    for (int d = index->rank - 1; d >= 0; d--) {
        at += flat % index->shape[d] * index->strides[d];
        flat /= index->shape[d];
    }
    return num_get_i64(index->dtype,
                       (char *)tensor_data(index)
                           + (int64_t)dtype_bytes(index->dtype, 1) * at);
}

static bool in_range(int64_t *i, int64_t n, int64_t *bad)
{
    if (*i < -n || *i >= n) {
        *bad = *i;
        return false;
    }
    *i += *i < 0 ? n : 0;
    return true;
}

bool tensor_take(TensorHeap *h, Tensor *out, const Tensor *t, int dim,
                 const Tensor *index, int64_t *bad)
{
    int64_t shape[TENSOR_MAX_RANK], n = tensor_count(index);
    memcpy(shape, t->shape, sizeof shape);
    shape[dim] = n;
    *bad = 0;
    if (!tensor_new(h, out, t->dtype, t->rank, shape))
        return false;
    for (int64_t i = 0; i < n; i++) {
        Tensor from = *t, to = *out;
        int64_t at = index_at(index, i);
        if (!in_range(&at, t->shape[dim], bad)) {
            tensor_release(out);
            return false;
        }
        from.shape[dim] = to.shape[dim] = 1;
        from.offset += at * from.strides[dim];
        to.offset += i * to.strides[dim];
        tensor_assign(&to, &from);
    }
    return true;
}

bool tensor_gather(TensorHeap *h, Tensor *out, const Tensor *t, int dim,
                   const Tensor *index, int64_t *bad)
{
    size_t bytes = dtype_bytes(t->dtype, 1);
    int64_t n = tensor_count(index);
    *bad = 0;
    if (!tensor_new(h, out, t->dtype, index->rank, index->shape))
        return false;
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, at = 0, chosen = index_at(index, i);
        if (!in_range(&chosen, t->shape[dim], bad)) {
            tensor_release(out);
            return false;
        }
        for (int d = index->rank - 1; d >= 0; d--) {
            int64_t k = rest % index->shape[d];
            rest /= index->shape[d];
            at += (d == dim ? chosen : k) * t->strides[d];
        }
        memcpy((char *)tensor_data(out) + i * bytes,
               (char *)tensor_data(t) + at * (int64_t)bytes, bytes);
    }
    return true;
}

typedef struct {
    Tensor *t;
    int64_t diagonal;
    bool upper;
} Triangle;

static void clear_row(void *ctx, int worker, int64_t row)
{
    const Triangle *c = ctx;
    int64_t cols = c->t->shape[c->t->rank - 1];
    int64_t i = row % c->t->shape[c->t->rank - 2];
    int64_t edge = i + c->diagonal + (c->upper ? 0 : 1);
    int64_t from = c->upper ? 0 : edge, to = c->upper ? edge : cols;
    (void)worker;
    from = from < 0 ? 0 : from;
    to = to > cols ? cols : to;
    if (from < to)
        memset((char *)tensor_data(c->t)
                   + dtype_bytes(c->t->dtype, row * cols + from),
               0, dtype_bytes(c->t->dtype, to - from));
}

bool tensor_triangle(Tensor *out, const Tensor *t, int64_t diagonal, bool upper)
{
    if (!tensor_cast(out, t, t->dtype, true))
        return false;
    int64_t cols = t->shape[t->rank - 1];
    Triangle c = {out, diagonal, upper};
    if (cols > 0)
        parallel_for(tensor_count(out) / cols, 64, clear_row, &c);
    return true;
}
