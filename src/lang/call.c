// call.c - calls: arguments, parameters, functions, anything callable.
#include <string.h>

#include "lang/eval_int.h"

// ---- arguments -------------------------------------------------------------

// A call's arguments while they are collected; `spread` with * or **.
typedef struct {
    List *at;
    struct {
        Text *at;
        int len, room;
    } names;
    List *values;
} Collected;

static bool is_spread(const Ast *arg)
{
    return arg->kind == AST_STARRED || arg->kind == AST_DOUBLESTAR;
}

static void add_keyword(Lang *l, Collected *c, Text name, Value v, Span at)
{
    for (int i = 0; i < c->names.len; i++)
        if (text_eq(c->names.at[i], name))
            lang_raise(l, "TypeError", at,
                       "got multiple values for keyword argument '%.*s'",
                       TEXT_ARG(name));
    vec_push(l->options.arena, &c->names, name);
    list_append(l, c->values, v);
}

static void spread_mapping(Lang *l, Collected *c, Value v, Span at)
{
    if (v.kind != VAL_DICT)
        lang_raise(l, "TypeError", at,
                   "argument after ** must be a mapping, not %s",
                   value_type_name(v));
    for (int i = 0; i < v.dict->len; i++) {
        Value key = v.dict->keys[i];

        if (key.kind == VAL_UNBOUND)
            continue;
        if (key.kind != VAL_STR)
            lang_raise(l, "TypeError", at, "keywords must be strings");
        add_keyword(l, c, key.s, v.dict->values[i], at);
    }
}

static void spread_iterable(Lang *l, Collected *c, Value v, Span at)
{
    List *items = value_to_list(l, v, at);

    for (int i = 0; i < items->len; i++)
        list_append(l, c->at, items->at[i]);
}

static Args spread_args(Lang *l, Frame *f, const Ast *call)
{
    Collected c = {.at = list_new(l, call->x.len, false),
                   .values = list_new(l, 4, false)};

    temp_push(l, v_of_list(c.at));
    temp_push(l, v_of_list(c.values));
    for (int i = 0; i < call->x.len; i++) {
        const Ast *arg = call->x.at[i];
        bool plain = !is_spread(arg) && arg->kind != AST_KEYWORD;
        Value v = eval(l, f, plain ? arg : arg->a);

        if (arg->kind == AST_STARRED)
            spread_iterable(l, &c, v, arg->at);
        else if (arg->kind == AST_DOUBLESTAR)
            spread_mapping(l, &c, v, arg->at);
        else if (arg->kind == AST_KEYWORD)
            add_keyword(l, &c, arg->text, v, arg->at);
        else
            list_append(l, c.at, v);
    }
    return (Args){.at = c.at->at, .count = c.at->len, .names = c.names.at,
                  .values = c.values->at, .keyword_count = c.names.len,
                  .at_span = call->at};
}

// Where each positional argument stands, for the messages of primitives.
static Span *arg_spans(Lang *l, const Ast *call)
{
    Span *spans = new_array(l->options.arena, Span, (size_t)call->x.len);
    int n = 0;

    for (int i = 0; i < call->x.len; i++)
        if (call->x.at[i]->kind != AST_KEYWORD)
            spans[n++] = call->x.at[i]->at;
    return spans;
}

Args eval_args(Lang *l, Frame *f, const Ast *call)
{
    int keywords = 0, n = call->x.len, next = 0, k = 0;
    Value *slots;
    Args args = {.at_span = call->at};

    for (int i = 0; i < n; i++) {
        if (is_spread(call->x.at[i]))
            return spread_args(l, f, call);
        keywords += call->x.at[i]->kind == AST_KEYWORD;
    }
    slots = temps_take(l, n);
    if (keywords)
        args.names = new_array(l->options.arena, Text, (size_t)keywords);
    for (int i = 0; i < n; i++) {
        const Ast *arg = call->x.at[i];

        if (arg->kind != AST_KEYWORD) {
            slots[next++] = eval(l, f, arg);
            continue;
        }
        args.names[k] = arg->text;
        slots[n - keywords + k++] = eval(l, f, arg->a);
    }
    args.at = slots;
    args.count = n - keywords;
    args.values = slots + (n - keywords);
    args.keyword_count = keywords;
    if (l->trace && args.count)
        args.spans = arg_spans(l, call);
    return args;
}

// ---- parameters ------------------------------------------------------------

typedef struct {
    Lang *l;
    Function *fn;
    const Args *args;
    const AstList *params;
    Value *values;              // per parameter; UNBOUND: nothing yet
    int positional, required;   // parameters that take positional arguments
    int star, double_star;      // their index, or -1
} Binding;

static const char *function_title(Lang *l, const Function *fn)
{
    TextBuf b = {0};

    if (fn->owner)
        buf_printf(&b, "%.*s.", TEXT_ARG(fn->owner->name));
    buf_text(&b, fn->name);
    return v_buf(l, &b).s.at;
}

static void survey(Binding *b)
{
    b->star = b->double_star = -1;
    for (int i = 0; i < b->params->len; i++) {
        ParamKind kind = b->params->at[i]->param;

        if (kind == PARAM_STAR)
            b->star = i;
        else if (kind == PARAM_DOUBLE_STAR)
            b->double_star = i;
        else if (kind != PARAM_KEYWORD_ONLY) {
            b->positional++;
            b->required += b->fn->defaults[i].kind == VAL_UNBOUND;
        }
    }
}

_Noreturn static void too_many(const Binding *b)
{
    bool range = b->required < b->positional;
    int given = b->args->count;
    Text takes = range ? text_format(b->l->options.arena, "from %d to %d",
                                     b->required, b->positional)
                       : text_format(b->l->options.arena, "%d", b->positional);

    lang_raise(b->l, "TypeError", b->args->at_span,
               "%s() takes %.*s positional argument%s but %d %s given",
               function_title(b->l, b->fn), TEXT_ARG(takes),
               b->positional == 1 ? "" : "s", given,
               given == 1 ? "was" : "were");
}

static void bind_positional(Binding *b)
{
    const Args *args = b->args;
    int next = 0;

    for (int i = 0; i < b->params->len && next < args->count; i++) {
        ParamKind kind = b->params->at[i]->param;

        if (kind == PARAM_POSITIONAL_ONLY || kind == PARAM_PLAIN)
            b->values[i] = args->at[next++];
    }
    if (b->star >= 0)
        b->values[b->star] = v_tuple(b->l, args->at + next,
                                     args->count - next);
    else if (next < args->count)
        too_many(b);
}

static int param_named(const Binding *b, Text name)
{
    for (int i = 0; i < b->params->len; i++)
        if ((b->params->at[i]->param == PARAM_PLAIN ||
             b->params->at[i]->param == PARAM_KEYWORD_ONLY) &&
            text_eq(b->params->at[i]->text, name))
            return i;
    return -1;
}

_Noreturn static void unknown_keyword(const Binding *b, Text name)
{
    Map known = {0};

    for (int i = 0; i < b->params->len; i++) {
        const Ast *p = b->params->at[i];

        if (p->param == PARAM_POSITIONAL_ONLY && text_eq(p->text, name))
            lang_raise(b->l, "TypeError", b->args->at_span,
                       "%s() got some positional-only arguments passed as "
                       "keyword arguments: '%.*s'",
                       function_title(b->l, b->fn), TEXT_ARG(name));
        map_set(b->l->options.arena, &known, p->text, &known);
    }
    lang_raise_near(b->l, "TypeError", b->args->at_span,
                    nearest_name(&known, name, TEXT("")),
                    "%s() got an unexpected keyword argument '%.*s'",
                    function_title(b->l, b->fn), TEXT_ARG(name));
}

static void bind_keywords(Binding *b)
{
    const Args *args = b->args;
    Dict *rest = NULL;

    if (b->double_star >= 0) {
        b->values[b->double_star] = v_dict(b->l);
        rest = b->values[b->double_star].dict;
    }
    for (int k = 0; k < args->keyword_count; k++) {
        int i = param_named(b, args->names[k]);

        if (i < 0 && !rest)
            unknown_keyword(b, args->names[k]);
        if (i < 0) {
            dict_set(b->l, rest, v_str(args->names[k]), args->values[k]);
            continue;
        }
        if (b->values[i].kind != VAL_UNBOUND)
            lang_raise(b->l, "TypeError", args->at_span,
                       "%s() got multiple values for argument '%.*s'",
                       function_title(b->l, b->fn), TEXT_ARG(args->names[k]));
        b->values[i] = args->values[k];
    }
}

static bool is_missing(const Binding *b, int i, bool keyword_only)
{
    ParamKind kind = b->params->at[i]->param;

    return b->values[i].kind == VAL_UNBOUND && kind != PARAM_STAR &&
           kind != PARAM_DOUBLE_STAR &&
           (kind == PARAM_KEYWORD_ONLY) == keyword_only;
}

// "'a'", "'a' and 'b'", "'a', 'b', and 'c'"
static Text name_missing(const Binding *b, bool keyword_only, int count)
{
    TextBuf out = {0};
    int n = 0;

    for (int i = 0; i < b->params->len; i++) {
        if (!is_missing(b, i, keyword_only))
            continue;
        if (n > 0)
            buf_puts(&out, n + 1 < count ? ", " : count > 2 ? ", and "
                                                           : " and ");
        buf_printf(&out, "'%.*s'", TEXT_ARG(b->params->at[i]->text));
        n++;
    }
    return v_buf(b->l, &out).s;
}

static void check_missing(const Binding *b, bool keyword_only)
{
    int count = 0;
    Text names;

    for (int i = 0; i < b->params->len; i++)
        count += is_missing(b, i, keyword_only);
    if (!count)
        return;
    names = name_missing(b, keyword_only, count);
    lang_raise(b->l, "TypeError", b->args->at_span,
               "%s() missing %d required %s argument%s: %.*s",
               function_title(b->l, b->fn), count,
               keyword_only ? "keyword-only" : "positional",
               count == 1 ? "" : "s", TEXT_ARG(names));
}

static void bind_defaults(Binding *b)
{
    for (int i = 0; i < b->params->len; i++)
        if (b->values[i].kind == VAL_UNBOUND)
            b->values[i] = b->fn->defaults[i];
    check_missing(b, false);
    check_missing(b, true);
}

// Only plain parameters, and an argument for each: the usual call.
static bool bind_plainly(Lang *l, Frame *f, const AstList *params,
                         const Args *args)
{
    if (args->keyword_count || args->count != params->len)
        return false;
    for (int i = 0; i < params->len; i++)
        if (params->at[i]->param != PARAM_PLAIN &&
            params->at[i]->param != PARAM_POSITIONAL_ONLY)
            return false;
    for (int i = 0; i < params->len; i++)
        name_bind(l, f, params->at[i]->text, args->at[i]);
    return true;
}

void bind_params(Lang *l, Frame *f, Function *fn, const Args *args)
{
    static const AstList none = {0};
    Binding b = {.l = l, .fn = fn, .args = args,
                 .params = fn->def->b ? &fn->def->b->x : &none};
    int top = temps_top(l);

    if (bind_plainly(l, f, b.params, args))
        return;
    b.values = temps_take(l, b.params->len);
    survey(&b);
    bind_positional(&b);
    bind_keywords(&b);
    bind_defaults(&b);
    for (int i = 0; i < b.params->len; i++)
        if (b.params->at[i]->text.len)          // not a bare '*'
            name_bind(l, f, b.params->at[i]->text, b.values[i]);
    temps_cut(l, top);
}

// ---- functions -------------------------------------------------------------

static Value *eval_defaults(Lang *l, Frame *f, const Ast *params)
{
    int n = params ? params->x.len : 0;
    Value *defaults = new_array(l->options.arena, Value, (size_t)n);
    int top = temps_top(l);

    for (int i = 0; i < n; i++) {
        const Ast *p = params->x.at[i];

        if (!p->b)
            continue;
        defaults[i] = eval(l, f, p->b);
        value_bind(defaults[i]);
        temp_push(l, defaults[i]);
    }
    temps_cut(l, top);
    return defaults;
}

Value function_new(Lang *l, Frame *f, const Ast *def)
{
    Function *fn = new (l->options.arena, Function);

    fn->name = def->kind == AST_LAMBDA
                   ? TEXT("<lambda>")
                   : text_copy(l->options.arena, def->text);
    fn->def = def;
    fn->module = f->module;
    fn->closure = f;
    fn->defaults = eval_defaults(l, f, def->b);
    frame_capture(f);
    return (Value){.kind = VAL_FUNCTION, .function = fn};
}

static Value run_body(Lang *l, Frame *f, const Ast *def)
{
    if (def->kind == AST_LAMBDA)
        return eval(l, f, def->a);
    if (exec_block(l, f, &def->x) == FLOW_RETURN) {
        Value v = l->returned;

        l->returned = V_NONE;
        return v;
    }
    return V_NONE;
}

static Value run_generator(Lang *l, Frame *f, const Ast *def)
{
    IterState *it;

    f->yielded = list_new(l, 8, false);
    run_body(l, f, def);
    it = iter_of(l, v_of_list(f->yielded), def->at);
    it->name = "generator";
    f->yielded = NULL;
    return v_iter(it);
}

static Value call_function(Lang *l, Function *fn, const Args *args)
{
    Frame *f;
    Value result;

    if (fn->is_macro)
        return macro_call(l, fn, args);
    if (fn->def->is_async)
        lang_unsupported(l, args->at_span, "an async function");
    lang_step(l, args->at_span);
    f = frame_new(l, fn->def, fn->closure, fn->module);
    f->function = fn;
    f->traced = fn->traced;
    bind_params(l, f, fn, args);
    frame_enter(l, f, args->at_span);
    result = fn->def->is_generator ? run_generator(l, f, fn->def)
                                   : run_body(l, f, fn->def);
    frame_leave(l);
    frame_give_back(l, f);
    return result;
}

// ---- anything callable -----------------------------------------------------

static Value call_with_self(Lang *l, Value callee, Value self,
                            const Args *args)
{
    int top = temps_top(l);
    Value *at = temps_take(l, args->count + 1), r;
    Args with = *args;

    at[0] = self;
    for (int i = 0; i < args->count; i++)
        at[i + 1] = args->at[i];
    with.at = at;
    with.count++;
    with.spans = NULL;
    r = call_value(l, callee, &with);
    temps_cut(l, top);
    return r;
}

static Value call_builtin(Lang *l, const BuiltinFn *b, const Args *args)
{
    int pins = lang_pins(l);
    Value r;

    lang_step(l, args->at_span);
    if (!unseen_argument(l, b->name, args, &r))
        r = b->call(l, b->ctx, args);
    lang_unpin(l, pins);
    return r;
}

static Value call_foreign(Lang *l, Foreign *f, const Args *args)
{
    int pins = lang_pins(l);
    Value r;

    if (!f->type->call)
        lang_raise(l, "TypeError", args->at_span,
                   "'%s' object is not callable", f->type->name);
    lang_step(l, args->at_span);
    r = f->type->call(l, f, args);
    lang_unpin(l, pins);
    return r;
}

_Noreturn static void not_callable(Lang *l, Value callee, Span at)
{
    opaque_check(l, callee, at);
    if (callee.kind == VAL_KERNEL)
        lang_raise(l, "TypeError", at,
                   "a prim_func is not callable: give it to tilelang.compile, "
                   "or return it from a function with @tilelang.jit");
    lang_raise(l, "TypeError", at, "'%s' object is not callable",
               value_type_name(callee));
}

Value call_value(Lang *l, Value callee, const Args *args)
{
    Value method;

    stack_check(l, args->at_span);
    switch (callee.kind) {
    case VAL_FUNCTION:
        return call_function(l, callee.function, args);
    case VAL_MACRO:
        return macro_call(l, callee.function, args);
    case VAL_BUILTIN:
        return call_builtin(l, callee.builtin, args);
    case VAL_BOUND:
        return call_with_self(l, callee.bound->callee, callee.bound->self,
                              args);
    case VAL_CLASS:
        return class_call(l, callee.cls, args);
    case VAL_TYPE:
        return unseen_argument(l, "", args, &method)
                   ? method : type_call(l, callee.type, args);
    case VAL_PRIM:
        return prim_call(l, callee.prim, args);
    case VAL_DTYPE:
        return dtype_call(l, callee.dtype, args);
    case VAL_VECTYPE:
        return vectype_call(l, callee, args);
    case VAL_FOREIGN:
        return call_foreign(l, callee.foreign, args);
    case VAL_DESCRIPTOR:
        if (callee.descriptor->kind == DESC_STATIC)
            return call_value(l, callee.descriptor->get, args);
        not_callable(l, callee, args->at_span);
    case VAL_INSTANCE:
        if (class_find(callee.instance->cls, TEXT("__call__"), &method))
            return call_with_self(l, method, callee, args);
        not_callable(l, callee, args->at_span);
    default:
        not_callable(l, callee, args->at_span);
    }
}

static void temp_hold(Lang *l, Value v)
{
    value_bind(v);
    temp_push(l, v);
}

Value call1(Lang *l, Value callee, Value arg, Span at)
{
    Args args = {.at = &arg, .count = 1, .at_span = at};

    return lang_call(l, callee, &args);
}

// The arguments may lie anywhere; the result is kept for the calling C code.
// That code may use all of them again: none is a temporary any more.
Value lang_call(Lang *l, Value callee, const Args *args)
{
    int top = temps_top(l);
    Span at = l->more->at;
    Value r;

    temp_hold(l, callee);
    for (int i = 0; i < args->count; i++)
        temp_hold(l, args->at[i]);
    for (int i = 0; i < args->keyword_count; i++)
        temp_hold(l, args->values[i]);
    r = call_value(l, callee, args);
    temps_cut(l, top);
    l->more->at = at;
    value_bind(r);
    if (r.kind >= VAL_TUPLE)
        lang_pin(l, r);
    return r;
}

// ---- calls of methods ------------------------------------------------------

static bool foreign_method(Lang *l, Value self, Text name, const Args *args,
                           Value *out)
{
    int pins = lang_pins(l);
    bool done = self.foreign->type->method &&
                self.foreign->type->method(l, self.foreign, name, args, out);

    lang_unpin(l, pins);
    return done;
}

Value call_method(Lang *l, Value self, Text name, const Args *args,
                  Span name_at)
{
    const Method *m = method_find(l, self.kind, name);
    Value out, callee;

    if (m && self.kind == VAL_STR && unseen_argument(l, "", args, &out))
        return out;
    if (m) {
        lang_step(l, args->at_span);
        return m->call(l, self, args);
    }
    if (self.kind == VAL_FOREIGN &&
        foreign_method(l, self, name, args, &out))
        return out;
    if (v_is_device(self) && device_method(l, self, name, args, &out))
        return out;
    callee = getattr_or_raise(l, self, name, args->at_span, name_at);
    return call_value(l, callee, args);
}

// A plain method of the instance's class, which needs no bound object.
static bool class_method(Value self, Text name, Value *out)
{
    return self.kind == VAL_INSTANCE &&
           !map_find(&self.instance->attributes, name) &&
           class_find(self.instance->cls, name, out) &&
           out->kind == VAL_FUNCTION;
}

static bool takes_arguments_first(Lang *l, Value self, Text name)
{
    return method_find(l, self.kind, name) || self.kind == VAL_FOREIGN ||
           v_is_device(self);
}

// `self.name(...)`: the method is looked up before the arguments are
// evaluated, as in Python, except where that would build a bound object.
static Value method_call(Lang *l, Frame *f, const Ast *e, Value self)
{
    Text name = e->a->text;
    Span at = e->a->at, name_at = e->a->name_at;
    Value callee, literal;
    Args args;

    if (takes_arguments_first(l, self, name)) {
        args = eval_args(l, f, e);
        l->more->at = e->at;
        return call_method(l, self, name, &args, name_at);
    }
    if (class_method(self, name, &callee)) {
        args = eval_args(l, f, e);
        return call_with_self(l, callee, self, &args);
    }
    callee = getattr_or_raise(l, self, name, at, name_at);
    if (unsigned_literal(l, callee, e, &literal))
        return literal;
    temp_push(l, callee);
    args = eval_args(l, f, e);
    l->more->at = e->at;
    return call_value(l, callee, &args);
}

static void drop_temps(Lang *l, int top, Value result)
{
    for (int i = temps_top(l) - 1; i >= top; i--)
        temp_drop(l, l->more->temps[i], result);
    temps_cut(l, top);
}

Value eval_call(Lang *l, Frame *f, const Ast *e)
{
    int top = temps_top(l), pins = lang_pins(l);
    Value callee, r;
    Args args;

    callee = eval(l, f, e->a->kind == AST_ATTRIBUTE ? e->a->a : e->a);
    temp_push(l, callee);
    if (e->a->kind == AST_ATTRIBUTE) {
        r = method_call(l, f, e, callee);
    } else {
        args = eval_args(l, f, e);
        l->more->at = e->at;
        r = call_value(l, callee, &args);
    }
    lang_unpin(l, pins);
    drop_temps(l, top, r);
    return r;
}
