// naive.h - the meaning of a kernel, one element at a time.
//
// Runs the IR tree itself, in doubles and 64-bit integers, with a rounding to
// the dtype after every step: the specification in code. Nothing is shared
// with code/ or interp/.
#ifndef ORACLE_NAIVE_H
#define ORACLE_NAIVE_H

#include "ir/ir.h"

typedef struct {
    DType dtype;
    int rank;
    int64_t shape[IR_MAX_RANK];
    void *data;                     // row-major; scalars: one element
} NaiveArg;

// Arguments in the order of the parameters. Returns how many accesses to
// shared, fragment and local buffers were out of range, failed assertions and
// divisions by zero included.
int64_t naive_run(const IrKernel *k, const NaiveArg *args);

// Accesses that leave their buffer: memory of a block, those of tile copies
// that the guard cuts off included; global memory, at its start or past its
// end.
typedef struct {
    int64_t block, below, above;
} NaiveOutside;
void naive_outside(const IrKernel *k, const NaiveArg *args, NaiveOutside *out);
#endif
