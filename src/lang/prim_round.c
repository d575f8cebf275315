// prim_round.c - T.ieee_* rounded up, down or toward zero, for float32.
//
// The result to nearest is one of the two floats around the exact value. Which
// side the exact value lies on is known in float64: products of two float32
// are exact there, a sum is exact as two float64 (Knuth's two-sum), and for
// quotients and roots the sign of the residual x - r * y is.
#include "lang/trace_int.h"

typedef struct {
    Lang *l;
    IrKernel *k;
    Span at;
} Rounding;

static IrExpr *op2(const Rounding *r, Op op, IrExpr *a, IrExpr *b)
{
    return ir_op2(r->k, op, a, b, r->at);
}

// Used more than once: frozen, where a statement can stand.
static IrExpr *once(const Rounding *r, IrExpr *e)
{
    trace_builder_ok(r->l, e, r->at);
    if (!r->l->trace || r->l->trace->lazy)
        return e;
    return to_expr(r->l, trace_freeze(r->l, TEXT("part"), e, r->at), r->at);
}

static IrExpr *wide(const Rounding *r, IrExpr *e)
{
    return once(r, ir_cast(r->k, e, DT_F64, true, r->at));
}

static IrExpr *zero(const Rounding *r)
{
    return ir_float(r->k, DT_F64, 0, r->at);
}

// Whether the exact value lies above (OP_LT) or below the result.
typedef struct {
    IrExpr *above, *below;
} Sides;

static Sides by_residual(const Rounding *r, IrExpr *residual)
{
    residual = once(r, residual);
    return (Sides){op2(r, OP_GT, residual, zero(r)),
                   op2(r, OP_LT, residual, zero(r))};
}

// Of a + b, both exact.
static Sides of_sum(const Rounding *r, IrExpr *a, IrExpr *b, IrExpr *result)
{
    IrExpr *s = once(r, op2(r, OP_ADD, a, b));
    IrExpr *part = once(r, op2(r, OP_SUB, s, a)), *error, *equal;

    error = op2(r, OP_ADD, op2(r, OP_SUB, a, op2(r, OP_SUB, s, part)),
                op2(r, OP_SUB, b, part));
    error = once(r, error);
    result = wide(r, result);
    equal = once(r, op2(r, OP_EQ, s, result));
    return (Sides){
        op2(r, OP_OR, op2(r, OP_GT, s, result),
            op2(r, OP_AND, equal, op2(r, OP_GT, error, zero(r)))),
        op2(r, OP_OR, op2(r, OP_LT, s, result),
            op2(r, OP_AND, equal, op2(r, OP_LT, error, zero(r)))),
    };
}

// ---- the float beside ------------------------------------------------------

static IrExpr *bits_int(const Rounding *r, int64_t v)
{
    return ir_int(r->k, DT_I32, v, r->at);
}

static IrExpr *beside(const Rounding *r, IrExpr *e, bool up)
{
    IrExpr *bits = once(r, ir_reinterpret(r->k, e, DT_I32, r->at));
    IrExpr *more = op2(r, OP_ADD, bits, bits_int(r, 1));
    IrExpr *less = op2(r, OP_SUB, bits, bits_int(r, 1)), *next;

    next = ir_select(r->k, op2(r, OP_GE, bits, bits_int(r, 0)),
                     up ? more : less, up ? less : more, r->at);
    next = ir_select(r->k, op2(r, OP_EQ, e, ir_float(r->k, DT_F32, 0, r->at)),
                     bits_int(r, up ? 1 : INT32_MIN + 1), next, r->at);
    return ir_reinterpret(r->k, next, DT_F32, r->at);
}

static IrExpr *directed(const Rounding *r, IrExpr *e, Sides s, Text mode)
{
    IrExpr *none = ir_float(r->k, DT_F32, 0, r->at);

    if (text_is(mode, "ru"))
        return ir_select(r->k, s.above, beside(r, e, true), e, r->at);
    if (text_is(mode, "rd"))
        return ir_select(r->k, s.below, beside(r, e, false), e, r->at);
    e = once(r, e);
    return ir_select(
        r->k, op2(r, OP_AND, s.below, op2(r, OP_GT, e, none)),
        beside(r, e, false),
        ir_select(r->k, op2(r, OP_AND, s.above, op2(r, OP_LT, e, none)),
                  beside(r, e, true), e, r->at), r->at);
}

static IrExpr *is_negative(const Rounding *r, IrExpr *e)
{
    return op2(r, OP_LT, ir_reinterpret(r->k, e, DT_I64, r->at),
               ir_int(r->k, DT_I64, 0, r->at));
}

// Downwards, a sum that is exactly 0 is -0 unless both parts are +0.
static IrExpr *zero_down(const Rounding *r, IrExpr *e, Sides s, IrExpr *a,
                         IrExpr *b)
{
    IrExpr *minus = op2(r, OP_OR, is_negative(r, a), is_negative(r, b));
    IrExpr *exact = ir_op1(r->k, OP_NOT, op2(r, OP_OR, s.above, s.below),
                           r->at);

    minus = op2(r, OP_AND, minus, exact);
    minus = op2(r, OP_AND, minus, op2(r, OP_EQ, e, ir_float(r->k, DT_F32, 0,
                                                            r->at)));
    return ir_select(r->k, minus, ir_float(r->k, DT_F32, -0.0, r->at), e,
                     r->at);
}

// ---- the call --------------------------------------------------------------

IrExpr *round_directed(Lang *l, Op op, IrExpr *const *x, int n,
                       IrExpr *nearest, Text mode, Span at)
{
    Rounding r = {l, trace_kernel(l), at};
    IrExpr *a[3], *e = once(&r, nearest), *y;
    bool sum = op == OP_IEEE_ADD || op == OP_IEEE_SUB || op == OP_IEEE_FMAF;
    Sides s;

    for (int i = 0; i < n; i++)
        a[i] = wide(&r, x[i]);
    if (op == OP_IEEE_SUB)
        a[1] = once(&r, ir_op1(r.k, OP_NEG, a[1], at));
    if (op == OP_IEEE_FMAF) {
        a[0] = once(&r, op2(&r, OP_MUL, a[0], a[1]));
        a[1] = a[2];
    }
    if (sum) {
        s = of_sum(&r, a[0], a[1], e);
    } else if (op == OP_IEEE_MUL) {
        s = of_sum(&r, once(&r, op2(&r, OP_MUL, a[0], a[1])), zero(&r), e);
    } else if (op == OP_IEEE_FSQRT) {
        y = wide(&r, e);
        s = by_residual(&r, op2(&r, OP_SUB, a[0], op2(&r, OP_MUL, y, y)));
    } else {                            // a quotient, or 1 / x
        y = a[n - 1];
        IrExpr *from = n == 2 ? a[0] : ir_float(r.k, DT_F64, 1, at);
        IrExpr *rest = op2(&r, OP_SUB, from,
                           op2(&r, OP_MUL, wide(&r, e), y));
        rest = once(&r, rest);
        s = by_residual(&r, ir_select(r.k, op2(&r, OP_LT, y, zero(&r)),
                                      ir_op1(r.k, OP_NEG, rest, at), rest, at));
    }
    s.above = once(&r, s.above);
    s.below = once(&r, s.below);
    IrExpr *out = directed(&r, e, s, mode);
    if (sum && text_is(mode, "rd"))
        out = zero_down(&r, once(&r, out), s, a[0], a[1]);
    trace_builder_ok(l, out, at);
    return out;
}
