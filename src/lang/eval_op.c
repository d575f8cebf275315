// eval_op.c - operators on any operands.
//
// Device values go to the tracer, host objects to their table, instances to
// their dunder methods; the rest is Python's own arithmetic.
#include <string.h>

#include "lang/eval_int.h"

typedef struct {
    const char *symbol, *method, *reflected, *in_place;
} OpNames;

static const OpNames names[] = {
    [AST_OP_ADD] = {"+", "__add__", "__radd__", "__iadd__"},
    [AST_OP_SUB] = {"-", "__sub__", "__rsub__", "__isub__"},
    [AST_OP_MUL] = {"*", "__mul__", "__rmul__", "__imul__"},
    [AST_OP_DIV] = {"/", "__truediv__", "__rtruediv__", "__itruediv__"},
    [AST_OP_FLOORDIV] = {"//", "__floordiv__", "__rfloordiv__",
                         "__ifloordiv__"},
    [AST_OP_MOD] = {"%", "__mod__", "__rmod__", "__imod__"},
    [AST_OP_POW] = {"** or pow()", "__pow__", "__rpow__", "__ipow__"},
    [AST_OP_MATMUL] = {"@", "__matmul__", "__rmatmul__", "__imatmul__"},
    [AST_OP_SHL] = {"<<", "__lshift__", "__rlshift__", "__ilshift__"},
    [AST_OP_SHR] = {">>", "__rshift__", "__rrshift__", "__irshift__"},
    [AST_OP_AND] = {"&", "__and__", "__rand__", "__iand__"},
    [AST_OP_OR] = {"|", "__or__", "__ror__", "__ior__"},
    [AST_OP_XOR] = {"^", "__xor__", "__rxor__", "__ixor__"},
    [AST_OP_NEG] = {"-", "__neg__", NULL, NULL},
    [AST_OP_POS] = {"+", "__pos__", NULL, NULL},
    [AST_OP_INVERT] = {"~", "__invert__", NULL, NULL},
    [AST_OP_EQ] = {"==", "__eq__", "__eq__", NULL},
    [AST_OP_NE] = {"!=", "__ne__", "__ne__", NULL},
    [AST_OP_LT] = {"<", "__lt__", "__gt__", NULL},
    [AST_OP_LE] = {"<=", "__le__", "__ge__", NULL},
    [AST_OP_GT] = {">", "__gt__", "__lt__", NULL},
    [AST_OP_GE] = {">=", "__ge__", "__le__", NULL},
};

static bool not_implemented(Value v)
{
    return v.kind == VAL_TYPING && text_is(v.typing->name, "NotImplemented");
}

_Noreturn static void operand_error(Lang *l, AstOp op, Value a, Value b,
                                    Span at)
{
    opaque_check(l, a, at);
    opaque_check(l, b, at);
    if (op == AST_OP_ADD && (a.kind == VAL_STR || a.kind == VAL_LIST ||
                             a.kind == VAL_TUPLE))
        lang_raise(l, "TypeError", at,
                   "can only concatenate %s (not \"%s\") to %s",
                   kind_name(a.kind), value_type_name(b), kind_name(a.kind));
    lang_raise(l, "TypeError", at,
               "unsupported operand type(s) for %s: '%s' and '%s'",
               names[op].symbol, value_type_name(a), value_type_name(b));
}

static bool try_method(Lang *l, const char *name, Value self, Value other,
                       Value *out, Span at)
{
    return name && self.kind == VAL_INSTANCE &&
           call_dunder(l, self, name, &other, 1, out, at) &&
           !not_implemented(*out);
}

static bool foreign_binary(Lang *l, AstOp op, Value a, Value b, Value *out,
                           Span at)
{
    int pins = lang_pins(l);
    bool done = false;

    if (a.kind == VAL_FOREIGN && a.foreign->type->binary)
        done = a.foreign->type->binary(l, op, a, b, out, at);
    if (!done && b.kind == VAL_FOREIGN && b.foreign->type->binary &&
        (a.kind != VAL_FOREIGN || a.foreign->type != b.foreign->type))
        done = b.foreign->type->binary(l, op, a, b, out, at);
    lang_unpin(l, pins);
    return done;
}

// ---- sequences -------------------------------------------------------------

static Value list_concat(Lang *l, const List *a, const List *b)
{
    List *out = list_new(l, a->len + b->len, a->fixed);

    for (int i = 0; i < a->len; i++)
        list_append(l, out, a->at[i]);
    for (int i = 0; i < b->len; i++)
        list_append(l, out, b->at[i]);
    return v_of_list(out);
}

static Value list_repeat(Lang *l, const List *a, int64_t n, Span at)
{
    List *out = list_new(l, 0, a->fixed);
    int64_t len;

    if (n <= 0 || a->len == 0)
        return v_of_list(out);
    if (__builtin_mul_overflow((int64_t)a->len, n, &len))
        len = INT64_MAX;
    list_reserve(l, out, len, at);
    while (out->len < len) {
        memcpy(out->at + out->len, a->at, (size_t)a->len * sizeof *a->at);
        out->len += a->len;
    }
    return v_of_list(out);
}

static bool repeat(Lang *l, Value a, Value b, Value *out, Span at)
{
    int64_t n;

    if (!v_is_sequence(a) && !v_is_text(a) && a.kind != VAL_BYTES) {
        Value swap = a;

        a = b;
        b = swap;
    }
    if (!v_is_sequence(a) && !v_is_text(a) && a.kind != VAL_BYTES)
        return false;
    if (!as_int(b, &n))
        lang_raise(l, "TypeError", at,
                   "can't multiply sequence by non-int of type '%s'",
                   value_type_name(b));
    *out = v_is_sequence(a) ? list_repeat(l, a.list, n, at)
                            : str_repeat(l, a.s, n, at);
    out->kind = a.kind;
    return true;
}

static bool concat(Lang *l, Value a, Value b, Value *out, Span at)
{
    if (a.kind != b.kind)
        return false;
    if (a.kind == VAL_STR || a.kind == VAL_BYTES)
        *out = str_concat(l, a.s, b.s, at);
    else if (v_is_sequence(a))
        *out = list_concat(l, a.list, b.list);
    else
        return false;
    out->kind = a.kind;
    return true;
}

static bool is_type_like(Value v)
{
    return v.kind == VAL_TYPE || v.kind == VAL_CLASS || v.kind == VAL_NONE ||
           v.kind == VAL_TYPING || v.kind == VAL_DTYPE;
}

// int | None
static Value type_union(Lang *l, Value a, Value b)
{
    Value parts[2] = {a, b}, out = {.kind = VAL_TYPING};

    out.typing = new (l->options.arena, TypingValue);
    out.typing->name = TEXT("Union");
    out.typing->members = v_tuple(l, parts, 2).list;
    return out;
}

// The keys of a dict view count as a set.
static Value as_set(Lang *l, Value v, Span at)
{
    if (v.kind == VAL_ITER && v.iter->view)
        return v_of_dict(VAL_SET, set_of(l, v, at));
    return v;
}

static bool collection_op(Lang *l, AstOp op, Value a, Value b, Value *out,
                          Span at)
{
    a = as_set(l, a, at);
    b = as_set(l, b, at);
    if (a.kind == VAL_SET && b.kind == VAL_SET &&
        (op == AST_OP_OR || op == AST_OP_AND || op == AST_OP_SUB ||
         op == AST_OP_XOR))
        return *out = set_binary(l, op, a.dict, b.dict), true;
    if (op == AST_OP_OR && a.kind == VAL_DICT && b.kind == VAL_DICT) {
        *out = v_of_dict(VAL_DICT, dict_copy(l, a.dict));
        for (int i = 0; i < b.dict->len; i++)
            if (b.dict->keys[i].kind != VAL_UNBOUND)
                dict_set(l, out->dict, b.dict->keys[i], b.dict->values[i]);
        return true;
    }
    if (op == AST_OP_OR && is_type_like(a) && is_type_like(b))
        return *out = type_union(l, a, b), true;
    if (op == AST_OP_MUL)
        return repeat(l, a, b, out, at);
    return op == AST_OP_ADD && concat(l, a, b, out, at);
}

// dtypes stand for their names.
static Value as_text(Value v)
{
    return v.kind == VAL_DTYPE ? v_cstr(dtype_info(v.dtype)->name) : v;
}

Value binary_op(Lang *l, AstOp op, Value a, Value b, Span at)
{
    Value out = number_binary(l, op, a, b, at);

    if (out.kind != VAL_UNBOUND)
        return out;
    if (v_is_vector(l, a) || v_is_vector(l, b))
        return vector_binary(l, op, a, b, at);
    if (v_is_device(a) || v_is_device(b))
        return device_binary(l, op, a, b, at);
    if ((a.kind == VAL_FOREIGN || b.kind == VAL_FOREIGN) &&
        foreign_binary(l, op, a, b, &out, at))
        return out;
    if (try_method(l, names[op].method, a, b, &out, at) ||
        try_method(l, names[op].reflected, b, a, &out, at))
        return out;
    if (mixin_value(a).kind != a.kind || mixin_value(b).kind != b.kind)
        return binary_op(l, op, mixin_value(a), mixin_value(b), at);
    if (op == AST_OP_MOD && a.kind == VAL_STR)
        return format_percent(l, a.s, b, at);
    if (collection_op(l, op, a, b, &out, at))
        return out;
    if (op == AST_OP_ADD && a.kind != b.kind &&
        (a.kind == VAL_DTYPE || b.kind == VAL_DTYPE) &&
        concat(l, as_text(a), as_text(b), &out, at))
        return out;
    operand_error(l, op, a, b, at);
}

// a op= b where a can be changed in place.
bool inplace_op(Lang *l, AstOp op, Value a, Value b, Value *out, Span at)
{
    *out = a;
    if (a.kind == VAL_FOREIGN)
        return a.foreign->type->inplace &&
               a.foreign->type->inplace(l, op, a.foreign, b, at);
    if (a.kind == VAL_INSTANCE)
        return try_method(l, names[op].in_place, a, b, out, at);
    if (a.kind == VAL_LIST && op == AST_OP_ADD && !v_is_device(b)) {
        List *items = value_to_list(l, b, at);
        int n = items->len;                     // b may be a itself

        for (int i = 0; i < n; i++)
            list_append(l, a.list, items->at[i]);
        return true;
    }
    if (a.kind == VAL_LIST && op == AST_OP_MUL && b.kind == VAL_INT) {
        List *more = list_repeat(l, a.list, b.i, at).list;

        a.list->at = more->at;
        a.list->len = more->len;
        a.list->room = more->room;
        return true;
    }
    if ((a.kind == VAL_SET || a.kind == VAL_DICT) && !a.dict->fixed &&
        collection_op(l, op, a, b, out, at)) {
        Dict *changed = out->dict;

        changed->seen = a.dict->seen;
        changed->kind = a.dict->kind;
        changed->missing = a.dict->missing;
        *a.dict = *changed;
        *out = a;
        return true;
    }
    return false;
}

// ---- unary -----------------------------------------------------------------

static Value number_unary(Lang *l, AstOp op, Value v, Span at)
{
    int64_t i;

    if (v.kind == VAL_FLOAT && op != AST_OP_INVERT)
        return v_float(op == AST_OP_NEG ? -v.f : v.f);
    if (!as_int(v, &i))
        return (Value){.kind = VAL_UNBOUND};
    if (op == AST_OP_NEG && i == INT64_MIN)
        int_overflow(l, at);
    return v_int(op == AST_OP_NEG ? -i : op == AST_OP_POS ? i : ~i);
}

Value unary_op(Lang *l, AstOp op, Value v, Span at)
{
    Value out = number_unary(l, op, v, at);

    if (out.kind != VAL_UNBOUND)
        return out;
    if (v_is_device(v))
        return device_unary(l, op, v, at);
    if (v.kind == VAL_FOREIGN && v.foreign->type->unary) {
        int pins = lang_pins(l);

        out = v.foreign->type->unary(l, op, v.foreign, at);
        lang_unpin(l, pins);
        return out;
    }
    if (v.kind == VAL_INSTANCE &&
        call_dunder(l, v, names[op].method, NULL, 0, &out, at))
        return out;
    if (mixin_value(v).kind != v.kind)
        return unary_op(l, op, mixin_value(v), at);
    opaque_check(l, v, at);
    lang_raise(l, "TypeError", at, "bad operand type for unary %s: '%s'",
               names[op].symbol, value_type_name(v));
}

// ---- comparison ------------------------------------------------------------

_Noreturn static void order_error(Lang *l, AstOp op, Value a, Value b, Span at)
{
    opaque_check(l, a, at);
    opaque_check(l, b, at);
    lang_raise(l, "TypeError", at,
               "'%s' not supported between instances of '%s' and '%s'",
               names[op].symbol, value_type_name(a), value_type_name(b));
}

static bool holds(AstOp op, int order)
{
    return order != 2 && (op == AST_OP_LT   ? order < 0
                          : op == AST_OP_LE ? order <= 0
                          : op == AST_OP_GT ? order > 0 : order >= 0);
}

static Value order_lists(Lang *l, AstOp op, const List *a, const List *b,
                         Span at)
{
    int i = 0;

    stack_check(l, at);
    while (i < a->len && i < b->len &&
           (value_is(a->at[i], b->at[i]) ||
            value_equal(l, a->at[i], b->at[i])))
        i++;
    if (i < a->len && i < b->len)
        return compare_op(l, op, a->at[i], b->at[i], at);
    return v_bool(holds(op, a->len < b->len ? -1 : a->len > b->len));
}

static bool order_sets(Lang *l, AstOp op, const Dict *a, const Dict *b)
{
    if (op == AST_OP_LT || op == AST_OP_GT) {
        const Dict *small = op == AST_OP_LT ? a : b;
        const Dict *big = op == AST_OP_LT ? b : a;

        return small->live < big->live && set_subset(l, small, big);
    }
    return op == AST_OP_LE ? set_subset(l, a, b) : set_subset(l, b, a);
}

static bool order_data(Lang *l, AstOp op, Value a, Value b, Value *out,
                       Span at);

static Value order(Lang *l, AstOp op, Value a, Value b, Span at)
{
    Value out;
    double x;

    if (as_number(a, &x) && as_number(b, &x))
        return v_bool(holds(op, number_compare(a, b)));
    if (a.kind == b.kind) {
        if (a.kind == VAL_STR || a.kind == VAL_BYTES)
            return v_bool(holds(op, text_compare(a.s, b.s)));
        if (v_is_sequence(a))
            return order_lists(l, op, a.list, b.list, at);
        if (a.kind == VAL_SET)
            return v_bool(order_sets(l, op, a.dict, b.dict));
    }
    if (order_data(l, op, a, b, &out, at))
        return out;
    if (mixin_value(a).kind != a.kind || mixin_value(b).kind != b.kind)
        return order(l, op, mixin_value(a), mixin_value(b), at);
    order_error(l, op, a, b, at);
}

static List *data_values(Lang *l, const Instance *i)
{
    const DataClass *d = i->cls->data;
    List *out = list_new(l, d->len, true);

    for (int k = 0; k < d->len; k++) {
        Value v;

        if (!d->at[k].no_compare &&
            map_value(&i->attributes, d->at[k].name, &v))
            list_append(l, out, v);
    }
    return out;
}

static bool both_data(Value a, Value b)
{
    return a.kind == VAL_INSTANCE && b.kind == VAL_INSTANCE &&
           a.instance->cls == b.instance->cls &&
           a.instance->cls->form == CLASS_DATA &&
           !a.instance->cls->data->no_eq;
}

static bool order_data(Lang *l, AstOp op, Value a, Value b, Value *out,
                       Span at)
{
    if (!both_data(a, b) || !a.instance->cls->data->order)
        return false;
    *out = order_lists(l, op, data_values(l, a.instance),
                       data_values(l, b.instance), at);
    return true;
}

static bool plain_equal(Lang *l, Value a, Value b)
{
    if (both_data(a, b))
        return value_equal(l, v_of_list(data_values(l, a.instance)),
                           v_of_list(data_values(l, b.instance)));
    if (mixin_value(a).kind != a.kind || mixin_value(b).kind != b.kind)
        return value_equal(l, mixin_value(a), mixin_value(b));
    if (a.kind == VAL_INSTANCE || a.kind == VAL_FOREIGN ||
        b.kind == VAL_INSTANCE || b.kind == VAL_FOREIGN)
        return value_is(a, b);
    return value_equal(l, a, b);
}

// != is the opposite of == where a class says nothing else.
static bool opposite(Lang *l, Value a, Value b, Value *out, Span at)
{
    if (!try_method(l, "__eq__", a, b, out, at) &&
        !try_method(l, "__eq__", b, a, out, at))
        return false;
    *out = v_bool(!value_truth(l, *out, at));
    return true;
}

Value compare_op(Lang *l, AstOp op, Value a, Value b, Span at)
{
    Value out;

    if (v_is_unseen(a) || v_is_unseen(b))
        return v_is_unseen(a) ? a : b;
    if (op == AST_OP_IS || op == AST_OP_IS_NOT)
        return v_bool(value_is(a, b) == (op == AST_OP_IS));
    if ((op == AST_OP_IN || op == AST_OP_NOT_IN) && a.kind == VAL_EXPR)
        return device_binary(l, op, a, b, at);
    if (op == AST_OP_IN || op == AST_OP_NOT_IN)
        return v_bool(value_contains(l, b, a, at) == (op == AST_OP_IN));
    if (v_is_device(a) || v_is_device(b))
        return device_binary(l, op, a, b, at);
    if ((a.kind == VAL_FOREIGN || b.kind == VAL_FOREIGN) &&
        foreign_binary(l, op, a, b, &out, at))
        return out;
    if (try_method(l, names[op].method, a, b, &out, at) ||
        try_method(l, names[op].reflected, b, a, &out, at))
        return out;
    if (op == AST_OP_NE && opposite(l, a, b, &out, at))
        return out;
    if (op == AST_OP_EQ || op == AST_OP_NE)
        return v_bool(plain_equal(l, a, b) == (op == AST_OP_EQ));
    return order(l, op, as_text(a), as_text(b), at);
}

bool value_less(Lang *l, Value a, Value b, Span at)
{
    if (a.kind == VAL_INT && b.kind == VAL_INT)
        return a.i < b.i;
    return value_truth(l, compare_op(l, AST_OP_LT, a, b, at), at);
}
