// parse_block.c - compound statements and their blocks.
#include "lang/parse_int.h"

// Skips a block without reading it.
static void skip_block(Parser *p)
{
    int depth = 0;

    if (!parse_at(p, TOK_INDENT))
        return;
    do {
        depth += parse_at(p, TOK_INDENT);
        depth -= parse_at(p, TOK_DEDENT);
        p->at++;
    } while (depth && !parse_at(p, TOK_END));
}

// statements DEDENT, at an INDENT
static void indented(Parser *p)
{
    const Token *begin = p->at;

    if (!parse_enter(p)) {
        p->at = begin;
        skip_block(p);
        return;
    }
    parse_accept(p, TOK_INDENT);
    parse_statements(p);
    parse_accept(p, TOK_DEDENT);
    parse_leave(p);
}

static void no_block(Parser *p, const Token *word)
{
    Place at = sources_place(p->sources, word->at.file, word->at.begin);

    parse_report(p, p->at->at, "syntax-indent", "expected an indented block "
                 "after '%.*s' on line %d", TEXT_ARG(word->value), at.line);
}

static void no_colon(Parser *p, const Token *word)
{
    bool else_if = parse_at(p, TOK_IF) && p->at[-1].kind == TOK_ELSE;
    Span at = p->at->at;
    char what[48];

    snprintf(what, sizeof what, "':' to begin the block of '%.*s'",
             TEXT_ARG(word->value));
    parse_expected(p, what, NULL);
    if (p->reported && else_if)
        diag_note(p->diag, at, "'else if' is written 'elif'");
}

// block = ':' (NEWLINE INDENT statements DEDENT | simple_line); `word` begins
// the statement. After an error in the header its block is read all the same.
static AstList block(Parser *p, const Token *word)
{
    int base = p->stack.len;
    bool failed;

    if (!p->panic && !parse_accept(p, TOK_COLON))
        no_colon(p, word);
    failed = p->panic;
    p->panic = false;
    if (!failed && !parse_at(p, TOK_NEWLINE)) {
        parse_simple_line(p);
    } else if (parse_accept(p, TOK_NEWLINE), parse_at(p, TOK_INDENT)) {
        indented(p);
    } else if (!failed) {
        no_block(p, word);
        failed = true;
    }
    p->panic = false;
    p->failed = failed;
    return parse_pop(p, base);
}

static Ast *else_block(Parser *p)
{
    Ast *n = parse_node(p, AST_BLOCK, p->at);

    n->x = block(p, p->at++);
    return parse_finish(p, n);
}

// ['else' block]
static AstList optional_else(Parser *p)
{
    if (!parse_at(p, TOK_ELSE))
        return (AstList){0};
    return block(p, p->at++);
}

static AstList list_of_one(Parser *p, Ast *n)
{
    int base = p->stack.len;

    parse_push(p, n);
    return parse_pop(p, base);
}

// ('if' | 'elif') named_expression block
static Ast *branch(Parser *p)
{
    const Token *word = p->at++;
    Ast *n = parse_node(p, AST_IF, word);

    n->a = parse_named(p);
    n->x = block(p, word);
    return n;
}

// if = 'if' named_expression block ('elif' named_expression block)*
//      ['else' block]
static Ast *if_statement(Parser *p)
{
    Ast *first = branch(p), *last = first;

    while (parse_at(p, TOK_ELIF)) {
        Ast *next = branch(p);

        last->y = list_of_one(p, next);
        last = next;
    }
    last->y = optional_else(p);
    for (Ast *n = first; n != last; n = n->y.at[0])
        parse_finish(p, n);
    parse_finish(p, last);
    return first;
}

// while = 'while' named_expression block ['else' block]
static Ast *while_statement(Parser *p)
{
    const Token *word = p->at++;
    Ast *n = parse_node(p, AST_WHILE, word);

    n->a = parse_named(p);
    n->x = block(p, word);
    n->y = optional_else(p);
    return parse_finish(p, n);
}

// for = 'for' star_targets 'in' star_expressions block ['else' block]
static Ast *for_statement(Parser *p, const Token *begin)
{
    const Token *word = p->at++;
    Ast *n = parse_node(p, AST_FOR, begin);

    n->is_async = begin != word;
    n->a = parse_for_target(p);
    n->b = parse_star_exprs(p);
    parse_check_unstarred(p, n->b);
    n->x = block(p, word);
    n->y = optional_else(p);
    return parse_finish(p, n);
}

// with_item = expression ['as' star_target]
static Ast *with_item(Parser *p)
{
    Ast *n = parse_node(p, AST_WITHITEM, p->at);

    n->a = parse_expr(p);
    if (parse_accept(p, TOK_AS)) {
        n->b = parse_or_expr(p);
        parse_check_target(p, n->b, TARGET_WITH);
    }
    return parse_finish(p, n);
}

static int depth_change(TokenKind k)
{
    switch (k) {
    case TOK_LPAREN: case TOK_LBRACKET: case TOK_LBRACE:
        return 1;
    case TOK_RPAREN: case TOK_RBRACKET: case TOK_RBRACE:
        return -1;
    default:
        return 0;
    }
}

// At the '(' behind `with`: does it enclose the items, rather than begin the
// first of them? It does if ':' follows its ')' and what it encloses can be
// items: no generator, no ':=', no yield, no star in front.
static bool items_in_parentheses(const Parser *p)
{
    const Token *t = p->at + 1;
    bool as = false, other = t->kind == TOK_YIELD || t->kind == TOK_RPAREN;

    for (int depth = 1; t->kind != TOK_NEWLINE && t->kind != TOK_END; t++) {
        depth += depth_change(t->kind);
        if (!depth)
            break;
        if (depth > 1)
            continue;
        as |= t->kind == TOK_AS;
        other |= t->kind == TOK_WALRUS || t->kind == TOK_FOR ||
                 (t->kind == TOK_STAR && (t[-1].kind == TOK_LPAREN ||
                                          t[-1].kind == TOK_COMMA));
    }
    return t->kind == TOK_RPAREN && t[1].kind == TOK_COLON && (as || !other);
}

static void with_items(Parser *p)
{
    const Token *open = NULL;

    if (parse_at(p, TOK_LPAREN) && items_in_parentheses(p))
        open = p->at++;
    do
        parse_push(p, with_item(p));
    while (parse_accept(p, TOK_COMMA) && !(open && parse_at(p, TOK_RPAREN)));
    if (open && !parse_accept(p, TOK_RPAREN))
        parse_expected(p, "'as', ',' or ')'", open);
}

// with = 'with' (with_item (',' with_item)* | '(' with_item (',' with_item)*
//        [','] ')') block
static Ast *with_statement(Parser *p, const Token *begin)
{
    const Token *word = p->at++;
    Ast *n = parse_node(p, AST_WITH, begin);
    int base = p->stack.len;

    n->is_async = begin != word;
    with_items(p);
    n->x = parse_pop(p, base);
    n->y = block(p, word);
    return parse_finish(p, n);
}

// [expression ['as' NAME]], the type of an exception handler
static void handler_type(Parser *p, Ast *n, bool star)
{
    const Token *name;

    if (parse_at(p, TOK_COLON) && !star)
        return;
    if (!parse_at_expr(p))
        parse_expected(p, star ? "exception types after 'except*'"
                               : "an exception type or ':'", NULL);
    n->a = parse_expr(p);
    if (parse_at(p, TOK_COMMA))
        parse_fail(p, n->a->at, "syntax-except", "several exception types "
                   "need parentheses");
    if (!parse_accept(p, TOK_AS))
        return;
    name = parse_expect_name(p, "a name after 'as'");
    if (name) {
        parse_check_name(p, name);
        n->text = name->value;
        n->name_at = name->at;
    }
}

// handler = 'except' ['*'] [expression ['as' NAME]] block
static Ast *handler(Parser *p, Ast *try_node, int index)
{
    const Token *word = p->at++;
    Ast *n = parse_node(p, AST_HANDLER, word);
    bool star = parse_accept(p, TOK_STAR) != NULL;

    if (!index)
        try_node->except_star = star;
    else if (star != try_node->except_star)
        parse_report(p, word->at, "syntax-except", "'except' and 'except*' "
                     "cannot be mixed in one 'try'");
    handler_type(p, n, star);
    n->x = block(p, word);
    return parse_finish(p, n);
}

static void handlers(Parser *p, Ast *n)
{
    int base = p->stack.len;
    const Ast *bare = NULL;

    while (parse_at(p, TOK_EXCEPT)) {
        Ast *h = handler(p, n, p->stack.len - base);

        if (bare)
            diag_error(p->diag, EXIT_PROGRAM, bare->at, "syntax-except",
                       "an 'except' without type must be the last");
        bare = h->a ? NULL : h;
        parse_push(p, h);
    }
    n->y = parse_pop(p, base);
}

// try = 'try' block (handler+ ['else' block] ['finally' block]
//       | 'finally' block)
static Ast *try_statement(Parser *p)
{
    const Token *word = p->at++;
    Ast *n = parse_node(p, AST_TRY, word);
    bool failed;

    n->x = block(p, word);
    failed = p->failed;
    handlers(p, n);
    if (parse_at(p, TOK_ELSE) && n->y.len)
        n->a = else_block(p);
    if (parse_at(p, TOK_FINALLY))
        n->b = else_block(p);
    n->has_else = n->a != NULL;
    if (!n->y.len && !n->b && !failed &&
        parse_report(p, p->at->at, "syntax-expected", "expected 'except' or "
                     "'finally' to complete 'try'"))
        diag_note(p->diag, word->at, "'try' is here");
    return parse_finish(p, n);
}

// function = ['async'] 'def' NAME [type_params] '(' params ')'
//            ['->' expression] block
static Ast *function(Parser *p, const Token *begin)
{
    const Token *word = p->at++, *name, *open;
    Ast *n = parse_node(p, AST_FUNCTION, begin);

    n->is_async = begin != word;
    name = parse_expect_name(p, "the name of the function");
    if (name) {
        parse_check_name(p, name);
        n->text = name->value;
        n->name_at = name->at;
    }
    n->c = parse_type_params(p);
    open = parse_expect(p, TOK_LPAREN, NULL);
    n->b = parse_params(p, TOK_RPAREN, open);
    parse_expect(p, TOK_RPAREN, open);
    if (parse_accept(p, TOK_ARROW))
        n->a = parse_expr(p);
    n->x = block(p, word);
    return parse_finish(p, n);
}

// class = 'class' NAME [type_params] ['(' [arguments] ')'] block
static Ast *class_statement(Parser *p)
{
    const Token *word = p->at++, *name, *open;
    Ast *n = parse_node(p, AST_CLASS, word);

    name = parse_expect_name(p, "the name of the class");
    if (name) {
        parse_check_name(p, name);
        n->text = name->value;
        n->name_at = name->at;
    }
    n->b = parse_type_params(p);
    open = parse_accept(p, TOK_LPAREN);
    if (open) {
        n->a = parse_node(p, AST_CALL, open);
        parse_arguments(p, n->a, open);
        parse_finish(p, n->a);
    }
    n->x = block(p, word);
    return parse_finish(p, n);
}

// 'async' (function | for | with)
static Ast *async_statement(Parser *p)
{
    const Token *begin = p->at++;

    if (parse_at(p, TOK_DEF))
        return function(p, begin);
    if (parse_at(p, TOK_FOR))
        return for_statement(p, begin);
    if (parse_at(p, TOK_WITH))
        return with_statement(p, begin);
    parse_expected(p, "'def', 'for' or 'with' after 'async'", NULL);
    parse_accept(p, TOK_NEWLINE);
    return parse_error_node(p);
}

// decorator = '@' named_expression NEWLINE
static void decorator(Parser *p)
{
    p->statement = p->at++;
    parse_push(p, parse_named(p));
    if (!p->panic && !parse_at(p, TOK_NEWLINE))
        parse_expected(p, "the end of the line after a decorator", NULL);
    parse_accept(p, TOK_NEWLINE);
    p->panic = false;
}

// decorated = decorator+ (function | class)
static Ast *decorated(Parser *p)
{
    int base = p->stack.len;
    AstList all;
    Ast *n;

    while (parse_at(p, TOK_AT))
        decorator(p);
    all = parse_pop(p, base);
    if (parse_at(p, TOK_DEF)) {
        n = function(p, p->at);
    } else if (parse_at(p, TOK_ASYNC) && p->at[1].kind == TOK_DEF) {
        n = async_statement(p);
    } else if (parse_at(p, TOK_CLASS)) {
        n = class_statement(p);
    } else {
        parse_expected(p, "'def' or 'class' after a decorator", NULL);
        parse_accept(p, TOK_NEWLINE);
        return parse_error_node(p);
    }
    n->y = all;
    return n;
}

// 'match' subject ':' NEWLINE INDENT 'case': elsewhere `match` is a name
static bool at_match(Parser *p)
{
    const Token *end = p->at;

    if (!parse_at_word(p, "match") ||
        (p->at > p->first && token_info[p->at[-1].kind].class != TOKEN_LAYOUT))
        return false;
    while (end->kind != TOK_NEWLINE && end->kind != TOK_END)
        end++;
    return end - p->at >= 3 && end[-1].kind == TOK_COLON &&
           end->kind == TOK_NEWLINE && end[1].kind == TOK_INDENT &&
           end[2].kind == TOK_NAME && text_is(end[2].value, "case");
}

static Ast *refuse_match(Parser *p)
{
    Ast *n = parse_error_node(p);

    diag_error(p->diag, EXIT_LIMIT, p->at->at, "syntax-match", "the match "
               "statement is not supported; write it with if and elif");
    parse_skip_line(p);
    parse_accept(p, TOK_NEWLINE);
    skip_block(p);
    return n;
}

// `else` and the like where no statement of theirs is open.
static Ast *stray_clause(Parser *p, bool silent)
{
    static const char *const owners[] = {
        [TOK_ELSE] = "'if', 'for', 'while' or 'try'", [TOK_ELIF] = "'if'",
        [TOK_EXCEPT] = "'try'", [TOK_FINALLY] = "'try'",
    };
    const Token *word = p->at++;
    Ast *n = parse_node(p, AST_BLOCK, word);

    if (!silent)
        parse_report(p, word->at, "syntax-expected", "'%.*s' belongs to no %s "
                     "at this indentation", TEXT_ARG(word->value),
                     owners[word->kind]);
    parse_skip_line(p);
    p->panic = true;
    n->x = block(p, word);
    return n;
}

static Ast *compound(Parser *p, bool failed)
{
    switch (p->at->kind) {
    case TOK_IF:
        return if_statement(p);
    case TOK_WHILE:
        return while_statement(p);
    case TOK_FOR:
        return for_statement(p, p->at);
    case TOK_WITH:
        return with_statement(p, p->at);
    case TOK_TRY:
        return try_statement(p);
    case TOK_DEF:
        return function(p, p->at);
    case TOK_CLASS:
        return class_statement(p);
    case TOK_ASYNC:
        return async_statement(p);
    case TOK_AT:
        return decorated(p);
    case TOK_ELSE: case TOK_ELIF: case TOK_EXCEPT: case TOK_FINALLY:
        return stray_clause(p, failed);
    default:
        return at_match(p) ? refuse_match(p) : NULL;
    }
}

// A block that nothing announces, or that of a header with an error.
static void unexpected_indent(Parser *p, bool failed)
{
    if (!failed)
        parse_report(p, p->at->at, "syntax-indent", "unexpected indentation: "
                     "no block begins here");
    indented(p);
    p->failed = failed;
}

// statement = compound | simple_line
static void statement(Parser *p)
{
    bool failed = p->failed;
    Ast *n;

    p->panic = p->failed = false;
    p->too_deep &= p->depth > 0;
    p->statement = p->at;
    if (parse_at(p, TOK_INDENT)) {
        unexpected_indent(p, failed);
        return;
    }
    n = compound(p, failed);
    if (n)
        parse_push(p, n);
    else
        parse_simple_line(p);
}

void parse_statements(Parser *p)
{
    while (!parse_at(p, TOK_END) && !parse_at(p, TOK_DEDENT))
        statement(p);
}
