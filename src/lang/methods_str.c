// methods_str.c - methods of str and bytes.
#include <ctype.h>
#include <string.h>

#include "lang/eval_int.h"

Text method_text(Lang *l, const char *method, Value v, Span at)
{
    if (v.kind == VAL_DTYPE)
        return text_of(dtype_info(v.dtype)->name);
    if (v.kind != VAL_STR && v.kind != VAL_BYTES)
        lang_raise(l, "TypeError", at, "%s() argument must be str, not %s",
                   method, value_type_name(v));
    return v.s;
}

// ---- case ------------------------------------------------------------------

static bool is_upper(int32_t p)
{
    return point_lower(p) != p;
}

static bool is_lower(int32_t p)
{
    return point_upper(p) != p;
}

static int32_t swapped(int32_t p)
{
    return is_lower(p) ? point_upper(p) : point_lower(p);
}

static Value change_case(Lang *l, Text t, int32_t (*change)(int32_t))
{
    TextBuf b = {0};
    int n;

    for (size_t i = 0; i < t.len; i += (size_t)n)
        str_append_point(&b, change(str_point(t, i, &n)));
    return v_buf(l, &b);
}

static Value m_upper(Lang *l, Value self, const Args *args)
{
    args_count(l, "upper", args, 0, 0);
    return change_case(l, self.s, point_upper);
}

static Value m_lower(Lang *l, Value self, const Args *args)
{
    args_count(l, "lower", args, 0, 0);
    return change_case(l, self.s, point_lower);
}

static Value m_swapcase(Lang *l, Value self, const Args *args)
{
    args_count(l, "swapcase", args, 0, 0);
    return change_case(l, self.s, swapped);
}

static bool is_letter(int32_t p)
{
    return p >= 0x80 ? p >= 0xc0 && p != 0xd7 && p != 0xf7 : isalpha(p) != 0;
}

// The first letter, or that of each word, is upper, the others lower.
static Value title(Lang *l, Text t, bool words)
{
    TextBuf b = {0};
    bool inside = false;
    int n;

    for (size_t i = 0; i < t.len; i += (size_t)n) {
        int32_t p = str_point(t, i, &n);

        str_append_point(&b, inside ? point_lower(p) : point_upper(p));
        inside = !words || is_letter(p);
    }
    return v_buf(l, &b);
}

static Value m_capitalize(Lang *l, Value self, const Args *args)
{
    args_count(l, "capitalize", args, 0, 0);
    return title(l, self.s, false);
}

static Value m_title(Lang *l, Value self, const Args *args)
{
    args_count(l, "title", args, 0, 0);
    return title(l, self.s, true);
}

// ---- tests -----------------------------------------------------------------

static bool all_are(Text t, int (*is)(int))
{
    for (size_t i = 0; i < t.len; i++)
        if ((unsigned char)t.at[i] < 0x80 ? !is((unsigned char)t.at[i])
                                          : is != isalpha && is != isalnum)
            return false;
    return t.len > 0;
}

static bool has(Text t, bool (*is)(int32_t))
{
    int n;

    for (size_t i = 0; i < t.len; i += (size_t)n)
        if (is(str_point(t, i, &n)))
            return true;
    return false;
}

static Value m_isdigit(Lang *l, Value self, const Args *args)
{
    args_count(l, "isdigit", args, 0, 0);
    return v_bool(all_are(self.s, isdigit));
}

static Value m_isalpha(Lang *l, Value self, const Args *args)
{
    args_count(l, "isalpha", args, 0, 0);
    return v_bool(all_are(self.s, isalpha));
}

static Value m_isalnum(Lang *l, Value self, const Args *args)
{
    args_count(l, "isalnum", args, 0, 0);
    return v_bool(all_are(self.s, isalnum));
}

static Value m_isspace(Lang *l, Value self, const Args *args)
{
    args_count(l, "isspace", args, 0, 0);
    return v_bool(all_are(self.s, isspace));
}

static Value m_isupper(Lang *l, Value self, const Args *args)
{
    args_count(l, "isupper", args, 0, 0);
    return v_bool(has(self.s, is_upper) && !has(self.s, is_lower));
}

static Value m_islower(Lang *l, Value self, const Args *args)
{
    args_count(l, "islower", args, 0, 0);
    return v_bool(has(self.s, is_lower) && !has(self.s, is_upper));
}

static Value m_isidentifier(Lang *l, Value self, const Args *args)
{
    bool ok = self.s.len > 0 && !isdigit((unsigned char)self.s.at[0]);

    args_count(l, "isidentifier", args, 0, 0);
    for (size_t i = 0; i < self.s.len; i++) {
        unsigned char c = (unsigned char)self.s.at[i];

        ok &= c >= 0x80 || isalnum(c) || c == '_';
    }
    return v_bool(ok);
}

static Value m_isascii(Lang *l, Value self, const Args *args)
{
    args_count(l, "isascii", args, 0, 0);
    return v_bool(str_len(self.s) == (int64_t)self.s.len);
}

// ---- stripping -------------------------------------------------------------

static bool strips(Text set, bool blanks, Text t, size_t at, int n)
{
    if (blanks)
        return isspace((unsigned char)t.at[at]) != 0;
    return text_find(set, text_slice(t, at, at + (size_t)n), 0) >= 0;
}

static Text strip(Text t, Text set, bool blanks, bool left, bool right)
{
    size_t from = 0, to = t.len;
    int n;

    while (left && from < to) {
        str_point(t, from, &n);
        if (!strips(set, blanks, t, from, n))
            break;
        from += (size_t)n;
    }
    while (right && to > from) {
        size_t last = to - 1;

        while (last > from && ((unsigned char)t.at[last] & 0xc0) == 0x80)
            last--;
        if (!strips(set, blanks, t, last, (int)(to - last)))
            break;
        to = last;
    }
    return text_slice(t, from, to);
}

static Value strip_call(Lang *l, const char *name, Value self,
                        const Args *args, bool left, bool right)
{
    bool blanks = true;
    Text set = TEXT("");

    args_count(l, name, args, 0, 1);
    if (args->count && args->at[0].kind != VAL_NONE) {
        set = method_text(l, name, args->at[0], args->at_span);
        blanks = false;
    }
    self.s = strip(self.s, set, blanks, left, right);
    return self;
}

static Value m_strip(Lang *l, Value self, const Args *args)
{
    return strip_call(l, "strip", self, args, true, true);
}

static Value m_lstrip(Lang *l, Value self, const Args *args)
{
    return strip_call(l, "lstrip", self, args, true, false);
}

static Value m_rstrip(Lang *l, Value self, const Args *args)
{
    return strip_call(l, "rstrip", self, args, false, true);
}

static bool has_prefix(Text t, Text p)
{
    return t.len >= p.len && text_eq(text_slice(t, 0, p.len), p);
}

static bool has_suffix(Text t, Text p)
{
    return t.len >= p.len && text_eq(text_slice(t, t.len - p.len, t.len), p);
}

static Value m_removeprefix(Lang *l, Value self, const Args *args)
{
    Text p;

    args_count(l, "removeprefix", args, 1, 1);
    p = method_text(l, "removeprefix", args->at[0], args->at_span);
    return v_str(has_prefix(self.s, p)
                     ? text_slice(self.s, p.len, self.s.len) : self.s);
}

static Value m_removesuffix(Lang *l, Value self, const Args *args)
{
    Text p;

    args_count(l, "removesuffix", args, 1, 1);
    p = method_text(l, "removesuffix", args->at[0], args->at_span);
    return v_str(p.len && has_suffix(self.s, p)
                     ? text_slice(self.s, 0, self.s.len - p.len) : self.s);
}

// ---- searching -------------------------------------------------------------

// The part of self that the optional start and end name.
static Text window(Lang *l, Value self, const Args *args, int64_t *first)
{
    Value none = V_NONE, start = V_NONE, stop = V_NONE;
    SliceValue s = {.start = &start, .stop = &stop, .step = &none};
    SliceRange r;

    if (args->count > 1)
        start = args->at[1];
    if (args->count > 2)
        stop = args->at[2];
    r = slice_range(l, &s, str_len(self.s), args->at_span);
    *first = r.start;
    return text_slice(self.s, str_offset(self.s, r.start),
                      str_offset(self.s, r.stop < r.start ? r.start : r.stop));
}

// Does the start lie after the end? Then not even "" is found.
static bool beyond(Value self, const Args *args)
{
    int64_t from;

    return args->count > 1 && as_int(args->at[1], &from) &&
           from > str_len(self.s);
}

static int64_t search(Lang *l, const char *name, Value self, const Args *args,
                      bool last)
{
    int64_t first, at;
    Text part, t;

    args_count(l, name, args, 1, 3);
    part = method_text(l, name, args->at[0], args->at_span);
    t = window(l, self, args, &first);
    if (beyond(self, args))
        return -1;
    at = last ? text_rfind(t, part) : text_find(t, part, 0);
    return at < 0 ? -1 : first + str_len(text_slice(t, 0, (size_t)at));
}

static Value m_find(Lang *l, Value self, const Args *args)
{
    return v_int(search(l, "find", self, args, false));
}

static Value m_rfind(Lang *l, Value self, const Args *args)
{
    return v_int(search(l, "rfind", self, args, true));
}

static Value found(Lang *l, int64_t i, Span at)
{
    if (i < 0)
        lang_raise(l, "ValueError", at, "substring not found");
    return v_int(i);
}

static Value m_index(Lang *l, Value self, const Args *args)
{
    return found(l, search(l, "index", self, args, false), args->at_span);
}

static Value m_rindex(Lang *l, Value self, const Args *args)
{
    return found(l, search(l, "rindex", self, args, true), args->at_span);
}

static Value m_count(Lang *l, Value self, const Args *args)
{
    int64_t n = 0, first;
    Text part, t;

    args_count(l, "count", args, 1, 3);
    part = method_text(l, "count", args->at[0], args->at_span);
    t = window(l, self, args, &first);
    if (part.len == 0)
        return v_int(beyond(self, args) ? 0 : str_len(t) + 1);
    for (int64_t i = text_find(t, part, 0); i >= 0;
         i = text_find(t, part, (size_t)i + part.len))
        n++;
    return v_int(n);
}

static bool matches_any(Lang *l, const char *name, Text t, Value v,
                        bool at_end, Span at)
{
    if (v.kind == VAL_TUPLE) {
        for (int i = 0; i < v.list->len; i++)
            if (matches_any(l, name, t, v.list->at[i], at_end, at))
                return true;
        return false;
    }
    if (v.kind != VAL_STR)
        lang_raise(l, "TypeError", at, "%s first arg must be str or a tuple "
                   "of str, not %s", name, value_type_name(v));
    return at_end ? has_suffix(t, v.s) : has_prefix(t, v.s);
}

static Value m_startswith(Lang *l, Value self, const Args *args)
{
    int64_t first;

    args_count(l, "startswith", args, 1, 3);
    return v_bool(!beyond(self, args) &&
                  matches_any(l, "startswith",
                              window(l, self, args, &first), args->at[0],
                              false, args->at_span));
}

static Value m_endswith(Lang *l, Value self, const Args *args)
{
    int64_t first;

    args_count(l, "endswith", args, 1, 3);
    return v_bool(!beyond(self, args) &&
                  matches_any(l, "endswith",
                              window(l, self, args, &first), args->at[0],
                              true, args->at_span));
}

static Value m_encode(Lang *l, Value self, const Args *args)
{
    (void)l;
    (void)args;
    return (Value){.kind = VAL_BYTES, .s = self.s};
}

static Value m_decode(Lang *l, Value self, const Args *args)
{
    (void)l;
    (void)args;
    return v_str(self.s);
}

static Value m_bytes_hex(Lang *l, Value self, const Args *args)
{
    TextBuf b = {0};

    args_count(l, "hex", args, 0, 0);
    for (size_t i = 0; i < self.s.len; i++)
        buf_printf(&b, "%02x", (unsigned char)self.s.at[i]);
    return v_buf(l, &b);
}

const Method str_methods[] = {
    {"upper", m_upper}, {"lower", m_lower}, {"swapcase", m_swapcase},
    {"casefold", m_lower}, {"capitalize", m_capitalize}, {"title", m_title},
    {"isdigit", m_isdigit}, {"isdecimal", m_isdigit}, {"isnumeric", m_isdigit},
    {"isalpha", m_isalpha}, {"isalnum", m_isalnum}, {"isspace", m_isspace},
    {"isupper", m_isupper}, {"islower", m_islower},
    {"isidentifier", m_isidentifier}, {"isascii", m_isascii},
    {"strip", m_strip}, {"lstrip", m_lstrip}, {"rstrip", m_rstrip},
    {"removeprefix", m_removeprefix}, {"removesuffix", m_removesuffix},
    {"find", m_find}, {"rfind", m_rfind}, {"index", m_index},
    {"rindex", m_rindex}, {"count", m_count}, {"startswith", m_startswith},
    {"endswith", m_endswith}, {"encode", m_encode}, {"format", format_method},
    {"format_map", format_map_method}, {NULL, NULL},
};

const Method bytes_methods[] = {
    {"decode", m_decode}, {"hex", m_bytes_hex}, {NULL, NULL},
};
