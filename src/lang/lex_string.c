// lex_string.c - string literals and the literal parts of f-strings.
//
// A STRING token is the literal as it is written, prefix and quotes included.
// An f-string is FSTRING_BEGIN (prefix and quotes), then FSTRING_TEXT tokens
// (as written: escapes and doubled braces stand) and fields, then FSTRING_END.
// A field is LBRACE, the tokens of an expression, maybe EXCLAMATION NAME,
// maybe COLON with texts and fields for the format spec, RBRACE.
#include "lang/lex_int.h"

static char lower(int c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

static bool is_quote(int c)
{
    return c == '"' || c == '\'';
}

// r, b, u, f, br, rb, fr, rf in any case.
static bool is_prefix(char a, char b)
{
    if (!b)
        return a == 'r' || a == 'b' || a == 'u' || a == 'f';
    return (a == 'r' && (b == 'b' || b == 'f')) ||
           (b == 'r' && (a == 'b' || a == 'f'));
}

bool lex_at_string(const Lexer *l, uint32_t *prefix)
{
    int a = lex_peek(l, 0), b;

    *prefix = 0;
    if (is_quote(a))
        return true;
    b = lex_peek(l, 1);
    *prefix = is_quote(b) ? 1 : 2;
    if (*prefix == 1)
        return is_prefix(lower(a), 0);
    return is_quote(lex_peek(l, 2)) && is_prefix(lower(a), lower(b));
}

// How many quotes open the literal: 1 or 3.
static uint32_t quotes_at(const Lexer *l, uint32_t at)
{
    int q = l->text[at];

    return l->len - at >= 3 && l->text[at + 1] == q && l->text[at + 2] == q
               ? 3
               : 1;
}

static bool closes_here(const Lexer *l, char quote, bool triple)
{
    return lex_peek(l, 0) == quote &&
           (!triple || (lex_peek(l, 1) == quote && lex_peek(l, 2) == quote));
}

// Skips a backslash and what it escapes.
static void skip_escape(Lexer *l)
{
    l->at++;
    if (l->at == l->len)
        return;
    if (lex_at_newline(l))
        lex_skip_newline(l);
    else
        l->at++;
}

// To the closing quotes; false: the line or the text ends before.
static bool skip_body(Lexer *l, char quote, bool triple)
{
    while (l->at < l->len && !closes_here(l, quote, triple)) {
        if (lex_peek(l, 0) == '\\')
            skip_escape(l);
        else if (!triple && lex_at_newline(l))
            return false;
        else
            l->at++;
    }
    return l->at < l->len;
}

// The f-string around us that the quote of a string in one of its fields
// would close, were it read by the rules before 3.12.
static const Open *enclosing_fstring(const Lexer *l, char quote)
{
    for (int i = l->open.len - 1; i >= 0; i--) {
        const Open *o = &l->open.at[i];

        if (o->kind == OPEN_FSTRING && !o->triple && o->close == quote)
            return o;
    }
    return NULL;
}

static void unterminated(Lexer *l, uint32_t begin, uint32_t body, bool triple)
{
    const Open *o = enclosing_fstring(l, l->text[body - 1]);
    Span at = lex_span(l, begin, body);

    if (o && !triple) {
        if (lex_error(l, at, "syntax-fstring", "expected '}' before the end "
                      "of the f-string"))
            diag_note(l->diag, o->at, "the f-string begins here");
        l->open.len = (int)(o - l->open.at);
        lex_push(l, TOK_FSTRING_END, l->at, l->at);
    } else if (triple) {
        lex_error(l, at, "syntax-string", "unterminated string: expected %.3s "
                  "before the end of the file", l->text + body - 3);
    } else {
        lex_error(l, at, "syntax-string", "unterminated string: expected %c "
                  "before the end of the line", l->text[body - 1]);
    }
    lex_push(l, TOK_ERROR, begin, l->at);
}

static bool has_letter(const Lexer *l, uint32_t prefix, char letter)
{
    for (uint32_t i = 0; i < prefix; i++)
        if (lower(l->text[l->at + i]) == letter)
            return true;
    return false;
}

static void begin_fstring(Lexer *l, uint32_t prefix, uint32_t quotes)
{
    uint32_t begin = l->at;
    bool raw = has_letter(l, prefix, 'r');
    Open *o;

    l->at += prefix + quotes;
    lex_open(l, OPEN_FSTRING, l->text[begin + prefix],
             lex_span(l, begin, l->at));
    o = &l->open.at[l->open.len - 1];
    o->triple = quotes == 3;
    o->raw = raw;
    lex_push(l, TOK_FSTRING_BEGIN, begin, l->at);
}

static void check_bytes(Lexer *l, uint32_t begin)
{
    for (uint32_t i = begin; i < l->at; i++) {
        if ((unsigned char)l->text[i] < 0x80)
            continue;
        lex_error(l, lex_span(l, i, i + 1), "syntax-bytes", "a bytes literal "
                  "can hold ASCII characters only; write others as \\xNN");
        lex_push(l, TOK_ERROR, begin, l->at);
        return;
    }
}

void lex_string(Lexer *l, uint32_t prefix)
{
    uint32_t begin = l->at, quotes = quotes_at(l, l->at + prefix);
    bool bytes = has_letter(l, prefix, 'b');
    char quote = l->text[begin + prefix];

    if (has_letter(l, prefix, 'f')) {
        begin_fstring(l, prefix, quotes);
        return;
    }
    l->at += prefix + quotes;
    if (!skip_body(l, quote, quotes == 3)) {
        unterminated(l, begin, begin + prefix + quotes, quotes == 3);
        return;
    }
    l->at += quotes;
    lex_push(l, TOK_STRING, begin, l->at);
    if (bytes)
        check_bytes(l, begin);
}

// The FSTRING that a literal part belongs to: it is innermost, or below the
// SPEC and the FIELD that are.
static Open *owner(const Lexer *l)
{
    Open *o = &l->open.at[l->open.len - 1];

    while (o->kind != OPEN_FSTRING)
        o--;
    return o;
}

// A backslash in a literal part. It does not protect a brace, but the braces
// of a named character \N{...} are its own.
static void skip_fstring_escape(Lexer *l, bool raw)
{
    int c = lex_peek(l, 1);

    if (c == '{' || c == '}') {
        l->at++;
    } else if (c == 'N' && !raw && lex_peek(l, 2) == '{') {
        while (l->at < l->len && lex_peek(l, 0) != '}' && !lex_at_newline(l) &&
               !is_quote(lex_peek(l, 0)))
            l->at++;
        l->at += l->at < l->len && lex_peek(l, 0) == '}';
    } else {
        skip_escape(l);
    }
}

// To where the literal part ends: a single brace, the closing quotes, or, if
// they are missing, the end of line or text. In a format spec braces do not
// double.
static void skip_literal(Lexer *l, const Open *f, bool spec)
{
    while (l->at < l->len && !closes_here(l, f->close, f->triple)) {
        int c = lex_peek(l, 0);

        if (!f->triple && lex_at_newline(l))
            return;
        if (c == '\\')
            skip_fstring_escape(l, f->raw);
        else if (c != '{' && c != '}')
            l->at++;
        else if (!spec && lex_peek(l, 1) == c)
            l->at += 2;
        else
            return;
    }
}

static void abandon_fstring(Lexer *l, Open *f, Span at, const char *message)
{
    if (lex_error(l, at, "syntax-fstring", "%s", message) &&
        at.begin != f->at.begin)
        diag_note(l->diag, f->at, "the f-string begins here");
    l->open.len = (int)(f - l->open.at);
    lex_push(l, TOK_ERROR, at.begin, at.end);
    lex_push(l, TOK_FSTRING_END, l->at, l->at);
}

static void close_literal(Lexer *l, Open *f, bool spec)
{
    uint32_t begin = l->at;
    Open *field = &l->open.at[l->open.len - (spec ? 2 : 1)];

    l->at += f->triple ? 3 : 1;
    if (spec) {
        abandon_fstring(l, f, field->at, "this field of the f-string is never "
                        "closed; expected '}' before the closing quote");
        return;
    }
    l->open.len--;
    lex_push(l, TOK_FSTRING_END, begin, l->at);
}

static void close_brace(Lexer *l, bool spec)
{
    uint32_t begin = l->at++;

    if (spec) {
        l->open.len -= 2;       // the SPEC and its FIELD
        lex_push(l, TOK_RBRACE, begin, l->at);
        return;
    }
    lex_error(l, lex_span(l, begin, l->at), "syntax-fstring", "a single '}' "
              "in an f-string; the character itself is written '}}'");
    lex_push(l, TOK_ERROR, begin, l->at);
}

static void open_field(Lexer *l)
{
    lex_open(l, OPEN_FIELD, '}', lex_span(l, l->at, l->at + 1));
    lex_push(l, TOK_LBRACE, l->at, l->at + 1);
    l->at++;
}

void lex_fstring_text(Lexer *l)
{
    bool spec = l->open.at[l->open.len - 1].kind == OPEN_SPEC;
    Open *f = owner(l);
    uint32_t begin = l->at;

    skip_literal(l, f, spec);
    if (l->at > begin)
        lex_push(l, TOK_FSTRING_TEXT, begin, l->at);
    if (l->at == l->len)
        return;
    if (lex_peek(l, 0) == '{')
        open_field(l);
    else if (lex_peek(l, 0) == '}')
        close_brace(l, spec);
    else if (closes_here(l, f->close, f->triple))
        close_literal(l, f, spec);
    else
        abandon_fstring(l, f, f->at, "unterminated f-string: expected its "
                        "quote before the end of the line");
}
