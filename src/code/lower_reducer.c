// lower_reducer.c - T.alloc_reducer's operations, and atomics on a few elements
// or of another kind than read, combine, write.
//
// A reducer is a tile whose updates combine in the order of the iterations;
// nothing is left for T.finalize_reducer but to copy it.
#include "code/code_int.h"

static IrKernel *kernel_of(Lower *l)
{
    return (IrKernel *)l->k; // resolution only adds nodes to its arena
}

static bool element(Lower *l, const IrRegion *r, Form *index)
{
    if (l->par)
        l->par->written[root_of(l, r->buffer->id)] = true;
    return index_forms(l, r->buffer, r->min, r->buffer->rank, index);
}

// n elements from dst on, each combined with its neighbour of the value.
void lower_atomic_row(Lower *l, const IrStmt *s, int n)
{
    const IrRegion *dst = operand_region(l, s, 0);
    const IrRegion *src = dst ? operand_region(l, s, 1) : NULL;
    Form to[IR_MAX_RANK], from[IR_MAX_RANK], one = form_const(1);
    Val v;

    for (int i = 0; src && i < n && !l->failed; i++) {
        if (!element(l, dst, to) ||
            !index_forms(l, src->buffer, src->min, src->buffer->rank, from) ||
            !form_add(l, &to[dst->buffer->rank - 1], &one, i) ||
            !form_add(l, &from[src->buffer->rank - 1], &one, i))
            return;
        v = load_of(l, src->buffer, from, 0);
        v = cast_value(l, v, map_dtype(l, dst->buffer->dtype), true);
        atomic_on(l, dst->buffer, to, lane_of_op(s->op), v, 0, NULL);
    }
}

// dst[i] = src[j], of single elements.
void lower_element_copy(Lower *l, const IrStmt *s)
{
    const IrRegion *src = operand_region(l, s, 0);
    const IrRegion *dst = src ? operand_region(l, s, 1) : NULL;
    Form to[IR_MAX_RANK], from[IR_MAX_RANK];
    Val v;

    if (!dst || !index_forms(l, src->buffer, src->min, src->buffer->rank, from))
        return;
    v = load_of(l, src->buffer, from, 0);
    v = cast_value(l, v, map_dtype(l, dst->buffer->dtype), true);
    if (!l->failed &&
        index_forms(l, dst->buffer, dst->min, dst->buffer->rank, to))
        store_to(l, dst->buffer, to, v, 0);
}

void lower_atomic_store(Lower *l, const IrStmt *s)
{
    const IrRegion *dst = operand_region(l, s, 0);
    Form to[IR_MAX_RANK];
    Val v;

    if (!dst || !element(l, dst, to))
        return;
    note_atomic(l, dst->buffer);
    v = value_of(l, s->operand[1].expr);
    if (!l->failed)
        store_to(l, dst->buffer, to,
                 cast_value(l, v, map_dtype(l, dst->buffer->dtype), true), 0);
}

// ---- reducers ------------------------------------------------------------

static LaneOp reducer_lane(const Lower *l, const IrStmt *s)
{
    const IrAttrValue *name = ir_attr_get(s, ATTR_OP);
    Op op = OP_REDUCE_SUM;

    if (name)
        op_reduction_find(l->k->ops, name->text, &op);
    return lane_of_op(op);
}

static void init_reducer(Lower *l, const IrStmt *s, const IrRegion *r)
{
    DType t = map_dtype(l, r->buffer->dtype);
    Form extent[IR_MAX_RANK], coord[IR_MAX_RANK];
    Val v = identity_of(l, reducer_lane(l, s), t);
    Par par;

    if (s->operand[1].kind == OPERAND_EXPR)
        v = cast_value(l, value_of(l, s->operand[1].expr), t, true);
    for (int d = 0; d < r->buffer->rank; d++)
        if (!form_of(l, r->buffer->shape[d], &extent[d]))
            return;
    if (l->failed || !par_open(l, &par, extent, r->buffer->rank, coord))
        return;
    l->par->written[root_of(l, r->buffer->id)] = true;
    store_to(l, r->buffer, coord, v, 0);
    par_close(l, &par);
}

static void update_reducer(Lower *l, const IrStmt *s, const IrRegion *r)
{
    Form index[IR_MAX_RANK];
    Val v;

    if (!element(l, r, index))
        return;
    v = value_of(l, s->operand[1].expr);
    if (l->failed)
        return;
    v = cast_value(l, v, map_dtype(l, r->buffer->dtype), true);
    atomic_on(l, r->buffer, index, reducer_lane(l, s), v, 0, NULL);
}

void lower_reducer(Lower *l, const IrStmt *s)
{
    const IrRegion *r = operand_region(l, s, 0);
    IrCopyMap m;

    if (!r || !buffer_usable(l, r->buffer))
        return;
    if (s->op == OP_REDUCER_INIT)
        init_reducer(l, s, r);
    else if (s->op == OP_REDUCER_UPDATE)
        update_reducer(l, s, r);
    else if (!ir_resolve_finalize(kernel_of(l), s, &m))
        l->failed = true;
    else if (m.dst.buffer)
        copy_by_map(l, &m);
}
