// copy.c - which instruction moves a tile.
#include "plan/plan_int.h"

// TMA wants rows of 16 bytes: the box's, and all strides of the tensor.
static bool rows_are_wide(const IrBuffer *global, int64_t inner)
{
    int bits = dtype_info(global->dtype)->bits;
    int64_t stride = 1, extent;

    for (int d = global->rank - 1; d > 0; d--) {
        if (global->strides[d - 1]) {
            if (!ir_is_int(global->strides[d - 1], &stride))
                return false;
        } else if (!ir_is_int(global->shape[d], &extent)) {
            return false;
        } else {
            stride *= extent;
        }
        if (stride * bits % 128)
            return false;
    }
    return inner * bits % 128 == 0;
}

static bool innermost_moves(const IrCopyMap *m, bool src)
{
    const IrBuffer *b = src ? m->src.buffer : m->dst.buffer;
    const int *map = src ? m->src.map : m->dst.map;
    return map[b->rank - 1] == m->rank - 1;
}

// After the first dimension that moves, all others are covered whole.
static bool is_one_run(const IrCopyMap *m, bool src)
{
    const IrBuffer *b = src ? m->src.buffer : m->dst.buffer;
    const int *map = src ? m->src.map : m->dst.map;
    bool moved = false;

    for (int d = 0; d < b->rank; d++) {
        int64_t whole = -1, part = 1;
        if (map[d] >= 0)
            ir_is_int(m->extent[map[d]], &part);
        ir_is_int(b->shape[d], &whole);
        if (moved && whole != part)
            return false;
        moved |= part != 1;
    }
    return true;
}

bool plan_is_tma(const PlanState *p, const IrStmt *s, bool *bulk)
{
    IrCopyMap m;
    int64_t inner;

    *bulk = false;
    if (p->device->arch != ARCH_SM90 || s->kind != STMT_TILE)
        return false;
    if (s->op == OP_IM2COL)
        return true;
    if (s->op != OP_COPY || ir_attr_int(s, ATTR_DISABLE_TMA, 0) ||
        !ir_resolve_copy(p->kernel, s->at, s->operand[0].region,
                         s->operand[1].region, &m) || !m.rank)
        return false;
    bool load = m.src.buffer->scope == SCOPE_GLOBAL;
    const IrBuffer *global = load ? m.src.buffer : m.dst.buffer;
    const IrBuffer *shared = load ? m.dst.buffer : m.src.buffer;
    *bulk = is_one_run(&m, load) && !p->shared[shared->id].address;
    return global->scope == SCOPE_GLOBAL && shared->scope == SCOPE_SHARED &&
           global->dtype == shared->dtype && innermost_moves(&m, load) &&
           ir_is_int(m.extent[m.rank - 1], &inner) &&
           rows_are_wide(global, inner);
}
