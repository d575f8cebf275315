// rtc.c - compilers as libraries: AMD's hiprtc has the functions of NVIDIA's
// NVRTC under names of its own.
#include <dlfcn.h>
#include <stdlib.h>

#include "gpu_backend/toolchain_int.h"

static bool find(Rtc *r, const char *prefix, const char *name, void **slot,
                 TextBuf *looked)
{
    TextBuf symbol = {0};

    buf_printf(&symbol, "%s%s", prefix, name);
    *slot = dlsym(r->library, symbol.at);
    if (!*slot)
        buf_printf(looked, "%s%s in lib%s", looked->len ? ", " : "", symbol.at,
                   prefix);
    buf_release(&symbol);
    return *slot;
}

bool rtc_find(Rtc *r, const char *prefix, const RtcNeed *own, size_t own_count,
              TextBuf *looked)
{
    const RtcNeed shared[] = {
        {"Version", (void **)&r->version},
        {"CreateProgram", (void **)&r->create},
        {"CompileProgram", (void **)&r->compile},
        {"DestroyProgram", (void **)&r->destroy},
        {"GetProgramLogSize", (void **)&r->log_size},
        {"GetProgramLog", (void **)&r->log},
        {"GetErrorString", (void **)&r->error_string},
    };
    bool ok = r->library != NULL;

    for (size_t i = 0; ok && i < countof(shared); i++)
        ok = find(r, prefix, shared[i].name, shared[i].slot, looked);
    for (size_t i = 0; ok && i < own_count; i++)
        ok = find(r, prefix, own[i].name, own[i].slot, looked);
    if (!ok && r->library) {
        dlclose(r->library);
        r->library = NULL;
    }
    return ok;
}

// `size` and `get` are a pair: how long, and the bytes.
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

bool rtc_compile(const Rtc *r, const char *source, const GpuSource *s,
                 const char *const *options, int count, TextBuf *image,
                 TextBuf *log)
{
    bool ptx = s->form == GPU_PTX;
    void *program = NULL;
    int error = r->create(&program, source, s->name, 0, NULL, NULL);

    if (!error) {
        error = r->compile(program, count, options);
        take(program, r->log_size, r->log, log);
        if (!error)
            take(program, ptx ? r->ptx_size : r->code_size,
                 ptx ? r->ptx : r->code, image);
        r->destroy(&program);
    }
    while (log->len && !log->at[log->len - 1])
        log->len--;
    if (error && !log->len) {
        const char *words = r->error_string(error);
        buf_puts(log, words ? words : "an unknown error");
    }
    return !error && image->len;
}
