// own.c - our own rules: what does not fit in registers moves to shared memory.
//
// The rules `tilesim` take layouts as the rules `tilelang` do, but never give
// up: a fragment whose element some thread needs and does not hold is kept in
// shared memory ("spilled"), and a gemm that no matrix unit can do is done by
// the threads themselves.
#include "plan/plan_int.h"

#include <string.h>

// ---- fragments that cannot be in registers ---------------------------------

typedef struct {
    PlanState *p;
    const PlanLoop *loop;           // of the statement looked at, or NULL
    bool by_tiles, *tiled, *single; // by buffer id: how each is used
} Odd;

static IrBuffer *root_of(IrBuffer *b)
{
    while (b->alias_of)
        b = b->alias_of;
    return b;
}

static bool var_known(const PlanLoop *l, const IrVar *v)
{
    for (int d = 0; d < l->rank; d++)
        if (l->var[d] == v)
            return true;
    return false;
}

typedef struct {
    const PlanLoop *loop;
    bool odd;
} Index;

static bool index_expr(void *ctx, IrExpr *e)
{
    Index *x = ctx;

    if (e->kind == EXPR_LOAD || e->kind == EXPR_ATOMIC ||
        (e->kind == EXPR_VAR && !var_known(x->loop, e->var)))
        x->odd = true;
    return true;
}

// The elements of a fragment that a loop accesses depend on its own variables
// alone.
static bool is_odd(const PlanLoop *l, const PlanAccess *a)
{
    Index x = {l, false};

    for (int d = 0; d < a->buffer->rank; d++) {
        if (a->min[d])
            ir_walk_expr(a->min[d], index_expr, &x);
        if (a->expr[d])
            ir_walk_expr(a->expr[d], index_expr, &x);
    }
    return x.odd;
}

static bool is_fixed(const IrBuffer *b)
{
    int64_t n;

    for (int d = 0; d < b->rank; d++)
        if (!ir_is_int(b->shape[d], &n))
            return false;
    return true;
}

static void note(Odd *o, IrBuffer *b, bool by_tile)
{
    IrBuffer *root = root_of(b);

    if (root->scope != SCOPE_FRAGMENT)
        return;
    (by_tile ? o->tiled : o->single)[root->id] = true;
    if (root != b || !is_fixed(b))
        o->p->spilled[root->id] = o->p->spilled[b->id] = true;
}

static void look_at_loop(Odd *o, const PlanLoop *l)
{
    for (int i = 0; i < l->access.len; i++) {
        const PlanAccess *a = &l->access.at[i];
        note(o, a->buffer, true);
        if (a->buffer->scope == SCOPE_FRAGMENT &&
            (is_odd(l, a) || a->is_atomic))
            o->p->spilled[a->buffer->id] = true;
    }
}

static void touch_odd(void *ctx, IrBuffer *b, bool is_store)
{
    Odd *o = ctx;

    (void)is_store;
    note(o, b, o->by_tiles);
    if (o->by_tiles && root_of(b)->scope == SCOPE_FRAGMENT)
        o->p->spilled[root_of(b)->id] = true;
}

static bool odd_expr(void *ctx, IrExpr *e)
{
    Odd *o = ctx;

    if (e->kind == EXPR_LOAD || e->kind == EXPR_ATOMIC)
        note(o, e->buffer, false);
    return true;
}

static bool odd_stmt(void *ctx, IrStmt *s)
{
    Odd *o = ctx;
    const PlanOp *op = plan_op_of(o->p, s);

    if (op && op->loop) {
        look_at_loop(o, op->loop);
        return false;
    }
    if (op && op->kind != PLANOP_SCAN) {
        for (int i = 0; i < s->operand_count; i++)
            if (s->operand[i].kind == OPERAND_REGION)
                note(o, s->operand[i].region->buffer, true);
        return true;
    }
    if (s->kind == STMT_TILE ||
        (s->kind == STMT_FOR && s->loop == LOOP_PARALLEL)) {
        o->by_tiles = true;
        plan_touches(o->p, s, touch_odd, o);
        o->by_tiles = false;
        return false;
    }
    if (s->kind == STMT_STORE)
        note(o, s->buffer, false);
    return true;
}

typedef struct {
    PlanState *p;
    int *of, group;                 // by buffer id: a group and 1; 0: none yet
} Users;

static void note_user(void *ctx, IrBuffer *b, bool is_store)
{
    Users *u = ctx;
    int id = root_of(b)->id;

    (void)is_store;
    if (root_of(b)->scope != SCOPE_FRAGMENT)
        return;
    if (u->of[id] && u->of[id] != u->group + 1)
        u->p->spilled[id] = true;
    u->of[id] = u->group + 1;
}

// Threads of one group cannot have in registers what another group's have.
static void spill_between_groups(PlanState *p)
{
    Users u = {p, new_array(p->arena, int, p->kernel->buffer_count + 1), 0};

    for (int i = 0; i < p->ops.len; i++) {
        IrStmt *s = p->ops.at[i].stmt;
        u.group = plan_group(p->launch, s);
        plan_touches(p, s, note_user, &u);
    }
}

// An array that no tile operation uses is each thread's own; one that both
// tile operations and single statements use is shared by the threads.
void plan_spill_odd(PlanState *p)
{
    int n = p->kernel->buffer_count;
    Odd o = {.p = p, .tiled = new_array(p->arena, bool, n + 1),
             .single = new_array(p->arena, bool, n + 1)};

    spill_between_groups(p);
    ir_walk(p->launch->stmt->then, odd_stmt, odd_expr, &o);
    for (int i = 0; i < n; i++) {
        if (o.tiled[i] && o.single[i])
            p->spilled[i] = true;
        IrBuffer *b = p->kernel->buffers[i];
        if (b->alias_of && p->spilled[root_of(b)->id])
            p->spilled[i] = true;
    }
}

// ---- how MFMA reads shared memory ------------------------------------------

static bool is_shared(const PlanState *p, const IrBuffer *b)
{
    return b->scope != SCOPE_FRAGMENT || p->spilled[b->id];
}

// Rows (columns) of C that lie side by side where lanes read across k: 4 or 2
// tiles' at once, of 16 bits. Registers have their operand tile by tile.
static int mix_of(const PlanState *p, const PlanGemm *g, bool is_b)
{
    const IrBuffer *b = is_b ? g->b : g->a;
    int rows = (int)(is_b ? g->shape.n / g->n_warps : g->shape.m / g->m_warps);
    PlanGemm wide = *g;

    if (dtype_info(b->dtype)->bits != 16 || !is_shared(p, b))
        return 0;
    wide.m_mix = wide.n_mix = 4;
    if (plan_reads(&wide, is_b) != READ_COLUMNS)
        return 0;
    return rows % (4 * g->wide) == 0 ? 4 : rows % (2 * g->wide) == 0 ? 2 : 0;
}

// As many steps at a time as fill 16 bytes of a lane; operands in registers
// are laid out for single ones.
static int pack_of(const PlanState *p, const PlanGemm *g)
{
    int bits = dtype_info(g->a->dtype)->bits;
    int pack = 16 * 8 / bits / (g->inst_k / plan_row_lanes(g));

    if (!is_shared(p, g->a) || !is_shared(p, g->b))
        return 1;
    while (g->shape.k % (g->inst_k * pack))
        pack /= 2;
    return pack;
}

static void set_wide(PlanGemm *g, int wide)
{
    g->inst_k = g->inst_k * g->wide / wide;
    g->wide = wide;
}

// Half as many instructions, and rows whose parts two lanes have instead of
// four. What is read across k is 4 tiles wide, or it would be read in halves
// of the words that 16 x 16 results take.
static bool takes_32(const PlanState *p, const PlanGemm *g)
{
    PlanGemm wide = *g;
    int m = (int)g->shape.m / g->m_warps, n = (int)g->shape.n / g->n_warps;

    set_wide(&wide, 32);
    wide.m_mix = wide.n_mix = 4;
    for (int i = 0; i < 2; i++) {
        const IrBuffer *b = i ? g->b : g->a;
        bool across = is_shared(p, b) && plan_reads(&wide, i) != READ_ROWS;
        if (dtype_info(b->dtype)->bits != 16 ||
            (across && mix_of(p, &wide, i) != 4))
            return false;
    }
    return m % 32 == 0 && n % 32 == 0 && g->shape.k % wide.inst_k == 0;
}

// All products of a launch have results of one size, so that registers pass
// from one to the other.
static int results_of(const PlanState *p)
{
    int wide = 32;

    for (int i = 0; i < p->launch->gemm_count; i++) {
        PlanGemm g = p->launch->gemms[i];
        if (g.unit != PLAN_MFMA)
            continue;
        set_wide(&g, 16);
        if (!takes_32(p, &g))
            wide = 16;
    }
    return wide;
}

void plan_widen(PlanState *p)
{
    int wide = results_of(p);

    for (int i = 0; i < p->launch->gemm_count; i++) {
        PlanGemm *g = &p->launch->gemms[i];
        if (g->unit != PLAN_MFMA)
            continue;
        set_wide(g, wide);
        g->m_mix = mix_of(p, g, false);
        g->n_mix = mix_of(p, g, true);
        g->k_pack = pack_of(p, g);
    }
}

// ---- numbers of registers --------------------------------------------------

int32_t *plan_points(Arena *a, const PlanFragment *f, int threads)
{
    size_t n = (size_t)threads * f->locals;
    int32_t *at = new_array(a, int32_t, n + 1);

    for (size_t i = 0; i < n; i++)
        at[i] = -1;
    for (int e = 0; e < f->elements; e++) {
        for (int r = 0; r < f->replicas; r++) {
            int t = f->thread[(size_t)r * f->elements + e];
            int32_t *spot = &at[(size_t)t * f->locals + f->local[e]];
            if (*spot >= 0 && *spot != e)
                return NULL;
            *spot = e;
        }
    }
    return at;
}

// Numbers the elements of every thread as they come, row by row.
static void number_by_rows(PlanState *p, PlanFragment *f)
{
    int32_t *next = new_array(p->arena, int32_t, PLAN_MAX_THREADS);
    f->locals = 0;
    for (int e = 0; e < f->elements; e++) {
        int at = 0;
        for (int r = 0; r < f->replicas; r++) {
            int t = f->thread[(size_t)r * f->elements + e];
            at = next[t] > at ? next[t] : at;
        }
        for (int r = 0; r < f->replicas; r++)
            next[f->thread[(size_t)r * f->elements + e]] = at + 1;
        f->local[e] = at;
        f->locals = at >= f->locals ? at + 1 : f->locals;
    }
}

// Gives the elements of every thread numbers of their own, if they have not.
void plan_number(PlanState *p, PlanFragment *f)
{
    if (!plan_points(p->arena, f, PLAN_MAX_THREADS))
        number_by_rows(p, f);
}

// How many elements of a row a thread has under numbers that follow each other,
// everywhere; a power of two.
static int row_run(PlanState *p, const PlanFragment *f)
{
    const int32_t *at = plan_points(p->arena, f, PLAN_MAX_THREADS);
    int64_t row = f->rank ? f->shape[f->rank - 1] : 1;
    int width = 16;

    if (!at)
        return 1;
    while (f->locals % width || row % width)
        width /= 2;
    for (int i = 0; i < PLAN_MAX_THREADS * f->locals; i++) {
        int first = at[i - i % width];
        while (at[i] != (first < 0 ? -1 : first + i % width) ||
               (first >= 0 && first % width)) {
            width /= 2;
            first = at[i - i % width];
        }
    }
    return width;
}

// The numbers of a copy's loop need not be those of the registers: where these
// go column by column, rows make longer vectors.
PlanFragment *plan_number_copy(PlanState *p, const PlanLoop *l, PlanFragment *f)
{
    size_t n = (size_t)f->elements;
    PlanFragment *rows = new (p->arena, PlanFragment);

    if (p->device->vendor != VENDOR_AMD || !l->is_copy || l->access.len != 2)
        return f;
    *rows = *f;
    rows->local = new_array(p->arena, int32_t, n + 1);
    memcpy(rows->local, f->local, n * sizeof *f->local);
    number_by_rows(p, rows);
    return rows->locals == f->locals && row_run(p, rows) > row_run(p, f) ? rows
                                                                         : f;
}

// ---- reductions ------------------------------------------------------------

// Output element o comes from source elements first + i * step.
static void row_of(const PlanOp *op, const PlanFragment *src, int o, int *first,
                   int *step)
{
    int dim = op->reduce.dim, inner = 1;

    for (int d = dim + 1; d < src->rank; d++)
        inner *= (int)src->shape[d];
    *step = inner;
    *first = o / inner * inner * (int)src->shape[dim] + o % inner;
}

static void find_steps(const PlanOp *op, const PlanFragment *src,
                       PlanReduce *out)
{
    int first, step, bits = 0;

    row_of(op, src, 0, &first, &step);
    for (int i = 1; i < src->shape[op->reduce.dim]; i++)
        bits |= src->thread[first + i * step] ^ src->thread[first];
    for (int m = 1; m < PLAN_MAX_THREADS; m *= 2)
        if (bits & m)
            out->steps[out->step_count++] = m;
}

// What every thread knows of each result, as sums of numbers that stand for
// source elements: a step of the butterfly adds what the partner knows.
static bool steps_suffice(PlanState *p, const PlanOp *op,
                          const PlanFragment *src, const PlanReduce *r)
{
    int threads = plan_group_threads(p->launch, op->stmt);
    int n = (int)r->results, first, step;
    ArenaMark mark = arena_mark(p->arena);
    uint64_t *sum = new_array(p->arena, uint64_t, threads);
    uint64_t *old = new_array(p->arena, uint64_t, threads);
    bool ok = true;

    for (int o = 0; o < n && ok; o++) {
        uint64_t all = 0;
        for (int t = 0; t < threads; t++)
            sum[t] = 0;
        row_of(op, src, o, &first, &step);
        for (int i = 0; i < src->shape[op->reduce.dim]; i++) {
            uint64_t x = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u;
            all += x;
            for (int k = 0; k < src->replicas; k++)
                sum[src->thread[(size_t)k * src->elements + first +
                                i * step]] += x;
        }
        for (int k = 0; k < r->step_count; k++) {
            for (int t = 0; t < threads; t++)
                old[t] = sum[t];
            for (int t = 0; t < threads; t++)
                if ((t ^ r->steps[k]) < threads)
                    sum[t] += old[t ^ r->steps[k]];
        }
        for (int i = 0; i < src->shape[op->reduce.dim] && ok; i++)
            for (int k = 0; k < src->replicas; k++)
                ok &= sum[src->thread[(size_t)k * src->elements + first +
                                      i * step]] == all;
    }
    arena_release(p->arena, mark);
    return ok;
}

bool plan_combine(PlanState *p, PlanOp *op, const PlanFragment *src)
{
    PlanReduce r = {.stmt = op->stmt, .shape = op->reduce};

    r.results = src->elements / (int)src->shape[op->reduce.dim];
    find_steps(op, src, &r);
    if (!steps_suffice(p, op, src, &r))
        return false;
    op->combine = r;
    return true;
}

// ---- what the emitter reads ------------------------------------------------

static int lanes_for(const PlanState *p, const IrStmt *s, int64_t results,
                     int64_t extent)
{
    int threads = plan_group_threads(p->launch, s), lanes = 1;
    int warp = (int)p->device->warp_lanes;

    while (lanes < warp && lanes * 2 * results <= threads && lanes < extent)
        lanes *= 2;
    return threads % warp ? 1 : lanes;
}

// Whether the threads that hold a result in `out` are among those that have
// combined it.
static bool is_own(const PlanFragment *out, const PlanFragment *part)
{
    for (int e = 0; e < out->elements; e++)
        for (int r = 0; r < out->replicas; r++) {
            int t = out->thread[(size_t)r * out->elements + e], k = 0;
            while (k < part->replicas &&
                   part->thread[(size_t)k * part->elements + e] != t)
                k++;
            if (k == part->replicas)
                return false;
        }
    return true;
}

static void keep_reduce(PlanState *p, const PlanOp *op)
{
    PlanLaunch *l = p->launch;
    PlanReduce r = {.stmt = op->stmt, .shape = op->reduce};
    const PlanFragment *src = p->fragment[op->reduce.src->id];
    const PlanFragment *out = p->fragment[op->reduce.out->id];
    int bytes = plan_bits(PLAN_TILESIM, op->reduce.out) / 8;
    int64_t extent = 1;

    if (src && op->combine.stmt) {
        r = op->combine;
        r.part = plan_reduced(p, &op->reduce, src);
        plan_number(p, r.part);
        for (int i = 0; i < r.step_count; i++)
            if (r.steps[i] >= (int)p->device->warp_lanes)
                r.workspace = (int64_t)plan_group_threads(l, op->stmt) * bytes;
    } else {
        r.results = 1;
        for (int d = 0; d < op->reduce.src->rank; d++) {
            int64_t n = 1;
            ir_is_int(op->reduce.src->shape[d], &n);
            r.results *= d == op->reduce.dim ? 1 : n;
            extent = d == op->reduce.dim ? n : extent;
        }
        r.lanes = lanes_for(p, op->stmt, r.results, extent);
    }
    if (p->plan->rules == PLAN_TILELANG)
        r.is_own = out && r.part && is_own(out, r.part);
    else if (out && !(r.part && plan_same(out, r.part)) &&
             r.workspace < r.results * bytes)
        r.workspace = r.results * bytes;
    l->reduces[l->reduce_count++] = r;
}

void plan_keep_own(PlanState *p)
{
    PlanLaunch *l = p->launch;

    l->loops = new_array(p->arena, PlanLoopMap, p->ops.len + 1);
    l->reduces = new_array(p->arena, PlanReduce, p->ops.len + 1);
    for (int i = 0; i < p->ops.len; i++) {
        const PlanOp *op = &p->ops.at[i];
        if (op->kind == PLANOP_LOOP && op->layout)
            l->loops[l->loop_count++] = (PlanLoopMap){op->stmt, op->layout};
        if (op->kind == PLANOP_REDUCE)
            keep_reduce(p, op);
    }
}
