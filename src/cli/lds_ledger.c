// lds_ledger.c - where the cycles of a launch go on a target.
#include "cli/lds_report.h"
#include "cli/report.h"

enum { COL_TIMES = 44, COL_PIPE = 54, WIDTH = 11 };

static void put_cell(TextBuf *b, size_t line, int column, double n)
{
    TextBuf t = {0};

    buf_grouped(&t, (int64_t)(n + 0.5));
    report_column(b, line, column - (int)t.len);
    buf_text(b, buf_view(&t));
    buf_release(&t);
}

static void put_head(TextBuf *b, const Device *d)
{
    static const char *const words[] = {"matrix", "exp", "ALU", "shared", "L2"};
    size_t line = b->len;

    buf_printf(b, "  cycles of %s (estimate)",
               d->vendor == VENDOR_AMD ? "a CU" : "an SM");
    report_column(b, line, COL_TIMES - 5);
    buf_puts(b, "times");
    for (int p = 0; p < PIPE_COUNT; p++) {
        report_column(b, line, COL_PIPE + p * WIDTH - (int)text_of(words[p]).len);
        buf_puts(b, words[p]);
    }
    buf_addc(b, '\n');
}

static void put_row(TextBuf *b, const char *name, int line_number,
                    const double *cycles, int64_t times)
{
    size_t line = b->len;

    buf_printf(b, "  %s", name);
    if (line_number)
        buf_printf(b, " :%d", line_number);
    put_cell(b, line, COL_TIMES, (double)times);
    for (int p = 0; p < PIPE_COUNT; p++)
        put_cell(b, line, COL_PIPE + p * WIDTH,
                 times ? cycles[p] / (double)times : 0);
    buf_addc(b, '\n');
}

void lds_put_us(TextBuf *b, double us)
{
    if (us < 10)
        buf_printf(b, "%.1f us", us);
    else if (us < 1000)
        buf_printf(b, "%.0f us", us);
    else
        buf_printf(b, "%.2f ms", us / 1000);
}

static void put_floor(TextBuf *b, const Ledger *l, const Device *d)
{
    buf_printf(b, "  %s binds: ", pipe_name(l->binds));
    lds_put_us(b, l->floor_us);
    buf_puts(b, " at least if all overlap, ");
    lds_put_us(b, l->serial_us);
    buf_puts(b, " if nothing does; HBM ");
    lds_put_us(b, l->hbm_bytes / ((double)d->memory_rate * 1e3));
    buf_addc(b, '\n');
}

static void put_blocks(TextBuf *b, const Ledger *l)
{
    if (l->idle > 0)
        buf_printf(b, "  %lld of %lld blocks find no work\n",
                   (long long)l->idle, (long long)l->blocks);
    if (l->longest > 1.05)
        buf_printf(b, "  the longest block takes %.2f of the average\n",
                   l->longest);
}

static void put_narrow(TextBuf *b, const LdsReport *r, const Ledger *l)
{
    const PlanMove *v = l->narrowest ? l->narrowest->move : NULL;

    if (l->narrow < 0.1 || !v)
        return;
    buf_printf(b, "  %.0f %% of shared memory's cycles are reads of %d byte%s: "
               "%.*s", 100 * l->narrow, v->bytes, v->bytes == 1 ? "" : "s",
               TEXT_ARG(v->buffer->name));
    if (lds_line(r->cli, v->at))
        buf_printf(b, " :%d", lds_line(r->cli, v->at));
    buf_addc(b, '\n');
}

void lds_ledger_text(TextBuf *b, const LdsReport *r, const LdsLaunch *launch,
                     int target)
{
    const Ledger *l = &launch->target[target].ledger;
    const Device *d = r->devices[target];

    if (r->counts.unknown || !l->row_count)
        return;
    put_head(b, d);
    for (int i = 0; i < l->row_count; i++) {
        const LedgerRow *row = &l->rows[i];

        put_row(b, row->loop ? "a trip of the loop" : "outside of loops",
                row->loop ? lds_line(r->cli, row->loop->at) : 0, row->cycles,
                row->trips);
    }
    if (l->blocks > 0)
        put_row(b, "a block, on average", 0, l->cycles, l->blocks);
    if (l->serial_us > 0)
        put_floor(b, l, d);
    put_blocks(b, l);
    put_narrow(b, r, l);
    if (l->partial)
        buf_puts(b, "  what is not counted above is missing here\n");
}

// ---- for machines ----------------------------------------------------------

static const char *key_of(Pipe p)
{
    static const char *const keys[] = {"matrix", "exp", "alu", "shared", "l2",
                                       "hbm"};
    return keys[p];
}

static void json_cycles(Json *j, const double *cycles)
{
    for (int p = 0; p < PIPE_COUNT; p++) {
        json_key(j, text_of(key_of(p)));
        json_number(j, cycles[p]);
    }
}

static void json_rows(Json *j, const LdsReport *r, const Ledger *l)
{
    json_key(j, TEXT("loops"));
    json_begin_array(j);
    for (int i = 0; i < l->row_count; i++) {
        const LedgerRow *row = &l->rows[i];

        json_begin_object(j);
        if (row->loop && lds_line(r->cli, row->loop->at)) {
            json_key(j, TEXT("line"));
            json_int(j, lds_line(r->cli, row->loop->at));
        }
        json_key(j, TEXT("trips"));
        json_int(j, row->trips);
        json_cycles(j, row->cycles);
        json_end_object(j);
    }
    json_end_array(j);
}

void lds_ledger_json(Json *j, const LdsReport *r, const LdsTarget *t)
{
    const Ledger *l = &t->ledger;

    if (r->counts.unknown || !l->row_count)
        return;
    json_key(j, TEXT("ledger"));
    json_begin_object(j);
    json_rows(j, r, l);
    json_cycles(j, l->cycles);
    json_key(j, TEXT("hbm_bytes"));
    json_number(j, l->hbm_bytes);
    json_key(j, TEXT("binds"));
    json_string(j, key_of(l->binds));
    json_key(j, TEXT("floor_us"));
    json_number(j, l->floor_us);
    json_key(j, TEXT("serial_us"));
    json_number(j, l->serial_us);
    if (l->idle >= 0) {
        json_key(j, TEXT("idle_blocks"));
        json_int(j, l->idle);
    }
    json_key(j, TEXT("complete"));
    json_bool(j, !l->partial);
    json_key(j, TEXT("basis"));
    json_string(j, basis_name(BASIS_ESTIMATE));
    json_end_object(j);
}
