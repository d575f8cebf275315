// parse_stmt.c - statements of one line, and lines of them.
#include "lang/parse_int.h"

// Short words are alike by chance: those must have the same letters.
static bool is_misspelt(Text found, Text word)
{
    int sum = 0;

    if (word.len < 3 || text_distance(found, word) != 1)
        return false;
    for (size_t i = 0; word.len == 3 && i < found.len; i++)
        sum += found.at[i];
    for (size_t i = 0; word.len == 3 && i < word.len; i++)
        sum -= word.at[i];
    return sum == 0;
}

// The keyword that the NAME at the statement's start is probably meant to be.
static void note_meant_keyword(Parser *p, const Token *first)
{
    if (!p->reported || first->kind != TOK_NAME)
        return;
    for (int k = TOK_FALSE; k < TOK_COUNT; k++)
        if (token_is_keyword((TokenKind)k) &&
            is_misspelt(first->value, text_of(token_info[k].text))) {
            diag_note(p->diag, first->at, "did you mean '%s'?",
                      token_info[k].text);
            return;
        }
}

// ['=' (yield | star_expressions)]
static Ast *annotated(Parser *p, Ast *target)
{
    Ast *n = parse_node(p, AST_ANNASSIGN, p->at++);

    n->at = p->statement->at;
    n->a = target;
    parse_check_target(p, target, TARGET_ANNOTATED);
    if (parse_at(p, TOK_NEWLINE)) {
        parse_expected(p, "an annotation after ':'", NULL);
        note_meant_keyword(p, p->statement);
    }
    n->b = parse_expr(p);
    if (parse_accept(p, TOK_EQUAL))
        n->c = parse_yield_or_exprs(p);
    parse_check_unstarred(p, n->c);
    return parse_finish(p, n);
}

static Ast *augmented(Parser *p, Ast *target)
{
    Ast *n = parse_node(p, AST_AUGASSIGN, p->at);

    n->op = token_info[p->at++->kind].op;
    n->at = p->statement->at;
    n->a = target;
    parse_check_target(p, target, TARGET_AUGMENTED);
    n->b = parse_yield_or_exprs(p);
    parse_check_unstarred(p, n->b);
    return parse_finish(p, n);
}

// (target '=')+ (yield | star_expressions), given the first target
static Ast *assignment(Parser *p, Ast *first)
{
    int base = p->stack.len;
    Ast *n = parse_node(p, AST_ASSIGN, p->at), *value = first;

    n->at = p->statement->at;
    while (parse_accept(p, TOK_EQUAL)) {
        parse_check_target(p, value, TARGET_ASSIGN);
        parse_push(p, value);
        value = parse_yield_or_exprs(p);
    }
    parse_check_unstarred(p, value);
    n->a = value;
    n->x = parse_pop(p, base);
    return parse_finish(p, n);
}

// star_expressions, alone or as the target of an assignment
static Ast *expression_statement(Parser *p)
{
    Ast *first = parse_yield_or_exprs(p), *n;

    if (parse_at(p, TOK_COLON))
        return annotated(p, first);
    if (token_info[p->at->kind].class == TOKEN_AUGMENTED)
        return augmented(p, first);
    if (parse_at(p, TOK_EQUAL))
        return assignment(p, first);
    parse_check_unstarred(p, first);
    n = parse_node(p, AST_EXPRSTMT, p->statement);
    n->a = first;
    return parse_finish(p, n);
}

static bool at_end(const Parser *p)
{
    return parse_at(p, TOK_NEWLINE) || parse_at(p, TOK_SEMICOLON) ||
           parse_at(p, TOK_END);
}

// return = 'return' [star_expressions]
static Ast *return_statement(Parser *p)
{
    Ast *n = parse_node(p, AST_RETURN, p->at++);

    if (!at_end(p))
        n->a = parse_star_exprs(p);
    parse_check_unstarred(p, n->a);
    return parse_finish(p, n);
}

// raise = 'raise' [expression ['from' expression]]
static Ast *raise_statement(Parser *p)
{
    Ast *n = parse_node(p, AST_RAISE, p->at++);

    if (!at_end(p))
        n->a = parse_expr(p);
    if (n->a && parse_accept(p, TOK_FROM))
        n->b = parse_expr(p);
    if (parse_at(p, TOK_COMMA))
        parse_fail(p, p->at->at, "syntax-expected", "expected one exception; "
                   "its message is written 'raise Error(message)'");
    return parse_finish(p, n);
}

static void check_assert(Parser *p, const Ast *n)
{
    if (!n->b && n->a->kind == AST_TUPLE && n->a->x.len)
        diag_warning(p->diag, n->a->at, "syntax-assert", "this is a tuple, "
                     "which is always true; remove the parentheses");
}

// assert = 'assert' expression [',' expression]
static Ast *assert_statement(Parser *p)
{
    Ast *n = parse_node(p, AST_ASSERT, p->at++);

    n->a = parse_expr(p);
    if (parse_accept(p, TOK_COMMA))
        n->b = parse_expr(p);
    check_assert(p, n);
    return parse_finish(p, n);
}

// del = 'del' targets
static Ast *del_statement(Parser *p)
{
    Ast *n = parse_node(p, AST_DELETE, p->at++);
    int base = p->stack.len;
    Ast *all = parse_targets(p);

    parse_check_target(p, all, TARGET_DELETE);
    if (all->kind == AST_TUPLE && !all->grouped) {
        n->x = all->x;
    } else {
        parse_push(p, all);
        n->x = parse_pop(p, base);
    }
    return parse_finish(p, n);
}

// ('global' | 'nonlocal') NAME (',' NAME)*
static Ast *declaration(Parser *p, AstKind kind)
{
    Ast *n = parse_node(p, kind, p->at++), *name;
    int base = p->stack.len;

    do {
        const Token *t = parse_expect_name(p, "a name");

        if (!t)
            break;
        name = parse_node(p, AST_NAME, t);
        name->text = t->value;
        parse_push(p, name);
    } while (parse_accept(p, TOK_COMMA));
    n->x = parse_pop(p, base);
    return parse_finish(p, n);
}

// type = 'type' NAME [type_params] '=' expression
static Ast *type_statement(Parser *p)
{
    Ast *n = parse_node(p, AST_TYPEALIAS, p->at++);

    n->text = p->at->value;
    n->name_at = p->at++->at;
    n->b = parse_type_params(p);
    parse_expect(p, TOK_EQUAL, NULL);
    n->a = parse_expr(p);
    return parse_finish(p, n);
}

static bool at_type_statement(const Parser *p)
{
    return parse_at_word(p, "type") && p->at[1].kind == TOK_NAME &&
           (p->at[2].kind == TOK_EQUAL || p->at[2].kind == TOK_LBRACKET);
}

static Ast *word_statement(Parser *p, AstKind kind)
{
    return parse_node(p, kind, p->at++);
}

static Ast *simple_statement(Parser *p)
{
    switch (p->at->kind) {
    case TOK_RETURN:
        return return_statement(p);
    case TOK_RAISE:
        return raise_statement(p);
    case TOK_ASSERT:
        return assert_statement(p);
    case TOK_DEL:
        return del_statement(p);
    case TOK_IMPORT:
        return parse_import(p);
    case TOK_FROM:
        return parse_from_import(p);
    case TOK_GLOBAL:
        return declaration(p, AST_GLOBAL);
    case TOK_NONLOCAL:
        return declaration(p, AST_NONLOCAL);
    case TOK_PASS:
        return word_statement(p, AST_PASS);
    case TOK_BREAK:
        return word_statement(p, AST_BREAK);
    case TOK_CONTINUE:
        return word_statement(p, AST_CONTINUE);
    default:
        return at_type_statement(p) ? type_statement(p)
                                    : expression_statement(p);
    }
}

static bool is_print(Text t)
{
    return text_is(t, "print") || text_is(t, "exec");
}

// After a whole statement.
static void unexpected(Parser *p)
{
    const Token *first = p->statement;

    if (first->kind == TOK_NAME && is_print(first->value) &&
        p->at == first + 1) {
        parse_fail(p, p->at->at, "syntax-expected", "expected '(' after "
                   "'%.*s': it is a function", TEXT_ARG(first->value));
        return;
    }
    parse_expected(p, "the end of the statement", NULL);
    note_meant_keyword(p, first);
}

// simple_line = simple_statement (';' simple_statement)* [';'] NEWLINE
void parse_simple_line(Parser *p)
{
    do {
        Ast *n;

        p->statement = p->at;
        n = simple_statement(p);
        parse_push(p, p->panic ? parse_error_node(p) : n);
    } while (parse_accept(p, TOK_SEMICOLON) && !at_end(p));
    if (!p->panic && !parse_at(p, TOK_NEWLINE))
        unexpected(p);
    parse_accept(p, TOK_NEWLINE);
}
