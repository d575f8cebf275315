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
    case OP_AND:      return a && b;
    case OP_OR:       return a || b;
    case OP_NOT:      return !a;
    default:          return 0;
    }
}

static bool is_known(Op op)
{
    switch (op) {
    case OP_ADD: case OP_SUB: case OP_MUL: case OP_FLOORDIV: case OP_FLOORMOD:
    case OP_MIN: case OP_MAX: case OP_BITAND: case OP_BITOR: case OP_BITXOR:
    case OP_SHL: case OP_SHR: case OP_LT: case OP_LE: case OP_EQ: case OP_NE:
    case OP_NEG: case OP_AND: case OP_OR: case OP_NOT:
        return true;
    default:
        return false;
    }
}

static int64_t eval_nest(PlanAt *at, const PlanNest *n)
{
    int64_t start = n->loop->start[n->var]
                        ? plan_eval_at(at, n->loop->start[n->var]) : 0;
    int64_t step = n->loop->step ? plan_eval_at(at, n->loop->step) : 1;

    return start + at->trip[n->depth] * step;
}

static int64_t eval_var(PlanAt *at, const IrVar *v)
{
    const PlanLoop *l = at->loop;

    for (int d = 0; d < l->rank; d++)
        if (l->var[d] == v)
            return at->point[d];
    if (!at->env)
        return 0;
    for (const PlanNest *n = at->nest; n; n = n->outer)
        if (n->loop->vars[n->var] == v)
            return eval_nest(at, n);
    for (int i = 0; i < l->lets.len; i++)
        if (l->lets.at[i]->var == v)
            return plan_eval_at(at, l->lets.at[i]->value);
    at->failed |= v->kind == VAR_THREAD;
    return at->env->var[v->id];
}

static int64_t eval_load(PlanAt *at, const IrExpr *e)
{
    if (at->env && at->env->cell && e->buffer->scope == SCOPE_VAR)
        return at->env->cell[e->buffer->id];
    at->failed = true;
    return 0;
}

static int64_t eval_thread(PlanAt *at, const IrExpr *e)
{
    int64_t d = 0, t = at->thread;

    if (!at->threads || (e->count && !ir_is_int(e->args[0], &d)) || d < 0 ||
        d > 2) {
        at->failed = true;
        return 0;
    }
    for (int i = 0; i < d; i++)
        t /= at->threads[i];
    return t % at->threads[d];
}

bool plan_by_thread(const PlanLoop *l, const IrExpr *e)
{
    if (!e)
        return false;
    if (e->kind == EXPR_OP && e->op == OP_GET_THREAD_BINDING)
        return true;
    for (int i = 0; e->kind == EXPR_VAR && i < l->lets.len; i++)
        if (l->lets.at[i]->var == e->var)
            return plan_by_thread(l, l->lets.at[i]->value);
    for (int i = 0; i < e->count; i++)
        if (plan_by_thread(l, e->args[i]))
            return true;
    return false;
}

int64_t plan_eval_at(PlanAt *at, const IrExpr *e)
{
    switch (e->kind) {
    case EXPR_INT:
        return e->i64;
    case EXPR_VAR:
        return eval_var(at, e->var);
    case EXPR_CAST:
        return plan_eval_at(at, e->args[0]);
    case EXPR_SELECT:
        return plan_eval_at(at, e->args[plan_eval_at(at, e->args[0]) ? 1 : 2]);
    case EXPR_LOAD:
        return eval_load(at, e);
    case EXPR_OP:
        if (e->op == OP_GET_THREAD_BINDING)
            return eval_thread(at, e);
        if (!is_known(e->op))
            at->failed = true;
        return eval_op(e->op, plan_eval_at(at, e->args[0]),
                       e->count > 1 ? plan_eval_at(at, e->args[1]) : 0);
    default:
        at->failed = true;
        return 0;
    }
}

int64_t plan_eval(const IrExpr *e, const PlanLoop *l, const int64_t *point)
{
    PlanAt at = {.loop = l, .point = point};
    return plan_eval_at(&at, e);
}

// ---- elements of buffers ---------------------------------------------------

static bool has_inner(const PlanLoop *l, const IrExpr *e)
{
    for (int d = 0; e->kind == EXPR_VAR && d < l->rank; d++)
        if (l->var[d] == e->var)
            return true;
    for (int i = 0; i < e->count; i++)
        if (has_inner(l, e->args[i]))
            return true;
    return false;
}

static bool add_expr(PlanForm *f, const PlanLoop *l, const IrExpr *e,
                     int64_t scale)
{
    static const int64_t zero[IR_MAX_RANK];
    int64_t n;

    if (!has_inner(l, e)) {
        f->base += scale * plan_eval(e, l, zero);
        return true;
    }
    if (e->kind == EXPR_CAST)
        return add_expr(f, l, e->args[0], scale);
    if (e->kind == EXPR_OP && (e->op == OP_ADD || e->op == OP_SUB))
        return add_expr(f, l, e->args[0], scale) &&
               add_expr(f, l, e->args[1], e->op == OP_ADD ? scale : -scale);
    if (e->kind == EXPR_OP && e->op == OP_MUL && ir_is_int(e->args[0], &n))
        return add_expr(f, l, e->args[1], scale * n);
    if (e->kind == EXPR_OP && e->op == OP_MUL && ir_is_int(e->args[1], &n))
        return add_expr(f, l, e->args[0], scale * n);
    for (int d = 0; e->kind == EXPR_VAR && d < l->rank; d++)
        if (l->var[d] == e->var)
            f->stride[d] += scale;
    return e->kind == EXPR_VAR;
}

static PlanForm form_of(const PlanLoop *l, const PlanAccess *a)
{
    PlanForm f = {.is_sum = true};
    int64_t stride = 1, extent;

    for (int d = a->buffer->rank - 1; d >= 0 && f.is_sum; d--) {
        const IrExpr *e = a->expr[d] ? a->expr[d] : a->min[d];
        if (e)
            f.is_sum = add_expr(&f, l, e, stride);
        if (!a->expr[d] && a->map[d] >= 0)
            f.stride[a->map[d]] += stride;
        extent = 1;
        ir_is_int(a->buffer->shape[d], &extent);
        stride *= extent;
    }
    return f;
}

static int64_t evaluate(const PlanLoop *l, const PlanAccess *a,
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

int64_t plan_element(const PlanLoop *l, const PlanAccess *a,
                     const int64_t *point)
{
    int64_t at = a->form.base;

    if (!a->form.is_sum)
        return evaluate(l, a, point);
    for (int d = 0; d < l->rank; d++)
        at += a->form.stride[d] * point[d];
    return at;
}

static const int32_t *elements_of(Arena *arena, const PlanLoop *l,
                                  const PlanAccess *a)
{
    int32_t *e = new_array(arena, int32_t, l->points + 1);
    int64_t point[IR_MAX_RANK] = {0};
    int64_t inner = l->rank ? l->extent[l->rank - 1] : 1;
    int64_t step = l->rank ? a->form.stride[l->rank - 1] : 0;

    for (int64_t n = 0; n < l->points; n++) {
        e[n] = (int32_t)plan_element(l, a, point);
        if (a->form.is_sum)
            for (int64_t i = 1; i < inner; i++, n++)
                e[n + 1] = (int32_t)(e[n] + step);
        if (a->form.is_sum && l->rank)
            point[l->rank - 1] = inner - 1;
        plan_next_point(l, point);
    }
    return e;
}

void plan_index(Arena *arena, PlanLoop *l)
{
    for (int i = 0; i < l->access.len; i++) {
        PlanAccess *a = &l->access.at[i];

        a->form = form_of(l, a);
        if (a->buffer->scope == SCOPE_FRAGMENT)
            a->element = elements_of(arena, l, a);
    }
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
