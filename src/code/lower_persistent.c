// lower_persistent.c - T.Persistent: tiles dealt to a fixed number of blocks
// (tilelang_surface 4.8).
//
//     gs = max(1, min(group_size, last)), P = ceildiv(last, gs) * d0 ... * gs
//     for w in 0 .. ceildiv(P, wave_size):
//         L = w * wave_size + index;  if L >= P: break
//         L's digits, slowest first: group, d0, ..., in group
//         if group * gs + in group < last: body
#include "code/code_int.h"

typedef struct {
    Lower *l;
    const IrStmt *s;
    Val domain[IR_MAX_RANK], wave, index, group, total, count;
} Dealt;

static Val constant(Lower *l, int64_t v)
{
    return slot_value(int_slot(l, DT_I64, v), DT_I64);
}

static Val calc(Lower *l, LaneOp op, Val a, Val b)
{
    Val args[2] = {a, b};

    return apply(l, op, DT_I64, DT_I64, args, 2);
}

// A positive divisor is never 0: where it could be, the total is 0 as well.
static Val ceil_of(Lower *l, Val a, Val b)
{
    Val top = calc(l, LANE_OP_SUB, calc(l, LANE_OP_ADD, a, b), constant(l, 1));

    return calc(l, LANE_OP_FLOORDIV, top, b);
}

static Val operand(Lower *l, const IrExpr *e, int64_t fallback)
{
    Val v =
        e ? cast_value(l, value_of(l, e), DT_I64, true) : constant(l, fallback);

    if (!l->failed && v.level == AT_SLOT)
        v.reg = frozen_slot(l, v.reg);
    return v;
}

static void measure(Dealt *p)
{
    Lower *l = p->l;
    const IrStmt *s = p->s;
    Val last;

    for (int d = 0; d < s->var_count; d++)
        p->domain[d] = operand(l, s->extent[d], 0);
    last = p->domain[s->var_count - 1];
    p->wave = calc(l, LANE_OP_MAX, operand(l, s->wave_size, 1), constant(l, 1));
    p->index = operand(l, s->wave_index, 0);
    p->group = calc(l, LANE_OP_MIN, operand(l, s->group_size, 8), last);
    p->group = calc(l, LANE_OP_MAX, p->group, constant(l, 1));
    p->total = calc(l, LANE_OP_MUL, ceil_of(l, last, p->group), p->group);
    for (int d = 0; d < s->var_count - 1; d++)
        p->total = calc(l, LANE_OP_MUL, p->total, p->domain[d]);
    p->count = ceil_of(l, p->total, p->wave);
    if (p->index.level != AT_SLOT || p->count.level != AT_SLOT)
        unsupported(l, "a T.Persistent whose tiles differ from thread to "
                       "thread");
}

static void bind_coordinate(Lower *l, const IrVar *v, Val value)
{
    l->binding[v->id] = (Binding){.kind = BIND_VAL,
                                  .val = cast_value(l, value, v->dtype, true),
                                  .by_thread = in_thread_code(l)};
}

// Binds the coordinates of tile number `at`; the result tells if it is one.
static Val decode(Dealt *p, Val at)
{
    Lower *l = p->l;
    const IrStmt *s = p->s;
    int n = s->var_count;
    Val in_group = calc(l, LANE_OP_FLOORMOD, at, p->group), args[2];

    at = calc(l, LANE_OP_FLOORDIV, at, p->group);
    for (int d = n - 2; d >= 0; d--) {
        bind_coordinate(l, s->vars[d],
                        calc(l, LANE_OP_FLOORMOD, at, p->domain[d]));
        at = calc(l, LANE_OP_FLOORDIV, at, p->domain[d]);
    }
    args[0] =
        calc(l, LANE_OP_ADD, calc(l, LANE_OP_MUL, at, p->group), in_group);
    args[1] = p->domain[n - 1];
    bind_coordinate(l, s->vars[n - 1], args[0]);
    return apply(l, LANE_OP_LT, DT_I64, DT_BOOL, args, 2);
}

static void one_wave(Dealt *p, int wave)
{
    Lower *l = p->l;
    Val at = calc(l, LANE_OP_MUL, slot_value(wave, DT_I64), p->wave), args[2];
    int past, gap;

    args[0] = at = calc(l, LANE_OP_ADD, at, p->index);
    args[1] = p->total;
    past = emit(
        l, (Instr){.op = INSTR_JUMPZ,
                   .a = apply(l, LANE_OP_LT, DT_I64, DT_BOOL, args, 2).reg});
    gap = emit(l, (Instr){.op = INSTR_JUMPZ, .a = decode(p, at).reg});
    lower_stmt(l, p->s->then);
    patch(l, past);
    patch(l, gap);
}

void lower_persistent(Lower *l, const IrStmt *s)
{
    Dealt p = {.l = l, .s = s};
    LoopCtx ctx;
    int wave, entry, next;
    uint8_t saved = l->control;

    if ((l->par && !in_thread_code(l)) || s->var_count < 1) {
        unsupported(l, "T.Persistent inside of a T.Parallel");
        return;
    }
    measure(&p);
    if (l->failed)
        return;
    wave = new_slot(l, l->par != NULL);
    emit(l, (Instr){.op = INSTR_MOV, .d = wave, .a = int_slot(l, DT_I64, 0)});
    loop_enter(l, &ctx, wave);
    l->control |= l->fact.at[p.index.reg].taint & TAINT_BLOCKS;
    entry = emit(l, (Instr){.op = INSTR_JUMPGE, .d = wave, .a = p.count.reg});
    one_wave(&p, wave);
    loop_continue_here(l, &ctx);
    next = l->out->len;
    emit(l, (Instr){.op = INSTR_NEXT,
                    .d = wave,
                    .a = p.count.reg,
                    .b = entry + 1 - next});
    patch(l, entry);
    loop_leave(l, &ctx);
    l->control = saved;
}
