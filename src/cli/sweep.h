// sweep.h - --sweep: a grid of launches.
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H

#include "cli/session.h"

typedef struct {
    const NamedText *defines;   // -D's first, `fixed` of them
    int count, fixed;
    Text words;                 // its own: "block_M=64 threads=128"
} SweepPoint;

// Visits every combination of 'N=A,B M=C', or the file's own configurations;
// an error where there is none. Points stay valid.
typedef void SweepVisit(void *ctx, const SweepPoint *p);
void sweep_points(Session *s, SweepVisit *visit, void *ctx);
#endif
