// async.c - which lanes of a cp.async go together.
#include "sim_lds/async.h"

enum { WARP = 32, LINE = 128, SECTOR = 32, HALF = 16 };

static int next_lane(uint64_t *left)
{
    int lane = __builtin_ctzll(*left);

    *left &= *left - 1;
    return lane;
}

// ---- through L1 ----------------------------------------------------------

// Both are multiples of `bytes`: they share all their banks or none.
static bool share_banks(int64_t x, int64_t y, int bytes)
{
    return (x - y) / bytes % (LINE / bytes) == 0;
}

// The most lanes that one lane of a pass cannot go with; those of `cleared`
// read nothing.
static int most_meetings(const GlobalAccess *a, uint64_t pass,
                         uint64_t cleared)
{
    int most = 0;

    for (uint64_t left = pass; left;) {
        int l = next_lane(&left), meetings = 0;

        for (uint64_t others = pass; others;) {
            int o = next_lane(&others);
            bool read = !((cleared >> l | cleared >> o) & 1);

            meetings += share_banks(a->shared[l], a->shared[o], a->bytes) ||
                        (read && share_banks(a->address[l], a->address[o],
                                             a->bytes));
        }
        most = meetings > most ? meetings : most;
    }
    return most;
}

static bool reads_one_line(const GlobalAccess *a, uint64_t pass)
{
    int64_t line = pass ? a->address[__builtin_ctzll(pass)] / LINE : 0;

    while (pass)
        if (a->address[next_lane(&pass)] / LINE != line)
            return false;
    return true;
}

static AsyncCount through_l1(const GlobalAccess *a, uint64_t cleared)
{
    int lanes = LINE / a->bytes, active = __builtin_popcountll(a->active);
    AsyncCount c = {.ideal = (active + lanes - 1) / lanes,
                    .counters = BASIS_MEASURED};

    for (int first = 0; first < WARP; first += lanes) {
        uint64_t pass = a->active >> first << first;

        pass &= ((1ull << lanes) - 1) << first;
        c.wavefronts += most_meetings(a, pass, cleared);
        c.passes += pass != 0;
        if ((pass & cleared) || !reads_one_line(a, pass))
            c.counters = BASIS_ESTIMATE;
    }
    return c;
}

// ---- past L1 -------------------------------------------------------------

// Of the lanes with one shared address the lowest.
static uint64_t kept_lanes(const GlobalAccess *a)
{
    uint64_t kept = 0;

    for (uint64_t left = a->active; left;) {
        int l = next_lane(&left);
        bool known = false;

        for (uint64_t others = kept; others && !known;)
            known = a->shared[next_lane(&others)] == a->shared[l];
        kept |= (uint64_t)!known << l;
    }
    return kept;
}

// What a lane brings. Lanes with equal keys go together.
typedef struct {
    int64_t from, to;           // lines
    bool swapped, odd;          // halves; sectors
    int turn;                   // of the lanes that bring the same bytes
    int halves;                 // of its sector, by all lanes
} Bringing;

static bool is_swapped(const GlobalAccess *a, int l)
{
    return (a->address[l] / HALF ^ a->shared[l] / HALF) & 1;
}

static Bringing bringing_of(const GlobalAccess *a, int l)
{
    return (Bringing){
        .from = a->address[l] / LINE,
        .to = a->shared[l] / LINE,
        .swapped = is_swapped(a, l),
        .odd = (a->address[l] / SECTOR ^ a->shared[l] / SECTOR) & 1,
    };
}

static void find_turns(const GlobalAccess *a, uint64_t kept, Bringing *b)
{
    for (uint64_t left = kept; left;) {
        int l = next_lane(&left);

        for (uint64_t higher = left; higher;) {
            int h = next_lane(&higher);
            b[l].turn += a->address[l] == a->address[h] &&
                         b[l].to == b[h].to && b[l].swapped == b[h].swapped;
        }
    }
}

static void find_halves(const GlobalAccess *a, uint64_t kept, Bringing *b)
{
    for (uint64_t left = kept; left;) {
        int l = next_lane(&left);

        for (uint64_t others = kept; others;) {
            int o = next_lane(&others);

            if (a->address[o] / SECTOR == a->address[l] / SECTOR &&
                a->shared[o] / SECTOR == a->shared[l] / SECTOR &&
                b[o].swapped == b[l].swapped && b[o].turn == b[l].turn)
                b[l].halves |= 1 << (a->address[o] / HALF & 1);
        }
    }
}

static bool go_together(const Bringing *x, const Bringing *y)
{
    return x->from == y->from && x->to == y->to &&
           x->swapped == y->swapped && x->odd == y->odd &&
           x->turn == y->turn && x->halves == y->halves;
}

static AsyncCount past_l1(const GlobalAccess *a)
{
    uint64_t kept = kept_lanes(a), counted = 0;
    Bringing b[BANK_LANES];
    AsyncCount c = {.ideal = (__builtin_popcountll(kept) + 7) / 8};

    for (uint64_t left = kept; left;) {
        int l = next_lane(&left);
        b[l] = bringing_of(a, l);
    }
    find_turns(a, kept, b);
    find_halves(a, kept, b);
    for (uint64_t left = kept; left;) {
        int l = next_lane(&left);
        bool known = false;

        for (uint64_t others = counted; others && !known;)
            known = go_together(&b[next_lane(&others)], &b[l]);
        counted |= (uint64_t)!known << l;
    }
    c.wavefronts = __builtin_popcountll(counted);
    return c;
}

// Where some lanes clear, all count as if they went through L1, and those that
// read once more.
static AsyncCount bypass(const GlobalAccess *a)
{
    GlobalAccess reading = *a;
    AsyncCount c = {.counters = BASIS_MEASURED}, more;

    reading.active &= ~a->cleared;
    if (reading.active != a->active)
        c = through_l1(a, a->cleared);
    more = past_l1(&reading);
    c.wavefronts += more.wavefronts;
    c.ideal += more.ideal;
    return c;
}

AsyncCount async_count(const Device *d, const GlobalAccess *a)
{
    AsyncCount c = a->kind == GLOBAL_COPY ? through_l1(a, a->cleared)
                                          : bypass(a);

    if (d->arch != ARCH_SM90)
        c.counters = BASIS_ESTIMATE;
    return c;
}
