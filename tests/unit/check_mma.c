// check_mma.c - matrix-core arithmetic: worked examples, formats, tiles.
//
// The examples are hand computations that the hardware (Hopper) or two
// published models (CDNA 3) confirmed. Captures of whole instructions are
// tests/hardware.test's affair, the vector paths mma_compare's.
#include <math.h>
#include <string.h>

#include "num/mma_int.h"
#include "num/num.h"
#include "unit.h"

#define SYNC MMA_UNIT_SYNC
#define WGMMA MMA_UNIT_WGMMA
#define MFMA MMA_UNIT_MFMA

// One dot product; a and b go on with zeros.
static const struct {
    const char *name;
    MmaUnit unit;
    MmaType type, acc;
    int k;
    uint32_t a[4], b[4], c, d, without_renormalise;
} examples[] = {
    {"N1 2^23 - 2^23 - .5 - .25 - .125", SYNC, MMA_F16, MMA_F32, 16,
     {0xf000, 0xb800, 0xb400, 0xb000}, {0x6400, 0x3c00, 0x3c00, 0x3c00},
     0x4b000000, 0xbf400000, 0},
    {"N2 1 - 2^-25 is kept", SYNC, MMA_F16, MMA_F32, 16,
     {0x3c00, 0x8c00}, {0x3c00, 0x0800}, 0, 0x3f7fffff, 0},
    {"N2b 1 - 2^-26 is dropped", SYNC, MMA_F16, MMA_F32, 16,
     {0x3c00, 0x8800}, {0x3c00, 0x0800}, 0, 0x3f800000, 0},
    {"N3 toward zero", SYNC, MMA_F16, MMA_F32, 16,
     {0x3c00, 0x0c00, 0x0c00, 0x0c00}, {0x3c00, 0x0800, 0x0800, 0x0800},
     0, 0x3f800000, 0},
    {"N4 a product of 2.25 has exponent 0", SYNC, MMA_F16, MMA_F32, 16,
     {0x3e00, 0xbe00}, {0x3e00, 0x3e00}, 0x33000000, 0x33000000, 0},
    {"N4b c = 2^-26 is lost", SYNC, MMA_F16, MMA_F32, 16,
     {0x3e00, 0xbe00}, {0x3e00, 0x3e00}, 0x32800000, 0, 0},
    {"N5 c = 0 counts as 2^-21", SYNC, MMA_F16, MMA_F16, 16,
     {0x0400, 0x0001}, {0x1900, 0x0001}, 0, 0x0002, 0},
    {"N5b a tie with a tail", SYNC, MMA_F16, MMA_F16, 16,
     {0x0400, 0x0003}, {0x1900, 0x0002}, 0, 0x0003, 0},
    {"N6 65504 + 16 overflows", SYNC, MMA_F16, MMA_F16, 16,
     {0x4c00}, {0x3c00}, 0x7bff, 0x7c00, 0},
    {"N6b 65504 + 15 does not", SYNC, MMA_F16, MMA_F16, 16,
     {0x4b80}, {0x3c00}, 0x7bff, 0x7bff, 0},
    {"N7 2^-149 - 2^-158", SYNC, MMA_BF16, MMA_F32, 16,
     {0x1a00, 0x9a00}, {0x1a80, 0x1600}, 0, 0, 0},
    {"N7b 2^-149 - 2^-159", SYNC, MMA_BF16, MMA_F32, 16,
     {0x1a00, 0x9a00}, {0x1a80, 0x1580}, 0, 0x00000001, 0},
    {"N8 2^64 * 2^64", SYNC, MMA_BF16, MMA_F32, 16,
     {0x5f80}, {0x5f80}, 0, 0x7f800000, 0},
    {"N8b 2^128 - 2^128 + 1", SYNC, MMA_BF16, MMA_F32, 16,
     {0x5f80, 0xdf80}, {0x5f80, 0x5f80}, 0x3f800000, 0, 0},
    {"N9 low bits of a tf32", SYNC, MMA_TF32, MMA_F32, 8,
     {0x3f801fff}, {0x3f800000}, 0, 0x3f800000, 0},
    {"N9b a NaN payload in the low bits", SYNC, MMA_TF32, MMA_F32, 8,
     {0x7f800001}, {0x3f800000}, 0, 0x7f800000, 0},
    {"N10 a negative underflow is +0", SYNC, MMA_BF16, MMA_F32, 16,
     {0x9780}, {0x1780}, 0x80000000, 0, 0},
    {"N11 fp8 by wgmma: c alone", WGMMA, MMA_E4M3, MMA_F32, 32,
     {0}, {0}, 0x3f8003ff, 0x3f800000, 0},
    {"N11b 1 + 2^-13 is kept", WGMMA, MMA_E4M3, MMA_F32, 32,
     {0x38, 0x04}, {0x38, 0x08}, 0, 0x3f800400, 0},
    {"N11c 1 + 2^-14 is not", WGMMA, MMA_E4M3, MMA_F32, 32,
     {0x38, 0x04}, {0x38, 0x04}, 0, 0x3f800000, 0},
    {"N11d 448 * 448 + 1 by wgmma", WGMMA, MMA_E4M3, MMA_F32, 32,
     {0x7e, 0x38}, {0x7e, 0x38}, 0, 0x48440000, 0},
    {"N11e the same by mma.sync", SYNC, MMA_E4M3, MMA_F32, 32,
     {0x7e, 0x38}, {0x7e, 0x38}, 0, 0x48440040, 0},
    {"N12 a subnormal keeps its exponent", WGMMA, MMA_E4M3, MMA_F32, 32,
     {0x01, 0x01}, {0x7e, 0xfe}, 0x3a800000, 0x3a800000, 0},

    {"A1 2^23 - 2^23 - .5 - .25 - .125", MFMA, MMA_F16, MMA_F32, 16,
     {0xf000, 0xb800, 0xb400, 0xb000}, {0x6400, 0x3c00, 0x3c00, 0x3c00},
     0x4b000000, 0xbf000000, 0xbf000000},
    {"A1b the same in bf8", MFMA, MMA_E5M2FNUZ, MMA_F32, 32,
     {0xf4, 0xbc, 0xb8, 0xb4}, {0x68, 0x40, 0x40, 0x40},
     0x4b000000, 0xbf800000, 0xbf800000},
    {"A2 a tiny negative c costs a step", MFMA, MMA_F16, MMA_F32, 16,
     {0x3c00}, {0x3c00}, 0xa1800000, 0x3f7fffff, 0x3f7fffff},
    {"A2b a tiny positive one nothing", MFMA, MMA_F16, MMA_F32, 16,
     {0x3c00}, {0x3c00}, 0x21800000, 0x3f800000, 0x3f800000},
    {"A2c fp8 cuts such a c off", MFMA, MMA_E4M3FNUZ, MMA_F32, 32,
     {0x40}, {0x40}, 0xa1800000, 0x3f800000, 0x3f800000},
    {"A2d fp8, c = -2^-25", MFMA, MMA_E4M3FNUZ, MMA_F32, 32,
     {0x40}, {0x40}, 0xb3000000, 0x3f7fffff, 0x3f7fffff},
    {"A3 1 + 2^-24 + 2^-40", MFMA, MMA_F16, MMA_F32, 16,
     {0x0c00, 0x0010}, {0x0c00, 0x0010}, 0x3f800000, 0x3f800000, 0x3f800000},
    {"A3b 1 - 2^-25 - 2^-40", MFMA, MMA_F16, MMA_F32, 16,
     {0x8c00, 0x8010}, {0x0800, 0x0010}, 0x3f800000, 0x3f7fffff, 0x3f7fffff},
    {"A4 xf32 cuts its inputs", MFMA, MMA_TF32, MMA_F32, 8,
     {0x3f801fff}, {0x3f800000}, 0, 0x3f800000, 0x3f800000},
    {"A5 a product beyond f32 is Inf", MFMA, MMA_BF16, MMA_F32, 16,
     {0x5f80, 0xdf80}, {0x5f80, 0x5f80}, 0, 0x7fffffff, 0x7fffffff},
    {"A6 1 - 2^-24 - 2^-25", MFMA, MMA_F16, MMA_F32, 16,
     {0x3c00, 0x8c00, 0x8c00}, {0x3c00, 0x0c00, 0x0800}, 0,
     0x3f7fffff, 0x3f7fffff},
    {"A7 subnormals are kept", MFMA, MMA_F16, MMA_F32, 16,
     {0x0001}, {0x3c00}, 0, 0x33800000, 0x33800000},
};

static const MmaPath paths[] = {MMA_PATH_SCALAR, MMA_PATH_AVX2,
                                MMA_PATH_AVX512};

static uint32_t dot(const MmaSpec *s, MmaPath path, int k, const uint32_t *a,
                    const uint32_t *b, uint32_t c)
{
    uint32_t wide_a[64] = {0}, wide_b[64] = {0}, d = 0;
    int bits = mma_type_info(s->a)->bits;
    for (int i = 0; i < 4; i++) {
        mma_store(wide_a, i, bits, a[i]);
        mma_store(wide_b, i, bits, b[i]);
    }
    MmaTile t = {1, 1, k, wide_a, wide_b, &c, &d, k, k, 1, 1};
    mma_tile(s, path, &t);
    return d;
}

START_TEST(worked_example)
{
    MmaSpec s;
    ck_assert(mma_spec(examples[_i].unit, examples[_i].type, examples[_i].type,
                       examples[_i].acc, examples[_i].k, &s));
    for (size_t p = 0; p < countof(paths); p++) {
        if (!mma_has_path(paths[p]))
            continue;
        s.skip_renormalise = false;
        uint32_t d = dot(&s, paths[p], examples[_i].k, examples[_i].a,
                         examples[_i].b, examples[_i].c);
        ck_assert_msg(d == examples[_i].d, "%s, path %d: %08x",
                      examples[_i].name, (int)paths[p], d);
        if (examples[_i].unit != MFMA)
            continue;
        s.skip_renormalise = true;
        d = dot(&s, paths[p], examples[_i].k, examples[_i].a, examples[_i].b,
                examples[_i].c);
        ck_assert_msg(d == examples[_i].without_renormalise,
                      "%s without renormalising, path %d: %08x",
                      examples[_i].name, (int)paths[p], d);
    }
}
END_TEST

// The A100 keeps one bit less and sums eight products.
START_TEST(fewer_bits_give_the_a100s_answer)
{
    MmaSpec s;
    ck_assert(mma_spec(SYNC, MMA_F16, MMA_F16, MMA_F32, 16, &s));
    s.fraction = 24;
    s.step = 8;
    for (size_t p = 0; p < countof(paths); p++)
        if (mma_has_path(paths[p]))
            ck_assert_uint_eq(dot(&s, paths[p], 16, examples[0].a,
                                  examples[0].b, examples[0].c), 0xbf000000);
}
END_TEST

// ---- switches --------------------------------------------------------------

START_TEST(switches_change_what_they_name)
{
    MmaSpec s;
    const uint32_t zero[4] = {0}, one[4] = {0x3c00}, nan[4] = {0x7e00};
    ck_assert(mma_spec(MFMA, MMA_F16, MMA_F16, MMA_F32, 4, &s));
    uint32_t minus[4] = {0x8000, 0x8000, 0x8000, 0x8000};
    ck_assert_uint_eq(dot(&s, MMA_PATH_VECTOR, 4, one, nan, 0), 0x7fffffff);
    s.nan = 0x7fc00000;
    ck_assert_uint_eq(dot(&s, MMA_PATH_VECTOR, 4, one, nan, 0), 0x7fc00000);
    ck_assert_uint_eq(dot(&s, MMA_PATH_VECTOR, 4, minus, zero, 0x80000000), 0);
    s.negative_zero = true;
    ck_assert_uint_eq(dot(&s, MMA_PATH_VECTOR, 4, minus, zero, 0x80000000),
                      0x80000000);
    ck_assert_uint_eq(dot(&s, MMA_PATH_VECTOR, 4, minus, zero, 0), 0);
    ck_assert_uint_eq(dot(&s, MMA_PATH_VECTOR, 4, zero, one, 0x80000000), 0);
}
END_TEST

START_TEST(int8_wraps_or_clamps)
{
    MmaSpec s;
    const uint32_t a[4] = {0x7f, 0x7f}, b[4] = {0x7f, 0x7f};
    ck_assert(mma_spec(SYNC, MMA_S8, MMA_S8, MMA_S32, 32, &s));
    for (size_t p = 0; p < countof(paths); p++) {
        if (!mma_has_path(paths[p]))
            continue;
        s.saturate = false;
        ck_assert_uint_eq(dot(&s, paths[p], 32, a, b, 0x7ffffff0),
                          0x7ffffff0u + 2 * 127 * 127);
        s.saturate = true;
        ck_assert_uint_eq(dot(&s, paths[p], 32, a, b, 0x7ffffff0), 0x7fffffff);
    }
}
END_TEST

// ---- formats ---------------------------------------------------------------

static const struct {
    MmaType type;
    DType dtype;
} formats[] = {
    {MMA_F16, DT_F16}, {MMA_BF16, DT_BF16}, {MMA_E4M3, DT_E4M3FN},
    {MMA_E5M2, DT_E5M2}, {MMA_E4M3FNUZ, DT_E4M3FNUZ},
    {MMA_E5M2FNUZ, DT_E5M2FNUZ},
};

static double value_of(const MmaTypeInfo *t, uint32_t code)
{
    MmaNumber n = mma_decode(t, code);
    double v = n.class == MMA_NAN    ? NAN
               : n.class == MMA_INF  ? INFINITY
               : n.class == MMA_ZERO ? 0
               : ldexp(n.significand, n.exponent - t->mantissa_bits);
    return n.negative ? -v : v;
}

// num_get_f64 is held against NumPy and ml_dtypes by tests/num.
START_TEST(every_code_has_the_value_of_its_dtype)
{
    const MmaTypeInfo *t = mma_type_info(formats[_i].type);
    MmaType found;
    ck_assert(mma_type_of(formats[_i].dtype, &found));
    ck_assert_int_eq(found, formats[_i].type);
    for (uint32_t code = 0; code < 1u << t->bits; code++) {
        uint16_t bits = (uint16_t)code;
        uint8_t byte = (uint8_t)code;
        double want = num_get_f64(formats[_i].dtype,
                                  t->bits == 8 ? (void *)&byte : &bits);
        double got = value_of(t, code);
        ck_assert_msg(got == want || (isnan(got) && isnan(want)),
                      "%s %x: %g, not %g", t->name, code, got, want);
    }
}
END_TEST

START_TEST(format_is_found_by_name_and_number)
{
    MmaType found;
    const MmaTypeInfo *t = mma_type_info((MmaType)_i);
    ck_assert(mma_type_find(text_of(t->name), &found));
    ck_assert_int_eq(found, _i);
    ck_assert(mma_type_of_code(t->code, &found));
    ck_assert_int_eq(found, _i);
}
END_TEST

// ---- tiles -----------------------------------------------------------------

enum { M = 7, N = 37, K = 96, PITCH = 160 };

// A tile in the middle of larger arrays: D outside it stays as it was, and
// the same comes out as from packed operands.
START_TEST(tile_of_larger_arrays)
{
    MmaSpec s;
    static uint16_t a[M * PITCH], b[N * PITCH], packed_a[M * K];
    static uint16_t packed_b[N * K];
    static float c[M * PITCH], d[M * PITCH], want[M * N], packed_c[M * N];
    ck_assert(mma_spec(WGMMA, MMA_F16, MMA_F16, MMA_F32, 16, &s));
    for (int i = 0; i < N * PITCH; i++)
        b[i] = (uint16_t)(0x3000 + i * 37 % 0x1800 + (i & 1 ? 0x8000 : 0));
    for (int i = 0; i < M * PITCH; i++) {
        a[i] = (uint16_t)(0x3000 + i * 53 % 0x1400);
        c[i] = (float)(i % 17) - 8;
        d[i] = -1e30f;
    }
    for (int i = 0; i < M; i++)
        memcpy(&packed_a[i * K], &a[i * PITCH], K * 2);
    for (int j = 0; j < N; j++)
        memcpy(&packed_b[j * K], &b[j * PITCH], K * 2);
    for (int i = 0; i < M; i++)
        memcpy(&packed_c[i * N], &c[i * PITCH], N * 4);
    MmaTile small = {M, N, K, packed_a, packed_b, packed_c, want, K, K, N, N};
    MmaTile t = {M, N, K, a, b, c, d, PITCH, PITCH, PITCH, PITCH};
    mma_tile(&s, MMA_PATH_SCALAR, &small);
    for (size_t p = 0; p < countof(paths); p++) {
        if (!mma_has_path(paths[p]))
            continue;
        mma_tile(&s, paths[p], &t);
        for (int i = 0; i < M; i++) {
            ck_assert_mem_eq(&d[i * PITCH], &want[i * N], N * 4);
            for (int j = N; j < PITCH; j++)
                ck_assert(d[i * PITCH + j] == -1e30f);
        }
    }
    // In place: C and D the same memory.
    t.d = c;
    mma_tile(&s, MMA_PATH_VECTOR, &t);
    for (int i = 0; i < M; i++)
        ck_assert_mem_eq(&c[i * PITCH], &want[i * N], N * 4);
}
END_TEST

START_TEST(chain_of_instructions_is_one_long_tile)
{
    MmaSpec s;
    uint16_t a[64], b[64];
    float d = 0.5f, long_d, c = 0.5f;
    ck_assert(mma_spec(SYNC, MMA_BF16, MMA_BF16, MMA_F32, 16, &s));
    for (int i = 0; i < 64; i++) {
        a[i] = (uint16_t)(0x3f00 + 29 * i % 256);
        b[i] = (uint16_t)(0x3d00 + 41 * i % 512 + (i & 2 ? 0x8000 : 0));
    }
    for (int i = 0; i < 4; i++) {
        MmaTile t = {1, 1, 16, a + 16 * i, b + 16 * i, &d, &d, 16, 16, 1, 1};
        mma_tile(&s, MMA_PATH_SCALAR, &t);
    }
    MmaTile t = {1, 1, 64, a, b, &c, &long_d, 64, 64, 1, 1};
    mma_tile(&s, MMA_PATH_VECTOR, &t);
    ck_assert_mem_eq(&d, &long_d, 4);
}
END_TEST

START_TEST(unknown_combination_is_refused)
{
    MmaSpec s;
    ck_assert(!mma_spec(WGMMA, MMA_F64, MMA_F64, MMA_F64, 4, &s));
    ck_assert(!mma_spec(MFMA, MMA_F16, MMA_F16, MMA_F16, 16, &s));
    ck_assert(!mma_spec(SYNC, MMA_F16, MMA_BF16, MMA_F32, 16, &s));
    ck_assert(!mma_spec(SYNC, MMA_F16, MMA_F16, MMA_F32, 24, &s));
    ck_assert(!mma_spec(SYNC, MMA_E4M3, MMA_E4M3, MMA_F32, 16, &s));
    ck_assert(!mma_spec(SYNC, MMA_F16, MMA_F16, MMA_F32, 0, &s));
    ck_assert(mma_spec(MFMA, MMA_F16, MMA_F16, MMA_F32, 4, &s));
    ck_assert_int_eq(s.step, 4);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("mma");
    TCase *e = tcase_create("examples"), *f = tcase_create("formats");
    TCase *t = tcase_create("tiles");
    suite_add_tcase(s, e);
    suite_add_tcase(s, f);
    suite_add_tcase(s, t);
    tcase_add_loop_test(e, worked_example, 0, countof(examples));
    tcase_add_test(e, fewer_bits_give_the_a100s_answer);
    tcase_add_test(e, switches_change_what_they_name);
    tcase_add_test(e, int8_wraps_or_clamps);
    tcase_add_loop_test(f, every_code_has_the_value_of_its_dtype, 0,
                        countof(formats));
    tcase_add_loop_test(f, format_is_found_by_name_and_number, 0,
                        MMA_TYPE_COUNT);
    tcase_add_test(t, tile_of_larger_arrays);
    tcase_add_test(t, chain_of_instructions_is_one_long_tile);
    tcase_add_test(t, unknown_combination_is_refused);
    return unit_run(s);
}
