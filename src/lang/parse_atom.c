// parse_atom.c - names, literals, and what stands in brackets.
#include "lang/parse_int.h"

static Ast *name(Parser *p)
{
    Ast *n = parse_node(p, AST_NAME, p->at);

    n->text = p->at++->value;
    return n;
}

static Ast *number(Parser *p)
{
    Ast *n = parse_node(p, AST_NUMBER, p->at);

    n->text = p->at++->value;
    number_decode(p->arena, n->text, n);
    return n;
}

static Ast *constant(Parser *p, AstConstant which)
{
    Ast *n = parse_node(p, AST_CONSTANT, p->at++);

    n->constant = which;
    return n;
}

// A star stands for several values: not for one in parentheses.
static void check_group(Parser *p, const Ast *inner)
{
    if (inner->kind == AST_STARRED)
        parse_report(p, inner->at, "syntax-star", "a starred expression "
                     "cannot stand alone in parentheses; a tuple of it ends "
                     "with ','");
}

static Ast *comprehension(Parser *p, AstKind kind, Ast *element,
                          TokenKind close, const Token *open)
{
    Ast *n = parse_node(p, kind, open);

    if (element->kind == AST_STARRED)
        parse_report(p, element->at, "syntax-star", "a star cannot be used in "
                     "a comprehension");
    n->a = element;
    n->x = parse_comp_clauses(p);
    parse_expect(p, close, open);
    return parse_finish(p, n);
}

// `[x, y for ...]` is a common slip.
static void check_comp_tuple(Parser *p, int base)
{
    if (parse_at_comp(p))
        parse_fail(p, span_join(p->stack.at[base]->at, p->at[-1].at),
                   "syntax-comprehension", "the element of a comprehension "
                   "needs parentheses when it is a tuple");
}

// (',' element)* [','] close, behind `first`
static AstList elements(Parser *p, Ast *first, TokenKind close,
                        const Token *open)
{
    int base = p->stack.len;
    char what[24];

    parse_push(p, first);
    while (parse_accept(p, TOK_COMMA) && !parse_at(p, close)) {
        parse_push(p, parse_star_named(p));
        check_comp_tuple(p, base);
    }
    snprintf(what, sizeof what, "',' or '%s'", token_info[close].text);
    if (!parse_accept(p, close))
        parse_expected(p, what, open);
    return parse_pop(p, base);
}

static Ast *group(Parser *p, Ast *inner, const Token *open)
{
    check_group(p, inner);
    if (!parse_accept(p, TOK_RPAREN))
        parse_expected(p, "',' or ')'", open);
    inner->grouped = true;
    return inner;
}

static Ast *tuple(Parser *p, Ast *first, const Token *open)
{
    Ast *n = parse_node(p, AST_TUPLE, open);

    if (first)
        n->x = elements(p, first, TOK_RPAREN, open);
    n->grouped = true;
    return parse_finish(p, n);
}

// '(' ')' | '(' yield ')' | '(' named_expression ')' | generator
// | '(' star_named_expression ',' [elements] ')'
static Ast *parenthesis(Parser *p)
{
    const Token *open = p->at++;
    Ast *first;

    if (parse_accept(p, TOK_RPAREN))
        return tuple(p, NULL, open);
    if (parse_at(p, TOK_YIELD))
        return group(p, parse_yield(p), open);
    first = parse_star_named(p);
    if (parse_at(p, TOK_COMMA))
        return tuple(p, first, open);
    if (parse_at_comp(p))
        return comprehension(p, AST_GENERATOR, first, TOK_RPAREN, open);
    return group(p, first, open);
}

// list = '[' [elements] ']' | '[' named_expression comprehension ']'
static Ast *list(Parser *p)
{
    const Token *open = p->at++;
    Ast *n = parse_node(p, AST_LIST, open), *first;

    if (parse_accept(p, TOK_RBRACKET))
        return parse_finish(p, n);
    first = parse_star_named(p);
    if (parse_at_comp(p))
        return comprehension(p, AST_LISTCOMP, first, TOK_RBRACKET, open);
    n->x = elements(p, first, TOK_RBRACKET, open);
    return parse_finish(p, n);
}

static Ast *set(Parser *p, Ast *first, const Token *open)
{
    Ast *n;

    if (parse_at_comp(p))
        return comprehension(p, AST_SETCOMP, first, TOK_RBRACE, open);
    n = parse_node(p, AST_SET, open);
    n->x = elements(p, first, TOK_RBRACE, open);
    return parse_finish(p, n);
}

// The value of a dictionary item, behind ':'.
static Ast *dict_value(Parser *p)
{
    if (parse_at(p, TOK_STAR))
        parse_report(p, p->at->at, "syntax-star", "a dictionary value cannot "
                     "be starred");
    if (parse_accept(p, TOK_STAR))
        return parse_or_expr(p);
    if (!parse_at_expr(p))
        parse_expected(p, "a value after the dictionary key and ':'", NULL);
    return parse_expr(p);
}

// double_starred_kvpair = '**' bitwise_or | expression ':' expression, given
// the key when it has been read; pushes key and value.
static void dict_item(Parser *p, Ast *key)
{
    if (!key && parse_accept(p, TOK_POWER)) {
        parse_push(p, NULL);
        parse_push(p, parse_or_expr(p));
        return;
    }
    if (!key)
        key = parse_expr(p);
    parse_push(p, key);
    if (!parse_accept(p, TOK_COLON))
        parse_expected(p, "':' after a dictionary key", NULL);
    parse_push(p, p->panic ? parse_error_node(p) : dict_value(p));
}

// Splits what dict_item has pushed into keys and values.
static void pop_items(Parser *p, Ast *dict, int base)
{
    AstList all = parse_pop(p, base);
    int n = all.len / 2;

    dict->x.len = dict->y.len = n;
    dict->x.at = new_array(p->arena, Ast *, (size_t)n);
    dict->y.at = new_array(p->arena, Ast *, (size_t)n);
    for (int i = 0; i < n; i++) {
        dict->x.at[i] = all.at[2 * i];
        dict->y.at[i] = all.at[2 * i + 1];
    }
}

static Ast *dict_comprehension(Parser *p, int base, const Token *open)
{
    Ast *n = parse_node(p, AST_DICTCOMP, open);

    n->a = p->stack.at[base];
    n->b = p->stack.at[base + 1];
    p->stack.len = base;
    if (!n->a) {
        parse_report(p, n->b->at, "syntax-star", "'**' cannot be used in a "
                     "comprehension");
        n->a = parse_error_node(p);
    }
    n->x = parse_comp_clauses(p);
    parse_expect(p, TOK_RBRACE, open);
    return parse_finish(p, n);
}

// dict = '{' [item (',' item)* [',']] '}' | '{' item comprehension '}'
static Ast *dict(Parser *p, Ast *key, const Token *open)
{
    int base = p->stack.len;
    Ast *n = parse_node(p, AST_DICT, open);

    dict_item(p, key);
    if (parse_at_comp(p))
        return dict_comprehension(p, base, open);
    while (parse_accept(p, TOK_COMMA) && !parse_at(p, TOK_RBRACE))
        dict_item(p, NULL);
    if (!parse_accept(p, TOK_RBRACE))
        parse_expected(p, "',' or '}'", open);
    pop_items(p, n, base);
    return parse_finish(p, n);
}

// '{' begins a dict, a set, or a comprehension of either
static Ast *brace(Parser *p)
{
    const Token *open = p->at++;
    Ast *first;

    if (parse_accept(p, TOK_RBRACE))
        return parse_finish(p, parse_node(p, AST_DICT, open));
    if (parse_at(p, TOK_POWER))
        return dict(p, NULL, open);
    first = parse_star_named(p);
    if (!parse_at(p, TOK_COLON))
        return set(p, first, open);
    if (first->kind == AST_STARRED ||
        (first->kind == AST_NAMEDEXPR && !first->grouped))
        parse_report(p, first->at, "syntax-expected", "expected a dictionary "
                     "key before ':', found %s", parse_describe(first));
    return dict(p, first, open);
}

// atom = NAME | NUMBER | strings | 'None' | 'True' | 'False' | '...'
//      | parenthesis | list | brace
Ast *parse_atom(Parser *p)
{
    switch (p->at->kind) {
    case TOK_NAME:
        return name(p);
    case TOK_NUMBER:
        return number(p);
    case TOK_STRING: case TOK_FSTRING_BEGIN:
        return parse_strings(p);
    case TOK_NONE:
        return constant(p, AST_NONE);
    case TOK_TRUE:
        return constant(p, AST_TRUE);
    case TOK_FALSE:
        return constant(p, AST_FALSE);
    case TOK_ELLIPSIS:
        return constant(p, AST_ELLIPSIS);
    case TOK_LPAREN:
        return parse_deeper(p, parenthesis);
    case TOK_LBRACKET:
        return parse_deeper(p, list);
    case TOK_LBRACE:
        return parse_deeper(p, brace);
    default:
        parse_expected(p, "an expression", NULL);
        return parse_error_node(p);
    }
}
