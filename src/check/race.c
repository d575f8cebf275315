// race.c - iterations of a T.Parallel that meet in one element.
//
// Iterations are spread over threads, and nothing orders them. A load and a
// store of one element by two iterations, or two stores of different values,
// give what the threads happen to do. Most loops cannot have that: every access
// of a buffer that is stored to has the same index, a different element for each
// iteration. The others are watched: by element, the iteration that stored it
// and the one that loaded it, both stamped with the execution of the loop.
#include "check/check_int.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WATCHED = 1 << 24 };    // units of a buffer

struct RaceLoop {
    int launch, first, end;         // PAR and the instruction behind PARNEXT
    bool *root;                     // to be watched
};

typedef struct {
    uint32_t stamp;
    int32_t store, load;            // 1 + iteration; load -1: several
    int32_t store_pc, load_pc;
    bool by_row[2];                 // that is the first of a row, for all
    bool atomic;                    // the store
} Touched;

struct RaceState {
    uint32_t stamp;
    Touched **touched;              // by root
};

// ---- which loops ---------------------------------------------------------

static bool is_access(const Instr *i)
{
    return i->op == INSTR_VLOAD || i->op == INSTR_VSTORE ||
           i->op == INSTR_VATOMIC;
}

static bool same_dim(const AccessDim *x, const AccessDim *y)
{
    return x->slot == y->slot && x->row == y->row && x->col == y->col &&
           x->lanes < 0 && y->lanes < 0;
}

static bool same_index(const Access *x, const Access *y)
{
    if (x->buffer != y->buffer || x->kind != y->kind ||
        x->kind == ACCESS_LANES || x->permuted || y->permuted)
        return false;
    for (int d = 0; d < (x->kind == ACCESS_FLAT ? 1 : x->rank); d++)
        if (!same_dim(&x->dim[d], &y->dim[d]))
            return false;
    return true;
}

static int64_t magnitude(int64_t v)
{
    return v < 0 ? -v : v;
}

// One offset that moves by `col` from column to column: rows of at most
// |row| / |col| columns do not meet.
static bool is_flat_apart(const Code *c, const AccessDim *x, const Space *s)
{
    int cols = s->extent[s->rank - 1];

    if (s->rank < 2 || !x->col)
        return x->col != 0;
    return c->constant[cols] != DT_NONE &&
           c->slot[cols].i <= magnitude(x->row) / magnitude(x->col);
}

// Does each iteration have an element of its own, by the form of the index?
static bool is_apart(const Code *c, const Access *a, const Space *s)
{
    bool row = s->rank < 2, col = false;

    if (a->kind == ACCESS_FLAT && s->rank <= 2 && !a->permuted)
        return is_flat_apart(c, &a->dim[0], s);
    if (s->rank > 2 || a->kind != ACCESS_DIMS || a->permuted)
        return false;
    for (int d = 0; d < a->rank; d++) {
        const AccessDim *x = &a->dim[d];

        row |= x->row && !x->col && x->lanes < 0;
        col |= x->col && !x->row && x->lanes < 0;
    }
    return row && col;
}

static bool is_suspect(const Code *c, const InstrList *body, int first,
                       int end, int root)
{
    const Space *space = &c->space[body->code[first].a];
    const Access *store = NULL;

    for (int i = first; i < end; i++) {
        const Instr *in = &body->code[i];
        const Access *a = is_access(in) ? &c->access[in->a] : NULL;

        if (a && in->op == INSTR_VSTORE && c->buffer[a->buffer].root == root)
            store = a;
    }
    if (!store)
        return false;
    for (int i = first; i < end; i++) {
        const Instr *in = &body->code[i];
        const Access *a = is_access(in) ? &c->access[in->a] : NULL;

        if (a && c->buffer[a->buffer].root == root &&
            (in->op == INSTR_VATOMIC || !same_index(a, store)))
            return true;
    }
    return !is_apart(c, store, space);
}

static void find_loop(Check *k, int launch, int first)
{
    const Code *c = k->code;
    const InstrList *body = &c->launch[launch].body;
    RaceLoop l = {.launch = launch, .first = first,
                  .end = first + body->code[first].b};
    bool any = false;

    l.root = xcalloc((size_t)c->buffer_count + 1, sizeof *l.root);
    for (int i = 0; i < c->buffer_count; i++)
        if (c->buffer[i].root == i && c->buffer[i].place != BUFFER_PRIVATE) {
            l.root[i] = is_suspect(c, body, first, l.end, i);
            any |= l.root[i];
        }
    if (!any) {
        free(l.root);
        return;
    }
    k->race = xrealloc(k->race, (size_t)k->race_count + 1, sizeof l);
    k->race[k->race_count++] = l;
}

void race_create(Check *k)
{
    const Code *c = k->code;

    for (int l = 0; l < c->launch_count; l++)
        for (int i = 0; i < c->launch[l].body.len; i++)
            if (c->launch[l].body.code[i].op == INSTR_PAR)
                find_loop(k, l, i);
}

void race_destroy(Check *k)
{
    for (int i = 0; i < k->race_count; i++)
        free(k->race[i].root);
    free(k->race);
}

void race_release(const Check *k, RaceState *r)
{
    for (int b = 0; r && b < k->code->buffer_count; b++)
        free(r->touched[b]);
    if (r)
        free(r->touched);
    free(r);
}

// ---- a loop --------------------------------------------------------------

static RaceState *state_of(Check *k, const InterpStep *s)
{
    CheckWorker *w = worker_of_step(k, s);

    if (!w->race) {
        w->race = xcalloc(1, sizeof *w->race);
        w->race->touched = xcalloc((size_t)k->code->buffer_count + 1,
                                   sizeof *w->race->touched);
    }
    return w->race;
}

static const RaceLoop *loop_at(const Check *k, const InterpStep *s)
{
    for (int i = 0; i < k->race_count; i++) {
        const RaceLoop *l = &k->race[i];

        if (l->launch == s->launch && l->first <= s->pc && s->pc < l->end)
            return l;
    }
    return NULL;
}

static int64_t extent(const InterpStep *s, const Space *p, int d)
{
    return d < 0 ? 1 : s->slot[p->extent[d]].i;
}

// Iteration (row 0, column 0) of the chunk, and how many columns there are.
static int64_t chunk_start(const Check *k, const InterpStep *s,
                           const RaceLoop *l, int64_t *cols)
{
    const Instr *par = &k->code->launch[l->launch].body.code[l->first];
    const Space *p = &k->code->space[par->a];
    int64_t at = 0;

    *cols = extent(s, p, p->rank - 1);
    for (int d = 0; d < p->rank - 2; d++)
        at = at * extent(s, p, d) + s->slot[p->coord[d]].i;
    at = at * extent(s, p, p->rank - 2) + s->row0;
    return at * *cols + s->col0;
}

typedef struct {
    Check *k;
    const InterpStep *s;
    RaceState *state;
    int root;
    int64_t cols;
    enum { LOADS, STORES, UPDATES } way;
    bool by_row;
} Met;

static bool is_other(const Met *m, int32_t before, bool before_by_row,
                     int64_t now)
{
    int64_t was = before - 1;

    if (before < 0)
        return true;                // several, of which most are others
    if (before_by_row || m->by_row)
        return was / m->cols != now / m->cols;
    return was != now;
}

static void tell(const Met *m, int other_pc, int lane, int64_t other)
{
    Note *n = note(m->k, m->s, NOTE_RACE, other_pc, m->root, 0);

    if (!n->count)
        n->x[0] = other < 0 ? -1 : other - 1, n->x[1] = m->cols;
    note_lane(n, m->s, lane);
    n->count++;
}

static void keep(const Met *m, Touched *e, int64_t now)
{
    int32_t id = (int32_t)(now % INT32_MAX) + 1;

    if (m->way != LOADS) {
        e->store = id;
        e->store_pc = m->s->pc;
        e->by_row[1] = m->by_row;
        e->atomic = m->way == UPDATES;
    } else if (!e->load) {
        e->load = id;
        e->load_pc = m->s->pc;
        e->by_row[0] = m->by_row;
    } else if (is_other(m, e->load, e->by_row[0], now)) {
        e->load = -1;
    }
}

// An element: what stood there of this execution, and now this access.
// changes: a store gives another value than was there; unknown: -1.
static void meet(const Met *m, Touched *e, int64_t now, int changes, int lane)
{
    bool ordered = m->way == UPDATES && e->atomic;

    if (e->stamp != m->state->stamp)
        *e = (Touched){.stamp = m->state->stamp};
    if (!changes)
        return;
    if (e->store && !ordered && (m->way != STORES || changes > 0) &&
        is_other(m, e->store, e->by_row[1], now))
        tell(m, e->store_pc, lane, e->store);
    else if (m->way != LOADS && e->load &&
             is_other(m, e->load, e->by_row[0], now))
        tell(m, e->load_pc, lane, e->load);
    keep(m, e, now);
}

static Touched *touched_of(Met *m)
{
    const Shade *shade = shade_of(m->k, m->s, m->root);
    Touched **at = &m->state->touched[m->root];

    if (!*at && shade->count > 0 && shade->count <= MOST_WATCHED)
        *at = xcalloc((size_t)shade->count, sizeof **at);
    return *at;
}

static bool differs(const Met *m, const Access *a, int64_t at,
                    const char *value, size_t lane)
{
    uint64_t old = 0;

    interp_read(m->s, a->buffer, at, 1, &old);
    return memcmp(&old, value, lane) != 0;
}

// A value that was computed where it is to be stored.
static bool is_in_place(const Met *m, const char *value)
{
    int64_t n;
    const char *at = interp_memory_of(m->s, m->root, &n);

    return value && at && value >= at &&
           value < at + n * m->k->code->buffer[m->root].element;
}

static void meet_lanes(Met *m, const Access *a, const int32_t *mask,
                       const char *value, int64_t start)
{
    bool in_place = is_in_place(m, value);
    const Shade *shade = shade_of(m->k, m->s, a->buffer);
    int width = shade_width(m->k, a->buffer);
    size_t lane =
        lane_bytes(lane_type_of(m->k->code->buffer[a->buffer].dtype));
    Touched *at = touched_of(m);
    InterpTouch t;

    if (!at)
        return;
    interp_touch(m->s, a, m->by_row, &t);
    for (int j = 0; j < t.rows * t.cols; j++) {
        int64_t e = t.offset ? t.offset[j]
                             : t.at + j / t.cols * t.sr + j % t.cols * t.sc;
        int64_t now = start + (m->by_row ? j * m->cols
                                         : j / t.cols * m->cols + j % t.cols);
        int changes = 1;

        if ((mask && !mask[j]) || (t.offset && !t.inside[j]) || e < 0 ||
            (e + 1) * width > shade->count)
            continue;
        if (value)
            changes = in_place ? -1 : differs(m, a, e, value + (size_t)j * lane,
                                              lane);
        for (int u = 0; u < width; u++)
            meet(m, &at[e * width + u], now, changes, j);
    }
}

void race_before(Check *k, const InterpStep *s)
{
    const RaceLoop *l = k->race_count ? loop_at(k, s) : NULL;
    const Instr *i = s->instr;
    Met m = {.k = k, .s = s};
    const Access *a;
    int mask;
    int64_t start;

    if (!l)
        return;
    m.state = state_of(k, s);
    if (i->op == INSTR_PAR)
        m.state->stamp++;
    if (!is_access(i))
        return;
    a = &k->code->access[i->a];
    m.root = root_of_buffer(k->code, a->buffer);
    if (!l->root[m.root])
        return;
    m.way = i->op == INSTR_VLOAD ? LOADS
            : i->op == INSTR_VSTORE ? STORES : UPDATES;
    m.by_row = i->flags & INSTR_ROW;
    start = chunk_start(k, s, l, &m.cols);
    mask = m.way == LOADS ? i->b : i->c;
    meet_lanes(&m, a, mask < 0 ? NULL : s->v[mask],
               i->op == INSTR_VSTORE ? s->v[i->b] : NULL, start);
}
