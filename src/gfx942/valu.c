// valu.c - the lane loops, one for each row of valu.def and each comparison.
//
// Compiled with -DLANES_ISA=generic, avx2 or avx512 and the matching -march.
// A result may lie where a source lies: a lane reads all it needs before it
// writes, which is what `ivdep` tells the compiler.
#include "gfx942/valu.h"

#include "gfx942/valu_math.h"

#define NAME_(isa) valu_##isa
#define NAME(isa) NAME_(isa)

#define LOOP                                                                  \
    _Pragma("GCC ivdep") for (uint32_t lane = 0; lane < WAVE_LANES; lane++)

typedef int32_t N_;
typedef uint32_t U32_;
typedef int32_t I32_;
typedef float F32_;
typedef uint64_t U64_;
typedef int64_t I64_;
typedef double F64_;
typedef uint32_t U16_;
typedef int32_t I16_;
typedef float F16_;
typedef double F16D_;

#define GET_N(p) 0
#define GET_U32(p) (p)[lane]
#define GET_I32(p) (int32_t)(p)[lane]
#define GET_F32(p) f32_bits((p)[lane])
#define GET_U64(p) ((p)[lane] | (uint64_t)(p)[lane + WAVE_LANES] << 32)
#define GET_I64(p) (int64_t)GET_U64(p)
#define GET_F64(p) f64_bits(GET_U64(p))
#define GET_U16(p) ((p)[lane] & 0xffff)
#define GET_I16(p) ((int32_t)((p)[lane] << 16) >> 16)
#define GET_F16(p) half_value((p)[lane])
#define GET_F16D(p) (double)half_value((p)[lane])

#define PUT_U32(p, v) (p)[lane] = (v)
#define PUT_I32(p, v) (p)[lane] = (uint32_t)(v)
#define PUT_F32(p, v) (p)[lane] = bits_f32(v)
#define PUT_U64(p, v)                                                         \
    do {                                                                      \
        uint64_t wide = (v);                                                  \
        (p)[lane] = (uint32_t)wide;                                           \
        (p)[lane + WAVE_LANES] = (uint32_t)(wide >> 32);                      \
    } while (0)
#define PUT_I64(p, v) PUT_U64(p, (uint64_t)(v))
#define PUT_F64(p, v) PUT_U64(p, bits_f64(v))
#define PUT_U16(p, v) (p)[lane] = (v) & 0xffff
#define PUT_I16(p, v) (p)[lane] = (uint32_t)(v) & 0xffff
#define PUT_F16(p, v) (p)[lane] = half_code(v)
#define PUT_F16D(p, v) (p)[lane] = half_code_f64(v)

#define OPERANDS(D, A, B, C)                                                  \
    A##_ a = GET_##A(x->a);                                                   \
    B##_ b = GET_##B(x->b);                                                   \
    C##_ c = GET_##C(x->c);                                                   \
    D##_ old = GET_##D(x->d);                                                 \
    uint32_t carry = x->carry[lane];                                          \
    (void)a, (void)b, (void)c, (void)old, (void)carry

#define VALU(id, D, A, B, C, value)                                           \
    static void id(const Valu *x)                                             \
    {                                                                         \
        LOOP {                                                                \
            OPERANDS(D, A, B, C);                                             \
            PUT_##D(x->d, value);                                             \
        }                                                                     \
    }
#define CARRY(id, D, A, B, C, value, bit)                                     \
    static void id(const Valu *x)                                             \
    {                                                                         \
        LOOP {                                                                \
            OPERANDS(D, A, B, C);                                             \
            uint32_t out = (uint32_t)(bit);                                   \
            PUT_##D(x->d, value);                                             \
            x->carry_out[lane] = out;                                         \
        }                                                                     \
    }

#define HALF_U16(v) ((v) & 0xffff)
#define HALF_I16(v) ((int32_t)((v) << 16) >> 16)
#define HALF_F16(v) half_value(v)
#define HALF_F16D(v) half_value(v)
#define CODE_U16(v) ((v) & 0xffff)
#define CODE_I16(v) ((uint32_t)(v) & 0xffff)
#define CODE_F16(v) half_code(v)
#define CODE_F16D(v) half_code_f64(v)
typedef uint32_t HALF_U16_;
typedef int32_t HALF_I16_;
typedef float HALF_F16_;
typedef float HALF_F16D_;

#define PACKED(id, T, value)                                                  \
    INLINE uint32_t id##_half(uint32_t x, uint32_t y, uint32_t z)             \
    {                                                                         \
        HALF_##T##_ a = HALF_##T(x), b = HALF_##T(y), c = HALF_##T(z);        \
        (void)c;                                                              \
        return CODE_##T(value);                                               \
    }                                                                         \
    static void id(const Valu *x)                                             \
    {                                                                         \
        LOOP {                                                                \
            uint32_t a = x->a[lane], b = x->b[lane], c = x->c[lane];          \
            x->d[lane] = id##_half(a, b, c)                                   \
                         | id##_half(a >> 16, b >> 16, c >> 16) << 16;        \
        }                                                                     \
    }
#define PACKED64(id, value)                                                   \
    static void id(const Valu *x)                                             \
    {                                                                         \
        _Pragma("GCC ivdep")                                                  \
        for (uint32_t lane = 0; lane < 2 * WAVE_LANES; lane++) {              \
            float a = GET_F32(x->a), b = GET_F32(x->b), c = GET_F32(x->c);    \
            (void)c;                                                          \
            PUT_F32(x->d, value);                                             \
        }                                                                     \
    }
#include "gfx942/valu.def"

static void mix(const Valu *x)
{
    LOOP {
        PUT_F32(x->d, fma32(GET_F32(x->a), GET_F32(x->b), GET_F32(x->c)));
    }
}

// ---- comparisons ------------------------------------------------------------

#define COMPARE(T)                                                            \
    static void compare_##T(const Valu *x, unsigned tests)                    \
    {                                                                         \
        uint32_t less = tests & 1, equal = tests >> 1 & 1;                    \
        uint32_t more = tests >> 2 & 1, odd = tests >> 3 & 1;                 \
        LOOP {                                                                \
            T##_ a = GET_##T(x->a), b = GET_##T(x->b);                        \
            uint32_t l = a < b, e = a == b, g = a > b;                        \
            x->carry_out[lane] = (l & less) | (e & equal) | (g & more)        \
                                 | (((l | e | g) ^ 1) & odd);                 \
        }                                                                     \
    }
COMPARE(U32) COMPARE(I32) COMPARE(F32)
COMPARE(U64) COMPARE(I64) COMPARE(F64)
COMPARE(U16) COMPARE(I16) COMPARE(F16)

// Bits: signalling NaN, quiet NaN, then -inf, -normal, -denormal, -0, +0,
// +denormal, +normal, +inf.
#define CLASSIFY(T, GET, exponent, mantissa, width)                           \
    static void classify_##T(const Valu *x, unsigned tests)                   \
    {                                                                         \
        (void)tests;                                                          \
        LOOP {                                                                \
            uint64_t u = GET(x->a);                                           \
            uint32_t e = u >> (mantissa) & ((1u << (exponent)) - 1);          \
            uint64_t m = u & ((1ull << (mantissa)) - 1);                      \
            uint32_t top = (1u << (exponent)) - 1;                            \
            uint32_t minus = u >> ((width) - 1) & 1;                          \
            uint32_t quiet = u >> ((mantissa) - 1) & 1;                       \
            uint32_t size = e == top ? 3 : e ? 2 : m ? 1 : 0;                 \
            uint32_t bit = minus ? 5 - size : 6 + size;                       \
            bit = e == top && m ? quiet : bit;                                \
            x->carry_out[lane] = x->b[lane] >> bit & 1;                       \
        }                                                                     \
    }
CLASSIFY(F32, GET_U32, 8, 23, 32)
CLASSIFY(F64, GET_U64, 11, 52, 64)
CLASSIFY(F16, GET_U16, 5, 10, 16)

extern const ValuTable NAME(LANES_ISA);
const ValuTable NAME(LANES_ISA) = {
    .fn = {
#define VALU(id, ...) [OP_##id] = id,
#define CARRY(id, ...) [OP_##id] = id,
#define PACKED(id, ...) [OP_##id] = id,
#define PACKED64(id, ...) [OP_##id] = id,
#include "gfx942/valu.def"
    },
    .compare = {
        [VALU_U32] = compare_U32, [VALU_I32] = compare_I32,
        [VALU_F32] = compare_F32, [VALU_U64] = compare_U64,
        [VALU_I64] = compare_I64, [VALU_F64] = compare_F64,
        [VALU_U16] = compare_U16, [VALU_I16] = compare_I16,
        [VALU_F16] = compare_F16,
    },
    .classify = {
        [VALU_F32] = classify_F32, [VALU_F64] = classify_F64,
        [VALU_F16] = classify_F16,
    },
    .mix = mix,
};
