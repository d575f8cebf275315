// order.c - the parts of each tensor that blocks read at the same time.
//
// What a block reads of a tensor is taken as one box, from the ranges of its
// indices over all loops. Boxes that are alike count once, and all together no
// more than the tensor has.
#include "sim_lds/order.h"

enum { MOST_TRIED = 16 };              // rows of a panel

typedef struct {
    int64_t low[IR_MAX_RANK], high[IR_MAX_RANK];    // both inclusive
} Box;

typedef struct {
    const PlanMove *move;
    PlanReach *reach;
    int tensor;
} Reader;

typedef struct {
    Arena *arena;
    const Plan *plan;
    const PlanLaunch *launch;
    PlanEnv sizes;
    struct {
        Reader *at;
        int len, room;
    } readers;
    Order *out;
} Making;

// ---- sizes -----------------------------------------------------------------

static bool size_of(const Making *m, const IrExpr *e, int64_t *out)
{
    PlanLoop none = {0};
    PlanRange r;

    if (!plan_range(&none, NULL, &m->sizes, e, &r) || r.low != r.high)
        return false;
    *out = r.low;
    return true;
}

static bool find_grid(Making *m)
{
    const IrStmt *s = m->launch->stmt;

    for (int d = 0; d < IR_MAX_GRID; d++) {
        m->out->grid[d] = 1;
        if (d < s->var_count && (!size_of(m, s->extent[d], &m->out->grid[d]) ||
                                 m->out->grid[d] > INT32_MAX))
            return false;
    }
    return true;
}

static double bytes_of(const IrBuffer *b, double elements)
{
    return elements * dtype_info(b->dtype)->bits / 8;
}

// ---- readers ---------------------------------------------------------------

static int tensor_of(Order *o, const IrBuffer *b)
{
    for (int i = 0; i < o->tensor_count; i++)
        if (o->tensor[i] == b)
            return i;
    if (o->tensor_count == ORDER_TENSORS)
        return -1;
    o->tensor[o->tensor_count] = b;
    return o->tensor_count++;
}

static bool find_readers(Making *m)
{
    for (int i = 0; i < m->launch->move_count; i++) {
        const PlanMove *v = &m->launch->moves[i];
        Reader r = {.move = v};
        int64_t n;

        if (!v->buffer || v->buffer->scope != SCOPE_GLOBAL ||
            v->way != MOVE_LOAD)
            continue;
        for (int d = 0; d < v->buffer->rank; d++)
            if (!size_of(m, v->buffer->shape[d], &n))
                return false;
        r.tensor = tensor_of(m->out, v->buffer);
        r.reach = plan_reach(m->arena, m->plan, m->launch, v->stmt, &m->sizes);
        if (!v->loop || !v->access || !r.reach || r.tensor < 0)
            return false;
        vec_push(m->arena, &m->readers, r);
    }
    return m->readers.len > 0;
}

// ---- boxes -----------------------------------------------------------------

// An index that depends on data may be any.
static void range_of(const Making *m, const Reader *r, const PlanEnv *env,
                     int d, int64_t *low, int64_t *high)
{
    const PlanAccess *a = r->move->access;
    const PlanLoop *l = r->move->loop;
    const IrExpr *e = a->expr[d] ? a->expr[d] : a->min[d];
    PlanRange at = {0, 0};
    int64_t n = 0;

    size_of(m, r->move->buffer->shape[d], &n);
    if (e && !plan_range(l, a->nest, env, e, &at))
        at = (PlanRange){0, n - 1};
    else if (!a->expr[d] && a->map[d] >= 0)
        at.high += l->extent[a->map[d]] - 1;
    *low = at.low > 0 ? at.low : 0;
    *high = at.high < n ? at.high : n - 1;
}

// False: nothing of the tensor.
static bool box_of(const Making *m, const Reader *r, const int64_t *tile,
                   Box *out)
{
    PlanEnv env = plan_reach_in(r->reach, tile);

    *out = (Box){0};
    for (int d = 0; d < r->move->buffer->rank; d++) {
        range_of(m, r, &env, d, &out->low[d], &out->high[d]);
        if (out->low[d] > out->high[d])
            return false;
    }
    return true;
}

static double elements_of(const Box *b, int rank)
{
    double n = 1;

    for (int d = 0; d < rank; d++)
        n *= (double)(b->high[d] - b->low[d] + 1);
    return n;
}

// ---- blocks at a time ------------------------------------------------------

// Whether this is the first time that the set sees these bytes.
static bool enter(Arena *a, Map *set, const void *at, size_t size)
{
    Text key = {at, size};

    if (map_get(set, key))
        return false;
    map_set(a, set, text_copy(a, key), set);
    return true;
}

static void read_tile(Making *m, const int64_t *tile, Map *boxes, OrderWave *w)
{
    for (int i = 0; i < m->readers.len; i++) {
        const Reader *r = &m->readers.at[i];
        int t = r->tensor;
        Box b;

        if (box_of(m, r, tile, &b) && enter(m->arena, &boxes[t], &b, sizeof b))
            w->tensor[t] += bytes_of(r->move->buffer,
                                     elements_of(&b, r->move->buffer->rank));
    }
}

static OrderWave wave_of(Making *m, const PlanPanels *panels)
{
    Order *o = m->out;
    Map boxes[ORDER_TENSORS] = {0}, seen[2] = {0};
    int64_t dies = m->plan->device->dies, tile[IR_MAX_GRID];
    OrderWave w = {0};

    for (int64_t b = 0; b < o->wave; b += dies) {
        plan_panel_tile(panels, o->grid, b, tile);
        for (int d = 0; d < 2; d++)
            w.tiles[d] += enter(m->arena, &seen[d], &tile[d], sizeof *tile);
        read_tile(m, tile, boxes, &w);
    }
    for (int t = 0; t < o->tensor_count; t++) {
        double most = 1;

        for (int d = 0; d < o->tensor[t]->rank; d++) {
            int64_t n = 0;
            size_of(m, o->tensor[t]->shape[d], &n);
            most *= (double)n;
        }
        most = bytes_of(o->tensor[t], most);
        if (w.tensor[t] > most)
            w.tensor[t] = most;
        w.bytes += w.tensor[t];
    }
    return w;
}

// A panel that serves better than the order that there is.
static void find_best(Making *m)
{
    Order *o = m->out;
    double most = 0.9 * (o->plain.bytes < o->walked.bytes ? o->plain.bytes
                                                          : o->walked.bytes);

    for (int64_t size = 2; size <= MOST_TRIED; size *= 2) {
        PlanPanels p = {.size = size};
        OrderWave w = wave_of(m, &p);

        if (w.bytes >= most)
            continue;
        most = w.bytes;
        o->best = p;
        o->best_wave = w;
    }
}

static const char *find_all(Making *m)
{
    Order *o = m->out;
    int64_t blocks;

    if (!m->sizes.var || !find_grid(m))
        return "sizes are not known";
    if (o->grid[0] < 2 || o->grid[1] < 2)
        return "one row of blocks";
    if (!o->wave)
        return "a block does not fit";
    blocks = o->grid[0] * o->grid[1];
    if (!__builtin_mul_overflow(blocks, o->grid[2], &blocks) &&
        blocks <= o->wave)
        return "all blocks run at a time";
    return find_readers(m) ? NULL : "what blocks read is not known";
}

Order order_make(Arena *a, const Plan *p, const PlanLaunch *l,
                 const int64_t *sizes, int64_t resident)
{
    Order o = {.panels = plan_panels(l->stmt),
               .wave = resident * p->device->sms};
    Making m = {.arena = a, .plan = p, .launch = l, .sizes = {.var = sizes},
                .out = &o};
    const PlanPanels none = {0};

    o.share = (o.wave + p->device->dies - 1) / p->device->dies;
    o.none = find_all(&m);
    if (o.none)
        return o;
    o.plain = wave_of(&m, &none);
    o.walked = o.panels.size ? wave_of(&m, &o.panels) : o.plain;
    find_best(&m);
    return o;
}
