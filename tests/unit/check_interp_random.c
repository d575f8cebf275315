// check_interp_random.c - random kernels against the naive reading.
//
// A kernel is written as IR text from a seed: tiles filled, T.Parallel loops
// with conditions, inner loops, lets and per-lane variables, reductions and
// copies with tails, over random dtypes. Within one T.Parallel only the own
// element of the tile that is written is read. TILESIM_SEEDS=first:count runs
// others than the default.
#include <stdlib.h>
#include <string.h>

#include "../oracle/naive.h"
#include "kernel_case.h"
#include "support/parallel.h"
#include "unit.h"

enum { ROWS = 6, COLS = 21, MOST_DEPTH = 4 };

typedef struct {
    uint64_t state;
    TextBuf out;
    const char *type; // of the floats (or integers) computed
    bool is_float;
    const char *target;    // the tile this T.Parallel writes, or NULL
    bool var;              // `acc` may be read
    int lets, loops;       // that are in scope
    int let[40], loop[20]; // their numbers
    int next_let, next_loop;
    int indent;
} Writer;

static uint32_t pick(Writer *w, uint32_t n)
{
    w->state = w->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(w->state >> 33) % n;
}

static void put(Writer *w, const char *format, ...) PRINTF_LIKE(2, 3);

static void put(Writer *w, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    buf_vprintf(&w->out, format, args);
    va_end(args);
}

static void line(Writer *w)
{
    put(w, "\n%*s", 2 * w->indent, "");
}

// ---- expressions ---------------------------------------------------------

static void put_value(Writer *w, int depth);
static void put_truth(Writer *w, int depth);

static void put_coordinate(Writer *w)
{
    uint32_t r = pick(w, w->target ? 5 : 2);

    if (r == 0)
        put(w, "bx");
    else if (r == 1)
        put(w, "%u", pick(w, 9));
    else if (r == 2 && w->loops)
        put(w, "k%d", w->loop[pick(w, (uint32_t)w->loops)]);
    else
        put(w, w->target ? (r & 1 ? "i" : "j") : "m");
}

// No difference is provably negative: such an index counts from the end.
static void put_int(Writer *w, int depth)
{
    static const char *const ops[] = {" + ", " - ", " * "};
    const char *op;

    switch (depth ? pick(w, 6) : 0) {
    case 0:
    case 1:
        put_coordinate(w);
        break;
    case 2:
        put(w, "(");
        put_int(w, depth - 1);
        put(w, "%s", op = ops[pick(w, 3)]);
        put(w, op == ops[1] ? "bx * " : "");
        put_int(w, depth - 1);
        put(w, op == ops[1] ? " %% 3)" : ")");
        break;
    case 3:
        put(w, "(");
        put_int(w, depth - 1);
        put(w, pick(w, 2) ? " // %u)" : " %% %u)", 1 + pick(w, 7));
        break;
    case 4:
        put(w, "T.%s(", pick(w, 2) ? "max" : "min");
        put_int(w, depth - 1);
        put(w, ", ");
        put_int(w, depth - 1);
        put(w, ")");
        break;
    default:
        put(w, "I[");
        put_int(w, depth - 1);
        put(w, "]");
    }
}

// Any index, now and then one that is out of range.
static void put_index(Writer *w, int size)
{
    if (pick(w, 12) == 0) {
        put_int(w, 2);
        return;
    }
    put(w, "(");
    put_int(w, 2);
    put(w, ") %% %d", size);
}

static void put_element(Writer *w)
{
    static const char *const tiles[] = {"F", "S", "G"};
    const char *tile = tiles[pick(w, 3)];

    if (w->target && !strcmp(tile, w->target)) {
        put(w, "%s[i, j]", tile);
        return;
    }
    if (w->target && pick(w, 3) == 0) {
        put(w, pick(w, 2) ? "%s[i, j]" : "%s[i, 0]", tile);
        return;
    }
    put(w, "%s[", tile);
    put_index(w, ROWS);
    put(w, ", ");
    put_index(w, COLS);
    put(w, "]");
}

static void put_leaf(Writer *w)
{
    switch (pick(w, 6)) {
    case 0:
        if (w->is_float)
            put(w, "%u.%u_f32", pick(w, 4), pick(w, 100));
        else
            put(w, "%u", pick(w, 50));
        break;
    case 1:
        put(w, "A[");
        put_int(w, 2);
        put(w, ", ");
        put_int(w, 1);
        put(w, "]");
        break;
    case 2:
        if (w->lets) {
            put(w, "x%d", w->let[pick(w, (uint32_t)w->lets)]);
            break;
        }
        // fall through
    case 3:
        if (w->var && w->target) {
            put(w, "acc[0]");
            break;
        }
        // fall through
    default:
        put_element(w);
    }
}

static void put_pair(Writer *w, const char *open, const char *between,
                     int depth)
{
    put(w, "%s", open);
    put_value(w, depth);
    put(w, "%s", between);
    put_value(w, depth);
    put(w, ")");
}

static void put_value(Writer *w, int depth)
{
    static const char *const ops[] = {" + ", " - ", " * "};

    switch (depth ? pick(w, 8) : 0) {
    case 0:
    case 1:
        put_leaf(w);
        break;
    case 2:
    case 3:
        put_pair(w, "(", ops[pick(w, 3)], depth - 1);
        break;
    case 4:
        put_pair(w, pick(w, 2) ? "T.max(" : "T.min(", ", ", depth - 1);
        break;
    case 5:
        put(w, "T.if_then_else(");
        put_truth(w, depth - 1);
        put_pair(w, ", ", ", ", depth - 1);
        break;
    case 6:
        put(w, "%s(", w->type);
        put_int(w, depth - 1);
        put(w, ")");
        break;
    default:
        put(w, "T.abs(");
        put_value(w, depth - 1);
        put(w, ")");
    }
}

static void put_truth(Writer *w, int depth)
{
    static const char *const ops[] = {
        " < ", " <= ", " == ", " != ", " > ", " >= "};

    if (depth && pick(w, 3) == 0) {
        put(w, "(");
        put_truth(w, depth - 1);
        put(w, pick(w, 2) ? " and " : " or ");
        put_truth(w, depth - 1);
        put(w, ")");
        return;
    }
    put(w, "(");
    if (pick(w, 2)) {
        put_int(w, depth);
        put(w, "%s", ops[pick(w, 6)]);
        put_int(w, depth);
    } else {
        put_value(w, depth);
        put(w, "%s", ops[pick(w, 6)]);
        put_value(w, depth);
    }
    put(w, ")");
}

// ---- statements inside a T.Parallel --------------------------------------

static void put_body(Writer *w, int count, int depth);

static void put_block(Writer *w, int count, int depth)
{
    int lets = w->lets;

    put(w, " {");
    w->indent++;
    put_body(w, count, depth);
    w->indent--;
    w->lets = lets;
    line(w);
    put(w, "}");
}

static void put_lane_stmt(Writer *w, int depth)
{
    line(w);
    switch (pick(w, depth ? 7 : 4)) {
    case 0:
        if (w->next_let < 40) {
            put(w, "let x%d = %s(", w->next_let, w->type);
            put_value(w, 2);
            put(w, ")");
            w->let[w->lets++] = w->next_let++;
            break;
        }
        // fall through
    case 1:
        put(w, "acc[0] = %s(", w->type);
        put_value(w, 2);
        put(w, ")");
        break;
    case 2:
    case 3:
        put(w, "%s[i, j] = ", w->target);
        put_value(w, 3);
        break;
    case 4:
    case 5:
        put(w, "if ");
        put_truth(w, 2);
        put_block(w, 2, depth - 1);
        if (pick(w, 2)) {
            put(w, " else");
            put_block(w, 1, depth - 1);
        }
        break;
    default:
        if (w->next_loop == 20)
            break;
        put(w, "for k%d in T.serial(", w->next_loop);
        if (pick(w, 2)) {
            put(w, "(");
            put_int(w, 1);
            put(w, ") %% 4");
        } else {
            put(w, "%u", pick(w, 4));
        }
        put(w, ")");
        w->loop[w->loops++] = w->next_loop++;
        put(w, " {");
        w->indent++;
        int lets = w->lets;
        put_body(w, 2, depth - 1);
        if (pick(w, 3) == 0) {
            line(w);
            put(w, "if ");
            put_truth(w, 1);
            put(w, pick(w, 2) ? " { break }" : " { continue }");
            put_body(w, 1, 0);
        }
        w->lets = lets;
        w->indent--;
        line(w);
        put(w, "}");
        w->loops--;
    }
}

static void put_body(Writer *w, int count, int depth)
{
    for (int i = 0; i < count; i++)
        put_lane_stmt(w, depth);
}

static void put_parallel(Writer *w)
{
    static const char *const tiles[] = {"F", "S", "G"};

    w->target = tiles[pick(w, 3)];
    line(w);
    put(w, "for i, j in T.Parallel(%d, %d) {", ROWS, COLS);
    w->indent++;
    line(w);
    put(w, "alloc acc");
    w->var = true;
    put_body(w, 1 + (int)pick(w, 4), 2);
    w->indent--;
    w->lets = 0;
    w->var = false;
    w->target = NULL;
    line(w);
    put(w, "}");
}

// ---- statements of the block ---------------------------------------------

static void put_tile_stmt(Writer *w)
{
    static const char *const tiles[] = {"F", "S", "G"};
    const char *a = tiles[pick(w, 3)], *b = tiles[pick(w, 3)];

    line(w);
    switch (pick(w, 6)) {
    case 0:
        put(w, "T.copy(A[");
        put_int(w, 2);
        put(w, ":+%d, ", ROWS);
        put_int(w, 2);
        put(w, ":+%d] -> %s)", COLS, a);
        break;
    case 1:
        if (a != b)
            put(w, "T.copy(%s -> %s)", a, b);
        else
            put(w, "T.clear(%s)", a);
        break;
    case 2:
        put(w, "T.reduce_%s(%s -> R, dim=1%s)", pick(w, 2) ? "sum" : "max", a,
            pick(w, 2) ? ", clear=False" : "");
        break;
    case 3:
        put(w, "T.copy(%s -> O[", a);
        put(w, "bx * %d:+%d, 0:+%d])", ROWS, ROWS, COLS);
        break;
    case 4:
        put(w, "for m in T.serial(%u) {", 1 + pick(w, 3));
        w->indent++;
        line(w);
        put(w, "%s[", a);
        put_index(w, ROWS);
        put(w, ", m] = ");
        put_value(w, 2);
        w->indent--;
        line(w);
        put(w, "}");
        break;
    default:
        put(w, "%s[%u, %u] = R[%u]", a, pick(w, ROWS), pick(w, COLS),
            pick(w, ROWS));
    }
}

static void put_vars(Writer *w)
{
    int id = 0;

    put(w, "vars {\n%d n: symbol int32\n", id++);
    put(w, "%d bx: block int32\n", id++);
    put(w, "%d i: loop int32\n", id++);
    put(w, "%d j: loop int32\n", id++);
    put(w, "%d m: loop int32\n", id++);
    for (int k = 0; k < 20; k++)
        put(w, "%d k%d: loop int32\n", id++, k);
    for (int x = 0; x < 40; x++)
        put(w, "%d x%d: let %s\n", id++, x, w->type);
    put(w, "}\nsymbols n\n");
}

static void put_buffers(Writer *w)
{
    static const char *const types[2][4] = {
        {"int32", "int8", "int64", "int16"},
        {"float32", "float16", "bfloat16", "float64"}};
    const char *tile[3];

    for (int i = 0; i < 3; i++)
        tile[i] = types[w->is_float][pick(w, 4)];
    put(w, "buffers {\n0 A: %s[n, 30] global\n", w->type);
    put(w, "1 O: %s[24, %d] global\n2 I: int32[n] global\n", w->type, COLS);
    put(w, "3 F: %s[%d, %d] local.fragment\n", tile[0], ROWS, COLS);
    put(w, "4 S: %s[%d, %d] shared.dyn\n", tile[1], ROWS, COLS);
    put(w, "5 G: %s[%d, %d] local.fragment\n", tile[2], ROWS, COLS);
    put(w, "6 R: %s[%d] local.fragment\n", w->type, ROWS);
    put(w, "7 acc: %s[1] local.var\n}\n", w->type);
    put(w, "params { \"A\" A \"O\" O \"I\" I }\n");
}

static void write_kernel(Writer *w)
{
    static const char *const floats[] = {"float32", "float16", "bfloat16"};
    static const char *const ints[] = {"int32", "int64", "int16"};
    int count = 3 + (int)pick(w, 4);

    w->is_float = pick(w, 3) > 0;
    w->type = w->is_float ? floats[pick(w, 3)] : ints[pick(w, 3)];
    put(w, "tilesim-ir 1\nkernel \"random\"\n");
    put_vars(w);
    put_buffers(w);
    put(w, "body { with T.Kernel(bx < 4, threads=[64, 1, 1]) {");
    w->indent = 1;
    put(w, " alloc F alloc S alloc G alloc R T.fill(R, 1) T.fill(G, 2)");
    put(w, " T.copy(A[bx:+%d, 0:+%d] -> F) T.copy(A[0, bx] -> S)", ROWS, COLS);
    for (int i = 0; i < count; i++) {
        put_tile_stmt(w);
        put_parallel(w);
    }
    for (int i = 0; i < 3; i++) {
        static const char tiles[] = "FSG";

        line(w);
        put(w, "T.copy(%c -> O[bx * %d:+%d, 0:+%d])", tiles[i], ROWS, ROWS,
            COLS);
    }
    put(w, "\n} }\n");
}

// ---- the test ------------------------------------------------------------

static const Case random_case = {"random", 17, {NULL}};

static void run_oracle(const IrKernel *k, Tensors *t, int64_t *findings)
{
    NaiveArg args[MOST_PARAMS] = {{0}};

    for (int i = 0; i < t->count; i++) {
        args[i] = (NaiveArg){.dtype = t->arg[i].dtype,
                             .rank = t->arg[i].rank,
                             .data = t->arg[i].data};
        memcpy(args[i].shape, t->arg[i].shape, sizeof t->arg[i].shape);
    }
    *findings = naive_run(k, args);
}

// Counts of findings may differ: what is the same for all lanes runs once.
static void check_run(const Program *p, const Code *code, const Tensors *want,
                      int64_t findings, const char *isa, int threads)
{
    Tensors t = make_tensors(&random_case, p->kernel);
    InterpResult r;

    setenv("TILESIM_ISA", isa, 1);
    parallel_set_threads(threads);
    r = interp_run(code, p->diag, t.arg, t.count, NULL);
    compare_tensors(&random_case, isa, p->kernel, want, &t);
    ck_assert_msg(r.ok == !findings, "%lld findings, not %lld: %s",
                  (long long)r.finding_total, (long long)findings,
                  r.finding_count ? r.findings[0].message : "");
    interp_result_release(&r);
    free_tensors(&t);
}

// False for a kernel that is refused because a constant index is out of range.
static bool check_seed(uint64_t seed)
{
    Writer w = {.state = seed * 0x9e3779b97f4a7c15u + 1};
    Program p = {.arena = arena_create(), .sources = sources_create()};
    const OpTable *ops = op_table_create(p.arena);
    int64_t findings;
    Tensors want;
    Code *code;

    write_kernel(&w);
    p.diag = diag_create(p.sources, stderr, false);
    diag_quiet(p.diag, true);
    p.kernel = ir_read(p.arena, ops, p.diag, p.sources,
                       sources_add(p.sources, "random.ir", buf_view(&w.out)));
    if (getenv("TILESIM_SHOW"))
        fwrite(w.out.at, 1, w.out.len, stderr);
    code = p.kernel ? code_lower(p.arena, p.diag, p.kernel, CODE_AS_WRITTEN)
                    : NULL;
    buf_release(&w.out);
    if (!code) {
        bool refused = diag_exit(p.diag) == EXIT_PROGRAM;

        close_program(&p);
        ck_assert_msg(refused, "seed %llu does not lower",
                      (unsigned long long)seed);
        return false;
    }
    want = make_tensors(&random_case, p.kernel);
    run_oracle(p.kernel, &want, &findings);
    printf("# seed %llu\n", (unsigned long long)seed);
    check_run(&p, code, &want, findings, "generic", 1);
    if (lanes_for(ISA_AVX512))
        check_run(&p, code, &want, findings, "avx512", 2);
    free_tensors(&want);
    close_program(&p);
    return true;
}

START_TEST(random_kernels_mean_what_they_say)
{
    const char *wish = getenv("TILESIM_SEEDS");
    unsigned long long first = 0, count = 300, ran = 0;

    if (wish)
        ck_assert_int_eq(sscanf(wish, "%llu:%llu", &first, &count), 2);
    for (unsigned long long i = 0; i < count; i++)
        ran += check_seed(first + i);
    ck_assert(ran >= count / 2);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("interp_random");
    TCase *t = tcase_create("random");

    tcase_set_timeout(t, 600);
    tcase_add_test(t, random_kernels_mean_what_they_say);
    suite_add_tcase(s, t);
    return unit_run(s);
}
