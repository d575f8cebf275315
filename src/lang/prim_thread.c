// prim_thread.c - T.* names of per-thread code and of Hopper's barriers:
// thread indices, shuffles, votes, warp groups, reductions over threads.
#include "lang/eval_int.h"
#include "lang/trace_int.h"

enum { WARP_GROUP = 128 };

static IrExpr *constant(Lang *l, int64_t v, Span at)
{
    return ir_int(trace_kernel(l), DT_I32, v, at);
}

static IrExpr *two(Lang *l, Op op, IrExpr *a, IrExpr *b, Span at)
{
    IrExpr *e = ir_op2(trace_kernel(l), op, a, b, at);

    trace_builder_ok(l, e, at);
    return e;
}

// ---- thread indices ---------------------------------------------------------

const IrStmt *launch_around(Lang *l, const Bound *b)
{
    Trace *t = trace_need(l, b->info->surface, b->call);

    if (!t->launch)
        lang_raise(l, "TypeError", b->call, "%s outside T.Kernel",
                   b->info->surface);
    return t->launch;
}

IrExpr *thread_dim(Lang *l, const Bound *b, int64_t dim)
{
    if (dim < 0 || dim > 2)
        lang_raise(l, "IndexError", b->call,
                   "%s(%lld): a block has the dimensions 0, 1 and 2",
                   b->info->surface, (long long)dim);
    launch_around(l, b);
    return ir_op1(trace_kernel(l), OP_GET_THREAD_BINDING,
                  constant(l, dim, b->call), b->call);
}

// The number of the thread in its block, x fastest.
IrExpr *thread_number(Lang *l, const Bound *b)
{
    const IrStmt *launch = launch_around(l, b);
    IrExpr *sum = thread_dim(l, b, 0);
    int64_t unit = launch->threads[0];

    for (int d = 1; d < 3; unit *= launch->threads[d++]) {
        IrExpr *part;

        if (launch->threads[d] == 1)
            continue;
        part = two(l, OP_MUL, thread_dim(l, b, d), constant(l, unit, b->call),
                   b->call);
        sum = two(l, OP_ADD, sum, part, b->call);
    }
    return sum;
}

static Value thread_bindings(Lang *l, const Bound *b)
{
    Value items[3];

    for (int d = 0; d < 3; d++)
        items[d] = v_expr(thread_dim(l, b, d));
    return v_list(l, items, 3);
}

static int64_t wave(Lang *l)
{
    int n = l->trace && l->trace->k->config.wave ? l->trace->k->config.wave
                                                 : 32;

    return n;
}

static int64_t positive(Lang *l, const Bound *b, int i, int64_t fallback)
{
    int64_t n = bound_int(l, b, i, fallback);

    if (n < 1 || n > 1024)
        lang_raise(l, "ValueError", b->spans[i], "%s: %.*s=%lld",
                   b->info->surface, TEXT_ARG(b->info->param[i].name),
                   (long long)n);
    return n;
}

static Value warp_index(Lang *l, const Bound *b)
{
    int64_t size = positive(l, b, 0, wave(l));
    bool lane = b->op == OP_GET_LANE_IDX;

    if (b->op == OP_GET_WARP_GROUP_IDX)
        size *= positive(l, b, 1, 4);
    return v_expr(two(l, lane ? OP_FLOORMOD : OP_FLOORDIV, thread_number(l, b),
                      constant(l, size, b->call), b->call));
}

static Value shuffle_elect(Lang *l, const Bound *b)
{
    int64_t n = bound_int(l, b, 0, 0);
    IrExpr *at = thread_number(l, b);

    if (n < 0 || n > 1024)
        lang_raise(l, "ValueError", b->spans[0], "T.shuffle_elect(%lld)",
                   (long long)n);
    if (n)
        at = two(l, OP_FLOORMOD, at, constant(l, n, b->call), b->call);
    return v_expr(two(l, OP_EQ, at, constant(l, 0, b->call), b->call));
}

// ---- shuffles and votes -----------------------------------------------------

// Parameters value, lane and width stand at the places given.
static Value shuffle(Lang *l, const Bound *b, Op op, int value, int width)
{
    Trace *t = trace_need(l, b->info->surface, b->call);
    IrExpr *args[3] = {to_expr(l, b->at[value], b->spans[value]),
                       to_expr(l, b->at[value + 1], b->spans[value + 1]),
                       constant(l, bound_int(l, b, width, wave(l)), b->call)};
    IrExpr *e = ir_op(t->k, op, args, 3, b->call);

    trace_builder_ok(l, e, b->call);
    return v_expr(e);
}

static Value unary(Lang *l, Op op, IrExpr *arg, Span at)
{
    IrExpr *e = ir_op1(trace_kernel(l), op, arg, at);

    trace_builder_ok(l, e, at);
    return v_expr(e);
}

static bool takes_predicate(Op op)
{
    return op == OP_ANY_SYNC || op == OP_ALL_SYNC || op == OP_BALLOT ||
           op == OP_BALLOT_SYNC || op == OP_SYNCTHREADS_COUNT ||
           op == OP_SYNCTHREADS_AND || op == OP_SYNCTHREADS_OR;
}

static Value vote(Lang *l, const Bound *b)
{
    IrExpr *p = b->op == OP_ACTIVEMASK ? NULL
                                       : to_expr(l, b->at[0], b->spans[0]);

    if (p && dtype_is_float(p->dtype) && takes_predicate(b->op))
        lang_raise(l, "TypeError", b->spans[0], "%s requires an integer or "
                   "boolean predicate, not %s", b->info->surface,
                   dtype_info(p->dtype)->name);
    if (b->op == OP_ACTIVEMASK)
        return unary(l, OP_BALLOT, ir_int(trace_kernel(l), DT_BOOL, 1, b->call),
                     b->call);
    return unary(l, b->op, to_expr(l, b->at[0], b->spans[0]), b->call);
}

// The bits below the lowest 1 of x, counted, and 1.
static Value first_bit(Lang *l, const Bound *b)
{
    IrKernel *k = trace_need(l, b->info->surface, b->call)->k;
    IrExpr *x = to_expr(l, b->at[0], b->spans[0]), *zero, *one, *below, *e;

    if (!dtype_is_int(x->dtype))
        lang_raise(l, "TypeError", b->spans[0], "T.__ffs of %s",
                   dtype_info(x->dtype)->name);
    zero = ir_int(k, x->dtype, 0, b->call);
    one = ir_int(k, x->dtype, 1, b->call);
    below = two(l, OP_BITAND, ir_op1(k, OP_BITNOT, x, b->call),
                two(l, OP_SUB, x, one, b->call), b->call);
    e = ir_cast(k, ir_op1(k, OP_POPCOUNT, below, b->call), DT_I32, true,
                b->call);
    e = two(l, OP_ADD, e, constant(l, 1, b->call), b->call);
    e = ir_select(k, two(l, OP_NE, x, zero, b->call), e,
                  constant(l, 0, b->call), b->call);
    trace_builder_ok(l, e, b->call);
    return v_expr(e);
}

// Whether bit p is the one: it is 1, and `count` bits that are 1 stand from base
// to it, it and base among them.
static IrExpr *is_nth(Lang *l, IrExpr *mask, IrExpr *base, IrExpr *count, int p,
                      bool up, Span at)
{
    IrKernel *k = trace_kernel(l);
    IrExpr *place = constant(l, p, at), *low, *high, *is;
    uint32_t to = up ? UINT32_MAX >> (31 - p) : UINT32_MAX << p;

    // the bits from base on, or up to base, of those on the same side of p
    low = ir_int(k, DT_U32, to, at);
    high = up ? two(l, OP_SHL, ir_int(k, DT_U32, UINT32_MAX, at),
                    ir_cast(k, base, DT_U32, true, at), at)
              : two(l, OP_SHR, ir_int(k, DT_U32, UINT32_MAX, at),
                    ir_cast(k, two(l, OP_SUB, constant(l, 31, at), base, at),
                            DT_U32, true, at), at);
    is = ir_op1(k, OP_POPCOUNT, two(l, OP_BITAND, mask,
                                    two(l, OP_BITAND, low, high, at), at), at);
    is = two(l, OP_EQ, ir_cast(k, is, DT_I32, true, at), count, at);
    is = two(l, OP_AND, is, two(l, up ? OP_GE : OP_LE, place, base, at), at);
    return two(l, OP_AND, is,
               two(l, OP_NE, two(l, OP_BITAND, mask,
                                 ir_int(k, DT_U32, (int64_t)1 << p, at), at),
                   ir_int(k, DT_U32, 0, at), at), at);
}

static IrExpr *frozen_as(Lang *l, const Bound *b, int i, DType t)
{
    IrExpr *e = ir_cast(trace_kernel(l), to_expr(l, b->at[i], b->spans[i]), t,
                        true, b->call);

    trace_builder_ok(l, e, b->call);
    return to_expr(l, trace_freeze(l, TEXT("bits"), e, b->call), b->call);
}

// Offset 0 is the bit at base itself.
static Value nth_bit(Lang *l, const Bound *b)
{
    IrKernel *k = trace_need(l, b->info->surface, b->call)->k;
    IrExpr *mask = frozen_as(l, b, 0, DT_U32), *base, *offset, *down, *none;
    IrExpr *itself, *out;

    base = frozen_as(l, b, 1, DT_I32);
    offset = frozen_as(l, b, 2, DT_I32);
    down = two(l, OP_SUB, constant(l, 0, b->call), offset, b->call);
    none = out = ir_int(k, DT_U32, UINT32_MAX, b->call);
    for (int p = 0; p < 32; p++) {
        IrExpr *here = ir_int(k, DT_U32, p, b->call);

        out = ir_select(k, is_nth(l, mask, base, offset, p, true, b->call),
                        here, out, b->call);
        out = ir_select(k, is_nth(l, mask, base, down, p, false, b->call),
                        here, out, b->call);
    }
    itself = two(l, OP_BITAND, two(l, OP_SHR, mask,
                                   ir_cast(k, base, DT_U32, true, b->call),
                                   b->call), ir_int(k, DT_U32, 1, b->call),
                 b->call);
    itself = ir_select(k, ir_truth(k, itself, b->call),
                       ir_cast(k, base, DT_U32, true, b->call), none, b->call);
    out = ir_select(k, two(l, OP_EQ, offset, constant(l, 0, b->call), b->call),
                    itself, out, b->call);
    trace_builder_ok(l, out, b->call);
    return v_expr(out);
}

// T.let(v, value), v being what v = T.int32() declared.
static void let(Lang *l, const Bound *b)
{
    const Value v = b->at[0];

    if (v.kind != VAL_EXPR || v.expr->kind != EXPR_VAR
        || v.expr->var->kind != VAR_LET)
        lang_raise(l, "TypeError", b->spans[0], "T.let takes a variable such "
                   "as v = T.int32()");
    IrStmt *s = ir_let(trace_kernel(l), TEXT("v"),
                       ir_cast(l->trace->k, to_expr(l, b->at[1], b->spans[1]),
                               v.expr->dtype, true, b->call), b->call);
    s->var = v.expr->var;
    trace_add(l, s);
}

// ---- scopes: T.ws, T.attr ---------------------------------------------------

static Value scope_of(Lang *l, IrExpr *guard, Span at)
{
    LoopFrame *f = new (lang_arena(l), LoopFrame);

    f->at = at;
    f->is_scope = true;
    f->guard = guard;
    return (Value){.kind = VAL_LOOPFRAME, .loop = f};
}

static Value warp_groups(Lang *l, const Bound *b)
{
    const IrStmt *launch = launch_around(l, b);
    int64_t groups = launch->threads[0] * launch->threads[1]
                     * launch->threads[2] / WARP_GROUP;
    IrExpr *at = two(l, OP_FLOORDIV, thread_number(l, b),
                     constant(l, WARP_GROUP, b->call), b->call), *any = NULL;

    if (!b->rest_count)
        lang_raise(l, "TypeError", b->call, "T.ws needs a warp group");
    for (int i = 0; i < b->rest_count; i++) {
        int64_t g = value_to_int(l, b->rest[i], "T.ws", b->call);
        IrExpr *is;

        if (g < 0 || g >= groups)
            lang_raise(l, "ValueError", b->call,
                       "T.ws(%lld): a block of %lld threads has %lld warp "
                       "group%s of 128", (long long)g,
                       (long long)(launch->threads[0] * launch->threads[1]
                                   * launch->threads[2]),
                       (long long)groups, groups == 1 ? "" : "s");
        is = two(l, OP_EQ, at, constant(l, g, b->call), b->call);
        any = any ? two(l, OP_OR, any, is, b->call) : is;
    }
    return scope_of(l, any, b->call);
}

// T.comm_reducer(lambda x, y: ..., [identity]): the operation it stands for.
static Value comm_reducer(Lang *l, const Bound *b)
{
    IrKernel *k = trace_need(l, "T.comm_reducer", b->call)->k;
    Value args[2];
    Args call = {.at = args, .count = 2, .at_span = b->call};
    IrExpr *e;

    for (int i = 0; i < 2; i++)
        args[i] = v_expr(ir_use(k, ir_var(k, VAR_LET, i ? TEXT("y") : TEXT("x"),
                                          DT_F32, b->call), b->call));
    e = to_expr(l, call_value(l, b->at[0], &call), b->call);
    if (e->kind == EXPR_OP && e->count == 2 && e->args[0] != e->args[1]
        && e->args[0]->kind == EXPR_VAR && e->args[1]->kind == EXPR_VAR)
        switch (e->op) {
        case OP_ADD:
        case OP_MUL:
        case OP_MAX:
        case OP_MIN:
            return (Value){.kind = VAL_PRIM, .prim = e->op};
        default:
            break;
        }
    lang_unsupported(l, b->call, "a T.comm_reducer other than x + y, x * y, "
                     "T.max and T.min");
}

static Value attr_scope(Lang *l, const Bound *b)
{
    Trace *t = trace_need(l, "T.attr", b->call);

    if (b->at[0].kind == VAL_PRIM && b->at[1].kind == VAL_STR
        && text_is(b->at[1].s, "reduce_scope"))
        t->reducer = b->at[0].prim;
    return scope_of(l, NULL, b->call);
}

static Text reducer_name(Op op)
{
    return op == OP_MAX   ? TEXT("max")
           : op == OP_MIN ? TEXT("min")
           : op == OP_MUL ? TEXT("mul")
                          : TEXT("add");
}

// The bits of the thread dimensions that are reduced over.
static int64_t axes_of(Lang *l, const Bound *b)
{
    int64_t axes = 0;

    for (int i = 4; i < 7; i++) {
        Value v = b->at[i];
        const IrExpr *e = v.kind == VAL_EXPR ? v.expr : NULL;

        if (!bound_given(b, i))
            continue;
        if (!e || e->kind != EXPR_OP || e->op != OP_GET_THREAD_BINDING)
            lang_unsupported(l, b->spans[i], "T.tvm_thread_allreduce over "
                             "something other than a thread index");
        axes |= INT64_C(1) << e->args[0]->i64;
    }
    return axes;
}

static Value all_reduce(Lang *l, const Bound *b)
{
    Trace *t = trace_need(l, b->info->surface, b->call);
    IrStmt *s = ir_tile(t->k, b->op, b->call);

    s->operand[1] = (IrOperand){.kind = OPERAND_EXPR,
                                .expr = to_expr(l, b->at[1], b->spans[1])};
    s->operand[3] = (IrOperand){.kind = OPERAND_REGION,
                                .region = to_region(l, b->at[3], b->spans[3])};
    if (s->operand[3].region->form != REGION_POINT)
        lang_raise(l, "TypeError", b->spans[3],
                   "the result of T.tvm_thread_allreduce is one element");
    prim_attr(l, s, ATTR_OP, v_str(reducer_name(t->reducer)), b->call);
    prim_attr(l, s, ATTR_AXES, v_int(axes_of(l, b)), b->call);
    trace_add(l, s);
    return V_NONE;
}

// ---- memory of single threads -----------------------------------------------

// An element as its pointer: what takes pointers takes a region here.
static Value pointer(Lang *l, const Bound *b)
{
    IrRegion *r = to_region(l, b->at[0], b->spans[0]);
    IrRegion *at = first_element(l, r);
    int last = r->buffer->rank - 1;
    IrExpr *e;

    if (b->op == OP_ACCESS_PTR && bound_given(b, 3))
        at->min[last] = two(l, OP_ADD, r->min[last],
                            to_expr(l, b->at[3], b->spans[3]), b->call);
    e = ir_load(l->trace->k, at->buffer, at->min, at->buffer->rank, b->call);
    trace_builder_ok(l, e, b->call);
    return (Value){.kind = VAL_REGION, .region = at};
}

static IrExpr *moved_load(Lang *l, const Bound *b, const IrRegion *r,
                          int64_t by)
{
    IrExpr *index[IR_MAX_RANK], *e;
    int last = r->buffer->rank - 1;

    for (int d = 0; d <= last; d++)
        index[d] = r->min[d];
    index[last] = two(l, OP_ADD, r->min[last], constant(l, by, b->call),
                      b->call);
    e = ir_load(l->trace->k, r->buffer, index, r->buffer->rank, b->call);
    trace_builder_ok(l, e, b->call);
    return ir_cast(l->trace->k, e, DT_I32, true, b->call);
}

// C += a0 b0 + a1 b1 + a2 b2 + a3 b3 in int32.
static Value dp4a(Lang *l, const Bound *b)
{
    Trace *t = trace_need(l, b->info->surface, b->call);
    IrRegion *r[3];
    IrExpr *sum;

    for (int i = 0; i < 3; i++) {
        r[i] = to_region(l, b->at[i], b->spans[i]);
        if (r[i]->buffer->dtype != (i < 2 ? DT_I8 : DT_I32))
            lang_raise(l, "ValueError", b->spans[i],
                       "T.dp4a requires int8, int8 and int32; '%.*s' is %s",
                       TEXT_ARG(r[i]->buffer->name),
                       dtype_info(r[i]->buffer->dtype)->name);
    }
    sum = moved_load(l, b, r[2], 0);
    for (int i = 0; i < 4; i++)
        sum = two(l, OP_ADD, sum,
                  two(l, OP_MUL, moved_load(l, b, r[0], i),
                      moved_load(l, b, r[1], i), b->call), b->call);
    (void)t;
    store_element(l, r[2]->buffer, r[2]->min, sum, b->call);
    return V_NONE;
}

static Value ldg(Lang *l, const Bound *b)
{
    IrRegion *r = to_region(l, b->at[0], b->spans[0]);
    IrExpr *index[IR_MAX_RANK], *e;

    for (int d = 0; d < r->buffer->rank; d++)
        index[d] = r->min[d];
    if (bound_given(b, 1))
        index[r->buffer->rank - 1] = to_expr(l, b->at[1], b->spans[1]);
    e = ir_load(l->trace->k, r->buffer, index, r->buffer->rank, b->call);
    trace_builder_ok(l, e, b->call);
    return v_expr(e);
}

// ---- statements -------------------------------------------------------------

// A barrier by its name alone is its first element.
static Value first_of(Lang *l, Value v, Span at)
{
    IrExpr *zero = constant(l, 0, at);

    if (v.kind != VAL_BUFFER || v.buffer->scope != SCOPE_BARRIER)
        return v;
    return v_expr(ir_load(l->trace->k, v.buffer, &zero, 1, at));
}

// Blocks stand alone: nothing reaches the others of a cluster.
static void refuse_cluster(Lang *l, const Bound *b)
{
    for (int i = 0; i < b->info->param_count; i++) {
        Text name = b->info->param[i].name;
        bool reaches = text_is(name, "cluster_mask") || text_is(name, "cta_id");

        if (reaches && bound_given(b, i) && b->at[i].kind != VAL_NONE
            && !(b->at[i].kind == VAL_INT && b->at[i].i == 0))
            lang_unsupported(l, b->spans[i], "%s(%.*s=...), for clusters of "
                             "blocks", b->info->surface, TEXT_ARG(name));
    }
}

static Value thread_stmt(Lang *l, Bound *b)
{
    refuse_cluster(l, b);
    trace_need(l, b->info->surface, b->call);
    for (int i = 0; i < b->info->param_count; i++)
        b->at[i] = first_of(l, b->at[i], b->spans[i]);
    trace_add(l, tile_stmt(l, b));
    return V_NONE;
}

bool thread_call(Lang *l, Bound *b, Value *out)
{
    switch (b->op) {
    case OP_GET_THREAD_BINDING:
        *out = v_expr(thread_dim(l, b, bound_int(l, b, 0, 0)));
        return true;
    case OP_GET_THREAD_BINDINGS:
        *out = thread_bindings(l, b);
        return true;
    case OP_THREAD_BINDING:
    case OP_LAUNCH_THREAD:
        *out = axis_call(l, b);
        return true;
    case OP_GET_LANE_IDX:
    case OP_GET_WARP_IDX:
    case OP_GET_WARP_IDX_SYNC:
    case OP_GET_WARP_GROUP_IDX:
        *out = warp_index(l, b);
        return true;
    case OP_SHUFFLE_ELECT:
        *out = shuffle_elect(l, b);
        return true;
    case OP_SHFL_SYNC:
    case OP_SHFL_XOR:
    case OP_SHFL_UP:
    case OP_SHFL_DOWN:
        *out = shuffle(l, b, b->op, 0, 2);
        return true;
    case OP_TVM_WARP_SHUFFLE:
        *out = shuffle(l, b, OP_SHFL_SYNC, 1, 3);
        return true;
    case OP_TVM_WARP_SHUFFLE_UP:
        *out = shuffle(l, b, OP_SHFL_UP, 1, 3);
        return true;
    case OP_TVM_WARP_SHUFFLE_DOWN:
        *out = shuffle(l, b, OP_SHFL_DOWN, 1, 3);
        return true;
    case OP_WS:
        *out = warp_groups(l, b);
        return true;
    case OP_COMM_REDUCER:
        *out = comm_reducer(l, b);
        return true;
    case OP_ATTR:
        *out = attr_scope(l, b);
        return true;
    case OP_LET:
        trace_need(l, b->info->surface, b->call);
        let(l, b);
        return true;
    case OP_SBLOCK:
        *out = scope_of(l, NULL, b->call);
        return true;
    case OP_TVM_THREAD_ALLREDUCE:
        *out = all_reduce(l, b);
        return true;
    case OP_ACCESS_PTR:
    case OP_ADDRESS_OF:
        *out = pointer(l, b);
        return true;
    case OP_CALL_EXTERN:
        *out = extern_call(l, b);
        return true;
    case OP_IMPORT_SOURCE:
        *out = import_source(l, b);
        return true;
    case OP_DP4A:
        *out = dp4a(l, b);
        return true;
    case OP_LDG:
        *out = ldg(l, b);
        return true;
    case OP_FNS:
        *out = nth_bit(l, b);
        return true;
    case OP_FFS:
        *out = first_bit(l, b);
        return true;
    case OP_FUNC_ATTR:
    case OP_READS:
    case OP_WRITES:
        return true;
    case OP_ACTIVEMASK:
        *out = vote(l, b);
        return true;
    default:
        break;
    }
    if (random_call(l, b, out))
        return true;
    if (b->info->class != OPCLASS_SIMT && b->info->class != OPCLASS_ARCH)
        return false;
    *out = ir_op_arity(b->op) == 1 ? vote(l, b) : thread_stmt(l, b);
    return true;
}
