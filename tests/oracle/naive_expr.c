// naive_expr.c - values, elements and operators, one at a time.
#include "naive_int.h"

#include <math.h>

// ---- values --------------------------------------------------------------

bool naive_is_float(DType t)
{
    return dtype_info(t)->kind == KIND_FLOAT;
}

int64_t naive_wrap(DType t, int64_t v)
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

Value naive_of_int(DType t, int64_t v)
{
    return (Value){t, naive_wrap(t, v), 0};
}

Value naive_of_float(DType t, double v)
{
    return (Value){t, 0, num_round_f64(t, v)};
}

Value naive_convert(Value v, DType t)
{
    double at[1] = {0};

    if (!naive_is_float(t) && !naive_is_float(v.t))
        return naive_of_int(t, v.i);
    if (!naive_is_float(v.t)) { // exactly, from all 64 bits
        if (v.t == DT_U64)
            num_convert(t, at, DT_U64, &v.i, 1);
        else
            num_put_i64(t, at, v.i);
        return (Value){t, 0, num_get_f64(t, at)};
    }
    if (naive_is_float(t))
        return naive_of_float(t, v.f);
    num_put_f64(t, at, v.f);
    return naive_of_int(t, num_get_i64(t, at));
}

bool naive_truth(Value v)
{
    return naive_is_float(v.t) ? v.f != 0 : v.i != 0;
}

Value naive_read_at(DType t, const void *at)
{
    Value v = {t, 0, 0};

    if (naive_is_float(t))
        v.f = num_get_f64(t, at);
    else
        v.i = num_get_i64(t, at);
    return v;
}

void naive_write_at(DType t, void *at, Value v)
{
    v = naive_convert(v, t);
    if (naive_is_float(t))
        num_put_f64(t, at, v.f);
    else
        num_put_i64(t, at, v.i);
}

// ---- elements ------------------------------------------------------------

bool naive_is_global(const IrBuffer *b)
{
    while (b->alias_of)
        b = b->alias_of;
    return b->scope == SCOPE_GLOBAL;
}

bool naive_is_laid_out(const IrBuffer *b)
{
    return naive_is_global(b) && b->layout && !b->layout->maker.len;
}

static int64_t laid_out(Naive *n, const IrBuffer *b, const int64_t *index)
{
    const IrIndexMap *m = b->layout;
    int64_t at = 0;

    for (int d = 0; d < b->rank; d++)
        n->var[m->in[d]->id] = naive_of_int(m->in[d]->dtype, index[d]);
    for (int i = 0; i < m->out_rank; i++)
        at = at * n->buffer[b->id].physical[i] + naive_eval(n, m->out[i]).i;
    return at;
}

// NULL when an index is out of range.
void *naive_element(Naive *n, const IrBuffer *b, const int64_t *index,
                    unsigned quiet)
{
    Storage *s = &n->buffer[b->id];
    int64_t at = 0;

    for (int d = 0; d < b->rank; d++) {
        if (index[d] < 0 || index[d] >= s->shape[d]) {
            n->findings += !naive_is_global(b) && !(quiet >> d & 1);
            if (!naive_is_global(b))
                n->outside.block++;
            else if (index[d] < 0)
                n->outside.below++;
            else
                n->outside.above++;
            return NULL;
        }
        at += index[d] * s->stride[d];
    }
    if (naive_is_laid_out(b))
        at = laid_out(n, b, index);
    return s->data + at * (dtype_info(b->dtype)->bits / 8);
}

Value naive_load(Naive *n, const IrBuffer *b, const int64_t *index,
                 unsigned quiet)
{
    void *at = naive_element(n, b, index, quiet);

    if (at)
        return naive_read_at(b->dtype, at);
    if (b->safe_value)
        return naive_convert(naive_eval(n, b->safe_value), b->dtype);
    return (Value){b->dtype, 0, 0};
}

void naive_store(Naive *n, const IrBuffer *b, const int64_t *index,
                 unsigned quiet, Value v)
{
    void *at = naive_element(n, b, index, quiet);

    if (at)
        naive_write_at(b->dtype, at, v);
}

void naive_indices(Naive *n, const IrBuffer *b, IrExpr *const *e, int count,
                   int64_t *out)
{
    for (int d = 0; d < count; d++) {
        out[d] = naive_eval(n, e[d]).i;
        if (e[d]->kind == EXPR_INT && out[d] < 0)
            out[d] += n->buffer[b->id].shape[d];
    }
}

// ---- operators -----------------------------------------------------------

double naive_float_op(Op op, double a, double b)
{
    switch (op) {
    case OP_ADD:
        return a + b;
    case OP_SUB:
        return a - b;
    case OP_MUL:
        return a * b;
    case OP_DIV:
        return a / b;
    case OP_FLOORDIV:
        return floor(a / b);
    case OP_FMOD:
        return fmod(a, b);
    case OP_MAX:
        return a == b ? (signbit(a) ? b : a) : fmax(a, b); // -0 < +0
    case OP_MIN:
        return a == b ? (signbit(a) ? a : b) : fmin(a, b);
    case OP_NEG:
        return -a;
    case OP_ABS:
        return fabs(a);
    case OP_SQRT:
        return sqrt(a);
    case OP_FLOOR:
        return floor(a);
    case OP_CEIL:
        return ceil(a);
    case OP_TRUNC:
        return trunc(a);
    case OP_ROUND:
        return nearbyint(a);
    case OP_EXP2:
        return exp2(a);
    case OP_EXP:
        return exp(a);
    case OP_LOG2:
        return log2(a);
    default:
        BUG("naive: float operator %d", (int)op);
    }
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

int64_t naive_int_op(Naive *n, Op op, int64_t a, int64_t b)
{
    bool division = op == OP_FLOORDIV || op == OP_FLOORMOD ||
                    op == OP_TRUNCDIV || op == OP_TRUNCMOD || op == OP_CEILDIV;

    if (division && b == 0) {
        n->findings++;
        return 0;
    }
    if (division && b == -1) // INT64_MIN / -1 traps
        return op == OP_FLOORMOD || op == OP_TRUNCMOD
                   ? 0
                   : (int64_t)(0 - (uint64_t)a);
    switch (op) {
    case OP_ADD:
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case OP_SUB:
        return (int64_t)((uint64_t)a - (uint64_t)b);
    case OP_MUL:
        return (int64_t)((uint64_t)a * (uint64_t)b);
    case OP_FLOORDIV:
        return floor_div(a, b);
    case OP_FLOORMOD:
        return a - floor_div(a, b) * b;
    case OP_CEILDIV:
        return floor_div(a + b - 1, b);
    case OP_TRUNCDIV:
        return a / b;
    case OP_TRUNCMOD:
        return a % b;
    case OP_MAX:
        return a > b ? a : b;
    case OP_MIN:
        return a < b ? a : b;
    case OP_BITAND:
        return a & b;
    case OP_BITOR:
        return a | b;
    case OP_BITXOR:
        return a ^ b;
    case OP_SHL:
        return (int64_t)((uint64_t)a << b);
    case OP_SHR:
        return a >> b;
    case OP_NEG:
        return (int64_t)(0 - (uint64_t)a);
    case OP_BITNOT:
        return ~a;
    case OP_ABS:
        return a < 0 ? (int64_t)(0 - (uint64_t)a) : a;
    default:
        BUG("naive: integer operator %d", (int)op);
    }
}

static bool compare(Op op, Value a, Value b)
{
    bool less = naive_is_float(a.t) ? a.f < b.f : a.i < b.i;
    bool same = naive_is_float(a.t) ? a.f == b.f : a.i == b.i;
    bool more = naive_is_float(a.t) ? a.f > b.f : a.i > b.i;

    switch (op) {
    case OP_EQ:
        return same;
    case OP_NE:
        return !same;
    case OP_LT:
        return less;
    case OP_LE:
        return less || same;
    case OP_GT:
        return more;
    default:
        return more || same;
    }
}

static Value eval_op(Naive *n, const IrExpr *e)
{
    Value a, b = {0};

    if (e->op == OP_AND || e->op == OP_OR) {
        bool left = naive_truth(naive_eval(n, e->args[0]));

        if (left == (e->op == OP_OR))
            return naive_of_int(DT_BOOL, left);
        return naive_of_int(DT_BOOL, naive_truth(naive_eval(n, e->args[1])));
    }
    if (e->op == OP_IF_THEN_ELSE || e->op == OP_SELECT)
        return naive_convert(
            naive_eval(n,
                       e->args[naive_truth(naive_eval(n, e->args[0])) ? 1 : 2]),
            e->dtype);
    a = naive_eval(n, e->args[0]);
    if (e->count > 1)
        b = naive_eval(n, e->args[1]);
    if (e->op == OP_NOT || (e->op == OP_BITNOT && e->dtype == DT_BOOL))
        return naive_of_int(DT_BOOL, !naive_truth(a));
    if (e->op >= OP_EQ && e->op <= OP_GE)
        return naive_of_int(DT_BOOL, compare(e->op, a, b));
    if (naive_is_float(e->dtype))
        return naive_of_float(e->dtype, naive_float_op(e->op, a.f, b.f));
    return naive_of_int(e->dtype, naive_int_op(n, e->op, a.i, b.i));
}

static Value eval_atomic(Naive *n, const IrExpr *e)
{
    int64_t index[IR_MAX_RANK];
    int rank = e->count - 1;
    Value v, old;
    void *at;

    naive_indices(n, e->buffer, e->args, rank, index);
    v = naive_convert(naive_eval(n, e->args[rank]), e->dtype);
    at = naive_element(n, e->buffer, index, 0);
    if (!at)
        return (Value){e->dtype, 0, 0};
    old = naive_read_at(e->dtype, at);
    Op op = e->op == OP_ATOMIC_MAX   ? OP_MAX
            : e->op == OP_ATOMIC_MIN ? OP_MIN
                                     : OP_ADD;
    naive_write_at(
        e->dtype, at,
        naive_is_float(e->dtype)
            ? naive_of_float(e->dtype, naive_float_op(op, old.f, v.f))
            : naive_of_int(e->dtype, naive_int_op(n, op, old.i, v.i)));
    return old;
}

Value naive_eval(Naive *n, const IrExpr *e)
{
    int64_t index[IR_MAX_RANK];
    char bits[8] = {0};

    switch (e->kind) {
    case EXPR_INT:
        return naive_is_float(e->dtype)
                   ? naive_of_float(e->dtype, (double)e->i64)
                   : naive_of_int(e->dtype, e->i64);
    case EXPR_FLOAT:
        return naive_of_float(e->dtype, e->f64);
    case EXPR_VAR:
        return naive_convert(n->var[e->var->id], e->dtype);
    case EXPR_LOAD:
        naive_indices(n, e->buffer, e->args, e->count, index);
        return naive_load(n, e->buffer, index, 0);
    case EXPR_OP:
        return eval_op(n, e);
    case EXPR_CAST:
        return naive_convert(naive_eval(n, e->args[0]), e->dtype);
    case EXPR_SELECT:
        return naive_eval(
            n, e->args[naive_truth(naive_eval(n, e->args[0])) ? 1 : 2]);
    case EXPR_REINTERPRET:
        naive_write_at(e->args[0]->dtype, bits, naive_eval(n, e->args[0]));
        return naive_read_at(e->dtype, bits);
    case EXPR_ATOMIC:
        return eval_atomic(n, e);
    }
    BUG("naive: expression %d", (int)e->kind);
}
