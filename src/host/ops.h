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

// ---- map.c: elementwise ------------------------------------------------------
// out = op(operands...) with broadcasting over `shape`; operands are brought to
// dtype `compute`, the result is rounded to it and stored as `result`. When
// `reuse` is a temporary of the right size its storage becomes out's.
bool tensor_map(TensorHeap *h, Tensor *out, LaneOp op, DType compute,
                DType result, int rank, const int64_t *shape,
                const Operand *in, int count, Tensor *reuse);
// dst[...] = src broadcast, converted; dst is any view.
void tensor_assign(Tensor *dst, const Tensor *src);
void tensor_assign_number(Tensor *dst, double f64, int64_t i64);
// Shape of two broadcast together; false when they do not fit.
bool broadcast_shapes(const Tensor *a, const Tensor *b, int *rank,
                      int64_t *shape);
// A view of t expanded to `shape`.
Tensor tensor_expand(const Tensor *t, int rank, const int64_t *shape);

// ---- reduce.c: along dimensions -----------------------------------------------
typedef enum {
    REDUCE_SUM, REDUCE_MEAN, REDUCE_PROD, REDUCE_AMAX, REDUCE_AMIN,
    REDUCE_ARGMAX, REDUCE_ARGMIN, REDUCE_ANY, REDUCE_ALL, REDUCE_NORM,
    REDUCE_VAR0, REDUCE_VAR1,   // divided by n, by n - 1
} Reduction;
// mask: bit d for each dimension reduced. Accumulated in f64 for floats.
bool tensor_reduce(TensorHeap *h, Tensor *out, const Tensor *t, Reduction r,
                   uint32_t mask, bool keep, DType result);
typedef enum { ROWS_SOFTMAX, ROWS_LOG_SOFTMAX, ROWS_CUMSUM, ROWS_CUMMAX,
               ROWS_CUMPROD } RowOp;
// Along dimension dim; the same shape.
bool tensor_rows(TensorHeap *h, Tensor *out, const Tensor *t, RowOp op, int dim,
                 DType result, Tensor *reuse);

// ---- matmul.c -----------------------------------------------------------------
// a [..., m, k] @ b [..., k, n]; batch dimensions broadcast. Both of one dtype;
// floats below f64 accumulate in f32 and round once to `result`.
bool tensor_matmul(TensorHeap *h, Tensor *out, const Tensor *a,
                   const Tensor *b, DType result);
// False with `*why` set for a bad equation, else for lack of memory (NULL).
bool tensor_einsum(TensorHeap *h, Tensor *out, Text equation,
                   const Tensor *const *in, int count, DType result,
                   const char **why);

// ---- shape.c: views -------------------------------------------------------------
Tensor tensor_permute(const Tensor *t, const int *order);
Tensor tensor_unsqueeze(const Tensor *t, int dim);
Tensor tensor_squeeze(const Tensor *t, uint32_t mask);
// A view when strides allow; else a copy.
bool tensor_reshape(Tensor *out, const Tensor *t, int rank,
                    const int64_t *shape);
bool tensor_cat(TensorHeap *h, Tensor *out, const Tensor *const *in, int count,
                int dim, DType result);
bool tensor_repeat_interleave(Tensor *out, const Tensor *t, int64_t n, int dim);
bool tensor_gather(TensorHeap *h, Tensor *out, const Tensor *t, int dim,
                   const Tensor *index, int64_t *bad);
// t[index] along dim 0..: index_select; *bad gets an index out of range.
bool tensor_take(TensorHeap *h, Tensor *out, const Tensor *t, int dim,
                 const Tensor *index, int64_t *bad);
bool tensor_triangle(Tensor *out, const Tensor *t, int64_t diagonal, bool upper);
#endif
