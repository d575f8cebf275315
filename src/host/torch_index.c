// torch_index.c - x[...] and x[...] = v.
//
// Integers, slices, None and `...` make views. One boolean mask or one integer
// tensor gathers along the first dimension it stands for.
#include "host/torch_int.h"

typedef struct {
    Tensor t;                   // the view so far
    int dim;                    // next dimension to index
    int mask_dim, index_dim;    // of a tensor index, or -1
    const Tensor *tensor;
} Indexing;

static void by_int(Host *h, Indexing *x, int64_t i, Span at)
{
    int64_t n = x->t.shape[x->dim];
    if (i < -n || i >= n)
        lang_raise(h->lang, "IndexError", at,
                   "index %lld is out of range for dimension %d of size %lld",
                   (long long)i, x->dim, (long long)n);
    x->t.offset += (i < 0 ? i + n : i) * x->t.strides[x->dim];
    x->t.shape[x->dim] = 1;
    x->t = tensor_squeeze(&x->t, 1u << x->dim);
}

static int64_t bound(Host *h, Value v, int64_t n, int64_t fallback, Span at)
{
    if (v.kind == VAL_NONE)
        return fallback;
    Tensor *t = tensor_of(v);
    int64_t i = t ? torch_item(h, t, at).i
                  : value_to_int(h->lang, v, "a slice bound", at);
    i = i < 0 ? i + n : i;
    return i < 0 ? 0 : i > n ? n : i;
}

static void by_slice(Host *h, Indexing *x, const SliceValue *s, Span at)
{
    int64_t n = x->t.shape[x->dim], step = 1;
    if (s->step->kind != VAL_NONE)
        step = value_to_int(h->lang, *s->step, "a slice step", at);
    if (step <= 0)
        lang_raise(h->lang, "ValueError", at,
                   "a slice step of a tensor must be positive");
    int64_t from = bound(h, *s->start, n, 0, at);
    int64_t to = bound(h, *s->stop, n, n, at);
    to = to < from ? from : to;
    x->t.offset += from * x->t.strides[x->dim];
    x->t.shape[x->dim] = (to - from + step - 1) / step;
    x->t.strides[x->dim] *= step;
    x->dim++;
}

static int dims_used(const List *items)
{
    int n = 0;
    for (int i = 0; i < items->len; i++) {
        Tensor *t = tensor_of(items->at[i]);
        if (t && t->dtype == DT_BOOL)
            n += t->rank;
        else if (items->at[i].kind != VAL_NONE
                 && items->at[i].kind != VAL_ELLIPSIS)
            n++;
    }
    return n;
}

static void by_tensor(Host *h, Indexing *x, const Tensor *t, Span at)
{
    if (t->rank == 0 && t->dtype != DT_BOOL) {
        by_int(h, x, torch_item(h, t, at).i, at);
        return;
    }
    if (x->tensor)
        lang_unsupported(h->lang, at, "an index of several tensors");
    x->tensor = t;
    if (t->dtype == DT_BOOL) {
        x->mask_dim = x->dim;
        x->dim += t->rank;
    } else if (dtype_is_float(t->dtype)) {
        lang_raise(h->lang, "IndexError", at,
                   "a tensor of floats cannot be an index");
    } else {
        x->index_dim = x->dim++;
    }
}

static Indexing index_view(Host *h, const Tensor *t, Value index, Span at)
{
    Indexing x = {.t = *t, .mask_dim = -1, .index_dim = -1};
    List one = {.at = &index, .len = 1};
    const List *items = index.kind == VAL_TUPLE ? index.list : &one;
    int used = dims_used(items);
    if (used > t->rank)
        lang_raise(h->lang, "IndexError", at,
                   "%d indices for a tensor of %d dimensions", used, t->rank);
    for (int i = 0; i < items->len; i++) {
        Value v = items->at[i];
        if (v.kind == VAL_ELLIPSIS) {
            x.dim += t->rank - used;
        } else if (v.kind == VAL_NONE) {
            if (x.t.rank == TENSOR_MAX_RANK)
                lang_raise(h->lang, "IndexError", at, "too many dimensions");
            x.t = tensor_unsqueeze(&x.t, x.dim++);
        } else if (v.kind == VAL_SLICE) {
            by_slice(h, &x, v.slice, at);
        } else if (tensor_of(v)) {
            by_tensor(h, &x, tensor_of(v), at);
        } else if (v.kind == VAL_LIST) {
            lang_unsupported(h->lang, at, "a list as an index of a tensor");
        } else {
            by_int(h, &x, value_to_int(h->lang, v, "an index", at), at);
        }
    }
    return x;
}

// The flat numbers of a mask's true elements, as an index tensor.
static Tensor true_positions(Host *h, const Tensor *mask, Span at)
{
    Tensor whole, out;
    int64_t n = 0;
    if (!tensor_contiguous(&whole, mask))
        torch_no_memory(h, at);
    const uint8_t *m = tensor_data(&whole);
    int64_t count = tensor_count(mask);
    for (int64_t i = 0; i < count; i++)
        n += m[i] != 0;
    if (!tensor_new(&h->heap, &out, DT_I64, 1, &n))
        torch_no_memory(h, at);
    int64_t *to = tensor_data(&out);
    for (int64_t i = 0; i < count; i++)
        if (m[i])
            *to++ = i;
    tensor_release(&whole);
    return out;
}

// Dimensions [d, d + n) of t merged into one.
static Tensor merge(Host *h, const Tensor *t, int d, int n, Span at)
{
    Tensor out;
    int64_t shape[TENSOR_MAX_RANK];
    int rank = 0;
    for (int e = 0; e < t->rank; e++) {
        if (e > d && e < d + n)
            shape[rank - 1] *= t->shape[e];
        else
            shape[rank++] = t->shape[e];
    }
    if (!tensor_reshape(&out, t, rank, shape))
        torch_no_memory(h, at);
    return out;
}

static Value gather(Host *h, const Tensor *t, int dim, const Tensor *index,
                    Span at)
{
    Tensor out, shaped;
    int64_t bad, shape[TENSOR_MAX_RANK];
    int rank = 0;
    if (!tensor_take(&h->heap, &out, t, dim, index, &bad)) {
        if (bad)
            lang_raise(h->lang, "IndexError", at,
                       "index %lld is out of range for dimension %d of size "
                       "%lld", (long long)bad, dim, (long long)t->shape[dim]);
        torch_no_memory(h, at);
    }
    for (int d = 0; d < t->rank; d++) {
        if (d != dim) {
            shape[rank++] = t->shape[d];
            continue;
        }
        for (int e = 0; e < index->rank; e++)
            shape[rank++] = index->shape[e];
    }
    bool ok = tensor_reshape(&shaped, &out, rank, shape);
    tensor_release(&out);
    return torch_result(h, ok, shaped, at);
}

Value torch_getitem(Lang *l, Foreign *self, Value index, Span at)
{
    TensorObject *o = (TensorObject *)self;
    Host *h = o->host;
    Indexing x = index_view(h, &o->t, index, at);
    (void)l;
    if (x.index_dim >= 0)
        return gather(h, &x.t, x.index_dim, x.tensor, at);
    if (x.mask_dim >= 0) {
        Tensor flat = merge(h, &x.t, x.mask_dim, x.tensor->rank, at);
        Tensor where = true_positions(h, x.tensor, at);
        Value v = gather(h, &flat, x.mask_dim, &where, at);
        tensor_release(&flat);
        tensor_release(&where);
        return v;
    }
    tensor_retain(&o->t);
    return tensor_value(h, x.t);
}

static void assign_mask(Host *h, Indexing *x, Value v, Span at)
{
    Tensor mask = *x->tensor;
    if (tensor_of(v) && tensor_count(tensor_of(v)) != 1)
        lang_unsupported(h->lang, at, "x[mask] = tensor");
    while (mask.rank < x->t.rank)
        mask = tensor_unsqueeze(&mask, mask.rank);
    tensor_retain(&mask);
    tensor_retain(&x->t);
    Value in[3] = {tensor_value(h, mask), v, tensor_value(h, x->t)};
    Value out = torch_elementwise(h, LANE_OP_SELECT, in, 3, x->t.dtype, DT_NONE,
                                  at);
    tensor_assign(&x->t, tensor_of(out));
}

void torch_setitem(Lang *l, Foreign *self, Value index, Value v, Span at)
{
    TensorObject *o = (TensorObject *)self;
    Host *h = o->host;
    Indexing x = index_view(h, &o->t, index, at);
    Tensor *src = tensor_of(v);
    Tensor probe = {0};
    (void)l;
    if (x.index_dim >= 0)
        lang_unsupported(h->lang, at, "x[tensor] = value");
    if (x.mask_dim >= 0) {
        assign_mask(h, &x, v, at);
        return;
    }
    if (!src) {
        Operand n = torch_operand(h, v, at);
        tensor_assign_number(&x.t, n.f64, n.i64);
        return;
    }
    bool fits = broadcast_shapes(&x.t, src, &probe.rank, probe.shape)
                && probe.rank == x.t.rank;
    for (int d = 0; fits && d < probe.rank; d++)
        fits = probe.shape[d] == x.t.shape[d];
    if (!fits)
        lang_raise(h->lang, "RuntimeError", at,
                   "the value's shape does not fit the place it is assigned to");
    tensor_assign(&x.t, src);
}
