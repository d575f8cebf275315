// gpu_verify.c - what a kernel wrote on the device, held against the CPU.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/gpu.h"

// Two patterns of poison: what still shows both was never written. As floats
// the first is NaN.
enum { POISON_ONE = 0xff, POISON_TWO = 0x5a };

// ---- poison -----------------------------------------------------------------

// Fills the shared memory of every SM, which keeps what the last block left.
static const char poison_cuda[] =
    "extern \"C\" __global__ void tilesim_poison(int words, unsigned value)\n"
    "{\n"
    "    extern __shared__ volatile unsigned shared[];\n"
    "    for (int i = threadIdx.x; i < words; i += blockDim.x)\n"
    "        shared[i] = value;\n"
    "}\n";
static const char poison_hip[] =
    "extern \"C\" __attribute__((global)) void tilesim_poison(int words,\n"
    "                                                    unsigned value)\n"
    "{\n"
    "    extern __attribute__((shared)) volatile unsigned shared[];\n"
    "    for (int i = __builtin_amdgcn_workitem_id_x(); i < words; i += 256)\n"
    "        shared[i] = value;\n"
    "}\n";

static bool poison_shared(GpuCase *c, const char *arch, uint8_t byte)
{
    Host *h = c->kernel->host;
    const GpuInfo *info = gpu_info(c->gpu);
    bool amd = info->arch != NULL;
    GpuSource s = {.source = text_of(amd ? poison_hip : poison_cuda),
                   .name = amd ? "poison.hip" : "poison.cu", .arch = arch,
                   .form = amd ? GPU_HSACO : GPU_CUBIN};
    int words = (int)(info->shared / 4);
    unsigned value = byte * 0x01010101u;
    void *parameters[] = {&words, &value};
    GpuCall call = {.grid = {(unsigned)info->sms * 4, 1, 1},
                    .threads = {256, 1, 1}, .shared = (size_t)info->shared,
                    .parameters = parameters, .symbol = "tilesim_poison"};
    GpuModule module = {0};
    GpuBuilt built;
    bool ok = gpu_build(h->options.arena, h->options.diag, &s, &built)
              && gpu_load(c->gpu, &built, &module)
              && gpu_prepare(c->gpu, &module, &call)
              && gpu_run(c->gpu, &call, 1);

    gpu_unload(c->gpu, &module);
    return ok;
}

// ---- running ----------------------------------------------------------------

static bool run_once(GpuCase *c, int poison)
{
    const char *arch = gpu_arch(c->kernel->host->options.arena,
                                gpu_info(c->gpu));

    bool fills = (poison >= 0 || c->fresh_shared)
                 && !gpu_info(c->gpu)->executor;    // whose own is filled

    return gpu_case_put(c, poison)
           && (!fills
               || poison_shared(c, arch, poison < 0 ? POISON_ONE
                                                    : (uint8_t)poison))
           && gpu_case_run(c);
}

static bool take_outputs(GpuCase *c, Tensor *out, int *count)
{
    *count = 0;
    for (int i = 0; i < c->kernel->kernel->ir->param_count; i++) {
        if (!c->c->is_output[i] || *count == VERDICT_MAX_OUTPUTS)
            continue;
        if (!gpu_case_get(c, i, &out[*count]))
            return false;
        ++*count;
    }
    return true;
}

static bool all_bytes(const char *at, size_t n, uint8_t byte)
{
    for (size_t i = 0; i < n; i++)
        if ((uint8_t)at[i] != byte)
            return false;
    return true;
}

// Elements that hold the one poison in one run and the other in the other.
static void find_unwritten(GpuOutput *o, const Tensor *second)
{
    size_t size = dtype_bytes(o->got.dtype, 1);
    int64_t n = tensor_count(&o->got);
    const char *a = tensor_data(&o->got), *b = tensor_data(second);

    o->repeats = true;
    o->unwritten_at = -1;
    for (int64_t i = 0; i < n; i++) {
        const char *x = a + (size_t)i * size, *y = b + (size_t)i * size;

        if (!memcmp(x, y, size))
            continue;
        if (!all_bytes(x, size, POISON_ONE) || !all_bytes(y, size, POISON_TWO)) {
            o->repeats = false;
            continue;
        }
        if (!o->unwritten++)
            o->unwritten_at = i;
    }
}

// Every tensor's guard zones.
static bool look_beside(GpuCase *c, GpuVerdict *out)
{
    const IrKernel *ir = c->kernel->kernel->ir;
    bool intact;

    for (int i = 0; i < ir->param_count && out->beside < 0; i++) {
        if (ir->params[i].is_scalar)
            continue;
        if (!gpu_guards(c->gpu, &c->tensors[i], &intact, &out->beside_at))
            return false;
        if (!intact)
            out->beside = i;
    }
    return true;
}

static bool run_again(GpuCase *c, GpuVerdict *out)
{
    Tensor second[VERDICT_MAX_OUTPUTS] = {{0}};
    int count = 0;
    bool ok = look_beside(c, out) && run_once(c, POISON_TWO)
              && take_outputs(c, second, &count) && look_beside(c, out);

    for (int i = 0; i < count; i++) {
        if (ok)
            find_unwritten(&out->outputs[i], &second[i]);
        tensor_release(&second[i]);
    }
    return ok;
}

bool gpu_verify_run(GpuCase *c, bool poisoned, GpuVerdict *out)
{
    Tensor got[VERDICT_MAX_OUTPUTS] = {{0}};
    bool ok;

    *out = (GpuVerdict){.poisoned = poisoned, .beside = -1};
    ok = run_once(c, poisoned ? POISON_ONE : -1)
         && take_outputs(c, got, &out->output_count) && gpu_pointed_get(c);
    for (int i = 0; i < out->output_count; i++)
        out->outputs[i].got = got[i];
    out->ran = ok && (!poisoned || run_again(c, out));
    return out->ran;
}

void gpu_verdict_release(GpuVerdict *g)
{
    for (int i = 0; i < g->output_count; i++)
        tensor_release(&g->outputs[i].got);
    g->output_count = 0;
}

// ---- against the CPU --------------------------------------------------------

static double element(const Tensor *t, int64_t at)
{
    return num_get_f64(t->dtype, (const char *)tensor_data(t)
                                     + dtype_bytes(t->dtype, at));
}

// Elements of the same bits; any NaN is like another.
static void count_equal(GpuOutput *g, const Tensor *cpu, const uint8_t *writes)
{
    size_t size = dtype_bytes(cpu->dtype, 1);
    int64_t n = tensor_count(cpu);
    const char *a = tensor_data(&g->got), *b = tensor_data(cpu);
    bool is_float = dtype_is_float(cpu->dtype);

    for (int64_t i = 0; i < n; i++) {
        if (writes && !writes[i])
            continue;
        g->compared++;
        g->equal += !memcmp(a + (size_t)i * size, b + (size_t)i * size, size)
                    || (is_float && isnan(element(&g->got, i))
                        && isnan(element(cpu, i)));
    }
}

// ---- what comes in the order of atomics -------------------------------------

static bool is_ticket(void *ctx, IrExpr *x)
{
    *(bool *)ctx |= x->kind == EXPR_ATOMIC && x->op == OP_ATOMIC_ADD;
    return true;
}

// The kernel uses what a counter held before it added to it: where its results
// go depends on who was first.
static bool takes_tickets(const IrKernel *k)
{
    bool found = false;

    ir_walk(k->body, NULL, is_ticket, &found);
    return found;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Whether each row of the last dimension has the numbers of the CPU's.
static bool same_sets(const Tensor *got, const Tensor *cpu)
{
    int64_t n = cpu->rank ? cpu->shape[cpu->rank - 1] : 0;
    int64_t rows = n ? tensor_count(cpu) / n : 0;
    double *a = xcalloc((size_t)n + 1, sizeof *a);
    double *b = xcalloc((size_t)n + 1, sizeof *b);
    bool same = rows > 0;

    for (int64_t r = 0; r < rows && same; r++) {
        for (int64_t i = 0; i < n; i++) {
            a[i] = element(got, r * n + i);
            b[i] = element(cpu, r * n + i);
        }
        qsort(a, (size_t)n, sizeof *a, by_value);
        qsort(b, (size_t)n, sizeof *b, by_value);
        same = !memcmp(a, b, (size_t)n * sizeof *a);
    }
    free(a);
    free(b);
    return same;
}

static void against_cpu(GpuOutput *g, const OutputVerdict *o,
                        const VerdictOptions *options)
{
    CompareRule rule = {.rtol = options->rtol, .atol = options->atol,
                        .written = o->writes, .format = o->dtype};
    const Tensor *cpu = &o->got;
    CompareSums s = compare_range(&g->got, cpu, 0, tensor_count(cpu), &rule);

    g->rel = compare_rel(&s);
    g->limit = options->norm_tol > 0 ? options->norm_tol
                                     : verdict_norm_tol(o->dtype);
    g->worst_at = s.worst_at;
    if (s.worst_at >= 0)
        g->worst_ulps = verdict_ulps(o->dtype, element(&g->got, s.worst_at),
                                     element(cpu, s.worst_at));
    count_equal(g, cpu, o->writes);
    g->wrong = !(g->rel <= g->limit);
}

// What lies at addresses, together: it has no names.
static void judge_reached(const GpuCase *c, GpuVerdict *g,
                          const VerdictOptions *options)
{
    GpuOutput *all = &g->reached;

    for (int i = 0; i < c->pointed_count; i++) {
        const GpuPointed *p = &c->pointed[i];
        OutputVerdict cpu = {.got = p->here, .dtype = p->here.dtype};
        GpuOutput one = {.got = p->got};

        against_cpu(&one, &cpu, options);
        all->compared += one.compared;
        all->equal += one.equal;
        all->wrong = all->wrong || one.wrong;
        if (i == 0 || !(one.rel / one.limit <= all->rel / all->limit)) {
            all->rel = one.rel;
            all->limit = one.limit;
        }
    }
    g->wrong = g->wrong || all->wrong;
}

void gpu_verify_judge(const GpuCase *c, GpuVerdict *g, Verdict *v,
                      const VerdictOptions *options)
{
    int last = v->run.launches - 1;
    int64_t one[3] = {1, 1, 1};
    const int64_t *grid = last >= 0 ? v->run.grid[last] : one;

    g->wrong = g->beside >= 0;
    g->blocks = grid[0] * grid[1] * grid[2];
    g->sampled = v->run_sampled ? v->run_sampled : g->blocks;
    judge_reached(c, g, options);
    for (int i = 0; i < g->output_count && i < v->output_count; i++) {
        OutputVerdict *o = &v->outputs[i];
        GpuOutput *out = &g->outputs[i];

        against_cpu(out, o, options);
        if (out->wrong && !dtype_is_float(o->dtype) && !o->writes
            && takes_tickets(c->kernel->kernel->ir)) {
            out->as_sets = same_sets(&out->got, &o->got);
            out->wrong = !out->as_sets;
        }
        // what the CPU leaves unwritten, the device may
        if (g->sampled == g->blocks)
            out->unwritten -= out->unwritten < o->written_never
                                  ? out->unwritten : o->written_never;
        o->got = out->got;
        verdict_judge(c->kernel->host, c->c, v, o, options);
        g->wrong = g->wrong || out->wrong || out->unwritten || o->wrong;
    }
}
