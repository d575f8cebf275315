// fuzz_array.c - any bytes as an array file.
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(const char *path)
{
    Arena *a = arena_create();
    const char *why = NULL;
    ArrayFile *f = array_open(a, path, &why);
    unsigned sum = 0;

    for (int i = 0; f && i < array_count(f); i++) {
        const ArrayView *v = array_at(f, i);

        for (size_t k = 0; k < v->bytes; k++)
            sum += ((const unsigned char *)v->data)[k];
    }
    if (f ? sum == 0xfffffff1 : !why)
        __builtin_trap();
    array_close(f);
    arena_destroy(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("array", 0);
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd >= 0 && write(fd, data, size) == (ssize_t)size)
        read_all(path);
    close(fd);
    return 0;
}
