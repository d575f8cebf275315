// torch_make.c - new tensors: ones, arange, linspace, torch.tensor.
#include <math.h>

#include "host/torch_int.h"

// device=, requires_grad= and others that mean nothing here.
static bool torch_is_inert(Text name)
{
    static const char *const inert[] = {
        "device", "requires_grad", "layout", "pin_memory", "memory_format",
        "out", "generator",
    };
    for (size_t i = 0; i < countof(inert); i++)
        if (text_is(name, inert[i]))
            return true;
    return false;
}

static void no_such_keyword(Host *h, const Args *args, int i, const char *name)
{
    lang_raise(h->lang, "TypeError", args->at_span,
               "%s() has no argument '%.*s'", name, TEXT_ARG(args->names[i]));
}

TorchRecipe torch_recipe(Host *h, const Args *args, const char *name,
                         bool filled)
{
    TorchRecipe r = {.dtype = V_NONE, .value = V_NONE};
    Args sizes = *args;
    bool sized = false;
    if (filled && args->count == 2) {
        r.value = args->at[1];
        sizes.count = 1;
    }
    for (int i = 0; i < args->keyword_count; i++) {
        if (text_is(args->names[i], "dtype")) {
            r.dtype = args->values[i];
        } else if (filled && text_is(args->names[i], "fill_value")) {
            r.value = args->values[i];
        } else if (text_is(args->names[i], "size")) {
            r.rank = torch_size_list(h, args->values[i], r.shape,
                                     args->at_span);
            sized = true;
        } else if (!torch_is_inert(args->names[i])) {
            no_such_keyword(h, args, i, name);
        }
    }
    if (!sized)
        r.rank = sizes.count ? torch_sizes(h, &sizes, 0, r.shape) : 0;
    for (int d = 0; d < r.rank; d++)
        if (r.shape[d] < 0)
            lang_raise(h->lang, "RuntimeError", args->at_span,
                       "%s(): a size of %lld", name, (long long)r.shape[d]);
    return r;
}

Value torch_filled(Host *h, DType t, int rank, const int64_t *shape, Value v,
                   Span at)
{
    Tensor out;
    bool zero = (v.kind == VAL_INT && v.i == 0) || (v.kind == VAL_BOOL && !v.b)
                || (v.kind == VAL_FLOAT && v.f == 0 && !signbit(v.f));
    if (tensor_of(v))
        v = torch_item(h, tensor_of(v), at);
    if (!torch_is_number(v))
        lang_raise(h->lang, "TypeError", at,
                   "expected a number to fill with, found %s",
                   value_type_name(v));
    if (!tensor_new(&h->heap, &out, t, rank, shape))
        torch_no_memory(h, at);
    bool fits = v.kind != VAL_FLOAT || fabs(v.f) < 9.2e18;
    if (!zero)
        tensor_assign_number(&out, v.kind == VAL_FLOAT ? v.f
                                   : v.kind == VAL_INT ? (double)v.i : v.b,
                             v.kind == VAL_INT ? v.i : v.kind == VAL_BOOL ? v.b
                             : fits ? (int64_t)v.f : 0);
    return tensor_value(h, out);
}

static Value constant(Host *h, const Args *args, const char *name, Value v)
{
    TorchRecipe r = torch_recipe(h, args, name, false);
    DType t = torch_asked_dtype(h, r.dtype, torch_float(h), args->at_span);
    return torch_filled(h, t, r.rank, r.shape, v, args->at_span);
}

static Value fn_zeros(Host *h, const Args *args)
{
    return constant(h, args, "zeros", v_int(0));
}

static Value fn_ones(Host *h, const Args *args)
{
    return constant(h, args, "ones", v_int(1));
}

static Value fn_empty(Host *h, const Args *args)
{
    return constant(h, args, "empty", v_int(0));
}

static DType number_dtype(const Host *h, Value v)
{
    if (v.kind == VAL_FLOAT)
        return torch_float(h);
    return v.kind == VAL_BOOL ? DT_BOOL : DT_I64;
}

static Value fn_full(Host *h, const Args *args)
{
    TorchRecipe r = torch_recipe(h, args, "full", true);
    Value v = tensor_of(r.value) ? torch_item(h, tensor_of(r.value),
                                              args->at_span) : r.value;
    DType own = number_dtype(h, v);
    DType t = torch_asked_dtype(h, r.dtype, own, args->at_span);
    return torch_filled(h, t, r.rank, r.shape, v, args->at_span);
}

// ---- like another tensor ----------------------------------------------------

static Value like(Host *h, const Args *args, const char *name, Value v)
{
    Value dtype = {.kind = VAL_UNBOUND};
    Span at = args->at_span;
    if (args->count < 1 || args->count > 2)
        lang_raise(h->lang, "TypeError", at, "%s() takes a tensor", name);
    Tensor *t = torch_tensor(h, args->at[0], "the argument", at);
    if (args->count > 1)
        v = args->at[1];
    for (int i = 0; i < args->keyword_count; i++) {
        if (text_is(args->names[i], "dtype"))
            dtype = args->values[i];
        else if (text_is(args->names[i], "fill_value"))
            v = args->values[i];
        else if (!torch_is_inert(args->names[i]))
            no_such_keyword(h, args, i, name);
    }
    DType to = torch_asked_dtype(h, dtype, t->dtype, at);
    return torch_filled(h, to, t->rank, t->shape, v, at);
}

static Value fn_zeros_like(Host *h, const Args *args)
{
    return like(h, args, "zeros_like", v_int(0));
}

static Value fn_ones_like(Host *h, const Args *args)
{
    return like(h, args, "ones_like", v_int(1));
}

static Value fn_full_like(Host *h, const Args *args)
{
    return like(h, args, "full_like", v_int(0));
}

// x.new_zeros(shape): x's dtype.
static Value as_new(Host *h, const Args *args, const char *name, Value v,
                    bool fill)
{
    Args rest = *args;
    Tensor *t = torch_first(h, args);
    rest.at++;
    rest.count--;
    TorchRecipe r = torch_recipe(h, &rest, name, fill);
    return torch_filled(h, torch_asked_dtype(h, r.dtype, t->dtype,
                                             args->at_span),
                        r.rank, r.shape, fill ? r.value : v, args->at_span);
}

static Value fn_new_zeros(Host *h, const Args *args)
{
    return as_new(h, args, "new_zeros", v_int(0), false);
}

static Value fn_new_ones(Host *h, const Args *args)
{
    return as_new(h, args, "new_ones", v_int(1), false);
}

static Value fn_new_full(Host *h, const Args *args)
{
    return as_new(h, args, "new_full", v_int(0), true);
}

// ---- sequences --------------------------------------------------------------

static void put_number(Tensor *out, int64_t i, bool ints, int64_t whole,
                       double f)
{
    char *p = (char *)tensor_data(out) + dtype_bytes(out->dtype, i);
    if (ints)
        num_put_i64(out->dtype, p, whole);
    else
        num_put_f64(out->dtype, p, f);
}

// arange(end), arange(start, end), arange(start, end, step)
static Value fn_arange(Host *h, const Args *args)
{
    Args named = *args;
    Value all[3] = {v_int(0), V_NONE, v_int(1)};
    if (args->count == 1) {
        all[1] = args->at[0];
        named.at = all;
        named.count = 2;
        for (int i = 0; i < args->keyword_count; i++)   // arange(5, end=9)
            if (text_is(args->names[i], "end")) {
                named = *args;
                break;
            }
    }
    args = &named;
    TORCH_BIND("arange", "start=", "end=", "step=", "*", "dtype=", "device=",
               "requires_grad=", "layout=", "pin_memory=", "out=");
    bool ints = true;
    double x[3];
    for (int i = 0; i < 3; i++) {
        if (tensor_of(v[i]))
            v[i] = torch_item(h, tensor_of(v[i]), at);
        if (!torch_given(v[i]))
            v[i] = all[i];
        ints = ints && v[i].kind != VAL_FLOAT;
        x[i] = value_to_float(h->lang, v[i], "arange()", at);
    }
    double size = (x[1] - x[0]) / x[2];
    if (x[2] == 0 || !(fabs(size) < 1e12))
        lang_raise(h->lang, "RuntimeError", at, "arange() with step %g", x[2]);
    if (size < 0)
        lang_raise(h->lang, "RuntimeError", at,
                   "arange(): the step leads away from the end");
    int64_t n = (int64_t)ceil(size);
    Tensor out;
    DType t = torch_asked_dtype(h, v[3], ints ? DT_I64 : torch_float(h), at);
    if (!tensor_new_raw(&h->heap, &out, t, 1, &n))
        torch_no_memory(h, at);
    for (int64_t i = 0; i < n; i++)
        put_number(&out, i, ints && !dtype_is_float(t),
                   (int64_t)x[0] + i * (int64_t)x[2], x[0] + (double)i * x[2]);
    return tensor_value(h, out);
}

// From both ends, as torch does, so that the last element is exact.
static Value fn_linspace(Host *h, const Args *args)
{
    TORCH_BIND("linspace", "start", "end", "steps", "*", "dtype=", "device=",
               "requires_grad=", "layout=", "pin_memory=", "out=");
    double from = value_to_float(h->lang, v[0], "start", at);
    double to = value_to_float(h->lang, v[1], "end", at);
    int64_t n = torch_int(h, v[2], "steps", 0, at);
    DType t = torch_asked_dtype(h, v[3], torch_float(h), at);
    Tensor out;
    if (n < 0)
        lang_raise(h->lang, "RuntimeError", at, "linspace(): %lld steps",
                   (long long)n);
    if (!tensor_new_raw(&h->heap, &out, t, 1, &n))
        torch_no_memory(h, at);
    double step = n > 1 ? (to - from) / (double)(n - 1) : 0;
    for (int64_t i = 0; i < n; i++)
        put_number(&out, i, false, 0, i < n / 2 || n == 1
                                          ? from + (double)i * step
                                          : to - (double)(n - 1 - i) * step);
    return tensor_value(h, out);
}

static Value fn_eye(Host *h, const Args *args)
{
    TorchRecipe r = torch_recipe(h, args, "eye", false);
    if (r.rank == 1)
        r.shape[1] = r.shape[0];
    if (r.rank != 1 && r.rank != 2)
        lang_raise(h->lang, "TypeError", args->at_span,
                   "eye() takes one or two sizes");
    DType t = torch_asked_dtype(h, r.dtype, torch_float(h), args->at_span);
    Value v = torch_filled(h, t, 2, r.shape, v_int(0), args->at_span);
    Tensor diagonal = tensor_diagonal(tensor_of(v), 0, 0, 1);
    tensor_assign_number(&diagonal, 1, 1);
    return v;
}

// [2, n]: the places of a triangle.
static Value triangle_places(Host *h, const Args *args, const char *name,
                             bool upper)
{
    TORCH_BIND(name, "row", "col", "offset=", "*", "dtype=", "device=",
               "layout=");
    int64_t shape[2] = {torch_int(h, v[0], "row", 0, at),
                        torch_int(h, v[1], "col", 0, at)};
    int64_t k = torch_int(h, v[2], "offset", 0, at);
    Tensor tri, found, whole;
    if (shape[0] < 0 || shape[1] < 0)
        lang_raise(h->lang, "RuntimeError", at, "%s(): a negative size", name);
    Value ones = torch_filled(h, DT_BOOL, 2, shape, v_bool(true), at);
    if (!tensor_triangle(&tri, tensor_of(ones), k, upper))
        torch_no_memory(h, at);
    bool ok = tensor_nonzero(&h->heap, &found, &tri);
    tensor_release(&tri);
    if (!ok)
        torch_no_memory(h, at);
    Tensor view = tensor_permute(&found, (int[]){1, 0});
    ok = tensor_cast(&whole, &view, torch_asked_dtype(h, v[3], DT_I64, at),
                     false);
    tensor_release(&found);
    return torch_result(h, ok, whole, at);
}

static Value fn_tril_indices(Host *h, const Args *args)
{
    return triangle_places(h, args, "tril_indices", false);
}

static Value fn_triu_indices(Host *h, const Args *args)
{
    return triangle_places(h, args, "triu_indices", true);
}

// ---- torch.tensor([...]) ----------------------------------------------------

static void measure(Host *h, Value v, TorchRecipe *r, int depth, Span at)
{
    const Tensor *t = tensor_of(v);
    for (int d = 0; t && d < t->rank && depth + d < TENSOR_MAX_RANK; d++)
        r->shape[r->rank++] = t->shape[d];
    if (!torch_is_list(v))
        return;
    if (depth == TENSOR_MAX_RANK)
        lang_raise(h->lang, "ValueError", at, "too many nested lists");
    r->shape[depth] = v.list->len;
    r->rank = depth + 1;
    if (v.list->len)
        measure(h, v.list->at[0], r, depth + 1, at);
}

static void put_items(Host *h, Value v, Tensor to, Span at)
{
    Tensor *t = tensor_of(v);
    if (t) {
        if (!tensor_same_shape(t, &to))
            lang_raise(h->lang, "ValueError", at,
                       "the tensors in the list are not of one shape");
        tensor_assign(&to, t);
        return;
    }
    if (to.rank == 0) {
        if (!torch_is_number(v))
            lang_raise(h->lang, torch_is_list(v) || v.kind == VAL_STR
                                    ? "ValueError" : "TypeError",
                       at, torch_is_list(v)
                               ? "the nested lists are not of one length"
                               : "expected numbers, found %s",
                       value_type_name(v));
        double f = v.kind == VAL_FLOAT ? v.f : v.kind == VAL_INT ? (double)v.i
                                                                 : v.b;
        tensor_assign_number(&to, f, v.kind == VAL_INT ? v.i : (int64_t)f);
        return;
    }
    if (!torch_is_list(v) || v.list->len != to.shape[0])
        lang_raise(h->lang, "ValueError", at,
                   "the nested lists are not of one length");
    for (int i = 0; i < v.list->len; i++)
        put_items(h, v.list->at[i], tensor_select(&to, 0, i), at);
}

static DType list_dtype(const Host *h, Value v, int depth)
{
    DType t = DT_NONE;
    if (tensor_of(v))
        return tensor_of(v)->dtype;
    if (!torch_is_list(v) || depth > TENSOR_MAX_RANK)
        return number_dtype(h, v);
    for (int i = 0; i < v.list->len; i++)
        t = torch_promote_types(t, list_dtype(h, v.list->at[i], depth + 1));
    return t == DT_NONE ? torch_float(h) : t;
}

Value torch_from_list(Host *h, Value list, Value dtype, Span at)
{
    TorchRecipe r = {0};
    Tensor out;
    if (list.kind == VAL_RANGE)
        list = (Value){.kind = VAL_LIST,
                       .list = value_to_list(h->lang, list, at)};
    measure(h, list, &r, 0, at);
    DType t = torch_asked_dtype(h, dtype, list_dtype(h, list, 0), at);
    if (!tensor_new(&h->heap, &out, t, r.rank, r.shape))
        torch_no_memory(h, at);
    Value v = tensor_value(h, out);
    put_items(h, list, out, at);
    return v;
}

static Value fn_tensor(Host *h, const Args *args)
{
    TORCH_BIND("tensor", "data", "*", "dtype=", "device=", "requires_grad=",
               "pin_memory=");
    Value array = torch_array(h, v[0]);
    if (tensor_of(array)) {
        Tensor *t = tensor_of(array), out;
        return torch_result(h, tensor_cast(&out, t, torch_asked_dtype(
                                               h, v[1], t->dtype, at), true),
                            out, at);
    }
    return torch_from_list(h, v[0], v[1], at);
}

// The tensor itself when it is one of that dtype.
static Value fn_as_tensor(Host *h, const Args *args)
{
    TORCH_BIND("as_tensor", "data", "dtype=", "device=");
    if (tensor_of(torch_array(h, v[0])))
        v[0] = torch_array(h, v[0]);
    if (!tensor_of(v[0]))
        return torch_from_list(h, v[0], v[1], at);
    return torch_cast(h, v[0], torch_asked_dtype(h, v[1],
                                                 tensor_of(v[0])->dtype, at),
                      at);
}

// x.new_tensor(data): x's dtype.
static Value fn_new_tensor(Host *h, const Args *args)
{
    TORCH_BIND("new_tensor", "input", "data", "dtype=", "*", "device=",
               "requires_grad=");
    DType own = torch_tensor(h, v[0], "the argument", at)->dtype;
    return torch_from_list(h, v[1], torch_given(v[2]) ? v[2] : v_dtype(own),
                           at);
}

const TorchRow torch_make_rows[] = {
    TORCH_ROW(zeros, IN_TORCH), TORCH_ROW(ones, IN_TORCH),
    TORCH_ROW(full, IN_TORCH), TORCH_ROW(empty, IN_TORCH),
    TORCH_ROW(zeros_like, IN_TORCH), TORCH_ROW(ones_like, IN_TORCH),
    TORCH_ROW(full_like, IN_TORCH),
    TORCH_SAME(empty_like, zeros_like, IN_TORCH), TORCH_ROW(arange, IN_TORCH),
    TORCH_ROW(linspace, IN_TORCH), TORCH_ROW(eye, IN_TORCH),
    TORCH_ROW(tril_indices, IN_TORCH), TORCH_ROW(triu_indices, IN_TORCH),
    TORCH_ROW(tensor, IN_TORCH), TORCH_ROW(as_tensor, IN_TORCH),
    TORCH_ROW(new_zeros, METHOD), TORCH_ROW(new_ones, METHOD),
    TORCH_ROW(new_full, METHOD), TORCH_SAME(new_empty, new_zeros, METHOD),
    TORCH_ROW(new_tensor, METHOD),
    TORCH_END,
};
