// jit.c - @tilelang.jit and @tilelang.autotune: factories and eager kernels.
#include "host/host.h"

JitObject *jit_of(Value v)
{
    return (JitObject *)foreign_as(v, &jit_type);
}

Value jit_new(Host *h, Value function)
{
    JitObject *j = xcalloc(1, sizeof *j);
    j->host = h;
    j->function = function;
    j->eager = function.kind == VAL_FUNCTION
               && lang_is_eager(function.function);
    j->out_idx = j->pass_configs = j->compile_flags = j->configs = V_NONE;
    return lang_adopt(h->lang, &j->foreign, &jit_type, sizeof *j);
}

// ---- outputs ----------------------------------------------------------------

static int output_index(Host *h, const IrKernel *ir, Value v, Span at)
{
    int64_t i = value_to_int(h->lang, v, "out_idx", at);
    int64_t n = ir->param_count, from = i < 0 ? i + n : i;
    if (from < 0 || from >= n)
        lang_raise(h->lang, "IndexError", at,
                   "out_idx %lld: kernel '%.*s' has %lld parameters",
                   (long long)i, TEXT_ARG(ir->name), (long long)n);
    if (ir->params[from].is_scalar)
        lang_raise(h->lang, "TypeError", at, "out_idx %lld is a scalar",
                   (long long)i);
    return (int)from;
}

static void set_outputs(Host *h, IrKernel *ir, Value out_idx, Span at)
{
    if (out_idx.kind == VAL_NONE
        || (ir->config.eager && !ir->config.output_count))
        return;
    if (ir->config.eager)
        lang_raise(h->lang, "ValueError", at, "Out index conflict: '%.*s' "
                   "returns what it makes by T.empty, and out_idx is given",
                   TEXT_ARG(ir->name));
    List one = {.at = &out_idx, .len = 1};
    List *items = out_idx.kind == VAL_LIST || out_idx.kind == VAL_TUPLE
                      ? out_idx.list : &one;
    ir->config.outputs = new_array(ir->arena, int, items->len + 1);
    ir->config.output_count = 0;
    for (int i = 0; i < items->len; i++)
        ir->config.outputs[ir->config.output_count++] =
            output_index(h, ir, items->at[i], at);
}

// A function without a launch is not looked at until it is compiled.
static void check_valid(Host *h, IrKernel *ir, Span at)
{
    if (!ir_verify(ir))
        lang_raise(h->lang, "StagingError", at, "kernel '%.*s' is not valid",
                   TEXT_ARG(ir->name));
}

KernelObject *kernel_from_ir(Host *h, IrKernel *ir, Value out_idx, Span at)
{
    set_outputs(h, ir, out_idx, at);
    check_valid(h, ir, at);
    return kernel_of(kernel_new(h, ir, ir->name, NULL));
}

// ---- arguments --------------------------------------------------------------

typedef struct {
    Value configs;
    Args given;
    List *list;
} ConfigsCall;

// A list, or a function of the arguments that returns one.
static void configs_body(Lang *l, void *ctx)
{
    ConfigsCall *c = ctx;
    Value v = c->configs;
    if (v.kind == VAL_FUNCTION || v.kind == VAL_BUILTIN)
        v = lang_call(l, v, &c->given);
    c->list = v.kind == VAL_LIST || v.kind == VAL_TUPLE ? v.list : NULL;
}

// The first arguments, as they are given in order.
static Args leading(JitObject *j, const Dict *given)
{
    const Function *fn = j->function.function;
    int n = function_param_count(fn);
    Args out = {.at = new_array(j->host->options.arena, Value, n + 1)};
    for (; out.count < n; out.count++) {
        Value fallback;
        bool has;
        Text name = function_param(fn, out.count, &fallback, &has);
        if (!dict_get(j->host->lang, given, v_str(name), &out.at[out.count]))
            break;
    }
    return out;
}

static List *configs_for(JitObject *j, const Dict *given)
{
    ConfigsCall c = {.configs = j->configs};
    if (given && c.configs.kind == VAL_FUNCTION
        && function_param_count(c.configs.function))
        c.given = leading(j, given);
    return lang_try(j->host->lang, configs_body, &c, NULL) ? c.list : NULL;
}

List *jit_configs(Host *h, Value v)
{
    JitObject *j = jit_of(v);
    (void)h;
    return j ? configs_for(j, NULL) : NULL;
}

Value autotune_choose(Host *h, Text name, const List *all, Span at)
{
    int64_t n = h->options.tune_config;

    if (n > all->len)
        lang_raise_exit(h->lang, EXIT_USAGE, "IndexError", at,
                        "--tune-config %lld: '%.*s' has %d configuration%s",
                        (long long)n, TEXT_ARG(name), all->len,
                        all->len == 1 ? "" : "s");
    return all->len ? all->at[n ? n - 1 : 0] : V_NONE;
}

static const Dict *chosen_config(JitObject *j, const Dict *given, Span at)
{
    List *all = configs_for(j, given);
    Value v = all ? autotune_choose(j->host, j->function.function->name, all,
                                    at)
                  : V_NONE;

    return v.kind == VAL_DICT ? v.dict : NULL;
}

// What a call is tuned to: nothing where it gives a part of it.
static const Dict *tuned_config(JitObject *j, const Dict *given, Span at)
{
    const Dict *config = j->configs.kind == VAL_NONE
                             ? NULL : chosen_config(j, given, at);
    Value v;
    for (int i = 0; config && i < config->len; i++)
        if (config->keys[i].kind != VAL_UNBOUND
            && dict_get(j->host->lang, given, config->keys[i], &v))
            return NULL;
    return config;
}

static void missing_arguments(JitObject *j, const Text *names, int count,
                              Span at)
{
    TextBuf b = {0};
    for (int i = 0; i < count; i++)
        buf_printf(&b, "%s'%.*s'", i ? ", " : "", TEXT_ARG(names[i]));
    Text list = text_copy(j->host->options.arena, buf_view(&b));
    buf_release(&b);
    lang_raise_exit(j->host->lang, EXIT_USAGE, "TypeError", at,
                    "%.*s() needs a value for %.*s",
                    TEXT_ARG(j->function.function->name), TEXT_ARG(list));
}

// Every parameter of the function by name: given, default, configuration.
// `config`: values that come before the defaults, or NULL.
static Dict *complete(JitObject *j, const Dict *given, const Dict *config,
                      const Dict **used, Span at)
{
    Lang *l = j->host->lang;
    const Function *fn = j->function.function;
    Dict *all = v_dict(l).dict;
    Text missing[64];
    int missing_count = 0;
    const Dict *tuned = config;
    for (int i = 0; i < function_param_count(fn); i++) {
        Value v, fallback;
        bool has;
        Text name = function_param(fn, i, &fallback, &has);
        if (!dict_get(l, given, v_str(name), &v)) {
            if (!has && !tuned)
                tuned = chosen_config(j, given, at);
            if (config && dict_get(l, config, v_str(name), &v))
                ;
            else if (has)
                v = fallback;
            else if (j->eager && lang_declares_tensor(fn, i))
                continue;
            else if (!tuned || !dict_get(l, tuned, v_str(name), &v)) {
                if (missing_count < 64)
                    missing[missing_count++] = name;
                continue;
            }
        }
        dict_set(l, all, v_str(name), v);
    }
    if (missing_count)
        missing_arguments(j, missing, missing_count, at);
    *used = tuned;
    return all;
}

_Noreturn static void no_argument(JitObject *j, Value name, Span at)
{
    lang_raise(j->host->lang, "TypeError", at, "%.*s() has no argument '%.*s'",
               TEXT_ARG(j->function.function->name), TEXT_ARG(name.s));
}

// What is given beyond the parameters: T.const sizes of an eager kernel, the
// arguments of the jit function that a plain function returns.
static Dict *extra(JitObject *j, const Dict *given, const Dict *params, Span at)
{
    Lang *l = j->host->lang;
    Dict *more = v_dict(l).dict;
    for (int i = 0; i < given->len; i++) {
        Value v;
        if (given->keys[i].kind == VAL_UNBOUND
            || dict_get(l, params, given->keys[i], &v))
            continue;
        if (!j->eager && !j->plain)
            no_argument(j, given->keys[i], at);
        dict_set(l, more, given->keys[i], given->values[i]);
    }
    return more;
}

static Args as_keywords(Lang *l, const Dict *d, Span at)
{
    Args a = {.at_span = at};
    a.names = new_array(lang_arena(l), Text, d->len + 1);
    a.values = new_array(lang_arena(l), Value, d->len + 1);
    for (int i = 0; i < d->len; i++) {
        if (d->keys[i].kind == VAL_UNBOUND)
            continue;
        a.names[a.keyword_count] = d->keys[i].s;
        a.values[a.keyword_count++] = d->values[i];
    }
    return a;
}

static Text argument_text(Lang *l, Value v)
{
    TextBuf b = {0};
    value_repr(l, &b, v);
    Text t = text_copy(lang_arena(l), buf_view(&b));
    buf_release(&b);
    return t;
}

static void keep_arguments(Host *h, IrKernel *ir, const Dict *d)
{
    IrConfig *c = &ir->config;
    c->argument_names = new_array(ir->arena, Text, d->len + 1);
    c->argument_values = new_array(ir->arena, Text, d->len + 1);
    for (int i = 0; i < d->len; i++) {
        ValueKind kind = d->values[i].kind;
        if (d->keys[i].kind == VAL_UNBOUND || kind == VAL_TENSORSPEC)
            continue;
        c->argument_names[c->argument_count] = d->keys[i].s;
        c->argument_values[c->argument_count++] =
            argument_text(h->lang, d->values[i]);
    }
}

// ---- making -----------------------------------------------------------------

static Text cache_key(JitObject *j, const Dict *params, const Dict *consts)
{
    TextBuf b = {0};
    Lang *l = j->host->lang;
    const Dict *both[] = {params, consts};
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < both[d]->len; i++) {
            Value v = both[d]->values[i];
            if (both[d]->keys[i].kind == VAL_UNBOUND)
                continue;
            buf_printf(&b, "%.*s=", TEXT_ARG(both[d]->keys[i].s));
            if (v.kind == VAL_TENSORSPEC) {
                buf_puts(&b, dtype_info(v.spec->dtype)->name);
                value_repr(l, &b, (Value){.kind = VAL_TUPLE,
                                          .list = v.spec->shape});
                if (v.spec->strides)
                    value_repr(l, &b, (Value){.kind = VAL_TUPLE,
                                              .list = v.spec->strides});
            } else {
                value_repr(l, &b, v);
            }
            buf_addc(&b, ';');
        }
    Text t = text_copy(lang_arena(l), buf_view(&b));
    buf_release(&b);
    return t;
}

static KernelObject *make(JitObject *j, const Dict *arguments,
                          const Dict *config, Span at);

// A function without a decorator may return what is made already, or a jit
// function, which takes the arguments that are left.
static KernelObject *made_by_plain(JitObject *j, Value v, const Dict *params,
                                   const Dict *rest, Span at)
{
    KernelObject *k = kernel_of(v);
    if (jit_of(v))
        return make(jit_of(v), rest, NULL, at);
    for (int i = 0; i < rest->len; i++)
        if (rest->keys[i].kind != VAL_UNBOUND)
            no_argument(j, rest->keys[i], at);
    if (k)
        keep_arguments(j->host, k->ir, params);
    return k;
}

// The kernel, or in *made one that the function has made by itself.
static IrKernel *build(JitObject *j, const Dict *params, const Dict *consts,
                       KernelObject **made, Span at)
{
    Lang *l = j->host->lang;
    Args args = as_keywords(l, params, at);
    if (j->eager)
        return lang_trace_eager(l, j->function, &args, consts, at);
    Value v = lang_call(l, j->function, &args);
    *made = j->plain ? made_by_plain(j, v, params, consts, at) : NULL;
    if (v.kind != VAL_KERNEL && !*made)
        lang_raise(l, "TypeError", at,
                   "%.*s() should return a T.prim_func%s; it returned %s",
                   TEXT_ARG(j->function.function->name),
                   j->plain ? ", a kernel or a @tilelang.jit function" : "",
                   value_type_name(v));
    return v.kernel;
}

static KernelObject *make(JitObject *j, const Dict *arguments,
                          const Dict *config, Span at)
{
    Host *h = j->host;
    Dict *params = complete(j, arguments, config, &config, at);
    Dict *consts = extra(j, arguments, params, at);
    Text key = cache_key(j, params, consts);
    KernelObject *k = map_get(&j->made, key);
    if (k)
        return k;
    IrKernel *ir = build(j, params, consts, &k, at);
    if (k) {
        map_set(h->options.arena, &j->made, key, k);
        return k;
    }
    set_outputs(h, ir, j->out_idx, at);
    check_valid(h, ir, at);
    if (ir->config.pass_configs.kind == ATTRVAL_NONE)
        ir->config.pass_configs = lang_attr_value(h->lang, j->pass_configs, at);
    for (int i = 0; i < consts->len; i++)
        if (consts->keys[i].kind != VAL_UNBOUND)
            dict_set(h->lang, params, consts->keys[i], consts->values[i]);
    keep_arguments(h, ir, params);
    k = kernel_of(kernel_new(h, ir, j->function.function->name, params));
    k->const_count = consts->live;
    k->config = config;
    map_set(h->options.arena, &j->made, key, k);
    return k;
}

KernelObject *jit_make(JitObject *j, const Dict *arguments, Span at)
{
    const Dict *config = j->host->options.tune_config
                             ? tuned_config(j, arguments, at) : NULL;

    return make(j, arguments, config, at);
}

// ---- as Python sees it ------------------------------------------------------

Value jit_spec(Host *h, DType t, int rank, const int64_t *shape, Span at)
{
    Value dims[TENSOR_MAX_RANK];
    for (int d = 0; d < rank; d++)
        dims[d] = v_int(shape[d]);
    TensorSpec *s = new (h->options.arena, TensorSpec);
    s->shape = v_list(h->lang, dims, rank).list;
    s->dtype = t;
    s->at = at;
    return (Value){.kind = VAL_TENSORSPEC, .spec = s};
}

// Strides are told where they are not those of the shape.
static Value spec_of(Host *h, const Tensor *t, Span at)
{
    Value v = jit_spec(h, t->dtype, t->rank, t->shape, at);
    Value strides[TENSOR_MAX_RANK];

    for (int d = 0; d < t->rank; d++)
        strides[d] = v_int(t->strides[d]);
    if (!tensor_is_contiguous(t))
        v.spec->strides = v_list(h->lang, strides, t->rank).list;
    return v;
}

static Dict *by_name(JitObject *j, const Args *args)
{
    Lang *l = j->host->lang;
    const Function *fn = j->function.function;
    Dict *d = v_dict(l).dict;
    for (int i = 0; i < args->count; i++) {
        Value fallback;
        bool has;
        if (i >= function_param_count(fn))
            lang_raise(l, "TypeError", args->at_span,
                       "%.*s() takes %d arguments, found %d",
                       TEXT_ARG(fn->name), function_param_count(fn),
                       args->count);
        dict_set(l, d, v_str(function_param(fn, i, &fallback, &has)),
                 args->at[i]);
    }
    for (int i = 0; i < args->keyword_count; i++)
        dict_set(l, d, v_str(args->names[i]), args->values[i]);
    return d;
}

// Tensors among the arguments of an eager kernel become what is known of them.
static Dict *specs_of(JitObject *j, Dict *d, const Args *args)
{
    for (int i = 0; j->eager && i < d->len; i++) {
        const Tensor *t = tensor_of(d->values[i]);
        if (d->keys[i].kind != VAL_UNBOUND && t)
            d->values[i] = spec_of(j->host, t, args->at_span);
    }
    return d;
}

static KernelObject *make_tuned(JitObject *j, const Dict *arguments, Span at)
{
    return make(j, arguments, tuned_config(j, arguments, at), at);
}

// An eager kernel is built for the shapes it sees, and runs at once.
static Value eager_call(JitObject *j, const Args *args)
{
    Host *h = j->host;
    Lang *l = h->lang;
    Dict *d = by_name(j, args);
    Value *tensors = new_array(lang_arena(l), Value, d->len + 1);
    int count = 0;
    for (int i = 0; i < function_param_count(j->function.function); i++) {
        Value v, fallback;
        bool has;
        Text name = function_param(j->function.function, i, &fallback, &has);
        if (dict_get(l, d, v_str(name), &v) && tensor_of(v))
            tensors[count++] = v;
    }
    KernelObject *k = make_tuned(j, specs_of(j, d, args), args->at_span);
    Args call = {.at = tensors, .count = count, .at_span = args->at_span};
    return kernel_type.call(l, &k->foreign, &call);
}

static Value jit_call(Lang *l, Foreign *self, const Args *args)
{
    JitObject *j = (JitObject *)self;
    (void)l;
    if (j->eager)
        return eager_call(j, args);
    return v_foreign(&make_tuned(j, by_name(j, args), args->at_span)->foreign);
}

// par_compile([{"M": 64}, (64, 32), ...]): a kernel for each. T.ptr() among
// the arguments stands for a tensor that is not there yet.
static Value compiled(JitObject *j, Value given, Span at)
{
    Lang *l = j->host->lang;
    Args args = {.at_span = at};
    Dict *all = v_dict(l).dict;

    if (given.kind == VAL_DICT)
        all = given.dict;
    else
        all = by_name(j, &(Args){.at = value_to_list(l, given, at)->at,
                                 .count = value_to_list(l, given, at)->len,
                                 .at_span = at});
    Dict *known = v_dict(l).dict;
    for (int i = 0; i < all->len; i++)
        if (all->keys[i].kind != VAL_UNBOUND && all->values[i].kind != VAL_EXPR)
            dict_set(l, known, all->keys[i], all->values[i]);
    return v_foreign(&make_tuned(j, specs_of(j, known, &args), at)->foreign);
}

static Value par_compile(JitObject *j, const Args *args)
{
    static const char *const names[] = {"configs", "num_workers=",
                                        "ignore_error="};
    Lang *l = j->host->lang;
    Value v[countof(names)], out = v_list(l, NULL, 0);

    args_bind(l, "par_compile", args, names, countof(names), v);
    List *configs = value_to_list(l, v[0], args->at_span);
    for (int i = 0; i < configs->len; i++)
        list_append(l, out.list, compiled(j, configs->at[i], args->at_span));
    return out;
}

static bool jit_method(Lang *l, Foreign *self, Text name, const Args *args,
                       Value *out)
{
    JitObject *j = (JitObject *)self;
    if (text_is(name, "par_compile")) {
        *out = par_compile(j, args);
        return true;
    }
    if (!text_is(name, "compile") && !text_is(name, "get_tir")
        && !text_is(name, "get_kernel_source"))
        return false;
    KernelObject *k = make_tuned(j, specs_of(j, by_name(j, args), args),
                                 args->at_span);
    Args none = {.at_span = args->at_span};
    if (text_is(name, "get_kernel_source"))
        return kernel_method(l, &k->foreign, name, &none, out);
    *out = text_is(name, "get_tir")
               ? (Value){.kind = VAL_KERNEL, .kernel = k->ir}
               : v_foreign(&k->foreign);
    return true;
}

static void jit_mark(Foreign *self, void (*mark)(Lang *l, Value v), Lang *l)
{
    JitObject *j = (JitObject *)self;
    mark(l, j->function);
    mark(l, j->out_idx);
    mark(l, j->pass_configs);
    mark(l, j->compile_flags);
    mark(l, j->configs);
}

static void jit_repr(Lang *l, Foreign *self, TextBuf *out)
{
    (void)l;
    buf_printf(out, "<jit %.*s>",
               TEXT_ARG(((JitObject *)self)->function.function->name));
}

const ForeignType jit_type = {
    .name = "jit function",
    .call = jit_call,
    .method = jit_method,
    .mark = jit_mark,
    .repr = jit_repr,
};
