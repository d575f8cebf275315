// xgemm.c - plans of small matrix products, with or without libxsmm.
#include "num/xgemm.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifdef HAVE_LIBXSMM
#include <libxsmm.h>
typedef libxsmm_smmfunction Kernel;
#else
typedef void (*Kernel)(const float *a, const float *b, float *c, ...);
#endif

struct XGemm {
    XGemm *next;
    const Lanes *lanes;
    Kernel kernel;                              // NULL: lanes' own
    int m, n, k;
    int64_t lda, ldb, ldc;
};

struct XGemmCache {
    pthread_mutex_t lock;
    XGemm *plans;
    bool use_xsmm;
};

// Beyond these the time is in the memory, and a trial would take long.
enum { XSMM_EDGE = 1024, XSMM_WORK = 1 << 25, XSMM_PITCH = 1 << 14 };

XGemmCache *xgemm_create(void)
{
    XGemmCache *cache = xcalloc(1, sizeof *cache);
    const char *wish = getenv("TILESIM_XSMM");
    pthread_mutex_init(&cache->lock, NULL);
    cache->use_xsmm = !wish || strcmp(wish, "0") != 0;
    return cache;
}

void xgemm_destroy(XGemmCache *cache)
{
    if (!cache)
        return;
    for (XGemm *p = cache->plans, *next; p; p = next) {
        next = p->next;
        free(p);
    }
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

#ifdef HAVE_LIBXSMM
// libxsmm's matrices are column-major: C^T += B^T A^T has the same memory.
static Kernel make_kernel(const XGemm *p)
{
    const int lda = (int)p->ldb, ldb = (int)p->lda, ldc = (int)p->ldc;
    const int prefetch = LIBXSMM_GEMM_PREFETCH_NONE;
    const float one = 1;
    return libxsmm_smmdispatch(p->n, p->m, p->k, &lda, &ldb, &ldc, &one, &one,
                               NULL, &prefetch);
}

const char *xgemm_library(void)
{
    return "libxsmm " LIBXSMM_CONFIG_VERSION;
}
#else
static Kernel make_kernel(const XGemm *p)
{
    (void)p;
    return NULL;
}

const char *xgemm_library(void)
{
    return "own loops (built without libxsmm)";
}
#endif

// Magnitudes from 2^-6 to 2^6 of either sign: sums in another order differ.
static void fill(float *v, int64_t n, uint64_t seed)
{
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint32_t u = (uint32_t)(seed >> 32);
        uint32_t bits = (u & 0x807fffff) | (121 + (u >> 23) % 13) << 23;
        memcpy(&v[i], &bits, sizeof bits);
    }
}

static float *matrix(int rows, int64_t pitch, uint64_t seed)
{
    float *v = xcalloc((size_t)rows, (size_t)pitch * sizeof *v);
    fill(v, rows * pitch, seed);
    return v;
}

// The kernel's bits against our own, pitches and all.
static bool same_bits(const XGemm *p)
{
    float *a = matrix(p->m, p->lda, 1), *b = matrix(p->k, p->ldb, 2);
    float *ours = matrix(p->m, p->ldc, 3), *theirs = matrix(p->m, p->ldc, 3);
    p->lanes->gemm_f32(p->m, p->n, p->k, a, p->lda, b, p->ldb, ours, p->ldc);
    p->kernel(b, a, theirs);
    bool same = memcmp(ours, theirs,
                       (size_t)(p->m * p->ldc) * sizeof *ours) == 0;
    free(a), free(b), free(ours), free(theirs);
    return same;
}

static bool is_for(const XGemm *p, const XGemm *shape)
{
    return p->m == shape->m && p->n == shape->n && p->k == shape->k &&
           p->lda == shape->lda && p->ldb == shape->ldb &&
           p->ldc == shape->ldc;
}

static bool is_small(const XGemm *p)
{
    return p->m > 0 && p->n > 0 && p->k > 0 && p->m <= XSMM_EDGE &&
           p->n <= XSMM_EDGE && p->k <= XSMM_EDGE &&
           (int64_t)p->m * p->n * p->k <= XSMM_WORK && p->lda <= XSMM_PITCH &&
           p->ldb <= XSMM_PITCH && p->ldc <= XSMM_PITCH;
}

static XGemm *add_plan(XGemmCache *cache, const XGemm *shape)
{
    XGemm *p = xmalloc(sizeof *p);
    *p = *shape;
    p->lanes = lanes_best();
    if (cache->use_xsmm && is_small(p))
        p->kernel = make_kernel(p);
    if (p->kernel && !same_bits(p))
        p->kernel = NULL;
    p->next = cache->plans;
    cache->plans = p;
    return p;
}

const XGemm *xgemm_plan(XGemmCache *cache, int m, int n, int k, int64_t lda,
                        int64_t ldb, int64_t ldc)
{
    const XGemm shape = {
        .m = m, .n = n, .k = k, .lda = lda, .ldb = ldb, .ldc = ldc};
    pthread_mutex_lock(&cache->lock);
    XGemm *p = cache->plans;
    while (p && !is_for(p, &shape))
        p = p->next;
    if (!p)
        p = add_plan(cache, &shape);
    pthread_mutex_unlock(&cache->lock);
    return p;
}

void xgemm_f32(const XGemm *p, const float *a, const float *b, float *c)
{
    if (!p->kernel) {
        p->lanes->gemm_f32(p->m, p->n, p->k, a, p->lda, b, p->ldb, c, p->ldc);
        return;
    }
    p->kernel(b, a, c);
    p->lanes->canon_f32(p->m, p->n, c, p->ldc);
}
