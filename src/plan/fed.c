// fed.c - rules `tilelang`, sm_90: what upstream's producer warps bring, as a
// feed of ours.
//
// The plan says what TMA brings and what producers copy by themselves. They go
// their own way from the start of the kernel here, so that what they need on
// the way to the loop (conditions, trips of loops around it, places of tiles)
// must be computable from global memory and scalars alone.
#include "plan/feed_int.h"

typedef struct {
    FeedFind find;
    PlanFeed *feed;
    bool *repeated;                 // by statement id
    int *stores;                    // of them to each T.alloc_var
    struct {
        PlanFeedCopy *at;
        int len, room;
    } copies;
} Fed;

static PlanState *state_of(const Fed *f)
{
    return f->find.p;
}

// The first reason counts.
static void give_up(Fed *f, const IrStmt *s, const char *why)
{
    if (f->feed->unfed)
        return;
    f->feed->unfed = s;
    f->feed->why = why;
}

// ---- boxes and runs of bytes -----------------------------------------------

// Whether a run may begin or end between 16 bytes; one of several rows does not.
static bool is_ragged(const Fed *f, const PlanFeedCopy *c)
{
    const IrBuffer *g = c->map.src.buffer;
    int last = g->rank - 1, size = dtype_info(g->dtype)->bits / 8;
    int64_t n;

    return c->box[last] * size == c->bytes &&
           (!plan_divides(state_of(f), c->map.src.min[last], 16 / size) ||
            !ir_is_int(g->shape[last], &n) || n * size % 16);
}

static bool cut(Fed *f, PlanFeedCopy *c, bool bulk, int stages)
{
    const IrBuffer *tile = c->map.dst.buffer;
    int64_t elements = 1;

    if (!feed_box(c))
        return false;
    if (!bulk)
        return feed_cut(state_of(f), c, stages);
    for (int d = 0; d < c->map.src.buffer->rank; d++)
        elements *= c->box[d];
    c->bytes = elements * dtype_info(tile->dtype)->bits / 8;
    c->ragged = is_ragged(f, c);
    return c->bytes % 16 == 0;
}

static bool resolve(const Fed *f, const IrStmt *s, IrCopyMap *m)
{
    return ir_resolve_copy(state_of(f)->kernel, s->at, s->operand[0].region,
                           s->operand[1].region, m);
}

static void take_box(Fed *f, IrStmt *s, bool bulk, bool in_loop)
{
    PlanFeedCopy c = {.stmt = s, .in_loop = in_loop};
    IrBuffer *tile;

    if (s->op != OP_COPY || !resolve(f, s, &c.map)) {
        give_up(f, s, s->op == OP_IM2COL ? "T.im2col by TMA"
                                         : "TMA of this kind");
        return;
    }
    tile = c.map.dst.buffer;
    if (!feed_is_plain(&f->find, c.map.src.buffer) ||
        feed_has_view(state_of(f), tile) || !cut(f, &c, bulk, f->feed->stages))
        give_up(f, s, "TMA of this tensor or tile");
    for (int d = 0; d < c.map.src.buffer->rank; d++)
        if (!feed_can_produce(&f->find, c.map.src.min[d]))
            give_up(f, s, "a place that producers do not know");
    for (int i = 0; i < f->copies.len; i++)
        if (f->copies.at[i].map.dst.buffer == tile)
            give_up(f, s, "TMA of a tile that has another");
    vec_push(state_of(f)->arena, &f->copies, c);
}

// ---- what producers do without TMA -----------------------------------------

typedef struct {
    Fed *f;
    IrBuffer *tile;
    bool ok;
} Bring;

static void note_tile(void *ctx, IrBuffer *b, bool is_store)
{
    Bring *g = ctx;

    if (is_store && b->scope == SCOPE_SHARED)
        g->tile = b;
    const FeedFind *f = &g->f->find;
    g->ok &= is_store || f->repeated[b->id] ||
             (b->scope == SCOPE_GLOBAL && !b->pointed && !f->stored[b->id]);
}

static bool know_loop(void *ctx, IrStmt *s)
{
    Bring *g = ctx;

    for (int i = 0; s->kind == STMT_FOR && i < s->var_count; i++)
        g->f->find.known[s->vars[i]->id] = true;
    feed_learn(&g->f->find, s);
    return true;
}

static bool know_expr(void *ctx, IrExpr *x)
{
    Bring *g = ctx;

    g->ok &= feed_can_produce(&g->f->find, x);
    return g->ok;
}

static void take_threads(Fed *f, IrStmt *s)
{
    Bring g = {f, NULL, true};
    PlanFeedCopy c = {.stmt = s, .in_loop = true, .by_threads = true};

    plan_touches(state_of(f), s, note_tile, &g);
    ir_walk(s, know_loop, know_expr, &g);
    if (!g.ok || !g.tile || feed_has_view(state_of(f), g.tile)) {
        give_up(f, s, "what producers copy by themselves");
        return;
    }
    c.map.dst.buffer = g.tile;
    c.bytes = 0;
    vec_push(state_of(f)->arena, &f->copies, c);
}

// ---- the loop --------------------------------------------------------------

// Whether what comes after the loop may read what the loop left in a tile.
typedef struct {
    const IrBuffer *tile;
    const IrStmt *loop;
    bool after, written, found;
} Later;

static void look_later(Fed *f, Later *l, IrStmt *block)
{
    for (int i = 0; block && i < block->len && !l->written; i++) {
        IrStmt *s = block->body[i];
        PlanTouched t = plan_touched(state_of(f), s, l->tile);
        if (s == l->loop) {
            l->after = true;
        } else if (s->kind == STMT_BLOCK) {
            look_later(f, l, s);
        } else if (ir_has_body(s) && s->loop != LOOP_PARALLEL) {
            // It may do nothing.
            look_later(f, l, s->then);
            l->written = false;
            look_later(f, l, s->otherwise);
            l->written = false;
        } else if (l->after && t.reads + t.writes) {
            l->written = s->kind == STMT_TILE && !t.reads &&
                         plan_writes_whole(s, l->tile);
            l->found |= !l->written;
        }
    }
}

// Every trip fills a slot, and only the loop looks at it.
static void check_tile(Fed *f, IrStmt *body, PlanFeedCopy *c)
{
    PlanState *p = state_of(f);
    const IrBuffer *tile = c->map.dst.buffer;
    PlanTouched all = plan_touched(p, f->find.launch, tile);
    PlanTouched in = plan_touched(p, f->feed->loop, tile);
    Later later = {.tile = tile, .loop = f->feed->loop};
    bool done = false;

    c->elsewhere = all.reads + all.writes != in.reads + in.writes;
    if (c->elsewhere)
        look_later(f, &later, f->find.launch->then);
    if (later.found || !in.reads)
        give_up(f, c->stmt, "a fed tile that more than its loop uses");
    else if (!feed_copied_first(&f->find, body, c, &done) || !done)
        give_up(f, c->stmt, "a fed tile that is used before");
    if (p->slots[tile->id] < f->feed->stages)
        f->feed->stages = p->slots[tile->id];
}

static bool is_stage_copy(const PlanPipeline *q, const IrStmt *s)
{
    for (int i = 0; i < q->count; i++)
        if (q->stages[i].stmt == s)
            return q->stages[i].is_copy;
    return false;
}

static void take_body(Fed *f, const PlanPipeline *q, IrStmt *block)
{
    for (int i = 0; i < block->len; i++) {
        IrStmt *s = block->body[i];
        bool bulk;
        feed_learn(&f->find, s);
        if (s->kind == STMT_BLOCK)
            take_body(f, q, s);
        else if (!is_stage_copy(q, s))
            continue;
        else if (plan_is_tma(state_of(f), s, &bulk))
            take_box(f, s, bulk, true);
        else
            take_threads(f, s);
    }
}

static bool leaves(void *ctx, IrStmt *s)
{
    bool *found = ctx;

    *found |= s->kind == STMT_BREAK || s->kind == STMT_CONTINUE;
    return !*found;
}

static void take_loop(Fed *f, IrStmt *s)
{
    PlanState *p = state_of(f);
    IrStmt *body = plan_stage_body(p, s);
    bool left = false;

    f->find.known[s->vars[0]->id] = true;
    if (body != s->then)
        f->feed->guard = plan_only_stmt(p, s->then);
    for (int i = 0; i < s->then->len && f->feed->guard; i++)
        feed_learn(&f->find, s->then->body[i]);
    ir_walk(s->then, leaves, NULL, &left);
    if (left || s->var_count != 1 || s->step ||
        !feed_can_produce(&f->find, s->start[0]) ||
        !feed_can_produce(&f->find, s->extent[0]))
        give_up(f, s, "a loop that producers cannot go through");
    if (f->feed->guard && !feed_can_produce(&f->find, f->feed->guard->cond))
        give_up(f, f->feed->guard,
                "a condition that producers cannot decide");
    take_body(f, plan_pipeline(p, s), body);
    for (int i = 0; i < f->copies.len; i++)
        if (f->copies.at[i].in_loop)
            check_tile(f, body, &f->copies.at[i]);
}

// ---- scalars on the way ----------------------------------------------------

typedef struct {
    Fed *f;
    bool ok;
} Scalars;

static bool is_scalar_stmt(void *ctx, IrStmt *s)
{
    Scalars *c = ctx;

    c->ok &= s->kind == STMT_BLOCK || s->kind == STMT_LET ||
             s->kind == STMT_IF || s->kind == STMT_FOR ||
             (s->kind == STMT_STORE && s->buffer->scope == SCOPE_VAR);
    if (s->kind == STMT_FOR)
        c->ok &= s->loop == LOOP_SERIAL || s->loop == LOOP_UNROLL;
    for (int i = 0; s->kind == STMT_FOR && i < s->var_count; i++)
        c->f->find.known[s->vars[i]->id] = true;
    feed_learn(&c->f->find, s);
    return c->ok;
}

static bool is_scalar_expr(void *ctx, IrExpr *x)
{
    Scalars *c = ctx;

    c->ok &= feed_can_produce(&c->f->find, x);
    return c->ok;
}

// Statements that set nothing but T.alloc_var, of what producers know.
static bool is_repeated(Fed *f, IrStmt *s)
{
    Scalars c = {f, true};

    if (s->kind == STMT_ALLOC)
        return s->buffer->scope == SCOPE_VAR;
    if (s->kind != STMT_STORE && s->kind != STMT_FOR && s->kind != STMT_IF)
        return false;
    ir_walk(s, is_scalar_stmt, is_scalar_expr, &c);
    return c.ok;
}

static void repeat(Fed *f, IrStmt *s)
{
    PlanState *p = state_of(f);

    f->repeated[s->id] = true;
    for (int i = 0; s->kind != STMT_ALLOC && i < p->kernel->buffer_count; i++) {
        IrBuffer *b = p->kernel->buffers[i];
        if (b->scope == SCOPE_VAR)
            f->stores[i] += plan_touched(p, s, b).writes;
    }
}

// ---- the way to it ---------------------------------------------------------

static bool find_it(void *ctx, IrStmt *s)
{
    const IrStmt **wanted = ctx;

    if (*wanted == s)
        *wanted = NULL;
    return *wanted != NULL;
}

static bool holds(IrStmt *s, const IrStmt *loop)
{
    ir_walk(s, find_it, NULL, &loop);
    return !loop;
}

static void descend(Fed *f, IrStmt *block);

static void pass_through(Fed *f, IrStmt *s)
{
    bool ok = s->kind == STMT_IF || s->kind == STMT_FOR;

    if (s->kind == STMT_IF)
        ok = feed_can_produce(&f->find, s->cond);
    if (s->kind == STMT_FOR) {
        ok = s->var_count == 1 && !s->step &&
             (s->loop == LOOP_SERIAL || s->loop == LOOP_UNROLL) &&
             feed_can_produce(&f->find, s->start[0]) &&
             feed_can_produce(&f->find, s->extent[0]);
        bool left = false;
        ir_walk(s->then, leaves, NULL, &left);
        ok &= !left;
        f->feed->is_nested = true;
        f->find.known[s->vars[0]->id] = true;
    }
    if (!ok)
        give_up(f, s, "what producers cannot go through");
    descend(f, s->otherwise && holds(s->otherwise, f->feed->loop) ? s->otherwise
                                                                  : s->then);
}

static void descend(Fed *f, IrStmt *block)
{
    PlanState *p = state_of(f);

    for (int i = 0; i < block->len; i++) {
        IrStmt *s = block->body[i];
        bool bulk;
        feed_learn(&f->find, s);
        if (s == f->feed->loop) {
            take_loop(f, s);
            return;
        }
        if (s->kind == STMT_BLOCK) {
            descend(f, s);
            if (holds(s, f->feed->loop))
                return;
        } else if (ir_has_body(s) && holds(s, f->feed->loop)) {
            pass_through(f, s);
            return;
        } else if (is_repeated(f, s)) {
            repeat(f, s);
        } else if (s->kind == STMT_TILE && s->op == OP_COPY &&
                   plan_beside_fed(p, s) && plan_is_tma(p, s, &bulk) &&
                   s->operand[0].region->buffer->scope == SCOPE_GLOBAL) {
            take_box(f, s, bulk, false);
        }
    }
}

// ---- tiles that TMA stores -------------------------------------------------

static bool is_stored(const PlanMove *v)
{
    return v->way == MOVE_STORE && v->buffer &&
           v->buffer->scope == SCOPE_GLOBAL && v->stmt->op == OP_COPY &&
           (v->kind == MOVE_TMA || v->kind == MOVE_BULK);
}

static void take_store(Fed *f, const PlanMove *v)
{
    PlanFeedCopy c = {.stmt = v->stmt};
    bool bulk = v->kind == MOVE_BULK;

    if (!resolve(f, v->stmt, &c.map))
        return;
    IrCopyMap m = c.map;
    c.map.src = m.dst;
    c.map.dst = m.src;
    IrBuffer *to = c.map.src.buffer;
    bool *stored = f->find.stored, was = stored[to->id];
    stored[to->id] = false;
    if (!feed_is_plain(&f->find, to) || !cut(f, &c, bulk, 1))
        give_up(f, v->stmt, "TMA of this tensor or tile");
    stored[to->id] = was;
    f->find.p->launch->stores[f->find.p->launch->store_count++] = c;
}

static bool is_taken(const PlanLaunch *l, const IrStmt *s)
{
    for (int i = 0; i < l->store_count; i++)
        if (l->stores[i].stmt == s)
            return true;
    return false;
}

static void take_stores(Fed *f)
{
    PlanLaunch *l = state_of(f)->launch;

    l->stores = new_array(state_of(f)->arena, PlanFeedCopy, l->move_count + 1);
    for (int i = 0; i < l->move_count; i++)
        if (is_stored(&l->moves[i]) && !is_taken(l, l->moves[i].stmt))
            take_store(f, &l->moves[i]);
}

// ---- the launch ------------------------------------------------------------

static const PlanBuffer *place_of(const PlanLaunch *l, const IrBuffer *b)
{
    for (int i = 0; i < l->buffer_count; i++)
        if (l->buffers[i].ir == b)
            return &l->buffers[i];
    return NULL;
}

// Whether a tile's bytes were those of something else before.
static bool is_second(const PlanLaunch *l, const PlanBuffer *tile)
{
    for (int i = 0; i < l->buffer_count; i++) {
        const PlanBuffer *b = &l->buffers[i];
        if (b != tile && !b->is_static && !b->is_unused &&
            b->first < tile->first && b->offset < tile->offset + tile->bytes &&
            tile->offset < b->offset + b->bytes)
            return true;
    }
    return false;
}

static void settle(Fed *f)
{
    PlanLaunch *l = state_of(f)->launch;

    f->feed->copies = f->copies.at;
    f->feed->count = f->copies.len;
    f->feed->known = f->find.known;
    f->feed->repeated = f->repeated;
    f->feed->is_gated = f->feed->is_nested;
    for (int i = 0; i < f->feed->count; i++) {
        PlanFeedCopy *c = &f->feed->copies[i];
        const PlanBuffer *tile = place_of(l, c->map.dst.buffer);
        f->feed->is_gated |= c->elsewhere;
        if (!tile)
            continue;
        f->feed->is_gated |= is_second(l, tile);
        if (c->by_threads)
            c->bytes = tile->bytes / tile->copies;
    }
}

// With the variables of T.alloc_var that `repeated` has. False: producers would
// not see all that is stored in some; those are out of it.
static bool attempt(Fed *f, IrStmt *launch, bool *repeated)
{
    PlanState *p = state_of(f);
    int n = p->kernel->buffer_count;
    bool same = true;

    *f->feed = (PlanFeed){.loop = p->fed};
    f->feed->stages = (int)ir_attr_int(p->fed, ATTR_NUM_STAGES, 1);
    f->find.known = new_array(p->arena, bool, p->kernel->next_var + 1);
    f->find.repeated = repeated;
    f->repeated = new_array(p->arena, bool, p->kernel->next_stmt + 1);
    f->stores = new_array(p->arena, int, n + 1);
    f->copies.len = 0;
    for (int i = 0; i < p->kernel->body->len; i++)
        feed_learn(&f->find, p->kernel->body->body[i]);
    descend(f, launch->then);
    for (int i = 0; i < n; i++) {
        int all = plan_touched(p, launch, p->kernel->buffers[i]).writes;
        if (!repeated[i] || f->stores[i] == all)
            continue;
        repeated[i] = same = false;
    }
    return same;
}

void plan_take_feed(PlanState *p, IrStmt *launch)
{
    int n = p->kernel->buffer_count;
    bool *repeated = new_array(p->arena, bool, n + 1);
    Fed f = {.feed = &p->launch->feed};

    if (p->device->arch != ARCH_SM90)
        return;
    f.find = (FeedFind){.p = p, .launch = launch,
                        .stored = new_array(p->arena, bool, n + 1)};
    plan_touches(p, launch, feed_note_store, f.find.stored);
    for (int i = 0; i < n; i++)
        repeated[i] = p->kernel->buffers[i]->scope == SCOPE_VAR;
    while (p->fed && !attempt(&f, launch, repeated))
        ;
    if (p->fed)
        settle(&f);
    take_stores(&f);
}
