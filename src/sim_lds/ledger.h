// ledger.h - where the cycles of a launch go, pipe by pipe: an estimate.
//
// A pipe's cycles are what it is busy for when nothing else holds it up. The
// count of bank conflicts is not the cost: an access without one can still be
// what a kernel waits for.
#ifndef SIM_LDS_LEDGER_H
#define SIM_LDS_LEDGER_H

#include "sim_lds/count.h"

typedef enum {
    PIPE_MATRIX, PIPE_EXP, PIPE_ALU, PIPE_SHARED, PIPE_L2,  // of an SM or CU
    PIPE_COUNT,
    PIPE_HBM = PIPE_COUNT,                                  // of the device
} Pipe;
const char *pipe_name(Pipe p);

typedef struct {
    const IrStmt *loop;             // NULL: what is in no loop
    int64_t trips;                  // of it, in all blocks
    double cycles[PIPE_COUNT];      // in all blocks
} LedgerRow;

typedef struct {
    LedgerRow *rows;
    int row_count;
    double cycles[PIPE_COUNT];
    double hbm_bytes;               // each tensor once, or less
    double narrow;                  // share of shared memory's cycles that
                                    // reads of 1 or 2 bytes take
    const CountAccess *narrowest;   // the one that takes the most
    Pipe binds;
    int64_t blocks, idle;           // -1: not known
    double longest;                 // block, by the average of those with work
    double floor_us, serial_us;     // all pipes at a time; one after the other
    bool partial;                   // accesses are missing
} Ledger;

// `sizes` as for count_sizes().
Ledger ledger_make(Arena *a, const Plan *p, const CountLaunch *l,
                   const int64_t *sizes);
#endif
