// lower_choose.c - values of which only one side is evaluated: selections, and
// and or.
//
// Outside of a T.Parallel a choice whose sides could fault is a jump. Inside,
// both sides are evaluated for all lanes, each under the mask of the lanes
// that take it, so that an index out of range elsewhere is no finding.
#include "code/code_int.h"

// Whether evaluating e where the program would not could show: a finding for
// an index out of range or a division by zero, or an effect.
static bool may_fault_at(const IrExpr *e, int depth)
{
    int64_t divisor;

    if (depth > DEPTH_LIMIT)
        return true;
    if (e->kind == EXPR_LOAD)
        return e->buffer->scope != SCOPE_VAR;
    if (e->kind == EXPR_ATOMIC)
        return true;
    if (e->kind == EXPR_OP && is_division(e->op) && !dtype_is_float(e->dtype) &&
        !(ir_is_int(e->args[1], &divisor) && divisor))
        return true;
    for (int i = 0; i < e->count; i++)
        if (may_fault_at(e->args[i], depth + 1))
            return true;
    return false;
}

bool may_fault(const IrExpr *e)
{
    return may_fault_at(e, 0);
}

int and_masks(Lower *l, int a, int b)
{
    int r;

    if (a < 0)
        return b;
    r = new_reg(l, false);
    emit(l, (Instr){.op = INSTR_VOP,
                    .lane = LANE_OP_AND,
                    .type = LANE_I32,
                    .d = r,
                    .a = a,
                    .b = b,
                    .c = -1});
    return r;
}

int invert_mask(Lower *l, int mask)
{
    int r = new_reg(l, false);

    emit(l, (Instr){.op = INSTR_VOP,
                    .lane = LANE_OP_NOT,
                    .type = LANE_I32,
                    .d = r,
                    .a = mask,
                    .b = -1,
                    .c = -1});
    return r;
}

// An arm of a choice: an expression, or a truth value when e is NULL.
static Val arm_value(Lower *l, const IrExpr *e, bool truth, DType t)
{
    if (!e)
        return slot_value(int_slot(l, DT_BOOL, truth), DT_BOOL);
    return cast_value(l, value_of(l, e), t, true);
}

static Val masked_arm(Lower *l, const IrExpr *e, bool truth, DType t, int mask)
{
    int saved = l->par->mask;
    Val v;

    l->par->mask = and_masks(l, saved, mask);
    l->par->depth++;
    v = arm_value(l, e, truth, t);
    l->par->depth--;
    if (l->par->mask != mask)
        release_reg(l, l->par->mask);
    l->par->mask = saved;
    return v;
}

static Val choose_lanes(Lower *l, Val c, const IrExpr *t, const IrExpr *f,
                        DType dtype)
{
    Val args[3] = {promote(l, c, AT_LANES)};
    int inverse;

    args[1] = masked_arm(l, t, true, dtype, args[0].reg);
    inverse = invert_mask(l, args[0].reg);
    args[2] = masked_arm(l, f, false, dtype, inverse);
    release_reg(l, inverse);
    return apply(l, LANE_OP_SELECT, dtype, dtype, args, 3);
}

static void move_to(Lower *l, int slot, Val v)
{
    emit(l, (Instr){.op = INSTR_MOV, .d = slot, .a = v.reg});
    l->fact.at[slot].taint |= taint_of(l, &v, 1);
}

static Val choose_by_jump(Lower *l, Val c, const IrExpr *t, const IrExpr *f,
                          DType dtype)
{
    int slot = new_slot(l, false), skip, end;

    skip = emit(l, (Instr){.op = INSTR_JUMPZ, .a = c.reg});
    move_to(l, slot, arm_value(l, t, true, dtype));
    end = emit(l, (Instr){.op = INSTR_JUMP});
    patch(l, skip);
    move_to(l, slot, arm_value(l, f, false, dtype));
    patch(l, end);
    l->fact.at[slot].taint |= l->fact.at[c.reg].taint;
    l->fact.at[slot].range = limits_of(dtype);
    return slot_value(slot, dtype);
}

Val choose(Lower *l, const IrExpr *cond, const IrExpr *t, const IrExpr *f,
           DType dtype)
{
    bool lazy = (t && may_fault(t)) || (f && may_fault(f));
    Val args[3] = {cast_value(l, value_of(l, cond), DT_BOOL, true)};

    if (l->failed)
        return args[0];
    if (lazy && !l->par)
        return choose_by_jump(l, args[0], t, f, dtype);
    if (lazy)
        return choose_lanes(l, args[0], t, f, dtype);
    args[1] = arm_value(l, t, true, dtype);
    args[2] = arm_value(l, f, false, dtype);
    return apply(l, LANE_OP_SELECT, dtype, dtype, args, 3);
}
