// plan.h - what a compiler makes of a kernel on a device: which thread holds
// which element, where shared memory is, which instruction moves what.
//
//     partition  how warps share the tile of each gemm, and its instruction
//     infer      layouts of fragments, loops and shared buffers
//     pipeline   stages, copies of buffers, the producer warps of sm_90
//     arena      live ranges of shared buffers, and their offsets
//
// The rules `tilelang` are those of upstream's compiler as its own wheel shows
// them (tests/data/plan, docs/plan.md); every row there is compared.
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "ir/ir.h"
#include "plan/matrix.h"

typedef enum { PLAN_TILELANG, PLAN_TILESIM } PlanRules;

// What an element of a buffer takes where it lies. By the rules `tilesim` only
// tensors hold two elements of 4 bits in a byte: tiles are written by threads
// that would tread on each other's halves.
int plan_bits(PlanRules rules, const IrBuffer *b);
const char *plan_rules_name(PlanRules r);

// Which thread holds which element. Element e, row-major, is local number
// local[e] of the `replicas` threads thread[r * elements + e], ascending in r.
typedef struct {
    int rank;
    int64_t shape[IR_MAX_RANK];
    int elements, replicas, locals;
    int32_t *local, *thread;
} PlanFragment;

// Where element e, row-major, of the last two dimensions lies, in elements.
typedef struct {
    int elements, size;             // size: highest address + 1
    int swizzle;                    // 16-byte chunks of a row that are mixed
    int32_t *address;               // NULL: row-major
} PlanShared;

typedef struct {
    IrBuffer *ir;                   // NULL: a workspace of `stmt`
    const IrStmt *stmt;
    Text name;
    int slots, rings;               // of a pipeline: slots ^ rings copies
    int copies;
    int64_t bytes;                  // of all copies
    int64_t offset;
    bool is_static;                 // outside the arena
    int align;
    int first, last;                // live range on the launch's clock
    bool is_unused;                 // allocated, never touched: takes no bytes
    PlanShared layout;
} PlanBuffer;

typedef enum {
    PLAN_MMA, PLAN_WGMMA, PLAN_MFMA,
    PLAN_SCALAR,                    // threads multiply and add by themselves
} PlanUnit;

typedef struct {
    const IrStmt *stmt;
    IrGemmShape shape;
    IrBuffer *a, *b, *c;
    PlanUnit unit;
    int m_warps, n_warps;
    int inst_k, k_pack;
    int wide;                       // MFMA: rows, columns of results: 16, 32
    int m_mix, n_mix;               // MFMA, rules `tilesim`: 0, or rows of C
                                    // (columns) that lie side by side in as
                                    // many tiles; so is their operand read
    const IrStmt *held;             // MFMA: the loop before which registers
                                    // take A; NULL: read each time
    bool rounds;                    // float32 to tf32; else its end is ignored
} PlanGemm;

// One instruction of a statement that touches global or shared memory; access.h
// has the bytes that its lanes touch.
typedef enum {
    MOVE_PLAIN,                     // ld, st; global_load, ds_read
    MOVE_CP_ASYNC,
    MOVE_TMA, MOVE_BULK,            // boxes by a descriptor; runs of bytes
    MOVE_LDMATRIX, MOVE_STMATRIX,
    MOVE_WGMMA,                     // read by the matrix unit itself
    MOVE_ATOMIC,
    MOVE_SCAN,                      // plain, in a loop of upstream's library
    MOVE_CALL,                      // by code of upstream's library
} PlanMoveKind;

typedef enum { MOVE_LOAD, MOVE_STORE, MOVE_UPDATE } PlanMoveWay;

typedef struct PlanLoop PlanLoop;
typedef struct PlanAccess PlanAccess;
typedef struct PlanWork PlanWork;

typedef struct {
    const IrStmt *stmt;
    IrBuffer *buffer;               // NULL: a workspace of a reduction
    PlanMoveWay way;
    PlanMoveKind kind;
    int bytes;                      // of a lane; MATRIX: 0
    int tiles;                      // LDMATRIX, STMATRIX: 8 x 8 tiles
    bool transposed;                // LDMATRIX
    int lanes;                      // ATOMIC: elements at a time
    int width;                      // points that a lane moves at a time
    const PlanLoop *loop;           // NULL: addresses are not known
    const PlanAccess *access;       // of the loop
    const PlanWork *work;           // which thread has which point of it
    Span at;                        // the place in the source
    bool merged;                    // the compiler makes one load of several
    int partner, times;             // workspace: lane t touches t ^ partner, or
                                    // the point that `work` says
} PlanMove;

// A statement on tiles: a loop over points, a gemm, a reduction.
typedef enum { TASK_LOOP, TASK_GEMM, TASK_REDUCE, TASK_SCAN } PlanTaskKind;
typedef struct {
    PlanTaskKind kind;
    const IrStmt *stmt;
    int64_t points;                 // that all threads of a block together do:
                                    // what each copy does counts
    const PlanGemm *gemm;
} PlanTask;

// Which thread runs which point of a T.Parallel, or of a tile
// operation as one, that touches registers. Other loops spread evenly.
typedef struct {
    const IrStmt *stmt;
    const PlanFragment *layout;
} PlanLoopMap;

// A reduction. Where the source is in registers every thread combines what it
// has of each result (`part` says of which), and then with the threads at XOR
// distance steps[0], steps[1], ...
typedef struct {
    const IrStmt *stmt;
    IrReduceShape shape;
    int64_t results;
    PlanFragment *part;             // NULL: the source is in shared memory
    int steps[10], step_count;
    int lanes;                      // of a source in shared memory: threads
                                    // that share a result
    int64_t workspace;              // bytes of shared memory; 0: none
    bool is_own;                    // holders of a result have combined it
} PlanReduce;

// sm_90: a tile that a producer warp brings by TMA, as boxes of `swizzle` bytes
// to a row that lie side by side along the last dimension.
typedef struct {
    const IrStmt *stmt;             // the T.copy, or what `by_threads` do
    IrCopyMap map;                  // from a tensor to all of a shared tile;
                                    // by_threads: but the tile
    bool in_loop;                   // into a slot of its ring; else once, ahead
    bool by_threads;                // rules `tilelang`: no TMA, all producers
    bool elsewhere;                 // the tile is used outside its loop, too
    int boxes;                      // 0: a run of bytes, rules `tilelang`
    bool ragged;                    // it may begin or end between 16 bytes
    int64_t box[IR_MAX_RANK];       // elements of one, by the tensor's dimensions
    int swizzle;                    // bytes: 128, 64, 32; 0: row-major
    int64_t bytes;                  // of all boxes
} PlanFeedCopy;

// Rules `tilesim`: a pipelined loop whose copies run `stages` - 1 trips ahead.
typedef struct {
    IrStmt *loop;
    int stages;                     // 1: there is no room for more
    PlanFeedCopy *copies;           // in program order
    int count;
    const bool *known;              // variables that the copies need, by id
} PlanRing;

// Rules `tilesim`, AMD: a loop whose tiles pass through registers. They are
// loaded when the tiles before have gone to shared memory.
typedef struct {
    IrStmt *loop;
    PlanFeedCopy *copies;           // in program order
    const IrStmt **after;           // copy i is stored after this statement of
                                    // the body; NULL: when a trip begins
    int count;
    const bool *known;              // variables that the copies need, by id
} PlanAhead;

typedef struct {
    IrStmt *loop;                   // NULL: nothing is fed
    int stages;                     // slots of each ring
    PlanFeedCopy *copies;           // in program order
    int count;
    const bool *known;              // variables that the copies need, by id
    // Rules `tilelang`:
    const bool *repeated;           // by statement id: scalars, on the way
    const IrStmt *guard;            // the condition that all the loop does is
                                    // under, or NULL
    bool is_nested;                 // in a loop that producers go through, too
    bool is_gated;                  // tiles lie where others were
    const IrStmt *unfed;            // what producers of ours cannot bring, or
    const char *why;                // NULL, and the reason
} PlanFeed;

// 32-bit registers of a thread where it takes the most: an estimate.
typedef struct {
    int fragments;                  // that live at the same time
    int operands;                   // of one matrix instruction, or step of k
    int staged;                     // from global to shared memory
    int other;
} PlanRegisters;

// Rules `tilesim`: threads, following one another, that a condition on their
// number lets into a branch whose tile operations are theirs alone.
typedef struct {
    const IrStmt *branch;           // of an IF
    int first, threads;
    int same;                       // the first group of these threads
} PlanGroup;

typedef struct {
    const IrStmt *stmt;             // the LAUNCH
    int threads;                    // as written, or more (widen.c)
    int producers;                  // threads added to feed a pipeline
    int barriers;                   // mbarriers
    const char *refused;            // why upstream's compiler gives up, or NULL
    const IrBuffer *unheld;         // rules `tilelang`: a fragment that is not
                                    // where its statements need it, or NULL
    bool is_shuffled;               // rules `tilelang`: what shares memory is
                                    // apart in a pipeline of theirs alone
    const char *doubted;            // why it might, or NULL
    PlanRegisters registers;
    int64_t arena, static_bytes;
    PlanBuffer *buffers;
    int buffer_count;
    PlanGemm *gemms;
    int gemm_count;
    PlanMove *moves;                // in program order
    int move_count;
    PlanTask *tasks;                // in program order
    int task_count;
    IrBuffer **fragments;           // allocated by the launch
    int fragment_count;
    PlanLoopMap *loops;
    int loop_count;
    PlanReduce *reduces;
    int reduce_count;
    PlanFeed feed;
    PlanFeedCopy *stores;           // rules `tilelang`: of tiles by TMA; `map`
    int store_count;                // has the tensor first
    PlanRing *rings;
    int ring_count;
    PlanAhead *aheads;
    int ahead_count;
    PlanGroup *groups;              // groups[0]: the block
    int group_count;
    const int *group_of;            // by statement id, or NULL: all the block's
} PlanLaunch;

typedef struct {
    const IrKernel *kernel;
    const Device *device;
    PlanRules rules;
    PlanFragment **fragments;       // by buffer id; NULL: none
    const bool *spilled;            // by buffer id: a fragment in shared memory
    PlanShared *shared;             // by buffer id
    PlanLaunch *launches;
    int launch_count;
} Plan;

// NULL after reporting to k->diag. The plan lives in `a`.
Plan *plan_build(Arena *a, IrKernel *k, const Device *d, PlanRules rules);
// The element that a thread has under a number: at[thread * locals + local],
// -1 for none; NULL where two share a number.
int32_t *plan_points(Arena *a, const PlanFragment *f, int threads);
bool plan_same(const PlanFragment *f, const PlanFragment *g);
// The threads that run a statement together: the first group of these.
int plan_group(const PlanLaunch *l, const IrStmt *s);
int plan_group_threads(const PlanLaunch *l, const IrStmt *s);
// The copy that fills a shared tile ahead of the block's warps, or NULL.
const PlanFeedCopy *plan_fed_by(const PlanFeed *f, const IrBuffer *b);
// panels.c: the order of blocks that T.use_swizzle asks for.
typedef struct {
    int64_t size;                   // rows of a panel; 0: as the grid has them
    bool by_columns;                // columns instead of rows
    Span at;
} PlanPanels;
PlanPanels plan_panels(const IrStmt *launch);
// The place in the grid of the block that starts as number `block`.
void plan_panel_tile(const PlanPanels *p, const int64_t grid[IR_MAX_GRID],
                     int64_t block, int64_t tile[IR_MAX_GRID]);
// Registers that a thread would take, of `most` that it can have; above, it
// spills. Warps that are fed take all that setmaxnreg gives them.
int plan_registers_of(const Plan *p, const PlanLaunch *l, int most);
// How a matrix unit's operand is read from shared memory: element by element;
// mma.sync: by ldmatrix where its rows lie along k, or (transposed) across;
// MFMA: what a lane needs for a step at once where rows lie along k, or rows of
// several tiles at once (m_mix, n_mix) where they lie across.
typedef enum { READ_PLAIN, READ_ROWS, READ_COLUMNS } PlanRead;
PlanRead plan_reads(const PlanGemm *g, bool is_b);
// The instruction by which a statement that is a copy stores to memory, or else
// loads; NULL where there is neither.
const PlanMove *plan_copy_move(const PlanLaunch *l, const IrStmt *s);
// The loop through whose registers a copy passes; NULL: there is none.
const PlanAhead *plan_ahead_of(const PlanLaunch *l, const IrStmt *copy);
// The first instruction of a tile operation: how wide all of them are.
const PlanMove *plan_tile_move(const PlanLaunch *l, const IrStmt *s);
// What every plan must hold; reports ids "plan-...".
bool plan_verify(const Plan *p);
void plan_print(TextBuf *out, const Plan *p);
// The arithmetic of every multiplication; false after reporting one that
// nobody knows on the device (exit 4).
bool plan_matrices(Arena *a, const Plan *p, PlanMatrices *out);

// staged.c - the kernel with its pipelined loops in the order of their stages.
typedef struct {
    IrKernel *kernel;               // NULL: no loop is staged, or none can be
    int loops;
    bool reordered;                 // a statement reads something else than in
                                    // the serial loop; if not, all is the same
    Span loop, reader;
    Text buffer;
    Span wanted, got;               // who wrote it, in the serial loop and here;
    int64_t turn, wanted_turn, got_turn;    // nowhere: before the loop
} PlanStaged;
PlanStaged plan_staged(Arena *a, IrKernel *kernel, const Device *d);
#endif
