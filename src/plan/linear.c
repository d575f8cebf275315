// linear.c - expressions as sums of variables, and what their ranges tell.
//
// Upstream simplifies with the ranges of block and loop variables: the smaller
// of two sums is one of them if their difference never changes its sign.
#include "plan/plan_int.h"

enum { TERMS = 6, LINEAR_DEEP = 24 };

typedef struct {
    int64_t base;
    int len;
    struct {
        const IrVar *var;
        int64_t by;
    } at[TERMS];
} Linear;

static bool linear_of(const PlanState *p, const IrExpr *e, int depth,
                      Linear *out);

static bool add_term(Linear *f, const IrVar *v, int64_t by)
{
    int i = 0;

    while (i < f->len && f->at[i].var != v)
        i++;
    if (i == TERMS)
        return false;
    if (i == f->len) {
        f->at[f->len].var = v;
        f->at[f->len++].by = 0;
    }
    f->at[i].by += by;
    if (!f->at[i].by)
        f->at[i] = f->at[--f->len];
    return true;
}

static bool add_scaled(Linear *f, const Linear *g, int64_t by)
{
    bool ok = true;

    f->base += g->base * by;
    for (int i = 0; i < g->len; i++)
        ok = ok && add_term(f, g->at[i].var, g->at[i].by * by);
    return ok;
}

// The values of a block or loop variable, from constants around it.
static bool range_of_var(const PlanState *p, const IrVar *v, int depth,
                         PlanRange *out);

static bool range_of(const PlanState *p, const Linear *f, int depth,
                     PlanRange *out)
{
    *out = (PlanRange){f->base, f->base};
    for (int i = 0; i < f->len; i++) {
        int64_t by = f->at[i].by;
        PlanRange r;
        if (!range_of_var(p, f->at[i].var, depth + 1, &r))
            return false;
        out->low += by * (by > 0 ? r.low : r.high);
        out->high += by * (by > 0 ? r.high : r.low);
    }
    return true;
}

static bool range_of_expr(const PlanState *p, const IrExpr *e, int depth,
                          PlanRange *out)
{
    Linear f;

    if (!e) {
        *out = (PlanRange){0, 0};
        return true;
    }
    return linear_of(p, e, depth + 1, &f) && range_of(p, &f, depth, out);
}

static bool range_of_var(const PlanState *p, const IrVar *v, int depth,
                         PlanRange *out)
{
    const IrStmt *s = p->binder[v->id];
    PlanRange start, trips;
    int64_t step = 1;
    int i = 0;

    if (!s || depth > LINEAR_DEEP)
        return false;
    while (i < s->var_count && s->vars[i] != v)
        i++;
    if (i == s->var_count || !range_of_expr(p, s->extent[i], depth, &trips))
        return false;
    if (s->kind == STMT_LAUNCH)
        start = (PlanRange){0, 0};
    else if (!range_of_expr(p, s->start[i], depth, &start) ||
             (s->step && !ir_is_int(s->step, &step)) || step < 1)
        return false;
    *out = (PlanRange){start.low, start.high};
    if (trips.high > 1)
        out->high += (trips.high - 1) * step;
    return true;
}

static bool smaller(const PlanState *p, const IrExpr *e, int depth, Linear *out)
{
    Linear a, b, d;
    PlanRange r;

    if (!linear_of(p, e->args[0], depth + 1, &a) ||
        !linear_of(p, e->args[1], depth + 1, &b))
        return false;
    d = a;
    if (!add_scaled(&d, &b, -1) || !range_of(p, &d, depth, &r) ||
        (r.low < 0 && r.high > 0))
        return false;
    *out = (r.high <= 0) == (e->op == OP_MIN) ? a : b;
    return true;
}

static bool linear_of_op(const PlanState *p, const IrExpr *e, int depth,
                         Linear *out)
{
    Linear a;
    int64_t by;

    switch (e->op) {
    case OP_ADD:
    case OP_SUB:
        return linear_of(p, e->args[0], depth + 1, out) &&
               linear_of(p, e->args[1], depth + 1, &a) &&
               add_scaled(out, &a, e->op == OP_ADD ? 1 : -1);
    case OP_MUL:
        if (!linear_of(p, e->args[0], depth + 1, &a) ||
            !ir_is_int(e->args[1], &by))
            return false;
        *out = (Linear){0};
        return add_scaled(out, &a, by);
    case OP_MIN:
    case OP_MAX:
        return smaller(p, e, depth, out);
    default:
        return false;
    }
}

static bool linear_of(const PlanState *p, const IrExpr *e, int depth,
                      Linear *out)
{
    *out = (Linear){0};
    if (depth > LINEAR_DEEP)
        return false;
    switch (e->kind) {
    case EXPR_INT:
        out->base = e->i64;
        return true;
    case EXPR_CAST:
        return linear_of(p, e->args[0], depth + 1, out);
    case EXPR_VAR:
        if (e->var->kind == VAR_LET && p->let[e->var->id])
            return linear_of(p, p->let[e->var->id], depth + 1, out);
        return add_term(out, e->var, 1);
    case EXPR_OP:
        return linear_of_op(p, e, depth, out);
    default:
        return false;
    }
}

bool plan_inside(const PlanState *p, const PlanLoop *l, const PlanAccess *a)
{
    for (int d = 0; d < a->buffer->rank; d++) {
        int64_t size, extent = a->map[d] < 0 ? 1 : l->extent[a->map[d]];
        PlanRange r;
        if (!ir_is_int(a->buffer->shape[d], &size) || a->expr[d] ||
            !range_of_expr(p, a->min[d], 0, &r) || r.low < 0 ||
            r.high + extent > size)
            return false;
    }
    return true;
}

bool plan_constant(const PlanState *p, const IrExpr *e, int64_t *out)
{
    Linear f;

    if (ir_is_int(e, out))
        return true;
    if (!linear_of(p, e, 0, &f) || f.len)
        return false;
    *out = f.base;
    return true;
}

// Whether a < b or, with `equal`, a <= b: 1 for surely, 0 for never, -1 for what
// the ranges leave open.
static int is_less(const PlanState *p, const IrExpr *a, const IrExpr *b,
                   bool equal)
{
    Linear x, y;
    PlanRange r;

    if (!linear_of(p, a, 0, &x) || !linear_of(p, b, 0, &y) ||
        !add_scaled(&x, &y, -1) || !range_of(p, &x, 0, &r))
        return -1;
    return r.high < equal ? 1 : r.low >= equal ? 0 : -1;
}

static int truth_of(const PlanState *p, const IrExpr *e)
{
    if (e->kind != EXPR_OP)
        return -1;
    switch (e->op) {
    case OP_LT:
    case OP_LE:
        return is_less(p, e->args[0], e->args[1], e->op == OP_LE);
    case OP_GT:
    case OP_GE:
        return is_less(p, e->args[1], e->args[0], e->op == OP_GE);
    case OP_AND:
    case OP_OR: {
        int x = truth_of(p, e->args[0]), y = truth_of(p, e->args[1]);
        int end = e->op == OP_OR;
        return x == end || y == end ? end : x < 0 || y < 0 ? -1 : !end;
    }
    default:
        return -1;
    }
}

bool plan_decided(const PlanState *p, const IrStmt *s, IrStmt **side)
{
    int truth = s->kind == STMT_IF && p->plan->rules == PLAN_TILELANG
                    ? truth_of(p, s->cond)
                    : -1;

    *side = truth > 0 ? s->then : s->otherwise;
    return truth >= 0;
}
