// registers.c - how many registers a thread takes: an estimate.
//
// What counts are fragments that live at the same time, found backwards from
// the end of the launch; operands that a matrix instruction loads for one step
// of k; data on its way from global to shared memory; and a constant for
// addresses and counters. docs/lds-report.md holds the sum against what ptxas
// and LLVM allot.
#include "plan/plan_int.h"

#include <string.h>

enum {
    WORD = 32,                      // bits of a register
    STAGED_MOST = 32,               // a compiler waits before it needs more
    STREAMED_MOST = 8,              // likewise, between two loops on elements
    FED_MOST = 240,                 // setmaxnreg of warps that are fed, and
    SET_THREADS = 256,              // how many of them, by rules `tilesim`
    OTHER = 20, OTHER_LEAST = 10,   // addresses, counters, constants
    OTHER_WGMMA = 28, OTHER_MMA = 40, OTHER_MFMA = 72,
};

typedef struct {
    PlanState *p;
    // By buffer id: what holds constants alone takes nothing, and one loop on
    // elements that hands them to another makes them one after the other.
    bool *filled, *streamed;
    int *writers, *readers;
    bool *twice;                    // by buffer id: to accumulate, and to work on
    bool *live;                     // by buffer id, after the statement
    PlanRegisters most;
} Life;

// ---- fragments -------------------------------------------------------------

static int words_of(int64_t elements, DType t)
{
    return (int)((elements * dtype_info(t)->bits + WORD - 1) / WORD);
}

static int fragment_words(const PlanState *p, const IrBuffer *b)
{
    const PlanFragment *f = p->fragment[b->id];

    return f && !p->spilled[b->id] ? words_of(f->locals, b->dtype) : 0;
}

static const IrBuffer *storage_of(const IrBuffer *b)
{
    while (b->alias_of)
        b = b->alias_of;
    return b;
}

static int live_words(const Life *f)
{
    const PlanLaunch *l = f->p->launch;
    int sum = 0;

    for (int i = 0; i < l->fragment_count; i++) {
        const IrBuffer *b = l->fragments[i];
        int words = fragment_words(f->p, b);

        if (b->alias_of || !f->live[b->id] || f->filled[b->id])
            continue;
        if (f->streamed[b->id] && words > STREAMED_MOST)
            words = STREAMED_MOST;
        sum += f->twice[b->id] ? 2 * words : words;
    }
    return sum;
}

// ---- what a statement needs besides ----------------------------------------

// Of one operand, in the lanes of a warp. ptxas loads those of the next step of
// k while this one is multiplied, LLVM all of them first.
static int operand_words(const PlanState *p, const PlanGemm *g,
                         const IrBuffer *b, int64_t rows, int warps)
{
    int64_t k = g->unit == PLAN_MFMA ? g->shape.k : 2 * g->inst_k;

    if (b->scope == SCOPE_FRAGMENT || g->unit == PLAN_WGMMA || !warps)
        return 0;
    if (g->unit == PLAN_SCALAR)
        return words_of(1, b->dtype);
    return words_of(rows / warps * k / p->device->warp_lanes, b->dtype);
}

static int operands_of(PlanState *p, const IrStmt *s)
{
    const PlanOp *op = plan_op_of(p, s);
    const PlanGemm *g = op ? op->gemm : NULL;

    if (!g)
        return 0;
    return operand_words(p, g, g->a, g->shape.m, g->m_warps) +
           operand_words(p, g, g->b, g->shape.n, g->n_warps);
}

// A load from global memory that a store to shared memory follows.
static int staged_of(PlanState *p, const IrStmt *s)
{
    const PlanLaunch *l = p->launch;
    const PlanMove *load = NULL, *store = NULL;

    for (int i = 0; i < l->move_count; i++) {
        const PlanMove *v = &l->moves[i];

        if (v->stmt != s || v->kind != MOVE_PLAIN || !v->buffer || !v->loop)
            continue;
        if (v->way == MOVE_LOAD && v->buffer->scope == SCOPE_GLOBAL)
            load = v;
        if (v->way == MOVE_STORE && v->buffer->scope != SCOPE_GLOBAL)
            store = v;
    }
    if (!load || !store)
        return 0;
    int words = words_of((load->loop->points + l->threads - 1) / l->threads,
                         load->buffer->dtype);
    return words < STAGED_MOST ? words : STAGED_MOST;
}

// ---- lives -----------------------------------------------------------------

static void note_most(Life *f, const IrStmt *s)
{
    PlanRegisters now = {.fragments = live_words(f)};

    if (s) {
        now.operands = operands_of(f->p, s);
        now.staged = staged_of(f->p, s);
    }
    if (now.fragments + now.operands + now.staged >
        f->most.fragments + f->most.operands + f->most.staged)
        f->most = now;
}

typedef struct {
    bool *reads, *writes;           // by buffer id
} Touched;

static void touch(void *ctx, IrBuffer *b, bool is_store)
{
    Touched *t = ctx;
    const IrBuffer *own = storage_of(b);

    if (is_store)
        t->writes[own->id] = true;
    else
        t->reads[own->id] = true;
}

// Whether a statement leaves nothing of what the buffer held.
bool plan_writes_whole(const IrStmt *s, const IrBuffer *b)
{
    if (s->kind == STMT_FOR)
        return true;
    for (int i = 0; s->kind == STMT_TILE && i < s->operand_count; i++)
        if (s->operand[i].kind == OPERAND_REGION &&
            storage_of(s->operand[i].region->buffer) == b &&
            s->operand[i].region->form != REGION_WHOLE)
            return false;
    return s->kind == STMT_TILE;
}

static void leaf(Life *f, IrStmt *s)
{
    const IrKernel *k = f->p->kernel;
    size_t n = (size_t)k->buffer_count + 1;
    Touched t = {new_array(f->p->arena, bool, n),
                 new_array(f->p->arena, bool, n)};

    plan_touches(f->p, s, touch, &t);
    note_most(f, s);
    for (int i = 0; i < k->buffer_count; i++) {
        if (t.writes[i] && !t.reads[i] && plan_writes_whole(s, k->buffers[i]))
            f->live[i] = false;
        f->live[i] |= t.reads[i] || (t.writes[i] && !plan_writes_whole(s, k->buffers[i]));
    }
    note_most(f, s);
}

static void go_back(Life *f, IrStmt *s);

static void go_back_loop(Life *f, IrStmt *s)
{
    size_t n = (size_t)f->p->kernel->buffer_count + 1;
    bool *after = new_array(f->p->arena, bool, n);

    memcpy(after, f->live, n);
    for (int turn = 0; turn < 2; turn++) {
        go_back(f, s->then);
        for (size_t i = 0; i < n; i++)
            f->live[i] |= after[i];
    }
}

static void go_back_if(Life *f, IrStmt *s)
{
    size_t n = (size_t)f->p->kernel->buffer_count + 1;
    bool *after = new_array(f->p->arena, bool, n);

    memcpy(after, f->live, n);
    go_back(f, s->then);
    for (size_t i = 0; i < n; i++) {
        bool before = f->live[i];
        f->live[i] = after[i];
        after[i] = before;
    }
    if (s->otherwise)
        go_back(f, s->otherwise);
    for (size_t i = 0; i < n; i++)
        f->live[i] |= after[i];
}

static void go_back(Life *f, IrStmt *s)
{
    if (s->kind == STMT_BLOCK)
        for (int i = s->len - 1; i >= 0; i--)
            go_back(f, s->body[i]);
    else if (s->kind == STMT_FOR && s->loop == LOOP_PARALLEL)
        leaf(f, s);
    else if (s->kind == STMT_FOR || s->kind == STMT_WHILE)
        go_back_loop(f, s);
    else if (s->kind == STMT_IF)
        go_back_if(f, s);
    else if (s->kind != STMT_ALLOC)
        leaf(f, s);
}

static bool is_elementwise(PlanState *p, const IrStmt *s)
{
    const PlanOp *op = plan_op_of(p, s);

    return op && op->kind == PLANOP_LOOP;
}

// Who writes and reads each fragment, and how.
static bool find_users(void *ctx, IrStmt *s)
{
    Life *f = ctx;
    size_t n = (size_t)f->p->kernel->buffer_count + 1;
    Touched t = {new_array(f->p->arena, bool, n),
                 new_array(f->p->arena, bool, n)};
    bool parallel = s->kind == STMT_FOR && s->loop == LOOP_PARALLEL;
    bool fills = s->kind == STMT_TILE &&
                 (s->op == OP_FILL || s->op == OP_CLEAR);

    if (!parallel && s->kind != STMT_TILE && s->kind != STMT_STORE)
        return true;
    plan_touches(f->p, s, touch, &t);
    for (size_t i = 0; i < n; i++) {
        f->filled[i] &= !t.writes[i] || fills;
        f->streamed[i] &= !(t.writes[i] || t.reads[i]) ||
                          (is_elementwise(f->p, s) && !fills);
        f->writers[i] += t.writes[i];
        f->readers[i] += t.reads[i];
    }
    return false;
}

// MFMA accumulates in registers of its own: what else touches the sums, in a
// loop, has them in others as well.
static bool find_twice(void *ctx, IrStmt *s)
{
    Life *f = ctx;
    const PlanLaunch *l = f->p->launch;
    size_t n = (size_t)f->p->kernel->buffer_count + 1;
    Touched t = {new_array(f->p->arena, bool, n),
                 new_array(f->p->arena, bool, n)};
    bool parallel = s->kind == STMT_FOR && s->loop == LOOP_PARALLEL;

    if (!parallel && s->kind != STMT_TILE)
        return true;
    if (!parallel && (s->op == OP_GEMM || s->op == OP_FILL || s->op == OP_CLEAR))
        return false;
    plan_touches(f->p, s, touch, &t);
    for (int i = 0; i < l->gemm_count; i++) {
        const IrBuffer *c = storage_of(l->gemms[i].c);

        if (l->gemms[i].unit == PLAN_MFMA && (t.reads[c->id] || t.writes[c->id]))
            f->twice[c->id] = true;
    }
    return false;
}

static bool find_loops(void *ctx, IrStmt *s)
{
    bool serial = s->kind == STMT_WHILE ||
                  (s->kind == STMT_FOR && s->loop != LOOP_PARALLEL);

    if (serial)
        ir_walk(s->then, find_twice, NULL, ctx);
    return !serial;
}

static void find_kinds(Life *f, IrStmt *launch)
{
    size_t n = (size_t)f->p->kernel->buffer_count + 1;

    memset(f->filled, true, n);
    memset(f->streamed, true, n);
    ir_walk(launch->then, find_users, NULL, f);
    ir_walk(launch->then, find_loops, NULL, f);
    for (size_t i = 0; i < n; i++)
        f->streamed[i] &= f->writers[i] == 1 && f->readers[i] == 1;
}

static int other_words(const PlanLaunch *l)
{
    int most = OTHER;

    for (int i = 0; i < l->gemm_count; i++) {
        PlanUnit unit = l->gemms[i].unit;
        int own = unit == PLAN_WGMMA ? OTHER_WGMMA
                  : unit == PLAN_MFMA ? OTHER_MFMA : OTHER_MMA;
        most = own > most ? own : most;
    }
    return most;
}

void plan_registers(PlanState *p, IrStmt *launch)
{
    size_t n = (size_t)p->kernel->buffer_count + 1;
    Life f = {.p = p, .filled = new_array(p->arena, bool, n),
              .streamed = new_array(p->arena, bool, n),
              .writers = new_array(p->arena, int, n),
              .readers = new_array(p->arena, int, n),
              .twice = new_array(p->arena, bool, n),
              .live = new_array(p->arena, bool, n)};

    find_kinds(&f, launch);
    go_back(&f, launch->then);
    f.most.other = other_words(p->launch);
    if (!f.most.fragments && !f.most.staged && !p->launch->gemm_count)
        f.most.other = OTHER_LEAST;
    p->launch->registers = f.most;
}

static bool find_variable(void *ctx, IrStmt *s)
{
    bool *found = ctx;

    *found |= s->kind == STMT_STORE && s->buffer->scope == SCOPE_VAR;
    return true;
}

// Upstream leaves registers as they are where a producer writes variables.
static bool sets_registers(const Plan *p, const PlanLaunch *l)
{
    bool variables = false;

    if (!l->producers || p->rules == PLAN_TILESIM)
        return l->producers && l->threads >= SET_THREADS;
    ir_walk((IrStmt *)l->stmt, find_variable, NULL, &variables);
    return !variables;
}

int plan_registers_of(const Plan *p, const PlanLaunch *l, int most)
{
    const PlanRegisters *r = &l->registers;

    if (sets_registers(p, l))
        return most < FED_MOST ? most : FED_MOST;
    return r->fragments + r->operands + r->staged + r->other;
}
