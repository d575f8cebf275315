// lower_collective.c - which statements of per-thread code its threads run
// together: tile operations, T.Parallel, and loops and conditions of nothing
// else that are the same for all of them.
#include "code/code_int.h"

// ---- which statements are collective -------------------------------------

static bool is_own_buffer(const Lower *l, const IrBuffer *b)
{
    return b->scope == SCOPE_VAR || b->scope == SCOPE_LOCAL ||
           l->code->buffer[b->id].place == BUFFER_PRIVATE;
}

typedef struct {
    Lower *l;
    bool own;    // reads a thread's own variable or array
    bool varies; // from thread to thread
    bool touches; // shared memory that single threads write
} Look;

static bool look_expr(void *ctx, IrExpr *e)
{
    Look *k = ctx;

    if (e->kind == EXPR_LOAD || e->kind == EXPR_ATOMIC) {
        IrScope scope = e->buffer->scope;

        k->own |= is_own_buffer(k->l, e->buffer);
        k->touches |= (scope == SCOPE_SHARED || scope == SCOPE_SHARED_STATIC) &&
                      k->l->by_threads[root_of(k->l, e->buffer->id)];
    }
    return true;
}

static bool look_at(void *ctx, IrExpr *e)
{
    Look *k = ctx;

    look_expr(ctx, e);
    k->varies |= varies(k->l, e);
    return false;
}

static Look look(Lower *l, const IrExpr *e)
{
    Look k = {.l = l};

    if (e) {
        ir_walk_expr((IrExpr *)e, look_expr, &k);
        k.varies = varies(l, e);
    }
    return k;
}

static bool is_plain(Lower *l, const IrExpr *e)
{
    Look k = look(l, e);

    return !k.own && !k.varies;
}

static bool is_own(const Lower *l, const IrOperand *o)
{
    return o->kind == OPERAND_REGION && is_own_buffer(l, o->region->buffer);
}

// A tile operation that each thread does for itself: on its own array, or at
// a place of its own.
static bool is_by_thread(Lower *l, const IrStmt *s)
{
    Look k = {.l = l};

    for (int i = 0; i < s->operand_count; i++)
        if (is_own(l, &s->operand[i]))
            return true;
    if (op_info(l->k->ops, s->op)->class != OPCLASS_TILE)
        return false;
    for (int i = 0; i < s->operand_count; i++) {
        const IrOperand *o = &s->operand[i];

        if (o->kind == OPERAND_EXPR)
            look_at(&k, o->expr);
        for (int d = 0; o->kind == OPERAND_REGION &&
                        o->region->form != REGION_WHOLE &&
                        d < o->region->buffer->rank;
             d++) {
            look_at(&k, o->region->min[d]);
            if (o->region->extent[d])
                look_at(&k, o->region->extent[d]);
        }
    }
    return k.varies;
}

bool is_point(const IrStmt *s)
{
    for (int i = 0; i < s->operand_count; i++)
        if (s->operand[i].kind == OPERAND_REGION &&
            s->operand[i].region->form != REGION_POINT)
            return false;
    return true;
}

static bool is_atomic(Op op)
{
    return op_is_atomic(op) || op == OP_ATOMIC_ADDX2 || op == OP_ATOMIC_ADDX4 ||
           op == OP_ATOMIC_STORE;
}

static bool is_tile_code(Lower *l, const IrStmt *s)
{
    const OpInfo *info = op_info(l->k->ops, s->op);

    if (info->class == OPCLASS_HINT)
        return true;
    if (s->op == OP_WGMMA_GEMM || s->op == OP_TMA_COPY)
        return !is_by_thread(l, s);
    if (info->class != OPCLASS_TILE)
        return false;
    if (is_atomic(s->op) && is_point(s))
        return false; // every thread does it
    return !is_by_thread(l, s);
}

static bool all_collective(Lower *l, const IrStmt *block)
{
    for (int i = 0; block && i < block->len; i++)
        if (!is_collective(l, block->body[i], true))
            return false;
    return true;
}

static bool is_random(void *ctx, IrExpr *e)
{
    if (e->kind == EXPR_OP && e->op == OP_RNG_RAND)
        *(bool *)ctx = true;
    return true;
}

// A T.Parallel that draws random numbers goes on in the order of its threads'
// layout; with one thread that is the order of its iterations.
static bool draws(Lower *l, const IrStmt *s)
{
    bool found = false;

    ir_walk(s->then, NULL, is_random, &found);
    if (found && l->launches.at[l->launch].threads > 1) {
        l->at = s->at;
        unsupported(l, "T.rng_rand in a T.Parallel of several threads, whose "
                       "layout is not planned yet; use T.serial");
    }
    return found;
}

static bool loop_collective(Lower *l, const IrStmt *s)
{
    if (s->loop == LOOP_PARALLEL)
        return !draws(l, s);
    for (int d = 0; d < s->var_count; d++)
        if (!is_plain(l, s->start[d]) || !is_plain(l, s->extent[d]))
            return false;
    return s->loop != LOOP_PERSISTENT && all_collective(l, s->then);
}

// Each thread writes elements of its own.
static bool places_vary(Lower *l, const IrStmt *s)
{
    for (int i = 0; i < s->index_count; i++)
        if (varies(l, s->index[i]))
            return true;
    return false;
}

static bool store_collective(Lower *l, const IrStmt *s, bool inside)
{
    if (is_own_buffer(l, s->buffer))
        return false;
    if (s->buffer->scope == SCOPE_FRAGMENT)
        return !has_owners(s->buffer) || !places_vary(l, s);
    if (!inside || !is_plain(l, s->value))
        return false;
    for (int i = 0; i < s->index_count; i++)
        if (!is_plain(l, s->index[i]))
            return false;
    return true;
}

bool is_collective(Lower *l, const IrStmt *s, bool inside)
{
    switch (s->kind) {
    case STMT_ALLOC:
        return !is_own_buffer(l, s->buffer);
    case STMT_TILE:
        return is_tile_code(l, s);
    case STMT_FOR:
        return loop_collective(l, s);
    case STMT_STORE:
        return store_collective(l, s, inside);
    case STMT_IF:
        return is_plain(l, s->cond) && all_collective(l, s->then) &&
               all_collective(l, s->otherwise);
    case STMT_BLOCK:
        return all_collective(l, s);
    case STMT_LET:
        if (inside)
            note_let(l, s->var, s->value);
        return inside && is_plain(l, s->value);
    case STMT_BREAK:
    case STMT_CONTINUE:
        return false;
    default:
        return false;
    }
}

// ---- shared memory between threads ---------------------------------------

static bool is_shared(const IrBuffer *b)
{
    return b->scope == SCOPE_SHARED || b->scope == SCOPE_SHARED_STATIC;
}

bool touches_shared(Lower *l, const IrStmt *s)
{
    IrStmt own = *s;
    Look k = {.l = l};

    if (s->kind == STMT_BLOCK || s->kind == STMT_WHILE)
        return false;
    if (ir_has_body(s))
        own.then = own.otherwise = NULL;
    if (s->kind == STMT_STORE && is_shared(s->buffer))
        return true;
    for (int i = 0; s->kind == STMT_TILE && i < s->operand_count; i++)
        if (s->operand[i].kind == OPERAND_REGION &&
            is_shared(s->operand[i].region->buffer))
            return true;
    ir_walk(&own, NULL, look_expr, &k);
    return k.touches;
}

typedef struct {
    Lower *l;
    bool found;
} Within;

static bool find_touch(void *ctx, IrStmt *s)
{
    Within *w = ctx;

    w->found = w->found || touches_shared(w->l, s);
    return !w->found;
}

bool touches_shared_within(Lower *l, const IrStmt *s)
{
    Within w = {l, false};

    ir_walk((IrStmt *)s, find_touch, NULL, &w);
    return w.found;
}
