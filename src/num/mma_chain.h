// mma_chain.h - chains of fused multiply-adds, a register of columns at a time.
//
// Included by mma_vector paths once for each of f32 and f64, which define REAL
// (the type), VEC (its register), FMA and CHAIN(name). Lanes that end as a NaN
// are done again by the scalar path, which knows whose NaN it is.

enum { CHAIN(COLUMNS) = 32, CHAIN(LENGTH) = 64 };

typedef struct {
    const MmaSpec *spec;
    const MmaTile *tile;
    int column, k, columns, count;              // of the panel and chunk
    _Alignas(64) REAL b[CHAIN(LENGTH)][CHAIN(COLUMNS)];
    _Alignas(64) REAL c[CHAIN(COLUMNS)];        // a row of accumulators
} CHAIN(Work);

static void CHAIN(pack)(CHAIN(Work) *w)
{
    const REAL *b = w->tile->b;
    for (int j = 0; j < CHAIN(COLUMNS); j++)
        for (int k = 0; k < w->count; k++)
            w->b[k][j] = j < w->columns
                ? b[(w->column + j) * w->tile->ldb + w->k + k] : 0;
}

// The chunk for one row and as many columns as a register has from j on.
INLINE void CHAIN(lanes)(CHAIN(Work) *w, const REAL *a, int j)
{
    VEC c;
    REAL sign = w->spec->negate_a ? -1 : 1;
    memcpy(&c, &w->c[j], sizeof c);
    for (int k = 0; k < w->count; k++) {
        VEC b;
        memcpy(&b, &w->b[k][j], sizeof b);
        // x - 0 is x for both zeros, x + 0 is not.
        c = FMA(a[k] * sign - (VEC){0}, b, c);
    }
    memcpy(&w->c[j], &c, sizeof c);
}

// `before` is what the row held; NaN results are recomputed from it.
static void CHAIN(mend)(CHAIN(Work) *w, const REAL *a, const REAL *before)
{
    const REAL *b = w->tile->b;
    for (int j = 0; j < w->columns; j++) {
        uint64_t c = 0;
        if (w->c[j] == w->c[j])
            continue;
        memcpy(&c, &before[j], sizeof(REAL));
        c = mma_scalar_dot(w->spec, a,
                           b + (w->column + j) * w->tile->ldb + w->k,
                           w->count, c);
        memcpy(&w->c[j], &c, sizeof(REAL));
    }
}

static void CHAIN(row)(CHAIN(Work) *w, int i)
{
    const MmaTile *t = w->tile;
    const REAL *a = (const REAL *)t->a + i * t->lda + w->k;
    REAL *d = (REAL *)t->d + i * t->ldd + w->column;
    const REAL *c = w->k || !t->c ? NULL
                                  : (const REAL *)t->c + i * t->ldc + w->column;
    size_t bytes = (size_t)w->columns * sizeof(REAL);
    REAL before[CHAIN(COLUMNS)] = {0};
    if (w->k)
        c = d;
    if (c)
        memcpy(before, c, bytes);
    memcpy(w->c, before, sizeof before);
    for (int j = 0; j < w->columns; j += (int)(sizeof(VEC) / sizeof(REAL)))
        CHAIN(lanes)(w, a, j);
    CHAIN(mend)(w, a, before);
    memcpy(d, w->c, bytes);
}

static void CHAIN(run)(const MmaSpec *s, const MmaTile *t)
{
    CHAIN(Work) w;                              // large: not cleared
    w.spec = s;
    w.tile = t;
    for (w.column = 0; w.column < t->n; w.column += CHAIN(COLUMNS)) {
        w.columns = t->n - w.column < CHAIN(COLUMNS) ? t->n - w.column
                                                     : CHAIN(COLUMNS);
        for (w.k = 0; w.k < t->k; w.k += CHAIN(LENGTH)) {
            w.count = t->k - w.k < CHAIN(LENGTH) ? t->k - w.k : CHAIN(LENGTH);
            CHAIN(pack)(&w);
            for (int i = 0; i < t->m; i++)
                CHAIN(row)(&w, i);
        }
    }
}

#undef REAL
#undef VEC
#undef FMA
#undef CHAIN
