// check_interp.c - bytecode against the meaning of the IR, byte for byte.
//
// Each case reads a kernel of tests/data/interp (%A to %I replaced), runs it
// with random tensors through oracle/naive.c and through code and interp, with
// every thread count and instruction set, and compares all bytes of all
// tensors and the number of findings.
#include <stdlib.h>
#include <string.h>

#include "../oracle/naive.h"
#include "kernel_case.h"
#include "support/parallel.h"
#include "unit.h"

static const Case cases[] = {
    {"copy_tails", 100, {"float16", "float32"}},
    {"copy_tails", 1, {"float32", "float16"}},
    {"copy_tails", 48, {"bfloat16", "float8_e4m3fn"}},
    {"copy_tails", 131, {"float8_e5m2", "bfloat16"}},
    {"copy_tails", 49, {"int8", "int32"}},
    {"copy_tails", 95, {"float64", "float16"}},
    {"copy_tails", 96, {"int64", "uint8"}},
    {"copy_tails", 97, {"uint32", "float8_e4m3fnuz"}},
    {"copy_tails", 97, {"bool", "float32"}},
    {"copy_tails", 60, {"float8_e5m2fnuz", "int16"}},
    {"gemm",
     0,
     {"float16", "float32", "", "24, 16", "16, 40", "16", "40", "False",
      "False"}},
    {"gemm",
     0,
     {"bfloat16", "float32", "", "16, 24", "16, 40", "16", "40", "True",
      "False"}},
    {"gemm",
     0,
     {"float16", "float16", "", "24, 33", "40, 33", "40", "33", "False",
      "True"}},
    {"gemm",
     0,
     {"float32", "bfloat16", "", "7, 24", "40, 7", "40", "7", "True", "True"}},
    {"gemm",
     0,
     {"float64", "float64", "", "24, 16", "40, 16", "40", "16", "False",
      "True"}},
    {"gemm",
     0,
     {"float64", "float32", "", "16, 24", "16, 40", "16", "40", "True",
      "False"}},
    {"gemm",
     0,
     {"float8_e4m3fn", "float32", "", "24, 64", "40, 64", "40", "64", "False",
      "True"}},
    {"gemm",
     0,
     {"int8", "int32", "", "24, 16", "16, 40", "16", "40", "False", "False"}},
    {"gemm",
     0,
     {"uint8", "int32", "", "50, 24", "40, 50", "40", "50", "True", "True"}},
    {"reduce", 0, {"float32", "float32", "reduce_sum", ", clear=False"}},
    {"reduce", 0, {"float16", "float32", "reduce_sum", ""}},
    {"reduce", 0, {"float32", "float16", "reduce_sum", ", clear=False"}},
    {"reduce", 0, {"bfloat16", "bfloat16", "reduce_max", ", clear=False"}},
    {"reduce", 0, {"float32", "float32", "reduce_min", ""}},
    {"reduce", 0, {"float64", "float64", "reduce_absmax", ", clear=False"}},
    {"reduce", 0, {"float16", "float16", "reduce_abssum", ""}},
    {"reduce", 0, {"int32", "int32", "reduce_sum", ", clear=False"}},
    {"reduce", 0, {"int8", "int32", "reduce_max", ""}},
    {"reduce", 0, {"int64", "int64", "reduce_min", ", clear=False"}},
    {"reduce", 0, {"int8", "int16", "reduce_absmax", ""}},
    {"scan", 0, {"float32", "float32"}},
    {"scan", 0, {"float16", "float16"}},
    {"scan", 0, {"int32", "int64"}},
    {"im2col", 0, {"float16"}},
    {"im2col", 0, {"float32"}},
    {"masks", 40, {"float32"}},
    {"masks", 93, {"float16"}},
    {"masks", 7, {"float64"}},
    {"masks", 93, {"int32"}},
    {"masks", 55, {"int64"}},
    {"scalar", 50, {""}},
    {"scalar", 1, {""}},
    {"atomics", 0, {"float32"}},
    {"atomics", 0, {"float16"}},
    {"atomics", 0, {"int32"}},
    {"bounds", 13, {"float32"}},
    {"bounds", 3, {"int32"}},
    {"bounds", 40, {"float16"}},
    {"views", 0, {""}},
    {"nest", 0, {"float32"}},
    {"nest", 0, {"float16"}},
    {"nest", 0, {"int16"}},
    {"nest", 0, {"uint32"}},
    {"math", 0, {"float32"}},
    {"math", 0, {"float16"}},
    {"math", 0, {"bfloat16"}},
    {"math", 0, {"float64"}},
    {"math", 0, {"float8_e4m3fn"}},
    {"layout", 0, {"float32"}},
    {"layout", 0, {"bfloat16"}},
    {"persistent", 11, {"float32"}},
    {"persistent", 16, {"int32"}},
    {"persistent", 1, {"int32"}},
    {"walk", 77, {"float32"}},
    {"walk", 16, {"float16"}},
    {"walk", 1, {"float32"}},
};

static int64_t run_oracle(const IrKernel *k, Tensors *t)
{
    NaiveArg args[MOST_PARAMS] = {{0}};

    for (int i = 0; i < t->count; i++) {
        args[i] = (NaiveArg){.dtype = t->arg[i].dtype,
                             .rank = t->arg[i].rank,
                             .data = t->arg[i].data};
        memcpy(args[i].shape, t->arg[i].shape, sizeof t->arg[i].shape);
    }
    return naive_run(k, args);
}

static void run_one(const Case *c, const Program *p, const Code *code,
                    const Tensors *want, int64_t findings, const char *isa,
                    int threads)
{
    Tensors t = make_tensors(c, p->kernel);
    InterpResult r;
    char how[40];

    snprintf(how, sizeof how, "on %s, %d threads", isa, threads);
    setenv("TILESIM_ISA", isa, 1);
    parallel_set_threads(threads);
    r = interp_run(code, p->diag, t.arg, t.count, NULL);
    compare_tensors(c, how, p->kernel, want, &t);
    ck_assert_msg(r.finding_total == findings,
                  "%s(%lld, %s) %s: %lld findings, not %lld: %s", c->file,
                  (long long)c->symbol, c->sub[0], how,
                  (long long)r.finding_total, (long long)findings,
                  r.finding_count ? r.findings[0].message : "");
    ck_assert_int_eq(r.ok, !findings);
    interp_result_release(&r);
    free_tensors(&t);
}

START_TEST(bytecode_means_what_the_kernel_says)
{
    static const char *const isas[] = {"generic", "avx2", "avx512"};
    static const int threads[] = {1, 2, 7};
    const Case *c = &cases[_i];
    Program p = read_program(c);
    Code *code = code_lower(p.arena, p.diag, p.kernel, CODE_AS_WRITTEN);
    Tensors want = make_tensors(c, p.kernel);
    int64_t findings;

    ck_assert_msg(code != NULL, "%s does not lower", c->file);
    findings = run_oracle(p.kernel, &want);
    for (size_t i = 0; i < countof(isas); i++)
        for (size_t j = 0; j < countof(threads); j++)
            if (lanes_for((Isa)i))
                run_one(c, &p, code, &want, findings, isas[i], threads[j]);
    setenv("TILESIM_XSMM", "0", 1);
    run_one(c, &p, code, &want, findings, "generic", 2);
    unsetenv("TILESIM_XSMM");
    free_tensors(&want);
    close_program(&p);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("interp");
    TCase *t = tcase_create("oracle");

    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, bytecode_means_what_the_kernel_says, 0,
                        (int)countof(cases));
    suite_add_tcase(s, t);
    return unit_run(s);
}
