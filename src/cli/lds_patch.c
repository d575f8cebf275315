// lds_patch.c - advice as a changed source, and as a unified diff.
#include <string.h>

#include "cli/lds_advice.h"

// ---- changes ---------------------------------------------------------------

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (c >= '0' && c <= '9');
}

static bool has(Text t, size_t at, Text part)
{
    return at + part.len <= t.len && memcmp(t.at + at, part.at, part.len) == 0;
}

// The length of NAME=OLD at byte `at`, blanks around the sign allowed; 0: it is
// not there.
static size_t argument_at(Text t, size_t at, const LdsChange *c)
{
    size_t i = at + c->name.len;

    if (!has(t, at, c->name) || (at && is_word(t.at[at - 1])))
        return 0;
    while (i < t.len && t.at[i] == ' ')
        i++;
    if (i >= t.len || t.at[i] != '=' || has(t, i, TEXT("==")))
        return 0;
    i++;
    while (i < t.len && t.at[i] == ' ')
        i++;
    if (!has(t, i, c->from) || (i + c->from.len < t.len &&
                                is_word(t.at[i + c->from.len])))
        return 0;
    return i + c->from.len - at;
}

// Copies what a change replaces at byte `at`, replaced; its length, or 0.
static size_t replace(TextBuf *b, Text t, size_t at, const LdsChange *c)
{
    size_t n;

    if (c->kind != CHANGE_ARGUMENT) {
        bool here = c->kind == CHANGE_WORD ? at == c->at : has(t, at, c->from);

        if (!here)
            return 0;
        buf_text(b, c->to);
        return c->from.len;
    }
    n = argument_at(t, at, c);
    if (n) {
        buf_add(b, t.at + at, n - c->from.len);
        buf_text(b, c->to);
    }
    return n;
}

Text lds_patched(Arena *a, Text t, const LdsAdvice *advice)
{
    TextBuf b = {0};
    Text out;

    for (size_t i = 0, n; i < t.len; i += n) {
        n = 0;
        for (int c = 0; c < advice->count && !n; c++)
            n = replace(&b, t, i, &advice->change[c]);
        if (n)
            continue;
        buf_addc(&b, t.at[i]);
        n = 1;
    }
    out = text_copy(a, buf_view(&b));
    buf_release(&b);
    return out;
}

// ---- diff ------------------------------------------------------------------

enum { CONTEXT = 3 };

typedef struct {
    Text *at;
    int len, room;
} Lines;

static Lines lines_of(Arena *a, Text t)
{
    Lines l = {0};

    for (size_t i = 0, end; i < t.len; i = end) {
        const char *stop = memchr(t.at + i, '\n', t.len - i);
        end = stop ? (size_t)(stop - t.at) + 1 : t.len;
        vec_push(a, &l, text_slice(t, i, end));
    }
    return l;
}

static void put_line(TextBuf *b, char sign, Text line)
{
    buf_addc(b, sign);
    buf_text(b, line);
    if (!text_ends(line, "\n"))
        buf_puts(b, "\n\\ No newline at end of file\n");
}

// Lines [first, end) with the changes in them.
static void put_hunk(TextBuf *b, const Lines *x, const Lines *y, int first,
                     int end)
{
    buf_printf(b, "@@ -%d,%d +%d,%d @@\n", first + 1, end - first, first + 1,
               end - first);
    for (int i = first; i < end;) {
        int j = i;

        if (text_eq(x->at[i], y->at[i])) {
            put_line(b, ' ', x->at[i++]);
            continue;
        }
        while (j < end && !text_eq(x->at[j], y->at[j]))
            put_line(b, '-', x->at[j++]);
        for (; i < j; i++)
            put_line(b, '+', y->at[i]);
    }
}

void lds_diff(TextBuf *b, const char *path, Text from, Text to)
{
    Arena *a = arena_create();
    Lines x = lines_of(a, from), y = lines_of(a, to);

    if (x.len != y.len)
        BUG("lds_diff: %d lines became %d", x.len, y.len);
    buf_printf(b, "--- %s\n+++ %s\n", path, path);
    for (int i = 0; i < x.len; i++) {
        int first = i > CONTEXT ? i - CONTEXT : 0, last = i;

        if (text_eq(x.at[i], y.at[i]))
            continue;
        for (int j = i; j < x.len && j <= last + 2 * CONTEXT; j++)
            if (!text_eq(x.at[j], y.at[j]))
                last = j;
        i = last + CONTEXT < x.len ? last + CONTEXT : x.len - 1;
        put_hunk(b, &x, &y, first, i + 1);
    }
    arena_destroy(a);
}
