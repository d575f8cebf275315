// names.c - how variables, buffers and operators are spelled in the text form.
#include "ir/text_int.h"

static bool name_byte(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (c >= '0' && c <= '9') || c >= 0x80;
}

static bool is_plain_name(Text t)
{
    for (size_t i = 0; i < t.len; i++)
        if (!name_byte((unsigned char)t.at[i]))
            return false;
    return t.len && !(t.at[0] >= '0' && t.at[0] <= '9');
}

// Words that mean something where an expression or statement can stand.
static bool is_reserved(Text t)
{
    static const char *const words[] = {
        "T", "and", "or", "not", "in", "True", "False", "None", "inf", "nan",
        "let", "alloc", "if", "else", "for", "while", "with", "assert", "break",
        "continue", "eval", "layout",
    };
    DType dtype;
    for (size_t i = 0; i < countof(words); i++)
        if (text_is(t, words[i]))
            return true;
    return text_starts(t, "inf_") || text_starts(t, "nan_") ||
           dtype_find(t, &dtype);
}

static void count_name(Names *n, Text name)
{
    int *uses = map_get(&n->uses, name);
    if (!uses) {
        uses = new(n->arena, int);
        map_set(n->arena, &n->uses, name, uses);
    }
    ++*uses;
}

void names_init(Names *n, Arena *a, const IrKernel *k, const VarList *vars)
{
    *n = (Names){.arena = a};
    for (int i = 0; i < vars->len; i++)
        count_name(n, vars->at[i]->name);
    for (int i = 0; i < k->buffer_count; i++)
        count_name(n, k->buffers[i]->name);
}

static bool stands_alone(const Names *n, Text name)
{
    const int *uses = n ? map_get(&n->uses, name) : NULL;
    return !n || (uses && *uses == 1 && is_plain_name(name) &&
                  !is_reserved(name));
}

static void spell(TextBuf *out, const Names *n, Text name, const char *mark,
                  int id)
{
    if (stands_alone(n, name)) {
        buf_text(out, name);
        return;
    }
    buf_text(out, is_plain_name(name) ? name : TEXT("_"));
    buf_printf(out, ".%s%d", mark, id);
}

void spell_var(TextBuf *out, const Names *n, const IrVar *v)
{
    spell(out, n, v->name, "", v->id);
}

void spell_buffer(TextBuf *out, const Names *n, const IrBuffer *b)
{
    spell(out, n, b->name, "b", b->id);
}

void print_string(TextBuf *out, Text t)
{
    buf_addc(out, '"');
    for (size_t i = 0; i < t.len; i++) {
        unsigned char c = (unsigned char)t.at[i];
        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c == '\n')
            buf_puts(out, "\\n");
        else if (c < 0x20 || c == 0x7f)
            buf_printf(out, "\\x%02x", c);
        else
            buf_addc(out, (char)c);
    }
    buf_addc(out, '"');
}

int infix_precedence(Op op)
{
    switch (op) {
    case OP_OR: return 1;
    case OP_AND: return 2;
    case OP_EQ: case OP_NE: case OP_LT: case OP_LE: case OP_GT: case OP_GE:
        return 4;
    case OP_BITOR: return 5;
    case OP_BITXOR: return 6;
    case OP_BITAND: return 7;
    case OP_SHL: case OP_SHR: return 8;
    case OP_ADD: case OP_SUB: return 9;
    case OP_MUL: case OP_DIV: case OP_FLOORDIV: case OP_FLOORMOD: return 10;
    case OP_POW: return 12;
    default: return 0;
    }
}

const char *op_spelling(Op op)
{
    return op == OP_ROUND_AWAY  ? "T.round_away"
           : op == OP_RNG_STATE ? "T.rng_state"
                                : op_surface(op);
}

const char *var_kind_name(IrVarKind kind)
{
    static const char *const names[] = {
        [VAR_LOOP] = "loop", [VAR_BLOCK] = "block", [VAR_THREAD] = "thread",
        [VAR_LET] = "let",   [VAR_SYMBOL] = "symbol", [VAR_PARAM] = "param",
    };
    return names[kind];
}
