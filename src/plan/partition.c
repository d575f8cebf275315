// partition.c - which instruction a gemm becomes and how warps share its tile.
//
// The tile of C is cut in m_warps x n_warps; warp w has row w % m_warps and
// column w / m_warps. A policy prefers rows, columns, or tiles whose parts are
// as square as C is.
#include "plan/plan_int.h"

#include <math.h>

static bool in_fragment(const IrBuffer *b)
{
    return b->scope == SCOPE_FRAGMENT;
}

static int bits_of(const IrBuffer *b)
{
    return dtype_info(b->dtype)->bits;
}

// Of rules `tilesim`: integers of 4 bits are multiplied as those of 8.
static DType unpacked(DType t)
{
    return t == DT_I4 ? DT_I8 : t == DT_U4 ? DT_U8 : t;
}

// wgmma wants a warpgroup, 64 rows, B in shared memory and, for what is not
// 16 bits wide, both operands with k innermost.
static bool takes_wgmma(const PlanState *p, const PlanGemm *g, int warps)
{
    const IrGemmShape *s = &g->shape;
    int bits = bits_of(g->a);

    if (p->device->arch != ARCH_SM90 || warps % 4 || s->m < 64 ||
        ir_config_is_set(p->kernel, "tl.disable_wgmma"))
        return false;
    if (in_fragment(g->b) || bits > 32 || s->k % (256 / bits))
        return false;
    if (bits == 32 && g->a->dtype != DT_TF32)
        return false;
    if (g->c->dtype == DT_F16 && bits != 16 && bits != 8)
        return false;
    return bits == 16 || (!s->trans_a && s->trans_b);
}

// ---- partitions ------------------------------------------------------------

typedef struct {
    int m, n, warps;
    int m_unit, n_unit;             // rows and columns of one instruction
    int m_step;                     // m_warps is a multiple of it
} Split;

static bool fits(const Split *s, int m, int n)
{
    return m * n == s->warps && m % s->m_step == 0 &&
           s->m % (m * s->m_unit) == 0 && s->n % (n * s->n_unit) == 0;
}

static double imbalance(const Split *s, int m, int n)
{
    double rows = (double)s->m / (s->m_unit * m);
    double columns = (double)s->n / (s->n_unit * n);
    return fabs(rows / columns - (double)s->m / s->n);
}

static int choose(const Split *s, Text policy)
{
    int best = 0;

    for (int m = 1; m <= s->warps; m++) {
        if (s->warps % m || !fits(s, m, s->warps / m))
            continue;
        if (text_is(policy, "FullCol")) {
            if (!best)
                best = m;
        } else if (text_is(policy, "FullRow")) {
            best = m;
        } else if (!best || imbalance(s, m, s->warps / m) <
                                imbalance(s, best, s->warps / best)) {
            best = m;
        }
    }
    return best;
}

// MFMA: a policy takes all warps in its direction and gives what does not
// divide to the other one.
static int choose_mfma(const Split *s, Text policy)
{
    if (text_is(policy, "FullRow") && s->m % (16 * s->warps))
        return s->m / 16 ? s->m / 16 : 1;
    if (text_is(policy, "FullRow"))
        return s->warps;
    if (text_is(policy, "FullCol") && s->n % (16 * s->warps)) {
        int n = s->n / 16 ? s->n / 16 : 1;
        return s->warps / n ? s->warps / n : 1;
    }
    if (text_is(policy, "FullCol"))
        return 1;
    int best = 0;
    for (int m = 1; m <= s->warps; m++) {
        int n = s->warps / m;
        if (m * n != s->warps || s->m < 16 * m || s->n < 16 * n)
            continue;
        if (!best || imbalance(s, m, n) < imbalance(s, best, s->warps / best))
            best = m;
    }
    return best;
}

static bool refuse(PlanState *p, const PlanGemm *g, const Split *s)
{
    bool amd = p->device->vendor == VENDOR_AMD;

    diag_error(p->kernel->diag, EXIT_LIMIT, g->stmt->at, "plan-warps",
               "%d %s cannot share a tile of %d x %d on %s: each takes the "
               "same number of parts of %d x %d", s->warps,
               amd ? "waves" : "warps", s->m, s->n, p->device->name, s->m_unit,
               s->n_unit);
    return false;
}

// The shapes and dtypes that mma.sync takes; anything else is left to threads.
static bool takes_mma(const PlanState *p, const PlanGemm *g)
{
    const IrGemmShape *s = &g->shape;
    DType a = unpacked(g->a->dtype), b = unpacked(g->b->dtype);
    DType c = g->c->dtype;
    int bits = dtype_info(a)->bits;

    if (bits > 32 || bits < 8 || s->m % 16 || s->n % 8 || s->k % (256 / bits))
        return false;
    if ((a != g->a->dtype && in_fragment(g->a)) ||
        (b != g->b->dtype && in_fragment(g->b)))
        return false;
    if (p->device->vendor != VENDOR_NVIDIA)
        return false;
    if (bits == 32)
        return (a == DT_F32 || a == DT_TF32) && a == b && c == DT_F32;
    if (bits == 16)
        return a == b && (a == DT_F16 || a == DT_BF16) &&
               (c == DT_F32 || (a == DT_F16 && c == DT_F16));
    if (c == DT_I32)
        return (a == DT_I8 || a == DT_U8) && (b == DT_I8 || b == DT_U8);
    return p->device->arch == ARCH_SM90 && c == DT_F32 &&
           (a == DT_E4M3FN || a == DT_E5M2) && (b == DT_E4M3FN || b == DT_E5M2);
}

static bool is_whole(const PlanGemm *g, int operand)
{
    const IrRegion *r = g->stmt->operand[g->shape.operand[operand]].region;
    return r->form == REGION_WHOLE && r->buffer->rank == 2 &&
           !r->buffer->alias_of;
}

// The same for MFMA; of float8 it knows the kinds of one zero and no infinity,
// of integers the signed one. e4m3fn has no infinities either: its bits are
// those of twice the e4m3fnuz, but for -0 and NaN, which the emitter replaces.
static bool takes_mfma(const PlanGemm *g, int inst_k)
{
    const IrGemmShape *s = &g->shape;
    DType a = g->a->dtype, b = g->b->dtype, c = g->c->dtype;

    if (s->group || !inst_k || s->m % 16 || s->n % 16 || s->k % inst_k)
        return false;
    switch (a) {
    case DT_F16:
    case DT_BF16:
        return a == b && (c == DT_F32 || c == a);
    case DT_F32:
    case DT_TF32:
        return a == b && c == DT_F32;
    case DT_I8:
        return a == b && c == DT_I32;
    case DT_E4M3FN:
        return a == b && c == DT_F32;
    case DT_E4M3FNUZ:
    case DT_E5M2FNUZ:
        return c == DT_F32 && (b == DT_E4M3FNUZ || b == DT_E5M2FNUZ);
    default:
        return false;
    }
}

// Products that one MFMA of 16 x 16 results adds up; 0: there is none.
static int mfma_k(DType t)
{
    switch (dtype_info(t)->bits) {
    case 8:  return 32;
    case 16: return 16;
    case 32: return t == DT_TF32 ? 8 : 4;
    default: return 0;
    }
}

static bool partition_mfma(PlanState *p, PlanGemm *g, const Split *s, Text name)
{
    int inst_k = mfma_k(g->a->dtype), m;

    int threads = plan_group_threads(p->launch, g->stmt);

    if (threads % (int)p->device->warp_lanes ||
        !takes_mfma(g, inst_k) || (m = choose(s, name)) < 1)
        return true;
    g->unit = PLAN_MFMA;
    g->m_warps = m;
    g->n_warps = s->warps / m;
    g->inst_k = inst_k;
    g->wide = 16;
    return true;
}

// Whole tiles, and results that the unit adds up in 32 bits.
static bool takes_wgmma_own(const PlanState *p, const PlanGemm *g,
                            const Split *s)
{
    return !g->shape.group && takes_wgmma(p, g, s->warps) &&
           g->shape.m % 64 == 0 &&
           g->c->dtype == DT_F32 && in_fragment(g->c) &&
           g->a->dtype == g->b->dtype && is_whole(g, 0) && is_whole(g, 1) &&
           is_whole(g, 2) && !(in_fragment(g->a) && g->shape.trans_a);
}

// Rules `tilesim`: warps share the tile where they can, else its threads do.
static bool partition_own(PlanState *p, PlanGemm *g, const Split *s, Text name)
{
    g->unit = PLAN_SCALAR;
    g->m_warps = g->n_warps = 1;
    g->inst_k = g->k_pack = 1;
    if (p->device->vendor == VENDOR_AMD)
        return partition_mfma(p, g, s, name);
    if (plan_group_threads(p->launch, g->stmt) % 32 || !takes_mma(p, g))
        return true;
    if (p->launch->feed.loop && takes_wgmma_own(p, g, s)) {
        Split quads = *s;
        quads.m_step = 4;
        quads.n_unit = g->shape.trans_b ? 8 : 16;
        int rows = choose(&quads, name);
        // Registers hold one instruction's rows of A.
        if (rows > 0 && (!in_fragment(g->a) || g->shape.m == 16 * rows)) {
            g->unit = PLAN_WGMMA;
            g->m_warps = rows;
            g->n_warps = s->warps / rows;
            g->inst_k = 256 / bits_of(g->a);
            return true;
        }
    }
    // A warpgroup's product as the program asks for it: each warp has rows of
    // its own, and so A where the product before left it.
    Split rows = *s;
    rows.m_step = g->stmt->op == OP_WGMMA_GEMM ? 4 : 1;
    int m = choose(&rows, name);
    if (m < 1)
        m = choose(s, name);
    if (m < 1)
        return true;
    g->unit = PLAN_MMA;
    g->m_warps = m;
    g->n_warps = s->warps / m;
    g->inst_k = 256 / dtype_info(unpacked(g->a->dtype))->bits;
    g->rounds = g->a->dtype == DT_F32;
    return true;
}

bool plan_partition(PlanState *p, PlanGemm *g)
{
    const IrAttrValue *policy = ir_attr_get(g->stmt, ATTR_POLICY);
    Text name = policy ? policy->text : TEXT("Square");
    int warps = device_warps(p->device,
                             plan_group_threads(p->launch, g->stmt));
    Split s = {(int)g->shape.m, (int)g->shape.n, warps, 16, 16, 1};

    if (p->plan->rules == PLAN_TILESIM) {
        s.n_unit = p->device->vendor == VENDOR_AMD ? 16 : 8;
        return partition_own(p, g, &s, name);
    }
    if (p->device->vendor == VENDOR_AMD) {
        g->unit = PLAN_MFMA;
        g->wide = 16;
        g->m_warps = choose_mfma(&s, name);
        g->inst_k = bits_of(g->a) == 8 ? 32 : bits_of(g->a) == 16 ? 16 : 4;
    } else {
        g->unit = takes_wgmma(p, g, warps) ? PLAN_WGMMA : PLAN_MMA;
        s.n_unit = 8;
        s.m_step = g->unit == PLAN_WGMMA ? 4 : 1;
        g->m_warps = choose(&s, name);
        g->inst_k = 256 / bits_of(g->a);
    }
    if (g->m_warps < 1 || warps % g->m_warps)
        return refuse(p, g, &s);
    g->n_warps = warps / g->m_warps;
    if (g->shape.m % (16 * g->m_warps) || g->shape.n % (s.n_unit * g->n_warps))
        return refuse(p, g, &s);
    return true;
}
