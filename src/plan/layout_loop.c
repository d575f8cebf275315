// layout_loop.c - which thread runs which point of a loop.
//
// A loop takes its layout from a fragment that it accesses, or spreads its
// points evenly; other fragments take theirs from the loop.
#include "plan/plan_int.h"

#include <string.h>

static PlanFragment *loop_new(PlanState *p, const PlanLoop *l, int replicas)
{
    PlanFragment *f = new (p->arena, PlanFragment);

    f->rank = l->rank;
    memcpy(f->shape, l->extent, sizeof f->shape);
    f->elements = (int)l->points;
    f->replicas = replicas;
    f->local = new_array(p->arena, int32_t, l->points + 1);
    f->thread = new_array(p->arena, int32_t, (size_t)l->points * replicas + 1);
    return f;
}

// Each point runs where the element that it accesses is.
PlanFragment *plan_loop_like(PlanState *p, const PlanLoop *l,
                             const PlanAccess *a, const PlanFragment *f)
{
    PlanFragment *out = loop_new(p, l, f->replicas);
    const int32_t *e = a->element;
    int32_t *seen = new_array(p->arena, int32_t, PLAN_MAX_THREADS);

    for (int n = 0; n < out->elements; n++) {
        if (e[n] < 0 || e[n] >= f->elements)
            return NULL;
        for (int r = 0; r < f->replicas; r++)
            out->thread[(size_t)r * out->elements + n] =
                f->thread[(size_t)r * f->elements + e[n]];
        out->local[n] = out->elements == f->elements
                            ? f->local[e[n]]
                            : seen[out->thread[n]]++;
        if (out->local[n] >= out->locals)
            out->locals = out->local[n] + 1;
    }
    return out;
}

// Whether rows begin at every thread: then which row and column a register has
// is no closed form of its number and the thread's.
static bool straddles(const PlanLoop *l, int64_t span)
{
    int64_t columns = l->extent[l->rank - 1];

    return l->rank > 1 && span % columns && columns % span;
}

// Rules `tilesim`: rows in turn to groups of lanes, columns in turn within one.
static PlanFragment *by_rows(PlanState *p, const PlanLoop *l, int threads)
{
    int columns = (int)l->extent[l->rank - 1], lanes = 1;
    int rows = (int)(l->points / columns);

    while (lanes < columns && lanes < 32 && lanes < threads)
        lanes *= 2;
    int across = (columns + lanes - 1) / lanes, groups = threads / lanes;
    PlanFragment *f = loop_new(p, l, 1);
    for (int n = 0; n < l->points; n++) {
        int i = n / columns, j = n % columns;
        f->thread[n] = i % groups * lanes + j % lanes;
        f->local[n] = i / groups * across + j / lanes;
    }
    f->locals = (rows + groups - 1) / groups * across;
    return f;
}

// thread = (flat / V) mod T, local = (flat / (V T)) V + flat mod V.
PlanFragment *plan_loop_planned(PlanState *p, const PlanLoop *l)
{
    int threads = plan_group_threads(p->launch, l->stmt);
    int v = plan_vector(p, l);
    int points = (int)l->points, replicas = 1, span = threads;

    bool own = p->plan->rules == PLAN_TILESIM;
    if (points < 1 || (!own && points > threads && points % threads))
        return NULL;
    while (v > 1 && points % (threads * v))
        v /= 2;
    if (own && points > threads && straddles(l, (int64_t)threads * v))
        return by_rows(p, l, threads);
    if (points < threads) {
        replicas = threads / points;
        span = points;
    }
    PlanFragment *f = loop_new(p, l, replicas);
    for (int n = 0; n < points; n++) {
        f->local[n] = n / (v * span) * v + n % v;
        if (f->local[n] >= f->locals)
            f->locals = f->local[n] + 1;
        for (int r = 0; r < replicas; r++)
            f->thread[(size_t)r * points + n] = n / v % span + r * span;
    }
    return f;
}

// The layout of a fragment that a loop with this layout accesses.
PlanFragment *plan_complete(PlanState *p, const PlanLoop *l,
                            const PlanAccess *a, const PlanFragment *layout)
{
    PlanFragment *probe = plan_fragment_new(p, a->buffer, 1);
    const int32_t *e = a->element;
    int n = probe->elements, *hits = new_array(p->arena, int, n), most = 0;

    for (int i = 0; i < l->points; i++) {
        if (e[i] < 0 || e[i] >= n)
            return NULL;
        if (++hits[e[i]] > most)
            most = hits[e[i]];
    }
    for (int i = 0; i < n; i++)
        if (!hits[i])
            return NULL;
    int slots = most * layout->replicas;
    int32_t *thread = new_array(p->arena, int32_t, (size_t)n * slots);
    memset(hits, 0, sizeof *hits * n);
    for (int i = 0; i < l->points; i++) {
        for (int r = 0; r < layout->replicas; r++)
            thread[(size_t)(hits[e[i]] + r) * n + e[i]] =
                layout->thread[(size_t)r * l->points + i];
        hits[e[i]] += layout->replicas;
    }
    for (int i = 0; i < n; i++)
        for (int r = hits[i]; r < slots; r++)
            thread[(size_t)r * n + i] = thread[i];
    PlanFragment *f = plan_condense(p, a->buffer, thread, slots);
    if (most == 1) {
        for (int i = 0; i < l->points; i++)
            f->local[e[i]] = layout->local[i];
        f->locals = layout->locals;
    }
    return f;
}
