// lds_html.h - lds-report as one page for a browser, without scripts.
#ifndef CLI_LDS_HTML_H
#define CLI_LDS_HTML_H

#include "cli/lds_report.h"

void lds_html_begin(TextBuf *out, const char *title);
void lds_html_kernel(TextBuf *out, const LdsReport *r);
void lds_html_end(TextBuf *out);
#endif
