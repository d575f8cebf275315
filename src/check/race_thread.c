// race_thread.c - accesses of a block's threads, and of what they started,
// that nothing orders.
//
// An access is held against those in the log (race_log.c) that have an element
// in common with it and another maker: one that its warps have not heard of
// (order.c) may on a device come before or after it.
#include "check/race_int.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    Check *k;
    const InterpStep *s;
    BlockOrder *order;
    RaceLog *log;
    int root;
    int64_t base, width;        // units: where element 0 begins, of an element
    OrderBy by;
    const Access *access;       // of lanes or one element, or NULL
    uint64_t warps;             // that make it or start it
    Entry what;
} Seen;

// ---- what collides -------------------------------------------------------

// A value that was computed where it is to be stored.
static bool is_in_place(const Seen *n, const char *value)
{
    int64_t elements;
    const char *at = interp_memory_of(n->s, n->root, &elements);

    return at && value >= at &&
           value < at + elements * n->k->code->buffer[n->root].element;
}

// Whether a lane stores another value than is there, of what e has as well.
static bool changes(const Seen *n, const Entry *e)
{
    const Instr *i = n->s->instr;
    const char *value = i->op == INSTR_VSTORE  ? n->s->v[i->b]
                        : i->op == INSTR_STORE ? (char *)&n->s->slot[i->b]
                                               : NULL;
    const CodeBuffer *b;
    size_t lane;

    if (!value || e->root != n->root || is_in_place(n, value))
        return true;
    b = &n->k->code->buffer[n->access->buffer];
    lane = lane_bytes(lane_type_of(b->dtype));
    for (int j = 0; j < n->log->lanes; j++) {
        uint64_t old = 0;

        if (!units_have(&e->units, n->log->unit[j]))
            continue;
        interp_read(n->s, n->access->buffer,
                    (n->log->unit[j] - n->base) / n->width, 1, &old);
        if (memcmp(&old, value + (size_t)n->log->lane[j] * lane, lane))
            return true;
    }
    return false;
}

// Products of the same warps follow each other.
static bool is_one_queue(const Seen *n, const Entry *e)
{
    return n->what.when.by == MADE_BY_MATRIX &&
           e->when.by == MADE_BY_MATRIX &&
           n->what.when.warps == e->when.warps;
}

static bool is_several(uint64_t warps)
{
    return (warps & (warps - 1)) != 0;
}

// Which of the threads of a collective part has an element depends on its
// layout: where they did not meet before it, it may be the one that had it
// before.
static bool may_be_own(const Seen *n, const Entry *e)
{
    return n->k->code->no_auto_sync && !n->what.spread && !e->spread &&
           !e->unit &&
           n->what.when.by == MADE_BY_WARPS && e->when.by == MADE_BY_WARPS &&
           (is_several(n->warps) || is_several(e->when.warps)) &&
           (n->warps & e->when.warps);
}

static bool same_stmt(const Seen *n, const Entry *e)
{
    const int *stmt = n->k->code->launch[n->s->launch].body.stmt;

    return stmt[e->pc] == stmt[n->s->pc];
}

// Iterations of a T.Parallel by the same threads: race.c looks at these.
static bool is_one_loop(const Seen *n, const Entry *e)
{
    return n->s->warp < 0 && e->when.by == MADE_BY_WARPS &&
           n->what.when.by == MADE_BY_WARPS && e->when.warps == n->warps &&
           same_stmt(n, e);
}

// What another buffer left in the same bytes is read by nobody.
static bool is_left_over(const Seen *n, const Entry *e)
{
    return e->root != n->root && n->what.way == LOADS;
}

// Warps of wgmma read rows of A, 16 each; those that write what they share out
// in the same way wait for their own part of the product.
static OrderBy order_by(const Seen *n, const Entry *e)
{
    bool own = e->rows && n->k->code->no_auto_sync && !n->what.spread &&
               e->when.by == MADE_BY_MATRIX &&
               n->what.when.by == MADE_BY_WARPS &&
               e->when.warps == n->warps;

    return own ? BY_OWN : n->by;
}

static bool both_read_or_add(const Seen *n, const Entry *e)
{
    return e->way == n->what.way && e->way != STORES;
}

static void tell(const Seen *n, const Entry *e, int lane)
{
    Note *x = note(n->k, n->s, NOTE_THREADS, e->pc, n->root, 0);

    if (!x->count) {
        x->x[0] = (int64_t)e->when.warps;
        x->x[1] = race_side(e);
        x->x[2] = race_side(&n->what);
    }
    if (n->s->warp >= 0)
        note_lane(x, n->s, lane);
    x->count++;
}

// Threads that all store one value do no harm. What another statement loads is
// the same only by chance.
static bool is_same_value(const Seen *n, const Entry *e)
{
    return n->what.way == STORES && (e->way != LOADS || same_stmt(n, e)) &&
           !changes(n, e);
}

static void hold_against(const Seen *n, const EntryList *l)
{
    for (int i = 0; i < l->len; i++) {
        const Entry *e = &l->at[i];

        if (both_read_or_add(n, e) || is_one_queue(n, e) ||
            is_one_loop(n, e) || is_left_over(n, e) ||
            order_unheard(n->order, order_by(n, e), &e->when, n->warps) < 0 ||
            may_be_own(n, e) || !units_meet(&e->units, &n->log->now) ||
            is_same_value(n, e))
            continue;
        tell(n, e, n->log->lanes ? n->log->lane[0] : 0);
    }
}

// ---- lanes of one warp ---------------------------------------------------

// Where a part of a warp may stay away no barrier can stand, and nothing but
// T.sync_warp orders its lanes. Those of one statement go together.
static bool is_parted(const Seen *n)
{
    return n->s->warp >= 0 && n->by == BY_ANY && n->access &&
           order_plan(n->k, n->s->launch)->divergent[n->s->pc];
}

static void hold_lane(const Seen *n, const Entry *e)
{
    for (int j = 0; j < n->log->lanes; j++) {
        int had = race_log_lane_of(e, n->log->unit[j]);

        if (had < 0 || had == n->log->lane[j])
            continue;
        if (n->what.way != STORES || changes(n, e))
            tell(n, e, n->log->lane[j]);
        return;
    }
}

static void hold_lanes(const Seen *n, const EntryList *l)
{
    for (int i = 0; i < l->len; i++) {
        const Entry *e = &l->at[i];

        if (e->step == n->what.step && e->when.warps == n->warps &&
            !both_read_or_add(n, e) && !same_stmt(n, e))
            hold_lane(n, e);
    }
}

// ---- accesses ------------------------------------------------------------

static const SharedPlace *place_of(const Seen *n)
{
    const SharedPlace *p = n->k->options.place;
    int64_t count = shade_of(n->k, n->s, n->root)->count;

    if (!p)
        return NULL;
    p += (int64_t)n->s->launch * n->k->code->buffer_count + n->root;
    return p->bytes > 0 && count > 0 && p->bytes % count == 0 ? p : NULL;
}

// Buffers whose place is known share a log.
static EntryList *log_of(const Seen *n)
{
    return &n->log->buffer[place_of(n) ? n->log->buffers - 1 : n->root];
}

static void see(Seen *n)
{
    EntryList *l = log_of(n);
    Entry *e;

    if (!n->log->now.words)
        return;
    l->by = n->by;
    n->what.pc = n->s->pc;
    n->what.root = n->root;
    if (is_parted(n)) {
        n->what.step = n->order->step[n->s->warp];
        hold_lanes(n, l);
    }
    hold_against(n, l);
    if (n->what.when.by == MADE_BY_WARPS &&
        order_plan(n->k, n->s->launch)->by_matrix[n->root])
        return;
    e = race_log_add(n->order, l, &n->what);
    for (int j = 0; n->what.step && j < n->log->lanes; j++)
        race_log_lane(n->log, e, n->log->unit[j], n->log->lane[j]);
}

static void begin(Seen *n, int buffer, Way way)
{
    const OrderPlan *p = order_plan(n->k, n->s->launch);
    const SharedPlace *place;

    n->root = root_of_buffer(n->k->code, buffer);
    n->access = NULL;
    n->what = (Entry){.way = way};
    n->by = p->global[n->root]      ? BY_PROGRAM
            : p->by_matrix[n->root] ? BY_OWN
                                    : BY_ANY;
    order_moment(n->k, n->s, n->order, &n->what.when);
    n->what.unit = p->by_unit[n->s->pc];
    if (n->what.unit)
        n->what.when.warps &= -n->what.when.warps;
    n->log->now.words = 0;
    n->log->lanes = 0;
    n->base = 0;
    n->width = shade_width(n->k, buffer);
    place = place_of(n);
    if (!place)
        return;
    n->base = place->offset;
    n->width *= place->bytes / shade_of(n->k, n->s, n->root)->count;
}

// Registers are each thread's own, but for what the matrix unit does to them.
static bool is_watched(const Seen *n, int buffer)
{
    const OrderPlan *p = order_plan(n->k, n->s->launch);
    int root = root_of_buffer(n->k->code, buffer);

    return p->watched[root] || p->by_matrix[root] ||
           (p->global[root] && n->s->warp >= 0 && root == buffer);
}

static void see_lanes(Seen *n, const Access *a, int reg, Way way)
{
    const int32_t *mask = reg < 0 ? NULL : n->s->v[reg];
    InterpTouch t;

    begin(n, a->buffer, way);
    n->access = a;
    interp_touch(n->s, a, n->s->instr->flags & INSTR_ROW, &t);
    for (int j = 0; j < t.rows * t.cols; j++) {
        int64_t at = t.offset ? t.offset[j]
                              : t.at + j / t.cols * t.sr + j % t.cols * t.sc;

        if ((mask && !mask[j]) || (t.offset && !t.inside[j]) || at < 0)
            continue;
        at = n->base + at * n->width;
        units_add(&n->log->now, at, n->width);
        n->log->unit[n->log->lanes] = at;
        n->log->lane[n->log->lanes++] = j;
    }
    see(n);
}

static void see_one(Seen *n, const Access *a, Way way)
{
    int64_t at;

    if (!interp_touch_one(n->s, a, &at) || at < 0)
        return;
    begin(n, a->buffer, way);
    n->access = a;
    at = n->base + at * n->width;
    units_add(&n->log->now, at, n->width);
    n->log->unit[0] = at;
    n->log->lane[0] = 0;
    n->log->lanes = 1;
    see(n);
}

static void see_matrix(Seen *n, const Matrix *m, int64_t rows, int64_t cols,
                       Way way, bool own_rows)
{
    InterpMatrix x;

    if (!is_watched(n, m->buffer) ||
        !interp_touch_matrix(n->s, m, rows, cols, &x))
        return;
    begin(n, m->buffer, way);
    n->what.spread = true;
    n->what.rows = own_rows;
    for (int64_t r = 0; r < rows; r++)
        if (x.col_step == 1)
            units_add(&n->log->now,
                      n->base + (x.at + r * x.row_step) * n->width,
                      cols * n->width);
        else
            for (int64_t c = 0; c < cols; c++)
                units_add(&n->log->now,
                          n->base + (x.at + r * x.row_step + c * x.col_step) *
                                        n->width,
                          n->width);
    see(n);
}

static void see_gemm(Seen *n, const Gemm *g)
{
    int64_t k = g->group ? g->k / g->group * g->kept : g->k;

    see_matrix(n, &g->a, g->m, k, LOADS, true);
    see_matrix(n, &g->b, g->k, g->n, LOADS, false);
    see_matrix(n, &g->c, g->m, g->n, STORES, false);
}

static void see_all(Seen *n, int buffer, Way way)
{
    int64_t count = shade_of(n->k, n->s, buffer)->count;

    if (!is_watched(n, buffer) || count < 1)
        return;
    begin(n, buffer, way);
    n->what.spread = true;
    units_add(&n->log->now, n->base,
              count / shade_width(n->k, buffer) * n->width);
    see(n);
}

static void look(Seen *n)
{
    const Code *c = n->k->code;
    const Instr *i = n->s->instr;

    switch (i->op) {
    case INSTR_VLOAD:
    case INSTR_VSTORE:
    case INSTR_VATOMIC:
        if (is_watched(n, c->access[i->a].buffer))
            see_lanes(n, &c->access[i->a],
                      i->op == INSTR_VLOAD ? i->b : i->c,
                      i->op == INSTR_VLOAD    ? LOADS
                      : i->op == INSTR_VSTORE ? STORES
                                              : UPDATES);
        break;
    case INSTR_LOAD:
    case INSTR_STORE:
        if (is_watched(n, c->access[i->a].buffer))
            see_one(n, &c->access[i->a],
                    i->op == INSTR_LOAD ? LOADS : STORES);
        break;
    case INSTR_GEMM:
        see_gemm(n, &c->gemm[i->a]);
        break;
    case INSTR_REDUCE:
        see_all(n, c->reduction[i->a].src, LOADS);
        see_all(n, c->reduction[i->a].dst, STORES);
        break;
    case INSTR_SCAN:
        see_matrix(n, &c->scan[i->a].src, c->scan[i->a].rows,
                   c->scan[i->a].cols, LOADS, false);
        see_matrix(n, &c->scan[i->a].dst, c->scan[i->a].rows,
                   c->scan[i->a].cols, STORES, false);
        break;
    default:
        break;
    }
}

void race_thread_before(Check *k, const InterpStep *s)
{
    Seen n = {.k = k, .s = s};

    if (!order_plan(k, s->launch)->on)
        return;
    n.order = order_of(k, s);
    if (!n.order)
        return;
    order_step(k, s, n.order);
    n.log = race_log(k, n.order);
    n.warps = order_warps(k, s, n.order);
    look(&n);
}
