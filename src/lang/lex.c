// lex.c - text to tokens.
//
// One pass. A stack of open brackets and f-strings says how the next character
// is read. An error puts an ERROR token into its logical line, about which the
// parser then says nothing more.
#include "lang/lex_int.h"

#include <string.h>

Span lex_span(const Lexer *l, uint32_t begin, uint32_t end)
{
    return (Span){l->file, begin, end};
}

void lex_push(Lexer *l, TokenKind kind, uint32_t begin, uint32_t end)
{
    Token t = {.kind = kind, .at = lex_span(l, begin, end)};

    if (kind >= TOK_ERROR)
        t.value = (Text){l->text + begin, end - begin};
    vec_push(l->arena, &l->out, t);
}

bool lex_error(Lexer *l, Span at, const char *id, const char *format, ...)
{
    TextBuf b = {0};
    va_list args;

    if (l->line_bad)
        return false;
    l->line_bad = true;
    va_start(args, format);
    buf_vprintf(&b, format, args);
    va_end(args);
    diag_error(l->diag, EXIT_PROGRAM, at, id, "%.*s", TEXT_ARG(buf_view(&b)));
    buf_release(&b);
    for (int i = 0; i < l->open.len; i++)
        l->open.at[i].reported = true;
    return true;
}

void lex_open(Lexer *l, OpenKind kind, char close, Span at)
{
    Open o = {.kind = kind, .close = close, .at = at, .token = l->out.len};

    o.reported = l->line_bad;
    vec_push(l->arena, &l->open, o);
}

bool lex_at_newline(const Lexer *l)
{
    int c = lex_peek(l, 0);

    return c == '\n' || c == '\r';
}

void lex_skip_newline(Lexer *l)
{
    l->at += lex_peek(l, 0) == '\r' && lex_peek(l, 1) == '\n' ? 2 : 1;
}

static void newline(Lexer *l)
{
    uint32_t begin = l->at;

    lex_skip_newline(l);
    if (l->open.len)
        return;
    lex_push(l, TOK_NEWLINE, begin, l->at);
    l->line_start = true;
}

static void comment(Lexer *l)
{
    while (l->at < l->len && !lex_at_newline(l))
        l->at++;
}

void lex_dangling(Lexer *l, uint32_t begin)
{
    lex_error(l, lex_span(l, begin, begin + 1), "syntax-continuation",
              "the text ends after the line continuation '\\'");
    lex_push(l, TOK_ERROR, begin, begin + 1);
}

static void continuation(Lexer *l)
{
    uint32_t begin = l->at++;

    if (lex_at_newline(l)) {
        lex_skip_newline(l);
    } else if (l->at < l->len) {
        lex_error(l, lex_span(l, begin, l->at + 1), "syntax-continuation",
                  "expected the end of the line after the line continuation "
                  "'\\'");
        comment(l);
        lex_push(l, TOK_ERROR, begin, l->at);
        return;
    }
    if (l->at == l->len)
        lex_dangling(l, begin);
}

static bool row_fits(const Lexer *l, const TokenInfo *row)
{
    return row->len <= l->len - l->at &&
           !memcmp(row->text, l->text + l->at, row->len);
}

// The symbol ahead, or TOK_ERROR.
static TokenKind symbol_ahead(const Lexer *l)
{
    int c = lex_peek(l, 0);
    int k = c < 128 ? l->first_row[c] : 0;

    if (!k || token_is_keyword((TokenKind)k))
        return TOK_ERROR;
    for (; k < TOK_COUNT && token_info[k].text[0] == c; k++)
        if (row_fits(l, &token_info[k]))
            return (TokenKind)k;
    return TOK_ERROR;
}

static Open *innermost(const Lexer *l)
{
    return l->open.len ? &l->open.at[l->open.len - 1] : NULL;
}

static const char *open_text(const Lexer *l, const Open *o)
{
    return text_cstr(l->arena, (Text){l->text + o->at.begin,
                                      o->at.end - o->at.begin});
}

// Is `c` what closes the innermost bracket, once those above it are dropped?
static bool closes_outer(const Lexer *l, char c)
{
    for (int i = l->open.len - 1; i >= 0; i--) {
        if (l->open.at[i].kind == OPEN_FSTRING)
            return false;
        if (l->open.at[i].close == c)
            return true;
    }
    return false;
}

static void mismatch(Lexer *l, char c, Span at)
{
    const Open *o = innermost(l);

    if (lex_error(l, at, "syntax-bracket", "'%c' does not close '%s'; expected "
                  "'%c'", c, open_text(l, o), o->close))
        diag_note(l->diag, o->at, "'%s' opened here", open_text(l, o));
    if (closes_outer(l, c))
        while (innermost(l)->close != c)
            l->open.len--;
    if (innermost(l)->kind != OPEN_FIELD || innermost(l)->close == c)
        l->open.len--;
}

static void close_bracket(Lexer *l, TokenKind kind, uint32_t begin)
{
    char c = l->text[begin];
    const Open *o = innermost(l);

    if (o && o->close == c) {
        l->open.len--;
        lex_push(l, kind, begin, l->at);
        return;
    }
    if (o)
        mismatch(l, c, lex_span(l, begin, l->at));
    else
        lex_error(l, lex_span(l, begin, l->at), "syntax-bracket",
                  "'%c' closes nothing: no bracket is open", c);
    lex_push(l, TOK_ERROR, begin, l->at);
}

static void open_bracket(Lexer *l, TokenKind kind, uint32_t begin, char close)
{
    lex_open(l, OPEN_BRACKET, close, lex_span(l, begin, l->at));
    lex_push(l, kind, begin, l->at);
}

// In a field of an f-string ':' begins the format spec, whatever follows.
static void field_colon(Lexer *l)
{
    lex_push(l, TOK_COLON, l->at, l->at + 1);
    l->at++;
    lex_open(l, OPEN_SPEC, '}', lex_span(l, l->at - 1, l->at));
}

static void put_symbol(Lexer *l, TokenKind k)
{
    uint32_t begin = l->at;

    l->at += token_info[k].len;
    switch (k) {
    case TOK_LPAREN:
        open_bracket(l, k, begin, ')');
        break;
    case TOK_LBRACKET:
        open_bracket(l, k, begin, ']');
        break;
    case TOK_LBRACE:
        open_bracket(l, k, begin, '}');
        break;
    case TOK_RPAREN:
    case TOK_RBRACKET:
    case TOK_RBRACE:
        close_bracket(l, k, begin);
        break;
    default:
        lex_push(l, k, begin, l->at);
    }
}

static void symbol(Lexer *l)
{
    TokenKind k = symbol_ahead(l);
    const Open *o = innermost(l);
    bool field = o && o->kind == OPEN_FIELD;

    if (field && lex_peek(l, 0) == ':')
        field_colon(l);
    else if (k == TOK_ERROR || (k == TOK_EXCLAMATION && !field))
        lex_bad_character(l);
    else
        put_symbol(l, k);
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

// One token, or what stands between tokens.
static void step(Lexer *l)
{
    int c = lex_peek(l, 0);
    uint32_t prefix;

    if (c == ' ' || c == '\t' || c == '\f')
        l->at++;
    else if (lex_at_newline(l))
        newline(l);
    else if (c == '#')
        comment(l);
    else if (c == '\\')
        continuation(l);
    else if (is_digit(c) || (c == '.' && is_digit(lex_peek(l, 1))))
        lex_number(l);
    else if (lex_at_string(l, &prefix))
        lex_string(l, prefix);
    else if (lex_at_name(l))
        lex_name(l);
    else
        symbol(l);
}

static bool in_literal(const Lexer *l)
{
    const Open *o = innermost(l);

    return o && (o->kind == OPEN_FSTRING || o->kind == OPEN_SPEC);
}

static void run(Lexer *l)
{
    while (l->at < l->len) {
        if (in_literal(l))
            lex_fstring_text(l);
        else if (l->line_start && !l->open.len)
            lex_line_start(l);
        else
            step(l);
        if (l->open.len && lex_begins_statement(l))
            lex_unclosed(l);
    }
}

static void finish(Lexer *l)
{
    TokenKind last = l->out.len ? l->out.at[l->out.len - 1].kind : TOK_NEWLINE;

    if (last != TOK_NEWLINE && last != TOK_DEDENT && last != TOK_INDENT)
        lex_push(l, TOK_NEWLINE, l->len, l->len);
    for (; l->indents.len > 1; l->indents.len--)
        lex_push(l, TOK_DEDENT, l->len, l->len);
    lex_push(l, TOK_END, l->len, l->len);
}

static void fill_first_rows(Lexer *l)
{
    for (int k = TOK_COUNT - 1; k >= TOK_FALSE; k--)
        l->first_row[(unsigned char)token_info[k].text[0]] = (uint8_t)k;
}

static bool too_large(Lexer *l, size_t len)
{
    enum { LARGEST = 1 << 30 };

    if (len <= LARGEST)
        return false;
    diag_error(l->diag, EXIT_LIMIT, lex_span(l, 0, 0), "syntax-size",
               "a source text can have %d bytes at most", LARGEST);
    return true;
}

TokenList lex(Arena *a, Diag *d, const SourceSet *sources, uint32_t file)
{
    Text text = sources_get(sources, file)->text;
    Lexer l = {.arena = a, .diag = d, .file = file, .text = text.at};

    l.line_start = true;
    vec_push(a, &l.indents, (Indent){0});
    if (!too_large(&l, text.len))
        l.len = (uint32_t)text.len;
    fill_first_rows(&l);
    lex_check_encoding(&l);
    if (text_starts(text, "\xef\xbb\xbf"))
        l.at = 3;
    run(&l);
    while (l.open.len) {
        lex_unclosed(&l);
        run(&l);
    }
    finish(&l);
    return (TokenList){l.out.at, l.out.len};
}
