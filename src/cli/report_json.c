// report_json.c - the result of `run` for machines; docs/json.schema has it.
#include <sys/resource.h>

#include "cli/report.h"
#include "cli/json_keys.h"

static void ints(Json *j, Text key, const int64_t *at, int n)
{
    json_key(j, key);
    json_begin_array(j);
    for (int i = 0; i < n; i++)
        json_int(j, at[i]);
    json_end_array(j);
}

static void mismatch(Json *j, const OutputVerdict *o)
{
    const Mismatch *m = &o->mismatch;
    int64_t index[TENSOR_MAX_RANK] = {0};
    json_key(j, TEXT("mismatch"));
    json_begin_object(j);
    json_key(j, TEXT("against"));
    json_string(j, o->against_file ? "file" : "reference");
    key_int(j, "count", m->count);
    key_int(j, "total", m->total);
    if (m->first_flat >= 0) {
        flat_to_index(&o->got, m->first_flat, index);
        ints(j, TEXT("first"), index, o->got.rank);
        key_number(j, "expected", m->expected);
        key_number(j, "found", m->found);
    }
    if (m->block[0] >= 0)
        ints(j, TEXT("block"), m->block, 3);
    if (m->count) {
        ints(j, TEXT("from"), m->first, o->got.rank);
        ints(j, TEXT("to"), m->last, o->got.rank);
    }
    key_int(j, "unwritten", m->unwritten);
    key_int(j, "nan", m->nan_count);
    json_key(j, TEXT("pattern"));
    json_string(j, m->pattern);
    json_end_object(j);
}

static void numbers(Json *j, const RunReport *r, const OutputVerdict *o)
{
    if (o->algorithm != JUDGED_NOT) {
        json_key(j, TEXT("algorithm"));
        json_begin_object(j);
        key_number(j, "rel", o->algorithm_rel);
        key_number(j, "limit", o->algorithm_limit);
        key_bool(j, "ok", o->algorithm == JUDGED_OK);
        key_int(j, "blocks", r->v->sampled);
        json_end_object(j);
    }
    json_key(j, TEXT("rounding"));
    json_begin_object(j);
    key_number(j, "rel", o->rounding_rel);
    key_number(j, "limit", o->rounding_limit);
    key_bool(j, "ok", o->rounding == JUDGED_OK);
    json_end_object(j);
    json_key(j, TEXT("upstream"));
    json_begin_object(j);
    key_number(j, "mismatch_percent", o->upstream_percent);
    key_bool(j, "ok", o->upstream_passes);
    json_end_object(j);
    json_key(j, TEXT("worst"));
    json_begin_object(j);
    ints(j, TEXT("index"), o->worst_index, o->got.rank);
    key_number(j, "found", o->worst_got);
    key_number(j, "expected", o->worst_ref);
    key_number(j, "ulps", o->worst_ulps);
    json_end_object(j);
}

void report_json_output(Json *j, const RunReport *r, const OutputVerdict *o)
{
    key_text(j, "name", o->name);
    json_key(j, TEXT("dtype"));
    json_string(j, dtype_info(o->dtype)->name);
    ints(j, TEXT("shape"), o->got.shape, o->got.rank);
    key_bool(j, "ok", !o->wrong);
    if (r->v->has_reference)
        numbers(j, r, o);
    if (o->has_expect) {
        key_number(j, "expect_rel", o->expect_got_rel);
        if (o->ref.storage)
            key_number(j, "expect_reference_rel", o->expect_ref_rel);
    }
    if (o->wrong)
        mismatch(j, o);
}

void report_json_place(Json *j, const Cli *c, Span at)
{
    if (!at.file)
        return;
    const Source *s = sources_get(c->sources, at.file);
    Place p = sources_place(c->sources, at.file, at.begin);
    json_key(j, TEXT("file"));
    json_string(j, s->path);
    key_int(j, "line", p.line);
    key_int(j, "column", p.column);
}

static void findings(Json *j, const RunReport *r)
{
    const InterpResult *run = &r->v->run;
    json_key(j, TEXT("findings"));
    json_begin_array(j);
    for (int i = 0; i < run->finding_count; i++) {
        json_begin_object(j);
        json_key(j, TEXT("id"));
        json_string(j, run->findings[i].id);
        report_json_place(j, r->cli, run->findings[i].at);
        json_key(j, TEXT("message"));
        json_string(j, run->findings[i].message);
        key_int(j, "count", run->findings[i].count);
        json_end_object(j);
    }
    json_end_array(j);
}

void report_json_kernel(Json *j, const Cli *cli, const KernelObject *k)
{
    const IrConfig *c = &k->ir->config;
    key_text(j, "kernel", k->ir->name);
    report_json_place(j, cli, k->ir->at);
    json_key(j, TEXT("arguments"));
    json_begin_object(j);
    for (int i = 0; i < c->argument_count; i++) {
        json_key(j, c->argument_names[i]);
        json_text(j, c->argument_values[i]);
    }
    json_end_object(j);
}

static void numerics(Json *j, const PlanMatrices *m)
{
    if (!m)
        return;
    json_key(j, TEXT("matrix_instructions"));
    json_begin_array(j);
    for (int i = 0; i < m->len; i++) {
        const DeviceMma *mma = m->at[i].mma;
        if (!mma)
            continue;
        json_begin_object(j);
        json_key(j, TEXT("name"));
        json_string(j, mma->name);
        json_key(j, TEXT("target"));
        json_string(j, m->device->name);
        json_key(j, TEXT("basis"));
        json_string(j, report_basis(m->device, mma->bits));
        json_end_object(j);
    }
    json_end_array(j);
}

// Of the whole process so far; the kernel counts in KiB.
static int64_t resident_peak(void)
{
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) == 0 ? (int64_t)u.ru_maxrss * 1024 : 0;
}

// Where it was stopped, if it was.
static const char *stopped(Stop s)
{
    static const char *const words[] = {
        [STOPPED_NOT] = NULL, [STOPPED_RUN] = "run",
        [STOPPED_REFERENCE] = "reference", [STOPPED_F64] = "f64",
    };
    return words[s];
}

void report_json_not_run(Json *j, ExitCode code, Text sweep)
{
    json_begin_object(j);
    key_text(j, "sweep", sweep);
    key_int(j, "exit", code);
    json_end_object(j);
}

static void outputs(Json *j, const RunReport *r)
{
    const Verdict *v = r->v;
    bool known = !v->failed && v->stopped != STOPPED_RUN
                 && v->stopped != STOPPED_REFERENCE;
    json_key(j, TEXT("outputs"));
    json_begin_array(j);
    for (int i = 0; known && i < v->output_count; i++) {
        json_begin_object(j);
        report_json_output(j, r, &v->outputs[i]);
        json_end_object(j);
    }
    json_end_array(j);
}

void report_json(Json *j, const RunReport *r)
{
    const InterpResult *run = &r->v->run;
    json_begin_object(j);
    if (r->sweep.len)
        key_text(j, "sweep", r->sweep);
    report_json_kernel(j, r->cli, r->c->kernel);
    key_int(j, "exit", r->exit);
    json_key(j, TEXT("seed"));
    json_uint(j, r->host->options.seed);
    key_bool(j, "compared", r->v->has_reference);
    if (r->v->has_reference)
        key_text(j, "reference", r->reference);
    if (r->v->stopped) {
        json_key(j, TEXT("stopped"));
        json_string(j, stopped(r->v->stopped));
    }
    numerics(j, r->c->kernel->matrices);
    outputs(j, r);
    findings(j, r);
    key_int(j, "blocks", run->blocks_total);
    key_int(j, "blocks_done", run->blocks_done);
    key_int(j, "blocks_idle", run->idle_blocks);
    key_number(j, "flops", run->flops);
    key_number(j, "seconds", run->seconds);
    key_number(j, "reference_seconds", r->v->reference_seconds);
    key_int(j, "peak_bytes", r->host->heap.peak);
    key_int(j, "peak_resident_bytes", resident_peak());
    if (r->targets && !r->v->stopped)
        report_targets_json(j, r);
    json_end_object(j);
}

void report_diagnostics(Json *j, const Cli *c)
{
    static const char *const levels[] = {"note", "warning", "error"};
    const DiagEntry *at;
    int n = diag_entries(c->diag, &at);
    json_key(j, TEXT("diagnostics"));
    json_begin_array(j);
    for (int i = 0; i < n; i++) {
        json_begin_object(j);
        json_key(j, TEXT("level"));
        json_string(j, levels[at[i].level]);
        json_key(j, TEXT("id"));
        json_string(j, at[i].id ? at[i].id : "");
        key_text(j, "message", at[i].message);
        report_json_place(j, c, at[i].at);
        key_int(j, "count", at[i].count);
        json_end_object(j);
    }
    json_end_array(j);
}
