// wrap_tile.c - sums of integers that tile operations and atomics make.
//
// Sums wrap as a whole: one that leaves its type on the way and comes back is
// right, for additions wrap around alike. Where a bound of the operands says
// that nothing can leave the type their elements are not looked at.
#include "check/wrap_int.h"

#include <stdlib.h>
#include <string.h>

// n elements from `at`, one after the other.
static void elements(Check *k, const InterpStep *s, int buffer, int64_t at,
                     int64_t n, int64_t *out)
{
    LaneType t = lane_type_of(k->code->buffer[buffer].dtype);
    const int32_t *four = (const int32_t *)out;

    interp_read(s, buffer, at, n, out);
    for (int64_t i = n - 1; i >= 0 && lane_bytes(t) == 4; i--) {
        int32_t v;

        memcpy(&v, four + i, sizeof v);
        out[i] = t == LANE_I32 ? v : (int64_t)(uint32_t)v;
    }
}

static int64_t element(Check *k, const InterpStep *s, int buffer, int64_t at)
{
    int64_t v = 0;

    elements(k, s, buffer, at, 1, &v);
    return v;
}

// The element wraps: its origin is here unless it has one.
static void begin(Check *k, const InterpStep *s, int buffer, int64_t at,
                  Wide a, Wide b)
{
    uint8_t origin;

    if (shade_get(k, s, buffer, at))
        return;
    origin = wrap_origin(k, s);
    if (!origin)
        return;
    wrap_note(k, s, -1, a, b, a + b);
    shade_put(k, s, buffer, at, origin);
}

// ---- T.gemm --------------------------------------------------------------

static uint64_t magnitude(int64_t v)
{
    return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

static int64_t *load_matrix(Check *k, const InterpStep *s,
                            const InterpMatrix *m, uint64_t *most)
{
    int64_t *all = xcalloc((size_t)(m->rows * m->cols) + 1, sizeof *all);

    *most = 0;
    for (int64_t i = 0; i < m->rows; i++) {
        int64_t *row = all + i * m->cols, at = m->at + i * m->row_step;

        if (m->col_step == 1)
            elements(k, s, m->buffer, at, m->cols, row);
        for (int64_t j = 0; j < m->cols; j++) {
            if (m->col_step != 1)
                elements(k, s, m->buffer, at + j * m->col_step, 1, &row[j]);
            if (magnitude(row[j]) > *most)
                *most = magnitude(row[j]);
        }
    }
    return all;
}

// The greatest magnitude of a type, as a bound of its elements.
static uint64_t most_of(const Check *k, int buffer)
{
    const DTypeInfo *t = dtype_info(k->code->buffer[buffer].dtype);

    return t->kind == KIND_UINT ? UINT64_MAX >> (64 - t->bits)
                                : UINT64_C(1) << (t->bits - 1);
}

typedef struct {
    const Gemm *g;
    InterpMatrix c;
    const int64_t *a, *b, *was;
    DType dtype;
} Sums;

static Wide dot(const Sums *x, int64_t i, int64_t j)
{
    const Gemm *g = x->g;
    Wide sum = 0;

    for (int64_t p = 0; p < g->k; p++)
        sum += (Wide)x->a[i * g->k + p] * x->b[p * g->n + j];
    return sum;
}

static void look_at_elements(Check *k, const InterpStep *s, const Sums *x)
{
    for (int64_t i = 0; i < x->g->m; i++)
        for (int64_t j = 0; j < x->g->n; j++) {
            Wide was = x->was ? x->was[i * x->g->n + j] : 0;
            Wide sum = dot(x, i, j);

            if (!wrap_fits(x->dtype, was + sum))
                begin(k, s, x->g->c.buffer,
                      x->c.at + i * x->c.row_step + j * x->c.col_step, was,
                      sum);
        }
}

static bool can_leave(DType t, uint64_t was, uint64_t a, uint64_t b, int64_t n)
{
    return !wrap_fits(t, (Wide)was + (Wide)a * (Wide)b * n);
}

static void look_at_product(Check *k, const InterpStep *s, Sums *x,
                            uint64_t was)
{
    InterpMatrix a, b;
    uint64_t most_a, most_b;
    int64_t *as, *bs;

    if (!interp_touch_matrix(s, &x->g->a, x->g->m, x->g->k, &a) ||
        !interp_touch_matrix(s, &x->g->b, x->g->k, x->g->n, &b))
        return;
    as = load_matrix(k, s, &a, &most_a);
    bs = load_matrix(k, s, &b, &most_b);
    x->a = as;
    x->b = bs;
    if (can_leave(x->dtype, was, most_a, most_b, x->g->k))
        look_at_elements(k, s, x);
    free(as);
    free(bs);
}

void wrap_gemm(Check *k, const InterpStep *s, const WrapSite *w)
{
    const Gemm *g = &k->code->gemm[s->instr->a];
    Sums x = {.g = g, .dtype = (DType)w->dtype};
    bool cleared = g->clear >= 0 && s->slot[g->clear].i;
    int64_t *was = NULL;
    uint64_t most = 0;

    if (g->group || !interp_touch_matrix(s, &g->c, g->m, g->n, &x.c))
        return;
    if (!cleared)
        x.was = was = load_matrix(k, s, &x.c, &most);
    if (can_leave(x.dtype, most, most_of(k, g->a.buffer),
                  most_of(k, g->b.buffer), g->k))
        look_at_product(k, s, &x, most);
    free(was);
}

// ---- reductions and running sums -----------------------------------------

void wrap_reduce(Check *k, const InterpStep *s, const WrapSite *w)
{
    const Reduction *r = &k->code->reduction[s->instr->a];
    const CodeBuffer *b = &k->code->buffer[r->src];
    int64_t outer = 1, inner = 1, n = b->shape[r->dim], *src;

    for (int d = 0; d < b->rank; d++)
        if (d != r->dim)
            *(d < r->dim ? &outer : &inner) *= b->shape[d];
    src = xcalloc((size_t)(outer * n * inner) + 1, sizeof *src);
    elements(k, s, r->src, 0, outer * n * inner, src);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++) {
            int64_t out = o * inner + i;
            Wide was = r->clear ? 0 : element(k, s, r->dst, out), sum = 0;

            for (int64_t j = 0; j < n; j++) {
                Wide v = src[(o * n + j) * inner + i];

                sum += r->magnitude && v < 0 ? -v : v;
            }
            if (!wrap_fits((DType)w->dtype, was + sum))
                begin(k, s, r->dst, out, was, sum);
        }
    free(src);
}

void wrap_scan(Check *k, const InterpStep *s, const WrapSite *w)
{
    const Scan *z = &k->code->scan[s->instr->a];
    InterpMatrix f, t;
    int64_t lines = z->down ? z->cols : z->rows;
    int64_t n = z->down ? z->rows : z->cols;

    if (!interp_touch_matrix(s, &z->src, z->rows, z->cols, &f) ||
        !interp_touch_matrix(s, &z->dst, z->rows, z->cols, &t))
        return;
    for (int64_t i = 0; i < lines; i++) {
        Wide sum = 0;

        for (int64_t p = 0; p < n; p++) {
            int64_t j = z->reverse ? n - 1 - p : p;
            int64_t row = z->down ? j : i, col = z->down ? i : j;
            Wide v = element(k, s, f.buffer,
                             f.at + row * f.row_step + col * f.col_step);

            if (!wrap_fits((DType)w->dtype, sum + v))
                begin(k, s, t.buffer,
                      t.at + row * t.row_step + col * t.col_step, sum, v);
            sum += v;
        }
    }
}

// ---- atomics -------------------------------------------------------------

// Lanes that add to one element one after the other see each other's sums.
void wrap_atomic(Check *k, const InterpStep *s, const WrapSite *w)
{
    const Instr *i = s->instr;
    const Access *a = &k->code->access[i->a];
    const int32_t *mask = i->c < 0 ? NULL : s->v[i->c];
    LaneType type = lane_type_of((DType)w->dtype);
    int root = root_of_buffer(k->code, a->buffer);
    InterpTouch t;
    int64_t last = -1;
    Wide was = 0;

    interp_touch(s, a, false, &t);
    for (int j = 0; j < s->n; j++) {
        int64_t at = t.offset ? t.offset[j]
                              : t.at + j / t.cols * t.sr + j % t.cols * t.sc;
        Wide v = type == LANE_I32 ? ((const int32_t *)s->v[i->b])[j]
                                  : ((const int64_t *)s->v[i->b])[j];

        if ((mask && !mask[j]) || (t.offset && !t.inside[j]))
            continue;
        if (at != last)
            was = element(k, s, a->buffer, at);
        last = at;
        if (!wrap_fits((DType)w->dtype, was + v)) {
            begin(k, s, a->buffer, at, was, v);
            if (k->code->buffer[root].place == BUFFER_PARAM)
                note(k, s, NOTE_OUTPUT, root, wrap_origin(k, s) - 1, 1)
                    ->x[0] = root;
        }
        was += v;
    }
}
