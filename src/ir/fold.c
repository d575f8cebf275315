// fold.c - integer constants computed while building, and equal expressions.
#include "ir/ir_int.h"

#include <string.h>

typedef unsigned __int128 UWide;    // where a Wide may wrap

// ---- values of integer dtypes -----------------------------------------------

Wide int_value(const IrExpr *e)
{
    const DTypeInfo *d = dtype_info(e->dtype);
    return d->kind == KIND_UINT ? (Wide)(uint64_t)e->i64 : (Wide)e->i64;
}

static int value_bits(DType t)
{
    return t == DT_BOOL ? 1 : dtype_info(t)->bits;
}

bool int_fits(DType t, Wide v)
{
    Wide one = 1;
    if (dtype_info(t)->kind == KIND_INT) {
        Wide half = one << (value_bits(t) - 1);
        return v >= -half && v < half;
    }
    return v >= 0 && v < one << value_bits(t);
}

Wide int_wrap(DType t, Wide v)
{
    int bits = value_bits(t);
    Wide size = (Wide)1 << bits;
    Wide low = v & (size - 1);
    bool negative = dtype_info(t)->kind == KIND_INT && (low >> (bits - 1)) & 1;
    return negative ? low - size : low;
}

// Decimal text of any Wide, for messages.
static void wide_text(char out[48], Wide v)
{
    char digits[48];
    int n = 0;
    bool negative = v < 0;
    UWide u = negative ? -(UWide)v : (UWide)v;
    do {
        digits[n++] = (char)('0' + (int)(u % 10));
        u /= 10;
    } while (u);
    if (negative)
        digits[n++] = '-';
    for (int i = 0; i < n; i++)
        out[i] = digits[n - 1 - i];
    out[n] = '\0';
}

IrExpr *int_const(IrKernel *k, DType t, Wide v, Span at)
{
    if (!int_fits(t, v)) {
        char text[48];
        wide_text(text, v);
        return ir_error(k, at, "ir-overflow", "%s does not fit %s", text,
                        dtype_info(t)->name);
    }
    IrExpr *e = new_expr(k, EXPR_INT, t, at, 0, NULL);
    e->i64 = (int64_t)(uint64_t)v;
    return e;
}

// ---- equality ---------------------------------------------------------------

bool ir_is_int(const IrExpr *e, int64_t *out)
{
    if (!e || e->kind != EXPR_INT)
        return false;
    *out = e->i64;
    return true;
}

static bool same_payload(const IrExpr *a, const IrExpr *b)
{
    switch (a->kind) {
    case EXPR_INT: return a->i64 == b->i64;
    case EXPR_FLOAT: return memcmp(&a->f64, &b->f64, sizeof a->f64) == 0;
    case EXPR_VAR: return a->var == b->var;
    case EXPR_LOAD: case EXPR_ATOMIC: return a->buffer == b->buffer;
    default: return true;
    }
}

bool ir_same(const IrExpr *a, const IrExpr *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->kind != b->kind || a->dtype != b->dtype ||
        a->op != b->op || a->sat != b->sat || a->count != b->count ||
        a->size != b->size || !same_payload(a, b))
        return false;
    for (int i = 0; i < a->count; i++)
        if (!ir_same(a->args[i], b->args[i]))
            return false;
    return true;
}

// ---- linear forms: what remains of a difference -----------------------------

enum { LINEAR_MAX = 16 };
typedef struct {
    int count;
    struct {
        const IrExpr *atom;
        int64_t factor;
    } term[LINEAR_MAX];
    int64_t constant;
} Linear;

static bool linear_atom(Linear *l, const IrExpr *e, int64_t factor)
{
    for (int i = 0; i < l->count; i++) {
        if (ir_same(l->term[i].atom, e))
            return !__builtin_add_overflow(l->term[i].factor, factor,
                                           &l->term[i].factor);
    }
    if (l->count == LINEAR_MAX)
        return false;
    l->term[l->count].atom = e;
    l->term[l->count++].factor = factor;
    return true;
}

// Adds factor * e to l. False when it does not fit the form.
static bool linear_add(Linear *l, const IrExpr *e, int64_t factor)
{
    int64_t c;
    if (e->kind == EXPR_INT) {
        if (__builtin_mul_overflow(e->i64, factor, &c))
            return false;
        return !__builtin_add_overflow(l->constant, c, &l->constant);
    }
    if (e->kind == EXPR_OP && (e->op == OP_ADD || e->op == OP_SUB))
        return linear_add(l, e->args[0], factor) &&
               !__builtin_mul_overflow(factor, e->op == OP_ADD ? 1 : -1, &c) &&
               linear_add(l, e->args[1], c);
    if (e->kind == EXPR_OP && e->op == OP_MUL)
        for (int i = 0; i < 2; i++)
            if (ir_is_int(e->args[i], &c))
                return !__builtin_mul_overflow(c, factor, &c) &&
                       linear_add(l, e->args[1 - i], c);
    return linear_atom(l, e, factor);
}

static bool linear_fits(const Linear *l, DType t)
{
    for (int i = 0; i < l->count; i++)
        if (!int_fits(t, l->term[i].factor) ||
            !int_fits(t, -(Wide)l->term[i].factor))
            return false;
    return int_fits(t, l->constant);
}

static IrExpr *linear_build(IrKernel *k, const Linear *l, DType t, Span at)
{
    IrExpr *sum = int_const(k, t, 0, at);
    for (int i = 0; i < l->count; i++) {
        int64_t f = l->term[i].factor;
        if (f == 0)
            continue;
        Op op = f < 0 ? OP_SUB : OP_ADD;
        IrExpr *factor = int_const(k, t, f < 0 ? -(Wide)f : f, at);
        IrExpr *atom = (IrExpr *)l->term[i].atom;
        sum = ir_op2(k, op, sum, ir_op2(k, OP_MUL, atom, factor, at), at);
    }
    return ir_op2(k, OP_ADD, sum, int_const(k, t, l->constant, at), at);
}

static bool something_cancelled(const Linear *l)
{
    for (int i = 0; i < l->count; i++)
        if (l->term[i].factor == 0)
            return true;
    return false;
}

// a - b when parts of them cancel: (bx + 1) * 128 - bx * 128 is 128.
static IrExpr *fold_difference(IrKernel *k, IrExpr *a, IrExpr *b, Span at)
{
    Linear l = {0};
    if (dtype_info(a->dtype)->kind == KIND_INT && linear_add(&l, a, 1) &&
        linear_add(&l, b, -1) && something_cancelled(&l) &&
        linear_fits(&l, a->dtype))
        return linear_build(k, &l, a->dtype, at);
    return NULL;
}

// ---- folding ----------------------------------------------------------------

static Wide floor_div(Wide a, Wide b)
{
    Wide q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

static Wide shift_left(Wide a, Wide b)
{
    return b < 0 || b > 64 ? 0 : (Wide)((UWide)a << (int)b);
}

static Wide shift_right(Wide a, Wide b)
{
    return b < 0 ? 0 : a >> (b > 64 ? 64 : (int)b);
}

// False when op has no integer rule. Divisors are not zero.
static bool compute(Op op, Wide a, Wide b, Wide *out)
{
    switch (op) {
    case OP_ADD: *out = a + b; return true;
    case OP_SUB: *out = a - b; return true;
    case OP_MUL: *out = (Wide)((UWide)a * (UWide)b); return true;
    case OP_FLOORDIV: *out = floor_div(a, b); return true;
    case OP_FLOORMOD: *out = a - floor_div(a, b) * b; return true;
    case OP_TRUNCDIV: *out = a / b; return true;
    case OP_TRUNCMOD: *out = a % b; return true;
    case OP_BITAND: *out = a & b; return true;
    case OP_BITOR: *out = a | b; return true;
    case OP_BITXOR: *out = a ^ b; return true;
    case OP_SHL: *out = shift_left(a, b); return true;
    case OP_SHR: *out = shift_right(a, b); return true;
    case OP_MIN: *out = a < b ? a : b; return true;
    case OP_MAX: *out = a > b ? a : b; return true;
    case OP_EQ: *out = a == b; return true;
    case OP_NE: *out = a != b; return true;
    case OP_LT: *out = a < b; return true;
    case OP_LE: *out = a <= b; return true;
    default: return false;
    }
}

static bool is_comparison(Op op)
{
    return op == OP_EQ || op == OP_NE || op == OP_LT || op == OP_LE;
}

// Both constant. Signed overflow is an error, unsigned arithmetic wraps.
static IrExpr *fold_constants(IrKernel *k, Op op, IrExpr *a, IrExpr *b, Span at,
                              bool *failed)
{
    Wide v;
    if (!compute(op, int_value(a), int_value(b), &v))
        return NULL;
    DType t = is_comparison(op) ? DT_BOOL : a->dtype;
    if (op == OP_SHL || dtype_info(t)->kind == KIND_UINT)
        v = int_wrap(t, v);
    if (int_fits(t, v))
        return int_const(k, t, v, at);
    char x[48], y[48];
    wide_text(x, int_value(a));
    wide_text(y, int_value(b));
    *failed = true;
    return ir_error(k, at, "ir-overflow", "%s %s %s overflows %s", x,
                    op_info(k->ops, op)->surface, y, dtype_info(t)->name);
}

static bool is_const(const IrExpr *e, Wide v)
{
    return e->kind == EXPR_INT && int_value(e) == v;
}

// (x + c1) + c2 is x + (c1 + c2), likewise with minus signs.
static IrExpr *fold_sum(IrKernel *k, Op op, IrExpr *a, IrExpr *b, Span at)
{
    if (b->kind != EXPR_INT || a->kind != EXPR_OP ||
        (a->op != OP_ADD && a->op != OP_SUB) || a->args[1]->kind != EXPR_INT)
        return NULL;
    Wide c1 = int_value(a->args[1]), c2 = int_value(b);
    Wide c = (a->op == OP_ADD ? c1 : -c1) + (op == OP_ADD ? c2 : -c2);
    if (!int_fits(a->dtype, c) || !int_fits(a->dtype, -c))
        return NULL;
    IrExpr *magnitude = int_const(k, a->dtype, c < 0 ? -c : c, at);
    return ir_op2(k, c < 0 ? OP_SUB : OP_ADD, a->args[0], magnitude, at);
}

// (x * c1) * c2 is x * (c1 * c2).
static IrExpr *fold_product(IrKernel *k, IrExpr *a, IrExpr *b, Span at)
{
    if (b->kind != EXPR_INT || a->kind != EXPR_OP || a->op != OP_MUL ||
        a->args[1]->kind != EXPR_INT ||
        dtype_info(a->dtype)->kind != KIND_INT)
        return NULL;
    Wide c = int_value(a->args[1]) * int_value(b);
    return int_fits(a->dtype, c) ? ir_op2(k, OP_MUL, a->args[0],
                                          int_const(k, a->dtype, c, at), at)
                                 : NULL;
}

static IrExpr *simplify(IrKernel *k, Op op, IrExpr *a, IrExpr *b, Span at)
{
    IrExpr *e;
    switch (op) {
    case OP_ADD:
        if (is_const(a, 0))
            return b;
        return is_const(b, 0) ? a : fold_sum(k, op, a, b, at);
    case OP_SUB:
        if (is_const(b, 0))
            return a;
        e = fold_sum(k, op, a, b, at);
        return e ? e : fold_difference(k, a, b, at);
    case OP_MUL:
        if (is_const(a, 1) || is_const(b, 0))
            return b;
        if (is_const(b, 1) || is_const(a, 0))
            return a;
        return fold_product(k, a, b, at);
    case OP_FLOORDIV: case OP_TRUNCDIV:
        return is_const(b, 1) ? a : NULL;
    case OP_FLOORMOD: case OP_TRUNCMOD:
        return is_const(b, 1) ? int_const(k, a->dtype, 0, at) : NULL;
    case OP_SHL: case OP_SHR:
        return is_const(b, 0) ? a : NULL;
    case OP_MIN: case OP_MAX:
        return ir_same(a, b) ? a : NULL;
    default:
        return NULL;
    }
}

IrExpr *fold_int_op(IrKernel *k, Op op, IrExpr *a, IrExpr *b, Span at,
                    bool *failed)
{
    if (a->kind == EXPR_INT && b->kind == EXPR_INT)
        return fold_constants(k, op, a, b, at, failed);
    return simplify(k, op, a, b, at);
}

// ---- sizes ------------------------------------------------------------------

static bool linear_op(const IrExpr *e, IrLinear *out)
{
    int64_t n;
    int constant = ir_is_int(e->args[1], &n) ? 1 : 0;
    if (!ir_is_int(e->args[constant], &n) ||
        !ir_linear(e->args[1 - constant], out))
        return false;
    if (e->op == OP_MUL)
        return n && !__builtin_mul_overflow(out->factor, n, &out->factor) &&
               !__builtin_mul_overflow(out->offset, n, &out->offset);
    if (e->op == OP_SUB && constant == 1)
        return !__builtin_sub_overflow(out->offset, n, &out->offset);
    return e->op == OP_ADD &&
           !__builtin_add_overflow(out->offset, n, &out->offset);
}

bool ir_linear(const IrExpr *e, IrLinear *out)
{
    if (e->kind == EXPR_CAST)
        return dtype_is_int(e->dtype) && ir_linear(e->args[0], out);
    if (e->kind == EXPR_OP && e->count == 2)
        return linear_op(e, out);
    if (e->kind != EXPR_VAR || e->var->kind != VAR_SYMBOL)
        return false;
    *out = (IrLinear){e->var, 1, 0};
    return true;
}

bool ir_linear_solve(const IrLinear *l, int64_t size, int64_t *out)
{
    if (__builtin_sub_overflow(size, l->offset, &size) || size % l->factor)
        return false;
    *out = size / l->factor;
    return true;
}
