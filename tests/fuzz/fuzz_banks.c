// fuzz_banks.c - any bytes as a table of accesses; the first chooses a target.
#include "sim_lds/bank_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_row(const Device *d, const BankRow *row)
{
    TextBuf b = {0};
    BankPass passes[BANK_PASSES];
    BankCount c = bank_count(d, &row->access);
    int n = bank_passes(d, &row->access, passes), ways = 0;
    for (int i = 0; i < n; i++)
        ways += passes[i].ways;
    bool nvidia = d->vendor == VENDOR_NVIDIA;
    if (c.conflicts < 0 || c.cycles < c.conflicts ||
        (nvidia && c.cycles != ways))
        __builtin_trap();
    bank_draw(&b, d, row, false);
    buf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    Arena *a = arena_create();
    SourceSet *s = sources_create();
    Diag *diag = diag_create(s, stderr, false);
    const Device *d = device_at(data[0] % device_count());
    Text text = {(const char *)data + 1, size - 1};
    diag_quiet(diag, true);
    BankRows rows = bank_file_read(a, diag, s, sources_add(s, "fuzz", text), d);
    for (int i = 0; i < rows.len; i++)
        check_row(d, &rows.at[i]);
    diag_destroy(diag);
    sources_destroy(s);
    arena_destroy(a);
    return 0;
}
