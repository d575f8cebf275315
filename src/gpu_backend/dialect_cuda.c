// dialect_cuda.c - CUDA as NVRTC and nvcc read it.
#include "gpu_backend/dialect.h"

static const GpuDialect cuda = {
    .name = "cuda",
    .kernel = "extern \"C\" __global__ void",
    .device = "static __device__ __forceinline__",
    .shared = "__shared__",
    .barrier = "__syncthreads()",
};

const GpuDialect *gpu_dialect_cuda(void)
{
    return &cuda;
}

const char *gpu_dialect_name(const GpuDialect *d)
{
    return d->name;
}
