// run.h - what the parts of `tilesim run` share.
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/report.h"
#include "cli/session.h"

typedef struct {
    Session s;
    VerdictOptions judge;
    CaseOptions files;          // --in, --out, --expect
    double started, shown;
    bool progress_on, progress_shown;
    TextBuf json_buf;
    Json json;
    int launches, judged;       // kernels run, and held to a reference
    int outputs, wrong_outputs;
    int64_t findings;
    int rows[3];                // of a sweep: clean, wrong, not run
    Text judged_name;           // of the last one
    ExitCode exit;
    bool last_upstream;         // what upstream's rule said of the last case
    int script_code;            // of sys.exit
} Run;

// run_options.c
void run_read_options(Run *r, Cli *c);
// --print and --block against the kernel: false after reporting.
bool run_check_prints(Run *r, const IrKernel *k);
#endif
