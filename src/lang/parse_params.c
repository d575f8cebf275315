// parse_params.c - parameters of functions, lambdas and types.
#include "lang/parse_int.h"

// What has been seen of a parameter list.
typedef struct {
    int base;                   // of the list on the parser's stack
    TokenKind close;
    bool annotated;             // annotations may stand here: not in a lambda
    bool slash, defaults;
    const Token *star;          // the `*`, bare or with a name
    bool bare;                  // and nothing has followed it yet
    const Ast *mapping;         // the `**` parameter
    Map names;
} Params;

static void bad_param(Parser *p, Span at, const char *what)
{
    parse_report(p, at, "syntax-parameter", "%s", what);
}

static void check_name(Parser *p, Params *s, const Ast *n, const Token *name)
{
    const Ast *first = map_get(&s->names, n->text);

    parse_check_name(p, name);
    if (!first)
        map_set(p->arena, &s->names, n->text, (Ast *)n);
    else if (parse_report(p, n->name_at, "syntax-parameter", "the parameter "
                          "'%.*s' is there twice", TEXT_ARG(n->text)))
        diag_note(p->diag, first->name_at, "first here");
}

static Ast *annotation(Parser *p, const Params *s, ParamKind kind)
{
    if (!s->annotated || !parse_accept(p, TOK_COLON))
        return NULL;
    return kind == PARAM_STAR ? parse_star_named(p) : parse_expr(p);
}

static void default_value(Parser *p, Params *s, Ast *n)
{
    if (parse_accept(p, TOK_EQUAL)) {
        if (n->param == PARAM_STAR || n->param == PARAM_DOUBLE_STAR)
            bad_param(p, p->at[-1].at, "a starred parameter cannot have a "
                      "default value");
        if (!parse_at_expr(p))
            parse_expected(p, "a default value after '='", NULL);
        n->b = parse_expr(p);
        s->defaults = true;
    } else if (s->defaults && n->param == PARAM_PLAIN) {
        bad_param(p, n->name_at, "a parameter without default follows one "
                  "with a default");
    }
}

// param = NAME [':' expression] ['=' expression]
static void param(Parser *p, Params *s, const Token *begin, ParamKind kind)
{
    Ast *n = parse_node(p, AST_PARAM, begin);
    const Token *name = parse_expect_name(p, "a parameter name");

    parse_push(p, n);
    n->param = kind;
    if (!name)
        return;
    n->text = name->value;
    n->at = n->name_at = name->at;
    check_name(p, s, n, name);
    n->a = annotation(p, s, kind);
    parse_finish(p, n);
    default_value(p, s, n);
}

// '/': what stands before it is positional-only
static void slash(Parser *p, Params *s)
{
    const Token *t = p->at++;

    if (s->slash)
        bad_param(p, t->at, "there can be only one '/'");
    else if (s->star)
        bad_param(p, t->at, "'/' must stand before '*'");
    else if (p->stack.len == s->base)
        bad_param(p, t->at, "expected a parameter before '/'");
    for (int i = s->base; i < p->stack.len; i++)
        if (p->stack.at[i]->param == PARAM_PLAIN)
            p->stack.at[i]->param = PARAM_POSITIONAL_ONLY;
    s->slash = true;
}

// '*' [NAME]
static void star(Parser *p, Params *s)
{
    const Token *t = p->at++;

    if (s->star)
        bad_param(p, t->at, "there can be only one '*' parameter");
    s->star = t;
    s->bare = !parse_at(p, TOK_NAME);
    if (!s->bare)
        param(p, s, t, PARAM_STAR);
    else if (!parse_at(p, TOK_COMMA) && !parse_at(p, s->close))
        parse_expected(p, "a parameter name or ',' after '*'", NULL);
}

static void mapping(Parser *p, Params *s)
{
    const Token *t = p->at++;

    if (s->bare)
        bad_param(p, s->star->at, "expected a named parameter after the bare "
                  "'*'");
    s->bare = false;
    param(p, s, t, PARAM_DOUBLE_STAR);
    s->mapping = p->stack.at[p->stack.len - 1];
}

static void one(Parser *p, Params *s)
{
    const Token *t = p->at;

    if (s->mapping)
        bad_param(p, t->at, "nothing can follow the '**' parameter");
    if (parse_at(p, TOK_SLASH)) {
        slash(p, s);
    } else if (parse_at(p, TOK_STAR)) {
        star(p, s);
    } else if (parse_at(p, TOK_POWER)) {
        mapping(p, s);
    } else if (parse_at(p, TOK_LPAREN)) {
        parse_fail(p, t->at, "syntax-parameter", "a parameter cannot be in "
                   "parentheses; take a tuple apart in the body");
    } else {
        param(p, s, t, s->star ? PARAM_KEYWORD_ONLY : PARAM_PLAIN);
        s->bare = false;
    }
}

// params = [one (',' one)* [',']]
Ast *parse_params(Parser *p, TokenKind close, const Token *open)
{
    Params s = {.base = p->stack.len, .close = close,
                .annotated = close == TOK_RPAREN};
    Ast *n = parse_node(p, AST_PARAMS, p->at);
    char what[24];

    n->at.end = n->at.begin;
    while (!parse_at(p, close) && !p->panic) {
        one(p, &s);
        if (!parse_accept(p, TOK_COMMA))
            break;
    }
    if (s.bare)
        bad_param(p, s.star->at, "expected a named parameter after the bare "
                  "'*'");
    snprintf(what, sizeof what, "',' or '%s'", token_info[close].text);
    if (!parse_at(p, close))
        parse_expected(p, what, open);
    n->x = parse_pop(p, s.base);
    return parse_finish(p, n);
}

// lambda = 'lambda' params ':' expression
Ast *parse_lambda(Parser *p)
{
    const Token *begin = p->at++;
    Ast *n = parse_node(p, AST_LAMBDA, begin);

    n->b = parse_params(p, TOK_COLON, NULL);
    parse_expect(p, TOK_COLON, NULL);
    n->a = parse_expr(p);
    return parse_finish(p, n);
}

// type_param = NAME [':' expression] | '*' NAME | '**' NAME
static Ast *type_param(Parser *p, Map *names)
{
    Ast *n = parse_node(p, AST_TYPEPARAM, p->at);
    const Token *name;

    n->param = parse_accept(p, TOK_STAR)    ? PARAM_STAR
             : parse_accept(p, TOK_POWER) ? PARAM_DOUBLE_STAR
                                          : PARAM_PLAIN;
    name = parse_expect_name(p, "a type parameter");
    if (!name)
        return n;
    n->text = name->value;
    n->name_at = name->at;
    if (map_get(names, n->text))
        bad_param(p, name->at, "this type parameter is there twice");
    map_set(p->arena, names, n->text, n);
    if (n->param == PARAM_PLAIN && parse_accept(p, TOK_COLON))
        n->a = parse_expr(p);
    return parse_finish(p, n);
}

// type_params = '[' type_param (',' type_param)* [','] ']'
Ast *parse_type_params(Parser *p)
{
    const Token *open = parse_accept(p, TOK_LBRACKET);
    int base = p->stack.len;
    Map names = {0};
    Ast *n;

    if (!open)
        return NULL;
    n = parse_node(p, AST_PARAMS, open);
    do
        parse_push(p, type_param(p, &names));
    while (parse_accept(p, TOK_COMMA) && !parse_at(p, TOK_RBRACKET));
    if (!parse_accept(p, TOK_RBRACKET))
        parse_expected(p, "',' or ']'", open);
    n->x = parse_pop(p, base);
    return parse_finish(p, n);
}
