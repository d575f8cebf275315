// count.h - what every access of a kernel costs, summed over all its runs.
//
// A counter belongs to a plan. It is told how often each statement runs and with
// what values (count_run), by a closed expression (count_closed), by events of a
// control walk or by those of a full run (count_events); equal situations are
// worked out once.
#ifndef SIM_LDS_COUNT_H
#define SIM_LDS_COUNT_H

#include "interp/interp.h"
#include "plan/access.h"
#include "sim_lds/global.h"

typedef struct {
    int64_t executions;             // of the statement
    int64_t issues;                 // instructions of warps
    int64_t bytes;                  // that the lanes ask for
    int64_t passes, cycles, conflicts;  // shared memory, as in BankCount
    int64_t sectors, lines;         // global memory, as in GlobalCount
} CountSum;

typedef struct {
    const PlanMove *move;
    const char *instruction;        // "ds_read_b128", "ldmatrix.x4"
    bool is_shared;
    bool passes_by;                 // TMA and wgmma: no access of a warp
    const char *unknown;            // why it is not counted, or NULL
    const char *misaligned;         // why the instruction cannot be, or NULL
    int misaligned_lane;
    CountSum sum;
    int lanes;                      // of a pass, at most
    int ways;                       // of the worst pass
    BankAccess worst;
    Basis cycles_basis, conflicts_basis, sectors_basis;
    Basis counters_basis;           // of cp.async: what counters of L1 say
} CountAccess;

// How often a statement runs, and in which blocks.
typedef struct {
    const IrStmt *stmt;
    int64_t executions;
    struct {
        struct {
            int64_t block, times;
        } *at;
        int len, room;
    } blocks;                       // empty: not known
} CountStmt;

typedef struct {
    const PlanLaunch *launch;
    CountAccess *at;                // one for each move of the launch
    int count;
    CountStmt *stmts;               // one for each task of the launch
    int stmt_count;
    int64_t block_count;            // of the grid; -1: sizes are not known
    CountSum shared, global;
    int unknown;                    // accesses to shared memory not counted
} CountLaunch;

typedef struct Counter Counter;
// `code` tells which statements have events; the others are code of threads.
Counter *count_new(Arena *a, const Plan *p, const Code *code);
// Leaves out what stands in this source.
void count_exclude(Counter *c, uint32_t file, const char *why);
// The sizes of T.dynamic, by variable id: for the blocks of the grid.
void count_sizes(Counter *c, const int64_t *sizes);
// A statement runs `times` more with these values.
void count_run(Counter *c, const IrStmt *s, const PlanEnv *env, int64_t times);
// Where it does.
void count_block(Counter *c, const IrStmt *s, int64_t block, int64_t times);
// All statements of the kernel, without running anything. False where one needs
// a walk; then nothing has been added. `sizes` by variable id.
bool count_closed(Counter *c, const int64_t *sizes);
// The sums; to be called when all is told.
const CountLaunch *count_launches(Counter *c, int *n);

// events.c - what a run tells, kept for as many counters of the kernel as one
// likes.
typedef struct CountEvents CountEvents;
CountEvents *count_events_new(Arena *a, const Code *code,
                              const Plan *const *plans, int n,
                              const int64_t *sizes);
// InterpOptions.event; the context is the CountEvents.
void count_event(void *ctx, int worker, int64_t block, int event,
                 const int64_t *values);
// Hands all that was told on to a counter of one of the plans, or of a plan
// that differs from one in layouts alone.
void count_events_feed(CountEvents *e, Counter *c);
void count_events_free(CountEvents *e);
#endif
