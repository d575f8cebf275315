// num_all.c - every float through the float functions and conversions.
//
// Usage: num_all [NAME...]: names of operations ("EXP2") or dtypes ("float16"),
// default all. An operation is compared with the C library's double function,
// which is as good as exact here, and AVX2 with AVX-512; a dtype's store row on
// each instruction set with num_put_f64, which works in double. Minutes each.
#define _GNU_SOURCE                             // exp10
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/lanes.h"
#include "support/parallel.h"

enum { PIECE = 1 << 14, PIECES = 1 << 18, MAX_WORKERS = 256 };

typedef struct {
    LaneOp op;
    double (*exact)(double x);
    double bound;                               // ulp
} Function;

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double rsqrt(double x)
{
    return 1 / sqrt(x);
}

static const Function functions[] = {
    {LANE_OP_EXP, exp, 1},         {LANE_OP_EXP2, exp2, 1},
    {LANE_OP_EXP10, exp10, 1},     {LANE_OP_EXPM1, expm1, 1},
    {LANE_OP_LOG, log, 1},         {LANE_OP_LOG2, log2, 1},
    {LANE_OP_LOG10, log10, 1},     {LANE_OP_LOG1P, log1p, 1},
    {LANE_OP_SQRT, sqrt, 0.5},     {LANE_OP_RSQRT, rsqrt, 1.5},
    {LANE_OP_SIN, sin, 1},         {LANE_OP_COS, cos, 1},
    {LANE_OP_TAN, tan, 1},         {LANE_OP_ASIN, asin, 1},
    {LANE_OP_ACOS, acos, 1},       {LANE_OP_ATAN, atan, 1},
    {LANE_OP_SINH, sinh, 1},       {LANE_OP_COSH, cosh, 1},
    {LANE_OP_TANH, tanh, 1.5},     {LANE_OP_SIGMOID, sigmoid, 1},
    {LANE_OP_ERF, erf, 1},
};

// The worst of one worker.
typedef struct {
    double error;
    float at;
    int64_t unlike;                             // bits that differ
    float unlike_at;
} Worst;

typedef struct {
    const Function *function;
    DType dtype;
    Worst worst[MAX_WORKERS];
} Job;

static void fill(float *x, int64_t piece)
{
    for (uint32_t i = 0; i < PIECE; i++) {
        uint32_t bits = (uint32_t)piece * PIECE + i;
        memcpy(&x[i], &bits, 4);
    }
}

static double error_in_ulp(float got, double want)
{
    int e;
    float nearest = (float)want;
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (memcmp(&got, &nearest, 4) == 0)
        return 0;
    if (isinf(got))                             // half an ulp early at most
        return fabs(want) >= 0x1.fffffep127 ? 0 : INFINITY;
    frexp(want, &e);
    return fabs(got - want) / ldexp(1, e - 24 > -149 ? e - 24 : -149);
}

static void note_unlike(Worst *w, const void *a, const void *b, size_t size,
                        const float *x)
{
    for (size_t i = 0; i < PIECE; i++)
        if (memcmp((const char *)a + i * size, (const char *)b + i * size,
                   size) != 0) {
            w->unlike++;
            w->unlike_at = x[i];
        }
}

static void try_function(void *ctx, int worker, int64_t piece)
{
    Job *job = ctx;
    Worst *w = &job->worst[worker];
    const Function *f = job->function;
    const Lanes *best = lanes_best();
    float x[PIECE], y[PIECE], other[PIECE];
    fill(x, piece);
    best->op[f->op][LANE_F32](y, x, NULL, NULL, PIECE);
    for (int i = 0; i < PIECE; i++) {
        double e = error_in_ulp(y[i], f->exact(x[i]));
        if (e > w->error) {
            w->error = e;
            w->at = x[i];
        }
    }
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        const Lanes *l = lanes_for((Isa)isa);
        if (!l || l == best || (isa == ISA_GENERIC && piece % 64))
            continue;
        l->op[f->op][LANE_F32](other, x, NULL, NULL, PIECE);
        note_unlike(w, y, other, 4, x);
    }
}

// NaN codes are compared too: both ways keep what a code can hold of them.
static void try_dtype(void *ctx, int worker, int64_t piece)
{
    Job *job = ctx;
    size_t size = dtype_bytes(job->dtype, 1);
    float x[PIECE];
    char want[PIECE * 2], got[PIECE * 2];
    fill(x, piece);
    for (size_t i = 0; i < PIECE; i++)
        num_put_f64(job->dtype, want + i * size, x[i]);
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        const Lanes *l = lanes_for((Isa)isa);
        if (!l)
            continue;
        l->store[job->dtype](got, x, NULL, NULL, PIECE);
        note_unlike(&job->worst[worker], want, got, size, x);
    }
}

static Worst worst_of(const Job *job)
{
    Worst all = {0};
    for (int i = 0; i < MAX_WORKERS; i++) {
        const Worst *w = &job->worst[i];
        if (w->error > all.error) {
            all.error = w->error;
            all.at = w->at;
        }
        if (w->unlike)
            all.unlike_at = w->unlike_at;
        all.unlike += w->unlike;
    }
    return all;
}

static bool wanted(int argc, char **argv, const char *name)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc < 2;
}

static bool report(const char *name, const Job *job, double bound)
{
    Worst w = worst_of(job);
    bool good = w.error <= bound && w.unlike == 0;
    printf("%s %-16s %.4f ulp at %a", good ? "ok  " : "FAIL", name, w.error,
           w.at);
    if (w.unlike)
        printf(", %lld bits differ, one at %a", (long long)w.unlike,
               w.unlike_at);
    puts("");
    fflush(stdout);
    return good;
}

int main(int argc, char **argv)
{
    static const DType dtypes[] = {DT_F16,  DT_BF16,     DT_E4M3FN,
                                   DT_E5M2, DT_E4M3FNUZ, DT_E5M2FNUZ};
    bool good = true;
    parallel_set_threads(parallel_threads() < MAX_WORKERS ? 0 : MAX_WORKERS);
    for (size_t i = 0; i < countof(functions); i++) {
        const char *name = lane_op_info(functions[i].op)->name;
        Job job = {.function = &functions[i]};
        if (!wanted(argc, argv, name))
            continue;
        parallel_for(PIECES, 16, try_function, &job);
        good &= report(name, &job, functions[i].bound);
    }
    for (size_t i = 0; i < countof(dtypes); i++) {
        Job job = {.dtype = dtypes[i]};
        if (!wanted(argc, argv, dtype_info(dtypes[i])->name))
            continue;
        parallel_for(PIECES, 16, try_dtype, &job);
        good &= report(dtype_info(dtypes[i])->name, &job, 0);
    }
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
