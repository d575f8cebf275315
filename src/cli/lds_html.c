// lds_html.c - lds-report as one page for a browser.
//
// For each launch and target: the arena over time, a rectangle a buffer; how
// many blocks each resource allows; and maps of banks (lds_html_map.c).
#include "cli/lds_html.h"

#include <limits.h>

#include "cli/lds_advice.h"
#include "cli/lds_html_int.h"
#include "cli/report.h"

enum {
    ARENA_WIDTH = 400, ARENA_HEIGHT = 240,      // pixels
    AXIS = 52,                                  // its figures
    LETTER = 7,                                 // about the width of one
    BAR_WIDTH = 240,
    COLOURS = 8,
};

static const char style[] =
    ":root{--text:#1c2430;--page:#fff;--note:#5b6673;--over:#b3261e;"
    "--ok:#1a7f37;--line:#9aa4b0;--bar:#4c78a8}"
    "@media(prefers-color-scheme:dark){:root{--text:#d8dee6;--page:#14181d;"
    "--note:#9aa7b5;--over:#ff7b72;--ok:#56d364;--line:#6b7682;"
    "--bar:#79a6d6}}"
    "body{font:14px system-ui,sans-serif;margin:2em;max-width:1100px;"
    "color:var(--text);background:var(--page)}"
    "h1{font-size:20px}h2{font-size:16px;margin-top:2em}"
    "h3{font-size:14px;margin:1.2em 0 .4em}"
    "table{border-collapse:collapse}td{padding:2px 12px 2px 0;"
    "text-align:right}td:first-child{text-align:left}"
    "code{overflow-wrap:anywhere}summary{cursor:pointer}"
    ".targets,.maps{display:flex;flex-wrap:wrap;gap:1em 2em}"
    ".targets>div{flex:1 1 440px;max-width:520px}"
    "figcaption{margin-bottom:3px}"
    ".pair{display:flex;flex-wrap:wrap;gap:0 2em;margin:0 0 1em}"
    ".over{color:var(--over);font-weight:600}.ok{color:var(--ok)}"
    ".note{color:var(--note)}figure{margin:0;max-width:100%}"
    "svg{max-width:100%;height:auto}"
    "svg text{font:11px system-ui,sans-serif;fill:var(--text)}"
    ".in{fill:#10151b!important}.axis{fill:var(--note)!important}";

// ---- text ------------------------------------------------------------------

void lds_html_escaped(TextBuf *b, Text t)
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
    lds_html_escaped(b, text_of(title));
    buf_printf(b, "</title><style>%s</style></head>\n<body>\n<h1>", style);
    lds_html_escaped(b, text_of(title));
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
    lds_html_escaped(b, s->name);
    buf_printf(b, ": bytes %lld to %lld, statements %d to %d</title>"
               "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
               "fill=\"%s\" stroke=\"#fff\"/>",
               (long long)s->offset, (long long)(s->offset + s->bytes),
               s->first, s->last, x, y, (s->last - s->first + 1) * step, h,
               colour(i));
    if (h >= 12 && (s->last - s->first + 1) * step >= LETTER * s->name.len + 6)
        buf_printf(b, "<text class=\"in\" x=\"%.1f\" y=\"%.1f\">%.*s</text>",
                   x + 3, y + h / 2 + 4, TEXT_ARG(s->name));
    buf_puts(b, "</g>\n");
}

// Figures at the left: a few multiples of a power of two.
static void put_axis(TextBuf *b, const Device *d, const PlanLaunch *p)
{
    int64_t step = 1024;

    while (height_of(d, p, step) < 40)
        step *= 2;
    for (int64_t at = 0; height_of(d, p, at) <= ARENA_HEIGHT; at += step)
        buf_printf(b, "<text class=\"axis\" x=\"-6\" y=\"%.1f\" "
                   "text-anchor=\"end\">%lld KiB</text><line x1=\"-4\" "
                   "x2=\"0\" y1=\"%.1f\" y2=\"%.1f\" "
                   "stroke=\"var(--line)\"/>\n",
                   ARENA_HEIGHT - height_of(d, p, at) + 4,
                   (long long)(at / 1024), ARENA_HEIGHT - height_of(d, p, at),
                   ARENA_HEIGHT - height_of(d, p, at));
}

static void put_limit(TextBuf *b, const Device *d, double y)
{
    buf_printf(b, "<line x1=\"0\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" "
               "stroke=\"var(--over)\" stroke-dasharray=\"5 3\"/>"
               "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" "
               "fill-opacity=\".9\">limit ", ARENA_WIDTH, y, y,
               ARENA_WIDTH - 2, y > 20 ? y - 3 : y + 12);
    buf_grouped(b, d->smem_block);
    buf_puts(b, " bytes</text>\n");
}

// What each colour is, for those too small to hold their name.
static void put_legend(TextBuf *b, const PlanLaunch *p)
{
    buf_puts(b, "<p class=\"note\">");
    for (int i = 0; i < p->buffer_count; i++) {
        const PlanBuffer *s = &p->buffers[i];

        if (s->is_static || s->is_unused)
            continue;
        buf_printf(b, "<span style=\"white-space:nowrap\"><span style=\""
                   "color:%s\">&#9632;</span> ", colour(i));
        lds_html_escaped(b, s->name);
        buf_addc(b, ' ');
        buf_grouped(b, s->bytes);
        buf_puts(b, "</span> ");
    }
    buf_puts(b, "</p>\n");
}

static void put_arena(TextBuf *b, const Device *d, const PlanLaunch *p)
{
    Times all = times_of(p);
    double limit = ARENA_HEIGHT - height_of(d, p, d->smem_block);
    int width = ARENA_WIDTH + AXIS + 4, height = ARENA_HEIGHT + 26;

    if (!p->arena)
        return;
    buf_printf(b, "<svg width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
               "role=\"img\"><title>the arena over time on %s</title>\n",
               width, height, width, height, d->name);
    buf_printf(b, "<g transform=\"translate(%d,8)\">\n", AXIS);
    put_axis(b, d, p);
    for (int i = 0; i < p->buffer_count; i++)
        if (!p->buffers[i].is_static && !p->buffers[i].is_unused)
            put_buffer(b, d, p, i, all);
    if (limit >= 0)
        put_limit(b, d, limit);
    buf_printf(b, "<text class=\"axis\" x=\"0\" y=\"%d\">time: statements %d "
               "to %d &#8594;</text></g></svg>\n", ARENA_HEIGHT + 14,
               all.first, all.last);
    put_legend(b, p);
}

// ---- occupancy -------------------------------------------------------------

static void put_bar(TextBuf *b, int row, const char *name, int n, int most,
                    bool binds)
{
    double width = (double)n / most * BAR_WIDTH;

    buf_printf(b, "<text x=\"0\" y=\"%d\">%s</text><rect x=\"130\" "
               "y=\"%d\" width=\"%.1f\" height=\"12\" fill=\"%s\"/>"
               "<text x=\"%.1f\" y=\"%d\">%d</text>\n", row * 18 + 12, name,
               row * 18 + 2, width, binds ? "var(--over)" : "var(--bar)",
               134 + width, row * 18 + 12, n);
}

static void put_bars(TextBuf *b, const LdsTarget *t, const Device *d)
{
    BlockNeeds needs = {.threads = t->threads, .smem = t->bytes,
                        .registers = t->needed < t->most ? t->needed : t->most};
    Occupancy o = device_occupancy(d, &needs);
    int most = 1, rows = 0, row = 0, width = BAR_WIDTH + 170;

    for (int l = 0; l < OCC_LIMIT_COUNT; l++)
        if (o.limit[l] != INT_MAX) {
            most = o.limit[l] > most ? o.limit[l] : most;
            rows++;
        }
    buf_printf(b, "<svg width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
               "role=\"img\"><title>blocks that each resource allows</title>\n",
               width, rows * 18, width, rows * 18);
    for (int l = 0; l < OCC_LIMIT_COUNT; l++)
        if (o.limit[l] != INT_MAX)
            put_bar(b, row++, l == OCC_REGISTERS ? "registers (estimate)"
                                                 : occ_limit_name(l),
                    o.limit[l], most, o.binding >> l & 1);
    buf_puts(b, "</svg>\n");
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
    put_grouped(b, "registers, a thread (estimate)", own->needed);
    put_grouped(b, "conflicts", own->counts ? own->counts->shared.conflicts
                                            : 0);
    buf_printf(b, "</table><p class=\"%s\">", own->fits ? "ok" : "over");
    if (own->fits) {
        buf_printf(b, "fits: %d block%s of %s, estimated",
                   own->resident, own->resident == 1 ? "" : "s",
                   d->vendor == VENDOR_AMD ? "a CU" : "an SM");
    } else {
        buf_puts(b, "over by ");
        buf_grouped(b, own->bytes - d->smem_block);
        buf_puts(b, " bytes");
    }
    buf_puts(b, "</p>\n");
    put_arena(b, d, own->plan);
    buf_printf(b, "<h3>blocks of %s that each resource allows</h3>\n",
               d->vendor == VENDOR_AMD ? "a CU" : "an SM");
    put_bars(b, own, d);
    buf_puts(b, "</div>\n");
}

// The head of a report without its hint for terminals.
static void put_title(TextBuf *b, const LdsReport *r)
{
    TextBuf head = {0};
    Text t, hint = TEXT("(-v: all)");

    report_kernel(&head, r->cli, r->kernel);
    t = text_trim(buf_view(&head));
    if (text_ends(t, hint.at))
        t = text_trim(text_slice(t, 0, t.len - hint.len));
    buf_puts(b, "<h2>");
    lds_html_escaped(b, t);
    buf_puts(b, "</h2>\n");
    buf_release(&head);
}

static void put_advice(TextBuf *b, const LdsReport *r)
{
    if (!r->layout_count)
        return;
    buf_puts(b, "<h3>layouts with fewer conflicts (the maps have them as "
                "<i>with them</i>)</h3>\n<ol>");
    for (int i = 0; i < r->layout_count; i++) {
        TextBuf line = {0};

        lds_layout_line(&line, &r->layouts[i]);
        buf_puts(b, "<li><code>");
        lds_html_escaped(b, buf_view(&line));
        buf_puts(b, "</code></li>\n");
        buf_release(&line);
    }
    buf_puts(b, "</ol>\n");
}

void lds_html_kernel(TextBuf *b, const LdsReport *r)
{
    put_title(b, r);
    put_advice(b, r);
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
            lds_html_maps(b, r, i, t);
    }
}
