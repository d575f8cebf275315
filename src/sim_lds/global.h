// global.h - what one access of a warp to global memory costs in L1, and what
// a cp.async costs in shared memory besides.
//
// Measured on an H200 (tests/data/hardware): a load, a store or a cp.async.ca
// asks for each 32-byte sector and each 128-byte line that it touches once. A
// reduction serves lanes with equal addresses one after the other. cp.async.cg
// passes L1 by: it goes by pairs of a global and a shared line, once more where
// a sector of the one comes to lie across two of the other
// (tests/data/plan/h200.tsv).
#ifndef SIM_LDS_GLOBAL_H
#define SIM_LDS_GLOBAL_H

#include "sim_lds/bank.h"

typedef enum {
    GLOBAL_LOAD, GLOBAL_STORE,
    GLOBAL_REDUCE,              // red and atom
    GLOBAL_COPY,                // cp.async.ca
    GLOBAL_BYPASS,              // cp.async.cg
} GlobalKind;

typedef struct {
    GlobalKind kind;
    int bytes;                  // of a lane: 1, 2, 4, 8 or 16, aligned
    uint64_t active;
    int64_t address[BANK_LANES];
    int64_t shared[BANK_LANES]; // cp.async: where the bytes go
} GlobalAccess;

typedef struct {
    int sectors;                // of 32 bytes
    int lines;                  // tag accesses
    int wavefronts, conflicts;  // cp.async.ca: of shared memory
    int bypasses;               // cp.async.cg: wavefronts that are its own,
                                // and that counters of L1 do not see
    Basis sectors_basis, lines_basis, shared_basis;
} GlobalCount;

// AMD has no cp.async; its 64-byte requests are counted as sectors, an
// estimate.
GlobalCount global_count(const Device *d, const GlobalAccess *a);
#endif
