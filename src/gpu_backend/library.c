// library.c - libraries that are found at run time.
#include <dlfcn.h>
#include <stdlib.h>

#include "gpu_backend/library.h"

void *library_open(TextBuf *looked, const char *folder, const char *name)
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

static void *open_first(TextBuf *looked, const char *folder,
                        const char *const *names, size_t n)
{
    void *library = NULL;

    for (size_t i = 0; i < n && !library; i++)
        library = library_open(looked, folder, names[i]);
    return library;
}

void *library_open_rocm(TextBuf *looked, const char *const *names, size_t n)
{
    static const char *const variables[] = {"ROCM_PATH", "HIP_PATH"};
    void *library = open_first(looked, "", names, n);
    TextBuf folder = {0};

    for (size_t i = 0; i < countof(variables) && !library; i++) {
        const char *home = getenv(variables[i]);
        if (!home || !*home)
            continue;
        buf_clear(&folder);
        buf_printf(&folder, "%s/lib/", home);
        library = open_first(looked, folder.at, names, n);
    }
    if (!library && !folder.len)
        library = open_first(looked, "/opt/rocm/lib/", names, n);
    buf_release(&folder);
    return library;
}
