// lds_sweep.c - plans of a kernel for many settings.
//
// Settings are staged one after the other, for the Python level is one machine,
// and planned side by side: a plan reads its kernel and writes an arena that
// its thread owns.
#include "cli/lds_sweep.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/parallel.h"

// ---- staging ---------------------------------------------------------------

typedef struct {
    LdsSweep *w;
    bool stopped;                       // by a fault of the command line
} Collect;

// The first error since `hold`.
static Text first_error(const Diag *d, const DiagHold *hold)
{
    const DiagEntry *all;
    int n = diag_entries(d, &all);

    for (int i = hold->entries; i < n; i++)
        if (all[i].level == DIAG_ERROR)
            return all[i].message;
    return TEXT("no kernel");
}

static void stage_point(void *ctx, const SweepPoint *at)
{
    Collect *c = ctx;
    Session *s = c->w->s;
    Diag *d = s->cli->diag;
    CaseOptions o = {.defines = at->defines, .define_count = at->count};
    LdsPoint *p;

    if (c->stopped)
        return;
    diag_fresh(d);
    DiagHold hold = diag_hold(d);
    p = new (s->cli->arena, LdsPoint);
    p->own = at->defines + at->fixed;
    p->own_count = at->count - at->fixed;
    p->words = at->words;
    p->kernel = session_kernel(s, &o);
    if (!p->kernel) {
        p->code = diag_fresh(d);
        p->why = text_copy(s->cli->arena, first_error(d, &hold));
    }
    c->stopped = p->code == EXIT_USAGE;
    diag_settle(d, &hold, !c->stopped);
    if (c->stopped)
        return;
    if (c->w->count == c->w->room)
        vec_grow_(s->cli->arena, (void **)&c->w->points, &c->w->room,
                  sizeof *c->w->points);
    c->w->points[c->w->count++] = p;
}

// ---- points with the same plan ---------------------------------------------

// Does a line of a printed kernel say what no plan depends on: what a factory
// was called with, and the order of blocks ("16: T.use_swizzle(...)")?
static bool is_aside(Text line)
{
    const char *colon = memchr(line.at, ':', line.len);

    if (text_starts(text_trim(line), "argument "))
        return true;
    if (colon)
        line = text_slice(line, colon + 1 - line.at, line.len);
    return text_starts(text_trim(line), "T.use_swizzle(");
}

// Does a value say how large the tensors are, or what a scalar is?
static bool is_size(const IrKernel *k, Text name)
{
    for (int i = 0; i < k->symbol_count; i++)
        if (text_eq(k->symbols[i]->name, name))
            return true;
    for (int i = 0; i < k->param_count; i++)
        if (k->params[i].is_scalar && text_eq(k->params[i].var->name, name))
            return true;
    return false;
}

// The kernel as text, less what no plan depends on, and its sizes.
static Text key_of(Arena *a, const LdsPoint *p)
{
    const IrKernel *k = p->kernel->ir;
    TextBuf all = {0}, kept = {0};
    Text key;

    ir_print(&all, NULL, k);
    for (size_t i = 0, end; i < all.len; i = end + 1) {
        const char *stop = memchr(all.at + i, '\n', all.len - i);
        end = stop ? (size_t)(stop - all.at) : all.len;
        if (!is_aside(text_slice(buf_view(&all), i, end)))
            buf_add(&kept, all.at + i, end - i);
    }
    for (int i = 0; i < p->own_count; i++)
        if (is_size(k, p->own[i].name))
            buf_printf(&kept, "%.*s=%.*s\n", TEXT_ARG(p->own[i].name),
                       TEXT_ARG(p->own[i].value));
    key = text_copy(a, buf_view(&kept));
    buf_release(&all);
    buf_release(&kept);
    return key;
}

static void find_same(LdsSweep *w)
{
    Arena *a = arena_create();
    Map seen = {0};

    for (int i = 0; i < w->count; i++) {
        LdsPoint *p = w->points[i];
        Text key;

        if (!p->kernel)
            continue;
        key = key_of(a, p);
        p->same = map_get(&seen, key);
        if (!p->same)
            map_set(a, &seen, key, p);
    }
    arena_destroy(a);
}

static void take_same(LdsPoint *p)
{
    memcpy(p->at, p->same->at, sizeof p->at);
    memcpy(p->planned, p->same->planned, sizeof p->planned);
    memcpy(p->cost, p->same->cost, sizeof p->cost);
    p->code = p->same->code;
    p->why = p->same->why;
}

// ---- planning --------------------------------------------------------------

// What a thread plans with. Its messages are for nobody: a point that fails is
// planned again where they can be kept.
typedef struct {
    Arena *arena;
    Diag *diag;
} Planner;

typedef struct {
    LdsSweep *w;
    Planner *planners;                  // by worker
    int from;                           // the first point of the batch
} Planning;

enum { BATCH = 64 };                    // points whose plans are kept at a time

static bool holds_more(const LdsTarget *a, const LdsTarget *b)
{
    return a->bytes > b->bytes;
}

static bool plan_on(const LdsSweep *w, LdsPoint *p, int t, IrKernel *k,
                    Arena *a)
{
    const Plan *plan = plan_build(a, k, w->devices[t],
                                  session_rules(w->s->cli, PLAN_TILELANG));

    p->planned[t] = plan != NULL;
    for (int i = 0; plan && i < plan->launch_count; i++) {
        LdsTarget n = lds_target(plan, &plan->launches[i]);

        n.plan = NULL;                  // which goes with its arena
        if (i == 0 || holds_more(&n, &p->at[t]))
            p->at[t] = n;
    }
    p->plan[t] = plan && p->at[t].fits ? plan : NULL;
    return plan != NULL;
}

static void plan_point(void *ctx, int worker, int64_t item)
{
    Planning *g = ctx;
    LdsPoint *p = g->w->points[g->from + item];
    Planner *own = &g->planners[worker];
    ArenaMark mark = arena_mark(own->arena);
    IrKernel *k;
    bool kept = false;

    if (!p->kernel || p->same)
        return;
    k = new (own->arena, IrKernel);
    *k = *p->kernel->ir;
    k->arena = own->arena;
    k->diag = own->diag;
    for (int t = 0; t < g->w->device_count; t++)
        plan_on(g->w, p, t, k, own->arena);
    lds_sweep_closed(g->w, p, own->arena);
    for (int t = 0; t < g->w->device_count; t++)
        kept |= p->plan[t] != NULL;
    if (!kept)
        arena_release(own->arena, mark);
}

static void plan_batch(Planning *g, int workers)
{
    LdsSweep *w = g->w;
    int n = w->count - g->from < BATCH ? w->count - g->from : BATCH;

    for (int i = 0; i < workers; i++)
        g->planners[i].arena = arena_create();
    parallel_for(n, 1, plan_point, g);
    lds_sweep_count(w, g->from, n);
    for (int i = 0; i < workers; i++)
        arena_destroy(g->planners[i].arena);
}

// Each batch takes as much memory as the last one gave back: pages that went to
// the system would come back empty, one fault each.
static void keep_memory(void)
{
    enum { KEPT = 512 << 20 };

    mallopt(M_TRIM_THRESHOLD, KEPT);
    mallopt(M_MMAP_THRESHOLD, KEPT);
}

// Plans and counts all points.
static void plan_all(LdsSweep *w)
{
    Cli *c = w->s->cli;
    int workers = parallel_threads();
    Planning g = {w, new_array(c->arena, Planner, workers), 0};

    for (int i = 0; i < workers; i++) {
        g.planners[i].diag = diag_create(c->sources, stderr, false);
        diag_quiet(g.planners[i].diag, true);
    }
    keep_memory();
    lds_sweep_begin(w);
    for (g.from = 0; g.from < w->count; g.from += BATCH)
        plan_batch(&g, workers);
    for (int i = 0; i < workers; i++)
        diag_destroy(g.planners[i].diag);
}

// Why a point has no plan for a target.
static void explain(LdsSweep *w, LdsPoint *p)
{
    Arena *a = w->s->cli->arena;
    Diag *d = w->s->cli->diag;
    DiagHold hold = diag_hold(d);

    for (int t = 0; p->kernel && t < w->device_count; t++)
        if (!p->planned[t] && !p->why.len && !plan_on(w, p, t, p->kernel->ir, a))
            p->why = text_copy(a, first_error(d, &hold));
    if (p->kernel && p->why.len)
        p->code = EXIT_LIMIT;
    diag_settle(d, &hold, true);
}

// ---- the order of the report -----------------------------------------------

static bool fits_all(const LdsSweep *w, const LdsPoint *p)
{
    for (int t = 0; t < w->device_count; t++)
        if (!p->planned[t] || !p->at[t].fits)
            return false;
    return true;
}

// 2 for each target that fits, 1 where there is a plan.
static int rank_of(const LdsSweep *w, const LdsPoint *p)
{
    int rank = 0;

    for (int t = 0; t < w->device_count; t++)
        rank += p->planned[t] ? 1 + p->at[t].fits : 0;
    return rank;
}

typedef struct {
    LdsPoint *point;
    int rank, index;
    double us, serial_us;               // on the first target that it fits
} Ranked;

static Ranked place_of(const LdsSweep *w, int index)
{
    LdsPoint *p = w->points[index];
    Ranked at = {.point = p, .rank = rank_of(w, p), .index = index,
                .us = INFINITY};

    for (int t = w->device_count - 1; t >= 0; t--)
        if (p->cost[t].known) {
            at.us = p->cost[t].floor_us;
            at.serial_us = p->cost[t].serial_us;
        }
    return at;
}

static int by_place(const void *left, const void *right)
{
    const Ranked *a = left, *b = right;

    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    if (a->us != b->us)
        return a->us < b->us ? -1 : 1;
    if (a->serial_us != b->serial_us)
        return a->serial_us < b->serial_us ? -1 : 1;
    return a->index - b->index;
}

// Those that fit most targets first; among them by time, else as they come.
static void order_points(LdsSweep *w)
{
    Ranked *at = new_array(w->s->cli->arena, Ranked, w->count + 1);

    for (int i = 0; i < w->count; i++)
        at[i] = place_of(w, i);
    qsort(at, (size_t)w->count, sizeof *at, by_place);
    for (int i = 0; i < w->count; i++)
        w->points[i] = at[i].point;
}

bool lds_sweep_make(Session *s, const Device *const *devices, int count,
                    LdsSweep *out)
{
    Collect c = {.w = out};

    *out = (LdsSweep){.s = s, .devices = devices, .device_count = count};
    sweep_points(s, stage_point, &c);
    if (c.stopped || !out->count)
        return false;
    find_same(out);
    plan_all(out);
    for (int i = 0; i < out->count; i++) {
        LdsPoint *p = out->points[i];

        if (p->same)
            take_same(p);
        else
            explain(out, p);
        out->exit = exit_worst(out->exit, p->code);
        if (!p->code && !fits_all(out, p))
            out->exit = exit_worst(out->exit, EXIT_NO_FIT);
    }
    order_points(out);
    return true;
}
