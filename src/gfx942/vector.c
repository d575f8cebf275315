// vector.c - vector instructions: operands, lanes, modifiers, results.
#include "gfx942/wave_int.h"

enum { MODE_F32_FLUSH_IN = 1 << 4, MODE_F32_FLUSH_OUT = 1 << 5 };

static int type_bits(ValuType t)
{
    switch (t) {
    case VALU_U64: case VALU_I64: case VALU_F64: return 64;
    case VALU_U16: case VALU_I16: case VALU_F16: case VALU_F16D: return 16;
    default: return 32;
    }
}

// ---- lanes ------------------------------------------------------------------

// A wave's lanes as words of all zeros or all ones.
static const uint32_t *vector_mask(Wave *w, uint64_t lanes)
{
    if (lanes != w->lane_mask_of) {
        w->lane_mask_of = lanes;
        for (int i = 0; i < LANES; i++)
            w->lane_mask[i] = 0 - (uint32_t)(lanes >> i & 1);
    }
    return w->lane_mask;
}

uint32_t *vector_row(Wave *w, uint16_t operand)
{
    return w->v[operand - OPERAND_VGPR];
}

void vector_write(Wave *w, uint16_t operand, const uint32_t *from, int count,
                  uint64_t lanes)
{
    uint32_t *to = vector_row(w, operand);
    if (lanes == ~0ull) {
        memcpy(to, from, count * sizeof(uint32_t[LANES]));
        return;
    }
    const uint32_t *mask = vector_mask(w, lanes);
    for (int r = 0; r < count; r++, to += LANES, from += LANES)
        for (int i = 0; i < LANES; i++)
            to[i] = (from[i] & mask[i]) | (to[i] & ~mask[i]);
}

static void spread(uint64_t lanes, uint32_t out[LANES])
{
    for (int i = 0; i < LANES; i++)
        out[i] = lanes >> i & 1;
}

static uint64_t gather(const uint32_t bits[LANES])
{
    uint64_t out = 0;
    for (int i = 0; i < LANES; i++)
        out |= (uint64_t)(bits[i] & 1) << i;
    return out;
}

// ---- sources ----------------------------------------------------------------

static uint32_t half_constant(uint16_t r)
{
    static const uint16_t floats[] = {
        0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118,
    };
    return floats[r - 240];
}

static void fill(VectorSpace space, uint32_t low, uint32_t high, bool wide)
{
    for (int i = 0; i < LANES; i++)
        space[0][i] = low;
    for (int i = 0; i < LANES && wide; i++)
        space[1][i] = high;
}

static void broadcast(Wave *w, const IsaInstr *in, uint16_t r, ValuType t,
                      VectorSpace space)
{
    bool number = r >= 240 && r <= 248;
    if (type_bits(t) == 64) {
        // A literal is the upper half of a double.
        uint64_t v = scalar_get64(w, r, in);
        if (r == OPERAND_LITERAL && t == VALU_F64)
            v <<= 32;
        if (isa_info(in->op)->encoding == ENC_VOP3P && r >= OPERAND_INT)
            v = scalar_get(w, r, in);           // one float of a pair
        fill(space, (uint32_t)v, (uint32_t)(v >> 32), true);
    } else if (number && (type_bits(t) == 16 || t == VALU_P16)) {
        fill(space, half_constant(r), 0, false);
    } else {
        fill(space, scalar_get(w, r, in), 0, false);
    }
}

// With s_set_gpr_idx_on, M0 moves the registers of some operands.
static uint16_t indexed(const Wave *w, uint16_t operand, int which)
{
    uint32_t m0 = w->s[OPERAND_M0];
    if (!(w->mode >> 27 & 1) || operand >= OPERAND_AGPR
        || !(m0 >> (12 + which) & 1))
        return operand;
    uint32_t r = operand + (m0 & 0xff);
    return r < OPERAND_AGPR ? r : operand;
}

static const uint32_t *plain_source(Wave *w, const IsaInstr *in, int i,
                                    ValuType t, VectorSpace space)
{
    uint16_t r = in->src[i];
    if (r >= OPERAND_VGPR)
        return vector_row(w, indexed(w, r, i));
    broadcast(w, in, r, t, space);
    return space[0];
}

// ---- DPP --------------------------------------------------------------------

// The lane that a lane reads, or -1 when there is none.
static int dpp_lane(int ctrl, int lane)
{
    int row = lane & ~15, at = lane & 15, n = ctrl & 15;
    if (ctrl <= 0xff)
        return (lane & ~3) | (ctrl >> 2 * (lane & 3) & 3);
    switch (ctrl & ~15) {
    case 0x100: return at + n < 16 ? lane + n : -1;
    case 0x110: return at >= n ? lane - n : -1;
    case 0x120: return row | ((at - n) & 15);
    case 0x150: return row | n;
    }
    switch (ctrl) {
    case 0x130: return lane < 63 ? lane + 1 : -1;
    case 0x134: return (lane + 1) & 63;
    case 0x138: return lane - 1;
    case 0x13c: return (lane - 1) & 63;
    case 0x140: return row | (15 - at);
    case 0x141: return (lane & ~7) | (7 - (lane & 7));
    case 0x142: return row ? row - 1 : -1;
    case 0x143: return lane >= 32 ? 31 : -1;
    }
    return -1;
}

// Moves lanes of a source; `lanes` loses those that are not written.
static const uint32_t *dpp_source(const IsaInstr *in, const uint32_t *from,
                                  int rows, VectorSpace space, uint64_t *lanes)
{
    uint64_t exec = *lanes;
    for (int i = 0; i < LANES; i++) {
        int source = dpp_lane(in->dpp_ctrl, i);
        bool valid = source >= 0 && exec >> source & 1;
        bool on = in->row_mask >> (i >> 4) & in->bank_mask >> (i >> 2 & 3) & 1;
        if (!on || (!valid && !in->bound_ctrl))
            *lanes &= ~(1ull << i);
        for (int r = 0; r < rows; r++)
            space[r][i] = valid ? from[r * LANES + source] : 0;
    }
    return space[0];
}

// ---- SDWA -------------------------------------------------------------------

enum { SEL_WORD = 4, SEL_DWORD = 6 };

static void sdwa_select(const uint32_t *from, int sel, bool sext,
                        uint32_t out[LANES])
{
    int width = sel < SEL_WORD ? 8 : 16;
    int at = sel < SEL_WORD ? 8 * sel : 16 * (sel - SEL_WORD);
    for (int i = 0; i < LANES; i++) {
        uint32_t high = from[i] << (32 - width - at);
        out[i] = sext ? (uint32_t)((int32_t)high >> (32 - width))
                      : high >> (32 - width);
    }
}

static void sdwa_place(const IsaInstr *in, const uint32_t old[LANES],
                       uint32_t d[LANES])
{
    int sel = in->sel[0], width = sel < SEL_WORD ? 8 : 16;
    int at = sel < SEL_WORD ? 8 * sel : 16 * (sel - SEL_WORD);
    if (sel >= SEL_DWORD)
        return;
    uint32_t field = ((1u << width) - 1) << at;
    for (int i = 0; i < LANES; i++) {
        uint32_t v = d[i] << at & field;
        uint32_t sign = 0 - (v >> (at + width - 1) & 1);
        uint32_t above = at + width < 32 ? ~0u << (at + width) : 0;
        d[i] = in->unused == 2   ? v | (old[i] & ~field)
               : in->unused == 1 ? v | (sign & above) : v;
    }
}

// ---- modifiers --------------------------------------------------------------

static const uint32_t *own(const uint32_t *from, int rows, VectorSpace space)
{
    if (from != space[0])
        memcpy(space, from, rows * sizeof space[0]);
    return space[0];
}

static void apply_signs(const IsaInstr *in, int i, ValuType t,
                        VectorSpace space)
{
    int bits = type_bits(t);
    uint32_t sign = bits == 16 ? 0x8000 : 0x80000000;
    uint32_t clear = in->abs >> i & 1 ? ~sign : ~0u;
    uint32_t flip = in->neg >> i & 1 ? sign : 0;
    uint32_t *row = space[bits == 64];
    for (int n = 0; n < LANES; n++)
        row[n] = (row[n] & clear) ^ flip;
}

static void flush(uint32_t row[LANES])
{
    for (int i = 0; i < LANES; i++)
        row[i] = row[i] & 0x7f800000 ? row[i] : row[i] & 0x80000000;
}

// Packed halves: op_sel and op_sel_hi choose, neg_lo and neg_hi flip.
static void arrange_halves(const IsaInstr *in, int i, uint32_t row[LANES])
{
    int low = in->op_sel >> i & 1 ? 16 : 0;
    int high = in->op_sel_hi >> i & 1 ? 16 : 0;
    uint32_t flip = (in->neg >> i & 1 ? 0x8000u : 0)
                    | (in->abs >> i & 1 ? 0x80000000u : 0);
    for (int n = 0; n < LANES; n++)
        row[n] = ((row[n] >> low & 0xffff) | (row[n] >> high & 0xffff) << 16)
                 ^ flip;
}

static void arrange_pair(const IsaInstr *in, int i, VectorSpace space)
{
    int low = in->op_sel >> i & 1, high = in->op_sel_hi >> i & 1;
    uint32_t flip_low = in->neg >> i & 1 ? 0x80000000 : 0;
    uint32_t flip_high = in->abs >> i & 1 ? 0x80000000 : 0;
    for (int n = 0; n < LANES; n++) {
        uint32_t a = space[low][n], b = space[high][n];
        space[0][n] = a ^ flip_low;
        space[1][n] = b ^ flip_high;
    }
}

static bool packed_as_usual(const IsaInstr *in, int i)
{
    return !(in->op_sel >> i & 1) && in->op_sel_hi >> i & 1
           && !((in->neg | in->abs) >> i & 1);
}

static const uint32_t *packed_source(const IsaInstr *in, int i, ValuType t,
                                     const uint32_t *from, VectorSpace space)
{
    if (packed_as_usual(in, i))
        return from;
    from = own(from, 1 + (t == VALU_U64), space);
    if (t == VALU_U64)
        arrange_pair(in, i, space);
    else
        arrange_halves(in, i, space[0]);
    return from;
}

static bool is_vop(IsaEncoding e)
{
    return e == ENC_VOP1 || e == ENC_VOP2 || e == ENC_VOPC || e == ENC_VOP3;
}

static const uint32_t *modified(Wave *w, const IsaInstr *in, int i, ValuType t,
                                const uint32_t *from, VectorSpace space)
{
    int rows = 1 + (type_bits(t) == 64);
    if (in->op_sel >> i & 1 && in->form == FORM_E64) {
        from = own(from, 1, space);
        for (int n = 0; n < LANES; n++)
            space[0][n] >>= 16;
    }
    if ((in->neg | in->abs) >> i & 1) {
        from = own(from, rows, space);
        apply_signs(in, i, t, space);
    }
    if (t == VALU_F32 && !(w->mode & MODE_F32_FLUSH_IN)) {
        from = own(from, 1, space);
        flush(space[0]);
    }
    return from;
}

const uint32_t *vector_source(Wave *w, const IsaInstr *in, int i, ValuType t,
                              VectorSpace space)
{
    const uint32_t *from = plain_source(w, in, i, t, space);
    IsaEncoding e = isa_info(in->op)->encoding;
    if (in->form == FORM_SDWA && i < 2 && in->sel[i + 1] < SEL_DWORD) {
        sdwa_select(from, in->sel[i + 1], in->sext >> i & 1, space[0]);
        from = space[0];
    }
    if (e == ENC_VOP3P && (t == VALU_P16 || t == VALU_U64))
        return packed_source(in, i, t, from, space);
    return is_vop(e) ? modified(w, in, i, t, from, space) : from;
}

// ---- results ----------------------------------------------------------------

static void clamp_lanes(ValuType t, uint32_t *d)
{
    for (int i = 0; i < LANES; i++) {
        if (t == VALU_F32) {
            float v;
            memcpy(&v, &d[i], sizeof v);
            v = v > 0 ? v : 0;
            v = v > 1 ? 1 : v;
            memcpy(&d[i], &v, sizeof v);
        } else {
            double v;
            uint64_t u = d[i] | (uint64_t)d[LANES + i] << 32;
            memcpy(&v, &u, sizeof v);
            v = v > 0 ? v : 0;
            v = v > 1 ? 1 : v;
            memcpy(&u, &v, sizeof u);
            d[i] = (uint32_t)u;
            d[LANES + i] = (uint32_t)(u >> 32);
        }
    }
}

static void clamp_halves(uint32_t *d, bool both)
{
    for (int i = 0; i < LANES; i++)
        for (int at = 0; at <= (both ? 16 : 0); at += 16) {
            uint32_t h = d[i] >> at & 0xffff;
            uint32_t v = h > 0x7c00 ? 0 : h > 0x3c00 ? 0x3c00 : h;
            d[i] = (d[i] & ~(0xffffu << at)) | v << at;
        }
}

static void scale_output(int omod, uint32_t *d)
{
    float by = omod == 1 ? 2 : omod == 2 ? 4 : 0.5f;
    for (int i = 0; i < LANES; i++) {
        float v;
        memcpy(&v, &d[i], sizeof v);
        v *= by;
        memcpy(&d[i], &v, sizeof v);
    }
}

static bool is_packed_float(IsaOp op)
{
    return op >= OP_V_PK_FMA_F16 && op <= OP_V_PK_MAX_F16;
}

// False when the modifier is not supported for this type.
static bool finish(Wave *w, const IsaInstr *in, ValuType t, uint32_t *d)
{
    if (in->omod && t != VALU_F32)
        return false;
    if (in->omod)
        scale_output(in->omod, d);
    if (t == VALU_F32 && !(w->mode & MODE_F32_FLUSH_OUT))
        flush(d);
    if (!in->clamp)
        return true;
    if (t == VALU_F32 || t == VALU_F64)
        clamp_lanes(t, d);
    else if (t == VALU_F16 || t == VALU_F16D || is_packed_float(in->op))
        clamp_halves(d, t == VALU_P16);
    else
        return false;
    return true;
}

// Instructions of VOP3 alone keep the other half of a register.
static void place_half(const IsaInstr *in, ValuType t, const uint32_t *old,
                       uint32_t *d)
{
    bool high = in->form == FORM_E64 && in->op_sel >> 3 & 1;
    bool keep = isa_info(in->op)->encoding == ENC_VOP3;
    if (type_bits(t) != 16 || (!high && !keep))
        return;
    for (int i = 0; i < LANES; i++)
        d[i] = high ? (old[i] & 0xffff) | d[i] << 16
                    : (old[i] & 0xffff0000) | (d[i] & 0xffff);
}

static bool is_plain(const Wave *w, const IsaInstr *in, ValuType t,
                     uint64_t lanes)
{
    return lanes == ~0ull && !in->clamp && !in->omod
           && in->form != FORM_SDWA && type_bits(t) != 16
           && (t != VALU_F32 || w->mode & MODE_F32_FLUSH_OUT);
}

static bool reads_old(IsaOp op)
{
    return op == OP_V_FMAC_F32 || op == OP_V_FMAC_F64;
}

// ---- instructions -----------------------------------------------------------

static void count_vector(Wave *w)
{
    w->group->count[COUNT_LANES] += __builtin_popcountll(wave_exec(w));
}

typedef struct {
    Valu x;
    VectorSpace space[3];
    uint32_t carry[LANES], carry_out[LANES];
    uint64_t lanes;
} Operands;

static void fetch(Wave *w, const IsaInstr *in, const uint8_t types[3],
                  Operands *o)
{
    static const uint32_t nothing[2 * LANES];
    const uint32_t *at[3] = {nothing, nothing, nothing};
    o->lanes = wave_exec(w);
    for (int i = 0; i < 3; i++) {
        // The third source of v_cndmask is a bit a lane; a literal of
        // v_fmamk and v_fmaak has no operand.
        if (types[i] != VALU_N && in->src[i] != OPERAND_NONE) {
            at[i] = vector_source(w, in, i, (ValuType)types[i], o->space[i]);
        } else if (types[i] != VALU_N) {
            fill(o->space[i], in->literal, 0, false);
            at[i] = o->space[i][0];
        }
    }
    if (in->form == FORM_DPP && types[0] != VALU_N) {
        VectorSpace moved;
        int rows = 1 + (type_bits(types[0]) == 64);
        dpp_source(in, at[0], rows, moved, &o->lanes);
        memcpy(o->space[0], moved, rows * sizeof moved[0]);
        at[0] = o->space[0][0];
    }
    o->x = (Valu){.a = at[0], .b = at[1], .c = at[2], .carry = nothing,
                  .carry_out = o->carry_out};
    bool marked = isa_marked(isa_info(in->op), 'c');
    if (marked || in->op == OP_V_DIV_FMAS_F32 || in->op == OP_V_DIV_FMAS_F64) {
        spread(scalar_get64(w, marked ? in->src[2] : OPERAND_VCC, in),
               o->carry);
        o->x.carry = o->carry;
    }
}

void exec_valu(Wave *w, const IsaInstr *in)
{
    const ValuTypes *t = valu_types((IsaOp)in->op);
    ValuFn *fn = w->group->run->valu->fn[in->op];
    ValuType d = (ValuType)t->d;
    int rows = 1 + (type_bits(d) == 64);
    uint32_t made[2 * LANES];
    Operands o;
    count_vector(w);
    fetch(w, in, t->source, &o);
    uint16_t dst = indexed(w, in->dst, 3);
    uint32_t *row = vector_row(w, dst);
    if (is_plain(w, in, d, o.lanes)) {
        o.x.d = row;
        fn(&o.x);
    } else {
        if (reads_old((IsaOp)in->op))
            memcpy(made, row, rows * sizeof(uint32_t[LANES]));
        o.x.d = made;
        fn(&o.x);
        if (!finish(w, in, d, made)) {
            wave_stop(w, GFX_MODE, 0);
            return;
        }
        if (in->form == FORM_SDWA)
            sdwa_place(in, row, made);
        else
            place_half(in, d, row, made);
        vector_write(w, dst, made, rows, o.lanes);
    }
    if (t->carry)
        scalar_put64(w, in->sdst, gather(o.carry_out) & wave_exec(w));
}

// ---- comparisons ------------------------------------------------------------

// Numbers 32 to 127 are floats, 16 for each of f16, f32, f64, then v_cmpx.
static ValuType compare_type(int number)
{
    static const uint8_t floats[] = {VALU_F16, VALU_F32, VALU_F64};
    static const uint8_t ints[] = {
        VALU_I16, VALU_U16, VALU_I32, VALU_U32, VALU_I64, VALU_U64,
    };
    if (number < 128)
        return (ValuType)floats[(number - 32) / 32];
    return (ValuType)ints[(number - 160) / 32 * 2 + (number >> 3 & 1)];
}

void exec_compare(Wave *w, const IsaInstr *in)
{
    static const uint8_t class_types[] = {VALU_F32, VALU_F64, VALU_F16};
    int number = isa_info(in->op)->number;
    const ValuTable *table = w->group->run->valu;
    bool class = number < 32, x = class ? number & 1 : number >> 4 & 1;
    ValuType t = class ? (ValuType)class_types[(number - 16) / 2]
                       : compare_type(number);
    uint8_t types[3] = {t, class ? VALU_U32 : t, VALU_N};
    Operands o;
    count_vector(w);
    fetch(w, in, types, &o);
    if (class)
        table->classify[t](&o.x, TESTS_CLASS);
    else
        table->compare[t](&o.x, number & (number < 128 ? 15 : 7));
    uint64_t made = gather(o.carry_out) & wave_exec(w);
    scalar_put64(w, in->dst, made);
    if (x)
        scalar_put64(w, OPERAND_EXEC, made);
}

// ---- v_fma_mix --------------------------------------------------------------

// A source is f32, or a half of a register where op_sel_hi says so.
static void mix_source(Wave *w, const IsaInstr *in, int i, VectorSpace space)
{
    bool half = in->op_sel_hi >> i & 1;
    const uint32_t *from = plain_source(w, in, i, half ? VALU_F16 : VALU_F32,
                                        space);
    IsaInstr widen = {.op = OP_V_CVT_F32_F16};
    own(from, 1, space);
    if (half) {
        for (int n = 0; n < LANES; n++)
            space[0][n] >>= in->op_sel >> i & 1 ? 16 : 0;
        w->group->run->valu->fn[widen.op](
            &(Valu){.a = space[0], .b = space[0], .c = space[0],
                    .d = space[0], .carry = space[0]});
    }
    apply_signs(in, i, VALU_F32, space);
    if (!(w->mode & MODE_F32_FLUSH_IN))
        flush(space[0]);
}

void exec_mix(Wave *w, const IsaInstr *in)
{
    VectorSpace space[3];
    uint32_t made[LANES], code[LANES];
    const ValuTable *table = w->group->run->valu;
    count_vector(w);
    for (int i = 0; i < 3; i++)
        mix_source(w, in, i, space[i]);
    table->mix(&(Valu){.a = space[0][0], .b = space[1][0], .c = space[2][0],
                       .d = made});
    if (in->clamp)
        clamp_lanes(VALU_F32, made);
    if (in->op != OP_V_FMA_MIX_F32) {
        const uint32_t *old = vector_row(w, in->dst);
        bool high = in->op == OP_V_FMA_MIXHI_F16;
        table->fn[OP_V_CVT_F16_F32](&(Valu){.a = made, .b = made, .c = made,
                                            .d = code, .carry = made});
        for (int i = 0; i < LANES; i++)
            made[i] = high ? (old[i] & 0xffff) | code[i] << 16
                           : (old[i] & 0xffff0000) | code[i];
    }
    vector_write(w, in->dst, made, 1, wave_exec(w));
}
