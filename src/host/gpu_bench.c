// gpu_bench.c - how long a kernel takes, and how long it would have to.
#include <math.h>
#include <stdlib.h>

#include "host/gpu.h"
#include "support/parallel.h"

enum { WARM = 20, COPIES = 256 };

// ---- work -------------------------------------------------------------------

// Gemms by event of the walk: how much one is, and how often it happens.
typedef struct {
    const CodeEvent *events;
    int event_count, workers;
    double *each;                   // flop, by event
    int64_t *counts;                // by worker and event
} Walk;

static void on_event(void *ctx, int worker, int64_t block, int event,
                     const int64_t *values)
{
    Walk *w = ctx;

    (void)block;
    (void)values;
    w->counts[(int64_t)worker * w->event_count + event]++;
}

static double gemm_flops(const Plan *p, int stmt, MmaType *operand)
{
    for (int i = 0; i < p->launch_count; i++)
        for (int j = 0; j < p->launches[i].gemm_count; j++) {
            const PlanGemm *g = &p->launches[i].gemms[j];

            if (g->stmt->id != stmt)
                continue;
            if (!mma_type_of(g->a->dtype, operand) || *operand == MMA_F32)
                *operand = MMA_TF32;
            return 2.0 * (double)g->shape.m * (double)g->shape.n
                   * (double)g->shape.k;
        }
    return 0;
}

static double peak_seconds(const Device *d, MmaType operand, double flops)
{
    double peak = device_peak(d, operand);

    return peak > 0 ? flops / (peak * 1e12) : 0;
}

static void sum_walk(const GpuCase *c, const Walk *w, GpuBench *out)
{
    double seconds = 0, most = 0;

    for (int e = 0; e < w->event_count; e++) {
        int64_t times = 0;
        MmaType operand;
        double flops = gemm_flops(c->kernel->plan, w->events[e].stmt, &operand);

        for (int i = 0; i < w->workers && flops > 0; i++)
            times += w->counts[(int64_t)i * w->event_count + e];
        flops *= (double)times;
        if (flops <= 0)
            continue;
        out->flops += flops;
        seconds += peak_seconds(c->kernel->target, operand, flops);
        if (flops > most) {
            most = flops;
            out->operand = operand;
        }
    }
    out->matrix_floor = seconds * 1e3;
    out->peak = most > 0 ? device_peak(c->kernel->target, out->operand) : 0;
}

// Walks scalars and control flow of every block, and counts matrix products.
static void count_work(GpuCase *c, GpuBench *out)
{
    KernelObject *k = c->kernel->kernel;
    Code *code = kernel_code(k, CODE_CONTROL);
    InterpOptions options = {.max_findings = 1, .event = on_event};
    Walk w = {.workers = parallel_threads()};
    InterpResult r;

    if (!code || code_facts(code).tile_dependent)
        return;
    w.events = code_events(code, &w.event_count);
    w.counts = xcalloc((size_t)w.workers * (size_t)w.event_count + 1,
                       sizeof *w.counts);
    options.event_ctx = &w;
    r = kernel_run(k, CODE_CONTROL, c->c->args, NULL, &options);
    out->flops_exact = r.ok;
    if (r.ok)
        sum_walk(c, &w, out);
    interp_result_release(&r);
    free(w.counts);
}

// ---- time -------------------------------------------------------------------

// Copies of the inputs, so that a run finds none of its own in the L2 cache.
typedef struct {
    GpuCase *c;
    GpuBuffer *at;                  // by copy and parameter; 0: the original
    int copies, params;
} Rotation;

static bool rotates(const Rotation *r, int param)
{
    return !r->c->c->is_output[param]
           && !r->c->kernel->kernel->ir->params[param].is_scalar;
}

static bool make_copies(Rotation *r)
{
    const IrKernel *ir = r->c->kernel->kernel->ir;
    int64_t bytes = r->c->input_bytes, l2 = gpu_info(r->c->gpu)->l2;

    r->params = ir->param_count;
    r->copies = 1;
    if (bytes > 0 && bytes < 3 * l2)
        r->copies = (int)(3 * l2 / bytes) + 1;
    if (r->copies > COPIES)
        r->copies = COPIES;
    r->at = xcalloc((size_t)r->copies * (size_t)r->params + 1, sizeof *r->at);
    for (int i = 1; i < r->copies; i++)
        for (int p = 0; p < r->params; p++) {
            GpuBuffer *b = &r->at[i * r->params + p];
            const GpuBuffer *from = &r->c->tensors[p];

            if (rotates(r, p)
                && (!gpu_alloc(r->c->gpu, from->bytes, ir->params[p].name, b)
                    || !gpu_copy(r->c->gpu, b, from)))
                return false;
        }
    return true;
}

static void release_copies(Rotation *r)
{
    for (int i = r->params; i < r->copies * r->params; i++)
        if (r->at[i].at)
            gpu_free(r->c->gpu, &r->at[i]);
    free(r->at);
}

static void turn(void *ctx, int run)
{
    const Rotation *r = ctx;
    const GpuBuffer *copy = &r->at[run % r->copies * r->params];

    for (int i = 0; i < r->c->call_count; i++) {
        const GpuLaunch *l = &r->c->kernel->program->launches[i];

        for (int p = 0; p < l->param_count; p++) {
            const GpuParam *x = &l->params[p];
            void *value = r->c->calls[i].parameters[p];

            if ((x->kind != GPU_PARAM_TENSOR
                 && x->kind != GPU_PARAM_TENSOR_MAP) || x->param < 0
                || !rotates(r, x->param))
                continue;
            unsigned long long at = run % r->copies
                                        ? copy[x->param].at
                                        : r->c->tensors[x->param].at;
            // What could be mapped once can be mapped again.
            if (x->kind == GPU_PARAM_TENSOR_MAP)
                gpu_case_map(r->c, x, at, value);
            else
                *(uint64_t *)value = at;
        }
    }
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

// Times `runs` runs; slow kernels get fewer, ten seconds of them.
static bool time_runs(GpuCase *c, Rotation *r, int runs, GpuBench *out)
{
    double *ms = xcalloc((size_t)(runs > WARM ? runs : WARM), sizeof *ms);
    GpuTiming t = {.runs = 2, .next = turn, .ctx = r, .ms = ms};
    bool ok = gpu_time(c->gpu, c->calls, c->call_count, &t);

    if (ok) {
        double fit = ms[1] > 0 ? 1e4 / ms[1] : runs;

        t.runs = out->warm = (int)fmin(WARM, fmax(2, fit / 5));
        ok = gpu_time(c->gpu, c->calls, c->call_count, &t);
        t.runs = out->runs = (int)fmin(runs, fmax(5, fit));
    }
    ok = ok && gpu_time(c->gpu, c->calls, c->call_count, &t);
    if (ok) {
        qsort(ms, (size_t)t.runs, sizeof *ms, by_size);
        out->low = ms[0];
        out->median = t.runs % 2 ? ms[t.runs / 2]
                                 : (ms[t.runs / 2 - 1] + ms[t.runs / 2]) / 2;
        out->p95 = ms[(int)ceil(0.95 * t.runs) - 1];
        out->clock = t.clock;
        out->slowed = t.slowed;
    }
    free(ms);
    return ok;
}

bool gpu_bench(GpuCase *c, int runs, GpuBench *out)
{
    Rotation r = {.c = c};
    int busy = gpu_busy(c->gpu);
    bool ok;

    *out = (GpuBench){.busy = busy};
    count_work(c, out);
    out->bytes = (double)(c->input_bytes + c->output_bytes);
    out->memory_floor = out->bytes
                        / ((double)c->kernel->target->memory_rate * 1e9) * 1e3;
    ok = make_copies(&r) && gpu_case_put(c, -1) && time_runs(c, &r, runs, out);
    out->copies = r.copies;
    turn(&r, 0);
    release_copies(&r);
    return ok;
}
