// mma_avx512.c - matrix-core arithmetic, 16 columns at a time.
#include "num/mma_int.h"

#if defined(__x86_64__)
#if defined(__clang__)
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target(                           \
    "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")
#endif
#define LANES 16
#include "num/mma_vector.h"
#include "num/mma_sum.h"
#include "num/mma_exact.h"
#include "num/mma_paths.h"

bool mma_tile_avx512(const MmaSpec *s, const MmaTile *t)
{
    return run_vector(s, t);
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
#else
bool mma_tile_avx512(const MmaSpec *s, const MmaTile *t)
{
    (void)s, (void)t;
    return false;
}
#endif
