// disassemble.c - an instruction as llvm-objdump prints it.
#include "gfx942/isa.h"

#include <string.h>

// ---- operands ---------------------------------------------------------------

static void put_range(TextBuf *b, const char *file, int first, int size)
{
    if (size == 1)
        buf_printf(b, "%s%d", file, first);
    else
        buf_printf(b, "%s[%d:%d]", file, first, first + size - 1);
}

// Pairs at 102, 104, 106 and 126 have names of their own.
static void put_scalar(TextBuf *b, int r, int size)
{
    static const char *const pair[] = {
        [102] = "flat_scratch", [104] = "xnack_mask", [106] = "vcc",
        [126] = "exec",
    };
    if (r < 102)
        put_range(b, "s", r, size);
    else if (r >= OPERAND_TTMP && r < OPERAND_M0)
        put_range(b, "ttmp", r - OPERAND_TTMP, size);
    else if (r == OPERAND_M0)
        buf_puts(b, "m0");
    else if (r == 125)
        buf_puts(b, "null");
    else if (size == 2 && r < (int)countof(pair) && pair[r])
        buf_puts(b, pair[r]);
    else if (pair[r & ~1])
        buf_printf(b, "%s_%s", pair[r & ~1], r & 1 ? "hi" : "lo");
    else
        buf_printf(b, "s%d", r);
}

static const char *special_name(int r)
{
    switch (r) {
    case OPERAND_SHARED_BASE: return "src_shared_base";
    case OPERAND_SHARED_LIMIT: return "src_shared_limit";
    case OPERAND_PRIVATE_BASE: return "src_private_base";
    case OPERAND_PRIVATE_LIMIT: return "src_private_limit";
    case 239: return "src_pops_exiting_wave_id";
    case OPERAND_VCCZ: return "src_vccz";
    case OPERAND_EXECZ: return "src_execz";
    case OPERAND_SCC: return "src_scc";
    case 254: return "src_lds_direct";
    }
    return NULL;
}

static void put_constant(TextBuf *b, int r, int size)
{
    static const char *const floats[] = {
        "0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0",
    };
    if (r >= 240 && r < 248)
        buf_puts(b, floats[r - 240]);
    else if (r == 248)
        buf_puts(b, size == 2 ? "0.15915494309189532" : "0.15915494");
    else if (r <= 192)
        buf_printf(b, "%d", r - OPERAND_INT);
    else if (r <= 208)
        buf_printf(b, "%d", 192 - r);
    else
        buf_printf(b, "reserved_%d", r);
}

static void put_imm(TextBuf *b, uint32_t value)
{
    int32_t v = (int32_t)value;
    if (v >= -16 && v <= 64)
        buf_printf(b, "%d", v);
    else
        buf_printf(b, "0x%x", value);
}

static void put_operand(TextBuf *b, const IsaInstr *in, uint16_t r, int size)
{
    if (r >= OPERAND_AGPR)
        put_range(b, "a", r - OPERAND_AGPR, size);
    else if (r >= OPERAND_VGPR)
        put_range(b, "v", r - OPERAND_VGPR, size);
    else if (r == OPERAND_LITERAL)
        put_imm(b, in->literal);
    else if (r < OPERAND_INT)
        put_scalar(b, r, size);
    else if (special_name(r))
        buf_puts(b, special_name(r));
    else
        put_constant(b, r, size);
}

static void put_next(TextBuf *b, bool *any)
{
    buf_puts(b, *any ? ", " : " ");
    *any = true;
}

// ---- scalar -----------------------------------------------------------------

static void put_hwreg(TextBuf *b, int imm)
{
    static const char *const names[] = {
        [1] = "MODE", [2] = "STATUS", [3] = "TRAPSTS", [4] = "HW_ID",
        [5] = "GPR_ALLOC", [6] = "LDS_ALLOC", [7] = "IB_STS",
        [15] = "SH_MEM_BASES", [16] = "TBA_LO", [17] = "TBA_HI",
        [18] = "TMA_LO", [19] = "TMA_HI", [20] = "XCC_ID",
        [21] = "SQ_PERF_SNAPSHOT_DATA", [22] = "SQ_PERF_SNAPSHOT_DATA1",
        [23] = "SQ_PERF_SNAPSHOT_PC_LO", [24] = "SQ_PERF_SNAPSHOT_PC_HI",
    };
    int id = imm & 63, offset = imm >> 6 & 31, width = (imm >> 11 & 31) + 1;
    buf_puts(b, "hwreg(");
    if (id < (int)countof(names) && names[id])
        buf_printf(b, "HW_REG_%s", names[id]);
    else
        buf_printf(b, "%d", id);
    if (offset || width != 32)
        buf_printf(b, ", %d, %d", offset, width);
    buf_addc(b, ')');
}

static void put_waitcnt(TextBuf *b, int imm)
{
    int vm = (imm & 15) | (imm >> 14 & 3) << 4, exp = imm >> 4 & 7;
    int lgkm = imm >> 8 & 15;
    bool all = vm == 63 && exp == 7 && lgkm == 15;
    if (vm != 63 || all)
        buf_printf(b, " vmcnt(%d)", vm);
    if (exp != 7 || all)
        buf_printf(b, " expcnt(%d)", exp);
    if (lgkm != 15 || all)
        buf_printf(b, " lgkmcnt(%d)", lgkm);
}

static void put_gpr_idx(TextBuf *b, unsigned mask)
{
    static const char *const names[] = {"SRC0", "SRC1", "SRC2", "DST"};
    const char *comma = "";
    if (mask > 15) {
        put_imm(b, mask);
        return;
    }
    buf_puts(b, "gpr_idx(");
    for (int i = 0; i < 4; i++)
        if (mask >> i & 1) {
            buf_printf(b, "%s%s", comma, names[i]);
            comma = ",";
        }
    buf_addc(b, ')');
}

static void put_sopp(TextBuf *b, const IsaInstr *in)
{
    int imm = in->offset & 0xffff;
    switch (in->op) {
    case OP_S_WAITCNT: put_waitcnt(b, imm); break;
    case OP_S_ENDPGM:
        if (imm)
            buf_printf(b, " %d", imm);
        break;
    case OP_S_BARRIER: case OP_S_WAKEUP: case OP_S_ICACHE_INV:
    case OP_S_TTRACEDATA: case OP_S_ENDPGM_SAVED: case OP_S_SET_GPR_IDX_OFF:
    case OP_S_ENDPGM_ORDERED_PS_DONE:
        break;
    case OP_S_SETHALT: case OP_S_TRAP: case OP_S_INCPERFLEVEL:
    case OP_S_DECPERFLEVEL: case OP_S_SLEEP: case OP_S_SETPRIO:
    case OP_S_SETKILL:
        buf_addc(b, ' ');
        put_imm(b, imm);
        break;
    case OP_S_SET_GPR_IDX_MODE:
        buf_addc(b, ' ');
        put_gpr_idx(b, imm);
        break;
    default: buf_printf(b, " %d", imm);
    }
}

static void put_sopk(TextBuf *b, const IsaInstr *in)
{
    int imm = in->offset & 0xffff;
    bool any = false;
    bool set = in->op == OP_S_SETREG_B32 || in->op == OP_S_SETREG_IMM32_B32;
    put_next(b, &any);
    if (set)
        put_hwreg(b, imm);
    else
        put_operand(b, in, in->dst, isa_info(in->op)->d);
    if (in->op == OP_S_SETREG_IMM32_B32) {
        buf_puts(b, ", ");
        put_imm(b, in->literal);
        return;
    }
    put_next(b, &any);
    if (set)
        put_operand(b, in, in->dst, 1);
    else if (in->op == OP_S_GETREG_B32)
        put_hwreg(b, imm);
    else if (in->op == OP_S_CBRANCH_I_FORK || in->op == OP_S_CALL_B64)
        buf_printf(b, "%d", imm);
    else
        buf_printf(b, imm <= 64 ? "%d" : "0x%x", imm);
}

static void put_smem(TextBuf *b, const IsaInstr *in)
{
    const IsaInfo *info = isa_info(in->op);
    bool any = false, immediate = in->offset || !in->has_soffset;
    if (info->d) {
        put_next(b, &any);
        put_operand(b, in, in->dst, info->d);
    }
    if (!info->size[0])
        return;
    put_next(b, &any);
    put_operand(b, in, in->src[0], info->size[0]);
    put_next(b, &any);
    if (in->has_soffset)
        put_operand(b, in, in->src[1], 1);
    if (in->has_soffset && immediate)
        buf_puts(b, " offset:");
    if (immediate)
        buf_printf(b, "%s0x%x", in->offset < 0 ? "-" : "",
                   (unsigned)(in->offset < 0 ? -in->offset : in->offset));
    if (in->sc0)
        buf_puts(b, " glc");
}

static void put_scalar_operands(TextBuf *b, const IsaInstr *in)
{
    const IsaInfo *info = isa_info(in->op);
    bool any = false;
    if (info->d) {
        put_next(b, &any);
        put_operand(b, in, in->dst, info->d);
    }
    for (int i = 0; i < 2; i++)
        if (info->size[i]) {
            put_next(b, &any);
            if (in->op == OP_S_SET_GPR_IDX_ON && i == 1)
                put_gpr_idx(b, in->src[1]);
            else
                put_operand(b, in, in->src[i], info->size[i]);
        }
}

// ---- vector -----------------------------------------------------------------

static void put_bits(TextBuf *b, const char *name, unsigned value, int count)
{
    buf_printf(b, " %s:[", name);
    for (int i = 0; i < count; i++)
        buf_printf(b, i ? ",%d" : "%d", value >> i & 1);
    buf_addc(b, ']');
}

static void put_source(TextBuf *b, const IsaInstr *in, int i)
{
    const IsaInfo *info = isa_info(in->op);
    int size = isa_marked(info, 'c') && i == 2 ? 2 : info->size[i];
    bool packed = info->encoding == ENC_VOP3P && !isa_marked(info, 'x');
    bool neg = !packed && in->neg >> i & 1, abs = !packed && in->abs >> i & 1;
    bool sext = in->sext >> i & 1;
    // "-1" would be another constant.
    bool number = neg && !abs && in->src[i] >= OPERAND_INT
                  && in->src[i] <= 248;
    buf_puts(b, number ? "neg(" : neg ? "-" : "");
    buf_puts(b, sext ? "sext(" : abs ? "|" : "");
    put_operand(b, in, in->src[i], size);
    buf_puts(b, sext || number ? ")" : abs ? "|" : "");
}

static int source_count(const IsaInstr *in)
{
    int n = 0;
    while (n < 3 && in->src[n] != OPERAND_NONE)
        n++;
    return n;
}

static void put_dpp(TextBuf *b, const IsaInstr *in)
{
    int c = in->dpp_ctrl, n = c & 15;
    if (c <= 0xff)
        buf_printf(b, " quad_perm:[%d,%d,%d,%d]", c & 3, c >> 2 & 3,
                   c >> 4 & 3, c >> 6 & 3);
    else if (c > 0x100 && c <= 0x10f)
        buf_printf(b, " row_shl:%d", n);
    else if (c > 0x110 && c <= 0x11f)
        buf_printf(b, " row_shr:%d", n);
    else if (c > 0x120 && c <= 0x12f)
        buf_printf(b, " row_ror:%d", n);
    else if (c >= 0x150 && c <= 0x15f)
        buf_printf(b, " row_newbcast:%d", n);
    else
        buf_puts(b, c == 0x130   ? " wave_shl:1"
                    : c == 0x134 ? " wave_rol:1"
                    : c == 0x138 ? " wave_shr:1"
                    : c == 0x13c ? " wave_ror:1"
                    : c == 0x140 ? " row_mirror"
                    : c == 0x141 ? " row_half_mirror"
                    : c == 0x142 ? " row_bcast:15"
                    : c == 0x143 ? " row_bcast:31" : " /* Invalid dpp_ctrl */");
    buf_printf(b, " row_mask:0x%x bank_mask:0x%x", in->row_mask,
               in->bank_mask);
    if (in->bound_ctrl)
        buf_puts(b, " bound_ctrl:1");
}

static void put_sdwa(TextBuf *b, const IsaInstr *in)
{
    static const char *const sel[] = {
        "BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD",
        "INVALID",
    };
    static const char *const unused[] = {"PAD", "SEXT", "PRESERVE", "INVALID"};
    // These four leave no choice.
    bool fp8 = in->op >= OP_V_CVT_F32_FP8 && in->op <= OP_V_CVT_PK_F32_BF8;
    if (isa_info(in->op)->encoding != ENC_VOPC && !fp8)
        buf_printf(b, " dst_sel:%s dst_unused:UNUSED_%s", sel[in->sel[0] & 7],
                   unused[in->unused & 3]);
    buf_printf(b, " src0_sel:%s", sel[in->sel[1] & 7]);
    if (isa_info(in->op)->size[1])
        buf_printf(b, " src1_sel:%s", sel[in->sel[2] & 7]);
}

static void put_output_modifiers(TextBuf *b, const IsaInstr *in)
{
    static const char *const omods[] = {"", " mul:2", " mul:4", " div:2"};
    if (in->clamp)
        buf_puts(b, " clamp");
    buf_puts(b, omods[in->omod & 3]);
}

static void put_packed_modifiers(TextBuf *b, const IsaInstr *in)
{
    bool mix = isa_marked(isa_info(in->op), 'x');
    int n = source_count(in);
    unsigned usual = mix ? 0 : (1u << n) - 1;
    unsigned low = (1u << n) - 1;
    if (in->op == OP_V_ACCVGPR_READ_B32 || in->op == OP_V_ACCVGPR_WRITE_B32)
        return;
    if (in->op_sel & low)
        put_bits(b, "op_sel", in->op_sel, n);
    if ((in->op_sel_hi & low) != usual)
        put_bits(b, "op_sel_hi", in->op_sel_hi, n);
    if (!mix && in->neg & low)
        put_bits(b, "neg_lo", in->neg, n);
    if (!mix && in->abs & low)
        put_bits(b, "neg_hi", in->abs, n);
    if (in->clamp)
        buf_puts(b, " clamp");
}

static void put_matrix_modifiers(TextBuf *b, const IsaInstr *in)
{
    bool f64 = in->op == OP_V_MFMA_F64_16X16X4_F64
               || in->op == OP_V_MFMA_F64_4X4X4_4B_F64;
    if (in->cbsz)
        buf_printf(b, " cbsz:%d", in->cbsz);
    if (in->abid)
        buf_printf(b, " abid:%d", in->abid);
    if (in->blgp && f64)
        put_bits(b, "neg", in->blgp, 3);
    else if (in->blgp)
        buf_printf(b, " blgp:%d", in->blgp);
}

static void put_vector_sources(TextBuf *b, const IsaInstr *in, bool any)
{
    const IsaInfo *info = isa_info(in->op);
    for (int i = 0; i < 3 && in->src[i] != OPERAND_NONE; i++) {
        if (isa_marked(info, 'K') && i == 1) {
            put_next(b, &any);
            buf_printf(b, "0x%x", in->literal);
        }
        put_next(b, &any);
        put_source(b, in, i);
    }
    if (isa_marked(info, 'k')) {
        put_next(b, &any);
        buf_printf(b, "0x%x", in->literal);
    }
}

static void put_vector(TextBuf *b, const IsaInstr *in)
{
    const IsaInfo *info = isa_info(in->op);
    bool any = false;
    if (info->d) {
        put_next(b, &any);
        put_operand(b, in, in->dst, info->d);
    }
    if (in->sdst != OPERAND_NONE) {
        put_next(b, &any);
        put_operand(b, in, in->sdst, 2);
    }
    put_vector_sources(b, in, any);
    if (isa_marked(info, 'M') || isa_marked(info, 'm'))
        put_matrix_modifiers(b, in);
    else if (info->encoding == ENC_VOP3P)
        put_packed_modifiers(b, in);
    else {
        int n = source_count(in);
        if (in->op_sel)
            put_bits(b, "op_sel", (in->op_sel & ((1u << n) - 1))
                     | (unsigned)(in->op_sel >> 3 & 1) << n, n + 1);
        put_output_modifiers(b, in);
    }
    if (in->form == FORM_DPP)
        put_dpp(b, in);
    if (in->form == FORM_SDWA)
        put_sdwa(b, in);
}

static const char *form_suffix(const IsaInstr *in)
{
    const IsaInfo *info = isa_info(in->op);
    static const char *const suffix[] = {"_e32", "_e64", "_dpp", "_sdwa"};
    bool has = info->encoding == ENC_VOP1 || info->encoding == ENC_VOP2
               || info->encoding == ENC_VOPC;
    bool plain = in->op == OP_V_READFIRSTLANE_B32 || in->op == OP_V_SWAP_B32
                 || in->op == OP_V_NOP || in->op == OP_V_CLREXCP
                 || isa_marked(info, 'A')
                 || isa_marked(info, 'K') || isa_marked(info, 'k');
    return has && !plain ? suffix[in->form] : "";
}

// ---- memory -----------------------------------------------------------------

static void put_cache_bits(TextBuf *b, const IsaInstr *in)
{
    if (in->sc0)
        buf_puts(b, " sc0");
    if (in->nt)
        buf_puts(b, " nt");
    if (in->sc1)
        buf_puts(b, " sc1");
}

static bool power_of_two(int n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

// What each bit of a lane's number becomes: 0, 1, preserved, inverted.
static void put_bitmask(TextBuf *b, int and, int or, int xor)
{
    buf_puts(b, "BITMASK_PERM,\"");
    for (int bit = 16; bit; bit /= 2) {
        bool zero = (or ^ xor) & bit, one = ((and | or) ^ xor) & bit;
        buf_addc(b, zero == one ? "01"[one] : "pi"[zero]);
    }
    buf_addc(b, '"');
}

static void put_swizzle(TextBuf *b, int offset)
{
    int and = offset & 31, or = offset >> 5 & 31, xor = offset >> 10 & 31;
    bool all = and == 31 && or == 0;
    if (offset >> 8 > 0x80) {
        buf_printf(b, " offset:%d", offset);
        return;
    }
    buf_puts(b, " offset:swizzle(");
    if (offset & 0x8000)
        buf_printf(b, "QUAD_PERM,%d,%d,%d,%d", offset & 3, offset >> 2 & 3,
                   offset >> 4 & 3, offset >> 6 & 3);
    else if (all && power_of_two(xor))
        buf_printf(b, "SWAP,%d", xor);
    else if (all && xor && power_of_two(xor + 1))
        buf_printf(b, "REVERSE,%d", xor + 1);
    else if (and < 31 && power_of_two(32 - and) && or < 32 - and && xor == 0)
        buf_printf(b, "BROADCAST,%d,%d", 32 - and, or);
    else
        put_bitmask(b, and, or, xor);
    buf_addc(b, ')');
}

static void put_ds(TextBuf *b, const IsaInstr *in)
{
    const IsaInfo *info = isa_info(in->op);
    bool any = false;
    if (info->d) {
        put_next(b, &any);
        put_operand(b, in, in->dst, info->d);
    }
    for (int i = 0; i < 3; i++)
        if (info->size[i]) {
            put_next(b, &any);
            put_operand(b, in, in->src[i], info->size[i]);
        }
    if (isa_marked(info, '2')) {
        if (in->offset)
            buf_printf(b, " offset0:%d", in->offset);
        if (in->offset1)
            buf_printf(b, " offset1:%d", in->offset1);
    } else if (in->offset && in->op == OP_DS_SWIZZLE_B32)
        put_swizzle(b, in->offset);
    else if (in->offset)
        buf_printf(b, " offset:%d", in->offset);
    if (in->gds)
        buf_puts(b, " gds");
}

static void put_flat_address(TextBuf *b, const IsaInstr *in, bool *any)
{
    put_next(b, any);
    if (in->segment == SEGMENT_SCRATCH && !in->has_address)
        buf_puts(b, "off");
    else
        put_operand(b, in, in->src[0],
                    in->segment == SEGMENT_SCRATCH
                    || (in->segment == SEGMENT_GLOBAL && in->has_soffset)
                        ? 1 : 2);
}

static void put_flat(TextBuf *b, const IsaInstr *in)
{
    const IsaInfo *info = isa_info(in->op);
    bool any = false;
    if (in->dst != OPERAND_NONE) {
        put_next(b, &any);
        put_operand(b, in, in->dst, info->d);
    }
    put_flat_address(b, in, &any);
    if (info->size[1]) {
        put_next(b, &any);
        put_operand(b, in, in->src[1], info->size[1]);
    }
    if (in->segment != SEGMENT_FLAT) {
        put_next(b, &any);
        if (in->has_soffset)
            put_operand(b, in, in->src[2],
                        in->segment == SEGMENT_GLOBAL ? 2 : 1);
        else
            buf_puts(b, "off");
    }
    if (in->offset)
        buf_printf(b, " offset:%d", in->offset);
    put_cache_bits(b, in);
}

static void put_mubuf(TextBuf *b, const IsaInstr *in)
{
    const IsaInfo *info = isa_info(in->op);
    bool any = false;
    if (info->d) {
        if (!in->lds) {
            put_next(b, &any);
            put_operand(b, in, in->dst, info->d);
        }
        put_next(b, &any);
        if (in->has_address)
            put_operand(b, in, in->src[0], in->offen && in->idxen ? 2 : 1);
        else
            buf_puts(b, "off");
        put_next(b, &any);
        put_operand(b, in, in->src[1], 4);
        put_next(b, &any);
        put_operand(b, in, in->src[2], 1);
    }
    buf_puts(b, in->idxen ? " idxen" : "");
    buf_puts(b, in->offen ? " offen" : "");
    if (in->offset)
        buf_printf(b, " offset:%d", in->offset);
    put_cache_bits(b, in);
    buf_puts(b, in->lds ? " lds" : "");
}

void isa_print(TextBuf *b, const IsaInstr *in)
{
    static const char *const segment[] = {"flat_", "scratch_", "global_", ""};
    const IsaInfo *info = isa_info(in->op);
    if (in->op == OP_UNKNOWN) {
        buf_puts(b, "unknown");
        return;
    }
    if (info->encoding == ENC_FLAT)
        buf_puts(b, segment[in->segment & 3]);
    buf_printf(b, "%s%s", info->name, form_suffix(in));
    switch (info->encoding) {
    case ENC_SOPP: put_sopp(b, in); break;
    case ENC_SOPK: put_sopk(b, in); break;
    case ENC_SMEM: put_smem(b, in); break;
    case ENC_SOP1: case ENC_SOP2: case ENC_SOPC:
        put_scalar_operands(b, in);
        break;
    case ENC_DS: put_ds(b, in); break;
    case ENC_FLAT: put_flat(b, in); break;
    case ENC_MUBUF: put_mubuf(b, in); break;
    default: put_vector(b, in);
    }
}
