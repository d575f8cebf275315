// torch_cast.c - conversions of tensors: dtypes, Python numbers, copies.
#include "host/torch_int.h"

static Value cast(Host *h, Value v, DType t, Span at)
{
    return torch_cast(h, v, torch_dtype(h, t), at);
}

// "cuda", "cuda:0", "cpu": where a tensor lives means nothing here.
static bool is_dtype(Value v)
{
    DType t;
    Value inner = v;
    if (v.kind == VAL_STR && text_starts(v.s, "torch."))
        inner.s = text_slice(v.s, 6, v.s.len);
    return v.kind == VAL_DTYPE || v.kind == VAL_TYPE
           || (v.kind == VAL_STR && dtype_find(inner.s, &t));
}

static Value to_named(Host *h, Value v, Value type, Span at)
{
    if (type.kind == VAL_STR && text_starts(type.s, "torch."))
        type.s = text_slice(type.s, 6, type.s.len);
    return cast(h, v, value_to_dtype(h->lang, type, at), at);
}

// x.to(dtype), x.to("cuda"), x.to(device, dtype), x.to(other), dtype=
static Value fn_to(Host *h, const Args *args)
{
    Value v = args->at[0];
    Span at = args->at_span;
    torch_first(h, args);
    for (int i = 1; i < args->count; i++) {
        Value to = args->at[i];
        if (tensor_of(to))
            v = cast(h, v, tensor_of(to)->dtype, at);
        else if (is_dtype(to))
            v = to_named(h, v, to, at);
        else if (to.kind != VAL_STR && to.kind != VAL_BOOL
                 && to.kind != VAL_NONE && to.kind != VAL_INT)
            lang_raise(h->lang, "TypeError", at, "to() takes a dtype, a device "
                       "or a tensor, not %s", value_type_name(to));
        else if (to.kind == VAL_STR && !text_starts(to.s, "cuda")
                 && !text_starts(to.s, "cpu"))
            lang_raise(h->lang, "RuntimeError", at, "to(): '%.*s' is no dtype "
                       "and no device", TEXT_ARG(to.s));
    }
    for (int i = 0; i < args->keyword_count; i++)
        if (text_is(args->names[i], "dtype") && torch_given(args->values[i]))
            v = to_named(h, v, args->values[i], at);
    return v;
}

static Value fn_type(Host *h, const Args *args)
{
    static const char *const words[DT_COUNT] = {
        [DT_BOOL] = "Bool", [DT_U8] = "Byte", [DT_I8] = "Char",
        [DT_I16] = "Short", [DT_I32] = "Int", [DT_I64] = "Long",
        [DT_F16] = "Half", [DT_BF16] = "BFloat16", [DT_F32] = "Float",
        [DT_F64] = "Double",
    };
    DType t = torch_first(h, args)->dtype;
    if (args->count > 1 || args->keyword_count)
        return fn_to(h, args);
    return v_text(h->lang, "torch.cuda.%sTensor",
                  words[t] ? words[t] : dtype_info(t)->name);
}

#define CAST(name, type)                                                       \
    static Value fn_##name(Host *h, const Args *args)                          \
    {                                                                          \
        torch_first(h, args);                                                  \
        return cast(h, args->at[0], DT_##type, args->at_span);                 \
    }
CAST(float, F32)
CAST(double, F64)
CAST(half, F16)
CAST(bfloat16, BF16)
CAST(bool, BOOL)
CAST(char, I8)
CAST(short, I16)
CAST(int, I32)
CAST(long, I64)
CAST(byte, U8)
#undef CAST

// Where a tensor lives or how it is tracked means nothing here.
static Value fn_same(Host *h, const Args *args)
{
    torch_first(h, args);
    return args->at[0];
}

static Value fn_clone(Host *h, const Args *args)
{
    Tensor *t = torch_first(h, args), out;
    return torch_result(h, tensor_cast(&out, t, t->dtype, false), out,
                        args->at_span);
}

Value torch_item(Host *h, const Tensor *t, Span at)
{
    int64_t zero[TENSOR_MAX_RANK] = {0};
    if (tensor_count(t) != 1)
        lang_raise(h->lang, "RuntimeError", at,
                   "a tensor of %lld elements is not a number",
                   (long long)tensor_count(t));
    if (t->dtype == DT_BOOL)
        return v_bool(tensor_get_f64(t, zero) != 0);
    if (dtype_is_float(t->dtype))
        return v_float(tensor_get_f64(t, zero));
    return v_int(num_get_i64(t->dtype, tensor_data(t)));
}

static Value fn_item(Host *h, const Args *args)
{
    return torch_item(h, torch_first(h, args), args->at_span);
}

// float(x), int(x)
static Value fn_number(Host *h, const Args *args)
{
    Tensor *t = torch_first(h, args);
    if (tensor_count(t) != 1)
        lang_raise(h->lang, "ValueError", args->at_span,
                   "a tensor of %lld elements is not a number",
                   (long long)tensor_count(t));
    return torch_item(h, t, args->at_span);
}

// What range(x) and a list's [x] take: of one element, no float.
static Value fn_index(Host *h, const Args *args)
{
    const Tensor *t = torch_first(h, args);
    if (dtype_is_float(t->dtype) || tensor_count(t) != 1)
        lang_raise(h->lang, "TypeError", args->at_span,
                   "only integer tensors of a single element can be converted "
                   "to an index");
    return torch_item(h, t, args->at_span);
}

static Value list_level(Host *h, const Tensor *t, Span at)
{
    if (t->rank == 0)
        return torch_item(h, t, at);
    Value list = v_list(h->lang, NULL, 0);
    for (int64_t i = 0; i < t->shape[0]; i++) {
        Tensor part = tensor_select(t, 0, i);
        list_append(h->lang, list.list, list_level(h, &part, at));
    }
    return list;
}

static Value fn_tolist(Host *h, const Args *args)
{
    Tensor *t = torch_first(h, args);
    if (tensor_count(t) > 10000000)
        lang_raise(h->lang, "MemoryError", args->at_span,
                   "tolist() of %lld elements", (long long)tensor_count(t));
    return list_level(h, t, args->at_span);
}

// ---- in place ---------------------------------------------------------------

static Value fn_copy_(Host *h, const Args *args)
{
    TORCH_BIND("copy_", "input", "src", "non_blocking=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    Tensor *from = torch_tensor(h, v[1], "the source", at);
    Tensor shape = {0};
    if (!broadcast_shapes(t, from, &shape.rank, shape.shape)
        || !tensor_same_shape(&shape, t))
        lang_raise(h->lang, "RuntimeError", at,
                   "copy_(): the source does not have the tensor's shape");
    torch_will_write(h, t, at);
    torch_check_overlap(h, t, from, at);
    tensor_assign(t, from);
    return v[0];
}

static Value fill(Host *h, Value x, Value number, Span at)
{
    Tensor *t = torch_tensor(h, x, "the argument", at);
    if (tensor_of(number))
        number = torch_item(h, tensor_of(number), at);
    if (!torch_is_number(number))
        lang_raise(h->lang, "TypeError", at, "fill_() takes a number, not %s",
                   value_type_name(number));
    double f = number.kind == VAL_FLOAT ? number.f
               : number.kind == VAL_INT ? (double)number.i : number.b;
    int64_t i = number.kind == VAL_FLOAT ? (int64_t)f
                : number.kind == VAL_INT ? number.i : number.b;
    torch_will_write(h, t, at);
    tensor_assign_number(t, f, i);
    return x;
}

static Value fn_fill_(Host *h, const Args *args)
{
    TORCH_BIND("fill_", "input", "value");
    return fill(h, v[0], v[1], at);
}

static Value fn_zero_(Host *h, const Args *args)
{
    TORCH_BIND("zero_", "input");
    return fill(h, v[0], v_int(0), at);
}

const TorchRow torch_cast_rows[] = {
    TORCH_ROW(to, METHOD), TORCH_ROW(type, METHOD),
    TORCH_SAME(type_as, to, METHOD), TORCH_ROW(float, METHOD),
    TORCH_ROW(double, METHOD), TORCH_ROW(half, METHOD),
    TORCH_ROW(bfloat16, METHOD), TORCH_ROW(bool, METHOD),
    TORCH_ROW(char, METHOD), TORCH_ROW(short, METHOD), TORCH_ROW(int, METHOD),
    TORCH_ROW(long, METHOD), TORCH_ROW(byte, METHOD),
    TORCH_SAME(cpu, same, METHOD), TORCH_SAME(cuda, same, METHOD),
    TORCH_SAME(detach, same, METHOD),
    TORCH_ROW(clone, BOTH), TORCH_ROW(item, METHOD), TORCH_ROW(tolist, METHOD),
    TORCH_SAME(__float__, number, METHOD), TORCH_SAME(__int__, number, METHOD),
    TORCH_SAME(__index__, index, METHOD),
    TORCH_ROW(copy_, METHOD), TORCH_ROW(fill_, METHOD),
    TORCH_ROW(zero_, METHOD), TORCH_END,
};
