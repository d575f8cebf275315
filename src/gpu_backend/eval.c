// eval.c - extents of a launch for given symbols and scalars.
#include "gpu_backend/emit_int.h"

typedef struct {
    const GpuProgram *program;      // NULL: every variable has a value
    const int64_t *value;
} Eval;

static bool eval(const Eval *v, const IrExpr *e, int64_t *out);

static bool floor_parts(int64_t a, int64_t b, int64_t *quotient, int64_t *rest)
{
    if (b == 0 || (a == INT64_MIN && b == -1))
        return false;
    *quotient = a / b - (a % b != 0 && (a % b < 0) != (b < 0));
    *rest = a - *quotient * b;
    return true;
}

static bool eval_op(Op op, int64_t a, int64_t b, int64_t *out)
{
    int64_t rest;

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
        return floor_parts(a, b, out, &rest);
    case OP_FLOORMOD:
        return floor_parts(a, b, &rest, out);
    case OP_TRUNCDIV:
    case OP_TRUNCMOD:
        if (b == 0 || (a == INT64_MIN && b == -1))
            return false;
        *out = op == OP_TRUNCDIV ? a / b : a % b;
        return true;
    case OP_MIN:    *out = a < b ? a : b;   return true;
    case OP_MAX:    *out = a > b ? a : b;   return true;
    case OP_LT:     *out = a < b;           return true;
    case OP_LE:     *out = a <= b;          return true;
    case OP_EQ:     *out = a == b;          return true;
    case OP_NE:     *out = a != b;          return true;
    case OP_AND:    *out = a && b;          return true;
    case OP_OR:     *out = a || b;          return true;
    case OP_NOT:    *out = !a;              return true;
    case OP_BITAND: *out = a & b;           return true;
    case OP_BITOR:  *out = a | b;           return true;
    case OP_BITXOR: *out = a ^ b;           return true;
    case OP_SHL:
    case OP_SHR:
        if (b < 0 || b > 62)
            return false;
        *out = op == OP_SHL ? (int64_t)((uint64_t)a << b) : a >> b;
        return true;
    default:
        return false;
    }
}

// A let of the kernel's body, outside of its launches.
static const IrExpr *let_of(const IrStmt *block, const IrVar *v)
{
    for (int i = 0; i < block->len; i++) {
        const IrStmt *s = block->body[i];
        if (s->kind == STMT_LET && s->var == v)
            return s->value;
    }
    return NULL;
}

static bool eval_var(const Eval *v, const IrVar *var, int64_t *out)
{
    if (!v->program || var->kind == VAR_SYMBOL || var->kind == VAR_PARAM) {
        *out = v->value[var->id];
        return true;
    }
    const IrExpr *e = let_of(v->program->plan->kernel->body, var);
    return e && eval(v, e, out);
}

static bool eval(const Eval *v, const IrExpr *e, int64_t *out)
{
    int64_t a, b = 0;

    switch (e->kind) {
    case EXPR_INT:
        *out = e->i64;
        return true;
    case EXPR_VAR:
        return eval_var(v, e->var, out);
    case EXPR_CAST:
        return !dtype_is_float(e->dtype) && eval(v, e->args[0], out);
    case EXPR_SELECT:
        return eval(v, e->args[0], &a) && eval(v, e->args[a ? 1 : 2], out);
    case EXPR_OP:
        if (e->count > 2 || !eval(v, e->args[0], &a))
            return false;
        return (e->count < 2 || eval(v, e->args[1], &b)) &&
               eval_op(e->op, a, b, out);
    default:
        return false;
    }
}

bool gpu_eval(const GpuProgram *g, const IrExpr *e, const int64_t *value,
              int64_t *out)
{
    Eval v = {g, value};
    return eval(&v, e, out);
}

bool eval_at(const IrExpr *x, const int64_t *value, int64_t *out)
{
    Eval v = {NULL, value};
    return eval(&v, x, out);
}
