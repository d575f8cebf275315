// subscript.c - v[i], v[i] = x, del v[i], len(v).
#include "lang/eval_int.h"

// ---- reading ---------------------------------------------------------------

static Value range_item(Lang *l, const int64_t *r, Value index, Span at)
{
    if (index.kind == VAL_SLICE) {
        SliceRange s = slice_range(l, index.slice, range_len(r), at);

        return v_range(l, r[0] + s.start * r[2], r[0] + s.stop * r[2],
                       r[2] * s.step);
    }
    return v_int(r[0] + index_in(l, index, range_len(r), "range", at) * r[2]);
}

static Value sequence_item(Lang *l, Value base, Value index, Span at)
{
    if (index.kind == VAL_SLICE)
        return v_of_list(list_slice(l, base.list, index.slice, at));
    return base.list->at[index_in(l, index, base.list->len,
                                  kind_name(base.kind), at)];
}

static Value bytes_item(Lang *l, Text t, Value index, Span at)
{
    Value out = {.kind = VAL_BYTES};

    if (index.kind == VAL_SLICE) {
        SliceRange r = slice_range(l, index.slice, (int64_t)t.len, at);

        if (r.step != 1)
            lang_unsupported(l, at, "a slice of bytes with a step");
        out.s = text_slice(t, (size_t)r.start, (size_t)(r.start + r.count));
        return out;
    }
    return v_int((unsigned char)
                 t.at[index_in(l, index, (int64_t)t.len, "bytes", at)]);
}

static Value class_item(Lang *l, Class *c, Value index, Span at)
{
    Value members, out;

    if (c->form == CLASS_ENUM &&
        map_value(&c->attributes, TEXT("__members__"), &members))
        return dict_index(l, members, index, at);
    if (class_find(c, TEXT("__class_getitem__"), &out)) {
        bind_attribute(l, v_class(c), c, &out, at);
        return call1(l, out, index, at);
    }
    return v_class(c);                          // Generic[T] and the like
}

_Noreturn static void not_subscriptable(Lang *l, Value v, Span at)
{
    opaque_check(l, v, at);
    lang_raise(l, "TypeError", at, "'%s' object is not subscriptable",
               value_type_name(v));
}

static Value foreign_item(Lang *l, Value base, Value index, Span at)
{
    int pins = lang_pins(l);
    Value out;

    if (!base.foreign->type->getitem)
        not_subscriptable(l, base, at);
    out = base.foreign->type->getitem(l, base.foreign, index, at);
    lang_unpin(l, pins);
    return out;
}

Value getitem(Lang *l, Value base, Value index, Span at)
{
    Value out;

    switch (base.kind) {
    case VAL_LIST:
    case VAL_TUPLE:
        return sequence_item(l, base, index, at);
    case VAL_DICT:
        return dict_index(l, base, index, at);
    case VAL_STR:
        if (index.kind == VAL_SLICE)
            return str_slice(l, base.s, index.slice, at);
        return str_index(l, base.s,
                         index_in(l, index, str_len(base.s), "str", at));
    case VAL_BYTES:
        return bytes_item(l, base.s, index, at);
    case VAL_RANGE:
        return range_item(l, base.range.r, index, at);
    case VAL_EXPR:
    case VAL_BUFFER:
    case VAL_REGION:
        return device_getitem(l, base, index, at);
    case VAL_PRIM:
        return prim_getitem(l, base.prim, index, at);
    case VAL_FOREIGN:
        return foreign_item(l, base, index, at);
    case VAL_INSTANCE:
        if (call_dunder(l, base, "__getitem__", &index, 1, &out, at))
            return out;
        not_subscriptable(l, base, at);
    case VAL_CLASS:
        return class_item(l, base.cls, index, at);
    case VAL_TYPE:
    case VAL_TYPING:
        return base;                            // list[int], Optional[int]
    default:
        not_subscriptable(l, base, at);
    }
}

// ---- writing ---------------------------------------------------------------

static void list_store(Lang *l, List *list, Value index, Value v, Span at)
{
    if (index.kind == VAL_SLICE) {
        list_assign_slice(l, list, index.slice, v, at);
        return;
    }
    value_bind(v);
    list->at[index_in(l, index, list->len, "list assignment", at)] = v;
}

static bool object_setitem(Lang *l, Value base, Value index, Value v, Span at)
{
    Value args[2] = {index, v}, out;

    if (base.kind == VAL_INSTANCE)
        return call_dunder(l, base, "__setitem__", args, 2, &out, at);
    if (base.kind != VAL_FOREIGN || !base.foreign->type->setitem)
        return false;
    if (base.foreign->type->mark)
        value_bind(v);
    base.foreign->type->setitem(l, base.foreign, index, v, at);
    return true;
}

void setitem(Lang *l, Value base, Value index, Value v, Span at)
{
    l->more->at = at;
    switch (base.kind) {
    case VAL_LIST:
        list_store(l, base.list, index, v, at);
        return;
    case VAL_DICT:
        dict_set(l, base.dict, index, v);
        return;
    case VAL_EXPR:
    case VAL_BUFFER:
    case VAL_REGION:
        device_setitem(l, base, index, v, at);
        return;
    default:
        if (!object_setitem(l, base, index, v, at))
            lang_raise(l, "TypeError", at,
                       "'%s' object does not support item assignment",
                       value_type_name(base));
    }
}

static void list_delete(Lang *l, List *list, Value index, Span at)
{
    SliceRange r;

    if (index.kind != VAL_SLICE) {
        list_remove_at(list, (int)index_in(l, index, list->len,
                                           "list assignment", at));
        return;
    }
    r = slice_range(l, index.slice, list->len, at);
    for (int64_t i = 0; i < r.count; i++)       // the highest index first
        list_remove_at(list, (int)(r.step > 0
                                       ? r.start + (r.count - 1 - i) * r.step
                                       : r.start + i * r.step));
}

void delitem(Lang *l, Value base, Value index, Span at)
{
    Value out;

    if (base.kind == VAL_LIST) {
        list_delete(l, base.list, index, at);
    } else if (base.kind == VAL_DICT) {
        if (!dict_remove(l, base.dict, index))
            exception_raise(l, exception_new(l, l->more->exceptions[EXC_KEY],
                                             &index, 1), at);
    } else if (base.kind != VAL_INSTANCE ||
               !call_dunder(l, base, "__delitem__", &index, 1, &out, at)) {
        lang_raise(l, "TypeError", at,
                   "'%s' object doesn't support item deletion",
                   value_type_name(base));
    }
}

// ---- length ----------------------------------------------------------------

static int64_t object_len(Lang *l, Value v, Span at)
{
    Value out;

    if (v.kind == VAL_FOREIGN && v.foreign->type->length)
        return v.foreign->type->length(l, v.foreign, at);
    if (v.kind == VAL_ITER && v.iter->view)
        return view_len(v.iter);
    if (v.kind == VAL_CLASS && v.cls->form == CLASS_ENUM)
        return enum_members(l, v.cls).list->len;
    if (v.kind == VAL_INSTANCE &&
        call_dunder(l, v, "__len__", NULL, 0, &out, at)) {
        int64_t n = value_to_int(l, out, "the result of __len__", at);

        if (n < 0)
            lang_raise(l, "ValueError", at, "__len__() should return >= 0");
        return n;
    }
    opaque_check(l, v, at);
    lang_raise(l, "TypeError", at, "object of type '%s' has no len()",
               value_type_name(v));
}

int64_t value_len(Lang *l, Value v, Span at)
{
    switch (v.kind) {
    case VAL_STR:
        return str_len(v.s);
    case VAL_BYTES:
        return (int64_t)v.s.len;
    case VAL_TUPLE:
    case VAL_LIST:
        return v.list->len;
    case VAL_DICT:
    case VAL_SET:
        return v.dict->live;
    case VAL_RANGE:
        return range_len(v.range.r);
    default:
        return object_len(l, v, at);
    }
}
