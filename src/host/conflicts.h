// conflicts.h - how often every access of a kernel runs, and what that costs.
#ifndef HOST_CONFLICTS_H
#define HOST_CONFLICTS_H

#include "host/launch.h"
#include "sim_lds/count.h"

// Where the numbers of executions come from. A full run is needed where the
// control flow or an address reads what the kernel computes; QUICK is the best
// but that.
typedef enum {
    COUNT_BEST, COUNT_CLOSED, COUNT_WALK, COUNT_RUN, COUNT_QUICK,
    COUNT_WAY_COUNT
} CountWay;
const char *count_way_name(CountWay w);     // "closed", "walk", "run" ...

typedef struct {
    CountWay way;                   // that was gone
    bool by_data;                   // tiles decide what runs
    const char *unknown;            // why there are no counts, or NULL
    const SourceSet *sources;
    const Code *code;
    int64_t *sizes;                 // by variable id
    CountEvents *events;            // NULL: closed
} Counts;

// Sizes and code, for closed expressions alone; is nothing known, `unknown`
// says why.
void counts_begin(Host *h, KernelObject *k, const CaseOptions *options,
                  Counts *out);
// The counter of a plan by closed expressions, or NULL where there are none.
// Any thread may ask.
Counter *counts_closed(const Counts *c, Arena *a, const Plan *p);
// False after reporting: inputs that cannot be made, an error while running.
bool counts_make(Host *h, KernelObject *k, const Plan *const *plans, int n,
                 const CaseOptions *options, CountWay way, Counts *out);
// Whether a run can be counted; code of single threads cannot.
bool counts_are_known(KernelObject *k);
// For a run that somebody else makes: events are to go to out->events. False
// after reporting what cannot be lowered.
bool counts_for_run(KernelObject *k, const Plan *const *plans, int n,
                    const KernelArg *args, Counts *out);
// The counter of one of the plans, or of one that differs in layouts alone.
Counter *counts_of(const Counts *c, Arena *a, const Plan *p);
void counts_release(Counts *c);
#endif
