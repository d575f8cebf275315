// mma_sum.h - the fused sums of Hopper and CDNA 3, LANES columns at a time.
//
// A product of two decoded operands is exact in a float. Multiplied by a power
// of two and converted to int32 it is cut off toward zero on the grid of the
// sum's largest exponent, which is all that the hardware does to it; the sum
// of a step is then exact in an int32. What remains is done in doubles. Lanes
// with an Inf or NaN, and those whose scale a float could not hold, are left
// to the scalar path. Included by the vector paths.
#include "num/mma_pack.h"

enum { SUMS = CHUNK / 4 };                      // of a chunk at most
// Rows are registers: loops over them must vanish.
#define UNROLL _Pragma("GCC unroll 8")
#define EACH_ROW(r) UNROLL for (int r = 0; r < ROWS; r++)

typedef struct {
    const MmaSpec *spec;
    const MmaTile *tile;
    int column, k, count;                       // of the panel and chunk
    int row;
    int width;                                  // of a sum: step, or half
    int fraction;
    int32_t kept;                               // bits of an f32 result
    bool renormalise;
    uint64_t special;                           // k with an Inf or NaN
    // The largest exponent of each sum.
    _Alignas(64) union {
        int8_t narrow[ROWS][SUMS][PANEL];
        int16_t wide[ROWS][SUMS][PANEL];
    } e;
    _Alignas(64) float c[ROWS][PANEL];          // the accumulators
    Panel panel;
} Work;

// The largest exponents of ROWS rows, columns `at` on.
INLINE void largest_narrow(Work *w, int sum, int at)
{
    const int8_t(*a)[CHUNK] = w->panel.a_exponent.narrow;
    Vb_full zero = {0}, e0 = zero + INT8_MIN, e1 = e0, e2 = e0, e3 = e0;
    int first = sum * w->width;
    for (int k = first; k < first + w->width; k++) {
        Vb_full b;
        memcpy(&b, &w->panel.b_exponent.narrow[k][at], sizeof b);
        e0 = max_i8(e0, adds_i8(b, zero + a[0][k]));
        e1 = max_i8(e1, adds_i8(b, zero + a[1][k]));
        e2 = max_i8(e2, adds_i8(b, zero + a[2][k]));
        e3 = max_i8(e3, adds_i8(b, zero + a[3][k]));
    }
    memcpy(&w->e.narrow[0][sum][at], &e0, sizeof e0);
    memcpy(&w->e.narrow[1][sum][at], &e1, sizeof e1);
    memcpy(&w->e.narrow[2][sum][at], &e2, sizeof e2);
    memcpy(&w->e.narrow[3][sum][at], &e3, sizeof e3);
}

INLINE void largest_wide(Work *w, int sum, int at)
{
    const int16_t(*a)[CHUNK] = w->panel.a_exponent.wide;
    Vs_full zero = {0}, e0 = zero + 2 * NONE_WIDE, e1 = e0, e2 = e0, e3 = e0;
    int first = sum * w->width;
    for (int k = first; k < first + w->width; k++) {
        Vs_full b;
        memcpy(&b, &w->panel.b_exponent.wide[k][at], sizeof b);
        e0 = max_i16(e0, b + (zero + a[0][k]));
        e1 = max_i16(e1, b + (zero + a[1][k]));
        e2 = max_i16(e2, b + (zero + a[2][k]));
        e3 = max_i16(e3, b + (zero + a[3][k]));
    }
    memcpy(&w->e.wide[0][sum][at], &e0, sizeof e0);
    memcpy(&w->e.wide[1][sum][at], &e1, sizeof e1);
    memcpy(&w->e.wide[2][sum][at], &e2, sizeof e2);
    memcpy(&w->e.wide[3][sum][at], &e3, sizeof e3);
}

INLINE void largest_of_chunk(Work *w, bool wide, int columns)
{
    enum { WIDTH = 4 * LANES };                 // bytes of a register
    for (int sum = 0; sum < w->count / w->width; sum++) {
        if (wide)
            for (int at = 0; at < columns; at += WIDTH / 2)
                largest_wide(w, sum, at);
        else
            for (int at = 0; at < columns; at += WIDTH)
                largest_narrow(w, sum, at);
    }
}

// The largest product exponent. Without a product it is below LEAST.
INLINE Vi largest(const Work *w, int row, int sum, int lane, bool wide)
{
    return wide ? widen_i16(&w->e.wide[row][sum][lane])
                : widen_i8(&w->e.narrow[row][sum][lane]);
}

// Adds up the products of ROWS rows, each times its scale and cut off.
INLINE void add_products(const Work *w, int sum, int lane,
                         const Vf scale[ROWS], Vi out[ROWS])
{
    const float(*a)[CHUNK] = w->panel.a;
    int first = sum * w->width;
    Vi s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    Vf f0 = scale[0], f1 = scale[1], f2 = scale[2], f3 = scale[3];
    for (int k = first; k < first + w->width; k++) {
        Vf b = load_f32(&w->panel.b[k][lane]);
        s0 += CONVERT(a[0][k] * b * f0, Vi);
        s1 += CONVERT(a[1][k] * b * f1, Vi);
        s2 += CONVERT(a[2][k] * b * f2, Vi);
        s3 += CONVERT(a[3][k] * b * f3, Vi);
    }
    out[0] = s0, out[1] = s1, out[2] = s2, out[3] = s3;
}

INLINE Vi magnitude(Vf v)
{
    return (Vi)v & 0x7fffffff;
}

// Exponent of c. That of a zero or an f32 subnormal comes out too low, which
// only shows below LEAST; that of an Inf or NaN is above MOST.
INLINE Vi exponent_of(const Work *w, Vf c, bool f16)
{
    Vi m = magnitude(c), e = (m >> 23) - 127;
    if (!f16)
        return e;
    return SELECT(m == 0, (Vi){0} + w->spec->floor, max_i32(e, (Vi){0} - 14));
}

// Lanes without a product and with a zero c: no scale is wrong for those.
INLINE uint32_t nothing(const Work *w, int row, int sum, int lane, bool wide,
                        Vf c)
{
    Vi products = largest(w, row, sum, lane, wide);
    Vi none = products < (wide ? NONE_WIDE / 2 : LEAST);
    return lanes_of(none & (magnitude(c) == 0));
}

// How far e is outside what floats hold: above RANGE.
enum { RANGE = MOST - LEAST };
INLINE Vu outside(Vi e)
{
    return (Vu)(e - LEAST);
}

// An int32 to the accumulator's precision. For f16: to 24 bits, the last one
// set when bits are lost, so that rounding to f16 later is rounding once.
INLINE Vf shorten(const Work *w, Vi sum, bool to_f16)
{
    Vf cut = cut_to_f32(sum);
    if (to_f16)
        return (Vf)((Vi)cut | ((CONVERT(cut, Vi) != sum) & 1));
    return (Vf)((Vi)cut & w->kept);
}

// T-FDPA of one row, its products added up on the scale of e. Lanes may be
// wrong where the int32 overflows, which only c can make it do.
INLINE Vf fused(const Work *w, Vf scale, Vi sum, Vf c, bool to_f16,
                Vi *overflow)
{
    Vi aligned = CONVERT(c * scale, Vi);
    Vi total = sum + aligned;
    *overflow = (sum ^ total) & (aligned ^ total);
    Vf d = shorten(w, total, to_f16) * inverse_f32(scale);
    if (!to_f16)
        return d;
    d = through_f16(d);
    return (Vf)((Vi)d & (magnitude(d) != 0));   // never a negative zero
}

INLINE void fused_sum(const Work *w, int sum, int lane, bool wide, bool to_f16,
                      Vf c[ROWS], uint32_t doubtful[ROWS])
{
    Vi e[ROWS], total[ROWS], overflow[ROWS], any_overflow = {0};
    Vf scale[ROWS];
    Vu any_outside = {0};
    EACH_ROW(r) {
        Vi ec = exponent_of(w, c[r], to_f16);
        e[r] = max_i32(largest(w, r, sum, lane, wide), ec);
        scale[r] = scale_f32(w->fraction + 127 - e[r]);
    }
    add_products(w, sum, lane, scale, total);
    Vf before[ROWS];
    EACH_ROW(r) {
        before[r] = c[r];
        c[r] = fused(w, scale[r], total[r], c[r], to_f16, &overflow[r]);
        any_overflow |= overflow[r];
        any_outside = max_u32(any_outside, outside(e[r]));
        doubtful[r] = 0;
    }
    if (!(lanes_of(any_overflow) | lanes_above(any_outside, RANGE)))
        return;
    EACH_ROW(r) {
        doubtful[r] = lanes_of(overflow[r]) | lanes_above(outside(e[r]), RANGE);
        doubtful[r] &= ~nothing(w, r, sum, lane, wide, before[r]);
    }
}

// Floors to 31 bits below the leading one.
INLINE Hd renormalise(Hd t)
{
    const int64_t below = (1 << 21) - 1;
    Hl bits = (Hl)t;
    bits += (bits >> 63) & below;
    return (Hd)(bits & ~below);
}

// The products' sum in units of 2^(e - 32) and c in units of 2^(e - 24).
INLINE Hf late_half(const Work *w, Hd sum, Vi c, int h)
{
    sum = w->renormalise ? round_down(sum) : 2 * round_down(sum * 0.5);
    Hd t = fma_f64(f64_of_i32(half_i32(c, h)), (Hd){0} + 256, sum);
    return f32_of_f64(w->renormalise ? renormalise(t) : t);
}

// The exponents of a step, and powers of two that bring the products' sum and
// c to where they meet.
typedef struct {
    Vi e;
    Vf sum, c;
} Places;

INLINE Places places_of(Vi ed, Vi ec)
{
    Vi e = max_i32(ed, ec);
    return (Places){e, exp2_f32(ed - e + 8), scale_f32(24 + 127 - e)};
}

// Lanes that may be wrong: c or the products outside what floats hold.
INLINE uint32_t late_doubtful(Vi ed, Vi e)
{
    Vi products = (ed > MOST) | ((ed < LEAST) & (ed > NONE_WIDE / 2));
    return lanes_above(outside(e), RANGE) | lanes_of(products);
}

INLINE Hd placed_half(Vi sum, Vf place, int h)
{
    return f64_of_i32(half_i32(sum, h)) * f64_of_f32(half_f32(place, h));
}

// TR-FDPA of one row, its products added up.
INLINE Vf late(const Work *w, Vi ed, Vi sum, Vf c, uint32_t *doubtful)
{
    Places p = places_of(ed, exponent_of(w, c, false));
    Vi aligned = floor_product(c, p.c);
    *doubtful = late_doubtful(ed, p.e);
    Vf t = join_f32(late_half(w, placed_half(sum, p.sum, 0), aligned, 0),
                    late_half(w, placed_half(sum, p.sum, 1), aligned, 1));
    return t * exp2_f32(p.e - 32);
}

INLINE void late_sum(const Work *w, int sum, int lane, bool wide, Vf c[ROWS],
                     uint32_t doubtful[ROWS])
{
    Vi ed[ROWS], total[ROWS];
    Vf scale[ROWS];
    EACH_ROW(r) {
        ed[r] = largest(w, r, sum, lane, wide);
        scale[r] = exp2_f32(w->fraction - ed[r]);
    }
    add_products(w, sum, lane, scale, total);
    EACH_ROW(r) {
        Vf d = late(w, ed[r], total[r], c[r], &doubtful[r]);
        if (doubtful[r])
            doubtful[r] &= ~nothing(w, r, sum, lane, wide, c[r]);
        c[r] = d;
    }
}

// Sums of the even and of the odd products, and their largest exponents.
typedef struct {
    Vi e0, e1, s0, s1;
} Groups;

// GTR-FDPA of one row.
INLINE Vf late2(const Work *w, const Groups *g, Vf c, uint32_t *doubtful)
{
    Vi ed = max_i32(g->e0, g->e1), ec = exponent_of(w, c, false);
    Vf place0 = exp2_f32(g->e0 - ed), place1 = exp2_f32(g->e1 - ed);
    Places p = places_of(ed, ec);
    Vi near = floor_product(c, p.c) & (ec >= ed - 25);
    Hf t[2];
    *doubtful = late_doubtful(ed, p.e);
    UNROLL for (int h = 0; h < 2; h++)
    {
        Hd s = round_down(placed_half(g->s0, place0, h)) +
               round_down(placed_half(g->s1, place1, h));
        t[h] = late_half(w, s * f64_of_f32(half_f32(p.sum, h)), near, h);
    }
    return join_f32(t[0], t[1]) * exp2_f32(p.e - 32);
}

// Sums 2i and 2i + 1 of a row are the even and the odd products.
INLINE void late2_sum(const Work *w, int sum, int lane, Vf c[ROWS],
                      uint32_t doubtful[ROWS])
{
    Vi e0[ROWS], e1[ROWS], s0[ROWS], s1[ROWS];
    Vf f0[ROWS], f1[ROWS];
    EACH_ROW(r) {
        e0[r] = largest(w, r, sum, lane, false);
        e1[r] = largest(w, r, sum + 1, lane, false);
        f0[r] = exp2_f32(w->fraction - e0[r]);
        f1[r] = exp2_f32(w->fraction - e1[r]);
    }
    add_products(w, sum, lane, f0, s0);
    add_products(w, sum + 1, lane, f1, s1);
    EACH_ROW(r) {
        Groups g = {e0[r], e1[r], s0[r], s1[r]};
        Vf d = late2(w, &g, c[r], &doubtful[r]);
        if (doubtful[r])
            doubtful[r] &= ~(nothing(w, r, sum, lane, false, c[r]) &
                             nothing(w, r, sum + 1, lane, false, c[r]));
        c[r] = d;
    }
}

// fp8 on the f16 unit: two fused sums from zero, then c in IEEE arithmetic.
INLINE void halves_sum(const Work *w, int sum, int lane, bool to_f16,
                       Vf c[ROWS], uint32_t doubtful[ROWS])
{
    Vf t[ROWS];
    uint32_t first[ROWS];
    EACH_ROW(r)
        t[r] = (Vf){0};
    fused_sum(w, sum, lane, false, to_f16, t, first);
    fused_sum(w, sum + 1, lane, false, to_f16, t, doubtful);
    EACH_ROW(r) {
        doubtful[r] |= first[r] | lanes_of(magnitude(c[r]) >= 0x7f800000);
        c[r] = to_f16 ? through_f16(c[r] + t[r]) : c[r] + t[r];
    }
}

INLINE float f32_of(MmaType acc, uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float v;
    if (acc == MMA_F16)
        return _cvtsh_ss((unsigned short)bits);
    memcpy(&v, &low, sizeof v);
    return v;
}

INLINE uint64_t bits_of(MmaType acc, float v)
{
    uint32_t bits;
    if (acc == MMA_F16)
        return _cvtss_sh(v, 0);
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

// Does the doubtful lanes of a step again, one by one.
static __attribute__((noinline)) Vf scalar_lanes(const Work *w, int row,
                                                 int lane, int k, Vf d, Vf c,
                                                 uint32_t doubtful)
{
    const MmaSpec *s = w->spec;
    const MmaTile *t = w->tile;
    int bytes = mma_type_info(s->a)->bits / 8;
    float in[LANES], out[LANES];
    memcpy(in, &c, sizeof c);
    memcpy(out, &d, sizeof d);
    const char *a = (const char *)t->a +
                    ((w->row + row) * t->lda + w->k + k) * bytes;
    for (; doubtful; doubtful &= doubtful - 1) {
        int l = __builtin_ctz(doubtful), j = w->column + lane + l;
        if (j >= t->n || w->row + row >= t->m)
            continue;
        const char *b = (const char *)t->b + (j * t->ldb + w->k + k) * bytes;
        out[l] = f32_of(s->acc, mma_scalar_dot(s, a, b, s->step,
                                               bits_of(s->acc, in[l])));
    }
    memcpy(&d, out, sizeof d);
    return d;
}

// Lanes with a special operand in the step at k.
INLINE uint32_t special_lanes(const Work *w, int row, int lane, int k)
{
    uint64_t step = (w->spec->step == 64 ? 0 : 1ull << w->spec->step) - 1;
    if (w->panel.a_special[row] >> k & step)
        return ~0u >> (32 - LANES);
    uint32_t lanes = 0;
    for (int l = 0; l < LANES; l++)
        lanes |= (uint32_t)((w->panel.b_special[lane + l] >> k & step) != 0)
                 << l;
    return lanes;
}

// What a kernel is made for.
typedef struct {
    MmaRule rule;
    bool wide, to_f16;
} Made;

INLINE void sum_step(const Work *w, Made made, int sum, int lane, Vf d[ROWS],
                     uint32_t doubtful[ROWS])
{
    switch (made.rule) {
    case MMA_FUSED:
        fused_sum(w, sum, lane, made.wide, made.to_f16, d, doubtful);
        break;
    case MMA_HALVES:
        halves_sum(w, sum, lane, made.to_f16, d, doubtful);
        break;
    case MMA_LATE:
        late_sum(w, sum, lane, made.wide, d, doubtful);
        break;
    default:
        late2_sum(w, sum, lane, d, doubtful);
    }
}

// One step of ROWS rows and LANES columns, from w->c to w->c.
INLINE void run_lanes(Work *w, Made made, int sum, int lane, int k)
{
    uint32_t doubtful[ROWS];
    Vf d[ROWS];
    EACH_ROW(r)
        d[r] = load_f32(&w->c[r][lane]);
    sum_step(w, made, sum, lane, d, doubtful);
    EACH_ROW(r) {
        if (w->special)
            doubtful[r] |= special_lanes(w, r, lane, k);
        if (doubtful[r])
            d[r] = scalar_lanes(w, r, lane, k, d[r],
                                load_f32(&w->c[r][lane]), doubtful[r]);
        store_f32(&w->c[r][lane], d[r]);
    }
}

// Whether a row of LANES columns lies inside the tile.
INLINE bool is_inside(const Work *w, int row, int lane)
{
    return w->row + row < w->tile->m && w->column + lane + LANES <= w->tile->n;
}

INLINE int64_t acc_index(const Work *w, int64_t pitch, int row, int lane)
{
    return (w->row + row) * pitch + w->column + lane;
}

INLINE int lanes_inside(const Work *w, int row, int lane)
{
    int left = w->tile->n - w->column - lane;
    return w->row + row < w->tile->m ? left < LANES ? left : LANES : 0;
}

// C of the first chunk, D of the later ones; zeros beyond the edges.
INLINE Vf load_c(const Work *w, bool f16, int row, int lane)
{
    const MmaTile *t = w->tile;
    bool first = w->k == 0;
    const void *base = first ? t->c : t->d;
    if (!base)
        return (Vf){0};
    int bytes = f16 ? 2 : 4;
    int64_t i = acc_index(w, first ? t->ldc : t->ldd, row, lane);
    const char *at = (const char *)base + i * bytes;
    char edge[LANES * 4] = {0};
    if (!is_inside(w, row, lane))
        at = memcpy(edge, at, (size_t)(lanes_inside(w, row, lane) * bytes));
    return f16 ? f32_of_f16(at) : load_f32(at);
}

INLINE void store_d(const Work *w, bool f16, int row, int lane, Vf d)
{
    int bytes = f16 ? 2 : 4;
    int64_t i = acc_index(w, w->tile->ldd, row, lane);
    char *at = (char *)w->tile->d + i * bytes;
    char edge[LANES * 4];
    bool inside = is_inside(w, row, lane);
    char *to = inside ? at : edge;
    if (f16)
        store_f16(to, d);
    else
        store_f32(to, d);
    if (!inside)
        memcpy(at, edge, (size_t)(lanes_inside(w, row, lane) * bytes));
}

INLINE void run_rows(Work *w, Made made)
{
    int columns = w->tile->n - w->column;
    if (columns > PANEL)
        columns = PANEL;
    largest_of_chunk(w, made.wide, columns);
    for (int r = 0; r < ROWS; r++)
        for (int lane = 0; lane < columns; lane += LANES)
            store_f32(&w->c[r][lane], load_c(w, made.to_f16, r, lane));
    // Columns inside steps: the end of one overlaps the start of the next.
    int sums = w->spec->step / w->width, sum = 0;
    for (int k = 0; k < w->count; k += w->spec->step, sum += sums)
        for (int lane = 0; lane < columns; lane += LANES)
            run_lanes(w, made, sum, lane, k);
    for (int r = 0; r < ROWS; r++)
        for (int lane = 0; lane < columns; lane += LANES)
            store_d(w, made.to_f16, r, lane, load_f32(&w->c[r][lane]));
}

// Kernel order of k: as it stands; in a step even then odd; or those with
// k mod 4 in {0, 1} and then {2, 3}.
static int kernel_order(const MmaSpec *s, int k)
{
    int half = s->step / 2, i = k % s->step, j = i % half, second = i >= half;
    if (s->rule == MMA_LATE2)
        return k - i + 2 * j + second;
    if (s->rule == MMA_HALVES)
        return k - i + 4 * (j / 2) + j % 2 + 2 * second;
    return k;
}

INLINE const void *element(const void *base, int64_t i, const Format *f)
{
    return (const char *)base + i * f->bytes;
}

INLINE uint64_t pack_panel(Work *w, const Format *f, bool wide)
{
    const MmaTile *t = w->tile;
    uint64_t special = 0;
    for (int j = 0; j < PANEL; j++) {
        if (w->column + j < t->n)
            pack_column(&w->panel, f, j,
                        element(t->b, (w->column + j) * t->ldb + w->k, f),
                        w->count, wide);
        else
            clear_column(&w->panel, j, w->count, wide);
        special |= w->panel.b_special[j];
    }
    return special;
}

INLINE uint64_t pack_rows(Work *w, const Format *f, bool wide)
{
    const MmaTile *t = w->tile;
    uint64_t special = 0;
    for (int r = 0; r < ROWS; r++) {
        int i = w->row + r < t->m ? w->row + r : t->m - 1;
        pack_row(&w->panel, f, r, element(t->a, i * t->lda + w->k, f),
                 w->count, wide);
        special |= w->panel.a_special[r];
    }
    return special;
}

INLINE void run_panel(Work *w, const Format *fa, const Format *fb, Made made)
{
    uint64_t b_special = pack_panel(w, fb, made.wide);
    for (w->row = 0; w->row < w->tile->m; w->row += ROWS) {
        w->special = b_special | pack_rows(w, fa, made.wide);
        run_rows(w, made);
    }
}

INLINE void run_tile(Work *w, Made made)
{
    const MmaSpec *s = w->spec;
    const MmaTile *t = w->tile;
    // On the f16 unit an fp8 has the exponent of the f16 it becomes.
    int least_a = 1 - mma_type_info(s->a)->bias;
    int least_b = 1 - mma_type_info(s->b)->bias;
    if (made.rule == MMA_HALVES)
        least_a = least_b = -14;
    Format fa = format_of(s->a, least_a), fb = format_of(s->b, least_b);
    fa.flip = s->negate_a ? 0x80000000 : 0;
    for (w->column = 0; w->column < t->n; w->column += PANEL) {
        for (w->k = 0; w->k < t->k; w->k += CHUNK) {
            w->count = t->k - w->k < CHUNK ? t->k - w->k : CHUNK;
            run_panel(w, &fa, &fb, made);
        }
    }
}

static bool has_sum_kernel(const MmaSpec *s)
{
    bool fits = CHUNK % s->step == 0 && s->step >= 4;
    return fits && s->rule != MMA_CHAIN && s->rule != MMA_EXACT &&
           !s->negative_zero;
}

// One kernel a combination.
#define KERNEL(name, ...)                                                     \
    static __attribute__((noinline)) void name(Work *w)                       \
    {                                                                         \
        run_tile(w, (Made){__VA_ARGS__});                                     \
    }
KERNEL(fused_narrow, MMA_FUSED, false, false)
KERNEL(fused_narrow_f16, MMA_FUSED, false, true)
KERNEL(fused_wide, MMA_FUSED, true, false)
KERNEL(halves, MMA_HALVES, false, false)
KERNEL(halves_f16, MMA_HALVES, false, true)
KERNEL(late_narrow, MMA_LATE, false, false)
KERNEL(late_wide, MMA_LATE, true, false)
KERNEL(late2_narrow, MMA_LATE2, false, false)

typedef void Kernel(Work *w);

static Kernel *kernel_of(const MmaSpec *s, bool wide)
{
    bool to_f16 = s->acc == MMA_F16;
    switch (s->rule) {
    case MMA_FUSED:
        return wide ? fused_wide : to_f16 ? fused_narrow_f16 : fused_narrow;
    case MMA_HALVES:
        return to_f16 ? halves_f16 : halves;
    case MMA_LATE:
        return wide ? late_wide : late_narrow;
    default:
        return late2_narrow;
    }
}

static void run_sums(const MmaSpec *s, const MmaTile *t)
{
    bool pairs = s->rule == MMA_LATE2 || s->rule == MMA_HALVES;
    bool wide = s->a == MMA_BF16 || s->a == MMA_TF32;
    Work w = {
        .spec = s, .tile = t, .width = pairs ? s->step / 2 : s->step,
        .fraction = s->fraction, .kept = ~((1 << (24 - s->keep)) - 1),
        .renormalise = !s->skip_renormalise,
    };
    w.panel.reordered = pairs;
    for (int k = 0; k < CHUNK; k++)
        w.panel.order[k] = (uint8_t)kernel_order(s, k);
    kernel_of(s, wide)(&w);
}
