// key.c - what of an environment decides about banks and sectors.
//
// Where the index of an access is a sum of a part inside the loop and a part
// outside, the part outside moves all lanes alike. That turns banks and sectors
// round, and only its remainder by a line of 128 bytes counts.
#include "plan/access.h"

enum { LINE = 128 };

typedef struct {
    const Plan *plan;
    const PlanMove *move;
    const PlanEnv *env;
    int64_t *out;
    int len;
    bool failed;
    PlanNeeds *needs;               // instead of values
    void *needs_ctx;
} Key;

static void put(Key *k, int64_t value)
{
    if (!k->out)
        return;
    if (k->len < PLAN_KEY)
        k->out[k->len++] = value;
    else
        k->failed = true;
}

// ---- variables -------------------------------------------------------------

static const IrExpr *let_of(const PlanLoop *l, const IrVar *v)
{
    for (int i = 0; i < l->lets.len; i++)
        if (l->lets.at[i]->var == v)
            return l->lets.at[i]->value;
    return NULL;
}

static bool is_inner(const PlanMove *m, const IrVar *v)
{
    const PlanLoop *l = m->loop;

    for (int d = 0; d < l->rank; d++)
        if (l->var[d] == v)
            return true;
    for (const PlanNest *n = m->access->nest; n; n = n->outer)
        if (n->loop->vars[n->var] == v)
            return true;
    return false;
}

static void put_outer(Key *k, int var)
{
    if (k->needs)
        k->needs(k->needs_ctx, var);
    else
        put(k, var >= 0 ? k->env->var[var] : k->env->cell[-1 - var]);
}

// The values of all variables from outside.
static void put_vars(Key *k, const IrExpr *e)
{
    if (!e)
        return;
    if (e->kind == EXPR_VAR && !is_inner(k->move, e->var)) {
        const IrExpr *let = let_of(k->move->loop, e->var);
        if (let)
            put_vars(k, let);
        else if (e->var->kind == VAR_THREAD)
            k->failed = true;
        else
            put_outer(k, e->var->id);
    }
    if (e->kind == EXPR_LOAD && e->buffer->scope == SCOPE_VAR)
        put_outer(k, -1 - e->buffer->id);
    else if (e->kind == EXPR_LOAD || e->kind == EXPR_ATOMIC)
        k->failed = true;
    for (int i = 0; i < e->count; i++)
        put_vars(k, e->args[i]);
}

// ---- sums ------------------------------------------------------------------

enum { HAS_INNER = 1, HAS_OUTER = 2 };

static int parts_of(const PlanMove *m, const IrExpr *e)
{
    int parts = 0;

    if ((e->kind == EXPR_VAR && is_inner(m, e->var)) ||
        (e->kind == EXPR_OP && e->op == OP_GET_THREAD_BINDING))
        parts = HAS_INNER;
    else if (e->kind == EXPR_VAR && let_of(m->loop, e->var))
        parts = parts_of(m, let_of(m->loop, e->var));
    else if (e->kind == EXPR_VAR || e->kind == EXPR_LOAD)
        parts = HAS_OUTER;
    for (int i = 0; i < e->count; i++)
        parts |= parts_of(m, e->args[i]);
    return parts;
}

static bool is_sum(const PlanMove *m, const IrExpr *e)
{
    int64_t n;

    if (!e || parts_of(m, e) != (HAS_INNER | HAS_OUTER))
        return true;
    if (e->kind == EXPR_VAR)
        return is_sum(m, let_of(m->loop, e->var));
    if (e->kind == EXPR_CAST)
        return is_sum(m, e->args[0]);
    if (e->kind != EXPR_OP)
        return false;
    if (e->op == OP_ADD || e->op == OP_SUB)
        return is_sum(m, e->args[0]) && is_sum(m, e->args[1]);
    if (e->op == OP_MUL)
        return is_sum(m, e->args[0]) && is_sum(m, e->args[1]) &&
               (ir_is_int(e->args[0], &n) || ir_is_int(e->args[1], &n));
    return false;
}

static const IrExpr *index_of(const PlanAccess *a, int d)
{
    return a->expr[d] ? a->expr[d] : a->min[d];
}

// ---- addresses -------------------------------------------------------------

static PlanAt at_zero(const Key *k, const PlanAccess *a, const int64_t *zero)
{
    static const int64_t threads[] = {1, 1, 1};

    return (PlanAt){.loop = k->move->loop, .point = zero, .nest = a->nest,
                    .env = k->env, .threads = threads};
}

static int64_t eval_zero(Key *k, const IrExpr *e)
{
    static const int64_t zero[IR_MAX_RANK];
    PlanAt at = at_zero(k, k->move->access, zero);
    int64_t v = e ? plan_eval_at(&at, e) : 0;

    k->failed |= at.failed;
    return v;
}

static bool is_swizzled(const Key *k)
{
    const IrBuffer *b = k->move->access->buffer;

    while (b->alias_of && !k->plan->shared[b->id].address)
        b = b->alias_of;
    return k->plan->shared[b->id].address != NULL;
}

// Whether steps of one along dimension d are whole lines, or not known.
static bool is_line_step(const IrBuffer *b, int d)
{
    int64_t stride = 1, extent;

    if (b->strides[d])
        return ir_is_int(b->strides[d], &stride) &&
               stride * dtype_info(b->dtype)->bits % (8 * LINE) == 0;
    for (int i = d + 1; i < b->rank; i++) {
        if (!ir_is_int(b->shape[i], &extent))
            return false;
        stride *= extent;
    }
    return stride * dtype_info(b->dtype)->bits % (8 * LINE) == 0;
}

static void put_base(Key *k, const PlanAccess *a)
{
    const IrBuffer *b = a->buffer;
    int64_t at = 0, size = 1;

    for (int d = b->rank - 1; d >= 0; d--) {
        int64_t stride = b->strides[d] ? eval_zero(k, b->strides[d]) : size;
        at += eval_zero(k, index_of(a, d)) * stride;
        size *= eval_zero(k, b->shape[d]);
    }
    if (!is_swizzled(k))
        at = at * plan_bits(k->plan->rules, b) / 8 % LINE;
    put(k, at);
}

static void put_address(Key *k, const PlanAccess *a)
{
    bool sum = true;

    for (int d = 0; d < a->buffer->rank; d++)
        sum &= is_sum(k->move, index_of(a, d));
    if (sum && k->out) {
        put_base(k, a);
        return;
    }
    for (int d = 0; d < a->buffer->rank; d++) {
        if (sum && a->buffer->scope == SCOPE_GLOBAL &&
            is_line_step(a->buffer, d))
            continue;
        put_vars(k, index_of(a, d));
        put_vars(k, a->buffer->strides[d]);
        put_vars(k, a->buffer->shape[d]);
    }
}

// ---- masks -----------------------------------------------------------------

static bool inside(const Key *k, const PlanAccess *a, int d)
{
    const PlanLoop *l = k->move->loop;
    PlanRange at = {0}, shape;

    if (index_of(a, d) &&
        !plan_range(l, a->nest, k->env, index_of(a, d), &at))
        return false;
    if (!a->expr[d] && a->map[d] >= 0)
        at.high += l->extent[a->map[d]] - 1;
    return plan_range(l, a->nest, k->env, a->buffer->shape[d], &shape) &&
           at.low >= 0 && at.high < shape.low;
}

static void put_bounds(Key *k, const PlanAccess *a)
{
    for (int d = 0; d < a->buffer->rank; d++) {
        bool in = k->env && inside(k, a, d);
        put(k, in);
        if (in)
            continue;
        if (k->out && is_sum(k->move, index_of(a, d))) {
            put(k, eval_zero(k, index_of(a, d)));
            put(k, eval_zero(k, a->buffer->shape[d]));
        } else {
            put_vars(k, index_of(a, d));
            put_vars(k, a->buffer->shape[d]);
        }
    }
}

static void put_guard(Key *k, const PlanAccess *a, const PlanGuard *g)
{
    PlanRange r;

    if (k->env && plan_range(k->move->loop, a->nest, k->env, g->cond, &r) &&
        r.low == r.high)
        put(k, r.low);
    else
        put_vars(k, g->cond);
}

static void put_all(Key *k)
{
    const PlanMove *v = k->move;
    const PlanAccess *a = v->access;

    if (!v->buffer || !v->work)
        return;
    for (const PlanNest *n = a->nest; n; n = n->outer) {
        put_vars(k, n->loop->start[n->var]);
        put_vars(k, n->loop->extent[n->var]);
        put_vars(k, n->loop->step);
    }
    for (const PlanGuard *g = a->guard; g; g = g->outer)
        put_guard(k, a, g);
    if (a->buffer->scope == SCOPE_GLOBAL)
        put_bounds(k, a);
    if (a->bound >= 0)
        put_bounds(k, &v->loop->access.at[a->bound]);
    put_address(k, a);
}

int plan_access_key(const Plan *p, const PlanMove *v, const PlanEnv *env,
                    int64_t out[PLAN_KEY])
{
    Key k = {.plan = p, .move = v, .env = env, .out = out};

    put_all(&k);
    return k.failed ? -1 : k.len;
}

bool plan_access_needs(const Plan *p, const PlanMove *v, const PlanEnv *ranges,
                       PlanNeeds *needs, void *ctx)
{
    Key k = {.plan = p, .move = v, .env = ranges, .needs = needs,
             .needs_ctx = ctx};

    put_all(&k);
    return !k.failed;
}
