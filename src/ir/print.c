// print.c - a kernel as text that people and read.c can read.
//
//     tilesim-ir 1
//     kernel "main"
//     vars {
//         0 bx: block int32
//     }
//     buffers {
//         0 Q: float16[1, 2048, 8, 128] global
//     }
//     params {
//         "Q" Q
//     }
//     body { #0
//        1: with T.Kernel(bx < 16, threads=[128, 1, 1]) { #2
//        3:     alloc Q_shared
//        4:     T.copy(Q[0, bx * 128:+128, 3, 0:+128] -> Q_shared)
//     }}
//
// The number before a statement is its id, "12<5:" names the statement it was
// made from; "#2" is the id of a block. Regions read min:+extent, loops
// start:+trips. A variable or buffer whose name is not its alone is spelled
// with its id behind (i.7, A.b3). What the programs look like follows in
// spans.c's sections.
#include "ir/text_int.h"

typedef struct {
    Printer p;
    const IrKernel *k;
    int indent;
} Lines;

// ---- statements -------------------------------------------------------------

static void begin_line(const Lines *l, const IrStmt *s)
{
    TextBuf *out = l->p.out;
    char id[32];
    if (s && s->origin >= 0)
        snprintf(id, sizeof id, "%d<%d:", s->id, s->origin);
    else
        snprintf(id, sizeof id, s ? "%d:" : "%.0d", s ? s->id : 0);
    buf_printf(out, "%6s ", id);
    for (int i = 0; i < l->indent; i++)
        buf_puts(out, "    ");
}

static void comma(const Lines *l, bool *first)
{
    if (!*first)
        buf_puts(l->p.out, ", ");
    *first = false;
}

static void print_attrs(const Lines *l, const IrStmt *s, bool *first)
{
    for (const IrAttr *a = s->attrs; a; a = a->next) {
        comma(l, first);
        buf_printf(l->p.out, "%s=", ir_attr_name(a->id));
        print_attr_value(&l->p, &a->value);
    }
}

// Attributes of statements without parentheses of their own.
static void print_attr_suffix(const Lines *l, const IrStmt *s)
{
    bool first = true;
    if (!s->attrs)
        return;
    buf_puts(l->p.out, " @(");
    print_attrs(l, s, &first);
    buf_addc(l->p.out, ')');
}

static void print_named(const Lines *l, const char *name, const IrExpr *e)
{
    if (!e)
        return;
    buf_printf(l->p.out, ", %s=", name);
    print_expr(&l->p, e);
}

static bool is_plain_zero(const IrExpr *e)
{
    return e->kind == EXPR_INT && e->dtype == DT_I32 && e->i64 == 0;
}

static void print_for(const Lines *l, const IrStmt *s)
{
    TextBuf *out = l->p.out;
    buf_puts(out, "for ");
    for (int i = 0; i < s->var_count; i++) {
        buf_puts(out, i ? ", " : "");
        spell_var(out, l->p.names, s->vars[i]);
    }
    buf_printf(out, " in T.%s(", ir_loop_name(s->loop));
    for (int i = 0; i < s->var_count; i++) {
        buf_puts(out, i ? ", " : "");
        if (!is_plain_zero(s->start[i])) {
            print_expr(&l->p, s->start[i]);
            buf_puts(out, ":+");
        }
        print_expr(&l->p, s->extent[i]);
    }
    print_named(l, "step", s->step);
    print_named(l, "wave_size", s->wave_size);
    print_named(l, "index", s->wave_index);
    print_named(l, "group_size", s->group_size);
    bool first = false;
    print_attrs(l, s, &first);
    buf_addc(out, ')');
}

static void print_launch(const Lines *l, const IrStmt *s)
{
    TextBuf *out = l->p.out;
    buf_puts(out, "with T.Kernel(");
    for (int i = 0; i < s->var_count; i++) {
        spell_var(out, l->p.names, s->vars[i]);
        buf_puts(out, " < ");
        print_expr(&l->p, s->extent[i]);
        buf_puts(out, ", ");
    }
    buf_printf(out, "threads=[%lld, %lld, %lld]", (long long)s->threads[0],
               (long long)s->threads[1], (long long)s->threads[2]);
    bool first = false;
    print_attrs(l, s, &first);
    buf_addc(out, ')');
}

static void print_operand(const Lines *l, const IrOperand *o, ArgKind kind)
{
    if (o->kind == OPERAND_REGION) {
        print_region(&l->p, o->region);
        return;
    }
    // where a region could stand, parentheses tell A[i] the value from A[i]
    bool parens = kind != ARG_EXPR && o->expr->count > 0;
    parens |= kind != ARG_EXPR && o->expr->kind == EXPR_VAR;
    buf_puts(l->p.out, parens ? "(" : "");
    print_expr(&l->p, o->expr);
    buf_puts(l->p.out, parens ? ")" : "");
}

// Operands in order; behind one that is left out they carry their names.
static void print_tile(const Lines *l, const IrStmt *s)
{
    const OpInfo *info = op_info(l->k->ops, s->op);
    bool first = true, gap = false;
    char before = ' ';
    buf_printf(l->p.out, "%s(", info->surface);
    for (int i = 0; i < s->operand_count; i++) {
        const OpParam *param = &info->param[i];
        if (s->operand[i].kind == OPERAND_NONE) {
            gap = true;
            continue;
        }
        bool arrow = !first && before == 'r' && param->access != 'r' &&
                     param->access != ' ';
        if (!first)
            buf_puts(l->p.out, arrow ? " -> " : ", ");
        first = false;
        if (gap)
            buf_printf(l->p.out, "%.*s=", TEXT_ARG(param->name));
        print_operand(l, &s->operand[i], param->kind);
        before = param->access;
    }
    print_attrs(l, s, &first);
    buf_addc(l->p.out, ')');
}

static void print_store(const Lines *l, const IrStmt *s)
{
    spell_buffer(l->p.out, l->p.names, s->buffer);
    buf_addc(l->p.out, '[');
    print_exprs(&l->p, s->index, s->index_count);
    buf_puts(l->p.out, "] = ");
    print_expr(&l->p, s->value);
}

static void print_word(const Lines *l, const char *word, const IrExpr *e)
{
    buf_printf(l->p.out, "%s ", word);
    print_expr(&l->p, e);
}

static void print_head(const Lines *l, const IrStmt *s)
{
    TextBuf *out = l->p.out;
    switch (s->kind) {
    case STMT_BLOCK: break;
    case STMT_ALLOC:
        buf_puts(out, "alloc ");
        spell_buffer(out, l->p.names, s->buffer);
        if (s->value) {
            buf_puts(out, " at ");
            print_expr(&l->p, s->value);
        }
        break;
    case STMT_LET:
        buf_puts(out, "let ");
        spell_var(out, l->p.names, s->var);
        buf_puts(out, " = ");
        print_expr(&l->p, s->value);
        break;
    case STMT_STORE: print_store(l, s); break;
    case STMT_IF: print_word(l, "if", s->cond); break;
    case STMT_WHILE: print_word(l, "while", s->cond); break;
    case STMT_ASSERT: print_word(l, "assert", s->cond); break;
    case STMT_EVAL: print_word(l, "eval", s->value); break;
    case STMT_FOR: print_for(l, s); break;
    case STMT_LAUNCH: print_launch(l, s); break;
    case STMT_TILE: print_tile(l, s); break;
    case STMT_BREAK: buf_puts(out, "break"); break;
    case STMT_CONTINUE: buf_puts(out, "continue"); break;
    }
    if (s->kind != STMT_FOR && s->kind != STMT_LAUNCH && s->kind != STMT_TILE)
        print_attr_suffix(l, s);
}

static void print_stmt(Lines *l, const IrStmt *s);

static void print_block(Lines *l, const IrStmt *block)
{
    buf_puts(l->p.out, "{");
    buf_printf(l->p.out, " #%d", block->id);
    if (block->origin >= 0)
        buf_printf(l->p.out, "<%d", block->origin);
    print_attr_suffix(l, block);
    buf_addc(l->p.out, '\n');
    l->indent++;
    for (int i = 0; i < block->len; i++)
        print_stmt(l, block->body[i]);
    l->indent--;
    begin_line(l, NULL);
    buf_addc(l->p.out, '}');
}

static void print_stmt(Lines *l, const IrStmt *s)
{
    if (s->kind == STMT_BLOCK) {
        begin_line(l, NULL);
        print_block(l, s);
        buf_addc(l->p.out, '\n');
        return;
    }
    begin_line(l, s);
    print_head(l, s);
    if (ir_has_body(s)) {
        buf_addc(l->p.out, ' ');
        print_block(l, s->then);
        if (s->otherwise) {
            buf_puts(l->p.out, " else ");
            print_block(l, s->otherwise);
        }
    }
    buf_addc(l->p.out, '\n');
}

// ---- tables -----------------------------------------------------------------

// The word that stands for it, and its name when that is another.
static void print_spelling(TextBuf *out, size_t from, Text name)
{
    Text word = {out->at + from, out->len - from};
    if (text_eq(word, name))
        return;
    buf_addc(out, ' ');
    print_string(out, name);
}

static void print_vars(const Lines *l, const VarList *vars)
{
    TextBuf *out = l->p.out;
    buf_puts(out, "vars {\n");
    for (int i = 0; i < vars->len; i++) {
        const IrVar *v = vars->at[i];
        buf_printf(out, "%6d ", v->id);
        size_t from = out->len;
        spell_var(out, l->p.names, v);
        print_spelling(out, from, v->name);
        buf_printf(out, ": %s %s\n", var_kind_name(v->kind),
                   dtype_info(v->dtype)->name);
    }
    buf_puts(out, "}\n");
}

static void print_buffer(const Lines *l, const IrBuffer *b)
{
    TextBuf *out = l->p.out;
    buf_printf(out, "%6d ", b->id);
    size_t from = out->len;
    spell_buffer(out, l->p.names, b);
    print_spelling(out, from, b->name);
    buf_printf(out, ": %s[", dtype_info(b->dtype)->name);
    print_exprs(&l->p, b->shape, b->rank);
    buf_printf(out, "] %s", ir_scope_name(b->scope));
    if (b->strides[0]) {
        buf_puts(out, " strides [");
        print_exprs(&l->p, b->strides, b->rank);
        buf_addc(out, ']');
    }
    if (b->alias_of) {
        buf_puts(out, " alias_of ");
        spell_buffer(out, l->p.names, b->alias_of);
    }
    if (b->safe_value) {
        buf_puts(out, " safe_value ");
        print_expr(&l->p, b->safe_value);
    }
    if (b->layout) {
        buf_addc(out, ' ');
        print_index_map(&l->p, b->layout);
    }
    buf_addc(out, '\n');
}

static void print_params(const Lines *l)
{
    TextBuf *out = l->p.out;
    buf_puts(out, "params {\n");
    for (int i = 0; i < l->k->param_count; i++) {
        const IrParam *p = &l->k->params[i];
        buf_puts(out, "       ");
        print_string(out, p->name);
        buf_addc(out, ' ');
        if (p->is_scalar)
            spell_var(out, l->p.names, p->var);
        else
            spell_buffer(out, l->p.names, p->buffer);
        buf_addc(out, '\n');
    }
    buf_puts(out, "}\n");
}

static void print_symbols(const Lines *l)
{
    for (int i = 0; i < l->k->symbol_count; i++) {
        buf_puts(l->p.out, i ? ", " : "symbols ");
        spell_var(l->p.out, l->p.names, l->k->symbols[i]);
    }
    if (l->k->symbol_count)
        buf_addc(l->p.out, '\n');
}

// ---- configuration ----------------------------------------------------------

static void print_config_value(const Lines *l, const char *name,
                               const IrAttrValue *v)
{
    if (v->kind == ATTRVAL_NONE)
        return;
    buf_printf(l->p.out, "       %s ", name);
    print_attr_value(&l->p, v);
    buf_addc(l->p.out, '\n');
}

static void print_config(const Lines *l)
{
    TextBuf *out = l->p.out;
    const IrConfig *c = &l->k->config;
    buf_puts(out, "config {\n");
    for (int i = 0; i < c->output_count; i++)
        buf_printf(out, "%s%d", i ? ", " : "       outputs ", c->outputs[i]);
    if (c->output_count)
        buf_addc(out, '\n');
    if (c->eager)
        buf_puts(out, "       eager\n");
    if (c->target.len) {
        buf_puts(out, "       target ");
        print_string(out, c->target);
        buf_addc(out, '\n');
    }
    print_config_value(l, "pass_configs", &c->pass_configs);
    print_config_value(l, "compile_flags", &c->compile_flags);
    print_config_value(l, "autotune_configs", &c->autotune_configs);
    for (int i = 0; i < c->argument_count; i++) {
        buf_puts(out, "       argument ");
        print_string(out, c->argument_names[i]);
        buf_addc(out, ' ');
        print_string(out, c->argument_values[i]);
        buf_addc(out, '\n');
    }
    buf_puts(out, "}\n");
}

void ir_print(TextBuf *out, const SourceSet *sources, const IrKernel *k)
{
    Arena *a = arena_create();
    Names names;
    VarList vars = vars_of(a, k);
    names_init(&names, a, k, &vars);
    Lines l = {.p = {.out = out, .names = &names}, .k = k};
    buf_puts(out, "tilesim-ir 1\nkernel ");
    print_string(out, k->name);
    buf_addc(out, '\n');
    print_vars(&l, &vars);
    buf_puts(out, "buffers {\n");
    for (int i = 0; i < k->buffer_count; i++)
        print_buffer(&l, k->buffers[i]);
    buf_puts(out, "}\n");
    print_params(&l);
    print_symbols(&l);
    print_config(&l);
    buf_puts(out, "body ");
    print_block(&l, k->body);
    buf_addc(out, '\n');
    if (sources)
        spans_print(out, sources, k);
    arena_destroy(a);
}
