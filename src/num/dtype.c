// dtype.c - what is known of each dtype, and finding one by name.
#include "num/num.h"

#include <float.h>

static const DTypeInfo infos[DT_COUNT] = {
#define DTYPE(id, NAME, BRIEF, KIND, BITS, EXP, MAN, BIAS, INF, FNUZ, MAX,    \
              MIN, BUILT)                                                     \
    [DT_##id] = {.name = NAME, .brief = BRIEF, .kind = KIND_##KIND,           \
                 .bits = BITS, .exponent_bits = EXP, .mantissa_bits = MAN,    \
                 .bias = BIAS, .has_infinity = INF, .fnuz = FNUZ,             \
                 .max_finite = MAX, .min_normal = MIN, .built = BUILT},
#include "num/dtype.def"
};

static const struct {
    const char *name;
    DType dtype;
} aliases[] = {
#define DTYPE_ALIAS(id, NAME) {NAME, DT_##id},
#include "num/dtype.def"
};

const DTypeInfo *dtype_info(DType t)
{
    if ((unsigned)t >= DT_COUNT)
        BUG("dtype %d does not exist", (int)t);
    return &infos[t];
}

bool dtype_find(Text name, DType *out)
{
    for (int t = 0; t < DT_COUNT; t++)
        if (text_is(name, infos[t].name)) {
            *out = (DType)t;
            return true;
        }
    for (size_t i = 0; i < countof(aliases); i++)
        if (text_is(name, aliases[i].name)) {
            *out = aliases[i].dtype;
            return true;
        }
    return false;
}

bool dtype_is_float(DType t)
{
    return dtype_info(t)->kind == KIND_FLOAT;
}

bool dtype_is_int(DType t)
{
    DTypeKind kind = dtype_info(t)->kind;
    return kind == KIND_INT || kind == KIND_UINT;
}

bool dtype_is_fp8(DType t)
{
    return dtype_is_float(t) && dtype_info(t)->bits == 8;
}

size_t dtype_bytes(DType t, int64_t count)
{
    size_t size = (size_t)(dtype_info(t)->bits + 7) / 8, bytes;
    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes))
        BUG("%lld elements have no size", (long long)count);
    return bytes;
}
