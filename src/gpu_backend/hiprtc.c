// hiprtc.c - AMD's compiler as a library.
#define _GNU_SOURCE                             // dladdr
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gpu_backend/library.h"
#include "gpu_backend/toolchain_int.h"

// hiprtcVersion says 9.0 of every release. The name of the file tells them
// apart ("libhiprtc.so.6.3.60302"), or else its size and time.
static void identify(const Rtc *r, char *name, size_t name_room, char *file,
                     size_t file_room)
{
    char path[PATH_MAX] = "";
    struct stat st = {0};
    Dl_info info;

    if (!dladdr(*(void *const *)&r->version, &info)
        || !realpath(info.dli_fname, path) || stat(path, &st))
        path[0] = '\0';
    const char *slash = strrchr(path, '/');
    snprintf(name, name_room, "hiprtc (%.48s)",
             slash ? slash + 1 : "libhiprtc.so");
    snprintf(file, file_room, "%lld %lld.%09ld %s", (long long)st.st_size,
             (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, path);
}

bool hiprtc_find(Rtc *r, char *name, size_t name_room, char *file,
                 size_t file_room, TextBuf *looked)
{
    static const char *const names[] = {
        "libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so",
    };
    const RtcNeed own[] = {
        {"GetCodeSize", (void **)&r->code_size},
        {"GetCode", (void **)&r->code},
    };

    r->library = library_open_rocm(looked, names, countof(names));
    if (!rtc_find(r, "hiprtc", own, countof(own), looked))
        return false;
    identify(r, name, name_room, file, file_room);
    return true;
}

// The library puts a header of its own before the source, whose functions
// (`exp`) and types would be told again: ours go into a namespace, in which the
// kernels, being of C, keep their names. Lines stay where they are.
bool hiprtc_compile(const Rtc *r, Arena *a, const GpuSource *s, TextBuf *image,
                    TextBuf *log)
{
    const char **options = new_array(a, const char *, s->option_count + 2);
    TextBuf source = {0};
    int count = 0;

    options[count++] =
        text_cstr(a, text_format(a, "--offload-arch=%s", s->arch));
    options[count++] = "-std=gnu++17";          // clang's own; hiprtc's is 14
    for (int i = 0; i < s->option_count; i++)
        options[count++] = s->options[i];
    buf_printf(&source, "namespace tilesim { %.*s\n}\n", TEXT_ARG(s->source));
    bool ok = rtc_compile(r, source.at, s, options, count, image, log);
    buf_release(&source);
    return ok;
}
