// cuda_api.h - NVIDIA's driver interface, as far as tilesim uses it.
//
// Declarations of our own, so that building needs no header of NVIDIA's; the
// numbers are those of its stable binary interface. A test stands in for the
// driver with these same declarations.
#ifndef GPU_BACKEND_CUDA_API_H
#define GPU_BACKEND_CUDA_API_H

#include "support/support.h"

typedef int CudaResult;
typedef unsigned long long CudaPtr;

enum {
    CUDA_OK = 0,
    CUDA_INVALID_VALUE = 1,
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_NO_DEVICE = 100,
    CUDA_INVALID_IMAGE = 200,
    CUDA_NO_BINARY = 209,
    CUDA_UNSUPPORTED_PTX = 222,
    CUDA_NOT_READY = 600,
    CUDA_ILLEGAL_ADDRESS = 700,
    CUDA_LAUNCH_RESOURCES = 701,
    CUDA_LAUNCH_FAILED = 719,
    CUDA_NOT_SUPPORTED = 801,
};

// Of a device.
enum {
    CUDA_MAX_SHARED = 8,            // bytes of a block, without opting in
    CUDA_CLOCK = 13,                // kHz, the highest
    CUDA_SMS = 16,
    CUDA_L2 = 38,
    CUDA_MAJOR = 75,
    CUDA_MINOR = 76,
    CUDA_MAX_SHARED_OPTIN = 97,
};

// Of a function.
enum {
    CUDA_FN_STATIC_SHARED = 1,
    CUDA_FN_LOCAL = 3,              // bytes a thread keeps in memory: spills
    CUDA_FN_REGISTERS = 4,
    CUDA_FN_DYNAMIC_SHARED = 8,     // the limit, to be set
};

// Launch attributes.
enum { CUDA_LAUNCH_COOPERATIVE = 2, CUDA_LAUNCH_CLUSTER = 4 };

typedef struct {
    int id;
    char pad[4];
    union {
        char bytes[64];
        int cooperative;
        struct {
            unsigned x, y, z;
        } cluster;
    } value;
} CudaLaunchAttribute;

typedef struct {
    unsigned grid[3], block[3];
    unsigned shared;
    void *stream;
    CudaLaunchAttribute *attributes;
    unsigned attribute_count;
} CudaLaunch;

typedef struct {
    _Alignas(64) uint64_t opaque[16];
} CudaTensorMap;

typedef struct {
    void *library;
#define CUDA_FUNCTION(name, symbol, hip, parameters) CudaResult (*name) parameters;
#include "gpu_backend/cuda_api.def"
} CudaApi;

// False: no driver; `*looked` says what was looked for, or what it lacks.
bool cuda_api_load(CudaApi *api, TextBuf *looked);
// "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)"
void cuda_error_text(const CudaApi *api, CudaResult r, TextBuf *out);
#endif
