// lds_report.h - the shared memory of a kernel on several targets, as rows.
#ifndef CLI_LDS_REPORT_H
#define CLI_LDS_REPORT_H

#include "cli/session.h"
#include "device/occupancy.h"
#include "host/conflicts.h"
#include "plan/plan.h"
#include "sim_lds/ledger.h"
#include "sim_lds/order.h"
#include "support/json.h"

enum { LDS_BARRIER_BYTES = 8 };         // of an mbarrier

// One buffer, or the workspaces of all reductions together, by target.
typedef struct {
    IrBuffer *ir;                       // NULL: the workspaces
    const PlanBuffer *at[DEVICE_COUNT]; // NULL: none there
    int64_t bytes[DEVICE_COUNT];
} LdsRow;

// A launch of the kernel on a target.
typedef struct {
    const PlanLaunch *plan;
    int64_t bytes;                      // all that counts against the limit
    int barriers;                       // mbarriers: the kernel's own and a
                                        // pipeline's
    int threads;                        // with those that feed a pipeline
    int registers;                      // a thread's share of all fragments
    Occupancy occupancy;                // at most: registers are not counted
    int needed, most;                   // registers of a thread, an estimate;
                                        // and what it can have
    int resident;                       // blocks with so many
    bool fits;
    const CountLaunch *counts;          // of every access
    Ledger ledger;
    Order order;                        // of blocks
} LdsTarget;

typedef struct {
    int index;                          // of the launch
    const IrStmt *stmt;
    int64_t grid[IR_MAX_GRID];
    int64_t blocks;                     // -1: sizes are not constant
    LdsRow *rows;
    int row_count;
    LdsTarget target[DEVICE_COUNT];
} LdsLaunch;

typedef struct LdsReport {
    const Cli *cli;
    const KernelObject *kernel;
    const Device *const *devices;
    int device_count;
    const Plan *plan[DEVICE_COUNT];
    LdsLaunch *launches;
    int launch_count;
    bool fits;                          // every launch on every target
    Counts counts;                      // how often what runs
    const struct LdsAdvice *advice;     // where it does not fit
    int advice_count;
    const struct LdsLayout *layouts;    // with fewer conflicts
    int layout_count;
    const CountLaunch *advised[DEVICE_COUNT];   // with all of these; or NULL
} LdsReport;

// False after reporting why there is no plan. `options` has the sizes.
bool lds_report_make(Cli *c, KernelObject *k, const Device *const *devices,
                     int count, const CaseOptions *options, LdsReport *out);
// The two halves of it: plans, and what r->counts say.
bool lds_report_plan(const Cli *c, KernelObject *k,
                     const Device *const *devices, int count, LdsReport *out);
void lds_report_count(LdsReport *r);
void lds_report_free(LdsReport *r);
// Of all launches on a target: what its counter of bank conflicts would show.
int64_t lds_conflicts(const LdsReport *r, int target);
// --count.
CountWay lds_count_way(const Cli *c);
// lds_portability.c: what differs between the targets.
void lds_portability_text(TextBuf *out, const LdsReport *r);
// lds_expect.c: reports each "# tilesim: expect ..." of a file that fails.
void lds_check_budgets(const LdsReport *r, uint32_t file);
// lds_conflicts.c: a line for every access.
void lds_conflicts_text(TextBuf *out, const LdsReport *r, const LdsLaunch *l,
                        int target);
void lds_conflicts_json(Json *out, const LdsReport *r, const CountLaunch *l,
                        const Device *d);
// lds_ledger.c: where the cycles go.
void lds_ledger_text(TextBuf *out, const LdsReport *r, const LdsLaunch *l,
                     int target);
void lds_ledger_json(Json *out, const LdsReport *r, const LdsTarget *t);
// lds_order.c: what blocks at a time read, with T.use_swizzle and without.
void lds_order_text(TextBuf *out, const LdsReport *r, const LdsLaunch *l);
void lds_order_json(Json *out, const LdsTarget *t);
// "7.8 us"
void lds_put_us(TextBuf *out, double us);
// What a launch of a plan takes, and how many blocks are resident.
LdsTarget lds_target(const Plan *p, const PlanLaunch *l);
void lds_report_rules(TextBuf *out, PlanRules rules);
void lds_report_text(TextBuf *out, const LdsReport *r);
// `file`: of several, or NULL.
void lds_report_json(Json *out, const LdsReport *r, const char *file);
// "launches", each with its targets.
void lds_launches_json(Json *out, const LdsReport *r);
// The members of an object that describe a target without its buffers.
void lds_target_json(Json *out, const LdsTarget *t, const Device *d);
// The source line of a place; 0: nowhere.
int lds_line(const Cli *c, Span at);
// Does num_stages stay without effect on this target?
bool lds_stages_idle(const LdsReport *r, const Device *d);
#endif
