// mod_functools.c - the module functools.
#include "lang/eval_int.h"

// A C function whose ctx is its own Held: what it keeps lies there.
Value v_keeper(Lang *l, const char *name,
               Value (*call)(Lang *, void *, const Args *), Value keeps)
{
    BuiltinFn *fn = new (l->options.arena, BuiltinFn);

    value_bind(keeps);
    fn->name = name;
    fn->call = call;
    fn->held = new (l->options.arena, Held);
    fn->held->value = keeps;
    fn->ctx = fn->held;
    return (Value){.kind = VAL_BUILTIN, .builtin = fn};
}

static Value kept(const void *ctx, int i)
{
    return ((const Held *)ctx)->value.list->at[i];
}

static Value keywords_of(Lang *l, const Args *args)
{
    Value d = v_dict(l);

    for (int i = 0; i < args->keyword_count; i++)
        dict_set(l, d.dict, v_str(args->names[i]), args->values[i]);
    return d;
}

// ---- partial ---------------------------------------------------------------

// Calls with the kept arguments first; later keywords replace kept ones.
static Value call_partial(Lang *l, void *ctx, const Args *args)
{
    const List *first = kept(ctx, 1).list;
    const Dict *fixed = kept(ctx, 2).dict;
    int n = first->len + args->count, k = 0;
    Value *at = temps_take(l, n + fixed->live + args->keyword_count);
    Args all = {.at = at, .count = n, .values = at + n,
                .at_span = args->at_span};
    Value r, given;

    all.names = new_array(l->options.arena, Text,
                          (size_t)(fixed->live + args->keyword_count));
    for (int i = 0; i < n; i++)
        at[i] = i < first->len ? first->at[i] : args->at[i - first->len];
    for (int i = 0; i < fixed->len; i++) {
        if (fixed->keys[i].kind == VAL_UNBOUND)
            continue;
        if (!args_named(args, fixed->keys[i].s, &given))
            given = fixed->values[i];
        all.names[k] = fixed->keys[i].s;
        all.values[k++] = given;
    }
    for (int i = 0; i < args->keyword_count; i++) {
        if (dict_get(l, fixed, v_str(args->names[i]), &given))
            continue;
        all.names[k] = args->names[i];
        all.values[k++] = args->values[i];
    }
    all.keyword_count = k;
    r = call_value(l, kept(ctx, 0), &all);
    temps_cut(l, (int)(at - l->more->temps));
    return r;
}

static Value f_partial(Lang *l, void *ctx, const Args *args)
{
    Value parts[3], out;

    (void)ctx;
    if (args->count && args->at[0].kind == VAL_MODULE &&
        args->at[0].module->opaque)
        return args->at[0];             // of something unknown: unknown
    if (args->count == 0 || !value_callable(args->at[0]))
        lang_raise(l, "TypeError", args->at_span,
                   "the first argument must be callable");
    parts[0] = args->at[0];
    parts[1] = v_tuple(l, args->at + 1, args->count - 1);
    parts[2] = keywords_of(l, args);
    out = v_keeper(l, "partial", call_partial, v_tuple(l, parts, 3));
    map_bind(l, &out.builtin->held->attributes, TEXT("func"), parts[0]);
    map_bind(l, &out.builtin->held->attributes, TEXT("args"), parts[1]);
    map_bind(l, &out.builtin->held->attributes, TEXT("keywords"), parts[2]);
    return out;
}

// ---- caches ----------------------------------------------------------------

// kept: function, cache, maxsize (INT or NONE), [hits, misses]
static Value cache_key(Lang *l, const Args *args)
{
    List *key = list_new(l, args->count + 2 * args->keyword_count + 1, true);

    for (int i = 0; i < args->count; i++)
        list_append(l, key, args->at[i]);
    for (int i = 0; i < args->keyword_count; i++) {
        if (i == 0)
            list_append(l, key, (Value){.kind = VAL_ELLIPSIS});
        list_append(l, key, v_str(args->names[i]));
        list_append(l, key, args->values[i]);
    }
    return v_of_list(key);
}

// The oldest use goes first: a hit moves its key to the end.
static void evict(Lang *l, Dict *cache, Value most)
{
    int i = 0;

    if (most.kind != VAL_INT || cache->live <= most.i)
        return;
    while (cache->keys[i].kind == VAL_UNBOUND)
        i++;
    dict_remove(l, cache, cache->keys[i]);
}

static Value call_cached(Lang *l, void *ctx, const Args *args)
{
    Value key = cache_key(l, args), out;
    Dict *cache = kept(ctx, 1).dict;
    Value *counts = kept(ctx, 3).list->at, most = kept(ctx, 2);
    int top = temps_top(l);

    if (dict_get(l, cache, key, &out)) {
        counts[0].i++;
        if (most.kind == VAL_INT) {
            dict_remove(l, cache, key);
            dict_set(l, cache, key, out);
        }
        return out;
    }
    temp_push(l, key);
    counts[1].i++;
    out = call_value(l, kept(ctx, 0), args);
    temp_push(l, out);
    if (most.kind != VAL_INT || most.i > 0)
        dict_set(l, cache, key, out);
    evict(l, cache, most);
    temps_cut(l, top);
    return out;
}

static Value clear_cache(Lang *l, void *ctx, const Args *args)
{
    Value *counts = kept(ctx, 3).list->at;

    args_count(l, "cache_clear", args, 0, 0);
    dict_clear(kept(ctx, 1).dict);
    counts[0].i = counts[1].i = 0;
    return V_NONE;
}

static Value cache_info(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"hits", "misses", "maxsize",
                                        "currsize"};
    const Value *counts = kept(ctx, 3).list->at;
    Value fields[4];

    args_count(l, "cache_info", args, 0, 0);
    fields[0] = counts[0];
    fields[1] = counts[1];
    fields[2] = kept(ctx, 2);
    fields[3] = v_int(kept(ctx, 1).dict->live);
    return v_record(l, "CacheInfo", names, fields, 4);
}

// The function's name and text go with its wrapper.
static void copy_names(Lang *l, Map *to, Value from, Span at)
{
    static const char *const names[] = {"__name__", "__qualname__", "__doc__",
                                        "__module__"};
    Value v;

    for (size_t i = 0; i < countof(names); i++)
        if (lang_getattr(l, from, text_of(names[i]), &v, at))
            map_bind(l, to, text_of(names[i]), v);
    map_bind(l, to, TEXT("__wrapped__"), from);
}

static void add_part(Lang *l, Value owner, const char *name,
                     Value (*call)(Lang *, void *, const Args *))
{
    Value v = v_builtin(l, name, call, owner.builtin->held);

    map_bind(l, &owner.builtin->held->attributes, text_of(name), v);
}

static Value make_cache(Lang *l, Value fn, Value most, Span at)
{
    Value counts[2] = {v_int(0), v_int(0)}, parts[4], out;

    if (!value_callable(fn))
        lang_raise(l, "TypeError", at, "the first argument must be callable");
    parts[0] = fn;
    parts[1] = v_dict(l);
    parts[2] = most;
    parts[3] = v_list(l, counts, 2);
    out = v_keeper(l, "lru_cache", call_cached, v_tuple(l, parts, 4));
    copy_names(l, &out.builtin->held->attributes, fn, at);
    add_part(l, out, "cache_clear", clear_cache);
    add_part(l, out, "cache_info", cache_info);
    return out;
}

static Value decorate_cache(Lang *l, void *ctx, const Args *args)
{
    args_count(l, "lru_cache", args, 1, 1);
    return make_cache(l, args->at[0], kept(ctx, 0), args->at_span);
}

static Value f_lru_cache(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"maxsize=", "typed="};
    Value in[2];

    (void)ctx;
    if (args->count == 1 && value_callable(args->at[0]))
        return make_cache(l, args->at[0], v_int(128), args->at_span);
    args_bind(l, "lru_cache", args, names, 2, in);
    if (in[0].kind == VAL_UNBOUND)
        in[0] = v_int(128);
    if (in[0].kind != VAL_INT && in[0].kind != VAL_NONE)
        lang_raise(l, "TypeError", args->at_span,
                   "Expected first argument to be an integer, a callable, or "
                   "None");
    return v_keeper(l, "lru_cache", decorate_cache, v_tuple(l, in, 1));
}

static Value f_cache(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "cache", args, 1, 1);
    return make_cache(l, args->at[0], V_NONE, args->at_span);
}

// ---- wraps -----------------------------------------------------------------

static Value wrap(Lang *l, void *ctx, const Args *args)
{
    Value fn;

    args_count(l, "wraps", args, 1, 1);
    fn = args->at[0];
    if (fn.kind == VAL_FUNCTION)
        copy_names(l, &fn.function->attributes, kept(ctx, 0), args->at_span);
    else if (fn.kind == VAL_BUILTIN && fn.builtin->held)
        copy_names(l, &fn.builtin->held->attributes, kept(ctx, 0),
                   args->at_span);
    return fn;
}

static Value f_wraps(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    if (args->count < 1)
        lang_raise(l, "TypeError", args->at_span,
                   "wraps() missing 1 required positional argument: "
                   "'wrapped'");
    return v_keeper(l, "wraps", wrap, v_tuple(l, args->at, 1));
}

// ---- the rest --------------------------------------------------------------

static Value f_reduce(Lang *l, void *ctx, const Args *args)
{
    int top = temps_top(l), pins = lang_pins(l);
    Value *pair = temps_take(l, 2), r;
    Args call = {.at = pair, .count = 2, .at_span = args->at_span};
    IterState *it;

    (void)ctx;
    args_count(l, "reduce", args, 2, 3);
    it = iter_of(l, args->at[1], args->at_span);
    temp_push(l, v_iter(it));
    if (args->count == 3)
        pair[0] = args->at[2];
    else if (!iter_next(l, it, &pair[0]))
        lang_raise(l, "TypeError", args->at_span,
                   "reduce() of empty iterable with no initial value");
    while (iter_next(l, it, &pair[1])) {
        pair[0] = lang_call(l, args->at[0], &call);
        lang_unpin(l, pins);
    }
    r = pair[0];
    temps_cut(l, top);
    return r;
}

static Value read_cached_property(Lang *l, void *ctx, const Args *args)
{
    Value fn = kept(ctx, 0), out;
    Text key;
    Map *m;

    args_count(l, "cached_property", args, 1, 1);
    if (fn.kind != VAL_FUNCTION || args->at[0].kind != VAL_INSTANCE)
        return lang_call(l, fn, args);
    m = &args->at[0].instance->attributes;
    key = text_format(l->options.arena, "(cached) %.*s",
                      TEXT_ARG(fn.function->name));
    if (map_value(m, key, &out))
        return out;
    out = lang_call(l, fn, args);
    map_bind(l, m, key, out);
    return out;
}

static Value f_cached_property(Lang *l, void *ctx, const Args *args)
{
    Descriptor *d = new (l->options.arena, Descriptor);

    (void)ctx;
    args_count(l, "cached_property", args, 1, 1);
    d->kind = DESC_PROPERTY;
    d->get = v_keeper(l, "cached_property", read_cached_property,
                      v_tuple(l, args->at, 1));
    return (Value){.kind = VAL_DESCRIPTOR, .descriptor = d};
}

void fill_functools(Lang *l, Module *m)
{
    module_set(l, m, "partial", v_builtin(l, "partial", f_partial, NULL));
    module_set(l, m, "lru_cache", v_builtin(l, "lru_cache", f_lru_cache,
                                            NULL));
    module_set(l, m, "cache", v_builtin(l, "cache", f_cache, NULL));
    module_set(l, m, "wraps", v_builtin(l, "wraps", f_wraps, NULL));
    module_set(l, m, "reduce", v_builtin(l, "reduce", f_reduce, NULL));
    module_set(l, m, "cached_property",
               v_builtin(l, "cached_property", f_cached_property, NULL));
}
