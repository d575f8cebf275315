// prim_alloc.c - T.alloc_*, T.empty, views: calls that make a buffer.
#include <math.h>

#include "lang/trace_int.h"

List *shape_list(Lang *l, Value v, Span at)
{
    if (v.kind == VAL_LIST || v.kind == VAL_TUPLE)
        return v.list;
    if (v.kind == VAL_INT || v.kind == VAL_EXPR)
        return v_tuple(l, &v, 1).list;
    lang_raise(l, "TypeError", at, "a shape is a list of sizes; found %s",
               value_type_name(v));
}

static IrScope scope_named(Lang *l, Value v, IrScope fallback, Span at)
{
    if (v.kind == VAL_UNBOUND || v.kind == VAL_NONE)
        return fallback;
    for (IrScope s = SCOPE_GLOBAL; s <= SCOPE_REDUCER; s++)
        if (v.kind == VAL_STR && text_is(v.s, ir_scope_name(s)))
            return s;
    lang_unsupported(l, at, "memory scope %.*s",
                     v.kind == VAL_STR ? (int)v.s.len : 1,
                     v.kind == VAL_STR ? v.s.at : "?");
}

// Elements of a vector dtype lie side by side: the last size counts lanes. As a
// whole such a tensor can be copied, filled and added to; it has no subscripts.
static void set_dtype(Lang *l, TensorSpec *spec, List *shape, Value dtype,
                      Span at)
{
    spec->shape = shape;
    spec->dtype = DT_F32;
    if (dtype.kind == VAL_VECTYPE && shape->len) {
        List *wide = v_tuple(l, shape->at, shape->len).list;
        Value *last = &wide->at[wide->len - 1];

        *last = binary_op(l, AST_OP_MUL, *last, v_int(dtype.vec.lanes), at);
        spec->shape = wide;
        spec->lanes = dtype.vec.lanes;
        spec->dtype = dtype.vec.dtype;
    } else if (dtype.kind != VAL_UNBOUND) {
        spec->dtype = value_to_dtype(l, dtype, at);
    }
}

static IrBuffer *make_of(Lang *l, List *shape, Value dtype, Span dtype_at,
                         IrScope scope, Span at)
{
    TensorSpec spec = {.scope = scope, .at = at};

    set_dtype(l, &spec, shape, dtype, dtype_at);
    return trace_tensor(l, &spec, (Text){0}, at);
}

static IrBuffer *make(Lang *l, const List *shape, DType t, IrScope scope,
                      Span at)
{
    TensorSpec spec = {.shape = (List *)shape, .dtype = t, .scope = scope,
                       .at = at};
    if (!dtype_info(t)->built)
        lang_unsupported(l, at, "buffers of dtype %s", dtype_info(t)->name);
    return trace_tensor(l, &spec, (Text){0}, at);
}

static void check_static(Lang *l, const IrBuffer *b, const char *what, Span at)
{
    int64_t n;
    for (int d = 0; d < b->rank; d++)
        if (!ir_is_int(b->shape[d], &n))
            lang_raise(l, "ValueError", at,
                       "%s needs sizes that are known while staging; "
                       "dimension %d is not", what, d);
}

static IrStmt *alloc_stmt(Lang *l, IrBuffer *b, Span at)
{
    IrStmt *s = ir_stmt(l->trace->k, STMT_ALLOC, at);

    s->buffer = b;
    return s;
}

static bool varies_visit(void *ctx, IrExpr *e)
{
    if (e->kind == EXPR_LOAD
        || (e->kind == EXPR_VAR && e->var->kind != VAR_SYMBOL
            && e->var->kind != VAR_PARAM))
        *(bool *)ctx = true;
    return true;
}

// A workspace belongs to the whole run, wherever it is written.
static void alloc_workspace(Lang *l, IrBuffer *buffer, const Bound *b)
{
    Trace *t = l->trace;
    bool varies = false;

    for (int d = 0; d < buffer->rank; d++)
        ir_walk_expr(buffer->shape[d], varies_visit, &varies);
    if (varies)
        lang_raise(l, "ValueError", b->call,
                   "the sizes of a T.alloc_global cannot depend on what the "
                   "kernel computes");
    ir_append(t->k, t->launch ? t->k->body : t->block,
              alloc_stmt(l, buffer, b->call));
}

static Value alloc_tile(Lang *l, const Bound *b, IrScope fallback)
{
    trace_need(l, b->info->surface, b->call);
    int at = op_param_find(b->info, TEXT("scope"));
    Value named = at < 0 ? (Value){0} : b->at[at];
    IrScope scope = scope_named(l, named, fallback, b->call);
    IrBuffer *buffer = make_of(l, shape_list(l, b->at[0], b->spans[0]),
                               bound_given(b, 1) ? b->at[1] : (Value){0},
                               b->spans[1], scope, b->call);
    if (buffer->dtype == DT_BOOL && scope == SCOPE_SHARED)
        scope = buffer->scope = SCOPE_SHARED_STATIC;
    if (scope == SCOPE_GLOBAL) {
        alloc_workspace(l, buffer, b);
        return v_buffer(buffer);
    }
    check_static(l, buffer, b->info->surface, b->call);
    if (scope == SCOPE_REDUCER)
        return alloc_reducer(l, b, buffer);
    trace_add(l, alloc_stmt(l, buffer, b->call));
    return v_buffer(buffer);
}

// A variable that is 0 when the kernel starts.
static Value zero_var(Lang *l, IrBuffer *var, Span at)
{
    IrExpr *zero = ir_int(l->trace->k, DT_I32, 0, at);

    trace_first(l, alloc_stmt(l, var, at));
    trace_first(l, ir_store(l->trace->k, var, &zero, 1, zero, at));
    return v_buffer(var);
}

static Value lane_var(Lang *l, DType t, Span at)
{
    Value one = v_int(1);

    return zero_var(l, make(l, v_tuple(l, &one, 1).list, t, SCOPE_VAR, at), at);
}

// T.alloc_var(dtype[, init][, scope], init=, scope=)
//
// Without init it is 0 once, when the kernel starts: inside a loop it keeps
// its value from one turn to the next.
static Value alloc_var(Lang *l, const Bound *b)
{
    trace_need(l, b->info->surface, b->call);
    Value init = {0}, scope = {0}, one = v_int(1);
    for (int i = 0; i < b->rest_count; i++)
        *(b->rest[i].kind == VAL_STR ? &scope : &init) = b->rest[i];
    for (int i = 0; i < b->info->param_count; i++) {
        if (text_is(b->info->param[i].name, "init") && bound_given(b, i))
            init = b->at[i];
        if (text_is(b->info->param[i].name, "scope") && bound_given(b, i))
            scope = b->at[i];
    }
    if (b->at[0].kind == VAL_VECTYPE && init.kind == VAL_UNBOUND)
        return vector_of_vars(l, b->at[0], lane_var, b->call);
    DType t = value_to_dtype(l, b->at[0], b->spans[0]);
    IrBuffer *var = make(l, v_tuple(l, &one, 1).list, t,
                         scope_named(l, scope, SCOPE_VAR, b->call), b->call);
    IrExpr *zero = ir_int(l->trace->k, DT_I32, 0, b->call);
    if (init.kind == VAL_UNBOUND)
        return zero_var(l, var, b->call);
    if (init.kind == VAL_FLOAT && isfinite(init.f) && dtype_is_float(t)
        && fabs(init.f) > dtype_info(t)->max_finite)
        lang_raise(l, "ValueError", b->call, "%g exceeds maximum of %s",
                   init.f, dtype_info(t)->name);
    trace_add(l, alloc_stmt(l, var, b->call));
    store_element(l, var, &zero, to_expr(l, init, b->call), b->call);
    return v_buffer(var);
}

// T.alloc_barrier(n), T.alloc_barrier([n0, n1, ...])
static Value alloc_barrier(Lang *l, const Bound *b)
{
    trace_need(l, b->info->surface, b->call);
    Value one = b->at[0];
    List *counts = one.kind == VAL_LIST || one.kind == VAL_TUPLE
                       ? one.list : v_tuple(l, &one, 1).list;
    Value n = v_int(counts->len);
    if (counts->len == 0)
        lang_raise(l, "ValueError", b->spans[0], "T.alloc_barrier([]): no "
                   "barrier");
    for (int i = 0; i < counts->len; i++)
        if (value_to_int(l, counts->at[i], "arrive_count", b->spans[0]) < 1)
            lang_raise(l, "ValueError", b->spans[0], "a barrier waits for at "
                       "least one arrival, not %lld",
                       (long long)counts->at[i].i);
    IrBuffer *buffer = make(l, v_tuple(l, &n, 1).list, DT_U64, SCOPE_BARRIER,
                            b->call);
    IrStmt *s = alloc_stmt(l, buffer, b->call);
    prim_attr(l, s, ATTR_ARRIVALS, (Value){.kind = VAL_LIST, .list = counts},
              b->spans[0]);
    trace_add(l, s);
    return v_buffer(buffer);
}

// T.empty(shape, dtype), T.empty(d0, d1, dtype=...)
static Value empty(Lang *l, const Bound *b)
{
    Trace *t = trace_need(l, b->info->surface, b->call);
    if (!t->eager)
        lang_raise(l, "TypeError", b->call,
                   "T.empty makes the output of a kernel");
    Value dtype = b->at[1];
    List *shape;
    int n = b->rest_count;
    if (n == 0)
        lang_raise(l, "TypeError", b->call, "T.empty() needs a shape");
    if (b->rest[0].kind == VAL_LIST || b->rest[0].kind == VAL_TUPLE) {
        shape = b->rest[0].list;
        if (n > 1)
            dtype = b->rest[1];
    } else {
        if (b->rest[n - 1].kind == VAL_DTYPE
            || b->rest[n - 1].kind == VAL_VECTYPE
            || b->rest[n - 1].kind == VAL_STR)
            dtype = b->rest[--n];
        shape = v_tuple(l, b->rest, n).list;
    }
    IrBuffer *out = make_of(l, shape, dtype, b->call, SCOPE_GLOBAL,
                            b->call);
    ir_param(t->k, TEXT(""), out, NULL);
    return v_buffer(out);
}

// ---- views ------------------------------------------------------------------------

static bool static_bits(const IrBuffer *b, int64_t *bits)
{
    int64_t total = dtype_info(b->dtype)->bits, n;
    for (int d = 0; d < b->rank; d++)
        if (!ir_is_int(b->shape[d], &n)
            || __builtin_mul_overflow(total, n, &total))
            return false;
    *bits = total;
    return true;
}

static Value view_of(Lang *l, IrBuffer *src, const List *shape, DType t,
                     Span at)
{
    int64_t have, want;
    IrBuffer *v = make(l, shape, t, src->scope, at);
    if (static_bits(src, &have) && static_bits(v, &want) && have != want)
        lang_raise(l, "AssertionError", at,
                   "a view of '%.*s' must have its size: %lld bits, not %lld",
                   TEXT_ARG(src->name), (long long)have, (long long)want);
    v->alias_of = src;
    return v_buffer(v);
}

static List *own_shape(Lang *l, const IrBuffer *b)
{
    Value items[IR_MAX_RANK];
    for (int d = 0; d < b->rank; d++)
        items[d] = v_expr(b->shape[d]);
    return v_tuple(l, items, b->rank).list;
}

// A view under another dtype alone scales the last size.
static List *recast_shape(Lang *l, const IrBuffer *b, DType t, Span at)
{
    List *shape = own_shape(l, b);
    int from = dtype_info(b->dtype)->bits, to = dtype_info(t)->bits;
    int64_t n;
    if (from == to)
        return shape;
    if (!ir_is_int(b->shape[b->rank - 1], &n) || n * from % to)
        lang_raise(l, "ValueError", at,
                   "the last size of '%.*s' does not make whole %s elements",
                   TEXT_ARG(b->name), dtype_info(t)->name);
    shape->at[b->rank - 1] = v_int(n * from / to);
    return shape;
}

static IrBuffer *buffer_arg(Lang *l, Value v, const char *what, Span at)
{
    if (v.kind != VAL_BUFFER)
        lang_raise(l, "TypeError", at, "%s takes a buffer; found %s", what,
                   value_type_name(v));
    return v.buffer;
}

static Value view(Lang *l, const Bound *b)
{
    trace_need(l, b->info->surface, b->call);
    IrBuffer *src = buffer_arg(l, b->at[0], b->info->surface, b->spans[0]);
    DType t = b->op == OP_VIEW && bound_given(b, 2)
                  ? value_to_dtype(l, b->at[2], b->spans[2]) : src->dtype;
    List *shape = bound_given(b, 1) ? shape_list(l, b->at[1], b->spans[1])
                                    : recast_shape(l, src, t, b->call);
    return view_of(l, src, shape, t, b->call);
}

// ---- annotations ---------------------------------------------------------------------

static IrScope spec_scope(Op op)
{
    return op == OP_FRAGMENT_BUFFER ? SCOPE_FRAGMENT
           : op == OP_SHARED_BUFFER ? SCOPE_SHARED
           : op == OP_LOCAL_BUFFER  ? SCOPE_LOCAL
                                    : SCOPE_GLOBAL;
}

static Value tensor_spec(Lang *l, Op op, List *shape, List *strides, Value dtype,
                         Span at)
{
    TensorSpec *spec = new (lang_arena(l), TensorSpec);
    set_dtype(l, spec, shape, dtype, at);
    spec->strides = strides;
    if (!dtype_info(spec->dtype)->built)
        lang_unsupported(l, at, "tensors of dtype %s",
                         dtype_info(spec->dtype)->name);
    spec->scope = spec_scope(op);
    spec->at = at;
    return (Value){.kind = VAL_TENSORSPEC, .spec = spec};
}

static Value tensor(Lang *l, const Bound *b)
{
    List *shape = shape_list(l, b->at[0], b->spans[0]);
    if (b->op == OP_STRIDED_TENSOR)
        return tensor_spec(l, b->op, shape,
                           shape_list(l, b->at[1], b->spans[1]), b->at[2],
                           b->call);
    if (b->info->param_count > 2 && bound_given(b, 2)) {
        IrBuffer *src = buffer_arg(l, b->at[2], b->info->surface, b->spans[2]);
        DType t = bound_given(b, 1) ? value_to_dtype(l, b->at[1], b->spans[1])
                                    : src->dtype;
        return view_of(l, src, shape, t, b->call);
    }
    return tensor_spec(l, b->op, shape, NULL, b->at[1], b->call);
}

// T.Tensor[[M, N], dtype], T.Tensor[(shape), dtype]
Value prim_getitem(Lang *l, Op op, Value index, Span at)
{
    const OpInfo *info = op_info(l->options.ops, op);
    if (op == OP_STRIDED_TENSOR && index.kind == VAL_TUPLE
        && (index.list->len == 2 || index.list->len == 3))
        return tensor_spec(l, op, shape_list(l, index.list->at[0], at),
                           shape_list(l, index.list->at[1], at),
                           index.list->len > 2 ? index.list->at[2]
                                               : (Value){0}, at);
    if (op != OP_TENSOR && op != OP_BUFFER)
        lang_raise(l, "TypeError", at, "'%s' cannot be subscripted",
                   info->surface);
    if (index.kind != VAL_TUPLE || index.list->len < 2)
        return tensor_spec(l, op, shape_list(l, index, at), NULL, (Value){0},
                           at);
    int n = index.list->len;
    Value last = index.list->at[n - 1], first = index.list->at[0];
    bool typed = last.kind == VAL_DTYPE || last.kind == VAL_VECTYPE
                 || last.kind == VAL_STR
                 || last.kind == VAL_PRIM;
    if (!typed)
        return tensor_spec(l, op, index.list, NULL, (Value){0}, at);
    if (n == 2)
        return tensor_spec(l, op, shape_list(l, first, at), NULL, last, at);
    return tensor_spec(l, op, v_tuple(l, index.list->at, n - 1).list, NULL,
                       last, at);
}

// T.make_tensor(ptr, shape, dtype, strides): ptr is a parameter, or an address
// read from a tensor of them.
static Value tensor_at(Lang *l, const Bound *b)
{
    Trace *t = trace_need(l, b->info->surface, b->call);
    TensorSpec spec = {.shape = shape_list(l, b->at[1], b->spans[1]),
                       .dtype = bound_given(b, 2)
                                    ? value_to_dtype(l, b->at[2], b->spans[2])
                                    : DT_F32,
                       .scope = SCOPE_GLOBAL, .at = b->call};
    IrExpr *address = to_expr(l, b->at[0], b->spans[0]);

    if (!dtype_is_int(address->dtype))
        lang_raise(l, "TypeError", b->spans[0],
                   "%s takes a T.ptr or an address (int64), not %s",
                   b->info->surface, dtype_info(address->dtype)->name);
    if (bound_given(b, 3))
        spec.strides = shape_list(l, b->at[3], b->spans[3]);
    IrBuffer *buffer = trace_tensor(l, &spec, (Text){0}, b->call);
    IrStmt *s = alloc_stmt(l, buffer, b->call);
    buffer->pointed = true;
    s->value = ir_cast(t->k, address, DT_I64, true, b->call);
    trace_add(l, s);
    return v_buffer(buffer);
}

// T.match_buffer(param, shape, dtype): the T.handle is this tensor.
static Value match_buffer(Lang *l, const Bound *b)
{
    IrKernel *k = trace_need(l, b->info->surface, b->call)->k;
    TensorSpec spec = {.shape = shape_list(l, b->at[1], b->spans[1]),
                       .dtype = bound_given(b, 2)
                                    ? value_to_dtype(l, b->at[2], b->spans[2])
                                    : DT_F32,
                       .scope = SCOPE_GLOBAL, .at = b->call};
    Value v = b->at[0];

    if (bound_given(b, 4))
        spec.strides = shape_list(l, b->at[4], b->spans[4]);
    for (int i = 0; i < k->param_count; i++) {
        IrParam *p = &k->params[i];

        if (!p->pointer || v.kind != VAL_EXPR || v.expr->kind != EXPR_VAR
            || v.expr->var != p->var)
            continue;
        *p = (IrParam){.name = p->name,
                       .buffer = trace_tensor(l, &spec, p->name, b->call)};
        p->buffer->param = i;
        return v_buffer(p->buffer);
    }
    lang_raise(l, "TypeError", b->spans[0], "%s takes a T.handle parameter "
               "that is matched nowhere else", b->info->surface);
}

bool alloc_call(Lang *l, const Bound *b, Value *out)
{
    switch (b->op) {
    case OP_ALLOC_SHARED:
        *out = alloc_tile(l, b, SCOPE_SHARED);
        return true;
    case OP_ALLOC_FRAGMENT:
        *out = alloc_tile(l, b, SCOPE_FRAGMENT);
        return true;
    case OP_ALLOC_LOCAL:
        *out = alloc_tile(l, b, SCOPE_LOCAL);
        return true;
    case OP_ALLOC_REDUCER:
        *out = alloc_tile(l, b, SCOPE_REDUCER);
        return true;
    case OP_ALLOC_BUFFER:
    case OP_ALLOC_GLOBAL:
        *out = alloc_tile(l, b, SCOPE_GLOBAL);
        return true;
    case OP_ALLOC_VAR:
        *out = alloc_var(l, b);
        return true;
    case OP_ALLOC_BARRIER:
        *out = alloc_barrier(l, b);
        return true;
    case OP_EMPTY:
        *out = empty(l, b);
        return true;
    case OP_TENSOR:
    case OP_BUFFER:
    case OP_STRIDED_TENSOR:
    case OP_FRAGMENT_BUFFER:
    case OP_SHARED_BUFFER:
    case OP_LOCAL_BUFFER:
        *out = tensor(l, b);
        return true;
    case OP_MAKE_TENSOR:
    case OP_MAKE_TENSOR_FROM_ADDR:
        *out = tensor_at(l, b);
        return true;
    case OP_MATCH_BUFFER:
        *out = match_buffer(l, b);
        return true;
    case OP_RESHAPE:
    case OP_VIEW:
        *out = view(l, b);
        return true;
    default:
        return false;
    }
}
