// each.c - everything in a kernel, in the order in which the text form has it.
#include <stdlib.h>

#include "ir/text_int.h"

static void each_span(const Each *e, const Span *at)
{
    if (e->span)
        e->span(e->ctx, (Span *)at);
}

static void each_var(const Each *e, const IrVar *v)
{
    if (e->var && v)
        e->var(e->ctx, (IrVar *)v);
}

static void each_expr(const Each *e, const IrExpr *x)
{
    if (!x)
        return;
    each_span(e, &x->at);
    if (x->kind == EXPR_VAR)
        each_var(e, x->var);
    for (int i = 0; i < x->count; i++)
        each_expr(e, x->args[i]);
}

static void each_list(const Each *e, IrExpr *const *list, int n)
{
    for (int i = 0; i < n; i++)
        each_expr(e, list[i]);
}

static void each_map(const Each *e, const IrIndexMap *m)
{
    if (!m)
        return;
    for (int i = 0; i < m->in_rank; i++) {
        each_var(e, m->in[i]);
        each_expr(e, m->in_shape[i]);
    }
    each_list(e, m->out, m->out_rank);
    each_expr(e, m->thread);
    each_var(e, m->replica);
}

static void each_region(const Each *e, const IrRegion *r)
{
    each_span(e, &r->at);
    if (r->form == REGION_WHOLE)
        return;
    for (int i = 0; i < r->buffer->rank; i++) {
        each_expr(e, r->min[i]);
        each_expr(e, r->extent[i]);
    }
}

static void each_attr_value(const Each *e, const IrAttrValue *v)
{
    if (v->kind == ATTRVAL_EXPR)
        each_expr(e, v->expr);
    if (v->kind == ATTRVAL_LAYOUT)
        each_map(e, v->layout);
    if (v->kind == ATTRVAL_LIST || v->kind == ATTRVAL_DICT)
        for (int i = 0; i < v->list.len; i++)
            each_attr_value(e, &v->list.at[i]);
}

static void each_stmt(const Each *e, const IrStmt *s);

static void each_control(const Each *e, const IrStmt *s)
{
    each_expr(e, s->cond);
    for (int i = 0; i < s->var_count; i++) {
        each_var(e, s->vars[i]);
        each_expr(e, s->start[i]);
        each_expr(e, s->extent[i]);
    }
    IrExpr *rest[] = {s->step, s->wave_size, s->wave_index, s->group_size};
    each_list(e, rest, (int)countof(rest));
}

static void each_operand(const Each *e, const IrOperand *o)
{
    if (o->kind == OPERAND_REGION)
        each_region(e, o->region);
    if (o->kind == OPERAND_EXPR)
        each_expr(e, o->expr);
}

static void each_own(const Each *e, const IrStmt *s)
{
    switch (s->kind) {
    case STMT_LET: case STMT_STORE: case STMT_EVAL:
        each_var(e, s->var);
        each_list(e, s->index, s->index_count);
        each_expr(e, s->value);
        break;
    case STMT_IF: case STMT_WHILE: case STMT_ASSERT: case STMT_FOR:
    case STMT_LAUNCH:
        each_control(e, s);
        break;
    case STMT_TILE:
        for (int i = 0; i < s->operand_count; i++)
            each_operand(e, &s->operand[i]);
        break;
    case STMT_ALLOC:
        if (s->value)
            each_expr(e, s->value);
        break;
    case STMT_BLOCK: case STMT_BREAK: case STMT_CONTINUE:
        break;
    }
}

static void each_stmt(const Each *e, const IrStmt *s)
{
    if (!s)
        return;
    each_span(e, &s->at);
    each_own(e, s);
    for (const IrAttr *a = s->attrs; a; a = a->next)
        each_attr_value(e, &a->value);
    if (s->kind == STMT_BLOCK)
        for (int i = 0; i < s->len; i++)
            each_stmt(e, s->body[i]);
    if (ir_has_body(s)) {
        each_stmt(e, s->then);
        each_stmt(e, s->otherwise);
    }
}

static void each_buffer(const Each *e, const IrBuffer *b)
{
    each_span(e, &b->at);
    each_list(e, b->shape, b->rank);
    each_list(e, b->strides, b->rank);
    each_expr(e, b->safe_value);
    each_map(e, b->layout);
}

void each_in_kernel(const IrKernel *k, const Each *e)
{
    each_span(e, &k->at);
    for (int i = 0; i < k->param_count; i++)
        each_var(e, k->params[i].var);
    for (int i = 0; i < k->symbol_count; i++)
        each_var(e, k->symbols[i]);
    for (int i = 0; i < k->buffer_count; i++)
        each_buffer(e, k->buffers[i]);
    each_stmt(e, k->body);
}

// ---- variables --------------------------------------------------------------

typedef struct {
    Arena *arena;
    VarList all;
} Collect;

static void collect(void *ctx, IrVar *v)
{
    Collect *c = ctx;
    vec_push(c->arena, &c->all, v);
}

static int by_id(const void *x, const void *y)
{
    const IrVar *a = *(IrVar *const *)x, *b = *(IrVar *const *)y;
    return (a->id > b->id) - (a->id < b->id);
}

VarList vars_of(Arena *a, const IrKernel *k)
{
    Collect c = {.arena = a};
    each_in_kernel(k, &(Each){.ctx = &c, .var = collect});
    if (c.all.len)
        qsort(c.all.at, (size_t)c.all.len, sizeof *c.all.at, by_id);
    int n = 0;
    for (int i = 0; i < c.all.len; i++)
        if (n == 0 || c.all.at[n - 1] != c.all.at[i])
            c.all.at[n++] = c.all.at[i];
    c.all.len = n;
    return c.all;
}
