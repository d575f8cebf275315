// emit.c - a plan as a program of kernels.
#include "gpu_backend/gpu_backend.h"

GpuProgram *gpu_emit(Arena *a, const Plan *p, const GpuDialect *d,
                     const SourceSet *sources)
{
    (void)a, (void)d, (void)sources;
    diag_error(p->kernel->diag, EXIT_LIMIT, p->kernel->at, "gpu-emit",
               "kernels are not emitted yet");
    return NULL;
}
