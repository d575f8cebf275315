// prim_loop.c - T.Parallel, T.Pipelined, T.serial...: what `for` iterates.
#include "lang/trace_int.h"

static IrExpr *extent_expr(Lang *l, Value v, Span at)
{
    IrExpr *e = to_expr(l, v, at);
    int64_t n;
    if (!dtype_is_int(e->dtype))
        lang_raise(l, "TypeError", at, "a loop bound is an integer, not %s",
                   dtype_info(e->dtype)->name);
    if (ir_is_int(e, &n) && n < 0)
        return ir_int(trace_kernel(l), e->dtype, 0, at);
    return e;
}

static LoopFrame *frame_new_loop(Lang *l, IrLoopKind kind, Span at)
{
    LoopFrame *f = new (lang_arena(l), LoopFrame);
    f->loop = kind;
    f->at = at;
    return f;
}

static void take_attrs(Lang *l, const Bound *b, LoopFrame *f)
{
    IrStmt holder = {.kind = STMT_FOR};
    bound_attrs(l, b, &holder, 0);
    f->attrs = holder.attrs;
}

static Value nest(Lang *l, const Bound *b, IrLoopKind kind)
{
    LoopFrame *f = frame_new_loop(l, kind, b->call);
    if (b->rest_count == 0)
        lang_raise(l, "TypeError", b->call, "%s() needs at least one extent",
                   b->info->surface);
    f->rank = b->rest_count;
    for (int i = 0; i < f->rank; i++) {
        f->start[i] = ir_int(trace_kernel(l), DT_I32, 0, b->call);
        f->extent[i] = extent_expr(l, b->rest[i], b->call);
    }
    take_attrs(l, b, f);
    return (Value){.kind = VAL_LOOPFRAME, .loop = f};
}

// Trips of start, start + step, ... up to stop (exclusive).
static IrExpr *trips(Lang *l, IrExpr *start, IrExpr *stop, int64_t step,
                     Span at)
{
    IrKernel *k = trace_kernel(l);
    IrExpr *span = step > 0 ? ir_op2(k, OP_SUB, stop, start, at)
                            : ir_op2(k, OP_SUB, start, stop, at);
    int64_t size = step > 0 ? step : -step;
    if (size != 1) {
        IrExpr *n = ir_int(k, DT_I32, size, at);
        span = ir_op2(k, OP_CEILDIV, span, n, at);
    }
    trace_builder_ok(l, span, at);
    int64_t count;
    if (ir_is_int(span, &count) && count < 0)
        return ir_int(k, DT_I32, 0, at);
    return span;
}

static int64_t constant_step(Lang *l, const Bound *b, int i)
{
    Value v = b->at[i];
    if (!bound_given(b, i))
        return 1;
    if (v.kind == VAL_EXPR && v.expr->kind == EXPR_INT)
        v = v_int(v.expr->i64);
    if (v.kind != VAL_INT)
        lang_unsupported(l, b->spans[i], "a loop step that is not a constant");
    if (v.i == 0 || v.i > INT32_MAX || v.i < -INT32_MAX)
        lang_raise(l, "ValueError", b->spans[i], "a loop step of %lld",
                   (long long)v.i);
    return v.i;
}

// (start), (start, stop), (start, stop, step): one bound alone is the stop.
static Value counted(Lang *l, const Bound *b, IrLoopKind kind, int step_at)
{
    LoopFrame *f = frame_new_loop(l, kind, b->call);
    IrKernel *k = trace_kernel(l);
    bool two = bound_given(b, 1);
    int64_t step = step_at ? constant_step(l, b, step_at) : 1;
    f->rank = 1;
    f->start[0] = two ? to_expr(l, b->at[0], b->spans[0])
                      : ir_int(k, DT_I32, 0, b->call);
    IrExpr *stop = to_expr(l, b->at[two], b->spans[two]);
    if (!dtype_is_int(f->start[0]->dtype) || !dtype_is_int(stop->dtype))
        lang_raise(l, "TypeError", b->call, "a loop bound is an integer");
    f->extent[0] = trips(l, f->start[0], stop, step, b->call);
    f->step = step == 1 ? NULL : ir_int(k, DT_I32, step, b->call);
    take_attrs(l, b, f);
    return (Value){.kind = VAL_LOOPFRAME, .loop = f};
}

static Value persistent(Lang *l, const Bound *b)
{
    LoopFrame *f = frame_new_loop(l, LOOP_PERSISTENT, b->call);
    List *domain = shape_list(l, b->at[0], b->spans[0]);
    if (domain->len < 1 || domain->len > IR_MAX_RANK)
        lang_raise(l, "ValueError", b->call, "a domain of %d dimensions",
                   domain->len);
    f->rank = domain->len;
    for (int i = 0; i < f->rank; i++) {
        f->start[i] = ir_int(trace_kernel(l), DT_I32, 0, b->call);
        f->extent[i] = extent_expr(l, domain->at[i], b->spans[0]);
    }
    f->wave_size = to_expr(l, b->at[1], b->spans[1]);
    f->wave_index = to_expr(l, b->at[2], b->spans[2]);
    f->group_size = bound_given(b, 3)
                        ? to_expr(l, b->at[3], b->spans[3])
                        : ir_int(trace_kernel(l), DT_I32, 8, b->call);
    return (Value){.kind = VAL_LOOPFRAME, .loop = f};
}

static Value while_frame(Lang *l, const Bound *b)
{
    LoopFrame *f = frame_new_loop(l, LOOP_SERIAL, b->call);
    f->condition = to_condition(l, b->at[0], b->spans[0]);
    return (Value){.kind = VAL_LOOPFRAME, .loop = f};
}

static Value branch_frame(Lang *l, const Bound *b)
{
    LoopFrame *f = frame_new_loop(l, LOOP_SERIAL, b->call);
    f->branch = b->op == OP_IF ? BRANCH_IF : b->op == OP_THEN ? BRANCH_THEN
                                                              : BRANCH_ELSE;
    if (f->branch == BRANCH_IF)
        f->condition = to_condition(l, b->at[0], b->spans[0]);
    return (Value){.kind = VAL_LOOPFRAME, .loop = f};
}

bool loop_call(Lang *l, const Bound *b, Value *out)
{
    switch (b->op) {
    case OP_IF:
    case OP_THEN:
    case OP_ELSE:
        *out = branch_frame(l, b);
        return true;
    case OP_PARALLEL:
        *out = nest(l, b, LOOP_PARALLEL);
        return true;
    case OP_GRID:
        *out = nest(l, b, LOOP_GRID);
        return true;
    case OP_TVM_PARALLEL:
        *out = counted(l, b, LOOP_PARALLEL, 0);
        return true;
    case OP_PIPELINED:
        *out = counted(l, b, LOOP_PIPELINED, 0);
        return true;
    case OP_SERIAL:
        *out = counted(l, b, LOOP_SERIAL, 2);
        return true;
    case OP_UNROLL:
        *out = counted(l, b, LOOP_UNROLL, 2);
        return true;
    case OP_VECTORIZED:
        *out = counted(l, b, LOOP_VECTORIZED, 0);
        return true;
    case OP_PERSISTENT:
        *out = persistent(l, b);
        return true;
    case OP_WHILE:
        *out = while_frame(l, b);
        return true;
    default:
        return false;
    }
}
