// mma_avx2.c - matrix-core arithmetic, 8 columns at a time.
#if defined(__x86_64__)
#pragma GCC target("avx2,fma,f16c")
#define LANES 8
#include "num/mma_vector.h"
#include "num/mma_sum.h"
#include "num/mma_exact.h"
#include "num/mma_paths.h"

bool mma_tile_avx2(const MmaSpec *s, const MmaTile *t)
{
    return run_vector(s, t);
}
#else
#include "num/mma_int.h"

bool mma_tile_avx2(const MmaSpec *s, const MmaTile *t)
{
    (void)s, (void)t;
    return false;
}
#endif
