// observe.c - shows a run to its observer.
//
// An access is resolved as exec_access.c does, less the findings: these are
// told when the instruction itself runs.
#include "interp/interp_int.h"

static const int32_t no_lane[CODE_LANES];

static void set_step(const Worker *w, const Instr *i, InterpStep *s)
{
    const Launch *l = &w->code->launch[w->launch];

    *s = (InterpStep){
        .state = w,
        .worker = (int)(w - w->run->workers),
        .launch = w->launch,
        .block = w->block,
        .instr = i,
        .pc = i ? (int)(i - l->body.code) : -1,
        .slot = w->slot,
        .v = w->v,
        .rows = w->rows,
        .cols = w->cols,
        .n = w->n,
        .row0 = w->row0,
        .col0 = w->col0,
        .warp = w->warp ? (int)(w->warp - w->crew.warp) : -1,
        .slot_warp = -1,
        .thread0 = w->lane0,
    };
    for (int k = 0; k < w->crew.count && s->slot_warp < 0; k++)
        if (w->slot == w->crew.warp[k].slot)
            s->slot_warp = k;
}

void observe_launch(Worker *w, int launch, int64_t blocks)
{
    const InterpObserver *o = w->run->options->observer;
    InterpStep s;

    if (!o || !o->launch)
        return;
    w->launch = launch;
    set_step(w, NULL, &s);
    s.blocks = blocks;
    o->launch(o->ctx, &s);
}

void observe_block(Worker *w, bool begin)
{
    const InterpObserver *o = w->run->options->observer;
    InterpStep s;

    if (!o || !(begin ? o->begin : o->end))
        return;
    set_step(w, NULL, &s);
    (begin ? o->begin : o->end)(o->ctx, &s);
}

void run_observed(Worker *w, const Instr *i)
{
    const InterpObserver *o = w->run->options->observer;
    InterpStep s;

    while (i) {
        const Instr *next;

        set_step(w, i, &s);
        o->before(o->ctx, &s);
        next = exec_instr(w, i);
        if (o->after)
            o->after(o->ctx, &s);
        i = next;
    }
}

// ---- what an access touches ----------------------------------------------

// The working space of accesses is between instructions nobody's.
static Worker *worker_of(const InterpStep *s)
{
    return (Worker *)s->state;
}

void interp_touch(const InterpStep *s, const Access *a, bool by_row,
                  InterpTouch *out)
{
    Worker *w = worker_of(s);
    Box b;

    set_box(w, &b, a, by_row);
    *out = (InterpTouch){.buffer = a->buffer,
                         .rows = b.rows,
                         .cols = b.cols,
                         .at = b.at,
                         .sr = b.sr,
                         .sc = b.sc};
    if (b.inside && a->kind != ACCESS_LANES)
        return;
    lane_offsets(w, &b, no_lane);
    out->offset = w->offset;
    out->inside = w->inside;
}

bool interp_touch_one(const InterpStep *s, const Access *a, int64_t *at)
{
    const Worker *w = s->state;
    const Tensor *t = &w->buffer[a->buffer];

    *at = w->slot[a->dim[0].slot].i;
    if (a->kind == ACCESS_FLAT)
        return true;
    *at = 0;
    for (int d = 0; d < a->rank; d++) {
        int64_t i = w->slot[a->dim[d].slot].i;

        if (i < 0 || i >= t->shape[d])
            return false;
        *at += i * t->stride[d];
    }
    if (a->permuted)
        *at = w->slot[a->place.slot].i;
    return true;
}

bool interp_touch_matrix(const InterpStep *s, const Matrix *m, int64_t rows,
                         int64_t cols, InterpMatrix *out)
{
    const Worker *w = s->state;
    const Tensor *t = &w->buffer[m->buffer];

    *out = (InterpMatrix){.buffer = m->buffer,
                          .rows = rows,
                          .cols = cols,
                          .row_step = m->row < 0 ? 0 : t->stride[m->row],
                          .col_step = t->stride[m->col]};
    for (int d = 0; d < w->code->buffer[m->buffer].rank; d++) {
        int64_t at = w->slot[m->at[d]].i, size = t->shape[d];
        int64_t n = d == m->row ? rows : d == m->col ? cols : 1;

        if (at < 0 || n > size || at > size - n)
            return false;
        out->at += at * t->stride[d];
    }
    return true;
}

bool interp_barrier(const InterpStep *s, int buffer, int64_t element,
                    InterpBarrier *out)
{
    const Tensor *t = &((const Worker *)s->state)->buffer[buffer];
    const MemoryBarrier *b = (const MemoryBarrier *)t->at;

    if (!b || element < 0 || element >= t->shape[0])
        return false;
    b += element;
    *out = (InterpBarrier){.element = element,
                           .count = b->count,
                           .pending = b->pending,
                           .phase = b->phase,
                           .bytes = b->bytes};
    return true;
}

int64_t interp_index(const InterpStep *s, const Access *a, bool by_row, int d,
                     int lane)
{
    const AccessDim *dim = &a->dim[d];
    uint64_t at = (uint64_t)s->slot[dim->slot].i;
    int cols = by_row ? 1 : s->cols;

    at += (uint64_t)(dim->row * (s->row0 + lane / cols) +
                     dim->col * (s->col0 + lane % cols));
    if (dim->lanes >= 0)
        at += (uint64_t)((const int64_t *)s->v[dim->lanes])[lane];
    return (int64_t)at;
}

int64_t interp_extent(const InterpStep *s, int buffer, int d)
{
    return ((const Worker *)s->state)->buffer[buffer].shape[d];
}

char *interp_memory_of(const InterpStep *s, int buffer, int64_t *elements)
{
    const Worker *w = s->state;
    const Tensor *t = &w->buffer[buffer];

    *elements = 1;
    for (int d = 0; d < w->code->buffer[buffer].rank; d++) {
        if (t->shape[d] <= 0) {
            *elements = 0;
            break;
        }
        *elements += (t->shape[d] - 1) * t->stride[d];
    }
    return t->at;
}

void interp_read(const InterpStep *s, int buffer, int64_t at, int64_t n,
                 void *lanes)
{
    const Worker *w = s->state;

    load_elements(w, &w->buffer[buffer], lanes, at, n);
}
