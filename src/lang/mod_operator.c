// mod_operator.c - the modules operator and copy.
#include "lang/eval_int.h"

// ---- operators as functions ------------------------------------------------

typedef struct {
    const char *name;
    AstOp op;
    bool compares;
} OperatorRow;

static const OperatorRow binary[] = {
    {"add", AST_OP_ADD, false}, {"sub", AST_OP_SUB, false},
    {"mul", AST_OP_MUL, false}, {"truediv", AST_OP_DIV, false},
    {"floordiv", AST_OP_FLOORDIV, false}, {"mod", AST_OP_MOD, false},
    {"pow", AST_OP_POW, false}, {"matmul", AST_OP_MATMUL, false},
    {"lshift", AST_OP_SHL, false}, {"rshift", AST_OP_SHR, false},
    {"and_", AST_OP_AND, false}, {"or_", AST_OP_OR, false},
    {"xor", AST_OP_XOR, false}, {"concat", AST_OP_ADD, false},
    {"eq", AST_OP_EQ, true}, {"ne", AST_OP_NE, true},
    {"lt", AST_OP_LT, true}, {"le", AST_OP_LE, true},
    {"gt", AST_OP_GT, true}, {"ge", AST_OP_GE, true},
    {"is_", AST_OP_IS, true}, {"is_not", AST_OP_IS_NOT, true},
};

static const OperatorRow unary[] = {
    {"neg", AST_OP_NEG, false}, {"pos", AST_OP_POS, false},
    {"invert", AST_OP_INVERT, false}, {"inv", AST_OP_INVERT, false},
};

static Value call_binary(Lang *l, void *ctx, const Args *args)
{
    const OperatorRow *row = ctx;

    args_count(l, row->name, args, 2, 2);
    return row->compares
               ? compare_op(l, row->op, args->at[0], args->at[1],
                            args->at_span)
               : binary_op(l, row->op, args->at[0], args->at[1],
                           args->at_span);
}

static Value call_unary(Lang *l, void *ctx, const Args *args)
{
    const OperatorRow *row = ctx;

    args_count(l, row->name, args, 1, 1);
    return unary_op(l, row->op, args->at[0], args->at_span);
}

static Value o_not(Lang *l, void *ctx, const Args *args)
{
    bool flip = ctx == NULL;

    args_count(l, flip ? "not_" : "truth", args, 1, 1);
    return v_bool(value_truth(l, args->at[0], args->at_span) != flip);
}

static Value o_contains(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "contains", args, 2, 2);
    return v_bool(value_contains(l, args->at[0], args->at[1], args->at_span));
}

static Value o_getitem(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "getitem", args, 2, 2);
    return getitem(l, args->at[0], args->at[1], args->at_span);
}

static Value o_setitem(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "setitem", args, 3, 3);
    setitem(l, args->at[0], args->at[1], args->at[2], args->at_span);
    return V_NONE;
}

// ---- getters ---------------------------------------------------------------

static Value attribute_path(Lang *l, Value v, Text path, Span at)
{
    for (size_t from = 0; from <= path.len;) {
        size_t to = from;

        while (to < path.len && path.at[to] != '.')
            to++;
        v = getattr_or_raise(l, v, text_slice(path, from, to), at, at);
        from = to + 1;
    }
    return v;
}

static Value get_one(Lang *l, Value v, Value key, bool item, Span at)
{
    return item ? getitem(l, v, key, at) : attribute_path(l, v, key.s, at);
}

// Keeps: whether items, then the keys.
static Value call_getter(Lang *l, void *ctx, const Args *args)
{
    const List *keys = ((const Held *)ctx)->value.list;
    bool item = keys->at[0].b;
    List *out;

    args_count(l, item ? "itemgetter" : "attrgetter", args, 1, 1);
    if (keys->len == 2)
        return get_one(l, args->at[0], keys->at[1], item, args->at_span);
    out = list_new(l, keys->len, true);
    for (int i = 1; i < keys->len; i++)
        list_append(l, out, get_one(l, args->at[0], keys->at[i], item,
                                    args->at_span));
    return v_of_list(out);
}

static Value getter(Lang *l, const Args *args, const char *name, bool item)
{
    List *keys = list_new(l, args->count + 1, true);

    if (args->count == 0)
        lang_raise(l, "TypeError", args->at_span,
                   "%s expected 1 argument, got 0", name);
    list_append(l, keys, v_bool(item));
    for (int i = 0; i < args->count; i++) {
        if (!item && args->at[i].kind != VAL_STR)
            lang_raise(l, "TypeError", args->at_span,
                       "attribute name must be a string");
        list_append(l, keys, args->at[i]);
    }
    return v_keeper(l, name, call_getter, v_of_list(keys));
}

static Value o_itemgetter(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return getter(l, args, "itemgetter", true);
}

static Value o_attrgetter(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return getter(l, args, "attrgetter", false);
}

void fill_operator(Lang *l, Module *m)
{
    for (size_t i = 0; i < countof(binary); i++)
        module_set(l, m, binary[i].name,
                   v_builtin(l, binary[i].name, call_binary,
                             (void *)&binary[i]));
    for (size_t i = 0; i < countof(unary); i++)
        module_set(l, m, unary[i].name,
                   v_builtin(l, unary[i].name, call_unary,
                             (void *)&unary[i]));
    module_set(l, m, "not_", v_builtin(l, "not_", o_not, NULL));
    module_set(l, m, "truth", v_builtin(l, "truth", o_not, m));
    module_set(l, m, "contains", v_builtin(l, "contains", o_contains, NULL));
    module_set(l, m, "getitem", v_builtin(l, "getitem", o_getitem, NULL));
    module_set(l, m, "setitem", v_builtin(l, "setitem", o_setitem, NULL));
    module_set(l, m, "itemgetter",
               v_builtin(l, "itemgetter", o_itemgetter, NULL));
    module_set(l, m, "attrgetter",
               v_builtin(l, "attrgetter", o_attrgetter, NULL));
}

// ---- copy ------------------------------------------------------------------

// `done` maps what was copied (by identity) to its copy: shared parts stay
// shared, and what contains itself ends.
typedef struct {
    Lang *l;
    struct {
        Value *at;
        int len, room;
    } from, to;
    bool deep;
} Copying;

static Value copy_value(Copying *c, Value v);

static Value part(Copying *c, Value v)
{
    return c->deep ? copy_value(c, v) : v;
}

static void note_copy(Copying *c, Value from, Value to)
{
    vec_push(c->l->options.arena, &c->from, from);
    vec_push(c->l->options.arena, &c->to, to);
}

static Value copy_list(Copying *c, const List *list, Value v)
{
    Value out = v_of_list(list_new(c->l, list->len, list->fixed));

    out.list->cls = list->cls;
    note_copy(c, v, out);
    for (int i = 0; i < list->len; i++)
        list_append(c->l, out.list, part(c, list->at[i]));
    return out;
}

static Value copy_dict(Copying *c, Value v)
{
    Value out = v_of_dict(v.kind, dict_new(c->l));

    note_copy(c, v, out);
    out.dict->kind = v.dict->kind;
    out.dict->missing = v.dict->missing;
    for (int i = 0; i < v.dict->len; i++)
        if (v.dict->keys[i].kind != VAL_UNBOUND)
            dict_set(c->l, out.dict, v.dict->keys[i],
                     part(c, v.dict->values[i]));
    out.dict->fixed = v.dict->fixed;
    return out;
}

static Value copy_instance(Copying *c, Value v)
{
    Value out = v_instance(instance_new(c->l, v.instance->cls)), made;
    const Map *m = &v.instance->attributes;

    if (v.instance->cls->form == CLASS_ENUM)
        return v;
    if (!c->deep && call_dunder(c->l, v, "__copy__", NULL, 0, &made, SPAN_NONE))
        return made;
    note_copy(c, v, out);
    for (int i = 0; i < m->len; i++)
        map_bind(c->l, &out.instance->attributes, m->at[i].key,
                 part(c, *(const Value *)m->at[i].value));
    return out;
}

static bool copy_foreign(Copying *c, Value v, Value *out)
{
    Args none = {.at_span = c->l->more->at};

    return v.foreign->type->method &&
           v.foreign->type->method(c->l, v.foreign, TEXT("clone"), &none, out);
}

static Value copy_value(Copying *c, Value v)
{
    Value out;

    stack_check(c->l, SPAN_NONE);
    for (int i = 0; i < c->from.len; i++)
        if (value_is(c->from.at[i], v) && v.kind >= VAL_TUPLE)
            return c->to.at[i];
    switch (v.kind) {
    case VAL_TUPLE:
    case VAL_LIST:
        return copy_list(c, v.list, v);
    case VAL_DICT:
    case VAL_SET:
        return copy_dict(c, v);
    case VAL_INSTANCE:
        return copy_instance(c, v);
    case VAL_FOREIGN:
        return copy_foreign(c, v, &out) ? out : v;
    default:
        return v;
    }
}

static Value c_copy(Lang *l, void *ctx, const Args *args)
{
    Copying c = {.l = l, .deep = ctx != NULL};

    args_count(l, ctx ? "deepcopy" : "copy", args, 1, 1);
    return copy_value(&c, args->at[0]);
}

void fill_copy(Lang *l, Module *m)
{
    module_set(l, m, "copy", v_builtin(l, "copy", c_copy, NULL));
    module_set(l, m, "deepcopy", v_builtin(l, "deepcopy", c_copy, m));
}
