// mma_paths.h - the kernel for an arithmetic. Included by the vector paths.

#define REAL float
#define VEC Vf
#define FMA fma_f32
#define CHAIN(name) name##_f32
#include "num/mma_chain.h"

#define REAL double
#define VEC Hd
#define FMA fma_f64
#define CHAIN(name) name##_f64
#include "num/mma_chain.h"

// False when no kernel does this arithmetic.
static bool run_vector(const MmaSpec *s, const MmaTile *t)
{
    if (s->rule == MMA_CHAIN && s->acc == MMA_F32)
        run_f32(s, t);
    else if (s->rule == MMA_CHAIN)
        run_f64(s, t);
    else if (s->rule == MMA_EXACT && has_exact_kernel(s))
        run_exact(s, t);
    else if (has_sum_kernel(s))
        run_sums(s, t);
    else
        return false;
    return true;
}
