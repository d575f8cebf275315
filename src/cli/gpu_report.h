// gpu_report.h - what `gpu` prints about a launch, for people and as JSON.
#ifndef CLI_GPU_REPORT_H
#define CLI_GPU_REPORT_H

#include "cli/report.h"
#include "host/conflicts.h"
#include "host/gpu.h"

struct IsaDevice;

// What the plan says of the accesses to shared memory of all launches.
typedef struct {
    bool known;
    int64_t conflicts, issues;
    int unknown;                // accesses that nobody counts
} GpuPlanned;

// When each step of a launch was done, in seconds after the process's start.
typedef struct {
    double staged, device, planned, built, loaded, ran;
} GpuTimes;

typedef struct {
    RunReport run;              // its verdict is of the device's outputs
    const GpuKernel *kernel;
    const GpuCase *c;           // NULL: only built
    const GpuInfo *device;      // NULL: none was opened
    const GpuVerdict *verdict;  // NULL: not run
    const GpuBench *bench;      // NULL: not asked for
    const char *arch;
    const struct IsaDevice *executor;   // NULL: a device ran it
    Counts counts;
    GpuPlanned planned;
    const GpuTimes *times;      // NULL: not taken
} GpuReport;

void gpu_report_text(TextBuf *out, const GpuReport *r);
void gpu_report_json(Json *out, const GpuReport *r);
// A row of a sweep.
void gpu_report_line(TextBuf *out, const GpuReport *r);
// What the assembler says of a kernel, or NULL.
const GpuUsage *gpu_usage(const GpuBuilt *b, Text symbol);
// The lines in which the plans of the two rules differ.
void gpu_report_plans(TextBuf *out, const Plan *a, const Plan *b);

// gpu_plan_held.c: reports where a code object is not what was planned.
void gpu_check_plan(Diag *d, const GpuKernel *k);
// Matrix instructions in the code of a launch, each loop written once.
int gpu_planned_mfma(const PlanLaunch *l);
#endif
