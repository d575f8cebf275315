// range.c - what an integer expression can be, from the loops around it.
#include "gpu_backend/emit_int.h"

static Range between(int64_t low, int64_t high)
{
    return (Range){true, low, high};
}

static Range of_type(DType t)
{
    switch (t) {
    case DT_BOOL: return between(0, 1);
    case DT_I8:   return between(-128, 127);
    case DT_U8:   return between(0, 255);
    case DT_I16:  return between(-32768, 32767);
    case DT_U16:  return between(0, 65535);
    default:      return (Range){0};
    }
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

static Range multiply(Range a, Range b)
{
    int64_t x[4];

    if (__builtin_mul_overflow(a.low, b.low, &x[0]) ||
        __builtin_mul_overflow(a.low, b.high, &x[1]) ||
        __builtin_mul_overflow(a.high, b.low, &x[2]) ||
        __builtin_mul_overflow(a.high, b.high, &x[3]))
        return (Range){0};
    Range r = between(x[0], x[0]);
    for (int i = 1; i < 4; i++) {
        r.low = x[i] < r.low ? x[i] : r.low;
        r.high = x[i] > r.high ? x[i] : r.high;
    }
    return r;
}

static Range add(Range a, Range b, bool minus)
{
    Range r = {.known = true};

    if (minus) {
        b = between(-b.high, -b.low);
    }
    if (__builtin_add_overflow(a.low, b.low, &r.low) ||
        __builtin_add_overflow(a.high, b.high, &r.high))
        return (Range){0};
    return r;
}

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

// One side is enough for some.
static Range half_known(Op op, Range a, Range b)
{
    if (op == OP_FLOORMOD && b.known && b.low > 0)
        return between(0, b.high - 1);
    if (op == OP_BITAND && b.known && b.low >= 0)
        return between(0, b.high);
    if (op == OP_BITAND && a.known && a.low >= 0)
        return between(0, a.high);
    return (Range){0};
}

static Range range_op(Op op, Range a, Range b)
{
    if (!a.known || !b.known)
        return half_known(op, a, b);
    switch (op) {
    case OP_ADD:
    case OP_SUB:
        return add(a, b, op == OP_SUB);
    case OP_MUL:
        return multiply(a, b);
    case OP_MIN:
        return between(min64(a.low, b.low), min64(a.high, b.high));
    case OP_MAX:
        return between(max64(a.low, b.low), max64(a.high, b.high));
    case OP_FLOORDIV:
        if (b.low <= 0)
            return (Range){0};
        return between(min64(floor_div(a.low, b.low),
                             floor_div(a.low, b.high)),
                       max64(floor_div(a.high, b.low),
                             floor_div(a.high, b.high)));
    case OP_FLOORMOD:
        if (b.low <= 0)
            return (Range){0};
        if (a.low >= 0 && a.high < b.low)
            return a;
        return between(0, a.low >= 0 ? min64(a.high, b.high - 1)
                                     : b.high - 1);
    case OP_SHR:
        if (a.low < 0 || b.low < 0 || b.high > 62)
            return (Range){0};
        return between(a.low >> b.high, a.high >> b.low);
    case OP_SHL:
        if (a.low < 0 || b.low < 0 || b.high > 30 || a.high >= 1 << 30)
            return (Range){0};
        return between(a.low << b.low, a.high << b.high);
    case OP_BITXOR:
    case OP_BITOR:
        if (a.low < 0 || b.low < 0)
            return (Range){0};
        for (int64_t top = 1; top > 0; top *= 2)
            if (top > a.high && top > b.high)
                return between(0, top - 1);
        return (Range){0};
    default:
        return half_known(op, a, b);
    }
}

static Range hull(Range a, Range b)
{
    if (!a.known || !b.known)
        return (Range){0};
    return between(min64(a.low, b.low), max64(a.high, b.high));
}

Range interval_of(const Emit *e, const IrExpr *x)
{
    if (dtype_is_float(x->dtype))
        return (Range){0};
    switch (x->kind) {
    case EXPR_INT:
        return between(x->i64, x->i64);
    case EXPR_VAR:
        return e->range[x->var->id].known ? e->range[x->var->id]
                                          : of_type(x->dtype);
    case EXPR_CAST:
        if (dtype_is_float(x->args[0]->dtype))
            return of_type(x->dtype);
        return dtype_info(x->dtype)->bits >=
                       dtype_info(x->args[0]->dtype)->bits
                   ? interval_of(e, x->args[0])
                   : of_type(x->dtype);
    case EXPR_SELECT:
        return hull(interval_of(e, x->args[1]), interval_of(e, x->args[2]));
    case EXPR_OP:
        if (x->op == OP_GET_THREAD_BINDING)
            return between(0, 1023);
        if (x->count == 1 || x->count == 2)
            return range_op(x->op, interval_of(e, x->args[0]),
                            x->count > 1 ? interval_of(e, x->args[1])
                                         : (Range){0});
        return of_type(x->dtype);
    default:
        return of_type(x->dtype);
    }
}
