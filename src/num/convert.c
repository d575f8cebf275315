// convert.c - single elements of any dtype, and arrays from any to any.
//
// Arrays go in pieces through the lane loops: load, change of lane, store.
// Where the target is narrower than its lane, the change rounds to odd, so the
// store's rounding is the only one that shows.
#include "num/num.h"

#include <stdalign.h>
#include <string.h>

#include "num/lanes.h"
#include "num/narrow.h"

enum { PIECE = 512 };

_Noreturn static void not_built(DType t)
{
    BUG("dtype %s has no arithmetic", dtype_info(t)->name);
}

static const Narrow *narrow_of(DType t)
{
    switch (t) {
    case DT_F16:
        return &narrow_f16;
    case DT_BF16:
        return &narrow_bf16;
    case DT_E4M3FN:
        return &narrow_e4m3fn;
    case DT_E5M2:
        return &narrow_e5m2;
    case DT_E4M3FNUZ:
        return &narrow_e4m3fnuz;
    case DT_E5M2FNUZ:
        return &narrow_e5m2fnuz;
    case DT_E2M1FN:
        return &narrow_e2m1fn;
    default:
        not_built(t);
    }
}

static uint64_t get_bits(const void *at, int bits)
{
    uint64_t u = 0;
    memcpy(&u, at, (size_t)(bits + 7) / 8);
    return bits < 8 ? u & ((1u << bits) - 1) : u;
}

static void put_bits(void *at, int bits, uint64_t u)
{
    if (bits < 8)
        u &= (1u << bits) - 1;
    memcpy(at, &u, (size_t)(bits + 7) / 8);
}

static double get_float(DType t, const void *at)
{
    int bits = dtype_info(t)->bits;
    uint64_t u = get_bits(at, bits);
    if (t == DT_F64)
        return f64_bits(u);
    if (t == DT_F32)
        return f32_bits((uint32_t)u);
    if (t == DT_TF32)
        return tf32_cut_f32(f32_bits((uint32_t)u));
    if (t == DT_BF16)
        return f32_bits((uint32_t)u << 16);
    if (t == DT_E8M0FNU)
        return e8m0_value((uint8_t)u);
    return narrow_decode((uint32_t)u, *narrow_of(t), bits);
}

static void put_float(DType t, void *at, double v)
{
    int bits = dtype_info(t)->bits;
    if (t == DT_F64) {
        put_bits(at, bits, bits_f64(v));
    } else if (t == DT_F32) {
        put_bits(at, bits, bits_f32((float)v));
    } else if (t == DT_TF32) {
        put_bits(at, bits, bits_f32(tf32_round_f32(f64_to_f32_odd(v))));
    } else if (t == DT_E8M0FNU) {
        put_bits(at, bits, e8m0_up(v));
    } else {
        const Narrow *f = narrow_of(t);
        float r = narrow_round_f64(v, *f, bits <= 8);
        if (t == DT_E2M1FN && v != v)
            r = f->max;
        bool upper = t == DT_BF16;              // bfloat16 is half a float32
        put_bits(at, bits,
                 upper ? bf16_word(r) >> 16 : narrow_encode(r, *f, bits));
    }
}

// Sign-extends the low `bits` of u when the type is signed.
static int64_t get_int(const DTypeInfo *info, const void *at)
{
    uint64_t u = get_bits(at, info->bits);
    int unused = 64 - info->bits;
    if (info->kind == KIND_INT)
        return (int64_t)(u << unused) >> unused;
    return (int64_t)(info->kind == KIND_BOOL ? u != 0 : u);
}

static int64_t clamp_f64(double v, int64_t low, int64_t high, double above)
{
    if (v != v)
        return 0;
    return v >= above ? high : v <= (double)low ? low : (int64_t)v;
}

// Out of range clamps; uint64 comes as its bits.
static int64_t int_of_f64(const DTypeInfo *info, double v)
{
    int bits = info->bits;
    if (info->kind == KIND_BOOL)
        return v != 0;
    if (info->kind == KIND_INT) {
        double half = f64_bits((uint64_t)(1023 + bits - 1) << 52);
        int64_t high = (int64_t)(((uint64_t)1 << (bits - 1)) - 1);
        return clamp_f64(v, -high - 1, high, half);
    }
    if (bits < 64)
        return clamp_f64(v, 0, ((int64_t)1 << bits) - 1, info->max_finite);
    if (v < 0x1p63)
        return clamp_f64(v, 0, INT64_MAX, 0x1p63);
    return (int64_t)(v >= 0x1p64 ? UINT64_MAX : v == v ? (uint64_t)v : 0);
}

static const DTypeInfo *built_info(DType t)
{
    const DTypeInfo *info = dtype_info(t);
    if (!info->built)
        not_built(t);
    return info;
}

double num_get_f64(DType t, const void *at)
{
    const DTypeInfo *info = built_info(t);
    if (info->kind == KIND_FLOAT)
        return get_float(t, at);
    int64_t v = get_int(info, at);
    return t == DT_U64 ? (double)(uint64_t)v : (double)v;
}

void num_put_f64(DType t, void *at, double v)
{
    const DTypeInfo *info = built_info(t);
    if (info->kind == KIND_FLOAT)
        put_float(t, at, v);
    else
        put_bits(at, info->bits, (uint64_t)int_of_f64(info, v));
}

int64_t num_get_i64(DType t, const void *at)
{
    const DTypeInfo *info = built_info(t);
    if (info->kind == KIND_FLOAT)
        return clamp_f64(get_float(t, at), INT64_MIN, INT64_MAX, 0x1p63);
    return get_int(info, at);
}

// Ends in an odd last bit if 53 are not enough: see narrow.h on double
// rounding; float32 has its own direct conversion.
static double f64_of_i64_odd(int64_t v)
{
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    if (u >> 53)
        u = (u & 2047) ? (u & ~(uint64_t)2047) | 2048 : u;
    return v < 0 ? -(double)u : (double)u;
}

void num_put_i64(DType t, void *at, int64_t v)
{
    const DTypeInfo *info = built_info(t);
    if (t == DT_F32)
        put_bits(at, 32, bits_f32((float)v));
    else if (t == DT_F64)
        put_bits(at, 64, bits_f64((double)v));
    else if (info->kind == KIND_FLOAT)
        put_float(t, at, f64_of_i64_odd(v));
    else
        put_bits(at, info->bits,
                 info->kind == KIND_BOOL ? v != 0 : (uint64_t)v);
}

double num_round_f64(DType t, double v)
{
    uint64_t element;
    num_put_f64(t, &element, v);
    return num_get_f64(t, &element);
}

typedef struct {
    DType src, dst;
    LaneType from, to;
    LaneFn *store;
} Conversion;

static bool lane_is_float(LaneType t)
{
    return t == LANE_F32 || t == LANE_F64;
}

// Change of lane for one piece: src lanes in, dst lanes out.
static void change(const Lanes *l, const Conversion *c, void *out,
                   const void *in, int64_t n)
{
    static const uint64_t zeros[PIECE];
    bool clamps = lane_is_float(c->from) && l->clamp[c->dst];
    if (c->dst == DT_BOOL)
        l->op[LANE_OP_NE][c->from](out, in, zeros, NULL, n);
    else if (c->to == LANE_F32 && c->dst != DT_F32)
        l->convert_odd[c->from](out, in, NULL, NULL, n);
    else
        l->convert[c->from][c->to](out, in, NULL, NULL, n);
    if (clamps)
        l->clamp[c->dst](out, out, NULL, NULL, n);
}

static void convert(const Conversion *c, void *dst, const void *src, int64_t n)
{
    const Lanes *l = lanes_best();
    alignas(64) uint64_t in[PIECE], out[PIECE];
    size_t src_bytes = dtype_bytes(c->src, 1);
    size_t dst_bytes = dtype_bytes(c->dst, 1);
    for (int64_t i = 0; i < n; i += PIECE) {
        int64_t piece = n - i < PIECE ? n - i : PIECE;
        const char *from = (const char *)src + (size_t)i * src_bytes;
        l->load[c->src](in, from, NULL, NULL, piece);
        change(l, c, out, in, piece);
        c->store((char *)dst + (size_t)i * dst_bytes, out, NULL, NULL, piece);
    }
}

static void convert_arrays(DType dst_type, void *dst, DType src_type,
                           const void *src, int64_t n, bool sat)
{
    built_info(dst_type);
    built_info(src_type);
    const Lanes *l = lanes_best();
    Conversion c = {.src = src_type,
                    .dst = dst_type,
                    .from = lane_type_of(src_type),
                    .to = lane_type_of(dst_type),
                    .store = l->store[dst_type]};
    if (!sat && l->store_nosat[dst_type])
        c.store = l->store_nosat[dst_type];
    if (src_type == dst_type && src_type != DT_BOOL)
        memcpy(dst, src, dtype_bytes(src_type, n));
    else
        convert(&c, dst, src, n);
}

void num_convert(DType dst_type, void *dst, DType src_type, const void *src,
                 int64_t n)
{
    convert_arrays(dst_type, dst, src_type, src, n, true);
}

void num_convert_nosat(DType dst_type, void *dst, DType src_type,
                       const void *src, int64_t n)
{
    convert_arrays(dst_type, dst, src_type, src, n, false);
}

void num_convert_torch(DType dst_type, void *dst, DType src_type,
                       const void *src, int64_t n)
{
    convert_arrays(dst_type, dst, src_type, src, n, dst_type == DT_E4M3FN);
}

void num_unpack4(DType t, void *dst, const void *packed, int64_t n)
{
    const uint8_t *from = packed;
    uint8_t *to = dst;
    bool is_signed = dtype_info(t)->kind == KIND_INT;

    for (int64_t i = 0; i < n; i++) {
        unsigned u = from[i / 2] >> (i % 2 ? 4 : 0) & 15;
        to[i] = (uint8_t)(is_signed && u > 7 ? u | 0xf0 : u);
    }
}

void num_pack4(void *packed, const void *src, int64_t n)
{
    const uint8_t *from = src;
    uint8_t *to = packed;

    for (int64_t i = 0; i < n; i++) {
        unsigned u = from[i] & 15;
        to[i / 2] = (uint8_t)(i % 2 ? (to[i / 2] & 15) | u << 4
                                    : (to[i / 2] & 0xf0) | u);
    }
}
