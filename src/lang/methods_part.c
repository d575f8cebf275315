// methods_part.c - methods of str that cut, join, replace and pad.
#include <ctype.h>
#include <string.h>

#include "lang/eval_int.h"

// ---- splitting and joining -------------------------------------------------

static void split_blanks(Lang *l, List *out, Text t, int64_t most)
{
    size_t i = 0;

    for (;;) {
        size_t from;

        while (i < t.len && isspace((unsigned char)t.at[i]))
            i++;
        if (i == t.len)
            return;
        from = i;
        if (most >= 0 && out->len == most) {
            list_append(l, out, v_str(text_slice(t, from, t.len)));
            return;
        }
        while (i < t.len && !isspace((unsigned char)t.at[i]))
            i++;
        list_append(l, out, v_str(text_slice(t, from, i)));
    }
}

static void split_at(Lang *l, List *out, Text t, Text by, int64_t most)
{
    size_t from = 0;

    while (most < 0 || out->len < most) {
        int64_t at = text_find(t, by, from);

        if (at < 0)
            break;
        list_append(l, out, v_str(text_slice(t, from, (size_t)at)));
        from = (size_t)at + by.len;
    }
    list_append(l, out, v_str(text_slice(t, from, t.len)));
}

static void reverse(List *list)
{
    for (int i = 0, k = list->len - 1; i < k; i++, k--) {
        Value v = list->at[i];

        list->at[i] = list->at[k];
        list->at[k] = v;
    }
}

static void rsplit_at(Lang *l, List *out, Text t, Text by, int64_t most)
{
    while (most < 0 || out->len < most) {
        int64_t at = text_rfind(t, by);

        if (at < 0)
            break;
        list_append(l, out, v_str(text_slice(t, (size_t)at + by.len, t.len)));
        t = text_slice(t, 0, (size_t)at);
    }
    list_append(l, out, v_str(t));
    reverse(out);
}

static void rsplit_blanks(Lang *l, List *out, Text t, int64_t most)
{
    size_t to = t.len;

    for (;;) {
        size_t end;

        while (to > 0 && isspace((unsigned char)t.at[to - 1]))
            to--;
        if (to == 0)
            break;
        end = to;
        if (most >= 0 && out->len == most) {
            list_append(l, out, v_str(text_slice(t, 0, end)));
            break;
        }
        while (to > 0 && !isspace((unsigned char)t.at[to - 1]))
            to--;
        list_append(l, out, v_str(text_slice(t, to, end)));
    }
    reverse(out);
}

static Value split(Lang *l, const char *name, Value self, const Args *args,
                   bool from_right)
{
    static const char *const names[] = {"sep=", "maxsplit="};
    List *out = list_new(l, 4, false);
    int64_t most = -1;
    Value in[2];
    Text by;

    args_bind(l, name, args, names, 2, in);
    if (in[1].kind != VAL_UNBOUND)
        most = need_int(l, in[1], args->at_span);
    if (in[0].kind == VAL_UNBOUND || in[0].kind == VAL_NONE) {
        (from_right ? rsplit_blanks : split_blanks)(l, out, self.s, most);
        return v_of_list(out);
    }
    by = method_text(l, name, in[0], args->at_span);
    if (by.len == 0)
        lang_raise(l, "ValueError", args->at_span, "empty separator");
    (from_right ? rsplit_at : split_at)(l, out, self.s, by, most);
    return v_of_list(out);
}

static Value m_split(Lang *l, Value self, const Args *args)
{
    return split(l, "split", self, args, false);
}

static Value m_rsplit(Lang *l, Value self, const Args *args)
{
    return split(l, "rsplit", self, args, true);
}

static Value m_splitlines(Lang *l, Value self, const Args *args)
{
    List *out = list_new(l, 4, false);
    Text t = self.s;
    Value keep = v_bool(false);

    if (args->count)
        keep = args->at[0];
    args_keyword(args, "keepends", &keep);
    for (size_t i = 0; i < t.len;) {
        size_t end = i, next;

        while (end < t.len && t.at[end] != '\n' && t.at[end] != '\r')
            end++;
        next = end + (end < t.len);
        if (next < t.len && t.at[end] == '\r' && t.at[next] == '\n')
            next++;
        list_append(l, out,
                    v_str(text_slice(t, i, value_truth(l, keep,
                                                       args->at_span)
                                               ? next : end)));
        i = next;
    }
    return v_of_list(out);
}

static Value partition(Lang *l, const char *name, Value self,
                       const Args *args, bool last)
{
    Value out[3] = {self, v_str(TEXT("")), v_str(TEXT(""))};
    Text by;
    int64_t at;

    args_count(l, name, args, 1, 1);
    by = method_text(l, name, args->at[0], args->at_span);
    if (by.len == 0)
        lang_raise(l, "ValueError", args->at_span, "empty separator");
    at = last ? text_rfind(self.s, by) : text_find(self.s, by, 0);
    if (at < 0 && last) {
        out[0] = out[1];
        out[2] = self;
    } else if (at >= 0) {
        out[0] = v_str(text_slice(self.s, 0, (size_t)at));
        out[1] = v_str(by);
        out[2] = v_str(text_slice(self.s, (size_t)at + by.len, self.s.len));
    }
    return v_tuple(l, out, 3);
}

static Value m_partition(Lang *l, Value self, const Args *args)
{
    return partition(l, "partition", self, args, false);
}

static Value m_rpartition(Lang *l, Value self, const Args *args)
{
    return partition(l, "rpartition", self, args, true);
}

static Value m_join(Lang *l, Value self, const Args *args)
{
    List *items;
    TextBuf *out;

    args_count(l, "join", args, 1, 1);
    items = value_to_list(l, args->at[0], args->at_span);
    out = text_begin(l);
    for (int i = 0; i < items->len; i++) {
        Value v = items->at[i];

        if (v.kind == VAL_DTYPE)
            v = v_cstr(dtype_info(v.dtype)->name);
        if (v.kind != self.kind)
            lang_raise(l, "TypeError", args->at_span,
                       "sequence item %d: expected str instance, %s found", i,
                       value_type_name(v));
        if (i)
            buf_text(out, self.s);
        buf_text(out, v.s);
    }
    return text_end(l);
}

// ---- replacing and padding -------------------------------------------------

static Value m_replace(Lang *l, Value self, const Args *args)
{
    Text t = self.s, old, by;
    int64_t most = INT64_MAX, at;
    size_t from = 0;
    TextBuf *out;
    int n;

    args_count(l, "replace", args, 2, 3);
    old = method_text(l, "replace", args->at[0], args->at_span);
    by = method_text(l, "replace", args->at[1], args->at_span);
    if (args->count == 3)
        most = need_int(l, args->at[2], args->at_span);
    if (most < 0)
        most = INT64_MAX;
    out = text_begin(l);
    for (; most > 0 && (at = text_find(t, old, from)) >= 0; most--) {
        buf_text(out, text_slice(t, from, (size_t)at));
        buf_text(out, by);
        from = (size_t)at + old.len;
        if (old.len == 0) {                     // between all characters
            if (from >= t.len)
                break;
            str_point(t, from, &n);
            buf_text(out, text_slice(t, from, from + (size_t)n));
            from += (size_t)n;
        }
        if (out->len > MOST_TEXT)
            lang_raise(l, "MemoryError", args->at_span,
                       "the str is too large (at most %d bytes)", MOST_TEXT);
    }
    buf_text(out, text_slice(t, from, t.len));
    return text_end(l);
}

static int64_t width_arg(Lang *l, const Args *args)
{
    int64_t n = need_int(l, args->at[0], args->at_span);

    if (n > MOST_TEXT)
        lang_raise(l, "MemoryError", args->at_span,
                   "a str of %lld characters is too large", (long long)n);
    return n;
}

static Value padded(Lang *l, const char *name, Value self, const Args *args,
                    char where)
{
    Text fill = TEXT(" ");
    int64_t pad, left;
    TextBuf b = {0};

    args_count(l, name, args, 1, 2);
    if (args->count == 2)
        fill = method_text(l, name, args->at[1], args->at_span);
    if (str_len(fill) != 1)
        lang_raise(l, "TypeError", args->at_span,
                   "The fill character must be exactly one character long");
    pad = width_arg(l, args) - str_len(self.s);
    if (pad <= 0)
        return self;
    left = where == 'r' ? pad
           : where == 'l' ? 0
                          : pad / 2 + (pad & (pad + str_len(self.s)) & 1);
    for (int64_t i = 0; i < left; i++)
        buf_text(&b, fill);
    buf_text(&b, self.s);
    for (int64_t i = left; i < pad; i++)
        buf_text(&b, fill);
    return v_buf(l, &b);
}

static Value m_center(Lang *l, Value self, const Args *args)
{
    return padded(l, "center", self, args, 'c');
}

static Value m_ljust(Lang *l, Value self, const Args *args)
{
    return padded(l, "ljust", self, args, 'l');
}

static Value m_rjust(Lang *l, Value self, const Args *args)
{
    return padded(l, "rjust", self, args, 'r');
}

static Value m_zfill(Lang *l, Value self, const Args *args)
{
    bool sign = self.s.len && (self.s.at[0] == '-' || self.s.at[0] == '+');
    TextBuf b = {0};
    int64_t pad;

    args_count(l, "zfill", args, 1, 1);
    pad = width_arg(l, args) - str_len(self.s);
    if (sign)
        buf_addc(&b, self.s.at[0]);
    for (int64_t i = 0; i < pad; i++)
        buf_addc(&b, '0');
    buf_text(&b, text_slice(self.s, sign, self.s.len));
    return v_buf(l, &b);
}

static Value m_expandtabs(Lang *l, Value self, const Args *args)
{
    int64_t size = 8, column = 0;
    TextBuf b = {0};

    args_count(l, "expandtabs", args, 0, 1);
    if (args->count)
        size = width_arg(l, args);
    for (size_t i = 0; i < self.s.len; i++) {
        char c = self.s.at[i];

        if (c != '\t') {
            buf_addc(&b, c);
            column = c == '\n' || c == '\r'
                         ? 0 : column + (((unsigned char)c & 0xc0) != 0x80);
            continue;
        }
        for (int64_t n = size > 0 ? size - column % size : 0; n > 0; n--) {
            buf_addc(&b, ' ');
            column++;
        }
    }
    return v_buf(l, &b);
}

const Method str_part_methods[] = {
    {"split", m_split}, {"rsplit", m_rsplit}, {"splitlines", m_splitlines},
    {"partition", m_partition}, {"rpartition", m_rpartition}, {"join", m_join},
    {"replace", m_replace}, {"center", m_center}, {"ljust", m_ljust},
    {"rjust", m_rjust}, {"zfill", m_zfill}, {"expandtabs", m_expandtabs},
    {NULL, NULL},
};
