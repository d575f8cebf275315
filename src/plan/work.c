// work.c - what each thread works on: loops and operands of gemms, dealt out.
#include "plan/plan_int.h"

PlanWork *plan_work_new(PlanState *p, int threads, int locals)
{
    PlanWork *w = new (p->arena, PlanWork);
    size_t n = (size_t)threads * (size_t)locals;

    *w = (PlanWork){.threads = threads, .locals = locals,
                    .point = new_array(p->arena, int32_t, n + 1)};
    for (size_t i = 0; i < n; i++)
        w->point[i] = -1;
    return w;
}

static void assign(PlanWork *w, int thread, int local, int point)
{
    if (thread < w->threads && local < w->locals)
        w->point[thread * w->locals + local] = point;
}

// ---- loops -----------------------------------------------------------------

static bool stores_to_memory(const PlanLoop *l)
{
    for (int i = 0; i < l->access.len; i++) {
        const PlanAccess *a = &l->access.at[i];
        if (a->is_store && (a->buffer->scope == SCOPE_GLOBAL ||
                            a->buffer->scope == SCOPE_SHARED ||
                            a->buffer->scope == SCOPE_SHARED_STATIC))
            return true;
    }
    return false;
}

PlanWork *plan_work_of_layout(PlanState *p, const PlanFragment *layout,
                              int replicas)
{
    PlanWork *w = plan_work_new(p, p->launch->threads, layout->locals);

    for (int r = 0; r < replicas; r++)
        for (int n = 0; n < layout->elements; n++)
            assign(w, layout->thread[(size_t)r * layout->elements + n],
                   layout->local[n], n);
    return w;
}

// Of a replicated loop that stores to memory only the first copy runs.
PlanWork *plan_work_of_loop(PlanState *p, const PlanLoop *l,
                            const PlanFragment *layout, int width)
{
    int threads = p->spread, points = (int)l->points;

    if (!layout) {
        int turns = (points + threads * width - 1) / (threads * width);
        PlanWork *w = plan_work_new(p, threads, turns * width);
        for (int n = 0; n < points; n++)
            assign(w, n / width % threads,
                   n / (width * threads) * width + n % width, n);
        return w;
    }
    return plan_work_of_layout(p, layout,
                               stores_to_memory(l) ? 1 : layout->replicas);
}

PlanWork *plan_work_of_single(PlanState *p, const PlanLoop *l)
{
    PlanWork *w = plan_work_new(p, p->launch->threads, (int)l->points);

    for (int t = 0; t < w->threads; t++)
        for (int n = 0; n < l->points; n++)
            assign(w, t, n, n);
    return w;
}

PlanLoop *plan_single_loop(PlanState *p, const IrStmt *s, IrBuffer *b,
                           IrExpr *const *index, bool is_store)
{
    PlanLoop *l = new (p->arena, PlanLoop);
    PlanAccess a = {.buffer = b, .is_store = is_store, .bound = -1,
                    .into = -1, .at = s->at};

    l->stmt = s;
    l->points = 1;
    for (int d = 0; d < b->rank; d++) {
        a.map[d] = -1;
        a.expr[d] = index[d];
    }
    vec_push(p->arena, &l->access, a);
    return l;
}

// ---- operands of gemms -----------------------------------------------------

// Rows and columns of the operand's region, as points.
PlanLoop *plan_operand_loop(PlanState *p, const PlanGemm *g, bool is_b)
{
    const IrGemmShape *s = &g->shape;
    const IrRegion *r = g->stmt->operand[is_b].region;
    int one = is_b ? s->b_row : s->a_row, other = is_b ? s->b_col : s->a_col;
    bool k_first = is_b ? !s->trans_b : s->trans_a;
    int64_t x = is_b ? s->n : s->m;
    PlanLoop *l = new (p->arena, PlanLoop);
    PlanAccess a = {.buffer = r->buffer, .bound = -1, .into = -1, .at = r->at};

    *l = (PlanLoop){.stmt = g->stmt, .rank = 2, .points = x * s->k,
                    .extent = {k_first ? s->k : x, k_first ? x : s->k}};
    for (int d = 0; d < r->buffer->rank; d++) {
        a.map[d] = d == (one < other ? one : other)   ? 0
                   : d == (one < other ? other : one) ? 1
                                                      : -1;
        a.min[d] = r->form == REGION_WHOLE ? NULL : r->min[d];
    }
    vec_push(p->arena, &l->access, a);
    return l;
}

typedef struct {
    int lane, local;
} Spot;

// One micro tile: row x of M (column of N) and k. `word` elements make a
// register.
static Spot nvidia_spot(int x, int k, int word, bool is_b, bool narrow)
{
    int half = k / (4 * word), low = x / 8;
    int number = narrow ? half : is_b ? 2 * low + half : 2 * half + low;

    return (Spot){4 * (x % 8) + k % (4 * word) / word,
                  number * word + k % word};
}


typedef struct {
    int wide, depth;                // of a micro tile: of M or N, and of K
    int rows;                       // of M or N of a warp
    int locals;                     // of a micro tile
    int mine, others;               // warps along it, and across
    int word;                       // NVIDIA: elements of a register
    int mix;                        // AMD: rows that are read together
} Cut;

static bool cut_of(const PlanGemm *g, bool is_b, Cut *c)
{
    int bits = g->unit == PLAN_MMA ? 256 / g->inst_k
               : dtype_info((is_b ? g->b : g->a)->dtype)->bits;
    bool amd = g->unit == PLAN_MFMA;

    *c = (Cut){.wide = amd ? g->wide : 16,
               .mine = is_b ? g->n_warps : g->m_warps,
               .others = is_b ? g->m_warps : g->n_warps};
    c->rows = (int)(is_b ? g->shape.n : g->shape.m) / c->mine;
    if (bits > 32 || bits < 8)
        return false;
    c->word = 32 / bits;
    c->depth = amd ? g->inst_k * g->k_pack : 8 * c->word;
    if (is_b && !amd && c->rows % 16)
        c->wide = 8;
    c->mix = is_b ? g->n_mix : g->m_mix;
    if (c->mix < 1)
        c->mix = 1;
    c->locals = amd ? c->depth / plan_row_lanes(g) : c->wide / 8 * 2 * c->word;
    return c->rows % c->wide == 0 && g->shape.k % c->depth == 0;
}

// Rows that are read together have numbers one after the other.
static Spot amd_spot(const Cut *c, int x, int k)
{
    int micro = plan_micro(x, c->wide, c->mix);
    int groups = c->rows / c->wide / c->mix;
    int step = k % c->depth;

    return (Spot){
        plan_micro_row(x, c->wide, c->mix) + c->wide * (step / c->locals),
        (c->locals * (micro / c->mix + groups * (k / c->depth)) +
         step % c->locals) * c->mix + micro % c->mix,
    };
}

static Spot spot_of(const PlanGemm *g, const Cut *c, int x, int k, bool is_b)
{
    if (g->unit == PLAN_MFMA)
        return amd_spot(c, x % c->rows, k);
    Spot s = nvidia_spot(x % c->wide, k % c->depth, c->word, is_b,
                         c->wide == 8);
    s.local += c->locals * (x % c->rows / c->wide +
                            c->rows / c->wide * (k / c->depth));
    return s;
}

static void deal(PlanWork *w, const PlanGemm *g, const Cut *c, int x, int k,
                 bool is_b, int point)
{
    bool amd = g->unit == PLAN_MFMA;
    Spot s = spot_of(g, c, x, k, is_b);
    int tile = x / c->rows;

    for (int r = 0; r < c->others; r++) {
        int warp = is_b ? r + g->m_warps * tile : tile + g->m_warps * r;
        assign(w, s.lane + (amd ? 64 : 32) * warp, s.local, point);
    }
}

PlanWork *plan_operand_work(PlanState *p, const PlanGemm *g, bool is_b)
{
    bool k_first = is_b ? !g->shape.trans_b : g->shape.trans_a;
    int x = (int)(is_b ? g->shape.n : g->shape.m), k = (int)g->shape.k;
    Cut c;

    if (!cut_of(g, is_b, &c))
        return NULL;
    PlanWork *w = plan_work_new(p, p->launch->threads,
                           c.locals * (c.rows / c.wide) * (k / c.depth));
    for (int i = 0; i < x; i++)
        for (int j = 0; j < k; j++)
            deal(w, g, &c, i, j, is_b, k_first ? j * x + i : i * k + j);
    return w;
}

// ---- scans -----------------------------------------------------------------

// A region of a scan as a loop over its elements; NULL: sizes are not constant.
PlanLoop *plan_scan_loop(PlanState *p, const IrStmt *s, const IrRegion *r,
                         bool is_store)
{
    PlanLoop *l = new (p->arena, PlanLoop);
    PlanAccess a = {.buffer = r->buffer, .is_store = is_store, .bound = -1,
                    .into = -1, .at = r->at};

    *l = (PlanLoop){.stmt = s, .rank = r->buffer->rank, .points = 1};
    for (int d = 0; d < l->rank; d++) {
        const IrExpr *extent = r->form == REGION_WHOLE ? r->buffer->shape[d]
                                                       : r->extent[d];
        if (!extent || !ir_is_int(extent, &l->extent[d]))
            return NULL;
        a.min[d] = r->form == REGION_WHOLE ? NULL : r->min[d];
        a.map[d] = d;
        l->points *= l->extent[d];
    }
    vec_push(p->arena, &l->access, a);
    return l;
}

// Lines are dealt out to warps in turn; the lanes of one take its elements one
// by one, or, `ahead` of that, all of them the first of each round. One line is
// the first warp's.
PlanWork *plan_scan_work(PlanState *p, const PlanLoop *l, int dim, bool ahead)
{
    int lanes = (int)p->device->warp_lanes, warps = p->launch->threads / lanes;
    int length = (int)l->extent[dim], lines = (int)l->points / (length | !length);
    int rounds = (length + lanes - 1) / lanes;
    bool outer = l->rank == 2 && dim == 0;

    if (warps < 1 || length < 1)
        return NULL;
    PlanWork *w = plan_work_new(p, p->launch->threads,
                           rounds * ((lines + warps - 1) / warps));
    for (int line = 0; line < lines; line++)
        for (int i = 0; i < rounds * lanes; i++) {
            int at = ahead ? i / lanes * lanes : i;
            int thread = line % warps * lanes + i % lanes;
            int local = line / warps * rounds + i / lanes;
            if (at < length)
                assign(w, thread, local,
                       outer ? at * lines + line : line * length + at);
        }
    return w;
}

// ---- tasks -----------------------------------------------------------------

static int64_t points_of(const PlanState *p, const PlanOp *op)
{
    const PlanFragment *f;

    if (op->kind == PLANOP_LOOP)
        return op->loop->points *
               (op->layout && !stores_to_memory(op->loop)
                    ? op->layout->replicas : 1);
    f = op->kind == PLANOP_REDUCE ? p->fragment[op->reduce.src->id] : NULL;
    return f ? (int64_t)f->elements * f->replicas : 0;
}

void plan_tasks(PlanState *p)
{
    static const PlanTaskKind kinds[] = {
        [PLANOP_LOOP] = TASK_LOOP, [PLANOP_REDUCE] = TASK_REDUCE,
        [PLANOP_GEMM] = TASK_GEMM, [PLANOP_SCAN] = TASK_SCAN,
    };

    p->launch->task_count = p->ops.len;
    p->launch->tasks = new_array(p->arena, PlanTask, p->ops.len + 1);
    for (int i = 0; i < p->ops.len; i++) {
        const PlanOp *op = &p->ops.at[i];

        p->launch->tasks[i] = (PlanTask){
            .kind = kinds[op->kind], .stmt = op->stmt,
            .points = points_of(p, op), .gemm = op->gemm,
        };
    }
}
