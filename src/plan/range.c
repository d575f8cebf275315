// range.c - what values an index can have over the points of a loop.
#include "plan/access.h"

typedef struct {
    const PlanLoop *loop;
    const PlanNest *nest;
    const PlanEnv *env;
    int depth;
} Range;

enum { DEEP = 64 };
static const int64_t FAR = INT64_C(1) << 40;    // beyond it nothing is known

static bool range(Range *r, const IrExpr *e, PlanRange *out);

static PlanRange hull(PlanRange a, PlanRange b)
{
    return (PlanRange){a.low < b.low ? a.low : b.low,
                       a.high > b.high ? a.high : b.high};
}

static bool range_nest(Range *r, const PlanNest *n, PlanRange *out)
{
    PlanRange start = {0}, trips, step = {1, 1};
    const IrStmt *s = n->loop;

    if (s->start[n->var] && !range(r, s->start[n->var], &start))
        return false;
    if (s->step && !range(r, s->step, &step))
        return false;
    if (!range(r, s->extent[n->var], &trips) || step.low < 0)
        return false;
    *out = (PlanRange){start.low, start.high};
    if (trips.high > 1)
        out->high += (trips.high - 1) * step.high;
    return true;
}

static bool range_var(Range *r, const IrVar *v, PlanRange *out)
{
    const PlanLoop *l = r->loop;

    for (int d = 0; d < l->rank; d++)
        if (l->var[d] == v) {
            *out = (PlanRange){0, l->extent[d] > 0 ? l->extent[d] - 1 : 0};
            return true;
        }
    for (const PlanNest *n = r->nest; n; n = n->outer)
        if (n->loop->vars[n->var] == v)
            return range_nest(r, n, out);
    for (int i = 0; i < l->lets.len; i++)
        if (l->lets.at[i]->var == v)
            return range(r, l->lets.at[i]->value, out);
    if (v->kind == VAR_THREAD || !r->env)
        return false;
    out->low = r->env->var[v->id];
    out->high = r->env->var_high ? r->env->var_high[v->id] : out->low;
    return true;
}

static PlanRange times(PlanRange a, PlanRange b)
{
    PlanRange x = {a.low * b.low, a.low * b.low};

    x = hull(x, (PlanRange){a.low * b.high, a.low * b.high});
    x = hull(x, (PlanRange){a.high * b.low, a.high * b.low});
    return hull(x, (PlanRange){a.high * b.high, a.high * b.high});
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

// Truth: 1 for surely, 0 for never, both for perhaps.
static PlanRange truth(bool surely, bool never)
{
    return (PlanRange){surely, !never};
}

static bool range_op(Op op, PlanRange a, PlanRange b, PlanRange *out)
{
    switch (op) {
    case OP_ADD:
        *out = (PlanRange){a.low + b.low, a.high + b.high};
        return true;
    case OP_SUB:
        *out = (PlanRange){a.low - b.high, a.high - b.low};
        return true;
    case OP_MUL:
        *out = times(a, b);
        return true;
    case OP_FLOORDIV:
        if (b.low != b.high || b.low <= 0)
            return false;
        *out = (PlanRange){floor_div(a.low, b.low), floor_div(a.high, b.low)};
        return true;
    case OP_FLOORMOD:
        if (b.low != b.high || b.low <= 0)
            return false;
        *out = (PlanRange){0, b.low - 1};
        if (floor_div(a.low, b.low) == floor_div(a.high, b.low)) {
            int64_t base = floor_div(a.low, b.low) * b.low;
            *out = (PlanRange){a.low - base, a.high - base};
        }
        return true;
    case OP_MIN:
        *out = (PlanRange){a.low < b.low ? a.low : b.low,
                           a.high < b.high ? a.high : b.high};
        return true;
    case OP_MAX:
        *out = (PlanRange){a.low > b.low ? a.low : b.low,
                           a.high > b.high ? a.high : b.high};
        return true;
    case OP_LT:
        *out = truth(a.high < b.low, a.low >= b.high);
        return true;
    case OP_LE:
        *out = truth(a.high <= b.low, a.low > b.high);
        return true;
    case OP_AND:
        *out = truth((a.low > 0 || a.high < 0) && (b.low > 0 || b.high < 0),
                     (!a.low && !a.high) || (!b.low && !b.high));
        return true;
    case OP_OR:
        *out = truth(a.low > 0 || a.high < 0 || b.low > 0 || b.high < 0,
                     !a.low && !a.high && !b.low && !b.high);
        return true;
    case OP_NOT:
        *out = truth(!a.low && !a.high, a.low > 0 || a.high < 0);
        return true;
    case OP_NEG:
        *out = (PlanRange){-a.high, -a.low};
        return true;
    default:
        return false;
    }
}

static bool range_any(Range *r, const IrExpr *e, PlanRange *out)
{
    PlanRange a, b = {0};

    switch (e->kind) {
    case EXPR_INT:
        *out = (PlanRange){e->i64, e->i64};
        return true;
    case EXPR_VAR:
        return range_var(r, e->var, out);
    case EXPR_CAST:
        return range(r, e->args[0], out);
    case EXPR_SELECT:
        if (!range(r, e->args[1], &a) || !range(r, e->args[2], &b))
            return false;
        *out = hull(a, b);
        return true;
    case EXPR_OP:
        return range(r, e->args[0], &a) &&
               (e->count < 2 || range(r, e->args[1], &b)) &&
               range_op(e->op, a, b, out);
    case EXPR_LOAD:
        if (e->buffer->scope != SCOPE_VAR || !r->env || !r->env->cell ||
            r->env->var_high)
            return false;
        out->low = out->high = r->env->cell[e->buffer->id];
        return true;
    default:
        return false;
    }
}

static bool range(Range *r, const IrExpr *e, PlanRange *out)
{
    bool known = r->depth < DEEP;

    r->depth++;
    known = known && range_any(r, e, out) && out->low > -FAR &&
            out->high < FAR;
    r->depth--;
    return known;
}

bool plan_range(const PlanLoop *l, const PlanNest *nest, const PlanEnv *env,
                const IrExpr *e, PlanRange *out)
{
    Range r = {.loop = l, .nest = nest, .env = env};

    return range(&r, e, out);
}
