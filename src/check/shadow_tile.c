// shadow_tile.c - shadows of tile operations.
//
// An element of C is dirty when it was, or when something in its row of A or
// its column of B is. A reduction's result is dirty when something along its
// line is.
#include "check/check_int.h"

#include <string.h>

static bool is_clean(Check *k, const InterpStep *s, int buffer)
{
    return shade_is_clean(shade_of(k, s, buffer));
}

static uint8_t read_at(Check *k, const InterpStep *s, int buffer, int64_t at)
{
    return origin_of_read(k, s, shade_get(k, s, buffer, at), 0);
}

static void store_at(Check *k, const InterpStep *s, int buffer, int64_t at,
                     uint8_t v)
{
    int root = k->code->buffer[buffer].root;

    if (v && !(shade_get(k, s, buffer, at) == v)) {
        Note *n = note(k, s, NOTE_FLOW, root, (v & SHADE_ORIGIN) - 1, 0);

        if (!n->count)
            n->x[0] = root;
        n->count++;
    }
    shade_put(k, s, buffer, at, v);
}

// ---- T.gemm --------------------------------------------------------------

// What line `i` of a matrix brings along: the first origin on it.
static uint8_t line_origin(Check *k, const InterpStep *s, const InterpMatrix *m,
                           bool row, int64_t i)
{
    int64_t n = row ? m->cols : m->rows;
    int64_t at = m->at + i * (row ? m->row_step : m->col_step);
    int64_t step = row ? m->col_step : m->row_step;
    uint8_t found = 0;

    for (int64_t j = 0; j < n; j++) {
        uint8_t v = read_at(k, s, m->buffer, at + j * step);

        found = found ? found : v;
    }
    return found;
}

// As a bare clear does: C was not read.
static void write_matrix(Check *k, const InterpStep *s, const InterpMatrix *m)
{
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0; c < m->cols; c++)
            shade_put(k, s, m->buffer,
                      m->at + r * m->row_step + c * m->col_step, 0);
}

typedef struct {
    InterpMatrix a, b, c;
    bool a_clean, b_clean, cleared;
    uint8_t *column;            // of B: what each brings along
} Product;

static void flow_row(Check *k, const InterpStep *s, const Product *p, int64_t r)
{
    uint8_t row = p->a_clean ? 0 : line_origin(k, s, &p->a, true, r);

    for (int64_t j = 0; j < p->c.cols; j++) {
        int64_t at = p->c.at + r * p->c.row_step + j * p->c.col_step;
        uint8_t v = p->cleared ? 0 : read_at(k, s, p->c.buffer, at);

        v = v ? v : row;
        if (!v && !p->b_clean)
            v = p->column[j % CODE_LANES];
        store_at(k, s, p->c.buffer, at, v);
    }
}

void flow_gemm(Check *k, const InterpStep *s)
{
    const Gemm *g = &k->code->gemm[s->instr->a];
    Product p = {.a_clean = is_clean(k, s, g->a.buffer),
                 .b_clean = is_clean(k, s, g->b.buffer)};
    int64_t stored = g->group ? g->k / g->group * g->kept : g->k;

    if (p.a_clean && p.b_clean && is_clean(k, s, g->c.buffer))
        return;
    p.cleared = g->clear >= 0 && s->slot[g->clear].i;
    if (!interp_touch_matrix(s, &g->a, g->m, stored, &p.a) ||
        !interp_touch_matrix(s, &g->b, g->k, g->n, &p.b) ||
        !interp_touch_matrix(s, &g->c, g->m, g->n, &p.c))
        return;
    if (p.cleared && p.a_clean && p.b_clean) {
        write_matrix(k, s, &p.c);
        return;
    }
    p.column = worker_of_step(k, s)->lane;
    for (int64_t j = 0; j < g->n && !p.b_clean; j++)
        p.column[j % CODE_LANES] = line_origin(k, s, &p.b, false, j);
    for (int64_t r = 0; r < g->m; r++)
        flow_row(k, s, &p, r);
}

// ---- reductions ----------------------------------------------------------

static void reduce_at(Check *k, const InterpStep *s, const Reduction *r,
                      int64_t from, int64_t step, int64_t n, int64_t out)
{
    uint8_t v = r->clear ? 0 : read_at(k, s, r->dst, out);

    for (int64_t j = 0; j < n; j++) {
        uint8_t u = read_at(k, s, r->src, from + j * step);

        v = v ? v : u;
    }
    store_at(k, s, r->dst, out, v);
}

void flow_reduce(Check *k, const InterpStep *s)
{
    const Reduction *r = &k->code->reduction[s->instr->a];
    const CodeBuffer *b = &k->code->buffer[r->src];
    int64_t outer = 1, inner = 1, n = b->shape[r->dim];

    if (is_clean(k, s, r->src) && is_clean(k, s, r->dst))
        return;
    for (int d = 0; d < b->rank; d++)
        if (d != r->dim)
            *(d < r->dim ? &outer : &inner) *= b->shape[d];
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++)
            reduce_at(k, s, r, o * n * inner + i, inner, n, o * inner + i);
}

// ---- scans ---------------------------------------------------------------

static void scan_line(Check *k, const InterpStep *s, const Scan *z,
                      const InterpMatrix *from, const InterpMatrix *to,
                      int64_t line)
{
    int64_t n = z->down ? z->rows : z->cols;
    int64_t f = z->down ? from->col_step : from->row_step;
    int64_t t = z->down ? to->col_step : to->row_step;
    int64_t fs = z->down ? from->row_step : from->col_step;
    int64_t ts = z->down ? to->row_step : to->col_step;
    uint8_t v = 0;

    for (int64_t i = 0; i < n; i++) {
        int64_t j = z->reverse ? n - 1 - i : i;
        uint8_t u =
            read_at(k, s, from->buffer, from->at + line * f + j * fs);

        v = v ? v : u;
        store_at(k, s, to->buffer, to->at + line * t + j * ts, v);
    }
}

void flow_scan(Check *k, const InterpStep *s)
{
    const Scan *z = &k->code->scan[s->instr->a];
    InterpMatrix from, to;

    if ((is_clean(k, s, z->src.buffer) && is_clean(k, s, z->dst.buffer)) ||
        !interp_touch_matrix(s, &z->src, z->rows, z->cols, &from) ||
        !interp_touch_matrix(s, &z->dst, z->rows, z->cols, &to))
        return;
    for (int64_t i = 0; i < (z->down ? z->cols : z->rows); i++)
        scan_line(k, s, z, &from, &to, i);
}

// ---- convolutions --------------------------------------------------------

// The image is global: whole, unless a kernel of the same run made it.
void flow_im2col(Check *k, const InterpStep *s)
{
    shade_fill(shade_of(k, s, k->code->im2col[s->instr->a].dst), 0);
}
