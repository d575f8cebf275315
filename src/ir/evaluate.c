// evaluate.c - the value of integer arithmetic, where its variables have one.
#include "ir/ir.h"

static bool divide(Op op, int64_t a, int64_t b, int64_t *out)
{
    if (b == 0 || (a == INT64_MIN && b == -1))
        return false;
    int64_t quotient = a / b, rest = a % b;
    bool down = rest != 0 && (rest < 0) != (b < 0);     // towards -infinity

    switch (op) {
    case OP_FLOORDIV:
        return *out = quotient - down, true;
    case OP_FLOORMOD:
        return *out = rest + (down ? b : 0), true;
    case OP_TRUNCDIV:
        return *out = quotient, true;
    default:
        return *out = rest, true;
    }
}

static bool operation(Op op, int64_t a, int64_t b, int64_t *out)
{
    switch (op) {
    case OP_ADD:
        return !__builtin_add_overflow(a, b, out);
    case OP_SUB:
        return !__builtin_sub_overflow(a, b, out);
    case OP_MUL:
        return !__builtin_mul_overflow(a, b, out);
    case OP_NEG:
        return !__builtin_sub_overflow((int64_t)0, a, out);
    case OP_FLOORDIV:
    case OP_FLOORMOD:
    case OP_TRUNCDIV:
    case OP_TRUNCMOD:
        return divide(op, a, b, out);
    case OP_BITXOR:
        return *out = a ^ b, true;
    case OP_BITAND:
        return *out = a & b, true;
    case OP_BITOR:
        return *out = a | b, true;
    case OP_SHL:
        return b >= 0 && b < 63 && !__builtin_mul_overflow(
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
    case OP_NOT:
        return *out = !a, true;
    default:
        return false;
    }
}

bool ir_evaluate(const IrExpr *e, IrVarValue *var, void *ctx, int64_t *out)
{
    int64_t a, b = 0;

    switch (e->kind) {
    case EXPR_INT:
        *out = e->i64;
        return true;
    case EXPR_VAR:
        return var(ctx, e->var, out);
    case EXPR_CAST:
        if (dtype_is_float(e->dtype) ||
            !ir_evaluate(e->args[0], var, ctx, out))
            return false;
        if (e->dtype == DT_BOOL)
            *out = *out != 0;
        return true;
    case EXPR_SELECT:
        return ir_evaluate(e->args[0], var, ctx, &a) &&
               ir_evaluate(e->args[a ? 1 : 2], var, ctx, out);
    case EXPR_OP:
        if (e->count < 1 || e->count > 2 ||
            !ir_evaluate(e->args[0], var, ctx, &a))
            return false;
        return (e->count < 2 || ir_evaluate(e->args[1], var, ctx, &b)) &&
               operation(e->op, a, b, out);
    default:
        return false;
    }
}
