// xgemm.h - gemm_f32 of one shape, by libxsmm where that gives the same bits.
//
// libxsmm makes a kernel for each shape at run time. It may split k for some;
// so a kernel is tried on pseudo-random data when it is made, and where a bit
// differs from Lanes.gemm_f32 (or there is no libxsmm, or TILESIM_XSMM=0) the
// shape is served by that. Either way the contract is that of gemm_f32.
#ifndef NUM_XGEMM_H
#define NUM_XGEMM_H

#include "num/lanes.h"

typedef struct XGemm XGemm;
typedef struct XGemmCache XGemmCache;

XGemmCache *xgemm_create(void);
void xgemm_destroy(XGemmCache *cache);          // and all its plans

// The plan of a shape; pitches in elements. Any thread may ask; keep the
// answer, it lives as long as the cache.
const XGemm *xgemm_plan(XGemmCache *cache, int m, int n, int k, int64_t lda,
                        int64_t ldb, int64_t ldc);
void xgemm_f32(const XGemm *plan, const float *a, const float *b, float *c);

// "libxsmm 1.17", or what a build without it says.
const char *xgemm_library(void);
#endif
