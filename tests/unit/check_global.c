// check_global.c - sectors, lines and the banks of cp.async, as an H200
// counted them.
#include <string.h>

#include "sim_lds/async.h"
#include "unit.h"

// ---- the captured tables -------------------------------------------------

typedef struct {
    const char *op;
    GlobalKind kind;
    int bytes;
} OpRow;

static const OpRow ops[] = {
    {"ldg8", GLOBAL_LOAD, 1},             {"ldg16", GLOBAL_LOAD, 2},
    {"ldg32", GLOBAL_LOAD, 4},            {"ldg64", GLOBAL_LOAD, 8},
    {"ldg128", GLOBAL_LOAD, 16},          {"stg8", GLOBAL_STORE, 1},
    {"stg16", GLOBAL_STORE, 2},           {"stg32", GLOBAL_STORE, 4},
    {"stg64", GLOBAL_STORE, 8},           {"stg128", GLOBAL_STORE, 16},
    {"redg_add32", GLOBAL_REDUCE, 4},     {"redg_addf32", GLOBAL_REDUCE, 4},
    {"redg_add64", GLOBAL_REDUCE, 8},     {"redg_addf16x2", GLOBAL_REDUCE, 4},
    {"redg_addv2f32", GLOBAL_REDUCE, 8},  {"redg_addv4f32", GLOBAL_REDUCE, 16},
    {"atomg_add32", GLOBAL_REDUCE, 4},    {"cpa4", GLOBAL_COPY, 4},
    {"cpa8", GLOBAL_COPY, 8},             {"cpa16", GLOBAL_COPY, 16},
    {"cpg16", GLOBAL_BYPASS, 16},
};

static const OpRow *find_op(const char *name)
{
    for (size_t i = 0; i < countof(ops); i++)
        if (!strcmp(ops[i].op, name))
            return &ops[i];
    ck_abort_msg("unknown op %s", name);
}

static const char *read_lanes(const char *at, int64_t *out)
{
    char *end;

    for (int i = 0; i < 32; i++, at = end)
        out[i] = strtoll(at, &end, 10);
    return at;
}

// A line of a table; `copies` has the shared addresses first.
static const OpRow *read_row(const char *line, bool copies, GlobalAccess *a,
                             long *results, int count)
{
    char name[32], *end;
    const OpRow *op;
    int used;

    *a = (GlobalAccess){0};
    ck_assert_int_eq(sscanf(line, "%31s %lx%n", name, &a->active, &used), 2);
    op = find_op(name);
    a->kind = op->kind;
    a->bytes = op->bytes;
    line += used;
    if (copies)
        line = read_lanes(line, a->shared);
    line = read_lanes(line, a->address);
    for (int i = 0; i < count; i++, line = end)
        results[i] = strtol(line, &end, 10);
    return op;
}

typedef void Row(const char *line, void *ctx);

static int each_row(const char *file, Row *row, void *ctx)
{
    Arena *arena = arena_create();
    SourceSet *sources = sources_create();
    const char *why, *line, *next;
    uint32_t id = sources_read(
        sources, unit_path(arena, text_format(arena, "tests/data/hardware/%s",
                                              file).at), &why);
    Text text;
    int rows = 0;

    ck_assert_msg(id, "%s", why);
    text = text_copy(arena, sources_get(sources, id)->text);
    for (line = text.at; line < text.at + text.len; line = next + 1) {
        next = strchr(line, '\n');
        if (*line == '#' || !strncmp(line, "op\t", 3))
            continue;
        row(line, ctx);
        rows++;
    }
    sources_destroy(sources);
    arena_destroy(arena);
    return rows;
}

typedef struct {
    int measured;       // rows for which the rule claims to be exact
} Claims;

static void global_row(const char *line, void *ctx)
{
    const Device *d = device_find(TEXT("h200"));
    Claims *claims = ctx;
    GlobalAccess a;
    long want[2];
    const OpRow *op = read_row(line, false, &a, want, 2);
    GlobalCount c = global_count(d, &a);

    if (c.sectors_basis != BASIS_MEASURED)
        return;
    claims->measured++;
    ck_assert_int_eq(c.lines_basis, BASIS_MEASURED);
    ck_assert_msg(c.sectors == want[0] && c.lines == want[1],
                  "%s: %d sectors and %d lines, measured %ld and %ld: %.120s",
                  op->op, c.sectors, c.lines, want[0], want[1], line);
}

// Reductions over many lines are served in turns that nobody knows.
START_TEST(global_accesses_are_exact)
{
    Claims claims = {0};

    ck_assert_int_eq(each_row("h200_global_access.tsv.gz", global_row,
                              &claims), 1299);
    ck_assert_int_eq(claims.measured, 1299 - 169);
}
END_TEST

typedef struct {
    int sectors, lines, shared;
} CopyClaims;

// Counters of L1 see cp.async.ca alone.
static void copy_row(const char *line, void *ctx)
{
    const Device *d = device_find(TEXT("h200"));
    CopyClaims *claims = ctx;
    GlobalAccess a;
    long want[4];
    const OpRow *op = read_row(line, true, &a, want, 4);
    GlobalCount c = global_count(d, &a);
    AsyncCount n = async_count(d, &a);

    if (a.kind == GLOBAL_BYPASS) {
        ck_assert_int_eq(want[0], 0);
    } else if (n.counters == BASIS_MEASURED) {
        claims->shared++;
        ck_assert_msg(n.wavefronts == want[0] &&
                          n.wavefronts - n.passes == want[1],
                      "%s: %d wavefronts, %d passes, measured %ld and %ld: "
                      "%.200s", op->op, n.wavefronts, n.passes, want[0],
                      want[1], line);
    }
    if (c.sectors_basis == BASIS_MEASURED) {
        claims->sectors++;
        ck_assert_msg(c.sectors == want[2], "%s: %d sectors, measured %ld: %s",
                      op->op, c.sectors, want[2], line);
    }
    ck_assert_int_eq(c.lines_basis, BASIS_MEASURED);
    ck_assert_msg(c.lines == want[3], "%s: %d lines, measured %ld: %s", op->op,
                  c.lines, want[3], line);
    claims->lines++;
}

START_TEST(copies_are_exact_where_they_claim_it)
{
    CopyClaims claims = {0};

    ck_assert_int_eq(each_row("h200_async_copy.tsv.gz", copy_row, &claims),
                     688);
    ck_assert_int_eq(claims.lines, 688);
    ck_assert_int_gt(claims.sectors, 499 + 30);
    ck_assert_int_eq(claims.shared, 234);
}
END_TEST

// The source view takes P0 for false in what passes L1 by: such an instruction
// runs for nobody, or clears in all lanes or in none.
static void as_the_profiler_reads(const char *guard, const char *size,
                                  GlobalAccess *a)
{
    if (a->kind != GLOBAL_BYPASS)
        return;
    if (!strcmp(guard, "P0"))
        a->active = 0;
    if (!strcmp(size, "P0"))
        a->cleared = a->active;
    if (!strcmp(size, "!P0"))
        a->cleared = 0;
}

static void source_row(const char *line, void *ctx)
{
    const Device *d = device_find(TEXT("h200"));
    int *by_p0 = ctx, used;
    GlobalAccess a = {0};
    char name[32], guard[8], size[8], *end;
    AsyncCount n;
    long want[2];

    ck_assert_int_eq(sscanf(line, "%31s %7s %7s %lx %lx%n", name, guard, size,
                            &a.active, &a.cleared, &used), 5);
    a.kind = find_op(name)->kind;
    a.bytes = find_op(name)->bytes;
    line = read_lanes(read_lanes(line + used, a.shared), a.address);
    want[0] = strtol(line, &end, 10);
    want[1] = strtol(end, NULL, 10);
    as_the_profiler_reads(guard, size, &a);
    *by_p0 += a.kind == GLOBAL_BYPASS && (strstr(guard, "P0") ||
                                          strstr(size, "P0"));
    n = async_count(d, &a);
    ck_assert_msg(n.wavefronts == want[0] && n.ideal == want[1],
                  "%s %s %s: %d wavefronts, %d ideal, measured %ld and %ld; "
                  "active %lx, cleared %lx", name, guard, size, n.wavefronts,
                  n.ideal, want[0], want[1], a.active, a.cleared);
}

START_TEST(copies_are_exact_in_the_source_view)
{
    int by_p0 = 0;

    ck_assert_int_eq(each_row("h200_async_source.tsv.gz", source_row, &by_p0),
                     8094);
    ck_assert_int_gt(by_p0, 700);
}
END_TEST

// ---- by hand -------------------------------------------------------------

// 32 lanes of 16 bytes in a row are 512 bytes: 16 sectors, 4 lines. Rows of a
// 128-byte tile that are swizzled on the way in collide nowhere; written to
// a column of it, the 8 lanes of each pass meet in one bank.
START_TEST(a_tile_is_copied_as_by_hand)
{
    const Device *d = device_find(TEXT("h100"));
    GlobalAccess a = {.kind = GLOBAL_COPY, .bytes = 16, .active = 0xffffffff};
    AsyncCount n;
    GlobalCount c;

    for (int l = 0; l < 32; l++) {
        a.address[l] = 4096 + 16 * l;
        a.shared[l] = 128 * (l / 8) + 16 * (l % 8 ^ l / 8);
    }
    c = global_count(d, &a);
    n = async_count(d, &a);
    ck_assert_int_eq(c.sectors, 16);
    ck_assert_int_eq(c.lines, 4);
    ck_assert_int_eq(n.wavefronts, 4);
    ck_assert_int_eq(n.ideal, 4);
    for (int l = 0; l < 32; l++)
        a.shared[l] = 128 * (l % 8) + 16 * (l / 8);
    n = async_count(d, &a);
    ck_assert_int_eq(n.wavefronts, 32);
    ck_assert_int_eq(n.ideal, 4);
    ck_assert_int_eq(n.counters, BASIS_MEASURED);
    a.kind = GLOBAL_BYPASS;
    c = global_count(d, &a);
    ck_assert_int_eq(c.lines, 32);
}
END_TEST

// Wavefronts of one LDGSTS.BYPASS.128 in upstream's kernels on an H200
// (tests/data/plan/h200.tsv), by the bytes of a tile's rows and where the tile
// starts.
static const struct {
    const char *kernel;
    int row, start, wavefronts;
} bypasses[] = {
    {"g-direct B_shared", 256, 0, 4},
    {"attention K_shared", 128, 0, 4},
    {"gemm A_shared", 64, 0, 8},
    {"p-gemm_int4 B_shared", 32, 0, 16},
    {"biased-64", 128, 32, 8},
    {"biased", 64, 160, 12},
    {"biased-16", 32, 16, 32},
};

START_TEST(copies_past_l1_go_by_lines)
{
    const Device *d = device_find(TEXT("h200"));
    GlobalAccess a = {.kind = GLOBAL_BYPASS, .bytes = 16,
                      .active = 0xffffffff};

    for (int l = 0; l < 32; l++) {
        int row = bypasses[_i].row;
        a.address[l] = 2048 * (16 * l / row) + 16 * l % row;
        a.shared[l] = bypasses[_i].start + 16 * l;
    }
    ck_assert_int_eq(async_count(d, &a).wavefronts, bypasses[_i].wavefronts);
}
END_TEST

// All lanes add to one word: 32 turns of one sector.
START_TEST(equal_addresses_take_turns)
{
    const Device *d = device_find(TEXT("h100"));
    GlobalAccess a = {.kind = GLOBAL_REDUCE, .bytes = 4, .active = 0xffffffff};

    ck_assert_int_eq(global_count(d, &a).sectors, 32);
    a.active = 0xff;
    ck_assert_int_eq(global_count(d, &a).sectors, 8);
    a.kind = GLOBAL_LOAD;
    ck_assert_int_eq(global_count(d, &a).sectors, 1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("global");
    TCase *t = tcase_create("global");

    tcase_add_test(t, global_accesses_are_exact);
    tcase_add_test(t, copies_are_exact_where_they_claim_it);
    tcase_add_test(t, copies_are_exact_in_the_source_view);
    tcase_add_test(t, a_tile_is_copied_as_by_hand);
    tcase_add_loop_test(t, copies_past_l1_go_by_lines, 0,
                        countof(bypasses));
    tcase_add_test(t, equal_addresses_take_turns);
    suite_add_tcase(s, t);
    return unit_run(s);
}
