// own_move.c - rules `tilesim`: the instructions that touch memory, statement by
// statement, as gpu_backend emits them.
#include "plan/plan_int.h"

typedef struct {
    PlanState *p;
    const IrStmt *stmt;             // the one that is looked at
    const PlanRing *ring;           // of the loop around it, or NULL
    bool by_thread;                 // the launch names its threads
    bool once;                      // the statement is thread 0's alone
    struct {
        PlanMove *at;
        int len, room;
    } moves;
} Moves;

static bool in_shared(const PlanState *p, const IrBuffer *b)
{
    while (b->alias_of)
        b = b->alias_of;
    return b->scope == SCOPE_SHARED || b->scope == SCOPE_SHARED_STATIC ||
           b->scope == SCOPE_REDUCER || p->spilled[b->id];
}

static bool in_registers(const PlanState *p, const IrBuffer *b)
{
    return p->fragment[b->id] && !p->spilled[b->id];
}

static void add(Moves *m, PlanMove v)
{
    if (!v.buffer || v.buffer->scope == SCOPE_GLOBAL ||
        in_shared(m->p, v.buffer))
        vec_push(m->p->arena, &m->moves, v);
}

// What the emitter does in a way that nobody has written down.
static void add_call(void *ctx, IrBuffer *b, bool is_store)
{
    Moves *m = ctx;

    add(m, (PlanMove){.stmt = m->stmt, .buffer = b, .kind = MOVE_CALL,
                      .way = is_store ? MOVE_STORE : MOVE_LOAD,
                      .at = m->stmt->at});
}

static PlanMove plain(const PlanLoop *l, const PlanWork *w)
{
    const PlanAccess *a = l->access.at;

    return (PlanMove){.stmt = l->stmt, .buffer = a->buffer, .width = 1,
                      .way = a->is_store ? MOVE_STORE : MOVE_LOAD, .loop = l,
                      .bytes = plan_bytes(a->buffer, 1), .access = a,
                      .work = w, .at = a->at};
}

// ---- copies and loops ------------------------------------------------------

static bool is_fed(const Moves *m, const IrStmt *s)
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
static PlanMoveKind kind_of_copy(const Moves *m, const PlanLoop *l, int width)
{
    const IrBuffer *from = l->access.at[0].buffer;
    const IrBuffer *to = l->access.at[l->access.len - 1].buffer;

    if (is_fed(m, l->stmt))
        return MOVE_TMA;
    return width > 1 && m->p->device->vendor == VENDOR_NVIDIA &&
                   from->scope == SCOPE_GLOBAL && in_shared(m->p, to) &&
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

static void add_loop(Moves *m, const PlanLoop *l, const PlanFragment *layout)
{
    PlanState *p = m->p;
    int width = l->is_copy && !layout ? plan_copy_vector(p, l) : 1;
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
                       in_shared(p, l->access.at[a->into].buffer));
        PlanMove v = {.stmt = l->stmt, .buffer = a->buffer, .kind = kind,
                      .way = a->is_store ? MOVE_STORE : MOVE_LOAD,
                      .bytes = plan_bytes(a->buffer, width), .width = width,
                      .loop = l, .access = a, .work = stored ? first : all,
                      .at = a->at};
        if (is_repeated(l, i))
            continue;
        if (is_atomic(l, a)) {
            v.way = MOVE_UPDATE;
            v.kind = MOVE_ATOMIC;
            v.lanes = 1;
        }
        add(m, v);
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

// ---- gemm ------------------------------------------------------------------

PlanRead plan_reads(const PlanGemm *g, bool is_b)
{
    const IrGemmShape *s = &g->shape;
    const IrRegion *r = g->stmt->operand[s->operand[is_b]].region;
    const IrBuffer *b = r->buffer;
    int bits = dtype_info(b->dtype)->bits, vector = 128 / bits, last;
    int64_t cols, first = 0;

    last = b->rank - 1;
    if (b->alias_of ||
        !ir_is_int(b->shape[last], &cols) || cols % vector ||
        (r->form != REGION_WHOLE && r->min[last] &&
         (!ir_is_int(r->min[last], &first) || first % vector)))
        return READ_PLAIN;
    if ((is_b ? s->b_row : s->a_col) == last)
        return READ_ROWS;
    if (bits != 16 || (is_b ? s->b_col : s->a_row) != last)
        return READ_PLAIN;
    return g->unit == PLAN_MMA || (is_b ? g->n_mix : g->m_mix) > 1
               ? READ_COLUMNS : READ_PLAIN;
}

static void add_operand(Moves *m, const PlanGemm *g, bool is_b)
{
    IrBuffer *b = is_b ? g->b : g->a;
    PlanRead read = plan_reads(g, is_b);
    bool pairs = !is_b || g->shape.n / g->n_warps % 16 == 0;

    if (!in_shared(m->p, b))
        return;
    PlanMove v = plain(plan_operand_loop(m->p, g, is_b),
                       plan_operand_work(m->p, g, is_b));
    if (g->unit == PLAN_WGMMA) {
        v.kind = MOVE_WGMMA;
        v.work = NULL;
    } else if (g->unit == PLAN_MFMA) {
        if (read != READ_PLAIN)
            v.width = read == READ_ROWS ? g->inst_k * g->k_pack / 4
                      : is_b            ? g->n_mix
                                        : g->m_mix;
        v.bytes = plan_bytes(b, v.width);
    } else if (read != READ_PLAIN) {
        v.kind = MOVE_LDMATRIX;
        v.bytes = 0;
        v.tiles = pairs ? 4 : 2;
        v.transposed = read == READ_COLUMNS;
    }
    add(m, v);
}

// ---- gemm by the threads themselves ----------------------------------------

static PlanLoop *result_loop(Moves *m, const PlanGemm *g, bool is_store)
{
    const IrRegion *r = g->stmt->operand[g->shape.operand[2]].region;
    PlanLoop *l = new (m->p->arena, PlanLoop);
    PlanAccess a = {.buffer = g->c, .is_store = is_store, .bound = -1,
                    .into = -1, .at = r->at};

    *l = (PlanLoop){.stmt = g->stmt, .rank = 2,
                    .points = g->shape.m * g->shape.n,
                    .extent = {g->shape.m, g->shape.n}};
    for (int d = 0; d < g->c->rank; d++) {
        a.map[d] = d == g->shape.c_row ? 0 : d == g->shape.c_col ? 1 : -1;
        a.min[d] = r->form == REGION_WHOLE ? NULL : r->min[d];
    }
    vec_push(m->p->arena, &l->access, a);
    return l;
}

// For each result of a thread all of its row of A, and its column of B.
static PlanWork *chain_work(Moves *m, const PlanGemm *g, const PlanWork *c,
                            bool is_b)
{
    bool k_first = is_b ? !g->shape.trans_b : g->shape.trans_a;
    int k = (int)g->shape.k, n = (int)g->shape.n;
    int rows = is_b ? n : (int)g->shape.m;
    PlanWork *w = plan_work_new(m->p, c->threads, c->locals * k);

    for (int i = 0; i < c->threads * c->locals; i++) {
        int row = is_b ? c->point[i] % n : c->point[i] / n;
        for (int j = 0; j < k && c->point[i] >= 0; j++)
            w->point[(size_t)i * k + j] = k_first ? j * rows + row
                                                  : row * k + j;
    }
    return w;
}

static void gemm_by_threads(Moves *m, const PlanGemm *g)
{
    PlanLoop *c = result_loop(m, g, false);
    const PlanFragment *f = in_registers(m->p, g->c) ? m->p->fragment[g->c->id]
                                                     : NULL;
    PlanWork *w = f ? plan_work_of_layout(m->p, f, f->replicas)
                    : plan_work_of_loop(m->p, c, NULL, 1);

    add(m, plain(c, w));
    for (int is_b = 0; is_b < 2; is_b++)
        if (in_shared(m->p, is_b ? g->b : g->a))
            add(m, plain(plan_operand_loop(m->p, g, is_b),
                         chain_work(m, g, w, is_b)));
    add(m, plain(result_loop(m, g, true), w));
}

static void add_gemm(Moves *m, const PlanGemm *g)
{
    if (g->unit == PLAN_SCALAR) {
        gemm_by_threads(m, g);
        return;
    }
    add_operand(m, g, false);
    add_operand(m, g, true);
}

// ---- reductions ------------------------------------------------------------

// A buffer as a loop over all of its elements; NULL: its size is not constant.
static PlanLoop *whole(Moves *m, IrBuffer *b, bool is_store)
{
    PlanLoop *l = new (m->p->arena, PlanLoop);
    PlanAccess a = {.buffer = b, .is_store = is_store, .bound = -1, .into = -1,
                    .at = m->stmt->at};

    *l = (PlanLoop){.stmt = m->stmt, .rank = b->rank, .points = 1};
    for (int d = 0; d < b->rank; d++) {
        if (!ir_is_int(b->shape[d], &l->extent[d]))
            return NULL;
        a.map[d] = d;
        l->points *= l->extent[d];
    }
    vec_push(m->p->arena, &l->access, a);
    return l;
}

// Element number x along `dim` of line number `line` of the others.
static int32_t point_on(const PlanLoop *l, int dim, int64_t line, int64_t x)
{
    int64_t point = 0, stride = 1;

    for (int d = l->rank - 1; d >= 0; d--) {
        int64_t i = d == dim ? x : line % l->extent[d];
        if (d != dim)
            line /= l->extent[d];
        point += i * stride;
        stride *= l->extent[d];
    }
    return (int32_t)point;
}

// One word of the workspace for each point.
static void add_workspace(Moves *m, const PlanReduce *r, PlanMoveWay way,
                          const PlanWork *w)
{
    add(m, (PlanMove){.stmt = r->stmt, .way = way, .width = 1, .work = w,
                      .bytes = plan_bytes(r->shape.out, 1), .at = r->stmt->at});
}

static void add_steps(Moves *m, const PlanReduce *r)
{
    PlanMove v = {.stmt = r->stmt, .at = r->stmt->at, .width = 1,
                  .bytes = plan_bytes(r->shape.out, 1),
                  .times = r->part->locals};

    for (int i = 0; i < r->step_count; i++) {
        if (r->steps[i] < m->p->device->warp_lanes)
            continue;
        v.way = MOVE_STORE;
        v.partner = 0;
        add(m, v);
        v.way = MOVE_LOAD;
        v.partner = r->steps[i];
        add(m, v);
    }
}

// The threads of `w` have the results: in the workspace, from where all holders
// take them, or in shared memory.
static void deliver(Moves *m, const PlanReduce *r, const PlanWork *w)
{
    IrBuffer *out = r->shape.out;
    const PlanFragment *f = m->p->fragment[out->id];

    if (in_registers(m->p, out)) {
        add_workspace(m, r, MOVE_STORE, w);
        add_workspace(m, r, MOVE_LOAD,
                      plan_work_of_layout(m->p, f, f->replicas));
        return;
    }
    if (!r->shape.clear)
        add(m, plain(whole(m, out, false), w));
    add(m, plain(whole(m, out, true), w));
}

static void reduce_registers(Moves *m, const PlanReduce *r)
{
    const PlanFragment *out = m->p->fragment[r->shape.out->id];

    add_steps(m, r);
    if (in_registers(m->p, r->shape.out) && plan_same(out, r->part))
        return;
    deliver(m, r, plan_work_of_layout(m->p, r->part, 1));
}

// Some lanes share each result.
static void reduce_shared(Moves *m, const PlanReduce *r)
{
    int threads = m->p->launch->threads, step = threads / r->lanes;
    PlanLoop *l = whole(m, r->shape.src, false);
    int n = (int)r->results, extent = (int)l->extent[r->shape.dim];
    int turns = (n + step - 1) / step;
    int per = (extent + r->lanes - 1) / r->lanes;
    PlanWork *w = plan_work_new(m->p, threads, turns * per);
    PlanWork *to = plan_work_new(m->p, threads, turns);

    for (int t = 0; t < threads; t++)
        for (int i = 0; i < turns; i++) {
            int o = i * step + t / r->lanes;
            if (o >= n)
                continue;
            for (int x = t % r->lanes, k = 0; x < extent; x += r->lanes, k++)
                w->point[(t * turns + i) * per + k] =
                    point_on(l, r->shape.dim, o, x);
            if (t % r->lanes == 0)
                to->point[t * turns + i] = o;
        }
    add(m, plain(l, w));
    deliver(m, r, to);
}

static void add_reduce(Moves *m, const IrStmt *s)
{
    const PlanLaunch *l = m->p->launch;

    for (int i = 0; i < l->reduce_count; i++) {
        const PlanReduce *r = &l->reduces[i];
        if (r->stmt != s)
            continue;
        if (in_registers(m->p, r->shape.src))
            reduce_registers(m, r);
        else if (in_shared(m->p, r->shape.src) && whole(m, r->shape.src, false))
            reduce_shared(m, r);
    }
}

// ---- scans -----------------------------------------------------------------

// One thread walks each line.
static void add_scan(Moves *m, IrStmt *s)
{
    IrScanShape h;

    if (!ir_resolve_scan(m->p->kernel, s, &h))
        return;
    for (int is_store = 0; is_store < 2; is_store++) {
        PlanLoop *l = plan_scan_loop(m->p, s, is_store ? h.dst : h.src,
                                     is_store);
        if (!l)
            continue;
        int threads = m->p->launch->threads, n = (int)l->extent[h.dim];
        int lines = n ? (int)l->points / n : 0;
        int turns = (lines + threads - 1) / threads;
        PlanWork *w = plan_work_new(m->p, threads, turns * n);
        for (int p = 0; p < lines; p++)
            for (int x = 0; x < n; x++)
                w->point[(p % threads * turns + p / threads) * n + x] =
                    point_on(l, h.dim, p, h.reverse ? n - 1 - x : x);
        add(m, plain(l, w));
    }
}

// ---- everything else -------------------------------------------------------

static PlanWork *first_thread(Moves *m)
{
    PlanWork *w = plan_work_new(m->p, m->p->launch->threads, 1);

    w->point[0] = 0;
    return w;
}

// All threads alike, or each for itself; what they do alike one of them stores.
static void add_single(Moves *m, IrBuffer *b, IrExpr *const *index, Span at,
                       PlanMoveWay way)
{
    if (b->scope != SCOPE_GLOBAL && !in_shared(m->p, b))
        return;
    PlanLoop *l = plan_single_loop(m->p, m->stmt, b, index, way != MOVE_LOAD);
    plan_thread_context(m->p, m->stmt, l);
    PlanMove v = plain(l, m->once ? first_thread(m)
                                  : plan_work_of_single(m->p, l));
    v.at = at;
    v.way = way;
    if (way == MOVE_UPDATE) {
        v.kind = MOVE_ATOMIC;
        v.lanes = 1;
    }
    add(m, v);
}

static bool move_expr(void *ctx, IrExpr *e)
{
    Moves *m = ctx;

    if (e->kind == EXPR_LOAD)
        add_single(m, e->buffer, e->args, e->at, MOVE_LOAD);
    if (e->kind == EXPR_ATOMIC)
        add_single(m, e->buffer, e->args, e->at, MOVE_UPDATE);
    return true;
}

static bool move_stmt(void *ctx, IrStmt *s);

static void move_ring(Moves *m, IrStmt *s)
{
    const PlanRing *outer = m->ring;
    const PlanLaunch *l = m->p->launch;

    for (int i = 0; i < l->ring_count && !m->ring; i++)
        if (l->rings[i].loop == s && l->rings[i].stages > 1)
            m->ring = &l->rings[i];
    ir_walk(s->then, move_stmt, move_expr, m);
    m->ring = outer;
}

static bool move_op(Moves *m, IrStmt *s, const PlanOp *op)
{
    PlanLoop *l;

    switch (op ? (int)op->kind : -1) {
    case PLANOP_LOOP:
        add_loop(m, op->loop, op->layout);
        return true;
    case PLANOP_GEMM:
        add_gemm(m, op->gemm);
        return true;
    case PLANOP_REDUCE:
        add_reduce(m, s);
        return true;
    case PLANOP_SCAN:
        add_scan(m, s);
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
    Moves *m = ctx;

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
    Moves m = {.p = p, .stmt = launch};

    ir_walk(launch->then, NULL, names_threads, &m.by_thread);
    ir_walk(launch->then, move_stmt, move_expr, &m);
    p->launch->moves = m.moves.at;
    p->launch->move_count = m.moves.len;
}
