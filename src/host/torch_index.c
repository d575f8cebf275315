// torch_index.c - x[...] and x[...] = v.
//
// Integers, slices, None and `...` make views. What is left are index tensors:
// integers as they are, lists as tensors, a bool mask as the places where it
// is true. They are broadcast together and pick elements; their dimensions
// come where they stood when they stood together, else in front.
#include "host/torch_int.h"

typedef struct {
    Tensor t;                   // the view so far
    int dim;                    // next dimension to index
    Tensor index[TENSOR_MAX_RANK];
    int at[TENSOR_MAX_RANK];    // the dimension each stands for
    int count;
    const Tensor *mask;         // the only index tensor, when it is a mask
    int mask_dim;
} Indexing;

// ---- views ------------------------------------------------------------------

static void by_int(Host *h, Indexing *x, int64_t i, Span at)
{
    int64_t n = x->t.shape[x->dim];
    if (i < -n || i >= n)
        torch_bad_index(h, &(BadIndex){x->dim, i, n}, at);
    x->t = tensor_select(&x->t, x->dim, i < 0 ? i + n : i);
}

static int64_t bound(Host *h, Value v, int64_t n, int64_t fallback, Span at)
{
    if (v.kind == VAL_NONE)
        return fallback;
    int64_t i = torch_int(h, v, "a slice bound", 0, at);
    i = i < 0 ? i + n : i;
    return i < 0 ? 0 : i > n ? n : i;
}

static void by_slice(Host *h, Indexing *x, const SliceValue *s, Span at)
{
    int64_t n = x->t.shape[x->dim];
    int64_t step = torch_int(h, *s->step, "a slice step", 1, at);
    if (step <= 0)
        lang_raise(h->lang, "ValueError", at,
                   "a slice step of a tensor must be positive");
    int64_t from = bound(h, *s->start, n, 0, at);
    int64_t to = bound(h, *s->stop, n, n, at);
    int64_t size = to > from ? (to - from - 1) / step + 1 : 0;
    x->t = tensor_slice(&x->t, x->dim, size ? from : 0, size, step);
    x->dim++;
}

// ---- index tensors ----------------------------------------------------------

static void add_index(Host *h, Indexing *x, Tensor index, Span at)
{
    if (x->count == TENSOR_MAX_RANK)
        lang_raise(h->lang, "IndexError", at, "too many indices");
    x->at[x->count] = x->dim++;
    x->index[x->count++] = index;
}

static void by_mask(Host *h, Indexing *x, const Tensor *mask, Span at)
{
    Tensor found;
    for (int d = 0; d < mask->rank; d++)
        if (mask->shape[d] != x->t.shape[x->dim + d])
            lang_raise(h->lang, "IndexError", at,
                       "the mask has %lld elements in dimension %d, the "
                       "tensor %lld", (long long)mask->shape[d], d,
                       (long long)x->t.shape[x->dim + d]);
    x->mask = x->count ? NULL : mask;
    x->mask_dim = x->dim;
    if (!tensor_nonzero(&h->heap, &found, mask))
        torch_no_memory(h, at);
    tensor_value(h, found);                 // kept until the call is over
    for (int d = 0; d < mask->rank; d++)
        add_index(h, x, tensor_select(&found, 1, d), at);
}

// uint8 was torch's bool once, and still is here.
static bool is_mask(const Tensor *t)
{
    return t->dtype == DT_BOOL || t->dtype == DT_U8;
}

static void by_tensor(Host *h, Indexing *x, const Tensor *t, Span at)
{
    if (dtype_is_float(t->dtype))
        lang_raise(h->lang, "IndexError", at,
                   "a tensor of %s cannot be an index: integers and bool can",
                   dtype_info(t->dtype)->name);
    if (is_mask(t) && t->rank == 0)
        lang_unsupported(h->lang, at, "a single bool as an index");
    if (is_mask(t)) {
        by_mask(h, x, t, at);
        return;
    }
    if (t->rank == 0) {
        by_int(h, x, torch_item(h, t, at).i, at);
        return;
    }
    x->mask = NULL;
    add_index(h, x, *t, at);
}

static Value as_index(Host *h, Value v, Span at)
{
    if (v.kind == VAL_LIST || v.kind == VAL_RANGE)
        return torch_from_list(h, v.kind == VAL_LIST ? v
                                   : (Value){.kind = VAL_LIST,
                                             .list = value_to_list(h->lang, v,
                                                                   at)},
                               v.kind == VAL_LIST && v.list->len == 0
                                   ? v_dtype(DT_I64)
                                   : (Value){.kind = VAL_UNBOUND}, at);
    return v;
}

// ---- the whole --------------------------------------------------------------

static int dims_used(Value v)
{
    const Tensor *t = tensor_of(v);
    if (t && is_mask(t))
        return t->rank;
    return v.kind != VAL_NONE && v.kind != VAL_ELLIPSIS;
}

static void apply(Host *h, Indexing *x, Value v, int left_open, Span at)
{
    if (v.kind == VAL_ELLIPSIS) {
        x->dim += left_open;
    } else if (v.kind == VAL_NONE) {
        if (x->t.rank == TENSOR_MAX_RANK)
            lang_raise(h->lang, "IndexError", at, "too many dimensions");
        x->t = tensor_unsqueeze(&x->t, x->dim++);
    } else if (v.kind == VAL_SLICE) {
        by_slice(h, x, v.slice, at);
    } else if (tensor_of(v)) {
        by_tensor(h, x, torch_tensor(h, v, "an index", at), at);
    } else if (v.kind == VAL_INT) {
        by_int(h, x, v.i, at);
    } else {
        lang_raise(h->lang, v.kind == VAL_STR ? "TypeError" : "IndexError", at,
                   "a tensor's index is an integer, "
                   "a slice, None, ..., a list or a tensor, not %s",
                   value_type_name(v));
    }
}

// A list of more than numbers counts as a tuple.
static bool is_like_tuple(Value v)
{
    for (int i = 0; v.kind == VAL_LIST && i < v.list->len; i++)
        if (!torch_is_number(v.list->at[i]))
            return true;
    return false;
}

static Indexing index_view(Host *h, const Tensor *t, Value index, Span at)
{
    Indexing x = {.t = *t};
    List one = {.at = &index, .len = 1};
    const List *items = index.kind == VAL_TUPLE || is_like_tuple(index)
                            ? index.list : &one;
    Value plain[2 * TENSOR_MAX_RANK];
    int used = 0, dots = 0;
    if (items->len > (int)countof(plain))
        lang_raise(h->lang, "IndexError", at, "too many indices");
    for (int i = 0; i < items->len; i++) {
        plain[i] = as_index(h, items->at[i], at);
        used += dims_used(plain[i]);
        dots += plain[i].kind == VAL_ELLIPSIS;
    }
    if (used > t->rank || dots > 1)
        lang_raise(h->lang, "IndexError", at,
                   dots > 1 ? "more than one ..."
                            : "%d indices for a tensor of %d dimensions",
                   used, t->rank);
    for (int i = 0; i < items->len; i++)
        apply(h, &x, plain[i], t->rank - used, at);
    return x;
}

// Do the index tensors stand side by side?
static bool together(const Indexing *x)
{
    return x->at[x->count - 1] - x->at[0] == x->count - 1;
}

// x.t with the indexed dimensions in front; *rest counts the others.
static Tensor indexed_first(const Indexing *x, int *rest)
{
    int order[TENSOR_MAX_RANK], n = 0;
    for (int i = 0; i < x->count; i++)
        order[n++] = x->at[i];
    for (int d = 0; d < x->t.rank; d++) {
        bool taken = false;
        for (int i = 0; i < x->count; i++)
            taken = taken || x->at[i] == d;
        if (!taken)
            order[n++] = d;
    }
    *rest = x->t.rank - x->count;
    return tensor_permute(&x->t, order);
}

// The index tensors as one, of the shape they have together.
static Tensor flat_index(Host *h, Indexing *x, const Tensor *first, Span at)
{
    Tensor shape = {0}, flat;
    BadIndex bad;
    for (int i = 0; i < x->count; i++) {
        Tensor next = {0};
        if (!broadcast_shapes(&shape, &x->index[i], &next.rank, next.shape))
            lang_raise(h->lang, "IndexError", at,
                       "the index tensors' shapes do not fit together");
        shape = next;
    }
    for (int i = 0; i < x->count; i++)
        x->index[i] = tensor_expand(&x->index[i], shape.rank, shape.shape);
    if (!tensor_flat_index(&h->heap, &flat, first, x->index, x->count, &bad)) {
        if (bad.dim >= 0)
            bad.dim = x->at[bad.dim];
        torch_bad_index(h, &bad, at);
    }
    tensor_value(h, flat);                  // kept until the call is over
    return flat;
}

// Where the dimensions of tensor_pick's result go, when the indexed ones
// stood together behind `before` others: [idx..., before..., after...] to
// [before..., idx..., after...].
static void result_order(const Indexing *x, int index_rank, int rest,
                         int *order)
{
    int before = together(x) ? x->at[0] : 0, n = 0;
    for (int d = 0; d < before; d++)
        order[n++] = index_rank + d;
    for (int d = 0; d < index_rank; d++)
        order[n++] = d;
    for (int d = before; d < rest; d++)
        order[n++] = index_rank + d;
}

static Value pick(Host *h, Indexing *x, Span at)
{
    int rest, order[2 * TENSOR_MAX_RANK];
    Tensor first = indexed_first(x, &rest), out, whole;
    Tensor flat = flat_index(h, x, &first, at);
    if (flat.rank + rest > TENSOR_MAX_RANK)
        lang_raise(h->lang, "IndexError", at, "too many dimensions");
    if (!tensor_pick(&h->heap, &out, &first, x->count, &flat))
        torch_no_memory(h, at);
    result_order(x, flat.rank, rest, order);
    Tensor view = tensor_permute(&out, order);
    bool ok = tensor_contiguous(&whole, &view);
    tensor_release(&out);
    return torch_result(h, ok, whole, at);
}

Value torch_getitem(Lang *l, Foreign *self, Value index, Span at)
{
    TensorObject *o = (TensorObject *)self;
    Indexing x = index_view(o->host, &o->t, index, at);
    (void)l;
    if (x.count)
        return pick(o->host, &x, at);
    return torch_view(o->host, &o->t, x.t);
}

// ---- assignment -------------------------------------------------------------

static bool is_one_number(Value v)
{
    return torch_is_number(v)
           || (tensor_of(v) && tensor_count(tensor_of(v)) == 1);
}

// A mask and a number: chosen element by element.
static void fill_masked(Host *h, Indexing *x, Value v, Span at)
{
    Tensor mask = *x->mask;
    for (int d = x->mask_dim + mask.rank; d < x->t.rank; d++)
        mask = tensor_unsqueeze(&mask, mask.rank);
    if (tensor_of(v))
        v = torch_item(h, tensor_of(v), at);
    Value c = torch_view(h, x->mask, mask), t = torch_view(h, &x->t, x->t);
    Value out = torch_select(h, c, v, torch_keep(t), x->t.dtype, at);
    tensor_assign(&x->t, tensor_of(out));
    torch_done(out);
}

// v, which has or broadcasts to the shape of to.
static Tensor fitted(Host *h, Value v, int rank, const int64_t *shape, DType t,
                     Span at)
{
    Tensor want = {.rank = rank}, both = {0};
    if (!tensor_of(v)) {
        Value n = torch_filled(h, t, 0, NULL, v, at);
        return tensor_expand(tensor_of(n), rank, shape);
    }
    Tensor from = *torch_tensor(h, v, "the value", at);
    for (int d = 0; d < rank; d++)
        want.shape[d] = shape[d];
    while (from.rank > rank && from.shape[0] == 1)
        from = tensor_select(&from, 0, 0);
    bool fits = broadcast_shapes(&want, &from, &both.rank, both.shape)
                && tensor_same_shape(&want, &both);
    if (!fits) {
        TextBuf b = {0};
        torch_shape_words(&b, &from);
        buf_puts(&b, " does not fit the place it is assigned to, ");
        torch_shape_words(&b, &want);
        Text m = text_copy(h->options.arena, buf_view(&b));
        buf_release(&b);
        lang_raise(h->lang, "RuntimeError", at, "a value of shape %.*s",
                   TEXT_ARG(m));
    }
    return tensor_expand(&from, rank, shape);
}

static void put(Host *h, Indexing *x, Value v, Span at)
{
    int rest, order[2 * TENSOR_MAX_RANK], back[2 * TENSOR_MAX_RANK];
    Tensor first = indexed_first(x, &rest), same;
    Tensor flat = flat_index(h, x, &first, at);
    int64_t shape[2 * TENSOR_MAX_RANK];
    int rank = flat.rank + rest;
    if (rank > TENSOR_MAX_RANK)
        lang_raise(h->lang, "IndexError", at, "too many dimensions");
    result_order(x, flat.rank, rest, order);
    for (int d = 0; d < rank; d++) {
        int own = order[d];
        shape[d] = own < flat.rank ? flat.shape[own]
                                   : first.shape[x->count + own - flat.rank];
        back[own] = d;
    }
    Tensor src = fitted(h, v, rank, shape, x->t.dtype, at);
    if (!tensor_cast(&same, &src, x->t.dtype, false))
        torch_no_memory(h, at);
    tensor_value(h, same);                  // kept until the call is over
    src = tensor_permute(&same, back);
    tensor_put(&first, x->count, &flat, &src, false);
}

void torch_setitem(Lang *l, Foreign *self, Value index, Value v, Span at)
{
    TensorObject *o = (TensorObject *)self;
    Host *h = o->host;
    (void)l;
    torch_will_write(h, &o->t, at);
    Indexing x = index_view(h, &o->t, index, at);
    if (x.count && x.mask && is_one_number(v)) {
        fill_masked(h, &x, v, at);
    } else if (x.count) {
        put(h, &x, v, at);
    } else {
        Tensor src = fitted(h, v, x.t.rank, x.t.shape, x.t.dtype, at);
        torch_check_overlap(h, &x.t, &src, at);
        tensor_assign(&x.t, &src);
    }
}
