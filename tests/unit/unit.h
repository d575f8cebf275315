// unit.h - what every unit test program shares.
//
// A program prints TAP, one line a test. Tests run in one process: a child of
// a process that has used OpenMP would hang at its first parallel region.
#ifndef UNIT_H
#define UNIT_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/support.h"

// Runs the suite and frees it; the return value of main.
static inline int unit_run(Suite *s)
{
    SRunner *runner = srunner_create(s);
    int failed;

    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

// A file of the source tree: unit_path(a, "tests/data/x.npy").
static inline const char *unit_path(Arena *a, const char *name)
{
    const char *top = getenv("abs_top_srcdir");

    return text_format(a, "%s/%s", top ? top : ".", name).at;
}

// Everything `f` was given since it was opened with unit_capture(); for tests
// of what is printed. The text lives in `a`.
static inline FILE *unit_capture(void)
{
    FILE *f = tmpfile();

    ck_assert_ptr_nonnull(f);
    return f;
}

static inline Text unit_captured(Arena *a, FILE *f)
{
    size_t len = (size_t)ftell(f);
    char *at = arena_alloc(a, len + 1, 1);

    rewind(f);
    ck_assert_uint_eq(fread(at, 1, len, f), len);
    fclose(f);
    return (Text){at, len};
}
#endif
