// reduce.c - what a reduction makes of its source's layout, and the steps in
// which threads combine their parts.
#include "plan/plan_int.h"

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

PlanFragment *plan_reduced(PlanState *p, const IrReduceShape *r,
                           const PlanFragment *src)
{
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
    return plan_condense(p, r->out, thread, slots);
}

// Replicas of a fragment are in ascending order of their threads.
bool plan_holds(const PlanFragment *f, int element, int thread)
{
    for (int r = 0; r < f->replicas; r++)
        if (f->thread[(size_t)r * f->elements + element] == thread)
            return true;
    return false;
}

// A result lies with threads that take part in its reduction.
bool plan_reduce_holds(const IrReduceShape *r, const PlanFragment *src,
                         const PlanFragment *out)
{
    int first, step;

    for (int o = 0; o < out->elements; o++) {
        reduced(r, src, o, &first, &step);
        for (int k = 0; k < out->replicas; k++) {
            int t = out->thread[(size_t)k * out->elements + o];
            bool found = false;
            for (int i = 0; i < src->shape[r->dim] && !found; i++)
                found = plan_holds(src, first + i * step, t);
            if (!found)
                return false;
        }
    }
    return true;
}

// ---- digits ----------------------------------------------------------------

// The reduced index as a number of mixed radix: index / factor % extent times
// `thread` is a part of the thread, or times `local` of its local number.
typedef struct {
    int factor, extent, thread, local;
} Digit;

enum { MAX_DIGITS = 12 };

typedef struct {
    Digit at[MAX_DIGITS];
    int len;
} Digits;

static Digits digits_of(const IrReduceShape *r, const PlanFragment *src)
{
    int n = (int)src->shape[r->dim], first, step;
    Digits d = {.len = 0};

    reduced(r, src, 0, &first, &step);
    const int32_t *thread = src->thread + first, *local = src->local + first;
    for (int f = 1; f < n && d.len < MAX_DIGITS;) {
        int by = thread[f * step] - thread[0], in = local[f * step] - local[0];
        int e = 2;
        while (f * e < n && thread[f * e * step] == thread[0] + by * e &&
               local[f * e * step] == local[0] + in * e)
            e++;
        d.at[d.len++] = (Digit){f, e, by, in};
        f *= e;
    }
    return d;
}

// A step that reaches past 32 threads gets a workspace, also where waves have
// 64.
int plan_workspaces(const PlanState *p, const PlanOp *op, PlanStep *steps)
{
    const PlanFragment *src = p->fragment[op->reduce.src->id];
    int count = 0;

    if (!src)
        return 0;
    Digits d = digits_of(&op->reduce, src);
    for (int i = 0; i < d.len; i++) {
        PlanStep s = {d.at[i].thread, d.at[i].thread * d.at[i].extent};
        if (s.scale > 0 && s.reach > 32 && count < PLAN_STEPS)
            steps[count++] = s;
    }
    return count;
}

// What upstream has to prove of a reduction, by the digits from the first one
// that is threads: `first` threads with `low` elements of a thread before them,
// `between` elements of it until the next threads, and `top` threads after
// those. `parts` digits are elements; the last of them has `last`.
typedef struct {
    int low, first, between, top, parts, last;
} Proof;

static Proof proof_of(const Digits *d)
{
    Proof f = {.low = 1, .between = 1, .top = 1};

    for (int i = 0; i < d->len; i++) {
        int e = d->at[i].extent;
        if (!d->at[i].thread && !f.first) {
            f.low *= e;
        } else if (!d->at[i].thread) {
            f.parts++;
            f.last = e;
        } else if (!f.first) {
            f.first = e;
        } else if (f.parts) {
            f.between = f.last;
            f.top *= e;
        }
    }
    return f;
}

typedef enum { PROVED, PERHAPS, NEVER } Outcome;

// Upstream proves that which elements a thread has does not depend on the digits
// that are threads. What its rules cannot do goes to a general solver with a
// budget of steps. Those grow with `top`, how often the digits before it repeat;
// within a factor of two they depend on the order in which the solver met its
// terms, and so on what the process compiled before. docs/plan.md has the
// numbers that this was read off.
static Outcome prove(const Proof *f, bool is_last_of_two)
{
    if (f->top == 1)
        return f->parts < 2 || (f->parts == 2 && f->last == 2) ? PROVED
                                                                : PERHAPS;
    if (f->parts > 1)
        return NEVER;
    if (f->top == 2)
        return PROVED;
    if (f->top == 4 && f->low == 1)
        return f->first <= 8 || f->between == 2 ? PROVED : PERHAPS;
    if (f->top == 4)
        return f->first == 4 && f->between == 2 && is_last_of_two ? PROVED
                                                                  : PERHAPS;
    if (f->low == 1 || (f->low == 4 && f->between == 2 && f->top == 8))
        return PERHAPS;
    return NEVER;
}

void plan_reduce_refusal(const IrReduceShape *r, const PlanFragment *src,
                         const char **never, const char **perhaps)
{
    Digits d = digits_of(r, src);
    Proof f = proof_of(&d);
    Outcome outcome = prove(&f, src->rank == 2 && r->dim == 1);

    for (int i = 0; i < d.len; i++)
        if (d.at[i].thread && d.at[i].extent & (d.at[i].extent - 1))
            *never = "a reduction over threads that are no power of two";
    if (outcome == NEVER)
        *never = "a reduction where which elements a thread has is too much to "
                 "prove";
    else if (outcome == PERHAPS)
        *perhaps = "a reduction where to prove which elements a thread has takes "
                   "about as many steps as may be: what was compiled before "
                   "decides";
}

// Results that one thread has a part of: so often it takes part in a step.
int plan_results(const PlanState *p, const PlanOp *op)
{
    const IrReduceShape *r = &op->reduce;
    const PlanFragment *src = p->fragment[r->src->id];
    int extent = src ? (int)src->shape[r->dim] : 0, first, step, most = 0;
    int held[PLAN_MAX_THREADS] = {0}, last[PLAN_MAX_THREADS] = {0};

    for (int o = 0; extent && o < src->elements / extent; o++) {
        reduced(r, src, o, &first, &step);
        for (int i = 0; i < extent; i++) {
            int t = src->thread[first + i * step];
            if (last[t] == o + 1)
                continue;
            last[t] = o + 1;
            most = ++held[t] > most ? held[t] : most;
        }
    }
    return most;
}

