// cmd_lds_report.c - `tilesim lds-report`: does it fit, and how many at a time?
#include "cli/files.h"
#include "cli/lds_advice.h"
#include "cli/lds_compare.h"
#include "cli/lds_html.h"
#include "cli/lds_sarif.h"
#include "cli/lds_sweep.h"
#include "cli/report.h"
#include "support/parallel.h"

typedef struct {
    Cli *cli;
    CliFiles files;
    Session s;                          // of one file after the other
    const Device *devices[DEVICE_COUNT];
    int device_count;
    TextBuf out, html;
    Json json;
    bool as_json;                       // a document in `out`
    LdsComparison old;                  // --compare
    SarifLog sarif;
    int kernels;
    ExitCode exit;
} Report;

enum { FIX_MOST = ADVICE_SHOWN > LAYOUTS_SHOWN ? ADVICE_SHOWN : LAYOUTS_SHOWN };

// --max-conflicts: what is not counted is not clean.
static bool exceeds(const Report *r, const LdsReport *report)
{
    int64_t most = cli_int(r->s.cli, OPT_MAX_CONFLICTS, INT64_MAX, 0,
                           INT64_MAX);

    if (!cli_given(r->s.cli, OPT_MAX_CONFLICTS))
        return false;
    for (int t = 0; t < report->device_count; t++) {
        if (report->counts.unknown || lds_conflicts(report, t) > most)
            return true;
        for (int i = 0; i < report->launch_count; i++)
            if (report->launches[i].target[t].counts->unknown)
                return true;
    }
    return false;
}

// ---- --fix -----------------------------------------------------------------

// The patched file, run as the file was.
typedef struct {
    Session s;
    int first, count;                   // kernels of it
} Patched;

static Patched patched_open(Report *r, Text source, const CaseOptions *o)
{
    Patched p = {.s = r->s};
    Session *s = &p.s;

    p.first = s->host->kernels.len;
    s->file = sources_add(r->cli->sources, s->path, source);
    s->defines = NULL;
    if (session_is_launch(s)) {
        Module *own = s->host->module;
        if (session_load(s))
            session_kernel(s, o);
        s->host->module = own;
    } else {
        session_script(s);
    }
    p.count = s->host->kernels.len - p.first;
    return p;
}

// Does all of it fit?
static bool patch_fits(Report *r, Text source)
{
    CaseOptions o = {.defines = r->s.defines,
                     .define_count = r->s.define_count};
    Patched p = patched_open(r, source, &o);
    bool fits = p.count > 0;

    for (int i = 0; i < p.count; i++) {
        LdsReport report;
        fits = fits && lds_report_plan(r->cli,
                                       p.s.host->kernels.at[p.first + i],
                                       r->devices, r->device_count, &report) &&
               report.fits;
    }
    return fits;
}

// Has the kernel the conflicts that were promised?
static bool patch_helps(Report *r, Text source, int index,
                        const CaseOptions *o, const LdsLayout *last)
{
    DiagHold hold = diag_hold(r->cli->diag);
    Patched p = patched_open(r, source, o);
    LdsReport report;
    bool made = index < p.count &&
                lds_report_make(r->cli, p.s.host->kernels.at[p.first + index],
                                r->devices, r->device_count, o, &report);
    bool helps = made;

    for (int t = 0; helps && t < r->device_count; t++)
        helps = lds_conflicts(&report, t) == last->after[t].conflicts;
    if (made)
        lds_report_free(&report);
    diag_settle(r->cli->diag, &hold, true);
    return helps;
}

// --fix N: the patch on standard output.
static void print_fix(Report *r, const LdsReport *report, int index,
                      const CaseOptions *o)
{
    Cli *c = r->s.cli;
    int count = report->fits ? report->layout_count : report->advice_count;
    int n = (int)cli_int(c, OPT_FIX, 1, 1, FIX_MOST);
    Text source = sources_get(c->sources, r->s.file)->text, patched;
    bool good;

    if (n > count) {
        diag_error(c->diag, EXIT_NO_FIT, (Span){0}, "no-advice",
                   count ? "there are only %d pieces of advice"
                         : "there is no advice to print", count);
        return;
    }
    patched = report->fits
                  ? lds_patched_layouts(c->arena, source, report->layouts, n)
                  : lds_patched(c->arena, source, &report->advice[n - 1]);
    good = report->fits ? patch_helps(r, patched, index, o,
                                      &report->layouts[n - 1])
                        : patch_fits(r, patched);
    if (good || !report->fits)
        lds_diff(&r->out, r->s.path, source, patched);
    if (good)
        r->exit = EXIT_CLEAN;
    else if (!report->fits)
        diag_warning(c->diag, (Span){0}, "patch-alone",
                     "the patch alone is not enough: the command line gives "
                     "what it changes");
    else
        diag_error(c->diag, EXIT_NO_FIT, report->layouts[n - 1].buffer->at,
                   "no-patch", "no patch can say this here: write the line by "
                   "hand where the buffer has its name");
}

// ---- reports ---------------------------------------------------------------

// `index`: of the file's kernels.
static void one_kernel(Report *r, KernelObject *k, int index,
                       const CaseOptions *o)
{
    Cli *c = r->s.cli;
    LdsReport report;
    LdsAdvice advice[ADVICE_SHOWN];
    LdsLayout layouts[LAYOUTS_SHOWN];

    if (!lds_report_make(c, k, r->devices, r->device_count, o, &report))
        return;
    if (!report.fits)
        r->exit = exit_worst(r->exit, EXIT_NO_FIT);
    lds_check_budgets(&report, r->s.file);
    if (exceeds(r, &report))
        r->exit = exit_worst(r->exit, EXIT_FINDINGS);
    report.advice = advice;
    report.advice_count = lds_advise(&r->s, &report, advice, ADVICE_SHOWN);
    report.layouts = layouts;
    report.layout_count = lds_advise_layouts(&report, layouts, LAYOUTS_SHOWN,
                                             cli_given(c, OPT_HTML));
    if (cli_given(c, OPT_FIX)) {
        print_fix(r, &report, index, o);
        lds_report_free(&report);
        return;
    }
    if (cli_given(c, OPT_SARIF))
        lds_sarif_kernel(&r->sarif, &report);
    if (cli_given(c, OPT_HTML))
        lds_html_kernel(&r->html, &report);
    if (r->kernels++ && !r->as_json)
        buf_addc(&r->out, '\n');
    if (r->as_json) {
        lds_report_json(&r->json, &report,
                        r->files.len > 1 ? r->s.path : NULL);
    } else {
        lds_report_text(&r->out, &report);
        lds_advice_text(&r->out, &report);
    }
    lds_report_free(&report);
}

static void sweep(Report *r)
{
    LdsSweep w;

    if (!lds_sweep_make(&r->s, r->devices, r->device_count, &w))
        return;
    r->exit = exit_worst(r->exit, w.exit);
    if (r->as_json)
        lds_sweep_json(&r->json, &w);
    else
        lds_sweep_text(&r->out, &w);
}

static void all_kernels(Report *r, const CliFile *file)
{
    Session *s = &r->s;
    CaseOptions none = {0};

    if (cli_given(s->cli, OPT_SWEEP)) {
        if (session_load(s))
            sweep(r);
        return;
    }
    if (session_is_launch(s)) {
        CaseOptions o = {.defines = s->defines,
                         .define_count = s->define_count};
        KernelObject *k = NULL;
        Candidate any;

        if (session_load(s) &&
            (!file->from_folder || s->is_ir ||
             launch_candidates(s->host->module, &any, 1)))
            k = session_kernel(s, &o);
        if (k)
            one_kernel(r, k, 0, &o);
        return;
    }
    // warnings are of a run, and nothing runs
    bool hidden = diag_hide_warnings(s->cli->diag, true);
    session_script(s);
    int count = s->host->kernels.len;   // advice makes more
    for (int i = 0; i < count; i++)
        one_kernel(r, s->host->kernels.at[i], i, &none);
    diag_hide_warnings(s->cli->diag, hidden);
}

static void one_file(Report *r, const CliFile *file, HostOptions options)
{
    if (session_open_file(&r->s, r->cli, &options, file->path))
        all_kernels(r, file);
    r->exit = exit_worst(r->exit, session_exit(&r->s));
    session_close(&r->s);
}

static void all_files(Report *r)
{
    FILE *nowhere = fopen("/dev/null", "w");    // what a script prints of a run
    HostOptions options = {.out = nowhere ? nowhere : stderr,
                           .record_only = true};

    for (int i = 0; i < r->files.len && !parallel_cancelled(); i++)
        one_file(r, &r->files.at[i], options);
    if (nowhere)
        fclose(nowhere);
}

// ---- the document ----------------------------------------------------------

static void json_files(Json *j, const CliFiles *files)
{
    if (files->len == 1) {
        json_key(j, TEXT("file"));
        json_string(j, files->at[0].path);
        return;
    }
    json_key(j, TEXT("files"));
    json_begin_array(j);
    for (int i = 0; i < files->len; i++)
        json_string(j, files->at[i].path);
    json_end_array(j);
}

static void begin_any(Report *r)
{
    Json *j = &r->json;

    *j = json_start(&r->out, true);
    json_begin_object(j);
    json_key(j, TEXT("schema"));
    json_string(j, "tilesim/1");
    json_key(j, TEXT("command"));
    json_string(j, "lds-report");
    json_files(j, &r->files);
}

static void begin_document(Report *r)
{
    Json *j = &r->json;

    begin_any(r);
    json_key(j, cli_given(r->cli, OPT_SWEEP) ? TEXT("points")
                                             : TEXT("kernels"));
    json_begin_array(j);
}

static void end_any(Report *r)
{
    report_diagnostics(&r->json, r->cli);
    json_key(&r->json, TEXT("exit"));
    json_int(&r->json, r->exit);
    json_end_object(&r->json);
    buf_addc(&r->out, '\n');
}

static void end_document(Report *r)
{
    json_end_array(&r->json);
    end_any(r);
}

// The document gives way to what differs from the earlier one. What failed to
// be planned is not told as a launch that is gone.
static void compare(Report *r)
{
    bool known = r->exit == EXIT_CLEAN || r->exit == EXIT_NO_FIT ||
                 r->exit == EXIT_FINDINGS;

    if (known)
        lds_compare_with(&r->old, buf_view(&r->out));
    buf_clear(&r->out);
    if (r->cli->json) {
        begin_any(r);
        lds_compare_json(&r->json, &r->old);
        end_any(r);
    } else if (known) {
        lds_compare_text(&r->out, &r->old);
    }
    lds_compare_close(&r->old);
}

// What the command line asks for and cannot have exits here.
static void refuse_usage(const Cli *c, const CliFiles *files)
{
    bool single = cli_given(c, OPT_SWEEP) || cli_given(c, OPT_FIX);

    if (!c->operands.len)
        cli_file(c, "FILE");
    if (single && cli_given(c, OPT_COMPARE))
        cli_usage(c, "--compare is of one report: not with --sweep or --fix");
    if (cli_given(c, OPT_SWEEP) && cli_given(c, OPT_SARIF))
        cli_usage(c, "--sarif is of reports: not with --sweep");
    if (cli_given(c, OPT_HTML) && cli_given(c, OPT_SARIF) &&
        text_eq(cli_text(c, OPT_HTML, ""), cli_text(c, OPT_SARIF, "")))
        cli_usage(c, "--html and --sarif cannot both write '%.*s'",
                  TEXT_ARG(cli_text(c, OPT_HTML, "")));
    if (single && files->len > 1)
        cli_usage(c, "--sweep and --fix take one file: '%s' is a second one",
                  files->at[1].path);
}

static void write_to(const Cli *c, OptionId o, const TextBuf *b)
{
    const char *path = text_cstr(c->arena, cli_text(c, o, "")), *why;

    if (cli_given(c, o) && !file_write(path, b->at, b->len, &why))
        diag_error(c->diag, EXIT_ENVIRONMENT, (Span){0}, "no-file",
                   "cannot write '%s': %s", path, why);
}

int cmd_lds_report(Cli *c)
{
    Report r = {.cli = c, .files = cli_files(c), .exit = EXIT_CLEAN};

    refuse_usage(c, &r.files);
    r.device_count = cli_devices(c, "mi300x,h100", r.devices,
                                 (int)countof(r.devices));
    r.as_json = c->json || cli_given(c, OPT_COMPARE);
    if (!r.files.len ||
        (cli_given(c, OPT_COMPARE) && !lds_compare_open(&r.old, c)))
        return diag_exit(c->diag);
    if (r.as_json)
        begin_document(&r);
    lds_html_begin(&r.html, r.files.at[0].path);
    sarif_begin(&r.sarif, c);
    all_files(&r);
    lds_html_end(&r.html);
    sarif_end(&r.sarif);
    write_to(c, OPT_HTML, &r.html);
    write_to(c, OPT_SARIF, &r.sarif.out);
    r.exit = exit_worst(r.exit, diag_exit(c->diag));
    if (r.as_json)
        end_document(&r);
    if (cli_given(c, OPT_COMPARE))
        compare(&r);
    buf_write(&r.out, stdout);
    buf_release(&r.out);
    buf_release(&r.html);
    buf_release(&r.sarif.out);
    return r.exit;
}
