// prelude.c - functions that kernels call, as text: those that one needs.
//
// First types, then what is one instruction of the hardware (the dialect's),
// then functions in plain C++; within each, what others need comes first. A
// part is taken where one of its names occurs.
#include "gpu_backend/emit_int.h"

#include <string.h>

static const GpuPart types[] = {
    {"", "",
     "typedef signed char i8;\n"
     "typedef unsigned char u8;\n"
     "typedef short i16;\n"
     "typedef unsigned short u16;\n"
     "typedef unsigned int u32;\n"
     "typedef long long i64;\n"
     "typedef unsigned long long u64;\n"},
    {"f16", "",
     "struct f16 { u16 bits; };\n"},
    {"bf16", "",
     "struct bf16 { u16 bits; };\n"},
    {"e4m3", "",
     "struct e4m3 { u8 bits; };\n"},
    {"e5m2", "",
     "struct e5m2 { u8 bits; };\n"},
    {"e4m3fnuz", "",
     "struct e4m3fnuz { u8 bits; };\n"},
    {"e5m2fnuz", "",
     "struct e5m2fnuz { u8 bits; };\n"},
    {"e2m1|nibble_e2m1", "",
     "struct e2m1 { u8 bits; };\n"},
};

static const GpuPart functions[] = {
    {"bits_as", "",
     "template <typename T, typename S> DEVICE T bits_as(S x)\n"
     "{\n"
     "    static_assert(sizeof(T) == sizeof(S), \"as many bits\");\n"
     "    union { S from; T to; } u = {x};\n"
     "    return u.to;\n"
     "}\n"},
    {"odd_f32", "",
     "// Rounded to odd: what is rounded again to fewer bits comes out right.\n"
     "DEVICE float odd_f32(double x)\n"
     "{\n"
     "    float r = (float)x;\n"
     "    if ((double)r == x || x != x || f32_bits(r) << 1 == 0xff000000u)\n"
     "        return r;\n"
     "    u32 b = f32_bits(r);\n"
     "    if (b & 1)\n"
     "        return r;\n"
     "    bool beyond = (r < 0 ? -(double)r : (double)r) > (x < 0 ? -x : x);\n"
     "    return bits_f32(beyond ? b - 1 : b + 1);\n"
     "}\n"},
    {"bf16|to_bf16", "",
     "DEVICE bf16 to_bf16(float x)\n"
     "{\n"
     "    u32 b = f32_bits(x);\n"
     "    u32 r = x == x ? b + 0x7fffu + (b >> 16 & 1) : b | 0x400000u;\n"
     "    return bf16{(u16)(r >> 16)};\n"
     "}\n"
     "DEVICE float f32(bf16 x) { return bits_f32((u32)x.bits << 16); }\n"},
    {"tf32_bits|to_tf32", "",
     "DEVICE u32 tf32_bits(u32 b)\n"
     "{\n"
     "    return (b & 0x7f800000u) == 0x7f800000u ? b : (b + 0x1000u) & 0xffffe000u;\n"
     "}\n"
     "DEVICE float to_tf32(float x) { return bits_f32(tf32_bits(f32_bits(x))); }\n"},
    {"small_float|small_value", "",
     "// Floats of 8 bits: `m` mantissa bits, exponents biased by `bias`, finite ones\n"
     "// up to code `top`. Beyond it: `over`. `zero` says how many zeros there are.\n"
     "template <int m, int bias, int top> DEVICE u8 small_float(float x, u8 over)\n"
     "{\n"
     "    u32 b = f32_bits(x), a = b & 0x7fffffffu;\n"
     "    int e = (int)(a >> 23) - 127;\n"
     "    int low = 1 - bias;\n"
     "    int shift = 23 - m + (e < low ? low - e : 0);\n"
     "    if (a < 0x00800000u || shift > 31)\n"
     "        return 0;\n"
     "    u32 s = (a & 0x7fffffu) | 0x800000u;\n"
     "    u32 half = 1u << (shift - 1), rest = s & ((1u << shift) - 1);\n"
     "    u32 r = s >> shift;\n"
     "    if (shift > 24)\n"
     "        return 0;\n"
     "    r += rest > half || (rest == half && (r & 1));\n"
     "    int code = e < low ? (int)r\n"
     "                       : (int)r + ((e - low) << m);\n"
     "    return code > top ? over : (u8)code;\n"
     "}\n"
     "template <int m, int bias> DEVICE float small_value(u8 code)\n"
     "{\n"
     "    int e = code >> m, f = code & ((1 << m) - 1);\n"
     "    float scale = bits_f32((u32)(127 + (e ? e : 1) - bias - m) << 23);\n"
     "    return (float)(e ? f + (1 << m) : f) * scale;\n"
     "}\n"},
    {"e4m3|to_e4m3|to_e4m3_nosat", "",
     "DEVICE e4m3 to_e4m3(float x)\n"
     "{\n"
     "    u8 sign = (u8)(f32_bits(x) >> 24 & 0x80);\n"
     "    if (x != x)\n"
     "        return e4m3{(u8)(sign | 0x7f)};\n"
     "    return e4m3{(u8)(sign | small_float<3, 7, 0x7e>(x, 0x7e))};\n"
     "}\n"
     "DEVICE e4m3 to_e4m3_nosat(float x)\n"
     "{\n"
     "    u8 sign = (u8)(f32_bits(x) >> 24 & 0x80);\n"
     "    if (x != x)\n"
     "        return e4m3{(u8)(sign | 0x7f)};\n"
     "    return e4m3{(u8)(sign | small_float<3, 7, 0x7e>(x, 0x7f))};\n"
     "}\n"
     "DEVICE float f32(e4m3 x)\n"
     "{\n"
     "    u8 c = x.bits & 0x7f;\n"
     "    float v = c == 0x7f ? bits_f32(0x7fc00000u) : small_value<3, 7>(c);\n"
     "    return x.bits & 0x80 ? -v : v;\n"
     "}\n"},
    {"e5m2|to_e5m2|to_e5m2_nosat", "",
     "DEVICE e5m2 to_e5m2(float x)\n"
     "{\n"
     "    u8 sign = (u8)(f32_bits(x) >> 24 & 0x80);\n"
     "    if (x != x)\n"
     "        return e5m2{(u8)(sign | 0x7f)};\n"
     "    return e5m2{(u8)(sign | small_float<2, 15, 0x7b>(x, 0x7b))};\n"
     "}\n"
     "DEVICE e5m2 to_e5m2_nosat(float x)\n"
     "{\n"
     "    u8 sign = (u8)(f32_bits(x) >> 24 & 0x80);\n"
     "    if (x != x)\n"
     "        return e5m2{(u8)(sign | 0x7f)};\n"
     "    return e5m2{(u8)(sign | small_float<2, 15, 0x7b>(x, 0x7c))};\n"
     "}\n"
     "DEVICE float f32(e5m2 x)\n"
     "{\n"
     "    u8 c = x.bits & 0x7f;\n"
     "    float v = c > 0x7c    ? bits_f32(0x7fc00000u)\n"
     "              : c == 0x7c ? bits_f32(0x7f800000u)\n"
     "                          : small_value<2, 15>(c);\n"
     "    return x.bits & 0x80 ? -v : v;\n"
     "}\n"},
    {"e4m3fnuz|to_e4m3fnuz|to_e4m3fnuz_nosat", "",
     "DEVICE e4m3fnuz to_e4m3fnuz(float x)\n"
     "{\n"
     "    u8 sign = (u8)(f32_bits(x) >> 24 & 0x80);\n"
     "    u8 code = small_float<3, 8, 0x7f>(x, 0x7f);\n"
     "    if (x != x)\n"
     "        return e4m3fnuz{0x80};\n"
     "    return e4m3fnuz{(u8)(code ? sign | code : 0)};\n"
     "}\n"
     "DEVICE e4m3fnuz to_e4m3fnuz_nosat(float x)\n"
     "{\n"
     "    u8 sign = (u8)(f32_bits(x) >> 24 & 0x80);\n"
     "    u8 code = small_float<3, 8, 0x7f>(x, 0x80);\n"
     "    if (x != x || code == 0x80)\n"
     "        return e4m3fnuz{0x80};\n"
     "    return e4m3fnuz{(u8)(code ? sign | code : 0)};\n"
     "}\n"
     "DEVICE float f32(e4m3fnuz x)\n"
     "{\n"
     "    float v = small_value<3, 8>(x.bits & 0x7f);\n"
     "    if (x.bits == 0x80)\n"
     "        return bits_f32(0x7fc00000u);\n"
     "    return x.bits & 0x80 ? -v : v;\n"
     "}\n"},
    {"e5m2fnuz|to_e5m2fnuz|to_e5m2fnuz_nosat", "",
     "DEVICE e5m2fnuz to_e5m2fnuz(float x)\n"
     "{\n"
     "    u8 sign = (u8)(f32_bits(x) >> 24 & 0x80);\n"
     "    u8 code = small_float<2, 16, 0x7f>(x, 0x7f);\n"
     "    if (x != x)\n"
     "        return e5m2fnuz{0x80};\n"
     "    return e5m2fnuz{(u8)(code ? sign | code : 0)};\n"
     "}\n"
     "DEVICE e5m2fnuz to_e5m2fnuz_nosat(float x)\n"
     "{\n"
     "    u8 sign = (u8)(f32_bits(x) >> 24 & 0x80);\n"
     "    u8 code = small_float<2, 16, 0x7f>(x, 0x80);\n"
     "    if (x != x || code == 0x80)\n"
     "        return e5m2fnuz{0x80};\n"
     "    return e5m2fnuz{(u8)(code ? sign | code : 0)};\n"
     "}\n"
     "DEVICE float f32(e5m2fnuz x)\n"
     "{\n"
     "    float v = small_value<2, 16>(x.bits & 0x7f);\n"
     "    if (x.bits == 0x80)\n"
     "        return bits_f32(0x7fc00000u);\n"
     "    return x.bits & 0x80 ? -v : v;\n"
     "}\n"},
    {"e2m1|to_e2m1", "",
     "DEVICE e2m1 to_e2m1(float x)\n"
     "{\n"
     "    u8 sign = (u8)(f32_bits(x) >> 28 & 8);\n"
     "    if (x != x)\n"
     "        return e2m1{7};\n"
     "    return e2m1{(u8)(sign | small_float<1, 1, 7>(x, 7))};\n"
     "}\n"
     "DEVICE float f32(e2m1 x)\n"
     "{\n"
     "    float v = small_value<1, 1>(x.bits & 7);\n"
     "    return x.bits & 8 ? -v : v;\n"
     "}\n"},
    {"low_i4|low_u4|nibble_i4|nibble_u4|to_i4|to_u4", "",
     "DEVICE i8 low_i4(i64 x) { return (i8)((x & 15 ^ 8) - 8); }\n"
     "DEVICE u8 low_u4(i64 x) { return (u8)(x & 15); }\n"},
    {"nibble_i4|nibble_u4|nibble_e2m1|nibble", "",
     "// Tensors of 4 bits hold two elements in a byte, the first in its low half.\n"
     "DEVICE u8 nibble(const void *tensor, i64 at)\n"
     "{\n"
     "    return (u8)(((const u8 *)tensor)[at / 2] >> at % 2 * 4 & 15);\n"
     "}\n"},
    {"nibble_i4|nibble_u4", "",
     "DEVICE i8 nibble_i4(const void *p, i64 at) { return low_i4(nibble(p, at)); }\n"
     "DEVICE u8 nibble_u4(const void *p, i64 at) { return nibble(p, at); }\n"},
    {"nibble_e2m1", "",
     "DEVICE e2m1 nibble_e2m1(const void *p, i64 at)\n"
     "{\n"
     "    return e2m1{nibble(p, at)};\n"
     "}\n"},
    {"put_nibble", "",
     "// Other threads may write the other halves of the word.\n"
     "DEVICE void put_nibble(void *tensor, i64 at, u8 x)\n"
     "{\n"
     "    u64 byte = (u64)tensor + (u64)(at / 2);\n"
     "    u32 *word = (u32 *)(byte / 4 * 4);\n"
     "    int shift = (int)(byte % 4) * 8 + (int)(at % 2) * 4;\n"
     "    atomicAnd(word, ~(15u << shift));\n"
     "    atomicOr(word, (u32)(x & 15) << shift);\n"
     "}\n"},
    {"to_integer|to_i4|to_u4|to_i32|to_i8|to_i16|to_u8|to_u16|to_u32|to_i64|to_u64", "",
     "// Toward zero; NaN gives 0, what is out of range the nearest end of it.\n"
     "DEVICE i64 to_integer(double x, i64 low, i64 high)\n"
     "{\n"
     "    if (x != x)\n"
     "        return 0;\n"
     "    return x <= (double)low ? low : x >= (double)high ? high : (i64)x;\n"
     "}\n"
     "DEVICE int to_i32(double x)\n"
     "{\n"
     "    return (int)to_integer(x, -2147483647ll - 1, 2147483647ll);\n"
     "}\n"
     "DEVICE i8 to_i4(double x) { return (i8)to_integer(x, -8, 7); }\n"
     "DEVICE u8 to_u4(double x) { return (u8)to_integer(x, 0, 15); }\n"
     "DEVICE i8 to_i8(double x) { return (i8)to_integer(x, -128, 127); }\n"
     "DEVICE i16 to_i16(double x) { return (i16)to_integer(x, -32768, 32767); }\n"
     "DEVICE u8 to_u8(double x) { return (u8)to_integer(x, 0, 255); }\n"
     "DEVICE u16 to_u16(double x) { return (u16)to_integer(x, 0, 65535); }\n"
     "DEVICE u32 to_u32(double x) { return (u32)to_integer(x, 0, 4294967295ll); }\n"
     "DEVICE i64 to_i64(double x)\n"
     "{\n"
     "    return to_integer(x, -9223372036854775807ll - 1, 9223372036854775807ll);\n"
     "}\n"
     "DEVICE u64 to_u64(double x)\n"
     "{\n"
     "    if (!(x > 0))\n"
     "        return 0;\n"
     "    return x >= 18446744073709551616.0 ? ~0ull : (u64)x;\n"
     "}\n"},
    {"max_of|min_of", "",
     "// A NaN is dropped.\n"
     "DEVICE float max_of(float a, float b) { return fmaxf(a, b); }\n"
     "DEVICE float min_of(float a, float b) { return fminf(a, b); }\n"
     "DEVICE double max_of(double a, double b) { return fmax(a, b); }\n"
     "DEVICE double min_of(double a, double b) { return fmin(a, b); }\n"
     "template <typename T> DEVICE T max_of(T a, T b) { return a < b ? b : a; }\n"
     "template <typename T> DEVICE T min_of(T a, T b) { return b < a ? b : a; }\n"},
    {"magnitude", "",
     "DEVICE float magnitude(float x) { return fabsf(x); }\n"
     "DEVICE double magnitude(double x) { return fabs(x); }\n"
     "DEVICE i8 magnitude(i8 x) { return (i8)(x < 0 ? -x : x); }\n"
     "DEVICE i16 magnitude(i16 x) { return (i16)(x < 0 ? -x : x); }\n"
     "DEVICE int magnitude(int x) { return x < 0 ? -x : x; }\n"
     "DEVICE i64 magnitude(i64 x) { return x < 0 ? -x : x; }\n"
     "DEVICE u8 magnitude(u8 x) { return x; }\n"
     "DEVICE u16 magnitude(u16 x) { return x; }\n"
     "DEVICE u32 magnitude(u32 x) { return x; }\n"
     "DEVICE u64 magnitude(u64 x) { return x; }\n"},
    {"magnitude", "f16",
     "DEVICE f16 magnitude(f16 x) { return f16{(u16)(x.bits & 0x7fff)}; }\n"},
    {"magnitude", "bf16",
     "DEVICE bf16 magnitude(bf16 x) { return bf16{(u16)(x.bits & 0x7fff)}; }\n"},
    {"floor_div|floor_mod", "",
     "DEVICE float floor_div(float a, float b) { return floorf(a / b); }\n"
     "DEVICE double floor_div(double a, double b) { return floor(a / b); }\n"
     "DEVICE float floor_mod(float a, float b)\n"
     "{\n"
     "    float q = floorf(a / b) * b;\n"
     "    return a - q;\n"
     "}\n"
     "DEVICE double floor_mod(double a, double b)\n"
     "{\n"
     "    double q = floor(a / b) * b;\n"
     "    return a - q;\n"
     "}\n"
     "template <typename T> DEVICE T floor_div(T a, T b)\n"
     "{\n"
     "    if (b == 0)\n"
     "        return 0;\n"
     "    return (T)(a / b - (a % b != 0 && ((a % b) ^ b) < 0));\n"
     "}\n"
     "template <typename T> DEVICE T floor_mod(T a, T b)\n"
     "{\n"
     "    if (b == 0)\n"
     "        return 0;\n"
     "    T r = (T)(a % b);\n"
     "    return r != 0 && (r ^ b) < 0 ? (T)(r + b) : r;\n"
     "}\n"},
    {"trunc_div|trunc_mod", "",
     "template <typename T> DEVICE T trunc_div(T a, T b)\n"
     "{\n"
     "    return b == 0 ? (T)0 : (T)(a / b);\n"
     "}\n"
     "template <typename T> DEVICE T trunc_mod(T a, T b)\n"
     "{\n"
     "    return b == 0 ? (T)0 : (T)(a % b);\n"
     "}\n"},
    {"shift_left|shift_right", "",
     "template <typename T> DEVICE T shift_left(T a, i64 by)\n"
     "{\n"
     "    return by < 0 || by >= (i64)sizeof(T) * 8 ? (T)0 : (T)((u64)a << by);\n"
     "}\n"
     "template <typename T> DEVICE T shift_right(T a, i64 by)\n"
     "{\n"
     "    i64 last = (i64)sizeof(T) * 8 - 1;\n"
     "    if (by >= 0 && by <= last)\n"
     "        return (T)(a >> by);\n"
     "    return a < 0 ? (T)-1 : (T)0;\n"
     "}\n"},
    {"int_pow", "",
     "template <typename T> DEVICE T int_pow(T a, T b)\n"
     "{\n"
     "    if (b < 0)\n"
     "        return a == 1 ? (T)1 : a == (T)-1 ? (T)(b % 2 ? -1 : 1) : (T)0;\n"
     "    u64 r = 1, x = (u64)a;\n"
     "    for (u64 n = (u64)b; n; n >>= 1, x *= x)\n"
     "        r *= n & 1 ? x : 1;\n"
     "    return (T)r;\n"
     "}\n"},
    {"philox", "",
     "// Philox4x32-10: four numbers a counter.\n"
     "DEVICE u32 philox(u64 seed, u64 sequence, u64 position)\n"
     "{\n"
     "    u64 count = position / 4;\n"
     "    u32 x0 = (u32)count, x1 = (u32)(count >> 32);\n"
     "    u32 x2 = (u32)sequence, x3 = (u32)(sequence >> 32);\n"
     "    u32 k0 = (u32)seed, k1 = (u32)(seed >> 32);\n"
     "    for (int r = 0; r < 10; r++) {\n"
     "        u64 a = (u64)x0 * 0xd2511f53u, b = (u64)x2 * 0xcd9e8d57u;\n"
     "        x0 = (u32)(b >> 32) ^ x1 ^ k0;\n"
     "        x1 = (u32)b;\n"
     "        x2 = (u32)(a >> 32) ^ x3 ^ k1;\n"
     "        x3 = (u32)a;\n"
     "        k0 += 0x9e3779b9u;\n"
     "        k1 += 0xbb67ae85u;\n"
     "    }\n"
     "    u32 low = position & 1 ? x1 : x0, high = position & 1 ? x3 : x2;\n"
     "    return position & 2 ? high : low;\n"
     "}\n"},
    {"leading_zeros", "",
     "template <typename T> DEVICE int leading_zeros(T x)\n"
     "{\n"
     "    int n = 0;\n"
     "    for (int i = (int)sizeof(T) * 8 - 1; i >= 0 && !((u64)x >> i & 1); i--)\n"
     "        n++;\n"
     "    return n;\n"
     "}\n"},
    {"sigmoid", "",
     "DEVICE float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }\n"
     "DEVICE double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }\n"},
    {"is_nan|is_finite|is_inf", "",
     "DEVICE bool is_nan(double x) { return x != x; }\n"
     "DEVICE bool is_finite(double x) { return x - x == 0; }\n"
     "DEVICE bool is_inf(double x) { return x == x && x - x != 0; }\n"},
    {"pack", "f16",
     "DEVICE u32 pack(f16 x, f16 y) { return join(x.bits, y.bits); }\n"},
    {"pack", "bf16",
     "DEVICE u32 pack(bf16 x, bf16 y) { return join(x.bits, y.bits); }\n"},
    {"pack", "",
     "template <typename T> DEVICE u32 pack(T x, T y, T z, T w)\n"
     "{\n"
     "    return bits_as<u8>(x) | (u32)bits_as<u8>(y) << 8 |\n"
     "           (u32)bits_as<u8>(z) << 16 | (u32)bits_as<u8>(w) << 24;\n"
     "}\n"
     "DEVICE u32 pack(float x) { return f32_bits(x); }\n"},
    {"move|move_or_clear", "",
     "// n bytes at once; both sides start at a multiple of n.\n"
     "template <int n> struct alignas(n) Bytes { u32 word[n / 4]; };\n"
     "template <> struct alignas(2) Bytes<2> { u16 half; };\n"
     "template <int n> DEVICE void move(void *to, const void *from)\n"
     "{\n"
     "    *(Bytes<n> *)to = *(const Bytes<n> *)from;\n"
     "}\n"
     "template <int n>\n"
     "DEVICE void move_or_clear(void *to, const void *from, bool there)\n"
     "{\n"
     "    Bytes<n> x = {};\n"
     "    if (there)\n"
     "        x = *(const Bytes<n> *)from;\n"
     "    *(Bytes<n> *)to = x;\n"
     "}\n"},
    {"part_inside", "",
     "// Of `part` from `at` on, not negative, those below `end`.\n"
     "DEVICE int part_inside(i64 at, int part, i64 end)\n"
     "{\n"
     "    return at >= end ? 0 : end - at < part ? (int)(end - at) : part;\n"
     "}\n"},
    {"sixteens|move_rest", "",
     "// What of a run of bytes is moved at once, and one by one behind that.\n"
     "DEVICE int sixteens(const void *global, int bytes)\n"
     "{\n"
     "    return (u64)global % 16 ? 0 : bytes / 16 * 16;\n"
     "}\n"
     "template <typename T>\n"
     "DEVICE void move_rest(T *to, const T *from, int whole, int bytes)\n"
     "{\n"
     "    const int size = sizeof(T);\n"
     "    for (int i = whole / size; i < bytes / size; i++)\n"
     "        to[i] = from[i];\n"
     "}\n"},
    {"kept_of_four|kept_of_two", "",
     "// Element `at` of a group, of which the lowest bits of `places` tell what\n"
     "// is kept: two of four, or of two the one.\n"
     "template <typename T>\n"
     "DEVICE T kept_of_four(u32 places, int at, T first, T second)\n"
     "{\n"
     "    if (at == (int)(places >> 2 & 3))\n"
     "        return second;\n"
     "    return at == (int)(places & 3) ? first : T();\n"
     "}\n"
     "template <typename T> DEVICE T kept_of_two(u32 places, int at, T only)\n"
     "{\n"
     "    return at == (int)(places >> 1 & 1) ? only : T();\n"
     "}\n"},
    {"swizzle", "",
     "// Element (i, j) of a tile in shared memory: panels of n 16-byte chunks of v\n"
     "// elements; the row mixes the chunks, so that columns spread over the banks.\n"
     "template <int rows, int n, int v> DEVICE int swizzle(int i, int j)\n"
     "{\n"
     "    u32 r = (u32)i, c = (u32)j;\n"
     "    u32 chunk = (c / v % n) ^ (r % 8 / (8 / n));\n"
     "    return (int)(c / (n * v) * (rows * n * v) + r * (n * v) + chunk * v +\n"
     "                 c % v);\n"
     "}\n"},
    {"panels", "",
     "// Block number b of an nx x ny grid, walked in panels of `size` rows.\n"
     "DEVICE void panels(u32 b, u32 nx, u32 ny, u32 size, int *x, int *y)\n"
     "{\n"
     "    u32 per = size * nx, panel = b / per, off = b % per;\n"
     "    u32 count = (nx * ny + per - 1) / per;\n"
     "    u32 rows = panel + 1 < count ? size : (nx * ny - panel * per) / nx;\n"
     "    *x = (int)(panel % 2 ? nx - 1 - off / rows : off / rows);\n"
     "    *y = (int)(off % rows + panel * size);\n"
     "}\n"},
    {"shuffle_xor|shuffle_up|shuffle_down|shuffle", "",
     "template <typename T> DEVICE T shuffle_xor(T x, int mask, int width = LANES)\n"
     "{\n"
     "    union { u64 all; u32 word; T value; } u = {0};\n"
     "    u.value = x;\n"
     "    if (sizeof(T) <= 4)\n"
     "        u.word = exchange_xor(u.word, mask, width);\n"
     "    else\n"
     "        u.all = exchange_xor(u.all, mask, width);\n"
     "    return u.value;\n"
     "}\n"
     "template <typename T> DEVICE T shuffle_up(T x, int by, int width = LANES)\n"
     "{\n"
     "    union { u64 all; u32 word; T value; } u = {0};\n"
     "    u.value = x;\n"
     "    if (sizeof(T) <= 4)\n"
     "        u.word = exchange_up(u.word, by, width);\n"
     "    else\n"
     "        u.all = exchange_up(u.all, by, width);\n"
     "    return u.value;\n"
     "}\n"
     "template <typename T> DEVICE T shuffle_down(T x, int by, int width = LANES)\n"
     "{\n"
     "    union { u64 all; u32 word; T value; } u = {0};\n"
     "    u.value = x;\n"
     "    if (sizeof(T) <= 4)\n"
     "        u.word = exchange_down(u.word, by, width);\n"
     "    else\n"
     "        u.all = exchange_down(u.all, by, width);\n"
     "    return u.value;\n"
     "}\n"
     "template <typename T> DEVICE T shuffle(T x, int lane, int width = LANES)\n"
     "{\n"
     "    union { u64 all; u32 word; T value; } u = {0};\n"
     "    u.value = x;\n"
     "    if (sizeof(T) <= 4)\n"
     "        u.word = exchange(u.word, lane, width);\n"
     "    else\n"
     "        u.all = exchange(u.all, lane, width);\n"
     "    return u.value;\n"
     "}\n"},
    {"swap_loop", "",
     "// What the hardware has no atomic for: tried until nobody was faster.\n"
     "template <typename T, typename F> DEVICE T swap_loop(T *p, F next)\n"
     "{\n"
     "    T old = *(volatile T *)p, seen;\n"
     "    do {\n"
     "        seen = old;\n"
     "        old = atomicCAS(p, seen, next(seen));\n"
     "    } while (old != seen);\n"
     "    return old;\n"
     "}\n"},
    {"atomic_add", "",
     "DEVICE int atomic_add(int *p, int x) { return atomicAdd(p, x); }\n"
     "DEVICE u32 atomic_add(u32 *p, u32 x) { return atomicAdd(p, x); }\n"
     "DEVICE u64 atomic_add(u64 *p, u64 x) { return atomicAdd(p, x); }\n"
     "DEVICE i64 atomic_add(i64 *p, i64 x)\n"
     "{\n"
     "    return (i64)atomicAdd((u64 *)p, (u64)x);\n"
     "}\n"
     "DEVICE float atomic_add(float *p, float x) { return atomicAdd(p, x); }\n"
     "DEVICE double atomic_add(double *p, double x) { return atomicAdd(p, x); }\n"},
    {"atomic_add", "f16",
     "DEVICE f16 atomic_add(f16 *p, f16 x)\n"
     "{\n"
     "    return f16{swap_loop(&p->bits, [=](u16 b) {\n"
     "        return to_f16(f32(f16{b}) + f32(x)).bits;\n"
     "    })};\n"
     "}\n"},
    {"atomic_add", "bf16",
     "DEVICE bf16 atomic_add(bf16 *p, bf16 x)\n"
     "{\n"
     "    return bf16{swap_loop(&p->bits, [=](u16 b) {\n"
     "        return to_bf16(f32(bf16{b}) + f32(x)).bits;\n"
     "    })};\n"
     "}\n"},
    {"atomic_max|atomic_min", "",
     "DEVICE int atomic_max(int *p, int x) { return atomicMax(p, x); }\n"
     "DEVICE u32 atomic_max(u32 *p, u32 x) { return atomicMax(p, x); }\n"
     "DEVICE u64 atomic_max(u64 *p, u64 x) { return atomicMax(p, x); }\n"
     "DEVICE i64 atomic_max(i64 *p, i64 x) { return atomicMax(p, x); }\n"
     "DEVICE int atomic_min(int *p, int x) { return atomicMin(p, x); }\n"
     "DEVICE u32 atomic_min(u32 *p, u32 x) { return atomicMin(p, x); }\n"
     "DEVICE u64 atomic_min(u64 *p, u64 x) { return atomicMin(p, x); }\n"
     "DEVICE i64 atomic_min(i64 *p, i64 x) { return atomicMin(p, x); }\n"
     "DEVICE float atomic_max(float *p, float x)\n"
     "{\n"
     "    return bits_f32(swap_loop((u32 *)p, [=](u32 b) {\n"
     "        return f32_bits(fmaxf(bits_f32(b), x));\n"
     "    }));\n"
     "}\n"
     "DEVICE float atomic_min(float *p, float x)\n"
     "{\n"
     "    return bits_f32(swap_loop((u32 *)p, [=](u32 b) {\n"
     "        return f32_bits(fminf(bits_f32(b), x));\n"
     "    }));\n"
     "}\n"
     "DEVICE double atomic_max(double *p, double x)\n"
     "{\n"
     "    return bits_f64(swap_loop((u64 *)p, [=](u64 b) {\n"
     "        return f64_bits(fmax(bits_f64(b), x));\n"
     "    }));\n"
     "}\n"
     "DEVICE double atomic_min(double *p, double x)\n"
     "{\n"
     "    return bits_f64(swap_loop((u64 *)p, [=](u64 b) {\n"
     "        return f64_bits(fmin(bits_f64(b), x));\n"
     "    }));\n"
     "}\n"},
    {"atomic_max|atomic_min", "f16",
     "DEVICE f16 atomic_max(f16 *p, f16 x)\n"
     "{\n"
     "    return f16{swap_loop(&p->bits, [=](u16 b) {\n"
     "        return to_f16(fmaxf(f32(f16{b}), f32(x))).bits;\n"
     "    })};\n"
     "}\n"
     "DEVICE f16 atomic_min(f16 *p, f16 x)\n"
     "{\n"
     "    return f16{swap_loop(&p->bits, [=](u16 b) {\n"
     "        return to_f16(fminf(f32(f16{b}), f32(x))).bits;\n"
     "    })};\n"
     "}\n"},
    {"atomic_max|atomic_min", "bf16",
     "DEVICE bf16 atomic_max(bf16 *p, bf16 x)\n"
     "{\n"
     "    return bf16{swap_loop(&p->bits, [=](u16 b) {\n"
     "        return to_bf16(fmaxf(f32(bf16{b}), f32(x))).bits;\n"
     "    })};\n"
     "}\n"
     "DEVICE bf16 atomic_min(bf16 *p, bf16 x)\n"
     "{\n"
     "    return bf16{swap_loop(&p->bits, [=](u16 b) {\n"
     "        return to_bf16(fminf(f32(bf16{b}), f32(x))).bits;\n"
     "    })};\n"
     "}\n"},
    {"atomic_or", "",
     "DEVICE int atomic_or(int *p, int x) { return atomicOr(p, x); }\n"
     "DEVICE u32 atomic_or(u32 *p, u32 x) { return atomicOr(p, x); }\n"
     "DEVICE u64 atomic_or(u64 *p, u64 x) { return atomicOr(p, x); }\n"
     "DEVICE i64 atomic_or(i64 *p, i64 x)\n"
     "{\n"
     "    return (i64)atomicOr((u64 *)p, (u64)x);\n"
     "}\n"},
    {"atomic_load|atomic_store", "",
     "template <typename T> DEVICE T atomic_load(T *p)\n"
     "{\n"
     "    T x = *(volatile T *)p;\n"
     "    __threadfence();\n"
     "    return x;\n"
     "}\n"
     "template <typename T> DEVICE void atomic_store(T *p, T x)\n"
     "{\n"
     "    __threadfence();\n"
     "    *(volatile T *)p = x;\n"
     "}\n"},
};

// ---- which of them ---------------------------------------------------------

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
}

bool occurs(Text in, Text word)
{
    for (size_t i = 0; i + word.len <= in.len; i++) {
        size_t after = i + word.len;
        if (in.at[i] != word.at[0] || memcmp(in.at + i, word.at, word.len))
            continue;
        if ((i == 0 || !is_word(in.at[i - 1])) &&
            (after == in.len || !is_word(in.at[after])))
            return true;
    }
    return false;
}

// Names are separated by '|'; no name at all: always.
static bool is_named(const GpuPart *p, Text in)
{
    Text names = text_of(p->names);

    if (*p->also && !occurs(in, text_of(p->also)))
        return false;
    if (!names.len)
        return true;
    for (size_t from = 0, to = 0; to <= names.len; to++) {
        if (to < names.len && names.at[to] != '|')
            continue;
        if (occurs(in, text_slice(names, from, to)))
            return true;
        from = to + 1;
    }
    return false;
}

static bool names_it(const GpuPart *part, int n, Text name)
{
    for (int i = 0; i < n; i++)
        if (occurs(text_of(part[i].names), name))
            return true;
    return false;
}

static const GpuPart *math_of(const Emit *e, int *count)
{
    *count = 0;
    return e->dialect->math ? e->dialect->math(count) : NULL;
}

bool prelude_has(const Emit *e, Text name)
{
    int m;
    const GpuPart *math = math_of(e, &m);

    return names_it(math, m, name) ||
           names_it(types, countof(types), name) ||
           names_it(e->dialect->parts, e->dialect->part_count, name) ||
           names_it(functions, countof(functions), name);
}

// The dialect has it as an instruction.
static bool replaced(const Emit *e, const GpuPart *p)
{
    const GpuDialect *d = e->dialect;

    for (int i = 0; i < d->part_count; i++)
        if (p->text != d->parts[i].text && *p->names &&
            !strcmp(p->names, d->parts[i].names) &&
            !strcmp(p->also, d->parts[i].also))
            return true;
    return false;
}

// From the last part to the first, so that what a part calls is seen.
static void choose(const Emit *e, const GpuPart *part, int n, TextBuf *all,
                   bool *taken)
{
    for (int i = n - 1; i >= 0; i--) {
        taken[i] = is_named(&part[i], buf_view(all)) && !replaced(e, &part[i]);
        if (taken[i])
            buf_puts(all, part[i].text);
    }
}

static void put(TextBuf *out, const char *title, const GpuPart *part, int n,
                const bool *taken)
{
    buf_printf(out, "\n// ---- %s\n", title);
    for (int i = 0; i < n; i++)
        if (taken[i])
            buf_printf(out, "\n%s", part[i].text);
}

void prelude(Emit *e, TextBuf *out, Text kernels)
{
    int a = countof(types), b = e->dialect->part_count, c = countof(functions);
    int m;
    const GpuPart *math = math_of(e, &m);
    bool *taken = new_array(e->arena, bool, a + b + c + m);
    TextBuf all = {0};

    buf_text(&all, kernels);
    choose(e, functions, c, &all, taken + a + b);
    choose(e, math, m, &all, taken + a + b + c);
    choose(e, e->dialect->parts, b, &all, taken + a);
    choose(e, types, a, &all, taken);
    buf_printf(out, "#define DEVICE %s\n", e->dialect->device);
    if (occurs(buf_view(&all), TEXT("LANES")))
        buf_printf(out, "#define LANES %d\n", e->lanes);
    buf_release(&all);
    put(out, "types", types, a, taken);
    put(out, "instructions", e->dialect->parts, b, taken + a);
    if (m)
        put(out, "mathematics", math, m, taken + a + b + c);
    put(out, "functions", functions, c, taken + a + b);
    buf_puts(out, "\n// ---- kernels\n\n");
}
