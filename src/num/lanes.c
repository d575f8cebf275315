// lanes.c - the lane loops and their table, once per instruction set.
//
// Compiled with -DLANES_ISA=generic, avx2 or avx512 and the matching -march.
#include "num/lanes_int.h"

#include "num/lanes_float.h"
#include "num/lanes_gemm.h"
#include "num/lanes_int_ops.h"
#include "num/lanes_math32.h"
#include "num/lanes_mem.h"
#include "num/lanes_philox.h"
#include "num/lanes_reduce.h"
#include "num/lanes_transpose.h"

#define BITS(x) (8 * (unsigned)sizeof(x))

#define FLOAT1(id, expr32, expr64)                                            \
    MAP1(id##_F32, F32, F32, F32, expr32)                                     \
    MAP1(id##_F64, F64, F64, F64, expr64)
#define FLOAT2(id, expr32, expr64)                                            \
    MAP2(id##_F32, F32, F32, F32, expr32)                                     \
    MAP2(id##_F64, F64, F64, F64, expr64)
#define FLOAT_FN1(id, fn) FLOAT1(id, fn##32(x), fn##64(x))
#define FLOAT_FN2(id, fn) FLOAT2(id, fn##32(x, y), fn##64(x, y))
#define FLOAT_IS(id, fn)                                                      \
    MAP1(id##_F32, I32, F32, F32, fn##32(x))                                  \
    MAP1(id##_F64, I32, F64, F64, fn##64(x))
#define SIGNED1(id, expr)                                                     \
    MAP1(id##_I32, I32, I32, U32, expr)                                       \
    MAP1(id##_I64, I64, I64, U64, expr)
#define SIGNED2(id, expr)                                                     \
    MAP2(id##_I32, I32, I32, U32, expr)                                       \
    MAP2(id##_I64, I64, I64, U64, expr)
#define UNSIGNED1(id, expr)                                                   \
    MAP1(id##_U32, U32, U32, U32, expr)                                       \
    MAP1(id##_U64, U64, U64, U64, expr)
#define UNSIGNED2(id, expr)                                                   \
    MAP2(id##_U32, U32, U32, U32, expr)                                       \
    MAP2(id##_U64, U64, U64, U64, expr)
#define INT1(id, expr) SIGNED1(id, expr) UNSIGNED1(id, expr)
#define INT2(id, expr) SIGNED2(id, expr) UNSIGNED2(id, expr)
#define SIGNED_FN2(id, fn)                                                    \
    MAP2(id##_I32, I32, I32, U32, fn##_i32(x, y))                             \
    MAP2(id##_I64, I64, I64, U64, fn##_i64(x, y))
#define UNSIGNED_FN2(id, fn)                                                  \
    MAP2(id##_U32, U32, U32, U32, fn##_u32(x, y))                             \
    MAP2(id##_U64, U64, U64, U64, fn##_u64(x, y))
#define INT_FN2(id, fn) SIGNED_FN2(id, fn) UNSIGNED_FN2(id, fn)
#define COMPARE(id, expr)                                                     \
    MAP2(id##_F32, I32, F32, F32, expr)                                       \
    MAP2(id##_F64, I32, F64, F64, expr)                                       \
    MAP2(id##_I32, I32, I32, U32, expr)                                       \
    MAP2(id##_U32, I32, U32, U32, expr)                                       \
    MAP2(id##_I64, I32, I64, U64, expr)                                       \
    MAP2(id##_U64, I32, U64, U64, expr)

// clang-format off: one row a line.
FLOAT2(ADD, canon32(x + y), canon64(x + y))
FLOAT2(SUB, canon32(x - y), canon64(x - y))
FLOAT2(MUL, canon32(x * y), canon64(x * y))
FLOAT2(DIV, canon32(x / y), canon64(x / y))
MAP3(FMA_F32, F32, F32, F32, canon32(fma32(x, y, z)))
MAP3(FMA_F64, F64, F64, F64, canon64(fma64(x, y, z)))
FLOAT_FN2(FLOORDIV, floordiv)
FLOAT_FN2(FLOORMOD, floormod)
FLOAT_FN2(PYDIV, pydiv)
FLOAT_FN2(PYMOD, pymod)
FLOAT_FN2(TRUNCDIV, truncdiv)
FLOAT_FN2(TRUNCMOD, truncmod)
FLOAT_FN2(MAX, max)
FLOAT_FN2(MIN, min)
FLOAT_FN2(MAXNAN, maxnan)
FLOAT_FN2(MINNAN, minnan)
FLOAT_FN2(POW, pow)
FLOAT_FN2(ATAN2, atan2)

INT2(ADD, ux + uy)
INT2(SUB, ux - uy)
INT2(MUL, ux * uy)
INT_FN2(TRUNCDIV, truncdiv)
INT_FN2(TRUNCMOD, truncmod)
SIGNED_FN2(FLOORDIV, floordiv)
UNSIGNED_FN2(FLOORDIV, truncdiv)
SIGNED_FN2(FLOORMOD, floormod)
UNSIGNED_FN2(FLOORMOD, truncmod)
INT2(MAX, x > y ? x : y)
INT2(MIN, x < y ? x : y)
SIGNED2(POW, pow_i64(x, y))
UNSIGNED2(POW, pow_u64(x, y))
INT2(AND, x & y)
INT2(OR, x | y)
INT2(XOR, x ^ y)
INT2(SHL, uy < BITS(x) ? ux << (uy & (BITS(x) - 1)) : 0)
SIGNED2(SHR, x >> (uy < BITS(x) ? uy : BITS(x) - 1))
UNSIGNED2(SHR, uy < BITS(x) ? ux >> (uy & (BITS(x) - 1)) : 0)

COMPARE(EQ, x == y)
COMPARE(NE, x != y)
COMPARE(LT, x < y)
COMPARE(LE, x <= y)
MAP_SELECT(SELECT_F32, F32)
MAP_SELECT(SELECT_F64, F64)
MAP_SELECT(SELECT_I32, I32)
MAP_SELECT(SELECT_U32, U32)
MAP_SELECT(SELECT_I64, I64)
MAP_SELECT(SELECT_U64, U64)

FLOAT_FN1(NEG, neg)
INT1(NEG, 0 - ux)
INT1(BITNOT, ~ux)
SIGNED1(NOT, x == 0)
FLOAT_FN1(ABS, abs)
SIGNED1(ABS, x < 0 ? 0 - ux : ux)
FLOAT_FN1(SIGN, sign)
SIGNED1(SIGN, (x > 0) - (x < 0))
FLOAT_FN1(EXP, exp)
FLOAT_FN1(EXP2, exp2_)
FLOAT_FN1(EXP10, exp10_)
FLOAT_FN1(EXPM1, expm1_)
FLOAT_FN1(LOG, log)
FLOAT_FN1(LOG2, log2_)
FLOAT_FN1(LOG10, log10_)
FLOAT_FN1(LOG1P, log1p_)
FLOAT_FN1(SQRT, sqrt)
FLOAT_FN1(RSQRT, rsqrt)
TRIG(SIN_F32, F32, sin_angle)
TRIG(SIN_F64, F64, sin_angle)
TRIG(COS_F32, F32, cos_angle)
TRIG(COS_F64, F64, cos_angle)
TRIG(TAN_F32, F32, tan_angle)
TRIG(TAN_F64, F64, tan_angle)
FLOAT_FN1(ASIN, asin)
FLOAT_FN1(ACOS, acos)
FLOAT_FN1(ATAN, atan)
FLOAT_FN1(SINH, sinh)
FLOAT_FN1(COSH, cosh)
FLOAT_FN1(TANH, tanh)
FLOAT_FN1(SIGMOID, sigmoid)
FLOAT_FN1(ERF, erf)
FLOAT_FN1(FLOOR, floor)
FLOAT_FN1(CEIL, ceil)
FLOAT_FN1(TRUNC, trunc)
FLOAT_FN1(RINT, rint)
FLOAT_FN1(ROUNDAWAY, roundaway)
FLOAT_IS(ISNAN, isnan)
FLOAT_IS(ISINF, isinf)
FLOAT_IS(ISFINITE, isfinite)
MAP1(POPCOUNT_I32, I32, I32, U32, popcount_u32(ux))
MAP1(POPCOUNT_U32, U32, U32, U32, popcount_u32(ux))
MAP1(POPCOUNT_I64, I64, I64, U64, popcount_u64(ux))
MAP1(POPCOUNT_U64, U64, U64, U64, popcount_u64(ux))
MAP1(CLZ_I32, I32, I32, U32, clz_u32(ux))
MAP1(CLZ_U32, U32, U32, U32, clz_u32(ux))
MAP1(CLZ_I64, I64, I64, U64, clz_u64(ux))
MAP1(CLZ_U64, U64, U64, U64, clz_u64(ux))

// clang-format on

#define LANES_NAME LANES_CAT(lanes, LANES_ISA)
#define ISA_generic ISA_GENERIC
#define ISA_avx2 ISA_AVX2
#define ISA_avx512 ISA_AVX512

// One table row per row of lanes.def: the kinds column names the entries.
#define ROW_f(id) [LANE_F32] = id##_F32, [LANE_F64] = id##_F64
#define ROW_i(id) [LANE_I32] = id##_I32, [LANE_I64] = id##_I64
#define ROW_u(id) [LANE_U32] = id##_U32, [LANE_U64] = id##_U64
#define ROW_fi(id) ROW_f(id), ROW_i(id)
#define ROW_iu(id) ROW_i(id), ROW_u(id)
#define ROW_fiu(id) ROW_f(id), ROW_i(id), ROW_u(id)

static void reduce(LaneOp op, LaneType t, DType round, void *acc,
                   const void *a, int64_t n);

extern const Lanes LANES_NAME;
const Lanes LANES_NAME = {
    .isa = LANES_CAT(ISA, LANES_ISA),
#define LANE(id, arity, kinds, result, doc)                                   \
    .op[LANE_OP_##id] = {ROW_##kinds(id)},
#include "num/lanes.def"
    // Integers of one width differ in name only, and a wider one is cut off:
    // five loops serve the 16 pairs.
    .convert =
        {
            [LANE_F32] = {copy_F32, convert_F32_F64, convert_F32_I32,
                          convert_F32_U32, convert_F32_I64, convert_F32_U64},
            [LANE_F64] = {convert_F64_F32, copy_F64, convert_F64_I32,
                          convert_F64_U32, convert_F64_I64, convert_F64_U64},
            [LANE_I32] = {convert_I32_F32, convert_I32_F64, copy_I32, copy_I32,
                          convert_I32_I64, convert_I32_I64},
            [LANE_U32] = {convert_U32_F32, convert_U32_F64, copy_I32, copy_I32,
                          convert_U32_I64, convert_U32_I64},
            [LANE_I64] = {convert_I64_F32, convert_I64_F64, convert_I64_I32,
                          convert_I64_I32, copy_I64, copy_I64},
            [LANE_U64] = {convert_U64_F32, convert_U64_F64, convert_I64_I32,
                          convert_I64_I32, copy_I64, copy_I64},
        },
    .convert_odd = {copy_F32, convert_odd_F64, convert_odd_I32,
                    convert_odd_U32, convert_odd_I64, convert_odd_U64},
    .clamp = {[DT_I8] = clamp_I8,
              [DT_I16] = clamp_I16,
              [DT_U8] = clamp_U8,
              [DT_U16] = clamp_U16,
              [DT_I4] = clamp_I4,
              [DT_U4] = clamp_U4},
    .round = {NARROW_TABLE(round), [DT_TF32] = store_TF32},
    .load = {NARROW_TABLE(load), COPY_TABLE, [DT_TF32] = load_TF32},
    .store = {NARROW_TABLE(store), COPY_TABLE, [DT_TF32] = store_TF32},
    .round_nosat = {FP8_TABLE(round_nosat)},
    .store_nosat = {FP8_TABLE(store_nosat)},
    .load_f64 = {NARROW_TABLE(load_f64), WIDE_TABLE(load_f64),
                 [DT_TF32] = load_f64_TF32},
    .store_f64 = {NARROW_TABLE(store_f64), WIDE_TABLE(store_f64),
                  [DT_TF32] = store_f64_TF32},
    .gemm_f32 = f32_gemm,
    .gemm_f64 = f64_gemm,
    .gemm_i32 = gemm_i32,
    .canon_f32 = canon_f32,
    .transpose8 = transpose8,
    .transpose16 = transpose16,
    .transpose32 = transpose32,
    .transpose64 = transpose64,
    .reduce = reduce,
    .philox = philox,
};

static void reduce(LaneOp op, LaneType t, DType round, void *acc,
                   const void *a, int64_t n)
{
    LaneFn *step = LANES_NAME.op[op][t];
    LaneFn *rounding = round < DT_COUNT ? LANES_NAME.round[round] : NULL;
    if (t == LANE_F32 && !rounding && reduce_whole_groups(op, acc, a, n))
        return;
    reduce_with(step, rounding, lane_bytes(t), acc, a, n);
}
