// cuda_api.c - finds NVIDIA's driver at run time.
#include <dlfcn.h>

#include "gpu_backend/cuda_api.h"

static void *open_library(TextBuf *looked)
{
    static const char *const names[] = {
        "libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1",
        "/usr/lib/wsl/lib/libcuda.so.1",
    };

    for (size_t i = 0; i < countof(names); i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);

        if (library)
            return library;
        buf_printf(looked, "%s%s", i ? ", " : "", names[i]);
    }
    return NULL;
}

bool cuda_api_load(CudaApi *api, TextBuf *looked)
{
    static const char *const symbols[] = {
#define CUDA_FUNCTION(name, symbol, hip, parameters) #symbol,
#include "gpu_backend/cuda_api.def"
    };
    void **slots[] = {
#define CUDA_FUNCTION(name, symbol, hip, parameters) (void **)&api->name,
#include "gpu_backend/cuda_api.def"
    };

    api->library = open_library(looked);
    for (size_t i = 0; api->library && i < countof(symbols); i++) {
        *slots[i] = dlsym(api->library, symbols[i]);
        if (!*slots[i]) {
            buf_printf(looked, "%s in libcuda.so.1, which is too old",
                       symbols[i]);
            return false;
        }
    }
    return api->library != NULL;
}

void cuda_error_text(const CudaApi *api, CudaResult r, TextBuf *out)
{
    const char *name = NULL, *words = NULL;

    if (api->error_name(r, &name) || !name)
        name = "an unknown error";
    buf_printf(out, "%s", name);
    if (!api->error_string(r, &words) && words)
        buf_printf(out, " (%s)", words);
}
