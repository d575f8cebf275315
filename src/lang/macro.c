// macro.c - @T.prim_func and @T.macro; macros are inlined where they are called.
#include "lang/trace_int.h"

Value prim_func(Lang *l, const Bound *b)
{
    Value fn = b->at[0];

    if (fn.kind == VAL_UNBOUND)
        return (Value){.kind = VAL_PRIM, .prim = b->op};
    if (fn.kind != VAL_FUNCTION)
        lang_raise(l, "TypeError", b->call, "%s decorates a function; found %s",
                   b->info->surface, value_type_name(fn));
    fn.function->traced = true;
    if (b->op == OP_MACRO) {
        fn.function->is_macro = true;
        return (Value){.kind = VAL_MACRO, .function = fn.function};
    }
    fn.function->is_prim_func = true;
    return (Value){.kind = VAL_KERNEL,
                   .kernel = trace_prim_func(l, fn.function, b->call)};
}

// ---- arguments ------------------------------------------------------------------

bool is_ref(Value v)
{
    return v.kind == VAL_EXPR && v.expr->kind == EXPR_LOAD;
}

static bool wants_ref(Lang *l, const Function *fn, const Ast *param)
{
    if (!param->a)
        return false;
    Value v = eval(l, fn->closure, param->a);
    return v.kind == VAL_PRIM && v.prim == OP_REF;
}

static IrExpr *frozen(Lang *l, IrExpr *e, Span at)
{
    int64_t n;
    Value v = ir_is_int(e, &n) ? v_expr(e) : trace_freeze(l, TEXT("i"), e, at);

    return to_expr(l, v, at);
}

// An element or slice by reference: its place is what it is at the call.
static Value bind_ref(Lang *l, Value v, const Ast *param, Span at)
{
    if (is_alloc_var(v))
        return v;
    if (is_ref(v)) {
        IrExpr *index[IR_MAX_RANK];

        for (int i = 0; i < v.expr->count; i++)
            index[i] = frozen(l, v.expr->args[i], at);
        return v_expr(ir_load(l->trace->k, v.expr->buffer, index,
                              v.expr->count, at));
    }
    if (v.kind == VAL_REGION) {
        IrRegion *r = new (lang_arena(l), IrRegion);

        *r = *v.region;
        for (int d = 0; d < r->buffer->rank; d++)
            r->min[d] = frozen(l, r->min[d], at);
        return (Value){.kind = VAL_REGION, .region = r};
    }
    lang_raise(l, "ValueError", at,
               "'%.*s' is a T.Ref: pass a T.alloc_var, an element or a slice "
               "of a buffer; found %s", TEXT_ARG(param->text),
               value_type_name(v));
}

static bool reads_visit(void *ctx, IrExpr *e)
{
    if (e->kind == EXPR_LOAD || e->kind == EXPR_ATOMIC)
        *(bool *)ctx = true;
    return true;
}

// What may change later is frozen now.
static Value by_value(Lang *l, Text name, IrExpr *e, Span at)
{
    bool reads = false;

    ir_walk_expr(e, reads_visit, &reads);
    return reads ? trace_freeze(l, name, e, at) : expr_value(l, e);
}

// Scalars go by value; buffers and Python objects as they are.
static Value bind_value(Lang *l, Value v, const Ast *param, Span at)
{
    if (is_alloc_var(v))
        v = v_expr(load_var(l, v.buffer, at));
    return v.kind == VAL_EXPR ? by_value(l, param->text, v.expr, at) : v;
}

static void bind_macro_params(Lang *l, Frame *f, Function *fn, Span at)
{
    const Ast *params = fn->def->b;

    for (int i = 0; params && i < params->x.len; i++) {
        const Ast *p = params->x.at[i];
        Value v;

        if (!name_find(l, f, p->text, &v))
            continue;
        v = wants_ref(l, fn, p) ? bind_ref(l, v, p, at)
                                : bind_value(l, v, p, at);
        name_bind(l, f, p->text, v);
    }
}

// ---- the call ---------------------------------------------------------------------

// A returned variable is its value at the end of the macro.
static Value result_value(Lang *l, Value v, Span at)
{
    if (is_alloc_var(v))
        v = v_expr(load_var(l, v.buffer, at));
    if (v.kind == VAL_EXPR)
        return by_value(l, TEXT("result"), v.expr, at);
    if (v.kind != VAL_TUPLE)
        return v;
    Value *items = new_array(lang_arena(l), Value, v.list->len + 1);
    for (int i = 0; i < v.list->len; i++)
        items[i] = result_value(l, v.list->at[i], at);
    return v_tuple(l, items, v.list->len);
}

Value macro_call(Lang *l, Function *macro, const Args *args)
{
    Trace *t = trace_need(l, "a macro", args->at_span);

    if (t->macro_depth >= 64)
        lang_raise(l, "RecursionError", args->at_span,
                   "macros nest more than 64 deep");
    Frame *f = frame_new(l, macro->def, macro->closure, macro->module);
    f->function = macro;
    f->traced = true;
    bind_params(l, f, macro, args);
    frame_enter(l, f, args->at_span);
    int loops = t->loop_depth;
    t->loop_depth = 0;
    t->macro_depth++;
    bind_macro_params(l, f, macro, args->at_span);
    Flow flow = exec_block(l, f, &macro->def->x);
    Value result = flow == FLOW_RETURN
                       ? result_value(l, l->returned, args->at_span) : V_NONE;
    t->macro_depth--;
    t->loop_depth = loops;
    frame_leave(l);
    return result;
}
