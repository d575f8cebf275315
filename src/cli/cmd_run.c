// cmd_run.c - `tilesim run`: execute, compare with the reference, report.
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lds_report.h"
#include "cli/run.h"
#include "cli/sweep.h"
#include "support/parallel.h"

// ---- one launch -------------------------------------------------------------

void run_report_findings(Run *r, const InterpResult *run)
{
    Diag *d = r->s.cli->diag;
    for (int i = 0; i < run->finding_count; i++) {
        const InterpFinding *f = &run->findings[i];
        diag_error(d, EXIT_FINDINGS, f->at, f->id, "%s", f->message);
        if (f->count > 1)
            diag_note(d, f->at, "%lld times in all", (long long)f->count);
    }
    r->findings += run->finding_total;
}

void run_show_printed(const Run *r, const InterpResult *run)
{
    FILE *out = r->s.cli->json ? stderr : stdout;
    if (run->printed.len)
        buf_write(&run->printed, out);
}

// On standard output at once, so that what a script prints stands in order.
static void show_report(Run *r, const RunReport *report)
{
    TextBuf b = {0};
    if (r->s.cli->json)
        report_json(&r->json, report);
    else if (report->sweep.len)
        report_line(&b, report);
    else if (!report->v->failed)
        report_text(&b, report);
    buf_write(&b, stdout);
    fflush(stdout);
    buf_release(&b);
}

void run_count_outputs(Run *r, const LaunchCase *c, const Verdict *v)
{
    r->launches++;
    r->judged += v->has_reference;
    r->judged_name = c->kernel->ir->name;
    r->last_upstream = !v->failed;
    for (int i = 0; i < v->output_count; i++) {
        r->outputs += v->has_reference;
        r->wrong_outputs += v->outputs[i].wrong;
        r->last_upstream = r->last_upstream && v->outputs[i].upstream_passes;
    }
}

// --target: plans before, and counts of what ran after. False: none are wanted,
// or, after reporting, there is no plan.
static bool plan_targets(Run *r, const LaunchCase *c, const Device **devices,
                         LdsReport *out)
{
    int n = cli_devices(r->s.cli, "h100", devices, DEVICE_COUNT);
    if (!cli_given(r->s.cli, OPT_TARGET)
        || !lds_report_plan(r->s.cli, c->kernel, devices, n, out)
        || !counts_for_run(c->kernel, out->plan, n, c->args, &out->counts))
        return false;
    r->judge.event = count_event;
    r->judge.event_ctx = out->counts.events;
    return true;
}

// ---- --check ----------------------------------------------------------------

// Shadows of larger tensors are made where they were asked for.
static bool is_watched(const Run *r, const KernelObject *k,
                       const KernelArg *args)
{
    enum { MOST_ELEMENTS = 1 << 26 };
    int64_t n = 0;
    for (int i = 0; i < k->ir->param_count; i++)
        n += args[i].is_scalar ? 0 : tensor_count(&args[i].tensor);
    return r->watches && (r->asked || n <= MOST_ELEMENTS);
}

static void begin_watch(Run *r, const LaunchCase *c)
{
    RunWatch *w = &r->watch;
    bool part = r->judge.block[0] >= 0 || r->judge.run_blocks;
    w->host = r->s.host;
    w->report.wrong = 0;
    w->limited = 0;
    watch_begin(w, c->kernel, r->judge.event ? CODE_COUNTED : CODE_AS_WRITTEN,
                watch_empty(w, c), part, &r->judge.observer);
}

static void end_watch(Run *r, const LaunchCase *c, const InterpResult *run)
{
    int errors = r->watch.report.errors;
    if (!r->asked)
        run_report_findings(r, run);
    watch_end(&r->watch, c->kernel, c->args, run);
    r->findings += r->watch.report.errors - errors;
}

static void on_watching(void *ctx, KernelObject *k, const KernelArg *args,
                        const bool *given, InterpOptions *run)
{
    Run *r = ctx;
    r->watch.host = r->s.host;
    if (is_watched(r, k, args))
        watch_launch(&r->watch, k, args, given, run);
}

static ExitCode judge_case(Run *r, const RunCase *rc)
{
    LaunchCase *c = rc->c;
    const Device *devices[DEVICE_COUNT];
    LdsReport targets;
    bool counted = plan_targets(r, c, devices, &targets);
    bool watched = is_watched(r, c->kernel, c->args);
    progress_start(&r->line, r->s.cli);
    if (watched)
        begin_watch(r, c);
    Verdict v = verdict_run(r->s.host, c, rc->reference, &r->judge);
    r->judge.event = NULL;
    r->judge.observer = NULL;
    if (counted)
        lds_report_count(&targets);
    progress_end(&r->line);
    run_show_printed(r, &v.run);
    int64_t before = r->findings;
    if (watched)
        end_watch(r, c, &v.run);
    else
        run_report_findings(r, &v.run);
    run_note_launched(r, c->kernel, &v.run);
    ExitCode code = v.wrong ? EXIT_FINDINGS : EXIT_CLEAN;
    code = exit_worst(code, diag_fresh(r->s.cli->diag));
    RunReport report = {.cli = r->s.cli, .host = r->s.host, .c = c, .v = &v,
                        .file = r->s.path, .reference = rc->name,
                        .sweep = rc->sweep, .script = rc->script, .exit = code,
                        .targets = counted ? &targets : NULL,
                        .watched = r->asked ? r->watch.report.wishes.groups : 0,
                        .wrong = r->watch.report.wrong,
                        .limited = r->watch.limited > 0,
                        .found = r->findings - before};
    show_report(r, &report);
    if (counted)
        lds_report_free(&targets);
    run_count_outputs(r, c, &v);
    if (!v.failed && !v.stopped && !launch_save(r->s.host, c))
        code = exit_worst(code, diag_fresh(r->s.cli->diag));
    verdict_release(&v);
    return code;
}

ExitCode run_judge(Run *r, const RunCase *rc)
{
    ExitCode code = r->judge_case(r, rc);
    r->exit = exit_worst(r->exit, code);
    return code;
}

static ExitCode judge(Run *r, LaunchCase *c, Value reference, Text name,
                      Text sweep, bool script)
{
    RunCase rc = {c, reference, name, sweep, script};
    return run_judge(r, &rc);
}

static bool find_reference(Run *r, Text *name, Value *reference)
{
    const Cli *c = r->s.cli;
    bool named = cli_given(c, OPT_REF);
    *name = cli_text(c, OPT_REF, "ref_program");
    *reference = V_NONE;
    if (cli_flag(c, OPT_NO_REF) || r->s.is_ir || r->judge.block[0] >= 0)
        return true;
    if (launch_reference(r->s.host, r->s.host->module, *name, named, reference))
        return true;
    if (!named && !r->files.expect_count)
        diag_warning(c->diag, (Span){0}, "no-reference",
                     "the file has no 'ref_program': nothing to compare with");
    return !named;
}

// What became of a sweep's row that did not get as far as a report.
static void row_not_run(Run *r, ExitCode code, Text sweep)
{
    TextBuf b = {0};
    if (sweep.len && r->s.cli->json)
        report_json_not_run(&r->json, code, sweep);
    else if (sweep.len)
        report_line_not_run(&b, code, sweep);
    buf_write(&b, stdout);
    fflush(stdout);
    buf_release(&b);
}

static ExitCode launch_one(Run *r, const NamedText *defines, int count,
                           Text sweep)
{
    CaseOptions options = r->files;
    LaunchCase c;
    Value reference;
    Text name;
    ExitCode code;
    options.defines = defines;
    options.define_count = count;
    KernelObject *k = session_kernel(&r->s, &options);
    if (k && r->kernel_only)
        return r->kernel_only(r, k, sweep);
    bool ready = k && run_check_prints(r, k->ir);
    if (ready) {
        ready = launch_case(r->s.host, k, &options, &c)
                && find_reference(r, &name, &reference);
        if (ready)
            code = judge(r, &c, reference, name, sweep, false);
        launch_case_release(&c);
    }
    if (!ready) {
        code = diag_fresh(r->s.cli->diag);
        row_not_run(r, parallel_cancelled() ? EXIT_INTERRUPTED : code, sweep);
    }
    return code;
}

// One launch with these -D values; `sweep` is what its row is called, or "".
static void run_one(Run *r, const NamedText *defines, int count, Text sweep)
{
    diag_fresh(r->s.cli->diag);
    ExitCode code = launch_one(r, defines, count, sweep);
    r->exit = exit_worst(r->exit, code);
    bool ran = code == EXIT_CLEAN || code == EXIT_FINDINGS;
    if (parallel_cancelled())
        ran = false;
    r->rows[!ran ? 2 : code == EXIT_CLEAN ? 0 : 1]++;
}

// ---- sweeps -----------------------------------------------------------------

static void sweep_one(void *ctx, const SweepPoint *p)
{
    run_one(ctx, p->defines, p->count, p->words);
}

static void part(TextBuf *b, int n, const char *what)
{
    if (n)
        buf_printf(b, "%s%d %s", b->len ? ", " : "", n, what);
}

static void run_sweep(Run *r)
{
    TextBuf b = {0};
    ReferenceCache cache = {0};
    r->judge.cache = &cache;
    sweep_points(&r->s, sweep_one, r);
    reference_forget(&cache);
    r->judge.cache = NULL;
    part(&b, r->rows[0], "ok");
    part(&b, r->rows[1], "wrong");
    part(&b, r->rows[2], "without a result");
    if (b.len && !r->s.cli->json)
        printf("\n%d launches: %.*s\n", r->rows[0] + r->rows[1] + r->rows[2],
               (int)b.len, b.at);
    buf_release(&b);
}

// ---- scripts ----------------------------------------------------------------

static void on_launched(void *ctx, const KernelObject *k,
                        const InterpResult *run)
{
    Run *r = ctx;
    int errors = r->watch.report.errors;
    if (!r->asked)
        run_report_findings(r, run);
    watch_launched(&r->watch, k, run);
    r->findings += r->watch.report.errors - errors;
    run_note_launched(r, k, run);
    r->launches++;
}

// The name of a function, or of what functools.partial wraps.
static Text reference_name(Run *r, Value v)
{
    Value inner;
    for (int i = 0; i < 8 && v.kind != VAL_FUNCTION; i++) {
        if (!lang_getattr(r->s.host->lang, v, TEXT("func"), &inner, (Span){0}))
            return TEXT("its reference");
        v = inner;
    }
    return v.kind == VAL_FUNCTION && !text_is(v.function->name, "<lambda>")
               ? v.function->name : TEXT("its reference");
}

static bool on_asserted(void *ctx, const Assertion *a)
{
    Run *r = ctx;
    LaunchCase c;
    CaseOptions options = {.supply = a->supply, .inputs = a->inputs};
    VerdictOptions kept = r->judge;
    bool passes = false;
    r->judge.rtol = a->rtol;
    r->judge.atol = a->atol;
    r->judge.ratio = a->ratio;
    if (launch_case(r->s.host, a->kernel, &options, &c)) {
        judge(r, &c, a->reference, reference_name(r, a->reference),
              (Text){0}, true);
        passes = r->last_upstream;
    }
    launch_case_release(&c);
    r->judge = kept;
    return passes;
}

static void plural(TextBuf *b, int64_t n, const char *one, const char *many)
{
    buf_printf(b, "%lld %s", (long long)n, n == 1 ? one : many);
}

static void put_wrong(TextBuf *b, int wrong, int of)
{
    if (of == 1)
        buf_puts(b, "1 output wrong");
    else
        buf_printf(b, "%d of %d outputs wrong", wrong, of);
}

// The last line of a script's run: what it came to.
static void end_script(Run *r)
{
    ExitCode code = exit_worst(session_exit(&r->s), r->exit);
    TextBuf b = {0};
    if (!r->launches || r->s.cli->json || parallel_cancelled())
        return;
    bool clean = code == EXIT_CLEAN && !r->script_code;
    if (r->judged == 1 && r->launches == 1)
        buf_printf(&b, "%.*s judged for the script", TEXT_ARG(r->judged_name));
    else
        plural(&b, r->launches, "launch", "launches"),
            buf_printf(&b, " by the script, %d judged", r->judged);
    if (r->judged && r->wrong_outputs)
        buf_puts(&b, ": "), put_wrong(&b, r->wrong_outputs, r->outputs);
    else if (r->judged && clean)
        buf_puts(&b, ": "), plural(&b, r->outputs, "output right",
                                   "outputs right");
    buf_puts(&b, ", ");
    if (lang_checks(r->s.host->lang)) {
        plural(&b, lang_checks(r->s.host->lang), "check of its own",
               "checks of its own");
        buf_puts(&b, ", ");
    }
    plural(&b, r->findings, "finding", "findings");
    printf("\n%s: %.*s\n", clean ? "ok" : "failed", (int)b.len, b.at);
    buf_release(&b);
}

static bool has_tests(const Module *m)
{
    for (int i = 0; m && i < m->members.len; i++) {
        const Value *v = m->members.at[i].value;
        if (v && v->kind == VAL_FUNCTION
            && text_starts(m->members.at[i].key, "test"))
            return true;
    }
    return false;
}

static void run_tests(Run *r)
{
    if (!host_run_tests(r->s.host, r->s.host->module, "test")
        && diag_errors(r->s.cli->diag) == 0)
        r->exit = exit_worst(r->exit, EXIT_FINDINGS);
    end_script(r);
}

static void run_script(Run *r)
{
    if (r->kernel_only)                 // warnings of a run, and nothing runs
        diag_hide_warnings(r->s.cli->diag, true);
    session_script(&r->s);
    r->script_code = lang_exit_code(r->s.host->lang);
    if (r->after_script)
        r->after_script(r);
    if (r->launches == 0 && diag_errors(r->s.cli->diag) == 0
        && !r->script_code && !r->s.host->helped)
        diag_warning(r->s.cli->diag, (Span){0}, "no-launch",
                     "the script ran and launched no kernel");
    if (r->judge_case)
        end_script(r);
}

// ---- the command ------------------------------------------------------------

static void json_open(Run *r)
{
    const Cli *c = r->s.cli;
    const Device *devices[16];
    r->json = json_start(&r->json_buf, true);
    json_begin_object(&r->json);
    json_key(&r->json, TEXT("schema"));
    json_string(&r->json, "tilesim/1");
    json_key(&r->json, TEXT("command"));
    json_string(&r->json, r->command);
    json_key(&r->json, TEXT("file"));
    json_string(&r->json, r->s.path ? r->s.path : "");
    cli_devices(c, session_target(c), devices, countof(devices));
    json_key(&r->json, TEXT("target"));
    json_string(&r->json, devices[0]->name);
    json_key(&r->json, TEXT("launches"));
    json_begin_array(&r->json);
}

static void json_close(Run *r, int code)
{
    json_end_array(&r->json);
    if (strcmp(r->command, "run") == 0)
        run_json_launched(r);
    report_diagnostics(&r->json, r->s.cli);
    json_key(&r->json, TEXT("exit"));
    json_int(&r->json, code);
    json_end_object(&r->json);
    buf_addc(&r->json_buf, '\n');
    buf_write(&r->json_buf, stdout);
    buf_release(&r->json_buf);
}

static void run_all(Run *r)
{
    Cli *c = r->s.cli;
    if (diag_errors(c->diag))
        return;
    if (r->begin && !cli_given(c, OPT_SWEEP))
        r->begin(r);
    bool tests = cli_flag(c, OPT_TESTS);
    if (!tests && !session_is_launch(&r->s)) {
        run_script(r);
        return;
    }
    if (!session_load(&r->s))
        return;
    Candidate none;
    if (tests || (!r->s.is_ir && !launch_candidates(r->s.host->module, &none, 0)
                  && has_tests(r->s.host->module)))
        run_tests(r);
    else if (r->launches && !session_asks(&r->s))    // a script without main
        end_script(r);
    else if (cli_given(c, OPT_SWEEP))
        run_sweep(r);
    else
        run_one(r, r->s.defines, r->s.define_count, (Text){0});
}

// --numerics, where not every launch had a report that says so.
static void say_numerics(const Run *r)
{
    const Host *h = r->s.host;
    const Device *d = h->options.device;
    bool sweep = cli_given(r->s.cli, OPT_SWEEP);
    Basis basis = BASIS_NONE;
    if (r->kernel_only || r->s.cli->json)
        return;
    if (!sweep && (session_is_launch(&r->s) || r->launches == r->judged))
        return;
    for (int i = 0; i < h->kernels.len; i++) {
        const PlanMatrices *m = h->kernels.at[i]->matrices;
        for (int j = 0; m && j < m->len; j++)
            if (m->at[j].mma)
                basis = basis_worse(basis, m->at[j].mma->bits);
    }
    if (basis != BASIS_NONE)
        printf("T.gemm as on %s: %s\n", d->name, report_basis(d, basis));
}

int run_command(Run *r, Cli *c, HostOptions *options)
{
    options->ctx = r;
    options->asserted = r->judge_case ? on_asserted : NULL;
    run_read_options(r, c);
    if (cli_given(c, OPT_NUMERICS))
        options->numerics = run_numerics(c);
    r->judge.progress = progress_tell;
    r->judge.progress_ctx = &r->line;
    bool open = session_open(&r->s, c, options);
    if (c->json)
        json_open(r);
    if (open)
        run_all(r), watch_settle(&r->watch), say_numerics(r);
    if (parallel_cancelled() && r->launches == 0 && !c->json
        && !diag_errors(c->diag))
        fprintf(stderr, "tilesim: stopped by %s before a kernel ran\n",
                parallel_cancelled() == SIGINT ? "Ctrl-C" : "--timeout");
    ExitCode code = exit_worst(session_exit(&r->s), r->exit);
    int result = code;
    if (code == EXIT_CLEAN && r->script_code)
        result = r->script_code;
    if (c->json)
        json_close(r, result);
    session_close(&r->s);
    return result;
}

int cmd_run(Cli *c)
{
    Run r = {.s = {.cli = c}, .command = "run", .judge_case = judge_case};
    HostOptions options = {.out = c->json ? stderr : stdout,
                           .launched = on_launched};
    r.asked = cli_given(c, OPT_CHECKS);
    r.watches = r.asked ? !text_is(cli_text(c, OPT_CHECKS, ""), "none")
                        : !c->quiet && !cli_flag(c, OPT_TESTS);
    r.asked &= r.watches;
    if (r.watches) {
        r.watch.report.cli = c;
        r.watch.asked = r.asked;
        if (r.asked)
            check_wishes(c, OPT_CHECKS, &r.watch.report.wishes);
        else
            check_default_wishes(&r.watch.report.wishes);
        options.watching = on_watching;
    }
    return run_command(&r, c, &options);
}
