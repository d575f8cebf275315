// peak.c - what this machine's f32 units give: the denominator of bench/run.
//
// Every thread multiplies tiles of its own, 128x128x128 and 64x512x64, through
// the kernels that T.gemm uses, for at least half a second after half a second
// of warming up. Prints the best of the two in GFLOP/s, and the bandwidth of a
// copy of 256 MiB in GB/s (bytes read plus bytes written).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num/xgemm.h"
#include "support/parallel.h"

typedef struct {
    int m, n, k;
    const XGemm *plan;
    float *a[256], *b[256], *c[256];
    long rounds;
} Peak;

static void work(void *ctx, int worker, int64_t item)
{
    Peak *p = ctx;
    (void)item;
    for (long i = 0; i < p->rounds; i++)
        xgemm_f32(p->plan, p->a[worker], p->b[worker], p->c[worker]);
}

static float *filled(size_t n)
{
    float *at = aligned_alloc(64, (n * sizeof *at + 63) / 64 * 64);
    for (size_t i = 0; i < n; i++)
        at[i] = (float)(i % 17) * 0x1p-8f;
    return at;
}

static double seconds_of(Peak *p, int threads)
{
    double start = time_now();
    parallel_for(threads, 1, work, p);
    return time_now() - start;
}

static double measure(XGemmCache *cache, int m, int n, int k)
{
    int threads = parallel_threads();
    Peak p = {.m = m, .n = n, .k = k, .rounds = 16};
    p.plan = xgemm_plan(cache, m, n, k, k, n, n);
    for (int t = 0; t < threads && t < 256; t++) {
        p.a[t] = filled((size_t)m * k);
        p.b[t] = filled((size_t)k * n);
        p.c[t] = filled((size_t)m * n);
    }
    while (seconds_of(&p, threads) < 0.5)       // warms up as it grows
        p.rounds *= 2;
    double best = 1e30;
    for (int i = 0; i < 3; i++) {
        double s = seconds_of(&p, threads);
        best = s < best ? s : best;
    }
    for (int t = 0; t < threads && t < 256; t++) {
        free(p.a[t]);
        free(p.b[t]);
        free(p.c[t]);
    }
    return 2.0 * m * n * k * p.rounds * threads / best * 1e-9;
}

// ---- copy ---------------------------------------------------------------------

enum { COPY_BYTES = 256 << 20, PARTS = 64 };

typedef struct {
    char *to, *from;
} Copy;

static void copy_part(void *ctx, int worker, int64_t item)
{
    const Copy *c = ctx;
    size_t n = COPY_BYTES / PARTS;
    (void)worker;
    memcpy(c->to + item * n, c->from + item * n, n);
}

static double copy_rate(void)
{
    Copy c = {malloc(COPY_BYTES), malloc(COPY_BYTES)};
    double best = 1e30;
    memset(c.to, 1, COPY_BYTES);
    memset(c.from, 2, COPY_BYTES);
    for (int i = 0; i < 10; i++) {
        double start = time_now();
        parallel_for(PARTS, 1, copy_part, &c);
        double s = time_now() - start;
        best = s < best ? s : best;
    }
    free(c.to);
    free(c.from);
    return 2.0 * COPY_BYTES / best * 1e-9;
}

int main(void)
{
    XGemmCache *cache = xgemm_create();
    double square = measure(cache, 128, 128, 128);
    double flat = measure(cache, 64, 512, 64);
    printf("%.1f %.1f %d\n", square > flat ? square : flat, copy_rate(),
           parallel_threads());
    xgemm_destroy(cache);
    return 0;
}
