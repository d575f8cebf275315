// instr.h - the bytecode: what code makes and interp runs. No IR in here.
//
// A kernel is a host part (workspaces, launches) and one instruction list per
// launch, run once for each block. Two register files:
//
//   slots    8 bytes each: integers and bool as int64 (sign- or zero-extended
//            from their dtype), f64 as double, all other floats as float.
//            Constants are slots with an initial value. Slots are shared by
//            the host part and all launches.
//   vectors  CODE_LANES lanes of a lane type (num/lanes.h), for T.Parallel.
//            The iteration space is cut in chunks of `rows` x `cols` lanes; an
//            instruction with INSTR_ROW set works on one lane per row.
//            Registers with odd numbers are views: VLOAD and VAIM may let them
//            point into a buffer instead of copying.
//
// Jumps are relative to the instruction itself.
#ifndef CODE_INSTR_H
#define CODE_INSTR_H

#include "code/code.h"
#include "num/lanes.h"
#include "num/num.h"
#include "support/support.h"

enum { CODE_LANES = 1024, CODE_RANK = 10 };

typedef union {
    int64_t i;
    double d;
    float f;
} Slot;

typedef enum {
#define INSTR(id, ...) INSTR_##id,
#include "code/instr.def"
    INSTR_COUNT
} InstrOp;

enum {
    INSTR_ROW = 1,      // one lane per row of the chunk
    INSTR_NO_SAT = 2,   // CAST to fp8 does not saturate
    INSTR_AIMED = 8,    // VSTORE of a register that a VAIM may have placed
    INSTR_COPY = 4,     // VLOAD fills d where it lies, never lets it point
    INSTR_EXPECT = 16,  // BARARRIVE only announces bytes
    INSTR_COPIES = 32,  // ... when the thread's asynchronous copies have landed
};

enum { MOST_THREADS = 1024, MOST_NAMED_BARRIERS = 16 };

typedef struct {
    uint8_t op;                 // InstrOp
    uint8_t flags;
    uint8_t lane;               // LaneOp
    uint8_t type;               // LaneType
    uint8_t dtype, from;        // DType
    int32_t d, a, b, c;
} Instr;

// ---- operands of instructions --------------------------------------------

typedef struct {
    int slot;
    int64_t factor;
} AffineTerm;

// base + sum of factor * slot, in wrapping int64; VAFFINE: row and col only.
typedef struct {
    int64_t base;
    int count;
    AffineTerm *term;
    int64_t row, col;
} Affine;

typedef enum {
    BUFFER_PARAM,       // a tensor of the caller
    BUFFER_WORKSPACE,   // global, of this run
    BUFFER_POINTED,     // global, where the last POINT said
    BUFFER_SCRATCH,     // one per worker: shared, fragment, local
    BUFFER_PRIVATE,     // one element array per lane of a T.Parallel
} BufferPlace;

typedef struct {
    Text name;
    const char *scope;          // "shared.dyn", for messages
    Span at;
    DType dtype;                // of the values
    BufferPlace place;
    bool lanes;                 // kept as lanes of dtype's lane type
    int element;                // bytes of an element as stored
    int rank;
    int64_t shape[CODE_RANK];   // -1: in shape_slot
    int shape_slot[CODE_RANK];
    int64_t stride[CODE_RANK];  // elements; scratch only
    int stride_slot[CODE_RANK]; // of a parameter: declared stride, or -1
    int param;                  // PARAM: index
    int root;                   // the buffer whose storage this one is
    int copy;                   // the same fragment in the registers of other
                                // threads, or -1
    int64_t offset, bytes;      // SCRATCH: in the worker's scratch
    bool permuted;              // laid out by an index map; has to be dense
    int *arrivals;              // of a memory barrier: by element
    int safe_slot;              // what out-of-range loads give, or -1: 0
} CodeBuffer;

// index d of the access: slot + row * (chunk row) + col * (chunk column) + lane
typedef struct {
    int slot;
    int64_t row, col;
    int lanes;                  // vector register of i64 lanes, or -1
} AccessDim;

typedef enum {
    ACCESS_FLAT,        // proved in range: dim[0] is the element offset
    ACCESS_DIMS,        // affine in every dimension
    ACCESS_LANES,       // an offset for each lane
} AccessKind;

typedef struct {
    int buffer;
    AccessKind kind;
    bool store;
    bool atomic;                // a half of an atomic operation
    int rank;
    unsigned quiet;             // bit d: leaving dimension d is no finding
    unsigned clipped;           // ... is what a tile copy may do
    unsigned loaded;            // index d is a number from memory
    unsigned wide;              // index d is computed in 64 bits
    int site;
    AccessDim dim[CODE_RANK];
    bool permuted;              // the element is at offset `place`: a layout
    AccessDim place;
} Access;

typedef struct {
    int rank;                   // >= 1; the last two dimensions make chunks
    int extent[CODE_RANK];      // slots
    int coord[CODE_RANK];       // slots of all but the last two, set per chunk
    int site;
} Space;

// A matrix in a buffer: dimensions row and col, the others at `at` (slots).
typedef struct {
    int buffer, row, col;
    int at[CODE_RANK];          // slot of each dimension's start
} Matrix;

typedef struct {
    Matrix a, b, c;
    Matrix e;                   // which elements of A are kept
    int group, kept;            // `kept` of each `group` along k; 0: all
    int64_t m, n, k;
    bool trans_a, trans_b;
    int stmt;                   // its id in the IR
    LaneType type;              // F32, F64 or I32: of the multiplication
    int clear;                  // slot: C starts from 0 when not 0; or -1
    int site;
} Gemm;

typedef struct {
    int src, dst;               // buffers
    int dim;
    LaneOp op;
    bool magnitude;             // |src| is reduced
    bool clear;                 // start from the identity, not from dst
    int start;                  // slot: the identity
} Reduction;

// Running sums of a tile of one or two dimensions; with one, row is -1.
typedef struct {
    Matrix src, dst;
    int64_t rows, cols;
    bool down;                  // from row to row, else within each row
    bool reverse;               // from the end
    LaneOp op;
    int site;
} Scan;

typedef struct {
    int src, dst;               // image [N, H, W, C], tile [M, K]
    int step_m, step_k;         // slots: tile's place in the whole matrix
    int64_t kernel, stride, dilation, pad;
} Im2col;

typedef enum { PRINT_MESSAGE, PRINT_SLOT, PRINT_BUFFER } PrintKind;

typedef struct {
    PrintKind kind;
    Text message;
    DType dtype;
    int slot, buffer;
} Print;

enum { NATIVE_ARGS = 12 };

// A C function; its arguments are values in slots or registers, or pointers.
typedef struct {
    Text name;
    Span at;
    DType result;               // DT_NONE: none
    int count;
    struct {
        DType dtype;
        int reg;                // slot or vector register, as the instruction
        int access;             // of a pointer, else -1
    } arg[NATIVE_ARGS];
} Native;

// ---- per-thread code -----------------------------------------------------

// Threads of a block, a bit each.
typedef struct {
    uint64_t bit[MOST_THREADS / 64];
    int count;
} ThreadSet;

enum { PLACE_LOOPS = 16 };

// How far a warp has come: the loops around, by the slots that count turns.
typedef struct {
    int count, counter[PLACE_LOOPS];
    bool divergent;     // in a part that no barrier can stand in
} Progress;

// What orders accesses on a device and has no effect here, where all is done at
// once: `a` of an ORDER; b is the access of a memory barrier or -1, c a number.
// Accesses from one of the first four to ORDER_END are only started by threads.
typedef enum {
    ORDER_TMA_LOAD,     // the tensor memory unit, which tells barrier b
    ORDER_TMA_STORE,    // ... which is waited for by its groups
    ORDER_CP_ASYNC,     // copies of the threads themselves
    ORDER_MATRIX,       // the matrix unit
    ORDER_END,
    ORDER_COMMIT,       // a group of copies is closed
    ORDER_WAIT,         // all but the last c groups of copies have landed
    ORDER_STORE_COMMIT, ORDER_STORE_WAIT,
    ORDER_MATRIX_WAIT,
    ORDER_SYNC,         // T.sync_threads in code of all threads
    ORDER_SYNC_WARP,
} CodeOrder;

typedef enum {
    SHUFFLE_LANE, SHUFFLE_XOR, SHUFFLE_UP, SHUFFLE_DOWN, // Instr.dtype
} Shuffle;

typedef enum {
    VOTE_ANY, VOTE_ALL, VOTE_BALLOT, VOTE_SAME, VOTE_ALL_SAME, // Instr.dtype
} Vote;

typedef enum {
    MEET_SYNC,          // nothing comes of it
    MEET_COUNT,         // how many hold
    MEET_AND, MEET_OR,
    MEET_REDUCE,        // op over the threads that differ in `axes` only
} MeetKind;

// Threads wait for one another: for all of `set` at this kind of meeting, or
// for `count` threads at the named barrier `id`.
typedef struct {
    MeetKind kind;
    int set;
    int id;             // -1: not a named barrier
    int count;
    bool wait;          // else: arrive and go on
    unsigned axes;
    LaneOp op;
    LaneType type;
    DType dtype;
    int site;
} Meeting;

typedef enum {
    SITE_BOUNDS,        // `buffer` accessed out of range
    SITE_DIVISION,      // integer division by zero
    SITE_ASSERT,        // `message`
    SITE_SPACE,         // a T.Parallel of absurd size
    SITE_POINTER,       // no tensor holds `buffer` at the address
    SITE_MEET,          // `message` was reached by some of its threads only
    SITE_AGREE,         // threads have different values where one is needed
    SITE_STUCK,         // `message` waits for what never comes
} SiteKind;

// A place that can report findings; one counter each.
typedef struct {
    SiteKind kind;
    Span at;
    int buffer;
    bool store;
    Text message;
} Site;

// ---- kernels -------------------------------------------------------------

typedef struct {
    Instr *code;
    int *stmt;                  // id of the statement each one comes from
    Span *at;
    int len;
} InstrList;

typedef struct {
    InstrList body;
    int grid_rank;
    int grid[3], block[3];      // slots: extents, block indices
    Text block_name[3];
    int64_t threads;
    int shape[3];               // threads by dimension
    bool per_thread;            // warps run by themselves and meet
    bool grid_sync;             // blocks meet too
    int wave;                   // threads of a warp
    bool ordered;               // blocks run one after the other
    Span at;
} Launch;

typedef struct {
    Text name;
    bool is_scalar;
    DType dtype;
    int slot;                   // scalars
    int buffer;                 // tensors
} CodeParam;

// A symbol takes its value from dimension (or stride) `dim` of a parameter,
// which is factor * symbol + offset.
typedef struct {
    Text name;
    int slot, param, dim;
    bool stride;
    int64_t factor, offset;
} CodeSymbol;

// A serial loop, for --print's @k=3.
typedef struct {
    Text name;
    int launch, next;           // its NEXT instruction
    int slot;                   // its variable
    bool by_thread;             // each warp turns by itself
} CodeLoop;

// A T.Pipelined loop; its NEXT has c = 1 + its place in the list.
typedef struct {
    Text name;
    Span at;
    int launch;
} CodePipeline;

struct Code {
    Text name;
    Span at;
    Slot *slot;                 // initial values
    DType *constant;            // dtype of a constant slot, DT_NONE for others
    int slot_count, vector_count;
    int warp_vector_count;      // registers of a warp
    CodeBuffer *buffer;
    int buffer_count;
    Access *access;
    int access_count;
    Affine *affine;
    int affine_count;
    Space *space;
    int space_count;
    Gemm *gemm;
    int gemm_count;
    Reduction *reduction;
    int reduction_count;
    Scan *scan;
    int scan_count;
    Im2col *im2col;
    int im2col_count;
    Print *print;
    int print_count;
    Native *native;
    int native_count;
    CodeEvent *event;
    int event_count;
    CodeStep *step;
    int step_count;
    ThreadSet *set;
    int set_count;
    Meeting *meeting;
    int meeting_count;
    Progress *place;
    int place_count;
    Site *site;
    int site_count;
    CodeLoop *loop;
    int loop_count;
    CodePipeline *pipeline;
    int pipeline_count;
    CodeParam *param;
    int param_count;
    CodeSymbol *symbol;
    int symbol_count;
    InstrList shapes;           // computes shape and stride slots
    InstrList host;
    Launch *launch;
    int launch_count;
    int64_t scratch_bytes;
    bool atomics_on_global, reads_written_global, reinterprets, prints;
    bool tile_dependent;
    bool no_auto_sync;          // the compiler is told to insert no barriers
};

typedef struct {
    const char *name, *operands;
} InstrInfo;
const InstrInfo *instr_info(InstrOp op);
#endif
