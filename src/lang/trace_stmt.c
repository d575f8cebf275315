// trace_stmt.c - what statements mean inside a kernel (tilelang_surface 4.1).
//
// A name bound to a device expression is frozen (a LET); only T.alloc_var and
// buffers are mutable. `if`, `while` and `for` become code when their subject
// is a device value, and plain Python otherwise.
#include "lang/trace_int.h"

// ---- names --------------------------------------------------------------------

static bool reads_name(const Ast *e, Text name, int depth)
{
    if (!e || depth > 64)
        return false;
    if (e->kind == AST_NAME)
        return text_eq(e->text, name);
    if (reads_name(e->a, name, depth + 1) || reads_name(e->b, name, depth + 1)
        || reads_name(e->c, name, depth + 1))
        return true;
    for (int i = 0; i < e->x.len; i++)
        if (reads_name(e->x.at[i], name, depth + 1))
            return true;
    return false;
}

static bool bound_outside(const Trace *t, Frame *f, Text name)
{
    MapEntry *e = map_find(&f->names, name);
    return t->scope && t->scope->frame == f && e
           && ((Value *)e->value)->kind != VAL_UNBOUND
           && !map_find(&t->scope->saved, name);
}

static void warn_no_carry(Lang *l, Frame *f, const Ast *target)
{
    if (!bound_outside(l->trace, f, target->text))
        return;
    diag_warning(l->options.diag, target->at, "stage-no-carry",
                 "'%.*s' is bound outside %s: the new value ends with it and "
                 "does not carry over", TEXT_ARG(target->text),
                 l->trace->scope->what);
    diag_note(l->options.diag, target->at,
              "T.alloc_var(dtype) makes a variable that keeps its value");
}

static void bind(Lang *l, Frame *f, Text name, Value v)
{
    trace_scope_note(l, f, name);
    name_bind(l, f, name, v);
}

static Value let_value(Lang *l, Text name, IrExpr *e, Span at)
{
    Trace *t = l->trace;
    int64_t n;
    if (ir_is_int(e, &n) && e->dtype == DT_I32)
        return v_int(n);
    if (e->kind == EXPR_VAR || e->kind == EXPR_INT || e->kind == EXPR_FLOAT)
        return v_expr(e);
    if (!t->launch && e->kind != EXPR_LOAD && e->kind != EXPR_ATOMIC)
        return v_expr(e);
    IrVar *v = ir_var(t->k, VAR_LET, name, e->dtype, at);
    IrStmt *s = trace_emit(l, STMT_LET, at);
    s->var = v;
    s->value = e;
    return v_expr(ir_use(t->k, v, at));
}

static bool is_number(Value v)
{
    return v.kind == VAL_INT || v.kind == VAL_FLOAT || v.kind == VAL_BOOL
           || v.kind == VAL_EXPR || is_alloc_var(v);
}

static void store_var(Lang *l, IrBuffer *var, IrExpr *e, Span at)
{
    IrKernel *k = l->trace->k;
    IrExpr **index = new_array(lang_arena(l), IrExpr *, 1);
    index[0] = ir_int(k, DT_I32, 0, at);
    e = ir_cast(k, e, var->dtype, true, at);
    trace_builder_ok(l, e, at);
    IrStmt *s = trace_emit(l, STMT_STORE, at);
    s->buffer = var;
    s->index_count = 1;
    s->index = index;
    s->value = e;
}

// `x = v` for a plain name; `node` is the right side, NULL inside a tuple.
static void assign_name(Lang *l, Frame *f, const Ast *target, Value v,
                        const Ast *node)
{
    Value old;
    Text name = target->text;
    bool fresh = node && node->kind == AST_CALL;
    MapEntry *here = map_find(&f->names, name);
    old = here ? *(Value *)here->value : V_NONE;
    if (is_alloc_var(old) && is_number(v) && !(is_alloc_var(v) && fresh)) {
        store_var(l, old.buffer, to_expr(l, v, target->at), target->at);
        return;
    }
    if (is_alloc_var(v) && !fresh)
        v = v_expr(load_var(l, v.buffer, target->at));
    if (v.kind == VAL_EXPR)
        v = let_value(l, name, v.expr, target->at);
    if (v.kind == VAL_BUFFER && v.buffer->name.len == 0)
        v.buffer->name = text_copy(lang_arena(l), name);
    if (node && reads_name(node, name, 0))
        warn_no_carry(l, f, target);
    bind(l, f, name, v);
}

static void assign_to(Lang *l, Frame *f, const Ast *target, Value v,
                      const Ast *node);

static void assign_items(Lang *l, Frame *f, const Ast *target, Value v)
{
    List *items = value_to_list(l, v, target->at);
    if (items->len != target->x.len)
        lang_raise(l, "ValueError", target->at,
                   items->len < target->x.len
                       ? "not enough values to unpack (expected %d, got %d)"
                       : "too many values to unpack (expected %d, got %d)",
                   target->x.len, items->len);
    for (int i = 0; i < items->len; i++)
        assign_to(l, f, target->x.at[i], items->at[i], NULL);
}

// In `a, b = b, a` loads must happen before the stores: freeze them.
static Value freeze_items(Lang *l, Value v, Span at)
{
    if (v.kind != VAL_TUPLE && v.kind != VAL_LIST)
        return v;
    Value *copy = new_array(lang_arena(l), Value, v.list->len + 1);
    for (int i = 0; i < v.list->len; i++) {
        copy[i] = v.list->at[i];
        if (is_alloc_var(copy[i]) && copy[i].buffer->name.len)
            copy[i] = v_expr(load_var(l, copy[i].buffer, at));
        if (copy[i].kind == VAL_EXPR && copy[i].expr->kind != EXPR_VAR)
            copy[i] = let_value(l, TEXT("t"), copy[i].expr, at);
    }
    return v_tuple(l, copy, v.list->len);
}

static void assign_to(Lang *l, Frame *f, const Ast *target, Value v,
                      const Ast *node)
{
    bool plain = true;
    switch (target->kind) {
    case AST_NAME:
        assign_name(l, f, target, v, node);
        return;
    case AST_TUPLE:
    case AST_LIST:
        for (int i = 0; i < target->x.len; i++)
            plain = plain && target->x.at[i]->kind != AST_STARRED;
        if (!plain)
            break;
        assign_items(l, f, target, freeze_items(l, v, target->at));
        return;
    case AST_SUBSCRIPT: {
        Value base = eval(l, f, target->a);
        if (!v_is_device(base))
            break;
        device_setitem(l, base, eval(l, f, target->b), v, target->at);
        return;
    }
    default:
        break;
    }
    assign_target(l, f, target, v);
}

static void trace_assign(Lang *l, Frame *f, const Ast *s)
{
    Value v = eval(l, f, s->a);
    for (int i = 0; i < s->x.len; i++)
        assign_to(l, f, s->x.at[i], v, s->a);
}

// ---- x += e ---------------------------------------------------------------------

static bool augment_name(Lang *l, Frame *f, const Ast *s)
{
    Value old = eval(l, f, s->a);
    Value by = eval(l, f, s->b);
    if (old.kind == VAL_BUFFER && !is_alloc_var(old))
        lang_raise(l, "TypeError", s->a->at,
                   "'%.*s' is a whole buffer: assign to its elements in "
                   "T.Parallel", TEXT_ARG(s->a->text));
    Value sum = binary_op(l, s->op, old, by, s->at);
    if (is_alloc_var(old)) {
        store_var(l, old.buffer, to_expr(l, sum, s->at), s->a->at);
        return true;
    }
    warn_no_carry(l, f, s->a);
    if (sum.kind == VAL_EXPR)
        sum = let_value(l, s->a->text, sum.expr, s->a->at);
    bind(l, f, s->a->text, sum);
    return true;
}

static bool trace_augassign(Lang *l, Frame *f, const Ast *s)
{
    if (s->a->kind == AST_NAME)
        return augment_name(l, f, s);
    if (s->a->kind != AST_SUBSCRIPT)
        return false;
    Value base = eval(l, f, s->a->a);
    if (!v_is_device(base))
        return false;
    Value index = eval(l, f, s->a->b);
    Value old = device_getitem(l, base, index, s->a->at);
    if (old.kind == VAL_REGION)
        lang_raise(l, "TypeError", s->a->at,
                   "a slice cannot be updated in place: use T.Parallel");
    Value by = eval(l, f, s->b);
    device_setitem(l, base, index, binary_op(l, s->op, old, by, s->at), s->at);
    return true;
}

// ---- annotations -------------------------------------------------------------------

static Value actual_of(const Trace *t, Text name)
{
    const AstList *params = t->function->def->b ? &t->function->def->b->x : NULL;
    for (int i = 0; t->args && i < t->args->keyword_count; i++)
        if (text_eq(t->args->names[i], name))
            return t->args->values[i];
    for (int i = 0; t->args && params && i < params->len; i++)
        if (text_eq(params->at[i]->text, name) && i < t->args->count)
            return t->args->at[i];
    return (Value){.kind = VAL_UNBOUND};
}

static bool is_param_name(const Trace *t, Text name)
{
    const Ast *params = t->function->def->b;
    for (int i = 0; params && i < params->x.len; i++)
        if (text_eq(params->x.at[i]->text, name))
            return true;
    return false;
}

// The dtype of the tensor that was passed must be the declared one.
static void check_dtype(Lang *l, const Trace *t, const IrBuffer *b, Span at)
{
    Value actual = actual_of(t, b->name);
    if (actual.kind == VAL_TENSORSPEC && actual.spec->dtype != b->dtype)
        lang_raise(l, "TypeError", at, "'%.*s' is declared %s, the tensor is %s",
                   TEXT_ARG(b->name), dtype_info(b->dtype)->name,
                   dtype_info(actual.spec->dtype)->name);
}

static bool trace_annassign(Lang *l, Frame *f, const Ast *s)
{
    Trace *t = l->trace;
    if (s->c) {
        assign_to(l, f, s->a, eval(l, f, s->c), s->c);
        return true;
    }
    if (s->a->kind != AST_NAME)
        return true;
    Value spec = eval(l, f, s->b);
    if (!t->eager || spec.kind != VAL_TENSORSPEC
        || !is_param_name(t, s->a->text))
        return true;
    IrBuffer *b = trace_tensor(l, spec.spec, s->a->text, s->a->at);
    check_dtype(l, t, b, s->at);
    ir_param(t->k, s->a->text, b, NULL);
    bind(l, f, s->a->text, v_buffer(b));
    return true;
}

// ---- control flow --------------------------------------------------------------------

static Flow trace_if(Lang *l, Frame *f, const Ast *s)
{
    Value c = eval(l, f, s->a);
    if (c.kind == VAL_EXPR && c.expr->kind == EXPR_INT)
        c = v_bool(c.expr->i64 != 0);
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

static void bind_loop_vars(Lang *l, Frame *f, const Ast *target, IrStmt *loop)
{
    IrKernel *k = l->trace->k;
    if (target->kind == AST_NAME && loop->var_count == 1) {
        loop->vars[0]->name = target->text;
        bind(l, f, target->text, v_expr(ir_use(k, loop->vars[0], target->at)));
        return;
    }
    if ((target->kind != AST_TUPLE && target->kind != AST_LIST)
        || target->x.len != loop->var_count)
        lang_raise(l, "ValueError", target->at,
                   "the loop has %d variable%s", loop->var_count,
                   loop->var_count == 1 ? "" : "s: unpack them all");
    for (int i = 0; i < target->x.len; i++) {
        const Ast *name = target->x.at[i];
        if (name->kind != AST_NAME)
            lang_raise(l, "TypeError", name->at, "a loop variable is a name");
        loop->vars[i]->name = name->text;
        bind(l, f, name->text, v_expr(ir_use(k, loop->vars[i], name->at)));
    }
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

static Flow trace_for(Lang *l, Frame *f, const Ast *s)
{
    Trace *t = l->trace;
    Value it = loop_frame(l, f, s);
    if (it.kind != VAL_LOOPFRAME)
        lang_raise(l, "TypeError", s->b->at,
                   "a kernel loops over T.serial, T.Parallel, T.Pipelined, "
                   "T.unroll ...; found %s", value_type_name(it));
    if (s->y.len)
        lang_unsupported(l, s->at, "for ... else in a kernel");
    IrStmt *loop = loop_stmt(l, it.loop, s->at);
    TraceScope scope = {.outer = t->scope, .what = "a for loop", .frame = f};
    t->scope = &scope;
    bind_loop_vars(l, f, s->a, loop);
    t->loop_depth++;
    loop->then = trace_body(l, f, &s->x, "a for loop", s->at);
    t->loop_depth--;
    trace_scope_close(l, &scope);
    ir_append(t->k, t->block, loop);
    return FLOW_NEXT;
}

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

static Flow trace_while(Lang *l, Frame *f, const Ast *s)
{
    Value c = eval(l, f, s->a);
    if (c.kind == VAL_EXPR && c.expr->kind == EXPR_INT)
        c = v_bool(c.expr->i64 != 0);
    if (!v_is_device(c)) {
        if (value_truth(l, c, s->a->at))
            lang_raise(l, "ValueError", s->a->at,
                       "this loop would never end: its condition is a "
                       "constant while staging");
        diag_warning(l->options.diag, s->at, "stage-empty-loop",
                     "the condition is false while staging: the loop is "
                     "left out");
        return FLOW_NEXT;
    }
    emit_while(l, f, to_condition(l, c, s->a->at), &s->x, s->at);
    return FLOW_NEXT;
}

static Flow trace_jump(Lang *l, const Ast *s)
{
    if (l->trace->loop_depth == 0)
        lang_raise(l, "SyntaxError", s->at, "'%s' outside a loop",
                   s->kind == AST_BREAK ? "break" : "continue");
    trace_emit(l, s->kind == AST_BREAK ? STMT_BREAK : STMT_CONTINUE, s->at);
    return FLOW_NEXT;
}

static bool trace_assert(Lang *l, Frame *f, const Ast *s)
{
    Value c = eval(l, f, s->a);
    if (!v_is_device(c)) {
        if (value_truth(l, c, s->a->at))
            return true;
        TextBuf b = {0};
        if (s->b)
            value_str(l, &b, eval(l, f, s->b));
        Text why = text_copy(lang_arena(l), buf_view(&b));
        buf_release(&b);
        lang_raise(l, "AssertionError", s->at, "%.*s",
                   why.len ? (int)why.len : 20,
                   why.len ? why.at : "the assertion failed");
    }
    IrExpr *cond = to_condition(l, c, s->a->at);
    IrStmt *out = trace_emit(l, STMT_ASSERT, s->at);
    out->cond = cond;
    if (s->b)
        prim_attr(l, out, ATTR_MSG, eval(l, f, s->b), s->b->at);
    return true;
}

// ---- with T.Kernel ----------------------------------------------------------------------

static void bind_blocks(Lang *l, Frame *f, const Ast *target, IrStmt *launch)
{
    if (!target)
        return;
    IrKernel *k = l->trace->k;
    bool many = target->kind == AST_TUPLE || target->kind == AST_LIST;
    int names = many ? target->x.len : 1;
    if (names != launch->var_count)
        lang_raise(l, "ValueError", target->at,
                   "the grid has %d dimension%s, %d name%s", launch->var_count,
                   launch->var_count == 1 ? "" : "s", names,
                   names == 1 ? "" : "s");
    for (int i = 0; i < names; i++) {
        const Ast *n = many ? target->x.at[i] : target;
        if (n->kind != AST_NAME)
            lang_raise(l, "TypeError", n->at, "a block index is a name");
        launch->vars[i]->name = n->text;
        bind(l, f, n->text, v_expr(ir_use(k, launch->vars[i], n->at)));
    }
}

static Flow trace_launch(Lang *l, Frame *f, const Ast *s, const Ast *item,
                         const KernelFrame *frame)
{
    Trace *t = l->trace;
    if (t->probing) {
        t->probe_done = true;
        return FLOW_RETURN;
    }
    if (t->launch)
        lang_raise(l, "TypeError", item->at, "T.Kernel inside T.Kernel");
    IrStmt *launch = ir_stmt(t->k, STMT_LAUNCH, item->at);
    launch->var_count = frame->rank;
    launch->attrs = frame->attrs;
    for (int i = 0; i < 3; i++)
        launch->threads[i] = frame->threads[i];
    for (int i = 0; i < frame->rank; i++) {
        launch->extent[i] = frame->grid[i];
        launch->vars[i] = ir_var(t->k, VAR_BLOCK, TEXT("b"), DT_I32, item->at);
    }
    TraceScope scope = {.outer = t->scope, .what = "a T.Kernel", .frame = f};
    t->scope = &scope;
    bind_blocks(l, f, item->b, launch);
    t->launch = launch;
    launch->then = trace_body(l, f, &s->y, "a T.Kernel", s->at);
    t->launch = NULL;
    trace_scope_close(l, &scope);
    ir_append(t->k, t->block, launch);
    return FLOW_NEXT;
}

static bool trace_with(Lang *l, Frame *f, const Ast *s, Flow *flow)
{
    const Ast *item = s->x.at[0];
    Value v = eval(l, f, item->a);
    if (v.kind == VAL_LOOPFRAME && v.loop->condition && s->x.len == 1) {
        emit_while(l, f, v.loop->condition, &s->y, s->at);
        return true;
    }
    if (v.kind != VAL_KERNELFRAME || s->x.len != 1)
        lang_raise(l, "TypeError", item->at,
                   "'with' in a kernel takes one T.Kernel(...) or "
                   "T.While(...); found %s",
                   s->x.len == 1 ? value_type_name(v) : "several");
    *flow = trace_launch(l, f, s, item, v.frame);
    return true;
}

// ---- return -------------------------------------------------------------------------------

static void eager_return(Lang *l, Value v, Span at)
{
    Trace *t = l->trace;
    if (v.kind == VAL_NONE)
        return;
    List one = {.at = &v, .len = 1};
    List *items = v.kind == VAL_TUPLE || v.kind == VAL_LIST ? v.list : &one;
    t->results = new_array(lang_arena(l), IrBuffer *, items->len + 1);
    for (int i = 0; i < items->len; i++) {
        Value r = items->at[i];
        if (r.kind != VAL_BUFFER || r.buffer->scope != SCOPE_GLOBAL
            || r.buffer->param < 0)
            lang_raise(l, "TypeError", at,
                       "an eager kernel returns tensors made by T.empty; "
                       "found %s", value_type_name(r));
        t->results[t->result_count++] = r.buffer;
    }
}

static Flow trace_return(Lang *l, Frame *f, const Ast *s)
{
    Trace *t = l->trace;
    Value v = s->a ? eval(l, f, s->a) : V_NONE;
    if (t->macro_depth) {
        if (t->scope && t->scope->frame == f)
            lang_raise(l, "TypeError", s->at,
                       "a macro returns at its end, not from inside %s",
                       t->scope->what);
        l->returned = v;
        return FLOW_RETURN;
    }
    if (t->eager)
        eager_return(l, v, s->at);
    return FLOW_RETURN;
}

static void trace_exprstmt(Lang *l, Frame *f, const Ast *s)
{
    Value v = eval(l, f, s->a);
    if (v.kind == VAL_LOOPFRAME || v.kind == VAL_KERNELFRAME)
        diag_warning(l->options.diag, s->at, "stage-unused-frame",
                     "this does nothing here: it belongs in a for or with");
    if (v.kind == VAL_EXPR && v.expr->kind == EXPR_ATOMIC) {
        IrStmt *out = trace_emit(l, STMT_EVAL, s->at);
        out->value = v.expr;
    }
}

bool trace_statement(Lang *l, Frame *f, const Ast *s, Flow *flow)
{
    *flow = FLOW_NEXT;
    switch (s->kind) {
    case AST_ASSIGN:
        trace_assign(l, f, s);
        return true;
    case AST_AUGASSIGN:
        return trace_augassign(l, f, s);
    case AST_ANNASSIGN:
        return trace_annassign(l, f, s);
    case AST_IF:
        *flow = trace_if(l, f, s);
        return true;
    case AST_FOR:
        *flow = trace_for(l, f, s);
        return true;
    case AST_WHILE:
        *flow = trace_while(l, f, s);
        return true;
    case AST_BREAK:
    case AST_CONTINUE:
        *flow = trace_jump(l, s);
        return true;
    case AST_ASSERT:
        return trace_assert(l, f, s);
    case AST_WITH:
        return trace_with(l, f, s, flow);
    case AST_RETURN:
        *flow = trace_return(l, f, s);
        return true;
    case AST_EXPRSTMT:
        trace_exprstmt(l, f, s);
        return true;
    case AST_TRY:
    case AST_CLASS:
    case AST_GLOBAL:
        lang_unsupported(l, s->at, "'%s' inside a kernel", ast_name(s->kind));
    default:
        return false;
    }
}
