// dialect_cuda.c - CUDA as NVRTC and nvcc read it.
#include "gpu_backend/dialect.h"

// One instruction each, or what the compiler knows without a header.
static const GpuPart parts[] = {
    {"bits_f32|f32_bits", "",
     "DEVICE float bits_f32(u32 x) { return __uint_as_float(x); }\n"
     "DEVICE u32 f32_bits(float x) { return __float_as_uint(x); }\n"},
    {"bits_f64|f64_bits", "",
     "DEVICE double bits_f64(u64 x) { return __longlong_as_double((i64)x); }\n"
     "DEVICE u64 f64_bits(double x) { return (u64)__double_as_longlong(x); }\n"},
    {"f16", "",
     "DEVICE f16 to_f16(float x)\n"
     "{\n"
     "    f16 r;\n"
     "    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(r.bits) : \"f\"(x));\n"
     "    return r;\n"
     "}\n"
     "DEVICE float f32(f16 x)\n"
     "{\n"
     "    float r;\n"
     "    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(r) : \"h\"(x.bits));\n"
     "    return r;\n"
     "}\n"},
    {"exchange_xor|exchange_up|exchange_down|exchange", "",
     "template <typename T> DEVICE T exchange_xor(T x, int mask, int width)\n"
     "{\n"
     "    return __shfl_xor_sync(0xffffffffu, x, mask, width);\n"
     "}\n"
     "template <typename T> DEVICE T exchange_up(T x, int by, int width)\n"
     "{\n"
     "    return __shfl_up_sync(0xffffffffu, x, by, width);\n"
     "}\n"
     "template <typename T> DEVICE T exchange_down(T x, int by, int width)\n"
     "{\n"
     "    return __shfl_down_sync(0xffffffffu, x, by, width);\n"
     "}\n"
     "template <typename T> DEVICE T exchange(T x, int lane, int width)\n"
     "{\n"
     "    return __shfl_sync(0xffffffffu, x, lane, width);\n"
     "}\n"},
    {"ballot|any_lane|all_lanes", "",
     "DEVICE u32 ballot(bool x) { return __ballot_sync(0xffffffffu, x); }\n"
     "DEVICE bool any_lane(bool x) { return __any_sync(0xffffffffu, x); }\n"
     "DEVICE bool all_lanes(bool x) { return __all_sync(0xffffffffu, x); }\n"},
    {"block_count|block_and|block_or", "",
     "DEVICE int block_count(bool x) { return __syncthreads_count(x); }\n"
     "DEVICE bool block_and(bool x) { return __syncthreads_and(x); }\n"
     "DEVICE bool block_or(bool x) { return __syncthreads_or(x); }\n"},
    {"sync_warp", "",
     "DEVICE void sync_warp() { __syncwarp(); }\n"},
    {"named_barrier", "",
     "DEVICE void named_barrier(int id, int threads)\n"
     "{\n"
     "    asm volatile(\"bar.sync %0, %1;\" :: \"r\"(id), \"r\"(threads) : \"memory\");\n"
     "}\n"},
    {"shared_address", "",
     "DEVICE u32 shared_address(const void *p)\n"
     "{\n"
     "    return (u32)__cvta_generic_to_shared(p);\n"
     "}\n"},
    {"ldmatrix_x4|ldmatrix_x4_trans", "",
     "DEVICE void ldmatrix_x4(u32 *r, const void *p)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\"\n"
     "        : \"=r\"(r[0]), \"=r\"(r[1]), \"=r\"(r[2]), \"=r\"(r[3])\n"
     "        : \"r\"(shared_address(p)) : \"memory\");\n"
     "}\n"
     "DEVICE void ldmatrix_x4_trans(u32 *r, const void *p)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, \"\n"
     "        \"[%4];\"\n"
     "        : \"=r\"(r[0]), \"=r\"(r[1]), \"=r\"(r[2]), \"=r\"(r[3])\n"
     "        : \"r\"(shared_address(p)) : \"memory\");\n"
     "}\n"},
    {"ldmatrix_x2|ldmatrix_x2_trans", "",
     "DEVICE void ldmatrix_x2(u32 *r, const void *p)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];\"\n"
     "        : \"=r\"(r[0]), \"=r\"(r[1]) : \"r\"(shared_address(p)) : \"memory\");\n"
     "}\n"
     "DEVICE void ldmatrix_x2_trans(u32 *r, const void *p)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];\"\n"
     "        : \"=r\"(r[0]), \"=r\"(r[1]) : \"r\"(shared_address(p)) : \"memory\");\n"
     "}\n"},
    {"mma_f16_f32", "",
     "DEVICE void mma_f16_f32(float *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 \"\n"
     "        \"{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n"
     "        : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3])\n"
     "        : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));\n"
     "}\n"},
    {"mma_bf16_f32", "",
     "DEVICE void mma_bf16_f32(float *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 \"\n"
     "        \"{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n"
     "        : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3])\n"
     "        : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));\n"
     "}\n"},
    {"mma_f16_f16", "",
     "DEVICE void mma_f16_f16(f16 *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    u32 c[2] = {d[0].bits | (u32)d[1].bits << 16,\n"
     "                d[2].bits | (u32)d[3].bits << 16};\n"
     "    asm volatile(\n"
     "        \"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 \"\n"
     "        \"{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};\"\n"
     "        : \"+r\"(c[0]), \"+r\"(c[1])\n"
     "        : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));\n"
     "    d[0].bits = (u16)c[0], d[1].bits = (u16)(c[0] >> 16);\n"
     "    d[2].bits = (u16)c[1], d[3].bits = (u16)(c[1] >> 16);\n"
     "}\n"},
    {"mma_tf32_f32", "",
     "DEVICE void mma_tf32_f32(float *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 \"\n"
     "        \"{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n"
     "        : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3])\n"
     "        : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));\n"
     "}\n"},
    {"mma_e4m3_f32", "",
     "DEVICE void mma_e4m3_f32(float *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 \"\n"
     "        \"{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n"
     "        : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3])\n"
     "        : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));\n"
     "}\n"},
    {"mma_e5m2_f32", "",
     "DEVICE void mma_e5m2_f32(float *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 \"\n"
     "        \"{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n"
     "        : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3])\n"
     "        : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));\n"
     "}\n"},
    {"mma_e4m3_e5m2_f32", "",
     "DEVICE void mma_e4m3_e5m2_f32(float *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 \"\n"
     "        \"{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n"
     "        : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3])\n"
     "        : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));\n"
     "}\n"},
    {"mma_e5m2_e4m3_f32", "",
     "DEVICE void mma_e5m2_e4m3_f32(float *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32 \"\n"
     "        \"{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n"
     "        : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3])\n"
     "        : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));\n"
     "}\n"},
    {"mma_i8_int", "",
     "DEVICE void mma_i8_int(int *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 \"\n"
     "        \"{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n"
     "        : \"+r\"(d[0]), \"+r\"(d[1]), \"+r\"(d[2]), \"+r\"(d[3])\n"
     "        : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));\n"
     "}\n"},
    {"mma_u8_int", "",
     "DEVICE void mma_u8_int(int *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 \"\n"
     "        \"{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n"
     "        : \"+r\"(d[0]), \"+r\"(d[1]), \"+r\"(d[2]), \"+r\"(d[3])\n"
     "        : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));\n"
     "}\n"},
    {"mma_i8_u8_int", "",
     "DEVICE void mma_i8_u8_int(int *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 \"\n"
     "        \"{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n"
     "        : \"+r\"(d[0]), \"+r\"(d[1]), \"+r\"(d[2]), \"+r\"(d[3])\n"
     "        : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));\n"
     "}\n"},
    {"mma_u8_i8_int", "",
     "DEVICE void mma_u8_i8_int(int *d, const u32 *a, const u32 *b)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 \"\n"
     "        \"{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n"
     "        : \"+r\"(d[0]), \"+r\"(d[1]), \"+r\"(d[2]), \"+r\"(d[3])\n"
     "        : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));\n"
     "}\n"},
    {"cp_async", "",
     "template <int n> DEVICE void cp_async(void *to, const void *from)\n"
     "{\n"
     "    asm volatile(\"cp.async.ca.shared.global [%0], [%1], %2;\"\n"
     "                 :: \"r\"(shared_address(to)), \"l\"(from), \"n\"(n) : \"memory\");\n"
     "}\n"
     "template <> DEVICE void cp_async<16>(void *to, const void *from)\n"
     "{\n"
     "    asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\"\n"
     "                 :: \"r\"(shared_address(to)), \"l\"(from) : \"memory\");\n"
     "}\n"},
    {"cp_async_commit|cp_async_wait", "",
     "DEVICE void cp_async_commit()\n"
     "{\n"
     "    asm volatile(\"cp.async.commit_group;\" ::: \"memory\");\n"
     "}\n"
     "template <int n> DEVICE void cp_async_wait()\n"
     "{\n"
     "    asm volatile(\"cp.async.wait_group %0;\" :: \"n\"(n) : \"memory\");\n"
     "}\n"},
};

static const GpuDialect cuda = {
    .name = "cuda",
    .title = "CUDA",
    .kernel = "extern \"C\" __global__ void",
    .bounds = "__launch_bounds__",
    .device = "static __device__ __forceinline__",
    .constant = "static __device__ const",
    .arena = "extern __shared__ __align__(1024) unsigned char arena[];",
    .barrier = "__syncthreads()",
    .trap = "__trap()",
    .has_ldmatrix = true,
    .parts = parts,
    .part_count = countof(parts),
};

const GpuDialect *gpu_dialect_cuda(void)
{
    return &cuda;
}

const char *gpu_dialect_name(const GpuDialect *d)
{
    return d->name;
}
