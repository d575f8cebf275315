// text.c - length-counted text.
#include "support/support.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "support/support_int.h"

Text text_of(const char *cstr)
{
    return (Text){cstr, cstr ? strlen(cstr) : 0};
}

bool text_eq(Text a, Text b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

bool text_is(Text a, const char *cstr)
{
    return text_eq(a, text_of(cstr));
}

int text_compare(Text a, Text b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.at, b.at, n) : 0;

    return order ? order : (a.len > b.len) - (a.len < b.len);
}

bool text_starts(Text a, const char *prefix)
{
    size_t n = strlen(prefix);

    return a.len >= n && text_is((Text){a.at, n}, prefix);
}

bool text_ends(Text a, const char *suffix)
{
    size_t n = strlen(suffix);

    return a.len >= n && text_is((Text){a.at + a.len - n, n}, suffix);
}

Text text_slice(Text t, size_t from, size_t to)
{
    if (to > t.len)
        to = t.len;
    if (from > to)
        from = to;
    return (Text){t.at ? t.at + from : t.at, to - from};
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

Text text_trim(Text t)
{
    while (t.len && is_blank(t.at[t.len - 1]))
        t.len--;
    while (t.len && is_blank(t.at[0])) {
        t.at++;
        t.len--;
    }
    return t;
}

Text text_copy(Arena *a, Text t)
{
    char *at = arena_alloc(a, t.len + 1, 1);

    if (t.len)
        memcpy(at, t.at, t.len);
    return (Text){at, t.len};
}

const char *text_cstr(Arena *a, Text t)
{
    return text_copy(a, t).at;
}

Text text_format(Arena *a, const char *format, ...)
{
    va_list args;
    int len;
    char *at;

    va_start(args, format);
    len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0)
        BUG("text_format: cannot format '%s'", format);
    at = arena_alloc(a, (size_t)len + 1, 1);
    va_start(args, format);
    vsnprintf(at, (size_t)len + 1, format, args);
    va_end(args);
    return (Text){at, (size_t)len};
}

bool text_to_i64(Text t, int64_t *out)
{
    bool negative = t.len && t.at[0] == '-';
    size_t i = t.len && (t.at[0] == '-' || t.at[0] == '+');
    int64_t v = 0;

    if (i == t.len)
        return false;
    for (; i < t.len; i++) {
        int digit = t.at[i] - '0';

        if (digit < 0 || digit > 9 || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, negative ? -digit : digit, &v))
            return false;
    }
    *out = v;
    return true;
}

// Only what a decimal number, "inf" and "nan" are written with.
static bool looks_like_number(Text t)
{
    for (size_t i = 0; i < t.len; i++)
        if (!memchr("0123456789+-.eEinfatyINFATY", t.at[i], 27))
            return false;
    return t.len > 0;
}

bool text_to_f64(Text t, double *out)
{
    char small[64], *copy = small, *end;
    bool whole;

    if (!looks_like_number(t))
        return false;
    if (t.len >= sizeof small)
        copy = xmalloc(t.len + 1);
    memcpy(copy, t.at, t.len);
    copy[t.len] = 0;
    *out = strtod(copy, &end);
    whole = end == copy + t.len;
    if (copy != small)
        free(copy);
    return whole;
}

static int min3(int a, int b, int c)
{
    int m = a < b ? a : b;

    return m < c ? m : c;
}

// Insertions, deletions, replacements and exchanges of neighbours. Names are
// short; of texts beyond MAX_NAME nothing is a near miss.
int text_distance(Text a, Text b)
{
    enum { MAX_NAME = 63 };
    int row[3][MAX_NAME + 1], *before = row[0], *last = row[1], *now = row[2];

    if (a.len > MAX_NAME || b.len > MAX_NAME)
        return (int)(a.len > b.len ? a.len : b.len);
    for (size_t j = 0; j <= b.len; j++)
        last[j] = (int)j;
    for (size_t i = 1; i <= a.len; i++) {
        int *free_row = before;

        now[0] = (int)i;
        for (size_t j = 1; j <= b.len; j++) {
            bool same = a.at[i - 1] == b.at[j - 1];

            now[j] = min3(last[j] + 1, now[j - 1] + 1, last[j - 1] + !same);
            if (i > 1 && j > 1 && a.at[i - 1] == b.at[j - 2] &&
                a.at[i - 2] == b.at[j - 1] && before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }
        before = last;
        last = now;
        now = free_row;
    }
    return last[b.len];
}

void near_try(NearWord *n, Text word)
{
    size_t len = n->name.len;
    int limit = len < 6 ? 1 : len < 12 ? 2 : 3;
    bool same = word.len == len && strncasecmp(word.at, n->name.at, len) == 0;
    int d = same ? 0 : text_distance(word, n->name);

    if (d <= limit && (same || d < (int)len) &&
        (!n->word.len || d < n->distance)) {
        n->word = word;
        n->distance = d;
    }
}

// FNV-1a with a closing mix, so that the low bits may pick a slot.
uint64_t text_hash(Text t)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (size_t i = 0; i < t.len; i++)
        h = (h ^ (unsigned char)t.at[i]) * 0x100000001b3u;
    h ^= h >> 32;
    return h * 0x9e3779b97f4a7c15u;
}

// The code point at `i` and how many bytes it takes; a byte that is not UTF-8
// comes back as code point -1 of one byte.
int utf8_decode(Text t, size_t i, int32_t *point)
{
    const unsigned char *s = (const unsigned char *)t.at + i;
    size_t left = t.len - i;
    int n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2
          : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    int32_t v = n == 1 ? s[0] : s[0] & (0x7f >> n);

    *point = -1;
    if (n == 0 || left < (size_t)n)
        return 1;
    for (int k = 1; k < n; k++) {
        if ((s[k] & 0xc0) != 0x80)
            return 1;
        v = v << 6 | (s[k] & 0x3f);
    }
    if ((n == 3 && v < 0x800) || (n == 4 && v < 0x10000) || v > 0x10ffff ||
        (v >= 0xd800 && v <= 0xdfff))
        return 1;
    *point = v;
    return n;
}

typedef struct {
    int32_t first, last;
} Range;

// Marks that stand on the character before them, and joiners.
static const Range no_column[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x064b, 0x065f},
    {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x20d0, 0x20ff},
    {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff},
};

// East Asian wide and fullwidth characters, pictographs.
static const Range two_columns[] = {
    {0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0x4dbf}, {0x4e00, 0xa4cf},
    {0xa960, 0xa97f}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f},
    {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};

static bool in_ranges(int32_t point, const Range *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (point >= r[i].first && point <= r[i].last)
            return true;
    return false;
}

int utf8_columns(int32_t point)
{
    if (point < 0x300)
        return 1;
    if (in_ranges(point, no_column, countof(no_column)))
        return 0;
    return in_ranges(point, two_columns, countof(two_columns)) ? 2 : 1;
}

int text_width(Text t)
{
    int width = 0;
    int32_t point;

    for (size_t i = 0; i < t.len;) {
        i += (size_t)utf8_decode(t, i, &point);
        width += utf8_columns(point);
    }
    return width;
}
