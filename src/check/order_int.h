// order_int.h - which accesses of a block come before which.
//
// Every warp, every memory barrier's copies and every warp's groups of
// asynchronous work have a count; a warp's clock holds how far each of them
// had come when the warp last heard of it, by whatever way. What an access
// did is known to a warp whose clock has reached the count of the access.
#ifndef CHECK_ORDER_INT_H
#define CHECK_ORDER_INT_H

#include "check/check_int.h"

enum { MOST_WARPS = MOST_THREADS / 32 };

// By what accesses are ordered: shared memory by the barriers that the program
// has and those that the compiler puts where it can; global memory, which gets
// none of the latter, by the program's alone. Registers are each warp's own: what
// others have waited for is nothing to them.
typedef enum { BY_ANY, BY_PROGRAM, BY_COUNT, BY_OWN = BY_COUNT } OrderBy;

// Who makes an access: the warps themselves, or what they started.
typedef enum {
    MADE_BY_WARPS, MADE_BY_TMA, MADE_BY_COPIES, MADE_BY_MATRIX, MADE_BY_STORES,
} MadeBy;

// An access in time: of each warp of `warps` (or what it started) the count
// then, which the clocks hold at `base` + warp.
typedef struct {
    MadeBy by;
    uint64_t warps;
    int base;
    uint32_t at[MOST_WARPS];
} Moment;

typedef struct {
    int64_t phase;              // when it was last looked at
    uint32_t *pending, *done;   // clocks: of those that came, by OrderBy
} BarrierClock;

typedef struct {
    int pc;                     // where it waits, or -1
    bool joins;                 // those that wait there hear of each other
} Waiting;

struct BlockOrder {
    bool on;                    // in this launch
    int launch;
    int warps, barriers, agents;
    uint32_t *clock;            // by OrderBy, warp, agent
    uint32_t *step;             // by warp: of its lanes
    uint32_t *group[3];         // by warp: open groups of copies, ...
    BarrierClock *barrier;
    Waiting waiting[MOST_WARPS];
    MadeBy started;             // by what the accesses now are made
    int stmt;                   // of a collective part, that was last run
    int tells;                  // the barrier that hears of a TMA copy, or -1
    int64_t tells_phase;
    struct RaceLog *log;        // race_thread.c
};

// What is the same for all workers, by launch.
struct OrderPlan {
    bool on, has_copies;
    int warps;
    int *group;                 // by pc: the set of threads that run it, or -1
    bool *divergent;            // by pc: no barrier can stand there
    bool *by_unit;              // by pc: a load of what the tensor memory unit
                                // may store, which one thread starts
    int *first_barrier;         // by buffer: number of its first barrier, or -1
    int barriers;
    bool *watched;              // by root: to be looked at
    bool *by_matrix;            // by root: only what the matrix unit does
    bool *global;               // by root: between the threads of a block
};

// order_plan.c
const OrderPlan *order_plan(const Check *k, int launch);

// order.c
// Takes notice of an instruction that orders others.
void order_step(Check *k, const InterpStep *s, BlockOrder *o);
// The warps that make the accesses of this instruction, or start them.
uint64_t order_warps(const Check *k, const InterpStep *s,
                     const BlockOrder *o);
// Who makes them, and when.
void order_moment(const Check *k, const InterpStep *s, const BlockOrder *o,
                  Moment *out);
// The lowest warp of `later`, a bit each, that has not heard of `earlier`; or
// -1.
int order_unheard(const BlockOrder *o, OrderBy by, const Moment *earlier,
                  uint64_t later);
// Whether all warps have heard of it, so that nothing can collide with it.
bool order_is_past(const BlockOrder *o, OrderBy by, const Moment *m);
BlockOrder *order_of(Check *k, const InterpStep *s);
#endif
