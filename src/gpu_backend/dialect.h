// dialect.h - what differs between languages of GPUs, as a table of text.
#ifndef GPU_BACKEND_DIALECT_H
#define GPU_BACKEND_DIALECT_H

#include "gpu_backend/gpu_backend.h"

struct GpuDialect {
    const char *name;           // "cuda"
    const char *kernel;         // of a function that is launched
    const char *device;         // of a function that kernels call
    const char *shared;         // of shared memory
    const char *barrier;        // all threads of a block meet
    const char *const *prelude; // functions that kernels use; ends with NULL
};
#endif
