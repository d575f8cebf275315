// prim_stage.c - T.* names that staging itself answers: launches, sizes,
// limits, decorators, layouts.
#include <math.h>

#include "lang/trace_int.h"

// ---- T.Kernel ---------------------------------------------------------------------

static void thread_counts(Lang *l, Value v, int64_t out[3], Span at)
{
    out[0] = 128;
    out[1] = out[2] = 1;
    if (v.kind == VAL_UNBOUND || v.kind == VAL_NONE)
        return;
    List one = {.at = &v, .len = 1};
    List *items = v.kind == VAL_LIST || v.kind == VAL_TUPLE ? v.list : &one;
    if (items->len < 1 || items->len > 3)
        lang_raise(l, "ValueError", at, "threads= takes 1 to 3 numbers");
    int64_t total = 1;
    for (int i = 0; i < items->len; i++) {
        out[i] = value_to_int(l, items->at[i], "threads", at);
        if (out[i] <= 0 || out[i] > 1024)
            lang_raise(l, "ValueError", at,
                       "threads=%lld: a block has 1 to 1,024 threads",
                       (long long)out[i]);
        total *= out[i];
    }
    if (total > 1024)
        lang_raise(l, "ValueError", at,
                   "%lld threads: a block has at most 1,024",
                   (long long)total);
}

static Value kernel(Lang *l, const Bound *b)
{
    trace_need(l, "T.Kernel", b->call);
    KernelFrame *f = new (lang_arena(l), KernelFrame);
    if (b->rest_count > IR_MAX_GRID)
        lang_raise(l, "TypeError", b->call,
                   "T.Kernel takes up to 3 grid sizes, found %d",
                   b->rest_count);
    f->rank = b->rest_count ? b->rest_count : 1;    // T.Kernel(): one block
    f->at = b->call;
    for (int i = 0; i < f->rank; i++) {
        f->grid[i] = to_expr(l, b->rest_count ? b->rest[i] : v_int(1),
                             b->call);
        if (!dtype_is_int(f->grid[i]->dtype))
            lang_raise(l, "TypeError", b->call,
                       "grid size %d is %s, not an integer", i,
                       dtype_info(f->grid[i]->dtype)->name);
        int64_t n;
        if (ir_is_int(f->grid[i], &n) && n < 0)
            lang_raise(l, "ValueError", b->call, "a grid size of %lld",
                       (long long)n);
    }
    thread_counts(l, b->at[1], f->threads, b->spans[1]);
    IrStmt holder = {.kind = STMT_LAUNCH};
    if (bound_given(b, 2))
        prim_attr(l, &holder, ATTR_PRELUDE, b->at[2], b->spans[2]);
    f->attrs = holder.attrs;
    return (Value){.kind = VAL_KERNELFRAME, .frame = f};
}

static Value launch_vars(Lang *l, const Bound *b)
{
    Trace *t = trace_need(l, b->info->surface, b->call);
    if (!t->launch)
        lang_raise(l, "TypeError", b->call, "%s outside T.Kernel",
                   b->info->surface);
    bool threads = b->op == OP_GET_THREAD_EXTENT
                   || b->op == OP_GET_THREAD_EXTENTS;
    bool extents = b->op == OP_GET_BLOCK_EXTENT
                   || b->op == OP_GET_BLOCK_EXTENTS;
    Value items[3];
    int n = threads ? 3 : t->launch->var_count;
    for (int i = 0; i < n; i++)
        items[i] = threads ? v_int(t->launch->threads[i])
                   : extents ? expr_value(l, t->launch->extent[i])
                   : v_expr(ir_use(t->k, t->launch->vars[i], b->call));
    if (b->info->param_count == 0)
        return v_list(l, items, n);
    int64_t d = bound_int(l, b, 0, 0);
    if (d < 0 || d >= n)
        lang_raise(l, "IndexError", b->call, "%s(%lld): %d dimension%s",
                   b->info->surface, (long long)d, n, n == 1 ? "" : "s");
    return items[d];
}

// ---- sizes -------------------------------------------------------------------------

static Value const_size(Lang *l, Trace *t, Text name, Span at)
{
    Value given;
    for (int i = 0; i < t->consts.len; i++) {
        ConstSize *c = &t->consts.at[i];
        if (text_eq(c->name, name))
            return t->probing ? v_expr(ir_use(t->k, c->var, at))
                              : v_int(c->value);
    }
    ConstSize c = {.name = name, .at = at};
    if (t->given && dict_get(l, t->given, v_str(name), &given)) {
        c.known = true;
        c.value = value_to_int(l, given, "a T.const size", at);
        if (c.value < 0)
            lang_raise(l, "ValueError", at, "size %.*s is negative: %lld",
                       TEXT_ARG(name), (long long)c.value);
    }
    c.var = ir_symbol(t->k, name, DT_I32, at);
    vec_push(lang_arena(l), &t->consts, c);
    return v_expr(ir_use(t->k, c.var, at));
}

static Value dynamic_size(Lang *l, Text name, DType t, Span at)
{
    if (!l->scratch) {          // symbols outlive the kernel that names them
        Trace *now = l->trace;
        l->trace = NULL;
        trace_kernel(l);
        l->trace = now;
    }
    IrKernel *k = l->trace ? l->trace->k : l->scratch;
    if (l->scratch->next_var < k->next_var)     // ids are of one's own in both
        l->scratch->next_var = k->next_var;
    IrVar *v = ir_symbol(l->scratch, name, t, at);
    k->next_var = l->scratch->next_var;
    return v_expr(ir_use(l->scratch, v, at));
}

// "M, N" or "M N": one value, or a tuple of them.
static Value sizes(Lang *l, const Bound *b)
{
    Trace *t = l->trace;
    if (b->op == OP_CONST && (!t || !t->args))
        lang_raise(l, "TypeError", b->call,
                   "T.const belongs at the top of an eager kernel");
    if (b->at[0].kind != VAL_STR)
        lang_raise(l, "TypeError", b->spans[0], "%s takes names as a text",
                   b->info->surface);
    DType dt = bound_given(b, 1) ? value_to_dtype(l, b->at[1], b->spans[1])
                                 : DT_I32;
    Text names = b->at[0].s;
    struct { Value *at; int len, room; } out = {0};
    for (size_t i = 0; i < names.len;) {
        size_t j = i;
        while (j < names.len && names.at[j] != ',' && names.at[j] != ' ')
            j++;
        Text name = text_slice(names, i, j);
        if (name.len) {
            Value v = b->op == OP_CONST ? const_size(l, t, name, b->call)
                                        : dynamic_size(l, name, dt, b->call);
            vec_push(lang_arena(l), &out, v);
        }
        i = j + 1;
    }
    if (out.len == 0)
        lang_raise(l, "ValueError", b->spans[0], "%s without a name",
                   b->info->surface);
    return out.len == 1 ? out.at[0] : v_tuple(l, out.at, out.len);
}

// ---- limits ------------------------------------------------------------------------

static Value int_limit(Lang *l, DType t, bool max, Span at)
{
    const DTypeInfo *info = dtype_info(t);
    int bits = info->bits;
    bool is_signed = info->kind == KIND_INT;
    uint64_t top = is_signed ? (UINT64_C(1) << (bits - 1)) - 1
                   : bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    int64_t low = is_signed ? -(int64_t)top - 1 : 0;
    if (t == DT_BOOL)
        top = 1;
    return v_expr(ir_int(trace_kernel(l), t, max ? (int64_t)top : low, at));
}

// e4m3fnuz is upstream's: 448 and 0 (tilelang_surface 4.2).
static double float_limit(DType t, bool max)
{
    double m = dtype_info(t)->max_finite;
    if (t == DT_E4M3FNUZ)
        return max ? 448 : 0;
    return max ? m : -m;
}

static Value limit(Lang *l, const Bound *b)
{
    DType t = value_to_dtype(l, b->at[0], b->spans[0]);
    IrKernel *k = trace_kernel(l);
    if (b->op == OP_INF) {
        if (!dtype_is_float(t))
            lang_raise(l, "TypeError", b->call, "%s has no infinity",
                       dtype_info(t)->name);
        return v_expr(ir_float(k, t, INFINITY, b->call));
    }
    bool max = b->op == OP_MAX_VALUE;
    if (!dtype_is_float(t))
        return int_limit(l, t, max, b->call);
    return v_expr(ir_float(k, t, float_limit(t, max), b->call));
}

// ---- the rest ----------------------------------------------------------------------------

static Value coordinates(Lang *l, const Bound *b)
{
    List *shape = shape_list(l, b->at[1], b->spans[1]);
    Value rest = b->at[0];
    if (shape->len == 0 || shape->len > IR_MAX_RANK)
        lang_raise(l, "ValueError", b->call, "a shape of %d dimensions",
                   shape->len);
    Value items[IR_MAX_RANK];
    for (int d = shape->len - 1; d >= 0; d--) {
        items[d] = d ? binary_op(l, AST_OP_MOD, rest, shape->at[d], b->call)
                     : rest;
        rest = binary_op(l, AST_OP_FLOORDIV, rest, shape->at[d], b->call);
    }
    return v_list(l, items, shape->len);
}

static Value device_assert(Lang *l, const Bound *b)
{
    trace_need(l, b->info->surface, b->call);
    IrExpr *cond = to_condition(l, b->at[0], b->spans[0]);
    IrStmt *s = trace_emit(l, STMT_ASSERT, b->call);
    s->cond = cond;
    if (bound_given(b, 1))
        prim_attr(l, s, ATTR_MSG, b->at[1], b->spans[1]);
    return V_NONE;
}

// One for the whole kernel: upstream keeps one a block of its IR.
static void set_safe_value(Lang *l, IrBuffer *buffer, Value v, const Bound *b)
{
    IrExpr *e = ir_cast(l->trace->k, to_expr(l, v, b->spans[0]), buffer->dtype,
                        true, b->spans[0]);

    if (buffer->safe_value && !ir_same(buffer->safe_value, e))
        lang_unsupported(l, b->spans[0], "a second safe value of '%.*s'",
                         TEXT_ARG(buffer->name));
    buffer->safe_value = e;
}

static Value annotate(Lang *l, const Bound *b)
{
    trace_need(l, b->info->surface, b->call);
    if (b->at[0].kind != VAL_DICT)
        lang_raise(l, "TypeError", b->spans[0], "%s takes a dict of buffers",
                   b->info->surface);
    const Dict *d = b->at[0].dict;
    for (int i = 0; i < d->len; i++) {
        if (d->keys[i].kind == VAL_UNBOUND)
            continue;
        if (d->keys[i].kind != VAL_BUFFER)
            lang_raise(l, "TypeError", b->spans[0],
                       "%s: a key is a buffer; found %s", b->info->surface,
                       value_type_name(d->keys[i]));
        IrBuffer *buffer = d->keys[i].buffer;
        if (b->op == OP_ANNOTATE_LAYOUT) {
            buffer->layout = layout_of(l, d->values[i], buffer, b->spans[0]);
            layout_check(l, buffer, b->spans[0]);
        } else {
            set_safe_value(l, buffer, d->values[i], b);
        }
    }
    return V_NONE;
}

static Value configs(Lang *l, const Bound *b)
{
    IrKernel *k = trace_need(l, b->info->surface, b->call)->k;
    IrAttrValue v = attr_value(l, b->at[0], b->spans[0]);
    if (b->op == OP_ANNOTATE_PASS_CONFIGS)
        k->config.pass_configs = v;
    else
        k->config.compile_flags = v;
    return V_NONE;
}

static Value loop_break(Lang *l, const Bound *b)
{
    Trace *t = trace_need(l, b->info->surface, b->call);
    if (t->loop_depth == 0)
        lang_raise(l, "SyntaxError", b->call, "T.loop_break outside a loop");
    trace_emit(l, STMT_BREAK, b->call);
    return V_NONE;
}

bool stage_call(Lang *l, const Bound *b, Value *out)
{
    switch (b->op) {
    case OP_KERNEL:
        *out = kernel(l, b);
        return true;
    case OP_CONST:
    case OP_DYNAMIC:
        *out = sizes(l, b);
        return true;
    case OP_INF:
    case OP_MAX_VALUE:
    case OP_MIN_VALUE:
        *out = limit(l, b);
        return true;
    case OP_PRIM_FUNC:
    case OP_MACRO:
        *out = prim_func(l, b);
        return true;
    case OP_DTYPE:
        *out = v_dtype(value_to_dtype(l, b->at[0], b->spans[0]));
        return true;
    case OP_LAYOUT:
        *out = layout_make(l, &b->at[0], &b->at[1], NULL, 1, b->call);
        return true;
    case OP_FRAGMENT:
        *out = fragment_make(l, b);
        return true;
    case OP_INDEX_TO_COORDINATES:
        *out = coordinates(l, b);
        return true;
    case OP_DEVICE_ASSERT:
        *out = device_assert(l, b);
        return true;
    case OP_ANNOTATE_LAYOUT:
    case OP_ANNOTATE_SAFE_VALUE:
        *out = annotate(l, b);
        return true;
    case OP_ANNOTATE_PASS_CONFIGS:
    case OP_ANNOTATE_COMPILE_FLAGS:
        *out = configs(l, b);
        return true;
    case OP_PTR:
        *out = (Value){.kind = VAL_PRIM, .prim = OP_PTR};
        return true;
    case OP_ANY_OF:
    case OP_ALL_OF:
        *out = truth_of_region(l, b);
        return true;
    case OP_LIKELY:
        *out = b->at[0];
        return true;
    case OP_LOOP_BREAK:
        *out = loop_break(l, b);
        return true;
    case OP_GET_BLOCK_BINDING:
    case OP_GET_BLOCK_BINDINGS:
    case OP_GET_BLOCK_EXTENT:
    case OP_GET_BLOCK_EXTENTS:
    case OP_GET_THREAD_EXTENT:
    case OP_GET_THREAD_EXTENTS:
        *out = launch_vars(l, b);
        return true;
    default:
        break;
    }
    return b->info->class == OPCLASS_STAGE && alloc_call(l, b, out);
}
