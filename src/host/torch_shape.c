// torch_shape.c - views and rearrangements, as torch names them.
#include <string.h>

#include "host/torch_int.h"

static bool given(Value v)
{
    return v.kind != VAL_UNBOUND && v.kind != VAL_NONE;
}

static Tensor *first(Host *h, const Args *args)
{
    if (args->count < 1)
        lang_raise(h->lang, "TypeError", args->at_span,
                   "the tensor is missing");
    return torch_tensor(h, args->at[0], "the argument", args->at_span);
}

// A view of t that owns a reference of its own.
static Value view(Host *h, const Tensor *t, Tensor borrowed)
{
    tensor_retain(t);
    return tensor_value(h, borrowed);
}

// One size may be -1.
static void infer(Host *h, const Tensor *t, int rank, int64_t *shape, Span at)
{
    int64_t known = 1, n = tensor_count(t);
    int open = -1;
    for (int d = 0; d < rank; d++) {
        if (shape[d] == -1 && open < 0)
            open = d;
        else if (shape[d] < 0)
            lang_raise(h->lang, "RuntimeError", at, "a size of %lld",
                       (long long)shape[d]);
        else if (__builtin_mul_overflow(known, shape[d], &known))
            known = -1;
    }
    if (open >= 0 && known > 0)
        shape[open] = n / known;
    if (open >= 0 && known > 0)
        known *= shape[open];
    if (known != n)
        lang_raise(h->lang, "RuntimeError", at,
                   "a tensor of %lld elements does not have that shape",
                   (long long)n);
}

static Value fn_reshape(Host *h, const Args *args)
{
    Tensor *t = first(h, args), out;
    int64_t shape[TENSOR_MAX_RANK];
    if (args->count == 2 && args->at[1].kind == VAL_DTYPE)
        lang_unsupported(h->lang, args->at_span, "view() under another dtype");
    int rank = torch_sizes(h, args, 1, shape);
    infer(h, t, rank, shape, args->at_span);
    return torch_result(h, tensor_reshape(&out, t, rank, shape), out,
                        args->at_span);
}

static Value fn_transpose(Host *h, const Args *args)
{
    static const char *const names[] = {"input", "dim0", "dim1"};
    Value v[3];
    args_bind(h->lang, "transpose", args, names, 3, v);
    Tensor *t = torch_tensor(h, v[0], "the argument", args->at_span);
    int a = torch_dim(h, v[1], t->rank, args->at_span);
    int b = torch_dim(h, v[2], t->rank, args->at_span);
    int order[TENSOR_MAX_RANK];
    for (int d = 0; d < t->rank; d++)
        order[d] = d == a ? b : d == b ? a : d;
    return view(h, t, tensor_permute(t, order));
}

static Value fn_t(Host *h, const Args *args)
{
    Tensor *t = first(h, args);
    if (t->rank > 2)
        lang_raise(h->lang, "RuntimeError", args->at_span,
                   "t() of %d dimensions", t->rank);
    int order[2] = {t->rank == 2, 0};
    return view(h, t, tensor_permute(t, order));
}

static Value fn_permute(Host *h, const Args *args)
{
    Tensor *t = first(h, args);
    int64_t dims[TENSOR_MAX_RANK];
    int order[TENSOR_MAX_RANK], n = torch_sizes(h, args, 1, dims);
    uint32_t seen = 0;
    for (int d = 0; d < n; d++) {
        order[d] = torch_dim(h, v_int(dims[d]), t->rank, args->at_span);
        seen |= 1u << order[d];
    }
    if (n != t->rank || seen != (UINT32_C(1) << n) - 1)
        lang_raise(h->lang, "RuntimeError", args->at_span,
                   "permute() needs each of the %d dimensions once", t->rank);
    return view(h, t, tensor_permute(t, order));
}

static Value fn_unsqueeze(Host *h, const Args *args)
{
    static const char *const names[] = {"input", "dim"};
    Value v[2];
    args_bind(h->lang, "unsqueeze", args, names, 2, v);
    Tensor *t = torch_tensor(h, v[0], "the argument", args->at_span);
    if (t->rank == TENSOR_MAX_RANK)
        lang_raise(h->lang, "RuntimeError", args->at_span,
                   "too many dimensions");
    int d = torch_dim(h, v[1], t->rank + 1, args->at_span);
    return view(h, t, tensor_unsqueeze(t, d));
}

static Value fn_squeeze(Host *h, const Args *args)
{
    static const char *const names[] = {"input", "dim="};
    Value v[2];
    args_bind(h->lang, "squeeze", args, names, 2, v);
    Tensor *t = torch_tensor(h, v[0], "the argument", args->at_span);
    return view(h, t, tensor_squeeze(t, torch_dims(h, v[1], t->rank,
                                                   args->at_span)));
}

static Value fn_expand(Host *h, const Args *args)
{
    Tensor *t = first(h, args);
    int64_t shape[TENSOR_MAX_RANK];
    int rank = torch_sizes(h, args, 1, shape);
    if (rank < t->rank)
        lang_raise(h->lang, "RuntimeError", args->at_span,
                   "expand() to fewer dimensions");
    for (int d = 0; d < rank; d++) {
        int own = d - (rank - t->rank);
        if (shape[d] == -1 && own >= 0)
            shape[d] = t->shape[own];
        if (shape[d] < 0 || (own >= 0 && t->shape[own] != 1
                             && t->shape[own] != shape[d]))
            lang_raise(h->lang, "RuntimeError", args->at_span,
                       "expand() cannot make dimension %d of size %lld", d,
                       (long long)shape[d]);
    }
    return view(h, t, tensor_expand(t, rank, shape));
}

static Value fn_expand_as(Host *h, const Args *args)
{
    static const char *const names[] = {"input", "other"};
    Value v[2], dims[TENSOR_MAX_RANK];
    args_bind(h->lang, "expand_as", args, names, 2, v);
    Tensor *o = torch_tensor(h, v[1], "other", args->at_span);
    for (int d = 0; d < o->rank; d++)
        dims[d] = v_int(o->shape[d]);
    Value list[2] = {v[0], v_tuple(h->lang, dims, o->rank)};
    Args again = {.at = list, .count = 2, .at_span = args->at_span};
    return fn_expand(h, &again);
}

static Value fn_flatten(Host *h, const Args *args)
{
    static const char *const names[] = {"input", "start_dim=", "end_dim="};
    Value v[3];
    int64_t shape[TENSOR_MAX_RANK];
    Tensor out;
    args_bind(h->lang, "flatten", args, names, 3, v);
    Tensor *t = torch_tensor(h, v[0], "the argument", args->at_span);
    int from = given(v[1]) ? torch_dim(h, v[1], t->rank, args->at_span) : 0;
    int to = given(v[2]) ? torch_dim(h, v[2], t->rank, args->at_span)
                         : t->rank - 1;
    int n = 0;
    for (int d = 0; d < t->rank; d++) {
        if (d > from && d <= to)
            shape[n - 1] *= t->shape[d];
        else
            shape[n++] = t->shape[d];
    }
    if (t->rank == 0)
        shape[n++] = 1;
    return torch_result(h, tensor_reshape(&out, t, n, shape), out,
                        args->at_span);
}

static Value fn_repeat(Host *h, const Args *args)
{
    Tensor *t = first(h, args), out;
    int64_t times[TENSOR_MAX_RANK], shape[TENSOR_MAX_RANK];
    int rank = torch_sizes(h, args, 1, times);
    if (rank < t->rank || 2 * rank > TENSOR_MAX_RANK)
        lang_raise(h->lang, "RuntimeError", args->at_span,
                   "repeat() of %d dimensions with %d numbers", t->rank, rank);
    // [r0, n0, r1, n1, ...], the r expanded, then merged
    Tensor wide = {.storage = t->storage, .dtype = t->dtype, .rank = 2 * rank,
                   .offset = t->offset};
    for (int d = 0; d < rank; d++) {
        int own = d - (rank - t->rank);
        if (times[d] < 0)
            lang_raise(h->lang, "RuntimeError", args->at_span,
                       "repeat() a negative number of times");
        wide.shape[2 * d] = times[d];
        wide.shape[2 * d + 1] = own < 0 ? 1 : t->shape[own];
        wide.strides[2 * d + 1] = own < 0 ? 0 : t->strides[own];
        shape[d] = times[d] * wide.shape[2 * d + 1];
    }
    return torch_result(h, tensor_reshape(&out, &wide, rank, shape), out,
                        args->at_span);
}

static Value fn_repeat_interleave(Host *h, const Args *args)
{
    static const char *const names[] = {"input", "repeats", "dim="};
    Value v[3];
    Tensor out, flat;
    Span at = args->at_span;
    args_bind(h->lang, "repeat_interleave", args, names, 3, v);
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    int64_t n = value_to_int(h->lang, v[1], "repeats", at);
    if (n < 0 || t->rank + 1 > TENSOR_MAX_RANK)
        lang_raise(h->lang, "RuntimeError", at, "repeats of %lld",
                   (long long)n);
    if (!given(v[2])) {
        int64_t count = tensor_count(t);
        bool ok = tensor_reshape(&flat, t, 1, &count)
                  && tensor_repeat_interleave(&out, &flat, n, 0);
        if (ok)
            tensor_release(&flat);
        return torch_result(h, ok, out, at);
    }
    int d = torch_dim(h, v[2], t->rank, at);
    return torch_result(h, tensor_repeat_interleave(&out, t, n, d), out, at);
}

static Value fn_contiguous(Host *h, const Args *args)
{
    Tensor *t = first(h, args), out;
    if (tensor_is_contiguous(t))
        return args->at[0];
    return torch_result(h, tensor_contiguous(&out, t), out, args->at_span);
}

// ---- several tensors --------------------------------------------------------------------

static int tensor_list(Host *h, Value v, const Tensor **in, Span at)
{
    List *items = value_to_list(h->lang, v, at);
    if (items->len < 1 || items->len > 256)
        lang_raise(h->lang, "RuntimeError", at,
                   "expected 1 to 256 tensors, found %d", items->len);
    for (int i = 0; i < items->len; i++)
        in[i] = torch_tensor(h, items->at[i], "an item", at);
    return items->len;
}

static DType common_dtype(Host *h, Value list, Span at)
{
    List *items = value_to_list(h->lang, list, at);
    DType t = tensor_of(items->at[0])->dtype;
    for (int i = 1; i < items->len; i++) {
        Value one = items->at[0];
        DType p = torch_promote(h, one, items->at[i]);
        t = p == t ? t : p;
    }
    return t;
}

static Value fn_cat(Host *h, const Args *args)
{
    static const char *const names[] = {"tensors", "dim="};
    const Tensor *in[256];
    Value v[2];
    Tensor out;
    Span at = args->at_span;
    args_bind(h->lang, "cat", args, names, 2, v);
    int n = tensor_list(h, v[0], in, at);
    int d = given(v[1]) ? torch_dim(h, v[1], in[0]->rank, at) : 0;
    for (int i = 1; i < n; i++)
        for (int e = 0; e < in[0]->rank; e++)
            if (in[i]->rank != in[0]->rank
                || (e != d && in[i]->shape[e] != in[0]->shape[e]))
                lang_raise(h->lang, "RuntimeError", at,
                           "cat(): tensor %d has another shape than the first",
                           i);
    bool ok = tensor_cat(&h->heap, &out, in, n, d, common_dtype(h, v[0], at));
    return torch_result(h, ok, out, at);
}

static Value fn_stack(Host *h, const Args *args)
{
    static const char *const names[] = {"tensors", "dim="};
    const Tensor *in[256];
    Tensor wide[256];
    const Tensor *at_wide[256];
    Value v[2];
    Tensor out;
    Span at = args->at_span;
    args_bind(h->lang, "stack", args, names, 2, v);
    int n = tensor_list(h, v[0], in, at);
    if (in[0]->rank == TENSOR_MAX_RANK)
        lang_raise(h->lang, "RuntimeError", at, "too many dimensions");
    int d = given(v[1]) ? torch_dim(h, v[1], in[0]->rank + 1, at) : 0;
    for (int i = 0; i < n; i++) {
        bool same = in[i]->rank == in[0]->rank;
        for (int e = 0; same && e < in[0]->rank; e++)
            same = in[i]->shape[e] == in[0]->shape[e];
        if (!same)
            lang_raise(h->lang, "RuntimeError", at,
                       "stack(): tensor %d has another shape than the first",
                       i);
        wide[i] = tensor_unsqueeze(in[i], d);
        at_wide[i] = &wide[i];
    }
    bool ok = tensor_cat(&h->heap, &out, at_wide, n, d,
                         common_dtype(h, v[0], at));
    return torch_result(h, ok, out, at);
}

static Value slice_of(Host *h, const Tensor *t, int d, int64_t from, int64_t to)
{
    Tensor part = *t;
    part.offset += from * part.strides[d];
    part.shape[d] = to - from;
    return view(h, t, part);
}

// split(t, 3) or split(t, [1, 2]); chunk(t, n).
static Value cut(Host *h, const Args *args, const char *name, bool chunks)
{
    static const char *const names[] = {"input", "split_size_or_sections",
                                        "dim="};
    Value v[3], parts[256];
    Span at = args->at_span;
    int n = 0;
    args_bind(h->lang, name, args, names, 3, v);
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    int d = given(v[2]) ? torch_dim(h, v[2], t->rank, at) : 0;
    bool list = v[1].kind == VAL_LIST || v[1].kind == VAL_TUPLE;
    int64_t from = 0, each = 0;
    if (!list) {
        each = value_to_int(h->lang, v[1], "the size", at);
        if (chunks && each > 0)
            each = (t->shape[d] + each - 1) / each;
        if (each <= 0)
            lang_raise(h->lang, "RuntimeError", at, "%s() in parts of %lld",
                       name, (long long)each);
    }
    while (list ? n < v[1].list->len : from < t->shape[d] || n == 0) {
        int64_t to = from + (list ? value_to_int(h->lang, v[1].list->at[n],
                                                 "a size", at) : each);
        to = !list && to > t->shape[d] ? t->shape[d] : to;
        if (n == 256 || to < from || to > t->shape[d])
            lang_raise(h->lang, "RuntimeError", at,
                       "%s(): the parts do not fit size %lld", name,
                       (long long)t->shape[d]);
        parts[n++] = slice_of(h, t, d, from, to);
        from = to;
    }
    if (from != t->shape[d])
        lang_raise(h->lang, "RuntimeError", at,
                   "%s(): the parts add up to %lld, not %lld", name,
                   (long long)from, (long long)t->shape[d]);
    return v_tuple(h->lang, parts, n);
}

static Value fn_split(Host *h, const Args *args)
{
    return cut(h, args, "split", false);
}

static Value fn_chunk(Host *h, const Args *args)
{
    return cut(h, args, "chunk", true);
}

static Value fn_unbind(Host *h, const Args *args)
{
    static const char *const names[] = {"input", "dim="};
    Value v[2], parts[256];
    args_bind(h->lang, "unbind", args, names, 2, v);
    Tensor *t = torch_tensor(h, v[0], "the argument", args->at_span);
    int d = given(v[1]) ? torch_dim(h, v[1], t->rank, args->at_span) : 0;
    if (t->rank == 0 || t->shape[d] > 256)
        lang_raise(h->lang, "RuntimeError", args->at_span,
                   "unbind() of more than 256 parts, or of no dimension");
    for (int i = 0; i < t->shape[d]; i++) {
        Tensor part = *t;
        part.offset += i * part.strides[d];
        part.shape[d] = 1;
        parts[i] = view(h, t, tensor_squeeze(&part, 1u << d));
    }
    return v_tuple(h->lang, parts, (int)t->shape[d]);
}

// ---- by index, triangles --------------------------------------------------------------------

static Value triangle(Host *h, const Args *args, const char *name, bool upper)
{
    static const char *const names[] = {"input", "diagonal="};
    Value v[2];
    Tensor out;
    args_bind(h->lang, name, args, names, 2, v);
    Tensor *t = torch_tensor(h, v[0], "the argument", args->at_span);
    if (t->rank < 2)
        lang_raise(h->lang, "RuntimeError", args->at_span,
                   "%s() needs two dimensions", name);
    int64_t k = given(v[1]) ? value_to_int(h->lang, v[1], "diagonal",
                                           args->at_span) : 0;
    return torch_result(h, tensor_triangle(&out, t, k, upper), out,
                        args->at_span);
}

static Value fn_tril(Host *h, const Args *args)
{
    return triangle(h, args, "tril", false);
}

static Value fn_triu(Host *h, const Args *args)
{
    return triangle(h, args, "triu", true);
}

static Value by_index(Host *h, const Args *args, const char *name,
                      bool (*take)(TensorHeap *, Tensor *, const Tensor *, int,
                                   const Tensor *, int64_t *))
{
    static const char *const names[] = {"input", "dim", "index"};
    Value v[3];
    Tensor out;
    int64_t bad;
    Span at = args->at_span;
    args_bind(h->lang, name, args, names, 3, v);
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    Tensor *i = torch_tensor(h, v[2], "index", at);
    int d = torch_dim(h, v[1], t->rank, at);
    if (dtype_is_float(i->dtype) || t->rank == 0
        || (take == tensor_gather && i->rank != t->rank))
        lang_raise(h->lang, "RuntimeError", at,
                   "%s() needs an integer index of as many dimensions", name);
    bool ok = take(&h->heap, &out, t, d, i, &bad);
    if (!ok && bad)
        lang_raise(h->lang, "IndexError", at,
                   "%s(): index %lld is out of range for size %lld", name,
                   (long long)bad, (long long)t->shape[d]);
    return torch_result(h, ok, out, at);
}

static Value fn_gather(Host *h, const Args *args)
{
    return by_index(h, args, "gather", tensor_gather);
}

static Value fn_index_select(Host *h, const Args *args)
{
    return by_index(h, args, "index_select", tensor_take);
}

// ---- questions ----------------------------------------------------------------------------------

static Value fn_size(Host *h, const Args *args)
{
    static const char *const names[] = {"input", "dim="};
    Value v[2], dims[TENSOR_MAX_RANK];
    args_bind(h->lang, "size", args, names, 2, v);
    Tensor *t = torch_tensor(h, v[0], "the argument", args->at_span);
    if (given(v[1]))
        return v_int(t->shape[torch_dim(h, v[1], t->rank, args->at_span)]);
    for (int d = 0; d < t->rank; d++)
        dims[d] = v_int(t->shape[d]);
    return v_tuple(h->lang, dims, t->rank);
}

static Value fn_stride(Host *h, const Args *args)
{
    static const char *const names[] = {"input", "dim="};
    Value v[2], dims[TENSOR_MAX_RANK];
    args_bind(h->lang, "stride", args, names, 2, v);
    Tensor *t = torch_tensor(h, v[0], "the argument", args->at_span);
    if (given(v[1]))
        return v_int(t->strides[torch_dim(h, v[1], t->rank, args->at_span)]);
    for (int d = 0; d < t->rank; d++)
        dims[d] = v_int(t->strides[d]);
    return v_tuple(h->lang, dims, t->rank);
}

static Value fn_dim(Host *h, const Args *args)
{
    return v_int(first(h, args)->rank);
}

static Value fn_numel(Host *h, const Args *args)
{
    return v_int(tensor_count(first(h, args)));
}

static Value fn_is_contiguous(Host *h, const Args *args)
{
    return v_bool(tensor_is_contiguous(first(h, args)));
}

static Value fn_element_size(Host *h, const Args *args)
{
    return v_int((int64_t)dtype_bytes(first(h, args)->dtype, 1));
}

#define ROW(name) {#name, fn_##name, true, true}
#define METHOD(name) {#name, fn_##name, true, false}
const TorchRow torch_shape_rows[] = {
    ROW(reshape), {"view", fn_reshape, true, false}, ROW(transpose),
    {"swapaxes", fn_transpose, true, true}, ROW(t), ROW(permute),
    ROW(unsqueeze), ROW(squeeze), METHOD(expand), METHOD(expand_as),
    ROW(flatten), METHOD(repeat), ROW(repeat_interleave), METHOD(contiguous),
    {"cat", fn_cat, false, true}, {"concat", fn_cat, false, true},
    {"concatenate", fn_cat, false, true}, {"stack", fn_stack, false, true},
    ROW(split), ROW(chunk), ROW(unbind), ROW(tril), ROW(triu), ROW(gather),
    ROW(index_select), METHOD(size), METHOD(stride), METHOD(dim),
    {"ndimension", fn_dim, true, false}, ROW(numel),
    {"nelement", fn_numel, true, false}, METHOD(is_contiguous),
    METHOD(element_size), {NULL, NULL, false, false},
};
