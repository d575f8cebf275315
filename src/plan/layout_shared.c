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
    int32_t *to = s->address = new_array(p->arena, int32_t, s->elements);

    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < cols; j += vector) {
            int chunk = j / vector % n ^ i % 8 / (8 / n);
            int at = j / panel * rows * panel + i * panel + chunk * vector;
            for (int k = 0; k < vector; k++)
                *to++ = at + k;
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
    int vector = 128 / plan_bits(p->plan->rules, b), rows, cols;

    bool own = p->plan->rules == PLAN_TILESIM;
    if ((b->scope == SCOPE_FRAGMENT && !p->spilled[b->id]) ||
        (b->layout && !own) || !tile_of(b, &rows, &cols))
        return;
    s->elements = s->size = rows * cols;
    s->swizzle = swizzle_of(cols, vector);
    if (g->unit == PLAN_WGMMA)
        s->swizzle = swizzle_of(continuity(g, is_b), vector);
    if (before.swizzle && before.swizzle < s->swizzle)
        s->swizzle = before.swizzle;
    if (s->swizzle)
        swizzle(p, s, rows, cols, vector);
    else if (g->unit == PLAN_WGMMA)
        core_matrices(p, s, rows, cols, vector);
    else
        pad(p, s, rows, cols, vector);
}

bool plan_swizzle(PlanState *p, const IrBuffer *b)
{
    PlanShared *s = &p->shared[b->id];
    int vector = 128 / dtype_info(b->dtype)->bits, rows, cols;

    if (!tile_of(b, &rows, &cols))
        return false;
    s->elements = s->size = rows * cols;
    s->swizzle = swizzle_of(cols, vector);
    if (s->swizzle)
        swizzle(p, s, rows, cols, vector);
    return s->swizzle;
}

// sm_90: what TMA stores to global memory is laid out as wgmma would have it.
static void set_stored(PlanState *p, const PlanLoop *l)
{
    const IrBuffer *b = l->access.at[0].buffer;
    bool bulk;

    if (b->scope == SCOPE_SHARED && !p->shared[b->id].elements &&
        b->rank >= 2 && plan_is_tma(p, l->stmt, &bulk) && !bulk)
        plan_swizzle(p, b);
}

// A map of the user's own: addresses are row-major over its outputs.
static void evaluate(PlanState *p, PlanShared *s, const IrIndexMap *m,
                     const IrBuffer *b)
{
    PlanLoop l = {.rank = b->rank};
    int64_t point[IR_MAX_RANK] = {0}, extent[IR_MAX_RANK + 2] = {0};
    int64_t *out = new_array(p->arena, int64_t, s->elements * m->out_rank + 1);

    for (int d = 0; d < b->rank; d++) {
        l.var[d] = m->in[d];
        ir_is_int(b->shape[d], &l.extent[d]);
    }
    for (int e = 0; e < s->elements; e++) {
        for (int d = 0; d < m->out_rank; d++) {
            int64_t x = plan_eval(m->out[d], &l, point);
            out[e * m->out_rank + d] = x;
            if (x >= extent[d])
                extent[d] = x + 1;
        }
        plan_next_point(&l, point);
    }
    s->address = new_array(p->arena, int32_t, s->elements);
    for (int e = 0; e < s->elements; e++) {
        int64_t at = 0;
        for (int d = 0; d < m->out_rank; d++)
            at = at * extent[d] + out[e * m->out_rank + d];
        s->address[e] = (int32_t)at;
        if (at >= s->size)
            s->size = (int)at + 1;
    }
}

// annotate_layout: a map, or one of the makers by name.
static void set_annotated(PlanState *p, const IrBuffer *b)
{
    PlanShared *s = &p->shared[b->id];
    int rows, cols, vector = 128 / plan_bits(p->plan->rules, b);

    if (b->scope != SCOPE_SHARED || b->rank != 2 || !tile_of(b, &rows, &cols))
        return;
    s->elements = s->size = rows * cols;
    if (!b->layout->maker.len && b->layout->in_rank == b->rank)
        evaluate(p, s, b->layout, b);
    s->swizzle = text_is(b->layout->maker, "make_swizzled_layout")
                     ? swizzle_of(cols, vector) : 0;
    if (text_is(b->layout->maker, "make_full_bank_swizzled_layout"))
        s->swizzle = 8;
    if (text_is(b->layout->maker, "make_half_bank_swizzled_layout"))
        s->swizzle = 4;
    if (text_is(b->layout->maker, "make_quarter_bank_swizzled_layout"))
        s->swizzle = 2;
    if (s->swizzle && cols % (s->swizzle * vector) == 0)
        swizzle(p, s, rows, cols, vector);
}

void plan_shared_layouts(PlanState *p)
{
    bool own = p->plan->rules == PLAN_TILESIM;

    for (int i = 0; !own && i < p->kernel->buffer_count; i++)
        if (p->kernel->buffers[i]->layout)
            set_annotated(p, p->kernel->buffers[i]);
    for (int i = 0; i < p->launch->gemm_count; i++) {
        if (p->launch->gemms[i].unit == PLAN_SCALAR)
            continue;
        set_operand(p, &p->launch->gemms[i], false);
        set_operand(p, &p->launch->gemms[i], true);
    }
    for (int i = 0; !own && i < p->ops.len; i++) {
        const PlanOp *op = &p->ops.at[i];
        if (op->loop && op->loop->is_copy &&
            op->loop->access.at[0].buffer->scope == SCOPE_SHARED)
            set_stored(p, op->loop);
    }
}
