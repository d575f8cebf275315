// ring.c - a pipelined loop whose copies run ahead by cp.async: every tile has
// a ring of slots, and while one is worked on the next ones fill.
//
// One group of copies a trip; the trip waits until only the younger groups are
// under way, then for all threads, which also tells that the slot to be filled
// next is no longer read.
#include "gpu_backend/emit_int.h"

const PlanRing *ring_of(const Emit *e, const IrStmt *s)
{
    for (int i = 0; i < e->launch->ring_count; i++)
        if (e->launch->rings[i].loop == s && e->launch->rings[i].stages > 1)
            return &e->launch->rings[i];
    return NULL;
}

bool ring_copies(const Emit *e, const IrStmt *s)
{
    for (int i = 0; i < e->launch->ring_count; i++) {
        const PlanRing *r = &e->launch->rings[i];
        for (int j = 0; r->stages > 1 && j < r->count; j++)
            if (r->copies[j].stmt == s)
                return true;
    }
    return false;
}

static IrBuffer *tile_of(const PlanFeedCopy *c)
{
    return c->map.dst.buffer;
}

// Elements from one slot to the next.
static int64_t slot_size(const Emit *e, IrBuffer *b)
{
    const PlanBuffer *p = arena_of(e, b);

    return p->bytes / p->copies * 8 / bits_of(e, b);
}

static void name_slots(Emit *e, const PlanRing *r, const Text *base,
                       const char *stem, const char *slot)
{
    for (int i = 0; i < r->count; i++) {
        IrBuffer *b = tile_of(&r->copies[i]);
        const char *type = type_of(b->dtype);
        Text name = text_format(e->arena, "%.*s_%s", TEXT_ARG(base[i]), stem);
        line(e, "%s *const %.*s = %.*s + %s * %lld;", type, TEXT_ARG(name),
             TEXT_ARG(base[i]), slot, (long long)slot_size(e, b));
        e->buffer[b->id] = name;
    }
}

// Lets that copies need, and the copies, in their order.
static void statements(Emit *e, const PlanRing *r, IrStmt *block)
{
    for (int i = 0; i < block->len && !e->failed; i++) {
        IrStmt *s = block->body[i];
        if (s->kind == STMT_BLOCK)
            statements(e, r, s);
        else if (s->kind == STMT_LET && r->known[s->var->id])
            stmt(e, s);
        for (int j = 0; j < r->count; j++) {
            if (r->copies[j].stmt != s)
                continue;
            e->at = s->at;
            note_line(e, s);
            tile(e, s);
        }
    }
}

// Trip number `trip` (text, from 0) into slot `slot`.
static void fill(Emit *e, IrStmt *s, const PlanRing *r, const Text *base,
                 const char *trip, const char *slot)
{
    IrVar *v = s->vars[0];
    Text name = e->var[v->id];
    const char *type = type_of(v->dtype);

    open_brace(e, "if (%s < trips) {", trip);
    e->var[v->id] = text_format(e->arena, "%.*s_ahead", TEXT_ARG(name));
    line(e, "const %s %.*s = %.*s;", type, TEXT_ARG(e->var[v->id]),
         TEXT_ARG(sum(e, expr(e, s->start[0]), text_of(trip))));
    name_slots(e, r, base, "ahead", slot);
    e->filling = true;
    statements(e, r, s->then);
    e->filling = false;
    e->var[v->id] = name;
    for (int i = 0; i < r->count; i++)
        e->buffer[tile_of(&r->copies[i])->id] = base[i];
    close_brace(e);
    line(e, "cp_async_commit();");
}

static void ring_body(Emit *e, IrStmt *s)
{
    const PlanRing *r = ring_of(e, s);
    Text base[16];
    char next[64];

    for (int i = 0; i < r->count; i++)
        base[i] = e->buffer[tile_of(&r->copies[i])->id];
    line(e, "cp_async_wait<%d>();", r->stages - 2);
    sync_now(e);
    snprintf(next, sizeof next, "trip + %d", r->stages - 1);
    line(e, "const int slot_ahead = slot ? slot - 1 : %d;", r->stages - 1);
    fill(e, s, r, base, next, "slot_ahead");
    name_slots(e, r, base, "now", "slot");
    block(e, s->then);
    for (int i = 0; i < r->count; i++)
        e->buffer[tile_of(&r->copies[i])->id] = base[i];
    line(e, "slot = slot == %d ? 0 : slot + 1;", r->stages - 1);
}

void ring_range(Emit *e, const IrStmt *s)
{
    Range first = interval_of(e, s->start[0]);
    Range trips = interval_of(e, s->extent[0]);

    e->range[s->vars[0]->id] = (Range){0};
    if (first.known && trips.known && trips.high > 0)
        e->range[s->vars[0]->id] =
            (Range){true, first.low, first.high + trips.high - 1};
}

void ring_loop(Emit *e, IrStmt *s, const PlanRing *r)
{
    IrVar *v = s->vars[0];
    const char *type = type_of(v->dtype);
    bool *tiles = new_array(e->arena, bool, e->k->buffer_count + 1);
    Text base[16];
    // The first group has what is under way already.
    bool waited_for = e->uses_async;

    for (int i = 0; i < r->count; i++) {
        IrBuffer *b = tile_of(&r->copies[i]);
        tiles[b->id] = true;
        base[i] = e->buffer[b->id];
    }
    sync_read(e, s->start[0]);
    sync_read(e, s->extent[0]);
    sync_writes(e, tiles);
    for (int i = 0; i < r->count; i++)
        e->ringed[tile_of(&r->copies[i])->id] = true;
    e->in_ring = true;
    e->uses_async = false;
    ring_range(e, s);
    open_brace(e, "{");
    line(e, "const %s trips = %.*s;", type, TEXT_ARG(expr(e, s->extent[0])));
    open_brace(e, "for (int trip = 0; trip < %d; trip++) {", r->stages - 1);
    fill(e, s, r, base, "trip", "trip");
    close_brace(e);
    line(e, "int slot = 0;");
    open_brace(e, "for (%s trip = 0; trip < trips; trip++) {", type);
    line(e, "const %s %.*s = %.*s;", type, TEXT_ARG(e->var[v->id]),
         TEXT_ARG(sum(e, expr(e, s->start[0]), TEXT("trip"))));
    loop_body(e, s, ring_body);
    close_brace(e);
    close_brace(e);
    e->in_ring = false;
    e->uses_async |= waited_for;
    for (int i = 0; i < e->k->buffer_count; i++) {
        e->ringed[i] &= !tiles[i];
        e->hazards.read[i] |= tiles[i];
        e->hazards.written[i] |= tiles[i];
    }
}
