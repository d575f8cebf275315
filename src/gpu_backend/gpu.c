// gpu.c - the device of this machine, through NVIDIA's driver.
#include "gpu_backend/gpu_int.h"

enum { WATCHDOG = 60 };             // seconds

bool gpu_check(Gpu *g, CudaResult r, ExitCode code, const char *doing)
{
    TextBuf b = {0};

    if (r == CUDA_OK)
        return true;
    cuda_error_text(&g->api, r, &b);
    diag_error(g->diag, code, (Span){0}, "gpu-driver", "%s: %.*s", doing,
               (int)b.len, b.at);
    buf_release(&b);
    return false;
}

static bool load_driver(Gpu *g)
{
    TextBuf looked = {0};
    bool ok = cuda_api_load(&g->api, &looked);

    if (!ok) {
        diag_error(g->diag, EXIT_ENVIRONMENT, (Span){0}, "no-driver",
                   "there is no NVIDIA driver on this machine");
        diag_note(g->diag, (Span){0}, "looked for %.*s", (int)looked.len,
                  looked.at);
        diag_note(g->diag, (Span){0}, "--build-only compiles without one, "
                  "'tilesim run' executes on the CPU");
    }
    buf_release(&looked);
    return ok;
}

static bool no_device(Gpu *g)
{
    diag_error(g->diag, EXIT_NO_DEVICE, (Span){0}, "no-device",
               "the NVIDIA driver is there, and finds no device");
    return false;
}

static bool find_device(Gpu *g)
{
    CudaResult r = g->api.init(0);
    int count = 0;

    if (r == CUDA_NO_DEVICE)
        return no_device(g);
    if (!gpu_check(g, r, EXIT_ENVIRONMENT, "the NVIDIA driver cannot start"))
        return false;
    r = g->api.device_count(&count);
    if (r == CUDA_NO_DEVICE || (r == CUDA_OK && count == 0))
        return no_device(g);
    return gpu_check(g, r, EXIT_ENVIRONMENT, "cannot count devices")
           && gpu_check(g, g->api.device_get(&g->device, 0), EXIT_ENVIRONMENT,
                        "cannot open the device");
}

static int attribute(Gpu *g, int which)
{
    int value = 0;

    return g->api.device_attribute(&value, which, g->device) ? 0 : value;
}

static void ask_device(Gpu *g)
{
    GpuInfo *i = &g->info;
    size_t bytes = 0;

    if (g->api.device_name(i->name, sizeof i->name, g->device))
        snprintf(i->name, sizeof i->name, "an NVIDIA device");
    if (g->api.device_bus(i->bus, sizeof i->bus, g->device))
        i->bus[0] = '\0';
    i->major = attribute(g, CUDA_MAJOR);
    i->minor = attribute(g, CUDA_MINOR);
    i->sms = attribute(g, CUDA_SMS);
    i->clock = attribute(g, CUDA_CLOCK) / 1000;
    i->l2 = attribute(g, CUDA_L2);
    i->shared = attribute(g, CUDA_MAX_SHARED_OPTIN);
    if (!i->shared)
        i->shared = attribute(g, CUDA_MAX_SHARED);
    if (!g->api.device_memory(&bytes, g->device))
        i->memory = (int64_t)bytes;
    g->api.driver_version(&i->driver);
}

static bool enter(Gpu *g)
{
    return gpu_check(g, g->api.context_retain(&g->context, g->device),
                     EXIT_ENVIRONMENT, "cannot use the device")
           && gpu_check(g, g->api.context_set(g->context), EXIT_ENVIRONMENT,
                        "cannot use the device");
}

Gpu *gpu_open(Arena *a, Diag *d)
{
    Gpu *g = new (a, Gpu);

    g->diag = d;
    g->watchdog = WATCHDOG;
    if (!load_driver(g) || !find_device(g))
        return NULL;
    ask_device(g);
    clock_open(&g->clock, g->info.bus);
    return enter(g) ? g : NULL;
}

Gpu *gpu_open_executor(Arena *a, Diag *d, const GpuExecutor *e)
{
    Gpu *g = new (a, Gpu);

    g->diag = d;
    g->executor = e;
    g->info = e->info;
    return g;
}

void gpu_close(Gpu *g)
{
    if (g->executor)
        return;
    clock_close(&g->clock);
    if (!g->hangs)
        g->api.context_release(g->device);
}

const GpuInfo *gpu_info(const Gpu *g)
{
    return &g->info;
}

bool gpu_hangs(const Gpu *g)
{
    return g->hangs;
}

bool gpu_faulted(const Gpu *g)
{
    return g->faulted;
}

void gpu_set_watchdog(Gpu *g, double seconds)
{
    g->watchdog = seconds;
}

bool gpu_restart(Gpu *g)
{
    g->api.context_release(g->device);
    if (!gpu_check(g, g->api.context_reset(g->device), EXIT_ENVIRONMENT,
                   "the device does not start again"))
        return false;
    g->faulted = false;
    return enter(g);
}
