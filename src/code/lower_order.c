// lower_order.c - what a checker has to know of the order of accesses: copies
// and products that are only started, and where they are waited for. All of it
// is done at once here, so that a run takes no notice.
#include "code/code_int.h"

static void order(Lower *l, CodeOrder kind, int access, int64_t n)
{
    emit(l, (Instr){.op = INSTR_ORDER, .a = kind, .b = access, .c = (int)n});
}

void begin_order(Lower *l, CodeOrder kind, const IrRegion *barrier)
{
    int access = barrier ? element_access(l, barrier) : -1;

    if (!l->failed && kind != ORDER_END)
        order(l, kind, access, 0);
}

void end_order(Lower *l)
{
    if (!l->failed)
        order(l, ORDER_END, -1, 0);
}

// The groups that may be left when the wait is over.
static int64_t left_of(const IrStmt *s, const char *name)
{
    const IrAttrValue *all = ir_attr_get(s, ATTR_ANNOTATIONS);

    for (int i = 0; all && all->kind == ATTRVAL_DICT && i + 1 < all->list.len;
         i += 2) {
        const IrAttrValue *key = &all->list.at[i], *n = key + 1;

        if (key->kind == ATTRVAL_TEXT && text_is(key->text, name) &&
            n->kind == ATTRVAL_INT && n->i64 > 0)
            return n->i64 < INT32_MAX ? n->i64 : INT32_MAX;
    }
    return 0;
}

bool lower_order(Lower *l, const IrStmt *s)
{
    switch (s->op) {
    case OP_PTX_COMMIT_GROUP:
        order(l, ORDER_COMMIT, -1, 0);
        return true;
    case OP_PTX_WAIT_GROUP:
        order(l, ORDER_WAIT, -1, left_of(s, "num"));
        return true;
    case OP_TMA_STORE_ARRIVE:
        order(l, ORDER_STORE_COMMIT, -1, 0);
        return true;
    case OP_TMA_STORE_WAIT:
        order(l, ORDER_STORE_WAIT, -1, left_of(s, "count"));
        return true;
    case OP_WAIT_WGMMA:
        order(l, ORDER_MATRIX_WAIT, -1, left_of(s, "id"));
        return true;
    case OP_WARPGROUP_WAIT:
        order(l, ORDER_MATRIX_WAIT, -1, left_of(s, "num_mma"));
        return true;
    case OP_SYNC_WARP:
        order(l, ORDER_SYNC_WARP, -1, 0);
        return true;
    case OP_SYNC_THREADS:
        if (!l->thread)
            order(l, ORDER_SYNC, -1, 0);
        return !l->thread;
    // the compiler sees to it that the proxies are fenced, and that a product
    // starts a group
    case OP_FENCE_PROXY_ASYNC:
    case OP_WARPGROUP_ARRIVE:
    case OP_WARPGROUP_COMMIT_BATCH:
    case OP_WARPGROUP_FENCE_OPERAND:
        return true;
    default:
        return false;
    }
}

CodeOrder started_by(const IrStmt *s)
{
    switch (s->op) {
    case OP_TMA_COPY:
        return s->operand[1].region->buffer->scope == SCOPE_GLOBAL
                   ? ORDER_TMA_STORE
                   : ORDER_TMA_LOAD;
    case OP_ASYNC_COPY:
        return ORDER_CP_ASYNC;
    case OP_WGMMA_GEMM:
        return ORDER_MATRIX;
    case OP_GEMM:
        return ir_attr_int(s, ATTR_WG_WAIT, 0) < 0 ? ORDER_MATRIX : ORDER_END;
    default:
        return ORDER_END;
    }
}
