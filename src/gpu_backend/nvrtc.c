// nvrtc.c - NVIDIA's compiler as a library, found at run time.
#include <dlfcn.h>
#include <stdlib.h>

#include "gpu_backend/toolchain_int.h"

// Where a user says that CUDA is, or NULL. Then it is looked for nowhere else.
static const char *cuda_home(void)
{
    const char *home = getenv("CUDA_HOME");

    if (!home || !*home)
        home = getenv("CUDA_PATH");
    return home && *home ? home : NULL;
}

static void *try_open(TextBuf *looked, const char *folder, const char *name)
{
    TextBuf path = {0};
    void *library;

    buf_printf(&path, "%s%s", folder, name);
    library = dlopen(path.at, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        buf_printf(looked, "%s%s", looked->len ? ", " : "", path.at);
    buf_release(&path);
    return library;
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
            library = try_open(looked, folders[f].at, names[n]);
    for (size_t f = 0; f < countof(folders); f++)
        buf_release(&folders[f]);
    return library;
}

bool nvrtc_find(Nvrtc *n, char *name, size_t room, TextBuf *looked)
{
    struct {
        const char *symbol;
        void **slot;
    } const needs[] = {
        {"nvrtcVersion", (void **)&n->version},
        {"nvrtcCreateProgram", (void **)&n->create},
        {"nvrtcCompileProgram", (void **)&n->compile},
        {"nvrtcDestroyProgram", (void **)&n->destroy},
        {"nvrtcGetProgramLogSize", (void **)&n->log_size},
        {"nvrtcGetProgramLog", (void **)&n->log},
        {"nvrtcGetCUBINSize", (void **)&n->cubin_size},
        {"nvrtcGetCUBIN", (void **)&n->cubin},
        {"nvrtcGetPTXSize", (void **)&n->ptx_size},
        {"nvrtcGetPTX", (void **)&n->ptx},
        {"nvrtcGetErrorString", (void **)&n->error_string},
    };
    int major = 0, minor = 0;

    n->library = open_library(looked);
    for (size_t i = 0; n->library && i < countof(needs); i++) {
        *needs[i].slot = dlsym(n->library, needs[i].symbol);
        if (!*needs[i].slot) {
            buf_printf(looked, "%s%s in libnvrtc", looked->len ? ", " : "",
                       needs[i].symbol);
            dlclose(n->library);
            n->library = NULL;
        }
    }
    if (!n->library || n->version(&major, &minor))
        return false;
    snprintf(name, room, "NVRTC %d.%d", major, minor);
    return true;
}

// `size` and `get` are one pair of NVRTC's: how long, and the bytes.
static void take(void *program, int (*size)(void *, size_t *),
                 int (*get)(void *, char *), TextBuf *out)
{
    size_t bytes = 0;
    char *at;

    if (size(program, &bytes) || !bytes)
        return;
    at = xmalloc(bytes + 1);
    if (!get(program, at))
        buf_add(out, at, bytes);
    free(at);
}

bool nvrtc_compile(const Nvrtc *n, Arena *a, const GpuSource *s,
                   TextBuf *image, TextBuf *log)
{
    const char **options = new_array(a, const char *, s->option_count + 3);
    bool ptx = s->form == GPU_PTX;
    void *program = NULL;
    int count = 0, error;

    options[count++] = text_cstr(a, text_format(
        a, "--gpu-architecture=%s%s", ptx ? "compute_" : "sm_", s->arch + 3));
    options[count++] = "-default-device";
    if (!ptx)
        options[count++] = "--ptxas-options=-v";
    for (int i = 0; i < s->option_count; i++)
        options[count++] = s->options[i];
    error = n->create(&program, text_cstr(a, s->source), s->name, 0, NULL,
                      NULL);
    if (!error) {
        error = n->compile(program, count, options);
        take(program, n->log_size, n->log, log);
        if (!error)
            take(program, ptx ? n->ptx_size : n->cubin_size,
                 ptx ? n->ptx : n->cubin, image);
        n->destroy(&program);
    }
    while (log->len && !log->at[log->len - 1])
        log->len--;
    if (error && !log->len)
        buf_puts(log, n->error_string(error));
    return !error && image->len;
}
