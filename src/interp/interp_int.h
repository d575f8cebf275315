// interp_int.h - what the files of interp/ share while a kernel runs.
//
// One Run per interp_run; one Worker per thread, everything it needs
// allocated before the blocks start. An instruction is a function that takes
// the worker and itself and gives the next instruction, NULL at the end.
#ifndef INTERP_INTERP_INT_H
#define INTERP_INTERP_INT_H

#include "code/instr.h"
#include "interp/observe.h"
#include "num/lanes.h"
#include "num/xgemm.h"

#include <stdatomic.h>

// A buffer as this run (globals) or this worker (scratch) has it.
typedef struct {
    char *at; // element 0
    int64_t shape[CODE_RANK], stride[CODE_RANK];
    int element; // bytes of an element in memory
    int lane;    // bytes of a lane
    LaneType type;
    LaneFn *load, *store; // NULL: memory holds lanes
    uint8_t *writes;      // per element, or NULL
    bool global;
    bool private; // one array per lane
    bool large;   // a global one that no cache holds
} Tensor;

typedef struct {
    int64_t count;
    int launch;
    int64_t block; // of the first occurrence
    int dim;
    int64_t index, extent;
    // of threads that wait: the warps here, and what a barrier had seen
    uint64_t warps, ended;
    int64_t phase, pending, bytes;
} Finding;

// Where an access was last, to guess where it will be next.
typedef struct {
    int64_t last, step; // element offsets
} Stride;

typedef struct Run Run;
typedef struct NativeCall NativeCall;   // exec_extern.c

// ---- per-thread code: the warps of a block -------------------------------

// A memory barrier as it lies in the block's scratch.
typedef struct {
    int32_t count, pending; // arrivals of a phase, and still to come
    int64_t bytes;          // still to come
    int64_t phase;          // completed ones
    int64_t unused;
} MemoryBarrier;

typedef enum {
    WARP_READY,
    WARP_COLLECT, // waits for the others at a collective part
    WARP_MEET,    // at a meeting of threads
    WARP_SOFT,    // lets others come as far
    WARP_BARRIER, // for a phase of a memory barrier
    WARP_GRID,    // for all blocks
    WARP_DONE,
} WarpState;

typedef struct {
    Slot *slot;
    void **v;
    char *own; // register storage
    const Instr *at;
    WarpState state;
    int first, lanes; // its threads
    const MemoryBarrier *barrier;
    int64_t element, parity;
} Warp;

typedef struct {
    Warp *warp;
    int count;
    int arrived[MOST_NAMED_BARRIERS]; // threads
    char *memory, *scratch;
} Crew;

typedef struct {
    Run *run;
    const Code *code;
    const Lanes *lanes;
    Slot *slot;
    void **v; // vector registers: where they are now
    Tensor *buffer;
    // the chunk of the T.Parallel that is running
    int rows, cols, n;
    int64_t row0, col0;
    const Tensor *aimed; // buffer of the last VAIM
    int pitch;           // bytes from a register to the next
    int lane0;           // thread that is lane 0, in per-thread code
    Crew crew;
    Warp *warp;            // that runs
    const ThreadSet *met;  // whose collective part runs
    const Instr *rest;     // behind that part
    int launch;
    int64_t block;
    bool stored;  // something went to global memory
    bool stopped; // cancelled
    int fuel;     // jumps until the next look at cancelling
    double flops;
    int64_t idle_blocks;
    bool ragged;      // was partly outside a global tensor
    int64_t *trips;   // by pipelined loop: the most
    Finding *finding; // by site
    Stride *stride;   // by access
    char *own;        // register storage
    char *scratch;
    char *pack[4];   // working space of gemm and reductions
    char *raw;       // CODE_LANES elements in memory form
    int64_t *offset; // CODE_LANES
    int32_t *inside; // CODE_LANES
} Worker;

struct Run {
    const Code *code;
    const Lanes *lanes;
    const InterpArg *args;
    const InterpOptions *options;
    InterpResult *result;
    Worker *workers;
    int worker_count;
    int64_t pack_bytes;
    Worker host;
    char **workspace; // by buffer; freed at the end
    int64_t workspace_bytes;
    XGemmCache *xgemm;
    const XGemm **gemm; // by Code.gemm; f32 only
    const PlanMatrix **matrix; // by Code.gemm; NULL: IEEE arithmetic
    NativeCall *native; // by Code.native
    atomic_llong done;
    bool sizing; // memory_of: launches do not run
};

typedef const Instr *ExecFn(Worker *w, const Instr *i);
#define INSTR(id, ...) ExecFn exec_##id;
#include "code/instr.def"

// exec.c
void run_list(Worker *w, const InstrList *list);
void run_from(Worker *w, const Instr *i);
const Instr *exec_instr(Worker *w, const Instr *i);

// observe.c
void run_observed(Worker *w, const Instr *i);
void observe_launch(Worker *w, int launch, int64_t blocks);
void observe_block(Worker *w, bool begin);

// exec_scalar.c
// The offset of one element; false: it is out of range, which is reported.
bool element_of(Worker *w, const Access *a, int64_t *at);
void cast_lanes(const Worker *w, void *dst, DType to, const void *src,
                DType from, bool saturate, int64_t n);
void fix_slot(Slot *s, LaneType t); // a lane in a slot becomes an int64

// exec_access.c - lanes from and to a buffer
typedef struct {
    Tensor *t;
    const Access *a;
    int rows, cols;
    int64_t at, sr, sc; // element offset, per row, per column
    bool inside;        // every lane is in range
    bool huge;          // an index beyond all reason
    bool by_row;        // one lane for each row of the chunk
    int64_t first[CODE_RANK], row[CODE_RANK], col[CODE_RANK];
} Box;
void set_box(Worker *w, Box *b, const Access *a, bool by_row);
bool box_is_dense(const Box *b); // one run of memory
void load_box(Worker *w, const Box *b, void *dst, const int32_t *mask);
void store_box(Worker *w, const Box *b, const void *src, const int32_t *mask);
void gather(Worker *w, const Box *b, void *dst, const int32_t *mask);
void scatter(Worker *w, const Box *b, const void *src, const int32_t *mask);
// Fills w->offset and w->inside for every lane, reporting active ones outside.
void lane_offsets(Worker *w, const Box *b, const int32_t *mask);
void load_elements(const Worker *w, const Tensor *t, void *dst, int64_t at,
                   int64_t n);
void store_elements(Worker *w, const Tensor *t, int64_t at, const void *src,
                    int64_t n);
void note_store(Worker *w, const Tensor *t, int64_t at, int64_t n);
void load_one(const Worker *w, const Tensor *t, Slot *dst, int64_t at);
void fill_lanes(void *dst, int lane, int64_t n, const void *value);
void safe_value(const Worker *w, int buffer, Slot *out);

// stream.c
void stream_bytes(char *dst, const char *src, size_t n);
void stream_settle(void); // before other threads read what was streamed

// exec_extern.c - functions of C
bool find_natives(Run *run, Diag *d);
void release_natives(Run *run);

// exec_vector.c
int32_t *mask_of(const Worker *w, int reg); // NULL: all lanes

// warp.c - per-thread code
int64_t crew_bytes(const Code *c);
void make_crew(const Code *c, Crew *crew);
void free_crew(Crew *crew);
void start_crew(Worker *w, const Launch *l);
bool run_crew(Worker *w); // false: some wait for what is outside the block
void report_stuck(Worker *w);
void release_grid(Crew *crew);
bool set_comes(const Worker *w, const ThreadSet *s, const Warp *warp);
void check_lanes(Worker *w, const ThreadSet *s, const int32_t *mask, int site);
const Instr *stop_warp(Worker *w, WarpState state, const Instr *i);

// findings.c
void report_threads(Worker *w, int site, const Finding *what);
void report(Worker *w, int site, int64_t count, int dim, int64_t index,
            int64_t extent);
void collect_findings(Run *run);

// exec_gemm.c
int64_t pack_need(const Code *c); // bytes of each of Worker.pack
void plan_gemms(Run *run, const Worker *w);
// Where a matrix starts; false with a finding when it leaves its buffer.
bool matrix_offset(Worker *w, const Matrix *m, int64_t rows, int64_t cols,
                   int site, int64_t *offset);
// A matrix in a buffer on the chip: one of the steps is 1.
typedef struct {
    const Tensor *t;
    DType dtype;
    int64_t at; // element offset of its first element
    int64_t rows, cols, row_step, col_step;
} View;

// exec_matrix.c - products as a matrix instruction adds them
void find_matrices(Run *run);
// C += A B; c are lanes, ldc apart. Uses pack[0], pack[1] and pack[3].
void matrix_multiply(Worker *w, const PlanMatrix *m, const View *a,
                     const View *b, void *c, int64_t ldc);

// show.c - T.print and --print
bool is_readable(const Worker *w, int buffer);
void show_loop(Worker *w, const Instr *next);
void show_block_end(Worker *w);

// schedule.c
void make_workers(Run *run);
void free_workers(Run *run);
void init_worker(Run *run, Worker *w, bool host);
void release_worker(Worker *w);
int64_t worker_bytes(const Run *run);
LaneFn *exact_store(const Lanes *l, DType t);   // of lanes that t holds

enum { FUEL = 4096 };
#endif
