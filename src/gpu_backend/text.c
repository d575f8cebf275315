// text.c - lines of the output, and names that the language takes.
#include "gpu_backend/emit_int.h"

#include <string.h>

static void put_line(Emit *e, const char *format, va_list args)
{
    for (int i = 0; i < e->indent; i++)
        buf_puts(e->out, "    ");
    buf_vprintf(e->out, format, args);
    buf_addc(e->out, '\n');
}

void line(Emit *e, const char *format, ...)
{
    va_list args;

    if (e->quiet)
        return;
    va_start(args, format);
    put_line(e, format, args);
    va_end(args);
}

void open_brace(Emit *e, const char *format, ...)
{
    va_list args;

    if (!e->quiet) {
        va_start(args, format);
        put_line(e, format, args);
        va_end(args);
    }
    e->indent++;
}

void close_brace(Emit *e)
{
    e->indent--;
    line(e, "}");
}

void note_line(Emit *e, const IrStmt *s)
{
    const Source *source = s->at.file ? sources_get(e->sources, s->at.file)
                                      : NULL;

    if (!source || e->quiet)
        return;
    const char *slash = strrchr(source->path, '/');
    line(e, "// %s:%d", slash ? slash + 1 : source->path,
         sources_place(e->sources, s->at.file, s->at.begin).line);
}

Text fresh(Emit *e, const char *stem)
{
    return text_format(e->arena, "%s_%d", stem, ++e->temps);
}

// ---- names -----------------------------------------------------------------

// Words of the language, and names that every kernel has.
static const char *const reserved[] = {
    "alignas", "alignof", "and", "arena", "asm", "auto", "bf16", "bitand",
    "bitor", "bool", "break", "case", "catch", "char", "class", "compl",
    "const", "constexpr", "continue", "default", "delete", "do", "double",
    "else", "enum", "explicit", "export", "extern", "f16", "f32", "f64",
    "false", "float", "for", "friend", "goto", "i16", "i32", "i64", "i8", "if",
    "inline", "int", "l", "lane", "long", "main", "max", "min", "mutable",
    "namespace", "new", "not", "nullptr", "operator", "or", "p", "private",
    "protected", "public", "register", "return", "short", "signed", "sizeof",
    "static", "struct", "switch", "template", "this", "throw", "tid", "true",
    "try", "tf32", "typedef", "typename", "u16", "u32", "u64", "u8", "union",
    "unsigned", "using", "virtual", "void", "volatile", "warp", "while", "xor",
    "log", "exp", "exp2", "sin", "cos", "tan", "abs", "floor", "ceil", "round",
    "sqrt", "pow", "erf", "tanh", "log2", "log10", "printf", "clock", "NULL",
    "y0", "y1", "yn", "j0", "j1", "jn", "gamma", "index", "linux", "unix",
    "e0", "e1", "e2", "e3", "e4", "e5", "e6", "e7", "k0", "m0", "n0", "o0",
    "o1", "r0", "i0", "x0", "x1", "x2", "first", "sums", "across", "sum0",
    "t0", "ta", "tb", "ti", "tj", "part", "work", "points",
    "DEVICE", "LANES", "threadIdx", "blockIdx", "gridDim", "blockDim",
    "warpSize",
    "e4m3", "e5m2", "assert",
    "im_m", "im_k", "im_h", "im_w", "im_n", "im_c", "im_y", "im_x", "im_in",
    "before", "before_phase", "desc_a", "desc_b", "group", "slot",
    "slot_ahead", "phase", "trip", "trips",
    "barriers",
};

static bool is_reserved(const Emit *e, Text name)
{
    if (prelude_has(e, name))
        return true;
    for (size_t i = 0; i < countof(reserved); i++)
        if (text_is(name, reserved[i]))
            return true;
    return false;
}

static Text clean(Emit *e, Text wanted)
{
    char *at = (char *)text_format(e->arena, "%.*s_", TEXT_ARG(wanted)).at;
    size_t n = wanted.len;

    for (size_t i = 0; i < n; i++) {
        char c = at[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9' && i) && c != '_')
            at[i] = '_';
    }
    if (n == 0)
        return TEXT("v");
    return (Text){at, n};
}

static Text unique(Emit *e, Map *used, Text wanted, int id, bool buffer)
{
    Text name = clean(e, wanted);

    // Two underscores belong to the compiler.
    if (is_reserved(e, name) || map_get(used, name) || name.at[0] == '_')
        name = text_format(e->arena, "%.*s_%s%d", TEXT_ARG(name),
                           buffer ? "b" : "v", id);
    if (name.at[0] == '_')
        name = text_format(e->arena, "v%.*s", TEXT_ARG(name));
    while (map_get(used, name))
        name = text_format(e->arena, "%.*s_", TEXT_ARG(name));
    map_set(e->arena, used, name, e);
    return name;
}

typedef struct {
    Emit *e;
    Map used;
} Naming;

static void name_var(Naming *n, const IrVar *v)
{
    if (!n->e->var[v->id].len)
        n->e->var[v->id] = unique(n->e, &n->used, v->name, v->id, false);
}

static bool name_stmt(void *ctx, IrStmt *s)
{
    Naming *n = ctx;

    if (s->kind == STMT_LET)
        name_var(n, s->var);
    if (s->kind == STMT_FOR || s->kind == STMT_LAUNCH)
        for (int i = 0; i < s->var_count; i++)
            name_var(n, s->vars[i]);
    return true;
}

// Names in order of appearance, parameters first.
void name_all(Emit *e)
{
    Naming n = {.e = e};
    IrKernel *k = e->k;

    e->var = new_array(e->arena, Text, k->next_var + 1);
    e->buffer = new_array(e->arena, Text, k->buffer_count + 1);
    for (int i = 0; i < k->buffer_count; i++)
        e->buffer[i] = unique(e, &n.used, k->buffers[i]->name, i, true);
    for (int i = 0; i < k->symbol_count; i++)
        name_var(&n, k->symbols[i]);
    for (int i = 0; i < k->param_count; i++)
        if (k->params[i].var)
            name_var(&n, k->params[i].var);
    ir_walk(k->body, name_stmt, NULL, &n);
}
