// check_occupancy.c - resident blocks, against NVIDIA's own calculator and what
// was measured on AMD.
#include <limits.h>
#include <string.h>

#include "device/occupancy.h"
#include "unit.h"

#if __has_include(<cuda_occupancy.h>)
#include <cuda_occupancy.h>
#define HAVE_CALCULATOR 1
#elif __has_include("/usr/local/cuda/include/cuda_occupancy.h")
#include "/usr/local/cuda/include/cuda_occupancy.h"
#define HAVE_CALCULATOR 1
#endif

// ---- NVIDIA --------------------------------------------------------------

#ifdef HAVE_CALCULATOR
enum { CONFIGURATIONS = 5000 };

static cudaOccDeviceProp properties(const Device *d)
{
    cudaOccDeviceProp p;

    memset(&p, 0, sizeof p);
    p.computeMajor = d->arch == ARCH_SM90 ? 9 : 8;
    p.maxThreadsPerBlock = 1024;
    p.maxThreadsPerMultiprocessor = 2048;
    p.regsPerBlock = p.regsPerMultiprocessor = 65536;
    p.warpSize = 32;
    p.sharedMemPerBlock = 49152;
    p.sharedMemPerMultiprocessor = d->arch == ARCH_SM90 ? 233472 : 167936;
    p.sharedMemPerBlockOptin = d->arch == ARCH_SM90 ? 232448 : 166912;
    p.reservedSharedMemPerBlock = 1024;
    p.numSms = 108;
    return p;
}

static cudaOccResult calculated(const Device *d, const BlockNeeds *b)
{
    cudaOccDeviceProp p = properties(d);
    cudaOccFuncAttributes f;
    cudaOccDeviceState state;
    cudaOccResult r;

    memset(&f, 0, sizeof f);
    memset(&state, 0, sizeof state);
    memset(&r, 0, sizeof r);
    f.maxThreadsPerBlock = INT_MAX;
    f.numRegs = b->registers;
    f.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    f.maxDynamicSharedSizeBytes = p.sharedMemPerBlockOptin;
    f.numBlockBarriers = b->barriers;
    state.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT;
    ck_assert_int_eq(cudaOccMaxActiveBlocksPerMultiprocessor(
                         &r, &p, &f, &state, b->threads, (size_t)b->smem),
                     CUDA_OCC_SUCCESS);
    return r;
}

// Xorshift.
static int random_below(uint32_t *state, int n)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return (int)(*state % (uint32_t)n);
}

static void check_one(const Device *d, const BlockNeeds *b)
{
    cudaOccResult r = calculated(d, b);
    Occupancy o = device_occupancy(d, b);

    ck_assert_msg(o.blocks == r.activeBlocksPerMultiprocessor &&
                      o.limit[OCC_REGISTERS] == r.blockLimitRegs &&
                      o.limit[OCC_SMEM] == r.blockLimitSharedMem &&
                      o.limit[OCC_THREADS] == r.blockLimitWarps &&
                      o.limit[OCC_BLOCKS] == r.blockLimitBlocks &&
                      o.limit[OCC_BARRIERS] == r.blockLimitBarriers,
                  "%s, %d threads, %d registers, %lld bytes, %d barriers: %d "
                  "blocks, the calculator says %d",
                  d->name, b->threads, b->registers, (long long)b->smem,
                  b->barriers, o.blocks, r.activeBlocksPerMultiprocessor);
}

START_TEST(nvidia_is_what_its_calculator_says)
{
    const Device *d = device_find(text_of(_i ? "a100" : "h100"));
    uint32_t state = 88172645;

    for (int i = 0; i < CONFIGURATIONS; i++) {
        BlockNeeds b = {
            .threads = 1 + random_below(&state, 1100),
            .registers = random_below(&state, 256),
            .smem = random_below(&state, i % 2 ? 240000 : 20000),
            .barriers = random_below(&state, 17),
        };

        check_one(d, &b);
    }
}
END_TEST
#endif

// ---- AMD -----------------------------------------------------------------

// Waves of a SIMD by registers: LLVM's table.
static const struct {
    int registers, waves;
} by_registers[] = {
    {1, 8},   {64, 8},  {65, 7},  {72, 7},  {73, 6},  {80, 6},  {96, 5},
    {97, 4},  {128, 4}, {129, 3}, {168, 3}, {169, 2}, {256, 2}, {257, 1},
    {512, 1},
};

START_TEST(amd_registers_are_llvms_table)
{
    const Device *d = device_find(TEXT("mi300x"));
    BlockNeeds b = {.threads = 256, .registers = by_registers[_i].registers};

    if (b.registers > 256) {
        b.acc_registers = b.registers - 256;
        b.registers = 256;
    }
    ck_assert_int_eq(device_occupancy(d, &b).limit[OCC_REGISTERS],
                     by_registers[_i].waves);
}
END_TEST

// Waves of a CU as rocprofiler-compute's documentation measured them on an
// MI250, whose registers and LDS are shared out like the MI300X's.
static const struct {
    BlockNeeds needs;
    int waves;
    OccLimit limit;
} measured[] = {
    {{256, 124, 4, 0, 0}, 16, OCC_REGISTERS},   // 1661 of 3328
    {{256, 122, 4, 0, 0}, 16, OCC_REGISTERS},   // AGPRs begin at 124
    {{256, 16, 0, 65536, 0}, 4, OCC_SMEM},      // 415.5 of 3328
    {{256, 64, 0, 0, 0}, 32, OCC_THREADS},      // 3291.8 of 3328
};

START_TEST(amd_is_what_was_measured)
{
    const Device *d = device_find(TEXT("mi300x"));
    Occupancy o = device_occupancy(d, &measured[_i].needs);

    ck_assert_int_eq(o.warps, measured[_i].waves);
    ck_assert(o.binding >> measured[_i].limit & 1);
}
END_TEST

static int blocks_of(const Device *d, int threads)
{
    BlockNeeds b = {.threads = threads};

    return device_occupancy(d, &b).blocks;
}

// 12 work-groups of 12,800 bytes fill 160 KiB in units of 1,280; with one byte
// more there are 11. 16 barriers, but a group of one wave takes none.
START_TEST(amd_granules_and_slots)
{
    const Device *new = device_find(TEXT("mi355x"));
    const Device *old = device_find(TEXT("mi300x"));
    BlockNeeds b = {.threads = 64, .smem = 12800};

    ck_assert_int_eq(device_occupancy(new, &b).blocks, 12);
    b.smem++;
    ck_assert_int_eq(device_occupancy(new, &b).blocks, 11);
    ck_assert_int_eq(blocks_of(old, 64), 32);
    ck_assert_int_eq(blocks_of(old, 128), 16);
    ck_assert_int_eq(blocks_of(old, 1024), 2);
    ck_assert_int_eq(
        device_occupancy(old, &(BlockNeeds){256, .smem = 65537}).blocks, 0);
}
END_TEST

// ---- what would let one more in ------------------------------------------

START_TEST(one_more_block_fits_exactly)
{
    const Device *d = device_at(_i);

    for (int threads = 64; threads <= 1024; threads *= 2)
        for (int blocks = 1; blocks <= 8; blocks++) {
            BlockNeeds b = {.threads = threads};
            int64_t smem = occupancy_smem_for(d, blocks);
            int regs = occupancy_registers_for(d, threads, blocks);

            b.smem = smem;
            ck_assert_int_ge(device_occupancy(d, &b).limit[OCC_SMEM], blocks);
            b.smem++;
            ck_assert_int_lt(device_occupancy(d, &b).limit[OCC_SMEM], blocks);
            if (regs < 0)
                continue;
            b.registers = regs;
            ck_assert_int_ge(device_occupancy(d, &b).limit[OCC_REGISTERS],
                             blocks);
            b.registers++;
            ck_assert(b.registers > d->regs_thread ||
                      device_occupancy(d, &b).limit[OCC_REGISTERS] < blocks);
        }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("occupancy");
    TCase *t = tcase_create("occupancy");

#ifdef HAVE_CALCULATOR
    tcase_add_loop_test(t, nvidia_is_what_its_calculator_says, 0, 2);
#endif
    tcase_add_loop_test(t, amd_registers_are_llvms_table, 0,
                        (int)countof(by_registers));
    tcase_add_loop_test(t, amd_is_what_was_measured, 0,
                        (int)countof(measured));
    tcase_add_test(t, amd_granules_and_slots);
    tcase_add_loop_test(t, one_more_block_fits_exactly, 0, device_count());
    suite_add_tcase(s, t);
    return unit_run(s);
}
