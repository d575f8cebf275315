// global.h - what one access of a warp to global memory costs in L1.
//
// Measured on an H200 (tests/data/hardware): a load, a store or a cp.async.ca
// asks for each 32-byte sector and each 128-byte line that it touches once. A
// reduction serves lanes with equal addresses one after the other. cp.async.cg
// passes L1 by and goes by pairs of a global and a shared line.
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
    uint64_t cleared;           // cp.async: lanes that read nothing
    int64_t address[BANK_LANES];
    int64_t shared[BANK_LANES]; // cp.async: where the bytes go
} GlobalAccess;

typedef struct {
    int sectors;                // of 32 bytes
    int lines;                  // tag accesses
    Basis sectors_basis, lines_basis;
} GlobalCount;

// AMD has no cp.async; its 64-byte requests are counted as sectors, an
// estimate.
GlobalCount global_count(const Device *d, const GlobalAccess *a);
#endif
