// cause.c - findings of one cause, by what they have in common.
//
// A finding keeps facts: which access of which buffer it is about, and what
// came of it. One follows from another where they name the same access, the
// elements of the same buffer, the same statement of a pair, or the same hang
// of a block; nearness in the source is no reason. The first of each cause is
// told in full.
#include "check/check_int.h"

#include <stdlib.h>
#include <string.h>

void add_fact(const Report *r, CheckFinding *f, int buffer, Span at,
              unsigned how)
{
    vec_push(r->a, &f->facts,
             ((CheckFact){root_of_buffer(r->k->code, buffer), at, how}));
}

// ---- what two findings have in common --------------------------------------

static bool same_span(Span a, Span b)
{
    return a.file == b.file && a.begin == b.begin && a.end == b.end;
}

// Facts of these kinds of the same buffer; at the same access, where `access`.
static bool share(const CheckFinding *x, unsigned how, const CheckFinding *y,
                  unsigned how_y, bool access)
{
    for (int i = 0; i < x->facts.len; i++)
        for (int j = 0; j < y->facts.len; j++) {
            const CheckFact *a = &x->facts.at[i], *b = &y->facts.at[j];

            if (a->how & how && b->how & how_y && a->buffer == b->buffer &&
                (!access || same_span(a->at, b->at)))
                return true;
        }
    return false;
}

// One side of both pairs is the same statement: a barrier beside it orders
// both.
static bool share_side(const CheckFinding *x, const CheckFinding *y,
                       unsigned side)
{
    for (int i = 0; i < x->facts.len; i++)
        for (int j = 0; j < y->facts.len; j++) {
            const CheckFact *a = &x->facts.at[i], *b = &y->facts.at[j];

            if (a->how & b->how & side && same_span(a->at, b->at))
                return true;
        }
    return false;
}

// Whether each store to the output that lacks elements is one of x's.
static bool has_all_stores(const CheckFinding *x, const CheckFinding *lacks)
{
    bool some = false;

    for (int i = 0; i < lacks->facts.len; i++) {
        const CheckFact *a = &lacks->facts.at[i];
        bool found = false;

        if (!(a->how & FACT_STORES))
            continue;
        for (int j = 0; j < x->facts.len && !found; j++)
            found = x->facts.at[j].buffer == a->buffer &&
                    same_span(x->facts.at[j].at, a->at);
        if (!found)
            return false;
        some = true;
    }
    return some;
}

// ---- which follows from which ----------------------------------------------

static bool is_bounds(FindingId id)
{
    return id == FINDING_OUT_OF_BOUNDS || id == FINDING_INDEX_RANGE ||
           id == FINDING_INDEX_OVERFLOW;
}

static bool is_of_threads(FindingId id)
{
    return id == FINDING_RACE_THREADS || id == FINDING_ASYNC_READ ||
           id == FINDING_ASYNC_OVERWRITE;
}

static bool is_of_elements(FindingId id)
{
    return id == FINDING_RACE_ITERATIONS || id == FINDING_RACE_BLOCKS ||
           id == FINDING_OUTPUT_CONFLICT;
}

static bool is_race(FindingId id)
{
    return is_of_threads(id) || is_of_elements(id);
}

// A missing value is an index, or the same elements are missing.
static bool after_missing(const CheckFinding *x, const CheckFinding *y)
{
    if (is_bounds(y->id) || is_race(y->id))
        return share(x, FACT_INDEX, y, FACT_ANY, true);
    if (y->id == FINDING_OUTPUT_UNWRITTEN)
        return share(x, FACT_INDEX | FACT_MISSING, y, FACT_MISSING, false);
    return y->id == FINDING_PIPELINE_ORDER && same_span(x->at, y->at) &&
           text_eq(x->tile, y->tile);
}

// Stores that are skipped leave elements out, or the same access is at fault.
static bool after_bounds(const CheckFinding *x, const CheckFinding *y)
{
    if (y->id == FINDING_UNINIT)
        return share(x, FACT_SKIPPED, y, FACT_MISSING, false);
    if (y->id == FINDING_OUTPUT_UNWRITTEN)
        return share(x, FACT_SKIPPED, y, FACT_MISSING, false) &&
               (x->count >= y->count || has_all_stores(x, y));
    return (is_race(y->id) || (x->id == FINDING_INDEX_OVERFLOW &&
                               y->id == FINDING_INDEX_RANGE)) &&
           share(x, FACT_ANY, y, FACT_ANY, true);
}

static bool after_race(const CheckFinding *x, const CheckFinding *y, bool first)
{
    if (y->id == FINDING_UNINIT)
        return is_of_threads(x->id) &&
               share(x, FACT_ANY, y, FACT_READ, true);
    if (y->id == FINDING_OUTPUT_UNWRITTEN)
        return x->id == FINDING_OUTPUT_CONFLICT && has_all_stores(x, y);
    if (!first)
        return false;
    if (is_of_threads(x->id) && is_of_threads(y->id))
        return share_side(x, y, FACT_FIRST) || share_side(x, y, FACT_SECOND);
    return is_of_elements(x->id) && is_of_elements(y->id) &&
           share(x, FACT_ANY, y, FACT_ANY, true);
}

static bool same_block(const CheckFinding *x, const CheckFinding *y)
{
    return x->launch == y->launch && x->block == y->block;
}

// Does y follow from x? `first`: x comes before y in the list.
static bool follows(const CheckFinding *x, const CheckFinding *y, bool first)
{
    switch (x->id) {
    case FINDING_UNINIT:
        return after_missing(x, y);
    case FINDING_INT_OVERFLOW:
    case FINDING_NARROWING:
        return (is_bounds(y->id) || is_race(y->id)) &&
               share(x, FACT_INDEX, y, FACT_ANY, true);
    case FINDING_OUTPUT_UNWRITTEN:
        return y->id == x->id && first && x->missing == y->missing;
    case FINDING_OVERRUN:
    case FINDING_PARTED:
        return y->id == FINDING_STUCK && same_block(x, y);
    case FINDING_STUCK:
        return y->id == x->id && first && same_block(x, y);
    default:
        return is_bounds(x->id) ? after_bounds(x, y)
               : is_race(x->id) && after_race(x, y, first);
    }
}

// ---- all -------------------------------------------------------------------

static int cause_of(const CheckFindings *all, int j)
{
    for (int i = 0; i < all->len; i++)
        if (i != j && follows(&all->at[i], &all->at[j], i < j))
            return i;
    return j;
}

// Where the way from cause to cause ends; the least of a circle.
static int root_of(const int *cause, int n, int j)
{
    int least;

    for (int i = 0; i < n && cause[j] != j; i++)
        j = cause[j];
    if (cause[j] == j)
        return j;
    least = j;
    for (int i = cause[j]; i != j; i = cause[i])
        least = i < least ? i : least;
    return least;
}

// Where the cause itself is not told the first of the others stands for it.
static int rank(FindingId id)
{
    return is_bounds(id)                    ? 0
           : is_race(id)                    ? 1
           : id == FINDING_OUTPUT_UNWRITTEN ? 3
                                            : 2;
}

static int by_rank(const void *a, const void *b)
{
    const CheckFinding *const *x = a, *const *y = b;
    int d = rank((*x)->id) - rank((*y)->id);

    return d ? d : *x < *y ? -1 : *x > *y;
}

// Adds what follows from the finding `root` behind it.
static int add_followers(const CheckFindings *all, const int *cause, int root,
                         CheckFinding *out)
{
    const CheckFinding *x = &all->at[root];
    const CheckFinding **found =
        xcalloc((size_t)all->len + 1, sizeof *found);
    int n = 0;

    for (int j = 0; j < all->len; j++)
        if (j != root && root_of(cause, all->len, j) == root)
            found[n++] = &all->at[j];
    qsort(found, (size_t)n, sizeof *found, by_rank);
    for (int j = 0; j < n; j++) {
        out[j] = *found[j];
        out[j].cause = (CheckCause){x->id, x->at};
        out[j].also = true;
    }
    free(found);
    return n;
}

void check_causes(Arena *a, CheckFindings *all)
{
    int n = all->len, len = 0;
    int *cause = xcalloc((size_t)n + 1, sizeof *cause);
    CheckFinding *sorted = new_array(a, CheckFinding, n + 1);

    for (int j = 0; j < n; j++)
        cause[j] = cause_of(all, j);
    for (int i = 0; i < n; i++) {
        if (root_of(cause, n, i) != i)
            continue;
        sorted[len] = all->at[i];
        sorted[len++].cause = (CheckCause){all->at[i].id, all->at[i].at};
        len += add_followers(all, cause, i, &sorted[len]);
    }
    free(cause);
    all->at = sorted;
    all->room = n + 1;
}
