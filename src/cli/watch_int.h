// watch_int.h - what the files of a watched launch share.
#ifndef CLI_WATCH_INT_H
#define CLI_WATCH_INT_H

#include "cli/watch.h"

// The arguments as they were: what the kernel stores to gets memory of its own.
// False when there is none, or when it changes what it also reads.
bool watch_fresh(RunWatch *w, const KernelObject *k, const Check *check,
                 const KernelArg *args, KernelArg *out);
void watch_fresh_release(const KernelObject *k, const Check *check,
                         KernelArg *args);

// Where upstream's compiler puts shared buffers on the device that runs, if that
// is needed and can be planned; or NULL.
const SharedPlace *watch_places(Arena *a, Diag *diag, const KernelObject *k,
                                const Code *code, const Device *device);

// watch_pipeline.c - does the program compute the same with its pipelined loops
// in the order of their stages? It is run so where that is not plain.
void watch_pipeline(RunWatch *w, const KernelObject *k, const Check *check,
                    const KernelArg *args, CheckFindings *found);

// watch_align.c - T.tma_copy of what TMA cannot move.
void watch_alignment(RunWatch *w, const KernelObject *k, const KernelArg *args,
                     CheckFindings *found);
#endif
