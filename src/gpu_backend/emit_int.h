// emit_int.h - private to gpu_backend: the state of an emission.
#ifndef GPU_BACKEND_EMIT_INT_H
#define GPU_BACKEND_EMIT_INT_H

#include "gpu_backend/dialect.h"

typedef struct {
    bool known;
    int64_t low, high;
} Range;

// A loop whose points the threads of a block share. Register loops run over
// `locals` numbers, of which `points` tells what they are.
typedef struct Dist {
    const IrStmt *stmt;
    const PlanFragment *layout;     // NULL: dealt out in turn
    int32_t *points;                // [thread][local]: a point or -1
    int rank;
    int64_t extent[IR_MAX_RANK];
    Text size[IR_MAX_RANK];         // extents that are not constant (-1)
    Text index[IR_MAX_RANK];        // text of the loop variables
    const IrVar *var[IR_MAX_RANK];  // or NULL, for tile operations
    Text mine;                      // whether this thread is a point's first
    Text mine_index;                // the index that a guard has defined
    int vector;                     // dealt out: elements at a time; 0 is 1
    bool each;                      // all points are every thread's own
    bool unrolled;                  // dealt out: turn i0 of each thread
    int braces;
    struct {
        Text name, text;
    } given[IR_MAX_RANK + 1];       // definitions, those that the body needs
    int given_count;
    TextBuf body, *out;             // what is emitted inside, and around
    struct Dist *before;
} Dist;

// What statements since the last barrier have done, by object, for each group of
// threads in turn.
typedef struct {
    bool *read, *written;
} Hazards;

// fit.c - numbers by thread and register.
typedef struct {
    int threads, locals;
    const int32_t *value;           // [thread][local]
    const bool *active;             // NULL: all
} FitTable;

typedef struct {
    Arena *arena;
    const Plan *plan;
    const PlanLaunch *launch;
    IrKernel *k;
    const GpuDialect *dialect;
    const SourceSet *sources;
    TextBuf *out;
    int indent;
    int threads, lanes;             // of the group that runs, of a warp
    int group;                      // its number in the plan; 0: the block
    Text *var, *buffer;             // C names, by id
    Range *range;                   // of variables, by id
    int64_t *point;                 // values of loop variables, for tables
    bool *varies, *varies_in;       // variables and buffers: by thread
    bool by_thread;                 // the launch names threads
    int divergent;                  // depth of conditions that threads differ in
    Dist *dist;                     // the loop around, or NULL
    Hazards hazards, left;          // `left`: at breaks and continues
    bool uses_async;                // barriers wait for copies
    bool in_ring;                   // a pipelined loop whose copies run ahead
    bool filling;                   // these copies, which it waits for itself
    bool *ringed;                   // by buffer id: the loop guards it
    const PlanAhead *ahead;         // of the loop around, or NULL
    const PlanGemm *early;          // what it multiplies is read already
    bool quiet;                     // a dry run: hazards only
    bool failed, cooperative;
    bool found;                     // by a walk
    Span at;                        // of the statement
    int temps;                      // names made up
    GpuLaunch *gpu;
    bool *stored;                   // by buffer id: global tensors written
    TextBuf tables;                 // constant tables of the launch
    struct {
        FitTable *at;
        int len, room;
    } printed;                      // those tables
    int64_t extra_shared;           // barriers and the like, after the arena
    bool has_async;                 // units beside the threads read what
                                    // these have written
    bool in_flight;                 // the product is not waited for
    const IrStmt *from_zero;        // the product that starts from 0
    TextBuf functions;              // instructions of a shape of their own
    Map function_names;
} Emit;

// emit.c
// "construct is not supported": reports and marks the emission as failed.
void refuse(Emit *e, const char *format, ...) PRINTF_LIKE(2, 3);
IrBuffer *root_buffer(IrBuffer *b);
bool gpu_is_hint(const Emit *e, const IrStmt *s);
int registers_of_tiles(const Emit *e);          // of a thread, 32 bits each
bool fills_registers(const Emit *e);    // more than half of an AMD thread's

// prelude.c - the functions that `kernels` calls.
void prelude(Emit *e, TextBuf *out, Text kernels);
bool occurs(Text in, Text word);                // as a word
bool prelude_has(const Emit *e, Text name);     // a function of that name

// text.c - lines of output.
void line(Emit *e, const char *format, ...) PRINTF_LIKE(2, 3);
void open_brace(Emit *e, const char *format, ...) PRINTF_LIKE(2, 3);
void close_brace(Emit *e);
void note_line(Emit *e, const IrStmt *s);       // "// fa.tile:31"
Text fresh(Emit *e, const char *stem);
void name_all(Emit *e);

// type.c - dtypes as types of the language.
const char *type_of(DType t);
bool is_nibble(DType t);            // of 4 bits; C has it in a byte
bool is_packed(const IrBuffer *b);  // two elements a byte
int bits_of(const Emit *e, const IrBuffer *b);  // of an element where it lies
bool is_narrow(DType t);            // floats that are calculated with as float
Text literal(Emit *e, DType t, double v);
Text literal_int(Emit *e, DType t, int64_t v);
// `from`, which has dtype s (or, `wide`, the float that stands for it).
Text convert(Emit *e, DType to, DType from, bool wide, Text text, bool sat);
Text widen(Emit *e, DType t, Text text);        // as a float
Text wrap(Emit *e, DType t, Text text);         // an int as a smaller integer
Text narrow(Emit *e, DType t, Text text);       // a float as t
Text combine(Emit *e, Op op, DType t, Text a, Text b);  // ADD MAX MIN AND ...
Text identity(Emit *e, Op op, DType t);

// expr.c
Text expr(Emit *e, const IrExpr *x);            // has x->dtype
Text wide_expr(Emit *e, const IrExpr *x);       // narrow floats as float
Range interval_of(const Emit *e, const IrExpr *x);
bool expr_varies(const Emit *e, const IrExpr *x);
void find_varying(Emit *e, const IrStmt *launch);

// access.c - elements of buffers.
typedef struct {
    IrBuffer *buffer;
    IrExpr *const *expr;            // index d, less variable map[d]
    const int *map;                 // NULL, or -1: none
    Text index[IR_MAX_RANK];        // not of registers
    Range range[IR_MAX_RANK];
    bool guarded[IR_MAX_RANK];      // has to be held against the shape
} Spot;
bool in_registers(const Emit *e, const IrBuffer *b);
bool in_shared(const Emit *e, const IrBuffer *b);
bool is_private(const Emit *e, const IrBuffer *b);
Spot place_of(Emit *e, IrBuffer *b, IrExpr *const *index);
Spot place_of_side(Emit *e, IrBuffer *b, IrExpr *const *min, const int *map);
Text sum(Emit *e, Text a, Text b);
Text both(Emit *e, Text a, Text b);             // of conditions; empty: none
Text guard_of(Emit *e, const Spot *p);         // empty: always in range
Text element(Emit *e, const Spot *p);          // an lvalue
Text load(Emit *e, const Spot *p);             // guarded
void store(Emit *e, const Spot *p, Text value);
Text shared_offset(Emit *e, const IrBuffer *b, const Text *index);
const PlanBuffer *arena_of(const Emit *e, const IrBuffer *b);
int64_t fixed_extent(const IrBuffer *b, int d); // -1: not constant

// eval.c - an integer expression of variables alone.
bool eval_at(const IrExpr *x, const int64_t *value, int64_t *out);

// fit.c - closed forms of tables over (thread, local).
// Text in the variables `tid` and `l`; a table where there is no closed form.
Text fit(Emit *e, const FitTable *t, bool allow_table);
bool fit_below(const FitTable *t, int32_t limit);
// Whether (thread, local) is active; empty: always.
Text fit_active(Emit *e, const FitTable *t);

// dist.c
const PlanFragment *loop_layout(const Emit *e, const IrStmt *s);
void dist_open(Emit *e, Dist *d);
void dist_close(Emit *e, Dist *d);
// The register of the element at each point, as text in `l` and `tid`.
Text dist_local(Emit *e, const Spot *p);

// stmt.c
void stmt(Emit *e, IrStmt *s);
void fill_stmt(Emit *e, IrStmt *s);             // what producers do of a feed
void block(Emit *e, IrStmt *s);
// Emits a loop's body knowing what earlier iterations leave behind.
typedef void LoopBody(Emit *e, IrStmt *s);
void loop_body(Emit *e, IrStmt *s, LoopBody *body);

// tile.c, copy.c, gemm.c, reduce.c, thread.c
void tile(Emit *e, IrStmt *s);
bool copy_vectors(Emit *e, IrStmt *s, const IrCopyMap *m);
// What a copy stores of an element that lies in registers.
Text value_to_store(Emit *e, const IrCopyMap *m, Text x);
// A copy to shared memory by way of registers that have a name.
typedef enum { AHEAD_DECLARE, AHEAD_LOAD, AHEAD_STORE } AheadStep;
void copy_ahead(Emit *e, IrStmt *s, AheadStep step);
void gemm(Emit *e, IrStmt *s);
void reduce(Emit *e, IrStmt *s);
void scan(Emit *e, IrStmt *s);
void atomic_update(Emit *e, Op op, const Spot *p, Text value);
Text atomic_expr(Emit *e, const IrExpr *x);
Text thread_op(Emit *e, const IrExpr *x);
bool thread_stmt(Emit *e, IrStmt *s);

// Whether T.gemm starts from 0: NULL for never.
const IrExpr *gemm_clears(const Emit *e, const PlanGemm *g);
// wgmma.c
const PlanGemm *wgmma_of(const Emit *e, const IrStmt *s);   // or NULL
void wgmma(Emit *e, const PlanGemm *g);

// tma.c - descriptors, and the store of a tile; false where s is none.
void tma_params(Emit *e);
bool tma_store(Emit *e, const IrStmt *s);
// feed.c - the loop that a producer warp feeds.
void feed_open(Emit *e);                        // the producer's code
bool feed_waits(Emit *e, IrStmt *s);            // s was a copy that is fed
void fed_loop(Emit *e, IrStmt *s);
const PlanFeedCopy *fed_ring(const Emit *e, const IrBuffer *b);

// group.c - code that part of a block's threads execute together.
const PlanGroup *group_of_branch(const Emit *e, const IrStmt *branch);
void group_block(Emit *e, IrStmt *branch);      // of an IF

// mbarrier.c - barriers and copies that the program handles by itself.
void mbarriers_open(Emit *e);
bool mbarrier_stmt(Emit *e, IrStmt *s);

// sync.c - barriers where shared memory asks for them.
void sync_before(Emit *e, IrStmt *s);           // and notes what s touches
void sync_now(Emit *e);
// ring.c - a pipelined loop whose copies run ahead.
void ring_loop(Emit *e, IrStmt *s, const PlanRing *r);
const PlanRing *ring_of(const Emit *e, const IrStmt *s);
bool ring_copies(const Emit *e, const IrStmt *s);       // s is one of them

void ring_range(Emit *e, const IrStmt *loop);           // of its variable

// ahead.c - a loop whose tiles pass through registers.
const PlanAhead *ahead_of(const Emit *e, const IrStmt *loop);
void ahead_loop(Emit *e, IrStmt *s, const PlanAhead *a);
bool ahead_skips(const Emit *e, const IrStmt *s);       // a copy of such a loop
void ahead_after(Emit *e, const IrStmt *s);             // s has been emitted
void ahead_renew(Emit *e, IrStmt *loop);                // its body begins

// mfma.c - operands that are read before the loop, or the product.
void held_operands(Emit *e, const IrStmt *loop);
bool is_held(const Emit *e, const IrStmt *s, int operand);
// What a product of `block` takes from a tile that has just been stored; before
// the product's own place.
void mfma_read_early(Emit *e, const IrStmt *block, const IrBuffer *tile);

void sync_writes(Emit *e, const bool *buffers); // of buffers, by id
void sync_reads(Emit *e, const bool *buffers);
void meet(Emit *e);             // all of the block's threads, hazards or not
void sync_read(Emit *e, const IrExpr *x);       // a condition or bound
void sync_apart(Emit *e, IrStmt *s);    // before groups of s go their own ways
Hazards hazards_copy(Emit *e, const Hazards *h);
void hazards_join(Emit *e, Hazards *to, const Hazards *from);
bool hazards_hold(const Emit *e, const Hazards *all, const Hazards *part);
void hazards_clear(Emit *e);
bool touches(Emit *e, IrStmt *s, const IrBuffer *b);    // reads or writes b
bool writes(Emit *e, IrStmt *s, const IrBuffer *b);
#endif
