// lanes_mem.h - between memory and lanes, and between lane types.
#ifndef NUM_LANES_MEM_H
#define NUM_LANES_MEM_H

#include "num/lanes_int.h"

#ifdef __F16C__
#include <immintrin.h>
#endif

// Float to integer: toward zero, NaN to 0, the limits beyond them. (under,
// over) is the open range of floats that have a value.
#define TO_INT(name, F, I, under, over, MIN, MAX)                             \
    INLINE I name(F x)                                                 \
    {                                                                         \
        int in = x > (F)(under) && x < (F)(over);                             \
        I t = (I)(in ? x : 0), end = x > 0 ? MAX : x < 0 ? MIN : 0;           \
        return in ? t : end;                                                  \
    }

// -2^31 - 256 and -2^63 - 2^40 are the floats below the least integers, and
// -2^63 - 2048 the double.
TO_INT(f32_to_i32, float, int32_t, -0x1.000002p31, 0x1p31, INT32_MIN,
       INT32_MAX)
TO_INT(f32_to_u32, float, uint32_t, -1, 0x1p32, 0, UINT32_MAX)
TO_INT(f32_to_i64, float, int64_t, -0x1.000002p63, 0x1p63, INT64_MIN,
       INT64_MAX)
TO_INT(f32_to_u64, float, uint64_t, -1, 0x1p64, 0, UINT64_MAX)
TO_INT(f64_to_i32, double, int32_t, -0x1.00000002p31, 0x1p31, INT32_MIN,
       INT32_MAX)
TO_INT(f64_to_u32, double, uint32_t, -1, 0x1p32, 0, UINT32_MAX)
TO_INT(f64_to_i64, double, int64_t, -0x1.0000000000001p63, 0x1p63, INT64_MIN,
       INT64_MAX)
TO_INT(f64_to_u64, double, uint64_t, -1, 0x1p64, 0, UINT64_MAX)

#define CUT(x, low, high) ((x) < (low) ? (low) : (x) > (high) ? (high) : (x))

INLINE double u64_to_f64_odd(uint64_t u)
{
    uint64_t lost = u & 2047, kept = u - lost;
    return (double)(u >> 53 && lost ? kept | 2048 : u);
}

INLINE double i64_to_f64_odd(int64_t v)
{
    double d = u64_to_f64_odd(v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
    return v < 0 ? -d : d;
}

INLINE uint32_t to_f16(float x)
{
    float r = narrow_round_f32(x, narrow_f16, false);
    return narrow_encode(r, narrow_f16, 16);
}

INLINE uint32_t to_fp8(float x, Narrow f, bool sat)
{
    return narrow_encode(narrow_round_f32(x, f, sat), f, 8);
}

INLINE uint32_t to_fp8_f64(double x, Narrow f, bool sat)
{
    return narrow_encode(narrow_round_f64(x, f, sat), f, 8);
}

// float16. The instructions and narrow.h agree to the bit, NaN included.
#if defined __AVX512F__
INLINE void f16_load16(float *d, const uint16_t *s)
{
    __m256i h = _mm256_loadu_si256((const __m256i_u *)s);
    _mm512_storeu_ps(d, _mm512_cvtph_ps(h));
}

INLINE void f16_store16(uint16_t *d, const float *s)
{
    __m256i h = _mm512_cvtps_ph(_mm512_loadu_ps(s), _MM_FROUND_TO_NEAREST_INT);
    _mm256_storeu_si256((__m256i_u *)d, h);
}
#elif defined __F16C__
INLINE void f16_load16(float *d, const uint16_t *s)
{
    for (int i = 0; i < 16; i += 8) {
        __m128i h = _mm_loadu_si128((const __m128i_u *)(s + i));
        _mm256_storeu_ps(d + i, _mm256_cvtph_ps(h));
    }
}

INLINE void f16_store16(uint16_t *d, const float *s)
{
    for (int i = 0; i < 16; i += 8) {
        __m256 v = _mm256_loadu_ps(s + i);
        __m128i h = _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((__m128i_u *)(d + i), h);
    }
}
#else
INLINE void f16_load16(F32 *d, const U16 *s)
{
    for (int i = 0; i < 16; i++)
        d[i] = narrow_decode(s[i], narrow_f16, 16);
}

INLINE void f16_store16(U16 *d, const F32 *s)
{
    for (int i = 0; i < 16; i++)
        d[i] = (U16)to_f16(s[i]);
}
#endif

#define F16_BODY(name, step)                                                  \
    static void name##_body(void *d, const void *a, const void *b,            \
                            const void *c, int64_t n)                         \
    {                                                                         \
        (void)b, (void)c;                                                     \
        for (int64_t i = 0; i < n; i += GROUP)                                \
            step;                                                             \
    }

INLINE void f16_round16(F32 *d, const F32 *s)
{
    U16 half[GROUP];
    f16_store16(half, s);
    f16_load16(d, half);
}

F16_BODY(load_F16, f16_load16((F32 *)d + i, (const U16 *)a + i))
F16_BODY(store_F16, f16_store16((U16 *)d + i, (const F32 *)a + i))
F16_BODY(round_F16, f16_round16((F32 *)d + i, (const F32 *)a + i))
MAP_WRAP(load_F16, 4, 2, 0, 0)
MAP_WRAP(store_F16, 2, 4, 0, 0)
MAP_WRAP(round_F16, 4, 4, 0, 0)

// Floats that live in f32 lanes.
MAP1(load_BF16, F32, U16, U16, f32_bits((uint32_t)x << 16))
MAP1(store_BF16, U16, F32, F32, bf16_word(x) >> 16)
MAP1(round_BF16, F32, F32, F32, bf16_round_f32(x))
MAP1(load_f64_F16, F64, U16, U16, narrow_decode(x, narrow_f16, 16))
MAP1(store_f64_F16, U16, F64, F64,
     narrow_encode(narrow_round_f64(x, narrow_f16, false), narrow_f16, 16))
MAP1(load_f64_BF16, F64, U16, U16, f32_bits((uint32_t)x << 16))
MAP1(store_f64_BF16, U16, F64, F64,
     bf16_word(narrow_round_f64(x, narrow_bf16, false)) >> 16)

#define FP8(ID, fmt)                                                          \
    MAP1(load_##ID, F32, U8, U8, narrow_decode(x, fmt, 8))                    \
    MAP1(store_##ID, U8, F32, F32, to_fp8(x, fmt, true))                      \
    MAP1(round_##ID, F32, F32, F32, narrow_round_f32(x, fmt, true))           \
    MAP1(store_nosat_##ID, U8, F32, F32, to_fp8(x, fmt, false))               \
    MAP1(round_nosat_##ID, F32, F32, F32, narrow_round_f32(x, fmt, false))    \
    MAP1(load_f64_##ID, F64, U8, U8, narrow_decode(x, fmt, 8))                \
    MAP1(store_f64_##ID, U8, F64, F64, to_fp8_f64(x, fmt, true))
FP8(E4M3FN, narrow_e4m3fn)
FP8(E5M2, narrow_e5m2)
FP8(E4M3FNUZ, narrow_e4m3fnuz)
FP8(E5M2FNUZ, narrow_e5m2fnuz)

MAP1(load_E8M0FNU, F32, U8, U8, e8m0_value(x))
MAP1(store_E8M0FNU, U8, F32, F32, e8m0_up(x))
MAP1(round_E8M0FNU, F32, F32, F32, e8m0_value(e8m0_up(x)))
MAP1(store_nosat_E8M0FNU, U8, F32, F32, e8m0_nearest(x))
MAP1(round_nosat_E8M0FNU, F32, F32, F32, e8m0_value(e8m0_nearest(x)))
MAP1(load_f64_E8M0FNU, F64, U8, U8, e8m0_value(x))
MAP1(store_f64_E8M0FNU, U8, F64, F64, e8m0_up(x))

INLINE float e2m1_round_f32(float x)
{
    return x == x ? narrow_round_f32(x, narrow_e2m1fn, true) : 6;
}

INLINE float e2m1_round_f64(double x)
{
    return x == x ? narrow_round_f64(x, narrow_e2m1fn, true) : 6;
}

MAP1(load_E2M1FN, F32, U8, U8, narrow_decode(x & 15, narrow_e2m1fn, 4))
MAP1(store_E2M1FN, U8, F32, F32,
     narrow_encode(e2m1_round_f32(x), narrow_e2m1fn, 4))
MAP1(round_E2M1FN, F32, F32, F32, e2m1_round_f32(x))
MAP1(load_f64_E2M1FN, F64, U8, U8, narrow_decode(x & 15, narrow_e2m1fn, 4))
MAP1(store_f64_E2M1FN, U8, F64, F64,
     narrow_encode(e2m1_round_f64(x), narrow_e2m1fn, 4))

MAP1(load_TF32, F32, F32, F32, tf32_cut_f32(x))
MAP1(store_TF32, F32, F32, F32, tf32_round_f32(x))
MAP1(load_f64_TF32, F64, F32, F32, tf32_cut_f32(x))
MAP1(store_f64_TF32, F32, F64, F64, tf32_round_f32(f64_to_f32_odd(x)))

// Integers and bool that live in i32 lanes.
#define NARROW_INT(ID, T, low, high)                                          \
    MAP1(load_##ID, I32, T, T, x)                                             \
    MAP1(store_##ID, T, I32, I32, x)                                          \
    MAP1(round_##ID, I32, I32, I32, (T)x)                                     \
    MAP1(clamp_##ID, I32, I32, I32, CUT(x, low, high))                        \
    MAP1(load_f64_##ID, F64, T, T, x)                                         \
    MAP1(store_f64_##ID, T, F64, F64, f64_to_i32(CUT(x, low, high)))
NARROW_INT(I8, I8, INT8_MIN, INT8_MAX)
NARROW_INT(I16, I16, INT16_MIN, INT16_MAX)
NARROW_INT(U8, U8, 0, UINT8_MAX)
NARROW_INT(U16, U16, 0, UINT16_MAX)
// A byte each; the upper half of it does not count.
#define LOW4_SIGNED(x) ((((x) & 15) ^ 8) - 8)
#define NIBBLE(ID, T, low, high, cut)                                         \
    MAP1(load_##ID, I32, T, T, cut(x))                                        \
    MAP1(store_##ID, T, I32, I32, cut(x))                                     \
    MAP1(round_##ID, I32, I32, I32, cut(x))                                   \
    MAP1(clamp_##ID, I32, I32, I32, CUT(x, low, high))                        \
    MAP1(load_f64_##ID, F64, T, T, cut(x))                                    \
    MAP1(store_f64_##ID, T, F64, F64, f64_to_i32(CUT(x, low, high)))
#define LOW4(x) ((x) & 15)
NIBBLE(I4, I8, -8, 7, LOW4_SIGNED)
NIBBLE(U4, U8, 0, 15, LOW4)
MAP1(load_BOOL, I32, U8, U8, x != 0)
MAP1(store_BOOL, U8, I32, I32, x != 0)
MAP1(round_BOOL, I32, I32, I32, x != 0)
MAP1(load_f64_BOOL, F64, U8, U8, x != 0)
MAP1(store_f64_BOOL, U8, F64, F64, x != 0)

// Types that are their own lane; also the diagonal of `convert`.
#define WIDE(T)                                                               \
    MAP1(copy_##T, T, T, T, x)                                                \
    MAP1(load_f64_##T, F64, T, T, (F64)x)
WIDE(F32)
WIDE(F64)
WIDE(I32)
WIDE(U32)
WIDE(I64)
WIDE(U64)
MAP1(store_f64_F64, F64, F64, F64, x)
MAP1(store_f64_F32, F32, F64, F64, (float)x)
MAP1(store_f64_I32, I32, F64, F64, f64_to_i32(x))
MAP1(store_f64_U32, U32, F64, F64, f64_to_u32(x))
MAP1(store_f64_I64, I64, F64, F64, f64_to_i64(x))
MAP1(store_f64_U64, U64, F64, F64, f64_to_u64(x))

// convert_A_B: lane type A to lane type B.
#define FROM_INT(T)                                                           \
    MAP1(convert_##T##_F32, F32, T, T, (float)x)                              \
    MAP1(convert_##T##_F64, F64, T, T, (double)x)
#define FROM_FLOAT(T, f)                                                      \
    MAP1(convert_##T##_I32, I32, T, T, f##_to_i32(x))                         \
    MAP1(convert_##T##_U32, U32, T, T, f##_to_u32(x))                         \
    MAP1(convert_##T##_I64, I64, T, T, f##_to_i64(x))                         \
    MAP1(convert_##T##_U64, U64, T, T, f##_to_u64(x))
FROM_INT(I32)
FROM_INT(U32)
FROM_INT(I64)
FROM_INT(U64)
FROM_FLOAT(F32, f32)
FROM_FLOAT(F64, f64)
MAP1(convert_F32_F64, F64, F32, F32, x)
MAP1(convert_F64_F32, F32, F64, F64, (float)x)
MAP1(convert_I32_I64, I64, I32, I32, x)
MAP1(convert_U32_I64, I64, U32, U32, x)
MAP1(convert_I64_I32, I32, I64, I64, x)

MAP1(convert_odd_F64, F32, F64, F64, f64_to_f32_odd(x))
MAP1(convert_odd_I32, F32, I32, I32, f64_to_f32_odd(x))
MAP1(convert_odd_U32, F32, U32, U32, f64_to_f32_odd(x))
MAP1(convert_odd_I64, F32, I64, I64, f64_to_f32_odd(i64_to_f64_odd(x)))
MAP1(convert_odd_U64, F32, U64, U64, f64_to_f32_odd(u64_to_f64_odd(x)))

#define FP8_TABLE(prefix)                                                     \
    [DT_E4M3FN] = prefix##_E4M3FN, [DT_E5M2] = prefix##_E5M2,                 \
    [DT_E4M3FNUZ] = prefix##_E4M3FNUZ, [DT_E5M2FNUZ] = prefix##_E5M2FNUZ,     \
    [DT_E8M0FNU] = prefix##_E8M0FNU
#define NARROW_TABLE(prefix)                                                  \
    FP8_TABLE(prefix), [DT_F16] = prefix##_F16, [DT_BF16] = prefix##_BF16,    \
    [DT_BOOL] = prefix##_BOOL, [DT_I8] = prefix##_I8,                         \
    [DT_I16] = prefix##_I16, [DT_U8] = prefix##_U8, [DT_U16] = prefix##_U16,  \
    [DT_I4] = prefix##_I4, [DT_U4] = prefix##_U4,                             \
    [DT_E2M1FN] = prefix##_E2M1FN
#define WIDE_TABLE(prefix)                                                    \
    [DT_F32] = prefix##_F32, [DT_F64] = prefix##_F64,                         \
    [DT_I32] = prefix##_I32, [DT_U32] = prefix##_U32,                         \
    [DT_I64] = prefix##_I64, [DT_U64] = prefix##_U64
#define COPY_TABLE                                                            \
    [DT_F32] = copy_F32, [DT_F64] = copy_F64, [DT_I32] = copy_I32,            \
    [DT_U32] = copy_U32, [DT_I64] = copy_I64, [DT_U64] = copy_U64
#endif
