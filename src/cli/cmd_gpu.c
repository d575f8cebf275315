// cmd_gpu.c - `tilesim gpu`: translate, build, run on a device, compare, time.
#include <stdlib.h>

#include "cli/gpu_report.h"
#include "cli/isa_device.h"
#include "cli/run.h"
#include "support/parallel.h"

typedef enum { EMIT_NOT, EMIT_CUDA, EMIT_PTX, EMIT_CUBIN, EMIT_HIP, EMIT_ISA } Emit;

// A script's launch that ran on the device, and not yet on the CPU.
typedef struct {
    bool active;
    LaunchCase launch;
    GpuKernel kernel;
    GpuCase c;
    GpuVerdict verdict;
} Pending;

// A Run, first of all: what cmd_run.c passes to the functions below.
typedef struct {
    Run run;
    const Device *target;           // by --target; NULL: by the device
    PlanRules rules;
    Emit emit;
    bool build_only, verify, bench, keep, diff_plan;
    bool wrote;                     // the file of --emit -o
    int runs;
    Gpu *gpu;                       // started when first needed
    bool opened;
    GpuTimes times;
    IsaDevice *executor;            // in the place of a card, or NULL
    bool shown;                     // the launch has its report
    ExitCode no_gpu;                // why there is none; 0: not tried, or open
    struct {                        // judged for a script
        const KernelObject **at;
        int len, room;
    } seen;
    Pending pending;
} GpuRun;

static GpuRun *gpu_run_of(Run *r)
{
    return (GpuRun *)r;
}

// ---- the device -------------------------------------------------------------

static bool fits_device(GpuRun *g)
{
    const GpuInfo *i = gpu_info(g->gpu);
    const Device *d = g->target ? g->target : gpu_target(i);
    bool ok = d && (d->arch == ARCH_SM90 ? i->major == 9 : i->major >= 8);

    if (!ok)
        diag_error(g->run.s.cli->diag, EXIT_NO_DEVICE, (Span){0},
                   "other-device", "%s is sm_%d%d, which does not run a plan "
                   "for %s", i->name, i->major, i->minor,
                   d ? d->title : "sm_80 or later");
    g->target = d;
    return ok;
}

static bool is_amd(const GpuRun *g)
{
    return g->target && g->target->vendor == VENDOR_AMD;
}

static bool open_executor(GpuRun *g, const char *why)
{
    Cli *c = g->run.s.cli;
    IsaDeviceOptions o = {
        .target = g->target, .why = why,
        .orders = (int)cli_int(c, OPT_INTERLEAVE, 3, 1, 1000)};

    if (g->bench)
        diag_error(c->diag, EXIT_NO_DEVICE, (Span){0}, "no-device",
                   "--bench wants a card, for the executor knows no time: %s",
                   why);
    else
        g->gpu = isa_device_open(c->arena, c->diag, &o, &g->executor);
    return g->gpu != NULL;
}

// A card where there is one; the executor, too, where orders are asked for.
static bool open_amd(GpuRun *g)
{
    Cli *c = g->run.s.cli;
    const char *why = "--interleave asks for it";

    if (!cli_given(c, OPT_INTERLEAVE))
        g->gpu = gpu_open_amd(c->arena, c->diag, &why);
    if (g->gpu && !g->target)
        g->target = gpu_target(gpu_info(g->gpu));
    return g->gpu || (*why && g->target && open_executor(g, why));
}

// A card of --target's vendor, without one AMD's where it has one. NVIDIA's
// driver starts while the kernel is made.
static void begin(Run *r)
{
    GpuRun *g = gpu_run_of(r);
    Cli *c = r->s.cli;

    if (g->gpu || r->kernel_only || is_amd(g))
        return;
    Gpu *nvidia = gpu_start(c->arena, c->diag);
    if (!g->target && open_amd(g))
        gpu_close(nvidia);
    else
        g->gpu = nvidia;
}

static bool open_any(GpuRun *g)
{
    bool ok;

    begin(&g->run);
    if (is_amd(g))
        ok = g->gpu || open_amd(g);
    else
        ok = gpu_open(g->gpu) && fits_device(g);
    if (ok && cli_given(g->run.s.cli, OPT_TIMEOUT))
        gpu_set_watchdog(g->gpu, 1e9);          // --timeout is the limit
    return ok;
}

static bool open_device(GpuRun *g)
{
    bool ok = true;

    if (g->no_gpu)
        return false;
    if (!g->opened)
        ok = open_any(g);
    else if (gpu_faulted(g->gpu))
        ok = gpu_restart(g->gpu);
    g->opened = true;
    if (!ok)
        g->no_gpu = diag_fresh(g->run.s.cli->diag);
    return ok;
}

static const char *arch_of(const GpuRun *g)
{
    if (g->opened)
        return gpu_arch(g->run.s.cli->arena, gpu_info(g->gpu));
    return device_arch_name(g->target);
}

static GpuForm form_of(const GpuRun *g)
{
    if (is_amd(g))
        return GPU_HSACO;
    return g->emit == EMIT_PTX ? GPU_PTX : GPU_CUBIN;
}

// Shared memory of a size that the kernel itself says.
static bool fits_shared(GpuRun *g, const GpuKernel *k)
{
    bool ok = true;

    for (int i = 0; i < k->program->launch_count; i++) {
        const GpuLaunch *l = &k->program->launches[i];
        if (l->static_shared <= k->target->smem_block)
            continue;
        diag_error(g->run.s.cli->diag, EXIT_NO_FIT, l->stmt->at, "gpu-no-fit",
                   "the kernel needs %lld bytes of shared memory a block, %s "
                   "has %lld", (long long)l->static_shared, k->target->title,
                   (long long)k->target->smem_block);
        ok = false;
    }
    return ok;
}

static bool build(GpuRun *g, GpuKernel *k, const char *arch)
{
    Cli *c = g->run.s.cli;
    const char *why;

    if (!fits_shared(g, k) || !gpu_kernel_build(k, arch, form_of(g)))
        return false;
    if (!is_amd(g))
        return true;
    if (isa_image_usage(c->arena, k->built.image, &k->built, &why)) {
        gpu_check_plan(c->diag, k);
        return true;
    }
    diag_error(c->diag, EXIT_ENVIRONMENT, (Span){0}, "gpu-image",
               "what %.*s made %s", TEXT_ARG(k->built.toolchain), why);
    return false;
}

// ---- what is written --------------------------------------------------------

// To -o FILE, or to standard output.
static bool write_text(GpuRun *g, Text text)
{
    Cli *c = g->run.s.cli;
    const char *path = text_cstr(c->arena, cli_text(c, OPT_OUT, "")), *why;

    if (!*path) {
        fwrite(text.at, 1, text.len, stdout);
        return true;
    }
    if (g->wrote) {
        diag_error(c->diag, EXIT_USAGE, (Span){0}, "one-file",
                   "'%s' holds one kernel, and there are more: choose with "
                   "--kernel, or leave out -o", path);
        return false;
    }
    g->wrote = true;
    if (file_write(path, text.at, text.len, &why))
        return true;
    diag_error(c->diag, EXIT_ENVIRONMENT, (Span){0}, "no-file",
               "cannot write '%s': %s", path, why);
    return false;
}

static void keep_source(GpuRun *g, const GpuKernel *k)
{
    const char *why;

    if (g->keep && !file_write(k->name, k->program->source.at,
                               k->program->source.len, &why))
        diag_error(g->run.s.cli->diag, EXIT_ENVIRONMENT, (Span){0}, "no-file",
                   "cannot write '%s': %s", k->name, why);
}

static void diff_plans(GpuRun *g, KernelObject *k)
{
    Arena *a = g->run.s.cli->arena;
    const Plan *theirs = plan_build(a, k->ir, g->target, PLAN_TILELANG);
    const Plan *ours = theirs ? plan_build(a, k->ir, g->target, PLAN_TILESIM)
                              : NULL;
    TextBuf b = {0};

    if (!ours)
        return;
    gpu_report_plans(&b, theirs, ours);
    if (!b.len)
        buf_puts(&b, "the two rules plan the same\n");
    buf_write(&b, stdout);
    buf_release(&b);
}

// ---- one launch -------------------------------------------------------------

static void show(GpuRun *g, const GpuReport *report)
{
    TextBuf b = {0};

    g->shown = true;
    if (g->run.s.cli->json)
        gpu_report_json(&g->run.json, report);
    else if (report->run.sweep.len)
        gpu_report_line(&b, report);
    else
        gpu_report_text(&b, report);
    buf_write(&b, stdout);
    fflush(stdout);
    buf_release(&b);
}

// A sweep has a row for a launch that came to nothing, too.
static void show_nothing(GpuRun *g, Text sweep, ExitCode code)
{
    TextBuf b = {0};

    if (!sweep.len || g->shown)
        return;
    if (g->run.s.cli->json)
        report_json_not_run(&g->run.json, code, sweep);
    else
        report_line_not_run(&b, code, sweep);
    buf_write(&b, stdout);
    fflush(stdout);
    buf_release(&b);
}

// ---- what the plan says of shared memory ------------------------------------

static bool start_counts(const GpuKernel *k, LaunchCase *c, VerdictOptions *o,
                         GpuReport *report)
{
    const Plan *plans[] = {k->plan};

    if (!counts_are_known(c->kernel)
        || !counts_for_run(c->kernel, plans, 1, c->args, &report->counts))
        return false;
    o->event = count_event;
    o->event_ctx = report->counts.events;
    return true;
}

static GpuPlanned planned_counts(const GpuKernel *k, const GpuReport *report)
{
    Counter *c = counts_of(&report->counts, k->host->options.arena, k->plan);
    GpuPlanned sum = {.known = true};
    int n;
    const CountLaunch *l = count_launches(c, &n);

    for (int i = 0; i < n; i++) {
        sum.conflicts += l[i].shared.conflicts;
        sum.issues += l[i].shared.issues;
        sum.unknown += l[i].unknown;
    }
    return sum;
}

// The CPU's run, which is what the device is held to; with --bench of some
// blocks alone, and without the reference, which takes long at such sizes.
static Verdict run_on_cpu(GpuRun *g, const RunCase *rc, const GpuKernel *k,
                          GpuReport *report)
{
    Run *r = &g->run;
    VerdictOptions o = r->judge;
    Value reference = rc->reference;

    o.keep_writes = true;
    if (g->bench) {
        reference = V_NONE;
        o.run_blocks = r->judge.sample_blocks;
    }
    progress_start(&r->line, r->s.cli);
    bool counted = g->executor && !o.run_blocks && start_counts(k, rc->c, &o,
                                                               report);
    Verdict v = verdict_run(r->s.host, rc->c, reference, &o);
    if (counted)
        report->planned = planned_counts(k, report);
    progress_end(&r->line);
    run_show_printed(r, &v.run);
    run_report_findings(r, &v.run);
    return v;
}

// --out writes what the device made.
static bool save_outputs(GpuRun *g, LaunchCase *c, const Verdict *v)
{
    bool ok;
    Tensor kept[VERDICT_MAX_OUTPUTS];

    for (int i = 0; i < v->output_count; i++) {
        Tensor *t = &c->args[v->outputs[i].param].tensor;

        kept[i] = *t;
        *t = v->outputs[i].got;
    }
    ok = launch_save(g->run.s.host, c);
    for (int i = 0; i < v->output_count; i++)
        c->args[v->outputs[i].param].tensor = kept[i];
    return ok;
}

static void judge_outputs(GpuRun *g, const RunCase *rc, GpuCase *c,
                          GpuVerdict *gv, GpuReport *report)
{
    Run *r = &g->run;
    GpuBench bench;
    bool timed = !g->bench || gpu_bench(c, g->runs, &bench);
    Verdict v = run_on_cpu(g, rc, report->kernel, report);

    if (!v.failed && !v.stopped && timed) {
        gpu_verify_judge(c, gv, &v, &r->judge);
        report->run.v = &v;
        report->verdict = gv;
        report->bench = g->bench ? &bench : NULL;
        report->run.exit = exit_worst(gv->wrong ? EXIT_FINDINGS : EXIT_CLEAN,
                                      diag_fresh(r->s.cli->diag));
        show(g, report);
        run_count_outputs(r, rc->c, &v);
        save_outputs(g, rc->c, &v);
    } else {
        report->run.exit = EXIT_CLEAN;
    }
    verdict_release(&v);
    counts_release(&report->counts);
}

static void note(const GpuRun *g, double *when)
{
    *when = time_now() - g->run.s.cli->started;
}

// The code of what was compared.
static ExitCode run_on_device(GpuRun *g, const RunCase *rc, const GpuKernel *k,
                              GpuReport *report)
{
    GpuVerdict gv = {0};
    GpuCase c = {0};

    bool loaded = gpu_case_make(g->gpu, k, rc->c, &c);
    note(g, &g->times.loaded);
    if (loaded && gpu_verify_run(&c, g->verify, &gv)) {
        note(g, &g->times.ran);
        report->times = &g->times;
        report->c = &c;
        report->device = gpu_info(g->gpu);
        judge_outputs(g, rc, &c, &gv, report);
    }
    gpu_verdict_release(&gv);
    gpu_case_release(&c);
    return report->run.exit;
}

static GpuReport new_report(GpuRun *g, const GpuKernel *k)
{
    Run *r = &g->run;

    return (GpuReport){
        .run = {.cli = r->s.cli, .host = r->s.host, .file = r->s.path,
                .subject = "the kernel on the device", .exit = EXIT_CLEAN},
        .kernel = k, .arch = arch_of(g), .executor = g->executor};
}

static ExitCode judge_case(Run *r, const RunCase *rc)
{
    GpuRun *g = gpu_run_of(r);
    KernelObject *k = rc->c->kernel;
    ExitCode code = EXIT_CLEAN;
    GpuKernel kernel;

    vec_push(r->s.cli->arena, &g->seen, k);
    r->last_upstream = true;        // a script goes on to its other kernels
    g->shown = false;
    note(g, &g->times.staged);
    if (!open_device(g))
        return g->no_gpu;
    note(g, &g->times.device);
    if (gpu_kernel_make(r->s.host, k, g->target, g->rules, &kernel)) {
        GpuReport report = new_report(g, &kernel);

        note(g, &g->times.planned);
        report.run.c = rc->c;
        report.run.reference = rc->name;
        report.run.sweep = rc->sweep;
        report.run.script = rc->script;
        keep_source(g, &kernel);
        bool built = build(g, &kernel, report.arch);
        note(g, &g->times.built);
        if (built)
            code = run_on_device(g, rc, &kernel, &report);
    }
    code = exit_worst(code, diag_fresh(r->s.cli->diag));
    show_nothing(g, rc->sweep, code);
    return code;
}

// ---- a kernel without tensors -----------------------------------------------

// With -o the code object, else its instructions.
static void write_isa(GpuRun *g, const GpuKernel *k)
{
    Cli *c = g->run.s.cli;
    TextBuf b = {0};

    if (cli_given(c, OPT_OUT)) {
        write_text(g, k->built.image);
        return;
    }
    isa_image_put(&b, c->arena, k->built.image);
    buf_write(&b, stdout);
    buf_release(&b);
}

static void write_kernel(GpuRun *g, GpuKernel *k, Text sweep)
{
    GpuReport report = new_report(g, k);

    keep_source(g, k);
    if (g->emit == EMIT_CUDA || g->emit == EMIT_HIP) {
        write_text(g, k->program->source);
        return;
    }
    if (!build(g, k, report.arch))
        return;
    report.run.sweep = sweep;
    if (g->emit == EMIT_PTX || g->emit == EMIT_CUBIN)
        write_text(g, k->built.image);
    else if (g->emit == EMIT_ISA)
        write_isa(g, k);
    else
        show(g, &report);
}

static ExitCode kernel_only(Run *r, KernelObject *k, Text sweep)
{
    GpuRun *g = gpu_run_of(r);
    GpuKernel kernel;

    if (g->diff_plan)
        diff_plans(g, k);
    else if (gpu_kernel_make(r->s.host, k, g->target, g->rules, &kernel))
        write_kernel(g, &kernel, sweep);
    r->launches++;
    return diag_fresh(r->s.cli->diag);
}

// ---- scripts ----------------------------------------------------------------

static bool was_seen(const GpuRun *g, const KernelObject *k)
{
    for (int i = 0; i < g->seen.len; i++)
        if (g->seen.at[i] == k)
            return true;
    return false;
}

// ---- what a script launches itself ------------------------------------------

static void forget_pending(GpuRun *g)
{
    gpu_verdict_release(&g->pending.verdict);
    gpu_case_release(&g->pending.c);
    g->pending = (Pending){0};
}

// TMA and the emitter know rows without gaps.
static bool are_dense(GpuRun *g, const KernelObject *k, const KernelArg *args)
{
    for (int i = 0; i < k->ir->param_count; i++)
        if (!args[i].is_scalar && !tensor_is_contiguous(&args[i].tensor)) {
            diag_error(g->run.s.cli->diag, EXIT_LIMIT, k->ir->at, "gpu-strides",
                       "'%.*s' is a view with gaps: that is not supported on "
                       "a GPU", TEXT_ARG(k->ir->params[i].name));
            return false;
        }
    return true;
}

// Each kernel's first launch runs on the device, before it does on the CPU, with
// the tensors as they are.
static void on_launching(void *ctx, KernelObject *k, KernelArg *args)
{
    GpuRun *g = gpu_run_of(ctx);
    Pending *p = &g->pending;

    forget_pending(g);
    if (was_seen(g, k) || !open_device(g))
        return;
    vec_push(g->run.s.cli->arena, &g->seen, k);
    launch_case_of(g->run.s.host, k, args, &p->launch);
    if (!are_dense(g, k, args)
        || !gpu_kernel_make(g->run.s.host, k, g->target, g->rules, &p->kernel))
        return;
    keep_source(g, &p->kernel);
    p->active = build(g, &p->kernel, arch_of(g))
                && gpu_case_make(g->gpu, &p->kernel, &p->launch, &p->c);
    p->c.fresh_shared = true;
    p->active = p->active && gpu_verify_run(&p->c, false, &p->verdict);
}

// What a script's last line counts: outputs that were held to the CPU's.
static void count_compared(GpuRun *g, const LaunchCase *c, const Verdict *v,
                           const GpuVerdict *gv)
{
    Run *r = &g->run;

    run_count_outputs(r, c, v);
    r->judged++;
    r->outputs += gv->output_count;
    for (int i = 0; i < gv->output_count; i++)
        r->wrong_outputs += gv->outputs[i].wrong;
}

// The CPU has run the same launch: are its outputs the device's?
static void on_launched(void *ctx, const KernelObject *k,
                        const InterpResult *run)
{
    GpuRun *g = gpu_run_of(ctx);
    Pending *p = &g->pending;
    Verdict v = {.run = *run};

    run_report_findings(&g->run, run);
    if (!p->active || p->launch.kernel != k)
        return;
    GpuReport report = new_report(g, &p->kernel);
    verdict_list(&p->launch, &v);
    gpu_verify_judge(&p->c, &p->verdict, &v, &g->run.judge);
    report.run.c = &p->launch;
    report.run.v = &v;
    report.run.script = true;
    report.c = &p->c;
    report.device = gpu_info(g->gpu);
    report.verdict = &p->verdict;
    report.run.exit = p->verdict.wrong ? EXIT_FINDINGS : EXIT_CLEAN;
    show(g, &report);
    count_compared(g, &p->launch, &v, &p->verdict);
    g->run.exit = exit_worst(g->run.exit, report.run.exit);
    forget_pending(g);
}

static void launch_recorded(Run *r, KernelObject *k)
{
    CaseOptions options = {0};
    LaunchCase c;

    if (launch_case(r->s.host, k, &options, &c)) {
        RunCase rc = {.c = &c, .reference = V_NONE, .script = true};

        run_judge(r, &rc);
    }
    launch_case_release(&c);
}

// Kernels that the script made and asserted nothing about, on tensors of ours.
static void after_script(Run *r)
{
    GpuRun *g = gpu_run_of(r);
    Host *h = r->s.host;

    for (int i = 0; i < h->kernels.len && !parallel_cancelled(); i++) {
        KernelObject *k = h->kernels.at[i];

        if (r->kernel_only)
            r->exit = exit_worst(r->exit, kernel_only(r, k, (Text){0}));
        else if (!was_seen(g, k))
            launch_recorded(r, k);
    }
}

// ---- the command ------------------------------------------------------------

static Emit read_emit(const Cli *c)
{
    Text t = cli_text(c, OPT_EMIT, "");

    if (text_is(t, "cuda"))
        return EMIT_CUDA;
    if (text_is(t, "ptx"))
        return EMIT_PTX;
    if (text_is(t, "cubin"))
        return EMIT_CUBIN;
    if (text_is(t, "hip"))
        return EMIT_HIP;
    if (text_is(t, "isa"))
        return EMIT_ISA;
    if (cli_given(c, OPT_EMIT))
        cli_usage(c, "--emit '%.*s': expected cuda, ptx, cubin, hip or isa",
                  TEXT_ARG(t));
    return EMIT_NOT;
}

static void read_target(GpuRun *g, const Cli *c)
{
    const Device *devices[DEVICE_COUNT];
    int n = cli_devices(c, session_target(c), devices, DEVICE_COUNT);

    if (n > 1)
        cli_usage(c, "gpu takes one --target, for it runs on one device");
    bool amd = devices[0]->vendor == VENDOR_AMD;
    if (amd && devices[0]->arch != ARCH_GFX942)
        diag_error(c->diag, EXIT_LIMIT, (Span){0}, "not-built",
                   "'gpu' for %s is not built yet", devices[0]->title);
    if (g->emit && amd != (g->emit >= EMIT_HIP))
        cli_usage(c, "--emit %s is not for --target %s, which takes %s",
                  cli_text(c, OPT_EMIT, "").at, devices[0]->name,
                  amd ? "hip and isa" : "cuda and ptx");
    if (cli_given(c, OPT_TARGET) || g->run.kernel_only)
        g->target = devices[0];
}

static void read_options(GpuRun *g, const Cli *c)
{
    g->emit = read_emit(c);
    g->rules = session_rules(c, PLAN_TILESIM);
    g->build_only = cli_flag(c, OPT_BUILD_ONLY);
    g->diff_plan = cli_flag(c, OPT_DIFF_PLAN);
    g->verify = cli_flag(c, OPT_VERIFY);
    g->bench = cli_flag(c, OPT_GPU_BENCH);
    g->keep = cli_flag(c, OPT_KEEP);
    g->runs = (int)cli_int(c, OPT_RUNS, 100, 1, 100000);
    if (g->emit || g->build_only || g->diff_plan)
        g->run.kernel_only = kernel_only;
    else
        g->run.judge_case = judge_case;
    g->run.after_script = after_script;
    if (c->json && (g->emit || g->diff_plan))
        cli_usage(c, "--json reports a launch; --emit and --diff-plan print "
                  "text");
    read_target(g, c);
}

int cmd_gpu(Cli *c)
{
    GpuRun g = {.run = {.s = {.cli = c}, .command = "gpu", .begin = begin}};
    FILE *nowhere = fopen("/dev/null", "w");    // what a script prints of a run
    HostOptions options = {.out = c->json ? stderr : stdout,
                           .launching = on_launching, .launched = on_launched,
                           .numerics = NUMERICS_KNOWN};
    int code;

    read_options(&g, c);
    options.record_only = g.run.kernel_only != NULL;
    if (options.record_only && nowhere)
        options.out = nowhere;
    code = run_command(&g.run, c, &options);
    if (nowhere)
        fclose(nowhere);
    c->leave = g.gpu && (gpu_hangs(g.gpu) || gpu_starting(g.gpu));
    if (g.gpu && !c->leave)
        gpu_close(g.gpu);
    return code;
}
