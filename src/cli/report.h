// report.h - what `run` prints about a launch, for people and as JSON.
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "cli/cli.h"
#include "host/launch.h"
#include "support/json.h"

typedef struct {
    const Cli *cli;
    Host *host;
    const LaunchCase *c;
    const Verdict *v;
    const char *file;           // as the user gave it
    Text reference;             // its name, "" when none
    Text sweep;                 // "seq_len=1 is_causal=True", or ""
    ExitCode exit;
} RunReport;

void report_text(TextBuf *out, const RunReport *r);
// One line of a sweep.
void report_line(TextBuf *out, const RunReport *r);
void report_json(Json *out, const RunReport *r);
// "diagnostics": everything that was printed to stderr.
void report_diagnostics(Json *out, const Cli *c);
#endif
