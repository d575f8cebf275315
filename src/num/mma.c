// mma.c - tables of formats and arithmetics, and the choice of a path.
#include "num/mma.h"
#include "num/mma_int.h"

// The columns of dtype.def that count here, as constants.
enum {
#define DTYPE(id, name, brief, kind, bits, exponent, mantissa, bias, inf,      \
              fnuz, ...)                                                      \
    BITS_##id = bits, EXPONENT_##id = exponent, MANTISSA_##id = mantissa,     \
    BIAS_##id = bias,                                                         \
    SPECIALS_##id = inf ? MMA_IEEE : fnuz ? MMA_FNUZ                          \
                  : exponent ? MMA_FN : MMA_NONE,
#include "num/dtype.def"
};

static const MmaTypeInfo types[] = {
#define MMA_TYPE(id, name, code, dtype)                                       \
    [MMA_##id] = {                                                            \
        name, code, BITS_##dtype, EXPONENT_##dtype, MANTISSA_##dtype,         \
        BIAS_##dtype, (MmaSpecials)SPECIALS_##dtype,                          \
    },
#include "num/mma_type.def"
};

static const DType dtypes[] = {
#define MMA_TYPE(id, name, code, dtype) [MMA_##id] = DT_##dtype,
#include "num/mma_type.def"
};

static const MmaSpec rules[] = {
#define MMA_RULE(unit_, a_, b_, acc_, rule_, step_, fraction_, floor_, keep_) \
    {                                                                         \
        .rule = MMA_##rule_, .unit = MMA_UNIT_##unit_, .a = MMA_##a_,         \
        .b = MMA_##b_, .acc = MMA_##acc_, .step = step_,                      \
        .fraction = fraction_, .floor = floor_, .keep = keep_,                \
    },
#include "num/mma_rule.def"
};

const MmaTypeInfo *mma_type_info(MmaType t)
{
    return &types[t];
}

bool mma_type_find(Text name, MmaType *out)
{
    for (int i = 0; i < MMA_TYPE_COUNT; i++) {
        if (!text_is(name, types[i].name))
            continue;
        *out = (MmaType)i;
        return true;
    }
    return false;
}

bool mma_type_of(DType dtype, MmaType *out)
{
    for (int i = 0; i < MMA_TYPE_COUNT; i++) {
        if (dtypes[i] != dtype)
            continue;
        *out = (MmaType)i;
        return true;
    }
    return false;
}

bool mma_type_of_code(int code, MmaType *out)
{
    for (int i = 0; i < MMA_TYPE_COUNT; i++) {
        if (types[i].code != code)
            continue;
        *out = (MmaType)i;
        return true;
    }
    return false;
}

// What a NaN result looks like. The MI300X's is an open point.
static uint64_t default_nan(const MmaSpec *s)
{
    switch (s->acc) {
    case MMA_F16:
        return 0x7fff;
    case MMA_F64:
        return s->unit == MMA_UNIT_SYNC ? 0xfff8000000000000
                                        : 0x7ff8000000000000;
    default:
        return 0x7fffffff;
    }
}

bool mma_spec(MmaUnit unit, MmaType a, MmaType b, MmaType acc, int k,
              MmaSpec *out)
{
    for (size_t i = 0; i < countof(rules); i++) {
        const MmaSpec *r = &rules[i];
        if (r->unit != unit || r->a != a || r->b != b || r->acc != acc)
            continue;
        *out = *r;
        out->nan = default_nan(r);
        if (r->rule == MMA_EXACT || k < r->step)
            out->step = k;
        return k > 0 && k % out->step == 0 &&
               (r->rule != MMA_HALVES || k % 32 == 0);
    }
    return false;
}

int mma_spec_count(void)
{
    return countof(rules);
}

MmaSpec mma_spec_at(int i)
{
    MmaSpec s = rules[i];
    s.nan = default_nan(&s);
    return s;
}

const char *mma_unit_name(MmaUnit u)
{
    static const char *const names[] = {"sync", "wgmma", "mfma"};
    return names[u];
}

#if defined(__x86_64__)
bool mma_has_path(MmaPath path)
{
    switch (path) {
    case MMA_PATH_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case MMA_PATH_AVX512:
        return __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") &&
               mma_has_path(MMA_PATH_AVX2);
    default:
        return true;
    }
}
#else
bool mma_has_path(MmaPath path)
{
    return path == MMA_PATH_SCALAR || path == MMA_PATH_VECTOR;
}
#endif

void mma_tile(const MmaSpec *s, MmaPath path, const MmaTile *t)
{
    if (t->k % s->step)
        BUG("k = %d is no multiple of the step %d", t->k, s->step);
    bool wide = path == MMA_PATH_AVX512 || path == MMA_PATH_VECTOR;
    bool narrow = path == MMA_PATH_AVX2 || path == MMA_PATH_VECTOR;
    if (wide && mma_has_path(MMA_PATH_AVX512) && mma_tile_avx512(s, t))
        return;
    if (narrow && mma_has_path(MMA_PATH_AVX2) && mma_tile_avx2(s, t))
        return;
    mma_tile_scalar(s, t);
}
