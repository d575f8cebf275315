// lex_number.c - numeric literals: their extent and their value.
#include "lang/lex_int.h"

#include <math.h>

static int digit_value(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'Z' ? c - 'A' + 10 : 99;
}

static bool is_digit(int c, int base)
{
    return c >= 0 && digit_value(c) < base;
}

// digits = digit ('_'? digit)*; false: none is there, or a '_' has no digit
// behind it.
static bool skip_digits(Lexer *l, int base)
{
    if (!is_digit(lex_peek(l, 0), base))
        return false;
    for (;;) {
        while (is_digit(lex_peek(l, 0), base))
            l->at++;
        if (lex_peek(l, 0) != '_')
            return true;
        l->at++;
        if (!is_digit(lex_peek(l, 0), base))
            return false;
    }
}

static const char *base_name(int base)
{
    return base == 16 ? "hexadecimal" : base == 8 ? "octal"
         : base == 2 ? "binary" : "decimal";
}

static int base_of(int letter)
{
    return letter == 'x' || letter == 'X' ? 16
         : letter == 'o' || letter == 'O' ? 8
         : letter == 'b' || letter == 'B' ? 2 : 0;
}

static void skip_word(Lexer *l)
{
    int n;

    while ((n = lex_name_char(l, l->at, false)))
        l->at += (uint32_t)n;
}

static void bad_number(Lexer *l, uint32_t begin, const char *why)
{
    skip_word(l);
    lex_error(l, lex_span(l, begin, l->at), "syntax-number", "%s", why);
    lex_push(l, TOK_ERROR, begin, l->at);
}

static void bad_digit(Lexer *l, uint32_t begin, int base)
{
    int c = lex_peek(l, 0);

    if (c >= '0' && c <= '9')
        bad_number(l, begin, text_cstr(l->arena, text_format(
            l->arena, "'%c' is not a digit of a%s %s number", c,
            base == 8 ? "n" : "", base_name(base))));
    else
        bad_number(l, begin, text_cstr(l->arena, text_format(
            l->arena, "invalid %s number: expected a digit after '%c'",
            base_name(base), l->text[l->at - 1])));
}

// A few words may follow a number without a blank: `1if x else 2`.
static bool word_may_follow(const Lexer *l)
{
    static const TokenKind words[] = {TOK_AND, TOK_ELSE, TOK_FOR, TOK_IF,
                                      TOK_IN, TOK_IS, TOK_NOT, TOK_OR};
    Text rest = {l->text + l->at, l->len - l->at};

    for (size_t i = 0; i < countof(words); i++)
        if (text_starts(rest, token_info[words[i]].text))
            return true;
    return false;
}

static void end_number(Lexer *l, uint32_t begin, int base)
{
    int c = lex_peek(l, 0);

    if (base != 10 && c >= '0' && c <= '9')
        bad_digit(l, begin, base);
    else if (lex_name_char(l, l->at, false) && !word_may_follow(l))
        bad_number(l, begin, text_cstr(l->arena, text_format(
            l->arena, "a %s number cannot be followed by a name without a "
            "blank between", base_name(base))));
    else
        lex_push(l, TOK_NUMBER, begin, l->at);
}

static void based_number(Lexer *l, int base)
{
    uint32_t begin = l->at;

    l->at += 2;
    if (lex_peek(l, 0) == '_')
        l->at++;
    if (skip_digits(l, base))
        end_number(l, begin, base);
    else
        bad_digit(l, begin, base);
}

static bool at_exponent(const Lexer *l)
{
    uint32_t k = 1;

    if (lex_peek(l, 0) != 'e' && lex_peek(l, 0) != 'E')
        return false;
    k += lex_peek(l, 1) == '+' || lex_peek(l, 1) == '-';
    return is_digit(lex_peek(l, k), 10);
}

static bool skip_exponent(Lexer *l)
{
    l->at++;
    l->at += !is_digit(lex_peek(l, 0), 10);
    return skip_digits(l, 10);
}

// [digits] ['.' [digits]] [exponent]; *is_int: neither '.' nor exponent.
static bool skip_decimal(Lexer *l, bool *is_int)
{
    *is_int = true;
    if (is_digit(lex_peek(l, 0), 10) && !skip_digits(l, 10))
        return false;
    if (lex_peek(l, 0) == '.') {
        *is_int = false;
        l->at++;
        if (is_digit(lex_peek(l, 0), 10) && !skip_digits(l, 10))
            return false;
    }
    if (!at_exponent(l))
        return true;
    *is_int = false;
    return skip_exponent(l);
}

// 012 was octal in Python 2; 00 and 0_0 are zero.
static bool leading_zeros(const Lexer *l, uint32_t begin)
{
    if (l->text[begin] != '0')
        return false;
    for (uint32_t i = begin; i < l->at; i++)
        if (l->text[i] != '0' && l->text[i] != '_')
            return true;
    return false;
}

void lex_number(Lexer *l)
{
    uint32_t begin = l->at;
    int base = lex_peek(l, 0) == '0' ? base_of(lex_peek(l, 1)) : 0;
    bool is_int, imaginary;

    if (base) {
        based_number(l, base);
        return;
    }
    if (!skip_decimal(l, &is_int)) {
        bad_digit(l, begin, 10);
        return;
    }
    imaginary = lex_peek(l, 0) == 'j' || lex_peek(l, 0) == 'J';
    l->at += imaginary;
    if (is_int && !imaginary && leading_zeros(l, begin))
        bad_number(l, begin, "a decimal number cannot begin with 0; an octal "
                   "one begins with 0o");
    else
        end_number(l, begin, 10);
}

// The digits without '_' and the 'j' of an imaginary number.
static Text plain_digits(Arena *a, Text t)
{
    char *out = new_array(a, char, t.len + 1);
    size_t n = 0;

    for (size_t i = 0; i < t.len; i++)
        if (t.at[i] != '_')
            out[n++] = t.at[i];
    return (Text){out, n};
}

static void decode_int(Text t, int base, Ast *number)
{
    uint64_t v = 0;

    for (size_t i = 0; i < t.len; i++) {
        int digit = digit_value((unsigned char)t.at[i]);

        number->f64 = number->f64 * base + digit;
        if (v > (uint64_t)(INT64_MAX - digit) / (uint64_t)base)
            number->big = true;
        else
            v = v * (uint64_t)base + (uint64_t)digit;
    }
    number->i64 = number->big ? INT64_MAX : (int64_t)v;
}

static bool has_point(Text t)
{
    for (size_t i = 0; i < t.len; i++)
        if (t.at[i] == '.' || t.at[i] == 'e' || t.at[i] == 'E')
            return true;
    return false;
}

void number_decode(Arena *a, Text text, Ast *number)
{
    ArenaMark mark = arena_mark(a);
    Text t = plain_digits(a, text);
    int base = t.len > 1 && t.at[0] == '0' ? base_of(t.at[1]) : 0;

    if (base) {
        decode_int(text_slice(t, 2, t.len), base, number);
    } else {
        number->imaginary = t.at[t.len - 1] == 'j' ||
                            t.at[t.len - 1] == 'J';
        t.len -= number->imaginary;
        number->is_float = number->imaginary || has_point(t);
        if (!number->is_float)
            decode_int(t, 10, number);
        if ((number->is_float || number->big) &&
            !text_to_f64(t, &number->f64))
            BUG("a number that is none: %.*s", TEXT_ARG(t));
    }
    arena_release(a, mark);
}
