// ledger.c - cycles of pipes, loop by loop, and the least time of a launch.
#include "sim_lds/ledger.h"

#include <stdlib.h>

// Per SM or CU and clock. H100: 16 special functions, 128 lanes. MI300X: 64
// lanes, special functions at a quarter of that. What an SM takes from L2 is
// 64 bytes a clock on both.
enum { EXP_RATE = 16, NVIDIA_LANES = 128, AMD_LANES = 64, L2_BYTES = 64 };

const char *pipe_name(Pipe p)
{
    static const char *const names[] = {"matrix", "exp", "ALU",
                                        "shared memory", "L2", "HBM"};
    return names[p];
}

typedef struct {
    Arena *arena;
    const Plan *plan;
    const CountLaunch *count;
    const int64_t *sizes;
    struct {
        LedgerRow *at;
        int len, room;
    } rows;
    double (*stmt)[PIPE_COUNT];     // one execution, by task
    Ledger out;
} Making;

static bool is_amd(const Making *m)
{
    return m->plan->device->vendor == VENDOR_AMD;
}

// ---- arithmetic ------------------------------------------------------------

typedef struct {
    double exp, alu, times;
} Work;

static bool is_special(Op op)
{
    switch (op) {
    case OP_EXP: case OP_EXP2: case OP_EXP10: case OP_LOG: case OP_LOG2:
    case OP_LOG10: case OP_LOG1P: case OP_SIN: case OP_COS: case OP_TAN:
    case OP_TANH: case OP_SIGMOID: case OP_SQRT: case OP_RSQRT: case OP_POW:
    case OP_ERF: case OP_FAST_EXP: case OP_FAST_EXP10: case OP_FAST_LOG:
    case OP_FAST_LOG2: case OP_FAST_LOG10: case OP_FAST_SIN: case OP_FAST_COS:
    case OP_FAST_TAN: case OP_FAST_RCP:
        return true;
    default:
        return false;
    }
}

static void work_expr(Work *w, const IrExpr *e)
{
    bool counts = dtype_is_float(e->dtype) || e->dtype == DT_BOOL;

    if (e->kind == EXPR_LOAD)
        return;                     // and its addresses
    if (e->kind == EXPR_OP && is_special(e->op))
        w->exp += w->times;
    else if ((e->kind == EXPR_OP || e->kind == EXPR_SELECT) && counts)
        w->alu += w->times;
    else if (e->kind == EXPR_CAST && counts)
        w->alu += w->times;
    // A division is a reciprocal and a product.
    if (e->kind == EXPR_OP && e->op == OP_DIV && counts)
        w->exp += w->times;
    for (int i = 0; i < e->count; i++)
        work_expr(w, e->args[i]);
}

static void work_stmt(Work *w, const IrStmt *s)
{
    double times = w->times;
    int64_t n;

    if (!s)
        return;
    switch (s->kind) {
    case STMT_BLOCK:
        for (int i = 0; i < s->len; i++)
            work_stmt(w, s->body[i]);
        break;
    case STMT_STORE:
    case STMT_LET:
    case STMT_EVAL:
        work_expr(w, s->value);
        break;
    case STMT_IF:
        work_expr(w, s->cond);
        work_stmt(w, s->then);
        work_stmt(w, s->otherwise);
        break;
    case STMT_FOR:
        for (int i = 0; i < s->var_count; i++)
            if (ir_is_int(s->extent[i], &n))
                w->times *= (double)n;
        work_stmt(w, s->then);
        w->times = times;
        break;
    default:
        break;
    }
}

// A tile operation: a copy that converts, or a fill.
static void work_tile(Work *w, const IrStmt *s)
{
    const IrOperand *src = &s->operand[0];
    const IrOperand *dst = s->operand_count > 1 ? &s->operand[1] : src;

    if (src->kind != OPERAND_REGION || dst->kind != OPERAND_REGION ||
        src == dst ||
        src->region->buffer->dtype != dst->region->buffer->dtype)
        w->alu += 1;
}

// ---- statements ------------------------------------------------------------

static double matrix_rate(const Device *d, DType t)
{
    int bits = dtype_info(t)->bits;

    if (bits == 64)
        return (double)d->flop_f64;
    if (bits == 32)
        return (double)(d->vendor == VENDOR_AMD ? d->flop_f32 : d->flop_tf32);
    if (bits == 16)
        return (double)d->flop_f16;
    return (double)(dtype_is_float(t) ? d->flop_f8 : d->flop_i8);
}

// wgmma reads B once for every 64 rows, A once for every part of the columns.
static double wgmma_bytes(const PlanGemm *g)
{
    double bytes = 0;

    if (g->a->scope != SCOPE_FRAGMENT)
        bytes += (double)(g->shape.m * g->shape.k * g->n_warps) *
                 dtype_info(g->a->dtype)->bits / 8;
    return bytes + (double)(g->shape.n * g->shape.k * g->shape.m / 64) *
                       dtype_info(g->b->dtype)->bits / 8;
}

static void cost_gemm(const Making *m, const PlanGemm *g, double *out)
{
    const Device *d = m->plan->device;
    double flops = 2.0 * (double)g->shape.m * (double)g->shape.n *
                   (double)g->shape.k;
    double rate = matrix_rate(d, g->a->dtype);

    if (rate > 0)
        out[PIPE_MATRIX] = flops / rate;
    if (g->unit == PLAN_WGMMA)
        out[PIPE_SHARED] = wgmma_bytes(g) / (double)d->smem_clk;
}

static void cost_task(const Making *m, const PlanTask *t, double *out)
{
    double lanes = is_amd(m) ? AMD_LANES : NVIDIA_LANES;
    Work w = {.times = 1};

    if (t->kind == TASK_GEMM) {
        cost_gemm(m, t->gemm, out);
        return;
    }
    if (t->kind == TASK_REDUCE)
        w.alu = 1;
    else if (t->stmt->kind == STMT_FOR)
        work_stmt(&w, t->stmt->then);
    else
        work_tile(&w, t->stmt);
    out[PIPE_EXP] = w.exp * (double)t->points / EXP_RATE;
    out[PIPE_ALU] = w.alu * (double)t->points / lanes;
}

// What the units of TMA put into shared memory or take out.
static double box_bytes(const CountAccess *a)
{
    const PlanMove *v = a->move;

    if (!a->passes_by || v->kind == MOVE_WGMMA || !v->loop)
        return 0;
    return (double)(v->loop->points * a->sum.executions) *
           dtype_info(v->buffer->dtype)->bits / 8;
}

static double access_cycles(const Making *m, const CountAccess *a, Pipe *pipe)
{
    const Device *d = m->plan->device;

    *pipe = a->is_shared ? PIPE_SHARED : PIPE_L2;
    if (a->is_shared)
        return (double)a->sum.cycles + box_bytes(a) / (double)d->smem_clk;
    return ((double)a->sum.sectors * (is_amd(m) ? 64 : 32) + box_bytes(a)) /
           L2_BYTES;
}

// ---- loops -----------------------------------------------------------------

static LedgerRow *row_of(Making *m, const IrStmt *loop)
{
    LedgerRow fresh = {.loop = loop};

    for (int i = 0; i < m->rows.len; i++)
        if (m->rows.at[i].loop == loop)
            return &m->rows.at[i];
    vec_push(m->arena, &m->rows, fresh);
    return &m->rows.at[m->rows.len - 1];
}

static const CountStmt *count_of(const Making *m, const IrStmt *s, int *at)
{
    for (int i = 0; i < m->count->stmt_count; i++)
        if (m->count->stmts[i].stmt == s) {
            *at = i;
            return &m->count->stmts[i];
        }
    return NULL;
}

// All that one statement costs, in the row of the loop around it.
static void enter_stmt(Making *m, const IrStmt *s, const IrStmt *loop)
{
    LedgerRow *r;
    int at;
    const CountStmt *k = count_of(m, s, &at);

    if (!k)
        return;
    r = row_of(m, loop);
    r->trips = k->executions > r->trips ? k->executions : r->trips;
    for (int i = 0; i < m->count->count; i++) {
        const CountAccess *a = &m->count->at[i];
        Pipe pipe;

        if (a->move->stmt != s || !k->executions)
            continue;
        double cycles = access_cycles(m, a, &pipe);
        m->stmt[at][pipe] += cycles / (double)k->executions;
    }
    for (int p = 0; p < PIPE_COUNT; p++) {
        double cycles = m->stmt[at][p] * (double)k->executions;

        r->cycles[p] += cycles;
        m->out.cycles[p] += cycles;
    }
}

static void enter_loops(Making *m, const IrStmt *s, const IrStmt *loop)
{
    if (!s)
        return;
    if (s->kind == STMT_BLOCK) {
        for (int i = 0; i < s->len; i++)
            enter_loops(m, s->body[i], loop);
        return;
    }
    if (s->kind == STMT_FOR && s->loop == LOOP_PARALLEL) {
        enter_stmt(m, s, loop);
        return;
    }
    if (s->kind == STMT_FOR || s->kind == STMT_WHILE)
        loop = s;
    if (ir_has_body(s)) {
        enter_loops(m, s->then, loop);
        enter_loops(m, s->otherwise, loop);
        return;
    }
    enter_stmt(m, s, loop);
}

// ---- memory ----------------------------------------------------------------

static double tensor_bytes(const Making *m, const IrBuffer *b)
{
    PlanEnv env = {.var = m->sizes};
    PlanLoop none = {0};
    double n = dtype_info(b->dtype)->bits / 8.0;
    PlanRange r;

    for (int d = 0; d < b->rank; d++)
        n *= plan_range(&none, NULL, &env, b->shape[d], &r) ? (double)r.low
                                                            : 1e18;
    return n;
}

// Every byte has to come, or go, once: no more than the tensor has.
static void add_hbm(Making *m)
{
    for (int i = 0; i < m->count->count; i++) {
        const CountAccess *a = &m->count->at[i];
        double moved = 0, most;

        if (a->is_shared)
            continue;
        for (int j = 0; j < m->count->count; j++) {
            const CountAccess *o = &m->count->at[j];

            if (o->is_shared || o->move->buffer != a->move->buffer ||
                (o->move->way == MOVE_LOAD) != (a->move->way == MOVE_LOAD))
                continue;
            if (j < i) {
                moved = 0;
                break;              // in the sum already
            }
            moved += (double)o->sum.bytes + box_bytes(o);
        }
        most = tensor_bytes(m, a->move->buffer);
        m->out.hbm_bytes += moved < most ? moved : most;
    }
}

static void find_narrow(Making *m)
{
    int64_t narrow = 0, most = 0;

    for (int i = 0; i < m->count->count; i++) {
        const CountAccess *a = &m->count->at[i];

        if (!a->is_shared || a->move->way != MOVE_LOAD ||
            (a->move->kind != MOVE_PLAIN && a->move->kind != MOVE_SCAN) ||
            a->move->bytes > 2)
            continue;
        narrow += a->sum.cycles;
        if (a->sum.cycles <= most)
            continue;
        most = a->sum.cycles;
        m->out.narrowest = a;
    }
    if (m->out.cycles[PIPE_SHARED] > 0)
        m->out.narrow = (double)narrow / m->out.cycles[PIPE_SHARED];
}

// ---- blocks ----------------------------------------------------------------

// Blocks in their order, each to the SM that has the least: the load of the
// fullest. A heap of loads.
static double fullest(Arena *a, const double *cost, int64_t n, int sms)
{
    double *heap = new_array(a, double, sms + 1), most = 0;

    for (int64_t i = 0; i < n; i++) {
        double load = heap[0] + cost[i];
        int at = 0;

        most = load > most ? load : most;
        for (;;) {
            int next = 2 * at + 1;

            if (next >= sms)
                break;
            if (next + 1 < sms && heap[next + 1] < heap[next])
                next++;
            if (heap[next] >= load)
                break;
            heap[at] = heap[next];
            at = next;
        }
        heap[at] = load;
    }
    return most;
}

// The load of the fullest SM on the pipe that binds, and what is uneven.
static double spread(Making *m, Pipe pipe)
{
    const CountLaunch *l = m->count;
    int sms = (int)m->plan->device->sms;
    int64_t n = l->block_count, busy = 0;
    double total = m->out.cycles[pipe], longest = 0, *cost;
    bool known = false;

    m->out.blocks = n;
    m->out.idle = -1;
    if (n <= 0)
        return total / sms;
    for (int i = 0; i < l->stmt_count; i++)
        known |= l->stmts[i].blocks.len > 0;
    if (!known)
        return total / (double)n * (double)((n + sms - 1) / sms);
    cost = new_array(m->arena, double, n + 1);
    for (int i = 0; i < l->stmt_count; i++)
        for (int j = 0; j < l->stmts[i].blocks.len; j++) {
            int64_t block = l->stmts[i].blocks.at[j].block;

            if (block < n)
                cost[block] += m->stmt[i][pipe] *
                               (double)l->stmts[i].blocks.at[j].times;
        }
    for (int64_t i = 0; i < n; i++) {
        busy += cost[i] > 0;
        longest = cost[i] > longest ? cost[i] : longest;
    }
    m->out.idle = n - busy;
    if (busy)
        m->out.longest = longest / (total / (double)busy);
    return fullest(m->arena, cost, n, sms);
}

static void find_floor(Making *m)
{
    const Device *d = m->plan->device;
    double hbm = m->out.hbm_bytes / ((double)d->memory_rate * 1e9) * 1e6;
    double sum = 0, load;
    Ledger *o = &m->out;

    for (int p = 0; p < PIPE_COUNT; p++) {
        sum += o->cycles[p];
        if (o->cycles[p] > o->cycles[o->binds])
            o->binds = p;
    }
    load = spread(m, o->binds);
    if (o->cycles[o->binds] > 0)
        sum *= load / o->cycles[o->binds];
    o->floor_us = load / (double)d->clock;
    o->serial_us = sum / (double)d->clock;
    if (hbm > o->floor_us) {
        o->floor_us = hbm;
        o->binds = PIPE_HBM;
    }
    if (hbm > o->serial_us)
        o->serial_us = hbm;
}

Ledger ledger_make(Arena *a, const Plan *p, const CountLaunch *l,
                   const int64_t *sizes)
{
    Making m = {.arena = a, .plan = p, .count = l, .sizes = sizes};

    m.stmt = arena_alloc(a, (size_t)l->stmt_count + 1, sizeof *m.stmt);
    for (int i = 0; i < l->stmt_count; i++)
        cost_task(&m, &l->launch->tasks[i], m.stmt[i]);
    enter_loops(&m, l->launch->stmt->then, NULL);
    add_hbm(&m);
    find_narrow(&m);
    find_floor(&m);
    for (int i = 0; i < l->count; i++)
        m.out.partial |= l->at[i].unknown && l->at[i].is_shared;
    m.out.rows = m.rows.at;
    m.out.row_count = m.rows.len;
    return m.out;
}
