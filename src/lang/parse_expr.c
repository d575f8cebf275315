// parse_expr.c - operators, by precedence from the weakest to the strongest.
#include "lang/parse_int.h"

// A node whose first part has been read: it begins there, `name_at` is its
// operator.
static Ast *behind(Parser *p, AstKind kind, const Token *begin,
                   const Token *op)
{
    Ast *n = parse_node(p, kind, op);

    n->at = begin->at;
    return n;
}

bool parse_at_expr(const Parser *p)
{
    switch (p->at->kind) {
    case TOK_FALSE: case TOK_NONE: case TOK_TRUE: case TOK_AWAIT:
    case TOK_LAMBDA: case TOK_NOT: case TOK_LPAREN: case TOK_LBRACKET:
    case TOK_LBRACE: case TOK_PLUS: case TOK_MINUS: case TOK_TILDE:
    case TOK_ELLIPSIS:
        return true;
    default:
        return token_info[p->at->kind].class == TOKEN_VALUE;
    }
}

// attribute = '.' NAME
static Ast *attribute(Parser *p, Ast *value, const Token *begin)
{
    Ast *n = behind(p, AST_ATTRIBUTE, begin, p->at++);
    const Token *name = parse_expect_name(p, "an attribute name after '.'");

    n->a = value;
    if (name) {
        n->text = name->value;
        n->name_at = name->at;
    }
    return parse_finish(p, n);
}

// call = '(' [arguments] ')'
static Ast *call(Parser *p, Ast *function, const Token *begin)
{
    const Token *open = p->at++;
    Ast *n = behind(p, AST_CALL, begin, open);

    n->a = function;
    parse_arguments(p, n, open);
    return parse_finish(p, n);
}

// primary = atom ('.' NAME | '(' [arguments] ')' | '[' slices ']')*
static Ast *primary(Parser *p)
{
    const Token *begin = p->at;
    Ast *n = parse_atom(p);

    for (;;) {
        if (parse_at(p, TOK_DOT))
            n = attribute(p, n, begin);
        else if (parse_at(p, TOK_LPAREN))
            n = call(p, n, begin);
        else if (parse_at(p, TOK_LBRACKET))
            n = parse_subscript(p, n, begin);
        else
            return n;
    }
}

// await_primary = ['await'] primary
static Ast *await_primary(Parser *p)
{
    const Token *begin = parse_accept(p, TOK_AWAIT);
    Ast *n;

    if (!begin)
        return primary(p);
    n = parse_node(p, AST_AWAIT, begin);
    n->a = primary(p);
    return parse_finish(p, n);
}

static Ast *factor(Parser *p);

// power = await_primary ['**' factor]
static Ast *power(Parser *p)
{
    const Token *begin = p->at, *op;
    Ast *left = await_primary(p), *n;

    op = parse_accept(p, TOK_POWER);
    if (!op)
        return left;
    n = behind(p, AST_BINARY, begin, op);
    n->op = AST_OP_POW;
    n->a = left;
    n->b = parse_deeper(p, factor);
    return parse_finish(p, n);
}

static AstOp sign(TokenKind k)
{
    return k == TOK_MINUS ? AST_OP_NEG : k == TOK_PLUS ? AST_OP_POS
         : k == TOK_TILDE ? AST_OP_INVERT : AST_OP_NONE;
}

static Ast *unary_node(Parser *p, AstOp op, Ast *operand(Parser *p))
{
    Ast *n = parse_node(p, AST_UNARY, p->at++);

    n->op = op;
    n->a = parse_deeper(p, operand);
    return parse_finish(p, n);
}

// factor = ('+' | '-' | '~') factor | power
static Ast *factor(Parser *p)
{
    AstOp op = sign(p->at->kind);

    return op ? unary_node(p, op, factor) : power(p);
}

// The binary operators between `**` and comparison, all left-associative:
// binary(n) = binary(n + 1) (operator of precedence n  binary(n + 1))*
static Ast *binary(Parser *p, int least)
{
    const Token *begin = p->at;
    Ast *left = factor(p);

    for (;;) {
        const TokenInfo *t = &token_info[p->at->kind];
        Ast *n;

        if (!t->prec || t->prec < least)
            return left;
        n = behind(p, AST_BINARY, begin, p->at++);
        n->op = t->op;
        n->a = left;
        n->b = binary(p, t->prec + 1);
        left = parse_finish(p, n);
    }
}

Ast *parse_or_expr(Parser *p)
{
    return binary(p, 1);
}

// The comparison operator ahead, taken, or AST_OP_NONE.
static AstOp comparison_operator(Parser *p)
{
    AstOp op = token_info[p->at->kind].op;

    if (parse_at(p, TOK_NOT) && p->at[1].kind == TOK_IN) {
        p->at += 2;
        return AST_OP_NOT_IN;
    }
    if (op < AST_OP_EQ || op > AST_OP_NOT_IN)
        return AST_OP_NONE;
    p->at++;
    if (op == AST_OP_IS && parse_accept(p, TOK_NOT))
        return AST_OP_IS_NOT;
    return op;
}

// comparison = bitwise_or (('==' | '!=' | '<' | ... | 'not' 'in') bitwise_or)*
static Ast *comparison(Parser *p)
{
    const Token *begin = p->at, *first;
    Ast *left = parse_or_expr(p), *n;
    struct {
        AstOp *at;
        int len, room;
    } ops = {0};
    int base = p->stack.len;
    AstOp op;

    first = p->at;
    op = comparison_operator(p);
    if (!op)
        return left;
    for (; op; op = comparison_operator(p)) {
        vec_push(p->arena, &ops, op);
        parse_push(p, parse_or_expr(p));
    }
    n = behind(p, AST_COMPARE, begin, first);
    n->a = left;
    n->ops = ops.at;
    n->x = parse_pop(p, base);
    return parse_finish(p, n);
}

// inversion = 'not' inversion | comparison
static Ast *inversion(Parser *p)
{
    if (parse_at(p, TOK_NOT))
        return unary_node(p, AST_OP_NOT, inversion);
    return comparison(p);
}

// operand (word operand)*, one flat node for all
static Ast *bool_chain(Parser *p, TokenKind word, Ast *operand(Parser *p))
{
    const Token *begin = p->at, *op;
    int base = p->stack.len;
    Ast *first = operand(p), *n;

    op = p->at;
    if (!parse_at(p, word))
        return first;
    parse_push(p, first);
    while (parse_accept(p, word))
        parse_push(p, operand(p));
    n = behind(p, AST_BOOLOP, begin, op);
    n->op = token_info[word].op;
    n->x = parse_pop(p, base);
    return parse_finish(p, n);
}

// conjunction = inversion ('and' inversion)*
static Ast *conjunction(Parser *p)
{
    return bool_chain(p, TOK_AND, inversion);
}

// disjunction = conjunction ('or' conjunction)*
Ast *parse_disjunction(Parser *p)
{
    return bool_chain(p, TOK_OR, conjunction);
}

// ['if' disjunction 'else' expression], behind `body`
static Ast *conditional(Parser *p, Ast *body, const Token *begin)
{
    Ast *n = behind(p, AST_IFEXP, begin, p->at++);

    n->b = body;
    n->a = parse_disjunction(p);
    if (!parse_accept(p, TOK_ELSE)) {
        parse_expected(p, "'else' to complete 'a if condition else b'", NULL);
        n->c = parse_error_node(p);
        return n;
    }
    n->c = parse_deeper(p, parse_expr);
    return parse_finish(p, n);
}

// expression = disjunction ['if' disjunction 'else' expression] | lambda
Ast *parse_expr(Parser *p)
{
    const Token *begin = p->at;
    Ast *n;

    if (parse_at(p, TOK_LAMBDA))
        return parse_deeper(p, parse_lambda);
    n = parse_disjunction(p);
    return parse_at(p, TOK_IF) ? conditional(p, n, begin) : n;
}

// named_expression = NAME ':=' expression | expression
Ast *parse_named(Parser *p)
{
    const Token *begin = p->at;
    Ast *target = parse_expr(p), *n;

    if (!parse_at(p, TOK_WALRUS))
        return target;
    parse_check_target(p, target, TARGET_NAMED);
    n = behind(p, AST_NAMEDEXPR, begin, p->at++);
    n->a = target;
    n->b = parse_expr(p);
    return parse_finish(p, n);
}

static Ast *starred(Parser *p)
{
    Ast *n = parse_node(p, AST_STARRED, p->at++);

    n->a = parse_or_expr(p);
    return parse_finish(p, n);
}

// star_named_expression = '*' bitwise_or | named_expression
Ast *parse_star_named(Parser *p)
{
    return parse_at(p, TOK_STAR) ? starred(p) : parse_named(p);
}

// star_expression = '*' bitwise_or | expression
static Ast *star_expression(Parser *p)
{
    return parse_at(p, TOK_STAR) ? starred(p) : parse_expr(p);
}

// star_target, as any operand: what it may be is checked afterwards
static Ast *target(Parser *p)
{
    return parse_at(p, TOK_STAR) ? starred(p) : parse_or_expr(p);
}

// element (',' element)* [',']: a TUPLE if there is a comma
static Ast *tuple_of(Parser *p, Ast *element(Parser *p))
{
    const Token *begin = p->at;
    int base = p->stack.len;
    Ast *first = element(p), *n;

    if (!parse_at(p, TOK_COMMA))
        return first;
    parse_push(p, first);
    while (parse_accept(p, TOK_COMMA) &&
           (parse_at_expr(p) || parse_at(p, TOK_STAR)))
        parse_push(p, element(p));
    n = parse_node(p, AST_TUPLE, begin);
    n->x = parse_pop(p, base);
    return parse_finish(p, n);
}

// star_expressions = star_expression (',' star_expression)* [',']
Ast *parse_star_exprs(Parser *p)
{
    return tuple_of(p, star_expression);
}

// star_targets = star_target (',' star_target)* [',']
Ast *parse_targets(Parser *p)
{
    return tuple_of(p, target);
}

// star_targets 'in'
Ast *parse_for_target(Parser *p)
{
    Ast *n = parse_targets(p);

    if (!parse_accept(p, TOK_IN))
        parse_expected(p, "'in' after the target of 'for'", NULL);
    parse_check_target(p, n, TARGET_FOR);
    return n;
}

// yield = 'yield' ['from' expression | star_expressions]
Ast *parse_yield(Parser *p)
{
    const Token *begin = p->at++;
    bool from = parse_accept(p, TOK_FROM);
    Ast *n = parse_node(p, from ? AST_YIELDFROM : AST_YIELD, begin);

    if (from)
        n->a = parse_expr(p);
    else if (parse_at_expr(p) || parse_at(p, TOK_STAR))
        n->a = parse_star_exprs(p);
    return parse_finish(p, n);
}

Ast *parse_yield_or_exprs(Parser *p)
{
    return parse_at(p, TOK_YIELD) ? parse_yield(p) : parse_star_exprs(p);
}
