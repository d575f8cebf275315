// torch_shape.c - views and rearrangements, as torch names them.
#include "host/torch_int.h"

// ---- other shapes -----------------------------------------------------------

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
    if (open >= 0 && known > 0) {
        shape[open] = n / known;
        known *= shape[open];
    } else if (open >= 0) {
        known = -1;                         // any size would do, or none
    }
    if (known != n)
        lang_raise(h->lang, "RuntimeError", at,
                   "a tensor of %lld elements does not have that shape",
                   (long long)n);
}

Value torch_reshaped(Host *h, const Tensor *t, int rank, const int64_t *shape,
                     Span at)
{
    Tensor out;
    return torch_result(h, tensor_reshape(&out, t, rank, shape), out, at);
}

// The same bytes as another dtype: the last dimension grows or shrinks.
static Value reinterpreted(Host *h, const Tensor *t, DType to, Span at)
{
    int64_t was = (int64_t)dtype_bytes(t->dtype, 1), is;
    Tensor whole;
    if (!dtype_info(to)->built)
        lang_unsupported(h->lang, at, "tensors of dtype %s",
                         dtype_info(to)->name);
    is = (int64_t)dtype_bytes(to, 1);
    if (was != is && (t->rank == 0 || t->shape[t->rank - 1] * was % is))
        lang_raise(h->lang, "RuntimeError", at, "view(): the last dimension "
                   "does not hold whole elements of %s", dtype_info(to)->name);
    if (h->f64 && (dtype_is_float(to) || dtype_is_float(t->dtype))
        && !(dtype_is_fp8(to) || dtype_is_fp8(t->dtype))) {
        h->f64_refused = true;
        lang_unsupported(h->lang, at, "view() of floats under another dtype in "
                         "a reference evaluated in f64");
    }
    tensor_data(t);
    if (was != is && (!tensor_is_contiguous(t) || t->offset * was % is))
        lang_raise(h->lang, "RuntimeError", at, "view() as %s of a tensor that "
                   "is not contiguous", dtype_info(to)->name);
    whole = tensor_retain(t);
    whole.dtype = to;
    if (was != is) {
        whole.offset = whole.offset * was / is;
        whole.shape[whole.rank - 1] = whole.shape[whole.rank - 1] * was / is;
        tensor_row_major(&whole);
    }
    return tensor_value(h, whole);
}

static Value reshape(Host *h, const Args *args, bool view)
{
    Tensor *t = torch_first(h, args), out;
    int64_t shape[TENSOR_MAX_RANK];
    Span at = args->at_span;
    if (args->count < 2 && args->keyword_count == 0)
        lang_raise(h->lang, "TypeError", at, "the shape is missing");
    Args named = {.at = args->at, .count = 1, .at_span = at};
    Value both[2] = {args->at[0], V_NONE};
    if (args->count == 1) {                 // shape=
        both[1] = args->values[0];
        named = (Args){.at = both, .count = 2, .at_span = at};
        args = &named;
    }
    int rank = torch_sizes(h, args, 1, shape);
    infer(h, t, rank, shape, at);
    if (!view)
        return torch_reshaped(h, t, rank, shape, at);
    if (!tensor_view(&out, t, rank, shape))
        lang_raise(h->lang, "RuntimeError", at, "view() needs elements that "
                   "follow each other as the shape says: use reshape()");
    return tensor_value(h, out);
}

static Value fn_reshape(Host *h, const Args *args)
{
    return reshape(h, args, false);
}

static Value fn_view(Host *h, const Args *args)
{
    Tensor *t = torch_first(h, args);
    Value to = args->count == 2 ? args->at[1] : V_NONE;
    if (args->count == 1 && args->keyword_count == 1)   // dtype=, or shape=
        to = args->values[0];
    if (to.kind == VAL_DTYPE || to.kind == VAL_TYPE)
        return reinterpreted(h, t, value_to_dtype(h->lang, to, args->at_span),
                             args->at_span);
    return reshape(h, args, true);
}

static Value fn_view_as(Host *h, const Args *args)
{
    TORCH_BIND("view_as", "input", "other");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    Tensor *o = torch_tensor(h, v[1], "other", at);
    int64_t shape[TENSOR_MAX_RANK];
    for (int d = 0; d < o->rank; d++)
        shape[d] = o->shape[d];
    infer(h, t, o->rank, shape, at);
    return torch_reshaped(h, t, o->rank, shape, at);
}

static Value fn_flatten(Host *h, const Args *args)
{
    TORCH_BIND("flatten", "input", "start_dim=", "end_dim=");
    int64_t shape[TENSOR_MAX_RANK];
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    int from = torch_given(v[1]) ? torch_dim(h, v[1], t->rank, at) : 0, n = 0;
    int to = torch_given(v[2]) ? torch_dim(h, v[2], t->rank, at) : t->rank - 1;
    if (t->rank && from > to)
        lang_raise(h->lang, "RuntimeError", at,
                   "flatten() from dimension %d to %d", from, to);
    for (int d = 0; d < t->rank; d++) {
        if (d > from && d <= to)
            shape[n - 1] *= t->shape[d];
        else
            shape[n++] = t->shape[d];
    }
    if (t->rank == 0)
        shape[n++] = 1;
    return torch_reshaped(h, t, n, shape, at);
}

static Value fn_unflatten(Host *h, const Args *args)
{
    TORCH_BIND("unflatten", "input", "dim", "sizes");
    int64_t shape[TENSOR_MAX_RANK], sizes[TENSOR_MAX_RANK];
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    int d = torch_dim(h, v[1], t->rank, at), n = 0;
    int parts = torch_size_list(h, v[2], sizes, at);
    if (t->rank == 0 || t->rank - 1 + parts > TENSOR_MAX_RANK)
        lang_raise(h->lang, "RuntimeError", at, "unflatten() to %d dimensions",
                   t->rank - 1 + parts);
    Tensor row = {.rank = 1, .shape = {t->shape[d]}};
    infer(h, &row, parts, sizes, at);
    for (int e = 0; e < t->rank; e++) {
        for (int i = 0; e == d && i < parts; i++)
            shape[n++] = sizes[i];
        if (e != d)
            shape[n++] = t->shape[e];
    }
    return torch_reshaped(h, t, n, shape, at);
}

// ---- order ------------------------------------------------------------------

static Value fn_transpose(Host *h, const Args *args)
{
    TORCH_BIND("transpose", "input", "dim0", "dim1");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    int a = torch_dim(h, v[1], t->rank, at);
    int b = torch_dim(h, v[2], t->rank, at);
    return torch_transposed(h, v[0], a, b);
}

static Value fn_t(Host *h, const Args *args)
{
    Tensor *t = torch_first(h, args);
    if (t->rank > 2)
        lang_raise(h->lang, "RuntimeError", args->at_span,
                   "t() of %d dimensions", t->rank);
    return torch_transposed(h, args->at[0], 0, t->rank - 1);
}

static Value fn_permute(Host *h, const Args *args)
{
    Tensor *t = torch_first(h, args);
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
    return torch_view(h, t, tensor_permute(t, order));
}

static Value fn_movedim(Host *h, const Args *args)
{
    TORCH_BIND("movedim", "input", "source", "destination");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    int64_t from[TENSOR_MAX_RANK], to[TENSOR_MAX_RANK];
    int order[TENSOR_MAX_RANK], n = torch_size_list(h, v[1], from, at), d = 0;
    uint32_t moved = 0;
    if (n != torch_size_list(h, v[2], to, at))
        lang_raise(h->lang, "RuntimeError", at,
                   "movedim(): source and destination differ in number");
    for (int i = 0; i < t->rank; i++)
        order[i] = -1;
    for (int i = 0; i < n; i++) {
        int s = torch_dim(h, v_int(from[i]), t->rank, at);
        int e = torch_dim(h, v_int(to[i]), t->rank, at);
        if ((moved >> s & 1) || order[e] >= 0)
            lang_raise(h->lang, "RuntimeError", at,
                       "movedim(): a dimension appears twice");
        order[e] = s;
        moved |= 1u << s;
    }
    for (int i = 0; i < t->rank; i++) {
        if (order[i] >= 0)
            continue;
        while (moved >> d & 1)
            d++;
        order[i] = d++;
    }
    return torch_view(h, t, tensor_permute(t, order));
}

// A view with steps of -1, copied.
static Value fn_flip(Host *h, const Args *args)
{
    Tensor *t = torch_first(h, args), out;
    int64_t dims[TENSOR_MAX_RANK];
    int n = torch_sizes(h, args, 1, dims);
    Tensor view = *t;
    tensor_data(t);
    for (int i = 0; i < n; i++) {
        int d = torch_dim(h, v_int(dims[i]), t->rank, args->at_span);
        if (t->rank && t->shape[d])
            view = tensor_slice(&view, d, t->shape[d] - 1, t->shape[d], -1);
    }
    return torch_result(h, tensor_cast(&out, &view, t->dtype, true), out,
                        args->at_span);
}

static Value fn_roll(Host *h, const Args *args)
{
    TORCH_BIND("roll", "input", "shifts", "dims=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at), flat, out;
    int64_t by[TENSOR_MAX_RANK], dims[TENSOR_MAX_RANK] = {0};
    int64_t all = tensor_count(t);
    int n = torch_size_list(h, v[1], by, at);
    bool whole = !torch_given(v[2]);
    if (n != (whole ? 1 : torch_size_list(h, v[2], dims, at)))
        lang_raise(h->lang, "RuntimeError", at,
                   "roll(): shifts and dims differ in number");
    if (whole ? !tensor_reshape(&flat, t, 1, &all)
              : !tensor_cast(&flat, t, t->dtype, true))
        torch_no_memory(h, at);
    for (int i = 0; i < n && all; i++) {
        int d = torch_dim(h, v_int(dims[i]), flat.rank, at);
        int64_t size = flat.rank ? flat.shape[d] : 1;
        int64_t shift = (by[i] % size + size) % size;
        if (flat.rank == 0)
            continue;
        Tensor a = tensor_slice(&flat, d, size - shift, shift, 1);
        Tensor b = tensor_slice(&flat, d, 0, size - shift, 1);
        const Tensor *parts[2] = {&a, &b};
        bool ok = tensor_cat(&h->heap, &out, parts, 2, d, t->dtype);
        tensor_release(&flat);
        if (!ok)
            torch_no_memory(h, at);
        flat = out;
    }
    Value v1 = tensor_value(h, flat);
    return whole ? torch_reshaped(h, tensor_of(v1), t->rank, t->shape, at) : v1;
}

// ---- sizes of one -----------------------------------------------------------

static Value fn_unsqueeze(Host *h, const Args *args)
{
    TORCH_BIND("unsqueeze", "input", "dim");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    if (t->rank == TENSOR_MAX_RANK)
        lang_raise(h->lang, "RuntimeError", at, "too many dimensions");
    int d = torch_dim(h, v[1], t->rank + 1, at);
    return torch_view(h, t, tensor_unsqueeze(t, d));
}

static Value fn_squeeze(Host *h, const Args *args)
{
    TORCH_BIND("squeeze", "input", "dim=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    uint32_t mask = torch_is_list(v[1]) && v[1].list->len == 0
                        ? 0 : torch_dims(h, v[1], t->rank, at);
    return torch_view(h, t, tensor_squeeze(t, mask));
}

static Value expanded(Host *h, const Tensor *t, int rank, int64_t *shape,
                      Span at)
{
    int64_t count = 1;
    if (rank < t->rank)
        lang_raise(h->lang, "RuntimeError", at,
                   "expand() to fewer dimensions");
    for (int d = 0; d < rank; d++) {
        int own = d - (rank - t->rank);
        if (shape[d] == -1 && own >= 0)
            shape[d] = t->shape[own];
        if (shape[d] < 0 || (own >= 0 && t->shape[own] != 1
                             && t->shape[own] != shape[d])
            || __builtin_mul_overflow(count, shape[d], &count))
            lang_raise(h->lang, "RuntimeError", at,
                       "expand() cannot make dimension %d of size %lld", d,
                       (long long)shape[d]);
    }
    return torch_view(h, t, tensor_expand(t, rank, shape));
}

static Value fn_expand(Host *h, const Args *args)
{
    Tensor *t = torch_first(h, args);
    int64_t shape[TENSOR_MAX_RANK];
    int rank = torch_sizes(h, args, 1, shape);
    return expanded(h, t, rank, shape, args->at_span);
}

// Any view of the storage that lies inside of it.
static Value fn_as_strided(Host *h, const Args *args)
{
    TORCH_BIND("as_strided", "input", "size", "stride", "storage_offset=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    int64_t last, most, count = 1;
    tensor_data(t);                     // a pending copy is made
    Tensor out = *t;
    out.rank = torch_size_list(h, v[1], out.shape, at);
    if (torch_size_list(h, v[2], out.strides, at) != out.rank)
        lang_raise(h->lang, "RuntimeError", at,
                   "as_strided(): as many strides as sizes");
    last = out.offset = torch_int(h, v[3], "storage_offset", t->offset, at);
    most = (int64_t)tensor_bytes(t) / (int64_t)dtype_bytes(t->dtype, 1);
    for (int d = 0; d < out.rank; d++) {
        int64_t span;
        if (out.shape[d] < 0 || out.strides[d] < 0
            || __builtin_mul_overflow(out.shape[d] - 1, out.strides[d], &span)
            || __builtin_add_overflow(last, span, &last)
            || __builtin_mul_overflow(count, out.shape[d], &count))
            last = most;
    }
    if (out.offset < 0 || (count && last >= most))
        lang_raise(h->lang, "RuntimeError", at, "as_strided(): beyond the "
                   "storage of %lld elements", (long long)most);
    return torch_view(h, t, out);
}

static Value fn_broadcast_to(Host *h, const Args *args)
{
    TORCH_BIND("broadcast_to", "input", "size");
    int64_t shape[TENSOR_MAX_RANK];
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    int rank = torch_size_list(h, v[1], shape, at);
    return expanded(h, t, rank, shape, at);
}

static Value fn_expand_as(Host *h, const Args *args)
{
    TORCH_BIND("expand_as", "input", "other");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    Tensor other = *torch_tensor(h, v[1], "other", at);
    return expanded(h, t, other.rank, other.shape, at);
}

static Value fn_contiguous(Host *h, const Args *args)
{
    Tensor *t = torch_first(h, args), out;
    if (tensor_is_contiguous(t))
        return args->at[0];
    return torch_result(h, tensor_contiguous(&out, t), out, args->at_span);
}

// ---- parts of a dimension ---------------------------------------------------

static Value fn_narrow(Host *h, const Args *args)
{
    TORCH_BIND("narrow", "input", "dim", "start", "length");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    int d = torch_dim(h, v[1], t->rank, at);
    int64_t size = t->rank ? t->shape[d] : 0;
    int64_t from = torch_int(h, v[2], "start", 0, at);
    int64_t n = torch_int(h, v[3], "length", 0, at);
    from += from < 0 ? size : 0;
    if (t->rank == 0 || from < 0 || n < 0 || from > size || n > size - from)
        lang_raise(h->lang, "RuntimeError", at,
                   "narrow(): %lld elements from %lld on of size %lld",
                   (long long)n, (long long)from, (long long)size);
    return torch_view(h, t, tensor_slice(t, d, from, n, 1));
}

static Value fn_select(Host *h, const Args *args)
{
    TORCH_BIND("select", "input", "dim", "index");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    int d = torch_dim(h, v[1], t->rank, at);
    int64_t i = torch_int(h, v[2], "index", 0, at);
    int64_t size = t->rank ? t->shape[d] : 0;
    if (i < -size || i >= size)
        torch_bad_index(h, &(BadIndex){d, i, size}, at);
    return torch_view(h, t, tensor_select(t, d, i < 0 ? i + size : i));
}

static Value fn_diagonal(Host *h, const Args *args)
{
    TORCH_BIND("diagonal", "input", "offset=", "dim1=", "dim2=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    int a = torch_given(v[2]) ? torch_dim(h, v[2], t->rank, at) : 0;
    int b = torch_given(v[3]) ? torch_dim(h, v[3], t->rank, at) : 1;
    if (t->rank < 2 || a == b)
        lang_raise(h->lang, "RuntimeError", at,
                   "diagonal() needs two dimensions");
    return torch_view(h, t, tensor_diagonal(t, torch_int(h, v[1], "offset", 0,
                                                         at), a, b));
}

// A vector's matrix, or a matrix's diagonal.
static Value fn_diag(Host *h, const Args *args)
{
    TORCH_BIND("diag", "input", "diagonal=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at), out;
    int64_t k = torch_int(h, v[1], "diagonal", 0, at);
    if (t->rank == 2) {
        Tensor view = tensor_diagonal(t, k, 0, 1);
        return torch_result(h, tensor_cast(&out, &view, t->dtype, true), out,
                            at);
    }
    if (t->rank != 1 || k < -(1 << 24) || k > 1 << 24)
        lang_raise(h->lang, "RuntimeError", at,
                   "diag() takes one or two dimensions, found %d", t->rank);
    int64_t n = t->shape[0] + (k < 0 ? -k : k), shape[2] = {n, n};
    Value m = torch_filled(h, t->dtype, 2, shape, v_int(0), at);
    Tensor view = tensor_diagonal(tensor_of(m), k, 0, 1);
    tensor_assign(&view, t);
    return m;
}

static Value triangle(Host *h, const Args *args, const char *name, bool upper)
{
    TORCH_BIND(name, "input", "diagonal=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at), out;
    if (t->rank < 2)
        lang_raise(h->lang, "RuntimeError", at, "%s() needs two dimensions",
                   name);
    int64_t k = torch_int(h, v[1], "diagonal", 0, at);
    return torch_result(h, tensor_triangle(&out, t, k, upper), out, at);
}

static Value fn_tril(Host *h, const Args *args)
{
    return triangle(h, args, "tril", false);
}

static Value fn_triu(Host *h, const Args *args)
{
    return triangle(h, args, "triu", true);
}

// ---- questions --------------------------------------------------------------

static Value fn_size(Host *h, const Args *args)
{
    TORCH_BIND("size", "input", "dim=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    if (!torch_given(v[1]))
        return torch_shape_tuple(h->lang, t);
    int d = torch_dim(h, v[1], t->rank, at);
    if (t->rank == 0)
        torch_bad_index(h, &(BadIndex){0, d, 0}, at);
    return v_int(t->shape[d]);
}

static Value fn_stride(Host *h, const Args *args)
{
    TORCH_BIND("stride", "input", "dim=");
    Value dims[TENSOR_MAX_RANK];
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    if (torch_given(v[1]) && t->rank)
        return v_int(t->strides[torch_dim(h, v[1], t->rank, at)]);
    for (int d = 0; d < t->rank; d++)
        dims[d] = v_int(t->strides[d]);
    return v_tuple(h->lang, dims, t->rank);
}

static Value fn_dim(Host *h, const Args *args)
{
    return v_int(torch_first(h, args)->rank);
}

static Value fn_numel(Host *h, const Args *args)
{
    return v_int(tensor_count(torch_first(h, args)));
}

static Value fn_is_contiguous(Host *h, const Args *args)
{
    return v_bool(tensor_is_contiguous(torch_first(h, args)));
}

static Value fn_is_floating_point(Host *h, const Args *args)
{
    return v_bool(dtype_is_float(torch_first(h, args)->dtype));
}

static Value fn_element_size(Host *h, const Args *args)
{
    return v_int((int64_t)dtype_bytes(torch_first(h, args)->dtype, 1));
}

static Value fn_data_ptr(Host *h, const Args *args)
{
    return v_int(host_address(h, torch_first(h, args)));
}

const TorchRow torch_shape_rows[] = {
    TORCH_ROW(reshape, BOTH), TORCH_ROW(view, METHOD),
    TORCH_ROW(view_as, METHOD), TORCH_SAME(reshape_as, view_as, METHOD),
    TORCH_ROW(flatten, BOTH), TORCH_ROW(unflatten, BOTH),
    TORCH_ROW(transpose, BOTH), TORCH_SAME(swapaxes, transpose, BOTH),
    TORCH_SAME(swapdims, transpose, BOTH), TORCH_ROW(t, BOTH),
    TORCH_ROW(permute, BOTH), TORCH_ROW(movedim, BOTH),
    TORCH_SAME(moveaxis, movedim, BOTH), TORCH_ROW(flip, BOTH),
    TORCH_ROW(roll, BOTH), TORCH_ROW(unsqueeze, BOTH),
    TORCH_ROW(squeeze, BOTH), TORCH_ROW(expand, METHOD),
    TORCH_ROW(as_strided, BOTH),
    TORCH_ROW(expand_as, METHOD), TORCH_ROW(broadcast_to, BOTH),
    TORCH_ROW(contiguous, METHOD), TORCH_ROW(narrow, BOTH),
    TORCH_ROW(select, BOTH), TORCH_ROW(diagonal, BOTH), TORCH_ROW(diag, BOTH),
    TORCH_ROW(tril, BOTH), TORCH_ROW(triu, BOTH), TORCH_ROW(size, METHOD),
    TORCH_ROW(stride, METHOD), TORCH_ROW(dim, METHOD),
    TORCH_SAME(ndimension, dim, METHOD), TORCH_ROW(numel, BOTH),
    TORCH_SAME(nelement, numel, METHOD), TORCH_ROW(is_contiguous, METHOD),
    TORCH_ROW(is_floating_point, BOTH), TORCH_ROW(element_size, METHOD),
    TORCH_ROW(data_ptr, METHOD),
    TORCH_END,
};
