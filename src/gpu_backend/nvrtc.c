// nvrtc.c - NVIDIA's compiler as a library.
#include <stdlib.h>

#include "gpu_backend/library.h"
#include "gpu_backend/toolchain_int.h"

// Where a user says that CUDA is, or NULL. Then it is looked for nowhere else.
static const char *cuda_home(void)
{
    const char *home = getenv("CUDA_HOME");

    if (!home || !*home)
        home = getenv("CUDA_PATH");
    return home && *home ? home : NULL;
}

static void *open_library(TextBuf *looked)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
    const char *home = cuda_home();
    TextBuf folders[2] = {{0}};
    void *library = NULL;

    if (home) {
        buf_printf(&folders[0], "%s/lib64/", home);
        buf_printf(&folders[1], "%s/lib/", home);
    } else {
        buf_addc(&folders[0], '\0');
        buf_puts(&folders[1], "/usr/local/cuda/lib64/");
    }
    for (size_t f = 0; f < countof(folders); f++)
        for (size_t n = 0; n < countof(names) && !library; n++)
            library = library_open(looked, folders[f].at, names[n]);
    for (size_t f = 0; f < countof(folders); f++)
        buf_release(&folders[f]);
    return library;
}

bool nvrtc_find(Rtc *r, char *name, size_t room, TextBuf *looked)
{
    const RtcNeed own[] = {
        {"GetCUBINSize", (void **)&r->code_size},
        {"GetCUBIN", (void **)&r->code},
        {"GetPTXSize", (void **)&r->ptx_size},
        {"GetPTX", (void **)&r->ptx},
    };
    int major = 0, minor = 0;

    r->library = open_library(looked);
    if (!rtc_find(r, "nvrtc", own, countof(own), looked)
        || r->version(&major, &minor))
        return false;
    snprintf(name, room, "NVRTC %d.%d", major, minor);
    return true;
}

bool nvrtc_compile(const Rtc *r, Arena *a, const GpuSource *s, TextBuf *image,
                   TextBuf *log)
{
    const char **options = new_array(a, const char *, s->option_count + 3);
    bool ptx = s->form == GPU_PTX;
    int count = 0;

    options[count++] = text_cstr(a, text_format(
        a, "--gpu-architecture=%s%s", ptx ? "compute_" : "sm_", s->arch + 3));
    options[count++] = "-default-device";
    if (!ptx)
        options[count++] = "--ptxas-options=-v";
    for (int i = 0; i < s->option_count; i++)
        options[count++] = s->options[i];
    return rtc_compile(r, text_cstr(a, s->source), s, options, count, image,
                       log);
}
