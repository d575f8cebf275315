// valu_pick.c - which instruction set's lane loops to use; their types.
#include "gfx942/valu.h"
#include "num/lanes.h"

extern const ValuTable valu_generic;
#ifdef __x86_64__
extern const ValuTable valu_avx2, valu_avx512;
#endif

const ValuTable *valu_best(void)
{
#ifdef __x86_64__
    if (lanes_best()->isa == ISA_AVX512)
        return &valu_avx512;
    if (lanes_best()->isa == ISA_AVX2)
        return &valu_avx2;
#endif
    return &valu_generic;
}

static const ValuTypes types[OP_TOTAL] = {
#define VALU(id, D, A, B, C, ...)                                             \
    [OP_##id] = {VALU_##D, {VALU_##A, VALU_##B, VALU_##C}},
#define CARRY(id, D, A, B, C, ...)                                            \
    [OP_##id] = {VALU_##D, {VALU_##A, VALU_##B, VALU_##C}, .carry = true},
#define PACKED(id, ...)                                                       \
    [OP_##id] = {VALU_P16, {VALU_P16, VALU_P16, VALU_P16}},
#define PACKED64(id, ...)                                                     \
    [OP_##id] = {VALU_U64, {VALU_U64, VALU_U64, VALU_U64}},
#include "gfx942/valu.def"
};

const ValuTypes *valu_types(IsaOp op)
{
    return &types[op];
}
