// mod_math.c - the module math.
#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "lang/eval_int.h"

static double number(Lang *l, const Args *args, int i)
{
    Value v = args->at[i], out;
    double f;

    if (as_number(v, &f))
        return f;
    if (call_dunder(l, v, "__float__", NULL, 0, &out, args->at_span) &&
        as_number(out, &f))
        return f;
    if (v_is_device(v))
        lang_raise(l, "TypeError", args->at_span,
                   "math functions need numbers known while staging, not "
                   "device values: use T.exp, T.log2, T.ceildiv ...");
    if (v.kind == VAL_FOREIGN)
        return type_call(l, VAL_FLOAT, args).f;
    lang_raise(l, "TypeError", args->at_span, "must be real number, not %s",
               value_type_name(v));
}

// ---- functions of one number -----------------------------------------------

typedef struct {
    const char *name;
    double (*call)(double);
} Function1;

static const Function1 functions[] = {
    {"sqrt", sqrt}, {"exp", exp}, {"exp2", exp2}, {"expm1", expm1},
    {"log1p", log1p}, {"sin", sin}, {"cos", cos}, {"tan", tan},
    {"asin", asin}, {"acos", acos}, {"atan", atan}, {"sinh", sinh},
    {"cosh", cosh}, {"tanh", tanh}, {"asinh", asinh}, {"acosh", acosh},
    {"atanh", atanh}, {"fabs", fabs}, {"erf", erf}, {"erfc", erfc},
    {"gamma", tgamma}, {"lgamma", lgamma}, {"cbrt", cbrt},
};

static Value call_function1(Lang *l, void *ctx, const Args *args)
{
    const Function1 *f = ctx;
    double x, y;

    args_count(l, f->name, args, 1, 1);
    x = number(l, args, 0);
    y = f->call(x);
    if (isnan(y) && !isnan(x))
        lang_raise(l, "ValueError", args->at_span, "math domain error");
    if (isinf(y) && isfinite(x)) {
        bool pole = f->call == log1p || f->call == atanh ||
                    f->call == tgamma || f->call == lgamma;

        lang_raise(l, pole && !(f->call == tgamma && x > 0)
                          ? "ValueError" : "OverflowError", args->at_span,
                   "math %s error", pole && !(f->call == tgamma && x > 0)
                                        ? "domain" : "range");
    }
    return v_float(y);
}

// ---- logarithms ------------------------------------------------------------

static double logarithm(Lang *l, double x, double (*call)(double), Span at)
{
    if (x <= 0)
        lang_raise(l, "ValueError", at, "math domain error");
    return call(x);
}

static Value m_log(Lang *l, void *ctx, const Args *args)
{
    double x, base;

    (void)ctx;
    args_count(l, "log", args, 1, 2);
    x = logarithm(l, number(l, args, 0), log, args->at_span);
    if (args->count == 1)
        return v_float(x);
    base = logarithm(l, number(l, args, 1), log, args->at_span);
    if (base == 0)
        lang_raise(l, "ZeroDivisionError", args->at_span,
                   "float division by zero");
    return v_float(x / base);
}

static Value m_log2(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "log2", args, 1, 1);
    return v_float(logarithm(l, number(l, args, 0), log2, args->at_span));
}

static Value m_log10(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "log10", args, 1, 1);
    return v_float(logarithm(l, number(l, args, 0), log10, args->at_span));
}

// ---- functions of two numbers ----------------------------------------------

typedef struct {
    const char *name;
    double (*call)(double, double);
} Function2;

static double checked_pow(double a, double b)
{
    return pow(a, b);
}

static const Function2 functions2[] = {
    {"pow", checked_pow}, {"atan2", atan2}, {"fmod", fmod},
    {"copysign", copysign}, {"remainder", remainder},
    {"nextafter", nextafter},
};

static Value call_function2(Lang *l, void *ctx, const Args *args)
{
    const Function2 *f = ctx;
    double x, y, r;

    args_count(l, f->name, args, 2, 2);
    x = number(l, args, 0);
    y = number(l, args, 1);
    r = f->call(x, y);
    if ((isnan(r) && !isnan(x) && !isnan(y)) ||
        (f->call == checked_pow && x == 0 && y < 0 && isfinite(y)))
        lang_raise(l, "ValueError", args->at_span, "math domain error");
    if (isinf(r) && isfinite(x) && isfinite(y) && f->call != nextafter)
        lang_raise(l, "OverflowError", args->at_span, "math range error");
    return v_float(r);
}

static Value m_hypot(Lang *l, void *ctx, const Args *args)
{
    double r = 0;

    (void)ctx;
    for (int i = 0; i < args->count; i++)
        r = hypot(r, number(l, args, i));
    return v_float(r);
}

static Value m_ldexp(Lang *l, void *ctx, const Args *args)
{
    int64_t n;
    double r;

    (void)ctx;
    args_count(l, "ldexp", args, 2, 2);
    n = value_to_int(l, args->at[1], "the exponent", args->at_span);
    n = n > 5000 ? 5000 : n < -5000 ? -5000 : n;
    r = ldexp(number(l, args, 0), (int)n);
    if (isinf(r) && isfinite(number(l, args, 0)))
        lang_raise(l, "OverflowError", args->at_span, "math range error");
    return v_float(r);
}

static Value m_frexp(Lang *l, void *ctx, const Args *args)
{
    int exponent = 0;
    Value out[2];

    (void)ctx;
    args_count(l, "frexp", args, 1, 1);
    out[0] = v_float(frexp(number(l, args, 0), &exponent));
    out[1] = v_int(exponent);
    return v_tuple(l, out, 2);
}

static Value m_modf(Lang *l, void *ctx, const Args *args)
{
    double whole, part;
    Value out[2];

    (void)ctx;
    args_count(l, "modf", args, 1, 1);
    part = modf(number(l, args, 0), &whole);
    out[0] = v_float(part);
    out[1] = v_float(whole);
    return v_tuple(l, out, 2);
}

static Value m_degrees(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "degrees", args, 1, 1);
    return v_float(number(l, args, 0) * (180.0 / M_PI));
}

static Value m_radians(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "radians", args, 1, 1);
    return v_float(number(l, args, 0) * (M_PI / 180.0));
}

static Value m_ulp(Lang *l, void *ctx, const Args *args)
{
    double x;

    (void)ctx;
    args_count(l, "ulp", args, 1, 1);
    x = fabs(number(l, args, 0));
    if (!isfinite(x))
        return v_float(x);
    return v_float(x == DBL_MAX ? x - nextafter(x, 0)
                                : nextafter(x, INFINITY) - x);
}

// ---- to integers -----------------------------------------------------------

static Value to_whole(Lang *l, const char *name, double (*call)(double),
                      const Args *args)
{
    char dunder[16];
    Value out;
    int64_t i;

    args_count(l, name, args, 1, 1);
    if (as_int(args->at[0], &i))
        return v_int(i);
    snprintf(dunder, sizeof dunder, "__%s__", name);
    if (call_dunder(l, args->at[0], dunder, NULL, 0, &out, args->at_span))
        return out;
    return v_int(float_to_int(l, call(number(l, args, 0)), args->at_span));
}

static Value m_ceil(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return to_whole(l, "ceil", ceil, args);
}

static Value m_floor(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return to_whole(l, "floor", floor, args);
}

static Value m_trunc(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return to_whole(l, "trunc", trunc, args);
}

// ---- integers --------------------------------------------------------------

static int64_t whole(Lang *l, const Args *args, int i)
{
    return need_int(l, args->at[i], args->at_span);
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = b == -1 ? 0 : a % b;

        a = b;
        b = r;
    }
    return a < 0 && a != INT64_MIN ? -a : a;
}

static Value m_gcd(Lang *l, void *ctx, const Args *args)
{
    int64_t r = 0;

    (void)ctx;
    for (int i = 0; i < args->count; i++)
        r = gcd(r, whole(l, args, i));
    if (r == INT64_MIN)
        int_overflow(l, args->at_span);
    return v_int(r);
}

static Value m_lcm(Lang *l, void *ctx, const Args *args)
{
    int64_t r = 1;

    (void)ctx;
    for (int i = 0; i < args->count; i++) {
        int64_t n = whole(l, args, i);

        if (n == 0)
            return v_int(0);
        if (n == INT64_MIN ||
            __builtin_mul_overflow(r / gcd(r, n), n < 0 ? -n : n, &r))
            int_overflow(l, args->at_span);
    }
    return v_int(r);
}

static Value m_isqrt(Lang *l, void *ctx, const Args *args)
{
    int64_t n, r;

    (void)ctx;
    args_count(l, "isqrt", args, 1, 1);
    n = whole(l, args, 0);
    if (n < 0)
        lang_raise(l, "ValueError", args->at_span,
                   "isqrt() argument must be nonnegative");
    r = (int64_t)sqrt((double)n);
    while (r > 0 && r > n / r)
        r--;
    while (r + 1 <= n / (r + 1))
        r++;
    return v_int(r);
}

static Value m_factorial(Lang *l, void *ctx, const Args *args)
{
    int64_t n, r = 1;

    (void)ctx;
    args_count(l, "factorial", args, 1, 1);
    n = whole(l, args, 0);
    if (n < 0)
        lang_raise(l, "ValueError", args->at_span,
                   "factorial() not defined for negative values");
    for (int64_t i = 2; i <= n; i++)
        if (__builtin_mul_overflow(r, i, &r))
            int_overflow(l, args->at_span);
    return v_int(r);
}

// n * (n - 1) * ... of k factors, divided by k! on the way.
static Value choose(Lang *l, const char *name, const Args *args, bool ordered)
{
    int64_t n, k;
    __int128 r = 1;

    args_count(l, name, args, ordered ? 1 : 2, 2);
    n = whole(l, args, 0);
    k = args->count == 2 && args->at[1].kind != VAL_NONE ? whole(l, args, 1)
                                                         : n;
    if (n < 0 || k < 0)
        lang_raise(l, "ValueError", args->at_span,
                   "%s must be a non-negative integer", n < 0 ? "n" : "k");
    if (k > n)
        return v_int(0);
    if (!ordered && k > n - k)
        k = n - k;
    for (int64_t i = 0; i < k; i++) {
        r *= n - i;
        r = ordered ? r : r / (i + 1);
        if (r > INT64_MAX)
            int_overflow(l, args->at_span);
    }
    return v_int((int64_t)r);
}

static Value m_comb(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return choose(l, "comb", args, false);
}

static Value m_perm(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return choose(l, "perm", args, true);
}

// ---- tests -----------------------------------------------------------------

static Value m_isnan(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "isnan", args, 1, 1);
    return v_bool(isnan(number(l, args, 0)));
}

static Value m_isinf(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "isinf", args, 1, 1);
    return v_bool(isinf(number(l, args, 0)));
}

static Value m_isfinite(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "isfinite", args, 1, 1);
    return v_bool(isfinite(number(l, args, 0)));
}

static Value m_isclose(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"a", "b", "*", "rel_tol=", "abs_tol="};
    Value in[4];
    double a, b, rel = 1e-9, abs_tol = 0, d;

    (void)ctx;
    args_bind(l, "isclose", args, names, 5, in);
    a = value_to_float(l, in[0], "a", args->at_span);
    b = value_to_float(l, in[1], "b", args->at_span);
    if (in[2].kind != VAL_UNBOUND)
        rel = value_to_float(l, in[2], "rel_tol", args->at_span);
    if (in[3].kind != VAL_UNBOUND)
        abs_tol = value_to_float(l, in[3], "abs_tol", args->at_span);
    if (a == b)
        return v_bool(true);
    if (isinf(a) || isinf(b))
        return v_bool(false);
    d = fabs(a - b);
    return v_bool(d <= fabs(rel * b) || d <= fabs(rel * a) || d <= abs_tol);
}

// ---- folds -----------------------------------------------------------------

static Value m_prod(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"iterable", "*", "start="};
    Value in[2], r;
    List *items;

    (void)ctx;
    args_bind(l, "prod", args, names, 3, in);
    items = value_to_list(l, in[0], args->at_span);
    r = in[1].kind == VAL_UNBOUND ? v_int(1) : in[1];
    lang_pin(l, v_of_list(items));
    for (int i = 0; i < items->len; i++)
        r = binary_op(l, AST_OP_MUL, r, items->at[i], args->at_span);
    return r;
}

// Exact partial sums that do not overlap (Shewchuk), added up at the end from
// the largest, with half-way cases rounded by what lies below.
static double add_partials(const double *p, int n)
{
    double high, low = 0;

    if (n == 0)
        return 0;
    high = p[--n];
    while (n > 0) {
        double x = high, y = p[--n];

        high = x + y;
        low = y - (high - x);
        if (low != 0)
            break;
    }
    if (n > 0 && ((low < 0 && p[n - 1] < 0) || (low > 0 && p[n - 1] > 0))) {
        double twice = low * 2, x = high + twice;

        if (twice == x - high)
            high = x;
    }
    return high;
}

static int add_exactly(double *p, int n, double x)
{
    int kept = 0;

    for (int i = 0; i < n; i++) {
        double y = p[i], high, low;

        if (fabs(x) < fabs(y)) {
            double swap = x;

            x = y;
            y = swap;
        }
        high = x + y;
        low = y - (high - x);
        if (low != 0)
            p[kept++] = low;
        x = high;
    }
    p[kept++] = x;
    return kept;
}

static Value m_fsum(Lang *l, void *ctx, const Args *args)
{
    enum { MOST = 64 };                         // doubles span 2100 bits
    double partials[MOST], special = 0;
    List *items;
    int n = 0;

    (void)ctx;
    args_count(l, "fsum", args, 1, 1);
    items = value_to_list(l, args->at[0], args->at_span);
    for (int i = 0; i < items->len; i++) {
        double x = value_to_float(l, items->at[i], "an item", args->at_span);

        if (!isfinite(x))
            special += x;
        else if (n < MOST - 1)
            n = add_exactly(partials, n, x);
    }
    return v_float(special != 0 ? special : add_partials(partials, n));
}

static Value m_dist(Lang *l, void *ctx, const Args *args)
{
    double r = 0;
    List *p, *q;

    (void)ctx;
    args_count(l, "dist", args, 2, 2);
    p = value_to_list(l, args->at[0], args->at_span);
    q = value_to_list(l, args->at[1], args->at_span);
    if (p->len != q->len)
        lang_raise(l, "ValueError", args->at_span, "both points must have "
                   "the same number of dimensions");
    for (int i = 0; i < p->len; i++)
        r = hypot(r, value_to_float(l, p->at[i], "p", args->at_span) -
                         value_to_float(l, q->at[i], "q", args->at_span));
    return v_float(r);
}

void fill_math(Lang *l, Module *m)
{
    static const struct {
        const char *name;
        Value (*call)(Lang *, void *, const Args *);
    } table[] = {
        {"log", m_log}, {"log2", m_log2}, {"log10", m_log10},
        {"hypot", m_hypot}, {"ldexp", m_ldexp}, {"frexp", m_frexp},
        {"modf", m_modf}, {"degrees", m_degrees}, {"radians", m_radians},
        {"ulp", m_ulp}, {"ceil", m_ceil}, {"floor", m_floor},
        {"trunc", m_trunc}, {"gcd", m_gcd}, {"lcm", m_lcm},
        {"isqrt", m_isqrt}, {"factorial", m_factorial}, {"comb", m_comb},
        {"perm", m_perm}, {"isnan", m_isnan}, {"isinf", m_isinf},
        {"isfinite", m_isfinite}, {"isclose", m_isclose}, {"prod", m_prod},
        {"fsum", m_fsum}, {"dist", m_dist},
    };

    for (size_t i = 0; i < countof(table); i++)
        module_set(l, m, table[i].name,
                   v_builtin(l, table[i].name, table[i].call, NULL));
    for (size_t i = 0; i < countof(functions); i++)
        module_set(l, m, functions[i].name,
                   v_builtin(l, functions[i].name, call_function1,
                             (void *)&functions[i]));
    for (size_t i = 0; i < countof(functions2); i++)
        module_set(l, m, functions2[i].name,
                   v_builtin(l, functions2[i].name, call_function2,
                             (void *)&functions2[i]));
    module_set(l, m, "pi", v_float(M_PI));
    module_set(l, m, "e", v_float(M_E));
    module_set(l, m, "tau", v_float(2 * M_PI));
    module_set(l, m, "inf", v_float(INFINITY));
    module_set(l, m, "nan", v_float(NAN));
}
