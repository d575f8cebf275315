// mod_collections.c - collections, and the modules dataclasses and enum.
#include <string.h>

#include "lang/eval_int.h"

// ---- named tuples ----------------------------------------------------------

static Value field_names(Lang *l, Value v, Span at)
{
    List *out = list_new(l, 4, true), *items;

    if (v.kind != VAL_STR) {
        items = value_to_list(l, v, at);
        return v_tuple(l, items->at, items->len);
    }
    for (size_t i = 0; i < v.s.len;) {
        size_t from = i;

        while (i < v.s.len && !strchr(" ,\t\n", v.s.at[i]))
            i++;
        if (i > from)
            list_append(l, out, v_str(text_copy(l->options.arena,
                                                text_slice(v.s, from, i))));
        i += i < v.s.len;
    }
    return v_of_list(out);
}

static Class *tuple_class(Lang *l, Text name, Value fields, Value defaults)
{
    Class *c = class_new(l, name, &l->more->named_tuple, 1);

    c->module = l->frame ? l->frame->module : l->builtins;
    map_bind(l, &c->attributes, TEXT("_fields"), fields);
    map_bind(l, &c->attributes, TEXT("_field_defaults"), defaults);
    return c;
}

// A tuple whose items have names, of a class made for it.
Value v_record(Lang *l, const char *name, const char *const *names,
               const Value *fields, int count)
{
    List *keys = list_new(l, count, true);
    Value out = v_tuple(l, fields, count);

    for (int i = 0; i < count; i++)
        list_append(l, keys, v_cstr(names[i]));
    out.list->cls = tuple_class(l, text_of(name), v_of_list(keys), v_dict(l));
    return out;
}

static Value c_namedtuple(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"typename", "field_names", "*",
                                        "rename=", "defaults=", "module="};
    Value in[5], fields, defaults = v_dict(l);
    List *given;

    (void)ctx;
    args_bind(l, "namedtuple", args, names, 6, in);
    if (in[0].kind != VAL_STR)
        lang_raise(l, "TypeError", args->at_span,
                   "namedtuple() needs a str as its name");
    fields = field_names(l, in[1], args->at_span);
    for (int i = 0; i < fields.list->len; i++)
        if (fields.list->at[i].kind != VAL_STR)
            lang_raise(l, "TypeError", args->at_span,
                       "Type names and field names must be strings");
    if (in[3].kind != VAL_UNBOUND && in[3].kind != VAL_NONE) {
        given = value_to_list(l, in[3], args->at_span);
        if (given->len > fields.list->len)
            lang_raise(l, "TypeError", args->at_span,
                       "Got more default values than field names");
        for (int i = 0; i < given->len; i++)
            dict_set(l, defaults.dict,
                     fields.list->at[fields.list->len - given->len + i],
                     given->at[i]);
    }
    return v_class(tuple_class(l, in[0].s, fields, defaults));
}

static List *record_arg(Lang *l, const Args *args, Value *fields)
{
    if (args->count < 1 || args->at[0].kind != VAL_TUPLE ||
        !args->at[0].list->cls ||
        !class_find(args->at[0].list->cls, TEXT("_fields"), fields))
        lang_raise(l, "TypeError", args->at_span, "a namedtuple is needed");
    return args->at[0].list;
}

static Value t_asdict(Lang *l, void *ctx, const Args *args)
{
    Value fields, out = v_dict(l);
    const List *t = record_arg(l, args, &fields);

    (void)ctx;
    for (int i = 0; i < t->len; i++)
        dict_set(l, out.dict, fields.list->at[i], t->at[i]);
    return out;
}

static Value t_replace(Lang *l, void *ctx, const Args *args)
{
    Value fields, v;
    const List *t = record_arg(l, args, &fields);
    List *out = list_new(l, t->len, true);
    int used = 0;

    (void)ctx;
    out->cls = t->cls;
    for (int i = 0; i < t->len; i++) {
        bool given = args_named(args, fields.list->at[i].s, &v);

        used += given;
        list_append(l, out, given ? v : t->at[i]);
    }
    if (used < args->keyword_count)
        lang_raise(l, "ValueError", args->at_span,
                   "Got unexpected field names");
    return v_of_list(out);
}

static Value t_make(Lang *l, void *ctx, const Args *args)
{
    Args items = {.at_span = args->at_span};
    List *list;

    (void)ctx;
    args_count(l, "_make", args, 2, 2);
    list = value_to_list(l, args->at[1], args->at_span);
    items.at = list->at;
    items.count = list->len;
    return namedtuple_make(l, args->at[0].cls, &items);
}

void named_tuple_init(Lang *l)
{
    Class *c = class_new(l, TEXT("NamedTuple"), NULL, 0);
    Descriptor *make = new (l->options.arena, Descriptor);

    c->form = CLASS_NAMEDTUPLE;
    c->built_in = true;
    c->module = l->builtins;
    l->more->named_tuple = c;
    map_bind(l, &c->attributes, TEXT("_asdict"),
             v_builtin(l, "_asdict", t_asdict, NULL));
    map_bind(l, &c->attributes, TEXT("_replace"),
             v_builtin(l, "_replace", t_replace, NULL));
    make->kind = DESC_CLASS;
    make->get = v_builtin(l, "_make", t_make, NULL);
    map_bind(l, &c->attributes, TEXT("_make"),
             (Value){.kind = VAL_DESCRIPTOR, .descriptor = make});
}

// ---- dicts with a twist ----------------------------------------------------

static Value c_defaultdict(Lang *l, void *ctx, const Args *args)
{
    Value out = v_dict(l);
    Args rest = *args;

    (void)ctx;
    out.dict->kind = "defaultdict";
    out.dict->missing = new (l->options.arena, Value);
    *out.dict->missing = V_NONE;
    if (args->count) {
        if (args->at[0].kind != VAL_NONE && !value_callable(args->at[0]))
            lang_raise(l, "TypeError", args->at_span,
                       "first argument must be callable or None");
        *out.dict->missing = args->at[0];
        rest.at++;
        rest.count--;
    }
    dict_fill(l, out.dict, &rest);
    return out;
}

static Value c_ordered(Lang *l, void *ctx, const Args *args)
{
    Value out = v_dict(l);

    (void)ctx;
    out.dict->kind = "OrderedDict";
    dict_fill(l, out.dict, args);
    return out;
}

static Value c_counter(Lang *l, void *ctx, const Args *args)
{
    Value out = v_dict(l), old;
    IterState *it;
    Value v;

    (void)ctx;
    out.dict->kind = "Counter";
    if (args->count == 0 || args->at[0].kind == VAL_DICT) {
        dict_fill(l, out.dict, args);
        return out;
    }
    it = iter_of(l, args->at[0], args->at_span);
    lang_pin(l, v_iter(it));
    lang_pin(l, out);
    while (iter_next(l, it, &v)) {
        lang_step(l, args->at_span);
        if (!dict_get(l, out.dict, v, &old))
            old = v_int(0);
        dict_set(l, out.dict, v, v_int(old.i + 1));
    }
    return out;
}

void fill_collections(Lang *l, Module *m)
{
    module_set(l, m, "namedtuple", v_builtin(l, "namedtuple", c_namedtuple,
                                             NULL));
    module_set(l, m, "defaultdict", v_builtin(l, "defaultdict", c_defaultdict,
                                              NULL));
    module_set(l, m, "OrderedDict", v_builtin(l, "OrderedDict", c_ordered,
                                              NULL));
    module_set(l, m, "Counter", v_builtin(l, "Counter", c_counter, NULL));
}

// ---- enum ------------------------------------------------------------------

static Class *enum_class(Lang *l, const char *name, Class *base, bool mixin)
{
    Class *c = class_new(l, text_of(name), &base, base ? 1 : 0);

    c->form = CLASS_ENUM;
    c->mixin = mixin;
    c->built_in = true;
    c->module = l->builtins;
    return c;
}

static Value e_auto(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "auto", args, 0, 0);
    return v_typing(l, TEXT("auto"));
}

static Value e_same(Lang *l, void *ctx, const Args *args)
{
    args_count(l, ctx, args, 1, 1);
    return args->at[0];
}

void fill_enum(Lang *l, Module *m)
{
    Class *plain = enum_class(l, "Enum", NULL, false);
    Class *text = enum_class(l, "StrEnum", plain, true);

    map_bind(l, &text->attributes, TEXT("_lower_names"), v_bool(true));
    module_set(l, m, "Enum", v_class(plain));
    module_set(l, m, "IntEnum", v_class(enum_class(l, "IntEnum", plain,
                                                   true)));
    module_set(l, m, "StrEnum", v_class(text));
    module_set(l, m, "auto", v_builtin(l, "auto", e_auto, NULL));
    module_set(l, m, "unique", v_builtin(l, "unique", e_same,
                                         (void *)"unique"));
}
