// lex_name.c - names, keywords, and characters that have no place in a program.
#include "lang/lex_int.h"

#include <string.h>

typedef struct {
    int32_t first, last;
} Range;

// What Unicode lets a name begin with and go on with, beyond ASCII, and what
// of it has another character as its normal form NFKC.
static const Range name_start[] = {
#define NAME_START(first, last) {first, last},
#include "lang/unicode.def"
};

static const Range name_more[] = {
#define NAME_MORE(first, last) {first, last},
#include "lang/unicode.def"
};

static const Range not_normal[] = {
#define NOT_NORMAL(first, last) {first, last},
#include "lang/unicode.def"
};

static bool in_ranges(const Range *r, size_t n, int32_t point)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (point > r[mid].last)
            low = mid + 1;
        else
            high = mid;
    }
    return low < n && point >= r[low].first;
}

static bool is_ascii_name(int c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (!first && c >= '0' && c <= '9');
}

int lex_name_char(const Lexer *l, uint32_t at, bool first)
{
    int32_t point;
    int n;

    if (at >= l->len)
        return 0;
    if ((unsigned char)l->text[at] < 0x80)
        return is_ascii_name(l->text[at], first);
    n = utf8_decode((Text){l->text, l->len}, at, &point);
    if (in_ranges(name_start, countof(name_start), point) ||
        (!first && in_ranges(name_more, countof(name_more), point)))
        return n;
    return 0;
}

bool lex_at_name(const Lexer *l)
{
    return lex_name_char(l, l->at, true) > 0;
}

static TokenKind keyword(const Lexer *l, uint32_t begin, uint32_t len)
{
    int c = l->text[begin];
    int k = l->first_row[c & 0x7f];

    for (; k && k < TOK_COUNT && token_info[k].text[0] == c; k++)
        if (token_info[k].len == len &&
            !memcmp(token_info[k].text, l->text + begin, len))
            return (TokenKind)k;
    return TOK_NAME;
}

// Python compares names by their normal form. The one such name that
// keyboards make is the micro sign; the others have to be written normally.
static void check_normal(Lexer *l, uint32_t begin)
{
    Token *t = &l->out.at[l->out.len - 1];
    int32_t point;
    int n;

    for (uint32_t i = begin; i < l->at; i += (uint32_t)n) {
        n = utf8_decode((Text){l->text, l->len}, i, &point);
        if (!in_ranges(not_normal, countof(not_normal), point))
            continue;
        diag_error(l->diag, EXIT_LIMIT, lex_span(l, i, i + (uint32_t)n),
                   "syntax-name", "U+%04X in a name is not supported: Python "
                   "reads it as another character (its normal form NFKC); "
                   "write that one", (unsigned)point);
        l->line_bad = true;
        t->kind = TOK_ERROR;
        return;
    }
}

// "µ" (U+00B5) is read as "μ" (U+03BC).
static void replace_micro(Lexer *l)
{
    static const char micro[] = "\xc2\xb5";
    Token *t = &l->out.at[l->out.len - 1];
    char *copy = NULL;

    for (size_t i = 0; i + 1 < t->value.len; i++) {
        if (memcmp(t->value.at + i, micro, 2))
            continue;
        if (!copy)
            t->value.at = copy = (char *)text_cstr(l->arena, t->value);
        copy[i] = (char)0xce;
        copy[i + 1] = (char)0xbc;
    }
}

void lex_name(Lexer *l)
{
    uint32_t begin = l->at;
    bool ascii = true;
    int n;

    while ((n = lex_name_char(l, l->at, false))) {
        ascii &= n == 1;
        l->at += (uint32_t)n;
    }
    lex_push(l, ascii ? keyword(l, begin, l->at - begin) : TOK_NAME, begin,
             l->at);
    if (ascii)
        return;
    replace_micro(l);
    check_normal(l, begin);
}

// What to write instead of a character that is often pasted or brought along
// from other languages.
typedef struct {
    int32_t first, last;
    bool blank;                 // a message cannot show it
    const char *text;
} Advice;

static const Advice advices[] = {
    {'!', '!', false, "did you mean 'not'?"},
    {'?', '?', false, "a choice is written 'a if condition else b'"},
    {'`', '`', false, "strings are quoted with ' or \""},
    {0x00, 0x20, true, NULL},
    {0x7f, 0x9f, true, NULL},
    {0x00a0, 0x00a0, true, "it looks like a blank; write one"},
    {0x00d7, 0x00d7, false, "multiplication is written *"},
    {0x2000, 0x200a, true, "it looks like a blank; write one"},
    {0x200b, 0x200f, true, "it cannot be seen; delete it"},
    {0x2010, 0x2014, false, "a dash; minus is written -"},
    {0x2018, 0x201b, false, "a typographic quote; write '"},
    {0x201c, 0x201f, false, "a typographic quote; write \""},
    {0x202f, 0x202f, true, "it looks like a blank; write one"},
    {0x2060, 0x2060, true, "it cannot be seen; delete it"},
    {0x2212, 0x2212, false, "a dash; minus is written -"},
    {0x2260, 0x2260, false, "write !="},
    {0x2264, 0x2264, false, "write <="},
    {0x2265, 0x2265, false, "write >="},
    {0x3000, 0x3000, true, "it looks like a blank; write one"},
    {0xfeff, 0xfeff, true, "it cannot be seen; delete it"},
};

static Advice advice(int32_t point)
{
    for (size_t i = 0; i < countof(advices); i++)
        if (point >= advices[i].first && point <= advices[i].last)
            return advices[i];
    return (Advice){0};
}

static bool report_character(Lexer *l, Span at, int32_t point, bool blank)
{
    TextBuf b = {0};
    bool printed;

    if (blank)
        buf_printf(&b, "the character U+%04X", (unsigned)point);
    else
        buf_printf(&b, "'%.*s'", (int)(at.end - at.begin), l->text + at.begin);
    if (!blank && point >= 0x80)
        buf_printf(&b, " (U+%04X)", (unsigned)point);
    printed = lex_error(l, at, "syntax-character", "%.*s has no meaning here",
                        TEXT_ARG(buf_view(&b)));
    buf_release(&b);
    return printed;
}

void lex_bad_character(Lexer *l)
{
    int32_t point;
    uint32_t begin = l->at;
    int n = utf8_decode((Text){l->text, l->len}, begin, &point);
    Span at = lex_span(l, begin, begin + (uint32_t)n);
    Advice a = advice(point);

    l->at += (uint32_t)n;
    if (point <= 0)             // lex_check_encoding has reported it
        l->line_bad = true;
    else if (report_character(l, at, point, a.blank) && a.text)
        diag_note(l->diag, at, "%s", a.text);
    lex_push(l, TOK_ERROR, begin, l->at);
}

// The first byte that is not UTF-8, anywhere, is one error for the whole text.
void lex_check_encoding(Lexer *l)
{
    Text t = {l->text, l->len};
    int32_t point = 0;
    size_t i = 0;

    while (i < t.len) {
        unsigned char c = (unsigned char)t.at[i];
        int n = 1;

        if (c >= 0x80)
            n = utf8_decode(t, i, &point);
        if (point < 0 || !c)
            break;
        i += (size_t)n;
    }
    if (i == t.len)
        return;
    diag_error(l->diag, EXIT_PROGRAM, lex_span(l, (uint32_t)i, (uint32_t)i + 1),
               "syntax-encoding", "byte 0x%02x is not text in UTF-8",
               (unsigned char)t.at[i]);
}
