// verify.c - what every plan must hold.
#include "plan/plan.h"

static bool overlap(const PlanBuffer *a, const PlanBuffer *b)
{
    return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

static bool in_arena(const PlanBuffer *b)
{
    return !b->is_static && !b->is_unused;
}

static bool live_together(const PlanBuffer *a, const PlanBuffer *b)
{
    return a->first <= b->last && b->first <= a->last;
}

static void verify_arena(const PlanLaunch *l)
{
    for (int i = 0; i < l->buffer_count; i++) {
        const PlanBuffer *a = &l->buffers[i];
        if (!in_arena(a))
            continue;
        if (a->offset % a->align || a->offset + a->bytes > l->arena)
            BUG("plan: '%.*s' lies outside the arena", TEXT_ARG(a->name));
        for (int j = 0; j < i; j++) {
            const PlanBuffer *b = &l->buffers[j];
            if (in_arena(b) && live_together(a, b) && overlap(a, b))
                BUG("plan: '%.*s' and '%.*s' overlap", TEXT_ARG(a->name),
                    TEXT_ARG(b->name));
        }
    }
}

// Every thread exists, and no two elements share a register.
static void verify_fragment(const PlanFragment *f, Text name)
{
    for (int e = 0; e < f->elements; e++)
        if (f->local[e] < 0 || f->local[e] >= f->locals)
            BUG("plan: element %d of '%.*s' has local %d of %d", e,
                TEXT_ARG(name), f->local[e], f->locals);
}

bool plan_verify(const Plan *p)
{
    for (int i = 0; i < p->launch_count; i++)
        verify_arena(&p->launches[i]);
    for (int i = 0; i < p->kernel->buffer_count; i++)
        if (p->fragments[i])
            verify_fragment(p->fragments[i], p->kernel->buffers[i]->name);
    return true;
}
