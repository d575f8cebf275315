// value.c - making, reading and comparing stage values.
#include <math.h>

#include "lang/eval_int.h"

// ---- names of types --------------------------------------------------------

const char *kind_name(ValueKind k)
{
    static const char *const names[VAL_KIND_COUNT] = {
        [VAL_UNBOUND] = "unbound", [VAL_NONE] = "NoneType",
        [VAL_BOOL] = "bool", [VAL_INT] = "int", [VAL_FLOAT] = "float",
        [VAL_STR] = "str", [VAL_BYTES] = "bytes",
        [VAL_ELLIPSIS] = "ellipsis", [VAL_TUPLE] = "tuple",
        [VAL_LIST] = "list", [VAL_DICT] = "dict", [VAL_SET] = "set",
        [VAL_RANGE] = "range", [VAL_SLICE] = "slice",
        [VAL_ITER] = "iterator", [VAL_FUNCTION] = "function",
        [VAL_BUILTIN] = "builtin_function_or_method",
        [VAL_BOUND] = "method", [VAL_CLASS] = "type",
        [VAL_INSTANCE] = "object", [VAL_MODULE] = "module",
        [VAL_TYPE] = "type", [VAL_DTYPE] = "dtype",
        [VAL_VECTYPE] = "dtype",
        [VAL_PRIM] = "TileLang primitive", [VAL_POLICY] = "GemmWarpPolicy",
        [VAL_EXPR] = "device expression", [VAL_BUFFER] = "device buffer",
        [VAL_REGION] = "device region", [VAL_INDEXMAP] = "layout",
        [VAL_TENSORSPEC] = "T.Tensor annotation",
        [VAL_LOOPFRAME] = "T loop", [VAL_KERNELFRAME] = "T.Kernel",
        [VAL_KERNEL] = "prim_func", [VAL_MACRO] = "macro",
        [VAL_FOREIGN] = "object", [VAL_DESCRIPTOR] = "property",
        [VAL_SUPER] = "super", [VAL_TYPING] = "typing annotation",
    };

    return k < VAL_KIND_COUNT && names[k] ? names[k] : "object";
}

static const char *descriptor_name(const Descriptor *d)
{
    return d->kind == DESC_PROPERTY ? "property"
           : d->kind == DESC_STATIC ? "staticmethod" : "classmethod";
}

const char *value_type_name(Value v)
{
    switch (v.kind) {
    case VAL_FOREIGN:
        return v.foreign->type->name;
    case VAL_INSTANCE:
        return v.instance->cls->name.at;        // NUL-terminated copies
    case VAL_TUPLE:
        return v.list->cls ? v.list->cls->name.at : "tuple";
    case VAL_DICT:
        return v.dict->kind ? v.dict->kind : "dict";
    case VAL_SET:
        return v.dict->fixed ? "frozenset" : "set";
    case VAL_ITER:
        return v.iter->name;
    case VAL_BOUND:
        return v.bound->callee.kind == VAL_BUILTIN
                   ? kind_name(VAL_BUILTIN) : "method";
    case VAL_DESCRIPTOR:
        return descriptor_name(v.descriptor);
    case VAL_CLASS:
        return v.cls->form == CLASS_ENUM ? "EnumType" : "type";
    default:
        return kind_name(v.kind);
    }
}

// ---- making ----------------------------------------------------------------

Value v_of_list(List *list)
{
    return (Value){.kind = list->fixed ? VAL_TUPLE : VAL_LIST, .list = list};
}

Value v_of_dict(ValueKind kind, Dict *d)
{
    return (Value){.kind = kind, .dict = d};
}

Value v_type(ValueKind kind)
{
    return (Value){.kind = VAL_TYPE, .type = kind};
}

Value v_class(Class *c)
{
    return (Value){.kind = VAL_CLASS, .cls = c};
}

Value v_instance(Instance *i)
{
    return (Value){.kind = VAL_INSTANCE, .instance = i};
}

Value v_module(Module *m)
{
    return (Value){.kind = VAL_MODULE, .module = m};
}

Value v_cstr(const char *literal)
{
    return v_str(text_of(literal));
}

Value v_typing(Lang *l, Text name)
{
    TypingValue *t = new (l->options.arena, TypingValue);

    t->name = name;
    return (Value){.kind = VAL_TYPING, .typing = t};
}

Value v_buf(Lang *l, TextBuf *b)
{
    Text t = text_copy(l->options.arena, buf_view(b));

    buf_release(b);
    return v_str(t);
}

TextBuf *text_begin(Lang *l)
{
    LangMore *m = l->more;
    TextBuf *b;

    if (m->texts.depth == m->texts.len)
        vec_push(l->options.arena, &m->texts, xcalloc(1, sizeof *b));
    b = m->texts.at[m->texts.depth++];
    buf_clear(b);
    return b;
}

Value text_end(Lang *l)
{
    const TextBuf *b = l->more->texts.at[--l->more->texts.depth];

    return v_str(text_copy(l->options.arena, buf_view(b)));
}

Value v_text(Lang *l, const char *format, ...)
{
    TextBuf b = {0};
    va_list args;

    va_start(args, format);
    buf_vprintf(&b, format, args);
    va_end(args);
    return v_buf(l, &b);
}

Value v_builtin(Lang *l, const char *name,
                Value (*call)(Lang *, void *, const Args *), void *ctx)
{
    BuiltinFn *fn = new (l->options.arena, BuiltinFn);

    fn->name = name;
    fn->call = call;
    fn->ctx = ctx;
    return (Value){.kind = VAL_BUILTIN, .builtin = fn};
}

Value v_bound(Lang *l, Value self, Value callee)
{
    struct BoundMethod *m = new (l->options.arena, BoundMethod);

    value_bind(self);
    m->self = self;
    m->callee = callee;
    return (Value){.kind = VAL_BOUND, .bound = m};
}

Module *lang_module(Lang *l, const char *name)
{
    Module *m = new (l->options.arena, Module);

    m->name = text_copy(l->options.arena, text_of(name));
    return m;
}

void module_set(Lang *l, Module *m, const char *name, Value v)
{
    map_bind(l, &m->members, text_of(name), v);
}

bool lang_module_get(Module *m, Text name, Value *out)
{
    return map_value(&m->members, name, out);
}

// ---- reading ---------------------------------------------------------------

bool as_int(Value v, int64_t *out)
{
    if (v.kind == VAL_INT)
        return *out = v.i, true;
    if (v.kind == VAL_BOOL)
        return *out = v.b, true;
    return false;
}

bool as_number(Value v, double *out)
{
    int64_t i;

    if (v.kind == VAL_FLOAT)
        return *out = v.f, true;
    if (!as_int(v, &i))
        return false;
    *out = (double)i;
    return true;
}

Value mixin_value(Value v)
{
    if (v.kind == VAL_INSTANCE && v.instance->cls->mixin)
        map_value(&v.instance->attributes, TEXT("value"), &v);
    return v;
}

static bool number_method(Lang *l, Value v, const char *method, Value *out,
                          Span at)
{
    return v.kind == VAL_INSTANCE &&
           call_dunder(l, v, method, NULL, 0, out, at);
}

bool as_index(Lang *l, Value v, int64_t *out, Span at)
{
    Args none = {.at_span = at};
    Value made;

    if (v.kind == VAL_FOREIGN && v.foreign->type->method &&
        v.foreign->type->method(l, v.foreign, TEXT("__index__"), &none, &made))
        return as_int(made, out);
    return as_int(v, out) || as_int(mixin_value(v), out) ||
           (number_method(l, v, "__index__", &made, at) &&
            as_int(made, out));
}

int64_t value_to_int(Lang *l, Value v, const char *what, Span at)
{
    int64_t i;

    if (as_index(l, v, &i, at))
        return i;
    if (v_is_device(v))
        lang_raise(l, "TypeError", at,
                   "%s must be an int known while staging, not a device "
                   "value", what);
    lang_raise(l, "TypeError", at, "%s must be an int, not %s", what,
               value_type_name(v));
}

// The same in Python's words, for what Python itself takes.
int64_t need_int(Lang *l, Value v, Span at)
{
    int64_t i;

    if (as_index(l, v, &i, at))
        return i;
    if (v_is_device(v))
        return value_to_int(l, v, "this", at);
    lang_raise(l, "TypeError", at,
               "'%s' object cannot be interpreted as an integer",
               value_type_name(v));
}

double value_to_float(Lang *l, Value v, const char *what, Span at)
{
    double f;
    Value out;

    if (as_number(mixin_value(v), &f))
        return f;
    if (number_method(l, v, "__float__", &out, at) && as_number(out, &f))
        return f;
    lang_raise(l, "TypeError", at, "%s must be a number, not %s", what,
               value_type_name(v));
}

_Noreturn static void no_dtype(Lang *l, Text name, Span at)
{
    NearWord near = {.name = name};

    for (int t = 0; t < DT_COUNT; t++)
        near_try(&near, text_of(dtype_info((DType)t)->name));
    if (near.word.len)
        lang_raise(l, "ValueError", at, "there is no dtype '%.*s'; did you "
                   "mean '%.*s'?", TEXT_ARG(name), TEXT_ARG(near.word));
    lang_raise(l, "ValueError", at, "there is no dtype '%.*s'", TEXT_ARG(name));
}

DType value_to_dtype(Lang *l, Value v, Span at)
{
    DType t;

    if (v.kind == VAL_DTYPE)
        return v.dtype;
    if (v.kind == VAL_TYPE && v.type == VAL_BOOL)
        return DT_BOOL;
    if (v.kind == VAL_TYPE && v.type == VAL_INT)
        return DT_I32;
    if (v.kind == VAL_TYPE && v.type == VAL_FLOAT)
        return DT_F32;
    if (v.kind == VAL_PRIM && v.prim == OP_PTR)
        return DT_I64;                  // an address
    if (v.kind == VAL_VECTYPE)
        lang_unsupported(l, at, "the vector dtype %.*s here",
                         TEXT_ARG(vectype_name(l, v)));
    if (v.kind == VAL_PRIM
        && op_info(l->options.ops, v.prim)->class == OPCLASS_DTYPE)
        lang_unsupported(l, at, "dtype '%s', which is known but not built yet,",
                         op_info(l->options.ops, v.prim)->surface);
    if (v.kind != VAL_STR)
        lang_raise(l, "TypeError", at,
                   "expected a dtype such as T.float16 or \"float16\", not %s",
                   value_type_name(v));
    if (!dtype_find(v.s, &t))
        no_dtype(l, v.s, at);
    return t;
}

static bool instance_truth(Lang *l, Value v, Span at)
{
    Value out;

    if (call_dunder(l, v, "__bool__", NULL, 0, &out, at)) {
        if (out.kind != VAL_BOOL)
            lang_raise(l, "TypeError", at,
                       "__bool__ should return bool, returned %s",
                       value_type_name(out));
        return out.b;
    }
    if (call_dunder(l, v, "__len__", NULL, 0, &out, at))
        return value_to_int(l, out, "the result of __len__", at) != 0;
    return true;
}

_Noreturn static void device_truth(Lang *l, Value v, Span at)
{
    lang_raise(l, "TypeError", at,
               "a %s has no truth value while staging: its value is known "
               "only on the device; write the condition inside a kernel, or "
               "use T.if_then_else", value_type_name(v));
}

// Of an unknown module nothing can be used.
void opaque_check(Lang *l, Value v, Span at)
{
    if (v.kind == VAL_MODULE && v.module->opaque)
        lang_unsupported(l, at, "'%.*s' (unknown to tilesim)",
                         TEXT_ARG(v.module->name));
}

static bool foreign_truth(Lang *l, Value v, Span at)
{
    const ForeignType *t = v.foreign->type;

    return t->truth ? t->truth(l, v.foreign, at)
           : t->length ? t->length(l, v.foreign, at) != 0 : true;
}

bool value_truth(Lang *l, Value v, Span at)
{
    switch (v.kind) {
    case VAL_NONE:
        return false;
    case VAL_BOOL:
        return v.b;
    case VAL_INT:
        return v.i != 0;
    case VAL_FLOAT:
        return v.f != 0;
    case VAL_STR:
    case VAL_BYTES:
        return v.s.len != 0;
    case VAL_TUPLE:
    case VAL_LIST:
        return v.list->len != 0;
    case VAL_DICT:
    case VAL_SET:
        return v.dict->live != 0;
    case VAL_RANGE:
        return range_len(v.range.r) != 0;
    case VAL_ITER:
        return !v.iter->view || view_len(v.iter) != 0;
    case VAL_INSTANCE:
        return instance_truth(l, v, at);
    case VAL_FOREIGN:
        return foreign_truth(l, v, at);
    case VAL_EXPR:
    case VAL_BUFFER:
    case VAL_REGION:
        device_truth(l, v, at);
    case VAL_MODULE:
        opaque_check(l, v, at);
        return true;
    default:
        return true;
    }
}

bool value_callable(Value v)
{
    Value out;

    switch (v.kind) {
    case VAL_FUNCTION:
    case VAL_BUILTIN:
    case VAL_BOUND:
    case VAL_CLASS:
    case VAL_TYPE:
    case VAL_DTYPE:
    case VAL_VECTYPE:
    case VAL_PRIM:
    case VAL_MACRO:
    case VAL_KERNEL:
        return true;
    case VAL_INSTANCE:
        return class_find(v.instance->cls, TEXT("__call__"), &out);
    case VAL_FOREIGN:
        return v.foreign->type->call != NULL;
    default:
        return false;
    }
}

// ---- identity and equality -------------------------------------------------

bool value_is(Value a, Value b)
{
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case VAL_UNBOUND:
    case VAL_NONE:
    case VAL_ELLIPSIS:
        return true;
    case VAL_BOOL:
        return a.b == b.b;
    case VAL_INT:
        return a.i == b.i;
    case VAL_FLOAT:
        return a.f == b.f && signbit(a.f) == signbit(b.f);
    case VAL_STR:
    case VAL_BYTES:
    case VAL_POLICY:
        return text_eq(a.s, b.s);
    case VAL_DTYPE:
        return a.dtype == b.dtype;
    case VAL_VECTYPE:
        return a.vec.dtype == b.vec.dtype && a.vec.lanes == b.vec.lanes;
    case VAL_PRIM:
        return a.prim == b.prim;
    case VAL_TYPE:
        return a.type == b.type;
    case VAL_TUPLE:
        return a.list == b.list || (a.list->len == 0 && b.list->len == 0);
    default:
        return a.list == b.list;                // any pointer of the union
    }
}

static bool lists_equal(Lang *l, const List *a, const List *b)
{
    if (a == b)
        return true;
    stack_check(l, SPAN_NONE);
    for (int i = 0; i < a->len && i < b->len; i++)
        if (!value_is(a->at[i], b->at[i]) &&
            !value_equal(l, a->at[i], b->at[i]))
            return false;
    return a->len == b->len;
}

static bool dicts_equal(Lang *l, const Dict *a, const Dict *b, bool values)
{
    Value other;

    if (a == b)
        return true;
    stack_check(l, SPAN_NONE);
    if (a->live != b->live)
        return false;
    for (int i = 0; i < a->len; i++) {
        if (a->keys[i].kind == VAL_UNBOUND)
            continue;
        if (!dict_get(l, b, a->keys[i], &other))
            return false;
        if (values && !value_is(a->values[i], other) &&
            !value_equal(l, a->values[i], other))
            return false;
    }
    return true;
}

static bool ranges_equal(const int64_t *a, const int64_t *b)
{
    int64_t n = range_len(a);

    return n == range_len(b) &&
           (n == 0 || (a[0] == b[0] && (n == 1 || a[2] == b[2])));
}

// A dtype equals its name, as in TileLang.
static bool dtype_equals(Value a, Value b)
{
    DType t;

    if (b.kind == VAL_STR)
        return dtype_find(b.s, &t) && t == a.dtype;
    return b.kind == VAL_DTYPE && a.dtype == b.dtype;
}

static bool bounds_equal(Value a, Value b)
{
    return value_is(a.bound->self, b.bound->self) &&
           value_is(a.bound->callee, b.bound->callee);
}

static bool same_kind_equal(Lang *l, Value a, Value b)
{
    switch (a.kind) {
    case VAL_TUPLE:
    case VAL_LIST:
        return lists_equal(l, a.list, b.list);
    case VAL_DICT:
        return dicts_equal(l, a.dict, b.dict, true);
    case VAL_SET:
        return dicts_equal(l, a.dict, b.dict, false);
    case VAL_RANGE:
        return ranges_equal(a.range.r, b.range.r);
    case VAL_BOUND:
        return bounds_equal(a, b);
    case VAL_SLICE:
        return value_equal(l, *a.slice->start, *b.slice->start) &&
               value_equal(l, *a.slice->stop, *b.slice->stop) &&
               value_equal(l, *a.slice->step, *b.slice->step);
    default:
        return value_is(a, b);
    }
}

static bool overloads(Value v)
{
    return v.kind == VAL_INSTANCE || v.kind == VAL_FOREIGN;
}

bool value_equal(Lang *l, Value a, Value b)
{
    double x;

    if (a.kind == VAL_STR && b.kind == VAL_STR)
        return text_eq(a.s, b.s);
    if (as_number(a, &x) && as_number(b, &x))
        return number_compare(a, b) == 0;
    if (overloads(a) || overloads(b)) {
        Span at = l->more->at;

        return value_truth(l, compare_op(l, AST_OP_EQ, a, b, at), at);
    }
    if (a.kind == VAL_DTYPE)
        return dtype_equals(a, b);
    if (b.kind == VAL_DTYPE)
        return dtype_equals(b, a);
    return a.kind == b.kind && same_kind_equal(l, a, b);
}

// ---- suggestions -----------------------------------------------------------

Text nearest_name(const Map *map, Text name, Text best)
{
    NearWord near = {.name = name, .word = best,
                     .distance = text_distance(best, name)};

    for (int i = 0; i < map->len; i++)
        if (!text_starts(map->at[i].key, "__") || text_starts(name, "_"))
            near_try(&near, map->at[i].key);
    return near.word;
}
