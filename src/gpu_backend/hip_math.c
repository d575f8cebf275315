// hip_math.c - functions of floats that CUDA's compiler brings along and clang
// without AMD's device library does not.
//
// All are calculated in double: of float the result is right but for some last
// places that two roundings leave, of double to a few units in the last place.
#include "gpu_backend/dialect.h"

#define ONE(name)                                                             \
    "DEVICE float " name "f(float x) { return (float)" name "((double)x); }\n"

static const GpuPart parts[] = {
    {"exp", "",
     "DEVICE double exp(double x)\n"
     "{\n"
     "    if (!(x < 710.0))\n"
     "        return x != x ? x : bits_f64(0x7ff0000000000000ull);\n"
     "    if (x < -746.0)\n"
     "        return 0.0;\n"
     "    double n = __builtin_rint(x * 1.4426950408889634);\n"
     "    double r = __builtin_fma(-n, 0x1.62e42fefa39efp-1, x);\n"
     "    r = __builtin_fma(-n, 0x1.abc9e3b39803fp-56, r);\n"
     "    double s = 1.0;\n"
     "    #pragma unroll\n"
     "    for (int i = 14; i > 0; i--)\n"
     "        s = __builtin_fma(s, r / i, 1.0);\n"
     "    return __builtin_ldexp(s, (int)n);\n"
     "}\n"},
    {"log", "",
     "DEVICE double log(double x)\n"
     "{\n"
     "    if (!(x > 0))\n"
     "        return x == 0 ? bits_f64(0xfff0000000000000ull)\n"
     "                      : bits_f64(0x7ff8000000000000ull);\n"
     "    if (x - x != 0)\n"
     "        return x;\n"
     "    double m = __builtin_amdgcn_frexp_mant(x);\n"
     "    int e = __builtin_amdgcn_frexp_exp(x);\n"
     "    if (m < 0.70710678118654752) {\n"
     "        m *= 2;\n"
     "        e--;\n"
     "    }\n"
     "    double f = (m - 1) / (m + 1), q = f * f, s = 0;\n"
     "    #pragma unroll\n"
     "    for (int i = 21; i > 0; i -= 2)\n"
     "        s = __builtin_fma(s, q, 1.0 / i);\n"
     "    return __builtin_fma(e, 0x1.62e42fefa39efp-1,\n"
     "                         __builtin_fma(e, 0x1.abc9e3b39803fp-56, 2 * f * s));\n"
     "}\n"},
    {"exp2|exp10|log2|log10", "",
     "DEVICE double exp2(double x) { return exp(x * 0.69314718055994531); }\n"
     "DEVICE double exp10(double x) { return exp(x * 2.302585092994046); }\n"
     "DEVICE double log2(double x) { return log(x) * 1.4426950408889634; }\n"
     "DEVICE double log10(double x) { return log(x) * 0.43429448190325183; }\n"},
    {"log1p|log1pf", "",
     "DEVICE double log1p(double x)\n"
     "{\n"
     "    double y = 1 + x;\n"
     "    return y == 1 || y - y != 0 ? x : log(y) * (x / (y - 1));\n"
     "}\n"
     ONE("log1p")},
    {"sin|cos|tan|sinf|cosf|tanf", "",
     "// Quarters of a turn, and what is left, up to 2^30 quarters.\n"
     "DEVICE int quarter(double x, double *left)\n"
     "{\n"
     "    double n = __builtin_rint(x * 0.63661977236758134);\n"
     "    double r = __builtin_fma(-n, 0x1.921fb54442d18p+0, x);\n"
     "    r = __builtin_fma(-n, 0x1.1a62633145c07p-54, r);\n"
     "    *left = r;\n"
     "    return (int)(n - 4 * __builtin_floor(n / 4));\n"
     "}\n"
     "DEVICE double wave_of(double r, bool cosine)\n"
     "{\n"
     "    double q = -r * r, s = 1;\n"
     "    #pragma unroll\n"
     "    for (int i = 18; i > 0; i -= 2)\n"
     "        s = __builtin_fma(s, cosine ? q / ((i - 1) * i) : q / (i * (i + 1)), 1);\n"
     "    return cosine ? s : s * r;\n"
     "}\n"
     "DEVICE double sin(double x)\n"
     "{\n"
     "    double r;\n"
     "    int n = quarter(x, &r);\n"
     "    double y = n % 2 ? wave_of(r, true) : wave_of(r, false);\n"
     "    return n / 2 ? -y : y;\n"
     "}\n"
     "DEVICE double cos(double x)\n"
     "{\n"
     "    double r;\n"
     "    int n = quarter(x, &r);\n"
     "    double y = n % 2 ? wave_of(r, false) : wave_of(r, true);\n"
     "    return n == 1 || n == 2 ? -y : y;\n"
     "}\n"
     "DEVICE double tan(double x) { return sin(x) / cos(x); }\n"
     ONE("sin") ONE("cos") ONE("tan")},
    {"atan|atan2|asin|acos|atanf|atan2f|asinf|acosf", "",
     "DEVICE double atan(double x)\n"
     "{\n"
     "    double a = __builtin_fabs(x), y = a > 1 ? 1 / a : a, s = 0;\n"
     "    y = y / (1 + __builtin_sqrt(1 + y * y));\n"
     "    y = y / (1 + __builtin_sqrt(1 + y * y));\n"
     "    #pragma unroll\n"
     "    for (int i = 23; i > 0; i -= 2)\n"
     "        s = __builtin_fma(s, -y * y, 1.0 / i);\n"
     "    s *= 4 * y;\n"
     "    s = a > 1 ? 1.5707963267948966 - s : s;\n"
     "    return __builtin_copysign(s, x);\n"
     "}\n"
     "DEVICE double atan2(double y, double x)\n"
     "{\n"
     "    if (x == 0 && y == 0)\n"
     "        return __builtin_copysign(1.0, x) > 0\n"
     "                   ? y : __builtin_copysign(3.1415926535897931, y);\n"
     "    double a = atan(y / x);\n"
     "    return x < 0 ? a + __builtin_copysign(3.1415926535897931, y) : a;\n"
     "}\n"
     "DEVICE double asin(double x)\n"
     "{\n"
     "    return atan2(x, __builtin_sqrt((1 - x) * (1 + x)));\n"
     "}\n"
     "DEVICE double acos(double x)\n"
     "{\n"
     "    return atan2(__builtin_sqrt((1 - x) * (1 + x)), x);\n"
     "}\n"
     ONE("atan") ONE("asin") ONE("acos")
     "DEVICE float atan2f(float y, float x) { return (float)atan2((double)y, x); }\n"},
    {"sinh|cosh|tanh|sinhf|coshf|tanhf", "",
     "DEVICE double sinh(double x)\n"
     "{\n"
     "    if (__builtin_fabs(x) < 1e-3)\n"
     "        return x + x * x * x / 6;\n"
     "    return (exp(x) - exp(-x)) / 2;\n"
     "}\n"
     "DEVICE double cosh(double x) { return (exp(x) + exp(-x)) / 2; }\n"
     "DEVICE double tanh(double x)\n"
     "{\n"
     "    double t = exp(-2 * __builtin_fabs(x));\n"
     "    if (__builtin_fabs(x) < 1e-3)\n"
     "        return x - x * x * x / 3;\n"
     "    return __builtin_copysign((1 - t) / (1 + t), x);\n"
     "}\n"
     ONE("sinh") ONE("cosh") ONE("tanh")},
    {"erf|erff", "",
     "DEVICE double erf(double x)\n"
     "{\n"
     "    double a = __builtin_fabs(x), q = a * a, s = 0;\n"
     "    if (a > 6)\n"
     "        return __builtin_copysign(1.0, x);\n"
     "    for (int i = 120; i > 0; i--)\n"
     "        s = __builtin_fma(s, 2 * q / (2 * i + 1), 1);\n"
     "    return x * s * exp(-q) * 1.1283791670955126;\n"
     "}\n"
     ONE("erf")},
    {"pow|powf", "",
     "DEVICE double pow(double x, double y)\n"
     "{\n"
     "    double a = __builtin_fabs(x), half = y / 2;\n"
     "    bool whole = __builtin_rint(y) == y;\n"
     "    bool odd = whole && __builtin_rint(half) != half;\n"
     "    if (y == 0 || x == 1)\n"
     "        return 1;\n"
     "    if (x < 0 && !whole)\n"
     "        return bits_f64(0x7ff8000000000000ull);\n"
     "    double r = exp(y * log(a));\n"
     "    return x < 0 && odd ? -r : r;\n"
     "}\n"
     "DEVICE float powf(float x, float y) { return (float)pow((double)x, y); }\n"},
    {"fmod|fmodf", "",
     "DEVICE double fmod(double x, double y)\n"
     "{\n"
     "    double a = __builtin_fabs(x), b = __builtin_fabs(y);\n"
     "    double r = __builtin_fma(-__builtin_trunc(a / b), b, a);\n"
     "    r = r < 0 ? r + b : r >= b ? r - b : r;\n"
     "    return __builtin_copysign(r, x);\n"
     "}\n"
     "DEVICE float fmodf(float x, float y) { return (float)fmod((double)x, y); }\n"},
};

const GpuPart *gpu_hip_math(int *count)
{
    *count = countof(parts);
    return parts;
}
