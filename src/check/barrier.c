// barrier.c - memory barriers whose arrivals do not fit their count.
//
// The threads that arrive by one statement at one turn of its loops arrive
// together: all of them belong to one phase. Where they do not, the barrier
// was made for fewer, and its waits are for other phases than was meant. A
// phase that some have arrived at when the block ends was made for more.
#include "check/order_int.h"

#include <stdlib.h>
#include <string.h>

typedef struct BarrierUse {
    int pc;                         // of the last arrival, or -1
    int64_t turn[PLACE_LOOPS];      // of the loops around
    int64_t phase;                  // that it was for
} BarrierUse;

static BarrierUse *uses_of(Check *k, const InterpStep *s)
{
    CheckWorker *w = worker_of_step(k, s);

    if (!w->barrier) {
        int most = 0;

        for (int i = 0; i < k->code->launch_count; i++)
            if (k->order[i].barriers > most)
                most = k->order[i].barriers;
        w->barrier = xcalloc((size_t)most + 1, sizeof *w->barrier);
    }
    return w->barrier;
}

void barrier_begin(Check *k, const InterpStep *s)
{
    const OrderPlan *p = order_plan(k, s->launch);
    BarrierUse *u = p->barriers ? uses_of(k, s) : NULL;

    for (int i = 0; i < p->barriers; i++)
        u[i].pc = -1;
}

static int active_lanes(const InterpStep *s)
{
    const int32_t *mask = s->instr->c < 0 ? NULL : s->v[s->instr->c];
    int n = 0;

    for (int j = 0; j < s->n; j++)
        n += !mask || mask[j];
    return n;
}

// Whether the last arrival was of the same statement and turn.
static bool is_together(const Check *k, const InterpStep *s,
                        const BarrierUse *u)
{
    const Progress *p = &k->code->place[s->instr->d];

    for (int i = 0; i < p->count; i++)
        if (u->turn[i] != s->slot[p->counter[i]].i)
            return false;
    return u->pc == s->pc;
}

static void keep(const Check *k, const InterpStep *s, BarrierUse *u,
                 int64_t phase)
{
    const Progress *p = &k->code->place[s->instr->d];

    u->pc = s->pc;
    u->phase = phase;
    for (int i = 0; i < p->count; i++)
        u->turn[i] = s->slot[p->counter[i]].i;
}

// Whether some threads of a warp belong to a set and others do not.
static bool parts_warps(const Code *c, const Launch *l, int set)
{
    const uint64_t *bit = c->set[set].bit;

    for (int t = 0; t < l->threads; t++) {
        int first = t / l->wave * l->wave;

        if ((bit[t / 64] >> t % 64 & 1) != (bit[first / 64] >> first % 64 & 1))
            return true;
    }
    return false;
}

// A warp as a whole comes to a barrier, or waits for ever.
static void at_meeting(Check *k, const InterpStep *s)
{
    const Meeting *m = &k->code->meeting[s->instr->a];

    if (m->kind != MEET_REDUCE && active_lanes(s) &&
        parts_warps(k->code, &k->code->launch[s->launch], m->set))
        note(k, s, NOTE_PARTED, -1, -1, 1)->x[0] = k->code->set[m->set].count;
}

static void at_arrival(Check *k, const InterpStep *s)
{
    const Instr *i = s->instr;
    const OrderPlan *p = order_plan(k, s->launch);
    int lanes, first, buffer;
    InterpBarrier now;
    BarrierUse *u;

    buffer = k->code->access[i->a].buffer;
    first = p->first_barrier[buffer];
    lanes = active_lanes(s);
    if (!lanes || first < 0 ||
        !interp_barrier(s, buffer,
                        s->slot[k->code->access[i->a].dim[0].slot].i, &now) ||
        first + now.element >= p->barriers)
        return;
    u = &uses_of(k, s)[first + now.element];
    if (lanes > now.pending ||
        (is_together(k, s, u) && u->phase != now.phase)) {
        Note *n = note(k, s, NOTE_OVERRUN, -1, buffer, 0);

        if (!n->count)
            n->x[0] = now.element, n->x[1] = now.count;
        n->count++;
    }
    keep(k, s, u, now.phase);
}

void barrier_before(Check *k, const InterpStep *s)
{
    if (s->instr->op == INSTR_MEET)
        at_meeting(k, s);
    else if (s->instr->op == INSTR_BARARRIVE &&
             !(s->instr->flags & INSTR_EXPECT))
        at_arrival(k, s);
}

void barrier_end(Check *k, const InterpStep *s)
{
    const OrderPlan *p = order_plan(k, s->launch);

    for (int b = 0; p->barriers && b < k->code->buffer_count; b++)
        for (int64_t e = 0; p->first_barrier[b] >= 0 &&
                            e < k->code->buffer[b].shape[0]; e++) {
            InterpBarrier now;
            Note *n;

            if (!interp_barrier(s, b, e, &now) ||
                (now.pending == now.count && !now.bytes))
                continue;
            n = note(k, s, NOTE_PENDING, -1, b, 0);
            if (!n->count) {
                n->x[0] = e;
                n->x[1] = now.pending;
                n->x[2] = now.count;
            }
            n->count++;
        }
}

// ---- findings ------------------------------------------------------------

static void report_overrun(Report *r, const Note *n)
{
    CheckFinding *f =
        add_finding(r, FINDING_OVERRUN, span_of(r, n->launch, n->a));
    TextBuf b = {0};

    f->count = n->count;
    f->message = text_format(
        r->a, "threads that arrive at '%.*s[%lld]' together fall into two of "
        "its phases, which take %lld arrivals",
        TEXT_ARG(name_of(r, n->buffer)), (long long)n->x[0],
        (long long)n->x[1]);
    note_when(r, f, n);
    buf_puts(&b, "made here");
    add_note(r, f, r->k->code->buffer[n->buffer].at, &b);
    f->fix = TEXT("make it for as many arrivals as there are threads, or let "
                  "one thread arrive");
}

static void report_parted(Report *r, const Note *n)
{
    CheckFinding *f =
        add_finding(r, FINDING_PARTED, span_of(r, n->launch, n->a));

    f->count = n->count;
    f->message = text_format(
        r->a, "a barrier under a condition that only a part of a warp meets, "
        "%lld threads of the block in all: a GPU waits for the others for ever",
        (long long)n->x[0]);
    note_when(r, f, n);
    f->fix = TEXT("move it out of the condition");
}

static void report_pending(Report *r, const Note *n)
{
    CheckFinding *f = add_finding(r, FINDING_PENDING,
                                  r->k->code->buffer[n->buffer].at);
    TextBuf b = {0};

    f->count = n->count;
    f->message = text_format(
        r->a, "the block ends while '%.*s[%lld]' waits for %lld more of %lld "
        "arrivals", TEXT_ARG(name_of(r, n->buffer)), (long long)n->x[0],
        (long long)n->x[1], (long long)n->x[2]);
    buf_printf(&b, "first in block %lld", (long long)n->block);
    add_note(r, f, (Span){0}, &b);
    f->launch = n->launch;
    f->block = n->block;
}

void report_barriers(Report *r, bool stuck)
{
    bool overrun = stuck;

    for (int i = 0; i < r->count; i++)
        if (r->notes[i].kind == NOTE_OVERRUN) {
            report_overrun(r, &r->notes[i]);
            overrun = true;
        } else if (r->notes[i].kind == NOTE_PARTED) {
            report_parted(r, &r->notes[i]);
        }
    for (int i = 0; i < r->count && !overrun; i++)
        if (r->notes[i].kind == NOTE_PENDING)
            report_pending(r, &r->notes[i]);
}
