// staged.c - a kernel whose pipelined loops run in the order of their stages.
//
//   for k in 0..n:          for t in 0..n+1:
//       copy A[k] -> S  =>      if t < n:  copy A[t] -> S.(t % 2)
//       work on S               if t >= 1: work on S.((t - 1) % 2)
//
// needs nothing; keeps types, spans, origins; the slots of a buffer are buffers
// of their own. Run as it stands the result must be that of the serial loop.
#include "plan/plan_int.h"

#include <stdlib.h>

typedef struct {
    PlanState *p;                   // of the kernel as written
    IrKernel *k;                    // the new one
    PlanStaged *out;
    bool failed;
} Staging;

typedef struct {
    Staging *g;
    const PlanPipeline *q;
    IrStmt *loop;
    IrStmt *body;                   // whose statements are staged
    IrBuffer *const *slot;          // [buffer][slot]
    const int *slots;               // by buffer
    int buffers, most;
    IrVar *t;                       // of the new loop
} Loop;

// ---- slots -----------------------------------------------------------------

static IrBuffer *root_of(IrBuffer *b)
{
    while (b->alias_of)
        b = b->alias_of;
    return b;
}

static IrBuffer *new_slot(IrKernel *k, const IrBuffer *b, int slot)
{
    TextBuf name = {0};
    IrBuffer *out;

    buf_printf(&name, "%.*s.%d", TEXT_ARG(b->name), slot);
    out = ir_buffer(k, buf_view(&name), b->dtype, b->scope, b->rank, b->shape,
                    b->strides[0] ? b->strides : NULL, b->at);
    buf_release(&name);
    return out;
}

// Slot 0 is the buffer itself; views follow their buffer.
static IrBuffer **make_slots(Loop *l, IrStmt *before)
{
    IrKernel *k = l->g->k;
    IrBuffer **slot = new_array(k->arena, IrBuffer *,
                                (size_t)l->buffers * (size_t)l->most + 1);

    for (int b = 0; b < l->buffers; b++) {
        IrBuffer *was = k->buffers[b], *root = root_of(was);

        slot[b * l->most] = was;
        for (int v = 1; v < l->slots[root->id]; v++) {
            IrBuffer *made = new_slot(k, was, v);

            slot[b * l->most + v] = made;
            if (was->alias_of) {
                made->alias_of = slot[was->alias_of->id * l->most + v];
                continue;
            }
            IrStmt *alloc = ir_stmt(k, STMT_ALLOC, was->at);
            alloc->buffer = made;
            ir_append(k, before, alloc);
        }
    }
    return slot;
}

// ---- one statement of a trip -----------------------------------------------

static IrExpr *number(Loop *l, int64_t v)
{
    return ir_int(l->g->k, l->t->dtype, v, l->loop->at);
}

static IrExpr *op(Loop *l, Op o, IrExpr *a, IrExpr *b)
{
    return ir_op2(l->g->k, o, a, b, l->loop->at);
}

static IrExpr *trip_of(Loop *l, int stage)
{
    return op(l, OP_SUB, ir_use(l->g->k, l->t, l->loop->at), number(l, stage));
}

// How many statements it takes: one for each way its buffers' slots fall.
static int ways_of(Loop *l, IrStmt *s)
{
    int ways = 1;

    for (int b = 0; b < l->buffers; b++) {
        int n = l->slots[root_of(l->g->k->buffers[b])->id];
        bool touched = plan_stage_touches(l->g->p, s, l->g->k->buffers[b]);

        for (int m = ways; touched && ways % n; ways += m)
            continue;
    }
    return ways;
}

// 0 <= trip < extent, and trip % ways == way.
static IrExpr *when(Loop *l, IrCopy *c, int stage, int ways, int way)
{
    IrExpr *last = op(l, OP_LT, trip_of(l, stage),
                      ir_copy_expr(c, l->loop->extent[0]));
    IrExpr *in = op(l, OP_AND,
                    op(l, OP_LE, number(l, 0), trip_of(l, stage)), last);

    if (ways == 1)
        return in;
    return op(l, OP_AND, in,
              op(l, OP_EQ, op(l, OP_FLOORMOD, trip_of(l, stage),
                              number(l, ways)), number(l, way)));
}

static void copy_lets(Loop *l, IrCopy *c, const IrStmt *from, IrStmt *to)
{
    for (int i = 0; i < from->len; i++)
        if (from->body[i]->kind == STMT_LET)
            ir_append(l->g->k, to, ir_copy_stmt(c, from->body[i]));
}

static IrStmt *one_way(Loop *l, const PlanStage *s, int ways, int way)
{
    IrKernel *k = l->g->k;
    IrStmt *loop = l->loop, *block = ir_block(k, s->stmt->at), *inner = block;
    IrStmt *test = ir_stmt(k, STMT_IF, s->stmt->at);
    IrCopy c = {.k = k,
                .var = new_array(k->arena, IrVar *, (size_t)k->next_var + 1),
                .var_count = k->next_var,
                .buffer = new_array(k->arena, IrBuffer *,
                                    (size_t)l->buffers + 1),
                .buffer_count = l->buffers,
                .fresh = true};
    IrExpr *at = trip_of(l, s->stage), *step = loop->step;

    test->cond = when(l, &c, s->stage, ways, way);
    test->then = block;
    if (step)
        at = op(l, OP_MUL, at, ir_copy_expr(&c, step));
    at = op(l, OP_ADD, ir_copy_expr(&c, loop->start[0]), at);
    IrStmt *let = ir_let(k, loop->vars[0]->name,
                         ir_cast(k, at, loop->vars[0]->dtype, true, loop->at),
                         loop->at);
    if (!let)
        return NULL;
    ir_append(k, block, let);
    c.var[loop->vars[0]->id] = let->var;
    for (int b = 0; b < l->buffers; b++) {
        int n = l->slots[root_of(k->buffers[b])->id];

        c.buffer[b] = l->slot[b * l->most + way % n];
    }
    copy_lets(l, &c, loop->then, block);
    if (l->q->guarded) {
        IrStmt *guard = plan_only_stmt(l->g->p, loop->then);

        inner = ir_block(k, guard->at);
        IrStmt *again = ir_stmt(k, STMT_IF, guard->at);
        again->cond = ir_copy_expr(&c, guard->cond);
        again->then = inner;
        ir_append(k, block, again);
        copy_lets(l, &c, l->body, inner);
    }
    ir_append(k, inner, ir_copy_stmt(&c, s->stmt));
    return test;
}

// ---- after the loop ----------------------------------------------------------

// What the serial loop leaves in a buffer is in its last trip's slot.
static void keep_last(Loop *l, IrStmt *out)
{
    IrKernel *k = l->g->k;
    IrCopy c = {.k = k};

    for (int b = 0; b < l->buffers; b++)
        for (int v = 1; v < l->slots[b]; v++) {
            IrBuffer *from = l->slot[b * l->most + v];
            IrExpr *last = op(l, OP_SUB, ir_cast(
                k, ir_copy_expr(&c, l->loop->extent[0]), l->t->dtype, true,
                l->loop->at), number(l, 1));
            IrStmt *test = ir_stmt(k, STMT_IF, l->loop->at);
            IrStmt *copy = ir_tile(k, OP_COPY, l->loop->at);

            test->cond = op(l, OP_EQ, op(l, OP_FLOORMOD, last,
                                         number(l, l->slots[b])),
                            number(l, v));
            test->then = ir_block(k, l->loop->at);
            copy->operand[0] = (IrOperand){
                .kind = OPERAND_REGION,
                .region = ir_region_whole(k, from, l->loop->at)};
            copy->operand[1] = (IrOperand){
                .kind = OPERAND_REGION,
                .region = ir_region_whole(k, k->buffers[b], l->loop->at)};
            ir_append(k, test->then, copy);
            ir_append(k, out, test);
        }
}

// ---- the loop ----------------------------------------------------------------

static bool find_other(void *ctx, IrStmt *s)
{
    bool *other = ctx;

    *other |= s->kind == STMT_ALLOC || s->kind == STMT_BREAK ||
              s->kind == STMT_CONTINUE;
    return true;
}

typedef struct {
    PlanState *p;
    const IrStmt *loop;
    bool carried;
} Lets;

static bool find_carried(void *ctx, IrExpr *e)
{
    Lets *l = ctx;

    if (e->kind == EXPR_LOAD || e->kind == EXPR_ATOMIC)
        l->carried |= plan_stage_writes(l->p, (IrStmt *)l->loop, e->buffer);
    return true;
}

// Values that are frozen between statements must not depend on them.
static bool lets_move(PlanState *p, const IrStmt *loop, const IrStmt *block)
{
    Lets l = {.p = p, .loop = loop};

    for (int i = 0; i < block->len; i++)
        if (block->body[i]->kind == STMT_LET)
            ir_walk_expr(block->body[i]->value, find_carried, &l);
        else if (block->body[i]->kind == STMT_BLOCK)
            return false;
    return !l.carried;
}

static bool can_stage(PlanState *p, const PlanPipeline *q, const IrStmt *body)
{
    bool other = false;

    ir_walk(q->loop->then, find_other, NULL, &other);
    return !other && q->count > 1 && q->loop->var_count == 1 &&
           lets_move(p, q->loop, q->loop->then) &&
           lets_move(p, q->loop, body);
}

static IrStmt *staged_loop(Staging *g, const PlanPipeline *q)
{
    IrKernel *k = g->k;
    IrStmt *loop = q->loop, *out = ir_block(k, loop->at);
    IrStmt *serial = ir_stmt(k, STMT_FOR, loop->at);
    int *slots = new_array(k->arena, int, (size_t)k->buffer_count + 1);
    Loop l = {.g = g,
              .q = q,
              .loop = loop,
              .body = plan_stage_body(g->p, loop),
              .slots = slots,
              .buffers = g->p->kernel->buffer_count,
              .most = 1,
              .t = ir_var(k, VAR_LOOP, TEXT("t"), loop->vars[0]->dtype,
                          loop->at)};
    IrCopy c = {.k = k};

    for (int b = 0; b < l.buffers; b++) {
        slots[b] = plan_slots(g->p, q, g->p->kernel->buffers[b]);
        l.most = slots[b] > l.most ? slots[b] : l.most;
    }
    l.slot = make_slots(&l, out);
    serial->loop = LOOP_SERIAL;
    serial->var_count = 1;
    serial->vars[0] = l.t;
    serial->start[0] = number(&l, 0);
    serial->extent[0] = op(&l, OP_ADD, ir_copy_expr(&c, loop->extent[0]),
                           number(&l, q->depth));
    serial->then = ir_block(k, loop->at);
    for (int i = 0; i < q->count; i++) {
        int ways = ways_of(&l, q->stages[i].stmt);

        for (int way = 0; way < ways; way++) {
            IrStmt *s = one_way(&l, &q->stages[i], ways, way);

            g->failed |= !s;
            ir_append(k, serial->then, s);
        }
    }
    ir_append(k, out, serial);
    keep_last(&l, out);
    return out;
}

// ---- the kernel ----------------------------------------------------------------

static const IrStmt *stmt_at(const PlanPipeline *q, int place)
{
    for (int i = 0; i < q->count; i++)
        if (q->stages[i].place == place)
            return q->stages[i].stmt;
    return NULL;
}

// Keeps what was found of the first loop that is out of order.
static void note_order(Staging *g, const PlanPipeline *q)
{
    PlanStaged *out = g->out;
    PlanReorder r;
    const IrStmt *s;

    plan_reorder(g->p, q, &r);
    if (!r.found || out->reordered)
        return;
    out->reordered = true;
    out->loop = q->loop->at;
    out->buffer = r.buffer->name;
    s = stmt_at(q, r.reader_place);
    out->reader = s ? s->at : q->loop->at;
    s = stmt_at(q, r.wanted_place);
    out->wanted = s ? s->at : (Span){0};
    s = stmt_at(q, r.got_place);
    out->got = s ? s->at : (Span){0};
    out->turn = r.turn;
    out->wanted_turn = r.wanted_turn;
    out->got_turn = r.got_turn;
}

static IrStmt *replace(void *ctx, const IrStmt *s)
{
    Staging *g = ctx;
    PlanPipeline *q;

    if (s->kind == STMT_LAUNCH)
        g->failed |= !plan_open_launch(g->p, (IrStmt *)s);
    if (s->kind != STMT_FOR || s->loop != LOOP_PIPELINED)
        return NULL;
    q = plan_schedule(g->p, (IrStmt *)s);
    if (!q || !can_stage(g->p, q, plan_stage_body(g->p, q->loop)))
        return NULL;
    g->out->loops++;
    note_order(g, q);
    return staged_loop(g, q);
}

PlanStaged plan_staged(Arena *a, IrKernel *kernel, const Device *d)
{
    PlanStaged out = {0};
    PlanState *p = plan_open(a, kernel, d);
    IrKernel *k = new (a, IrKernel);
    Staging g = {.p = p, .k = k, .out = &out};
    IrCopy c = {.k = k, .replace = replace, .ctx = &g};

    *k = *kernel;
    k->buffer_room = k->buffer_count;       // lists of its own, when they grow
    k->symbol_room = k->symbol_count;
    k->body = ir_copy_stmt(&c, kernel->body);
    if (out.loops && !g.failed && ir_verify(k))
        out.kernel = k;
    return out;
}
