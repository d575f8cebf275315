// access.c - every instruction of a move with the bytes of its lanes.
#include "plan/access.h"

#include <string.h>

typedef struct {
    const Plan *plan;
    const PlanLaunch *launch;
    const PlanMove *move;
    PlanAt at;
    int64_t point[IR_MAX_RANK];
    PlanIssue issue;
    PlanVisit *visit;
    void *ctx;
} Walk;

const char *plan_unknown(const PlanMove *v)
{
    if (v->kind == MOVE_CALL)
        return "a library call";
    if (v->kind == MOVE_TMA || v->kind == MOVE_BULK || v->kind == MOVE_WGMMA ||
        !v->buffer)
        return NULL;
    if (!v->loop || !v->work)
        return "an operation whose addresses are not modelled";
    return v->loop->is_open ? "a loop of unknown length inside" : NULL;
}

// ---- addresses -------------------------------------------------------------

static int64_t index_at(Walk *w, const PlanAccess *a, int d)
{
    int64_t i;

    if (a->expr[d])
        return plan_eval_at(&w->at, a->expr[d]);
    i = a->min[d] ? plan_eval_at(&w->at, a->min[d]) : 0;
    return a->map[d] >= 0 ? i + w->point[a->map[d]] : i;
}

// In elements; `size` is what the dimensions further in take.
static int64_t element_at(Walk *w, const PlanAccess *a)
{
    const IrBuffer *b = a->buffer;
    int64_t at = 0, size = 1;

    for (int d = b->rank - 1; d >= 0; d--) {
        int64_t stride = b->strides[d] ? plan_eval_at(&w->at, b->strides[d])
                                       : size;
        at += index_at(w, a, d) * stride;
        size *= plan_eval_at(&w->at, b->shape[d]);
    }
    return at;
}

static int64_t byte_at(Walk *w, const PlanAccess *a)
{
    const IrBuffer *b = a->buffer, *root = b;
    int64_t e = element_at(w, a);
    const PlanShared *s;

    while (root->alias_of && !w->plan->shared[root->id].address)
        root = root->alias_of;
    s = &w->plan->shared[root->id];
    if (s->address && e >= 0)
        e = e / s->elements * s->size + s->address[e % s->elements];
    return e * plan_bits(w->plan->rules, b) / 8;
}

static bool is_inside(Walk *w, const PlanAccess *a)
{
    for (int d = 0; d < a->buffer->rank; d++) {
        int64_t i = index_at(w, a, d);
        if (i < 0 || i >= plan_eval_at(&w->at, a->buffer->shape[d]))
            return false;
    }
    return true;
}

static bool is_taken(Walk *w, const PlanAccess *a)
{
    for (const PlanGuard *g = a->guard; g; g = g->outer)
        if ((plan_eval_at(&w->at, g->cond) != 0) != g->want)
            return false;
    if (a->buffer->scope == SCOPE_GLOBAL && !is_inside(w, a))
        return false;
    return a->bound < 0 || is_inside(w, &w->move->loop->access.at[a->bound]);
}

static void set_point(Walk *w, int32_t n)
{
    const PlanLoop *l = w->move->loop;

    for (int d = l->rank - 1; d >= 0; d--) {
        w->point[d] = n % l->extent[d];
        n /= (int32_t)l->extent[d];
    }
}

// ---- instructions ----------------------------------------------------------

static int warps_of(const Walk *w)
{
    return device_warps(w->plan->device, w->move->work
                                             ? w->move->work->threads
                                             : w->launch->threads);
}

// The n-th point of a lane; -1: none.
static int32_t point_of(const Walk *w, int lane, int n)
{
    const PlanWork *k = w->move->work;
    int thread = w->issue.warp * w->plan->device->warp_lanes + lane;

    return thread < k->threads && n < k->locals
               ? k->point[thread * k->locals + n] : -1;
}

static void send(Walk *w)
{
    w->issue.turn++;
    if (w->issue.active && !w->at.failed)
        w->visit(w->ctx, &w->issue);
}

static void issue_lanes(Walk *w, int n)
{
    const PlanAccess *a = w->move->access;

    w->issue.active = 0;
    for (int lane = 0; lane < w->plan->device->warp_lanes; lane++) {
        int32_t point = point_of(w, lane, n);
        if (point < 0)
            continue;
        set_point(w, point);
        w->at.thread = w->issue.warp * w->plan->device->warp_lanes + lane;
        if (!is_taken(w, a))
            continue;
        w->issue.active |= 1ull << lane;
        w->issue.address[lane] = byte_at(w, a);
    }
    send(w);
}

// Row r of a tile is what lane 4 r holds first, or, transposed, what lane r / 2
// holds at r % 2.
static void issue_matrix(Walk *w, int n, int tiles)
{
    const PlanMove *v = w->move;
    int per = 32 / plan_bits(w->plan->rules, v->buffer);

    w->issue.active = 0xffffffff;
    w->issue.tiles = tiles;
    for (int i = 0; i < 32; i++) {
        int r = i % 8, first = n + i / 8 % tiles * per;
        int32_t point = v->transposed ? point_of(w, r / 2, first + r % 2)
                                      : point_of(w, 4 * r, first);
        if (point < 0)
            return;
        set_point(w, point);
        w->issue.address[i] = byte_at(w, v->access);
    }
    send(w);
}

static void issue_all(Walk *w)
{
    const PlanMove *v = w->move;
    bool matrix = v->kind == MOVE_LDMATRIX || v->kind == MOVE_STMATRIX;
    int bits = plan_bits(w->plan->rules, v->buffer);
    int step = matrix ? v->tiles * 32 / bits : v->width;

    for (w->issue.warp = 0; w->issue.warp < warps_of(w); w->issue.warp++) {
        for (int n = 0; n < v->work->locals && !w->at.failed; n += step) {
            int left = (v->work->locals - n) * bits / 32;
            if (matrix)
                issue_matrix(w, n, left < v->tiles ? left : v->tiles);
            else
                issue_lanes(w, n);
        }
    }
}

// Serial loops inside the statement, from the outermost in.
static void issue_nest(Walk *w, const PlanNest *const *nest, int depth)
{
    const PlanNest *n = nest[depth];
    int64_t trips;

    if (!n) {
        issue_all(w);
        return;
    }
    trips = plan_eval_at(&w->at, n->loop->extent[n->var]);
    for (int64_t i = 0; i < trips && !w->at.failed; i++) {
        w->at.trip[depth] = i;
        issue_nest(w, nest, depth + 1);
    }
}

// A word for each point.
static void issue_words(Walk *w, int n)
{
    w->issue.active = 0;
    for (int lane = 0; lane < w->plan->device->warp_lanes; lane++) {
        int32_t point = point_of(w, lane, n);
        if (point < 0)
            continue;
        w->issue.active |= 1ull << lane;
        w->issue.address[lane] = (int64_t)point * w->move->bytes;
    }
    send(w);
}

// Lane t writes its own word, and reads that of t ^ partner.
static void issue_workspace(Walk *w)
{
    const PlanMove *v = w->move;
    int lanes = w->plan->device->warp_lanes;

    for (w->issue.warp = 0; w->issue.warp < warps_of(w); w->issue.warp++) {
        for (int n = 0; v->work && n < v->work->locals; n++)
            issue_words(w, n);
        w->issue.active = 0;
        for (int lane = 0; lane < lanes; lane++) {
            int t = w->issue.warp * lanes + lane;
            if (t >= w->launch->threads)
                break;
            w->issue.active |= 1ull << lane;
            w->issue.address[lane] = (int64_t)(t ^ v->partner) * v->bytes;
        }
        for (int i = 0; i < v->times; i++)
            send(w);
    }
}

bool plan_each_issue(const Plan *p, const PlanLaunch *l, const PlanMove *v,
                     const PlanEnv *env, PlanVisit *visit, void *ctx)
{
    Walk w = {.plan = p, .launch = l, .move = v, .visit = visit, .ctx = ctx};
    const PlanNest *nest[PLAN_NEST + 1] = {0};

    if (!v->buffer) {
        issue_workspace(&w);
        return true;
    }
    if (plan_unknown(v))
        return false;
    if (!v->work)
        return true;
    w.at = (PlanAt){.loop = v->loop, .point = w.point, .env = env,
                    .threads = l->stmt->threads,
                    .nest = v->access->nest};
    for (const PlanNest *n = v->access->nest; n; n = n->outer)
        nest[n->depth] = n;
    issue_nest(&w, nest, 0);
    return !w.at.failed;
}
