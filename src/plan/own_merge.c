// own_merge.c - loads that the compiler makes one of, by either rules.
//
// The numbers of a layout are an unrolled loop. Where it stores to registers
// alone, a thread loads a word once, and words that lie in a row at a multiple
// of their size together. Conditions, and stores that may be to the same place,
// keep loads apart.
#include "plan/plan_int.h"

// By local number whether all threads that have a point there have its element
// under an earlier number, too; false where threads differ.
static bool find_repeats(PlanState *p, const PlanLoop *l, const PlanAccess *a,
                         const PlanWork *w, bool *repeats, int64_t *element)
{
    int64_t point[IR_MAX_RANK] = {0};
    bool *seen = new_array(p->arena, bool, w->locals + 1);

    for (int64_t n = 0; n < l->points; n++) {
        element[n] = plan_element(l, a, point);
        plan_next_point(l, point);
    }
    for (int t = 0; t < w->threads; t++) {
        const int32_t *mine = &w->point[t * w->locals];
        for (int i = 0; i < w->locals; i++) {
            bool again = false;
            if (mine[i] < 0)
                continue;
            for (int k = 0; k < i && !again; k++)
                again = mine[k] >= 0 && element[mine[k]] == element[mine[i]];
            if (seen[i] && again != repeats[i])
                return false;
            seen[i] = true;
            repeats[i] = again;
        }
    }
    return true;
}

// Whether every `width` of the points that are left lie in a row.
static bool are_runs(const PlanWork *w, const int64_t *element, int width)
{
    if (w->locals % width)
        return false;
    for (int i = 0; i < w->threads * w->locals; i += width) {
        if (w->point[i] < 0)
            return false;
        int64_t first = element[w->point[i]];
        if (first % width)
            return false;
        for (int k = 1; k < width; k++)
            if (w->point[i + k] < 0 || element[w->point[i + k]] != first + k)
                return false;
    }
    return true;
}

static bool may_merge(const PlanState *p, const PlanLoop *l,
                      const PlanAccess *a)
{
    for (int i = 0; i < l->access.len; i++) {
        const IrBuffer *b = l->access.at[i].buffer;
        if (l->access.at[i].is_store && (b->scope == SCOPE_GLOBAL ||
                                         plan_in_shared(p, b)))
            return false;
    }
    return !a->is_store && !a->guard && !a->nest && a->buffer->rank > 0 &&
           plan_in_shared(p, a->buffer);
}

// Whether `width` points in a row are read again together, or none of them.
static bool repeats_whole(const bool *repeats, int locals, int width)
{
    for (int i = 0; i < locals; i++)
        if (repeats[i] != repeats[i / width * width])
            return false;
    return true;
}

// The work that is left of a load that moves `width` elements at a time, and how
// many move then.
PlanWork *plan_merged(PlanState *p, const PlanLoop *l, const PlanAccess *a,
                      PlanWork *w, int *width)
{
    bool *repeats = new_array(p->arena, bool, w->locals + 1);
    int64_t *element = new_array(p->arena, int64_t, l->points + 1);
    int bits = plan_bits(p->plan->rules, a->buffer), kept = 0, least = *width;

    if (!may_merge(p, l, a) ||
        !find_repeats(p, l, a, w, repeats, element) ||
        !repeats_whole(repeats, w->locals, least))
        return w;
    for (int i = 0; i < w->locals; i++)
        kept += !repeats[i];
    PlanWork *out = plan_work_new(p, w->threads, kept);
    for (int t = 0; t < w->threads; t++)
        for (int i = 0, to = 0; i < w->locals; i++)
            if (!repeats[i])
                out->point[t * kept + to++] = w->point[t * w->locals + i];
    for (*width = 128 / bits; *width > least; *width /= 2)
        if (!p->shared[a->buffer->id].address && are_runs(out, element, *width))
            break;
    return out;
}
