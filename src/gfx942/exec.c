// exec.c - which function executes an instruction.
#include "gfx942/wave_int.h"

static Exec *vector_exec(IsaOp op, const IsaInfo *info)
{
    switch (op) {
    case OP_V_NOP: return exec_nothing;
    case OP_V_READFIRSTLANE_B32: return exec_readfirstlane;
    case OP_V_READLANE_B32: return exec_readlane;
    case OP_V_WRITELANE_B32: return exec_writelane;
    case OP_V_SWAP_B32: return exec_swap;
    case OP_V_PK_MOV_B32: return exec_pk_mov;
    case OP_V_FMA_MIX_F32: case OP_V_FMA_MIXLO_F16: case OP_V_FMA_MIXHI_F16:
        return exec_mix;
    default: break;
    }
    if (isa_marked(info, 'M'))
        return exec_matrix;
    if (info->encoding == ENC_VOPC)
        return exec_compare;
    return valu_types(op)->d == VALU_N ? NULL : exec_valu;
}

static Exec *lds_exec(IsaOp op)
{
    switch (op) {
    case OP_DS_PERMUTE_B32: return exec_permute;
    case OP_DS_BPERMUTE_B32: return exec_bpermute;
    case OP_DS_SWIZZLE_B32: return exec_swizzle;
    case OP_DS_NOP: return exec_nothing;
    default: return lds_knows(op) ? exec_lds : NULL;
    }
}

Exec *exec_for(IsaOp op)
{
    const IsaInfo *info = isa_info(op);
    if (op == OP_UNKNOWN)
        return NULL;
    switch (info->encoding) {
    case ENC_SMEM:
        return info->number < 16 || (info->number >= 32 && info->number < 38)
                   ? exec_smem : NULL;
    case ENC_DS: return lds_exec(op);
    case ENC_FLAT: return exec_global;
    case ENC_MUBUF:                             // typed ones are not known
        return info->number < 16 || info->number == 38 || info->number == 39
                   ? NULL : exec_buffer;
    case ENC_VOP1: case ENC_VOP2: case ENC_VOPC: case ENC_VOP3: case ENC_VOP3P:
        return vector_exec(op, info);
    default: return scalar_table.fn[op];
    }
}

bool gfx_executes(IsaOp op)
{
    return exec_for(op) != NULL;
}
