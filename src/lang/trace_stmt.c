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

// The innermost scope whose body may run any number of times, or never.
static const TraceScope *device_scope(const Trace *t, const Frame *f)
{
    const TraceScope *s = t->scope;

    return s && s->frame == f && !s->runs_once ? s : NULL;
}

static const Value *bound_outside(const Trace *t, Frame *f, Text name)
{
    const Value *v = map_get(&f->names, name);

    return device_scope(t, f) && v && v->kind != VAL_UNBOUND
           && !map_find(&t->scope->bound, name) ? v : NULL;
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

// A Python value is set while staging, whatever the code around it does.
static void warn_staged(Lang *l, Frame *f, const Ast *target, Value v)
{
    const Value *old = bound_outside(l->trace, f, target->text);

    if (!old || v_is_device(*old) || value_equal(l, *old, v))
        return;
    diag_warning(l->options.diag, target->at, "stage-no-carry",
                 "'%.*s' is a Python value: it is set once, while staging, "
                 "whether or not %s runs", TEXT_ARG(target->text),
                 l->trace->scope->what);
    diag_note(l->options.diag, target->at,
              "T.alloc_var(dtype) makes a variable that the kernel changes");
}

void trace_bind(Lang *l, Frame *f, Text name, Value v)
{
    trace_scope_note(l, f, name);
    name_bind(l, f, name, v);
}

// Before the first T.Kernel sizes stay symbolic, for use in shapes.
static Value let_value(Lang *l, Text name, IrExpr *e, Span at)
{
    if (!l->trace->launch && e->kind != EXPR_LOAD && e->kind != EXPR_ATOMIC)
        return expr_value(l, e);
    return trace_freeze(l, name, e, at);
}

static bool is_number(Value v)
{
    return v.kind == VAL_INT || v.kind == VAL_FLOAT || v.kind == VAL_BOOL
           || v.kind == VAL_EXPR || is_alloc_var(v);
}

// A variable that no name holds yet: `x = T.alloc_var(...)`.
static bool is_fresh_var(Value v)
{
    return is_alloc_var(v) && v.buffer->name.len == 0;
}

// A T.alloc_var of a vector dtype.
static bool is_vector_var(const Lang *l, Value v)
{
    return v_is_vector(l, v) && is_alloc_var(v.list->at[0]);
}

static Value lane_value(Lang *l, Value v, int i, Span at)
{
    if (v_is_vector(l, v))
        v = v.list->at[i];
    return is_alloc_var(v) ? v_expr(load_var(l, v.buffer, at)) : v;
}

// The lanes of v as they are now: it may stand on both sides.
static void frozen_lanes(Lang *l, Value v, int n, Value *out, Span at)
{
    if (v_is_vector(l, v) && v.list->len != n)
        lang_raise(l, "ValueError", at, "a vector of %d lanes, where there are "
                   "%d", v.list->len, n);
    for (int i = 0; i < n; i++) {
        out[i] = lane_value(l, v, i, at);
        if (out[i].kind == VAL_EXPR)
            out[i] = let_value(l, TEXT("lane"), out[i].expr, at);
    }
}

static void store_lanes(Lang *l, const List *vars, Value v, Span at)
{
    Value *lanes = new_array(lang_arena(l), Value, vars->len);
    IrExpr *zero = ir_int(l->trace->k, DT_I32, 0, at);

    frozen_lanes(l, v, vars->len, lanes, at);
    for (int i = 0; i < vars->len; i++)
        store_element(l, vars->at[i].buffer, &zero, to_expr(l, lanes[i], at),
                      at);
}

// x = T.alloc_var(T.float32x2) names its lanes; y = x has their values.
static Value named_lanes(Lang *l, Text name, Value v, Span at)
{
    Value *lanes = new_array(lang_arena(l), Value, v.list->len);
    bool fresh = is_fresh_var(v.list->at[0]);

    if (!fresh)
        frozen_lanes(l, v, v.list->len, lanes, at);
    for (int i = 0; fresh && i < v.list->len; i++)
        v.list->at[i].buffer->name = text_format(lang_arena(l), "%.*s_%d",
                                                 TEXT_ARG(name), i);
    return fresh ? v : vector_of(l, lanes, v.list->len);
}

// x = v where x is a T.alloc_var or a T.Ref parameter.
static bool store_named(Lang *l, Frame *f, const Ast *target, Value v)
{
    const Value *old = map_get(&f->names, target->text);

    if (old && is_vector_var(l, *old) && (is_number(v) || v_is_vector(l, v))
        && !(is_vector_var(l, v) && is_fresh_var(v.list->at[0]))) {
        store_lanes(l, old->list, v, target->at);
        return true;
    }
    if (!old || !is_number(v) || is_fresh_var(v))
        return false;
    if (is_alloc_var(*old)) {
        IrExpr *zero = ir_int(l->trace->k, DT_I32, 0, target->at);
        store_element(l, old->buffer, &zero, to_expr(l, v, target->at),
                      target->at);
        return true;
    }
    if (!is_ref(*old))
        return false;
    store_element(l, old->expr->buffer, old->expr->args,
                  to_expr(l, v, target->at), target->at);
    return true;
}

// `x = v` for a plain name; `node` is the right side, NULL inside a tuple.
static void assign_name(Lang *l, Frame *f, const Ast *target, Value v,
                        const Ast *node)
{
    Text name = target->text;

    if (store_named(l, f, target, v))
        return;
    if (is_alloc_var(v) && !is_fresh_var(v))
        v = v_expr(load_var(l, v.buffer, target->at));
    if (v.kind == VAL_EXPR)
        v = let_value(l, name, v.expr, target->at);
    if (is_vector_var(l, v))
        v = named_lanes(l, name, v, target->at);
    if (v.kind == VAL_BUFFER && v.buffer->name.len == 0)
        v.buffer->name = text_copy(lang_arena(l), name);
    if (!v_is_device(v))
        warn_staged(l, f, target, v);
    else if (node && reads_name(node, name, 0))
        warn_no_carry(l, f, target);
    trace_bind(l, f, name, v);
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

// In `a, b = b, a` loads must happen before the stores: freeze them, under
// the names they are meant for.
static Value freeze_items(Lang *l, Value v, const Ast *target)
{
    Value *copy;

    if (v.kind != VAL_TUPLE && v.kind != VAL_LIST)
        return v;
    copy = new_array(lang_arena(l), Value, v.list->len + 1);
    for (int i = 0; i < v.list->len; i++) {
        const Ast *to = i < target->x.len ? target->x.at[i] : target;
        Text name = to->kind == AST_NAME ? to->text : TEXT("t");

        copy[i] = v.list->at[i];
        if (is_alloc_var(copy[i]) && !is_fresh_var(copy[i]))
            copy[i] = v_expr(load_var(l, copy[i].buffer, target->at));
        if (copy[i].kind == VAL_EXPR)
            copy[i] = let_value(l, name, copy[i].expr, target->at);
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
        assign_items(l, f, target, freeze_items(l, v, target));
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

// The first target takes the value, later ones what the first one holds:
// `a = b = A[0]` loads once.
static void trace_assign(Lang *l, Frame *f, const Ast *s)
{
    Value v = eval(l, f, s->a);

    if (s->x.len > 1 && v.kind == VAL_EXPR)
        v = let_value(l, TEXT("t"), v.expr, s->a->at);
    for (int i = 0; i < s->x.len; i++)
        assign_to(l, f, s->x.at[i], v, s->a);
}

// ---- x += e ---------------------------------------------------------------------

static void augment_name(Lang *l, Frame *f, const Ast *s)
{
    Value old = eval(l, f, s->a);
    Value by = eval(l, f, s->b);

    if (old.kind == VAL_BUFFER && !is_alloc_var(old))
        lang_raise(l, "TypeError", s->a->at,
                   "'%.*s' is a whole buffer: assign to its elements in "
                   "T.Parallel", TEXT_ARG(s->a->text));
    Value sum = binary_op(l, s->op, old, by, s->at);
    if (store_named(l, f, s->a, sum))
        return;
    if (sum.kind == VAL_EXPR)
        sum = let_value(l, s->a->text, sum.expr, s->a->at);
    if (v_is_device(sum))
        warn_no_carry(l, f, s->a);
    else
        warn_staged(l, f, s->a, sum);
    trace_bind(l, f, s->a->text, sum);
}

static bool trace_augassign(Lang *l, Frame *f, const Ast *s)
{
    if (s->a->kind == AST_NAME) {
        augment_name(l, f, s);
        return true;
    }
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
    device_setitem(l, base, index, binary_op(l, s->op, old, by, s->at),
                   s->a->at);
    return true;
}

// ---- annotations -------------------------------------------------------------------

static bool is_param_name(const Trace *t, Text name)
{
    const Ast *params = t->function->def->b;
    for (int i = 0; params && i < params->x.len; i++)
        if (text_eq(params->x.at[i]->text, name))
            return true;
    return false;
}

// The dtype of the tensor that was passed must be the declared one.
void trace_check_dtype(Lang *l, const Trace *t, const IrBuffer *b, Span at)
{
    Value actual = trace_argument(t, b->name);
    if (actual.kind == VAL_TENSORSPEC
        && !trace_holds(actual.spec->dtype, b->dtype))
        lang_raise(l, "TypeError", at, "'%.*s' is declared %s, the tensor is %s",
                   TEXT_ARG(b->name), dtype_info(b->dtype)->name,
                   dtype_info(actual.spec->dtype)->name);
}

static void trace_annassign(Lang *l, Frame *f, const Ast *s)
{
    Trace *t = l->trace;

    if (s->c) {
        assign_to(l, f, s->a, eval(l, f, s->c), s->c);
        return;
    }
    if (s->a->kind != AST_NAME)
        return;
    Value spec = eval(l, f, s->b);
    if (!t->eager || spec.kind != VAL_TENSORSPEC
        || !is_param_name(t, s->a->text))
        return;
    if (trace_param(t, s->a->text))
        lang_raise(l, "ValueError", s->at, "'%.*s' is declared twice",
                   TEXT_ARG(s->a->text));
    IrBuffer *b = trace_tensor(l, spec.spec, s->a->text, s->a->at);
    trace_check_dtype(l, t, b, s->at);
    ir_param(t->k, s->a->text, b, NULL);
    trace_bind(l, f, s->a->text, v_buffer(b));
}

static void trace_exprstmt(Lang *l, Frame *f, const Ast *s)
{
    Value v = eval(l, f, s->a);

    if (v.kind == VAL_LOOPFRAME || v.kind == VAL_KERNELFRAME)
        diag_warning(l->options.diag, s->at, "stage-unused-frame",
                     "this does nothing here: it belongs in a for or with");
    if (v.kind == VAL_EXPR && v.expr->kind == EXPR_ATOMIC)
        trace_emit(l, STMT_EVAL, s->at)->value = v.expr;
    extern_drop_result(l->trace, v);
}

static const char *refused(const Ast *s)
{
    switch (s->kind) {
    case AST_TRY:
        return "try";
    case AST_CLASS:
        return "class";
    case AST_GLOBAL:
        return "global";
    case AST_NONLOCAL:
        return "nonlocal";
    default:
        return NULL;
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
        trace_annassign(l, f, s);
        return true;
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
        trace_assert(l, f, s);
        return true;
    case AST_WITH:
        *flow = trace_with(l, f, s);
        return true;
    case AST_RETURN:
        *flow = trace_return(l, f, s);
        return true;
    case AST_EXPRSTMT:
        trace_exprstmt(l, f, s);
        return true;
    default:
        break;
    }
    if (refused(s))
        lang_unsupported(l, s->at, "'%s' inside a kernel", refused(s));
    return false;
}
