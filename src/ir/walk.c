// walk.c - visitors over statements and expressions.
#include "ir/ir_int.h"

void ir_walk_expr(IrExpr *e, IrVisitExpr *expr, void *ctx)
{
    if (!e || !expr || !expr(ctx, e))
        return;
    for (int i = 0; i < e->count; i++)
        ir_walk_expr(e->args[i], expr, ctx);
}

static void walk_list(IrExpr *const *list, int n, IrVisitExpr *expr, void *ctx)
{
    for (int i = 0; i < n; i++)
        ir_walk_expr(list[i], expr, ctx);
}

static void walk_region(const IrRegion *r, IrVisitExpr *expr, void *ctx)
{
    if (r->form == REGION_WHOLE)
        return;
    for (int i = 0; i < r->buffer->rank; i++) {
        ir_walk_expr(r->min[i], expr, ctx);
        ir_walk_expr(r->extent[i], expr, ctx);
    }
}

static void walk_attr(const IrAttrValue *v, IrVisitExpr *expr, void *ctx)
{
    if (v->kind == ATTRVAL_EXPR)
        ir_walk_expr(v->expr, expr, ctx);
    if (v->kind == ATTRVAL_LIST || v->kind == ATTRVAL_DICT)
        for (int i = 0; i < v->list.len; i++)
            walk_attr(&v->list.at[i], expr, ctx);
}

static void walk_operands(const IrStmt *s, IrVisitExpr *expr, void *ctx)
{
    for (int i = 0; i < s->operand_count; i++) {
        const IrOperand *o = &s->operand[i];
        if (o->kind == OPERAND_EXPR)
            ir_walk_expr(o->expr, expr, ctx);
        if (o->kind == OPERAND_REGION)
            walk_region(o->region, expr, ctx);
    }
}

static void walk_control(const IrStmt *s, IrVisitExpr *expr, void *ctx)
{
    ir_walk_expr(s->cond, expr, ctx);
    walk_list(s->start, s->var_count, expr, ctx);
    walk_list(s->extent, s->var_count, expr, ctx);
    IrExpr *const rest[] = {s->step, s->wave_size, s->wave_index,
                            s->group_size};
    walk_list(rest, (int)countof(rest), expr, ctx);
}

static void walk_own(const IrStmt *s, IrVisitExpr *expr, void *ctx)
{
    switch (s->kind) {
    case STMT_LET: case STMT_STORE: case STMT_EVAL:
        walk_list(s->index, s->index_count, expr, ctx);
        ir_walk_expr(s->value, expr, ctx);
        break;
    case STMT_IF: case STMT_WHILE: case STMT_ASSERT: case STMT_FOR:
    case STMT_LAUNCH:
        walk_control(s, expr, ctx);
        break;
    case STMT_TILE:
        walk_operands(s, expr, ctx);
        break;
    case STMT_ALLOC:
        if (s->value)
            ir_walk_expr(s->value, expr, ctx);
        break;
    case STMT_BLOCK: case STMT_BREAK: case STMT_CONTINUE:
        break;
    }
    for (const IrAttr *a = s->attrs; a; a = a->next)
        walk_attr(&a->value, expr, ctx);
}

bool ir_has_body(const IrStmt *s)
{
    return s->kind == STMT_IF || s->kind == STMT_WHILE || s->kind == STMT_FOR ||
           s->kind == STMT_LAUNCH;
}

void ir_walk(IrStmt *s, IrVisitStmt *stmt, IrVisitExpr *expr, void *ctx)
{
    if (!s || (stmt && !stmt(ctx, s)))
        return;
    if (expr)
        walk_own(s, expr, ctx);
    if (s->kind == STMT_BLOCK)
        for (int i = 0; i < s->len; i++)
            ir_walk(s->body[i], stmt, expr, ctx);
    if (ir_has_body(s)) {
        ir_walk(s->then, stmt, expr, ctx);
        ir_walk(s->otherwise, stmt, expr, ctx);
    }
}
