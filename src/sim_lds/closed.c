// closed.c - executions from the loops around statements alone.
#include "sim_lds/count_int.h"

typedef struct {
    Counter *counter;
    const PlanLaunch *launch;
    const IrStmt *stmt;
    int64_t grid[IR_MAX_GRID];
} Closed;

static void on_run(void *ctx, const PlanEnv *env, int64_t times)
{
    Closed *k = ctx;
    count_run(k->counter, k->stmt, env, times);
}

static void on_block(void *ctx, const PlanEnv *env, int64_t times)
{
    Closed *k = ctx;
    const IrStmt *l = k->launch->stmt;
    int64_t block = 0;

    for (int d = l->var_count - 1; d >= 0; d--)
        block = block * k->grid[d] + env->var[l->vars[d]->id];
    count_block(k->counter, k->stmt, block, times);
}

static void ignore_run(void *ctx, const PlanEnv *env, int64_t times)
{
    (void)ctx;
    (void)env;
    (void)times;
}

// The accesses' statements, and those that touch no memory.
static const IrStmt *stmt_at(const CountLaunch *l, int i)
{
    const IrStmt *s = i < l->count ? l->at[i].move->stmt
                                   : l->stmts[i - l->count].stmt;
    bool told = i >= l->count;

    for (int j = 0; j < i; j++)
        if (s == (j < l->count ? l->at[j].move->stmt
                               : l->stmts[j - l->count].stmt))
            return NULL;            // looked at before
    for (int j = 0; j < l->count; j++)
        told |= l->at[j].move->stmt == s && !l->at[j].unknown;
    for (int j = 0; j < l->stmt_count; j++)
        told |= l->stmts[j].stmt == s;
    return told ? s : NULL;
}

static bool each_closed(Counter *c, const PlanEnv *env, PlanRun *run)
{
    int n;
    CountLaunch *all = count_open(c, &n);

    for (int i = 0; i < n; i++) {
        CountLaunch *l = &all[i];

        for (int j = 0; j < l->count + l->stmt_count; j++) {
            Closed k = {c, l->launch, stmt_at(l, j), {0}};

            if (k.stmt && !plan_each_run(count_arena(c), count_plan(c),
                                         l->launch, k.stmt, env, false, run,
                                         &k))
                return false;
        }
    }
    return true;
}

static bool grid_of(const CountLaunch *l, const PlanEnv *env, int64_t *grid)
{
    const IrStmt *s = l->launch->stmt;
    PlanLoop none = {0};
    PlanRange r;

    for (int d = 0; d < s->var_count; d++) {
        if (!plan_range(&none, NULL, env, s->extent[d], &r))
            return false;
        grid[d] = r.low;
    }
    return true;
}

static void closed_blocks(Counter *c, const PlanEnv *env)
{
    int n;
    CountLaunch *all = count_open(c, &n);

    for (int i = 0; i < n; i++) {
        CountLaunch *l = &all[i];

        for (int j = 0; j < l->stmt_count; j++) {
            Closed k = {c, l->launch, l->stmts[j].stmt, {0}};

            if (l->block_count > 0 && l->block_count < COUNT_BLOCKS &&
                grid_of(l, env, k.grid))
                plan_each_run(count_arena(c), count_plan(c), l->launch, k.stmt,
                              env, true, on_block, &k);
        }
    }
}

void count_sizes(Counter *c, const int64_t *sizes)
{
    PlanEnv env = {.var = sizes};
    int n;
    CountLaunch *all = count_open(c, &n);

    for (int i = 0; i < n; i++) {
        CountLaunch *l = &all[i];
        int64_t grid[IR_MAX_GRID] = {1, 1, 1};

        if (!grid_of(l, &env, grid))
            continue;
        l->block_count = 1;
        for (int d = 0; d < IR_MAX_GRID; d++)
            if (__builtin_mul_overflow(l->block_count, grid[d],
                                       &l->block_count))
                l->block_count = -1;
    }
}

bool count_closed(Counter *c, const int64_t *sizes)
{
    PlanEnv env = {.var = sizes};

    if (!each_closed(c, &env, ignore_run) || !each_closed(c, &env, on_run))
        return false;
    closed_blocks(c, &env);
    return true;
}
