// literal.c - values and expressions given as text by the user.
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

typedef struct {
    const Ast *module;          // of one statement, which is an expression
    Module *names;
    Value out;
} Evaluation;

static void evaluate(Lang *l, void *ctx)
{
    Evaluation *v = ctx;

    v->out = eval(l, frame_new(l, v->module, NULL, v->names),
                  v->module->x.at[0]->a);
}

bool lang_evaluate(Lang *l, Diag *d, Text expression, Module *names, Value *out)
{
    Arena *a = lang_arena(l);
    SourceSet *sources = l->options.sources;
    uint32_t file = sources_add(sources, "expression",
                                text_copy(a, expression));
    Evaluation v = {.names = names};
    LangError error;

    v.module = parse(a, d, sources, lex(a, d, sources, file));
    if (!v.module || diag_errors(d))
        return false;
    if (v.module->x.len != 1 || v.module->x.at[0]->kind != AST_EXPRSTMT) {
        diag_error(d, EXIT_PROGRAM, v.module->at, "expression",
                   "expected an expression");
        return false;
    }
    if (!lang_try(l, evaluate, &v, &error)) {
        diag_error(d, EXIT_PROGRAM, error.at, "expression", "%.*s: %.*s",
                   TEXT_ARG(error.type), TEXT_ARG(error.message));
        return false;
    }
    lang_pin(l, v.out);
    *out = v.out;
    return true;
}
