// autotuner.c - tilelang.autotuner.AutoTuner, without the timing.
//
// There is no GPU to time on: run() takes the first configuration, or that of
// --tune-config, and gives nan as its latency.
#include <math.h>

#include "host/tilelang_int.h"

typedef struct {
    Foreign foreign;
    Host *host;
    Value kernel;               // function of the configuration
    Value configs;              // list of dicts
    Value out_idx;
} AutoTuner;

// The configuration's own compiler switches are no argument of the function.
static Value call_with(Lang *l, Value callee, const Dict *config, Span at)
{
    Args args = {.at_span = at};

    args.names = new_array(lang_arena(l), Text, config->len + 1);
    args.values = new_array(lang_arena(l), Value, config->len + 1);
    for (int i = 0; i < config->len; i++) {
        if (config->keys[i].kind != VAL_STR
            || text_is(config->keys[i].s, "pass_configs"))
            continue;
        args.names[args.keyword_count] = config->keys[i].s;
        args.values[args.keyword_count++] = config->values[i];
    }
    return lang_call(l, callee, &args);
}

static Value made(AutoTuner *t, Value kernel, Span at)
{
    if (kernel.kind == VAL_KERNEL)
        return v_foreign(&kernel_from_ir(t->host, kernel.kernel, t->out_idx,
                                         at)->foreign);
    if (!kernel_of(kernel))
        lang_raise(t->host->lang, "TypeError", at,
                   "the function to tune should return a T.prim_func; it "
                   "returned %s", value_type_name(kernel));
    return kernel;
}

static bool all_dicts(const List *all)
{
    for (int i = 0; i < all->len; i++)
        if (all->at[i].kind != VAL_DICT)
            return false;
    return true;
}

static Value run(AutoTuner *t, const Args *args)
{
    static const char *const fields[] = {
        "latency", "config", "ref_latency", "libcode", "func", "kernel",
    };
    Lang *l = t->host->lang;
    Span at = args->at_span;
    List *all = value_to_list(l, t->configs, at);

    if (all->len == 0 || !all_dicts(all))
        lang_raise(l, "ValueError", at, "AutoTuner: no configurations");
    Value config = autotune_choose(t->host, TEXT("AutoTuner"), all, at);
    Value made_of = call_with(l, t->kernel, config.dict, at);
    Value values[] = {
        v_float(NAN), config, V_NONE, V_NONE, made_of, made(t, made_of, at),
    };
    if (!t->host->options.tune_config) {
        diag_warning(t->host->options.diag, at, "no-gpu-time", "AutoTuner "
                     "takes the first configuration: no GPU ran this");
        diag_note(t->host->options.diag, at, "--tune-config N takes another");
    }
    return v_named_tuple(l, "AutotuneResult", fields, values, countof(fields));
}

static bool tuner_method(Lang *l, Foreign *self, Text name, const Args *args,
                         Value *out)
{
    AutoTuner *t = (AutoTuner *)self;

    (void)l;
    if (text_is(name, "run")) {
        *out = run(t, args);
        return true;
    }
    if (!text_is(name, "set_compile_args")
        && !text_is(name, "set_profile_args"))
        return false;
    Value v = keyword(args, "out_idx");
    if (v.kind != VAL_UNBOUND)
        t->out_idx = v;
    *out = v_foreign(self);
    return true;
}

static void tuner_mark(Foreign *self, void (*mark)(Lang *l, Value v), Lang *l)
{
    AutoTuner *t = (AutoTuner *)self;

    mark(l, t->kernel);
    mark(l, t->configs);
    mark(l, t->out_idx);
}

static const ForeignType tuner_type = {
    .name = "AutoTuner", .method = tuner_method, .mark = tuner_mark,
};

static Value from_kernel(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"kernel", "configs"};
    Value v[2];

    args_bind(l, "AutoTuner.from_kernel", args, names, 2, v);
    AutoTuner *t = xcalloc(1, sizeof *t);
    t->host = ctx;
    t->kernel = v[0];
    t->configs = v[1];
    t->out_idx = V_NONE;
    return lang_adopt(l, &t->foreign, &tuner_type, sizeof *t);
}

Value autotuner_class(Host *h)
{
    Module *m = lang_module(h->lang, "AutoTuner");

    module_set(h->lang, m, "from_kernel",
               v_builtin(h->lang, "from_kernel", from_kernel, h));
    return (Value){.kind = VAL_MODULE, .module = m};
}
