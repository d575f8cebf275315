// tma.c - what TMA moves: boxes of tensors by a descriptor, and runs of bytes.
//
// Outside of its tensor a box is zeros when it is loaded and nothing when it is
// stored. A run of bytes knows no tensor: what of it lies inside is counted
// here, and the rest of the tile cleared by the thread that loads it.
#include "gpu_backend/feed.h"

static int store_of(const Emit *e, const IrStmt *s)
{
    for (int i = 0; i < e->launch->store_count; i++)
        if (e->launch->stores[i].stmt == s)
            return i;
    return -1;
}

// ---- parameters ------------------------------------------------------------

static Text map_of(Emit *e, const PlanFeedCopy *c)
{
    int store = store_of(e, c->stmt);

    if (store < 0)
        return text_format(e->arena, "%.*s_map", TEXT_ARG(feed_tile(e, c)));
    return text_format(e->arena, "%.*s_map%d",
                       TEXT_ARG(e->buffer[c->map.src.buffer->id]), store);
}

static void add_map(Emit *e, const PlanFeedCopy *c)
{
    IrBuffer *g = c->map.src.buffer;
    GpuParam p = {.kind = GPU_PARAM_TENSOR_MAP, .buffer = g};

    if (!c->boxes)
        return;
    p.param = g->param;
    p.name = map_of(e, c);
    p.map.rank = g->rank;
    p.map.swizzle = c->swizzle;
    for (int d = 0; d < g->rank; d++) {
        p.map.size[d] = g->shape[g->rank - 1 - d];
        p.map.box[d] = c->box[g->rank - 1 - d];
    }
    e->gpu->params[e->gpu->param_count++] = p;
}

void tma_params(Emit *e)
{
    const PlanFeed *f = &e->launch->feed;

    for (int i = 0; i < f->count; i++)
        add_map(e, &f->copies[i]);
    for (int i = 0; i < e->launch->store_count; i++)
        add_map(e, &e->launch->stores[i]);
}

// ---- boxes -----------------------------------------------------------------

// The first element of box b, innermost dimension first.
static Text box_at(Emit *e, const PlanFeedCopy *c, int b)
{
    const IrBuffer *g = c->map.src.buffer;
    Text all = {0};

    for (int d = g->rank - 1; d >= 0; d--) {
        Text x = c->map.src.min[d] ? expr(e, c->map.src.min[d]) : TEXT("0");
        if (d == g->rank - 1 && b)
            x = sum(e, x, text_format(e->arena, "%lld",
                                      (long long)(b * c->box[d])));
        all = text_format(e->arena, "%.*s, %.*s", TEXT_ARG(all), TEXT_ARG(x));
    }
    return all;
}

static void load_boxes(Emit *e, const PlanFeedCopy *c, Text bar)
{
    int64_t offset = feed_offset(e, c->map.dst.buffer);

    line(e, "barrier_expect(%.*s, %lld);", TEXT_ARG(bar), (long long)c->bytes);
    for (int b = 0; b < c->boxes; b++) {
        int64_t into = offset + b * (c->bytes / c->boxes);
        Text to = c->in_loop
                      ? text_format(e->arena, "arena + %lld + slot * %lld",
                                    (long long)into, (long long)c->bytes)
                      : text_format(e->arena, "arena + %lld", (long long)into);
        line(e, "tma_load_%dd(%.*s, &%.*s, %.*s%.*s);",
             c->map.src.buffer->rank, TEXT_ARG(to), TEXT_ARG(map_of(e, c)),
             TEXT_ARG(bar), TEXT_ARG(box_at(e, c, b)));
    }
}

static void store_boxes(Emit *e, const PlanFeedCopy *c)
{
    for (int b = 0; b < c->boxes; b++)
        line(e, "tma_store_%dd(&%.*s, (char *)%.*s + %lld%.*s);",
             c->map.src.buffer->rank, TEXT_ARG(map_of(e, c)),
             TEXT_ARG(feed_tile(e, c)),
             (long long)(b * (c->bytes / c->boxes)),
             TEXT_ARG(box_at(e, c, b)));
}

// ---- runs of bytes ---------------------------------------------------------

// Where a run begins, and (`have`) how many of its bytes the tensor has; empty:
// all.
typedef struct {
    Text at, have;
} Run;

// The dimension that a run goes along, less those it covers.
static int long_dim(const PlanFeedCopy *c)
{
    int d = 0;

    while (d + 1 < c->map.src.buffer->rank && c->box[d] == 1)
        d++;
    return d;
}

static Run run_of(Emit *e, const PlanFeedCopy *c)
{
    IrBuffer *g = c->map.src.buffer;
    Spot p = {.buffer = g};
    int along = long_dim(c);
    Run r = {0};

    for (int d = 0; d < g->rank; d++) {
        IrExpr *min = c->map.src.min[d];
        p.index[d] = min ? expr(e, min) : TEXT("0");
        p.range[d] = min ? interval_of(e, min) : (Range){true, 0, 0};
        p.range[d].high += c->box[d] - 1;
        p.guarded[d] = d != along;
    }
    Range x = p.range[along];
    int64_t size = fixed_extent(g, along);
    bool inside = x.known && size >= 0 && x.high < size;
    if (!x.known || x.low < 0)
        refuse(e, "a run of bytes that may begin before '%.*s'",
               TEXT_ARG(g->name));
    Text guard = guard_of(e, &p);
    r.at = text_format(e->arena, "&%.*s", TEXT_ARG(element(e, &p)));
    if (inside && !guard.len)
        return r;
    e->gpu->is_cut = true;
    r.have = text_format(e->arena, "part_inside(%.*s, %lld, %.*s) * %lld",
                         TEXT_ARG(p.index[along]), (long long)c->box[along],
                         TEXT_ARG(expr(e, g->shape[along])),
                         (long long)(c->bytes / c->box[along]));
    if (guard.len)
        r.have = text_format(e->arena, "%.*s ? %.*s : 0", TEXT_ARG(guard),
                             TEXT_ARG(r.have));
    return r;
}

// How many of a run's bytes TMA moves: multiples of 16 from such an address on.
static Text whole_of(Emit *e, const PlanFeedCopy *c, const Run *r)
{
    Text have = r->have;

    if (!have.len)
        have = text_format(e->arena, "%lld", (long long)c->bytes);
    line(e, "const int have = %.*s;", TEXT_ARG(have));
    if (!c->ragged)
        return TEXT("have");
    line(e, "const int whole = sixteens(%.*s, have);", TEXT_ARG(r->at));
    return TEXT("whole");
}

static void load_part(Emit *e, const PlanFeedCopy *c, Text bar, const Run *r,
                      Text to)
{
    const char *type = type_of(c->map.src.buffer->dtype);

    open_brace(e, "{");
    Text whole = whole_of(e, c, r);
    line(e, "for (int i = %.*s; i < %lld; i += 16)", TEXT_ARG(whole),
         (long long)c->bytes);
    line(e, "    move_or_clear<16>(%.*s + i, arena, false);", TEXT_ARG(to));
    if (c->ragged)
        line(e, "move_rest((%s *)(%.*s), %.*s, whole, have);", type,
             TEXT_ARG(to), TEXT_ARG(r->at));
    line(e, "fence_async();");
    line(e, "barrier_expect(%.*s, %.*s);", TEXT_ARG(bar), TEXT_ARG(whole));
    line(e, "if (%.*s)", TEXT_ARG(whole));
    line(e, "    bulk_load(%.*s, %.*s, %.*s, %.*s);", TEXT_ARG(to),
         TEXT_ARG(r->at), TEXT_ARG(bar), TEXT_ARG(whole));
    close_brace(e);
}

static void load_run(Emit *e, const PlanFeedCopy *c, Text bar)
{
    Run r = run_of(e, c);
    Text to = text_format(e->arena, "arena + %lld",
                          (long long)feed_offset(e, c->map.dst.buffer));

    if (c->in_loop)
        to = text_format(e->arena, "%.*s + slot * %lld", TEXT_ARG(to),
                         (long long)c->bytes);
    if (r.have.len || c->ragged) {
        load_part(e, c, bar, &r, to);
        return;
    }
    line(e, "barrier_expect(%.*s, %lld);", TEXT_ARG(bar), (long long)c->bytes);
    line(e, "bulk_load(%.*s, %.*s, %.*s, %lld);", TEXT_ARG(to),
         TEXT_ARG(r.at), TEXT_ARG(bar), (long long)c->bytes);
}

static void store_run(Emit *e, const PlanFeedCopy *c)
{
    Run r = run_of(e, c);
    Text from = feed_tile(e, c);

    if (!r.have.len && !c->ragged) {
        line(e, "bulk_store(%.*s, %.*s, %lld);", TEXT_ARG(r.at), TEXT_ARG(from),
             (long long)c->bytes);
        return;
    }
    open_brace(e, "{");
    Text whole = whole_of(e, c, &r);
    line(e, "if (%.*s)", TEXT_ARG(whole));
    line(e, "    bulk_store(%.*s, %.*s, %.*s);", TEXT_ARG(r.at), TEXT_ARG(from),
         TEXT_ARG(whole));
    if (c->ragged)
        line(e, "move_rest(%.*s, %.*s, whole, have);", TEXT_ARG(r.at),
             TEXT_ARG(from));
    close_brace(e);
}

// ---- copies ----------------------------------------------------------------

void tma_load(Emit *e, const PlanFeedCopy *c, Text bar)
{
    if (c->boxes)
        load_boxes(e, c, bar);
    else
        load_run(e, c, bar);
}

bool tma_store(Emit *e, const IrStmt *s)
{
    int i = store_of(e, s);

    if (i < 0)
        return false;
    const PlanFeedCopy *c = &e->launch->stores[i];
    e->stored[c->map.src.buffer->id] = true;
    open_brace(e, "if (tid == 0) {");
    if (c->boxes)
        store_boxes(e, c);
    else
        store_run(e, c);
    line(e, "tma_store_wait();");
    close_brace(e);
    return true;
}
