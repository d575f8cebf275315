// arena.c - memory with one lifetime.
//
// A stack of chunks. Memory beyond `used` of the top chunk is always zero
// (calloc, or cleared by a release), so allocation itself never clears, and a
// large array costs only the pages that are touched. An object that does not
// fit opens a new chunk; the rest of the old one is lost until a release.
// Under AddressSanitizer that tail is poisoned, as is a gap after each object.
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif

#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(at, n) ASAN_POISON_MEMORY_REGION(at, n)
#define UNPOISON(at, n) ASAN_UNPOISON_MEMORY_REGION(at, n)
enum { GAP = 128 };
#else
#define POISON(at, n) ((void)(at), (void)(n))
#define UNPOISON(at, n) ((void)(at), (void)(n))
enum { GAP = 0 };
#endif

enum {
    ALIGNMENT = 16,
    FIRST_CHUNK = 16 << 10,
    LARGEST_CHUNK = 1 << 20,                    // objects may exceed it
};

typedef struct Chunk {
    struct Chunk *below;
    size_t used, room;
    size_t unused_;                             // keeps `at` 16-byte aligned
    char at[];
} Chunk;

_Static_assert(offsetof(Chunk, at) % ALIGNMENT == 0, "objects are aligned");

struct Arena {
    Chunk *top;
    size_t bytes;
};

Arena *arena_create(void)
{
    return xcalloc(1, sizeof(Arena));
}

static void drop_top(Arena *a)
{
    Chunk *c = a->top;

    a->top = c->below;
    a->bytes -= c->room;
    UNPOISON(c->at, c->room);
    free(c);
}

void arena_destroy(Arena *a)
{
    if (!a)
        return;
    while (a->top)
        drop_top(a);
    free(a);
}

static void add_chunk(Arena *a, size_t bytes)
{
    size_t room = a->top ? 2 * a->top->room : FIRST_CHUNK;
    Chunk *c;

    if (room > LARGEST_CHUNK)
        room = LARGEST_CHUNK;
    if (room < bytes)
        room = bytes;
    c = xcalloc(1, sizeof(Chunk) + room);
    c->below = a->top;
    c->room = room;
    POISON(c->at, room);
    a->top = c;
    a->bytes += room;
}

void *arena_alloc(Arena *a, size_t count, size_t size)
{
    size_t bytes, step;
    char *at;

    if (__builtin_mul_overflow(count, size, &bytes) ||
        bytes > PTRDIFF_MAX - sizeof(Chunk) - ALIGNMENT - GAP)
        fatal(EXIT_LIMIT, "out of memory (%zu x %zu bytes wanted)", count,
              size);
    step = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    step = (step ? step : ALIGNMENT) + GAP;
    if (!a->top || a->top->room - a->top->used < step)
        add_chunk(a, step);
    at = a->top->at + a->top->used;
    a->top->used += step;
    UNPOISON(at, bytes);
    return at;
}

ArenaMark arena_mark(Arena *a)
{
    return (ArenaMark){.chunk = a->top, .used = a->top ? a->top->used : 0};
}

void arena_release(Arena *a, ArenaMark mark)
{
    char *from;
    size_t n;

    while (a->top != mark.chunk) {
        if (!a->top)
            BUG("arena_release: the mark is not of this arena");
        drop_top(a);
    }
    if (!a->top)
        return;
    from = a->top->at + mark.used;
    n = a->top->used - mark.used;
    UNPOISON(from, n);
    memset(from, 0, n);
    POISON(from, a->top->room - mark.used);
    a->top->used = mark.used;
}

size_t arena_bytes(const Arena *a)
{
    return a->bytes;
}
