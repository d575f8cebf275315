// build.c - source to machine code, by whichever compiler is there.
#include "gpu_backend/toolchain_int.h"

static bool find_amd(Diag *d, Toolchain *t)
{
    TextBuf looked = {0};
    bool found = clang_find(t->clang, t->name, sizeof t->clang, sizeof t->name,
                            &looked);

    if (!found) {
        t->clang[0] = '\0';                     // one that is too old
        found = !clang_given()
                && hiprtc_find(&t->hiprtc, t->name, sizeof t->name, t->file,
                               sizeof t->file, &looked);
    }
    if (!found) {
        diag_error(d, EXIT_ENVIRONMENT, (Span){0}, "no-toolchain",
                   "there is neither a clang that knows AMD's devices nor "
                   "hiprtc on this machine");
        diag_note(d, (Span){0}, "looked for %.*s", (int)looked.len, looked.at);
        diag_note(d, (Span){0}, "install clang and lld (as in 'apt install "
                  "clang-19 lld-19'), or say with TILESIM_CLANG where it is");
    }
    buf_release(&looked);
    return found;
}

static bool find_nvidia(Diag *d, Toolchain *t)
{
    TextBuf looked = {0};
    bool found = nvrtc_find(&t->nvrtc, t->name, sizeof t->name, &looked)
                 || nvcc_find(t->nvcc, t->name, sizeof t->nvcc,
                              sizeof t->name, &looked);

    if (!found) {
        diag_error(d, EXIT_ENVIRONMENT, (Span){0}, "no-toolchain",
                   "there is no CUDA compiler on this machine");
        diag_note(d, (Span){0}, "looked for %.*s", (int)looked.len, looked.at);
        diag_note(d, (Span){0}, "install NVRTC (as in 'pip install "
                  "nvidia-cuda-nvrtc'), or say with CUDA_HOME where CUDA is");
    }
    buf_release(&looked);
    return found;
}

static void make_key(TextBuf *key, const Toolchain *t, const GpuSource *s)
{
    static const char *const forms[] = {
        [GPU_CUBIN] = "cubin", [GPU_PTX] = "ptx", [GPU_HSACO] = "hsaco",
    };

    buf_printf(key, "%s%c%s%c%s%c%s%c", t->name, 0, t->file, 0, s->arch, 0,
               forms[s->form], 0);
    for (int i = 0; i < s->option_count; i++)
        buf_printf(key, "%s%c", s->options[i], 0);
    buf_printf(key, "%s%c", s->name, 0);
    buf_text(key, s->source);
}

static bool compile(const Toolchain *t, Arena *a, const GpuSource *s,
                    TextBuf *image, TextBuf *log)
{
    if (*t->clang)
        return clang_compile(t->clang, a, s, image, log);
    if (t->hiprtc.library)
        return hiprtc_compile(&t->hiprtc, a, s, image, log);
    return t->nvrtc.library ? nvrtc_compile(&t->nvrtc, a, s, image, log)
                            : nvcc_compile(t->nvcc, a, s, image, log);
}

bool gpu_build(Arena *a, Diag *d, const GpuSource *s, GpuBuilt *out)
{
    double start = time_now();
    TextBuf key = {0}, image = {0}, log = {0};
    Toolchain t = {0};
    bool ok = s->form == GPU_HSACO ? find_amd(d, &t) : find_nvidia(d, &t);

    *out = (GpuBuilt){0};
    if (ok) {
        make_key(&key, &t, s);
        out->cached = cache_read(buf_view(&key), &image, &log);
    }
    if (ok && !out->cached) {
        ok = compile(&t, a, s, &image, &log);
        if (ok)
            cache_write(buf_view(&key), buf_view(&image), buf_view(&log));
        else
            build_report(d, s, t.name, buf_view(&log));
    }
    if (ok) {
        out->image = text_copy(a, buf_view(&image));
        out->log = text_copy(a, buf_view(&log));
        out->toolchain = text_copy(a, text_of(t.name));
        build_usage(a, out->log, out);
    }
    out->seconds = time_now() - start;
    buf_release(&key);
    buf_release(&image);
    buf_release(&log);
    return ok;
}
