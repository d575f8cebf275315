// reference.c - calls a program's own reference on f64 tensors.
#include <limits.h>

#include "host/verdict.h"
#include "support/parallel.h"

typedef struct {
    Host *h;
    LaunchCase *c;
    Value reference;
    Tensor *outs;
    int out_count;
    bool plain;                 // in the dtypes of the program, not in f64
} RefCall;

bool becomes_f64(DType t)
{
    return dtype_is_float(t) && dtype_info(t)->bits >= 16;
}

bool tensor_in_f64(const Tensor *t, Tensor *out)
{
    if (becomes_f64(t->dtype) && t->dtype != DT_F64)
        return tensor_cast(out, t, DT_F64, false);
    *out = tensor_retain(t);
    return true;
}

const Tensor *launch_before(const LaunchCase *c, int param)
{
    const Tensor *before = &c->before[param];
    return before->rank >= 0 ? before : &c->args[param].tensor;
}

static Value input_value(RefCall *r, int i)
{
    const KernelArg *a = &r->c->args[i];
    const IrParam *p = &r->c->kernel->ir->params[i];
    Tensor t;
    if (p->is_scalar)
        return dtype_is_float(p->var->dtype) ? v_float(a->f64) : v_int(a->i64);
    if (r->plain)
        t = tensor_retain(launch_before(r->c, i));
    else if (!tensor_in_f64(launch_before(r->c, i), &t))
        lang_raise_exit(r->h->lang, EXIT_LIMIT, "MemoryError", (Span){0},
                        "no memory for '%.*s' in f64", TEXT_ARG(p->name));
    return tensor_value(r->h, t);
}

// Where to point at: the reference, or what it judges.
static Span reference_at(const RefCall *r)
{
    return r->reference.kind == VAL_FUNCTION
               ? r->reference.function->def->name_at
               : r->c->kernel->ir->at;
}

// ---- its arguments ----------------------------------------------------------

// How many arguments can be given by position; INT_MAX with *args.
static int positions(const Function *fn)
{
    int n = 0;
    for (int i = 0; i < function_param_count(fn); i++) {
        int kind = fn->def->b->x.at[i]->param;
        if (kind == PARAM_STAR)
            return INT_MAX;
        n += kind == PARAM_PLAIN || kind == PARAM_POSITIONAL_ONLY;
    }
    return n;
}

// Without out_idx every parameter is an input upstream. A reference that takes
// fewer gets those that the kernel only reads.
static bool takes_written(const RefCall *r)
{
    const IrKernel *ir = r->c->kernel->ir;
    if (ir->config.output_count)
        return false;
    if (r->reference.kind != VAL_FUNCTION)
        return true;
    const Function *fn = r->reference.function;
    int room = positions(fn), read_only = 0;
    for (int i = 0; i < ir->param_count; i++)
        read_only += !r->c->is_output[i];
    for (int i = read_only; i < ir->param_count && i < room
                            && room != INT_MAX; i++) {
        Value v;
        bool has;
        if (kernel_argument(r->c->kernel, function_param(fn, i, &v, &has), &v))
            return false;
    }
    return room >= ir->param_count;
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
        int kind = fn->def->b->x.at[i]->param;
        if (kind == PARAM_STAR || kind == PARAM_DOUBLE_STAR)
            continue;
        if (kernel_argument(r->c->kernel, name, &values[n]))
            names[n++] = name;
        else if (!has)
            lang_raise(r->h->lang, "TypeError", reference_at(r),
                       "reference '%.*s' needs '%.*s', which is no argument "
                       "of the kernel", TEXT_ARG(fn->name), TEXT_ARG(name));
    }
    return n;
}

// ---- its results ------------------------------------------------------------

static void take_result(RefCall *r, Value v)
{
    Tensor *t = tensor_of(v), whole;
    if (!t)
        lang_raise(r->h->lang, "TypeError", reference_at(r),
                   "the reference should return a tensor; it returned %s",
                   value_type_name(v));
    if (r->out_count == VERDICT_MAX_OUTPUTS)
        return;
    bool ok = r->plain && becomes_f64(t->dtype) ? tensor_in_f64(t, &whole)
                                                : tensor_contiguous(&whole, t);
    if (!ok)
        lang_raise_exit(r->h->lang, EXIT_LIMIT, "MemoryError", (Span){0},
                        "no memory for the reference's result");
    r->outs[r->out_count++] = whole;
}

static void call_reference(Lang *l, void *ctx)
{
    RefCall *r = ctx;
    int params = r->c->kernel->ir->param_count, n = 0;
    Value *at = new_array(lang_arena(l), Value, params + 1);
    bool all = takes_written(r);
    for (int i = 0; i < params; i++)
        if (!r->c->is_output[i] || all)
            at[n++] = input_value(r, i);
    Args args = {.at = at, .count = n, .at_span = reference_at(r)};
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

// ---- the same again ---------------------------------------------------------

// All that the result depends on, as text; false when that is not known:
// inputs of the program's own making.
static bool reference_key(const RefCall *r, TextBuf *key)
{
    const LaunchCase *c = r->c;
    buf_printf(key, "%p %llu", (void *)r->reference.function,
               (unsigned long long)r->h->options.seed);
    for (int i = 0; i < c->kernel->ir->param_count; i++) {
        const KernelArg *a = &c->args[i];
        if (c->is_output[i] && kernel_is_output(c->kernel, i))
            continue;
        if (!a->is_scalar && (!c->supply[i].len || c->made_by_program))
            return false;
        buf_printf(key, ";%d %.*s %lld %g", i, TEXT_ARG(c->supply[i]),
                   (long long)a->i64, a->f64);
        for (int d = 0; !a->is_scalar && d < a->tensor.rank; d++)
            buf_printf(key, ",%lld", (long long)a->tensor.shape[d]);
        if (!a->is_scalar)
            buf_printf(key, " %d", a->tensor.dtype);
    }
    const Function *fn = r->reference.function;
    for (int i = 0; i < function_param_count(fn); i++) {
        Value v;
        bool has;
        Text name = function_param(fn, i, &v, &has);
        if (!kernel_argument(c->kernel, name, &v))
            continue;
        buf_printf(key, ";%.*s=", TEXT_ARG(name));
        value_repr(r->h->lang, key, v);
    }
    return true;
}

void reference_forget(ReferenceCache *cache)
{
    for (int i = 0; i < cache->count; i++)
        tensor_release(&cache->outs[i]);
    cache->count = 0;
    buf_release(&cache->key);
}

static bool recall(const ReferenceCache *cache, const TextBuf *key, RefCall *r)
{
    if (!cache->count || !text_eq(buf_view(&cache->key), buf_view(key)))
        return false;
    for (int i = 0; i < cache->count; i++)
        r->outs[i] = tensor_retain(&cache->outs[i]);
    r->out_count = cache->count;
    return true;
}

static void remember(ReferenceCache *cache, TextBuf *key, const RefCall *r)
{
    reference_forget(cache);
    cache->key = *key;
    *key = (TextBuf){0};
    for (int i = 0; i < r->out_count; i++)
        cache->outs[i] = tensor_retain(&r->outs[i]);
    cache->count = r->out_count;
}

static bool call(RefCall *r)
{
    Host *h = r->h;
    int mark = lang_pins(h->lang);
    h->f64 = !r->plain;
    bool ok = lang_try(h->lang, call_reference, r, NULL);
    h->f64 = false;
    lang_unpin(h->lang, mark);
    return ok;
}

// In f64; a reference that looks at bits is evaluated as it is written.
static bool call_in_f64(RefCall *r)
{
    Host *h = r->h;
    DiagHold hold = diag_hold(h->options.diag);
    h->f64_refused = false;
    bool ok = call(r);
    r->plain = !ok && h->f64_refused;
    diag_settle(h->options.diag, &hold, r->plain);
    for (int i = 0; r->plain && i < r->out_count; i++)
        tensor_release(&r->outs[i]);
    if (r->plain)
        r->out_count = 0;
    return r->plain ? call(r) : ok;
}

bool reference_run(Host *h, LaunchCase *c, Value reference,
                   ReferenceCache *cache, Tensor *outs, int *count,
                   bool *plain)
{
    RefCall r = {.h = h, .c = c, .reference = reference, .outs = outs};
    TextBuf key = {0};
    bool keep = cache && reference.kind == VAL_FUNCTION
                && reference_key(&r, &key);
    bool ok = (keep && recall(cache, &key, &r)) || call_in_f64(&r);
    *plain = r.plain;
    if (keep && ok && !r.plain && !parallel_cancelled())
        remember(cache, &key, &r);
    buf_release(&key);
    *count = r.out_count;
    return ok;
}
