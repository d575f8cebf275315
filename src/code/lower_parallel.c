// lower_parallel.c - T.Parallel: a loop over chunks of vector instructions.
//
//     (what does not change)             in the list around the loop
//     par      space -> end
//       (body: vector instructions on one chunk)
//     parnext  space -> body
//
// The last two dimensions are the rows and columns of a chunk; the others are
// slots that par and parnext set. Dimensions of extent 1 are dropped.
#include "code/code_int.h"

#include <string.h>

// ---- what bodies write ---------------------------------------------------

typedef struct {
    Lower *l;
    const IrStmt *parallel; // the T.Parallel around, or NULL
    bool threads;           // of a launch that runs per thread
} Search;

static bool mark_expr(void *ctx, IrExpr *e)
{
    Search *s = ctx;

    if (e->kind == EXPR_ATOMIC && s->parallel && ir_atomic_value(e))
        s->l->var_private[e->buffer->id] = true;
    return true;
}

static bool takes_memory(Op op)
{
    switch (op) {
    case OP_COPY:
    case OP_ASYNC_COPY:
    case OP_FILL:
    case OP_CLEAR:
    case OP_ATOMIC_ADDX2:
    case OP_ATOMIC_ADDX4:
    case OP_ATOMIC_STORE:
        return false;
    default:
        return !op_is_atomic(op);
    }
}

static void mark_operands(Search *s, const IrStmt *t)
{
    // the result of a native call is no memory, what it points at is
    int first = t->op == OP_CALL_EXTERN ? 1 : 0;

    for (int i = first; takes_memory(t->op) && i < t->operand_count; i++)
        if (t->operand[i].kind == OPERAND_REGION)
            s->l->var_in_memory[t->operand[i].region->buffer->id] = true;
}

// A thread's own array: a native call of each iteration may write it.
static void mark_pointed(Search *s, const IrStmt *t)
{
    for (int i = 0; i < t->operand_count; i++)
        if (t->operand[i].kind == OPERAND_REGION)
            s->l->var_private[t->operand[i].region->buffer->id] = true;
}

static bool mark_stmt(void *ctx, IrStmt *t)
{
    Search *s = ctx;
    Search inside = {s->l, t, s->threads}, threads = {s->l, NULL, true};

    if (t->kind == STMT_LAUNCH && is_per_thread(t)) {
        ir_walk(t->then, mark_stmt, mark_expr, &threads);
        return false;
    }
    if (t->kind == STMT_ALLOC && s->threads && t->buffer->scope == SCOPE_LOCAL)
        s->l->var_private[t->buffer->id] = true;
    if (t->kind == STMT_FOR && t->loop == LOOP_PARALLEL && !s->parallel) {
        ir_walk(t->then, mark_stmt, mark_expr, &inside);
        return false;
    }
    if ((t->kind == STMT_STORE || t->kind == STMT_ALLOC) && s->parallel)
        s->l->var_private[t->buffer->id] = true;
    if (t->kind == STMT_TILE)
        mark_operands(s, t);
    if (t->kind == STMT_TILE && t->op == OP_CALL_EXTERN && s->parallel)
        mark_pointed(s, t);
    return true;
}

static bool own_fragments(void *ctx, IrStmt *t)
{
    if (t->kind == STMT_LAUNCH && is_per_thread(t))
        find_own_fragments(ctx, t);
    return t->kind != STMT_LAUNCH;
}

void find_private(Lower *l)
{
    Search s = {l, NULL, false};

    ir_walk(l->k->body, mark_stmt, mark_expr, &s);
    for (int i = 0; i < l->k->buffer_count; i++) {
        IrScope scope = l->k->buffers[i]->scope;

        if (scope != SCOPE_VAR && scope != SCOPE_LOCAL)
            l->var_private[i] = false;
        if (scope != SCOPE_VAR)
            l->var_in_memory[i] = false;
    }
    ir_walk(l->k->body, own_fragments, NULL, l);
}

typedef struct {
    Lower *l;
    Par *p;
} Written;

static bool written_expr(void *ctx, IrExpr *e)
{
    Written *w = ctx;

    if (e->kind == EXPR_ATOMIC && ir_atomic_value(e))
        w->p->written[root_of(w->l, e->buffer->id)] = true;
    return true;
}

static bool written_stmt(void *ctx, IrStmt *t)
{
    Written *w = ctx;

    if (t->kind == STMT_STORE || t->kind == STMT_ALLOC)
        w->p->written[root_of(w->l, t->buffer->id)] = true;
    if (t->kind == STMT_TILE)
        for (int i = 0; i < t->operand_count; i++)
            if (t->operand[i].kind == OPERAND_REGION) {
                int root = root_of(w->l, t->operand[i].region->buffer->id);

                w->p->written[root] = true;
            }
    return true;
}

// A register for each alloc_var the body writes; it starts from the value
// that the variable has outside.
static void give_registers(Lower *l)
{
    for (int i = 0; i < l->k->buffer_count; i++) {
        const IrBuffer *b = l->k->buffers[i];
        DType t = map_dtype(l, b->dtype);
        int slot = l->var_slot[i], reg;

        if (!is_slot_var(l, b) || !l->par->written[i])
            continue;
        reg = l->par->private_reg[i] = new_reg(l, false);
        if (l->collective && l->thread->private_reg[i] >= 0)
            slot = agreed_value(l, (Val){AT_LANES, l->thread->private_reg[i], t,
                                         false, 7})
                       .reg;
        if (slot < 0)
            slot = int_slot(l, t, 0);
        emit(l, (Instr){.op = INSTR_VFILL,
                        .type = (uint8_t)lane_type_of(t),
                        .d = reg,
                        .a = slot});
    }
}

// ---- the frame -----------------------------------------------------------

static bool is_single(const Form *f)
{
    return !f->count && f->base == 1;
}

static int64_t known_extent(const Form *f)
{
    return f->count ? 0 : f->base;
}

// The dimensions that count, at least one.
static int kept_dimensions(const Form *extent, int rank, int *kept)
{
    int n = 0;

    for (int d = 0; d < rank; d++)
        if (!is_single(&extent[d]))
            kept[n++] = d;
    if (!n && rank)
        kept[n++] = rank - 1;
    return n;
}

static Form outer_coordinate(Lower *l, Space *s, int i, const Form *extent)
{
    int slot = new_slot(l, true);
    Range r = form_range(l, extent);

    s->coord[i] = slot;
    if (r.known && r.high > 0)
        l->fact.at[slot].range = range_of(0, r.high - 1);
    return form_slot(slot);
}

static int most_lanes(int rank, int64_t rows, int64_t cols)
{
    if (rank == 1)
        rows = 1;
    if (rows <= 0 || cols <= 0 || rows > CODE_LANES || cols > CODE_LANES ||
        rows * cols > CODE_LANES)
        return CODE_LANES;
    return (int)(rows * cols);
}

bool par_open(Lower *l, Par *p, const Form *extent, int rank, Form *coord)
{
    size_t buffers = (size_t)l->code->buffer_count;
    Space s = {.site = new_site(l, SITE_SPACE, -1, false, TEXT(""))};
    int kept[CODE_RANK];

    *p = (Par){.outer = l->out, .mask = -1, .first_slot = l->fact.len};
    p->written = new_array(l->arena, bool, buffers);
    p->private_reg = new_array(l->arena, int, buffers);
    for (size_t i = 0; i < buffers; i++)
        p->private_reg[i] = -1;
    for (int d = 0; d < rank; d++)
        coord[d] = form_const(0);
    s.rank = kept_dimensions(extent, rank, kept);
    for (int i = 0; i < s.rank; i++)
        s.extent[i] = frozen_slot(l, form_base_slot(l, &extent[kept[i]]));
    for (int i = 0; i < s.rank; i++) {
        Form *c = &coord[kept[i]];

        if (i < s.rank - 2)
            *c = outer_coordinate(l, &s, i, &extent[kept[i]]);
        else if (i == s.rank - 1)
            c->col = 1;
        else
            c->row = 1;
    }
    p->col_extent = known_extent(&extent[kept[s.rank - 1]]);
    if (s.rank > 1)
        p->row_extent = known_extent(&extent[kept[s.rank - 2]]);
    p->lanes = most_lanes(s.rank, p->row_extent, p->col_extent);
    p->space = l->space.len;
    vec_push(l->arena, &l->space, s);
    p->body = (Emit){0};
    l->par = p;
    l->out = &p->body;
    return !l->failed;
}

void par_close(Lower *l, Par *p)
{
    int first, next;

    l->par = NULL;
    l->out = p->outer;
    first = emit(l, (Instr){.op = INSTR_PAR, .a = p->space});
    for (int i = 0; i < p->body.len; i++)
        vec_push(l->arena, l->out, p->body.at[i]);
    next = l->out->len;
    emit(l, (Instr){.op = INSTR_PARNEXT, .a = p->space, .b = first + 1 - next});
    patch(l, first);
    for (int view = 0; view < 2; view++) {
        int count = 2 * l->registers.next_reg[view];

        if (count > l->code->vector_count)
            l->code->vector_count = count;
        l->registers.next_reg[view] = l->registers.free_count[view] = 0;
    }
}

// ---- the statement -------------------------------------------------------

typedef struct {
    const IrStmt *body;
    int rank;
    const IrVar *var[CODE_RANK];
    Form start[CODE_RANK], extent[CODE_RANK];
    int64_t step;
} Nest;

static bool add_dimensions(Lower *l, Nest *n, const IrStmt *s)
{
    Form f;

    for (int d = 0; d < s->var_count; d++) {
        if (n->rank == CODE_RANK) {
            unsupported(l, "a T.Parallel of more than %d dimensions",
                        CODE_RANK);
            return false;
        }
        n->var[n->rank] = s->vars[d];
        if (!form_of(l, s->start[d], &n->start[n->rank]) ||
            !form_of(l, s->extent[d], &f))
            return false;
        n->extent[n->rank++] = f;
    }
    n->body = s->then;
    if (s->step && !(ir_is_int(s->step, &n->step) && n->step == 1))
        unsupported(l, "T.Parallel with a step");
    return !l->failed;
}

static const IrStmt *only_statement(const IrStmt *s)
{
    while (s->kind == STMT_BLOCK && s->len == 1)
        s = s->body[0];
    return s;
}

// Directly nested T.Parallel loops are one.
static bool nest_of(Lower *l, Nest *n, const IrStmt *s)
{
    do {
        if (!add_dimensions(l, n, s))
            return false;
        s = only_statement(n->body);
    } while (s->kind == STMT_FOR && s->loop == LOOP_PARALLEL);
    return true;
}

static void bind_coordinates(Lower *l, Nest *n, const Form *coord)
{
    for (int d = 0; d < n->rank; d++) {
        Form *f = new (l->arena, Form);

        *f = coord[d];
        if (form_add(l, f, &n->start[d], 1))
            l->binding[n->var[d]->id] = (Binding){.kind = BIND_FORM, .form = f};
    }
}

void lower_parallel(Lower *l, const IrStmt *s)
{
    Form coord[CODE_RANK];
    Nest n = {.step = 1};
    LoopCtx *loop = l->loop;
    Par p;

    if (!nest_of(l, &n, s))
        return;
    if (!n.rank) {
        unsupported(l, "a T.Parallel without extents");
        return;
    }
    for (int d = 0; d < n.rank; d++)
        for (int i = 0; i < n.start[d].count; i++)
            n.start[d].term[i].slot = frozen_slot(l, n.start[d].term[i].slot);
    if (!par_open(l, &p, n.extent, n.rank, coord))
        return;
    l->loop = NULL; // a break in the body is not for a loop around
    ir_walk((IrStmt *)n.body, written_stmt, written_expr, &(Written){l, &p});
    give_registers(l);
    bind_coordinates(l, &n, coord);
    lower_stmt(l, n.body);
    l->loop = loop;
    par_close(l, &p);
}
