// check_matrix.c - one kernel under the plans of different rules and devices:
// the instruction that its T.gemm becomes, and what interp makes of it.
#include "kernel_case.h"
#include "plan/plan.h"
#include "unit.h"

#include <string.h>

// A[5, k] = a[k] and B[3, k] = b[k], zeros else; D[5, 3] is to be `want`.
typedef struct {
    const char *dtype, *rows, *k;
    const char *device;
    PlanRules rules;
    double a[2], b[2];
    const char *instruction;    // NULL: threads multiply
    double want;
} Product;

static const Product products[] = {
    // 448^2 + 1: wgmma keeps 14 bits; mma.sync, on the f16 unit, all
    {"float8_e4m3fn", "64", "32", "h100", PLAN_TILELANG,
     {448, 1}, {448, 1}, "wgmma_m64nNk32_f32_e4m3", 200704},
    {"float8_e4m3fn", "64", "32", "h100", PLAN_TILESIM,
     {448, 1}, {448, 1}, "mma_m16n8k32_f32_e4m3", 200705},
    // 1 + 3 * 2^-12 as a tf32: cut off, or rounded to 1 + 2^-10
    {"float32", "64", "32", "h100", PLAN_TILELANG,
     {1 + 0x3p-12, 0}, {1, 0}, "mma_m16n8k8_f32_tf32", 1},
    {"float32", "64", "32", "h100", PLAN_TILESIM,
     {1 + 0x3p-12, 0}, {1, 0}, "mma_m16n8k8_f32_tf32", 1 + 0x1p-10},
    {"float32", "64", "32", "mi300x", PLAN_TILELANG,
     {1 + 0x3p-12, 0}, {1, 0}, "mfma_16x16x4_f32", 1 + 0x3p-12},
    // k that no instruction divides is left to the threads: 1 + 2^-24 + 2^-24
    // is 1 by fused multiply-adds, 1 + 2^-23 in one sum
    {"float16", "64", "24", "h100", PLAN_TILESIM,
     {1, 0x1p-12}, {1, 0x1p-12}, NULL, 1},
    {"float16", "64", "32", "h100", PLAN_TILESIM,
     {1, 0x1p-12}, {1, 0x1p-12}, "mma_m16n8k16_f32_f16", 1 + 0x1p-23},
};

// The second product stands at k = 1 and once more at k = 2.
static void put_line(const InterpArg *t, int line, const double *x)
{
    size_t size = dtype_bytes(t->dtype, 1), row = (size_t)t->shape[1] * size;
    char *at = (char *)t->data + (size_t)line * row;

    num_put_f64(t->dtype, at, x[0]);
    num_put_f64(t->dtype, at + size, x[1]);
    if (t->dtype == DT_F16)
        num_put_f64(t->dtype, at + 2 * size, x[1]);
}

static double run_product(const Product *x, const Case *c, const Program *p,
                          const PlanMatrices *m)
{
    Tensors t = make_tensors(c, p->kernel);
    InterpOptions options = {.matrices = m};
    Code *code = code_lower(p->arena, p->diag, p->kernel, CODE_AS_WRITTEN);
    InterpResult r;
    double d;

    ck_assert_ptr_nonnull(code);
    for (int i = 0; i < 2; i++)
        memset(t.arg[i].data, 0, t.bytes[i]);
    put_line(&t.arg[0], 5, x->a);
    put_line(&t.arg[1], 3, x->b);
    r = interp_run(code, p->diag, t.arg, t.count, &options);
    ck_assert(r.ok);
    d = num_get_f64(DT_F32, (char *)t.arg[2].data + (5 * 16 + 3) * 4);
    interp_result_release(&r);
    free_tensors(&t);
    return d;
}

START_TEST(gemm_follows_its_plan)
{
    const Product *x = &products[_i];
    const Case c = {"matrix", 0, {x->dtype, x->rows, x->k}};
    const Device *d = device_find(text_of(x->device));
    Program p = read_program(&c);
    Plan *plan = plan_build(p.arena, p.kernel, d, x->rules);
    PlanMatrices m;

    ck_assert_ptr_nonnull(plan);
    ck_assert(plan_matrices(p.arena, plan, &m));
    ck_assert_int_eq(m.len, 1);
    ck_assert_int_eq(m.at[0].mma != NULL, x->instruction != NULL);
    if (x->instruction)
        ck_assert_str_eq(m.at[0].mma->name, x->instruction);
    ck_assert_double_eq(run_product(x, &c, &p, &m), x->want);
    close_program(&p);
}
END_TEST

// No bits of sm_80 were measured.
START_TEST(unknown_arithmetic_is_refused)
{
    const Case c = {"matrix", 0, {"float16", "64", "32"}};
    Program p = read_program(&c);
    Plan *plan = plan_build(p.arena, p.kernel, device_find(TEXT("a100")),
                            PLAN_TILESIM);
    PlanMatrices m;

    diag_quiet(p.diag, true);
    ck_assert_ptr_nonnull(plan);
    ck_assert(!plan_matrices(p.arena, plan, &m));
    ck_assert_int_eq(diag_exit(p.diag), EXIT_LIMIT);
    close_program(&p);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("matrix");
    TCase *t = tcase_create("plans");

    tcase_add_loop_test(t, gemm_follows_its_plan, 0, (int)countof(products));
    tcase_add_test(t, unknown_arithmetic_is_refused);
    suite_add_tcase(s, t);
    return unit_run(s);
}
