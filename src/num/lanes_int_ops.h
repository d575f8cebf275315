// lanes_int_ops.h - integer steps of one lane: division, power, bits.
//
// 32-bit division goes through double, which vector units have: the quotient
// of two 32-bit integers is at least 2^-31 away from the next integer, or is
// one, and a double's error is below that. Divisors 0 and -1 are set apart.
#ifndef NUM_LANES_INT_OPS_H
#define NUM_LANES_INT_OPS_H

#include "num/lanes_int.h"

INLINE int32_t truncdiv_i32(int32_t x, int32_t y)
{
    int32_t by = y == 0 || y == -1 ? 1 : y;
    int32_t q = (int32_t)((double)x / (double)by);
    int32_t negated = (int32_t)(0u - (uint32_t)x);
    return y == 0 ? 0 : y == -1 ? negated : q;
}

INLINE int32_t truncmod_i32(int32_t x, int32_t y)
{
    uint32_t q = (uint32_t)truncdiv_i32(x, y);
    return y == 0 ? 0 : (int32_t)((uint32_t)x - q * (uint32_t)y);
}

INLINE int32_t floormod_i32(int32_t x, int32_t y)
{
    int32_t r = truncmod_i32(x, y);
    return r != 0 && (r ^ y) < 0 ? r + y : r;
}

INLINE int32_t floordiv_i32(int32_t x, int32_t y)
{
    int32_t q = truncdiv_i32(x, y);
    int32_t r = (int32_t)((uint32_t)x - (uint32_t)q * (uint32_t)y);
    return y != 0 && r != 0 && (r ^ y) < 0 ? q - 1 : q;
}

INLINE uint32_t truncdiv_u32(uint32_t x, uint32_t y)
{
    uint32_t by = y == 0 ? 1 : y;
    uint32_t q = (uint32_t)((double)x / (double)by);
    return y == 0 ? 0 : q;
}

INLINE uint32_t truncmod_u32(uint32_t x, uint32_t y)
{
    uint32_t r = x - truncdiv_u32(x, y) * y;
    return y == 0 ? 0 : r;
}

INLINE int64_t truncdiv_i64(int64_t x, int64_t y)
{
    if (y == 0)
        return 0;
    return y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}

INLINE int64_t truncmod_i64(int64_t x, int64_t y)
{
    return y == 0 || y == -1 ? 0 : x % y;
}

INLINE int64_t floormod_i64(int64_t x, int64_t y)
{
    int64_t r = truncmod_i64(x, y);
    return r != 0 && (r ^ y) < 0 ? r + y : r;
}

INLINE int64_t floordiv_i64(int64_t x, int64_t y)
{
    int64_t q = truncdiv_i64(x, y), r = truncmod_i64(x, y);
    return r != 0 && (r ^ y) < 0 ? q - 1 : q;
}

INLINE uint64_t truncdiv_u64(uint64_t x, uint64_t y)
{
    return y == 0 ? 0 : x / y;
}

INLINE uint64_t truncmod_u64(uint64_t x, uint64_t y)
{
    return y == 0 ? 0 : x % y;
}

INLINE uint64_t pow_u64(uint64_t x, uint64_t y)
{
    uint64_t p = 1;
    for (; y; y >>= 1, x *= x)
        p *= y & 1 ? x : 1;
    return p;
}

INLINE int64_t pow_i64(int64_t x, int64_t y)
{
    if (y >= 0)
        return (int64_t)pow_u64((uint64_t)x, (uint64_t)y);
    return x == 1 ? 1 : x == -1 ? 1 - 2 * (y & 1) : 0;
}

INLINE uint32_t popcount_u32(uint32_t x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    x += x >> 8;
    return (x + (x >> 16)) & 63;
}

INLINE uint64_t popcount_u64(uint64_t x)
{
    return popcount_u32((uint32_t)x) + popcount_u32((uint32_t)(x >> 32));
}

INLINE uint32_t clz_u32(uint32_t x)
{
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    x |= x >> 16;
    return 32 - popcount_u32(x);
}

INLINE uint64_t clz_u64(uint64_t x)
{
    uint32_t high = (uint32_t)(x >> 32);
    return high ? clz_u32(high) : 32 + clz_u32((uint32_t)x);
}
#endif
