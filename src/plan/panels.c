// panels.c - T.use_swizzle: blocks in panels, back and forth.
//
// Blocks that run at the same time then have tiles of a compact part of the
// grid, and share more of what they read.
#include "plan/plan.h"

static bool find_swizzle(void *ctx, IrStmt *s)
{
    const IrStmt **found = ctx;

    if (s->kind == STMT_TILE && s->op == OP_USE_SWIZZLE)
        *found = s;
    return true;
}

PlanPanels plan_panels(const IrStmt *launch)
{
    const IrStmt *found = NULL;
    PlanPanels out = {0};

    ir_walk((IrStmt *)launch, find_swizzle, NULL, &found);
    if (!found || launch->var_count < 2 || !ir_attr_int(found, ATTR_ENABLE, 1))
        return out;
    const IrAttrValue *order = ir_attr_get(found, ATTR_ORDER);
    int64_t size = ir_attr_int(found, ATTR_PANEL_SIZE, 1);

    out.by_columns = order && order->kind == ATTRVAL_TEXT &&
                     text_is(order->text, "column");
    out.size = size > 0 ? size : 0;
    out.at = found->at;
    return out;
}

void plan_panel_tile(const PlanPanels *p, const int64_t grid[IR_MAX_GRID],
                     int64_t block, int64_t tile[IR_MAX_GRID])
{
    int x = p->by_columns, y = !p->by_columns;
    int64_t nx = grid[x], ny = grid[y];
    int64_t layer = block / (nx * ny), b = block % (nx * ny);

    tile[0] = b % grid[0];
    tile[1] = b / grid[0];
    tile[2] = layer;
    if (!p->size)
        return;
    int64_t per = p->size > ny ? nx * ny : p->size * nx;
    int64_t panel = b / per, off = b % per;
    bool last = (panel + 1) * per >= nx * ny;   // has the rows that are left
    int64_t rows = last ? ny - panel * p->size : p->size;

    tile[x] = panel % 2 ? nx - 1 - off / rows : off / rows;
    tile[y] = off % rows + panel * p->size;
}
