// type.c - dtypes as types of the language, and conversions between them.
//
// Floats of 8 and 16 bits are structs of their bits. What is calculated with
// them is calculated as float and rounded: for one operation that gives the
// bits that rounding the exact result would give.
#include "gpu_backend/emit_int.h"

#include <math.h>
#include <string.h>

const char *type_of(DType t)
{
    static const char *const names[DT_COUNT] = {
        [DT_BOOL] = "bool", [DT_I8] = "i8", [DT_I16] = "i16", [DT_I32] = "int",
        [DT_I64] = "i64", [DT_U8] = "u8", [DT_U16] = "u16", [DT_U32] = "u32",
        [DT_U64] = "u64", [DT_F16] = "f16", [DT_BF16] = "bf16",
        [DT_F32] = "float", [DT_F64] = "double", [DT_E4M3FN] = "e4m3",
        [DT_E5M2] = "e5m2", [DT_E4M3FNUZ] = "e4m3fnuz",
        [DT_E5M2FNUZ] = "e5m2fnuz", [DT_TF32] = "float", [DT_I4] = "i8",
        [DT_U4] = "u8", [DT_E2M1FN] = "e2m1",
    };
    return names[t];
}

bool is_nibble(DType t)
{
    return dtype_info(t)->bits == 4;
}

bool is_packed(const IrBuffer *b)
{
    return is_nibble(b->dtype) && b->scope == SCOPE_GLOBAL;
}

int bits_of(const Emit *e, const IrBuffer *b)
{
    return plan_bits(e->plan->rules, b);
}

bool is_narrow(DType t)
{
    return dtype_is_float(t) && dtype_info(t)->bits < 32;
}

static bool is_float32(DType t)
{
    return t == DT_F32 || t == DT_TF32;
}

Text widen(Emit *e, DType t, Text text)
{
    if (!is_narrow(t))
        return text;
    return text_format(e->arena, "f32(%.*s)", TEXT_ARG(text));
}

Text narrow(Emit *e, DType t, Text text)
{
    if (!is_narrow(t))
        return text;
    return text_format(e->arena, "to_%s(%.*s)", type_of(t), TEXT_ARG(text));
}

// ---- literals --------------------------------------------------------------

static Text special(Emit *e, DType t, double v)
{
    if (t == DT_F64)
        return text_of(isnan(v) ? "bits_f64(0x7ff8000000000000ull)"
                       : v > 0  ? "bits_f64(0x7ff0000000000000ull)"
                                : "bits_f64(0xfff0000000000000ull)");
    (void)e;
    return text_of(isnan(v) ? "bits_f32(0x7fc00000u)"
                   : v > 0  ? "bits_f32(0x7f800000u)"
                            : "bits_f32(0xff800000u)");
}

// As float (double for float64), already rounded to t.
Text literal(Emit *e, DType t, double v)
{
    v = num_round_f64(t, v);
    if (!isfinite(v))
        return special(e, t, v);
    Text s = text_format(e->arena, t == DT_F64 ? "%.17g" : "%.9g", v);
    bool plain = true;
    for (size_t i = 0; i < s.len; i++)
        plain &= s.at[i] != '.' && s.at[i] != 'e';
    return text_format(e->arena, "%.*s%s%s", TEXT_ARG(s), plain ? ".0" : "",
                       t == DT_F64 ? "" : "f");
}

Text literal_int(Emit *e, DType t, int64_t v)
{
    switch (t) {
    case DT_BOOL:
        return text_of(v ? "true" : "false");
    case DT_U64:
        return text_format(e->arena, "%lluull", (unsigned long long)v);
    case DT_U32:
        return text_format(e->arena, "%luu", (unsigned long)(uint32_t)v);
    case DT_I64:
        if (v == INT64_MIN)
            return TEXT("(-9223372036854775807ll - 1)");
        return text_format(e->arena, "%lldll", (long long)v);
    case DT_I8:
    case DT_U8:
    case DT_I16:
    case DT_U16:
        return text_format(e->arena, "(%s)%lld", type_of(t), (long long)v);
    default:
        if (v == INT32_MIN)
            return TEXT("(-2147483647 - 1)");
        return text_format(e->arena, "%lld", (long long)v);
    }
}

// ---- conversions -----------------------------------------------------------

static Text call(Emit *e, const char *name, Text x)
{
    return text_format(e->arena, "%s(%.*s)", name, TEXT_ARG(x));
}

static Text cast(Emit *e, const char *type, Text x)
{
    return text_format(e->arena, "(%s)(%.*s)", type, TEXT_ARG(x));
}

// As float; where that would round, to odd, so that the next rounding is right.
static Text to_float(Emit *e, DType from, Text x, bool rounds_again)
{
    int bits = dtype_info(from)->bits;

    if (is_narrow(from) || is_float32(from))
        return x;
    if (rounds_again && from == DT_F64)
        return call(e, "odd_f32", x);
    if (rounds_again && bits >= 32)
        return call(e, "odd_f32", cast(e, "double", x));
    return cast(e, "float", x);
}

// Smaller integers are calculated with as int, and wrap.
Text wrap(Emit *e, DType t, Text x)
{
    if (dtype_info(t)->bits >= 32 || dtype_is_float(t) || t == DT_BOOL)
        return x;
    if (is_nibble(t))
        return call(e, t == DT_I4 ? "low_i4" : "low_u4", x);
    return cast(e, type_of(t), x);
}

static Text to_int(Emit *e, DType to, DType from, Text x)
{
    char name[32];

    if (!dtype_is_float(from))
        return is_nibble(to) ? wrap(e, to, x) : cast(e, type_of(to), x);
    snprintf(name, sizeof name, "to_%s",
             to == DT_I32     ? "i32"
             : is_nibble(to)  ? dtype_info(to)->brief
                              : type_of(to));
    return call(e, name, x);
}

Text convert(Emit *e, DType to, DType from, bool wide, Text text, bool sat)
{
    if (to == from && !(wide && is_narrow(to)))
        return text;
    if (!wide)
        text = widen(e, from, text);
    if (is_narrow(to)) {
        bool raw = !sat && dtype_info(to)->bits == 8;
        char name[32];
        text = to_float(e, from, text, true);
        snprintf(name, sizeof name, "to_%s%s", type_of(to),
                 raw ? "_nosat" : "");
        return call(e, name, text);
    }
    switch (to) {
    case DT_BOOL:
        return text_format(e->arena, "((%.*s) != 0)", TEXT_ARG(text));
    case DT_F32:
        return to_float(e, from, text, false);
    case DT_TF32:
        return call(e, "to_tf32", to_float(e, from, text, true));
    case DT_F64:
        return cast(e, "double", text);
    default:
        return to_int(e, to, from, text);
    }
}

// ---- reductions ------------------------------------------------------------

Text identity(Emit *e, Op op, DType t)
{
    bool is_float = dtype_is_float(t);
    const DTypeInfo *info = dtype_info(t);
    int64_t least = info->kind == KIND_INT ? -1 - INT64_MAX : 0;

    if (info->kind == KIND_INT)
        least >>= 64 - info->bits;
    int64_t most = info->kind == KIND_INT ? ~least
                   : info->bits == 64     ? -1
                                          : (1ll << info->bits) - 1;

    switch (op) {
    case OP_REDUCE_MAX:
        return is_float ? narrow(e, t, literal(e, t, -INFINITY))
                        : literal_int(e, t, least);
    case OP_REDUCE_MIN:
        return is_float ? narrow(e, t, literal(e, t, INFINITY))
                        : literal_int(e, t, most);
    case OP_REDUCE_BITAND:
        return literal_int(e, t, info->kind == KIND_INT ? -1 : most);
    default:
        return is_float ? narrow(e, t, literal(e, t, 0))
                        : literal_int(e, t, 0);
    }
}

static const char *combiner(Op op)
{
    switch (op) {
    case OP_REDUCE_SUM:
    case OP_REDUCE_ABSSUM:
    case OP_CUMSUM:
    case OP_ATOMIC_ADD:
        return "+";
    case OP_REDUCE_MAX:
    case OP_REDUCE_ABSMAX:
    case OP_CUMMAX:
    case OP_ATOMIC_MAX:
        return "max_of";
    case OP_REDUCE_MIN:
    case OP_ATOMIC_MIN:
        return "min_of";
    case OP_REDUCE_BITAND:
        return "&";
    case OP_REDUCE_BITOR:
    case OP_ATOMIC_OR:
        return "|";
    case OP_REDUCE_BITXOR:
        return "^";
    default:
        return NULL;
    }
}

// Both have type t, and so has the result.
Text combine(Emit *e, Op op, DType t, Text a, Text b)
{
    const char *how = combiner(op);

    if (!how) {
        refuse(e, "%s", op_surface(op));
        return a;
    }
    a = widen(e, t, a);
    b = widen(e, t, b);
    if (strlen(how) > 1)
        return narrow(e, t, text_format(e->arena, "%s(%.*s, %.*s)", how,
                                        TEXT_ARG(a), TEXT_ARG(b)));
    Text r = text_format(e->arena, "%.*s %s %.*s", TEXT_ARG(a), how,
                         TEXT_ARG(b));
    if (is_narrow(t))
        return narrow(e, t, r);
    return wrap(e, t, r);
}
