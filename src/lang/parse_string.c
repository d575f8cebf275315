// parse_string.c - string literals, adjacent ones joined, and f-strings.
#include "lang/parse_int.h"

#include <string.h>

// The pieces of adjacent literals: text is gathered until a field comes.
typedef struct {
    Parser *p;
    TextBuf text;
    Span text_at;               // of what is gathered
} Pieces;

// A literal taken apart: its prefix and what is between its quotes.
typedef struct {
    Text body;
    Span body_at;
    bool raw, bytes;
} Literal;

static Literal take_apart(const Token *t)
{
    Literal s = {0};
    size_t i = 0, quotes;

    for (; t->value.at[i] != '"' && t->value.at[i] != '\''; i++) {
        s.raw |= t->value.at[i] == 'r' || t->value.at[i] == 'R';
        s.bytes |= t->value.at[i] == 'b' || t->value.at[i] == 'B';
    }
    quotes = t->value.len - i >= 6 && t->value.at[i + 1] == t->value.at[i] &&
                     t->value.at[i + 2] == t->value.at[i]
                 ? 3
                 : 1;
    s.body = text_slice(t->value, i + quotes, t->value.len - quotes);
    s.body_at = t->at;
    s.body_at.begin += (uint32_t)(i + quotes);
    s.body_at.end -= (uint32_t)quotes;
    return s;
}

static void gather(Pieces *s, Text raw, Span at, Unescape how)
{
    s->text_at = s->text_at.file ? span_join(s->text_at, at) : at;
    parse_unescape(s->p, &s->text, raw, at, how);
}

// Pushes the gathered text as a STRING, if there is any.
static void flush(Pieces *s)
{
    Ast *n;

    if (s->text.len) {
        n = parse_node(s->p, AST_STRING, s->p->at);
        n->at = n->name_at = s->text_at;
        n->text = text_copy(s->p->arena, buf_view(&s->text));
        parse_push(s->p, n);
    }
    buf_clear(&s->text);
    s->text_at = (Span){0};
}

static void fstring_body(Pieces *s, bool raw, bool spec);

// format_spec = ':' (TEXT | field)*
static Ast *format_spec(Parser *p, bool raw)
{
    Pieces s = {.p = p};
    int base = p->stack.len;
    Ast *n = parse_node(p, AST_FSTRING, p->at - 1);

    fstring_body(&s, raw, true);
    flush(&s);
    buf_release(&s.text);
    n->x = parse_pop(p, base);
    return parse_finish(p, n);
}

// conversion = '!' ('r' | 's' | 'a')
static char conversion(Parser *p)
{
    const Token *mark = p->at - 1, *name = p->at;

    if (!parse_at(p, TOK_NAME)) {
        parse_expected(p, "one of r, s, a after '!'", NULL);
        return 0;
    }
    p->at++;
    if (name->at.begin != mark->at.end)
        parse_report(p, name->at, "syntax-fstring", "the conversion must "
                     "follow '!' without a blank");
    if (name->value.len == 1 && strchr("rsa", name->value.at[0]))
        return name->value.at[0];
    parse_report(p, name->at, "syntax-fstring", "expected one of r, s, a "
                 "after '!', found '%.*s'", TEXT_ARG(name->value));
    return 0;
}

static void check_value(Parser *p)
{
    if (parse_at_expr(p) || parse_at(p, TOK_STAR) || parse_at(p, TOK_YIELD))
        return;
    parse_expected(p, "an expression in the field of the f-string", NULL);
}

// ['='] ['!' conversion] [':' format_spec] '}'
static void field_end(Parser *p, Ast *n, const Token *open, bool raw)
{
    if (parse_accept(p, TOK_EQUAL)) {
        n->text.at = p->text + open->at.end;
        n->text.len = p->at->at.begin - open->at.end;
    }
    if (parse_accept(p, TOK_EXCLAMATION))
        n->conversion = conversion(p);
    if (parse_accept(p, TOK_COLON))
        n->b = format_spec(p, raw);
    if (n->text.len && !n->b && !n->conversion)
        n->conversion = 'r';
    if (!parse_accept(p, TOK_RBRACE))
        parse_expected(p, "'}' to end the field of the f-string", open);
}

// field = '{' (yield | star_expressions) field_end
static Ast *field(Parser *p, bool raw)
{
    const Token *open = p->at++;
    Ast *n = parse_node(p, AST_FORMATTED, open);

    if (!parse_enter(p))
        return parse_error_node(p);
    check_value(p);
    n->a = parse_yield_or_exprs(p);
    field_end(p, n, open, raw);
    parse_leave(p);
    return parse_finish(p, n);
}

// (TEXT | field)*, gathered into `s`
static void fstring_body(Pieces *s, bool raw, bool spec)
{
    Parser *p = s->p;

    for (;;) {
        if (parse_at(p, TOK_FSTRING_TEXT)) {
            gather(s, p->at->value, p->at->at,
                   (Unescape){.raw = raw, .braces = !spec});
            p->at++;
        } else if (parse_at(p, TOK_LBRACE)) {
            flush(s);
            parse_push(p, field(p, raw));
        } else {
            return;
        }
    }
}

// fstring = FSTRING_BEGIN (TEXT | field)* FSTRING_END
static void fstring(Pieces *s)
{
    Parser *p = s->p;
    Text prefix = p->at++->value;
    bool raw = memchr(prefix.at, 'r', prefix.len) ||
               memchr(prefix.at, 'R', prefix.len);

    fstring_body(s, raw, false);
    if (!parse_accept(p, TOK_FSTRING_END))
        parse_expected(p, "the end of the f-string", NULL);
}

static void plain(Pieces *s, const Token *t)
{
    Literal lit = take_apart(t);

    gather(s, lit.body, lit.body_at,
           (Unescape){.raw = lit.raw, .bytes = lit.bytes});
}

static bool is_bytes(const Token *t)
{
    return t->kind == TOK_STRING && take_apart(t).bytes;
}

static void check_same_kind(Parser *p, const Token *first)
{
    if (is_bytes(first) != is_bytes(p->at))
        parse_report(p, p->at->at, "syntax-string", "bytes and text literals "
                     "cannot be joined");
}

// One literal that stands for itself needs no copy.
static Ast *verbatim(Parser *p)
{
    Literal lit = take_apart(p->at);
    Ast *n;

    if (p->at[1].kind == TOK_STRING || p->at[1].kind == TOK_FSTRING_BEGIN ||
        (!lit.raw && memchr(lit.body.at, '\\', lit.body.len)) ||
        memchr(lit.body.at, '\r', lit.body.len))
        return NULL;
    n = parse_node(p, lit.bytes ? AST_BYTES : AST_STRING, p->at++);
    n->text = lit.body;
    return n;
}

static Ast *joined(Parser *p, Pieces *s, const Token *first)
{
    int base = p->stack.len;
    bool formatted = false;
    Ast *n = parse_node(p, AST_STRING, first);

    while (parse_at(p, TOK_STRING) || parse_at(p, TOK_FSTRING_BEGIN)) {
        check_same_kind(p, first);
        formatted |= parse_at(p, TOK_FSTRING_BEGIN);
        if (parse_at(p, TOK_FSTRING_BEGIN))
            fstring(s);
        else
            plain(s, p->at++);
    }
    if (formatted) {
        flush(s);
        n->kind = AST_FSTRING;
        n->x = parse_pop(p, base);
    } else {
        n->kind = is_bytes(first) ? AST_BYTES : AST_STRING;
        n->text = text_copy(p->arena, buf_view(&s->text));
    }
    return parse_finish(p, n);
}

// strings = (STRING | fstring)+
Ast *parse_strings(Parser *p)
{
    Pieces s = {.p = p};
    Ast *n = parse_at(p, TOK_STRING) ? verbatim(p) : NULL;

    if (!n)
        n = joined(p, &s, p->at);
    buf_release(&s.text);
    return n;
}
