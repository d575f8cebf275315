// builtins_seq.c - built-in functions on iterables.
#include <string.h>

#include "lang/eval_int.h"

// ---- folds -----------------------------------------------------------------

static Value b_sum(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"iterable", "start="};
    Value in[2], sum, v;
    IterState *it;

    (void)ctx;
    args_bind(l, "sum", args, names, 2, in);
    sum = in[1].kind == VAL_UNBOUND ? v_int(0) : in[1];
    if (sum.kind == VAL_STR)
        lang_raise(l, "TypeError", args->at_span,
                   "sum() can't sum strings [use ''.join(seq) instead]");
    it = iter_of(l, in[0], args->at_span);
    temp_push(l, v_iter(it));
    temp_push(l, sum);
    while (iter_next(l, it, &v)) {
        Value before = sum;

        sum = binary_op(l, AST_OP_ADD, before, v, args->at_span);
        temp_drop(l, v, sum);
        l->more->temps[temps_top(l) - 1] = sum;
        if (before.kind != VAL_FOREIGN || before.foreign != v.foreign)
            temp_drop(l, before, sum);
    }
    temps_cut(l, temps_top(l) - 2);
    return sum;
}

static Value b_any(Lang *l, void *ctx, const Args *args)
{
    bool all = ctx != NULL, found = false;
    IterState *it;
    Value v;

    args_count(l, all ? "all" : "any", args, 1, 1);
    it = iter_of(l, args->at[0], args->at_span);
    temp_push(l, v_iter(it));
    while (!found && iter_next(l, it, &v))
        found = value_truth(l, v, args->at_span) != all;
    temps_cut(l, temps_top(l) - 1);
    return v_bool(found != all);
}

static bool beats(Lang *l, Value a, Value b, bool largest, Span at)
{
    return largest ? value_less(l, b, a, at) : value_less(l, a, b, at);
}

static Value best_of(Lang *l, IterState *it, Value key, bool largest, Span at,
                     bool *any)
{
    int top = temps_top(l);
    Value *held = temps_take(l, 2), v;          // the best and its key

    temp_push(l, v_iter(it));
    *any = false;
    while (iter_next(l, it, &v)) {
        Value k;

        lang_step(l, at);
        temp_push(l, v);
        k = key.kind == VAL_NONE ? v : call1(l, key, v, at);
        if (!*any || beats(l, k, held[1], largest, at)) {
            held[0] = v;
            held[1] = k;
        }
        *any = true;
        temps_cut(l, top + 3);
    }
    v = held[0];
    temps_cut(l, top);
    return v;
}

static Value extreme(Lang *l, const char *name, bool largest, const Args *args)
{
    Value key = V_NONE, fallback, best;
    bool given = args_keyword(args, "default", &fallback), any;
    Span at = args->at_span;
    Value items;

    args_keyword(args, "key", &key);
    for (int i = 0; i < args->keyword_count; i++)
        if (!text_is(args->names[i], "key") &&
            !text_is(args->names[i], "default"))
            lang_raise(l, "TypeError", at,
                       "%s() got an unexpected keyword argument '%.*s'", name,
                       TEXT_ARG(args->names[i]));
    if (args->count == 0)
        lang_raise(l, "TypeError", at,
                   "%s expected at least 1 argument, got 0", name);
    for (int i = 0; i < args->count; i++)
        if (v_is_device(args->at[i]))
            lang_raise(l, "TypeError", at,
                       "%s() cannot compare device values: use T.%s", name,
                       name);
    items = args->count == 1 ? args->at[0] : v_tuple(l, args->at, args->count);
    best = best_of(l, iter_of(l, items, at), key, largest, at, &any);
    if (!any && !given)
        lang_raise(l, "ValueError", at, "%s() arg is an empty sequence", name);
    return any ? best : fallback;
}

static Value b_min(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return extreme(l, "min", false, args);
}

static Value b_max(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return extreme(l, "max", true, args);
}

// ---- iterators -------------------------------------------------------------

static IterState **iters_of(Lang *l, const Args *args, int from)
{
    IterState **out = new_array(l->options.arena, IterState *,
                                (size_t)args->count + 1);

    for (int i = from; i < args->count; i++)
        out[i - from] = iter_of(l, args->at[i], args->at_span);
    return out;
}

static bool ran_short(Lang *l, const IterState *it, int i)
{
    Value v;

    if (!it->flag)
        return false;
    if (i > 0)
        lang_raise(l, "ValueError", SPAN_NONE,
                   "zip() argument %d is shorter than argument%s%d", i + 1,
                   i == 1 ? " " : "s 1-", i);
    for (int k = 1; k < it->inner_count; k++)
        if (iter_next(l, it->inner[k], &v))
            lang_raise(l, "ValueError", SPAN_NONE,
                       "zip() argument %d is longer than argument%s%d", k + 1,
                       k == 1 ? " " : "s 1-", k);
    return false;
}

static bool zip_next(Lang *l, IterState *it, Value *out)
{
    int top = temps_top(l);
    Value *row = temps_take(l, it->inner_count);
    bool more = it->inner_count > 0;

    for (int i = 0; i < it->inner_count && more; i++) {
        more = iter_next(l, it->inner[i], &row[i]);
        if (!more)
            ran_short(l, it, i);
    }
    if (more)
        *out = v_tuple(l, row, it->inner_count);
    temps_cut(l, top);
    return more;
}

static Value b_zip(Lang *l, void *ctx, const Args *args)
{
    IterState *it = iter_new(l, "zip", zip_next);
    Value strict;

    (void)ctx;
    it->inner = iters_of(l, args, 0);
    it->inner_count = args->count;
    it->flag = args_keyword(args, "strict", &strict) &&
               value_truth(l, strict, args->at_span);
    return v_iter(it);
}

static bool enumerate_next(Lang *l, IterState *it, Value *out)
{
    Value pair[2] = {v_int(it->at)};

    if (!iter_next(l, it->inner[0], &pair[1]))
        return false;
    it->at++;
    *out = v_tuple(l, pair, 2);
    return true;
}

static IterState *over_one(Lang *l, const char *name, Value v, Span at,
                           bool (*next)(Lang *, IterState *, Value *))
{
    IterState *it = iter_new(l, name, next);

    it->inner = new_array(l->options.arena, IterState *, 1);
    it->inner[0] = iter_of(l, v, at);
    it->inner_count = 1;
    return it;
}

static Value b_enumerate(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"iterable", "start="};
    Value in[2];
    IterState *it;

    (void)ctx;
    args_bind(l, "enumerate", args, names, 2, in);
    it = over_one(l, "enumerate", in[0], args->at_span, enumerate_next);
    if (in[1].kind != VAL_UNBOUND)
        it->at = need_int(l, in[1], args->at_span);
    return v_iter(it);
}

static bool map_next(Lang *l, IterState *it, Value *out)
{
    int top = temps_top(l), pins = lang_pins(l);
    Value *row = temps_take(l, it->inner_count);
    Args args = {.at = row, .count = it->inner_count, .at_span = l->more->at};

    for (int i = 0; i < it->inner_count; i++) {
        if (!iter_next(l, it->inner[i], &row[i])) {
            temps_cut(l, top);
            return false;
        }
    }
    *out = lang_call(l, it->source, &args);
    lang_unpin(l, pins);
    temps_cut(l, top);
    return true;
}

static Value b_map(Lang *l, void *ctx, const Args *args)
{
    IterState *it = iter_new(l, "map", map_next);

    (void)ctx;
    if (args->count < 2)
        lang_raise(l, "TypeError", args->at_span,
                   "map() must have at least two arguments.");
    it->source = args->at[0];
    it->inner = iters_of(l, args, 1);
    it->inner_count = args->count - 1;
    return v_iter(it);
}

static bool filter_next(Lang *l, IterState *it, Value *out)
{
    while (iter_next(l, it->inner[0], out)) {
        Value keep = *out;
        int top = temps_top(l), pins = lang_pins(l);

        lang_step(l, SPAN_NONE);
        temp_push(l, *out);
        if (it->source.kind != VAL_NONE)
            keep = call1(l, it->source, *out, l->more->at);
        temps_cut(l, top);
        lang_unpin(l, pins);
        if (value_truth(l, keep, SPAN_NONE))
            return true;
    }
    return false;
}

static Value b_filter(Lang *l, void *ctx, const Args *args)
{
    IterState *it;

    (void)ctx;
    args_count(l, "filter", args, 2, 2);
    it = over_one(l, "filter", args->at[1], args->at_span, filter_next);
    it->source = args->at[0];
    return v_iter(it);
}

static Value b_iter(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "iter", args, 1, 2);
    if (args->count == 2)
        lang_unsupported(l, args->at_span, "iter() with a sentinel");
    if (args->at[0].kind == VAL_INSTANCE) {
        Value out;

        if (call_dunder(l, args->at[0], "__iter__", NULL, 0, &out,
                        args->at_span))
            return out;
    }
    return v_iter(iter_of(l, args->at[0], args->at_span));
}

static Value b_next(Lang *l, void *ctx, const Args *args)
{
    Value v, out;

    (void)ctx;
    args_count(l, "next", args, 1, 2);
    v = args->at[0];
    if (v.kind == VAL_INSTANCE && instance_method(l, v, "__next__", &out)) {
        if (args->count == 1) {
            call_dunder(l, v, "__next__", NULL, 0, &out, args->at_span);
            return out;
        }
        v = v_iter(iter_of(l, v, args->at_span));
    }
    if (v.kind != VAL_ITER || v.iter->view)
        lang_raise(l, "TypeError", args->at_span,
                   "'%s' object is not an iterator", value_type_name(v));
    if (iter_next(l, v.iter, &out))
        return out;
    if (args->count == 2)
        return args->at[1];
    exception_raise(l, exception_new(l,
                                     l->more->exceptions[EXC_STOP_ITERATION],
                                     NULL, 0), args->at_span);
}

// ---- orders ----------------------------------------------------------------

static List *fresh_list(Lang *l, Value v, Span at)
{
    List *items = value_to_list(l, v, at), *out;

    if (!v_is_sequence(v))
        return items;
    out = list_new(l, items->len, false);
    for (int i = 0; i < items->len; i++)
        list_append(l, out, items->at[i]);
    return out;
}

static Value b_sorted(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"iterable", "*", "key=", "reverse="};
    Value in[3];
    List *out;

    (void)ctx;
    if (args->count != 1)
        lang_raise(l, "TypeError", args->at_span,
                   "sorted expected 1 argument, got %d", args->count);
    args_bind(l, "sorted", args, names, 4, in);
    out = fresh_list(l, in[0], args->at_span);
    lang_pin(l, v_of_list(out));
    list_sort(l, out, in[1].kind == VAL_UNBOUND ? V_NONE : in[1],
              in[2].kind != VAL_UNBOUND &&
                  value_truth(l, in[2], args->at_span),
              args->at_span);
    return v_of_list(out);
}

static bool reversed_next(Lang *l, IterState *it, Value *out)
{
    (void)l;
    if (it->at <= 0 || it->at > it->source.list->len)
        return false;
    *out = it->source.list->at[--it->at];
    return true;
}

static Value b_reversed(Lang *l, void *ctx, const Args *args)
{
    IterState *it;
    Value v, out;

    (void)ctx;
    args_count(l, "reversed", args, 1, 1);
    v = args->at[0];
    if (call_dunder(l, v, "__reversed__", NULL, 0, &out, args->at_span))
        return out;
    if (v.kind == VAL_RANGE) {
        int64_t n = range_len(v.range.r), *r = v.range.r;

        return v_iter(iter_of(l, v_range(l, r[0] + (n - 1) * r[2],
                                         r[0] - r[2], -r[2]),
                              args->at_span));
    }
    if (v.kind == VAL_SET || (v.kind == VAL_ITER && !v.iter->view))
        lang_raise(l, "TypeError", args->at_span,
                   "'%s' object is not reversible", value_type_name(v));
    it = iter_new(l, "reversed", reversed_next);
    it->source = v_is_sequence(v)
                     ? v : v_of_list(value_to_list(l, v, args->at_span));
    it->at = it->source.list->len;
    return v_iter(it);
}

static int64_t range_part(Lang *l, Value v, Span at)
{
    if (v_is_device(v))
        lang_raise(l, "TypeError", at,
                   "range() needs ints that are known while staging, not a "
                   "device value; use T.serial in a kernel");
    return need_int(l, v, at);
}

static Value b_range(Lang *l, void *ctx, const Args *args)
{
    int64_t n[3] = {0, 0, 1};

    (void)ctx;
    args_count(l, "range", args, 1, 3);
    for (int i = 0; i < args->count; i++)
        n[i] = range_part(l, args->at[i], args->at_span);
    if (args->count == 1) {
        n[1] = n[0];
        n[0] = 0;
    }
    if (n[2] == 0)
        lang_raise(l, "ValueError", args->at_span,
                   "range() arg 3 must not be zero");
    return v_range(l, n[0], n[1], n[2]);
}

static Value b_slice(Lang *l, void *ctx, const Args *args)
{
    SliceValue *s = new (l->options.arena, SliceValue);
    Value *part = new_array(l->options.arena, Value, 3);

    (void)ctx;
    args_count(l, "slice", args, 1, 3);
    for (int i = 0; i < 3; i++)
        part[i] = V_NONE;
    if (args->count == 1)
        part[1] = args->at[0];
    for (int i = 0; i < args->count && args->count > 1; i++)
        part[i] = args->at[i];
    s->start = &part[0];
    s->stop = &part[1];
    s->step = &part[2];
    return (Value){.kind = VAL_SLICE, .slice = s};
}

Value range_make(Lang *l, const Args *args)
{
    return b_range(l, NULL, args);
}

Value slice_make(Lang *l, const Args *args)
{
    return b_slice(l, NULL, args);
}

void builtins_add_sequences(Lang *l, Module *m)
{
    static const struct {
        const char *name;
        Value (*call)(Lang *, void *, const Args *);
    } table[] = {
        {"sum", b_sum}, {"any", b_any}, {"min", b_min}, {"max", b_max},
        {"zip", b_zip}, {"enumerate", b_enumerate}, {"map", b_map},
        {"filter", b_filter}, {"iter", b_iter}, {"next", b_next},
        {"sorted", b_sorted}, {"reversed", b_reversed},
    };

    for (size_t i = 0; i < countof(table); i++)
        module_set(l, m, table[i].name,
                   v_builtin(l, table[i].name, table[i].call, NULL));
    module_set(l, m, "all", v_builtin(l, "all", b_any, l));
}
