// exec_point.c - tensors at addresses: T.make_tensor.
//
// An address is followed only into memory that the caller named, and only
// where the whole tensor lies in one piece of it. Elsewhere the tensor has no
// elements: what it is asked for is out of range.
#include "interp/interp_int.h"

static void set_strides(const Worker *w, const CodeBuffer *b, Tensor *t)
{
    int64_t stride = 1;

    for (int d = b->rank - 1; d >= 0; d--) {
        t->shape[d] =
            b->shape[d] >= 0 ? b->shape[d] : w->slot[b->shape_slot[d]].i;
        t->stride[d] =
            b->stride_slot[d] >= 0 ? w->slot[b->stride_slot[d]].i : stride;
        if (__builtin_mul_overflow(stride, t->shape[d], &stride))
            stride = INT64_MAX;
    }
}

// Bytes from the first element to the end of the last; -1: beyond all reason.
static int64_t reach(const CodeBuffer *b, const Tensor *t)
{
    int64_t last = 0, step;

    for (int d = 0; d < b->rank; d++) {
        if (t->shape[d] <= 0)
            return 0;
        if (t->stride[d] < 0 ||
            __builtin_mul_overflow(t->shape[d] - 1, t->stride[d], &step) ||
            __builtin_add_overflow(last, step, &last))
            return -1;
    }
    return __builtin_mul_overflow(last + 1, (int64_t)b->element, &last) ? -1
                                                                        : last;
}

static bool is_inside(const InterpMemory *m, uintptr_t at, int64_t bytes,
                      int align)
{
    uintptr_t from = (uintptr_t)m->at;

    return at >= from && at % (uintptr_t)align == 0 && m->bytes >= bytes &&
           at - from <= (uintptr_t)(m->bytes - bytes);
}

const Instr *exec_POINT(Worker *w, const Instr *i)
{
    const InterpOptions *o = w->run->options;
    const CodeBuffer *b = &w->code->buffer[i->a];
    Tensor *t = &w->buffer[i->a];
    uintptr_t at = (uintptr_t)w->slot[i->b].i;
    int64_t bytes;

    set_strides(w, b, t);
    t->global = true;
    t->at = NULL;
    bytes = reach(b, t);
    for (int k = 0; bytes >= 0 && k < o->memory_count; k++)
        if (is_inside(&o->memory[k], at, bytes, b->element))
            t->at = o->memory[k].at + (at - (uintptr_t)o->memory[k].at);
    if (t->at)
        return i + 1;
    report(w, i->c, 1, 0, 0, bytes);
    for (int d = 0; d < b->rank; d++)
        t->shape[d] = 0;
    return i + 1;
}
