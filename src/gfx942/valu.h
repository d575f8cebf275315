// valu.h - the lane loops of vector instructions.
//
// valu.c is compiled once per instruction set, like num/lanes.c. An operand is
// 64 registers, one a lane; the second register of 64 bits is 64 further on.
#ifndef GFX942_VALU_H
#define GFX942_VALU_H

#include "gfx942/isa.h"

enum { WAVE_LANES = 64 };

typedef struct {
    const uint32_t *a, *b, *c;
    uint32_t *d;
    const uint32_t *carry;                      // 0 or 1 for each lane
    uint32_t *carry_out;
} Valu;

typedef void ValuFn(const Valu *x);

typedef enum {
    VALU_N, VALU_U32, VALU_I32, VALU_F32, VALU_U64, VALU_I64, VALU_F64,
    VALU_U16, VALU_I16, VALU_F16, VALU_F16D, VALU_P16, VALU_TYPES
} ValuType;

// Comparisons: bit 0 less, 1 equal, 2 greater, 3 unordered; one word a lane.
typedef void CompareFn(const Valu *x, unsigned tests);
enum { TESTS_CLASS = 16 };

typedef struct {
    ValuFn *fn[OP_TOTAL];                       // NULL: not an instruction here
    CompareFn *compare[VALU_TYPES];
    CompareFn *classify[VALU_TYPES];
    // d = a * b + c of floats, rounded to f32; of fma_mix.
    ValuFn *mix;
} ValuTable;

const ValuTable *valu_best(void);

// What the instruction reads and writes; all VALU_N when it has no lane loop.
typedef struct {
    uint8_t d, source[3];                       // ValuType
    bool old;                                   // reads its destination
    bool carry;                                 // writes a second destination
} ValuTypes;

const ValuTypes *valu_types(IsaOp op);
#endif
