// exec.c - the loop that runs instructions, and control flow.
#include "interp/interp_int.h"
#include "support/parallel.h"

static ExecFn *const exec[INSTR_COUNT] = {
#define INSTR(id, ...) [INSTR_##id] = exec_##id,
#include "code/instr.def"
};

const Instr *exec_instr(Worker *w, const Instr *i)
{
    return exec[i->op](w, i);
}

void run_from(Worker *w, const Instr *i)
{
    if (w->run->options->observer && w->launch >= 0) {
        run_observed(w, i);
        return;
    }
    while (i)
        i = exec[i->op](w, i);
}

void run_list(Worker *w, const InstrList *list)
{
    run_from(w, list->code);
}

// false: cancelled, stop
static bool jumped(Worker *w)
{
    if (--w->fuel > 0)
        return true;
    w->fuel = FUEL;
    w->stopped = parallel_cancelled() != 0;
    return !w->stopped;
}

const Instr *exec_HALT(Worker *w, const Instr *i)
{
    (void)w, (void)i;
    return NULL;
}

const Instr *exec_JUMP(Worker *w, const Instr *i)
{
    if (i->a < 0 && !jumped(w))
        return NULL;
    return i + i->a;
}

const Instr *exec_JUMPZ(Worker *w, const Instr *i)
{
    return w->slot[i->a].i ? i + 1 : i + i->b;
}

const Instr *exec_JUMPGE(Worker *w, const Instr *i)
{
    return w->slot[i->d].i >= w->slot[i->a].i ? i + i->b : i + 1;
}

static void note_trips(Worker *w, const Instr *i)
{
    int64_t *most = &w->trips[i->c - 1], trips = w->slot[i->d].i;

    *most = *most < trips ? trips : *most;
}

const Instr *exec_NEXT(Worker *w, const Instr *i)
{
    if (w->run->options->print_count)
        show_loop(w, i);
    if (++w->slot[i->d].i >= w->slot[i->a].i) {
        if (i->c)
            note_trips(w, i);
        return i + 1;
    }
    return jumped(w) ? i + i->b : NULL;
}

const Instr *exec_CHECK(Worker *w, const Instr *i)
{
    if (!w->slot[i->a].i)
        report(w, i->b, 1, 0, 0, 0);
    return i + 1;
}

const Instr *exec_EVENT(Worker *w, const Instr *i)
{
    const InterpOptions *o = w->run->options;
    const CodeEvent *e = &w->code->event[i->a];
    int64_t value[CODE_EVENT_VARS];

    if (!o->event)
        return i + 1;
    for (int v = 0; v < e->var_count; v++)
        value[v] = w->slot[e->slot[v]].i;
    o->event(o->event_ctx, (int)(w - w->run->workers), w->block, i->a, value);
    return i + 1;
}

// ---- T.Parallel ----------------------------------------------------------

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t extent_of(const Worker *w, const Space *s, int d)
{
    return d < 0 ? 1 : w->slot[s->extent[d]].i;
}

// Whole rows as long as they fit, else a part of one.
static void cut_chunk(Worker *w, const Space *s)
{
    int64_t cols = extent_of(w, s, s->rank - 1);
    int64_t rows = extent_of(w, s, s->rank - 2);
    int64_t part = smaller(cols - w->col0, CODE_LANES);

    w->cols = (int)part;
    w->rows =
        part == cols ? (int)smaller(rows - w->row0, CODE_LANES / cols) : 1;
    w->n = w->rows * w->cols;
}

// 1: some iterations, 0: none, -1: more than can be meant.
static int space_size(const Worker *w, const Space *s)
{
    int64_t total = 1;

    for (int d = 0; d < s->rank; d++) {
        int64_t e = extent_of(w, s, d);

        if (e <= 0)
            return 0;
        if (e > INT32_MAX || __builtin_mul_overflow(total, e, &total) ||
            total > (int64_t)1 << 48)
            return -1;
    }
    return 1;
}

const Instr *exec_PAR(Worker *w, const Instr *i)
{
    const Space *s = &w->code->space[i->a];
    int size = space_size(w, s);

    if (size < 0)
        report(w, s->site, 1, 0, 0, 0);
    if (size <= 0)
        return i + i->b;
    for (int d = 0; d < s->rank - 2; d++)
        w->slot[s->coord[d]].i = 0;
    w->row0 = w->col0 = 0;
    cut_chunk(w, s);
    return i + 1;
}

// The next value of the outer coordinates; false after the last.
static bool next_outer(Worker *w, const Space *s)
{
    for (int d = s->rank - 3; d >= 0; d--) {
        if (++w->slot[s->coord[d]].i < extent_of(w, s, d))
            return true;
        w->slot[s->coord[d]].i = 0;
    }
    return false;
}

const Instr *exec_PARNEXT(Worker *w, const Instr *i)
{
    const Space *s = &w->code->space[i->a];

    w->col0 += w->cols;
    if (w->col0 >= extent_of(w, s, s->rank - 1)) {
        w->col0 = 0;
        w->row0 += w->rows;
        if (w->row0 >= extent_of(w, s, s->rank - 2)) {
            w->row0 = 0;
            if (!next_outer(w, s))
                return i + 1;
        }
    }
    if (!jumped(w))
        return NULL;
    cut_chunk(w, s);
    return i + i->b;
}
