// tilelang.c - the package tilelang as scripts import it.
#include "host/host.h"

// ---- decorators -------------------------------------------------------------------

typedef struct {                // @tilelang.jit(out_idx=...) waits for its function
    Host *h;
    Value out_idx, pass_configs, compile_flags, configs;
} Pending;

static Value function_of(Lang *l, Value v, Span at)
{
    if (v.kind != VAL_FUNCTION)
        lang_raise(l, "TypeError", at, "expected a function; found %s",
                   value_type_name(v));
    return v;
}

static Value decorate(Lang *l, const Pending *p, Value target, Span at)
{
    JitObject *j = jit_of(target);
    Value v = target;
    if (!j) {
        v = jit_new(p->h, function_of(l, target, at));
        j = jit_of(v);
    }
    if (p->out_idx.kind != VAL_UNBOUND)
        j->out_idx = p->out_idx;
    if (p->pass_configs.kind != VAL_UNBOUND)
        j->pass_configs = p->pass_configs;
    if (p->compile_flags.kind != VAL_UNBOUND)
        j->compile_flags = p->compile_flags;
    if (p->configs.kind != VAL_UNBOUND)
        j->configs = p->configs;
    return v;
}

static Value decorate_later(Lang *l, void *ctx, const Args *args)
{
    if (args->count != 1)
        lang_raise(l, "TypeError", args->at_span,
                   "a decorator takes one function");
    return decorate(l, ctx, args->at[0], args->at_span);
}

static Value keyword(const Args *args, const char *name)
{
    for (int i = 0; i < args->keyword_count; i++)
        if (text_is(args->names[i], name))
            return args->values[i];
    return (Value){.kind = VAL_UNBOUND};
}

static void check_keywords(Lang *l, const Args *args, const char *function,
                           const char *const *known, int count)
{
    for (int i = 0; i < args->keyword_count; i++) {
        bool ok = false;
        for (int j = 0; j < count; j++)
            ok = ok || text_is(args->names[i], known[j]);
        if (!ok)
            lang_raise(l, "TypeError", args->at_span,
                       "%s() has no argument '%.*s'", function,
                       TEXT_ARG(args->names[i]));
    }
}

// jit(f), jit(...)(f), autotune(configs=...)(f)
static Value decorator(Lang *l, Host *h, const char *name, const Args *args)
{
    Pending *p = new (h->options.arena, Pending);
    p->h = h;
    p->out_idx = keyword(args, "out_idx");
    p->pass_configs = keyword(args, "pass_configs");
    p->compile_flags = keyword(args, "compile_flags");
    p->configs = keyword(args, "configs");
    if (args->count == 1 && (args->at[0].kind == VAL_FUNCTION
                             || jit_of(args->at[0])))
        return decorate(l, p, args->at[0], args->at_span);
    if (args->count)
        lang_raise(l, "TypeError", args->at_span,
                   "%s() takes keywords, or one function", name);
    return v_builtin(l, name, decorate_later, p);
}

static Value jit(Lang *l, void *ctx, const Args *args)
{
    static const char *const known[] = {
        "out_idx", "target", "target_host", "pass_configs", "compile_flags",
        "verbose", "execution_backend", "debug_root_path", "func", "mode",
    };
    check_keywords(l, args, "jit", known, countof(known));
    return decorator(l, ctx, "jit", args);
}

static Value autotune(Lang *l, void *ctx, const Args *args)
{
    static const char *const known[] = {
        "configs", "warmup", "rep", "timeout", "supply_type", "ref_prog",
        "supply_prog", "rtol", "atol", "max_mismatched_ratio", "skip_check",
        "manual_check_prog", "cache_input_tensors", "func",
    };
    check_keywords(l, args, "autotune", known, countof(known));
    return decorator(l, ctx, "autotune", args);
}

// tilelang.compile(prim_func, out_idx=...)
static Value compile(Lang *l, void *ctx, const Args *args)
{
    Host *h = ctx;
    static const char *const known[] = {
        "func", "out_idx", "target", "target_host", "pass_configs", "verbose",
        "execution_backend", "compile_flags",
    };
    check_keywords(l, args, "compile", known, countof(known));
    Value f = args->count ? args->at[0] : keyword(args, "func");
    Value out_idx = args->count > 1 ? args->at[1] : keyword(args, "out_idx");
    if (f.kind != VAL_KERNEL)
        lang_raise(l, "TypeError", args->at_span,
                   "tilelang.compile takes a T.prim_func; found %s",
                   value_type_name(f));
    if (out_idx.kind == VAL_UNBOUND)
        out_idx = V_NONE;
    return v_foreign(&kernel_from_ir(h, f.kernel, out_idx, args->at_span)
                          ->foreign);
}

// ---- helpers ---------------------------------------------------------------------------

static Value cdiv(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"a", "b"};
    Value v[2];
    (void)ctx;
    args_bind(l, "cdiv", args, names, 2, v);
    int64_t a = value_to_int(l, v[0], "a", args->at_span);
    int64_t b = value_to_int(l, v[1], "b", args->at_span);
    if (b <= 0 || a > INT64_MAX - b)
        lang_raise(l, "ValueError", args->at_span, "cdiv(%lld, %lld)",
                   (long long)a, (long long)b);
    int64_t up = a + b - 1;
    return v_int(up / b - (up % b < 0));
}

static Value next_power_of_2(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"n"};
    Value v;
    (void)ctx;
    args_bind(l, "next_power_of_2", args, names, 1, &v);
    int64_t n = value_to_int(l, v, "n", args->at_span), p = 1;
    if (n > INT64_C(1) << 62)
        lang_raise(l, "OverflowError", args->at_span, "%lld is too large",
                   (long long)n);
    while (p < n)
        p *= 2;
    return v_int(p);
}

static Value nothing(Lang *l, void *ctx, const Args *args)
{
    (void)l, (void)ctx, (void)args;
    return V_NONE;
}

static Value num_sms(Lang *l, void *ctx, const Args *args)
{
    const Host *h = ctx;
    (void)l, (void)args;
    return v_int(h->options.device->sms);
}

// PassConfigKey.TL_ENABLE_FAST_MATH and the like: their own names.
static bool config_key(Lang *l, Module *m, Text name, Value *out)
{
    (void)l, (void)m;
    if (!text_starts(name, "TL_") && !text_starts(name, "TIR_")
        && !text_starts(name, "CUDA_"))
        return false;
    *out = v_str(name);
    return true;
}

static Value module_value(Module *m)
{
    return (Value){.kind = VAL_MODULE, .module = m};
}

static Module *supply_types(Lang *l)
{
    static const char *const names[] = {
        [SUPPLY_AUTO] = "Auto", [SUPPLY_INTEGER] = "Integer",
        [SUPPLY_UNIFORM] = "Uniform", [SUPPLY_NORMAL] = "Normal",
        [SUPPLY_RANDN] = "Randn", [SUPPLY_ZERO] = "Zero",
        [SUPPLY_ONE] = "One",
    };
    Module *m = lang_module(l, "TensorSupplyType");
    for (int i = 0; i < SUPPLY_COUNT; i++)
        module_set(l, m, names[i], v_int(i));
    return m;
}

static void set_functions(Host *h, Module *m)
{
    static const struct {
        const char *name;
        Value (*call)(Lang *, void *, const Args *);
    } functions[] = {
        {"jit", jit}, {"lazy_jit", jit}, {"autotune", autotune},
        {"compile", compile}, {"cdiv", cdiv},
        {"next_power_of_2", next_power_of_2}, {"disable_cache", nothing},
        {"enable_cache", nothing}, {"set_log_level", nothing},
        {"get_num_sms", num_sms}, {"clear_cache", nothing},
    };
    for (size_t i = 0; i < countof(functions); i++)
        module_set(h->lang, m, functions[i].name,
                   v_builtin(h->lang, functions[i].name, functions[i].call, h));
}

static Module *package(Host *h, const char *name)
{
    Lang *l = h->lang;
    Module *m = lang_module(l, name);
    Module *keys = lang_module(l, "PassConfigKey");
    keys->lookup = config_key;
    set_functions(h, m);
    module_set(l, m, "PassConfigKey", module_value(keys));
    module_set(l, m, "TensorSupplyType", module_value(supply_types(l)));
    module_set(l, m, "__version__", v_str(TEXT("0.1.13")));
    return m;
}

bool tilelang_import(Host *h, Text name, Value *out)
{
    Lang *l = h->lang;
    static const char *const plain[] = {
        "tilelang.jit", "tilelang.autotuner", "tilelang.math",
        "tilelang.utils", "tilelang.utils.tensor", "tilelang.transform",
        "tilelang.carver", "tilelang.carver.arch", "tilelang.profiler",
        "tilelang.carver.arch.driver", "tilelang.utils.target",
    };
    if (text_is(name, "tilelang.language")) {
        *out = module_value(lang_language_module(l));
        return true;
    }
    if (text_is(name, "tilelang.layout")) {
        *out = module_value(lang_layout_module(l));
        return true;
    }
    for (size_t i = 0; i < countof(plain); i++)
        if (text_is(name, plain[i])) {
            *out = module_value(package(h, plain[i]));
            return true;
        }
    if (!text_is(name, "tilelang"))
        return false;
    Module *m = package(h, "tilelang");
    module_set(l, m, "language", module_value(lang_language_module(l)));
    module_set(l, m, "layout", module_value(lang_layout_module(l)));
    module_set(l, m, "math", module_value(package(h, "tilelang.math")));
    module_set(l, m, "profiler", module_value(package(h, "tilelang.profiler")));
    module_set(l, m, "__kernels__", h->kept);
    *out = module_value(m);
    return true;
}
