// own_tile.c - rules `tilesim`: the instructions of products, reductions and
// scans.
#include "plan/own_int.h"

// ---- gemm ------------------------------------------------------------------

PlanRead plan_reads(const PlanGemm *g, bool is_b)
{
    const IrGemmShape *s = &g->shape;
    const IrRegion *r = g->stmt->operand[s->operand[is_b]].region;
    const IrBuffer *b = r->buffer;
    int bits = plan_bits(PLAN_TILESIM, b), vector = 128 / bits, last;
    int64_t cols, first = 0;

    last = b->rank - 1;
    if (b->alias_of || (s->group && !is_b) ||
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

static void add_operand(OwnMoves *m, const PlanGemm *g, bool is_b)
{
    IrBuffer *b = is_b ? g->b : g->a;
    PlanRead read = plan_reads(g, is_b);
    bool pairs = !is_b || g->shape.n / g->n_warps % 16 == 0;

    if (!plan_in_shared(m->p, b))
        return;
    PlanMove v = own_plain(plan_operand_loop(m->p, g, is_b),
                       plan_operand_work(m->p, g, is_b));
    if (g->unit == PLAN_WGMMA) {
        v.kind = MOVE_WGMMA;
        v.work = NULL;
    } else if (g->unit == PLAN_MFMA) {
        if (read != READ_PLAIN)
            v.width = read == READ_ROWS
                          ? g->inst_k * g->k_pack / plan_row_lanes(g)
                      : is_b ? g->n_mix : g->m_mix;
        v.bytes = own_bytes(b, v.width);
    } else if (read != READ_PLAIN) {
        v.kind = MOVE_LDMATRIX;
        v.bytes = 0;
        v.tiles = pairs ? 4 : 2;
        v.transposed = read == READ_COLUMNS;
    }
    own_add(m, v);
}

// ---- gemm by the threads themselves ----------------------------------------

static PlanLoop *result_loop(OwnMoves *m, const PlanGemm *g, bool is_store)
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
static PlanWork *chain_work(OwnMoves *m, const PlanGemm *g, const PlanWork *c,
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

static void gemm_by_threads(OwnMoves *m, const PlanGemm *g)
{
    PlanLoop *c = result_loop(m, g, false);
    const PlanFragment *f = plan_in_registers(m->p, g->c)
                                ? m->p->fragment[g->c->id] : NULL;
    PlanWork *w = f ? plan_work_of_layout(m->p, f, f->replicas)
                    : plan_work_of_loop(m->p, c, NULL, 1);

    own_add(m, own_plain(c, w));
    for (int is_b = 0; is_b < 2; is_b++)
        if (plan_in_shared(m->p, is_b ? g->b : g->a))
            own_add(m, own_plain(plan_operand_loop(m->p, g, is_b),
                                 chain_work(m, g, w, is_b)));
    own_add(m, own_plain(result_loop(m, g, true), w));
}

void own_gemm(OwnMoves *m, const PlanGemm *g)
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
static PlanLoop *whole(OwnMoves *m, IrBuffer *b, bool is_store)
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
static void add_workspace(OwnMoves *m, const PlanReduce *r, PlanMoveWay way,
                          const PlanWork *w)
{
    own_add(m, (PlanMove){.stmt = r->stmt, .way = way, .width = 1, .work = w,
                          .bytes = own_bytes(r->shape.out, 1),
                          .at = r->stmt->at});
}

static void add_steps(OwnMoves *m, const PlanReduce *r)
{
    PlanMove v = {.stmt = r->stmt, .at = r->stmt->at, .width = 1,
                  .bytes = own_bytes(r->shape.out, 1),
                  .times = r->part->locals};

    for (int i = 0; i < r->step_count; i++) {
        if (r->steps[i] < m->p->device->warp_lanes)
            continue;
        v.way = MOVE_STORE;
        v.partner = 0;
        own_add(m, v);
        v.way = MOVE_LOAD;
        v.partner = r->steps[i];
        own_add(m, v);
    }
}

// The threads of `w` have the results: in the workspace, from where all holders
// take them, or in shared memory.
static void deliver(OwnMoves *m, const PlanReduce *r, const PlanWork *w)
{
    IrBuffer *out = r->shape.out;
    const PlanFragment *f = m->p->fragment[out->id];

    if (plan_in_registers(m->p, out)) {
        add_workspace(m, r, MOVE_STORE, w);
        add_workspace(m, r, MOVE_LOAD,
                      plan_work_of_layout(m->p, f, f->replicas));
        return;
    }
    if (!r->shape.clear)
        own_add(m, own_plain(whole(m, out, false), w));
    own_add(m, own_plain(whole(m, out, true), w));
}

static void reduce_registers(OwnMoves *m, const PlanReduce *r)
{
    const PlanFragment *out = m->p->fragment[r->shape.out->id];

    add_steps(m, r);
    if (plan_in_registers(m->p, r->shape.out) && plan_same(out, r->part))
        return;
    deliver(m, r, plan_work_of_layout(m->p, r->part, 1));
}

// Some lanes share each result.
static void reduce_shared(OwnMoves *m, const PlanReduce *r)
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
    own_add(m, own_plain(l, w));
    deliver(m, r, to);
}

void own_reduce(OwnMoves *m, const IrStmt *s)
{
    const PlanLaunch *l = m->p->launch;

    for (int i = 0; i < l->reduce_count; i++) {
        const PlanReduce *r = &l->reduces[i];
        if (r->stmt != s)
            continue;
        if (plan_in_registers(m->p, r->shape.src))
            reduce_registers(m, r);
        else if (plan_in_shared(m->p, r->shape.src) &&
                 whole(m, r->shape.src, false))
            reduce_shared(m, r);
    }
}

// ---- scans -----------------------------------------------------------------

static int scan_width(const OwnMoves *m, const IrScanShape *h)
{
    const IrBuffer *from = h->src->buffer, *to = h->dst->buffer;
    int v = 128 / plan_bits(PLAN_TILESIM, to);

    if (h->reverse || h->dim != to->rank - 1 || from->dtype != to->dtype ||
        m->p->shared[from->id].address || m->p->shared[to->id].address)
        return 1;
    return plan_line_vector(m->p, h->dst, plan_line_vector(m->p, h->src, v));
}

// One thread walks each line, as many elements at a time as lie in a row.
void own_scan(OwnMoves *m, IrStmt *s)
{
    IrScanShape h;

    if (!ir_resolve_scan(m->p->kernel, s, &h))
        return;
    int width = scan_width(m, &h);
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
        PlanMove v = own_plain(l, w);
        v.width = width;
        v.bytes = own_bytes(v.buffer, width);
        own_add(m, v);
    }
}
