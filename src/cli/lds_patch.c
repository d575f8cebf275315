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

// ---- layouts ---------------------------------------------------------------

typedef struct {
    size_t at, length;                  // what is replaced
    Text text;
} Edit;

typedef struct {
    Arena *arena;
    Text source;
    struct {
        Edit *at;
        int len, room;
    } edits;
} Edits;

// The end of the bracket that opens at byte `i`, after it; quotes are skipped.
static size_t closing(Text t, size_t i)
{
    int depth = 0;

    for (; i < t.len; i++) {
        char c = t.at[i];

        if (c == '"' || c == '\'') {
            for (i++; i < t.len && t.at[i] != c && t.at[i] != '\n'; i++)
                i += t.at[i] == '\\';
            continue;
        }
        depth += (c == '(' || c == '[' || c == '{') -
                 (c == ')' || c == ']' || c == '}');
        if (depth == 0 && (c == ')' || c == ']' || c == '}'))
            return i + 1;
    }
    return t.len;
}

// Past the line break that ends the statement with byte `i` in it.
static size_t statement_end(Text t, size_t i)
{
    while (i < t.len && t.at[i] != '\n')
        i = t.at[i] == '(' || t.at[i] == '[' ? closing(t, i) : i + 1;
    return i < t.len ? i + 1 : i;
}

static Text indent_of(Text t, size_t i)
{
    size_t begin = i, end;

    while (begin && t.at[begin - 1] != '\n')
        begin--;
    for (end = begin; end < t.len && (t.at[end] == ' ' || t.at[end] == '\t');)
        end++;
    return text_slice(t, begin, end);
}

// The value of `name` in the dict of the first annotate_layout behind `from`.
static bool find_value(Text t, size_t from, Text name, Edit *out)
{
    static const char word[] = "annotate_layout(";
    size_t i = from, end;

    while (i < t.len && !has(t, i, text_of(word)))
        i++;
    if (i == t.len)
        return false;
    i += sizeof word - 2;
    end = closing(t, i);
    for (; i < end; i++) {
        size_t j = i + name.len;

        if (!has(t, i, name) || is_word(t.at[i - 1]))
            continue;
        while (j < end && t.at[j] == ' ')
            j++;
        if (j == end || t.at[j] != ':')
            continue;
        for (j++; t.at[j] == ' ';)
            j++;
        out->at = j;
        while (j < end && t.at[j] != ',' && t.at[j] != '}')
            j = t.at[j] == '(' || t.at[j] == '[' ? closing(t, j) : j + 1;
        out->length = j - out->at;
        return true;
    }
    return false;
}

static void add_layout(Edits *e, const LdsLayout *l)
{
    size_t at = l->buffer->at.begin;
    Edit edit = {0};
    TextBuf b = {0};

    if (l->buffer->layout && find_value(e->source, at, l->buffer->name, &edit)) {
        lds_layout_value(&b, l);
    } else {
        edit = (Edit){.at = statement_end(e->source, at)};
        buf_text(&b, indent_of(e->source, at));
        lds_layout_line(&b, l);
        buf_addc(&b, '\n');
    }
    edit.text = text_copy(e->arena, buf_view(&b));
    buf_release(&b);
    vec_push(e->arena, &e->edits, edit);
}

static bool is_import(Text t, size_t i)
{
    return (!i || t.at[i - 1] == '\n') &&
           (has(t, i, TEXT("import ")) || has(t, i, TEXT("from ")));
}

// What swizzles are named by.
static void need_tilelang(Edits *e)
{
    Text t = e->source;
    size_t first = t.len;

    for (size_t i = t.len; i--;) {
        if (!is_import(t, i))
            continue;
        first = i;
        if (has(t, i, TEXT("import tilelang\n")))
            return;
    }
    Edit edit = {first == t.len ? 0 : first, 0, TEXT("import tilelang\n")};
    vec_push(e->arena, &e->edits, edit);
}

static Text applied(const Edits *e)
{
    TextBuf b = {0};
    Text out;

    for (size_t i = 0; i <= e->source.len; i++) {
        size_t skipped = 0;

        for (int k = 0; k < e->edits.len; k++)
            if (e->edits.at[k].at == i) {
                buf_text(&b, e->edits.at[k].text);
                skipped += e->edits.at[k].length;
            }
        if (skipped)
            i += skipped - 1;
        else if (i < e->source.len)
            buf_addc(&b, e->source.at[i]);
    }
    out = text_copy(e->arena, buf_view(&b));
    buf_release(&b);
    return out;
}

Text lds_patched_layouts(Arena *a, Text source, const LdsLayout *l, int count)
{
    Edits e = {.arena = a, .source = source};
    bool named = false;

    for (int i = 0; i < count; i++) {
        add_layout(&e, &l[i]);
        named |= !l[i].pitch;
    }
    if (named)
        need_tilelang(&e);
    return applied(&e);
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

// A line of the diff: ' ', '-' or '+'.
typedef struct {
    char sign;
    Text text;
} DiffLine;

typedef struct {
    DiffLine *at;
    int len, room;
} Diff;

// How many lines of y come new before line i of x.
static int new_lines(const Lines *x, const Lines *y, int i, int j)
{
    int left = (y->len - j) - (x->len - i);

    for (int n = 1; n <= left; n++)
        if (text_eq(x->at[i], y->at[j + n]))
            return n;
    return 0;
}

static Diff diff_of(Arena *a, const Lines *x, const Lines *y)
{
    Diff d = {0};
    int j = 0;

    for (int i = 0; i < x->len; i++) {
        bool same = j < y->len && text_eq(x->at[i], y->at[j]);

        for (int n = same ? 0 : new_lines(x, y, i, j); n; n--)
            vec_push(a, &d, ((DiffLine){'+', y->at[j++]}));
        same = j < y->len && text_eq(x->at[i], y->at[j]);
        vec_push(a, &d, ((DiffLine){same ? ' ' : '-', x->at[i]}));
        if (!same && j < y->len)
            vec_push(a, &d, ((DiffLine){'+', y->at[j]}));
        j++;
    }
    while (j < y->len)
        vec_push(a, &d, ((DiffLine){'+', y->at[j++]}));
    return d;
}

static void put_line(TextBuf *b, const DiffLine *l)
{
    buf_addc(b, l->sign);
    buf_text(b, l->text);
    if (!text_ends(l->text, "\n"))
        buf_puts(b, "\n\\ No newline at end of file\n");
}

// Lines [first, end) with the changes in them: those that go before those that
// come.
static void put_hunk(TextBuf *b, const Diff *d, int first, int end)
{
    int before[2] = {0}, count[2] = {0};    // lines of x, of y

    for (int i = 0; i < end; i++)
        for (int side = 0; side < 2; side++)
            if (d->at[i].sign != "+-"[side])
                ++*(i < first ? &before[side] : &count[side]);
    buf_printf(b, "@@ -%d,%d +%d,%d @@\n", before[0] + 1, count[0],
               before[1] + 1, count[1]);
    for (int i = first; i < end;) {
        int j = i;

        while (j < end && d->at[j].sign != ' ')
            j++;
        for (int k = i; k < j; k++)
            if (d->at[k].sign == '-')
                put_line(b, &d->at[k]);
        for (int k = i; k < j; k++)
            if (d->at[k].sign == '+')
                put_line(b, &d->at[k]);
        if (j < end)
            put_line(b, &d->at[j++]);
        i = j;
    }
}

void lds_diff(TextBuf *b, const char *path, Text from, Text to)
{
    Arena *a = arena_create();
    Lines x = lines_of(a, from), y = lines_of(a, to);
    Diff d = diff_of(a, &x, &y);

    if (x.len > y.len)
        BUG("lds_diff: %d lines became %d", x.len, y.len);
    buf_printf(b, "--- %s\n+++ %s\n", path, path);
    for (int i = 0; i < d.len; i++) {
        int first = i > CONTEXT ? i - CONTEXT : 0, last = i;

        if (d.at[i].sign == ' ')
            continue;
        for (int j = i; j < d.len && j <= last + 2 * CONTEXT; j++)
            if (d.at[j].sign != ' ')
                last = j;
        i = last + CONTEXT < d.len ? last + CONTEXT : d.len - 1;
        put_hunk(b, &d, first, i + 1);
    }
    arena_destroy(a);
}
