// progress.h - a line on the terminal for what takes long.
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli/cli.h"

typedef struct {
    bool on, shown;
    double started, last;
} ProgressLine;

// From now on; nothing is shown in the first half second, with -q, or where
// stderr is no terminal.
void progress_start(ProgressLine *p, const Cli *c);
// VerdictOptions.progress: `what` alone where total is 0.
void progress_tell(void *line, const char *what, int64_t done, int64_t total);
// InterpOptions.progress: of blocks.
void progress_blocks(void *line, int64_t done, int64_t total);
void progress_end(ProgressLine *p);
#endif
