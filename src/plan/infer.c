// infer.c - layouts of fragments and loops, from those that gemms fix.
//
// Gemms come first. Then loops and reductions take over what is known until
// nothing changes. What is left falls into components that share unknown
// fragments; in each, every operation is tried as the one that chooses, and
// the attempt with the fewest registers is kept.
#include "plan/plan_int.h"

#include <string.h>

typedef struct {
    PlanFragment **fragment;        // by buffer id
    PlanFragment **layout;          // by operation
} Known;

static bool is_fragment(const IrBuffer *b)
{
    return b->scope == SCOPE_FRAGMENT;
}

// ---- loops -----------------------------------------------------------------

static int32_t *elements_of(PlanState *p, const PlanLoop *l,
                            const PlanAccess *a)
{
    int32_t *e = new_array(p->arena, int32_t, l->points + 1);
    int64_t point[IR_MAX_RANK] = {0};

    for (int n = 0; n < l->points; n++) {
        e[n] = (int32_t)plan_element(l, a, point);
        plan_next_point(l, point);
    }
    return e;
}

static PlanFragment *loop_new(PlanState *p, const PlanLoop *l, int replicas)
{
    PlanFragment *f = new (p->arena, PlanFragment);

    f->rank = l->rank;
    memcpy(f->shape, l->extent, sizeof f->shape);
    f->elements = (int)l->points;
    f->replicas = replicas;
    f->local = new_array(p->arena, int32_t, l->points + 1);
    f->thread = new_array(p->arena, int32_t, (size_t)l->points * replicas + 1);
    return f;
}

// Each point runs where the element that it accesses is.
static PlanFragment *loop_like(PlanState *p, const PlanLoop *l,
                               const PlanAccess *a, const PlanFragment *f)
{
    PlanFragment *out = loop_new(p, l, f->replicas);
    int32_t *e = elements_of(p, l, a);
    int32_t *seen = new_array(p->arena, int32_t, PLAN_MAX_THREADS);

    for (int n = 0; n < out->elements; n++) {
        if (e[n] < 0 || e[n] >= f->elements)
            return NULL;
        for (int r = 0; r < f->replicas; r++)
            out->thread[(size_t)r * out->elements + n] =
                f->thread[(size_t)r * f->elements + e[n]];
        out->local[n] = out->elements == f->elements
                            ? f->local[e[n]]
                            : seen[out->thread[n]]++;
        if (out->local[n] >= out->locals)
            out->locals = out->local[n] + 1;
    }
    return out;
}

static bool touches_fragment(const PlanLoop *l)
{
    for (int i = 0; i < l->access.len; i++)
        if (is_fragment(l->access.at[i].buffer))
            return true;
    return false;
}

// thread = (flat / V) mod T, local = (flat / (V T)) V + flat mod V.
static PlanFragment *loop_planned(PlanState *p, const PlanLoop *l)
{
    int threads = p->launch->threads, v = plan_vector(l);
    int points = (int)l->points, replicas = 1, span = threads;

    if (points < 1)
        return NULL;
    while (v > 1 && points % (threads * v))
        v /= 2;
    if (points < threads && threads % points == 0) {
        replicas = threads / points;
        span = points;
    }
    PlanFragment *f = loop_new(p, l, replicas);
    for (int n = 0; n < points; n++) {
        f->local[n] = n / (v * span) * v + n % v;
        if (f->local[n] >= f->locals)
            f->locals = f->local[n] + 1;
        for (int r = 0; r < replicas; r++)
            f->thread[(size_t)r * points + n] = n / v % span + r * span;
    }
    return f;
}

// The layout of a fragment that a loop with this layout accesses.
static PlanFragment *complete(PlanState *p, const PlanLoop *l,
                              const PlanAccess *a, const PlanFragment *layout)
{
    PlanFragment *probe = plan_fragment_new(p, a->buffer, 1);
    int32_t *e = elements_of(p, l, a);
    int n = probe->elements, *hits = new_array(p->arena, int, n), most = 0;

    for (int i = 0; i < l->points; i++) {
        if (e[i] < 0 || e[i] >= n)
            return NULL;
        if (++hits[e[i]] > most)
            most = hits[e[i]];
    }
    for (int i = 0; i < n; i++)
        if (!hits[i])
            return NULL;
    int slots = most * layout->replicas;
    int32_t *thread = new_array(p->arena, int32_t, (size_t)n * slots);
    memset(hits, 0, sizeof *hits * n);
    for (int i = 0; i < l->points; i++) {
        for (int r = 0; r < layout->replicas; r++)
            thread[(size_t)(hits[e[i]] + r) * n + e[i]] =
                layout->thread[(size_t)r * l->points + i];
        hits[e[i]] += layout->replicas;
    }
    for (int i = 0; i < n; i++)
        for (int r = hits[i]; r < slots; r++)
            thread[(size_t)r * n + i] = thread[i];
    PlanFragment *f = plan_condense(p, a->buffer, thread, slots);
    if (most == 1) {
        for (int i = 0; i < l->points; i++)
            f->local[e[i]] = layout->local[i];
        f->locals = layout->locals;
    }
    return f;
}

// The access whose fragment decides: a written one that is known, else a read
// one that is known and not replicated.
static const PlanAccess *source_of(const PlanLoop *l, const Known *k,
                                   bool replicated)
{
    const PlanAccess *best = NULL;

    for (int i = 0; i < l->access.len; i++) {
        const PlanAccess *a = &l->access.at[i];
        const PlanFragment *f = k->fragment[a->buffer->id];
        if (!f)
            continue;
        if (a->is_store)
            return a;
        if (!replicated && f->replicas > 1)
            continue;
        if (!best || a->buffer->rank > best->buffer->rank)
            best = a;
    }
    return best;
}

static bool infer_loop(PlanState *p, Known *k, int at, bool free)
{
    const PlanLoop *l = p->ops.at[at].loop;
    bool changed = false;

    if (!k->layout[at]) {
        const PlanAccess *a = source_of(l, k, false);
        if (!a && free)
            a = source_of(l, k, true);
        if (a && a->buffer->rank < l->rank && free)
            a = NULL;
        if (a)
            k->layout[at] = loop_like(p, l, a, k->fragment[a->buffer->id]);
        else if (free)
            k->layout[at] = loop_planned(p, l);
        if (!k->layout[at])
            return false;
        changed = true;
    }
    for (int i = 0; i < l->access.len; i++) {
        const PlanAccess *a = &l->access.at[i];
        if (!is_fragment(a->buffer) || k->fragment[a->buffer->id])
            continue;
        PlanFragment *f = complete(p, l, a, k->layout[at]);
        k->fragment[a->buffer->id] = f;
        changed |= f != NULL;
    }
    return changed;
}

// ---- reductions ------------------------------------------------------------

// Element o of the output comes from source elements first + r * step.
static void reduced(const IrReduceShape *r, const PlanFragment *src, int o,
                    int *first, int *step)
{
    int inner = 1;

    for (int d = r->dim + 1; d < src->rank; d++)
        inner *= (int)src->shape[d];
    *step = inner;
    *first = o / inner * inner * (int)src->shape[r->dim] + o % inner;
}

static bool infer_reduce(PlanState *p, Known *k, const PlanOp *op)
{
    const IrReduceShape *r = &op->reduce;
    const PlanFragment *src = k->fragment[r->src->id];

    if (!src || !is_fragment(r->out) || k->fragment[r->out->id])
        return false;
    int extent = (int)src->shape[r->dim], first, step;
    int n = src->elements / extent, slots = extent * src->replicas;
    int32_t *thread = new_array(p->arena, int32_t, (size_t)n * slots);
    for (int o = 0; o < n; o++) {
        reduced(r, src, o, &first, &step);
        for (int i = 0; i < slots; i++)
            thread[(size_t)i * n + o] =
                src->thread[(size_t)(i / extent) * src->elements + first +
                            i % extent * step];
    }
    k->fragment[r->out->id] = plan_condense(p, r->out, thread, slots);
    return true;
}

// The distance of the threads that hold parts of one result, and how many.
bool plan_needs_workspace(const PlanState *p, const PlanOp *op)
{
    const IrReduceShape *r = &op->reduce;
    const PlanFragment *src = p->fragment[r->src->id];
    int first, step, low, high;

    if (!src)
        return false;
    reduced(r, src, 0, &first, &step);
    low = high = src->thread[first];
    for (int i = 1; i < src->shape[r->dim]; i++) {
        int t = src->thread[first + i * step];
        low = t < low ? t : low;
        high = t > high ? t : high;
    }
    // The farthest partner of a butterfly of E threads at stride s is E s / 2
    // away; E s > 32 is asked for.
    return high - low >= 32;
}

// ---- passes ----------------------------------------------------------------

static void propagate(PlanState *p, Known *k)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (int i = 0; i < p->ops.len; i++) {
            const PlanOp *op = &p->ops.at[i];
            if (op->kind == PLANOP_LOOP && touches_fragment(op->loop))
                changed |= infer_loop(p, k, i, false);
            else if (op->kind == PLANOP_REDUCE)
                changed |= infer_reduce(p, k, op);
        }
    }
}

static void from_gemms(PlanState *p, Known *k)
{
    for (int i = 0; i < p->launch->gemm_count; i++) {
        const PlanGemm *g = &p->launch->gemms[i];
        IrBuffer *const all[] = {g->c, g->a, g->b};
        for (size_t j = 0; j < countof(all); j++)
            if (is_fragment(all[j]) && !k->fragment[all[j]->id])
                k->fragment[all[j]->id] = plan_gemm_fragment(p, g, all[j]);
    }
}

static bool has_unknown(const PlanOp *op, const Known *k)
{
    if (op->kind == PLANOP_REDUCE)
        return false;
    for (int i = 0; op->loop && i < op->loop->access.len; i++) {
        const IrBuffer *b = op->loop->access.at[i].buffer;
        if (is_fragment(b) && !k->fragment[b->id])
            return true;
    }
    return false;
}

static Known known_copy(PlanState *p, const Known *k)
{
    int n = p->kernel->buffer_count;
    Known c = {new_array(p->arena, PlanFragment *, n + 1),
               new_array(p->arena, PlanFragment *, p->ops.len + 1)};

    memcpy(c.fragment, k->fragment, sizeof *c.fragment * n);
    memcpy(c.layout, k->layout, sizeof *c.layout * p->ops.len);
    return c;
}

static int registers(const PlanState *p, const Known *k, int *known)
{
    int sum = 0;

    *known = 0;
    for (int i = 0; i < p->kernel->buffer_count; i++) {
        if (k->fragment[i]) {
            sum += k->fragment[i]->locals;
            ++*known;
        }
    }
    return sum;
}

// Tries every operation with an unknown fragment as the one that chooses.
static bool choose_root(PlanState *p, Known *k)
{
    Known best = {0};
    int best_sum = 0, best_known = 0, known;

    for (int i = 0; i < p->ops.len; i++) {
        if (!has_unknown(&p->ops.at[i], k))
            continue;
        Known c = known_copy(p, k);
        if (!infer_loop(p, &c, i, true))
            continue;
        propagate(p, &c);
        int sum = registers(p, &c, &known);
        if (!best.fragment || known > best_known ||
            (known == best_known && sum < best_sum)) {
            best = c;
            best_sum = sum;
            best_known = known;
        }
    }
    if (best.fragment)
        *k = best;
    return best.fragment != NULL;
}

static bool holds(const PlanFragment *f, int element, int thread)
{
    for (int r = 0; r < f->replicas; r++)
        if (f->thread[(size_t)r * f->elements + element] == thread)
            return true;
    return false;
}

// A loop's threads must hold what they access.
static void check_loop(PlanState *p, const PlanOp *op)
{
    for (int i = 0; i < op->loop->access.len; i++) {
        const PlanAccess *a = &op->loop->access.at[i];
        const PlanFragment *f = p->fragment[a->buffer->id], *l = op->layout;
        if (!f || f == l)
            continue;
        int32_t *e = elements_of(p, op->loop, a);
        for (int n = 0; n < l->elements; n++) {
            for (int r = 0; r < l->replicas; r++) {
                if (!holds(f, e[n],
                           l->thread[(size_t)r * l->elements + n])) {
                    p->launch->refused = "layouts of two fragments conflict";
                    return;
                }
            }
        }
    }
}

void plan_infer(PlanState *p)
{
    Known k = {p->fragment, new_array(p->arena, PlanFragment *,
                                      p->ops.len + 1)};

    from_gemms(p, &k);
    propagate(p, &k);
    while (choose_root(p, &k))
        ;
    for (int i = 0; i < p->ops.len; i++)
        if (p->ops.at[i].loop && touches_fragment(p->ops.at[i].loop))
            infer_loop(p, &k, i, true);
    memcpy(p->fragment, k.fragment,
           sizeof *p->fragment * p->kernel->buffer_count);
    for (int i = 0; i < p->ops.len; i++) {
        PlanOp *op = &p->ops.at[i];
        if (op->kind != PLANOP_LOOP)
            continue;
        op->layout = k.layout[i];
        if (op->layout)
            check_loop(p, op);
    }
}
