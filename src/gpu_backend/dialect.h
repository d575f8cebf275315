// dialect.h - what differs between languages of GPUs, as a table of text.
#ifndef GPU_BACKEND_DIALECT_H
#define GPU_BACKEND_DIALECT_H

#include "gpu_backend/gpu_backend.h"

// Text that is taken where one of `names` ("a|b") occurs, and `also` where
// that is not empty.
typedef struct {
    const char *names, *also, *text;
} GpuPart;

struct GpuDialect {
    const char *title;          // "CUDA"
    DeviceVendor vendor;
    const char *kernel;         // of a function that is launched
    const char *bounds[3];      // around how many threads it has; between them,
                                // that one block has all registers of an SM
    const char *waves;          // NULL, or what says how many to an SIMD
    const char *thread[3], *block[3], *blocks[3];   // indices and their count
    const char *device;         // of a function that kernels call
    const char *constant;       // of a table
    const char *arena;          // declares shared memory
    bool fixed_arena;           // of a size that the kernel says
    const char *barrier;        // all threads of a block meet
    const char *trap;           // the kernel ends with an error
    bool has_ldmatrix, has_cp_async, has_mbarrier, has_grid_sync;
    const GpuPart *parts;       // functions that are one instruction
    int part_count;
    // Functions that its compiler has not; NULL: it has them all.
    const GpuPart *(*math)(int *count);
};

// hip_math.c
const GpuPart *gpu_hip_math(int *count);
#endif
