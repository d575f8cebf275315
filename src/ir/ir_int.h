// ir_int.h - what the files of ir/ share.
#ifndef IR_IR_INT_H
#define IR_IR_INT_H

#include "ir/ir.h"

// Nesting and node count (shared parts counted each time they are used) of
// one expression; they bound recursion and time everywhere.
enum { EXPR_MAX_DEPTH = 1000, EXPR_MAX_SIZE = 1 << 18, STMT_MAX_DEPTH = 200 };

typedef __int128 Wide;      // holds every value of every integer dtype

// Reports with exit 3 and returns NULL.
void *ir_error(IrKernel *k, Span at, const char *id, const char *format, ...)
    PRINTF_LIKE(4, 5);

// build.c
void add_symbol(IrKernel *k, IrVar *v);
IrExpr *new_expr(IrKernel *k, IrExprKind kind, DType t, Span at, int count,
                 IrExpr *const *args);
bool dtype_usable(IrKernel *k, DType t, Span at);
// n indices of a buffer: count, dtypes, constant ones in range. Negative
// constants count from the end; the result is in `out` or `*index`.
bool check_index_count(IrKernel *k, const IrBuffer *b, int n, Span at);
bool check_one_index(IrKernel *k, const IrBuffer *b, int d, IrExpr **index);
bool check_index(IrKernel *k, const IrBuffer *b, IrExpr *const *index, int n,
                 Span at, IrExpr **out);

// fold.c
Wide int_value(const IrExpr *e);            // of an EXPR_INT
bool int_fits(DType t, Wide v);
Wide int_wrap(DType t, Wide v);             // modulo two to the bits
IrExpr *int_const(IrKernel *k, DType t, Wide v, Span at);   // fits or error
// The constant or simpler expression that op on integer operands of one dtype
// is, or NULL; *failed after an error was reported.
IrExpr *fold_int_op(IrKernel *k, Op op, IrExpr *a, IrExpr *b, Span at,
                    bool *failed);

// resolve.c
bool is_one(const IrExpr *e);
bool same_size(const IrExpr *a, const IrExpr *b);   // int32 and int64 alike
IrExpr *region_extent(IrKernel *k, const IrRegion *r, int d);   // 1 for NULL
void sizes_print(TextBuf *out, IrExpr *const *size, int n);     // "128x64"
#endif
