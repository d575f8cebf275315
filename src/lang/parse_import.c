// parse_import.c - import and from ... import.
#include "lang/parse_int.h"

// dotted_name = NAME ('.' NAME)*: the text without blanks
static Text dotted_name(Parser *p, const char *what)
{
    const Token *first = parse_expect_name(p, what), *last = first;
    TextBuf b = {0};
    Text t;

    if (!first)
        return TEXT("");
    buf_text(&b, first->value);
    while (last && parse_accept(p, TOK_DOT)) {
        last = parse_expect_name(p, "a name after '.'");
        buf_addc(&b, '.');
        buf_text(&b, last ? last->value : TEXT(""));
    }
    t = text_copy(p->arena, buf_view(&b));
    buf_release(&b);
    return t;
}

static void as_name(Parser *p, Ast *alias)
{
    const Token *t;

    if (!parse_accept(p, TOK_AS))
        return;
    t = parse_expect_name(p, "a name after 'as'");
    if (!t)
        return;
    parse_check_name(p, t);
    alias->as = t->value;
    alias->name_at = t->at;
}

// dotted_name ['as' NAME]
static Ast *module_alias(Parser *p)
{
    Ast *n = parse_node(p, AST_ALIAS, p->at);

    n->text = dotted_name(p, "the name of a module");
    as_name(p, n);
    return parse_finish(p, n);
}

// import = 'import' module_alias (',' module_alias)*
Ast *parse_import(Parser *p)
{
    Ast *n = parse_node(p, AST_IMPORT, p->at++);
    int base = p->stack.len;

    do
        parse_push(p, module_alias(p));
    while (parse_accept(p, TOK_COMMA));
    if (parse_at(p, TOK_FROM))
        parse_fail(p, n->at, "syntax-import", "write 'from module import "
                   "name'");
    n->x = parse_pop(p, base);
    return parse_finish(p, n);
}

// NAME ['as' NAME]
static Ast *name_alias(Parser *p)
{
    Ast *n = parse_node(p, AST_ALIAS, p->at);
    const Token *name = parse_expect_name(p, "a name to import");

    if (!name)
        return n;
    n->text = name->value;
    as_name(p, n);
    return parse_finish(p, n);
}

static void star_alias(Parser *p)
{
    Ast *n = parse_node(p, AST_ALIAS, p->at++);

    n->text = TEXT("*");
    parse_push(p, n);
}

// name_alias (',' name_alias)* [','], the last comma only in parentheses
static void name_aliases(Parser *p, const Token *open)
{
    do {
        if (open && parse_at(p, TOK_RPAREN) && p->at[-1].kind == TOK_COMMA)
            break;
        if (!open && parse_at(p, TOK_NEWLINE) &&
            p->at[-1].kind == TOK_COMMA) {
            parse_fail(p, p->at[-1].at, "syntax-import", "names to import "
                       "can end with ',' only in parentheses");
            return;
        }
        parse_push(p, name_alias(p));
    } while (parse_accept(p, TOK_COMMA));
    if (open && !parse_accept(p, TOK_RPAREN))
        parse_expected(p, "',' or ')'", open);
}

static int leading_dots(Parser *p)
{
    int level = 0;

    for (;; p->at++) {
        if (parse_at(p, TOK_DOT))
            level++;
        else if (parse_at(p, TOK_ELLIPSIS))
            level += 3;
        else
            return level;
    }
}

// from = 'from' ('.' | '...')* [dotted_name] 'import'
//        ('*' | '(' name_aliases ')' | name_aliases)
Ast *parse_from_import(Parser *p)
{
    Ast *n = parse_node(p, AST_IMPORTFROM, p->at++);
    int base = p->stack.len;

    n->level = leading_dots(p);
    if (!n->level || !parse_at(p, TOK_IMPORT))
        n->text = dotted_name(p, "the name of a module after 'from'");
    parse_expect(p, TOK_IMPORT, NULL);
    if (parse_at(p, TOK_STAR))
        star_alias(p);
    else
        name_aliases(p, parse_accept(p, TOK_LPAREN));
    n->x = parse_pop(p, base);
    return parse_finish(p, n);
}
