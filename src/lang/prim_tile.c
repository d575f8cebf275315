// prim_tile.c - T.* statements on regions: copies, reductions, atomics,
// reducers.
#include "lang/trace_int.h"

// ---- operands ----------------------------------------------------------------

// A number where these take a region too; others take a name for an element
// as the region that starts there.
static bool is_scalar(Op op, Value v)
{
    if (op != OP_PRINT && !op_is_atomic(op))
        return false;
    return v.kind == VAL_INT || v.kind == VAL_FLOAT || v.kind == VAL_BOOL
           || (v.kind == VAL_EXPR && v.expr->kind != EXPR_LOAD);
}

// The first element of a region, for what takes an address.
IrRegion *first_element(Lang *l, IrRegion *r)
{
    IrRegion *p = new (lang_arena(l), IrRegion);

    *p = *r;
    p->form = REGION_POINT;
    for (int d = 0; d < r->buffer->rank; d++) {
        p->extent[d] = NULL;
        p->step[d] = 1;
    }
    return p;
}

static bool takes_address(Op op)
{
    return op == OP_ATOMIC_ADDX2 || op == OP_ATOMIC_ADDX4;
}

static IrOperand operand_of(Lang *l, Op op, const OpParam *p, Value v, Span at)
{
    if (p->kind == ARG_EXPR || (p->access == 'r' && is_scalar(op, v)))
        return (IrOperand){.kind = OPERAND_EXPR, .expr = to_expr(l, v, at)};
    IrRegion *r = to_region(l, v, at);
    if (takes_address(op))
        r = first_element(l, r);
    return (IrOperand){.kind = OPERAND_REGION, .region = r};
}

IrStmt *tile_stmt(Lang *l, const Bound *b)
{
    trace_need(l, b->info->surface, b->call);
    IrStmt *s = ir_tile(l->trace->k, b->op, b->call);
    for (int i = 0; i < b->info->param_count; i++)
        if (bound_given(b, i) && op_param_is_operand(&b->info->param[i]))
            s->operand[i] = operand_of(l, b->op, &b->info->param[i],
                                       b->at[i], b->spans[i]);
    bound_attrs(l, b, s, 0);
    return s;
}

// ---- atomics -----------------------------------------------------------------

// A load cannot release, a store cannot acquire.
static void check_order(Lang *l, const Bound *b)
{
    int i = op_param_find(b->info, TEXT("memory_order"));
    bool load = b->op == OP_ATOMIC_LOAD;
    Text order;

    if (i < 0 || !bound_given(b, i) || b->at[i].kind != VAL_STR)
        return;
    order = b->at[i].s;
    if (!text_is(order, "relaxed") && !text_is(order, "seq_cst")
        && !text_is(order, load ? "acquire" : "release")
        && !(load && text_is(order, "consume")))
        lang_raise(l, "ValueError", b->spans[i],
                   "%s does not support memory_order='%.*s': it takes %s",
                   b->info->surface, TEXT_ARG(order),
                   load ? "relaxed, consume, acquire or seq_cst"
                        : "relaxed, release or seq_cst");
}

// The old value of an atomic: read now, once. Without a value: what is there.
static Value atomic_prev(Lang *l, const Bound *b, bool load)
{
    IrRegion *dst = to_region(l, b->at[0], b->spans[0]);
    IrExpr *value = load ? NULL : to_expr(l, b->at[1], b->spans[1]);
    if (dst->form != REGION_POINT)
        lang_raise(l, "TypeError", b->call, "%s needs a single element",
                   load ? b->info->surface : "return_prev");
    IrExpr *e = ir_atomic(l->trace->k, b->op, dst->buffer, dst->min,
                          dst->buffer->rank, value, b->call);
    trace_builder_ok(l, e, b->call);
    return trace_freeze(l, load ? TEXT("loaded") : TEXT("prev"), e, b->call);
}

static bool wants_prev(Lang *l, const Bound *b)
{
    int i = op_param_find(b->info, TEXT("return_prev"));

    return i >= 0 && bound_given(b, i)
           && value_truth(l, b->at[i], b->spans[i]);
}

// ---- reductions ----------------------------------------------------------------

static Op reduction_named(Lang *l, Value name, const char *what, Span at)
{
    Op op;

    if (name.kind == VAL_STR
        && op_reduction_find(l->options.ops, name.s, &op))
        return op;
    if (name.kind != VAL_STR)
        lang_raise(l, "TypeError", at, "%s is a text, not %s", what,
                   value_type_name(name));
    lang_raise(l, "ValueError", at,
               "%s '%.*s' is none of sum, max, min, absmax, abssum, bitand, "
               "bitor, bitxor", what, TEXT_ARG(name.s));
}

// T.reduce(buffer, out, "sum", dim, clear) is T.reduce_sum(buffer, out, ...).
static Value named_reduction(Lang *l, const Bound *b)
{
    enum { REDUCE_TYPE = 2 };
    Op op = reduction_named(l, b->at[REDUCE_TYPE], "reduce_type",
                            b->spans[REDUCE_TYPE]);
    const OpInfo *info = op_info(l->options.ops, op);
    Text names[OP_MAX_PARAMS];
    Value values[OP_MAX_PARAMS];
    Args args = {.at = values, .names = names, .values = values,
                 .at_span = b->call};

    for (int i = 0; i < b->info->param_count; i++) {
        Text name = b->info->param[i].name;

        if (i == REDUCE_TYPE || !bound_given(b, i)
            || op_param_find(info, name) < 0)
            continue;
        names[args.keyword_count] = name;
        values[args.keyword_count++] = b->at[i];
    }
    return prim_call(l, op, &args);
}

// ---- reducers --------------------------------------------------------------------

static Text *reducer_op(const Trace *t, const IrBuffer *b)
{
    for (int i = 0; i < t->reducers.len; i++)
        if (t->reducers.at[i].buffer == b)
            return &t->reducers.at[i].op;
    return NULL;
}

Value alloc_reducer(Lang *l, const Bound *b, IrBuffer *buffer)
{
    Trace *t = l->trace;
    IrStmt *s = ir_stmt(t->k, STMT_ALLOC, b->call);
    Text op = TEXT("sum");

    if (bound_given(b, 2)) {
        reduction_named(l, b->at[2], "op", b->spans[2]);
        op = b->at[2].s;
    }
    if (text_starts(op, "abs"))
        lang_raise(l, "ValueError", b->spans[2],
                   "a reducer's op is sum, max, min, bitand, bitor or bitxor, "
                   "not '%.*s'", TEXT_ARG(op));
    if (text_starts(op, "bit") && dtype_is_float(buffer->dtype))
        lang_raise(l, "AssertionError", b->call,
                   "a reducer of op '%.*s' holds integers, not %s",
                   TEXT_ARG(op), dtype_info(buffer->dtype)->name);
    s->buffer = buffer;
    bound_attrs(l, b, s, 2);
    trace_add(l, s);
    vec_push(lang_arena(l), &t->reducers, ((Reducer){buffer, op}));
    return v_buffer(buffer);
}

static Value reducer_call(Lang *l, const Bound *b)
{
    IrStmt *s = tile_stmt(l, b);
    const IrOperand *o = &s->operand[0];
    Text *op = o->kind == OPERAND_REGION
                   ? reducer_op(l->trace, o->region->buffer) : NULL;

    if (op)
        ir_attr(l->trace->k, s, ATTR_OP,
                (IrAttrValue){.kind = ATTRVAL_TEXT, .text = *op});
    trace_add(l, s);
    return V_NONE;
}

static const char *update_name(Op op)
{
    switch (op) {
    case OP_ADD:
        return "sum";
    case OP_MAX:
        return "max";
    case OP_MIN:
        return "min";
    case OP_BITAND:
        return "bitand";
    case OP_BITOR:
        return "bitor";
    case OP_BITXOR:
        return "bitxor";
    default:
        return NULL;
    }
}

static bool is_element(const IrExpr *e, const IrBuffer *b,
                       IrExpr *const *index)
{
    if (e->kind != EXPR_LOAD || e->buffer != b)
        return false;
    for (int d = 0; d < b->rank; d++)
        if (!ir_same(e->args[d], index[d]))
            return false;
    return true;
}

// acc[i] = acc[i] + v, of a reducer: an update with v. NULL: something else.
IrStmt *reducer_update(Lang *l, IrBuffer *b, IrExpr *const *index,
                       IrExpr *value, Span at)
{
    IrKernel *k = l->trace->k;
    const char *name = value->kind == EXPR_OP ? update_name(value->op) : NULL;
    IrStmt *s;

    if (!name)
        return NULL;
    bool first = is_element(value->args[0], b, index);
    if (!first && !is_element(value->args[1], b, index))
        return NULL;
    IrExpr *e = ir_load(k, b, index, b->rank, at);
    s = ir_tile(k, OP_REDUCER_UPDATE, at);
    s->operand[0] = (IrOperand){.kind = OPERAND_REGION,
                                .region = to_region(l, v_expr(e), at)};
    s->operand[1] = (IrOperand){.kind = OPERAND_EXPR,
                                .expr = value->args[first]};
    ir_attr(k, s, ATTR_OP, (IrAttrValue){.kind = ATTRVAL_TEXT,
                                         .text = text_of(name)});
    return s;
}

// ---- tests of whole regions ---------------------------------------------------

enum { MOST_TESTED = 4096 };

typedef struct {
    IrKernel *k;
    const IrRegion *r;
    int64_t extent[IR_MAX_RANK];
    Op join;
    Span at;
} Tested;

static IrExpr *tested_element(const Tested *t, int64_t i)
{
    IrExpr *index[IR_MAX_RANK];

    for (int d = t->r->buffer->rank - 1; d >= 0; d--) {
        IrExpr *step = ir_int(t->k, DT_I32, i % t->extent[d], t->at);

        index[d] = ir_op2(t->k, OP_ADD, t->r->min[d], step, t->at);
        i /= t->extent[d];
    }
    return ir_truth(t->k, ir_load(t->k, t->r->buffer, index,
                                  t->r->buffer->rank, t->at), t->at);
}

// Elements [from, to) joined, as a tree that is no deeper than need be.
static IrExpr *joined(const Tested *t, int64_t from, int64_t to)
{
    int64_t half = from + (to - from) / 2;

    if (to - from == 1)
        return tested_element(t, from);
    return ir_op2(t->k, t->join, joined(t, from, half), joined(t, half, to),
                  t->at);
}

// T.any_of, T.all_of of a buffer or a slice of constant size.
Value truth_of_region(Lang *l, const Bound *b)
{
    trace_need(l, b->info->surface, b->call);
    Tested t = {.k = l->trace->k, .at = b->call,
                .r = to_region(l, b->at[0], b->spans[0]),
                .join = b->op == OP_ANY_OF ? OP_OR : OP_AND};
    int64_t n = 1;

    for (int d = 0; d < t.r->buffer->rank; d++) {
        t.extent[d] = 1;
        if (!t.r->extent[d])
            continue;
        if (!ir_is_int(t.r->extent[d], &t.extent[d]) || t.extent[d] < 1
            || t.extent[d] > MOST_TESTED / n)
            lang_unsupported(l, b->call, "%s of other than 1 to %d elements",
                             b->info->surface, MOST_TESTED);
        n *= t.extent[d];
    }
    IrExpr *e = joined(&t, 0, n);
    trace_builder_ok(l, e, b->call);
    return v_expr(e);
}

// ---- the call --------------------------------------------------------------------

// Outside of a launch there is nothing that could have an effect.
static Value evaluate(Lang *l, const Bound *b)
{
    IrExpr *e;
    int64_t n;

    if (b->at[0].kind == VAL_NONE) // a call that has made its statement
        return V_NONE;
    e = to_expr(l, b->at[0], b->spans[0]);
    if (trace_need(l, b->info->surface, b->call)->launch && !ir_is_int(e, &n))
        trace_emit(l, STMT_EVAL, b->call)->value = e;
    return V_NONE;
}

static void check_batch(Lang *l, const Bound *b)
{
    int i = op_param_find(b->info, TEXT("batch"));

    if (i >= 0 && bound_given(b, i) && b->at[i].kind == VAL_INT
        && b->at[i].i < 1)
        lang_raise(l, "ValueError", b->spans[i], "batch must be >= 1, found "
                   "%lld", (long long)b->at[i].i);
}

Value tile_call(Lang *l, const Bound *b)
{
    bool load = b->op == OP_ATOMIC_LOAD;

    check_batch(l, b);
    trace_need(l, b->info->surface, b->call);
    switch (b->op) {
    case OP_REDUCE:
        return named_reduction(l, b);
    case OP_REDUCER_INIT:
    case OP_REDUCER_UPDATE:
        return reducer_call(l, b);
    case OP_EVALUATE:
        return evaluate(l, b);
    default:
        break;
    }
    if (load || b->op == OP_ATOMIC_STORE)
        check_order(l, b);
    if (wants_prev(l, b) && takes_address(b->op))
        return vector_atomic(l, b, b->op == OP_ATOMIC_ADDX2 ? 2 : 4);
    if (load || wants_prev(l, b))
        return atomic_prev(l, b, load);
    trace_add(l, tile_stmt(l, b));
    return V_NONE;
}
