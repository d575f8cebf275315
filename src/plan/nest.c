// nest.c - how often a statement runs, from the loops around it alone.
//
// Loops whose variable decides neither addresses nor masks nor other loops are
// a factor; the others are gone through.
#include "plan/access.h"

#include <string.h>

typedef enum { STEP_GRID, STEP_FOR, STEP_IF, STEP_ELSE, STEP_LET } StepKind;

typedef struct {
    StepKind kind;
    const IrStmt *stmt;
    int var;
} Step;

typedef struct {
    const Plan *plan;
    const IrStmt *target;
    Arena *arena;
    struct {
        Step *at;
        int len, room;
    } steps;                        // from the launch in to the statement
    bool by_block;                  // every block by itself
    bool open;                      // a loop that may end early, or a `while`
    int64_t turns;                  // that may still be taken; 0: any number
    const PlanLoop *own;            // of a statement that threads execute
    bool *needed;                   // by variable
    bool asks_launch;               // for sizes, scalars, or lets ahead of it
    int64_t *low, *high;
    PlanLoop none;                  // expressions outside of any loop
    PlanRun *run;
    void *ctx;
} Nest;

// ---- the way to a statement ------------------------------------------------

typedef struct {
    bool found;
} Jumps;

static bool note_jump(void *ctx, IrStmt *s)
{
    Jumps *j = ctx;

    j->found |= s->kind == STMT_BREAK || s->kind == STMT_CONTINUE;
    return true;
}

static bool has_jumps(IrStmt *s)
{
    Jumps j = {false};

    ir_walk(s, note_jump, NULL, &j);
    return j.found;
}

static void push(Nest *n, StepKind kind, const IrStmt *s, int var)
{
    Step step = {kind, s, var};
    vec_push(n->arena, &n->steps, step);
}

static bool find(Nest *n, IrStmt *s);

static bool find_in_block(Nest *n, IrStmt *s)
{
    int before = n->steps.len;

    for (int i = 0; i < s->len; i++) {
        if (s->body[i] != n->target && s->body[i]->kind == STMT_LET)
            push(n, STEP_LET, s->body[i], 0);
        else if (find(n, s->body[i]))
            return true;
    }
    n->steps.len = before;
    return false;
}

static bool find_in_for(Nest *n, IrStmt *s)
{
    int before = n->steps.len;

    for (int i = 0; i < s->var_count; i++)
        push(n, STEP_FOR, s, i);
    if (find(n, s->then)) {
        n->open |= s->loop == LOOP_PERSISTENT || has_jumps(s->then);
        return true;
    }
    n->steps.len = before;
    return false;
}

static bool find_in_if(Nest *n, IrStmt *s)
{
    push(n, STEP_IF, s, 0);
    if (find(n, s->then))
        return true;
    n->steps.len--;
    push(n, STEP_ELSE, s, 0);
    if (find(n, s->otherwise))
        return true;
    n->steps.len--;
    return false;
}

static bool find(Nest *n, IrStmt *s)
{
    if (!s || s == n->target)
        return s != NULL;
    switch (s->kind) {
    case STMT_BLOCK:
        return find_in_block(n, s);
    case STMT_FOR:
        return s->loop != LOOP_PARALLEL && find_in_for(n, s);
    case STMT_IF:
        return find_in_if(n, s);
    case STMT_WHILE:
        if (!find(n, s->then))
            return false;
        n->open = true;
        return true;
    default:
        return false;
    }
}

// What the lanes of the statement's moves work out for themselves: conditions
// on their thread, and a vectorized loop around them.
static bool is_own(const Nest *n, const Step *s)
{
    const PlanLoop *l = n->own;

    if (!l)
        return false;
    if (s->kind == STEP_FOR)
        return l->rank && l->var[0] == s->stmt->vars[s->var];
    for (int i = 0; s->kind == STEP_LET && i < l->lets.len; i++)
        if (l->lets.at[i] == s->stmt)
            return true;
    return (s->kind == STEP_IF || s->kind == STEP_ELSE) &&
           plan_by_thread(l, s->stmt->cond);
}

static void drop_own(Nest *n, const PlanLaunch *l)
{
    int kept = 0;

    for (int i = 0; i < l->move_count; i++)
        if (l->moves[i].stmt == n->target && l->moves[i].loop &&
            l->moves[i].loop->stmt == n->target)
            n->own = l->moves[i].loop;
    for (int i = 0; i < n->steps.len; i++)
        if (!is_own(n, &n->steps.at[i]))
            n->steps.at[kept++] = n->steps.at[i];
    n->steps.len = kept;
}

// ---- what matters ----------------------------------------------------------

static bool is_set_inside(const Nest *n, const IrVar *v)
{
    if (v->kind != VAR_LET)
        return v->kind != VAR_SYMBOL && v->kind != VAR_PARAM;
    for (int i = 0; i < n->steps.len; i++)
        if (n->steps.at[i].kind == STEP_LET && n->steps.at[i].stmt->var == v)
            return true;
    return false;
}

static bool need(void *ctx, IrExpr *e)
{
    Nest *n = ctx;

    if (e->kind == EXPR_VAR) {
        n->needed[e->var->id] = true;
        n->asks_launch |= !is_set_inside(n, e->var);
    }
    n->open |= e->kind == EXPR_LOAD || e->kind == EXPR_ATOMIC ||
               (e->kind == EXPR_VAR && e->var->kind == VAR_THREAD) ||
               (e->kind == EXPR_OP && e->op == OP_GET_THREAD_BINDING);
    return true;
}

static void need_var(void *ctx, int var)
{
    Nest *n = ctx;

    if (var < 0)
        n->open = true;
    else
        n->needed[var] = true;
}

static const IrVar *var_of(const Step *s)
{
    return s->kind == STEP_LET ? s->stmt->var : s->stmt->vars[s->var];
}

// From the inside out: a let that matters hands on to what it is made of.
static void need_steps(Nest *n)
{
    for (int i = n->steps.len - 1; i >= 0; i--) {
        const Step *s = &n->steps.at[i];

        switch (s->kind) {
        case STEP_GRID:
        case STEP_FOR:
            ir_walk_expr(s->stmt->extent[s->var], need, n);
            if (s->kind == STEP_GRID || !n->needed[var_of(s)->id])
                break;
            ir_walk_expr(s->stmt->start[s->var], need, n);
            ir_walk_expr(s->stmt->step, need, n);
            break;
        case STEP_IF:
        case STEP_ELSE:
            ir_walk_expr(s->stmt->cond, need, n);
            break;
        case STEP_LET:
            if (n->needed[var_of(s)->id])
                ir_walk_expr(s->stmt->value, need, n);
            break;
        }
    }
}

// ---- ranges ----------------------------------------------------------------

static PlanRange range_or_any(Nest *n, const IrExpr *e)
{
    PlanEnv env = {.var = n->low, .var_high = n->high};
    PlanRange r;

    if (e && plan_range(&n->none, NULL, &env, e, &r))
        return r;
    return e ? (PlanRange){INT64_MIN / 4, INT64_MAX / 4} : (PlanRange){0, 0};
}

static void range_steps(Nest *n, int from)
{
    for (int i = from; i < n->steps.len; i++) {
        const Step *s = &n->steps.at[i];
        PlanRange r, trips, step = {1, 1};

        if (s->kind == STEP_IF || s->kind == STEP_ELSE)
            continue;
        if (s->kind == STEP_LET) {
            r = range_or_any(n, s->stmt->value);
        } else {
            trips = range_or_any(n, s->stmt->extent[s->var]);
            r = range_or_any(n, s->stmt->start[s->var]);
            if (s->stmt->step)
                step = range_or_any(n, s->stmt->step);
            if (step.low < 0 || trips.high > INT32_MAX ||
                step.high > INT32_MAX)
                r = (PlanRange){INT64_MIN / 4, INT64_MAX / 4};
            else if (trips.high > 1)
                r.high += (trips.high - 1) * step.high;
        }
        n->low[var_of(s)->id] = r.low;
        n->high[var_of(s)->id] = r.high;
    }
}

// ---- going through ---------------------------------------------------------

static int64_t value_of(Nest *n, const IrExpr *e, int64_t fallback)
{
    PlanEnv env = {.var = n->low};
    PlanAt at = {.loop = &n->none, .env = &env};
    int64_t v = e ? plan_eval_at(&at, e) : fallback;

    n->open |= at.failed;
    return v;
}

static void go(Nest *n, int at, int64_t times);

static void go_loop(Nest *n, int at, int64_t times)
{
    const Step *s = &n->steps.at[at];
    int64_t trips = value_of(n, s->stmt->extent[s->var], 1);
    int64_t *value = &n->low[var_of(s)->id];

    if (trips <= 0)
        return;
    if (!n->needed[var_of(s)->id]) {
        go(n, at + 1, times * trips);
        return;
    }
    int64_t start = s->kind == STEP_GRID
                        ? 0 : value_of(n, s->stmt->start[s->var], 0);
    int64_t step = s->kind == STEP_GRID ? 1 : value_of(n, s->stmt->step, 1);
    for (int64_t i = 0; i < trips && !n->open; i++) {
        *value = start + i * step;
        go(n, at + 1, times);
    }
}

static void go(Nest *n, int at, int64_t times)
{
    PlanEnv env = {.var = n->low};

    if (at == n->steps.len) {
        n->run(n->ctx, &env, times);
        return;
    }
    if (n->turns && --n->turns == 0)
        n->open = true;
    const Step *s = &n->steps.at[at];
    switch (s->kind) {
    case STEP_GRID:
    case STEP_FOR:
        go_loop(n, at, times);
        break;
    case STEP_IF:
    case STEP_ELSE:
        if ((value_of(n, s->stmt->cond, 0) != 0) == (s->kind == STEP_IF))
            go(n, at + 1, times);
        break;
    case STEP_LET:
        if (n->needed[var_of(s)->id])
            n->low[var_of(s)->id] = value_of(n, s->stmt->value, 0);
        go(n, at + 1, times);
        break;
    }
}

static void find_needs(Nest *n, const PlanLaunch *l)
{
    PlanEnv ranges = {.var = n->low, .var_high = n->high};

    for (int i = 0; !n->by_block && i < l->move_count; i++)
        if (l->moves[i].stmt == n->target &&
            !plan_access_needs(n->plan, &l->moves[i], &ranges, need_var, n))
            n->open = true;
    for (int d = 0; n->by_block && d < l->stmt->var_count; d++)
        n->needed[l->stmt->vars[d]->id] = true;
    need_steps(n);
}

static Nest nest_new(Arena *a, const Plan *p, const IrStmt *target)
{
    int vars = p->kernel->next_var;

    return (Nest){.plan = p, .target = target, .arena = a,
                  .needed = new_array(a, bool, vars + 1),
                  .low = new_array(a, int64_t, vars + 1),
                  .high = new_array(a, int64_t, vars + 1)};
}

// The way from the launch to the statement; false: nobody can say.
static bool find_way(Nest *n, const PlanLaunch *l)
{
    for (int d = 0; d < l->stmt->var_count; d++)
        push(n, STEP_GRID, l->stmt, d);
    return find(n, l->stmt->then) && !n->open;
}

bool plan_each_run(Arena *a, const Plan *p, const PlanLaunch *l,
                   const IrStmt *s, const PlanEnv *sizes, bool by_block,
                   PlanRun *run, void *ctx)
{
    size_t bytes = sizeof(int64_t) * (size_t)p->kernel->next_var;
    Nest n = nest_new(a, p, s);

    n.by_block = by_block;
    n.run = run;
    n.ctx = ctx;
    memcpy(n.low, sizes->var, bytes);
    memcpy(n.high, sizes->var, bytes);
    if (!find_way(&n, l))
        return false;
    drop_own(&n, l);
    range_steps(&n, 0);
    find_needs(&n, l);
    if (n.open)
        return false;
    memcpy(n.low, sizes->var, bytes);
    go(&n, 0, 1);
    return !n.open;
}

static void stop_at_run(void *ctx, const PlanEnv *env, int64_t times)
{
    Nest *n = ctx;

    (void)env;
    n->open |= times > 0;
}

bool plan_never_runs(Arena *a, const Plan *p, const PlanLaunch *l,
                     const IrStmt *s)
{
    enum { TURNS = 1 << 16 };
    Nest n = nest_new(a, p, s);
    bool conditional = false;

    n.run = stop_at_run;
    n.ctx = &n;
    n.turns = TURNS;
    if (!find_way(&n, l))
        return false;
    for (int i = 0; i < n.steps.len; i++)
        conditional |= n.steps.at[i].kind == STEP_IF ||
                       n.steps.at[i].kind == STEP_ELSE;
    if (!conditional)
        return false;
    need_steps(&n);
    if (n.open || n.asks_launch)
        return false;
    go(&n, 0, 1);
    return !n.open;
}

// ---- one block -------------------------------------------------------------

struct PlanReach {
    Nest nest;
    int grid;                       // steps of it
};

PlanReach *plan_reach(Arena *a, const Plan *p, const PlanLaunch *l,
                      const IrStmt *s, const PlanEnv *sizes)
{
    size_t vars = (size_t)p->kernel->next_var;
    PlanReach *r = new (a, PlanReach);
    Nest *n = &r->nest;

    *n = nest_new(a, p, s);
    memcpy(n->low, sizes->var, sizeof(int64_t) * vars);
    memcpy(n->high, sizes->var, sizeof(int64_t) * vars);
    r->grid = l->stmt->var_count;
    for (int d = 0; d < r->grid; d++)
        push(n, STEP_GRID, l->stmt, d);
    return find(n, l->stmt->then) ? r : NULL;
}

PlanEnv plan_reach_in(PlanReach *r, const int64_t tile[IR_MAX_GRID])
{
    Nest *n = &r->nest;

    for (int d = 0; d < r->grid; d++) {
        int id = var_of(&n->steps.at[d])->id;
        n->low[id] = n->high[id] = tile[d];
    }
    range_steps(n, r->grid);
    return (PlanEnv){.var = n->low, .var_high = n->high};
}
