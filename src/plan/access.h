// access.h - the bytes that each instruction of a plan touches, lane by lane.
//
// A statement on tiles is a loop over points (PlanLoop); PlanWork deals them out
// to threads, and a move takes `width` points of a thread at a time. Addresses
// and masks depend on variables outside the statement, which a PlanEnv gives.
#ifndef PLAN_ACCESS_H
#define PLAN_ACCESS_H

#include "plan/plan.h"

enum { PLAN_LANES = 64, PLAN_NEST = 4, PLAN_STEPS = 8 };

// An access runs where all conditions above it have the wanted truth.
typedef struct PlanGuard {
    const IrExpr *cond;
    bool want;
    const struct PlanGuard *outer;
} PlanGuard;

// Serial loops inside a T.Parallel, inside out.
typedef struct PlanNest {
    const IrStmt *loop;
    int var, depth;                 // which variable; depth 0 is outermost
    const struct PlanNest *outer;
} PlanNest;

// The element of a buffer, row-major, as base + sum of stride[d] * point[d].
typedef struct {
    bool is_sum;                    // else it is no such sum
    int64_t base, stride[IR_MAX_RANK];
} PlanForm;

// One buffer access of a loop nest. Index d of the buffer is min[d] plus loop
// variable map[d] (-1: none), or, where `expr` is set, that expression.
struct PlanAccess {
    IrBuffer *buffer;
    bool is_store, is_atomic;
    IrExpr *min[IR_MAX_RANK], *expr[IR_MAX_RANK];
    int map[IR_MAX_RANK];
    PlanForm form;
    const int32_t *element;         // of every point; NULL: not a fragment
    const PlanGuard *guard;
    const PlanNest *nest;
    int bound;                      // access that must be inside its buffer for
                                    // this one to run, or -1
    int into;                       // store that this load is read for, or -1
    Span at;
};

// A T.Parallel nest, or a tile operation as one.
struct PlanLoop {
    const IrStmt *stmt;
    int rank;
    int64_t extent[IR_MAX_RANK], points;
    const IrVar *var[IR_MAX_RANK];
    bool is_copy;                   // one load, one store
    bool is_open;                   // holds what cannot be followed: a while
    struct {
        PlanAccess *at;
        int len, room;
    } access;
    struct {
        const IrStmt **at;
        int len, room;
    } lets;                         // inside the loop
};

// Thread t has point[t * locals + n] as its n-th; -1: none.
struct PlanWork {
    int threads, locals;
    int32_t *point;
};

// Values of variables outside of statements. Where `var_high` is set, a
// variable is anything from var to var_high, and only plan_range() may be asked.
typedef struct {
    const int64_t *var, *var_high;  // by IrVar id
    const int64_t *cell;            // T.alloc_var, by buffer id
} PlanEnv;

// A place inside a loop.
typedef struct {
    const PlanLoop *loop;
    const int64_t *point;
    const PlanNest *nest;           // of the access
    int64_t trip[PLAN_NEST];        // of its loops, by depth
    const PlanEnv *env;             // NULL: variables outside count 0
    const int64_t *threads;         // of a block in each dimension, or NULL
    int thread;                     // which one, where code asks
    bool failed;                    // depends on data or on a thread
} PlanAt;

int64_t plan_eval_at(PlanAt *at, const IrExpr *e);
// Whether the value differs from thread to thread, by what a loop knows.
bool plan_by_thread(const PlanLoop *l, const IrExpr *e);

// The values an expression can take over all points; false: not known.
typedef struct {
    int64_t low, high;
} PlanRange;
bool plan_range(const PlanLoop *l, const PlanNest *nest, const PlanEnv *env,
                const IrExpr *e, PlanRange *out);

// One instruction of a warp. Addresses are bytes from the start of the buffer;
// what a pipeline keeps in other slots is moved as a whole. Lane 8 i + r of
// ldmatrix and stmatrix has row r of tile i.
typedef struct {
    int warp, turn;                 // turns count also what issues nothing
    int tiles;                      // of a matrix move
    uint64_t active;
    int64_t address[PLAN_LANES];
} PlanIssue;
typedef void PlanVisit(void *ctx, const PlanIssue *issue);

// What makes it impossible to know the addresses of a move, or NULL.
const char *plan_unknown(const PlanMove *v);
// Visits all that one execution of the statement issues; false where an address
// or mask depends on data. Moves by TMA, bulk copies and wgmma issue nothing.
bool plan_each_issue(const Plan *p, const PlanLaunch *l, const PlanMove *v,
                     const PlanEnv *env, PlanVisit *visit, void *ctx);

// key.c - what of an environment decides about the banks and sectors: equal
// keys, equal counts. The number of values written; -1: depends on data.
enum { PLAN_KEY = 48 };
int plan_access_key(const Plan *p, const PlanMove *v, const PlanEnv *env,
                    int64_t out[PLAN_KEY]);
// Variables outside the statement that a key is made of; cells are -1 - id.
// `ranges` (or NULL) leaves out what cannot matter. False: data matters too.
typedef void PlanNeeds(void *ctx, int var);
bool plan_access_needs(const Plan *p, const PlanMove *v, const PlanEnv *ranges,
                       PlanNeeds *needs, void *ctx);

// nest.c - how often a statement runs and with what values, from the loops
// around it alone: `times` with `env`, of which only what plan_access_needs()
// names for a move of it is set. False, possibly after some calls: a `while`, a
// loop that may end early, or data decide. `sizes` has T.dynamic sizes. With
// by_block the variables of the grid are set, and nothing for the moves.
typedef void PlanRun(void *ctx, const PlanEnv *env, int64_t times);
bool plan_each_run(Arena *a, const Plan *p, const PlanLaunch *l,
                   const IrStmt *s, const PlanEnv *sizes, bool by_block,
                   PlanRun *run, void *ctx);
// Whether the conditions around a statement surely never hold together.
bool plan_never_runs(Arena *a, const Plan *p, const PlanLaunch *l,
                     const IrStmt *s);

// What variables outside of a statement can be in one block: reach.low and
// reach.high by variable id, for plan_range(). NULL: no such statement.
typedef struct PlanReach PlanReach;
PlanReach *plan_reach(Arena *a, const Plan *p, const PlanLaunch *l,
                      const IrStmt *s, const PlanEnv *sizes);
PlanEnv plan_reach_in(PlanReach *r, const int64_t tile[IR_MAX_GRID]);
#endif
