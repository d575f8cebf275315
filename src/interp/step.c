// step.c - a block that stops before each statement and shows what it holds.
#include "interp/interp_int.h"

#include <string.h>

struct InterpStop {
    const Worker *w;
    int step;
};

static bool is_chosen(const Worker *w, const InterpOptions *o)
{
    const Launch *l = &w->code->launch[w->launch];

    for (int d = 0; d < l->grid_rank; d++)
        if (w->slot[l->block[d]].i != o->step_block[d])
            return false;
    return w->launch == o->step_launch;
}

const Instr *exec_STEP(Worker *w, const Instr *i)
{
    const InterpOptions *o = w->run->options;
    InterpStop at = {w, i->a};

    if (!o->step || !is_chosen(w, o))
        return i + 1;
    if (o->step(o->step_ctx, &at))
        return i + 1;
    w->stopped = true;
    return NULL;
}

int interp_stop_step(const InterpStop *s)
{
    return s->step;
}

int interp_stop_threads(const InterpStop *s, int *first)
{
    const Warp *warp = s->w->warp;

    *first = warp ? warp->first : 0;
    return warp ? warp->lanes : 0;
}

int interp_stop_block(const InterpStop *s, int64_t out[3])
{
    const Launch *l = &s->w->code->launch[s->w->launch];

    for (int d = 0; d < l->grid_rank; d++)
        out[d] = s->w->slot[l->block[d]].i;
    return l->grid_rank;
}

int64_t interp_stop_int(const InterpStop *s, const CodeName *n)
{
    return s->w->slot[n->slot].i;
}

double interp_stop_float(const InterpStop *s, const CodeName *n)
{
    const Slot *v = &s->w->slot[n->slot];

    return n->dtype == DT_F64 ? v->d : v->f;
}

bool interp_stop_tile(const InterpStop *s, int buffer, InterpTile *out)
{
    const Tensor *t = &s->w->buffer[buffer];

    if (!is_readable(s->w, buffer))
        return false;
    out->rank = s->w->code->buffer[buffer].rank;
    out->global = t->global;
    for (int d = 0; d < out->rank; d++)
        out->shape[d] = t->shape[d];
    return true;
}

// The elements from dimension d on, the first at element `at`.
static char *read_from(const Worker *w, int buffer, int d, int64_t at,
                       char *out)
{
    const CodeBuffer *b = &w->code->buffer[buffer];
    const Tensor *t = &w->buffer[buffer];
    Slot one;

    if (d == b->rank) {
        double value;

        load_one(w, t, &one, at);
        value = b->dtype == DT_F64 ? one.d : one.f;
        memcpy(out, dtype_is_float(b->dtype) ? (void *)&value : &one.i, 8);
        return out + 8;
    }
    for (int64_t i = 0; i < t->shape[d]; i++)
        out = read_from(w, buffer, d + 1, at + i * t->stride[d], out);
    return out;
}

void interp_stop_read(const InterpStop *s, int buffer, void *out)
{
    read_from(s->w, buffer, 0, 0, out);
}

bool interp_is_undefined(double v)
{
    uint64_t bits;

    memcpy(&bits, &v, 8);
    return bits == UINT64_MAX || bits == 0xffffffffe0000000u;
}
