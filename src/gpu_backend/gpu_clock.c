// gpu_clock.c - clocks and load, from NVIDIA's management library if it is
// there. What it does not say stays unknown; nothing here is an error.
#include <dlfcn.h>

#include "gpu_backend/gpu_int.h"

enum { CLOCK_SM = 1 };

static void clock_open(GpuClock *c, const char *bus)
{
    int (*init)(void);
    int (*find)(const char *bus, void **device);

    if (c->tried)
        return;
    c->tried = true;
    c->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!c->library)
        return;
    *(void **)&init = dlsym(c->library, "nvmlInit_v2");
    *(void **)&find = dlsym(c->library, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&c->clock = dlsym(c->library, "nvmlDeviceGetClockInfo");
    *(void **)&c->reasons = dlsym(c->library,
                                  "nvmlDeviceGetCurrentClocksThrottleReasons");
    *(void **)&c->busy = dlsym(c->library, "nvmlDeviceGetUtilizationRates");
    *(void **)&c->shutdown = dlsym(c->library, "nvmlShutdown");
    if (!init || !find || !c->shutdown || init()) {
        c->shutdown = NULL;
        return;
    }
    if (find(bus, &c->device))
        c->device = NULL;
}

void clock_close(GpuClock *c)
{
    if (c->shutdown)
        c->shutdown();
    if (c->library)
        dlclose(c->library);
    *c = (GpuClock){0};
}

int gpu_clock(Gpu *g, const char **slowed)
{
    static const struct {
        unsigned long long bits;
        const char *words;
    } reasons[] = {
        {0x4 | 0x80, "power"}, {0x8 | 0x20 | 0x40, "heat"},
        {0x2, "a clock limit that was set"},
    };
    const GpuClock *c = &g->clock;
    unsigned long long bits = 0;
    unsigned mhz = 0;

    *slowed = NULL;
    clock_open(&g->clock, g->info.bus);
    if (!c->device || !c->clock || c->clock(c->device, CLOCK_SM, &mhz))
        return 0;
    if (c->reasons && !c->reasons(c->device, &bits))
        for (size_t i = 0; i < countof(reasons) && !*slowed; i++)
            if (bits & reasons[i].bits)
                *slowed = reasons[i].words;
    return (int)mhz;
}

int gpu_busy(Gpu *g)
{
    const GpuClock *c = &g->clock;
    unsigned percent[2];

    clock_open(&g->clock, g->info.bus);
    if (!c->device || !c->busy || c->busy(c->device, percent))
        return -1;
    return (int)percent[0];
}
