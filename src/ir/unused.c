// unused.c - parameters that a kernel never touches.
#include "ir/ir.h"

static void use(bool *used, const IrBuffer *b)
{
    for (; b; b = b->alias_of)
        used[b->id] = true;
}

static bool use_expr(void *ctx, IrExpr *e)
{
    if (e->kind == EXPR_LOAD || e->kind == EXPR_ATOMIC)
        use(ctx, e->buffer);
    return true;
}

static bool use_stmt(void *ctx, IrStmt *s)
{
    if (s->kind == STMT_STORE || s->kind == STMT_ALLOC)
        use(ctx, s->buffer);
    for (int i = 0; s->kind == STMT_TILE && i < s->operand_count; i++)
        if (s->operand[i].kind == OPERAND_REGION)
            use(ctx, s->operand[i].region->buffer);
    return true;
}

void ir_drop_unused_params(IrKernel *k)
{
    bool *used = new_array(k->arena, bool, k->buffer_count + 1);
    int n = 0;

    ir_walk(k->body, use_stmt, use_expr, used);
    for (int i = 0; i < k->param_count; i++) {
        IrBuffer *b = k->params[i].buffer;

        if (b && !used[b->id]) {
            b->param = -1;
            continue;
        }
        if (b)
            b->param = n;
        k->params[n++] = k->params[i];
    }
    k->param_count = n;
}
