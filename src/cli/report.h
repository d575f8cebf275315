// report.h - what `run` prints about a launch, for people and as JSON.
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "check/check.h"
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
    const struct LdsReport *targets;    // of --target, or NULL
    bool script;                // which has a last line of its own
    const char *subject;        // what is judged; NULL: "the program as written"
    bool limited;               // some of them were made in part
    unsigned watched, wrong;    // of --check: checks made, and with findings
    int64_t found;
    ExitCode exit;
} RunReport;

void report_text(TextBuf *out, const RunReport *r);
void report_json(Json *out, const RunReport *r);
// Members of an output; of a kernel: name, place, arguments.
void report_json_output(Json *out, const RunReport *r, const OutputVerdict *o);
void report_json_kernel(Json *out, const Cli *cli, const KernelObject *k);
// file, line and column; nothing for a place that is none.
void report_json_place(Json *out, const Cli *c, Span at);
// One line of a sweep; and of a launch that was not made.
void report_line(TextBuf *out, const RunReport *r);
void report_line_not_run(TextBuf *out, ExitCode code, Text sweep);
void report_json_not_run(Json *out, ExitCode code, Text sweep);
// An output's rows; the last line; "12.3 GFLOP": x in steps of 1000 or 1024.
void report_output(TextBuf *out, const RunReport *r, const OutputVerdict *o);
void report_last_line(TextBuf *out, const RunReport *r);
void report_scaled(TextBuf *out, double x, double step,
                   const char *const *unit);
// Starts a row below an output; `*line` is where it begins.
void report_row(TextBuf *out, size_t *line, const char *name,
                const char *what);
void report_row_limit(TextBuf *out, size_t line, const char *verdict,
                      double limit);
// report_head.c: what was run, on what.
void report_head(TextBuf *out, const RunReport *r);
// How well the arithmetic of T.gemm is known, in words.
const char *report_basis(const Device *d, Basis b);
// "fa.tile:57 main", and the first line of a report, which goes on with
// "   heads 8 ...   tile 128x64, 256 threads".
void report_name(TextBuf *out, const Cli *c, const IrKernel *ir);
void report_kernel(TextBuf *out, const Cli *c, const KernelObject *k);
// report_targets.c: budget, conflicts and occupancy of each target.
void report_targets(TextBuf *out, const RunReport *r);
void report_targets_json(Json *out, const RunReport *r);
// report_mismatch.c: a wrong output, like a diff.
void report_mismatch(TextBuf *out, const OutputVerdict *o, Text reference);
// Blanks up to column `width`, at least one, of the line that starts at byte
// `line`.
void report_column(TextBuf *out, size_t line, int width);
void report_index(TextBuf *out, const OutputVerdict *o, const int64_t *index);
// "diagnostics": everything that was printed to stderr.
void report_diagnostics(Json *out, const Cli *c);
#endif
