// check_report.h - findings as people, editors and machines read them.
#ifndef CLI_CHECK_REPORT_H
#define CLI_CHECK_REPORT_H

#include "check/check.h"
#include "cli/cli.h"
#include "cli/sarif.h"
#include "host/host.h"

// What the user wants to hear of.
typedef struct {
    CheckLevel level[FINDING_COUNT];
    unsigned groups;
} CheckWishes;

// Reads the list of checks of option `o`, and -W; exits 2 on a name that is
// none.
void check_wishes(const Cli *c, OptionId o, CheckWishes *w);
// What costs a run little, as warnings; what interp finds by itself is left out.
void check_default_wishes(CheckWishes *w);

// A cause that was told, by what was told of it first.
typedef struct {
    CheckCause cause;           // as the findings name it
    FindingId id;
    Span at;
} ToldCause;

typedef struct {
    uint32_t file;
    int line;
} CommentPlace;

typedef struct {
    Cli *cli;
    CheckWishes wishes;
    Json *json;                 // inside "findings", or NULL
    SarifLog *sarif;            // or NULL
    bool one_line;
    int errors, warnings, suppressed;
    unsigned wrong;             // 1 << CHECK_...: which had an error
    CheckFindings *kept;        // the errors that were told, or NULL
    struct {
        ToldCause *at;
        int len, room;
    } causes;
    struct {
        CommentPlace *at;
        int len, room;
    } used;                     // comments that silenced something
} CheckReport;

// The name of a check or finding that a wrong one may mean, or "".
Text check_nearest(Text name);

// check_comments.c
bool check_is_silenced(CheckReport *r, const CheckFinding *f);
// Warns of comments that cannot count; how many others silenced nothing.
int check_comments(const CheckReport *r, uint32_t file);

// Tells what of the findings is wanted and not suppressed in the source; a
// finding at a place that was told before only counts.
void check_report(CheckReport *r, const KernelObject *k,
                  const CheckFindings *found);

// check_json.c
void check_finding_json(Json *j, const Cli *c, const KernelObject *k,
                        const CheckFinding *f, CheckLevel level, int cause);
#endif
