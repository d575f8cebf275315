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
} SarifLog;

void sarif_begin(SarifLog *s, const Cli *c);
// level: "error", "warning" or "note".
void sarif_result(SarifLog *s, const char *rule, const char *level, Span at,
                  Text message);
// What was reported as an error, too.
void sarif_end(SarifLog *s);
#endif
