// gpu_report.h - what `gpu` prints about a launch, for people and as JSON.
#ifndef CLI_GPU_REPORT_H
#define CLI_GPU_REPORT_H

#include "cli/report.h"
#include "host/gpu.h"

typedef struct {
    RunReport run;              // its verdict is of the device's outputs
    const GpuKernel *kernel;
    const GpuCase *c;           // NULL: only built
    const GpuInfo *device;      // NULL: none was opened
    const GpuVerdict *verdict;  // NULL: not run
    const GpuBench *bench;      // NULL: not asked for
    const char *arch;
} GpuReport;

void gpu_report_text(TextBuf *out, const GpuReport *r);
void gpu_report_json(Json *out, const GpuReport *r);
// A row of a sweep.
void gpu_report_line(TextBuf *out, const GpuReport *r);
// What the assembler says of a launch's kernel, or NULL.
const GpuUsage *gpu_report_usage(const GpuReport *r, const GpuLaunch *l);
// The lines in which the plans of the two rules differ.
void gpu_report_plans(TextBuf *out, const Plan *a, const Plan *b);
#endif
