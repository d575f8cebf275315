// lds_report_text.c - lds-report on a terminal.
#include <limits.h>

#include "cli/lds_advice.h"
#include "cli/report.h"

enum { LINE_COLUMN = 44, FIRST_COLUMN = 48, COLUMN = 16 };

// ---- cells -----------------------------------------------------------------

// Ends at the right edge of target t's column.
static void cell(TextBuf *b, size_t line, int t, const char *format, ...)
    PRINTF_LIKE(4, 5);
static void cell(TextBuf *b, size_t line, int t, const char *format, ...)
{
    TextBuf text = {0};
    va_list args;

    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    report_column(b, line, FIRST_COLUMN + (t + 1) * COLUMN - (int)text.len);
    buf_text(b, buf_view(&text));
    buf_release(&text);
}

static const char *grouped(Arena *a, int64_t n)
{
    TextBuf b = {0};
    const char *out;

    buf_grouped(&b, n);
    out = text_cstr(a, buf_view(&b));
    buf_release(&b);
    return out;
}

// ---- buffers ---------------------------------------------------------------

static const char *layout_word(const PlanShared *s)
{
    if (!s->address)
        return "";
    return s->swizzle == 8   ? "xor-128"
           : s->swizzle == 4 ? "xor-64"
           : s->swizzle == 2 ? "xor-32"
                             : "own layout";
}

// The layout where it is the same on all targets.
static const char *common_layout(const LdsReport *r, const LdsRow *row)
{
    const char *word = NULL;

    for (int t = 0; t < r->device_count; t++) {
        const char *own = row->at[t] ? layout_word(&row->at[t]->layout) : word;

        if (word && own != word)
            return "layouts differ";
        word = own;
    }
    return word ? word : "";
}

static void put_buffer(TextBuf *b, const LdsReport *r, const LdsRow *row)
{
    Arena *a = r->cli->arena;
    size_t line = b->len;

    if (row->ir) {
        buf_printf(b, "  %.*s", TEXT_ARG(row->ir->name));
        report_column(b, line, 20);
        buf_printf(b, "%s ", dtype_info(row->ir->dtype)->brief);
        for (int d = 0; d < row->ir->rank; d++) {
            int64_t n = 0;

            ir_is_int(row->ir->shape[d], &n);
            buf_printf(b, "%s%lld", d ? "x" : "", (long long)n);
        }
        buf_printf(b, " %s", common_layout(r, row));
        report_column(b, line, LINE_COLUMN);
        if (lds_line(r->cli, row->ir->at))
            buf_printf(b, "%4d", lds_line(r->cli, row->ir->at));
    } else {
        buf_puts(b, "  workspaces of reductions");
    }
    for (int t = 0; t < r->device_count; t++)
        if (!row->at[t])
            cell(b, line, t, "-");
        else if (row->at[t]->copies > 1)
            cell(b, line, t, "%d x %s", row->at[t]->copies,
                 grouped(a, row->bytes[t] / row->at[t]->copies));
        else
            cell(b, line, t, "%s", grouped(a, row->bytes[t]));
    buf_addc(b, '\n');
}

// Where each buffer is, and when, on one target: for -v.
static void put_places(TextBuf *b, const LdsReport *r, const LdsLaunch *l,
                       int t)
{
    const PlanLaunch *p = l->target[t].plan;

    buf_printf(b, "\n  places on %s%s\n", r->devices[t]->name,
               p->buffer_count ? "" : ": none");
    for (int i = 0; i < p->buffer_count; i++) {
        const PlanBuffer *s = &p->buffers[i];
        size_t line = b->len;

        if (s->is_unused)
            continue;
        buf_printf(b, "    %.*s", TEXT_ARG(s->name));
        report_column(b, line, 24);
        if (s->is_static)
            buf_printf(b, "static, %s bytes\n",
                       grouped(r->cli->arena, s->bytes));
        else
            buf_printf(b, "%10s to %10s   statements %d to %d\n",
                       grouped(r->cli->arena, s->offset),
                       grouped(r->cli->arena, s->offset + s->bytes), s->first,
                       s->last);
    }
}

// ---- figures ---------------------------------------------------------------

static void put_name(TextBuf *b, size_t *line, const char *name)
{
    *line = b->len;
    buf_printf(b, "  %s", name);
}

static void put_barriers(TextBuf *b, const LdsReport *r, const LdsLaunch *l)
{
    size_t line;
    int any = 0;

    for (int t = 0; t < r->device_count; t++)
        any |= l->target[t].barriers;
    if (!any)
        return;
    put_name(b, &line, "mbarriers");
    for (int t = 0; t < r->device_count; t++) {
        int n = l->target[t].barriers;

        if (n)
            cell(b, line, t, "%d x %d", n, LDS_BARRIER_BYTES);
        else
            cell(b, line, t, "-");
    }
    buf_addc(b, '\n');
}

static void put_totals(TextBuf *b, const LdsReport *r, const LdsLaunch *l)
{
    Arena *a = r->cli->arena;
    size_t line;

    put_barriers(b, r, l);
    put_name(b, &line, "block, bytes");
    for (int t = 0; t < r->device_count; t++)
        cell(b, line, t, "%s", grouped(a, l->target[t].bytes));
    buf_addc(b, '\n');
    put_name(b, &line, "limit");
    for (int t = 0; t < r->device_count; t++)
        cell(b, line, t, "%s", grouped(a, r->devices[t]->smem_block));
    buf_addc(b, '\n');
    put_name(b, &line, "");
    for (int t = 0; t < r->device_count; t++) {
        int64_t over = l->target[t].bytes - r->devices[t]->smem_block;

        if (over > 0)
            cell(b, line, t, "OVER by %s", grouped(a, over));
        else
            cell(b, line, t, "ok");
    }
    buf_addc(b, '\n');
}

static void put_threads(TextBuf *b, const LdsReport *r, const LdsLaunch *l)
{
    size_t line;

    put_name(b, &line, "threads of a block");
    for (int t = 0; t < r->device_count; t++) {
        const PlanLaunch *p = l->target[t].plan;

        if (p->producers)
            cell(b, line, t, "%d + %d", p->threads, p->producers);
        else
            cell(b, line, t, "%d", p->threads);
    }
    buf_addc(b, '\n');
    put_name(b, &line, "registers of fragments, a thread");
    for (int t = 0; t < r->device_count; t++)
        cell(b, line, t, "%d", l->target[t].registers);
    buf_addc(b, '\n');
}

static const char *limit_words(const LdsReport *r, const Occupancy *o)
{
    TextBuf b = {0};
    const char *out;

    for (int i = 0; i < OCC_LIMIT_COUNT; i++)
        if (o->binding >> i & 1)
            buf_printf(&b, "%s%s", b.len ? ", " : "", occ_limit_name(i));
    out = text_cstr(r->cli->arena, buf_view(&b));
    buf_release(&b);
    return out;
}

static void put_occupancy(TextBuf *b, const LdsReport *r, const LdsLaunch *l)
{
    Arena *a = r->cli->arena;
    size_t line;

    put_name(b, &line, "blocks of a CU or SM, at most");
    for (int t = 0; t < r->device_count; t++)
        cell(b, line, t, "%d", l->target[t].occupancy.blocks);
    buf_addc(b, '\n');
    put_name(b, &line, "  limited by");
    for (int t = 0; t < r->device_count; t++)
        cell(b, line, t, "%s", limit_words(r, &l->target[t].occupancy));
    buf_addc(b, '\n');
    put_name(b, &line, "  bytes for one more");
    for (int t = 0; t < r->device_count; t++) {
        const Occupancy *o = &l->target[t].occupancy;
        int64_t bytes = occupancy_smem_for(r->devices[t], o->blocks + 1);

        if (o->binding != 1u << OCC_SMEM || bytes < 0)
            cell(b, line, t, "-");
        else
            cell(b, line, t, "%s", grouped(a, bytes));
    }
    buf_addc(b, '\n');
}

// What ptxas and LLVM would allot, and how many blocks that leaves.
static void put_registers(TextBuf *b, const LdsReport *r, const LdsLaunch *l)
{
    size_t line;

    put_name(b, &line, "registers, a thread (estimate)");
    for (int t = 0; t < r->device_count; t++) {
        const LdsTarget *own = &l->target[t];

        if (own->needed > own->most)
            cell(b, line, t, "~%d, spills", own->needed);
        else
            cell(b, line, t, "~%d +-%d %%", own->needed,
                 r->devices[t]->vendor == VENDOR_NVIDIA ? 25 : 35);
    }
    buf_addc(b, '\n');
    put_name(b, &line, "  blocks with so many (estimate)");
    for (int t = 0; t < r->device_count; t++)
        cell(b, line, t, "%d", l->target[t].resident);
    buf_addc(b, '\n');
    put_name(b, &line, "  registers for one more");
    for (int t = 0; t < r->device_count; t++) {
        const LdsTarget *own = &l->target[t];
        int n = own->resident < own->occupancy.blocks
                    ? occupancy_registers_for(r->devices[t], own->threads,
                                              own->resident + 1) : -1;

        if (n > 0)
            cell(b, line, t, "%d", n);
        else
            cell(b, line, t, "-");
    }
    buf_addc(b, '\n');
}

// Rounds that the grid takes when every SM or CU holds as many as it can.
static void put_grid(TextBuf *b, const LdsReport *r, const LdsLaunch *l)
{
    size_t line;

    if (l->blocks < 0)
        return;
    put_name(b, &line, "grid ");
    for (int d = 0; d < l->stmt->var_count; d++)
        buf_printf(b, "%s%lld", d ? " x " : "", (long long)l->grid[d]);
    buf_puts(b, ", in rounds of so many");
    for (int t = 0; t < r->device_count; t++) {
        int64_t room = l->target[t].resident * r->devices[t]->sms;

        if (room)
            cell(b, line, t, "%.2f x %s", (double)l->blocks / (double)room,
                 grouped(r->cli->arena, room));
        else
            cell(b, line, t, "-");
    }
    buf_addc(b, '\n');
}

// ---- a launch --------------------------------------------------------------

static void put_launch(TextBuf *b, const LdsReport *r, const LdsLaunch *l)
{
    size_t line = b->len;

    buf_addc(b, '\n');
    line = b->len;
    if (r->launch_count > 1)
        buf_printf(b, "launch %d, line %d", l->index + 1,
                   lds_line(r->cli, l->stmt->at));
    report_column(b, line, LINE_COLUMN);
    buf_puts(b, "line");
    for (int t = 0; t < r->device_count; t++)
        cell(b, line, t, "%s", r->devices[t]->name);
    buf_addc(b, '\n');
    for (int i = 0; i < l->row_count; i++)
        put_buffer(b, r, &l->rows[i]);
    put_totals(b, r, l);
    put_threads(b, r, l);
    put_occupancy(b, r, l);
    put_registers(b, r, l);
    put_grid(b, r, l);
    for (int t = 0; t < r->device_count; t++) {
        lds_conflicts_text(b, r, l, t);
        lds_ledger_text(b, r, l, t);
    }
    lds_order_text(b, r, l);
    for (int t = 0; r->cli->verbose && t < r->device_count; t++)
        put_places(b, r, l, t);
}

static void put_notes(TextBuf *b, const LdsReport *r)
{
    for (int t = 0; t < r->device_count; t++) {
        const char *name = r->devices[t]->name;

        if (r->device_count < 2 && lds_stages_idle(r, r->devices[t]))
            buf_printf(b, "note: num_stages does nothing on %s: a serial loop "
                       "there\n", name);
        for (int i = 0; i < r->launch_count; i++) {
            const PlanLaunch *l = r->launches[i].target[t].plan;
            if (l->refused || l->doubted)
                buf_printf(b, "note: TileLang's own compiler %s up for %s: "
                           "%s\n", l->refused ? "gives" : "may give", name,
                           l->refused ? l->refused : l->doubted);
        }
    }
}

static void put_verdict(TextBuf *b, const LdsReport *r)
{
    bool any = false;

    for (int t = 0; t < r->device_count; t++) {
        bool fits = true;

        for (int i = 0; i < r->launch_count; i++)
            fits = fits && r->launches[i].target[t].fits;
        if (fits)
            continue;
        buf_printf(b, "%s%s", any ? ", " : "\nno fit: ", r->devices[t]->name);
        any = true;
    }
    buf_puts(b, any ? "\n" : "\nok: it fits\n");
}

void lds_report_rules(TextBuf *b, PlanRules rules)
{
    buf_printf(b, "plan            %s: what %s makes of it\n",
               plan_rules_name(rules),
               rules == PLAN_TILELANG ? "TileLang's own compiler"
                                      : "'tilesim gpu'");
}

void lds_report_text(TextBuf *b, const LdsReport *r)
{
    report_kernel(b, r->cli, r->kernel);
    lds_report_rules(b, r->plan[0]->rules);
    for (int i = 0; i < r->launch_count; i++)
        put_launch(b, r, &r->launches[i]);
    lds_portability_text(b, r);
    put_notes(b, r);
    lds_layouts_text(b, r);
    put_verdict(b, r);
}
