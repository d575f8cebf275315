// fail.c - the two ways to stop, and allocation that never returns NULL.
#include "support/support.h"

#include <stdlib.h>

_Noreturn void fatal(ExitCode code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fflush(stdout);
    fputs("tilesim: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(code);
}

_Noreturn void bug_at(const char *file, int line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fflush(stdout);
    fprintf(stderr, "tilesim: internal error at %s:%d: ", file, line);
    vfprintf(stderr, format, args);
    fputs("\ntilesim: this is a fault of tilesim; please report it together "
          "with the program\n", stderr);
    va_end(args);
    abort();
}

static _Noreturn void out_of_memory(size_t count, size_t size)
{
    fatal(EXIT_LIMIT, "out of memory (%zu x %zu bytes wanted)", count, size);
}

void *xmalloc(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);

    if (!p)
        out_of_memory(1, bytes);
    return p;
}

void *xcalloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size ? size : 1);

    if (!p)
        out_of_memory(count, size);
    return p;
}

void *xrealloc(void *old, size_t count, size_t size)
{
    size_t bytes;
    void *p;

    if (__builtin_mul_overflow(count, size, &bytes))
        out_of_memory(count, size);
    p = realloc(old, bytes ? bytes : 1);
    if (!p)
        out_of_memory(count, size);
    return p;
}
