// mma_compare.c - the vector paths of matrix arithmetic against the scalar one.
//
// Usage: mma_compare [DOTS [SEED [FAMILY]]], by default 100,000,000 1 and all.
// For every arithmetic of mma_rule.def, DOTS random and adversarial dot
// products are computed by each path that the CPU has; one line a family, exit
// 1 when any differs. A failing tile prints what repeats it.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/mma.h"
#include "support/parallel.h"

enum { MAX_M = 9, MAX_N = 140, MAX_K = 320 };

// ---- random numbers: splitmix64 --------------------------------------------

typedef struct {
    uint64_t state;
} Random;

static uint64_t draw(Random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static int below(Random *r, int n)
{
    return (int)(draw(r) >> 33) % n;
}

// ---- operands --------------------------------------------------------------

// How the elements of a tile are drawn.
typedef enum {
    ANY_BITS,           // NaN and Inf among them
    FINITE_BITS,
    WINDOW,             // exponents within a few of a common one
    WIDE,               // exponents over the whole range
    SUBNORMAL,
    EDGES,              // zeros, ones, largest, smallest
    NEAR_TOP,           // products that overflow
    ONES,               // significands of all ones
    FULL,               // the same, positive, of one exponent: sums carry far
    SPARSE,             // mostly zero
    CANCEL,             // pairs that cancel
    MODES
} Mode;

static uint64_t compose(const MmaTypeInfo *t, Random *r, int exponent)
{
    int top = (1 << t->exponent_bits) - 1 - (t->specials == MMA_IEEE);
    int field = exponent < 0 ? 0 : exponent > top ? top : exponent;
    uint64_t m = draw(r) & ((1ull << t->mantissa_bits) - 1);
    uint64_t code = (uint64_t)field << t->mantissa_bits | m;
    uint64_t most = (1ull << (t->exponent_bits + t->mantissa_bits)) - 1;
    if (t->specials == MMA_FN && code == most)
        code--;
    uint64_t sign = draw(r) & 1;
    if (t->specials == MMA_FNUZ && code == 0)
        sign = 0;
    return code | sign << (t->exponent_bits + t->mantissa_bits);
}

static uint64_t edge(const MmaTypeInfo *t, Random *r)
{
    uint64_t one = (uint64_t)t->bias << t->mantissa_bits;
    uint64_t least = 1ull << t->mantissa_bits;
    uint64_t largest = compose(t, r, 1 << t->exponent_bits);
    uint64_t codes[] = {0, one, least, least - 1, 1, largest, one + 1};
    uint64_t code = codes[below(r, countof(codes))];
    uint64_t sign = draw(r) & 1;
    if (t->specials == MMA_FNUZ && code == 0)
        sign = 0;
    return code | sign << (t->exponent_bits + t->mantissa_bits);
}

static uint64_t float_code(const MmaTypeInfo *t, Random *r, Mode mode, int base)
{
    int fields = 1 << t->exponent_bits;
    uint64_t ones = (1ull << t->mantissa_bits) - 1;
    switch (mode) {
    case ANY_BITS:
        return draw(r) >> (63 - t->exponent_bits - t->mantissa_bits);
    case WINDOW:
        return compose(t, r, base + below(r, 6) - 3);
    case SUBNORMAL:
        return compose(t, r, below(r, 3));
    case EDGES:
        return edge(t, r);
    case NEAR_TOP:
        return compose(t, r, fields - 1 - below(r, 4));
    case FULL:
        return (compose(t, r, base) | ones) &
               ~(1ull << (t->exponent_bits + t->mantissa_bits));
    case ONES:
        return compose(t, r, base + below(r, 3)) | ones >> below(r, 3);
    case SPARSE:
        return below(r, 5) ? 0 : compose(t, r, base + below(r, 12) - 6);
    default:
        return compose(t, r, below(r, fields));
    }
}

static uint64_t code(const MmaTypeInfo *t, Random *r, Mode mode, int base)
{
    int width = t->exponent_bits + t->mantissa_bits + 1;
    if (t->specials == MMA_NONE)
        return mode == EDGES ? (uint64_t)(below(r, 2) ? 0x7f : 0x80)
                             : draw(r);
    uint64_t c = float_code(t, r, mode, base);
    if (t->specials == MMA_FN && (c & 0x7f) == 0x7f && mode != ANY_BITS)
        c ^= 1;
    int spare = t->bits - width;                // tf32: ignored low bits
    return spare ? c << spare | (draw(r) >> (64 - spare)) : c;
}

static void put(void *at, int64_t i, int bits, uint64_t v)
{
    memcpy((char *)at + i * bits / 8, &v, (size_t)bits / 8);
}

static uint64_t get(const void *at, int64_t i, int bits)
{
    uint64_t v = 0;
    memcpy(&v, (const char *)at + i * bits / 8, (size_t)bits / 8);
    return v;
}

// `exponent` is where most values lie.
static void fill(const MmaTypeInfo *t, Random *r, void *at, int64_t n,
                 Mode mode, int exponent)
{
    uint64_t sign = 1ull << (t->bits - 1);
    for (int64_t i = 0; i < n; i++)
        put(at, i, t->bits, code(t, r, mode, t->bias + exponent));
    for (int64_t i = 0; mode == CANCEL && i + 1 < n; i += 2)
        put(at, i + 1, t->bits, get(at, i, t->bits) ^ sign);
    for (int k = 0; k < 2 && below(r, 20) == 0; k++)
        put(at, below(r, (int)n), t->bits, draw(r));
}

// Exponents of A, B and C such that products and C meet, most often where
// something happens: around one, at the top of f32, where floats or f16 end.
static void draw_exponents(Random *r, int out[3])
{
    static const int places[] = {0, 0, 0, 127, 110, -90, -126, -133, -21, -14,
                                 15, 30};
    int product = places[below(r, countof(places))] + below(r, 9) - 4;
    out[0] = product / 2 + below(r, 17) - 8;
    out[1] = product - out[0];
    out[2] = product + (below(r, 2) ? below(r, 9) - 4 : below(r, 81) - 40);
}

static Mode draw_mode(Random *r)
{
    return (Mode)below(r, MODES);
}

// ---- one tile --------------------------------------------------------------

typedef struct {
    MmaSpec spec;
    int64_t dots;               // asked for
    uint64_t seed;
    int family;
    bool paths[MMA_PATH_VECTOR + 1];
    struct Tally {
        int64_t dots, differ;
        char pad[48];
    } *tally;                   // of a worker
} Family;

typedef struct {
    _Alignas(64) char a[MAX_M * MAX_K * 8], b[MAX_N * MAX_K * 8];
    _Alignas(64) char c[MAX_M * MAX_N * 8], want[MAX_M * MAX_N * 8];
    _Alignas(64) char got[MAX_M * MAX_N * 8];
    MmaSpec spec;
    MmaTile tile;
} Case;

static int random_step(const MmaSpec *s, Random *r)
{
    if (s->rule == MMA_FUSED && s->fraction == 25)
        return s->step >> below(r, 2);          // k8 of a k16 instruction
    if (s->rule == MMA_LATE)
        return below(r, 4) ? s->step : 4;
    return s->step;
}

static void make_case(Case *c, const MmaSpec *s, Random *r)
{
    c->spec = *s;
    c->spec.step = random_step(s, r);
    c->spec.negate_a = below(r, 4) == 0;
    c->spec.saturate = below(r, 4) == 0;
    c->spec.skip_renormalise = below(r, 4) == 0;
    int most = MAX_K / c->spec.step;
    int steps = 1 + below(r, below(r, 8) ? (most < 4 ? most : 4) : most);
    int m = 1 + below(r, MAX_M), n = 1 + below(r, MAX_N);
    int k = steps * c->spec.step;
    int exponent[3];
    Mode mode = draw_mode(r);
    draw_exponents(r, exponent);
    fill(mma_type_info(s->a), r, c->a, (int64_t)m * k, mode, exponent[0]);
    mode = below(r, 2) ? mode : draw_mode(r);
    fill(mma_type_info(s->b), r, c->b, (int64_t)n * k, mode, exponent[1]);
    mode = below(r, 2) ? mode : draw_mode(r);
    fill(mma_type_info(s->acc), r, c->c, (int64_t)m * n, mode, exponent[2]);
    c->tile = (MmaTile){m, n, k, c->a, c->b, below(r, 6) ? c->c : NULL,
                        NULL, k, k, n, n};
}

static int64_t differences(Case *c, MmaPath path)
{
    int bits = mma_type_info(c->spec.acc)->bits;
    int64_t n = (int64_t)c->tile.m * c->tile.n, differ = 0;
    c->tile.d = c->got;
    mma_tile(&c->spec, path, &c->tile);
    for (int64_t i = 0; i < n; i++)
        differ += get(c->want, i, bits) != get(c->got, i, bits);
    return differ;
}

static void run_tile(void *context, int worker, int64_t item)
{
    static const MmaPath paths[] = {MMA_PATH_AVX2, MMA_PATH_AVX512};
    Family *f = context;
    struct Tally *tally = &f->tally[worker];
    Random r = {f->seed ^ (uint64_t)item * 0xd1342543de82ef95};
    Case *c = aligned_alloc(64, sizeof *c);
    make_case(c, &f->spec, &r);
    c->tile.d = c->want;
    mma_tile(&c->spec, MMA_PATH_SCALAR, &c->tile);
    tally->dots += (int64_t)c->tile.m * c->tile.n *
                   (c->tile.k / c->spec.step);
    for (size_t p = 0; p < countof(paths); p++) {
        int64_t differ = f->paths[paths[p]] ? differences(c, paths[p]) : 0;
        if (differ)
            fprintf(stderr, "family %d, tile %" PRId64 ", path %d: %" PRId64
                    " of %d x %d differ\n", f->family, item, (int)paths[p],
                    differ, c->tile.m, c->tile.n);
        tally->differ += differ;
    }
    free(c);
}

// At least: a family is run in parts, so that it is not run much too long.
enum { PARTS = 16 };

static int64_t mean_dots(const MmaSpec *s)
{
    return (int64_t)(MAX_M + 1) / 2 * (MAX_N + 1) / 2 * (s->step > 1 ? 2 : 8);
}

static bool run_family(int family, int64_t dots, uint64_t seed)
{
    Family f = {.spec = mma_spec_at(family), .family = family,
                .seed = seed + (uint64_t)family};
    struct Tally sum = {0};
    int workers = parallel_threads();
    f.tally = calloc((size_t)workers, sizeof *f.tally);
    for (MmaPath p = MMA_PATH_AVX2; p <= MMA_PATH_AVX512; p++)
        f.paths[p] = mma_has_path(p);
    for (int64_t from = 0; sum.dots < dots && !sum.differ;) {
        int64_t tiles = dots / PARTS / mean_dots(&f.spec) + 1;
        sum = (struct Tally){0};
        f.seed += (uint64_t)from;
        parallel_for(tiles, 16, run_tile, &f);
        from += tiles;
        for (int w = 0; w < workers; w++) {
            sum.dots += f.tally[w].dots;
            sum.differ += f.tally[w].differ;
        }
    }
    printf("%-5s %8s x %-8s -> %s: %11" PRId64 " dot products, %" PRId64
           " differ\n", mma_unit_name(f.spec.unit),
           mma_type_info(f.spec.a)->name, mma_type_info(f.spec.b)->name,
           mma_type_info(f.spec.acc)->name, sum.dots, sum.differ);
    fflush(stdout);
    free(f.tally);
    return sum.differ == 0;
}

int main(int argc, char **argv)
{
    int64_t dots = argc > 1 ? atoll(argv[1]) : 100000000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    bool ok = true;
    if (!mma_has_path(MMA_PATH_AVX2)) {
        puts("no vector path on this CPU");
        return 77;
    }
    parallel_set_threads(0);
    printf("seed %" PRIu64 ", paths: scalar, avx2%s\n", seed,
           mma_has_path(MMA_PATH_AVX512) ? ", avx512" : "");
    for (int i = 0; i < mma_spec_count(); i++)
        if (argc < 4 || atoi(argv[3]) == i)
            ok &= run_family(i, dots, seed);
    return ok ? 0 : 1;
}
