// read_stmt.c - statements of the text form.
#include "ir/text_int.h"

enum { MAX_ID = 1 << 24 };

// ---- attributes -------------------------------------------------------------

static bool read_attr(Reader *r, IrStmt *s, Text name)
{
    IrAttrId id;
    IrAttrValue v;
    if (!ir_attr_find(name, &id))
        return reader_fail(r, "unknown attribute '%.*s'", TEXT_ARG(name));
    if (!read_attr_value(r, &v))
        return false;
    ir_attr(r->k, s, id, v);
    return true;
}

// name "="
static bool read_key(Reader *r, Text *name)
{
    *name = reader_name(r);
    return !r->failed && reader_need(r, "=");
}

// ["@(" name "=" value {","} ")"]
static bool read_attr_suffix(Reader *r, IrStmt *s)
{
    Text name;
    if (!reader_take(r, "@("))
        return true;
    do {
        if (!read_key(r, &name) || !read_attr(r, s, name))
            return false;
    } while (reader_take(r, ","));
    return reader_need(r, ")");
}

// ---- loops and launches -----------------------------------------------------

static bool find_loop(Text word, IrLoopKind *out)
{
    for (int l = LOOP_SERIAL; l <= LOOP_GRID; l++) {
        if (!text_starts(word, "T.") || !text_is(text_slice(word, 2, word.len),
                                                 ir_loop_name((IrLoopKind)l)))
            continue;
        *out = (IrLoopKind)l;
        return true;
    }
    return false;
}

// [start ":+"] trips
static bool read_trips(Reader *r, IrStmt *s, int i)
{
    Span at = r->word.at;
    s->start[i] = ir_int(r->k, DT_I32, 0, at);
    s->extent[i] = read_expr(r);
    if (s->extent[i] && reader_take(r, ":+")) {
        s->start[i] = s->extent[i];
        s->extent[i] = read_expr(r);
    }
    return s->extent[i] != NULL;
}

static bool read_loop_option(Reader *r, IrStmt *s)
{
    Text name;
    if (!read_key(r, &name))
        return false;
    IrExpr **out = text_is(name, "step")         ? &s->step
                   : text_is(name, "wave_size")  ? &s->wave_size
                   : text_is(name, "index")      ? &s->wave_index
                   : text_is(name, "group_size") ? &s->group_size : NULL;
    if (!out)
        return read_attr(r, s, name);
    *out = read_expr(r);
    return *out != NULL;
}

// "for" var {"," var} "in" loop "(" trips {"," trips} {"," option} ")" block
static bool read_for(Reader *r, IrStmt *s)
{
    do {
        if (s->var_count == IR_MAX_RANK)
            return reader_fail(r, "too many loop variables");
        s->vars[s->var_count] = reader_var(r);
        if (!s->vars[s->var_count++])
            return false;
    } while (reader_take(r, ","));
    if (!reader_need(r, "in"))
        return false;
    if (!find_loop(r->word.text, &s->loop) || r->word.kind != WORD_NAME)
        return reader_fail(r, "expected a loop, T.serial or another");
    reader_next(r);
    if (!reader_need(r, "("))
        return false;
    for (int i = 0; i < s->var_count; i++)
        if ((i && !reader_need(r, ",")) || !read_trips(r, s, i))
            return false;
    while (reader_take(r, ","))
        if (!read_loop_option(r, s))
            return false;
    return reader_need(r, ")") && (s->then = read_block(r));
}

static bool read_threads(Reader *r, IrStmt *s)
{
    if (!reader_need(r, "["))
        return false;
    for (int i = 0; i < 3; i++)
        if ((i && !reader_need(r, ",")) ||
            !reader_int(r, 0, INT32_MAX, &s->threads[i]))
            return false;
    return reader_need(r, "]");
}

// var "<" size | "threads" "=" [x, y, z] | name "=" value
static bool read_launch_part(Reader *r, IrStmt *s)
{
    const Entity *e = reader_entity(r);
    Text name;
    if (e && e->var && e->var->kind == VAR_BLOCK) {
        if (s->var_count == IR_MAX_GRID)
            return reader_fail(r, "at most %d grid sizes", IR_MAX_GRID);
        s->vars[s->var_count] = reader_var(r);
        if (!reader_need(r, "<"))
            return false;
        s->extent[s->var_count] = read_expr(r);
        return s->extent[s->var_count++] != NULL;
    }
    if (!read_key(r, &name))
        return false;
    return text_is(name, "threads") ? read_threads(r, s)
                                    : read_attr(r, s, name);
}

static bool read_launch(Reader *r, IrStmt *s)
{
    if (!reader_need(r, "T.Kernel") || !reader_need(r, "("))
        return false;
    do {
        if (!read_launch_part(r, s))
            return false;
    } while (reader_take(r, ","));
    return reader_need(r, ")") && (s->then = read_block(r));
}

// ---- tile operations --------------------------------------------------------

static bool read_operand(Reader *r, IrStmt *s, int i)
{
    const OpParam *p = &op_info(r->k->ops, s->op)->param[i];
    const Entity *e = reader_entity(r);
    IrOperand *o = &s->operand[i];
    if (o->kind != OPERAND_NONE)
        return reader_fail(r, "%.*s is given twice", TEXT_ARG(p->name));
    if (p->kind != ARG_EXPR && e && e->buffer) {
        *o = (IrOperand){.kind = OPERAND_REGION, .region = read_region(r)};
        return o->region != NULL;
    }
    *o = (IrOperand){.kind = OPERAND_EXPR, .expr = read_expr(r)};
    return o->expr != NULL;
}

// Is "name =" ahead?
static bool key_ahead(const Reader *r)
{
    size_t i = r->pos;
    if (r->word.kind != WORD_NAME)
        return false;
    while (i < r->text.len && r->text.at[i] == ' ')
        i++;
    return i < r->text.len && r->text.at[i] == '=' &&
           !(i + 1 < r->text.len && r->text.at[i + 1] == '=');
}

static bool read_named_part(Reader *r, IrStmt *s)
{
    const OpInfo *info = op_info(r->k->ops, s->op);
    Text name;
    if (!read_key(r, &name))
        return false;
    int i = op_param_find(info, name);
    return i >= 0 && op_param_is_operand(&info->param[i])
               ? read_operand(r, s, i) : read_attr(r, s, name);
}

static IrStmt *read_tile(Reader *r, Op op, Span at)
{
    IrStmt *s = ir_tile(r->k, op, at);
    int position = 0;
    reader_next(r);
    if (!reader_need(r, "("))
        return NULL;
    if (reader_take(r, ")"))
        return s;
    do {
        bool named = key_ahead(r);
        if (!named && position == s->operand_count)
            return reader_fail(r, "%s takes fewer operands", op_surface(op));
        if (named ? !read_named_part(r, s) : !read_operand(r, s, position++))
            return NULL;
    } while (reader_take(r, ",") || reader_take(r, "->"));
    return reader_need(r, ")") ? s : NULL;
}

// ---- statements -------------------------------------------------------------

static bool read_let(Reader *r, IrStmt *s)
{
    s->var = reader_var(r);
    return s->var && reader_need(r, "=") && (s->value = read_expr(r));
}

static IrStmt *read_store(Reader *r, Span at)
{
    IrExpr *index[IR_MAX_RANK];
    int n;
    IrBuffer *b = reader_buffer(r);
    if (!b || !reader_need(r, "[") ||
        !read_exprs(r, "]", index, IR_MAX_RANK, &n) || !reader_need(r, "="))
        return NULL;
    IrExpr *value = read_expr(r);
    IrStmt *s = value ? ir_store(r->k, b, index, n, value, at) : NULL;
    r->failed |= !s;
    return s;
}

static bool read_if(Reader *r, IrStmt *s)
{
    s->cond = read_expr(r);
    s->then = s->cond ? read_block(r) : NULL;
    if (!s->then || !reader_take(r, "else"))
        return s->then != NULL;
    s->otherwise = read_block(r);
    return s->otherwise != NULL;
}

static bool read_while(Reader *r, IrStmt *s)
{
    s->cond = read_expr(r);
    return s->cond && (s->then = read_block(r));
}

// buffer ["at" address]
static bool read_alloc(Reader *r, IrStmt *s)
{
    s->buffer = reader_buffer(r);
    if (!s->buffer || !reader_take(r, "at"))
        return s->buffer != NULL;
    s->buffer->pointed = true;
    s->value = read_expr(r);
    return s->value != NULL;
}

static bool read_by_kind(Reader *r, IrStmt *s)
{
    switch (s->kind) {
    case STMT_ALLOC: return read_alloc(r, s);
    case STMT_LET: return read_let(r, s);
    case STMT_IF: return read_if(r, s);
    case STMT_FOR: return read_for(r, s);
    case STMT_WHILE: return read_while(r, s);
    case STMT_LAUNCH: return read_launch(r, s);
    case STMT_ASSERT: return (s->cond = read_expr(r)) != NULL;
    case STMT_EVAL: return (s->value = read_expr(r)) != NULL;
    default: return true;
    }
}

static const struct {
    const char *word;
    IrStmtKind kind;
} words[] = {
    {"alloc", STMT_ALLOC},       {"let", STMT_LET},     {"if", STMT_IF},
    {"for", STMT_FOR},           {"while", STMT_WHILE}, {"with", STMT_LAUNCH},
    {"assert", STMT_ASSERT},     {"eval", STMT_EVAL},   {"break", STMT_BREAK},
    {"continue", STMT_CONTINUE},
};

static IrStmt *read_word_stmt(Reader *r, IrStmtKind kind, Span at)
{
    IrStmt *s = ir_stmt(r->k, kind, at);
    s->id = -1;
    reader_next(r);
    return read_by_kind(r, s) ? s : NULL;
}

static IrStmt *read_head(Reader *r)
{
    Span at = r->word.at;
    const Entity *e;
    Op op;
    for (size_t i = 0; i < countof(words); i++)
        if (reader_is(r, words[i].word))
            return read_word_stmt(r, words[i].kind, at);
    e = reader_entity(r);
    if (e)
        return read_store(r, at);
    if (r->word.kind == WORD_NAME && reader_op(r, r->word.text, &op))
        return read_tile(r, op, at);
    return reader_fail(r, "expected a statement");
}

// id ["<" id]
static bool read_ids(Reader *r, int *id, int *origin)
{
    int64_t v;
    if (!reader_int(r, 0, MAX_ID, &v))
        return false;
    *id = (int)v;
    if (!reader_take(r, "<"))
        return true;
    if (!reader_int(r, 0, MAX_ID, &v))
        return false;
    *origin = (int)v;
    return true;
}

// [ids ":"] head ["@(" attributes ")"] | block
static IrStmt *read_stmt(Reader *r)
{
    int id = -1, origin = -1;
    if (reader_is(r, "{"))
        return read_block(r);
    if (r->word.kind == WORD_INT &&
        (!read_ids(r, &id, &origin) || !reader_need(r, ":")))
        return NULL;
    IrStmt *s = read_head(r);
    if (!s || !read_attr_suffix(r, s))
        return NULL;
    s->id = id;
    s->origin = origin;
    return s;
}

static bool read_statements(Reader *r, IrStmt *block)
{
    while (!reader_take(r, "}")) {
        IrStmt *s = read_stmt(r);
        if (!s)
            return r->failed ? false
                             : reader_fail(r, "expected a statement or '}'");
        ir_append(r->k, block, s);
    }
    return true;
}

IrStmt *read_block(Reader *r)
{
    IrStmt *s = ir_block(r->k, r->word.at);
    s->id = -1;
    if (!reader_need(r, "{") || !reader_enter(r))
        return NULL;
    bool good = (!reader_take(r, "#") || read_ids(r, &s->id, &s->origin)) &&
                read_attr_suffix(r, s) && read_statements(r, s);
    reader_leave(r);
    return good ? s : NULL;
}

// ---- ids --------------------------------------------------------------------

static bool largest_id(void *ctx, IrStmt *s)
{
    IrKernel *k = ctx;
    if (s->id >= k->next_stmt)
        k->next_stmt = s->id + 1;
    return true;
}

static bool give_id(void *ctx, IrStmt *s)
{
    IrKernel *k = ctx;
    if (s->id < 0)
        s->id = k->next_stmt++;
    return true;
}

void number_statements(IrKernel *k)
{
    k->next_stmt = 0;
    ir_walk(k->body, largest_id, NULL, k);
    ir_walk(k->body, give_id, NULL, k);
}
