// bounds.c - indices that only the guard of the access saves.
//
// Past a tensor's end an index that moves with the loop is a ragged tile:
// silent, or a note where that was asked for. A negative one is a finding, and
// so is a number that was loaded from memory and lies outside. A tile copy
// guards its tile in the block's memory as well: there both ends are findings.
// Other accesses of such memory interp reports itself.
#include "check/check_int.h"

// Which instructions touch memory, and where their mask is.
static bool access_of(const Check *k, const InterpStep *s, const Access **a,
                      int *mask)
{
    const Instr *i = s->instr;

    *mask = -1;
    switch ((InstrOp)i->op) {
    case INSTR_VLOAD:
        *mask = i->b;
        break;
    case INSTR_VSTORE:
    case INSTR_VATOMIC:
        *mask = i->c;
        break;
    case INSTR_LOAD:
    case INSTR_STORE:
        break;
    default:
        return false;
    }
    *a = &k->code->access[i->a];
    return true;
}

static bool is_global(const Check *k, int buffer)
{
    BufferPlace p = k->code->buffer[root_of_buffer(k->code, buffer)].place;

    return p == BUFFER_PARAM || p == BUFFER_WORKSPACE || p == BUFFER_POINTED;
}

static bool is_scalar(const InterpStep *s)
{
    return s->instr->op == INSTR_LOAD || s->instr->op == INSTR_STORE;
}

static bool is_too_large(const Access *a, int d, int64_t at)
{
    return at > INT32_MAX && !(a->wide >> d & 1);
}

// Tile copies test their indices themselves.
static bool is_unguarded(const Check *k, const Access *a, int d)
{
    return k->options.unguarded && !(a->clipped >> d & 1);
}

// What an index is, or NOTE_NONE.
static NoteKind judge(const Check *k, const Access *a, int d, int64_t at,
                      int64_t extent)
{
    bool outside = at < 0 || at >= extent;

    if (!is_global(k, a->buffer))
        return outside && a->clipped >> d & 1 ? NOTE_INDEX : NOTE_NONE;
    if (is_too_large(a, d, at))
        return NOTE_OVERFLOW;
    if (at < 0 || (outside && a->loaded >> d & 1) ||
        (outside && is_unguarded(k, a, d)))
        return NOTE_INDEX;
    return outside && k->options.tails ? NOTE_TAIL : NOTE_NONE;
}

static void check_index(Check *k, const InterpStep *s, const Access *a, int d,
                        int lane, int64_t at, int64_t extent)
{
    NoteKind kind = judge(k, a, d, at, extent);
    Note *n;

    if (kind == NOTE_NONE)
        return;
    n = note(k, s, kind, d, a->buffer, 0);
    if (!n->count) {
        n->x[0] = d;
        n->x[1] = at;
        n->x[2] = extent;
    }
    if (!is_scalar(s))
        note_lane(n, s, lane);
    n->count++;
}

// The least or the greatest index of a dimension without lanes of its own.
static int64_t extreme(const InterpStep *s, const AccessDim *dim, int sign)
{
    int64_t at = s->slot[dim->slot].i + dim->row * s->row0 +
                 dim->col * s->col0;

    at += dim->row * sign > 0 ? dim->row * (s->rows - 1) : 0;
    return at + (dim->col * sign > 0 ? dim->col * (s->cols - 1) : 0);
}

static void check_lanes(Check *k, const InterpStep *s, const Access *a, int d,
                        int mask)
{
    const int32_t *active = mask < 0 ? NULL : s->v[mask];
    int64_t extent = interp_extent(s, a->buffer, d);
    bool by_row = s->instr->flags & INSTR_ROW;
    bool global = is_global(k, a->buffer);
    int n = by_row ? s->rows : s->n;

    if (a->dim[d].lanes < 0 && !(a->loaded >> d & 1)) {
        int64_t most = extreme(s, &a->dim[d], 1);

        if (extreme(s, &a->dim[d], -1) >= 0 && most <= INT32_MAX &&
            (most < extent || (global && !k->options.tails &&
                               !is_unguarded(k, a, d))))
            return;
    }
    for (int j = 0; j < n; j++) {
        if (active && !active[j])
            continue;
        check_index(k, s, a, d, j, interp_index(s, a, by_row, d, j), extent);
    }
}

void bounds_before(Check *k, const InterpStep *s)
{
    const Access *a;
    int mask;

    if (!access_of(k, s, &a, &mask) || a->kind == ACCESS_FLAT ||
        (!a->clipped && !is_global(k, a->buffer)))
        return;
    for (int d = 0; d < a->rank; d++)
        if (is_scalar(s))
            check_index(k, s, a, d, 0, s->slot[a->dim[d].slot].i,
                        interp_extent(s, a->buffer, d));
        else
            check_lanes(k, s, a, d, mask);
}
