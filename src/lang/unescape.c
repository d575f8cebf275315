// unescape.c - the value of a string literal.
//
// str values are UTF-8; a lone surrogate, which Python allows, becomes the
// three bytes that UTF-8 would give it.
#include "lang/parse_int.h"

#include <string.h>

typedef struct {
    Parser *p;
    TextBuf *out;
    Text raw;
    size_t at;                  // behind the backslash
    Span span;
    Unescape how;
} Reader;

static void put_point(TextBuf *out, uint32_t v)
{
    if (v < 0x80) {
        buf_addc(out, (char)v);
        return;
    }
    if (v < 0x800) {
        buf_addc(out, (char)(0xc0 | v >> 6));
    } else {
        if (v < 0x10000) {
            buf_addc(out, (char)(0xe0 | v >> 12));
        } else {
            buf_addc(out, (char)(0xf0 | v >> 18));
            buf_addc(out, (char)(0x80 | (v >> 12 & 0x3f)));
        }
        buf_addc(out, (char)(0x80 | (v >> 6 & 0x3f)));
    }
    buf_addc(out, (char)(0x80 | (v & 0x3f)));
}

static void put_value(Reader *r, uint32_t v)
{
    if (r->how.bytes)
        buf_addc(r->out, (char)v);
    else
        put_point(r->out, v);
}

// The place of raw bytes [from, r->at).
static Span span_from(const Reader *r, size_t from)
{
    Span s = r->span;

    s.begin = r->span.begin + (uint32_t)from;
    s.end = r->span.begin + (uint32_t)r->at;
    return s;
}

static int digit_of(const Reader *r, int base)
{
    int c = r->at < r->raw.len ? (unsigned char)r->raw.at[r->at] : 0;
    int v = c >= '0' && c <= '9' ? c - '0'
          : c >= 'a' && c <= 'f' ? c - 'a' + 10
          : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;

    return v < base ? v : -1;
}

// Up to `most` digits; *count tells how many there were.
static uint32_t digits(Reader *r, int base, int most, int *count)
{
    uint32_t v = 0;
    int digit;

    for (*count = 0; *count < most; ++*count, r->at++) {
        digit = digit_of(r, base);
        if (digit < 0)
            break;
        v = v * (uint32_t)base + (uint32_t)digit;
    }
    return v;
}

static void octal(Reader *r, size_t from)
{
    int count;
    uint32_t v = digits(r, 8, 3, &count);

    if (v > 0xff)
        diag_warning(r->p->diag, span_from(r, from), "syntax-escape",
                     "the octal escape is above \\377");
    put_value(r, r->how.bytes ? v & 0xff : v);
}

static void hex(Reader *r, size_t from, char letter, int wanted)
{
    int count;
    uint32_t v = digits(r, 16, wanted, &count);

    if (count < wanted)
        parse_report(r->p, span_from(r, from), "syntax-escape", "expected %d "
                     "hexadecimal digits after '\\%c', found %d", wanted,
                     letter, count);
    else if (v > 0x10ffff)
        parse_report(r->p, span_from(r, from), "syntax-escape", "there is no "
                     "character beyond \\U0010ffff");
    else
        put_value(r, v);
}

// \N{GREEK SMALL LETTER ALPHA}: needs the table of all names.
static void named(Reader *r, size_t from)
{
    while (r->at < r->raw.len && r->raw.at[r->at - 1] != '}')
        r->at++;
    diag_error(r->p->diag, EXIT_LIMIT, span_from(r, from), "syntax-escape",
               "characters by name are not supported; write the character "
               "itself or \\uXXXX");
}

static int simple_escape(char c)
{
    static const char letters[] = "\\'\"abfnrtv";
    static const char values[] = "\\'\"\a\b\f\n\r\t\v";
    const char *at = c ? strchr(letters, c) : NULL;

    return at ? values[at - letters] : -1;
}

// Python keeps the backslash of an escape that it does not know.
static void unknown(Reader *r, size_t from)
{
    int32_t point;
    Span at = span_from(r, from);

    buf_addc(r->out, '\\');
    if (r->at == r->raw.len)
        return;
    at.end += (uint32_t)utf8_decode(r->raw, r->at, &point);
    diag_warning(r->p->diag, at, "syntax-escape", "'\\%.*s' is no escape "
                 "sequence; a backslash is written '\\\\'",
                 (int)(at.end - at.begin - 1), r->raw.at + r->at);
}

static void newline(Reader *r)
{
    r->at += r->raw.at[r->at] == '\r' && r->at + 1 < r->raw.len &&
             r->raw.at[r->at + 1] == '\n';
    r->at++;
}

// r->at is behind the backslash at `from`.
static void escape(Reader *r, size_t from)
{
    char c = r->at < r->raw.len ? r->raw.at[r->at] : 0;
    int simple = simple_escape(c);

    if (r->at == r->raw.len) {
        unknown(r, from);
    } else if (c == '\n' || c == '\r') {
        newline(r);
    } else if (simple >= 0) {
        r->at++;
        buf_addc(r->out, (char)simple);
    } else if (c >= '0' && c <= '7') {
        octal(r, from);
    } else if (c == 'x') {
        r->at++;
        hex(r, from, c, 2);
    } else if ((c == 'u' || c == 'U') && !r->how.bytes) {
        r->at++;
        hex(r, from, c, c == 'u' ? 4 : 8);
    } else if (c == 'N' && !r->how.bytes) {
        r->at++;
        named(r, from);
    } else {
        unknown(r, from);
    }
}

// How many bytes from r->at on stand for themselves.
static size_t plain_run(const Reader *r)
{
    size_t i = r->at;

    for (; i < r->raw.len; i++) {
        char c = r->raw.at[i];

        if (c == '\r' || (c == '\\' && !r->how.raw) ||
            ((c == '{' || c == '}') && r->how.braces))
            break;
    }
    return i - r->at;
}

static void special(Reader *r)
{
    size_t from = r->at++;
    char c = r->raw.at[from];

    if (c == '\\') {
        escape(r, from);
    } else if (c == '\r') {
        r->at--;
        newline(r);
        buf_addc(r->out, '\n');
    } else {
        buf_addc(r->out, c);
        r->at += r->at < r->raw.len && r->raw.at[r->at] == c;
    }
}

void parse_unescape(Parser *p, TextBuf *out, Text raw, Span at, Unescape how)
{
    Reader r = {.p = p, .out = out, .raw = raw, .span = at, .how = how};

    while (r.at < raw.len) {
        size_t n = plain_run(&r);

        buf_add(out, raw.at + r.at, n);
        r.at += n;
        if (r.at < raw.len)
            special(&r);
    }
}
