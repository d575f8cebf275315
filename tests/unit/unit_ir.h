// unit_ir.h - a kernel to build in, and what was reported while doing so.
#ifndef UNIT_IR_H
#define UNIT_IR_H

#include <string.h>

#include "ir/ir.h"
#include "unit.h"

static Arena *arena;
static const OpTable *ops;
static SourceSet *sources;
static Diag *diag;
static FILE *silent;
static IrKernel *k;

static const Span nowhere;

static inline void ir_setup(void)
{
    arena = arena_create();
    ops = op_table_create(arena);
    sources = sources_create();
    silent = fopen("/dev/null", "w");
    ck_assert_ptr_nonnull(silent);
    diag = diag_create(sources, silent, false);
    k = ir_kernel(arena, ops, diag, TEXT("main"), nowhere);
}

static inline void ir_teardown(void)
{
    diag_destroy(diag);
    fclose(silent);
    sources_destroy(sources);
    arena_destroy(arena);
}

// The message reported last, "" when none was.
static inline Text last_message(void)
{
    const DiagEntry *entries;
    int n = diag_entries(diag, &entries);
    while (n > 0 && entries[n - 1].level == DIAG_NOTE)
        n--;
    return n ? entries[n - 1].message : (Text){0};
}

static inline const char *last_id(void)
{
    const DiagEntry *entries;
    int n = diag_entries(diag, &entries);
    while (n > 0 && entries[n - 1].level == DIAG_NOTE)
        n--;
    return n ? entries[n - 1].id : "";
}

static inline bool text_holds(Text text, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= text.len; i++)
        if (memcmp(text.at + i, part, n) == 0)
            return true;
    return false;
}

// A kernel read from text, or NULL.
static inline IrKernel *read_text(Text text)
{
    return ir_read(arena, ops, diag, sources,
                   sources_add(sources, "test.ir", text));
}

static inline Text printed(const IrKernel *kernel)
{
    TextBuf b = {0};
    for (; kernel; kernel = kernel->next)
        ir_print(&b, sources, kernel);
    Text t = text_copy(arena, buf_view(&b));
    buf_release(&b);
    return t;
}

static inline Text expr_text(const IrExpr *e)
{
    TextBuf b = {0};
    ir_print_expr(&b, e);
    Text t = text_copy(arena, buf_view(&b));
    buf_release(&b);
    return t;
}
#endif
