// class.c - classes: making them, finding attributes, making instances.
#include <string.h>

#include "lang/eval_int.h"
#include "lang/trace_int.h"

// ---- the order of bases ----------------------------------------------------

static bool in_tail(Class *const *order, int len, const Class *c)
{
    for (int i = 1; i < len; i++)
        if (order[i] == c)
            return true;
    return false;
}

typedef struct {
    Class **at;
    int len;
} Order;

static bool in_any_tail(const Order *lists, int count, const Class *c)
{
    for (int i = 0; i < count; i++)
        if (in_tail(lists[i].at, lists[i].len, c))
            return true;
    return false;
}

// C3: the first head that is in no tail; NULL: all empty, or no order exists.
static Class *next_in_order(const Order *lists, int count, bool *left)
{
    *left = false;
    for (int i = 0; i < count; i++) {
        if (lists[i].len == 0)
            continue;
        *left = true;
        if (!in_any_tail(lists, count, lists[i].at[0]))
            return lists[i].at[0];
    }
    return NULL;
}

static void linearise(Lang *l, Class *c, Class *const *bases, int count)
{
    Arena *a = l->options.arena;
    Order *lists = new_array(a, Order, (size_t)count + 1);
    int room = 1 + count;
    bool left;

    for (int i = 0; i < count; i++) {
        lists[i] = (Order){bases[i]->mro, bases[i]->mro_len};
        room += bases[i]->mro_len;
    }
    lists[count].at = new_array(a, Class *, (size_t)count + 1);
    for (int i = 0; i < count; i++)
        if (bases[i] != l->more->object)
            lists[count].at[lists[count].len++] = bases[i];
    c->mro = new_array(a, Class *, (size_t)room);
    c->mro[c->mro_len++] = c;
    for (Class *n; (n = next_in_order(lists, count + 1, &left));) {
        c->mro[c->mro_len++] = n;
        for (int i = 0; i <= count; i++)
            if (lists[i].len && lists[i].at[0] == n)
                lists[i].at++, lists[i].len--;
    }
    if (left)
        lang_raise(l, "TypeError", SPAN_NONE,
                   "Cannot create a consistent method resolution order (MRO) "
                   "for the bases of '%.*s'", TEXT_ARG(c->name));
}

static void inherit(Class *c, const Class *base)
{
    if (!c->exception)
        c->exception = base->exception;
    if (base->form == CLASS_ENUM || base->form == CLASS_NAMEDTUPLE)
        c->form = base->form;
    if (base->form == CLASS_DATA) {
        c->form = CLASS_DATA;
        c->data = base->data;
    }
    c->mixin |= base->mixin;
    if (!c->foreign_base)
        c->foreign_base = base->foreign_base;
}

Class *class_new(Lang *l, Text name, Class *const *bases, int count)
{
    Class *c = new (l->options.arena, Class);

    c->name = text_copy(l->options.arena, name);
    for (int i = count - 1; i >= 0; i--)
        inherit(c, bases[i]);
    for (int i = 0; i < count && !c->base; i++)
        if (bases[i] != l->more->object)
            c->base = bases[i];
    linearise(l, c, bases, count);
    return c;
}

bool class_is(const Class *c, const Class *base)
{
    for (int i = 0; i < c->mro_len; i++)
        if (c->mro[i] == base)
            return true;
    return false;
}

bool class_find(const Class *c, Text name, Value *out)
{
    for (int i = 0; i < c->mro_len; i++)
        if (map_value(&c->mro[i]->attributes, name, out))
            return true;
    return false;
}

// ---- attributes ------------------------------------------------------------

bool bind_attribute(Lang *l, Value self, Class *c, Value *out, Span at)
{
    const Descriptor *d;

    if (out->kind == VAL_FUNCTION || out->kind == VAL_BUILTIN) {
        if (self.kind != VAL_CLASS)
            *out = v_bound(l, self, *out);
        return true;
    }
    if (out->kind != VAL_DESCRIPTOR)
        return true;
    d = out->descriptor;
    if (d->kind == DESC_STATIC)
        *out = d->get;
    else if (d->kind == DESC_CLASS)
        *out = v_bound(l, v_class(c), d->get);
    else if (self.kind != VAL_CLASS)
        *out = call1(l, d->get, self, at);
    return true;
}

static bool is_property(Value v)
{
    return v.kind == VAL_DESCRIPTOR && v.descriptor->kind == DESC_PROPERTY;
}

static Value attributes_dict(Lang *l, const Map *m)
{
    Value d = v_dict(l);

    for (int i = 0; i < m->len; i++) {
        Value v = *(const Value *)m->at[i].value;

        if (v.kind != VAL_UNBOUND)
            dict_set(l, d.dict, v_str(m->at[i].key), v);
    }
    return d;
}

bool instance_getattr(Lang *l, Value v, Text name, Value *out, Span at)
{
    Instance *i = v.instance;
    Value found, key = v_str(name);
    bool in_class = class_find(i->cls, name, &found);

    if (!(in_class && is_property(found)) &&
        map_value(&i->attributes, name, out))
        return true;
    if (in_class)
        return *out = found, bind_attribute(l, v, i->cls, out, at);
    if (text_is(name, "__class__"))
        return *out = v_class(i->cls), true;
    if (text_is(name, "__dict__"))
        return *out = attributes_dict(l, &i->attributes), true;
    if (map_value(&l->more->object->attributes, name, out))
        return bind_attribute(l, v, i->cls, out, at);
    if (i->cls->exception &&
        (text_is(name, "__cause__") || text_is(name, "__context__") ||
         text_is(name, "__traceback__")))
        return *out = V_NONE, true;
    return call_dunder(l, v, "__getattr__", &key, 1, out, at);
}

static Value mro_tuple(Lang *l, const Class *c, int from)
{
    List *out = list_new(l, c->mro_len + 1, true);

    for (int i = from; i < c->mro_len; i++)
        list_append(l, out, v_class(c->mro[i]));
    list_append(l, out, v_class(l->more->object));
    return v_of_list(out);
}

static bool class_fact(Lang *l, Class *c, Text name, Value *out)
{
    Value base = v_class(c->base ? c->base : l->more->object);

    if (text_is(name, "__name__") || text_is(name, "__qualname__"))
        *out = v_str(c->name);
    else if (text_is(name, "__module__"))
        *out = c->built_in || !c->module ? v_cstr("builtins")
                                         : v_str(c->module->name);
    else if (text_is(name, "__mro__"))
        *out = mro_tuple(l, c, 0);
    else if (text_is(name, "__bases__"))
        *out = v_tuple(l, &base, 1);
    else if (text_is(name, "__base__"))
        *out = base;
    else if (text_is(name, "__dict__"))
        *out = attributes_dict(l, &c->attributes);
    else if (text_is(name, "__doc__"))
        *out = V_NONE;
    else
        return false;
    return true;
}

bool class_getattr(Lang *l, Class *c, Text name, Value *out, Span at)
{
    if (class_find(c, name, out))
        return bind_attribute(l, v_class(c), c, out, at);
    return class_fact(l, c, name, out) ||
           map_value(&l->more->object->attributes, name, out);
}

bool instance_method(Lang *l, Value v, const char *name, Value *out)
{
    (void)l;
    return v.kind == VAL_INSTANCE &&
           class_find(v.instance->cls, text_of(name), out);
}

bool call_dunder(Lang *l, Value v, const char *name, const Value *at,
                 int count, Value *out, Span span)
{
    Value callee, all[4] = {v};
    Args args = {.at = all, .count = count + 1, .at_span = span};
    int pins = lang_pins(l);

    if (!instance_method(l, v, name, &callee) || callee.kind == VAL_NONE)
        return false;
    if (!span.file)
        args.at_span = l->more->at;
    if (callee.kind == VAL_DESCRIPTOR) {        // __new__ written as static
        bind_attribute(l, v, v.instance->cls, &callee, span);
        args.at++;
        args.count--;
    }
    for (int i = 0; i < count; i++)
        all[i + 1] = at[i];
    *out = lang_call(l, callee, &args);
    lang_unpin(l, pins);
    return true;
}

// ---- class statements ------------------------------------------------------

static void own_function(Value v, Class *c)
{
    if (v.kind == VAL_FUNCTION && !v.function->owner)
        v.function->owner = c;
    if (v.kind == VAL_DESCRIPTOR) {
        own_function(v.descriptor->get, c);
        own_function(v.descriptor->set, c);
    }
}

static Class *base_class(Lang *l, Value v, Span at, const char **foreign)
{
    if (v.kind == VAL_CLASS)
        return v.cls;
    if (v.kind == VAL_TYPING)                   // Generic, Protocol
        return l->more->object;
    if (v.kind == VAL_TYPE && (v.type == VAL_INT || v.type == VAL_STR)) {
        *foreign = v.type == VAL_INT ? "int" : "str";
        return l->more->object;
    }
    if (v.kind == VAL_MODULE || v.kind == VAL_FOREIGN) {
        *foreign = v.kind == VAL_MODULE ? v.module->name.at
                                        : value_type_name(v);
        return l->more->object;
    }
    if (v.kind == VAL_TYPE)
        lang_unsupported(l, at, "a class that derives from '%s'",
                         kind_name(v.type));
    lang_raise(l, "TypeError", at, "a class cannot derive from a '%s' object",
               value_type_name(v));
}

// `metaclass=ABCMeta` is nothing here; other metaclasses are not known.
static void check_metaclass(Lang *l, const Ast *k, Value v)
{
    bool known = v.kind == VAL_CLASS && text_is(v.cls->name, "ABC");

    if (!known && !(v.kind == VAL_TYPE && v.type == VAL_CLASS))
        lang_unsupported(l, k->at, "a metaclass");
}

// `class A(B, x=1)`: x is for B's __init_subclass__.
static void add_keyword(Lang *l, const Ast *k, Value v, Args *to)
{
    temp_push(l, v);
    to->names[to->keyword_count] = k->text;
    to->values[to->keyword_count++] = v;
}

static Class *class_shell(Lang *l, Frame *f, const Ast *s, Args *keywords)
{
    int n = s->a ? s->a->x.len : 0, count = 0;
    Class **bases = new_array(l->options.arena, Class *, (size_t)n);
    const char *foreign = NULL;
    Class *c;

    keywords->names = new_array(l->options.arena, Text, (size_t)n);
    keywords->values = new_array(l->options.arena, Value, (size_t)n);
    for (int i = 0; i < n; i++) {
        const Ast *arg = s->a->x.at[i];
        Value v = eval(l, f, arg->kind == AST_KEYWORD ? arg->a : arg);

        if (arg->kind == AST_KEYWORD && text_is(arg->text, "metaclass"))
            check_metaclass(l, arg, v);
        else if (arg->kind == AST_KEYWORD)
            add_keyword(l, arg, v, keywords);
        else
            bases[count++] = base_class(l, v, arg->at, &foreign);
    }
    c = class_new(l, s->text, bases, count);
    c->module = f->module;
    if (foreign && c->form == CLASS_ENUM)
        c->mixin = true;
    else if (foreign && (strcmp(foreign, "int") == 0 ||
                         strcmp(foreign, "str") == 0))
        lang_unsupported(l, s->at, "a class that derives from '%s'", foreign);
    else if (foreign)
        c->foreign_base = foreign;
    return c;
}

// Two methods are of the class without saying so.
static Value class_attribute(Lang *l, Text name, Value v)
{
    if (v.kind == VAL_FUNCTION && (text_is(name, "__init_subclass__") ||
                                   text_is(name, "__class_getitem__")))
        return v_descriptor(l, DESC_CLASS, v, (Value){.kind = VAL_UNBOUND});
    return v;
}

static void run_class_body(Lang *l, Frame *f, const Ast *s, Class *c)
{
    Frame *body = frame_new(l, s, f, f->module);

    body->captured = true;
    frame_enter(l, body, s->at);
    exec_block(l, body, &s->x);
    frame_leave(l);
    body->made = c;
    for (int i = 0; i < body->names.len; i++) {
        Value v = *(Value *)body->names.at[i].value;

        if (v.kind == VAL_UNBOUND)
            continue;
        own_function(v, c);
        map_bind(l, &c->attributes, body->names.at[i].key,
                 class_attribute(l, body->names.at[i].key, v));
    }
}

static void tell_base(Lang *l, Class *c, const Args *keywords)
{
    SuperValue after = {.after = c, .self = v_class(c)};
    Value base = {.kind = VAL_SUPER, .super = &after}, hook;

    if (lang_getattr(l, base, TEXT("__init_subclass__"), &hook,
                     keywords->at_span))
        call_value(l, hook, keywords);
}

Value class_define(Lang *l, Frame *f, const Ast *s)
{
    int top = temps_top(l);
    Args keywords = {.at_span = s->at};
    Class *c = class_shell(l, f, s, &keywords);
    Value cls = v_class(c);

    temp_push(l, cls);
    frame_capture(f);
    run_class_body(l, f, s, c);
    class_finish(l, c, s->at);
    tell_base(l, c, &keywords);
    temps_cut(l, top);
    return cls;
}

// ---- instances -------------------------------------------------------------

Instance *instance_new(Lang *l, Class *c)
{
    Instance *i = new (l->options.arena, Instance);

    i->cls = c;
    return i;
}

static Value make_instance(Lang *l, Class *c, const Args *args)
{
    Value create, self;

    if (class_find(c, TEXT("__new__"), &create)) {
        Value *at = temps_take(l, args->count + 1);
        Args with = *args;

        if (create.kind == VAL_DESCRIPTOR)
            create = create.descriptor->get;
        at[0] = v_class(c);
        for (int i = 0; i < args->count; i++)
            at[i + 1] = args->at[i];
        with.at = at;
        with.count++;
        return call_value(l, create, &with);
    }
    if (!c->exception)
        return v_instance(instance_new(l, c));
    self = exception_new(l, c, args->at, args->count);
    return self;
}

static void no_arguments(Lang *l, const Class *c, const Args *args)
{
    if (args->count || args->keyword_count)
        lang_raise(l, "TypeError", args->at_span, "%.*s() takes no arguments",
                   TEXT_ARG(c->name));
}

static void run_init(Lang *l, Value self, Value init, const Args *args)
{
    Value *at = temps_take(l, args->count + 1), out;
    Args with = *args;

    at[0] = self;
    for (int i = 0; i < args->count; i++)
        at[i + 1] = args->at[i];
    with.at = at;
    with.count++;
    with.spans = NULL;
    out = call_value(l, init, &with);
    if (out.kind != VAL_NONE)
        lang_raise(l, "TypeError", args->at_span,
                   "__init__() should return None, not '%s'",
                   value_type_name(out));
}

Value class_call(Lang *l, Class *c, const Args *args)
{
    int top = temps_top(l);
    Value self, init;

    lang_step(l, args->at_span);
    if (c->form == CLASS_ENUM)
        return enum_lookup(l, c, args);
    if (c->form == CLASS_NAMEDTUPLE)
        return namedtuple_make(l, c, args);
    if (c->foreign_base)
        lang_unsupported(l, args->at_span, "an object of a class that derives "
                         "from '%s' (unknown to tilesim)", c->foreign_base);
    self = make_instance(l, c, args);
    temp_push(l, self);
    if (self.kind != VAL_INSTANCE || !class_is(self.instance->cls, c))
        ;                                       // __new__ made something else
    else if (class_find(c, TEXT("__init__"), &init))
        run_init(l, self, init, args);
    else if (c->form == CLASS_DATA)
        data_init(l, self, args);
    else if (!c->exception && !class_find(c, TEXT("__new__"), &init))
        no_arguments(l, c, args);
    temps_cut(l, top);
    return self;
}

// ---- isinstance ------------------------------------------------------------

Value class_of(Lang *l, Value v)
{
    switch (v.kind) {
    case VAL_INSTANCE:
        return v_class(v.instance->cls);
    case VAL_TUPLE:
        return v.list->cls ? v_class(v.list->cls) : v_type(VAL_TUPLE);
    case VAL_CLASS:
    case VAL_TYPE:
        return v_type(VAL_CLASS);
    default:
        (void)l;
        return v_type(v.kind);
    }
}

static bool is_of_kind(Value v, ValueKind k)
{
    if (v.kind == VAL_INSTANCE && v.instance->cls->mixin) {
        Value inner;

        return map_value(&v.instance->attributes, TEXT("value"), &inner) &&
               inner.kind == k;
    }
    if (k == VAL_SET && v.kind == VAL_SET)
        return !v.dict->fixed;
    if (k == VAL_CLASS)
        return v.kind == VAL_CLASS || v.kind == VAL_TYPE;
    return v.kind == k || (k == VAL_INT && v.kind == VAL_BOOL) ||
           (k == VAL_STR && v.kind == VAL_DTYPE) ||
           (k == VAL_FUNCTION && v.kind == VAL_MACRO);
}

static bool matches_class(Lang *l, Value v, const Class *c)
{
    if (c == l->more->object)
        return true;
    if (v.kind == VAL_TUPLE && v.list->cls)
        return class_is(v.list->cls, c);
    return v.kind == VAL_INSTANCE && class_is(v.instance->cls, c);
}

static bool host_type_matches(Lang *l, Value v, Value type, Span at)
{
    Value out, args[1] = {v};
    Args call = {.at = args, .count = 1, .at_span = at};

    if (type.foreign->type->method &&
        type.foreign->type->method(l, type.foreign,
                                   TEXT("__instancecheck__"), &call, &out))
        return value_truth(l, out, at);
    lang_raise(l, "TypeError", at, "isinstance() arg 2 must be a type, a "
               "tuple of types, or a union");
}

static bool typing_matches(Lang *l, Value v, const TypingValue *t, Span at)
{
    if (t->members)
        return is_instance(l, v, v_of_list(t->members), at);
    if (text_is(t->name, "Callable"))
        return value_callable(v);
    if (text_is(t->name, "Any"))
        return true;
    lang_unsupported(l, at, "isinstance() with '%.*s'", TEXT_ARG(t->name));
}

static bool matches_prim(Lang *l, Value v, Value type, Span at)
{
    const char *name = op_info(l->options.ops, type.prim)->surface;

    if (strcmp(name, "T.dtype") == 0)
        return v.kind == VAL_DTYPE || v.kind == VAL_VECTYPE;
    if (strcmp(name, "T.PrimExpr") == 0)
        return v.kind == VAL_EXPR || is_alloc_var(v);
    if (strcmp(name, "T.Ref") == 0)                 // T.Var
        return is_alloc_var(v)
               || (v.kind == VAL_EXPR && v.expr->kind == EXPR_VAR);
    if (strcmp(name, "T.Tensor") == 0 || strcmp(name, "T.Buffer") == 0)
        return v.kind == VAL_BUFFER;
    lang_unsupported(l, at, "isinstance() with '%s'", name);
}

bool is_instance(Lang *l, Value v, Value type, Span at)
{
    switch (type.kind) {
    case VAL_TUPLE:
        for (int i = 0; i < type.list->len; i++)
            if (is_instance(l, v, type.list->at[i], at))
                return true;
        return false;
    case VAL_CLASS:
        return matches_class(l, v, type.cls);
    case VAL_TYPE:
        return is_of_kind(v, type.type);
    case VAL_NONE:                              // in int | None
        return v.kind == VAL_NONE;
    case VAL_TYPING:
        return typing_matches(l, v, type.typing, at);
    case VAL_FOREIGN:
        return host_type_matches(l, v, type, at);
    case VAL_MODULE:
        opaque_check(l, type, at);
        break;
    case VAL_BUILTIN:
        if (strcmp(type.builtin->name, "frozenset") == 0)
            return v.kind == VAL_SET && v.dict->fixed;
        if (strcmp(type.builtin->name, "DataType") == 0)
            return v.kind == VAL_DTYPE || v.kind == VAL_VECTYPE;
        break;
    case VAL_PRIM:
        return matches_prim(l, v, type, at);
    default:
        break;
    }
    lang_raise(l, "TypeError", at, "isinstance() arg 2 must be a type, a "
               "tuple of types, or a union");
}

bool lang_is_instance(Lang *l, Value v, Value type, Span at)
{
    return is_instance(l, v, type, at);
}

bool is_subclass(Lang *l, Value c, Value type, Span at)
{
    if (type.kind == VAL_TUPLE) {
        for (int i = 0; i < type.list->len; i++)
            if (is_subclass(l, c, type.list->at[i], at))
                return true;
        return false;
    }
    if (c.kind == VAL_CLASS && type.kind == VAL_CLASS)
        return type.cls == l->more->object || class_is(c.cls, type.cls);
    if (c.kind == VAL_TYPE && type.kind == VAL_TYPE)
        return c.type == type.type ||
               (c.type == VAL_BOOL && type.type == VAL_INT);
    if (c.kind != VAL_CLASS && c.kind != VAL_TYPE)
        lang_raise(l, "TypeError", at, "issubclass() arg 1 must be a class");
    return type.kind == VAL_CLASS && type.cls == l->more->object;
}
