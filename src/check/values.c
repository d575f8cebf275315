// values.c - results that are no numbers: which block stores them first.
//
// Only what goes to a parameter is looked at, so that it costs next to nothing.
// Where such a value begins takes a second run, of that block alone (trace.c).
#include "check/check_int.h"

#include <math.h>
#include <stdlib.h>

static bool is_parameter(const Check *k, int root)
{
    return k->code->buffer[root].place == BUFFER_PARAM;
}

typedef struct {
    int64_t nan, inf;
} Bad;

static void look(Bad *b, LaneType t, const void *lanes, int i)
{
    double v = t == LANE_F64 ? ((const double *)lanes)[i]
                             : (double)((const float *)lanes)[i];

    b->nan += isnan(v) != 0;
    b->inf += isinf(v) != 0;
}

// All bits of an exponent are set: as a loop that the compiler makes short.
static bool some_bad(LaneType t, const void *lanes, int n)
{
    const uint32_t *four = lanes;
    const uint64_t *eight = lanes;
    int bad = 0;

    if (t == LANE_F64) {
        for (int i = 0; i < n; i++)
            bad |= (eight[i] >> 52 & 0x7ff) == 0x7ff;
        return bad;
    }
    for (int i = 0; i < n; i++)
        bad |= (four[i] & 0x7f800000u) == 0x7f800000u;
    return bad;
}

static void note_bad(Check *k, const InterpStep *s, int root, const Bad *b)
{
    if (b->nan)
        note(k, s, NOTE_BAD, 0, root, b->nan);
    if (b->inf)
        note(k, s, NOTE_BAD, 1, root, b->inf);
}

static void look_at_lanes(Check *k, const InterpStep *s, const Access *a,
                          LaneType t)
{
    const Instr *i = s->instr;
    const int32_t *mask = i->c < 0 ? NULL : s->v[i->c];
    int n = i->flags & INSTR_ROW ? s->rows : s->n;
    InterpTouch touch;
    Bad b = {0};

    if (!some_bad(t, s->v[i->b], n))
        return;
    interp_touch(s, a, i->flags & INSTR_ROW, &touch);
    for (int j = 0; j < n; j++)
        if ((!mask || mask[j]) && (!touch.offset || touch.inside[j]))
            look(&b, t, s->v[i->b], j);
    note_bad(k, s, root_of_buffer(k->code, a->buffer), &b);
}

void values_before(Check *k, const InterpStep *s)
{
    const Instr *i = s->instr;
    const Access *a;
    LaneType t;
    Bad b = {0};

    if (i->op != INSTR_VSTORE && i->op != INSTR_STORE &&
        i->op != INSTR_VATOMIC)
        return;
    a = &k->code->access[i->a];
    t = lane_type_of(k->code->buffer[a->buffer].dtype);
    if ((t != LANE_F32 && t != LANE_F64) ||
        !is_parameter(k, root_of_buffer(k->code, a->buffer)))
        return;
    if (i->op != INSTR_STORE) {
        look_at_lanes(k, s, a, t);
        return;
    }
    look(&b, t, &s->slot[i->b], 0);
    note_bad(k, s, root_of_buffer(k->code, a->buffer), &b);
}

// Memory that was never written reads as NaN: where such a value reached an
// output, that is the cause.
static bool is_missing(const Check *k, const Note *notes, int n)
{
    for (int i = 0; i < n; i++)
        if (notes[i].kind == NOTE_OUTPUT &&
            notes[i].buffer < k->code->buffer_count)
            return true;
    return false;
}

bool check_target(const Check *k, const InterpResult *r, CheckTarget *out)
{
    Note *notes;
    int n = merge_notes(k, &notes);
    const Note *best = NULL;
    bool wanted = k->options.groups >> CHECK_VALUES & 1 &&
                  !is_missing(k, notes, n);

    for (int i = 0; i < n && wanted && !r->cancelled; i++) {
        const Note *x = &notes[i];

        if (x->kind == NOTE_BAD &&
            (!best || x->launch < best->launch ||
             (x->launch == best->launch && x->block < best->block)))
            best = x;
    }
    if (best)
        *out = (CheckTarget){best->launch, best->block};
    free(notes);
    return best != NULL;
}
