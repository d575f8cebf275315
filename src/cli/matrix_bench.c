// matrix_bench.c - how fast one core computes matrix instructions bit by bit.
#include "cli/matrix_bench.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/json.h"

enum { M = 1024, N = 256, K = 256, WINDOWS = 120 };
static const double window = 4e-3;              // seconds of one measurement

static const struct {
    const char *target;
    MmaUnit unit;
    MmaType type, acc;
    int k;
} rows[] = {
    {"h100", MMA_UNIT_WGMMA, MMA_F16, MMA_F32, 16},
    {"h100", MMA_UNIT_WGMMA, MMA_F16, MMA_F16, 16},
    {"h100", MMA_UNIT_WGMMA, MMA_BF16, MMA_F32, 16},
    {"h100", MMA_UNIT_WGMMA, MMA_TF32, MMA_F32, 8},
    {"h100", MMA_UNIT_WGMMA, MMA_E4M3, MMA_F32, 32},
    {"h100", MMA_UNIT_SYNC, MMA_E4M3, MMA_F32, 32},
    {"h100", MMA_UNIT_WGMMA, MMA_S8, MMA_S32, 32},
    {"h100", MMA_UNIT_SYNC, MMA_F64, MMA_F64, 8},
    {"mi300x", MMA_UNIT_MFMA, MMA_F16, MMA_F32, 16},
    {"mi300x", MMA_UNIT_MFMA, MMA_BF16, MMA_F32, 16},
    {"mi300x", MMA_UNIT_MFMA, MMA_TF32, MMA_F32, 8},
    {"mi300x", MMA_UNIT_MFMA, MMA_E4M3FNUZ, MMA_F32, 32},
    {"mi300x", MMA_UNIT_MFMA, MMA_F32, MMA_F32, 4},
};

// Time of this thread alone: other work on the machine does not count.
static double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Values like a sum of twelve uniform ones, from -6 to 6.
static void fill(MmaType type, void *at, int64_t n, uint64_t seed)
{
    static const DType dtypes[] = {
#define MMA_TYPE(id, name, code, dtype) [MMA_##id] = DT_##dtype,
#include "num/mma_type.def"
    };
    DType dtype = type == MMA_TF32 ? DT_F32 : dtypes[type];
    size_t bytes = dtype_bytes(dtype, 1);
    for (int64_t i = 0; i < n; i++) {
        double v = -6;
        for (int j = 0; j < 12; j++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            v += (double)(seed >> 40) * 0x1p-24;
        }
        num_put_f64(dtype, (char *)at + (size_t)i * bytes, v);
    }
}

static double measure(const MmaSpec *s, MmaPath path, const MmaTile *t)
{
    double best = 0;
    mma_tile(s, path, t);
    for (int i = 0; i < WINDOWS; i++) {
        double start = thread_seconds(), spent;
        int runs = 0;
        do {
            mma_tile(s, path, t);
            runs++;
            spent = thread_seconds() - start;
        } while (spent < window);
        double rate = 2e-9 * M * N * K * runs / spent;
        best = rate > best ? rate : best;
    }
    return best;
}

static double rate_of(int row, MmaPath path)
{
    MmaSpec s;
    size_t largest = 8;                         // bytes of an element
    void *a = xcalloc(M * K, largest), *b = xcalloc(N * K, largest);
    void *d = xcalloc(M * N, largest);
    if (!mma_spec(rows[row].unit, rows[row].type, rows[row].type,
                  rows[row].acc, rows[row].k, &s))
        BUG("no arithmetic for row %d", row);
    fill(rows[row].type, a, M * K, 1);
    fill(rows[row].type, b, N * K, 2);
    MmaTile t = {M, N, K, a, b, NULL, d, K, K, N, N};
    double rate = measure(&s, path, &t);
    free(a);
    free(b);
    free(d);
    return rate;
}

static const char *path_name(MmaPath p)
{
    return p == MMA_PATH_AVX512 ? "avx512"
           : p == MMA_PATH_AVX2 ? "avx2" : "scalar";
}

static void put_row(TextBuf *b, Json *j, int row, MmaPath path, double rate)
{
    const char *type = mma_type_info(rows[row].type)->name;
    const char *acc = mma_type_info(rows[row].acc)->name;
    const char *unit = mma_unit_name(rows[row].unit);
    if (!j) {
        buf_printf(b, "%-7s %-6s %-9s -> %-4s %-7s %8.1f GFLOP/s\n",
                   rows[row].target, unit, type, acc, path_name(path), rate);
        return;
    }
    json_begin_object(j);
    json_key(j, TEXT("target"));
    json_string(j, rows[row].target);
    json_key(j, TEXT("unit"));
    json_string(j, unit);
    json_key(j, TEXT("type"));
    json_string(j, type);
    json_key(j, TEXT("accumulator"));
    json_string(j, acc);
    json_key(j, TEXT("path"));
    json_string(j, path_name(path));
    json_key(j, TEXT("gflops"));
    json_number(j, rate);
    json_end_object(j);
}

int matrix_bench(const Cli *c, MmaPath path)
{
    TextBuf b = {0};
    Json json = json_start(&b, true), *j = c->json ? &json : NULL;
    if (path == MMA_PATH_VECTOR)
        path = mma_has_path(MMA_PATH_AVX512) ? MMA_PATH_AVX512
               : mma_has_path(MMA_PATH_AVX2) ? MMA_PATH_AVX2
                                             : MMA_PATH_SCALAR;
    if (j) {
        json_begin_object(j);
        json_key(j, TEXT("schema"));
        json_string(j, "tilesim/1");
        json_key(j, TEXT("command"));
        json_string(j, "matrix");
        json_key(j, TEXT("rates"));
        json_begin_array(j);
    }
    for (int row = 0; row < (int)countof(rows); row++) {
        put_row(&b, j, row, path, rate_of(row, path));
        if (!j) {
            buf_write(&b, stdout);
            fflush(stdout);
            buf_clear(&b);
        }
    }
    if (j) {
        json_end_array(j);
        json_end_object(j);
        buf_addc(&b, '\n');
        buf_write(&b, stdout);
    }
    buf_release(&b);
    return EXIT_CLEAN;
}
