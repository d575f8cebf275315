// check_interp_run.c - options, results and refusals of a run.
#include <stdlib.h>
#include <string.h>

#include "kernel_case.h"
#include "support/parallel.h"
#include "unit.h"

// ---- options and results -------------------------------------------------

static Text arena_text(Arena *a, const TextBuf *b)
{
    return text_copy(a, buf_view(b));
}

static InterpResult run_case(const Case *c, Program *p, Tensors *t,
                             const InterpOptions *o)
{
    Code *code;

    *p = read_program(c);
    code = code_lower(p->arena, p->diag, p->kernel, CODE_AS_WRITTEN);
    ck_assert_ptr_nonnull(code);
    *t = make_tensors(c, p->kernel);
    return interp_run(code, p->diag, t->arg, t->count, o);
}

static const Case show_case = {"show", 0, {NULL}};

START_TEST(print_comes_in_block_order)
{
    Program p;
    Tensors t;
    InterpResult r = run_case(&show_case, &p, &t, NULL);
    Text text = arena_text(p.arena, &r.printed);

    // F[i] = i * (0 + 1 + 2) + 3 * bx / 2
    ck_assert_str_eq(text.at, "block (0, 1): tile F =\n"
                              "[0. 3. 6. 9.]\n"
                              "block (0, 1): n is 0\n"
                              "block (1, 1): tile F =\n"
                              "[ 1.5  4.5  7.5 10.5]\n"
                              "block (1, 1): n is 1\n");
    interp_result_release(&r);
    free_tensors(&t);
    close_program(&p);
}
END_TEST

START_TEST(chosen_slices_are_printed)
{
    const InterpPrint prints[] = {
        {.buffer = TEXT("F"),
         .rank = 1,
         .from = {1},
         .to = {3},
         .loop_var = TEXT("k"),
         .loop_value = 1},
        {.buffer = TEXT("F")},
    };
    const int64_t blocks[] = {2};
    const InterpOptions o = {
        .prints = prints, .print_count = 2, .blocks = blocks, .block_count = 1};
    Program p;
    Tensors t;
    InterpResult r = run_case(&show_case, &p, &t, &o);
    Text text = arena_text(p.arena, &r.printed);

    ck_assert_str_eq(text.at, "block (2, 0) k=1: F =\n"
                              "[3. 4.]\n"
                              "block (2, 0) at the end: F =\n"
                              "[ 3.  6.  9. 12.]\n");
    ck_assert_int_eq(r.blocks_total, 1);
    ck_assert_int_eq(r.blocks_done, 1);
    interp_result_release(&r);
    free_tensors(&t);
    close_program(&p);
}
END_TEST

START_TEST(only_chosen_blocks_run)
{
    const Case c = {"walk", 77, {"float32"}};
    const int64_t blocks[] = {1, 4}; // (1, 0) and (0, 2)
    const InterpOptions o = {.blocks = blocks, .block_count = 2};
    Program p;
    Tensors t, before;
    InterpResult r = run_case(&c, &p, &t, &o);
    const float *out = t.arg[1].data, *in;

    before = make_tensors(&c, p.kernel);
    in = before.arg[1].data;
    for (int m = 0; m < 77; m++)
        for (int h = 0; h < 3; h++) {
            bool ran =
                (m / 16 % 2 == 1 && h == 0) || (m / 16 % 2 == 0 && h == 2);
            size_t at = (size_t)(m * 3 + h) * 24;

            ck_assert_int_eq(!memcmp(out + at, in + at, 24 * sizeof *out),
                             !ran);
        }
    ck_assert_int_eq(r.blocks_total, 2);
    interp_result_release(&r);
    free_tensors(&t);
    free_tensors(&before);
    close_program(&p);
}
END_TEST

START_TEST(stores_are_counted)
{
    const Case c = {"walk", 77, {"float16"}};
    Program p = read_program(&c);
    Code *code = code_lower(p.arena, p.diag, p.kernel, CODE_AS_WRITTEN);
    Tensors t = make_tensors(&c, p.kernel);
    InterpResult r;

    t.arg[1].writes = calloc(t.bytes[1] / 2, 1);
    r = interp_run(code, p.diag, t.arg, t.count, NULL);
    for (size_t i = 0; i < t.bytes[1] / 2; i++)
        ck_assert_int_eq(t.arg[1].writes[i], 1);
    ck_assert_int_eq(r.idle_blocks, 0);
    free(t.arg[1].writes);
    interp_result_release(&r);
    free_tensors(&t);
    close_program(&p);
}
END_TEST

START_TEST(blocks_without_stores_are_idle)
{
    const Case c = {"walk", 10, {"float16"}}; // one tile for two walkers
    Program p;
    Tensors t;
    InterpResult r = run_case(&c, &p, &t, NULL);

    ck_assert_int_eq(r.blocks_total, 6);
    ck_assert_int_eq(r.idle_blocks, 3);
    interp_result_release(&r);
    free_tensors(&t);
    close_program(&p);
}
END_TEST

START_TEST(multiplications_are_counted)
{
    const Case c = {"gemm",
                    0,
                    {"float16", "float32", "", "24, 16", "16, 40", "16", "40",
                     "False", "False"}};
    Program p;
    Tensors t;
    InterpResult r = run_case(&c, &p, &t, NULL);

    ck_assert(r.flops == 2.0 * 3 * 2 * 24 * 40 * 16);
    interp_result_release(&r);
    free_tensors(&t);
    close_program(&p);
}
END_TEST

START_TEST(a_cancelled_run_says_so)
{
    const Case c = {"walk", 77, {"float32"}};
    Program p;
    Tensors t;
    InterpResult r;

    parallel_cancel(-1);
    r = run_case(&c, &p, &t, NULL);
    parallel_cancel_reset();
    ck_assert(r.cancelled);
    ck_assert(!r.ok);
    ck_assert_int_eq(r.blocks_done, 0);
    interp_result_release(&r);
    free_tensors(&t);
    close_program(&p);
}
END_TEST

START_TEST(findings_name_the_place)
{
    const Case c = {"bounds", 3, {"float32"}};
    Program p;
    Tensors t;
    InterpResult r = run_case(&c, &p, &t, NULL);
    bool assertion = false;

    ck_assert_int_ge(r.finding_count, 3);
    ck_assert_str_eq(r.findings[0].id, "out-of-bounds");
    ck_assert_str_eq(r.findings[0].message,
                     "writes to index 10 of dimension 0 of 'S' (shared.dyn), "
                     "which has 10 elements there, in block (0)");
    for (int i = 0; i < r.finding_count; i++)
        if (!strcmp(r.findings[i].id, "assert")) {
            assertion = true;
            ck_assert_int_eq(r.findings[i].count, 3);
            ck_assert_str_eq(r.findings[i].message,
                             "assertion fails: n is large, in block (0)");
        }
    ck_assert(assertion);
    interp_result_release(&r);
    free_tensors(&t);
    close_program(&p);
}
END_TEST

// Tensors that no cache holds are written past the caches.
START_TEST(large_tensors_are_copied_whole)
{
    const Case c = {"large", 0, {NULL}};
    Program p;
    Tensors t;
    InterpResult r = run_case(&c, &p, &t, NULL);

    ck_assert(r.ok);
    ck_assert_mem_eq(t.arg[0].data, t.arg[1].data, t.bytes[0]);
    interp_result_release(&r);
    free_tensors(&t);
    close_program(&p);
}
END_TEST

// ---- f64 -----------------------------------------------------------------

static const char *const f64_files[] = {"math", "nest",   "masks",
                                        "walk", "reduce", "gemm"};

static Case f64_case(int i, const char *dtype)
{
    Case c = {f64_files[i], 41, {dtype, dtype}};

    if (!strcmp(c.file, "reduce")) {
        c.sub[2] = "reduce_sum";
        c.sub[3] = ", clear=False";
    }
    if (!strcmp(c.file, "gemm")) {
        const char *const rest[] = {"",   "24, 33", "40, 33", "40",
                                    "33", "False",  "True"};

        memcpy(&c.sub[2], rest, sizeof rest);
    }
    return c;
}

// A kernel of narrow floats in f64 mode is the same kernel of f64.
START_TEST(f64_mode_is_the_kernel_of_f64)
{
    static const char *const narrow[] = {"float32", "float16", "bfloat16"};
    Case wide = f64_case(_i, "float64");
    Program p;
    Tensors want;
    InterpResult r = run_case(&wide, &p, &want, NULL);

    interp_result_release(&r);
    for (size_t i = 0; i < countof(narrow); i++) {
        Case c = f64_case(_i, narrow[i]);
        Program q = read_program(&c);
        Code *code = code_lower(q.arena, q.diag, q.kernel, CODE_F64);
        Tensors t = make_tensors(&wide, p.kernel);

        ck_assert_ptr_nonnull(code);
        r = interp_run(code, q.diag, t.arg, t.count, NULL);
        compare_tensors(&c, "in f64", p.kernel, &want, &t);
        interp_result_release(&r);
        free_tensors(&t);
        close_program(&q);
    }
    free_tensors(&want);
    close_program(&p);
}
END_TEST

// ---- what is refused -----------------------------------------------------

static const Case walk_case = {"walk", 20, {"float32"}};

static ExitCode run_with(void (*spoil)(Tensors *t))
{
    Program p = read_program(&walk_case);
    Code *code = code_lower(p.arena, p.diag, p.kernel, CODE_AS_WRITTEN);
    Tensors t = make_tensors(&walk_case, p.kernel);
    InterpResult r;
    ExitCode exit;

    diag_quiet(p.diag, true);
    spoil(&t);
    r = interp_run(code, p.diag, t.arg, t.count, NULL);
    ck_assert(!r.ok);
    ck_assert_int_eq(r.launches, 0);
    exit = diag_exit(p.diag);
    interp_result_release(&r);
    t.count = 2;
    free_tensors(&t);
    close_program(&p);
    return exit;
}

static void wrong_dtype(Tensors *t)
{
    t->arg[0].dtype = DT_F16;
}
static void wrong_rank(Tensors *t)
{
    t->arg[1].rank = 2;
}
static void wrong_shape(Tensors *t)
{
    t->arg[1].shape[2] = 23;
}
static void two_values(Tensors *t)
{
    t->arg[1].shape[0] = 19;
}
static void one_missing(Tensors *t)
{
    t->count = 1;
}
static void a_scalar(Tensors *t)
{
    t->arg[0].is_scalar = true;
}

START_TEST(unfit_arguments_are_usage_errors)
{
    ck_assert_int_eq(run_with(wrong_dtype), EXIT_USAGE);
    ck_assert_int_eq(run_with(wrong_rank), EXIT_USAGE);
    ck_assert_int_eq(run_with(wrong_shape), EXIT_USAGE);
    ck_assert_int_eq(run_with(two_values), EXIT_USAGE);
    ck_assert_int_eq(run_with(one_missing), EXIT_USAGE);
    ck_assert_int_eq(run_with(a_scalar), EXIT_USAGE);
}
END_TEST

START_TEST(memory_limit_is_kept)
{
    const InterpOptions o = {.memory_limit = 1000};
    Program p = read_program(&walk_case);
    Code *code = code_lower(p.arena, p.diag, p.kernel, CODE_AS_WRITTEN);
    Tensors t = make_tensors(&walk_case, p.kernel);
    InterpResult r;

    diag_quiet(p.diag, true);
    r = interp_run(code, p.diag, t.arg, t.count, &o);
    ck_assert(!r.ok);
    ck_assert_int_eq(diag_exit(p.diag), EXIT_LIMIT);
    interp_result_release(&r);
    free_tensors(&t);
    close_program(&p);
}
END_TEST

static void add_options(TCase *t)
{
    tcase_add_test(t, print_comes_in_block_order);
    tcase_add_test(t, chosen_slices_are_printed);
    tcase_add_test(t, only_chosen_blocks_run);
    tcase_add_test(t, stores_are_counted);
    tcase_add_test(t, blocks_without_stores_are_idle);
    tcase_add_test(t, multiplications_are_counted);
    tcase_add_test(t, a_cancelled_run_says_so);
    tcase_add_test(t, large_tensors_are_copied_whole);
    tcase_add_test(t, findings_name_the_place);
    tcase_add_loop_test(t, f64_mode_is_the_kernel_of_f64, 0,
                        (int)countof(f64_files));
    tcase_add_test(t, unfit_arguments_are_usage_errors);
    tcase_add_test(t, memory_limit_is_kept);
}

int main(void)
{
    Suite *s = suite_create("interp_run");
    TCase *t = tcase_create("options");

    tcase_set_timeout(t, 120);
    add_options(t);
    suite_add_tcase(s, t);
    return unit_run(s);
}
