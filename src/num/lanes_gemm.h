// lanes_gemm.h - the matrix products: register tiles per instruction set.
#ifndef NUM_LANES_GEMM_H
#define NUM_LANES_GEMM_H

#include "num/lanes_float.h"

// Tiles: registers hold rows x vecs accumulators, vecs vectors of B and one
// broadcast of A. ROWS_WIDEST is the tallest with the full VECS.
#if defined __AVX512F__
#include <immintrin.h>
enum { VECTOR_BYTES = 64, VECS = 4, ROWS = 8, ROWS_WIDEST = 6 };
#define TILES_UPTO_6(X, vecs)                                                 \
    X(1, vecs) X(2, vecs) X(3, vecs) X(4, vecs) X(5, vecs) X(6, vecs)
#define TILES_UPTO_8(X, vecs) TILES_UPTO_6(X, vecs) X(7, vecs) X(8, vecs)
#define TILES(X)                                                              \
    TILES_UPTO_8(X, 1) TILES_UPTO_8(X, 2) TILES_UPTO_8(X, 3) TILES_UPTO_6(X, 4)
#define LINK_F32(a, b, c) _mm512_fmadd_ps(a, b, c)
#define LINK_F64(a, b, c) _mm512_fmadd_pd(a, b, c)
#define CANON_F32(v)                                                          \
    _mm512_mask_mov_ps(v, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q),             \
                       _mm512_set1_ps(__builtin_nanf("")))
#define CANON_F64(v)                                                          \
    _mm512_mask_mov_pd(v, _mm512_cmp_pd_mask(v, v, _CMP_UNORD_Q),             \
                       _mm512_set1_pd(__builtin_nan("")))
#define SPLAT_F32 _mm512_set1_ps
#define SPLAT_F64 _mm512_set1_pd
#define SPLAT_I32(x) ((i32_Vec)_mm512_set1_epi32(x))
#elif defined __AVX2__
#include <immintrin.h>
enum { VECTOR_BYTES = 32, VECS = 2, ROWS = 6, ROWS_WIDEST = 6 };
#define TILES_UPTO_6(X, vecs)                                                 \
    X(1, vecs) X(2, vecs) X(3, vecs) X(4, vecs) X(5, vecs) X(6, vecs)
#define TILES(X) TILES_UPTO_6(X, 1) TILES_UPTO_6(X, 2)
#define LINK_F32(a, b, c) _mm256_fmadd_ps(a, b, c)
#define LINK_F64(a, b, c) _mm256_fmadd_pd(a, b, c)
#define CANON_F32(v)                                                          \
    _mm256_blendv_ps(v, _mm256_set1_ps(__builtin_nanf("")),                   \
                     _mm256_cmp_ps(v, v, _CMP_UNORD_Q))
#define CANON_F64(v)                                                          \
    _mm256_blendv_pd(v, _mm256_set1_pd(__builtin_nan("")),                    \
                     _mm256_cmp_pd(v, v, _CMP_UNORD_Q))
#define SPLAT_F32 _mm256_set1_ps
#define SPLAT_F64 _mm256_set1_pd
#define SPLAT_I32(x) ((i32_Vec)_mm256_set1_epi32(x))
#else
enum { VECTOR_BYTES = 16, VECS = 2, ROWS = 4, ROWS_WIDEST = 4 };
#define TILES(X)                                                              \
    X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(1, 2) X(2, 2) X(3, 2) X(4, 2)
#define LINK_F32(a, b, c)                                                      \
    ((f32_Vec){fma32(a[0], b[0], c[0]), fma32(a[1], b[1], c[1]),              \
               fma32(a[2], b[2], c[2]), fma32(a[3], b[3], c[3])})
#define LINK_F64(a, b, c)                                                      \
    ((f64_Vec){fma64(a[0], b[0], c[0]), fma64(a[1], b[1], c[1])})
#define CANON_F32(v)                                                          \
    ((f32_Vec){canon32(v[0]), canon32(v[1]), canon32(v[2]), canon32(v[3])})
#define CANON_F64(v) ((f64_Vec){canon64(v[0]), canon64(v[1])})
#define SPLAT_F32(x) ((f32_Vec){x, x, x, x})
#define SPLAT_F64(x) ((f64_Vec){x, x})
#define SPLAT_I32(x) ((i32_Vec){x, x, x, x})
#endif

#define T float
#define FN(x) LANES_CAT(f32, x)
#define SPLAT SPLAT_F32
#define STEP LINK_F32
#define FINISH CANON_F32
#include "num/lanes_gemm_kernel.inc"

#define T double
#define FN(x) LANES_CAT(f64, x)
#define SPLAT SPLAT_F64
#define STEP LINK_F64
#define FINISH CANON_F64
#include "num/lanes_gemm_kernel.inc"

// Looks first: there hardly ever is one.
static void canon_f32(int m, int n, float *c, int64_t ldc)
{
    for (int i = 0; i < m; i++, c += ldc) {
        int found = 0;
        for (int j = 0; j < n; j++)
            found |= c[j] != c[j];
        for (int j = 0; found && j < n; j++)
            c[j] = canon32(c[j]);
    }
}

// Unsigned, so that overflow wraps.
#define T uint32_t
#define FN(x) LANES_CAT(i32, x)
#define SPLAT(x) SPLAT_I32((int)(x))
#define STEP(a, b, c) ((a) * (b) + (c))
#define FINISH(v) (v)
#include "num/lanes_gemm_kernel.inc"

static void gemm_i32(int m, int n, int k, const int32_t *a, int64_t lda,
                     const int32_t *b, int64_t ldb, int32_t *c, int64_t ldc)
{
    i32_gemm(m, n, k, (const uint32_t *)a, lda, (const uint32_t *)b, ldb,
             (uint32_t *)c, ldc);
}
#endif
