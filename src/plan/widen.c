// widen.c - rules `tilesim`: as many threads as a block's fragments need.
//
// Where no statement asks which thread runs it, how many share the work is the
// plan's to choose. A block whose fragments are more than its threads have
// registers for gets twice as many, and again, while that brings them nearer
// to fitting and takes no product away from the matrix unit. What is still too
// much moves to shared memory, operands of products first: a unit reads them
// there as well.
#include "plan/plan_int.h"

#include <string.h>

typedef struct {
    PlanLaunch launch;
    PlanFragment **fragment;
    bool *spilled;
} Attempt;

static bool attempt(PlanState *p, IrStmt *launch)
{
    p->ops.len = 0;
    plan_find_groups(p, launch);
    plan_find_feed(p, launch);
    if (!plan_collect(p, launch))
        return false;
    plan_infer_own(p);
    return true;
}

static Attempt keep(PlanState *p)
{
    size_t n = (size_t)p->kernel->buffer_count;
    Attempt a = {*p->launch, new_array(p->arena, PlanFragment *, n + 1),
                 new_array(p->arena, bool, n + 1)};

    memcpy(a.fragment, p->fragment, n * sizeof *a.fragment);
    memcpy(a.spilled, p->spilled, n * sizeof *a.spilled);
    return a;
}

static void restore(PlanState *p, const Attempt *a)
{
    size_t n = (size_t)p->kernel->buffer_count;

    *p->launch = a->launch;
    memcpy(p->fragment, a->fragment, n * sizeof *a->fragment);
    memcpy(p->spilled, a->spilled, n * sizeof *a->spilled);
}

// ---- how well it fits ------------------------------------------------------

// Registers of a thread that fragments take.
static int words(const PlanState *p)
{
    int n = 0;

    for (int i = 0; i < p->launch->fragment_count; i++) {
        const IrBuffer *b = p->launch->fragments[i];
        const PlanFragment *f = p->fragment[b->id];
        if (f && !p->spilled[b->id])
            n += (f->locals * plan_bits(PLAN_TILESIM, b) + 31) / 32;
    }
    return n;
}

// Those that a thread has, less what operands of products take, or addresses
// and conditions of every element where nothing is multiplied.
static int room(const PlanState *p, int threads)
{
    enum { FILE_WORDS = 65536, MOST = 255, OPERANDS = 40, OTHER = 96 };
    int n = FILE_WORDS / threads;

    return (n < MOST ? n : MOST) - (p->launch->gemm_count ? OPERANDS : OTHER);
}

// What is not where it should be.
static int losses(const PlanState *p)
{
    int n = 0;

    for (int i = 0; i < p->launch->gemm_count; i++)
        n += p->launch->gemms[i].unit == PLAN_SCALAR;
    for (int i = 0; i < p->launch->fragment_count; i++)
        n += p->spilled[p->launch->fragments[i]->id];
    return n;
}

static bool widen(PlanState *p, IrStmt *launch, const Attempt *before)
{
    enum { WIDEST = 512 };

    for (int threads = p->launch->threads; words(p) > room(p, threads) &&
                                           2 * threads <= WIDEST;) {
        Attempt now = keep(p);
        int need = words(p), lost = losses(p);
        restore(p, before);
        p->launch->threads = 2 * threads;
        if (!attempt(p, launch))
            return false;
        if (losses(p) > lost ||
            words(p) * room(p, threads) >= need * room(p, 2 * threads)) {
            restore(p, before);         // `ops` are not kept
            p->launch->threads = now.launch.threads;
            return attempt(p, launch);
        }
        threads *= 2;
    }
    return true;
}

// ---- what moves ------------------------------------------------------------

// 2: an operand of a product; 0: a result of one, which stays.
static int rank_of(const PlanState *p, const IrBuffer *b)
{
    int rank = 1;

    for (int i = 0; i < p->launch->gemm_count; i++) {
        const PlanGemm *g = &p->launch->gemms[i];
        if (g->c == b)
            return 0;
        if (g->a == b || g->b == b)
            rank = 2;
    }
    return rank;
}

// The largest of those that may move, or NULL.
static const IrBuffer *movable(const PlanState *p)
{
    const IrBuffer *best = NULL;
    int best_rank = 0, best_locals = 0;

    for (int i = 0; i < p->launch->fragment_count; i++) {
        const IrBuffer *b = p->launch->fragments[i];
        const PlanFragment *f = p->fragment[b->id];
        int rank = rank_of(p, b);
        if (!f || p->spilled[b->id] || !rank || rank < best_rank ||
            (rank == best_rank && f->locals <= best_locals))
            continue;
        best = b;
        best_rank = rank;
        best_locals = f->locals;
    }
    return best;
}

static bool add_shared(void *ctx, IrStmt *s)
{
    int64_t *bytes = ctx, n = 1, extent;

    if (s->kind != STMT_ALLOC || (s->buffer->scope != SCOPE_SHARED &&
                                  s->buffer->scope != SCOPE_SHARED_STATIC))
        return true;
    for (int d = 0; d < s->buffer->rank; d++)
        n *= ir_is_int(s->buffer->shape[d], &extent) ? extent : 1;
    *bytes += n * plan_bits(PLAN_TILESIM, s->buffer) / 8;
    return true;
}

// As far as there is room beside one slot of every tile.
static bool move_out(PlanState *p, IrStmt *launch, const Attempt *before)
{
    enum { WORKSPACES = 8192 };
    int64_t bytes = WORKSPACES;

    ir_walk(launch->then, add_shared, NULL, &bytes);

    while (words(p) > room(p, p->launch->threads)) {
        const IrBuffer *b = movable(p);
        Attempt now = keep(p);
        if (!b)
            break;
        bytes += (int64_t)p->fragment[b->id]->elements *
                 plan_bits(PLAN_TILESIM, b) / 8;
        if (bytes > p->device->smem_block)
            break;
        restore(p, before);
        p->launch->threads = now.launch.threads;
        for (int i = 0; i < p->kernel->buffer_count; i++)
            p->spilled[i] |= now.spilled[i];
        p->spilled[b->id] = true;
        if (!attempt(p, launch))
            return false;
    }
    return true;
}

bool plan_lay_out(PlanState *p, IrStmt *launch)
{
    Attempt before = keep(p);

    if (!attempt(p, launch))
        return false;
    if (p->device->vendor != VENDOR_NVIDIA || !plan_is_whole_block(p, launch))
        return true;
    return widen(p, launch, &before) && move_out(p, launch, &before);
}
