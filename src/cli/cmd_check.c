// cmd_check.c - `tilesim check`: runs every launch under watch.
//
// A file with a main part runs as its script, so that kernels get the tensors
// that they are meant for; what -D, --kernel or --sweep ask for is launched on
// inputs() or generated tensors. Nothing is compared with a reference.
#include <stdlib.h>
#include <string.h>

#include "cli/check_report.h"
#include "cli/files.h"
#include "cli/json_keys.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/sweep.h"
#include "support/parallel.h"

// An output that a kernel left in part; the script's next may fill it.
typedef struct {
    const KernelObject *kernel;
    CheckFinding finding;
    const void *storage;
} Pending;

typedef struct {
    Cli *cli;
    CliFiles files;
    Session s;                  // of one file after the other
    CheckReport report;
    Check *running;             // of a script's launch
    const KernelArg *args;      // its
    struct {
        Pending *at;
        int len, room;
    } pending;
    TextBuf json_buf;
    Json json;
    SarifLog sarif;
    int launches;
    int file_errors, file_warnings, file_launches;
    ExitCode exit;
} Checking;

static Check *watch(Checking *g, KernelObject *k, const bool *empty)
{
    Code *code = kernel_code(k, CODE_AS_WRITTEN);
    CheckOptions o = {.groups = g->report.wishes.groups, .empty = empty};

    return code ? check_create(code, &o) : NULL;
}

// ---- a second run, of one block ---------------------------------------------

// The arguments as they were: what the kernel stores to gets memory of its own.
// False when there is none, or when it changes what it also reads.
static bool fresh_args(Checking *g, const KernelObject *k, const Check *check,
                       const KernelArg *args, KernelArg *out)
{
    Host *h = g->s.host;
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

static void release_fresh(const KernelObject *k, const Check *check,
                          KernelArg *args)
{
    for (int i = 0; i < k->ir->param_count; i++)
        if (!args[i].is_scalar && check_stores_to(check, i) &&
            args[i].tensor.storage)
            tensor_release(&args[i].tensor);
}

// Where a NaN or an infinity that the run left in a result begins.
static void trace(Checking *g, KernelObject *k, const Check *check,
                  const KernelArg *args, const CheckTarget *target,
                  CheckFindings *found)
{
    Code *code = kernel_code(k, CODE_AS_WRITTEN);
    CheckOptions o = {.trace = target, .groups = g->report.wishes.groups};
    KernelArg *fresh = new_array(g->cli->arena, KernelArg,
                                 k->ir->param_count + 1);
    bool quiet = diag_quiet(g->cli->diag, true);

    if (fresh_args(g, k, check, args, fresh)) {
        Check *tracing = check_create(code, &o);
        InterpOptions run = {.max_findings = 1,
                             .memory_limit = host_memory_left(g->s.host),
                             .observer = check_observer(tracing)};
        InterpResult r = kernel_run(k, CODE_AS_WRITTEN, fresh, NULL, &run);

        check_findings(tracing, g->cli->arena, &r, found);
        interp_result_release(&r);
        check_destroy(tracing);
    }
    release_fresh(k, check, fresh);
    diag_quiet(g->cli->diag, quiet);
}

// ---- one launch -------------------------------------------------------------

// Takes what a later launch can make good out of the list.
static void set_aside(Checking *g, const KernelObject *k, CheckFindings *found)
{
    int kept = 0;

    for (int i = 0; i < found->len; i++) {
        const CheckFinding *f = &found->at[i];

        if (f->id == FINDING_OUTPUT_UNWRITTEN)
            vec_push(g->cli->arena, &g->pending,
                     ((Pending){k, *f, g->args[f->param].tensor.storage}));
        else
            found->at[kept++] = *f;
    }
    found->len = kept;
}

// The script gives these tensors to a kernel: it knows what is in them.
static void forget_pending(Checking *g, const KernelObject *k,
                           const KernelArg *args, const bool *given)
{
    int kept = 0;

    for (int i = 0; i < g->pending.len; i++) {
        bool used = false;

        for (int p = 0; p < k->ir->param_count; p++)
            used |= given[p] && !args[p].is_scalar &&
                    args[p].tensor.storage == g->pending.at[i].storage;
        if (!used)
            g->pending.at[kept++] = g->pending.at[i];
    }
    g->pending.len = kept;
}

static void report_pending(Checking *g)
{
    for (int i = 0; i < g->pending.len; i++) {
        CheckFindings one = {&g->pending.at[i].finding, 1, 1};

        check_report(&g->report, g->pending.at[i].kernel, &one);
    }
    g->pending.len = 0;
}

// Of the devices that --target names, or the one that runs.
static void for_targets(Checking *g, KernelObject *k, CheckFindings *found)
{
    const Device *devices[DEVICE_COUNT];
    Code *code = kernel_code(k, CODE_AS_WRITTEN);
    int n = cli_devices(g->cli, "h100", devices, DEVICE_COUNT);

    if (g->report.wishes.groups >> CHECK_TARGETS & 1)
        check_targets(code, devices, n, cli_given(g->cli, OPT_TARGET),
                      g->cli->arena, found);
}

static void conclude(Checking *g, KernelObject *k, Check *check,
                     const KernelArg *args, const InterpResult *r)
{
    CheckFindings found = {0};
    CheckTarget target;

    if (r->launches) {
        check_findings(check, g->cli->arena, r, &found);
        if (check_target(check, r, &target))
            trace(g, k, check, args, &target, &found);
        for_targets(g, k, &found);
        if (g->running)
            set_aside(g, k, &found);
        check_report(&g->report, k, &found);
        g->launches++;
    }
    check_destroy(check);
}

static void check_case(Checking *g, LaunchCase *c)
{
    int n = c->kernel->ir->param_count;
    bool *empty = new_array(g->cli->arena, bool, n + 1);
    InterpOptions run = {.max_findings = 20,
                         .memory_limit = host_memory_left(g->s.host)};
    Check *check;

    for (int i = 0; i < n; i++)
        empty[i] = kernel_is_output(c->kernel, i);
    check = watch(g, c->kernel, empty);
    if (!check)
        return;
    run.observer = check_observer(check);
    InterpResult r = kernel_run(c->kernel, CODE_AS_WRITTEN, c->args, NULL,
                                &run);
    conclude(g, c->kernel, check, c->args, &r);
    interp_result_release(&r);
}

// ---- launches of a script ---------------------------------------------------

static void on_watching(void *ctx, KernelObject *k, const KernelArg *args,
                        const bool *given, InterpOptions *run)
{
    Checking *g = ctx;
    int n = k->ir->param_count;
    bool *empty = new_array(g->cli->arena, bool, n + 1);

    for (int i = 0; i < n; i++)
        empty[i] = !given[i];
    forget_pending(g, k, args, given);
    g->args = args;
    g->running = watch(g, k, empty);
    if (g->running)
        run->observer = check_observer(g->running);
}

static void on_launched(void *ctx, const KernelObject *k, const InterpResult *r)
{
    Checking *g = ctx;

    if (g->running)
        conclude(g, (KernelObject *)k, g->running, g->args, r);
    g->running = NULL;
}

static bool on_asserted(void *ctx, const Assertion *a)
{
    Checking *g = ctx;
    CaseOptions options = {.supply = a->supply, .inputs = a->inputs};
    LaunchCase c;

    if (launch_case(g->s.host, a->kernel, &options, &c))
        check_case(g, &c);
    launch_case_release(&c);
    return true;
}

// ---- launches of the command line -------------------------------------------

static void check_one(Checking *g, const NamedText *defines, int count)
{
    CaseOptions options = {.defines = defines, .define_count = count};
    KernelObject *k;
    LaunchCase c;

    options.in = session_pairs(g->cli, OPT_IN, &options.in_count);
    k = session_kernel(&g->s, &options);
    if (!k)
        return;
    if (launch_case(g->s.host, k, &options, &c))
        check_case(g, &c);
    launch_case_release(&c);
}

static void sweep_one(void *ctx, const SweepPoint *p)
{
    check_one(ctx, p->defines, p->count);
}

static void launch_all(Checking *g, const CliFile *file)
{
    Session *s = &g->s;
    Candidate any;

    if (!session_load(s))
        return;
    if (file->from_folder && !s->is_ir &&
        !launch_candidates(s->host->module, &any, 1))
        return;
    if (cli_given(g->cli, OPT_SWEEP))
        sweep_points(s, sweep_one, g);
    else
        check_one(g, s->defines, s->define_count);
}

// ---- files ------------------------------------------------------------------

static void put_sum(TextBuf *b, int n, const char *what)
{
    buf_printf(b, "%d %s%s", n, what, n == 1 ? "" : "s");
}

// "fa.tile: 2 errors, 1 launch"
static void end_file(Checking *g)
{
    int errors = g->report.errors - g->file_errors;
    int warnings = g->report.warnings - g->file_warnings;
    TextBuf b = {0};

    if (g->launches > g->file_launches && !g->cli->json &&
        !g->report.one_line && !g->cli->quiet) {
        buf_printf(&b, "%s: ", g->s.path);
        if (errors + warnings == 0)
            buf_puts(&b, "no finding");
        if (errors)
            put_sum(&b, errors, "error");
        if (warnings)
            buf_puts(&b, errors ? ", " : ""), put_sum(&b, warnings, "warning");
        buf_puts(&b, ", ");
        put_sum(&b, g->launches - g->file_launches, "launch");
        if (g->launches - g->file_launches != 1)
            b.len--, buf_puts(&b, "es");
        buf_addc(&b, '\n');
        buf_write(&b, stdout);
        fflush(stdout);
    }
    buf_release(&b);
}

static void one_file(Checking *g, const CliFile *file, HostOptions options)
{
    g->file_errors = g->report.errors;
    g->file_warnings = g->report.warnings;
    g->file_launches = g->launches;
    options.ctx = g;
    if (session_open_file(&g->s, g->cli, &options, file->path)) {
        if (session_is_launch(&g->s))
            launch_all(g, file);
        else
            session_script(&g->s);
        report_pending(g);
        end_file(g);
    }
    g->exit = exit_worst(g->exit, session_exit(&g->s));
    session_close(&g->s);
}

static void all_files(Checking *g)
{
    FILE *nowhere = fopen("/dev/null", "w");    // what scripts print
    HostOptions options = {.out = nowhere ? nowhere : stderr,
                           .watching = on_watching,
                           .launched = on_launched,
                           .asserted = on_asserted};

    for (int i = 0; i < g->files.len && !parallel_cancelled(); i++)
        one_file(g, &g->files.at[i], options);
    if (nowhere)
        fclose(nowhere);
}

// ---- the document -----------------------------------------------------------

static void begin_document(Checking *g)
{
    Json *j = &g->json;

    *j = json_start(&g->json_buf, true);
    json_begin_object(j);
    key_string(j, "schema", "tilesim/1");
    key_string(j, "command", "check");
    json_key(j, TEXT("files"));
    json_begin_array(j);
    for (int i = 0; i < g->files.len; i++)
        json_string(j, g->files.at[i].path);
    json_end_array(j);
    json_key(j, TEXT("findings"));
    json_begin_array(j);
    g->report.json = j;
}

static void end_document(Checking *g)
{
    Json *j = &g->json;

    json_end_array(j);
    key_int(j, "launches", g->launches);
    key_int(j, "suppressed", g->report.suppressed);
    report_diagnostics(j, g->cli);
    key_int(j, "exit", g->exit);
    json_end_object(j);
    buf_addc(&g->json_buf, '\n');
    buf_write(&g->json_buf, stdout);
    buf_release(&g->json_buf);
}

static void write_sarif(Checking *g)
{
    const char *path =
        text_cstr(g->cli->arena, cli_text(g->cli, OPT_SARIF, ""));
    const char *why;

    sarif_end(&g->sarif);
    if (!file_write(path, g->sarif.out.at, g->sarif.out.len, &why))
        diag_error(g->cli->diag, EXIT_ENVIRONMENT, (Span){0}, "no-file",
                   "cannot write '%s': %s", path, why);
    buf_release(&g->sarif.out);
}

int cmd_check(Cli *c)
{
    Checking g = {.cli = c, .files = cli_files(c), .exit = EXIT_CLEAN};

    if (!c->operands.len)
        cli_file(c, "FILE");
    g.report = (CheckReport){.cli = c, .one_line = cli_flag(c, OPT_ONE_LINE)};
    check_wishes(c, &g.report.wishes);
    if (c->json)
        begin_document(&g);
    if (cli_given(c, OPT_SARIF)) {
        sarif_begin(&g.sarif, c);
        g.report.sarif = &g.sarif;
    }
    all_files(&g);
    if (g.report.sarif)
        write_sarif(&g);
    g.exit = exit_worst(g.exit, diag_exit(c->diag));
    if (c->json)
        end_document(&g);
    return g.exit;
}
