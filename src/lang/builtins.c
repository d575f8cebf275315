// builtins.c - the built-in functions.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/eval_int.h"

// ---- inspecting ------------------------------------------------------------

static Value b_len(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "len", args, 1, 1);
    return v_int(value_len(l, args->at[0], args->at_span));
}

static Value b_repr(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "repr", args, 1, 1);
    value_repr(l, text_begin(l), args->at[0]);
    return text_end(l);
}

static Value b_format(Lang *l, void *ctx, const Args *args)
{
    Text spec = TEXT("");

    (void)ctx;
    args_count(l, "format", args, 1, 2);
    if (args->count == 2) {
        if (args->at[1].kind != VAL_STR)
            lang_raise(l, "TypeError", args->at_span,
                       "format() argument 2 must be str, not %s",
                       value_type_name(args->at[1]));
        spec = args->at[1].s;
    }
    format_value(l, text_begin(l), args->at[0], spec, args->at_span);
    return text_end(l);
}

static Value b_callable(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "callable", args, 1, 1);
    return v_bool(value_callable(args->at[0]));
}

static Value b_isinstance(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "isinstance", args, 2, 2);
    return v_bool(is_instance(l, args->at[0], args->at[1], args->at_span));
}

static Value b_issubclass(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "issubclass", args, 2, 2);
    return v_bool(is_subclass(l, args->at[0], args->at[1], args->at_span));
}

// Objects are told apart by where they are; equal plain values are the same.
static Value b_id(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "id", args, 1, 1);
    return args->at[0].kind >= VAL_TUPLE
               ? v_int((int64_t)(uintptr_t)args->at[0].list)
               : v_int((int64_t)(value_hash(l, args->at[0], args->at_span) >>
                                 1));
}

static Value b_hash(Lang *l, void *ctx, const Args *args)
{
    Value own;
    int64_t i;

    (void)ctx;
    args_count(l, "hash", args, 1, 1);
    if (call_dunder(l, args->at[0], "__hash__", NULL, 0, &own, args->at_span))
        return own;
    if (as_int(args->at[0], &i))
        return v_int(i == -1 ? -2 : i);
    return v_int((int64_t)(value_hash(l, args->at[0], args->at_span) >> 1));
}

// ---- attributes ------------------------------------------------------------

// A dtype stands for its name: getattr(torch, T.float16).
static Text attribute_name(Lang *l, const Args *args)
{
    if (args->count > 1 && args->at[1].kind == VAL_DTYPE)
        return text_of(dtype_info(args->at[1].dtype)->name);
    if (args->at[1].kind != VAL_STR)
        lang_raise(l, "TypeError", args->at_span,
                   "attribute name must be string, not '%s'",
                   value_type_name(args->at[1]));
    return args->at[1].s;
}

typedef struct {
    Value v, out;
    Text name;
    Span at;
    bool found;
} Look;

static void look(Lang *l, void *ctx)
{
    Look *k = ctx;

    k->found = lang_getattr(l, k->v, k->name, &k->out, k->at);
}

// A property or __getattr__ that raises AttributeError has no such attribute.
static bool has_attribute(Lang *l, const Args *args, Value *out)
{
    Look k = {.v = args->at[0], .name = attribute_name(l, args),
              .at = args->at_span};
    Value e;

    if (!protect(l, look, &k, &e)) {
        if (exception_uncatchable(e) || !exception_is(l, e, EXC_ATTRIBUTE))
            exception_throw(l, e);
        return false;
    }
    *out = k.out;       // what is unknown of a module is not there
    return k.found && !(k.out.kind == VAL_MODULE && k.out.module->opaque);
}

static Value b_getattr(Lang *l, void *ctx, const Args *args)
{
    Value out;

    (void)ctx;
    args_count(l, "getattr", args, 2, 3);
    if (args->count == 2)
        return getattr_or_raise(l, args->at[0], attribute_name(l, args),
                                args->at_span, args->at_span);
    return has_attribute(l, args, &out) ? out : args->at[2];
}

static Value b_hasattr(Lang *l, void *ctx, const Args *args)
{
    Value out;

    (void)ctx;
    args_count(l, "hasattr", args, 2, 2);
    return v_bool(has_attribute(l, args, &out));
}

static Value b_setattr(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "setattr", args, 3, 3);
    setattr(l, args->at[0], attribute_name(l, args), args->at[2],
            args->at_span);
    return V_NONE;
}

static Value b_delattr(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "delattr", args, 2, 2);
    if (!delattr(l, args->at[0], attribute_name(l, args)))
        lang_raise(l, "AttributeError", args->at_span,
                   "'%s' object has no attribute '%.*s'",
                   value_type_name(args->at[0]), TEXT_ARG(args->at[1].s));
    return V_NONE;
}

static Value b_vars(Lang *l, void *ctx, const Args *args)
{
    Value out;

    (void)ctx;
    args_count(l, "vars", args, 1, 1);
    if (!lang_getattr(l, args->at[0], TEXT("__dict__"), &out, args->at_span))
        lang_raise(l, "TypeError", args->at_span,
                   "vars() argument must have __dict__ attribute");
    return out;
}

static Value names_dict(Lang *l, const Map *m)
{
    Value d = v_dict(l);

    for (int i = 0; i < m->len; i++) {
        Value v = *(const Value *)m->at[i].value;

        if (v.kind != VAL_UNBOUND)
            dict_set(l, d.dict, v_str(m->at[i].key), v);
    }
    return d;
}

static Value b_globals(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "globals", args, 0, 0);
    return names_dict(l, &l->frame->module->members);
}

static Value b_locals(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "locals", args, 0, 0);
    return names_dict(l, frame_map(l->frame));
}

// ---- numbers ---------------------------------------------------------------

static Value b_abs(Lang *l, void *ctx, const Args *args)
{
    Value v, out;
    int64_t i;

    (void)ctx;
    args_count(l, "abs", args, 1, 1);
    v = args->at[0];
    if (v.kind == VAL_FLOAT)
        return v_float(fabs(v.f));
    if (as_int(v, &i))
        return i < 0 ? unary_op(l, AST_OP_NEG, v_int(i), args->at_span)
                     : v_int(i);
    if (call_dunder(l, v, "__abs__", NULL, 0, &out, args->at_span))
        return out;
    if (v.kind == VAL_FOREIGN || v_is_device(v)) {
        Args none = {.at_span = args->at_span};

        return call_method(l, v, TEXT("abs"), &none, args->at_span);
    }
    lang_raise(l, "TypeError", args->at_span, "bad operand type for abs(): "
               "'%s'", value_type_name(v));
}

static Value b_divmod(Lang *l, void *ctx, const Args *args)
{
    Value pair[2];
    double x, y;

    (void)ctx;
    args_count(l, "divmod", args, 2, 2);
    if ((args->at[0].kind == VAL_FLOAT || args->at[1].kind == VAL_FLOAT) &&
        as_number(args->at[0], &x) && as_number(args->at[1], &y) && y == 0)
        lang_raise(l, "ZeroDivisionError", args->at_span, "float divmod()");
    pair[0] = binary_op(l, AST_OP_FLOORDIV, args->at[0], args->at[1],
                        args->at_span);
    pair[1] = binary_op(l, AST_OP_MOD, args->at[0], args->at[1],
                        args->at_span);
    return v_tuple(l, pair, 2);
}

static Value b_pow(Lang *l, void *ctx, const Args *args)
{
    int64_t n[3];

    (void)ctx;
    args_count(l, "pow", args, 2, 3);
    if (args->count == 2)
        return binary_op(l, AST_OP_POW, args->at[0], args->at[1],
                         args->at_span);
    for (int i = 0; i < 3; i++)
        n[i] = need_int(l, args->at[i], args->at_span);
    return int_power_mod(l, n[0], n[1], n[2], args->at_span);
}

static Value b_round(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"number", "ndigits="};
    Value in[2], out;
    Span at = args->at_span;
    int64_t i, digits = 0;
    bool whole;

    (void)ctx;
    args_bind(l, "round", args, names, 2, in);
    whole = in[1].kind == VAL_UNBOUND || in[1].kind == VAL_NONE;
    if (!whole)
        digits = need_int(l, in[1], at);
    if (as_int(in[0], &i))
        return v_int(int_round(l, i, digits, at));
    if (in[0].kind == VAL_FLOAT && whole)
        return v_int(float_to_int(l, rint(in[0].f), at));
    if (in[0].kind == VAL_FLOAT)
        return v_float(float_round(in[0].f, digits > 400    ? 400
                                            : digits < -400 ? -400
                                                            : (int)digits));
    if (call_dunder(l, in[0], "__round__", &in[1], !whole, &out, at))
        return out;
    lang_raise(l, "TypeError", at, "type %s doesn't define __round__ method",
               value_type_name(in[0]));
}

static Value in_base(Lang *l, const char *function, const Args *args,
                     int base, const char *prefix)
{
    TextBuf b = {0};
    int64_t i;

    args_count(l, function, args, 1, 1);
    i = need_int(l, args->at[0], args->at_span);
    buf_printf(&b, "%s%s", i < 0 ? "-" : "", prefix);
    int_digits(&b, i < 0 ? 0 - (uint64_t)i : (uint64_t)i, base, false);
    return v_buf(l, &b);
}

static Value b_hex(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return in_base(l, "hex", args, 16, "0x");
}

static Value b_oct(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return in_base(l, "oct", args, 8, "0o");
}

static Value b_bin(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return in_base(l, "bin", args, 2, "0b");
}

static Value b_chr(Lang *l, void *ctx, const Args *args)
{
    TextBuf b = {0};
    int64_t i;

    (void)ctx;
    args_count(l, "chr", args, 1, 1);
    i = need_int(l, args->at[0], args->at_span);
    if (i < 0 || i > 0x10ffff)
        lang_raise(l, "ValueError", args->at_span,
                   "chr() arg not in range(0x110000)");
    str_append_point(&b, (int32_t)i);
    return v_buf(l, &b);
}

static Value b_ord(Lang *l, void *ctx, const Args *args)
{
    Value v;
    int n;

    (void)ctx;
    args_count(l, "ord", args, 1, 1);
    v = args->at[0];
    if (v.kind != VAL_STR)
        lang_raise(l, "TypeError", args->at_span,
                   "ord() expected string of length 1, but %s found",
                   value_type_name(v));
    if (str_len(v.s) != 1)
        lang_raise(l, "TypeError", args->at_span,
                   "ord() expected a character, but string of length %lld "
                   "found", (long long)str_len(v.s));
    return v_int(str_point(v.s, 0, &n));
}

// ---- output ----------------------------------------------------------------

static Text text_or(Lang *l, Value v, const char *fallback, const char *what,
                    Span at)
{
    if (v.kind == VAL_UNBOUND || v.kind == VAL_NONE)
        return text_of(fallback);
    if (v.kind != VAL_STR)
        lang_raise(l, "TypeError", at, "%s must be None or a string, not %s",
                   what, value_type_name(v));
    return v.s;
}

// `file` is sys.stdout, sys.stderr or anything with a write method.
static void write_out(Lang *l, Value file, Value text, Span at)
{
    Args args = {.at = &text, .count = 1, .at_span = at};

    if (file.kind == VAL_UNBOUND || file.kind == VAL_NONE)
        fwrite(text.s.at, 1, text.s.len, l->options.out);
    else
        call_method(l, file, TEXT("write"), &args, at);
}

static Value b_print(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"*", "sep=", "end=", "file=",
                                        "flush="};
    Args keywords = *args;
    Value in[4], text;
    TextBuf *out;
    Text sep, end;

    (void)ctx;
    keywords.count = 0;
    args_bind(l, "print", &keywords, names, 5, in);
    sep = text_or(l, in[0], " ", "sep", args->at_span);
    end = text_or(l, in[1], "\n", "end", args->at_span);
    out = text_begin(l);
    for (int i = 0; i < args->count; i++) {
        if (i)
            buf_text(out, sep);
        value_str(l, out, args->at[i]);
    }
    buf_text(out, end);
    if (in[2].kind == VAL_UNBOUND || in[2].kind == VAL_NONE) {
        buf_write(out, l->options.out);
        l->more->texts.depth--;
        return V_NONE;
    }
    text = text_end(l);
    write_out(l, in[2], text, args->at_span);
    return V_NONE;
}

static Value refuse(Lang *l, void *ctx, const Args *args)
{
    lang_unsupported(l, args->at_span, "'%s' (no %s while a program is staged)",
                     (const char *)ctx,
                     strcmp(ctx, "input") == 0 ? "input is read"
                     : strcmp(ctx, "open") == 0 ? "files are opened"
                                                : "code is made");
}

// ---- super() ---------------------------------------------------------------

// The class whose body the running function was written in.
static Class *defining_class(const Frame *f)
{
    for (const Frame *g = f->closure; g; g = g->closure)
        if (g->scope->kind == AST_CLASS)
            return g->made;
    return NULL;
}

static Value b_super(Lang *l, void *ctx, const Args *args)
{
    Value out = {.kind = VAL_SUPER};
    Frame *f = frame_function(l->frame);
    const Ast *params = f->function ? f->function->def->b : NULL;
    SuperValue *s = new (l->options.arena, SuperValue);

    (void)ctx;
    args_count(l, "super", args, 0, 2);
    out.super = s;
    if (args->count == 2) {
        s->after = args->at[0].kind == VAL_CLASS ? args->at[0].cls : NULL;
        s->self = args->at[1];
    } else {
        s->after = defining_class(f);
        if (!params || !params->x.len ||
            !map_value(&f->names, params->x.at[0]->text, &s->self))
            s->self = V_NONE;
    }
    if (!s->after ||
        (s->self.kind != VAL_INSTANCE && s->self.kind != VAL_CLASS))
        lang_raise(l, "RuntimeError", args->at_span, "super(): no arguments");
    return out;
}

// ---- descriptors -----------------------------------------------------------

Value v_descriptor(Lang *l, int kind, Value get, Value set)
{
    Descriptor *d = new (l->options.arena, Descriptor);

    d->kind = kind;
    d->get = get;
    d->set = set;
    return (Value){.kind = VAL_DESCRIPTOR, .descriptor = d};
}

static Value b_property(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"fget=", "fset=", "fdel=", "doc="};
    Value in[4];

    (void)ctx;
    args_bind(l, "property", args, names, 4, in);
    return v_descriptor(l, DESC_PROPERTY, in[0], in[1]);
}

static Value b_static(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "staticmethod", args, 1, 1);
    return v_descriptor(l, DESC_STATIC, args->at[0],
                        (Value){.kind = VAL_UNBOUND});
}

static Value b_class(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "classmethod", args, 1, 1);
    return v_descriptor(l, DESC_CLASS, args->at[0],
                        (Value){.kind = VAL_UNBOUND});
}

void builtins_init(Lang *l)
{
    static const struct {
        const char *name;
        Value (*call)(Lang *, void *, const Args *);
    } table[] = {
        {"len", b_len}, {"repr", b_repr}, {"ascii", b_repr},
        {"format", b_format}, {"callable", b_callable},
        {"isinstance", b_isinstance}, {"issubclass", b_issubclass},
        {"id", b_id}, {"hash", b_hash}, {"getattr", b_getattr},
        {"hasattr", b_hasattr}, {"setattr", b_setattr},
        {"delattr", b_delattr}, {"vars", b_vars}, {"globals", b_globals},
        {"locals", b_locals}, {"abs", b_abs}, {"divmod", b_divmod},
        {"pow", b_pow}, {"round", b_round}, {"hex", b_hex}, {"oct", b_oct},
        {"bin", b_bin}, {"chr", b_chr}, {"ord", b_ord}, {"print", b_print},
        {"super", b_super}, {"property", b_property},
        {"staticmethod", b_static}, {"classmethod", b_class},
    };
    static const char *const refused[] = {"open", "input", "exec", "eval",
                                          "compile", "__import__"};

    for (size_t i = 0; i < countof(table); i++)
        module_set(l, l->builtins, table[i].name,
                   v_builtin(l, table[i].name, table[i].call, NULL));
    for (size_t i = 0; i < countof(refused); i++)
        module_set(l, l->builtins, refused[i],
                   v_builtin(l, refused[i], refuse, (void *)refused[i]));
    module_set(l, l->builtins, "NotImplemented",
               v_typing(l, TEXT("NotImplemented")));
    module_set(l, l->builtins, "Ellipsis", (Value){.kind = VAL_ELLIPSIS});
    module_set(l, l->builtins, "__debug__", v_bool(true));
    module_set(l, l->builtins, "object", v_class(l->more->object));
    builtins_add_types(l, l->builtins);
    builtins_add_sequences(l, l->builtins);
}
