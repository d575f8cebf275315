// cmd_check.c - `tilesim check`: runs every launch under watch.
//
// A file with a main part runs as its script, so that kernels get the tensors
// that they are meant for; what -D, --kernel or --sweep ask for is launched on
// inputs() or generated tensors. Nothing is compared with a reference.
#include <stdlib.h>
#include <string.h>

#include "cli/check_fix.h"
#include "cli/files.h"
#include "cli/json_keys.h"
#include "cli/lds_advice.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/sweep.h"
#include "cli/watch.h"
#include "support/parallel.h"

typedef struct {
    Cli *cli;
    CliFiles files;
    Session s;                  // of one file after the other
    RunWatch watch;
    ProgressLine line;
    TextBuf json_buf;
    Json json;
    SarifLog sarif;
    int file_errors, file_warnings, file_causes, file_launches,
        file_limited, file_ignored;
    CheckFindings kept;         // of the file, for --fix
    CheckTrial *trial;          // of a changed source: it is judged as well
    ExitCode exit;
} Checking;

// ---- one launch -------------------------------------------------------------

static void check_case(Checking *g, LaunchCase *c)
{
    InterpOptions run = {.max_findings = 20,
                         .memory_limit = host_memory_left(g->s.host),
                         .progress = progress_blocks,
                         .progress_ctx = &g->line};
    RunWatch *w = &g->watch;

    watch_begin(w, c->kernel, CODE_AS_WRITTEN, watch_empty(w, c), false,
                &run.observer);
    if (!w->running)
        return;
    progress_start(&g->line, g->cli);
    InterpResult r = kernel_run(c->kernel, CODE_AS_WRITTEN, c->args, NULL,
                                &run);
    progress_end(&g->line);
    watch_end(w, c->kernel, c->args, &r);
    interp_result_release(&r);
}

// ---- launches of a script ---------------------------------------------------

static void on_watching(void *ctx, KernelObject *k, const KernelArg *args,
                        const bool *given, InterpOptions *run)
{
    Checking *g = ctx;

    progress_start(&g->line, g->cli);
    run->progress = progress_blocks;
    run->progress_ctx = &g->line;
    watch_launch(&g->watch, k, args, given, run);
}

static void on_launched(void *ctx, const KernelObject *k, const InterpResult *r)
{
    Checking *g = ctx;

    progress_end(&g->line);
    watch_launched(&g->watch, k, r);
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

// Does a changed program agree with its reference?
static void judge_trial(Checking *g, KernelObject *k,
                        const CaseOptions *options)
{
    VerdictOptions o = {.rtol = 1e-2, .atol = 1e-2, .ratio = 0.01,
                        .block = {-1, -1, -1}};
    Value reference = V_NONE;
    LaunchCase c;

    if (launch_reference(g->s.host, g->s.host->module, TEXT("ref_program"),
                         false, &reference) &&
        launch_case(g->s.host, k, options, &c)) {
        Verdict v = verdict_run(g->s.host, &c, reference, &o);

        g->trial->right = (!g->trial->judged || g->trial->right) &&
                          !v.wrong && !v.failed;
        g->trial->judged = true;
        verdict_release(&v);
        launch_case_release(&c);
    }
}

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
    if (g->trial)
        judge_trial(g, k, &options);
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
    if (g->watch.launches > g->file_launches && !session_asks(s))
        return;                         // a script without a main part
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

static void put_ignored(TextBuf *b, const Checking *g, int unused)
{
    int ignored = g->watch.report.suppressed - g->file_ignored;

    if (ignored) {
        buf_puts(b, ", ");
        put_sum(b, ignored, "finding");
        buf_puts(b, " ignored");
    }
    if (unused) {
        buf_puts(b, ", ");
        put_sum(b, unused, "comment");
        buf_puts(b, unused == 1 ? " ignores nothing" : " ignore nothing");
    }
}

// "fa.tile: 2 errors of 1 cause, 1 launch"
static void end_file(Checking *g)
{
    int errors = g->watch.report.errors - g->file_errors;
    int warnings = g->watch.report.warnings - g->file_warnings;
    int unused = g->watch.launches > g->file_launches
                     ? check_comments(&g->watch.report, g->s.file) : 0;
    bool limited = g->watch.limited > g->file_limited;
    int causes = g->watch.report.causes.len - g->file_causes;
    TextBuf b = {0};

    if (g->watch.launches > g->file_launches && !g->cli->json &&
        !g->watch.report.one_line && !g->cli->quiet) {
        buf_printf(&b, "%s: ", g->s.path);
        if (errors + warnings == 0)
            buf_puts(&b, limited ? "not looked at in full, no finding"
                                 : "no finding");
        if (errors)
            put_sum(&b, errors, "error");
        if (warnings)
            buf_puts(&b, errors ? ", " : ""), put_sum(&b, warnings, "warning");
        if (causes < errors + warnings)
            buf_puts(&b, " of "), put_sum(&b, causes, "cause");
        put_ignored(&b, g, unused);
        buf_puts(&b, ", ");
        put_sum(&b, g->watch.launches - g->file_launches, "launch");
        if (g->watch.launches - g->file_launches != 1)
            b.len--, buf_puts(&b, "es");
        buf_addc(&b, '\n');
        buf_write(&b, stdout);
        fflush(stdout);
    }
    buf_release(&b);
}

// Runs a file that is open; `source`, when there is one, in its place.
static void check_source(Checking *g, const CliFile *file, const Text *source)
{
    if (source)
        g->s.file = sources_add(g->cli->sources, g->s.path, *source);
    g->watch.host = g->s.host;
    if (session_is_launch(&g->s))
        launch_all(g, file);
    else
        session_script(&g->s);
    watch_settle(&g->watch);
}

// ---- --fix ------------------------------------------------------------------

typedef struct {
    Checking *g;
    const CliFile *file;
    HostOptions options;
} Fixing;

// A changed source under the same checks, in silence.
static CheckTrial try_source(void *ctx, Text source)
{
    Fixing *x = ctx;
    Cli quiet = *x->g->cli;
    FILE *nowhere = x->options.out;
    CheckTrial t = {0};
    Checking g = {.cli = &quiet, .trial = &t};

    quiet.diag = diag_create(quiet.sources, nowhere, false);
    quiet.json = false;
    g.watch.report = (CheckReport){.cli = &quiet,
                                   .wishes = x->g->watch.report.wishes};
    x->options.ctx = &g;
    if (session_open_file(&g.s, &quiet, &x->options, x->file->path)) {
        check_source(&g, x->file, &source);
        ExitCode code = session_exit(&g.s);
        t.ran = code == EXIT_CLEAN || code == EXIT_FINDINGS;
        t.errors = g.watch.report.errors;
    }
    session_close(&g.s);
    diag_destroy(quiet.diag);
    return t;
}

// Writes the repaired file and prints what changed.
static void fix_file(Checking *g, const CliFile *file, HostOptions options)
{
    Fixing x = {g, file, options};
    Arena *a = g->cli->arena;
    const Source *was = sources_get(g->cli->sources, g->s.file);
    TextBuf patch = {0};
    const char *why;
    int fixed;
    Text now = check_repair(a, g->cli->sources, g->s.file, &g->kept,
                            g->watch.report.errors - g->file_errors,
                            try_source, &x, &fixed);

    if (!fixed) {
        if (!g->cli->quiet)
            fprintf(stderr, "tilesim: nothing in '%s' has a repair that is "
                    "certain\n", file->path);
        return;
    }
    lds_diff(&patch, file->path, was->text, now);
    if (!file_write(file->path, now.at, now.len, &why))
        diag_error(g->cli->diag, EXIT_ENVIRONMENT, (Span){0}, "no-file",
                   "cannot write '%s': %s", file->path, why);
    else if (!g->cli->json)
        buf_write(&patch, stdout);
    buf_release(&patch);
}

static void one_file(Checking *g, const CliFile *file, HostOptions options)
{
    g->file_errors = g->watch.report.errors;
    g->file_warnings = g->watch.report.warnings;
    g->file_causes = g->watch.report.causes.len;
    g->file_launches = g->watch.launches;
    g->file_ignored = g->watch.report.suppressed;
    g->file_limited = g->watch.limited;
    options.ctx = g;
    if (session_open_file(&g->s, g->cli, &options, file->path)) {
        check_source(g, file, NULL);
        end_file(g);
        if (cli_flag(g->cli, OPT_CHECK_FIX) && g->kept.len)
            fix_file(g, file, options);
        g->kept.len = 0;
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
    g->watch.report.json = j;
}

static void end_document(Checking *g)
{
    Json *j = &g->json;

    json_end_array(j);
    key_int(j, "causes", g->watch.report.causes.len);
    key_int(j, "launches", g->watch.launches);
    key_int(j, "suppressed", g->watch.report.suppressed);
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
    g.watch.report = (CheckReport){.cli = c,
                                   .one_line = cli_flag(c, OPT_ONE_LINE)};
    g.watch.asked = true;
    check_wishes(c, OPT_ONLY, &g.watch.report.wishes);
    if (cli_flag(c, OPT_CHECK_FIX))
        g.watch.report.kept = &g.kept;
    if (c->json)
        begin_document(&g);
    if (text_is(cli_text(c, OPT_SARIF, ""), "-"))
        cli_usage(c, "--sarif takes the name of a file");
    if (cli_given(c, OPT_SARIF)) {
        sarif_begin(&g.sarif, c);
        g.watch.report.sarif = &g.sarif;
    }
    all_files(&g);
    if (g.watch.report.sarif)
        write_sarif(&g);
    g.exit = exit_worst(g.exit, diag_exit(c->diag));
    if (c->json)
        end_document(&g);
    return g.exit;
}
