// isa.h - instructions of gfx942: told from their bytes, and as text.
//
// An operand is a number: 0..127 scalar registers (vcc 106, m0 124, exec 126),
// 128..248 constants, 235..238 apertures, 251..253 vccz, execz, scc, 255 the
// literal; from 256 on vector registers, from 512 on accumulators.
#ifndef GFX942_ISA_H
#define GFX942_ISA_H

#include "support/support.h"

typedef enum {
    ENC_SOP2, ENC_SOPK, ENC_SOP1, ENC_SOPC, ENC_SOPP, ENC_SMEM, ENC_VOP2,
    ENC_VOP1, ENC_VOPC, ENC_VOP3, ENC_VOP3P, ENC_DS, ENC_FLAT, ENC_MUBUF,
    ENC_COUNT
} IsaEncoding;

typedef enum {
    OP_UNKNOWN,
#define ISA(encoding, number, id, ...) OP_##id,
#include "gfx942/isa.def"
    OP_TOTAL
} IsaOp;

typedef struct {
    const char *name;
    IsaEncoding encoding;
    uint16_t number;
    uint8_t d, size[3];                         // registers of each operand
    const char *marks;
} IsaInfo;

const IsaInfo *isa_info(IsaOp op);
bool isa_marked(const IsaInfo *info, char mark);

enum {
    OPERAND_VCC = 106, OPERAND_TTMP = 108, OPERAND_M0 = 124,
    OPERAND_EXEC = 126, OPERAND_INT = 128, OPERAND_SHARED_BASE = 235,
    OPERAND_SHARED_LIMIT, OPERAND_PRIVATE_BASE, OPERAND_PRIVATE_LIMIT,
    OPERAND_VCCZ = 251, OPERAND_EXECZ, OPERAND_SCC, OPERAND_LITERAL = 255,
    OPERAND_VGPR = 256, OPERAND_AGPR = 512, OPERAND_NONE = 0xffff,
};

typedef enum { FORM_E32, FORM_E64, FORM_DPP, FORM_SDWA } IsaForm;
typedef enum { SEGMENT_FLAT, SEGMENT_SCRATCH, SEGMENT_GLOBAL } IsaSegment;

typedef struct {
    uint16_t op;                                // IsaOp
    uint8_t words;                              // of 32 bits
    uint8_t form;                               // IsaForm of a VOP
    uint16_t dst, sdst, src[3];                 // operands
    uint32_t literal;
    int32_t offset;                             // memory; SOPK and SOPP: imm
    uint8_t offset1;                            // DS: the second, of bytes
    // VOP: a bit for each source. VOP3P has neg_lo in `neg`, neg_hi in `abs`.
    uint8_t neg, abs, op_sel, op_sel_hi;
    uint8_t clamp, omod;
    uint8_t cbsz, abid, blgp;                   // matrix
    uint16_t dpp_ctrl;
    uint8_t row_mask, bank_mask, bound_ctrl;
    uint8_t sel[3], unused, sext;               // SDWA: dst, src0, src1
    uint8_t segment;                            // FLAT: IsaSegment
    bool sc0, sc1, nt, lds, gds, offen, idxen;
    bool has_address, has_soffset;              // scratch: vaddr; SMEM
} IsaInstr;

// The instruction at the first of `count` words. Returns false, with `words`
// set to what is skipped, when there is none or it is cut off.
bool isa_decode(const uint32_t *at, size_t count, IsaInstr *out);

// Whether a FLAT instruction is there for a segment: each has a number in all
// three, scratch has no atomics, and flat none straight to LDS.
bool isa_has_segment(IsaOp op, int segment);

// As llvm-objdump prints it, without its comment.
void isa_print(TextBuf *out, const IsaInstr *in);

// The name of the known instruction whose number is nearest in the encoding
// of these words; NULL where even that is unknown.
const char *isa_nearest(uint32_t word);
#endif
