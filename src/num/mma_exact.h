// mma_exact.h - 8-bit integer products, summed in int32.
//
// Operands widen to int16, so that one instruction multiplies two k and adds
// them; no partial sum is cut off, and int32 wraps as the hardware does. With
// `saturate` each step's sum is added with one clamp. Included by the vector
// paths.

enum { EXACT_COLUMNS = 32, EXACT_PAIRS = 64 };

typedef struct {
    const MmaSpec *spec;
    const MmaTile *tile;
    int column, columns, k, pairs;              // of the panel and chunk
    _Alignas(64) int16_t b[EXACT_PAIRS][EXACT_COLUMNS][2];
    int16_t a[EXACT_PAIRS][2];
} Exact;

static void exact_widen(int16_t *out, int64_t stride, MmaType t,
                        const void *at, int count, int sign)
{
    for (int k = 0; k < count; k++) {
        uint8_t v = ((const uint8_t *)at)[k];
        int wide = t == MMA_S8 ? (int8_t)v : v;
        out[k / 2 * stride + k % 2] = (int16_t)(sign * wide);
    }
}

static void exact_pack(Exact *w)
{
    const MmaTile *t = w->tile;
    memset(w->b, 0, sizeof w->b);
    for (int j = 0; j < w->columns; j++)
        exact_widen(w->b[0][j], 2 * EXACT_COLUMNS, w->spec->b,
                    (const char *)t->b + (w->column + j) * t->ldb + w->k,
                    2 * w->pairs, 1);
}

// c + sum, clamped where it overflows.
INLINE Vi add_clamped(Vi c, Vi sum)
{
    Vi total = (Vi)((Vu)c + (Vu)sum);
    Vi overflow = ((c ^ total) & (sum ^ total)) < 0;
    Vi limit = INT32_MAX ^ (c >> 31);
    return SELECT(overflow, limit, total);
}

INLINE Vi exact_step(const Exact *w, int first, int pairs, int j)
{
    Vi sum = {0};
    for (int p = first; p < first + pairs; p++) {
        int32_t pair;
        Vi b;
        memcpy(&pair, w->a[p], sizeof pair);
        memcpy(&b, w->b[p][j], sizeof b);
        sum = (Vi)((Vu)sum + (Vu)madd((Vi){0} + pair, b));
    }
    return sum;
}

INLINE Vi exact_lanes(const Exact *w, Vi c, int j)
{
    int step = w->spec->step / 2;
    if (!w->spec->saturate)
        return (Vi)((Vu)c + (Vu)exact_step(w, 0, w->pairs, j));
    for (int p = 0; p < w->pairs; p += step)
        c = add_clamped(c, exact_step(w, p, step, j));
    return c;
}

static void exact_row(Exact *w, int i)
{
    const MmaTile *t = w->tile;
    int32_t *d = (int32_t *)t->d + i * t->ldd + w->column;
    const int32_t *c = w->k ? d : t->c
        ? (const int32_t *)t->c + i * t->ldc + w->column : NULL;
    int32_t row[EXACT_COLUMNS] = {0};
    size_t bytes = (size_t)w->columns * sizeof *d;
    exact_widen(w->a[0], 2, w->spec->a,
                (const char *)t->a + i * t->lda + w->k, 2 * w->pairs,
                w->spec->negate_a ? -1 : 1);
    if (c)
        memcpy(row, c, bytes);
    for (int j = 0; j < w->columns; j += LANES) {
        Vi v;
        memcpy(&v, row + j, sizeof v);
        v = exact_lanes(w, v, j);
        memcpy(row + j, &v, sizeof v);
    }
    memcpy(d, row, bytes);
}

// A step must not be cut by the end of a chunk.
static bool has_exact_kernel(const MmaSpec *s)
{
    return s->step % 2 == 0 && (!s->saturate || 2 * EXACT_PAIRS % s->step == 0);
}

static void run_exact(const MmaSpec *s, const MmaTile *t)
{
    Exact w;                                    // large: not cleared
    w.spec = s;
    w.tile = t;
    for (w.column = 0; w.column < t->n; w.column += EXACT_COLUMNS) {
        w.columns = t->n - w.column < EXACT_COLUMNS ? t->n - w.column
                                                    : EXACT_COLUMNS;
        for (w.k = 0; w.k < t->k; w.k += 2 * EXACT_PAIRS) {
            int left = (t->k - w.k) / 2;
            w.pairs = left < EXACT_PAIRS ? left : EXACT_PAIRS;
            exact_pack(&w);
            for (int i = 0; i < t->m; i++)
                exact_row(&w, i);
        }
    }
}
