// hip_api.h - AMD's HIP runtime in the place of NVIDIA's driver.
//
// Most of its functions are the driver's under other names (cuda_api.def has
// both) and its results have the driver's numbers. Here is what differs.
// Declarations of our own; the numbers are those of HIP 5 to 7.
#ifndef GPU_BACKEND_HIP_API_H
#define GPU_BACKEND_HIP_API_H

#include "gpu_backend/cuda_api.h"

// Of a device.
enum {
    HIP_CLOCK = 5,                  // kHz, the highest
    HIP_L2 = 19,
    HIP_MAJOR = 23,                 // of the instruction set: gfx942 is 9.4
    HIP_MINOR = 61,
    HIP_CUS = 63,
    HIP_MAX_SHARED = 74,            // bytes of a block
};

typedef struct {
    const char *(*error_name)(CudaResult error);
    const char *(*error_string)(CudaResult error);
    CudaResult (*set_device)(int device);
    CudaResult (*device_reset)(void);
    CudaResult (*launch)(void *function, unsigned grid_x, unsigned grid_y,
                         unsigned grid_z, unsigned block_x, unsigned block_y,
                         unsigned block_z, unsigned shared, void *stream,
                         void **parameters, void **extra);
    // Of HIP 6 on; NULL where the runtime is older.
    CudaResult (*launch_cooperative)(void *function, unsigned grid_x,
                                     unsigned grid_y, unsigned grid_z,
                                     unsigned block_x, unsigned block_y,
                                     unsigned block_z, unsigned shared,
                                     void *stream, void **parameters);
} HipApi;

// Fills both; what HIP has not stays NULL in `api`. False: no runtime;
// `*looked` says what was looked for, or what it lacks.
bool hip_api_load(CudaApi *api, HipApi *hip, TextBuf *looked);
// "hipErrorIllegalAddress (an illegal memory access was encountered)"
void hip_error_text(const HipApi *hip, CudaResult r, TextBuf *out);
#endif
