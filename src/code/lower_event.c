// lower_event.c - the places that touch tiles, for those who count them.
//
// An event stands before each statement that reads or writes tiles and gives
// the values that its addresses, extents and masks depend on. A control walk
// (CODE_CONTROL) has the scalars, the control flow and the events of a kernel,
// and leaves the tiles alone: whatever it leaves out must not change them.
#include "code/code_int.h"

// ---- which statements ----------------------------------------------------

static bool writes_slot_var(const Lower *l, const IrStmt *s)
{
    const OpInfo *info = op_info(l->k->ops, s->op);

    for (int i = 0, n = 0; i < info->param_count; i++) {
        const OpParam *p = &info->param[i];

        if (!op_param_is_operand(p) || n >= s->operand_count)
            continue;
        if (p->access != 'r' && s->operand[n].kind == OPERAND_REGION &&
            is_slot_var(l, s->operand[n].region->buffer))
            return true;
        n++;
    }
    return false;
}

static bool touches_tiles(const Lower *l, const IrStmt *s)
{
    switch (s->kind) {
    case STMT_TILE:
        return op_info(l->k->ops, s->op)->class != OPCLASS_HINT &&
               !writes_slot_var(l, s);
    case STMT_FOR:
        return s->loop == LOOP_PARALLEL;
    case STMT_STORE:
        return !is_slot_var(l, s->buffer);
    case STMT_EVAL:
        return true;
    default:
        return false;
    }
}

// ---- what they depend on -------------------------------------------------

typedef struct {
    Lower *l;
    LIST(int) var, slot;
    bool masked_by_data, failed;
} Needs;

static void need(Needs *n, int var, int slot)
{
    for (int i = 0; i < n->var.len; i++)
        if (n->var.at[i] == var)
            return;
    vec_push(n->l->arena, &n->var, var);
    vec_push(n->l->arena, &n->slot, slot);
}

// Part of an address, an extent or a mask. The variables of loops inside the
// statement are bound later and belong to whoever walks it.
static bool need_leaf(void *ctx, IrExpr *e)
{
    Needs *n = ctx;

    if (e->kind == EXPR_VAR) {
        const Binding *b = &n->l->binding[e->var->id];

        if (n->l->unread && n->l->unread[e->var->id])
            n->failed = true;
        else if (b->kind == BIND_VAL && b->val.level == AT_SLOT)
            need(n, e->var->id, b->val.reg);
    } else if (e->kind == EXPR_LOAD && is_slot_var(n->l, e->buffer)) {
        if (n->l->var_slot[e->buffer->id] < 0)
            return true;            // of the statement's own
        if (n->l->unread_cell && n->l->unread_cell[e->buffer->id])
            n->failed = true;
        need(n, -1 - e->buffer->id, n->l->var_slot[e->buffer->id]);
    } else if (e->kind == EXPR_LOAD) {
        n->masked_by_data = true;
    }
    return true;
}

// Of a value only the addresses and the masks of what it reads.
static bool need_value(void *ctx, IrExpr *e)
{
    int addresses = e->kind == EXPR_LOAD     ? e->count
                    : e->kind == EXPR_ATOMIC ? e->count - 1
                    : e->kind == EXPR_SELECT ? 1
                                             : 0;

    for (int i = 0; i < addresses; i++)
        ir_walk_expr(e->args[i], need_leaf, ctx);
    return true;
}

static void need_list(Needs *n, IrExpr *const *list, int count)
{
    for (int i = 0; i < count; i++)
        ir_walk_expr(list[i], need_leaf, n);
}

static void need_operands(Needs *n, const IrStmt *s)
{
    for (int i = 0; i < s->operand_count; i++) {
        const IrOperand *o = &s->operand[i];

        if (o->kind == OPERAND_EXPR)
            ir_walk_expr(o->expr, need_value, n);
        if (o->kind != OPERAND_REGION || o->region->form == REGION_WHOLE)
            continue;
        need_list(n, o->region->min, o->region->buffer->rank);
        need_list(n, o->region->extent, o->region->buffer->rank);
    }
}

static bool need_stmt(void *ctx, IrStmt *s)
{
    Needs *n = ctx;

    switch (s->kind) {
    case STMT_STORE:
        need_list(n, s->index, s->index_count);
        ir_walk_expr(s->value, need_value, n);
        break;
    case STMT_LET:
    case STMT_EVAL:
        ir_walk_expr(s->value, need_value, n);
        break;
    case STMT_FOR:
        need_list(n, s->start, s->var_count);
        need_list(n, s->extent, s->var_count);
        need_list(n, &s->step, 1);
        break;
    case STMT_IF:
    case STMT_WHILE:
        ir_walk_expr(s->cond, need_leaf, n);
        break;
    case STMT_TILE:
        need_operands(n, s);
        break;
    default:
        break;
    }
    return true;
}

// ---- the walk that leaves tiles out --------------------------------------

void depends_on_tiles(Lower *l)
{
    l->tile_dependent = true;
    l->failed = true;
}

static void mark_written(Lower *l, const IrBuffer *b)
{
    l->kernel_writes[root_of(l, b->id)] = true;
}

static bool written_expr(void *ctx, IrExpr *e)
{
    if (e->kind == EXPR_ATOMIC)
        mark_written(ctx, e->buffer);
    return true;
}

// An operand that is not only read counts as written, whatever the op.
static bool written_stmt(void *ctx, IrStmt *s)
{
    Lower *l = ctx;
    const OpInfo *info;

    if (s->kind == STMT_STORE)
        mark_written(l, s->buffer);
    if (s->kind != STMT_TILE)
        return true;
    info = op_info(l->k->ops, s->op);
    for (int i = 0, n = 0; i < info->param_count; i++) {
        if (!op_param_is_operand(&info->param[i]) || n >= s->operand_count)
            continue;
        if (info->param[i].access != 'r' &&
            s->operand[n].kind == OPERAND_REGION)
            mark_written(l, s->operand[n].region->buffer);
        n++;
    }
    return true;
}

// A tensor of the caller that this kernel leaves as it is, or a variable that
// is only ever assigned such.
bool walk_can_read(const Lower *l, const IrBuffer *b)
{
    if (is_slot_var(l, b))
        return !l->unread_cell[b->id];
    return is_global(b) && l->k->buffers[root_of(l, b->id)]->param >= 0 &&
           !l->kernel_writes[root_of(l, b->id)];
}

// ---- what the walk does not read -----------------------------------------

typedef struct {
    const Lower *l;
    bool found;
} Unread;

static bool unread_leaf(void *ctx, IrExpr *e)
{
    Unread *u = ctx;

    u->found |= e->kind == EXPR_ATOMIC ||
                (e->kind == EXPR_LOAD && !walk_can_read(u->l, e->buffer)) ||
                (e->kind == EXPR_VAR && u->l->unread[e->var->id]);
    return true;
}

static bool is_unread(const Lower *l, IrExpr *e)
{
    Unread u = {l, false};

    ir_walk_expr(e, unread_leaf, &u);
    return u.found;
}

typedef struct {
    Lower *l;
    bool parallel, changed;
} Marking;

static void mark(Marking *m, bool *at)
{
    m->changed |= !*at;
    *at = true;
}

// The walk leaves T.Parallel out, and what it assigns with it.
static bool mark_stmt(void *ctx, IrStmt *s)
{
    Marking *m = ctx;

    if (s->kind == STMT_LET && is_unread(m->l, s->value))
        mark(m, &m->l->unread[s->var->id]);
    if (s->kind == STMT_STORE && is_slot_var(m->l, s->buffer) &&
        (m->parallel || is_unread(m->l, s->value)))
        mark(m, &m->l->unread_cell[s->buffer->id]);
    if (m->parallel || s->kind != STMT_FOR || s->loop != LOOP_PARALLEL)
        return true;
    m->parallel = true;
    ir_walk(s->then, mark_stmt, NULL, m);
    m->parallel = false;
    return false;
}

void find_kernel_writes(Lower *l)
{
    Marking m = {.l = l, .changed = true};

    l->kernel_writes = new_array(l->arena, bool, (size_t)l->k->buffer_count);
    l->unread = new_array(l->arena, bool, (size_t)l->k->next_var);
    l->unread_cell = new_array(l->arena, bool, (size_t)l->k->buffer_count);
    ir_walk(l->k->body, written_stmt, written_expr, l);
    while (m.changed) {
        m.changed = false;
        ir_walk(l->k->body, mark_stmt, NULL, &m);
    }
}

// A value that reads tiles is no trouble until control or an address needs it.
static bool is_left_out(const Lower *l, const IrStmt *s)
{
    if (s->kind == STMT_LET)
        return l->unread[s->var->id];
    return s->kind == STMT_ASSERT ||
           (s->kind == STMT_STORE && is_slot_var(l, s->buffer) &&
            l->unread_cell[s->buffer->id]);
}

bool lower_event(Lower *l, const IrStmt *s)
{
    bool walk = l->mode == CODE_CONTROL;
    CodeEvent e = {.stmt = s->id, .at = s->at};
    Needs n = {.l = l};

    if (l->launch < 0 || l->par)
        return false;
    if (!touches_tiles(l, s))
        return walk && is_left_out(l, s);
    ir_walk((IrStmt *)s, need_stmt, NULL, &n);
    if (n.failed) {
        depends_on_tiles(l);
        return true;
    }
    if (n.var.len > CODE_EVENT_VARS)
        unsupported(l, "counting a statement of more than %d variables",
                    CODE_EVENT_VARS);
    e.var_count = n.var.len;
    e.var = n.var.at;
    e.slot = n.slot.at;
    e.masked_by_data = n.masked_by_data;
    vec_push(l->arena, &l->event, e);
    emit(l, (Instr){.op = INSTR_EVENT, .a = l->event.len - 1});
    return walk;
}
