// watch.c - launches under watch: a Check around a run, and what it says.
#include "cli/watch_int.h"

#include "interp/observe.h"

// ---- a second run, of one block ---------------------------------------------

bool watch_fresh(RunWatch *w, const KernelObject *k, const Check *check,
                 const KernelArg *args, KernelArg *out)
{
    Host *h = w->host;
    bool ok = true;

    for (int i = 0; i < k->ir->param_count; i++) {
        const Tensor *t = &args[i].tensor;

        out[i] = args[i];
        if (args[i].is_scalar || !check_stores_to(check, i))
            continue;
        out[i].tensor.storage = NULL;
        ok = ok && !(check_loads_from(check, i) && !kernel_is_output(k, i)) &&
             tensor_new(&h->heap, &out[i].tensor, t->dtype, t->rank, t->shape);
    }
    return ok;
}

void watch_fresh_release(const KernelObject *k, const Check *check,
                         KernelArg *args)
{
    for (int i = 0; i < k->ir->param_count; i++)
        if (!args[i].is_scalar && check_stores_to(check, i) &&
            args[i].tensor.storage)
            tensor_release(&args[i].tensor);
}

// Where a NaN or an infinity that the run left in a result begins.
static void trace(RunWatch *w, KernelObject *k, const Check *check,
                  const KernelArg *args, const CheckTarget *target,
                  CheckFindings *found)
{
    Code *code = kernel_code(k, CODE_AS_WRITTEN);
    CheckOptions o = {.trace = target, .groups = w->report.wishes.groups};
    KernelArg *fresh = new_array(w->report.cli->arena, KernelArg,
                                 k->ir->param_count + 1);
    bool quiet = diag_quiet(w->report.cli->diag, true);

    if (watch_fresh(w, k, check, args, fresh)) {
        Check *tracing = check_create(code, &o);
        InterpOptions run = {.max_findings = 1,
                             .memory_limit = host_memory_left(w->host),
                             .observer = check_observer(tracing)};
        InterpResult r = kernel_run(k, CODE_AS_WRITTEN, fresh, NULL, &run);

        check_findings(tracing, w->report.cli->arena, &r, found);
        interp_result_release(&r);
        check_destroy(tracing);
    }
    watch_fresh_release(k, check, fresh);
    diag_quiet(w->report.cli->diag, quiet);
}

// ---- outputs that a later launch fills --------------------------------------

// Takes what a later launch can make good out of the list.
static void set_aside(RunWatch *w, const KernelObject *k, CheckFindings *found)
{
    int kept = 0;

    for (int i = 0; i < found->len; i++) {
        const CheckFinding *f = &found->at[i];

        if (f->id == FINDING_OUTPUT_UNWRITTEN)
            vec_push(w->report.cli->arena, &w->pending,
                     ((LeftOutput){k, *f, w->args[f->param].tensor.storage}));
        else
            found->at[kept++] = *f;
    }
    found->len = kept;
}

// The script gives these tensors to a kernel: it knows what is in them.
static void forget_pending(RunWatch *w, const KernelObject *k,
                           const KernelArg *args, const bool *given)
{
    int kept = 0;

    for (int i = 0; i < w->pending.len; i++) {
        bool used = false;

        for (int p = 0; p < k->ir->param_count; p++)
            used |= given[p] && !args[p].is_scalar &&
                    args[p].tensor.storage == w->pending.at[i].storage;
        if (!used)
            w->pending.at[kept++] = w->pending.at[i];
    }
    w->pending.len = kept;
}

void watch_settle(RunWatch *w)
{
    check_destroy(w->running);
    w->running = NULL;
    for (int i = 0; i < w->pending.len; i++) {
        CheckFindings one = {&w->pending.at[i].finding, 1, 1};

        check_report(&w->report, w->pending.at[i].kernel, &one);
    }
    w->pending.len = 0;
}

// ---- targets ----------------------------------------------------------------

// Of the devices that --target names, or the one that runs.
static void for_targets(RunWatch *w, KernelObject *k, CheckFindings *found)
{
    const Device *devices[DEVICE_COUNT];
    Code *code = kernel_code(k, CODE_AS_WRITTEN);
    int n = cli_devices(w->report.cli, "h100", devices, DEVICE_COUNT);

    if (w->report.wishes.groups >> CHECK_TARGETS & 1)
        check_targets(code, devices, n, cli_given(w->report.cli, OPT_TARGET),
                      w->report.cli->arena, found);
}

// ---- bytes that buffers share -----------------------------------------------

static void place_buffers(const Plan *p, int launch, int buffers,
                          SharedPlace *out)
{
    const PlanLaunch *l = &p->launches[launch];

    for (int i = 0; i < l->buffer_count; i++) {
        const PlanBuffer *b = &l->buffers[i];

        if (b->ir && b->ir->id < buffers && !b->is_static && !b->is_unused &&
            b->copies == 1)
            out[b->ir->id] = (SharedPlace){b->offset, b->bytes};
    }
}

const SharedPlace *watch_places(Arena *a, Diag *diag, const KernelObject *k,
                                const Code *code, const Device *device)
{
    int buffers = k->ir->buffer_count;
    bool quiet;
    SharedPlace *out;
    Plan *p;

    if (!check_wants_places(code))
        return NULL;
    quiet = diag_quiet(diag, true);
    p = plan_build(a, k->ir, device, PLAN_TILELANG);
    diag_quiet(diag, quiet);
    if (!p)
        return NULL;
    out = new_array(a, SharedPlace, p->launch_count * buffers + 1);
    for (int i = 0; i < p->launch_count; i++)
        place_buffers(p, i, buffers, &out[i * buffers]);
    return out;
}

// ---- around a run -----------------------------------------------------------

void watch_begin(RunWatch *w, KernelObject *k, CodeMode mode, const bool *empty,
                 bool some_blocks, const InterpObserver **observer)
{
    Code *code = kernel_code(k, mode);
    CheckOptions o = {.groups = w->report.wishes.groups,
                      .empty = empty,
                      .some_blocks = some_blocks,
                      .tails = w->report.wishes.level[FINDING_TAIL] !=
                               CHECK_OFF,
                      .unguarded = ir_config_is_set(
                          k->ir, "tl.disable_safe_memory_legalize")};

    if (code)
        o.place = watch_places(w->report.cli->arena, w->report.cli->diag, k,
                               code, w->host->options.device);
    check_destroy(w->running);              // of a launch that did not run
    w->running = code ? check_create(code, &o) : NULL;
    if (w->running)
        *observer = check_observer(w->running);
}

// A launch that was too large to be looked at in full is not called clean.
static void tell_limit(RunWatch *w)
{
    const Cli *c = w->report.cli;
    Span at;
    Text words;

    if (!w->asked || !check_limit(w->running, c->arena, &at, &words))
        return;
    w->limited++;
    diag_error(c->diag, EXIT_LIMIT, at, "check-limit", "%.*s", TEXT_ARG(words));
}

void watch_end(RunWatch *w, KernelObject *k, const KernelArg *args,
               const InterpResult *r)
{
    CheckFindings found = {0};
    CheckTarget target;

    if (w->running && r->launches) {
        check_findings(w->running, w->report.cli->arena, r, &found);
        tell_limit(w);
        if (check_target(w->running, r, &target))
            trace(w, k, w->running, args, &target, &found);
        if (w->report.wishes.groups >> CHECK_PIPELINES & 1 && r->ok)
            watch_pipeline(w, k, w->running, args, &found);
        for_targets(w, k, &found);
        if (w->report.wishes.groups >> CHECK_TARGETS & 1)
            watch_alignment(w, k, args, &found);
        check_causes(w->report.cli->arena, &found);
        if (w->args)
            set_aside(w, k, &found);
        check_report(&w->report, k, &found);
        w->launches++;
    }
    check_destroy(w->running);
    w->running = NULL;
}

void watch_launch(RunWatch *w, KernelObject *k, const KernelArg *args,
                  const bool *given, InterpOptions *run)
{
    int n = k->ir->param_count;
    bool *empty = new_array(w->report.cli->arena, bool, n + 1);

    for (int i = 0; i < n; i++)
        empty[i] = !given[i];
    forget_pending(w, k, args, given);
    w->args = args;
    watch_begin(w, k, CODE_AS_WRITTEN, empty, false, &run->observer);
}

void watch_launched(RunWatch *w, const KernelObject *k, const InterpResult *r)
{
    if (w->args)
        watch_end(w, (KernelObject *)k, w->args, r);
    w->args = NULL;
}

const bool *watch_empty(RunWatch *w, const LaunchCase *c)
{
    int n = c->kernel->ir->param_count;
    bool *empty = new_array(w->report.cli->arena, bool, n + 1);

    for (int i = 0; i < n; i++)
        empty[i] = kernel_is_output(c->kernel, i);
    return empty;
}
