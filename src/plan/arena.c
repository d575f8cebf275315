// arena.c - live ranges of shared buffers, and their places.
//
// Time is counted in statements of the launch's outermost level: whatever is
// touched inside a loop, `if` or `while` there lives through all of it. A
// pipelined loop counts as its prologue, itself and its epilogue; a loop with
// producer warps as the producers' loop followed by the consumers'. Rules
// `tilesim` count the statements of loops, too, on AMD, which copies nothing
// behind a thread's back: there a buffer lives through a loop only where a trip
// may find in it what another one left.
//
// Buffers are placed in the order of first touch, larger ones first. Each takes
// the free block that fits best, else grows the free block at the top, else
// goes on top.
#include "plan/plan_int.h"

#include <stdlib.h>

enum { ARENA_ALIGN = 16 };

typedef struct {
    PlanState *p;
    int clock;
    bool inside;                    // of a statement that counts as one
    bool only_copies, only_rest;    // of a loop with producer warps
    bool whole;                     // pipelines count as one statement
    bool fine;                      // so does no loop (rules `tilesim`, AMD)
    bool apart;                     // tiles of a loop do not share bytes
    struct {
        PlanBuffer *at;
        int len, room;
    } buffers;
    int workspaces;
    struct {
        bool *at;
        int len, room;
    } nested;                       // by time: a loop over several statements
} Clock;

// ---- live ranges -----------------------------------------------------------

static int64_t bytes_of(PlanState *p, const IrBuffer *b)
{
    const PlanShared *s = &p->shared[b->id];
    int64_t n = 1, extent;

    for (int d = 0; d < b->rank; d++)
        if (ir_is_int(b->shape[d], &extent))
            n *= extent;
    if (s->elements)
        n = n / s->elements * s->size;
    return (n * plan_bits(p->plan->rules, b) + 7) / 8;
}

static bool moved_by(const PlanState *p, const IrBuffer *b, PlanMoveKind kind)
{
    for (int i = 0; i < p->launch->move_count; i++)
        if (p->launch->moves[i].buffer == b && p->launch->moves[i].kind == kind)
            return true;
    return false;
}

// TMA repeats its swizzle every 128, 256, 512 or 1024 bytes. What bulk copies
// move, and operands of wgmma that something else has filled, get the largest.
static int align_of(const PlanState *p, const IrBuffer *b)
{
    if (p->plan->rules == PLAN_TILESIM)
        return p->shared[b->id].swizzle ? 1024 : 128;
    if (moved_by(p, b, MOVE_TMA)) {
        int chunks = p->shared[b->id].swizzle;
        return chunks ? 128 * chunks : 128;
    }
    if (moved_by(p, b, MOVE_BULK) || moved_by(p, b, MOVE_WGMMA))
        return 1024;
    return ARENA_ALIGN;
}

static PlanBuffer *add_buffer(Clock *c, IrBuffer *b)
{
    PlanBuffer n = {
        .ir = b, .name = b->name, .slots = c->p->slots[b->id],
        .rings = c->p->rings[b->id], .copies = 1, .align = align_of(c->p, b),
        .first = c->clock, .last = c->clock,
        .is_static = b->scope == SCOPE_SHARED_STATIC,
        .layout = c->p->shared[b->id],
    };

    for (int i = 0; i < n.rings; i++)
        n.copies *= n.slots;
    n.bytes = n.copies * bytes_of(c->p, b);
    vec_push(c->p->arena, &c->buffers, n);
    return &c->buffers.at[c->buffers.len - 1];
}

static PlanBuffer *buffer_of(Clock *c, const IrBuffer *b)
{
    for (int i = 0; i < c->buffers.len; i++)
        if (c->buffers.at[i].ir == b)
            return &c->buffers.at[i];
    return NULL;
}

static bool is_shared(const PlanState *p, const IrBuffer *b)
{
    return b->scope == SCOPE_SHARED || b->scope == SCOPE_SHARED_STATIC ||
           p->spilled[b->id] ||
           (b->scope == SCOPE_REDUCER && p->plan->rules == PLAN_TILESIM);
}

static void touch(void *ctx, IrBuffer *b, bool is_store)
{
    Clock *c = ctx;

    (void)is_store;
    while (b->alias_of)
        b = b->alias_of;
    if (!is_shared(c->p, b))
        return;
    PlanBuffer *found = buffer_of(c, b);
    if (found)
        found->last = c->clock;
    else
        add_buffer(c, b);
}

// Allocated and never touched.
static bool add_unused(void *ctx, IrStmt *s)
{
    Clock *c = ctx;

    if (s->kind == STMT_ALLOC && is_shared(c->p, s->buffer) &&
        !buffer_of(c, s->buffer))
        add_buffer(c, s->buffer)->is_unused = true;
    return true;
}

static void add_workspace(Clock *c, const PlanOp *op)
{
    const IrBuffer *out = op->reduce.out;
    PlanBuffer n = {
        .stmt = op->stmt, .slots = 1, .rings = 1, .copies = 1,
        .align = ARENA_ALIGN, .first = c->clock, .last = c->clock,
        .bytes = (int64_t)c->p->launch->threads *
                 ir_attr_int(op->stmt, ATTR_BATCH, 1) *
                 dtype_info(out->dtype)->bits / 8,
    };
    vec_push(c->p->arena, &c->buffers, n);
    c->workspaces++;
}

static void add_own_workspace(Clock *c, const PlanReduce *r)
{
    PlanBuffer n = {
        .stmt = r->stmt, .slots = 1, .rings = 1, .copies = 1,
        .align = ARENA_ALIGN, .first = c->clock, .last = c->clock,
        .bytes = r->workspace, .name = TEXT("workspace"),
    };
    vec_push(c->p->arena, &c->buffers, n);
}

static void tick(Clock *c, bool nested)
{
    if (c->inside && !c->fine)
        return;
    vec_push(c->p->arena, &c->nested, nested);
    c->clock++;
}

// Whether what a statement becomes is a loop over several statements.
static bool is_nested(const PlanState *p, const IrStmt *s, const PlanOp *op)
{
    const PlanGemm *g = op ? op->gemm : NULL;

    if (g)
        return g->unit != PLAN_WGMMA && g->shape.k > g->inst_k * g->k_pack;
    if (op && op->kind == PLANOP_REDUCE) {
        const PlanFragment *out = p->fragment[op->reduce.out->id];
        return out && out->locals > 1;
    }
    return s->kind == STMT_FOR && s->then->len > 1;
}

static void emit(Clock *c, IrStmt *s);

// ---- loops whose statements count ------------------------------------------

// What registers take before the loop.
static void read_held(Clock *c, const IrStmt *loop)
{
    const PlanLaunch *l = c->p->launch;

    for (int i = 0; i < l->gemm_count; i++)
        if (l->gemms[i].held == loop)
            touch(c, l->gemms[i].a, false);
    tick(c, false);
}

// Tiles that pass through registers, and are stored after this statement.
static void store_ahead(Clock *c, const IrStmt *loop, const IrStmt *after)
{
    const PlanLaunch *l = c->p->launch;
    bool any = false;

    for (int i = 0; i < l->ahead_count; i++) {
        const PlanAhead *a = &l->aheads[i];
        for (int j = 0; j < a->count; j++) {
            if (after ? a->after[j] != after
                      : a->loop != loop || a->after[j])
                continue;
            touch(c, a->copies[j].map.dst.buffer, true);
            any = true;
        }
    }
    if (any)
        tick(c, false);
}

static bool is_carried(Clock *c, IrStmt *loop, const IrBuffer *b);

static int count_touches(Clock *c, IrStmt *s, const IrBuffer *b)
{
    PlanTouched t = plan_touched(c->p, s, b);

    return t.reads + t.writes;
}

// The first statement of a trip that names the buffer: none of what it held
// before is left, and nothing of an earlier trip is found in it.
static bool starts_anew(Clock *c, IrStmt *loop, IrStmt *s, const IrBuffer *b)
{
    const PlanAhead *a = plan_ahead_of(c->p->launch, s);

    if (s->kind == STMT_WHILE ||
        (s->kind == STMT_FOR && s->loop != LOOP_PARALLEL))
        return !is_carried(c, s, b) && count_touches(c, s, b) ==
                                           count_touches(c, loop->then, b);
    if (a && a->loop == loop)
        return true;
    return s->kind == STMT_TILE && plan_writes_whole(s, b) &&
           !plan_touched(c->p, s, b).reads;
}

// Whether a trip may find in the buffer what an earlier one left.
static bool is_carried(Clock *c, IrStmt *loop, const IrBuffer *b)
{
    IrStmt *s;

    for (int i = 0; b && (s = plan_body_at(loop->then, i)); i++) {
        if (count_touches(c, s, b))
            return !starts_anew(c, loop, s, b);
    }
    return b != NULL;
}

static bool is_ahead_tile(Clock *c, const IrStmt *loop, const IrBuffer *b)
{
    const PlanLaunch *l = c->p->launch;

    for (int i = 0; i < l->ahead_count; i++)
        for (int j = 0; j < l->aheads[i].count; j++)
            if (l->aheads[i].loop == loop &&
                l->aheads[i].copies[j].map.dst.buffer == b)
                return true;
    return false;
}

static void extend_carried(Clock *c, IrStmt *loop, int from)
{
    for (int i = 0; i < c->buffers.len; i++) {
        PlanBuffer *b = &c->buffers.at[i];
        bool kept = c->apart && b->ir && is_ahead_tile(c, loop, b->ir);
        if (b->last < from || (!kept && !is_carried(c, loop, b->ir)))
            continue;
        b->first = b->first < from ? b->first : from;
        b->last = c->clock;
    }
}

static void touch_leaf(Clock *c, IrStmt *s)
{
    const PlanOp *op = plan_op_of(c->p, s);

    if (c->fine && plan_ahead_of(c->p->launch, s))
        return;
    if (!c->fine || !op || !op->gemm || !op->gemm->held) {
        plan_touches(c->p, s, touch, c);
        return;
    }
    touch(c, op->gemm->b, false);
    touch(c, op->gemm->c, true);
}

static void emit_leaf(Clock *c, IrStmt *s)
{
    const PlanOp *op = plan_op_of(c->p, s);
    PlanStep steps[PLAN_STEPS];

    touch_leaf(c, s);
    if (c->p->plan->rules == PLAN_TILESIM) {
        for (int i = 0; i < c->p->launch->reduce_count; i++)
            if (c->p->launch->reduces[i].stmt == s &&
                c->p->launch->reduces[i].workspace)
                add_own_workspace(c, &c->p->launch->reduces[i]);
        tick(c, false);
        return;
    }
    int n = op && op->kind == PLANOP_REDUCE
                ? plan_workspaces(c->p, op, steps) : 0;
    bool nested = is_nested(c->p, s, op);
    if (n)
        tick(c, false);
    for (int i = 0; i < n; i++) {
        if (i && !nested)           // one statement after the other
            tick(c, false);
        add_workspace(c, op);
    }
    tick(c, nested);
}

static void emit_stages(Clock *c, const PlanPipeline *q, int low, int high)
{
    for (int i = 0; i < q->count; i++) {
        const PlanStage *s = &q->stages[i];
        bool other = s->is_copy ? c->only_rest : c->only_copies;
        if (s->stage >= low && s->stage <= high && !other)
            emit(c, s->stmt);
    }
}

static void emit_body(Clock *c, const PlanPipeline *q, int low, int high)
{
    bool inside = c->inside;

    c->inside = true;
    emit_stages(c, q, low, high);
    c->inside = inside;
    tick(c, q->count > 1);
}

static void emit_pipeline(Clock *c, const PlanPipeline *q)
{
    if (q->loop == c->p->fed) {
        c->only_copies = true;
        emit_body(c, q, 0, q->depth);
        c->only_copies = false;
        c->only_rest = true;
        emit_body(c, q, 0, q->depth);
        c->only_rest = false;
        return;
    }
    // Where the number of iterations is not constant, what is issued ahead
    // and what is left over stay loops.
    if (q->trips < 0 && q->depth > 1) {
        emit_body(c, q, 0, q->depth - 1);
        emit_body(c, q, 0, q->depth);
        emit_body(c, q, 1, q->depth);
        return;
    }
    for (int i = 0; i < q->depth; i++)
        emit_stages(c, q, 0, i);
    if (q->trips != q->depth)
        emit_body(c, q, 0, q->depth);
    for (int i = 0; i < q->depth; i++)
        emit_stages(c, q, i + 1, q->depth);
}

static void emit_scope(Clock *c, IrStmt *s)
{
    bool inside = c->inside, loop = c->fine && s->kind != STMT_IF;
    int from;

    c->inside = true;
    if (loop)
        read_held(c, s);
    from = c->clock;
    if (loop)
        store_ahead(c, s, NULL);
    if (s->cond) {
        IrStmt test = {.kind = STMT_EVAL, .value = s->cond};
        plan_touches(c->p, &test, touch, c);
    }
    if (s->then)
        emit(c, s->then);
    if (s->otherwise)
        emit(c, s->otherwise);
    if (loop)
        extend_carried(c, s, from);
    c->inside = inside;
    tick(c, s->kind == STMT_FOR && s->then->len > 1);
}

// A loop of one iteration is no loop.
static bool runs_once(const Clock *c, const IrStmt *s)
{
    int64_t trips;

    return s->kind == STMT_FOR && s->var_count == 1 &&
           c->p->plan->rules == PLAN_TILELANG &&
           plan_constant(c->p, s->extent[0], &trips) && trips == 1;
}

static void emit(Clock *c, IrStmt *s)
{
    PlanPipeline *q = NULL;
    IrStmt *side;

    if (s->kind == STMT_BLOCK) {
        for (int i = 0; i < s->len; i++) {
            emit(c, s->body[i]);
            if (c->fine)
                store_ahead(c, NULL, s->body[i]);
        }
    } else if (plan_decided(c->p, s, &side)) {
        if (side)
            emit(c, side);
    } else if (s->kind == STMT_FOR && s->loop == LOOP_PARALLEL) {
        emit_leaf(c, s);
    } else if (s->kind == STMT_FOR || s->kind == STMT_WHILE ||
               s->kind == STMT_IF) {
        if (s->kind == STMT_FOR && s->loop == LOOP_PIPELINED &&
            c->p->plan->rules == PLAN_TILELANG && !c->whole)
            q = plan_pipeline(c->p, s);
        if (q)
            emit_pipeline(c, q);
        else if (runs_once(c, s))
            emit(c, s->then);
        else
            emit_scope(c, s);
    } else if (s->kind != STMT_ALLOC) {
        emit_leaf(c, s);
    }
}

static void mark_events(Clock *c, bool *event)
{
    for (int i = 0; i < c->buffers.len; i++) {
        event[c->buffers.at[i].first] = true;
        event[c->buffers.at[i].last] = true;
    }
}

// Upstream ends a life that began outside a loop over several statements, and
// was last touched in one, before the next event outside such a loop.
static void extend_lives(Clock *c)
{
    bool *event = new_array(c->p->arena, bool, c->clock + 1);

    mark_events(c, event);
    for (int i = 0; i < c->buffers.len; i++) {
        PlanBuffer *b = &c->buffers.at[i];
        if (c->nested.at[b->first] || !c->nested.at[b->last])
            continue;
        for (int t = b->last + 1; t < c->clock; t++) {
            if (event[t] && !c->nested.at[t])
                break;
            if (event[t])
                b->last = t;
        }
    }
}

// Upstream numbers workspaces from the last one back: those of one reduction
// together, in the order of its copies in a pipeline.
static void name_workspaces(Clock *c)
{
    int n = c->workspaces;

    for (int i = 0; i < c->p->ops.len; i++) {
        for (int j = 0; j < c->buffers.len; j++) {
            PlanBuffer *b = &c->buffers.at[j];
            if (b->stmt != c->p->ops.at[i].stmt)
                continue;
            n--;
            b->name = n ? text_format(c->p->arena, "workspace_%d", n)
                        : TEXT("workspace");
        }
    }
}

// ---- packing ---------------------------------------------------------------

typedef struct {
    int64_t at, size;
} Hole;

typedef struct {
    Hole *hole;
    int holes;
    int64_t top;
} Packing;

static int64_t align_up(int64_t x, int64_t to)
{
    return (x + to - 1) / to * to;
}

static int by_first(const void *x, const void *y)
{
    const PlanBuffer *a = x, *b = y;

    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return text_compare(a->name, b->name);
}

static void drop_hole(Packing *k, int i)
{
    k->hole[i] = k->hole[--k->holes];
}

static void add_hole(Packing *k, int64_t at, int64_t size)
{
    for (int i = 0; i < k->holes; i++) {
        Hole *h = &k->hole[i];
        if (h->at + h->size != at && at + size != h->at)
            continue;
        at = h->at < at ? h->at : at;
        size += h->size;
        drop_hole(k, i);
        i = -1;
    }
    if (size > 0)
        k->hole[k->holes++] = (Hole){at, size};
}

static int best_hole(const Packing *k, const PlanBuffer *b)
{
    int best = -1;

    for (int i = 0; i < k->holes; i++) {
        const Hole *h = &k->hole[i];
        int64_t at = align_up(h->at, b->align);
        if (at + b->bytes > h->at + h->size)
            continue;
        if (best < 0 || h->size < k->hole[best].size)
            best = i;
    }
    for (int i = 0; best < 0 && i < k->holes; i++)
        if (k->hole[i].at + k->hole[i].size == k->top)
            return i;
    return best;
}

static void place(Packing *k, PlanBuffer *b)
{
    int i = best_hole(k, b);
    Hole h = i >= 0 ? k->hole[i] : (Hole){k->top, 0};

    if (i >= 0)
        drop_hole(k, i);
    b->offset = align_up(h.at, b->align);
    add_hole(k, h.at, b->offset - h.at);
    int64_t end = b->offset + b->bytes;
    if (end < h.at + h.size)
        add_hole(k, end, h.at + h.size - end);
    if (end > k->top)
        k->top = end;
}

static bool in_arena(const PlanBuffer *b)
{
    return !b->is_static && !b->is_unused;
}

static void pack(PlanState *p, PlanBuffer *at, int n)
{
    Packing k = {.hole = new_array(p->arena, Hole, 3 * n + 3)};
    bool *gone = new_array(p->arena, bool, n + 1);

    if (n)
        qsort(at, n, sizeof *at, by_first);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            if (gone[j] || at[j].last >= at[i].first || !in_arena(&at[j]))
                continue;
            gone[j] = true;
            add_hole(&k, at[j].offset, at[j].bytes);
        }
        if (in_arena(&at[i]))
            place(&k, &at[i]);
        else if (!at[i].is_unused)
            p->launch->static_bytes += at[i].bytes;
    }
    p->launch->arena = align_up(k.top, ARENA_ALIGN);
}

// What a producer warp fills, it fills as early as it can.
static void fill_early(Clock *c)
{
    for (int i = 0; i < c->buffers.len; i++) {
        PlanBuffer *b = &c->buffers.at[i];
        if (b->ir && plan_fed_by(&c->p->launch->feed, b->ir))
            b->first = 0;
    }
}

// Groups of threads go their own ways: what one has left behind, another may
// still be at.
static void live_throughout(Clock *c)
{
    for (int i = 0; i < c->buffers.len; i++) {
        c->buffers.at[i].first = 0;
        c->buffers.at[i].last = c->clock;
    }
}

// Of the workspaces that copies of a reduction in a pipeline have, one is
// enough where there is one copy.
static bool is_first(const PlanBuffer *at, int i)
{
    for (int j = 0; j < i && !at[i].ir; j++)
        if (!at[j].ir && at[j].stmt == at[i].stmt)
            return false;
    return true;
}

static bool shares(const PlanBuffer *a, const PlanBuffer *b)
{
    return in_arena(a) && in_arena(b) && a->offset < b->offset + b->bytes &&
           b->offset < a->offset + a->bytes;
}

static const PlanBuffer *life_of(const Clock *c, const PlanBuffer *b)
{
    for (int i = 0; i < c->buffers.len; i++)
        if (c->buffers.at[i].ir == b->ir && c->buffers.at[i].stmt == b->stmt)
            return &c->buffers.at[i];
    return b;
}

// Where a pipeline is one loop, everything in it lives as long as it runs: do
// any two then share bytes?
static bool collides(PlanState *p, IrStmt *launch, const PlanBuffer *at, int n)
{
    Clock c = {.p = p, .whole = true};

    emit(&c, launch->then);
    for (int i = 0; i < n; i++) {
        const PlanBuffer *x = life_of(&c, &at[i]);
        for (int j = 0; j < i; j++) {
            const PlanBuffer *y = life_of(&c, &at[j]);
            if (is_first(at, i) && is_first(at, j) &&
                shares(&at[i], &at[j]) && x->last >= y->first &&
                y->last >= x->first)
                return true;
        }
    }
    return false;
}

static void place_all(PlanState *p, IrStmt *launch, bool apart)
{
    Clock c = {.p = p, .apart = apart,
               .fine = p->plan->rules == PLAN_TILESIM &&
                       p->device->vendor == VENDOR_AMD};

    emit(&c, launch->then);
    if (p->plan->rules == PLAN_TILELANG)
        extend_lives(&c);
    fill_early(&c);
    if (p->launch->group_of)
        live_throughout(&c);
    ir_walk(launch->then, add_unused, NULL, &c);
    if (p->plan->rules == PLAN_TILELANG)
        name_workspaces(&c);
    pack(p, c.buffers.at, c.buffers.len);
    p->launch->buffers = c.buffers.at;
    p->launch->buffer_count = c.buffers.len;
    p->launch->is_shuffled = p->plan->rules == PLAN_TILELANG &&
                             collides(p, launch, c.buffers.at, c.buffers.len);
}

// Tiles that take turns at the same bytes cost a barrier: they do only where
// that saves bytes.
bool plan_arena(PlanState *p, IrStmt *launch)
{
    int64_t statics = p->launch->static_bytes;

    place_all(p, launch, false);
    if (!p->launch->ahead_count)
        return true;
    int64_t least = p->launch->arena;
    p->launch->static_bytes = statics;
    place_all(p, launch, true);
    if (p->launch->arena == least)
        return true;
    p->launch->static_bytes = statics;
    place_all(p, launch, false);
    return true;
}
