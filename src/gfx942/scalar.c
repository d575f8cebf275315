// scalar.c - scalar instructions: arithmetic, branches, EXEC, wave control.
#include "gfx942/wave_int.h"

// ---- operands ---------------------------------------------------------------

static uint32_t constant32(uint16_t r)
{
    static const uint32_t floats[] = {
        0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000, 0xc0000000,
        0x40800000, 0xc0800000, 0x3e22f983,
    };
    if (r >= 240 && r < 240 + countof(floats))
        return floats[r - 240];
    return (uint32_t)(r <= 192 ? r - OPERAND_INT : 192 - r);
}

static uint64_t constant64(uint16_t r)
{
    static const uint64_t floats[] = {
        0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
        0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
        0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882,
    };
    if (r >= 240 && r < 240 + countof(floats))
        return floats[r - 240];
    return (uint64_t)(int64_t)(int32_t)constant32(r);
}

static uint64_t special(const Wave *w, uint16_t r)
{
    switch (r) {
    case OPERAND_SHARED_BASE: return SHARED_APERTURE;
    case OPERAND_SHARED_LIMIT: return SHARED_APERTURE + 0xffffffff;
    case OPERAND_PRIVATE_BASE: return PRIVATE_APERTURE;
    case OPERAND_PRIVATE_LIMIT: return PRIVATE_APERTURE + 0xffffffff;
    case OPERAND_VCCZ: return !(w->s[OPERAND_VCC] | w->s[OPERAND_VCC + 1]);
    case OPERAND_EXECZ: return wave_exec(w) == 0;
    case OPERAND_SCC: return w->scc;
    }
    return 0;
}

static bool is_special(uint16_t r)
{
    return (r >= OPERAND_SHARED_BASE && r <= 239)
           || (r >= OPERAND_VCCZ && r < OPERAND_LITERAL);
}

uint32_t scalar_get(const Wave *w, uint16_t r, const IsaInstr *in)
{
    if (r < SCALARS)
        return w->s[r];
    if (r == OPERAND_LITERAL)
        return in->literal;
    // Half of an aperture is its upper one.
    if (r >= OPERAND_SHARED_BASE && r <= OPERAND_PRIVATE_LIMIT)
        return (uint32_t)(special(w, r) >> 32);
    return is_special(r) ? (uint32_t)special(w, r) : constant32(r);
}

uint64_t scalar_get64(const Wave *w, uint16_t r, const IsaInstr *in)
{
    if (r < SCALARS)
        return w->s[r] | (uint64_t)w->s[(r + 1) % SCALARS] << 32;
    if (r == OPERAND_LITERAL)
        return in->literal;
    return is_special(r) ? special(w, r) : constant64(r);
}

void scalar_put(Wave *w, uint16_t r, uint32_t value)
{
    if (r < SCALARS)
        w->s[r] = value;
}

void scalar_put64(Wave *w, uint16_t r, uint64_t value)
{
    scalar_put(w, r, (uint32_t)value);
    scalar_put(w, r + 1, (uint32_t)(value >> 32));
}

// ---- arithmetic -------------------------------------------------------------

static uint64_t bits_of(uint64_t x, uint32_t offset, uint32_t width)
{
    return x >> offset & (width < 64 ? (1ull << width) - 1 : ~0ull);
}

static int64_t signed_bits_of(uint64_t x, uint32_t offset, uint32_t width)
{
    if (width == 0)
        return 0;
    if (width > 64 - offset)
        width = 64 - offset;
    return (int64_t)(x << (64 - offset - width)) >> (64 - width);
}

static uint64_t reversed_bits(uint64_t x)
{
    uint64_t out = 0;
    for (int i = 0; i < 64; i++)
        out |= (x >> i & 1) << (63 - i);
    return out;
}

// How many of the `width` bits from the top equal the sign; all ones for 0, -1.
static uint32_t sign_bits(int64_t x, int width)
{
    uint64_t u = (uint64_t)(x ^ x >> 63);
    return u ? (uint32_t)(__builtin_clzll(u) - (64 - width)) : ~0u;
}

static uint64_t quads(uint64_t x)
{
    uint64_t out = 0;
    for (int i = 0; i < 16; i++)
        out |= (uint64_t)((x >> 4 * i & 15) != 0) << i;
    return out;
}

static uint64_t replicated(uint32_t x)
{
    uint64_t out = 0;
    for (int i = 0; i < 32; i++)
        out |= (uint64_t)(x >> i & 1) * 3 << 2 * i;
    return out;
}

typedef uint32_t N_;
typedef uint32_t U32_;
typedef int32_t I32_;
typedef uint64_t U64_;
typedef int64_t I64_;
#define GET_N(w, r, in) 0
#define GET_U32(w, r, in) scalar_get(w, r, in)
#define GET_I32(w, r, in) (int32_t)scalar_get(w, r, in)
#define GET_U64(w, r, in) scalar_get64(w, r, in)
// A literal has 32 bits; signed ones are extended by their sign.
#define GET_I64(w, r, in)                                                     \
    ((r) == OPERAND_LITERAL ? (int32_t)(in)->literal                          \
                            : (int64_t)scalar_get64(w, r, in))
#define PUT_U32(w, r, v) scalar_put(w, r, v)
#define PUT_I32(w, r, v) scalar_put(w, r, (uint32_t)(v))
#define PUT_U64(w, r, v) scalar_put64(w, r, v)
#define PUT_I64(w, r, v) scalar_put64(w, r, (uint64_t)(v))

#define SALU(id, D, A, B, value, bit)                                         \
    static void id(Wave *w, const IsaInstr *in)                               \
    {                                                                         \
        A##_ a = GET_##A(w, in->src[0], in);                                  \
        B##_ b = GET_##B(w, in->src[1], in);                                  \
        uint32_t scc = w->scc;                                                \
        D##_ d = value;                                                       \
        (void)b, (void)scc;                                                   \
        w->scc = (bit) != 0;                                                  \
        PUT_##D(w, in->dst, d);                                               \
    }
#define COMPARE(id, A, B, bit)                                                \
    static void id(Wave *w, const IsaInstr *in)                               \
    {                                                                         \
        A##_ a = GET_##A(w, in->src[0], in);                                  \
        B##_ b = GET_##B(w, in->src[1], in);                                  \
        w->scc = (bit) != 0;                                                  \
    }
#include "gfx942/salu.def"

// ---- EXEC -------------------------------------------------------------------

static uint64_t combine(IsaOp op, uint64_t a, uint64_t exec)
{
    switch (op) {
    case OP_S_AND_SAVEEXEC_B64: return a & exec;
    case OP_S_OR_SAVEEXEC_B64: return a | exec;
    case OP_S_XOR_SAVEEXEC_B64: return a ^ exec;
    case OP_S_ANDN2_SAVEEXEC_B64: case OP_S_ANDN2_WREXEC_B64:
        return a & ~exec;
    case OP_S_ORN2_SAVEEXEC_B64: return a | ~exec;
    case OP_S_NAND_SAVEEXEC_B64: return ~(a & exec);
    case OP_S_NOR_SAVEEXEC_B64: return ~(a | exec);
    case OP_S_XNOR_SAVEEXEC_B64: return ~(a ^ exec);
    case OP_S_ANDN1_SAVEEXEC_B64: case OP_S_ANDN1_WREXEC_B64:
        return ~a & exec;
    default: return ~a | exec;                  // orn1
    }
}

static void exec_saveexec(Wave *w, const IsaInstr *in)
{
    uint64_t old = wave_exec(w);
    uint64_t made = combine((IsaOp)in->op, scalar_get64(w, in->src[0], in),
                            old);
    bool both = in->op == OP_S_ANDN1_WREXEC_B64
                || in->op == OP_S_ANDN2_WREXEC_B64;
    scalar_put64(w, in->dst, both ? made : old);
    scalar_put64(w, OPERAND_EXEC, made);
    w->scc = made != 0;
}

// ---- moves that depend on something -----------------------------------------

static void exec_cmov(Wave *w, const IsaInstr *in)
{
    if (!w->scc)
        return;
    if (in->op == OP_S_CMOV_B64)
        scalar_put64(w, in->dst, scalar_get64(w, in->src[0], in));
    else
        scalar_put(w, in->dst, scalar_get(w, in->src[0], in));
}

static void exec_bitset(Wave *w, const IsaInstr *in)
{
    bool wide = in->op == OP_S_BITSET0_B64 || in->op == OP_S_BITSET1_B64;
    bool one = in->op == OP_S_BITSET1_B32 || in->op == OP_S_BITSET1_B64;
    uint32_t at = scalar_get(w, in->src[0], in) & (wide ? 63 : 31);
    uint64_t old = wide ? scalar_get64(w, in->dst, in)
                        : scalar_get(w, in->dst, in);
    uint64_t made = one ? old | 1ull << at : old & ~(1ull << at);
    if (wide)
        scalar_put64(w, in->dst, made);
    else
        scalar_put(w, in->dst, (uint32_t)made);
}

static void exec_movrel(Wave *w, const IsaInstr *in)
{
    uint32_t by = w->s[OPERAND_M0];
    bool source = in->op == OP_S_MOVRELS_B32 || in->op == OP_S_MOVRELS_B64;
    bool wide = in->op == OP_S_MOVRELS_B64 || in->op == OP_S_MOVRELD_B64;
    uint32_t from = in->src[0] + (source ? by : 0);
    uint32_t to = in->dst + (source ? 0 : by);
    if ((source && from >= 102) || (!source && to >= 102)) {
        wave_stop(w, GFX_MODE, by);
        return;
    }
    if (wide)
        scalar_put64(w, to, scalar_get64(w, from, in));
    else
        scalar_put(w, to, scalar_get(w, from, in));
}

// ---- 16-bit constants -------------------------------------------------------

static bool compare_k(IsaOp op, uint32_t a, int32_t imm)
{
    uint32_t u = (uint32_t)imm & 0xffff;
    switch (op) {
    case OP_S_CMPK_EQ_I32: return (int32_t)a == imm;
    case OP_S_CMPK_LG_I32: return (int32_t)a != imm;
    case OP_S_CMPK_GT_I32: return (int32_t)a > imm;
    case OP_S_CMPK_GE_I32: return (int32_t)a >= imm;
    case OP_S_CMPK_LT_I32: return (int32_t)a < imm;
    case OP_S_CMPK_LE_I32: return (int32_t)a <= imm;
    case OP_S_CMPK_EQ_U32: return a == u;
    case OP_S_CMPK_LG_U32: return a != u;
    case OP_S_CMPK_GT_U32: return a > u;
    case OP_S_CMPK_GE_U32: return a >= u;
    case OP_S_CMPK_LT_U32: return a < u;
    default: return a <= u;
    }
}

static void exec_cmpk(Wave *w, const IsaInstr *in)
{
    w->scc = compare_k((IsaOp)in->op, scalar_get(w, in->dst, in), in->offset);
}

static void exec_movk(Wave *w, const IsaInstr *in)
{
    if (in->op == OP_S_MOVK_I32 || w->scc)
        scalar_put(w, in->dst, (uint32_t)in->offset);
}

static void exec_arithk(Wave *w, const IsaInstr *in)
{
    uint32_t a = scalar_get(w, in->dst, in), imm = (uint32_t)in->offset;
    if (in->op == OP_S_MULK_I32) {
        scalar_put(w, in->dst, a * imm);
        return;
    }
    uint32_t d = a + imm;
    scalar_put(w, in->dst, d);
    w->scc = ((a ^ d) & (imm ^ d)) >> 31;
}

// ---- hardware registers -----------------------------------------------------

enum { HWREG_MODE = 1, MODE_ROUND = 0xf, MODE_DENORM_WIDE = 0xc0 };

static void exec_getreg(Wave *w, const IsaInstr *in)
{
    int imm = in->offset & 0xffff, width = (imm >> 11 & 31) + 1;
    if ((imm & 63) != HWREG_MODE) {
        wave_stop(w, GFX_MODE, imm & 63);
        return;
    }
    scalar_put(w, in->dst, (uint32_t)bits_of(w->mode, imm >> 6 & 31, width));
}

static void exec_setreg(Wave *w, const IsaInstr *in)
{
    int imm = in->offset & 0xffff, at = imm >> 6 & 31;
    int width = (imm >> 11 & 31) + 1;
    uint32_t value = in->op == OP_S_SETREG_B32 ? scalar_get(w, in->dst, in)
                                               : in->literal;
    uint32_t mask = (uint32_t)(((1ull << width) - 1) << at);
    uint32_t made = (w->mode & ~mask) | (value << at & mask);
    if ((imm & 63) != HWREG_MODE || made & MODE_ROUND
        || (made & MODE_DENORM_WIDE) != MODE_DENORM_WIDE) {
        wave_stop(w, GFX_MODE, imm & 63);
        return;
    }
    w->mode = made;
}

enum { MODE_INDEX = 1 << 27 };

// M0 holds the index in its low bits, what it applies to from bit 12 on.
static void exec_gpr_idx(Wave *w, const IsaInstr *in)
{
    uint32_t m0 = w->s[OPERAND_M0];
    switch (in->op) {
    case OP_S_SET_GPR_IDX_ON:
        w->mode |= MODE_INDEX;
        m0 = (m0 & 0xffff0f00) | (scalar_get(w, in->src[0], in) & 0xff)
             | (in->src[1] & 15u) << 12;
        break;
    case OP_S_SET_GPR_IDX_OFF: w->mode &= ~MODE_INDEX; break;
    case OP_S_SET_GPR_IDX_MODE:
        m0 = (m0 & ~0xf000u) | (in->offset & 15u) << 12;
        break;
    default: m0 = (m0 & ~0xffu) | (scalar_get(w, in->src[0], in) & 0xff);
    }
    w->s[OPERAND_M0] = m0;
}

// ---- the program counter ----------------------------------------------------

static uint64_t address_of(uint32_t word)
{
    return OBJECT_BASE + 4 * (uint64_t)word;
}

static void jump_to(Wave *w, uint64_t address)
{
    uint64_t word = (address - OBJECT_BASE) / 4;
    if (address % 4 || address < OBJECT_BASE || word >= w->group->run->words)
        wave_stop(w, GFX_BAD_JUMP, address);
    else
        w->next = (uint32_t)word;
}

static void exec_pc(Wave *w, const IsaInstr *in)
{
    uint64_t after = address_of(w->pc + in->words);
    switch (in->op) {
    case OP_S_GETPC_B64: scalar_put64(w, in->dst, after); break;
    case OP_S_SETPC_B64: jump_to(w, scalar_get64(w, in->src[0], in)); break;
    case OP_S_CALL_B64:
        scalar_put64(w, in->dst, after);
        jump_to(w, after + 4 * (int64_t)in->offset);
        break;
    default: {
        uint64_t to = scalar_get64(w, in->src[0], in);
        scalar_put64(w, in->dst, after);
        jump_to(w, to);
    }
    }
}

static bool taken(const Wave *w, IsaOp op)
{
    bool vcc = w->s[OPERAND_VCC] | w->s[OPERAND_VCC + 1];
    switch (op) {
    case OP_S_CBRANCH_SCC0: return !w->scc;
    case OP_S_CBRANCH_SCC1: return w->scc;
    case OP_S_CBRANCH_VCCZ: return !vcc;
    case OP_S_CBRANCH_VCCNZ: return vcc;
    case OP_S_CBRANCH_EXECZ: return wave_exec(w) == 0;
    case OP_S_CBRANCH_EXECNZ: return wave_exec(w) != 0;
    default: return true;
    }
}

static void exec_branch(Wave *w, const IsaInstr *in)
{
    w->group->count[COUNT_BRANCH]++;
    if (taken(w, (IsaOp)in->op))
        jump_to(w, address_of(w->pc + 1) + 4 * (int64_t)in->offset);
}

// ---- wave control -----------------------------------------------------------

static void exec_waitcnt(Wave *w, const IsaInstr *in)
{
    int imm = in->offset & 0xffff;
    wait_for(w, (imm & 15) | (imm >> 14 & 3) << 4, imm >> 8 & 15);
}

static void exec_barrier(Wave *w, const IsaInstr *in)
{
    (void)in;
    w->group->count[COUNT_BARRIER]++;
    if (w->group->wave_count == 1)
        return;
    w->state = WAVE_AT_BARRIER;
    w->group->waiting++;
}

static void exec_endpgm(Wave *w, const IsaInstr *in)
{
    (void)in;
    wait_for(w, 0, 0);
    w->state = WAVE_DONE;
    w->group->ended++;
}

void exec_nothing(Wave *w, const IsaInstr *in)
{
    (void)w, (void)in;
}

const struct ScalarTable scalar_table = {{
#define SALU(id, ...) [OP_##id] = id,
#define COMPARE(id, ...) [OP_##id] = id,
#include "gfx942/salu.def"
    [OP_S_AND_SAVEEXEC_B64] = exec_saveexec,
    [OP_S_OR_SAVEEXEC_B64] = exec_saveexec,
    [OP_S_XOR_SAVEEXEC_B64] = exec_saveexec,
    [OP_S_ANDN2_SAVEEXEC_B64] = exec_saveexec,
    [OP_S_ORN2_SAVEEXEC_B64] = exec_saveexec,
    [OP_S_NAND_SAVEEXEC_B64] = exec_saveexec,
    [OP_S_NOR_SAVEEXEC_B64] = exec_saveexec,
    [OP_S_XNOR_SAVEEXEC_B64] = exec_saveexec,
    [OP_S_ANDN1_SAVEEXEC_B64] = exec_saveexec,
    [OP_S_ORN1_SAVEEXEC_B64] = exec_saveexec,
    [OP_S_ANDN1_WREXEC_B64] = exec_saveexec,
    [OP_S_ANDN2_WREXEC_B64] = exec_saveexec,
    [OP_S_CMOV_B32] = exec_cmov, [OP_S_CMOV_B64] = exec_cmov,
    [OP_S_BITSET0_B32] = exec_bitset, [OP_S_BITSET0_B64] = exec_bitset,
    [OP_S_BITSET1_B32] = exec_bitset, [OP_S_BITSET1_B64] = exec_bitset,
    [OP_S_MOVRELS_B32] = exec_movrel, [OP_S_MOVRELS_B64] = exec_movrel,
    [OP_S_MOVRELD_B32] = exec_movrel, [OP_S_MOVRELD_B64] = exec_movrel,
    [OP_S_MOVK_I32] = exec_movk, [OP_S_CMOVK_I32] = exec_movk,
    [OP_S_ADDK_I32] = exec_arithk, [OP_S_MULK_I32] = exec_arithk,
    [OP_S_CMPK_EQ_I32 ... OP_S_CMPK_LE_U32] = exec_cmpk,
    [OP_S_GETREG_B32] = exec_getreg, [OP_S_SETREG_B32] = exec_setreg,
    [OP_S_SETREG_IMM32_B32] = exec_setreg,
    [OP_S_SET_GPR_IDX_ON] = exec_gpr_idx,
    [OP_S_SET_GPR_IDX_OFF] = exec_gpr_idx,
    [OP_S_SET_GPR_IDX_MODE] = exec_gpr_idx,
    [OP_S_SET_GPR_IDX_IDX] = exec_gpr_idx,
    [OP_S_GETPC_B64] = exec_pc, [OP_S_SETPC_B64] = exec_pc,
    [OP_S_SWAPPC_B64] = exec_pc, [OP_S_CALL_B64] = exec_pc,
    [OP_S_BRANCH] = exec_branch, [OP_S_CBRANCH_SCC0] = exec_branch,
    [OP_S_CBRANCH_SCC1] = exec_branch, [OP_S_CBRANCH_VCCZ] = exec_branch,
    [OP_S_CBRANCH_VCCNZ] = exec_branch, [OP_S_CBRANCH_EXECZ] = exec_branch,
    [OP_S_CBRANCH_EXECNZ] = exec_branch,
    [OP_S_WAITCNT] = exec_waitcnt, [OP_S_BARRIER] = exec_barrier,
    [OP_S_ENDPGM] = exec_endpgm,
    [OP_S_NOP] = exec_nothing, [OP_S_SLEEP] = exec_nothing,
    [OP_S_SETPRIO] = exec_nothing, [OP_S_WAKEUP] = exec_nothing,
    [OP_S_ICACHE_INV] = exec_nothing, [OP_S_INCPERFLEVEL] = exec_nothing,
    [OP_S_DECPERFLEVEL] = exec_nothing, [OP_S_TTRACEDATA] = exec_nothing,
}};
