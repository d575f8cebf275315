// sync.c - where a block's threads have to meet.
//
// Tile statements run one after the other, each by all threads. A statement
// that reads or overwrites what others may still write, or read, waits for all
// threads first. Buffers whose bytes overlap in the arena count as one.
// Nothing is inserted where threads have parted: there the program's own
// barriers are all there are.
#include "gpu_backend/emit_int.h"

#include <string.h>

static int object_count(const Emit *e)
{
    return e->k->buffer_count + 1;
}

static Hazards hazards_new(Emit *e)
{
    int n = object_count(e);
    return (Hazards){new_array(e->arena, bool, n), new_array(e->arena, bool, n)};
}

Hazards hazards_copy(Emit *e, const Hazards *h)
{
    Hazards c = hazards_new(e);

    if (h->read)
        hazards_join(e, &c, h);
    return c;
}

void hazards_join(Emit *e, Hazards *to, const Hazards *from)
{
    for (int i = 0; from->read && i < object_count(e); i++) {
        to->read[i] |= from->read[i];
        to->written[i] |= from->written[i];
    }
}

bool hazards_hold(const Emit *e, const Hazards *all, const Hazards *part)
{
    for (int i = 0; i < object_count(e); i++)
        if ((part->read[i] && !all->read[i]) ||
            (part->written[i] && !all->written[i]))
            return false;
    return true;
}

void hazards_clear(Emit *e)
{
    memset(e->hazards.read, 0, sizeof(bool) * object_count(e));
    memset(e->hazards.written, 0, sizeof(bool) * object_count(e));
}

// ---- what a statement touches ----------------------------------------------

typedef struct {
    Emit *e;
    Hazards h;
    bool all;                       // registers and what a ring guards, too
} Touch;

static void touch(Touch *t, IrBuffer *b, bool is_write)
{
    b = root_buffer(b);
    if (!t->all && b->scope != SCOPE_GLOBAL && !in_shared(t->e, b))
        return;
    if (!t->all && t->e->ringed[b->id])
        return;
    (is_write ? t->h.written : t->h.read)[b->id] = true;
}

static bool touch_expr(void *ctx, IrExpr *x)
{
    Touch *t = ctx;

    if (x->kind == EXPR_LOAD || x->kind == EXPR_ATOMIC)
        touch(t, x->buffer, false);
    if (x->kind == EXPR_ATOMIC)
        touch(t, x->buffer, true);
    return true;
}

static bool touch_stmt(void *ctx, IrStmt *s)
{
    Touch *t = ctx;

    if (s->kind == STMT_STORE)
        touch(t, s->buffer, true);
    for (int i = 0; s->kind == STMT_TILE && i < s->operand_count; i++) {
        if (s->operand[i].kind != OPERAND_REGION)
            continue;
        char access = op_info(t->e->k->ops, s->op)->param[i].access;
        if (access != 'w')
            touch(t, s->operand[i].region->buffer, false);
        if (access != 'r')
            touch(t, s->operand[i].region->buffer, true);
    }
    return true;
}

static Hazards touched(Emit *e, IrStmt *s)
{
    Touch t = {e, hazards_new(e), true};

    ir_walk(s, touch_stmt, touch_expr, &t);
    return t.h;
}

bool touches(Emit *e, IrStmt *s, const IrBuffer *b)
{
    Hazards h = touched(e, s);
    int id = root_buffer((IrBuffer *)b)->id;

    return h.read[id] || h.written[id];
}

bool writes(Emit *e, IrStmt *s, const IrBuffer *b)
{
    return touched(e, s).written[root_buffer((IrBuffer *)b)->id];
}

// The workspace of a reduction counts as the object after the buffers.
static void touch_workspace(Touch *t, const IrStmt *s)
{
    const PlanLaunch *l = t->e->launch;

    for (int i = 0; i < l->reduce_count; i++)
        if (l->reduces[i].stmt == s && l->reduces[i].workspace)
            t->h.written[t->e->k->buffer_count] = true;
}

// ---- conflicts -------------------------------------------------------------

static const PlanBuffer *bytes_of(const Emit *e, int object)
{
    for (int i = 0; i < e->launch->buffer_count; i++) {
        const PlanBuffer *b = &e->launch->buffers[i];
        if (b->ir && b->ir->id == object)
            return b;
    }
    return NULL;
}

static bool overlap(const Emit *e, int a, int b)
{
    int n = e->k->buffer_count;

    // Workspaces may lie where other buffers were.
    if (a == b)
        return true;
    const PlanBuffer *x = a < n ? bytes_of(e, a) : NULL;
    const PlanBuffer *y = b < n ? bytes_of(e, b) : NULL;
    if (a == n || b == n)
        return a == n ? y != NULL : x != NULL;
    return x && y && !x->is_static && !y->is_static &&
           x->offset < y->offset + y->bytes &&
           y->offset < x->offset + x->bytes;
}

static bool meets(const Emit *e, const bool *a, const bool *b)
{
    int n = object_count(e);

    for (int i = 0; i < n; i++)
        for (int j = 0; a[i] && j < n; j++)
            if (b[j] && overlap(e, i, j))
                return true;
    return false;
}

static void settle(Emit *e, const Hazards *h)
{
    bool conflict = meets(e, h->written, e->hazards.written) ||
                    meets(e, h->written, e->hazards.read) ||
                    meets(e, h->read, e->hazards.written);

    if (conflict && !e->divergent)
        sync_now(e);
    hazards_join(e, &e->hazards, h);
}

// Producer warps have gone their own way and do not come.
void meet(Emit *e)
{
    if (e->launch->producers)
        line(e, "named_barrier(1, %d);", e->threads);
    else
        line(e, "%s;", e->dialect->barrier);
}

void sync_now(Emit *e)
{
    if (e->uses_async && !e->in_ring)
        line(e, "cp_async_wait_all();");
    // What threads stored, the matrix unit has to see.
    if (e->has_wgmma)
        line(e, "fence_async();");
    meet(e);
    hazards_clear(e);
}

void sync_writes(Emit *e, const bool *buffers)
{
    Hazards h = hazards_new(e);

    memcpy(h.written, buffers, sizeof(bool) * e->k->buffer_count);
    settle(e, &h);
}

void sync_before(Emit *e, IrStmt *s)
{
    Touch t = {e, hazards_new(e), false};

    ir_walk(s, touch_stmt, touch_expr, &t);
    touch_workspace(&t, s);
    settle(e, &t.h);
}

void sync_read(Emit *e, const IrExpr *x)
{
    Touch t = {e, hazards_new(e), false};

    if (!x)
        return;
    ir_walk_expr((IrExpr *)x, touch_expr, &t);
    settle(e, &t.h);
}
