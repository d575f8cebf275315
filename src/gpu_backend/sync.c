// sync.c - where a block's threads have to meet.
//
// Tile statements run one after the other, each by all threads. A statement
// that reads or overwrites what others may still write, or read, waits for all
// threads first. Buffers whose bytes overlap in the arena count as one.
// Nothing is inserted where threads have parted: there the program's own
// barriers are all there are. A group of threads that a condition lets through
// together (plan/group.c) waits for its own alone; between groups, too, the
// program's barriers are all there are.
#include "gpu_backend/emit_int.h"

#include <string.h>

static int object_count(const Emit *e)
{
    return e->k->buffer_count + 1;
}

static int group_count(const Emit *e)
{
    return e->launch->group_of ? e->launch->group_count : 1;
}

static int all_count(const Emit *e)
{
    return object_count(e) * group_count(e);
}

static Hazards hazards_new(Emit *e)
{
    int n = all_count(e);
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
    for (int i = 0; from->read && i < all_count(e); i++) {
        to->read[i] |= from->read[i];
        to->written[i] |= from->written[i];
    }
}

bool hazards_hold(const Emit *e, const Hazards *all, const Hazards *part)
{
    for (int i = 0; i < all_count(e); i++)
        if ((part->read[i] && !all->read[i]) ||
            (part->written[i] && !all->written[i]))
            return false;
    return true;
}

// The first object of a group.
static int base_of(const Emit *e, int group)
{
    return e->launch->group_of
               ? object_count(e) * e->launch->groups[group].same : 0;
}

// Whether the threads of `part` are among those of `group`.
static bool includes(const Emit *e, int group, int part)
{
    const PlanGroup *all = e->launch->groups, *g = &all[group], *p = &all[part];

    return p->first >= g->first &&
           p->first + p->threads <= g->first + g->threads;
}

// What the threads of the group have done.
void hazards_clear(Emit *e)
{
    int n = object_count(e);

    for (int i = 0; i < group_count(e); i++) {
        if (group_count(e) > 1 && !includes(e, e->group, i))
            continue;
        memset(e->hazards.read + i * n, 0, sizeof(bool) * n);
        memset(e->hazards.written + i * n, 0, sizeof(bool) * n);
    }
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
    if (b->scope == SCOPE_BARRIER ||
        (!t->all && b->scope != SCOPE_GLOBAL && !in_shared(t->e, b)))
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
        if (s->operand[i].kind != OPERAND_REGION ||
            (!t->all && is_held(t->e, s, i)))
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

static bool conflicts(const Emit *e, const Hazards *h, int group)
{
    int at = base_of(e, group);
    const bool *read = e->hazards.read + at, *written = e->hazards.written + at;

    return meets(e, h->written, written) || meets(e, h->written, read) ||
           meets(e, h->read, written);
}

static bool must_meet(const Emit *e, const Hazards *h)
{
    bool found = conflicts(e, h, e->group);

    for (int i = 1; i < group_count(e) && !found; i++)
        found = includes(e, e->group, i) && conflicts(e, h, i);
    return found;
}

// `h`: a statement's, by object.
static void settle(Emit *e, const Hazards *h)
{
    int at = base_of(e, e->group);

    if (!e->divergent && must_meet(e, h))
        sync_now(e);
    for (int i = 0; i < object_count(e); i++) {
        e->hazards.read[at + i] |= h->read[i];
        e->hazards.written[at + i] |= h->written[i];
    }
}

void sync_apart(Emit *e, IrStmt *s)
{
    Touch t = {e, hazards_new(e), false};

    ir_walk(s, touch_stmt, touch_expr, &t);
    if (!e->divergent && conflicts(e, &t.h, e->group))
        sync_now(e);
}

// The named barriers of groups, from the last one down; the first is the fed
// loop's, others may be the program's.
static void meet_group(Emit *e)
{
    enum { LAST = 15, LEAST = 8 };
    const PlanGroup *g = &e->launch->groups[e->group];
    int id = LAST + 1 - g->same;

    if (g->threads % e->lanes || g->first % e->lanes || id < LEAST ||
        !e->dialect->has_mbarrier) {
        if (g->threads > 1)
            refuse(e, "a barrier of threads %d to %d", g->first,
                   g->first + g->threads - 1);
        return;
    }
    line(e, "named_barrier(%d, %d);", id, g->threads);
}

// Producer warps have gone their own way and do not come.
void meet(Emit *e)
{
    if (e->group)
        meet_group(e);
    else if (e->launch->producers)
        line(e, "named_barrier(1, %d);", e->threads);
    else
        line(e, "%s;", e->dialect->barrier);
}

void sync_now(Emit *e)
{
    if (e->uses_async && !e->filling)
        line(e, "cp_async_wait_all();");
    // What threads stored, the matrix unit and TMA have to see.
    if (e->has_async)
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

void sync_reads(Emit *e, const bool *buffers)
{
    Hazards h = hazards_new(e);

    memcpy(h.read, buffers, sizeof(bool) * e->k->buffer_count);
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
