// tensor.h - tensors as torch means them: what references are written with.
//
// A Tensor is a view: shape, strides and offset over a reference-counted
// Storage. Storage is mapped lazily, so that an untouched page costs nothing.
// Every operation rounds to the dtype that torch returns. Heavy ones run in
// parallel; results do not depend on the number of threads.
//
// Storage may also be a copy that is not made yet (K.repeat_interleave(128)):
// it knows the view that it is a copy of, its origin. tensor_data makes the
// copy; so does writing to the origin. Until then whoever only reads may ask
// tensor_source for a view of the original elements.
//
// In f64 mode (Host.f64) every float of 16 bits and more is an f64 and
// conversions among those do nothing; 8-bit floats, integers and bool keep
// their meaning. References are evaluated that way for the verdict.
#ifndef HOST_TENSOR_H
#define HOST_TENSOR_H

#include "num/num.h"
#include "support/support.h"

enum { TENSOR_MAX_RANK = 12, HEAP_SPARES = 8 };

typedef struct Storage Storage;

typedef struct {
    Storage *storage;
    DType dtype;
    int rank;
    int64_t shape[TENSOR_MAX_RANK];
    int64_t strides[TENSOR_MAX_RANK];   // elements; 0 where expanded
    int64_t offset;                     // elements
    // The same view in terms of the origin, while the copy is not made. Only
    // the views of shape.c keep it right.
    int64_t origin_strides[TENSOR_MAX_RANK], origin_offset;
} Tensor;

// What all storages of a run share: bytes held now, at most, and the limit;
// and mappings of freed storages, kept because fresh pages cost time. Spares
// never raise the peak.
typedef struct {
    int64_t now, peak, limit;           // limit 0: none
    double refused;                     // bytes of the last tensor refused
    struct {
        void *at;
        size_t bytes;
    } spare[HEAP_SPARES];
    int spare_count;
} TensorHeap;

void tensor_heap_release(TensorHeap *h);        // the spares
// New and zeroed. False when the size overflows or exceeds the heap's limit:
// the caller reports exit 4.
bool tensor_new(TensorHeap *h, Tensor *out, DType t, int rank,
                const int64_t *shape);
// The same with any content, for who writes all of it.
bool tensor_new_raw(TensorHeap *h, Tensor *out, DType t, int rank,
                    const int64_t *shape);
Tensor tensor_retain(const Tensor *t);          // another view, same storage
void tensor_release(Tensor *t);
int64_t tensor_count(const Tensor *t);          // elements
void tensor_row_major(Tensor *t);               // strides for its shape
TensorHeap *tensor_heap(const Tensor *t);
size_t tensor_bytes(const Tensor *t);           // of its storage
bool tensor_is_contiguous(const Tensor *t);
bool tensor_is_shared(const Tensor *t);         // storage has other views
bool tensor_same_shape(const Tensor *a, const Tensor *b);
void *tensor_data(const Tensor *t);             // element 0 of the view

// A copy of `view` that is made when it must be; contiguous.
void tensor_copy_later(Tensor *out, const Tensor *view);
bool tensor_is_pending(const Tensor *t);        // the copy is not made
// The same elements for reading: of the origin while a copy is pending.
Tensor tensor_source(const Tensor *t);
// How often the program changed the elements in place.
uint32_t tensor_version(const Tensor *t);
void tensor_touch(const Tensor *t);
// Before a write through t: makes t's copy and those that are copies of it.
void tensor_will_write(const Tensor *t);

// ---- copy.c -----------------------------------------------------------------
typedef enum {
    CAST_TORCH,                 // torch's .to(): of fp8, e4m3fn saturates
    CAST_SAT,                   // T.cast: fp8 saturates
} CastRule;
// A contiguous tensor with the same elements: itself when it is one already.
bool tensor_contiguous(Tensor *out, const Tensor *t);
// A contiguous tensor of dtype `to`; always new.
bool tensor_cast(Tensor *out, const Tensor *t, DType to, bool sat);
// dst[...] = src broadcast, converted; dst is any view.
void tensor_assign(Tensor *dst, const Tensor *src);
void tensor_assign_number(Tensor *dst, double f64, int64_t i64);
// On the calling thread: src's elements to contiguous memory.
void tensor_read(const Tensor *src, DType to, void *dst, CastRule rule);
double tensor_get_f64(const Tensor *t, const int64_t *index);

// ---- pack4.c ----------------------------------------------------------------
// What programs hold elements of t in: int8 or uint8 for two of 4 bits each,
// float32 for tfloat32.
DType tensor_storage_dtype(DType t);
bool tensor_is_packed(const Tensor *t, DType want);     // bytes, for `want`
// A new tensor of `last` elements (-1: twice the bytes) along the last
// dimension. False when the sizes do not agree or memory is short.
bool tensor_unpack4(Tensor *out, const Tensor *packed, DType t, int64_t last);
void tensor_pack4(Tensor *packed, const Tensor *t);     // back
// What uninitialised memory looks like here: NaN, -1, True. A new tensor; an
// element that no kernel stores shows.
void tensor_poison(Tensor *t);
#endif
