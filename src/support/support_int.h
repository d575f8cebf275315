// support_int.h - what only the files of src/support share.
#ifndef SUPPORT_SUPPORT_INT_H
#define SUPPORT_SUPPORT_INT_H

#include "support/support.h"

// text.c
int utf8_columns(int32_t point);                // of a terminal: 0, 1 or 2

// file.c
// A file whole in malloc'd memory from an open descriptor.
bool fd_read(int fd, char **at, size_t *len, const char **why);

// array_file.c and its two formats
struct ArrayFile {
    Arena *arena;                               // names, views, messages
    const unsigned char *at;                    // the whole file
    size_t len;
    ArrayView *views;
    int count;
    const char *why;                            // set when refused
};

// Sets f->why to a sentence; always false.
bool array_refuse(ArrayFile *f, const char *format, ...) PRINTF_LIKE(2, 3);
// Multiplies out a view's shape times its bytes per element; false: overflow.
bool array_size(const ArrayView *v, int64_t item, int64_t *bytes);
bool npy_read(ArrayFile *f);
bool safetensors_read(ArrayFile *f);
#endif
