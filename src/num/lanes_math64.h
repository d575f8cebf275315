// lanes_math64.h - exponentials, logarithms and their kin in double.
//
// Branch-free: both sides of a choice are computed and one is taken, so a loop
// over any of these becomes vector code. Where one rounding more would show, a
// value is carried as hi + lo. Errors are given in units of the last place as
// tests/num/functions.py measures them.
#ifndef NUM_LANES_MATH64_H
#define NUM_LANES_MATH64_H

#include "num/lanes_float.h"
#include "num/lanes_poly.h"

#define INF64 __builtin_inf()
#define NAN64 __builtin_nan("")

typedef struct {
    double hi, lo;
} Pair;

// a + b exactly; |a| >= |b| or a == 0.
INLINE Pair pair_sum(double a, double b)
{
    double s = a + b;
    return (Pair){s, (a - s) + b};
}

// a * b exactly.
INLINE Pair pair_product(double a, double b)
{
    double p = a * b;
    return (Pair){p, fma64(a, b, -p)};
}

// a + b exactly, whichever is larger.
INLINE Pair pair_sum_any(double a, double b)
{
    double s = a + b, t = s - a;
    return (Pair){s, (a - (s - t)) + (b - t)};
}

// Nearest integer of |x| < 2^51, as a double and in the low bits of a word.
#define SHIFTER64 0x1.8p52
INLINE double nearest64(double x, uint64_t *n)
{
    double t = x + SHIFTER64;
    *n = bits_f64(t) - bits_f64(SHIFTER64);
    return t - SHIFTER64;
}

// p * 2^n in one rounding, for -2100 < n < 1100 and p near 1: two factors, the
// first exact.
INLINE double scale64(double p, uint64_t n)
{
    uint64_t half = (n + 4096) >> 1;
    uint64_t first = half - 2048, second = n - first;
    return p * f64_bits((first + 1023) << 52) * f64_bits((second + 1023) << 52);
}

INLINE double clamp64(double x, double low, double high)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}

// x = n ln2 + r.
INLINE Pair reduce_exp64(double x, uint64_t *n)
{
    double k = nearest64(x * 0x1.71547652b82fep0, n);
    double r = fma64(-k, 0x1.62e42fefa39efp-1, x);
    // The first difference is exact: both are multiples of 2^-53 of like size.
    return pair_sum(r, k * -0x1.abc9e3b39803fp-56);
}

// e^r - 1 for a reduced r.
INLINE double expm1_reduced64(Pair r)
{
    return r.hi + fma64(r.hi * r.hi, poly_exp64(r.hi), r.lo);
}

// e^x / 2^less, NaN kept; the result over- and underflows as it should.
INLINE double exp_scaled64(double x, int less)
{
    uint64_t n;
    Pair r = reduce_exp64(clamp64(x, -800, 800), &n);
    return scale64(1 + expm1_reduced64(r), n - (uint64_t)less);
}

INLINE double exp64(double x)
{
    return canon64(exp_scaled64(x, 0));
}

// 2^(n + r) for |r| <= 1/2.
INLINE double exp2_reduced64(Pair r, uint64_t n)
{
    // ln2 in two parts.
    double low = r.lo * 0x1.62e42fefa39efp-1;
    low = fma64(r.hi, 0x1.abc9e3b39803fp-56, low);
    double rest = fma64(r.hi * r.hi, poly_exp2_64(r.hi), low);
    return scale64(1 + fma64(r.hi, 0x1.62e42fefa39efp-1, rest), n);
}

INLINE double exp2_64(double x)
{
    uint64_t n;
    double in = clamp64(x, -1200, 1100);
    double r = in - nearest64(in, &n);
    return canon64(exp2_reduced64((Pair){r, 0}, n));
}

INLINE double exp10_64(double x)
{
    uint64_t n;
    double in = clamp64(x, -400, 400);
    double k = nearest64(in * 0x1.a934f0979a371p1, &n);
    // log10(2) in two parts; then r ln10 in two.
    double a = fma64(-k, 0x1.34413509f79ffp-2, in);
    Pair r = pair_sum(a, k * 0x1.9dc1da994fd21p-59);
    Pair y = pair_product(r.hi, 0x1.26bb1bbb55516p1);
    y.lo += fma64(r.lo, 0x1.26bb1bbb55516p1, r.hi * -0x1.f48ad494ea3e9p-53);
    return canon64(scale64(1 + expm1_reduced64(y), n));
}

// 2^n (1 + p) - 1 with the large parts added exactly.
INLINE double expm1_64(double x)
{
    uint64_t n;
    Pair r = reduce_exp64(clamp64(x, -60, 710), &n);
    double low = fma64(r.hi * r.hi, poly_exp64(r.hi), r.lo);
    uint64_t big = (int64_t)n > 1000;           // 2^1024 is no double
    double s = f64_bits((n - big + 1023) << 52);
    double one = (int64_t)n > 52 ? 0 : 1;
    Pair sum = pair_sum(s - one, s * r.hi);
    double y = sum.hi + (fma64(s, low, sum.lo) - (1 - one));
    y = big ? y * 2 : y;
    return canon64(x == 0 ? x : y);
}

// x = 2^e (1 + f), sqrt(1/2) < 1 + f < sqrt(2), for positive finite x.
typedef struct {
    double e, f;
} Split64;

INLINE Split64 split64(double x)
{
    bool tiny = x < 0x1p-1022;
    uint64_t u = bits_f64(tiny ? x * 0x1p54 : x);
    // Exponent counted from sqrt(1/2): the top bits of its mantissa.
    uint64_t shifted = u - 0x3fe6a09e00000000;
    uint64_t e = (shifted >> 52) + (tiny ? -(uint64_t)54 : 0);
    // A small signed integer to double by way of the bits of 1.5 * 2^52.
    bool below = (int64_t)shifted < 0;
    e -= below ? 4096 : 0;
    double k = f64_bits(e + bits_f64(SHIFTER64)) - SHIFTER64;
    uint64_t m = (shifted & 0x000fffffffffffff) + 0x3fe6a09e00000000;
    return (Split64){k, f64_bits(m) - 1};
}

// log(1 + f) to about 60 bits for |f| that split64 gives. `shift` is a small
// correction of 1 + f, as a part of it.
INLINE Pair log_pair64(double f, double shift)
{
    double s = f / (2 + f), z = s * s;
    Pair half = pair_product(0.5 * f, f);
    Pair hi = pair_sum(f, -half.hi);
    double low = s * fma64(z, poly_log64(z), half.hi);
    return pair_sum(hi.hi, low + (hi.lo - half.lo + shift));
}

// What all logarithms give at the ends.
INLINE double log_ends64(double x, double y)
{
    y = x == INF64 ? x : y;
    y = x == 0 ? -INF64 : y;
    return x >= 0 ? y : NAN64;
}

INLINE double log64(double x)
{
    Split64 v = split64(x);
    Pair l = log_pair64(v.f, 0);
    Pair a = pair_sum(v.e * 0x1.62e42fefa38p-1, l.hi);
    double y = a.hi + fma64(v.e, 0x1.ef35793c7673p-45, a.lo + l.lo);
    return log_ends64(x, y);
}

// e + l (hi + lo), for logarithms to another base: l = 1 / log(base), unit =
// log2(base) of one octave, each in two parts, the first of unit short.
INLINE double log_base64(double x, Pair l, Pair unit)
{
    Split64 v = split64(x);
    Pair p = log_pair64(v.f, 0);
    Pair q = pair_product(p.hi, l.hi);
    Pair a = pair_sum(v.e * unit.hi, q.hi);
    double low = fma64(p.hi, l.lo, fma64(p.lo, l.hi, q.lo));
    double y = a.hi + (fma64(v.e, unit.lo, low) + a.lo);
    return log_ends64(x, y);
}

INLINE double log2_64(double x)
{
    Pair l = {0x1.71547652b82fep0, 0x1.777d0ffda0d24p-56};
    return log_base64(x, l, (Pair){1, 0});
}

INLINE double log10_64(double x)
{
    Pair l = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
    Pair octave = {0x1.34413509f78p-2, 0x1.fef311f12b358p-46};
    return log_base64(x, l, octave);
}

INLINE double log1p_64(double x)
{
    double u = 1 + x;
    // What 1 + x lost, as a part of it.
    double lost = x < 1 ? x - (u - 1) : 1 - (u - x);
    double shift = u > 0 && u < INF64 ? lost / u : 0;
    Split64 v = split64(u);
    Pair l = log_pair64(v.f, shift);
    Pair a = pair_sum(v.e * 0x1.62e42fefa38p-1, l.hi);
    double y = a.hi + fma64(v.e, 0x1.ef35793c7673p-45, a.lo + l.lo);
    y = x == INF64 ? x : x == -1 ? -INF64 : y;
    return canon64(x >= -1 ? x == 0 ? x : y : NAN64);
}

// log2(1 + f) + e to about 66 bits, for pow.
INLINE Pair log2_far64(double f, double e)
{
    Pair d = pair_sum(2, f);
    double s = f / d.hi;
    double s_lo = (fma64(-s, d.hi, f) - s * d.lo) / d.hi;
    Pair z = pair_product(s, s);
    z.lo = fma64(2 * s, s_lo, z.lo);
    // 2 + 2/3 z + z^2 p(z)
    Pair t = pair_product(z.hi, 0x1.5555555555555p-1);
    t.lo += fma64(z.hi, 0x1.5555555555555p-55, z.lo * 0x1.5555555555555p-1);
    t.lo = fma64(z.hi * z.hi, poly_log_far64(z.hi), t.lo);
    Pair sum = pair_sum(2, t.hi);
    sum.lo += t.lo;
    // times s, times log2(e)
    Pair l = pair_product(s, sum.hi);
    l.lo += fma64(s, sum.lo, s_lo * sum.hi);
    Pair q = pair_product(l.hi, 0x1.71547652b82fep0);
    q.lo += fma64(l.hi, 0x1.777d0ffda0d24p-56, l.lo * 0x1.71547652b82fep0);
    Pair a = pair_sum(e, q.hi);
    return pair_sum(a.hi, a.lo + q.lo);
}

// The sign of x^y and its special cases, given the magnitude p.
INLINE double pow_ends64(double x, double y, double p)
{
    double half = y * 0.5;
    bool whole = __builtin_floor(y) == y;
    bool odd = whole && __builtin_floor(half) != half;
    bool negative = __builtin_copysign(1, x) < 0;
    p = negative && odd ? -p : p;
    bool undefined = x < 0 && x > -INF64 && !whole;
    p = x != x || y != y || undefined ? NAN64 : p;
    return canon64(x == 1 || y == 0 ? 1 : p);
}

INLINE double pow64(double x, double y)
{
    double ax = __builtin_fabs(x), ay = __builtin_fabs(y);
    bool usual = ax > 0 && ax < INF64 && ay < INF64;
    Split64 v = split64(usual ? ax : 1);
    Pair l = log2_far64(v.f, v.e);
    Pair q = pair_product(y, l.hi);
    bool small = __builtin_fabs(q.hi) < 0x1p12;
    double tail = small ? fma64(y, l.lo, q.lo) : 0;
    uint64_t n;
    double in = clamp64(q.hi, -1200, 1100);
    double r = in - nearest64(in, &n);
    double p = exp2_reduced64(pair_sum_any(r, tail), n);
    // 0, infinity and |y| infinite: large or nothing.
    bool grows = (ax > 1) == (y > 0);
    double end = ax == 1 ? 1 : grows ? INF64 : 0;
    return pow_ends64(x, y, usual ? p : end);
}

INLINE double sinh64(double x)
{
    double ax = __builtin_fabs(x), z = x * x;
    double near = fma64(x * z, poly_sinh64(z), x);
    double e = exp_scaled64(ax, 1);
    double far = __builtin_copysign(e - 0.25 / e, x);
    return canon64(ax < 1 ? near : far);
}

INLINE double cosh64(double x)
{
    double e = exp_scaled64(__builtin_fabs(x), 1);
    return canon64(e + 0.25 / e);
}

INLINE double tanh64(double x)
{
    double ax = __builtin_fabs(x), z = x * x;
    double near = fma64(x * z, poly_tanh64(z), x);
    double far = 1 - 2 / (exp_scaled64(2 * ax, 0) + 1);
    return canon64(__builtin_copysign(ax < 0.55 ? near : far, x));
}

// e^-|x| / (1 + e^-|x|) or 1 / (1 + e^-|x|), the quotient corrected once.
INLINE double sigmoid64(double x)
{
    uint64_t k;
    Pair r = reduce_exp64(clamp64(-__builtin_fabs(x), -800, 0), &k);
    Pair e = pair_sum(1, expm1_reduced64(r));
    e = (Pair){scale64(e.hi, k), scale64(e.lo, k)};
    double n = x < 0 ? e.hi : 1, n_lo = x < 0 ? e.lo : 0;
    Pair d = pair_sum(1, e.hi);
    double inverse = 1 / d.hi, q = n * inverse;
    double rest = fma64(-q, d.hi, n) + fma64(-q, d.lo + e.lo, n_lo);
    return canon64(fma64(rest, inverse, q));
}

INLINE double erf64(double x)
{
    double ax = __builtin_fabs(x), z = x * x;
    double near = fma64(x, poly_erf64(z), x);
    double in = ax < 6 ? ax : 6;
    double t = (in - 2) / (in + 2);
    double far = 1 - exp_scaled64(-in * in, 0) * poly_erfc64(t);
    far = __builtin_copysign(far, x);
    return canon64(x != x ? x : ax < 1 ? near : far);
}
#endif
