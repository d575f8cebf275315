// isa_cycles.c - the estimate of time of a kernel's machine code.
#include "cli/isa_orders.h"
#include "cli/json_keys.h"
#include "device/occupancy.h"

int isa_resident(const GfxKernel *k, int threads, int dynamic_lds)
{
    BlockNeeds b = {.threads = threads, .registers = k->vgprs - k->agprs,
                    .acc_registers = k->agprs,
                    .smem = (int64_t)dynamic_lds + k->lds_bytes, .barriers = 1};

    return device_occupancy(device_find(TEXT("mi300x")), &b).blocks;
}

void isa_put_cycles(TextBuf *b, const GfxCycles *c)
{
    buf_puts(b, "estimate: a workgroup every ");
    buf_grouped(b, gfx_cycles_each(c));
    buf_printf(b, " cycles of a compute unit, which holds %d; matrix "
               "utilisation %.2f%s\n", c->groups, gfx_matrix_utilisation(c),
               c->cut ? "; the beginning alone, 1,048,576 instructions a wave"
                      : "");
}

static double of(int64_t part, int64_t units, int64_t cycles)
{
    return units && cycles ? 100.0 * (double)part / (double)(units * cycles)
                           : 0;
}

void isa_put_cycle_table(TextBuf *b, const GfxCycles *c)
{
    int64_t sum = 0;

    for (int t = 0; t < GFX_TIMES; t++)
        sum += c->wave[t];
    buf_printf(b, "  busy: matrix units %.1f %%, vector units %.1f %%, LDS "
               "ports %.1f %%\n  of a wave's time (estimate):\n",
               of(c->matrix, GFX_SIMDS, c->cycles),
               of(c->valu, GFX_SIMDS, c->cycles),
               of(c->lds, GFX_LDS_PORTS, c->cycles));
    for (int t = 0; t < GFX_TIMES; t++)
        if (c->wave[t])
            buf_printf(b, "  %7.1f %%  %s\n", of(c->wave[t], 1, sum),
                       gfx_time_name((GfxTime)t));
}

void isa_json_cycles(Json *out, const GfxCycles *c)
{
    json_key(out, TEXT("cycles"));
    json_begin_object(out);
    key_text(out, "basis", TEXT("estimate"));
    key_int(out, "cycles", c->cycles);
    key_int(out, "workgroup_cycles", gfx_cycles_each(c));
    key_int(out, "workgroups", c->groups);
    key_int(out, "waves", c->waves);
    key_number(out, "matrix_utilisation", gfx_matrix_utilisation(c));
    key_int(out, "matrix_busy", c->matrix);
    key_int(out, "vector_busy", c->valu);
    key_int(out, "lds_busy", c->lds);
    key_bool(out, "cut", c->cut);
    json_key(out, TEXT("of_waves"));
    json_begin_object(out);
    for (int t = 0; t < GFX_TIMES; t++)
        key_int(out, gfx_time_key((GfxTime)t), c->wave[t]);
    json_end_object(out);
    json_end_object(out);
}
