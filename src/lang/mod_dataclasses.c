// mod_dataclasses.c - the module dataclasses.
#include <string.h>

#include "lang/eval_int.h"

// ---- field() ---------------------------------------------------------------

static Value d_field(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {
        "*", "default=", "default_factory=", "init=", "repr=", "hash=",
        "compare=", "metadata=", "kw_only=",
    };
    Class *c = ctx;
    Value in[8], out = v_instance(instance_new(l, c));

    args_bind(l, "field", args, names, (int)countof(names), in);
    for (size_t i = 1; i < countof(names); i++)
        if (in[i - 1].kind != VAL_UNBOUND)
            map_bind(l, &out.instance->attributes,
                     (Text){names[i], strlen(names[i]) - 1}, in[i - 1]);
    return out;
}

static bool is_false(Lang *l, const Map *m, const char *name)
{
    Value v;

    return map_value(m, text_of(name), &v) && !value_truth(l, v, SPAN_NONE);
}

static void read_field(Lang *l, DataField *f, Value v)
{
    const Map *m = &v.instance->attributes;
    Value only;

    f->fallback = f->factory = (Value){.kind = VAL_UNBOUND};
    map_value(m, TEXT("default"), &f->fallback);
    map_value(m, TEXT("default_factory"), &f->factory);
    f->no_init = is_false(l, m, "init");
    f->no_repr = is_false(l, m, "repr");
    f->no_compare = is_false(l, m, "compare");
    if (map_value(m, TEXT("kw_only"), &only))
        f->keyword_only = value_truth(l, only, SPAN_NONE);
}

// ---- @dataclass ------------------------------------------------------------

typedef struct {
    Lang *l;
    Class *cls;
    DataClass *data;
    Class *field_class;
    bool keyword_only;
    Span at;
} Making;

static void put_field(Making *m, const DataField *f)
{
    for (int i = 0; i < m->data->len; i++)
        if (text_eq(m->data->at[i].name, f->name)) {
            m->data->at[i] = *f;
            return;
        }
    vec_push(m->l->options.arena, m->data, *f);
}

static void check_default(const Making *m, const DataField *f)
{
    ValueKind k = f->fallback.kind;

    if (k == VAL_LIST || k == VAL_DICT || (k == VAL_SET &&
                                           !f->fallback.dict->fixed))
        lang_raise(m->l, "ValueError", m->at,
                   "mutable default <class '%s'> for field %.*s is not "
                   "allowed: use default_factory", kind_name(k),
                   TEXT_ARG(f->name));
    for (int i = 0; i < m->data->len; i++) {
        const DataField *before = &m->data->at[i];
        bool has = before->fallback.kind != VAL_UNBOUND ||
                   before->factory.kind != VAL_UNBOUND;

        if (has && !before->keyword_only && !before->no_init &&
            !f->keyword_only && !f->no_init && k == VAL_UNBOUND &&
            f->factory.kind == VAL_UNBOUND &&
            !text_eq(before->name, f->name))
            lang_raise(m->l, "TypeError", m->at,
                       "non-default argument '%.*s' follows default argument",
                       TEXT_ARG(f->name));
    }
}

static void add_field(Making *m, Text name)
{
    DataField f = {.name = name, .keyword_only = m->keyword_only};
    Value v;

    f.fallback = f.factory = (Value){.kind = VAL_UNBOUND};
    if (map_value(&m->cls->attributes, name, &v)) {
        if (v.kind == VAL_INSTANCE && v.instance->cls == m->field_class) {
            read_field(m->l, &f, v);
            map_remove(&m->cls->attributes, name);
            if (f.fallback.kind != VAL_UNBOUND)
                map_bind(m->l, &m->cls->attributes, name, f.fallback);
        } else {
            f.fallback = v;
        }
    }
    check_default(m, &f);
    put_field(m, &f);
}

static void collect_fields(Making *m)
{
    Value names;
    const Dict *d;

    for (const Class *c = m->cls->base; c; c = c->base)
        if (c->data) {
            for (int i = 0; i < c->data->len; i++)
                put_field(m, &c->data->at[i]);
            break;
        }
    if (!map_value(&m->cls->attributes, TEXT("__annotations__"), &names) ||
        names.kind != VAL_DICT)
        return;
    d = names.dict;
    for (int i = 0; i < d->len; i++) {
        Text type = d->values[i].s;

        if (text_is(type, "KW_ONLY") || text_ends(type, ".KW_ONLY"))
            m->keyword_only = true;
        else if (!text_starts(type, "ClassVar") &&
                 !text_starts(type, "typing.ClassVar"))
            add_field(m, d->keys[i].s);
    }
}

static bool option(Lang *l, Value options, const char *name, bool usual)
{
    Value v;

    return dict_get_text(l, options.dict, name, &v)
               ? value_truth(l, v, SPAN_NONE) : usual;
}

static Value make_dataclass(Lang *l, Value cls, Value options,
                            Class *field_class, Span at)
{
    Making m = {.l = l, .cls = cls.cls, .field_class = field_class, .at = at};

    if (cls.kind != VAL_CLASS)
        lang_raise(l, "TypeError", at, "@dataclass needs a class");
    m.data = new (l->options.arena, DataClass);
    m.data->frozen = option(l, options, "frozen", false);
    m.data->order = option(l, options, "order", false);
    m.data->no_eq = !option(l, options, "eq", true);
    m.keyword_only = option(l, options, "kw_only", false);
    collect_fields(&m);
    m.cls->data = m.data;
    m.cls->form = CLASS_DATA;
    return cls;
}

typedef struct {
    Value options;
    Class *field_class;
} Pending;

static Value apply(Lang *l, void *ctx, const Args *args)
{
    const Pending *p = ctx;

    args_count(l, "dataclass", args, 1, 1);
    return make_dataclass(l, args->at[0], p->options, p->field_class,
                          args->at_span);
}

static Value d_dataclass(Lang *l, void *ctx, const Args *args)
{
    Value options = v_dict(l);
    Pending *p;

    for (int i = 0; i < args->keyword_count; i++)
        dict_set(l, options.dict, v_str(args->names[i]), args->values[i]);
    if (args->count)
        return make_dataclass(l, args->at[0], options, ctx, args->at_span);
    p = new (l->options.arena, Pending);
    p->options = options;
    p->field_class = ctx;
    return v_builtin(l, "dataclass", apply, p);
}

// ---- functions on dataclasses ----------------------------------------------

static const DataClass *data_arg(Lang *l, const char *name, const Args *args)
{
    Value v;

    if (args->count < 1)
        lang_raise(l, "TypeError", args->at_span,
                   "%s() missing 1 required positional argument", name);
    v = args->at[0];
    if (v.kind != VAL_INSTANCE || v.instance->cls->form != CLASS_DATA)
        lang_raise(l, "TypeError", args->at_span,
                   "%s() should be called on dataclass instances", name);
    return v.instance->cls->data;
}

static Value plain(Lang *l, Value v, bool named);

static Value fields_of(Lang *l, const Instance *i, bool named)
{
    const DataClass *d = i->cls->data;
    Value out = named ? v_dict(l) : v_of_list(list_new(l, d->len, true)), v;

    for (int k = 0; k < d->len; k++) {
        if (!map_value(&i->attributes, d->at[k].name, &v))
            continue;
        v = plain(l, v, named);
        if (named)
            dict_set(l, out.dict, v_str(d->at[k].name), v);
        else
            list_append(l, out.list, v);
    }
    return out;
}

// Dataclasses inside containers become plain too.
static Value plain(Lang *l, Value v, bool named)
{
    Value out;

    stack_check(l, SPAN_NONE);
    if (v.kind == VAL_INSTANCE && v.instance->cls->form == CLASS_DATA)
        return fields_of(l, v.instance, named);
    if (v_is_sequence(v)) {
        out = v_of_list(list_new(l, v.list->len, v.list->fixed));
        out.list->cls = v.list->cls;
        for (int i = 0; i < v.list->len; i++)
            list_append(l, out.list, plain(l, v.list->at[i], named));
        return out;
    }
    if (v.kind != VAL_DICT)
        return v;
    out = v_dict(l);
    for (int i = 0; i < v.dict->len; i++)
        if (v.dict->keys[i].kind != VAL_UNBOUND)
            dict_set(l, out.dict, v.dict->keys[i],
                     plain(l, v.dict->values[i], named));
    return out;
}

static Value d_asdict(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    data_arg(l, "asdict", args);
    return fields_of(l, args->at[0].instance, true);
}

static Value d_astuple(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    data_arg(l, "astuple", args);
    return fields_of(l, args->at[0].instance, false);
}

static Value d_replace(Lang *l, void *ctx, const Args *args)
{
    const DataClass *d = data_arg(l, "replace", args);
    const Instance *old = args->at[0].instance;
    Args all = {.at_span = args->at_span};
    Value v;
    int n = 0;

    (void)ctx;
    all.names = new_array(l->options.arena, Text,
                          (size_t)(d->len + args->keyword_count));
    all.values = new_array(l->options.arena, Value,
                           (size_t)(d->len + args->keyword_count));
    for (int i = 0; i < args->keyword_count; i++) {
        all.names[n] = args->names[i];
        all.values[n++] = args->values[i];
    }
    for (int i = 0; i < d->len; i++) {
        if (d->at[i].no_init || args_named(args, d->at[i].name, &v) ||
            !map_value(&old->attributes, d->at[i].name, &v))
            continue;
        all.names[n] = d->at[i].name;
        all.values[n++] = v;
    }
    all.keyword_count = n;
    return class_call(l, old->cls, &all);
}

static Value d_fields(Lang *l, void *ctx, const Args *args)
{
    Value v, out = v_of_list(list_new(l, 4, true));
    const DataClass *d = NULL;

    args_count(l, "fields", args, 1, 1);
    v = args->at[0];
    if (v.kind == VAL_CLASS)
        d = v.cls->data;
    else if (v.kind == VAL_INSTANCE)
        d = v.instance->cls->data;
    if (!d)
        lang_raise(l, "TypeError", args->at_span,
                   "must be called with a dataclass type or instance");
    for (int i = 0; i < d->len; i++) {
        Value f = v_instance(instance_new(l, ctx));

        map_bind(l, &f.instance->attributes, TEXT("name"),
                 v_str(d->at[i].name));
        if (d->at[i].fallback.kind != VAL_UNBOUND)
            map_bind(l, &f.instance->attributes, TEXT("default"),
                     d->at[i].fallback);
        list_append(l, out.list, f);
    }
    return out;
}

static Value d_is_dataclass(Lang *l, void *ctx, const Args *args)
{
    Value v;

    (void)ctx;
    args_count(l, "is_dataclass", args, 1, 1);
    v = args->at[0];
    return v_bool(v.kind == VAL_CLASS      ? v.cls->form == CLASS_DATA
                  : v.kind == VAL_INSTANCE ? v.instance->cls->form ==
                                                 CLASS_DATA
                                           : false);
}

void fill_dataclasses(Lang *l, Module *m)
{
    Class *field = class_new(l, TEXT("Field"), NULL, 0);

    field->module = m;
    field->built_in = true;
    module_set(l, m, "field", v_builtin(l, "field", d_field, field));
    module_set(l, m, "dataclass", v_builtin(l, "dataclass", d_dataclass,
                                            field));
    module_set(l, m, "fields", v_builtin(l, "fields", d_fields, field));
    module_set(l, m, "asdict", v_builtin(l, "asdict", d_asdict, NULL));
    module_set(l, m, "astuple", v_builtin(l, "astuple", d_astuple, NULL));
    module_set(l, m, "replace", v_builtin(l, "replace", d_replace, NULL));
    module_set(l, m, "is_dataclass",
               v_builtin(l, "is_dataclass", d_is_dataclass, NULL));
    module_set(l, m, "KW_ONLY", v_typing(l, TEXT("KW_ONLY")));
    module_set(l, m, "FrozenInstanceError",
               v_class(l->more->exceptions[EXC_FROZEN]));
}
