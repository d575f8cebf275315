// narrow.h - floats of 8 and 16 bits: rounding, encoding, decoding.
//
// Branch-free on scalars, so that loops over them become vector code. A value
// is first rounded where it is (a float or a double that the narrow type can
// hold), then encoded exactly. Rounding adds and subtracts the power of two
// whose last place is the last place wanted: with |x| in [2^e, 2^(e+1)) and m
// mantissa bits, c = 2^(e+p-m) gives (|x| + c) - c = |x| to nearest even at
// 2^(e-m), where p is the mantissa width of the type calculated in. Below the
// least normal, e stays at its exponent.
#ifndef NUM_NARROW_H
#define NUM_NARROW_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// Calls inside a loop would keep it from becoming vector code.
#define INLINE static inline __attribute__((always_inline))

typedef struct {
    int mantissa, bias;
    int top;                                    // exponent of the largest
    float max;                                  // largest finite
    bool inf, fnuz;
} Narrow;

static const Narrow narrow_f16 = {10, 15, 15, 65504, true, false};
static const Narrow narrow_bf16 = {7, 127, 127, 0x1.fep127f, true, false};
static const Narrow narrow_e4m3fn = {3, 7, 8, 448, false, false};
static const Narrow narrow_e5m2 = {2, 15, 15, 57344, true, false};
static const Narrow narrow_e4m3fnuz = {3, 8, 7, 240, false, true};
static const Narrow narrow_e5m2fnuz = {2, 16, 15, 57344, false, true};
static const Narrow narrow_e2m1fn = {1, 1, 2, 6, false, false};

INLINE uint32_t bits_f32(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

INLINE float f32_bits(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

INLINE uint64_t bits_f64(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

INLINE double f64_bits(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

// The nearest value of f, as a float. NaN keeps its bits but for being quiet.
// Beyond the largest finite: that (sat), else infinity, or NaN without one.
// Not for bfloat16, whose exponents leave no room for c.
INLINE float narrow_round_f32(float x, Narrow f, bool sat)
{
    uint32_t least = (uint32_t)(128 - f.bias) << 23;
    uint32_t most = (uint32_t)(128 + f.top) << 23;
    uint32_t sign = bits_f32(x) & 0x80000000;
    float ax = f32_bits(bits_f32(x) ^ sign);
    uint32_t e = bits_f32(ax) & 0x7f800000;
    e = e > least ? e : least;
    e = e < most ? e : most;
    float c = f32_bits(e + ((uint32_t)(23 - f.mantissa) << 23));
    float r = (ax + c) - c;
    float over = sat ? f.max : f.inf ? __builtin_inff() : __builtin_nanf("");
    r = r > f.max ? over : r;
    sign = f.fnuz && r == 0 ? 0 : sign;
    return f32_bits(bits_f32(r) | sign);
}

// The same from a double, in one rounding; any narrow type.
INLINE float narrow_round_f64(double x, Narrow f, bool sat)
{
    uint64_t least = (uint64_t)(1024 - f.bias) << 52;
    uint64_t most = (uint64_t)(1024 + f.top) << 52;
    uint64_t sign = bits_f64(x) & 0x8000000000000000;
    double ax = f64_bits(bits_f64(x) ^ sign);
    uint64_t e = bits_f64(ax) & 0x7ff0000000000000;
    e = e > least ? e : least;
    e = e < most ? e : most;
    double c = f64_bits(e + ((uint64_t)(52 - f.mantissa) << 52));
    double r = (ax + c) - c;
    float over = sat ? f.max : f.inf ? __builtin_inff() : __builtin_nanf("");
    float s = r > f.max ? over : (float)r;
    sign = f.fnuz && s == 0 ? 0 : sign;
    return f32_bits(bits_f32(s) | (uint32_t)(sign >> 32));
}

// Nearest bfloat16 in the upper half of the word; the lower half is not clean.
INLINE uint32_t bf16_word(float x)
{
    uint32_t u = bits_f32(x);
    uint32_t r = u + 0x7fff + (u >> 16 & 1);
    return x == x ? r : u | 0x400000;
}

INLINE float bf16_round_f32(float x)
{
    return f32_bits(bf16_word(x) & 0xffff0000);
}

// tfloat32: the upper 19 bits of a float, ties away from zero.
INLINE float tf32_cut_f32(float x)
{
    return f32_bits(bits_f32(x) & 0xffffe000);
}

INLINE float tf32_round_f32(float x)
{
    uint32_t u = bits_f32(x), r = u + 0x1000;
    return tf32_cut_f32(f32_bits(x == x ? r : u | 0x400000));
}

// Toward zero, then the last bit set if anything was lost: exact, or odd.
INLINE float f64_to_f32_odd(double x)
{
    float f = (float)x;
    double back = f;
    uint32_t away = __builtin_fabs(back) > __builtin_fabs(x);
    uint32_t inexact = back < x || back > x;
    return f32_bits((bits_f32(f) - away) | inexact);
}

// The code of a value that f holds. NaN: the top payload bits with the quiet
// bit set in float16, all ones in the 8-bit types, 0x80 in fnuz.
INLINE uint32_t narrow_encode(float x, Narrow f, int code_bits)
{
    int drop = 23 - f.mantissa;
    float least = f32_bits((uint32_t)(128 - f.bias) << 23);
    float step = f32_bits((uint32_t)(126 + f.bias + f.mantissa) << 23);
    uint32_t top = 1u << (code_bits - 1);
    uint32_t u = bits_f32(x) & 0x7fffffff, sign = bits_f32(x) >> 31 ? top : 0;
    float ax = f32_bits(u);
    uint32_t tiny = (uint32_t)(int32_t)((ax < least ? ax : 0) * step);
    uint32_t code = (u >> drop) - ((uint32_t)(127 - f.bias) << f.mantissa);
    code = ax < least ? tiny : code;
    uint32_t inf = top - (1u << f.mantissa);
    code = ax > f.max ? inf : code;
    uint32_t nan = code_bits == 8 ? 0x7f
                   : inf | 1u << (f.mantissa - 1) | (u >> drop & 0x3ff);
    code = ax != ax ? nan : code;
    return f.fnuz && ax != ax ? 0x80 : code | sign;
}

INLINE float narrow_decode(uint32_t code, Narrow f, int code_bits)
{
    int drop = 23 - f.mantissa;
    uint32_t top = 1u << (code_bits - 1);
    uint32_t u = code & (top - 1), sign = code & top ? 0x80000000 : 0;
    float step = f32_bits((uint32_t)(128 - f.bias - f.mantissa) << 23);
    float tiny = (float)(int32_t)u * step;
    uint32_t v = (u << drop) + ((uint32_t)(127 - f.bias) << 23);
    v = u < 1u << f.mantissa ? bits_f32(tiny) : v;
    uint32_t inf = top - (1u << f.mantissa);
    uint32_t nan = 0x7fc00000 | (u << drop & 0x7fffff);
    v = f.inf && u == inf ? 0x7f800000 : f.inf && u > inf ? nan : v;
    v = !f.inf && !f.fnuz && u == 0x7f ? 0x7fc00000 : v;
    return f32_bits(f.fnuz && code == top ? 0x7fc00000 : v | sign);
}

// ---- float8_e8m0fnu: the exponent of a power of two, 255 is NaN ------------

// Up to the next power of two, as T.cast does; the sign does not count, and
// what is too large is the largest.
static inline uint8_t e8m0_up(double x)
{
    int e;

    if (x != x)
        return 255;
    x = x < 0 ? -x : x;
    if (x <= 0x1p-127 || x > 0x1p127)
        return x <= 0x1p-127 ? 0 : 254;
    uint64_t u = bits_f64(x);
    e = (int)(u >> 52) - 1023 + ((u & ((UINT64_C(1) << 52) - 1)) != 0);
    return (uint8_t)(e + 127);
}

// The nearest, a tie upwards, as torch's .to(): too large is NaN.
static inline uint8_t e8m0_nearest(float x)
{
    uint32_t u = bits_f32(x), e = u >> 23 & 255, rest = u & 0x7fffff;

    if (e == 255)
        return 255;
    return (uint8_t)(e + (rest > 0x400000 || (rest == 0x400000 && e > 0)));
}

static inline float e8m0_value(uint8_t e)
{
    return e == 255 ? f32_bits(0x7fc00000)
           : e      ? f32_bits((uint32_t)e << 23) : 0x1p-127f;
}
#endif
