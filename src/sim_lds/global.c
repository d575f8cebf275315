// global.c - sectors and lines.
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
    if (lines.count > BYPASS_LINES || far.count < lanes || near.count < lanes)
        c->sectors_basis = BASIS_ESTIMATE;
}

// ---- the whole -----------------------------------------------------------

GlobalCount global_count(const Device *d, const GlobalAccess *a)
{
    Basis basis = d->arch == ARCH_SM90 ? BASIS_MEASURED : BASIS_ESTIMATE;
    GlobalCount c = {.sectors_basis = basis,
                     .lines_basis = basis};

    if (a->kind == GLOBAL_REDUCE) {
        count_reduction(a, &c);
    } else if (a->kind == GLOBAL_BYPASS) {
        count_bypass(a, &c);
    } else {
        c.sectors = units(a, a->active,
                          d->vendor == VENDOR_AMD ? AMD_SECTOR : SECTOR);
        c.lines = units(a, a->active, LINE);
    }
    return c;
}
