// fuzz_ir.c - any bytes to the reader of the IR's text form. What it accepts
// must print and read back to the same text.
#include <stdlib.h>

#include "ir/ir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static TextBuf print_all(const SourceSet *sources, const IrKernel *k)
{
    TextBuf b = {0};
    for (; k; k = k->next)
        ir_print(&b, sources, k);
    return b;
}

static void round_trip(Arena *a, const OpTable *ops, Diag *d,
                       SourceSet *sources, const IrKernel *k)
{
    TextBuf first = print_all(sources, k);
    uint32_t file = sources_add(sources, "again.ir", buf_view(&first));
    const IrKernel *again = ir_read(a, ops, d, sources, file);
    if (!again)
        BUG("a dump does not read back");
    TextBuf second = print_all(sources, again);
    if (!text_eq(buf_view(&first), buf_view(&second)))
        BUG("a dump reads back to something else");
    buf_release(&first);
    buf_release(&second);
}

// The table is the same for every input.
static const OpTable *op_table(void)
{
    static Arena *arena;
    static const OpTable *table;
    if (!arena) {
        arena = arena_create();
        table = op_table_create(arena);
    }
    return table;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *a = arena_create();
    SourceSet *sources = sources_create();
    FILE *silent = fopen("/dev/null", "w");
    if (!silent)
        abort();
    Diag *d = diag_create(sources, silent, false);
    const OpTable *ops = op_table();
    Text text = {(const char *)data, size};
    uint32_t file = sources_add(sources, "fuzz.ir", text);
    const IrKernel *k = ir_read(a, ops, d, sources, file);
    if (k)
        round_trip(a, ops, d, sources, k);
    diag_destroy(d);
    fclose(silent);
    sources_destroy(sources);
    arena_destroy(a);
    return 0;
}
