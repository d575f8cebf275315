// lanes_int.h - what the lane loops of one instruction set share.
//
// lanes.c is one translation unit per instruction set; the headers it includes
// hold its parts. A loop body is an expression over x, y, z (and ux, uy, uz,
// the same as unsigned integers), stamped by MAP1..MAP3. A body handles whole
// groups of 16 elements, so the compiler needs no scalar epilogue; what is
// left over runs once more on padded copies.
#ifndef NUM_LANES_INT_H
#define NUM_LANES_INT_H

#include <stdalign.h>
#include <string.h>

#include "num/lanes.h"
#include "num/narrow.h"

#define LANES_CAT_(a, b) a##_##b
#define LANES_CAT(a, b) LANES_CAT_(a, b)

// Memory is seen through types that may alias: a tile is whatever its dtype is.
typedef float __attribute__((may_alias)) F32;
typedef double __attribute__((may_alias)) F64;
typedef int8_t __attribute__((may_alias)) I8;
typedef int16_t __attribute__((may_alias)) I16;
typedef int32_t __attribute__((may_alias)) I32;
typedef int64_t __attribute__((may_alias)) I64;
typedef uint8_t __attribute__((may_alias)) U8;
typedef uint16_t __attribute__((may_alias)) U16;
typedef uint32_t __attribute__((may_alias)) U32;
typedef uint64_t __attribute__((may_alias)) U64;

enum { GROUP = 16 };                            // elements a body handles

typedef struct {
    uint8_t dst, a, b, c;                       // element sizes, 0: absent
} LaneSizes;

// The elements after the last whole group, through padded copies.
static __attribute__((noinline)) void lane_tail(
    LaneFn *body, LaneSizes size, void *dst, const void *const src[3],
    int64_t done, int count)
{
    alignas(64) char in[3][GROUP * 8], out[GROUP * 8];
    const uint8_t sizes[3] = {size.a, size.b, size.c};
    for (int i = 0; i < 3 && sizes[i]; i++) {
        memset(in[i], 0, GROUP * sizes[i]);
        memcpy(in[i], (const char *)src[i] + done * sizes[i],
               (size_t)count * sizes[i]);
    }
    body(out, in[0], in[1], in[2], GROUP);
    memcpy((char *)dst + done * size.dst, out, (size_t)count * size.dst);
}

INLINE void lane_run(LaneFn *body, LaneSizes size, void *dst,
                            const void *const src[3], int64_t n)
{
    int64_t whole = n & -GROUP;
    if (whole > 0)
        body(dst, src[0], src[1], src[2], whole);
    if (n > whole)
        lane_tail(body, size, dst, src, whole, (int)(n - whole));
}

#define MAP_WRAP(name, ...)                                                   \
    static void name(void *d, const void *a, const void *b, const void *c,    \
                     int64_t n)                                               \
    {                                                                         \
        const void *const src[3] = {a, b, c};                                 \
        lane_run(name##_body, (LaneSizes){__VA_ARGS__}, d, src, n);           \
    }

// dst equals a source or is apart from all: no store meets a later load.
// Clang cannot be told without a complaint where it finds no vector code.
#ifdef __clang__
#define NO_ALIAS
#else
#define NO_ALIAS _Pragma("GCC ivdep")
#endif

#define MAP_BODY(name, R, read, expr)                                         \
    static __attribute__((noinline)) void name##_body(                        \
        void *d, const void *a, const void *b, const void *c, int64_t n)      \
    {                                                                         \
        (void)a, (void)b, (void)c, n &= -GROUP;                               \
        NO_ALIAS for (int64_t i = 0; i < n; i++)                              \
        {                                                                     \
            read;                                                             \
            ((R *)d)[i] = (R)(expr);                                          \
        }                                                                     \
    }

#define READ1(T, U)                                                           \
    T x = ((const T *)a)[i];                                                  \
    U ux = (U)x;                                                              \
    (void)ux
#define READ2(T, U)                                                           \
    READ1(T, U);                                                              \
    T y = ((const T *)b)[i];                                                  \
    U uy = (U)y;                                                              \
    (void)uy
#define READ3(T, U)                                                           \
    READ2(T, U);                                                              \
    T z = ((const T *)c)[i]
#define READ_SELECT(T, U)                                                     \
    I32 x = ((const I32 *)a)[i];                                              \
    T y = ((const T *)b)[i], z = ((const T *)c)[i]

// R: type stored, T: type read, U: its unsigned companion (T for floats).
#define MAP1(name, R, T, U, expr)                                             \
    MAP_BODY(name, R, READ1(T, U), expr)                                      \
    MAP_WRAP(name, sizeof(R), sizeof(T), 0, 0)
#define MAP2(name, R, T, U, expr)                                             \
    MAP_BODY(name, R, READ2(T, U), expr)                                      \
    MAP_WRAP(name, sizeof(R), sizeof(T), sizeof(T), 0)
#define MAP3(name, R, T, U, expr)                                             \
    MAP_BODY(name, R, READ3(T, U), expr)                                      \
    MAP_WRAP(name, sizeof(R), sizeof(T), sizeof(T), sizeof(T))
#define MAP_SELECT(name, T)                                                   \
    MAP_BODY(name, T, READ_SELECT(T, T), x ? y : z)                           \
    MAP_WRAP(name, sizeof(T), 4, sizeof(T), sizeof(T))

// One rounding of a * b + c. Without the instruction, float goes through
// double: the product is exact there, and the sum is rounded to odd (toward
// zero, then the last bit set if anything was lost), which a second rounding
// to 24 bits cannot see.
#ifdef __FP_FAST_FMAF
INLINE float fma32(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}
#else
INLINE float fma32(float a, float b, float c)
{
    double p = (double)a * b, s = p + c;
    double t = s - p, error = (p - (s - t)) + (c - t);
    uint64_t u = bits_f64(s), inexact = error < 0 || error > 0;
    uint64_t away = (u ^ bits_f64(error)) >> 63 & inexact;
    return (float)f64_bits((u - away) | inexact);
}
#endif

INLINE double fma64(double a, double b, double c)
{
    return __builtin_fma(a, b, c);
}
#endif
