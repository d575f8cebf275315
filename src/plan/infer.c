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
    const bool *spilled;            // by buffer id
} Known;

static bool is_fragment(const Known *k, const IrBuffer *b)
{
    return b->scope == SCOPE_FRAGMENT && !k->spilled[b->id];
}

// ---- loops -----------------------------------------------------------------

static bool touches_fragment(const Known *k, const PlanLoop *l)
{
    for (int i = 0; i < l->access.len; i++)
        if (is_fragment(k, l->access.at[i].buffer))
            return true;
    return false;
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

// A fill takes the layout that its fragment gets from others.
static bool decides(const PlanOp *op)
{
    return op->kind == PLANOP_LOOP &&
           !(op->stmt->kind == STMT_TILE &&
             (op->stmt->op == OP_FILL || op->stmt->op == OP_CLEAR));
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
            k->layout[at] = plan_loop_like(p, l, a, k->fragment[a->buffer->id]);
        else if (free)
            k->layout[at] = plan_loop_planned(p, l);
        if (!k->layout[at])
            return false;
        changed = true;
    }
    for (int i = 0; i < l->access.len; i++) {
        const PlanAccess *a = &l->access.at[i];
        if (!is_fragment(k, a->buffer) || k->fragment[a->buffer->id])
            continue;
        PlanFragment *f = plan_complete(p, l, a, k->layout[at]);
        k->fragment[a->buffer->id] = f;
        changed |= f != NULL;
    }
    return changed;
}

// ---- reductions ------------------------------------------------------------

static bool infer_reduce(PlanState *p, Known *k, const PlanOp *op)
{
    const IrReduceShape *r = &op->reduce;
    const PlanFragment *src = k->fragment[r->src->id];

    if (!src || !is_fragment(k, r->out) || k->fragment[r->out->id])
        return false;
    k->fragment[r->out->id] = plan_reduced(p, r, src);
    return true;
}

// ---- passes ----------------------------------------------------------------

static void propagate(PlanState *p, Known *k)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (int i = 0; i < p->ops.len; i++) {
            const PlanOp *op = &p->ops.at[i];
            if (decides(op) && touches_fragment(k, op->loop))
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
            if (g->unit != PLAN_SCALAR && is_fragment(k, all[j]) &&
                !k->fragment[all[j]->id])
                k->fragment[all[j]->id] = plan_gemm_fragment(p, g, all[j]);
    }
}

// The first fragment of an operation that is not known, or NULL.
static const IrBuffer *unknown_of(const PlanOp *op, const Known *k)
{
    if (op->kind == PLANOP_REDUCE) {
        const IrBuffer *const both[] = {op->reduce.src, op->reduce.out};
        for (int i = 0; i < 2; i++)
            if (is_fragment(k, both[i]) && !k->fragment[both[i]->id])
                return both[i];
    }
    for (int i = 0; op->loop && i < op->loop->access.len; i++) {
        const IrBuffer *b = op->loop->access.at[i].buffer;
        if (is_fragment(k, b) && !k->fragment[b->id])
            return b;
    }
    return NULL;
}

// ---- components ------------------------------------------------------------

static void join(int *group, int n, const Known *k, const IrBuffer *a,
                 const IrBuffer *b)
{
    if (!is_fragment(k, b) || k->fragment[b->id])
        return;
    int from = group[b->id], to = group[a->id];
    for (int i = 0; i < n; i++)
        if (group[i] == from)
            group[i] = to;
}

// Unknown fragments that an operation has in common get the same number.
static int *components(PlanState *p, const Known *k)
{
    int n = p->kernel->buffer_count;
    int *group = new_array(p->arena, int, n + 1);

    for (int i = 0; i < n; i++)
        group[i] = i;
    for (int i = 0; i < p->ops.len; i++) {
        const PlanOp *op = &p->ops.at[i];
        const IrBuffer *a = unknown_of(op, k);
        if (!a)
            continue;
        if (op->kind == PLANOP_REDUCE)
            join(group, n, k, a, op->reduce.out);
        for (int j = 0; op->loop && j < op->loop->access.len; j++)
            join(group, n, k, a, op->loop->access.at[j].buffer);
    }
    return group;
}

static Known known_copy(PlanState *p, const Known *k)
{
    int n = p->kernel->buffer_count;
    Known c = {new_array(p->arena, PlanFragment *, n + 1),
               new_array(p->arena, PlanFragment *, p->ops.len + 1),
               k->spilled};

    memcpy(c.fragment, k->fragment, sizeof *c.fragment * n);
    memcpy(c.layout, k->layout, sizeof *c.layout * p->ops.len);
    return c;
}

// Registers of a component's fragments; -1 where one is still unknown.
static int registers(const PlanState *p, const Known *k, const int *group,
                     int wanted)
{
    int sum = 0;

    for (int i = 0; i < p->kernel->buffer_count; i++) {
        if (group[i] != wanted || !is_fragment(k, p->kernel->buffers[i]))
            continue;
        if (!k->fragment[i])
            return -1;
        sum += k->fragment[i]->locals;
    }
    return sum;
}

static bool in_group(const PlanOp *op, const Known *k, const int *group,
                     int wanted)
{
    const IrBuffer *b = decides(op) ? unknown_of(op, k) : NULL;
    return b && group[b->id] == wanted;
}

// ---- consistency -----------------------------------------------------------

// The threads of each point hold the element it accesses.
static bool access_holds(const PlanAccess *a, const PlanFragment *layout,
                         const PlanFragment *f)
{
    const int32_t *e = a->element;
    bool single = f->replicas == 1 && layout->replicas == 1;

    for (int n = 0; n < layout->elements; n++) {
        int at = 0;

        if (e[n] < 0 || e[n] >= f->elements)
            return false;
        if (single && f->thread[e[n]] == layout->thread[n])
            continue;
        for (int r = 0; r < layout->replicas; r++) {
            int t = layout->thread[(size_t)r * layout->elements + n];
            while (at < f->replicas &&
                   f->thread[(size_t)at * f->elements + e[n]] < t)
                at++;
            if (at == f->replicas ||
                f->thread[(size_t)at * f->elements + e[n]] != t)
                return false;
        }
    }
    return true;
}

static bool loop_holds(const PlanLoop *l, const PlanFragment *layout,
                       PlanFragment *const *known)
{
    for (int i = 0; i < l->access.len; i++) {
        const PlanAccess *a = &l->access.at[i];
        const PlanFragment *f = known[a->buffer->id];
        if (f && !access_holds(a, layout, f))
            return false;
    }
    return true;
}

static bool op_holds(PlanState *p, const Known *k, int at)
{
    const PlanOp *op = &p->ops.at[at];

    if (op->kind == PLANOP_LOOP)
        return !k->layout[at] ||
               loop_holds(op->loop, k->layout[at], k->fragment);
    if (op->kind != PLANOP_REDUCE)
        return true;
    const PlanFragment *src = k->fragment[op->reduce.src->id];
    const PlanFragment *out = k->fragment[op->reduce.out->id];
    return !src || !out || plan_reduce_holds(&op->reduce, src, out);
}

// Operation `root` chooses, then the others of its component in their order.
static Known attempt(PlanState *p, const Known *k, const int *group,
                     int wanted, int root)
{
    Known c = known_copy(p, k);

    infer_loop(p, &c, root, true);
    propagate(p, &c);
    for (int i = 0; i < p->ops.len; i++) {
        if (i != root && in_group(&p->ops.at[i], &c, group, wanted) &&
            infer_loop(p, &c, i, true))
            propagate(p, &c);
    }
    return c;
}

static bool is_consistent(PlanState *p, const Known *k)
{
    for (int i = 0; i < p->ops.len; i++)
        if (!op_holds(p, k, i))
            return false;
    return true;
}

// Tries every operation of the first unknown component as the one that
// chooses. `tried` marks components that nothing could settle.
static bool settle_component(PlanState *p, Known *k, bool *tried)
{
    int *group = components(p, k), wanted = -1, best_sum = -1;
    Known best = {0};

    for (int i = 0; i < p->ops.len; i++) {
        const IrBuffer *b = decides(&p->ops.at[i]) ? unknown_of(&p->ops.at[i],
                                                                k)
                                                   : NULL;
        int of = b ? group[b->id] : -1;
        if (of < 0 || tried[of] || (wanted >= 0 && of != wanted))
            continue;
        wanted = of;
        Known c = attempt(p, k, group, wanted, i);
        int sum = registers(p, &c, group, wanted);
        if (sum < 0 || (best_sum >= 0 && sum >= best_sum))
            continue;
        if (is_consistent(p, &c)) {
            best = c;
            best_sum = sum;
        }
    }
    if (wanted >= 0)
        tried[wanted] = true;
    if (best.fragment)
        *k = best;
    return wanted >= 0;
}

// Why upstream's compiler would give up on an operation, if it would.
static void refuse(PlanState *p, const Known *k, int at)
{
    const PlanOp *op = &p->ops.at[at];
    PlanLaunch *l = p->launch;

    if (!op_holds(p, k, at))
        l->refused = "layouts of two fragments conflict";
    else if (op->kind == PLANOP_REDUCE && k->fragment[op->reduce.src->id])
        plan_reduce_refusal(&op->reduce, k->fragment[op->reduce.src->id],
                            &l->refused, &l->doubted);
    else if (op->kind == PLANOP_LOOP && !op->layout &&
             touches_fragment(k, op->loop))
        l->refused =
            "the elements of a loop do not spread evenly over the threads";
}

// Layouts of all that is in registers, as far as they can be had.
static Known infer(PlanState *p)
{
    int n = p->kernel->buffer_count;
    Known k = {new_array(p->arena, PlanFragment *, n + 1),
               new_array(p->arena, PlanFragment *, p->ops.len + 1),
               p->spilled};

    from_gemms(p, &k);
    propagate(p, &k);
    bool *tried = new_array(p->arena, bool, n + 1);
    while (settle_component(p, &k, tried))
        ;
    for (int i = 0; i < p->ops.len; i++)
        if (p->ops.at[i].loop && touches_fragment(&k, p->ops.at[i].loop))
            infer_loop(p, &k, i, true);
    return k;
}

static void keep(PlanState *p, const Known *k)
{
    for (int i = 0; i < p->kernel->buffer_count; i++)
        if (k->fragment[i])
            p->fragment[i] = k->fragment[i];
    for (int i = 0; i < p->ops.len; i++)
        p->ops.at[i].layout = k->layout[i];
}

void plan_infer(PlanState *p)
{
    Known k = infer(p);

    keep(p, &k);
    for (int i = 0; i < p->ops.len; i++)
        refuse(p, &k, i);
}

// ---- our own rules ---------------------------------------------------------

// Threads that hold an element that a point writes run that point.
static bool writes_all(const PlanAccess *a, const PlanFragment *layout,
                       const PlanFragment *f)
{
    const int32_t *e = a->element;

    for (int n = 0; n < layout->elements; n++)
        for (int r = 0; r < f->replicas; r++)
            if (!plan_holds(layout, n, f->thread[(size_t)r * f->elements + e[n]]))
                return false;
    return true;
}

static void spill(PlanState *p, const IrBuffer *b)
{
    p->spilled[b->id] = true;
}

static bool feeds_gemm(const PlanState *p, const IrBuffer *b)
{
    for (int i = 0; i < p->launch->gemm_count; i++)
        if (p->launch->gemms[i].a == b || p->launch->gemms[i].b == b)
            return true;
    return false;
}

// What a loop's threads do not hold moves to shared memory; rather the operand
// of a gemm, which can be read from there as well.
static void spill_loop(PlanState *p, const Known *k, int at)
{
    const PlanLoop *l = p->ops.at[at].loop;
    const PlanFragment *layout = k->layout[at];
    const IrBuffer *first = NULL, *operand = NULL;

    for (int i = 0; i < l->access.len; i++) {
        const PlanAccess *a = &l->access.at[i];
        const PlanFragment *f = k->fragment[a->buffer->id];
        if (!is_fragment(k, a->buffer))
            continue;
        if (!operand && feeds_gemm(p, a->buffer))
            operand = a->buffer;
        bool ok = layout && f && access_holds(a, layout, f) &&
                  (!a->is_store || writes_all(a, layout, f));
        if (!ok && !first)
            first = a->buffer;
    }
    if (first)
        spill(p, operand ? operand : first);
}

bool plan_same(const PlanFragment *f, const PlanFragment *g)
{
    size_t n = (size_t)f->elements * f->replicas;

    return f->elements == g->elements && f->replicas == g->replicas &&
           !memcmp(f->local, g->local, sizeof *f->local * f->elements) &&
           !memcmp(f->thread, g->thread, sizeof *f->thread * n);
}

// A gemm without a matrix unit reads its operands from shared memory; one with
// it wants them, and its result, as the unit has them.
static void spill_gemm(PlanState *p, const Known *k, PlanGemm *g)
{
    IrBuffer *const all[] = {g->a, g->b, g->c};

    for (size_t i = 0; i < countof(all); i++) {
        const PlanFragment *f = k->fragment[all[i]->id];
        if (!is_fragment(k, all[i]))
            continue;
        if (!f || (g->unit == PLAN_SCALAR && all[i] != g->c))
            spill(p, all[i]);
        else if (g->unit != PLAN_SCALAR &&
                 !plan_same(f, plan_gemm_fragment(p, g, all[i])))
            spill(p, all[i]);
    }
    if (!is_fragment(k, g->c))
        g->unit = PLAN_SCALAR;
}

static void spill_reduce(PlanState *p, const Known *k, PlanOp *op)
{
    IrBuffer *const both[] = {op->reduce.src, op->reduce.out};

    for (int i = 0; i < 2; i++)
        if (is_fragment(k, both[i]) && !k->fragment[both[i]->id])
            spill(p, both[i]);
    const PlanFragment *src = k->fragment[op->reduce.src->id];
    if (src && !plan_combine(p, op, src))
        spill(p, op->reduce.src);
}

static void spill_op(PlanState *p, const Known *k, int at)
{
    PlanOp *op = &p->ops.at[at];

    if (op->kind == PLANOP_LOOP && touches_fragment(k, op->loop))
        spill_loop(p, k, at);
    else if (op->kind == PLANOP_GEMM)
        spill_gemm(p, k, op->gemm);
    else if (op->kind == PLANOP_REDUCE)
        spill_reduce(p, k, op);
}

static int count_spilled(const PlanState *p)
{
    int n = 0;

    for (int i = 0; i < p->kernel->buffer_count; i++)
        n += p->spilled[i];
    for (int i = 0; i < p->launch->gemm_count; i++)
        n += p->launch->gemms[i].unit == PLAN_SCALAR;
    return n;
}

// Upstream's layouts, held against what registers of ours can do; reductions
// get the steps that combine them.
void plan_find_unheld(PlanState *p)
{
    PlanLaunch *l = p->launch;
    int n = p->kernel->buffer_count;
    bool *spilled = p->spilled;
    PlanUnit *unit = new_array(p->arena, PlanUnit, l->gemm_count + 1);
    Known k = {.fragment = p->fragment,
               .layout = new_array(p->arena, PlanFragment *, p->ops.len + 1)};

    k.spilled = p->spilled = new_array(p->arena, bool, n + 1);
    for (int i = 0; i < p->ops.len; i++)
        k.layout[i] = p->ops.at[i].layout;
    for (int i = 0; i < l->gemm_count; i++)
        unit[i] = l->gemms[i].unit;
    plan_spill_odd(p);
    for (int i = 0; i < p->ops.len; i++)
        spill_op(p, &k, i);
    for (int i = 0; i < n && !l->unheld; i++)
        if (p->spilled[i])
            l->unheld = p->kernel->buffers[i];
    for (int i = 0; i < l->gemm_count; i++)
        l->gemms[i].unit = unit[i];
    p->spilled = spilled;
}

void plan_infer_own(PlanState *p)
{
    Known k;
    int before;

    plan_spill_odd(p);
    do {
        before = count_spilled(p);
        plan_widen(p);
        k = infer(p);
        for (int i = 0; i < p->ops.len; i++)
            spill_op(p, &k, i);
    } while (count_spilled(p) != before);
    for (int i = 0; i < p->kernel->buffer_count; i++)
        if (k.fragment[i])
            plan_number(p, k.fragment[i]);
    for (int i = 0; i < p->ops.len; i++)
        if (k.layout[i]) {
            plan_number(p, k.layout[i]);
            k.layout[i] = plan_number_copy(p, p->ops.at[i].loop, k.layout[i]);
        }
    keep(p, &k);
}
