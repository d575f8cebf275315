// check_num.c - dtypes, and lane loops against one element at a time.
#include <math.h>
#include <string.h>

#include "num/lanes.h"
#include "num/xgemm.h"
#include "unit.h"

// A fixed stream of pseudo-random numbers (xorshift).
typedef struct {
    uint64_t state;
} Random;

static uint64_t next_u64(Random *r)
{
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return r->state;
}

// Magnitudes from 2^-8 to 2^8, both signs.
static double next_real(Random *r)
{
    double x = ldexp((double)(next_u64(r) >> 11), (int)(next_u64(r) % 17) - 61);
    return next_u64(r) & 1 ? -x : x;
}

static DType find(const char *name)
{
    DType t = DT_NONE;
    ck_assert_msg(dtype_find(text_of(name), &t), "%s", name);
    return t;
}

START_TEST(dtype_name_finds_its_row)
{
    ck_assert_int_eq(find(dtype_info((DType)_i)->name), _i);
}
END_TEST

START_TEST(dtype_aliases_mean_what_the_language_says)
{
    ck_assert_int_eq(find("int"), DT_I32);
    ck_assert_int_eq(find("float"), DT_F32);
    ck_assert_int_eq(find("half"), DT_F16);
    ck_assert_int_eq(find("double"), DT_F64);
    ck_assert_int_eq(find("short"), DT_I16);
    ck_assert_int_eq(find("long"), DT_I64);
    ck_assert_int_eq(find("uint"), DT_U32);
    ck_assert_int_eq(find("float8_e4m3"), DT_E4M3FN);
}
END_TEST

START_TEST(unknown_dtype_is_not_found)
{
    DType t;
    ck_assert(!dtype_find(TEXT("float17"), &t));
    ck_assert(!dtype_find(TEXT(""), &t));
    ck_assert(!dtype_find(TEXT("float3"), &t));
    ck_assert(!dtype_find(TEXT("float322"), &t));
}
END_TEST

START_TEST(sub_byte_dtypes_take_a_byte_each)
{
    ck_assert_uint_eq(dtype_bytes(DT_I4, 0), 0);
    ck_assert_uint_eq(dtype_bytes(DT_I4, 1), 1);
    ck_assert_uint_eq(dtype_bytes(DT_I4, 5), 5);
    ck_assert_uint_eq(dtype_bytes(DT_F16, 5), 10);
    ck_assert_uint_eq(dtype_bytes(DT_F64, (int64_t)1 << 40), (size_t)8 << 40);
}
END_TEST

// Largest finite and least normal survive; twice the largest does not.
START_TEST(float_limits_are_values_of_the_type)
{
    const DTypeInfo *info = dtype_info((DType)_i);
    if (info->kind != KIND_FLOAT || !info->built)
        return;
    ck_assert_double_eq(num_round_f64((DType)_i, info->max_finite),
                        info->max_finite);
    double sign = _i == DT_E8M0FNU ? 1 : -1;    // it has none
    ck_assert_double_eq(num_round_f64((DType)_i, -info->min_normal),
                        sign * info->min_normal);
    if (info->bits <= 8)
        ck_assert_double_eq(num_round_f64((DType)_i, 2 * info->max_finite),
                            info->max_finite);
    else
        ck_assert(isinf(num_round_f64((DType)_i, 2 * info->max_finite)));
}
END_TEST

// By the exponents themselves: up for T.cast, to the nearest for torch.
START_TEST(block_scales_are_powers_of_two)
{
    static const struct {
        double x;
        uint8_t up, nearest;
    } rows[] = {
        {1, 127, 127},      {1.25, 128, 127},   {1.5, 128, 128},
        {-3, 129, 129},     {2.9, 129, 128},    {0, 0, 0},
        {0x1p-127, 0, 0},   {0x1.8p-127, 1, 1}, {0x1p127, 254, 254},
        {0x1.1p127, 254, 254}, {INFINITY, 254, 255}, {NAN, 255, 255},
    };
    for (size_t i = 0; i < countof(rows); i++) {
        float x = (float)rows[i].x;
        uint8_t up, nearest;
        num_convert(DT_E8M0FNU, &up, DT_F32, &x, 1);
        num_convert_torch(DT_E8M0FNU, &nearest, DT_F32, &x, 1);
        ck_assert_uint_eq(up, rows[i].up);
        ck_assert_uint_eq(nearest, rows[i].nearest);
        num_put_f64(DT_E8M0FNU, &up, rows[i].x);
        ck_assert_uint_eq(up, rows[i].up);
    }
}
END_TEST

// 1 + 2^-11 + 2^-40 is above the middle of two float16; through float32 it
// would be on it, and go down.
START_TEST(rounding_is_direct)
{
    ck_assert_double_eq(num_round_f64(DT_F16, 1 + 0x1p-11 + 0x1p-40),
                        1 + 0x1p-10);
    ck_assert_double_eq(num_round_f64(DT_F16, 1 + 0x1p-11), 1);
    double v = 1 + 0x1p-11 + 0x1p-40;
    uint16_t half;
    num_convert(DT_F16, &half, DT_F64, &v, 1);
    ck_assert_uint_eq(half, 0x3c01);
    int64_t i = ((int64_t)1 << 60) + ((int64_t)1 << 52) + 1;
    num_convert(DT_BF16, &half, DT_I64, &i, 1);
    ck_assert_uint_eq(half, 0x5d81);
}
END_TEST

START_TEST(fp8_overflow_saturates_only_where_asked)
{
    float v[3] = {500, -INFINITY, NAN};
    uint8_t code[3];
    num_convert(DT_E4M3FN, code, DT_F32, v, 3);
    ck_assert_mem_eq(code, ((uint8_t[]){0x7e, 0xfe, 0x7f}), 3);
    num_convert_nosat(DT_E4M3FN, code, DT_F32, v, 3);
    ck_assert_mem_eq(code, ((uint8_t[]){0x7f, 0xff, 0x7f}), 3);
    num_convert_torch(DT_E4M3FN, code, DT_F32, v, 3);
    ck_assert_mem_eq(code, ((uint8_t[]){0x7e, 0xfe, 0x7f}), 3);
    num_convert_torch(DT_E4M3FNUZ, code, DT_F32, v, 3);
    ck_assert_mem_eq(code, ((uint8_t[]){0x80, 0x80, 0x80}), 3);
}
END_TEST

// Rows of lanes.def have exactly the lane types that their kinds say.
START_TEST(lane_table_is_full)
{
    const LaneOpInfo *info = lane_op_info((LaneOp)_i);
    static const char kind[LANE_COUNT] = {'f', 'f', 'i', 'u', 'i', 'u'};
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        const Lanes *l = lanes_for((Isa)isa);
        for (int t = 0; l && t < LANE_COUNT; t++)
            ck_assert_msg((l->op[_i][t] != NULL) ==
                              (strchr(info->kinds, kind[t]) != NULL),
                          "%s, lane type %d, %s", info->name, t, isa_name(isa));
    }
}
END_TEST

typedef struct {
    int m, n, k, gap;                           // gap: pitch beyond the width
} Shape;

static const Shape shapes[] = {
    {1, 1, 1, 0},    {1, 16, 5, 0},    {3, 17, 9, 1},   {8, 48, 32, 0},
    {6, 64, 33, 0},  {13, 65, 40, 3},  {64, 16, 64, 0}, {16, 8, 128, 0},
    {31, 33, 37, 5}, {64, 128, 64, 0}, {5, 200, 7, 2},  {128, 80, 300, 0},
    {2, 3, 1100, 1}, {0, 5, 5, 0},     {5, 0, 5, 0},    {5, 5, 0, 0},
};

// One matrix of each operand; C twice, for the loop and for the kernel.
typedef struct {
    int64_t lda, ldb, ldc;
    double *a, *b, *c, *want;
} Product;

static double *reals(Random *r, int64_t n)
{
    double *v = xcalloc((size_t)n + 1, sizeof *v);
    for (int64_t i = 0; i < n; i++)
        v[i] = next_real(r);
    return v;
}

static Product product_create(const Shape *s)
{
    Random r = {88172645463325252u};
    Product p = {s->k + s->gap, s->n + s->gap, s->n + 2 * s->gap, 0, 0, 0, 0};
    p.a = reals(&r, s->m * p.lda);
    p.b = reals(&r, s->k * p.ldb);
    p.c = reals(&r, s->m * p.ldc);
    p.want = xcalloc((size_t)(s->m * p.ldc) + 1, sizeof(double));
    memcpy(p.want, p.c, (size_t)(s->m * p.ldc) * sizeof(double));
    return p;
}

static void product_destroy(Product *p)
{
    free(p->a), free(p->b), free(p->c), free(p->want);
}

static void naive_f64(const Shape *s, const Product *p, double *c)
{
    for (int i = 0; i < s->m; i++)
        for (int j = 0; j < s->n; j++)
            for (int k = 0; k < s->k; k++)
                c[i * p->ldc + j] = fma(p->a[i * p->lda + k],
                                        p->b[k * p->ldb + j],
                                        c[i * p->ldc + j]);
}

static void naive_f32(const Shape *s, const Product *p, const float *a,
                      const float *b, float *c)
{
    for (int i = 0; i < s->m; i++)
        for (int j = 0; j < s->n; j++)
            for (int k = 0; k < s->k; k++)
                c[i * p->ldc + j] = fmaf(a[i * p->lda + k], b[k * p->ldb + j],
                                         c[i * p->ldc + j]);
}

static float *narrowed(const double *v, int64_t n)
{
    float *f = xcalloc((size_t)n + 1, sizeof *f);
    for (int64_t i = 0; i < n; i++)
        f[i] = (float)v[i];
    return f;
}

START_TEST(gemm_f64_is_one_chain)
{
    const Shape *s = &shapes[_i];
    Product p = product_create(s);
    size_t bytes = (size_t)(s->m * p.ldc) * sizeof(double);
    naive_f64(s, &p, p.want);
    double *c = xcalloc(bytes + 1, 1);
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        const Lanes *l = lanes_for((Isa)isa);
        memcpy(c, p.c, bytes);
        if (l)
            l->gemm_f64(s->m, s->n, s->k, p.a, p.lda, p.b, p.ldb, c, p.ldc);
        ck_assert_msg(!l || memcmp(c, p.want, bytes) == 0, "%s", isa_name(isa));
    }
    free(c);
    product_destroy(&p);
}
END_TEST

START_TEST(gemm_f32_is_one_chain)
{
    const Shape *s = &shapes[_i];
    Product p = product_create(s);
    size_t bytes = (size_t)(s->m * p.ldc) * sizeof(float);
    float *a = narrowed(p.a, s->m * p.lda), *b = narrowed(p.b, s->k * p.ldb);
    float *start = narrowed(p.c, s->m * p.ldc);
    float *want = narrowed(p.c, s->m * p.ldc), *c = xcalloc(bytes + 1, 1);
    naive_f32(s, &p, a, b, want);
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        const Lanes *l = lanes_for((Isa)isa);
        memcpy(c, start, bytes);
        if (l)
            l->gemm_f32(s->m, s->n, s->k, a, p.lda, b, p.ldb, c, p.ldc);
        ck_assert_msg(!l || memcmp(c, want, bytes) == 0, "%s", isa_name(isa));
    }
    free(a), free(b), free(start), free(want), free(c);
    product_destroy(&p);
}
END_TEST

// With libxsmm or without, and a second question gets the first answer.
START_TEST(xgemm_gives_the_same_bits)
{
    const Shape *s = &shapes[_i];
    Product p = product_create(s);
    size_t bytes = (size_t)(s->m * p.ldc) * sizeof(float);
    float *a = narrowed(p.a, s->m * p.lda), *b = narrowed(p.b, s->k * p.ldb);
    float *want = narrowed(p.c, s->m * p.ldc), *c = narrowed(p.c, s->m * p.ldc);
    XGemmCache *cache = xgemm_create();
    const XGemm *plan = xgemm_plan(cache, s->m, s->n, s->k, p.lda, p.ldb,
                                   p.ldc);
    ck_assert_ptr_eq(plan, xgemm_plan(cache, s->m, s->n, s->k, p.lda, p.ldb,
                                      p.ldc));
    naive_f32(s, &p, a, b, want);
    xgemm_f32(plan, a, b, c);
    ck_assert_int_eq(memcmp(c, want, bytes), 0);
    xgemm_destroy(cache);
    free(a), free(b), free(want), free(c);
    product_destroy(&p);
}
END_TEST

// Infinity minus infinity in one element: the same NaN from everyone.
START_TEST(gemm_leaves_one_kind_of_nan)
{
    float a[2] = {INFINITY, -NAN}, b[2 * 48], c[48];
    const uint32_t quiet = 0x7fc00000;
    XGemmCache *cache = xgemm_create();
    for (int i = 0; i < 96; i++)
        b[i] = i % 3 ? 1 : -1;
    for (int isa = 0; isa <= ISA_COUNT; isa++) {
        const Lanes *l = isa < ISA_COUNT ? lanes_for((Isa)isa) : NULL;
        memset(c, 0, sizeof c);
        if (l)
            l->gemm_f32(1, 48, 2, a, 2, b, 48, c, 48);
        else
            xgemm_f32(xgemm_plan(cache, 1, 48, 2, 2, 48, 48), a, b, c);
        for (int i = 0; i < 48; i++)
            ck_assert_int_eq(memcmp(&c[i], &quiet, 4), 0);
    }
    xgemm_destroy(cache);
}
END_TEST

static uint32_t *words(Random *r, int64_t n)
{
    uint32_t *v = xcalloc((size_t)n + 1, sizeof *v);
    for (int64_t i = 0; i < n; i++)
        v[i] = (uint32_t)(next_u64(r) >> 20);
    return v;
}

START_TEST(gemm_i32_wraps)
{
    const Shape *s = &shapes[_i];
    Random r = {1234567};
    size_t bytes = (size_t)s->m * (size_t)s->n * 4;
    uint32_t *a = words(&r, s->m * s->k), *b = words(&r, s->k * s->n);
    uint32_t *want = xcalloc(bytes + 1, 1), *c = xcalloc(bytes + 1, 1);
    for (int i = 0; i < s->m; i++)
        for (int j = 0; j < s->n; j++)
            for (int k = 0; k < s->k; k++)
                want[i * s->n + j] += a[i * s->k + k] * b[k * s->n + j];
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        const Lanes *l = lanes_for((Isa)isa);
        memset(c, 0, bytes);
        if (l)
            l->gemm_i32(s->m, s->n, s->k, (int32_t *)a, s->k, (int32_t *)b,
                        s->n, (int32_t *)c, s->n);
        ck_assert_msg(!l || memcmp(c, want, bytes) == 0, "%s", isa_name(isa));
    }
    free(a), free(b), free(want), free(c);
}
END_TEST

// The order of sums, written as it is told: 16 partial results, then halves.
static float naive_sum(const float *v, int n, float acc)
{
    float p[16];
    for (int i = 0; i < n; i++)
        p[i % 16] = i < 16 ? v[i] : p[i % 16] + v[i];
    for (int half = 8; half; half /= 2)
        for (int j = 0; j < half; j++)
            if (j + half < n)
                p[j] += p[j + half];
    return n ? acc + p[0] : acc;
}

START_TEST(reduce_keeps_the_order_of_sums)
{
    Random r = {99991};
    float v[100];
    for (int i = 0; i < 100; i++)
        v[i] = (float)next_real(&r);
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        const Lanes *l = lanes_for((Isa)isa);
        float acc = 0.7f, want = naive_sum(v, _i, 0.7f);
        if (l)
            l->reduce(LANE_OP_ADD, LANE_F32, DT_NONE, &acc, v, _i);
        ck_assert_msg(!l || memcmp(&acc, &want, 4) == 0, "%s", isa_name(isa));
    }
}
END_TEST

START_TEST(reduce_rounds_every_step)
{
    const Lanes *l = lanes_best();
    float v[33], acc = 0;
    for (int i = 0; i < 33; i++)
        v[i] = i == 0 ? 2048 : 1;               // 2048 + 1 is 2048 in float16
    l->reduce(LANE_OP_ADD, LANE_F32, DT_F16, &acc, v, 33);
    // p[0] = 2048 + 1 + 1 stays 2048, the other fifteen are 2: their sum is 30,
    // added to it in the steps +2 (p[8]), +4, +8, +16.
    ck_assert_float_eq(acc, 2048 + 30);
}
END_TEST

// Element i of the source is i + 1, in the highest bits as well.
static uint64_t transpose_value(int bytes, int i)
{
    uint64_t v = (uint64_t)i + 1;
    return bytes == 8 ? v << 33 | v : bytes == 1 ? v & 255 : v;
}

static void transpose_once(const Lanes *l, int rows, int cols, int bytes)
{
    enum { SIDE = 40 };
    static uint64_t src[SIDE * SIDE], dst[SIDE * SIDE];
    void (*const turn[9])(void *, int64_t, const void *, int64_t, int, int) = {
        [1] = l->transpose8, [2] = l->transpose16, [4] = l->transpose32,
        [8] = l->transpose64,
    };
    memset(dst, 0, sizeof dst);
    for (int i = 0; i < SIDE * SIDE; i++) {
        uint64_t v = transpose_value(bytes, i);
        memcpy((char *)src + i * bytes, &v, (size_t)bytes);
    }
    turn[bytes](dst, SIDE, src, SIDE, rows, cols);
    for (int c = 0; c < SIDE; c++)
        for (int r = 0; r < SIDE; r++) {
            uint64_t got = 0;
            memcpy(&got, (char *)dst + (c * SIDE + r) * bytes, (size_t)bytes);
            ck_assert_uint_eq(got, r < rows && c < cols
                                       ? transpose_value(bytes, r * SIDE + c)
                                       : 0);
        }
}

START_TEST(transpose_swaps_and_touches_no_more)
{
    static const int sides[] = {0, 1, 3, 4, 7, 8, 9, 16, 23, 40};
    const Lanes *l = lanes_for((Isa)_i);
    for (size_t i = 0; l && i < countof(sides); i++)
        for (size_t j = 0; j < countof(sides); j++)
            for (int bytes = 1; bytes <= 8; bytes *= 2)
                transpose_once(l, sides[i], sides[j], bytes);
}
END_TEST

static void small_division(const Lanes *l, int32_t x, int32_t y)
{
    int32_t a[16], b[16], d[16];
    for (int i = 0; i < 16; i++)
        a[i] = x, b[i] = y;
    int64_t q = y ? (int64_t)x / y : 0, r = y ? (int64_t)x % y : 0;
    int64_t down = y && r && (r < 0) != (y < 0) ? 1 : 0;
    l->op[LANE_OP_TRUNCDIV][LANE_I32](d, a, b, NULL, 16);
    ck_assert_int_eq(d[3], (int32_t)q);
    l->op[LANE_OP_TRUNCMOD][LANE_I32](d, a, b, NULL, 16);
    ck_assert_int_eq(d[3], (int32_t)r);
    l->op[LANE_OP_FLOORDIV][LANE_I32](d, a, b, NULL, 16);
    ck_assert_int_eq(d[3], (int32_t)(q - down));
    l->op[LANE_OP_FLOORMOD][LANE_I32](d, a, b, NULL, 16);
    ck_assert_int_eq(d[3], (int32_t)(r + down * y));
}

START_TEST(integer_division_is_exact)
{
    static const int32_t v[] = {0,  1,  -1,  2,   -2,        3,         -3,
                                7,  -7, 100, 641, INT32_MAX, INT32_MIN, 65536,
                                -1000003, INT32_MAX - 1, INT32_MIN + 1};
    const Lanes *l = lanes_for((Isa)_i);
    for (size_t i = 0; l && i < countof(v); i++)
        for (size_t j = 0; j < countof(v); j++)
            small_division(l, v[i], v[j]);
}
END_TEST

// dst may be a source; lengths that are no multiple of a group.
START_TEST(lanes_work_in_place_and_touch_no_more)
{
    const Lanes *l = lanes_for((Isa)_i);
    float a[70], b[70];
    for (int n = 0; l && n <= 66; n++) {
        for (int i = 0; i < 70; i++)
            a[i] = (float)i, b[i] = 100;
        l->op[LANE_OP_ADD][LANE_F32](a, a, b, NULL, n);
        for (int i = 0; i < 70; i++)
            ck_assert_float_eq(a[i], (float)(i < n ? i + 100 : i));
    }
}
END_TEST

static TCase *dtype_case(void)
{
    TCase *t = tcase_create("dtype");
    tcase_add_loop_test(t, dtype_name_finds_its_row, 0, DT_COUNT);
    tcase_add_test(t, dtype_aliases_mean_what_the_language_says);
    tcase_add_test(t, unknown_dtype_is_not_found);
    tcase_add_test(t, sub_byte_dtypes_take_a_byte_each);
    return t;
}

static TCase *convert_case(void)
{
    TCase *t = tcase_create("convert");
    tcase_add_loop_test(t, float_limits_are_values_of_the_type, 0, DT_COUNT);
    tcase_add_test(t, block_scales_are_powers_of_two);
    tcase_add_test(t, rounding_is_direct);
    tcase_add_test(t, fp8_overflow_saturates_only_where_asked);
    return t;
}

// Random123's published answers: counter and key of zeros, and of ones.
START_TEST(philox_gives_the_published_words)
{
    const Lanes *l = lanes_for((Isa)_i);
    const uint32_t zero[2] = {0, 0}, ones[2] = {0xffffffff, 0xffffffff};
    uint32_t w0[100], w1[100];

    if (!l)
        return;
    l->philox(w0, w1, 0, 1, 0, zero);
    ck_assert_uint_eq(w0[0], 0x6627e8d5);
    ck_assert_uint_eq(w1[0], 0xe169c58d);
    // element 37 of a longer run is what it is alone
    l->philox(w0, w1, UINT64_C(0xfffffff0), 100, 7, ones);
    uint32_t a = w0[37], b = w1[37];
    l->philox(w0, w1, UINT64_C(0xfffffff0) + 37, 1, 7, ones);
    ck_assert_uint_eq(w0[0], a);
    ck_assert_uint_eq(w1[0], b);
}
END_TEST

static TCase *lanes_case(void)
{
    TCase *t = tcase_create("lanes");
    tcase_add_loop_test(t, lane_table_is_full, 0, LANE_OP_COUNT);
    tcase_add_loop_test(t, gemm_f64_is_one_chain, 0, countof(shapes));
    tcase_add_loop_test(t, gemm_f32_is_one_chain, 0, countof(shapes));
    tcase_add_loop_test(t, xgemm_gives_the_same_bits, 0, countof(shapes));
    tcase_add_test(t, gemm_leaves_one_kind_of_nan);
    tcase_add_loop_test(t, gemm_i32_wraps, 0, countof(shapes));
    tcase_add_loop_test(t, reduce_keeps_the_order_of_sums, 0, 100);
    tcase_add_test(t, reduce_rounds_every_step);
    tcase_add_loop_test(t, transpose_swaps_and_touches_no_more, 0, ISA_COUNT);
    tcase_add_loop_test(t, integer_division_is_exact, 0, ISA_COUNT);
    tcase_add_loop_test(t, lanes_work_in_place_and_touch_no_more, 0, ISA_COUNT);
    tcase_add_loop_test(t, philox_gives_the_published_words, 0, ISA_COUNT);
    return t;
}

int main(void)
{
    Suite *s = suite_create("num");
    suite_add_tcase(s, dtype_case());
    suite_add_tcase(s, convert_case());
    suite_add_tcase(s, lanes_case());
    return unit_run(s);
}
