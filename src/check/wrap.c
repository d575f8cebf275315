// wrap.c - integers that their type cannot hold.
//
// Arithmetic on signed numbers that leaves its type is undefined in the code
// of a GPU, a conversion to a narrower type drops bits. Where that happens an
// origin of shadows begins (shadow.c), which is a finding where it reaches an
// output, decides something or is an index. An operation on bits, or on
// unsigned numbers, ends it: the place then is one that is meant to wrap, and
// is never told.
#include "check/wrap_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- life ----------------------------------------------------------------

void wrap_create(Check *k)
{
    const Code *c = k->code;
    uint8_t *buffer = wrap_buffers(c);
    Wraps *w = xcalloc(1, sizeof *w);

    w->first = c->buffer_count + 1;
    w->site = xcalloc((size_t)c->launch_count + 1, sizeof *w->site);
    for (int l = 0; l < c->launch_count; l++) {
        w->site[l] = xcalloc((size_t)c->launch[l].body.len + 1,
                             sizeof **w->site);
        wrap_sites(c, l, buffer, w->site[l]);
    }
    free(buffer);
    k->wraps = w;
}

void wrap_destroy(Check *k)
{
    for (int l = 0; k->wraps && l < k->code->launch_count; l++)
        free(k->wraps->site[l]);
    if (k->wraps)
        free(k->wraps->site);
    free(k->wraps);
}

// ---- origins -------------------------------------------------------------

bool is_wrap_origin(const Check *k, uint8_t shadow)
{
    return k->wraps && !(shadow & SHADE_NEVER) && shadow >= k->wraps->first;
}

// Workers take free numbers as they need them: which one a place gets is of no
// account, for what is told names the place.
uint8_t wrap_origin(Check *k, const InterpStep *s)
{
    Wraps *w = k->wraps;
    uint64_t key = 1 + ((uint64_t)s->launch << 32 | (uint64_t)s->pc);

    for (int i = w->first; i <= SHADE_ORIGIN; i++) {
        uint64_t at = 0;

        if (__atomic_compare_exchange_n(&w->origin[i].key, &at, key, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
            at == key)
            return (uint8_t)i;
    }
    __atomic_store_n(&w->full, true, __ATOMIC_RELAXED);
    return 0;
}

bool wrap_place(const Check *k, int origin, int *launch, int *pc)
{
    uint64_t key = k->wraps && !k->wraps->full && origin >= k->wraps->first &&
                           origin <= SHADE_ORIGIN
                       ? k->wraps->origin[origin].key : 0;

    *launch = (int)((key - 1) >> 32);
    *pc = (int)(uint32_t)(key - 1);
    return key != 0;
}

static int64_t narrowed(Wide v)
{
    return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

Note *wrap_note(Check *k, const InterpStep *s, int lane, Wide a, Wide b,
                Wide result)
{
    Note *n = note(k, s, NOTE_WRAP, -1, -1, 0);

    if (!n->count) {
        n->x[0] = narrowed(a);
        n->x[1] = narrowed(b);
        n->x[2] = narrowed(result);
        if (lane >= 0)
            note_lane(n, s, lane);
    }
    n->count++;
    return n;
}

// ---- numbers -------------------------------------------------------------

static void limits(DType t, int64_t *low, int64_t *high)
{
    int bits = dtype_info(t)->bits;
    bool with_sign = dtype_info(t)->kind == KIND_INT;

    *high = (int64_t)(UINT64_MAX >> (64 - bits + with_sign));
    *low = with_sign ? -*high - 1 : 0;
}

bool wrap_fits(DType t, Wide v)
{
    int64_t low, high;

    limits(t, &low, &high);
    return v >= low && v <= high;
}

static Wide exact(LaneOp op, int64_t a, int64_t b)
{
    switch (op) {
    case LANE_OP_ADD:
        return (Wide)a + b;
    case LANE_OP_SUB:
        return (Wide)a - b;
    case LANE_OP_MUL:
        return (Wide)a * b;
    case LANE_OP_NEG:
        return -(Wide)a;
    case LANE_OP_ABS:
        return a < 0 ? -(Wide)a : a;
    default:
        return b == -1 ? -(Wide)a : 0;  // a quotient: others always fit
    }
}

// ---- lanes ---------------------------------------------------------------

typedef struct {
    bool scalar;
    int n;
    Shadows *file;
    uint8_t *d;                     // shadows of the result
    const int32_t *mask;            // lanes that are used, or NULL
} Result;

static Result lanes_of(Check *k, const InterpStep *s, const WrapSite *w)
{
    Result x = {.scalar = s->instr->op == INSTR_OP ||
                          s->instr->op == INSTR_CAST ||
                          s->instr->op == INSTR_ROUND ||
                          s->instr->op == INSTR_BITS ||
                          s->instr->op == INSTR_AFFINE};
    bool by_row = s->instr->flags & INSTR_ROW;

    if (x.scalar) {
        x.n = 1;
        x.file = slots_file(k, s);
        x.d = &x.file->slot[s->instr->d];
        return x;
    }
    x.n = by_row ? s->rows : s->n;
    x.file = lanes_file(k, s);
    x.d = x.file->lanes + (size_t)s->instr->d * (size_t)x.file->pitch;
    x.mask = by_row || w->mask < 0 ? NULL : s->v[w->mask];
    return x;
}

static int64_t number(const InterpStep *s, bool scalar, LaneType t, int reg,
                      int lane)
{
    if (reg < 0)
        return 0;
    if (scalar)
        return s->slot[reg].i;
    switch (t) {
    case LANE_I32:
        return ((const int32_t *)s->v[reg])[lane];
    case LANE_U32:
        return ((const uint32_t *)s->v[reg])[lane];
    default:
        return ((const int64_t *)s->v[reg])[lane];
    }
}

static double real(const InterpStep *s, bool scalar, LaneType t, int lane)
{
    const void *at = scalar ? (const void *)&s->slot[s->instr->a]
                            : s->v[s->instr->a];

    return t == LANE_F64 ? ((const double *)at)[lane]
                         : (double)((const float *)at)[lane];
}

// The lane's result wraps: it has its origin here unless it comes from another.
static void begin(Check *k, const InterpStep *s, const Result *x, int lane,
                  Wide a, Wide b, Wide result)
{
    uint8_t origin;

    if (!x->scalar && !x->file->dirty[s->instr->d]) {
        memset(x->d, 0, (size_t)x->file->pitch);
        x->file->dirty[s->instr->d] = true;
    }
    if (x->d[lane])
        return;
    origin = wrap_origin(k, s);
    x->d[lane] = origin;
    if (origin && (!x->mask || x->mask[lane]))
        wrap_note(k, s, x->scalar ? -1 : lane, a, b, result);
}

// ---- is there anything to see? -------------------------------------------

static bool some_sum(LaneOp op, const int32_t *a, const int32_t *b, int n,
                     int64_t low, int64_t high)
{
    int bad = 0;

    if (op == LANE_OP_ADD)
        for (int i = 0; i < n; i++) {
            int64_t r = (int64_t)a[i] + b[i];

            bad |= (r < low) | (r > high);
        }
    else
        for (int i = 0; i < n; i++) {
            int64_t r = (int64_t)a[i] - b[i];

            bad |= (r < low) | (r > high);
        }
    return bad;
}

static bool some_product(const int32_t *a, const int32_t *b, int n, int64_t low,
                         int64_t high)
{
    int bad = 0;

    for (int i = 0; i < n; i++) {
        int64_t r = (int64_t)a[i] * b[i];

        bad |= (r < low) | (r > high);
    }
    return bad;
}

// Both operands are so small that no operation leaves 64 bits.
static bool all_small(const int64_t *a, const int64_t *b, int n)
{
    int64_t most = 0;

    for (int i = 0; i < n; i++)
        most |= (a[i] ^ a[i] >> 63) | (b[i] ^ b[i] >> 63);
    return most >> 31 == 0;
}

// False: certainly not.
static bool may_wrap(const InterpStep *s, const Result *x, const WrapSite *w)
{
    const Instr *i = s->instr;
    LaneOp op = (LaneOp)i->lane;
    int64_t low, high;

    if (x->scalar || i->b < 0)
        return true;
    if (i->type == LANE_I64)
        return !all_small(s->v[i->a], s->v[i->b], x->n);
    limits((DType)w->dtype, &low, &high);
    if (op == LANE_OP_ADD || op == LANE_OP_SUB)
        return some_sum(op, s->v[i->a], s->v[i->b], x->n, low, high);
    if (op == LANE_OP_MUL)
        return some_product(s->v[i->a], s->v[i->b], x->n, low, high);
    return true;
}

// ---- by kind -------------------------------------------------------------

static void look_at_op(Check *k, const InterpStep *s, const WrapSite *w)
{
    Result x = lanes_of(k, s, w);
    const Instr *i = s->instr;
    LaneType t = (LaneType)i->type;

    if (!may_wrap(s, &x, w))
        return;
    for (int j = 0; j < x.n; j++) {
        int64_t a = number(s, x.scalar, t, i->a, j);
        int64_t b = number(s, x.scalar, t, i->b, j);
        Wide r = exact((LaneOp)i->lane, a, b);

        if (!wrap_fits((DType)w->dtype, r))
            begin(k, s, &x, j, a, b, r);
    }
}

static void look_at_cast(Check *k, const InterpStep *s, const WrapSite *w)
{
    Result x = lanes_of(k, s, w);
    const Instr *i = s->instr;
    LaneType t = lane_type_of((DType)i->from);

    for (int j = 0; j < x.n; j++) {
        int64_t a = number(s, x.scalar, t, i->a, j);

        if (!wrap_fits((DType)w->dtype, a))
            begin(k, s, &x, j, a, 0, a);
    }
}

static bool float_fits(DType t, double v)
{
    int64_t low, high;

    limits(t, &low, &high);
    if (dtype_info(t)->kind == KIND_UINT && dtype_info(t)->bits == 64)
        return v > -1 && v < 0x1p64;
    return trunc(v) >= (double)low && trunc(v) < (double)high + 1;
}

static void look_at_float(Check *k, const InterpStep *s, const WrapSite *w)
{
    Result x = lanes_of(k, s, w);
    LaneType t = lane_type_of((DType)s->instr->from);

    for (int j = 0; j < x.n; j++) {
        double v = real(s, x.scalar, t, j);
        int64_t bits;

        if (float_fits((DType)w->dtype, v))
            continue;
        memcpy(&bits, &v, sizeof bits);
        begin(k, s, &x, j, bits, 0, 0);
    }
}

static void look_at_affine(Check *k, const InterpStep *s, const WrapSite *w)
{
    Result x = lanes_of(k, s, w);
    const Affine *f = &k->code->affine[s->instr->a];
    Wide sum = f->base;

    for (int t = 0; t < f->count; t++)
        sum += (Wide)f->term[t].factor * s->slot[f->term[t].slot].i;
    if (!wrap_fits(DT_I32, sum))
        begin(k, s, &x, 0, sum, 0, sum);
}

static void look_at_coordinates(Check *k, const InterpStep *s,
                                const WrapSite *w)
{
    Result x = lanes_of(k, s, w);
    const Affine *f = &k->code->affine[s->instr->b];
    bool by_row = s->instr->flags & INSTR_ROW;
    Wide base = s->slot[s->instr->a].i + (Wide)f->row * s->row0 +
                (Wide)f->col * s->col0;
    Wide last = base + (Wide)f->row * (s->rows - 1) +
                (by_row ? 0 : (Wide)f->col * (s->cols - 1));

    if (wrap_fits(DT_I32, base) && wrap_fits(DT_I32, last) &&
        (f->row < 0) == (f->col < 0))
        return;
    for (int j = 0; j < x.n; j++) {
        Wide r = base + (Wide)f->row * (by_row ? j : j / s->cols) +
                 (by_row ? 0 : (Wide)f->col * (j % s->cols));

        if (!wrap_fits(DT_I32, r))
            begin(k, s, &x, j, r, 0, r);
    }
}

// A shift by as many bits as there are, or more, or by less than none.
static void look_at_shift(Check *k, const InterpStep *s, const WrapSite *w)
{
    Result x = lanes_of(k, s, w);
    const Instr *i = s->instr;
    LaneType t = (LaneType)i->type;
    int bits = 8 * (int)lane_bytes(t);

    for (int j = 0; j < x.n; j++) {
        int64_t by = number(s, x.scalar, t, i->b, j);

        if (by < 0 || by >= bits)
            begin(k, s, &x, j, number(s, x.scalar, t, i->a, j), by, 0);
    }
}

static bool is_shift_place(const Check *k, uint8_t origin)
{
    int launch, pc;

    return wrap_place(k, origin, &launch, &pc) &&
           k->wraps->site[launch][pc].kind == WRAP_SHIFT;
}

// What is taken for bits has no origin any more; its place is meant to wrap.
static void end_origins(Check *k, const InterpStep *s, const WrapSite *w)
{
    Result x = lanes_of(k, s, w);

    if (!x.scalar && !x.file->dirty[s->instr->d])
        return;
    for (int j = 0; j < x.n; j++) {
        if (!is_wrap_origin(k, x.d[j]) || is_shift_place(k, x.d[j]))
            continue;
        note(k, s, NOTE_BITS, -1, x.d[j] - 1, 1);
        x.d[j] = 0;
    }
}

// A sum over the lanes of a warp that are active.
static void look_at_warp(Check *k, const InterpStep *s, const WrapSite *w)
{
    Result x = lanes_of(k, s, w);
    const Instr *i = s->instr;
    const int32_t *mask = i->c < 0 ? NULL : s->v[i->c];
    bool meets = i->op == INSTR_MEET;
    LaneType t = meets ? k->code->meeting[i->a].type : (LaneType)i->type;
    Wide sum = 0;

    for (int j = 0; j < s->n; j++)
        if (!mask || mask[j])
            sum += number(s, false, t, meets ? i->b : i->a, j);
    for (int j = 0; j < s->n && !wrap_fits((DType)w->dtype, sum); j++)
        begin(k, s, &x, j, sum, 0, sum);
}

void wrap_before(Check *k, const InterpStep *s)
{
    const WrapSite *w = &k->wraps->site[s->launch][s->pc];

    switch ((WrapKind)w->kind) {
    case WRAP_NOTHING:
        return;
    case WRAP_OP:
        look_at_op(k, s, w);
        return;
    case WRAP_SHIFT:
        end_origins(k, s, w);
        look_at_shift(k, s, w);
        return;
    case WRAP_BITS:
        end_origins(k, s, w);
        return;
    case WRAP_CAST:
        look_at_cast(k, s, w);
        return;
    case WRAP_FLOAT:
        look_at_float(k, s, w);
        return;
    case WRAP_AFFINE:
        look_at_affine(k, s, w);
        return;
    case WRAP_COORDINATES:
        look_at_coordinates(k, s, w);
        return;
    case WRAP_WARP:
        look_at_warp(k, s, w);
        return;
    case WRAP_GEMM:
        wrap_gemm(k, s, w);
        return;
    case WRAP_REDUCE:
        wrap_reduce(k, s, w);
        return;
    case WRAP_SCAN:
        wrap_scan(k, s, w);
        return;
    case WRAP_ATOMIC:
        wrap_atomic(k, s, w);
        return;
    }
}
