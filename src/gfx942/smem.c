// smem.c - scalar loads and what goes with them.
#include "gfx942/wave_int.h"

enum { STRIDE_SHIFT = 48 };

// The address, and how many bytes the buffer of s_buffer_load has.
static uint64_t base_of(Wave *w, const IsaInstr *in, uint64_t *limit)
{
    uint64_t base = scalar_get64(w, in->src[0], in);
    *limit = ~0ull;
    if (isa_info(in->op)->size[0] == 4) {
        uint32_t records = scalar_get(w, in->src[0] + 2, in);
        uint64_t stride = base >> STRIDE_SHIFT & 0x3fff;
        *limit = stride ? stride * records : records;
        base &= 0xffffffffffff;
    }
    return base;
}

static void load(Wave *w, const IsaInstr *in)
{
    int count = isa_info(in->op)->d;
    uint32_t data[16] = {0};
    uint64_t limit, base = base_of(w, in, &limit);
    uint64_t offset = (uint64_t)(int64_t)in->offset;
    if (in->has_soffset)
        offset += scalar_get(w, in->src[1], in);
    offset &= ~3ull;
    int bytes = 4 * count;
    if (limit != ~0ull && offset + bytes > limit)
        bytes = offset < limit ? (int)(limit - offset) : 0;
    const uint8_t *at = bytes ? memory_at(w, (base & ~3ull) + offset, bytes,
                                          MEMORY_READ, -1) : NULL;
    if (at)
        memcpy(data, at, bytes);
    if (in->dst + count > SCALARS)
        count = SCALARS - in->dst;
    memcpy(&w->s[in->dst], data, 4 * count);
    wait_push_scalar(w, in->dst, count);
}

void exec_smem(Wave *w, const IsaInstr *in)
{
    switch (in->op) {
    case OP_S_DCACHE_INV: case OP_S_DCACHE_WB: case OP_S_DCACHE_INV_VOL:
    case OP_S_DCACHE_WB_VOL:
        break;
    case OP_S_MEMTIME: case OP_S_MEMREALTIME:   // no clock: always 0
        scalar_put64(w, in->dst, 0);
        wait_push_scalar(w, in->dst, 2);
        break;
    default: load(w, in);
    }
}
