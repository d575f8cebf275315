// gpu_plan_held.c - is a code object what was planned?
#include "cli/gpu_report.h"

static const IrBuffer *storage(const IrBuffer *b)
{
    while (b->alias_of)
        b = b->alias_of;
    return b;
}

static bool in_shared(const Plan *p, const IrBuffer *b)
{
    if (!b)                         // a workspace
        return true;
    b = storage(b);
    return b->scope == SCOPE_SHARED || b->scope == SCOPE_SHARED_STATIC ||
           b->scope == SCOPE_REDUCER || p->spilled[b->id];
}

// Loads that the compiler is to make one of may stay two in one instruction.
static int least_bytes(const PlanMove *m)
{
    return m->kind == MOVE_CALL ? 1 : m->merged ? m->bytes / m->width
                                                : m->bytes;
}

// Bytes of a lane in the narrowest load from shared memory; 0: there is none.
static int narrowest_load(const Plan *p, const PlanLaunch *l)
{
    int least = 0;

    for (int i = 0; i < l->move_count; i++) {
        const PlanMove *m = &l->moves[i];
        if (m->way != MOVE_STORE && in_shared(p, m->buffer) &&
            (!least || least_bytes(m) < least))
            least = least_bytes(m);
    }
    return least;
}

static int mfma_of(const PlanGemm *g)
{
    if (g->unit != PLAN_MFMA)
        return 0;
    return (int)(g->shape.m / g->m_warps / g->wide *
                 (g->shape.n / g->n_warps / g->wide) *
                 (g->shape.k / g->inst_k));
}

int gpu_planned_mfma(const PlanLaunch *l)
{
    int n = 0;

    for (int i = 0; i < l->gemm_count; i++)
        n += mfma_of(&l->gemms[i]);
    return n;
}

// ---- results that are not all wanted ----------------------------------------

typedef struct {
    const IrBuffer *buffer;             // a product's result
    int chosen, others;                 // reads: by place, and all else
} Reads;

static bool count_load(void *ctx, IrExpr *e)
{
    Reads *r = ctx;

    r->others += (e->kind == EXPR_LOAD || e->kind == EXPR_ATOMIC) &&
                 storage(e->buffer) == r->buffer;
    return true;
}

static int loads(const IrBuffer *b, IrExpr *e)
{
    Reads r = {.buffer = b};

    ir_walk_expr(e, count_load, &r);
    return r.others;
}

static bool is_other(void *ctx, IrExpr *e)
{
    bool *found = ctx;

    *found |= e->kind == EXPR_LOAD || e->kind == EXPR_ATOMIC ||
              (e->kind == EXPR_VAR && e->var->kind != VAR_LOOP);
    return true;
}

// "row >= col": loop variables and constants.
static bool is_place(IrExpr *condition)
{
    bool other = false;

    ir_walk_expr(condition, is_other, &other);
    return !other;
}

// What is chosen by its place, or else something without the product's result.
static bool count_choice(void *ctx, IrExpr *e)
{
    Reads *r = ctx;

    if (e->kind != EXPR_SELECT || !is_place(e->args[0]))
        return count_load(ctx, e);
    int yes = loads(r->buffer, e->args[1]), no = loads(r->buffer, e->args[2]);
    if (yes && no)
        r->others += yes + no;
    else
        r->chosen += yes + no;
    return false;
}

static bool count_tile(void *ctx, IrStmt *s)
{
    Reads *r = ctx;

    for (int i = 0; s->kind == STMT_TILE && i < s->operand_count; i++) {
        bool result = (s->op == OP_GEMM && i == 2) || s->op == OP_CLEAR ||
                      s->op == OP_FILL;
        if (s->operand[i].kind == OPERAND_REGION && !result)
            r->others += storage(s->operand[i].region->buffer) == r->buffer;
    }
    return true;
}

// Under a mask of places ("row >= col") a wave may have tiles of the result of
// which nothing is wanted: the compiler leaves their products out.
static bool is_masked(const GpuLaunch *l, const PlanGemm *g)
{
    Reads r = {.buffer = storage(g->c)};

    ir_walk(l->stmt->then, count_tile, count_choice, &r);
    return r.chosen && !r.others;
}

static int least_mfma(const GpuLaunch *l, const PlanLaunch *plan)
{
    int n = 0;

    for (int i = 0; i < plan->gemm_count; i++)
        if (!is_masked(l, &plan->gemms[i]))
            n += mfma_of(&plan->gemms[i]);
    return n;
}

// ---- held --------------------------------------------------------------------

static void broken(Diag *d, const GpuLaunch *l, const char *format, ...)
    PRINTF_LIKE(3, 4);

static void broken(Diag *d, const GpuLaunch *l, const char *format, ...)
{
    TextBuf why = {0};
    va_list args;

    va_start(args, format);
    buf_vprintf(&why, format, args);
    va_end(args);
    diag_error(d, EXIT_FINDINGS, l->stmt->at, "gpu-plan",
               "the compiler did not keep to the plan of '%.*s': %.*s",
               TEXT_ARG(l->symbol), (int)why.len, why.at);
    buf_release(&why);
}

static void check(Diag *d, const Plan *p, int at, const GpuLaunch *l,
                  const GpuUsage *u)
{
    const PlanLaunch *plan = &p->launches[at];
    int mfma = gpu_planned_mfma(plan), bytes = narrowest_load(p, plan);
    const GpuIsa *isa = u->isa;

    if (u->static_shared != l->static_shared)
        broken(d, l, "it takes %lld bytes of shared memory, %lld were planned",
               (long long)u->static_shared, (long long)l->static_shared);
    // Scalar registers spill into lanes of vector ones, not to memory.
    if (isa->vgpr_spills)
        broken(d, l, "%d vector registers are spilled", isa->vgpr_spills);
    // A loop may have been written out twice; of a tile that the sizes fill in
    // part, or of a result under a mask, less may be left.
    if ((isa->mfma > 0) != (mfma > 0) ||
        (isa->mfma < least_mfma(l, plan) && !l->is_cut))
        broken(d, l, "it has %d matrix instructions, %d were planned",
               isa->mfma, mfma);
    // Results that are in no tensor are left out, and parts of what they read.
    if (isa->narrowest_read && isa->narrowest_read < bytes && !l->is_short)
        broken(d, l, "it reads %d bytes of shared memory at a time where %d "
               "were planned", isa->narrowest_read, bytes);
}

void gpu_check_plan(Diag *d, const GpuKernel *k)
{
    const GpuProgram *p = k->program;

    for (int i = 0; i < p->launch_count; i++) {
        const GpuUsage *u = gpu_usage(&k->built, p->launches[i].symbol);
        if (u && u->isa)
            check(d, k->plan, i, &p->launches[i], u);
    }
}
