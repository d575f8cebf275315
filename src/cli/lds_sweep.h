// lds_sweep.h - many settings of a kernel, and which of them fit.
#ifndef CLI_LDS_SWEEP_H
#define CLI_LDS_SWEEP_H

#include "cli/lds_report.h"
#include "cli/sweep.h"

// What all launches of a kernel take on a target; times are estimates.
typedef struct {
    bool known, partial;                // partial: accesses are not counted
    double floor_us, serial_us;         // as in Ledger
    int64_t conflicts;
} LdsCost;

// A setting, and what its largest launch needs on each target.
typedef struct LdsPoint {
    const struct LdsPoint *same;        // an earlier one with the same plan
    const NamedText *own;               // what the sweep gives it
    int own_count;
    Text words;
    KernelObject *kernel;               // NULL: not staged
    LdsTarget at[DEVICE_COUNT];         // of the launch with the most bytes
    bool planned[DEVICE_COUNT];
    const Plan *plan[DEVICE_COUNT];     // where it fits, until it is counted
    Counts counts;
    bool try_closed, counted;
    LdsCost cost[DEVICE_COUNT];
    ExitCode code;                      // why there is no plan, or kernel
    Text why;
} LdsPoint;

typedef struct {
    Session *s;
    const Device *const *devices;
    int device_count;
    LdsPoint **points;                  // in the order of the report
    int count, room;
    ExitCode exit;
} LdsSweep;

// Plans every point of --sweep. False after reporting: there is none.
bool lds_sweep_make(Session *s, const Device *const *devices, int count,
                    LdsSweep *out);
// lds_sweep_count.c: the cost of each point on the targets that it fits, in
// three steps: before planning; by any thread, for a point that has its plans,
// which it then needs no longer; and what is left.
void lds_sweep_begin(LdsSweep *w);
void lds_sweep_closed(const LdsSweep *w, LdsPoint *p, Arena *a);
void lds_sweep_count(LdsSweep *w, int from, int n);
void lds_sweep_text(TextBuf *out, const LdsSweep *w);
// Points as elements of an array.
void lds_sweep_json(Json *out, const LdsSweep *w);
#endif
