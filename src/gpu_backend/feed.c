// feed.c - the loop that a producer warp feeds: TMA brings tiles into rings of
// slots, and mbarriers tell when a slot is full and when it is empty again.
//
// A ring has a full barrier per slot, on which its bytes count, and an empty
// one, on which each of the block's warps arrives. In the loop's body a tile is
// waited for before the first statement that reads it and its slot given back
// after the last.
#include "gpu_backend/feed.h"

const PlanFeedCopy *fed_ring(const Emit *e, const IrBuffer *b)
{
    const PlanFeedCopy *c = plan_fed_by(&e->launch->feed, b);
    return c && c->in_loop ? c : NULL;
}

Text feed_tile(const Emit *e, const PlanFeedCopy *c)
{
    return e->buffer[c->map.dst.buffer->id];
}

// ---- parameters ------------------------------------------------------------

void feed_params(Emit *e)
{
    const PlanFeed *f = &e->launch->feed;

    for (int i = 0; i < f->count; i++) {
        const PlanFeedCopy *c = &f->copies[i];
        IrBuffer *g = c->map.src.buffer;
        GpuParam p = {.kind = GPU_PARAM_TENSOR_MAP, .param = g->param,
                      .buffer = g};
        p.name = text_format(e->arena, "%.*s_map", TEXT_ARG(feed_tile(e, c)));
        p.map.rank = g->rank;
        p.map.swizzle = c->swizzle;
        for (int d = 0; d < g->rank; d++) {
            p.map.size[d] = g->shape[g->rank - 1 - d];
            p.map.box[d] = c->box[g->rank - 1 - d];
        }
        e->gpu->params[e->gpu->param_count++] = p;
    }
}

// ---- barriers --------------------------------------------------------------

// The first full barrier of a copy; its empty ones follow.
static int barrier_of(const PlanFeed *f, const PlanFeedCopy *c)
{
    int n = 0;

    for (int i = 0; &f->copies[i] != c; i++)
        n += f->copies[i].in_loop ? 2 * f->stages : 1;
    return n;
}

Text feed_full(Emit *e, const PlanFeedCopy *c, const char *slot)
{
    int at = barrier_of(&e->launch->feed, c);

    if (!c->in_loop)
        return text_format(e->arena, "&barriers[%d]", at);
    return text_format(e->arena, "&barriers[%d + %s]", at, slot);
}

Text feed_empty(Emit *e, const PlanFeedCopy *c, const char *slot)
{
    const PlanFeed *f = &e->launch->feed;
    return text_format(e->arena, "&barriers[%d + %s]",
                       barrier_of(f, c) + f->stages, slot);
}

static void init_barriers(Emit *e)
{
    const PlanFeed *f = &e->launch->feed;

    open_brace(e, "if (tid == 0) {");
    for (int i = 0; i < f->count; i++) {
        const PlanFeedCopy *c = &f->copies[i];
        int at = barrier_of(f, c);
        if (!c->in_loop) {
            line(e, "barrier_init(&barriers[%d], 1);", at);
            continue;
        }
        open_brace(e, "for (int i = 0; i < %d; i++) {", f->stages);
        line(e, "barrier_init(&barriers[%d + i], 1);", at);
        line(e, "barrier_init(&barriers[%d + i], %d);", at + f->stages,
             e->threads / 32);
        close_brace(e);
    }
    line(e, "barrier_fence();");
    close_brace(e);
    line(e, "%s;", e->dialect->barrier);
}

// ---- the producer ----------------------------------------------------------

int64_t feed_offset(const Emit *e, const IrBuffer *b)
{
    const PlanBuffer *p = arena_of(e, b);
    return p ? p->offset : 0;
}

static void bring(Emit *e, const PlanFeedCopy *c)
{
    const IrBuffer *g = c->map.src.buffer;
    Text name = feed_tile(e, c), bar = feed_full(e, c, "slot");
    int64_t offset = feed_offset(e, c->map.dst.buffer);

    if (c->in_loop)
        line(e, "barrier_wait(%.*s, phase ^ 1);",
             TEXT_ARG(feed_empty(e, c, "slot")));
    line(e, "barrier_expect(%.*s, %lld);", TEXT_ARG(bar), (long long)c->bytes);
    for (int b = 0; b < c->boxes; b++) {
        TextBuf at = {0};
        for (int d = g->rank - 1; d >= 0; d--) {
            Text x = c->map.src.min[d] ? expr(e, c->map.src.min[d]) : TEXT("0");
            if (d == g->rank - 1 && b)
                x = sum(e, x, text_format(e->arena, "%lld",
                                          (long long)(b * c->box[d])));
            buf_printf(&at, ", %.*s", TEXT_ARG(x));
        }
        int64_t into = offset + b * (c->bytes / c->boxes);
        Text to = c->in_loop
                      ? text_format(e->arena, "arena + %lld + slot * %lld",
                                    (long long)into, (long long)c->bytes)
                      : text_format(e->arena, "arena + %lld", (long long)into);
        line(e, "tma_load_%dd(%.*s, &%.*s_map, %.*s%.*s);", g->rank,
             TEXT_ARG(to), TEXT_ARG(name), TEXT_ARG(bar), (int)at.len, at.at);
        buf_release(&at);
    }
}

const PlanFeedCopy *fed_copy(const Emit *e, const IrStmt *s)
{
    const PlanFeed *f = &e->launch->feed;

    for (int i = 0; i < f->count; i++)
        if (f->copies[i].stmt == s)
            return &f->copies[i];
    return NULL;
}

void feed_range(Emit *e, const IrStmt *s)
{
    Range first = interval_of(e, s->start[0]);
    Range trips = interval_of(e, s->extent[0]);

    e->range[s->vars[0]->id] = (Range){0};
    if (first.known && trips.known && trips.high > 0)
        e->range[s->vars[0]->id] = (Range){true, first.low,
                                           first.high + trips.high - 1};
}

void feed_head(Emit *e, const IrStmt *s)
{
    IrVar *v = s->vars[0];
    Text start = expr(e, s->start[0]), name = e->var[v->id];

    open_brace(e, "for (%s %.*s = %.*s; %.*s < %.*s; %.*s++) {",
               type_of(v->dtype), TEXT_ARG(name), TEXT_ARG(start),
               TEXT_ARG(name),
               TEXT_ARG(sum(e, expr(e, s->extent[0]), start)), TEXT_ARG(name));
}

void feed_next_slot(Emit *e, bool keep)
{
    if (keep) {
        line(e, "before = slot;");
        line(e, "before_phase = phase;");
    }
    open_brace(e, "if (++slot == %d) {", e->launch->feed.stages);
    line(e, "slot = 0;");
    line(e, "phase ^= 1;");
    close_brace(e);
}

// Statements up to the end of the loop, as far as copies need them. True once
// the loop is through.
static bool produce(Emit *e, IrStmt *block)
{
    const PlanFeed *f = &e->launch->feed;

    for (int i = 0; i < block->len && !e->failed; i++) {
        IrStmt *s = block->body[i];
        const PlanFeedCopy *c = fed_copy(e, s);
        e->at = s->at;
        if (s->kind == STMT_BLOCK && produce(e, s))
            return true;
        if (c || s == f->loop)
            note_line(e, s);
        if (s->kind == STMT_LET && f->known[s->var->id])
            stmt(e, s);
        else if (c)
            bring(e, c);
        if (s == f->loop) {
            feed_range(e, s);
            line(e, "int slot = 0;");
            line(e, "u32 phase = 0;");
            feed_head(e, s);
            produce(e, s->then);
            feed_next_slot(e, false);
            close_brace(e);
            return true;
        }
    }
    return false;
}

// Registers that the producer's warps leave to the others.
static void set_registers(Emit *e, bool producer)
{
    static const int of[][2] = {{0}, {0}, {24, 240}, {32, 160}, {24, 112}};
    int groups = e->threads / 128;

    if (groups >= 2 && groups <= 4)
        line(e, "registers_%s<%d>();", producer ? "fewer" : "more",
             of[groups][!producer]);
}

void feed_open(Emit *e)
{
    const PlanFeed *f = &e->launch->feed;
    Range *range = e->range;

    if (!f->loop)
        return;
    int64_t at = (e->gpu->dynamic_shared + 7) / 8 * 8;
    line(e, "u64 *const barriers = (u64 *)(arena + %lld);", (long long)at);
    e->gpu->dynamic_shared = at + 8 * e->launch->barriers;
    init_barriers(e);
    e->range = new_array(e->arena, Range, e->k->next_var + 1);
    for (int i = 0; i < e->k->next_var; i++)
        e->range[i] = range[i];
    open_brace(e, "if (warp >= %d) {", e->threads / 32);
    set_registers(e, true);
    open_brace(e, "if (tid == %d) {", e->threads);
    produce(e, e->launch->stmt->then);
    close_brace(e);
    line(e, "return;");
    close_brace(e);
    set_registers(e, false);
    e->range = range;
    hazards_clear(e);
}

// ---- the block's warps -----------------------------------------------------

bool feed_waits(Emit *e, IrStmt *s)
{
    const PlanFeedCopy *c = fed_copy(e, s);

    if (c && !c->in_loop)
        line(e, "barrier_wait(%.*s, 0);", TEXT_ARG(feed_full(e, c, "slot")));
    return c != NULL;
}
