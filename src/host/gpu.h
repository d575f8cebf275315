// gpu.h - a program's kernel on a GPU: planned, translated, built, run, timed.
#ifndef HOST_GPU_H
#define HOST_GPU_H

#include "gpu_backend/gpu_backend.h"
#include "gpu_backend/gpu_runtime.h"
#include "host/verdict.h"

typedef struct {
    Host *host;
    KernelObject *kernel;
    const Device *target;           // what the plan is for
    Plan *plan;
    GpuProgram *program;
    const char *name;               // "fa.cu"
    uint32_t file;                  // of the program
    GpuBuilt built;
} GpuKernel;

// Plan and source. False after reporting what is not supported (exit 4).
bool gpu_kernel_make(Host *h, KernelObject *k, const Device *target,
                     PlanRules rules, GpuKernel *out);
// Machine code for `arch` ("sm_90a"), or PTX.
bool gpu_kernel_build(GpuKernel *k, const char *arch, GpuForm form);
// What a device of that compute capability is planned as, and the compiler's
// name of it; NULL: older than what is supported.
const Device *gpu_target(const GpuInfo *info);
const char *gpu_arch(Arena *a, const GpuInfo *info);

// ---- gpu_case.c: the tensors of one launch on the device --------------------

// A storage that the kernel may reach by its address.
typedef struct {
    Tensor here;                    // as one row
    GpuBuffer there;
    Tensor got;                     // what the kernel left, once it has run
} GpuPointed;

typedef struct {
    Gpu *gpu;
    const GpuKernel *kernel;
    LaunchCase *c;
    GpuModule module;
    GpuBuffer *tensors;             // by parameter of the kernel
    GpuBuffer *workspaces;
    GpuCall *calls;
    GpuNeeds *needs;                // by call
    int call_count;
    GpuPointed *pointed;
    int pointed_count;
    int64_t *symbols;               // values of T.dynamic sizes, by IrVar.id
    int64_t input_bytes, output_bytes;
    bool fresh_shared;              // holds NaNs first, as the CPU's does
} GpuCase;

// Allocates, loads, prepares. False after reporting; release it all the same.
bool gpu_case_make(Gpu *g, const GpuKernel *k, LaunchCase *c, GpuCase *out);
void gpu_case_release(GpuCase *c);
// Copies the tensors of the launch to the device. Those that the kernel is to
// write whole are filled with `poison` bytes instead, unless it is negative.
bool gpu_case_put(GpuCase *c, int poison);
bool gpu_case_run(GpuCase *c);
// The value of a tensor map of the tensor at `at`: 128 bytes.
bool gpu_case_map(const GpuCase *c, const GpuParam *p, unsigned long long at,
                  void *map);
// A parameter's tensor as the device has it now.
bool gpu_case_get(GpuCase *c, int param, Tensor *out);

// ---- gpu_pointed.c: tensors that a kernel reaches by their addresses --------

// Each false after reporting.
bool gpu_pointed_make(GpuCase *c);
bool gpu_pointed_put(GpuCase *c);       // their contents, to the device
bool gpu_pointed_get(GpuCase *c);       // and back, as `got`
void gpu_pointed_release(GpuCase *c);
// The device's address for one of this process, if it is that.
int64_t gpu_pointed_address(const GpuCase *c, int64_t at);
// Makes *out a copy of a tensor that holds addresses, with the device's. False:
// it holds none.
bool gpu_pointed_table(const GpuCase *c, const Tensor *t, Tensor *out);

// ---- gpu_verify.c: what the kernel wrote, held against the CPU --------------

// One output against the CPU's.
typedef struct {
    Tensor got;                     // from the device
    int64_t compared, equal;        // elements; of the same bits
    double rel, limit, worst_ulps;
    int64_t worst_at;               // flat; -1: none
    bool wrong;
    bool as_sets;                   // rows hold the same numbers, in any order
    int64_t unwritten;              // that the CPU writes and the device not
    int64_t unwritten_at;           // the first, flat
    bool repeats;                   // two runs gave the same bits
} GpuOutput;

typedef struct {
    bool poisoned;                  // --verify: unwritten, beside, repeats
    bool ran;                       // the numbers are known
    int output_count;               // as in Verdict, in the same order
    GpuOutput outputs[VERDICT_MAX_OUTPUTS];
    GpuOutput reached;              // all that lies at addresses; `compared`
    int beside;                     // parameter that was written beside, or -1
    int64_t beside_at;              // bytes from its start
    int64_t sampled, blocks;        // compared with the CPU
    bool wrong;
} GpuVerdict;

// Runs the case on the device, twice with different poison when `poisoned`,
// and takes the outputs. The launch's own tensors stay as they are.
bool gpu_verify_run(GpuCase *c, bool poisoned, GpuVerdict *out);
// Compares with what verdict_run left, its writes kept: the CPU's outputs where
// it stored any, and the reference. Each o->got becomes the device's, and its
// numbers with it.
void gpu_verify_judge(const GpuCase *c, GpuVerdict *g, Verdict *v,
                      const VerdictOptions *options);
void gpu_verdict_release(GpuVerdict *g);

// ---- gpu_bench.c ------------------------------------------------------------

typedef struct {
    int runs, warm, copies;         // copies: of the inputs, taken in turn
    double median, low, p95;        // milliseconds
    double flops;                   // T.gemm multiply-adds x 2 of one launch
    bool flops_exact;               // counted; else not known, and 0
    double bytes;                   // every tensor once
    double matrix_floor, memory_floor;      // milliseconds
    double peak;                    // TFLOP/s of the matrix units
    MmaType operand;
    int clock;                      // MHz under load; 0: unknown
    const char *slowed;             // why it is not higher, or NULL
    int busy;                       // per cent, before; -1: unknown
} GpuBench;

bool gpu_bench(GpuCase *c, int runs, GpuBench *out);
#endif
