// code_int.h - what the files of code/ share while they lower a kernel.
//
// A value being computed is a Val: a slot (the same for all iterations of the
// T.Parallel around it, or outside of any), one lane per row, or one lane per
// iteration. Operations work at the highest level of their operands. Integer
// expressions that are affine stay symbolic as a Form until they are needed.
#ifndef CODE_CODE_INT_H
#define CODE_CODE_INT_H

#include "code/code.h"
#include "code/instr.h"
#include "ir/ir.h"

enum { FORM_TERMS = 12, DEPTH_LIMIT = 1000 };

// A growing array for vec_push.
#define LIST(T)                                                                \
    struct {                                                                   \
        T *at;                                                                 \
        int len, room;                                                         \
    }

typedef enum { AT_SLOT, AT_ROW, AT_LANES } Level;

// What a value depends on: bit d is block index d.
enum { TAINT_BLOCKS = 7, TAINT_DATA = 8 };

typedef struct {
    Level level;
    int reg; // slot or vector register
    DType dtype;
    bool temp;     // a vector register to be released after use
    uint8_t taint; // per-thread code: TAINT_ bits
} Val;

// base + terms + row * (row of the iteration) + col * (column), plus lanes.
typedef struct {
    int64_t base;
    int count;
    AffineTerm term[FORM_TERMS];
    int64_t row, col;
    Val lanes; // i64 lanes; reg -1: none
    bool wide; // the program computes it in 64 bits
} Form;

typedef struct {
    bool known;
    int64_t low, high;
} Range;

typedef struct {
    Range range;
    bool body;     // computed inside the current T.Parallel
    bool mutable;  // an alloc_var
    uint8_t taint; // TAINT_ bits
} SlotFact;

typedef struct {
    Instr i;
    int stmt;
    Span at;
} EmitItem;

typedef LIST(EmitItem) Emit;

typedef enum { BIND_NONE, BIND_VAL, BIND_FORM } BindKind;

typedef struct {
    BindKind kind;
    Val val;
    Form *form;
    bool by_thread; // each thread has its own
} Binding;

// The innermost loop around the code being lowered.
typedef struct LoopCtx {
    struct LoopCtx *outer;
    LIST(int) breaks, continues; // jumps to patch
    int live, iter;              // mask registers of a divergent loop, or -1
    int counter;                 // slot that counts its turns, or -1
} LoopCtx;

// A register that broadcasts a slot through the whole T.Parallel.
typedef struct {
    int slot;
    LaneType type;
    int reg;
} Fill;

// The T.Parallel being lowered.
typedef struct {
    int space;
    int first_slot; // slots from here on may change in the loop
    Emit body;
    int64_t row_extent, col_extent; // 0: not constant
    int lanes;                      // a chunk has at most so many
    Emit *outer;      // before the loop: what does not change in it
    int mask;         // register of the active lanes, or -1: all
    int depth;        // > 0: inside a condition or an inner loop
    bool *written;    // by buffer root
    int *private_reg; // by buffer: register of a per-lane variable
    LIST(Fill) fills;
    LIST(int) loads; // accesses of this statement
} Par;

// Vector registers in use; a warp's are others than those of a T.Parallel.
typedef struct {
    int free_reg[2][256], free_count[2], next_reg[2];
} Registers;

// A register of the warps, or an element of each thread's, as a slot.
typedef struct {
    int reg, slot;
} Agreed;

// A part of per-thread code that the threads of a set run together.
typedef struct {
    Emit head, body;
    Emit *outside; // the warps' code
    Registers registers;
    LoopCtx *loop;
    LIST(Agreed) agreed;
} Collective;

typedef struct {
    int64_t stride[IR_MAX_RANK + 2]; // of the index map's outputs
} PhysicalLayout;

typedef struct {
    int buffer, rank;        // rank 0: no store yet
    Form part[IR_MAX_RANK];  // what depends on the block
    Range rest[IR_MAX_RANK]; // of everything else, all stores together
} StorePlace;

// The sets of threads that keep a fragment in their registers, each its own.
typedef struct {
    int set, buffer;
} Holder;

typedef struct {
    Holder *at;
    int len, room;
    bool mixed; // one copy serves sets that overlap
} Holders;

typedef struct Scope Scope; // lower_step.c

typedef struct {
    Arena *arena;
    Diag *diag;
    const IrKernel *k;
    CodeMode mode;
    Code *code;
    Emit *out;
    Par *par;
    LoopCtx *loop;
    const IrStmt *block; // the innermost around
    Binding *binding;    // by variable id
    int *var_slot;       // by buffer: slot of an alloc_var, or -1
    bool *var_private;   // by buffer: some T.Parallel writes it
    bool *var_in_memory; // by buffer: an alloc_var that is a tile operand
    Map constants;
    int stmt;
    Span at;
    int depth;
    bool failed;
    int launch;         // index, -1 in the host part
    uint8_t control;    // taint of the conditions around
    uint8_t grid_taint; // block indices that vary in this launch
    Registers registers;
    Par *thread;            // the launch's per-thread code, or NULL
    Collective *collective; // the part that threads run together, or NULL
    int set;                // of the threads that come here
    bool divergent;         // within what a part of a warp may leave out
    const IrExpr **let;     // by variable id: what a let was given
    bool *by_threads;       // by buffer root: written by single threads
    Holders *held_by;       // by buffer root: who holds a fragment
    int *copy_of;           // by buffer: of a fragment, where it is kept for
                            // those that run now; NULL: nothing has copies
    Val thread_index[3];
    LIST(SlotFact) fact;
    LIST(Slot) slot;
    LIST(DType) constant;
    LIST(Access) access;
    LIST(Affine) affine;
    LIST(Space) space;
    LIST(Gemm) gemm;
    LIST(Reduction) reduction;
    LIST(Scan) scan;
    LIST(Im2col) im2col;
    LIST(Print) print;
    LIST(Native) native;
    LIST(CodeEvent) event;
    LIST(CodeStep) step;
    const Scope **scope;    // CODE_STEPPED, by statement
    LIST(ThreadSet) sets;
    LIST(Meeting) meeting;
    LIST(Progress) places;
    LIST(Site) site;
    LIST(CodeLoop) loops;
    LIST(CodePipeline) pipelines;
    LIST(const IrStmt *) pointed; // tensors at addresses, for every launch
    LIST(Launch) launches;
    bool *read, *write;     // by buffer root, of this launch
    StorePlace *place;      // likewise: how its stores place the blocks
    PhysicalLayout *layout; // by buffer: of annotated global ones
    int64_t scratch;        // bytes used by this launch
    bool *kernel_writes;    // CODE_CONTROL, by buffer root: by any statement
    bool *unread;           // likewise, by variable: its value reads tiles
    bool *unread_cell;      // and by buffer, of variables that are assigned
    bool tile_dependent;    // CODE_CONTROL has failed
} Lower;

// ---- lower.c -------------------------------------------------------------
// Reports "not supported" (exit 4) at the current place and marks failure.
void unsupported(Lower *l, const char *format, ...) PRINTF_LIKE(2, 3);
void bad_program(Lower *l, const char *id, const char *format, ...)
    PRINTF_LIKE(3, 4);
DType map_dtype(const Lower *l, DType t); // F64 mode
DType lane_dtype(LaneType t);             // f32 for LANE_F32
bool is_signed_index(DType t);            // int32 or int64

int emit(Lower *l, Instr i);    // index in the current list
void patch(Lower *l, int jump); // let it go to the list's end
int new_slot(Lower *l, bool body);
int int_slot(Lower *l, DType t, int64_t v);
int float_slot(Lower *l, DType t, double v);
int new_site(Lower *l, SiteKind kind, int buffer, bool store, Text message);
int new_reg(Lower *l, bool view);
void release_reg(Lower *l, int reg);
void release(Lower *l, Val v);
int root_of(const Lower *l, int buffer);
// Whether a slot may change within the T.Parallel around.
bool in_body(const Lower *l, int slot);
void lower_launch_body(Lower *l, const IrStmt *body, Emit *out);

// ---- lower_form.c - affine integer expressions ---------------------------
// What e is, to be used as an index: computed in int64, without wrapping.
bool form_of(Lower *l, const IrExpr *e, Form *out);
bool form_is_pure(const Lower *l, const IrExpr *e); // needs no instruction
Form form_const(int64_t v);
Form form_slot(int slot);
bool form_add(Lower *l, Form *a, const Form *b, int64_t factor);
Range form_range(Lower *l, const Form *f); // lanes make it unknown
Val form_value(Lower *l, const Form *f, DType t);
int form_base_slot(Lower *l, const Form *f); // without row, col, lanes
uint8_t form_taint(const Lower *l, const Form *f);
Range range_of(int64_t low, int64_t high);
Range range_sum(Range a, Range b);
Range range_scaled(Range a, int64_t factor);

// ---- lower_expr.c - values -----------------------------------------------
Val value_of(Lower *l, const IrExpr *e);
Val cast_value(Lower *l, Val v, DType to, bool sat);
Val apply(Lower *l, LaneOp op, DType operand, DType result, Val *v, int n);
Val promote(Lower *l, Val v, Level level);
// Emits i with a new slot as d; invariant: before the T.Parallel around it.
int scalar_instr(Lower *l, Instr i, bool invariant);
Val slot_value(int slot, DType t);
uint8_t taint_of(const Lower *l, const Val *v, int n);
Range limits_of(DType t);
bool is_division(Op op);

// An access to one element, its place in slots; -1: failed.
int element_access(Lower *l, const IrRegion *r);

// ---- lower_choose.c ------------------------------------------------------
bool may_fault(const IrExpr *e);
// t where cond holds, else f; a NULL side is the truth value true or false.
Val choose(Lower *l, const IrExpr *cond, const IrExpr *t, const IrExpr *f,
           DType dtype);
LaneOp lane_of_op(Op op); // LANE_OP_COUNT: none
int invert_mask(Lower *l, int mask);
int and_masks(Lower *l, int a, int b); // a may be -1

// ---- lower_access.c ------------------------------------------------------
// The forms of an element's indices; a constant one must be in range.
bool index_forms(Lower *l, const IrBuffer *b, IrExpr *const *index, int n,
                 Form *out);
bool fix_index(Lower *l, const IrBuffer *b, int dim, Form *f);
// quiet: bits of the dimensions whose overrun is no finding.
Val load_of(Lower *l, const IrBuffer *b, const Form *index, unsigned quiet);
// v has the buffer's dtype.
void store_to(Lower *l, const IrBuffer *b, const Form *index, Val v,
              unsigned quiet);
// old: NULL when the old value is not wanted.
void atomic_on(Lower *l, const IrBuffer *b, const Form *index, LaneOp op, Val v,
               unsigned quiet, Val *old);
// A place in a buffer. level: at least this one.
typedef struct {
    int access; // -1: failed
    Level level;
    Val lanes[IR_MAX_RANK + 1]; // to be released after use
    int lane_count;
} Spot;
Spot spot_of(Lower *l, const IrBuffer *b, const Form *given, bool store,
             unsigned quiet, Level level);
void spot_release(Lower *l, Spot *s);
bool is_global(const IrBuffer *b);
bool is_slot_var(const Lower *l, const IrBuffer *b); // lives in a slot
// Gives a buffer its place in the scratch of a block. False after reporting.
bool reserve(Lower *l, CodeBuffer *root);
bool buffer_usable(Lower *l, const IrBuffer *b);     // allocated by now

// ---- lower_layout.c ------------------------------------------------------
bool has_layout(const IrBuffer *b);
void set_layouts(Lower *l);
// The element offset that the layout gives the element at `index`.
bool layout_place(Lower *l, const IrBuffer *b, const Form *index, Form *out);
// Fragments with a T.Fragment layout: a thread stores to elements of its own.
bool has_owners(const IrBuffer *b);
void check_owner(Lower *l, const IrBuffer *b, const Form *index);

// ---- lower_race.c --------------------------------------------------------
void note_read(Lower *l, const IrBuffer *b);
void note_write(Lower *l, const IrBuffer *b, const Form *index);
void note_atomic(Lower *l, const IrBuffer *b);

// ---- lower_step.c --------------------------------------------------------
void lower_step(Lower *l, const IrStmt *s);
void lower_last_step(Lower *l);     // at the end of a launch

// ---- lower_event.c -------------------------------------------------------
// Whether s is left out.
bool lower_event(Lower *l, const IrStmt *s);
void find_kernel_writes(Lower *l);
bool walk_can_read(const Lower *l, const IrBuffer *b);
void depends_on_tiles(Lower *l);

// ---- lower_stmt.c --------------------------------------------------------
void lower_stmt(Lower *l, const IrStmt *s);
int frozen_slot(Lower *l, int slot);       // a copy if it can change
Val frozen_vector(Lower *l, Val v);
uint8_t enter_control(Lower *l, Val cond); // returns the taint to restore

// ---- lower_loop.c --------------------------------------------------------
void lower_for(Lower *l, const IrStmt *s);
void lower_while(Lower *l, const IrStmt *s);
bool turns_vary(Lower *l, const IrStmt *s); // from thread to thread
void lower_jump(Lower *l, bool is_continue);
void loop_enter(Lower *l, LoopCtx *ctx, int counter);
void loop_continue_here(Lower *l, LoopCtx *ctx); // where continue goes
void loop_leave(Lower *l, LoopCtx *ctx);         // where break goes
void lower_persistent(Lower *l, const IrStmt *s);

// ---- lower_parallel.c ----------------------------------------------------
void lower_parallel(Lower *l, const IrStmt *s);
// A T.Parallel over `rank` extents; coord[d] becomes the d-th coordinate.
bool par_open(Lower *l, Par *p, const Form *extent, int rank, Form *coord);
void par_close(Lower *l, Par *p);
// Finds the variables and local arrays that T.Parallel bodies write.
void find_private(Lower *l);

// ---- lower_thread.c - per-thread code ------------------------------------
bool is_per_thread(const IrStmt *launch);
void lower_threads(Lower *l, const IrStmt *launch, Emit *out);
bool in_thread_code(const Lower *l);
// Before tile code s: gives the threads that run it their fragments.
void hold_fragments(Lower *l, IrStmt *s);
// The code's buffer that b is for the threads that run now.
int storage_of(const Lower *l, const IrBuffer *b); // and not in a collective part of it
void lower_thread_block(Lower *l, const IrStmt *block);
// What a thread's own value is for the threads that met: all must agree.
Val agreed_value(Lower *l, Val v);
Val agreed_form(Lower *l, const Form *f, DType t);
Val thread_index(Lower *l, const IrExpr *e);
bool thread_form(Lower *l, const IrExpr *e, Form *out);
// The threads of l->set for which cond holds (or not), if that is known.
int set_where(Lower *l, const IrExpr *cond, bool holds);
void note_let(Lower *l, const IrVar *v, const IrExpr *value);
void let_others_come(Lower *l); // a SOFT here
int place_here(Lower *l);       // in the loops around: a Progress

// ---- lower_collective.c --------------------------------------------------
// inside: of a collective loop or condition, where lets end with it.
bool is_point(const IrStmt *s);         // all its regions are single elements
bool is_collective(Lower *l, const IrStmt *s, bool inside);
// Whether s itself reads or writes shared memory that single threads write.
bool touches_shared(Lower *l, const IrStmt *s);
bool touches_shared_within(Lower *l, const IrStmt *s); // or what is inside

// ---- lower_thread_find.c -------------------------------------------------
// Marks the fragments that only single threads use as private.
void find_own_fragments(Lower *l, const IrStmt *launch);
void find_thread_writes(Lower *l, const IrStmt *launch); // sets by_threads
bool variables_are_apart(Lower *l, const IrStmt *launch);

// ---- lower_thread_set.c --------------------------------------------------
int all_threads(Lower *l, int64_t threads);
bool sets_are_apart(const Lower *l, int a, int b);
// Whether cond lets a part of a warp come, or may do so, of l->set; `set` are
// those that it does let come, if that is known.
bool parts_warps(Lower *l, const IrExpr *cond, int set);
bool varies(Lower *l, const IrExpr *e); // from thread to thread of l->set

// ---- lower_warp.c --------------------------------------------------------
Val warp_value(Lower *l, const IrExpr *e);
bool lower_warp_stmt(Lower *l, const IrStmt *s); // false: no such
void init_barriers(Lower *l, const IrStmt *alloc);
// v of the active lanes of a warp as a slot.
Val first_lane(Lower *l, Val v);

// ---- lower_order.c -------------------------------------------------------
// What is emitted next is only started by the threads, until end_order().
void begin_order(Lower *l, CodeOrder kind, const IrRegion *barrier);
void end_order(Lower *l);
bool lower_order(Lower *l, const IrStmt *s);    // false: nothing is ordered
// T.tma_copy, T.async_copy, a product that is not waited for; or ORDER_END.
CodeOrder started_by(const IrStmt *s);

// ---- lower_tile.c, lower_tile_copy.c -------------------------------------
void lower_tile(Lower *l, const IrStmt *s);
void lower_copy(Lower *l, const IrStmt *s);
void lower_fill(Lower *l, const IrStmt *s);
void lower_transpose(Lower *l, const IrStmt *s);
void lower_atomic(Lower *l, const IrStmt *s);
// A copy by m: element by element, converting.
void copy_by_map(Lower *l, const IrCopyMap *m);
Val identity_of(Lower *l, LaneOp op, DType t);

// ---- lower_extern.c ------------------------------------------------------
void lower_extern(Lower *l, const IrStmt *s);

// ---- lower_reducer.c -----------------------------------------------------
void lower_element_copy(Lower *l, const IrStmt *s);
void lower_atomic_row(Lower *l, const IrStmt *s, int n);
void lower_atomic_store(Lower *l, const IrStmt *s);
void lower_reducer(Lower *l, const IrStmt *s);
const IrRegion *operand_region(Lower *l, const IrStmt *s, int i);
#endif
