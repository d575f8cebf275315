// occupancy.c - resident blocks of an SM or CU.
#include "device/occupancy.h"

#include <limits.h>

enum { ACCUM_OFFSET = 4 };      // AGPRs begin at a multiple of so many VGPRs

const char *occ_limit_name(OccLimit l)
{
    static const char *const name[OCC_LIMIT_COUNT] = {
        [OCC_THREADS] = "threads",        [OCC_BLOCKS] = "blocks",
        [OCC_SMEM] = "shared memory",     [OCC_REGISTERS] = "registers",
        [OCC_BARRIERS] = "named barriers",
    };

    return name[l];
}

static int64_t round_up(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

static int at_least_0(int n)
{
    return n > 0 ? n : 0;
}

// ---- one limit each ------------------------------------------------------

static int by_threads(const Device *d, int warps, int threads)
{
    return threads > d->threads_block ? 0 : (int)d->warps_sm / warps;
}

// On AMD a work-group of one wave needs no barrier, of which a CU has
// blocks_sm.
static int by_blocks(const Device *d, int warps)
{
    return d->vendor == VENDOR_AMD && warps == 1 ? (int)d->warps_sm
                                                 : (int)d->blocks_sm;
}

static int by_smem(const Device *d, int64_t smem)
{
    int64_t bytes = round_up(smem + d->smem_reserved, d->smem_granule);

    if (smem > d->smem_block || bytes > d->smem_block + d->smem_reserved)
        return 0;
    return bytes ? (int)(d->smem_sm / bytes) : INT_MAX;
}

// Registers of a lane, as they are given out.
static int64_t given_registers(const Device *d, const BlockNeeds *b)
{
    int64_t own = at_least_0(b->registers), acc = at_least_0(b->acc_registers);

    if (d->vendor == VENDOR_AMD && acc)
        own = round_up(own, ACCUM_OFFSET) + acc;
    return round_up(own, d->regs_granule);
}

// Warps are dealt over the partitions, each with registers of its own. NVIDIA
// checks a block as if it took as many warps in each.
static int by_registers(const Device *d, const BlockNeeds *b, int warps)
{
    int64_t regs = given_registers(d, b);
    int64_t warp = regs * d->warp_lanes, each = d->regs_sm / d->partitions;
    int64_t slots;

    if (!regs)
        return INT_MAX;
    if (b->registers + (int64_t)at_least_0(b->acc_registers) > d->regs_thread)
        return 0;
    if (d->vendor == VENDOR_NVIDIA &&
        warp * round_up(warps, d->partitions) > d->regs_sm)
        return 0;
    slots = each / warp;
    if (slots > d->warps_sm / d->partitions && d->vendor == VENDOR_AMD)
        slots = d->warps_sm / d->partitions;
    return (int)(slots * d->partitions / warps);
}

static int by_barriers(const Device *d, int barriers)
{
    if (d->arch != ARCH_SM90 || barriers <= 0)
        return INT_MAX;
    return (int)(2 * d->blocks_sm) / barriers;
}

// ---- all of them ---------------------------------------------------------

Occupancy device_occupancy(const Device *d, const BlockNeeds *b)
{
    int warps = device_warps(d, b->threads > 0 ? b->threads : 1);
    Occupancy o = {.blocks = INT_MAX};

    o.limit[OCC_THREADS] = by_threads(d, warps, b->threads);
    o.limit[OCC_BLOCKS] = by_blocks(d, warps);
    o.limit[OCC_SMEM] = by_smem(d, b->smem > 0 ? b->smem : 0);
    o.limit[OCC_REGISTERS] = by_registers(d, b, warps);
    o.limit[OCC_BARRIERS] = by_barriers(d, b->barriers);
    for (int l = 0; l < OCC_LIMIT_COUNT; l++)
        if (o.limit[l] < o.blocks)
            o.blocks = o.limit[l];
    for (int l = 0; l < OCC_LIMIT_COUNT; l++)
        o.binding |= (unsigned)(o.limit[l] == o.blocks) << l;
    o.warps = o.blocks * warps;
    return o;
}

int64_t occupancy_smem_for(const Device *d, int blocks)
{
    int64_t bytes;

    if (blocks < 1)
        return -1;
    bytes = d->smem_sm / blocks / d->smem_granule * d->smem_granule -
            d->smem_reserved;
    if (bytes > d->smem_block)
        bytes = d->smem_block;
    return bytes >= 0 ? bytes : -1;
}

int occupancy_registers_for(const Device *d, int threads, int blocks)
{
    BlockNeeds b = {.threads = threads, .registers = (int)d->regs_thread};

    while (b.registers > 0 &&
           by_registers(d, &b, device_warps(d, threads)) < blocks)
        b.registers--;
    return b.registers > 0 ? b.registers : -1;
}
