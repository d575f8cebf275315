// own_move.c - rules `tilesim`: the instructions that touch memory, as gpu_backend
// emits them.
#include "plan/own_int.h"

bool plan_in_shared(const PlanState *p, const IrBuffer *b)
{
    while (b->alias_of)
        b = b->alias_of;
    return b->scope == SCOPE_SHARED || b->scope == SCOPE_SHARED_STATIC ||
           b->scope == SCOPE_REDUCER || p->spilled[b->id];
}

bool plan_in_registers(const PlanState *p, const IrBuffer *b)
{
    return p->fragment[b->id] && !p->spilled[b->id];
}

int own_bytes(const IrBuffer *b, int elements)
{
    return (plan_bits(PLAN_TILESIM, b) * elements + 7) / 8;
}

void own_add(OwnMoves *m, PlanMove v)
{
    if (!v.buffer || v.buffer->scope == SCOPE_GLOBAL ||
        plan_in_shared(m->p, v.buffer))
        vec_push(m->p->arena, &m->moves, v);
}

// What the emitter does in a way that nobody has written down.
static void add_call(void *ctx, IrBuffer *b, bool is_store)
{
    OwnMoves *m = ctx;

    own_add(m, (PlanMove){.stmt = m->stmt, .buffer = b, .kind = MOVE_CALL,
                          .way = is_store ? MOVE_STORE : MOVE_LOAD,
                          .at = m->stmt->at});
}

PlanMove own_plain(const PlanLoop *l, const PlanWork *w)
{
    const PlanAccess *a = l->access.at;

    return (PlanMove){.stmt = l->stmt, .buffer = a->buffer, .width = 1,
                      .way = a->is_store ? MOVE_STORE : MOVE_LOAD, .loop = l,
                      .bytes = own_bytes(a->buffer, 1), .access = a,
                      .work = w, .at = a->at};
}

// ---- copies and loops ------------------------------------------------------

static bool is_fed(const OwnMoves *m, const IrStmt *s)
{
    for (int i = 0; i < m->p->launch->feed.count; i++)
        if (m->p->launch->feed.copies[i].stmt == s)
            return true;
    return false;
}

static bool fills_ring(const PlanRing *r, const IrStmt *s)
{
    for (int i = 0; i < r->count; i++)
        if (r->copies[i].stmt == s)
            return true;
    return false;
}

// In a loop whose copies run ahead the others would be waited for with them.
static PlanMoveKind kind_of_copy(const OwnMoves *m, const PlanLoop *l,
                                 int width)
{
    const IrBuffer *from = l->access.at[0].buffer;
    const IrBuffer *to = l->access.at[l->access.len - 1].buffer;

    if (is_fed(m, l->stmt))
        return MOVE_TMA;
    return width > 1 && l->access.len == 2 &&
                   m->p->device->vendor == VENDOR_NVIDIA &&
                   from->scope == SCOPE_GLOBAL && plan_in_shared(m->p, to) &&
                   (!m->ring || fills_ring(m->ring, l->stmt))
               ? MOVE_CP_ASYNC : MOVE_PLAIN;
}

static bool is_atomic(const PlanLoop *l, const PlanAccess *a)
{
    return a->is_store && (a->is_atomic || (l->stmt->kind == STMT_TILE &&
                                            op_is_atomic(l->stmt->op)));
}

// The same value, and nothing stored since it was last read.
static bool is_repeated(const PlanLoop *l, int at)
{
    const PlanAccess *a = &l->access.at[at];

    for (int i = at - 1; i >= 0 && !a->is_store; i--) {
        const PlanAccess *b = &l->access.at[i];
        bool same = b->buffer == a->buffer && b->guard == a->guard &&
                    b->nest == a->nest;
        // A store stands before what it is made of.
        int store = b->is_store ? i : b->into;
        if (store >= 0 && store != a->into &&
            l->access.at[store].buffer == a->buffer)
            return false;
        for (int d = 0; same && d < a->buffer->rank; d++)
            same = a->expr[d] && b->expr[d] && ir_same(a->expr[d], b->expr[d]);
        if (same && !b->is_store)
            return true;
    }
    return false;
}

static void add_loop(OwnMoves *m, const PlanLoop *l, const PlanFragment *layout)
{
    PlanState *p = m->p;
    int width = !l->is_copy ? 1
                : layout    ? plan_register_vector(p, l, layout)
                            : plan_copy_vector(p, l);
    PlanMoveKind kind = l->is_copy ? kind_of_copy(m, l, width) : MOVE_PLAIN;
    PlanWork *all, *first;

    if (layout) {
        all = plan_work_of_layout(p, layout, layout->replicas);
        first = plan_work_of_layout(p, layout, 1);
    } else {
        all = !l->rank && m->by_thread
                  ? plan_work_of_single(p, l)
                  : plan_work_of_loop(p, l, NULL, width);
        first = all;
    }
    for (int i = 0; i < l->access.len; i++) {
        const PlanAccess *a = &l->access.at[i];
        // Of threads that do the same one stores, and reads what it stores.
        bool stored = a->into >= 0 &&
                      (l->access.at[a->into].buffer->scope == SCOPE_GLOBAL ||
                       plan_in_shared(p, l->access.at[a->into].buffer));
        PlanMove v = {.stmt = l->stmt, .buffer = a->buffer, .kind = kind,
                      .way = a->is_store ? MOVE_STORE : MOVE_LOAD,
                      .bytes = own_bytes(a->buffer, width), .width = width,
                      .loop = l, .access = a, .work = stored ? first : all,
                      .at = a->at};
        if (is_repeated(l, i))
            continue;
        if (layout && !l->is_copy) {
            PlanWork *each = stored ? first : all;
            v.work = plan_merged(p, l, a, each, &v.width);
            v.merged = v.work != each;
            v.bytes = own_bytes(a->buffer, v.width);
        }
        if (is_atomic(l, a)) {
            v.way = MOVE_UPDATE;
            v.kind = MOVE_ATOMIC;
            v.lanes = 1;
        }
        own_add(m, v);
    }
}

const PlanMove *plan_copy_move(const PlanLaunch *l, const IrStmt *s)
{
    const PlanMove *found = NULL;

    for (int i = 0; i < l->move_count; i++) {
        const PlanMove *v = &l->moves[i];
        if (v->stmt == s && v->loop && v->loop->is_copy &&
            (!found || v->way == MOVE_STORE))
            found = v;
    }
    return found;
}

const PlanMove *plan_tile_move(const PlanLaunch *l, const IrStmt *s)
{
    for (int i = 0; i < l->move_count; i++)
        if (l->moves[i].stmt == s && l->moves[i].loop)
            return &l->moves[i];
    return NULL;
}

// ---- everything else -------------------------------------------------------

static PlanWork *first_thread(OwnMoves *m)
{
    PlanWork *w = plan_work_new(m->p, m->p->launch->threads, 1);

    w->point[0] = 0;
    return w;
}

// All threads alike, or each for itself; what they do alike one of them stores.
static void add_single(OwnMoves *m, IrBuffer *b, IrExpr *const *index, Span at,
                       PlanMoveWay way)
{
    if (b->scope != SCOPE_GLOBAL && !plan_in_shared(m->p, b))
        return;
    PlanLoop *l = plan_single_loop(m->p, m->stmt, b, index, way != MOVE_LOAD);
    plan_thread_context(m->p, m->stmt, l);
    PlanMove v = own_plain(l, m->once ? first_thread(m)
                                  : plan_work_of_single(m->p, l));
    v.at = at;
    v.way = way;
    if (way == MOVE_UPDATE) {
        v.kind = MOVE_ATOMIC;
        v.lanes = 1;
    }
    own_add(m, v);
}

static bool move_expr(void *ctx, IrExpr *e)
{
    OwnMoves *m = ctx;

    if (e->kind == EXPR_LOAD)
        add_single(m, e->buffer, e->args, e->at, MOVE_LOAD);
    if (e->kind == EXPR_ATOMIC)
        add_single(m, e->buffer, e->args, e->at, MOVE_UPDATE);
    return true;
}

static bool move_stmt(void *ctx, IrStmt *s);

static void move_ring(OwnMoves *m, IrStmt *s)
{
    const PlanRing *outer = m->ring;
    const PlanLaunch *l = m->p->launch;

    for (int i = 0; i < l->ring_count && !m->ring; i++)
        if (l->rings[i].loop == s && l->rings[i].stages > 1)
            m->ring = &l->rings[i];
    ir_walk(s->then, move_stmt, move_expr, m);
    m->ring = outer;
}

static bool move_op(OwnMoves *m, IrStmt *s, const PlanOp *op)
{
    PlanLoop *l;

    switch (op ? (int)op->kind : -1) {
    case PLANOP_LOOP:
        add_loop(m, op->loop, op->layout);
        return true;
    case PLANOP_GEMM:
        if (op->gemm->shape.group)
            break;
        own_gemm(m, op->gemm);
        return true;
    case PLANOP_REDUCE:
        own_reduce(m, s);
        return true;
    case PLANOP_SCAN:
        own_scan(m, s);
        return true;
    default:
        break;
    }
    if (s->kind == STMT_TILE && s->op == OP_ASYNC_COPY &&
        (l = plan_tile_loop(m->p, s))) {
        add_loop(m, l, NULL);
        return true;
    }
    return false;
}

static bool move_stmt(void *ctx, IrStmt *s)
{
    OwnMoves *m = ctx;

    m->stmt = s;
    m->once = s->kind == STMT_STORE && !m->by_thread;
    if (move_op(m, s, plan_op_of(m->p, s)))
        return false;
    if (s->kind == STMT_TILE ||
        (s->kind == STMT_FOR && s->loop == LOOP_PARALLEL)) {
        if (s->kind != STMT_TILE ||
            op_info(m->p->kernel->ops, s->op)->class != OPCLASS_HINT)
            plan_touches(m->p, s, add_call, m);
        return false;
    }
    if (s->kind == STMT_FOR && s->loop == LOOP_PIPELINED) {
        move_ring(m, s);
        return false;
    }
    if (s->kind == STMT_STORE)
        add_single(m, s->buffer, s->index, s->at, MOVE_STORE);
    return true;
}

static bool names_threads(void *ctx, IrExpr *e)
{
    bool *found = ctx;

    *found |= e->kind == EXPR_OP && op_is_warp(e->op);
    return true;
}

void plan_own_moves(PlanState *p, IrStmt *launch)
{
    OwnMoves m = {.p = p, .stmt = launch};

    ir_walk(launch->then, NULL, names_threads, &m.by_thread);
    ir_walk(launch->then, move_stmt, move_expr, &m);
    p->launch->moves = m.moves.at;
    p->launch->move_count = m.moves.len;
}
