// order.h - what the blocks that run at the same time read: an estimate.
//
// Blocks start in the order of their numbers. Of those that fit the device at a
// time each of its dies has every n-th; they share its L2.
#ifndef SIM_LDS_ORDER_H
#define SIM_LDS_ORDER_H

#include "plan/access.h"

enum { ORDER_TENSORS = 6 };

typedef struct {
    int64_t tiles[2];               // different x and y among the blocks
    double bytes;                   // of all tensors, each byte once
    double tensor[ORDER_TENSORS];   // of one
} OrderWave;

typedef struct {
    PlanPanels panels;              // size 0: no T.use_swizzle
    int64_t grid[IR_MAX_GRID];
    int64_t wave;                   // blocks of the device at a time
    int64_t share;                  // of them with one L2
    const IrBuffer *tensor[ORDER_TENSORS];
    int tensor_count;
    OrderWave plain, walked;        // as the grid has them, and in panels
    PlanPanels best;                // of the sizes tried; 0: none is better by
    OrderWave best_wave;            // a tenth
    const char *none;               // why the order changes nothing, or is not
                                    // known; else NULL
} Order;

// `resident` blocks of an SM or CU; `sizes` as for count_sizes(), or NULL.
Order order_make(Arena *a, const Plan *p, const PlanLaunch *l,
                 const int64_t *sizes, int64_t resident);
#endif
