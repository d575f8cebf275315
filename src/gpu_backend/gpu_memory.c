// gpu_memory.c - memory of the device, between guard zones.
#include <stdlib.h>
#include <string.h>

#include "gpu_backend/gpu_int.h"

enum { GUARD_BYTE = 0xb5 };

static CudaPtr after(const GpuBuffer *b)
{
    return b->at + b->bytes;
}

static void no_memory(Gpu *g, size_t bytes, Text what)
{
    size_t unused = 0, total = 0;

    g->api.memory_info(&unused, &total);
    diag_error(g->diag, EXIT_LIMIT, (Span){0}, "gpu-memory",
               "the device has no memory for '%.*s': %.1f MiB of %.1f MiB "
               "that are free", TEXT_ARG(what), (double)bytes / 0x1p20,
               (double)unused / 0x1p20);
}

static void *here(const Gpu *g, const GpuBuffer *b)
{
    return g->executor->here(g->executor->ctx, b);
}

bool gpu_alloc(Gpu *g, size_t bytes, Text what, GpuBuffer *out)
{
    CudaPtr base = 0;

    *out = (GpuBuffer){0};
    if (g->executor)
        return g->executor->alloc(g->executor->ctx, bytes, what, out);
    CudaResult r = g->api.alloc(&base, bytes + 2 * (size_t)GPU_GUARD);
    if (r == CUDA_OUT_OF_MEMORY) {
        no_memory(g, bytes, what);
        return false;
    }
    if (!gpu_check(g, r, EXIT_LIMIT, "cannot allocate on the device"))
        return false;
    *out = (GpuBuffer){base + GPU_GUARD, bytes};
    return gpu_check(g, g->api.fill(base, GUARD_BYTE, GPU_GUARD), EXIT_LIMIT,
                     "cannot write to the device")
           && gpu_check(g, g->api.fill(after(out), GUARD_BYTE, GPU_GUARD),
                        EXIT_LIMIT, "cannot write to the device");
}

void gpu_free(Gpu *g, GpuBuffer *b)
{
    if (b->at && g->executor)
        g->executor->release(g->executor->ctx, b);
    else if (b->at && !g->hangs && !g->faulted)
        g->api.free(b->at - GPU_GUARD);
    *b = (GpuBuffer){0};
}

bool gpu_fill(Gpu *g, const GpuBuffer *b, uint8_t value)
{
    if (g->executor)
        return memset(here(g, b), value, b->bytes);
    return !b->bytes
           || gpu_check(g, g->api.fill(b->at, value, b->bytes), EXIT_LIMIT,
                        "cannot write to the device");
}

bool gpu_put(Gpu *g, const GpuBuffer *to, const void *from)
{
    if (g->executor)
        return memcpy(here(g, to), from, to->bytes);
    return !to->bytes
           || gpu_check(g, g->api.copy_in(to->at, from, to->bytes), EXIT_LIMIT,
                        "cannot copy to the device");
}

bool gpu_get(Gpu *g, void *to, const GpuBuffer *from)
{
    if (g->executor)
        return memcpy(to, here(g, from), from->bytes);
    return !from->bytes
           || gpu_check(g, g->api.copy_out(to, from->at, from->bytes),
                        EXIT_LIMIT, "cannot copy from the device");
}

bool gpu_copy(Gpu *g, const GpuBuffer *to, const GpuBuffer *from)
{
    if (g->executor)
        return memcpy(here(g, to), here(g, from), to->bytes);
    return !to->bytes
           || gpu_check(g, g->api.copy_on(to->at, from->at, to->bytes),
                        EXIT_LIMIT, "cannot copy on the device");
}

bool gpu_guards(Gpu *g, const GpuBuffer *b, bool *intact, int64_t *at)
{
    *intact = true;
    if (g->executor)                // no byte beside a buffer is mapped
        return true;
    uint8_t *zone = xmalloc(2 * (size_t)GPU_GUARD);
    bool ok = gpu_get(g, zone, &(GpuBuffer){b->at - GPU_GUARD, GPU_GUARD})
              && gpu_get(g, zone + GPU_GUARD, &(GpuBuffer){after(b),
                                                           GPU_GUARD});

    for (int64_t i = 0; ok && *intact && i < GPU_GUARD; i++) {
        bool before = zone[GPU_GUARD - 1 - i] != GUARD_BYTE;

        *intact = !before && zone[GPU_GUARD + i] == GUARD_BYTE;
        *at = before ? -1 - i : (int64_t)b->bytes + i;
    }
    free(zone);
    return ok;
}
