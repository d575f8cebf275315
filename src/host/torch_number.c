// torch_number.c - which dtype an operation has, and elementwise operations.
#include <math.h>

#include "host/torch_int.h"

// ---- promotion --------------------------------------------------------------

enum { CAT_NONE = -1, CAT_BOOL, CAT_INT, CAT_FLOAT };

static int category(DType t)
{
    return t == DT_NONE ? CAT_NONE : t == DT_BOOL ? CAT_BOOL
           : dtype_is_float(t) ? CAT_FLOAT : CAT_INT;
}

static DType wider_int(DType a, DType b)
{
    const DTypeInfo *x = dtype_info(a), *y = dtype_info(b);
    if (x->kind == y->kind)
        return x->bits >= y->bits ? a : b;
    int u = x->kind == KIND_UINT ? x->bits : y->bits;
    int s = x->kind == KIND_UINT ? y->bits : x->bits;
    DType sign = x->kind == KIND_UINT ? b : a;
    if (s > u)
        return sign;
    return u <= 8 ? DT_I16 : u <= 16 ? DT_I32 : DT_I64;
}

DType torch_promote_types(DType a, DType b)
{
    if (a == b || b == DT_NONE)
        return a;
    if (a == DT_NONE)
        return b;
    if (category(a) != category(b))
        return category(a) > category(b) ? a : b;
    if (category(a) == CAT_INT)
        return wider_int(a, b);
    if (dtype_is_fp8(a) || dtype_is_fp8(b))
        return dtype_is_fp8(a) && dtype_is_fp8(b) ? DT_F32
               : dtype_is_fp8(a) ? b : a;
    if (dtype_info(a)->bits == dtype_info(b)->bits)
        return DT_F32;          // f16 with bf16
    return dtype_info(a)->bits > dtype_info(b)->bits ? a : b;
}

static DType number_type(const Host *h, Value v)
{
    return v.kind == VAL_FLOAT ? torch_float(h)
           : v.kind == VAL_BOOL ? DT_BOOL : DT_I64;
}

// The higher rank decides unless the lower is of a higher category.
static DType combine(DType high, DType low)
{
    if (category(high) == CAT_BOOL && category(low) == CAT_BOOL)
        return DT_BOOL;
    return category(high) >= category(low) ? high : low;
}

// Tensors with dimensions outrank those without, and those outrank numbers.
DType torch_promote_list(Host *h, const Value *in, int count)
{
    DType rank[3] = {DT_NONE, DT_NONE, DT_NONE};
    for (int i = 0; i < count; i++) {
        Tensor *t = tensor_of(in[i]);
        int r = !t ? 2 : t->rank == 0 ? 1 : 0;
        rank[r] = torch_promote_types(rank[r],
                                      t ? t->dtype : number_type(h, in[i]));
    }
    return combine(rank[0], combine(rank[1], rank[2]));
}

DType torch_promote(Host *h, Value a, Value b)
{
    Value in[2] = {a, b};
    return torch_promote_list(h, in, 2);
}

DType torch_dtype(const Host *h, DType t)
{
    return h->f64 && dtype_is_float(t) && !dtype_is_fp8(t) ? DT_F64 : t;
}

DType torch_float(const Host *h)
{
    return torch_dtype(h, h->default_float ? h->default_float : DT_F32);
}

DType torch_asked_dtype(Host *h, Value v, DType fallback, Span at)
{
    DType t = torch_given(v) ? value_to_dtype(h->lang, v, at) : fallback;
    if (!dtype_info(t)->built)
        lang_unsupported(h->lang, at, "tensors of dtype %s",
                         dtype_info(t)->name);
    return torch_dtype(h, t);
}

// ---- operands ---------------------------------------------------------------

static Operand operand_of(Host *h, Value v, Span at)
{
    if (tensor_of(v))
        return (Operand){.t = torch_tensor(h, v, "an operand", at)};
    if (v.kind == VAL_FLOAT) {
        bool fits = fabs(v.f) < 9.2e18;
        return (Operand){.f64 = v.f, .i64 = fits ? (int64_t)v.f : 0};
    }
    if (!torch_is_number(v))
        lang_raise(h->lang, "TypeError", at,
                   "expected a tensor or a number, found %s",
                   value_type_name(v));
    int64_t i = v.kind == VAL_INT ? v.i : v.b;
    return (Operand){.f64 = (double)i, .i64 = i};
}

void torch_shape_words(TextBuf *b, const Tensor *t)
{
    buf_addc(b, '[');
    for (int d = 0; d < t->rank; d++)
        buf_printf(b, "%s%lld", d ? ", " : "", (long long)t->shape[d]);
    buf_addc(b, ']');
}

static _Noreturn void do_not_broadcast(Host *h, const Tensor *a,
                                       const Tensor *b, Span at)
{
    TextBuf m = {0};
    torch_shape_words(&m, a);
    buf_puts(&m, " and ");
    torch_shape_words(&m, b);
    Text t = text_copy(h->options.arena, buf_view(&m));
    buf_release(&m);
    lang_raise(h->lang, "RuntimeError", at,
               "shapes %.*s do not fit together", TEXT_ARG(t));
}

static bool reuses(const Tensor *t, DType result, const Tensor *shape)
{
    return t && t->dtype == result && tensor_same_shape(t, shape);
}

Value torch_elementwise(Host *h, LaneOp op, const Value *in, int count,
                        DType compute, DType result, Span at)
{
    Operand operands[3] = {{0}};
    Tensor shape = {0}, out, *reuse = NULL;
    if (result == DT_NONE)
        result = compute;
    for (int i = 0; i < count; i++) {
        operands[i] = operand_of(h, in[i], at);
        const Tensor *t = operands[i].t;
        Tensor next = {0};
        if (!t)
            continue;
        if (!broadcast_shapes(&shape, t, &next.rank, next.shape))
            do_not_broadcast(h, &shape, t, at);
        shape = next;
    }
    for (int i = 0; i < count && !reuse; i++)
        if (reuses(torch_steal(in[i]), result, &shape))
            reuse = torch_steal(in[i]);
    bool ok = tensor_map(&h->heap, &out, op, compute, result, shape.rank,
                         shape.shape, operands, count, reuse);
    if (ok && reuse && out.storage == reuse->storage)
        tensor_release(reuse);              // it is out's now
    return torch_result(h, ok, out, at);
}

Value torch_binary(Host *h, LaneOp op, Value a, Value b, DType result, Span at)
{
    Value in[2] = {a, b};
    return torch_elementwise(h, op, in, 2, torch_promote(h, a, b), result, at);
}

// A number is rounded to what it is compared in.
Value torch_compare(Host *h, AstOp op, Value a, Value b, Span at)
{
    bool swap = op == AST_OP_GT || op == AST_OP_GE;
    LaneOp row = op == AST_OP_EQ ? LANE_OP_EQ : op == AST_OP_NE ? LANE_OP_NE
                 : op == AST_OP_LT || op == AST_OP_GT ? LANE_OP_LT
                                                      : LANE_OP_LE;
    DType t = torch_promote(h, a, b);
    Value in[2] = {swap ? b : a, swap ? a : b};
    for (int i = 0; i < 2; i++)
        if (in[i].kind == VAL_FLOAT && dtype_is_float(t) && !dtype_is_fp8(t))
            in[i].f = num_round_f64(t, in[i].f);
    return torch_elementwise(h, row, in, 2, t, DT_BOOL, at);
}

Value torch_unary(Host *h, LaneOp op, Value a, Span at)
{
    Tensor *t = torch_tensor(h, a, "the argument", at);
    bool native = lane_op_has(op, lane_type_of(t->dtype))
                  && t->dtype != DT_BOOL;
    DType compute = native ? t->dtype : torch_float(h);
    return torch_elementwise(h, op, &a, 1, compute, DT_NONE, at);
}

Value torch_extreme(Host *h, Value a, Value b, bool max, Span at)
{
    bool f = dtype_is_float(torch_promote(h, a, b));
    LaneOp op = max ? (f ? LANE_OP_MAXNAN : LANE_OP_MAX)
                    : (f ? LANE_OP_MINNAN : LANE_OP_MIN);
    return torch_binary(h, op, a, b, DT_NONE, at);
}

Value torch_select(Host *h, Value c, Value a, Value b, DType t, Span at)
{
    Value in[3] = {c, a, b};
    return torch_elementwise(h, LANE_OP_SELECT, in, 3, t, DT_NONE, at);
}

Value torch_cast(Host *h, Value v, DType t, Span at)
{
    Tensor *x = torch_tensor(h, v, "the argument", at), out;
    if (!dtype_info(t)->built)
        lang_unsupported(h->lang, at, "tensors of dtype %s",
                         dtype_info(t)->name);
    if (x->dtype == t)
        return v;
    return torch_result(h, tensor_cast(&out, x, t, false), out, at);
}

Value torch_to_bool(Host *h, Value v, Span at)
{
    Tensor *t = torch_tensor(h, v, "the argument", at);
    return t->dtype == DT_BOOL ? v
                               : torch_compare(h, AST_OP_NE, v, v_int(0), at);
}

// ---- operators --------------------------------------------------------------

static Value divide(Host *h, Value a, Value b, Span at)
{
    DType t = torch_promote(h, a, b);
    Value in[2] = {a, b};
    if (!dtype_is_float(t))
        t = torch_float(h);
    return torch_elementwise(h, LANE_OP_DIV, in, 2, t, DT_NONE, at);
}

static bool holds_zero(const Tensor *t)
{
    char *at;
    Tensor whole;
    bool zero = false;
    if (!tensor_contiguous(&whole, t))
        return false;
    at = tensor_data(&whole);
    for (int64_t i = 0; i < tensor_count(t) && !zero; i++)
        zero = num_get_i64(t->dtype, at + dtype_bytes(t->dtype, i)) == 0;
    tensor_release(&whole);
    return zero;
}

static Value whole_division(Host *h, LaneOp floats, LaneOp ints, Value a,
                            Value b, Span at)
{
    bool f = dtype_is_float(torch_promote(h, a, b));
    bool zero = !f && (tensor_of(b) ? holds_zero(tensor_of(b))
                                    : b.kind == VAL_INT ? b.i == 0 : !b.b);
    if (zero)
        lang_raise(h->lang, "RuntimeError", at, "ZeroDivisionError");
    return torch_binary(h, f ? floats : ints, a, b, DT_NONE, at);
}

// x ** 2 is x * x, as torch computes it.
static Value power(Host *h, Value a, Value b, Span at)
{
    bool f = tensor_of(a) && dtype_is_float(tensor_of(a)->dtype);
    if (f && b.kind == VAL_INT && b.i == 2)
        return torch_binary(h, LANE_OP_MUL, a, a, DT_NONE, at);
    if (f && b.kind == VAL_FLOAT && b.f == 2)
        return torch_binary(h, LANE_OP_MUL, a, a, DT_NONE, at);
    if (f && b.kind == VAL_FLOAT && b.f == 0.5)
        return torch_unary(h, LANE_OP_SQRT, a, at);
    if (f && b.kind == VAL_FLOAT && b.f == -0.5)
        return torch_unary(h, LANE_OP_RSQRT, a, at);
    if (!dtype_is_float(torch_promote(h, a, b)) && b.kind == VAL_INT && b.i < 0)
        lang_raise(h->lang, "RuntimeError", at,
                   "integers to negative integer powers are not allowed");
    return torch_binary(h, LANE_OP_POW, a, b, DT_NONE, at);
}

static LaneOp lane_of(AstOp op)
{
    switch (op) {
    case AST_OP_ADD:
        return LANE_OP_ADD;
    case AST_OP_SUB:
        return LANE_OP_SUB;
    case AST_OP_MUL:
        return LANE_OP_MUL;
    case AST_OP_AND:
        return LANE_OP_AND;
    case AST_OP_OR:
        return LANE_OP_OR;
    case AST_OP_XOR:
        return LANE_OP_XOR;
    case AST_OP_SHL:
        return LANE_OP_SHL;
    case AST_OP_SHR:
        return LANE_OP_SHR;
    default:
        return LANE_OP_COUNT;
    }
}

// What only integers have, and what bool has not.
static void check_kinds(Host *h, AstOp op, LaneOp lane, DType t, Span at)
{
    bool bits = !lane_op_has(lane, LANE_F32);
    if (bits && dtype_is_float(t))
        lang_raise(h->lang, "RuntimeError", at,
                   "bitwise operations are not there for %s",
                   dtype_info(t)->name);
    if (op == AST_OP_SUB && t == DT_BOOL)
        lang_raise(h->lang, "RuntimeError", at,
                   "subtraction of two bool tensors is not there: use ^ or "
                   "logical_xor()");
}

bool torch_operator(Host *h, AstOp op, Value a, Value b, Value *out, Span at)
{
    bool known = (tensor_of(a) || torch_is_number(a))
                 && (tensor_of(b) || torch_is_number(b));
    LaneOp lane = lane_of(op);
    if (!known || op == AST_OP_IS || op == AST_OP_IS_NOT)
        return false;
    if (op == AST_OP_MATMUL)
        *out = torch_matmul(h, a, b, at);
    else if (op == AST_OP_DIV)
        *out = divide(h, a, b, at);
    else if (op == AST_OP_FLOORDIV)
        *out = whole_division(h, LANE_OP_PYDIV, LANE_OP_FLOORDIV, a, b, at);
    else if (op == AST_OP_MOD)
        *out = whole_division(h, LANE_OP_PYMOD, LANE_OP_FLOORMOD, a, b, at);
    else if (op == AST_OP_POW)
        *out = power(h, a, b, at);
    else if (op >= AST_OP_EQ && op <= AST_OP_GE)
        *out = torch_compare(h, op, a, b, at);
    else if (lane != LANE_OP_COUNT) {
        check_kinds(h, op, lane, torch_promote(h, a, b), at);
        *out = torch_binary(h, lane, a, b, DT_NONE, at);
    } else {
        return false;
    }
    return true;
}
