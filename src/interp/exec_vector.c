// exec_vector.c - instructions on the lanes of a chunk.
#include "interp/interp_int.h"

#include <string.h>

static int lanes_of(const Worker *w, const Instr *i)
{
    return i->flags & INSTR_ROW ? w->rows : w->n;
}

int32_t *mask_of(const Worker *w, int reg)
{
    return reg < 0 ? NULL : w->v[reg];
}

// ---- arithmetic ----------------------------------------------------------

const Instr *exec_VOP(Worker *w, const Instr *i)
{
    w->lanes->op[i->lane][i->type](
        w->v[i->d], w->v[i->a], i->b < 0 ? NULL : w->v[i->b],
        i->c < 0 ? NULL : w->v[i->c], lanes_of(w, i));
    return i + 1;
}

const Instr *exec_VROUND(Worker *w, const Instr *i)
{
    LaneFn *round = w->lanes->round[i->dtype];

    if (round)
        round(w->v[i->d], w->v[i->a], NULL, NULL, lanes_of(w, i));
    else if (i->d != i->a)
        memcpy(
            w->v[i->d], w->v[i->a],
            (size_t)lanes_of(w, i) * lane_bytes(lane_type_of((DType)i->dtype)));
    return i + 1;
}

const Instr *exec_VCAST(Worker *w, const Instr *i)
{
    cast_lanes(w, w->v[i->d], (DType)i->dtype, w->v[i->a], (DType)i->from,
               !(i->flags & INSTR_NO_SAT), lanes_of(w, i));
    return i + 1;
}

const Instr *exec_VBITS(Worker *w, const Instr *i)
{
    int n = lanes_of(w, i);

    exact_store(w->lanes, (DType)i->from)(w->raw, w->v[i->a], NULL, NULL, n);
    w->lanes->load[i->dtype](w->v[i->d], w->raw, NULL, NULL, n);
    return i + 1;
}

const Instr *exec_VMOV(Worker *w, const Instr *i)
{
    memcpy(w->v[i->d], w->v[i->a],
           (size_t)lanes_of(w, i) * lane_bytes((LaneType)i->type));
    return i + 1;
}

// Before the loop (b > 0) the chunks are not known yet: b lanes will do.
const Instr *exec_VFILL(Worker *w, const Instr *i)
{
    fill_lanes(w->v[i->d], (int)lane_bytes((LaneType)i->type),
               i->b > 0 ? i->b : lanes_of(w, i), &w->slot[i->a]);
    return i + 1;
}

const Instr *exec_VEXPAND(Worker *w, const Instr *i)
{
    size_t lane = lane_bytes((LaneType)i->type);
    const char *from = w->v[i->a];
    char *to = w->v[i->d];

    for (int r = 0; r < w->rows; r++)
        fill_lanes(to + (size_t)r * (size_t)w->cols * lane, (int)lane, w->cols,
                   from + (size_t)r * lane);
    return i + 1;
}

static void steps4(int32_t *d, int64_t at, int64_t step, int n)
{
    uint32_t from = (uint32_t)at, by = (uint32_t)step;

    for (uint32_t i = 0; i < (uint32_t)n; i++)
        d[i] = (int32_t)(from + i * by);
}

static void steps8(int64_t *d, int64_t at, int64_t step, int n)
{
    uint64_t from = (uint64_t)at, by = (uint64_t)step;

    for (uint64_t i = 0; i < (uint64_t)n; i++)
        d[i] = (int64_t)(from + i * by);
}

static void steps(const Instr *i, char *d, int64_t at, int64_t step, int n)
{
    if (lane_bytes((LaneType)i->type) == 4)
        steps4((int32_t *)d, at, step, n);
    else
        steps8((int64_t *)d, at, step, n);
}

const Instr *exec_VAFFINE(Worker *w, const Instr *i)
{
    const Affine *f = &w->code->affine[i->b];
    uint64_t at = (uint64_t)w->slot[i->a].i +
                  (uint64_t)f->row * (uint64_t)w->row0 +
                  (uint64_t)f->col * (uint64_t)w->col0;
    size_t pitch = (size_t)w->cols * lane_bytes((LaneType)i->type);

    if (i->flags & INSTR_ROW) {
        steps(i, w->v[i->d], (int64_t)at, f->row, w->rows);
        return i + 1;
    }
    for (int r = 0; r < w->rows; r++, at += (uint64_t)f->row)
        steps(i, (char *)w->v[i->d] + (size_t)r * pitch, (int64_t)at, f->col,
              w->cols);
    return i + 1;
}

// ---- memory --------------------------------------------------------------

static void *own_storage(const Worker *w, int reg)
{
    return w->own + (size_t)reg * (size_t)w->pitch;
}

static bool can_point(const Box *b)
{
    return b->inside && !b->t->load && box_is_dense(b);
}

// Where the lanes of a flat access lie if they lie there one after the other,
// else NULL: the common case, without a box.
static char *flat_lanes(const Worker *w, const Access *a, bool by_row)
{
    const AccessDim *d = &a->dim[0];
    const Tensor *t = &w->buffer[a->buffer];
    int64_t step = by_row ? d->row : d->col;
    int64_t at = w->slot[d->slot].i + w->row0 * d->row + w->col0 * d->col;

    if (a->kind != ACCESS_FLAT || t->load || step != 1 || t->private ||
        !(by_row || w->rows == 1 || d->row == w->cols))
        return NULL;
    return t->at + at * t->element;
}

// A copy into a tensor that no cache holds: its lines need not be read first.
static bool passes_caches(const Worker *w, const Instr *i, const Box *b)
{
    return i->flags & INSTR_COPY && w->aimed && w->aimed->large &&
           w->v[i->d] != own_storage(w, i->d) && can_point(b);
}

const Instr *exec_VLOAD(Worker *w, const Instr *i)
{
    const Access *a = &w->code->access[i->a];
    bool by_row = i->flags & INSTR_ROW, view = !(i->flags & INSTR_COPY);
    char *at = view ? flat_lanes(w, a, by_row) : NULL;
    Box b;

    if (at) {
        w->v[i->d] = at;
        return i + 1;
    }
    set_box(w, &b, a, by_row);
    if (view && can_point(&b)) {
        w->v[i->d] = b.t->at + b.at * b.t->element;
        return i + 1;
    }
    if (view)
        w->v[i->d] = own_storage(w, i->d);
    if (a->kind == ACCESS_LANES)
        gather(w, &b, w->v[i->d], mask_of(w, i->b));
    else if (passes_caches(w, i, &b))
        stream_bytes(w->v[i->d], b.t->at + b.at * b.t->element,
                     (size_t)(b.rows * b.cols * b.t->lane));
    else
        load_box(w, &b, w->v[i->d], mask_of(w, i->b));
    return i + 1;
}

static bool is_counted(const Worker *w, const Tensor *t)
{
    return t->writes || (t->global && w->run->options->observer);
}

// Counted and watched stores go through VSTORE.
const Instr *exec_VAIM(Worker *w, const Instr *i)
{
    const Access *a = &w->code->access[i->a];
    bool by_row = i->flags & INSTR_ROW;
    char *at = flat_lanes(w, a, by_row);
    Box b;

    if (!at) {
        set_box(w, &b, a, by_row);
        at = can_point(&b) && !is_counted(w, b.t)
                 ? b.t->at + b.at * b.t->element
                 : own_storage(w, i->d);
    }
    w->v[i->d] = at;
    w->aimed = &w->buffer[a->buffer];
    return i + 1;
}

const Instr *exec_VSTORE(Worker *w, const Instr *i)
{
    const Access *a = &w->code->access[i->a];
    Box b;

    if (i->flags & INSTR_AIMED && w->v[i->b] != own_storage(w, i->b)) {
        w->stored |= w->buffer[a->buffer].global;
        return i + 1;
    }
    set_box(w, &b, a, i->flags & INSTR_ROW);
    if (a->kind == ACCESS_LANES)
        scatter(w, &b, w->v[i->b], mask_of(w, i->c));
    else
        store_box(w, &b, w->v[i->b], mask_of(w, i->c));
    return i + 1;
}

// ---- atomics -------------------------------------------------------------

static void round_lanes(const Worker *w, DType t, void *d, int64_t n)
{
    if (w->lanes->round[t])
        w->lanes->round[t](d, d, NULL, NULL, n);
}

// Every lane has an element of its own: all at once.
static bool lanes_are_apart(const Box *b)
{
    int64_t sr = b->sr < 0 ? -b->sr : b->sr;

    return b->a->kind != ACCESS_LANES && b->sc == 1 &&
           (b->rows == 1 || sr >= b->cols);
}

static void atomic_apart(Worker *w, const Instr *i, const Box *b, void *old,
                         DType t)
{
    const int32_t *mask = mask_of(w, i->c);
    void *sum = w->pack[0];

    load_box(w, b, old, mask);
    w->lanes->op[i->lane][i->type](sum, old, w->v[i->b], NULL, w->n);
    round_lanes(w, t, sum, w->n);
    store_box(w, b, sum, mask);
}

static void atomic_one(Worker *w, const Instr *i, const Tensor *t, int lane,
                       char *old, DType dtype)
{
    const char *v = (const char *)w->v[i->b] + lane * t->lane;
    Slot sum = {0};

    load_elements(w, t, old + lane * t->lane, w->offset[lane], 1);
    w->lanes->op[i->lane][i->type](&sum, old + lane * t->lane, v, NULL, 1);
    round_lanes(w, dtype, &sum, 1);
    store_elements(w, t, w->offset[lane], &sum, 1);
}

// Lanes take effect one after the other; one out of range gives 0.
const Instr *exec_VATOMIC(Worker *w, const Instr *i)
{
    const Access *a = &w->code->access[i->a];
    DType t = w->code->buffer[a->buffer].dtype;
    const int32_t *mask = mask_of(w, i->c);
    char *old = i->d < 0 ? w->pack[1] : w->v[i->d];
    Box b;

    set_box(w, &b, a, false);
    if (lanes_are_apart(&b)) {
        atomic_apart(w, i, &b, old, t);
        return i + 1;
    }
    lane_offsets(w, &b, mask);
    memset(old, 0, (size_t)(w->n * b.t->lane));
    for (int lane = 0; lane < w->n; lane++)
        if (w->inside[lane] && (!mask || mask[lane]))
            atomic_one(w, i, b.t, lane, old, t);
    return i + 1;
}

// ---- masks ---------------------------------------------------------------

const Instr *exec_VCHECK(Worker *w, const Instr *i)
{
    const int32_t *ok = w->v[i->a], *mask = mask_of(w, i->c);
    int64_t bad = 0;

    for (int lane = 0; lane < w->n; lane++)
        bad += !ok[lane] && (!mask || mask[lane]);
    if (bad)
        report(w, i->b, bad, 0, 0, 0);
    return i + 1;
}

const Instr *exec_VNONE(Worker *w, const Instr *i)
{
    int32_t any = 0;

    w->lanes->reduce(LANE_OP_OR, LANE_I32, DT_NONE, &any, w->v[i->a], w->n);
    return any ? i + 1 : i + i->b;
}
