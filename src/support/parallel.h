// parallel.h - threads; the only header that knows OpenMP exists.
//
// Work is cut into numbered items; which thread runs which item never shows
// in a result. Inside a parallel region: no diag, no stdio.
#ifndef SUPPORT_PARALLEL_H
#define SUPPORT_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

// Threads used from now on; 0 means all cores that the process may use.
void parallel_set_threads(int n);
int parallel_threads(void);

// Calls work(ctx, worker, item) for every item of [0, count), items handed out
// `grain` at a time in ascending order; worker is in [0, parallel_threads()).
// Stops handing out when parallel_cancelled(). Returns when all are done.
typedef void ParallelWork(void *ctx, int worker, int64_t item);
void parallel_for(int64_t count, int64_t grain, ParallelWork *work, void *ctx);

// Cancellation: set by the SIGINT handler or a timeout, async-signal-safe.
void parallel_cancel(int why);                  // a signal number, or -1
int parallel_cancelled(void);                   // 0: no
void parallel_cancel_reset(void);
#endif
