// copy.c - copies of statements, in which variables and buffers may be others.
//
// What is defined inside gets a new variable when `fresh` says so: two copies
// of a loop may then stand in one kernel. A copy names its origin.
#include "ir/ir_int.h"

static IrVar *copy_var(const IrCopy *c, IrVar *v)
{
    return v && v->id < c->var_count && c->var[v->id] ? c->var[v->id] : v;
}

static IrBuffer *copy_buffer(const IrCopy *c, IrBuffer *b)
{
    return b && b->id < c->buffer_count && c->buffer[b->id] ? c->buffer[b->id]
                                                            : b;
}

IrExpr *ir_copy_expr(IrCopy *c, const IrExpr *e)
{
    if (!e)
        return NULL;
    IrExpr *out = new(c->k->arena, IrExpr);
    *out = *e;
    out->args = new_array(c->k->arena, IrExpr *, (size_t)e->count + 1);
    for (int i = 0; i < e->count; i++)
        out->args[i] = ir_copy_expr(c, e->args[i]);
    if (e->kind == EXPR_VAR)
        out->var = copy_var(c, e->var);
    if (e->kind == EXPR_LOAD || e->kind == EXPR_ATOMIC)
        out->buffer = copy_buffer(c, e->buffer);
    return out;
}

static void copy_exprs(IrCopy *c, IrExpr **list, int n)
{
    for (int i = 0; i < n; i++)
        list[i] = ir_copy_expr(c, list[i]);
}

static IrRegion *copy_region(IrCopy *c, const IrRegion *r)
{
    IrRegion *out = new(c->k->arena, IrRegion);
    *out = *r;
    out->buffer = copy_buffer(c, r->buffer);
    copy_exprs(c, out->min, r->buffer->rank);
    copy_exprs(c, out->extent, r->buffer->rank);
    return out;
}

static void copy_attrs(IrCopy *c, const IrStmt *s, IrStmt *out)
{
    out->attrs = NULL;
    for (const IrAttr *a = s->attrs; a; a = a->next) {
        IrAttrValue v = a->value;
        if (v.kind == ATTRVAL_EXPR)
            v.expr = ir_copy_expr(c, v.expr);
        ir_attr(c->k, out, a->id, v);
    }
}

static void define(IrCopy *c, IrVar **v)
{
    if (!*v || !c->fresh)
        return;
    IrVar *new_one = ir_var(c->k, (*v)->kind, (*v)->name, (*v)->dtype,
                            (*v)->at);
    if ((*v)->id < c->var_count)
        c->var[(*v)->id] = new_one;
    *v = new_one;
}

static void copy_block(IrCopy *c, const IrStmt *s, IrStmt *out)
{
    out->body = NULL;
    out->len = out->room = 0;
    for (int i = 0; i < s->len; i++)
        ir_append(c->k, out, ir_copy_stmt(c, s->body[i]));
}

static void copy_control(IrCopy *c, const IrStmt *s, IrStmt *out)
{
    out->cond = ir_copy_expr(c, s->cond);
    copy_exprs(c, out->start, s->var_count);
    copy_exprs(c, out->extent, s->var_count);
    out->step = ir_copy_expr(c, s->step);
    out->wave_size = ir_copy_expr(c, s->wave_size);
    out->wave_index = ir_copy_expr(c, s->wave_index);
    out->group_size = ir_copy_expr(c, s->group_size);
    for (int i = 0; i < s->var_count; i++)
        define(c, &out->vars[i]);
    out->then = ir_copy_stmt(c, s->then);
    out->otherwise = ir_copy_stmt(c, s->otherwise);
}

static void copy_operands(IrCopy *c, const IrStmt *s, IrStmt *out)
{
    out->operand = new_array(c->k->arena, IrOperand,
                             (size_t)s->operand_count + 1);
    for (int i = 0; i < s->operand_count; i++) {
        out->operand[i] = s->operand[i];
        if (s->operand[i].kind == OPERAND_EXPR)
            out->operand[i].expr = ir_copy_expr(c, s->operand[i].expr);
        if (s->operand[i].kind == OPERAND_REGION)
            out->operand[i].region = copy_region(c, s->operand[i].region);
    }
}

static void copy_plain(IrCopy *c, const IrStmt *s, IrStmt *out)
{
    out->buffer = copy_buffer(c, s->buffer);
    out->value = ir_copy_expr(c, s->value);
    out->index = new_array(c->k->arena, IrExpr *, (size_t)s->index_count + 1);
    for (int i = 0; i < s->index_count; i++)
        out->index[i] = ir_copy_expr(c, s->index[i]);
    define(c, &out->var);
}

IrStmt *ir_copy_stmt(IrCopy *c, const IrStmt *s)
{
    IrStmt *other = s && c->replace ? c->replace(c->ctx, s) : NULL;
    if (other || !s)
        return other;
    IrStmt *out = new(c->k->arena, IrStmt);
    *out = *s;
    out->id = c->k->next_stmt++;
    out->origin = s->id;
    copy_attrs(c, s, out);
    switch (s->kind) {
    case STMT_BLOCK:
        copy_block(c, s, out);
        break;
    case STMT_ALLOC: case STMT_LET: case STMT_STORE: case STMT_EVAL:
        copy_plain(c, s, out);
        break;
    case STMT_IF: case STMT_WHILE: case STMT_FOR: case STMT_ASSERT:
    case STMT_LAUNCH:
        copy_control(c, s, out);
        break;
    case STMT_TILE:
        copy_operands(c, s, out);
        break;
    case STMT_BREAK: case STMT_CONTINUE:
        break;
    }
    return out;
}
