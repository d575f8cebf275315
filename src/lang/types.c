// types.c - calling the built-in types: int("3"), list(x), dict(a=1).
#include <math.h>
#include <string.h>

#include "lang/eval_int.h"

// ---- numbers ---------------------------------------------------------------

static Value int_of_text(Lang *l, Text t, int base, Span at)
{
    int64_t i;
    bool big;

    if (!text_to_int(t, base, &i, &big)) {
        TextBuf *b = text_begin(l);

        str_repr(b, t);
        lang_raise(l, "ValueError", at,
                   "invalid literal for int() with base %d: %.*s", base,
                   TEXT_ARG(buf_view(b)));
    }
    if (big)
        int_overflow(l, at);
    return v_int(i);
}

static Value foreign_number(Lang *l, Value v, const char *method, Span at,
                            bool *found)
{
    Args none = {.at_span = at};
    Value out = V_NONE;
    const ForeignType *t = v.foreign->type;
    int pins = lang_pins(l);

    *found = t->method && (t->method(l, v.foreign, text_of(method), &none,
                                     &out) ||
                           t->method(l, v.foreign, TEXT("item"), &none, &out));
    lang_unpin(l, pins);
    return out;
}

static Value int_of(Lang *l, Value v, Span at)
{
    Value out;
    int64_t i;
    bool found;

    if (as_int(v, &i))
        return v_int(i);
    if (v.kind == VAL_FLOAT)
        return v_int(float_to_int(l, v.f, at));
    if (v.kind == VAL_STR || v.kind == VAL_BYTES)
        return int_of_text(l, v.s, 10, at);
    if (call_dunder(l, v, "__int__", NULL, 0, &out, at) ||
        call_dunder(l, v, "__index__", NULL, 0, &out, at))
        return out;
    if (v.kind == VAL_INSTANCE && v.instance->cls->mixin &&
        map_value(&v.instance->attributes, TEXT("value"), &out))
        return int_of(l, out, at);
    if (v.kind == VAL_FOREIGN) {
        out = foreign_number(l, v, "__int__", at, &found);
        if (found && out.kind != VAL_FOREIGN)
            return int_of(l, out, at);
    }
    if (v_is_device(v))
        lang_raise(l, "TypeError", at,
                   "int() needs a value known while staging, not a device "
                   "value; use T.cast");
    lang_raise(l, "TypeError", at,
               "int() argument must be a string, a bytes-like object or a "
               "real number, not '%s'", value_type_name(v));
}

static Value make_int(Lang *l, const Args *args)
{
    Value base;
    int64_t b;

    if (args->count > 2)
        lang_raise(l, "TypeError", args->at_span,
                   "int() takes at most 2 arguments (%d given)", args->count);
    if (args->count == 0)
        return v_int(0);
    if (args->count == 2)
        base = args->at[1];
    else if (!args_keyword(args, "base", &base))
        return int_of(l, args->at[0], args->at_span);
    b = need_int(l, base, args->at_span);
    if ((b < 2 || b > 36) && b != 0)
        lang_raise(l, "ValueError", args->at_span,
                   "int() base must be >= 2 and <= 36, or 0");
    if (args->at[0].kind != VAL_STR)
        lang_raise(l, "TypeError", args->at_span,
                   "int() can't convert non-string with explicit base");
    return int_of_text(l, args->at[0].s, (int)b, args->at_span);
}

static Value float_of(Lang *l, Value v, Span at)
{
    Value out;
    double f;
    bool found;

    if (as_number(v, &f))
        return v_float(f);
    if (v.kind == VAL_STR) {
        TextBuf *b;

        if (text_to_float(v.s, &f))
            return v_float(f);
        b = text_begin(l);
        str_repr(b, v.s);
        lang_raise(l, "ValueError", at,
                   "could not convert string to float: %.*s",
                   TEXT_ARG(buf_view(b)));
    }
    if (call_dunder(l, v, "__float__", NULL, 0, &out, at) ||
        call_dunder(l, v, "__index__", NULL, 0, &out, at))
        return float_of(l, out, at);
    if (v.kind == VAL_FOREIGN) {
        out = foreign_number(l, v, "__float__", at, &found);
        if (found && out.kind != VAL_FOREIGN)
            return float_of(l, out, at);
    }
    if (v_is_device(v))
        lang_raise(l, "TypeError", at,
                   "float() needs a value known while staging, not a device "
                   "value; use T.cast");
    lang_raise(l, "TypeError", at,
               "float() argument must be a string or a real number, not '%s'",
               value_type_name(v));
}

// ---- str -------------------------------------------------------------------

static Value make_str(Lang *l, const Args *args)
{
    if (args->count == 0)
        return v_str(TEXT(""));
    if (args->at[0].kind == VAL_BYTES && args->count > 1)
        return v_str(args->at[0].s);
    value_str(l, text_begin(l), args->at[0]);
    return text_end(l);
}

static Value make_bytes(Lang *l, const Args *args)
{
    Value v = args->count ? args->at[0] : v_int(0);
    TextBuf b = {0};
    List *items;
    Value out;

    if (v.kind == VAL_STR || v.kind == VAL_BYTES)
        return (Value){.kind = VAL_BYTES, .s = v.s};
    if (v.kind == VAL_INT) {
        out = str_repeat(l, (Text){"", 1}, v.i, args->at_span);
        out.kind = VAL_BYTES;
        return out;
    }
    items = value_to_list(l, v, args->at_span);
    for (int i = 0; i < items->len; i++) {
        int64_t c;

        if (!as_int(items->at[i], &c) || c < 0 || c > 255) {
            buf_release(&b);
            lang_raise(l, "ValueError", args->at_span,
                       "bytes must be in range(0, 256)");
        }
        buf_addc(&b, (char)c);
    }
    out = v_buf(l, &b);
    out.kind = VAL_BYTES;
    return out;
}

// ---- collections -----------------------------------------------------------

static Value make_sequence(Lang *l, const Args *args, bool fixed)
{
    List *items;

    if (args->count == 0)
        return fixed ? v_tuple(l, NULL, 0) : v_list(l, NULL, 0);
    if (fixed && args->at[0].kind == VAL_TUPLE && !args->at[0].list->cls)
        return args->at[0];
    items = value_to_list(l, args->at[0], args->at_span);
    return fixed ? v_tuple(l, items->at, items->len)
                 : v_list(l, items->at, items->len);
}

static void add_pairs(Lang *l, Dict *d, Value from, Span at)
{
    List *items = value_to_list(l, from, at);
    int top = temps_top(l);

    temp_push(l, v_of_list(items));
    for (int i = 0; i < items->len; i++) {
        Value v = items->at[i];
        List *pair;

        if (!v_is_sequence(v) && v.kind != VAL_STR)
            lang_raise(l, "TypeError", at,
                       "cannot convert dictionary update sequence element #%d "
                       "to a sequence", i);
        pair = value_to_list(l, v, at);
        if (pair->len != 2)
            lang_raise(l, "ValueError", at,
                       "dictionary update sequence element #%d has length %d; "
                       "2 is required", i, pair->len);
        dict_set(l, d, pair->at[0], pair->at[1]);
    }
    temps_cut(l, top);
}

// What dict(...) and update(...) take.
void dict_fill(Lang *l, Dict *d, const Args *args)
{
    if (args->count > 1)
        lang_raise(l, "TypeError", args->at_span,
                   "dict expected at most 1 argument, got %d", args->count);
    if (args->count && args->at[0].kind == VAL_DICT) {
        const Dict *from = args->at[0].dict;

        for (int i = 0; i < from->len; i++)
            if (from->keys[i].kind != VAL_UNBOUND)
                dict_set(l, d, from->keys[i], from->values[i]);
    } else if (args->count) {
        add_pairs(l, d, args->at[0], args->at_span);
    }
    for (int i = 0; i < args->keyword_count; i++)
        dict_set(l, d, v_str(args->names[i]), args->values[i]);
}

static Value make_dict(Lang *l, const Args *args)
{
    Value d = v_dict(l);

    dict_fill(l, d.dict, args);
    return d;
}

static Value make_set(Lang *l, const Args *args, bool fixed)
{
    Dict *d = args->count ? set_of(l, args->at[0], args->at_span)
                          : dict_new(l);

    d->fixed = fixed;
    return v_of_dict(VAL_SET, d);
}

static Value b_frozenset(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "frozenset", args, 0, 1);
    return make_set(l, args, true);
}

static Value make_bool(Lang *l, const Args *args)
{
    args_count(l, "bool", args, 0, 1);
    return v_bool(args->count && value_truth(l, args->at[0], args->at_span));
}

static Value make_type(Lang *l, const Args *args)
{
    if (args->count == 3)
        lang_unsupported(l, args->at_span, "type() with three arguments");
    args_count(l, "type", args, 1, 1);
    return class_of(l, args->at[0]);
}

Value type_call(Lang *l, ValueKind k, const Args *args)
{
    switch (k) {
    case VAL_INT:
        return make_int(l, args);
    case VAL_FLOAT:
        args_count(l, "float", args, 0, 1);
        return args->count ? float_of(l, args->at[0], args->at_span)
                           : v_float(0);
    case VAL_BOOL:
        return make_bool(l, args);
    case VAL_STR:
        return make_str(l, args);
    case VAL_BYTES:
        return make_bytes(l, args);
    case VAL_LIST:
        args_count(l, "list", args, 0, 1);
        return make_sequence(l, args, false);
    case VAL_TUPLE:
        args_count(l, "tuple", args, 0, 1);
        return make_sequence(l, args, true);
    case VAL_DICT:
        return make_dict(l, args);
    case VAL_SET:
        args_count(l, "set", args, 0, 1);
        return make_set(l, args, false);
    case VAL_RANGE:
        return range_make(l, args);
    case VAL_SLICE:
        return slice_make(l, args);
    case VAL_CLASS:
        return make_type(l, args);
    case VAL_NONE:
        return V_NONE;
    default:
        lang_raise(l, "TypeError", args->at_span,
                   "cannot create '%s' instances", kind_name(k));
    }
}

void builtins_add_types(Lang *l, Module *m)
{
    static const struct {
        const char *name;
        ValueKind kind;
    } table[] = {
        {"int", VAL_INT}, {"float", VAL_FLOAT}, {"bool", VAL_BOOL},
        {"str", VAL_STR}, {"bytes", VAL_BYTES}, {"list", VAL_LIST},
        {"tuple", VAL_TUPLE}, {"dict", VAL_DICT}, {"set", VAL_SET},
        {"range", VAL_RANGE}, {"slice", VAL_SLICE}, {"type", VAL_CLASS},
    };

    for (size_t i = 0; i < countof(table); i++)
        module_set(l, m, table[i].name, v_type(table[i].kind));
    module_set(l, m, "frozenset", v_builtin(l, "frozenset", b_frozenset, NULL));
}
