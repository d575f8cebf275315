// mma_scalar.c - matrix-core arithmetic in plain integers, the reference.
//
// A product is kept as an exact integer; truncate() brings it to the grid of
// the step's largest exponent, dropping what lies below. From there on all
// sums are exact, and encode() is the only place that rounds.
#include "num/mma_int.h"

#include <math.h>
#include <string.h>

enum { NO_EXPONENT = -100000 };                 // of a sum of zeros

// A signed number on the grid of 2^exponent.
typedef struct {
    int64_t value;
    int exponent;
} Fixed;

static uint64_t mma_load(const void *at, int64_t i, int bits)
{
    switch (bits) {
    case 8:
        return ((const uint8_t *)at)[i];
    case 16:
        return ((const uint16_t *)at)[i];
    case 32:
        return ((const uint32_t *)at)[i];
    default:
        return ((const uint64_t *)at)[i];
    }
}

void mma_store(void *at, int64_t i, int bits, uint64_t value)
{
    switch (bits) {
    case 8:
        ((uint8_t *)at)[i] = (uint8_t)value;
        break;
    case 16:
        ((uint16_t *)at)[i] = (uint16_t)value;
        break;
    case 32:
        ((uint32_t *)at)[i] = (uint32_t)value;
        break;
    default:
        ((uint64_t *)at)[i] = value;
    }
}

static bool is_nan_code(const MmaTypeInfo *t, uint32_t field, uint32_t fraction,
                        bool negative)
{
    uint32_t top = (1u << t->exponent_bits) - 1;
    uint32_t ones = (1u << t->mantissa_bits) - 1;
    switch (t->specials) {
    case MMA_IEEE:
        return field == top && fraction;
    case MMA_FN:
        return field == top && fraction == ones;
    case MMA_FNUZ:
        return negative && field == 0 && fraction == 0;
    default:
        return false;
    }
}

MmaNumber mma_decode(const MmaTypeInfo *t, uint32_t bits)
{
    int width = 1 + t->exponent_bits + t->mantissa_bits;
    bits >>= t->bits - width;                   // tf32 ignores its low bits
    uint32_t fraction = bits & ((1u << t->mantissa_bits) - 1);
    uint32_t top = (1u << t->exponent_bits) - 1;
    uint32_t field = bits >> t->mantissa_bits & top;
    MmaNumber n = {.class = MMA_FINITE, .negative = bits >> (width - 1)};
    if (is_nan_code(t, field, fraction, n.negative))
        n.class = MMA_NAN;
    else if (t->specials == MMA_IEEE && field == top)
        n.class = MMA_INF;
    else if (field == 0 && fraction == 0)
        n.class = MMA_ZERO;
    n.exponent = (field ? (int)field : 1) - t->bias;
    n.significand = fraction | (field ? 1u << t->mantissa_bits : 0);
    return n;
}

// Arithmetic shift for any distance: left when `by` is positive, else right,
// rounding toward minus infinity.
static int64_t shift_floor(int64_t v, int by)
{
    if (by >= 0)
        return (int64_t)((uint64_t)v << by);
    return v >> (by < -63 ? 63 : -by);
}

static int64_t shift_toward_zero(int64_t v, int by)
{
    return v < 0 ? -shift_floor(-v, by) : shift_floor(v, by);
}

// `scaled` * 2^exponent, which the format can hold but for its range, to bits.
static uint64_t pack(const MmaTypeInfo *t, bool negative, uint64_t scaled,
                     int exponent)
{
    int m = t->mantissa_bits;
    uint64_t sign = (uint64_t)negative << (t->bits - 1);
    uint64_t top = (1ull << t->exponent_bits) - 1;
    if (scaled >> (m + 1)) {                    // rounded up to a power of two
        scaled >>= 1;
        exponent++;
    }
    if (!(scaled >> m))
        return sign | scaled;                   // subnormal or zero
    uint64_t field = (uint64_t)(exponent + m + t->bias);
    if (field >= top)
        return sign | top << m;
    return sign | field << m | (scaled & ((1ull << m) - 1));
}

static int bit_length(uint64_t v)
{
    return v ? 64 - __builtin_clzll(v) : 0;
}

typedef enum { TOWARD_ZERO, TO_NEAREST } Rounding;

// Rounds to `keep` significant bits (fewer where the format is subnormal).
static uint64_t encode(const MmaTypeInfo *t, Fixed x, int keep, Rounding mode)
{
    bool negative = x.value < 0;
    uint64_t v = negative ? -(uint64_t)x.value : (uint64_t)x.value;
    int lead = bit_length(v) - 1 + x.exponent;
    int least = 1 - t->bias;
    int grid = (lead > least ? lead : least) - (keep - 1);
    int drop = grid - x.exponent;
    uint64_t kept = v;
    if (drop > 63) {
        kept = 0;
    } else if (drop > 0) {
        uint64_t rest = v & ((1ull << drop) - 1), half = 1ull << (drop - 1);
        kept = v >> drop;
        if (mode == TO_NEAREST)
            kept += rest > half || (rest == half && (kept & 1));
    }
    if (drop < 0)
        kept <<= -drop;
    int spare = t->mantissa_bits - (keep - 1);  // e8m13 in an f32
    return pack(t, negative, kept << spare, grid - spare);
}

// What the special operands of a step amount to.
typedef struct {
    bool nan, plus, minus;
} Specials;

static void note_special(Specials *s, MmaClass class, bool negative)
{
    s->nan |= class == MMA_NAN;
    s->plus |= class == MMA_INF && !negative;
    s->minus |= class == MMA_INF && negative;
}

static void note_product(Specials *s, MmaNumber a, MmaNumber b)
{
    bool infinite = a.class == MMA_INF || b.class == MMA_INF;
    bool zero = a.class == MMA_ZERO || b.class == MMA_ZERO;
    if (a.class == MMA_NAN || b.class == MMA_NAN || (infinite && zero))
        s->nan = true;
    else if (infinite)
        note_special(s, MMA_INF, a.negative != b.negative);
}

static bool any_special(const Specials *s, const MmaSpec *spec, uint64_t *out)
{
    const MmaTypeInfo *t = mma_type_info(spec->acc);
    if (!s->nan && !s->plus && !s->minus)
        return false;
    uint64_t infinity = ((1ull << t->exponent_bits) - 1) << t->mantissa_bits;
    if (s->nan || (s->plus && s->minus))
        *out = spec->nan;
    else
        *out = infinity | (uint64_t)s->minus << (t->bits - 1);
    return true;
}

// The operands of one step, decoded.
typedef struct {
    int count, fraction_bits;                   // of a product
    MmaNumber a[32], b[32];
    MmaNumber c;
} Step;

static bool is_product(const Step *s, int i)
{
    return s->a[i].class == MMA_FINITE && s->b[i].class == MMA_FINITE;
}

static int product_exponent(const Step *s, int i)
{
    return s->a[i].exponent + s->b[i].exponent;
}

static int64_t product(const Step *s, int i)
{
    int64_t p = (int64_t)s->a[i].significand * s->b[i].significand;
    return s->a[i].negative != s->b[i].negative ? -p : p;
}

static int64_t signed_significand(MmaNumber n)
{
    if (n.class != MMA_FINITE)
        return 0;
    return n.negative ? -(int64_t)n.significand : (int64_t)n.significand;
}

static bool product_overflows(const Step *s, int i)
{
    int64_t p = product(s, i);
    int lead = bit_length(p < 0 ? -(uint64_t)p : (uint64_t)p) - 1;
    return is_product(s, i) &&
           lead - s->fraction_bits + product_exponent(s, i) >= 128;
}

static Specials step_specials(const MmaSpec *spec, const Step *s)
{
    Specials found = {0};
    note_special(&found, s->c.class, s->c.negative);
    for (int i = 0; i < s->count; i++) {
        note_product(&found, s->a[i], s->b[i]);
        if (spec->rule == MMA_LATE && product_overflows(s, i))
            note_special(&found, MMA_INF, product(s, i) < 0);
    }
    return found;
}

// Largest exponent of products first, first + stride, ...
static int largest_exponent(const Step *s, int first, int stride)
{
    int e = NO_EXPONENT;
    for (int i = first; i < s->count; i += stride)
        if (is_product(s, i) && product_exponent(s, i) > e)
            e = product_exponent(s, i);
    return e;
}

// Their sum in units of 2^(e - fraction), each cut off toward zero.
static Fixed truncated_sum(const Step *s, int first, int stride, int e,
                           int fraction)
{
    int64_t sum = 0;
    for (int i = first; i < s->count; i += stride)
        if (is_product(s, i))
            sum += shift_toward_zero(product(s, i),
                                     fraction - s->fraction_bits +
                                         product_exponent(s, i) - e);
    return (Fixed){sum, e - fraction};
}

// T-FDPA: c takes part in the alignment and in the sum.
static uint64_t fused(const MmaSpec *spec, const Step *s)
{
    const MmaTypeInfo *acc = mma_type_info(spec->acc);
    int e = largest_exponent(s, 0, 1);
    int ec = s->c.class == MMA_ZERO ? spec->floor : s->c.exponent;
    if (ec > e)
        e = ec;
    Fixed sum = truncated_sum(s, 0, 1, e, spec->fraction);
    sum.value += shift_toward_zero(signed_significand(s->c),
                                   spec->fraction - acc->mantissa_bits +
                                       s->c.exponent - e);
    uint64_t d = encode(acc, sum, spec->keep,
                        spec->acc == MMA_F16 ? TO_NEAREST : TOWARD_ZERO);
    return d << (64 - acc->bits + 1) ? d : 0;   // never a negative zero
}

static bool all_negative_zero(const Step *s)
{
    if (s->c.class != MMA_ZERO || !s->c.negative)
        return false;
    for (int i = 0; i < s->count; i++)
        if (is_product(s, i) || s->a[i].negative == s->b[i].negative)
            return false;
    return true;
}

// The products of a CDNA 3 step in units of 2^(e - 24), and e.
static Fixed late_products(const MmaSpec *spec, const Step *s, int *e)
{
    if (spec->rule == MMA_LATE) {
        *e = largest_exponent(s, 0, 1);
        return truncated_sum(s, 0, 1, *e, spec->fraction);
    }
    int e0 = largest_exponent(s, 0, 2), e1 = largest_exponent(s, 1, 2);
    *e = e0 > e1 ? e0 : e1;
    Fixed even = truncated_sum(s, 0, 2, e0, spec->fraction);
    Fixed odd = truncated_sum(s, 1, 2, e1, spec->fraction);
    int64_t sum = shift_floor(even.value, e0 - *e) +
                  shift_floor(odd.value, e1 - *e);
    return (Fixed){sum, *e - spec->fraction};
}

// Floors to 31 bits below the leading one.
static Fixed renormalise(Fixed t)
{
    uint64_t v = t.value < 0 ? -(uint64_t)t.value : (uint64_t)t.value;
    int lead = bit_length(v) - 1 + t.exponent;
    int grid = (lead > -126 ? lead : -126) - 31;
    if (grid <= t.exponent)
        return t;
    return (Fixed){shift_floor(t.value, t.exponent - grid), grid};
}

// TR-FDPA and GTR-FDPA: c is added late, everything rounds down, then once to
// nearest.
static uint64_t late(const MmaSpec *spec, const Step *s)
{
    const MmaTypeInfo *acc = mma_type_info(spec->acc);
    int ed;
    Fixed sum = late_products(spec, s, &ed);
    int ec = s->c.class == MMA_ZERO ? -126 : s->c.exponent;
    int e = ed > ec ? ed : ec;
    int grid = spec->skip_renormalise ? e - 31 : e - 32;
    int64_t c = shift_floor(signed_significand(s->c), 24 - 23 + ec - e);
    if (spec->rule == MMA_LATE2 && ec < e - 25)
        c = 0;
    Fixed t = {shift_floor(sum.value, sum.exponent - grid), grid};
    t.value += shift_floor(c, e - 24 - grid);
    if (!spec->skip_renormalise)
        t = renormalise(t);
    if (t.value == 0 && spec->negative_zero && all_negative_zero(s))
        return 0x80000000;
    return encode(acc, t, spec->keep, TO_NEAREST);
}

static void load_step(const MmaSpec *spec, Step *s, const void *a,
                      const void *b, int64_t at)
{
    const MmaTypeInfo *ta = mma_type_info(spec->a);
    const MmaTypeInfo *tb = mma_type_info(spec->b);
    s->count = spec->step;
    s->fraction_bits = ta->mantissa_bits + tb->mantissa_bits;
    for (int i = 0; i < s->count; i++) {
        s->a[i] = mma_decode(ta, (uint32_t)mma_load(a, at + i, ta->bits));
        s->b[i] = mma_decode(tb, (uint32_t)mma_load(b, at + i, tb->bits));
        s->a[i].negative ^= spec->negate_a;
    }
}

static uint64_t sum_step(const MmaSpec *spec, Step *s, uint64_t c)
{
    uint64_t special;
    s->c = mma_decode(mma_type_info(spec->acc), (uint32_t)c);
    Specials found = step_specials(spec, s);
    if (any_special(&found, spec, &special))
        return special;
    return spec->rule == MMA_FUSED ? fused(spec, s) : late(spec, s);
}

// An fp8 as the f16 that the conversion before an HMMA makes of it: the same
// value, with subnormals normalised.
static MmaNumber as_f16(MmaNumber n, int mantissa_bits)
{
    if (n.class != MMA_FINITE)
        return n;
    n.significand <<= 10 - mantissa_bits;
    while (n.significand < 1024 && n.exponent > -14) {
        n.significand <<= 1;
        n.exponent--;
    }
    return n;
}

static double value_of(MmaNumber n, int mantissa_bits)
{
    double v = n.class == MMA_INF ? INFINITY
               : n.class == MMA_FINITE
                   ? ldexp(n.significand, n.exponent - mantissa_bits)
                   : 0;
    return n.negative ? -v : v;
}

static uint64_t round_f64(const MmaTypeInfo *t, double v, int keep)
{
    int exponent;
    bool negative = signbit(v);
    if (isinf(v))
        return pack(t, negative, 1ull << t->mantissa_bits, t->bias + 1);
    if (v == 0)
        return pack(t, negative, 0, 0);
    double fraction = frexp(v, &exponent);
    Fixed exact = {(int64_t)ldexp(fraction, 53), exponent - 53};
    return encode(t, exact, keep, TO_NEAREST);
}

// t + c in IEEE arithmetic; a double holds the sum of two f16 exactly, and an
// f32 sum rounded to double first comes out the same (53 >= 2 * 24 + 2).
static uint64_t add_ieee(const MmaSpec *spec, uint64_t x, uint64_t y)
{
    const MmaTypeInfo *t = mma_type_info(spec->acc);
    int m = t->mantissa_bits;
    MmaNumber nx = mma_decode(t, (uint32_t)x), ny = mma_decode(t, (uint32_t)y);
    if (nx.class == MMA_NAN || ny.class == MMA_NAN)
        return spec->nan;
    double sum = value_of(nx, m) + value_of(ny, m);
    return isnan(sum) ? spec->nan : round_f64(t, sum, spec->keep);
}

// fp8 through mma.sync: k mod 4 in {0, 1}, then {2, 3}, then c.
static uint64_t halves_step(const MmaSpec *spec, const Step *s, uint64_t c)
{
    MmaSpec core = *spec;
    core.rule = MMA_FUSED;
    uint64_t t = 0;
    for (int half = 0; half < 2; half++) {
        Step part = {.fraction_bits = 20};
        for (int i = 0; i < s->count; i++) {
            if ((i / 2 & 1) != half)
                continue;
            part.a[part.count] =
                as_f16(s->a[i], mma_type_info(spec->a)->mantissa_bits);
            part.b[part.count++] =
                as_f16(s->b[i], mma_type_info(spec->b)->mantissa_bits);
        }
        t = sum_step(&core, &part, t);
    }
    return add_ieee(spec, t, c);
}

static double as_double(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static float as_float(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float v;
    memcpy(&v, &low, sizeof v);
    return v;
}

// A NaN of an f64 chain: Hopper passes on b's, else c's, else a's, quieted.
static uint64_t chain_nan(const MmaSpec *spec, double a, double b, double c)
{
    double pick = isnan(b) ? b : isnan(c) ? c : a;
    uint64_t bits;
    if (spec->unit == MMA_UNIT_MFMA || !isnan(pick))
        return spec->nan;
    memcpy(&bits, &pick, sizeof bits);
    return bits | 1ull << 51;
}

static uint64_t chain_f64(const MmaSpec *spec, uint64_t a, uint64_t b,
                          uint64_t c)
{
    double x = as_double(a), y = as_double(b), z = as_double(c);
    double r = fma(spec->negate_a ? -x : x, y, z);
    uint64_t bits;
    if (isnan(r))
        return chain_nan(spec, x, y, z);
    memcpy(&bits, &r, sizeof bits);
    return bits;
}

static uint64_t chain_f32(const MmaSpec *spec, uint64_t a, uint64_t b,
                          uint64_t c)
{
    float x = as_float(a), y = as_float(b), z = as_float(c);
    float r = fmaf(spec->negate_a ? -x : x, y, z);
    uint32_t bits;
    if (isnan(r))
        return spec->nan;
    memcpy(&bits, &r, sizeof bits);
    return bits;
}

static uint64_t chain_step(const MmaSpec *spec, const void *a, const void *b,
                           int64_t at, uint64_t c)
{
    int bits = mma_type_info(spec->acc)->bits;
    uint64_t x = mma_load(a, at, bits), y = mma_load(b, at, bits);
    return bits == 64 ? chain_f64(spec, x, y, c) : chain_f32(spec, x, y, c);
}

static int64_t integer_at(const void *at, int64_t i, MmaType t)
{
    uint8_t v = ((const uint8_t *)at)[i];
    return t == MMA_S8 ? (int8_t)v : v;
}

static uint64_t exact_step(const MmaSpec *spec, const void *a, const void *b,
                           int64_t at, uint64_t c)
{
    int64_t sum = (int32_t)(uint32_t)c;
    for (int i = 0; i < spec->step; i++) {
        int64_t x = integer_at(a, at + i, spec->a);
        sum += (spec->negate_a ? -x : x) * integer_at(b, at + i, spec->b);
    }
    if (spec->saturate)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)sum;
}

uint64_t mma_scalar_dot(const MmaSpec *s, const void *a, const void *b,
                        int k, uint64_t c)
{
    Step step;
    for (int at = 0; at < k; at += s->step) {
        switch (s->rule) {
        case MMA_CHAIN:
            c = chain_step(s, a, b, at, c);
            break;
        case MMA_EXACT:
            c = exact_step(s, a, b, at, c);
            break;
        default:
            load_step(s, &step, a, b, at);
            c = s->rule == MMA_HALVES ? halves_step(s, &step, c)
                                      : sum_step(s, &step, c);
        }
    }
    return c;
}

void mma_tile_scalar(const MmaSpec *s, const MmaTile *t)
{
    int bits_a = mma_type_info(s->a)->bits, bits_b = mma_type_info(s->b)->bits;
    int bits_d = mma_type_info(s->acc)->bits;
    for (int i = 0; i < t->m; i++) {
        const char *a = (const char *)t->a + i * t->lda * bits_a / 8;
        for (int j = 0; j < t->n; j++) {
            const char *b = (const char *)t->b + j * t->ldb * bits_b / 8;
            uint64_t c = t->c ? mma_load(t->c, i * t->ldc + j, bits_d) : 0;
            mma_store(t->d, i * t->ldd + j, bits_d,
                      mma_scalar_dot(s, a, b, t->k, c));
        }
    }
}
