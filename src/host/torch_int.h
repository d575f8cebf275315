// torch_int.h - private to the torch_*.c files: tensors as Python values.
#ifndef HOST_TORCH_INT_H
#define HOST_TORCH_INT_H

#include "host/host.h"
#include "host/ops.h"

typedef struct {
    Foreign foreign;
    Host *host;
    Tensor t;
} TensorObject;

// A function of torch; as a method its first argument is the tensor.
typedef Value TorchFn(Host *h, const Args *args);
typedef struct {
    const char *name;
    TorchFn *call;
    bool method, function;      // x.name(...), torch.name(...)
} TorchRow;

extern const TorchRow torch_math_rows[], torch_shape_rows[],
    torch_reduce_rows[], torch_make_rows[], torch_cast_rows[];
TorchFn *torch_find(Text name, bool method);

// In f64 mode floats of 16 bits and more are f64.
DType torch_dtype(const Host *h, DType t);
_Noreturn void torch_no_memory(Host *h, Span at);
// Wraps a new tensor; raises when ok is false.
Value torch_result(Host *h, bool ok, Tensor t, Span at);
Tensor *torch_tensor(Host *h, Value v, const char *what, Span at);
// The tensor itself when its memory may be taken over, else NULL.
Tensor *torch_steal(Value v);
// dim in [-rank, rank) to [0, rank); raises IndexError.
int torch_dim(Host *h, Value v, int rank, Span at);
// Dimensions as a mask: an int, a tuple, or UNBOUND / None for all.
uint32_t torch_dims(Host *h, Value v, int rank, Span at);
// Sizes from (2, 3), [2, 3] or 2, 3 given from argument `from` on.
int torch_sizes(Host *h, const Args *args, int from, int64_t *shape);
int torch_size_list(Host *h, Value v, int64_t *shape, Span at);

// What two operands are computed in, and an operand for each.
DType torch_promote(Host *h, Value a, Value b);
Operand torch_operand(Host *h, Value v, Span at);
bool torch_is_number(Value v);
// Elementwise with broadcasting; result DT_NONE: as computed.
Value torch_elementwise(Host *h, LaneOp op, const Value *in, int count,
                        DType compute, DType result, Span at);
Value torch_binary(Host *h, LaneOp op, Value a, Value b, DType result, Span at);
Value torch_compare(Host *h, AstOp op, Value a, Value b, Span at);
Value torch_unary(Host *h, LaneOp op, Value a, Span at);
Value torch_matmul(Host *h, Value a, Value b, Span at);

// torch_index.c
Value torch_getitem(Lang *l, Foreign *self, Value index, Span at);
void torch_setitem(Lang *l, Foreign *self, Value index, Value v, Span at);
Value torch_item(Host *h, const Tensor *t, Span at);

// torch_module.c
Module *torch_module(Host *h, const char *name);
#endif
