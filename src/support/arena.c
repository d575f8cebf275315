// arena.c - memory with one lifetime.
//
// A stack of chunks. Memory beyond `used` of the top chunk is always zero
// (calloc, or cleared by a release), so allocation itself never clears, and a
// large array costs only the pages that are touched. An object that does not
// fit opens a new chunk; the rest of the old one is lost until a release. Chunks
// that a release empties are kept for later, except for very large ones.
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
    Chunk *top, *spare;                         // the same, and empty ones
    size_t bytes;
};

Arena *arena_create(void)
{
    return xcalloc(1, sizeof(Arena));
}

static Chunk *pop(Chunk **list)
{
    Chunk *c = *list;

    *list = c->below;
    return c;
}

static void drop(Chunk *c)
{
    UNPOISON(c->at, c->room);
    free(c);
}

void arena_destroy(Arena *a)
{
    if (!a)
        return;
    while (a->top)
        drop(pop(&a->top));
    while (a->spare)
        drop(pop(&a->spare));
    free(a);
}

// Empties all but its first `used` bytes.
static void clear(Chunk *c, size_t used)
{
    UNPOISON(c->at + used, c->used - used);
    memset(c->at + used, 0, c->used - used);
    POISON(c->at + used, c->room - used);
    c->used = used;
}

static void empty_top(Arena *a)
{
    Chunk *c = pop(&a->top);

    a->bytes -= c->room;
    if (c->room > LARGEST_CHUNK) {
        drop(c);
        return;
    }
    clear(c, 0);
    c->below = a->spare;
    a->spare = c;
}

// An empty chunk with room for `bytes`, if one was kept.
static Chunk *find_spare(Arena *a, size_t bytes)
{
    for (Chunk **c = &a->spare; *c; c = &(*c)->below)
        if ((*c)->room >= bytes)
            return pop(c);
    return NULL;
}

static void add_chunk(Arena *a, size_t bytes)
{
    size_t room = a->top ? 2 * a->top->room : FIRST_CHUNK;
    Chunk *c = find_spare(a, bytes);

    if (!c) {
        if (room > LARGEST_CHUNK)
            room = LARGEST_CHUNK;
        if (room < bytes)
            room = bytes;
        c = xcalloc(1, sizeof(Chunk) + room);
        c->room = room;
        POISON(c->at, room);
    }
    c->below = a->top;
    a->top = c;
    a->bytes += c->room;
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
    while (a->top != mark.chunk) {
        if (!a->top)
            BUG("arena_release: the mark is not of this arena");
        empty_top(a);
    }
    if (a->top)
        clear(a->top, mark.used);
}

size_t arena_bytes(const Arena *a)
{
    return a->bytes;
}
