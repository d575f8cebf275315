// gpu_int.h - private to gpu_backend: a device that is open.
#ifndef GPU_BACKEND_GPU_INT_H
#define GPU_BACKEND_GPU_INT_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "gpu_backend/cuda_api.h"
#include "gpu_backend/gpu_runtime.h"
#include "gpu_backend/hip_api.h"

// NVML, where it is; gpu_clock.c.
typedef struct {
    void *library, *device;
    int (*clock)(void *device, int which, unsigned *mhz);
    int (*reasons)(void *device, unsigned long long *bits);
    int (*busy)(void *device, unsigned percent[2]);
    int (*shutdown)(void);
    bool tried;
} GpuClock;

void clock_close(GpuClock *c);

// How the driver's start goes; gpu.c.
typedef struct {
    pthread_t thread;
    bool beside;                    // the thread is there, to be joined
    sem_t known;                    // `found` and the device's numbers are
    atomic_bool over;
    bool has_driver, no_device, found, entered;
    CudaResult result;              // what failed,
    const char *doing;              // and at what
    TextBuf looked;                 // for the driver
} GpuStart;

struct Gpu {
    Diag *diag;
    const GpuExecutor *executor;    // or NULL, and all of the following
    bool is_amd;                    // then api is HIP's, as far as it has it
    CudaApi api;
    HipApi hip;
    GpuInfo info;
    int device;
    void *context;
    double watchdog;                // seconds
    bool faulted, hangs;
    GpuClock clock;
    GpuStart start;
};

void gpu_error_text(const Gpu *g, CudaResult r, TextBuf *out);
// False after reporting `r`: exit `code`, what was being done.
bool gpu_check(Gpu *g, CudaResult r, ExitCode code, const char *doing);
#endif
