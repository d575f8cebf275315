// lower_stmt.c - statements that are no loops and no tile operations.
#include "code/code_int.h"

enum { ALIGN_SCRATCH = 64, MOST_TOTAL = 1 << 30 };

// ---- buffers come to life ------------------------------------------------

// Each buffer starts on a cache line of its own and a line off the last, so
// that equal rows of two tiles do not compete for one cache set.
bool reserve(Lower *l, CodeBuffer *root)
{
    int64_t bytes =
        (root->bytes + ALIGN_SCRATCH - 1) / ALIGN_SCRATCH * ALIGN_SCRATCH;

    if (root->offset >= 0)
        return true;
    if (l->scratch + bytes + ALIGN_SCRATCH > MOST_TOTAL) {
        unsupported(l, "the buffers of a block need more than 1 GiB");
        return false;
    }
    root->offset = l->scratch;
    l->scratch += bytes + ALIGN_SCRATCH;
    if (l->scratch > l->code->scratch_bytes)
        l->code->scratch_bytes = l->scratch;
    return true;
}

static void alloc_var(Lower *l, const IrBuffer *b)
{
    DType t = map_dtype(l, b->dtype);
    int slot = l->var_slot[b->id];

    if (in_thread_code(l) && l->par->private_reg[b->id] < 0)
        l->par->private_reg[b->id] = new_reg(l, false);
    if (l->par && l->par->private_reg[b->id] >= 0) {
        Val zero = slot_value(int_slot(l, t, 0), t);

        store_to(l, b, NULL, zero, 0);
        return;
    }
    if (slot < 0)
        slot = l->var_slot[b->id] = new_slot(l, false);
    l->fact.at[slot].mutable = true;
    emit(l, (Instr){.op = INSTR_MOV, .d = slot, .a = int_slot(l, t, 0)});
}

typedef struct {
    const Lower *l;
    int root;
    bool found;
} Mention;

static void meet(Mention *m, const IrBuffer *b)
{
    m->found |= root_of(m->l, b->id) == m->root;
}

static bool mention_expr(void *ctx, IrExpr *e)
{
    if (e->kind == EXPR_LOAD || e->kind == EXPR_ATOMIC)
        meet(ctx, e->buffer);
    return true;
}

static bool mention_stmt(void *ctx, IrStmt *s)
{
    if (s->kind == STMT_STORE)
        meet(ctx, s->buffer);
    for (int i = 0; s->kind == STMT_TILE && i < s->operand_count; i++)
        if (s->operand[i].kind == OPERAND_REGION)
            meet(ctx, s->operand[i].region->buffer);
    return true;
}

static bool mentions(const Lower *l, const IrStmt *s, int root)
{
    Mention m = {l, root, false};

    ir_walk((IrStmt *)s, mention_stmt, mention_expr, &m);
    return m.found;
}

// Whether s writes all of b and reads none of it. A copy from global memory
// walks all of the tile.
static bool overwrites(const IrStmt *s, const IrBuffer *b)
{
    const IrRegion *dst;
    int at = s->op == OP_COPY ? 1 : 0;

    if (s->kind != STMT_TILE ||
        (s->op != OP_COPY && s->op != OP_CLEAR && s->op != OP_FILL) ||
        s->operand[at].kind != OPERAND_REGION)
        return false;
    dst = s->operand[at].region;
    if (dst->buffer != b || dst->form != REGION_WHOLE)
        return false;
    return s->op == OP_CLEAR ||
           (s->op == OP_COPY ? s->operand[0].kind == OPERAND_REGION &&
                                   is_global(s->operand[0].region->buffer)
                             : !may_fault(s->operand[1].expr));
}

// Whether the statements after the allocation write b before they read it.
static bool is_overwritten(const Lower *l, const IrStmt *s)
{
    const IrStmt *block = l->block;
    bool after = false;

    for (int i = 0; block && i < block->len; i++) {
        const IrStmt *t = block->body[i];

        if (after && overwrites(t, s->buffer))
            return true;
        if (after && mentions(l, t, root_of(l, s->buffer->id)))
            return false;
        after |= t == s;
    }
    return false;
}

// What a pointer shows may be what another block writes.
static void point_tensor(Lower *l, const IrStmt *s)
{
    Val v = value_of(l, s->value);
    int site;

    if (l->mode == CODE_F64)
        unsupported(l, "a tensor at an address, in f64,");
    if (l->par || v.level != AT_SLOT)
        unsupported(l, "T.make_tensor of an address for each thread");
    if (l->failed)
        return;
    v = cast_value(l, v, DT_I64, true);
    site = new_site(l, SITE_POINTER, s->buffer->id, false, TEXT(""));
    l->launches.at[l->launch].ordered = true;
    emit(l, (Instr){
                .op = INSTR_POINT, .a = s->buffer->id, .b = v.reg, .c = site});
}

static void lower_alloc(Lower *l, const IrStmt *s)
{
    CodeBuffer *root = &l->code->buffer[root_of(l, s->buffer->id)];

    if (s->value) {
        point_tensor(l, s);
        return;
    }
    if (is_slot_var(l, s->buffer)) {
        alloc_var(l, s->buffer);
        return;
    }
    if (s->buffer->alias_of || s->buffer->scope == SCOPE_GLOBAL ||
        l->mode == CODE_CONTROL)
        return;
    if (s->buffer->scope == SCOPE_VAR && l->par) {
        unsupported(l, "'%.*s', a variable of each thread, has no address: use "
                       "T.alloc_local", TEXT_ARG(s->buffer->name));
        return;
    }
    if (root->place != BUFFER_PRIVATE && l->par) {
        unsupported(l, "'%.*s' is allocated inside of a T.Parallel",
                    TEXT_ARG(s->buffer->name));
        return;
    }
    if (s->buffer->scope == SCOPE_BARRIER) {
        if (reserve(l, root))
            init_barriers(l, s);
        return;
    }
    if (reserve(l, root) && root->place == BUFFER_SCRATCH &&
        !is_overwritten(l, s))
        emit(l, (Instr){.op = INSTR_ALLOC, .a = s->buffer->id});
}

// ---- let and store -------------------------------------------------------

int frozen_slot(Lower *l, int slot)
{
    SlotFact fact = l->fact.at[slot];
    int copy;

    if (!fact.mutable)
        return slot;
    copy = new_slot(l, l->par != NULL);
    emit(l, (Instr){.op = INSTR_MOV, .d = copy, .a = slot});
    l->fact.at[copy].taint = fact.taint;
    return copy;
}

static bool is_private_reg(const Lower *l, int reg)
{
    for (int i = 0; i < l->code->buffer_count; i++)
        if (l->par->private_reg[i] == reg)
            return true;
    return false;
}

// Whether register reg still holds its value after later stores of the loop.
static bool lasts(const Lower *l, Val v)
{
    const Instr *last = &l->out->at[l->out->len - 1].i;

    if (!(v.reg & 1))
        return !is_private_reg(l, v.reg);
    return last->op == INSTR_VLOAD && last->d == v.reg &&
           !l->par->written[root_of(l, l->access.at[last->a].buffer)];
}

Val frozen_vector(Lower *l, Val v)
{
    Val r = v;

    r.temp = false;
    if (lasts(l, v))
        return r;
    r.reg = new_reg(l, false);
    emit(l, (Instr){.op = INSTR_VMOV,
                    .type = (uint8_t)lane_type_of(v.dtype),
                    .d = r.reg,
                    .a = v.reg,
                    .flags = v.level == AT_ROW ? INSTR_ROW : 0});
    release(l, v);
    return r;
}

static void lower_let(Lower *l, const IrStmt *s)
{
    Binding *b = &l->binding[s->var->id];
    Form f;
    Val v;

    if (l->thread)
        note_let(l, s->var, s->value);

    if (l->par && form_is_pure(l, s->value) && form_of(l, s->value, &f) &&
        (f.row || f.col)) {
        b->kind = BIND_FORM;
        b->form = new (l->arena, Form);
        b->by_thread = in_thread_code(l);
        *b->form = f;
        return;
    }
    v = cast_value(l, value_of(l, s->value), map_dtype(l, s->var->dtype), true);
    if (l->failed)
        return;
    if (v.level == AT_SLOT)
        v.reg = frozen_slot(l, v.reg);
    else
        v = frozen_vector(l, v);
    *b = (Binding){
        .kind = BIND_VAL, .val = v, .by_thread = in_thread_code(l)};
}

static void lower_store(Lower *l, const IrStmt *s)
{
    Form index[IR_MAX_RANK];
    Val v;

    if (l->par)
        l->par->loads.len = 0;
    if (!index_forms(l, s->buffer, s->index, s->index_count, index))
        return;
    v = value_of(l, s->value);
    if (l->failed)
        return;
    v = cast_value(l, v, map_dtype(l, s->buffer->dtype), true);
    if (in_thread_code(l) && has_owners(s->buffer))
        check_owner(l, s->buffer, index);
    store_to(l, s->buffer, index, v, 0);
}

// ---- conditions ----------------------------------------------------------

uint8_t enter_control(Lower *l, Val cond)
{
    uint8_t saved = l->control;

    l->control |= taint_of(l, &cond, 1) & TAINT_BLOCKS;
    return saved;
}

// A branch: fewer threads may come to it.
static void lower_branch(Lower *l, const IrStmt *s, bool taken)
{
    int set = l->set, some;
    bool divergent = l->divergent;

    if (in_thread_code(l)) {
        some = set_where(l, s->cond, taken);
        l->divergent |= parts_warps(l, s->cond, some);
        l->set = some;
    }
    lower_stmt(l, taken ? s->then : s->otherwise);
    l->set = set;
    l->divergent = divergent;
}

// Lanes that left the iteration in a branch stay out of what follows it.
static void rejoin(Lower *l)
{
    if (l->loop && l->loop->iter >= 0 && l->par->mask != l->loop->iter)
        l->par->mask = and_masks(l, l->par->mask, l->loop->iter);
}

static void if_by_jump(Lower *l, const IrStmt *s, Val cond)
{
    int skip = emit(l, (Instr){.op = INSTR_JUMPZ, .a = cond.reg}), end;
    int mask = l->par ? l->par->mask : -1;

    if (l->par)
        l->par->depth++;
    lower_branch(l, s, true);
    if (s->otherwise) {
        end = emit(l, (Instr){.op = INSTR_JUMP});
        patch(l, skip);
        if (l->par)
            l->par->mask = mask; // the other branch has not run
        lower_branch(l, s, false);
        patch(l, end);
    } else {
        patch(l, skip);
    }
    if (!l->par)
        return;
    l->par->depth--;
    l->par->mask = mask;
    rejoin(l);
}

static void masked_branch(Lower *l, const IrStmt *s, bool taken, int mask)
{
    int saved = l->par->mask, skip;

    l->par->mask = mask;
    l->par->depth++;
    skip = emit(l, (Instr){.op = INSTR_VNONE, .a = mask});
    lower_branch(l, s, taken);
    patch(l, skip);
    l->par->depth--;
    l->par->mask = saved;
}

static void if_by_mask(Lower *l, const IrStmt *s, Val cond)
{
    Val c = frozen_vector(l, promote(l, cond, AT_LANES));
    int then = and_masks(l, l->par->mask, c.reg);

    masked_branch(l, s, true, then);
    if (s->otherwise)
        masked_branch(l, s, false,
                      and_masks(l, l->par->mask, invert_mask(l, c.reg)));
    rejoin(l);
}

static void lower_if(Lower *l, const IrStmt *s)
{
    Val cond = value_of(l, s->cond);
    uint8_t saved;

    if (l->failed)
        return;
    cond = cast_value(l, cond, DT_BOOL, true);
    saved = enter_control(l, cond);
    if (cond.level == AT_SLOT)
        if_by_jump(l, s, cond);
    else
        if_by_mask(l, s, cond);
    l->control = saved;
}

static void lower_assert(Lower *l, const IrStmt *s)
{
    const IrAttrValue *msg = ir_attr_get(s, ATTR_MSG);
    Text text = msg && msg->kind == ATTRVAL_TEXT ? msg->text : TEXT("");
    Val cond = value_of(l, s->cond);
    int site;

    if (l->failed)
        return;
    cond = cast_value(l, cond, DT_BOOL, true);
    site = new_site(l, SITE_ASSERT, -1, false, text);
    if (cond.level == AT_SLOT && (!l->par || l->par->mask < 0)) {
        emit(l, (Instr){.op = INSTR_CHECK, .a = cond.reg, .b = site});
        return;
    }
    cond = promote(l, cond, AT_LANES);
    emit(l,
         (Instr){
             .op = INSTR_VCHECK, .a = cond.reg, .b = site, .c = l->par->mask});
    release(l, cond);
}

// ---- dispatch ------------------------------------------------------------

static void lower_block(Lower *l, const IrStmt *s)
{
    const IrStmt *outer = l->block;

    if (in_thread_code(l)) {
        lower_thread_block(l, s);
        return;
    }
    for (int i = 0; i < s->len && !l->failed; i++) {
        IrStmtKind kind = s->body[i]->kind;

        l->block = s;
        lower_stmt(l, s->body[i]);
        if (kind == STMT_BREAK || kind == STMT_CONTINUE)
            break; // what follows is never reached
    }
    l->block = outer;
}

void lower_stmt(Lower *l, const IrStmt *s)
{
    if (!s || l->failed)
        return;
    if (s->kind != STMT_BLOCK) {
        l->at = s->at;
        l->stmt = s->id;
    }
    if (l->mode == CODE_STEPPED)
        lower_step(l, s);
    if (l->mode >= CODE_COUNTED && lower_event(l, s))
        return;
    switch (s->kind) {
    case STMT_BLOCK:
        lower_block(l, s);
        break;
    case STMT_ALLOC:
        lower_alloc(l, s);
        break;
    case STMT_LET:
        lower_let(l, s);
        break;
    case STMT_STORE:
        lower_store(l, s);
        break;
    case STMT_IF:
        lower_if(l, s);
        break;
    case STMT_FOR:
        lower_for(l, s);
        break;
    case STMT_WHILE:
        lower_while(l, s);
        break;
    case STMT_BREAK:
    case STMT_CONTINUE:
        lower_jump(l, s->kind == STMT_CONTINUE);
        break;
    case STMT_ASSERT:
        lower_assert(l, s);
        break;
    case STMT_TILE:
        lower_tile(l, s);
        break;
    case STMT_LAUNCH:
        unsupported(l, "a T.Kernel inside of another");
        break;
    case STMT_EVAL:
        release(l, value_of(l, s->value));
        break;
    }
}
