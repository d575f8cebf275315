// cmd_run.c - `tilesim run`: execute, compare with the reference, report.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/report.h"
#include "cli/session.h"
#include "support/parallel.h"

typedef struct {
    Session s;
    VerdictOptions judge;
    NamedText *in, *out, *expect;
    int in_count, out_count, expect_count;
    InterpPrint *prints;
    double started, shown;
    bool progress_on, progress_shown;
    TextBuf text;               // reports, printed at the end
    TextBuf json_buf;
    Json json;
    int launches;               // that were run or judged
    ExitCode exit;
    bool last_upstream;         // what upstream's rule said of the last case
    int script_code;            // of sys.exit
} Run;

// ---- progress -----------------------------------------------------------------------

static void progress(void *ctx, int64_t done, int64_t total)
{
    Run *r = ctx;
    double now = time_now();
    if (!r->progress_on || now - r->started < 0.5 || now - r->shown < 0.1)
        return;
    r->shown = now;
    r->progress_shown = true;
    fprintf(stderr, "\r%lld of %lld blocks  %.0f s ", (long long)done,
            (long long)total, now - r->started);
    fflush(stderr);
}

static void progress_end(Run *r)
{
    if (r->progress_shown)
        fprintf(stderr, "\r\033[K");
    r->progress_shown = false;
}

// ---- options --------------------------------------------------------------------------

// "0:4" or "3" or ":" of a --print slice.
static bool print_range(Text t, int64_t *from, int64_t *to)
{
    const char *colon = memchr(t.at, ':', t.len);
    *from = 0;
    *to = INT64_MAX;
    if (!colon) {
        if (!text_to_i64(t, from) || *from < 0)
            return false;
        *to = *from + 1;
        return true;
    }
    Text a = text_trim(text_slice(t, 0, colon - t.at));
    Text b = text_trim(text_slice(t, colon + 1 - t.at, t.len));
    return (!a.len || (text_to_i64(a, from) && *from >= 0))
           && (!b.len || (text_to_i64(b, to) && *to >= *from));
}

static bool print_slices(Text t, InterpPrint *p)
{
    for (size_t i = 0; i <= t.len;) {
        size_t j = i;
        while (j < t.len && t.at[j] != ',')
            j++;
        if (p->rank == INTERP_MAX_RANK
            || !print_range(text_trim(text_slice(t, i, j)), &p->from[p->rank],
                            &p->to[p->rank]))
            return false;
        p->rank++;
        i = j + 1;
    }
    return true;
}

// acc_s[0:4,:]@k=3
static bool print_spec(Text t, InterpPrint *p)
{
    const char *at = memchr(t.at, '@', t.len);
    if (at) {
        Text when = text_slice(t, at + 1 - t.at, t.len);
        const char *eq = memchr(when.at, '=', when.len);
        if (!eq || !text_to_i64(text_slice(when, eq + 1 - when.at, when.len),
                                &p->loop_value))
            return false;
        p->loop_var = text_slice(when, 0, eq - when.at);
        t = text_slice(t, 0, at - t.at);
    }
    const char *open = memchr(t.at, '[', t.len);
    p->buffer = open ? text_slice(t, 0, open - t.at) : t;
    if (!p->buffer.len || !open)
        return p->buffer.len > 0;
    return t.at[t.len - 1] == ']'
           && print_slices(text_slice(t, open + 1 - t.at, t.len - 1), p);
}

static void read_prints(Run *r)
{
    const Cli *c = r->s.cli;
    const TextList *v = &c->values[OPT_PRINT];
    r->prints = new_array(c->arena, InterpPrint, v->len + 1);
    for (int i = 0; i < v->len; i++)
        if (!print_spec(v->at[i], &r->prints[i]))
            cli_usage(c, "--print '%.*s': expected NAME[SLICES]@VAR=N, as in "
                      "'acc_s[0:4,:]@k=3'", TEXT_ARG(v->at[i]));
    r->judge.prints = r->prints;
    r->judge.print_count = v->len;
}

static void read_block(Run *r)
{
    const Cli *c = r->s.cli;
    r->judge.block[0] = -1;
    if (!cli_given(c, OPT_BLOCK))
        return;
    Text t = cli_text(c, OPT_BLOCK, "");
    int n = 0;
    r->judge.block[1] = r->judge.block[2] = 0;
    for (size_t i = 0; i <= t.len; n++) {
        size_t j = i;
        while (j < t.len && t.at[j] != ',')
            j++;
        if (n == 3 || !text_to_i64(text_slice(t, i, j), &r->judge.block[n])
            || r->judge.block[n] < 0)
            cli_usage(c, "--block '%.*s': expected X,Y,Z", TEXT_ARG(t));
        i = j + 1;
    }
}

static void read_options(Run *r, Cli *c)
{
    Text blocks = cli_text(c, OPT_BLOCKS, "24");
    r->judge.rtol = cli_float(c, OPT_RTOL, 1e-2);
    r->judge.atol = cli_float(c, OPT_ATOL, 1e-2);
    r->judge.norm_tol = cli_float(c, OPT_NORM_TOL, 0);
    r->judge.ratio = 0.01;
    r->judge.sample_blocks =
        text_is(blocks, "all") ? 0 : cli_int(c, OPT_BLOCKS, 24, 1, INT32_MAX);
    r->judge.progress = progress;
    r->judge.progress_ctx = r;
    read_prints(r);
    read_block(r);
    r->in = session_pairs(c, OPT_IN, &r->in_count);
    r->out = session_pairs(c, OPT_OUT, &r->out_count);
    r->expect = session_pairs(c, OPT_EXPECT, &r->expect_count);
    Text numerics = cli_text(c, OPT_NUMERICS, "ieee");
    if (text_is(numerics, "h100") || text_is(numerics, "mi300x"))
        diag_error(c->diag, EXIT_LIMIT, (Span){0}, "not-built",
                   "--numerics=%.*s is not built yet", TEXT_ARG(numerics));
    else if (!text_is(numerics, "ieee"))
        cli_usage(c, "--numerics '%.*s': expected ieee", TEXT_ARG(numerics));
}

// ---- one launch ---------------------------------------------------------------------------

static void report_findings(const Run *r, const InterpResult *run)
{
    Diag *d = r->s.cli->diag;
    for (int i = 0; i < run->finding_count; i++) {
        const InterpFinding *f = &run->findings[i];
        diag_error(d, EXIT_FINDINGS, f->at, f->id, "%s", f->message);
        if (f->count > 1)
            diag_note(d, f->at, "%lld times in all", (long long)f->count);
    }
}

static void show_printed(const Run *r, const InterpResult *run)
{
    FILE *out = r->s.cli->json ? stderr : stdout;
    if (run->printed.len)
        fwrite(run->printed.at, 1, run->printed.len, out);
}

static void add_report(Run *r, const RunReport *report)
{
    if (r->s.cli->json)
        report_json(&r->json, report);
    else if (report->sweep.len)
        report_line(&r->text, report);
    else if (!report->v->failed)
        report_text(&r->text, report);
    if (report->sweep.len && !r->s.cli->json) {
        progress_end(r);
        fwrite(r->text.at, 1, r->text.len, stdout);
        fflush(stdout);
        buf_clear(&r->text);
    }
}

// Judges one case and reports it; the exit code it causes.
static ExitCode judge_case(Run *r, LaunchCase *c, Value reference, Text name,
                           Text sweep)
{
    int before = diag_errors(r->s.cli->diag);
    r->started = time_now();
    Verdict v = verdict_run(r->s.host, c, reference, &r->judge);
    progress_end(r);
    show_printed(r, &v.run);
    report_findings(r, &v.run);
    ExitCode code = v.wrong ? EXIT_FINDINGS : EXIT_CLEAN;
    if (diag_errors(r->s.cli->diag) > before)
        code = exit_worst(code, diag_exit(r->s.cli->diag));
    if (v.failed && code == EXIT_CLEAN)
        code = diag_exit(r->s.cli->diag);
    RunReport report = {.cli = r->s.cli, .host = r->s.host, .c = c, .v = &v,
                        .file = r->s.path, .reference = name, .sweep = sweep,
                        .exit = code};
    add_report(r, &report);
    r->last_upstream = !v.failed;
    for (int i = 0; i < v.output_count; i++)
        r->last_upstream = r->last_upstream && v.outputs[i].upstream_passes;
    if (!v.failed && !launch_save(r->s.host, c, r->out, r->out_count))
        code = exit_worst(code, diag_exit(r->s.cli->diag));
    verdict_release(&v);
    r->launches++;
    r->exit = exit_worst(r->exit, code);
    return code;
}

static Value find_reference(Run *r, Text *name)
{
    Value reference = V_NONE;
    const Cli *c = r->s.cli;
    bool named = cli_given(c, OPT_REF);
    *name = cli_text(c, OPT_REF, "ref_program");
    if (cli_flag(c, OPT_NO_REF) || r->s.is_ir)
        return V_NONE;
    if (!launch_reference(r->s.host, r->s.host->module, *name, named,
                          &reference) && !c->quiet && !named)
        diag_warning(c->diag, (Span){0}, "no-reference",
                     "the file has no 'ref_program': nothing to compare with");
    return reference;
}

static void launch(Run *r, const NamedText *defines, int count, Text sweep)
{
    LaunchCase c;
    Text name;
    int before = diag_errors(r->s.cli->diag);
    CaseOptions options = {
        .defines = defines, .define_count = count,
        .in = r->in, .in_count = r->in_count,
        .expect = r->expect, .expect_count = r->expect_count,
    };
    KernelObject *k = session_kernel(&r->s, defines, count);
    if (k && launch_case(r->s.host, k, &options, &c)) {
        Value reference = find_reference(r, &name);
        if (diag_errors(r->s.cli->diag) == before)
            judge_case(r, &c, reference, name, sweep);
    }
    if (k)
        launch_case_release(&c);
    if (diag_errors(r->s.cli->diag) > before && sweep.len && !r->s.cli->json)
        printf("exit %d %*s %.*s\n", diag_exit(r->s.cli->diag), 35, "",
               TEXT_ARG(sweep));
}

// ---- sweeps ---------------------------------------------------------------------------------

typedef struct {
    Text name;
    TextList values;
} Axis;

static Axis parse_axis(Run *r, Text word)
{
    Axis a = {0};
    Cli *c = r->s.cli;
    Text values;
    cli_pair(c, OPT_SWEEP, word, &a.name, &values);
    int nested = 0;
    for (size_t i = 0, from = 0; i <= values.len; i++) {
        char ch = i < values.len ? values.at[i] : ',';
        nested += ch == '[' || ch == '(';
        nested -= ch == ']' || ch == ')';
        if (ch == ',' && nested == 0) {
            vec_push(c->arena, &a.values, text_slice(values, from, i));
            from = i + 1;
        }
    }
    return a;
}

static int parse_axes(Run *r, Text t, Axis *axes, int room)
{
    int n = 0;
    for (size_t i = 0; i < t.len;) {
        size_t j = i;
        while (j < t.len && t.at[j] != ' ')
            j++;
        if (j > i) {
            if (n == room)
                cli_usage(r->s.cli, "--sweep: at most %d names", room);
            axes[n++] = parse_axis(r, text_slice(t, i, j));
        }
        i = j + 1;
    }
    if (n == 0)
        cli_usage(r->s.cli, "--sweep '%.*s': expected NAME=A,B,... or autotune",
                  TEXT_ARG(t));
    return n;
}

static Text sweep_words(Run *r, const NamedText *d, int from, int to)
{
    TextBuf b = {0};
    for (int i = from; i < to; i++)
        buf_printf(&b, "%s%.*s=%.*s", i > from ? " " : "", TEXT_ARG(d[i].name),
                   TEXT_ARG(d[i].value));
    Text t = text_copy(r->s.cli->arena, buf_view(&b));
    buf_release(&b);
    return t;
}

static void sweep_axes(Run *r, Text spec)
{
    Axis axes[16];
    int at[16] = {0}, n = parse_axes(r, spec, axes, 16);
    int fixed = r->s.define_count;
    NamedText *d = new_array(r->s.cli->arena, NamedText, fixed + n + 1);
    for (int i = 0; i < fixed; i++)
        d[i] = r->s.defines[i];
    while (!parallel_cancelled()) {
        for (int i = 0; i < n; i++)
            d[fixed + i] = (NamedText){axes[i].name, axes[i].values.at[at[i]]};
        launch(r, d, fixed + n, sweep_words(r, d, fixed, fixed + n));
        int i = n - 1;
        while (i >= 0 && ++at[i] == axes[i].values.len)
            at[i--] = 0;
        if (i < 0)
            return;
    }
}

// The program's own configurations, as text: -D takes them back.
static int config_pairs(Run *r, const Dict *d, NamedText *out, int room)
{
    int n = 0;
    for (int i = 0; i < d->len && n < room; i++) {
        if (d->keys[i].kind != VAL_STR)
            continue;
        TextBuf b = {0};
        value_repr(r->s.host->lang, &b, d->values[i]);
        out[n++] = (NamedText){d->keys[i].s,
                               text_copy(r->s.cli->arena, buf_view(&b))};
        buf_release(&b);
    }
    return n;
}

static bool overridden(const Run *r, Text name)
{
    for (int i = 0; i < r->s.define_count; i++)
        if (text_eq(r->s.defines[i].name, name))
            return true;
    return false;
}

static void sweep_configs(Run *r, const List *configs)
{
    int fixed = r->s.define_count;
    for (int i = 0; i < configs->len && !parallel_cancelled(); i++) {
        NamedText more[64], d[128];
        if (configs->at[i].kind != VAL_DICT || fixed > 64)
            continue;
        int count = config_pairs(r, configs->at[i].dict, more, 64), n = 0;
        for (int j = 0; j < fixed; j++)
            d[n++] = r->s.defines[j];
        for (int j = 0; j < count; j++)
            if (!overridden(r, more[j].name))
                d[n++] = more[j];
        launch(r, d, n, sweep_words(r, d, fixed, n));
    }
}

static void sweep_autotune(Run *r)
{
    Candidate c;
    Host *h = r->s.host;
    if (!launch_choose(h, h->module, cli_text(r->s.cli, OPT_KERNEL, ""), &c))
        return;
    List *configs = jit_configs(h, c.value);
    if (configs)
        sweep_configs(r, configs);
    else
        diag_error(r->s.cli->diag, EXIT_USAGE, (Span){0}, "no-configs",
                   "'%.*s' has no autotune configurations", TEXT_ARG(c.name));
}

// ---- scripts ------------------------------------------------------------------------------------

static void on_launched(void *ctx, const KernelObject *k, const InterpResult *run)
{
    Run *r = ctx;
    (void)k;
    report_findings(r, run);
    r->launches++;
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
    Text name = TEXT("its reference");
    if (a->reference.kind == VAL_FUNCTION)
        name = a->reference.function->name;
    if (launch_case(r->s.host, a->kernel, &options, &c)) {
        judge_case(r, &c, a->reference, name, (Text){0});
        passes = r->last_upstream;
    }
    launch_case_release(&c);
    r->judge = kept;
    return passes;
}

static void run_script(Run *r)
{
    session_script(&r->s);
    int code = lang_exit_code(r->s.host->lang);
    if (code)
        r->script_code = code;
    if (r->launches == 0 && diag_errors(r->s.cli->diag) == 0)
        diag_warning(r->s.cli->diag, (Span){0}, "no-launch",
                     "the script ran and launched no kernel");
}

// ---- the command ----------------------------------------------------------------------------------

static void json_open(Run *r)
{
    const Cli *c = r->s.cli;
    const Device *devices[16];
    r->json = json_start(&r->json_buf, true);
    json_begin_object(&r->json);
    json_key(&r->json, TEXT("schema"));
    json_string(&r->json, "tilesim/1");
    json_key(&r->json, TEXT("command"));
    json_string(&r->json, "run");
    json_key(&r->json, TEXT("file"));
    json_string(&r->json, r->s.path ? r->s.path : "");
    cli_devices(c, "h100", devices, countof(devices));
    json_key(&r->json, TEXT("target"));
    json_string(&r->json, devices[0]->name);
    json_key(&r->json, TEXT("launches"));
    json_begin_array(&r->json);
}

static void json_close(Run *r, int code)
{
    json_end_array(&r->json);
    report_diagnostics(&r->json, r->s.cli);
    json_key(&r->json, TEXT("exit"));
    json_int(&r->json, code);
    json_end_object(&r->json);
    buf_addc(&r->json_buf, '\n');
    fwrite(r->json_buf.at, 1, r->json_buf.len, stdout);
    buf_release(&r->json_buf);
}

static void run_all(Run *r)
{
    Cli *c = r->s.cli;
    if (diag_errors(c->diag))
        return;
    if (!session_is_launch(&r->s)) {
        run_script(r);
        return;
    }
    if (!session_load(&r->s))
        return;
    if (text_is(cli_text(c, OPT_SWEEP, ""), "autotune"))
        sweep_autotune(r);
    else if (cli_given(c, OPT_SWEEP))
        sweep_axes(r, cli_text(c, OPT_SWEEP, ""));
    else
        launch(r, r->s.defines, r->s.define_count, (Text){0});
}

int cmd_run(Cli *c)
{
    Run r = {.s = {.cli = c}};
    HostOptions options = {.out = c->json ? stderr : stdout, .ctx = &r,
                           .launched = on_launched, .asserted = on_asserted};
    read_options(&r, c);
    r.progress_on = !c->quiet && isatty(STDERR_FILENO);
    bool open = session_open(&r.s, c, &options);
    if (c->json)
        json_open(&r);
    if (open)
        run_all(&r);
    fwrite(r.text.at, 1, r.text.len, stdout);
    ExitCode code = exit_worst(session_exit(&r.s), r.exit);
    int result = code == EXIT_CLEAN && r.script_code ? r.script_code : (int)code;
    if (c->json)
        json_close(&r, result);
    buf_release(&r.text);
    session_close(&r.s);
    return result;
}
