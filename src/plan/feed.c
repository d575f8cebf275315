// feed.c - rules `tilesim`, sm_90: the pipelined loop whose tiles TMA brings.
//
// One warp ahead of the block's own runs the loop as well, but only its copies
// from global memory: it fills slot after slot of each tile, as far ahead as
// there are slots, and the block's warps empty them. What a copy needs to know
// (its place, the loop's trips) must be computable from global memory and
// scalars alone.
#include "plan/feed_int.h"

// ---- what the producer can compute -----------------------------------------

static bool producible(void *ctx, IrExpr *x)
{
    FeedFind *f = ctx;

    if (x->kind == EXPR_ATOMIC)
        f->ok = false;
    if (x->kind == EXPR_LOAD)
        f->ok &= (x->buffer->scope == SCOPE_GLOBAL && !x->buffer->pointed &&
                  !f->stored[x->buffer->id]) ||
                 (f->repeated && f->repeated[x->buffer->id]);
    if (x->kind == EXPR_VAR && (x->var->kind == VAR_LET ||
                                x->var->kind == VAR_LOOP))
        f->ok &= f->known[x->var->id];
    return f->ok;
}

bool feed_can_produce(FeedFind *f, const IrExpr *x)
{
    f->ok = true;
    if (x)
        ir_walk_expr((IrExpr *)x, producible, f);
    return f->ok;
}

void feed_learn(FeedFind *f, IrStmt *s)
{
    if (s->kind == STMT_LET)
        f->known[s->var->id] = feed_can_produce(f, s->value);
}

// ---- who touches a tile ----------------------------------------------------

static void count(void *ctx, IrBuffer *b, bool is_store)
{
    PlanTouched *t = ctx;

    while (b->alias_of)
        b = b->alias_of;
    if (b == t->buffer)
        *(is_store ? &t->writes : &t->reads) += 1;
}

PlanTouched plan_touched(PlanState *p, IrStmt *s, const IrBuffer *b)
{
    PlanTouched t = {.buffer = b};

    plan_touches(p, s, count, &t);
    return t;
}

bool feed_has_view(const PlanState *p, const IrBuffer *b)
{
    for (int i = 0; i < p->kernel->buffer_count; i++)
        if (p->kernel->buffers[i]->alias_of == b)
            return true;
    return b->alias_of != NULL;
}

// ---- copies ----------------------------------------------------------------

// Loop variables that move, in the order of the buffer's dimensions.
static int movers(const IrBuffer *b, const int *map, const int64_t *extent,
                  int *out)
{
    int n = 0;

    for (int d = 0; d < b->rank; d++)
        if (map[d] >= 0 && extent[map[d]] > 1)
            out[n++] = map[d];
    return n;
}

static bool same_order(const IrCopyMap *m, const int64_t *extent)
{
    int a[IR_MAX_RANK], b[IR_MAX_RANK];
    int n = movers(m->src.buffer, m->src.map, extent, a);

    if (n != movers(m->dst.buffer, m->dst.map, extent, b) || n < 1)
        return false;
    for (int i = 0; i < n; i++)
        if (a[i] != b[i])
            return false;
    return a[n - 1] == m->src.map[m->src.buffer->rank - 1];
}

static bool covers(const IrCopyMap *m, const int64_t *extent)
{
    const IrBuffer *b = m->dst.buffer;
    int64_t size, first;

    for (int d = 0; d < b->rank; d++) {
        int64_t part = m->dst.map[d] >= 0 ? extent[m->dst.map[d]] : 1;
        if (!ir_is_int(b->shape[d], &size) || size != part)
            return false;
        if (m->dst.min[d] && (!ir_is_int(m->dst.min[d], &first) || first))
            return false;
    }
    return true;
}

bool feed_box(PlanFeedCopy *c)
{
    const IrBuffer *g = c->map.src.buffer;
    int64_t extent[IR_MAX_RANK];

    for (int i = 0; i < c->map.rank; i++)
        if (!ir_is_int(c->map.extent[i], &extent[i]))
            return false;
    for (int d = 0; d < g->rank; d++)
        c->box[d] = c->map.src.map[d] >= 0 ? extent[c->map.src.map[d]] : 1;
    return same_order(&c->map, extent) && covers(&c->map, extent);
}

bool feed_is_plain(const FeedFind *f, const IrBuffer *g)
{
    bool known = g->param >= 0 || f->p->plan->rules == PLAN_TILELANG;

    if (!known || g->rank < 1 || g->rank > 5 || g->pointed ||
        g->alias_of || g->layout || g->safe_value || f->stored[g->id])
        return false;
    for (int d = 0; d < g->rank; d++)
        if (g->strides[d])
            return false;
    return dtype_info(g->dtype)->bits >= 8;
}

static bool feedable(FeedFind *f, IrStmt *s, PlanFeedCopy *c)
{
    bool bulk;

    if (s->kind != STMT_TILE || s->op != OP_COPY ||
        (!f->by_threads && !plan_is_tma(f->p, s, &bulk)))
        return false;
    *c = (PlanFeedCopy){.stmt = s};
    if (!ir_resolve_copy(f->p->kernel, s->at, s->operand[0].region,
                         s->operand[1].region, &c->map))
        return false;
    if (c->map.src.buffer->scope != SCOPE_GLOBAL ||
        c->map.dst.buffer->scope != SCOPE_SHARED ||
        !feed_is_plain(f, c->map.src.buffer) ||
        feed_has_view(f->p, c->map.dst.buffer) || !feed_box(c))
        return false;
    for (int d = 0; d < c->map.src.buffer->rank; d++)
        if (!feed_can_produce(f, c->map.src.min[d]))
            return false;
    return plan_touched(f->p, f->launch, c->map.dst.buffer).writes == 1;
}

static void add_copy(FeedFind *f, PlanFeed *feed, IrStmt *s)
{
    PlanFeedCopy c;

    if (!feedable(f, s, &c))
        return;
    c.in_loop = feed->loop != NULL;
    if (c.in_loop) {
        PlanTouched all = plan_touched(f->p, f->launch, c.map.dst.buffer);
        PlanTouched in = plan_touched(f->p, feed->loop, c.map.dst.buffer);
        if (all.reads != in.reads || !in.reads)
            return;
    }
    vec_push(f->p->arena, &f->p->feed_copies, c);
}

static void copies_in(FeedFind *f, PlanFeed *feed, IrStmt *block)
{
    for (int i = 0; i < block->len; i++) {
        IrStmt *s = block->body[i];
        feed_learn(f, s);
        if (s->kind == STMT_BLOCK)
            copies_in(f, feed, s);
        else
            add_copy(f, feed, s);
    }
}

// ---- the loop --------------------------------------------------------------

static bool leaves(void *ctx, IrStmt *s)
{
    bool *found = ctx;

    *found |= s->kind == STMT_BREAK || s->kind == STMT_CONTINUE;
    return !*found;
}

// Trips that copies may run ahead: as written, or as far as a list of stages
// has them apart.
static int stages_of(const IrStmt *s)
{
    const IrAttrValue *a = ir_attr_get(s, ATTR_STAGE);
    int n = (int)ir_attr_int(s, ATTR_NUM_STAGES, 0);

    for (int i = 0; n < 1 && a && a->kind == ATTRVAL_LIST && i < a->list.len;
         i++)
        if (a->list.at[i].kind == ATTRVAL_INT && a->list.at[i].i64 > n)
            n = (int)a->list.at[i].i64;
    return n;
}

static bool can_feed(FeedFind *f, IrStmt *s)
{
    bool found = false;

    if (s->kind != STMT_FOR || s->loop != LOOP_PIPELINED || s->var_count != 1 ||
        stages_of(s) < 1 || s->step)
        return false;
    ir_walk(s->then, leaves, NULL, &found);
    return !found && feed_can_produce(f, s->start[0]) &&
           feed_can_produce(f, s->extent[0]);
}

static bool find_loop(FeedFind *f, PlanFeed *feed, IrStmt *block)
{
    for (int i = 0; i < block->len; i++) {
        IrStmt *s = block->body[i];
        feed_learn(f, s);
        if (s->kind == STMT_BLOCK) {
            if (find_loop(f, feed, s))
                return true;
        } else if (can_feed(f, s)) {
            int before = f->p->feed_copies.len;
            feed->loop = s;
            f->known[s->vars[0]->id] = true;
            copies_in(f, feed, s->then);
            if (f->p->feed_copies.len > before)
                return true;
            feed->loop = NULL;
        } else {
            add_copy(f, feed, s);
        }
    }
    return false;
}

// ---- launches that cannot be fed -------------------------------------------

static bool by_thread_stmt(void *ctx, IrStmt *s)
{
    FeedFind *f = ctx;

    if (s->kind == STMT_TILE) {
        OpClass c = op_info(f->p->kernel->ops, s->op)->class;
        f->ok &= c != OPCLASS_SIMT && c != OPCLASS_ARCH;
    }
    if (s->kind == STMT_ALLOC)
        f->ok &= s->buffer->scope != SCOPE_BARRIER;
    return f->ok;
}

static bool by_thread_expr(void *ctx, IrExpr *x)
{
    FeedFind *f = ctx;

    if (x->kind == EXPR_VAR)
        f->ok &= x->var->kind != VAR_THREAD;
    if (x->kind == EXPR_OP) {
        OpClass c = op_info(f->p->kernel->ops, x->op)->class;
        f->ok &= c != OPCLASS_SIMT && c != OPCLASS_ARCH;
    }
    return f->ok;
}

static bool is_whole_block(FeedFind *f)
{
    f->ok = true;
    ir_walk(f->launch->then, by_thread_stmt, by_thread_expr, f);
    return f->ok;
}

bool plan_is_whole_block(PlanState *p, IrStmt *launch)
{
    FeedFind f = {.p = p, .launch = launch};
    return launch->threads[1] * launch->threads[2] == 1 && is_whole_block(&f);
}

void feed_note_store(void *ctx, IrBuffer *b, bool is_store)
{
    bool *stored = ctx;

    while (b->alias_of)
        b = b->alias_of;
    if (is_store)
        stored[b->id] = true;
}

// Of which one lane works: a warpgroup, which can leave its registers to two
// or more others; beside one alone a warp, so that blocks need fewer.
static int producers_beside(int threads)
{
    return threads < 256 ? 32 : 128;
}

void plan_find_feed(PlanState *p, IrStmt *launch)
{
    int n = p->kernel->buffer_count;
    FeedFind f = {.p = p, .launch = launch,
              .known = new_array(p->arena, bool, p->kernel->next_var + 1),
              .stored = new_array(p->arena, bool, n + 1)};
    PlanFeed *feed = &p->launch->feed;

    p->feed_copies.len = 0;
    if (p->device->arch != ARCH_SM90 || p->launch->threads % 128 ||
        p->launch->threads + producers_beside(p->launch->threads) >
            PLAN_MAX_THREADS ||
        !plan_is_whole_block(p, launch))
        return;
    plan_touches(p, launch, feed_note_store, f.stored);
    for (int i = 0; i < p->kernel->body->len; i++)
        feed_learn(&f, p->kernel->body->body[i]);
    if (!find_loop(&f, feed, launch->then))
        return;
    feed->stages = stages_of(feed->loop);
    feed->count = p->feed_copies.len;
    feed->known = f.known;
    feed->copies = new_array(p->arena, PlanFeedCopy, feed->count + 1);
    for (int i = 0; i < feed->count; i++)
        feed->copies[i] = p->feed_copies.at[i];
}

// ---- boxes, once layouts are known -----------------------------------------

bool feed_cut(PlanState *p, PlanFeedCopy *c, int stages)
{
    const IrBuffer *b = c->map.dst.buffer, *g = c->map.src.buffer;
    const PlanShared *s = &p->shared[b->id];
    int size = dtype_info(b->dtype)->bits / 8, last = g->rank - 1;
    int64_t cols = c->box[last], elements = 1;

    for (int d = 0; d < g->rank; d++)
        elements *= c->box[d];
    c->boxes = 1;
    c->swizzle = 16 * s->swizzle;
    if (s->swizzle) {
        int64_t wide = 16 * s->swizzle / size;
        if (cols % wide || elements != s->elements)
            return false;
        c->boxes = (int)(cols / wide);
        c->box[last] = wide;
    } else if (s->address) {
        return false;
    }
    for (int d = 0; d < g->rank; d++)
        if (c->box[d] > 256)
            return false;
    c->bytes = elements * size;
    bool repeats = c->boxes > 1 || (c->in_loop && stages > 1);
    return (c->bytes / c->boxes) % (s->swizzle && repeats ? 128 * s->swizzle
                                                          : 128) == 0;
}

// False where nothing is left to be fed.
static bool any_in_loop(const PlanFeed *f)
{
    for (int i = 0; i < f->count; i++)
        if (f->copies[i].in_loop)
            return true;
    return false;
}

static void set_rings(PlanState *p)
{
    const PlanFeed *f = &p->launch->feed;

    p->launch->barriers = 0;
    for (int i = 0; i < f->count; i++) {
        const PlanFeedCopy *c = &f->copies[i];
        p->launch->barriers += c->in_loop ? 2 * f->stages : 1;
        if (c->in_loop)
            p->slots[c->map.dst.buffer->id] = f->stages;
    }
}

bool plan_shrink_feed(PlanState *p)
{
    PlanFeed *f = &p->launch->feed;

    if (f->stages < 2)
        return false;
    f->stages--;
    set_rings(p);
    return true;
}

void plan_settle_feed(PlanState *p)
{
    PlanFeed *f = &p->launch->feed;
    int kept = 0;

    for (int i = 0; i < f->count; i++)
        if (feed_cut(p, &f->copies[i], f->stages))
            f->copies[kept++] = f->copies[i];
    f->count = kept;
    if (!f->loop || !any_in_loop(f)) {
        *f = (PlanFeed){0};
        return;
    }
    p->launch->producers = producers_beside(p->launch->threads);
    set_rings(p);
}

// ---- rings that the block's own threads fill -------------------------------

// What the body does first with a tile is the copy.
bool feed_copied_first(FeedFind *f, IrStmt *block, const PlanFeedCopy *c,
                         bool *done)
{
    for (int i = 0; i < block->len && !*done; i++) {
        IrStmt *s = block->body[i];
        if (s->kind == STMT_BLOCK) {
            if (!feed_copied_first(f, s, c, done))
                return false;
        } else if (s == c->stmt) {
            *done = true;
        } else {
            PlanTouched t = plan_touched(f->p, s, c->map.dst.buffer);
            if (t.reads + t.writes)
                return false;
        }
    }
    return true;
}

enum { MAX_COPIES = 16 };

static bool is_amd(const PlanState *p)
{
    return p->device->vendor == VENDOR_AMD;
}

static bool find_ring(void *ctx, IrStmt *s)
{
    FeedFind *f = ctx;
    PlanState *p = f->p;
    PlanRing r = {.loop = s};
    PlanFeed feed = {.loop = s};

    if (s == p->launch->feed.loop || s == p->fed)
        return false;
    if (s->kind != STMT_FOR || s->loop != LOOP_PIPELINED)
        return true;
    r.stages = stages_of(s);
    f->known = new_array(p->arena, bool, p->kernel->next_var + 1);
    for (int i = 0; i < p->kernel->next_var; i++)
        f->known[i] = true;
    if (r.stages < (is_amd(p) ? 1 : 2) || !can_feed(f, s))
        return true;
    p->feed_copies.len = 0;
    copies_in(f, &feed, s->then);
    r.copies = new_array(p->arena, PlanFeedCopy, p->feed_copies.len + 1);
    for (int i = 0; i < p->feed_copies.len && r.count < MAX_COPIES; i++) {
        bool done = false;
        if (feed_copied_first(f, s->then, &p->feed_copies.at[i], &done) && done)
            r.copies[r.count++] = p->feed_copies.at[i];
    }
    r.known = f->known;
    if (r.count && is_amd(p))
        plan_add_ahead(p, &r);
    else if (r.count)
        p->launch->rings[p->launch->ring_count++] = r;
    return false;
}

static bool count_loop(void *ctx, IrStmt *s)
{
    *(int *)ctx += s->kind == STMT_FOR && s->loop == LOOP_PIPELINED;
    return true;
}

static void set_slots(PlanState *p)
{
    for (int i = 0; i < p->launch->ring_count; i++) {
        const PlanRing *r = &p->launch->rings[i];
        for (int j = 0; j < r->count; j++)
            p->slots[r->copies[j].map.dst.buffer->id] = r->stages;
    }
}

// As many slots as upstream gives each of a ring's tiles.
static void take_slots(PlanState *p)
{
    for (int i = 0; i < p->launch->ring_count; i++) {
        PlanRing *r = &p->launch->rings[i];
        for (int j = 0; j < r->count; j++) {
            int slots = p->slots[r->copies[j].map.dst.buffer->id];
            r->stages = slots < r->stages ? slots : r->stages;
        }
    }
}

void plan_find_rings(PlanState *p, IrStmt *launch)
{
    FeedFind f = {.p = p, .launch = launch, .by_threads = true,
              .stored = new_array(p->arena, bool, p->kernel->buffer_count + 1)};
    int loops = 0;

    if ((is_amd(p) && p->plan->rules == PLAN_TILELANG) || !is_whole_block(&f))
        return;
    plan_touches(p, launch, feed_note_store, f.stored);
    ir_walk(launch->then, count_loop, NULL, &loops);
    p->launch->rings = new_array(p->arena, PlanRing, loops + 1);
    p->launch->aheads = new_array(p->arena, PlanAhead, loops + 1);
    ir_walk(launch->then, find_ring, NULL, &f);
    if (p->plan->rules == PLAN_TILESIM)
        set_slots(p);
    else
        take_slots(p);
}

// One stage less for the deepest; false where all have one.
bool plan_shrink_rings(PlanState *p)
{
    PlanRing *deepest = NULL;

    for (int i = 0; i < p->launch->ring_count; i++) {
        PlanRing *r = &p->launch->rings[i];
        if (r->stages > 1 && (!deepest || r->stages > deepest->stages))
            deepest = r;
    }
    if (!deepest)
        return false;
    deepest->stages--;
    set_slots(p);
    return true;
}

const PlanFeedCopy *plan_fed_by(const PlanFeed *f, const IrBuffer *b)
{
    for (int i = 0; i < f->count; i++)
        if (f->copies[i].map.dst.buffer == b)
            return &f->copies[i];
    return NULL;
}
