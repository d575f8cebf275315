// number.c - Python's arithmetic on int and float.
//
// An int is 64 bits; what does not fit is an OverflowError, never a wrong
// number. Everything else (floor division, modulo, powers, mixed comparison)
// has Python's results.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/eval_int.h"

_Noreturn void int_overflow(Lang *l, Span at)
{
    lang_raise(l, "OverflowError", at,
               "integer overflow: the result does not fit 64 bits");
}

// ---- integers --------------------------------------------------------------

static Value int_floordiv(Lang *l, int64_t a, int64_t b, Span at)
{
    int64_t q;

    if (b == 0)
        lang_raise(l, "ZeroDivisionError", at,
                   "integer division or modulo by zero");
    if (b == -1 && a == INT64_MIN)
        int_overflow(l, at);
    q = a / b;
    return v_int(q - (a % b != 0 && (a < 0) != (b < 0)));
}

static Value int_mod(Lang *l, int64_t a, int64_t b, Span at)
{
    int64_t r;

    if (b == 0)
        lang_raise(l, "ZeroDivisionError", at, "integer modulo by zero");
    if (b == -1)
        return v_int(0);
    r = a % b;
    return v_int(r != 0 && (r < 0) != (b < 0) ? r + b : r);
}

static uint64_t magnitude(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

// a / b with one rounding: a quotient of at least 55 bits whose lowest bit
// remembers the remainder.
static Value int_truediv(Lang *l, int64_t a, int64_t b, Span at)
{
    const int64_t exact = INT64_C(1) << 53;
    unsigned __int128 n = magnitude(a), q;
    uint64_t d = magnitude(b);
    double f;
    int shift;

    if (b == 0)
        lang_raise(l, "ZeroDivisionError", at, "division by zero");
    if (a > -exact && a < exact && b > -exact && b < exact)
        return v_float((double)a / (double)b);
    if (a == 0)
        return v_float(0);
    shift = 63 + __builtin_clzll((uint64_t)n);
    n <<= shift;
    q = n / d;
    q |= n % d != 0;
    f = ldexp((double)q, -shift);
    return v_float((a < 0) != (b < 0) ? -f : f);
}

static Value int_shift(Lang *l, AstOp op, int64_t a, int64_t n, Span at)
{
    if (n < 0)
        lang_raise(l, "ValueError", at, "negative shift count");
    if (op == AST_OP_SHR)
        return v_int(a >> (n > 63 ? 63 : n));
    if (a == 0)
        return v_int(0);
    if (n > 63 || a > INT64_MAX >> n || a < INT64_MIN >> n)
        int_overflow(l, at);
    return v_int((int64_t)((uint64_t)a << n));
}

static Value int_power(Lang *l, int64_t a, int64_t n, Span at)
{
    int64_t r = 1;

    while (n) {
        if (n & 1 && __builtin_mul_overflow(r, a, &r))
            int_overflow(l, at);
        n >>= 1;
        if (n && __builtin_mul_overflow(a, a, &a))
            int_overflow(l, at);
    }
    return v_int(r);
}

Value int_power_mod(Lang *l, int64_t a, int64_t n, int64_t m, Span at)
{
    __int128 r = 1, base;

    if (m == 0)
        lang_raise(l, "ValueError", at, "pow() 3rd argument cannot be 0");
    if (n < 0)
        lang_unsupported(l, at, "pow() with a modulus and a negative exponent");
    base = int_mod(l, a, m, at).i;
    for (; n; n >>= 1) {
        if (n & 1)
            r = r * base % m;
        base = base * base % m;
    }
    return int_mod(l, (int64_t)(r % m), m, at);
}

static Value int_binary(Lang *l, AstOp op, int64_t a, int64_t b, Span at)
{
    int64_t r = 0;
    bool over = false;

    switch (op) {
    case AST_OP_ADD:
        over = __builtin_add_overflow(a, b, &r);
        break;
    case AST_OP_SUB:
        over = __builtin_sub_overflow(a, b, &r);
        break;
    case AST_OP_MUL:
        over = __builtin_mul_overflow(a, b, &r);
        break;
    case AST_OP_DIV:
        return int_truediv(l, a, b, at);
    case AST_OP_FLOORDIV:
        return int_floordiv(l, a, b, at);
    case AST_OP_MOD:
        return int_mod(l, a, b, at);
    case AST_OP_SHL:
    case AST_OP_SHR:
        return int_shift(l, op, a, b, at);
    case AST_OP_AND:
        return v_int(a & b);
    case AST_OP_OR:
        return v_int(a | b);
    case AST_OP_XOR:
        return v_int(a ^ b);
    default:
        return (Value){.kind = VAL_UNBOUND};
    }
    if (over)
        int_overflow(l, at);
    return v_int(r);
}

// ---- floats ----------------------------------------------------------------

static double float_mod(double a, double b)
{
    double r = fmod(a, b);

    if (r == 0)
        return copysign(0, b);
    return (r < 0) != (b < 0) ? r + b : r;
}

static double float_floordiv(double a, double b)
{
    double r = fmod(a, b), q = (a - r) / b, whole;

    if (r != 0 && (r < 0) != (b < 0))
        q -= 1;
    if (q == 0)
        return copysign(0, a / b);
    whole = floor(q);
    return q - whole > 0.5 ? whole + 1 : whole;
}

static void divisor_check(Lang *l, AstOp op, double b, Span at)
{
    if (b == 0)
        lang_raise(l, "ZeroDivisionError", at, "%s",
                   op == AST_OP_DIV ? "float division by zero"
                   : op == AST_OP_MOD ? "float modulo"
                                      : "float floor division by zero");
}

static Value float_binary(Lang *l, AstOp op, double a, double b, Span at)
{
    switch (op) {
    case AST_OP_ADD:
        return v_float(a + b);
    case AST_OP_SUB:
        return v_float(a - b);
    case AST_OP_MUL:
        return v_float(a * b);
    case AST_OP_DIV:
        divisor_check(l, op, b, at);
        return v_float(a / b);
    case AST_OP_FLOORDIV:
        divisor_check(l, op, b, at);
        return v_float(float_floordiv(a, b));
    case AST_OP_MOD:
        divisor_check(l, op, b, at);
        return v_float(float_mod(a, b));
    default:
        return (Value){.kind = VAL_UNBOUND};
    }
}

static Value float_power(Lang *l, double a, double b, Span at)
{
    double r;

    if (a == 0 && b < 0)
        lang_raise(l, "ZeroDivisionError", at,
                   "0.0 cannot be raised to a negative power");
    if (a < 0 && isfinite(a) && isfinite(b) && b != floor(b))
        lang_unsupported(l, at, "a complex number (a negative number raised "
                                "to a fraction)");
    r = pow(a, b);
    if (isinf(r) && isfinite(a) && isfinite(b))
        lang_raise(l, "OverflowError", at,
                   "(34, 'Numerical result out of range')");
    return v_float(r);
}

static Value number_power(Lang *l, Value a, Value b, Span at)
{
    int64_t i, n;
    double x, y;

    if (as_int(a, &i) && as_int(b, &n) && n >= 0)
        return int_power(l, i, n, at);
    if (as_number(a, &x) && as_number(b, &y))
        return float_power(l, x, y, at);
    return (Value){.kind = VAL_UNBOUND};
}

static bool is_bit_op(AstOp op)
{
    return op == AST_OP_AND || op == AST_OP_OR || op == AST_OP_XOR;
}

Value number_binary(Lang *l, AstOp op, Value a, Value b, Span at)
{
    int64_t i, k;
    double x, y;

    if (a.kind == VAL_INT && b.kind == VAL_INT && op != AST_OP_POW)
        return int_binary(l, op, a.i, b.i, at);
    if (op == AST_OP_POW)
        return number_power(l, a, b, at);
    if (a.kind == VAL_BOOL && b.kind == VAL_BOOL && is_bit_op(op))
        return v_bool(int_binary(l, op, a.b, b.b, at).i != 0);
    if (as_int(a, &i) && as_int(b, &k))
        return int_binary(l, op, i, k, at);
    if (as_number(a, &x) && as_number(b, &y))
        return float_binary(l, op, x, y, at);
    return (Value){.kind = VAL_UNBOUND};
}

// ---- comparison, exact between int and float -------------------------------

static int compare_int_float(int64_t i, double f)
{
    double whole;

    if (isnan(f))
        return 2;
    if (f >= 0x1p63)
        return -1;
    if (f < -0x1p63)
        return 1;
    whole = floor(f);
    if (i != (int64_t)whole)
        return i < (int64_t)whole ? -1 : 1;
    return f > whole ? -1 : 0;
}

int number_compare(Value a, Value b)
{
    int64_t i = 0, k = 0;
    bool whole_a = as_int(a, &i), whole_b = as_int(b, &k);

    if (whole_a && whole_b)
        return i < k ? -1 : i > k;
    if (whole_a)
        return compare_int_float(i, b.f);
    if (whole_b) {
        int c = compare_int_float(k, a.f);

        return c == 2 ? 2 : -c;
    }
    return isnan(a.f) || isnan(b.f) ? 2 : a.f < b.f ? -1 : a.f > b.f;
}

int64_t float_to_int(Lang *l, double f, Span at)
{
    if (isnan(f))
        lang_raise(l, "ValueError", at, "cannot convert float NaN to integer");
    if (isinf(f))
        lang_raise(l, "OverflowError", at,
                   "cannot convert float infinity to integer");
    f = trunc(f);
    if (f >= 0x1p63 || f < -0x1p63)
        int_overflow(l, at);
    return (int64_t)f;
}

// ---- text ------------------------------------------------------------------

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'z' ? c - 'a' + 10
           : c >= 'A' && c <= 'Z' ? c - 'A' + 10 : 99;
}

static Text skip_prefix(Text t, int *base)
{
    char c = t.len > 1 && t.at[0] == '0' ? (char)(t.at[1] | 0x20) : 0;
    int named = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 0;

    if (named && (*base == 0 || *base == named)) {
        *base = named;
        t = text_slice(t, 2, t.len);
        return t.len && t.at[0] == '_' ? text_slice(t, 1, t.len) : t;
    }
    if (*base == 0)
        *base = 10;
    return t;
}

// int(text, base): blanks around, a sign, a prefix, '_' between digits.
bool text_to_int(Text t, int base, int64_t *out, bool *too_big)
{
    bool negative = false, digit = false, octal;
    __int128 v = 0;

    *too_big = false;
    t = text_trim(t);
    if (t.len && (t.at[0] == '-' || t.at[0] == '+')) {
        negative = t.at[0] == '-';
        t = text_slice(t, 1, t.len);
    }
    octal = base == 0 && t.len > 1 && t.at[0] == '0';
    t = skip_prefix(t, &base);
    octal &= base == 10;                        // 012: only zeros may follow
    for (size_t i = 0; i < t.len; i++) {
        if (t.at[i] == '_' && digit) {
            digit = false;
            continue;
        }
        if (digit_of(t.at[i]) >= base)
            return false;
        digit = true;
        v = v * base + digit_of(t.at[i]);
        if (octal && v != 0)
            return false;
        *too_big |= v > (__int128)INT64_MAX + negative;
        v = *too_big ? 0 : v;
    }
    *out = (int64_t)(negative ? -v : v);
    return digit;
}

bool text_to_float(Text t, double *out)
{
    char small[512];
    size_t n = 0;

    t = text_trim(t);
    if (t.len == 0 || t.len >= sizeof small)
        return false;
    for (size_t i = 0; i < t.len; i++) {
        bool between = i > 0 && i + 1 < t.len && digit_of(t.at[i - 1]) < 10 &&
                       digit_of(t.at[i + 1]) < 10;

        if (t.at[i] == 'x' || t.at[i] == 'X' || t.at[i] == '(')
            return false;                       // strtod's own additions
        if (t.at[i] != '_')
            small[n++] = t.at[i];
        else if (!between)
            return false;
    }
    return text_to_f64((Text){small, n}, out);
}

// Digits of the shortest text that reads back as f, and its exponent. Up to 15
// digits are exact in a normal number, so that fewer show as zeros.
static int shortest(double f, char *digits, int *exponent)
{
    char text[40];
    int n = 0;

    for (int precision = f < DBL_MIN ? 0 : 14; precision <= 16; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, f);
        if (precision == 16 || strtod(text, NULL) == f)
            break;
    }
    for (const char *p = text; *p != 'e'; p++)
        if (*p >= '0' && *p <= '9')
            digits[n++] = *p;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    *exponent = atoi(strchr(text, 'e') + 1);
    return n;
}

// From the highest weight (the ones at least) to the lowest (the tenths at
// least); digit i weighs 10^(exponent - i).
static void put_plain(TextBuf *out, const char *digits, int n, int exponent)
{
    int high = exponent > 0 ? exponent : 0;
    int low = exponent - n + 1 < -1 ? exponent - n + 1 : -1;

    for (int weight = high; weight >= low; weight--) {
        int i = exponent - weight;

        if (weight == -1)
            buf_addc(out, '.');
        buf_addc(out, i >= 0 && i < n ? digits[i] : '0');
    }
}

void float_repr(TextBuf *out, double f)
{
    char digits[40];
    int n, exponent;

    if (isnan(f) || isinf(f)) {
        buf_puts(out, isnan(f) ? "nan" : f < 0 ? "-inf" : "inf");
        return;
    }
    if (signbit(f))
        buf_addc(out, '-');
    n = shortest(fabs(f), digits, &exponent);
    if (exponent >= -4 && exponent < 16) {
        put_plain(out, digits, n, exponent);
        return;
    }
    buf_addc(out, digits[0]);
    if (n > 1) {
        buf_addc(out, '.');
        buf_add(out, digits + 1, (size_t)n - 1);
    }
    buf_printf(out, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
}

// ---- round() ---------------------------------------------------------------

// The decimal digits of a whole number, cut after the place of 10^places and
// rounded half to even; `rest` says that the number has a fraction besides.
static double round_digits(char *text, int places, bool rest)
{
    int len = (int)strlen(text), cut = len - places;
    bool half, up;

    if (cut < 0)
        return 0;
    for (int i = cut + 1; i < len; i++)
        rest |= text[i] != '0';
    half = text[cut] == '5' && !rest;
    up = text[cut] >= '5' && (!half || (cut > 0 && text[cut - 1] % 2 == 1));
    for (int i = cut; i < len; i++)
        text[i] = '0';
    if (!up)
        return strtod(text, NULL);
    while (cut > 0 && text[cut - 1] == '9')
        text[--cut] = '0';
    if (cut > 0) {
        text[cut - 1]++;
        return strtod(text, NULL);
    }
    memmove(text + 1, text, (size_t)len + 1);
    text[0] = '1';
    return strtod(text, NULL);
}

// Half to even on the exact decimal value of f, as printf rounds it.
double float_round(double f, int digits)
{
    enum { MOST = 330 };
    char text[2 * MOST + 20];
    double whole;

    if (!isfinite(f) || digits > 323)
        return f;
    if (digits < -308)
        return copysign(0, f);
    if (digits < 0) {
        whole = trunc(fabs(f));
        snprintf(text, sizeof text, "%.0f", whole);
        return copysign(round_digits(text, -digits, whole != fabs(f)), f);
    }
    snprintf(text, sizeof text, "%.*f", digits, f);
    return strtod(text, NULL);
}

int64_t int_round(Lang *l, int64_t v, int64_t digits, Span at)
{
    __int128 unit = 1, down, rest;

    if (digits >= 0)
        return v;
    if (digits < -19)
        return 0;
    for (; digits < 0; digits++)
        unit *= 10;
    rest = v % unit + (v % unit < 0 ? unit : 0);
    down = v - rest;
    if (rest > unit / 2 || (rest == unit / 2 && down / unit % 2 != 0))
        down += unit;
    if (down != (int64_t)down)
        int_overflow(l, at);
    return (int64_t)down;
}
