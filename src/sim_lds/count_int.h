// count_int.h - private to the counter: what a move is on a device.
#ifndef SIM_LDS_COUNT_INT_H
#define SIM_LDS_COUNT_INT_H

#include "sim_lds/count.h"

enum { COUNT_BLOCKS = 1 << 17 };    // beyond it nobody asks which

CountLaunch *count_open(Counter *c, int *n);    // before the sums
const Plan *count_plan(const Counter *c);
Arena *count_arena(const Counter *c);
// By events: what has none is not counted.
CountAccess count_access_of(const Device *d, const PlanMove *v, bool by_events);
// The instruction for a plain access to shared memory, or an atomic one.
BankOp count_bank_op(const Device *d, const PlanMove *v);
BankOp count_matrix_op(const PlanMove *v, int tiles);
GlobalKind count_global_kind(const PlanMove *v);
#endif
