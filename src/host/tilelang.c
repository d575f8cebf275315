// tilelang.c - tilelang.jit, autotune and compile: what makes kernels.
#include "host/tilelang_int.h"

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

Value keyword(const Args *args, const char *name)
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
        NearWord near = {.name = args->names[i]};
        bool ok = false;
        for (int j = 0; j < count; j++) {
            ok = ok || text_is(args->names[i], known[j]);
            near_try(&near, text_of(known[j]));
        }
        if (ok)
            continue;
        if (near.word.len)
            lang_raise(l, "TypeError", args->at_span, "%s() has no argument "
                       "'%.*s'; did you mean '%.*s'?", function,
                       TEXT_ARG(args->names[i]), TEXT_ARG(near.word));
        lang_raise(l, "TypeError", args->at_span, "%s() has no argument '%.*s'",
                   function, TEXT_ARG(args->names[i]));
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

Value tilelang_jit(Lang *l, void *ctx, const Args *args)
{
    static const char *const known[] = {
        "out_idx", "target", "target_host", "pass_configs", "compile_flags",
        "verbose", "execution_backend", "debug_root_path", "func", "mode",
    };
    check_keywords(l, args, "jit", known, countof(known));
    return decorator(l, ctx, "jit", args);
}

Value tilelang_autotune(Lang *l, void *ctx, const Args *args)
{
    static const char *const known[] = {
        "configs", "warmup", "rep", "timeout", "supply_type", "ref_prog",
        "supply_prog", "rtol", "atol", "max_mismatched_ratio", "skip_check",
        "manual_check_prog", "cache_input_tensors", "do_not_specialize",
        "early_stop", "early_stop_factor", "func",
    };
    check_keywords(l, args, "autotune", known, countof(known));
    return decorator(l, ctx, "autotune", args);
}

// tilelang.compile(prim_func, out_idx=...)
Value tilelang_compile(Lang *l, void *ctx, const Args *args)
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
