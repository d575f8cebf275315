// outputs.c - who stores what to global memory.
//
// Blocks of a launch can store to the same element only where code saw a
// reason to run them in order (Launch.ordered). There an element remembers the
// block that stored it last; a later block that stores something else makes
// the result depend on which comes first. Per-thread code may order its blocks
// by itself, with atomics: its launches are not looked at, nor are those that
// have atomics on global memory, which may be locks.
#include "check/check_int.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OWNED = 1 << 25 };      // elements of a tensor: 256 MiB

static bool blocks_may_meet(const Check *k, int launch)
{
    const Launch *l = &k->code->launch[launch];

    return l->ordered && !l->per_thread && !l->grid_sync;
}

static void clear_owners(Owners *o, int64_t n)
{
    memset(o->block, 0, (size_t)n * sizeof *o->block);
}

static bool has_atomics(const Check *k, int launch)
{
    const Code *c = k->code;
    const InstrList *body = &c->launch[launch].body;

    for (int i = 0; i < body->len; i++) {
        const Instr *in = &body->code[i];
        bool scalar = in->op == INSTR_LOAD || in->op == INSTR_STORE;
        const Access *a =
            scalar || in->op == INSTR_VATOMIC ? &c->access[in->a] : NULL;

        if (a && (!scalar || a->atomic) &&
            c->buffer[root_of_buffer(c, a->buffer)].place != BUFFER_SCRATCH)
            return true;
    }
    return false;
}

// The parameters that this launch stores to get room for their owners.
void outputs_launch(Check *k, const InterpStep *s)
{
    const InstrList *body = &k->code->launch[s->launch].body;

    k->owned = -1;
    if (!blocks_may_meet(k, s->launch) || has_atomics(k, s->launch))
        return;
    k->owned = s->launch;
    for (int i = 0; i < body->len; i++) {
        const Instr *in = &body->code[i];
        int root;
        Owners *o;

        if (in->op != INSTR_VSTORE && in->op != INSTR_STORE)
            continue;
        root = root_of_buffer(k->code, k->code->access[in->a].buffer);
        o = &k->owners[root];
        if (!k->global[root].at)
            continue;
        if (k->elements[root] > MOST_OWNED) {
            if (k->options.groups >> CHECK_OUTPUTS & 1)
                k->limit = (CheckLimit){true, s->launch, root,
                                        k->elements[root]};
            continue;
        }
        if (!o->block) {
            o->block = xcalloc((size_t)k->elements[root] + 1, sizeof *o->block);
            o->pc = xcalloc((size_t)k->elements[root] + 1, sizeof *o->pc);
        }
        clear_owners(o, k->elements[root]);
    }
}

static void own(Check *k, const InterpStep *s, Owners *o, int root, int64_t at,
                bool differs, int lane)
{
    int32_t block = (int32_t)(s->block + 1);

    if (at < 0 || at >= k->elements[root])
        return;
    if (o->block[at] && o->block[at] != block && differs) {
        Note *n = note(k, s, NOTE_CONFLICT, o->pc[at], root, 0);

        if (!n->count)
            n->x[0] = o->block[at] - 1;
        note_lane(n, s, lane);
        n->count++;
    }
    o->block[at] = block;
    o->pc[at] = s->pc;
}

static Owners *owners_of(Check *k, int buffer, int *root)
{
    *root = root_of_buffer(k->code, buffer);
    return *root == buffer && k->owners[*root].block ? &k->owners[*root] : NULL;
}

static void own_one(Check *k, const InterpStep *s)
{
    const Access *a = &k->code->access[s->instr->a];
    uint64_t old = 0;
    int64_t at;
    int root;
    Owners *o = owners_of(k, a->buffer, &root);
    size_t lane =
        lane_bytes(lane_type_of(k->code->buffer[a->buffer].dtype));

    if (!o || !interp_touch_one(s, a, &at))
        return;
    interp_read(s, a->buffer, at, 1, &old);
    own(k, s, o, root, at, memcmp(&old, &s->slot[s->instr->b], lane) != 0, 0);
}

static void own_lanes(Check *k, const InterpStep *s)
{
    const Instr *i = s->instr;
    const Access *a = &k->code->access[i->a];
    const int32_t *mask = i->c < 0 ? NULL : s->v[i->c];
    size_t lane =
        lane_bytes(lane_type_of(k->code->buffer[a->buffer].dtype));
    int root;
    Owners *o = owners_of(k, a->buffer, &root);
    InterpTouch t;

    if (!o)
        return;
    interp_touch(s, a, i->flags & INSTR_ROW, &t);
    for (int j = 0; j < t.rows * t.cols; j++) {
        uint64_t old = 0;
        int64_t at = t.offset ? t.offset[j]
                              : t.at + j / t.cols * t.sr + j % t.cols * t.sc;

        if ((mask && !mask[j]) || (t.offset && !t.inside[j]))
            continue;
        interp_read(s, a->buffer, at, 1, &old);
        own(k, s, o, root, at,
            memcmp(&old, (char *)s->v[i->b] + (size_t)j * lane, lane) != 0, j);
    }
}

void outputs_before(Check *k, const InterpStep *s)
{
    if (s->launch != k->owned)
        return;
    if (s->instr->op == INSTR_STORE)
        own_one(k, s);
    else if (s->instr->op == INSTR_VSTORE)
        own_lanes(k, s);
}
