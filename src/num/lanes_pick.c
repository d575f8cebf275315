// lanes_pick.c - which instruction set's lane loops to use; facts about lanes.
#include "num/lanes.h"

#include <stdlib.h>
#include <string.h>

extern const Lanes lanes_generic;
#ifdef __x86_64__
extern const Lanes lanes_avx2, lanes_avx512;
#endif

static const LaneOpInfo op_infos[LANE_OP_COUNT] = {
#define LANE(id, ARITY, KINDS, RESULT, DOC)                                   \
    [LANE_OP_##id] = {.name = #id, .arity = ARITY, .kinds = #KINDS,           \
                      .truth = RESULT == '?', .doc = DOC},
#include "num/lanes.def"
};

const LaneOpInfo *lane_op_info(LaneOp op)
{
    if ((unsigned)op >= LANE_OP_COUNT)
        BUG("lane operation %d does not exist", (int)op);
    return &op_infos[op];
}

bool lane_op_has(LaneOp op, LaneType t)
{
    return lanes_generic.op[op][t] != NULL;
}

LaneType lane_type_of(DType t)
{
    const DTypeInfo *info = dtype_info(t);
    switch (info->kind) {
    case KIND_FLOAT:
        return info->bits == 64 ? LANE_F64 : LANE_F32;
    case KIND_UINT:
        return info->bits == 64   ? LANE_U64
               : info->bits == 32 ? LANE_U32
                                  : LANE_I32;
    default:
        return info->bits == 64 ? LANE_I64 : LANE_I32;
    }
}

size_t lane_bytes(LaneType t)
{
    return t == LANE_F64 || t == LANE_I64 || t == LANE_U64 ? 8 : 4;
}

const char *isa_name(Isa isa)
{
    static const char *const names[ISA_COUNT] = {"generic", "avx2", "avx512"};
    return (unsigned)isa < ISA_COUNT ? names[isa] : "unknown";
}

// __builtin_cpu_supports also asks whether the system saves the registers.
const Lanes *lanes_for(Isa isa)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
              __builtin_cpu_supports("f16c") &&
              __builtin_cpu_supports("lzcnt") &&
              __builtin_cpu_supports("movbe");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") &&
              __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512cd") &&
              __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl");
    if (isa == ISA_AVX2)
        return v3 ? &lanes_avx2 : NULL;
    if (isa == ISA_AVX512)
        return v4 ? &lanes_avx512 : NULL;
#endif
    return isa == ISA_GENERIC ? &lanes_generic : NULL;
}

static const Lanes *lanes_named(const char *name)
{
    for (int isa = 0; isa < ISA_COUNT; isa++)
        if (strcmp(name, isa_name((Isa)isa)) == 0) {
            const Lanes *l = lanes_for((Isa)isa);
            if (!l)
                fatal(EXIT_ENVIRONMENT,
                      "TILESIM_ISA=%s: this machine does not have it", name);
            return l;
        }
    fatal(EXIT_ENVIRONMENT,
          "TILESIM_ISA=%s: expected generic, avx2 or avx512", name);
}

static const Lanes *find_best(void)
{
    const char *asked = getenv("TILESIM_ISA");
    if (asked && *asked)
        return lanes_named(asked);
    for (int isa = ISA_COUNT - 1; isa > 0; isa--) {
        const Lanes *l = lanes_for((Isa)isa);
        if (l)
            return l;
    }
    return &lanes_generic;
}

// Whoever comes first finds out; all find the same.
const Lanes *lanes_best(void)
{
    static const Lanes *best;
    const Lanes *l = __atomic_load_n(&best, __ATOMIC_RELAXED);
    if (!l) {
        l = find_best();
        __atomic_store_n(&best, l, __ATOMIC_RELAXED);
    }
    return l;
}
