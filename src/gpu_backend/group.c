// group.c - code that part of a block's threads execute together.
//
// Inside, `tid` and `warp` count the group's own threads, so that loops, tables
// and products are dealt out among these as elsewhere among the block's.
#include "gpu_backend/emit_int.h"

const PlanGroup *group_of_branch(const Emit *e, const IrStmt *branch)
{
    const PlanLaunch *l = e->launch;

    for (int i = 1; branch && i < l->group_count; i++)
        if (l->groups[i].branch == branch)
            return &l->groups[i];
    return NULL;
}

static void number_threads(Emit *e, const PlanGroup *g)
{
    const char *const *t = e->dialect->thread;
    const int64_t *n = e->launch->stmt->threads;
    Text all = text_of(t[0]);

    if (g->first % e->lanes && g->threads > 1)
        refuse(e, "a tile operation of threads %d to %d", g->first,
               g->first + g->threads - 1);
    if (n[1] * n[2] > 1)
        all = text_format(e->arena, "%s + %lld * (%s + %lld * %s)", t[0],
                          (long long)n[0], t[1], (long long)n[1], t[2]);
    if (g->first)
        all = text_format(e->arena, "(int)(%.*s) - %d", TEXT_ARG(all),
                          g->first);
    line(e, "const int tid = %.*s, warp = tid / %d;", TEXT_ARG(all), e->lanes);
    line(e, "(void)tid, (void)warp;");
}

void group_block(Emit *e, IrStmt *branch)
{
    const PlanGroup *g = group_of_branch(e, branch);
    int group = e->group, threads = e->threads, divergent = e->divergent;

    if (g && !e->dist) {
        e->group = (int)(g - e->launch->groups);
        e->threads = g->threads;
        e->divergent = 0;
        number_threads(e, g);
    }
    block(e, branch);
    e->group = group;
    e->threads = threads;
    e->divergent = divergent;
}
