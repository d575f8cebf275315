// decode.c - from the bytes of an instruction to its fields.
#include "gfx942/isa.h"

#include <string.h>

static const IsaInfo infos[OP_TOTAL] = {
#define ISA(ENCODING, NUMBER, id, NAME, D, A, B, C, MARKS)                    \
    [OP_##id] = {NAME, ENC_##ENCODING, NUMBER, D, {A, B, C}, MARKS},
#include "gfx942/isa.def"
};

enum { NUMBERS = 1024 };

static const uint16_t by_number[ENC_COUNT][NUMBERS] = {
#define ISA(encoding, number, id, ...) [ENC_##encoding][number] = OP_##id,
#include "gfx942/isa.def"
};

const IsaInfo *isa_info(IsaOp op)
{
    return &infos[op < OP_TOTAL ? op : OP_UNKNOWN];
}

bool isa_marked(const IsaInfo *info, char mark)
{
    return info->marks && strchr(info->marks, mark);
}

static uint32_t bits(uint32_t word, int low, int count)
{
    return word >> low & ((1u << count) - 1);
}

static int32_t sign_extend(uint32_t value, int width)
{
    return (int32_t)(value << (32 - width)) >> (32 - width);
}

static IsaEncoding encoding_of(uint32_t w)
{
    switch (w >> 26) {
    case 0x30: return ENC_SMEM;
    case 0x34: return w >> 23 == 0x1a7 ? ENC_VOP3P : ENC_VOP3;
    case 0x36: return ENC_DS;
    case 0x37: return ENC_FLAT;
    case 0x38: return ENC_MUBUF;
    }
    if (w >> 31 == 0)
        return w >> 25 == 0x3f   ? ENC_VOP1
               : w >> 25 == 0x3e ? ENC_VOPC : ENC_VOP2;
    switch (w >> 23) {
    case 0x17d: return ENC_SOP1;
    case 0x17e: return ENC_SOPC;
    case 0x17f: return ENC_SOPP;
    }
    if (w >> 30 == 2)
        return w >> 28 == 0xb ? ENC_SOPK : ENC_SOP2;
    return ENC_COUNT;
}

static int number_of(IsaEncoding e, uint32_t w)
{
    static const struct {
        uint8_t low, count;
    } field[ENC_COUNT] = {
        [ENC_SOP2] = {23, 7}, [ENC_SOPK] = {23, 5}, [ENC_SOP1] = {8, 8},
        [ENC_SOPC] = {16, 7}, [ENC_SOPP] = {16, 7}, [ENC_SMEM] = {18, 8},
        [ENC_VOP2] = {25, 6}, [ENC_VOP1] = {9, 8}, [ENC_VOPC] = {17, 8},
        [ENC_VOP3] = {16, 10}, [ENC_VOP3P] = {16, 7}, [ENC_DS] = {17, 8},
        [ENC_FLAT] = {18, 7}, [ENC_MUBUF] = {18, 7},
    };
    return bits(w, field[e].low, field[e].count);
}

// VOP3 repeats VOPC, VOP2 and VOP1 before its own.
static IsaOp find_op(IsaEncoding e, int number)
{
    if (e != ENC_VOP3 || number >= 448)
        return (IsaOp)by_number[e][number];
    if (number < 256)
        return (IsaOp)by_number[ENC_VOPC][number];
    if (number < 320)
        return (IsaOp)by_number[ENC_VOP2][number - 256];
    return (IsaOp)by_number[ENC_VOP1][number - 320];
}

const char *isa_nearest(uint32_t word)
{
    IsaEncoding e = encoding_of(word);
    if (e == ENC_COUNT)
        return NULL;
    int number = number_of(e, word);
    for (int d = 0; d < NUMBERS; d++) {
        IsaOp low = number >= d ? find_op(e, number - d) : OP_UNKNOWN;
        IsaOp high = number + d < NUMBERS ? find_op(e, number + d) : OP_UNKNOWN;
        if (low || high)
            return infos[low ? low : high].name;
    }
    return NULL;
}

// ---- scalar -----------------------------------------------------------------

static void take_literal(IsaInstr *in, const uint32_t *at, size_t count)
{
    if (count > in->words)
        in->literal = at[in->words];
    in->words++;
}

static void decode_scalar(IsaInstr *in, IsaEncoding e, const uint32_t *at,
                          size_t count)
{
    const IsaInfo *info = &infos[in->op];
    uint32_t w = at[0];
    if (info->d)
        in->dst = bits(w, 16, 7);
    if (e == ENC_SOPK || e == ENC_SOPP) {
        in->offset = sign_extend(w & 0xffff, 16);
        if (in->op == OP_S_SETREG_IMM32_B32)
            take_literal(in, at, count);
        return;
    }
    if (info->size[0])
        in->src[0] = bits(w, 0, 8);
    if (info->size[1])
        in->src[1] = bits(w, 8, 8);
    if (in->src[0] == OPERAND_LITERAL || in->src[1] == OPERAND_LITERAL)
        take_literal(in, at, count);
}

static void decode_smem(IsaInstr *in, const uint32_t *at)
{
    const IsaInfo *info = &infos[in->op];
    uint32_t w = at[0];
    if (info->d)
        in->dst = bits(w, 6, 7);
    if (!info->size[0])
        return;
    in->src[0] = bits(w, 0, 6) * 2;
    in->sc0 = bits(w, 16, 1);
    bool imm = bits(w, 17, 1), soffset = bits(w, 14, 1);
    if (imm)
        in->offset = sign_extend(at[1] & 0x1fffff, 21);
    if (soffset)
        in->src[1] = bits(at[1], 25, 7);
    else if (!imm)
        in->src[1] = bits(at[1], 0, 7);
    in->has_soffset = soffset || !imm;
}

// ---- vector -----------------------------------------------------------------

enum { SOURCE_SDWA = 249, SOURCE_DPP = 250 };

static void decode_dpp(IsaInstr *in, uint32_t w)
{
    in->form = FORM_DPP;
    in->src[0] = OPERAND_VGPR + bits(w, 0, 8);
    in->dpp_ctrl = bits(w, 8, 9);
    in->bound_ctrl = bits(w, 19, 1);
    in->neg = bits(w, 20, 1) | bits(w, 22, 1) << 1;
    in->abs = bits(w, 21, 1) | bits(w, 23, 1) << 1;
    in->bank_mask = bits(w, 24, 4);
    in->row_mask = bits(w, 28, 4);
}

static void decode_sdwa(IsaInstr *in, IsaEncoding e, uint32_t w)
{
    in->form = FORM_SDWA;
    in->src[0] = bits(w, 0, 8) + (bits(w, 23, 1) ? 0 : OPERAND_VGPR);
    if (in->src[1] != OPERAND_NONE && bits(w, 31, 1))
        in->src[1] -= OPERAND_VGPR;
    in->sel[1] = bits(w, 16, 3);
    in->sel[2] = bits(w, 24, 3);
    in->sext = bits(w, 19, 1) | bits(w, 27, 1) << 1;
    in->neg = bits(w, 20, 1) | bits(w, 28, 1) << 1;
    in->abs = bits(w, 21, 1) | bits(w, 29, 1) << 1;
    if (e == ENC_VOPC) {
        in->dst = bits(w, 15, 1) ? bits(w, 8, 7) : OPERAND_VCC;
        return;
    }
    in->sel[0] = bits(w, 8, 3);
    in->unused = bits(w, 11, 2);
    in->clamp = bits(w, 13, 1);
    in->omod = bits(w, 14, 2);
}

// An accumulator is meant where a bit beside the operand says so.
static uint16_t accumulator(uint16_t operand, bool acc)
{
    return acc && operand >= OPERAND_VGPR && operand < OPERAND_AGPR
               ? operand + OPERAND_VGPR : operand;
}

static void decode_vop(IsaInstr *in, IsaEncoding e, const uint32_t *at,
                       size_t count)
{
    const IsaInfo *info = &infos[in->op];
    uint32_t w = at[0], src0 = bits(w, 0, 9);
    if (info->size[0])
        in->src[0] = src0;
    if (info->size[1])
        in->src[1] = OPERAND_VGPR + bits(w, 9, 8);
    if (e == ENC_VOPC)
        in->dst = OPERAND_VCC;
    else if (info->d)
        in->dst = bits(w, 17, 8) + (isa_marked(info, 'S') ? 0 : OPERAND_VGPR);
    if (isa_marked(info, 'A')) {
        in->dst = accumulator(in->dst, true);
        in->src[0] = accumulator(in->src[0], true);
    }
    if (isa_marked(info, 'C'))
        in->sdst = OPERAND_VCC;
    if (isa_marked(info, 'c'))
        in->src[2] = OPERAND_VCC;
    bool literal = isa_marked(info, 'K') || isa_marked(info, 'k');
    if (src0 == SOURCE_SDWA || src0 == SOURCE_DPP) {
        in->words = 2;
        if (count > 1 && src0 == SOURCE_DPP)
            decode_dpp(in, at[1]);
        else if (count > 1)
            decode_sdwa(in, e, at[1]);
    } else if (literal || (info->size[0] && src0 == OPERAND_LITERAL))
        take_literal(in, at, count);
}

static void decode_sources(IsaInstr *in, uint32_t w)
{
    const IsaInfo *info = &infos[in->op];
    for (int i = 0; i < 3; i++)
        if (info->size[i])
            in->src[i] = bits(w, 9 * i, 9);
    if (isa_marked(info, 'c'))
        in->src[2] = bits(w, 18, 9);
}

static void decode_vop3(IsaInstr *in, const uint32_t *at)
{
    const IsaInfo *info = &infos[in->op];
    uint32_t w = at[0];
    in->form = FORM_E64;
    decode_sources(in, at[1]);
    if (info->d)
        in->dst = bits(w, 0, 8) + (isa_marked(info, 'S') ? 0 : OPERAND_VGPR);
    in->clamp = bits(w, 15, 1);
    in->neg = bits(at[1], 29, 3);
    in->omod = bits(at[1], 27, 2);
    if (isa_marked(info, 'C'))
        in->sdst = bits(w, 8, 7);
    else {
        in->abs = bits(w, 8, 3);
        in->op_sel = bits(w, 11, 4);
    }
    if (isa_marked(info, 'A')) {
        in->dst = accumulator(in->dst, true);
        in->src[0] = accumulator(in->src[0], true);
    }
}

static void decode_matrix(IsaInstr *in, const uint32_t *at)
{
    uint32_t w = at[0];
    bool dst = bits(w, 15, 1);
    in->cbsz = bits(w, 8, 3);
    in->abid = bits(w, 11, 4);
    in->blgp = bits(at[1], 29, 3);
    in->dst = accumulator(in->dst, dst);
    in->src[0] = accumulator(in->src[0], bits(at[1], 27, 1));
    in->src[1] = accumulator(in->src[1], bits(at[1], 28, 1));
    if (isa_marked(&infos[in->op], 'M'))
        in->src[2] = accumulator(in->src[2], dst);
}

static void decode_vop3p(IsaInstr *in, const uint32_t *at)
{
    const IsaInfo *info = &infos[in->op];
    uint32_t w = at[0];
    decode_sources(in, at[1]);
    in->dst = OPERAND_VGPR + bits(w, 0, 8);
    if (isa_marked(info, 'M') || isa_marked(info, 'm')) {
        decode_matrix(in, at);
        return;
    }
    in->dst = accumulator(in->dst, isa_marked(info, 'A'));
    in->src[0] = accumulator(in->src[0], isa_marked(info, 'a'));
    in->abs = bits(w, 8, 3);
    in->op_sel = bits(w, 11, 3);
    in->op_sel_hi = bits(at[1], 27, 2) | bits(w, 14, 1) << 2;
    in->clamp = bits(w, 15, 1);
    in->neg = bits(at[1], 29, 3);
}

// ---- memory -----------------------------------------------------------------

static uint16_t data_register(uint32_t number, bool acc)
{
    return (acc ? OPERAND_AGPR : OPERAND_VGPR) + number;
}

static void decode_ds(IsaInstr *in, const uint32_t *at)
{
    const IsaInfo *info = &infos[in->op];
    uint32_t w = at[0];
    bool acc = bits(w, 25, 1);
    in->gds = bits(w, 16, 1);
    in->offset = bits(w, 0, 16);
    if (isa_marked(info, '2')) {
        in->offset = bits(w, 0, 8);
        in->offset1 = bits(w, 8, 8);
    }
    if (info->d)
        in->dst = data_register(bits(at[1], 24, 8), acc);
    if (info->size[0])
        in->src[0] = OPERAND_VGPR + bits(at[1], 0, 8);
    if (info->size[1])
        in->src[1] = data_register(bits(at[1], 8, 8), acc);
    if (info->size[2])
        in->src[2] = data_register(bits(at[1], 16, 8), acc);
}

enum { SADDR_OFF = 0x7f };

bool isa_has_segment(IsaOp op, int segment)
{
    bool atomic = op >= OP_FLAT_ATOMIC_SWAP;

    return segment == SEGMENT_GLOBAL || (segment == SEGMENT_SCRATCH && !atomic)
           || (segment == SEGMENT_FLAT && !isa_marked(&infos[op], 'l'));
}

static void decode_flat(IsaInstr *in, const uint32_t *at)
{
    const IsaInfo *info = &infos[in->op];
    uint32_t w = at[0], saddr = bits(at[1], 16, 7);
    bool acc = bits(at[1], 23, 1), atomic = in->op >= OP_FLAT_ATOMIC_SWAP;
    in->segment = bits(w, 14, 2);
    in->sc0 = bits(w, 16, 1);
    in->nt = bits(w, 17, 1);
    in->sc1 = bits(w, 25, 1);
    in->offset = in->segment == SEGMENT_FLAT
                     ? (int32_t)bits(w, 0, 12)
                     : sign_extend(bits(w, 0, 13), 13);
    in->has_address = in->segment != SEGMENT_SCRATCH || bits(w, 13, 1);
    in->src[0] = OPERAND_VGPR + bits(at[1], 0, 8);
    if (in->segment != SEGMENT_FLAT && saddr != SADDR_OFF) {
        in->src[2] = saddr;
        in->has_soffset = true;
    }
    if (info->size[1])
        in->src[1] = data_register(bits(at[1], 8, 8), acc);
    if (info->d && (!atomic || in->sc0))
        in->dst = data_register(bits(at[1], 24, 8), acc);
    in->lds = isa_marked(info, 'l');
}

static void decode_mubuf(IsaInstr *in, const uint32_t *at)
{
    uint32_t w = at[0];
    bool acc = bits(at[1], 23, 1);
    in->offset = bits(w, 0, 12);
    in->offen = bits(w, 12, 1);
    in->idxen = bits(w, 13, 1);
    in->sc0 = bits(w, 14, 1);
    in->sc1 = bits(w, 15, 1);
    in->lds = bits(w, 16, 1);
    in->nt = bits(w, 17, 1);
    if (!infos[in->op].d)
        return;
    in->src[0] = OPERAND_VGPR + bits(at[1], 0, 8);
    in->src[1] = bits(at[1], 16, 5) * 4;
    in->src[2] = bits(at[1], 24, 8);
    in->dst = data_register(bits(at[1], 8, 8), acc);
    if (in->offen && in->idxen)
        in->has_address = true;
    else
        in->has_address = in->offen || in->idxen;
}

static int words_of(IsaEncoding e)
{
    switch (e) {
    case ENC_SMEM: case ENC_VOP3: case ENC_VOP3P: case ENC_DS: case ENC_FLAT:
    case ENC_MUBUF:
        return 2;
    default:
        return 1;
    }
}

// Scalar registers come in aligned groups of two or four.
static uint16_t align_scalar(uint16_t operand, int size)
{
    if (operand >= OPERAND_INT || size < 2)
        return operand;
    return operand & ~(size == 2 ? 1 : 3);
}

static void align_scalars(IsaInstr *in)
{
    const IsaInfo *info = &infos[in->op];
    bool carry = isa_marked(info, 'c');
    in->dst = align_scalar(in->dst, info->d);
    in->sdst = align_scalar(in->sdst, 2);
    for (int i = 0; i < 3; i++)
        in->src[i] = align_scalar(in->src[i],
                                  carry && i == 2 ? 2 : info->size[i]);
    if (info->encoding == ENC_FLAT && in->segment == SEGMENT_GLOBAL)
        in->src[2] = align_scalar(in->src[2], 2);
}

bool isa_decode(const uint32_t *at, size_t count, IsaInstr *out)
{
    IsaEncoding e = encoding_of(at[0]);
    memset(out, 0, sizeof *out);
    out->words = e == ENC_COUNT ? 1 : words_of(e);
    out->dst = out->sdst = OPERAND_NONE;
    out->src[0] = out->src[1] = out->src[2] = OPERAND_NONE;
    if (e == ENC_COUNT || count < out->words)
        return false;
    out->op = find_op(e, number_of(e, at[0]));
    if (e == ENC_FLAT && !isa_has_segment((IsaOp)out->op, bits(at[0], 14, 2)))
        out->op = OP_UNKNOWN;
    if (out->op == OP_UNKNOWN)
        return false;
    switch (e) {
    case ENC_SMEM: decode_smem(out, at); break;
    case ENC_VOP1: case ENC_VOP2: case ENC_VOPC:
        decode_vop(out, e, at, count);
        break;
    case ENC_VOP3: decode_vop3(out, at); break;
    case ENC_VOP3P: decode_vop3p(out, at); break;
    case ENC_DS: decode_ds(out, at); break;
    case ENC_FLAT: decode_flat(out, at); break;
    case ENC_MUBUF: decode_mubuf(out, at); break;
    default: decode_scalar(out, e, at, count);
    }
    align_scalars(out);
    return out->words <= count;
}
