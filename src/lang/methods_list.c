// methods_list.c - methods of list and tuple.
#include <string.h>

#include "lang/eval_int.h"

static Value m_append(Lang *l, Value self, const Args *args)
{
    args_count(l, "list.append", args, 1, 1);
    list_append(l, self.list, args->at[0]);
    return V_NONE;
}

static Value m_extend(Lang *l, Value self, const Args *args)
{
    List *items;
    int n;

    args_count(l, "list.extend", args, 1, 1);
    items = value_to_list(l, args->at[0], args->at_span);
    n = items->len;                             // it may be self
    for (int i = 0; i < n; i++)
        list_append(l, self.list, items->at[i]);
    return V_NONE;
}

static Value m_insert(Lang *l, Value self, const Args *args)
{
    List *list = self.list;
    int64_t i;

    args_count(l, "insert", args, 2, 2);
    i = need_int(l, args->at[0], args->at_span);
    i = i < 0 ? i + list->len : i;
    i = i < 0 ? 0 : i > list->len ? list->len : i;
    list_append(l, list, args->at[1]);
    memmove(list->at + i + 1, list->at + i,
            (size_t)(list->len - 1 - i) * sizeof *list->at);
    list->at[i] = args->at[1];
    return V_NONE;
}

static Value m_pop(Lang *l, Value self, const Args *args)
{
    List *list = self.list;
    int64_t i = -1;
    Value v;

    args_count(l, "pop", args, 0, 1);
    if (args->count)
        i = need_int(l, args->at[0], args->at_span);
    if (list->len == 0)
        lang_raise(l, "IndexError", args->at_span, "pop from empty list");
    i = i < 0 ? i + list->len : i;
    if (i < 0 || i >= list->len)
        lang_raise(l, "IndexError", args->at_span, "pop index out of range");
    v = list->at[i];
    list_remove_at(list, (int)i);
    return v;
}

static int find_item(Lang *l, const List *list, Value v, int from, int to)
{
    for (int i = from; i < to && i < list->len; i++)
        if (value_is(list->at[i], v) || value_equal(l, list->at[i], v))
            return i;
    return -1;
}

static Value m_remove(Lang *l, Value self, const Args *args)
{
    int i;

    args_count(l, "list.remove", args, 1, 1);
    i = find_item(l, self.list, args->at[0], 0, self.list->len);
    if (i < 0)
        lang_raise(l, "ValueError", args->at_span,
                   "list.remove(x): x not in list");
    list_remove_at(self.list, i);
    return V_NONE;
}

static Value m_index(Lang *l, Value self, const Args *args)
{
    int64_t from = 0, to = self.list->len;
    int i;

    args_count(l, "index", args, 1, 3);
    if (args->count > 1)
        from = need_int(l, args->at[1], args->at_span);
    if (args->count > 2)
        to = need_int(l, args->at[2], args->at_span);
    from = from < 0 ? from + self.list->len : from;
    to = to < 0 ? to + self.list->len : to;
    to = to > self.list->len ? self.list->len : to;
    i = from > to ? -1 : find_item(l, self.list, args->at[0],
                                   (int)(from < 0 ? 0 : from), (int)to);
    if (i < 0 && self.kind == VAL_TUPLE)
        lang_raise(l, "ValueError", args->at_span,
                   "tuple.index(x): x not in tuple");
    if (i < 0) {
        TextBuf *b = text_begin(l);

        value_repr(l, b, args->at[0]);
        lang_raise(l, "ValueError", args->at_span, "%.*s is not in list",
                   TEXT_ARG(buf_view(b)));
    }
    return v_int(i);
}

static Value m_count(Lang *l, Value self, const Args *args)
{
    int64_t n = 0;

    args_count(l, "count", args, 1, 1);
    for (int i = 0; i < self.list->len; i++)
        n += value_is(self.list->at[i], args->at[0]) ||
             value_equal(l, self.list->at[i], args->at[0]);
    return v_int(n);
}

static Value m_clear(Lang *l, Value self, const Args *args)
{
    args_count(l, "clear", args, 0, 0);
    self.list->len = 0;
    return V_NONE;
}

static Value m_copy(Lang *l, Value self, const Args *args)
{
    args_count(l, "copy", args, 0, 0);
    return v_list(l, self.list->at, self.list->len);
}

static Value m_reverse(Lang *l, Value self, const Args *args)
{
    Value *at = self.list->at;

    args_count(l, "reverse", args, 0, 0);
    for (int i = 0, k = self.list->len - 1; i < k; i++, k--) {
        Value v = at[i];

        at[i] = at[k];
        at[k] = v;
    }
    return V_NONE;
}

static Value m_sort(Lang *l, Value self, const Args *args)
{
    static const char *const names[] = {"*", "key=", "reverse="};
    Value in[2];

    if (args->count)
        lang_raise(l, "TypeError", args->at_span,
                   "sort() takes no positional arguments");
    args_bind(l, "sort", args, names, 3, in);
    list_sort(l, self.list, in[0].kind == VAL_UNBOUND ? V_NONE : in[0],
              in[1].kind != VAL_UNBOUND &&
                  value_truth(l, in[1], args->at_span),
              args->at_span);
    return V_NONE;
}

const Method list_methods[] = {
    {"append", m_append}, {"extend", m_extend}, {"insert", m_insert},
    {"pop", m_pop}, {"remove", m_remove}, {"index", m_index},
    {"count", m_count}, {"clear", m_clear}, {"copy", m_copy},
    {"reverse", m_reverse}, {"sort", m_sort}, {NULL, NULL},
};

// A tensor's shape is a tuple: torch.Size has numel().
static Value m_numel(Lang *l, Value self, const Args *args)
{
    int64_t n = 1;

    args_count(l, "numel", args, 0, 0);
    for (int i = 0; i < self.list->len; i++)
        if (__builtin_mul_overflow(n, value_to_int(l, self.list->at[i],
                                                   "a size", args->at_span),
                                   &n))
            lang_raise(l, "OverflowError", args->at_span,
                       "the product of the sizes is too large");
    return v_int(n);
}

const Method tuple_methods[] = {
    {"index", m_index}, {"count", m_count}, {"numel", m_numel}, {NULL, NULL},
};
