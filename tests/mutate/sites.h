// sites.h - small faults that can be planted in the IR of a kernel.
//
// Every place where an operator applies is a site, numbered in the order of
// the program. Planting one changes the kernel for good: do it in a process of
// its own.
#ifndef MUTATE_SITES_H
#define MUTATE_SITES_H

#include "ir/ir.h"

typedef enum {
    FAULT_CLEAR,        // drop T.clear, T.fill, clear_accum or clear
    FAULT_BARRIER,      // drop a barrier, or an arrival at one
    FAULT_WAIT,         // drop a wait
    FAULT_SHIFT_UP,     // an index, one more
    FAULT_SHIFT_DOWN,   // ... one less
    FAULT_SWAP,         // exchange two operands
    FAULT_SHRINK,       // a buffer to half along a dimension
    FAULT_STAGES_UP,    // one pipeline stage more
    FAULT_STAGES_DOWN,  // ... less
    FAULT_FLIP,         // < and <=, == and !=
    FAULT_COUNT
} Fault;

typedef struct {
    Fault fault;
    Span at;
} FaultSite;

const char *fault_name(Fault f);
// How many sites there are; the first `room` are filled in.
int sites_list(IrKernel *k, FaultSite *out, int room);
void sites_plant(IrKernel *k, int number);
#endif
