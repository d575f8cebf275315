// lanes_reduce.h - many lanes to one, in the order that lanes.h fixes.
//
// The sixteen partial results are one row of lanes, so a step is the lane
// operation itself on sixteen elements, then the rounding row.
#ifndef NUM_LANES_REDUCE_H
#define NUM_LANES_REDUCE_H

#include "num/lanes_float.h"

static inline void reduce_step(LaneFn *op, LaneFn *round, void *p,
                               const void *a, int64_t n)
{
    op(p, p, a, NULL, n);
    if (round)
        round(p, p, NULL, NULL, n);
}

// The same steps for whole groups of f32, which most tiles are made of: the
// partial results stay in registers. `step` is inlined into each copy.
typedef float FloatStep(float x, float y);

static inline __attribute__((always_inline)) void halve_F32(F32 *p, int half,
                                                            FloatStep *step)
{
    for (int j = 0; j < half; j++)
        p[j] = step(p[j], p[j + half]);
}

static inline __attribute__((always_inline)) void
reduce_F32(F32 *acc, const F32 *a, int64_t n, FloatStep *step)
{
    alignas(64) F32 p[GROUP];
    memcpy(p, a, sizeof p);
    for (int64_t i = GROUP; i < n; i += GROUP)
        for (int j = 0; j < GROUP; j++)
            p[j] = step(p[j], a[i + j]);
    halve_F32(p, 8, step);
    halve_F32(p, 4, step);
    halve_F32(p, 2, step);
    *acc = step(*acc, step(p[0], p[1]));
}

// For steps whose order does not show (max, min: signed zeros and NaN are
// ordered too): four chains at a time.
static inline __attribute__((always_inline)) void
reduce_free_F32(F32 *acc, const F32 *a, int64_t n, FloatStep *step)
{
    enum { WIDE = 4 * GROUP };
    alignas(64) F32 p[WIDE];
    if (n < WIDE) {
        reduce_F32(acc, a, n, step);
        return;
    }
    memcpy(p, a, sizeof p);
    int64_t i = WIDE;
    for (; i + WIDE <= n; i += WIDE)
        for (int j = 0; j < WIDE; j++)
            p[j] = step(p[j], a[i + j]);
    for (; i < n; i += GROUP)
        for (int j = 0; j < GROUP; j++)
            p[j] = step(p[j], a[i + j]);
    halve_F32(p, 2 * GROUP, step);
    reduce_F32(acc, p, 2 * GROUP, step);
}

static inline float sum_F32(float x, float y)
{
    return canon32(x + y);
}

#define REDUCE_F32(name, how, step)                                            \
    static __attribute__((noinline)) void name(F32 *acc, const F32 *a,         \
                                               int64_t n)                      \
    {                                                                          \
        how(acc, a, n, step);                                                  \
    }
REDUCE_F32(reduce_add_F32, reduce_F32, sum_F32)
REDUCE_F32(reduce_max_F32, reduce_free_F32, max32)
REDUCE_F32(reduce_min_F32, reduce_free_F32, min32)

// False when there is no such loop.
static bool reduce_whole_groups(LaneOp op, void *acc, const void *a, int64_t n)
{
    if (n < GROUP || n % GROUP)
        return false;
    if (op == LANE_OP_ADD)
        reduce_add_F32(acc, a, n);
    else if (op == LANE_OP_MAX)
        reduce_max_F32(acc, a, n);
    else if (op == LANE_OP_MIN)
        reduce_min_F32(acc, a, n);
    else
        return false;
    return true;
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
