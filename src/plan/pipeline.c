// pipeline.c - stages of T.Pipelined loops, slots of the buffers they fill,
// and the producer warps of sm_90.
//
// A copy into shared memory belongs to stage 0 and is issued right after the
// last statement that reads what it overwrites; all else is `num_stages` later.
// If that puts every copy at the end, they are issued first instead, and the
// rest is one stage nearer.
#include "plan/plan_int.h"

#include <stdlib.h>

// ---- what a statement does -------------------------------------------------

typedef struct {
    const IrBuffer *buffer;
    bool reads, writes;             // of `buffer`
    bool to_shared, to_other, from_global, from_other;
} Use;

static void note_use(void *ctx, IrBuffer *b, bool is_store)
{
    Use *u = ctx;
    bool shared = b->scope == SCOPE_SHARED || b->scope == SCOPE_SHARED_STATIC;

    if (b == u->buffer && is_store)
        u->writes = true;
    if (b == u->buffer && !is_store)
        u->reads = true;
    if (is_store && shared)
        u->to_shared = true;
    else if (is_store)
        u->to_other = true;
    else if (b->scope == SCOPE_GLOBAL)
        u->from_global = true;
    else if (b->scope != SCOPE_VAR)     // of an index
        u->from_other = true;
}

static Use use_of(PlanState *p, IrStmt *s, const IrBuffer *b)
{
    Use u = {.buffer = b};
    plan_touches(p, s, note_use, &u);
    return u;
}

static bool find_sum(void *ctx, IrStmt *s)
{
    bool *computes = ctx;

    *computes |= s->kind == STMT_STORE && s->value->kind != EXPR_LOAD;
    return true;
}

// A loop that computes what it stores is no copy where nobody but the threads
// that wait for it could do it.
static bool only_moves(const PlanState *p, IrStmt *s)
{
    bool computes = false;

    if (s->kind == STMT_FOR && p->device->arch != ARCH_SM90)
        ir_walk(s->then, find_sum, NULL, &computes);
    return !computes;
}

static bool is_copy(PlanState *p, IrStmt *s)
{
    Use u = use_of(p, s, NULL);
    bool form = s->kind == STMT_FOR
                    ? s->loop == LOOP_PARALLEL
                    : s->kind == STMT_TILE &&
                          (s->op == OP_COPY || s->op == OP_IM2COL);

    return form && u.to_shared && u.from_global && !u.to_other &&
           !u.from_other && only_moves(p, s);
}

static bool is_tma_load(PlanState *p, IrStmt *s)
{
    bool bulk;
    return is_copy(p, s) && plan_is_tma(p, s, &bulk);
}

static IrBuffer *copy_target(PlanState *p, IrStmt *s)
{
    for (int i = 0; i < p->kernel->buffer_count; i++) {
        IrBuffer *b = p->kernel->buffers[i];
        if (use_of(p, s, b).writes)
            return b;
    }
    return NULL;
}

// ---- stages ----------------------------------------------------------------

static bool is_scheduled(const PlanState *p, const IrStmt *s)
{
    if (s->kind == STMT_LET || s->kind == STMT_ALLOC)
        return false;
    return s->kind != STMT_TILE ||
           op_info(p->kernel->ops, s->op)->class != OPCLASS_HINT;
}

// A loop that does all it does under one condition is pipelined as if there
// were none.
static bool is_guard(const IrStmt *s)
{
    return s && s->kind == STMT_IF && !s->otherwise;
}

IrStmt *plan_only_stmt(PlanState *p, IrStmt *block)
{
    IrStmt *only = NULL;

    for (int i = 0; i < block->len; i++) {
        if (!is_scheduled(p, block->body[i]))
            continue;
        if (only)
            return NULL;
        only = block->body[i];
    }
    return only;
}

IrStmt *plan_stage_body(PlanState *p, IrStmt *loop)
{
    IrStmt *only = plan_only_stmt(p, loop->then);

    return is_guard(only) ? only->then : loop->then;
}

static void add_stage(PlanState *p, PlanPipeline *q, IrStmt *s)
{
    int place = q->count++;

    q->stages[place] = (PlanStage){.stmt = s,
                                   .place = place,
                                   .is_copy = is_copy(p, s),
                                   .last_use = -1};
}

static void gather(PlanState *p, PlanPipeline *q, IrStmt *block)
{
    for (int i = 0; i < block->len; i++) {
        IrStmt *s = block->body[i];
        if (s->kind == STMT_BLOCK)
            gather(p, q, s);
        else if (is_scheduled(p, s))
            add_stage(p, q, s);
    }
}

static int count_in(const IrStmt *block)
{
    int n = 0;
    for (int i = 0; i < block->len; i++)
        n += block->body[i]->kind == STMT_BLOCK ? count_in(block->body[i]) : 1;
    return n;
}

// The last of the later statements that read what a copy fills.
static int last_use(PlanState *p, const PlanPipeline *q, const PlanStage *c)
{
    const IrBuffer *b = copy_target(p, c->stmt);
    int last = -1;

    for (int i = c->place + 1; i < q->count; i++)
        if (use_of(p, q->stages[i].stmt, b).reads)
            last = i;
    return last;
}

// All copies come after all else.
static int copies_at_end(const PlanPipeline *q)
{
    int copies = 0, first = q->count, last = 0;

    for (int i = 0; i < q->count; i++) {
        const PlanStage *s = &q->stages[i];

        copies += s->is_copy;
        if (s->is_copy && s->order < first)
            first = s->order;
        if (!s->is_copy && s->order > last)
            last = s->order;
    }
    return first > last ? copies : 0;
}

static void plan_stages(PlanState *p, PlanPipeline *q, int num_stages)
{
    int order = 0;

    for (int i = 0; i < q->count; i++)
        if (q->stages[i].is_copy)
            q->stages[i].last_use = last_use(p, q, &q->stages[i]);
    for (int i = 0; i < q->count; i++) {
        PlanStage *s = &q->stages[i];
        if (s->last_use >= 0)
            continue;
        s->stage = num_stages;
        s->order = order++;
        for (int j = 0; j < q->count; j++)
            if (q->stages[j].last_use == i)
                q->stages[j].order = order++;
    }
    int copies = copies_at_end(q);
    if (copies == 0 || num_stages < 2)
        return;
    for (int i = 0; i < q->count; i++) {
        PlanStage *s = &q->stages[i];
        s->order = (s->order + copies) % q->count;
        s->stage -= !s->is_copy;
    }
}

static int list_int(const IrAttrValue *v, int i)
{
    if (i >= v->list.len)
        return 0;
    const IrAttrValue *x = &v->list.at[i];
    int64_t n = x->kind == ATTRVAL_INT ? x->i64 : 0;
    if (x->kind == ATTRVAL_EXPR)
        ir_is_int(x->expr, &n);
    return (int)n;
}

static int by_order(const void *x, const void *y)
{
    const PlanStage *a = x, *b = y;
    return (a->order > b->order) - (a->order < b->order);
}

static bool has_manual_stages(const IrStmt *loop)
{
    const IrAttrValue *order = ir_attr_get(loop, ATTR_ORDER);
    const IrAttrValue *stage = ir_attr_get(loop, ATTR_STAGE);
    return order && stage && order->kind == ATTRVAL_LIST && order->list.len &&
           stage->kind == ATTRVAL_LIST && stage->list.len;
}

PlanPipeline *plan_pipeline(PlanState *p, IrStmt *loop)
{
    int num_stages = (int)ir_attr_int(loop, ATTR_NUM_STAGES, 0);
    bool manual = has_manual_stages(loop);

    // Without asynchronous copies there is nothing to overlap.
    if (!manual && (num_stages < 1 || p->device->arch == ARCH_GFX942))
        return NULL;
    PlanPipeline *q = new (p->arena, PlanPipeline);
    q->loop = loop;
    q->trips = -1;
    plan_constant(p, loop->extent[0], &q->trips);
    IrStmt *body = plan_stage_body(p, loop);
    q->guarded = body != loop->then;
    q->stages = new_array(p->arena, PlanStage, count_in(body) + 1);
    gather(p, q, body);
    if (manual) {
        for (int i = 0; i < q->count; i++) {
            q->stages[i].order = list_int(ir_attr_get(loop, ATTR_ORDER), i);
            q->stages[i].stage = list_int(ir_attr_get(loop, ATTR_STAGE), i);
        }
    } else {
        plan_stages(p, q, num_stages);
    }
    for (int i = 0; i < q->count; i++)
        if (q->stages[i].stage > q->depth)
            q->depth = q->stages[i].stage;
    qsort(q->stages, q->count, sizeof *q->stages, by_order);
    return q;
}

bool plan_stage_touches(PlanState *p, IrStmt *s, const IrBuffer *b)
{
    Use u = use_of(p, s, b);
    return u.reads || u.writes;
}

bool plan_stage_writes(PlanState *p, IrStmt *s, const IrBuffer *b)
{
    return use_of(p, s, b).writes;
}

// Producer warps run ahead as far as there are slots; the others wait for what
// was brought for their own trip.
PlanPipeline *plan_schedule(PlanState *p, IrStmt *loop)
{
    PlanPipeline *q = plan_pipeline(p, loop);
    int ahead = (int)ir_attr_int(loop, ATTR_NUM_STAGES, 1) - 1;

    if (!q || loop != p->fed)
        return q;
    q->depth = ahead;
    for (int i = 0; i < q->count; i++) {
        PlanStage *s = &q->stages[i];
        s->stage = s->is_copy ? 0 : ahead;
        s->order = s->place + (s->is_copy ? 0 : q->count);
    }
    qsort(q->stages, q->count, sizeof *q->stages, by_order);
    return q;
}

// ---- slots of buffers ------------------------------------------------------

// From the stage that first writes a buffer to the last that reads it; one
// less where no writer comes before a reader in both stage and order.
int plan_slots(PlanState *p, const PlanPipeline *q, const IrBuffer *b)
{
    int def = -1, use = -1;
    bool needs = false;

    if (b->scope != SCOPE_SHARED)
        return 1;

    for (int i = 0; i < q->count; i++) {
        Use u = use_of(p, q->stages[i].stmt, b);
        if (u.writes && (def < 0 || q->stages[i].stage < def))
            def = q->stages[i].stage;
        if (u.reads && q->stages[i].stage > use)
            use = q->stages[i].stage;
    }
    if (def < 0 || use <= def)
        return 1;
    for (int i = 0; i < q->count; i++) {
        if (!use_of(p, q->stages[i].stmt, b).writes)
            continue;
        for (int j = i + 1; j < q->count; j++)
            needs |= q->stages[i].stage < q->stages[j].stage &&
                     use_of(p, q->stages[j].stmt, b).reads;
    }
    return use - def + (needs ? 1 : 0);
}

static void set_slots(PlanState *p, const PlanPipeline *q, int times)
{
    for (int i = 0; i < p->kernel->buffer_count; i++) {
        IrBuffer *b = p->kernel->buffers[i];
        int slots = plan_slots(p, q, b);
        if (slots > 1) {
            if (times > 1 && p->slots[i] > 1)
                p->launch->refused = "a tile of a loop with producer warps "
                                     "has slots in a later loop as well";
            p->slots[i] = slots;
            p->rings[i] = times;
        }
    }
}

// ---- producer warps --------------------------------------------------------

typedef struct {
    PlanState *p;
    IrStmt *loop;
    bool in_while;
    int whiles;
} Feed;

static bool feeds(PlanState *p, IrStmt *loop)
{
    if (ir_attr_int(loop, ATTR_NUM_STAGES, 0) < 1 || has_manual_stages(loop))
        return false;
    PlanPipeline *q = plan_pipeline(p, loop);
    for (int i = 0; i < q->count; i++)
        if (is_tma_load(p, q->stages[i].stmt))
            return true;
    return false;
}

static bool find_fed(void *ctx, IrStmt *s)
{
    Feed *f = ctx;

    if (f->loop)
        return false;
    if (s->kind == STMT_WHILE) {
        Feed inside = {.p = f->p};
        ir_walk(s->then, find_fed, NULL, &inside);
        f->in_while |= inside.loop != NULL;
        return false;
    }
    if (s->kind == STMT_FOR && s->loop == LOOP_PIPELINED && feeds(f->p, s))
        f->loop = s;
    return true;
}

// The statements between which the consumers hold what a copy fills: from the
// first that reads it to the last that touches it.
static void held_by(PlanState *p, const PlanPipeline *q, const IrBuffer *b,
                    int *first, int *last)
{
    *first = *last = -1;
    for (int i = 0; i < q->count; i++) {
        if (q->stages[i].is_copy)
            continue;
        Use u = use_of(p, q->stages[i].stmt, b);
        if (u.reads && *first < 0)
            *first = i;
        if (u.reads || u.writes)
            *last = i;
    }
}

// Copies by TMA share barriers if all are held alike and no other copy is there;
// else each has its own.
static int groups_of(PlanState *p, const PlanPipeline *q)
{
    int copies = 0, from = 0, to = 0, first, last;
    bool alike = true;

    for (int i = 0; i < q->count; i++) {
        IrStmt *s = q->stages[i].stmt;
        if (!q->stages[i].is_copy)
            continue;
        if (!is_tma_load(p, s)) {
            alike = false;
            continue;
        }
        held_by(p, q, copy_target(p, s), &first, &last);
        alike &= !copies || (first == from && last == to);
        from = first;
        to = last;
        copies++;
    }
    return alike && copies ? 1 : copies;
}

typedef struct {
    PlanState *p;
    int loads;
} Loads;

static bool count_load(void *ctx, IrStmt *s)
{
    Loads *l = ctx;

    if (s == l->p->fed)
        return false;
    if (s->kind == STMT_FOR && s->loop == LOOP_PIPELINED)
        return false;
    if (s->kind == STMT_TILE && is_tma_load(l->p, s) &&
        plan_beside_fed(l->p, s))
        l->loads++;
    return true;
}

// The statements of a block, those of blocks in it included.
static bool has_stmt(const IrStmt *block, const IrStmt *s)
{
    for (int i = 0; i < block->len; i++)
        if (block->body[i] == s || (block->body[i]->kind == STMT_BLOCK &&
                                    has_stmt(block->body[i], s)))
            return true;
    return false;
}

bool plan_beside_fed(const PlanState *p, const IrStmt *s)
{
    return p->fed_block && has_stmt(p->fed_block, s);
}

// The outermost of the blocks that have the loop among their statements.
static bool find_fed_block(void *ctx, IrStmt *s)
{
    PlanState *p = ctx;

    if (s->kind == STMT_BLOCK && !p->fed_block && has_stmt(s, p->fed))
        p->fed_block = s;
    return true;
}

static void specialize(PlanState *p, IrStmt *launch)
{
    Feed f = {.p = p};
    Loads l = {.p = p};

    if (p->device->arch != ARCH_SM90 ||
        ir_config_is_set(p->kernel, "tl.disable_warp_specialized"))
        return;
    ir_walk(launch->then, find_fed, NULL, &f);
    if (f.in_while && !f.loop)
        p->launch->refused = "a pipeline inside `while` cannot have "
                             "producer warps";
    p->fed = f.loop;
    if (!p->fed)
        return;
    ir_walk(launch, find_fed_block, NULL, p);
    PlanPipeline *q = plan_pipeline(p, p->fed);
    bool all = true;
    for (int i = 0; i < q->count; i++)
        all &= !q->stages[i].is_copy || is_tma_load(p, q->stages[i].stmt);
    int stages = (int)ir_attr_int(p->fed, ATTR_NUM_STAGES, 1);
    ir_walk(launch->then, count_load, NULL, &l);
    p->launch->producers = all ? 128 : p->launch->threads;
    p->launch->barriers = 2 * groups_of(p, q) * stages + l.loads;
}

static bool set_loop(void *ctx, IrStmt *s)
{
    PlanState *p = ctx;

    if (s->kind != STMT_FOR || s->loop != LOOP_PIPELINED)
        return true;
    PlanPipeline *q = plan_pipeline(p, s);
    // Upstream gives a later loop of a kernel with producer warps its slots
    // twice: once as their consumer, once as a pipeline of its own.
    if (q)
        set_slots(p, q, p->fed && s != p->fed ? 2 : 1);
    return true;
}

void plan_pipelines(PlanState *p, IrStmt *launch)
{
    specialize(p, launch);
    ir_walk(launch->then, set_loop, NULL, p);
}
