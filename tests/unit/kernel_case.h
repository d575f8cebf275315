// kernel_case.h - kernels of tests/data/interp with random tensors.
#ifndef KERNEL_CASE_H
#define KERNEL_CASE_H

#include "interp/interp.h"
#include "ir/ir.h"

typedef struct {
    const char *file;
    int64_t symbol;     // every T.dynamic, and scalar integers
    const char *sub[9]; // of %A, %B, ...
} Case;

typedef struct {
    Arena *arena;
    SourceSet *sources;
    Diag *diag;
    IrKernel *kernel;
} Program;

enum { MOST_PARAMS = 8 };

typedef struct {
    int count;
    InterpArg arg[MOST_PARAMS];
    size_t bytes[MOST_PARAMS];
} Tensors;

// Reads the kernel with %A to %I replaced; a failure fails the test.
Program read_program(const Case *c);
void close_program(Program *p);
// One per parameter, the same random numbers every time.
Tensors make_tensors(const Case *c, const IrKernel *k);
void free_tensors(Tensors *t);
// Fails the test where a byte differs; a NaN equals any NaN.
void compare_tensors(const Case *c, const char *how, const IrKernel *k,
                     const Tensors *want, const Tensors *got);
#endif
