// torch_reduce.c - sums, extremes and their kind, as torch names them.
#include <math.h>

#include "host/torch_int.h"

Value torch_reduce(Host *h, Value x, Reduction r, uint32_t mask, bool keep,
                   DType t, Span at)
{
    Tensor out;
    Tensor *in = torch_tensor(h, x, "the argument", at);
    return torch_result(h, tensor_reduce(&h->heap, &out, in, r, mask, keep, t),
                        out, at);
}

// Integers add up in int64.
static DType sum_dtype(DType t)
{
    return dtype_is_float(t) ? t : DT_I64;
}

// torch converts to `dtype` first: it shows where that cuts fractions off.
static Value converted(Host *h, Value x, DType to, Span at)
{
    bool cuts = dtype_is_float(tensor_of(x)->dtype) && !dtype_is_float(to);
    return cuts ? torch_cast(h, x, to, at) : x;
}

static bool is_sum(Reduction r)
{
    return r == REDUCE_SUM || r == REDUCE_PROD;
}

static void no_elements(Host *h, const Tensor *t, uint32_t mask, bool asked,
                        const char *name, Span at)
{
    for (int d = 0; d < t->rank; d++)
        if ((mask >> d & 1) && t->shape[d] == 0)
            lang_raise(h->lang, asked ? "IndexError" : "RuntimeError", at,
                       "%s() of no elements: dimension %d has size 0", name, d);
}

static Value with_dims(Host *h, const Args *args, const char *name, Reduction r)
{
    TORCH_BIND(name, "input", "dim=", "keepdim=", "*", "dtype=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    bool logic = r == REDUCE_ANY || r == REDUCE_ALL;
    DType fallback = is_sum(r) ? sum_dtype(t->dtype)
                     : logic && t->dtype != DT_U8 ? DT_BOOL : t->dtype;
    DType out = torch_asked_dtype(h, v[3], fallback, at);
    uint32_t mask = torch_dims(h, v[1], t->rank, at);
    if (r == REDUCE_MEAN && !dtype_is_float(out))
        lang_raise(h->lang, "RuntimeError", at,
                   "mean() of %s: convert to a float first",
                   dtype_info(t->dtype)->name);
    if (r == REDUCE_AMAX || r == REDUCE_AMIN)
        no_elements(h, t, mask, torch_given(v[1]), name, at);
    return torch_reduce(h, converted(h, v[0], out, at), r, mask,
                        torch_flag(h, v[2], false, at), out, at);
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

static Value fn_count_nonzero(Host *h, const Args *args)
{
    TORCH_BIND("count_nonzero", "input", "dim=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    return torch_reduce(h, v[0], REDUCE_COUNT,
                        torch_dims(h, v[1], t->rank, at), false, DT_I64, at);
}

// x.max(): all elements; x.max(dim): values and indices; max(a, b): the larger.
static Value extreme(Host *h, const Args *args, bool max)
{
    const char *name = max ? "max" : "min";
    TORCH_BIND(name, "input", "dim=", "keepdim=", "other=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    if (tensor_of(v[1]))
        v[3] = v[1];
    if (torch_given(v[3]))
        return torch_extreme(h, v[0], v[3], max, at);
    Reduction r = max ? REDUCE_AMAX : REDUCE_AMIN;
    uint32_t mask = torch_dims(h, V_NONE, t->rank, at);
    if (torch_given(v[1]))
        mask = t->rank ? 1u << torch_dim(h, v[1], t->rank, at) : 0;
    no_elements(h, t, mask, torch_given(v[1]), name, at);
    if (!torch_given(v[1]))
        return torch_reduce(h, v[0], r, mask, false, t->dtype, at);
    bool keep = torch_flag(h, v[2], false, at);
    Value both[2] = {
        torch_reduce(h, v[0], r, mask, keep, t->dtype, at),
        torch_reduce(h, v[0], max ? REDUCE_ARGMAX : REDUCE_ARGMIN, mask, keep,
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

static Value fn_aminmax(Host *h, const Args *args)
{
    TORCH_BIND("aminmax", "input", "*", "dim=", "keepdim=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    uint32_t mask = torch_dims(h, v[1], t->rank, at);
    bool keep = torch_flag(h, v[2], false, at);
    no_elements(h, t, mask, torch_given(v[1]), "aminmax", at);
    Value both[2] = {
        torch_reduce(h, v[0], REDUCE_AMIN, mask, keep, t->dtype, at),
        torch_reduce(h, v[0], REDUCE_AMAX, mask, keep, t->dtype, at),
    };
    static const char *const fields[] = {"min", "max"};
    return v_named_tuple(h->lang, "aminmax", fields, both, 2);
}

static Value arg_extreme(Host *h, const Args *args, const char *name,
                         Reduction r)
{
    TORCH_BIND(name, "input", "dim=", "keepdim=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    if (t->dtype == DT_BOOL)
        lang_raise(h->lang, "RuntimeError", at, "%s() is not there for bool",
                   name);
    uint32_t mask = torch_dims(h, V_NONE, t->rank, at);
    if (torch_given(v[1]))
        mask = t->rank ? 1u << torch_dim(h, v[1], t->rank, at) : 0;
    no_elements(h, t, mask, true, name, at);
    return torch_reduce(h, v[0], r, mask, torch_flag(h, v[2], false, at),
                        DT_I64, at);
}

static Value fn_argmax(Host *h, const Args *args)
{
    return arg_extreme(h, args, "argmax", REDUCE_ARGMAX);
}

static Value fn_argmin(Host *h, const Args *args)
{
    return arg_extreme(h, args, "argmin", REDUCE_ARGMIN);
}

static DType float_only(Host *h, const Tensor *t, const char *name, Span at)
{
    if (!dtype_is_float(t->dtype))
        lang_raise(h->lang, "RuntimeError", at, "%s() takes floats, not %s",
                   name, dtype_info(t->dtype)->name);
    return t->dtype;
}

// var(x), var(x, dim, unbiased, keepdim), var(x, unbiased), correction=
static Value spread(Host *h, const Args *args, const char *name, bool root)
{
    TORCH_BIND(name, "input", "dim=", "unbiased=", "keepdim=", "*",
               "correction=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    DType type = float_only(h, t, name, at);
    if (v[1].kind == VAL_BOOL) {
        v[2] = v[1];
        v[1] = V_NONE;
    }
    int64_t off = torch_int(h, v[4], "correction",
                            torch_flag(h, v[2], true, at), at);
    if (off != 0 && off != 1)
        lang_unsupported(h->lang, at, "%s() with correction %lld", name,
                         (long long)off);
    DType w = root ? TORCH_WIDE : type;
    Value out = torch_reduce(h, v[0], off ? REDUCE_VAR1 : REDUCE_VAR0,
                             torch_dims(h, v[1], t->rank, at),
                             torch_flag(h, v[3], false, at), w, at);
    if (root)
        out = torch_elementwise(h, LANE_OP_SQRT, &out, 1, w, type, at);
    return out;
}

static Value fn_var(Host *h, const Args *args)
{
    return spread(h, args, "var", false);
}

static Value fn_std(Host *h, const Args *args)
{
    return spread(h, args, "std", true);
}

static double power_of(Host *h, Value v, Span at)
{
    if (!torch_given(v) || (v.kind == VAL_STR && text_is(v.s, "fro")))
        return 2;
    double p = value_to_float(h->lang, v, "p", at);
    if (p != 1 && p != 2 && !(isinf(p) && p > 0))
        lang_unsupported(h->lang, at, "norm() with p = %g", p);
    return p;
}

static Value norm_of(Host *h, Value x, Value p, Value dim, Value keep, Span at)
{
    Tensor *t = torch_tensor(h, x, "the argument", at), out;
    float_only(h, t, "norm", at);
    bool ok = tensor_norm(&h->heap, &out, t, REDUCE_NORM,
                          torch_dims(h, dim, t->rank, at),
                          torch_flag(h, keep, false, at), t->dtype,
                          power_of(h, p, at));
    return torch_result(h, ok, out, at);
}

static Value fn_norm(Host *h, const Args *args)
{
    TORCH_BIND("norm", "input", "p=", "dim=", "keepdim=");
    return norm_of(h, v[0], v[1], v[2], v[3], at);
}

static Value fn_logsumexp(Host *h, const Args *args)
{
    TORCH_BIND("logsumexp", "input", "dim", "keepdim=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    DType out = dtype_is_float(t->dtype) ? t->dtype : torch_float(h);
    return torch_reduce(h, v[0], REDUCE_LOGSUMEXP,
                        torch_dims(h, v[1], t->rank, at),
                        torch_flag(h, v[2], false, at), out, at);
}

const TorchRow torch_reduce_rows[] = {
    TORCH_ROW(sum, BOTH), TORCH_ROW(mean, BOTH), TORCH_ROW(prod, BOTH),
    TORCH_ROW(amax, BOTH), TORCH_ROW(amin, BOTH), TORCH_ROW(any, BOTH),
    TORCH_ROW(all, BOTH), TORCH_ROW(count_nonzero, BOTH),
    TORCH_ROW(max, BOTH), TORCH_ROW(min, BOTH), TORCH_ROW(aminmax, BOTH),
    TORCH_ROW(argmax, BOTH), TORCH_ROW(argmin, BOTH), TORCH_ROW(var, BOTH),
    TORCH_ROW(std, BOTH), TORCH_ROW(norm, BOTH), TORCH_ROW(logsumexp, BOTH),
    TORCH_END,
};
