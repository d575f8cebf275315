// clang.c - clang 19 or later, which makes code objects of AMD's devices.
#include <stdlib.h>
#include <string.h>

#include "gpu_backend/toolchain_int.h"

enum { OLDEST = 19, NEWEST = 24 };

static bool looked_at(TextBuf *looked, bool found, const char *where)
{
    if (!found)
        buf_printf(looked, "%s%s", looked->len ? ", " : "", where);
    return found;
}

static bool in_rocm(char *path, size_t room, TextBuf *looked)
{
    const char *home = getenv("ROCM_PATH");
    TextBuf at = {0};

    if (!home || !*home)
        home = "/opt/rocm";
    buf_printf(&at, "%s/llvm/bin", home);
    bool found = program_at(path, room, at.at, at.len, "clang");
    buf_puts(&at, "/clang");
    looked_at(looked, found, at.at);
    buf_release(&at);
    return found;
}

const char *clang_given(void)
{
    const char *given = getenv("TILESIM_CLANG");

    return given && *given ? given : NULL;
}

// $TILESIM_CLANG alone where it is set; else clang-N, the newest first; hipcc
// last, which hands its words to a clang.
static bool find(char *path, size_t room, TextBuf *looked)
{
    const char *given = clang_given();
    char name[32];

    if (given)
        return looked_at(looked, program_at(path, room, "", 0, given + 1)
                                     && given[0] == '/', given);
    for (int n = NEWEST; n >= OLDEST; n--) {
        snprintf(name, sizeof name, "clang-%d", n);
        if (program_on_path(path, room, name))
            return true;
    }
    snprintf(name, sizeof name, "clang-%d to clang-%d", OLDEST, NEWEST);
    looked_at(looked, false, name);
    return looked_at(looked, program_on_path(path, room, "clang"),
                     "clang on PATH")
           || in_rocm(path, room, looked)
           || looked_at(looked, program_on_path(path, room, "hipcc"),
                        "hipcc on PATH");
}

// "clang version 19.1.7", with more around it.
bool clang_find(char *path, char *name, size_t path_room, size_t name_room,
                TextBuf *looked)
{
    static const char words[] = "clang version ";
    TextBuf out = {0};
    const char *at = NULL;

    if (!find(path, path_room, looked))
        return false;
    if (program_says(path, "--version", &out)) {
        buf_addc(&out, '\0');
        at = strstr(out.at, words);
    }
    bool ok = at && atoi(at + strlen(words)) >= OLDEST;
    if (ok) {
        at += strlen(words);
        snprintf(name, name_room, "clang %.*s", (int)strcspn(at, " \n("), at);
    } else {
        buf_printf(looked, "%s%s, which is older than %d",
                   looked->len ? ", " : "", path, OLDEST);
    }
    buf_release(&out);
    return ok;
}

bool clang_compile(const char *path, Arena *a, const GpuSource *s,
                   TextBuf *image, TextBuf *log)
{
    static const char *const fixed[] = {
        "-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output",
        "-nogpulib", "-nogpuinc", "-O3",
    };
    const char **words = new_array(a, const char *, s->option_count + 20);
    int n = 0;

    words[n++] = path;
    for (size_t i = 0; i < countof(fixed); i++)
        words[n++] = fixed[i];
    words[n++] = text_cstr(a, text_format(a, "--offload-arch=%s", s->arch));
    for (int i = 0; i < s->option_count; i++)
        words[n++] = s->options[i];
    return program_compile(a, words, n, s, image, log);
}
