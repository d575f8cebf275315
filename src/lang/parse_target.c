// parse_target.c - what can be assigned to, deleted, and bound by a loop.
#include "lang/parse_int.h"

const char *parse_describe(const Ast *n)
{
    static const char *const constants[] = {"None", "True", "False", "'...'"};
    static const char *const words[AST_COUNT] = {
        [AST_NAME] = "a name", [AST_NUMBER] = "a literal",
        [AST_STRING] = "a literal", [AST_BYTES] = "a literal",
        [AST_FSTRING] = "an f-string", [AST_TUPLE] = "a tuple",
        [AST_LIST] = "a list", [AST_SET] = "a set", [AST_DICT] = "a dict",
        [AST_COMPARE] = "a comparison", [AST_IFEXP] = "a choice",
        [AST_LAMBDA] = "a lambda", [AST_CALL] = "a call",
        [AST_ATTRIBUTE] = "an attribute", [AST_SUBSCRIPT] = "a subscript",
        [AST_STARRED] = "a starred expression",
        [AST_LISTCOMP] = "a list comprehension",
        [AST_SETCOMP] = "a set comprehension",
        [AST_DICTCOMP] = "a dict comprehension",
        [AST_GENERATOR] = "a generator expression",
        [AST_YIELD] = "a yield expression",
        [AST_YIELDFROM] = "a yield expression",
        [AST_AWAIT] = "an await expression",
        [AST_NAMEDEXPR] = "an assignment expression",
    };

    if (n->kind == AST_CONSTANT)
        return constants[n->constant];
    return words[n->kind] ? words[n->kind] : "an expression";
}

static bool name_ok(Parser *p, Text name, Span at)
{
    if (!text_is(name, "__debug__"))
        return true;
    parse_report(p, at, "syntax-target", "cannot assign to __debug__");
    return false;
}

bool parse_check_name(Parser *p, const Token *name)
{
    return name_ok(p, name->value, name->at);
}

static bool refuse(Parser *p, const Ast *n, TargetUse use)
{
    const char *what = parse_describe(n);

    if (n->kind == AST_ERROR)
        return false;
    if (use == TARGET_DELETE)
        parse_report(p, n->at, "syntax-target", "cannot delete %s", what);
    else if (use == TARGET_NAMED)
        parse_report(p, n->at, "syntax-target", "':=' can assign to a name "
                     "only, not to %s", what);
    else if (use == TARGET_ANNOTATED)
        parse_report(p, n->at, "syntax-target", "%s cannot have an annotation",
                     what);
    else if (use == TARGET_ASSIGN)
        parse_report(p, n->at, "syntax-target", "cannot assign to %s; did you "
                     "mean '=='?", what);
    else
        parse_report(p, n->at, "syntax-target", "cannot assign to %s", what);
    return false;
}

static bool takes_several(TargetUse use)
{
    return use == TARGET_ASSIGN || use == TARGET_DELETE || use == TARGET_FOR ||
           use == TARGET_WITH;
}

// One element of a tuple or list; a star may stand before one of them.
static bool check_element(Parser *p, const Ast *n, TargetUse use,
                          const Ast **star)
{
    if (n->kind != AST_STARRED || use == TARGET_DELETE)
        return parse_check_target(p, n, use);
    if (*star && parse_report(p, n->at, "syntax-star", "only one element of "
                              "an assignment can be starred"))
        diag_note(p->diag, (*star)->at, "the other one is here");
    *star = n;
    return parse_check_target(p, n->a, use);
}

static bool check_elements(Parser *p, const Ast *n, TargetUse use)
{
    const Ast *star = NULL;
    bool ok = true;

    if (!takes_several(use))
        return refuse(p, n, use);
    for (int i = 0; i < n->x.len; i++)
        ok &= check_element(p, n->x.at[i], use, &star);
    return ok;
}

bool parse_check_target(Parser *p, const Ast *n, TargetUse use)
{
    switch (n->kind) {
    case AST_NAME:
        if (use == TARGET_NAMED && n->grouped)
            return refuse(p, n, use);
        return name_ok(p, n->text, n->at);
    case AST_ATTRIBUTE:
        return use != TARGET_NAMED ? name_ok(p, n->text, n->name_at)
                                   : refuse(p, n, use);
    case AST_SUBSCRIPT:
        return use != TARGET_NAMED || refuse(p, n, use);
    case AST_TUPLE: case AST_LIST:
        return check_elements(p, n, use);
    case AST_STARRED:
        if (!takes_several(use) || use == TARGET_DELETE)
            return refuse(p, n, use);
        parse_report(p, n->at, "syntax-star", "a starred target must be an "
                     "element of a tuple or list; write '*name,'");
        return false;
    default:
        return refuse(p, n, use);
    }
}

void parse_check_unstarred(Parser *p, const Ast *n)
{
    if (n && n->kind == AST_STARRED)
        parse_report(p, n->at, "syntax-star", "a starred expression cannot "
                     "stand alone; a tuple of it ends with ','");
}
