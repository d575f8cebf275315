// order_plan.c - what of a launch orders accesses, read off its code once.
#include "check/order_int.h"

#include <stdlib.h>
#include <string.h>

static bool starts(const Instr *i)
{
    return i->op == INSTR_ORDER && i->a < ORDER_END;
}

static void find_groups(const Code *c, const InstrList *body, OrderPlan *p)
{
    int set = -1, end = 0, until = 0;
    bool divergent = false;

    for (int i = 0; i < body->len; i++) {
        const Instr *in = &body->code[i];

        if (i >= end)
            set = -1;
        if (in->op == INSTR_SOFT) {
            divergent = c->place[in->a].divergent;
            until = i;
        }
        if (in->op == INSTR_COLLECT) {
            set = in->a;
            end = i + in->b;
        }
        p->group[i] = i > 0 && in->op == INSTR_COLLECT ? -1 : set;
        p->divergent[i] = divergent && until <= i && set < 0;
    }
}

// Each barrier of a launch has a number.
static void find_barriers(const Code *c, const InstrList *body, OrderPlan *p)
{
    for (int i = 0; i < body->len; i++) {
        const CodeBuffer *b = &c->buffer[body->code[i].a];

        if (body->code[i].op != INSTR_BARINIT)
            continue;
        p->first_barrier[body->code[i].a] = p->barriers;
        p->barriers += (int)b->shape[0];
    }
}

static bool is_shared(const CodeBuffer *b)
{
    return b->place == BUFFER_SCRATCH && !strncmp(b->scope, "shared", 6) &&
           !b->arrivals;
}

static bool is_global(const CodeBuffer *b)
{
    return b->place == BUFFER_PARAM || b->place == BUFFER_WORKSPACE;
}

// Global tensors that single threads both store and load in this launch;
// atomics on global memory may order them.
static void find_global(const Code *c, const InstrList *body, OrderPlan *p)
{
    size_t n = (size_t)c->buffer_count + 1;
    bool *loads = xcalloc(n, sizeof *loads);
    bool *stores = xcalloc(n, sizeof *stores);
    bool atomics = false;

    for (int i = 0; i < body->len; i++) {
        const Instr *in = &body->code[i];
        bool load = in->op == INSTR_VLOAD || in->op == INSTR_LOAD;
        bool store = in->op == INSTR_VSTORE || in->op == INSTR_STORE;
        int root;

        if (!load && !store && in->op != INSTR_VATOMIC)
            continue;
        root = c->buffer[c->access[in->a].buffer].root;
        atomics |= is_global(&c->buffer[root]) &&
                   (in->op == INSTR_VATOMIC || c->access[in->a].atomic);
        if (p->group[i] < 0)
            (load ? loads : stores)[root] = true;
    }
    for (int i = 0; i < c->buffer_count; i++)
        p->global[i] = !atomics && is_global(&c->buffer[i]) && loads[i] &&
                       stores[i];
    free(loads);
    free(stores);
}

static void find_watched(const Code *c, const InstrList *body, OrderPlan *p)
{
    bool started = false;

    for (int i = 0; i < c->buffer_count; i++)
        p->watched[i] = c->buffer[i].root == i && is_shared(&c->buffer[i]);
    for (int i = 0; i < body->len; i++) {
        const Instr *in = &body->code[i];

        if (in->op == INSTR_ORDER)
            started = in->a == ORDER_MATRIX;
        if (in->op == INSTR_GEMM && started) {
            int root = c->buffer[c->gemm[in->a].c.buffer].root;

            p->by_matrix[root] = !p->watched[root];
        }
    }
}

static bool moves(const Instr *i)
{
    switch (i->op) {
    case INSTR_COLLECT:
    case INSTR_COLLECTEND:
    case INSTR_PAR:
    case INSTR_PARNEXT:
    case INSTR_VAIM:
    case INSTR_AFFINE:
    case INSTR_VLOAD:
    case INSTR_VSTORE:
        return true;
    default:
        return false;
    }
}

// Whether the instructions of the statement from `at` on, or its collective
// part, store to global memory what they load, and do nothing else.
static bool stores_tile(const Code *c, const InstrList *body, int at, int *end)
{
    bool pure = true, store = false;
    int i = at;

    do {
        const Instr *in = &body->code[i++];

        pure &= moves(in);
        store |= in->op == INSTR_VSTORE &&
                 is_global(&c->buffer[c->access[in->a].buffer]);
    } while (i < body->len && body->stmt[i] == body->stmt[at] &&
             body->code[i].op != INSTR_COLLECTEND);
    *end = i;
    return pure && store;
}

// Where threads use the tensor memory unit, the compiler does as well.
static void find_unit_stores(const Code *c, const InstrList *body, OrderPlan *p)
{
    bool unit = false;

    for (int i = 0; i < body->len; i++)
        unit |= body->code[i].op == INSTR_ORDER &&
                (body->code[i].a == ORDER_TMA_LOAD ||
                 body->code[i].a == ORDER_TMA_STORE);
    for (int i = 0, end; unit && i < body->len; i = end)
        if (stores_tile(c, body, i, &end))
            for (int j = i; j < end; j++)
                p->by_unit[j] = p->group[j] >= 0 &&
                                body->code[j].op == INSTR_VLOAD;
}

static OrderPlan plan_of(const Code *c, const Launch *l)
{
    size_t n = (size_t)c->buffer_count + 1, len = (size_t)l->body.len + 1;
    OrderPlan p = {.warps = 1};

    for (int i = 0; i < l->body.len; i++)
        p.has_copies |= starts(&l->body.code[i]);
    p.on = l->per_thread || p.has_copies ||
           (c->no_auto_sync && l->threads > l->wave);
    if (!p.on)
        return p;
    if (l->per_thread)
        p.warps = (int)((l->threads + l->wave - 1) / l->wave);
    else if (c->no_auto_sync && l->threads > l->wave)
        p.warps = 2; // they run all of it, and need not be told apart further
    p.group = xcalloc(len, sizeof *p.group);
    p.divergent = xcalloc(len, sizeof *p.divergent);
    p.by_unit = xcalloc(len, sizeof *p.by_unit);
    p.first_barrier = xcalloc(n, sizeof *p.first_barrier);
    p.watched = xcalloc(n, sizeof *p.watched);
    p.by_matrix = xcalloc(n, sizeof *p.by_matrix);
    p.global = xcalloc(n, sizeof *p.global);
    for (size_t i = 0; i < n; i++)
        p.first_barrier[i] = -1;
    find_groups(c, &l->body, &p);
    find_unit_stores(c, &l->body, &p);
    find_barriers(c, &l->body, &p);
    find_watched(c, &l->body, &p);
    if (l->per_thread)
        find_global(c, &l->body, &p);
    return p;
}

void order_create(Check *k)
{
    const Code *c = k->code;

    k->order = xcalloc((size_t)c->launch_count + 1, sizeof *k->order);
    for (int i = 0; i < c->launch_count; i++)
        k->order[i] = plan_of(c, &c->launch[i]);
}

const OrderPlan *order_plan(const Check *k, int launch)
{
    return &k->order[launch];
}

void order_plan_release(Check *k)
{
    for (int i = 0; k->order && i < k->code->launch_count; i++) {
        free(k->order[i].group);
        free(k->order[i].divergent);
        free(k->order[i].by_unit);
        free(k->order[i].first_barrier);
        free(k->order[i].watched);
        free(k->order[i].by_matrix);
        free(k->order[i].global);
    }
    free(k->order);
}
