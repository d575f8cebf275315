// profiler.c - kernel.get_profiler() and the other methods of a kernel.
#include <math.h>

#include "gpu_backend/gpu_backend.h"
#include "host/host.h"
#include "support/parallel.h"

typedef struct {
    Foreign foreign;
    KernelObject *kernel;
    SupplyKind supply;
} Profiler;

static const ForeignType profiler_type;

static Value profiler_new(Host *h, KernelObject *k, SupplyKind supply)
{
    Profiler *p = xcalloc(1, sizeof *p);
    p->kernel = k;
    p->supply = supply;
    return lang_adopt(h->lang, &p->foreign, &profiler_type, sizeof *p);
}

static double number_or(Lang *l, Value v, double fallback, Span at)
{
    return v.kind == VAL_UNBOUND ? fallback
                                 : value_to_float(l, v, "a tolerance", at);
}

static Value assert_allclose(Lang *l, Profiler *p, const Args *args)
{
    static const char *const names[] = {
        "reference_program", "input_tensors=", "atol=", "rtol=",
        "max_mismatched_ratio=",
    };
    Value v[countof(names)];
    HostOptions *o = &p->kernel->host->options;
    args_bind(l, "assert_allclose", args, names, countof(names), v);
    Assertion a = {.kernel = p->kernel, .reference = v[0],
                   .supply = p->supply, .at = args->at_span};
    if (v[1].kind == VAL_LIST || v[1].kind == VAL_TUPLE)
        a.inputs = v[1].list;
    a.atol = number_or(l, v[2], 1e-2, args->at_span);
    a.rtol = number_or(l, v[3], 1e-2, args->at_span);
    a.ratio = number_or(l, v[4], 0.01, args->at_span);
    bool passes = !o->asserted || o->asserted(o->ctx, &a);
    int why = parallel_cancelled();
    if (why)
        lang_stop(l, why < 0 ? EXIT_LIMIT : EXIT_INTERRUPTED);
    if (p->kernel->failed[CODE_AS_WRITTEN] || p->kernel->no_matrices)
        lang_stop(l, diag_exit(o->diag));       // it cannot run: said why
    if (!passes)
        lang_raise_exit(l, EXIT_FINDINGS, "AssertionError", args->at_span,
                        "'%.*s' differs from its reference by upstream's rule: "
                        "rtol %g, atol %g, at most %g %% mismatches",
                        TEXT_ARG(p->kernel->ir->name), a.rtol, a.atol,
                        100 * a.ratio);
    p->kernel->host->assertions += o->asserted != NULL;
    return V_NONE;
}

// The time of a CPU says nothing about a GPU: NaN, and why, once.
static Value do_bench(Profiler *p, const Args *args)
{
    diag_warning(p->kernel->host->options.diag, args->at_span, "no-gpu-time",
                 "do_bench gives nan: no GPU ran this");
    return v_float(NAN);
}

// The inputs that assert_allclose generates; with_output: the outputs too.
static Value get_inputs(Lang *l, Profiler *p, const Args *args)
{
    static const char *const names[] = {"with_output="};
    Value v, out = v_list(l, NULL, 0);
    Host *h = p->kernel->host;
    const IrKernel *ir = p->kernel->ir;
    args_bind(l, "_get_inputs", args, names, 1, &v);
    bool all = v.kind != VAL_UNBOUND && value_truth(l, v, args->at_span);
    for (int i = 0; i < ir->param_count; i++) {
        Tensor t;
        int64_t shape[TENSOR_MAX_RANK];
        const IrBuffer *b = ir->params[i].buffer;
        if (ir->params[i].is_scalar)
            lang_unsupported(l, args->at_span, "_get_inputs() of a kernel "
                             "with scalars");
        if (kernel_is_output(p->kernel, i) && !all)
            continue;
        if (!kernel_shape(p->kernel, i, NULL, 0, shape))
            lang_raise(l, "ValueError", args->at_span, "no shape for '%.*s'",
                       TEXT_ARG(b->name));
        if (!tensor_new(&h->heap, &t, b->dtype, b->rank, shape))
            lang_raise_exit(l, EXIT_LIMIT, "MemoryError", args->at_span,
                            "no memory for '%.*s'", TEXT_ARG(b->name));
        supply_fill(&t, p->supply, h->options.seed, i);
        list_append(l, out.list, tensor_value(h, t));
    }
    return out;
}

// One call with generated inputs: of the kernel, or of the function given.
static Value run_once(Lang *l, Profiler *p, const Args *args)
{
    static const char *const names[] = {"func="};
    Args none = {.at_span = args->at_span};
    Value func, inputs;

    args_bind(l, "run_once", args, names, 1, &func);
    if (func.kind == VAL_UNBOUND || func.kind == VAL_NONE)
        func = v_foreign(&p->kernel->foreign);
    inputs = get_inputs(l, p, &none);
    return lang_call(l, func,
                     &(Args){.at = inputs.list->at,
                             .count = inputs.list->len,
                             .at_span = args->at_span});
}

static bool profiler_method(Lang *l, Foreign *self, Text name,
                            const Args *args, Value *out)
{
    Profiler *p = (Profiler *)self;
    if (text_is(name, "assert_allclose"))
        *out = assert_allclose(l, p, args);
    else if (text_is(name, "do_bench"))
        *out = do_bench(p, args);
    else if (text_is(name, "run_once"))
        *out = run_once(l, p, args);
    else if (text_is(name, "_get_inputs"))
        *out = get_inputs(l, p, args);
    else
        return false;
    return true;
}

static bool profiler_getattr(Lang *l, Foreign *self, Text name, Value *out,
                             Span at)
{
    (void)l, (void)at;
    if (!text_is(name, "func"))
        return false;
    *out = v_foreign(&((Profiler *)self)->kernel->foreign);
    return true;
}

static Value profiler_call(Lang *l, Foreign *self, const Args *args)
{
    return lang_call(l, v_foreign(&((Profiler *)self)->kernel->foreign), args);
}

static const ForeignType profiler_type = {
    .name = "Profiler",
    .getattr = profiler_getattr,
    .method = profiler_method,
    .call = profiler_call,
};

// ---- methods of a kernel ----------------------------------------------------

static Value get_profiler(Lang *l, KernelObject *k, const Args *args)
{
    static const char *const names[] = {"tensor_supply_type="};
    Value v;
    SupplyKind supply = SUPPLY_AUTO;
    args_bind(l, "get_profiler", args, names, 1, &v);
    if (v.kind != VAL_UNBOUND) {
        int64_t kind = value_to_int(l, v, "tensor_supply_type", args->at_span);
        if (kind < 0 || kind >= SUPPLY_COUNT)
            lang_raise(l, "ValueError", args->at_span,
                       "%lld is no tensor supply type", (long long)kind);
        supply = (SupplyKind)kind;
    }
    return profiler_new(k->host, k, supply);
}

// What upstream's tuner found: here the first configuration, and no time.
bool kernel_getattr(Lang *l, Foreign *self, Text name, Value *out, Span at)
{
    const KernelObject *k = (KernelObject *)self;
    (void)l, (void)at;
    if (text_is(name, "config"))
        *out = k->config ? (Value){.kind = VAL_DICT, .dict = (Dict *)k->config}
                         : V_NONE;
    else if (text_is(name, "latency") || text_is(name, "ref_latency"))
        *out = k->config ? v_float(NAN) : V_NONE;
    else if (text_is(name, "adapter"))      // of upstream's run time
        *out = v_unseen(l);
    else if (text_is(name, "prim_func"))
        *out = (Value){.kind = VAL_KERNEL, .kernel = k->ir};
    else
        return false;
    return true;
}

// CUDA or HIP of tilesim's own, where it can be made.
static Text own_source(KernelObject *k)
{
    const HostOptions *o = &k->host->options;

    if (k->source_tried)
        return k->source;
    k->source_tried = true;
    DiagHold hold = diag_hold(o->diag);
    Plan *p = plan_build(o->arena, k->ir, o->device, PLAN_TILESIM);
    GpuProgram *g = p ? gpu_emit(o->arena, p, gpu_dialect_of(o->device),
                                 o->sources) : NULL;
    diag_settle(o->diag, &hold, true);
    if (g)
        k->source = g->source;
    return k->source;
}

// The text that upstream would generate is not known: what is returned prints
// as tilesim's own, and nothing else is known of it.
static Value kernel_source(Lang *l, KernelObject *k, Span at)
{
    Text own = own_source(k);

    diag_warning(k->host->options.diag, at, "no-source", own.len
                 ? "this is device source of tilesim's own; upstream's is not "
                   "known"
                 : "there is no device source of this kernel");
    return own.len ? v_unseen_text(l, own) : v_unseen(l);
}

bool kernel_method(Lang *l, Foreign *self, Text name, const Args *args,
                   Value *out)
{
    KernelObject *k = (KernelObject *)self;
    if (text_is(name, "get_profiler")) {
        *out = get_profiler(l, k, args);
        return true;
    }
    if (text_is(name, "run_once")) {
        Profiler *p = (Profiler *)profiler_new(k->host, k, SUPPLY_AUTO).foreign;
        *out = run_once(l, p, args);
        return true;
    }
    if (text_is(name, "get_kernel_source")) {
        *out = kernel_source(l, k, args->at_span);
        return true;
    }
    if (text_is(name, "get_host_source") || text_is(name, "show_source")
        || text_is(name, "show_ptx")) {
        diag_warning(k->host->options.diag, args->at_span, "no-source",
                     "there is no device source in a run on the CPU");
        *out = v_unseen(l);
        return true;
    }
    return false;
}
