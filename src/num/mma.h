// mma.h - what one matrix instruction computes, to the bit.
//
// Every element of D depends on its row of A, its column of B and its C alone;
// the shape of an instruction never matters beyond its k. So an instruction is
// a chain of steps over ascending k, and a step is one of six rules.
// docs/numerics.md gives the arithmetic and says what each is known from.
#ifndef NUM_MMA_H
#define NUM_MMA_H

#include "num/num.h"

typedef enum {
#define MMA_TYPE(id, ...) MMA_##id,
#include "num/mma_type.def"
    MMA_TYPE_COUNT
} MmaType;

typedef enum { MMA_NONE, MMA_IEEE, MMA_FN, MMA_FNUZ } MmaSpecials;

typedef struct {
    const char *name;                           // "e4m3fnuz"
    int code;                                   // number in capture files
    int bits, exponent_bits, mantissa_bits, bias;
    MmaSpecials specials;
} MmaTypeInfo;

const MmaTypeInfo *mma_type_info(MmaType t);
bool mma_type_find(Text name, MmaType *out);
bool mma_type_of_code(int code, MmaType *out);
// The format that holds a dtype; f32 is F32, TF32 is the caller's choice.
bool mma_type_of(DType dtype, MmaType *out);

// The units that matrix instructions run on.
typedef enum { MMA_UNIT_SYNC, MMA_UNIT_WGMMA, MMA_UNIT_MFMA } MmaUnit;

typedef enum {
    MMA_FUSED,      // products and c truncated to one exponent, one sum
    MMA_HALVES,     // fp8 on the f16 unit: two FUSED sums, then + c in IEEE
    MMA_LATE,       // products truncated together, c added late, rounded down
    MMA_LATE2,      // the same with even and odd k truncated apart
    MMA_CHAIN,      // IEEE fused multiply-adds, one product a step
    MMA_EXACT,      // integers
} MmaRule;

// One arithmetic. Made by mma_spec(); the fields after `keep` may be changed.
typedef struct {
    MmaRule rule;
    MmaUnit unit;
    MmaType a, b, acc;
    int step;               // products fused, the unit of k
    int fraction;           // bits kept below the largest exponent
    int floor;              // exponent that a zero c counts as
    int keep;               // significant bits of a result
    bool saturate;          // EXACT: clamp each step's exact sum
    bool negate_a;          // A's sign is flipped by the instruction
    // Open points of the MI300X (docs/numerics.md "Open points").
    bool skip_renormalise;  // leave out the second floor at 31 bits
    bool negative_zero;     // a zero sum of only negative zeros stays -0
    uint64_t nan;           // bits of a NaN result
} MmaSpec;

// The arithmetic of an instruction with `k` products per output. False when
// that unit does not multiply these formats.
bool mma_spec(MmaUnit unit, MmaType a, MmaType b, MmaType acc, int k,
              MmaSpec *out);
// All there are, for tables and tests.
int mma_spec_count(void);
MmaSpec mma_spec_at(int i);
const char *mma_unit_name(MmaUnit u);           // "sync", "wgmma", "mfma"

// SCALAR is the reference, VECTOR the fastest that this CPU has; they give the
// same bits. AVX2 and AVX512 force one (mma_has_path() says if it exists).
typedef enum {
    MMA_PATH_SCALAR, MMA_PATH_AVX2, MMA_PATH_AVX512, MMA_PATH_VECTOR
} MmaPath;
bool mma_has_path(MmaPath path);

// Operands of D = A B + C: A is m x k, B is stored n x k, C and D are m x n,
// all row-major with pitches in elements. `c` NULL means +0; d may be c.
typedef struct {
    int m, n, k;                                // k a multiple of step
    const void *a, *b, *c;
    void *d;
    int64_t lda, ldb, ldc, ldd;
} MmaTile;

// Computes one tile of any size as a chain of steps over ascending k.
// Allocates nothing; may run in a parallel region.
void mma_tile(const MmaSpec *s, MmaPath path, const MmaTile *t);
#endif
