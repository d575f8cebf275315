// lanes_math.h - elementary functions; these are libm's, to be replaced.
#ifndef NUM_LANES_MATH_H
#define NUM_LANES_MATH_H

#include "num/lanes_float.h"

#define LIBM1(id)                                                             \
    static inline float id##32(float x)                                       \
    {                                                                         \
        float y = __builtin_##id##f(x);                                       \
        return y == y ? y : __builtin_nanf("");                               \
    }                                                                         \
    static inline double id##64(double x)                                     \
    {                                                                         \
        double y = __builtin_##id(x);                                         \
        return y == y ? y : __builtin_nan("");                                \
    }
LIBM1(exp)
LIBM1(exp2)
LIBM1(exp10)
LIBM1(expm1)
LIBM1(log)
LIBM1(log2)
LIBM1(log10)
LIBM1(log1p)
LIBM1(sin)
LIBM1(cos)
LIBM1(tan)
LIBM1(asin)
LIBM1(acos)
LIBM1(atan)
LIBM1(sinh)
LIBM1(cosh)
LIBM1(tanh)
LIBM1(erf)

static inline float pow32(float x, float y)
{
    return canon32(__builtin_powf(x, y));
}

static inline double pow64(double x, double y)
{
    return canon64(__builtin_pow(x, y));
}

static inline float atan232(float x, float y)
{
    return canon32(__builtin_atan2f(x, y));
}

static inline double atan264(double x, double y)
{
    return canon64(__builtin_atan2(x, y));
}

static inline float sigmoid32(float x)
{
    return canon32(1 / (1 + __builtin_expf(-x)));
}

static inline double sigmoid64(double x)
{
    return canon64(1 / (1 + __builtin_exp(-x)));
}
#endif
