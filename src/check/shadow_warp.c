// shadow_warp.c - shadows of what threads do with one another, and of calls.
//
// Where a lane's value comes from other lanes, the shadow follows only when
// that is certain; else the result counts as written.
#include "check/check_int.h"

#include <string.h>

static void set_clean(Check *k, const InterpStep *s, int reg)
{
    lanes_file(k, s)->dirty[reg] = false;
}

static uint8_t *lanes_at(Shadows *f, int reg)
{
    return f->lanes + (size_t)reg * (size_t)f->pitch;
}

// Votes and reductions over the active lanes: one that is missing spoils all.
void flow_warp(Check *k, const InterpStep *s)
{
    const Instr *i = s->instr;
    Shadows *f = lanes_file(k, s);
    const int32_t *mask = i->c < 0 ? NULL : s->v[i->c];
    uint8_t v = 0;

    for (int j = 0; f->dirty[i->a] && j < s->n && !v; j++)
        if (!mask || mask[j])
            v = lanes_at(f, i->a)[j];
    if (v)
        memset(lanes_at(f, i->d), v, (size_t)s->n);
    f->dirty[i->d] = v != 0;
}

// The source of each lane depends on values: not followed.
void flow_shuffle(Check *k, const InterpStep *s)
{
    set_clean(k, s, s->instr->d);
}

void flow_agree(Check *k, const InterpStep *s)
{
    slots_file(k, s)->slot[s->instr->d] = 0;
}

// A C function may write what it is given pointers to.
void flow_extern(Check *k, const InterpStep *s)
{
    const Instr *i = s->instr;
    const Native *n = &k->code->native[i->a];

    for (int j = 0; j < n->count; j++) {
        Shade *m;

        if (n->arg[j].access < 0)
            continue;
        m = shade_of(k, s, k->code->access[n->arg[j].access].buffer);
        shade_fill(m, 0);
    }
    if (i->d < 0)
        return;
    if (i->op == INSTR_EXTERN)
        slots_file(k, s)->slot[i->d] = 0;
    else
        set_clean(k, s, i->d);
}
