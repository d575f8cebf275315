// gpu.c - the device of this machine: NVIDIA's driver or AMD's runtime.
//
// NVIDIA's driver takes a fifth of a second to start, half for itself and half
// for a context. It does so in a thread, beside the reading, planning and
// writing of the kernel, which waits for what it needs: gpu_open for the
// device's name and numbers, gpu_enter for the context.
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

// ---- starting ---------------------------------------------------------------

// These run in a thread of their own, which must not report: what fails is
// kept for gpu_open and gpu_enter.
static bool driver(Gpu *g, const char *doing, CudaResult r)
{
    if (r == CUDA_OK)
        return true;
    g->start.no_device = r == CUDA_NO_DEVICE;
    g->start.doing = doing;
    g->start.result = r;
    return false;
}

static bool find_device(Gpu *g)
{
    int count = 0;

    if (!driver(g, "the NVIDIA driver cannot start", g->api.init(0))
        || !driver(g, "cannot count devices", g->api.device_count(&count)))
        return false;
    g->start.no_device = !count;
    return count && driver(g, "cannot open the device",
                           g->api.device_get(&g->device, 0));
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

static void *start(void *at)
{
    Gpu *g = at;

    g->start.has_driver = cuda_api_load(&g->api, &g->start.looked);
    g->start.found = g->start.has_driver && find_device(g);
    if (g->start.found)
        ask_device(g);
    sem_post(&g->start.known);
    g->start.entered =
        g->start.found
        && driver(g, "cannot use the device",
                  g->api.context_retain(&g->context, g->device));
    atomic_store(&g->start.over, true);
    return NULL;
}

Gpu *gpu_start(Arena *a, Diag *d)
{
    Gpu *g = new (a, Gpu);

    g->diag = d;
    g->watchdog = WATCHDOG;
    sem_init(&g->start.known, 0, 0);
    g->start.beside = !pthread_create(&g->start.thread, NULL, start, g);
    if (!g->start.beside)
        start(g);
    return g;
}

bool gpu_starting(const Gpu *g)
{
    return g->start.beside && !atomic_load(&g->start.over);
}

static void join(Gpu *g)
{
    if (g->start.beside)
        pthread_join(g->start.thread, NULL);
    g->start.beside = false;
}

static void no_driver(Gpu *g)
{
    const TextBuf *looked = &g->start.looked;

    diag_error(g->diag, EXIT_ENVIRONMENT, (Span){0}, "no-driver",
               "there is no NVIDIA driver on this machine");
    diag_note(g->diag, (Span){0}, "looked for %.*s", (int)looked->len,
              looked->at);
    diag_note(g->diag, (Span){0}, "--build-only compiles without one, "
              "'tilesim run' executes on the CPU");
}

// ---- open -------------------------------------------------------------------

bool gpu_open(Gpu *g)
{
    while (sem_wait(&g->start.known))
        ;                               // interrupted by a signal
    sem_post(&g->start.known);          // for who asks again
    if (g->start.found)
        return true;
    if (!g->start.has_driver)
        no_driver(g);
    else if (g->start.no_device)
        diag_error(g->diag, EXIT_NO_DEVICE, (Span){0}, "no-device",
                   "the NVIDIA driver is there, and finds no device");
    else
        gpu_check(g, g->start.result, EXIT_ENVIRONMENT, g->start.doing);
    return false;
}

static bool enter(Gpu *g)
{
    return gpu_check(g, g->is_amd ? g->hip.set_device(g->device)
                                  : g->api.context_set(g->context),
                     EXIT_ENVIRONMENT, "cannot use the device");
}

bool gpu_enter(Gpu *g)
{
    if (g->executor || g->is_amd)
        return true;
    join(g);
    return gpu_check(g, g->start.result, EXIT_ENVIRONMENT, g->start.doing)
           && enter(g);
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
    clock_close(&g->clock);
    if (g->executor || g->is_amd)
        return;
    join(g);
    if (g->start.entered && !g->hangs)
        g->api.context_release(g->device);
    sem_destroy(&g->start.known);
    buf_release(&g->start.looked);
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
    return (g->is_amd
            || gpu_check(g, g->api.context_retain(&g->context, g->device),
                         EXIT_ENVIRONMENT, "cannot use the device"))
           && enter(g);
}
