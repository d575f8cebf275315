// index.c - the value of an index at a point of a loop.
//
// What a layout depends on are loop variables and constants; block and other
// outer variables move a tile as a whole and count 0.
#include "plan/plan_int.h"

static int64_t floor_div(int64_t a, int64_t b)
{
    if (b == 0)
        return 0;
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

static int64_t eval_op(Op op, int64_t a, int64_t b)
{
    switch (op) {
    case OP_ADD:      return a + b;
    case OP_SUB:      return a - b;
    case OP_MUL:      return a * b;
    case OP_FLOORDIV: return floor_div(a, b);
    case OP_FLOORMOD: return a - floor_div(a, b) * b;
    case OP_MIN:      return a < b ? a : b;
    case OP_MAX:      return a > b ? a : b;
    case OP_BITAND:   return a & b;
    case OP_BITOR:    return a | b;
    case OP_BITXOR:   return a ^ b;
    case OP_SHL:      return b >= 0 && b < 63 ? (int64_t)((uint64_t)a << b) : 0;
    case OP_SHR:      return b >= 0 && b < 63 ? a >> b : 0;
    case OP_LT:       return a < b;
    case OP_LE:       return a <= b;
    case OP_EQ:       return a == b;
    case OP_NE:       return a != b;
    case OP_NEG:      return -a;
    default:          return 0;
    }
}

int64_t plan_eval(const IrExpr *e, const PlanLoop *l, const int64_t *point)
{
    switch (e->kind) {
    case EXPR_INT:
        return e->i64;
    case EXPR_VAR:
        for (int d = 0; d < l->rank; d++)
            if (l->var[d] == e->var)
                return point[d];
        return 0;
    case EXPR_CAST:
        return plan_eval(e->args[0], l, point);
    case EXPR_SELECT:
        return plan_eval(e->args[plan_eval(e->args[0], l, point) ? 1 : 2], l,
                         point);
    case EXPR_OP:
        return eval_op(e->op, plan_eval(e->args[0], l, point),
                       e->count > 1 ? plan_eval(e->args[1], l, point) : 0);
    default:
        return 0;
    }
}

int64_t plan_element(const PlanLoop *l, const PlanAccess *a,
                     const int64_t *point)
{
    int64_t at = 0;

    for (int d = 0; d < a->buffer->rank; d++) {
        int64_t extent = 1, i;
        ir_is_int(a->buffer->shape[d], &extent);
        if (a->expr[d]) {
            i = plan_eval(a->expr[d], l, point);
        } else {
            i = a->min[d] ? plan_eval(a->min[d], l, point) : 0;
            if (a->map[d] >= 0)
                i += point[a->map[d]];
        }
        at = at * extent + i;
    }
    return at;
}

bool plan_next_point(const PlanLoop *l, int64_t *point)
{
    for (int d = l->rank - 1; d >= 0; d--) {
        if (++point[d] < l->extent[d])
            return true;
        point[d] = 0;
    }
    return false;
}
