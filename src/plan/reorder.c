// reorder.c - does a pipelined loop compute what the serial loop computes?
//
// Both orders are walked a few trips. What a statement reads of a buffer is
// known by who wrote it: the last statement that wrote all of it and those
// that wrote since. Where each reads the same in both orders the results are
// the same; the first that does not is named.
#include "plan/plan_int.h"

#include <stdlib.h>
#include <string.h>

// The contents of a buffer, or of a slot of it.
typedef struct {
    uint64_t hash;
    int writer;                     // stage by program order; -1: before
    int64_t turn;
} Contents;

typedef struct {
    PlanState *p;
    const PlanPipeline *q;
    int64_t trips;
    int buffers;
    uint8_t *use;                   // [place][buffer]: READS, WRITES, WHOLE
    int *slots;                     // by buffer
    Contents *now;                  // [buffer][slot]
    int most_slots;
    Contents *seen;                 // [turn][place][buffer], of the serial loop
    bool compares;                  // with what was seen
    PlanReorder *out;
} Walk;

enum { READS = 1, WRITES = 2, WHOLE = 4 };

// ---- what statements do ----------------------------------------------------

static void note_use(void *ctx, IrBuffer *b, bool is_store)
{
    uint8_t *use = ctx;

    use[b->id] |= is_store ? WRITES : READS;
}

static bool clears(const PlanState *p, const IrStmt *s)
{
    int at = op_param_find(op_info(p->kernel->ops, s->op),
                           TEXT("clear_accum"));
    int64_t v = 0;

    return at >= 0 && s->operand[at].kind == OPERAND_EXPR &&
           ir_is_int(s->operand[at].expr, &v) && v;
}

// Is all of the tile written, whatever was in it?
static IrBuffer *whole_target(const PlanState *p, const IrStmt *s)
{
    int at = 0;
    bool all = s->kind == STMT_TILE;

    if (all && (s->op == OP_COPY || s->op == OP_IM2COL))
        at = 1;
    else if (all && s->op == OP_GEMM)
        at = 2, all = clears(p, s);
    else if (all && op_is_reduction(s->op))
        at = 1, all = ir_attr_int(s, ATTR_CLEAR, 1);
    else
        all = all && (s->op == OP_CLEAR || s->op == OP_FILL);
    if (!all || s->operand[at].kind != OPERAND_REGION)
        return NULL;
    const IrRegion *r = s->operand[at].region;
    return r->form == REGION_WHOLE ? r->buffer : NULL;
}

static void find_uses(Walk *w)
{
    for (int i = 0; i < w->q->count; i++) {
        const PlanStage *s = &w->q->stages[i];
        uint8_t *use = &w->use[s->place * w->buffers];
        const IrBuffer *whole;

        plan_touches(w->p, s->stmt, note_use, use);
        whole = w->q->guarded ? NULL : whole_target(w->p, s->stmt);
        if (whole)
            use[whole->id] |= WHOLE;
    }
}

// ---- walking ---------------------------------------------------------------

static Contents *slot_of(Walk *w, int buffer, int64_t turn)
{
    int slots = w->compares ? w->slots[buffer] : 1;

    return &w->now[buffer * w->most_slots + turn % slots];
}

static void write(Contents *c, bool whole, int writer, int64_t turn)
{
    uint64_t h = whole ? 1 : c->hash;

    h = (h ^ (uint64_t)(writer + 1)) * UINT64_C(0x9E3779B97F4A7C15);
    h = (h ^ (uint64_t)(turn + 1)) * UINT64_C(0xBF58476D1CE4E5B9);
    *c = (Contents){h ^ h >> 29, writer, turn};
}

static void compare(Walk *w, int reader, int64_t turn, int buffer,
                    const Contents *serial, const Contents *staged)
{
    PlanReorder *r = w->out;

    if (serial->hash == staged->hash ||
        (r->found && (turn > r->turn ||
                      (turn == r->turn && reader >= r->reader_place))))
        return;
    *r = (PlanReorder){.found = true,
                       .buffer = w->p->kernel->buffers[buffer],
                       .reader_place = reader,
                       .turn = turn,
                       .wanted_place = serial->writer,
                       .wanted_turn = serial->turn,
                       .got_place = staged->writer,
                       .got_turn = staged->turn};
}

static void visit(Walk *w, const PlanStage *s, int64_t turn)
{
    const uint8_t *use = &w->use[s->place * w->buffers];

    for (int b = 0; b < w->buffers; b++) {
        Contents *c = slot_of(w, b, turn), *seen;

        if (!(use[b] & READS))
            continue;
        seen = &w->seen[(turn * w->q->count + s->place) * w->buffers + b];
        if (w->compares)
            compare(w, s->place, turn, b, seen, c);
        else
            *seen = *c;
    }
    for (int b = 0; b < w->buffers; b++)
        if (use[b] & WRITES)
            write(slot_of(w, b, turn), use[b] & WHOLE, s->place, turn);
}

static void begin(Walk *w)
{
    for (int i = 0; i < w->buffers * w->most_slots; i++)
        w->now[i] = (Contents){(uint64_t)(i % w->most_slots) + 2, -1, -1};
}

static const PlanStage *by_place(const PlanPipeline *q, int place)
{
    for (int i = 0; i < q->count; i++)
        if (q->stages[i].place == place)
            return &q->stages[i];
    return NULL;
}

static void walk_serial(Walk *w)
{
    begin(w);
    for (int64_t k = 0; k < w->trips; k++)
        for (int i = 0; i < w->q->count; i++)
            visit(w, by_place(w->q, i), k);
}

static void walk_staged(Walk *w)
{
    begin(w);
    for (int64_t t = 0; t < w->trips + w->q->depth; t++)
        for (int i = 0; i < w->q->count; i++) {
            const PlanStage *s = &w->q->stages[i];

            if (t >= s->stage && t - s->stage < w->trips)
                visit(w, s, t - s->stage);
        }
}

// What the loop leaves behind for the statements after it.
static void compare_ends(Walk *w, const Contents *serial)
{
    for (int b = 0; b < w->buffers; b++) {
        const Contents *end = slot_of(w, b, w->trips - 1);

        if (end->writer >= 0)
            compare(w, w->q->count, w->trips, b, &serial[b], end);
    }
}

void plan_reorder(PlanState *p, const PlanPipeline *q, PlanReorder *out)
{
    int n = p->kernel->buffer_count;
    Walk w = {.p = p, .q = q, .buffers = n, .most_slots = 1, .out = out};

    *out = (PlanReorder){0};
    w.trips = 2 * q->depth + 4;
    if (q->trips >= 0 && q->trips < w.trips)
        w.trips = q->trips;
    if (w.trips == 0)
        return;
    w.use = xcalloc((size_t)n * (size_t)q->count + 1, 1);
    w.slots = xcalloc((size_t)n + 1, sizeof *w.slots);
    find_uses(&w);
    for (int b = 0; b < n; b++) {
        w.slots[b] = plan_slots(p, q, p->kernel->buffers[b]);
        w.most_slots = w.slots[b] > w.most_slots ? w.slots[b] : w.most_slots;
    }
    w.now = xcalloc((size_t)n * (size_t)w.most_slots + 1, sizeof *w.now);
    w.seen = xcalloc((size_t)(w.trips * q->count) * (size_t)n + 1,
                     sizeof *w.seen);
    Contents *ends = xcalloc((size_t)n + 1, sizeof *ends);
    walk_serial(&w);
    for (int b = 0; b < n; b++)
        ends[b] = *slot_of(&w, b, 0);
    w.compares = true;
    walk_staged(&w);
    compare_ends(&w, ends);
    free(ends);
    free(w.seen);
    free(w.now);
    free(w.slots);
    free(w.use);
}
