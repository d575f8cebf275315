// exec_matrix.c - T.gemm as a matrix instruction adds products (num/mma.h).
//
// A becomes rows and B columns of k, one after the other, in the format that
// the instruction reads and in its order of k. Tiles that lie so in memory are
// used as they are.
#include "interp/interp_int.h"

#include <stdlib.h>
#include <string.h>

void find_matrices(Run *run)
{
    const PlanMatrices *m = run->options->matrices;
    const Code *c = run->code;

    if (!m)
        return;
    run->matrix = xcalloc((size_t)c->gemm_count + 1, sizeof(*run->matrix));
    for (int i = 0; i < c->gemm_count; i++) {
        for (int j = 0; j < m->len; j++)
            if (m->at[j].stmt == c->gemm[i].stmt)
                run->matrix[i] = &m->at[j];
        if (!run->matrix[i])
            BUG("gemm of statement %d has no instruction", c->gemm[i].stmt);
    }
}

// ---- operands ------------------------------------------------------------

// An operand as lines along k.
typedef struct {
    const Tensor *t;
    DType dtype;
    int64_t at, lines, k;
    int64_t line_step, k_step;
    size_t bytes; // of an element
    const PlanMatrix *m;
} Side;

typedef struct {
    const char *at;
    int64_t pitch; // elements
} Codes;

static size_t code_bytes(MmaType t)
{
    return (size_t)mma_type_info(t)->bits / 8;
}

// n elements that are neighbours in memory.
static void read_codes(const Worker *w, const Side *s, int64_t at, char *dst,
                       int64_t n)
{
    const char *from = s->t->at + at * s->t->element;

    if (s->m->rounds)
        w->lanes->store[DT_TF32](dst, from, NULL, NULL, n);
    else if (s->t->load)
        memcpy(dst, from, (size_t)n * s->bytes);
    else
        exact_store(w->lanes, s->dtype)(dst, from, NULL, NULL, n);
}

static bool as_it_is(const Side *s)
{
    return s->k_step == 1 && !s->m->order && !s->m->rounds &&
           s->t->element == (int)s->bytes;
}

static void turn(const Worker *w, const Side *s, char *dst, const char *src)
{
    int rows = (int)s->k, cols = (int)s->lines;

    switch (s->bytes) {
    case 1:
        w->lanes->transpose8(dst, rows, src, cols, rows, cols);
        break;
    case 2:
        w->lanes->transpose16(dst, rows, src, cols, rows, cols);
        break;
    case 4:
        w->lanes->transpose32(dst, rows, src, cols, rows, cols);
        break;
    default:
        w->lanes->transpose64(dst, rows, src, cols, rows, cols);
    }
}

static void put_in_order(const Side *s, char *line, char *copy)
{
    memcpy(copy, line, (size_t)s->k * s->bytes);
    for (int64_t i = 0; i < s->k; i++)
        memcpy(line + (size_t)i * s->bytes,
               copy + (size_t)s->m->order[i] * s->bytes, s->bytes);
}

// Uses pack[slot] and pack[3].
static Codes codes_of(const Worker *w, const Side *s, int slot)
{
    char *dst = w->pack[slot], *lines = s->k_step == 1 ? dst : w->pack[3];
    int64_t count = s->k_step == 1 ? s->lines : s->k;
    int64_t width = s->k_step == 1 ? s->k : s->lines;
    int64_t step = s->k_step == 1 ? s->line_step : s->k_step;

    if (as_it_is(s))
        return (Codes){s->t->at + s->at * s->t->element, s->line_step};
    for (int64_t i = 0; i < count; i++)
        read_codes(w, s, s->at + i * step,
                   lines + (size_t)(i * width) * s->bytes, width);
    if (lines != dst)
        turn(w, s, dst, lines);
    for (int64_t i = 0; s->m->order && i < s->lines; i++)
        put_in_order(s, dst + (size_t)(i * s->k) * s->bytes, w->pack[3]);
    return (Codes){dst, s->k};
}

static Codes rows_of_a(const Worker *w, const PlanMatrix *m, const View *a)
{
    Side s = {a->t, a->dtype, a->at, a->rows, a->cols, a->row_step, a->col_step,
              code_bytes(m->spec.a), m};

    return codes_of(w, &s, 0);
}

static Codes columns_of_b(const Worker *w, const PlanMatrix *m, const View *b)
{
    Side s = {b->t, b->dtype, b->at, b->cols, b->rows, b->col_step, b->row_step,
              code_bytes(m->spec.b), m};

    return codes_of(w, &s, 1);
}

// ---- the product ---------------------------------------------------------

static MmaPath path_of(const Worker *w)
{
    static const MmaPath path[ISA_COUNT] = {
        [ISA_GENERIC] = MMA_PATH_SCALAR,
        [ISA_AVX2] = MMA_PATH_AVX2,
        [ISA_AVX512] = MMA_PATH_AVX512,
    };

    return path[w->lanes->isa];
}

// An f16 accumulator, whose lanes are floats.
static void multiply_f16(Worker *w, const PlanMatrix *m, MmaTile *t, float *c,
                         int64_t ldc)
{
    char *codes = w->pack[3];
    int64_t n = t->n;

    for (int64_t i = 0; i < t->m; i++)
        w->lanes->store[DT_F16](codes + 2 * i * n, c + i * ldc, NULL, NULL, n);
    t->c = t->d = codes;
    t->ldc = t->ldd = n;
    mma_tile(&m->spec, path_of(w), t);
    for (int64_t i = 0; i < t->m; i++)
        w->lanes->load[DT_F16](c + i * ldc, codes + 2 * i * n, NULL, NULL, n);
}

void matrix_multiply(Worker *w, const PlanMatrix *m, const View *a,
                     const View *b, void *c, int64_t ldc)
{
    Codes rows = rows_of_a(w, m, a), columns = columns_of_b(w, m, b);
    MmaTile t = {
        .m = (int)a->rows, .n = (int)b->cols, .k = (int)a->cols,
        .a = rows.at, .b = columns.at, .c = c, .d = c,
        .lda = rows.pitch, .ldb = columns.pitch, .ldc = ldc, .ldd = ldc,
    };

    if (m->spec.acc == MMA_F16)
        multiply_f16(w, m, &t, c, ldc);
    else
        mma_tile(&m->spec, path_of(w), &t);
}
