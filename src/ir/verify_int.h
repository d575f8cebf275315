// verify_int.h - what the files of the verifier share.
#ifndef IR_VERIFY_INT_H
#define IR_VERIFY_INT_H

#include "ir/text_int.h"

typedef struct {
    IrKernel *k;
    VarList vars;               // all, by id
    bool *known;                // per entry of vars: defined here
    bool *alive;                // per buffer: allocated here
    bool *used_ids;             // per statement id
    int depth;                  // of statements
    int loops;                  // that a break could leave
    bool in_launch, failed;
    const IrStmt *parallel;     // innermost T.Parallel around, or NULL
} Verifier;

// verify_expr.c - each returns false after reporting.
bool *verify_known(Verifier *v, const IrVar *var);      // is it defined here?
bool verify_buffer_alive(Verifier *v, const IrBuffer *b, Span at);
bool verify_expr(Verifier *v, IrExpr *e, Span at);      // NULL is an error
bool verify_value(Verifier *v, IrExpr *e, Span at);     // may be an atomic
bool verify_bool(Verifier *v, IrExpr *e, Span at);
bool verify_int(Verifier *v, IrExpr *e, Span at);
bool verify_index(Verifier *v, const IrBuffer *b, IrExpr *const *index, int n,
                  Span at);
bool verify_region(Verifier *v, const IrRegion *r, Span at);

// verify_attr.c
bool verify_attrs(IrKernel *k, const IrStmt *s);
#endif
