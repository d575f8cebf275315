// collect.c - the operations of a launch, in program order.
//
// A copy, fill or atomic on regions becomes the loop it stands for, so that
// layout inference sees loops, reductions, scans and gemms only.
#include "plan/plan_int.h"

static PlanAccess *add_access(PlanState *p, PlanLoop *l, IrBuffer *b,
                              bool is_store)
{
    PlanAccess a = {.buffer = b, .is_store = is_store, .bound = -1,
                    .into = -1, .at = l->stmt->at};

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

// Nothing is read for what a store would put outside its tensor.
static void bound_by_store(PlanLoop *l)
{
    int last = l->access.len - 1;

    for (int i = 0; i < last; i++) {
        l->access.at[i].into = last;
        if (l->access.at[last].buffer->scope == SCOPE_GLOBAL)
            l->access.at[i].bound = last;
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
    bound_by_store(l);
    l->is_copy = s->op == OP_COPY || s->op == OP_ASYNC_COPY;
    return l;
}

PlanLoop *plan_tile_loop(PlanState *p, IrStmt *s)
{
    IrCopyMap m = {0};
    bool ok;

    switch (s->op) {
    case OP_TMA_COPY:
        if (p->plan->rules == PLAN_TILELANG)
            return NULL;
        // fall through
    case OP_COPY:
    case OP_ASYNC_COPY:
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
    const PlanGuard *guard;
    const PlanNest *nest;
    int bound;                      // store to global memory, of this statement
    int into;                       // store of this statement
} Body;

static PlanAccess *body_access(Body *b, IrBuffer *buffer, IrExpr *const *index,
                               bool is_store, Span at)
{
    PlanAccess *a = add_access(b->p, b->loop, buffer, is_store);

    for (int d = 0; d < buffer->rank; d++)
        a->expr[d] = index[d];
    a->guard = b->guard;
    a->nest = b->nest;
    a->bound = b->bound;
    a->into = b->into;
    a->at = at;
    return a;
}

static const PlanGuard *guarded(Body *b, const IrExpr *cond, bool want)
{
    PlanGuard *g = new (b->p->arena, PlanGuard);

    *g = (PlanGuard){cond, want, b->guard};
    return g;
}

static void body_expr(Body *b, const IrExpr *e)
{
    const PlanGuard *outer = b->guard;

    if (!e)
        return;
    if (e->kind == EXPR_LOAD)
        body_access(b, e->buffer, e->args, false, e->at);
    for (int i = 0; i < e->count; i++) {
        if (e->kind == EXPR_SELECT && i)
            b->guard = guarded(b, e->args[0], i == 1);
        body_expr(b, e->args[i]);
        b->guard = outer;
    }
}

static void body_store(Body *b, const IrStmt *s)
{
    body_access(b, s->buffer, s->index, true, s->at);
    b->into = b->loop->access.len - 1;
    if (s->buffer->scope == SCOPE_GLOBAL)
        b->bound = b->into;
    for (int i = 0; i < s->index_count; i++)
        body_expr(b, s->index[i]);
    body_expr(b, s->value);
    b->bound = b->into = -1;
}

static void body_region(Body *b, const IrStmt *s, int i)
{
    const IrRegion *r = s->operand[i].region;
    char access = op_info(b->p->kernel->ops, s->op)->param[i].access;
    PlanAccess *a = body_access(b, r->buffer, r->min, access != 'r', s->at);

    a->is_atomic = access == 'a';
}

static void body_tile(Body *b, const IrStmt *s)
{
    for (int i = 0; i < s->operand_count; i++)
        if (s->operand[i].kind == OPERAND_REGION)
            body_region(b, s, i);
    for (int i = 0; i < s->operand_count; i++) {
        const IrOperand *o = &s->operand[i];
        if (o->kind == OPERAND_EXPR)
            body_expr(b, o->expr);
        if (o->kind != OPERAND_REGION || o->region->form == REGION_WHOLE)
            continue;
        for (int d = 0; d < o->region->buffer->rank; d++) {
            body_expr(b, o->region->min[d]);
            body_expr(b, o->region->extent[d]);
        }
    }
}

static void body_stmt(Body *b, const IrStmt *s);

static void body_if(Body *b, const IrStmt *s)
{
    const PlanGuard *outer = b->guard;

    body_expr(b, s->cond);
    b->guard = guarded(b, s->cond, true);
    body_stmt(b, s->then);
    b->guard = outer;
    if (!s->otherwise)
        return;
    b->guard = guarded(b, s->cond, false);
    body_stmt(b, s->otherwise);
    b->guard = outer;
}

static void body_for(Body *b, const IrStmt *s)
{
    const PlanNest *outer = b->nest;

    for (int i = 0; i < s->var_count; i++) {
        PlanNest *n = new (b->p->arena, PlanNest);
        *n = (PlanNest){s, i, b->nest ? b->nest->depth + 1 : 0, b->nest};
        b->loop->is_open |= n->depth >= PLAN_NEST;
        body_expr(b, s->start[i]);
        body_expr(b, s->extent[i]);
        b->nest = n;
    }
    body_stmt(b, s->then);
    b->nest = outer;
}

static void body_stmt(Body *b, const IrStmt *s)
{
    if (!s)
        return;
    switch (s->kind) {
    case STMT_BLOCK:
        for (int i = 0; i < s->len; i++)
            body_stmt(b, s->body[i]);
        break;
    case STMT_STORE:
        body_store(b, s);
        break;
    case STMT_LET:
        vec_push(b->p->arena, &b->loop->lets, s);
        body_expr(b, s->value);
        break;
    case STMT_EVAL:
        body_expr(b, s->value);
        break;
    case STMT_TILE:
        body_tile(b, s);
        break;
    case STMT_IF:
        body_if(b, s);
        break;
    case STMT_FOR:
        body_for(b, s);
        break;
    case STMT_WHILE:
        b->loop->is_open = true;
        body_expr(b, s->cond);
        body_stmt(b, s->then);
        break;
    case STMT_BREAK:
    case STMT_CONTINUE:
        b->loop->is_open = true;
        break;
    default:
        break;
    }
}

static PlanLoop *loop_of_parallel(PlanState *p, IrStmt *s)
{
    PlanLoop *l = new (p->arena, PlanLoop);
    Body b = {.p = p, .loop = l, .bound = -1, .into = -1};

    l->stmt = s;
    l->rank = s->var_count;
    l->points = 1;
    for (int d = 0; d < l->rank; d++) {
        l->var[d] = s->vars[d];
        if (!ir_is_int(s->extent[d], &l->extent[d]))
            return NULL;
        l->points *= l->extent[d];
    }
    body_stmt(&b, s->then);
    return l;
}

// ---- all of a launch -------------------------------------------------------

static IrBuffer *operand_of(const PlanGemm *g, int which)
{
    return g->stmt->operand[g->shape.operand[which]].region->buffer;
}

// Elements are put together with their places, which registers do not have.
static bool is_readable_sparse(const PlanGemm *g)
{
    return !g->shape.group || (operand_of(g, 0)->scope != SCOPE_FRAGMENT &&
                               operand_of(g, 3)->scope != SCOPE_FRAGMENT);
}

static PlanGemm *collect_gemm(PlanState *p, IrStmt *s)
{
    PlanGemm *g = &p->launch->gemms[p->launch->gemm_count];

    g->stmt = s;
    g->k_pack = (int)ir_attr_int(s, ATTR_K_PACK, 1);
    if (!ir_resolve_gemm(p->kernel, s, &g->shape) || !is_readable_sparse(g))
        return NULL;
    g->a = operand_of(g, 0);
    g->b = operand_of(g, 1);
    g->c = operand_of(g, 2);
    if (!plan_partition(p, g))
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

static void push_op(PlanState *p, PlanOp op)
{
    if (op.loop)
        plan_index(p->arena, op.loop);
    vec_push(p->arena, &p->ops, op);
}

static bool collect(void *ctx, IrStmt *s)
{
    PlanState *p = ctx;
    PlanOp op = {.stmt = s};

    if (s->kind == STMT_FOR && s->loop == LOOP_PARALLEL) {
        op.loop = loop_of_parallel(p, s);
        if (op.loop)
            push_op(p, op);
        return false;
    }
    if (s->kind != STMT_TILE)
        return true;
    bool own = p->plan->rules == PLAN_TILESIM;
    if (s->op == OP_GEMM ||
        (own && (s->op == OP_WGMMA_GEMM || s->op == OP_GEMM_SP))) {
        op.kind = PLANOP_GEMM;
        op.gemm = collect_gemm(p, s);
        if (!op.gemm)
            return false;
    } else if (own ? op_is_reduction(s->op) : is_reduce(s->op)) {
        op.kind = PLANOP_REDUCE;
        if (!ir_resolve_reduce(p->kernel, s, &op.reduce))
            return false;
    } else if (s->op == OP_CUMSUM || (own && s->op == OP_CUMMAX)) {
        op.kind = PLANOP_SCAN;
    } else {
        op.loop = s->op == OP_ASYNC_COPY ? NULL : plan_tile_loop(p, s);
        if (!op.loop)
            return false;
    }
    push_op(p, op);
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
    n->gemms += s->kind == STMT_TILE &&
                (s->op == OP_GEMM || s->op == OP_WGMMA_GEMM ||
                 s->op == OP_GEMM_SP);
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
