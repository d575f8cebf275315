// torch_math.c - elementwise functions and products, as torch names them.
#include <math.h>
#include <string.h>

#include "host/torch_int.h"

#define BIND(h, args, name, ...)                                               \
    static const char *const names_[] = {__VA_ARGS__};                         \
    Value v[countof(names_)];                                                  \
    args_bind((h)->lang, name, args, names_, countof(names_), v)

static bool given(Value v)
{
    return v.kind != VAL_UNBOUND && v.kind != VAL_NONE;
}

// ---- one operand: a row of lanes each --------------------------------------------

#define UNARY(name, op)                                                        \
    static Value fn_##name(Host *h, const Args *args)                          \
    {                                                                          \
        BIND(h, args, #name, "input");                                         \
        return torch_unary(h, LANE_OP_##op, v[0], args->at_span);              \
    }
UNARY(exp, EXP)
UNARY(exp2, EXP2)
UNARY(expm1, EXPM1)
UNARY(log, LOG)
UNARY(log2, LOG2)
UNARY(log10, LOG10)
UNARY(log1p, LOG1P)
UNARY(sqrt, SQRT)
UNARY(rsqrt, RSQRT)
UNARY(sin, SIN)
UNARY(cos, COS)
UNARY(tan, TAN)
UNARY(asin, ASIN)
UNARY(acos, ACOS)
UNARY(atan, ATAN)
UNARY(sinh, SINH)
UNARY(cosh, COSH)
UNARY(tanh, TANH)
UNARY(sigmoid, SIGMOID)
UNARY(erf, ERF)
UNARY(abs, ABS)
UNARY(sign, SIGN)
UNARY(neg, NEG)
UNARY(bitwise_not, BITNOT)
#undef UNARY

// Rounding leaves integers alone.
static Value rounding(Host *h, const Args *args, const char *name, LaneOp op)
{
    BIND(h, args, name, "input");
    Tensor *t = torch_tensor(h, v[0], "the argument", args->at_span);
    return dtype_is_float(t->dtype) ? torch_unary(h, op, v[0], args->at_span)
                                    : v[0];
}

#define ROUNDING(name, op)                                                     \
    static Value fn_##name(Host *h, const Args *args)                          \
    {                                                                          \
        return rounding(h, args, #name, LANE_OP_##op);                         \
    }
ROUNDING(floor, FLOOR)
ROUNDING(ceil, CEIL)
ROUNDING(trunc, TRUNC)
ROUNDING(round, RINT)
#undef ROUNDING

static Value test(Host *h, const Args *args, const char *name, LaneOp op)
{
    BIND(h, args, name, "input");
    Tensor *t = torch_tensor(h, v[0], "the argument", args->at_span);
    DType c = dtype_is_float(t->dtype) ? t->dtype : DT_F64;
    return torch_elementwise(h, op, v, 1, c, DT_BOOL, args->at_span);
}

static Value fn_isnan(Host *h, const Args *args)
{
    return test(h, args, "isnan", LANE_OP_ISNAN);
}

static Value fn_isinf(Host *h, const Args *args)
{
    return test(h, args, "isinf", LANE_OP_ISINF);
}

static Value fn_isfinite(Host *h, const Args *args)
{
    return test(h, args, "isfinite", LANE_OP_ISFINITE);
}

// ---- two operands ----------------------------------------------------------------------

static Value two(Host *h, const Args *args, const char *name, LaneOp op)
{
    BIND(h, args, name, "input", "other");
    return torch_binary(h, op, v[0], v[1], DT_NONE, args->at_span);
}

#define BINARY(name, op)                                                       \
    static Value fn_##name(Host *h, const Args *args)                          \
    {                                                                          \
        return two(h, args, #name, LANE_OP_##op);                              \
    }
BINARY(mul, MUL)
BINARY(floor_divide, FLOORDIV)
BINARY(remainder, FLOORMOD)
BINARY(fmod, TRUNCMOD)
BINARY(bitwise_and, AND)
BINARY(bitwise_or, OR)
BINARY(bitwise_xor, XOR)
BINARY(atan2, ATAN2)
#undef BINARY

// The larger or smaller; a NaN wins.
static Value extreme(Host *h, const Args *args, const char *name, bool max)
{
    BIND(h, args, name, "input", "other");
    bool f = dtype_is_float(torch_promote(h, v[0], v[1]));
    LaneOp op = max ? (f ? LANE_OP_MAXNAN : LANE_OP_MAX)
                    : (f ? LANE_OP_MINNAN : LANE_OP_MIN);
    return torch_binary(h, op, v[0], v[1], DT_NONE, args->at_span);
}

static Value fn_maximum(Host *h, const Args *args)
{
    return extreme(h, args, "maximum", true);
}

static Value fn_minimum(Host *h, const Args *args)
{
    return extreme(h, args, "minimum", false);
}

// a + alpha * b
static Value scaled(Host *h, const Args *args, const char *name, LaneOp op)
{
    BIND(h, args, name, "input", "other", "*", "alpha=");
    Value other = v[1];
    if (given(v[2]))
        other = torch_binary(h, LANE_OP_MUL, v[1], v[2], DT_NONE,
                             args->at_span);
    return torch_binary(h, op, v[0], other, DT_NONE, args->at_span);
}

static Value fn_add(Host *h, const Args *args)
{
    return scaled(h, args, "add", LANE_OP_ADD);
}

static Value fn_sub(Host *h, const Args *args)
{
    return scaled(h, args, "sub", LANE_OP_SUB);
}

static Value operator_of(Host *h, const Args *args, const char *name, AstOp op)
{
    BIND(h, args, name, "input", "other");
    Value out = V_NONE;
    if (!tensor_type.binary(h->lang, op, v[0], v[1], &out, args->at_span))
        lang_raise(h->lang, "TypeError", args->at_span,
                   "%s takes tensors and numbers", name);
    return out;
}

#define OPERATOR(name, op)                                                     \
    static Value fn_##name(Host *h, const Args *args)                          \
    {                                                                          \
        return operator_of(h, args, #name, AST_OP_##op);                       \
    }
OPERATOR(pow, POW)
OPERATOR(eq, EQ)
OPERATOR(ne, NE)
OPERATOR(lt, LT)
OPERATOR(le, LE)
OPERATOR(gt, GT)
OPERATOR(ge, GE)
#undef OPERATOR

static Value fn_div(Host *h, const Args *args)
{
    BIND(h, args, "div", "input", "other", "*", "rounding_mode=");
    Value out;
    if (given(v[2])) {
        bool down = v[2].kind == VAL_STR && text_is(v[2].s, "floor");
        return torch_binary(h, down ? LANE_OP_FLOORDIV : LANE_OP_TRUNCDIV, v[0],
                            v[1], DT_NONE, args->at_span);
    }
    tensor_type.binary(h->lang, AST_OP_DIV, v[0], v[1], &out, args->at_span);
    return out;
}

static Value to_bool(Host *h, Value v, Span at)
{
    Tensor *t = torch_tensor(h, v, "the argument", at);
    return t->dtype == DT_BOOL ? v : torch_compare(h, AST_OP_NE, v, v_int(0), at);
}

static Value logical(Host *h, const Args *args, const char *name, LaneOp op)
{
    BIND(h, args, name, "input", "other");
    Value in[2] = {to_bool(h, v[0], args->at_span),
                   to_bool(h, v[1], args->at_span)};
    return torch_elementwise(h, op, in, 2, DT_BOOL, DT_BOOL, args->at_span);
}

static Value fn_logical_and(Host *h, const Args *args)
{
    return logical(h, args, "logical_and", LANE_OP_AND);
}

static Value fn_logical_or(Host *h, const Args *args)
{
    return logical(h, args, "logical_or", LANE_OP_OR);
}

static Value fn_logical_xor(Host *h, const Args *args)
{
    return logical(h, args, "logical_xor", LANE_OP_XOR);
}

static Value fn_logical_not(Host *h, const Args *args)
{
    BIND(h, args, "logical_not", "input");
    Value in = to_bool(h, v[0], args->at_span);
    return torch_elementwise(h, LANE_OP_NOT, &in, 1, DT_BOOL, DT_BOOL,
                             args->at_span);
}

// ---- selections -----------------------------------------------------------------------------

static Value select_values(Host *h, Value c, Value a, Value b, DType t, Span at)
{
    Value in[3] = {c, a, b};
    return torch_elementwise(h, LANE_OP_SELECT, in, 3, t, DT_NONE, at);
}

static Value fn_where(Host *h, const Args *args)
{
    BIND(h, args, "where", "condition", "input", "other");
    Value c = to_bool(h, v[0], args->at_span);
    return select_values(h, c, v[1], v[2], torch_promote(h, v[1], v[2]),
                         args->at_span);
}

static Value fn_masked_fill(Host *h, const Args *args)
{
    BIND(h, args, "masked_fill", "input", "mask", "value");
    Tensor *t = torch_tensor(h, v[0], "the argument", args->at_span);
    Value c = to_bool(h, v[1], args->at_span);
    return select_values(h, c, v[2], v[0], t->dtype, args->at_span);
}

static Value fn_clamp(Host *h, const Args *args)
{
    BIND(h, args, "clamp", "input", "min=", "max=");
    Value x = v[0];
    bool f = dtype_is_float(torch_tensor(h, x, "the argument", args->at_span)
                                ->dtype);
    if (given(v[1]))
        x = torch_binary(h, f ? LANE_OP_MAXNAN : LANE_OP_MAX, x, v[1], DT_NONE,
                         args->at_span);
    if (given(v[2]))
        x = torch_binary(h, f ? LANE_OP_MINNAN : LANE_OP_MIN, x, v[2], DT_NONE,
                         args->at_span);
    return x;
}

static Value fn_relu(Host *h, const Args *args)
{
    BIND(h, args, "relu", "input", "inplace=");
    bool f = dtype_is_float(torch_tensor(h, v[0], "the argument", args->at_span)
                                ->dtype);
    return torch_binary(h, f ? LANE_OP_MAXNAN : LANE_OP_MAX, v[0], v_int(0),
                        DT_NONE, args->at_span);
}

// Computed in the wide type and rounded once, as torch's kernels do.
static DType wide(const Host *h, DType t)
{
    return torch_dtype(h, t == DT_F64 ? DT_F64 : DT_F32);
}

static Value narrow(Host *h, Value v, DType t, Span at)
{
    Tensor out;
    if (tensor_of(v)->dtype == t)
        return v;
    return torch_result(h, tensor_cast(&out, tensor_of(v), t, false), out, at);
}

static Value widen(Host *h, Value v, Span at)
{
    Tensor *t = torch_tensor(h, v, "the argument", at), out;
    DType w = wide(h, t->dtype);
    if (t->dtype == w)
        return v;
    return torch_result(h, tensor_cast(&out, t, w, false), out, at);
}

static Value fn_silu(Host *h, const Args *args)
{
    BIND(h, args, "silu", "input", "inplace=");
    DType t = torch_tensor(h, v[0], "the argument", args->at_span)->dtype;
    Value x = widen(h, v[0], args->at_span);
    Value keep = x;
    ((TensorObject *)keep.foreign)->foreign.bound = true;   // used twice
    Value s = torch_unary(h, LANE_OP_SIGMOID, x, args->at_span);
    s = torch_binary(h, LANE_OP_MUL, keep, s, DT_NONE, args->at_span);
    return narrow(h, s, t, args->at_span);
}

// x/2 (1 + erf(x / sqrt 2)), or the tanh form.
static Value fn_gelu(Host *h, const Args *args)
{
    BIND(h, args, "gelu", "input", "approximate=");
    Span at = args->at_span;
    DType t = torch_tensor(h, v[0], "the argument", at)->dtype;
    bool tanh_form = v[1].kind == VAL_STR && text_is(v[1].s, "tanh");
    Value x = widen(h, v[0], at), y;
    x.foreign->bound = true;                                // used several times
    if (tanh_form) {
        y = torch_binary(h, LANE_OP_MUL, x, x, DT_NONE, at);
        y = torch_binary(h, LANE_OP_MUL, y, x, DT_NONE, at);
        y = torch_binary(h, LANE_OP_MUL, y, v_float(0.044715), DT_NONE, at);
        y = torch_binary(h, LANE_OP_ADD, y, x, DT_NONE, at);
        y = torch_binary(h, LANE_OP_MUL, y, v_float(sqrt(2 / M_PI)), DT_NONE, at);
        y = torch_unary(h, LANE_OP_TANH, y, at);
    } else {
        y = torch_binary(h, LANE_OP_MUL, x, v_float(M_SQRT1_2), DT_NONE, at);
        y = torch_unary(h, LANE_OP_ERF, y, at);
    }
    y = torch_binary(h, LANE_OP_ADD, y, v_float(1), DT_NONE, at);
    y = torch_binary(h, LANE_OP_MUL, y, x, DT_NONE, at);
    y = torch_binary(h, LANE_OP_MUL, y, v_float(0.5), DT_NONE, at);
    return narrow(h, y, t, at);
}

static Value fn_reciprocal(Host *h, const Args *args)
{
    BIND(h, args, "reciprocal", "input");
    Value out;
    tensor_type.binary(h->lang, AST_OP_DIV, v_int(1), v[0], &out, args->at_span);
    return out;
}

static Value fn_square(Host *h, const Args *args)
{
    BIND(h, args, "square", "input");
    return torch_binary(h, LANE_OP_MUL, v[0], v[0], DT_NONE, args->at_span);
}

// ---- products ---------------------------------------------------------------------------------

static void check_product(Host *h, const Tensor *a, const Tensor *b, Span at)
{
    if (a->dtype != b->dtype)
        lang_raise(h->lang, "RuntimeError", at,
                   "expected one dtype, found %s and %s",
                   dtype_info(a->dtype)->name, dtype_info(b->dtype)->name);
    if (a->shape[a->rank - 1] != b->shape[b->rank - 2])
        lang_raise(h->lang, "RuntimeError", at,
                   "the inner sizes %lld and %lld of a matrix product differ",
                   (long long)a->shape[a->rank - 1],
                   (long long)b->shape[b->rank - 2]);
    for (int i = 3; i <= a->rank && i <= b->rank; i++) {
        int64_t x = a->shape[a->rank - i], y = b->shape[b->rank - i];
        if (x != y && x != 1 && y != 1)
            lang_raise(h->lang, "RuntimeError", at,
                       "batch sizes %lld and %lld do not fit together",
                       (long long)x, (long long)y);
    }
}

Value torch_matmul(Host *h, Value x, Value y, Span at)
{
    Tensor a = *torch_tensor(h, x, "the left operand", at), out;
    Tensor b = *torch_tensor(h, y, "the right operand", at);
    bool row = a.rank == 1, col = b.rank == 1;
    if (a.rank == 0 || b.rank == 0)
        lang_raise(h->lang, "RuntimeError", at,
                   "a matrix product needs at least one dimension");
    if (row)
        a = tensor_unsqueeze(&a, 0);
    if (col)
        b = tensor_unsqueeze(&b, 1);
    check_product(h, &a, &b, at);
    if (!tensor_matmul(&h->heap, &out, &a, &b, a.dtype))
        torch_no_memory(h, at);
    uint32_t drop = (col ? 1u << (out.rank - 1) : 0)
                    | (row ? 1u << (out.rank - 2) : 0);
    return tensor_value(h, tensor_squeeze(&out, drop));
}

static Value fn_matmul(Host *h, const Args *args)
{
    BIND(h, args, "matmul", "input", "other");
    return torch_matmul(h, v[0], v[1], args->at_span);
}

static Value fn_einsum(Host *h, const Args *args)
{
    const Tensor *in[8];
    Tensor out;
    const char *why;
    Lang *l = h->lang;
    if (args->count < 2 || args->at[0].kind != VAL_STR)
        lang_raise(l, "TypeError", args->at_span,
                   "einsum takes an equation and tensors");
    List rest = {.at = args->at + 1, .len = args->count - 1};
    if (rest.len == 1 && (rest.at[0].kind == VAL_LIST
                          || rest.at[0].kind == VAL_TUPLE))
        rest = *rest.at[0].list;
    if (rest.len > 8)
        lang_unsupported(l, args->at_span, "einsum of more than 8 tensors");
    for (int i = 0; i < rest.len; i++) {
        in[i] = torch_tensor(h, rest.at[i], "an operand", args->at_span);
        if (in[i]->dtype != in[0]->dtype)
            lang_raise(l, "RuntimeError", args->at_span,
                       "expected one dtype, found %s and %s",
                       dtype_info(in[0]->dtype)->name,
                       dtype_info(in[i]->dtype)->name);
    }
    if (!tensor_einsum(&h->heap, &out, args->at[0].s, in, rest.len,
                       in[0]->dtype, &why)) {
        if (why)
            lang_raise(l, "ValueError", args->at_span, "einsum '%.*s': %s",
                       TEXT_ARG(args->at[0].s), why);
        torch_no_memory(h, args->at_span);
    }
    return tensor_value(h, out);
}

#define ROW(name) {#name, fn_##name, true, true}
#define SAME(name, fn) {#name, fn_##fn, true, true}
const TorchRow torch_math_rows[] = {
    ROW(exp), ROW(exp2), ROW(expm1), ROW(log), ROW(log2), ROW(log10),
    ROW(log1p), ROW(sqrt), ROW(rsqrt), ROW(sin), ROW(cos), ROW(tan), ROW(asin),
    ROW(acos), ROW(atan), ROW(sinh), ROW(cosh), ROW(tanh), ROW(sigmoid),
    ROW(erf), ROW(abs), ROW(sign), ROW(neg), ROW(bitwise_not), ROW(floor),
    ROW(ceil), ROW(trunc), ROW(round), ROW(isnan), ROW(isinf), ROW(isfinite),
    ROW(mul), SAME(multiply, mul), ROW(floor_divide), ROW(remainder),
    ROW(fmod), ROW(bitwise_and), ROW(bitwise_or), ROW(bitwise_xor),
    ROW(atan2), ROW(maximum), ROW(minimum), ROW(add), ROW(sub),
    SAME(subtract, sub), ROW(pow), ROW(eq), ROW(ne), ROW(lt), ROW(le), ROW(gt),
    ROW(ge), ROW(div), SAME(divide, div), SAME(true_divide, div),
    ROW(logical_and), ROW(logical_or), ROW(logical_xor), ROW(logical_not),
    {"where", fn_where, false, true}, ROW(masked_fill), ROW(clamp),
    SAME(clip, clamp), ROW(relu), ROW(silu), ROW(gelu), ROW(reciprocal),
    ROW(square), ROW(matmul), SAME(mm, matmul), SAME(bmm, matmul),
    {"einsum", fn_einsum, false, true}, {NULL, NULL, false, false},
};
