// lds_html_int.h - parts of the page that lds-report writes.
#ifndef CLI_LDS_HTML_INT_H
#define CLI_LDS_HTML_INT_H

#include "cli/lds_report.h"

void lds_html_escaped(TextBuf *out, Text t);
// lds_html_map.c: which lanes meet in which bank, access by access; where there
// is advice, as it is and as it would be.
void lds_html_maps(TextBuf *out, const LdsReport *r, int launch, int target);
#endif
