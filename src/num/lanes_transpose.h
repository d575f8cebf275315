// lanes_transpose.h - rows to columns, in square blocks that fit registers.
#ifndef NUM_LANES_TRANSPOSE_H
#define NUM_LANES_TRANSPOSE_H

#include "num/lanes_int.h"

#ifdef __AVX__
#include <immintrin.h>

enum { BLOCK32 = 8, BLOCK64 = 4 };

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
enum { BLOCK32 = 8, BLOCK64 = 4 };

static void block32(U32 *d, int64_t ldd, const U32 *s, int64_t lds)
{
    for (int c = 0; c < BLOCK32; c++)
        for (int r = 0; r < BLOCK32; r++)
            d[c * ldd + r] = s[r * lds + c];
}

static void block64(U64 *d, int64_t ldd, const U64 *s, int64_t lds)
{
    for (int c = 0; c < BLOCK64; c++)
        for (int r = 0; r < BLOCK64; r++)
            d[c * ldd + r] = s[r * lds + c];
}
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
TRANSPOSE(transpose32, U32, block32, BLOCK32)
TRANSPOSE(transpose64, U64, block64, BLOCK64)
#endif
