// group.c - rules `tilesim`: parts of a block that a condition on the thread's
// number lets through, as T.ws does. Their tile operations are theirs alone.
//
//     if tx < 128:      threads   0 .. 127, group 1
//     elif tx < 256:    threads 128 .. 255, group 2
//
// A branch is a group's where its threads' numbers follow on one another and it
// has operations on tiles, or loops, that they share.
#include "plan/plan_int.h"

typedef struct {
    PlanState *p;
    PlanLoop lets;                  // what conditions are made of
    PlanEnv env;
    struct {
        PlanGroup *at;
        int len, room;
    } groups;
    int group, first, threads;      // the one that the walk is in
    int *of;
} Walk;

int plan_group(const PlanLaunch *l, const IrStmt *s)
{
    return l->group_of ? l->groups[l->group_of[s->id]].same : 0;
}

int plan_group_threads(const PlanLaunch *l, const IrStmt *s)
{
    return l->group_of ? l->groups[l->group_of[s->id]].threads : l->threads;
}

// ---- what threads share ----------------------------------------------------

static bool is_alone(const IrOperand *o)
{
    if (o->kind != OPERAND_REGION)
        return true;
    return o->region->form == REGION_POINT ||
           o->region->buffer->scope == SCOPE_LOCAL ||
           o->region->buffer->scope == SCOPE_VAR;
}

typedef struct {
    const OpTable *ops;
    bool found;
} Look;

static bool look(void *ctx, IrStmt *s)
{
    Look *k = ctx;
    bool alone = true;

    if (s->kind == STMT_FOR && s->loop == LOOP_PARALLEL)
        k->found = true;
    // Registers are handed on by whole groups.
    if (s->kind == STMT_TILE && (s->op == OP_SET_MAX_NREG ||
                                 s->op == OP_INC_MAX_NREG ||
                                 s->op == OP_DEC_MAX_NREG))
        k->found = true;
    if (s->kind != STMT_TILE ||
        (op_info(k->ops, s->op)->class != OPCLASS_TILE &&
         s->op != OP_WGMMA_GEMM && s->op != OP_TMA_COPY))
        return !k->found;
    for (int i = 0; i < s->operand_count; i++)
        alone &= is_alone(&s->operand[i]);
    k->found |= !alone;
    return !k->found;
}

static bool share(const Walk *w, IrStmt *branch)
{
    Look k = {.ops = w->p->kernel->ops};

    if (branch)
        ir_walk(branch, look, NULL, &k);
    return k.found;
}

// ---- who comes through -----------------------------------------------------

// Made of thread numbers and constants.
static bool is_of_numbers(const Walk *w, const IrExpr *e)
{
    if (e->kind == EXPR_VAR)
        return e->var->kind == VAR_LET && w->p->let[e->var->id] &&
               is_of_numbers(w, w->p->let[e->var->id]);
    if (e->kind == EXPR_LOAD || e->kind == EXPR_ATOMIC)
        return false;
    for (int i = 0; i < e->count; i++)
        if (!is_of_numbers(w, e->args[i]))
            return false;
    return true;
}

typedef struct {
    int first, threads;             // none: 0; with gaps: -1
} Part;

static void add(Part *p, int thread)
{
    if (!p->threads)
        p->first = thread;
    if (p->threads >= 0)
        p->threads = p->first + p->threads == thread ? p->threads + 1 : -1;
}

// False: the condition needs more than the thread's number.
static bool split(const Walk *w, const IrExpr *cond, Part *yes, Part *no)
{
    static const int64_t point[IR_MAX_RANK];
    PlanAt at = {.loop = &w->lets, .point = point, .env = &w->env,
                 .threads = w->p->launch->stmt->threads};

    *yes = *no = (Part){0};
    if (!is_of_numbers(w, cond))
        return false;
    for (int t = w->first; t < w->first + w->threads; t++) {
        at.thread = t;
        add(plan_eval_at(&at, cond) ? yes : no, t);
    }
    return !at.failed;
}

// ---- the walk --------------------------------------------------------------

static void visit(Walk *w, IrStmt *s);

static int same_part(const Walk *w, Part p)
{
    int i = 0;

    while (i < w->groups.len && (w->groups.at[i].first != p.first ||
                                 w->groups.at[i].threads != p.threads))
        i++;
    return i;
}

static void branch(Walk *w, IrStmt *s, Part part)
{
    int group = w->group, first = w->first, threads = w->threads;

    // A group may be asked again whether it is there.
    if (part.threads > 0 && (part.threads < threads || group) && share(w, s)) {
        PlanGroup g = {s, part.first, part.threads, same_part(w, part)};
        vec_push(w->p->arena, &w->groups, g);
        w->group = w->groups.len - 1;
        w->first = part.first;
        w->threads = part.threads;
    }
    visit(w, s);
    w->group = group;
    w->first = first;
    w->threads = threads;
}

static void visit(Walk *w, IrStmt *s)
{
    Part yes, no;

    if (!s)
        return;
    w->of[s->id] = w->group;
    if (s->kind == STMT_LET)
        vec_push(w->p->arena, &w->lets.lets, s);
    if (s->kind == STMT_BLOCK) {
        for (int i = 0; i < s->len; i++)
            visit(w, s->body[i]);
    } else if (s->kind == STMT_IF && split(w, s->cond, &yes, &no)) {
        branch(w, s->then, yes);
        branch(w, s->otherwise, no);
    } else if (ir_has_body(s)) {
        visit(w, s->then);
        visit(w, s->otherwise);
    }
}

// Barriers that the program allocates.
static bool count_barriers(void *ctx, IrStmt *s)
{
    PlanState *p = ctx;
    int64_t n = 1;

    if (s->kind == STMT_ALLOC && s->buffer->scope == SCOPE_BARRIER &&
        s->buffer->rank == 1 && ir_is_int(s->buffer->shape[0], &n))
        p->launch->barriers += (int)n;
    return true;
}

void plan_find_groups(PlanState *p, IrStmt *launch)
{
    IrKernel *k = p->kernel;
    Walk w = {.p = p, .threads = p->launch->threads,
              .of = new_array(p->arena, int, k->next_stmt + 1),
              .env = {.var = new_array(p->arena, int64_t, k->next_var + 1)}};
    PlanGroup all = {launch->then, 0, p->launch->threads, 0};

    vec_push(p->arena, &w.groups, all);
    visit(&w, launch->then);
    p->launch->groups = w.groups.at;
    p->launch->group_count = w.groups.len;
    if (w.groups.len > 1)
        p->launch->group_of = w.of;
    ir_walk(launch->then, count_barriers, NULL, p);
}
