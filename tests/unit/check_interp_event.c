// check_interp_event.c - events: a control walk tells the same as a full run.
#include <stdlib.h>
#include <string.h>

#include "kernel_case.h"
#include "support/parallel.h"
#include "unit.h"

enum { MOST_EVENTS = 64, MOST_WORKERS = 64 };

// Per event and worker: how often, and a sum over the values that does not
// depend on the order of blocks.
typedef struct {
    int64_t count[MOST_WORKERS][MOST_EVENTS];
    uint64_t sum[MOST_WORKERS][MOST_EVENTS];
    const CodeEvent *event;
} Tally;

static void on_event(void *ctx, int worker, int64_t block, int event,
                     const int64_t *values)
{
    Tally *t = ctx;
    uint64_t hash = 1469598103934665603u;

    ck_assert_int_ge(block, 0);
    ck_assert_int_ge(worker, 0);
    ck_assert_int_lt(worker, MOST_WORKERS);
    ck_assert_int_lt(event, MOST_EVENTS);
    for (int i = 0; i < t->event[event].var_count; i++)
        hash = (hash ^ (uint64_t)values[i]) * 1099511628211u;
    t->count[worker][event]++;
    t->sum[worker][event] += hash;
}

typedef struct {
    int events;
    int64_t count[MOST_EVENTS];
    uint64_t sum[MOST_EVENTS];
    int stmt[MOST_EVENTS];
    bool tile_dependent;
} Counts;

static Counts counts_of(const Case *c, CodeMode mode, int threads)
{
    static Tally tally;     // too large for the stack
    InterpOptions o = {.event = on_event, .event_ctx = &tally};
    Program p = read_program(c);
    Code *code = code_lower(p.arena, p.diag, p.kernel, mode);
    Tensors t = make_tensors(c, p.kernel);
    Counts out = {0};
    InterpResult r;

    memset(&tally, 0, sizeof tally);
    ck_assert_ptr_nonnull(code);
    tally.event = code_events(code, &out.events);
    out.tile_dependent = code_facts(code).tile_dependent;
    parallel_set_threads(threads);
    r = interp_run(code, p.diag, t.arg, t.count, &o);
    for (int i = 0; i < out.events; i++)
        out.stmt[i] = tally.event[i].stmt;
    for (int w = 0; w < MOST_WORKERS; w++)
        for (int i = 0; i < out.events; i++) {
            out.count[i] += tally.count[w][i];
            out.sum[i] += tally.sum[w][i];
        }
    interp_result_release(&r);
    free_tensors(&t);
    close_program(&p);
    return out;
}

static int64_t total(const Counts *c)
{
    int64_t n = 0;

    for (int i = 0; i < c->events; i++)
        n += c->count[i];
    return n;
}

// Trips of "walk_data" come from a tensor (I) or from a tile (J): the latter
// needs a full run. Its let of a tile's element is no address.
static const struct {
    Case c;
    bool dependent;
} cases[] = {
    {{"gemm", 0, {"float16", "float32", "", "24, 16", "16, 40", "16", "40",
                  "False", "False"}}, false},
    {{"scalar", 50, {""}}, false},
    {{"masks", 57, {"float32"}}, false},
    {{"bounds", 13, {"float32"}}, false},
    {{"persistent", 11, {"float32"}}, false},
    {{"walk", 77, {"float32"}}, false},
    {{"walk", 16, {"float16"}}, false},
    {{"walk_data", 0, {"I"}}, false},
    {{"walk_data", 0, {"J"}}, true},
};

START_TEST(a_walk_counts_what_a_run_counts)
{
    Counts full = counts_of(&cases[_i].c, CODE_COUNTED, 1);
    Counts walk = counts_of(&cases[_i].c, CODE_CONTROL, 1);
    Counts wide = counts_of(&cases[_i].c, CODE_CONTROL, 3);

    ck_assert_int_gt(total(&full), 0);
    ck_assert_int_eq(walk.tile_dependent, cases[_i].dependent);
    ck_assert_int_eq(full.events, walk.events);
    ck_assert_mem_eq(full.count, walk.count, sizeof full.count);
    ck_assert_mem_eq(full.sum, walk.sum, sizeof full.sum);
    ck_assert_mem_eq(full.stmt, walk.stmt, sizeof full.stmt);
    ck_assert_mem_eq(walk.sum, wide.sum, sizeof walk.sum);
}
END_TEST

// 5 tiles of 16 rows hold 77, two blocks take every other one, 3 heads. Tile
// t makes t + 1 trips: 1 + 2 + 3 + 4 + 5 a head.
START_TEST(events_are_counted_as_by_hand)
{
    static const int64_t want[] = {15, 15, 45, 45, 15, 15};
    Case c = {"walk", 77, {"float32"}};
    Counts walk = counts_of(&c, CODE_CONTROL, 2);

    ck_assert_int_eq(walk.events, countof(want));
    ck_assert_mem_eq(walk.count, want, sizeof want);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("interp_event");
    TCase *t = tcase_create("events");

    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, a_walk_counts_what_a_run_counts, 0,
                        (int)countof(cases));
    tcase_add_test(t, events_are_counted_as_by_hand);
    suite_add_tcase(s, t);
    return unit_run(s);
}
