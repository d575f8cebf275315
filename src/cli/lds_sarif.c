// lds_sarif.c - what lds-report finds, for code scanning.
#include "cli/lds_sarif.h"

#include "cli/lds_advice.h"

static void put_overrun(SarifLog *s, const LdsReport *r, const LdsLaunch *l,
                        int target)
{
    const Device *d = r->devices[target];
    int64_t bytes = l->target[target].bytes;
    TextBuf b = {0};

    buf_printf(&b, "a block of '%.*s' takes ", TEXT_ARG(r->kernel->ir->name));
    buf_grouped(&b, bytes);
    buf_puts(&b, " bytes of shared memory on ");
    buf_printf(&b, "%s, ", d->name);
    buf_grouped(&b, bytes - d->smem_block);
    buf_puts(&b, " more than it has");
    if (r->advice_count) {
        buf_puts(&b, "; it fits with ");
        lds_advice_line(&b, &r->advice[0]);
        buf_puts(&b, " (lds-report --fix 1)");
    }
    sarif_result(s, "lds-no-fit", "error", l->stmt->at, buf_view(&b));
    buf_release(&b);
}

// What removes it, where there is something.
static void put_layout_advice(TextBuf *b, const LdsReport *r,
                              const IrBuffer *buffer)
{
    for (int i = 0; i < r->layout_count; i++) {
        if (r->layouts[i].buffer != buffer)
            continue;
        buf_puts(b, "; fewer with ");
        lds_layout_line(b, &r->layouts[i]);
        buf_printf(b, " (lds-report --fix %d)", i + 1);
    }
}

static void put_conflict(SarifLog *s, const LdsReport *r, const CountAccess *a,
                         const Device *d)
{
    static const char *const ways[] = {"reads", "writes", "updates"};
    Text name = a->move->buffer ? a->move->buffer->name : TEXT("a reduction");
    TextBuf b = {0};

    buf_printf(&b, "%s of '%.*s' meet in a bank on %s, %d at a time: ",
               ways[a->move->way], TEXT_ARG(name), d->name, (int)a->ways);
    buf_grouped(&b, a->sum.conflicts);
    buf_puts(&b, " extra cycles");
    put_layout_advice(&b, r, a->move->buffer);
    sarif_result(s, "lds-conflict", "warning", a->move->at, buf_view(&b));
    buf_release(&b);
}

void lds_sarif_kernel(SarifLog *s, const LdsReport *r)
{
    for (int i = 0; i < r->launch_count; i++)
        for (int t = 0; t < r->device_count; t++) {
            const LdsTarget *own = &r->launches[i].target[t];

            if (!own->fits)
                put_overrun(s, r, &r->launches[i], t);
            for (int k = 0; k < own->counts->count; k++)
                if (own->counts->at[k].is_shared &&
                    own->counts->at[k].sum.conflicts > 0)
                    put_conflict(s, r, &own->counts->at[k], r->devices[t]);
        }
}
