// array_file.c - opening array files; npy.c and safetensors.c read the formats.
#include "support/support.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/support_int.h"

bool array_refuse(ArrayFile *f, const char *format, ...)
{
    TextBuf b = {0};
    va_list args;

    va_start(args, format);
    buf_vprintf(&b, format, args);
    va_end(args);
    f->why = text_cstr(f->arena, buf_view(&b));
    buf_release(&b);
    return false;
}

bool array_size(const ArrayView *v, int64_t item, int64_t *bytes)
{
    *bytes = item;
    for (int i = 0; i < v->rank; i++)
        if (v->shape[i] == 0) {
            *bytes = 0;
            return true;
        }
    for (int i = 0; i < v->rank; i++)
        if (__builtin_mul_overflow(*bytes, v->shape[i], bytes))
            return false;
    return true;
}

static bool map_descriptor(ArrayFile *f, int fd)
{
    struct stat st;
    void *at;

    if (fstat(fd, &st))
        return array_refuse(f, "%s", strerror(errno));
    if (S_ISDIR(st.st_mode))
        return array_refuse(f, "is a directory");
    if (!S_ISREG(st.st_mode))
        return array_refuse(f, "is not a regular file");
    if (st.st_size == 0)
        return array_refuse(f, "is empty");
    at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED)
        return array_refuse(f, "%s", strerror(errno));
    f->at = at;
    f->len = (size_t)st.st_size;
    return true;
}

static bool map_file(ArrayFile *f, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok;

    if (fd < 0)
        return array_refuse(f, "%s", strerror(errno));
    ok = map_descriptor(f, fd);
    close(fd);
    return ok;
}

static bool read_format(ArrayFile *f, const char *path)
{
    if (f->len >= 6 && memcmp(f->at, "\x93NUMPY", 6) == 0)
        return npy_read(f);
    if (text_ends(text_of(path), ".npy"))
        return array_refuse(f, "is not an .npy file (its first bytes are not "
                               "\\x93NUMPY)");
    if (text_ends(text_of(path), ".safetensors") ||
        (f->len > 8 && f->at[8] == '{'))
        return safetensors_read(f);
    return array_refuse(f, "is neither an .npy nor a .safetensors file");
}

ArrayFile *array_open(Arena *a, const char *path, const char **why)
{
    ArrayFile *f = new (a, ArrayFile);

    f->arena = a;
    if (map_file(f, path) && read_format(f, path))
        return f;
    *why = f->why;
    array_close(f);
    return NULL;
}

int array_count(const ArrayFile *f)
{
    return f->count;
}

const ArrayView *array_at(const ArrayFile *f, int i)
{
    if (i < 0 || i >= f->count)
        BUG("array_at: %d of %d", i, f->count);
    return &f->views[i];
}

const ArrayView *array_find(const ArrayFile *f, Text name)
{
    for (int i = 0; i < f->count; i++)
        if (text_eq(f->views[i].name, name))
            return &f->views[i];
    return NULL;
}

void array_close(ArrayFile *f)
{
    if (!f || !f->at)
        return;
    munmap((void *)(uintptr_t)f->at, f->len);
    f->at = NULL;
    f->count = 0;
}
