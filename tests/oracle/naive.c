// naive.c - the meaning of a kernel, one element at a time.
#include "naive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    DType t;
    int64_t i;                      // integers and bool
    double f;                       // floats
} Value;

typedef struct {
    char *data;
    int64_t shape[IR_MAX_RANK], stride[IR_MAX_RANK];
    int64_t physical[IR_MAX_RANK + 2];  // extents of an index map's outputs
} Storage;

typedef enum { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE } Flow;

typedef struct {
    IrKernel *k;
    Value *var;                     // by id
    Storage *buffer;                // by id
    int64_t findings;
} Naive;

static Value eval(Naive *n, const IrExpr *e);
static Flow run(Naive *n, const IrStmt *s);

// ---- values -------------------------------------------------------------------------

static bool is_float(DType t)
{
    return dtype_info(t)->kind == KIND_FLOAT;
}

static int64_t wrap(DType t, int64_t v)
{
    int bits = dtype_info(t)->bits;

    if (t == DT_BOOL)
        return v != 0;
    if (bits == 64)
        return v;
    v = (int64_t)((uint64_t)v << (64 - bits));
    return dtype_info(t)->kind == KIND_UINT
               ? (int64_t)((uint64_t)v >> (64 - bits))
               : v >> (64 - bits);
}

static Value of_int(DType t, int64_t v)
{
    return (Value){t, wrap(t, v), 0};
}

static Value of_float(DType t, double v)
{
    return (Value){t, 0, num_round_f64(t, v)};
}

static Value convert(Value v, DType t)
{
    double at[1] = {0};

    if (!is_float(t) && !is_float(v.t))
        return of_int(t, v.i);
    if (!is_float(v.t)) {           // exactly, from all 64 bits
        if (v.t == DT_U64)
            num_convert(t, at, DT_U64, &v.i, 1);
        else
            num_put_i64(t, at, v.i);
        return (Value){t, 0, num_get_f64(t, at)};
    }
    if (is_float(t))
        return of_float(t, v.f);
    num_put_f64(t, at, v.f);
    return of_int(t, num_get_i64(t, at));
}

static bool truth(Value v)
{
    return is_float(v.t) ? v.f != 0 : v.i != 0;
}

static Value read_at(DType t, const void *at)
{
    Value v = {t, 0, 0};

    if (is_float(t))
        v.f = num_get_f64(t, at);
    else
        v.i = num_get_i64(t, at);
    return v;
}

static void write_at(DType t, void *at, Value v)
{
    v = convert(v, t);
    if (is_float(t))
        num_put_f64(t, at, v.f);
    else
        num_put_i64(t, at, v.i);
}

// ---- elements --------------------------------------------------------------------------

static bool is_global(const IrBuffer *b)
{
    while (b->alias_of)
        b = b->alias_of;
    return b->scope == SCOPE_GLOBAL;
}

static bool is_laid_out(const IrBuffer *b)
{
    return is_global(b) && b->layout && !b->layout->maker.len;
}

static int64_t laid_out(Naive *n, const IrBuffer *b, const int64_t *index)
{
    const IrIndexMap *m = b->layout;
    int64_t at = 0;

    for (int d = 0; d < b->rank; d++)
        n->var[m->in[d]->id] = of_int(m->in[d]->dtype, index[d]);
    for (int i = 0; i < m->out_rank; i++)
        at = at * n->buffer[b->id].physical[i] + eval(n, m->out[i]).i;
    return at;
}

// NULL when an index is out of range.
static void *element(Naive *n, const IrBuffer *b, const int64_t *index,
                     unsigned quiet)
{
    Storage *s = &n->buffer[b->id];
    int64_t at = 0;

    for (int d = 0; d < b->rank; d++) {
        if (index[d] < 0 || index[d] >= s->shape[d]) {
            n->findings += !is_global(b) && !(quiet >> d & 1);
            return NULL;
        }
        at += index[d] * s->stride[d];
    }
    if (is_laid_out(b))
        at = laid_out(n, b, index);
    return s->data + at * (dtype_info(b->dtype)->bits / 8);
}

static Value load(Naive *n, const IrBuffer *b, const int64_t *index,
                  unsigned quiet)
{
    void *at = element(n, b, index, quiet);

    if (at)
        return read_at(b->dtype, at);
    if (b->safe_value)
        return convert(eval(n, b->safe_value), b->dtype);
    return (Value){b->dtype, 0, 0};
}

static void store(Naive *n, const IrBuffer *b, const int64_t *index,
                  unsigned quiet, Value v)
{
    void *at = element(n, b, index, quiet);

    if (at)
        write_at(b->dtype, at, v);
}

static void indices(Naive *n, const IrBuffer *b, IrExpr *const *e, int count,
                    int64_t *out)
{
    for (int d = 0; d < count; d++) {
        out[d] = eval(n, e[d]).i;
        if (e[d]->kind == EXPR_INT && out[d] < 0)
            out[d] += n->buffer[b->id].shape[d];
    }
}

// ---- operators ------------------------------------------------------------------------

static double float_op(Op op, double a, double b)
{
    switch (op) {
    case OP_ADD: return a + b;
    case OP_SUB: return a - b;
    case OP_MUL: return a * b;
    case OP_DIV: return a / b;
    case OP_FLOORDIV: return floor(a / b);
    case OP_FMOD: return fmod(a, b);
    case OP_MAX: return fmax(a, b);
    case OP_MIN: return fmin(a, b);
    case OP_NEG: return -a;
    case OP_ABS: return fabs(a);
    case OP_SQRT: return sqrt(a);
    case OP_FLOOR: return floor(a);
    case OP_CEIL: return ceil(a);
    case OP_TRUNC: return trunc(a);
    case OP_ROUND: return nearbyint(a);
    case OP_EXP2: return exp2(a);
    case OP_EXP: return exp(a);
    case OP_LOG2: return log2(a);
    default: BUG("naive: float operator %d", (int)op);
    }
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t int_op(Naive *n, Op op, int64_t a, int64_t b)
{
    bool division = op == OP_FLOORDIV || op == OP_FLOORMOD ||
                    op == OP_TRUNCDIV || op == OP_TRUNCMOD || op == OP_CEILDIV;

    if (division && b == 0) {
        n->findings++;
        return 0;
    }
    if (division && b == -1)        // INT64_MIN / -1 traps
        return op == OP_FLOORMOD || op == OP_TRUNCMOD
                   ? 0
                   : (int64_t)(0 - (uint64_t)a);
    switch (op) {
    case OP_ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
    case OP_SUB: return (int64_t)((uint64_t)a - (uint64_t)b);
    case OP_MUL: return (int64_t)((uint64_t)a * (uint64_t)b);
    case OP_FLOORDIV: return floor_div(a, b);
    case OP_FLOORMOD: return a - floor_div(a, b) * b;
    case OP_CEILDIV: return floor_div(a + b - 1, b);
    case OP_TRUNCDIV: return a / b;
    case OP_TRUNCMOD: return a % b;
    case OP_MAX: return a > b ? a : b;
    case OP_MIN: return a < b ? a : b;
    case OP_BITAND: return a & b;
    case OP_BITOR: return a | b;
    case OP_BITXOR: return a ^ b;
    case OP_SHL: return (int64_t)((uint64_t)a << b);
    case OP_SHR: return a >> b;
    case OP_NEG: return (int64_t)(0 - (uint64_t)a);
    case OP_BITNOT: return ~a;
    case OP_ABS: return a < 0 ? (int64_t)(0 - (uint64_t)a) : a;
    default: BUG("naive: integer operator %d", (int)op);
    }
}

static bool compare(Op op, Value a, Value b)
{
    bool less = is_float(a.t) ? a.f < b.f : a.i < b.i;
    bool same = is_float(a.t) ? a.f == b.f : a.i == b.i;
    bool more = is_float(a.t) ? a.f > b.f : a.i > b.i;

    switch (op) {
    case OP_EQ: return same;
    case OP_NE: return !same;
    case OP_LT: return less;
    case OP_LE: return less || same;
    case OP_GT: return more;
    default: return more || same;
    }
}

static Value eval_op(Naive *n, const IrExpr *e)
{
    Value a, b = {0};

    if (e->op == OP_AND || e->op == OP_OR) {
        bool left = truth(eval(n, e->args[0]));

        if (left == (e->op == OP_OR))
            return of_int(DT_BOOL, left);
        return of_int(DT_BOOL, truth(eval(n, e->args[1])));
    }
    if (e->op == OP_IF_THEN_ELSE || e->op == OP_SELECT)
        return convert(eval(n, e->args[truth(eval(n, e->args[0])) ? 1 : 2]),
                       e->dtype);
    a = eval(n, e->args[0]);
    if (e->count > 1)
        b = eval(n, e->args[1]);
    if (e->op == OP_NOT || (e->op == OP_BITNOT && e->dtype == DT_BOOL))
        return of_int(DT_BOOL, !truth(a));
    if (e->op >= OP_EQ && e->op <= OP_GE)
        return of_int(DT_BOOL, compare(e->op, a, b));
    if (is_float(e->dtype))
        return of_float(e->dtype, float_op(e->op, a.f, b.f));
    return of_int(e->dtype, int_op(n, e->op, a.i, b.i));
}

static Value eval_atomic(Naive *n, const IrExpr *e)
{
    int64_t index[IR_MAX_RANK];
    int rank = e->count - 1;
    Value v, old;
    void *at;

    indices(n, e->buffer, e->args, rank, index);
    v = convert(eval(n, e->args[rank]), e->dtype);
    at = element(n, e->buffer, index, 0);
    if (!at)
        return (Value){e->dtype, 0, 0};
    old = read_at(e->dtype, at);
    Op op = e->op == OP_ATOMIC_MAX   ? OP_MAX
            : e->op == OP_ATOMIC_MIN ? OP_MIN
                                     : OP_ADD;
    write_at(e->dtype, at, is_float(e->dtype)
                               ? of_float(e->dtype, float_op(op, old.f, v.f))
                               : of_int(e->dtype, int_op(n, op, old.i, v.i)));
    return old;
}

static Value eval(Naive *n, const IrExpr *e)
{
    int64_t index[IR_MAX_RANK];
    char bits[8] = {0};

    switch (e->kind) {
    case EXPR_INT:
        return is_float(e->dtype) ? of_float(e->dtype, (double)e->i64)
                                  : of_int(e->dtype, e->i64);
    case EXPR_FLOAT:
        return of_float(e->dtype, e->f64);
    case EXPR_VAR:
        return convert(n->var[e->var->id], e->dtype);
    case EXPR_LOAD:
        indices(n, e->buffer, e->args, e->count, index);
        return load(n, e->buffer, index, 0);
    case EXPR_OP:
        return eval_op(n, e);
    case EXPR_CAST:
        return convert(eval(n, e->args[0]), e->dtype);
    case EXPR_SELECT:
        return eval(n, e->args[truth(eval(n, e->args[0])) ? 1 : 2]);
    case EXPR_REINTERPRET:
        write_at(e->args[0]->dtype, bits, eval(n, e->args[0]));
        return read_at(e->dtype, bits);
    case EXPR_ATOMIC:
        return eval_atomic(n, e);
    }
    BUG("naive: expression %d", (int)e->kind);
}

// ---- element-wise tile operations -------------------------------------------------------

typedef void Element(Naive *n, const IrStmt *s, const IrCopyMap *m,
                     const int64_t *at);

static unsigned side(Naive *n, const IrBuffer *b, IrExpr *const *min,
                     const int *map, const int64_t *at, int64_t *index)
{
    unsigned quiet = 0;

    indices(n, b, min, b->rank, index);
    for (int d = 0; d < b->rank; d++)
        if (map[d] >= 0) {
            index[d] += at[map[d]];
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
    count = eval(n, m->extent[d]).i;
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
    store(n, m->dst.buffer, to, b, load(n, m->src.buffer, from, a));
}

static void fill_one(Naive *n, const IrStmt *s, const IrCopyMap *m,
                     const int64_t *at)
{
    int64_t to[IR_MAX_RANK];
    Value v = s->op == OP_CLEAR ? (Value){DT_I32, 0, 0}
                                : eval(n, s->operand[1].expr);

    side(n, m->dst.buffer, m->dst.min, m->dst.map, at, to);
    store(n, m->dst.buffer, to, 0, v);
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
        v = eval(n, s->operand[1].expr);
    } else {
        q = side(n, m->src.buffer, m->src.min, m->src.map, at, from);
        v = load(n, m->src.buffer, from, q);
    }
    v = convert(v, b->dtype);
    p = element(n, b, to, quiet);
    if (!p)
        return;
    old = read_at(b->dtype, p);
    write_at(b->dtype, p, is_float(b->dtype)
                              ? of_float(b->dtype, float_op(op, old.f, v.f))
                              : of_int(b->dtype, int_op(n, op, old.i, v.i)));
}

// ---- gemm ------------------------------------------------------------------------------

static Value matrix(Naive *n, const IrRegion *r, int row, int col, int64_t i,
                    int64_t j)
{
    int64_t index[IR_MAX_RANK];

    indices(n, r->buffer, r->min, r->buffer->rank, index);
    index[row] += i;
    index[col] += j;
    return load(n, r->buffer, index, 0);
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
    return wrap(DT_I32, c);
}

static void gemm(Naive *n, const IrStmt *s)
{
    const IrRegion *c = s->operand[2].region;
    DType a = s->operand[0].region->buffer->dtype, t = c->buffer->dtype;
    bool clear = s->operand_count > 6 && s->operand[6].kind == OPERAND_EXPR &&
                 truth(eval(n, s->operand[6].expr));
    int64_t index[IR_MAX_RANK];
    IrGemmShape g;

    if (!ir_resolve_gemm(n->k, s, &g))
        BUG("naive: gemm does not resolve");
    for (int64_t i = 0; i < g.m; i++)
        for (int64_t j = 0; j < g.n; j++) {
            Value v = matrix(n, c, g.c_row, g.c_col, i, j);

            if (clear)
                v.i = 0, v.f = 0;
            if (is_float(t))
                v.f = chain(n, s, &g, i, j, v.f, a == DT_F64 || t == DT_F64);
            else
                v.i = int_chain(n, s, &g, i, j, v.i);
            indices(n, c->buffer, c->min, c->buffer->rank, index);
            index[g.c_row] += i;
            index[g.c_col] += j;
            store(n, c->buffer, index, 0, v);
        }
}

// ---- reductions ----------------------------------------------------------------------------

static Value combine(Op op, Value a, Value b)
{
    if (is_float(a.t))
        return of_float(a.t, float_op(op, a.f, b.f));
    return of_int(a.t, op == OP_ADD   ? a.i + b.i
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
            Value v = convert(load(n, r.src, index, 0), r.out->dtype);

            if (magnitude)
                v = is_float(v.t) ? of_float(v.t, fabs(v.f))
                                  : of_int(v.t, v.i < 0 ? -v.i : v.i);
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
            v = combine(reduction_op(s->op), load(n, r.out, out, 0), v);
        else if (reduction_op(s->op) == OP_ADD)
            v = combine(OP_ADD, (Value){v.t, 0, 0}, v);
        store(n, r.out, out, 0, v);
    }
    free(line);
}

static void scan(Naive *n, const IrStmt *s)
{
    IrScanShape r;
    int64_t at[2] = {0};

    if (!ir_resolve_scan(n->k, s, &r))
        BUG("naive: scan does not resolve");
    const IrBuffer *a = r.src->buffer, *b = r.dst->buffer;
    const int64_t *shape = n->buffer[a->id].shape;
    int rank = a->rank, other = 1 - r.dim;
    int64_t lines = rank == 2 ? shape[other] : 1, size = shape[r.dim];
    for (int64_t o = 0; o < lines; o++) {
        Value sum = {0};

        for (int64_t i = 0; i < size; i++) {
            Value v;

            if (rank == 2)
                at[other] = o;
            at[r.dim] = r.reverse ? size - 1 - i : i;
            v = convert(load(n, a, at, 0), b->dtype);
            sum = i ? combine(OP_ADD, sum, v) : v;
            store(n, b, at, 0, sum);
        }
    }
}

static void im2col(Naive *n, const IrStmt *s)
{
    const IrBuffer *img = s->operand[0].region->buffer;
    const IrBuffer *col = s->operand[1].region->buffer;
    const int64_t *is = n->buffer[img->id].shape, *cs = n->buffer[col->id].shape;
    int64_t step_m = eval(n, s->operand[2].expr).i;
    int64_t step_k = eval(n, s->operand[3].expr).i;
    int64_t kernel = ir_attr_int(s, ATTR_KERNEL, 1);
    int64_t stride = ir_attr_int(s, ATTR_STRIDE, 1);
    int64_t dil = ir_attr_int(s, ATTR_DILATION, 1);
    int64_t pad = ir_attr_int(s, ATTR_PAD, 0), c = is[3];
    int64_t oh = (is[1] + 2 * pad - (kernel - 1) * dil - 1) / stride + 1;
    int64_t ow = (is[2] + 2 * pad - (kernel - 1) * dil - 1) / stride + 1;

    for (int64_t i = 0; i < cs[0]; i++)
        for (int64_t j = 0; j < cs[1]; j++) {
            int64_t m = step_m * cs[0] + i, k = step_k * cs[1] + j;
            int64_t from[4] = {m / (oh * ow),
                               m % (oh * ow) / ow * stride +
                                   k / (kernel * c) * dil - pad,
                               m % ow * stride + k / c % kernel * dil - pad,
                               k % c};
            int64_t to[2] = {i, j};

            store(n, col, to, 0, load(n, img, from, 0));
        }
}

static void tile(Naive *n, const IrStmt *s)
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
    case OP_FILL: case OP_CLEAR:
        ir_resolve_fill(n->k, s->operand[0].region, &m);
        each(n, s, &m, 0, at, fill_one);
        break;
    case OP_ATOMIC_ADD: case OP_ATOMIC_MAX: case OP_ATOMIC_MIN:
        if (s->operand[1].kind == OPERAND_EXPR)
            ir_resolve_fill(n->k, s->operand[0].region, &m);
        else
            ir_resolve_copy(n->k, s->at, s->operand[1].region,
                            s->operand[0].region, &m);
        each(n, s, &m, 0, at, atomic_one);
        break;
    case OP_GEMM: gemm(n, s); break;
    case OP_CUMSUM: scan(n, s); break;
    case OP_IM2COL: im2col(n, s); break;
    default: reduce(n, s); break;
    }
}

// ---- statements ------------------------------------------------------------------------------

// The largest value of each output, over all elements.
static void set_physical(Naive *n, const IrBuffer *b, int64_t count)
{
    const IrIndexMap *m = b->layout;
    Storage *s = &n->buffer[b->id];

    for (int64_t e = 0; e < count; e++) {
        for (int d = 0; d < b->rank; d++)
            n->var[m->in[d]->id] = of_int(m->in[d]->dtype,
                                          e / s->stride[d] % s->shape[d]);
        for (int i = 0; i < m->out_rank; i++) {
            int64_t v = eval(n, m->out[i]).i + 1;

            if (v > s->physical[i])
                s->physical[i] = v;
        }
    }
}

static void set_storage(Naive *n, const IrBuffer *b)
{
    Storage *s = &n->buffer[b->id];
    int64_t stride = 1;

    for (int d = b->rank - 1; d >= 0; d--) {
        s->shape[d] = eval(n, b->shape[d]).i;
        s->stride[d] = stride;
        stride *= s->shape[d];
    }
    if (is_laid_out(b))
        set_physical(n, b, stride);
    if (b->alias_of)
        return;
    free(s->data);
    s->data = calloc((size_t)stride + 1,
                     (size_t)dtype_info(b->dtype)->bits / 8);
}

static char *root_data(Naive *n, const IrBuffer *b)
{
    while (b->alias_of)
        b = b->alias_of;
    return n->buffer[b->id].data;
}

static void alloc(Naive *n, const IrBuffer *b)
{
    set_storage(n, b);
    for (int i = 0; i < n->k->buffer_count; i++)
        if (n->k->buffers[i]->alias_of) {
            set_storage(n, n->k->buffers[i]);
            n->buffer[i].data = root_data(n, n->k->buffers[i]);
        }
}

static Flow loop(Naive *n, const IrStmt *s, int d)
{
    int64_t step = 1, start, count;

    if (d == s->var_count) {
        Flow f = run(n, s->then);

        return f == FLOW_CONTINUE ? FLOW_ON : f;
    }
    start = eval(n, s->start[d]).i;
    count = eval(n, s->extent[d]).i;
    if (s->step)
        step = eval(n, s->step).i;
    for (int64_t i = 0; i < count; i++) {
        n->var[s->vars[d]->id] = of_int(s->vars[d]->dtype, start + i * step);
        if (loop(n, s, d + 1) == FLOW_BREAK)
            break;
    }
    return FLOW_ON;
}

static void launch(Naive *n, const IrStmt *s)
{
    int64_t grid[3] = {1, 1, 1}, total = 1;

    for (int d = 0; d < s->var_count; d++) {
        grid[d] = eval(n, s->extent[d]).i;
        total *= grid[d];
    }
    for (int64_t b = 0; b < total; b++) {
        int64_t rest = b;

        for (int d = 0; d < s->var_count; d++) {
            n->var[s->vars[d]->id] = of_int(s->vars[d]->dtype, rest % grid[d]);
            rest /= grid[d];
        }
        run(n, s->then);
    }
}

static Flow run_block(Naive *n, const IrStmt *s)
{
    for (int i = 0; i < s->len; i++) {
        Flow f = run(n, s->body[i]);

        if (f != FLOW_ON)
            return f;
    }
    return FLOW_ON;
}

static Flow run(Naive *n, const IrStmt *s)
{
    int64_t index[IR_MAX_RANK];

    switch (s->kind) {
    case STMT_BLOCK:
        return run_block(n, s);
    case STMT_ALLOC:
        alloc(n, s->buffer);
        break;
    case STMT_LET:
        n->var[s->var->id] = convert(eval(n, s->value), s->var->dtype);
        break;
    case STMT_STORE:
        indices(n, s->buffer, s->index, s->index_count, index);
        store(n, s->buffer, index, 0, eval(n, s->value));
        break;
    case STMT_IF:
        if (truth(eval(n, s->cond)))
            return run(n, s->then);
        return s->otherwise ? run(n, s->otherwise) : FLOW_ON;
    case STMT_FOR:
        return loop(n, s, 0);
    case STMT_WHILE:
        while (truth(eval(n, s->cond)))
            if (run(n, s->then) == FLOW_BREAK)
                break;
        break;
    case STMT_BREAK:
        return FLOW_BREAK;
    case STMT_CONTINUE:
        return FLOW_CONTINUE;
    case STMT_ASSERT:
        n->findings += !truth(eval(n, s->cond));
        break;
    case STMT_TILE:
        tile(n, s);
        break;
    case STMT_LAUNCH:
        launch(n, s);
        break;
    case STMT_EVAL:
        eval(n, s->value);
        break;
    }
    return FLOW_ON;
}

// ---- arguments ----------------------------------------------------------------------------------

static void bind_symbols(Naive *n, const NaiveArg *args)
{
    for (int i = 0; i < n->k->param_count; i++) {
        const IrParam *p = &n->k->params[i];

        for (int d = 0; !p->is_scalar && d < args[i].rank; d++) {
            const IrExpr *e = p->buffer->shape[d];

            if (e->kind == EXPR_VAR)
                n->var[e->var->id] = of_int(e->dtype, args[i].shape[d]);
        }
        if (p->is_scalar)
            n->var[p->var->id] = read_at(p->var->dtype, args[i].data);
    }
}

int64_t naive_run(const IrKernel *k, const NaiveArg *args)
{
    Naive n = {.k = (IrKernel *)k};

    n.var = calloc((size_t)k->next_var + 1, sizeof *n.var);
    n.buffer = calloc((size_t)k->buffer_count + 1, sizeof *n.buffer);
    bind_symbols(&n, args);
    for (int i = 0; i < k->param_count; i++)
        if (!k->params[i].is_scalar) {
            Storage *s = &n.buffer[k->params[i].buffer->id];

            set_storage(&n, k->params[i].buffer);
            free(s->data);
            s->data = args[i].data;
        }
    for (int i = 0; i < k->buffer_count; i++)
        if (k->buffers[i]->alias_of && is_global(k->buffers[i])) {
            set_storage(&n, k->buffers[i]);
            n.buffer[i].data = root_data(&n, k->buffers[i]);
        }
    run(&n, k->body);
    for (int i = 0; i < k->buffer_count; i++)
        if (!k->buffers[i]->alias_of && k->buffers[i]->param < 0)
            free(n.buffer[i].data);
    free(n.var);
    free(n.buffer);
    return n.findings;
}
