// report_targets.c - what a run would take on each target of --target.
#include "cli/lds_report.h"
#include "cli/report.h"

// Of all launches: bytes and blocks of the one that takes the most, and sums.
typedef struct {
    int64_t bytes, conflicts, cycles;
    int blocks, unknown;
    bool fits;
} Sum;

static Sum sum_of(const LdsReport *r, int t)
{
    Sum s = {.fits = true};

    for (int i = 0; i < r->launch_count; i++) {
        const LdsTarget *x = &r->launches[i].target[t];

        if (x->bytes > s.bytes || !i) {
            s.bytes = x->bytes;
            s.blocks = x->occupancy.blocks;
        }
        s.fits &= x->fits;
        s.conflicts += x->counts->shared.conflicts;
        s.cycles += x->counts->shared.cycles;
        s.unknown += x->counts->unknown;
    }
    return s;
}

static void put_target(TextBuf *b, const LdsReport *r, int t)
{
    const Device *d = r->devices[t];
    Sum s = sum_of(r, t);
    size_t line = b->len;

    buf_printf(b, "%s", d->name);
    report_column(b, line, 10);
    buf_grouped(b, s.bytes);
    buf_puts(b, " of ");
    buf_grouped(b, d->smem_block);
    buf_printf(b, " bytes%s", s.fits ? "" : ": NO");
    report_column(b, line, 40);
    buf_printf(b, "%d block%s of %s", s.blocks, s.blocks == 1 ? "" : "s",
               d->vendor == VENDOR_AMD ? "a CU" : "an SM");
    report_column(b, line, 59);
    buf_grouped(b, s.conflicts);
    buf_puts(b, " conflicts in ");
    buf_grouped(b, s.cycles);
    buf_puts(b, " cycles");
    if (s.unknown)
        buf_printf(b, ", %d access%s not counted", s.unknown,
                   s.unknown == 1 ? "" : "es");
    buf_addc(b, '\n');
}

void report_targets(TextBuf *b, const RunReport *r)
{
    for (int t = 0; t < r->targets->device_count; t++)
        put_target(b, r->targets, t);
}

void report_targets_json(Json *j, const RunReport *r)
{
    json_key(j, TEXT("plans"));
    json_begin_object(j);
    json_key(j, TEXT("rules"));
    json_string(j, plan_rules_name(PLAN_TILELANG));
    lds_launches_json(j, r->targets);
    json_end_object(j);
}
