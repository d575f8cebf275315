// fed_loop.c - the fed loop as the block's warps run it: tiles are waited for,
// products fly as long as nobody needs them, slots are given back.
#include <string.h>

#include "gpu_backend/feed.h"

typedef struct {
    IrStmt **at;
    int len, room;
} Stmts;

static void flatten(Emit *e, IrStmt *block, Stmts *out)
{
    for (int i = 0; i < block->len; i++) {
        if (block->body[i]->kind == STMT_BLOCK)
            flatten(e, block->body[i], out);
        else if (!fed_copy(e, block->body[i]))
            vec_push(e->arena, out, block->body[i]);
    }
}

// The loop's body in parts: `lead` up to the first product, `rest`, and a last
// product that may wait for the next iteration's lead, so that the unit has
// work while the block's threads go through `rest`.
typedef struct {
    Stmts all;
    int lead, rest;                 // where they end; rest .. all.len: the tail
    bool *late;                     // by copy: read by the tail alone
} Body;

static bool reads_ring(Emit *e, const Body *b, int from, int to,
                       const PlanFeedCopy *c)
{
    for (int i = from; i < to; i++)
        if (touches(e, b->all.at[i], c->map.dst.buffer))
            return true;
    return false;
}

static bool apart(Emit *e, const Body *b, const PlanGemm *g)
{
    // One slot would be waited for by its own reader; and what says whether to
    // start from 0 may ask for the iteration.
    if (e->launch->feed.stages < 2 || gemm_clears(e, g))
        return false;
    for (int i = 0; i < b->lead; i++) {
        IrStmt *s = b->all.at[i];
        if (touches(e, s, g->c) || touches(e, s, g->a) || writes(e, s, g->b))
            return false;
    }
    return true;
}

// The rings that the tail reads are its own.
static bool own_rings(Emit *e, Body *b)
{
    const PlanFeed *f = &e->launch->feed;
    int n = b->all.len;

    for (int i = 0; i < f->count; i++) {
        const PlanFeedCopy *c = &f->copies[i];
        b->late[i] = c->in_loop && reads_ring(e, b, n - 1, n, c);
        if (b->late[i] && reads_ring(e, b, 0, n - 1, c))
            return false;
    }
    return true;
}

static Body split(Emit *e, IrStmt *loop)
{
    const PlanFeed *f = &e->launch->feed;
    Body b = {.late = new_array(e->arena, bool, f->count + 1)};

    flatten(e, f->guard ? f->guard->then : loop->then, &b.all);
    int n = b.rest = b.all.len;
    for (b.lead = 0; b.lead < n && !wgmma_of(e, b.all.at[b.lead]); b.lead++)
        ;
    b.lead += b.lead < n;
    const PlanGemm *g = n ? wgmma_of(e, b.all.at[n - 1]) : NULL;
    if (e->plan->rules == PLAN_TILESIM && g && b.lead < n &&
        apart(e, &b, g) && own_rings(e, &b))
        b.rest = n - 1;
    else
        memset(b.late, 0, sizeof *b.late * (size_t)f->count);
    return b;
}

static void ring_pointer(Emit *e, const PlanFeedCopy *c, bool late)
{
    const char *type = type_of(c->map.dst.buffer->dtype);

    line(e, "%s *const %.*s = (%s *)(arena + %lld + %s * %lld);", type,
         TEXT_ARG(feed_tile(e, c)), type,
         (long long)feed_offset(e, c->map.dst.buffer), late ? "before" : "slot",
         (long long)c->bytes);
}

// Rings that the part reads first are waited for.
static void wait_rings(Emit *e, const Body *b, IrStmt *s, bool *waited)
{
    const PlanFeed *f = &e->launch->feed;

    for (int i = 0; i < f->count; i++) {
        const PlanFeedCopy *c = &f->copies[i];
        if (!c->in_loop || waited[i] || !touches(e, s, c->map.dst.buffer))
            continue;
        line(e, "barrier_wait(%.*s, %s);",
             TEXT_ARG(feed_full(e, c, b->late[i] ? "before" : "slot")),
             b->late[i] ? "before_phase" : "phase");
        if (c->by_threads && e->has_async)
            line(e, "fence_async();");
        waited[i] = true;
    }
}

// A ring that the threads themselves use, not the matrix unit alone.
static bool used_by_threads(Emit *e, const Body *b, const PlanFeedCopy *c)
{
    for (int i = 0; i < b->all.len; i++)
        if (!wgmma_of(e, b->all.at[i]) && reads_ring(e, b, i, i + 1, c))
            return true;
    return false;
}

// Where threads read or wrote, the copy engine may write once a fence is behind
// that: reads may still be under way when their warp arrives.
static void finish_uses(Emit *e, const Body *b, const bool *done)
{
    const PlanFeed *f = &e->launch->feed;

    for (int i = 0; i < f->count; i++) {
        const PlanFeedCopy *c = &f->copies[i];
        if (done[i] && !c->by_threads && used_by_threads(e, b, c)) {
            line(e, "fence_async();");
            return;
        }
    }
}

static void give_back(Emit *e, const Body *b, const bool *done)
{
    const PlanFeed *f = &e->launch->feed;
    bool any = false;

    for (int i = 0; i < f->count; i++) {
        if (!done[i])
            continue;
        if (!any) {
            finish_uses(e, b, done);
            line(e, "sync_warp();");
        }
        any = true;
        line(e, "if (lane == 0)");
        line(e, "    barrier_arrive(%.*s);",
             TEXT_ARG(feed_empty(e, &f->copies[i],
                                 b->late[i] ? "before" : "slot")));
    }
}

// Products under way, oldest first, and the rings that each reads last.
typedef struct {
    const Body *body;
    struct {
        const PlanGemm *g;
        bool *done;
    } at[8];
    int len;
    bool *fresh;                    // by buffer id: written since the last wait
} Flight;

static void land(Emit *e, Flight *f, int count)
{
    if (count < 1)
        return;
    for (int i = 0; i < e->k->buffer_count; i++)
        if (f->fresh[i])
            line(e, "keep(%.*s);", TEXT_ARG(e->buffer[i]));
    memset(f->fresh, 0, sizeof *f->fresh * (size_t)e->k->buffer_count);
    line(e, "wgmma_wait<%d>();", f->len - count);
    for (int i = 0; i < count; i++)
        give_back(e, f->body, f->at[i].done);
    for (int i = count; i < f->len; i++)
        f->at[i - count] = f->at[i];
    f->len -= count;
}

// Those whose results or operands a statement needs.
static void land_for(Emit *e, Flight *f, IrStmt *s)
{
    const PlanGemm *mine = wgmma_of(e, s);
    int count = 0;

    for (int i = 0; i < f->len; i++) {
        const PlanGemm *g = f->at[i].g;
        bool adds = mine && mine->c == g->c && mine->a != g->c &&
                    !gemm_clears(e, mine);
        if ((touches(e, s, g->c) && !adds) || writes(e, s, g->a) ||
            writes(e, s, g->b))
            count = i + 1;
    }
    land(e, f, count);
}

// By copy: whether `at` is the last of the iteration's statements to read it.
static bool *last_reads(Emit *e, const Body *b, int at)
{
    const PlanFeed *f = &e->launch->feed;
    bool *done = new_array(e->arena, bool, f->count + 1);

    for (int i = 0; i < f->count; i++) {
        const PlanFeedCopy *c = &f->copies[i];
        done[i] = c->in_loop && reads_ring(e, b, at, at + 1, c) &&
                  !reads_ring(e, b, at + 1, b->all.len, c);
    }
    return done;
}

// T.clear just before a product into the same tile: the product starts from 0.
static bool clears_next(Emit *e, const Body *b, int at, int to)
{
    IrStmt *s = b->all.at[at];
    const PlanGemm *g = at + 1 < to ? wgmma_of(e, b->all.at[at + 1]) : NULL;

    return g && s->kind == STMT_TILE && s->op == OP_CLEAR &&
           s->operand[0].region->form == REGION_WHOLE &&
           s->operand[0].region->buffer == g->c && !gemm_clears(e, g);
}

// Registers that are worth a product's time.
static void note_fresh(Emit *e, Flight *f, IrStmt *s)
{
    enum { MANY = 8 };

    for (int i = 0; f->len && i < e->k->buffer_count; i++) {
        IrBuffer *b = e->k->buffers[i];
        if (b->dtype == DT_F32 && in_registers(e, b) &&
            e->plan->fragments[i]->locals >= MANY && writes(e, s, b))
            f->fresh[i] = true;
    }
}

static void part(Emit *e, Flight *f, int from, int to, bool *waited)
{
    const Body *b = f->body;

    for (int i = from; i < to && !e->failed; i++) {
        IrStmt *s = b->all.at[i];
        const PlanGemm *g = wgmma_of(e, s);
        if (clears_next(e, b, i, to)) {
            land_for(e, f, s);
            e->from_zero = b->all.at[i + 1];
            continue;
        }
        land_for(e, f, s);
        wait_rings(e, b, s, waited);
        e->in_flight = g != NULL;
        stmt(e, s);
        e->in_flight = false;
        e->from_zero = NULL;
        bool *done = last_reads(e, b, i);
        if (!g) {
            note_fresh(e, f, s);
            give_back(e, b, done);
            continue;
        }
        if (f->len == (int)countof(f->at))
            land(e, f, 1);
        f->fresh[g->c->id] = false;
        f->at[f->len].g = g;
        f->at[f->len++].done = done;
    }
}

static void rings_of(Emit *e, const Body *b, bool late)
{
    const PlanFeed *f = &e->launch->feed;

    for (int i = 0; i < f->count; i++)
        if (f->copies[i].in_loop && b->late[i] == late)
            ring_pointer(e, &f->copies[i], late);
}

static void iteration(Emit *e, const Body *b, bool with_tail)
{
    bool *waited = new_array(e->arena, bool, e->launch->feed.count + 1);
    Flight f = {.body = b,
                .fresh = new_array(e->arena, bool, e->k->buffer_count + 1)};

    rings_of(e, b, false);
    if (with_tail)
        rings_of(e, b, true);
    part(e, &f, 0, b->lead, waited);
    if (with_tail)
        part(e, &f, b->rest, b->all.len, waited);
    part(e, &f, b->lead, b->rest, waited);
    land(e, &f, f.len);
}

static void tail(Emit *e, const Body *b)
{
    bool *waited = new_array(e->arena, bool, e->launch->feed.count + 1);
    Flight f = {.body = b,
                .fresh = new_array(e->arena, bool, e->k->buffer_count + 1)};

    rings_of(e, b, true);
    part(e, &f, b->rest, b->all.len, waited);
    land(e, &f, f.len);
}

// Lets that are beside the condition which all the loop does is under.
static void before_guard(Emit *e, IrStmt *block)
{
    for (int i = 0; i < block->len; i++) {
        if (block->body[i]->kind == STMT_BLOCK)
            before_guard(e, block->body[i]);
        else if (block->body[i] != e->launch->feed.guard)
            stmt(e, block->body[i]);
    }
}

static void fed_body(Emit *e, IrStmt *s)
{
    const IrStmt *guard = e->launch->feed.guard;
    Body b = split(e, s);

    if (guard) {
        before_guard(e, s->then);
        open_brace(e, "if (%.*s) {", TEXT_ARG(expr(e, guard->cond)));
    }
    iteration(e, &b, b.rest < b.all.len);
    if (guard) {
        feed_next_slot(e, false);
        close_brace(e);
    }
}

// The first iteration has no product of the one before, and the last one's
// comes after the loop.
static void overlapped(Emit *e, IrStmt *s, const Body *b)
{
    IrVar *v = s->vars[0];
    const char *type = type_of(v->dtype);
    Text start = expr(e, s->start[0]), name = e->var[v->id];
    Text end = sum(e, expr(e, s->extent[0]), start);

    line(e, "int before = 0;");
    line(e, "u32 before_phase = 0;");
    open_brace(e, "if (%.*s < %.*s) {", TEXT_ARG(start), TEXT_ARG(end));
    open_brace(e, "{");
    line(e, "const %s %.*s = %.*s;", type, TEXT_ARG(name), TEXT_ARG(start));
    iteration(e, b, false);
    feed_next_slot(e, true);
    close_brace(e);
    open_brace(e, "for (%s %.*s = %.*s; %.*s < %.*s; %.*s++) {", type,
               TEXT_ARG(name), TEXT_ARG(sum(e, start, TEXT("1"))),
               TEXT_ARG(name), TEXT_ARG(end), TEXT_ARG(name));
    loop_body(e, s, fed_body);
    feed_next_slot(e, true);
    close_brace(e);
    tail(e, b);
    close_brace(e);
}

void fed_loop(Emit *e, IrStmt *s)
{
    Body b = split(e, s);

    open_brace(e, "{");
    feed_range(e, s);
    feed_enter(e, s);
    if (b.rest < b.all.len) {
        overlapped(e, s, &b);
    } else {
        feed_head(e, s);
        loop_body(e, s, fed_body);
        if (!e->launch->feed.guard)
            feed_next_slot(e, false);
        close_brace(e);
    }
    feed_leave(e);
    close_brace(e);
}
