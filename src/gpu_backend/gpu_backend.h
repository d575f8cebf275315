// gpu_backend.h - a plan as source text for a GPU, and what launches need.
//
//     emit.c      kernels and their parameters
//     emit_*.c    statements, expressions, accesses, by what they are about
//     dialect.c   what differs between CUDA and HIP, as a table of text
//
// The text is complete: it includes nothing. Each statement carries the line of
// the program that it comes from.
#ifndef GPU_BACKEND_GPU_BACKEND_H
#define GPU_BACKEND_GPU_BACKEND_H

#include "plan/plan.h"

// What a compiler of GPU code wants to read; dialect.c has the rows.
typedef struct GpuDialect GpuDialect;
const GpuDialect *gpu_dialect_cuda(void);
const GpuDialect *gpu_dialect_hip(void);
const GpuDialect *gpu_dialect_of(const Device *d);

typedef enum {
    GPU_PARAM_TENSOR,       // a pointer to a tensor of the kernel's signature
    GPU_PARAM_WORKSPACE,    // a pointer to a tensor of T.alloc_global
    GPU_PARAM_SCALAR,       // a scalar of the signature, by value
    GPU_PARAM_SYMBOL,       // a T.dynamic size, by value
    GPU_PARAM_TENSOR_MAP,   // a CUtensorMap of 128 bytes, by value
} GpuParamKind;

// What TMA has to know of a tensor; dimensions innermost first, as in CUDA.
typedef struct {
    int rank;
    IrExpr *size[5];        // elements; rows lie one after the other
    int64_t box[5];
    int swizzle;            // bytes: 0, 32, 64, 128
} GpuTensorMap;

typedef struct {
    GpuParamKind kind;
    int param;              // of the IrKernel: TENSOR, SCALAR; else -1
    IrBuffer *buffer;       // TENSOR, WORKSPACE
    IrVar *var;             // SCALAR, SYMBOL: passed as a value of its dtype
    bool is_written;        // TENSOR, WORKSPACE
    GpuTensorMap map;       // TENSOR_MAP, of the tensor `buffer`
    Text name;              // TENSOR_MAP
} GpuParam;

typedef struct {
    Text symbol;            // extern "C"
    const IrStmt *stmt;     // the LAUNCH
    IrExpr *grid[IR_MAX_GRID];      // blocks along x, y, z; NULL: 1
    int threads[3];
    int64_t dynamic_shared; // bytes to ask for at the launch
    int64_t static_shared;
    bool is_cooperative;    // blocks wait for each other: T.sync_grid
    bool is_cut;            // some tile reaches past its tensor's end
    bool is_short;          // some tile is longer than its tensor
    GpuParam *params;       // in the order of the arguments
    int param_count;
} GpuLaunch;

typedef struct {
    const Plan *plan;
    Text source;
    GpuLaunch *launches;    // run one after the other
    int launch_count;
    IrBuffer **workspaces;  // to be allocated; their content is undefined
    int workspace_count;
} GpuProgram;

// NULL after reporting to the kernel's diag, id "gpu-...". Lives in `a`.
GpuProgram *gpu_emit(Arena *a, const Plan *p, const GpuDialect *d,
                     const SourceSet *sources);

// An extent (grid or shape) for given values of symbols and scalars, by
// IrVar.id; lets outside of launches are followed. False: not an integer
// expression of these, or out of the int64 range.
bool gpu_eval(const GpuProgram *g, const IrExpr *e, const int64_t *value,
              int64_t *out);
#endif
