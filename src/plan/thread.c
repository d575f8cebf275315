// thread.c - what is around a statement that each thread executes for itself.
//
// Values that differ from thread to thread, and conditions on them, belong to
// the statement: lanes work them out. So does a vectorized loop right around it.
#include "plan/plan_int.h"

typedef struct {
    PlanState *p;
    const IrStmt *target;
    PlanLoop *loop;
    PlanAccess *access;
    const IrStmt *vector;           // the loop that was entered last
} Context;

static bool enter(Context *c, IrStmt *s);

static bool enter_block(Context *c, IrStmt *s)
{
    int before = c->loop->lets.len;

    for (int i = 0; i < s->len; i++) {
        IrStmt *x = s->body[i];
        if (enter(c, x))
            return true;
        if (x->kind == STMT_LET && plan_by_thread(c->loop, x->value))
            vec_push(c->p->arena, &c->loop->lets, x);
    }
    c->loop->lets.len = before;
    return false;
}

static bool enter_if(Context *c, IrStmt *s)
{
    const PlanGuard *outer = c->access->guard;
    bool found = false, by_thread = plan_by_thread(c->loop, s->cond);

    for (int want = 1; want >= 0 && !found; want--) {
        if (by_thread) {
            PlanGuard *g = new (c->p->arena, PlanGuard);
            *g = (PlanGuard){s->cond, want, outer};
            c->access->guard = g;
        }
        found = enter(c, want ? s->then : s->otherwise);
    }
    if (!found)
        c->access->guard = outer;
    return found;
}

static bool enter(Context *c, IrStmt *s)
{
    const IrStmt *outer = c->vector;

    if (!s || s == c->target)
        return s != NULL;
    if (s->kind == STMT_BLOCK)
        return enter_block(c, s);
    if (s->kind == STMT_IF)
        return enter_if(c, s);
    if (s->kind != STMT_WHILE && s->kind != STMT_LAUNCH &&
        (s->kind != STMT_FOR || s->loop == LOOP_PARALLEL))
        return false;
    if (s->kind == STMT_FOR)
        c->vector = s;
    if (enter(c, s->then))
        return true;
    c->vector = outer;
    return false;
}

// The points of the statement are those of the vectorized loop around it.
static void take_vector(Context *c)
{
    const IrStmt *v = c->vector;
    PlanLoop *l = c->loop;
    int64_t zero;

    if (!v || v->loop != LOOP_VECTORIZED)
        return;
    if (v->var_count != 1 || !ir_is_int(v->extent[0], &l->extent[0]) ||
        l->extent[0] < 1 || l->extent[0] > 64 ||
        (v->start[0] && (!ir_is_int(v->start[0], &zero) || zero))) {
        l->is_open = true;
        return;
    }
    l->rank = 1;
    l->points = l->extent[0];
    l->var[0] = v->vars[0];
}

void plan_thread_context(PlanState *p, const IrStmt *s, PlanLoop *l)
{
    Context c = {.p = p, .target = s, .loop = l, .access = l->access.at};

    if (enter(&c, p->launch->stmt->then))
        take_vector(&c);
}
