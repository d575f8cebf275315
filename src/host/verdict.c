// verdict.c - runs a kernel as written and in f64, and its reference in f64.
#include <math.h>
#include <stdlib.h>

#include "host/verdict.h"

double verdict_norm_tol(DType t)
{
    if (!dtype_is_float(t) || t == DT_F64)
        return 1e-5;
    if (dtype_is_fp8(t))
        return 6e-2;
    return t == DT_BF16 ? 2e-2 : 5e-3;
}

// ---- the reference --------------------------------------------------------------------

typedef struct {
    Host *h;
    LaunchCase *c;
    Value reference;
    Tensor *outs;
    int out_count;
} RefCall;

static bool becomes_f64(DType t)
{
    return dtype_is_float(t) && !dtype_is_fp8(t);
}

// A tensor as the f64 world sees it; another reference when it is the same.
static bool in_f64(const Tensor *t, Tensor *out)
{
    if (becomes_f64(t->dtype) && t->dtype != DT_F64)
        return tensor_cast(out, t, DT_F64, false);
    *out = tensor_retain(t);
    return true;
}

static Value input_value(RefCall *r, int i)
{
    const KernelArg *a = &r->c->args[i];
    const IrParam *p = &r->c->kernel->ir->params[i];
    Tensor t;
    if (p->is_scalar)
        return dtype_is_float(p->var->dtype) ? v_float(a->f64) : v_int(a->i64);
    if (!in_f64(&a->tensor, &t))
        lang_raise(r->h->lang, "MemoryError", (Span){0},
                   "no memory for '%.*s' in f64", TEXT_ARG(p->name));
    return tensor_value(r->h, t);
}

// The rest of a reference's parameters come from the kernel's arguments.
static int named_arguments(RefCall *r, const Function *fn, int from,
                           Text *names, Value *values)
{
    int n = 0, count = function_param_count(fn);
    for (int i = from; i < count; i++) {
        Value fallback;
        bool has;
        Text name = function_param(fn, i, &fallback, &has);
        if (kernel_argument(r->c->kernel, name, &values[n]))
            names[n++] = name;
        else if (!has)
            lang_raise(r->h->lang, "TypeError", r->c->kernel->ir->at,
                       "reference '%.*s' needs '%.*s', which is no argument "
                       "of the kernel", TEXT_ARG(fn->name), TEXT_ARG(name));
    }
    return n;
}

static void take_result(RefCall *r, Value v)
{
    Tensor *t = tensor_of(v), whole;
    if (!t)
        lang_raise(r->h->lang, "TypeError", r->c->kernel->ir->at,
                   "the reference should return a tensor; it returned %s",
                   value_type_name(v));
    if (r->out_count == VERDICT_MAX_OUTPUTS)
        return;
    if (!tensor_contiguous(&whole, t))
        lang_raise(r->h->lang, "MemoryError", (Span){0},
                   "no memory for the reference's result");
    r->outs[r->out_count++] = whole;
}

static void call_reference(Lang *l, void *ctx)
{
    RefCall *r = ctx;
    int params = r->c->kernel->ir->param_count, n = 0;
    Value *at = new_array(lang_arena(l), Value, params + 1);
    for (int i = 0; i < params; i++)
        if (!r->c->is_output[i] || r->c->kernel->ir->config.output_count == 0)
            at[n++] = input_value(r, i);
    Args args = {.at = at, .count = n, .at_span = r->c->kernel->ir->at};
    if (r->reference.kind == VAL_FUNCTION) {
        const Function *fn = r->reference.function;
        int count = function_param_count(fn);
        args.names = new_array(lang_arena(l), Text, count + 1);
        args.values = new_array(lang_arena(l), Value, count + 1);
        args.keyword_count = named_arguments(r, fn, n, args.names, args.values);
    }
    Value v = lang_call(l, r->reference, &args);
    if (v.kind == VAL_TUPLE || v.kind == VAL_LIST) {
        for (int i = 0; i < v.list->len; i++)
            take_result(r, v.list->at[i]);
    } else {
        take_result(r, v);
    }
}

static bool run_reference(Host *h, LaunchCase *c, Value reference,
                          Tensor *outs, int *count)
{
    RefCall r = {.h = h, .c = c, .reference = reference, .outs = outs};
    int mark = lang_pins(h->lang);
    h->f64 = true;
    bool ok = lang_try(h->lang, call_reference, &r, NULL);
    h->f64 = false;
    lang_unpin(h->lang, mark);
    *count = r.out_count;
    return ok;
}

// ---- runs of the kernel ------------------------------------------------------------------

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
    if (i < 0 || i >= (int)countof(r->grid))
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
        if (!c->is_output[i]) {
            if (!in_f64(&a->tensor, &out[i].tensor))
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
    return f->reinterprets ? "the program works on the bits of floats" : NULL;
}

static void algorithm_output(OutputVerdict *o, const Tensor *got,
                             const uint8_t *written)
{
    CompareRule rule = {.written = written};
    CompareSums s = compare_range(got, &o->ref, 0, tensor_count(&o->ref),
                                  &rule);
    o->algorithm_rel = compare_rel(&s);
    o->algorithm_limit = 1e-6;
    o->algorithm = s.compared == 0 ? JUDGED_NOT
                   : o->algorithm_rel <= o->algorithm_limit ? JUDGED_OK
                                                            : JUDGED_BAD;
}

static bool run_f64(Host *h, LaunchCase *c, Verdict *v,
                    const VerdictOptions *options)
{
    Code *code = kernel_code(c->kernel, CODE_F64);
    if (!code)
        return false;
    CodeFacts facts = code_facts(code);
    v->no_algorithm = no_f64(&facts);
    if (v->no_algorithm)
        return true;
    bool whole = facts.atomics_on_global || facts.reads_written_global;
    int64_t total = last_grid(&v->run);
    BlockList blocks = sample(v, whole ? 0 : options->sample_blocks, total);
    KernelArg *args = xcalloc(c->kernel->ir->param_count + 1, sizeof *args);
    InterpOptions run = {.blocks = blocks.at, .block_count = blocks.len,
                         .max_findings = 1, .progress = options->progress,
                         .progress_ctx = options->progress_ctx};
    uint8_t **writes = output_shadows(c);
    bool quiet = diag_quiet(h->options.diag, true);
    bool ok = f64_args(h, c, args);
    if (ok) {
        InterpResult r = kernel_run(c->kernel, CODE_F64, args, writes, &run);
        v->sampled = (blocks.at ? blocks.len : total)
                     - (r.idle_blocks < total ? r.idle_blocks : 0);
        v->blocks = total - (v->run.idle_blocks < total ? v->run.idle_blocks : 0);
        ok = !r.cancelled;
        for (int i = 0; ok && i < v->output_count; i++)
            algorithm_output(&v->outputs[i],
                             &args[v->outputs[i].param].tensor,
                             writes[v->outputs[i].param]);
        interp_result_release(&r);
    }
    diag_quiet(h->options.diag, quiet);
    release_shadows(c, writes);
    release_args(c, args);
    free(blocks.at);
    return ok;
}

// ---- as written ---------------------------------------------------------------------------

// Distance in units of the last place of the output's dtype at `ref`.
static double ulps(DType t, double got, double ref)
{
    const DTypeInfo *info = dtype_info(t);
    int exponent;
    if (!dtype_is_float(t))
        return fabs(got - ref);
    double size = fmax(fabs(ref), info->min_normal);
    frexp(size, &exponent);
    return fabs(got - num_round_f64(t, ref))
           / ldexp(1, exponent - 1 - info->mantissa_bits);
}

static void find_worst(OutputVerdict *o)
{
    double pair[2];
    int64_t at = o->sums.worst_at;
    if (at < 0)
        return;
    flat_to_index(&o->got, at, o->worst_index);
    o->worst_got = tensor_get_f64(&o->got, o->worst_index);
    o->worst_ref = tensor_get_f64(&o->ref, o->worst_index);
    pair[0] = o->worst_got, pair[1] = o->worst_ref;
    o->worst_ulps = ulps(o->dtype, pair[0], pair[1]);
}

// The outermost slices one by one, so that a wrong one cannot hide.
static void worst_slice(OutputVerdict *o, const CompareRule *rule)
{
    int64_t n = o->got.rank ? o->got.shape[0] : 1;
    int64_t each = n ? tensor_count(&o->got) / n : 0;
    o->bad_slice = -1;
    if (n <= 1 || n > 65536)
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
    CompareRule rule = {.rtol = options->rtol, .atol = options->atol};
    int64_t n = tensor_count(&o->got);
    o->sums = compare_range(&o->got, &o->ref, 0, n, &rule);
    o->rounding_limit = options->norm_tol > 0 ? options->norm_tol
                                              : verdict_norm_tol(o->dtype);
    o->rounding_rel = compare_rel(&o->sums);
    worst_slice(o, &rule);
    o->rounding = o->rounding_rel <= o->rounding_limit && o->bad_slice < 0
                      ? JUDGED_OK : JUDGED_BAD;
    o->upstream_percent = n ? 100.0 * o->sums.over / n : 0;
    o->upstream_passes = o->sums.over <= (int64_t)(options->ratio * n);
    find_worst(o);
}

static void count_writes(OutputVerdict *o, const uint8_t *writes)
{
    int64_t n = tensor_count(&o->got);
    for (int64_t i = 0; i < n; i++) {
        o->written_never += writes[i] == 0;
        o->written_once += writes[i] == 1;
        o->written_more += writes[i] > 1;
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

static int64_t linear_block(const InterpResult *r, const int64_t block[3])
{
    const int64_t *g = r->grid[r->launches - 1];
    return block[0] + g[0] * (block[1] + g[1] * block[2]);
}

// --block x,y,z needs the grid, which a run of no block tells.
static bool one_block(LaunchCase *c, const int64_t block[3], int64_t *out)
{
    int64_t none = 0;
    InterpOptions probe = {.blocks = &none, .block_count = 0, .max_findings = 1};
    probe.blocks = &none;
    InterpResult r = kernel_run(c->kernel, CODE_AS_WRITTEN, c->args, NULL,
                                &probe);
    bool ok = r.launches > 0;
    for (int i = 0; ok && i < 3; i++)
        ok = block[i] >= 0 && block[i] < r.grid[r.launches - 1][i];
    if (ok)
        *out = linear_block(&r, block);
    interp_result_release(&r);
    return ok;
}

static bool run_as_written(Host *h, LaunchCase *c, Verdict *v, uint8_t **writes,
                           const VerdictOptions *options)
{
    int64_t only;
    InterpOptions run = {
        .max_findings = 20,
        .prints = options->prints,
        .print_count = options->print_count,
        .progress = options->progress,
        .progress_ctx = options->progress_ctx,
    };
    if (options->block[0] >= 0) {
        if (!one_block(c, options->block, &only)) {
            diag_error(h->options.diag, EXIT_USAGE, c->kernel->ir->at,
                       "no-such-block", "block %lld,%lld,%lld is outside the "
                       "grid", (long long)options->block[0],
                       (long long)options->block[1],
                       (long long)options->block[2]);
            return false;
        }
        run.blocks = &only;
        run.block_count = 1;
    }
    v->run = kernel_run(c->kernel, CODE_AS_WRITTEN, c->args, writes, &run);
    return v->run.ok || v->run.finding_total > 0 || v->run.cancelled;
}

static void list_outputs(LaunchCase *c, Verdict *v)
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
    }
}

static bool take_references(Host *h, LaunchCase *c, Verdict *v, Value reference)
{
    Tensor outs[VERDICT_MAX_OUTPUTS];
    int count = 0;
    double start = time_now();
    bool ok = run_reference(h, c, reference, outs, &count);
    v->reference_seconds = time_now() - start;
    if (ok && count < v->output_count) {
        diag_error(h->options.diag, EXIT_PROGRAM, c->kernel->ir->at,
                   "reference-count", "the kernel has %d outputs, its "
                   "reference returns %d", v->output_count, count);
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

static void judge_expect(LaunchCase *c, OutputVerdict *o, const CompareRule *rule)
{
    const Tensor *e = &c->expects[o->param];
    if (e->rank < 0)
        return;
    int64_t n = tensor_count(e);
    CompareSums s = compare_range(&o->got, e, 0, n, rule);
    o->has_expect = true;
    o->expect_got_rel = compare_rel(&s);
    if (o->ref.storage) {
        s = compare_range(e, &o->ref, 0, n, rule);
        o->expect_ref_rel = compare_rel(&s);
    }
    double limit = verdict_norm_tol(o->dtype);
    if (!(o->expect_got_rel <= limit))
        o->wrong = true;
}

static void judge(Host *h, LaunchCase *c, Verdict *v, uint8_t **writes,
                  const VerdictOptions *options)
{
    CompareRule rule = {.rtol = options->rtol, .atol = options->atol};
    for (int i = 0; i < v->output_count; i++) {
        OutputVerdict *o = &v->outputs[i];
        if (writes[o->param])
            count_writes(o, writes[o->param]);
        if (v->has_reference) {
            rounding_output(o, options);
            o->wrong = o->rounding == JUDGED_BAD || o->algorithm == JUDGED_BAD;
        }
        judge_expect(c, o, &rule);
        if (o->wrong && o->ref.storage)
            mismatch_find(h, c, o, writes[o->param]);
        v->wrong = v->wrong || o->wrong;
    }
}

Verdict verdict_run(Host *h, LaunchCase *c, Value reference,
                    const VerdictOptions *options)
{
    Verdict v = {0};
    bool check = reference.kind != VAL_NONE && options->block[0] < 0;
    int n = c->kernel->ir->param_count;
    uint8_t **writes = check ? output_shadows(c)
                             : xcalloc(n + 1, sizeof *writes);
    list_outputs(c, &v);
    v.failed = !run_as_written(h, c, &v, writes, options);
    if (!v.failed && !v.run.cancelled && check) {
        v.failed = !take_references(h, c, &v, reference);
        if (!v.failed)
            v.failed = !run_f64(h, c, &v, options);
    }
    if (!v.failed && !v.run.cancelled)
        judge(h, c, &v, writes, options);
    release_shadows(c, writes);
    return v;
}

void verdict_release(Verdict *v)
{
    for (int i = 0; i < v->output_count; i++)
        if (v->outputs[i].ref.storage)
            tensor_release(&v->outputs[i].ref);
    interp_result_release(&v->run);
}
