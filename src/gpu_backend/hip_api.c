// hip_api.c - finds AMD's HIP runtime at run time.
#include <dlfcn.h>
#include <string.h>

#include "gpu_backend/hip_api.h"
#include "gpu_backend/library.h"

static void *open_library(TextBuf *looked)
{
    static const char *const names[] = {
        "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
        "libamdhip64.so",
    };

    return library_open_rocm(looked, names, countof(names));
}

static bool find(void *library, const char *symbol, void **slot,
                 TextBuf *looked)
{
    *slot = dlsym(library, symbol);
    if (!*slot)
        buf_printf(looked, "%s in libamdhip64.so, which is too old", symbol);
    return *slot;
}

// Those that the driver has, too.
static bool find_shared(CudaApi *api, TextBuf *looked)
{
    static const char *const symbols[] = {
#define CUDA_FUNCTION(name, symbol, hip, parameters) #hip,
#include "gpu_backend/cuda_api.def"
    };
    void **slots[] = {
#define CUDA_FUNCTION(name, symbol, hip, parameters) (void **)&api->name,
#include "gpu_backend/cuda_api.def"
    };

    for (size_t i = 0; i < countof(symbols); i++)
        if (strcmp(symbols[i], "-")
            && !find(api->library, symbols[i], slots[i], looked))
            return false;
    return true;
}

bool hip_api_load(CudaApi *api, HipApi *hip, TextBuf *looked)
{
    const struct {
        const char *symbol;
        void **slot;
    } own[] = {
        {"hipGetErrorName", (void **)&hip->error_name},
        {"hipGetErrorString", (void **)&hip->error_string},
        {"hipSetDevice", (void **)&hip->set_device},
        {"hipDeviceReset", (void **)&hip->device_reset},
        {"hipModuleLaunchKernel", (void **)&hip->launch},
    };

    api->library = open_library(looked);
    if (!api->library || !find_shared(api, looked))
        return false;
    for (size_t i = 0; i < countof(own); i++)
        if (!find(api->library, own[i].symbol, own[i].slot, looked))
            return false;
    *(void **)&hip->launch_cooperative =
        dlsym(api->library, "hipModuleLaunchCooperativeKernel");
    return true;
}

void hip_error_text(const HipApi *hip, CudaResult r, TextBuf *out)
{
    const char *name = hip->error_name(r), *words = hip->error_string(r);

    buf_printf(out, "%s", name ? name : "an unknown error");
    if (words && (!name || strcmp(name, words)))
        buf_printf(out, " (%s)", words);
}
