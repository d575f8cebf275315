// order.c - clocks of the warps of a block, and what brings them forward.
//
// A warp goes ahead alone and hears of others where threads meet: at barriers,
// at collective parts, and, for shared memory, at every place where the
// compiler can put a barrier of its own (a `soft` that all of a warp or none
// reach). An mbarrier keeps what those that arrive know for those that wait.
// What copies and products do is heard of by waiting for their group or phase.
#include "check/race_int.h"

#include <stdlib.h>
#include <string.h>

// ---- a block -------------------------------------------------------------

void order_release(BlockOrder *o)
{
    if (!o)
        return;
    free(o->clock);
    free(o->step);
    for (int i = 0; i < 3; i++)
        free(o->group[i]);
    for (int i = 0; i < o->barriers; i++)
        free(o->barrier[i].pending);
    free(o->barrier);
    race_log_release(o);
    free(o);
}

static BlockOrder *make_order(const OrderPlan *p, int launch)
{
    BlockOrder *o = xcalloc(1, sizeof *o);
    size_t warps = (size_t)p->warps, agents;

    o->on = true;
    o->launch = launch;
    o->warps = p->warps;
    o->barriers = p->barriers;
    o->agents = 4 * p->warps + p->barriers;
    agents = (size_t)o->agents;
    o->clock = xcalloc(BY_COUNT * warps * agents, sizeof *o->clock);
    o->step = xcalloc(warps, sizeof *o->step);
    for (int i = 0; i < 3; i++)
        o->group[i] = xcalloc(warps, sizeof *o->group[i]);
    o->barrier = xcalloc((size_t)p->barriers + 1, sizeof *o->barrier);
    for (int i = 0; i < p->barriers; i++) {
        o->barrier[i].pending =
            xcalloc(2 * BY_COUNT * agents, sizeof *o->barrier[i].pending);
        o->barrier[i].done = o->barrier[i].pending + BY_COUNT * agents;
    }
    return o;
}

static uint32_t *clock_of(const BlockOrder *o, int by, int warp)
{
    return o->clock + ((size_t)by * (size_t)o->warps + (size_t)warp) *
                          (size_t)o->agents;
}

static void reset(BlockOrder *o)
{
    size_t agents = (size_t)o->agents;

    memset(o->clock, 0,
           BY_COUNT * (size_t)o->warps * agents * sizeof *o->clock);
    for (int w = 0; w < o->warps; w++) {
        o->waiting[w] = (Waiting){.pc = -1};
        o->step[w] = 1;
        for (int by = 0; by < BY_COUNT; by++)
            clock_of(o, by, w)[w] = 1;
        for (int i = 0; i < 3; i++)
            o->group[i][w] = 1;
    }
    for (int i = 0; i < o->barriers; i++) {
        memset(o->barrier[i].pending, 0,
               2 * BY_COUNT * agents * sizeof *o->barrier[i].pending);
        o->barrier[i].phase = 0;
    }
    o->started = MADE_BY_WARPS;
    o->stmt = -1;
    race_log_reset(o);
}

BlockOrder *order_of(Check *k, const InterpStep *s)
{
    return worker_of_step(k, s)->order;
}

void order_begin(Check *k, const InterpStep *s)
{
    CheckWorker *w = worker_of_step(k, s);
    const OrderPlan *p = &k->order[s->launch];

    if (w->order && w->order->launch != s->launch) {
        order_release(w->order);
        w->order = NULL;
    }
    if (!p->on)
        return;
    if (!w->order)
        w->order = make_order(p, s->launch);
    reset(w->order);
}

// ---- hearing of each other -----------------------------------------------

static void take(uint32_t *into, const uint32_t *from, int n)
{
    for (int i = 0; i < n; i++)
        into[i] = from[i] > into[i] ? from[i] : into[i];
}

// What the warp does from now on is news to those that have heard of it.
static void tick(BlockOrder *o, int warp)
{
    for (int by = 0; by < BY_COUNT; by++)
        clock_of(o, by, warp)[warp]++;
}

static void join(BlockOrder *o, uint64_t warps, bool by_program)
{
    uint32_t *all = NULL;

    for (int by = 0; by < (by_program ? BY_COUNT : BY_PROGRAM); by++) {
        all = NULL;
        for (int w = 0; w < o->warps; w++)
            if (warps >> w & 1 && !all)
                all = clock_of(o, by, w);
            else if (warps >> w & 1)
                take(all, clock_of(o, by, w), o->agents);
        for (int w = 0; w < o->warps; w++)
            if (warps >> w & 1 && clock_of(o, by, w) != all)
                memcpy(clock_of(o, by, w), all,
                       (size_t)o->agents * sizeof *all);
    }
    for (int w = 0; w < o->warps; w++)
        if (warps >> w & 1) {
            tick(o, w);
            o->step[w]++;
        }
}

static uint64_t warps_of_set(const Check *k, int launch, int set)
{
    const Launch *l = &k->code->launch[launch];
    uint64_t warps = 0;

    for (int t = 0; t < l->threads; t++)
        if (k->code->set[set].bit[t / 64] >> t % 64 & 1)
            warps |= UINT64_C(1) << t / l->wave;
    return warps;
}

// Who makes the accesses of an instruction.
static uint64_t warps_of(const Check *k, const InterpStep *s,
                         const BlockOrder *o)
{
    int set;

    if (s->warp >= 0)
        return UINT64_C(1) << s->warp;
    if (!k->code->launch[s->launch].per_thread)
        return (UINT64_C(1) << o->warps) - 1;
    set = k->order[s->launch].group[s->pc];
    return set < 0 ? 1 : warps_of_set(k, s->launch, set);
}

// ---- waiting -------------------------------------------------------------

static bool is_one_meeting(const Meeting *a, const Meeting *b)
{
    return a->id == b->id && (a->id >= 0 || (a->set == b->set &&
                                             a->kind == b->kind));
}

// Those that wait for the same as the warp.
static uint64_t companions(const Check *k, const BlockOrder *o, int warp)
{
    const Instr *body = k->code->launch[o->launch].body.code;
    const Instr *here = &body[o->waiting[warp].pc];
    uint64_t warps = 0;

    for (int w = 0; w < o->warps; w++) {
        const Instr *there;

        if (o->waiting[w].pc < 0)
            continue;
        there = &body[o->waiting[w].pc];
        if (there == here ||
            (here->op == INSTR_MEET && there->op == INSTR_MEET &&
             is_one_meeting(&k->code->meeting[here->a],
                            &k->code->meeting[there->a])))
            warps |= UINT64_C(1) << w;
    }
    return warps;
}

// A warp goes on that has waited: so do those that waited with it.
static void go_on(const Check *k, BlockOrder *o, int warp)
{
    const Instr *body = k->code->launch[o->launch].body.code;
    Waiting at = o->waiting[warp];
    uint64_t all;

    if (at.pc < 0)
        return;
    all = companions(k, o, warp);
    for (int w = 0; w < o->warps; w++)
        if (all >> w & 1)
            o->waiting[w].pc = -1;
    if (at.joins)
        join(o, all, body[at.pc].op != INSTR_SOFT);
}

static bool some_active(const InterpStep *s)
{
    const int32_t *mask = s->instr->c < 0 ? NULL : s->v[s->instr->c];

    for (int j = 0; mask && j < s->n; j++)
        if (mask[j])
            return true;
    return !mask;
}

static void wait_here(BlockOrder *o, const InterpStep *s, bool joins)
{
    o->waiting[s->warp] = (Waiting){s->pc, joins};
}

static void at_soft(const Check *k, const InterpStep *s, BlockOrder *o)
{
    bool joins = !k->code->place[s->instr->a].divergent &&
                 !k->code->no_auto_sync;

    wait_here(o, s, joins);
    if (o->warps == 1)
        go_on(k, o, 0);
}

// A named barrier that is only arrived at: those that wait hear of the warp.
static void at_meeting(const Check *k, const InterpStep *s, BlockOrder *o)
{
    const Meeting *m = &k->code->meeting[s->instr->a];

    if (!some_active(s))
        return;
    if (m->wait) {
        wait_here(o, s, true);
        return;
    }
    for (int w = 0; w < o->warps; w++) {
        const Instr *there;

        if (o->waiting[w].pc < 0)
            continue;
        there = &k->code->launch[o->launch].body.code[o->waiting[w].pc];
        if (there->op != INSTR_MEET || k->code->meeting[there->a].id != m->id)
            continue;
        for (int by = 0; by < BY_COUNT; by++)
            take(clock_of(o, by, w), clock_of(o, by, s->warp), o->agents);
    }
    tick(o, s->warp);
}

// Code that threads run together: before each statement, and behind the last,
// the compiler can let them meet.
static void run_together(const Check *k, const InterpStep *s, BlockOrder *o)
{
    uint64_t warps = warps_of(k, s, o);
    int stmt = k->code->launch[s->launch].body.stmt[s->pc];

    for (int w = 0; w < o->warps; w++)
        if (warps >> w & 1)
            o->waiting[w].pc = -1;
    if (!k->code->no_auto_sync &&
        (stmt != o->stmt || s->instr->op == INSTR_PAR ||
         s->instr->op == INSTR_COLLECTEND))
        join(o, warps, false);
    o->stmt = stmt;
}

// ---- memory barriers -----------------------------------------------------

static BarrierClock *barrier_of(const Check *k, const InterpStep *s,
                                BlockOrder *o, int access, InterpBarrier *now)
{
    const Access *a = &k->code->access[access];
    int first = k->order[o->launch].first_barrier[a->buffer];

    if (first < 0 || !interp_barrier(s, a->buffer, s->slot[a->dim[0].slot].i,
                                     now) ||
        first + now->element >= o->barriers)
        return NULL;
    return &o->barrier[first + now->element];
}

// A phase that has ended: what those that came knew is there to be heard.
static void fold(BlockOrder *o, BarrierClock *b, int64_t phase)
{
    int n = BY_COUNT * o->agents, i = (int)(b - o->barrier);

    if (phase == b->phase)
        return;
    b->phase = phase;
    take(b->done, b->pending, n);
    memset(b->pending, 0, (size_t)n * sizeof *b->pending);
    for (int by = 0; by < BY_COUNT; by++)
        b->done[by * o->agents + 4 * o->warps + i] = (uint32_t)phase;
}

static int base_of(const BlockOrder *o, MadeBy by)
{
    return by == MADE_BY_WARPS    ? 0
           : by == MADE_BY_COPIES ? o->warps
           : by == MADE_BY_MATRIX ? 2 * o->warps
                                  : 3 * o->warps;
}

static void at_arrival(const Check *k, const InterpStep *s, BlockOrder *o)
{
    InterpBarrier now;
    BarrierClock *b = some_active(s) ? barrier_of(k, s, o, s->instr->a, &now)
                                     : NULL;
    int copies = base_of(o, MADE_BY_COPIES) + s->warp;

    if (!b || s->instr->flags & INSTR_EXPECT)
        return;
    fold(o, b, now.phase);
    for (int by = 0; by < BY_COUNT; by++) {
        uint32_t *pending = b->pending + by * o->agents;

        take(pending, clock_of(o, by, s->warp), o->agents);
        if (s->instr->flags & INSTR_COPIES)
            pending[copies] = o->group[0][s->warp];
    }
    if (s->instr->flags & INSTR_COPIES)
        o->group[0][s->warp]++;
    tick(o, s->warp);
}

static void at_wait(const Check *k, const InterpStep *s, BlockOrder *o)
{
    int64_t parity = s->slot[s->instr->b].i & 1;
    InterpBarrier now;
    BarrierClock *b = some_active(s) ? barrier_of(k, s, o, s->instr->a, &now)
                                     : NULL;

    if (!b)
        return;
    fold(o, b, now.phase);
    if ((now.phase & 1) == parity)
        return; // it comes here again when the phase has ended
    for (int by = 0; by < BY_COUNT; by++)
        take(clock_of(o, by, s->warp), b->done + by * o->agents, o->agents);
}

// ---- what is started -----------------------------------------------------

static int group_kind(MadeBy by)
{
    return by == MADE_BY_COPIES ? 0 : by == MADE_BY_MATRIX ? 1 : 2;
}

// All groups but the last n of each warp have ended.
static void wait_groups(BlockOrder *o, uint64_t warps, MadeBy by, int64_t n)
{
    int base = base_of(o, by);

    for (int w = 0; w < o->warps; w++) {
        int64_t ended = (int64_t)o->group[group_kind(by)][w] - 1 - n;

        for (int i = 0; warps >> w & 1 && i < BY_COUNT; i++)
            if (ended > clock_of(o, i, w)[base + w])
                clock_of(o, i, w)[base + w] = (uint32_t)ended;
    }
}

static void close_group(BlockOrder *o, uint64_t warps, MadeBy by)
{
    for (int w = 0; w < o->warps; w++)
        o->group[group_kind(by)][w] += warps >> w & 1;
}

static void start_load(const Check *k, const InterpStep *s, BlockOrder *o)
{
    InterpBarrier now;
    BarrierClock *b;

    if (s->instr->b < 0)
        return; // the compiler waits for it
    b = barrier_of(k, s, o, s->instr->b, &now);
    if (!b)
        return;
    fold(o, b, now.phase);
    o->started = MADE_BY_TMA;
    o->tells = (int)(b - o->barrier);
    o->tells_phase = now.phase;
}

static void end_started(BlockOrder *o, uint64_t warps)
{
    if (o->started == MADE_BY_MATRIX || o->started == MADE_BY_STORES)
        close_group(o, warps, o->started);
    o->started = MADE_BY_WARPS;
}

static void at_order(const Check *k, const InterpStep *s, BlockOrder *o)
{
    uint64_t warps = warps_of(k, s, o);
    const Instr *i = s->instr;

    switch ((CodeOrder)i->a) {
    case ORDER_TMA_LOAD:
        start_load(k, s, o);
        break;
    case ORDER_TMA_STORE:
        o->started = MADE_BY_STORES;
        break;
    case ORDER_CP_ASYNC:
        o->started = MADE_BY_COPIES;
        break;
    case ORDER_MATRIX:
        o->started = MADE_BY_MATRIX;
        break;
    case ORDER_END:
        end_started(o, warps);
        break;
    case ORDER_COMMIT:
        close_group(o, warps, MADE_BY_COPIES);
        break;
    case ORDER_WAIT:
        wait_groups(o, warps, MADE_BY_COPIES, i->c);
        break;
    case ORDER_STORE_COMMIT:
        close_group(o, warps, MADE_BY_STORES);
        break;
    case ORDER_STORE_WAIT:
        wait_groups(o, warps, MADE_BY_STORES, i->c);
        break;
    case ORDER_MATRIX_WAIT:
        wait_groups(o, warps, MADE_BY_MATRIX, i->c);
        break;
    case ORDER_SYNC:
        join(o, warps, true);
        break;
    case ORDER_SYNC_WARP:
        for (int w = 0; w < o->warps; w++)
            o->step[w] += warps >> w & 1;
        break;
    }
}

void order_step(Check *k, const InterpStep *s, BlockOrder *o)
{
    const Instr *i = s->instr;

    if (s->warp >= 0) {
        go_on(k, o, s->warp);
        o->stmt = -1;
    } else {
        run_together(k, s, o);
    }
    switch (i->op) {
    case INSTR_SOFT:
        at_soft(k, s, o);
        break;
    case INSTR_MEET:
        at_meeting(k, s, o);
        break;
    case INSTR_GRIDSYNC:
        wait_here(o, s, true);
        break;
    case INSTR_BARARRIVE:
        at_arrival(k, s, o);
        break;
    case INSTR_BARWAIT:
        at_wait(k, s, o);
        break;
    case INSTR_ORDER:
        at_order(k, s, o);
        break;
    case INSTR_GEMM:
        if (o->started == MADE_BY_WARPS) // it waits for all of them
            wait_groups(o, warps_of(k, s, o), MADE_BY_MATRIX, 0);
        break;
    case INSTR_VSHUFFLE:
    case INSTR_VVOTE:
    case INSTR_VWARP:
        if (s->warp >= 0)
            o->step[s->warp]++;
        break;
    default:
        break;
    }
}

// ---- moments -------------------------------------------------------------

static uint64_t lowest(uint64_t warps)
{
    return warps & -warps;
}

uint64_t order_warps(const Check *k, const InterpStep *s,
                     const BlockOrder *o)
{
    uint64_t warps = warps_of(k, s, o);

    return o->started == MADE_BY_TMA || o->started == MADE_BY_STORES
               ? lowest(warps) // one thread starts it
               : warps;
}

void order_moment(const Check *k, const InterpStep *s, const BlockOrder *o,
                  Moment *out)
{
    *out = (Moment){.by = o->started, .warps = order_warps(k, s, o)};
    out->base = base_of(o, out->by);
    if (out->by == MADE_BY_TMA) {
        out->base = 4 * o->warps + o->tells;
        out->warps = 1;
        out->at[0] = (uint32_t)o->tells_phase + 1;
        return;
    }
    for (int w = 0; w < o->warps; w++)
        if (out->warps >> w & 1)
            out->at[w] = out->by == MADE_BY_WARPS
                             ? clock_of(o, BY_ANY, w)[w]
                             : o->group[group_kind(out->by)][w];
}

// Whether the warp has heard of it.
static bool knows(const BlockOrder *o, OrderBy by, int warp, const Moment *m)
{
    const uint32_t *clock = clock_of(o, by == BY_OWN ? BY_ANY : by, warp);

    for (int w = 0; w < o->warps; w++)
        if (m->warps >> w & 1 && (by != BY_OWN || w == warp) &&
            clock[m->base + w] < m->at[w])
            return false;
    return true;
}

int order_unheard(const BlockOrder *o, OrderBy by, const Moment *earlier,
                  uint64_t later)
{
    for (int w = 0; w < o->warps; w++)
        if (later >> w & 1 && !knows(o, by, w, earlier))
            return w;
    return -1;
}

bool order_is_past(const BlockOrder *o, OrderBy by, const Moment *m)
{
    for (int w = 0; w < o->warps; w++)
        if (!knows(o, by, w, m))
            return false;
    return true;
}
