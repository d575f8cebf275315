// memory.c - device memory: a few regions in a wide address space.
#include "gfx942/wave_int.h"

static bool holds(const Region *r, uint64_t address, int bytes)
{
    return address - r->base <= r->bytes
           && (uint64_t)bytes <= r->bytes - (address - r->base);
}

static const Region *find(Wave *w, uint64_t address, int bytes)
{
    Group *g = w->group;
    if (g->last && address >= g->last->base && holds(g->last, address, bytes))
        return g->last;
    for (int i = 0; i < g->run->region_count; i++) {
        const Region *r = &g->run->regions[i];
        if (address >= r->base && holds(r, address, bytes)) {
            g->last = r;
            return r;
        }
    }
    return NULL;
}

uint8_t *memory_at(Wave *w, uint64_t address, int bytes, MemoryUse use,
                   int lane)
{
    const Region *r = find(w, address, bytes);
    if (!r) {
        wave_finding(w, GFX_OUT_OF_BOUNDS, lane, address);
        return NULL;
    }
    if (use == MEMORY_WRITE && !r->writable) {
        wave_finding(w, GFX_READ_ONLY, lane, address);
        return NULL;
    }
    return r->at + (address - r->base);
}

void gfx_place(GfxBuffer *buffers, int count)
{
    const uint64_t first = 0x7f0000000000, gap = 1 << 20;
    uint64_t at = first;
    for (int i = 0; i < count; i++) {
        buffers[i].address = at;
        at += (buffers[i].bytes + 2 * gap - 1) / gap * gap;
    }
}
