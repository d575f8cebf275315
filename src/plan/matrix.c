// matrix.c - the multiplications of a plan as matrix instructions whose
// arithmetic is known.
#include "plan/plan_int.h"

typedef struct {
    Arena *arena;
    const Plan *plan;
    PlanMatrices *out;
    bool ok;
} Find;

static bool refuse(Find *f, const IrStmt *s, const char *format, ...)
    PRINTF_LIKE(3, 4);

static bool refuse(Find *f, const IrStmt *s, const char *format, ...)
{
    char why[200];
    va_list args;

    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    diag_error(f->plan->kernel->diag, EXIT_LIMIT, s->at, "plan-numerics",
               "%s %s", op_info(f->plan->kernel->ops, s->op)->surface, why);
    return f->ok = false;
}

static bool planned_gemm(const Plan *p, const IrStmt *s, PlanGemm *out)
{
    for (int i = 0; i < p->launch_count; i++)
        for (int j = 0; j < p->launches[i].gemm_count; j++)
            if (p->launches[i].gemms[j].stmt == s) {
                *out = p->launches[i].gemms[j];
                return true;
            }
    return false;
}

// T.wgmma_gemm is the unit that it names.
static bool named_gemm(const Plan *p, const IrStmt *s, PlanGemm *out)
{
    if (s->op != OP_WGMMA_GEMM ||
        !ir_resolve_gemm((IrKernel *)p->kernel, s, &out->shape))
        return false;
    out->unit = PLAN_WGMMA;
    out->a = s->operand[0].region->buffer;
    out->b = s->operand[1].region->buffer;
    out->c = s->operand[2].region->buffer;
    out->inst_k = 256 / dtype_info(out->a->dtype)->bits;
    out->k_pack = 1;
    return true;
}

// The format in which the unit reads an operand.
static bool operand_type(const Plan *p, DType t, MmaType *out)
{
    if (!mma_type_of(t, out))
        return false;
    if (*out == MMA_F32 && p->device->vendor == VENDOR_NVIDIA)
        *out = MMA_TF32;
    return true;
}

static bool is_instruction(const Device *d, const DeviceMma *m,
                           const PlanGemm *g, MmaType a, MmaType b,
                           MmaType acc)
{
    static const MmaUnit unit[] = {
        [PLAN_MMA] = MMA_UNIT_SYNC, [PLAN_WGMMA] = MMA_UNIT_WGMMA,
        [PLAN_MFMA] = MMA_UNIT_MFMA,
    };

    return device_has_mma(d, m) && m->unit == unit[g->unit] &&
           m->k == g->inst_k && m->blocks == 1 && m->a == a && m->b == b &&
           m->acc == acc;
}

static const DeviceMma *instruction(const Plan *p, const PlanGemm *g)
{
    MmaType a, b, acc;

    if (!operand_type(p, g->a->dtype, &a) ||
        !operand_type(p, g->b->dtype, &b) || !mma_type_of(g->c->dtype, &acc))
        return NULL;
    for (int i = 0; i < mma_count(); i++)
        if (is_instruction(p->device, mma_at(i), g, a, b, acc))
            return mma_at(i);
    return NULL;
}

// With k_pack > 1 a lane holds k_pack runs of k that lie side by side, and
// instruction i of a group takes run i of each lane (docs/numerics.md).
static int32_t *packed_order(Find *f, const PlanGemm *g)
{
    int lanes = plan_row_lanes(g), run = g->inst_k / lanes, n = 0;
    int pack = g->k_pack;
    int group = g->inst_k * pack;
    int32_t *order = new_array(f->arena, int32_t, g->shape.k);

    for (int first = 0; first < g->shape.k; first += group)
        for (int i = 0; i < pack; i++)
            for (int lane = 0; lane < lanes; lane++)
                for (int e = 0; e < run; e++)
                    order[n++] = first + (lane * pack + i) * run + e;
    return order;
}

static bool set_matrix(Find *f, const IrStmt *s, const PlanGemm *g,
                       PlanMatrix *m)
{
    const Device *d = f->plan->device;
    int each = g->inst_k * (g->unit == PLAN_MFMA ? g->k_pack : 1);

    m->stmt = s->id;
    // No sparse instruction; and integers of 4 bits are exact in any.
    if (g->unit == PLAN_SCALAR || g->shape.group ||
        g->a->dtype == DT_I4 || g->a->dtype == DT_U4)
        return true;
    m->rounds = g->rounds;
    m->mma = instruction(f->plan, g);
    if (!m->mma || !device_mma_spec(d, m->mma, &m->spec))
        return refuse(f, s, "of %s into %s is no matrix instruction of %s "
                      "whose arithmetic is known",
                      dtype_info(g->a->dtype)->name,
                      dtype_info(g->c->dtype)->name, d->name);
    if (g->shape.k % each)
        return refuse(f, s, "has %d products for each element, %s takes %d "
                      "at a time", (int)g->shape.k, m->mma->name, each);
    if (each != g->inst_k)
        m->order = packed_order(f, g);
    return true;
}

static bool find(void *ctx, IrStmt *s)
{
    Find *f = ctx;
    PlanMatrix m = {0};
    PlanGemm g = {0};

    if (s->kind != STMT_TILE || (s->op != OP_GEMM && s->op != OP_GEMM_SP &&
                                 s->op != OP_WGMMA_GEMM))
        return true;
    if (!planned_gemm(f->plan, s, &g) && !named_gemm(f->plan, s, &g))
        refuse(f, s, "is no matrix instruction of %s whose arithmetic is "
               "known", f->plan->device->name);
    else if (set_matrix(f, s, &g, &m))
        vec_push(f->arena, f->out, m);
    return true;
}

bool plan_matrices(Arena *a, const Plan *p, PlanMatrices *out)
{
    Find f = {a, p, out, true};

    *out = (PlanMatrices){.device = p->device};
    ir_walk(p->kernel->body, find, NULL, &f);
    return f.ok;
}
