// lds_html_map.c - which lanes of an access meet in which bank.
#include "cli/lds_html_int.h"

enum {
    LANE_WIDTH = 7, BANK_HEIGHT = 5,            // pixels
    LEFT = 22, BELOW = 16,                      // figures at the axes
    TICK = 16,                                  // lanes or banks between two
    MOST_WAYS = 8,                              // red
};

// ---- a map -----------------------------------------------------------------

static int hue_of(int ways)
{
    return ways < 2 ? 210 : ways >= MOST_WAYS ? 0 : 60 - 8 * ways;
}

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
            for (int lane = 0; lane < BANK_LANES; lane++)
                if (words[i].lanes >> lane & 1)
                    buf_printf(b, "<rect x=\"%d\" y=\"%d\" width=\"%d\" "
                               "height=\"%d\" fill=\"hsl(%d 70%% 50%%)\"/>",
                               lane * LANE_WIDTH, words[i].bank * BANK_HEIGHT,
                               LANE_WIDTH - 1, BANK_HEIGHT - 1,
                               hue_of(ways[words[i].bank]));
    }
}

static void put_ticks(TextBuf *b, int lanes, int banks)
{
    for (int i = 0; i < lanes; i += TICK)
        buf_printf(b, "<text class=\"axis\" x=\"%d\" y=\"%d\">%s%d</text>",
                   i * LANE_WIDTH, banks * BANK_HEIGHT + 12,
                   i ? "" : "lane ", i);
    for (int i = 0; i < banks; i += TICK)
        buf_printf(b, "<text class=\"axis\" x=\"-4\" y=\"%d\" "
                   "text-anchor=\"end\">%d</text>", i * BANK_HEIGHT + 9, i);
}

static void put_figures(TextBuf *b, const char *when, const CountAccess *a)
{
    buf_printf(b, "<figure><figcaption>%s%s, %d way%s, ", when, a->instruction,
               a->ways, a->ways == 1 ? "" : "s");
    buf_grouped(b, a->sum.conflicts);
    buf_puts(b, " conflicts</figcaption>");
}

static void put_map(TextBuf *b, const Device *d, const char *when,
                    const CountAccess *a)
{
    int lanes = (int)d->warp_lanes, banks = (int)d->banks;
    int width = LEFT + lanes * LANE_WIDTH + 2;
    int height = banks * BANK_HEIGHT + BELOW;

    put_figures(b, when, a);
    buf_printf(b, "<svg width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
               "role=\"img\"><title>banks (down) by lanes (across)</title>"
               "<g transform=\"translate(%d,0)\"><rect width=\"%d\" "
               "height=\"%d\" fill=\"none\" stroke=\"var(--line)\"/>\n",
               width, height, width, height, LEFT, lanes * LANE_WIDTH,
               banks * BANK_HEIGHT);
    put_cells(b, d, &a->worst);
    put_ticks(b, lanes, banks);
    buf_puts(b, "</g></svg></figure>\n");
}

// ---- accesses --------------------------------------------------------------

static bool is_drawn(const CountAccess *a)
{
    return a->is_shared && !a->passes_by && !a->unknown && !a->misaligned &&
           a->sum.executions > 0;
}

// The same access with the layouts that are advised, where they change it.
static const CountAccess *changed(const LdsReport *r, int launch, int target,
                                  int access)
{
    const CountLaunch *now = r->launches[launch].target[target].counts, *then;
    const CountAccess *a = &now->at[access];

    if (!r->advised[target])
        return NULL;
    then = &r->advised[target][launch];
    if (then->count != now->count || !is_drawn(&then->at[access]) ||
        (then->at[access].sum.conflicts == a->sum.conflicts &&
         then->at[access].sum.cycles == a->sum.cycles))
        return NULL;
    return &then->at[access];
}

static void put_access(TextBuf *b, const LdsReport *r, int launch, int target,
                       int access)
{
    const CountAccess *a =
        &r->launches[launch].target[target].counts->at[access];
    const CountAccess *then = changed(r, launch, target, access);
    const IrBuffer *buffer = a->move->buffer;
    static const char *const ways[] = {"read", "write", "update"};

    buf_puts(b, "<div><b>");
    lds_html_escaped(b, buffer ? buffer->name : TEXT("(reduction)"));
    buf_printf(b, "</b> %s :%d<div class=\"pair\">\n", ways[a->move->way],
               lds_line(r->cli, a->move->at));
    put_map(b, r->devices[target], then ? "as it is: " : "", a);
    if (then)
        put_map(b, r->devices[target], "with them: ", then);
    buf_puts(b, "</div></div>\n");
}

static void put_key(TextBuf *b)
{
    buf_puts(b, "<p class=\"note\">Of the worst instruction of each access, "
                "lanes across and banks down. Words that a bank serves one "
                "after the other:");
    for (int n = 1; n <= MOST_WAYS; n *= 2)
        buf_printf(b, " <span style=\"color:hsl(%d 70%% 50%%)\">&#9632;</span>"
                   " %d%s", hue_of(n), n, n == MOST_WAYS ? " or more" : "");
    buf_puts(b, "</p>\n");
}

// Accesses that conflict, or change; the others.
static int put_those(TextBuf *b, const LdsReport *r, int launch, int target,
                     bool conflicts, bool count_only)
{
    const CountLaunch *l = r->launches[launch].target[target].counts;
    int n = 0;

    for (int i = 0; i < l->count; i++) {
        bool has = l->at[i].sum.conflicts > 0 || changed(r, launch, target, i);

        if (!is_drawn(&l->at[i]) || has != conflicts)
            continue;
        n++;
        if (!count_only)
            put_access(b, r, launch, target, i);
    }
    return n;
}

void lds_html_maps(TextBuf *b, const LdsReport *r, int launch, int target)
{
    const CountLaunch *l = r->launches[launch].target[target].counts;
    int bad, good;

    if (!l || r->counts.unknown)
        return;
    bad = put_those(b, r, launch, target, true, true);
    good = put_those(b, r, launch, target, false, true);
    if (!bad && !good)
        return;
    buf_printf(b, "<h3>accesses to shared memory on %s: %d with conflicts, %d "
               "without</h3>\n", r->devices[target]->name, bad, good);
    put_key(b);
    put_those(b, r, launch, target, true, false);
    if (!good)
        return;
    buf_printf(b, "<details%s><summary>without conflicts</summary>"
               "<div class=\"maps\">\n", bad ? "" : " open");
    put_those(b, r, launch, target, false, false);
    buf_puts(b, "</div></details>\n");
}
