// occupancy.h - how many blocks an SM or CU holds at a time, and what limits it.
//
// NVIDIA: the rules of CUDA 13.0's cuda_occupancy.h for a block whose shared
// memory has been opted in to, with the default carve-out. AMD: LLVM's register
// and LDS granules and the ROCm documentation's waves and work-groups of a CU.
#ifndef DEVICE_OCCUPANCY_H
#define DEVICE_OCCUPANCY_H

#include "device/device.h"

typedef enum {
    OCC_THREADS,        // warps (waves) of an SM or CU
    OCC_BLOCKS,         // blocks (work-groups) of one
    OCC_SMEM,           // shared memory (LDS)
    OCC_REGISTERS,
    OCC_BARRIERS,       // named barriers, sm_90
    OCC_LIMIT_COUNT
} OccLimit;
const char *occ_limit_name(OccLimit l);     // "shared memory"

// What a block takes. Negative figures are treated as 0.
typedef struct {
    int threads;
    int registers;      // of a thread; AMD: architectural VGPRs
    int acc_registers;  // AMD: accumulation VGPRs (AGPRs)
    int64_t smem;       // bytes, static and dynamic
    int barriers;       // named barriers; __syncthreads alone is 1
} BlockNeeds;

typedef struct {
    int blocks;                     // 0: a block does not fit at all
    int warps;                      // resident warps (waves)
    int limit[OCC_LIMIT_COUNT];     // blocks that each would allow alone;
                                    // INT_MAX: no limit
    unsigned binding;               // bit l: limit l is the least
} Occupancy;

Occupancy device_occupancy(const Device *d, const BlockNeeds *b);

// The most bytes of shared memory (registers of a thread) with which `blocks`
// blocks fit as far as that resource goes; -1: never so many. On AMD, registers
// are architectural and accumulation ones together.
int64_t occupancy_smem_for(const Device *d, int blocks);
int occupancy_registers_for(const Device *d, int threads, int blocks);
#endif
