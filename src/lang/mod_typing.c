// mod_typing.c - typing, types, abc, __future__: what only names things.
#include <string.h>

#include "lang/eval_int.h"

typedef Value Call(Lang *l, void *ctx, const Args *args);

static void add(Lang *l, Module *m, const char *name, Call *call)
{
    module_set(l, m, name, v_builtin(l, name, call, (void *)name));
}

// A decorator without effect.
static Value same(Lang *l, void *ctx, const Args *args)
{
    args_count(l, ctx, args, 1, 1);
    return args->at[0];
}

static bool lookup_typing(Lang *l, Module *m, Text name, Value *out)
{
    (void)m;
    if (text_starts(name, "__"))
        return false;
    *out = v_typing(l, text_copy(l->options.arena, name));
    return true;
}

static Value y_cast(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "cast", args, 2, 2);
    return args->at[1];
}

static Value y_variable(Lang *l, void *ctx, const Args *args)
{
    if (args->count < 1 || args->at[0].kind != VAL_STR)
        lang_raise(l, "TypeError", args->at_span, "%s() needs a name",
                   (const char *)ctx);
    return v_typing(l, args->at[0].s);
}

void fill_typing(Lang *l, Module *m)
{
    m->lookup = lookup_typing;
    add(l, m, "cast", y_cast);
    add(l, m, "TypeVar", y_variable);
    add(l, m, "ParamSpec", y_variable);
    add(l, m, "NewType", y_variable);
    add(l, m, "overload", same);
    add(l, m, "final", same);
    add(l, m, "override", same);
    add(l, m, "runtime_checkable", same);
    add(l, m, "no_type_check", same);
    module_set(l, m, "TYPE_CHECKING", v_bool(false));
    module_set(l, m, "NamedTuple", v_class(l->more->named_tuple));
}

void fill_abc(Lang *l, Module *m)
{
    Class *abc = class_new(l, TEXT("ABC"), NULL, 0);

    abc->module = m;
    abc->built_in = true;
    module_set(l, m, "ABC", v_class(abc));
    module_set(l, m, "ABCMeta", v_class(abc));
    add(l, m, "abstractmethod", same);
    add(l, m, "abstractproperty", same);
}

static bool lookup_future(Lang *l, Module *m, Text name, Value *out)
{
    (void)l;
    (void)m;
    (void)name;
    *out = V_NONE;
    return true;
}

void fill_future(Lang *l, Module *m)
{
    (void)l;
    m->lookup = lookup_future;
}

// ---- types -----------------------------------------------------------------

static Value n_init(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    if (args->count != 1)
        lang_raise(l, "TypeError", args->at_span,
                   "no positional arguments expected");
    for (int i = 0; i < args->keyword_count; i++)
        map_bind(l, &args->at[0].instance->attributes, args->names[i],
                 args->values[i]);
    return V_NONE;
}

static Value n_repr(Lang *l, void *ctx, const Args *args)
{
    TextBuf *out = text_begin(l);
    const Map *m = &args->at[0].instance->attributes;
    bool more = false;

    (void)ctx;
    buf_puts(out, "namespace(");
    for (int i = 0; i < m->len; i++) {
        Value v = *(const Value *)m->at[i].value;

        if (v.kind == VAL_UNBOUND)
            continue;
        buf_printf(out, "%s%.*s=", more ? ", " : "", TEXT_ARG(m->at[i].key));
        value_repr(l, out, v);
        more = true;
    }
    buf_addc(out, ')');
    return text_end(l);
}

static Value n_eq(Lang *l, void *ctx, const Args *args)
{
    Value a, b;

    (void)ctx;
    args_count(l, "__eq__", args, 2, 2);
    if (args->at[1].kind != VAL_INSTANCE ||
        args->at[1].instance->cls != args->at[0].instance->cls)
        return v_bool(false);
    lang_getattr(l, args->at[0], TEXT("__dict__"), &a, args->at_span);
    lang_getattr(l, args->at[1], TEXT("__dict__"), &b, args->at_span);
    return v_bool(value_equal(l, a, b));
}

void fill_types(Lang *l, Module *m)
{
    static const struct {
        const char *name;
        ValueKind kind;
    } table[] = {
        {"FunctionType", VAL_FUNCTION}, {"LambdaType", VAL_FUNCTION},
        {"BuiltinFunctionType", VAL_BUILTIN}, {"MethodType", VAL_BOUND},
        {"ModuleType", VAL_MODULE}, {"NoneType", VAL_NONE},
        {"GeneratorType", VAL_ITER}, {"EllipsisType", VAL_ELLIPSIS},
    };
    Class *c = class_new(l, TEXT("SimpleNamespace"), NULL, 0);

    c->module = m;
    map_bind(l, &c->attributes, TEXT("__init__"),
             v_builtin(l, "__init__", n_init, NULL));
    map_bind(l, &c->attributes, TEXT("__repr__"),
             v_builtin(l, "__repr__", n_repr, NULL));
    map_bind(l, &c->attributes, TEXT("__eq__"),
             v_builtin(l, "__eq__", n_eq, NULL));
    module_set(l, m, "SimpleNamespace", v_class(c));
    for (size_t i = 0; i < countof(table); i++)
        module_set(l, m, table[i].name, v_type(table[i].kind));
}
