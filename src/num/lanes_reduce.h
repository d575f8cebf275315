// lanes_reduce.h - many lanes to one, in the order that lanes.h fixes.
//
// The sixteen partial results are one row of lanes, so a step is the lane
// operation itself on sixteen elements, then the rounding row.
#ifndef NUM_LANES_REDUCE_H
#define NUM_LANES_REDUCE_H

#include "num/lanes_int.h"

static inline void reduce_step(LaneFn *op, LaneFn *round, void *p,
                               const void *a, int64_t n)
{
    op(p, p, a, NULL, n);
    if (round)
        round(p, p, NULL, NULL, n);
}

static void reduce_with(LaneFn *op, LaneFn *round, size_t size, void *acc,
                        const void *a, int64_t n)
{
    if (n <= 0)
        return;
    alignas(64) char p[GROUP * 8];
    const char *at = a;
    int64_t width = n < GROUP ? n : GROUP;
    memcpy(p, at, (size_t)width * size);
    for (int64_t i = GROUP; i < n; i += GROUP)
        reduce_step(op, round, p, at + (size_t)i * size,
                    n - i < GROUP ? n - i : GROUP);
    for (int64_t half = GROUP / 2; half; half /= 2)
        if (half < width) {
            reduce_step(op, round, p, p + (size_t)half * size, width - half);
            width = half;
        }
    reduce_step(op, round, acc, p, 1);
}
#endif
