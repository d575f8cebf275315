// mma_vector.h - lanes and primitive operations of one instruction set.
//
// Included by mma_avx2.c and mma_avx512.c alone, which set LANES (floats of a
// register) and the target. The kernels in mma_pack.h, mma_sum.h and
// mma_chain.h are written once, on GCC vector types; only what these cannot
// say is an intrinsic below. Doubles come in halves of LANES / 2.
#include "num/mma_int.h"

#include <immintrin.h>
#include <string.h>

#define HALF (LANES / 2)
#define INLINE static inline __attribute__((always_inline))

typedef float Vf __attribute__((vector_size(4 * LANES)));
typedef int32_t Vi __attribute__((vector_size(4 * LANES)));
typedef uint32_t Vu __attribute__((vector_size(4 * LANES)));
typedef uint16_t Vs __attribute__((vector_size(2 * LANES)));
typedef uint8_t Vb __attribute__((vector_size(LANES)));
typedef float Hf __attribute__((vector_size(4 * HALF)));
typedef int32_t Hi __attribute__((vector_size(4 * HALF)));
typedef double Hd __attribute__((vector_size(8 * HALF)));
typedef int64_t Hl __attribute__((vector_size(8 * HALF)));
// Whole registers of narrow exponents.
typedef uint8_t Vb_full __attribute__((vector_size(4 * LANES)));
typedef int16_t Vs_full __attribute__((vector_size(4 * LANES)));
typedef uint16_t Vus_full __attribute__((vector_size(4 * LANES)));

// Loops over registers must vanish.
#define UNROLL _Pragma("GCC unroll 16")
#define CONVERT(x, T) __builtin_convertvector(x, T)
// Lane by lane, where `mask` is all ones or zeros; integers of one type.
#define SELECT(mask, a, b) (((mask) & (a)) | (~(mask) & (b)))

#if LANES == 16
INLINE Hd round_down(Hd x)
{
    return (Hd)_mm512_roundscale_pd((__m512d)x, _MM_FROUND_TO_NEG_INF |
                                                    _MM_FROUND_NO_EXC);
}

// Nearest f16 values, as floats.
INLINE Vf through_f16(Vf x)
{
    return (Vf)_mm512_cvtph_ps(_mm512_cvtps_ph((__m512)x, 0));
}

// To a float, cut off toward zero.
INLINE Vf cut_to_f32(Vi x)
{
    return (Vf)_mm512_cvt_roundepi32_ps((__m512i)x, _MM_FROUND_TO_ZERO |
                                                        _MM_FROUND_NO_EXC);
}

INLINE uint32_t lanes_of(Vi condition)
{
    return _mm512_movepi32_mask((__m512i)condition);
}

INLINE Vf fma_f32(Vf a, Vf b, Vf c)
{
    return (Vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}

INLINE Hd fma_f64(Hd a, Hd b, Hd c)
{
    return (Hd)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}

// Lane i becomes lane index[i] of x.
INLINE Vu permute(Vu x, Vi index)
{
    return (Vu)_mm512_permutexvar_epi32((__m512i)index, (__m512i)x);
}

// Pairs of int16 multiplied and added to one int32.
INLINE Vi madd(Vi a, Vi b)
{
    return (Vi)_mm512_madd_epi16((__m512i)a, (__m512i)b);
}

INLINE Vi max_i32(Vi a, Vi b)
{
    return (Vi)_mm512_max_epi32((__m512i)a, (__m512i)b);
}

INLINE Vi min_i32(Vi a, Vi b)
{
    return (Vi)_mm512_min_epi32((__m512i)a, (__m512i)b);
}

// Sums of bytes that stop at 255.
INLINE Vb_full adds_u8(Vb_full a, Vb_full b)
{
    return (Vb_full)_mm512_adds_epu8((__m512i)a, (__m512i)b);
}

INLINE Vb_full min_u8(Vb_full a, Vb_full b)
{
    return (Vb_full)_mm512_min_epu8((__m512i)a, (__m512i)b);
}

INLINE Vs_full min_i16(Vs_full a, Vs_full b)
{
    return (Vs_full)_mm512_min_epi16((__m512i)a, (__m512i)b);
}
// floor(x * y), exact even where the product underflows.
INLINE Vi floor_product(Vf x, Vf y)
{
    __m512 p = _mm512_mul_round_ps((__m512)x, (__m512)y,
                                   _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    return (Vi)_mm512_cvt_roundps_epi32(p, _MM_FROUND_TO_NEG_INF |
                                               _MM_FROUND_NO_EXC);
}

INLINE void store_u8(void *at, Vi x)
{
    _mm_storeu_si128(at, _mm512_cvtepi32_epi8((__m512i)x));
}

INLINE void store_i16(void *at, Vi x)
{
    _mm256_storeu_si256(at, _mm512_cvtepi32_epi16((__m512i)x));
}

INLINE Vu max_u32(Vu a, Vu b)
{
    return (Vu)_mm512_max_epu32((__m512i)a, (__m512i)b);
}

INLINE uint32_t lanes_above(Vu a, uint32_t b)
{
    return _mm512_cmpgt_epu32_mask((__m512i)a, _mm512_set1_epi32((int)b));
}

INLINE Vu widen_u8(Vb x)
{
    return (Vu)_mm512_cvtepu8_epi32((__m128i)x);
}

INLINE Vu widen_u16(Vs x)
{
    return (Vu)_mm512_cvtepu16_epi32((__m256i)x);
}

INLINE Vi widen_i16(const void *at)
{
    return (Vi)_mm512_cvtepi16_epi32(_mm256_loadu_si256(at));
}

INLINE Hd f64_of_i32(Hi x)
{
    return (Hd)_mm512_cvtepi32_pd((__m256i)x);
}

INLINE Hd f64_of_f32(Hf x)
{
    return (Hd)_mm512_cvtps_pd((__m256)x);
}

INLINE Hf f32_of_f64(Hd x)
{
    return (Hf)_mm512_cvtpd_ps((__m512d)x);
}

INLINE Vf join_f32(Hf low, Hf high)
{
    return (Vf)_mm512_insertf32x8(_mm512_castps256_ps512((__m256)low),
                                  (__m256)high, 1);
}

INLINE Hf half_f32(Vf v, int half)
{
    return (Hf)(half ? _mm512_extractf32x8_ps((__m512)v, 1)
                     : _mm512_castps512_ps256((__m512)v));
}

INLINE Hi half_i32(Vi v, int half)
{
    return (Hi)(half ? _mm512_extracti32x8_epi32((__m512i)v, 1)
                     : _mm512_castsi512_si256((__m512i)v));
}

INLINE Vf f32_of_f16(const void *at)
{
    return (Vf)_mm512_cvtph_ps(_mm256_loadu_si256(at));
}

INLINE void store_f16(void *at, Vf v)
{
    _mm256_storeu_si256(at, _mm512_cvtps_ph((__m512)v, 0));
}
#else
INLINE Hd round_down(Hd x)
{
    return (Hd)_mm256_round_pd((__m256d)x,
                               _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}

INLINE Vf through_f16(Vf x)
{
    return (Vf)_mm256_cvtph_ps(_mm256_cvtps_ph((__m256)x, 0));
}

INLINE uint32_t lanes_of(Vi condition)
{
    return (uint32_t)_mm256_movemask_ps((__m256)condition);
}

INLINE Vf fma_f32(Vf a, Vf b, Vf c)
{
    return (Vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}

INLINE Hd fma_f64(Hd a, Hd b, Hd c)
{
    return (Hd)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}

INLINE Vu permute(Vu x, Vi index)
{
    return (Vu)_mm256_permutevar8x32_epi32((__m256i)x, (__m256i)index);
}

INLINE Vi madd(Vi a, Vi b)
{
    return (Vi)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}

INLINE Vi max_i32(Vi a, Vi b)
{
    return (Vi)_mm256_max_epi32((__m256i)a, (__m256i)b);
}

INLINE Vi min_i32(Vi a, Vi b)
{
    return (Vi)_mm256_min_epi32((__m256i)a, (__m256i)b);
}

// Sums of bytes that stop at 255.
INLINE Vb_full adds_u8(Vb_full a, Vb_full b)
{
    return (Vb_full)_mm256_adds_epu8((__m256i)a, (__m256i)b);
}

INLINE Vb_full min_u8(Vb_full a, Vb_full b)
{
    return (Vb_full)_mm256_min_epu8((__m256i)a, (__m256i)b);
}

INLINE Vs_full min_i16(Vs_full a, Vs_full b)
{
    return (Vs_full)_mm256_min_epi16((__m256i)a, (__m256i)b);
}
INLINE void store_i16(void *at, Vi x)
{
    __m256i pairs = _mm256_packs_epi32((__m256i)x, (__m256i)x);
    pairs = _mm256_permute4x64_epi64(pairs, 0x08);
    _mm_storeu_si128(at, _mm256_castsi256_si128(pairs));
}

INLINE void store_u8(void *at, Vi x)
{
    __m128i words;
    store_i16(&words, x);
    _mm_storel_epi64(at, _mm_packus_epi16(words, words));
}

INLINE Vu max_u32(Vu a, Vu b)
{
    return (Vu)_mm256_max_epu32((__m256i)a, (__m256i)b);
}

INLINE uint32_t lanes_above(Vu a, uint32_t b)
{
    return lanes_of((Vi)(a > (Vu){0} + b));
}

INLINE Vu widen_u8(Vb x)
{
    return (Vu)_mm256_cvtepu8_epi32(_mm_set_epi64x(0, (int64_t)x));
}

INLINE Vu widen_u16(Vs x)
{
    return (Vu)_mm256_cvtepu16_epi32((__m128i)x);
}

INLINE Vi widen_i16(const void *at)
{
    return (Vi)_mm256_cvtepi16_epi32(_mm_loadu_si128(at));
}

INLINE Hd f64_of_i32(Hi x)
{
    return (Hd)_mm256_cvtepi32_pd((__m128i)x);
}

INLINE Hd f64_of_f32(Hf x)
{
    return (Hd)_mm256_cvtps_pd((__m128)x);
}

INLINE Hf f32_of_f64(Hd x)
{
    return (Hf)_mm256_cvtpd_ps((__m256d)x);
}

INLINE Vf join_f32(Hf low, Hf high)
{
    return (Vf)_mm256_insertf128_ps(_mm256_castps128_ps256((__m128)low),
                                    (__m128)high, 1);
}

INLINE Hf half_f32(Vf v, int half)
{
    return (Hf)(half ? _mm256_extractf128_ps((__m256)v, 1)
                     : _mm256_castps256_ps128((__m256)v));
}

INLINE Hi half_i32(Vi v, int half)
{
    return (Hi)(half ? _mm256_extracti128_si256((__m256i)v, 1)
                     : _mm256_castsi256_si128((__m256i)v));
}

// floor(x * y), exact even where a float product would underflow.
INLINE Vi floor_product(Vf x, Vf y)
{
    Hd low = f64_of_f32(half_f32(x, 0)) * f64_of_f32(half_f32(y, 0));
    Hd high = f64_of_f32(half_f32(x, 1)) * f64_of_f32(half_f32(y, 1));
    __m128i l = _mm256_cvtpd_epi32((__m256d)round_down(low));
    __m128i h = _mm256_cvtpd_epi32((__m256d)round_down(high));
    return (Vi)_mm256_set_m128i(h, l);
}

// To a float, cut off toward zero: a double holds an int32, and its low bits
// go before they could be rounded.
INLINE Vf cut_to_f32(Vi x)
{
    Hl low = (Hl)f64_of_i32(half_i32(x, 0)) >> 29 << 29;
    Hl high = (Hl)f64_of_i32(half_i32(x, 1)) >> 29 << 29;
    return join_f32(f32_of_f64((Hd)low), f32_of_f64((Hd)high));
}

INLINE Vf f32_of_f16(const void *at)
{
    return (Vf)_mm256_cvtph_ps(_mm_loadu_si128(at));
}

INLINE void store_f16(void *at, Vf v)
{
    _mm_storeu_si128(at, _mm256_cvtps_ph((__m256)v, 0));
}
#endif

INLINE Vf load_f32(const void *at)
{
    Vf v;
    memcpy(&v, at, sizeof v);
    return v;
}

INLINE void store_f32(void *at, Vf v)
{
    memcpy(at, &v, sizeof v);
}

INLINE Vi lane_numbers(void)
{
    Vi n = {0};
    UNROLL for (int i = 0; i < LANES; i++)
        n[i] = i;
    return n;
}

// Blocks of `step` lanes change places: where bit `step` of a lane's number
// is set, that of *a goes to *b, and what *b has there before it to *a.
INLINE void swap_blocks(Vu *a, Vu *b, int step)
{
    Vi n = lane_numbers();
    Vu odd = (Vu)((n & step) != 0);
    Vu first = SELECT(odd, permute(*b, n ^ step), *a);
    *b = SELECT(odd, *b, permute(*a, n ^ step));
    *a = first;
}

// Rows become columns.
INLINE void transpose(Vu v[LANES])
{
    UNROLL for (int step = 1; step < LANES; step *= 2)
        UNROLL for (int i = 0; i < LANES; i++)
            if (!(i & step))
                swap_blocks(&v[i], &v[i + step], step);
}

// 2^(n - 127), n in 0 .. 254.
INLINE Vf power_f32(Vi n)
{
    return (Vf)(n << 23);
}

// 1 / x of a power of two; 0 for 2^127.
INLINE Vf inverse_f32(Vf x)
{
    return (Vf)((254 << 23) - (Vi)x);
}
