// plan.c - what a compiler makes of a kernel on a device.
#include "plan/plan_int.h"

const char *plan_rules_name(PlanRules r)
{
    return r == PLAN_TILELANG ? "tilelang" : "tilesim";
}

int plan_bits(PlanRules rules, const IrBuffer *b)
{
    int bits = dtype_info(b->dtype)->bits;

    return rules == PLAN_TILESIM && b->scope != SCOPE_GLOBAL && bits < 8
               ? 8 : bits;
}

typedef struct {
    PlanState *p;
    bool ok;
} Build;

static bool plan_threads(PlanState *p, const IrStmt *launch)
{
    int64_t n = 1;

    for (int d = 0; d < 3 && n <= PLAN_MAX_THREADS; d++)
        n = launch->threads[d] > PLAN_MAX_THREADS ? PLAN_MAX_THREADS + 1
                                                  : n * launch->threads[d];
    if (n < 1 || n > PLAN_MAX_THREADS) {
        diag_error(p->kernel->diag, EXIT_LIMIT, launch->at, "plan-threads",
                   "a block has 1 to %d threads", PLAN_MAX_THREADS);
        return false;
    }
    p->launch->threads = (int)n;
    return true;
}

static bool plan_fits(const PlanState *p)
{
    enum { MBARRIER = 8 };
    return p->launch->arena + MBARRIER * p->launch->barriers <=
           p->device->smem_block;
}

// False after reporting threads that no block can have.
static bool begin_launch(PlanState *p, IrStmt *s)
{
    p->launch = &p->plan->launches[p->plan->launch_count++];
    p->launch->stmt = s;
    if (!plan_threads(p, s))
        return false;
    p->ops.len = 0;
    p->spread = p->launch->threads;
    p->fed = NULL;
    p->fed_block = NULL;
    for (int i = 0; i < p->kernel->buffer_count; i++)
        p->slots[i] = p->rings[i] = 1;
    return true;
}

bool plan_open_launch(PlanState *p, IrStmt *launch)
{
    if (!begin_launch(p, launch))
        return false;
    plan_pipelines(p, launch);
    return true;
}

static bool build_launch(void *ctx, IrStmt *s)
{
    Build *b = ctx;
    PlanState *p = b->p;

    if (s->kind != STMT_LAUNCH)
        return true;
    if (!begin_launch(p, s)) {
        b->ok = false;
        return false;
    }
    bool own = p->plan->rules == PLAN_TILESIM;
    b->ok &= own ? plan_lay_out(p, s) : plan_collect(p, s);
    if (!b->ok)
        return false;
    if (own) {
        plan_shared_layouts(p);
        plan_copied_layouts(p, s);
        plan_settle_feed(p);
        plan_hold_operands(p, s);
        plan_find_rings(p, s);
        plan_keep_own(p);
    } else {
        plan_infer(p);
        plan_shared_layouts(p);
        plan_pipelines(p, s);
        plan_moves(p, s);
        plan_tasks(p);
        plan_find_unheld(p);
        plan_find_rings(p, s);
        plan_keep_own(p);
    }
    b->ok &= plan_arena(p, s);
    while (b->ok && p->plan->rules == PLAN_TILESIM && !plan_fits(p) &&
           (plan_shrink_rings(p) || plan_shrink_feed(p)))
        b->ok &= plan_arena(p, s);
    if (b->ok && own)
        plan_own_moves(p, s);
    else if (b->ok)
        plan_take_feed(p, s);
    plan_registers(p, s);
    return false;
}

static bool note_stmt(void *ctx, IrStmt *s)
{
    PlanState *p = ctx;

    if (s->kind == STMT_LET)
        p->let[s->var->id] = s->value;
    for (int i = 0; (s->kind == STMT_LAUNCH || s->kind == STMT_FOR) &&
                    i < s->var_count; i++)
        p->binder[s->vars[i]->id] = s;
    p->has_if |= s->kind == STMT_IF;
    return true;
}

static bool count_launch(void *ctx, IrStmt *s)
{
    int *n = ctx;
    *n += s->kind == STMT_LAUNCH;
    return s->kind == STMT_BLOCK || ir_has_body(s);
}

PlanState *plan_open(Arena *a, IrKernel *k, const Device *d)
{
    PlanState *p = new (a, PlanState);
    int n = k->buffer_count, launches = 0;

    *p = (PlanState){.arena = a, .kernel = k, .device = d};
    ir_walk(k->body, count_launch, NULL, &launches);
    p->plan = new (a, Plan);
    *p->plan = (Plan){.kernel = k, .device = d};
    p->plan->launches = new_array(a, PlanLaunch, launches + 1);
    p->plan->fragments = p->fragment = new_array(a, PlanFragment *, n + 1);
    p->plan->shared = p->shared = new_array(a, PlanShared, n + 1);
    p->plan->spilled = p->spilled = new_array(a, bool, n + 1);
    p->slots = new_array(a, int, n + 1);
    p->rings = new_array(a, int, n + 1);
    p->let = new_array(a, const IrExpr *, k->next_var + 1);
    p->binder = new_array(a, const IrStmt *, k->next_var + 1);
    ir_walk(k->body, note_stmt, NULL, p);
    return p;
}

Plan *plan_build(Arena *a, IrKernel *k, const Device *d, PlanRules rules)
{
    PlanState *p = plan_open(a, k, d);
    Build b = {p, true};

    p->plan->rules = rules;
    ir_walk(k->body, build_launch, NULL, &b);
    if (!b.ok || !plan_verify(p->plan))
        return NULL;
    return p->plan;
}
