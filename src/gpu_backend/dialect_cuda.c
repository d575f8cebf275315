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
    {"f16|to_f16", "",
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
    {"join|pack", "",
     "DEVICE u32 join(u16 low, u16 high)\n"
     "{\n"
     "    u32 r;\n"
     "    asm(\"mov.b32 %0, {%1, %2};\" : \"=r\"(r) : \"h\"(low), \"h\"(high));\n"
     "    return r;\n"
     "}\n"},
    {"fast_exp2", "",
     "DEVICE float fast_exp2(float x)\n"
     "{\n"
     "    float r;\n"
     "    asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(r) : \"f\"(x));\n"
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
    {"sync_grid", "",
     "// One block adds what makes the top bit change once all have added theirs.\n"
     "static __device__ u32 grid_arrivals;\n"
     "DEVICE void sync_grid()\n"
     "{\n"
     "    __syncthreads();\n"
     "    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {\n"
     "        bool first = blockIdx.x + blockIdx.y + blockIdx.z == 0;\n"
     "        u32 blocks = gridDim.x * gridDim.y * gridDim.z;\n"
     "        __threadfence();\n"
     "        u32 old = atomicAdd(&grid_arrivals, first ? 0x80000001u - blocks : 1u);\n"
     "        while (!((old ^ *(volatile u32 *)&grid_arrivals) & 0x80000000u))\n"
     "            ;\n"
     "        __threadfence();\n"
     "    }\n"
     "    __syncthreads();\n"
     "}\n"},
    {"sync_warp", "",
     "DEVICE void sync_warp() { __syncwarp(); }\n"},
    {"named_barrier", "",
     "DEVICE void named_barrier(int id, int threads)\n"
     "{\n"
     "    asm volatile(\"bar.sync %0, %1;\" :: \"r\"(id), \"r\"(threads) : \"memory\");\n"
     "}\n"},
    {"named_arrive", "",
     "DEVICE void named_arrive(int id, int threads)\n"
     "{\n"
     "    asm volatile(\"bar.arrive %0, %1;\" :: \"r\"(id), \"r\"(threads) : \"memory\");\n"
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
    {"TensorMap", "",
     "struct alignas(64) TensorMap { u64 words[16]; };\n"},
    {"barrier_init|barrier_fence|barrier_expect|barrier_arrive|barrier_wait", "",
     "DEVICE void barrier_init(u64 *b, int arrivals)\n"
     "{\n"
     "    asm volatile(\"mbarrier.init.shared::cta.b64 [%0], %1;\"\n"
     "                 :: \"r\"(shared_address(b)), \"r\"(arrivals));\n"
     "}\n"
     "DEVICE void barrier_fence()\n"
     "{\n"
     "    asm volatile(\"fence.mbarrier_init.release.cluster;\");\n"
     "}\n"
     "DEVICE void barrier_expect(u64 *b, int bytes)\n"
     "{\n"
     "    asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\"\n"
     "                 :: \"r\"(shared_address(b)), \"r\"(bytes) : \"memory\");\n"
     "}\n"
     "DEVICE void barrier_arrive(u64 *b)\n"
     "{\n"
     "    asm volatile(\"mbarrier.arrive.shared::cta.b64 _, [%0];\"\n"
     "                 :: \"r\"(shared_address(b)) : \"memory\");\n"
     "}\n"
     "// Until the phase of this parity has ended.\n"
     "DEVICE void barrier_wait(u64 *b, u32 parity)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"{ .reg .pred p; \"\n"
     "        \"again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; \"\n"
     "        \"@!p bra again; }\"\n"
     "        :: \"r\"(shared_address(b)), \"r\"(parity) : \"memory\");\n"
     "}\n"},
    {"fence_async", "",
     "DEVICE void fence_async()\n"
     "{\n"
     "    asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n"
     "}\n"},
    {"registers_fewer|registers_more", "",
     "template <int n> DEVICE void registers_fewer()\n"
     "{\n"
     "    asm volatile(\"setmaxnreg.dec.sync.aligned.u32 %0;\" :: \"n\"(n));\n"
     "}\n"
     "template <int n> DEVICE void registers_more()\n"
     "{\n"
     "    asm volatile(\"setmaxnreg.inc.sync.aligned.u32 %0;\" :: \"n\"(n));\n"
     "}\n"},
    {"tma_load_1d", "",
     "DEVICE void tma_load_1d(void *to, const TensorMap *m, u64 *full, int c0)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"cp.async.bulk.tensor.1d.shared::cluster.global.\"\n"
     "        \"mbarrier::complete_tx::bytes [%0], [%1, {%3}], [%2];\"\n"
     "        :: \"r\"(shared_address(to)), \"l\"(m), \"r\"(shared_address(full))\n"
     "           , \"r\"(c0) : \"memory\");\n"
     "}\n"},
    {"tma_load_2d", "",
     "DEVICE void tma_load_2d(void *to, const TensorMap *m, u64 *full, int c0, int c1)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"cp.async.bulk.tensor.2d.shared::cluster.global.\"\n"
     "        \"mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];\"\n"
     "        :: \"r\"(shared_address(to)), \"l\"(m), \"r\"(shared_address(full))\n"
     "           , \"r\"(c0), \"r\"(c1) : \"memory\");\n"
     "}\n"},
    {"tma_load_3d", "",
     "DEVICE void tma_load_3d(void *to, const TensorMap *m, u64 *full, int c0, int c1, int c2)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"cp.async.bulk.tensor.3d.shared::cluster.global.\"\n"
     "        \"mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];\"\n"
     "        :: \"r\"(shared_address(to)), \"l\"(m), \"r\"(shared_address(full))\n"
     "           , \"r\"(c0), \"r\"(c1), \"r\"(c2) : \"memory\");\n"
     "}\n"},
    {"tma_load_4d", "",
     "DEVICE void tma_load_4d(void *to, const TensorMap *m, u64 *full, int c0, int c1, int c2, int c3)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"cp.async.bulk.tensor.4d.shared::cluster.global.\"\n"
     "        \"mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2];\"\n"
     "        :: \"r\"(shared_address(to)), \"l\"(m), \"r\"(shared_address(full))\n"
     "           , \"r\"(c0), \"r\"(c1), \"r\"(c2), \"r\"(c3) : \"memory\");\n"
     "}\n"},
    {"tma_load_5d", "",
     "DEVICE void tma_load_5d(void *to, const TensorMap *m, u64 *full, int c0, int c1, int c2, int c3, int c4)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"cp.async.bulk.tensor.5d.shared::cluster.global.\"\n"
     "        \"mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6, %7}], [%2];\"\n"
     "        :: \"r\"(shared_address(to)), \"l\"(m), \"r\"(shared_address(full))\n"
     "           , \"r\"(c0), \"r\"(c1), \"r\"(c2), \"r\"(c3), \"r\"(c4) : \"memory\");\n"
     "}\n"},
    {"tma_store_1d", "",
     "DEVICE void tma_store_1d(const TensorMap *m, const void *from, int c0)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"cp.async.bulk.tensor.1d.global.shared::cta.bulk_group \"\n"
     "        \"[%0, {%2}], [%1];\"\n"
     "        :: \"l\"(m), \"r\"(shared_address(from))\n"
     "           , \"r\"(c0) : \"memory\");\n"
     "}\n"},
    {"tma_store_2d", "",
     "DEVICE void tma_store_2d(const TensorMap *m, const void *from, int c0, int c1)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"cp.async.bulk.tensor.2d.global.shared::cta.bulk_group \"\n"
     "        \"[%0, {%2, %3}], [%1];\"\n"
     "        :: \"l\"(m), \"r\"(shared_address(from))\n"
     "           , \"r\"(c0), \"r\"(c1) : \"memory\");\n"
     "}\n"},
    {"tma_store_3d", "",
     "DEVICE void tma_store_3d(const TensorMap *m, const void *from, int c0, int c1, int c2)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"cp.async.bulk.tensor.3d.global.shared::cta.bulk_group \"\n"
     "        \"[%0, {%2, %3, %4}], [%1];\"\n"
     "        :: \"l\"(m), \"r\"(shared_address(from))\n"
     "           , \"r\"(c0), \"r\"(c1), \"r\"(c2) : \"memory\");\n"
     "}\n"},
    {"tma_store_4d", "",
     "DEVICE void tma_store_4d(const TensorMap *m, const void *from, int c0, int c1, int c2, int c3)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"cp.async.bulk.tensor.4d.global.shared::cta.bulk_group \"\n"
     "        \"[%0, {%2, %3, %4, %5}], [%1];\"\n"
     "        :: \"l\"(m), \"r\"(shared_address(from))\n"
     "           , \"r\"(c0), \"r\"(c1), \"r\"(c2), \"r\"(c3) : \"memory\");\n"
     "}\n"},
    {"tma_store_5d", "",
     "DEVICE void tma_store_5d(const TensorMap *m, const void *from, int c0, int c1, int c2, int c3, int c4)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"cp.async.bulk.tensor.5d.global.shared::cta.bulk_group \"\n"
     "        \"[%0, {%2, %3, %4, %5, %6}], [%1];\"\n"
     "        :: \"l\"(m), \"r\"(shared_address(from))\n"
     "           , \"r\"(c0), \"r\"(c1), \"r\"(c2), \"r\"(c3), \"r\"(c4) : \"memory\");\n"
     "}\n"},
    {"bulk_load", "",
     "DEVICE void bulk_load(void *to, const void *from, u64 *full, int bytes)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"cp.async.bulk.shared::cluster.global.\"\n"
     "        \"mbarrier::complete_tx::bytes [%0], [%1], %3, [%2];\"\n"
     "        :: \"r\"(shared_address(to)), \"l\"(from), \"r\"(shared_address(full))\n"
     "           , \"r\"(bytes) : \"memory\");\n"
     "}\n"},
    {"bulk_store", "",
     "DEVICE void bulk_store(void *to, const void *from, int bytes)\n"
     "{\n"
     "    asm volatile(\n"
     "        \"cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\"\n"
     "        :: \"l\"(to), \"r\"(shared_address(from)), \"r\"(bytes) : \"memory\");\n"
     "}\n"},
    {"tma_store_wait", "",
     "// Until the thread's stores are made.\n"
     "DEVICE void tma_store_wait()\n"
     "{\n"
     "    asm volatile(\"cp.async.bulk.commit_group;\" ::: \"memory\");\n"
     "    asm volatile(\"cp.async.bulk.wait_group 0;\" ::: \"memory\");\n"
     "}\n"},
    {"stay_behind", "",
     "// Loads that follow are not begun before, where they would take registers.\n"
     "DEVICE void stay_behind() { asm volatile(\"\" ::: \"memory\"); }\n"},
    {"anew", "",
     "// Addresses that are made of it are calculated anew, where they would take\n"
     "// registers over a whole loop.\n"
     "DEVICE int anew(int x)\n"
     "{\n"
     "    asm volatile(\"\" : \"+r\"(x));\n"
     "    return x;\n"
     "}\n"},
    {"keep", "",
     "// Computed by now: no wait that follows is moved before it, over a branch\n"
     "// that a NaN of these bits would take.\n"
     "template <int n> DEVICE void keep(float (&x)[n])\n"
     "{\n"
     "    #pragma unroll\n"
     "    for (int i = 0; i < n; i++)\n"
     "        asm volatile(\"\" : \"+f\"(x[i]) :: \"memory\");\n"
     "    if (__float_as_uint(x[n - 1]) == 0xffffffffu)\n"
     "        asm volatile(\"nanosleep.u32 1;\");\n"
     "}\n"},
    {"matrix_descriptor", "",
     "// Of an operand in shared memory: bytes from panel to panel, bytes from 8\n"
     "// rows to the next, and how chunks are mixed.\n"
     "DEVICE u64 matrix_descriptor(const void *p, u32 panel, u32 rows, u64 mode)\n"
     "{\n"
     "    return (u64)((shared_address(p) & 0x3ffff) >> 4) | (u64)(panel >> 4) << 16 |\n"
     "           (u64)(rows >> 4) << 32 | mode << 62;\n"
     "}\n"},
    {"wgmma_fence|wgmma_commit|wgmma_wait", "",
     "DEVICE void wgmma_fence()\n"
     "{\n"
     "    asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n"
     "}\n"
     "DEVICE void wgmma_commit()\n"
     "{\n"
     "    asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");\n"
     "}\n"
     "template <int n> DEVICE void wgmma_wait()\n"
     "{\n"
     "    asm volatile(\"wgmma.wait_group.sync.aligned %0;\" :: \"n\"(n) : \"memory\");\n"
     "}\n"},
    {"cp_async", "",
     "// n bytes, or zeros where there is nothing; 16 pass by L1.\n"
     "template <int n>\n"
     "DEVICE void cp_async(void *to, const void *from, bool there)\n"
     "{\n"
     "    if constexpr (n == 16)\n"
     "        asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16, %2;\"\n"
     "                     :: \"r\"(shared_address(to)), \"l\"(from),\n"
     "                        \"r\"(there ? n : 0) : \"memory\");\n"
     "    else\n"
     "        asm volatile(\"cp.async.ca.shared.global [%0], [%1], %2, %3;\"\n"
     "                     :: \"r\"(shared_address(to)), \"l\"(from), \"n\"(n),\n"
     "                        \"r\"(there ? n : 0) : \"memory\");\n"
     "}\n"},
    {"cp_async_arrive", "",
     "// Arrives once the copies that the thread has started are done.\n"
     "DEVICE void cp_async_arrive(u64 *b)\n"
     "{\n"
     "    asm volatile(\"cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];\"\n"
     "                 :: \"r\"(shared_address(b)) : \"memory\");\n"
     "}\n"},
    {"cp_async_commit|cp_async_wait|cp_async_wait_all", "",
     "DEVICE void cp_async_commit()\n"
     "{\n"
     "    asm volatile(\"cp.async.commit_group;\" ::: \"memory\");\n"
     "}\n"
     "DEVICE void cp_async_wait_all()\n"
     "{\n"
     "    asm volatile(\"cp.async.wait_all;\" ::: \"memory\");\n"
     "}\n"
     "template <int n> DEVICE void cp_async_wait()\n"
     "{\n"
     "    asm volatile(\"cp.async.wait_group %0;\" :: \"n\"(n) : \"memory\");\n"
     "}\n"},
};

static const GpuDialect cuda = {
    .title = "CUDA",
    .vendor = VENDOR_NVIDIA,
    .kernel = "extern \"C\" __global__ void",
    .bounds = {"__launch_bounds__(", ", 1", ")"},
    .thread = {"threadIdx.x", "threadIdx.y", "threadIdx.z"},
    .block = {"blockIdx.x", "blockIdx.y", "blockIdx.z"},
    .blocks = {"gridDim.x", "gridDim.y", "gridDim.z"},
    .device = "static __device__ __forceinline__",
    .constant = "static __device__ const",
    .arena = "extern __shared__ __align__(1024) unsigned char arena",
    .barrier = "__syncthreads()",
    .trap = "__trap()",
    .has_ldmatrix = true,
    .has_cp_async = true,
    .has_mbarrier = true,
    .has_grid_sync = true,
    .parts = parts,
    .part_count = countof(parts),
};

const GpuDialect *gpu_dialect_cuda(void)
{
    return &cuda;
}
