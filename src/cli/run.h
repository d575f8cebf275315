// run.h - what the commands that execute share: `tilesim run` and `gpu`.
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/progress.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/watch.h"

typedef struct Run Run;

// A kernel with a grid that the program ran, how often so ever.
typedef struct {
    const KernelObject *kernel;
    int launches;               // of the kernel's T.Kernel, at most 8
    int64_t grid[8][3];
    bool ragged;                // a tile was partly outside a global tensor
    InterpPipeline *pipelines;
    int pipeline_count;
} Launched;

// A launch with its tensors, and what it is held to.
typedef struct {
    LaunchCase *c;
    Value reference;            // or NONE
    Text name;                  // of the reference
    Text sweep;                 // what its row is called, or ""
    bool script;                // whose assertion it is
} RunCase;

struct Run {
    Session s;
    const char *command;        // "run"
    // Before the program's first line; or NULL. Not with --sweep.
    void (*begin)(Run *r);
    // Judges one case and reports it; the exit code it causes.
    ExitCode (*judge_case)(Run *r, const RunCase *rc);
    // Or, for what needs no tensors.
    ExitCode (*kernel_only)(Run *r, KernelObject *k, Text sweep);
    // After a script, for what only recorded its kernels; or NULL.
    void (*after_script)(Run *r);
    VerdictOptions judge;
    CaseOptions files;          // --in, --out, --expect
    ProgressLine line;
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
    RunWatch watch;
    bool watches;
    bool asked;                 // by --check; else what costs little warns
    Launched *launched;         // with --json
    int launched_count;
};

// cmd_run.c
// Reads the file, and judges what the command line asks for.
int run_command(Run *r, Cli *c, HostOptions *options);
ExitCode run_judge(Run *r, const RunCase *rc);
void run_report_findings(Run *r, const InterpResult *run);
void run_show_printed(const Run *r, const InterpResult *run);
void run_count_outputs(Run *r, const LaunchCase *c, const Verdict *v);

// run_launched.c
void run_note_launched(Run *r, const KernelObject *k, const InterpResult *run);
void run_json_launched(Run *r);     // as "launched"; forgets them

// run_options.c
void run_read_options(Run *r, Cli *c);
Numerics run_numerics(const Cli *c);    // of --numerics, which is given
// --print and --block against the kernel: false after reporting.
bool run_check_prints(Run *r, const IrKernel *k);
#endif
