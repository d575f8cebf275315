// warp.c - per-thread code: the warps of a block take turns.
//
// A warp is a coroutine whose state is explicit: its slots, its vector
// registers and where it is. It runs until it has to wait; then the next that
// is ready goes on, in ascending order. When none is ready, those that only
// let others come as far are released, those behind first. Nothing depends on
// time, so that results are the same on any machine.
#include "interp/interp_int.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64, PAD = 64 };

// ---- memory --------------------------------------------------------------

static int most_warps(const Code *c)
{
    int most = 0;

    for (int i = 0; i < c->launch_count; i++) {
        const Launch *l = &c->launch[i];
        int n = (int)((l->threads + l->wave - 1) / l->wave);

        if (l->per_thread && n > most)
            most = n;
    }
    return most;
}

static int widest_wave(const Code *c)
{
    int most = 0;

    for (int i = 0; i < c->launch_count; i++)
        if (c->launch[i].wave > most)
            most = c->launch[i].wave;
    return most;
}

static size_t round_up(size_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static size_t pitch_of(const Code *c)
{
    return (size_t)widest_wave(c) * 8 + PAD;
}

static size_t slot_bytes(const Code *c)
{
    return round_up(((size_t)c->slot_count + 1) * sizeof(Slot));
}

static size_t warp_bytes(const Code *c)
{
    size_t n = (size_t)c->warp_vector_count;

    return slot_bytes(c) + round_up((n + 1) * sizeof(void *)) +
           n * pitch_of(c) + ALIGN;
}

int64_t crew_bytes(const Code *c)
{
    return (int64_t)((size_t)most_warps(c) * warp_bytes(c));
}

void make_crew(const Code *c, Crew *crew)
{
    int n = most_warps(c);
    void *memory = NULL;
    char *at;

    *crew = (Crew){.warp = NULL};
    if (!n)
        return;
    crew->warp = xcalloc((size_t)n, sizeof *crew->warp);
    if (posix_memalign(&memory, ALIGN, (size_t)n * warp_bytes(c)))
        fatal(EXIT_LIMIT, "out of memory (%zu bytes wanted)",
              (size_t)n * warp_bytes(c));
    at = crew->memory = memory;
    for (int k = 0; k < n; k++) {
        Warp *warp = &crew->warp[k];

        warp->slot = (Slot *)at;
        at += slot_bytes(c);
        warp->v = (void **)at;
        at += round_up(((size_t)c->warp_vector_count + 1) * sizeof(void *));
        warp->own = at;
        at += (size_t)c->warp_vector_count * pitch_of(c) + ALIGN;
        at = crew->memory + (size_t)(k + 1) * warp_bytes(c);
    }
}

void free_crew(Crew *crew)
{
    free(crew->warp);
    free(crew->memory);
    *crew = (Crew){.warp = NULL};
}

// ---- sets of threads -----------------------------------------------------

static bool is_in(const ThreadSet *s, int thread)
{
    return s->bit[thread / 64] >> thread % 64 & 1;
}

static int lanes_in(const ThreadSet *s, const Warp *warp)
{
    int n = 0;

    for (int i = 0; i < warp->lanes; i++)
        n += is_in(s, warp->first + i);
    return n;
}

// The lanes of the running warp under the mask are those of the set. If not,
// that is a finding: the others cannot come any more.
void check_lanes(Worker *w, const ThreadSet *s, const int32_t *mask,
                        int site)
{
    int wanted = 0, came = 0, stray = 0;

    for (int i = 0; i < w->warp->lanes; i++) {
        bool in = is_in(s, w->warp->first + i), here = !mask || mask[i];

        wanted += in;
        came += in && here;
        stray += here && !in;
    }
    if (came == wanted && !stray)
        return;
    report_threads(w, site,
                   &(Finding){.dim = came + stray,
                              .index = w->warp - w->crew.warp,
                              .extent = wanted});
}

static bool none_active(const Worker *w, const int32_t *mask)
{
    for (int i = 0; mask && i < w->n; i++)
        if (mask[i])
            return false;
    return mask != NULL;
}

const Instr *stop_warp(Worker *w, WarpState state, const Instr *i)
{
    w->warp->state = state;
    w->warp->at = i;
    return NULL;
}

// ---- collective parts ----------------------------------------------------

bool set_comes(const Worker *w, const ThreadSet *s, const Warp *warp)
{
    (void)w;
    return lanes_in(s, warp) > 0;
}

// Whether all warps of the set wait at instruction i; first: the lowest.
static bool all_at(Worker *w, const ThreadSet *s, const Instr *i, Warp **first)
{
    *first = NULL;
    for (int k = 0; k < w->crew.count; k++) {
        Warp *warp = &w->crew.warp[k];

        if (!set_comes(w, s, warp))
            continue;
        if (warp->state != WARP_COLLECT || warp->at != i)
            return false;
        if (!*first)
            *first = warp;
    }
    return *first != NULL;
}

static void enter_warp(Worker *w, Warp *warp)
{
    w->warp = warp;
    w->slot = warp->slot;
    w->v = warp->v;
    w->own = warp->own;
    w->pitch = (int)pitch_of(w->code);
    w->rows = 1;
    w->cols = w->n = warp->lanes;
    w->row0 = 0;
    w->col0 = w->lane0 = warp->first;
}

// What a worker has outside of warps.
typedef struct {
    Slot *slot;
    void **v;
    char *own;
    int pitch;
} Home;

static Home leave_home(const Worker *w)
{
    return (Home){w->slot, w->v, w->own, w->pitch};
}

static void go_home(Worker *w, const Home *h)
{
    w->slot = h->slot;
    w->v = h->v;
    w->own = h->own;
    w->pitch = h->pitch;
    w->lane0 = 0;
    w->warp = NULL;
}

// The lowest warp's slots serve; vector registers are the worker's.
static void run_together(Worker *w, const ThreadSet *s, Warp *first,
                         const Instr *i)
{
    w->slot = first->slot;
    w->met = s;
    w->rest = NULL;
    run_from(w, i + 1);
    w->met = NULL;
    if (!w->rest)
        return; // cancelled
    for (int k = 0; k < w->crew.count; k++) {
        Warp *warp = &w->crew.warp[k];

        if (!set_comes(w, s, warp))
            continue;
        warp->state = WARP_READY;
        warp->at = w->rest;
    }
}

const Instr *exec_COLLECT(Worker *w, const Instr *i)
{
    const int32_t *mask = mask_of(w, i->c);

    if (none_active(w, mask))
        return i + i->b;
    check_lanes(w, &w->code->set[i->a], mask, i->d);
    return stop_warp(w, WARP_COLLECT, i);
}

const Instr *exec_COLLECTEND(Worker *w, const Instr *i)
{
    w->rest = i + 1;
    return NULL;
}

// The value at `at` of lane bytes, the same for all threads that met.
typedef struct {
    Slot value;
    bool some, differ;
} Common;

static void add_common(Common *c, const void *at, size_t lane)
{
    if (!c->some)
        memcpy(&c->value, at, lane);
    else if (memcmp(&c->value, at, lane))
        c->differ = true;
    c->some = true;
}

static void set_common(Worker *w, Common *c, const Instr *i, int site)
{
    if (c->differ)
        report(w, site, 1, 0, 0, 0);
    fix_slot(&c->value, (LaneType)i->type);
    w->slot[i->d] = c->value;
}

const Instr *exec_AGREE(Worker *w, const Instr *i)
{
    size_t lane = lane_bytes((LaneType)i->type);
    Common c = {.some = false};

    for (int k = 0; k < w->crew.count; k++) {
        const Warp *warp = &w->crew.warp[k];

        for (int j = 0; j < warp->lanes; j++)
            if (is_in(w->met, warp->first + j))
                add_common(&c, (char *)warp->v[i->a] + (size_t)j * lane, lane);
    }
    set_common(w, &c, i, i->b);
    return i + 1;
}

const Instr *exec_AGREEMEM(Worker *w, const Instr *i)
{
    const Access *a = &w->code->access[i->a];
    const Tensor *t = &w->buffer[a->buffer];
    Common c = {.some = false};
    int64_t at = 0;

    for (int d = 0; d < a->rank; d++) {
        int64_t x = w->slot[a->dim[d].slot].i;

        if (x < 0 || x >= t->shape[d]) {
            report(w, a->site, 1, d, x, t->shape[d]);
            w->slot[i->d] = (Slot){0};
            return i + 1;
        }
        at += x * t->stride[d];
    }
    for (int j = 0; j < MOST_THREADS; j++) {
        Slot one = {0};

        if (!is_in(w->met, j))
            continue;
        load_one(w, t, &one, at * CODE_LANES + j);
        add_common(&c, &one, (size_t)t->lane);
    }
    set_common(w, &c, i, i->b);
    return i + 1;
}

const Instr *exec_VFIRST(Worker *w, const Instr *i)
{
    size_t lane = lane_bytes((LaneType)i->type);
    const int32_t *mask = mask_of(w, i->c);
    Common c = {.some = false};

    for (int j = 0; j < w->n; j++)
        if (!mask || mask[j])
            add_common(&c, (char *)w->v[i->a] + (size_t)j * lane, lane);
    set_common(w, &c, i, i->b);
    return i + 1;
}

// ---- taking turns --------------------------------------------------------

const Instr *exec_SOFT(Worker *w, const Instr *i)
{
    return w->crew.count == 1 ? i + 1 : stop_warp(w, WARP_SOFT, i);
}

const Instr *exec_GRIDSYNC(Worker *w, const Instr *i)
{
    return stop_warp(w, WARP_GRID, i);
}

void start_crew(Worker *w, const Launch *l)
{
    Crew *crew = &w->crew;

    crew->count = (int)((l->threads + l->wave - 1) / l->wave);
    memset(crew->arrived, 0, sizeof crew->arrived);
    for (int k = 0; k < crew->count; k++) {
        Warp *warp = &crew->warp[k];

        warp->first = k * l->wave;
        warp->lanes = (int)l->threads - warp->first;
        if (warp->lanes > l->wave)
            warp->lanes = l->wave;
        warp->at = l->body.code;
        warp->state = WARP_READY;
        memcpy(warp->slot, w->slot,
               (size_t)w->code->slot_count * sizeof(Slot));
        for (int r = 0; r < w->code->warp_vector_count; r++)
            warp->v[r] = warp->own + (size_t)r * pitch_of(w->code);
    }
}

// Whether warp a has come less far in the program than b: by the turns of the
// loops around both, then by the place in the innermost of these.
static bool is_before(const Code *c, const Warp *a, const Warp *b)
{
    const Progress *p = &c->place[a->at->a], *q = &c->place[b->at->a];

    for (int i = 0; i < p->count && i < q->count; i++) {
        int slot = p->counter[i];

        if (slot != q->counter[i])
            break;
        if (a->slot[slot].i != b->slot[slot].i)
            return a->slot[slot].i < b->slot[slot].i;
    }
    return a->at < b->at;
}

// Those that only let others come as far; false when there are none.
static bool release_soft(const Code *c, Crew *crew)
{
    const Warp *first = NULL;
    const Instr *at;

    for (int k = 0; k < crew->count; k++) {
        const Warp *warp = &crew->warp[k];

        if (warp->state == WARP_SOFT && (!first || is_before(c, warp, first)))
            first = warp;
    }
    if (!first)
        return false;
    at = first->at;
    for (int k = 0; k < crew->count; k++) {
        Warp *warp = &crew->warp[k];

        if (warp->state != WARP_SOFT || warp->at != at)
            continue;
        warp->state = WARP_READY;
        warp->at = at + 1;
    }
    return true;
}

static void run_warp(Worker *w, Warp *warp, const Home *home)
{
    const ThreadSet *set;
    Warp *first;

    enter_warp(w, warp);
    warp->state = WARP_DONE; // unless it stops before
    run_from(w, warp->at);
    go_home(w, home);
    if (w->stopped || warp->state != WARP_COLLECT)
        return;
    set = &w->code->set[warp->at->a];
    if (all_at(w, set, warp->at, &first)) {
        run_together(w, set, first, warp->at);
        go_home(w, home);
    }
}

static bool all_done(const Crew *crew)
{
    for (int k = 0; k < crew->count; k++)
        if (crew->warp[k].state != WARP_DONE)
            return false;
    return true;
}

bool run_crew(Worker *w)
{
    Home home = leave_home(w);
    bool ran = true;

    while (ran && !w->stopped) {
        ran = false;
        for (int k = 0; k < w->crew.count && !w->stopped; k++)
            if (w->crew.warp[k].state == WARP_READY) {
                run_warp(w, &w->crew.warp[k], &home);
                ran = true;
            }
        if (!ran)
            ran = release_soft(w->code, &w->crew);
    }
    return all_done(&w->crew);
}

void release_grid(Crew *crew)
{
    for (int k = 0; k < crew->count; k++)
        if (crew->warp[k].state == WARP_GRID) {
            crew->warp[k].state = WARP_READY;
            crew->warp[k].at++;
        }
}

// ---- waiting for ever ----------------------------------------------------

static int site_of(const Worker *w, const Warp *warp)
{
    switch (warp->state) {
    case WARP_MEET:
        return w->code->meeting[warp->at->a].site;
    case WARP_GRID:
        return warp->at->a;
    default:
        return warp->at->d;
    }
}

static const ThreadSet *set_of(const Worker *w, const Warp *warp)
{
    if (warp->state == WARP_COLLECT)
        return &w->code->set[warp->at->a];
    if (warp->state == WARP_MEET)
        return &w->code->set[w->code->meeting[warp->at->a].set];
    return NULL;
}

// The warps at the same place, and those of its threads that are elsewhere.
static void describe(const Worker *w, const Warp *warp, Finding *f)
{
    const ThreadSet *set = set_of(w, warp);

    *f = (Finding){.index = warp->element, .extent = warp->parity};
    for (int k = 0; k < w->crew.count; k++) {
        const Warp *other = &w->crew.warp[k];

        if (other->state == warp->state && other->at == warp->at)
            f->warps |= UINT64_C(1) << k;
        else if (set && lanes_in(set, other))
            f->ended |= UINT64_C(1) << k;
    }
    if (warp->state != WARP_BARRIER)
        return;
    f->phase = warp->barrier->phase;
    f->pending = warp->barrier->pending;
    f->bytes = warp->barrier->bytes;
}

// One finding for each place where warps wait.
void report_stuck(Worker *w)
{
    Finding f;

    for (int k = 0; k < w->crew.count; k++) {
        const Warp *warp = &w->crew.warp[k];

        if (warp->state == WARP_DONE || warp->state == WARP_READY)
            continue;
        describe(w, warp, &f);
        if (f.warps & ((UINT64_C(1) << k) - 1))
            continue; // a lower warp has told
        report_threads(w, site_of(w, warp), &f);
    }
}
