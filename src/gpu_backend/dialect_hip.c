// dialect_hip.c - HIP as clang reads it for gfx942, without a header.
//
// What is one instruction is a builtin of the compiler; what a device library
// would give is in hip_math.c.
#include "gpu_backend/dialect.h"

static const GpuPart parts[] = {
    {"thread_x|thread_y|thread_z", "",
     "DEVICE u32 thread_x() { return __builtin_amdgcn_workitem_id_x(); }\n"
     "DEVICE u32 thread_y() { return __builtin_amdgcn_workitem_id_y(); }\n"
     "DEVICE u32 thread_z() { return __builtin_amdgcn_workitem_id_z(); }\n"},
    {"block_x|block_y|block_z", "",
     "DEVICE u32 block_x() { return __builtin_amdgcn_workgroup_id_x(); }\n"
     "DEVICE u32 block_y() { return __builtin_amdgcn_workgroup_id_y(); }\n"
     "DEVICE u32 block_z() { return __builtin_amdgcn_workgroup_id_z(); }\n"},
    {"blocks_x|blocks_y|blocks_z", "",
     "// The runtime passes them behind the arguments.\n"
     "DEVICE u32 blocks_of(int d)\n"
     "{\n"
     "    return ((__attribute__((opencl_constant)) const u32 *)\n"
     "                __builtin_amdgcn_implicitarg_ptr())[d];\n"
     "}\n"
     "DEVICE u32 blocks_x() { return blocks_of(0); }\n"
     "DEVICE u32 blocks_y() { return blocks_of(1); }\n"
     "DEVICE u32 blocks_z() { return blocks_of(2); }\n"},
    {"bits_f32|f32_bits", "",
     "DEVICE float bits_f32(u32 x) { return __builtin_bit_cast(float, x); }\n"
     "DEVICE u32 f32_bits(float x) { return __builtin_bit_cast(u32, x); }\n"},
    {"bits_f64|f64_bits", "",
     "DEVICE double bits_f64(u64 x) { return __builtin_bit_cast(double, x); }\n"
     "DEVICE u64 f64_bits(double x) { return __builtin_bit_cast(u64, x); }\n"},
    {"f16|to_f16", "",
     "DEVICE f16 to_f16(float x)\n"
     "{\n"
     "    return f16{__builtin_bit_cast(u16, (_Float16)x)};\n"
     "}\n"
     "DEVICE float f32(f16 x)\n"
     "{\n"
     "    return (float)__builtin_bit_cast(_Float16, x.bits);\n"
     "}\n"},
    {"e4m3fnuz|to_e4m3fnuz|to_e4m3fnuz_nosat", "",
     "// Beyond the largest the unit gives NaN.\n"
     "DEVICE e4m3fnuz to_e4m3fnuz_nosat(float x)\n"
     "{\n"
     "    return e4m3fnuz{(u8)__builtin_amdgcn_cvt_pk_fp8_f32(x, 0.0f, 0, false)};\n"
     "}\n"
     "DEVICE e4m3fnuz to_e4m3fnuz(float x)\n"
     "{\n"
     "    float y = __builtin_fmaxf(-240.0f, __builtin_fminf(x, 240.0f));\n"
     "    return to_e4m3fnuz_nosat(x == x ? y : x);\n"
     "}\n"
     "DEVICE float f32(e4m3fnuz x)\n"
     "{\n"
     "    return __builtin_amdgcn_cvt_f32_fp8(x.bits, 0);\n"
     "}\n"},
    {"e5m2fnuz|to_e5m2fnuz|to_e5m2fnuz_nosat", "",
     "// Beyond the largest the unit gives NaN.\n"
     "DEVICE e5m2fnuz to_e5m2fnuz_nosat(float x)\n"
     "{\n"
     "    return e5m2fnuz{(u8)__builtin_amdgcn_cvt_pk_bf8_f32(x, 0.0f, 0, false)};\n"
     "}\n"
     "DEVICE e5m2fnuz to_e5m2fnuz(float x)\n"
     "{\n"
     "    float y = __builtin_fmaxf(-57344.0f, __builtin_fminf(x, 57344.0f));\n"
     "    return to_e5m2fnuz_nosat(x == x ? y : x);\n"
     "}\n"
     "DEVICE float f32(e5m2fnuz x)\n"
     "{\n"
     "    return __builtin_amdgcn_cvt_f32_bf8(x.bits, 0);\n"
     "}\n"},
    {"join|pack", "",
     "DEVICE u32 join(u16 low, u16 high) { return low | (u32)high << 16; }\n"},
    {"fast_exp2", "",
     "DEVICE float fast_exp2(float x) { return __builtin_amdgcn_exp2f(x); }\n"},
    {"fast_div", "",
     "DEVICE float fast_div(float a, float b)\n"
     "{\n"
     "    return a * __builtin_amdgcn_rcpf(b);\n"
     "}\n"},
    {"exchange_xor|exchange_up|exchange_down|exchange", "",
     "DEVICE int lane_id()\n"
     "{\n"
     "    return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));\n"
     "}\n"
     "DEVICE u32 take(u32 x, int lane)\n"
     "{\n"
     "    return __builtin_amdgcn_ds_bpermute(lane * 4, x);\n"
     "}\n"
     "DEVICE u64 take(u64 x, int lane)\n"
     "{\n"
     "    return take((u32)x, lane) | (u64)take((u32)(x >> 32), lane) << 32;\n"
     "}\n"
     "template <typename T> DEVICE T exchange_xor(T x, int mask, int width)\n"
     "{\n"
     "    int me = lane_id(), from = me ^ mask;\n"
     "    return take(x, from / width == me / width ? from : me);\n"
     "}\n"
     "template <typename T> DEVICE T exchange_up(T x, int by, int width)\n"
     "{\n"
     "    int me = lane_id();\n"
     "    return take(x, me % width < by ? me : me - by);\n"
     "}\n"
     "template <typename T> DEVICE T exchange_down(T x, int by, int width)\n"
     "{\n"
     "    int me = lane_id();\n"
     "    return take(x, me % width + by < width ? me + by : me);\n"
     "}\n"
     "template <typename T> DEVICE T exchange(T x, int lane, int width)\n"
     "{\n"
     "    int me = lane_id();\n"
     "    return take(x, me - me % width + (lane & (width - 1)));\n"
     "}\n"},
    {"ballot|any_lane|all_lanes", "",
     "DEVICE u64 ballot(bool x) { return __builtin_amdgcn_ballot_w64(x); }\n"
     "DEVICE bool any_lane(bool x) { return ballot(x) != 0; }\n"
     "DEVICE bool all_lanes(bool x) { return ballot(!x) == 0; }\n"},
    {"sync_warp", "",
     "DEVICE void sync_warp()\n"
     "{\n"
     "    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, \"wavefront\");\n"
     "    __builtin_amdgcn_wave_barrier();\n"
     "}\n"},
    // clang 19 drops the wait that a fence asks for where a loop begins with it
    // and stores to shared memory come round from the loop's end alone.
    {"sync_block", "",
     "DEVICE void sync_block()\n"
     "{\n"
     "    __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\");\n"
     "    __builtin_amdgcn_s_waitcnt(0xc07f);     // lgkmcnt(0)\n"
     "    __builtin_amdgcn_s_barrier();\n"
     "    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\");\n"
     "}\n"},
    {"Words", "",
     "template <int n> struct WordsOf {\n"
     "    typedef u32 type __attribute__((ext_vector_type(n / 4)));\n"
     "};\n"
     "template <> struct WordsOf<4> { typedef u32 type; };\n"
     "template <> struct WordsOf<2> { typedef u16 type; };\n"
     "template <> struct WordsOf<1> { typedef u8 type; };\n"
     "template <int n> using Words = typename WordsOf<n>::type;\n"},
    // A struct that either path sets is kept in memory by clang.
    {"move|move_or_clear", "",
     "// n bytes at once; both sides start at a multiple of n.\n"
     "template <int n> DEVICE void move(void *to, const void *from)\n"
     "{\n"
     "    *(Words<n> *)to = *(const Words<n> *)from;\n"
     "}\n"
     "template <int n>\n"
     "DEVICE void move_or_clear(void *to, const void *from, bool there)\n"
     "{\n"
     "    Words<n> x = {};\n"
     "    if (there)\n"
     "        x = *(const Words<n> *)from;\n"
     "    *(Words<n> *)to = x;\n"
     "}\n"},
    {"priority", "",
     "template <int n> DEVICE void priority() { __builtin_amdgcn_s_setprio(n); }\n"},
    {"anew", "",
     "// The same number, of which nothing is known.\n"
     "DEVICE int anew(int x)\n"
     "{\n"
     "    asm volatile(\"\" : \"+v\"(x));\n"
     "    return x;\n"
     "}\n"},
    {"late", "",
     "// The same number, out of the matrix unit's registers when it is needed: a\n"
     "// compiler that takes all of a tile from there at once has no room for it.\n"
     "DEVICE float late(float x)\n"
     "{\n"
     "    float same;\n"
     "    asm(\"\" : \"=v\"(same) : \"0\"(x));\n"
     "    return same;\n"
     "}\n"},
    {"keep_order", "",
     "// What stands before it stays before it.\n"
     "DEVICE void keep_order() { __builtin_amdgcn_sched_barrier(0); }\n"},
    {"halves", "",
     "// The low or the high halves of two words, as one.\n"
     "DEVICE u32 halves(u32 a, u32 b, bool high)\n"
     "{\n"
     "    return __builtin_amdgcn_perm(b, a, high ? 0x07060302u : 0x05040100u);\n"
     "}\n"},
    {"mfma32_f16|mfma32_bf16|mfma_f16|mfma_bf16|mfma_e4m3fnuz|mfma_e5m2fnuz"
     "|mfma_e4m3fnuz_e5m2fnuz|mfma_e5m2fnuz_e4m3fnuz|mfma_i8|mfma_float|mfma_tf32", "",
     "typedef float Floats16 __attribute__((ext_vector_type(16)));\n"
     "typedef float Floats4 __attribute__((ext_vector_type(4)));\n"
     "typedef int Ints4 __attribute__((ext_vector_type(4)));\n"
     "typedef _Float16 Halves4 __attribute__((ext_vector_type(4)));\n"
     "typedef short Shorts4 __attribute__((ext_vector_type(4)));\n"
     "typedef float Floats2 __attribute__((ext_vector_type(2)));\n"
     "template <typename V, typename T> DEVICE V words(const T *p)\n"
     "{\n"
     "    V v;\n"
     "    __builtin_memcpy(&v, p, sizeof v);\n"
     "    return v;\n"
     "}\n"
     "template <typename V, typename T> DEVICE void put_words(T *p, V v)\n"
     "{\n"
     "    __builtin_memcpy(p, &v, sizeof v);\n"
     "}\n"},
    {"mfma_f16", "",
     "DEVICE void mfma_f16(float *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    put_words(d, __builtin_amdgcn_mfma_f32_16x16x16f16(\n"
     "        words<Halves4>(a), words<Halves4>(b), words<Floats4>(d), 0, 0, 0));\n"
     "}\n"},
    {"mfma32_f16", "",
     "DEVICE void mfma32_f16(float *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    put_words(d, __builtin_amdgcn_mfma_f32_32x32x8f16(\n"
     "        words<Halves4>(a), words<Halves4>(b), words<Floats16>(d), 0, 0, 0));\n"
     "}\n"},
    {"mfma32_bf16", "",
     "DEVICE void mfma32_bf16(float *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    put_words(d, __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(\n"
     "        words<Shorts4>(a), words<Shorts4>(b), words<Floats16>(d), 0, 0, 0));\n"
     "}\n"},
    {"mfma_bf16", "",
     "DEVICE void mfma_bf16(float *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    put_words(d, __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(\n"
     "        words<Shorts4>(a), words<Shorts4>(b), words<Floats4>(d), 0, 0, 0));\n"
     "}\n"},
    {"e4m3_as_fnuz", "",
     "// Four e4m3fn, halved, as e4m3fnuz: there -0 is 0, and 0x80 is the NaN.\n"
     "DEVICE u32 e4m3_as_fnuz(u32 x)\n"
     "{\n"
     "    u32 m = x & 0x7f7f7f7fu;\n"
     "    u32 some = (m + 0x7f7f7f7fu) & 0x80808080u;\n"
     "    u32 nan = (m + 0x01010101u) & 0x80808080u;\n"
     "    return ((m | (x & some)) & ~((nan >> 7) * 255u)) | nan;\n"
     "}\n"},
    {"mfma_e4m3fnuz", "",
     "DEVICE void mfma_e4m3fnuz(float *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    put_words(d, __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(\n"
     "        words<i64>(a), words<i64>(b), words<Floats4>(d), 0, 0, 0));\n"
     "}\n"},
    {"mfma_e5m2fnuz", "",
     "DEVICE void mfma_e5m2fnuz(float *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    put_words(d, __builtin_amdgcn_mfma_f32_16x16x32_bf8_bf8(\n"
     "        words<i64>(a), words<i64>(b), words<Floats4>(d), 0, 0, 0));\n"
     "}\n"},
    {"mfma_e4m3fnuz_e5m2fnuz", "",
     "DEVICE void mfma_e4m3fnuz_e5m2fnuz(float *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    put_words(d, __builtin_amdgcn_mfma_f32_16x16x32_fp8_bf8(\n"
     "        words<i64>(a), words<i64>(b), words<Floats4>(d), 0, 0, 0));\n"
     "}\n"},
    {"mfma_e5m2fnuz_e4m3fnuz", "",
     "DEVICE void mfma_e5m2fnuz_e4m3fnuz(float *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    put_words(d, __builtin_amdgcn_mfma_f32_16x16x32_bf8_fp8(\n"
     "        words<i64>(a), words<i64>(b), words<Floats4>(d), 0, 0, 0));\n"
     "}\n"},
    {"mfma_i8", "",
     "DEVICE void mfma_i8(int *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    put_words(d, __builtin_amdgcn_mfma_i32_16x16x32_i8(\n"
     "        words<i64>(a), words<i64>(b), words<Ints4>(d), 0, 0, 0));\n"
     "}\n"},
    {"mfma_float", "",
     "DEVICE void mfma_float(float *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    put_words(d, __builtin_amdgcn_mfma_f32_16x16x4f32(\n"
     "        words<float>(a), words<float>(b), words<Floats4>(d), 0, 0, 0));\n"
     "}\n"},
    {"mfma_tf32", "",
     "DEVICE void mfma_tf32(float *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    put_words(d, __builtin_amdgcn_mfma_f32_16x16x8_xf32(\n"
     "        words<Floats2>(a), words<Floats2>(b), words<Floats4>(d), 0, 0, 0));\n"
     "}\n"},
    {"atomicAdd|atomicMax|atomicMin|atomicOr|atomicCAS|atomic_add|atomic_max"
     "|atomic_min|atomic_or|swap_loop|put_nibble", "",
     "template <typename T> DEVICE T atomicAdd(T *p, T x)\n"
     "{\n"
     "    return __hip_atomic_fetch_add(p, x, __ATOMIC_RELAXED,\n"
     "                                  __HIP_MEMORY_SCOPE_AGENT);\n"
     "}\n"
     "template <typename T> DEVICE T atomicMax(T *p, T x)\n"
     "{\n"
     "    return __hip_atomic_fetch_max(p, x, __ATOMIC_RELAXED,\n"
     "                                  __HIP_MEMORY_SCOPE_AGENT);\n"
     "}\n"
     "template <typename T> DEVICE T atomicMin(T *p, T x)\n"
     "{\n"
     "    return __hip_atomic_fetch_min(p, x, __ATOMIC_RELAXED,\n"
     "                                  __HIP_MEMORY_SCOPE_AGENT);\n"
     "}\n"
     "template <typename T> DEVICE T atomicAnd(T *p, T x)\n"
     "{\n"
     "    return __hip_atomic_fetch_and(p, x, __ATOMIC_RELAXED,\n"
     "                                  __HIP_MEMORY_SCOPE_AGENT);\n"
     "}\n"
     "template <typename T> DEVICE T atomicOr(T *p, T x)\n"
     "{\n"
     "    return __hip_atomic_fetch_or(p, x, __ATOMIC_RELAXED,\n"
     "                                 __HIP_MEMORY_SCOPE_AGENT);\n"
     "}\n"
     "template <typename T> DEVICE T atomicCAS(T *p, T old, T x)\n"
     "{\n"
     "    __hip_atomic_compare_exchange_strong(p, &old, x, __ATOMIC_RELAXED,\n"
     "                                         __ATOMIC_RELAXED,\n"
     "                                         __HIP_MEMORY_SCOPE_AGENT);\n"
     "    return old;\n"
     "}\n"},
    {"__popc|__popcll", "",
     "DEVICE int __popc(u32 x) { return __builtin_popcount(x); }\n"
     "DEVICE int __popcll(u64 x) { return __builtin_popcountll(x); }\n"},
    {"__threadfence|atomic_load|atomic_store", "",
     "DEVICE void __threadfence()\n"
     "{\n"
     "    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, \"agent\");\n"
     "}\n"},
    {"fmaxf|fminf|fabsf|floorf|max_of|min_of|magnitude|floor_div|floor_mod"
     "|atomic_max|atomic_min", "",
     "DEVICE float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }\n"
     "DEVICE float fminf(float a, float b) { return __builtin_fminf(a, b); }\n"
     "DEVICE float fabsf(float x) { return __builtin_fabsf(x); }\n"
     "DEVICE float floorf(float x) { return __builtin_floorf(x); }\n"},
    {"fmax|fmin|fabs|floor|max_of|min_of|magnitude|floor_div|floor_mod"
     "|atomic_max|atomic_min", "",
     "DEVICE double fmax(double a, double b) { return __builtin_fmax(a, b); }\n"
     "DEVICE double fmin(double a, double b) { return __builtin_fmin(a, b); }\n"
     "DEVICE double fabs(double x) { return __builtin_fabs(x); }\n"
     "DEVICE double floor(double x) { return __builtin_floor(x); }\n"},
    {"fmaf|fma", "",
     "DEVICE float fmaf(float a, float b, float c)\n"
     "{\n"
     "    return __builtin_fmaf(a, b, c);\n"
     "}\n"
     "DEVICE double fma(double a, double b, double c)\n"
     "{\n"
     "    return __builtin_fma(a, b, c);\n"
     "}\n"},
    {"ceilf|truncf|rintf|roundf|sqrtf|rsqrtf", "",
     "DEVICE float ceilf(float x) { return __builtin_ceilf(x); }\n"
     "DEVICE float truncf(float x) { return __builtin_truncf(x); }\n"
     "DEVICE float rintf(float x) { return __builtin_rintf(x); }\n"
     "DEVICE float roundf(float x) { return __builtin_roundf(x); }\n"
     "DEVICE float sqrtf(float x) { return __builtin_sqrtf(x); }\n"
     "DEVICE float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }\n"},
    {"ceil|trunc|rint|round|sqrt|rsqrt", "",
     "DEVICE double ceil(double x) { return __builtin_ceil(x); }\n"
     "DEVICE double trunc(double x) { return __builtin_trunc(x); }\n"
     "DEVICE double rint(double x) { return __builtin_rint(x); }\n"
     "DEVICE double round(double x) { return __builtin_round(x); }\n"
     "DEVICE double sqrt(double x) { return __builtin_sqrt(x); }\n"
     "DEVICE double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }\n"},
    {"expf|exp2f|exp10f|logf|log2f|log10f|sigmoid", "",
     "DEVICE float expf(float x) { return __builtin_expf(x); }\n"
     "DEVICE float exp2f(float x) { return __builtin_exp2f(x); }\n"
     "DEVICE float exp10f(float x) { return __builtin_exp10f(x); }\n"
     "DEVICE float logf(float x) { return __builtin_logf(x); }\n"
     "DEVICE float log2f(float x) { return __builtin_log2f(x); }\n"
     "DEVICE float log10f(float x) { return __builtin_log10f(x); }\n"},
};

static const GpuDialect hip = {
    .title = "HIP",
    .vendor = VENDOR_AMD,
    .kernel = "extern \"C\" __attribute__((global)) void",
    .bounds = {"__attribute__((amdgpu_flat_work_group_size(1, ", "", ")))"},
    .waves = "__attribute__((amdgpu_waves_per_eu",
    .thread = {"thread_x()", "thread_y()", "thread_z()"},
    .block = {"block_x()", "block_y()", "block_z()"},
    .blocks = {"blocks_x()", "blocks_y()", "blocks_z()"},
    .device = "static __attribute__((device, always_inline))",
    .constant = "static __attribute__((constant)) const",
    .arena = "__attribute__((shared, aligned(1024))) unsigned char arena",
    .fixed_arena = true,
    .barrier = "sync_block()",
    .trap = "__builtin_trap()",
    .parts = parts,
    .part_count = countof(parts),
    .math = gpu_hip_math,
};

const GpuDialect *gpu_dialect_hip(void)
{
    return &hip;
}

const GpuDialect *gpu_dialect_of(const Device *d)
{
    return d->vendor == VENDOR_AMD ? gpu_dialect_hip() : gpu_dialect_cuda();
}
