// list.c - lists and tuples: growing, slicing, sorting.
#include <string.h>

#include "lang/eval_int.h"

List *list_new(Lang *l, int room, bool fixed)
{
    List *list = new (l->options.arena, List);

    list->fixed = fixed;
    list_reserve(l, list, room, SPAN_NONE);
    return list;
}

// Room for `room` elements in all.
void list_reserve(Lang *l, List *list, int64_t room, Span at)
{
    Value *bigger;

    if (room <= list->room)
        return;
    if (room > MOST_ELEMENTS)
        lang_raise(l, "MemoryError", at,
                   "a sequence of %lld elements is too large (at most %d)",
                   (long long)room, MOST_ELEMENTS);
    if (list->room && room < 2 * (int64_t)list->room)
        room = 2 * (int64_t)list->room;
    bigger = new_array(l->options.arena, Value, (size_t)room);
    if (list->len)
        memcpy(bigger, list->at, (size_t)list->len * sizeof *bigger);
    list->at = bigger;
    list->room = (int)room;
}

void list_append(Lang *l, List *list, Value v)
{
    if (list->len == list->room)
        list_reserve(l, list, list->len < 4 ? 4 : (int64_t)list->len + 1,
                     SPAN_NONE);
    value_bind(v);
    list->at[list->len++] = v;
}

static List *list_from(Lang *l, const Value *at, int count, bool fixed)
{
    List *list = list_new(l, count, fixed);

    for (int i = 0; i < count; i++)
        list_append(l, list, at[i]);
    return list;
}

Value v_list(Lang *l, const Value *at, int count)
{
    return v_of_list(list_from(l, at, count, false));
}

Value v_tuple(Lang *l, const Value *at, int count)
{
    return v_of_list(list_from(l, at, count, true));
}

void list_remove_at(List *list, int i)
{
    memmove(list->at + i, list->at + i + 1,
            (size_t)(list->len - i - 1) * sizeof *list->at);
    list->len--;
}

// ---- indices and slices ----------------------------------------------------

static int64_t need_index(Lang *l, Value index, const char *what, Span at)
{
    int64_t i;

    if (as_index(l, index, &i, at))
        return i;
    if (v_is_device(index))
        lang_raise(l, "TypeError", at,
                   "a %s cannot be indexed with a device value: its elements "
                   "are chosen while staging", what);
    if (strcmp(what, "str") == 0)
        lang_raise(l, "TypeError", at,
                   "string indices must be integers, not '%s'",
                   value_type_name(index));
    lang_raise(l, "TypeError", at,
               "%s indices must be integers or slices, not %s", what,
               value_type_name(index));
}

int64_t index_in(Lang *l, Value index, int64_t len, const char *what, Span at)
{
    int64_t i = need_index(l, index, what, at);

    if (i < 0)
        i += len;
    if (i < 0 || i >= len)
        lang_raise(l, "IndexError", at, "%s index out of range",
                   strcmp(what, "range") == 0 ? "range object"
                   : strcmp(what, "str") == 0 ? "string" : what);
    return i;
}

static int64_t slice_part(Lang *l, const Value *v, int64_t fallback, Span at)
{
    int64_t i;

    if (v->kind == VAL_NONE)
        return fallback;
    if (as_index(l, *v, &i, at))
        return i;
    lang_raise(l, "TypeError", at,
               "slice indices must be integers or None or have an __index__ "
               "method");
}

static int64_t clamp_part(int64_t i, int64_t len, int64_t low, int64_t high)
{
    if (i < 0)
        i += len;
    return i < low ? low : i > high ? high : i;
}

SliceRange slice_range(Lang *l, const SliceValue *s, int64_t len, Span at)
{
    SliceRange r = {.step = slice_part(l, s->step, 1, at)};
    bool back = r.step < 0;
    int64_t low = back ? -1 : 0, high = back ? len - 1 : len;

    if (r.step == 0)
        lang_raise(l, "ValueError", at, "slice step cannot be zero");
    if (r.step < -INT64_MAX)
        r.step = -INT64_MAX;
    r.start = s->start->kind == VAL_NONE
                  ? (back ? len - 1 : 0)
                  : clamp_part(slice_part(l, s->start, 0, at), len, low, high);
    r.stop = s->stop->kind == VAL_NONE
                 ? (back ? -1 : len)
                 : clamp_part(slice_part(l, s->stop, 0, at), len, low, high);
    if (back && r.start > r.stop)
        r.count = (r.start - r.stop - 1) / -r.step + 1;
    if (!back && r.stop > r.start)
        r.count = (r.stop - r.start - 1) / r.step + 1;
    return r;
}

List *list_slice(Lang *l, const List *list, const SliceValue *s, Span at)
{
    SliceRange r = slice_range(l, s, list->len, at);
    List *out = list_new(l, (int)r.count, list->fixed);

    for (int64_t i = 0; i < r.count; i++)
        out->at[i] = list->at[r.start + i * r.step];
    out->len = (int)r.count;
    return out;
}

// list[start:stop] = items
static void replace_run(Lang *l, List *list, SliceRange r, const List *items,
                        Span at)
{
    int64_t after = r.stop < r.start ? r.start : r.stop;
    int64_t tail = list->len - after, len = r.start + items->len + tail;

    list_reserve(l, list, len, at);
    memmove(list->at + r.start + items->len, list->at + after,
            (size_t)tail * sizeof *list->at);
    for (int i = 0; i < items->len; i++)
        list->at[r.start + i] = items->at[i];
    list->len = (int)len;
}

static List *copy_of(Lang *l, Value v, Span at)
{
    List *items = value_to_list(l, v, at);

    return list_from(l, items->at, items->len, false);
}

void list_assign_slice(Lang *l, List *list, const SliceValue *s, Value v,
                       Span at)
{
    List *items = copy_of(l, v, at);
    SliceRange r = slice_range(l, s, list->len, at);

    if (r.step == 1) {
        replace_run(l, list, r, items, at);
        return;
    }
    if (items->len != r.count)
        lang_raise(l, "ValueError", at,
                   "attempt to assign sequence of size %d to extended slice "
                   "of size %lld", items->len, (long long)r.count);
    for (int64_t i = 0; i < r.count; i++)
        list->at[r.start + i * r.step] = items->at[i];
}

// ---- sorting: stable merges of runs, keys beside the items -----------------

typedef struct {
    Value *key, *item;
} Run;

typedef struct {
    Lang *l;
    Run from, to;
    bool reverse;
    Span at;
} Sort;

// With `reverse` equal elements keep their order too.
static bool goes_first(const Sort *s, int right, int left)
{
    const Value *k = s->from.key;

    return s->reverse ? value_less(s->l, k[left], k[right], s->at)
                      : value_less(s->l, k[right], k[left], s->at);
}

static void merge(Sort *s, int begin, int middle, int end)
{
    int a = begin, b = middle;

    for (int i = begin; i < end; i++) {
        bool right = b < end && (a == middle || goes_first(s, b, a));
        int take = right ? b++ : a++;

        s->to.key[i] = s->from.key[take];
        s->to.item[i] = s->from.item[take];
    }
}

static void sort_runs(Sort *s, int n)
{
    for (int width = 1; width < n; width *= 2) {
        Run done = s->to;

        for (int i = 0; i < n; i += 2 * width) {
            int middle = i + width < n ? i + width : n;
            int end = i + 2 * width < n ? i + 2 * width : n;

            lang_step(s->l, s->at);
            merge(s, i, middle, end);
        }
        s->to = s->from;
        s->from = done;
    }
}

void list_sort(Lang *l, List *list, Value key, bool reverse, Span at)
{
    int n = list->len;
    List *keys = list_new(l, 4 * n, false);
    Sort s = {.l = l, .reverse = reverse, .at = at};

    lang_pin(l, v_of_list(keys));
    for (int i = 0; i < n; i++)
        list_append(l, keys, key.kind == VAL_NONE
                                 ? list->at[i]
                                 : call1(l, key, list->at[i], at));
    s.from = (Run){keys->at, keys->at + n};
    s.to = (Run){keys->at + 2 * n, keys->at + 3 * n};
    for (int i = 0; i < n; i++)
        s.from.item[i] = list->at[i];
    sort_runs(&s, n);
    for (int i = 0; i < n; i++)
        list->at[i] = s.from.item[i];
}
