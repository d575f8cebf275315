// torch_reduce.c - sums, extremes, softmax, as torch names them.
#include "host/torch_int.h"

static bool given(Value v)
{
    return v.kind != VAL_UNBOUND && v.kind != VAL_NONE;
}

static bool flag(Host *h, Value v, Span at)
{
    return given(v) && value_truth(h->lang, v, at);
}

static Value reduce(Host *h, Value x, Reduction r, uint32_t mask, bool keep,
                    DType t, Span at)
{
    Tensor out;
    Tensor *in = torch_tensor(h, x, "the argument", at);
    return torch_result(h, tensor_reduce(&h->heap, &out, in, r, mask, keep, t),
                        out, at);
}

static DType asked_dtype(Host *h, Value v, DType fallback, Span at)
{
    return given(v) ? torch_dtype(h, value_to_dtype(h->lang, v, at)) : fallback;
}

// Integers add up in int64.
static DType sum_dtype(DType t)
{
    return dtype_is_float(t) ? t : DT_I64;
}

static Value with_dims(Host *h, const Args *args, const char *name, Reduction r)
{
    static const char *const names[] = {"input", "dim=", "keepdim=", "*",
                                        "dtype="};
    Value v[4];
    args_bind(h->lang, name, args, names, countof(names), v);
    Tensor *t = torch_tensor(h, v[0], "the argument", args->at_span);
    DType fallback = r == REDUCE_SUM || r == REDUCE_PROD ? sum_dtype(t->dtype)
                     : r == REDUCE_ANY || r == REDUCE_ALL ? DT_BOOL : t->dtype;
    DType out = asked_dtype(h, v[3], fallback, args->at_span);
    if (r == REDUCE_MEAN && !dtype_is_float(out))
        lang_raise(h->lang, "RuntimeError", args->at_span,
                   "mean() of %s: convert to a float first",
                   dtype_info(t->dtype)->name);
    bool empty = tensor_count(t) == 0
                 && (r == REDUCE_AMAX || r == REDUCE_AMIN);
    if (empty)
        lang_raise(h->lang, "RuntimeError", args->at_span,
                   "%s() of no elements", name);
    return reduce(h, v[0], r, torch_dims(h, v[1], t->rank, args->at_span),
                  flag(h, v[2], args->at_span), out, args->at_span);
}

#define REDUCTION(name, op)                                                    \
    static Value fn_##name(Host *h, const Args *args)                          \
    {                                                                          \
        return with_dims(h, args, #name, REDUCE_##op);                         \
    }
REDUCTION(sum, SUM)
REDUCTION(mean, MEAN)
REDUCTION(prod, PROD)
REDUCTION(amax, AMAX)
REDUCTION(amin, AMIN)
REDUCTION(any, ANY)
REDUCTION(all, ALL)
#undef REDUCTION

// x.max(): all elements; x.max(dim): values and indices; max(a, b): the larger.
static Value extreme(Host *h, const Args *args, bool max)
{
    static const char *const names[] = {"input", "dim=", "keepdim=", "other="};
    const char *name = max ? "max" : "min";
    Value v[4];
    Span at = args->at_span;
    args_bind(h->lang, name, args, names, countof(names), v);
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    if (tensor_of(v[1]))
        v[3] = v[1];
    if (given(v[3])) {
        bool f = dtype_is_float(torch_promote(h, v[0], v[3]));
        return torch_binary(h, max ? (f ? LANE_OP_MAXNAN : LANE_OP_MAX)
                                   : (f ? LANE_OP_MINNAN : LANE_OP_MIN),
                            v[0], v[3], DT_NONE, at);
    }
    if (tensor_count(t) == 0)
        lang_raise(h->lang, "RuntimeError", at, "%s() of no elements", name);
    Reduction r = max ? REDUCE_AMAX : REDUCE_AMIN;
    if (!given(v[1]))
        return reduce(h, v[0], r, torch_dims(h, v[1], t->rank, at), false,
                      t->dtype, at);
    uint32_t mask = t->rank ? 1u << torch_dim(h, v[1], t->rank, at) : 0;
    bool keep = flag(h, v[2], at);
    Value both[2] = {
        reduce(h, v[0], r, mask, keep, t->dtype, at),
        reduce(h, v[0], max ? REDUCE_ARGMAX : REDUCE_ARGMIN, mask, keep,
               DT_I64, at),
    };
    static const char *const fields[] = {"values", "indices"};
    return v_named_tuple(h->lang, name, fields, both, 2);
}

static Value fn_max(Host *h, const Args *args)
{
    return extreme(h, args, true);
}

static Value fn_min(Host *h, const Args *args)
{
    return extreme(h, args, false);
}

static Value arg_extreme(Host *h, const Args *args, const char *name,
                         Reduction r)
{
    static const char *const names[] = {"input", "dim=", "keepdim="};
    Value v[3];
    args_bind(h->lang, name, args, names, countof(names), v);
    Tensor *t = torch_tensor(h, v[0], "the argument", args->at_span);
    uint32_t mask = torch_dims(h, v[1], t->rank, args->at_span);
    return reduce(h, v[0], r, mask, flag(h, v[2], args->at_span), DT_I64,
                  args->at_span);
}

static Value fn_argmax(Host *h, const Args *args)
{
    return arg_extreme(h, args, "argmax", REDUCE_ARGMAX);
}

static Value fn_argmin(Host *h, const Args *args)
{
    return arg_extreme(h, args, "argmin", REDUCE_ARGMIN);
}

static Value spread(Host *h, const Args *args, const char *name, bool root)
{
    static const char *const names[] = {"input", "dim=", "unbiased=",
                                        "keepdim=", "*", "correction="};
    Value v[5];
    Span at = args->at_span;
    args_bind(h->lang, name, args, names, countof(names), v);
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    bool biased = (v[2].kind != VAL_UNBOUND && !value_truth(h->lang, v[2], at))
                  || (v[4].kind == VAL_INT && v[4].i == 0);
    Value out = reduce(h, v[0], biased ? REDUCE_VAR0 : REDUCE_VAR1,
                       torch_dims(h, v[1], t->rank, at), flag(h, v[3], at),
                       t->dtype, at);
    return root ? torch_unary(h, LANE_OP_SQRT, out, at) : out;
}

static Value fn_var(Host *h, const Args *args)
{
    return spread(h, args, "var", false);
}

static Value fn_std(Host *h, const Args *args)
{
    return spread(h, args, "std", true);
}

static Value fn_norm(Host *h, const Args *args)
{
    static const char *const names[] = {"input", "p=", "dim=", "keepdim="};
    Value v[4];
    Span at = args->at_span;
    args_bind(h->lang, "norm", args, names, countof(names), v);
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    if (given(v[1]) && !((v[1].kind == VAL_INT && v[1].i == 2)
                         || (v[1].kind == VAL_FLOAT && v[1].f == 2)
                         || v[1].kind == VAL_STR))
        lang_unsupported(h->lang, at, "norm with p other than 2");
    return reduce(h, v[0], REDUCE_NORM, torch_dims(h, v[2], t->rank, at),
                  flag(h, v[3], at), t->dtype, at);
}

// ---- rows to rows ---------------------------------------------------------------------

static Value rows(Host *h, Value x, RowOp op, Value dim, DType result, Span at)
{
    Tensor out;
    Tensor *t = torch_tensor(h, x, "the argument", at);
    if (!given(dim))
        lang_raise(h->lang, "TypeError", at, "this function needs dim=");
    int d = torch_dim(h, dim, t->rank, at);
    return torch_result(h, tensor_rows(&h->heap, &out, t, op, d, result,
                                       torch_steal(x)), out, at);
}

static Value soft(Host *h, const Args *args, const char *name, RowOp op)
{
    static const char *const names[] = {"input", "dim=", "_stacklevel=",
                                        "dtype="};
    Value v[4];
    args_bind(h->lang, name, args, names, countof(names), v);
    Tensor *t = torch_tensor(h, v[0], "the argument", args->at_span);
    DType out = asked_dtype(h, v[3], t->dtype, args->at_span);
    if (!dtype_is_float(out))
        lang_raise(h->lang, "RuntimeError", args->at_span,
                   "%s() of %s: convert to a float first", name,
                   dtype_info(out)->name);
    return rows(h, v[0], op, v[1], out, args->at_span);
}

static Value fn_softmax(Host *h, const Args *args)
{
    return soft(h, args, "softmax", ROWS_SOFTMAX);
}

static Value fn_log_softmax(Host *h, const Args *args)
{
    return soft(h, args, "log_softmax", ROWS_LOG_SOFTMAX);
}

static Value running(Host *h, const Args *args, const char *name, RowOp op)
{
    static const char *const names[] = {"input", "dim", "*", "dtype="};
    Value v[3];
    args_bind(h->lang, name, args, names, countof(names), v);
    Tensor *t = torch_tensor(h, v[0], "the argument", args->at_span);
    DType out = asked_dtype(h, v[2], sum_dtype(t->dtype), args->at_span);
    return rows(h, v[0], op, v[1], out, args->at_span);
}

static Value fn_cumsum(Host *h, const Args *args)
{
    return running(h, args, "cumsum", ROWS_CUMSUM);
}

static Value fn_cumprod(Host *h, const Args *args)
{
    return running(h, args, "cumprod", ROWS_CUMPROD);
}

// log(sum(exp(x - max))) + max
static Value fn_logsumexp(Host *h, const Args *args)
{
    static const char *const names[] = {"input", "dim", "keepdim="};
    Value v[3];
    Span at = args->at_span;
    args_bind(h->lang, "logsumexp", args, names, countof(names), v);
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    uint32_t mask = torch_dims(h, v[1], t->rank, at);
    Value max = reduce(h, v[0], REDUCE_AMAX, mask, true, t->dtype, at);
    max.foreign->bound = true;          // used twice
    Value finite = torch_elementwise(h, LANE_OP_ISFINITE, &max, 1, t->dtype,
                                     DT_BOOL, at);
    Value pick[3] = {finite, max, v_int(0)};
    Value shift = torch_elementwise(h, LANE_OP_SELECT, pick, 3, t->dtype,
                                    DT_NONE, at);
    shift.foreign->bound = true;
    Value e = torch_binary(h, LANE_OP_SUB, v[0], shift, DT_NONE, at);
    e = torch_unary(h, LANE_OP_EXP, e, at);
    e = reduce(h, e, REDUCE_SUM, mask, true, t->dtype, at);
    e = torch_unary(h, LANE_OP_LOG, e, at);
    e = torch_binary(h, LANE_OP_ADD, e, shift, DT_NONE, at);
    if (flag(h, v[2], at))
        return e;
    Tensor keep = tensor_retain(tensor_of(e));
    return tensor_value(h, tensor_squeeze(&keep, mask));
}

#define ROW(name) {#name, fn_##name, true, true}
const TorchRow torch_reduce_rows[] = {
    ROW(sum), ROW(mean), ROW(prod), ROW(amax), ROW(amin), ROW(any), ROW(all),
    ROW(max), ROW(min), ROW(argmax), ROW(argmin), ROW(var), ROW(std),
    ROW(norm), ROW(softmax), ROW(log_softmax), ROW(cumsum), ROW(cumprod),
    ROW(logsumexp), {NULL, NULL, false, false},
};
