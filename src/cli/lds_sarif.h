// lds_sarif.h - what lds-report finds, for code scanning.
#ifndef CLI_LDS_SARIF_H
#define CLI_LDS_SARIF_H

#include "cli/lds_report.h"
#include "cli/sarif.h"

// What does not fit, and accesses with bank conflicts.
void lds_sarif_kernel(SarifLog *s, const LdsReport *r);
#endif
