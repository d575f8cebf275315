// layout_shared.c - where the elements of a shared tile lie.
//
// A tile that a gemm reads is cut in panels of W columns, W being 8, 4 or 2
// chunks of 16 bytes; panel p follows panel p - 1. In a panel a row is W
// elements and its chunks are mixed by the row:
//
//     chunk' = chunk XOR (row % 8) / (8 / (W chunks))
#include "plan/plan_int.h"

static bool tile_of(const IrBuffer *b, int *rows, int *cols)
{
    int64_t r = 1, c = 1;

    if (!ir_is_int(b->shape[b->rank - 1], &c))
        return false;
    if (b->rank > 1 && !ir_is_int(b->shape[b->rank - 2], &r))
        return false;
    *rows = (int)r;
    *cols = (int)c;
    return true;
}

// Chunks of a row that are mixed for `extent` contiguous elements: 8, 4, 2, 0.
static int swizzle_of(int extent, int vector)
{
    for (int n = 8; n > 1; n /= 2)
        if (extent % (n * vector) == 0)
            return n;
    return 0;
}

static void swizzle(PlanState *p, PlanShared *s, int rows, int cols, int vector)
{
    int n = s->swizzle, panel = n * vector;

    s->address = new_array(p->arena, int32_t, s->elements);
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < cols; j++) {
            int chunk = j / vector % n ^ i % 8 / (8 / n);
            s->address[i * cols + j] = j / panel * rows * panel + i * panel +
                                       chunk * vector + j % vector;
        }
    }
}

// Rows are moved apart by 16 bytes where they would start in the same banks.
static void pad(PlanState *p, PlanShared *s, int rows, int cols, int vector)
{
    int bits = 128 / vector, pitch = cols;

    if (bits * cols % 256 == 0)
        pitch += vector;
    s->address = new_array(p->arena, int32_t, s->elements);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            s->address[i * cols + j] = i * pitch + j;
    s->size = (rows - 1) * pitch + cols;
}

// wgmma without a swizzle reads core matrices of 8 rows x 16 bytes.
static void core_matrices(PlanState *p, PlanShared *s, int rows, int cols,
                          int vector)
{
    s->address = new_array(p->arena, int32_t, s->elements);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            s->address[i * cols + j] = j / vector * rows * vector + i * vector +
                                       j % vector;
}

// The extent that one wgmma reads along the contiguous dimension.
static int continuity(const PlanGemm *g, bool is_b)
{
    if (!is_b)
        return g->shape.trans_a ? 64 : (int)g->shape.k;
    if (g->shape.trans_b)
        return (int)g->shape.k;
    int n = (int)g->shape.n / g->n_warps;
    for (int x = 256; x > 16; x -= 16)
        if (n % x == 0)
            return x;
    return 16;
}

static void set_operand(PlanState *p, const PlanGemm *g, bool is_b)
{
    IrBuffer *b = is_b ? g->b : g->a;
    PlanShared *s = &p->shared[b->id], before = *s;
    bool k_inner = is_b ? g->shape.trans_b : !g->shape.trans_a;
    int bits = dtype_info(b->dtype)->bits, vector = 128 / bits, rows, cols;

    if (b->scope == SCOPE_FRAGMENT || !tile_of(b, &rows, &cols))
        return;
    s->elements = s->size = rows * cols;
    s->swizzle = swizzle_of(cols, vector);
    if (g->unit == PLAN_WGMMA)
        s->swizzle = swizzle_of(continuity(g, is_b), vector);
    if (bits == 8 && !k_inner && g->unit != PLAN_WGMMA)
        s->swizzle = 0;
    if (before.swizzle && before.swizzle < s->swizzle)
        s->swizzle = before.swizzle;
    if (s->swizzle)
        swizzle(p, s, rows, cols, vector);
    else if (g->unit == PLAN_WGMMA)
        core_matrices(p, s, rows, cols, vector);
    else
        pad(p, s, rows, cols, vector);
}

// sm_90: what TMA stores to global memory is laid out as wgmma would have it.
static void set_stored(PlanState *p, const PlanLoop *l)
{
    IrBuffer *b = l->access.at[0].buffer;
    PlanShared *s = &p->shared[b->id];
    int rows, cols;
    bool bulk;

    if (b->scope != SCOPE_SHARED || s->elements || b->rank < 2 ||
        !plan_is_tma(p, l->stmt, &bulk) || bulk || !tile_of(b, &rows, &cols))
        return;
    int vector = 128 / dtype_info(b->dtype)->bits;
    s->elements = s->size = rows * cols;
    s->swizzle = swizzle_of(cols, vector);
    if (s->swizzle)
        swizzle(p, s, rows, cols, vector);
}

void plan_shared_layouts(PlanState *p)
{
    for (int i = 0; i < p->launch->gemm_count; i++) {
        set_operand(p, &p->launch->gemms[i], false);
        set_operand(p, &p->launch->gemms[i], true);
    }
    for (int i = 0; i < p->ops.len; i++) {
        const PlanOp *op = &p->ops.at[i];
        if (op->loop && op->loop->is_copy &&
            op->loop->access.at[0].buffer->scope == SCOPE_SHARED)
            set_stored(p, op->loop);
    }
}
