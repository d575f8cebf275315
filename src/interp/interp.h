// interp.h - runs Code on the CPU: blocks in parallel, tiles as vectors.
//
// Results are byte-identical for any number of threads and any instruction
// set. Blocks that add to the same elements (atomics) or that race through
// global memory take effect in block order.
#ifndef INTERP_INTERP_H
#define INTERP_INTERP_H

#include "code/code.h"
#include "num/lanes.h"
#include "plan/matrix.h"
#include "support/support.h"

enum { INTERP_MAX_RANK = 8 };

// One kernel parameter, in order. Shapes are the actual ones; symbols
// (T.dynamic) are bound from them and checked to agree.
typedef struct {
    bool is_scalar;
    DType dtype;                // storage dtype; F64 for floats in CODE_F64
    int rank;
    int64_t shape[INTERP_MAX_RANK];
    int64_t strides[INTERP_MAX_RANK];   // elements
    void *data;
    int64_t i64;                // scalars: integers and bool
    double f64;                 // scalars: floats
    // Optional: one byte per element, counts stores up to 255. NULL: not kept.
    uint8_t *writes;
} InterpArg;

typedef struct {
    Span at;
    const char *id;             // "out-of-bounds", "misuse-...", "assert"
    int launch;
    int64_t block;              // linear: x fastest
    int64_t count;              // how often at this place
    char message[240];          // first occurrence, in people's words
} InterpFinding;

// --print 'acc_s[0:4,:]@k=3': a buffer's slice when a loop variable has a
// value, or at the end of its life. Text comes back in block order.
typedef struct {
    Text buffer;
    int rank;                   // 0: whole
    int64_t from[INTERP_MAX_RANK], to[INTERP_MAX_RANK];
    Text loop_var;              // empty: when the block ends
    int64_t loop_value;
} InterpPrint;

// Where native functions are found: NULL where there is none of that name.
typedef struct {
    void *(*find)(void *ctx, const char *name);
    void *ctx;
} InterpNatives;

// Memory that addresses may point into.
typedef struct {
    char *at;
    int64_t bytes;
} InterpMemory;

// Where a block, or a warp of it, is: what a debugger looks at. Valid during
// the call that gives it.
typedef struct InterpStop InterpStop;

typedef struct {
    int rank;
    int64_t shape[INTERP_MAX_RANK];
    bool global;
} InterpTile;

typedef struct {
    const InterpMemory *memory;
    int memory_count;
    const InterpNatives *natives;       // NULL: no library was given
    const int64_t *blocks;      // of the last launch: linear ids, ascending
    int64_t block_count;        // NULL blocks: all
    const InterpPrint *prints;
    int print_count;
    int64_t memory_limit;       // bytes of scratch and workspaces; 0: none
    void (*progress)(void *ctx, int64_t done, int64_t total);
    void *progress_ctx;
    // T.gemm as these instructions compute it; NULL: in IEEE arithmetic. Not
    // for CODE_F64.
    const PlanMatrices *matrices;
    int max_findings;           // kept per run, default 20; all are counted
    // Code with events only: `event` of code_events, its variables' values.
    // Called from all threads, `worker` being below parallel_threads(); block
    // is the linear id in the statement's launch.
    void (*event)(void *ctx, int worker, int64_t block, int event,
                  const int64_t *values);
    void *event_ctx;
    const struct InterpObserver *observer;      // observe.h; NULL: none
    // CODE_STEPPED only: each step of one block of one launch, by its
    // coordinates. False ends the run.
    bool (*step)(void *ctx, const InterpStop *at);
    void *step_ctx;
    int step_launch;
    int64_t step_block[3];
} InterpOptions;

// A T.Pipelined loop of the kernel, in order of the source.
typedef struct {
    Text name;
    Span at;
    int launch;
    int64_t trips;              // the most that a block made
} InterpPipeline;

typedef struct {
    bool ok;                    // ran to the end, no findings of level error
    bool cancelled;             // parallel_cancelled(): outputs are partial
    int launches;
    int64_t blocks_total, blocks_done;
    int64_t (*grid)[3];         // of each launch
    int64_t idle_blocks;        // found no work: no store to global
    bool ragged;                // a tile was partly outside a global tensor
    InterpPipeline *pipelines;
    int pipeline_count;
    double seconds;             // kernel time only
    double flops;               // T.gemm multiply-adds x 2 that were executed
    int64_t scratch_bytes;      // per worker
    InterpFinding *findings;    // sorted by (launch, block, place)
    int finding_count;
    int64_t finding_total;
    TextBuf printed;            // T.print and --print output
} InterpResult;

// Arguments that do not fit the kernel (rank, dtype, a symbol with two
// values, a grid of negative size) are reported to `d`, exit 2; then ok is
// false and nothing ran. A grid with a 0 runs nothing and notes it.
InterpResult interp_run(const Code *c, Diag *d, const InterpArg *args,
                        int arg_count, const InterpOptions *options);
int interp_stop_step(const InterpStop *s);      // of code_steps
// The threads that are there, where the code is per thread; else 0.
int interp_stop_threads(const InterpStop *s, int *first);
// Coordinates of the block; the rank of the grid.
int interp_stop_block(const InterpStop *s, int64_t out[3]);
// A scalar name's value: an integer (bool too) or a float.
int64_t interp_stop_int(const InterpStop *s, const CodeName *n);
double interp_stop_float(const InterpStop *s, const CodeName *n);
// False: the tile is not alive, or each thread has its own.
bool interp_stop_tile(const InterpStop *s, int buffer, InterpTile *out);
// Its elements, row-major, as double or int64_t.
void interp_stop_read(const InterpStop *s, int buffer, void *out);
// Was the float never written, or computed from one that was not?
bool interp_is_undefined(double v);

void interp_result_release(InterpResult *r);
#endif
