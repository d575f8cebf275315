// layout.c - layout lambdas become index maps, evaluated once on symbols.
#include "lang/trace_int.h"

static IrVar *index_var(Lang *l, int d, Span at)
{
    Text name = text_format(lang_arena(l), "i%d", d);
    return ir_var(trace_kernel(l), VAR_LOOP, name, DT_I32, at);
}

static Value call_map(Lang *l, Value fn, const IrIndexMap *m, bool replica,
                      Span at)
{
    Value items[IR_MAX_RANK + 1];
    int n = m->in_rank;
    for (int d = 0; d < n; d++)
        items[d] = v_expr(ir_use(trace_kernel(l), m->in[d], at));
    if (replica)
        items[n++] = v_expr(ir_use(trace_kernel(l), m->replica, at));
    Args args = {.at = items, .count = n, .at_span = at};
    return lang_call(l, fn, &args);
}

static void take_outputs(Lang *l, IrIndexMap *m, Value v, Span at)
{
    List one = {.at = &v, .len = 1};
    List *items = v.kind == VAL_LIST || v.kind == VAL_TUPLE ? v.list : &one;
    if (items->len > (int)countof(m->out))
        lang_raise(l, "ValueError", at, "a layout with %d results", items->len);
    m->out_rank = items->len;
    for (int i = 0; i < items->len; i++)
        m->out[i] = to_expr(l, items->at[i], at);
}

static IrIndexMap *map_new(Lang *l, const List *shape, Span at)
{
    IrIndexMap *m = new (lang_arena(l), IrIndexMap);
    if (shape->len < 1 || shape->len > IR_MAX_RANK)
        lang_raise(l, "ValueError", at, "a layout of %d dimensions",
                   shape->len);
    m->in_rank = shape->len;
    m->replicate = 1;
    for (int d = 0; d < shape->len; d++) {
        m->in_shape[d] = to_expr(l, shape->at[d], at);
        m->in[d] = index_var(l, d, at);
    }
    return m;
}

// A lambda whose result is (thread, index) or index alone.
Value layout_make(Lang *l, const Value *shape, const Value *map,
                  const Value *thread, int64_t replicate, Span at)
{
    IrIndexMap *m = map_new(l, shape_list(l, *shape, at), at);
    m->replicate = replicate;
    if (replicate > 1)
        m->replica = ir_var(trace_kernel(l), VAR_LOOP, TEXT("rep"), DT_I32, at);
    if (thread)
        m->thread = to_expr(l, call_map(l, *thread, m, replicate > 1, at), at);
    if (map && map->kind != VAL_NONE && map->kind != VAL_UNBOUND)
        take_outputs(l, m, call_map(l, *map, m, false, at), at);
    return (Value){.kind = VAL_INDEXMAP, .indexmap = m};
}

// forward_fn(i..., rep) gives the thread and the index of a fragment's element.
static void split_thread(Lang *l, IrIndexMap *m, Value fn, Span at)
{
    Value v = call_map(l, fn, m, m->replicate > 1, at);

    if ((v.kind != VAL_LIST && v.kind != VAL_TUPLE) || v.list->len < 2)
        lang_raise(l, "ValueError", at, "the forward_fn of a T.Fragment gives "
                   "a thread and an index");
    List rest = {.at = v.list->at + 1, .len = v.list->len - 1};
    m->thread = to_expr(l, v.list->at[0], at);
    take_outputs(l, m, (Value){.kind = VAL_TUPLE, .list = &rest}, at);
}

// T.Fragment(shape, forward_fn, forward_thread_fn, replicate, forward_index_fn)
Value fragment_make(Lang *l, const Bound *b)
{
    enum { FORWARD = 1, THREAD, REPLICATE, INDEX };
    bool split = bound_given(b, FORWARD) && !bound_given(b, THREAD);
    Value v = layout_make(l, &b->at[0],
                          bound_given(b, INDEX) ? &b->at[INDEX] : NULL,
                          bound_given(b, THREAD) ? &b->at[THREAD] : NULL,
                          bound_int(l, b, REPLICATE, 1), b->call);

    if (split)
        split_thread(l, v.indexmap, b->at[FORWARD], b->call);
    return v;
}

IrIndexMap *layout_of(Lang *l, Value v, IrBuffer *b, Span at)
{
    if (v.kind == VAL_INDEXMAP)
        return v.indexmap;
    if (v.kind != VAL_FUNCTION || !b)
        lang_raise(l, "TypeError", at,
                   "expected a T.Layout, T.Fragment or a lambda; found %s",
                   value_type_name(v));
    Value items[IR_MAX_RANK];
    for (int d = 0; d < b->rank; d++)
        items[d] = v_expr(b->shape[d]);
    Value shape = v_tuple(l, items, b->rank);
    return layout_make(l, &shape, &v, NULL, 1, at).indexmap;
}

// tilelang.layout.make_swizzled_layout(buffer, ...): named, for the plan.
static Value named_layout(Lang *l, void *ctx, const Args *args)
{
    const char *name = ctx;
    if (args->count < 1 || args->at[0].kind != VAL_BUFFER)
        lang_raise(l, "TypeError", args->at_span, "%s() takes a buffer", name);
    const IrBuffer *b = args->at[0].buffer;
    IrIndexMap *m = new (lang_arena(l), IrIndexMap);
    m->maker = text_of(name);
    m->replicate = 1;
    m->in_rank = b->rank;
    for (int d = 0; d < b->rank; d++)
        m->in_shape[d] = b->shape[d];
    return (Value){.kind = VAL_INDEXMAP, .indexmap = m};
}

Module *lang_layout_module(Lang *l)
{
    static const char *const makers[] = {
        "make_swizzled_layout", "make_full_bank_swizzled_layout",
        "make_half_bank_swizzled_layout", "make_quarter_bank_swizzled_layout",
        "make_linear_layout", "make_wgmma_swizzled_layout",
        "make_mma_swizzle_layout", "make_mfma_swizzle_layout",
        "make_gemm_fragment_8x8", "make_gemm_fragment_8x8_transposed",
    };
    Module *m = lang_module(l, "tilelang.layout");
    module_set(l, m, "Layout", (Value){.kind = VAL_PRIM, .prim = OP_LAYOUT});
    module_set(l, m, "Fragment",
               (Value){.kind = VAL_PRIM, .prim = OP_FRAGMENT});
    for (size_t i = 0; i < countof(makers); i++)
        module_set(l, m, makers[i],
                   v_builtin(l, makers[i], named_layout, (void *)makers[i]));
    return m;
}
