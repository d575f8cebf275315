// collect.c - the operations of a launch, in program order.
//
// A copy, fill or atomic on regions becomes the loop it stands for, so that
// layout inference sees loops, reductions, scans and gemms only.
#include "plan/plan_int.h"

static PlanAccess *add_access(PlanState *p, PlanLoop *l, IrBuffer *b,
                              bool is_store)
{
    PlanAccess a = {.buffer = b, .is_store = is_store};

    for (int d = 0; d < IR_MAX_RANK; d++)
        a.map[d] = -1;
    vec_push(p->arena, &l->access, a);
    return &l->access.at[l->access.len - 1];
}

// ---- tile operations as loops ----------------------------------------------

static void add_side(PlanState *p, PlanLoop *l, IrBuffer *b,
                     IrExpr *const *min, const int *map, bool is_store)
{
    PlanAccess *a = add_access(p, l, b, is_store);

    for (int d = 0; d < b->rank; d++) {
        a->min[d] = min[d];
        a->map[d] = map[d];
    }
}

static PlanLoop *loop_of_map(PlanState *p, const IrStmt *s, const IrCopyMap *m)
{
    PlanLoop *l = new (p->arena, PlanLoop);

    l->stmt = s;
    l->rank = m->rank;
    l->points = 1;
    for (int d = 0; d < m->rank; d++) {
        if (!ir_is_int(m->extent[d], &l->extent[d]))
            return NULL;
        l->points *= l->extent[d];
    }
    if (m->src.buffer)
        add_side(p, l, m->src.buffer, m->src.min, m->src.map, false);
    add_side(p, l, m->dst.buffer, m->dst.min, m->dst.map, true);
    l->is_copy = s->op == OP_COPY;
    return l;
}

static PlanLoop *loop_of_tile(PlanState *p, IrStmt *s)
{
    IrCopyMap m = {0};
    bool ok;

    switch (s->op) {
    case OP_COPY:
        ok = ir_resolve_copy(p->kernel, s->at, s->operand[0].region,
                             s->operand[1].region, &m);
        break;
    case OP_FILL:
    case OP_CLEAR:
        ok = ir_resolve_fill(p->kernel, s->operand[0].region, &m);
        break;
    case OP_TRANSPOSE:
        ok = ir_resolve_transpose(p->kernel, s, &m);
        break;
    case OP_ATOMIC_ADD:
    case OP_ATOMIC_MAX:
    case OP_ATOMIC_MIN:
        ok = ir_resolve_atomic(p->kernel, s, &m);
        break;
    default:
        return NULL;
    }
    return ok ? loop_of_map(p, s, &m) : NULL;
}

// ---- T.Parallel ------------------------------------------------------------

typedef struct {
    PlanState *p;
    PlanLoop *loop;
} Body;

static bool body_expr(void *ctx, IrExpr *e)
{
    Body *b = ctx;

    if (e->kind == EXPR_LOAD) {
        PlanAccess *a = add_access(b->p, b->loop, e->buffer, false);
        for (int d = 0; d < e->buffer->rank; d++)
            a->expr[d] = e->args[d];
    }
    return true;
}

static bool body_stmt(void *ctx, IrStmt *s)
{
    Body *b = ctx;

    if (s->kind == STMT_STORE) {
        PlanAccess *a = add_access(b->p, b->loop, s->buffer, true);
        for (int d = 0; d < s->buffer->rank; d++)
            a->expr[d] = s->index[d];
    }
    for (int i = 0; s->kind == STMT_TILE && i < s->operand_count; i++) {
        if (s->operand[i].kind != OPERAND_REGION)
            continue;
        const IrRegion *r = s->operand[i].region;
        char access = op_info(b->p->kernel->ops, s->op)->param[i].access;
        PlanAccess *a = add_access(b->p, b->loop, r->buffer, access != 'r');
        a->is_atomic = access == 'a';
        for (int d = 0; d < r->buffer->rank; d++)
            a->expr[d] = r->min[d];
    }
    return true;
}

static PlanLoop *loop_of_parallel(PlanState *p, IrStmt *s)
{
    PlanLoop *l = new (p->arena, PlanLoop);
    Body b = {p, l};

    l->stmt = s;
    l->rank = s->var_count;
    l->points = 1;
    for (int d = 0; d < l->rank; d++) {
        l->var[d] = s->vars[d];
        if (!ir_is_int(s->extent[d], &l->extent[d]))
            return NULL;
        l->points *= l->extent[d];
    }
    ir_walk(s->then, body_stmt, body_expr, &b);
    return l;
}

// ---- all of a launch -------------------------------------------------------

static PlanGemm *collect_gemm(PlanState *p, IrStmt *s)
{
    PlanGemm *g = &p->launch->gemms[p->launch->gemm_count];

    g->stmt = s;
    g->a = s->operand[0].region->buffer;
    g->b = s->operand[1].region->buffer;
    g->c = s->operand[2].region->buffer;
    g->k_pack = (int)ir_attr_int(s, ATTR_K_PACK, 1);
    if (!ir_resolve_gemm(p->kernel, s, &g->shape) || !plan_partition(p, g))
        return NULL;
    p->launch->gemm_count++;
    return g;
}

static bool is_reduce(Op op)
{
    switch (op) {
    case OP_REDUCE_SUM:
    case OP_REDUCE_MAX:
    case OP_REDUCE_MIN:
    case OP_REDUCE_ABSMAX:
    case OP_REDUCE_ABSSUM:
        return true;
    default:
        return false;
    }
}

static bool collect(void *ctx, IrStmt *s)
{
    PlanState *p = ctx;
    PlanOp op = {.stmt = s};

    if (s->kind == STMT_FOR && s->loop == LOOP_PARALLEL) {
        op.loop = loop_of_parallel(p, s);
        if (op.loop)
            vec_push(p->arena, &p->ops, op);
        return false;
    }
    if (s->kind != STMT_TILE)
        return true;
    if (s->op == OP_GEMM) {
        op.kind = PLANOP_GEMM;
        op.gemm = collect_gemm(p, s);
        if (!op.gemm)
            return false;
    } else if (is_reduce(s->op)) {
        op.kind = PLANOP_REDUCE;
        if (!ir_resolve_reduce(p->kernel, s, &op.reduce))
            return false;
    } else if (s->op == OP_CUMSUM) {
        op.kind = PLANOP_SCAN;
    } else {
        op.loop = loop_of_tile(p, s);
        if (!op.loop)
            return false;
    }
    vec_push(p->arena, &p->ops, op);
    return false;
}

typedef struct {
    int gemms, fragments;
} Counts;

static bool is_fragment_alloc(const IrStmt *s)
{
    return s->kind == STMT_ALLOC && s->buffer->scope == SCOPE_FRAGMENT;
}

static bool count(void *ctx, IrStmt *s)
{
    Counts *n = ctx;
    n->gemms += s->kind == STMT_TILE && s->op == OP_GEMM;
    n->fragments += is_fragment_alloc(s);
    return true;
}

static bool note_alloc(void *ctx, IrStmt *s)
{
    PlanLaunch *l = ctx;
    if (is_fragment_alloc(s))
        l->fragments[l->fragment_count++] = s->buffer;
    return true;
}

bool plan_collect(PlanState *p, IrStmt *launch)
{
    Counts n = {0};
    int errors = diag_raised(p->kernel->diag);

    ir_walk(launch->then, count, NULL, &n);
    p->launch->gemms = new_array(p->arena, PlanGemm, n.gemms + 1);
    p->launch->fragments = new_array(p->arena, IrBuffer *, n.fragments + 1);
    ir_walk(launch->then, note_alloc, NULL, p->launch);
    ir_walk(launch->then, collect, NULL, p);
    return diag_raised(p->kernel->diag) == errors;
}

PlanOp *plan_op_of(PlanState *p, const IrStmt *s)
{
    for (int i = 0; i < p->ops.len; i++)
        if (p->ops.at[i].stmt == s)
            return &p->ops.at[i];
    return NULL;
}

// ---- who touches what ------------------------------------------------------

typedef struct {
    PlanState *p;
    PlanTouch *touch;
    void *ctx;
} Touches;

static bool touch_expr(void *ctx, IrExpr *e)
{
    Touches *t = ctx;

    if (e->kind == EXPR_LOAD || e->kind == EXPR_ATOMIC)
        t->touch(t->ctx, e->buffer, e->kind == EXPR_ATOMIC);
    return true;
}

static bool touch_stmt(void *ctx, IrStmt *s)
{
    Touches *t = ctx;

    if (s->kind == STMT_STORE)
        t->touch(t->ctx, s->buffer, true);
    for (int i = 0; s->kind == STMT_TILE && i < s->operand_count; i++) {
        if (s->operand[i].kind != OPERAND_REGION)
            continue;
        IrBuffer *b = s->operand[i].region->buffer;
        char access = op_info(t->p->kernel->ops, s->op)->param[i].access;
        if (access != 'w')
            t->touch(t->ctx, b, false);
        if (access != 'r')
            t->touch(t->ctx, b, true);
    }
    return true;
}

void plan_touches(PlanState *p, IrStmt *s, PlanTouch *touch, void *ctx)
{
    Touches t = {p, touch, ctx};
    ir_walk(s, touch_stmt, touch_expr, &t);
}
