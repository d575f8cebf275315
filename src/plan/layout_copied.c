// layout_copied.c - rules `tilesim`: shared tiles on the way from registers to
// global memory.
//
// A product's fragment has a row in every fourth lane. Row by row in a tile
// whose rows are multiples of 128 bytes, eight lanes would store to one bank:
//
//     lane 0  row 0   bank 0          swizzled   bank 0
//     lane 4  row 1   bank 0                     bank 4
//     lane 8  row 2   bank 0                     bank 8
//
// Such a tile is swizzled like an operand where fewer lanes meet then, and where
// nothing but copies touches it.
#include "plan/plan_int.h"

typedef struct {
    int *touches;                   // by buffer id
    int by;
} Touches;

static void count_touch(void *ctx, IrBuffer *b, bool is_store)
{
    Touches *t = ctx;

    (void)is_store;
    for (; b; b = b->alias_of)
        t->touches[b->id] += t->by;
}

// The fragment that a copy stores to a whole tile, or NULL.
static const PlanFragment *source_of(const PlanState *p, const PlanOp *op)
{
    const PlanAccess *to = &op->loop->access.at[1];
    const IrBuffer *from = op->loop->access.at[0].buffer;
    int64_t extent;

    if (!to->is_store || to->buffer->scope != SCOPE_SHARED ||
        !plan_in_registers(p, from) || !p->fragment[from->id] ||
        to->buffer->pointed || op->loop->rank != to->buffer->rank ||
        op->loop->rank < 2 || !to->form.is_sum || to->form.base)
        return NULL;
    for (int d = 0; d < op->loop->rank; d++)
        if (to->map[d] != d || to->expr[d] ||
            !ir_is_int(to->buffer->shape[d], &extent) ||
            extent != op->loop->extent[d])
            return NULL;
    return p->fragment[from->id];
}

// The most words that the lanes of a warp touch in one bank with the first
// elements they have.
static int worst_bank(const PlanState *p, const IrBuffer *b,
                      const PlanFragment *f)
{
    const int32_t *address = p->shared[b->id].address;
    int bits = dtype_info(b->dtype)->bits, worst = 0, count = 0;
    int64_t words[PLAN_LANES];

    for (int e = 0; e < f->elements; e++) {
        int64_t word = (int64_t)(address ? address[e] : e) * bits / 32;
        int ways = 1;

        if (f->local[e] || f->thread[e] >= p->device->warp_lanes ||
            count >= PLAN_LANES)
            continue;
        for (int i = 0; i < count && ways; i++)
            ways = words[i] == word ? 0
                   : ways + (words[i] % p->device->banks ==
                             word % p->device->banks);
        if (ways)
            words[count++] = word;
        worst = ways > worst ? ways : worst;
    }
    return worst;
}

static void lay_out(PlanState *p, IrBuffer *b, const PlanFragment *f)
{
    PlanShared before = p->shared[b->id];
    int rows = worst_bank(p, b, f);

    if (b->layout || before.elements || !plan_swizzle(p, b) ||
        f->elements != p->shared[b->id].elements ||
        worst_bank(p, b, f) >= rows)
        p->shared[b->id] = before;
}

// Whether copies make up all touches of a tile, and no name shares its bytes.
static void take_copies_off(PlanState *p, Touches *t)
{
    t->by = -1;
    for (int i = 0; i < p->ops.len; i++)
        if (p->ops.at[i].loop && p->ops.at[i].loop->is_copy)
            plan_touches(p, p->ops.at[i].stmt, count_touch, t);
    for (int i = 0; i < p->kernel->buffer_count; i++) {
        const IrBuffer *b = p->kernel->buffers[i];
        if (b->alias_of)
            t->touches[b->id] = t->touches[b->alias_of->id] = 1;
    }
}

void plan_copied_layouts(PlanState *p, IrStmt *launch)
{
    Touches t = {new_array(p->arena, int, p->kernel->buffer_count + 1), 1};

    if (p->device->vendor != VENDOR_NVIDIA)
        return;
    plan_touches(p, launch, count_touch, &t);
    take_copies_off(p, &t);
    for (int i = 0; i < p->ops.len; i++) {
        const PlanOp *op = &p->ops.at[i];
        const PlanFragment *f;

        if (!op->loop || !op->loop->is_copy)
            continue;
        f = source_of(p, op);
        if (f && !t.touches[op->loop->access.at[1].buffer->id])
            lay_out(p, op->loop->access.at[1].buffer, f);
    }
}
