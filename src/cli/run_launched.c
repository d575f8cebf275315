// run_launched.c - what a program launched: grids, trips of pipelined loops,
// tiles at ragged edges. JSON only.
#include <stdlib.h>
#include <string.h>

#include "cli/run.h"

enum { MOST_LAUNCHED = 1000 };      // later ones are left out

static bool same(const Launched *a, const KernelObject *k,
                 const InterpResult *run)
{
    size_t known = (size_t)(run->launches < 8 ? run->launches : 8);

    return a->kernel == k && a->launches == (int)known
           && memcmp(a->grid, run->grid, known * sizeof *a->grid) == 0;
}

static Launched *find(Run *r, const KernelObject *k, const InterpResult *run)
{
    for (int i = 0; i < r->launched_count; i++)
        if (same(&r->launched[i], k, run))
            return &r->launched[i];
    if (r->launched_count == MOST_LAUNCHED)
        return NULL;
    r->launched = xrealloc(r->launched, (size_t)r->launched_count + 1,
                           sizeof *r->launched);
    Launched *new = &r->launched[r->launched_count++];
    *new = (Launched){.kernel = k,
                      .launches = run->launches < 8 ? run->launches : 8,
                      .pipeline_count = run->pipeline_count};
    memcpy(new->grid, run->grid, (size_t)new->launches * sizeof *new->grid);
    new->pipelines = xcalloc((size_t)run->pipeline_count + 1,
                             sizeof *new->pipelines);
    memcpy(new->pipelines, run->pipelines,
           (size_t)run->pipeline_count * sizeof *new->pipelines);
    return new;
}

void run_note_launched(Run *r, const KernelObject *k, const InterpResult *run)
{
    if (!r->s.cli->json || !run->launches)
        return;
    Launched *l = find(r, k, run);
    if (!l)
        return;
    l->ragged |= run->ragged;
    for (int i = 0; i < l->pipeline_count; i++)
        if (l->pipelines[i].trips < run->pipelines[i].trips)
            l->pipelines[i].trips = run->pipelines[i].trips;
}

// How many sizes each T.Kernel gives its grid.
typedef struct {
    int rank[8], count;
} Ranks;

static bool note_rank(void *ctx, IrStmt *s)
{
    Ranks *r = ctx;

    if (s->kind == STMT_LAUNCH && r->count < 8)
        r->rank[r->count++] = s->var_count;
    return s->kind != STMT_LAUNCH;
}

static void put_grids(Json *j, const Launched *l)
{
    Ranks r = {0};

    ir_walk(l->kernel->ir->body, note_rank, NULL, &r);
    json_key(j, TEXT("grids"));
    json_begin_array(j);
    for (int i = 0; i < l->launches; i++) {
        json_begin_array(j);
        for (int d = 0; d < (i < r.count ? r.rank[i] : 3); d++)
            json_int(j, l->grid[i][d]);
        json_end_array(j);
    }
    json_end_array(j);
}

static void put_pipelines(Json *j, const Run *r, const Launched *l)
{
    json_key(j, TEXT("pipelined"));
    json_begin_array(j);
    for (int i = 0; i < l->pipeline_count; i++) {
        json_begin_object(j);
        json_key(j, TEXT("loop"));
        json_text(j, l->pipelines[i].name);
        report_json_place(j, r->s.cli, l->pipelines[i].at);
        json_key(j, TEXT("trips"));
        json_int(j, l->pipelines[i].trips);
        json_end_object(j);
    }
    json_end_array(j);
}

void run_json_launched(Run *r)
{
    Json *j = &r->json;

    json_key(j, TEXT("checks"));
    json_int(j, r->s.host ? lang_checks(r->s.host->lang) : 0);
    json_key(j, TEXT("launched"));
    json_begin_array(j);
    for (int i = 0; i < r->launched_count; i++) {
        const Launched *l = &r->launched[i];

        json_begin_object(j);
        report_json_kernel(j, r->s.cli, l->kernel);
        put_grids(j, l);
        json_key(j, TEXT("ragged"));
        json_bool(j, l->ragged);
        put_pipelines(j, r, l);
        json_end_object(j);
        free(l->pipelines);
    }
    json_end_array(j);
    free(r->launched);
}
