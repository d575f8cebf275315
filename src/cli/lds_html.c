// lds_html.c - lds-report as one page for a browser.
//
// For each launch and target: the arena over time, a rectangle a buffer; how
// many blocks each resource allows; and for each access to shared memory which
// lanes of its worst instruction meet in which bank.
#include "cli/lds_html.h"

#include <limits.h>

#include "cli/report.h"

enum {
    ARENA_WIDTH = 420, ARENA_HEIGHT = 240,      // pixels
    LANE_WIDTH = 9, BANK_HEIGHT = 6,
    BAR_WIDTH = 260,
    COLOURS = 8,
};

static const char style[] =
    "body{font:14px system-ui,sans-serif;margin:2em;max-width:1100px;"
    "color:#1c2430;background:#fff}"
    "h1{font-size:20px}h2{font-size:16px;margin-top:2em}"
    "h3{font-size:14px;margin:1.2em 0 .4em}"
    "table{border-collapse:collapse}td,th{padding:2px 12px 2px 0;"
    "text-align:right}td:first-child,th:first-child{text-align:left}"
    ".targets{display:flex;flex-wrap:wrap;gap:2em}"
    ".maps{display:flex;flex-wrap:wrap;gap:1em}"
    ".over{color:#b3261e;font-weight:600}.ok{color:#1a7f37}"
    ".note{color:#5b6673}svg text{font:11px system-ui,sans-serif}"
    "@media(prefers-color-scheme:dark){body{background:#14181d;color:#d8dee6}"
    "svg text{fill:#d8dee6}}";

// ---- text ------------------------------------------------------------------

static void put_escaped(TextBuf *b, Text t)
{
    for (size_t i = 0; i < t.len; i++)
        switch (t.at[i]) {
        case '&': buf_puts(b, "&amp;"); break;
        case '<': buf_puts(b, "&lt;"); break;
        case '>': buf_puts(b, "&gt;"); break;
        case '"': buf_puts(b, "&quot;"); break;
        default:  buf_addc(b, t.at[i]);
        }
}

static const char *colour(int i)
{
    static const char *const all[COLOURS] = {
        "#4c78a8", "#f58518", "#54a24b", "#b279a2", "#9d755d", "#72b7b2",
        "#eeca3b", "#bab0ac",
    };

    return all[i % COLOURS];
}

void lds_html_begin(TextBuf *b, const char *title)
{
    buf_puts(b, "<!DOCTYPE html>\n<html lang=\"en\"><head>"
                "<meta charset=\"utf-8\"><link rel=\"icon\" href=\"data:,\">"
                "<title>");
    put_escaped(b, text_of(title));
    buf_printf(b, "</title><style>%s</style></head>\n<body>\n<h1>", style);
    put_escaped(b, text_of(title));
    buf_puts(b, "</h1>\n<p class=\"note\">Shared memory (LDS) by the plan of "
                "TileLang's own compiler. Conflicts are those of the worst "
                "instruction of an access.</p>\n");
}

void lds_html_end(TextBuf *b)
{
    buf_puts(b, "</body></html>\n");
}

// ---- the arena over time ---------------------------------------------------

typedef struct {
    int first, last;                    // statements with a buffer alive
} Times;

static Times times_of(const PlanLaunch *p)
{
    Times s = {INT_MAX, 0};

    for (int i = 0; i < p->buffer_count; i++) {
        const PlanBuffer *b = &p->buffers[i];

        if (b->is_unused || b->is_static)
            continue;
        s.first = b->first < s.first ? b->first : s.first;
        s.last = b->last > s.last ? b->last : s.last;
    }
    return s;
}

// Bytes to pixels: what is higher of the limit and the arena is the top.
static double height_of(const Device *d, const PlanLaunch *p, int64_t bytes)
{
    int64_t top = p->arena > d->smem_block ? p->arena : d->smem_block;

    if (p->arena * 4 < top)
        top = p->arena * 4;
    return top ? (double)bytes / (double)top * ARENA_HEIGHT : 0;
}

static void put_buffer(TextBuf *b, const Device *d, const PlanLaunch *p, int i,
                       Times all)
{
    const PlanBuffer *s = &p->buffers[i];
    double step = (double)ARENA_WIDTH / (all.last - all.first + 1);
    double x = (s->first - all.first) * step;
    double h = height_of(d, p, s->bytes);
    double y = ARENA_HEIGHT - height_of(d, p, s->offset) - h;

    buf_printf(b, "<g><title>");
    put_escaped(b, s->name);
    buf_printf(b, ": bytes %lld to %lld, statements %d to %d</title>"
               "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
               "fill=\"%s\" fill-opacity=\".8\" stroke=\"#fff\"/>",
               (long long)s->offset, (long long)(s->offset + s->bytes),
               s->first, s->last, x, y, (s->last - s->first + 1) * step, h,
               colour(i));
    if (h >= 12)
        buf_printf(b, "<text x=\"%.1f\" y=\"%.1f\">%.*s</text>", x + 3,
                   y + h / 2 + 4, TEXT_ARG(s->name));
    buf_puts(b, "</g>\n");
}

static void put_arena(TextBuf *b, const Device *d, const PlanLaunch *p)
{
    Times all = times_of(p);
    double limit = ARENA_HEIGHT - height_of(d, p, d->smem_block);

    if (!p->arena)
        return;
    buf_printf(b, "<svg width=\"%d\" height=\"%d\" role=\"img\">"
               "<title>the arena over time on %s</title>\n", ARENA_WIDTH + 4,
               ARENA_HEIGHT + 22, d->name);
    buf_printf(b, "<g transform=\"translate(1,4)\">\n");
    for (int i = 0; i < p->buffer_count; i++)
        if (!p->buffers[i].is_static && !p->buffers[i].is_unused)
            put_buffer(b, d, p, i, all);
    if (limit >= 0)
        buf_printf(b, "<line x1=\"0\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" "
                   "stroke=\"#b3261e\" stroke-dasharray=\"5 3\"/>"
                   "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">limit "
                   "%lld</text>\n", ARENA_WIDTH, limit, limit, ARENA_WIDTH - 2,
                   limit + 12, (long long)d->smem_block);
    buf_printf(b, "<text x=\"0\" y=\"%d\">statements %d to %d &#8594;</text>"
               "</g></svg>\n", ARENA_HEIGHT + 14, all.first, all.last);
}

// ---- occupancy -------------------------------------------------------------

static void put_bars(TextBuf *b, const Occupancy *o)
{
    int most = 1, row = 0;

    for (int l = 0; l < OCC_LIMIT_COUNT; l++)
        if (o->limit[l] != INT_MAX && o->limit[l] > most)
            most = o->limit[l];
    buf_printf(b, "<svg width=\"%d\" height=\"%d\" role=\"img\"><title>blocks "
               "that each resource allows</title>\n", BAR_WIDTH + 150,
               OCC_LIMIT_COUNT * 18);
    for (int l = 0; l < OCC_LIMIT_COUNT; l++) {
        if (o->limit[l] == INT_MAX)
            continue;
        buf_printf(b, "<text x=\"0\" y=\"%d\">%s</text><rect x=\"110\" "
                   "y=\"%d\" width=\"%.1f\" height=\"12\" fill=\"%s\"/>"
                   "<text x=\"%.1f\" y=\"%d\">%d</text>\n", row * 18 + 12,
                   occ_limit_name(l), row * 18 + 2,
                   (double)o->limit[l] / most * BAR_WIDTH,
                   o->binding >> l & 1 ? "#b3261e" : "#4c78a8",
                   114 + (double)o->limit[l] / most * BAR_WIDTH, row * 18 + 12,
                   o->limit[l]);
        row++;
    }
    buf_puts(b, "</svg>\n");
}

// ---- banks and lanes -------------------------------------------------------

// How many words of the bank the pass has to serve: the colour of its lanes.
static void put_cells(TextBuf *b, const Device *d, const BankAccess *a)
{
    BankPass passes[BANK_PASSES];
    int n = bank_passes(d, a, passes);

    for (int p = 0; p < n; p++) {
        BankWord words[BANK_WORDS];
        int count = bank_words(d, a, &passes[p], words), ways[BANK_MOST] = {0};

        for (int i = 0; i < count; i++)
            if (words[i].way >= ways[words[i].bank])
                ways[words[i].bank] = words[i].way + 1;
        for (int i = 0; i < count; i++)
            for (int lane = 0; lane < BANK_LANES; lane++) {
                int w = ways[words[i].bank];
                if (!(words[i].lanes >> lane & 1))
                    continue;
                buf_printf(b, "<rect x=\"%d\" y=\"%d\" width=\"%d\" "
                           "height=\"%d\" fill=\"hsl(%d 70%% 50%%)\"/>",
                           lane * LANE_WIDTH, words[i].bank * BANK_HEIGHT,
                           LANE_WIDTH - 1, BANK_HEIGHT - 1,
                           w < 2 ? 210 : w >= 8 ? 0 : 60 - 8 * w);
            }
    }
}

static void put_map(TextBuf *b, const LdsReport *r, const Device *d,
                    const CountAccess *a)
{
    int lanes = (int)d->warp_lanes, banks = (int)d->banks;
    const IrBuffer *buffer = a->move->buffer;

    buf_puts(b, "<figure style=\"margin:0\"><figcaption>");
    put_escaped(b, buffer ? buffer->name : TEXT("(reduction)"));
    buf_printf(b, " %s :%d<br>%s, %d way%s, %lld conflicts</figcaption>",
               a->move->way == MOVE_LOAD ? "read" : "write",
               lds_line(r->cli, a->move->at), a->instruction, a->ways,
               a->ways == 1 ? "" : "s", (long long)a->sum.conflicts);
    buf_printf(b, "<svg width=\"%d\" height=\"%d\" role=\"img\"><title>banks "
               "(down) by lanes (across)</title><rect width=\"%d\" "
               "height=\"%d\" fill=\"none\" stroke=\"#9aa4b0\"/>\n",
               lanes * LANE_WIDTH + 1, banks * BANK_HEIGHT + 1,
               lanes * LANE_WIDTH, banks * BANK_HEIGHT);
    put_cells(b, d, &a->worst);
    buf_puts(b, "</svg></figure>\n");
}

static bool is_drawn(const CountAccess *a)
{
    return a->is_shared && !a->passes_by && !a->unknown && !a->misaligned &&
           a->sum.executions > 0;
}

static void put_maps(TextBuf *b, const LdsReport *r, const Device *d,
                     const CountLaunch *l)
{
    bool any = false;

    for (int i = 0; l && i < l->count; i++) {
        if (!is_drawn(&l->at[i]))
            continue;
        if (!any)
            buf_printf(b, "<h3>banks (down) by lanes (across) on %s: blue is "
                       "one word a bank, yellow to red several</h3>"
                       "<div class=\"maps\">\n", d->name);
        any = true;
        put_map(b, r, d, &l->at[i]);
    }
    if (any)
        buf_puts(b, "</div>\n");
}

// ---- a kernel --------------------------------------------------------------

static void put_grouped(TextBuf *b, const char *name, int64_t n)
{
    buf_printf(b, "<tr><td>%s</td><td>", name);
    buf_grouped(b, n);
    buf_puts(b, "</td></tr>\n");
}

static void put_target(TextBuf *b, const LdsReport *r, const LdsLaunch *l,
                       int t)
{
    const LdsTarget *own = &l->target[t];
    const Device *d = r->devices[t];

    buf_printf(b, "<div><h3>%s</h3><table>\n", d->title);
    put_grouped(b, "bytes of a block", own->bytes);
    put_grouped(b, "limit", d->smem_block);
    put_grouped(b, "threads", own->threads);
    put_grouped(b, "registers of fragments", own->registers);
    put_grouped(b, "conflicts", own->counts ? own->counts->shared.conflicts
                                            : 0);
    buf_printf(b, "</table><p class=\"%s\">", own->fits ? "ok" : "over");
    if (own->fits) {
        buf_printf(b, "fits: %d block%s of a CU or SM at most",
                   own->occupancy.blocks,
                   own->occupancy.blocks == 1 ? "" : "s");
    } else {
        buf_puts(b, "over by ");
        buf_grouped(b, own->bytes - d->smem_block);
    }
    buf_puts(b, "</p>\n");
    put_arena(b, d, own->plan);
    buf_puts(b, "<h3>blocks that each resource allows</h3>\n");
    put_bars(b, &own->occupancy);
    buf_puts(b, "</div>\n");
}

void lds_html_kernel(TextBuf *b, const LdsReport *r)
{
    TextBuf head = {0};

    report_kernel(&head, r->cli, r->kernel);
    buf_puts(b, "<h2>");
    put_escaped(b, text_trim(buf_view(&head)));
    buf_puts(b, "</h2>\n");
    buf_release(&head);
    for (int i = 0; i < r->launch_count; i++) {
        const LdsLaunch *l = &r->launches[i];

        if (r->launch_count > 1)
            buf_printf(b, "<h3>launch %d, line %d</h3>\n", i + 1,
                       lds_line(r->cli, l->stmt->at));
        buf_puts(b, "<div class=\"targets\">\n");
        for (int t = 0; t < r->device_count; t++)
            put_target(b, r, l, t);
        buf_puts(b, "</div>\n");
        for (int t = 0; t < r->device_count; t++)
            put_maps(b, r, r->devices[t], l->target[t].counts);
    }
}
