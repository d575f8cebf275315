// lds_sweep_count.c - what the points of a sweep that fit would take.
//
// Closed expressions are worked out by the thread that plans. Where there are
// none, points are walked one after the other, for a control walk is a run and
// has all threads to itself; what each access then costs is worked out side by
// side again.
#include "cli/lds_sweep.h"

#include <string.h>

#include "support/parallel.h"

typedef struct {
    LdsSweep *w;
    Arena **arenas;                     // by worker
    int from;
} Counting;

static int plans_of(const LdsSweep *w, const LdsPoint *p, const Plan **out)
{
    int n = 0;

    for (int t = 0; t < w->device_count; t++)
        if (p->plan[t])
            out[n++] = p->plan[t];
    return n;
}

static CaseOptions options_of(const LdsSweep *w, const LdsPoint *p)
{
    int given = w->s->define_count;     // which stand in front of its own

    return (CaseOptions){.defines = p->own - given,
                         .define_count = given + p->own_count};
}

static void walk(LdsSweep *w, LdsPoint *p)
{
    const Plan *plans[DEVICE_COUNT];
    int n = plans_of(w, p, plans);
    Session *s = w->s;
    Diag *d = s->cli->diag;
    CaseOptions o = options_of(w, p);
    CountWay way = lds_count_way(s->cli);

    if (!n || parallel_cancelled())
        return;
    DiagHold hold = diag_hold(d);
    p->counted = counts_make(s->host, p->kernel, plans, n, &o,
                             way == COUNT_BEST ? COUNT_QUICK : way,
                             &p->counts);
    diag_settle(d, &hold, true);
    p->counted = p->counted && !p->counts.unknown;
}

// All launches of the kernel, one after the other.
static LdsCost cost_of(const LdsPoint *p, const Plan *plan, Arena *a,
                       Counter *c)
{
    LdsCost sum = {.known = true};
    int n;
    const CountLaunch *l = count_launches(c, &n);

    for (int i = 0; i < n; i++) {
        Ledger g = ledger_make(a, plan, &l[i], p->counts.sizes);

        sum.floor_us += g.floor_us;
        sum.serial_us += g.serial_us;
        sum.conflicts += l[i].shared.conflicts;
        sum.partial |= g.partial;
    }
    return sum;
}

static void count_point(void *ctx, int worker, int64_t item)
{
    Counting *g = ctx;
    LdsPoint *p = g->w->points[g->from + item];
    Arena *a = g->arenas[worker];
    ArenaMark mark = arena_mark(a);

    for (int t = 0; p->counted && t < g->w->device_count; t++)
        if (p->plan[t])
            p->cost[t] = cost_of(p, p->plan[t], a,
                                 counts_of(&p->counts, a, p->plan[t]));
    arena_release(a, mark);
}

void lds_sweep_begin(LdsSweep *w)
{
    CountWay way = lds_count_way(w->s->cli);

    for (int i = 0; i < w->count; i++) {
        LdsPoint *p = w->points[i];
        CaseOptions o = options_of(w, p);

        if (!p->kernel || p->same)
            continue;
        counts_begin(w->s->host, p->kernel, &o, &p->counts);
        p->try_closed = way != COUNT_WALK && way != COUNT_RUN;
    }
}

void lds_sweep_closed(const LdsSweep *w, LdsPoint *p, Arena *a)
{
    LdsCost cost[DEVICE_COUNT] = {0};

    for (int t = 0; t < w->device_count; t++) {
        Counter *c;

        if (!p->plan[t])
            continue;
        c = p->try_closed ? counts_closed(&p->counts, a, p->plan[t]) : NULL;
        if (!c)
            return;                     // a walk tells of all targets
        cost[t] = cost_of(p, p->plan[t], a, c);
    }
    memcpy(p->cost, cost, sizeof cost);
    memset(p->plan, 0, sizeof p->plan);
}

void lds_sweep_count(LdsSweep *w, int from, int n)
{
    int workers = parallel_threads();
    Counting g = {w, new_array(w->s->cli->arena, Arena *, workers), from};

    for (int i = from; i < from + n; i++)
        walk(w, w->points[i]);
    for (int i = 0; i < workers; i++)
        g.arenas[i] = arena_create();
    parallel_for(n, 1, count_point, &g);
    for (int i = 0; i < workers; i++)
        arena_destroy(g.arenas[i]);
    for (int i = from; i < from + n; i++) {
        LdsPoint *p = w->points[i];

        counts_release(&p->counts);
        memset(p->plan, 0, sizeof p->plan);
    }
}
