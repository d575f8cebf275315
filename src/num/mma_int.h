// mma_int.h - what the scalar and the vector path of mma.h share.
#ifndef NUM_MMA_INT_H
#define NUM_MMA_INT_H

#include "num/mma.h"

// A finite number is significand * 2^(exponent - mantissa bits); subnormals
// keep the least exponent and stay below 2^(mantissa bits).
typedef enum { MMA_ZERO, MMA_FINITE, MMA_INF, MMA_NAN } MmaClass;

typedef struct {
    MmaClass class;
    bool negative;
    int exponent;
    uint32_t significand;
} MmaNumber;

MmaNumber mma_decode(const MmaTypeInfo *t, uint32_t bits);

// Element i of an array of elements that have `bits` bits.
void mma_store(void *at, int64_t i, int bits, uint64_t value);

// One output, the reference: the accumulator bits after k products of the
// elements from `a` and `b` on.
uint64_t mma_scalar_dot(const MmaSpec *s, const void *a, const void *b,
                        int k, uint64_t c);

void mma_tile_scalar(const MmaSpec *s, const MmaTile *t);

// The vector paths; false when they have no code for the arithmetic.
bool mma_tile_avx2(const MmaSpec *s, const MmaTile *t);
bool mma_tile_avx512(const MmaSpec *s, const MmaTile *t);
#endif
