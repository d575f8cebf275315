// events.c - events of a walk or run as situations of statements.
//
// Every worker keeps a table of its own: the values that matter to some access,
// and how often they came.
#include "sim_lds/count.h"

#include <stdlib.h>
#include <string.h>

#include "support/parallel.h"

// Situations of one worker; values lie one after the other.
typedef struct {
    int *slots;                     // index + 1
    int slot_count;
    struct {
        int event;
        uint64_t hash;
        int64_t times;
        size_t values;
    } *at;
    int len, room;
    int64_t *values;
    size_t value_len, value_room;
    int64_t block;                  // that it is in
    int64_t *here;                  // events in it
    struct {
        int event;
        int64_t block, times;
    } *blocks;
    int block_len, block_room;
} Worker;

typedef struct {
    const IrStmt *stmt;             // NULL: nobody counts it
    int *index;                     // which values of the event matter
    int count;
} Wanted;

struct CountEvents {
    Arena *arena;
    const CodeEvent *events;
    int event_count;
    Wanted *wanted;
    Worker *workers;
    int worker_count;
    int64_t *var, *cell;
};

// ---- what matters ----------------------------------------------------------

typedef struct {
    CountEvents *e;
    const CodeEvent *event;
    Wanted *wanted;
} Wish;

static void wish(void *ctx, int var)
{
    Wish *w = ctx;

    for (int i = 0; i < w->wanted->count; i++)
        if (w->event->var[w->wanted->index[i]] == var)
            return;
    for (int i = 0; i < w->event->var_count; i++)
        if (w->event->var[i] == var) {
            w->wanted->index[w->wanted->count++] = i;
            return;
        }
}

static void wish_of(CountEvents *e, const Plan *p, int event)
{
    Wish w = {e, &e->events[event], &e->wanted[event]};

    for (int i = 0; i < p->launch_count; i++) {
        const PlanLaunch *l = &p->launches[i];

        for (int j = 0; j < l->move_count; j++) {
            const PlanMove *v = &l->moves[j];

            if (!v->stmt || v->stmt->id != w.event->stmt)
                continue;
            w.wanted->stmt = v->stmt;
            plan_access_needs(p, v, NULL, wish, &w);
        }
        for (int j = 0; j < l->task_count; j++)
            if (l->tasks[j].stmt->id == w.event->stmt)
                w.wanted->stmt = l->tasks[j].stmt;
    }
}

CountEvents *count_events_new(Arena *a, const Code *code,
                              const Plan *const *plans, int n,
                              const int64_t *sizes)
{
    CountEvents *e = new (a, CountEvents);
    const IrKernel *k = plans[0]->kernel;

    *e = (CountEvents){.arena = a, .worker_count = parallel_threads()};
    e->events = code_events(code, &e->event_count);
    e->wanted = new_array(a, Wanted, e->event_count + 1);
    e->workers = xcalloc(e->worker_count, sizeof *e->workers);
    for (int i = 0; i < e->worker_count; i++) {
        e->workers[i].block = -1;
        e->workers[i].here = xcalloc(e->event_count + 1,
                                     sizeof *e->workers[i].here);
    }
    e->var = new_array(a, int64_t, k->next_var + 1);
    e->cell = new_array(a, int64_t, k->buffer_count + 1);
    memcpy(e->var, sizes, sizeof *sizes * (size_t)k->next_var);
    for (int i = 0; i < e->event_count; i++) {
        e->wanted[i].index = new_array(a, int, CODE_EVENT_VARS);
        for (int j = 0; j < n; j++)
            wish_of(e, plans[j], i);
    }
    return e;
}

// ---- while it runs ---------------------------------------------------------

static void grow_slots(Worker *w)
{
    free(w->slots);
    w->slot_count = w->slot_count ? 2 * w->slot_count : 1024;
    w->slots = xcalloc(w->slot_count, sizeof *w->slots);
    for (int i = 0; i < w->len; i++) {
        uint64_t at = w->at[i].hash;

        while (w->slots[at % (unsigned)w->slot_count])
            at++;
        w->slots[at % (unsigned)w->slot_count] = i + 1;
    }
}

static void enter(Worker *w, const Wanted *wanted, int event, uint64_t hash,
                  const int64_t *key)
{
    if (w->len == w->room) {
        w->room = w->room ? 2 * w->room : 256;
        w->at = xrealloc(w->at, w->room, sizeof *w->at);
    }
    if (w->value_len + CODE_EVENT_VARS > w->value_room) {
        w->value_room = w->value_room ? 2 * w->value_room : 1024;
        w->values = xrealloc(w->values, w->value_room, sizeof *w->values);
    }
    w->at[w->len].event = event;
    w->at[w->len].hash = hash;
    w->at[w->len].times = 1;
    w->at[w->len].values = w->value_len;
    memcpy(w->values + w->value_len, key, sizeof *key * wanted->count);
    w->value_len += wanted->count;
    w->len++;
}

// The events of the block that a worker leaves.
static void leave_block(CountEvents *e, Worker *w)
{
    for (int i = 0; i < e->event_count; i++) {
        if (!w->here[i])
            continue;
        if (w->block_len == w->block_room) {
            w->block_room = w->block_room ? 2 * w->block_room : 256;
            w->blocks = xrealloc(w->blocks, w->block_room, sizeof *w->blocks);
        }
        w->blocks[w->block_len].event = i;
        w->blocks[w->block_len].block = w->block;
        w->blocks[w->block_len++].times = w->here[i];
        w->here[i] = 0;
    }
}

void count_event(void *ctx, int worker, int64_t block, int event,
                 const int64_t *values)
{
    CountEvents *e = ctx;
    const Wanted *wanted = &e->wanted[event];
    Worker *w = &e->workers[worker];
    int64_t key[CODE_EVENT_VARS];
    uint64_t hash = (uint64_t)event * 0x9e3779b97f4a7c15u, at;

    if (!wanted->stmt)
        return;
    if (block != w->block) {
        leave_block(e, w);
        w->block = block;
    }
    w->here[event]++;
    for (int i = 0; i < wanted->count; i++) {
        key[i] = values[wanted->index[i]];
        hash = (hash ^ (uint64_t)key[i]) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    if (2 * w->len >= w->slot_count)
        grow_slots(w);
    for (at = hash; w->slots[at % (unsigned)w->slot_count]; at++) {
        int i = w->slots[at % (unsigned)w->slot_count] - 1;

        if (w->at[i].hash == hash && w->at[i].event == event &&
            !memcmp(w->values + w->at[i].values, key,
                    sizeof *key * wanted->count)) {
            w->at[i].times++;
            return;
        }
    }
    enter(w, wanted, event, hash, key);
    w->slots[at % (unsigned)w->slot_count] = w->len;
}

// ---- afterwards ------------------------------------------------------------

static void hand_on(CountEvents *e, Counter *c, const Worker *w, int i)
{
    int event = w->at[i].event;
    const Wanted *wanted = &e->wanted[event];
    PlanEnv env = {.var = e->var, .cell = e->cell};

    for (int j = 0; j < wanted->count; j++) {
        int var = e->events[event].var[wanted->index[j]];
        int64_t value = w->values[w->at[i].values + j];

        if (var >= 0)
            e->var[var] = value;
        else
            e->cell[-1 - var] = value;
    }
    count_run(c, wanted->stmt, &env, w->at[i].times);
}

void count_events_feed(CountEvents *e, Counter *c)
{
    for (int i = 0; i < e->worker_count; i++) {
        Worker *w = &e->workers[i];

        leave_block(e, w);
        for (int j = 0; j < w->len; j++)
            hand_on(e, c, w, j);
        for (int j = 0; j < w->block_len; j++)
            count_block(c, e->wanted[w->blocks[j].event].stmt,
                        w->blocks[j].block, w->blocks[j].times);
    }
}

void count_events_free(CountEvents *e)
{
    for (int i = 0; i < e->worker_count; i++) {
        free(e->workers[i].slots);
        free(e->workers[i].at);
        free(e->workers[i].values);
        free(e->workers[i].here);
        free(e->workers[i].blocks);
    }
    free(e->workers);
    e->workers = NULL;
    e->worker_count = 0;
}
