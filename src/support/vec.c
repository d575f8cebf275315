// vec.c - a growing array in an arena.
#include "support/support.h"

#include <limits.h>
#include <string.h>

// `at` points to a pointer of the caller's type: it is read and written as
// bytes, so that no two pointer types alias.
void vec_grow_(Arena *a, void **at, int *room, size_t size)
{
    int bigger = *room ? *room : 4;
    void *from, *to;

    if (bigger > INT_MAX / 2)
        fatal(EXIT_LIMIT, "a list has more than %d entries", INT_MAX / 2);
    bigger *= 2;
    memcpy(&from, at, sizeof from);
    to = arena_alloc(a, (size_t)bigger, size);
    if (*room)
        memcpy(to, from, (size_t)*room * size);
    memcpy(at, &to, sizeof to);
    *room = bigger;
}
