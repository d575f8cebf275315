// parse.c - the parser's cursor, its errors, and its two entries.
//
// Recursive descent; the rule of the grammar stands above each function, in
// the manner of Python's own: | alternatives, [optional], ()* repeated.
#include "lang/parse_int.h"

Ast *parse_node(Parser *p, AstKind kind, const Token *begin)
{
    Ast *n = new(p->arena, Ast);

    n->kind = kind;
    n->at = begin->at;
    n->name_at = begin->at;
    return n;
}

static bool is_line_layout(TokenKind k)
{
    return k == TOK_NEWLINE || k == TOK_INDENT || k == TOK_DEDENT;
}

Ast *parse_finish(Parser *p, Ast *n)
{
    const Token *last = p->at;

    while (last > p->first && is_line_layout(last[-1].kind))
        last--;
    if (last > p->first && last[-1].at.end > n->at.begin)
        n->at.end = last[-1].at.end;
    return n;
}

Ast *parse_error_node(Parser *p)
{
    return parse_node(p, AST_ERROR, p->at);
}

void parse_push(Parser *p, Ast *n)
{
    vec_push(p->arena, &p->stack, n);
}

AstList parse_pop(Parser *p, int base)
{
    AstList list = {.len = p->stack.len - base};

    if (!list.len)
        return list;
    list.at = new_array(p->arena, Ast *, (size_t)list.len);
    for (int i = 0; i < list.len; i++)
        list.at[i] = p->stack.at[base + i];
    p->stack.len = base;
    return list;
}

bool parse_at(const Parser *p, TokenKind k)
{
    return p->at->kind == k;
}

const Token *parse_accept(Parser *p, TokenKind k)
{
    return p->at->kind == k ? p->at++ : NULL;
}

bool parse_at_word(const Parser *p, const char *soft_keyword)
{
    return p->at->kind == TOK_NAME && text_is(p->at->value, soft_keyword);
}

// The end of the logical line around the cursor, and whether the lexer has
// reported something in it.
static void look_at_line(Parser *p)
{
    const Token *t = p->at;

    if (p->line_end && p->at <= p->line_end)
        return;
    while (t > p->first && t[-1].kind != TOK_NEWLINE)
        t--;
    p->line_bad = false;
    for (; t->kind != TOK_NEWLINE && t->kind != TOK_END; t++)
        p->line_bad |= t->kind == TOK_ERROR;
    p->line_end = t;
}

void parse_skip_line(Parser *p)
{
    look_at_line(p);
    p->at = p->line_end;
}

static bool vreport(Parser *p, Span at, const char *id, const char *format,
                    va_list args)
{
    TextBuf b = {0};

    look_at_line(p);
    p->errors = true;
    p->reported = !p->panic && !p->line_bad;
    if (!p->reported)
        return false;
    buf_vprintf(&b, format, args);
    diag_error(p->diag, EXIT_PROGRAM, at, id, "%.*s", TEXT_ARG(buf_view(&b)));
    buf_release(&b);
    return true;
}

bool parse_report(Parser *p, Span at, const char *id, const char *format, ...)
{
    va_list args;
    bool printed;

    va_start(args, format);
    printed = vreport(p, at, id, format, args);
    va_end(args);
    return printed;
}

static void panic(Parser *p)
{
    parse_skip_line(p);
    p->panic = true;
    p->failed = true;
}

void parse_fail(Parser *p, Span at, const char *id, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vreport(p, at, id, format, args);
    va_end(args);
    panic(p);
}

// Do `first` and `second` stand at `t`, with nothing between them?
static bool pair_at(const Token *t, TokenKind first, TokenKind second)
{
    return t->kind == first && t[1].kind == second &&
           t->at.end == t[1].at.begin;
}

static bool ends_operand(const Token *t)
{
    switch (t->kind) {
    case TOK_RPAREN: case TOK_RBRACKET: case TOK_RBRACE: case TOK_FSTRING_END:
    case TOK_NONE: case TOK_TRUE: case TOK_FALSE:
        return true;
    default:
        return token_info[t->kind].class == TOKEN_VALUE;
    }
}

// What people write who come from another language.
static const char *advice(const Parser *p)
{
    static const struct {
        int at;                 // place of the pair, seen from the cursor
        TokenKind first, second;
        const char *text;
    } pairs[] = {
        {-1, TOK_AMPER, TOK_AMPER, "a logical and is written 'and'"},
        {-1, TOK_PIPE, TOK_PIPE, "a logical or is written 'or'"},
        {-1, TOK_LESS, TOK_GREATER, "'not equal' is written '!='"},
        {-1, TOK_EQUAL_EQUAL, TOK_EQUAL, "'equal' is written '=='"},
        {-1, TOK_EQUAL, TOK_GREATER, "'greater or equal' is written '>='"},
        {-2, TOK_PLUS, TOK_PLUS, "there is no '++'; write '+= 1'"},
        {-2, TOK_MINUS, TOK_MINUS, "there is no '--'; write '-= 1'"},
    };
    const Token *t = p->at;

    if (t->kind == TOK_WALRUS)
        return "an assignment inside an expression needs parentheses of its "
               "own here";
    for (size_t i = 0; i < countof(pairs); i++)
        if (t - p->first >= -pairs[i].at &&
            pair_at(t + pairs[i].at, pairs[i].first, pairs[i].second))
            return pairs[i].text;
    if (t->kind == TOK_EQUAL && t > p->first && ends_operand(t - 1))
        return "'=' assigns and makes a statement; a comparison is written "
               "'=='";
    return NULL;
}

static bool follows_operator(const Token *t)
{
    const TokenInfo *i = &token_info[t->kind];

    return i->class == TOKEN_AUGMENTED || i->class == TOKEN_WORD ||
           t->kind == TOK_EQUAL || (i->op && t->kind != TOK_ERROR);
}

// "expected an expression after '+', found end of line"
static void put_expected(Parser *p, TextBuf *b, const char *what)
{
    const Token *before = p->at > p->first ? p->at - 1 : NULL;

    buf_printf(b, "expected %s", what);
    if (before && text_is(text_of(what), "an expression") &&
        follows_operator(before))
        buf_printf(b, " after '%s'", token_info[before->kind].text);
    buf_puts(b, ", found ");
    token_describe(b, p->at);
}

void parse_expected(Parser *p, const char *what, const Token *open)
{
    TextBuf b = {0};
    const char *note = advice(p);
    Span at = p->at->at;

    put_expected(p, &b, what);
    if (parse_report(p, at, "syntax-expected", "%.*s",
                     TEXT_ARG(buf_view(&b)))) {
        if (note)
            diag_note(p->diag, at, "%s", note);
        if (open)
            diag_note(p->diag, open->at, "'%.*s' opened here",
                      TEXT_ARG(open->value));
    }
    buf_release(&b);
    panic(p);
}

const Token *parse_expect(Parser *p, TokenKind k, const Token *open)
{
    char what[16];

    if (p->at->kind == k)
        return p->at++;
    snprintf(what, sizeof what, "'%s'", token_info[k].text);
    parse_expected(p, what, open);
    return NULL;
}

const Token *parse_expect_name(Parser *p, const char *what)
{
    if (p->at->kind == TOK_NAME)
        return p->at++;
    parse_expected(p, what, NULL);
    return NULL;
}

bool parse_enter(Parser *p)
{
    if (p->depth < PARSE_MAX_DEPTH) {
        p->depth++;
        return true;
    }
    if (!p->too_deep)
        parse_report(p, p->at->at, "syntax-nesting", "the program is nested "
                     "more than %d levels deep here", PARSE_MAX_DEPTH);
    p->too_deep = true;
    panic(p);
    return false;
}

void parse_leave(Parser *p)
{
    p->depth--;
}

Ast *parse_deeper(Parser *p, Ast *rule(Parser *p))
{
    Ast *n;

    if (!parse_enter(p))
        return parse_error_node(p);
    n = rule(p);
    parse_leave(p);
    return n;
}

static Parser parser(Arena *a, Diag *d, const SourceSet *sources,
                     TokenList tokens)
{
    Parser p = {.arena = a, .diag = d, .sources = sources};

    p.at = p.first = tokens.at;
    p.text = sources_get(sources, tokens.at->at.file)->text.at;
    return p;
}

// file = statements END
Ast *parse(Arena *a, Diag *d, const SourceSet *sources, TokenList tokens)
{
    Parser p = parser(a, d, sources, tokens);
    Ast *module = parse_node(&p, AST_MODULE, p.at);

    while (!parse_at(&p, TOK_END)) {
        parse_statements(&p);
        parse_accept(&p, TOK_DEDENT);
    }
    module->x = parse_pop(&p, 0);
    module->at.begin = 0;
    module->at.end = p.at->at.end;
    parse_scopes(&p, module);
    return module;
}

// star_expressions [NEWLINE] END
Ast *parse_expression(Arena *a, Diag *d, const SourceSet *sources,
                      TokenList tokens)
{
    Parser p = parser(a, d, sources, tokens);
    Ast *e;

    parse_accept(&p, TOK_INDENT);
    e = parse_star_exprs(&p);
    if (!p.panic && !parse_at(&p, TOK_NEWLINE) && !parse_at(&p, TOK_END))
        parse_expected(&p, "the end of the expression", NULL);
    parse_accept(&p, TOK_NEWLINE);
    parse_accept(&p, TOK_DEDENT);
    if (!p.panic && !parse_at(&p, TOK_END))
        parse_expected(&p, "one expression", NULL);
    return p.panic ? parse_error_node(&p) : e;
}
