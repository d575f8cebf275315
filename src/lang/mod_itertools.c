// mod_itertools.c - the module itertools. All of them are lazy.
#include "lang/eval_int.h"

static IterState *lazy(Lang *l, const char *name, int inner,
                       bool (*next)(Lang *, IterState *, Value *))
{
    IterState *it = iter_new(l, name, next);

    it->inner = new_array(l->options.arena, IterState *, (size_t)inner + 1);
    it->inner_count = inner;
    return it;
}

static IterState *lazy_over(Lang *l, const char *name, Value v, Span at,
                            bool (*next)(Lang *, IterState *, Value *))
{
    IterState *it = lazy(l, name, 1, next);

    it->inner[0] = iter_of(l, v, at);
    return it;
}

static Value snapshot(Lang *l, Value v, Span at)
{
    List *items = value_to_list(l, v, at);

    return v_tuple(l, items->at, items->len);
}

// ---- chain -----------------------------------------------------------------

// source: a tuple of iterables, or extra iterator of them in inner[1]
static bool chain_next(Lang *l, IterState *it, Value *out)
{
    Value v;

    for (;;) {
        if (it->inner[0] && iter_next(l, it->inner[0], out))
            return true;
        if (!iter_next(l, it->inner[1], &v))
            return it->inner[0] = NULL, false;
        it->inner[0] = iter_of(l, v, l->more->at);
    }
}

static Value chain_of(Lang *l, Value iterables, Span at)
{
    IterState *it = lazy(l, "itertools.chain", 2, chain_next);

    it->inner[1] = iter_of(l, iterables, at);
    return v_iter(it);
}

static Value i_chain(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return chain_of(l, v_tuple(l, args->at, args->count), args->at_span);
}

static Value i_from_iterable(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "from_iterable", args, 1, 1);
    return chain_of(l, args->at[0], args->at_span);
}

// ---- product, permutations, combinations -----------------------------------

// source: the pools or the pool; extra: the list of chosen indices
static Value pick(Lang *l, const IterState *it, bool many)
{
    const List *index = it->extra.list;
    List *out = list_new(l, index->len, true);

    for (int i = 0; i < index->len; i++) {
        const List *pool = many ? it->source.list->at[i].list
                                : it->source.list;

        list_append(l, out, pool->at[index->at[i].i]);
    }
    return v_of_list(out);
}

static bool product_step(IterState *it)
{
    List *index = it->extra.list;

    for (int i = index->len - 1; i >= 0; i--) {
        if (++index->at[i].i < it->source.list->at[i].list->len)
            return true;
        index->at[i].i = 0;
    }
    return false;
}

static bool product_next(Lang *l, IterState *it, Value *out)
{
    if (it->stop)
        return false;
    *out = pick(l, it, true);
    it->stop = !product_step(it);
    return true;
}

static Value indices(Lang *l, int n, bool counted)
{
    List *out = list_new(l, n, false);

    for (int i = 0; i < n; i++)
        list_append(l, out, v_int(counted ? i : 0));
    return v_of_list(out);
}

static Value i_product(Lang *l, void *ctx, const Args *args)
{
    IterState *it = iter_new(l, "itertools.product", product_next);
    List *pools = list_new(l, args->count, true);
    Value repeat = v_int(1);
    int64_t times;

    (void)ctx;
    args_keyword(args, "repeat", &repeat);
    times = need_int(l, repeat, args->at_span);
    it->source = v_of_list(pools);
    temp_push(l, it->source);
    if (times > 64)
        lang_unsupported(l, args->at_span, "itertools.product with repeat=%lld",
                         (long long)times);
    for (int64_t r = 0; r < times; r++)
        for (int i = 0; i < args->count; i++)
            list_append(l, pools, r ? pools->at[i]
                                    : snapshot(l, args->at[i],
                                               args->at_span));
    for (int i = 0; i < pools->len; i++)
        it->stop |= pools->at[i].list->len == 0;
    it->extra = indices(l, pools->len, false);
    temps_cut(l, temps_top(l) - 1);
    return v_iter(it);
}

// step: 0 combinations, 1 with replacement
static bool combination_step(IterState *it)
{
    List *index = it->extra.list;
    int n = it->source.list->len, r = index->len, i = r - 1;

    while (i >= 0 && index->at[i].i == (it->step ? n - 1 : i + n - r))
        i--;
    if (i < 0)
        return false;
    index->at[i].i++;
    for (int k = i + 1; k < r; k++)
        index->at[k].i = index->at[k - 1].i + !it->step;
    return true;
}

static bool combination_next(Lang *l, IterState *it, Value *out)
{
    if (it->stop)
        return false;
    *out = pick(l, it, false);
    it->stop = !combination_step(it);
    return true;
}

static int64_t length_arg(Lang *l, Value v, Span at)
{
    int64_t r = need_int(l, v, at);

    if (r < 0)
        lang_raise(l, "ValueError", at, "r must be non-negative");
    if (r > 1 << 20)
        lang_raise(l, "ValueError", at, "r is too large");
    return r;
}

static Value combinations(Lang *l, const Args *args, bool replacement)
{
    IterState *it = iter_new(l, "itertools.combinations", combination_next);
    int64_t r;

    args_count(l, "combinations", args, 2, 2);
    it->source = snapshot(l, args->at[0], args->at_span);
    r = length_arg(l, args->at[1], args->at_span);
    it->step = replacement;
    it->stop = replacement ? it->source.list->len == 0 && r > 0
                           : r > it->source.list->len;
    it->extra = indices(l, (int)r, !replacement);
    return v_iter(it);
}

static Value i_combinations(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return combinations(l, args, false);
}

static Value i_with_replacement(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return combinations(l, args, true);
}

static bool is_used(const List *index, int upto, int64_t v)
{
    for (int i = 0; i < upto; i++)
        if (index->at[i].i == v)
            return true;
    return false;
}

// The next sequence of distinct indices in lexicographic order.
static bool permutation_step(IterState *it)
{
    List *index = it->extra.list;
    int n = it->source.list->len, r = index->len, i = r - 1;
    int64_t v = 0;

    for (; i >= 0; i--) {
        v = index->at[i].i + 1;
        while (v < n && is_used(index, i, v))
            v++;
        if (v < n)
            break;
    }
    if (i < 0)
        return false;
    index->at[i].i = v;
    for (int k = i + 1; k < r; k++) {
        v = 0;
        while (is_used(index, k, v))
            v++;
        index->at[k].i = v;
    }
    return true;
}

static bool permutation_next(Lang *l, IterState *it, Value *out)
{
    if (it->stop)
        return false;
    *out = pick(l, it, false);
    it->stop = !permutation_step(it);
    return true;
}

static Value i_permutations(Lang *l, void *ctx, const Args *args)
{
    IterState *it = iter_new(l, "itertools.permutations", permutation_next);
    int64_t r;

    (void)ctx;
    args_count(l, "permutations", args, 1, 2);
    it->source = snapshot(l, args->at[0], args->at_span);
    r = args->count == 2 && args->at[1].kind != VAL_NONE
            ? length_arg(l, args->at[1], args->at_span)
            : it->source.list->len;
    it->stop = r > it->source.list->len;
    it->extra = indices(l, (int)r, true);
    return v_iter(it);
}

// ---- endless ones ----------------------------------------------------------

static bool count_next(Lang *l, IterState *it, Value *out)
{
    lang_step(l, SPAN_NONE);
    *out = it->source;
    it->source = binary_op(l, AST_OP_ADD, it->source, it->extra, l->more->at);
    return true;
}

static Value i_count(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"start=", "step="};
    IterState *it = iter_new(l, "itertools.count", count_next);
    Value in[2];

    (void)ctx;
    args_bind(l, "count", args, names, 2, in);
    it->source = in[0].kind == VAL_UNBOUND ? v_int(0) : in[0];
    it->extra = in[1].kind == VAL_UNBOUND ? v_int(1) : in[1];
    return v_iter(it);
}

// stop: -1 endless
static bool repeat_next(Lang *l, IterState *it, Value *out)
{
    lang_step(l, SPAN_NONE);
    if (it->stop == 0)
        return false;
    it->stop -= it->stop > 0;
    *out = it->source;
    return true;
}

static Value i_repeat(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"object", "times="};
    IterState *it = iter_new(l, "itertools.repeat", repeat_next);
    Value in[2];

    (void)ctx;
    args_bind(l, "repeat", args, names, 2, in);
    value_bind(in[0]);
    it->source = in[0];
    it->stop = -1;
    if (in[1].kind != VAL_UNBOUND)
        it->stop = need_int(l, in[1], args->at_span);
    if (in[1].kind != VAL_UNBOUND && it->stop < 0)
        it->stop = 0;
    return v_iter(it);
}

static bool cycle_next(Lang *l, IterState *it, Value *out)
{
    lang_step(l, SPAN_NONE);
    if (it->source.list->len == 0)
        return false;
    *out = it->source.list->at[it->at];
    it->at = (it->at + 1) % it->source.list->len;
    return true;
}

static Value i_cycle(Lang *l, void *ctx, const Args *args)
{
    IterState *it = iter_new(l, "itertools.cycle", cycle_next);

    (void)ctx;
    args_count(l, "cycle", args, 1, 1);
    it->source = snapshot(l, args->at[0], args->at_span);
    return v_iter(it);
}

// ---- parts of an iterable --------------------------------------------------

static bool islice_next(Lang *l, IterState *it, Value *out)
{
    while (it->stop < 0 || it->level < it->stop) {
        if (!iter_next(l, it->inner[0], out))
            return false;
        if (it->level++ == it->at) {
            it->at += it->step;
            return true;
        }
    }
    return false;
}

static Value i_islice(Lang *l, void *ctx, const Args *args)
{
    IterState *it;
    int64_t n[3] = {0, -1, 1};

    (void)ctx;
    args_count(l, "islice", args, 2, 4);
    for (int i = 1; i < args->count; i++)
        if (args->at[i].kind != VAL_NONE)
            n[args->count == 2 ? 1 : i - 1] =
                need_int(l, args->at[i], args->at_span);
    if (n[0] < 0 || n[1] < -1 || n[2] < 1 || n[1] > INT32_MAX)
        lang_raise(l, "ValueError", args->at_span,
                   "Stop argument for islice() must be None or an integer: "
                   "0 <= x <= sys.maxsize.");
    it = lazy_over(l, "itertools.islice", args->at[0], args->at_span,
                   islice_next);
    it->at = n[0];
    it->stop = n[1];
    it->step = n[2];
    return v_iter(it);
}

static bool holds(Lang *l, Value test, Value v)
{
    int pins = lang_pins(l);
    Value r = test.kind == VAL_NONE ? v : call1(l, test, v, l->more->at);
    bool yes = value_truth(l, r, l->more->at);

    lang_unpin(l, pins);
    return yes;
}

static bool takewhile_next(Lang *l, IterState *it, Value *out)
{
    if (it->flag || !iter_next(l, it->inner[0], out))
        return false;
    it->flag = !holds(l, it->source, *out);
    return !it->flag;
}

static bool dropwhile_next(Lang *l, IterState *it, Value *out)
{
    while (iter_next(l, it->inner[0], out)) {
        lang_step(l, SPAN_NONE);
        it->flag = it->flag || !holds(l, it->source, *out);
        if (it->flag)
            return true;
    }
    return false;
}

static bool filterfalse_next(Lang *l, IterState *it, Value *out)
{
    while (iter_next(l, it->inner[0], out)) {
        lang_step(l, SPAN_NONE);
        if (!holds(l, it->source, *out))
            return true;
    }
    return false;
}

static Value by_test(Lang *l, const char *name, const Args *args,
                     bool (*next)(Lang *, IterState *, Value *))
{
    IterState *it;

    args_count(l, name, args, 2, 2);
    it = lazy_over(l, name, args->at[1], args->at_span, next);
    it->source = args->at[0];
    return v_iter(it);
}

static Value i_takewhile(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return by_test(l, "takewhile", args, takewhile_next);
}

static Value i_dropwhile(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return by_test(l, "dropwhile", args, dropwhile_next);
}

static Value i_filterfalse(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return by_test(l, "filterfalse", args, filterfalse_next);
}

static bool compress_next(Lang *l, IterState *it, Value *out)
{
    Value keep;

    while (iter_next(l, it->inner[0], out) &&
           iter_next(l, it->inner[1], &keep))
        if (value_truth(l, keep, SPAN_NONE))
            return true;
    return false;
}

static Value i_compress(Lang *l, void *ctx, const Args *args)
{
    IterState *it = lazy(l, "compress", 2, compress_next);

    (void)ctx;
    args_count(l, "compress", args, 2, 2);
    it->inner[0] = iter_of(l, args->at[0], args->at_span);
    it->inner[1] = iter_of(l, args->at[1], args->at_span);
    return v_iter(it);
}

// ---- the rest --------------------------------------------------------------

static bool accumulate_next(Lang *l, IterState *it, Value *out)
{
    Value pair[2];
    Args args = {.at = pair, .count = 2, .at_span = l->more->at};
    int pins = lang_pins(l);

    if (it->flag && it->extra.kind != VAL_UNBOUND) {
        it->flag = false;                       // the initial value
        *out = it->extra;
        return true;
    }
    if (!iter_next(l, it->inner[0], &pair[1]))
        return false;
    pair[0] = it->extra;
    value_bind(pair[1]);
    if (it->extra.kind == VAL_UNBOUND)
        it->extra = pair[1];
    else if (it->source.kind == VAL_NONE)
        it->extra = binary_op(l, AST_OP_ADD, pair[0], pair[1], l->more->at);
    else
        it->extra = lang_call(l, it->source, &args);
    value_bind(it->extra);
    lang_unpin(l, pins);
    *out = it->extra;
    return true;
}

static Value i_accumulate(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"iterable", "func=", "*", "initial="};
    IterState *it;
    Value in[3];

    (void)ctx;
    args_bind(l, "accumulate", args, names, 4, in);
    it = lazy_over(l, "itertools.accumulate", in[0], args->at_span,
                   accumulate_next);
    it->source = in[1].kind == VAL_UNBOUND ? V_NONE : in[1];
    it->extra = (Value){.kind = VAL_UNBOUND};
    if (in[2].kind != VAL_UNBOUND && in[2].kind != VAL_NONE) {
        it->extra = in[2];
        it->flag = true;
    }
    return v_iter(it);
}

static bool starmap_next(Lang *l, IterState *it, Value *out)
{
    Value v;
    List *items;
    Args args = {.at_span = l->more->at};
    int pins = lang_pins(l);

    if (!iter_next(l, it->inner[0], &v))
        return false;
    items = value_to_list(l, v, l->more->at);
    args.at = items->at;
    args.count = items->len;
    *out = lang_call(l, it->source, &args);
    lang_unpin(l, pins);
    return true;
}

static Value i_starmap(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return by_test(l, "starmap", args, starmap_next);
}

static bool longest_next(Lang *l, IterState *it, Value *out)
{
    int top = temps_top(l), live = 0;
    Value *row = temps_take(l, it->inner_count);

    for (int i = 0; i < it->inner_count; i++) {
        if (it->inner[i] && !iter_next(l, it->inner[i], &row[i]))
            it->inner[i] = NULL;
        live += it->inner[i] != NULL;
        if (!it->inner[i])
            row[i] = it->source;
    }
    if (live)
        *out = v_tuple(l, row, it->inner_count);
    temps_cut(l, top);
    return live > 0;
}

static Value i_zip_longest(Lang *l, void *ctx, const Args *args)
{
    IterState *it = lazy(l, "itertools.zip_longest", args->count,
                         longest_next);

    (void)ctx;
    it->source = V_NONE;
    args_keyword(args, "fillvalue", &it->source);
    for (int i = 0; i < args->count; i++)
        it->inner[i] = iter_of(l, args->at[i], args->at_span);
    return v_iter(it);
}

static bool pairwise_next(Lang *l, IterState *it, Value *out)
{
    Value pair[2];

    if (!it->flag && !iter_next(l, it->inner[0], &it->extra))
        return false;
    it->flag = true;
    pair[0] = it->extra;
    if (!iter_next(l, it->inner[0], &pair[1]))
        return false;
    it->extra = pair[1];
    value_bind(it->extra);
    *out = v_tuple(l, pair, 2);
    return true;
}

static Value i_pairwise(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "pairwise", args, 1, 1);
    return v_iter(lazy_over(l, "pairwise", args->at[0], args->at_span,
                            pairwise_next));
}

// Each group is complete when it is handed out.
static bool group_next(Lang *l, IterState *it, Value *out)
{
    List *group = list_new(l, 4, false);
    int top = temps_top(l);
    Value pair[2], v, key;
    bool same;

    if (!it->flag && !iter_next(l, it->inner[0], &it->extra))
        return false;
    if (it->stop)
        return false;
    temp_push(l, v_of_list(group));
    it->flag = true;
    it->stop = 1;
    pair[0] = it->source.kind == VAL_NONE
                  ? it->extra : call1(l, it->source, it->extra, l->more->at);
    temp_push(l, pair[0]);
    list_append(l, group, it->extra);
    while (iter_next(l, it->inner[0], &v)) {
        lang_step(l, SPAN_NONE);
        temp_push(l, v);
        key = it->source.kind == VAL_NONE
                  ? v : call1(l, it->source, v, l->more->at);
        same = value_equal(l, key, pair[0]);
        temps_cut(l, top + 2);
        if (!same) {
            it->extra = v;
            value_bind(v);
            it->stop = 0;
            break;
        }
        list_append(l, group, v);
    }
    pair[1] = v_iter(iter_of(l, v_of_list(group), l->more->at));
    *out = v_tuple(l, pair, 2);
    temps_cut(l, top);
    return true;
}

static Value i_groupby(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"iterable", "key="};
    IterState *it;
    Value in[2];

    (void)ctx;
    args_bind(l, "groupby", args, names, 2, in);
    it = lazy_over(l, "itertools.groupby", in[0], args->at_span, group_next);
    it->source = in[1].kind == VAL_UNBOUND ? V_NONE : in[1];
    return v_iter(it);
}

void fill_itertools(Lang *l, Module *m)
{
    static const struct {
        const char *name;
        Value (*call)(Lang *, void *, const Args *);
    } table[] = {
        {"product", i_product}, {"combinations", i_combinations},
        {"combinations_with_replacement", i_with_replacement},
        {"permutations", i_permutations}, {"count", i_count},
        {"repeat", i_repeat}, {"cycle", i_cycle}, {"islice", i_islice},
        {"takewhile", i_takewhile}, {"dropwhile", i_dropwhile},
        {"filterfalse", i_filterfalse}, {"compress", i_compress},
        {"accumulate", i_accumulate}, {"starmap", i_starmap},
        {"zip_longest", i_zip_longest}, {"pairwise", i_pairwise},
        {"groupby", i_groupby},
    };
    Value chain = v_keeper(l, "chain", i_chain, V_NONE);

    for (size_t i = 0; i < countof(table); i++)
        module_set(l, m, table[i].name,
                   v_builtin(l, table[i].name, table[i].call, NULL));
    map_bind(l, &chain.builtin->held->attributes, TEXT("from_iterable"),
             v_builtin(l, "from_iterable", i_from_iterable, NULL));
    module_set(l, m, "chain", chain);
}
