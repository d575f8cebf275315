// async.h - the wavefronts that one cp.async of a warp takes, as a profiler
// gives them to the instruction.
//
// Found in 9,000 instructions that were measured one by one on an H200
// (tests/data/hardware/h200_async_source.tsv.gz); the rule gives each.
//
//   .ca  The lanes of a pass (32 of 4 bytes, 16 of 8, 8 of 16) wait for one
//        another where they share a bank of shared memory, or of the line of L1
//        that the bytes come from: as many wavefronts as the lane with the most
//        has, itself among them. Equal addresses do not share. A lane that only
//        clears has no bank of L1.
//   .cg  passes L1 by. Sectors of 32 bytes go from a line of global memory to a
//        line of shared memory, those together that bring the same halves and
//        lie alike: their halves swapped or not, and moved by an even or an odd
//        number of sectors. Of lanes with one shared address the lowest counts.
//        Where lanes clear, all count as those of a .ca besides.
#ifndef SIM_LDS_ASYNC_H
#define SIM_LDS_ASYNC_H

#include "sim_lds/global.h"

typedef struct {
    int wavefronts;
    int ideal;                  // what as many bytes would take, lying well
    int passes;                 // of .ca, with an active lane
    Basis counters;             // whether those of L1 say the same of a .ca:
                                // exact while a pass reads a single line
} AsyncCount;

// Of an access of kind GLOBAL_COPY or GLOBAL_BYPASS.
AsyncCount async_count(const Device *d, const GlobalAccess *a);
#endif
