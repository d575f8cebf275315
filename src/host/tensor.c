// tensor.c - storage and its views.
//
// Storage is an anonymous mapping: zero pages appear when they are touched, so
// a large tensor that a sampled run never reads costs nothing.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "host/tensor.h"

struct Storage {
    int refs;
    uint32_t version;           // counts writes in place by the program
    TensorHeap *heap;
    void *data;                 // NULL while a copy is pending
    size_t bytes, room;
    bool has_origin;
    Tensor origin;              // retained: what this will be a copy of
    Storage *copies, *next;     // pending copies of this one
};

enum { SPARE_LEAST = 1 << 20, HUGE_PAGES = 4 << 20 };

// ---- the heap ---------------------------------------------------------------

static void *map_pages(size_t room)
{
    void *at = mmap(NULL, room, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    if (room >= HUGE_PAGES)
        madvise(at, room, MADV_HUGEPAGE);
    return at;
}

static void drop_spare(TensorHeap *h, int i)
{
    munmap(h->spare[i].at, h->spare[i].bytes);
    h->spare[i] = h->spare[--h->spare_count];
}

void tensor_heap_release(TensorHeap *h)
{
    while (h->spare_count)
        drop_spare(h, 0);
}

static int64_t spare_bytes(const TensorHeap *h)
{
    int64_t sum = 0;
    for (int i = 0; i < h->spare_count; i++)
        sum += (int64_t)h->spare[i].bytes;
    return sum;
}

// The closest fit that wastes no more than half.
static bool take_spare(TensorHeap *h, size_t bytes, void **at, size_t *room)
{
    int best = -1;
    for (int i = 0; i < h->spare_count; i++)
        if (h->spare[i].bytes >= bytes && h->spare[i].bytes / 2 <= bytes
            && (best < 0 || h->spare[i].bytes < h->spare[best].bytes))
            best = i;
    if (best < 0)
        return false;
    *at = h->spare[best].at;
    *room = h->spare[best].bytes;
    h->spare[best] = h->spare[--h->spare_count];
    return true;
}

// False: beyond the limit.
static bool heap_take(TensorHeap *h, int64_t bytes)
{
    if (h->limit && h->now + bytes > h->limit)
        return false;
    h->now += bytes;
    h->peak = h->now > h->peak ? h->now : h->peak;
    return true;
}

static bool find_room(TensorHeap *h, Storage *s, bool zeroed)
{
    if (s->bytes >= SPARE_LEAST
        && take_spare(h, s->bytes, &s->data, &s->room)) {
        if (zeroed)
            memset(s->data, 0, s->bytes);
        return true;
    }
    while (h->spare_count && h->now + spare_bytes(h) > h->peak)
        drop_spare(h, 0);
    s->room = s->bytes ? s->bytes : 1;
    s->data = map_pages(s->room);
    return s->data != NULL;
}

static bool storage_new(TensorHeap *h, size_t bytes, bool zeroed, Storage **out)
{
    h->refused = (double)bytes;
    if (!heap_take(h, (int64_t)bytes))
        return false;
    Storage *s = xcalloc(1, sizeof *s);
    *s = (Storage){.refs = 1, .heap = h, .bytes = bytes};
    if (!find_room(h, s, zeroed)) {
        h->now -= (int64_t)bytes;
        free(s);
        return false;
    }
    *out = s;
    return true;
}

static void give_room(Storage *s)
{
    TensorHeap *h = s->heap;
    h->now -= (int64_t)s->bytes;
    if (s->room < SPARE_LEAST) {
        munmap(s->data, s->room);
        return;
    }
    if (h->spare_count == HEAP_SPARES)
        drop_spare(h, 0);
    h->spare[h->spare_count].at = s->data;
    h->spare[h->spare_count++].bytes = s->room;
}

// s is a pending copy no more.
static void leave_origin(Storage *s)
{
    Storage **link = &s->origin.storage->copies;
    while (*link != s)
        link = &(*link)->next;
    *link = s->next;
    s->has_origin = false;
    tensor_release(&s->origin);
}

static void storage_release(Storage *s)
{
    if (--s->refs)
        return;
    if (s->has_origin)
        leave_origin(s);
    if (s->data)
        give_room(s);
    free(s);
}

// ---- views ------------------------------------------------------------------

void tensor_row_major(Tensor *t)
{
    int64_t each = 1;
    for (int d = t->rank - 1; d >= 0; d--) {
        t->strides[d] = each;
        each *= t->shape[d] > 0 ? t->shape[d] : 1;
    }
}

// A 0 hides no overflow elsewhere.
static bool count_elements(int rank, const int64_t *shape, int64_t *count,
                           double *size)
{
    *count = 1;
    *size = 1;
    for (int d = 0; d < rank; d++) {
        *size *= shape[d] > 1 ? (double)shape[d] : 1;
        if (shape[d] < 0 || *size >= INT64_MAX / 64)
            continue;
        *count *= shape[d] ? shape[d] : 1;
    }
    for (int d = 0; d < rank; d++)
        *count = shape[d] ? *count : 0;
    return *size < INT64_MAX / 64;
}

static bool make(TensorHeap *h, Tensor *out, DType t, int rank,
                 const int64_t *shape, bool zeroed)
{
    int64_t count;
    double size = 0;
    *out = (Tensor){.dtype = t, .rank = rank};
    if (rank > TENSOR_MAX_RANK || !count_elements(rank, shape, &count, &size)) {
        h->refused = size * (double)dtype_bytes(t, 1);
        return false;
    }
    for (int d = 0; d < rank; d++)
        out->shape[d] = shape[d];
    tensor_row_major(out);
    return storage_new(h, dtype_bytes(t, count), zeroed, &out->storage);
}

bool tensor_new(TensorHeap *h, Tensor *out, DType t, int rank,
                const int64_t *shape)
{
    return make(h, out, t, rank, shape, true);
}

bool tensor_new_raw(TensorHeap *h, Tensor *out, DType t, int rank,
                    const int64_t *shape)
{
    return make(h, out, t, rank, shape, false);
}

Tensor tensor_retain(const Tensor *t)
{
    t->storage->refs++;
    return *t;
}

void tensor_release(Tensor *t)
{
    if (t->storage)
        storage_release(t->storage);
    t->storage = NULL;
}

int64_t tensor_count(const Tensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->rank; d++)
        n *= t->shape[d];
    return n;
}

size_t tensor_bytes(const Tensor *t)
{
    return t->storage->bytes;
}

TensorHeap *tensor_heap(const Tensor *t)
{
    return t->storage->heap;
}

bool tensor_is_shared(const Tensor *t)
{
    return t->storage->refs > 1;
}

bool tensor_same_shape(const Tensor *a, const Tensor *b)
{
    bool same = a->rank == b->rank;
    for (int d = 0; same && d < a->rank; d++)
        same = a->shape[d] == b->shape[d];
    return same;
}

bool tensor_is_contiguous(const Tensor *t)
{
    int64_t each = 1;
    for (int d = t->rank - 1; d >= 0; d--) {
        if (t->shape[d] == 0)
            return true;
        if (t->shape[d] != 1 && t->strides[d] != each)
            return false;
        each *= t->shape[d];
    }
    return true;
}

// ---- pending copies ---------------------------------------------------------

void tensor_copy_later(Tensor *out, const Tensor *view)
{
    Tensor from = tensor_source(view);
    Storage *s = xcalloc(1, sizeof *s);
    *out = *view;
    tensor_row_major(out);
    out->offset = 0;
    memcpy(out->origin_strides, from.strides, sizeof from.strides);
    out->origin_offset = from.offset;
    out->storage = s;
    *s = (Storage){.refs = 1, .heap = from.storage->heap, .has_origin = true,
                   .bytes = dtype_bytes(view->dtype, tensor_count(view)),
                   .origin = tensor_retain(&from)};
    s->next = from.storage->copies;
    from.storage->copies = s;
}

bool tensor_is_pending(const Tensor *t)
{
    return t->storage->has_origin;
}

Tensor tensor_source(const Tensor *t)
{
    Tensor out = *t;
    if (!t->storage->has_origin)
        return out;
    out.storage = t->storage->origin.storage;
    out.offset = t->origin_offset;
    memcpy(out.strides, t->origin_strides, sizeof out.strides);
    return out;
}

// The limit was not asked when the copy was promised: it is not now either.
static void make_copy(Storage *s)
{
    Tensor whole = s->origin;
    s->heap->now += (int64_t)s->bytes;
    s->heap->peak = s->heap->now > s->heap->peak ? s->heap->now : s->heap->peak;
    if (!find_room(s->heap, s, false))
        fatal(EXIT_LIMIT, "no memory for a tensor of %zu bytes", s->bytes);
    Tensor from = tensor_retain(&whole);
    leave_origin(s);
    tensor_row_major(&whole);
    whole.storage = s;
    whole.offset = 0;
    tensor_assign(&whole, &from);
    tensor_release(&from);
}

void *tensor_data(const Tensor *t)
{
    if (t->storage->has_origin)
        make_copy(t->storage);
    return (char *)t->storage->data + dtype_bytes(t->dtype, t->offset);
}

uint32_t tensor_version(const Tensor *t)
{
    return t->storage->version;
}

void tensor_touch(const Tensor *t)
{
    t->storage->version++;
}

void tensor_will_write(const Tensor *t)
{
    if (t->storage->has_origin)
        make_copy(t->storage);
    while (t->storage->copies)
        make_copy(t->storage->copies);
}
