// lds_sarif.h - what lds-report finds, for code scanning (SARIF 2.1.0).
#ifndef CLI_LDS_SARIF_H
#define CLI_LDS_SARIF_H

#include "cli/lds_report.h"

typedef struct {
    const Cli *cli;
    TextBuf out;
    Json json;
    Map rules;                  // ids that results have
} LdsSarif;

void lds_sarif_begin(LdsSarif *s, const Cli *c);
// What does not fit, and accesses with bank conflicts.
void lds_sarif_kernel(LdsSarif *s, const LdsReport *r);
// What was reported as an error, too.
void lds_sarif_end(LdsSarif *s);
#endif
