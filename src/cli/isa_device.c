// isa_device.c - the gfx942 executor in the place of a card.
#include <stdlib.h>
#include <string.h>

#include "cli/isa_device.h"
#include "cli/isa_orders.h"
#include "cli/json_keys.h"
#include "device/occupancy.h"

enum { MOST_BUFFERS = 256 };

struct IsaDevice {
    Arena *arena;
    Diag *diag;
    IsaDeviceOptions options;
    GpuExecutor executor;
    const GfxObject *object;
    GfxBuffer buffers[MOST_BUFFERS];
    int buffer_count, in_use;
    GfxResult counted;
};

// ---- memory -----------------------------------------------------------------

// Addresses follow from the sizes before: those of older buffers stay.
static bool take(void *ctx, size_t bytes, Text what, GpuBuffer *out)
{
    IsaDevice *d = ctx;

    if (d->buffer_count == MOST_BUFFERS) {
        diag_error(d->diag, EXIT_LIMIT, (Span){0}, "gpu-memory",
                   "the executor has no place for '%.*s': it takes %d buffers",
                   TEXT_ARG(what), MOST_BUFFERS);
        return false;
    }
    GfxBuffer *b = &d->buffers[d->buffer_count++];
    *b = (GfxBuffer){.name = text_cstr(d->arena, what), .bytes = bytes,
                     .at = xmalloc(bytes + 1), .writable = true};
    gfx_place(d->buffers, d->buffer_count);
    d->in_use++;
    *out = (GpuBuffer){b->address, bytes};
    return true;
}

static GfxBuffer *buffer_of(IsaDevice *d, const GpuBuffer *b)
{
    for (int i = 0; i < d->buffer_count; i++)
        if (d->buffers[i].address == b->at)
            return &d->buffers[i];
    BUG("a buffer that the executor does not know");
}

static void release(void *ctx, GpuBuffer *b)
{
    IsaDevice *d = ctx;
    GfxBuffer *mine = buffer_of(d, b);

    free(mine->at);
    mine->at = NULL;
    if (!--d->in_use)
        d->buffer_count = 0;
}

static void *here(void *ctx, const GpuBuffer *b)
{
    return buffer_of(ctx, b)->at;
}

// ---- kernels ----------------------------------------------------------------

static bool load(void *ctx, Text image)
{
    IsaDevice *d = ctx;
    const char *why;

    d->object = gfx_object_read(d->arena, image.at, image.len, &why);
    if (!d->object)
        diag_error(d->diag, EXIT_ENVIRONMENT, (Span){0}, "gpu-image",
                   "what the compiler made %s", why);
    return d->object != NULL;
}

static bool prepare(void *ctx, GpuCall *c)
{
    IsaDevice *d = ctx;

    c->function = (void *)gfx_kernel_find(d->object, text_of(c->symbol));
    if (!c->function)
        diag_error(d->diag, EXIT_ENVIRONMENT, c->at, "gpu-image",
                   "what the compiler made has no kernel '%s'", c->symbol);
    return c->function != NULL;
}

static void needs(void *ctx, const GpuCall *c, GpuNeeds *out)
{
    const IsaDevice *d = ctx;
    const GfxKernel *k = c->function;
    BlockNeeds b = {
        .threads = (int)(c->threads[0] * c->threads[1] * c->threads[2]),
        .registers = k->vgprs - k->agprs, .acc_registers = k->agprs,
        .smem = (int64_t)c->shared + k->lds_bytes, .barriers = 1};

    *out = (GpuNeeds){.registers = k->vgprs, .local = k->scratch_bytes,
                      .static_shared = k->lds_bytes,
                      .blocks = device_occupancy(d->options.target, &b).blocks};
}

// ---- running ----------------------------------------------------------------

static bool make_kernarg(IsaDevice *d, const GpuCall *c, GfxLaunch *l)
{
    const GfxKernel *k = l->kernel;
    uint8_t *at = new_array(d->arena, uint8_t, k->kernarg_size + 8);
    Text unknown;
    int n = 0;

    for (int i = 0; i < k->arg_count; i++)
        if (!text_starts(k->args[i].kind, "hidden_"))
            memcpy(at + k->args[i].offset, c->parameters[n++],
                   (size_t)k->args[i].size);
    l->kernarg = at;
    if (gfx_fill_hidden(l, at, &unknown))
        return true;
    diag_error(d->diag, EXIT_LIMIT, c->at, "gpu-image",
               "the kernel wants '%.*s', which is not supported",
               TEXT_ARG(unknown));
    return false;
}

static void add_counts(GfxResult *all, const GfxResult *r)
{
    for (int i = 0; i < GFX_COUNTERS; i++)
        all->count[i] += r->count[i];
    all->conflicts_estimate |= r->conflicts_estimate;
    all->blocks_done += r->blocks_done;
    if (r->cycles.cycles > all->cycles.cycles)
        all->cycles = r->cycles;
}

static void report(IsaDevice *d, const GpuCall *c, const GfxFinding *f)
{
    const GfxKernel *k = gfx_kernel_at(d->object, f->pc);
    TextBuf b = {0};

    gfx_finding_put(&b, d->object, f);
    diag_error(d->diag, gfx_finding_exit(f->kind), c->at,
               gfx_finding_id(f->kind), "%.*s", (int)b.len, b.at);
    buf_clear(&b);
    isa_print(&b, &d->object->code[(f->pc - OBJECT_BASE) / 4]);
    diag_note(d->diag, (Span){0}, "%s+0x%llx: %.*s, workgroup %lld, wave %d, "
              "lane %d", k ? k->name : "",
              (unsigned long long)(f->pc - (k ? k->entry : OBJECT_BASE)),
              (int)b.len, b.at, (long long)f->block, f->wave, f->lane);
    buf_release(&b);
}

static bool run_one(IsaDevice *d, const GpuCall *c)
{
    GfxLaunch l = {.object = d->object, .kernel = c->function,
                   .dynamic_lds = (int)c->shared, .buffers = d->buffers,
                   .buffer_count = d->buffer_count};
    IsaOrders done;
    const char *why;

    for (int i = 0; i < 3; i++) {
        l.grid[i] = c->grid[i];
        l.block[i] = c->threads[i];
    }
    if (!make_kernarg(d, c, &l))
        return false;
    l.resident = isa_resident(
        l.kernel, (int)(l.block[0] * l.block[1] * l.block[2]), l.dynamic_lds);
    if (!isa_run(d->arena, &l, d->options.orders, d->options.seed, &done,
                 &why)) {
        diag_error(d->diag, EXIT_NO_FIT, c->at, "gpu-launch",
                   "the executor refuses to launch '%s': %s", c->symbol, why);
        return false;
    }
    for (int i = 0; i < done.finding_count; i++)
        report(d, c, &done.findings[i]);
    bool clean = !done.finding_count && !done.result.stopped;
    add_counts(&d->counted, &done.result);
    free(done.findings);
    return clean;
}

static bool run(void *ctx, const GpuCall *list, int count)
{
    IsaDevice *d = ctx;

    d->counted = (GfxResult){0};
    for (int i = 0; i < count; i++)
        if (!run_one(d, &list[i]))
            return false;
    return true;
}

Gpu *isa_device_open(Arena *a, Diag *diag, const IsaDeviceOptions *o,
                     IsaDevice **out)
{
    IsaDevice *d = new (a, IsaDevice);

    *d = (IsaDevice){.arena = a, .diag = diag, .options = *o};
    d->executor = (GpuExecutor){
        .info = {.sms = (int)o->target->sms, .arch = "gfx942",
                 .executor = text_cstr(a, text_format(
                     a, "executed on the CPU by tilesim's gfx942 executor; %s",
                     o->why))},
        .ctx = d, .alloc = take, .release = release, .here = here,
        .load = load, .prepare = prepare, .needs = needs, .run = run};
    snprintf(d->executor.info.name, sizeof d->executor.info.name, "%s",
             o->target->title);
    *out = d;
    return gpu_open_executor(a, diag, &d->executor);
}

void isa_device_json(const IsaDevice *d, Json *out)
{
    key_int(out, "interleavings", d->options.orders);
    isa_json_counters(out, &d->counted);
    isa_json_cycles(out, &d->counted.cycles);
}

bool isa_device_cycles(const IsaDevice *d, TextBuf *line, TextBuf *table)
{
    if (!d->counted.cycles.cycles)
        return false;
    isa_put_cycles(line, &d->counted.cycles);
    isa_put_cycle_table(table, &d->counted.cycles);
    return true;
}

void isa_device_counters(const IsaDevice *d, TextBuf *out)
{
    isa_put_counters(out, &d->counted);
}
