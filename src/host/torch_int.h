// torch_int.h - private to torch_*.c and einops.c: tensors as Python values.
#ifndef HOST_TORCH_INT_H
#define HOST_TORCH_INT_H

#include "host/host.h"
#include "host/ops.h"

typedef struct {
    Foreign foreign;
    Host *host;
    Tensor t;                   // storage NULL: its memory was taken over
    Value node, grad;           // see tape.c; UNBOUND or NONE: there is none
    int output;                 // which result of the node it is
    bool requires_grad, retains;
} TensorObject;

// A function of torch; as a method its first argument is the tensor.
typedef Value TorchFn(Host *h, const Args *args);
typedef struct {
    const char *name;
    TorchFn *call;
    enum { IN_TORCH = 1, METHOD = 2, IN_NN = 4, BOTH = 3, ALL = 7 } where;
} TorchRow;
#define TORCH_ROW(name, where) {#name, fn_##name, where}
#define TORCH_SAME(name, fn, where) {#name, fn_##fn, where}
#define TORCH_END {NULL, NULL, 0}

extern const TorchRow torch_math_rows[], torch_linalg_rows[], torch_nn_rows[],
    torch_loss_rows[], torch_reduce_rows[], torch_rows_rows[],
    torch_shape_rows[], torch_join_rows[], torch_scatter_rows[],
    torch_make_rows[], torch_random_rows[], torch_cast_rows[],
    torch_test_rows[], torch_numpy_rows[];
TorchFn *torch_find(Text name, int where);
// Of the tables whose functions have an in-place form x.name_().
TorchFn *torch_find_inplace(Text name);

// ---- arguments --------------------------------------------------------------

// Values v[] of the arguments named; UNBOUND when not given.
#define TORCH_BIND(name, ...)                                                  \
    const char *const names_[] = {__VA_ARGS__};                                \
    Value v[countof(names_)];                                                  \
    Span at = args->at_span;                                                   \
    args_bind(h->lang, name, args, names_, countof(names_), v);                \
    (void)at

static inline bool torch_given(Value v)
{
    return v.kind != VAL_UNBOUND && v.kind != VAL_NONE;
}

static inline bool torch_is_number(Value v)
{
    return v.kind == VAL_INT || v.kind == VAL_FLOAT || v.kind == VAL_BOOL;
}

static inline bool torch_is_list(Value v)
{
    return v.kind == VAL_TUPLE || v.kind == VAL_LIST;
}

// A tensor argument: TypeError when it is something else.
Tensor *torch_tensor(Host *h, Value v, const char *what, Span at);
Tensor *torch_first(Host *h, const Args *args);         // argument 0
bool torch_flag(Host *h, Value v, bool fallback, Span at);
int64_t torch_int(Host *h, Value v, const char *what, int64_t fallback,
                  Span at);
// dim in [-rank, rank) to [0, rank); raises IndexError.
int torch_dim(Host *h, Value v, int rank, Span at);
// Dimensions as a mask: an int, a tuple, or UNBOUND / None for all.
uint32_t torch_dims(Host *h, Value v, int rank, Span at);
// Sizes from (2, 3), [2, 3] or 2, 3 given from argument `from` on.
int torch_sizes(Host *h, const Args *args, int from, int64_t *shape);
int torch_size_list(Host *h, Value v, int64_t *shape, Span at);
// 1 to 256 tensors of a list.
enum { TORCH_MOST_TENSORS = 256 };
int torch_tensor_list(Host *h, Value v, const Tensor **in, Span at);
// A dtype argument; in f64 mode floats of 16 bits and more are f64.
DType torch_dtype(const Host *h, DType t);
DType torch_float(const Host *h);       // what Python's floats become
DType torch_asked_dtype(Host *h, Value v, DType fallback, Span at);

// ---- results ----------------------------------------------------------------

_Noreturn void torch_no_memory(Host *h, Span at);
_Noreturn void torch_bad_index(Host *h, const BadIndex *bad, Span at);
// Wraps a new tensor; raises when ok is false.
Value torch_result(Host *h, bool ok, Tensor t, Span at);
// A view of t that owns a reference of its own.
Value torch_view(Host *h, const Tensor *t, Tensor borrowed);
Value torch_shape_tuple(Lang *l, const Tensor *t);
void torch_shape_words(TextBuf *b, const Tensor *t);    // "[2, 3]"
// The tensor itself when its memory may be taken over, else NULL.
Tensor *torch_steal(Value v);
// Functions made of several operations. An operand used twice is kept, so that
// the first use does not take its memory over; an intermediate result is done
// with as soon as nothing needs it.
Value torch_keep(Value v);
void torch_done(Value v);
// What an in-place operation writes to: not expanded, and its memory its own.
void torch_will_write(Host *h, Tensor *t, Span at);
// Raises when to and from are different parts of memory that share some.
void torch_check_overlap(Host *h, const Tensor *to, const Tensor *from,
                         Span at);

// ---- torch_number.c: elementwise --------------------------------------------

// What operands are computed in; numbers and 0-dim tensors count less.
DType torch_promote(Host *h, Value a, Value b);
DType torch_promote_list(Host *h, const Value *in, int count);
DType torch_promote_types(DType a, DType b);
// Elementwise with broadcasting; result DT_NONE: as computed.
Value torch_elementwise(Host *h, LaneOp op, const Value *in, int count,
                        DType compute, DType result, Span at);
Value torch_binary(Host *h, LaneOp op, Value a, Value b, DType result, Span at);
Value torch_compare(Host *h, AstOp op, Value a, Value b, Span at);
// Operations that integers do not have take them as f32.
Value torch_unary(Host *h, LaneOp op, Value a, Span at);
Value torch_extreme(Host *h, Value a, Value b, bool max, Span at);
// +, -, *, /, //, %, **, comparisons, &, |, ^, <<, >>, @.
bool torch_operator(Host *h, AstOp op, Value a, Value b, Value *out, Span at);
// c ? a : b, in dtype t.
Value torch_select(Host *h, Value c, Value a, Value b, DType t, Span at);
Value torch_to_bool(Host *h, Value v, Span at);
// v as dtype t; itself when it is one.
Value torch_cast(Host *h, Value v, DType t, Span at);
// What functions made of several steps are computed in, to be rounded once.
#define TORCH_WIDE DT_F64

// ---- others -----------------------------------------------------------------

Value torch_matmul(Host *h, Value a, Value b, Span at);
Value torch_transposed(Host *h, Value v, int a, int b);
Value torch_reduce(Host *h, Value x, Reduction r, uint32_t mask, bool keep,
                   DType t, Span at);
Value torch_row_op(Host *h, Value x, RowOp op, int dim, DType t, Span at);
Value torch_getitem(Lang *l, Foreign *self, Value index, Span at);
void torch_setitem(Lang *l, Foreign *self, Value index, Value v, Span at);
Value torch_item(Host *h, const Tensor *t, Span at);
// Nested lists of numbers and tensors; dtype UNBOUND: as they are.
Value torch_from_list(Host *h, Value list, Value dtype, Span at);
// The tensor that a NumPy array holds; UNBOUND: v is none.
Value torch_array(Host *h, Value v);
// Positional sizes and the keywords of functions that make tensors.
typedef struct {
    int rank;
    int64_t shape[TENSOR_MAX_RANK];
    Value dtype, value;         // fill_value
} TorchRecipe;
// filled: the second positional argument is fill_value.
TorchRecipe torch_recipe(Host *h, const Args *args, const char *name,
                         bool filled);
// A new tensor filled with a number.
Value torch_filled(Host *h, DType t, int rank, const int64_t *shape, Value v,
                   Span at);
Value torch_reshaped(Host *h, const Tensor *t, int rank, const int64_t *shape,
                     Span at);

// ---- tape.c: gradients ------------------------------------------------------

bool tape_tracks(Value v);              // a tensor that needs a gradient
// Does a call with these arguments have to be recorded?
bool tape_wants(const Host *h, const Args *args);
// call(h, args), recorded as `name` where it has to be.
Value tape_call(Host *h, Text name, TorchFn *call, const Args *args);
// The same in two steps: before, so that no operand's memory is taken over.
void tape_hold(const Args *args);
void tape_record(Host *h, Text name, const Args *args, Value out);
// Around an operation that writes into o, args->at[0]: what o was before.
Value tape_before_write(Host *h, TensorObject *o, Text name, Span at);
void tape_after_write(Host *h, TensorObject *o, Text name, const Args *args,
                      Value before);
void tape_require(TensorObject *o, bool on, Span at);
bool tape_method(Lang *l, TensorObject *o, Text name, const Args *args,
                 Value *out);
bool tape_getattr(TensorObject *o, Text name, Value *out);
bool tape_setattr(Lang *l, Foreign *self, Text name, Value v, Span at);

void torch_testing_fill(Host *h, Module *m);
bool einops_import(Host *h, Text name, Value *out);
bool safetensors_import(Host *h, Text name, Value *out);
#endif
