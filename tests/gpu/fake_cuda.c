// fake_cuda.c - stands in for NVIDIA's driver in tests: memory is the heap's, a
// kernel copies its first tensor to its last, failures come when asked for.
//
// $FAKE_CUDA is a list of words: no-device, sm70, memory=BYTES (allocations
// beyond fail), image=N, launch=N, fault=N (the result of loading, launching
// and waiting), hang (a kernel does not end), skip (the last four bytes are not
// written), beside (one more is).
#include <stdlib.h>
#include <string.h>

#include "gpu_backend/cuda_api.h"

enum { MAX_BLOCKS = 4096, FAKE_GUARD = 1 << 20 };

static struct {
    char *at;
    size_t bytes;
} blocks[MAX_BLOCKS];
static size_t held;
static int broken;                  // the context, by a fault

static const char *asked(const char *word)
{
    const char *list = getenv("FAKE_CUDA");
    size_t n = strlen(word);

    for (const char *p = list; p && *p; p += strcspn(p, " "), p += *p == ' ')
        if (!strncmp(p, word, n) && (!p[n] || p[n] == ' ' || p[n] == '='))
            return p[n] == '=' ? p + n + 1 : p + n;
    return NULL;
}

static int number(const char *word)
{
    const char *at = asked(word);

    return at ? atoi(at) : 0;
}

#define EXPORT __attribute__((visibility("default"))) CudaResult

EXPORT cuInit(unsigned flags)
{
    (void)flags;
    return asked("no-device") ? CUDA_NO_DEVICE : CUDA_OK;
}

// Of the compiler's library, which looks for the driver too.
EXPORT cuGetExportTable(const void **table, const void *id);
EXPORT cuGetExportTable(const void **table, const void *id)
{
    (void)id;
    *table = NULL;
    return CUDA_INVALID_IMAGE;
}

EXPORT cuDriverGetVersion(int *version)
{
    *version = 13000;
    return CUDA_OK;
}

EXPORT cuGetErrorName(CudaResult error, const char **text)
{
    *text = error == CUDA_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : error == CUDA_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
                                          : "CUDA_ERROR_FAKE";
    return CUDA_OK;
}

EXPORT cuGetErrorString(CudaResult error, const char **text)
{
    (void)error;
    *text = "as asked for";
    return CUDA_OK;
}

EXPORT cuDeviceGetCount(int *count)
{
    *count = 1;
    return CUDA_OK;
}

EXPORT cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return CUDA_OK;
}

EXPORT cuDeviceGetName(char *name, int room, int device)
{
    (void)device;
    strncpy(name, "Fake H200", (size_t)room);
    return CUDA_OK;
}

EXPORT cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    *value = attribute == CUDA_MAJOR              ? (asked("sm70") ? 7 : 9)
             : attribute == CUDA_MINOR            ? 0
             : attribute == CUDA_SMS              ? 132
             : attribute == CUDA_CLOCK            ? 1980000
             : attribute == CUDA_L2               ? 1 << 20
             : attribute == CUDA_MAX_SHARED_OPTIN ? 232448
                                                  : 49152;
    return CUDA_OK;
}

EXPORT cuDeviceGetPCIBusId(char *id, int room, int device)
{
    (void)device;
    strncpy(id, "0000:00:00.0", (size_t)room);
    return CUDA_OK;
}

EXPORT cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = (size_t)141 << 30;
    return CUDA_OK;
}

EXPORT cuDevicePrimaryCtxRetain(void **context, int device)
{
    (void)device;
    *context = &held;
    return CUDA_OK;
}

EXPORT cuDevicePrimaryCtxRelease_v2(int device)
{
    (void)device;
    return CUDA_OK;
}

EXPORT cuDevicePrimaryCtxReset_v2(int device)
{
    (void)device;
    broken = 0;
    return CUDA_OK;
}

EXPORT cuCtxSetCurrent(void *context)
{
    (void)context;
    return CUDA_OK;
}

EXPORT cuCtxSynchronize(void)
{
    return broken;
}

#ifndef EMULATED // emulated_cuda.c has these

EXPORT cuModuleLoadData(void **module, const void *image)
{
    *module = (void *)image;
    return number("image");
}

EXPORT cuModuleUnload(void *module)
{
    (void)module;
    return CUDA_OK;
}

EXPORT cuModuleGetFunction(void **function, void *module, const char *name)
{
    (void)module;
    *function = (void *)name;
    return CUDA_OK;
}

#endif

EXPORT cuFuncGetAttribute(int *value, int attribute, void *function)
{
    (void)function;
    *value = attribute == CUDA_FN_REGISTERS ? 32 : 0;
    return CUDA_OK;
}

EXPORT cuFuncSetAttribute(void *function, int attribute, int value)
{
    (void)function, (void)attribute, (void)value;
    return CUDA_OK;
}

EXPORT cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, void *function,
                                                   int threads, size_t shared)
{
    (void)function, (void)threads, (void)shared;
    *count = 2;
    return CUDA_OK;
}

EXPORT cuMemGetInfo_v2(size_t *unused, size_t *total)
{
    const char *limit = asked("memory");

    *total = (size_t)141 << 30;
    *unused = (limit ? (size_t)atoll(limit) : *total) - held;
    return CUDA_OK;
}

EXPORT cuMemAlloc_v2(CudaPtr *at, size_t bytes)
{
    const char *limit = asked("memory");

    if (held + bytes > (limit ? (size_t)atoll(limit) : (size_t)141 << 30))
        return CUDA_OUT_OF_MEMORY;
    for (int i = 0; i < MAX_BLOCKS; i++)
        if (!blocks[i].at) {
            blocks[i].at = calloc(bytes + 1, 1);
            blocks[i].bytes = bytes;
            held += bytes;
            *at = (CudaPtr)(uintptr_t)blocks[i].at;
            return CUDA_OK;
        }
    return CUDA_OUT_OF_MEMORY;
}

static int block_of(CudaPtr at)
{
    char *p = (char *)(uintptr_t)at;

    for (int i = 0; i < MAX_BLOCKS; i++)
        if (blocks[i].at && p >= blocks[i].at
            && p < blocks[i].at + blocks[i].bytes)
            return i;
    return -1;
}

EXPORT cuMemFree_v2(CudaPtr at)
{
    int i = block_of(at);

    if (i < 0)
        return CUDA_ILLEGAL_ADDRESS;
    held -= blocks[i].bytes;
    free(blocks[i].at);
    blocks[i].at = NULL;
    return CUDA_OK;
}

EXPORT cuMemcpyHtoD_v2(CudaPtr to, const void *from, size_t bytes)
{
    memcpy((void *)(uintptr_t)to, from, bytes);
    return broken;
}

EXPORT cuMemcpyDtoH_v2(void *to, CudaPtr from, size_t bytes)
{
    memcpy(to, (void *)(uintptr_t)from, bytes);
    return broken;
}

EXPORT cuMemcpyDtoD_v2(CudaPtr to, CudaPtr from, size_t bytes)
{
    memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
    return broken;
}

EXPORT cuMemsetD8_v2(CudaPtr at, unsigned char value, size_t count)
{
    memset((void *)(uintptr_t)at, value, count);
    return broken;
}

// The bytes of a tensor: its block less what lies before and behind it.
static size_t tensor_bytes(CudaPtr at)
{
    int i = block_of(at);
    size_t before = (size_t)((char *)(uintptr_t)at - blocks[i].at);

    return blocks[i].bytes - before - FAKE_GUARD;
}

#ifndef EMULATED

EXPORT cuLaunchKernelEx(const CudaLaunch *config, void *function,
                        void **parameters, void **extra)
{
    CudaPtr from, to;

    (void)config, (void)extra;
    if (number("launch"))
        return number("launch");
    if (!strcmp(function, "tilesim_poison"))
        return CUDA_OK;
    broken = number("fault");
    if (broken || asked("hang"))
        return CUDA_OK;
    from = *(CudaPtr *)parameters[0];
    to = *(CudaPtr *)parameters[1];
    if (block_of(from) < 0 || block_of(to) < 0)
        return CUDA_OK;             // no kernel that copies
    size_t n = tensor_bytes(to) - (asked("skip") ? 4 : 0);
    memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, n);
    if (asked("beside"))
        ((char *)(uintptr_t)to)[n] = 0;
    return CUDA_OK;
}

#endif

EXPORT cuEventCreate(void **event, unsigned flags)
{
    (void)flags;
    *event = malloc(1);
    return CUDA_OK;
}

EXPORT cuEventDestroy_v2(void *event)
{
    free(event);
    return CUDA_OK;
}

EXPORT cuEventRecord(void *event, void *stream)
{
    (void)event, (void)stream;
    return CUDA_OK;
}

EXPORT cuEventQuery(void *event)
{
    (void)event;
    return broken ? broken : asked("hang") ? CUDA_NOT_READY : CUDA_OK;
}

EXPORT cuEventElapsedTime(float *milliseconds, void *from, void *to)
{
    (void)from, (void)to;
    *milliseconds = 1;
    return CUDA_OK;
}

#ifndef EMULATED

EXPORT cuTensorMapEncodeTiled(CudaTensorMap *map, int type, unsigned rank,
                              void *at, const uint64_t *sizes,
                              const uint64_t *strides, const uint32_t *box,
                              const uint32_t *steps, int interleave,
                              int swizzle, int promotion, int fill)
{
    (void)type, (void)rank, (void)at, (void)sizes, (void)strides, (void)box;
    (void)steps, (void)interleave, (void)swizzle, (void)promotion, (void)fill;
    memset(map, 0, sizeof *map);
    return CUDA_OK;
}
#endif
