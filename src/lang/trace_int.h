// trace_int.h - private to the tracer: the kernel under construction.
#ifndef LANG_TRACE_INT_H
#define LANG_TRACE_INT_H

#include "lang/lang_int.h"

typedef struct LoopFrame {
    IrLoopKind loop;
    int rank;
    IrExpr *start[IR_MAX_RANK], *extent[IR_MAX_RANK];
    IrExpr *step;
    IrExpr *wave_size, *wave_index, *group_size;
    IrExpr *condition;          // T.While, T.If: nothing else is set
    enum { BRANCH_NONE, BRANCH_IF, BRANCH_THEN, BRANCH_ELSE } branch;
    bool is_scope;              // T.ws, T.attr: for a `with`, no loop
    IrExpr *guard;              // T.ws: which threads, or NULL: all
    int axis;                   // T.thread_binding that is part of a launch:
                                // 1 blockIdx.x ... 6 threadIdx.z
    IrAttr *attrs;
    Span at;
} LoopFrame;

typedef struct KernelFrame {
    int rank;
    IrExpr *grid[IR_MAX_GRID];
    int64_t threads[3];
    IrAttr *attrs;
    Span at;
} KernelFrame;

// A device scope (loop, if, kernel body): names bound in it end with it.
typedef struct TraceScope {
    struct TraceScope *outer;
    const char *what;           // "a for loop", for messages
    bool runs_once;             // a T.Kernel: its body is not conditional
    Frame *frame;
    Map bound;                  // names bound in it
} TraceScope;

// What T.const gave out and what the tensors said.
typedef struct ConstSize {
    Text name;
    IrVar *var;                 // while probing
    bool known;
    int64_t value;
    Span at;
} ConstSize;

typedef struct Reducer Reducer;

struct Trace {
    Trace *outer;
    IrKernel *k;
    Function *function;
    IrStmt *block;              // statements are appended here
    IrStmt *launch;             // the T.Kernel around, or NULL
    bool by_axes;               // ... loops over its axes made it
    int first;                  // statements put at its start: see trace_first
    TraceScope *scope;
    IrStmt *branch;             // the T.If around, or NULL
    int loop_depth;
    int host_depth;             // of loops around T.Kernel
    int host_turns;             // that they have made up to now
    int macro_depth;
    struct Random *random;      // the generator of T.rng_init, or NULL
    Op reducer;                 // of the T.attr around; 0: a sum
    int lazy;                   // inside an operand that need not be evaluated
    struct {                    // lets that hold an element of a buffer
        struct Let { IrVar *var; IrExpr *load; } *at;
        int len, room;
    } lets;
    struct {                    // made by T.alloc_reducer
        struct Reducer { IrBuffer *buffer; Text op; } *at;
        int len, room;
    } reducers;
    // eager kernels
    bool eager, probing;
    const Dict *given;          // T.const values by name
    const Args *args;           // actual tensors and values
    struct {
        ConstSize *at;
        int len, room;
    } consts;
    IrBuffer **results;         // T.empty tensors in `return` order
    int result_count;
};

// A call bound to its row of the op table.
typedef struct {
    const OpInfo *info;
    Op op;
    Value at[OP_MAX_PARAMS];    // UNBOUND when not given
    Span spans[OP_MAX_PARAMS];
    Value rest[IR_MAX_RANK];    // of a star parameter
    int rest_count;
    Span call;
} Bound;

// trace.c
IrKernel *trace_prim_func(Lang *l, Function *fn, Span at);
// Appends a statement. Raises where only a value may stand: the right side of
// `and`, the branches of `x if c else y`, the condition of a while.
void trace_add(Lang *l, IrStmt *s);
IrStmt *trace_emit(Lang *l, IrStmtKind kind, Span at);  // a new one, appended
// Puts a statement at the start of the T.Kernel around; appends it when there
// is none, or when the place is not inside a loop or branch.
void trace_first(Lang *l, IrStmt *s);
// Freezes e in a LET called `name`; variables and constants stay as they are.
Value trace_freeze(Lang *l, Text name, IrExpr *e, Span at);
// Where expressions are made: the kernel under construction, or a scratch one
// for what a factory computes before (symbols, constants, layouts).
IrKernel *trace_kernel(Lang *l);
// Raises when there is no kernel under construction.
Trace *trace_need(Lang *l, const char *what, Span at);
void trace_check_dtype(Lang *l, const Trace *t, const IrBuffer *b, Span at);
IrBuffer *trace_tensor(Lang *l, const TensorSpec *spec, Text name, Span at);
// Runs `body` into a fresh BLOCK under a scope; returns the block.
IrStmt *trace_body(Lang *l, Frame *f, const AstList *body, const char *what,
                   Span at);
// What was passed for a parameter of the kernel; UNBOUND: nothing.
Value trace_argument(const Trace *t, Text name);
void trace_scope_note(Lang *l, Frame *f, Text name);    // before a binding
void trace_scope_close(Lang *l, TraceScope *s);
bool trace_builder_ok(Lang *l, const void *built, Span at);

// trace_flow.c
Flow trace_if(Lang *l, Frame *f, const Ast *s);
Flow trace_for(Lang *l, Frame *f, const Ast *s);
Flow trace_while(Lang *l, Frame *f, const Ast *s);
Flow trace_jump(Lang *l, const Ast *s);
Flow trace_with(Lang *l, Frame *f, const Ast *s);
Flow trace_return(Lang *l, Frame *f, const Ast *s);
void trace_assert(Lang *l, Frame *f, const Ast *s);

// trace_host.c
// A launch among the statements, or in an if, for or with among them.
bool trace_launches(const AstList *body, int depth);
// A loop with a T.Kernel in it, which the host runs.
bool trace_is_host_loop(Lang *l, Frame *f, const Ast *s);
Flow trace_host_loop(Lang *l, Frame *f, const Ast *s, const LoopFrame *loop);

// trace_stmt.c
void trace_bind(Lang *l, Frame *f, Text name, Value v);     // a fresh binding
IrBuffer *trace_param(const Trace *t, Text name);   // declared tensor or NULL
// Whether a tensor of dtype `held` can be one of t: two 4-bit elements are held
// in a byte, tfloat32 in float32.
bool trace_holds(DType held, DType t);

// macro.c
Value prim_func(Lang *l, const Bound *b);       // @T.prim_func, @T.macro
// A name bound to a load is a T.Ref parameter: reading it reads the element,
// assigning to it stores.
bool is_ref(Value v);

// device.c: values to IR
void store_element(Lang *l, IrBuffer *b, IrExpr *const *index, IrExpr *value,
                   Span at);
IrExpr *to_expr(Lang *l, Value v, Span at);
IrExpr *to_condition(Lang *l, Value v, Span at);        // bool scalar
IrRegion *to_region(Lang *l, Value v, Span at);
IrExpr *load_var(Lang *l, IrBuffer *b, Span at);
Value expr_value(Lang *l, IrExpr *e);       // int32 constants become ints
bool is_alloc_var(Value v);
IrRegion *region_whole(Lang *l, IrBuffer *b, Span at);
Op device_op(AstOp op);

// layout.c: T.Layout, T.Fragment, annotate_layout, swizzle makers
IrIndexMap *layout_of(Lang *l, Value v, IrBuffer *b, Span at);
Value layout_make(Lang *l, const Value *shape, const Value *map,
                  const Value *thread, int64_t replicate, Span at);
Value fragment_make(Lang *l, const Bound *b);

// prim_round.c: T.ieee_* of n float32 toward 'rz', 'ru' or 'rd', given the
// result to nearest.
IrExpr *round_directed(Lang *l, Op op, IrExpr *const *x, int n,
                       IrExpr *nearest, Text mode, Span at);

// layout_check.c: raises where two elements of shared memory get one place.
void layout_check(Lang *l, const IrBuffer *b, Span at);

// prim.c
void prim_attr(Lang *l, IrStmt *s, IrAttrId id, Value v, Span at);
IrAttrValue attr_value(Lang *l, Value v, Span at);
bool bound_given(const Bound *b, int i);
int64_t bound_int(Lang *l, const Bound *b, int i, int64_t fallback);
// Parameters from `from` on that name an attribute become attributes of s.
void bound_attrs(Lang *l, const Bound *b, IrStmt *s, int from);

// prim_tile.c: statements on regions
Value tile_call(Lang *l, const Bound *b);
IrStmt *tile_stmt(Lang *l, const Bound *b);     // not appended
IrRegion *first_element(Lang *l, IrRegion *r);  // of a region, for a pointer
Value alloc_reducer(Lang *l, const Bound *b, IrBuffer *buffer);
IrStmt *reducer_update(Lang *l, IrBuffer *b, IrExpr *const *index,
                       IrExpr *value, Span at);
Value truth_of_region(Lang *l, const Bound *b);

// vector.c: values of several lanes. False: not one of these.
bool vector_call(Lang *l, const Bound *b, Value *out);
Value vector_atomic(Lang *l, const Bound *b, int n);    // n adjacent elements
bool index_is_vector(const Lang *l, Value index);
Value vector_getitem(Lang *l, Value base, Value index, Span at);
void vector_setitem(Lang *l, Value base, Value index, Value v, Span at);
void vector_fill(Lang *l, const IrRegion *r, Value v, Span at);

// prim_stage.c: rows that are not statements on regions. False: not one.
bool stage_call(Lang *l, const Bound *b, Value *out);
// prim_thread.c: per-thread code and barriers. False: not one of these.
bool thread_call(Lang *l, Bound *b, Value *out);
const IrStmt *launch_around(Lang *l, const Bound *b);
IrExpr *thread_dim(Lang *l, const Bound *b, int64_t dim);
IrExpr *thread_number(Lang *l, const Bound *b);
// prim_random.c: T.rng_*. False: not one of these.
bool random_call(Lang *l, const Bound *b, Value *out);
// prim_axis.c
Value axis_call(Lang *l, const Bound *b);
Value launch_axis(Lang *l, const LoopFrame *f, Span at);
// prim_extern.c: T.call_extern
Args extern_args(Lang *l, const Args *args);    // dtype= comes first
Value extern_call(Lang *l, const Bound *b);
void extern_drop_result(Trace *t, Value v);     // of a call that stands alone
Value import_source(Lang *l, const Bound *b);
// prim_alloc.c, prim_loop.c
bool alloc_call(Lang *l, const Bound *b, Value *out);
bool loop_call(Lang *l, const Bound *b, Value *out);
// Sizes of a shape argument: a list, tuple or single value.
List *shape_list(Lang *l, Value v, Span at);

#endif
