// lds_sweep.h - many settings of a kernel, and which of them fit.
#ifndef CLI_LDS_SWEEP_H
#define CLI_LDS_SWEEP_H

#include "cli/lds_report.h"
#include "cli/sweep.h"

// A setting, and what its largest launch needs on each target.
typedef struct LdsPoint {
    const struct LdsPoint *same;        // an earlier one with the same plan
    const NamedText *own;               // what the sweep gives it
    int own_count;
    Text words;
    const KernelObject *kernel;         // NULL: not staged
    LdsTarget at[DEVICE_COUNT];         // of the launch with the most bytes
    bool planned[DEVICE_COUNT];
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
void lds_sweep_text(TextBuf *out, const LdsSweep *w);
// Points as elements of an array.
void lds_sweep_json(Json *out, const LdsSweep *w);
#endif
