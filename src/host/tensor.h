// tensor.h - tensors as torch means them: what references are written with.
//
// A Tensor is a view: shape, strides and offset over a reference-counted
// Storage. Storage is mapped lazily, so that an untouched page costs nothing.
// Every operation rounds to the dtype that torch returns. Heavy ones run in
// parallel; results do not depend on the number of threads.
//
// In f64 mode (TensorMode below) every float of 16 bits and more is an f64 and
// conversions among those do nothing; 8-bit floats, integers and bool keep
// their meaning. References are evaluated that way for the verdict.
#ifndef HOST_TENSOR_H
#define HOST_TENSOR_H

#include "num/num.h"
#include "support/support.h"

enum { TENSOR_MAX_RANK = 12 };

typedef struct Storage Storage;

typedef struct {
    Storage *storage;
    DType dtype;
    int rank;
    int64_t shape[TENSOR_MAX_RANK];
    int64_t strides[TENSOR_MAX_RANK];   // elements; 0 where expanded
    int64_t offset;                     // elements
} Tensor;

// What all storages of a run share: bytes held now, at most, and the limit.
typedef struct {
    int64_t now, peak, limit;           // limit 0: none
} TensorHeap;

// New and zeroed. False when the size overflows or exceeds the heap's limit:
// the caller reports exit 4.
bool tensor_new(TensorHeap *h, Tensor *out, DType t, int rank,
                const int64_t *shape);
Tensor tensor_retain(const Tensor *t);          // another view, same storage
void tensor_release(Tensor *t);
int64_t tensor_count(const Tensor *t);          // elements
void tensor_row_major(Tensor *t);               // strides for its shape
TensorHeap *tensor_heap(const Tensor *t);
size_t tensor_bytes(const Tensor *t);           // of its storage
bool tensor_is_contiguous(const Tensor *t);
bool tensor_is_shared(const Tensor *t);         // storage has other views
void *tensor_data(const Tensor *t);             // element 0 of the view
// A contiguous tensor with the same elements: itself when it is one already.
bool tensor_contiguous(Tensor *out, const Tensor *t);
// Elementwise conversion as torch's .to(dtype) (fp8 does not saturate there;
// as T.cast does when `sat`).
bool tensor_cast(Tensor *out, const Tensor *t, DType to, bool sat);
double tensor_get_f64(const Tensor *t, const int64_t *index);
void tensor_fill_f64(Tensor *t, double v);
#endif
