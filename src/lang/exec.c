// exec.c - statements.
#include "lang/eval_int.h"

// ---- loops -----------------------------------------------------------------

// Runs a loop's body once; false: the loop ends with *flow.
static bool turn(Lang *l, Frame *f, const AstList *body, Flow *flow)
{
    *flow = exec_block(l, f, body);
    if (*flow == FLOW_CONTINUE)
        *flow = FLOW_NEXT;
    return *flow == FLOW_NEXT;
}

static Flow finish_loop(Lang *l, Frame *f, const Ast *s, Flow flow)
{
    if (flow == FLOW_NEXT && s->y.len)          // no break: the else part
        return exec_block(l, f, &s->y);
    return flow == FLOW_BREAK ? FLOW_NEXT : flow;
}

static Flow exec_for(Lang *l, Frame *f, const Ast *s)
{
    Value v = eval(l, f, s->b);
    IterState *it;
    Flow flow = FLOW_NEXT;

    if (s->is_async)
        lang_unsupported(l, s->at, "'async for'");
    it = iter_of(l, v, s->b->at);
    temp_push(l, v_iter(it));
    while (iter_next(l, it, &v)) {
        lang_step(l, s->at);
        assign_target(l, f, s->a, v);
        if (!turn(l, f, &s->x, &flow))
            break;
        l->more->at = s->b->at;
    }
    return finish_loop(l, f, s, flow);
}

static Flow exec_while(Lang *l, Frame *f, const Ast *s)
{
    Flow flow = FLOW_NEXT;

    for (;;) {
        Value c = eval(l, f, s->a);
        bool go = value_truth(l, c, s->a->at);

        temp_drop(l, c, V_NONE);
        if (!go)
            break;
        lang_step(l, s->at);
        if (!turn(l, f, &s->x, &flow))
            break;
    }
    return finish_loop(l, f, s, flow);
}

// What nobody knows is guessed to be true, but where that gives up.
static bool gives_up(const Ast *s)
{
    const Ast *last = s->x.at[s->x.len - 1];

    return last->kind == AST_RAISE || last->kind == AST_CONTINUE;
}

static Flow exec_if(Lang *l, Frame *f, const Ast *s)
{
    Value c = eval(l, f, s->a);
    bool yes = value_truth(l, c, s->a->at) && !(v_is_unseen(c) && gives_up(s));

    temp_drop(l, c, V_NONE);
    return exec_block(l, f, yes ? &s->x : &s->y);
}

// ---- assignments -----------------------------------------------------------

static void exec_assign(Lang *l, Frame *f, const Ast *s)
{
    Value v = eval(l, f, s->a);

    if (s->x.len == 1 && s->x.at[0]->kind == AST_NAME) {
        name_bind(l, f, s->x.at[0]->text, v);
        return;
    }
    temp_push(l, v);
    for (int i = 0; i < s->x.len; i++)
        assign_target(l, f, s->x.at[i], v);
    temp_drop(l, v, V_NONE);                    // copied into a tensor
}

static Value augmented(Lang *l, Frame *f, const Ast *s, Value old)
{
    Value by, out;

    temp_push(l, old);
    by = eval(l, f, s->b);
    temp_push(l, by);
    l->more->at = s->at;
    if (!inplace_op(l, s->op, old, by, &out, s->at))
        out = binary_op(l, s->op, old, by, s->at);
    temp_drop(l, by, out);
    temp_drop(l, old, out);
    return out;
}

static void augment_attribute(Lang *l, Frame *f, const Ast *s)
{
    const Ast *t = s->a;
    Value base = eval(l, f, t->a), old;

    temp_push(l, base);
    old = getattr_or_raise(l, base, t->text, t->at, t->name_at);
    setattr(l, base, t->text, augmented(l, f, s, old), t->at);
}

static void augment_item(Lang *l, Frame *f, const Ast *s)
{
    const Ast *t = s->a;
    Value base = eval(l, f, t->a), index, v;

    temp_push(l, base);
    index = eval(l, f, t->b);
    temp_push(l, index);
    v = augmented(l, f, s, getitem(l, base, index, t->at));
    setitem(l, base, index, v, t->at);
    temp_drop(l, v, V_NONE);
}

static void exec_augassign(Lang *l, Frame *f, const Ast *s)
{
    if (s->a->kind == AST_ATTRIBUTE)
        augment_attribute(l, f, s);
    else if (s->a->kind == AST_SUBSCRIPT)
        augment_item(l, f, s);
    else
        name_bind(l, f, s->a->text,
                  augmented(l, f, s, eval_name(l, f, s->a)));
}

// A class remembers its annotated names in order: @dataclass wants them.
static void note_annotation(Lang *l, Frame *f, const Ast *s)
{
    const Source *src = sources_get(l->options.sources, s->at.file);
    Value names;

    if (f->scope->kind != AST_CLASS || s->a->kind != AST_NAME)
        return;
    if (!map_value(&f->names, TEXT("__annotations__"), &names)) {
        names = v_dict(l);
        map_bind(l, &f->names, TEXT("__annotations__"), names);
    }
    dict_set(l, names.dict, v_str(s->a->text),
             v_str(text_slice(src->text, s->b->at.begin, s->b->at.end)));
}

static void exec_annassign(Lang *l, Frame *f, const Ast *s)
{
    note_annotation(l, f, s);
    if (s->c)
        assign_target(l, f, s->a, eval(l, f, s->c));
}

// ---- definitions -----------------------------------------------------------

static bool is_opaque(Value v)
{
    return v.kind == VAL_MODULE && v.module->opaque;
}

// What something unknown decorates is unknown too: using it is the error.
static Value decorate(Lang *l, const Ast *s, const Value *decorators, Value v)
{
    for (int i = s->y.len - 1; i >= 0; i--) {
        if (is_opaque(decorators[i])) {
            v = decorators[i];
            continue;
        }
        Args args = {.at = &v, .count = 1, .at_span = s->y.at[i]->at};

        temp_push(l, v);
        l->more->at = args.at_span;
        v = call_value(l, decorators[i], &args);
    }
    return v;
}

// @unknown and @unknown(...) alike. Only a callee that is a name is looked at
// beforehand: evaluating it twice shows nowhere.
static Value eval_decorator(Lang *l, Frame *f, const Ast *e)
{
    if (e->kind == AST_CALL &&
        (e->a->kind == AST_NAME || e->a->kind == AST_ATTRIBUTE)) {
        Value callee = eval(l, f, e->a);

        if (is_opaque(callee))
            return callee;
    }
    return eval(l, f, e);
}

static Value *eval_decorators(Lang *l, Frame *f, const Ast *s)
{
    Value *out = temps_take(l, s->y.len);

    for (int i = 0; i < s->y.len; i++)
        out[i] = eval_decorator(l, f, s->y.at[i]);
    return out;
}

static void exec_function(Lang *l, Frame *f, const Ast *s)
{
    Value *decorators = eval_decorators(l, f, s);
    Value fn = function_new(l, f, s);

    name_bind(l, f, s->text, decorate(l, s, decorators, fn));
}

static void exec_classdef(Lang *l, Frame *f, const Ast *s)
{
    Value *decorators = eval_decorators(l, f, s);
    Value c = class_define(l, f, s);

    name_bind(l, f, s->text, decorate(l, s, decorators, c));
}

// ---- the rest --------------------------------------------------------------

_Noreturn static void assertion_failed(Lang *l, Frame *f, const Ast *s)
{
    Value message;
    int count = 0;

    if (s->b) {
        message = eval(l, f, s->b);
        count = 1;
    }
    exception_raise(l, exception_new(l, l->more->exceptions[EXC_ASSERTION],
                                     &message, count), s->at);
}

static void exec_assert(Lang *l, Frame *f, const Ast *s)
{
    int guesses = l->more->guesses;
    Value c = eval(l, f, s->a);

    if (v_is_unseen(c) || l->more->guesses > guesses) {
        l->more->guessed_in_asserts += l->more->guesses - guesses;
        lang_not_compared(l, s->a->at);
        return;
    }
    if (!value_truth(l, c, s->a->at))
        assertion_failed(l, f, s);
    if (guesses == l->more->guessed_in_asserts && !l->trace)
        l->more->checks++;
    temp_drop(l, c, V_NONE);
}

static void delete_name(Lang *l, Frame *f, const Ast *t)
{
    Map *m = f->scope->globals && map_find(f->scope->globals, t->text)
                 ? &f->module->members : frame_map(f);

    if (!map_remove(m, t->text))
        lang_raise(l, "NameError", t->at, "name '%.*s' is not defined",
                   TEXT_ARG(t->text));
}

static void delete_target(Lang *l, Frame *f, const Ast *t)
{
    Value base;

    switch (t->kind) {
    case AST_NAME:
        delete_name(l, f, t);
        break;
    case AST_ATTRIBUTE:
        base = eval(l, f, t->a);
        if (!delattr(l, base, t->text))
            lang_raise(l, "AttributeError", t->at,
                       "'%s' object has no attribute '%.*s'",
                       value_type_name(base), TEXT_ARG(t->text));
        break;
    case AST_SUBSCRIPT:
        base = eval(l, f, t->a);
        temp_push(l, base);
        delitem(l, base, eval(l, f, t->b), t->at);
        break;
    default:                                    // (a, b)
        for (int i = 0; i < t->x.len; i++)
            delete_target(l, f, t->x.at[i]);
        break;
    }
}

static Flow exec_return(Lang *l, Frame *f, const Ast *s)
{
    l->returned = s->a ? eval(l, f, s->a) : V_NONE;
    return FLOW_RETURN;
}

static void exec_expression(Lang *l, Frame *f, const Ast *s)
{
    temp_drop(l, eval(l, f, s->a), V_NONE);
}

static Flow exec_plain(Lang *l, Frame *f, const Ast *s)
{
    switch (s->kind) {
    case AST_EXPRSTMT:
        exec_expression(l, f, s);
        return FLOW_NEXT;
    case AST_ASSIGN:
        exec_assign(l, f, s);
        return FLOW_NEXT;
    case AST_AUGASSIGN:
        exec_augassign(l, f, s);
        return FLOW_NEXT;
    case AST_ANNASSIGN:
        exec_annassign(l, f, s);
        return FLOW_NEXT;
    case AST_IF:
        return exec_if(l, f, s);
    case AST_FOR:
        return exec_for(l, f, s);
    case AST_WHILE:
        return exec_while(l, f, s);
    case AST_RETURN:
        return exec_return(l, f, s);
    case AST_BREAK:
        return FLOW_BREAK;
    case AST_CONTINUE:
        return FLOW_CONTINUE;
    case AST_FUNCTION:
        exec_function(l, f, s);
        return FLOW_NEXT;
    case AST_CLASS:
        exec_classdef(l, f, s);
        return FLOW_NEXT;
    case AST_WITH:
        return exec_with(l, f, s);
    case AST_TRY:
        return exec_try(l, f, s);
    case AST_RAISE:
        exec_raise(l, f, s);
        return FLOW_NEXT;
    case AST_ASSERT:
        exec_assert(l, f, s);
        return FLOW_NEXT;
    case AST_IMPORT:
    case AST_IMPORTFROM:
        exec_import(l, f, s);
        return FLOW_NEXT;
    case AST_DELETE:
        for (int i = 0; i < s->x.len; i++)
            delete_target(l, f, s->x.at[i]);
        return FLOW_NEXT;
    case AST_TYPEALIAS:
        name_bind(l, f, s->text, v_typing(l, s->text));
        return FLOW_NEXT;
    case AST_BLOCK:
        return exec_block(l, f, &s->x);
    case AST_PASS:
    case AST_GLOBAL:
    case AST_NONLOCAL:
        return FLOW_NEXT;
    default:
        BUG("exec: %s is not a statement", ast_name(s->kind));
    }
}

static Flow exec_statement(Lang *l, Frame *f, const Ast *s)
{
    Flow flow;

    stack_check(l, s->at);
    lang_step(l, s->at);
    l->more->at = s->at;
    if (f->traced && trace_statement(l, f, s, &flow))
        return flow;
    return exec_plain(l, f, s);
}

Flow exec_block(Lang *l, Frame *f, const AstList *body)
{
    for (int i = 0; i < body->len; i++) {
        int top = temps_top(l), pins = lang_pins(l);
        Flow flow = exec_statement(l, f, body->at[i]);

        temps_cut(l, top);
        lang_unpin(l, pins);
        foreign_sweep_if_due(l);
        if (flow != FLOW_NEXT)
            return flow;
    }
    return FLOW_NEXT;
}
