// text_value.c - str as Python sees it: a sequence of code points.
#define _GNU_SOURCE                             // memmem
#include <string.h>

#include "lang/eval_int.h"

static bool is_ascii(Text t)
{
    for (size_t i = 0; i < t.len; i++)
        if ((unsigned char)t.at[i] >= 0x80)
            return false;
    return true;
}

static bool begins_point(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

int64_t str_len(Text t)
{
    int64_t n = 0;

    for (size_t i = 0; i < t.len; i++)
        n += begins_point(t.at[i]);
    return n;
}

size_t str_offset(Text t, int64_t i)
{
    size_t at = 0;

    if (is_ascii(t))
        return (size_t)i < t.len ? (size_t)i : t.len;
    while (at < t.len && i > 0) {
        at++;
        while (at < t.len && !begins_point(t.at[at]))
            at++;
        i--;
    }
    return at;
}

static Text point_at(Text t, size_t at)
{
    size_t end = at + 1;

    while (end < t.len && !begins_point(t.at[end]))
        end++;
    return text_slice(t, at, end);
}

Value str_index(Lang *l, Text t, int64_t i)
{
    (void)l;
    return v_str(point_at(t, str_offset(t, i)));
}

Value str_slice(Lang *l, Text t, const SliceValue *s, Span at)
{
    SliceRange r = slice_range(l, s, str_len(t), at);
    TextBuf b = {0};

    if (r.step == 1 || r.count == 0)
        return v_str(r.count ? text_slice(t, str_offset(t, r.start),
                                          str_offset(t, r.stop))
                             : TEXT(""));
    for (int64_t i = 0; i < r.count; i++)
        buf_text(&b, point_at(t, str_offset(t, r.start + i * r.step)));
    return v_buf(l, &b);
}

// The code point at byte `at`; a stray byte is itself.
int32_t str_point(Text t, size_t at, int *bytes)
{
    unsigned char c = (unsigned char)t.at[at];
    int n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    int32_t point = n == 1 ? c : c & (0x7f >> n);

    *bytes = 1;
    if (at + (size_t)n > t.len || c >= 0xf8 || (c >= 0x80 && c < 0xc0))
        return c;
    for (int i = 1; i < n; i++)
        point = point << 6 | ((unsigned char)t.at[at + (size_t)i] & 0x3f);
    *bytes = n;
    return point;
}

// ---- case ------------------------------------------------------------------

// Upper letters [first, last] whose lower ones lie `gap` further; with gap 1
// they take turns.
static const struct {
    int32_t first, last, gap;
} cases[] = {
    {'A', 'Z', 32},         {0xc0, 0xd6, 32},     {0xd8, 0xde, 32},
    {0x100, 0x12e, 1},      {0x132, 0x136, 1},    {0x139, 0x147, 1},
    {0x14a, 0x176, 1},      {0x391, 0x3a1, 32},   {0x3a3, 0x3a9, 32},
    {0x400, 0x40f, 80},     {0x410, 0x42f, 32},
};

int32_t point_lower(int32_t p)
{
    for (size_t i = 0; i < countof(cases); i++)
        if (p >= cases[i].first && p <= cases[i].last &&
            (cases[i].gap > 1 || (p - cases[i].first) % 2 == 0))
            return p + cases[i].gap;
    return p;
}

int32_t point_upper(int32_t p)
{
    for (size_t i = 0; i < countof(cases); i++) {
        int32_t u = p - cases[i].gap;

        if (u >= cases[i].first && u <= cases[i].last &&
            (cases[i].gap > 1 || (u - cases[i].first) % 2 == 0))
            return u;
    }
    return p;
}

void str_append_point(TextBuf *b, int32_t p)
{
    if (p < 0x80) {
        buf_addc(b, (char)p);
        return;
    }
    if (p >= 0x10000) {
        buf_addc(b, (char)(0xf0 | p >> 18));
        buf_addc(b, (char)(0x80 | (p >> 12 & 0x3f)));
    } else if (p >= 0x800) {
        buf_addc(b, (char)(0xe0 | p >> 12));
    }
    buf_addc(b, p < 0x800 ? (char)(0xc0 | p >> 6)
                          : (char)(0x80 | (p >> 6 & 0x3f)));
    buf_addc(b, (char)(0x80 | (p & 0x3f)));
}

// ---- repr ------------------------------------------------------------------

static bool printable(int32_t p)
{
    if (p < 0x7f)
        return p >= 0x20;
    if (p < 0xa1 || p == 0xad || (p >= 0x2000 && p <= 0x200f) ||
        (p >= 0x2028 && p <= 0x202f) || (p >= 0x205f && p <= 0x206f))
        return false;
    return !(p >= 0xd800 && p <= 0xf8ff) && p != 0x3000 && p != 0xfeff &&
           p < 0x323b0;                         // no letters beyond
}

static void put_escaped(TextBuf *out, int32_t p)
{
    if (p == '\n' || p == '\r' || p == '\t')
        buf_printf(out, "\\%c", p == '\n' ? 'n' : p == '\r' ? 'r' : 't');
    else if (p < 0x100)
        buf_printf(out, "\\x%02x", (unsigned)p);
    else if (p < 0x10000)
        buf_printf(out, "\\u%04x", (unsigned)p);
    else
        buf_printf(out, "\\U%08x", (unsigned)p);
}

static char quote_for(Text t)
{
    bool one = t.len && memchr(t.at, '\'', t.len);
    bool two = t.len && memchr(t.at, '"', t.len);

    return one && !two ? '"' : '\'';
}

void str_repr(TextBuf *out, Text t)
{
    char quote = quote_for(t);
    int n;

    buf_addc(out, quote);
    for (size_t i = 0; i < t.len; i += (size_t)n) {
        int32_t p = str_point(t, i, &n);

        if (p == quote || p == '\\')
            buf_printf(out, "\\%c", (char)p);
        else if (printable(p))
            buf_add(out, t.at + i, (size_t)n);
        else
            put_escaped(out, p);
    }
    buf_addc(out, quote);
}

void bytes_repr(TextBuf *out, Text t)
{
    char quote = quote_for(t);

    buf_printf(out, "b%c", quote);
    for (size_t i = 0; i < t.len; i++) {
        unsigned char c = (unsigned char)t.at[i];

        if (c == quote || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c >= 0x20 && c < 0x7f)
            buf_addc(out, (char)c);
        else
            put_escaped(out, c);
    }
    buf_addc(out, quote);
}

// ---- building --------------------------------------------------------------

static void check_size(Lang *l, size_t a, size_t b, Span at)
{
    if (a + b > MOST_TEXT)
        lang_raise(l, "MemoryError", at,
                   "a str of %zu bytes is too large (at most %d)", a + b,
                   MOST_TEXT);
}

Value str_concat(Lang *l, Text a, Text b, Span at)
{
    char *out;

    if (!a.len || !b.len)
        return v_str(a.len ? a : b);
    check_size(l, a.len, b.len, at);
    out = arena_alloc(l->options.arena, a.len + b.len + 1, 1);
    memcpy(out, a.at, a.len);
    memcpy(out + a.len, b.at, b.len);
    return v_str((Text){out, a.len + b.len});
}

Value str_repeat(Lang *l, Text t, int64_t n, Span at)
{
    char *out;

    if (n <= 0 || !t.len)
        return v_str(TEXT(""));
    if ((uint64_t)n > MOST_TEXT / t.len)
        lang_raise(l, "MemoryError", at, "a str of %zu x %lld bytes is too "
                   "large (at most %d)", t.len, (long long)n, MOST_TEXT);
    out = arena_alloc(l->options.arena, t.len * (size_t)n + 1, 1);
    for (int64_t i = 0; i < n; i++)
        memcpy(out + (size_t)i * t.len, t.at, t.len);
    return v_str((Text){out, t.len * (size_t)n});
}

int64_t text_find(Text t, Text part, size_t from)
{
    const char *hit;

    if (part.len == 0)
        return from <= t.len ? (int64_t)from : -1;
    if (from > t.len || !t.len)
        return -1;
    hit = memmem(t.at + from, t.len - from, part.at, part.len);
    return hit ? hit - t.at : -1;
}

int64_t text_rfind(Text t, Text part)
{
    for (size_t i = t.len + 1; part.len <= t.len && i-- > 0;)
        if (i + part.len <= t.len &&
            (!part.len || memcmp(t.at + i, part.at, part.len) == 0))
            return (int64_t)i;
    return -1;
}
