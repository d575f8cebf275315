// plan_int.h - private to plan: state shared by its passes.
#ifndef PLAN_PLAN_INT_H
#define PLAN_PLAN_INT_H

#include "plan/access.h"

enum { PLAN_MAX_THREADS = 1024 };

typedef enum {
    PLANOP_LOOP, PLANOP_REDUCE, PLANOP_GEMM, PLANOP_SCAN
} PlanOpKind;

typedef struct {
    PlanOpKind kind;
    IrStmt *stmt;
    PlanLoop *loop;
    PlanGemm *gemm;
    IrReduceShape reduce;
    PlanFragment *layout;           // of the loop's points
    PlanReduce combine;             // how threads combine, `stmt` NULL: unknown
} PlanOp;

typedef struct {
    Arena *arena;
    IrKernel *kernel;
    const Device *device;
    Plan *plan;
    PlanLaunch *launch;
    struct {
        PlanOp *at;
        int len, room;
    } ops;
    PlanFragment **fragment;        // by buffer id
    PlanShared *shared;             // by buffer id
    bool *spilled;                  // by buffer id
    int *slots, *rings;             // of a pipelined buffer, by id
    const IrExpr **let;             // by IrVar id; NULL: no let
    const IrStmt **binder;          // LAUNCH or FOR, by IrVar id
    bool has_if;
    int spread;                     // threads that share a loop on memory alone
    IrStmt *fed;                    // the loop with producer warps, or NULL
    const IrStmt *fed_block;        // whose statement it is
    struct {
        PlanFeedCopy *at;
        int len, room;
    } feed_copies;
} PlanState;

// collect.c - the operations of a launch, in program order.
bool plan_collect(PlanState *p, IrStmt *launch);
// A tile operation as the loop it stands for; NULL: none with constant sizes.
PlanLoop *plan_tile_loop(PlanState *p, IrStmt *s);
PlanOp *plan_op_of(PlanState *p, const IrStmt *s);
// The buffers a statement and all inside it reads and writes.
typedef void PlanTouch(void *ctx, IrBuffer *b, bool is_store);
void plan_touches(PlanState *p, IrStmt *s, PlanTouch *touch, void *ctx);
// feed.c - how often a statement names one of them, or a view of it.
typedef struct {
    const IrBuffer *buffer;
    int reads, writes;
} PlanTouched;
PlanTouched plan_touched(PlanState *p, IrStmt *s, const IrBuffer *b);

// widen.c - layouts of a launch by rules `tilesim`, with as many threads as its
// fragments need.
bool plan_lay_out(PlanState *p, IrStmt *launch);

// group.c
void plan_find_groups(PlanState *p, IrStmt *launch);

// index.c - the value of an index at a point of a loop; unknown variables
// count 0. access.h has what knows them.
int64_t plan_eval(const IrExpr *e, const PlanLoop *loop, const int64_t *point);
// Sets what each access of a loop says of its elements, once all are there.
void plan_index(Arena *a, PlanLoop *loop);
// The element of the access' buffer, row-major.
int64_t plan_element(const PlanLoop *loop, const PlanAccess *a,
                     const int64_t *point);
bool plan_next_point(const PlanLoop *loop, int64_t *point);

// partition.c
bool plan_partition(PlanState *p, PlanGemm *g);

// The tile and the row in it of row x of a wave (MFMA).
static inline int plan_micro(int x, int wide, int mix)
{
    return mix > 1 ? x / (wide * mix) * mix + x % mix : x / wide;
}
static inline int plan_micro_row(int x, int wide, int mix)
{
    return mix > 1 ? x / mix % wide : x % wide;
}
// Lanes of a wave that hold one row: each has a part of k, or of columns.
static inline int plan_row_lanes(const PlanGemm *g)
{
    return 64 / g->wide;
}
// Rules `tilesim`, MFMA: how wide operands are read, as shared memory is now.
void plan_widen(PlanState *p);

// layout.c - fragments as tables.
PlanFragment *plan_fragment_new(PlanState *p, const IrBuffer *b, int replicas);
PlanFragment *plan_gemm_fragment(PlanState *p, const PlanGemm *g,
                                 const IrBuffer *b);
// From the threads that hold each element: thread[r * elements + e], not
// sorted, possibly with repetitions. Locals are numbered in element order.
PlanFragment *plan_condense(PlanState *p, const IrBuffer *b,
                            const int32_t *thread, int replicas);

// layout_loop.c - layouts of a loop's points, and of fragments from them; NULL
// where there is none.
PlanFragment *plan_loop_like(PlanState *p, const PlanLoop *l,
                             const PlanAccess *a, const PlanFragment *f);
PlanFragment *plan_loop_planned(PlanState *p, const PlanLoop *l);
PlanFragment *plan_complete(PlanState *p, const PlanLoop *l,
                            const PlanAccess *a, const PlanFragment *layout);

// layout_shared.c
void plan_shared_layouts(PlanState *p);
// A tile as an operand would lie; false where its rows are no multiple of 32
// bytes, or its size not constant.
bool plan_swizzle(PlanState *p, const IrBuffer *b);

// layout_copied.c
void plan_copied_layouts(PlanState *p, IrStmt *launch);

// infer.c
void plan_infer(PlanState *p);
void plan_infer_own(PlanState *p);
void plan_find_unheld(PlanState *p);

// reduce.c
// Where the parts of the results are that threads have of `src`.
PlanFragment *plan_reduced(PlanState *p, const IrReduceShape *r,
                           const PlanFragment *src);
// Steps of a reduction that cross warps; each has a workspace. Step i leaves
// partial sums of threads t ^ offset, for offsets reach / 2 to scale.
typedef struct {
    int scale, reach;
} PlanStep;
int plan_workspaces(const PlanState *p, const PlanOp *op, PlanStep *steps);
int plan_results(const PlanState *p, const PlanOp *op);
bool plan_holds(const PlanFragment *f, int element, int thread);
bool plan_reduce_holds(const IrReduceShape *r, const PlanFragment *src,
                       const PlanFragment *out);
// Why upstream's compiler would give up on it, surely or perhaps; else neither
// is set.
void plan_reduce_refusal(const IrReduceShape *r, const PlanFragment *src,
                         const char **never, const char **perhaps);

// own.c - rules `tilesim`.
void plan_spill_odd(PlanState *p);
void plan_number(PlanState *p, PlanFragment *f);
PlanFragment *plan_number_copy(PlanState *p, const PlanLoop *l,
                               PlanFragment *f);
bool plan_combine(PlanState *p, PlanOp *op, const PlanFragment *src);
void plan_keep_own(PlanState *p);

// vector.c - elements one thread moves at a time, by the accesses of a loop.
int plan_vector(const PlanState *p, const PlanLoop *loop);
// The same once the layout of the loop's points and all buffers is known.
int plan_vector_of(PlanState *p, const PlanOp *op);
int plan_torn(PlanState *p, const PlanLoop *l, const PlanWork *w, int width);
// Rules `tilesim`: elements of a copy between memories that move at a time.
int plan_copy_vector(const PlanState *p, const PlanLoop *l);
// Whether n is known to divide an index.
bool plan_divides(const PlanState *p, const IrExpr *e, int64_t n);
// The widest vector of at most `v` elements along the last dimension.
int plan_line_vector(const PlanState *p, const IrRegion *r, int v);
int plan_register_vector(PlanState *p, const PlanLoop *l,
                         const PlanFragment *layout);
// Whether a load reads one place for all elements of a vector.
bool plan_stays(const PlanState *p, const PlanLoop *l, const PlanAccess *a);

// pipeline.c - stages of a T.Pipelined loop.
typedef struct {
    IrStmt *stmt;
    int place;                      // in the program
    int stage, order;
    bool is_copy;
    int last_use;                   // place of a copy's last reader, or -1
} PlanStage;

typedef struct {
    IrStmt *loop;
    int depth;                      // highest stage: iterations in flight
    int64_t trips;                  // -1: not constant
    bool guarded;                   // all of it is under one condition
    PlanStage *stages;              // in the order of issue
    int count;
} PlanPipeline;
// NULL: the loop runs as a serial one.
PlanPipeline *plan_pipeline(PlanState *p, IrStmt *loop);
// Slots of every buffer, and the loop that producer warps feed.
void plan_pipelines(PlanState *p, IrStmt *launch);
// The order that runs: where producer warps feed the loop its copies come
// first.
PlanPipeline *plan_schedule(PlanState *p, IrStmt *loop);
int plan_slots(PlanState *p, const PlanPipeline *q, const IrBuffer *b);
// The block whose statements are staged, and the only statement of one.
IrStmt *plan_stage_body(PlanState *p, IrStmt *loop);
IrStmt *plan_only_stmt(PlanState *p, IrStmt *block);
bool plan_stage_touches(PlanState *p, IrStmt *s, const IrBuffer *b);
bool plan_stage_writes(PlanState *p, IrStmt *s, const IrBuffer *b);

// reorder.c - the first statement that reads something else than in the serial
// loop. Places are of the program; -1: what was there before the loop.
typedef struct {
    bool found;
    const IrBuffer *buffer;
    int reader_place, wanted_place, got_place;
    int64_t turn, wanted_turn, got_turn;
} PlanReorder;
void plan_reorder(PlanState *p, const PlanPipeline *q, PlanReorder *out);

// plan.c - a state without a plan, as far as pipelines need it.
PlanState *plan_open(Arena *a, IrKernel *k, const Device *d);
bool plan_open_launch(PlanState *p, IrStmt *launch);

// work.c - what each thread works on: nothing yet.
PlanWork *plan_work_new(PlanState *p, int threads, int locals);
// The first `replicas` threads that have a point.
PlanWork *plan_work_of_layout(PlanState *p, const PlanFragment *layout,
                              int replicas);
// Every point with the threads of `layout`; NULL: `width` points at a time,
// dealt out in turn.
PlanWork *plan_work_of_loop(PlanState *p, const PlanLoop *l,
                            const PlanFragment *layout, int width);
// All threads do all the points that there are.
PlanWork *plan_work_of_single(PlanState *p, const PlanLoop *l);
// thread.c - what decides, lane by lane, about a statement that threads execute.
void plan_thread_context(PlanState *p, const IrStmt *s, PlanLoop *l);
// An operand of a gemm as a loop over its rows and columns; NULL: not known.
PlanLoop *plan_operand_loop(PlanState *p, const PlanGemm *g, bool is_b);
PlanWork *plan_operand_work(PlanState *p, const PlanGemm *g, bool is_b);
// A statement that all threads execute alike.
PlanLoop *plan_single_loop(PlanState *p, const IrStmt *s, IrBuffer *b,
                           IrExpr *const *index, bool is_store);

PlanLoop *plan_scan_loop(PlanState *p, const IrStmt *s, const IrRegion *r,
                         bool is_store);
PlanWork *plan_scan_work(PlanState *p, const PlanLoop *l, int dim, bool ahead);
void plan_tasks(PlanState *p);

// Is a statement in the same block as the loop with producer warps? They do the
// loads ahead of it there.
bool plan_beside_fed(const PlanState *p, const IrStmt *s);

// linear.c - an expression that is constant, also by what is known of the
// variables in it.
bool plan_constant(const PlanState *p, const IrExpr *e, int64_t *out);
// Whether a condition is decided so, and the only side of it then, or NULL: of
// the other upstream keeps the layouts alone.
bool plan_decided(const PlanState *p, const IrStmt *s, IrStmt **side);
// Whether a tile operation's access surely stays inside its buffer.
bool plan_inside(const PlanState *p, const PlanLoop *l, const PlanAccess *a);

// copy.c
// TMA moves boxes by a descriptor; where the global side is one run of bytes,
// *bulk is set and none is needed.
bool plan_is_tma(const PlanState *p, const IrStmt *copy, bool *bulk);

// move.c - the instructions of every statement.
void plan_moves(PlanState *p, IrStmt *launch);
// Rules `tilesim`: where a buffer is.
bool plan_in_shared(const PlanState *p, const IrBuffer *b);
bool plan_in_registers(const PlanState *p, const IrBuffer *b);
// own_merge.c - loads of a loop that the compiler makes one of: those that are
// left, and how many elements one of them moves.
PlanWork *plan_merged(PlanState *p, const PlanLoop *l, const PlanAccess *a,
                      PlanWork *w, int *width);
// own_move.c - the same by the rules `tilesim`, once rings are settled.
void plan_own_moves(PlanState *p, IrStmt *launch);

// feed.c - rules `tilesim`: the loop that a producer warp feeds; its boxes and
// rings once shared layouts are known.
// No statement asks which thread runs it.
bool plan_is_whole_block(PlanState *p, IrStmt *launch);
void plan_find_feed(PlanState *p, IrStmt *launch);
void plan_settle_feed(PlanState *p);
// One slot less; false where there is but one.
bool plan_shrink_feed(PlanState *p);
// fed.c - rules `tilelang`, once memory is shared out: what upstream's producers
// bring, and what TMA stores.
void plan_take_feed(PlanState *p, IrStmt *launch);
// Pipelined loops that no producer feeds; their slots, fewer until all fit.
void plan_find_rings(PlanState *p, IrStmt *launch);

// ahead.c - rules `tilesim`, AMD: what registers hold ahead of its use.
void plan_add_ahead(PlanState *p, const PlanRing *r);
void plan_hold_operands(PlanState *p, IrStmt *launch);
// Statement i of a body, blocks in it being no statements; NULL: none.
IrStmt *plan_body_at(IrStmt *body, int i);
bool plan_writes_whole(const IrStmt *s, const IrBuffer *b);
bool plan_shrink_rings(PlanState *p);

// registers.c
void plan_registers(PlanState *p, IrStmt *launch);

// arena.c
bool plan_arena(PlanState *p, IrStmt *launch);
#endif
