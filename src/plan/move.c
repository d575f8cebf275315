// move.c - the instructions of every statement that touches memory.
#include "plan/plan_int.h"

typedef struct {
    PlanState *p;
    const IrStmt *stmt;             // the one that is looked at
    const PlanPipeline *pipeline;   // around the statement, or NULL
    bool after_fed;                 // past the loop with producer warps
    struct {
        PlanMove *at;
        int len, room;
    } moves;
} Moves;

static bool in_memory(const IrBuffer *b)
{
    return b->scope == SCOPE_GLOBAL || b->scope == SCOPE_SHARED ||
           b->scope == SCOPE_SHARED_STATIC;
}

static void add(Moves *m, PlanMove v)
{
    if (in_memory(v.buffer))
        vec_push(m->p->arena, &m->moves, v);
}

static int plan_bytes(const IrBuffer *b, int elements)
{
    return (dtype_info(b->dtype)->bits * elements + 7) / 8;
}

// ---- copies and loops ------------------------------------------------------

// In a pipeline that the threads which compute also fill.
static bool is_overlapped(const Moves *m)
{
    return m->pipeline && m->pipeline->loop != m->p->fed &&
           !m->pipeline->guarded;
}

// In the loop that producer warps fill.
static bool is_fed(const Moves *m)
{
    return m->pipeline && m->pipeline->loop == m->p->fed;
}

// A T.Parallel of a pipeline that only brings elements to shared memory.
static bool brings(const Moves *m, const IrStmt *s)
{
    const IrStmt *store = s->kind == STMT_FOR ? s->then : NULL;

    while (store && store->kind == STMT_BLOCK && store->len == 1)
        store = store->body[0];
    return store && (is_overlapped(m) || is_fed(m)) &&
           store->kind == STMT_STORE && store->value->kind == EXPR_LOAD &&
           store->buffer->scope == SCOPE_SHARED &&
           store->value->buffer->scope == SCOPE_GLOBAL &&
           store->value->buffer->dtype == store->buffer->dtype;
}

// cp.async has 4, 8 or 16 bytes.
static PlanMoveKind kind_of_loop(const Moves *m, const PlanOp *op, int width)
{
    int bytes = plan_bytes(op->loop->access.at[0].buffer, width);

    return brings(m, op->stmt) && m->p->device->vendor == VENDOR_NVIDIA &&
                   (bytes == 4 || bytes == 8 || bytes == 16)
               ? MOVE_CP_ASYNC : MOVE_PLAIN;
}

static PlanMoveKind kind_of_copy(const Moves *m, const PlanOp *op, int width)
{
    const PlanAccess *src = &op->loop->access.at[0];
    const PlanAccess *dst = &op->loop->access.at[op->loop->access.len - 1];
    bool load = src->buffer->scope == SCOPE_GLOBAL, bulk;
    int bytes = plan_bytes(src->buffer, width);

    if (plan_is_tma(m->p, op->stmt, &bulk) &&
        (!load || is_fed(m) || (!m->after_fed &&
                                plan_beside_fed(m->p, op->stmt))))
        return bulk ? MOVE_BULK : MOVE_TMA;
    if (load && is_overlapped(m) && dst->buffer->scope == SCOPE_SHARED &&
        src->buffer->dtype == dst->buffer->dtype &&
        (bytes == 4 || bytes == 8 || bytes == 16))
        return MOVE_CP_ASYNC;
    return MOVE_PLAIN;
}

// Lane 4 (row % 8) + (column % 8) / 2 holds pairs of columns: what ldmatrix and
// stmatrix move.
static bool is_matrix_layout(const PlanFragment *f)
{
    int cols = (int)f->shape[f->rank - 1];

    if (f->rank != 2 || f->shape[0] % 8 || cols % 16)
        return false;
    for (int e = 0; e < f->elements; e++) {
        int i = e / cols, j = e % cols;
        if (f->thread[e] % 32 != 4 * (i % 8) + j % 8 / 2 ||
            f->local[e] % 2 != j % 2)
            return false;
    }
    return true;
}

// A move between a fragment and a shared tile of 16-bit elements. Tiles of a
// pipeline are indexed by slot, and upstream moves those one by one.
static bool moves_matrices(const Moves *m, const PlanOp *op)
{
    const PlanAccess *src = &op->loop->access.at[0];
    const PlanAccess *dst = &op->loop->access.at[1];
    bool store = src->buffer->scope == SCOPE_FRAGMENT;
    const IrBuffer *tile = store ? dst->buffer : src->buffer;
    const IrBuffer *own = store ? src->buffer : dst->buffer;

    return op->loop->is_copy && tile->scope == SCOPE_SHARED &&
           own->scope == SCOPE_FRAGMENT && m->p->fragment[own->id] &&
           dtype_info(tile->dtype)->bits == 16 && m->p->slots[tile->id] == 1 &&
           m->p->device->vendor == VENDOR_NVIDIA &&
           (store ? m->p->device->arch == ARCH_SM90
                  : own->dtype == tile->dtype) &&
           is_matrix_layout(m->p->fragment[own->id]);
}

static bool is_atomic(const IrStmt *s)
{
    return s->kind == STMT_TILE &&
           (s->op == OP_ATOMIC_ADD || s->op == OP_ATOMIC_MAX ||
            s->op == OP_ATOMIC_MIN);
}

// A tile operation on what a thread's own index names, or an atomic on one
// element: every thread does it, and nobody has written down how.
static bool is_every_threads(const PlanOp *op)
{
    const PlanLoop *l = op->loop;

    if (op->stmt->kind != STMT_TILE)
        return false;
    for (int i = 0; i < l->access.len; i++)
        for (int d = 0; d < l->access.at[i].buffer->rank; d++)
            if (plan_by_thread(l, l->access.at[i].min[d]))
                return true;
    return is_atomic(op->stmt) && l->points == 1;
}

// Loads past the end give zeros, and upstream's HIP has no e5m2 constants.
static void refuse_zeros(Moves *m, const PlanLoop *l)
{
    for (int i = 0; i < l->access.len; i++) {
        const PlanAccess *a = &l->access.at[i];
        if (!a->is_store && a->buffer->scope == SCOPE_GLOBAL &&
            a->buffer->dtype == DT_E5M2 && l->is_copy &&
            m->p->device->vendor == VENDOR_AMD && !plan_inside(m->p, l, a))
            m->p->launch->refused = "a load of e5m2 past its tensor's end";
    }
}

// Of what the compiler makes one load of, one is left.
static void merge(Moves *m, PlanMove *v, PlanWork *work, bool one)
{
    int width = one ? 1 : v->width;
    PlanWork *left = plan_merged(m->p, v->loop, v->access, work, &width);

    if (left == work)
        return;
    v->work = left;
    v->merged = true;
    v->width = width;
    v->bytes = plan_bytes(v->buffer, width);
}

static void move_loop(Moves *m, PlanOp *op)
{
    const PlanLoop *l = op->loop;
    // Warps that will be producers take part in what is ahead of their loop.
    bool ahead = m->p->fed && !m->after_fed && !is_fed(m);
    m->p->spread = m->p->launch->threads + (ahead ? m->p->launch->producers : 0);
    int dealt = plan_vector_of(m->p, op);
    PlanWork *work = plan_work_of_loop(m->p, l, op->layout, dealt);
    int width = op->layout ? dealt : plan_torn(m->p, l, work, dealt);
    PlanMoveKind kind = l->is_copy ? kind_of_copy(m, op, width)
                                   : kind_of_loop(m, op, width);
    bool matrices = l->is_copy && moves_matrices(m, op);

    refuse_zeros(m, l);
    if (is_every_threads(op))
        work = NULL;
    for (int i = 0; i < l->access.len; i++) {
        const PlanAccess *a = &l->access.at[i];
        bool one = !a->is_store && plan_stays(m->p, l, a);
        PlanMove v = {.stmt = op->stmt, .buffer = a->buffer, .kind = kind,
                      .way = a->is_store ? MOVE_STORE : MOVE_LOAD,
                      .bytes = plan_bytes(a->buffer, one ? 1 : width),
                      .width = width, .loop = l, .access = a, .work = work,
                      .at = a->at};
        if (op->layout && !l->is_copy && work)
            merge(m, &v, work, one);
        if (a->is_store && (a->is_atomic || is_atomic(op->stmt))) {
            v.way = MOVE_UPDATE;
            v.kind = MOVE_ATOMIC;
            v.lanes = m->p->device->arch == ARCH_SM90 && width > 1 ? 2 : 1;
            v.width = v.lanes;
            v.bytes = plan_bytes(a->buffer, v.lanes);
        }
        if (matrices) {
            v.kind = a->is_store ? MOVE_STMATRIX : MOVE_LDMATRIX;
            int tiles = op->layout->locals / 2;
            v.tiles = tiles % 4 == 0 ? 4 : tiles % 2 == 0 ? 2 : 1;
        }
        add(m, v);
    }
}

static void add_im2col(Moves *m, const IrStmt *s, PlanMoveKind kind, int width)
{
    for (int i = 0; i < 2; i++) {
        IrBuffer *b = s->operand[i].region->buffer;
        add(m, (PlanMove){.stmt = s, .buffer = b, .kind = kind,
                          .way = i ? MOVE_STORE : MOVE_LOAD, .at = s->at,
                          .bytes = plan_bytes(b, width)});
    }
}

// Channels of a pixel are contiguous; windows of whole vectors of them move.
// In the loop of a pipeline the window is that of a later iteration; upstream
// cannot prove that it does not cut a vector, and moves single elements.
static void move_im2col(Moves *m, const IrStmt *s)
{
    const IrBuffer *image = s->operand[0].region->buffer;
    bool tma = m->p->device->arch == ARCH_SM90 && m->p->fed && !m->after_fed;
    int width = 128 / dtype_info(image->dtype)->bits;
    int64_t channels = 1;

    ir_is_int(image->shape[image->rank - 1], &channels);
    while (channels % width)
        width /= 2;
    add_im2col(m, s, tma ? MOVE_TMA : MOVE_PLAIN, width);
    if (is_overlapped(m) && !tma)
        add_im2col(m, s, MOVE_PLAIN, 1);
}

// ---- gemm operands ---------------------------------------------------------

// ldmatrix takes 16-bit elements either way round, others only k innermost.
static PlanMove load_mma(const PlanGemm *g, bool is_b)
{
    IrBuffer *b = is_b ? g->b : g->a;
    bool k_inner = is_b ? g->shape.trans_b : !g->shape.trans_a;
    int bits = dtype_info(b->dtype)->bits;
    PlanMove v = {.stmt = g->stmt, .buffer = b, .kind = MOVE_LDMATRIX,
                  .tiles = 4, .transposed = !k_inner};

    if (bits != 16 && !k_inner)
        return (PlanMove){.stmt = g->stmt, .buffer = b,
                          .bytes = plan_bytes(b, 1)};
    if (is_b && g->shape.n / g->n_warps % 16)
        v.tiles = 2;
    return v;
}

static PlanMove load_mfma(const PlanGemm *g, bool is_b)
{
    IrBuffer *b = is_b ? g->b : g->a;
    bool k_inner = is_b ? g->shape.trans_b : !g->shape.trans_a;
    int elements = k_inner ? g->inst_k * g->k_pack / plan_row_lanes(g) : 1;

    return (PlanMove){.stmt = g->stmt, .buffer = b,
                      .bytes = plan_bytes(b, elements)};
}

static void move_gemm(Moves *m, const PlanGemm *g)
{
    for (int i = 0; i < 2; i++) {
        bool is_b = i == 1;
        IrBuffer *b = is_b ? g->b : g->a;
        PlanMove v = {.stmt = g->stmt, .buffer = b, .kind = MOVE_WGMMA};

        if (!in_memory(b))
            continue;
        if (g->unit != PLAN_WGMMA)
            v = g->unit == PLAN_MMA ? load_mma(g, is_b) : load_mfma(g, is_b);
        PlanLoop *l = plan_operand_loop(m->p, g, is_b);
        v.loop = l;
        v.access = l->access.at;
        v.at = v.access->at;
        v.width = v.kind == MOVE_PLAIN
                      ? v.bytes * 8 / dtype_info(b->dtype)->bits : 1;
        if (g->unit != PLAN_WGMMA)
            v.work = plan_operand_work(m->p, g, is_b);
        add(m, v);
    }
}

// ---- calls -----------------------------------------------------------------

// What is done by calls whose accesses nobody has written down yet.
static void move_call(Moves *m, const IrStmt *s)
{
    const OpInfo *info = op_info(m->p->kernel->ops, s->op);

    if (info->class == OPCLASS_HINT)
        return;
    for (int i = 0; i < s->operand_count; i++) {
        const IrOperand *o = &s->operand[i];
        if (o->kind == OPERAND_REGION)
            add(m, (PlanMove){
                .stmt = s, .buffer = o->region->buffer, .kind = MOVE_CALL,
                .way = info->param[i].access == 'r' ? MOVE_LOAD : MOVE_STORE,
                .at = s->at,
            });
    }
}

// ---- reductions ------------------------------------------------------------

// Each result of a step, with the partners that are not in the same warp.
static void move_step(Moves *m, const PlanOp *op, const PlanStep *step)
{
    PlanMove v = {
        .stmt = op->stmt, .way = MOVE_STORE, .at = op->stmt->at, .width = 1,
        .bytes = plan_bytes(op->reduce.out, 1), .times = plan_results(m->p, op),
    };

    for (int n = step->reach / 2; n >= step->scale && n > 0; n /= 2) {
        if (n < m->p->device->warp_lanes)
            break;
        v.partner = 0;
        v.way = MOVE_STORE;
        vec_push(m->p->arena, &m->moves, v);
        v.partner = n;
        v.way = MOVE_LOAD;
        vec_push(m->p->arena, &m->moves, v);
    }
}

static void move_reduce(Moves *m, const PlanOp *op)
{
    PlanStep steps[PLAN_STEPS];
    int n = plan_workspaces(m->p, op, steps);

    for (int i = 0; i < n; i++)
        move_step(m, op, &steps[i]);
    move_call(m, op->stmt);         // operands that are no fragments
}

// ---- scans -----------------------------------------------------------------

static void add_scan(Moves *m, const IrStmt *s, const IrRegion *r, int dim,
                     bool is_store, bool ahead)
{
    PlanLoop *l = plan_scan_loop(m->p, s, r, is_store);
    PlanMove v = {.stmt = s, .buffer = r->buffer, .width = 1, .at = r->at,
                  .bytes = plan_bytes(r->buffer, 1), .kind = MOVE_SCAN,
                  .way = is_store ? MOVE_STORE : MOVE_LOAD};

    if (!l)
        return;
    v.loop = l;
    v.access = l->access.at;
    v.work = plan_scan_work(m->p, l, dim, ahead);
    add(m, v);
}

// The loop of AMD's library reads the first element of a round in all lanes,
// then each lane its own.
static void move_scan(Moves *m, const IrStmt *s)
{
    IrScanShape r;

    if (!ir_resolve_scan(m->p->kernel, s, &r))
        return;
    if (m->p->device->vendor == VENDOR_AMD)
        add_scan(m, s, r.src, r.dim, false, true);
    add_scan(m, s, r.src, r.dim, false, false);
    add_scan(m, s, r.dst, r.dim, true, false);
}

// ---- everything else -------------------------------------------------------

// All threads take the same element.
// Elements of a vectorized loop that one instruction moves: all, if they lie in
// a row; where they are one element, that.
static int width_of_single(const Moves *m, const PlanLoop *l)
{
    const IrBuffer *b = l->access.at[0].buffer;
    int most = 128 / dtype_info(b->dtype)->bits, width = 1;
    int64_t point[IR_MAX_RANK] = {0}, first;

    if (!l->rank || plan_stays(m->p, l, &l->access.at[0]))
        return (int)l->points;
    first = plan_element(l, &l->access.at[0], point);
    point[0] = 1;
    if (plan_element(l, &l->access.at[0], point) != first + 1)
        return 1;
    while (width < most && l->points % (2 * width) == 0)
        width *= 2;
    return width;
}

// Every thread executes it: all alike, or each for itself.
static void move_single(Moves *m, const IrStmt *s, IrBuffer *b,
                        IrExpr *const *index, Span at, bool is_store)
{
    PlanMove v = {.stmt = s, .buffer = b,
                  .way = is_store ? MOVE_STORE : MOVE_LOAD, .at = at};

    if (!in_memory(b))
        return;
    PlanLoop *l = plan_single_loop(m->p, s, b, index, is_store);
    plan_thread_context(m->p, s, l);
    bool stays = l->rank && plan_stays(m->p, l, l->access.at);
    v.width = width_of_single(m, l);
    v.bytes = plan_bytes(b, stays ? 1 : v.width);
    v.loop = l;
    v.access = l->access.at;
    v.work = plan_work_of_single(m->p, l);
    add(m, v);
}

static bool move_expr(void *ctx, IrExpr *e)
{
    Moves *m = ctx;

    if (e->kind == EXPR_LOAD)
        move_single(m, m->stmt, e->buffer, e->args, e->at, false);
    return true;
}

static bool move_stmt(void *ctx, IrStmt *s);

static void move_pipelined(Moves *m, IrStmt *s)
{
    const PlanPipeline *outer = m->pipeline;

    m->pipeline = plan_pipeline(m->p, s);
    ir_walk(s->then, move_stmt, move_expr, m);
    m->pipeline = outer;
    m->after_fed |= s == m->p->fed;
}

static bool move_stmt(void *ctx, IrStmt *s)
{
    Moves *m = ctx;
    PlanOp *op = plan_op_of(m->p, s);
    IrStmt *side;

    m->stmt = s;
    if (plan_decided(m->p, s, &side)) {
        ir_walk(side, move_stmt, move_expr, m);
        return false;
    }
    if (op && op->kind == PLANOP_LOOP) {
        move_loop(m, op);
        return false;
    }
    if (op && op->kind == PLANOP_GEMM) {
        move_gemm(m, op->gemm);
        return false;
    }
    if (op && op->kind == PLANOP_REDUCE)
        move_reduce(m, op);
    else if (s->kind == STMT_TILE && s->op == OP_IM2COL)
        move_im2col(m, s);
    else if (s->kind == STMT_TILE && (s->op == OP_CUMSUM || s->op == OP_CUMMAX))
        move_scan(m, s);
    else if (s->kind == STMT_TILE)
        move_call(m, s);
    if (s->kind == STMT_TILE)
        return false;
    if (s->kind == STMT_FOR && s->loop == LOOP_PIPELINED) {
        move_pipelined(m, s);
        return false;
    }
    if (s->kind == STMT_STORE)
        move_single(m, s, s->buffer, s->index, s->at, true);
    return true;
}

void plan_moves(PlanState *p, IrStmt *launch)
{
    Moves m = {.p = p, .stmt = launch};

    ir_walk(launch->then, move_stmt, move_expr, &m);
    p->launch->moves = m.moves.at;
    p->launch->move_count = m.moves.len;
}
