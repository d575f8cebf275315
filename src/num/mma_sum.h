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
    // The least lift of each sum: that of its largest product.
    _Alignas(64) union {
        uint8_t narrow[ROWS][SUMS][PANEL];
        int16_t wide[ROWS][SUMS][PANEL];
    } lift;
    float *c[ROWS];                             // the accumulators
    _Alignas(64) float edge[ROWS][PANEL];
    Panel panel;
} Work;

// The lifts of ROWS rows, columns `at` on.
INLINE void lift_narrow(Work *w, int sum, int at)
{
    const uint32_t(*a)[CHUNK] = w->panel.a_lift;
    Vb_full l0 = (Vb_full){0} + NONE_NARROW, l1 = l0, l2 = l0, l3 = l0;
    int first = sum * w->width;
    for (int k = first; k < first + w->width; k++) {
        Vb_full b;
        memcpy(&b, &w->panel.b_lift.narrow[k][at], sizeof b);
        l0 = min_u8(l0, adds_u8(b, (Vb_full)((Vu){0} + a[0][k])));
        l1 = min_u8(l1, adds_u8(b, (Vb_full)((Vu){0} + a[1][k])));
        l2 = min_u8(l2, adds_u8(b, (Vb_full)((Vu){0} + a[2][k])));
        l3 = min_u8(l3, adds_u8(b, (Vb_full)((Vu){0} + a[3][k])));
    }
    memcpy(&w->lift.narrow[0][sum][at], &l0, sizeof l0);
    memcpy(&w->lift.narrow[1][sum][at], &l1, sizeof l1);
    memcpy(&w->lift.narrow[2][sum][at], &l2, sizeof l2);
    memcpy(&w->lift.narrow[3][sum][at], &l3, sizeof l3);
}

// Wraps: a lift that stands for no number may go round, and loses to none.
INLINE Vs_full add_i16(Vs_full a, Vu b)
{
    return (Vs_full)((Vus_full)a + (Vus_full)b);
}

INLINE void lift_wide(Work *w, int sum, int at)
{
    const uint32_t(*a)[CHUNK] = w->panel.a_lift;
    Vs_full l0 = (Vs_full){0} + NONE_WIDE, l1 = l0, l2 = l0, l3 = l0;
    int first = sum * w->width;
    for (int k = first; k < first + w->width; k++) {
        Vs_full b;
        memcpy(&b, &w->panel.b_lift.wide[k][at], sizeof b);
        l0 = min_i16(l0, add_i16(b, (Vu){0} + a[0][k]));
        l1 = min_i16(l1, add_i16(b, (Vu){0} + a[1][k]));
        l2 = min_i16(l2, add_i16(b, (Vu){0} + a[2][k]));
        l3 = min_i16(l3, add_i16(b, (Vu){0} + a[3][k]));
    }
    memcpy(&w->lift.wide[0][sum][at], &l0, sizeof l0);
    memcpy(&w->lift.wide[1][sum][at], &l1, sizeof l1);
    memcpy(&w->lift.wide[2][sum][at], &l2, sizeof l2);
    memcpy(&w->lift.wide[3][sum][at], &l3, sizeof l3);
}

INLINE void lift_chunk(Work *w, bool wide, int columns)
{
    enum { WIDTH = 4 * LANES };                 // bytes of a register
    for (int sum = 0; sum < w->count / w->width; sum++) {
        if (wide)
            for (int at = 0; at < columns; at += WIDTH / 2)
                lift_wide(w, sum, at);
        else
            for (int at = 0; at < columns; at += WIDTH)
                lift_narrow(w, sum, at);
    }
}

// The lift of a sum's largest product; above NONE / 2 when it has none.
INLINE Vi lift_of(const Work *w, int row, int sum, int lane, bool wide)
{
    Vb narrow;
    if (wide)
        return widen_i16(&w->lift.wide[row][sum][lane]);
    memcpy(&narrow, &w->lift.narrow[row][sum][lane], sizeof narrow);
    return (Vi)widen_u8(narrow);
}

INLINE Vi is_none(Vi lift, bool wide)
{
    return lift > (wide ? NONE_WIDE / 4 : NONE_NARROW - 1);
}

// Adds up the products of ROWS rows, each times its scale and cut off.
INLINE void add_products(const Work *w, int sum, int lane,
                         const Vf scale[ROWS], Vi out[ROWS])
{
    const float(*a)[CHUNK] = w->panel.a;
    int first = sum * w->width;
    // unsigned: a lane that holds no number may wrap, and is replaced later
    Vu s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    Vf f0 = scale[0], f1 = scale[1], f2 = scale[2], f3 = scale[3];
    for (int k = first; k < first + w->width; k++) {
        Vf b = load_f32(&w->panel.b[k][lane]);
        s0 += (Vu)CONVERT(a[0][k] * b * f0, Vi);
        s1 += (Vu)CONVERT(a[1][k] * b * f1, Vi);
        s2 += (Vu)CONVERT(a[2][k] * b * f2, Vi);
        s3 += (Vu)CONVERT(a[3][k] * b * f3, Vi);
    }
    out[0] = (Vi)s0, out[1] = (Vi)s1;
    out[2] = (Vi)s2, out[3] = (Vi)s3;
}

INLINE Vi magnitude(Vf v)
{
    return (Vi)v & 0x7fffffff;
}

// The lift of c. That of a zero or an f32 subnormal comes out too high, which
// only shows below LEAST; that of an Inf or NaN is beyond MOST.
INLINE Vi lift_c(const Work *w, Vf c, bool f16)
{
    Vi m = magnitude(c), lift = w->fraction + 254 - (m >> 23);
    if (!f16)
        return lift;
    return SELECT(m == 0, (Vi){0} + (w->fraction + 127 - w->spec->floor),
                  min_i32(lift, (Vi){0} + (w->fraction + 127 + 14)));
}

// Lanes without a product and with a zero c: no scale is wrong for those.
INLINE uint32_t nothing(Vi products, Vf c, bool wide)
{
    return lanes_of(is_none(products, wide) & (magnitude(c) == 0));
}

// How far a lift is outside what floats hold: above RANGE.
enum { RANGE = MOST - LEAST };
INLINE Vu outside(const Work *w, Vi lift)
{
    return (Vu)(lift - (w->fraction + 127 - MOST));
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
    Vi lift[ROWS], total[ROWS], overflow[ROWS], any_overflow = {0};
    Vf scale[ROWS], d[ROWS];
    Vu any_outside = {0};
    EACH_ROW(r) {
        lift[r] = min_i32(lift_of(w, r, sum, lane, wide),
                          lift_c(w, c[r], to_f16));
        if (wide)
            lift[r] = min_i32(lift[r], (Vi){0} + 254);
        scale[r] = power_f32(lift[r]);
    }
    add_products(w, sum, lane, scale, total);
    EACH_ROW(r) {
        d[r] = fused(w, scale[r], total[r], c[r], to_f16, &overflow[r]);
        any_overflow |= overflow[r];
        any_outside = max_u32(any_outside, outside(w, lift[r]));
        doubtful[r] = 0;
    }
    if (lanes_of(any_overflow) | lanes_above(any_outside, RANGE)) {
        EACH_ROW(r) {
            Vi products = lift_of(w, r, sum, lane, wide);
            doubtful[r] = lanes_of(overflow[r]) |
                          lanes_above(outside(w, lift[r]), RANGE);
            doubtful[r] &= ~nothing(products, c[r], wide);
        }
    }
    EACH_ROW(r)
        c[r] = d[r];
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

// Where the products' sum and c meet: the lift of the larger, and powers of
// two that bring both there and the result back.
typedef struct {
    Vi lift;
    Vf sum, c, result;
} Places;

INLINE Vi at_least_1(Vi n)
{
    return max_i32(n, (Vi){0} + 1);
}

INLINE Places places_of(const Work *w, Vi products, Vi c)
{
    Vi lift = min_i32(min_i32(products, c), (Vi){0} + 254);
    return (Places){
        .lift = lift,
        .sum = power_f32(at_least_1(lift - products + 127 + 8)),
        .c = power_f32(lift),
        .result = power_f32(at_least_1(w->fraction + 222 - lift)),
    };
}

// Lanes that may be wrong: the products, or the larger of them and c, outside
// what floats hold.
INLINE uint32_t late_doubtful(const Work *w, Vi products, Vi lift, Vf c,
                              bool wide)
{
    Vi none = is_none(products, wide);
    Vu far = outside(w, products) & (Vu)~none;
    uint32_t lanes = lanes_above(max_u32(far, outside(w, lift)), RANGE);
    return lanes ? lanes & ~nothing(products, c, wide) : 0;
}

INLINE Hd placed_half(Vi sum, Vf place, int h)
{
    return f64_of_i32(half_i32(sum, h)) * f64_of_f32(half_f32(place, h));
}

// TR-FDPA of one row, its products added up.
INLINE Vf late(const Work *w, Vi products, Vi sum, Vf c, bool wide,
               uint32_t *doubtful)
{
    Places p = places_of(w, products, lift_c(w, c, false));
    Vi aligned = floor_product(c, p.c);
    *doubtful = late_doubtful(w, products, p.lift, c, wide);
    Vf t = join_f32(late_half(w, placed_half(sum, p.sum, 0), aligned, 0),
                    late_half(w, placed_half(sum, p.sum, 1), aligned, 1));
    return t * p.result;
}

INLINE void late_sum(const Work *w, int sum, int lane, bool wide, Vf c[ROWS],
                     uint32_t doubtful[ROWS])
{
    Vi lift[ROWS], total[ROWS];
    Vf scale[ROWS];
    EACH_ROW(r) {
        lift[r] = lift_of(w, r, sum, lane, wide);
        scale[r] = power_f32(min_i32(lift[r], (Vi){0} + 254));
    }
    add_products(w, sum, lane, scale, total);
    EACH_ROW(r)
        c[r] = late(w, lift[r], total[r], c[r], wide, &doubtful[r]);
}

// Lifts and sums of the even and of the odd products.
typedef struct {
    Vi l0, l1, s0, s1;
} Groups;

// GTR-FDPA of one row.
INLINE Vf late2(const Work *w, const Groups *g, Vf c, uint32_t *doubtful)
{
    Vi products = min_i32(g->l0, g->l1), lc = lift_c(w, c, false);
    Vf place0 = power_f32(at_least_1(products - g->l0 + 127));
    Vf place1 = power_f32(at_least_1(products - g->l1 + 127));
    Places p = places_of(w, products, lc);
    Vi near = floor_product(c, p.c) & (lc <= products + 25);
    Hf t[2];
    *doubtful = late_doubtful(w, products, p.lift, c, false);
    UNROLL for (int h = 0; h < 2; h++)
    {
        Hd s = round_down(placed_half(g->s0, place0, h)) +
               round_down(placed_half(g->s1, place1, h));
        t[h] = late_half(w, s * f64_of_f32(half_f32(p.sum, h)), near, h);
    }
    return join_f32(t[0], t[1]) * p.result;
}

// Sums 2i and 2i + 1 of a row are the even and the odd products.
INLINE void late2_sum(const Work *w, int sum, int lane, Vf c[ROWS],
                      uint32_t doubtful[ROWS])
{
    Vi l0[ROWS], l1[ROWS], s0[ROWS], s1[ROWS];
    Vf f0[ROWS], f1[ROWS];
    EACH_ROW(r) {
        l0[r] = lift_of(w, r, sum, lane, false);
        l1[r] = lift_of(w, r, sum + 1, lane, false);
        f0[r] = power_f32(l0[r]);
        f1[r] = power_f32(l1[r]);
    }
    add_products(w, sum, lane, f0, s0);
    add_products(w, sum + 1, lane, f1, s1);
    EACH_ROW(r) {
        Groups g = {l0[r], l1[r], s0[r], s1[r]};
        c[r] = late2(w, &g, c[r], &doubtful[r]);
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
    const MmaSpec *s = w->spec;
    uint64_t step = (s->step == 64 ? 0 : 1ull << s->step) - 1;
    uint32_t lanes = 0;
    if (w->panel.a_special[row] >> k & step)
        return ~0u >> (32 - LANES);
    for (int i = k; i < k + s->step; i++)
        lanes |= w->panel.b_special[i][lane / LANES];
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

// ---- the accumulators ------------------------------------------------------
//
// An f32 row that lies inside D is worked on in place; others in w->edge.

INLINE int row_columns(const Work *w)
{
    int left = w->tile->n - w->column;
    return left < PANEL ? left : PANEL;
}

INLINE char *d_at(const Work *w, int row, int bytes)
{
    int64_t i = (w->row + row) * w->tile->ldd + w->column;
    return (char *)w->tile->d + i * bytes;
}

// C for the first chunk, D for the later ones; NULL for zeros.
INLINE const char *c_at(const Work *w, int row, int bytes)
{
    const MmaTile *t = w->tile;
    if (w->k)
        return d_at(w, row, bytes);
    if (!t->c)
        return NULL;
    return (const char *)t->c +
           ((w->row + row) * t->ldc + w->column) * bytes;
}

INLINE void widen_row(float *out, const char *c, int columns)
{
    uint16_t codes[PANEL + LANES] = {0};
    memcpy(codes, c, (size_t)columns * 2);
    for (int i = 0; i < columns; i += LANES)
        store_f32(out + i, f32_of_f16(codes + i));
}

INLINE void open_row(Work *w, int row, bool f16)
{
    int columns = row_columns(w), bytes = f16 ? 2 : 4;
    bool inside = w->row + row < w->tile->m;
    bool in_place = inside && !f16 && columns % LANES == 0;
    const char *c = inside ? c_at(w, row, bytes) : NULL;
    w->c[row] = in_place ? (float *)d_at(w, row, 4) : w->edge[row];
    if (!c)
        memset(w->c[row], 0, (size_t)columns * 4);
    else if (f16)
        widen_row(w->c[row], c, columns);
    else if (c != (const char *)w->c[row])
        memcpy(w->c[row], c, (size_t)columns * 4);
}

INLINE void close_row(Work *w, int row, bool f16)
{
    int columns = row_columns(w);
    if (w->row + row >= w->tile->m || w->c[row] != w->edge[row])
        return;
    if (!f16) {
        memcpy(d_at(w, row, 4), w->edge[row], (size_t)columns * 4);
        return;
    }
    uint16_t codes[PANEL + LANES];
    for (int i = 0; i < columns; i += LANES)
        store_f16(codes + i, load_f32(&w->edge[row][i]));
    memcpy(d_at(w, row, 2), codes, (size_t)columns * 2);
}

INLINE void run_rows(Work *w, Made made)
{
    int columns = row_columns(w);
    lift_chunk(w, made.wide, columns);
    for (int r = 0; r < ROWS; r++)
        open_row(w, r, made.to_f16);
    // Columns inside steps: the end of one overlaps the start of the next.
    int sums = w->spec->step / w->width, sum = 0;
    for (int k = 0; k < w->count; k += w->spec->step, sum += sums)
        for (int lane = 0; lane < columns; lane += LANES)
            run_lanes(w, made, sum, lane, k);
    for (int r = 0; r < ROWS; r++)
        close_row(w, r, made.to_f16);
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
    Columns b = {f, element(t->b, w->column * t->ldb + w->k, f),
                t->ldb * f->bytes, row_columns(w), w->count};
    return pack_columns(&w->panel, &b, wide);
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
    int share = (s->fraction + 127) / 2;
    Format fa = format_of(s->a, least_a, share);
    Format fb = format_of(s->b, least_b, s->fraction + 127 - share);
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
    Work w;                                     // large: not cleared
    w.spec = s;
    w.tile = t;
    w.width = pairs ? s->step / 2 : s->step;
    w.fraction = s->fraction;
    w.kept = ~((1 << (24 - s->keep)) - 1);
    w.renormalise = !s->skip_renormalise;
    w.panel.reordered = pairs;
    for (int k = 0; k < CHUNK; k++) {
        w.panel.order[k] = (uint8_t)kernel_order(s, k);
        w.panel.place[w.panel.order[k]] = (uint8_t)k;
    }
    kernel_of(s, wide)(&w);
}
