// feed.c - the loop that a producer warp feeds: TMA brings tiles into rings of
// slots, and mbarriers tell when a slot is full and when it is empty again.
//
// A ring has a full barrier per slot, on which its bytes count, and an empty
// one, on which each of the block's warps arrives. In the loop's body a tile is
// waited for before the first statement that reads it and its slot given back
// after the last.
//
// By upstream's rules some tiles are filled by all producers without TMA; they
// all arrive then. The loop may be inside of others, which producers go through
// as well; and where tiles lie in memory that has been used before, each warp
// tells at a gate that it is past that.
#include "gpu_backend/feed.h"

const PlanFeedCopy *fed_ring(const Emit *e, const IrBuffer *b)
{
    const PlanFeedCopy *c = plan_fed_by(&e->launch->feed, b);
    return c && c->in_loop ? c : NULL;
}

Text feed_tile(const Emit *e, const PlanFeedCopy *c)
{
    return e->buffer[c->map.dst.buffer->id];
}

// ---- barriers --------------------------------------------------------------

// The first full barrier of a copy; its empty ones follow.
static int barrier_of(const PlanFeed *f, const PlanFeedCopy *c)
{
    int n = 0;

    for (int i = 0; &f->copies[i] != c; i++)
        n += f->copies[i].in_loop ? 2 * f->stages : 1;
    return n;
}

Text feed_full(Emit *e, const PlanFeedCopy *c, const char *slot)
{
    int at = barrier_of(&e->launch->feed, c);

    if (!c->in_loop)
        return text_format(e->arena, "&barriers[%d]", at);
    return text_format(e->arena, "&barriers[%d + %s]", at, slot);
}

Text feed_empty(Emit *e, const PlanFeedCopy *c, const char *slot)
{
    const PlanFeed *f = &e->launch->feed;
    return text_format(e->arena, "&barriers[%d + %s]",
                       barrier_of(f, c) + f->stages, slot);
}

static int barrier_count(const PlanFeed *f)
{
    return barrier_of(f, f->copies + f->count) + f->is_gated;
}

static Text gate(Emit *e)
{
    return text_format(e->arena, "&barriers[%d]",
                       barrier_count(&e->launch->feed) - 1);
}

static void init_barriers(Emit *e)
{
    const PlanFeed *f = &e->launch->feed;

    open_brace(e, "if (tid == 0) {");
    for (int i = 0; i < f->count; i++) {
        const PlanFeedCopy *c = &f->copies[i];
        int at = barrier_of(f, c);
        if (!c->in_loop) {
            line(e, "barrier_init(&barriers[%d], 1);", at);
            continue;
        }
        open_brace(e, "for (int i = 0; i < %d; i++) {", f->stages);
        line(e, "barrier_init(&barriers[%d + i], %d);", at,
             c->by_threads ? e->launch->producers : 1);
        line(e, "barrier_init(&barriers[%d + i], %d);", at + f->stages,
             e->threads / 32);
        close_brace(e);
    }
    if (f->is_gated)
        line(e, "barrier_init(%.*s, %d);", TEXT_ARG(gate(e)), e->threads / 32);
    line(e, "barrier_fence();");
    close_brace(e);
    line(e, "%s;", e->dialect->barrier);
}

// ---- the producer ----------------------------------------------------------

int64_t feed_offset(const Emit *e, const IrBuffer *b)
{
    const PlanBuffer *p = arena_of(e, b);
    return p ? p->offset : 0;
}

// All producers do what TMA does not; they go together then.
static bool goes_by_threads(const PlanFeed *f)
{
    for (int i = 0; i < f->count; i++)
        if (f->copies[i].by_threads)
            return true;
    return false;
}

// As stmt.c would have them, among the producers' threads.
static void bring_by_threads(Emit *e, const PlanFeedCopy *c)
{
    IrBuffer *tile = c->map.dst.buffer;
    const PlanMove *v = plan_copy_move(e->launch, c->stmt);
    const char *type = type_of(tile->dtype);
    int threads = e->threads;

    open_brace(e, "{");
    line(e, "%s *const %.*s = (%s *)(arena + %lld + slot * %lld);", type,
         TEXT_ARG(feed_tile(e, c)), type, (long long)feed_offset(e, tile),
         (long long)c->bytes);
    e->threads = e->launch->producers;
    e->in_ring = e->filling = true;
    hazards_clear(e);
    fill_stmt(e, (IrStmt *)c->stmt);
    e->in_ring = e->filling = false;
    e->threads = threads;
    line(e, "%s(%.*s);", v && v->kind == MOVE_CP_ASYNC ? "cp_async_arrive"
                                                       : "barrier_arrive",
         TEXT_ARG(feed_full(e, c, "slot")));
    close_brace(e);
}

static void bring(Emit *e, const PlanFeedCopy *c)
{
    bool one = goes_by_threads(&e->launch->feed) && !c->by_threads;

    if (c->in_loop)
        line(e, "barrier_wait(%.*s, phase ^ 1);",
             TEXT_ARG(feed_empty(e, c, "slot")));
    if (one)
        open_brace(e, "if (tid == 0) {");
    if (c->by_threads)
        bring_by_threads(e, c);
    else
        tma_load(e, c, feed_full(e, c, "slot"));
    if (one)
        close_brace(e);
}

// ---- the gate --------------------------------------------------------------

static void pass_gate(Emit *e)
{
    if (!e->launch->feed.is_gated)
        return;
    line(e, "barrier_wait(%.*s, gate_phase);", TEXT_ARG(gate(e)));
    line(e, "gate_phase ^= 1;");
}

static void open_gate(Emit *e)
{
    if (!e->launch->feed.is_gated)
        return;
    line(e, "fence_async();");
    line(e, "sync_warp();");
    line(e, "if (lane == 0)");
    line(e, "    barrier_arrive(%.*s);", TEXT_ARG(gate(e)));
}

// A loop without trips fills nothing: nobody would be waited for.
static void before_loop(Emit *e, const IrStmt *s, void at_gate(Emit *e))
{
    if (!e->launch->feed.is_gated)
        return;
    open_brace(e, "if (%.*s > 0) {", TEXT_ARG(expr(e, s->extent[0])));
    at_gate(e);
    close_brace(e);
}

const PlanFeedCopy *fed_copy(const Emit *e, const IrStmt *s)
{
    const PlanFeed *f = &e->launch->feed;

    for (int i = 0; i < f->count; i++)
        if (f->copies[i].stmt == s)
            return &f->copies[i];
    return NULL;
}

void feed_range(Emit *e, const IrStmt *s)
{
    Range first = interval_of(e, s->start[0]);
    Range trips = interval_of(e, s->extent[0]);

    e->range[s->vars[0]->id] = (Range){0};
    if (first.known && trips.known && trips.high > 0)
        e->range[s->vars[0]->id] = (Range){true, first.low,
                                           first.high + trips.high - 1};
}

void feed_head(Emit *e, const IrStmt *s)
{
    IrVar *v = s->vars[0];
    Text start = expr(e, s->start[0]), name = e->var[v->id];

    open_brace(e, "for (%s %.*s = %.*s; %.*s < %.*s; %.*s++) {",
               type_of(v->dtype), TEXT_ARG(name), TEXT_ARG(start),
               TEXT_ARG(name),
               TEXT_ARG(sum(e, expr(e, s->extent[0]), start)), TEXT_ARG(name));
}

void feed_next_slot(Emit *e, bool keep)
{
    if (keep) {
        line(e, "before = slot;");
        line(e, "before_phase = phase;");
    }
    open_brace(e, "if (++slot == %d) {", e->launch->feed.stages);
    line(e, "slot = 0;");
    line(e, "phase ^= 1;");
    close_brace(e);
}

// Where the loop is in others, its slots go on from trip to trip of these.
static void counters(Emit *e)
{
    line(e, "int slot = 0;");
    line(e, "u32 phase = 0;");
    if (e->launch->feed.is_nested)
        line(e, "u32 ahead_phase = 0;");
}

static void next_turn(Emit *e)
{
    if (e->launch->feed.is_nested)
        line(e, "ahead_phase ^= 1;");
}

static bool produce(Emit *e, IrStmt *block);

static void produce_loop(Emit *e, IrStmt *s)
{
    const PlanFeed *f = &e->launch->feed;

    note_line(e, s);
    feed_range(e, s);
    if (!f->is_nested)
        counters(e);
    before_loop(e, s, pass_gate);
    feed_head(e, s);
    produce(e, s->then);
    if (!f->guard)
        feed_next_slot(e, false);
    close_brace(e);
    next_turn(e);
}

// What is on the way to the loop, or around what it does.
static void produce_inside(Emit *e, IrStmt *s)
{
    note_line(e, s);
    if (s->kind == STMT_FOR) {
        feed_range(e, s);
        feed_head(e, s);
        produce(e, s->then);
        close_brace(e);
        return;
    }
    open_brace(e, "if (%.*s) {", TEXT_ARG(expr(e, s->cond)));
    produce(e, s->then);
    if (s == e->launch->feed.guard)
        feed_next_slot(e, false);
    close_brace(e);
    if (!s->otherwise)
        return;
    open_brace(e, "else {");
    produce(e, s->otherwise);
    close_brace(e);
}

static bool find_fed(void *ctx, IrStmt *s)
{
    const IrStmt **wanted = ctx;

    if (*wanted == s)
        *wanted = NULL;
    return *wanted != NULL;
}

static bool leads_to(const PlanFeed *f, IrStmt *s)
{
    const IrStmt *loop = f->loop;

    if ((s->kind != STMT_FOR && s->kind != STMT_IF) ||
        (f->repeated && f->repeated[s->id]))
        return false;
    ir_walk(s, find_fed, NULL, &loop);
    return !loop || s == f->guard;
}

// Statements up to the end of the loop, as far as copies need them. True once
// the loop is through.
static bool produce(Emit *e, IrStmt *block)
{
    const PlanFeed *f = &e->launch->feed;

    for (int i = 0; i < block->len && !e->failed; i++) {
        IrStmt *s = block->body[i];
        const PlanFeedCopy *c = fed_copy(e, s);
        e->at = s->at;
        if (s->kind == STMT_BLOCK && produce(e, s))
            return true;
        if (c)
            note_line(e, s);
        if ((s->kind == STMT_LET && f->known[s->var->id]) ||
            (f->repeated && f->repeated[s->id]))
            stmt(e, s);
        if (c && !c->in_loop)
            pass_gate(e);
        if (c) {
            bring(e, c);
        } else if (s == f->loop) {
            produce_loop(e, s);
            return true;
        } else if (leads_to(f, s)) {
            produce_inside(e, s);
            if (s != f->guard)
                return true;
        }
    }
    return false;
}

// Registers that the producer's warps leave to the others.
static void set_registers(Emit *e, bool producer)
{
    static const int of[][2] = {{0}, {0}, {24, 240}, {32, 160}, {24, 112}};
    int groups = e->threads / 128;

    // As many producers as others.
    if (e->launch->producers == e->threads && groups == 2)
        line(e, "registers_%s<%d>();", producer ? "fewer" : "more",
             producer ? 56 : 200);
    else if (e->launch->producers <= 128 && groups >= 2 && groups <= 4)
        line(e, "registers_%s<%d>();", producer ? "fewer" : "more",
             of[groups][!producer]);
}

// Producers that share work count from 0.
static void number_producers(Emit *e)
{
    line(e, "const int tid = (int)%s - %d, warp = tid / %d;",
         e->dialect->thread[0], e->threads, e->lanes);
    line(e, "(void)warp;");
}

void feed_open(Emit *e)
{
    const PlanFeed *f = &e->launch->feed;
    Range *range = e->range;

    if (!f->loop)
        return;
    int64_t at = (e->gpu->dynamic_shared + 7) / 8 * 8;
    line(e, "u64 *const barriers = (u64 *)(arena + %lld);", (long long)at);
    e->gpu->dynamic_shared = at + 8 * barrier_count(f);
    e->has_async |= e->plan->rules == PLAN_TILELANG;
    init_barriers(e);
    e->range = new_array(e->arena, Range, e->k->next_var + 1);
    for (int i = 0; i < e->k->next_var; i++)
        e->range[i] = range[i];
    open_brace(e, "if (warp >= %d) {", e->threads / 32);
    set_registers(e, true);
    bool one = !goes_by_threads(f);
    if (one)
        open_brace(e, "if (tid == %d) {", e->threads);
    else
        number_producers(e);
    if (f->is_gated)
        line(e, "u32 gate_phase = 0;");
    if (f->is_nested)
        counters(e);
    produce(e, e->launch->stmt->then);
    if (one)
        close_brace(e);
    line(e, "return;");
    close_brace(e);
    set_registers(e, false);
    if (f->is_nested)
        counters(e);
    e->range = range;
    hazards_clear(e);
}

// ---- the block's warps -----------------------------------------------------

bool feed_waits(Emit *e, IrStmt *s)
{
    const PlanFeedCopy *c = fed_copy(e, s);

    if (c && !c->in_loop) {
        open_gate(e);
        line(e, "barrier_wait(%.*s, %s);", TEXT_ARG(feed_full(e, c, "slot")),
             e->launch->feed.is_nested ? "ahead_phase" : "0");
    }
    return c != NULL;
}

void feed_enter(Emit *e, const IrStmt *s)
{
    if (!e->launch->feed.is_nested)
        counters(e);
    before_loop(e, s, open_gate);
}

void feed_leave(Emit *e)
{
    next_turn(e);
}
