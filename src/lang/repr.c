// repr.c - repr() and str() of any value.
#include <string.h>

#include "lang/eval_int.h"

static void put_items(Lang *l, TextBuf *out, const List *list)
{
    for (int i = 0; i < list->len; i++) {
        buf_puts(out, i ? ", " : "");
        value_repr(l, out, list->at[i]);
    }
}

static void namedtuple_repr(Lang *l, TextBuf *out, const List *t)
{
    Value fields;

    buf_printf(out, "%.*s(", TEXT_ARG(t->cls->name));
    if (!class_find(t->cls, TEXT("_fields"), &fields))
        fields = v_tuple(l, NULL, 0);
    for (int i = 0; i < t->len; i++) {
        buf_puts(out, i ? ", " : "");
        if (i < fields.list->len)
            buf_printf(out, "%.*s=", TEXT_ARG(fields.list->at[i].s));
        value_repr(l, out, t->at[i]);
    }
    buf_addc(out, ')');
}

static void tuple_repr(Lang *l, TextBuf *out, const List *t)
{
    if (t->cls) {
        namedtuple_repr(l, out, t);
        return;
    }
    buf_addc(out, '(');
    put_items(l, out, t);
    buf_puts(out, t->len == 1 ? ",)" : ")");
}

static void put_keys(Lang *l, TextBuf *out, const Dict *d, bool values)
{
    bool more = false;

    for (int i = 0; i < d->len; i++) {
        if (d->keys[i].kind == VAL_UNBOUND)
            continue;
        buf_puts(out, more ? ", " : "");
        value_repr(l, out, d->keys[i]);
        if (values) {
            buf_puts(out, ": ");
            value_repr(l, out, d->values[i]);
        }
        more = true;
    }
}

static void dict_repr(Lang *l, TextBuf *out, const Dict *d)
{
    if (d->kind)
        buf_printf(out, "%s(", d->kind);
    if (d->missing) {
        value_repr(l, out, *d->missing);
        buf_puts(out, ", ");
    }
    if (!d->kind || d->live || d->missing) {
        buf_addc(out, '{');
        put_keys(l, out, d, true);
        buf_addc(out, '}');
    }
    if (d->kind)
        buf_addc(out, ')');
}

static void set_repr(Lang *l, TextBuf *out, const Dict *d)
{
    buf_puts(out, d->fixed ? "frozenset(" : d->live ? "" : "set(");
    if (d->live) {
        buf_addc(out, '{');
        put_keys(l, out, d, false);
        buf_addc(out, '}');
    }
    buf_puts(out, d->fixed || !d->live ? ")" : "");
}

static void range_repr(TextBuf *out, const int64_t *r)
{
    buf_printf(out, "range(%lld, %lld", (long long)r[0], (long long)r[1]);
    if (r[2] != 1)
        buf_printf(out, ", %lld", (long long)r[2]);
    buf_addc(out, ')');
}

static void slice_repr(Lang *l, TextBuf *out, const SliceValue *s)
{
    buf_puts(out, "slice(");
    value_repr(l, out, *s->start);
    buf_puts(out, ", ");
    value_repr(l, out, *s->stop);
    buf_puts(out, ", ");
    value_repr(l, out, *s->step);
    buf_addc(out, ')');
}

static void iter_repr(Lang *l, TextBuf *out, IterState *it)
{
    if (!it->view) {
        buf_printf(out, "<%s object>", it->name);
        return;
    }
    buf_printf(out, "%s(", it->name);
    value_repr(l, out, v_of_list(value_to_list(l, v_iter(it), SPAN_NONE)));
    buf_addc(out, ')');
}

// ---- classes and instances -------------------------------------------------

static void class_repr(TextBuf *out, const Class *c)
{
    if (c->form == CLASS_ENUM) {
        buf_printf(out, "<enum '%.*s'>", TEXT_ARG(c->name));
        return;
    }
    buf_puts(out, "<class '");
    if (!c->built_in && c->module)
        buf_printf(out, "%.*s.", TEXT_ARG(c->module->name));
    buf_printf(out, "%.*s'>", TEXT_ARG(c->name));
}

static void data_repr(Lang *l, TextBuf *out, const Instance *i)
{
    const DataClass *d = i->cls->data;
    bool more = false;

    buf_printf(out, "%.*s(", TEXT_ARG(i->cls->name));
    for (int k = 0; k < d->len; k++) {
        Value v;

        if (d->at[k].no_repr || !map_value(&i->attributes, d->at[k].name, &v))
            continue;
        buf_printf(out, "%s%.*s=", more ? ", " : "", TEXT_ARG(d->at[k].name));
        value_repr(l, out, v);
        more = true;
    }
    buf_addc(out, ')');
}

static Value instance_value(const Instance *i, const char *name)
{
    Value v = V_NONE;

    map_value(&i->attributes, text_of(name), &v);
    return v;
}

static void enum_repr(Lang *l, TextBuf *out, const Instance *i)
{
    buf_printf(out, "<%.*s.%.*s: ", TEXT_ARG(i->cls->name),
               TEXT_ARG(instance_value(i, "name").s));
    value_repr(l, out, instance_value(i, "value"));
    buf_addc(out, '>');
}

static void exception_repr(Lang *l, TextBuf *out, Value v)
{
    const List *args = exception_args(l, v).list;

    buf_printf(out, "%.*s(", TEXT_ARG(v.instance->cls->name));
    put_items(l, out, args);
    buf_addc(out, ')');
}

static bool is_member(const Instance *i)
{
    return i->cls->form == CLASS_ENUM &&
           instance_value(i, "name").kind == VAL_STR;
}

static void instance_repr(Lang *l, TextBuf *out, Value v)
{
    const Instance *i = v.instance;
    Value text;

    if (call_dunder(l, v, "__repr__", NULL, 0, &text, SPAN_NONE)) {
        if (text.kind != VAL_STR)
            lang_raise(l, "TypeError", SPAN_NONE,
                       "__repr__ returned non-string (type %s)",
                       value_type_name(text));
        buf_text(out, text.s);
    } else if (is_member(i)) {
        enum_repr(l, out, i);
    } else if (i->cls->form == CLASS_DATA) {
        data_repr(l, out, i);
    } else if (i->cls->exception) {
        exception_repr(l, out, v);
    } else {
        buf_printf(out, "<%.*s.%.*s object>", TEXT_ARG(i->cls->module->name),
                   TEXT_ARG(i->cls->name));
    }
}

static void bound_repr(Lang *l, TextBuf *out, const BoundMethod *m)
{
    if (m->callee.kind != VAL_FUNCTION) {
        buf_printf(out, "<built-in method %s of %s object>",
                   m->callee.kind == VAL_BUILTIN ? m->callee.builtin->name
                                                 : "?",
                   value_type_name(m->self));
        return;
    }
    buf_puts(out, "<bound method ");
    if (m->self.kind == VAL_INSTANCE)
        buf_printf(out, "%.*s.", TEXT_ARG(m->self.instance->cls->name));
    buf_printf(out, "%.*s of ", TEXT_ARG(m->callee.function->name));
    value_repr(l, out, m->self);
    buf_addc(out, '>');
}

static void typing_repr(Lang *l, TextBuf *out, const TypingValue *t)
{
    if (text_is(t->name, "NotImplemented")) {
        buf_text(out, t->name);
        return;
    }
    if (!t->members) {
        buf_printf(out, "typing.%.*s", TEXT_ARG(t->name));
        return;
    }
    for (int i = 0; i < t->members->len; i++) {
        Value m = t->members->at[i];

        buf_puts(out, i ? " | " : "");
        if (m.kind == VAL_TYPE)
            buf_puts(out, kind_name(m.type));
        else
            value_repr(l, out, m);
    }
}

static void device_repr(TextBuf *out, Value v)
{
    if (v.kind == VAL_EXPR)
        ir_print_expr(out, v.expr);
    else if (v.kind == VAL_BUFFER)
        buf_text(out, v.buffer->name);
    else
        buf_printf(out, "%.*s[...]", TEXT_ARG(v.region->buffer->name));
}

static void object_repr(Lang *l, TextBuf *out, Value v)
{
    switch (v.kind) {
    case VAL_FUNCTION:
    case VAL_MACRO:
        buf_printf(out, "<function %.*s>", TEXT_ARG(v.function->name));
        break;
    case VAL_BUILTIN:
        buf_printf(out, "<built-in function %s>", v.builtin->name);
        break;
    case VAL_BOUND:
        bound_repr(l, out, v.bound);
        break;
    case VAL_CLASS:
        class_repr(out, v.cls);
        break;
    case VAL_TYPE:
        buf_printf(out, "<class '%s'>", kind_name(v.type));
        break;
    case VAL_INSTANCE:
        instance_repr(l, out, v);
        break;
    case VAL_MODULE:
        buf_printf(out, "<module '%.*s'>", TEXT_ARG(v.module->name));
        break;
    case VAL_TYPING:
        typing_repr(l, out, v.typing);
        break;
    case VAL_FOREIGN:
        if (v.foreign->type->repr)
            v.foreign->type->repr(l, v.foreign, out);
        else
            buf_printf(out, "<%s object>", v.foreign->type->name);
        break;
    case VAL_PRIM:
        buf_puts(out, op_info(l->options.ops, v.prim)->surface);
        break;
    case VAL_KERNEL:
        buf_printf(out, "<prim_func %.*s>", TEXT_ARG(v.kernel->name));
        break;
    default:
        buf_printf(out, "<%s object>", value_type_name(v));
        break;
    }
}

void value_repr(Lang *l, TextBuf *out, Value v)
{
    stack_check(l, SPAN_NONE);
    switch (v.kind) {
    case VAL_NONE:
        buf_puts(out, "None");
        break;
    case VAL_BOOL:
        buf_puts(out, v.b ? "True" : "False");
        break;
    case VAL_INT:
        buf_printf(out, "%lld", (long long)v.i);
        break;
    case VAL_FLOAT:
        float_repr(out, v.f);
        break;
    case VAL_STR:
        str_repr(out, v.s);
        break;
    case VAL_BYTES:
        bytes_repr(out, v.s);
        break;
    case VAL_ELLIPSIS:
        buf_puts(out, "Ellipsis");
        break;
    case VAL_TUPLE:
        tuple_repr(l, out, v.list);
        break;
    case VAL_LIST:
        buf_addc(out, '[');
        put_items(l, out, v.list);
        buf_addc(out, ']');
        break;
    case VAL_DICT:
        dict_repr(l, out, v.dict);
        break;
    case VAL_SET:
        set_repr(l, out, v.dict);
        break;
    case VAL_RANGE:
        range_repr(out, v.range.r);
        break;
    case VAL_SLICE:
        slice_repr(l, out, v.slice);
        break;
    case VAL_ITER:
        iter_repr(l, out, v.iter);
        break;
    case VAL_DTYPE:
        buf_puts(out, dtype_info(v.dtype)->name);
        break;
    case VAL_VECTYPE:
        buf_text(out, vectype_name(l, v));
        break;
    case VAL_POLICY:
        buf_text(out, v.s);
        break;
    case VAL_EXPR:
    case VAL_BUFFER:
    case VAL_REGION:
        device_repr(out, v);
        break;
    default:
        object_repr(l, out, v);
        break;
    }
}

// str() of an exception: nothing, its argument, or all of them as a tuple; a
// KeyError shows its key's repr.
static void exception_str(Lang *l, TextBuf *out, Value v)
{
    const List *args = exception_args(l, v).list;

    if (args->len == 1 && exception_is(l, v, EXC_KEY))
        value_repr(l, out, args->at[0]);
    else if (args->len == 1)
        value_str(l, out, args->at[0]);
    else if (args->len > 1)
        tuple_repr(l, out, args);
}

void value_str(Lang *l, TextBuf *out, Value v)
{
    Value text;

    if (v.kind == VAL_STR) {
        buf_text(out, v.s);
    } else if (v.kind != VAL_INSTANCE) {
        value_repr(l, out, v);
    } else if (call_dunder(l, v, "__str__", NULL, 0, &text, SPAN_NONE)) {
        if (text.kind != VAL_STR)
            lang_raise(l, "TypeError", SPAN_NONE,
                       "__str__ returned non-string (type %s)",
                       value_type_name(text));
        buf_text(out, text.s);
    } else if (v.instance->cls->exception) {
        exception_str(l, out, v);
    } else if (is_member(v.instance) &&
               !class_find(v.instance->cls, TEXT("__repr__"), &text)) {
        if (v.instance->cls->mixin)
            value_str(l, out, instance_value(v.instance, "value"));
        else
            buf_printf(out, "%.*s.%.*s", TEXT_ARG(v.instance->cls->name),
                       TEXT_ARG(instance_value(v.instance, "name").s));
    } else {
        value_repr(l, out, v);
    }
}
