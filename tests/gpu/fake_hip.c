// fake_hip.c - stands in for AMD's runtime in tests: the functions of
// fake_cuda.c under HIP's names. $FAKE_CUDA asks for the same failures, and:
// gfx90a (the card is one), broken (the runtime does not start).
#include <stdio.h>

#include "fake_cuda.c"
#include "gpu_backend/hip_api.h"

EXPORT hipInit(unsigned flags)
{
    return asked("broken") ? 3 : cuInit(flags);
}

EXPORT hipDriverGetVersion(int *version)
{
    *version = 60342133;
    return CUDA_OK;
}

__attribute__((visibility("default"))) const char *hipGetErrorName(int error)
{
    return error == CUDA_ILLEGAL_ADDRESS ? "hipErrorIllegalAddress"
           : error == CUDA_OUT_OF_MEMORY ? "hipErrorOutOfMemory"
                                         : "hipErrorFake";
}

__attribute__((visibility("default"))) const char *hipGetErrorString(int error)
{
    (void)error;
    return "as asked for";
}

EXPORT hipGetDeviceCount(int *count)
{
    return cuDeviceGetCount(count);
}

EXPORT hipDeviceGet(int *device, int ordinal)
{
    return cuDeviceGet(device, ordinal);
}

EXPORT hipDeviceGetName(char *name, int room, int device)
{
    (void)device;
    snprintf(name, (size_t)room, "Fake MI300X");
    return CUDA_OK;
}

EXPORT hipDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    *value = attribute == HIP_MAJOR        ? 9
             : attribute == HIP_MINOR      ? (asked("gfx90a") ? 0 : 4)
             : attribute == HIP_CUS        ? 304
             : attribute == HIP_CLOCK      ? 2100000
             : attribute == HIP_L2         ? 1 << 20
             : attribute == HIP_MAX_SHARED ? 65536
                                           : -1;
    return CUDA_OK;
}

EXPORT hipDeviceGetPCIBusId(char *id, int room, int device)
{
    return cuDeviceGetPCIBusId(id, room, device);
}

EXPORT hipDeviceTotalMem(size_t *bytes, int device)
{
    (void)device;
    *bytes = (size_t)192 << 30;
    return CUDA_OK;
}

EXPORT hipSetDevice(int device)
{
    (void)device;
    return CUDA_OK;
}

EXPORT hipDeviceReset(void)
{
    return cuDevicePrimaryCtxReset_v2(0);
}

EXPORT hipModuleLoadData(void **module, const void *image)
{
    return memcmp(image, "\177ELF", 4) ? CUDA_INVALID_IMAGE
                                       : cuModuleLoadData(module, image);
}

EXPORT hipModuleUnload(void *module)
{
    return cuModuleUnload(module);
}

EXPORT hipModuleGetFunction(void **function, void *module, const char *name)
{
    return cuModuleGetFunction(function, module, name);
}

EXPORT hipFuncGetAttribute(int *value, int attribute, void *function)
{
    return cuFuncGetAttribute(value, attribute, function);
}

EXPORT hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *count,
                                                          void *function,
                                                          int threads,
                                                          size_t shared)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(count, function, threads,
                                                       shared);
}

EXPORT hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y,
                             unsigned grid_z, unsigned block_x,
                             unsigned block_y, unsigned block_z,
                             unsigned shared, void *stream, void **parameters,
                             void **extra)
{
    if (!grid_x || !grid_y || !grid_z || block_x > 1024 || block_y != 1
        || block_z != 1 || shared > 65536 || stream || extra)
        return 1;                   // hipErrorInvalidValue
    return cuLaunchKernelEx(NULL, function, parameters, NULL);
}

EXPORT hipMemGetInfo(size_t *unused, size_t *total)
{
    return cuMemGetInfo_v2(unused, total);
}

EXPORT hipMalloc(void **at, size_t bytes)
{
    CudaPtr p = 0;
    CudaResult r = cuMemAlloc_v2(&p, bytes);

    *at = (void *)(uintptr_t)p;
    return r;
}

EXPORT hipFree(void *at)
{
    return cuMemFree_v2((CudaPtr)(uintptr_t)at);
}

EXPORT hipMemcpyHtoD(void *to, void *from, size_t bytes)
{
    return cuMemcpyHtoD_v2((CudaPtr)(uintptr_t)to, from, bytes);
}

EXPORT hipMemcpyDtoH(void *to, void *from, size_t bytes)
{
    return cuMemcpyDtoH_v2(to, (CudaPtr)(uintptr_t)from, bytes);
}

EXPORT hipMemcpyDtoD(void *to, void *from, size_t bytes)
{
    return cuMemcpyDtoD_v2((CudaPtr)(uintptr_t)to, (CudaPtr)(uintptr_t)from,
                           bytes);
}

EXPORT hipMemsetD8(void *at, unsigned char value, size_t count)
{
    return cuMemsetD8_v2((CudaPtr)(uintptr_t)at, value, count);
}

EXPORT hipDeviceSynchronize(void)
{
    return cuCtxSynchronize();
}

EXPORT hipEventCreateWithFlags(void **event, unsigned flags)
{
    return cuEventCreate(event, flags);
}

EXPORT hipEventDestroy(void *event)
{
    return cuEventDestroy_v2(event);
}

EXPORT hipEventRecord(void *event, void *stream)
{
    return cuEventRecord(event, stream);
}

EXPORT hipEventQuery(void *event)
{
    return cuEventQuery(event);
}

EXPORT hipEventElapsedTime(float *milliseconds, void *from, void *to)
{
    return cuEventElapsedTime(milliseconds, from, to);
}
