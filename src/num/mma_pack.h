// mma_pack.h - operands decoded to floats and lifts, in kernel order.
//
// Every value of an 8- or 16-bit format, and a tf32, is exact in a float. The
// lift of a product is the biased exponent of the power of two that brings it
// to where bits are cut off, were it the largest: fraction + 127 - exponent.
// Each operand holds its share of that, so a lift is a sum of two; a zero has
// a lift so high that none with it passes for a product's. The exponent of a
// subnormal is its format's least one. Included by the vector paths.
#ifndef NUM_MMA_PACK_H
#define NUM_MMA_PACK_H

enum {
    PANEL = 128,                                // columns of B at a time
    CHUNK = 64,                                 // products at a time
    ROWS = 4,                                   // rows of A at a time
    ZERO_WIDE = 10000, ZERO_NARROW = 255,       // lifts of zeros
    NONE_WIDE = 20000, NONE_NARROW = 254,       // of sums without a product
    LEAST = -90, MOST = 110,                    // exponents done in floats
};

// How to decode a format.
typedef struct {
    int bytes;
    int drop;                                   // low bits ignored
    int shift, sign_shift;                      // to their place in an f32
    float unit;                                 // 2^(127 - bias)
    int least;                                  // exponent of subnormals
    int share;                                  // of fraction + 127
    uint32_t magnitude, limit;                  // special from `limit` on
    uint32_t nan;                               // one more special code
    uint32_t flip;                              // sign of a negated operand
} Format;

// Operands of one panel and chunk. Within a step k stands in kernel order.
typedef struct {
    _Alignas(64) float b[CHUNK][PANEL];
    _Alignas(64) union {
        uint8_t narrow[CHUNK][PANEL];
        int16_t wide[CHUNK][PANEL];
    } b_lift;
    _Alignas(64) float a[ROWS][CHUNK];
    uint32_t a_lift[ROWS][CHUNK];               // copied to fill the word
    uint64_t a_special[ROWS];                   // a bit per k, as stored
    uint32_t b_special[CHUNK][PANEL / LANES];   // a bit per lane
    uint8_t order[CHUNK], place[CHUNK];         // kernel order of k, inverse
    bool reordered;                             // it is not 0, 1, 2, ...
} Panel;

static Format format_of(MmaType type, int least, int share)
{
    const MmaTypeInfo *t = mma_type_info(type);
    int width = 1 + t->exponent_bits + t->mantissa_bits;
    uint32_t top = (1u << t->exponent_bits) - 1;
    Format f = {
        .bytes = t->bits / 8, .drop = t->bits - width,
        .shift = 23 - t->mantissa_bits, .sign_shift = 32 - width,
        .unit = 1, .least = least, .share = share,
        .magnitude = (1u << (width - 1)) - 1,
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

// LANES codes to values and lifts; returns which are Inf or NaN.
INLINE uint32_t decode_lanes(const Format *f, Vu code, int zero, Vf *value,
                             Vi *lift)
{
    Vu magnitude = code & f->magnitude;
    Vu sign = (code ^ magnitude) << f->sign_shift;
    Vf v = (Vf)(magnitude << f->shift) * f->unit;
    Vi e = max_i32(((Vi)v >> 23) - 127, (Vi){0} + f->least);
    *lift = SELECT((Vi)(magnitude == 0), (Vi){0} + zero, f->share - e);
    *value = (Vf)(((Vu)v | sign) ^ f->flip);
    return lanes_of((Vi)(magnitude >= f->limit) | (Vi)(code == f->nan));
}

// Values and lifts of a row or column, LANES of room behind them.
typedef struct {
    _Alignas(64) float value[CHUNK + LANES];
    _Alignas(64) union {
        uint8_t narrow[CHUNK + LANES];
        int16_t wide[CHUNK + LANES];
    } lift;
} Decoded;

INLINE uint64_t decode_group(const Format *f, int bytes, const char *at,
                             bool wide, Decoded *out, int i)
{
    Vf v;
    Vi lift;
    Vu code = load_codes(bytes, at);
    if (bytes == 4)
        code >>= f->drop;
    uint64_t special =
        decode_lanes(f, code, wide ? ZERO_WIDE : ZERO_NARROW, &v, &lift);
    store_f32(&out->value[i], v);
    if (wide)
        store_i16(&out->lift.wide[i], lift);
    else
        store_u8(&out->lift.narrow[i], lift);
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

INLINE Vi load_lifts(const Decoded *d, int k, bool wide)
{
    Vb narrow;
    Vs half;
    memcpy(&narrow, &d->lift.narrow[k], sizeof narrow);
    memcpy(&half, &d->lift.wide[k], sizeof half);
    return (Vi)(wide ? widen_u16(half) : widen_u8(narrow));
}

// Copies of a lift in all bytes or halves of a word: those broadcast at once.
INLINE uint32_t spread(const Decoded *d, int k, bool wide)
{
    return wide ? (uint16_t)d->lift.wide[k] * 0x10001u
                : d->lift.narrow[k] * 0x1010101u;
}

INLINE void pack_row(Panel *p, const Format *f, int row, const void *at,
                     int count, bool wide)
{
    Decoded d;
    p->a_special[row] = decode(f, at, count, wide, &d);
    if (p->reordered) {
        for (int k = 0; k < count; k++) {
            p->a[row][k] = d.value[p->order[k]];
            p->a_lift[row][k] = spread(&d, p->order[k], wide);
        }
        return;
    }
    memcpy(p->a[row], d.value, sizeof p->a[row]);
    for (int k = 0; k < CHUNK; k += LANES) {
        Vu lift = (Vu)load_lifts(&d, k, wide);
        lift |= lift << 16;
        if (!wide)
            lift |= lift << 8;
        memcpy(&p->a_lift[row][k], &lift, sizeof lift);
    }
}

// Columns of B, stored one after the other.
typedef struct {
    const Format *format;
    const char *at;
    int64_t pitch;                              // bytes from column to column
    int columns, count;
} Columns;

// LANES codes of a column from k on, zeros beyond the edges.
INLINE Vu source_codes(const Columns *b, int column, int k, int bytes)
{
    const char *at = b->at + column * b->pitch + k * bytes;
    char rest[LANES * 4] = {0};
    if (column >= b->columns)
        return (Vu){0};
    if (k + LANES <= b->count)
        return load_codes(bytes, at);
    memcpy(rest, at, (size_t)((b->count - k) * bytes));
    return load_codes(bytes, rest);
}

// LANES columns by LANES k; returns whether any is special.
INLINE uint32_t pack_block(Panel *p, const Columns *b, int bytes, bool wide,
                           int column, int k)
{
    Vu v[LANES];
    uint32_t any = 0;
    UNROLL for (int i = 0; i < LANES; i++)
        v[i] = source_codes(b, column + i, k, bytes);
    transpose(v);
    for (int i = 0; i < LANES && k + i < b->count; i++) {
        Vf value;
        Vi lift;
        Vu code = bytes == 4 ? v[i] >> b->format->drop : v[i];
        uint32_t special = decode_lanes(b->format, code, wide ? ZERO_WIDE
                                        : ZERO_NARROW, &value, &lift);
        int to = p->place[k + i];
        store_f32(&p->b[to][column], value);
        if (wide)
            store_i16(&p->b_lift.wide[to][column], lift);
        else
            store_u8(&p->b_lift.narrow[to][column], lift);
        p->b_special[k + i][column / LANES] = special;
        any |= special;
    }
    return any;
}

INLINE uint32_t pack_blocks(Panel *p, const Columns *b, int bytes, bool wide)
{
    uint32_t any = 0;
    for (int column = 0; column < b->columns; column += LANES)
        for (int k = 0; k < b->count; k += LANES)
            any |= pack_block(p, b, bytes, wide, column, k);
    return any;
}

INLINE uint32_t pack_columns(Panel *p, const Columns *b, bool wide)
{
    switch (b->format->bytes) {
    case 1:
        return pack_blocks(p, b, 1, wide);
    case 2:
        return pack_blocks(p, b, 2, wide);
    default:
        return pack_blocks(p, b, 4, wide);
    }
}
#endif
