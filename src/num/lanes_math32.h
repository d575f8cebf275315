// lanes_math32.h - elementary functions in float.
//
// Those that attention kernels live on are worked out in float; the others go
// through double, which rounds once at the end and is nearly always nearest.
#ifndef NUM_LANES_MATH32_H
#define NUM_LANES_MATH32_H

#include "num/lanes_trig64.h"

#define INF32 __builtin_inff()
#define NAN32 __builtin_nanf("")

// Nearest integer of |x| < 2^22, as a float and as an int.
#define SHIFTER32 0x1.8p23f
INLINE float nearest32(float x, int32_t *n)
{
    float t = x + SHIFTER32;
    *n = (int32_t)(bits_f32(t) - bits_f32(SHIFTER32));
    return t - SHIFTER32;
}

// p * 2^n in one rounding, for -252 < n < 254: two factors, the first exact.
INLINE float scale32(float p, int32_t n)
{
    int32_t first = n >> 1, second = n - first;
    p *= f32_bits((uint32_t)(first + 127) << 23);
    return p * f32_bits((uint32_t)(second + 127) << 23);
}

INLINE float clamp32(float x, float low, float high)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}

typedef struct {
    float hi, lo;
} Pair32;

// e^r - 1 of the reduced r: x = n ln2 + r.
INLINE float expm1_reduced32(float x, int32_t *n)
{
    float in = clamp32(x, -105, 90);
    float k = nearest32(in * 0x1.715476p0f, n);
    float hi = fma32(-k, 0x1.62e4p-1f, in);     // exact: 16 bits times 8
    float r = fma32(-k, 0x1.7f7d1cp-20f, hi);
    float low = fma32(-k, 0x1.7f7d1cp-20f, hi - r);
    return r + fma32(r * r, poly_exp32(r), low);
}

// e^x, NaN kept as it is.
INLINE float exp_any32(float x)
{
    int32_t n;
    float p = expm1_reduced32(x, &n);
    return scale32(1 + p, n);
}

// e^x for x <= 0 and what adding the 1 lost.
INLINE Pair32 exp_pair32(float x)
{
    int32_t n;
    float p = expm1_reduced32(x, &n), y = 1 + p;
    return (Pair32){scale32(y, n), scale32((1 - y) + p, n)};
}

INLINE float exp32(float x)
{
    return canon32(exp_any32(x));
}

INLINE float exp2_32(float x)
{
    int32_t n;
    float in = clamp32(x, -151, 129);
    float r = in - nearest32(in, &n);
    return canon32(scale32(fma32(r, poly_exp2_32(r), 1), n));
}

// x = 2^e (1 + f), sqrt(1/2) < 1 + f < sqrt(2), for positive finite x.
typedef struct {
    float e, f;
} Split32;

INLINE Split32 split32(float x)
{
    bool tiny = x < 0x1p-126f;
    uint32_t u = bits_f32(tiny ? x * 0x1p24f : x);
    int32_t shifted = (int32_t)(u - 0x3f3504f4);
    float e = (float)((shifted >> 23) - (tiny ? 24 : 0));
    uint32_t m = ((uint32_t)shifted & 0x007fffff) + 0x3f3504f4;
    return (Split32){e, f32_bits(m) - 1};
}

INLINE float log_ends32(float x, float y)
{
    y = x == INF32 ? x : y;
    y = x == 0 ? -INF32 : y;
    return x >= 0 ? y : NAN32;
}

INLINE float log32(float x)
{
    Split32 v = split32(x);
    float f = v.f, z = f * f;
    float rest = fma32(z * f, poly_log32(f), -0.5f * z);
    float low = fma32(v.e, 0x1.7f7d1cp-20f, rest);
    return log_ends32(x, fma32(v.e, 0x1.62e4p-1f, f + low));
}

INLINE float log2_32(float x)
{
    Split32 v = split32(x);
    float f = v.f, z = f * f;
    // log2(e) in two parts
    float rest = fma32(z, poly_log2_32(f), f * 0x1.4ae0cp-26f);
    return log_ends32(x, v.e + fma32(f, 0x1.715476p0f, rest));
}

INLINE float tanh32(float x)
{
    float ax = __builtin_fabsf(x), z = x * x;
    float near = fma32(x * z, poly_tanh32(z), x);
    float far = 1 - 2 / (exp_any32(2 * ax) + 1);
    return canon32(__builtin_copysignf(ax < 0.55f ? near : far, x));
}

// e^-|x| / (1 + e^-|x|) or 1 / (1 + e^-|x|), the quotient corrected once.
INLINE float sigmoid32(float x)
{
    Pair32 e = exp_pair32(-__builtin_fabsf(x));
    float n = x < 0 ? e.hi : 1, n_lo = x < 0 ? e.lo : 0;
    float d = 1 + e.hi, d_lo = (1 - d) + e.hi + e.lo;
    float inverse = 1 / d, q = n * inverse;
    float rest = fma32(-q, d, n) + fma32(-q, d_lo, n_lo);
    return canon32(fma32(rest, inverse, q));
}

// pow through the shorter double logarithm: |y log2(x)| < 2^8 or so where the
// result is finite, so 2^-45 of it is left uncertain.
INLINE float pow32(float x, float y)
{
    double ax = __builtin_fabs((double)x), ay = __builtin_fabs((double)y);
    double p = exp2_64(ax == 1 ? 0 : y * log2_64(ax));
    p = ax == 1 && ay == INF64 ? 1 : p;
    return (float)pow_ends64(x, y, p);
}

#define BY_DOUBLE(id)                                                         \
    INLINE float id##32(float x)                                       \
    {                                                                         \
        return (float)id##64(x);                                              \
    }
BY_DOUBLE(exp10_)
BY_DOUBLE(expm1_)
BY_DOUBLE(log10_)
BY_DOUBLE(log1p_)
BY_DOUBLE(asin)
BY_DOUBLE(acos)
BY_DOUBLE(atan)
BY_DOUBLE(sinh)
BY_DOUBLE(cosh)
BY_DOUBLE(erf)

INLINE float atan232(float y, float x)
{
    return (float)atan264(y, x);
}
#endif
