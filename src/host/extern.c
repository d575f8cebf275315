// extern.c - libraries with the C functions of T.call_extern.
#include "host/host.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

struct Natives {
    void **library;
    int count;
};

// A name alone means the file here, if there is one.
static void *open_library(Arena *a, Text path)
{
    const char *name = text_cstr(a, path);

    if (!strchr(name, '/') && access(name, R_OK) == 0)
        name = text_cstr(a, text_format(a, "./%s", name));
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

Natives *natives_open(Diag *d, Arena *a, const Text *paths, int count)
{
    Natives *n = new(a, Natives);

    n->library = new_array(a, void *, (size_t)count);
    for (int i = 0; i < count; i++) {
        n->library[i] = open_library(a, paths[i]);
        if (!n->library[i]) {
            diag_error(d, EXIT_ENVIRONMENT, (Span){0}, "no-library",
                       "cannot open the library of --extern: %s", dlerror());
            natives_close(n);
            return NULL;
        }
        n->count++;
    }
    return n;
}

void natives_close(Natives *n)
{
    for (int i = 0; n && i < n->count; i++)
        dlclose(n->library[i]);
}

// Of several libraries the first one counts.
static void *find(void *ctx, const char *name)
{
    const Natives *n = ctx;
    void *symbol = NULL;

    for (int i = 0; i < n->count && !symbol; i++)
        symbol = dlsym(n->library[i], name);
    return symbol;
}

InterpNatives natives_table(const Natives *n)
{
    return (InterpNatives){.find = find, .ctx = (void *)n};
}
