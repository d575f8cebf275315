// lanes.h - arithmetic on arrays of lanes, the inner loops of everything.
//
// One lane operation is one loop over n elements, unit stride, no aliasing
// (dst may equal a source exactly). lanes.c is compiled once per instruction
// set (generic, AVX2+FMA, AVX-512); all give the same bits, because every step
// is a single IEEE operation or a fixed polynomial of such (with explicit fma).
//
// Lane types. Narrow dtypes are computed in a wider lane and brought back by a
// ROUND row after every step: f16, bf16 and fp8 live in f32 lanes (exact: 24
// bits hold two 11-bit products' rounding), bool and 8/16-bit integers in i32.
#ifndef NUM_LANES_H
#define NUM_LANES_H

#include "num/num.h"

typedef enum {
    LANE_F32, LANE_F64, LANE_I32, LANE_U32, LANE_I64, LANE_U64,
    LANE_COUNT
} LaneType;

// lanes.def: one row per operation: id, arity, which lane types have it.
typedef enum {
#define LANE(id, ...) LANE_OP_##id,
#include "num/lanes.def"
    LANE_OP_COUNT
} LaneOp;

typedef struct {
    const char *name;                           // "ADD"
    int arity;
    const char *kinds;                          // of "fiu"
    bool truth;                                 // the result is an i32 0 or 1
    const char *doc;
} LaneOpInfo;

const LaneOpInfo *lane_op_info(LaneOp op);
bool lane_op_has(LaneOp op, LaneType t);

// c is NULL below arity 3, b below 2. Comparison results and conditions are
// i32 lanes holding 0 or 1, whatever the lane type of the operands.
typedef void LaneFn(void *dst, const void *a, const void *b, const void *c,
                    int64_t n);

typedef enum { ISA_GENERIC, ISA_AVX2, ISA_AVX512, ISA_COUNT } Isa;

typedef struct {
    Isa isa;
    // NULL where lanes.def says the type does not have the operation.
    LaneFn *op[LANE_OP_COUNT][LANE_COUNT];
    // Between lane types: C-like, float to integer as num_convert does.
    LaneFn *convert[LANE_COUNT][LANE_COUNT];
    // To f32 rounding to odd (exact, or the neighbour with an odd last bit):
    // then ROUND to f16, bf16 or fp8 gives what one rounding would have given.
    LaneFn *convert_odd[LANE_COUNT];
    // i32 lanes cut off at the limits of int8..uint16; NULL for others.
    LaneFn *clamp[DT_COUNT];
    // Round a lane to what dtype t can hold (f32 lanes: f16, bf16, fp8 kinds;
    // i32 lanes: wrap to 8/16 bits, bool). NULL where it is the identity.
    LaneFn *round[DT_COUNT];
    // Memory (contiguous, dtype t) to its lane type and back. Storing to fp8
    // saturates; a lane is expected to be rounded already or is rounded here.
    LaneFn *load[DT_COUNT];
    LaneFn *store[DT_COUNT];
    // fp8 without saturation: overflow gives infinity, NaN where there is none.
    // NULL for other types (they never saturate).
    LaneFn *round_nosat[DT_COUNT];
    LaneFn *store_nosat[DT_COUNT];
    // The same for f64 lanes: any dtype to double and from double.
    LaneFn *load_f64[DT_COUNT];
    LaneFn *store_f64[DT_COUNT];

    // C[m][n] = fma chain over ascending k, starting from C: one rounding per
    // step, no splitting of k. Row-major A (m x k, row pitch lda elements), B
    // (k x n, ldb), C (m x n, ldc).
    void (*gemm_f32)(int m, int n, int k, const float *a, int64_t lda,
                     const float *b, int64_t ldb, float *c, int64_t ldc);
    void (*gemm_f64)(int m, int n, int k, const double *a, int64_t lda,
                     const double *b, int64_t ldb, double *c, int64_t ldc);
    // Makes every NaN of C the positive quiet one, as gemm_f32 leaves them.
    void (*canon_f32)(int m, int n, float *c, int64_t ldc);
    // int32 accumulators wrap.
    void (*gemm_i32)(int m, int n, int k, const int32_t *a, int64_t lda,
                     const int32_t *b, int64_t ldb, int32_t *c, int64_t ldc);
    // dst[c][r] = src[r][c] for 1- to 8-byte elements; pitches in elements.
    void (*transpose8)(void *dst, int64_t ldd, const void *src, int64_t lds,
                       int rows, int cols);
    void (*transpose16)(void *dst, int64_t ldd, const void *src, int64_t lds,
                        int rows, int cols);
    void (*transpose32)(void *dst, int64_t ldd, const void *src, int64_t lds,
                        int rows, int cols);
    void (*transpose64)(void *dst, int64_t ldd, const void *src, int64_t lds,
                        int rows, int cols);

    // Reductions of `n` contiguous lanes to one, accumulated into *acc, in the
    // fixed order of docs/arithmetic.md ("Order of sums"): 16
    // partial results p[j] take elements j, j+16, ... ascending; then p[j] op
    // p[j+8], +4, +2, +1; then acc op result. After every step the lane is
    // rounded to `round` (DT_NONE: not). Any two-operand op.
    void (*reduce)(LaneOp op, LaneType t, DType round, void *acc,
                   const void *a, int64_t n);

    // Philox4x32-10 of the counters (first + i, high, 0), i in [0, n), under
    // `key`: words 0 and 1 of each result.
    void (*philox)(uint32_t *out0, uint32_t *out1, uint64_t first, int64_t n,
                   uint32_t high, const uint32_t key[2]);
} Lanes;

LaneType lane_type_of(DType t);                 // f16 -> LANE_F32, i8 -> I32
size_t lane_bytes(LaneType t);                  // 4 or 8

const Lanes *lanes_for(Isa isa);                // NULL: this CPU cannot
// The best for this CPU, or what TILESIM_ISA=generic|avx2|avx512 asks for.
const Lanes *lanes_best(void);
const char *isa_name(Isa isa);
#endif
