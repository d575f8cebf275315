// ops.h - operations on tensors, by torch's meaning; private to host.
//
// All return false only when memory runs out; shapes and dtypes are checked by
// the callers, who know what to tell the user.
#ifndef HOST_OPS_H
#define HOST_OPS_H

#include "host/tensor.h"
#include "num/lanes.h"

// An operand of an elementwise operation: a tensor, or a number.
typedef struct {
    const Tensor *t;            // NULL: the number
    double f64;
    int64_t i64;                // of integer lanes
} Operand;

// ---- map.c: elementwise -----------------------------------------------------
// out = op(operands...) with broadcasting over `shape`; operands are brought to
// dtype `compute`, the result is rounded to it and stored as `result`. When
// `reuse` is a temporary of the right size its storage becomes out's.
bool tensor_map(TensorHeap *h, Tensor *out, LaneOp op, DType compute,
                DType result, int rank, const int64_t *shape,
                const Operand *in, int count, Tensor *reuse);
// Shape of two broadcast together; false when they do not fit.
bool broadcast_shapes(const Tensor *a, const Tensor *b, int *rank,
                      int64_t *shape);

// ---- reduce.c: along dimensions ---------------------------------------------
typedef enum {
    REDUCE_SUM, REDUCE_MEAN, REDUCE_PROD,
    REDUCE_AMAX, REDUCE_AMIN, REDUCE_ARGMAX, REDUCE_ARGMIN,
    REDUCE_ANY, REDUCE_ALL, REDUCE_COUNT,   // of those that are not 0
    REDUCE_NORM, REDUCE_LOGSUMEXP,
    REDUCE_VAR0, REDUCE_VAR1,   // divided by n, by n - 1
} Reduction;
// mask: bit d for each dimension reduced. Floats are accumulated in f64 and
// rounded once, integers wrap at 64 bits.
bool tensor_reduce(TensorHeap *h, Tensor *out, const Tensor *t, Reduction r,
                   uint32_t mask, bool keep, DType result);
// The same with p of REDUCE_NORM: 1, 2 or infinity.
bool tensor_norm(TensorHeap *h, Tensor *out, const Tensor *t, Reduction r,
                 uint32_t mask, bool keep, DType result, double p);
// A view with the dimensions of mask last; *kept counts the others.
Tensor rows_to_end(const Tensor *t, uint32_t mask, int *kept);

// ---- rows.c: rows to rows ---------------------------------------------------
typedef enum {
    ROWS_SOFTMAX, ROWS_LOG_SOFTMAX, ROWS_CUMSUM, ROWS_CUMPROD,
    ROWS_CUMMAX, ROWS_CUMMIN,   // values, and where they are
    ROWS_SORT_UP, ROWS_SORT_DOWN,   // stable; NaN above all
} RowOp;
// Along dimension dim; the same shape. `at` (may be NULL) gets the places.
bool tensor_rows(TensorHeap *h, Tensor *out, Tensor *at, const Tensor *t,
                 RowOp op, int dim, DType result, Tensor *reuse);

// ---- matmul.c, einsum.c -----------------------------------------------------
// a [..., m, k] @ b [..., k, n]; batch dimensions broadcast. Both of one dtype;
// floats below f64 accumulate in f32 and round once to `result`.
bool tensor_matmul(TensorHeap *h, Tensor *out, const Tensor *a,
                   const Tensor *b, DType result);
// False with `why` filled for a bad equation, else for lack of memory.
bool tensor_einsum(TensorHeap *h, Tensor *out, Text equation,
                   const Tensor *const *in, int count, DType result,
                   TextBuf *why);

// ---- shape.c: views ---------------------------------------------------------
// Views borrow the storage: whoever keeps one retains it.
Tensor tensor_permute(const Tensor *t, const int *order);
Tensor tensor_unsqueeze(const Tensor *t, int dim);
Tensor tensor_squeeze(const Tensor *t, uint32_t mask);
// `size` elements of dimension dim: from, from + step, ...; step may be < 0.
Tensor tensor_slice(const Tensor *t, int dim, int64_t from, int64_t size,
                    int64_t step);
// Element `at` of dimension dim, which goes.
Tensor tensor_select(const Tensor *t, int dim, int64_t at);
// A view of t expanded to `shape`.
Tensor tensor_expand(const Tensor *t, int rank, const int64_t *shape);
// A new dimension at the end: the diagonal of d0 and d1 from `first` on.
Tensor tensor_diagonal(const Tensor *t, int64_t first, int d0, int d1);
// Retained: a view when strides allow; false else.
bool tensor_view(Tensor *out, const Tensor *t, int rank, const int64_t *shape);
// Retained: a view when strides allow, else a copy.
bool tensor_reshape(Tensor *out, const Tensor *t, int rank,
                    const int64_t *shape);
bool tensor_cat(TensorHeap *h, Tensor *out, const Tensor *const *in, int count,
                int dim, DType result);
bool tensor_repeat_interleave(Tensor *out, const Tensor *t, int64_t n, int dim);
bool tensor_triangle(Tensor *out, const Tensor *t, int64_t diagonal,
                     bool upper);

// ---- index.c: elements by number --------------------------------------------
// What does not fit: an index out of range of a dimension. dim -1: nothing.
typedef struct {
    int dim;
    int64_t index, size;
} BadIndex;
// One number into dimensions [0, count) of t for each element of the index
// tensors, which have one shape; i64 and contiguous.
bool tensor_flat_index(TensorHeap *h, Tensor *out, const Tensor *t,
                       const Tensor *index, int count, BadIndex *bad);
// [flat..., t's other dimensions] of t's first `count` dimensions.
bool tensor_pick(TensorHeap *h, Tensor *out, const Tensor *t, int count,
                 const Tensor *flat);
// The other way: src has the shape that tensor_pick gives. In order; `add`
// adds to what is there.
void tensor_put(Tensor *t, int count, const Tensor *flat, const Tensor *src,
                bool add);
bool tensor_gather(TensorHeap *h, Tensor *out, const Tensor *t, int dim,
                   const Tensor *index, BadIndex *bad);
typedef enum { PUT_SET, PUT_ADD, PUT_MUL, PUT_MAX, PUT_MIN } PutRule;
// dst[.., index[..], ..] = src[..] along dim, in order; src has at least
// index's shape and dst's dtype.
bool tensor_scatter(Tensor *dst, int dim, const Tensor *index,
                    const Tensor *src, PutRule rule, BadIndex *bad);
// The places of true elements: [n, rank] i64.
bool tensor_nonzero(TensorHeap *h, Tensor *out, const Tensor *t);
#endif
