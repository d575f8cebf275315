// op.h - the table of primitives: every `T.*` name there is, from ops.def.
#ifndef OP_OP_H
#define OP_OP_H

#include "support/support.h"

// How a primitive is used; decides which part of lang and code handles it.
typedef enum {
    OPCLASS_TILE,       // a statement on regions: T.copy, T.gemm, T.reduce_max
    OPCLASS_EXPR,       // an expression on scalars, elementwise: T.exp2
    OPCLASS_LOOP,       // an iterable of `for`: T.Parallel, T.Pipelined
    OPCLASS_ALLOC,      // makes a buffer: T.alloc_shared
    OPCLASS_HINT,       // steers scheduling, never results: T.use_swizzle
    OPCLASS_STAGE,      // evaluated while staging: T.ceildiv, T.Tensor, T.const
    OPCLASS_DTYPE,      // T.float16, also callable as a cast
    OPCLASS_SIMT,       // needs per-thread execution
    OPCLASS_ARCH,       // one architecture's machinery
} OpClass;

typedef enum {
    OPSTATUS_BUILT,
    OPSTATUS_LATER,     // known upstream, not built yet: exit 4 says so
    OPSTATUS_NEVER,     // Blackwell and the like: exit 4 says so
} OpStatus;

typedef enum {
#define OP(id, ...) OP_##id,
#include "op/ops.def"
    OP_COUNT
} Op;

// What a parameter takes. REGION: buffer, slice or element. Parameters of the
// kinds from INT on become attributes of the statement, kept for the plan.
typedef enum {
    ARG_REGION, ARG_EXPR, ARG_BUFFER, ARG_ANY, ARG_DTYPE,
    ARG_INT, ARG_BOOL, ARG_FLOAT, ARG_TEXT, ARG_LIST, ARG_DICT, ARG_LAYOUT,
} ArgKind;

typedef struct {
    Text name;
    ArgKind kind;
    bool optional, keyword_only, star;  // star: *extents
    Text fallback;                      // text of the default, "" when none
    char access;                        // r read, w write, a both, else ' '
} OpParam;

enum { OP_MAX_PARAMS = 16 };

typedef struct {
    const char *surface;                // "T.copy"
    OpClass class;
    OpStatus status;
    const char *signature;              // as ops.def writes it
    const char *doc;
    int param_count;
    OpParam param[OP_MAX_PARAMS];
} OpInfo;

// The parsed table; built once by op_table_create and passed around (no
// global). op_info is valid for every Op.
typedef struct OpTable OpTable;
const OpTable *op_table_create(Arena *a);
const OpInfo *op_info(const OpTable *t, Op op);
const char *op_surface(Op op);                  // "T.copy", without a table
// By surface name without "T.": "copy". Aliases (T.cdiv, T.Serial) resolve to
// the row they name. False when there is no such primitive.
bool op_find(const OpTable *t, Text name, Op *out);
// Index of the parameter `name`, or -1.
int op_param_find(const OpInfo *info, Text name);
// REGION, EXPR and BUFFER parameters are operands of a STMT_TILE; those of the
// other kinds become attributes.
bool op_param_is_operand(const OpParam *p);
bool op_is_atomic(Op op);       // reads, combines and writes one element
bool op_is_reduction(Op op);    // T.reduce_*: along one dimension
// A value that threads differ in, or that they make together: shuffles, votes.
bool op_is_warp(Op op);
// The reduction called "sum", "max", "bitxor" ...
bool op_reduction_find(const OpTable *t, Text name, Op *out);
const char *op_status_name(OpStatus status);    // "not built yet"
// The nearest spelling for "did you mean", or an empty text.
Text op_suggest(const OpTable *t, Text name);

// print.c - the table as people read it (`tilesim ops`, docs/ops.md): rows
// whose name holds `filter` (all when empty), by class.
void ops_print(TextBuf *out, const OpTable *t, Text filter);
#endif
