// lanes_trig64.h - trigonometry in double.
//
// Sine, cosine and tangent take away the nearest multiple of pi/2, held in
// three parts: up to TRIG_NEAR in the vector loop, beyond it (lanes whose
// argument that is are done again) with as many bits of 2/pi as there are.
#ifndef NUM_LANES_TRIG64_H
#define NUM_LANES_TRIG64_H

#include "num/lanes_math64.h"

#define TRIG_NEAR 0x1p24

#define PI_2_HI 0x1.921fb54442d18p0
#define PI_2_MID 0x1.1a62633145c07p-54
#define PI_2_LO -0x1.f1976b7ed8fbcp-110

typedef struct {
    Pair r;                                     // |r| <= pi/4 and a little
    uint64_t quadrant;                          // its low two bits count
} Angle;

// The first product subtracted is exact: x and n * PI_2_HI are multiples of
// one unit, and their difference is small.
INLINE Angle angle_near(double x)
{
    Angle a;
    double n = nearest64(x * 0x1.45f306dc9c883p-1, &a.quadrant);
    double t = fma64(-n, PI_2_HI, x);
    Pair p = pair_product(n, PI_2_MID);
    Pair r = pair_sum_any(t, -p.hi);
    double lo = fma64(-n, PI_2_LO, r.lo - p.lo);
    a.r = pair_sum(r.hi, lo);
    return a;
}

// 2 / pi, 64 bits a word, after the point.
static const uint64_t two_over_pi[20] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c,
    0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab, 0xf0cfbc209af4361d,
};

// 64 bits of 2/pi from bit `at` on; bits before the point are 0.
static inline uint64_t two_over_pi_bits(int at)
{
    if (at < 0)
        return two_over_pi[0] >> -at;
    int word = at / 64, shift = at % 64;
    uint64_t high = two_over_pi[word] << shift;
    return shift ? high | two_over_pi[word + 1] >> (64 - shift) : high;
}

// Payne and Hanek's reduction of TRIG_NEAR <= |x| < infinity. With x = m 2^e,
// bits of 2/pi that m brings to 4 or more are whole turns and left out; the
// next 192 give m * 2/pi mod 4 to 2^-137, and no double is nearer than 2^-62
// to a multiple of pi/2.
static Angle angle_far(double x)
{
    typedef unsigned __int128 Wide;
    uint64_t u = bits_f64(__builtin_fabs(x));
    uint64_t m = (u & 0x000fffffffffffff) | 0x0010000000000000;
    int at = (int)(u >> 52) - 1075 - 2;         // the bit that weighs 2
    Wide low = (Wide)m * two_over_pi_bits(at + 128);
    Wide mid = (Wide)m * two_over_pi_bits(at + 64) + (uint64_t)(low >> 64);
    Wide turn = ((Wide)(m * two_over_pi_bits(at)) << 64) + mid;
    // Two bits of quadrant, then the part of a quarter turn; to the nearest.
    uint64_t quadrant = (uint64_t)(turn >> 126);
    Wide part = turn << 2;
    bool past = part >> 127;
    part = past ? -part : part;
    double hi = (double)part, lo = (double)(__int128)(part - (Wide)hi);
    Pair r = pair_product(hi * 0x1p-128, PI_2_HI);
    r.lo += fma64(lo * 0x1p-128, PI_2_HI, hi * 0x1p-128 * PI_2_MID);
    r = pair_sum(r.hi, r.lo);
    bool minus = past != (x < 0);
    Angle a = {minus ? (Pair){-r.hi, -r.lo} : r, quadrant + past};
    a.quadrant = x < 0 ? -a.quadrant : a.quadrant;
    return a;
}

INLINE Pair sin_reduced(Pair r)
{
    double z = r.hi * r.hi;
    double lo = fma64(-0.5 * z, r.lo, r.lo);
    return pair_sum(r.hi, fma64(r.hi * z, poly_sin64(z), lo));
}

INLINE Pair cos_reduced(Pair r)
{
    Pair z = pair_product(r.hi, r.hi);
    double lost = fma64(0.5, z.lo, r.hi * r.lo);
    Pair w = pair_sum(1, -0.5 * z.hi);
    return pair_sum(w.hi, w.lo + fma64(z.hi * z.hi, poly_cos64(z.hi), -lost));
}

// sin(x + pi/2 * ahead)
INLINE double sin_of(Angle a, uint64_t ahead)
{
    uint64_t q = a.quadrant + ahead;
    double s = sin_reduced(a.r).hi, c = cos_reduced(a.r).hi;
    double y = q & 1 ? c : s;
    return q & 2 ? -y : y;
}

INLINE double sin_angle(Angle a, double x)
{
    return canon64(x == 0 ? x : sin_of(a, 0));
}

INLINE double cos_angle(Angle a, double x)
{
    (void)x;
    return canon64(sin_of(a, 1));
}

// A quotient of pairs: one division and what it lost.
INLINE double tan_angle(Angle a, double x)
{
    Pair s = sin_reduced(a.r), c = cos_reduced(a.r);
    bool odd = a.quadrant & 1;
    double n = odd ? -c.hi : s.hi, n_lo = odd ? -c.lo : s.lo;
    double d = odd ? s.hi : c.hi, d_lo = odd ? s.lo : c.lo;
    double q = n / d;
    double rest = fma64(-q, d, n) + fma64(-q, d_lo, n_lo);
    return canon64(x == 0 ? x : q + rest / d);
}

typedef double AngleFn(Angle a, double x);

// Near lanes together, far ones singly.
INLINE void
trig_group(double *d, const double *x, AngleFn *of)
{
    int far = 0;
    for (int i = 0; i < GROUP; i++) {
        d[i] = of(angle_near(x[i]), x[i]);
        far |= __builtin_fabs(x[i]) >= TRIG_NEAR;
    }
    for (int i = 0; far && i < GROUP; i++)
        if (__builtin_fabs(x[i]) >= TRIG_NEAR && __builtin_fabs(x[i]) < INF64)
            d[i] = of(angle_far(x[i]), x[i]);
}

#define TRIG_BODY(name, T, of)                                                \
    static void name##_body(void *d, const void *a, const void *b,            \
                            const void *c, int64_t n)                         \
    {                                                                         \
        (void)b, (void)c;                                                     \
        double x[GROUP], y[GROUP];                                            \
        for (int64_t i = 0; i < n; i += GROUP) {                              \
            for (int j = 0; j < GROUP; j++)                                   \
                x[j] = ((const T *)a)[i + j];                                 \
            trig_group(y, x, of);                                             \
            for (int j = 0; j < GROUP; j++)                                   \
                ((T *)d)[i + j] = (T)y[j];                                    \
        }                                                                     \
    }
#define TRIG(name, T, of)                                                     \
    TRIG_BODY(name, T, of)                                                    \
    MAP_WRAP(name, sizeof(T), sizeof(T), 0, 0)

// asin(y) / y - 1 for the reduced y, y^2 <= 1/4.
INLINE double asin_part(double z)
{
    return z * poly_asin64(z);
}

// asin |x| and acos |x| of |x| > 1/2 come from asin of y = sqrt((1 - |x|)/2):
// acos |x| = 2 asin y. y is carried with what the root lost.
INLINE Pair asin_root(double ax)
{
    double z = 0.5 - 0.5 * ax, y = __builtin_sqrt(z);
    double lost = y > 0 ? fma64(-y, y, z) / (2 * y) : 0;
    return (Pair){y, lost};
}

INLINE double asin64(double x)
{
    double ax = __builtin_fabs(x);
    bool near = ax < 0.5;
    Pair y = asin_root(ax);
    double z = near ? x * x : 0.5 - 0.5 * ax, part = asin_part(z);
    double small = fma64(x, part, x);
    double half = fma64(y.hi, part, y.lo);
    // pi/2 - 2 (y + half)
    Pair far = pair_sum(PI_2_HI, -2 * y.hi);
    double large = far.hi + (far.lo + fma64(-2, half, PI_2_MID));
    return canon64(near ? small : __builtin_copysign(large, x));
}

INLINE double acos64(double x)
{
    double ax = __builtin_fabs(x);
    bool near = ax < 0.5;
    Pair y = asin_root(ax);
    double z = near ? x * x : 0.5 - 0.5 * ax, part = asin_part(z);
    Pair mid = pair_sum(PI_2_HI, -x);
    double middle = mid.hi + (mid.lo + fma64(-x, part, PI_2_MID));
    double half = fma64(y.hi, part, y.lo);
    double right = 2 * (y.hi + half);
    Pair left = pair_sum(2 * PI_2_HI, -2 * y.hi);
    double other = left.hi + (left.lo + fma64(-2, half, 2 * PI_2_MID));
    return canon64(near ? middle : x > 0 ? right : other);
}

// k pi/4 + atan(n / d) for a small whole k and |n / d| <= tan(pi/8); what the
// quotient lost is taken along.
INLINE double atan_quotient(Pair n, Pair d, double k)
{
    double inverse = 1 / d.hi, t = n.hi * inverse, z = t * t;
    double rest = fma64(-t, d.hi, n.hi) + fma64(-t, d.lo, n.lo);
    Pair base = pair_product(k, PI_2_HI / 2);
    base.lo = fma64(k, PI_2_MID / 2, base.lo);
    double low = fma64(t * z, poly_atan64(z), fma64(rest, inverse, base.lo));
    Pair sum = pair_sum(base.hi, t);
    return sum.hi + (sum.lo + low);
}

#define TAN_PI_8 0x1.a827999fcef32p-2
#define TAN_3PI_8 0x1.3504f333f9de6p1

INLINE double atan64(double x)
{
    double ax = __builtin_fabs(x), in = ax < 0x1p1000 ? ax : 0x1p1000;
    bool mid = in > TAN_PI_8, far = in > TAN_3PI_8;
    // in, or (in - 1) / (in + 1), or -1 / in
    Pair n = pair_sum_any(far ? 0 : in, mid ? -1 : 0);
    Pair d = pair_sum_any(mid ? in : 0, far ? 0 : 1);
    double y = atan_quotient(n, d, far ? 2 : mid ? 1 : 0);
    return canon64(x == 0 || x != x ? x : __builtin_copysign(y, x));
}

// The angle of (x, y): first of (larger, smaller) in [0, pi/4], then mirrored
// at pi/4 and at pi/2.
INLINE double atan264(double y, double x)
{
    double ax = __builtin_fabs(x), ay = __builtin_fabs(y);
    bool steep = ay > ax, left = __builtin_copysign(1, x) < 0;
    double large = steep ? ay : ax, less = steep ? ax : ay;
    bool equal = less == large, endless = large == INF64;
    double scale = large > 0x1p1000 ? 0x1p-100 : large < 0x1p-900 ? 0x1p100 : 1;
    less = equal ? large > 0 ? 1 : 0 : endless ? 0 : less * scale;
    large = equal || endless ? 1 : large * scale;
    bool mid = less > TAN_PI_8 * large, turn = steep != left;
    Pair n = pair_sum_any(less, mid ? -large : 0);
    Pair d = pair_sum_any(large, mid ? less : 0);
    n = turn ? (Pair){-n.hi, -n.lo} : n;
    double k = (steep ? 2 : left ? 4 : 0) + (mid ? turn ? -1 : 1 : 0);
    double angle = atan_quotient(n, d, k);
    angle = x != x || y != y ? NAN64 : angle;
    return canon64(__builtin_copysign(angle, y));
}
#endif
