// lds_compare.h - two reports of lds-report, and what differs between them.
#ifndef CLI_LDS_COMPARE_H
#define CLI_LDS_COMPARE_H

#include "cli/cli.h"
#include "support/json.h"

struct cJSON;

// Something that one of the two has not: LDS_NONE.
typedef struct {
    enum { LDS_NONE, LDS_NUMBER, LDS_WORD, LDS_BOOL } kind;
    double number;                      // or a bool
    const char *word;
} LdsValue;

typedef struct {
    const struct cJSON *kernel;
    int launch, launch_count;
    const char *target;                 // NULL: of the launch
    const struct cJSON *access;         // NULL: of the target
    const char *key;
    const char *label;                  // NULL: only one of the two has it
    LdsValue before, after;
} LdsDifference;

typedef struct {
    Cli *cli;
    const char *path;                   // of the earlier document
    struct cJSON *before, *after;
    LdsDifference *at;
    int count;
} LdsComparison;

// Reads what --compare names. False after reporting.
bool lds_compare_open(LdsComparison *w, Cli *c);
// The document of this run, as --json prints it.
void lds_compare_with(LdsComparison *w, Text document);
void lds_compare_text(TextBuf *out, const LdsComparison *w);
// "compared_with" and "differences".
void lds_compare_json(Json *out, const LdsComparison *w);
// Of an object: a member that is a text ("": none); the line of an access.
const char *lds_string(const struct cJSON *j, const char *key);
int lds_access_line(const struct cJSON *access);
void lds_compare_close(LdsComparison *w);
#endif
