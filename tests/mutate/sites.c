// sites.c - one walk finds the sites and plants a fault at one of them.
//
// Expressions are shared between statements: a change copies the nodes from
// the statement down to it.
#include "sites.h"

#include <string.h>

typedef struct {
    IrKernel *k;
    int wanted;                     // -1: none, only list
    int seen;
    FaultSite *out;
    int room;
    Span at;                        // of the statement
} Walk;

const char *fault_name(Fault f)
{
    static const char *const names[FAULT_COUNT] = {
        [FAULT_CLEAR] = "drop clear",
        [FAULT_BARRIER] = "drop barrier",
        [FAULT_WAIT] = "drop wait",
        [FAULT_SHIFT_UP] = "shift index up",
        [FAULT_SHIFT_DOWN] = "shift index down",
        [FAULT_SWAP] = "swap operands",
        [FAULT_SHRINK] = "shrink buffer",
        [FAULT_STAGES_UP] = "one stage more",
        [FAULT_STAGES_DOWN] = "one stage less",
        [FAULT_FLIP] = "flip comparison",
    };

    return names[f];
}

// Is this the site where the fault goes?
static bool is_site(Walk *w, Fault f, Span at)
{
    int number = w->seen++;

    if (number < w->room)
        w->out[number] = (FaultSite){f, at.file ? at : w->at};
    return number == w->wanted;
}

// ---- expressions ---------------------------------------------------------

static IrExpr *in_expr(Walk *w, IrExpr *e);

static IrExpr *copy_of(Walk *w, const IrExpr *e)
{
    IrExpr *copy = new (w->k->arena, IrExpr);

    *copy = *e;
    copy->args = new_array(w->k->arena, IrExpr *, e->count + 1);
    memcpy(copy->args, e->args, (size_t)e->count * sizeof *e->args);
    return copy;
}

static IrExpr *shifted(Walk *w, IrExpr *e, int by)
{
    return ir_op2(w->k, OP_ADD, e, ir_int(w->k, e->dtype, by, e->at), e->at);
}

static void in_index(Walk *w, IrExpr **e)
{
    IrExpr *was = *e;

    if (!was)
        return;
    if (is_site(w, FAULT_SHIFT_UP, was->at))
        *e = shifted(w, was, 1);
    else if (is_site(w, FAULT_SHIFT_DOWN, was->at))
        *e = shifted(w, was, -1);
    else
        *e = in_expr(w, was);
}

static bool is_uneven(Op op)
{
    return op == OP_SUB || op == OP_DIV || op == OP_FLOORDIV ||
           op == OP_FLOORMOD || op == OP_SHL || op == OP_SHR;
}

static IrExpr *with_op(Walk *w, const IrExpr *e, Op op)
{
    IrExpr *copy = copy_of(w, e);

    copy->op = op;
    return copy;
}

static IrExpr *exchanged(Walk *w, const IrExpr *e, int a, int b)
{
    IrExpr *copy = copy_of(w, e);

    copy->args[a] = e->args[b];
    copy->args[b] = e->args[a];
    return copy;
}

// The node itself; NULL: no fault goes here.
static IrExpr *changed(Walk *w, IrExpr *e)
{
    static const Op flips[][2] = {
        {OP_LT, OP_LE}, {OP_LE, OP_LT}, {OP_EQ, OP_NE}, {OP_NE, OP_EQ}};

    if (e->kind == EXPR_SELECT && is_site(w, FAULT_SWAP, e->at))
        return exchanged(w, e, 1, 2);
    if (e->kind != EXPR_OP)
        return NULL;
    for (size_t i = 0; i < countof(flips); i++)
        if (e->op == flips[i][0] && is_site(w, FAULT_FLIP, e->at))
            return with_op(w, e, flips[i][1]);
    if (is_uneven(e->op) && is_site(w, FAULT_SWAP, e->at))
        return exchanged(w, e, 0, 1);
    return NULL;
}

static IrExpr *in_expr(Walk *w, IrExpr *e)
{
    IrExpr *now = e ? changed(w, e) : NULL;

    if (now || !e)
        return now;
    for (int i = 0; i < e->count; i++) {
        bool index = (e->kind == EXPR_LOAD || e->kind == EXPR_ATOMIC) &&
                     e->buffer->scope != SCOPE_VAR && i < e->buffer->rank;
        IrExpr *arg = e->args[i];

        if (index)
            in_index(w, &arg);
        else
            arg = in_expr(w, arg);
        if (arg != e->args[i]) {
            now = copy_of(w, e);
            now->args[i] = arg;
            return now;
        }
    }
    return e;
}

// ---- statements ----------------------------------------------------------

static bool is_barrier(Op op)
{
    return op == OP_SYNC_THREADS || op == OP_SYNC_WARP ||
           op == OP_BARRIER_ARRIVE || op == OP_MBARRIER_ARRIVE ||
           op == OP_NAMED_BARRIER_ARRIVE ||
           op == OP_MBARRIER_ARRIVE_EXPECT_TX;
}

static bool is_wait(Op op)
{
    return op == OP_BARRIER_WAIT || op == OP_MBARRIER_WAIT_PARITY ||
           op == OP_PTX_WAIT_GROUP || op == OP_TMA_STORE_WAIT ||
           op == OP_WARPGROUP_WAIT;
}

static bool is_dropped(Walk *w, const IrStmt *s)
{
    if (s->kind != STMT_TILE)
        return false;
    if (s->op == OP_CLEAR || s->op == OP_FILL)
        return is_site(w, FAULT_CLEAR, s->at);
    if (is_barrier(s->op))
        return is_site(w, FAULT_BARRIER, s->at);
    return is_wait(s->op) && is_site(w, FAULT_WAIT, s->at);
}

static void set_attr(Walk *w, IrStmt *s, IrAttrId id, IrAttrKind kind,
                     int64_t v)
{
    ir_attr(w->k, s, id, (IrAttrValue){.kind = kind, .i64 = v});
}

// What starts from zero by an argument of its own.
static void in_clearing(Walk *w, IrStmt *s)
{
    const OpInfo *info = op_info(w->k->ops, s->op);
    int at = s->op == OP_GEMM ? op_param_find(info, TEXT("clear_accum")) : -1;
    bool clears = at >= 0 && at < s->operand_count &&
                  s->operand[at].kind == OPERAND_EXPR;

    if (clears && is_site(w, FAULT_CLEAR, s->at))
        s->operand[at].kind = OPERAND_NONE;
    if (op_is_reduction(s->op) && ir_attr_int(s, ATTR_CLEAR, 1) &&
        is_site(w, FAULT_CLEAR, s->at))
        set_attr(w, s, ATTR_CLEAR, ATTRVAL_BOOL, 0);
}

static void in_tile(Walk *w, IrStmt *s)
{
    in_clearing(w, s);
    for (int i = 0; i < s->operand_count; i++) {
        IrOperand *o = &s->operand[i];
        IrRegion *r = o->kind == OPERAND_REGION ? o->region : NULL;

        if (o->kind == OPERAND_EXPR)
            o->expr = in_expr(w, o->expr);
        for (int d = 0; r && r->form != REGION_WHOLE && d < r->buffer->rank;
             d++)
            in_index(w, &r->min[d]);
    }
}

static void in_alloc(Walk *w, IrStmt *s)
{
    IrBuffer *b = s->buffer;
    int64_t n;

    if (b->scope != SCOPE_SHARED && b->scope != SCOPE_SHARED_STATIC &&
        b->scope != SCOPE_FRAGMENT && b->scope != SCOPE_LOCAL)
        return;
    for (int d = 0; d < b->rank; d++)
        if (ir_is_int(b->shape[d], &n) && n > 1 &&
            is_site(w, FAULT_SHRINK, s->at))
            b->shape[d] = ir_int(w->k, b->shape[d]->dtype, n / 2, s->at);
}

static void in_loop(Walk *w, IrStmt *s)
{
    int64_t stages = ir_attr_int(s, ATTR_NUM_STAGES, 0);

    if (s->kind != STMT_FOR || s->loop != LOOP_PIPELINED)
        return;
    if (is_site(w, FAULT_STAGES_UP, s->at))
        set_attr(w, s, ATTR_NUM_STAGES, ATTRVAL_INT, stages + 1);
    if (stages > 0 && is_site(w, FAULT_STAGES_DOWN, s->at))
        set_attr(w, s, ATTR_NUM_STAGES, ATTRVAL_INT, stages - 1);
}

static void in_stmt(Walk *w, IrStmt *s);

static void in_block(Walk *w, IrStmt *s)
{
    for (int i = 0; i < s->len; i++) {
        if (is_dropped(w, s->body[i])) {
            memmove(&s->body[i], &s->body[i + 1],
                    (size_t)(s->len - i - 1) * sizeof *s->body);
            s->len--;
            return;
        }
        in_stmt(w, s->body[i]);
    }
}

static void in_control(Walk *w, IrStmt *s)
{
    in_loop(w, s);
    s->cond = in_expr(w, s->cond);
    for (int i = 0; i < s->var_count; i++) {
        s->start[i] = in_expr(w, s->start[i]);
        s->extent[i] = in_expr(w, s->extent[i]);
    }
    in_stmt(w, s->then);
    in_stmt(w, s->otherwise);
}

static void in_stmt(Walk *w, IrStmt *s)
{
    if (!s)
        return;
    w->at = s->at;
    switch (s->kind) {
    case STMT_BLOCK:
        in_block(w, s);
        break;
    case STMT_ALLOC:
        in_alloc(w, s);
        break;
    case STMT_LET: case STMT_STORE: case STMT_EVAL:
        for (int i = 0; i < s->index_count; i++)
            if (s->buffer->scope != SCOPE_VAR)
                in_index(w, &s->index[i]);
        s->value = in_expr(w, s->value);
        break;
    case STMT_TILE:
        in_tile(w, s);
        break;
    case STMT_IF: case STMT_WHILE: case STMT_FOR: case STMT_LAUNCH:
        in_control(w, s);
        break;
    case STMT_ASSERT: case STMT_BREAK: case STMT_CONTINUE:
        break;
    }
}

int sites_list(IrKernel *k, FaultSite *out, int room)
{
    Walk w = {.k = k, .wanted = -1, .out = out, .room = room};

    in_stmt(&w, k->body);
    return w.seen;
}

void sites_plant(IrKernel *k, int number)
{
    Walk w = {.k = k, .wanted = number};

    in_stmt(&w, k->body);
}
