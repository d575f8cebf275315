// prim_extern.c - T.call_extern, T.import_source: calls of C functions.
//
// A call is a statement of its own, made where it is evaluated; what it gives
// is left in a variable.
#include "lang/trace_int.h"

enum { RESULT, NAME, FIRST };

// T.call_extern("f", x, dtype="float32") is T.call_extern("float32", "f", x).
Args extern_args(Lang *l, const Args *args)
{
    Args out = *args;

    if (args->keyword_count != 1 || !text_is(args->names[0], "dtype"))
        return out;
    out.at = new_array(lang_arena(l), Value, args->count + 1);
    out.spans = new_array(lang_arena(l), Span, args->count + 1);
    out.at[0] = args->values[0];
    out.spans[0] = args->at_span;
    for (int i = 0; i < args->count; i++) {
        out.at[i + 1] = args->at[i];
        out.spans[i + 1] = args->spans ? args->spans[i] : args->at_span;
    }
    out.count++;
    out.keyword_count = 0;
    return out;
}

static IrOperand operand(Lang *l, Value v, Span at)
{
    bool pointer = v.kind == VAL_REGION ||
                   (v.kind == VAL_BUFFER && !is_alloc_var(v));

    if (pointer)
        return (IrOperand){.kind = OPERAND_REGION,
                           .region = first_element(l, to_region(l, v, at))};
    return (IrOperand){.kind = OPERAND_EXPR, .expr = to_expr(l, v, at)};
}

static bool is_void(Value v)
{
    return v.kind == VAL_STR &&
           (text_is(v.s, "handle") || text_is(v.s, "void"));
}

// A variable for the result, which lives from the call on.
static IrBuffer *result(Lang *l, const Bound *b)
{
    IrKernel *k = l->trace->k;
    DType t = value_to_dtype(l, b->at[RESULT], b->spans[RESULT]);
    IrExpr *one = ir_int(k, DT_I32, 1, b->call);
    IrBuffer *r = ir_buffer(k, TEXT("result"), t, SCOPE_VAR, 1, &one, NULL,
                            b->call);

    trace_builder_ok(l, r, b->call);
    trace_emit(l, STMT_ALLOC, b->call)->buffer = r;
    return r;
}

// Functions of every GPU that change nothing which a program here can see.
static bool only_waits(Value name)
{
    return text_is(name.s, "__nanosleep");
}

Value extern_call(Lang *l, const Bound *b)
{
    Trace *t = trace_need(l, b->info->surface, b->call);
    IrBuffer *r = NULL;
    IrStmt *s;

    for (int i = RESULT; i < FIRST; i++)
        if (b->at[i].kind == VAL_UNBOUND)
            lang_raise(l, "TypeError", b->call, "T.call_extern() is missing "
                       "argument '%.*s'", TEXT_ARG(b->info->param[i].name));
    if (b->at[NAME].kind != VAL_STR)
        lang_raise(l, "TypeError", b->spans[NAME], "T.call_extern takes the "
                   "name of a function, not %s", value_type_name(b->at[NAME]));
    if (only_waits(b->at[NAME]))
        return V_NONE;
    s = ir_tile(t->k, b->op, b->call);
    for (int i = FIRST; i < b->info->param_count; i++)
        if (b->at[i].kind != VAL_UNBOUND)
            s->operand[i] = operand(l, b->at[i], b->spans[i]);
    prim_attr(l, s, ATTR_FUNC_NAME, b->at[NAME], b->spans[NAME]);
    if (!is_void(b->at[RESULT])) {
        r = result(l, b);
        s->operand[RESULT] = (IrOperand){
            .kind = OPERAND_REGION,
            .region = first_element(l, region_whole(l, r, b->call)),
        };
    }
    trace_add(l, s);
    return r ? v_expr(load_var(l, r, b->call)) : V_NONE;
}

// The result of a call that stands alone is nobody's: it may have a type that C
// does not know.
void extern_drop_result(Trace *t, Value v)
{
    IrStmt *last = t->block->len ? t->block->body[t->block->len - 1] : NULL;

    if (last && last->kind == STMT_TILE && last->op == OP_CALL_EXTERN
        && v.kind == VAL_EXPR && v.expr->kind == EXPR_LOAD
        && last->operand[RESULT].kind == OPERAND_REGION
        && last->operand[RESULT].region->buffer == v.expr->buffer) {
        last->operand[RESULT] = (IrOperand){.kind = OPERAND_NONE};
        t->block->body[t->block->len - 2] = last;   // its variable goes
        t->block->len--;
    }
}

// Source for the device: kept with what T.Kernel(prelude=...) gave.
Value import_source(Lang *l, const Bound *b)
{
    IrStmt *launch = trace_need(l, b->info->surface, b->call)->launch;
    const IrAttrValue *before;
    Text source;

    launch_around(l, b);
    before = ir_attr_get(launch, ATTR_PRELUDE);
    if (!bound_given(b, 0) || b->at[0].kind == VAL_NONE)
        return V_NONE;
    if (b->at[0].kind != VAL_STR)
        lang_raise(l, "TypeError", b->spans[0], "T.import_source takes the "
                   "text of a source, not %s", value_type_name(b->at[0]));
    source = b->at[0].s;
    if (before && before->kind == ATTRVAL_TEXT)
        source = text_format(lang_arena(l), "%.*s\n%.*s",
                             TEXT_ARG(before->text), TEXT_ARG(source));
    prim_attr(l, launch, ATTR_PRELUDE, v_str(source), b->spans[0]);
    return V_NONE;
}
