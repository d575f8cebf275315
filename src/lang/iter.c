// iter.c - iterators, and what can be iterated.
#include <string.h>

#include "lang/eval_int.h"

Value v_iter(IterState *it)
{
    return (Value){.kind = VAL_ITER, .iter = it};
}

IterState *iter_new(Lang *l, const char *name,
                    bool (*next)(Lang *, IterState *, Value *))
{
    IterState *it = new (l->options.arena, IterState);

    it->name = name;
    it->next = next;
    return it;
}

bool iter_next(Lang *l, IterState *it, Value *out)
{
    return it->next(l, it, out);
}

// ---- ranges ----------------------------------------------------------------

int64_t range_len(const int64_t *r)
{
    uint64_t span, step;

    if (r[2] > 0 ? r[0] >= r[1] : r[0] <= r[1])
        return 0;
    span = r[2] > 0 ? (uint64_t)r[1] - (uint64_t)r[0]
                    : (uint64_t)r[0] - (uint64_t)r[1];
    step = r[2] > 0 ? (uint64_t)r[2] : 0 - (uint64_t)r[2];
    span = (span - 1) / step + 1;
    return span > INT64_MAX ? INT64_MAX : (int64_t)span;
}

Value v_range(Lang *l, int64_t start, int64_t stop, int64_t step)
{
    int64_t *r = new_array(l->options.arena, int64_t, 3);

    r[0] = start;
    r[1] = stop;
    r[2] = step;
    return (Value){.kind = VAL_RANGE, .range = {r}};
}

static bool range_next(Lang *l, IterState *it, Value *out)
{
    (void)l;
    if (it->stop == 0)
        return false;
    *out = v_int(it->at);
    if (--it->stop)
        it->at += it->step;
    return true;
}

// ---- built-in containers ---------------------------------------------------

static bool list_next(Lang *l, IterState *it, Value *out)
{
    const List *list = it->source.list;

    (void)l;
    if (it->at >= list->len) {
        it->at = INT32_MAX;                     // stays at its end
        return false;
    }
    *out = list->at[it->at++];
    return true;
}

static bool text_next(Lang *l, IterState *it, Value *out)
{
    Text t = it->source.s;
    int n;

    (void)l;
    if ((size_t)it->at >= t.len)
        return false;
    str_point(t, (size_t)it->at, &n);
    *out = v_str(text_slice(t, (size_t)it->at, (size_t)it->at + (size_t)n));
    it->at += n;
    return true;
}

static bool bytes_next(Lang *l, IterState *it, Value *out)
{
    Text t = it->source.s;

    (void)l;
    if ((size_t)it->at >= t.len)
        return false;
    *out = v_int((unsigned char)t.at[it->at++]);
    return true;
}

static Value item_pair(Lang *l, const Dict *d, int i)
{
    Value pair[2] = {d->keys[i], d->values[i]};

    return v_tuple(l, pair, 2);
}

// step: 0 keys, 1 values, 2 items
static bool dict_next(Lang *l, IterState *it, Value *out)
{
    const Dict *d = it->source.dict;

    if (d->live != it->stop)
        lang_raise(l, "RuntimeError", SPAN_NONE,
                   "%s changed size during iteration",
                   it->source.kind == VAL_SET ? "Set" : "dictionary");
    while (it->at < d->len && d->keys[it->at].kind == VAL_UNBOUND)
        it->at++;
    if (it->at >= d->len)
        return false;
    *out = it->step == 0 ? d->keys[it->at] : it->step == 1
                                                 ? d->values[it->at]
                                                 : item_pair(l, d, (int)it->at);
    it->at++;
    return true;
}

static IterState *over(Lang *l, const char *name, Value source,
                       bool (*next)(Lang *, IterState *, Value *))
{
    IterState *it = iter_new(l, name, next);

    it->source = source;
    return it;
}

static IterState *over_dict(Lang *l, const char *name, Value d, int what)
{
    IterState *it = over(l, name, d, dict_next);

    it->stop = d.dict->live;
    it->step = what;
    return it;
}

static IterState *over_range(Lang *l, const int64_t *r)
{
    IterState *it = iter_new(l, "range_iterator", range_next);

    it->at = r[0];
    it->step = r[2];
    it->stop = range_len(r);
    return it;
}

// ---- views of dicts --------------------------------------------------------

Value iter_view(Lang *l, const char *name, Value dict)
{
    int what = strcmp(name, "dict_keys") == 0     ? 0
               : strcmp(name, "dict_values") == 0 ? 1 : 2;
    IterState *it = over_dict(l, name, dict, what);

    it->view = true;
    return v_iter(it);
}

int64_t view_len(const IterState *it)
{
    return it->source.dict->live;
}

// ---- objects ---------------------------------------------------------------

static bool instance_next(Lang *l, IterState *it, Value *out);

static bool foreign_next(Lang *l, IterState *it, Value *out)
{
    const ForeignType *t = it->source.foreign->type;
    int pins = lang_pins(l);

    if (it->at >= t->length(l, it->source.foreign, SPAN_NONE))
        return false;
    *out = t->getitem(l, it->source.foreign, v_int(it->at++), SPAN_NONE);
    lang_unpin(l, pins);
    return true;
}

// The old protocol: v[0], v[1], ... up to IndexError.
static bool indexed_next(Lang *l, IterState *it, Value *out);

static IterState *over_instance(Lang *l, Value v, Span at)
{
    Value out;

    if (call_dunder(l, v, "__iter__", NULL, 0, &out, at)) {
        if (out.kind != VAL_INSTANCE)
            return iter_of(l, out, at);
        return over(l, "iterator", out, instance_next);
    }
    if (class_find(v.instance->cls, TEXT("__getitem__"), &out))
        return over(l, "iterator", v, indexed_next);
    return NULL;
}

_Noreturn static void not_iterable(Lang *l, Value v, Span at)
{
    opaque_check(l, v, at);
    if (v.kind == VAL_LOOPFRAME)
        lang_raise(l, "TypeError", at,
                   "a T loop is only valid in a 'for' of a kernel");
    lang_raise(l, "TypeError", at, "'%s' object is not iterable",
               value_type_name(v));
}

IterState *iter_of(Lang *l, Value v, Span at)
{
    IterState *it = NULL;

    switch (v.kind) {
    case VAL_LIST:
        return over(l, "list_iterator", v, list_next);
    case VAL_TUPLE:
        return over(l, "tuple_iterator", v, list_next);
    case VAL_STR:
        return over(l, "str_iterator", v, text_next);
    case VAL_DTYPE:                             // upstream's are strings
        return iter_of(l, v_cstr(dtype_info(v.dtype)->name), at);
    case VAL_BYTES:
        return over(l, "bytes_iterator", v, bytes_next);
    case VAL_DICT:
        return over_dict(l, "dict_keyiterator", v, 0);
    case VAL_SET:
        return over_dict(l, "set_iterator", v, 0);
    case VAL_RANGE:
        return over_range(l, v.range.r);
    case VAL_ITER:
        return v.iter->view ? over_dict(l, "dict_iterator", v.iter->source,
                                        (int)v.iter->step)
                            : v.iter;
    case VAL_INSTANCE:
        it = over_instance(l, v, at);
        break;
    case VAL_CLASS:
        if (v.cls->form == CLASS_ENUM)
            return iter_of(l, enum_members(l, v.cls), at);
        break;
    case VAL_FOREIGN:
        if (v.foreign->type->length && v.foreign->type->getitem) {
            value_bind(v);
            it = over(l, "iterator", v, foreign_next);
        }
        break;
    default:
        break;
    }
    if (!it)
        not_iterable(l, v, at);
    return it;
}

// ---- iterators written in Python: they end by an exception -----------------

typedef struct {
    IterState *it;
    Value out;
} Advance;

static void ask_next(Lang *l, void *ctx)
{
    Advance *a = ctx;
    Value self = a->it->source;

    if (!call_dunder(l, self, "__next__", NULL, 0, &a->out, SPAN_NONE))
        lang_raise(l, "TypeError", SPAN_NONE,
                   "iter() returned non-iterator of type '%s'",
                   value_type_name(self));
}

static void ask_item(Lang *l, void *ctx)
{
    Advance *a = ctx;
    Value index = v_int(a->it->at);

    call_dunder(l, a->it->source, "__getitem__", &index, 1, &a->out,
                SPAN_NONE);
}

static bool advance(Lang *l, IterState *it, LangBody *ask, ExceptionId end,
                    Value *out)
{
    Advance a = {.it = it};
    Value e;

    if (protect(l, ask, &a, &e)) {
        it->at++;
        *out = a.out;
        return true;
    }
    if (exception_uncatchable(e) || !exception_is(l, e, end))
        exception_throw(l, e);
    return false;
}

static bool instance_next(Lang *l, IterState *it, Value *out)
{
    return advance(l, it, ask_next, EXC_STOP_ITERATION, out);
}

static bool indexed_next(Lang *l, IterState *it, Value *out)
{
    return advance(l, it, ask_item, EXC_INDEX, out);
}

// ---- uses ------------------------------------------------------------------

List *value_to_list(Lang *l, Value v, Span at)
{
    IterState *it;
    List *out;
    Value item;
    int top = temps_top(l);

    if (v_is_sequence(v))
        return v.list;
    it = iter_of(l, v, at);
    out = list_new(l, 8, false);
    temp_push(l, v_iter(it));
    temp_push(l, v_of_list(out));
    while (iter_next(l, it, &item)) {
        if (out->len % 64 == 0)
            lang_step(l, at);
        list_append(l, out, item);
    }
    temps_cut(l, top);
    return out;
}

static bool range_contains(const int64_t *r, Value item)
{
    int64_t i;

    if (item.kind == VAL_FLOAT && item.f == (double)(int64_t)item.f)
        item = v_int((int64_t)item.f);
    if (!as_int(item, &i) || (r[2] > 0 ? i < r[0] || i >= r[1]
                                       : i > r[0] || i <= r[1]))
        return false;
    return ((__int128)i - r[0]) % r[2] == 0;
}

static bool iterated_contains(Lang *l, Value container, Value item, Span at)
{
    IterState *it = iter_of(l, container, at);
    int top = temps_top(l);
    bool found = false;
    Value v;

    temp_push(l, v_iter(it));
    while (!found && iter_next(l, it, &v))
        found = value_is(v, item) || value_equal(l, v, item);
    temps_cut(l, top);
    return found;
}

bool value_contains(Lang *l, Value c, Value item, Span at)
{
    Value out;
    int where;

    switch (c.kind) {
    case VAL_STR:
        if (item.kind != VAL_STR)
            lang_raise(l, "TypeError", at,
                       "'in <string>' requires string as left operand, not %s",
                       value_type_name(item));
        return text_find(c.s, item.s, 0) >= 0;
    case VAL_DICT:
    case VAL_SET:
        return dict_find(l, c.dict, item, &where);
    case VAL_RANGE:
        return range_contains(c.range.r, item);
    case VAL_INSTANCE:
        if (call_dunder(l, c, "__contains__", &item, 1, &out, at))
            return value_truth(l, out, at);
        return iterated_contains(l, c, item, at);
    case VAL_LIST:
    case VAL_TUPLE:
    case VAL_ITER:
    case VAL_CLASS:
    case VAL_FOREIGN:
    case VAL_BYTES:
        return iterated_contains(l, c, item, at);
    case VAL_MODULE:
        not_iterable(l, c, at);
    default:
        lang_raise(l, "TypeError", at, "argument of type '%s' is not iterable",
                   value_type_name(c));
    }
}
