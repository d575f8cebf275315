// feed.c - the loop that a producer warp feeds: TMA brings tiles into rings of
// slots, and mbarriers tell when a slot is full and when it is empty again.
//
// A ring has a full barrier per slot, on which its bytes count, and an empty
// one, on which each of the block's warps arrives. In the loop's body a tile is
// waited for before the first statement that reads it and its slot given back
// after the last.
#include "gpu_backend/emit_int.h"

#include <string.h>

const PlanFeedCopy *fed_ring(const Emit *e, const IrBuffer *b)
{
    const PlanFeedCopy *c = plan_fed_by(&e->launch->feed, b);
    return c && c->in_loop ? c : NULL;
}

static Text tile_name(const Emit *e, const PlanFeedCopy *c)
{
    return e->buffer[c->map.dst.buffer->id];
}

// ---- parameters ------------------------------------------------------------

void feed_params(Emit *e)
{
    const PlanFeed *f = &e->launch->feed;

    for (int i = 0; i < f->count; i++) {
        const PlanFeedCopy *c = &f->copies[i];
        IrBuffer *g = c->map.src.buffer;
        GpuParam p = {.kind = GPU_PARAM_TENSOR_MAP, .param = g->param,
                      .buffer = g};
        p.name = text_format(e->arena, "%.*s_map", TEXT_ARG(tile_name(e, c)));
        p.map.rank = g->rank;
        p.map.swizzle = c->swizzle;
        for (int d = 0; d < g->rank; d++) {
            p.map.size[d] = g->shape[g->rank - 1 - d];
            p.map.box[d] = c->box[g->rank - 1 - d];
        }
        e->gpu->params[e->gpu->param_count++] = p;
    }
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

static Text full(Emit *e, const PlanFeedCopy *c, const char *slot)
{
    int at = barrier_of(&e->launch->feed, c);

    if (!c->in_loop)
        return text_format(e->arena, "&barriers[%d]", at);
    return text_format(e->arena, "&barriers[%d + %s]", at, slot);
}

static Text empty(Emit *e, const PlanFeedCopy *c, const char *slot)
{
    const PlanFeed *f = &e->launch->feed;
    return text_format(e->arena, "&barriers[%d + %s]",
                       barrier_of(f, c) + f->stages, slot);
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
        line(e, "barrier_init(&barriers[%d + i], 1);", at);
        line(e, "barrier_init(&barriers[%d + i], %d);", at + f->stages,
             e->threads / 32);
        close_brace(e);
    }
    line(e, "barrier_fence();");
    close_brace(e);
    line(e, "%s;", e->dialect->barrier);
}

// ---- the producer ----------------------------------------------------------

static int64_t offset_of(const Emit *e, const IrBuffer *b)
{
    const PlanBuffer *p = arena_of(e, b);
    return p ? p->offset : 0;
}

static void bring(Emit *e, const PlanFeedCopy *c)
{
    const IrBuffer *g = c->map.src.buffer;
    Text name = tile_name(e, c), bar = full(e, c, "slot");
    int64_t offset = offset_of(e, c->map.dst.buffer);

    if (c->in_loop)
        line(e, "barrier_wait(%.*s, phase ^ 1);", TEXT_ARG(empty(e, c, "slot")));
    line(e, "barrier_expect(%.*s, %lld);", TEXT_ARG(bar), (long long)c->bytes);
    for (int b = 0; b < c->boxes; b++) {
        TextBuf at = {0};
        for (int d = g->rank - 1; d >= 0; d--) {
            Text x = c->map.src.min[d] ? expr(e, c->map.src.min[d]) : TEXT("0");
            if (d == g->rank - 1 && b)
                x = sum(e, x, text_format(e->arena, "%lld",
                                          (long long)(b * c->box[d])));
            buf_printf(&at, ", %.*s", TEXT_ARG(x));
        }
        int64_t into = offset + b * (c->bytes / c->boxes);
        Text to = c->in_loop
                      ? text_format(e->arena, "arena + %lld + slot * %lld",
                                    (long long)into, (long long)c->bytes)
                      : text_format(e->arena, "arena + %lld", (long long)into);
        line(e, "tma_load_%dd(%.*s, &%.*s_map, %.*s%.*s);", g->rank,
             TEXT_ARG(to), TEXT_ARG(name), TEXT_ARG(bar), (int)at.len, at.at);
        buf_release(&at);
    }
}

static const PlanFeedCopy *copy_of(const Emit *e, const IrStmt *s)
{
    const PlanFeed *f = &e->launch->feed;

    for (int i = 0; i < f->count; i++)
        if (f->copies[i].stmt == s)
            return &f->copies[i];
    return NULL;
}

static void loop_range(Emit *e, const IrStmt *s)
{
    Range first = interval_of(e, s->start[0]);
    Range trips = interval_of(e, s->extent[0]);

    e->range[s->vars[0]->id] = (Range){0};
    if (first.known && trips.known && trips.high > 0)
        e->range[s->vars[0]->id] = (Range){true, first.low,
                                           first.high + trips.high - 1};
}

static void loop_head(Emit *e, const IrStmt *s)
{
    IrVar *v = s->vars[0];
    Text start = expr(e, s->start[0]), name = e->var[v->id];

    open_brace(e, "for (%s %.*s = %.*s; %.*s < %.*s; %.*s++) {",
               type_of(v->dtype), TEXT_ARG(name), TEXT_ARG(start),
               TEXT_ARG(name),
               TEXT_ARG(sum(e, expr(e, s->extent[0]), start)), TEXT_ARG(name));
}

static void next_slot(Emit *e, bool keep)
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

// Statements up to the end of the loop, as far as copies need them. True once
// the loop is through.
static bool produce(Emit *e, IrStmt *block)
{
    const PlanFeed *f = &e->launch->feed;

    for (int i = 0; i < block->len && !e->failed; i++) {
        IrStmt *s = block->body[i];
        const PlanFeedCopy *c = copy_of(e, s);
        e->at = s->at;
        if (s->kind == STMT_BLOCK && produce(e, s))
            return true;
        if (c || s == f->loop)
            note_line(e, s);
        if (s->kind == STMT_LET && f->known[s->var->id])
            stmt(e, s);
        else if (c)
            bring(e, c);
        if (s == f->loop) {
            loop_range(e, s);
            line(e, "int slot = 0;");
            line(e, "u32 phase = 0;");
            loop_head(e, s);
            produce(e, s->then);
            next_slot(e, false);
            close_brace(e);
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

    if (groups >= 2 && groups <= 4)
        line(e, "registers_%s<%d>();", producer ? "fewer" : "more",
             of[groups][!producer]);
}

void feed_open(Emit *e)
{
    const PlanFeed *f = &e->launch->feed;
    Range *range = e->range;

    if (!f->loop)
        return;
    int64_t at = (e->gpu->dynamic_shared + 7) / 8 * 8;
    line(e, "u64 *const barriers = (u64 *)(arena + %lld);", (long long)at);
    e->gpu->dynamic_shared = at + 8 * e->launch->barriers;
    init_barriers(e);
    e->range = new_array(e->arena, Range, e->k->next_var + 1);
    for (int i = 0; i < e->k->next_var; i++)
        e->range[i] = range[i];
    open_brace(e, "if (warp >= %d) {", e->threads / 32);
    set_registers(e, true);
    open_brace(e, "if (tid == %d) {", e->threads);
    produce(e, e->launch->stmt->then);
    close_brace(e);
    line(e, "return;");
    close_brace(e);
    set_registers(e, false);
    e->range = range;
    hazards_clear(e);
}

// ---- the block's warps -----------------------------------------------------

bool feed_waits(Emit *e, IrStmt *s)
{
    const PlanFeedCopy *c = copy_of(e, s);

    if (c && !c->in_loop)
        line(e, "barrier_wait(%.*s, 0);", TEXT_ARG(full(e, c, "slot")));
    return c != NULL;
}

typedef struct {
    IrStmt **at;
    int len, room;
} Stmts;

static void flatten(Emit *e, IrStmt *block, Stmts *out)
{
    for (int i = 0; i < block->len; i++) {
        if (block->body[i]->kind == STMT_BLOCK)
            flatten(e, block->body[i], out);
        else if (!copy_of(e, block->body[i]))
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
    Body b = {.late = new_array(e->arena, bool, e->launch->feed.count + 1)};

    flatten(e, loop->then, &b.all);
    int n = b.rest = b.all.len;
    for (b.lead = 0; b.lead < n && !wgmma_of(e, b.all.at[b.lead]); b.lead++)
        ;
    b.lead += b.lead < n;
    const PlanGemm *g = n ? wgmma_of(e, b.all.at[n - 1]) : NULL;
    if (g && b.lead < n && apart(e, &b, g) && own_rings(e, &b))
        b.rest = n - 1;
    else
        memset(b.late, 0, sizeof *b.late * (size_t)e->launch->feed.count);
    return b;
}

static void ring_pointer(Emit *e, const PlanFeedCopy *c, bool late)
{
    const char *type = type_of(c->map.dst.buffer->dtype);

    line(e, "%s *const %.*s = (%s *)(arena + %lld + %s * %lld);", type,
         TEXT_ARG(tile_name(e, c)), type,
         (long long)offset_of(e, c->map.dst.buffer), late ? "before" : "slot",
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
             TEXT_ARG(full(e, c, b->late[i] ? "before" : "slot")),
             b->late[i] ? "before_phase" : "phase");
        waited[i] = true;
    }
}

static void give_back(Emit *e, const Body *b, const bool *done)
{
    const PlanFeed *f = &e->launch->feed;
    bool any = false;

    for (int i = 0; i < f->count; i++) {
        if (!done[i])
            continue;
        if (!any)
            line(e, "sync_warp();");
        any = true;
        line(e, "if (lane == 0)");
        line(e, "    barrier_arrive(%.*s);",
             TEXT_ARG(empty(e, &f->copies[i], b->late[i] ? "before" : "slot")));
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
} Flight;

static void land(Emit *e, Flight *f, int count)
{
    if (count < 1)
        return;
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
            give_back(e, b, done);
            continue;
        }
        if (f->len == (int)countof(f->at))
            land(e, f, 1);
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
    Flight f = {.body = b};

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
    Flight f = {.body = b};

    rings_of(e, b, true);
    part(e, &f, b->rest, b->all.len, waited);
    land(e, &f, f.len);
}

static void fed_body(Emit *e, IrStmt *s)
{
    Body b = split(e, s);
    iteration(e, &b, b.rest < b.all.len);
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
    next_slot(e, true);
    close_brace(e);
    open_brace(e, "for (%s %.*s = %.*s; %.*s < %.*s; %.*s++) {", type,
               TEXT_ARG(name), TEXT_ARG(sum(e, start, TEXT("1"))),
               TEXT_ARG(name), TEXT_ARG(end), TEXT_ARG(name));
    loop_body(e, s, fed_body);
    next_slot(e, true);
    close_brace(e);
    tail(e, b);
    close_brace(e);
}

void fed_loop(Emit *e, IrStmt *s)
{
    Body b = split(e, s);

    open_brace(e, "{");
    loop_range(e, s);
    line(e, "int slot = 0;");
    line(e, "u32 phase = 0;");
    if (b.rest < b.all.len) {
        overlapped(e, s, &b);
    } else {
        loop_head(e, s);
        loop_body(e, s, fed_body);
        next_slot(e, false);
        close_brace(e);
    }
    close_brace(e);
}
