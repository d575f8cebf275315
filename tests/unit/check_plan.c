// check_plan.c - rules of plans whose source is a table that was measured.
#include "plan/plan_int.h"
#include "unit.h"

// A row of tests/data/plan/steps.tsv: digits of a reduced index, the lowest
// first, and the steps that upstream's solver took of its budget.
typedef struct {
    int low, first, between, top, past;
    char others[16];
    int times, over, least, most;
} Row;

// A fragment that holds the reduced index so; its other dimensions have 2.
static PlanFragment fragment(Arena *a, const Row *f, IrReduceShape *r)
{
    int lane = f->low * f->first, tile = lane * f->between;
    int extent = tile * f->top * f->past, inner = 1;
    PlanFragment p = {.elements = 1, .replicas = 1};

    for (const char *at = f->others; *at; at += strcspn(at, ",")) {
        at += *at == ',';
        if (*at == '0')
            r->dim = p.rank;
        p.shape[p.rank] = *at == '0' ? extent : 2;
        p.elements *= (int)p.shape[p.rank++];
    }
    for (int d = r->dim + 1; d < p.rank; d++)
        inner *= (int)p.shape[d];
    p.thread = new_array(a, int32_t, (size_t)p.elements);
    p.local = new_array(a, int32_t, (size_t)p.elements);
    for (int e = 0; e < p.elements; e++) {
        int i = e / inner % extent;
        p.thread[e] = i / f->low % f->first + i / tile % f->top * f->first * 8;
        p.local[e] = i % f->low + i / lane % f->between * f->low * 2 +
                     i / (tile * f->top) * f->low * 16;
    }
    return p;
}

// What may be proved always took few enough steps, and what never is took too
// many at 9 of 10 times.
static void holds(Arena *a, const Row *f, int budget, int *sure)
{
    IrReduceShape r = {0};
    PlanFragment p = fragment(a, f, &r);
    const char *never = NULL, *perhaps = NULL;

    plan_reduce_refusal(&r, &p, &never, &perhaps);
    if (never)
        ck_assert_int_ge(f->over * 10, f->times * 9);
    else if (!perhaps)
        ck_assert_int_le(f->most, budget);
    *sure += !perhaps;
}

START_TEST(proofs_are_as_the_solver_counts)
{
    Arena *a = arena_create();
    const char *name = unit_path(a, "tests/data/plan/steps.tsv");
    FILE *f = fopen(name, "r");
    char line[200];
    int rows = 0, sure = 0, budget = 0;
    Row r;

    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, f));
    ck_assert_int_eq(sscanf(line, "# made by %*s budget %d", &budget), 1);
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "%d %d %d %d %d %15s %d %d %d %d", &r.low, &r.first,
                   &r.between, &r.top, &r.past, r.others, &r.times, &r.over,
                   &r.least, &r.most) != 10)
            continue;
        holds(a, &r, budget, &sure);
        rows++;
    }
    fclose(f);
    arena_destroy(a);
    ck_assert_int_gt(rows, 80);
    ck_assert_int_gt(sure * 2, rows);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("plan");
    TCase *proofs = tcase_create("proofs");

    tcase_add_test(proofs, proofs_are_as_the_solver_counts);
    suite_add_tcase(s, proofs);
    return unit_run(s);
}
