// check_interp.c - bytecode against the meaning of the IR, byte for byte.
//
// Each case reads a kernel of tests/data/interp (%A to %I replaced), runs it
// with random tensors through oracle/naive.c and through code and interp, with
// every thread count and instruction set, and compares all bytes of all
// tensors and the number of findings.
#include <math.h>
#include <string.h>

#include "interp/interp.h"
#include "ir/ir.h"
#include "../oracle/naive.h"
#include "support/parallel.h"
#include "unit.h"

typedef struct {
    const char *file;
    int64_t symbol;                 // every T.dynamic, and scalar integers
    const char *sub[9];             // of %A, %B, ...
} Case;

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
    {"gemm", 0, {"float16", "float32", "", "24, 16", "16, 40", "16", "40",
                 "False", "False"}},
    {"gemm", 0, {"bfloat16", "float32", "", "16, 24", "16, 40", "16", "40",
                 "True", "False"}},
    {"gemm", 0, {"float16", "float16", "", "24, 33", "40, 33", "40", "33",
                 "False", "True"}},
    {"gemm", 0, {"float32", "bfloat16", "", "7, 24", "40, 7", "40", "7", "True",
                 "True"}},
    {"gemm", 0, {"float64", "float64", "", "24, 16", "40, 16", "40", "16",
                 "False", "True"}},
    {"gemm", 0, {"float64", "float32", "", "16, 24", "16, 40", "16", "40",
                 "True", "False"}},
    {"gemm", 0, {"float8_e4m3fn", "float32", "", "24, 64", "40, 64", "40", "64",
                 "False", "True"}},
    {"gemm", 0, {"int8", "int32", "", "24, 16", "16, 40", "16", "40", "False",
                 "False"}},
    {"gemm", 0, {"uint8", "int32", "", "50, 24", "40, 50", "40", "50", "True",
                 "True"}},
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
    {"walk", 77, {"float32"}},
    {"walk", 16, {"float16"}},
    {"walk", 1, {"float32"}},
};

// ---- text ----------------------------------------------------------------------------

static Text replace(Arena *a, Text text, const Case *c)
{
    TextBuf out = {0};
    Text copy;

    for (size_t i = 0; i < text.len; i++) {
        int n = i + 1 < text.len ? text.at[i + 1] - 'A' : -1;

        if (text.at[i] == '%' && n >= 0 && n < 9 && c->sub[n]) {
            buf_puts(&out, c->sub[n]);
            i++;
        } else {
            buf_addc(&out, text.at[i]);
        }
    }
    copy = text_copy(a, buf_view(&out));
    buf_release(&out);
    return copy;
}

typedef struct {
    Arena *arena;
    SourceSet *sources;
    Diag *diag;
    IrKernel *kernel;
} Program;

static Program read_program(const Case *c)
{
    Program p = {.arena = arena_create(), .sources = sources_create()};
    const char *path, *why, *name;
    char *text;
    size_t len;
    uint32_t file;

    p.diag = diag_create(p.sources, stderr, false);
    name = text_format(p.arena, "tests/data/interp/%s.ir", c->file).at;
    path = unit_path(p.arena, name);
    ck_assert_msg(file_read(path, &text, &len, &why), "%s: %s", path, why);
    file = sources_add(p.sources, name,
                       replace(p.arena, (Text){text, len}, c));
    free(text);
    p.kernel = ir_read(p.arena, op_table_create(p.arena), p.diag, p.sources,
                       file);
    ck_assert_msg(p.kernel != NULL, "%s does not read", path);
    return p;
}

static void close_program(Program *p)
{
    diag_destroy(p->diag);
    sources_destroy(p->sources);
    arena_destroy(p->arena);
}

// ---- tensors ----------------------------------------------------------------------------

enum { MOST_PARAMS = 8 };

typedef struct {
    int count;
    InterpArg arg[MOST_PARAMS];
    size_t bytes[MOST_PARAMS];
} Tensors;

static uint64_t next_u64(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

// Mostly small numbers with few bits, now and then one that rounds.
static double random_value(uint64_t *state, bool whole)
{
    uint64_t r = next_u64(state);
    double x = (double)(int64_t)(r % 41) - 20;

    if (whole)
        return x < 0 ? -x : x;
    return r >> 32 & 1 ? x / 8 : ldexp((double)(r >> 40), -22) - 2;
}

static void fill_tensor(InterpArg *a, int64_t n, uint64_t *state)
{
    size_t size = dtype_bytes(a->dtype, 1);

    for (int64_t i = 0; i < n; i++) {
        double v = random_value(state, !dtype_is_float(a->dtype));
        char *at = (char *)a->data + (size_t)i * size;

        if (dtype_is_float(a->dtype))
            num_put_f64(a->dtype, at, v);
        else
            num_put_i64(a->dtype, at, (int64_t)v);
    }
}

static int64_t size_of(const Case *c, const IrExpr *e)
{
    int64_t n;

    return ir_is_int(e, &n) ? n : c->symbol;
}

static Tensors make_tensors(const Case *c, const IrKernel *k)
{
    Tensors t = {.count = k->param_count};
    uint64_t state = 88172645463325252u;

    ck_assert_int_le(k->param_count, MOST_PARAMS);
    for (int i = 0; i < k->param_count; i++) {
        InterpArg *a = &t.arg[i];
        const IrBuffer *b = k->params[i].buffer;
        int64_t n = 1;

        a->is_scalar = k->params[i].is_scalar;
        a->dtype = a->is_scalar ? k->params[i].var->dtype : b->dtype;
        a->i64 = 3;
        a->f64 = 0.7;
        for (int d = a->is_scalar ? -1 : b->rank - 1; d >= 0; d--) {
            a->shape[d] = size_of(c, b->shape[d]);
            a->strides[d] = n;
            n *= a->shape[d];
        }
        a->rank = a->is_scalar ? 0 : b->rank;
        t.bytes[i] = dtype_bytes(a->dtype, n);
        a->data = malloc(t.bytes[i] + 1);
        if (!a->is_scalar)
            fill_tensor(a, n, &state);
        else if (dtype_is_float(a->dtype))
            num_put_f64(a->dtype, a->data, a->f64);
        else
            num_put_i64(a->dtype, a->data, a->i64);
    }
    return t;
}

static void free_tensors(Tensors *t)
{
    for (int i = 0; i < t->count; i++)
        free(t->arg[i].data);
}

static int64_t run_oracle(const IrKernel *k, Tensors *t)
{
    NaiveArg args[MOST_PARAMS] = {{0}};

    for (int i = 0; i < t->count; i++) {
        args[i] = (NaiveArg){.dtype = t->arg[i].dtype, .rank = t->arg[i].rank,
                             .data = t->arg[i].data};
        memcpy(args[i].shape, t->arg[i].shape, sizeof t->arg[i].shape);
    }
    return naive_run(k, args);
}

// ---- comparison ---------------------------------------------------------------------------

static bool same_nan(DType t, const char *a, const char *b)
{
    return dtype_is_float(t) && isnan(num_get_f64(t, a)) &&
           isnan(num_get_f64(t, b));
}

static void compare(const Case *c, const char *how, const IrKernel *k,
                    const Tensors *want, const Tensors *got)
{
    for (int i = 0; i < want->count; i++) {
        DType t = want->arg[i].dtype;
        size_t size = dtype_bytes(t, 1);

        for (size_t at = 0; at < want->bytes[i]; at += size) {
            const char *x = (char *)want->arg[i].data + at;
            const char *y = (char *)got->arg[i].data + at;

            if (!memcmp(x, y, size) || same_nan(t, x, y))
                continue;
            ck_abort_msg("%s(%lld, %s) %s: %.*s element %zu is %.17g, not %.17g",
                         c->file, (long long)c->symbol, c->sub[0], how,
                         TEXT_ARG(k->params[i].name), at / size,
                         num_get_f64(t, y), num_get_f64(t, x));
        }
    }
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
    compare(c, how, p->kernel, want, &t);
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
