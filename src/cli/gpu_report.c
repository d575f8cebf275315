// gpu_report.c - a launch on a device, on one screen: right, and how fast.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/gpu_report.h"
#include "cli/isa_device.h"
#include "device/occupancy.h"

static void head(TextBuf *b, size_t *line, const char *name)
{
    *line = b->len;
    buf_puts(b, name);
    report_column(b, *line, 10);
}

// ---- what runs where --------------------------------------------------------

static void device_line(TextBuf *b, const GpuReport *r)
{
    const GpuInfo *i = r->device;
    size_t line;

    head(b, &line, "device");
    if (!i) {
        buf_printf(b, "none was asked for; built for %s\n", r->arch);
        return;
    }
    if (i->executor) {
        buf_printf(b, "%s, %s, %s\n", i->name, r->arch, i->executor);
        return;
    }
    buf_printf(b, "%s, %s, %d SMs", i->name, r->arch, i->sms);
    if (r->bench && r->bench->clock) {
        buf_puts(b, ", ");
        buf_grouped(b, r->bench->clock);
        buf_puts(b, " MHz under load of ");
        buf_grouped(b, i->clock);
        if (r->bench->slowed)
            buf_printf(b, " (%s)", r->bench->slowed);
    }
    if (r->bench && r->bench->busy >= 0)
        buf_printf(b, "   idle before: %s", r->bench->busy ? "NO" : "yes");
    buf_addc(b, '\n');
}

typedef void PutLaunch(TextBuf *b, const GpuReport *r, int launch);

// What `put` says of each launch; of more than three, the same is said once.
static void put_launches(TextBuf *b, const GpuReport *r, const char *first,
                         PutLaunch *put)
{
    int n = r->kernel->program->launch_count;
    TextBuf *said = xcalloc((size_t)n + 1, sizeof *said);

    for (int i = 0; i < n; i++)
        put(&said[i], r, i);
    for (int i = 0; i < n; i++) {
        int same = said[i].len > 0;

        for (int j = i + 1; same && n > 3 && j < n; j++)
            if (text_eq(buf_view(&said[i]), buf_view(&said[j]))) {
                buf_clear(&said[j]);
                same++;
            }
        if (!same)
            continue;
        buf_printf(b, "%s ", first);
        buf_text(b, buf_view(&said[i]));
        if (same > 1)
            buf_printf(b, " (%d launches)", same);
        first = ";";
    }
    for (int i = 0; i < n; i++)
        buf_release(&said[i]);
    free(said);
}

static void put_plan(TextBuf *b, const GpuReport *r, int i)
{
    const GpuLaunch *l = &r->kernel->program->launches[i];

    buf_printf(b, "%d threads, ", l->threads[0] * l->threads[1] * l->threads[2]);
    buf_grouped(b, l->dynamic_shared + l->static_shared);
    buf_puts(b, " B shared");
    if (r->c)
        buf_printf(b, ", %d block%s/SM", r->c->needs[i].blocks,
                   r->c->needs[i].blocks == 1 ? "" : "s");
}

static void plan_line(TextBuf *b, const GpuReport *r)
{
    const Plan *p = r->kernel->plan;
    size_t line;

    head(b, &line, "plan");
    buf_printf(b, "%s for %s", plan_rules_name(p->rules), p->device->name);
    put_launches(b, r, ":", put_plan);
    buf_addc(b, '\n');
}

const GpuUsage *gpu_usage(const GpuBuilt *b, Text symbol)
{
    for (int i = 0; i < b->usage_count; i++)
        if (text_eq(b->usage[i].symbol, symbol))
            return &b->usage[i];
    return NULL;
}

static int source_lines(Text t)
{
    int n = 0;

    for (size_t i = 0; i < t.len; i++)
        n += t.at[i] == '\n';
    return n;
}

static void put_usage(TextBuf *b, const GpuReport *r, int i)
{
    const GpuUsage *u = gpu_usage(&r->kernel->built,
                                  r->kernel->program->launches[i].symbol);

    if (u && !u->isa)
        buf_printf(b, "%d registers, %lld B spilled", u->registers,
                   (long long)u->spills);
}

static void build_line(TextBuf *b, const GpuReport *r)
{
    const GpuBuilt *g = &r->kernel->built;
    size_t line;

    head(b, &line, "build");
    buf_printf(b, "%.*s %.2f s", TEXT_ARG(g->toolchain), g->seconds);
    put_launches(b, r, "  ", put_usage);
    buf_printf(b, "   %s %d lines", r->kernel->name,
               source_lines(r->kernel->program->source));
    buf_puts(b, g->cached ? "   cached\n" : "\n");
}

static void start_line(TextBuf *b, const GpuTimes *t)
{
    size_t line;

    head(b, &line, "start");
    buf_printf(b, "staged %.3f s, device known %.3f, planned %.3f, built %.3f, "
               "loaded %.3f, run %.3f\n", t->staged, t->device, t->planned,
               t->built, t->loaded, t->ran);
}

// ---- AMD: as the code object has it -----------------------------------------

static int resident_blocks(const GpuReport *r, const GpuLaunch *l,
                           const GpuUsage *u)
{
    BlockNeeds needs = {
        .threads = l->threads[0] * l->threads[1] * l->threads[2],
        .registers = u->isa->vgprs - u->isa->agprs,
        .acc_registers = u->isa->agprs, .smem = u->static_shared};

    return device_occupancy(r->kernel->target, &needs).blocks;
}

static void isa_lines(TextBuf *b, const GpuReport *r)
{
    const GpuProgram *p = r->kernel->program;
    size_t line;

    for (int i = 0; i < p->launch_count; i++) {
        const GpuLaunch *l = &p->launches[i];
        const GpuUsage *u = gpu_usage(&r->kernel->built, l->symbol);
        if (!u || !u->isa)
            continue;
        const GpuIsa *x = u->isa;
        int blocks = resident_blocks(r, l, u);
        head(b, &line, i ? "" : "kernel");
        buf_printf(b, "%d VGPRs (%d of them AGPRs), %d SGPRs, %d spilled, %lld "
                   "B scratch; %lld B LDS; %d block%s/CU\n", x->vgprs,
                   x->agprs, x->sgprs, x->vgpr_spills + x->sgpr_spills,
                   (long long)x->scratch, (long long)u->static_shared, blocks,
                   blocks == 1 ? "" : "s");
        report_column(b, b->len, 10);
        buf_printf(b, "instructions: %d MFMA of %d planned, %d VALU, %d SALU, "
                   "%d LDS, %d global, %d scalar loads\n", x->mfma,
                   gpu_planned_mfma(&r->kernel->plan->launches[i]), x->valu,
                   x->salu, x->lds, x->vmem, x->smem);
    }
}

// ---- right ------------------------------------------------------------------

static void bits_row(TextBuf *b, const GpuReport *r, const GpuOutput *g,
                     const OutputVerdict *o)
{
    size_t line;

    report_row(b, &line, "run", "against 'tilesim run'");
    buf_printf(b, g->rel == 0 ? "rel 0" : "rel %.1e", g->rel);
    report_row_limit(b, line, g->wrong ? "WRONG" : "ok", g->limit);
    if (g->as_sets)
        buf_puts(b, ", rows as sets: their order is the atomics'");
    if (g->compared && g->equal == g->compared)
        buf_puts(b, ", all bits equal");
    else if (g->compared)
        buf_printf(b, ", %.1f %% of bits equal",
                   floor(1000.0 * (double)g->equal / (double)g->compared) / 10);
    if (g->worst_at >= 0 && g->worst_ulps > 0)
        buf_printf(b, ", max %.2g ulp of %s", g->worst_ulps,
                   dtype_info(o->dtype)->brief);
    if (r->verdict->sampled < r->verdict->blocks)
        buf_printf(b, ", %lld of %lld blocks", (long long)r->verdict->sampled,
                   (long long)r->verdict->blocks);
    buf_addc(b, '\n');
}

static void reached_row(TextBuf *b, const GpuOutput *g)
{
    size_t line;

    if (!g->compared)
        return;
    buf_puts(b, "\nwhat lies at addresses\n");
    report_row(b, &line, "run", "against 'tilesim run'");
    buf_printf(b, g->rel == 0 ? "rel 0" : "rel %.1e", g->rel);
    report_row_limit(b, line, g->wrong ? "WRONG" : "ok", g->limit);
    buf_printf(b, ", %.1f %% of bits equal\n",
               floor(1000.0 * (double)g->equal / (double)g->compared) / 10);
}

static void unwritten_row(TextBuf *b, const GpuOutput *g,
                          const OutputVerdict *o)
{
    int64_t index[TENSOR_MAX_RANK] = {0};
    size_t line;

    if (!g->unwritten)
        return;
    report_row(b, &line, "written", "with poison before");
    buf_grouped(b, g->unwritten);
    buf_puts(b, " not");
    report_column(b, line, 62);
    buf_puts(b, "WRONG");
    report_column(b, line, 69);
    buf_puts(b, "first ");
    flat_to_index(&o->got, g->unwritten_at, index);
    report_index(b, o, index);
    buf_addc(b, '\n');
}

static void verify_line(TextBuf *b, const GpuReport *r)
{
    const GpuVerdict *v = r->verdict;
    bool written = true, repeats = true;
    size_t line;

    if (!v->poisoned)
        return;
    for (int i = 0; i < v->output_count; i++) {
        written = written && !v->outputs[i].unwritten;
        repeats = repeats && v->outputs[i].repeats;
    }
    buf_addc(b, '\n');
    head(b, &line, "verify");
    buf_printf(b, "%s, %s, %s",
               written ? "every element written" : "elements NOT WRITTEN",
               v->beside < 0 ? "nothing outside" : "bytes OUTSIDE a tensor",
               repeats ? "the same bits twice" : "other bits the second time");
    report_column(b, line, 69);
    buf_puts(b, written && v->beside < 0 ? "ok\n" : "WRONG\n");
    if (v->beside >= 0) {
        Text name = r->run.c->kernel->ir->params[v->beside].name;

        report_column(b, b->len, 10);
        buf_printf(b, "byte %lld of '%.*s', which has %zu, was written\n",
                   (long long)v->beside_at, TEXT_ARG(name),
                   r->c->tensors[v->beside].bytes);
    }
}

static void outputs(TextBuf *b, const GpuReport *r)
{
    const Verdict *v = r->run.v;

    for (int i = 0; i < v->output_count; i++) {
        report_output(b, &r->run, &v->outputs[i]);
        bits_row(b, r, &r->verdict->outputs[i], &v->outputs[i]);
        unwritten_row(b, &r->verdict->outputs[i], &v->outputs[i]);
    }
    reached_row(b, &r->verdict->reached);
    for (int i = 0; i < v->output_count; i++)
        report_mismatch(b, &v->outputs[i], r->run.reference);
    verify_line(b, r);
}

static void cycles_line(TextBuf *b, const GpuReport *r)
{
    TextBuf table = {0}, text = {0};
    size_t line;

    if (isa_device_cycles(r->executor, &text, &table)) {
        head(b, &line, "cycles");
        buf_printf(b, "%.*s", (int)text.len, text.at);
        if (r->run.cli->verbose)
            buf_printf(b, "%.*s", (int)table.len, table.at);
    }
    buf_release(&table);
    buf_release(&text);
}

static void counters(TextBuf *b, const GpuReport *r)
{
    buf_addc(b, '\n');
    isa_device_counters(r->executor, b);
    if (!r->planned.known)
        return;
    buf_printf(b, "  planned: %lld bank conflicts of %lld accesses to shared "
               "memory", (long long)r->planned.conflicts,
               (long long)r->planned.issues);
    if (r->planned.unknown)
        buf_printf(b, ", %d not counted", r->planned.unknown);
    buf_addc(b, '\n');
}

// ---- fast -------------------------------------------------------------------

static void put_time(TextBuf *b, double ms)
{
    if (ms < 1)
        buf_printf(b, "%.3g us", ms * 1e3);
    else
        buf_printf(b, "%.3g ms", ms);
}

static void rate_line(TextBuf *b, const GpuReport *r)
{
    static const char *const flop[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP",
                                       "TFLOP", "PFLOP", NULL};
    const GpuBench *n = r->bench;
    size_t line;

    head(b, &line, "rate");
    if (n->flops > 0) {
        buf_printf(b, "%.3g TFLOP/s", n->flops / n->median * 1e-9);
        if (n->peak > 0)
            buf_printf(b, ", %.0f %% of %.0f dense %s",
                       100 * n->flops / n->median * 1e-9 / n->peak, n->peak,
                       mma_type_info(n->operand)->name);
        buf_puts(b, "   ");
        report_scaled(b, n->flops, 1000, flop);
        buf_puts(b, " in T.gemm");
        report_column(b, line, 69);
    }
    buf_printf(b, "%.3g GB/s, every tensor once\n",
               n->bytes / n->median * 1e-6);
}

static void bench_lines(TextBuf *b, const GpuReport *r)
{
    const GpuBench *n = r->bench;
    double floor_ms = fmax(n->matrix_floor, n->memory_floor);
    size_t line;

    buf_addc(b, '\n');
    head(b, &line, "time");
    buf_puts(b, "median ");
    put_time(b, n->median);
    buf_puts(b, "   min ");
    put_time(b, n->low);
    buf_puts(b, "   p95 ");
    put_time(b, n->p95);
    buf_printf(b, "   (%d runs after %d", n->runs, n->warm);
    if (n->copies > 1)
        buf_printf(b, ", %d sets of inputs in turn, past L2", n->copies);
    buf_puts(b, ")\n");
    rate_line(b, r);
    head(b, &line, "floor");
    put_time(b, floor_ms);
    buf_printf(b, " (%s)   reached %.0f %%\n",
               n->matrix_floor > n->memory_floor ? "matrix units" : "memory",
               100 * floor_ms / n->median);
    if (!n->flops_exact)
        buf_puts(b, "          the work depends on data: T.gemm is not "
                    "counted\n");
}

void gpu_report_text(TextBuf *b, const GpuReport *r)
{
    if (r->run.c)
        report_head(b, &r->run);
    else
        report_kernel(b, r->run.cli, r->kernel->kernel);
    buf_addc(b, '\n');
    device_line(b, r);
    plan_line(b, r);
    build_line(b, r);
    isa_lines(b, r);
    if (r->times && r->run.cli->verbose)
        start_line(b, r->times);
    if (!r->c)
        return;
    if (r->executor)
        cycles_line(b, r);
    outputs(b, r);
    if (r->executor && r->run.cli->verbose)
        counters(b, r);
    if (r->bench)
        bench_lines(b, r);
    if (!r->run.script)
        report_last_line(b, &r->run);
}

void gpu_report_line(TextBuf *b, const GpuReport *r)
{
    size_t line = b->len;
    double rounding = 0, rel = 0;
    const Verdict *v = r->run.v;

    buf_puts(b, r->run.exit == EXIT_CLEAN ? "ok     " : "WRONG  ");
    for (int i = 0; r->c && i < v->output_count; i++) {
        rounding = fmax(rounding, v->outputs[i].rounding_rel);
        rel = fmax(rel, r->verdict->outputs[i].rel);
    }
    if (r->bench) {
        put_time(b, r->bench->median);
        report_column(b, line, 18);
        if (r->bench->flops > 0)
            buf_printf(b, "%.3g TFLOP/s",
                       r->bench->flops / r->bench->median * 1e-9);
        report_column(b, line, 34);
    } else if (r->c && v->has_reference) {
        buf_printf(b, "rounding %.1e", rounding);
        report_column(b, line, 26);
    }
    if (r->c)
        buf_printf(b, "run %.1e", rel);
    report_column(b, line, 50);
    buf_text(b, r->run.sweep);
    buf_addc(b, '\n');
}

// ---- two plans --------------------------------------------------------------

typedef struct {
    Text *at;
    int len, room;
} Lines;

static Lines split(Arena *a, const TextBuf *b)
{
    Lines l = {0};

    for (size_t from = 0; from < b->len;) {
        const char *end = memchr(b->at + from, '\n', b->len - from);
        size_t to = end ? (size_t)(end - b->at) : b->len;

        vec_push(a, &l, ((Text){b->at + from, to - from}));
        from = to + 1;
    }
    return l;
}

// common[i][j]: lines in common of a from i and b from j.
static void put_diff(TextBuf *out, Arena *arena, const Lines *a, const Lines *b)
{
    int w = b->len + 1, i = 0, j = 0;
    int *common = new_array(arena, int, (size_t)(a->len + 1) * (size_t)w);

    for (i = a->len - 1; i >= 0; i--)
        for (j = b->len - 1; j >= 0; j--) {
            int down = common[(i + 1) * w + j], right = common[i * w + j + 1];

            common[i * w + j] = text_eq(a->at[i], b->at[j])
                                    ? common[(i + 1) * w + j + 1] + 1
                                    : down > right ? down : right;
        }
    for (i = j = 0; i < a->len || j < b->len;) {
        if (i < a->len && j < b->len && text_eq(a->at[i], b->at[j])) {
            i++, j++;
        } else if (j == b->len || (i < a->len && common[(i + 1) * w + j]
                                                     >= common[i * w + j + 1])) {
            buf_printf(out, "- %.*s\n", TEXT_ARG(a->at[i]));
            i++;
        } else {
            buf_printf(out, "+ %.*s\n", TEXT_ARG(b->at[j]));
            j++;
        }
    }
}

void gpu_report_plans(TextBuf *out, const Plan *a, const Plan *b)
{
    TextBuf x = {0}, y = {0};
    Arena *arena = arena_create();

    plan_print(&x, a);
    plan_print(&y, b);
    Lines p = split(arena, &x), q = split(arena, &y);
    put_diff(out, arena, &p, &q);
    arena_destroy(arena);
    buf_release(&x);
    buf_release(&y);
}
