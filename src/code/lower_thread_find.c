// lower_thread_find.c - what the text of per-thread code tells before it is
// lowered: which fragments are arrays of threads, which buffers single threads
// write, which variables have no owner.
#include "code/code_int.h"

// ---- fragments that are arrays of threads --------------------------------

// A fragment that no tile operation and no T.Parallel uses is held by every
// thread in full: it is an array of each.
typedef struct {
    Lower *l;
    bool *by_tiles, *by_threads, inside;
} Fragments;

static void use_fragment(Fragments *f, const IrBuffer *b)
{
    while (b->alias_of)
        b = b->alias_of;
    if (b->scope == SCOPE_FRAGMENT)
        (f->inside ? f->by_tiles : f->by_threads)[b->id] = true;
}

static bool fragment_expr(void *ctx, IrExpr *e)
{
    if (e->kind == EXPR_LOAD || e->kind == EXPR_ATOMIC)
        use_fragment(ctx, e->buffer);
    return true;
}

static bool fragment_stmt(void *ctx, IrStmt *s)
{
    Fragments *f = ctx, inside = *f;

    inside.inside = true;
    if (s->kind == STMT_FOR && s->loop == LOOP_PARALLEL && !f->inside) {
        ir_walk(s, fragment_stmt, fragment_expr, &inside);
        return false;
    }
    if (s->kind == STMT_STORE)
        use_fragment(f, s->buffer);
    for (int i = 0; s->kind == STMT_TILE && i < s->operand_count; i++)
        if (s->operand[i].kind == OPERAND_REGION)
            use_fragment(&inside, s->operand[i].region->buffer);
    return true;
}

void find_own_fragments(Lower *l, const IrStmt *launch)
{
    size_t n = (size_t)l->k->buffer_count;
    Fragments f = {l, new_array(l->arena, bool, n),
                   new_array(l->arena, bool, n), false};

    ir_walk(launch->then, fragment_stmt, fragment_expr, &f);
    for (size_t i = 0; i < n; i++)
        if (f.by_threads[i] && !f.by_tiles[i])
            l->var_private[i] = true;
}

// ---- variables that a T.Parallel writes -----------------------------------

// Within a T.Parallel a variable is each iteration's; which of them a thread
// is left with depends on a layout.
typedef struct {
    bool *written, *read, inside;
} Variables;

static bool is_variable(const IrBuffer *b)
{
    return b->scope == SCOPE_VAR || b->scope == SCOPE_LOCAL;
}

static bool variable_expr(void *ctx, IrExpr *e)
{
    Variables *v = ctx;

    if (e->kind == EXPR_LOAD && is_variable(e->buffer) && !v->inside)
        v->read[e->buffer->id] = true;
    return true;
}

static bool variable_stmt(void *ctx, IrStmt *s)
{
    Variables *v = ctx, inside = {v->written, v->read, true};

    if (s->kind == STMT_FOR && s->loop == LOOP_PARALLEL && !v->inside) {
        ir_walk(s->then, variable_stmt, variable_expr, &inside);
        return false;
    }
    if (s->kind == STMT_STORE && is_variable(s->buffer) && v->inside)
        v->written[s->buffer->id] = true;
    for (int i = 0; s->kind == STMT_TILE && i < s->operand_count; i++)
        if (s->operand[i].kind == OPERAND_REGION &&
            is_variable(s->operand[i].region->buffer))
            v->read[s->operand[i].region->buffer->id] = true;
    return true;
}

bool variables_are_apart(Lower *l, const IrStmt *launch)
{
    size_t n = (size_t)l->k->buffer_count;
    Variables v = {new_array(l->arena, bool, n), new_array(l->arena, bool, n),
                   false};

    ir_walk(launch->then, variable_stmt, variable_expr, &v);
    for (size_t i = 0; i < n; i++) {
        if (!v.written[i] || !v.read[i])
            continue;
        l->at = l->k->buffers[i]->at;
        unsupported(l,
                    "'%.*s' is written in a T.Parallel and read outside: what "
                    "a thread is left with depends on its layout, which is "
                    "not planned yet",
                    TEXT_ARG(l->k->buffers[i]->name));
        return false;
    }
    return true;
}

// ---- who writes ----------------------------------------------------------

static bool atomic_by_thread(void *ctx, IrExpr *e)
{
    Lower *l = ctx;

    if (e->kind == EXPR_ATOMIC)
        l->by_threads[root_of(l, e->buffer->id)] = true;
    return true;
}

static bool store_by_any(void *ctx, IrStmt *s)
{
    Lower *l = ctx;

    if (s->kind == STMT_STORE)
        l->by_threads[root_of(l, s->buffer->id)] = true;
    return true;
}

// What the threads of a block store together they have met for; those that a
// condition lets in have not met the others.
static bool store_by_thread(void *ctx, IrStmt *s)
{
    Lower *l = ctx;

    if (s->kind == STMT_IF)
        ir_walk(s, store_by_any, NULL, l);
    if (s->kind == STMT_FOR && s->loop == LOOP_PARALLEL)
        return false;
    if (s->kind == STMT_STORE)
        l->by_threads[root_of(l, s->buffer->id)] = true;
    for (int i = 0; s->kind == STMT_TILE && i < s->operand_count; i++)
        if (s->operand[i].kind == OPERAND_REGION) {
            const IrBuffer *b = s->operand[i].region->buffer;

            l->by_threads[root_of(l, b->id)] |= true;
        }
    return true;
}

void find_thread_writes(Lower *l, const IrStmt *launch)
{
    l->by_threads = new_array(l->arena, bool, (size_t)l->code->buffer_count);
    ir_walk(launch->then, store_by_thread, atomic_by_thread, l);
}
