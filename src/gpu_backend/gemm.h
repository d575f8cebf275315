// gemm.h - private to gpu_backend: operands of T.gemm, for every matrix unit.
#ifndef GPU_BACKEND_GEMM_H
#define GPU_BACKEND_GEMM_H

#include "gpu_backend/emit_int.h"

// One operand as a matrix: `row` is m or n, `col` is k.
typedef struct Matrix {
    const IrRegion *region;
    IrBuffer *buffer;
    int row, col;                   // dimensions of the buffer
    const IrGemmShape *sparse;      // or NULL: which of a group it keeps,
    const struct Matrix *places;    // as these say
} Matrix;

// gemm.c
Text gemm_at(Emit *e, const Matrix *m, Text row, Text col);    // an element
// The same, `base` more of rows (or of columns, which: the dimension before the
// last): a multiple of 8, after which a swizzle repeats.
Text gemm_at_base(Emit *e, const Matrix *m, Text row, Text col, Text base);
int gemm_bits(const Matrix *m);
Matrix gemm_matrix(const PlanGemm *g, bool is_b);

// mfma.c
void mfma(Emit *e, const PlanGemm *g, const Matrix *a, const Matrix *b);
#endif
