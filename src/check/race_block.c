// race_block.c - blocks that load or update what other blocks of their launch
// store.
//
// Nothing orders the blocks of a launch: a load sees what was there before, or
// what the other block stores, and a store undoes the atomics that came before
// it. By element of a tensor that a launch both stores and loads or updates,
// the block that stored it and the one that loaded or updated it. A launch of
// single threads, or one that sees what its atomics did, may order its blocks
// by itself and is not looked at; stores against stores are outputs.c's.
#include "check/check_int.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ELEMENTS = 1 << 24 };   // of a tensor: 256 MiB

struct BlockTouch {
    int32_t store, load;            // or update; 1 + block; load -1: several
    int32_t store_pc, load_pc;
};

static bool is_load(const Instr *i)
{
    return i->op == INSTR_VLOAD || i->op == INSTR_LOAD;
}

static bool is_store(const Instr *i)
{
    return i->op == INSTR_VSTORE || i->op == INSTR_STORE;
}

static bool is_update(const Instr *i)
{
    return i->op == INSTR_VATOMIC;
}

static bool is_global(const Check *k, int buffer)
{
    BufferPlace p = k->code->buffer[root_of_buffer(k->code, buffer)].place;

    return p == BUFFER_PARAM || p == BUFFER_WORKSPACE;
}

enum { USE_LOADS = 1, USE_STORES = 2, USE_UPDATES = 4 };

// What this launch does to each root. False: one block may wait for another,
// since it sees what an atomic found, or loads what atomics or, where there
// are any, stores have left.
static bool find_uses(const Check *k, int launch, uint8_t *uses)
{
    const InstrList *body = &k->code->launch[launch].body;
    bool updates = false;

    for (int i = 0; i < body->len; i++) {
        const Instr *in = &body->code[i];

        if (!is_load(in) && !is_store(in) && !is_update(in))
            continue;
        const Access *a = &k->code->access[in->a];
        if (!is_global(k, a->buffer))
            continue;
        if (a->atomic || (is_update(in) && in->d >= 0))
            return false;
        updates |= is_update(in);
        uses[root_of_buffer(k->code, a->buffer)] |=
            is_load(in) ? USE_LOADS : is_store(in) ? USE_STORES : USE_UPDATES;
    }
    for (int i = 0; updates && i < k->code->buffer_count; i++)
        if (uses[i] & USE_LOADS && uses[i] != USE_LOADS)
            return false;
    return true;
}

static bool may_meet(const Check *k, int launch)
{
    const Launch *l = &k->code->launch[launch];

    return l->ordered && !l->per_thread && !l->grid_sync;
}

void race_block_launch(Check *k, const InterpStep *s)
{
    int n = k->code->buffer_count;
    uint8_t *uses = xcalloc((size_t)n + 1, sizeof *uses);
    bool looks = may_meet(k, s->launch) && find_uses(k, s->launch, uses);

    for (int i = 0; i < n; i++) {
        free(k->touch[i]);
        k->touch[i] = NULL;
        if (!looks || !(uses[i] & USE_STORES) || uses[i] == USE_STORES ||
            k->elements[i] <= 0)
            continue;
        if (k->elements[i] > MOST_ELEMENTS)
            k->limit = (CheckLimit){true, s->launch, i, k->elements[i]};
        else
            k->touch[i] = xcalloc((size_t)k->elements[i], sizeof **k->touch);
    }
    free(uses);
}

static void tell(Check *k, const InterpStep *s, int root, int other_pc,
                 int other, int lane)
{
    Note *n = note(k, s, NOTE_RACE_BLOCKS, other_pc, root, 0);

    if (!n->count)
        n->x[0] = other < 0 ? -1 : other - 1;
    note_lane(n, s, lane);
    n->count++;
}

static void touch(Check *k, const InterpStep *s, int root, int64_t at,
                  int lane)
{
    BlockTouch *t = &k->touch[root][at];
    int32_t me = (int32_t)(s->block + 1);

    if (at < 0 || at >= k->elements[root])
        return;
    if (is_store(s->instr)) {
        if (t->load && t->load != me)
            tell(k, s, root, t->load_pc, t->load, lane);
        t->store = me;
        t->store_pc = s->pc;
        return;
    }
    if (t->store && t->store != me)
        tell(k, s, root, t->store_pc, t->store, lane);
    t->load = !t->load || t->load == me ? me : -1;
    t->load_pc = s->pc;
}

static void touch_lanes(Check *k, const InterpStep *s, int root,
                        const Access *a)
{
    int reg = is_load(s->instr) ? s->instr->b : s->instr->c;
    const int32_t *mask = reg < 0 ? NULL : s->v[reg];
    InterpTouch t;

    interp_touch(s, a, s->instr->flags & INSTR_ROW, &t);
    for (int j = 0; j < t.rows * t.cols; j++)
        if ((!mask || mask[j]) && (!t.offset || t.inside[j]))
            touch(k, s, root,
                  t.offset ? t.offset[j]
                           : t.at + j / t.cols * t.sr + j % t.cols * t.sc, j);
}

void race_block_before(Check *k, const InterpStep *s)
{
    const Access *a;
    int64_t at;

    if (!is_load(s->instr) && !is_store(s->instr) && !is_update(s->instr))
        return;
    a = &k->code->access[s->instr->a];
    if (!k->touch[root_of_buffer(k->code, a->buffer)]
        || a->buffer != root_of_buffer(k->code, a->buffer))
        return;
    if (s->instr->op != INSTR_LOAD && s->instr->op != INSTR_STORE)
        touch_lanes(k, s, a->buffer, a);
    else if (interp_touch_one(s, a, &at))
        touch(k, s, a->buffer, at, 0);
}
