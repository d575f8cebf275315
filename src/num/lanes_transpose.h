// lanes_transpose.h - rows to columns, in square blocks that fit registers.
#ifndef NUM_LANES_TRANSPOSE_H
#define NUM_LANES_TRANSPOSE_H

#include "num/lanes_int.h"

#ifdef __AVX__
#include <immintrin.h>

enum { BLOCK8 = 8, BLOCK16 = 8, BLOCK32 = 8, BLOCK64 = 4 };

// Rows of pairs, of pairs of pairs, and so on.
static void block8(U8 *d, int64_t ldd, const U8 *s, int64_t lds)
{
    __m128i a[4], b[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        a[i] = _mm_unpacklo_epi8(
            _mm_loadl_epi64((const __m128i_u *)(s + 2 * i * lds)),
            _mm_loadl_epi64((const __m128i_u *)(s + (2 * i + 1) * lds)));
#pragma GCC unroll 2
    for (int i = 0; i < 4; i += 2) {
        b[i] = _mm_unpacklo_epi16(a[i], a[i + 1]);
        b[i + 1] = _mm_unpackhi_epi16(a[i], a[i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        __m128i low = _mm_unpacklo_epi32(b[i], b[i + 2]);
        __m128i high = _mm_unpackhi_epi32(b[i], b[i + 2]);
        U8 *to = d + 4 * i * ldd;

        _mm_storel_epi64((__m128i_u *)to, low);
        _mm_storeh_pd((double *)(to + ldd), (__m128d)low);
        _mm_storel_epi64((__m128i_u *)(to + 2 * ldd), high);
        _mm_storeh_pd((double *)(to + 3 * ldd), (__m128d)high);
    }
}

static void block16(U16 *d, int64_t ldd, const U16 *s, int64_t lds)
{
    __m128i a[8], b[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        b[i] = _mm_loadu_si128((const __m128i_u *)(s + i * lds));
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) {
        a[i] = _mm_unpacklo_epi16(b[i], b[i + 1]);
        a[i + 1] = _mm_unpackhi_epi16(b[i], b[i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 8; i += 4)
#pragma GCC unroll 2
        for (int j = 0; j < 2; j++) {
            b[i + 2 * j] = _mm_unpacklo_epi32(a[i + j], a[i + j + 2]);
            b[i + 2 * j + 1] = _mm_unpackhi_epi32(a[i + j], a[i + j + 2]);
        }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        __m128i low = _mm_unpacklo_epi64(b[i], b[i + 4]);
        __m128i high = _mm_unpackhi_epi64(b[i], b[i + 4]);

        _mm_storeu_si128((__m128i_u *)(d + 2 * i * ldd), low);
        _mm_storeu_si128((__m128i_u *)(d + (2 * i + 1) * ldd), high);
    }
}

// Pairs of rows are interleaved, then pairs of pairs, then the halves.
static void block32(U32 *d, int64_t ldd, const U32 *s, int64_t lds)
{
    __m256 a[8], b[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        a[i] = _mm256_loadu_ps((const float *)(s + i * lds));
#pragma GCC unroll 8
    for (int i = 0; i < 8; i += 2) {
        b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
        b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i += 4)
#pragma GCC unroll 2
        for (int j = 0; j < 2; j++) {
            a[i + 2 * j] = _mm256_shuffle_ps(b[i + j], b[i + j + 2], 0x44);
            a[i + 2 * j + 1] = _mm256_shuffle_ps(b[i + j], b[i + j + 2], 0xee);
        }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        __m256 low = _mm256_permute2f128_ps(a[i], a[i + 4], 0x20);
        __m256 high = _mm256_permute2f128_ps(a[i], a[i + 4], 0x31);
        _mm256_storeu_ps((float *)(d + i * ldd), low);
        _mm256_storeu_ps((float *)(d + (i + 4) * ldd), high);
    }
}

static void block64(U64 *d, int64_t ldd, const U64 *s, int64_t lds)
{
    __m256d a[4], b[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        a[i] = _mm256_loadu_pd((const double *)(s + i * lds));
#pragma GCC unroll 2
    for (int i = 0; i < 4; i += 2) {
        b[i] = _mm256_unpacklo_pd(a[i], a[i + 1]);
        b[i + 1] = _mm256_unpackhi_pd(a[i], a[i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        __m256d low = _mm256_permute2f128_pd(b[i], b[i + 2], 0x20);
        __m256d high = _mm256_permute2f128_pd(b[i], b[i + 2], 0x31);
        _mm256_storeu_pd((double *)(d + i * ldd), low);
        _mm256_storeu_pd((double *)(d + (i + 2) * ldd), high);
    }
}
#else
enum { BLOCK8 = 8, BLOCK16 = 8, BLOCK32 = 8, BLOCK64 = 4 };

#define BLOCK(name, T, SIDE)                                                  \
    static void name(T *d, int64_t ldd, const T *s, int64_t lds)              \
    {                                                                         \
        for (int c = 0; c < SIDE; c++)                                        \
            for (int r = 0; r < SIDE; r++)                                    \
                d[c * ldd + r] = s[r * lds + c];                              \
    }
BLOCK(block8, U8, BLOCK8)
BLOCK(block16, U16, BLOCK16)
BLOCK(block32, U32, BLOCK32)
BLOCK(block64, U64, BLOCK64)
#undef BLOCK
#endif

// The whole blocks, then the columns right of them, then the rows below.
#define TRANSPOSE(name, T, block, SIDE)                                       \
    static void name(void *dst, int64_t ldd, const void *src, int64_t lds,    \
                     int rows, int cols)                                      \
    {                                                                         \
        T *d = dst;                                                           \
        const T *s = src;                                                     \
        int whole_rows = rows - rows % SIDE, whole_cols = cols - cols % SIDE; \
        for (int c = 0; c < whole_cols; c += SIDE)                            \
            for (int r = 0; r < whole_rows; r += SIDE)                        \
                block(d + c * ldd + r, ldd, s + r * lds + c, lds);            \
        for (int c = 0; c < cols; c++)                                        \
            for (int r = c < whole_cols ? whole_rows : 0; r < rows; r++)      \
                d[c * ldd + r] = s[r * lds + c];                              \
    }
TRANSPOSE(transpose8, U8, block8, BLOCK8)
TRANSPOSE(transpose16, U16, block16, BLOCK16)
TRANSPOSE(transpose32, U32, block32, BLOCK32)
TRANSPOSE(transpose64, U64, block64, BLOCK64)
#endif
