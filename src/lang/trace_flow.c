// trace_flow.c - if, for, while, with and return inside a kernel.
//
// A condition or extent that is a device value makes code; one that is known
// while staging is plain Python.
#include "lang/trace_int.h"

// A constant of any dtype is known while staging.
static Value known(Value v)
{
    int64_t n;

    return v.kind == VAL_EXPR && ir_is_int(v.expr, &n) ? v_bool(n != 0) : v;
}

// Opens a scope whose names end with it.
static TraceScope *scope_open(Lang *l, Frame *f, const char *what)
{
    TraceScope *s = new (lang_arena(l), TraceScope);

    *s = (TraceScope){.outer = l->trace->scope, .what = what, .frame = f};
    l->trace->scope = s;
    return s;
}

// ---- if -------------------------------------------------------------------------

Flow trace_if(Lang *l, Frame *f, const Ast *s)
{
    Value c = known(eval(l, f, s->a));

    if (!v_is_device(c))
        return exec_block(l, f, value_truth(l, c, s->a->at) ? &s->x : &s->y);
    IrExpr *cond = to_condition(l, c, s->a->at);
    IrStmt *then = trace_body(l, f, &s->x, "an if", s->at);
    IrStmt *otherwise = s->y.len ? trace_body(l, f, &s->y, "an else", s->at)
                                 : NULL;
    IrStmt *out = trace_emit(l, STMT_IF, s->at);
    out->cond = cond;
    out->then = then;
    out->otherwise = otherwise;
    return FLOW_NEXT;
}

// ---- for ------------------------------------------------------------------------

static bool is_range_call(Lang *l, Frame *f, const Ast *e)
{
    Value v;

    return e->kind == AST_CALL && e->a->kind == AST_NAME
           && text_is(e->a->text, "range")
           && name_find(l, f, e->a->text, &v)
           && (v.kind == VAL_BUILTIN || v.kind == VAL_TYPE);
}

// `range` in a kernel is T.serial: a run-time loop, never unrolled here.
static Value loop_frame(Lang *l, Frame *f, const Ast *s)
{
    if (!is_range_call(l, f, s->b))
        return eval(l, f, s->b);
    Args args = eval_args(l, f, s->b);
    return prim_call(l, OP_SERIAL, &args);
}

static void bind_var(Lang *l, Frame *f, const Ast *target, IrVar *v)
{
    if (target->kind != AST_NAME)
        lang_raise(l, "TypeError", target->at,
                   "an index of a loop or grid is bound to a name");
    v->name = target->text;
    trace_bind(l, f, target->text, v_expr(ir_use(l->trace->k, v, target->at)));
}

// One name for several indices holds them all, to be unpacked later.
static void bind_together(Lang *l, Frame *f, const Ast *target, IrStmt *s)
{
    Value items[IR_MAX_RANK];

    for (int i = 0; i < s->var_count; i++) {
        s->vars[i]->name = text_format(lang_arena(l), "%.*s%d",
                                       TEXT_ARG(target->text), i);
        items[i] = v_expr(ir_use(l->trace->k, s->vars[i], target->at));
    }
    trace_bind(l, f, target->text, v_tuple(l, items, s->var_count));
}

// The indices of a loop or grid: `i`, or `i, j`.
static void bind_vars(Lang *l, Frame *f, const Ast *target, IrStmt *s,
                      const char *what)
{
    bool many = target->kind == AST_TUPLE || target->kind == AST_LIST;

    if (!many && s->var_count == 1) {
        bind_var(l, f, target, s->vars[0]);
        return;
    }
    if (target->kind == AST_NAME) {
        bind_together(l, f, target, s);
        return;
    }
    if (!many || target->x.len != s->var_count)
        lang_raise(l, "ValueError", target->at, "%s has %d %s, found %d name%s",
                   what, s->var_count, s->var_count == 1 ? "index" : "indices",
                   many ? target->x.len : 1,
                   many && target->x.len != 1 ? "s" : "");
    for (int i = 0; i < s->var_count; i++)
        bind_var(l, f, target->x.at[i], s->vars[i]);
}

static IrStmt *loop_stmt(Lang *l, const LoopFrame *frame, Span at)
{
    IrKernel *k = l->trace->k;
    IrStmt *s = ir_stmt(k, STMT_FOR, at);

    s->loop = frame->loop;
    s->var_count = frame->rank;
    s->step = frame->step;
    s->wave_size = frame->wave_size;
    s->wave_index = frame->wave_index;
    s->group_size = frame->group_size;
    s->attrs = frame->attrs;
    for (int i = 0; i < frame->rank; i++) {
        DType t = frame->extent[i]->dtype == DT_I64 ? DT_I64 : DT_I32;
        s->vars[i] = ir_var(k, VAR_LOOP, TEXT("_"), t, at);
        s->start[i] = frame->start[i];
        s->extent[i] = frame->extent[i];
    }
    return s;
}

// for i in T.thread_binding(...): every thread has one turn.
static Flow thread_loop(Lang *l, Frame *f, const Ast *s, Value index)
{
    if (s->a->kind != AST_NAME)
        lang_raise(l, "TypeError", s->a->at,
                   "an index of a loop or grid is bound to a name");
    trace_bind(l, f, s->a->text, index);
    return exec_block(l, f, &s->x);
}

static Flow launch_loop(Lang *l, Frame *f, const Ast *s,
                        const LoopFrame *loop);

static bool is_sync_grid(const Ast *s)
{
    return s->kind == AST_EXPRSTMT && s->a->kind == AST_CALL
           && s->a->a->kind == AST_ATTRIBUTE
           && text_is(s->a->a->text, "sync_grid");
}

// One loop with the statements of s from `from` up to a T.sync_grid or the end,
// which it returns.
static int part_of_loop(Lang *l, Frame *f, const Ast *s, const LoopFrame *frame,
                        int from)
{
    IrStmt *loop = loop_stmt(l, frame, s->at);
    TraceScope *scope = scope_open(l, f, "a for loop");
    int end = from;

    bind_vars(l, f, s->a, loop, "the loop");
    while (end < s->x.len
           && !(frame->loop == LOOP_PARALLEL && is_sync_grid(s->x.at[end])))
        end++;
    AstList part = {.at = s->x.at + from, .len = end - from};
    l->trace->loop_depth++;
    loop->then = trace_body(l, f, &part, "a for loop", s->at);
    l->trace->loop_depth--;
    trace_scope_close(l, scope);
    trace_add(l, loop);
    return end;
}

Flow trace_for(Lang *l, Frame *f, const Ast *s)
{
    Value it = loop_frame(l, f, s);

    if (it.kind == VAL_LOOPFRAME && it.loop->axis)
        return launch_loop(l, f, s, it.loop);
    if (it.kind == VAL_EXPR && it.expr->kind == EXPR_OP
        && it.expr->op == OP_GET_THREAD_BINDING)
        return thread_loop(l, f, s, it);
    if (it.kind != VAL_LOOPFRAME || it.loop->condition || it.loop->branch
        || it.loop->is_scope)
        lang_raise(l, "TypeError", s->b->at,
                   "a kernel loops over range, T.serial, T.Parallel, "
                   "T.Pipelined, T.unroll ...; found %s",
                   it.kind == VAL_LOOPFRAME
                       ? "T.While or T.If, which belong in a with"
                       : value_type_name(it));
    if (s->y.len)
        lang_unsupported(l, s->at, "for ... else in a kernel");
    if (trace_is_host_loop(l, f, s))
        return trace_host_loop(l, f, s, it.loop);
    // all blocks wait between the parts of a T.Parallel, not in it
    for (int i = part_of_loop(l, f, s, it.loop, 0); i < s->x.len;
         i = part_of_loop(l, f, s, it.loop, i + 1)) {
        AstList sync = {.at = s->x.at + i, .len = 1};

        exec_block(l, f, &sync);
    }
    return FLOW_NEXT;
}

// ---- while ------------------------------------------------------------------------

static void emit_while(Lang *l, Frame *f, IrExpr *cond, const AstList *body,
                       Span at)
{
    l->trace->loop_depth++;
    IrStmt *block = trace_body(l, f, body, "a while loop", at);
    l->trace->loop_depth--;
    IrStmt *out = trace_emit(l, STMT_WHILE, at);
    out->cond = cond;
    out->then = block;
}

// The condition runs before each turn: it may not make a statement, which
// would run once.
static Value while_condition(Lang *l, Frame *f, const Ast *e)
{
    trace_lazy(l, 1);
    Value c = known(eval(l, f, e));
    trace_lazy(l, -1);
    return c;
}

static void constant_while(Lang *l, Value c, const Ast *s)
{
    if (value_truth(l, c, s->a->at))
        lang_raise(l, "ValueError", s->a->at,
                   "this loop would never end: its condition is known while "
                   "staging; a T.alloc_var or an element of a buffer changes "
                   "while the kernel runs");
    diag_warning(l->options.diag, s->at, "stage-empty-loop",
                 "the condition is false while staging: the loop is left out");
}

Flow trace_while(Lang *l, Frame *f, const Ast *s)
{
    Value c = while_condition(l, f, s->a);

    if (s->y.len)
        lang_unsupported(l, s->at, "while ... else in a kernel");
    if (v_is_device(c))
        emit_while(l, f, to_condition(l, c, s->a->at), &s->x, s->at);
    else
        constant_while(l, c, s);
    return FLOW_NEXT;
}

// The rest of the block is never reached.
Flow trace_jump(Lang *l, const Ast *s)
{
    bool leave = s->kind == AST_BREAK;

    if (l->trace->host_depth > 0 && !l->trace->launch && !l->trace->scope)
        return leave ? FLOW_BREAK : FLOW_CONTINUE;
    if (l->trace->loop_depth == 0)
        lang_raise(l, "SyntaxError", s->at, "'%s' outside a loop",
                   leave ? "break" : "continue");
    trace_emit(l, leave ? STMT_BREAK : STMT_CONTINUE, s->at);
    return leave ? FLOW_BREAK : FLOW_CONTINUE;
}

// ---- assert -----------------------------------------------------------------------

static Text message(Lang *l, Frame *f, const Ast *e)
{
    TextBuf b = {0};

    if (e)
        value_str(l, &b, eval(l, f, e));
    Text t = text_copy(lang_arena(l), buf_view(&b));
    buf_release(&b);
    return t;
}

void trace_assert(Lang *l, Frame *f, const Ast *s)
{
    Value c = known(eval(l, f, s->a));

    if (v_is_device(c)) {
        IrExpr *cond = to_condition(l, c, s->a->at);
        IrStmt *out = trace_emit(l, STMT_ASSERT, s->at);

        out->cond = cond;
        if (s->b)
            prim_attr(l, out, ATTR_MSG, v_str(message(l, f, s->b)), s->b->at);
        return;
    }
    if (value_truth(l, c, s->a->at))
        return;
    Text why = message(l, f, s->b);
    if (!why.len)
        why = TEXT("the assertion failed");
    lang_raise(l, "AssertionError", s->at, "%.*s", TEXT_ARG(why));
}

// ---- with T.Kernel ------------------------------------------------------------------

static IrStmt *launch_stmt(Lang *l, const KernelFrame *frame, Span at)
{
    IrKernel *k = l->trace->k;
    IrStmt *s = ir_stmt(k, STMT_LAUNCH, at);

    s->var_count = frame->rank;
    s->attrs = frame->attrs;
    for (int i = 0; i < 3; i++)
        s->threads[i] = frame->threads[i];
    for (int i = 0; i < frame->rank; i++) {
        s->extent[i] = frame->grid[i];
        s->vars[i] = ir_var(k, VAR_BLOCK, TEXT("b"), DT_I32, at);
    }
    return s;
}

static Flow with_items(Lang *l, Frame *f, const Ast *s, int i);

// Statements go into the launch from here to close_launch.
static IrStmt *open_launch(Lang *l, const KernelFrame *frame, Span at,
                           Span body)
{
    Trace *t = l->trace;
    IrStmt *outer = t->block;

    t->launch = launch_stmt(l, frame, at);
    t->first = 0;
    t->launch->then = t->block = ir_block(t->k, body);
    return outer;
}

static void close_launch(Lang *l, TraceScope *scope, IrStmt *outer)
{
    Trace *t = l->trace;
    IrStmt *launch = t->launch;

    t->block = outer;
    t->launch = NULL;
    trace_scope_close(l, scope);
    trace_add(l, launch);
}

static Flow trace_launch(Lang *l, Frame *f, const Ast *s, int i,
                         const KernelFrame *frame)
{
    const Ast *item = s->x.at[i];

    if (l->trace->probing)
        return FLOW_RETURN;
    if (l->trace->launch)
        lang_raise(l, "TypeError", item->at, "T.Kernel inside T.Kernel");
    if (l->trace->scope)
        lang_unsupported(l, item->at, "T.Kernel in %s whose condition is known "
                         "only when the kernel is called",
                         l->trace->scope->what);
    TraceScope *scope = scope_open(l, f, "a T.Kernel");
    scope->runs_once = true;
    IrStmt *outer = open_launch(l, frame, item->at, s->at);
    if (item->b)
        bind_vars(l, f, item->b, l->trace->launch, "the grid");
    Flow flow = with_items(l, f, s, i + 1);
    close_launch(l, scope, outer);
    return flow;
}

// for bx in T.thread_binding(n, thread="blockIdx.x"): the first of such loops
// is the launch, those in it add to it.
static Flow launch_loop(Lang *l, Frame *f, const Ast *s, const LoopFrame *loop)
{
    Trace *t = l->trace;

    if (t->probing)
        return FLOW_RETURN;
    if (t->launch)
        return thread_loop(l, f, s, launch_axis(l, loop, s->b->at));
    IrExpr *one = ir_int(t->k, DT_I32, 1, s->b->at);
    KernelFrame frame = {.rank = 3, .grid = {one, one, one},
                         .threads = {1, 1, 1}};
    TraceScope *scope = scope_open(l, f, "a launch");
    scope->runs_once = true;
    IrStmt *outer = open_launch(l, &frame, s->b->at, s->at);
    t->by_axes = true;
    Flow flow = thread_loop(l, f, s, launch_axis(l, loop, s->b->at));
    t->by_axes = false;
    close_launch(l, scope, outer);
    return flow;
}

// with T.ws(0): the body is for some threads; with T.attr(...): for all.
static Flow with_scope(Lang *l, Frame *f, const Ast *s, const LoopFrame *frame)
{
    IrStmt *body, *out;

    if (!frame->guard)
        return exec_block(l, f, &s->y);
    body = trace_body(l, f, &s->y, "a T.ws", s->at);
    out = trace_emit(l, STMT_IF, s->at);
    out->cond = frame->guard;
    out->then = body;
    return FLOW_NEXT;
}

// with T.If(c): holds a T.Then, perhaps a T.Else, and nothing else.
static Flow with_if(Lang *l, Frame *f, const Ast *s, int i, IrExpr *cond)
{
    Trace *t = l->trace;
    IrStmt *outer = t->branch, *block = t->block;
    IrStmt *out = trace_emit(l, STMT_IF, s->x.at[i]->at);
    int len = block->len;

    out->cond = cond;
    t->branch = out;
    with_items(l, f, s, i + 1);
    t->branch = outer;
    if (!out->then)
        lang_raise(l, "ValueError", s->x.at[i]->at, "T.If without T.Then()");
    if (block->len != len)
        lang_raise(l, "ValueError", block->body[len]->at,
                   "a statement in a T.If stands in neither T.Then() nor "
                   "T.Else()");
    return FLOW_NEXT;
}

static Flow with_branch(Lang *l, Frame *f, const Ast *s, int i, bool then)
{
    IrStmt *out = l->trace->branch, **part;
    const char *name = then ? "T.Then" : "T.Else";
    Span at = s->x.at[i]->at;

    if (!out || i + 1 != s->x.len)
        lang_raise(l, "ValueError", at, out ? "%s() comes last in its 'with'"
                                            : "%s() outside a T.If", name);
    part = then ? &out->then : &out->otherwise;
    if (*part)
        lang_raise(l, "ValueError", at, "a second %s() in one T.If", name);
    l->trace->branch = NULL;
    *part = trace_body(l, f, &s->y, then ? "a T.Then" : "a T.Else", at);
    l->trace->branch = out;
    return FLOW_NEXT;
}

// The items of a `with` from i on, then its body.
static Flow with_items(Lang *l, Frame *f, const Ast *s, int i)
{
    if (i == s->x.len)
        return exec_block(l, f, &s->y);
    const Ast *item = s->x.at[i];
    Value v = eval(l, f, item->a);
    if (v.kind == VAL_KERNELFRAME)
        return trace_launch(l, f, s, i, v.frame);
    if (v.kind == VAL_LOOPFRAME && v.loop->branch == BRANCH_IF)
        return with_if(l, f, s, i, v.loop->condition);
    if (v.kind == VAL_LOOPFRAME && v.loop->branch)
        return with_branch(l, f, s, i, v.loop->branch == BRANCH_THEN);
    if (v.kind == VAL_LOOPFRAME && v.loop->condition && i + 1 == s->x.len) {
        emit_while(l, f, v.loop->condition, &s->y, s->at);
        return FLOW_NEXT;
    }
    if (v.kind == VAL_LOOPFRAME && v.loop->is_scope && i + 1 == s->x.len)
        return with_scope(l, f, s, v.loop);
    if (v.kind == VAL_INSTANCE ||
        (v.kind == VAL_FOREIGN && v.foreign->type->enter))
        return with_manager(l, f, s, i, v, with_items);
    lang_raise(l, "TypeError", item->at,
               "'with' in a kernel takes T.Kernel(...), T.While(...), "
               "T.If(...) or an object with __enter__; "
               "found %s", value_type_name(v));
}

Flow trace_with(Lang *l, Frame *f, const Ast *s)
{
    return with_items(l, f, s, 0);
}

// ---- return -------------------------------------------------------------------------

// The parameters of T.empty have no name before they are returned.
static bool is_output(const Trace *t, Value v)
{
    return v.kind == VAL_BUFFER && v.buffer->param >= 0
           && v.buffer->param < t->k->param_count
           && t->k->params[v.buffer->param].buffer == v.buffer
           && t->k->params[v.buffer->param].name.len == 0;
}

static void add_result(Lang *l, Value v, Span at)
{
    Trace *t = l->trace;

    if (!is_output(t, v))
        lang_raise(l, "TypeError", at,
                   "a kernel returns tensors made by T.empty; found %s",
                   v.kind == VAL_BUFFER ? "another buffer"
                                        : value_type_name(v));
    for (int i = 0; i < t->result_count; i++)
        if (t->results[i] == v.buffer)
            lang_raise(l, "ValueError", at, "'%.*s' is returned twice",
                       TEXT_ARG(v.buffer->name));
    t->results[t->result_count++] = v.buffer;
}

static void eager_return(Lang *l, Value v, Span at)
{
    List one = {.at = &v, .len = 1};
    List *items = v.kind == VAL_TUPLE || v.kind == VAL_LIST ? v.list : &one;

    if (v.kind == VAL_NONE)
        return;
    l->trace->results = new_array(lang_arena(l), IrBuffer *, items->len + 1);
    for (int i = 0; i < items->len; i++)
        add_result(l, items->at[i], at);
}

// Where a return may not stand: inside code that runs under a condition.
static const TraceScope *conditional(const Trace *t, const Frame *f)
{
    const TraceScope *s = t->scope;

    return s && s->frame == f && !s->runs_once ? s : NULL;
}

Flow trace_return(Lang *l, Frame *f, const Ast *s)
{
    Trace *t = l->trace;
    const TraceScope *inside = conditional(t, f);
    bool macro = t->macro_depth > 0;

    if (inside)
        lang_raise(l, "TypeError", s->at,
                   "a %s returns at its end, not from inside %s; %s",
                   macro ? "macro" : "kernel", inside->what,
                   macro ? "T.alloc_var before it makes a variable to set "
                           "there and to return at the end"
                         : "put what follows under an if");
    Value v = s->a ? eval(l, f, s->a) : V_NONE;
    if (macro)
        l->returned = v;
    else if (t->eager && !t->probing)
        eager_return(l, v, s->at);
    return FLOW_RETURN;
}
