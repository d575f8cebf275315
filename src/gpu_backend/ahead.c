// ahead.c - a loop whose tiles pass through registers (plan/ahead.c).
//
// Tiles of a group are stored to shared memory together, and the loads of the
// next group are started at once: the last group of a trip loads the first one
// of the next trip.
#include "gpu_backend/emit_int.h"

const PlanAhead *ahead_of(const Emit *e, const IrStmt *loop)
{
    for (int i = 0; i < e->launch->ahead_count; i++)
        if (e->launch->aheads[i].loop == loop)
            return &e->launch->aheads[i];
    return NULL;
}

static bool is_ahead_copy(const PlanAhead *a, const IrStmt *s)
{
    for (int i = 0; i < a->count; i++)
        if (a->copies[i].stmt == s)
            return true;
    return false;
}

bool ahead_skips(const Emit *e, const IrStmt *s)
{
    return e->ahead && is_ahead_copy(e->ahead, s);
}

static int group_end(const PlanAhead *a, int first)
{
    int i = first;

    while (i < a->count && a->after[i] == a->after[first])
        i++;
    return i;
}

// ---- loads -----------------------------------------------------------------

// Lets that the copies need.
static void lets(Emit *e, const PlanAhead *a, IrStmt *block)
{
    for (int i = 0; i < block->len && !e->failed; i++) {
        IrStmt *s = block->body[i];
        if (s->kind == STMT_BLOCK)
            lets(e, a, s);
        else if (s->kind == STMT_LET && a->known[s->var->id])
            stmt(e, s);
    }
}

// Copies first to end - 1 of trip `trip`, where `there` holds.
static void fetch(Emit *e, int first, int end, Text trip, Text there)
{
    const PlanAhead *a = e->ahead;
    const IrStmt *s = a->loop;
    IrVar *v = s->vars[0];
    Text name = e->var[v->id];

    line(e, "keep_order();");
    open_brace(e, there.len ? "if (%.*s) {" : "{%.*s", TEXT_ARG(there));
    e->var[v->id] = text_format(e->arena, "%.*s_ahead", TEXT_ARG(name));
    line(e, "const %s %.*s = %.*s;", type_of(v->dtype),
         TEXT_ARG(e->var[v->id]),
         TEXT_ARG(sum(e, expr(e, s->start[0]), trip)));
    lets(e, a, s->then);
    for (int i = first; i < end; i++)
        copy_ahead(e, (IrStmt *)a->copies[i].stmt, AHEAD_LOAD);
    e->var[v->id] = name;
    close_brace(e);
    line(e, "keep_order();");
}

static void fetch_next(Emit *e, int first)
{
    const PlanAhead *a = e->ahead;

    if (first < a->count)
        fetch(e, first, group_end(a, first), TEXT("trip"), (Text){0});
    else
        fetch(e, 0, group_end(a, 0),
              TEXT("(trip + 1 < trips ? trip + 1 : trip)"), (Text){0});
}

// ---- the loop --------------------------------------------------------------

// The group that goes to shared memory here, if there is one.
static void put_after(Emit *e, const IrStmt *after)
{
    const PlanAhead *a = e->ahead;
    int first = 0;

    while (first < a->count && a->after[first] != after)
        first++;
    if (first == a->count)
        return;
    int end = group_end(a, first);
    for (int i = first; i < end; i++)
        sync_before(e, (IrStmt *)a->copies[i].stmt);
    for (int i = first; i < end; i++) {
        e->at = a->copies[i].stmt->at;
        note_line(e, a->copies[i].stmt);
        copy_ahead(e, (IrStmt *)a->copies[i].stmt, AHEAD_STORE);
    }
    fetch_next(e, end);
    // What other waves calculate hides how long reading takes.
    for (int i = first; after && i < end; i++)
        mfma_read_early(e, a->loop->then, a->copies[i].map.dst.buffer);
}

void ahead_after(Emit *e, const IrStmt *s)
{
    if (e->ahead && s->kind != STMT_BLOCK)
        put_after(e, s);
}

static void body(Emit *e, IrStmt *s)
{
    put_after(e, NULL);
    block(e, s->then);
}

static void declare(Emit *e, const PlanAhead *a)
{
    for (int i = 0; i < a->count; i++)
        copy_ahead(e, (IrStmt *)a->copies[i].stmt, AHEAD_DECLARE);
}

static bool find_ahead(void *ctx, IrStmt *s)
{
    Emit *e = ctx;

    e->found |= ahead_of(e, s) != NULL;
    return !e->found;
}

// What the compiler works out of the thread's number before a loop, its
// registers would hold through all of a loop that needs them for tiles.
void ahead_renew(Emit *e, IrStmt *loop)
{
    e->found = false;
    if (e->launch->ahead_count && !e->group)
        ir_walk(loop->then, find_ahead, NULL, e);
    if (!e->found)
        return;
    Text same = fresh(e, "same");
    line(e, "const int %.*s = anew(tid);", TEXT_ARG(same));
    line(e, "const int tid = %.*s, lane = tid %% %d, warp = tid / %d;",
         TEXT_ARG(same), e->lanes, e->lanes);
}

void ahead_loop(Emit *e, IrStmt *s, const PlanAhead *a)
{
    IrVar *v = s->vars[0];
    const char *type = type_of(v->dtype);

    if (e->divergent) {
        refuse(e, "a pipelined loop that only some threads reach");
        return;
    }
    sync_read(e, s->start[0]);
    sync_read(e, s->extent[0]);
    e->ahead = a;
    ring_range(e, s);
    open_brace(e, "{");
    line(e, "const %s trips = %.*s;", type, TEXT_ARG(expr(e, s->extent[0])));
    declare(e, a);
    fetch(e, 0, group_end(a, 0), TEXT("0"), TEXT("trips > 0"));
    open_brace(e, "for (%s trip = 0; trip < trips; trip++) {", type);
    line(e, "const %s %.*s = %.*s;", type, TEXT_ARG(e->var[v->id]),
         TEXT_ARG(sum(e, expr(e, s->start[0]), TEXT("trip"))));
    loop_body(e, s, body);
    close_brace(e);
    close_brace(e);
    e->ahead = NULL;
    e->early = NULL;
}
