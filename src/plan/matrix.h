// matrix.h - the matrix instructions that multiplications become, for interp,
// which sees no IR.
#ifndef PLAN_MATRIX_H
#define PLAN_MATRIX_H

#include "device/device.h"

// C += A B of one statement. Each element is a chain: an instruction adds the
// products of the next mma->k of the K values of k, in this order of k.
typedef struct {
    int stmt;                       // its id
    const DeviceMma *mma;           // NULL: threads, in IEEE arithmetic
    MmaSpec spec;
    bool rounds;                    // operands to tf32, to nearest
    int32_t *order;                 // K of them; NULL: ascending
} PlanMatrix;

typedef struct {
    const Device *device;
    PlanMatrix *at;                 // in program order
    int len, room;
} PlanMatrices;
#endif
