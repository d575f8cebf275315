// num.h - where bits meet numbers: dtypes, exact conversions, lane arithmetic.
#ifndef NUM_NUM_H
#define NUM_NUM_H

#include "support/support.h"

typedef enum {
    KIND_BOOL, KIND_INT, KIND_UINT, KIND_FLOAT,
} DTypeKind;

// dtype.def: one row per dtype: bits, kind, exponent and mantissa widths,
// bias, special values, names (first is the printed one, then aliases).
typedef enum {
#define DTYPE(id, ...) DT_##id,
#include "num/dtype.def"
    DT_COUNT,
    DT_NONE = DT_COUNT
} DType;

typedef struct {
    const char *name;                           // "float16"
    const char *brief;                          // "f16"
    DTypeKind kind;
    int bits;                                   // of an element on a device
    int exponent_bits, mantissa_bits, bias;     // floats
    bool has_infinity, fnuz;
    double max_finite, min_normal;
    bool built;                                 // false: known, not supported
} DTypeInfo;

const DTypeInfo *dtype_info(DType t);
bool dtype_find(Text name, DType *out);         // names and aliases
bool dtype_is_float(DType t);
bool dtype_is_int(DType t);                     // signed or unsigned, not bool
bool dtype_is_fp8(DType t);
// In this program's memory, where types of 4 bits take a byte each.
size_t dtype_bytes(DType t, int64_t count);

// convert.c - exact conversions. Floats round to nearest even; to fp8 they
// saturate at the largest finite value (infinity too, NaN stays NaN) as T.cast
// does; float to integer truncates (NaN gives 0, out of range clamps to the
// type's limits); integer to narrower integer wraps; bool is 0/1, and anything
// but zero becomes 1. Rounding is direct from the source value, never through
// an intermediate. float4_e2m1fn saturates and has no NaN: it gives 6. tfloat32
// rounds ties away from zero, as cvt.rna.tf32 does, and what is read of it are
// the upper 19 bits. A dtype that is not built is a BUG here.
double num_get_f64(DType t, const void *at);    // integers beyond 2^53 round
void num_put_f64(DType t, void *at, double v);
int64_t num_get_i64(DType t, const void *at);   // floats truncate, uint64 wraps
void num_put_i64(DType t, void *at, int64_t v);
double num_round_f64(DType t, double v);        // nearest value of type t
// Types of 4 bits, one a byte or two (the first in the lower half); n is the
// number of elements. Packing leaves an odd last upper half as it is.
void num_unpack4(DType t, void *dst, const void *packed, int64_t n);
void num_pack4(void *packed, const void *src, int64_t n);

// Contiguous arrays of any dtype, any pair. dst and src do not overlap.
void num_convert(DType dst_type, void *dst, DType src_type, const void *src,
                 int64_t n);
// The same, but overflow to fp8 gives infinity, or NaN in types without one.
void num_convert_nosat(DType dst_type, void *dst, DType src_type,
                       const void *src, int64_t n);
// torch's `.to()`: saturates to e4m3fn alone.
void num_convert_torch(DType dst_type, void *dst, DType src_type,
                       const void *src, int64_t n);

// random.c - the state of a generator of random bits that starts from a seed,
// in its sequence (of 2^67 or 2^76 steps), after `offset` steps: five words and
// the counter of XORWOW, three words of each half of MRG32k3a.
typedef enum { NUM_XORWOW, NUM_MRG32K3A, NUM_RANDOM_COUNT } NumRandom;
enum { NUM_RANDOM_WORDS = 6 };
void num_random_start(NumRandom generator, uint64_t seed, uint64_t sequence,
                      uint64_t offset, uint32_t state[NUM_RANDOM_WORDS]);

// array_text.c - an array as NumPy prints it, with its default options. What
// NumPy does not have (bfloat16, 8-bit floats, tfloat32) is printed as float32.
enum { NUM_ARRAY_RANK = 16 };
typedef union {
    double f;                   // floats
    int64_t i;                  // integers and bool; uint64 as its bits
} NumScalar;
typedef struct {
    DType dtype;
    int rank;                   // 1 to NUM_ARRAY_RANK
    const int64_t *shape;
    NumScalar (*get)(void *ctx, const int64_t *index);
    void *ctx;
} NumArray;
void num_array_text(TextBuf *out, const NumArray *a);
#endif
