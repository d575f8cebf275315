// shadow.c - values that were never written, followed through registers.
//
// Every instruction gives its result the shadow of its operands. Only lanes
// that are dirty cost something: a register is skipped by its `dirty` flag, a
// tile by its count. Where several origins meet the first operand's stays.
// Masks, branches and indices are where a missing value does harm, and so is
// an output: there it is noted. Selecting another value, and-ing with 0 and
// multiplying an integer by 0 end it.
#include "check/check_int.h"

#include <string.h>

CheckWorker *worker_of_step(const Check *k, const InterpStep *s)
{
    return k->code->launch[s->launch].grid_sync ? &k->grid[s->block]
                                                : &k->workers[s->worker];
}

Shadows *lanes_file(Check *k, const InterpStep *s)
{
    CheckWorker *w = worker_of_step(k, s);

    return s->warp < 0 ? &w->home : &w->warp[s->warp];
}

Shadows *slots_file(Check *k, const InterpStep *s)
{
    CheckWorker *w = worker_of_step(k, s);

    return s->slot_warp < 0 ? &w->home : &w->warp[s->slot_warp];
}

static uint8_t *lanes_of(Check *k, const InterpStep *s, int reg)
{
    Shadows *f = lanes_file(k, s);

    return f->lanes + (size_t)reg * (size_t)f->pitch;
}

static bool is_dirty(Check *k, const InterpStep *s, int reg)
{
    return reg >= 0 && lanes_file(k, s)->dirty[reg];
}

static void set_dirty(Check *k, const InterpStep *s, int reg, bool dirty)
{
    lanes_file(k, s)->dirty[reg] = dirty;
}

static int count_of(const InterpStep *s)
{
    return s->instr->flags & INSTR_ROW ? s->rows : s->n;
}

// A register that is not dirty may hold old bytes: they are cleared before the
// register becomes dirty.
static const uint8_t *known_lanes(Check *k, const InterpStep *s, int reg)
{
    uint8_t *at = lanes_of(k, s, reg);

    if (!is_dirty(k, s, reg))
        memset(at, 0, (size_t)lanes_file(k, s)->pitch);
    return at;
}

static const int32_t *mask_at(const InterpStep *s, int reg)
{
    return reg < 0 ? NULL : s->v[reg];
}

// ---- notes by origin -----------------------------------------------------

typedef struct {
    int count[SHADE_ORIGIN + 1], first[SHADE_ORIGIN + 1];
} Origins;

static void add_origin(Origins *o, uint8_t v, int lane)
{
    int i = v & SHADE_ORIGIN;

    if (!o->count[i]++)
        o->first[i] = lane;
}

static void note_origins(Check *k, const InterpStep *s, NoteKind kind,
                         int64_t x, const Origins *o)
{
    for (int i = 1; i <= SHADE_ORIGIN; i++) {
        Note *n;

        if (!o->count[i])
            continue;
        n = note(k, s, kind, (int)x, i - 1, 0);
        if (!n->count)
            n->x[0] = x;
        note_lane(n, s, o->first[i]);
        n->count += o->count[i];
    }
}

static void note_lanes(Check *k, const InterpStep *s, NoteKind kind, int64_t x,
                       const uint8_t *lanes, const int32_t *mask, int n)
{
    Origins o = {0};

    for (int i = 0; i < n; i++)
        if (lanes[i] && (!mask || mask[i]))
            add_origin(&o, lanes[i], i);
    note_origins(k, s, kind, x, &o);
}

static void note_one(Check *k, const InterpStep *s, NoteKind kind, int64_t x,
                     uint8_t v)
{
    Note *n;

    if (!v)
        return;
    n = note(k, s, kind, (int)x, (v & SHADE_ORIGIN) - 1, 0);
    if (!n->count)
        n->x[0] = x;
    n->count++;
}

// Loaded lanes become values: those never written are noted.
static void settle_read(Check *k, const InterpStep *s, uint8_t *lanes, int n)
{
    Origins o = {0};
    bool some = false;

    for (int i = 0; i < n; i++) {
        if (lanes[i] & SHADE_NEVER) {
            add_origin(&o, lanes[i], i);
            some = true;
        }
        lanes[i] &= SHADE_ORIGIN;
    }
    if (some)
        note_origins(k, s, NOTE_READ, -1, &o);
}

uint8_t origin_of_read(Check *k, const InterpStep *s, uint8_t v, int lane)
{
    if (v & SHADE_NEVER) {
        Note *n = note(k, s, NOTE_READ, -1, (v & SHADE_ORIGIN) - 1, 0);

        note_lane(n, s, lane);
        n->count++;
    }
    return v & SHADE_ORIGIN;
}

// ---- scalars -------------------------------------------------------------

static uint8_t slot_of(Check *k, const InterpStep *s, int slot)
{
    return slot < 0 ? 0 : slots_file(k, s)->slot[slot];
}

static void set_slot(Check *k, const InterpStep *s, int slot, uint8_t v)
{
    slots_file(k, s)->slot[slot] = v;
}

// What the first operand brings along stays, but a missing value counts more
// than one that wrapped.
static uint8_t meet(const Check *k, uint8_t a, uint8_t b)
{
    return !a || (b && is_wrap_origin(k, a) && !is_wrap_origin(k, b)) ? b : a;
}

static bool ends_at_zero(const InterpStep *s, LaneOp op)
{
    bool whole = s->instr->type != LANE_F32 && s->instr->type != LANE_F64;

    return op == LANE_OP_AND || (op == LANE_OP_MUL && whole);
}

// One of two operands is clean and decides the result by itself.
static bool is_decided(const InterpStep *s, LaneOp op, int64_t clean)
{
    return (ends_at_zero(s, op) && clean == 0) ||
           (op == LANE_OP_OR && (clean == 1 || clean == -1));
}

static void flow_op(Check *k, const InterpStep *s)
{
    const Instr *i = s->instr;
    LaneOp op = (LaneOp)i->lane;
    uint8_t a = slot_of(k, s, i->a), b = slot_of(k, s, i->b);
    uint8_t c = slot_of(k, s, i->c), v = meet(k, meet(k, a, b), c);

    if (v && op == LANE_OP_SELECT)
        v = a ? a : s->slot[i->a].i ? b : c;
    else if (v && i->b >= 0 && (!a || !b) &&
             is_decided(s, op, s->slot[a ? i->b : i->a].i))
        v = 0;
    set_slot(k, s, i->d, v);
}

static void flow_slot_copy(Check *k, const InterpStep *s)
{
    set_slot(k, s, s->instr->d, slot_of(k, s, s->instr->a));
}

static void flow_affine(Check *k, const InterpStep *s)
{
    const Affine *f = &k->code->affine[s->instr->a];
    uint8_t v = 0;

    for (int t = 0; t < f->count && !v; t++)
        v = slot_of(k, s, f->term[t].slot);
    set_slot(k, s, s->instr->d, v);
}

static void note_address(Check *k, const InterpStep *s, const Access *a,
                         const int32_t *mask)
{
    for (int d = 0; d < a->rank; d++) {
        note_one(k, s, NOTE_ADDRESS, -1, slot_of(k, s, a->dim[d].slot));
        if (is_dirty(k, s, a->dim[d].lanes))
            note_lanes(k, s, NOTE_ADDRESS, -1,
                       lanes_of(k, s, a->dim[d].lanes), mask, count_of(s));
    }
}

static void flow_load(Check *k, const InterpStep *s)
{
    const Access *a = &k->code->access[s->instr->a];
    int64_t at;
    uint8_t v = 0;

    note_address(k, s, a, NULL);
    if (interp_touch_one(s, a, &at))
        v = origin_of_read(k, s, shade_get(k, s, a->buffer, at), 0);
    set_slot(k, s, s->instr->d, v);
}

static bool is_output(const Check *k, int buffer)
{
    int root = k->code->buffer[buffer].root;

    return k->code->buffer[root].place == BUFFER_PARAM;
}

static void note_stored(Check *k, const InterpStep *s, int buffer,
                        const uint8_t *lanes, const int32_t *mask, int n)
{
    note_lanes(k, s, is_output(k, buffer) ? NOTE_OUTPUT : NOTE_FLOW,
               k->code->buffer[buffer].root, lanes, mask, n);
}

static void flow_store(Check *k, const InterpStep *s)
{
    const Access *a = &k->code->access[s->instr->a];
    uint8_t v = slot_of(k, s, s->instr->b);
    int64_t at;

    note_address(k, s, a, NULL);
    if (!interp_touch_one(s, a, &at))
        return;
    if (v)
        note_stored(k, s, a->buffer, &v, NULL, 1);
    shade_put(k, s, a->buffer, at, v);
}

static void flow_branch(Check *k, const InterpStep *s)
{
    const Instr *i = s->instr;

    if (i->op != INSTR_JUMPZ)
        note_one(k, s, NOTE_BRANCH, -1, slot_of(k, s, i->d));
    note_one(k, s, NOTE_BRANCH, -1, slot_of(k, s, i->a));
}

static void flow_par(Check *k, const InterpStep *s)
{
    const Space *p = &k->code->space[s->instr->a];

    for (int d = 0; d < p->rank; d++)
        note_one(k, s, NOTE_BRANCH, -1, slot_of(k, s, p->extent[d]));
}

static void flow_alloc(Check *k, const InterpStep *s)
{
    for (int b = s->instr->a; b >= 0; b = k->code->buffer[b].copy) {
        int root = k->code->buffer[b].root;

        shade_fill(shade_of(k, s, root), k->tracing ? 0 : never_written(root));
    }
}

// ---- vectors -------------------------------------------------------------

static int64_t value_of_lane(const InterpStep *s, int reg, int lane)
{
    if (lane_bytes((LaneType)s->instr->type) == 8)
        return ((const int64_t *)s->v[reg])[lane];
    return ((const int32_t *)s->v[reg])[lane];
}

static uint8_t lane_result(const Check *k, const InterpStep *s, uint8_t a,
                           uint8_t b, uint8_t c, int lane)
{
    const Instr *i = s->instr;
    LaneOp op = (LaneOp)i->lane;

    if (op == LANE_OP_SELECT)
        return a ? a : ((const int32_t *)s->v[i->a])[lane] ? b : c;
    if (i->b >= 0 && (!a || !b) && (a || b) &&
        is_decided(s, op, value_of_lane(s, a ? i->b : i->a, lane)))
        return 0;
    return meet(k, meet(k, a, b), c);
}

static void flow_vop(Check *k, const InterpStep *s)
{
    const Instr *i = s->instr;
    const uint8_t *a, *b, *c;
    uint8_t *d, any = 0;
    int n = count_of(s);

    if (!is_dirty(k, s, i->a) && !is_dirty(k, s, i->b) &&
        !is_dirty(k, s, i->c)) {
        set_dirty(k, s, i->d, false);
        return;
    }
    a = known_lanes(k, s, i->a);
    b = i->b < 0 ? NULL : known_lanes(k, s, i->b);
    c = i->c < 0 ? NULL : known_lanes(k, s, i->c);
    d = lanes_of(k, s, i->d);
    for (int j = 0; j < n; j++) {
        uint8_t v = lane_result(k, s, a[j], b ? b[j] : 0,
                                c ? c[j] : 0, j);

        d[j] = v;
        any |= v;
    }
    set_dirty(k, s, i->d, any != 0);
}

static void flow_copy(Check *k, const InterpStep *s)
{
    const Instr *i = s->instr;
    bool dirty = is_dirty(k, s, i->a);

    if (dirty && i->a != i->d)
        memcpy(lanes_of(k, s, i->d), lanes_of(k, s, i->a),
               (size_t)count_of(s));
    set_dirty(k, s, i->d, dirty);
}

// From a slot: VFILL before the loop (b > 0) and VAFFINE.
static void flow_fill(Check *k, const InterpStep *s)
{
    uint8_t v = slot_of(k, s, s->instr->a);

    if (v)
        memset(lanes_of(k, s, s->instr->d), v,
               (size_t)lanes_file(k, s)->pitch);
    set_dirty(k, s, s->instr->d, v != 0);
}

static void flow_expand(Check *k, const InterpStep *s)
{
    const Instr *i = s->instr;
    bool dirty = is_dirty(k, s, i->a);
    const uint8_t *from = lanes_of(k, s, i->a);
    uint8_t *to = lanes_of(k, s, i->d);

    for (int r = 0; dirty && r < s->rows; r++)
        memset(to + (size_t)r * (size_t)s->cols, from[r], (size_t)s->cols);
    set_dirty(k, s, i->d, dirty);
}

static void flow_vload(Check *k, const InterpStep *s)
{
    const Instr *i = s->instr;
    const Access *a = &k->code->access[i->a];
    const int32_t *mask = mask_at(s, i->b);
    uint8_t *d = lanes_of(k, s, i->d);
    InterpTouch t;
    bool some = false;

    note_address(k, s, a, mask);
    if (!shade_is_clean(shade_of(k, s, a->buffer))) {
        interp_touch(s, a, i->flags & INSTR_ROW, &t);
        some = shade_read(k, s, &t, mask, d);
    }
    if (some)
        settle_read(k, s, d, count_of(s));
    set_dirty(k, s, i->d, some);
}

// Lanes that a missing value lets in or keeps out.
static void note_mask(Check *k, const InterpStep *s, int mask)
{
    if (is_dirty(k, s, mask))
        note_lanes(k, s, NOTE_BRANCH, -1, lanes_of(k, s, mask), NULL,
                   count_of(s));
}

static void flow_vstore(Check *k, const InterpStep *s)
{
    const Instr *i = s->instr;
    const Access *a = &k->code->access[i->a];
    const int32_t *mask = mask_at(s, i->c);
    const uint8_t *lanes = NULL;
    InterpTouch t;

    note_mask(k, s, i->c);
    note_address(k, s, a, mask);
    if (is_dirty(k, s, i->b)) {
        lanes = lanes_of(k, s, i->b);
        note_stored(k, s, a->buffer, lanes, mask, count_of(s));
    } else if (shade_is_clean(shade_of(k, s, a->buffer))) {
        return;
    }
    interp_touch(s, a, i->flags & INSTR_ROW, &t);
    shade_write(k, s, &t, mask, lanes);
}

static void flow_vatomic(Check *k, const InterpStep *s)
{
    const Instr *i = s->instr;
    const Access *a = &k->code->access[i->a];
    const int32_t *mask = mask_at(s, i->c);
    uint8_t *old = worker_of_step(k, s)->lane;
    const uint8_t *given;
    InterpTouch t;
    bool some = false;

    note_mask(k, s, i->c);
    note_address(k, s, a, mask);
    if (i->d >= 0)
        set_dirty(k, s, i->d, false);
    if (!is_dirty(k, s, i->b) && shade_is_clean(shade_of(k, s, a->buffer)))
        return;
    interp_touch(s, a, false, &t);
    memset(old, 0, (size_t)s->n);
    some = shade_read(k, s, &t, mask, old);
    if (some)
        settle_read(k, s, old, s->n);
    if (i->d >= 0 && some) {
        memcpy(lanes_of(k, s, i->d), old, (size_t)s->n);
        set_dirty(k, s, i->d, true);
    }
    given = known_lanes(k, s, i->b);
    for (int j = 0; j < s->n; j++) {
        old[j] = old[j] ? old[j] : given[j];
        some |= old[j] != 0;
    }
    if (some)
        note_stored(k, s, a->buffer, old, mask, s->n);
    shade_write(k, s, &t, mask, some ? old : NULL);
}

static void flow_clean(Check *k, const InterpStep *s)
{
    if (s->instr->d >= 0)
        set_dirty(k, s, s->instr->d, false);
}

static void flow_check(Check *k, const InterpStep *s)
{
    const Instr *i = s->instr;

    if (i->op == INSTR_CHECK)
        note_one(k, s, NOTE_BRANCH, -1, slot_of(k, s, i->a));
    else if (is_dirty(k, s, i->a))
        note_lanes(k, s, NOTE_BRANCH, -1, lanes_of(k, s, i->a),
                   mask_at(s, i->c), s->n);
}

// ---- the table -----------------------------------------------------------

static FlowFn *const flow[INSTR_COUNT] = {
    [INSTR_OP] = flow_op,           [INSTR_ROUND] = flow_slot_copy,
    [INSTR_CAST] = flow_slot_copy,  [INSTR_BITS] = flow_slot_copy,
    [INSTR_MOV] = flow_slot_copy,   [INSTR_AFFINE] = flow_affine,
    [INSTR_LOAD] = flow_load,       [INSTR_STORE] = flow_store,
    [INSTR_JUMPZ] = flow_branch,    [INSTR_JUMPGE] = flow_branch,
    [INSTR_NEXT] = flow_branch,     [INSTR_CHECK] = flow_check,
    [INSTR_ALLOC] = flow_alloc,     [INSTR_PAR] = flow_par,
    [INSTR_GEMM] = flow_gemm,       [INSTR_REDUCE] = flow_reduce,
    [INSTR_SCAN] = flow_scan,       [INSTR_IM2COL] = flow_im2col,
    [INSTR_EXTERN] = flow_extern,   [INSTR_VEXTERN] = flow_extern,
    [INSTR_VOP] = flow_vop,         [INSTR_VROUND] = flow_copy,
    [INSTR_VCAST] = flow_copy,      [INSTR_VBITS] = flow_copy,
    [INSTR_VMOV] = flow_copy,       [INSTR_VFILL] = flow_fill,
    [INSTR_VAFFINE] = flow_fill,    [INSTR_VEXPAND] = flow_expand,
    [INSTR_VLOAD] = flow_vload,     [INSTR_VSTORE] = flow_vstore,
    [INSTR_VATOMIC] = flow_vatomic, [INSTR_VCHECK] = flow_check,
    [INSTR_VSHUFFLE] = flow_shuffle, [INSTR_VVOTE] = flow_warp,
    [INSTR_VWARP] = flow_warp,      [INSTR_VPHILOX] = flow_clean,
    [INSTR_VRNGSTATE] = flow_clean,
    [INSTR_MEET] = flow_clean,      [INSTR_AGREE] = flow_agree,
    [INSTR_AGREEMEM] = flow_agree,  [INSTR_VFIRST] = flow_agree,
};

void shadow_before(Check *k, const InterpStep *s)
{
    FlowFn *f = flow[s->instr->op];

    if (f)
        f(k, s);
}
