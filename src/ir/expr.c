// expr.c - operators and functions: the typing rules of tilelang_surface 4.2.
//
// Each row of the op table that is an expression has one rule: a function that
// checks the operands, brings them to one dtype and builds the node, or the
// simpler expression it stands for.
#include "ir/ir_int.h"

#include <math.h>

typedef struct {
    IrKernel *k;
    Op op;
    IrExpr *a[4];
    int n;
    Span at;
} Call;

typedef IrExpr *Rule(Call *c);

static const char *name_of(const IrExpr *e)
{
    return dtype_info(e->dtype)->name;
}

static const char *surface(const Call *c)
{
    return op_info(c->k->ops, c->op)->surface;
}

static IrExpr *node(Call *c, DType t)
{
    IrExpr *e = new_expr(c->k, EXPR_OP, t, c->at, c->n, c->a);
    if (e)
        e->op = c->op;
    return e;
}

// ---- matching dtypes --------------------------------------------------------

static bool is_ieee(DType t)
{
    return t == DT_F16 || t == DT_F32 || t == DT_F64;
}

static DType wider(DType a, DType b)
{
    return dtype_info(a)->bits >= dtype_info(b)->bits ? a : b;
}

// Integers and bool. Of one signedness the wider; else the wider, and the
// unsigned one when they are equally wide. bool counts as one unsigned bit.
static DType match_ints(DType a, DType b)
{
    if (a == DT_BOOL || b == DT_BOOL)
        return a == DT_BOOL ? b : a;
    int a_bits = dtype_info(a)->bits, b_bits = dtype_info(b)->bits;
    if (a_bits != b_bits)
        return a_bits > b_bits ? a : b;
    return dtype_info(a)->kind == KIND_UINT ? a : b;
}

// The dtype two operands are brought to (4.2); literal rules included.
static DType ir_match_dtype(const IrExpr *x, const IrExpr *y)
{
    DType a = x->dtype, b = y->dtype;
    if (a == b)
        return a;
    if (is_ieee(a) || is_ieee(b)) {
        if (is_ieee(a) && is_ieee(b))
            return wider(a, b);
        return is_ieee(a) ? a : b;
    }
    if (a == DT_BF16 || b == DT_BF16)
        return DT_BF16;
    if (dtype_is_float(a) && dtype_is_float(b))
        return DT_NONE;             // two different 8-bit floats
    if (dtype_is_float(a) || dtype_is_float(b))
        return dtype_is_float(a) ? a : b;
    return match_ints(a, b);
}

// Brings the first two operands to their common dtype.
static bool match(Call *c)
{
    DType t = ir_match_dtype(c->a[0], c->a[1]);
    if (t == DT_NONE)
        return ir_error(c->k, c->at, "ir-type",
                        "%s cannot combine %s and %s; convert one with T.cast",
                        surface(c), name_of(c->a[0]), name_of(c->a[1]));
    for (int i = 0; i < 2; i++)
        c->a[i] = ir_cast(c->k, c->a[i], t, true, c->a[i]->at);
    return c->a[0] && c->a[1];
}

static bool is_int_kind(const IrExpr *e)
{
    return dtype_is_int(e->dtype);
}

static bool is_bool(const IrExpr *e)
{
    return e->dtype == DT_BOOL;
}

static bool is_float(const IrExpr *e)
{
    return dtype_is_float(e->dtype);
}

// Every operand must be of a kind; `what` names it.
static bool require(Call *c, bool (*is)(const IrExpr *), const char *what)
{
    for (int i = 0; i < c->n; i++)
        if (!is(c->a[i]))
            return ir_error(c->k, c->at, "ir-type",
                            "%s applies to %s, and this is %s", surface(c),
                            what, name_of(c->a[i]));
    return true;
}

// Folds when the matched operands are integers.
static IrExpr *fold_or_node(Call *c, DType result)
{
    if (!is_float(c->a[0])) {
        bool failed = false;
        IrExpr *e = fold_int_op(c->k, c->op, c->a[0], c->a[1], c->at, &failed);
        if (e || failed)
            return e;
    }
    return node(c, result);
}

// ---- rules ------------------------------------------------------------------

static bool not_bool(const IrExpr *e)
{
    return e->dtype != DT_BOOL;
}

// Truth values as the numbers 0 and 1 of which only "not 0" is kept.
static IrExpr *of_truths(Call *c, Op op)
{
    c->op = op;
    return fold_or_node(c, DT_BOOL);
}

// + - *
static IrExpr *rule_arithmetic(Call *c)
{
    if (is_bool(c->a[0]) && is_bool(c->a[1]))
        return of_truths(c, c->op == OP_ADD   ? OP_BITOR
                            : c->op == OP_SUB ? OP_BITXOR
                                              : OP_BITAND);
    if (!match(c) || !require(c, not_bool, "numbers"))
        return NULL;
    return fold_or_node(c, c->a[0]->dtype);
}

static bool is_zero(const IrExpr *e)
{
    return (e->kind == EXPR_INT && e->i64 == 0) ||
           (e->kind == EXPR_FLOAT && e->f64 == 0);
}

static bool divisor(Call *c)
{
    if (!is_zero(c->a[1]))
        return true;
    return ir_error(c->k, c->at, "ir-zero-division", "division by zero");
}

static bool is_unsigned(const IrExpr *e)
{
    return dtype_info(e->dtype)->kind == KIND_UINT;
}

static IrExpr *rule_divide(Call *c)
{
    if (is_unsigned(c->a[0]) && is_unsigned(c->a[1])) {     // as C divides
        c->op = OP_TRUNCDIV;
        return match(c) && divisor(c) ? fold_or_node(c, c->a[0]->dtype) : NULL;
    }
    if (!is_float(c->a[0]) && !is_float(c->a[1]))
        return ir_error(c->k, c->at, "ir-int-division",
                        "'/' on %s and %s: integers have no '/'; use '//', or "
                        "T.cast to a float first", name_of(c->a[0]),
                        name_of(c->a[1]));
    return match(c) && divisor(c) ? node(c, c->a[0]->dtype) : NULL;
}

// // % truncdiv truncmod
static IrExpr *rule_int_divide(Call *c)
{
    bool fmod = c->op == OP_TRUNCMOD && c->a[0]->dtype == c->a[1]->dtype &&
                (c->a[0]->dtype == DT_F32 || c->a[0]->dtype == DT_F64);

    if (fmod) {
        c->op = OP_FMOD;
        return node(c, c->a[0]->dtype);
    }
    if (!require(c, is_int_kind, "integers") || !match(c) || !divisor(c))
        return NULL;
    return fold_or_node(c, c->a[0]->dtype);
}

// max min: an infinity decides or drops out.
static IrExpr *rule_extreme(Call *c)
{
    for (int i = 0; i < 2; i++) {
        IrExpr *e = c->a[i];
        if (e->kind == EXPR_FLOAT && isinf(e->f64))
            return (e->f64 > 0) == (c->op == OP_MAX) ? e : c->a[1 - i];
    }
    if (is_bool(c->a[0]) && is_bool(c->a[1]))
        return of_truths(c, c->op == OP_MAX ? OP_BITOR : OP_BITAND);
    if (!match(c) || !require(c, not_bool, "numbers"))
        return NULL;
    return ir_same(c->a[0], c->a[1]) ? c->a[0]
                                     : fold_or_node(c, c->a[0]->dtype);
}

static bool is_bits(const IrExpr *e)
{
    return !is_float(e);
}

static IrExpr *rule_bits(Call *c)
{
    if (!require(c, is_bits, "integers") || !match(c))
        return NULL;
    return fold_or_node(c, c->a[0]->dtype);
}

static IrExpr *rule_shift(Call *c)
{
    int64_t n;
    if (!require(c, is_int_kind, "integers") || !match(c))
        return NULL;
    int bits = dtype_info(c->a[0]->dtype)->bits;
    if (ir_is_int(c->a[1], &n) && (n < 0 || n >= bits))
        return ir_error(c->k, c->at, "ir-shift",
                        "shift by %lld: %s has %d bits", (long long)n,
                        name_of(c->a[0]), bits);
    return fold_or_node(c, c->a[0]->dtype);
}

static IrExpr *rule_compare(Call *c)
{
    return match(c) ? fold_or_node(c, DT_BOOL) : NULL;
}

// > and >=
static IrExpr *rule_exchanged(Call *c)
{
    return ir_op2(c->k, c->op == OP_GT ? OP_LT : OP_LE, c->a[1], c->a[0],
                  c->at);
}

// and or
static IrExpr *rule_logic(Call *c)
{
    if (!require(c, is_bool, "conditions (bool)"))
        return NULL;
    for (int i = 0; i < 2; i++)
        if (c->a[i]->kind == EXPR_INT)
            return (c->a[i]->i64 != 0) == (c->op == OP_AND) ? c->a[1 - i]
                                                            : c->a[i];
    return node(c, DT_BOOL);
}

static IrExpr *rule_not(Call *c)
{
    if (!require(c, is_bool, "conditions (bool)"))
        return NULL;
    IrExpr *e = c->a[0];
    return e->kind == EXPR_INT ? ir_int(c->k, DT_BOOL, !e->i64, c->at)
                               : node(c, DT_BOOL);
}

static IrExpr *rule_negate(Call *c)
{
    IrExpr *e = c->a[0];
    if (!require(c, not_bool, "numbers"))
        return NULL;
    if (e->kind == EXPR_FLOAT)
        return ir_float(c->k, e->dtype, -e->f64, c->at);
    if (e->kind == EXPR_INT)
        return ir_op2(c->k, OP_SUB, ir_int(c->k, e->dtype, 0, c->at), e, c->at);
    return node(c, e->dtype);
}

static IrExpr *rule_complement(Call *c)
{
    if (!require(c, is_bits, "integers"))
        return NULL;
    if (is_bool(c->a[0]))
        return ir_op1(c->k, OP_NOT, c->a[0], c->at);
    if (c->a[0]->kind == EXPR_INT)
        return int_const(c->k, c->a[0]->dtype,
                         int_wrap(c->a[0]->dtype, ~int_value(c->a[0])), c->at);
    return node(c, c->a[0]->dtype);
}

enum { POWER_MAX = 64 };

// x * x * ... as upstream writes it, from the left.
static IrExpr *multiply_out(Call *c, int64_t n)
{
    if (n > POWER_MAX)
        return ir_error(c->k, c->at, "ir-too-deep",
                        "an integer exponent of %lld multiplies out; at most "
                        "%d is possible, write a float exponent",
                        (long long)n, POWER_MAX);
    IrExpr *x = c->a[0], *product = x;
    for (int64_t i = 1; i < n; i++)
        product = ir_op2(c->k, OP_MUL, product, x, c->at);
    return product;
}

static IrExpr *rule_power(Call *c)
{
    int64_t n;
    if (!require(c, not_bool, "numbers"))
        return NULL;
    if (ir_is_int(c->a[1], &n) && n == 0)
        return ir_int(c->k, c->a[0]->dtype, 1, c->at);
    if (ir_is_int(c->a[1], &n) && n > 0)
        return multiply_out(c, n);
    if (!match(c) ||
        !require(c, is_float, "floats (or a constant exponent >= 0)"))
        return NULL;
    return node(c, c->a[0]->dtype);
}

// One float operand, result of its dtype.
static IrExpr *rule_function(Call *c)
{
    return require(c, is_float, "floats") ? node(c, c->a[0]->dtype) : NULL;
}

// x * y + z
static IrExpr *rule_fused(Call *c)
{
    Call sum = {.k = c->k, .op = c->op, .n = 2, .at = c->at};
    if (!match(c))
        return NULL;
    sum.a[0] = c->a[0];
    sum.a[1] = c->a[2];
    if (!match(&sum))
        return NULL;
    c->a[0] = sum.a[0];
    c->a[1] = ir_cast(c->k, c->a[1], sum.a[0]->dtype, true, c->at);
    c->a[2] = sum.a[1];
    return require(c, is_float, "floats") ? node(c, c->a[0]->dtype) : NULL;
}

static IrExpr *rule_reciprocal(Call *c)
{
    if (!require(c, is_float, "floats"))
        return NULL;
    IrExpr *one = ir_float(c->k, c->a[0]->dtype, 1, c->at);
    return ir_op2(c->k, OP_DIV, one, c->a[0], c->at);
}

static IrExpr *rule_function2(Call *c)
{
    if (!match(c) || !require(c, is_float, "floats"))
        return NULL;
    return node(c, c->a[0]->dtype);
}

// exp of an integer is that of the float32, cut off.
static IrExpr *rule_exp(Call *c)
{
    IrExpr *whole = c->a[0];

    if (!is_int_kind(whole))
        return rule_function(c);
    c->a[0] = ir_cast(c->k, whole, DT_F32, true, c->at);
    return c->a[0] ? ir_cast(c->k, node(c, DT_F32), whole->dtype, true, c->at)
                   : NULL;
}

// floor ceil trunc round: integers are what they are.
static IrExpr *rule_round(Call *c)
{
    return is_float(c->a[0]) ? node(c, c->a[0]->dtype) : c->a[0];
}

static IrExpr *rule_abs(Call *c)
{
    IrExpr *e = c->a[0];
    if (!require(c, not_bool, "numbers"))
        return NULL;
    if (dtype_info(e->dtype)->kind == KIND_UINT)
        return e;
    if (e->kind == EXPR_FLOAT)
        return ir_float(c->k, e->dtype, fabs(e->f64), c->at);
    if (e->kind == EXPR_INT)
        return e->i64 < 0 ? ir_op1(c->k, OP_NEG, e, c->at) : e;
    return node(c, e->dtype);
}

// isnan isinf isfinite
static IrExpr *rule_classify(Call *c)
{
    if (!is_float(c->a[0]))
        return ir_int(c->k, DT_BOOL, c->op == OP_ISFINITE, c->at);
    return node(c, DT_BOOL);
}

// A narrow negative number has no bits beyond its own.
static IrExpr *rule_popcount(Call *c)
{
    if (!require(c, is_int_kind, "integers"))
        return NULL;
    DType t = c->a[0]->dtype;
    if (t == DT_I8 || t == DT_I16)
        c->a[0] = ir_cast(c->k, c->a[0], t == DT_I8 ? DT_U8 : DT_U16, true,
                          c->at);
    return ir_cast(c->k, node(c, c->a[0]->dtype), t, true, c->at);
}

// Counted in 32 bits, or 64; an int32 either way.
static IrExpr *rule_leading_zeros(Call *c)
{
    if (!require(c, is_int_kind, "integers"))
        return NULL;
    if (dtype_info(c->a[0]->dtype)->bits < 32)
        c->a[0] = ir_cast(c->k, c->a[0], DT_I32, true, c->at);
    return node(c, DT_I32);
}

static IrExpr *rule_clamp(Call *c)
{
    IrExpr *low = ir_op2(c->k, OP_MAX, c->a[0], c->a[1], c->at);
    return ir_op2(c->k, OP_MIN, low, c->a[2], c->at);
}

static IrExpr *rule_ceildiv(Call *c)
{
    IrExpr *one = ir_int(c->k, DT_I32, 1, c->at);
    IrExpr *sum = ir_op2(c->k, OP_ADD, c->a[0], c->a[1], c->at);
    return ir_op2(c->k, OP_FLOORDIV, ir_op2(c->k, OP_SUB, sum, one, c->at),
                  c->a[1], c->at);
}

static IrExpr *rule_align_up(Call *c)
{
    return ir_op2(c->k, OP_MUL, rule_ceildiv(c), c->a[1], c->at);
}

// T.Select and T.if_then_else: a[0] ? a[1] : a[2].
static bool match_sides(Call *c)
{
    if (!is_bool(c->a[0]))
        return ir_error(
            c->k, c->a[0]->at, "ir-type",
            "a condition is %s, not bool; compare it with something",
            name_of(c->a[0]));
    Call sides = {.k = c->k, .op = c->op, .a = {c->a[1], c->a[2]}, .n = 2,
                  .at = c->at};
    if (!match(&sides))
        return false;
    c->a[1] = sides.a[0];
    c->a[2] = sides.a[1];
    return true;
}

static IrExpr *rule_select(Call *c)
{
    if (!match_sides(c))
        return NULL;
    if (c->a[0]->kind == EXPR_INT)
        return c->a[0]->i64 ? c->a[1] : c->a[2];
    if (c->op == OP_IF_THEN_ELSE)
        return new_expr(c->k, EXPR_SELECT, c->a[1]->dtype, c->at, 3, c->a);
    return node(c, c->a[1]->dtype);
}

// ---- threads and warps ------------------------------------------------------

// T.get_thread_binding(dim)
static IrExpr *rule_thread(Call *c)
{
    int64_t dim;
    if (!ir_is_int(c->a[0], &dim) || dim < 0 || dim > 2)
        return ir_error(c->k, c->at, "ir-type",
                        "a thread has the dimensions 0, 1 and 2");
    return node(c, DT_I32);
}

// value, lane or distance, width
static IrExpr *rule_shuffle(Call *c)
{
    int64_t width;
    if (!ir_is_int(c->a[2], &width) || width < 1 || width > 64 ||
        (width & (width - 1)))
        return ir_error(c->k, c->at, "ir-type",
                        "%s: the width is a power of two up to the warp's size",
                        surface(c));
    c->a[1] = ir_cast(c->k, c->a[1], DT_I32, true, c->at);
    return c->a[1] ? node(c, c->a[0]->dtype) : NULL;
}

static IrExpr *rule_vote(Call *c)
{
    c->a[0] = ir_truth(c->k, c->a[0], c->at);
    if (!c->a[0])
        return NULL;
    bool mask = c->op == OP_BALLOT || c->op == OP_BALLOT_SYNC;
    return node(c, mask ? DT_U64 : DT_I32);
}

// seed, sequence, position
static IrExpr *rule_random(Call *c)
{
    for (int i = 0; i < 3; i++) {
        if (!is_int_kind(c->a[i]))
            return ir_error(c->k, c->at, "ir-type",
                            "T.rng_rand is of integers");
        c->a[i] = ir_cast(c->k, c->a[i], DT_U64, true, c->at);
        if (!c->a[i])
            return NULL;
    }
    return node(c, DT_U32);
}

// ... and the word: those of XORWOW, then those of MRG32k3a
static IrExpr *rule_random_state(Call *c)
{
    int64_t n;

    if (!ir_is_int(c->a[3], &n) || n < 0 ||
        n >= NUM_RANDOM_COUNT * NUM_RANDOM_WORDS)
        return ir_error(c->k, c->at, "ir-type",
                        "generators have no such word");
    return rule_random(c);
}

static IrExpr *rule_lanes_equal(Call *c)
{
    return node(c, DT_U32);
}

static IrExpr *rule_warp_reduce(Call *c)
{
    bool bits = c->op == OP_WARP_REDUCE_BITAND || c->op == OP_WARP_REDUCE_BITOR;
    if (!require(c, bits ? is_int_kind : not_bool, bits ? "integers"
                                                        : "numbers"))
        return NULL;
    return node(c, c->a[0]->dtype);
}

static const struct {
    Rule *rule;
    int arity;
} rules[OP_COUNT] = {
    [OP_GET_THREAD_BINDING] = {rule_thread, 1},
    [OP_RNG_RAND] = {rule_random, 3},   [OP_RNG_STATE] = {rule_random_state, 4},
    [OP_SHFL_SYNC] = {rule_shuffle, 3}, [OP_SHFL_XOR] = {rule_shuffle, 3},
    [OP_SHFL_UP] = {rule_shuffle, 3},   [OP_SHFL_DOWN] = {rule_shuffle, 3},
    [OP_ANY_SYNC] = {rule_vote, 1},     [OP_ALL_SYNC] = {rule_vote, 1},
    [OP_BALLOT_SYNC] = {rule_vote, 1},  [OP_BALLOT] = {rule_vote, 1},
    [OP_SYNCTHREADS_COUNT] = {rule_vote, 1},
    [OP_SYNCTHREADS_AND] = {rule_vote, 1},
    [OP_SYNCTHREADS_OR] = {rule_vote, 1},
    [OP_MATCH_ANY_SYNC] = {rule_lanes_equal, 1},
    [OP_MATCH_ALL_SYNC] = {rule_lanes_equal, 1},
    [OP_WARP_REDUCE_SUM] = {rule_warp_reduce, 1},
    [OP_WARP_REDUCE_MAX] = {rule_warp_reduce, 1},
    [OP_WARP_REDUCE_MIN] = {rule_warp_reduce, 1},
    [OP_WARP_REDUCE_BITAND] = {rule_warp_reduce, 1},
    [OP_WARP_REDUCE_BITOR] = {rule_warp_reduce, 1},
    [OP_ADD] = {rule_arithmetic, 2},    [OP_SUB] = {rule_arithmetic, 2},
    [OP_MUL] = {rule_arithmetic, 2},    [OP_DIV] = {rule_divide, 2},
    [OP_FLOORDIV] = {rule_int_divide, 2}, [OP_FLOORMOD] = {rule_int_divide, 2},
    [OP_TRUNCDIV] = {rule_int_divide, 2}, [OP_TRUNCMOD] = {rule_int_divide, 2},
    [OP_POW] = {rule_power, 2},
    [OP_BITAND] = {rule_bits, 2},       [OP_BITOR] = {rule_bits, 2},
    [OP_BITXOR] = {rule_bits, 2},       [OP_SHL] = {rule_shift, 2},
    [OP_SHR] = {rule_shift, 2},
    [OP_EQ] = {rule_compare, 2},        [OP_NE] = {rule_compare, 2},
    [OP_LT] = {rule_compare, 2},        [OP_LE] = {rule_compare, 2},
    [OP_GT] = {rule_exchanged, 2},      [OP_GE] = {rule_exchanged, 2},
    [OP_AND] = {rule_logic, 2},         [OP_OR] = {rule_logic, 2},
    [OP_NOT] = {rule_not, 1},           [OP_NEG] = {rule_negate, 1},
    [OP_BITNOT] = {rule_complement, 1},
    [OP_MAX] = {rule_extreme, 2},       [OP_MIN] = {rule_extreme, 2},
    [OP_CLAMP] = {rule_clamp, 3},       [OP_FMOD] = {rule_function2, 2},
    [OP_IF_THEN_ELSE] = {rule_select, 3}, [OP_SELECT] = {rule_select, 3},
    [OP_CEILDIV] = {rule_ceildiv, 2},   [OP_ALIGN_UP] = {rule_align_up, 2},
    [OP_ABS] = {rule_abs, 1},
    [OP_EXP] = {rule_exp, 1},           [OP_EXP2] = {rule_function, 1},
    [OP_EXP10] = {rule_function, 1},    [OP_LOG] = {rule_function, 1},
    [OP_LOG2] = {rule_function, 1},     [OP_LOG10] = {rule_function, 1},
    [OP_LOG1P] = {rule_function, 1},    [OP_SQRT] = {rule_function, 1},
    [OP_RSQRT] = {rule_function, 1},    [OP_SIN] = {rule_function, 1},
    [OP_COS] = {rule_function, 1},      [OP_TAN] = {rule_function, 1},
    [OP_ASIN] = {rule_function, 1},     [OP_ACOS] = {rule_function, 1},
    [OP_ATAN] = {rule_function, 1},     [OP_ATAN2] = {rule_function2, 2},
    [OP_SINH] = {rule_function, 1},     [OP_COSH] = {rule_function, 1},
    [OP_TANH] = {rule_function, 1},     [OP_SIGMOID] = {rule_function, 1},
    [OP_ERF] = {rule_function, 1},
    [OP_FLOOR] = {rule_round, 1},       [OP_CEIL] = {rule_round, 1},
    [OP_TRUNC] = {rule_round, 1},       [OP_ROUND] = {rule_round, 1},
    [OP_ROUND_AWAY] = {rule_round, 1},
    [OP_ISNAN] = {rule_classify, 1},    [OP_ISINF] = {rule_classify, 1},
    [OP_ISFINITE] = {rule_classify, 1},
    [OP_POPCOUNT] = {rule_popcount, 1}, [OP_CLZ] = {rule_leading_zeros, 1},
    [OP_FAST_EXP] = {rule_function, 1}, [OP_FAST_EXP10] = {rule_function, 1},
    [OP_FAST_LOG] = {rule_function, 1}, [OP_FAST_LOG2] = {rule_function, 1},
    [OP_FAST_LOG10] = {rule_function, 1}, [OP_FAST_SIN] = {rule_function, 1},
    [OP_FAST_COS] = {rule_function, 1}, [OP_FAST_TAN] = {rule_function, 1},
    [OP_FAST_RCP] = {rule_reciprocal, 1}, [OP_IEEE_ADD] = {rule_function2, 2},
    [OP_IEEE_SUB] = {rule_function2, 2}, [OP_IEEE_MUL] = {rule_function2, 2},
    [OP_IEEE_FMAF] = {rule_fused, 3},   [OP_IEEE_FRCP] = {rule_reciprocal, 1},
    [OP_IEEE_FSQRT] = {rule_function, 1}, [OP_IEEE_FRSQRT] = {rule_function, 1},
    [OP_IEEE_FDIV] = {rule_function2, 2},
};

int ir_op_arity(Op op)
{
    return (unsigned)op < OP_COUNT ? rules[op].arity : 0;
}

IrExpr *ir_op(IrKernel *k, Op op, IrExpr *const *args, int n, Span at)
{
    if (!ir_op_arity(op))
        BUG("%s is no expression op", op_info(k->ops, op)->surface);
    if (n != rules[op].arity)
        BUG("%s takes %d operands, not %d", op_info(k->ops, op)->surface,
            rules[op].arity, n);
    Call c = {.k = k, .op = op, .n = n, .at = at};
    for (int i = 0; i < n; i++) {
        c.a[i] = args[i];
        if (!args[i])
            return NULL;
    }
    return rules[op].rule(&c);
}

IrExpr *ir_op1(IrKernel *k, Op op, IrExpr *a, Span at)
{
    return ir_op(k, op, &a, 1, at);
}

IrExpr *ir_op2(IrKernel *k, Op op, IrExpr *a, IrExpr *b, Span at)
{
    IrExpr *args[2] = {a, b};
    return ir_op(k, op, args, 2, at);
}

IrExpr *ir_select(IrKernel *k, IrExpr *c, IrExpr *t, IrExpr *f, Span at)
{
    IrExpr *args[3] = {c, t, f};
    return ir_op(k, OP_IF_THEN_ELSE, args, 3, at);
}

IrExpr *ir_truth(IrKernel *k, IrExpr *e, Span at)
{
    if (!e || is_bool(e))
        return e;
    return ir_op2(k, OP_NE, e, ir_int(k, e->dtype, 0, at), at);
}

// ---- conversions ------------------------------------------------------------

// A constant converted while building, or NULL. A float keeps the digits of
// the source: it is rounded once, to the dtype it ends up in.
static IrExpr *cast_constant(IrKernel *k, IrExpr *e, DType t)
{
    if (e->kind == EXPR_FLOAT) {
        if (dtype_is_float(t))
            return ir_float(k, t, e->f64, e->at);
        if (t == DT_BOOL)
            return ir_int(k, t, e->f64 != 0, e->at);
        if (!(fabs(e->f64) < 0x1p62) || !int_fits(t, (Wide)e->f64))
            return NULL;
        return int_const(k, t, (Wide)e->f64, e->at);
    }
    if (e->kind != EXPR_INT)
        return NULL;
    if (t == DT_BOOL)
        return ir_int(k, t, e->i64 != 0, e->at);
    if (!dtype_is_float(t))
        return int_const(k, t, int_wrap(t, int_value(e)), e->at);
    Wide v = int_value(e);
    bool exact = v <= ((Wide)1 << 53) && v >= -((Wide)1 << 53);
    return exact ? ir_float(k, t, (double)v, e->at) : NULL;
}

IrExpr *ir_cast(IrKernel *k, IrExpr *e, DType t, bool sat, Span at)
{
    if (!e || !dtype_usable(k, t, at))
        return NULL;
    if (e->dtype == t)
        return e;
    sat |= !dtype_is_fp8(t);
    IrExpr *folded = sat ? cast_constant(k, e, t) : NULL;
    if (folded)
        return folded;
    IrExpr *c = new_expr(k, EXPR_CAST, t, at, 1, &e);
    if (c)
        c->sat = sat;
    return c;
}

IrExpr *ir_reinterpret(IrKernel *k, IrExpr *e, DType t, Span at)
{
    if (!e || !dtype_usable(k, t, at))
        return NULL;
    if (dtype_info(e->dtype)->bits != dtype_info(t)->bits)
        return ir_error(k, at, "ir-type",
                        "cannot reinterpret %s (%d bits) as %s (%d bits)",
                        name_of(e), dtype_info(e->dtype)->bits,
                        dtype_info(t)->name, dtype_info(t)->bits);
    return e->dtype == t ? e : new_expr(k, EXPR_REINTERPRET, t, at, 1, &e);
}
