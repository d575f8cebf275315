// attr.c - attributes of every kind of value.
#include <string.h>

#include "lang/eval_int.h"

const Method *method_find(const Lang *l, ValueKind k, Text name)
{
    if (k == VAL_BOOL)
        k = VAL_INT;
    return map_get(&l->more->methods[k], name);
}

static const char *method_owner(const Lang *l, const Method *m)
{
    for (int k = 0; k < VAL_KIND_COUNT; k++)
        if (map_get(&l->more->methods[k], text_of(m->name)) == m)
            return kind_name((ValueKind)k);
    return "object";
}

static Value run_unbound(Lang *l, void *ctx, const Args *args)
{
    const Method *m = ctx;
    Args rest = *args;

    if (args->count == 0)
        lang_raise(l, "TypeError", args->at_span,
                   "unbound method %s() needs an argument", m->name);
    if (method_find(l, args->at[0].kind, text_of(m->name)) != m)
        lang_raise(l, "TypeError", args->at_span,
                   "descriptor '%s' for '%s' objects doesn't apply to a '%s' "
                   "object", m->name, method_owner(l, m),
                   value_type_name(args->at[0]));
    rest.at++;
    rest.count--;
    rest.spans = NULL;
    return m->call(l, args->at[0], &rest);
}

// unbound: str.upper
static Value method_value(Lang *l, const Method *m)
{
    return v_builtin(l, m->name, run_unbound, (void *)m);
}

// ---- modules ---------------------------------------------------------------

// Anything of an unknown module is unknown: using it is the error.
static Value opaque_member(Lang *l, Text owner, Text name)
{
    Module *child = new (l->options.arena, Module);

    child->name = text_format(l->options.arena, "%.*s.%.*s", TEXT_ARG(owner),
                              TEXT_ARG(name));
    child->opaque = true;
    return v_module(child);
}

static bool module_getattr(Lang *l, Module *m, Text name, Value *out)
{
    if (map_value(&m->members, name, out))
        return true;
    if (m->lookup && m->lookup(l, m, name, out))
        return true;
    if (text_is(name, "__name__"))
        return *out = v_str(m->name), true;
    if (!m->opaque)
        return false;
    *out = opaque_member(l, m->name, name);
    return true;
}

// ---- functions -------------------------------------------------------------

static Text docstring(const Ast *def)
{
    const Ast *s = def->kind == AST_FUNCTION && def->x.len ? def->x.at[0]
                                                           : NULL;

    return s && s->kind == AST_EXPRSTMT && s->a->kind == AST_STRING
               ? s->a->text : TEXT("");
}

static bool function_getattr(Lang *l, Function *fn, Text name, Value *out)
{
    if (map_value(&fn->attributes, name, out))
        return true;
    if (text_is(name, "__name__") || text_is(name, "__qualname__"))
        *out = v_str(fn->name);
    else if (text_is(name, "__module__"))
        *out = v_str(fn->module->name);
    else if (text_is(name, "__doc__"))
        *out = docstring(fn->def).len ? v_str(docstring(fn->def)) : V_NONE;
    else if (text_is(name, "__dict__") || text_is(name, "__annotations__"))
        *out = v_dict(l);
    else
        return false;
    return true;
}

static bool builtin_getattr(const BuiltinFn *b, Text name, Value *out)
{
    if (b->held && map_value(&b->held->attributes, name, out))
        return true;
    if (!text_is(name, "__name__") && !text_is(name, "__qualname__"))
        return false;
    *out = v_cstr(b->name);
    return true;
}

static bool bound_getattr(Lang *l, const BoundMethod *m, Text name, Value *out,
                          Span at)
{
    if (text_is(name, "__self__"))
        return *out = m->self, true;
    if (text_is(name, "__func__"))
        return *out = m->callee, true;
    return lang_getattr(l, m->callee, name, out, at);
}

// ---- property, and its setter ----------------------------------------------

static Value with_setter(Lang *l, void *ctx, const Args *args)
{
    Descriptor *d = new (l->options.arena, Descriptor);
    Value out = {.kind = VAL_DESCRIPTOR, .descriptor = d};

    args_count(l, "setter", args, 1, 1);
    *d = *(const Descriptor *)ctx;
    d->set = args->at[0];
    return out;
}

static bool descriptor_getattr(Lang *l, Descriptor *d, Text name, Value *out,
                               Span at)
{
    if (d->kind == DESC_PROPERTY && text_is(name, "setter"))
        return *out = v_builtin(l, "setter", with_setter, d), true;
    if (d->kind == DESC_PROPERTY && text_is(name, "fget"))
        return *out = d->get, true;
    if (d->kind != DESC_PROPERTY && text_is(name, "__func__"))
        return *out = d->get, true;
    return lang_getattr(l, d->get, name, out, at);
}

// ---- plain values ----------------------------------------------------------

// T.float16 is torch.float16: dtype.as_torch().
static Value same_dtype(Lang *l, void *ctx, const Args *args)
{
    const DTypeInfo *info = ctx;
    DType t;

    args_count(l, "as_torch", args, 0, 0);
    if (!dtype_find(text_of(info->name), &t))
        return V_NONE;
    if (info->bits < 8)             // what holds two of them
        t = info->kind == KIND_INT ? DT_I8 : DT_U8;
    return v_dtype(t);
}

static bool dtype_getattr(Lang *l, DType t, Text name, Value *out)
{
    const DTypeInfo *info = dtype_info(t);

    if (text_is(name, "as_torch"))
        *out = v_builtin(l, "as_torch", same_dtype, (void *)info);
    else if (text_is(name, "bits"))
        *out = v_int(info->bits);
    else if (text_is(name, "bytes") || text_is(name, "itemsize"))
        *out = v_int((info->bits + 7) / 8);
    else if (text_is(name, "lanes"))
        *out = v_int(1);
    else if (text_is(name, "name"))
        *out = v_cstr(info->name);
    else if (text_is(name, "is_floating_point"))
        *out = v_bool(info->kind == KIND_FLOAT);
    else
        return false;
    return true;
}

static bool number_getattr(Value v, Text name, Value *out)
{
    int64_t i;
    bool whole = as_int(v, &i);

    if (text_is(name, "real"))
        *out = whole ? v_int(i) : v;
    else if (text_is(name, "imag"))
        *out = whole ? v_int(0) : v_float(0);
    else if (whole && text_is(name, "numerator"))
        *out = v_int(i);
    else if (whole && text_is(name, "denominator"))
        *out = v_int(1);
    else
        return false;
    return true;
}

static int part_named(Text name)
{
    return text_is(name, "start") ? 0 : text_is(name, "stop") ? 1
           : text_is(name, "step")  ? 2 : -1;
}

static bool slice_getattr(const SliceValue *s, Text name, Value *out)
{
    int part = part_named(name);

    if (part >= 0)
        *out = *(part == 0 ? s->start : part == 1 ? s->stop : s->step);
    return part >= 0;
}

static bool range_getattr(const int64_t *r, Text name, Value *out)
{
    int part = part_named(name);

    if (part >= 0)
        *out = v_int(r[part]);
    return part >= 0;
}

static bool namedtuple_getattr(Lang *l, Value v, Text name, Value *out,
                               Span at)
{
    Value fields;

    if (class_find(v.list->cls, TEXT("_fields"), &fields))
        for (int i = 0; i < fields.list->len && i < v.list->len; i++)
            if (text_eq(fields.list->at[i].s, name))
                return *out = v.list->at[i], true;
    if (!class_find(v.list->cls, name, out))
        return false;
    if (out->kind == VAL_FUNCTION || out->kind == VAL_BUILTIN)
        *out = v_bound(l, v, *out);
    else if (out->kind == VAL_DESCRIPTOR &&
             out->descriptor->kind == DESC_PROPERTY)
        *out = call1(l, out->descriptor->get, v, at);
    return true;
}

static bool type_getattr(Lang *l, ValueKind k, Text name, Value *out)
{
    const Method *m = method_find(l, k, name);

    if (k == VAL_DICT && text_is(name, "fromkeys"))
        *out = v_builtin(l, "fromkeys", dict_fromkeys, NULL);
    else if (m)
        *out = method_value(l, m);
    else if (text_is(name, "__name__") || text_is(name, "__qualname__"))
        *out = v_cstr(kind_name(k));
    else
        return false;
    return true;
}

// The attribute of the first class after `after` in the order of self's class.
static bool super_getattr(Lang *l, const SuperValue *s, Text name, Value *out,
                          Span at)
{
    Class *c = s->self.kind == VAL_CLASS ? s->self.cls : s->self.instance->cls;
    bool past = false;

    for (int i = 0; i < c->mro_len; i++) {
        if (past && map_value(&c->mro[i]->attributes, name, out))
            return bind_attribute(l, s->self, c, out, at);
        past |= c->mro[i] == s->after;
    }
    return map_value(&l->more->object->attributes, name, out) &&
           bind_attribute(l, s->self, c, out, at);
}

static bool foreign_getattr(Lang *l, Foreign *f, Text name, Value *out,
                            Span at)
{
    int pins = lang_pins(l);
    bool found = f->type->getattr && f->type->getattr(l, f, name, out, at);

    lang_unpin(l, pins);
    return found;
}

// v.__getattribute__("name")
static Value get_attribute(Lang *l, void *ctx, const Args *args)
{
    const Held *held = ctx;
    Value out;

    args_count(l, "__getattribute__", args, 1, 1);
    Text name = args->at[0].s;
    if (args->at[0].kind == VAL_DTYPE)          // upstream's are strings
        name = text_of(dtype_info(args->at[0].dtype)->name);
    else if (args->at[0].kind != VAL_STR)
        lang_raise(l, "TypeError", args->at_span,
                   "attribute name must be string, not '%s'",
                   value_type_name(args->at[0]));
    if (!lang_getattr(l, held->value.list->at[0], name, &out, args->at_span))
        lang_raise(l, "AttributeError", args->at_span,
                   "no attribute '%.*s'", TEXT_ARG(name));
    return out;
}

static bool own_getattr(Lang *l, Value v, Text name, Value *out, Span at)
{
    if (text_is(name, "__getattribute__") &&
        (v.kind == VAL_MODULE || v.kind == VAL_CLASS ||
         v.kind == VAL_INSTANCE)) {
        *out = v_keeper(l, "__getattribute__", get_attribute,
                        v_tuple(l, &v, 1));
        return true;
    }
    switch (v.kind) {
    case VAL_MODULE:
        return module_getattr(l, v.module, name, out);
    case VAL_INSTANCE:
        return instance_getattr(l, v, name, out, at);
    case VAL_CLASS:
        return class_getattr(l, v.cls, name, out, at);
    case VAL_FUNCTION:
    case VAL_MACRO:
        return function_getattr(l, v.function, name, out);
    case VAL_BUILTIN:
        return builtin_getattr(v.builtin, name, out);
    case VAL_BOUND:
        return bound_getattr(l, v.bound, name, out, at);
    case VAL_DESCRIPTOR:
        return descriptor_getattr(l, v.descriptor, name, out, at);
    case VAL_SUPER:
        return super_getattr(l, v.super, name, out, at);
    case VAL_FOREIGN:
        return foreign_getattr(l, v.foreign, name, out, at);
    case VAL_TYPE:
        return type_getattr(l, v.type, name, out);
    case VAL_DTYPE:
        return dtype_getattr(l, v.dtype, name, out);
    case VAL_VECTYPE:
        return vectype_getattr(l, v, name, out);
    case VAL_BOOL:
    case VAL_INT:
    case VAL_FLOAT:
        return number_getattr(v, name, out);
    case VAL_SLICE:
        return slice_getattr(v.slice, name, out);
    case VAL_RANGE:
        return range_getattr(v.range.r, name, out);
    case VAL_TUPLE:
        return v.list->cls && namedtuple_getattr(l, v, name, out, at);
    case VAL_EXPR:
    case VAL_BUFFER:
    case VAL_REGION:
        return device_getattr(l, v, name, out, at);
    case VAL_KERNEL:
    case VAL_INDEXMAP:
    case VAL_TENSORSPEC:
    case VAL_POLICY:
    case VAL_LOOPFRAME:
    case VAL_KERNELFRAME:
    case VAL_PRIM:
        return trace_getattr(l, v, name, out, at);
    default:
        return false;
    }
}

bool lang_getattr(Lang *l, Value v, Text name, Value *out, Span at)
{
    const Method *m;

    if (own_getattr(l, v, name, out, at))
        return true;
    if (text_is(name, "__class__"))
        return *out = class_of(l, v), true;
    m = method_find(l, v.kind, name);
    if (!m && v.kind == VAL_DTYPE)              // dtypes stand for their names
        return lang_getattr(l, v_cstr(dtype_info(v.dtype)->name), name, out,
                            at);
    if (m)
        *out = v_bound(l, v, method_value(l, m));
    return m != NULL;
}

// ---- what is not there -----------------------------------------------------

static Text near_attribute(Lang *l, Value v, Text name)
{
    Text best = nearest_name(&l->more->methods[v.kind], name, TEXT(""));
    const Class *c = v.kind == VAL_CLASS      ? v.cls
                     : v.kind == VAL_INSTANCE ? v.instance->cls : NULL;

    if (v.kind == VAL_MODULE)
        best = nearest_name(&v.module->members, name, best);
    if (v.kind == VAL_INSTANCE)
        best = nearest_name(&v.instance->attributes, name, best);
    for (int i = 0; c && i < c->mro_len; i++)
        best = nearest_name(&c->mro[i]->attributes, name, best);
    return best;
}

_Noreturn static void no_attribute(Lang *l, Value v, Text name, Span at)
{
    Text near = near_attribute(l, v, name);

    if (v.kind == VAL_MODULE && v.module == l->language)
        language_unknown(l, name, at);
    if (v.kind == VAL_MODULE)
        lang_raise_near(l, "AttributeError", at, near,
                        "module '%.*s' has no attribute '%.*s'",
                        TEXT_ARG(v.module->name), TEXT_ARG(name));
    if (v.kind == VAL_CLASS || v.kind == VAL_TYPE)
        lang_raise_near(l, "AttributeError", at, near,
                        "type object '%s' has no attribute '%.*s'",
                        v.kind == VAL_CLASS ? v.cls->name.at
                                            : kind_name(v.type),
                        TEXT_ARG(name));
    if (v.kind == VAL_FOREIGN && v.foreign->type->has_more)
        lang_unsupported(l, at, "'%.*s' of a %s (unknown to tilesim)",
                         TEXT_ARG(name), v.foreign->type->name);
    lang_raise_near(l, "AttributeError", at, near,
                    "'%s' object has no attribute '%.*s'",
                    v.kind == VAL_SUPER ? "super" : value_type_name(v),
                    TEXT_ARG(name));
}

Value getattr_or_raise(Lang *l, Value v, Text name, Span at, Span name_at)
{
    Value out;

    if (lang_getattr(l, v, name, &out, at))
        return out;
    if (v.kind == VAL_CLASS && v.cls->foreign_base)
        return opaque_member(l, text_of(v.cls->foreign_base), name);
    if (v.kind == VAL_INSTANCE && v.instance->cls->foreign_base)
        lang_unsupported(l, at, "'%.*s' of a class that derives from '%s' "
                         "(unknown to tilesim)", TEXT_ARG(name),
                         v.instance->cls->foreign_base);
    no_attribute(l, v, name, name_at.file ? name_at : at);
}

Value eval_attribute(Lang *l, Frame *f, const Ast *e)
{
    int top = temps_top(l), pins;
    Value base = eval(l, f, e->a), out;

    temp_push(l, base);
    l->more->at = e->at;
    pins = lang_pins(l);
    out = getattr_or_raise(l, base, e->text, e->at, e->name_at);
    lang_unpin(l, pins);
    temps_cut(l, top);
    temp_drop(l, base, out);
    return out;
}

// ---- writing ---------------------------------------------------------------

static bool set_property(Lang *l, Value self, Text name, Value v, Span at)
{
    Value found, args[2] = {self, v};
    Args call = {.at = args, .count = 2, .at_span = at};

    if (!class_find(self.instance->cls, name, &found) ||
        found.kind != VAL_DESCRIPTOR ||
        found.descriptor->kind != DESC_PROPERTY)
        return false;
    if (found.descriptor->set.kind == VAL_UNBOUND)
        lang_raise(l, "AttributeError", at,
                   "property '%.*s' of '%s' object has no setter",
                   TEXT_ARG(name), value_type_name(self));
    lang_call(l, found.descriptor->set, &call);
    return true;
}

static void set_instance(Lang *l, Value self, Text name, Value v, Span at)
{
    Value args[2] = {v_str(name), v}, out;
    const Class *c = self.instance->cls;

    if (call_dunder(l, self, "__setattr__", args, 2, &out, at) ||
        set_property(l, self, name, v, at))
        return;
    if (c->form == CLASS_DATA && c->data->frozen)
        lang_raise(l, "FrozenInstanceError", at,
                   "cannot assign to field '%.*s'", TEXT_ARG(name));
    map_bind(l, &self.instance->attributes, name, v);
}

static void set_builtin(Lang *l, const BuiltinFn *b, Text name, Value v,
                        Span at)
{
    if (!b->held)
        lang_raise(l, "AttributeError", at,
                   "'builtin_function_or_method' object has no attribute "
                   "'%.*s'", TEXT_ARG(name));
    map_bind(l, &b->held->attributes, name, v);
}

void setattr(Lang *l, Value base, Text name, Value v, Span at)
{
    value_bind(v);
    switch (base.kind) {
    case VAL_INSTANCE:
        set_instance(l, base, name, v, at);
        return;
    case VAL_CLASS:
        if (base.cls->built_in)
            lang_raise(l, "TypeError", at,
                       "cannot set '%.*s' attribute of immutable type '%.*s'",
                       TEXT_ARG(name), TEXT_ARG(base.cls->name));
        map_bind(l, &base.cls->attributes, name, v);
        return;
    case VAL_MODULE:
        map_bind(l, &base.module->members, name, v);
        return;
    case VAL_FUNCTION:
        map_bind(l, &base.function->attributes, name, v);
        return;
    case VAL_BUILTIN:
        set_builtin(l, base.builtin, name, v, at);
        return;
    case VAL_FOREIGN:
        if (base.foreign->type->setattr &&
            base.foreign->type->setattr(l, base.foreign, name, v, at))
            return;
        break;
    default:
        break;
    }
    lang_raise(l, "AttributeError", at,
               "'%s' object has no attribute '%.*s' that could be set",
               value_type_name(base), TEXT_ARG(name));
}

bool delattr(Lang *l, Value base, Text name)
{
    (void)l;
    switch (base.kind) {
    case VAL_INSTANCE:
        return map_remove(&base.instance->attributes, name);
    case VAL_CLASS:
        return map_remove(&base.cls->attributes, name);
    case VAL_MODULE:
        return map_remove(&base.module->members, name);
    case VAL_FUNCTION:
        return map_remove(&base.function->attributes, name);
    default:
        return false;
    }
}
