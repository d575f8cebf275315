// mma_pack.h - operands decoded to floats and exponents, in kernel order.
//
// Every value of an 8- or 16-bit format, and a tf32, is exact in a float. Its
// exponent stays at the format's least one for subnormals; a zero gets one so
// low that no sum with it passes for a product. Included by the vector paths.
#ifndef NUM_MMA_PACK_H
#define NUM_MMA_PACK_H

enum {
    PANEL = 128,                                // columns of B at a time
    CHUNK = 64,                                 // products at a time
    ROWS = 4,                                   // rows of A at a time
    NONE_WIDE = -10000,                         // exponent of zero, int16
    NONE_NARROW = -107,                         // and int8
    LEAST = -90, MOST = 110,                    // exponents done in floats
};

// How to decode a format.
typedef struct {
    int bytes;
    int drop;                                   // low bits ignored
    int shift, sign_shift;                      // to their place in an f32
    float unit;                                 // 2^(127 - bias)
    int least;                                  // exponent of subnormals
    uint32_t magnitude, limit;                  // special from `limit` on
    uint32_t nan;                               // one more special code
    uint32_t flip;                              // sign of a negated operand
} Format;

// Operands of one panel and chunk. Within a step k stands in kernel order.
typedef struct {
    _Alignas(64) float b[CHUNK][PANEL];
    _Alignas(64) union {
        int8_t narrow[CHUNK][PANEL];
        int16_t wide[CHUNK][PANEL];
    } b_exponent;
    _Alignas(64) float a[ROWS][CHUNK];
    union {
        int8_t narrow[ROWS][CHUNK];
        int16_t wide[ROWS][CHUNK];
    } a_exponent;
    uint64_t b_special[PANEL], a_special[ROWS]; // a bit per k, as stored
    uint8_t order[CHUNK];                       // kernel order of k
    bool reordered;                             // it is not 0, 1, 2, ...
} Panel;

static Format format_of(MmaType type, int least)
{
    const MmaTypeInfo *t = mma_type_info(type);
    int width = 1 + t->exponent_bits + t->mantissa_bits;
    uint32_t top = (1u << t->exponent_bits) - 1;
    Format f = {
        .bytes = t->bits / 8, .drop = t->bits - width,
        .shift = 23 - t->mantissa_bits, .sign_shift = 32 - width,
        .unit = 1, .least = least, .magnitude = (1u << (width - 1)) - 1,
        .nan = t->specials == MMA_FNUZ ? 1u << (width - 1) : ~0u,
    };
    for (int i = t->bias; i < 127; i++)
        f.unit *= 2;
    f.limit = t->specials == MMA_IEEE ? top << t->mantissa_bits
              : t->specials == MMA_FN ? f.magnitude : f.magnitude + 1;
    return f;
}

INLINE Vu load_codes(int bytes, const void *at)
{
    Vb narrow;
    Vs wide;
    Vu full;
    switch (bytes) {
    case 1:
        memcpy(&narrow, at, sizeof narrow);
        return widen_u8(narrow);
    case 2:
        memcpy(&wide, at, sizeof wide);
        return widen_u16(wide);
    default:
        memcpy(&full, at, sizeof full);
        return full;
    }
}

// LANES codes to values and exponents; returns which are Inf or NaN.
INLINE uint32_t decode_lanes(const Format *f, Vu code, int none, Vf *value,
                             Vi *exponent)
{
    Vu magnitude = code & f->magnitude;
    Vu sign = (code ^ magnitude) << f->sign_shift;
    Vf v = (Vf)(magnitude << f->shift) * f->unit;
    Vi e = max_i32(((Vi)v >> 23) - 127, (Vi){0} + f->least);
    *exponent = SELECT((Vi)(magnitude == 0), (Vi){0} + none, e);
    *value = (Vf)(((Vu)v | sign) ^ f->flip);
    return lanes_of((Vi)(magnitude >= f->limit) | (Vi)(code == f->nan));
}

// Values and exponents of a row or column, LANES of room behind them.
typedef struct {
    _Alignas(64) float value[CHUNK + LANES];
    _Alignas(64) union {
        int8_t narrow[CHUNK + LANES];
        int16_t wide[CHUNK + LANES];
    } exponent;
} Decoded;

INLINE uint64_t decode_group(const Format *f, int bytes, const char *at,
                             bool wide, Decoded *out, int i)
{
    Vf v;
    Vi e;
    Vu code = load_codes(bytes, at);
    if (bytes == 4)
        code >>= f->drop;
    uint64_t special =
        decode_lanes(f, code, wide ? NONE_WIDE : NONE_NARROW, &v, &e);
    store_f32(&out->value[i], v);
    if (wide)
        store_i16(&out->exponent.wide[i], e);
    else
        store_i8(&out->exponent.narrow[i], e);
    return special << i;
}

// `count` codes; returns a bit per special one.
INLINE uint64_t decode_codes(const Format *f, int bytes, const char *at,
                             int count, bool wide, Decoded *out)
{
    uint64_t special = 0;
    int i = 0;
    for (; i + LANES <= count; i += LANES)
        special |= decode_group(f, bytes, at + i * bytes, wide, out, i);
    if (i < count) {
        char rest[LANES * 4] = {0};
        memcpy(rest, at + i * bytes, (size_t)((count - i) * bytes));
        special |= decode_group(f, bytes, rest, wide, out, i);
    }
    return special;
}

INLINE uint64_t decode(const Format *f, const void *at, int count, bool wide,
                       Decoded *out)
{
    switch (f->bytes) {
    case 1:
        return decode_codes(f, 1, at, count, wide, out);
    case 2:
        return decode_codes(f, 2, at, count, wide, out);
    default:
        return decode_codes(f, 4, at, count, wide, out);
    }
}

INLINE void pack_row(Panel *p, const Format *f, int row, const void *at,
                     int count, bool wide)
{
    Decoded d;
    p->a_special[row] = decode(f, at, count, wide, &d);
    if (!p->reordered) {
        memcpy(p->a[row], d.value, sizeof p->a[row]);
        if (wide)
            memcpy(p->a_exponent.wide[row], d.exponent.wide,
                   sizeof p->a_exponent.wide[row]);
        else
            memcpy(p->a_exponent.narrow[row], d.exponent.narrow,
                   sizeof p->a_exponent.narrow[row]);
        return;
    }
    for (int k = 0; k < count; k++) {
        p->a[row][k] = d.value[p->order[k]];
        p->a_exponent.narrow[row][k] = d.exponent.narrow[p->order[k]];
    }
}

INLINE void pack_column(Panel *p, const Format *f, int column, const void *at,
                        int count, bool wide)
{
    Decoded d;
    p->b_special[column] = decode(f, at, count, wide, &d);
    for (int k = 0; k < count; k++) {
        int from = p->order[k];
        p->b[k][column] = d.value[from];
        if (wide)
            p->b_exponent.wide[k][column] = d.exponent.wide[from];
        else
            p->b_exponent.narrow[k][column] = d.exponent.narrow[from];
    }
}

// Columns that B does not have hold zeros.
INLINE void clear_column(Panel *p, int column, int count, bool wide)
{
    p->b_special[column] = 0;
    for (int k = 0; k < count; k++) {
        p->b[k][column] = 0;
        if (wide)
            p->b_exponent.wide[k][column] = NONE_WIDE;
        else
            p->b_exponent.narrow[k][column] = NONE_NARROW;
    }
}
#endif
