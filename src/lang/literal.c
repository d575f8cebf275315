// literal.c - values given as text on the command line.
#include "lang/lang_int.h"

static bool is_literal(const Ast *e, int depth)
{
    if (depth > 16)
        return false;
    switch (e->kind) {
    case AST_NUMBER:
        return !e->big && !e->imaginary;
    case AST_STRING:
    case AST_CONSTANT:
        return true;
    case AST_UNARY:
        return (e->op == AST_OP_NEG || e->op == AST_OP_POS)
               && e->a->kind == AST_NUMBER && is_literal(e->a, depth + 1);
    case AST_TUPLE:
    case AST_LIST:
        for (int i = 0; i < e->x.len; i++)
            if (!is_literal(e->x.at[i], depth + 1))
                return false;
        return true;
    case AST_DICT:
        for (int i = 0; i < e->x.len; i++)
            if (!e->x.at[i] || !is_literal(e->x.at[i], depth + 1)
                || !is_literal(e->y.at[i], depth + 1))
                return false;
        return true;
    default:
        return false;
    }
}

Value lang_literal(Lang *l, Text text)
{
    Arena *a = lang_arena(l);
    const LangOptions *o = &l->options;
    uint32_t file = sources_add(o->sources, "command line", text);
    Diag *silent = diag_create(o->sources, NULL, false);
    diag_quiet(silent, true);
    TokenList tokens = lex(a, silent, o->sources, file);
    Ast *e = diag_errors(silent) ? NULL
                                 : parse_expression(a, silent, o->sources, tokens);
    bool ok = e && diag_errors(silent) == 0 && is_literal(e, 0);
    diag_destroy(silent);
    if (!ok)
        return v_str(text_copy(a, text));
    return eval(l, frame_new(l, NULL, NULL, l->builtins), e);
}
