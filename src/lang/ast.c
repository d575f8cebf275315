// ast.c - names of node kinds and operators, and the tree in print.
#include "lang/ast.h"

#include "lang/parse_int.h"

const char *ast_name(AstKind k)
{
    static const char *const names[AST_COUNT] = {
#define AST(id, name, ...) [AST_##id] = name,
#include "lang/ast.def"
    };

    return k >= 0 && k < AST_COUNT ? names[k] : "?";
}

const char *ast_op_text(AstOp op)
{
    static const char *const texts[] = {
        [AST_OP_NONE] = "", [AST_OP_ADD] = "+", [AST_OP_SUB] = "-",
        [AST_OP_MUL] = "*", [AST_OP_DIV] = "/", [AST_OP_FLOORDIV] = "//",
        [AST_OP_MOD] = "%", [AST_OP_POW] = "**", [AST_OP_MATMUL] = "@",
        [AST_OP_SHL] = "<<", [AST_OP_SHR] = ">>", [AST_OP_AND] = "&",
        [AST_OP_OR] = "|", [AST_OP_XOR] = "^", [AST_OP_NEG] = "-",
        [AST_OP_POS] = "+", [AST_OP_INVERT] = "~", [AST_OP_NOT] = "not",
        [AST_OP_BOOL_AND] = "and", [AST_OP_BOOL_OR] = "or",
        [AST_OP_EQ] = "==", [AST_OP_NE] = "!=", [AST_OP_LT] = "<",
        [AST_OP_LE] = "<=", [AST_OP_GT] = ">", [AST_OP_GE] = ">=",
        [AST_OP_IS] = "is", [AST_OP_IS_NOT] = "is not", [AST_OP_IN] = "in",
        [AST_OP_NOT_IN] = "not in",
    };

    return op < countof(texts) ? texts[op] : "?";
}

typedef struct {
    const char *a, *b, *c, *x, *y, *text;
} Slots;

static const Slots slots[AST_COUNT] = {
#define AST(id, name, ...) [AST_##id] = {__VA_ARGS__},
#include "lang/ast.def"
};

// One line that is still to be printed; a NULL node is an absent entry of a
// list.
typedef struct {
    const Ast *n;
    const char *slot;
    int depth;
} Line;

typedef struct {
    TextBuf *out;
    const SourceSet *sources;
    Arena *arena;
    struct {
        Line *at;
        int len, room;
    } todo;
} Printer;

// Beyond a few levels the depth is a number, not blanks: a chain of operators
// is as deep as it is long.
static void put_indent(TextBuf *out, int depth)
{
    enum { WIDEST = 100 };

    for (int i = 0; i < depth && i < WIDEST; i++)
        buf_puts(out, "  ");
    if (depth >= WIDEST)
        buf_printf(out, "(%d) ", depth);
}

static void put_place(Printer *p, Span at)
{
    Place b, e;

    if (!at.file)
        return;
    b = sources_place(p->sources, at.file, at.begin);
    e = sources_place(p->sources, at.file, at.end);
    buf_printf(p->out, " @%d:%d-%d:%d", b.line, b.column, e.line, e.column);
}

static void put_number(TextBuf *out, const Ast *n)
{
    if (n->is_float)
        buf_printf(out, " %.17g%s", n->f64, n->imaginary ? "j" : "");
    else if (n->big)
        buf_puts(out, " big");
    else
        buf_printf(out, " %lld", (long long)n->i64);
}

static void put_names(TextBuf *out, const char *what, const Map *names)
{
    if (!names || !names->len)
        return;
    buf_printf(out, " %s(", what);
    for (int i = 0; i < names->len; i++)
        buf_printf(out, "%s%.*s", i ? " " : "", TEXT_ARG(names->at[i].key));
    buf_addc(out, ')');
}

static void put_ops(TextBuf *out, const Ast *n)
{
    for (int i = 0; i < n->x.len; i++)
        buf_printf(out, " %s", ast_op_text(n->ops[i]));
}

// What only one kind of node has.
static void put_own(TextBuf *out, const Ast *n)
{
    static const char *const constants[] = {"None", "True", "False",
                                            "Ellipsis"};
    static const char *const params[] = {"positional-only", "plain", "star",
                                         "keyword-only", "double-star"};

    switch (n->kind) {
    case AST_CONSTANT:
        buf_printf(out, " %s", constants[n->constant]);
        break;
    case AST_NUMBER:
        put_number(out, n);
        break;
    case AST_COMPARE:
        put_ops(out, n);
        break;
    case AST_PARAM: case AST_TYPEPARAM:
        buf_printf(out, " %s", params[n->param]);
        break;
    case AST_IMPORTFROM:
        buf_printf(out, " level=%d", n->level);
        break;
    case AST_FORMATTED:
        if (n->conversion)
            buf_printf(out, " !%c", n->conversion);
        break;
    case AST_FUNCTION: case AST_FOR: case AST_WITH: case AST_COMPFOR:
        buf_puts(out, n->is_async ? " async" : "");
        break;
    case AST_TRY:
        buf_puts(out, n->except_star ? " except*" : "");
        break;
    default:
        break;
    }
}

static void put_node(Printer *p, const Ast *n)
{
    TextBuf *out = p->out;

    buf_puts(out, ast_name(n->kind));
    if (n->op)
        buf_printf(out, " %s", ast_op_text(n->op));
    if (slots[n->kind].text &&
        (n->text.len || n->kind == AST_STRING || n->kind == AST_BYTES)) {
        buf_addc(out, ' ');
        token_put_text(out, n->text);
    }
    if (n->as.len)
        buf_printf(out, " as \"%.*s\"", TEXT_ARG(n->as));
    put_own(out, n);
    put_names(out, "locals", n->locals);
    put_names(out, "globals", n->globals);
    put_names(out, "nonlocals", n->nonlocals);
    buf_puts(out, n->is_generator ? " generator" : "");
    put_place(p, n->at);
}

static void push(Printer *p, const Ast *n, const char *slot, int depth)
{
    Line line = {n, slot, depth};

    vec_push(p->arena, &p->todo, line);
}

// Pushes what is last in print first.
static void push_list(Printer *p, AstList list, const char *slot, int depth)
{
    for (int i = list.len - 1; i >= 0; i--)
        push(p, list.at[i], slot, depth);
}

static void push_children(Printer *p, const Ast *n, int depth)
{
    const Slots *s = &slots[n->kind];

    push_list(p, n->y, s->y, depth);
    push_list(p, n->x, s->x, depth);
    if (n->c)
        push(p, n->c, s->c, depth);
    if (n->b)
        push(p, n->b, s->b, depth);
    if (n->a)
        push(p, n->a, s->a, depth);
}

void ast_print(TextBuf *out, const SourceSet *sources, const Ast *ast)
{
    Printer p = {.out = out, .sources = sources, .arena = arena_create()};

    push(&p, ast, NULL, 0);
    while (p.todo.len) {
        Line line = p.todo.at[--p.todo.len];

        put_indent(out, line.depth);
        if (line.slot)
            buf_printf(out, "%s: ", line.slot);
        if (line.n) {
            put_node(&p, line.n);
            push_children(&p, line.n, line.depth + 1);
        } else {
            buf_addc(out, '-');
        }
        buf_addc(out, '\n');
    }
    arena_destroy(p.arena);
}
