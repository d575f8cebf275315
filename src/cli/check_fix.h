// check_fix.h - repairs of a source where only one can be meant.
#ifndef CLI_CHECK_FIX_H
#define CLI_CHECK_FIX_H

#include "check/check.h"

// What became of a changed source: all its launches under all checks.
typedef struct {
    bool ran;                   // and staged
    int errors;
    bool judged, right;         // held against the program's reference
} CheckTrial;
typedef CheckTrial CheckAgain(void *ctx, Text source);

// The source of `file` less the findings that can be repaired, of `errors` in
// all. A repair is taken when the checks find less for it, the reference agrees,
// and no other place for it does the same. *fixed: how many.
Text check_repair(Arena *a, const SourceSet *sources, uint32_t file,
                  const CheckFindings *found, int errors, CheckAgain *again,
                  void *ctx, int *fixed);
#endif
