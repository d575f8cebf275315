// lower_tile_copy.c - tile operations that are element-wise: copy, fill,
// clear, transpose and atomics become T.Parallel loops of their own.
#include "code/code_int.h"

const IrRegion *operand_region(Lower *l, const IrStmt *s, int i)
{
    if (i < s->operand_count && s->operand[i].kind == OPERAND_REGION)
        return s->operand[i].region;
    bad_program(l, "code-operand", "operand %d of %s is missing", i,
                op_info(l->k->ops, s->op)->surface);
    return NULL;
}

// Resolution makes nodes in the kernel's arena; it changes nothing else.
static IrKernel *kernel_of(Lower *l)
{
    return (IrKernel *)l->k;
}

// ---- the loop over a copy map --------------------------------------------

typedef struct {
    Par par;
    bool open;
    Form coord[IR_MAX_RANK];
    int rank; // loops of a thread by itself
    int extent[IR_MAX_RANK], counter[IR_MAX_RANK], entry[IR_MAX_RANK];
} Walk;

// A thread does it alone: loops, one in the other.
static bool walk_alone(Lower *l, Walk *w, const Form *extent, int rank)
{
    for (int d = 0; d < rank; d++) {
        Form e = extent[d];
        Val n = first_lane(l, form_value(l, &e, DT_I64));
        Range r = form_range(l, &e);

        w->extent[d] = frozen_slot(l, n.reg);
        w->counter[d] = new_slot(l, true);
        if (r.known && r.high > 0)
            l->fact.at[w->counter[d]].range = range_of(0, r.high - 1);
        emit(l, (Instr){.op = INSTR_MOV,
                        .d = w->counter[d],
                        .a = int_slot(l, DT_I64, 0)});
        w->entry[d] = emit(l, (Instr){.op = INSTR_JUMPGE,
                                      .d = w->counter[d],
                                      .a = w->extent[d]});
        w->coord[d] = form_slot(w->counter[d]);
    }
    w->rank = rank;
    l->par->depth += rank;
    return !l->failed;
}

static void close_alone(Lower *l, Walk *w)
{
    for (int d = w->rank - 1; d >= 0; d--) {
        int next = l->out->len;

        emit(l, (Instr){.op = INSTR_NEXT,
                        .d = w->counter[d],
                        .a = w->extent[d],
                        .b = w->entry[d] + 1 - next});
        patch(l, w->entry[d]);
    }
    l->par->depth -= w->rank;
}

static bool walk_open(Lower *l, Walk *w, const IrCopyMap *m)
{
    Form extent[IR_MAX_RANK];

    for (int d = 0; d < m->rank; d++)
        if (!form_of(l, m->extent[d], &extent[d]))
            return false;
    if (in_thread_code(l))
        return walk_alone(l, w, extent, m->rank);
    w->open = m->rank > 0;
    return !w->open || par_open(l, &w->par, extent, m->rank, w->coord);
}

static void walk_close(Lower *l, Walk *w)
{
    if (w->open)
        par_close(l, &w->par);
    else if (w->rank)
        close_alone(l, w);
}

// The indices of one side; a dimension that is walked is held against the
// shape, one that is not has to be in range by itself.
static bool side_index(Lower *l, const Walk *w, const IrBuffer *b,
                       IrExpr *const *min, const int *map, Form *index)
{
    for (int d = 0; d < b->rank; d++) {
        if (!form_of(l, min[d], &index[d]))
            return false;
        if (map[d] < 0 ? !fix_index(l, b, d, &index[d])
                       : !form_add(l, &index[d], &w->coord[map[d]], 1))
            return false;
    }
    return true;
}

static unsigned walked(const IrBuffer *b, const int *map)
{
    unsigned bits = 0;

    for (int d = 0; d < b->rank; d++)
        if (map[d] >= 0)
            bits |= 1u << d;
    return bits;
}

static void mark_written(Lower *l, const IrBuffer *b)
{
    if (l->par)
        l->par->written[root_of(l, b->id)] = true;
}

static void copy_element(Lower *l, const Walk *w, const IrCopyMap *m)
{
    const IrBuffer *src = m->src.buffer, *dst = m->dst.buffer;
    Form from[IR_MAX_RANK], to[IR_MAX_RANK];
    Val v;

    mark_written(l, dst);
    if (!side_index(l, w, src, m->src.min, m->src.map, from) ||
        !side_index(l, w, dst, m->dst.min, m->dst.map, to))
        return;
    v = load_of(l, src, from, walked(src, m->src.map));
    if (l->failed)
        return;
    v = cast_value(l, v, map_dtype(l, dst->dtype), true);
    store_to(l, dst, to, v, walked(dst, m->dst.map));
}

void copy_by_map(Lower *l, const IrCopyMap *m)
{
    Walk w = {0};

    if (!walk_open(l, &w, m))
        return;
    copy_element(l, &w, m);
    walk_close(l, &w);
}

static void no_resolution(Lower *l)
{
    l->failed = true; // ir_resolve_* has reported why
}

void lower_copy(Lower *l, const IrStmt *s)
{
    const IrRegion *src = operand_region(l, s, 0);
    const IrRegion *dst = src ? operand_region(l, s, 1) : NULL;
    IrCopyMap m;

    if (!dst)
        return;
    if (!ir_resolve_copy(kernel_of(l), s->at, src, dst, &m))
        no_resolution(l);
    else
        copy_by_map(l, &m);
}

void lower_transpose(Lower *l, const IrStmt *s)
{
    IrCopyMap m;

    if (!ir_resolve_transpose(kernel_of(l), s, &m))
        no_resolution(l);
    else
        copy_by_map(l, &m);
}

// ---- fill ----------------------------------------------------------------

static Val fill_value(Lower *l, const IrStmt *s, DType t)
{
    if (s->op == OP_CLEAR)
        return slot_value(int_slot(l, t, 0), t);
    if (s->operand[1].kind != OPERAND_EXPR) {
        bad_program(l, "code-operand", "T.fill takes a value");
        return slot_value(0, t);
    }
    return cast_value(l, value_of(l, s->operand[1].expr), t, true);
}

void lower_fill(Lower *l, const IrStmt *s)
{
    const IrRegion *r = operand_region(l, s, 0);
    Form index[IR_MAX_RANK];
    IrCopyMap m;
    Walk w = {0};
    Val v;

    if (!r)
        return;
    if (!ir_resolve_fill(kernel_of(l), r, &m)) {
        no_resolution(l);
        return;
    }
    v = fill_value(l, s, map_dtype(l, r->buffer->dtype));
    if (l->failed || !walk_open(l, &w, &m))
        return;
    mark_written(l, r->buffer);
    if (side_index(l, &w, r->buffer, m.dst.min, m.dst.map, index))
        store_to(l, r->buffer, index, v, 0);
    walk_close(l, &w);
}

// ---- atomics -------------------------------------------------------------

static bool atomic_map(Lower *l, const IrStmt *s, const IrRegion *dst,
                       IrCopyMap *m)
{
    const IrRegion *value;

    if (s->operand[1].kind == OPERAND_EXPR)
        return ir_resolve_fill(kernel_of(l), dst, m);
    value = operand_region(l, s, 1);
    return value && ir_resolve_copy(kernel_of(l), s->at, value, dst, m);
}

static Val atomic_operand(Lower *l, const IrStmt *s, const Walk *w,
                          const IrCopyMap *m)
{
    const IrBuffer *src = m->src.buffer;
    Form from[IR_MAX_RANK];

    if (s->operand[1].kind == OPERAND_EXPR)
        return value_of(l, s->operand[1].expr);
    if (!side_index(l, w, src, m->src.min, m->src.map, from))
        return slot_value(0, src->dtype);
    return load_of(l, src, from, walked(src, m->src.map));
}

void lower_atomic(Lower *l, const IrStmt *s)
{
    const IrRegion *dst = operand_region(l, s, 0);
    Form to[IR_MAX_RANK];
    IrCopyMap m = {0};
    Walk w = {0};
    Val v;

    if (!dst)
        return;
    if (!atomic_map(l, s, dst, &m)) {
        no_resolution(l);
        return;
    }
    if (l->par && m.rank > 0 && !in_thread_code(l)) {
        unsupported(l, "a tile operation inside of a T.Parallel");
        return;
    }
    if (!walk_open(l, &w, &m))
        return;
    mark_written(l, dst->buffer);
    v = atomic_operand(l, s, &w, &m);
    if (!l->failed &&
        side_index(l, &w, dst->buffer, m.dst.min, m.dst.map, to)) {
        v = cast_value(l, v, map_dtype(l, dst->buffer->dtype), true);
        atomic_on(l, dst->buffer, to, lane_of_op(s->op), v,
                  walked(dst->buffer, m.dst.map), NULL);
    }
    walk_close(l, &w);
}
