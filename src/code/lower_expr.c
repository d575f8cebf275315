// lower_expr.c - expressions to scalar and vector instructions.
//
// One walk serves both: the level of the operands decides. A step whose result
// the narrow dtype cannot hold is followed by a rounding to it.
#include "code/code_int.h"

#include <string.h>

static const uint8_t lane_of[OP_COUNT] = {
#define LANE_OP_NONE LANE_OP_COUNT
#define OP(id, surface, class, status, lane, signature, doc)                   \
    [OP_##id] = LANE_OP_##lane,
#include "op/ops.def"
};

LaneOp lane_of_op(Op op)
{
    return (LaneOp)lane_of[op];
}

Val slot_value(int slot, DType t)
{
    return (Val){AT_SLOT, slot, t, false, 0};
}

int scalar_instr(Lower *l, Instr i, bool invariant)
{
    Emit *out = l->out;
    int slot = new_slot(l, l->par && !invariant);

    i.d = slot;
    if (l->par && invariant)
        l->out = l->par->outer;
    emit(l, i);
    l->out = out;
    return slot;
}

static bool is_invariant(const Lower *l, const Val *v, int n)
{
    for (int i = 0; i < n; i++)
        if (in_body(l, v[i].reg))
            return false;
    return true;
}

uint8_t taint_of(const Lower *l, const Val *v, int n)
{
    uint8_t taint = 0;

    for (int i = 0; i < n; i++)
        taint |= v[i].level == AT_SLOT ? l->fact.at[v[i].reg].taint
                 : l->thread           ? v[i].taint
                                       : TAINT_BLOCKS |
                                             (v[i].taint & TAINT_DATA);
    return taint;
}

// ---- levels --------------------------------------------------------------

static int cached_fill(Lower *l, int slot, LaneType type)
{
    Emit *out = l->out;
    int reg;

    for (int i = 0; i < l->par->fills.len; i++)
        if (l->par->fills.at[i].slot == slot &&
            l->par->fills.at[i].type == type)
            return l->par->fills.at[i].reg;
    // A number not used before: it has to last through the whole loop.
    reg = 2 * l->registers.next_reg[0]++;
    l->out = l->par->outer;
    emit(l, (Instr){.op = INSTR_VFILL,
                    .type = (uint8_t)type,
                    .d = reg,
                    .a = slot,
                    .b = l->par->lanes});
    l->out = out;
    vec_push(l->arena, &l->par->fills, ((Fill){slot, type, reg}));
    return reg;
}

static Val fill_lanes(Lower *l, Val v, Level level)
{
    LaneType type = lane_type_of(v.dtype);
    Val r = {level, 0, v.dtype, true, l->fact.at[v.reg].taint};

    if (!in_body(l, v.reg)) {
        r.reg = cached_fill(l, v.reg, type);
        r.temp = false;
        return r;
    }
    r.reg = new_reg(l, false);
    emit(l, (Instr){.op = INSTR_VFILL,
                    .type = (uint8_t)type,
                    .d = r.reg,
                    .a = v.reg,
                    .flags = level == AT_ROW ? INSTR_ROW : 0});
    return r;
}

Val promote(Lower *l, Val v, Level level)
{
    Val r = {AT_LANES, 0, v.dtype, true, v.taint};

    if (v.level >= level || l->failed)
        return v;
    if (v.level == AT_SLOT)
        return fill_lanes(l, v, level);
    r.reg = new_reg(l, false);
    emit(l, (Instr){.op = INSTR_VEXPAND,
                    .type = (uint8_t)lane_type_of(v.dtype),
                    .d = r.reg,
                    .a = v.reg});
    release(l, v);
    return r;
}

static Level highest(const Val *v, int n)
{
    Level level = AT_SLOT;

    for (int i = 0; i < n; i++)
        if (v[i].level > level)
            level = v[i].level;
    return level;
}

// ---- rounding and ranges -------------------------------------------------

// Whether the result of op can be something dtype t does not hold.
static bool needs_round(LaneOp op, DType t)
{
    const DTypeInfo *info = dtype_info(t);

    if (lane_dtype(lane_type_of(t)) == t || lane_op_info(op)->truth)
        return false;
    switch (op) {
    case LANE_OP_MAX:
    case LANE_OP_MIN:
    case LANE_OP_MAXNAN:
    case LANE_OP_MINNAN:
    case LANE_OP_SELECT:
    case LANE_OP_AND:
    case LANE_OP_OR:
    case LANE_OP_XOR:
    case LANE_OP_NOT:
    case LANE_OP_SIGN:
    case LANE_OP_FLOOR:
    case LANE_OP_CEIL:
    case LANE_OP_TRUNC:
    case LANE_OP_RINT:
    case LANE_OP_ROUNDAWAY:
        return false;
    case LANE_OP_NEG:
    case LANE_OP_ABS:
        return info->kind != KIND_FLOAT || info->fnuz;
    default:
        return true;
    }
}

Range limits_of(DType t)
{
    const DTypeInfo *info = dtype_info(t);

    if (info->kind == KIND_BOOL)
        return range_of(0, 1);
    if (info->kind == KIND_FLOAT || info->bits > 32)
        return (Range){.known = false};
    if (info->kind == KIND_UINT)
        return range_of(0, ((int64_t)1 << info->bits) - 1);
    return range_of(-((int64_t)1 << (info->bits - 1)),
                    ((int64_t)1 << (info->bits - 1)) - 1);
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static Range exact_range(LaneOp op, Range a, Range b)
{
    bool by_const = b.known && b.low == b.high && b.low > 0;

    if (!a.known || !b.known)
        return (Range){.known = false};
    switch (op) {
    case LANE_OP_ADD:
        return range_sum(a, b);
    case LANE_OP_SUB:
        return range_sum(a, range_scaled(b, -1));
    case LANE_OP_MUL:
        return b.low == b.high ? range_scaled(a, b.low)
                               : (Range){.known = false};
    case LANE_OP_MIN:
        return range_of(a.low < b.low ? a.low : b.low,
                        a.high < b.high ? a.high : b.high);
    case LANE_OP_MAX:
        return range_of(a.low > b.low ? a.low : b.low,
                        a.high > b.high ? a.high : b.high);
    case LANE_OP_FLOORDIV:
        return by_const
                   ? range_of(floor_div(a.low, b.low), floor_div(a.high, b.low))
                   : (Range){.known = false};
    case LANE_OP_FLOORMOD:
        return by_const ? range_of(0, b.low - 1) : (Range){.known = false};
    default:
        return (Range){.known = false};
    }
}

static Range result_range(const Lower *l, LaneOp op, DType t, const Val *v,
                          int n)
{
    Range fits = limits_of(t), r = {.known = false};

    if (n == 2)
        r = exact_range(op, l->fact.at[v[0].reg].range,
                        l->fact.at[v[1].reg].range);
    if (r.known && (!fits.known || (r.low >= fits.low && r.high <= fits.high)))
        return r;
    return fits;
}

// ---- operations ----------------------------------------------------------

static Val round_value(Lower *l, Val v)
{
    Instr i = {.op = v.level == AT_SLOT ? INSTR_ROUND : INSTR_VROUND,
               .flags = v.level == AT_ROW ? INSTR_ROW : 0,
               .dtype = (uint8_t)v.dtype,
               .d = v.reg,
               .a = v.reg};
    Val r = v;

    if (v.level != AT_SLOT) {
        emit(l, i);
        return v;
    }
    r.reg = scalar_instr(l, i, is_invariant(l, &v, 1));
    l->fact.at[r.reg].taint = taint_of(l, &v, 1);
    l->fact.at[r.reg].range = limits_of(v.dtype);
    return r;
}

static Val apply_scalar(Lower *l, Instr i, DType result, Val *v, int n)
{
    Val r = slot_value(scalar_instr(l, i, is_invariant(l, v, n)), result);

    l->fact.at[r.reg].taint = taint_of(l, v, n);
    l->fact.at[r.reg].range = result_range(l, (LaneOp)i.lane, result, v, n);
    return r;
}

static Val apply_vector(Lower *l, Instr i, DType result, Val *v, int n,
                        Level level)
{
    Val r = {level, -1, result, true, taint_of(l, v, n)};
    size_t size = lane_bytes(lane_type_of(result));
    bool same_size = true;

    for (int j = 0; j < n; j++)
        if (lane_bytes(lane_type_of(v[j].dtype)) != size)
            same_size = false;
    if (!same_size) // d must not overlap a source in part
        r.reg = new_reg(l, false);
    for (int j = 0; j < n; j++)
        release(l, v[j]);
    if (same_size)
        r.reg = new_reg(l, false);
    i.op = INSTR_VOP;
    i.flags = level == AT_ROW ? INSTR_ROW : 0;
    i.d = r.reg;
    emit(l, i);
    return r;
}

Val apply(Lower *l, LaneOp op, DType operand, DType result, Val *v, int n)
{
    LaneType type = lane_type_of(operand);
    Level level = highest(v, n);
    Instr i = {.op = INSTR_OP,
               .lane = (uint8_t)op,
               .type = (uint8_t)type,
               .a = -1,
               .b = -1,
               .c = -1};
    Val r;

    if (op == LANE_OP_COUNT || !lane_op_has(op, type)) {
        unsupported(
            l, "%s on %s values is not supported",
            op == LANE_OP_COUNT ? "this operation" : lane_op_info(op)->name,
            dtype_info(operand)->name);
        return slot_value(int_slot(l, DT_I32, 0), result);
    }
    for (int j = 0; j < n; j++)
        v[j] = promote(l, v[j], level);
    i.a = v[0].reg;
    if (n > 1)
        i.b = v[1].reg;
    if (n > 2)
        i.c = v[2].reg;
    r = level == AT_SLOT ? apply_scalar(l, i, result, v, n)
                         : apply_vector(l, i, result, v, n, level);
    return needs_round(op, result) ? round_value(l, r) : r;
}

// ---- conversions ---------------------------------------------------------

static bool holds_all_of(DType to, DType from)
{
    const DTypeInfo *t = dtype_info(to), *f = dtype_info(from);

    if (f->kind == KIND_FLOAT || t->kind == KIND_FLOAT)
        return f->kind == t->kind && lane_type_of(from) == LANE_F32 &&
               to == DT_F32;
    if (t->kind == KIND_BOOL || f->kind == KIND_BOOL)
        return f->kind == KIND_BOOL;
    if (t->kind == f->kind)
        return t->bits >= f->bits;
    return t->kind == KIND_INT && t->bits > f->bits;
}

Val cast_value(Lower *l, Val v, DType to, bool sat)
{
    Instr i = {.op = INSTR_CAST,
               .dtype = (uint8_t)to,
               .from = (uint8_t)v.dtype,
               .flags = sat ? 0 : INSTR_NO_SAT,
               .a = v.reg};
    bool same_lane = lane_type_of(to) == lane_type_of(v.dtype);
    Val r = v;

    if (l->failed)
        return v;
    r.dtype = to;
    if (v.dtype == to ||
        (holds_all_of(to, v.dtype) && (same_lane || v.level == AT_SLOT) &&
         dtype_is_float(to) == dtype_is_float(v.dtype)))
        return r;
    if (v.level == AT_SLOT) {
        r.reg = scalar_instr(l, i, is_invariant(l, &v, 1));
        l->fact.at[r.reg].taint = taint_of(l, &v, 1);
        l->fact.at[r.reg].range = limits_of(to);
        return r;
    }
    i.op = INSTR_VCAST;
    i.flags |= v.level == AT_ROW ? INSTR_ROW : 0;
    i.d = r.reg = new_reg(l, false);
    r.temp = true;
    emit(l, i);
    release(l, v);
    return r;
}

static Val reinterpret_value(Lower *l, const IrExpr *e)
{
    Val v = value_of(l, e->args[0]);
    DType to = map_dtype(l, e->dtype);
    Instr i = {.op = INSTR_BITS,
               .dtype = (uint8_t)to,
               .from = (uint8_t)v.dtype,
               .a = v.reg};
    Val r = {v.level, 0, to, v.level != AT_SLOT, v.taint};

    l->code->reinterprets = true;
    if (dtype_info(to)->bits != dtype_info(v.dtype)->bits) {
        if (l->mode == CODE_F64)
            unsupported(l, "T.reinterpret has no meaning in f64");
        else
            bad_program(l, "code-reinterpret", "%s and %s differ in size",
                        dtype_info(to)->name, dtype_info(v.dtype)->name);
        return v;
    }
    if (v.level == AT_SLOT) {
        r.reg = scalar_instr(l, i, is_invariant(l, &v, 1));
        l->fact.at[r.reg].taint = taint_of(l, &v, 1);
        l->fact.at[r.reg].range = limits_of(to);
        return r;
    }
    i.op = INSTR_VBITS;
    i.flags = v.level == AT_ROW ? INSTR_ROW : 0;
    i.d = r.reg = new_reg(l, false);
    emit(l, i);
    release(l, v);
    return r;
}

// ---- operators -----------------------------------------------------------

bool is_division(Op op)
{
    return op == OP_FLOORDIV || op == OP_FLOORMOD || op == OP_TRUNCDIV ||
           op == OP_TRUNCMOD || op == OP_CEILDIV || op == OP_ALIGN_UP;
}

static void check_lanes(Lower *l, Val v, int site)
{
    Val c, args[2];

    v.temp = false; // the division still needs it
    v = c = promote(l, v, AT_LANES);
    if (lane_type_of(v.dtype) != LANE_I32) {
        args[0] = v;
        args[1] = slot_value(int_slot(l, v.dtype, 0), v.dtype);
        c = apply(l, LANE_OP_NE, v.dtype, DT_BOOL, args, 2);
    }
    emit(l,
         (Instr){.op = INSTR_VCHECK, .a = c.reg, .b = site, .c = l->par->mask});
    release(l, c);
}

static void check_divisor(Lower *l, Val v)
{
    Range r =
        v.level == AT_SLOT ? l->fact.at[v.reg].range : (Range){.known = false};
    int site;

    if (r.known && (r.low > 0 || r.high < 0))
        return;
    site = new_site(l, SITE_DIVISION, -1, false, TEXT(""));
    if (v.level == AT_SLOT && (!l->par || l->par->mask < 0))
        emit(l, (Instr){.op = INSTR_CHECK, .a = v.reg, .b = site});
    else
        check_lanes(l, v, site);
}

static Val divide(Lower *l, LaneOp op, DType t, Val a, Val b)
{
    Val args[2] = {a, b};

    if (!dtype_is_float(t))
        check_divisor(l, b);
    return apply(l, op, t, t, args, 2);
}

static Val two(Lower *l, LaneOp op, DType t, Val a, Val b)
{
    Val args[2] = {a, b};

    return apply(l, op, t, t, args, 2);
}

static Val ceil_div(Lower *l, DType t, Val a, Val b)
{
    Val one = slot_value(int_slot(l, t, 1), t), top;

    b.temp = false;
    top = two(l, LANE_OP_SUB, t, two(l, LANE_OP_ADD, t, a, b), one);
    return divide(l, LANE_OP_FLOORDIV, t, top, b);
}

static Val composite(Lower *l, const IrExpr *e, DType t, Val *v)
{
    Val b = v[1];

    switch (e->op) {
    case OP_CLAMP:
        return two(l, LANE_OP_MIN, t, two(l, LANE_OP_MAX, t, v[0], v[1]), v[2]);
    case OP_CEILDIV:
        return ceil_div(l, t, v[0], v[1]);
    case OP_ALIGN_UP:
        b.temp = false;
        return two(l, LANE_OP_MUL, t, ceil_div(l, t, v[0], b), b);
    default:
        unsupported(l, "an expression cannot use this operation yet");
        return v[0];
    }
}

static Val compare(Lower *l, const IrExpr *e)
{
    bool swap = e->op == OP_GT || e->op == OP_GE;
    LaneOp op = e->op == OP_GT   ? LANE_OP_LT
                : e->op == OP_GE ? LANE_OP_LE
                                 : lane_of_op(e->op);
    Val a = value_of(l, e->args[0]), b = value_of(l, e->args[1]), args[2];
    DType t = a.dtype;

    if (l->failed)
        return a;
    if (b.dtype != t) // only small integers and bool get here
        t = dtype_info(t)->bits >= dtype_info(b.dtype)->bits ? t : b.dtype;
    args[swap] = cast_value(l, a, t, true);
    args[!swap] = cast_value(l, b, t, true);
    return apply(l, op, t, DT_BOOL, args, 2);
}

static bool is_comparison(Op op)
{
    return op == OP_EQ || op == OP_NE || op == OP_LT || op == OP_LE ||
           op == OP_GT || op == OP_GE;
}

static Val truth_of(Lower *l, const IrExpr *e)
{
    Val v = value_of(l, e);

    return l->failed ? v : cast_value(l, v, DT_BOOL, true);
}

static Val logic(Lower *l, const IrExpr *e)
{
    Val args[2];

    if (e->op == OP_NOT) {
        args[0] = truth_of(l, e->args[0]);
        return l->failed ? args[0]
                         : apply(l, LANE_OP_NOT, DT_BOOL, DT_BOOL, args, 1);
    }
    if (may_fault(e->args[1]))
        return e->op == OP_AND
                   ? choose(l, e->args[0], e->args[1], NULL, DT_BOOL)
                   : choose(l, e->args[0], NULL, e->args[1], DT_BOOL);
    args[0] = truth_of(l, e->args[0]);
    args[1] = truth_of(l, e->args[1]);
    if (l->failed)
        return args[0];
    return apply(l, e->op == OP_AND ? LANE_OP_AND : LANE_OP_OR, DT_BOOL,
                 DT_BOOL, args, 2);
}

static Val operate(Lower *l, const IrExpr *e)
{
    LaneOp op = lane_of_op(e->op);
    DType t = map_dtype(l, e->dtype), operand = t;
    Val v[3];

    if (e->count < 1 || e->count > 3) {
        unsupported(l, "an operation with %d operands", e->count);
        return slot_value(int_slot(l, DT_I32, 0), t);
    }
    if (op == LANE_OP_CLZ ||
        (op < LANE_OP_COUNT && lane_op_info(op)->truth))
        operand = map_dtype(l, e->args[0]->dtype);
    for (int i = 0; i < e->count; i++) {
        v[i] = value_of(l, e->args[i]);
        if (l->failed)
            return v[i];
        v[i] = cast_value(l, v[i], operand, true);
    }
    if (op == LANE_OP_BITNOT && t == DT_BOOL)
        op = LANE_OP_NOT;
    if (op == LANE_OP_COUNT)
        return composite(l, e, t, v);
    if (is_division(e->op))
        return divide(l, op, t, v[0], v[1]);
    if (op == LANE_OP_CLZ)
        return cast_value(l, apply(l, op, operand, operand, v, 1), t, true);
    return apply(l, op, operand, t, v, e->count);
}

static Val operator_value(Lower *l, const IrExpr *e)
{
    Form f;

    if (e->op == OP_AND || e->op == OP_OR || e->op == OP_NOT)
        return logic(l, e);
    if (op_is_warp(e->op))
        return warp_value(l, e);
    if (is_comparison(e->op))
        return compare(l, e);
    if (e->op == OP_IF_THEN_ELSE || e->op == OP_SELECT)
        return choose(l, e->args[0], e->args[1], e->args[2],
                      map_dtype(l, e->dtype));
    if (form_is_pure(l, e) && form_of(l, e, &f))
        return form_value(l, &f, e->dtype);
    return operate(l, e);
}

// ---- leaves --------------------------------------------------------------

static Val variable_value(Lower *l, const IrVar *v)
{
    const Binding *b = &l->binding[v->id];
    Val r = b->val;

    if (b->kind == BIND_FORM)
        return b->by_thread && !in_thread_code(l)
                   ? agreed_form(l, b->form, v->dtype)
                   : form_value(l, b->form, v->dtype);
    if (b->kind == BIND_NONE && l->unread && l->unread[v->id]) {
        depends_on_tiles(l);
        return slot_value(int_slot(l, DT_I32, 0), v->dtype);
    }
    if (b->kind == BIND_NONE) {
        bad_program(l, "code-unbound", "'%.*s' has no value here",
                    TEXT_ARG(v->name));
        return slot_value(int_slot(l, DT_I32, 0), v->dtype);
    }
    r.temp = false;
    return b->by_thread && !in_thread_code(l) ? agreed_value(l, r) : r;
}

static Val element_value(Lower *l, const IrExpr *e)
{
    Form index[IR_MAX_RANK];

    if (!index_forms(l, e->buffer, e->args, e->count, index))
        return slot_value(int_slot(l, DT_I32, 0), map_dtype(l, e->dtype));
    return load_of(l, e->buffer, index, 0);
}

static Val atomic_value(Lower *l, const IrExpr *e)
{
    Form index[IR_MAX_RANK];
    const IrExpr *value = ir_atomic_value(e);
    DType t = map_dtype(l, e->buffer->dtype);
    Val v, old = slot_value(int_slot(l, DT_I32, 0), t);

    if (!index_forms(l, e->buffer, e->args, e->count - (value != NULL), index))
        return old;
    if (!value) {
        note_atomic(l, e->buffer);
        return load_of(l, e->buffer, index, 0);
    }
    v = cast_value(l, value_of(l, value), t, true);
    if (!l->failed)
        atomic_on(l, e->buffer, index, lane_of_op(e->op), v, 0, &old);
    return old;
}

static bool reads_tiles(const Lower *l, const IrExpr *e)
{
    return e->kind == EXPR_ATOMIC ||
           (e->kind == EXPR_LOAD && !walk_can_read(l, e->buffer));
}

static Val value_of_kind(Lower *l, const IrExpr *e)
{
    DType t = map_dtype(l, e->dtype);
    Form f;

    if (l->mode == CODE_CONTROL && reads_tiles(l, e)) {
        depends_on_tiles(l);
        return slot_value(int_slot(l, DT_I32, 0), t);
    }
    switch (e->kind) {
    case EXPR_INT:
        return slot_value(int_slot(l, t, e->i64), t);
    case EXPR_FLOAT:
        return slot_value(float_slot(l, t, e->f64), t);
    case EXPR_VAR:
        return variable_value(l, e->var);
    case EXPR_LOAD:
        return element_value(l, e);
    case EXPR_OP:
        return operator_value(l, e);
    case EXPR_CAST:
        if (form_is_pure(l, e) && form_of(l, e, &f))
            return form_value(l, &f, e->dtype);
        return cast_value(l, value_of(l, e->args[0]), t, e->sat);
    case EXPR_SELECT:
        return choose(l, e->args[0], e->args[1], e->args[2], t);
    case EXPR_REINTERPRET:
        return reinterpret_value(l, e);
    case EXPR_ATOMIC:
        return atomic_value(l, e);
    }
    BUG("expression kind %d", (int)e->kind);
}

Val value_of(Lower *l, const IrExpr *e)
{
    Val v = slot_value(0, map_dtype(l, e->dtype));

    if (l->failed)
        return v;
    if (++l->depth > DEPTH_LIMIT)
        unsupported(l, "an expression is nested more than %d deep",
                    DEPTH_LIMIT);
    else if (!dtype_info(e->dtype)->built)
        unsupported(l, "%s values are not supported yet",
                    dtype_info(e->dtype)->name);
    else
        v = value_of_kind(l, e);
    l->depth--;
    return v;
}
