// methods_num.c - methods of int and float, of `object`, and the tables.
#include <math.h>

#include "lang/eval_int.h"

// ---- numbers ---------------------------------------------------------------

static uint64_t size_of(Value self)
{
    int64_t i = 0;

    as_int(self, &i);
    return i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
}

static Value m_bit_length(Lang *l, Value self, const Args *args)
{
    uint64_t v = size_of(self);

    args_count(l, "bit_length", args, 0, 0);
    return v_int(v ? 64 - __builtin_clzll(v) : 0);
}

static Value m_bit_count(Lang *l, Value self, const Args *args)
{
    args_count(l, "bit_count", args, 0, 0);
    return v_int(__builtin_popcountll(size_of(self)));
}

static Value m_int_is_integer(Lang *l, Value self, const Args *args)
{
    (void)self;
    args_count(l, "is_integer", args, 0, 0);
    return v_bool(true);
}

static Value m_is_integer(Lang *l, Value self, const Args *args)
{
    args_count(l, "is_integer", args, 0, 0);
    return v_bool(isfinite(self.f) && self.f == floor(self.f));
}

static Value m_conjugate(Lang *l, Value self, const Args *args)
{
    args_count(l, "conjugate", args, 0, 0);
    return self;
}

static Value m_ratio(Lang *l, Value self, const Args *args)
{
    Value out[2];
    int exponent;
    double f = self.f;
    int64_t n, d = 1;

    args_count(l, "as_integer_ratio", args, 0, 0);
    if (!isfinite(f))
        lang_raise(l, "OverflowError", args->at_span,
                   "cannot convert Infinity or NaN to integer ratio");
    f = frexp(f, &exponent);
    while (f != floor(f) && exponent > -1100) {
        f *= 2;
        exponent--;
    }
    if (f != 0 && (exponent < -62 || exponent > 62))
        int_overflow(l, args->at_span);
    n = (int64_t)f;
    if (f != 0 && exponent > 0 &&
        __builtin_mul_overflow(n, INT64_C(1) << exponent, &n))
        int_overflow(l, args->at_span);
    if (f != 0 && exponent < 0)
        d = INT64_C(1) << -exponent;
    out[0] = v_int(n);
    out[1] = v_int(d);
    return v_tuple(l, out, 2);
}

static Value m_hex(Lang *l, Value self, const Args *args)
{
    int exponent;
    double f = fabs(self.f);
    uint64_t bits;

    args_count(l, "hex", args, 0, 0);
    if (!isfinite(self.f))
        return v_text(l, "%s", isnan(f) ? "nan" : self.f < 0 ? "-inf" : "inf");
    if (f == 0)
        return v_text(l, "%s0x0.0p+0", signbit(self.f) ? "-" : "");
    f = frexp(f, &exponent);
    exponent--;
    if (exponent < -1022) {                     // subnormal: 0x0.
        bits = (uint64_t)ldexp(f, exponent + 1 + 1074);
        return v_text(l, "%s0x0.%013llxp-1022", signbit(self.f) ? "-" : "",
                      (unsigned long long)bits);
    }
    bits = (uint64_t)ldexp(f, 53) & ((UINT64_C(1) << 52) - 1);
    return v_text(l, "%s0x1.%013llxp%+d", signbit(self.f) ? "-" : "",
                  (unsigned long long)bits, exponent);
}

const Method int_methods[] = {
    {"bit_length", m_bit_length}, {"bit_count", m_bit_count},
    {"conjugate", m_conjugate}, {"is_integer", m_int_is_integer},
    {NULL, NULL},
};

const Method float_methods[] = {
    {"is_integer", m_is_integer}, {"as_integer_ratio", m_ratio},
    {"hex", m_hex}, {"conjugate", m_conjugate}, {NULL, NULL},
};

// ---- object ----------------------------------------------------------------

// For an exception this is BaseException.__init__: the arguments are kept.
static Value o_init(Lang *l, void *ctx, const Args *args)
{
    Value self;

    (void)ctx;
    if (args->count < 1 || args->at[0].kind != VAL_INSTANCE)
        lang_raise(l, "TypeError", args->at_span,
                   "descriptor '__init__' needs an object");
    self = args->at[0];
    if (self.instance->cls->exception)
        map_bind(l, &self.instance->attributes, TEXT("args"),
                 v_tuple(l, args->at + 1, args->count - 1));
    else if (args->count > 1 && !self.instance->cls->data)
        lang_raise(l, "TypeError", args->at_span,
                   "object.__init__() takes exactly one argument (the "
                   "instance to initialize)");
    return V_NONE;
}

static Value o_new(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    if (args->count < 1 || args->at[0].kind != VAL_CLASS)
        lang_raise(l, "TypeError", args->at_span,
                   "object.__new__(X): X is not a type object");
    if (args->at[0].cls->exception)
        return exception_new(l, args->at[0].cls, args->at + 1,
                             args->count - 1);
    return v_instance(instance_new(l, args->at[0].cls));
}

static Value o_setattr(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "__setattr__", args, 3, 3);
    if (args->at[0].kind != VAL_INSTANCE || args->at[1].kind != VAL_STR)
        lang_raise(l, "TypeError", args->at_span,
                   "__setattr__ needs an object and a name");
    map_bind(l, &args->at[0].instance->attributes, args->at[1].s,
             args->at[2]);
    return V_NONE;
}

static Value o_getattribute(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "__getattribute__", args, 2, 2);
    if (args->at[1].kind != VAL_STR)
        lang_raise(l, "TypeError", args->at_span,
                   "attribute name must be string");
    return getattr_or_raise(l, args->at[0], args->at[1].s, args->at_span,
                            args->at_span);
}

static Value o_repr(Lang *l, void *ctx, const Args *args)
{
    const Instance *i;

    (void)ctx;
    args_count(l, "__repr__", args, 1, 1);
    if (args->at[0].kind != VAL_INSTANCE) {
        value_repr(l, text_begin(l), args->at[0]);
        return text_end(l);
    }
    i = args->at[0].instance;
    return v_text(l, "<%.*s.%.*s object>", TEXT_ARG(i->cls->module->name),
                  TEXT_ARG(i->cls->name));
}

static Value o_str(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "__str__", args, 1, 1);
    if (args->at[0].kind == VAL_INSTANCE &&
        args->at[0].instance->cls->exception) {
        const List *in = exception_args(l, args->at[0]).list;

        if (in->len != 1)
            return v_str(TEXT(""));
        value_str(l, text_begin(l), in->at[0]);
        return text_end(l);
    }
    value_repr(l, text_begin(l), args->at[0]);
    return text_end(l);
}

static Value o_eq(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "__eq__", args, 2, 2);
    return v_bool(value_is(args->at[0], args->at[1]));
}

static Value o_hash(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "__hash__", args, 1, 1);
    return v_int((int64_t)((uintptr_t)args->at[0].list >> 4));
}

static Value o_init_subclass(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    if (args->keyword_count)
        lang_raise(l, "TypeError", args->at_span,
                   "__init_subclass__() takes no keyword arguments");
    return V_NONE;
}

void class_init_object(Lang *l)
{
    static const struct {
        const char *name;
        Value (*call)(Lang *, void *, const Args *);
    } table[] = {
        {"__init__", o_init}, {"__setattr__", o_setattr},
        {"__getattribute__", o_getattribute}, {"__repr__", o_repr},
        {"__str__", o_str}, {"__eq__", o_eq}, {"__hash__", o_hash},
        {"__init_subclass__", o_init_subclass},
    };
    Class *c = class_new(l, TEXT("object"), NULL, 0);
    Descriptor *d = new (l->options.arena, Descriptor);

    c->mro_len = 0;                             // no class lists it
    c->built_in = true;
    c->module = l->builtins;
    l->more->object = c;
    for (size_t i = 0; i < countof(table); i++)
        map_bind(l, &c->attributes, text_of(table[i].name),
                 v_builtin(l, table[i].name, table[i].call, NULL));
    d->kind = DESC_STATIC;
    d->get = v_builtin(l, "__new__", o_new, NULL);
    map_bind(l, &c->attributes, TEXT("__new__"),
             (Value){.kind = VAL_DESCRIPTOR, .descriptor = d});
}

static void add_methods(Lang *l, ValueKind k, const Method *m)
{
    for (; m->name; m++)
        map_set(l->options.arena, &l->more->methods[k], text_of(m->name),
                (void *)m);
}

void methods_init(Lang *l)
{
    add_methods(l, VAL_STR, str_methods);
    add_methods(l, VAL_STR, str_part_methods);
    add_methods(l, VAL_BYTES, bytes_methods);
    add_methods(l, VAL_LIST, list_methods);
    add_methods(l, VAL_TUPLE, tuple_methods);
    add_methods(l, VAL_DICT, dict_methods);
    add_methods(l, VAL_SET, set_methods);
    add_methods(l, VAL_INT, int_methods);
    add_methods(l, VAL_FLOAT, float_methods);
}
