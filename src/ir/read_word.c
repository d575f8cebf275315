// read_word.c - words of the text form, and the reader's small steps.
#include <string.h>

#include "ir/text_int.h"

void *reader_fail(Reader *r, const char *format, ...)
{
    TextBuf b = {0};
    va_list args;
    va_start(args, format);
    buf_vprintf(&b, format, args);
    va_end(args);
    if (!r->failed)
        diag_error(r->diag, EXIT_PROGRAM, r->word.at, "ir-syntax", "%.*s",
                   TEXT_ARG(buf_view(&b)));
    buf_release(&b);
    r->failed = true;
    r->pos = r->text.len;
    r->word.kind = WORD_END;
    return NULL;
}

static int byte_at(const Reader *r, size_t i)
{
    return i < r->text.len ? (unsigned char)r->text.at[i] : -1;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_byte(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           is_digit(c) || c >= 0x80;
}

// name: letters and digits, in parts joined by dots
static size_t name_end(const Reader *r, size_t i)
{
    while (is_name_byte(byte_at(r, i)) ||
           (byte_at(r, i) == '.' && is_name_byte(byte_at(r, i + 1))))
        i++;
    return i;
}

// ---- numbers ----------------------------------------------------------------

static bool find_brief(Text name, DType *out)
{
    for (int t = 0; t < DT_COUNT; t++) {
        if (!text_is(name, dtype_info((DType)t)->brief))
            continue;
        *out = (DType)t;
        return true;
    }
    return false;
}

static size_t digits_end(const Reader *r, size_t i)
{
    while (is_digit(byte_at(r, i)))
        i++;
    return i;
}

static size_t float_end(const Reader *r, size_t i)
{
    i = digits_end(r, i);
    if (byte_at(r, i) == '.')
        i = digits_end(r, i + 1);
    if (byte_at(r, i) == 'e') {
        size_t sign = byte_at(r, i + 1) == '-' || byte_at(r, i + 1) == '+';
        i = digits_end(r, i + 1 + sign);
    }
    return i;
}

static bool take_uint(Text t, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < t.len; i++)
        if (__builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, (uint64_t)(t.at[i] - '0'), out))
            return false;
    return t.len > 0;
}

// number: digits ["." digits] ["e" [sign] digits] ["_" dtype]
static void number(Reader *r, size_t begin)
{
    size_t end = float_end(r, begin);
    Text digits = text_slice(r->text, begin, end);
    bool whole = end == digits_end(r, begin);
    r->word.kind = whole ? WORD_INT : WORD_FLOAT;
    r->word.suffix = DT_NONE;
    if (whole ? !take_uint(digits, &r->word.magnitude)
              : !text_to_f64(digits, &r->word.real)) {
        reader_fail(r, "this number is too large");
        return;
    }
    if (byte_at(r, end) == '_') {
        size_t from = end + 1;
        end = name_end(r, from);
        if (!find_brief(text_slice(r->text, from, end), &r->word.suffix))
            reader_fail(r, "unknown dtype at the end of a number");
    }
    if (!r->failed)
        r->pos = end;
}

// ---- strings ----------------------------------------------------------------

static int hex_digit(int c)
{
    if (is_digit(c))
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// The byte of the escape at i (behind the backslash), and where it ends.
static int escape(const Reader *r, size_t *i)
{
    int c = byte_at(r, (*i)++);
    if (c == '"' || c == '\\')
        return c;
    if (c == 'n')
        return '\n';
    int high = hex_digit(byte_at(r, *i)), low = hex_digit(byte_at(r, *i + 1));
    if (c != 'x' || high < 0 || low < 0)
        return -1;
    *i += 2;
    return high * 16 + low;
}

static void string(Reader *r, size_t i)
{
    TextBuf b = {0};
    int c;
    while ((c = byte_at(r, i++)) != '"') {
        c = c == '\\' ? escape(r, &i) : c == '\n' ? -1 : c;
        if (c < 0) {
            buf_release(&b);
            reader_fail(r, "this string is not closed or has a bad escape");
            return;
        }
        buf_addc(&b, (char)c);
    }
    r->word.kind = WORD_STRING;
    r->word.text = text_copy(r->arena, buf_view(&b));
    r->pos = i;
    buf_release(&b);
}

// ---- words ------------------------------------------------------------------

static void sign(Reader *r, size_t begin)
{
    static const char *const pairs[] = {
        "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "->", ":+", "@(",
    };
    size_t n = strchr("+-*/%&|^~<>=()[]{},:#", r->text.at[begin]) != NULL &&
               r->text.at[begin] != '\0';
    for (size_t i = 0; i < countof(pairs); i++)
        if (text_starts(text_slice(r->text, begin, r->text.len), pairs[i]))
            n = 2;
    if (!n) {
        reader_fail(r, "unexpected character");
        return;
    }
    r->word.kind = WORD_SIGN;
    r->word.text = text_slice(r->text, begin, begin + n);
    r->pos = begin + n;
}

void reader_next(Reader *r)
{
    size_t i = r->pos;
    if (r->failed)
        return;
    while (i < r->text.len && strchr(" \t\r\n", r->text.at[i]) && r->text.at[i])
        i++;
    int c = byte_at(r, i);
    r->word = (Word){.kind = WORD_END, .suffix = DT_NONE,
                     .at = {r->file, (uint32_t)i, (uint32_t)(i + (c >= 0))}};
    r->pos = i;
    if (c < 0)
        return;
    if (is_digit(c)) {
        number(r, i);
    } else if (is_name_byte(c)) {
        r->pos = name_end(r, i);
        r->word.kind = WORD_NAME;
        r->word.text = text_slice(r->text, i, r->pos);
    } else if (c == '"') {
        string(r, i + 1);
    } else {
        sign(r, i);
    }
    if (!r->failed)
        r->word.at.end = (uint32_t)r->pos;
}

bool reader_is(const Reader *r, const char *text)
{
    return (r->word.kind == WORD_NAME || r->word.kind == WORD_SIGN) &&
           text_is(r->word.text, text);
}

bool reader_take(Reader *r, const char *text)
{
    if (!reader_is(r, text))
        return false;
    reader_next(r);
    return true;
}

bool reader_need(Reader *r, const char *text)
{
    return reader_take(r, text) || reader_fail(r, "expected '%s'", text);
}

enum { READER_MAX_DEPTH = 2 * EXPR_MAX_DEPTH };

bool reader_enter(Reader *r)
{
    if (r->depth == READER_MAX_DEPTH)
        return reader_fail(r, "nested too deeply");
    r->depth++;
    return true;
}

void reader_leave(Reader *r)
{
    r->depth--;
}

Text reader_name(Reader *r)
{
    Text name = r->word.text;
    if (r->word.kind != WORD_NAME) {
        reader_fail(r, "expected a name");
        return (Text){0};
    }
    reader_next(r);
    return name;
}

Text reader_string(Reader *r)
{
    Text text = r->word.text;
    if (r->word.kind != WORD_STRING) {
        reader_fail(r, "expected a string");
        return (Text){0};
    }
    reader_next(r);
    return text;
}

bool reader_int(Reader *r, int64_t min, int64_t max, int64_t *out)
{
    bool negative = reader_take(r, "-");
    Wide v = negative ? -(Wide)r->word.magnitude : (Wide)r->word.magnitude;
    if (r->word.kind != WORD_INT || r->word.suffix != DT_NONE)
        return reader_fail(r, "expected an integer");
    if (v < min || v > max)
        return reader_fail(r, "this number is out of range");
    *out = (int64_t)v;
    reader_next(r);
    return true;
}

// The entity that the name ahead stands for, or NULL.
const Entity *reader_entity(const Reader *r)
{
    return r->word.kind == WORD_NAME ? map_get(&r->names, r->word.text) : NULL;
}

IrBuffer *reader_buffer(Reader *r)
{
    const Entity *e = reader_entity(r);
    if (!e || !e->buffer)
        return reader_fail(r, "expected the name of a buffer");
    reader_next(r);
    return e->buffer;
}

IrVar *reader_var(Reader *r)
{
    const Entity *e = reader_entity(r);
    if (!e || !e->var)
        return reader_fail(r, "expected the name of a variable");
    reader_next(r);
    return e->var;
}
