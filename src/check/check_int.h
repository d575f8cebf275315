// check_int.h - what the files of check/ share.
#ifndef CHECK_CHECK_INT_H
#define CHECK_CHECK_INT_H

#include "check/check.h"
#include "interp/observe.h"

// ---- records: what a worker noticed, by kind and places ------------------

typedef enum {
    NOTE_NONE,
    NOTE_READ,      // elements of `buffer` without a value are read at a
    NOTE_FLOW,      // a value of origin `buffer` is stored at a, into x[0]
    NOTE_BRANCH,    // ... decides at a
    NOTE_ADDRESS,   // ... is an index at a
    NOTE_OUTPUT,    // ... is stored at a, into the parameter x[0]
    NOTE_INDEX,     // index x[1] of dimension x[0], extent x[2], of `buffer`
    NOTE_TAIL,      // the same, past the end, where that may be meant
    NOTE_OVERFLOW,  // index x[1] of dimension x[0], too large for int32
    NOTE_CONFLICT,  // stores of blocks x[0] and this one at b and a
    NOTE_BAD,       // a NaN (b 0) or infinity (b 1) goes to `buffer` at a
    NOTE_RACE,      // iteration x[0] (-1: several; x[1] columns) at b
    NOTE_RACE_BLOCKS,   // block x[0] (-1: several) at b
    NOTE_BEGIN,     // ... begins at a: doubles x[0], x[1] gave x[2]
    NOTE_WRAP,      // a number wraps at a: operands x[0], x[1], result x[2]
    NOTE_BITS,      // ... of origin `buffer` is taken for bits at a
    NOTE_ALIGN,     // a copy of x[1] bytes at byte x[0] of `buffer`
    NOTE_OVERRUN,   // barrier x[0] of `buffer`, for x[1]: two phases at a
    NOTE_PARTED,    // x[0] threads come to a barrier at a, of some warps a part
    NOTE_PENDING,   // barrier x[0] of `buffer`: x[1] of x[2] have not come
    NOTE_THREADS,   // warps x[0] (a bit each) at b; race_side of b and of a
} NoteKind;

enum { MOST_NOTES = 1 << 12, NOTE_LOOPS = 4 };

// The key is kind, launch, a, b and buffer; the rest is of the first time.
typedef struct {
    int64_t count;
    NoteKind kind;
    int launch, a, b, buffer;
    int64_t block, order;
    int64_t x[3];
    int64_t row, col;           // iteration of a T.Parallel, or thread; -1
    int loops;                  // serial loops around a, outermost first
    int loop[NOTE_LOOPS];       // Code.loop
    int64_t turn[NOTE_LOOPS];
} Note;

typedef struct {
    Note *at;                   // a hash table
    int len;
    bool full;
    int64_t order;              // of notes in this block
} Notes;

// ---- shades: a byte for each unit of a buffer's storage ------------------

enum {
    SHADE_NEVER = 0x80,         // not written yet
    SHADE_ORIGIN = 0x7f,        // 1 + the buffer whose value is missing
};

typedef struct {
    uint8_t *at;
    int64_t count;
    int unit;                   // bytes
    bool global;                // shared by the workers
    bool watched;               // global: some may be other than 0
    int64_t bad;                // scratch: how many are
} Shade;

// The shadows of a file of registers.
typedef struct {
    uint8_t *slot;
    uint8_t *lanes;             // pitch bytes a register
    bool *dirty;                // by register: some lane is not 0
    int pitch;
} Shadows;

typedef struct RaceLoop RaceLoop;       // race.c
typedef struct RaceState RaceState;
typedef struct BlockTouch BlockTouch;   // race_block.c
typedef struct OrderPlan OrderPlan;     // order.c
typedef struct BlockOrder BlockOrder;
typedef struct Wraps Wraps;             // wrap.c

typedef struct {
    RaceState *race;            // made when needed
    BlockOrder *order;          // likewise
    struct BarrierUse *barrier; // likewise
    Shadows home, *warp;
    int warp_count;
    Shade *scratch;             // by root buffer
    Notes notes;
    uint8_t lane[CODE_LANES];   // working space
    uint64_t operand[3][CODE_LANES];    // of a traced instruction
    bool had_nan;               // a traced tile operation starts from a NaN
} CheckWorker;

// Who stored an element last: 1 + block, and where.
typedef struct {
    int32_t *block;
    int32_t *pc;
} Owners;

// What was left out of the first launch that was too large.
typedef struct {
    bool reached;
    int launch;
    int buffer;                 // whose owners are not kept; -1: all of it
    int64_t size;               // its elements, or blocks
} CheckLimit;

struct Check {
    const Code *code;
    CheckOptions options;
    bool tracing;
    CheckTarget target;
    int begin[SHADE_ORIGIN];    // tracing: by origin, where that began
    int begin_count;
    bool *empty;
    struct InterpObserver *observer;
    CheckWorker *workers;
    int worker_count;
    Shade *global;              // by root buffer
    int64_t *elements;          // by root: of a global buffer
    const char **data;          // by root: where a global buffer is
    int64_t (*shape)[CODE_RANK];    // by root, likewise
    int owned;                  // the launch that these are of, or -1
    Owners *owners;             // by root, in launches whose blocks may meet
    int *unit;                  // by root
    RaceLoop *race;             // loops whose iterations may meet
    int race_count;
    BlockTouch **touch;         // by root, in launches whose blocks may meet
    OrderPlan *order;           // by launch
    uint8_t **copied;           // align.c; or NULL
    Wraps *wraps;               // integers that wrap; or NULL
    CheckWorker *grid;          // by block, of those that wait for each other
    int64_t grid_blocks;
    CheckLimit limit;
};

// record.c
Note *note(Check *k, const InterpStep *s, NoteKind kind, int b, int buffer,
           int64_t count);
// The first lane of a chunk for which `flag` is not 0, as the note's place.
void note_lane(Note *n, const InterpStep *s, int lane);
// All workers' notes as one list, ordered by launch, place and kind.
int merge_notes(const Check *k, Note **out);

// shade.c
int root_of_buffer(const Code *c, int buffer);
Shade *shade_of(Check *k, const InterpStep *s, int buffer);
bool shade_is_clean(const Shade *m);
int shade_width(const Check *k, int buffer);    // units of an element
// Elements' bytes into lanes[i]; true when one is not 0.
bool shade_read(Check *k, const InterpStep *s, const InterpTouch *t,
                const int32_t *mask, uint8_t *lanes);
// lanes NULL: all 0.
void shade_write(Check *k, const InterpStep *s, const InterpTouch *t,
                 const int32_t *mask, const uint8_t *lanes);
uint8_t shade_get(Check *k, const InterpStep *s, int buffer, int64_t at);
void shade_put(Check *k, const InterpStep *s, int buffer, int64_t at,
               uint8_t v);
void shade_fill(Shade *m, uint8_t v);
uint8_t never_written(int root);                // the byte of its elements

// shadow.c, shadow_tile.c, shadow_warp.c - what instructions do to shadows
typedef void FlowFn(Check *k, const InterpStep *s);
void shadow_before(Check *k, const InterpStep *s);
Shadows *lanes_file(Check *k, const InterpStep *s);
Shadows *slots_file(Check *k, const InterpStep *s);
CheckWorker *worker_of_step(const Check *k, const InterpStep *s);
// A value that is read: notes it when it was never written; its origin.
uint8_t origin_of_read(Check *k, const InterpStep *s, uint8_t v, int lane);
void flow_gemm(Check *k, const InterpStep *s);
void flow_reduce(Check *k, const InterpStep *s);
void flow_scan(Check *k, const InterpStep *s);
void flow_im2col(Check *k, const InterpStep *s);
void flow_warp(Check *k, const InterpStep *s);
void flow_shuffle(Check *k, const InterpStep *s);
void flow_agree(Check *k, const InterpStep *s);
void flow_extern(Check *k, const InterpStep *s);

// outputs.c
void outputs_before(Check *k, const InterpStep *s);
void outputs_launch(Check *k, const InterpStep *s);

// race.c - iterations of a T.Parallel
void race_create(Check *k);
void race_destroy(Check *k);
void race_release(const Check *k, RaceState *r);    // of a worker
void race_before(Check *k, const InterpStep *s);

// race_block.c - blocks that load what others store
void race_block_launch(Check *k, const InterpStep *s);
void race_block_before(Check *k, const InterpStep *s);

// order.c, race_thread.c - threads of a block, and what they start
void order_create(Check *k);
void order_plan_release(Check *k);
void order_release(BlockOrder *o);
void order_begin(Check *k, const InterpStep *s);
void race_thread_before(Check *k, const InterpStep *s);

// barrier.c
void barrier_begin(Check *k, const InterpStep *s);
void barrier_before(Check *k, const InterpStep *s);
void barrier_end(Check *k, const InterpStep *s);

// bounds.c
void bounds_before(Check *k, const InterpStep *s);

// wrap.c - integers that their type cannot hold; after shadow_before
void wrap_create(Check *k);
void wrap_destroy(Check *k);
void wrap_before(Check *k, const InterpStep *s);
bool is_wrap_origin(const Check *k, uint8_t shadow);
// Where the numbers of an origin wrapped; false: none of these.
bool wrap_place(const Check *k, int origin, int *launch, int *pc);

// align.c - what threads copy by themselves
void align_create(Check *k);
void align_destroy(Check *k);
void align_before(Check *k, const InterpStep *s);

// values.c - results that are no numbers
void values_before(Check *k, const InterpStep *s);

// trace.c - where such values begin
void trace_before(Check *k, const InterpStep *s);   // keeps operands
void trace_after(Check *k, const InterpStep *s);

// report_values.c, of report.c's
typedef struct {
    Check *k;
    Arena *a;
    const InterpResult *r;
    const Note *notes;
    int count;
    CheckFindings *out;
} Report;

CheckFinding *add_finding(Report *r, FindingId id, Span at);
void add_note(const Report *r, CheckFinding *f, Span at, TextBuf *words);
void note_when(const Report *r, CheckFinding *f, const Note *n);
Span span_of(const Report *r, int launch, int pc);
Text name_of(const Report *r, int buffer);
Text text_from(const Report *r, TextBuf *b);    // which it releases
void put_count(TextBuf *b, int64_t n, const char *what);
// The access of an instruction that stores or loads, or NULL.
const Access *access_at(const Report *r, int launch, int pc);
bool is_store_at(const Report *r, int launch, int pc);
void report_values(Report *r);

// report_missing.c
void note_way(const Report *r, CheckFinding *f, int buffer);
void report_origin(Report *r, int buffer);
void report_unwritten(Report *r, int buffer);

// cause.c
void add_fact(const Report *r, CheckFinding *f, int buffer, Span at,
              unsigned how);

// align.c
void report_align(Report *r, const Note *n);

// report_wrap.c
void report_wraps(Report *r);

// report_order.c
void report_order(Report *r);

// barrier.c
void report_barriers(Report *r, bool stuck);

// dead.c
void report_dead_stores(Report *r);

// report.c
void report_all(Check *k, Arena *a, const InterpResult *r, CheckFindings *out);
#endif
