// eval.c - expressions: the walk over the tree.
//
// Each node returns its value. What a node holds while it evaluates another
// one lies on the stack of pending values (temp_push), so that a sweep of host
// objects in a called function sees it.
#include "lang/eval_int.h"

#include "support/parallel.h"

// ---- limits ----------------------------------------------------------------

void stack_check(Lang *l, Span at)
{
    if ((char *)__builtin_frame_address(0) < l->more->stack_end)
        lang_raise(l, "RecursionError", at,
                   "maximum recursion depth exceeded");
}

_Noreturn static void too_much_memory(Lang *l, Span at)
{
    lang_unsupported(l, at, "a program whose values take more than %zu MiB",
                     l->options.max_bytes >> 20);
}

void lang_step(Lang *l, Span at)
{
    LangMore *m = l->more;
    int why;

    m->steps++;
    if (l->options.max_steps && m->steps > l->options.max_steps)
        lang_unsupported(l, at, "a program of more than %llu steps",
                         (unsigned long long)l->options.max_steps);
    if (m->steps % 64)
        return;
    why = parallel_cancelled();
    if (why)
        lang_stop(l, why < 0 ? EXIT_LIMIT : EXIT_INTERRUPTED);
    if (arena_bytes(l->options.arena) > l->options.max_bytes)
        too_much_memory(l, at);
}

// ---- names and literals ----------------------------------------------------

static Text near_in_scope(Lang *l, const Frame *f, Text name)
{
    Text best = TEXT("");

    for (const Frame *g = f; g; g = g->closure)
        best = nearest_name(&g->names, name, best);
    best = nearest_name(&f->module->members, name, best);
    return nearest_name(&l->builtins->members, name, best);
}

_Noreturn static void name_error(Lang *l, Frame *f, const Ast *e, Value found)
{
    Text name = e->text;
    bool local = f->scope->locals && map_find(f->scope->locals, name) &&
                 f->scope->kind != AST_MODULE && f->scope->kind != AST_CLASS;

    if (found.s.len)                            // the tracer says what ended
        lang_raise(l, "NameError", e->at,
                   "name '%.*s' was bound inside %.*s and ended with it; "
                   "T.alloc_var(dtype) before it makes a variable that lives "
                   "on", TEXT_ARG(name), TEXT_ARG(found.s));
    if (local)
        lang_raise(l, "UnboundLocalError", e->at,
                   "cannot access local variable '%.*s' where it is not "
                   "associated with a value", TEXT_ARG(name));
    for (Frame *g = f->closure; g; g = g->closure)
        if (g->scope->kind != AST_MODULE && g->scope->kind != AST_CLASS &&
            g->scope->locals && map_find(g->scope->locals, name))
            lang_raise(l, "NameError", e->at,
                       "cannot access free variable '%.*s' where it is not "
                       "associated with a value in enclosing scope",
                       TEXT_ARG(name));
    lang_raise_near(l, "NameError", e->at, near_in_scope(l, f, name),
                    "name '%.*s' is not defined", TEXT_ARG(name));
}

Value eval_name(Lang *l, Frame *f, const Ast *e)
{
    Value v = {.kind = VAL_UNBOUND};

    if (!name_find(l, f, e->text, &v))
        name_error(l, f, e, v);
    return v;
}

static Value eval_number(Lang *l, const Ast *e)
{
    if (e->imaginary)
        lang_unsupported(l, e->at, "a complex number");
    if (e->is_float)
        return v_float(e->f64);
    if (e->big)
        lang_raise(l, "OverflowError", e->at,
                   "integer overflow: '%.*s' does not fit 64 bits",
                   TEXT_ARG(e->text));
    return v_int(e->i64);
}

static Value eval_constant(const Ast *e)
{
    return e->constant == AST_NONE       ? V_NONE
           : e->constant == AST_ELLIPSIS ? (Value){.kind = VAL_ELLIPSIS}
                                         : v_bool(e->constant == AST_TRUE);
}

// ---- displays --------------------------------------------------------------

static List *eval_elements(Lang *l, Frame *f, const AstList *x, bool fixed)
{
    List *out = list_new(l, x->len, fixed);
    int top = temps_top(l);

    temp_push(l, v_of_list(out));
    for (int i = 0; i < x->len; i++) {
        const Ast *e = x->at[i];
        List *items;

        if (e->kind != AST_STARRED) {
            list_append(l, out, eval(l, f, e));
            continue;
        }
        items = value_to_list(l, eval(l, f, e->a), e->at);
        for (int k = 0; k < items->len; k++)
            list_append(l, out, items->at[k]);
    }
    temps_cut(l, top);
    return out;
}

static Value eval_set(Lang *l, Frame *f, const Ast *e)
{
    Value items = v_of_list(eval_elements(l, f, &e->x, false));

    l->more->at = e->at;
    return v_of_dict(VAL_SET, set_of(l, items, e->at));
}

static void add_mapping(Lang *l, Dict *d, Value from, Span at)
{
    if (from.kind != VAL_DICT)
        lang_raise(l, "TypeError", at, "'%s' object is not a mapping",
                   value_type_name(from));
    for (int i = 0; i < from.dict->len; i++)
        if (from.dict->keys[i].kind != VAL_UNBOUND)
            dict_set(l, d, from.dict->keys[i], from.dict->values[i]);
}

// A key is NULL, or a DOUBLESTAR, where **mapping stands.
static Value eval_dict(Lang *l, Frame *f, const Ast *e)
{
    Dict *d = dict_new(l);
    int top = temps_top(l);

    temp_push(l, v_of_dict(VAL_DICT, d));
    for (int i = 0; i < e->x.len; i++) {
        const Ast *k = e->x.at[i];
        const Ast *spread = !k ? e->y.at[i]
                            : k->kind == AST_DOUBLESTAR ? k->a : NULL;
        Value key, v;

        if (spread) {
            add_mapping(l, d, eval(l, f, spread), spread->at);
            continue;
        }
        key = eval(l, f, k);
        temp_push(l, key);
        v = eval(l, f, e->y.at[i]);
        temp_push(l, v);
        l->more->at = k->at;
        dict_set(l, d, key, v);
        temps_cut(l, top + 1);
    }
    temps_cut(l, top);
    return v_of_dict(VAL_DICT, d);
}

static Value *slice_field(Lang *l, Frame *f, const Ast *e)
{
    Value *v = new (l->options.arena, Value);

    *v = e ? eval(l, f, e) : V_NONE;
    temp_push(l, *v);
    return v;
}

static Value eval_slice(Lang *l, Frame *f, const Ast *e)
{
    SliceValue *s = new (l->options.arena, SliceValue);
    int top = temps_top(l);

    s->start = slice_field(l, f, e->a);
    s->stop = slice_field(l, f, e->b);
    s->step = slice_field(l, f, e->c);
    temps_cut(l, top);
    return (Value){.kind = VAL_SLICE, .slice = s};
}

// ---- operators -------------------------------------------------------------

// (1 << 63) - 1 fits, though 1 << 63 does not: literals are put together with
// 128 bits. False: no such expression, or beyond them.
static bool wide_int(const Ast *e, __int128 *out)
{
    const __int128 most = (__int128)1 << 100;
    __int128 a, b;
    int64_t i;
    bool big;

    if (e->kind == AST_NUMBER && !e->is_float && !e->big) {
        *out = text_to_int(e->text, 0, &i, &big) && !big ? i : most;
        return *out < most;
    }
    if (e->kind != AST_BINARY || !wide_int(e->a, &a) || !wide_int(e->b, &b))
        return false;
    if (e->op == AST_OP_SHL && b >= 0 && b <= 70 && a < 1 << 26 &&
        a > -(1 << 26))
        *out = a * ((__int128)1 << b);
    else if (e->op == AST_OP_ADD)
        *out = a + b;
    else if (e->op == AST_OP_SUB)
        *out = a - b;
    else
        return false;
    return *out < most && *out > -most;
}

// The sum or difference of a power of two that does not fit.
static bool wide_literal(const Ast *e, Value *out)
{
    __int128 v;

    if ((e->op != AST_OP_SUB && e->op != AST_OP_ADD) ||
        e->a->kind != AST_BINARY || e->a->op != AST_OP_SHL || !wide_int(e, &v) ||
        v > INT64_MAX || v < INT64_MIN)
        return false;
    *out = v_int((int64_t)v);
    return true;
}

static Value eval_binary(Lang *l, Frame *f, const Ast *e)
{
    int top = temps_top(l);
    Value a, b, r;

    if (wide_literal(e, &r))
        return r;
    a = eval(l, f, e->a);

    if (a.kind == VAL_INT || a.kind == VAL_FLOAT) {
        b = eval(l, f, e->b);
    } else {
        temp_push(l, a);
        b = eval(l, f, e->b);
    }
    if (b.kind > VAL_STR)
        temp_push(l, b);
    l->more->at = e->at;
    r = binary_op(l, e->op, a, b, e->at);
    temps_cut(l, top);
    temp_drop(l, a, r);
    if (!(b.kind == VAL_FOREIGN && a.kind == VAL_FOREIGN &&
          a.foreign == b.foreign))
        temp_drop(l, b, r);
    return r;
}

// -9223372036854775808 fits, though its digits alone do not.
static Value least_int(Lang *l, const Ast *e)
{
    Text minus = text_format(l->options.arena, "-%.*s",
                             TEXT_ARG(e->a->text));
    int64_t i;
    bool big;

    if (e->a->is_float || !text_to_int(minus, 0, &i, &big) || big)
        return eval_number(l, e->a);
    return v_int(i);
}

static Value eval_unary(Lang *l, Frame *f, const Ast *e)
{
    int top = temps_top(l);
    Value v, r;

    if (e->op == AST_OP_NEG && e->a->kind == AST_NUMBER && e->a->big)
        return least_int(l, e);
    v = eval(l, f, e->a);
    temp_push(l, v);
    l->more->at = e->at;
    if (e->op == AST_OP_NOT && !v_is_device(v) && !v_is_unseen(v))
        r = v_bool(!value_truth(l, v, e->a->at));
    else
        r = unary_op(l, e->op, v, e->at);
    temps_cut(l, top);
    temp_drop(l, v, r);
    return r;
}

// `a and b` with a device value on the left makes device code of both.
static Value eval_boolop(Lang *l, Frame *f, const Ast *e)
{
    bool is_and = e->op == AST_OP_BOOL_AND;
    int top = temps_top(l);
    Value v = eval(l, f, e->x.at[0]);

    for (int i = 1; i < e->x.len; i++) {
        Value next;

        if (v_is_unseen(v) ||
            (!v_is_device(v) &&
             value_truth(l, v, e->x.at[i - 1]->at) != is_and))
            break;
        temp_push(l, v);
        trace_lazy(l, v_is_device(v));
        next = eval(l, f, e->x.at[i]);
        trace_lazy(l, -v_is_device(v));
        temps_cut(l, top);
        v = v_is_device(v) ? device_binary(l, e->op, v, next, e->at) : next;
    }
    return v;
}

static Value eval_compare(Lang *l, Frame *f, const Ast *e)
{
    int top = temps_top(l);
    Value a = eval(l, f, e->a), all = v_bool(true);

    for (int i = 0; i < e->x.len; i++) {
        Value b, r;

        if (i > 0)                              // used twice: not a temporary
            value_bind(a);
        temp_push(l, a);
        temp_push(l, all);
        b = eval(l, f, e->x.at[i]);
        temp_push(l, b);
        if (i + 1 < e->x.len)
            value_bind(b);
        l->more->at = e->at;
        r = compare_op(l, e->ops[i], a, b, e->at);
        temps_cut(l, top);
        temp_drop(l, a, r);
        temp_drop(l, b, r);
        all = v_is_device(all) && i > 0
                  ? device_binary(l, AST_OP_BOOL_AND, all, r, e->at) : r;
        if (v_is_unseen(all) ||
            (i + 1 < e->x.len && !v_is_device(all) &&
             !value_truth(l, all, e->at)))
            break;
        a = b;
    }
    return all;
}

static Value eval_ifexp(Lang *l, Frame *f, const Ast *e)
{
    int top = temps_top(l);
    Value c = eval(l, f, e->a), t, other;

    if (c.kind == VAL_EXPR && c.expr->kind == EXPR_INT)
        c = v_bool(c.expr->i64 != 0);
    if (v_is_unseen(c)) {
        temp_push(l, c);
        if (value_truth(l, c, e->a->at))
            eval(l, f, e->b);
        temps_cut(l, top);
        return c;
    }
    if (!v_is_device(c)) {
        bool yes = value_truth(l, c, e->a->at);

        temp_drop(l, c, V_NONE);
        return eval(l, f, yes ? e->b : e->c);
    }
    trace_lazy(l, 1);
    t = eval(l, f, e->b);
    temp_push(l, t);
    other = eval(l, f, e->c);
    temps_cut(l, top);
    trace_lazy(l, -1);
    return device_select(l, c, t, other, e->at);
}

static Value eval_subscript(Lang *l, Frame *f, const Ast *e)
{
    int top = temps_top(l);
    Value base = eval(l, f, e->a), index, r;

    temp_push(l, base);
    index = eval(l, f, e->b);
    temp_push(l, index);
    l->more->at = e->at;
    r = getitem(l, base, index, e->at);
    temps_cut(l, top);
    temp_drop(l, base, r);
    temp_drop(l, index, r);
    return r;
}

static Value eval_named(Lang *l, Frame *f, const Ast *e)
{
    Value v = eval(l, f, e->b);

    name_bind(l, frame_function(f), e->a->text, v);
    return v;
}

// ---- generators ------------------------------------------------------------

// A generator function runs to its end before its first value is used: its
// yields are collected here, at most MOST_YIELDS of them.
static Value yield_value(Lang *l, Frame *f, Value v, Span at)
{
    Frame *g = frame_function(f);

    if (!g->yielded)
        lang_raise(l, "SyntaxError", at, "'yield' outside function");
    if (g->yielded->len == MOST_YIELDS)
        lang_unsupported(l, at, "a generator of more than %d values (it runs "
                         "to its end before its first value is used)",
                         MOST_YIELDS);
    list_append(l, g->yielded, v);
    return V_NONE;
}

static Value eval_yield(Lang *l, Frame *f, const Ast *e)
{
    return yield_value(l, f, e->a ? eval(l, f, e->a) : V_NONE, e->at);
}

static Value eval_yield_from(Lang *l, Frame *f, const Ast *e)
{
    int top = temps_top(l);
    List *items = value_to_list(l, eval(l, f, e->a), e->a->at);

    temp_push(l, v_of_list(items));
    for (int i = 0; i < items->len; i++)
        yield_value(l, f, items->at[i], e->at);
    temps_cut(l, top);
    return V_NONE;
}

// ---- the walk --------------------------------------------------------------

// The nodes that evaluate others; kept apart so that names and literals do not
// pay for its stack frame.
static __attribute__((noinline)) Value eval_inner(Lang *l, Frame *f,
                                                  const Ast *e)
{
    stack_check(l, e->at);
    switch (e->kind) {
    case AST_BINARY:
        return eval_binary(l, f, e);
    case AST_CALL:
        return eval_call(l, f, e);
    case AST_ATTRIBUTE:
        return eval_attribute(l, f, e);
    case AST_SUBSCRIPT:
        return eval_subscript(l, f, e);
    case AST_COMPARE:
        return eval_compare(l, f, e);
    case AST_BOOLOP:
        return eval_boolop(l, f, e);
    case AST_UNARY:
        return eval_unary(l, f, e);
    case AST_IFEXP:
        return eval_ifexp(l, f, e);
    case AST_TUPLE:
        return v_of_list(eval_elements(l, f, &e->x, true));
    case AST_LIST:
        return v_of_list(eval_elements(l, f, &e->x, false));
    case AST_SET:
        return eval_set(l, f, e);
    case AST_DICT:
        return eval_dict(l, f, e);
    case AST_FSTRING:
        return eval_fstring(l, f, e);
    case AST_LAMBDA:
        return function_new(l, f, e);
    case AST_SLICE:
        return eval_slice(l, f, e);
    case AST_NAMEDEXPR:
        return eval_named(l, f, e);
    case AST_LISTCOMP:
    case AST_SETCOMP:
    case AST_DICTCOMP:
    case AST_GENERATOR:
        return eval_comprehension(l, f, e);
    case AST_YIELD:
        return eval_yield(l, f, e);
    case AST_YIELDFROM:
        return eval_yield_from(l, f, e);
    case AST_AWAIT:
        lang_unsupported(l, e->at, "'await'");
    case AST_STARRED:
        lang_raise(l, "SyntaxError", e->at,
                   "can't use starred expression here");
    default:
        BUG("eval: %s is not an expression", ast_name(e->kind));
    }
}

Value eval(Lang *l, Frame *f, const Ast *e)
{
    switch (e->kind) {
    case AST_NAME:
        return eval_name(l, f, e);
    case AST_NUMBER:
        return eval_number(l, e);
    case AST_STRING:
        return v_str(e->text);
    case AST_BYTES:
        return (Value){.kind = VAL_BYTES, .s = e->text};
    case AST_CONSTANT:
        return eval_constant(e);
    default:
        return eval_inner(l, f, e);
    }
}
