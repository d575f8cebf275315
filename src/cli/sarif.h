// sarif.h - findings for code scanning (SARIF 2.1.0).
#ifndef CLI_SARIF_H
#define CLI_SARIF_H

#include "cli/cli.h"
#include "support/json.h"

typedef struct {
    const Cli *cli;
    TextBuf out;
    Json json;
    Map rules;                  // ids that results have
    Map told;                   // places and ids of errors that are in it
} SarifLog;

// Another place of a result.
typedef struct {
    Span at;
    Text message;
} SarifPlace;

void sarif_begin(SarifLog *s, const Cli *c);
// level: "error", "warning" or "note".
void sarif_result(SarifLog *s, const char *rule, const char *level, Span at,
                  Text message);
// The same, with other places; those without a file are left out.
void sarif_result_with(SarifLog *s, const char *rule, const char *level,
                       Span at, Text message, const SarifPlace *other,
                       int count);
// The error is in the log: sarif_end leaves it out.
void sarif_told(SarifLog *s, const char *rule, Span at);
// What was reported as an error, too.
void sarif_end(SarifLog *s);
#endif
