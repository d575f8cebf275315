// watch.h - launches under watch: a Check around a run, and what it says.
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include "cli/check_report.h"
#include "host/launch.h"

// An output that a kernel left in part; the script's next may fill it.
typedef struct {
    const KernelObject *kernel;
    CheckFinding finding;
    const void *storage;
} LeftOutput;

typedef struct {
    CheckReport report;
    Host *host;
    Check *running;
    const KernelArg *args;      // of a script's launch, else NULL
    struct {
        LeftOutput *at;
        int len, room;
    } pending;
    int launches;
    int limited;                // launches that were looked at in part
    bool asked;                 // by the user: what is left out is an error
} RunWatch;

// Before a run of the kernel's code in `mode`: sets run's observer. empty[i]:
// the parameter comes without contents. Nothing is watched where it cannot be.
void watch_begin(RunWatch *w, KernelObject *k, CodeMode mode, const bool *empty,
                 bool some_blocks, const struct InterpObserver **observer);
// After it: tells what was found.
void watch_end(RunWatch *w, KernelObject *k, const KernelArg *args,
               const InterpResult *r);
// The same for a launch of a script: HostOptions.watching and .launched.
void watch_launch(RunWatch *w, KernelObject *k, const KernelArg *args,
                  const bool *given, InterpOptions *run);
void watch_launched(RunWatch *w, const KernelObject *k, const InterpResult *r);
// At the script's end: what no later launch made good.
void watch_settle(RunWatch *w);
// Which parameters of a case come without contents.
const bool *watch_empty(RunWatch *w, const LaunchCase *c);
#endif
