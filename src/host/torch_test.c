// torch_test.c - comparisons of whole tensors: equal, allclose, assert_close.
#include <math.h>

#include "host/torch_int.h"

static double number(Lang *l, Value v, double fallback, Span at)
{
    return torch_given(v) ? value_to_float(l, v, "a tolerance", at) : fallback;
}

static bool close_enough(double a, double b, double rtol, double atol,
                         bool equal_nan)
{
    if (isnan(a) || isnan(b))
        return equal_nan && isnan(a) && isnan(b);
    if (isinf(a) || isinf(b))
        return a == b;
    return fabs(a - b) <= atol + rtol * fabs(b);
}

// Integers beyond 2^53 are equal or not; no tolerance is that fine.
static bool close_ints(int64_t a, int64_t b, double rtol, double atol)
{
    return a == b || (double)(a > b ? (uint64_t)a - (uint64_t)b
                                    : (uint64_t)b - (uint64_t)a)
                         <= atol + rtol * fabs((double)b);
}

// Elements that differ by more than atol + rtol |b|; the worst difference.
static int64_t torch_differing(Host *h, const Tensor *a, const Tensor *b,
                               double rtol, double atol, bool equal_nan,
                               double *worst, Span at)
{
    Tensor x = {0}, y = {0};
    bool ints = !dtype_is_float(a->dtype) && !dtype_is_float(b->dtype);
    DType t = ints ? DT_I64 : DT_F64;
    int64_t bad = 0, n = tensor_count(a);
    if (!tensor_cast(&x, a, t, true) || !tensor_cast(&y, b, t, true)) {
        tensor_release(&x);
        torch_no_memory(h, at);
    }
    const double *p = tensor_data(&x), *q = tensor_data(&y);
    const int64_t *i = tensor_data(&x), *j = tensor_data(&y);
    *worst = 0;
    for (int64_t k = 0; k < n; k++) {
        if (ints ? close_ints(i[k], j[k], rtol, atol)
                 : close_enough(p[k], q[k], rtol, atol, equal_nan))
            continue;
        bad++;
        *worst = fmax(*worst, ints ? fabs((double)i[k] - (double)j[k])
                                   : fabs(p[k] - q[k]));
    }
    tensor_release(&x);
    tensor_release(&y);
    return bad;
}

// ---- answers ----------------------------------------------------------------

static Value fn_equal(Host *h, const Args *args)
{
    TORCH_BIND("equal", "input", "other");
    Tensor *a = torch_tensor(h, v[0], "input", at);
    Tensor *b = torch_tensor(h, v[1], "other", at);
    double worst;
    return v_bool(tensor_same_shape(a, b)
                  && !torch_differing(h, a, b, 0, 0, false, &worst, at));
}

static Value fn_allclose(Host *h, const Args *args)
{
    TORCH_BIND("allclose", "input", "other", "rtol=", "atol=", "equal_nan=");
    Tensor shape = {0}, *a = torch_tensor(h, v[0], "input", at);
    Tensor *b = torch_tensor(h, v[1], "other", at);
    double worst;
    if (!broadcast_shapes(a, b, &shape.rank, shape.shape))
        lang_raise(h->lang, "RuntimeError", at,
                   "allclose(): the shapes do not fit together");
    Tensor x = tensor_expand(a, shape.rank, shape.shape);
    Tensor y = tensor_expand(b, shape.rank, shape.shape);
    return v_bool(!torch_differing(h, &x, &y, number(h->lang, v[2], 1e-5, at),
                                   number(h->lang, v[3], 1e-8, at),
                                   torch_flag(h, v[4], false, at), &worst, at));
}

// |a - b| <= atol + rtol |b|, elementwise.
static Value fn_isclose(Host *h, const Args *args)
{
    TORCH_BIND("isclose", "input", "other", "rtol=", "atol=", "equal_nan=");
    Tensor *a = torch_tensor(h, v[0], "input", at);
    Tensor *b = torch_tensor(h, v[1], "other", at), shape = {0}, out;
    double rtol = number(h->lang, v[2], 1e-5, at);
    double atol = number(h->lang, v[3], 1e-8, at);
    bool nan = torch_flag(h, v[4], false, at);
    Tensor x, y;
    if (!broadcast_shapes(a, b, &shape.rank, shape.shape))
        lang_raise(h->lang, "RuntimeError", at,
                   "isclose(): the shapes do not fit together");
    Tensor wide[2] = {tensor_expand(a, shape.rank, shape.shape),
                      tensor_expand(b, shape.rank, shape.shape)};
    if (!tensor_cast(&x, &wide[0], DT_F64, true)
        || !tensor_cast(&y, &wide[1], DT_F64, true)
        || !tensor_new_raw(&h->heap, &out, DT_BOOL, shape.rank, shape.shape))
        torch_no_memory(h, at);
    uint8_t *to = tensor_data(&out);
    const double *p = tensor_data(&x), *q = tensor_data(&y);
    for (int64_t i = 0; i < tensor_count(&out); i++)
        to[i] = close_enough(p[i], q[i], rtol, atol, nan);
    tensor_release(&x);
    tensor_release(&y);
    return tensor_value(h, out);
}

// ---- torch.testing ----------------------------------------------------------

// torch's own defaults, by dtype.
static void default_tolerance(DType t, double *rtol, double *atol)
{
    *atol = t == DT_F64 ? 1e-7 : 1e-5;
    *rtol = t == DT_F64 ? 1e-7 : t == DT_F32 ? 1.3e-6
            : t == DT_F16 ? 1e-3 : t == DT_BF16 ? 1.6e-2 : 0;
    if (!dtype_is_float(t))
        *atol = *rtol = 0;
}

// The looser of the two tensors' tolerances.
static void tolerances(Lang *l, const Tensor *a, const Tensor *b, Value rtol,
                       Value atol, double out[2], Span at)
{
    double x[2], y[2];
    default_tolerance(a->dtype, &x[0], &x[1]);
    default_tolerance(b->dtype, &y[0], &y[1]);
    if (torch_given(rtol) != torch_given(atol))
        lang_raise(l, "ValueError", at,
                   "rtol and atol must be given both or not at all");
    out[0] = number(l, rtol, fmax(x[0], y[0]), at);
    out[1] = number(l, atol, fmax(x[1], y[1]), at);
}

static Value as_tensor(Host *h, Value v, Span at)
{
    if (tensor_of(v) || !(torch_is_number(v) || torch_is_list(v)))
        return v;
    return torch_from_list(h, v, (Value){.kind = VAL_UNBOUND}, at);
}

static Value assert_close(Lang *l, void *ctx, const Args *args)
{
    Host *h = ctx;
    TORCH_BIND("assert_close", "actual", "expected", "*", "rtol=", "atol=",
               "equal_nan=", "msg=", "check_dtype=", "check_device=",
               "check_layout=", "check_stride=", "allow_subclasses=");
    Value x = as_tensor(h, v[0], at), y = as_tensor(h, v[1], at);
    Tensor *a = torch_tensor(h, x, "actual", at);
    Tensor *b = torch_tensor(h, y, "expected", at);
    double tol[2], worst;
    if (!tensor_same_shape(a, b))
        lang_raise_exit(l, EXIT_FINDINGS, "AssertionError", at,
                        "the tensors have different shapes");
    if (torch_flag(h, v[6], true, at) && a->dtype != b->dtype)
        lang_raise_exit(l, EXIT_FINDINGS, "AssertionError", at,
                        "the tensors are %s and %s",
                        dtype_info(a->dtype)->name, dtype_info(b->dtype)->name);
    tolerances(l, a, b, v[2], v[3], tol, at);
    int64_t bad = torch_differing(h, a, b, tol[0], tol[1],
                                  torch_flag(h, v[4], false, at), &worst, at);
    if (bad)
        lang_raise_exit(l, EXIT_FINDINGS, "AssertionError", at,
                        "%lld of %lld elements differ by more than rtol %g, "
                        "atol %g; the largest difference is %g",
                        (long long)bad, (long long)tensor_count(a), tol[0],
                        tol[1], worst);
    lang_checked(l);
    return V_NONE;
}

void torch_testing_fill(Host *h, Module *m)
{
    module_set(h->lang, m, "assert_close",
               v_builtin(h->lang, "assert_close", assert_close, h));
}

const TorchRow torch_test_rows[] = {
    TORCH_ROW(equal, BOTH), TORCH_ROW(allclose, BOTH),
    TORCH_ROW(isclose, BOTH), TORCH_END,
};
