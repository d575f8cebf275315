// methods_dict.c - methods of dict and set.
#include "lang/eval_int.h"

// ---- dict ------------------------------------------------------------------

static Value m_get(Lang *l, Value self, const Args *args)
{
    Value out;

    args_count(l, "get", args, 1, 2);
    if (dict_get(l, self.dict, args->at[0], &out))
        return out;
    return args->count == 2 ? args->at[1] : V_NONE;
}

static Value m_keys(Lang *l, Value self, const Args *args)
{
    args_count(l, "keys", args, 0, 0);
    return iter_view(l, "dict_keys", self);
}

static Value m_values(Lang *l, Value self, const Args *args)
{
    args_count(l, "values", args, 0, 0);
    return iter_view(l, "dict_values", self);
}

static Value m_items(Lang *l, Value self, const Args *args)
{
    args_count(l, "items", args, 0, 0);
    return iter_view(l, "dict_items", self);
}

_Noreturn static void key_error(Lang *l, Value key, Span at)
{
    exception_raise(l, exception_new(l, l->more->exceptions[EXC_KEY], &key, 1),
                    at);
}

static Value m_pop(Lang *l, Value self, const Args *args)
{
    Value out;

    args_count(l, "pop", args, 1, 2);
    if (dict_get(l, self.dict, args->at[0], &out))
        dict_remove(l, self.dict, args->at[0]);
    else if (args->count == 2)
        out = args->at[1];
    else
        key_error(l, args->at[0], args->at_span);
    return out;
}

static Value m_popitem(Lang *l, Value self, const Args *args)
{
    Dict *d = self.dict;
    int i = d->len - 1;
    Value pair[2];

    args_count(l, "popitem", args, 0, 0);
    while (i >= 0 && d->keys[i].kind == VAL_UNBOUND)
        i--;
    if (i < 0)
        key_error(l, v_cstr("popitem(): dictionary is empty"), args->at_span);
    pair[0] = d->keys[i];
    pair[1] = d->values[i];
    dict_remove(l, d, pair[0]);
    return v_tuple(l, pair, 2);
}

static Value m_setdefault(Lang *l, Value self, const Args *args)
{
    Value out = V_NONE;

    args_count(l, "setdefault", args, 1, 2);
    if (dict_get(l, self.dict, args->at[0], &out))
        return out;
    if (args->count == 2)
        out = args->at[1];
    dict_set(l, self.dict, args->at[0], out);
    return out;
}

static Value m_update(Lang *l, Value self, const Args *args)
{
    dict_fill(l, self.dict, args);
    return V_NONE;
}

static Value m_clear(Lang *l, Value self, const Args *args)
{
    args_count(l, "clear", args, 0, 0);
    dict_clear(self.dict);
    return V_NONE;
}

static Value m_copy(Lang *l, Value self, const Args *args)
{
    args_count(l, "copy", args, 0, 0);
    return v_of_dict(self.kind, dict_copy(l, self.dict));
}

Value dict_fromkeys(Lang *l, void *ctx, const Args *args)
{
    Value out = v_dict(l);
    List *keys;

    (void)ctx;
    args_count(l, "fromkeys", args, 1, 2);
    keys = value_to_list(l, args->at[0], args->at_span);
    for (int i = 0; i < keys->len; i++)
        dict_set(l, out.dict, keys->at[i],
                 args->count == 2 ? args->at[1] : V_NONE);
    return out;
}

static Value m_fromkeys(Lang *l, Value self, const Args *args)
{
    (void)self;
    return dict_fromkeys(l, NULL, args);
}

// Of an OrderedDict.
static Value m_move_to_end(Lang *l, Value self, const Args *args)
{
    Value v;

    args_count(l, "move_to_end", args, 1, 1);
    if (!dict_get(l, self.dict, args->at[0], &v))
        key_error(l, args->at[0], args->at_span);
    dict_remove(l, self.dict, args->at[0]);
    dict_set(l, self.dict, args->at[0], v);
    return V_NONE;
}

// Of a Counter: the pairs, the most frequent first.
static Value m_most_common(Lang *l, Value self, const Args *args)
{
    Args none = {.at_span = args->at_span};
    List *items = value_to_list(l, m_items(l, self, &none), args->at_span);
    List *out = list_new(l, items->len, false);
    int64_t n = items->len;

    args_count(l, "most_common", args, 0, 1);
    if (args->count && args->at[0].kind != VAL_NONE)
        n = need_int(l, args->at[0], args->at_span);
    while (out->len < n && items->len) {
        int best = 0;

        for (int i = 1; i < items->len; i++)
            if (value_less(l, items->at[best].list->at[1],
                           items->at[i].list->at[1], args->at_span))
                best = i;
        list_append(l, out, items->at[best]);
        list_remove_at(items, best);
    }
    return v_of_list(out);
}

const Method dict_methods[] = {
    {"get", m_get}, {"keys", m_keys}, {"values", m_values},
    {"items", m_items}, {"pop", m_pop}, {"popitem", m_popitem},
    {"setdefault", m_setdefault}, {"update", m_update}, {"clear", m_clear},
    {"copy", m_copy}, {"fromkeys", m_fromkeys},
    {"move_to_end", m_move_to_end}, {"most_common", m_most_common},
    {NULL, NULL},
};

// ---- set -------------------------------------------------------------------

static void need_mutable(Lang *l, Value self, const char *name, Span at)
{
    if (self.dict->fixed)
        lang_raise(l, "AttributeError", at,
                   "'frozenset' object has no attribute '%s'", name);
}

static Value m_add(Lang *l, Value self, const Args *args)
{
    args_count(l, "set.add", args, 1, 1);
    need_mutable(l, self, "add", args->at_span);
    set_add(l, self.dict, args->at[0]);
    return V_NONE;
}

static Value m_discard(Lang *l, Value self, const Args *args)
{
    args_count(l, "set.discard", args, 1, 1);
    need_mutable(l, self, "discard", args->at_span);
    dict_remove(l, self.dict, args->at[0]);
    return V_NONE;
}

static Value m_remove(Lang *l, Value self, const Args *args)
{
    args_count(l, "set.remove", args, 1, 1);
    need_mutable(l, self, "remove", args->at_span);
    if (!dict_remove(l, self.dict, args->at[0]))
        key_error(l, args->at[0], args->at_span);
    return V_NONE;
}

static Value m_set_pop(Lang *l, Value self, const Args *args)
{
    Dict *d = self.dict;

    args_count(l, "pop", args, 0, 0);
    need_mutable(l, self, "pop", args->at_span);
    for (int i = 0; i < d->len; i++) {
        Value v = d->keys[i];

        if (v.kind == VAL_UNBOUND)
            continue;
        dict_remove(l, d, v);
        return v;
    }
    key_error(l, v_cstr("pop from an empty set"), args->at_span);
}

static Value fold(Lang *l, AstOp op, Value self, const Args *args)
{
    Value out = v_of_dict(VAL_SET, dict_copy(l, self.dict));

    out.dict->fixed = self.dict->fixed;
    for (int i = 0; i < args->count; i++)
        out = set_binary(l, op, out.dict,
                         set_of(l, args->at[i], args->at_span));
    return out;
}

static Value m_union(Lang *l, Value self, const Args *args)
{
    return fold(l, AST_OP_OR, self, args);
}

static Value m_intersection(Lang *l, Value self, const Args *args)
{
    return fold(l, AST_OP_AND, self, args);
}

static Value m_difference(Lang *l, Value self, const Args *args)
{
    return fold(l, AST_OP_SUB, self, args);
}

static Value m_symmetric(Lang *l, Value self, const Args *args)
{
    return fold(l, AST_OP_XOR, self, args);
}

static Value replace_by(Lang *l, AstOp op, Value self, const Args *args)
{
    Dict *made = fold(l, op, self, args).dict;

    need_mutable(l, self, "update", args->at_span);
    made->seen = self.dict->seen;
    *self.dict = *made;
    return V_NONE;
}

static Value m_set_update(Lang *l, Value self, const Args *args)
{
    return replace_by(l, AST_OP_OR, self, args);
}

static Value m_intersection_update(Lang *l, Value self, const Args *args)
{
    return replace_by(l, AST_OP_AND, self, args);
}

static Value m_difference_update(Lang *l, Value self, const Args *args)
{
    return replace_by(l, AST_OP_SUB, self, args);
}

static Value m_issubset(Lang *l, Value self, const Args *args)
{
    args_count(l, "issubset", args, 1, 1);
    return v_bool(set_subset(l, self.dict,
                             set_of(l, args->at[0], args->at_span)));
}

static Value m_issuperset(Lang *l, Value self, const Args *args)
{
    args_count(l, "issuperset", args, 1, 1);
    return v_bool(set_subset(l, set_of(l, args->at[0], args->at_span),
                             self.dict));
}

static Value m_isdisjoint(Lang *l, Value self, const Args *args)
{
    args_count(l, "isdisjoint", args, 1, 1);
    return v_bool(fold(l, AST_OP_AND, self, args).dict->live == 0);
}

const Method set_methods[] = {
    {"add", m_add}, {"discard", m_discard}, {"remove", m_remove},
    {"pop", m_set_pop}, {"clear", m_clear}, {"copy", m_copy},
    {"union", m_union}, {"intersection", m_intersection},
    {"difference", m_difference}, {"symmetric_difference", m_symmetric},
    {"update", m_set_update},
    {"intersection_update", m_intersection_update},
    {"difference_update", m_difference_update}, {"issubset", m_issubset},
    {"issuperset", m_issuperset}, {"isdisjoint", m_isdisjoint},
    {NULL, NULL},
};
