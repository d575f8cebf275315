// index.c - elements by number: picking, gathering, scattering.
//
// Index tensors are first read to plain 64-bit numbers, checked and made
// positive; then elements or slices are moved.
#include <string.h>

#include "host/ops.h"
#include "support/parallel.h"

static bool in_range(int64_t *i, int64_t n, int dim, BadIndex *bad)
{
    if (*i < -n || *i >= n) {
        *bad = (BadIndex){dim, *i, n};
        return false;
    }
    *i += *i < 0 ? n : 0;
    return true;
}

// ---- picking slices ---------------------------------------------------------

bool tensor_flat_index(TensorHeap *h, Tensor *out, const Tensor *t,
                       const Tensor *index, int count, BadIndex *bad)
{
    int64_t n = tensor_count(&index[0]);
    bad->dim = -1;
    if (!tensor_new(h, out, DT_I64, index[0].rank, index[0].shape))
        return false;
    int64_t *flat = tensor_data(out);
    for (int d = 0; d < count; d++) {
        Tensor one;
        if (!tensor_cast(&one, &index[d], DT_I64, true)) {
            tensor_release(out);
            return false;
        }
        const int64_t *at = tensor_data(&one);
        for (int64_t i = 0; i < n && bad->dim < 0; i++) {
            int64_t k = at[i];
            if (in_range(&k, t->shape[d], d, bad))
                flat[i] = flat[i] * t->shape[d] + k;
        }
        tensor_release(&one);
    }
    if (bad->dim >= 0)
        tensor_release(out);
    return bad->dim < 0;
}

typedef struct {
    const Tensor *t;
    int count;                  // indexed dimensions, which come first
    const int64_t *flat;
    char *out;
    int64_t slice;              // elements
    size_t bytes;
} Picking;

// The part of t at one number; no dimensions are left of the indexed ones.
static Tensor slice_at(const Tensor *t, int count, int64_t flat)
{
    Tensor s = *t;
    for (int d = count - 1; d >= 0; d--) {
        s = tensor_select(&s, d, flat % t->shape[d]);
        flat /= t->shape[d];
    }
    return s;
}

static int64_t offset_at(const Tensor *t, int count, int64_t flat)
{
    int64_t at = 0;
    for (int d = count - 1; d >= 0; d--) {
        at += flat % t->shape[d] * t->strides[d];
        flat /= t->shape[d];
    }
    return at;
}

static void pick_one(void *ctx, int worker, int64_t i)
{
    const Picking *p = ctx;
    (void)worker;
    if (p->slice == 1) {
        memcpy(p->out + i * (int64_t)p->bytes,
               (const char *)tensor_data(p->t)
                   + offset_at(p->t, p->count, p->flat[i]) * (int64_t)p->bytes,
               p->bytes);
        return;
    }
    Tensor s = slice_at(p->t, p->count, p->flat[i]);
    tensor_read(&s, s.dtype, p->out + i * p->slice * (int64_t)p->bytes,
                CAST_SAT);
}

bool tensor_pick(TensorHeap *h, Tensor *out, const Tensor *t, int count,
                 const Tensor *flat)
{
    int64_t shape[2 * TENSOR_MAX_RANK];
    int rank = flat->rank;
    Tensor source = tensor_source(t);
    Picking p = {.t = &source, .count = count, .flat = tensor_data(flat),
                 .slice = 1, .bytes = dtype_bytes(t->dtype, 1)};
    memcpy(shape, flat->shape, sizeof flat->shape);
    for (int d = count; d < t->rank; d++) {
        shape[rank++] = t->shape[d];
        p.slice *= t->shape[d];
    }
    if (!tensor_new_raw(h, out, t->dtype, rank, shape))
        return false;
    p.out = tensor_data(out);
    tensor_data(&source);
    if (tensor_count(out))
        parallel_for(tensor_count(flat), 4096 / p.slice, pick_one, &p);
    return true;
}

static void put_element(DType t, void *at, const void *from, PutRule rule)
{
    if (rule == PUT_SET) {
        memcpy(at, from, dtype_bytes(t, 1));
    } else if (dtype_is_float(t)) {
        double a = num_get_f64(t, at), b = num_get_f64(t, from);
        num_put_f64(t, at, rule == PUT_ADD ? a + b : rule == PUT_MUL ? a * b
                           : b != b ? b : a != a ? a
                           : rule == PUT_MAX ? (b > a ? b : a)
                                             : (b < a ? b : a));
    } else {
        int64_t a = num_get_i64(t, at), b = num_get_i64(t, from);
        uint64_t u = (uint64_t)a, w = (uint64_t)b;
        num_put_i64(t, at, rule == PUT_ADD ? (int64_t)(u + w)
                           : rule == PUT_MUL ? (int64_t)(u * w)
                           : rule == PUT_MAX ? (b > a ? b : a)
                                             : (b < a ? b : a));
    }
}

// Every element of `to` and `from`, of one shape, in order.
static void put_all(const Tensor *to, const Tensor *from, PutRule rule)
{
    size_t bytes = dtype_bytes(to->dtype, 1);
    int64_t n = tensor_count(to);
    char *dst = tensor_data(to), *src = tensor_data(from);
    for (int64_t i = 0; i < n; i++) {
        int64_t d = offset_at(to, to->rank, i) * (int64_t)bytes;
        int64_t s = offset_at(from, from->rank, i) * (int64_t)bytes;
        put_element(to->dtype, dst + d, src + s, rule);
    }
}

void tensor_put(Tensor *t, int count, const Tensor *flat, const Tensor *src,
                bool add)
{
    int64_t n = tensor_count(flat);
    const int64_t *at = tensor_data(flat);
    tensor_will_write(t);
    for (int64_t i = 0; i < n; i++) {
        Tensor to = slice_at(t, count, at[i]);
        Tensor from = slice_at(src, flat->rank, i);
        if (add || to.rank == 0)
            put_all(&to, &from, add ? PUT_ADD : PUT_SET);
        else
            tensor_assign(&to, &from);
    }
}

// ---- gather and scatter -----------------------------------------------------

typedef struct {
    Tensor t, other;            // indexed; the one of the index's shape
    int dim;
    const int64_t *index;
    PutRule rule;
    bool gather;
} Moving;

// Offsets of element i of the index's shape, in both.
static void offsets(const Moving *m, const Tensor *shape, int64_t i,
                    int64_t *in_t, int64_t *in_other)
{
    int64_t rest = i;
    *in_t = *in_other = 0;
    for (int d = shape->rank - 1; d >= 0; d--) {
        int64_t k = rest % shape->shape[d];
        rest /= shape->shape[d];
        *in_other += k * m->other.strides[d];
        *in_t += (d == m->dim ? m->index[i] : k) * m->t.strides[d];
    }
}

static bool read_index(Tensor *out, const Tensor *index, const Tensor *t,
                       int dim, BadIndex *bad)
{
    bad->dim = -1;
    if (!tensor_cast(out, index, DT_I64, true))
        return false;
    int64_t *at = tensor_data(out), n = tensor_count(out);
    for (int64_t i = 0; i < n; i++)
        if (!in_range(&at[i], t->shape[dim], dim, bad)) {
            tensor_release(out);
            return false;
        }
    return true;
}

static void gather_one(void *ctx, int worker, int64_t i)
{
    const Moving *m = ctx;
    size_t bytes = dtype_bytes(m->t.dtype, 1);
    int64_t from, to;
    (void)worker;
    offsets(m, &m->other, i, &from, &to);
    memcpy((char *)tensor_data(&m->other) + to * (int64_t)bytes,
           (char *)tensor_data(&m->t) + from * (int64_t)bytes, bytes);
}

// A tensor without dimensions is one of one element here.
static Tensor at_least_one(const Tensor *t)
{
    return t->rank ? *t : tensor_unsqueeze(t, 0);
}

bool tensor_gather(TensorHeap *h, Tensor *out, const Tensor *t, int dim,
                   const Tensor *index, BadIndex *bad)
{
    Tensor numbers, source = tensor_source(t), one = at_least_one(&source);
    if (!read_index(&numbers, index, &one, dim, bad))
        return false;
    bool ok = tensor_new_raw(h, out, t->dtype, index->rank, index->shape);
    if (ok) {
        Moving m = {.t = one, .other = at_least_one(out), .dim = dim,
                    .index = tensor_data(&numbers)};
        tensor_data(&m.t);
        parallel_for(tensor_count(&numbers), 1024, gather_one, &m);
    }
    tensor_release(&numbers);
    return ok;
}

bool tensor_scatter(Tensor *dst, int dim, const Tensor *index,
                    const Tensor *src, PutRule rule, BadIndex *bad)
{
    Tensor numbers, shape = at_least_one(index), one = at_least_one(dst);
    size_t bytes = dtype_bytes(dst->dtype, 1);
    if (!read_index(&numbers, index, &one, dim, bad))
        return false;
    tensor_will_write(dst);
    Moving m = {.t = one, .other = at_least_one(src), .dim = dim,
                .index = tensor_data(&numbers)};
    char *to = tensor_data(dst), *from = tensor_data(src);
    for (int64_t i = 0; i < tensor_count(&numbers); i++) {
        int64_t in_t, in_other;
        offsets(&m, &shape, i, &in_t, &in_other);
        put_element(dst->dtype, to + in_t * (int64_t)bytes,
                    from + in_other * (int64_t)bytes, rule);
    }
    tensor_release(&numbers);
    return true;
}

// ---- true elements ----------------------------------------------------------

bool tensor_nonzero(TensorHeap *h, Tensor *out, const Tensor *t)
{
    Tensor truth;
    int64_t shape[2] = {0, t->rank};
    if (!tensor_cast(&truth, t, DT_BOOL, true))
        return false;
    const uint8_t *m = tensor_data(&truth);
    int64_t count = tensor_count(t);
    for (int64_t i = 0; i < count; i++)
        shape[0] += m[i] != 0;
    bool ok = tensor_new_raw(h, out, DT_I64, 2, shape);
    int64_t *to = ok ? tensor_data(out) : NULL;
    for (int64_t i = 0; ok && i < count; i++) {
        int64_t rest = i;
        if (!m[i])
            continue;
        for (int d = t->rank - 1; d >= 0; d--) {
            to[d] = rest % t->shape[d];
            rest /= t->shape[d];
        }
        to += t->rank;
    }
    tensor_release(&truth);
    return ok;
}
