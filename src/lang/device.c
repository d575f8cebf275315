// device.c - device values: expressions, elements and regions of buffers.
#include "lang/trace_int.h"

bool is_alloc_var(Value v)
{
    return v.kind == VAL_BUFFER && v.buffer->scope == SCOPE_VAR;
}

IrExpr *load_var(Lang *l, IrBuffer *b, Span at)
{
    IrKernel *k = trace_need(l, "a T.alloc_var", at)->k;
    IrExpr *zero = ir_int(k, DT_I32, 0, at);
    return ir_load(k, b, &zero, 1, at);
}

void store_element(Lang *l, IrBuffer *b, IrExpr *const *index, IrExpr *value,
                   Span at)
{
    IrStmt *s = b->scope == SCOPE_REDUCER
                    ? reducer_update(l, b, index, value, at) : NULL;

    if (!s)
        s = ir_store(l->trace->k, b, index, b->rank, value, at);
    trace_builder_ok(l, s, at);
    trace_add(l, s);
}

// ---- values to expressions ------------------------------------------------------

static IrExpr *int_literal(Lang *l, int64_t v, Span at)
{
    bool fits = v >= INT32_MIN && v <= INT32_MAX;
    return ir_int(trace_kernel(l), fits ? DT_I32 : DT_I64, v, at);
}

IrExpr *to_expr(Lang *l, Value v, Span at)
{
    switch (v.kind) {
    case VAL_INT:
        return int_literal(l, v.i, at);
    case VAL_BOOL:
        return ir_int(trace_kernel(l), DT_BOOL, v.b, at);
    case VAL_FLOAT:
        return ir_float(trace_kernel(l), DT_F32, v.f, at);
    case VAL_EXPR:
        return v.expr;
    case VAL_BUFFER:
        if (is_alloc_var(v))
            return load_var(l, v.buffer, at);
        lang_raise(l, "TypeError", at,
                   "'%.*s' is a whole buffer, not a value: index it, as in "
                   "%.*s[i]", TEXT_ARG(v.buffer->name),
                   TEXT_ARG(v.buffer->name));
    case VAL_REGION:
        if (v.region->form == REGION_POINT)     // what a pointer points at
            return ir_load(trace_kernel(l), v.region->buffer, v.region->min,
                           v.region->buffer->rank, at);
        lang_raise(l, "TypeError", at,
                   "a slice of '%.*s' is not a value: index single elements "
                   "in T.Parallel", TEXT_ARG(v.region->buffer->name));
    case VAL_STR:
        lang_raise(l, "TypeError", at, "the str '%.*s' cannot be used in device "
                   "code", TEXT_ARG(v.s));
    default:
        lang_raise(l, "TypeError", at, "%s cannot be used in device code",
                   v.kind == VAL_NONE ? "None" : value_type_name(v));
    }
}

IrExpr *to_condition(Lang *l, Value v, Span at)
{
    if (v.kind == VAL_BUFFER && !is_alloc_var(v))
        lang_raise(l, "TypeError", at,
                   "a buffer is not a condition: compare an element of '%.*s'",
                   TEXT_ARG(v.buffer->name));
    IrExpr *e = to_expr(l, v, at);
    IrKernel *k = trace_kernel(l);
    if (e->dtype == DT_BOOL)
        return e;
    IrExpr *zero = dtype_is_float(e->dtype) ? ir_float(k, e->dtype, 0, at)
                                            : ir_int(k, e->dtype, 0, at);
    e = ir_op2(k, OP_NE, e, zero, at);
    trace_builder_ok(l, e, at);
    return e;
}

// int32 constants are Python ints again.
Value expr_value(Lang *l, IrExpr *e)
{
    int64_t n;
    (void)l;
    if (ir_is_int(e, &n) && e->dtype == DT_I32)
        return v_int(n);
    return v_expr(e);
}

// ---- operators ----------------------------------------------------------------------

Op device_op(AstOp op)
{
    static const Op table[] = {
        [AST_OP_ADD] = OP_ADD, [AST_OP_SUB] = OP_SUB, [AST_OP_MUL] = OP_MUL,
        [AST_OP_DIV] = OP_DIV, [AST_OP_FLOORDIV] = OP_FLOORDIV,
        [AST_OP_MOD] = OP_FLOORMOD, [AST_OP_POW] = OP_POW,
        [AST_OP_SHL] = OP_SHL, [AST_OP_SHR] = OP_SHR,
        [AST_OP_AND] = OP_BITAND, [AST_OP_OR] = OP_BITOR,
        [AST_OP_XOR] = OP_BITXOR, [AST_OP_BOOL_AND] = OP_AND,
        [AST_OP_BOOL_OR] = OP_OR, [AST_OP_EQ] = OP_EQ, [AST_OP_NE] = OP_NE,
        [AST_OP_LT] = OP_LT, [AST_OP_LE] = OP_LE, [AST_OP_GT] = OP_GT,
        [AST_OP_GE] = OP_GE,
    };
    return op < countof(table) ? table[op] : OP_COUNT;
}

// (a < b) * (c < d): what upstream makes of a product and a sum of conditions,
// bits of which one is stored.
static Op op_on_bools(Op row, const IrExpr *x, const IrExpr *y)
{
    if (x->dtype != DT_BOOL || y->dtype != DT_BOOL)
        return row;
    return row == OP_MUL ? OP_AND : row == OP_ADD ? OP_OR : row;
}

Value device_binary(Lang *l, AstOp op, Value a, Value b, Span at)
{
    if (op == AST_OP_IS || op == AST_OP_IS_NOT) {
        bool same = a.kind == b.kind && a.kind == VAL_BUFFER
                    && a.buffer == b.buffer;
        return v_bool(same == (op == AST_OP_IS));
    }
    if (op == AST_OP_MATMUL || op == AST_OP_IN || op == AST_OP_NOT_IN)
        lang_raise(l, "TypeError", at, "'%s' does not work on device values: %s",
                   ast_op_text(op),
                   op == AST_OP_MATMUL ? "use T.gemm on tiles"
                                       : "compare with each by ==");
    // `buffer is None`-like tests written as ==
    if ((a.kind == VAL_NONE || b.kind == VAL_NONE)
        && (op == AST_OP_EQ || op == AST_OP_NE))
        return v_bool(op == AST_OP_NE);
    bool logic = op == AST_OP_BOOL_AND || op == AST_OP_BOOL_OR;
    IrExpr *x = logic ? to_condition(l, a, at) : to_expr(l, a, at);
    IrExpr *y = logic ? to_condition(l, b, at) : to_expr(l, b, at);
    IrExpr *e = ir_op2(trace_kernel(l), op_on_bools(device_op(op), x, y), x,
                       y, at);
    trace_builder_ok(l, e, at);
    return expr_value(l, e);
}

Value device_unary(Lang *l, AstOp op, Value a, Span at)
{
    IrKernel *k = trace_kernel(l);
    IrExpr *e = op == AST_OP_NOT ? to_condition(l, a, at) : to_expr(l, a, at);
    if (op == AST_OP_POS)
        return v_expr(e);
    Op row = op == AST_OP_NEG ? OP_NEG : op == AST_OP_NOT ? OP_NOT : OP_BITNOT;
    e = ir_op1(k, row, e, at);
    trace_builder_ok(l, e, at);
    return expr_value(l, e);
}

Value device_select(Lang *l, Value c, Value t, Value e, Span at)
{
    IrExpr *s = ir_select(trace_kernel(l), to_condition(l, c, at),
                          to_expr(l, t, at), to_expr(l, e, at), at);
    trace_builder_ok(l, s, at);
    return expr_value(l, s);
}

// ---- subscripts -----------------------------------------------------------------------

static IrExpr *index_expr(Lang *l, const IrBuffer *b, int d, Value v, Span at)
{
    int64_t n, extent;
    IrExpr *e = to_expr(l, v, at);
    if (dtype_is_float(e->dtype))
        lang_raise(l, "TypeError", at, "an index must be an integer, not %s",
                   dtype_info(e->dtype)->name);
    if (!ir_is_int(e, &n) || n >= 0)
        return e;
    if (!ir_is_int(b->shape[d], &extent))
        return ir_op2(trace_kernel(l), OP_ADD, b->shape[d], e, at);
    if (n < -extent)
        lang_raise(l, "IndexError", at,
                   "index %lld is out of range for dimension %d of '%.*s' "
                   "(%lld elements)", (long long)n, d, TEXT_ARG(b->name),
                   (long long)extent);
    return int_literal(l, n + extent, at);
}

static int64_t slice_step(Lang *l, const SliceValue *s, Span at)
{
    if (s->step->kind == VAL_NONE)
        return 1;
    if (s->step->kind != VAL_INT || s->step->i == 0)
        lang_raise(l, "ValueError", at, "a slice step is a non-zero integer");
    if (s->step->i != 1)
        lang_raise_exit(l, EXIT_LIMIT, "RuntimeError", at, "a slice of a "
                        "buffer with step %lld is not supported",
                        (long long)s->step->i);
    return s->step->i;
}

static void slice_dim(Lang *l, IrRegion *r, int d, const SliceValue *s, Span at)
{
    IrKernel *k = trace_kernel(l);
    IrBuffer *b = r->buffer;
    r->step[d] = slice_step(l, s, at);
    r->min[d] = s->start->kind == VAL_NONE
                    ? int_literal(l, 0, at)
                    : index_expr(l, b, d, *s->start, at);
    IrExpr *stop = s->stop->kind == VAL_NONE
                       ? b->shape[d]
                       : index_expr(l, b, d, *s->stop, at);
    r->extent[d] = ir_op2(k, OP_SUB, stop, r->min[d], at);
    trace_builder_ok(l, r->extent[d], at);
    int64_t n;
    if (ir_is_int(r->extent[d], &n) && n < 0)
        lang_raise(l, "ValueError", at,
                   "the slice of dimension %d of '%.*s' ends before it starts",
                   d, TEXT_ARG(b->name));
}

IrRegion *region_whole(Lang *l, IrBuffer *b, Span at)
{
    IrRegion *r = new (lang_arena(l), IrRegion);
    r->buffer = b;
    r->form = REGION_WHOLE;
    r->at = at;
    for (int d = 0; d < b->rank; d++) {
        r->min[d] = int_literal(l, 0, at);
        r->extent[d] = b->shape[d];
        r->step[d] = 1;
    }
    return r;
}

static Text shape_text(Lang *l, const IrBuffer *b)
{
    TextBuf out = {0};
    buf_addc(&out, '[');
    for (int d = 0; d < b->rank; d++) {
        buf_puts(&out, d ? ", " : "");
        ir_print_expr(&out, b->shape[d]);
    }
    buf_addc(&out, ']');
    Text t = text_copy(lang_arena(l), buf_view(&out));
    buf_release(&out);
    return t;
}

static IrRegion *subscript(Lang *l, IrBuffer *b, Value index, Span at)
{
    List one = {.at = &index, .len = 1};
    List *items = index.kind == VAL_TUPLE || index.kind == VAL_LIST
                      ? index.list : &one;
    if (items->len != b->rank)
        lang_raise(l, "IndexError", at,
                   "'%.*s' has %d dimension%s %.*s, found %d ind%s",
                   TEXT_ARG(b->name), b->rank, b->rank == 1 ? "" : "s",
                   TEXT_ARG(shape_text(l, b)), items->len,
                   items->len == 1 ? "ex" : "ices");
    IrRegion *r = new (lang_arena(l), IrRegion);
    r->buffer = b;
    r->at = at;
    r->form = REGION_POINT;
    for (int d = 0; d < b->rank; d++) {
        Value v = items->at[d];
        r->step[d] = 1;
        if (v.kind == VAL_SLICE) {
            r->form = REGION_SLICE;
            slice_dim(l, r, d, v.slice, at);
        } else {
            r->min[d] = index_expr(l, b, d, v, at);
        }
    }
    return r;
}

static IrBuffer *subscripted(Lang *l, Value base, Span at)
{
    trace_need(l, "a subscript of a buffer", at);
    if (base.kind == VAL_BUFFER && base.buffer->lanes)
        lang_unsupported(l, at, "a subscript of '%.*s', whose elements are "
                         "vectors,", TEXT_ARG(base.buffer->name));
    if (base.kind == VAL_BUFFER)
        return base.buffer;
    if (base.kind == VAL_REGION)
        lang_raise(l, "TypeError", at,
                   "a slice of '%.*s' cannot be indexed again",
                   TEXT_ARG(base.region->buffer->name));
    lang_raise(l, "TypeError", at, "a device value cannot be indexed");
}

Value device_getitem(Lang *l, Value base, Value index, Span at)
{
    IrBuffer *b = subscripted(l, base, at);
    if (index_is_vector(l, index))
        return vector_getitem(l, base, index, at);
    IrRegion *r = subscript(l, b, index, at);
    if (r->form == REGION_SLICE)
        return (Value){.kind = VAL_REGION, .region = r};
    IrExpr *e = ir_load(trace_kernel(l), b, r->min, b->rank, at);
    trace_builder_ok(l, e, at);
    return v_expr(e);
}

static void fill_region(Lang *l, IrRegion *r, Value v, Span at)
{
    IrStmt *s = ir_tile(trace_kernel(l), OP_FILL, at);
    s->operand[0] = (IrOperand){.kind = OPERAND_REGION, .region = r};
    s->operand[1] = (IrOperand){.kind = OPERAND_EXPR, .expr = to_expr(l, v, at)};
    trace_add(l, s);
}

void device_setitem(Lang *l, Value base, Value index, Value v, Span at)
{
    IrBuffer *b = subscripted(l, base, at);
    if (index_is_vector(l, index)) {
        vector_setitem(l, base, index, v, at);
        return;
    }
    IrRegion *r = subscript(l, b, index, at);
    if (r->form == REGION_SLICE && v_is_vector(l, v)) {
        vector_fill(l, r, v, at);
        return;
    }
    if (r->form == REGION_SLICE) {
        if (v_is_device(v) && v.kind != VAL_EXPR)
            lang_raise(l, "TypeError", at, "use T.copy to assign a tile");
        fill_region(l, r, v, at);
        return;
    }
    store_element(l, b, r->min, to_expr(l, v, at), at);
}

// The element that v is, or that the name it was frozen under was read from.
static const IrExpr *element_of(const Trace *t, Value v)
{
    if (v.kind != VAL_EXPR)
        return NULL;
    if (v.expr->kind == EXPR_LOAD)
        return v.expr;
    for (int i = t->lets.len - 1; v.expr->kind == EXPR_VAR && i >= 0; i--)
        if (t->lets.at[i].var == v.expr->var)
            return t->lets.at[i].load;
    return NULL;
}

IrRegion *to_region(Lang *l, Value v, Span at)
{
    trace_need(l, "a region", at);
    if (v.kind == VAL_BUFFER)
        return region_whole(l, v.buffer, at);
    if (v.kind == VAL_REGION)
        return v.region;
    const IrExpr *e = element_of(l->trace, v);
    if (!e)
        lang_raise(l, "TypeError", at,
                   "expected a buffer, a slice or an element of one; found %s",
                   value_type_name(v));
    IrRegion *r = new (lang_arena(l), IrRegion);
    r->buffer = e->buffer;
    r->form = REGION_POINT;
    r->at = at;
    for (int d = 0; d < e->count; d++) {
        r->min[d] = e->args[d];
        r->step[d] = 1;
    }
    return r;
}

// ---- attributes ---------------------------------------------------------------------------

static Value shape_value(Lang *l, IrExpr *const *shape, int rank)
{
    Value items[IR_MAX_RANK];
    for (int d = 0; d < rank; d++) {
        int64_t n;
        items[d] = ir_is_int(shape[d], &n) ? v_int(n) : v_expr(shape[d]);
    }
    return v_tuple(l, items, rank);
}

static Value strides_value(Lang *l, const IrBuffer *b, Span at)
{
    IrExpr *strides[IR_MAX_RANK];
    IrExpr *running = int_literal(l, 1, at);
    if (b->strides[0])
        return shape_value(l, b->strides, b->rank);
    for (int d = b->rank - 1; d >= 0; d--) {
        strides[d] = running;
        running = ir_op2(trace_kernel(l), OP_MUL, running, b->shape[d], at);
    }
    return shape_value(l, strides, b->rank);
}

bool device_getattr(Lang *l, Value v, Text name, Value *out, Span at)
{
    if (text_is(name, "dtype")) {
        DType t = v.kind == VAL_EXPR ? v.expr->dtype
                  : v.kind == VAL_BUFFER ? v.buffer->dtype
                                         : v.region->buffer->dtype;
        *out = v_dtype(t);
        return true;
    }
    if (v.kind != VAL_BUFFER)
        return false;
    if (text_is(name, "shape")) {
        *out = shape_value(l, v.buffer->shape, v.buffer->rank);
    } else if (text_is(name, "strides")) {
        *out = strides_value(l, v.buffer, at);
    } else if (text_is(name, "name")) {
        *out = v_str(v.buffer->name);
    } else if (text_is(name, "ndim")) {
        *out = v_int(v.buffer->rank);
    } else if (text_is(name, "data")) {
        *out = v;               // T.Tensor(shape, dtype, buf.data) views it
    } else {
        return false;
    }
    return true;
}

bool device_method(Lang *l, Value v, Text name, const Args *args, Value *out)
{
    if (text_is(name, "scope") && v.kind == VAL_BUFFER) {
        *out = v_str(text_of(ir_scope_name(v.buffer->scope)));
        return true;
    }
    if (text_is(name, "astype")) {
        Value to;
        static const char *const names[] = {"dtype"};
        args_bind(l, "astype", args, names, 1, &to);
        IrExpr *e = to_expr(l, v, args->at_span);
        DType t = value_to_dtype(l, to, args->at_span);
        e = ir_cast(trace_kernel(l), e, t, true, args->at_span);
        trace_builder_ok(l, e, args->at_span);
        *out = v_expr(e);
        return true;
    }
    return false;
}
