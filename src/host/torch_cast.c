// torch_cast.c - conversions of tensors: dtypes, Python numbers, copies.
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

// Elements as dtype t; the tensor itself when it has it already.
static Value cast(Host *h, Value v, DType t, Span at)
{
    Tensor *x = tensor_of(v), out;
    t = torch_dtype(h, t);
    if (!dtype_info(t)->built)
        lang_unsupported(h->lang, at, "tensors of dtype %s",
                         dtype_info(t)->name);
    if (x->dtype == t)
        return v;
    return torch_result(h, tensor_cast(&out, x, t, false), out, at);
}

static bool is_dtype(Host *h, Value v)
{
    DType t;
    (void)h;
    return v.kind == VAL_DTYPE || v.kind == VAL_TYPE
           || (v.kind == VAL_STR && dtype_find(v.s, &t));
}

// x.to(dtype), x.to("cuda"), x.to(device, dtype), x.to(other), dtype=
static Value fn_to(Host *h, const Args *args)
{
    Value v = args->at[0];
    first(h, args);
    for (int i = 1; i < args->count; i++) {
        Tensor *other = tensor_of(args->at[i]);
        if (other)
            v = cast(h, v, other->dtype, args->at_span);
        else if (is_dtype(h, args->at[i]))
            v = cast(h, v, value_to_dtype(h->lang, args->at[i], args->at_span),
                     args->at_span);
    }
    for (int i = 0; i < args->keyword_count; i++)
        if (text_is(args->names[i], "dtype") && given(args->values[i]))
            v = cast(h, v, value_to_dtype(h->lang, args->values[i],
                                          args->at_span), args->at_span);
    return v;
}

#define CAST(name, type)                                                       \
    static Value fn_##name(Host *h, const Args *args)                          \
    {                                                                          \
        first(h, args);                                                        \
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
    first(h, args);
    return args->at[0];
}

static Value fn_clone(Host *h, const Args *args)
{
    Tensor *t = first(h, args), out;
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
    return torch_item(h, first(h, args), args->at_span);
}

static Value list_level(Host *h, const Tensor *t, Span at)
{
    if (t->rank == 0)
        return torch_item(h, t, at);
    Value list = v_list(h->lang, NULL, 0);
    for (int64_t i = 0; i < t->shape[0]; i++) {
        Tensor part = *t;
        part.offset += i * part.strides[0];
        part.shape[0] = 1;
        part = tensor_squeeze(&part, 1);
        list_append(h->lang, list.list, list_level(h, &part, at));
    }
    return list;
}

static Value fn_tolist(Host *h, const Args *args)
{
    Tensor *t = first(h, args);
    if (tensor_count(t) > 10000000)
        lang_raise(h->lang, "MemoryError", args->at_span,
                   "tolist() of %lld elements", (long long)tensor_count(t));
    return list_level(h, t, args->at_span);
}

// The right side of copy_ and fill_: broadcast by the assignment.
static Value fn_copy(Host *h, const Args *args)
{
    first(h, args);
    if (args->count < 2)
        lang_raise(h->lang, "TypeError", args->at_span, "copy_() of what?");
    torch_tensor(h, args->at[1], "the source", args->at_span);
    return args->at[1];
}

static Value filled(Host *h, const Args *args, Value v)
{
    Tensor *t = first(h, args), out;
    Operand o = torch_operand(h, v, args->at_span);
    if (!tensor_new(&h->heap, &out, t->dtype, 0, NULL))
        torch_no_memory(h, args->at_span);
    tensor_fill_f64(&out, o.f64);
    return tensor_value(h, out);
}

static Value fn_fill(Host *h, const Args *args)
{
    if (args->count < 2)
        lang_raise(h->lang, "TypeError", args->at_span, "fill_() with what?");
    return filled(h, args, args->at[1]);
}

static Value fn_zero(Host *h, const Args *args)
{
    return filled(h, args, v_int(0));
}

#define METHOD(name) {#name, fn_##name, true, false}
#define SAME(name) {#name, fn_same, true, false}
const TorchRow torch_cast_rows[] = {
    METHOD(to), {"type", fn_to, true, false}, {"type_as", fn_to, true, false},
    METHOD(float), METHOD(double), METHOD(half), METHOD(bfloat16),
    METHOD(bool), METHOD(char), METHOD(short), METHOD(int), METHOD(long),
    METHOD(byte), SAME(cpu), SAME(cuda), SAME(detach), SAME(requires_grad_),
    {"clone", fn_clone, true, true}, METHOD(item), METHOD(tolist),
    {"copy", fn_copy, true, false}, {"fill", fn_fill, true, false},
    {"zero", fn_zero, true, false}, {NULL, NULL, false, false},
};
