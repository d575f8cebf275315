// naive_tile.c - tile operations, one element at a time.
#include "naive_int.h"

#include <math.h>
#include <stdlib.h>

// ---- element-wise tile operations ----------------------------------------

typedef void Element(Naive *n, const IrStmt *s, const IrCopyMap *m,
                     const int64_t *at);

static unsigned side(Naive *n, const IrBuffer *b, IrExpr *const *min,
                     const int *map, const int64_t *at, int64_t *index)
{
    unsigned quiet = 0;

    naive_indices(n, b, min, b->rank, index);
    for (int d = 0; d < b->rank; d++)
        if (map[d] >= 0) { // a slice starts where it says
            index[d] = naive_eval(n, min[d]).i + at[map[d]];
            quiet |= 1u << d;
        }
    return quiet;
}

static void each(Naive *n, const IrStmt *s, const IrCopyMap *m, int d,
                 int64_t *at, Element *f)
{
    int64_t count;

    if (d == m->rank) {
        f(n, s, m, at);
        return;
    }
    count = naive_eval(n, m->extent[d]).i;
    for (at[d] = 0; at[d] < count; at[d]++)
        each(n, s, m, d + 1, at, f);
}

static void copy_one(Naive *n, const IrStmt *s, const IrCopyMap *m,
                     const int64_t *at)
{
    int64_t from[IR_MAX_RANK], to[IR_MAX_RANK];
    unsigned a = side(n, m->src.buffer, m->src.min, m->src.map, at, from);
    unsigned b = side(n, m->dst.buffer, m->dst.min, m->dst.map, at, to);

    (void)s;
    naive_store(n, m->dst.buffer, to, b, naive_load(n, m->src.buffer, from, a));
}

static void fill_one(Naive *n, const IrStmt *s, const IrCopyMap *m,
                     const int64_t *at)
{
    int64_t to[IR_MAX_RANK];
    Value v = s->op == OP_CLEAR ? (Value){DT_I32, 0, 0}
                                : naive_eval(n, s->operand[1].expr);

    side(n, m->dst.buffer, m->dst.min, m->dst.map, at, to);
    naive_store(n, m->dst.buffer, to, 0, v);
}

static void atomic_one(Naive *n, const IrStmt *s, const IrCopyMap *m,
                       const int64_t *at)
{
    const IrBuffer *b = m->dst.buffer;
    int64_t from[IR_MAX_RANK], to[IR_MAX_RANK];
    unsigned quiet = side(n, b, m->dst.min, m->dst.map, at, to), q;
    Op op = s->op == OP_ATOMIC_MAX   ? OP_MAX
            : s->op == OP_ATOMIC_MIN ? OP_MIN
                                     : OP_ADD;
    Value v, old;
    void *p;

    if (s->operand[1].kind == OPERAND_EXPR) {
        v = naive_eval(n, s->operand[1].expr);
    } else {
        q = side(n, m->src.buffer, m->src.min, m->src.map, at, from);
        v = naive_load(n, m->src.buffer, from, q);
    }
    v = naive_convert(v, b->dtype);
    p = naive_element(n, b, to, quiet);
    if (!p)
        return;
    old = naive_read_at(b->dtype, p);
    naive_write_at(
        b->dtype, p,
        naive_is_float(b->dtype)
            ? naive_of_float(b->dtype, naive_float_op(op, old.f, v.f))
            : naive_of_int(b->dtype, naive_int_op(n, op, old.i, v.i)));
}

// Every thread of the block adds to a single element.
static int64_t times(const Naive *n, const IrStmt *s)
{
    bool single = s->operand[0].region->form == REGION_POINT &&
                  (s->operand[1].kind == OPERAND_EXPR ||
                   s->operand[1].region->form == REGION_POINT);

    return s->op == OP_ATOMIC_ADD && single && !n->parallel ? n->threads : 1;
}

// ---- gemm ----------------------------------------------------------------

static Value matrix(Naive *n, const IrRegion *r, int row, int col, int64_t i,
                    int64_t j)
{
    int64_t index[IR_MAX_RANK];

    naive_indices(n, r->buffer, r->min, r->buffer->rank, index);
    index[row] += i;
    index[col] += j;
    return naive_load(n, r->buffer, index, 0);
}

static double chain(Naive *n, const IrStmt *s, const IrGemmShape *g, int64_t i,
                    int64_t j, double c, bool wide)
{
    for (int64_t k = 0; k < g->k; k++) {
        double a = matrix(n, s->operand[0].region, g->a_row, g->a_col, i, k).f;
        double b = matrix(n, s->operand[1].region, g->b_row, g->b_col, k, j).f;

        c = wide ? fma(a, b, c) : fmaf((float)a, (float)b, (float)c);
    }
    return c;
}

static int64_t int_chain(Naive *n, const IrStmt *s, const IrGemmShape *g,
                         int64_t i, int64_t j, int64_t c)
{
    for (int64_t k = 0; k < g->k; k++)
        c += matrix(n, s->operand[0].region, g->a_row, g->a_col, i, k).i *
             matrix(n, s->operand[1].region, g->b_row, g->b_col, k, j).i;
    return naive_wrap(DT_I32, c);
}

static void gemm(Naive *n, const IrStmt *s)
{
    const IrRegion *c = s->operand[2].region;
    DType a = s->operand[0].region->buffer->dtype, t = c->buffer->dtype;
    bool clear = s->operand_count > 6 && s->operand[6].kind == OPERAND_EXPR &&
                 naive_truth(naive_eval(n, s->operand[6].expr));
    int64_t index[IR_MAX_RANK];
    IrGemmShape g;

    if (!ir_resolve_gemm(n->k, s, &g))
        BUG("naive: gemm does not resolve");
    for (int64_t i = 0; i < g.m; i++)
        for (int64_t j = 0; j < g.n; j++) {
            Value v = matrix(n, c, g.c_row, g.c_col, i, j);

            if (clear)
                v.i = 0, v.f = 0;
            if (naive_is_float(t))
                v.f = chain(n, s, &g, i, j, v.f, a == DT_F64 || t == DT_F64);
            else
                v.i = int_chain(n, s, &g, i, j, v.i);
            naive_indices(n, c->buffer, c->min, c->buffer->rank, index);
            index[g.c_row] += i;
            index[g.c_col] += j;
            naive_store(n, c->buffer, index, 0, v);
        }
}

// ---- reductions ----------------------------------------------------------

static Value combine(Op op, Value a, Value b)
{
    if (naive_is_float(a.t))
        return naive_of_float(a.t, naive_float_op(op, a.f, b.f));
    return naive_of_int(a.t, op == OP_ADD   ? a.i + b.i
                             : op == OP_MAX ? (a.i > b.i ? a.i : b.i)
                                            : (a.i < b.i ? a.i : b.i));
}

// docs/language.md, "order of sums"
static Value reduce_line(Op op, const Value *x, int64_t n)
{
    Value p[16];
    int have = n < 16 ? (int)n : 16;

    for (int64_t i = 0; i < n; i++)
        p[i % 16] = i < 16 ? x[i] : combine(op, p[i % 16], x[i]);
    for (int half = 8; half; half /= 2)
        for (int j = 0; j < half; j++)
            if (j + half < have && j + half < 2 * half)
                p[j] = combine(op, p[j], p[j + half]);
    return p[0];
}

static Op reduction_op(Op op)
{
    return op == OP_REDUCE_MAX || op == OP_REDUCE_ABSMAX ? OP_MAX
           : op == OP_REDUCE_MIN                         ? OP_MIN
                                                         : OP_ADD;
}

static void reduce(Naive *n, const IrStmt *s)
{
    bool magnitude = s->op == OP_REDUCE_ABSMAX || s->op == OP_REDUCE_ABSSUM;
    int64_t index[IR_MAX_RANK] = {0}, out[IR_MAX_RANK], size, total = 1;
    IrReduceShape r;
    Value *line;

    if (!ir_resolve_reduce(n->k, s, &r))
        BUG("naive: reduction does not resolve");
    const int64_t *shape = n->buffer[r.src->id].shape;
    size = shape[r.dim];
    line = malloc((size_t)size * sizeof *line);
    for (int d = 0; d < r.src->rank; d++)
        total *= d == r.dim ? 1 : shape[d];
    for (int64_t o = 0; o < total; o++) {
        int64_t rest = o;
        int to = 0;

        for (int d = r.src->rank - 1; d >= 0; d--)
            if (d != r.dim) {
                index[d] = rest % shape[d];
                rest /= shape[d];
            }
        for (index[r.dim] = 0; index[r.dim] < size; index[r.dim]++) {
            Value v =
                naive_convert(naive_load(n, r.src, index, 0), r.out->dtype);

            if (magnitude)
                v = naive_is_float(v.t)
                        ? naive_of_float(v.t, fabs(v.f))
                        : naive_of_int(v.t, v.i < 0 ? -v.i : v.i);
            line[index[r.dim]] = v;
        }
        for (int d = 0; d < r.src->rank; d++)
            if (d != r.dim)
                out[to++] = index[d];
            else if (r.keep_dim)
                out[to++] = 0;
        while (to < r.out->rank)
            out[to++] = 0;
        Value v = reduce_line(reduction_op(s->op), line, size);
        if (!r.clear && s->op != OP_REDUCE_ABSSUM)
            v = combine(reduction_op(s->op), naive_load(n, r.out, out, 0), v);
        else if (reduction_op(s->op) == OP_ADD)
            v = combine(OP_ADD, (Value){v.t, 0, 0}, v);
        naive_store(n, r.out, out, 0, v);
    }
    free(line);
}

static void scan_line(Naive *n, const IrScanShape *r, int64_t size,
                      const int64_t *from, const int64_t *to)
{
    int rank = r->src->buffer->rank;
    int64_t a[2] = {from[0], rank > 1 ? from[1] : 0};
    int64_t b[2] = {to[0], rank > 1 ? to[1] : 0};
    Value sum = {0};

    for (int64_t i = 0; i < size; i++) {
        int64_t at = r->reverse ? size - 1 - i : i;

        a[r->dim] = from[r->dim] + at;
        b[r->dim] = to[r->dim] + at;
        Value v = naive_convert(naive_load(n, r->src->buffer, a, 0),
                                r->dst->buffer->dtype);
        sum = i ? combine(OP_ADD, sum, v) : v;
        naive_store(n, r->dst->buffer, b, 0, sum);
    }
}

static void scan(Naive *n, const IrStmt *s)
{
    int64_t from[IR_MAX_RANK], to[IR_MAX_RANK], lines = 1;
    IrScanShape r;

    if (!ir_resolve_scan(n->k, s, &r))
        BUG("naive: scan does not resolve");
    int rank = r.src->buffer->rank, other = 1 - r.dim;
    naive_indices(n, r.src->buffer, r.src->min, rank, from);
    naive_indices(n, r.dst->buffer, r.dst->min, rank, to);
    if (rank == 2)
        lines = naive_eval(n, r.src->extent[other]).i;
    for (int64_t i = 0; i < lines; i++) {
        scan_line(n, &r, naive_eval(n, r.src->extent[r.dim]).i, from, to);
        if (rank == 2) {
            from[other]++;
            to[other]++;
        }
    }
}

static void im2col(Naive *n, const IrStmt *s)
{
    const IrBuffer *img = s->operand[0].region->buffer;
    const IrBuffer *col = s->operand[1].region->buffer;
    const int64_t *is = n->buffer[img->id].shape,
                  *cs = n->buffer[col->id].shape;
    int64_t step_m = naive_eval(n, s->operand[2].expr).i;
    int64_t step_k = naive_eval(n, s->operand[3].expr).i;
    int64_t kernel = ir_attr_int(s, ATTR_KERNEL, 1);
    int64_t stride = ir_attr_int(s, ATTR_STRIDE, 1);
    int64_t dil = ir_attr_int(s, ATTR_DILATION, 1);
    int64_t pad = ir_attr_int(s, ATTR_PAD, 0), c = is[3];
    int64_t oh = (is[1] + 2 * pad - (kernel - 1) * dil - 1) / stride + 1;
    int64_t ow = (is[2] + 2 * pad - (kernel - 1) * dil - 1) / stride + 1;

    for (int64_t i = 0; i < cs[0]; i++)
        for (int64_t j = 0; j < cs[1]; j++) {
            int64_t m = step_m * cs[0] + i, k = step_k * cs[1] + j;
            int64_t from[4] = {
                m / (oh * ow),
                m % (oh * ow) / ow * stride + k / (kernel * c) * dil - pad,
                m % ow * stride + k / c % kernel * dil - pad, k % c};
            int64_t to[2] = {i, j};

            naive_store(n, col, to, 0, naive_load(n, img, from, 0));
        }
}

void naive_tile(Naive *n, const IrStmt *s)
{
    int64_t at[IR_MAX_RANK];
    IrCopyMap m = {0};

    if (op_info(n->k->ops, s->op)->class == OPCLASS_HINT)
        return;
    switch (s->op) {
    case OP_COPY:
        ir_resolve_copy(n->k, s->at, s->operand[0].region, s->operand[1].region,
                        &m);
        each(n, s, &m, 0, at, copy_one);
        break;
    case OP_TRANSPOSE:
        ir_resolve_transpose(n->k, s, &m);
        each(n, s, &m, 0, at, copy_one);
        break;
    case OP_FILL:
    case OP_CLEAR:
        ir_resolve_fill(n->k, s->operand[0].region, &m);
        each(n, s, &m, 0, at, fill_one);
        break;
    case OP_ATOMIC_ADD:
    case OP_ATOMIC_MAX:
    case OP_ATOMIC_MIN:
        if (s->operand[1].kind == OPERAND_EXPR)
            ir_resolve_fill(n->k, s->operand[0].region, &m);
        else
            ir_resolve_copy(n->k, s->at, s->operand[1].region,
                            s->operand[0].region, &m);
        for (int64_t i = 0; i < times(n, s); i++)
            each(n, s, &m, 0, at, atomic_one);
        break;
    case OP_GEMM:
        gemm(n, s);
        break;
    case OP_CUMSUM:
        scan(n, s);
        break;
    case OP_IM2COL:
        im2col(n, s);
        break;
    default:
        reduce(n, s);
        break;
    }
}
