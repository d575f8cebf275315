// class_make.c - classes whose parts Python makes: enums, named tuples,
// dataclasses.
#include <string.h>

#include "lang/eval_int.h"

// ---- enums -----------------------------------------------------------------

static bool is_member_value(Text name, Value v)
{
    return !text_starts(name, "_") && v.kind != VAL_FUNCTION &&
           v.kind != VAL_DESCRIPTOR && v.kind != VAL_BUILTIN &&
           v.kind != VAL_CLASS && v.kind != VAL_UNBOUND;
}

static bool is_auto(Value v)
{
    return v.kind == VAL_TYPING && text_is(v.typing->name, "auto");
}

static Value auto_value(Lang *l, const Class *c, Text name, int64_t *last)
{
    TextBuf b = {0};

    if (!c->mixin || !class_find(c, TEXT("_lower_names"), &(Value){0}))
        return v_int(++*last);
    for (size_t i = 0; i < name.len; i++)
        buf_addc(&b, name.at[i] >= 'A' && name.at[i] <= 'Z'
                         ? (char)(name.at[i] + 32) : name.at[i]);
    return v_buf(l, &b);
}

static Value member_of_value(Lang *l, const Dict *members, Value v)
{
    Value value;

    for (int i = 0; i < members->len; i++)
        if (map_value(&members->values[i].instance->attributes,
                      TEXT("value"), &value) &&
            value_equal(l, value, v))
            return members->values[i];
    return V_NONE;
}

static void init_member(Lang *l, Class *c, Value self, Value v, Span at)
{
    Value init, all[9] = {self};
    Args args = {.at = all, .count = 2, .at_span = at};

    if (!class_find(c, TEXT("__init__"), &init))
        return;
    all[1] = v;
    if (v.kind == VAL_TUPLE && v.list->len < (int)countof(all)) {
        args.count = v.list->len + 1;
        for (int i = 0; i < v.list->len; i++)
            all[i + 1] = v.list->at[i];
    }
    lang_call(l, init, &args);
}

static Value new_member(Lang *l, Class *c, Text name, Value v, Span at)
{
    Value self = v_instance(instance_new(l, c));
    Map *m = &self.instance->attributes;

    map_bind(l, m, TEXT("name"), v_str(name));
    map_bind(l, m, TEXT("value"), v);
    map_bind(l, m, TEXT("_name_"), v_str(name));
    map_bind(l, m, TEXT("_value_"), v);
    init_member(l, c, self, v, at);
    return self;
}

static void make_members(Lang *l, Class *c, Span at)
{
    Value members = v_dict(l);
    int64_t last = 0;

    for (int i = 0; i < c->attributes.len; i++) {
        Text name = c->attributes.at[i].key;
        Value *cell = c->attributes.at[i].value, member;

        if (!is_member_value(name, *cell))
            continue;
        if (is_auto(*cell))
            *cell = auto_value(l, c, name, &last);
        as_int(*cell, &last);
        member = member_of_value(l, members.dict, *cell);
        if (member.kind == VAL_NONE)
            member = new_member(l, c, name, *cell, at);
        *cell = member;
        dict_set(l, members.dict, v_str(name), member);
    }
    map_bind(l, &c->attributes, TEXT("__members__"), members);
}

// The members in order; an alias is no member of its own.
Value enum_members(Lang *l, const Class *c)
{
    List *out = list_new(l, 4, true);
    Value members, name;

    if (!map_value(&c->attributes, TEXT("__members__"), &members))
        return v_of_list(out);
    for (int i = 0; i < members.dict->len; i++) {
        Value m = members.dict->values[i];

        if (map_value(&m.instance->attributes, TEXT("name"), &name) &&
            text_eq(name.s, members.dict->keys[i].s))
            list_append(l, out, m);
    }
    return v_of_list(out);
}

Value enum_lookup(Lang *l, Class *c, const Args *args)
{
    Value members, member;
    TextBuf *b;

    args_count(l, c->name.at, args, 1, 1);
    if (!map_value(&c->attributes, TEXT("__members__"), &members))
        lang_unsupported(l, args->at_span, "making an enum by a call");
    if (args->at[0].kind == VAL_INSTANCE && args->at[0].instance->cls == c)
        return args->at[0];
    member = member_of_value(l, members.dict, args->at[0]);
    if (member.kind != VAL_NONE)
        return member;
    b = text_begin(l);
    value_repr(l, b, args->at[0]);
    lang_raise(l, "ValueError", args->at_span, "%.*s is not a valid %.*s",
               TEXT_ARG(buf_view(b)), TEXT_ARG(c->name));
}

// ---- named tuples ----------------------------------------------------------

static Value class_value(const Class *c, const char *name)
{
    Value v = V_NONE;

    class_find(c, text_of(name), &v);
    return v;
}

// class P(NamedTuple): x: int = 0
static void fields_of_annotations(Lang *l, Class *c)
{
    Value names = class_value(c, "__annotations__"), v;
    List *fields = list_new(l, 4, true);
    Value defaults = v_dict(l);

    for (int i = 0; names.kind == VAL_DICT && i < names.dict->len; i++) {
        Value name = names.dict->keys[i];

        list_append(l, fields, name);
        if (map_value(&c->attributes, name.s, &v)) {
            dict_set(l, defaults.dict, name, v);
            map_remove(&c->attributes, name.s);
        }
    }
    map_bind(l, &c->attributes, TEXT("_fields"), v_of_list(fields));
    map_bind(l, &c->attributes, TEXT("_field_defaults"), defaults);
}

Value namedtuple_make(Lang *l, Class *c, const Args *args)
{
    Value fields = class_value(c, "_fields");
    Value defaults = class_value(c, "_field_defaults"), v;
    int top = temps_top(l);
    const char **names;
    Value *out;
    List *t;

    if (fields.kind != VAL_TUPLE)
        lang_unsupported(l, args->at_span, "NamedTuple(...) as a call");
    names = new_array(l->options.arena, const char *,
                      (size_t)fields.list->len + 1);
    out = temps_take(l, fields.list->len + 1);
    for (int i = 0; i < fields.list->len; i++)
        names[i] = text_format(l->options.arena, "%.*s%s",
                               TEXT_ARG(fields.list->at[i].s),
                               dict_get(l, defaults.dict, fields.list->at[i],
                                        &v) ? "=" : "").at;
    args_bind(l, c->name.at, args, names, fields.list->len, out);
    t = list_new(l, fields.list->len, true);
    t->cls = c;
    for (int i = 0; i < fields.list->len; i++) {
        if (out[i].kind == VAL_UNBOUND)
            dict_get(l, defaults.dict, fields.list->at[i], &out[i]);
        list_append(l, t, out[i]);
    }
    temps_cut(l, top);
    return v_of_list(t);
}

void class_finish(Lang *l, Class *c, Span at)
{
    Value v;

    if (c->form == CLASS_ENUM)
        make_members(l, c, at);
    if (c->form == CLASS_NAMEDTUPLE && !class_find(c, TEXT("_fields"), &v))
        fields_of_annotations(l, c);
}

// ---- dataclasses -----------------------------------------------------------

_Noreturn static void missing_fields(Lang *l, const Class *c, const Args *args,
                                     const Value *in)
{
    const DataClass *d = c->data;
    TextBuf names = {0};
    int count = 0, n = 0;
    Text list;

    for (int i = 0; i < d->len; i++)
        count += !d->at[i].no_init && in[i].kind == VAL_UNBOUND;
    for (int i = 0; i < d->len; i++) {
        if (d->at[i].no_init || in[i].kind != VAL_UNBOUND)
            continue;
        if (n)
            buf_puts(&names, n + 1 < count ? ", " : count > 2 ? ", and "
                                                              : " and ");
        buf_printf(&names, "'%.*s'", TEXT_ARG(d->at[i].name));
        n++;
    }
    list = v_buf(l, &names).s;
    lang_raise(l, "TypeError", args->at_span,
               "%.*s.__init__() missing %d required positional argument%s: "
               "%.*s", TEXT_ARG(c->name), count, count == 1 ? "" : "s",
               TEXT_ARG(list));
}

static int field_named(const DataClass *d, Text name)
{
    for (int i = 0; i < d->len; i++)
        if (!d->at[i].no_init && text_eq(d->at[i].name, name))
            return i;
    return -1;
}

static void take_positional(Lang *l, const Class *c, const Args *args,
                            Value *in)
{
    const DataClass *d = c->data;
    int next = 0, places = 1, least = 1;

    for (int i = 0; i < d->len; i++) {
        if (d->at[i].no_init || d->at[i].keyword_only)
            continue;
        places++;
        least += d->at[i].fallback.kind == VAL_UNBOUND &&
                 d->at[i].factory.kind == VAL_UNBOUND;
        if (next < args->count)
            in[i] = args->at[next++];
    }
    if (next == args->count)
        return;
    if (least < places)
        lang_raise(l, "TypeError", args->at_span,
                   "%.*s.__init__() takes from %d to %d positional arguments "
                   "but %d were given", TEXT_ARG(c->name), least, places,
                   args->count + 1);
    lang_raise(l, "TypeError", args->at_span,
               "%.*s.__init__() takes %d positional argument%s but %d were "
               "given", TEXT_ARG(c->name), places, places == 1 ? "" : "s",
               args->count + 1);
}

static void take_keywords(Lang *l, const Class *c, const Args *args, Value *in)
{
    for (int k = 0; k < args->keyword_count; k++) {
        int i = field_named(c->data, args->names[k]);

        if (i < 0)
            lang_raise(l, "TypeError", args->at_span,
                       "%.*s.__init__() got an unexpected keyword argument "
                       "'%.*s'", TEXT_ARG(c->name), TEXT_ARG(args->names[k]));
        if (in[i].kind != VAL_UNBOUND)
            lang_raise(l, "TypeError", args->at_span,
                       "%.*s.__init__() got multiple values for argument "
                       "'%.*s'", TEXT_ARG(c->name), TEXT_ARG(args->names[k]));
        in[i] = args->values[k];
    }
}

static Value field_default(Lang *l, const DataField *f, Span at)
{
    Args none = {.at_span = at};

    return f->factory.kind != VAL_UNBOUND ? lang_call(l, f->factory, &none)
                                          : f->fallback;
}

void data_init(Lang *l, Value self, const Args *args)
{
    const Class *c = self.instance->cls;
    const DataClass *d = c->data;
    int top = temps_top(l);
    Value *in = temps_take(l, d->len + 1), out;

    take_positional(l, c, args, in);
    take_keywords(l, c, args, in);
    for (int i = 0; i < d->len; i++)
        if (in[i].kind == VAL_UNBOUND)
            in[i] = field_default(l, &d->at[i], args->at_span);
    for (int i = 0; i < d->len; i++) {
        if (in[i].kind != VAL_UNBOUND)
            map_bind(l, &self.instance->attributes, d->at[i].name, in[i]);
        else if (!d->at[i].no_init)
            missing_fields(l, c, args, in);
    }
    temps_cut(l, top);
    call_dunder(l, self, "__post_init__", NULL, 0, &out, args->at_span);
}
