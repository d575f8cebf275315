// evaluate.c - the value of integer arithmetic, where its variables have one.
#include "ir/ir.h"

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static bool operation(const IrExpr *e, int64_t a, int64_t b, int64_t *out)
{
    switch (e->op) {
    case OP_ADD:
        return !__builtin_add_overflow(a, b, out);
    case OP_SUB:
        return !__builtin_sub_overflow(a, b, out);
    case OP_MUL:
        return !__builtin_mul_overflow(a, b, out);
    case OP_FLOORDIV:
        return b && (*out = floor_div(a, b), true);
    case OP_FLOORMOD:
        return b && (*out = a - b * floor_div(a, b), true);
    case OP_BITXOR:
        return *out = a ^ b, true;
    case OP_BITAND:
        return *out = a & b, true;
    case OP_BITOR:
        return *out = a | b, true;
    case OP_SHL:
        return b >= 0 && b < 32 && !__builtin_mul_overflow(
                   a, (int64_t)1 << b, out);
    case OP_SHR:
        return b >= 0 && b < 63 && (*out = a >> b, true);
    case OP_MIN:
        return *out = a < b ? a : b, true;
    case OP_MAX:
        return *out = a > b ? a : b, true;
    case OP_LT:
        return *out = a < b, true;
    case OP_LE:
        return *out = a <= b, true;
    case OP_EQ:
        return *out = a == b, true;
    case OP_NE:
        return *out = a != b, true;
    case OP_AND:
        return *out = a && b, true;
    case OP_OR:
        return *out = a || b, true;
    default:
        return false;
    }
}

bool ir_evaluate(const IrExpr *e, IrVarValue *var, void *ctx, int64_t *out)
{
    int64_t a, b;

    switch (e->kind) {
    case EXPR_INT:
        *out = e->i64;
        return true;
    case EXPR_VAR:
        return var(ctx, e->var, out);
    case EXPR_CAST:
        return dtype_is_int(e->dtype) &&
               ir_evaluate(e->args[0], var, ctx, out);
    case EXPR_SELECT:
        return ir_evaluate(e->args[0], var, ctx, &a) &&
               ir_evaluate(e->args[a ? 1 : 2], var, ctx, out);
    case EXPR_OP:
        return e->count == 2 && ir_evaluate(e->args[0], var, ctx, &a) &&
               ir_evaluate(e->args[1], var, ctx, &b) &&
               operation(e, a, b, out);
    default:
        return false;
    }
}
