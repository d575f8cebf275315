// naive_int.h - what the files of the naive reading share.
#ifndef ORACLE_NAIVE_INT_H
#define ORACLE_NAIVE_INT_H

#include "naive.h"

typedef struct {
    DType t;
    int64_t i; // integers and bool
    double f;  // floats
} Value;

typedef struct {
    char *data;
    int64_t shape[IR_MAX_RANK], stride[IR_MAX_RANK];
    int64_t physical[IR_MAX_RANK + 2]; // extents of an index map's outputs
} Storage;

typedef struct {
    IrKernel *k;
    Value *var;      // by id
    Storage *buffer; // by id
    int64_t findings;
    NaiveOutside outside;
    int64_t threads; // of the launch that runs
    bool parallel;   // in a T.Parallel: one thread an element
} Naive;

bool naive_is_float(DType t);
int64_t naive_wrap(DType t, int64_t v);
Value naive_of_int(DType t, int64_t v);
Value naive_of_float(DType t, double v);
Value naive_convert(Value v, DType t);
bool naive_truth(Value v);
Value naive_read_at(DType t, const void *at);
void naive_write_at(DType t, void *at, Value v);
bool naive_is_global(const IrBuffer *b);
bool naive_is_laid_out(const IrBuffer *b);      // by annotate_layout
// NULL when an index is out of range; a finding unless the dimension is quiet.
void *naive_element(Naive *n, const IrBuffer *b, const int64_t *index,
                    unsigned quiet);
Value naive_load(Naive *n, const IrBuffer *b, const int64_t *index,
                 unsigned quiet);
void naive_store(Naive *n, const IrBuffer *b, const int64_t *index,
                 unsigned quiet, Value v);
void naive_indices(Naive *n, const IrBuffer *b, IrExpr *const *e, int count,
                   int64_t *out);
double naive_float_op(Op op, double a, double b);
int64_t naive_int_op(Naive *n, Op op, int64_t a, int64_t b);
Value naive_eval(Naive *n, const IrExpr *e);
void naive_tile(Naive *n, const IrStmt *s);
#endif
