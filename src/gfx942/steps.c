// steps.c - records what the waves of the first workgroups execute, and asks
// the model of a compute unit how long that takes.
#include <stdlib.h>

#include "gfx942/wave_int.h"

enum {
    MOST_STEPS = 1 << 20,                       // of a wave: 8 MiB
    ROUNDS = 4,
};

static int64_t sectors(const Group *g)
{
    return g->count[COUNT_LOAD_SECTORS] + g->count[COUNT_STORE_SECTORS];
}

static uint16_t small(int64_t n)
{
    return n > UINT16_MAX ? UINT16_MAX : (uint16_t)n;
}

StepsBefore steps_before(const Wave *w)
{
    const Group *g = w->group;
    return (StepsBefore){w->pc, g->count[COUNT_IDX_ACTIVE], sectors(g)};
}

void steps_add(Wave *w, const StepsBefore *b)
{
    const Group *g = w->group;
    GfxTrace *t = &g->run->traces[g->block * g->wave_count + w->id];
    if (t->len == MOST_STEPS) {
        t->cut = true;
        return;
    }
    if (t->len == t->room) {
        t->room = t->room ? 2 * t->room : 4096;
        t->at = xrealloc(t->at, t->room, sizeof *t->at);
    }
    t->at[t->len++] = (GfxStep){
        .pc = b->pc, .lds = small(g->count[COUNT_IDX_ACTIVE] - b->lds),
        .sectors = small(sectors(g) - b->sectors)};
}

void steps_open(Arena *a, Run *run)
{
    int waves = (int)((run->threads + LANES - 1) / LANES);
    run->traced = run->launch->resident < run->blocks ? run->launch->resident
                                                      : (int)run->blocks;
    if (run->traced)
        run->traces = new_array(a, GfxTrace, run->traced * waves);
}

void steps_close(Arena *a, Run *run, GfxCycles *out)
{
    int waves = (int)((run->threads + LANES - 1) / LANES);
    if (!run->traced)
        return;
    gfx_cycles(a, run->launch->object, run->traces, run->traced, waves,
               ROUNDS, out);
    for (int i = 0; i < run->traced * waves; i++)
        free(run->traces[i].at);
}
