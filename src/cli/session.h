// session.h - a program file opened for a command: its kernels as a list.
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "cli/cli.h"
#include "host/launch.h"

typedef struct {
    Cli *cli;
    Host *host;
    const char *path;
    uint32_t file;
    bool is_ir;                 // a dump of the IR, read back
    NamedText *defines;         // -D
    int define_count;
    Natives *natives;           // --extern
} Session;

// What is targeted without --target: whose arithmetic --numerics asks for.
const char *session_target(const Cli *c);
// The plan's rules by --as.
PlanRules session_rules(const Cli *c, PlanRules fallback);
// Reads the file and makes the host. False after reporting.
bool session_open(Session *s, Cli *c, HostOptions *options);
// The same of one file of several.
bool session_open_file(Session *s, Cli *c, HostOptions *options,
                       const char *path);
void session_close(Session *s);
// Does the command line ask for launches of its own: -D, --kernel, --sweep...?
bool session_asks(const Session *s);
// Does it, or is there no script to run?
bool session_is_launch(const Session *s);
// Runs the file as a module, without its __main__ part.
bool session_load(Session *s);
// Runs the file as a script.
bool session_script(Session *s);
// The kernel that --kernel and -D choose. NULL after reporting.
KernelObject *session_kernel(Session *s, const CaseOptions *options);
// NAME=VALUE options as pairs.
NamedText *session_pairs(const Cli *c, OptionId o, int *count);
// What the run is worth so far: diagnostics, Ctrl-C, timeout.
ExitCode session_exit(const Session *s);
#endif
