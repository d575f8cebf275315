// ir.h - the tile program as data: what the front end makes, what code
// generation, plans and reports read.
//
// A kernel is a tree of statements with typed expressions. All nodes live in
// the kernel's arena. Expressions are immutable once built and may be shared.
// Regions are kept as the user wrote them; ir_resolve_* computes what they
// mean (tilelang_surface 4.4), so there is one place for those rules.
#ifndef IR_IR_H
#define IR_IR_H

#include "device/device.h"
#include "num/num.h"
#include "op/op.h"
#include "support/support.h"

enum { IR_MAX_RANK = 8, IR_MAX_GRID = 3 };

typedef struct IrExpr IrExpr;
typedef struct IrStmt IrStmt;
typedef struct IrBuffer IrBuffer;
typedef struct IrVar IrVar;
typedef struct IrKernel IrKernel;

// ---- values ---------------------------------------------------------------

typedef enum {
    VAR_LOOP,           // of a FOR, or the input of an index map
    VAR_BLOCK,          // blockIdx.x/y/z of a LAUNCH
    VAR_THREAD,         // threadIdx
    VAR_LET,            // frozen by a LET
    VAR_SYMBOL,         // T.dynamic: bound from tensor shapes at launch
    VAR_PARAM,          // scalar parameter of the kernel
} IrVarKind;

struct IrVar {
    int id;             // unique in the kernel
    IrVarKind kind;
    Text name;
    DType dtype;
    Span at;
};

typedef enum {
    SCOPE_GLOBAL,       // a parameter, T.empty output or alloc_global workspace
    SCOPE_SHARED,       // "shared.dyn"
    SCOPE_SHARED_STATIC,// "shared"
    SCOPE_FRAGMENT,
    SCOPE_LOCAL,        // per thread
    SCOPE_VAR,          // T.alloc_var: rank 1, extent 1
    SCOPE_BARRIER,
    SCOPE_REDUCER,
} IrScope;

// out = f(in): a layout lambda evaluated once on symbolic indices.
typedef struct {
    int in_rank, out_rank;
    IrExpr *in_shape[IR_MAX_RANK];
    IrVar *in[IR_MAX_RANK];
    IrExpr *out[IR_MAX_RANK + 2];
    IrExpr *thread;     // T.Fragment: owner thread, else NULL
    IrVar *replica;     // T.Fragment with replicate > 1
    int64_t replicate;
    Text maker;         // "make_swizzled_layout" and the like: no expressions
    // arguments of a maker are in `in_shape`; plans evaluate it
} IrIndexMap;

struct IrBuffer {
    int id;
    Text name;
    DType dtype;
    IrScope scope;
    int rank;
    IrExpr *shape[IR_MAX_RANK];     // constants except for dynamic symbols
    IrExpr *strides[IR_MAX_RANK];   // elements; all NULL: row-major contiguous
    IrBuffer *alias_of;             // reshape/view: same storage, or NULL
    IrIndexMap *layout;             // annotate_layout, or NULL
    IrExpr *safe_value;             // annotate_safe_value, or NULL: 0
    int param;                      // index of the parameter, or -1
    bool pointed;                   // T.make_tensor: its ALLOC has the address
    int lanes;                      // of a vector dtype, for the front end
    Span at;
};

// ---- expressions ----------------------------------------------------------

typedef enum {
    EXPR_INT,           // i64 (all ints and bool; uint64 as its bits)
    EXPR_FLOAT,         // f64: the literal as written, NOT rounded to dtype
    EXPR_VAR,
    EXPR_LOAD,          // buffer[index...]
    EXPR_OP,            // op(args...): operators and OPCLASS_EXPR rows
    EXPR_CAST,          // args[0] to dtype; sat: fp8 saturates
    EXPR_SELECT,        // args: c, t, f; lazy: only the taken side runs
    EXPR_REINTERPRET,   // bits of args[0] as dtype
    EXPR_ATOMIC,        // op on buffer[args...]: indices, then the value; gives
                        // the old value. Without one: a STMT_TILE.
                        // OP_ATOMIC_LOAD has no value
} IrExprKind;

struct IrExpr {
    IrExprKind kind;
    DType dtype;
    Span at;
    Op op;              // OP, ATOMIC
    bool sat;           // CAST to an 8-bit float: saturates; else true
    int depth, size;    // of the tree below, bounded by the builders
    int count;
    IrExpr **args;      // LOAD: indices
    union {
        int64_t i64;
        double f64;
        IrVar *var;
        IrBuffer *buffer;       // LOAD, ATOMIC
    };
};

// ---- regions --------------------------------------------------------------

typedef enum {
    REGION_WHOLE,       // a buffer's name
    REGION_SLICE,       // at least one a:b among the subscripts
    REGION_POINT,       // only plain indices: an element, or "has no extents"
} IrRegionForm;

typedef struct {
    IrBuffer *buffer;
    IrRegionForm form;
    Span at;
    IrExpr *min[IR_MAX_RANK];
    IrExpr *extent[IR_MAX_RANK];    // NULL where a plain index stands
    int64_t step[IR_MAX_RANK];      // 1 but for a strided slice
} IrRegion;

// ---- attributes -----------------------------------------------------------

typedef enum {
#define ATTR(id, ...) ATTR_##id,
#include "ir/attr.def"
    ATTR_COUNT
} IrAttrId;

typedef enum {
    ATTRVAL_NONE, ATTRVAL_INT, ATTRVAL_BOOL, ATTRVAL_FLOAT, ATTRVAL_TEXT,
    ATTRVAL_EXPR, ATTRVAL_LIST, ATTRVAL_DICT, ATTRVAL_LAYOUT,
} IrAttrKind;

typedef struct IrAttrValue {
    IrAttrKind kind;
    union {
        int64_t i64;
        double f64;
        Text text;
        IrExpr *expr;
        IrIndexMap *layout;
        struct {
            struct IrAttrValue *at;     // DICT: key, value, key, value, ...
            int len;
        } list;
    };
} IrAttrValue;

typedef struct IrAttr {
    IrAttrId id;
    IrAttrValue value;
    struct IrAttr *next;
} IrAttr;

// ---- statements -----------------------------------------------------------

typedef enum {
    STMT_BLOCK,         // body[]
    STMT_ALLOC,         // buffer comes to life here, uninitialised; with a
                        // value, a tensor at this address
    STMT_LET,           // var = value, frozen
    STMT_STORE,         // buffer[index...] = value (value has buffer's dtype)
    STMT_IF,            // cond, then, otherwise (may be NULL)
    STMT_FOR,
    STMT_WHILE,         // cond, then
    STMT_BREAK,
    STMT_CONTINUE,
    STMT_ASSERT,        // cond; ATTR_MSG
    STMT_TILE,          // op on operand[], one per OpParam of the op's row:
                        // regions, expressions, NONE for what was left out and
                        // for what became an attribute. HINT rows too
    STMT_LAUNCH,        // T.Kernel: grid, block vars, threads, then
    STMT_EVAL,          // value for its effect
} IrStmtKind;

typedef enum {
    LOOP_SERIAL, LOOP_UNROLL, LOOP_VECTORIZED, LOOP_PARALLEL, LOOP_PIPELINED,
    LOOP_PERSISTENT, LOOP_THREAD, LOOP_GRID,
} IrLoopKind;

typedef struct {
    enum { OPERAND_NONE, OPERAND_REGION, OPERAND_EXPR } kind;
    union {
        IrRegion *region;
        IrExpr *expr;
    };
} IrOperand;

struct IrStmt {
    IrStmtKind kind;
    int id;             // stable, unique in the kernel; copies keep `origin`
    int origin;         // id of the statement this one was made from, or -1
    Span at;
    IrAttr *attrs;
    union {
        struct {                        // BLOCK
            IrStmt **body;
            int len, room;
        };
        struct {                        // ALLOC STORE LET EVAL
            IrBuffer *buffer;
            IrVar *var;
            IrExpr *value;
            int index_count;
            IrExpr **index;
        };
        struct {                        // IF WHILE ASSERT FOR LAUNCH
            IrExpr *cond;
            IrStmt *then, *otherwise;   // BLOCKs
            IrLoopKind loop;
            int var_count;              // FOR: loop vars; LAUNCH: grid rank
            IrVar *vars[IR_MAX_RANK];
            IrExpr *start[IR_MAX_RANK]; // FOR
            IrExpr *extent[IR_MAX_RANK];// FOR: trips; LAUNCH: grid
            IrExpr *step;               // FOR serial kinds: NULL is 1
            IrExpr *wave_size, *wave_index, *group_size;    // PERSISTENT
            int64_t threads[3];         // LAUNCH: threads given, padded with 1
        };
        struct {                        // TILE
            Op op;
            int operand_count;
            IrOperand *operand;
        };
    };
};
// FOR trip i of var v has value start + i * step, i in [0, extent).

// ---- kernel ---------------------------------------------------------------

typedef struct {
    Text name;
    bool is_scalar;
    IrBuffer *buffer;   // tensors
    IrVar *var;         // scalars
    bool pointer;       // a scalar that is the address of a tensor
} IrParam;

typedef struct {
    // indices into params; from out_idx, or the T.empty tensors returned
    int *outputs;
    int output_count;
    bool eager;         // outputs are T.empty: not in the call signature
    IrAttrValue pass_configs, compile_flags, autotune_configs;  // NONE or value
    Text target;
    int wave;           // threads of a warp; 0: 32
    // the Python-level arguments that made this kernel, for reports
    Text *argument_names, *argument_values;
    int argument_count;
} IrConfig;

struct IrKernel {
    Arena *arena;
    const OpTable *ops;
    Diag *diag;         // where builders and the verifier report
    Text name;
    Span at;
    IrParam *params;
    int param_count, param_room;
    IrVar **symbols;    // T.dynamic, in order of appearance
    int symbol_count, symbol_room;
    IrBuffer **buffers; // all, by id
    int buffer_count, buffer_room;
    IrStmt *body;       // BLOCK: symbolic lets, ALLOC global, LAUNCHes
    IrConfig config;
    int next_var, next_stmt;
    IrKernel *next;     // of a file with several kernels (ir_read)
};

// ---- build.c - the only way to make nodes ----------------------------------
// Builders check types and fold integer constants (overflow is an error).
// They return NULL after reporting an error; a NULL argument yields NULL.

IrKernel *ir_kernel(Arena *a, const OpTable *ops, Diag *d, Text name, Span at);
IrVar *ir_var(IrKernel *k, IrVarKind kind, Text name, DType t, Span at);
IrVar *ir_symbol(IrKernel *k, Text name, DType t, Span at);  // one per name
IrBuffer *ir_buffer(IrKernel *k, Text name, DType t, IrScope scope, int rank,
                    IrExpr *const *shape, IrExpr *const *strides, Span at);
// Adds a tensor (buffer set) or scalar (var set) parameter.
int ir_param(IrKernel *k, Text name, IrBuffer *buffer, IrVar *var);

IrExpr *ir_int(IrKernel *k, DType t, int64_t v, Span at);
// A Python int literal: int32, or int64 when it needs to be.
IrExpr *ir_literal(IrKernel *k, int64_t v, Span at);
IrExpr *ir_float(IrKernel *k, DType t, double v, Span at);
IrExpr *ir_use(IrKernel *k, IrVar *v, Span at);
IrExpr *ir_load(IrKernel *k, IrBuffer *b, IrExpr *const *index, int n, Span at);
// Arithmetic by the typing rules of tilelang_surface 4.2, operands matched.
// op is an EXPR row of ops.def: OP_ADD OP_SUB OP_MUL OP_DIV OP_FLOORDIV
// OP_FLOORMOD OP_POW OP_BITAND OP_BITOR OP_BITXOR OP_SHL OP_SHR OP_EQ OP_NE
// OP_LT OP_LE OP_GT OP_GE OP_AND OP_OR OP_NOT OP_NEG OP_BITNOT OP_MIN OP_MAX
// OP_EXP2 ... Rows whose lane is NONE are built from others: OP_GT and OP_GE
// become OP_LT and OP_LE, OP_CEILDIV, OP_ALIGN_UP, OP_CLAMP their formulas,
// OP_IF_THEN_ELSE an EXPR_SELECT. x ** n multiplies. Integers: constants fold,
// neutral elements vanish, equal parts of a difference cancel.
IrExpr *ir_op(IrKernel *k, Op op, IrExpr *const *args, int n, Span at);
int ir_op_arity(Op op);     // 0: ir_op cannot build it
IrExpr *ir_op1(IrKernel *k, Op op, IrExpr *a, Span at);
IrExpr *ir_op2(IrKernel *k, Op op, IrExpr *a, IrExpr *b, Span at);
IrExpr *ir_select(IrKernel *k, IrExpr *c, IrExpr *t, IrExpr *f, Span at);
IrExpr *ir_cast(IrKernel *k, IrExpr *e, DType t, bool sat, Span at);
IrExpr *ir_reinterpret(IrKernel *k, IrExpr *e, DType t, Span at);
// An atomic that gives the old value: n indices, value cast to b's dtype.
// OP_ATOMIC_LOAD: value is NULL.
IrExpr *ir_atomic(IrKernel *k, Op op, IrBuffer *b, IrExpr *const *index, int n,
                  IrExpr *value, Span at);
IrExpr *ir_atomic_value(const IrExpr *e);           // or NULL
// As a condition: e itself when bool, else e != 0.
IrExpr *ir_truth(IrKernel *k, IrExpr *e, Span at);
bool ir_is_int(const IrExpr *e, int64_t *out);      // an integer constant
bool ir_same(const IrExpr *a, const IrExpr *b);     // structurally equal
// A size that shows its symbol: e = factor * symbol + offset, factor not 0.
typedef struct {
    IrVar *symbol;
    int64_t factor, offset;
} IrLinear;
bool ir_linear(const IrExpr *e, IrLinear *out);
// The symbol's value where e is `size`; false when there is none.
bool ir_linear_solve(const IrLinear *l, int64_t size, int64_t *out);

// One subscript: an index (start), or start:stop with either NULL.
typedef struct {
    IrExpr *start, *stop;
    int64_t step;       // slices: 1 unless written
    bool is_slice;
} IrSubscript;
// buffer[subscripts]; a constant negative bound counts from the end.
IrRegion *ir_region(IrKernel *k, IrBuffer *b, const IrSubscript *s, int n,
                    Span at);
IrRegion *ir_region_whole(IrKernel *k, IrBuffer *b, Span at);

IrStmt *ir_block(IrKernel *k, Span at);
void ir_append(IrKernel *k, IrStmt *block, IrStmt *s);
IrStmt *ir_stmt(IrKernel *k, IrStmtKind kind, Span at);   // fields to be set
// buffer[index...] = value, cast to the buffer's dtype.
IrStmt *ir_store(IrKernel *k, IrBuffer *b, IrExpr *const *index, int n,
                 IrExpr *value, Span at);
// Freezes value in a new VAR_LET, which is s->var.
IrStmt *ir_let(IrKernel *k, Text name, IrExpr *value, Span at);
// operand_count operands, all NONE.
IrStmt *ir_tile(IrKernel *k, Op op, Span at);
void ir_attr(IrKernel *k, IrStmt *s, IrAttrId id, IrAttrValue v);
const IrAttrValue *ir_attr_get(const IrStmt *s, IrAttrId id);   // or NULL
int64_t ir_attr_int(const IrStmt *s, IrAttrId id, int64_t fallback);
// Whether the kernel's pass_configs set this one to true.
bool ir_config_is_set(const IrKernel *k, const char *key);
bool ir_attr_find(Text name, IrAttrId *out);
const char *ir_attr_name(IrAttrId id);
const char *ir_scope_name(IrScope s);               // "shared.dyn"
const char *ir_loop_name(IrLoopKind l);             // "Pipelined"

// ---- resolve.c - what regions mean -----------------------------------------
// A copy-like statement (COPY, atomics on regions): loop over `rank` extents;
// dimension d of a side walks loop var map[d], or stays at min when -1.
typedef struct {
    int rank;
    IrExpr *extent[IR_MAX_RANK];
    struct {
        IrBuffer *buffer;
        IrExpr *min[IR_MAX_RANK];
        int map[IR_MAX_RANK];
    } src, dst;
} IrCopyMap;
// Rules 1-6 of tilelang_surface 4.4. False after reporting ("shapes differ:
// A_shared is 128x32, the region of A is 128x64" with both places).
bool ir_resolve_copy(IrKernel *k, Span at, const IrRegion *src,
                     const IrRegion *dst, IrCopyMap *out);

// One region as a loop: out->dst and extents; src stays empty.
bool ir_resolve_fill(IrKernel *k, const IrRegion *dst, IrCopyMap *out);
// As a copy of the value to dst; src stays empty when the value is a scalar:
// an expression, or a region that is one element.
bool ir_resolve_atomic(IrKernel *k, const IrStmt *s, IrCopyMap *out);
// T.finalize_reducer: a copy to dst; none (rank 0, no buffers) when in place.
bool ir_resolve_finalize(IrKernel *k, const IrStmt *s, IrCopyMap *out);

typedef struct {
    int64_t m, n, k;
    bool trans_a, trans_b;
    // which dimension of an operand's buffer walks m or k (a), k or n (b),
    // m or n (c): rows first. trans_a exchanges a_row and a_col.
    int a_row, a_col, b_row, b_col, c_row, c_col;
    // T.gemm_sp: A keeps `kept` of each `group` elements along k, E says which;
    // group is 0 for a dense A. Which operand is what: a b c e.
    int group, kept, e_row, e_col;
    int operand[4];
} IrGemmShape;
bool ir_resolve_gemm(IrKernel *k, const IrStmt *s, IrGemmShape *out);

typedef struct {
    IrBuffer *src, *out;
    int dim;            // of src, not negative
    bool keep_dim;      // out has src's rank, with 1 at dim
    bool clear;
} IrReduceShape;
bool ir_resolve_reduce(IrKernel *k, const IrStmt *s, IrReduceShape *out);

typedef struct {
    const IrRegion *src, *dst;      // the same when in place
    int dim;            // of the regions' buffers, not negative
    bool reverse;
} IrScanShape;
bool ir_resolve_scan(IrKernel *k, const IrStmt *s, IrScanShape *out);

// T.transpose: dimension d of dst holds src's dimension map[d].
bool ir_resolve_transpose(IrKernel *k, const IrStmt *s, IrCopyMap *out);
bool ir_resolve_im2col(IrKernel *k, const IrStmt *s);   // shapes and dtypes
// By the op of a STMT_TILE: all the checks above.
bool ir_resolve_tile(IrKernel *k, const IrStmt *s);

// ---- verify.c, print.c, read.c ---------------------------------------------
// Every rule an IR must hold; reports to k->diag with id "ir-...". Also run
// between passes in debug builds.
bool ir_verify(IrKernel *k);
// The text form; dump -> read -> dump is the identity. Without `sources` places
// in them are left out.
void ir_print(TextBuf *out, const SourceSet *sources, const IrKernel *k);
void ir_print_expr(TextBuf *out, const IrExpr *e);
// Reads one or more kernels, linked by `next`, and verifies them; NULL after
// reporting (id "ir-syntax"). Sources that the text carries are added to
// `sources`, so that messages point at the program.
IrKernel *ir_read(Arena *a, const OpTable *ops, Diag *d, SourceSet *sources,
                  uint32_t file);

// evaluate.c: integer arithmetic; false where something else is in it, or a
// variable has no value.
typedef bool IrVarValue(void *ctx, const IrVar *v, int64_t *out);
bool ir_evaluate(const IrExpr *e, IrVarValue *var, void *ctx, int64_t *out);

// copy.c: another of a statement. Variables and buffers by id, NULL for those
// that stay; `fresh`: what is defined inside gets a new variable; `replace`: a
// statement that takes another's place, or NULL.
typedef struct {
    IrKernel *k;
    IrVar **var;
    int var_count;
    IrBuffer **buffer;
    int buffer_count;
    bool fresh;
    IrStmt *(*replace)(void *ctx, const IrStmt *s);
    void *ctx;
} IrCopy;
IrStmt *ir_copy_stmt(IrCopy *c, const IrStmt *s);
IrExpr *ir_copy_expr(IrCopy *c, const IrExpr *e);

// unused.c: tensors among the parameters that nothing reads or writes go.
void ir_drop_unused_params(IrKernel *k);

// walk.c - visitors, so that each pass does not write its own recursion. A
// statement's own expressions come before the statements inside it; a whole
// region has none. Index maps are not entered.
typedef bool IrVisitStmt(void *ctx, IrStmt *s);     // false: do not descend
typedef bool IrVisitExpr(void *ctx, IrExpr *e);
void ir_walk(IrStmt *s, IrVisitStmt *stmt, IrVisitExpr *expr, void *ctx);
void ir_walk_expr(IrExpr *e, IrVisitExpr *expr, void *ctx);
bool ir_has_body(const IrStmt *s);      // IF WHILE FOR LAUNCH: then, otherwise
#endif
