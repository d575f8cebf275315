// show.c - T.print and --print: tiles as NumPy prints them, and scalars.
//
// Launches that print run their blocks in order on one worker, so the text
// goes straight into the result.
#include "interp/interp_int.h"

#include <inttypes.h>

static void put_slot(TextBuf *out, DType t, const Slot *s)
{
    if (t == DT_F64)
        buf_printf(out, "%.17g", s->d);
    else if (dtype_is_float(t))
        buf_printf(out, "%.9g", s->f);
    else if (t == DT_U64)
        buf_printf(out, "%" PRIu64, (uint64_t)s->i);
    else
        buf_printf(out, "%" PRId64, s->i);
}

static void put_block(TextBuf *out, const Worker *w)
{
    const Launch *l = &w->code->launch[w->launch];

    buf_puts(out, "block (");
    for (int d = 0; d < l->grid_rank; d++)
        buf_printf(out, "%s%" PRId64, d ? ", " : "", w->slot[l->block[d]].i);
    buf_addc(out, ')');
}

// ---- tiles ---------------------------------------------------------------

typedef struct {
    const Worker *w;
    const CodeBuffer *b;
    const Tensor *t;
    int64_t from[CODE_RANK];
} Shown;

static NumScalar shown_element(void *ctx, const int64_t *index)
{
    const Shown *s = ctx;
    int64_t at = 0;
    Slot one;

    for (int d = 0; d < s->b->rank; d++)
        at += (s->from[d] + index[d]) * s->t->stride[d];
    load_one(s->w, s->t, &one, at);
    if (!dtype_is_float(s->b->dtype))
        return (NumScalar){.i = one.i};
    return (NumScalar){.f = s->b->dtype == DT_F64 ? one.d : one.f};
}

static void put_buffer(TextBuf *out, const Worker *w, int buffer,
                       const InterpPrint *p)
{
    Shown s = {.w = w, .b = &w->code->buffer[buffer], .t = &w->buffer[buffer]};
    int64_t shape[CODE_RANK];

    for (int d = 0; d < s.b->rank; d++) {
        int64_t size = s.t->shape[d], from = 0, to = size;

        if (p && d < p->rank) {
            from = p->from[d] < 0 ? 0 : p->from[d];
            to = p->to[d] > size ? size : p->to[d];
        }
        s.from[d] = from;
        shape[d] = to > from ? to - from : 0;
    }
    num_array_text(out, &(NumArray){.dtype = s.b->dtype,
                                    .rank = s.b->rank,
                                    .shape = shape,
                                    .get = shown_element,
                                    .ctx = &s});
    buf_addc(out, '\n');
}

const Instr *exec_PRINT(Worker *w, const Instr *i)
{
    const Print *p = &w->code->print[i->a];
    TextBuf *out = &w->run->result->printed;

    if (w->launch >= 0) {
        put_block(out, w);
        buf_puts(out, ": ");
    }
    if (p->message.len)
        buf_text(out, p->message);
    if (p->message.len && p->kind != PRINT_MESSAGE)
        buf_addc(out, ' ');
    if (p->kind == PRINT_SLOT)
        put_slot(out, p->dtype, &w->slot[p->slot]);
    if (p->kind != PRINT_BUFFER) {
        buf_addc(out, '\n');
        return i + 1;
    }
    buf_printf(out, "%.*s =\n", TEXT_ARG(w->code->buffer[p->buffer].name));
    put_buffer(out, w, p->buffer, NULL);
    return i + 1;
}

// ---- --print -------------------------------------------------------------

bool is_readable(const Worker *w, int buffer)
{
    const CodeBuffer *b = &w->code->buffer[buffer];

    return b->place != BUFFER_PRIVATE && w->buffer[buffer].at &&
           (b->place != BUFFER_SCRATCH || w->code->buffer[b->root].offset >= 0);
}

static void show(Worker *w, const InterpPrint *p, const char *when)
{
    TextBuf *out = &w->run->result->printed;

    for (int b = 0; b < w->code->buffer_count; b++) {
        if (!text_eq(w->code->buffer[b].name, p->buffer) || !is_readable(w, b))
            continue;
        put_block(out, w);
        buf_printf(out, "%s: %.*s =\n", when, TEXT_ARG(p->buffer));
        put_buffer(out, w, b, p);
        return;
    }
}

void show_loop(Worker *w, const Instr *next)
{
    const InterpOptions *o = w->run->options;
    int pc =
        (int)(next - w->code->launch[w->launch < 0 ? 0 : w->launch].body.code);
    char when[80];

    for (int i = 0; w->launch >= 0 && i < w->code->loop_count; i++) {
        const CodeLoop *l = &w->code->loop[i];

        if (l->launch != w->launch || l->next != pc || l->by_thread)
            continue;
        for (int p = 0; p < o->print_count; p++) {
            const InterpPrint *q = &o->prints[p];

            if (!q->loop_var.len || !text_eq(q->loop_var, l->name) ||
                w->slot[l->slot].i != q->loop_value)
                continue;
            snprintf(when, sizeof when, " %.*s=%" PRId64, TEXT_ARG(l->name),
                     q->loop_value);
            show(w, q, when);
        }
    }
}

void show_block_end(Worker *w)
{
    const InterpOptions *o = w->run->options;

    for (int p = 0; p < o->print_count; p++)
        if (!o->prints[p].loop_var.len)
            show(w, &o->prints[p], " at the end");
}
