// supply.c - generated inputs: upstream's rules on a counter-based generator.
//
// Element i of parameter p is a pure function of (seed, p, i), so that a
// tensor is the same whoever fills which part of it. Philox4x32-10: Salmon et
// al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
#include <math.h>
#include <string.h>

#include "host/host.h"
#include "num/lanes.h"
#include "support/parallel.h"

enum { GRAIN = 1024 };

void philox4x32(const uint32_t counter[4], const uint32_t key[2],
                uint32_t out[4])
{
    uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]};
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53u * c[0];
        uint64_t b = (uint64_t)0xCD9E8D57u * c[2];
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k0, (uint32_t)b,
                            (uint32_t)(a >> 32) ^ c[3] ^ k1, (uint32_t)a};
        for (int i = 0; i < 4; i++)
            c[i] = next[i];
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    for (int i = 0; i < 4; i++)
        out[i] = c[i];
}

typedef struct {
    Tensor *t;
    SupplyKind kind;
    uint32_t key[2], high;
    const Lanes *lanes;
} Fill;

static double unit(uint32_t word)               // [0, 1), 24 bits: exact in f32
{
    return (word >> 8) * 0x1p-24;
}

static double below(uint32_t word, int low, int count)
{
    return low + (int)((uint64_t)word * count >> 32);
}

// Box and Muller's pair, its first value; the lane functions are the same on
// every machine, libm's are not.
static void normal(const Fill *f, const uint32_t *w0, const uint32_t *w1,
                   double *out, int64_t n)
{
    double radius[GRAIN], angle[GRAIN];
    LaneFn *const log = f->lanes->op[LANE_OP_LOG][LANE_F64];
    LaneFn *const cosine = f->lanes->op[LANE_OP_COS][LANE_F64];
    for (int64_t i = 0; i < n; i++) {
        radius[i] = (w0[i] + 1.0) * 0x1p-32;
        angle[i] = unit(w1[i]) * 6.283185307179586;
    }
    log(radius, radius, NULL, NULL, n);
    cosine(angle, angle, NULL, NULL, n);
    for (int64_t i = 0; i < n; i++)
        out[i] = sqrt(-2 * radius[i]) * angle[i]
                 - (f->kind == SUPPLY_NORMAL ? 1 : 0);
}

// What an integer draw covers: `count` values from `low` on; 0: floats.
static int integer_range(DType t, SupplyKind kind, int *low)
{
    *low = 0;
    switch (dtype_info(t)->kind) {
    case KIND_BOOL:
        return 2;
    case KIND_UINT:
        return 3;
    case KIND_INT:
        *low = -2;
        return 5;
    default:
        break;
    }
    if (kind == SUPPLY_INTEGER) {
        *low = -2;
        return 5;
    }
    if (kind == SUPPLY_AUTO && t == DT_E2M1FN) {
        *low = -6;
        return 13;
    }
    if (kind == SUPPLY_AUTO && dtype_is_fp8(t)) {
        *low = -128;
        return 256;
    }
    return 0;
}

static void draw(const Fill *f, const uint32_t *w0, const uint32_t *w1,
                 double *out, int64_t n)
{
    int low, count = integer_range(f->t->dtype, f->kind, &low);
    if (f->kind == SUPPLY_NORMAL || f->kind == SUPPLY_RANDN) {
        normal(f, w0, w1, out, n);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        if (f->kind == SUPPLY_ZERO || f->kind == SUPPLY_ONE)
            out[i] = f->kind == SUPPLY_ONE;
        else if (f->kind == SUPPLY_UNIFORM && count)
            out[i] = 1;         // U(-1,1) as an integer: upstream's ones
        else
            out[i] = count ? below(w0[i], low, count) : 2 * unit(w0[i]) - 1;
    }
}

static void fill_part(void *ctx, int worker, int64_t item)
{
    const Fill *f = ctx;
    (void)worker;
    double values[GRAIN];
    uint32_t w0[GRAIN], w1[GRAIN];
    int64_t first = item * GRAIN, n = tensor_count(f->t) - first;
    n = n < GRAIN ? n : GRAIN;
    f->lanes->philox(w0, w1, (uint64_t)first, n, f->high, f->key);
    draw(f, w0, w1, values, n);
    char *at = tensor_data(f->t);
    f->lanes->store_f64[f->t->dtype](
        at + dtype_bytes(f->t->dtype, first), values, NULL, NULL, n);
}

void supply_fill(Tensor *t, SupplyKind kind, uint64_t seed, uint32_t param)
{
    if (!tensor_is_contiguous(t))
        BUG("supply_fill needs a contiguous tensor");
    Fill f = {.t = t, .kind = kind, .key = {(uint32_t)seed, param},
              .high = (uint32_t)(seed >> 32), .lanes = lanes_best()};
    int64_t parts = (tensor_count(t) + GRAIN - 1) / GRAIN;
    parallel_for(parts, 16, fill_part, &f);
}

const char *supply_words(SupplyKind kind, DType t)
{
    static const char *const words[] = {
        [SUPPLY_ZERO] = "0", [SUPPLY_ONE] = "1", [SUPPLY_NORMAL] = "N(-1,1)",
        [SUPPLY_RANDN] = "N(0,1)",
    };
    if (kind < SUPPLY_COUNT && words[kind])
        return words[kind];
    if (dtype_is_float(t) && kind != SUPPLY_INTEGER)
        return kind != SUPPLY_AUTO ? "U(-1,1)"
               : t == DT_E2M1FN    ? "-6..6"
               : dtype_is_fp8(t)   ? "-128..127"
                                   : "U(-1,1)";
    if (kind == SUPPLY_UNIFORM)
        return "1";
    return dtype_info(t)->kind == KIND_BOOL ? "0..1"
           : dtype_info(t)->kind == KIND_UINT ? "0..2" : "-2..2";
}

// ---- outputs ----------------------------------------------------------------

enum { POISON_BYTES = 1 << 20 };

static void poison_part(void *ctx, int worker, int64_t item)
{
    const Tensor *t = ctx;
    size_t all = dtype_bytes(t->dtype, tensor_count(t));
    size_t from = (size_t)item * POISON_BYTES;
    size_t n = all - from < POISON_BYTES ? all - from : POISON_BYTES;
    (void)worker;
    // all bits set is a NaN of every float but the fnuz kinds, and -1
    memset((char *)tensor_data(t) + from, t->dtype == DT_BOOL ? 1 : 0xff, n);
}

void tensor_poison(Tensor *t)
{
    size_t all = dtype_bytes(t->dtype, tensor_count(t));
    if (t->dtype == DT_E4M3FNUZ || t->dtype == DT_E5M2FNUZ)
        memset(tensor_data(t), 0x80, all);      // their only NaN
    else
        parallel_for((int64_t)((all + POISON_BYTES - 1) / POISON_BYTES), 1,
                     poison_part, t);
}
