// valu_math.h - what the expressions of valu.def are made of.
#ifndef GFX942_VALU_MATH_H
#define GFX942_VALU_MATH_H

#include <math.h>

#include "num/narrow.h"

// One rounding of a * b + c; without the instruction a call of the C library.
INLINE float fma32(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}

INLINE double fma64(double a, double b, double c)
{
    return __builtin_fma(a, b, c);
}

// Halves: the product is exact in a double, and the sum is rounded to odd, so
// that rounding to f16 afterwards rounds once.
INLINE double fma_odd(float a, float b, float c)
{
    double p = (double)a * b, s = p + c;
    double t = s - p, error = (p - (s - t)) + (c - t);
    uint64_t u = bits_f64(s), inexact = error < 0 || error > 0;
    uint64_t away = (u ^ bits_f64(error)) >> 63 & inexact;
    return f64_bits((u - away) | inexact);
}

// ---- least and greatest -----------------------------------------------------

// A NaN loses against a number, -0 against +0.
INLINE float min32(float a, float b)
{
    float equal = f32_bits(bits_f32(a) | bits_f32(b));
    float less = a < b ? a : a == b ? equal : b;
    return a != a ? b : b != b ? a : less;
}

INLINE float max32(float a, float b)
{
    float equal = f32_bits(bits_f32(a) & bits_f32(b));
    float more = a > b ? a : a == b ? equal : b;
    return a != a ? b : b != b ? a : more;
}

INLINE double min64(double a, double b)
{
    double equal = f64_bits(bits_f64(a) | bits_f64(b));
    double less = a < b ? a : a == b ? equal : b;
    return a != a ? b : b != b ? a : less;
}

INLINE double max64(double a, double b)
{
    double equal = f64_bits(bits_f64(a) & bits_f64(b));
    double more = a > b ? a : a == b ? equal : b;
    return a != a ? b : b != b ? a : more;
}

// With a NaN: the least of the three.
INLINE float med32(float a, float b, float c)
{
    float inner = max32(min32(a, b), min32(max32(a, b), c));
    return a != a || b != b || c != c ? min32(min32(a, b), c) : inner;
}

#define low2(a, b) ((a) < (b) ? (a) : (b))
#define high2(a, b) ((a) > (b) ? (a) : (b))
#define low3(a, b, c) low2(low2(a, b), c)
#define high3(a, b, c) high2(high2(a, b), c)
#define middle3(a, b, c) high2(low2(a, b), low2(high2(a, b), c))

INLINE uint32_t least(uint32_t a, uint32_t b)
{
    return low2(a, b);
}

// ---- floats -----------------------------------------------------------------

// A denormal f32 counts as zero.
INLINE float flushed(float x)
{
    uint32_t u = bits_f32(x);
    return f32_bits(u & 0x7f800000 ? u : u & 0x80000000);
}

INLINE float fract32(float x)
{
    float f = x - __builtin_floorf(x);
    return f >= 1 ? 0x1.fffffep-1f : f;
}

INLINE double fract64(double x)
{
    double f = x - __builtin_floor(x);
    return f >= 1 ? 0x1.fffffffffffffp-1 : f;
}

// sin(2 pi x), exact where the turn is a multiple of a quarter.
INLINE double turn_sin(double x)
{
    double f = x - __builtin_rint(x);
    return f == 0.5 || f == -0.5 ? 0 : __builtin_sin(f * 0x1.921fb54442d18p+2);
}

INLINE double turn_cos(double x)
{
    double f = x - __builtin_rint(x);
    return f == 0.25 || f == -0.25 ? 0
                                   : __builtin_cos(f * 0x1.921fb54442d18p+2);
}

INLINE double scale(double x, int32_t n)
{
    return __builtin_scalbn(x, n);
}

INLINE int32_t exponent_of(double x)
{
    int e = 0;
    if (x == x && x - x == 0)
        __builtin_frexp(x, &e);
    return e;
}

INLINE double mantissa_of(double x)
{
    int e;
    return x == x && x - x == 0 ? __builtin_frexp(x, &e) : x;
}

// ---- to integers ------------------------------------------------------------

INLINE double within(double x, double low, double high)
{
    x = x != x ? 0 : x;
    x = x < low ? low : x;
    return x > high ? high : x;
}

INLINE int32_t to_i32(double x)
{
    return (int32_t)within(x, -0x1p31, 0x1p31 - 1);
}

INLINE uint32_t to_u32(double x)
{
    return (uint32_t)(int64_t)within(x, 0, 0x1p32 - 1);
}

INLINE uint32_t clamp16(int32_t x)
{
    x = x < -32768 ? -32768 : x > 32767 ? 32767 : x;
    return (uint32_t)x & 0xffff;
}

INLINE uint64_t lanes_below(uint32_t lane)
{
    return (1ull << lane) - 1;
}

INLINE int32_t low24(uint32_t x)
{
    return (int32_t)(x << 8) >> 8;
}

INLINE uint32_t field(uint32_t x, uint32_t offset, uint32_t width)
{
    return x >> offset & ((1u << width) - 1);
}

INLINE int32_t signed_field(uint32_t x, uint32_t offset, uint32_t width)
{
    uint32_t v = field(x, offset, width), sign = width ? 1u << (width - 1) : 0;
    return (int32_t)((v ^ sign) - sign);
}

INLINE uint32_t reversed(uint32_t x)
{
    x = (x & 0x55555555) << 1 | (x >> 1 & 0x55555555);
    x = (x & 0x33333333) << 2 | (x >> 2 & 0x33333333);
    x = (x & 0x0f0f0f0f) << 4 | (x >> 4 & 0x0f0f0f0f);
    return __builtin_bswap32(x);
}

// How many bits below the sign equal it, and one; all ones for 0 and -1.
INLINE uint32_t sign_run(int32_t x)
{
    uint32_t u = (uint32_t)(x ^ x >> 31);
    return u ? (uint32_t)__builtin_clz(u) : ~0u;
}

INLINE uint32_t mad_carry(int64_t product, uint64_t c)
{
    int64_t sum;
    return __builtin_add_overflow(product, (int64_t)c, &sum);
}

// Byte n of the result is what selector byte n names: 0..3 of b, 4..7 of a,
// 8..11 a sign of 16 bits, 12 zero, above all ones.
INLINE uint32_t byte_perm(uint32_t a, uint32_t b, uint32_t selector)
{
    uint64_t both = (uint64_t)a << 32 | b;
    uint32_t out = 0;
    for (int n = 0; n < 4; n++) {
        uint32_t s = selector >> 8 * n & 255;
        uint32_t byte = s < 8    ? both >> 8 * s & 255
                        : s < 12 ? (both >> (16 * (s - 8) + 15) & 1) * 255
                        : s == 12 ? 0 : 255;
        out |= byte << 8 * n;
    }
    return out;
}

// ---- narrow floats ----------------------------------------------------------

INLINE float half_value(uint32_t code)
{
    return narrow_decode(code & 0xffff, narrow_f16, 16);
}

INLINE uint32_t half_code(float x)
{
    return narrow_encode(narrow_round_f32(x, narrow_f16, false), narrow_f16,
                         16);
}

INLINE uint32_t half_code_f64(double x)
{
    return narrow_encode(narrow_round_f64(x, narrow_f16, false), narrow_f16,
                         16);
}

INLINE uint32_t f16_toward_zero(float x)
{
    uint32_t u = bits_f32(x) & 0x7fffffff, sign = bits_f32(x) >> 31 << 15;
    float ax = f32_bits(u);
    uint32_t tiny = (uint32_t)(int32_t)(ax * 0x1p24f);
    uint32_t code = ax < 0x1p-14f ? tiny : (u >> 13) - (112u << 10);
    code = ax > 65504 ? 0x7bff : code;
    code = u == 0x7f800000 ? 0x7c00 : code;
    code = ax != ax ? 0x7e00 | (u >> 13 & 0x3ff) : code;
    return code | sign;
}

// Overflow gives NaN, as these formats have no infinity.
INLINE uint32_t to_fp8(float x, Narrow f)
{
    return narrow_encode(narrow_round_f32(x, f, false), f, 8);
}

INLINE uint32_t to_fp8_pair(float x, float y, Narrow f)
{
    return to_fp8(x, f) | to_fp8(y, f) << 8;
}

INLINE uint64_t fp8_pair(uint32_t codes, Narrow f)
{
    uint64_t low = bits_f32(narrow_decode(codes & 255, f, 8));
    return low | (uint64_t)bits_f32(narrow_decode(codes >> 8 & 255, f, 8))
                     << 32;
}

// ---- division ---------------------------------------------------------------

INLINE int exponent32(float x)
{
    return (int)(bits_f32(x) >> 23 & 255);
}

INLINE int exponent64(double x)
{
    return (int)(bits_f64(x) >> 52 & 2047);
}

INLINE bool denormal32(float x)
{
    return exponent32(x) == 0 && x != 0;
}

INLINE bool denormal64(double x)
{
    return exponent64(x) == 0 && x != 0;
}

// Whether v_div_fmas must scale the quotient back: n / d is near the largest
// or the least numbers.
INLINE uint32_t div_flag32(float d, float n)
{
    if (n == 0 || d == 0)
        return 0;
    if (exponent32(n) - exponent32(d) >= 96)
        return 1;
    if (denormal32(d))
        return 0;
    return denormal32(n / d);
}

INLINE float div_scale32(float x, float d, float n)
{
    bool is_d = bits_f32(x) == bits_f32(d), is_n = bits_f32(x) == bits_f32(n);
    if (n == 0 || d == 0)
        return __builtin_nanf("");
    if (exponent32(n) - exponent32(d) >= 96)
        return is_d ? x * 0x1p64f : x;
    if (denormal32(d))
        return x * 0x1p64f;
    if (denormal32(1 / d))
        return denormal32(n / d) && !is_d ? x : x * 0x1p-64f;
    if (denormal32(n / d))
        return is_n ? x * 0x1p64f : x;
    return exponent32(n) <= 23 ? x * 0x1p64f : x;
}

// Back from the scale, in the same rounding: up where the quotient is large,
// else down.
INLINE float div_fmas32(float a, float b, float c, uint32_t scaled)
{
    double by = exponent32(c) > 127 ? 0x1p64 : 0x1p-64;
    return scaled ? (float)(fma_odd(a, b, c) * by)
                  : fma32(a, b, c);
}

INLINE float div_fixup32(float q, float d, float n)
{
    uint32_t sign = (bits_f32(d) ^ bits_f32(n)) & 0x80000000;
    bool d_inf = d - d != 0, n_inf = n - n != 0;
    if (n != n || d != d)
        return n != n ? n : d;
    if ((d == 0 && n == 0) || (d_inf && n_inf))
        return f32_bits(0xffc00000);
    if (d == 0 || n_inf)
        return f32_bits(0x7f800000 | sign);
    if (d_inf || n == 0 || exponent32(n) - exponent32(d) < -150)
        return f32_bits(sign);
    if (q != q)                                 // out of range on the way
        return f32_bits(0x7f800000 | sign);
    return f32_bits((bits_f32(q) & 0x7fffffff) | sign);
}

INLINE uint32_t div_flag64(double d, double n)
{
    if (n == 0 || d == 0)
        return 0;
    if (exponent64(n) - exponent64(d) >= 768)
        return 1;
    if (denormal64(d))
        return 0;
    return denormal64(n / d);
}

INLINE double div_scale64(double x, double d, double n)
{
    bool is_d = bits_f64(x) == bits_f64(d), is_n = bits_f64(x) == bits_f64(n);
    if (n == 0 || d == 0)
        return __builtin_nan("");
    if (exponent64(n) - exponent64(d) >= 768)
        return is_d ? x * 0x1p128 : x;
    if (denormal64(d))
        return x * 0x1p128;
    if (denormal64(1 / d))
        return denormal64(n / d) && !is_d ? x : x * 0x1p-128;
    if (denormal64(n / d))
        return is_n ? x * 0x1p128 : x;
    return exponent64(n) <= 53 ? x * 0x1p128 : x;
}

INLINE double div_fmas64(double a, double b, double c, uint32_t scaled)
{
    double by = exponent64(c) > 1023 ? 0x1p128 : 0x1p-128;
    return scaled ? fma64(a * by, b, c * by) : fma64(a, b, c);
}

INLINE double div_fixup64(double q, double d, double n)
{
    uint64_t sign = (bits_f64(d) ^ bits_f64(n)) & 0x8000000000000000;
    bool d_inf = d - d != 0, n_inf = n - n != 0;
    if (n != n || d != d)
        return n != n ? n : d;
    if ((d == 0 && n == 0) || (d_inf && n_inf))
        return f64_bits(0xfff8000000000000);
    if (d == 0 || n_inf)
        return f64_bits(0x7ff0000000000000 | sign);
    if (d_inf || n == 0 || exponent64(n) - exponent64(d) < -1075)
        return f64_bits(sign);
    if (q != q)
        return f64_bits(0x7ff0000000000000 | sign);
    return f64_bits((bits_f64(q) & 0x7fffffffffffffff) | sign);
}

// ---- dot products -----------------------------------------------------------

INLINE uint32_t dot4(uint32_t a, uint32_t b)
{
    int32_t sum = 0;
    for (int n = 0; n < 32; n += 8)
        sum += (int8_t)(a >> n) * (int8_t)(b >> n);
    return (uint32_t)sum;
}

INLINE uint32_t dot4u(uint32_t a, uint32_t b)
{
    uint32_t sum = 0;
    for (int n = 0; n < 32; n += 8)
        sum += (a >> n & 255) * (b >> n & 255);
    return sum;
}
#endif
