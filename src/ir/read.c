// read.c - reads the text form that print.c writes.
//
// Sections may stand in any order in which names come before their use. A
// reader stops at its first syntax error; what was read is then verified like
// any other IR.
#include "ir/text_int.h"

static void add_entity(Reader *r, Text word, IrVar *var, IrBuffer *buffer)
{
    Entity *e = new(r->arena, Entity);
    *e = (Entity){.var = var, .buffer = buffer};
    if (map_find(&r->names, word))
        reader_fail(r, "'%.*s' stands for two things", TEXT_ARG(word));
    else
        map_set(r->arena, &r->names, word, e);
}

// word ["name"] ":"
static bool read_spelling(Reader *r, Text *word, Text *name)
{
    *word = *name = reader_name(r);
    if (r->word.kind == WORD_STRING)
        *name = reader_string(r);
    return !r->failed && reader_need(r, ":");
}

static bool read_dtype(Reader *r, DType *out)
{
    if (r->word.kind != WORD_NAME || !dtype_find(r->word.text, out))
        return reader_fail(r, "expected a dtype");
    reader_next(r);
    return true;
}

// ---- vars -------------------------------------------------------------------

static bool read_var_kind(Reader *r, IrVarKind *out)
{
    for (int kind = VAR_LOOP; kind <= VAR_PARAM; kind++) {
        *out = (IrVarKind)kind;
        if (reader_take(r, var_kind_name(*out)))
            return true;
    }
    return reader_fail(r, "expected loop, block, thread, let, symbol or param");
}

// id word ["name"] ":" kind dtype
static bool read_one_var(Reader *r)
{
    int64_t id;
    Text word, name;
    IrVarKind kind;
    DType t;
    Span at = r->word.at;
    if (!reader_int(r, 0, INT32_MAX - 1, &id) ||
        !read_spelling(r, &word, &name) || !read_var_kind(r, &kind) ||
        !read_dtype(r, &t))
        return false;
    IrVar *v = ir_var(r->k, kind, name, t, at);
    v->id = (int)id;
    add_entity(r, word, v, NULL);
    return !r->failed;
}

static bool read_vars(Reader *r)
{
    if (!reader_need(r, "{"))
        return false;
    while (!reader_take(r, "}"))
        if (!read_one_var(r))
            return false;
    return true;
}

// ---- buffers ----------------------------------------------------------------

static bool read_scope(Reader *r, IrScope *out)
{
    for (int s = SCOPE_GLOBAL; s <= SCOPE_REDUCER; s++) {
        *out = (IrScope)s;
        if (reader_take(r, ir_scope_name(*out)))
            return true;
    }
    return reader_fail(r, "expected a memory scope");
}

static bool read_strides(Reader *r, IrBuffer *b)
{
    int n;
    if (!reader_need(r, "[") ||
        !read_exprs(r, "]", b->strides, IR_MAX_RANK, &n))
        return false;
    return n == b->rank || reader_fail(r, "expected %d strides", b->rank);
}

static bool read_buffer_options(Reader *r, IrBuffer *b)
{
    if (reader_take(r, "strides") && !read_strides(r, b))
        return false;
    if (reader_take(r, "alias_of") && !(b->alias_of = reader_buffer(r)))
        return false;
    if (reader_take(r, "safe_value") && !(b->safe_value = read_expr(r)))
        return false;
    return !reader_is(r, "layout") || (b->layout = read_index_map(r));
}

// id word ["name"] ":" dtype "[" shape "]" scope options
static bool read_one_buffer(Reader *r)
{
    int64_t id;
    Text word, name;
    DType t;
    IrScope scope;
    IrExpr *shape[IR_MAX_RANK];
    int rank;
    Span at = r->word.at;
    if (!reader_int(r, 0, INT32_MAX, &id))
        return false;
    if (id != r->k->buffer_count)
        return reader_fail(r, "buffers are numbered from 0 without gaps");
    if (!read_spelling(r, &word, &name) || !read_dtype(r, &t) ||
        !reader_need(r, "[") ||
        !read_exprs(r, "]", shape, IR_MAX_RANK, &rank) ||
        !read_scope(r, &scope))
        return false;
    IrBuffer *b = ir_buffer(r->k, name, t, scope, rank, shape, NULL, at);
    r->failed |= !b;
    if (!b || !read_buffer_options(r, b))
        return false;
    add_entity(r, word, NULL, b);
    return !r->failed;
}

static bool read_buffers(Reader *r)
{
    if (!reader_need(r, "{"))
        return false;
    while (!reader_take(r, "}"))
        if (!read_one_buffer(r))
            return false;
    return true;
}

// ---- params, symbols --------------------------------------------------------

static bool read_params(Reader *r)
{
    if (!reader_need(r, "{"))
        return false;
    while (!reader_take(r, "}")) {
        Text name = reader_string(r);
        const Entity *e = reader_entity(r);
        if (!e || (e->buffer && e->buffer->param >= 0))
            return reader_fail(r, "expected a variable, or a buffer that is no "
                                  "parameter yet");
        reader_next(r);
        ir_param(r->k, name, e->buffer, e->var);
    }
    return true;
}

static bool read_symbols(Reader *r)
{
    do {
        IrVar *v = reader_var(r);
        if (!v || v->kind != VAR_SYMBOL)
            return reader_fail(r, "expected a symbol before this");
        add_symbol(r->k, v);
    } while (reader_take(r, ","));
    return true;
}

// ---- config -----------------------------------------------------------------

static bool read_outputs(Reader *r)
{
    struct { int *at; int len, room; } v = {0};
    int64_t n;
    do {
        if (!reader_int(r, 0, INT32_MAX, &n))
            return false;
        vec_push(r->arena, &v, (int)n);
    } while (reader_take(r, ","));
    r->k->config.outputs = v.at;
    r->k->config.output_count = v.len;
    return true;
}

typedef struct {
    struct { Text *at; int len, room; } names, values;
} Arguments;

static bool read_config_line(Reader *r, Arguments *a)
{
    IrConfig *c = &r->k->config;
    if (reader_take(r, "outputs"))
        return read_outputs(r);
    if (reader_take(r, "pass_configs"))
        return read_attr_value(r, &c->pass_configs);
    if (reader_take(r, "compile_flags"))
        return read_attr_value(r, &c->compile_flags);
    if (reader_take(r, "autotune_configs"))
        return read_attr_value(r, &c->autotune_configs);
    if (reader_take(r, "eager"))
        return c->eager = true;
    if (reader_take(r, "target")) {
        c->target = reader_string(r);
        return !r->failed;
    }
    if (!reader_take(r, "argument"))
        return reader_fail(r, "unknown configuration");
    vec_push(r->arena, &a->names, reader_string(r));
    vec_push(r->arena, &a->values, reader_string(r));
    return !r->failed;
}

static bool read_config(Reader *r)
{
    Arguments a = {0};
    if (!reader_need(r, "{"))
        return false;
    while (!reader_take(r, "}"))
        if (!read_config_line(r, &a))
            return false;
    r->k->config.argument_names = a.names.at;
    r->k->config.argument_values = a.values.at;
    r->k->config.argument_count = a.names.len;
    return true;
}

// ---- kernel -----------------------------------------------------------------

static bool read_body(Reader *r)
{
    IrStmt *body = read_block(r);
    if (!body)
        return false;
    r->k->body = body;
    number_statements(r->k);
    return true;
}

static const struct {
    const char *word;
    bool (*read)(Reader *r);
} sections[] = {
    {"vars", read_vars},       {"buffers", read_buffers},
    {"params", read_params},   {"symbols", read_symbols},
    {"config", read_config},   {"body", read_body},
    {"spans", read_spans},
};

static bool read_section(Reader *r, Map *files, unsigned *seen)
{
    if (reader_take(r, "source"))
        return read_source(r, files);
    for (unsigned i = 0; i < countof(sections); i++) {
        if (!reader_is(r, sections[i].word))
            continue;
        if (*seen >> i & 1)
            return reader_fail(r, "a second section '%s'", sections[i].word);
        *seen |= 1u << i;
        reader_next(r);
        return sections[i].read(r);
    }
    return reader_fail(r, "expected a section: vars, buffers, params, symbols, "
                          "config, body, source or spans");
}

static bool need_section(Reader *r, unsigned seen, const char *word)
{
    for (unsigned i = 0; i < countof(sections); i++)
        if (text_is(text_of(word), sections[i].word) && seen >> i & 1)
            return true;
    return reader_fail(r, "expected a section '%s'", word);
}

static void renumber_vars(IrKernel *k)
{
    Arena *a = arena_create();
    VarList vars = vars_of(a, k);
    k->next_var = vars.len ? vars.at[vars.len - 1]->id + 1 : 0;
    arena_destroy(a);
}

// "tilesim-ir" 1 "kernel" "name" {section}
static IrKernel *read_kernel(Reader *r, const OpTable *ops, Map *files)
{
    int64_t version;
    unsigned seen = 0;
    Span at = r->word.at;
    if (!reader_need(r, "tilesim") || !reader_need(r, "-") ||
        !reader_need(r, "ir") || !reader_int(r, 1, 1, &version) ||
        !reader_need(r, "kernel"))
        return NULL;
    r->k = ir_kernel(r->arena, ops, r->diag, reader_string(r), at);
    r->names = (Map){0};
    r->files.len = 0;
    while (!r->failed && r->word.kind != WORD_END && !reader_is(r, "tilesim"))
        if (!read_section(r, files, &seen))
            return NULL;
    if (r->failed || !need_section(r, seen, "body") ||
        (r->files.len && !need_section(r, seen, "spans")))
        return NULL;
    renumber_vars(r->k);
    return ir_verify(r->k) ? r->k : NULL;
}

IrKernel *ir_read(Arena *a, const OpTable *ops, Diag *d, SourceSet *sources,
                  uint32_t file)
{
    Map files = {0};
    Reader r = {.arena = a, .diag = d, .sources = sources, .file = file,
                .text = sources_get(sources, file)->text};
    IrKernel *first = NULL, **last = &first;
    reader_next(&r);
    do {
        *last = read_kernel(&r, ops, &files);
        if (!*last)
            return NULL;
        last = &(*last)->next;
    } while (r.word.kind != WORD_END);
    return r.failed ? NULL : first;
}
