// global.c - sectors, lines and, for cp.async, banks.
#include "sim_lds/global.h"

enum {
    LINE = 128,
    SECTOR = 32,
    AMD_SECTOR = 64,
    REDUCE_LINES = 6,           // measured up to so many lines a turn
    BYPASS_LINES = 5,           // likewise, tag accesses of cp.async.cg
};

// ---- sets of few numbers -------------------------------------------------

typedef struct {
    int count;
    struct {
        int64_t a, b;
    } at[BANK_LANES];
} Pairs;

static void enter(Pairs *s, int64_t a, int64_t b)
{
    for (int i = s->count - 1; i >= 0; i--)
        if (s->at[i].a == a && s->at[i].b == b)
            return;
    s->at[s->count].a = a;
    s->at[s->count++].b = b;
}

static int next_lane(uint64_t *left)
{
    int lane = __builtin_ctzll(*left);

    *left &= *left - 1;
    return lane;
}

// Different units of `unit` bytes that `lanes` touch.
static int units(const GlobalAccess *a, uint64_t lanes, int unit)
{
    Pairs s = {0};

    while (lanes)
        enter(&s, a->address[next_lane(&lanes)] / unit, 0);
    return s.count;
}

// ---- reductions ----------------------------------------------------------

// The lanes of `left` whose address no lower lane of it has.
static uint64_t first_lanes(const GlobalAccess *a, uint64_t left)
{
    uint64_t turn = 0;
    Pairs s = {0};

    while (left) {
        int lane = next_lane(&left), before = s.count;

        enter(&s, a->address[lane], 0);
        if (s.count > before)
            turn |= 1ull << lane;
    }
    return turn;
}

static void count_reduction(const GlobalAccess *a, GlobalCount *c)
{
    for (uint64_t left = a->active; left;) {
        uint64_t turn = first_lanes(a, left);
        int lines = units(a, turn, LINE);

        c->sectors += units(a, turn, SECTOR);
        c->lines += lines;
        if (lines > REDUCE_LINES)
            c->sectors_basis = c->lines_basis = BASIS_ESTIMATE;
        left &= ~turn;
    }
}

// ---- cp.async ------------------------------------------------------------

// Of one pair of lines: the most shared sectors that a global one fills.
static int most_halves(const GlobalAccess *a, int64_t far, int64_t near)
{
    int most = 0;

    for (uint64_t left = a->active; left;) {
        int l = next_lane(&left);
        Pairs halves = {0};

        if (a->address[l] / LINE != far || a->shared[l] / LINE != near)
            continue;
        for (uint64_t others = a->active; others;) {
            int o = next_lane(&others);

            if (a->address[o] / SECTOR == a->address[l] / SECTOR &&
                a->shared[o] / LINE == near)
                enter(&halves, a->shared[o] / SECTOR, 0);
        }
        most = halves.count > most ? halves.count : most;
    }
    return most;
}

static void count_bypass(const GlobalAccess *a, GlobalCount *c)
{
    Pairs lines = {0}, sectors = {0}, far = {0}, near = {0};
    int lanes = __builtin_popcountll(a->active);

    for (uint64_t left = a->active; left;) {
        int l = next_lane(&left);

        enter(&lines, a->address[l] / LINE, a->shared[l] / LINE);
        enter(&sectors, a->address[l] / SECTOR, a->shared[l] / LINE);
        enter(&far, a->address[l], 0);
        enter(&near, a->shared[l], 0);
    }
    c->lines = lines.count;
    c->sectors = sectors.count;
    for (int i = 0; i < lines.count; i++)
        c->bypasses += most_halves(a, lines.at[i].a, lines.at[i].b);
    if (lines.count > BYPASS_LINES || far.count < lanes || near.count < lanes)
        c->sectors_basis = BASIS_ESTIMATE;
}

// The most lanes that one bank serves: equal words do not merge.
static int most_lanes(const Device *d, const int64_t *address, uint64_t lanes,
                      int bytes)
{
    int count[BANK_MOST] = {0}, most = 0;

    while (lanes) {
        int64_t word = address[next_lane(&lanes)] / d->bank_bytes;

        for (int w = 0; w < (bytes + 3) / 4; w++) {
            int n = ++count[(word + w) % d->banks];

            most = n > most ? n : most;
        }
    }
    return most;
}

// Bytes leave a line of L1 by the banks of their global address and enter
// shared memory by those of their own; a lane takes one of each.
static void count_copy(const Device *d, const GlobalAccess *a, GlobalCount *c)
{
    int group = a->bytes == 16 ? 8 : a->bytes == 8 ? 16 : 32;

    for (int first = 0; first < 32; first += group) {
        uint64_t lanes = a->active >> first << first;
        int from, to;

        if (first + group < 64)
            lanes &= (1ull << (first + group)) - 1;
        if (!lanes)
            continue;
        from = most_lanes(d, a->address, lanes, a->bytes);
        to = most_lanes(d, a->shared, lanes, a->bytes);
        c->wavefronts += from > to ? from : to;
        c->conflicts += (from > to ? from : to) - 1;
        if (units(a, lanes, LINE) > 1 || (from > 1 && to > 1))
            c->shared_basis = BASIS_ESTIMATE;
    }
}

// ---- the whole -----------------------------------------------------------

GlobalCount global_count(const Device *d, const GlobalAccess *a)
{
    Basis basis = d->arch == ARCH_SM90 ? BASIS_MEASURED : BASIS_ESTIMATE;
    GlobalCount c = {.sectors_basis = basis,
                     .lines_basis = basis,
                     .shared_basis = basis};

    if (a->kind == GLOBAL_REDUCE) {
        count_reduction(a, &c);
    } else if (a->kind == GLOBAL_BYPASS) {
        count_bypass(a, &c);
    } else {
        c.sectors = units(a, a->active,
                          d->vendor == VENDOR_AMD ? AMD_SECTOR : SECTOR);
        c.lines = units(a, a->active, LINE);
    }
    if (a->kind == GLOBAL_COPY)
        count_copy(d, a, &c);
    return c;
}
