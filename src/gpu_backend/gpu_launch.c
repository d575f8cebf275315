// gpu_launch.c - modules, launches under a watchdog, and their times.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu_backend/gpu_int.h"
#include "support/parallel.h"

// ---- modules ----------------------------------------------------------------

static void bad_image(Gpu *g, Text toolchain)
{
    int version = g->info.driver;

    diag_error(g->diag, EXIT_ENVIRONMENT, (Span){0}, "gpu-image",
               "the %s does not take what %.*s makes",
               g->is_amd ? "HIP runtime" : "driver", TEXT_ARG(toolchain));
    if (g->is_amd)
        diag_note(g->diag, (Span){0}, "the runtime is HIP %d.%d: what a later "
                  "compiler makes may need a later one", version / 10000000,
                  version / 100000 % 100);
    else
        diag_note(g->diag, (Span){0}, "the driver is of CUDA %d.%d: a compiler "
                  "of a later major version needs a later driver",
                  version / 1000, version % 1000 / 10);
}

bool gpu_load(Gpu *g, const GpuBuilt *built, GpuModule *out)
{
    if (g->executor)
        return g->executor->load(g->executor->ctx, built->image);
    CudaResult r = g->api.module_load(&out->module, built->image.at);

    if (r != CUDA_INVALID_IMAGE && r != CUDA_NO_BINARY
        && r != CUDA_UNSUPPORTED_PTX)
        return gpu_check(g, r, EXIT_ENVIRONMENT, "cannot load the kernel");
    bad_image(g, built->toolchain);
    return false;
}

void gpu_unload(Gpu *g, GpuModule *m)
{
    if (m->module && !g->hangs && !g->faulted)
        g->api.module_unload(m->module);
    m->module = NULL;
}

bool gpu_prepare(Gpu *g, const GpuModule *m, GpuCall *c)
{
    int have = 0;

    if (g->executor)
        return g->executor->prepare(g->executor->ctx, c);
    if (!gpu_check(g, g->api.module_function(&c->function, m->module,
                                             c->symbol),
                   EXIT_ENVIRONMENT, "cannot find the kernel in its module"))
        return false;
    g->api.function_attribute(&have, CUDA_FN_STATIC_SHARED, c->function);
    if ((int64_t)c->shared + have > g->info.shared) {
        diag_error(g->diag, EXIT_NO_FIT, c->at, "gpu-no-fit",
                   "the kernel needs %lld bytes of shared memory a block, %s "
                   "has %lld", (long long)c->shared + have, g->info.name,
                   (long long)g->info.shared);
        return false;
    }
    return g->is_amd                // which asks for nothing beforehand
           || gpu_check(g, g->api.function_set(c->function,
                                               CUDA_FN_DYNAMIC_SHARED,
                                               (int)c->shared),
                        EXIT_NO_FIT, "cannot give the kernel its shared "
                        "memory");
}

static int call_threads(const GpuCall *c)
{
    return (int)(c->threads[0] * c->threads[1] * c->threads[2]);
}

bool gpu_needs(Gpu *g, const GpuCall *c, GpuNeeds *out)
{
    int local = 0, shared = 0;

    *out = (GpuNeeds){0};
    if (g->executor) {
        g->executor->needs(g->executor->ctx, c, out);
        return true;
    }
    g->api.function_attribute(&out->registers, CUDA_FN_REGISTERS, c->function);
    g->api.function_attribute(&local, CUDA_FN_LOCAL, c->function);
    g->api.function_attribute(&shared, CUDA_FN_STATIC_SHARED, c->function);
    out->local = local;
    out->static_shared = shared;
    return gpu_check(g, g->api.occupancy(&out->blocks, c->function,
                                         call_threads(c), c->shared),
                     EXIT_ENVIRONMENT, "cannot ask for the occupancy");
}

// ---- faults -----------------------------------------------------------------

// A kernel that ran into an error leaves the context unusable.
static bool fault(Gpu *g, const GpuCall *c, CudaResult r)
{
    TextBuf b = {0};

    g->faulted = true;
    gpu_error_text(g, r, &b);
    diag_error(g->diag, EXIT_FINDINGS, c->at, "gpu-fault",
               "kernel '%s' fails on the device: %.*s", c->symbol, (int)b.len,
               b.at);
    diag_note(g->diag, (Span){0}, "'tilesim run' looks for accesses out of "
              "bounds on the CPU");
    buf_release(&b);
    return false;
}

static bool refused(Gpu *g, const GpuCall *c, CudaResult r)
{
    TextBuf b = {0};

    gpu_error_text(g, r, &b);
    diag_error(g->diag, r == CUDA_LAUNCH_RESOURCES ? EXIT_NO_FIT
                                                   : EXIT_FINDINGS,
               c->at, "gpu-launch", "the device refuses to launch '%s' with "
               "%d threads and %zu bytes of shared memory: %.*s", c->symbol,
               call_threads(c), c->shared, (int)b.len, b.at);
    buf_release(&b);
    return false;
}

static bool stopped(Gpu *g, const GpuCall *c, double seconds)
{
    g->hangs = true;
    if (parallel_cancelled() == SIGINT)
        return false;
    diag_error(g->diag, EXIT_LIMIT, c->at, "gpu-timeout",
               "kernel '%s' has not ended after %.0f s", c->symbol, seconds);
    diag_note(g->diag, (Span){0}, "it waits for what never comes, or has much "
              "to do: --timeout gives it longer");
    return false;
}

// ---- launching --------------------------------------------------------------

static CudaResult launch(Gpu *g, const GpuCall *c)
{
    CudaLaunchAttribute cooperative = {.id = CUDA_LAUNCH_COOPERATIVE,
                                       .value.cooperative = 1};
    CudaLaunch l = {.shared = (unsigned)c->shared,
                    .attributes = &cooperative,
                    .attribute_count = c->cooperative};

    memcpy(l.grid, c->grid, sizeof l.grid);
    memcpy(l.block, c->threads, sizeof l.block);
    return g->api.launch(&l, c->function, c->parameters, NULL);
}

static CudaResult launch_amd(Gpu *g, const GpuCall *c)
{
    const unsigned *grid = c->grid, *threads = c->threads;
    unsigned shared = (unsigned)c->shared;

    if (!c->cooperative)
        return g->hip.launch(c->function, grid[0], grid[1], grid[2],
                             threads[0], threads[1], threads[2], shared, NULL,
                             c->parameters, NULL);
    if (!g->hip.launch_cooperative)
        return CUDA_NOT_SUPPORTED;
    return g->hip.launch_cooperative(c->function, grid[0], grid[1], grid[2],
                                     threads[0], threads[1], threads[2],
                                     shared, NULL, c->parameters);
}

static bool start(Gpu *g, const GpuCall *c)
{
    if (!c->grid[0] || !c->grid[1] || !c->grid[2])  // nothing to launch
        return true;
    CudaResult r = g->is_amd ? launch_amd(g, c) : launch(g, c);

    if (r == CUDA_OK)
        return true;
    return r >= CUDA_ILLEGAL_ADDRESS && r <= CUDA_LAUNCH_FAILED
           && r != CUDA_LAUNCH_RESOURCES
               ? fault(g, c, r) : refused(g, c, r);
}

// Waits for `event`: at first without sleeping, for most kernels are short.
static bool wait_for(Gpu *g, const GpuCall *c, void *event)
{
    double begin = time_now(), now = begin;

    for (;;) {
        CudaResult r = g->api.event_query(event);

        if (r == CUDA_OK)
            return true;
        if (r != CUDA_NOT_READY)
            return fault(g, c, r);
        now = time_now();
        if (parallel_cancelled() || now - begin > g->watchdog)
            return stopped(g, c, now - begin);
        if (now - begin > 1e-3)
            nanosleep(&(struct timespec){0, 200000}, NULL);
    }
}

static bool record(Gpu *g, void *event)
{
    return gpu_check(g, g->api.event_record(event, NULL), EXIT_ENVIRONMENT,
                     "cannot record an event");
}

static bool run_each(Gpu *g, const GpuCall *list, int count, void *event)
{
    for (int i = 0; i < count; i++)
        if (!start(g, &list[i]) || !record(g, event)
            || !wait_for(g, &list[i], event))
            return false;
    return true;
}

bool gpu_run(Gpu *g, const GpuCall *list, int count)
{
    void *event = NULL;
    bool ok;

    if (g->executor)
        return g->executor->run(g->executor->ctx, list, count);
    if (!gpu_check(g, g->api.event_create(&event, 0), EXIT_ENVIRONMENT,
                   "cannot make an event"))
        return false;
    ok = run_each(g, list, count, event);
    if (!g->hangs && !g->faulted)
        g->api.event_destroy(event);
    return ok;
}

static bool start_all(Gpu *g, const GpuCall *list, int count,
                      const GpuTiming *t, void **events)
{
    if (!record(g, events[0]))
        return false;
    for (int r = 0; r < t->runs; r++) {
        if (t->next)
            t->next(t->ctx, r);
        for (int i = 0; i < count; i++)
            if (!start(g, &list[i]))
                return false;
        if (!record(g, events[r + 1]))
            return false;
    }
    return true;
}

// The clock half way through; what is read after the last run says nothing.
static bool wait_all(Gpu *g, const GpuCall *last, GpuTiming *t, void **events)
{
    if (!wait_for(g, last, events[t->runs / 2]))
        return false;
    t->clock = gpu_clock(g, &t->slowed);
    if (g->api.event_query(events[t->runs]) == CUDA_OK) {
        t->clock = 0;
        t->slowed = NULL;
    }
    return wait_for(g, last, events[t->runs]);
}

static bool read_times(Gpu *g, GpuTiming *t, void **events)
{
    for (int i = 0; i < t->runs; i++) {
        float between = 0;

        if (!gpu_check(g, g->api.event_between(&between, events[i],
                                               events[i + 1]),
                       EXIT_ENVIRONMENT, "cannot read the time"))
            return false;
        t->ms[i] = between;
    }
    return true;
}

bool gpu_time(Gpu *g, const GpuCall *list, int count, GpuTiming *t)
{
    void **events = xcalloc((size_t)t->runs + 1, sizeof *events);
    bool ok = true;

    for (int i = 0; ok && i <= t->runs; i++)
        ok = gpu_check(g, g->api.event_create(&events[i], 0),
                       EXIT_ENVIRONMENT, "cannot make an event");
    ok = ok && start_all(g, list, count, t, events)
         && wait_all(g, &list[count - 1], t, events)
         && read_times(g, t, events);
    for (int i = 0; i <= t->runs && !g->hangs && !g->faulted; i++)
        if (events[i])
            g->api.event_destroy(events[i]);
    free(events);
    return ok;
}

bool gpu_tensor_map(Gpu *g, const GpuTensorBox *b, void *map)
{
    CudaTensorMap made;

    if (!gpu_check(g, g->api.tensor_map(&made, b->type, (unsigned)b->rank,
                                        (void *)(uintptr_t)b->at, b->sizes,
                                        b->strides, b->box, b->steps,
                                        b->interleave, b->swizzle,
                                        b->promotion, b->fill),
                   EXIT_FINDINGS, "the driver refuses a tensor map"))
        return false;
    memcpy(map, made.opaque, sizeof made.opaque);
    return true;
}
