// tensor.c - storage and views.
//
// Storage is an anonymous mapping: zero pages appear when they are touched, so
// a large tensor that a sampled run never reads costs nothing.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "host/tensor.h"
#include "support/parallel.h"

struct Storage {
    atomic_int refs;
    TensorHeap *heap;
    void *data;
    size_t bytes;
};

enum { CONVERT_GRAIN = 1 << 16 };

// ---- storage ----------------------------------------------------------------------

static bool heap_take(TensorHeap *h, int64_t bytes)
{
    int64_t now = __atomic_add_fetch(&h->now, bytes, __ATOMIC_RELAXED);
    if (h->limit && now > h->limit) {
        __atomic_sub_fetch(&h->now, bytes, __ATOMIC_RELAXED);
        return false;
    }
    if (now > h->peak)
        h->peak = now;
    return true;
}

static bool storage_new(TensorHeap *h, size_t bytes, Storage **out)
{
    size_t room = bytes ? bytes : 1;
    if (bytes > (size_t)INT64_MAX / 2 || !heap_take(h, (int64_t)bytes))
        return false;
    void *at = mmap(NULL, room, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        __atomic_sub_fetch(&h->now, (int64_t)bytes, __ATOMIC_RELAXED);
        return false;
    }
    if (room >= (4u << 20))
        madvise(at, room, MADV_HUGEPAGE);
    Storage *s = xcalloc(1, sizeof *s);
    atomic_init(&s->refs, 1);
    s->heap = h;
    s->data = at;
    s->bytes = bytes;
    *out = s;
    return true;
}

static void storage_release(Storage *s)
{
    if (atomic_fetch_sub(&s->refs, 1) != 1)
        return;
    munmap(s->data, s->bytes ? s->bytes : 1);
    __atomic_sub_fetch(&s->heap->now, (int64_t)s->bytes, __ATOMIC_RELAXED);
    free(s);
}

// ---- views --------------------------------------------------------------------------

void tensor_row_major(Tensor *t)
{
    int64_t each = 1;
    for (int d = t->rank - 1; d >= 0; d--) {
        t->strides[d] = each;
        each *= t->shape[d] > 0 ? t->shape[d] : 1;
    }
}

bool tensor_new(TensorHeap *h, Tensor *out, DType t, int rank,
                const int64_t *shape)
{
    int64_t count = 1;
    *out = (Tensor){.dtype = t, .rank = rank};
    if (rank > TENSOR_MAX_RANK)
        return false;
    for (int d = 0; d < rank; d++) {
        out->shape[d] = shape[d];
        if (shape[d] < 0 || __builtin_mul_overflow(count, shape[d], &count))
            return false;
    }
    if (count > INT64_MAX / 64)
        return false;
    tensor_row_major(out);
    return storage_new(h, dtype_bytes(t, count), &out->storage);
}

Tensor tensor_retain(const Tensor *t)
{
    atomic_fetch_add(&t->storage->refs, 1);
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
    return atomic_load(&t->storage->refs) > 1;
}

void *tensor_data(const Tensor *t)
{
    return (char *)t->storage->data + dtype_bytes(t->dtype, t->offset);
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

// ---- copies -----------------------------------------------------------------------------

typedef struct {
    const Tensor *src;
    Tensor *dst;
    int64_t row;                // elements of the last dimension
    bool sat;
} Copy;

static int64_t element_offset(const Tensor *t, int64_t row, int dims)
{
    int64_t at = 0;
    for (int d = dims - 1; d >= 0; d--) {
        at += row % t->shape[d] * t->strides[d];
        row /= t->shape[d];
    }
    return at;
}

static void convert(DType to, void *dst, DType from, const void *src, int64_t n,
                    bool sat)
{
    if (to == from)
        memcpy(dst, src, dtype_bytes(to, n));
    else if (sat)
        num_convert(to, dst, from, src, n);
    else
        num_convert_nosat(to, dst, from, src, n);
}

// A strided row: gathered into a small buffer first.
static void convert_row(const Copy *c, char *dst, const char *src,
                        int64_t stride, int64_t n)
{
    size_t bytes = dtype_bytes(c->src->dtype, 1);
    size_t out = dtype_bytes(c->dst->dtype, 1);
    char gathered[8 * 256];
    if (stride == 1) {
        convert(c->dst->dtype, dst, c->src->dtype, src, n, c->sat);
        return;
    }
    for (int64_t at = 0; at < n; at += 256) {
        int64_t part = n - at < 256 ? n - at : 256;
        for (int64_t i = 0; i < part; i++)
            memcpy(gathered + i * bytes, src + (at + i) * stride * (int64_t)bytes,
                   bytes);
        convert(c->dst->dtype, dst + at * out, c->src->dtype, gathered, part,
                c->sat);
    }
}

static void copy_rows(void *ctx, int worker, int64_t item)
{
    const Copy *c = ctx;
    const Tensor *s = c->src;
    int64_t rows = tensor_count(s) / c->row;
    int64_t each = CONVERT_GRAIN / c->row;
    int64_t from, to;
    size_t bytes = dtype_bytes(s->dtype, 1), out = dtype_bytes(c->dst->dtype, 1);
    char *dst = tensor_data(c->dst), *src = tensor_data(s);
    int64_t stride = s->rank ? s->strides[s->rank - 1] : 1;
    (void)worker;
    each = each ? each : 1;
    from = item * each;
    to = from + each < rows ? from + each : rows;
    for (int64_t r = from; r < to; r++)
        convert_row(c, dst + r * c->row * (int64_t)out,
                    src + element_offset(s, r, s->rank - 1) * (int64_t)bytes,
                    stride, c->row);
}

// dst is new, contiguous, of src's shape.
static void copy_into(const Tensor *src, Tensor *dst, bool sat)
{
    int64_t n = tensor_count(src);
    Tensor flat = *src, out = *dst;
    if (n == 0)
        return;
    if (tensor_is_contiguous(src)) {        // as rows that share out well
        int64_t row = n < CONVERT_GRAIN ? n : CONVERT_GRAIN;
        while (n % row)
            row--;
        if (row >= 256 || n < 256) {
            flat = (Tensor){.storage = src->storage, .dtype = src->dtype,
                            .rank = 2, .shape = {n / row, row},
                            .strides = {row, 1}, .offset = src->offset};
        }
    }
    Copy c = {&flat, &out, flat.rank ? flat.shape[flat.rank - 1] : 1, sat};
    int64_t each = CONVERT_GRAIN / c.row;
    each = each ? each : 1;
    int64_t rows = n / c.row;
    parallel_for((rows + each - 1) / each, 1, copy_rows, &c);
}

bool tensor_contiguous(Tensor *out, const Tensor *t)
{
    if (tensor_is_contiguous(t)) {
        *out = tensor_retain(t);
        return true;
    }
    if (!tensor_new(tensor_heap(t), out, t->dtype, t->rank, t->shape))
        return false;
    copy_into(t, out, true);
    return true;
}

bool tensor_cast(Tensor *out, const Tensor *t, DType to, bool sat)
{
    if (!tensor_new(tensor_heap(t), out, to, t->rank, t->shape))
        return false;
    copy_into(t, out, sat);
    return true;
}

double tensor_get_f64(const Tensor *t, const int64_t *index)
{
    int64_t at = 0;
    for (int d = 0; d < t->rank; d++)
        at += index[d] * t->strides[d];
    return num_get_f64(t->dtype, (char *)tensor_data(t)
                                     + dtype_bytes(t->dtype, 1) * at);
}

void tensor_fill_f64(Tensor *t, double v)
{
    char *at = tensor_data(t);
    size_t bytes = dtype_bytes(t->dtype, 1);
    int64_t n = tensor_count(t);
    if (!tensor_is_contiguous(t))
        BUG("tensor_fill_f64 needs a contiguous tensor");
    if (n == 0)
        return;
    num_put_f64(t->dtype, at, v);
    for (int64_t done = 1; done < n;) {     // doubles what is there
        int64_t part = done < n - done ? done : n - done;
        memcpy(at + done * bytes, at, part * bytes);
        done += part;
    }
}
