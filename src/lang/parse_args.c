// parse_args.c - arguments of calls, subscripts, clauses of comprehensions.
#include "lang/parse_int.h"

bool parse_at_comp(const Parser *p)
{
    return parse_at(p, TOK_FOR) ||
           (parse_at(p, TOK_ASYNC) && p->at[1].kind == TOK_FOR);
}

// for_if = ['async'] 'for' star_targets 'in' disjunction ('if' disjunction)*
static Ast *comp_clause(Parser *p)
{
    Ast *n = parse_node(p, AST_COMPFOR, p->at);
    int base = p->stack.len;

    n->is_async = parse_accept(p, TOK_ASYNC) != NULL;
    parse_accept(p, TOK_FOR);
    n->a = parse_for_target(p);
    n->b = parse_disjunction(p);
    while (parse_accept(p, TOK_IF))
        parse_push(p, parse_disjunction(p));
    n->x = parse_pop(p, base);
    return parse_finish(p, n);
}

AstList parse_comp_clauses(Parser *p)
{
    int base = p->stack.len;

    while (parse_at_comp(p))
        parse_push(p, comp_clause(p));
    return parse_pop(p, base);
}

// What has been seen of a call's arguments.
typedef struct {
    const Token *open;
    int base;                   // of the list on the parser's stack
    const Ast *keyword, *mapping;   // the last `name=...`, `**...`
    const Ast *generator;       // one without parentheses of its own
    Map names;
} Arguments;

// '*' expression, '**' expression
static Ast *spread(Parser *p, Arguments *args)
{
    bool mapping = parse_at(p, TOK_POWER);
    Ast *n = parse_node(p, mapping ? AST_DOUBLESTAR : AST_STARRED, p->at++);

    n->a = parse_expr(p);
    if (mapping)
        args->mapping = n;
    else if (args->mapping)
        parse_report(p, n->at, "syntax-argument", "a '*' argument cannot "
                     "follow a '**' argument");
    return parse_finish(p, n);
}

static void check_repeated(Parser *p, Arguments *args, const Ast *n)
{
    const Ast *first = map_get(&args->names, n->text);

    if (!first)
        map_set(p->arena, &args->names, n->text, (Ast *)n);
    else if (parse_report(p, n->name_at, "syntax-argument", "the keyword "
                          "argument '%.*s' is given twice",
                          TEXT_ARG(n->text)))
        diag_note(p->diag, first->name_at, "first given here");
}

// NAME '=' expression
static Ast *keyword(Parser *p, Arguments *args)
{
    Ast *n = parse_node(p, AST_KEYWORD, p->at);

    n->text = p->at->value;
    parse_check_name(p, p->at);
    p->at += 2;
    check_repeated(p, args, n);
    n->a = parse_expr(p);
    args->keyword = n;
    return parse_finish(p, n);
}

// `f(a.b=1)`, `f(True=1)`: the '=' stands behind what is not a name.
static void bad_keyword(Parser *p, const Ast *n)
{
    Span at = span_join(n->at, p->at->at);

    if (parse_report(p, at, "syntax-argument", "expected a name before '=' in "
                     "the arguments of a call, found %s", parse_describe(n)))
        diag_note(p->diag, p->at->at, "a comparison is written '=='");
    p->at++;
    parse_expr(p);
}

static Ast *generator_argument(Parser *p, Ast *element, const Token *begin)
{
    Ast *n = parse_node(p, AST_GENERATOR, begin);

    n->a = element;
    n->x = parse_comp_clauses(p);
    return parse_finish(p, n);
}

// named_expression [comprehension]
static Ast *positional(Parser *p, Arguments *args)
{
    const Token *begin = p->at;
    Ast *n = parse_named(p);

    if (parse_at(p, TOK_EQUAL))
        bad_keyword(p, n);
    if (parse_at_comp(p))
        args->generator = n = generator_argument(p, n, begin);
    if (args->mapping)
        parse_report(p, n->at, "syntax-argument", "a positional argument "
                     "cannot follow a '**' argument");
    else if (args->keyword)
        parse_report(p, n->at, "syntax-argument", "a positional argument "
                     "cannot follow a keyword argument");
    return n;
}

// argument = '*' expression | '**' expression | NAME '=' expression
//          | named_expression [comprehension]
static Ast *argument(Parser *p, Arguments *args)
{
    if (parse_at(p, TOK_STAR) || parse_at(p, TOK_POWER))
        return spread(p, args);
    if (parse_at(p, TOK_NAME) && p->at[1].kind == TOK_EQUAL)
        return keyword(p, args);
    return positional(p, args);
}

// A generator needs no parentheses of its own where it is all there is; its
// place then includes those of the call.
static void check_generator(Parser *p, Arguments *args, Ast *call, bool comma)
{
    bool alone = call->x.len == 1 && !comma && call->a;

    if (!args->generator)
        return;
    if (alone)
        call->x.at[0]->at = span_join(args->open->at, p->at[-1].at);
    else
        parse_report(p, args->generator->at, "syntax-argument", "a generator "
                     "expression needs parentheses unless it is the only "
                     "argument of a call");
}

// arguments = argument (',' argument)* [',']
void parse_arguments(Parser *p, Ast *call, const Token *open)
{
    Arguments args = {.open = open, .base = p->stack.len};
    bool comma = false;

    if (!parse_enter(p))
        return;
    while (!parse_at(p, TOK_RPAREN)) {
        parse_push(p, argument(p, &args));
        comma = parse_accept(p, TOK_COMMA);
        if (!comma)
            break;
    }
    if (!parse_accept(p, TOK_RPAREN))
        parse_expected(p, "',' or ')'", open);
    parse_leave(p);
    call->x = parse_pop(p, args.base);
    check_generator(p, &args, call, comma);
}

static bool at_slice_end(const Parser *p)
{
    return parse_at(p, TOK_COLON) || parse_at(p, TOK_COMMA) ||
           parse_at(p, TOK_RBRACKET);
}

static Ast *optional_expr(Parser *p)
{
    return at_slice_end(p) ? NULL : parse_expr(p);
}

// slice = [expression] ':' [expression] [':' [expression]]
//       | star_named_expression
static Ast *slice(Parser *p)
{
    const Token *begin = p->at;
    Ast *lower = NULL, *n;

    if (!parse_at(p, TOK_COLON)) {
        lower = parse_star_named(p);
        if (!parse_at(p, TOK_COLON) || lower->kind == AST_STARRED)
            return lower;
    }
    n = parse_node(p, AST_SLICE, begin);
    n->a = lower;
    if (lower && lower->kind == AST_NAMEDEXPR && !lower->grouped)
        parse_report(p, lower->at, "syntax-expected", "an assignment "
                     "expression needs parentheses in a slice");
    parse_accept(p, TOK_COLON);
    n->b = optional_expr(p);
    if (parse_accept(p, TOK_COLON))
        n->c = optional_expr(p);
    return parse_finish(p, n);
}

// slices = slice !',' | slice (',' slice)* [',']
static Ast *slices(Parser *p)
{
    const Token *begin = p->at;
    int base = p->stack.len;
    Ast *first = slice(p), *n;

    if (!parse_at(p, TOK_COMMA) && first->kind != AST_STARRED)
        return first;
    parse_push(p, first);
    while (parse_accept(p, TOK_COMMA) && !parse_at(p, TOK_RBRACKET))
        parse_push(p, slice(p));
    n = parse_node(p, AST_TUPLE, begin);
    n->x = parse_pop(p, base);
    return parse_finish(p, n);
}

// subscript = '[' slices ']'
Ast *parse_subscript(Parser *p, Ast *value, const Token *begin)
{
    const Token *open = p->at++;
    Ast *n = parse_node(p, AST_SUBSCRIPT, open);

    n->a = value;
    n->at = begin->at;
    if (parse_at(p, TOK_RBRACKET))
        parse_expected(p, "an index", open);
    n->b = parse_deeper(p, slices);
    if (!parse_accept(p, TOK_RBRACKET))
        parse_expected(p, "',' or ']'", open);
    return parse_finish(p, n);
}
