// gpu.c - the device of this machine: NVIDIA's driver or AMD's runtime.
#include "gpu_backend/gpu_int.h"

enum { WATCHDOG = 60 };             // seconds

void gpu_error_text(const Gpu *g, CudaResult r, TextBuf *out)
{
    if (g->is_amd)
        hip_error_text(&g->hip, r, out);
    else
        cuda_error_text(&g->api, r, out);
}

bool gpu_check(Gpu *g, CudaResult r, ExitCode code, const char *doing)
{
    TextBuf b = {0};

    if (r == CUDA_OK)
        return true;
    gpu_error_text(g, r, &b);
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
    if (g->is_amd)
        return gpu_check(g, g->hip.set_device(g->device), EXIT_ENVIRONMENT,
                         "cannot use the device");
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

// ---- AMD ---------------------------------------------------------------------

static void ask_amd(Gpu *g)
{
    GpuInfo *i = &g->info;
    size_t bytes = 0;

    if (g->api.device_name(i->name, sizeof i->name, g->device))
        snprintf(i->name, sizeof i->name, "an AMD device");
    if (g->api.device_bus(i->bus, sizeof i->bus, g->device))
        i->bus[0] = '\0';
    i->major = attribute(g, HIP_MAJOR);
    i->minor = attribute(g, HIP_MINOR);
    i->sms = attribute(g, HIP_CUS);
    i->clock = attribute(g, HIP_CLOCK) / 1000;
    i->l2 = attribute(g, HIP_L2);
    i->shared = attribute(g, HIP_MAX_SHARED);
    if (!g->api.device_memory(&bytes, g->device))
        i->memory = (int64_t)bytes;
    g->api.driver_version(&i->driver);
    if (i->major == 9 && i->minor == 4)
        i->arch = "gfx942";
}

// The first device that executes gfx942. What is missing is said in `why`.
static bool find_amd(Gpu *g, TextBuf *why)
{
    CudaResult r = g->api.init(0);
    int count = 0;

    if (!r)
        r = g->api.device_count(&count);
    if (r == CUDA_NO_DEVICE || (!r && !count)) {
        buf_puts(why, "AMD's runtime is there, and finds no card");
        return false;
    }
    for (int i = 0; !r && i < count && !g->info.arch; i++) {
        r = g->api.device_get(&g->device, i);
        if (!r)
            ask_amd(g);
    }
    if (r) {
        buf_puts(why, "AMD's runtime does not start: ");
        gpu_error_text(g, r, why);
    } else if (!g->info.arch) {
        buf_printf(why, "%s is no gfx942", g->info.name);
    }
    return g->info.arch != NULL;
}

Gpu *gpu_open_amd(Arena *a, Diag *d, const char **why)
{
    TextBuf looked = {0}, missing = {0};
    Gpu *g = new (a, Gpu);

    g->diag = d;
    g->watchdog = WATCHDOG;
    g->is_amd = true;
    bool loaded = hip_api_load(&g->api, &g->hip, &looked);
    if (!g->api.library)
        buf_puts(&missing, "no card");
    else if (!loaded)
        buf_text(&missing, buf_view(&looked));
    bool ok = loaded && find_amd(g, &missing) && enter(g);
    *why = text_cstr(a, buf_view(&missing));
    buf_release(&looked);
    buf_release(&missing);
    return ok ? g : NULL;
}

// ---- without a card ---------------------------------------------------------

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
    if (!g->hangs && !g->is_amd)
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
    if (!g->is_amd)
        g->api.context_release(g->device);
    if (!gpu_check(g, g->is_amd ? g->hip.device_reset()
                                : g->api.context_reset(g->device),
                   EXIT_ENVIRONMENT, "the device does not start again"))
        return false;
    g->faulted = false;
    return enter(g);
}
