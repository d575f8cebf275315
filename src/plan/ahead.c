// ahead.c - rules `tilesim`, AMD: what registers hold ahead of its use.
//
// A tile that a pipelined loop copies from global memory is loaded into
// registers while the one before is worked on, and stored to shared memory when
// no statement of the trip needs what lies there any more. Tiles that are
// needed at the same time are stored together, others one after the other, so
// that they can share bytes. An operand of a product that its loop does not
// change is read once, before the loop. sim_lds counts its reads in each trip.
#include "plan/plan_int.h"

#include <stdlib.h>

enum {
    MOST_COPIES = 16,
    STAGED_WORDS = 32, HELD_WORDS = 40,         // of a thread
    MOST_WORDS = 200,                           // with the fragments
};

// ---- bodies ----------------------------------------------------------------

static IrStmt *nth(IrStmt *block, int *left)
{
    for (int i = 0; i < block->len; i++) {
        IrStmt *s = block->body[i];
        if (s->kind == STMT_BLOCK)
            s = nth(s, left);
        else if ((*left)--)
            continue;
        if (s)
            return s;
    }
    return NULL;
}

IrStmt *plan_body_at(IrStmt *body, int i)
{
    return nth(body, &i);
}

// ---- registers -------------------------------------------------------------

static int fragment_words(const PlanState *p)
{
    int n = 0;

    for (int i = 0; i < p->launch->fragment_count; i++) {
        const IrBuffer *b = p->launch->fragments[i];
        const PlanFragment *f = p->fragment[b->id];
        if (f && !p->spilled[b->id])
            n += (f->locals * dtype_info(b->dtype)->bits + 31) / 32;
    }
    return n;
}

static int held_words(const PlanState *p)
{
    int n = 0;

    for (int i = 0; i < p->launch->gemm_count; i++) {
        const PlanGemm *g = &p->launch->gemms[i];
        if (g->held)
            n += (int)(g->shape.m / g->m_warps * g->shape.k *
                       dtype_info(g->a->dtype)->bits / 32 / 64);
    }
    return n;
}

static int tile_words(const PlanState *p, const IrBuffer *b)
{
    int64_t n = 1, extent;

    for (int d = 0; d < b->rank; d++)
        if (ir_is_int(b->shape[d], &extent))
            n *= extent;
    return (int)(n * dtype_info(b->dtype)->bits / 32 / p->launch->threads);
}

// ---- tiles of a loop -------------------------------------------------------

// Where the statements of a trip use a tile: the first and the last of them.
typedef struct {
    const PlanFeedCopy *copy;
    int first, last, group;
} Use;

static bool whole_vectors(const IrBuffer *b)
{
    int64_t cols;

    return ir_is_int(b->shape[b->rank - 1], &cols) && cols > 0 &&
           cols * dtype_info(b->dtype)->bits % 128 == 0;
}

static bool can_stage(const PlanState *p, const PlanFeedCopy *c)
{
    const IrBuffer *to = c->map.dst.buffer, *from = c->map.src.buffer;

    return to->dtype == from->dtype && whole_vectors(to) &&
           whole_vectors(from) && tile_words(p, to) <= STAGED_WORDS &&
           tile_words(p, to) > 0;
}

static Use use_of(PlanState *p, IrStmt *body, const PlanFeedCopy *c)
{
    Use u = {.copy = c, .first = -1};
    IrStmt *s;

    for (int i = 0; (s = plan_body_at(body, i)); i++) {
        PlanTouched t = plan_touched(p, s, c->map.dst.buffer);
        if (s == c->stmt || t.reads + t.writes == 0)
            continue;
        if (u.first < 0)
            u.first = i;
        u.last = i;
    }
    return u;
}

static int by_first(const void *a, const void *b)
{
    return ((const Use *)a)->first - ((const Use *)b)->first;
}

// Tiles in the order of their use, in groups that do not overlap.
static int group_uses(Use *u, int n)
{
    int groups = 0, last = -1;

    qsort(u, (size_t)n, sizeof *u, by_first);
    for (int i = 0; i < n; i++) {
        if (u[i].first > last)
            groups++;
        u[i].group = groups - 1;
        last = u[i].last > last ? u[i].last : last;
    }
    return groups;
}

static int last_of(const Use *u, int n, int group)
{
    int last = -1;

    for (int i = 0; i < n; i++)
        if (u[i].group == group && u[i].last > last)
            last = u[i].last;
    return last;
}

// The registers that the largest group takes.
static int staged_words(const PlanState *p, const Use *u, int n, int groups)
{
    int most = 0;

    for (int g = 0; g < groups; g++) {
        int words = 0;
        for (int i = 0; i < n; i++)
            if (u[i].group == g)
                words += tile_words(p, u[i].copy->map.dst.buffer);
        most = words > most ? words : most;
    }
    return most;
}

void plan_add_ahead(PlanState *p, const PlanRing *r)
{
    PlanAhead a = {.loop = r->loop, .known = r->known};
    Use u[MOST_COPIES];
    int n = 0;

    for (int i = 0; i < r->count && n < MOST_COPIES; i++)
        if (can_stage(p, &r->copies[i]))
            u[n++] = use_of(p, r->loop->then, &r->copies[i]);
    int groups = group_uses(u, n), words = staged_words(p, u, n, groups);
    if (!n || words > STAGED_WORDS ||
        fragment_words(p) + held_words(p) + words > MOST_WORDS)
        return;
    a.copies = new_array(p->arena, PlanFeedCopy, n);
    a.after = new_array(p->arena, const IrStmt *, n);
    a.count = n;
    for (int i = 0; i < n; i++) {
        a.copies[i] = *u[i].copy;
        if (u[i].group)
            a.after[i] = plan_body_at(r->loop->then,
                                      last_of(u, n, u[i].group - 1));
    }
    p->launch->aheads[p->launch->ahead_count++] = a;
}

const PlanAhead *plan_ahead_of(const PlanLaunch *l, const IrStmt *copy)
{
    for (int i = 0; i < l->ahead_count; i++)
        for (int j = 0; j < l->aheads[i].count; j++)
            if (l->aheads[i].copies[j].stmt == copy)
                return &l->aheads[i];
    return NULL;
}

// ---- operands that a loop does not change ----------------------------------

static bool is_whole(const IrRegion *r)
{
    return r->form == REGION_WHOLE;
}

static bool can_hold(PlanState *p, IrStmt *loop, const PlanGemm *g)
{
    const IrBuffer *a = g->a;
    bool shared = a->scope == SCOPE_SHARED || p->spilled[a->id];

    return g->unit == PLAN_MFMA && !g->held && shared && !a->alias_of &&
           is_whole(g->stmt->operand[g->shape.operand[0]].region) &&
           plan_reads(g, false) == READ_ROWS &&
           !plan_touched(p, loop->then, a).writes;
}

static void hold_in(PlanState *p, IrStmt *loop)
{
    IrStmt *s;

    for (int i = 0; (s = plan_body_at(loop->then, i)); i++)
        for (int j = 0; j < p->launch->gemm_count; j++) {
            PlanGemm *g = &p->launch->gemms[j];
            if (g->stmt != s || !can_hold(p, loop, g))
                continue;
            g->held = loop;
            if (held_words(p) > HELD_WORDS ||
                fragment_words(p) + held_words(p) > MOST_WORDS)
                g->held = NULL;
        }
}

static bool find_loop(void *ctx, IrStmt *s)
{
    if (s->kind == STMT_FOR &&
        (s->loop == LOOP_PIPELINED || s->loop == LOOP_SERIAL))
        hold_in(ctx, s);
    return true;
}

void plan_hold_operands(PlanState *p, IrStmt *launch)
{
    if (p->device->vendor == VENDOR_AMD &&
        launch->threads[1] * launch->threads[2] == 1)
        ir_walk(launch->then, find_loop, NULL, p);
}
