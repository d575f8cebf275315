// exec_gemm.c - T.gemm: C += A B as one fused multiply-add chain per element,
// k ascending, from C's value; one rounding to C's dtype at the end. Or as a
// matrix instruction computes it: exec_matrix.c.
//
// Tiles kept as lanes of the multiplication's type are used where they lie.
// Others are converted, and transposed ones packed, into the worker's scratch.
#include "interp/interp_int.h"

#include <string.h>

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t elements_of(const CodeBuffer *b)
{
    int64_t n = 1;

    for (int d = 0; d < b->rank; d++)
        n *= b->shape[d];
    return n;
}

// A matrix with more elements than any buffer has is refused when it is used.
static int64_t area(int64_t rows, int64_t cols)
{
    int64_t n;

    return __builtin_mul_overflow(rows, cols, &n) || n > 1 << 30 ? 0 : n;
}

int64_t pack_need(const Code *c)
{
    int64_t n = CODE_LANES;

    for (int i = 0; i < c->gemm_count; i++) {
        const Gemm *g = &c->gemm[i];

        n = most(n, most(area(g->m, g->k),
                         most(area(g->k, g->n), area(g->m, g->n))));
    }
    for (int i = 0; i < c->scan_count; i++)
        n = most(n, area(c->scan[i].rows, c->scan[i].cols));
    for (int i = 0; i < c->reduction_count; i++)
        n = most(n, most(elements_of(&c->buffer[c->reduction[i].src]),
                         elements_of(&c->buffer[c->reduction[i].dst])));
    return (n + 16) * 8;
}

// ---- operands ------------------------------------------------------------

static View view_shape(const Worker *w, const Matrix *m, int64_t rows,
                       int64_t cols)
{
    const Tensor *t = &w->buffer[m->buffer];

    return (View){.t = t,
                  .dtype = w->code->buffer[m->buffer].dtype,
                  .rows = rows,
                  .cols = cols,
                  .row_step = t->stride[m->row],
                  .col_step = t->stride[m->col]};
}

bool matrix_offset(Worker *w, const Matrix *m, int64_t rows, int64_t cols,
                   int site, int64_t *offset)
{
    const Tensor *t = &w->buffer[m->buffer];

    *offset = 0;
    for (int d = 0; d < w->code->buffer[m->buffer].rank; d++) {
        int64_t at = w->slot[m->at[d]].i, size = t->shape[d];
        int64_t n = d == m->row ? rows : d == m->col ? cols : 1;

        if (at < 0 || n > size || at > size - n) {
            report(w, site, 1, d, at < 0 ? at : at + n - 1, size);
            return false;
        }
        *offset += at * t->stride[d];
    }
    return true;
}

static bool view_of(Worker *w, const Gemm *g, const Matrix *m, int64_t rows,
                    int64_t cols, View *v)
{
    *v = view_shape(w, m, rows, cols);
    return matrix_offset(w, m, rows, cols, g->site, &v->at);
}

static bool is_ready(const View *v, LaneType type)
{
    return !v->t->load && v->t->type == type && v->col_step == 1;
}

static char *element_at(const View *v, int64_t at)
{
    return v->t->at + at * v->t->element;
}

static void to_type(const Worker *w, const View *v, LaneType type, void *dst,
                    int64_t at, int64_t n)
{
    const char *from = element_at(v, at);

    if (v->t->load && type == LANE_F64)
        w->lanes->load_f64[v->dtype](dst, from, NULL, NULL, n);
    else if (v->t->load)
        w->lanes->load[v->dtype](dst, from, NULL, NULL, n);
    else
        w->lanes->convert[v->t->type][type](dst, from, NULL, NULL, n);
}

// The lines of memory as dense lines of lanes.
static void convert_lines(const Worker *w, const View *v, LaneType type,
                          char *dst, int64_t lines, int64_t width,
                          int64_t pitch)
{
    size_t bytes = (size_t)width * lane_bytes(type);

    for (int64_t i = 0; i < lines; i++)
        to_type(w, v, type, dst + (size_t)i * bytes, v->at + i * pitch, width);
}

static void transpose(const Worker *w, LaneType type, void *dst, int64_t ldd,
                      const void *src, int64_t lds, int64_t rows, int64_t cols)
{
    if (lane_bytes(type) == 4)
        w->lanes->transpose32(dst, ldd, src, lds, (int)rows, (int)cols);
    else
        w->lanes->transpose64(dst, ldd, src, lds, (int)rows, (int)cols);
}

static int64_t pitch_of(const View *v, LaneType type)
{
    return is_ready(v, type) ? v->row_step : v->cols;
}

// v as rows of lanes with that pitch; uses pack[slot] and pack[3].
static void *operand_lanes(Worker *w, const View *v, LaneType type, int slot)
{
    bool as_lanes = !v->t->load && v->t->type == type;
    const char *lines = element_at(v, v->at);
    int64_t pitch = v->col_step;

    if (is_ready(v, type))
        return element_at(v, v->at);
    if (v->col_step == 1) {
        convert_lines(w, v, type, w->pack[slot], v->rows, v->cols, v->row_step);
        return w->pack[slot];
    }
    if (!as_lanes) {
        convert_lines(w, v, type, w->pack[3], v->cols, v->rows, v->col_step);
        lines = w->pack[3];
        pitch = v->rows;
    }
    transpose(w, type, w->pack[slot], v->cols, lines, pitch, v->cols, v->rows);
    return w->pack[slot];
}

// ---- C -------------------------------------------------------------------

static void clear_rows(char *c, int64_t ld, const View *v, size_t lane)
{
    for (int64_t r = 0; r < v->rows; r++)
        memset(c + (size_t)(r * ld) * lane, 0, (size_t)v->cols * lane);
}

static void round_rows(const Worker *w, const View *v, char *c, int64_t ld)
{
    LaneFn *round = w->lanes->round[v->dtype];

    for (int64_t r = 0; round && r < v->rows; r++) {
        char *row = c + (size_t)(r * ld) * lane_bytes(v->t->type);

        round(row, row, NULL, NULL, v->cols);
    }
}

// ---- sparse A ------------------------------------------------------------

static int64_t stored_k(const Gemm *g)
{
    return g->group ? g->k / g->group * g->kept : g->k;
}

// Where in its group the r-th kept element of a row's group stands.
static int kept_at(const Gemm *g, unsigned nibble, int r)
{
    if (g->kept == 1)
        return nibble >> 1 & 1;         // 0b0100: the first, 0b1110: the other
    return nibble >> 2 * r & 3;
}

static void expand_row(Worker *w, const Gemm *g, const View *e, int64_t row,
                       const char *from, char *to, size_t lane)
{
    int each = dtype_info(e->dtype)->bits / 4; // groups a word of E describes

    memset(to, 0, (size_t)g->k * lane);
    for (int64_t i = 0; i < g->k / g->group; i++) {
        Slot word = {0};
        unsigned nibble;

        load_one(w, e->t, &word,
                 e->at + row * e->row_step + i / each * e->col_step);
        nibble = (unsigned)((uint64_t)word.i >> 4 * (i % each)) & 15;
        for (int r = 0; r < g->kept; r++)
            memcpy(to + (size_t)(i * g->group + kept_at(g, nibble, r)) * lane,
                   from + (size_t)(i * g->kept + r) * lane, lane);
    }
}

// A with its zeros, in pack[3]; NULL after a finding.
static char *expanded(Worker *w, const Gemm *g, const View *a, const char *from)
{
    size_t lane = lane_bytes(g->type);
    int64_t lda = pitch_of(a, g->type);
    int64_t words = g->k / (dtype_info(w->code->buffer[g->e.buffer].dtype)->bits
                            / 4 * g->group);
    View e;

    if (!view_of(w, g, &g->e, g->m, words, &e))
        return NULL;
    for (int64_t r = 0; r < g->m; r++)
        expand_row(w, g, &e, r, from + (size_t)(r * lda) * lane,
                   w->pack[3] + (size_t)(r * g->k) * lane, lane);
    return w->pack[3];
}

// C computed apart, in another type or layout than its buffer has.
static void put_back(Worker *w, const View *v, LaneType type, const char *c)
{
    DType from = type == LANE_F64 ? DT_F64 : type == LANE_I32 ? DT_I32 : DT_F32;

    for (int64_t r = 0; r < v->rows; r++)
        for (int64_t j = 0; j < v->cols; j += CODE_LANES) {
            int64_t n = v->cols - j < CODE_LANES ? v->cols - j : CODE_LANES;
            const char *src = c + (size_t)(r * v->cols + j) * lane_bytes(type);

            cast_lanes(w, w->pack[3], v->dtype, src, from, true, n);
            store_elements(w, v->t, v->at + r * v->row_step + j, w->pack[3], n);
        }
}

typedef struct {
    View a, b, c;
    int64_t lda, ldb, ldc;
} Operands;

static void set_pitches(const Gemm *g, Operands *o)
{
    o->lda = g->group ? g->k : pitch_of(&o->a, g->type);
    o->ldb = pitch_of(&o->b, g->type);
    o->ldc = pitch_of(&o->c, g->type);
}

// The kernels of all f32 multiplications, before the blocks start.
void plan_gemms(Run *run, const Worker *w)
{
    const Code *c = run->code;

    run->xgemm = xgemm_create();
    run->gemm = xcalloc((size_t)c->gemm_count + 1, sizeof(*run->gemm));
    for (int i = 0; i < c->gemm_count; i++) {
        const Gemm *g = &c->gemm[i];
        Operands o = {.a = view_shape(w, &g->a, g->m, stored_k(g)),
                      .b = view_shape(w, &g->b, g->k, g->n),
                      .c = view_shape(w, &g->c, g->m, g->n)};

        set_pitches(g, &o);
        if (g->type == LANE_F32)
            run->gemm[i] = xgemm_plan(run->xgemm, (int)g->m, (int)g->n,
                                      (int)g->k, o.lda, o.ldb, o.ldc);
    }
}

static void multiply_lanes(const Worker *w, const Gemm *g, const Operands *o,
                           const void *a, const void *b, void *c)
{
    int m = (int)g->m, n = (int)g->n, k = (int)g->k;

    if (g->type == LANE_F64)
        w->lanes->gemm_f64(m, n, k, a, o->lda, b, o->ldb, c, o->ldc);
    else if (g->type == LANE_I32)
        w->lanes->gemm_i32(m, n, k, a, o->lda, b, o->ldb, c, o->ldc);
    else
        xgemm_f32(w->run->gemm[g - w->code->gemm], a, b, c);
}

// False after a finding.
static bool multiply(Worker *w, const Gemm *g, const Operands *o, char *c)
{
    const char *b = operand_lanes(w, &o->b, g->type, 1);
    const char *a = operand_lanes(w, &o->a, g->type, 0);

    if (g->group)
        a = expanded(w, g, &o->a, a);
    if (a)
        multiply_lanes(w, g, o, a, b, c);
    return a != NULL;
}

const Instr *exec_GEMM(Worker *w, const Instr *i)
{
    const Gemm *g = &w->code->gemm[i->a];
    Operands o;
    char *c;

    if (!view_of(w, g, &g->a, g->m, stored_k(g), &o.a) ||
        !view_of(w, g, &g->b, g->k, g->n, &o.b) ||
        !view_of(w, g, &g->c, g->m, g->n, &o.c))
        return i + 1;
    set_pitches(g, &o);
    c = operand_lanes(w, &o.c, g->type, 2);
    if (g->clear >= 0 && w->slot[g->clear].i)
        clear_rows(c, o.ldc, &o.c, lane_bytes(g->type));
    if (w->run->matrix && w->run->matrix[i->a]->mma)
        matrix_multiply(w, w->run->matrix[i->a], &o.a, &o.b, c, o.ldc);
    else if (!multiply(w, g, &o, c))
        return i + 1;
    if (is_ready(&o.c, g->type))
        round_rows(w, &o.c, c, o.ldc);
    else
        put_back(w, &o.c, g->type, c);
    w->flops += 2.0 * (double)g->m * (double)g->n * (double)g->k;
    return i + 1;
}
