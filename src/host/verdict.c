// verdict.c - runs a kernel as written and in f64, and its reference in f64.
#include <math.h>
#include <stdlib.h>

#include "host/verdict.h"
#include "support/parallel.h"

double verdict_norm_tol(DType t)
{
    if (!dtype_is_float(t) || t == DT_F64)
        return 1e-5;
    if (dtype_info(t)->bits <= 8)
        return 6e-2;
    return t == DT_BF16 ? 2e-2 : 5e-3;
}

// ---- runs of the kernel -----------------------------------------------------

typedef struct {
    int64_t *at;
    int64_t len;
} BlockList;

// Evenly spaced with the first and the last; more when many blocks are idle.
static BlockList sample(const Verdict *v, int64_t want, int64_t total)
{
    BlockList list = {0};
    int64_t idle = v->run.idle_blocks, busy = v->run.blocks_total - idle;
    if (want <= 0 || total <= 0)
        return list;
    if (idle > 0 && busy > 0)
        want = (int64_t)ceil((double)want * v->run.blocks_total / busy);
    if (want >= total)
        return list;
    list.at = xcalloc(want, sizeof *list.at);
    for (int64_t i = 0; i < want; i++) {
        // a stride that is no round number, so that no grid row is favoured
        int64_t at = want == 1 ? 0
                     : (int64_t)((double)i * (total - 1) / (want - 1) + 0.5);
        if (list.len == 0 || list.at[list.len - 1] < at)
            list.at[list.len++] = at;
    }
    return list;
}

static int64_t last_grid(const InterpResult *r)
{
    int i = r->launches - 1;
    if (i < 0)
        return 0;
    return r->grid[i][0] * r->grid[i][1] * r->grid[i][2];
}

// A byte per element of each output: how often it was stored.
static uint8_t **output_shadows(const LaunchCase *c)
{
    int n = c->kernel->ir->param_count;
    uint8_t **writes = xcalloc(n + 1, sizeof *writes);
    for (int i = 0; i < n; i++)
        if (c->is_output[i])
            writes[i] = xcalloc(tensor_count(&c->args[i].tensor) + 1, 1);
    return writes;
}

static void release_shadows(const LaunchCase *c, uint8_t **writes)
{
    for (int i = 0; i < c->kernel->ir->param_count; i++)
        free(writes[i]);
    free(writes);
}

// The same arguments in f64, with new outputs.
static bool f64_args(Host *h, LaunchCase *c, KernelArg *out)
{
    for (int i = 0; i < c->kernel->ir->param_count; i++) {
        const KernelArg *a = &c->args[i];
        out[i] = *a;
        out[i].tensor.storage = NULL;
        if (a->is_scalar)
            continue;
        if (c->before[i].rank >= 0) {
            DType t = becomes_f64(a->tensor.dtype) ? DT_F64 : a->tensor.dtype;
            if (!tensor_cast(&out[i].tensor, &c->before[i], t, false))
                return false;
            continue;
        }
        if (!c->is_output[i]) {
            if (!tensor_in_f64(&a->tensor, &out[i].tensor))
                return false;
            continue;
        }
        DType t = becomes_f64(a->tensor.dtype) ? DT_F64 : a->tensor.dtype;
        if (!tensor_new(&h->heap, &out[i].tensor, t, a->tensor.rank,
                        a->tensor.shape))
            return false;
    }
    return true;
}

static void release_args(LaunchCase *c, KernelArg *args)
{
    for (int i = 0; i < c->kernel->ir->param_count; i++)
        if (!args[i].is_scalar && args[i].tensor.storage)
            tensor_release(&args[i].tensor);
    free(args);
}

// Why an f64 run would say nothing, or NULL.
static const char *no_f64(const CodeFacts *f)
{
    return f->calls_natives  ? "the program calls C functions"
           : f->reinterprets ? "the program works on the bits of floats"
                             : NULL;
}

static void algorithm_output(OutputVerdict *o, const Tensor *got,
                             const uint8_t *written)
{
    CompareRule rule = {.written = written, .format = o->dtype};
    CompareSums s = compare_range(got, &o->ref, 0, tensor_count(&o->ref),
                                  &rule);
    o->algorithm_rel = compare_rel(&s);
    o->algorithm_limit = 1e-6;
    o->algorithm = s.compared == 0 ? JUDGED_NOT
                   : o->algorithm_rel <= o->algorithm_limit ? JUDGED_OK
                                                            : JUDGED_BAD;
}

typedef struct {
    const VerdictOptions *options;
    const char *what;
} Progress;

static void tell(void *ctx, int64_t done, int64_t total)
{
    const Progress *p = ctx;
    if (p->options->progress)
        p->options->progress(p->options->progress_ctx, p->what, done, total);
}

static bool run_f64(Host *h, LaunchCase *c, Verdict *v,
                    const VerdictOptions *options)
{
    // Asked of the code as written: in f64 such a program may not even lower.
    CodeFacts facts = code_facts(kernel_code(c->kernel, CODE_AS_WRITTEN));
    v->no_algorithm = no_f64(&facts);
    if (v->no_algorithm)
        return true;
    if (!kernel_code(c->kernel, CODE_F64))
        return false;
    bool whole = facts.atomics_on_global || facts.reads_written_global;
    int64_t total = last_grid(&v->run);
    BlockList blocks = sample(v, whole ? 0 : options->sample_blocks, total);
    KernelArg *args = xcalloc(c->kernel->ir->param_count + 1, sizeof *args);
    Progress progress = {options, "f64 blocks"};
    InterpOptions run = {.blocks = blocks.at, .block_count = blocks.len,
                         .memory_limit = host_memory_left(h),
                         .max_findings = 1, .progress = tell,
                         .progress_ctx = &progress};
    uint8_t **writes = output_shadows(c);
    bool quiet = diag_quiet(h->options.diag, true);
    if (!f64_args(h, c, args)) {
        v->no_algorithm = "there is no memory for a run in f64";
    } else {
        InterpResult r = kernel_run(c->kernel, CODE_F64, args, writes, &run);
        v->sampled = (blocks.at ? blocks.len : total)
                     - (r.idle_blocks < total ? r.idle_blocks : 0);
        v->blocks = total;
        if (v->run.idle_blocks < total)
            v->blocks -= v->run.idle_blocks;
        if (r.cancelled)
            v->stopped = STOPPED_F64;
        for (int i = 0; !r.cancelled && i < v->output_count; i++)
            algorithm_output(&v->outputs[i],
                             &args[v->outputs[i].param].tensor,
                             writes[v->outputs[i].param]);
        interp_result_release(&r);
    }
    diag_quiet(h->options.diag, quiet);
    release_shadows(c, writes);
    release_args(c, args);
    free(blocks.at);
    return true;
}

// ---- as written -------------------------------------------------------------

// Distance in units of the last place of the output's dtype at `ref`: up to
// one half is what rounding the exact value gives.
double verdict_ulps(DType t, double got, double ref)
{
    const DTypeInfo *info = dtype_info(t);
    int exponent;
    if (!dtype_is_float(t))
        return fabs(got - ref);
    double size = fmax(fabs(ref), info->min_normal);
    frexp(size, &exponent);
    return fabs(got - ref) / ldexp(1, exponent - 1 - info->mantissa_bits);
}

static void find_worst(OutputVerdict *o)
{
    int64_t at = o->sums.worst_at;
    if (at < 0)
        return;
    flat_to_index(&o->got, at, o->worst_index);
    o->worst_got = tensor_get_f64(&o->got, o->worst_index);
    o->worst_ref = tensor_get_f64(&o->ref, o->worst_index);
    o->worst_ulps = verdict_ulps(o->dtype, o->worst_got, o->worst_ref);
}

static double norm_tol(const OutputVerdict *o, const VerdictOptions *options)
{
    return options->norm_tol > 0 ? options->norm_tol
                                 : verdict_norm_tol(o->dtype);
}

// The outermost slices one by one, so that a wrong one cannot hide.
static void worst_slice(OutputVerdict *o, const CompareRule *rule)
{
    int64_t n = o->got.rank ? o->got.shape[0] : 1;
    int64_t each = n ? tensor_count(&o->got) / n : 0;
    o->bad_slice = -1;
    if (n <= 1 || n > 65536 || each <= 1)   // one element alone is no norm
        return;
    for (int64_t i = 0; i < n; i++) {
        CompareSums s = compare_range(&o->got, &o->ref, i * each,
                                      (i + 1) * each, rule);
        // a slice far smaller than the whole may be all rounding
        double floor2 = o->sums.ref2 / n * 1e-4;
        if (s.ref2 < floor2)
            s.ref2 = floor2;
        if (compare_rel(&s) > o->rounding_limit) {
            o->bad_slice = i;
            return;
        }
    }
}

static void rounding_output(OutputVerdict *o, const VerdictOptions *options)
{
    CompareRule rule = {.rtol = options->rtol, .atol = options->atol,
                        .format = o->dtype};
    int64_t n = tensor_count(&o->got);
    o->sums = compare_range(&o->got, &o->ref, 0, n, &rule);
    o->rounding_limit = norm_tol(o, options);
    o->rounding_rel = compare_rel(&o->sums);
    worst_slice(o, &rule);
    o->rounding = o->rounding_rel <= o->rounding_limit && o->bad_slice < 0
                      ? JUDGED_OK : JUDGED_BAD;
    o->upstream_percent = n ? 100.0 * o->sums.over / n : 0;
    o->upstream_passes = o->sums.over <= (int64_t)(options->ratio * n);
    find_worst(o);
}

static void count_writes(OutputVerdict *o)
{
    int64_t n = o->writes ? tensor_count(&o->got) : 0;
    for (int64_t i = 0; i < n; i++) {
        o->written_never += o->writes[i] == 0;
        o->written_once += o->writes[i] == 1;
        o->written_more += o->writes[i] > 1;
    }
}

static bool same_shape(const Tensor *a, const Tensor *b)
{
    if (a->rank != b->rank)
        return false;
    for (int d = 0; d < a->rank; d++)
        if (a->shape[d] != b->shape[d])
            return false;
    return true;
}

static void shape_words(TextBuf *b, const Tensor *t)
{
    buf_addc(b, '[');
    for (int d = 0; d < t->rank; d++)
        buf_printf(b, "%s%lld", d ? ", " : "", (long long)t->shape[d]);
    buf_addc(b, ']');
}

static bool shapes_agree(Host *h, LaunchCase *c, const OutputVerdict *o)
{
    if (same_shape(&o->got, &o->ref))
        return true;
    TextBuf b = {0};
    shape_words(&b, &o->got);
    buf_puts(&b, ", the reference returns ");
    shape_words(&b, &o->ref);
    diag_error(h->options.diag, EXIT_PROGRAM, c->kernel->ir->at,
               "reference-shape", "output '%.*s' is %.*s", TEXT_ARG(o->name),
               (int)b.len, b.at);
    buf_release(&b);
    return false;
}

// The grid of the last launch, which a run of no block tells.
static bool find_grid(LaunchCase *c, int64_t grid[3])
{
    int64_t none = 0;
    InterpOptions probe = {.blocks = &none, .max_findings = 1};
    InterpResult r = kernel_run(c->kernel, CODE_AS_WRITTEN, c->args, NULL,
                                &probe);
    bool ok = r.launches > 0;
    for (int i = 0; i < 3; i++)
        grid[i] = ok ? r.grid[r.launches - 1][i] : 0;
    interp_result_release(&r);
    return ok;
}

static bool one_block(Host *h, LaunchCase *c, const int64_t block[3],
                      int64_t *out)
{
    int64_t grid[3];
    bool ok = find_grid(c, grid);
    for (int i = 0; i < 3; i++)
        ok = ok && block[i] >= 0 && block[i] < grid[i];
    if (ok)
        *out = block[0] + grid[0] * (block[1] + grid[1] * block[2]);
    else
        diag_error(h->options.diag, EXIT_USAGE, c->kernel->ir->at,
                   "no-such-block", "there is no block %lld,%lld,%lld in a "
                   "grid of %lld x %lld x %lld", (long long)block[0],
                   (long long)block[1], (long long)block[2],
                   (long long)grid[0], (long long)grid[1], (long long)grid[2]);
    return ok;
}

// The blocks that were asked for, unless each needs what others write.
static BlockList some_blocks(LaunchCase *c, const Verdict *v, int64_t want)
{
    Code *code = kernel_code(c->kernel, CODE_AS_WRITTEN);
    int64_t grid[3];
    if (!want || !code)
        return (BlockList){0};
    CodeFacts facts = code_facts(code);
    if (facts.atomics_on_global || facts.reads_written_global
        || !find_grid(c, grid))
        return (BlockList){0};
    return sample(v, want, grid[0] * grid[1] * grid[2]);
}

static bool run_as_written(Host *h, LaunchCase *c, Verdict *v, uint8_t **writes,
                           const VerdictOptions *options)
{
    int64_t only;
    Progress progress = {options, "blocks"};
    InterpOptions run = {
        .memory_limit = host_memory_left(h),
        .max_findings = 20,
        .prints = options->prints,
        .print_count = options->print_count,
        .progress = tell,
        .progress_ctx = &progress,
        .event = options->event,
        .event_ctx = options->event_ctx,
        .observer = options->observer,
    };
    CodeMode mode = options->event ? CODE_COUNTED : CODE_AS_WRITTEN;
    if (options->block[0] >= 0) {
        if (!one_block(h, c, options->block, &only))
            return false;
        run.blocks = &only;
        run.block_count = 1;
    }
    BlockList some = some_blocks(c, v, options->run_blocks);
    if (some.at) {
        run.blocks = some.at;
        run.block_count = some.len;
        v->run_sampled = some.len;
    }
    v->run = kernel_run(c->kernel, mode, c->args, writes, &run);
    free(some.at);
    return v->run.ok || v->run.finding_total > 0 || v->run.cancelled;
}

// The outputs, each with its shadow, which is theirs from here on.
static void list_outputs(const LaunchCase *c, Verdict *v, uint8_t **writes)
{
    for (int i = 0; i < c->kernel->ir->param_count; i++) {
        if (!c->is_output[i] || v->output_count == VERDICT_MAX_OUTPUTS)
            continue;
        OutputVerdict *o = &v->outputs[v->output_count++];
        o->param = i;
        o->name = c->kernel->ir->params[i].name;
        o->dtype = c->args[i].tensor.dtype;
        o->got = c->args[i].tensor;
        o->algorithm = o->rounding = JUDGED_NOT;
        o->bad_slice = -1;
        o->writes = writes ? writes[i] : NULL;
    }
}

void verdict_list(const LaunchCase *c, Verdict *v)
{
    list_outputs(c, v, NULL);
}

static bool take_references(Host *h, LaunchCase *c, Verdict *v, Value reference,
                            ReferenceCache *cache)
{
    Tensor outs[VERDICT_MAX_OUTPUTS];
    int count = 0;
    double start = time_now();
    bool plain, ok = reference_run(h, c, reference, cache, outs, &count, &plain);
    if (plain)
        v->no_algorithm = "the reference looks at bits";
    v->reference_seconds = time_now() - start;
    if (ok && count < v->output_count) {
        diag_error(h->options.diag, EXIT_PROGRAM, c->kernel->ir->at,
                   "reference-count", "the kernel has %d output%s, its "
                   "reference returns %d", v->output_count,
                   v->output_count == 1 ? "" : "s", count);
        ok = false;
    }
    for (int i = 0; i < count; i++) {
        if (i < v->output_count)
            v->outputs[i].ref = outs[i];
        else
            tensor_release(&outs[i]);
    }
    v->has_reference = ok;
    for (int i = 0; ok && i < v->output_count; i++)
        ok = shapes_agree(h, c, &v->outputs[i]);
    return ok;
}

static void judge_expect(LaunchCase *c, OutputVerdict *o,
                         const VerdictOptions *options)
{
    CompareRule rule = {.rtol = options->rtol, .atol = options->atol,
                        .format = o->dtype};
    const Tensor *e = &c->expects[o->param];
    if (e->rank < 0)
        return;
    int64_t n = tensor_count(e);
    CompareSums s = compare_range(&o->got, e, 0, n, &rule);
    o->has_expect = true;
    o->expect_limit = norm_tol(o, options);
    o->expect_got_rel = compare_rel(&s);
    o->expect_wrong = !(o->expect_got_rel <= o->expect_limit);
    if (o->ref.storage) {
        CompareSums r = compare_range(e, &o->ref, 0, n, &rule);
        o->expect_ref_rel = compare_rel(&r);
    }
    o->file_sums = s;
    o->against_file = o->expect_wrong && !o->wrong;
    o->wrong = o->wrong || o->expect_wrong;
}

void verdict_judge(Host *h, LaunchCase *c, Verdict *v, OutputVerdict *o,
                   const VerdictOptions *options)
{
    o->wrong = o->against_file = false;
    if (v->has_reference) {
        rounding_output(o, options);
        o->wrong = o->rounding == JUDGED_BAD || o->algorithm == JUDGED_BAD;
    }
    judge_expect(c, o, options);
    o->mismatch = (Mismatch){0};
    if (o->wrong)
        mismatch_find(h, c, o, o->writes);
    v->wrong = v->wrong || o->wrong;
}

static void judge(Host *h, LaunchCase *c, Verdict *v,
                  const VerdictOptions *options)
{
    for (int i = 0; i < v->output_count; i++) {
        count_writes(&v->outputs[i]);
        verdict_judge(h, c, v, &v->outputs[i], options);
    }
}

// Contents that the launch will overwrite and that were not empty: generated
// or given ones of what out_idx does not name.
static bool keep_before(LaunchCase *c)
{
    for (int i = 0; i < c->kernel->ir->param_count; i++) {
        const Tensor *t = &c->args[i].tensor;
        if (c->is_output[i] && !kernel_is_output(c->kernel, i)
            && !tensor_cast(&c->before[i], t, t->dtype, false))
            return false;
    }
    return true;
}

static void check_against(Host *h, LaunchCase *c, Verdict *v, Value reference,
                          const VerdictOptions *options)
{
    if (options->progress)
        options->progress(options->progress_ctx, "reference", 0, 0);
    v->failed = !take_references(h, c, v, reference, options->cache);
    if (parallel_cancelled()) {
        v->stopped = STOPPED_REFERENCE;
        v->failed = v->has_reference = false;
    } else if (!v->failed && !v->no_algorithm) {
        v->failed = !run_f64(h, c, v, options);
    }
}

// What is known is judged even after Ctrl-C, which stops parallel work.
static void judge_stopped(Host *h, LaunchCase *c, Verdict *v,
                          const VerdictOptions *options)
{
    int why = parallel_cancelled();
    parallel_cancel_reset();
    judge(h, c, v, options);
    if (parallel_cancelled())       // once more
        v->stopped = STOPPED_REFERENCE;
    parallel_cancel(why);
}

Verdict verdict_run(Host *h, LaunchCase *c, Value reference,
                    const VerdictOptions *options)
{
    Verdict v = {0};
    bool check = reference.kind != VAL_NONE && options->block[0] < 0;
    int n = c->kernel->ir->param_count;
    bool expects = false;
    for (int i = 0; i < n; i++)
        expects = expects || c->expects[i].rank >= 0;
    bool shadows = check || expects || options->keep_writes;
    uint8_t **writes = shadows ? output_shadows(c)
                               : xcalloc(n + 1, sizeof *writes);
    list_outputs(c, &v, writes);
    if ((check || expects) && !keep_before(c)) {
        diag_error(h->options.diag, EXIT_LIMIT, c->kernel->ir->at, "no-memory",
                   "there is no memory to keep what the kernel overwrites");
        v.failed = true;
    }
    v.failed = v.failed || !run_as_written(h, c, &v, writes, options);
    if (v.run.cancelled)
        v.stopped = STOPPED_RUN;
    else if (!v.failed && check)
        check_against(h, c, &v, reference, options);
    if (v.stopped == STOPPED_F64)
        judge_stopped(h, c, &v, options);
    else if (!v.failed && !v.stopped)
        judge(h, c, &v, options);
    for (int i = 0; i < v.output_count; i++)
        writes[v.outputs[i].param] = NULL;      // the output's own
    release_shadows(c, writes);
    return v;
}

void verdict_release(Verdict *v)
{
    for (int i = 0; i < v->output_count; i++) {
        free(v->outputs[i].writes);
        if (v->outputs[i].ref.storage)
            tensor_release(&v->outputs[i].ref);
    }
    interp_result_release(&v->run);
}
