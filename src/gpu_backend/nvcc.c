// nvcc.c - NVIDIA's compiler as a program, where there is no NVRTC.
#include <stdlib.h>
#include <string.h>

#include "gpu_backend/toolchain_int.h"

static bool runnable(char *path, size_t room, TextBuf *looked,
                     const char *folder, const char *name)
{
    if (program_at(path, room, folder, strlen(folder), name))
        return true;
    buf_printf(looked, "%s%s/%s", looked->len ? ", " : "", folder, name);
    return false;
}

static bool find(char *path, size_t room, TextBuf *looked)
{
    const char *home = getenv("CUDA_HOME");

    if (!home || !*home)
        home = getenv("CUDA_PATH");
    if (home && *home)
        return runnable(path, room, looked, home, "bin/nvcc");
    if (program_on_path(path, room, "nvcc"))
        return true;
    buf_printf(looked, "%snvcc on PATH", looked->len ? ", " : "");
    return runnable(path, room, looked, "/usr/local/cuda/bin", "nvcc");
}

// "release 13.0, V13.0.88" of what `nvcc --version` prints.
bool nvcc_find(char *path, char *name, size_t path_room, size_t name_room,
               TextBuf *looked)
{
    TextBuf out = {0};
    const char *at = NULL;

    if (find(path, path_room, looked)
        && program_says(path, "--version", &out)) {
        buf_addc(&out, '\0');
        at = strstr(out.at, ", V");
    }
    if (at)
        snprintf(name, name_room, "nvcc %.*s", (int)strcspn(at + 3, "\n"),
                 at + 3);
    buf_release(&out);
    return at != NULL;
}

static int command(Arena *a, const GpuSource *s, const char **words)
{
    const char *number = s->arch + 3;
    int n = 1;

    if (s->form == GPU_PTX) {
        words[n++] = "-ptx";
        words[n++] = text_cstr(a, text_format(a, "-arch=compute_%s", number));
    } else {
        words[n++] = "-cubin";
        words[n++] = text_cstr(
            a, text_format(a, "-gencode=arch=compute_%s,code=sm_%s", number,
                           number));
        words[n++] = "--ptxas-options=-v";
    }
    for (int i = 0; i < s->option_count; i++)
        words[n++] = s->options[i];
    return n;
}

bool nvcc_compile(const char *path, Arena *a, const GpuSource *s,
                  TextBuf *image, TextBuf *log)
{
    const char **words = new_array(a, const char *, s->option_count + 10);

    words[0] = path;
    return program_compile(a, words, command(a, s, words), s, image, log);
}
