// torch_math.c - elementwise functions, as torch names them.
#include <math.h>

#include "host/torch_int.h"

// ---- one operand: a row of lanes each ---------------------------------------

#define UNARY(name, op)                                                        \
    static Value fn_##name(Host *h, const Args *args)                          \
    {                                                                          \
        TORCH_BIND(#name, "input");                                            \
        return torch_unary(h, LANE_OP_##op, v[0], at);                         \
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
#undef UNARY

static Value operator_1(Host *h, const Args *args, const char *name, AstOp op)
{
    TORCH_BIND(name, "input");
    torch_tensor(h, v[0], "the argument", at);
    return tensor_type.unary(h->lang, op, v[0].foreign, at);
}

static Value fn_neg(Host *h, const Args *args)
{
    return operator_1(h, args, "neg", AST_OP_NEG);
}

static Value fn_bitwise_not(Host *h, const Args *args)
{
    return operator_1(h, args, "bitwise_not", AST_OP_INVERT);
}

// Operations that leave what is unsigned, or no float, alone.
static Value of_kind(Host *h, const Args *args, const char *name, LaneOp op,
                     bool floats_only)
{
    TORCH_BIND(name, "input");
    DType t = torch_tensor(h, v[0], "the argument", at)->dtype;
    bool same = floats_only ? !dtype_is_float(t)
                            : dtype_info(t)->kind == KIND_UINT;
    if (t == DT_BOOL && op == LANE_OP_ABS)
        lang_raise(h->lang, "RuntimeError", at, "abs() is not there for bool");
    if (op == LANE_OP_SIGN && (same || t == DT_BOOL))
        return torch_binary(h, LANE_OP_MIN, v[0], v_bool(true), DT_NONE, at);
    if (same)
        return torch_elementwise(h, LANE_OP_OR, (Value[]){v[0], v[0]}, 2, t,
                                 DT_NONE, at);
    return torch_elementwise(h, op, v, 1, t, DT_NONE, at);
}

#define OF_KIND(name, op, floats_only)                                         \
    static Value fn_##name(Host *h, const Args *args)                          \
    {                                                                          \
        return of_kind(h, args, #name, LANE_OP_##op, floats_only);             \
    }
OF_KIND(abs, ABS, false)
OF_KIND(sign, SIGN, false)
OF_KIND(floor, FLOOR, true)
OF_KIND(ceil, CEIL, true)
OF_KIND(trunc, TRUNC, true)
OF_KIND(rint, RINT, true)
#undef OF_KIND

static Value fn_round(Host *h, const Args *args)
{
    TORCH_BIND("round", "input", "*", "decimals=");
    Args one = {.at = v, .count = 1, .at_span = at};
    if (torch_int(h, v[1], "decimals", 0, at) != 0)
        lang_unsupported(h->lang, at, "round() to decimals");
    return fn_rint(h, &one);
}

static Value test(Host *h, const Args *args, const char *name, LaneOp op)
{
    TORCH_BIND(name, "input");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    DType c = dtype_is_float(t->dtype) ? t->dtype : DT_F64;
    return torch_elementwise(h, op, v, 1, c, DT_BOOL, at);
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

// Equal to an infinity: never, of integers.
static Value is_infinity(Host *h, const Args *args, const char *name,
                         double inf)
{
    TORCH_BIND(name, "input");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    Value in[2] = {v[0], v_float(inf)};
    DType c = dtype_is_float(t->dtype) ? t->dtype : DT_F64;
    return torch_elementwise(h, LANE_OP_EQ, in, 2, c, DT_BOOL, at);
}

static Value fn_isposinf(Host *h, const Args *args)
{
    return is_infinity(h, args, "isposinf", INFINITY);
}

static Value fn_isneginf(Host *h, const Args *args)
{
    return is_infinity(h, args, "isneginf", -INFINITY);
}

static double largest(DType t)
{
    return dtype_info(t)->max_finite;
}

// NaN and infinities become numbers: 0 and the largest, or what is asked.
static Value fn_nan_to_num(Host *h, const Args *args)
{
    TORCH_BIND("nan_to_num", "input", "nan=", "posinf=", "neginf=");
    DType t = torch_tensor(h, v[0], "the argument", at)->dtype;
    if (!dtype_is_float(t))
        return v[0];
    Value x = torch_keep(v[0]);
    Value nan = torch_given(v[1]) ? v[1] : v_float(0);
    Value up = torch_given(v[2]) ? v[2] : v_float(largest(t));
    Value down = torch_given(v[3]) ? v[3] : v_float(-largest(t));
    Value is = torch_elementwise(h, LANE_OP_ISNAN, &x, 1, t, DT_BOOL, at);
    Value y = torch_select(h, is, nan, x, t, at);
    is = torch_compare(h, AST_OP_EQ, x, v_float(INFINITY), at);
    y = torch_select(h, is, up, y, t, at);
    is = torch_compare(h, AST_OP_EQ, x, v_float(-INFINITY), at);
    return torch_select(h, is, down, y, t, at);
}

// ---- two operands -----------------------------------------------------------

static Value operator_2(Host *h, const Args *args, const char *name, AstOp op)
{
    TORCH_BIND(name, "input", "other");
    Value out = V_NONE;
    if (!torch_operator(h, op, v[0], v[1], &out, at))
        lang_raise(h->lang, "TypeError", at,
                   "%s() takes tensors and numbers, not %s and %s", name,
                   value_type_name(v[0]), value_type_name(v[1]));
    return out;
}

#define OPERATOR(name, op)                                                     \
    static Value fn_##name(Host *h, const Args *args)                          \
    {                                                                          \
        return operator_2(h, args, #name, AST_OP_##op);                        \
    }
OPERATOR(mul, MUL)
OPERATOR(floor_divide, FLOORDIV)
OPERATOR(remainder, MOD)
OPERATOR(bitwise_and, AND)
OPERATOR(bitwise_or, OR)
OPERATOR(bitwise_xor, XOR)
OPERATOR(bitwise_left_shift, SHL)
OPERATOR(bitwise_right_shift, SHR)
OPERATOR(eq, EQ)
OPERATOR(ne, NE)
OPERATOR(lt, LT)
OPERATOR(le, LE)
OPERATOR(gt, GT)
OPERATOR(ge, GE)
#undef OPERATOR

static Value fn_pow(Host *h, const Args *args)
{
    TORCH_BIND("pow", "input", "exponent");
    Value out = V_NONE;
    if (!torch_operator(h, AST_OP_POW, v[0], v[1], &out, at))
        lang_raise(h->lang, "TypeError", at, "pow() takes tensors and numbers");
    return out;
}

static Value fn_fmod(Host *h, const Args *args)
{
    TORCH_BIND("fmod", "input", "other");
    return torch_binary(h, LANE_OP_TRUNCMOD, v[0], v[1], DT_NONE, at);
}

static Value fn_atan2(Host *h, const Args *args)
{
    TORCH_BIND("atan2", "input", "other");
    DType t = torch_promote(h, v[0], v[1]);
    return torch_elementwise(h, LANE_OP_ATAN2, v, 2,
                             dtype_is_float(t) ? t : torch_float(h),
                             DT_NONE, at);
}

static Value fn_maximum(Host *h, const Args *args)
{
    TORCH_BIND("maximum", "input", "other");
    return torch_extreme(h, v[0], v[1], true, at);
}

static Value fn_minimum(Host *h, const Args *args)
{
    TORCH_BIND("minimum", "input", "other");
    return torch_extreme(h, v[0], v[1], false, at);
}

// A NaN operand is dropped.
static Value fn_fmax(Host *h, const Args *args)
{
    TORCH_BIND("fmax", "input", "other");
    return torch_binary(h, LANE_OP_MAX, v[0], v[1], DT_NONE, at);
}

static Value fn_fmin(Host *h, const Args *args)
{
    TORCH_BIND("fmin", "input", "other");
    return torch_binary(h, LANE_OP_MIN, v[0], v[1], DT_NONE, at);
}

// a + alpha b, rounded once.
static Value scaled(Host *h, const Args *args, const char *name, AstOp op)
{
    TORCH_BIND(name, "input", "other", "*", "alpha=");
    Value out = V_NONE;
    bool plain = !torch_given(v[2]) || (v[2].kind == VAL_INT && v[2].i == 1);
    if (plain) {
        if (!torch_operator(h, op, v[0], v[1], &out, at))
            lang_raise(h->lang, "TypeError", at,
                       "%s() takes tensors and numbers", name);
        return out;
    }
    DType t = torch_promote(h, v[0], v[1]), w = t;
    if (dtype_is_float(t))
        w = TORCH_WIDE;
    Value in[2] = {v[1], v[2]};
    in[1] = torch_elementwise(h, LANE_OP_MUL, in, 2, w, DT_NONE, at);
    in[0] = v[0];
    return torch_elementwise(h, op == AST_OP_ADD ? LANE_OP_ADD : LANE_OP_SUB,
                             in, 2, w, t, at);
}

static Value fn_add(Host *h, const Args *args)
{
    return scaled(h, args, "add", AST_OP_ADD);
}

static Value fn_sub(Host *h, const Args *args)
{
    return scaled(h, args, "sub", AST_OP_SUB);
}

static Value fn_div(Host *h, const Args *args)
{
    TORCH_BIND("div", "input", "other", "*", "rounding_mode=");
    Value out = V_NONE;
    AstOp op = AST_OP_DIV;
    if (torch_given(v[2])) {
        bool text = v[2].kind == VAL_STR;
        if (text && text_is(v[2].s, "trunc"))
            return torch_binary(h, LANE_OP_TRUNCDIV, v[0], v[1], DT_NONE, at);
        if (!text || !text_is(v[2].s, "floor"))
            lang_raise(h->lang, "RuntimeError", at,
                       "div(): rounding_mode is 'trunc' or 'floor'");
        op = AST_OP_FLOORDIV;
    }
    if (!torch_operator(h, op, v[0], v[1], &out, at))
        lang_raise(h->lang, "TypeError", at, "div() takes tensors and numbers");
    return out;
}

static Value fn_reciprocal(Host *h, const Args *args)
{
    TORCH_BIND("reciprocal", "input");
    Value out = V_NONE;
    torch_tensor(h, v[0], "the argument", at);
    torch_operator(h, AST_OP_DIV, v_int(1), v[0], &out, at);
    return out;
}

static Value fn_square(Host *h, const Args *args)
{
    TORCH_BIND("square", "input");
    torch_tensor(h, v[0], "the argument", at);
    return torch_binary(h, LANE_OP_MUL, v[0], v[0], DT_NONE, at);
}

// log(e^a + e^b) = max + log1p(e^-|a - b|), rounded once.
static Value fn_logaddexp(Host *h, const Args *args)
{
    TORCH_BIND("logaddexp", "input", "other");
    DType t = torch_promote(h, v[0], v[1]), w = TORCH_WIDE;
    Value max = torch_extreme(h, torch_keep(v[0]), torch_keep(v[1]), true, at);
    Value d = torch_elementwise(h, LANE_OP_SUB, v, 2, w, DT_NONE, at);
    Value same = torch_compare(h, AST_OP_EQ, v[0], v[1], at);   // of infinities
    d = torch_select(h, same, v_int(0), d, w, at);
    d = torch_unary(h, LANE_OP_ABS, d, at);
    d = torch_unary(h, LANE_OP_NEG, d, at);
    d = torch_unary(h, LANE_OP_EXP, d, at);
    Value in[2] = {max, torch_unary(h, LANE_OP_LOG1P, d, at)};
    return torch_elementwise(h, LANE_OP_ADD, in, 2, w,
                             dtype_is_float(t) ? t : w, at);
}

// ---- logic ------------------------------------------------------------------

static Value logical(Host *h, const Args *args, const char *name, LaneOp op)
{
    TORCH_BIND(name, "input", "other");
    Value in[2] = {torch_to_bool(h, v[0], at), torch_to_bool(h, v[1], at)};
    return torch_elementwise(h, op, in, 2, DT_BOOL, DT_BOOL, at);
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
    TORCH_BIND("logical_not", "input");
    Value in = torch_to_bool(h, v[0], at);
    return torch_elementwise(h, LANE_OP_NOT, &in, 1, DT_BOOL, DT_BOOL, at);
}

// ---- selections -------------------------------------------------------------

static Value places(Host *h, const Tensor *t, Span at)
{
    Tensor found, row = t->rank ? *t : tensor_unsqueeze(t, 0);
    Value out[TENSOR_MAX_RANK];
    if (!tensor_nonzero(&h->heap, &found, &row))
        torch_no_memory(h, at);
    for (int d = 0; d < found.shape[1]; d++)
        out[d] = torch_view(h, &found, tensor_select(&found, 1, d));
    int n = (int)found.shape[1];
    tensor_release(&found);
    return v_tuple(h->lang, out, n);
}

static Value choose(Host *h, Value c, Value a, Value b, Span at)
{
    DType t = torch_tensor(h, c, "the condition", at)->dtype;
    if (t != DT_BOOL && t != DT_U8)
        lang_raise(h->lang, "RuntimeError", at,
                   "where() expects a bool condition, not %s",
                   dtype_info(t)->name);
    return torch_select(h, torch_to_bool(h, c, at), a, b,
                        torch_promote(h, a, b), at);
}

// where(c): the places; where(c, a, b): a choice.
static Value fn_where(Host *h, const Args *args)
{
    TORCH_BIND("where", "condition", "input=", "other=");
    if (!torch_given(v[1]))
        return places(h, torch_tensor(h, v[0], "the condition", at), at);
    return choose(h, v[0], v[1], v[2], at);
}

// a.where(c, b)
static Value fn_where_of(Host *h, const Args *args)
{
    TORCH_BIND("where", "input", "condition", "other");
    return choose(h, v[1], v[0], v[2], at);
}

static Value fn_masked_fill(Host *h, const Args *args)
{
    TORCH_BIND("masked_fill", "input", "mask", "value");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    Tensor *m = torch_tensor(h, v[1], "mask", at);
    if (m->dtype != DT_BOOL)
        lang_raise(h->lang, "RuntimeError", at,
                   "masked_fill() expects a bool mask, not %s",
                   dtype_info(m->dtype)->name);
    if (tensor_of(v[2])) {
        if (tensor_of(v[2])->rank)
            lang_raise(h->lang, "RuntimeError", at,
                       "masked_fill() takes a number or a tensor without "
                       "dimensions");
        v[2] = torch_item(h, tensor_of(v[2]), at);
    }
    return torch_select(h, v[1], v[2], v[0], t->dtype, at);
}

static Value clamped(Host *h, Value x, Value low, Value high, Span at)
{
    torch_tensor(h, x, "the argument", at);
    if (!torch_given(low) && !torch_given(high))
        lang_raise(h->lang, "RuntimeError", at,
                   "clamp() needs at least one of min and max");
    if (torch_given(low))
        x = torch_extreme(h, x, low, true, at);
    if (torch_given(high))
        x = torch_extreme(h, x, high, false, at);
    return x;
}

static Value fn_clamp(Host *h, const Args *args)
{
    TORCH_BIND("clamp", "input", "min=", "max=");
    return clamped(h, v[0], v[1], v[2], at);
}

static Value fn_clamp_min(Host *h, const Args *args)
{
    TORCH_BIND("clamp_min", "input", "min");
    return clamped(h, v[0], v[1], V_NONE, at);
}

static Value fn_clamp_max(Host *h, const Args *args)
{
    TORCH_BIND("clamp_max", "input", "max");
    return clamped(h, v[0], V_NONE, v[1], at);
}

// a + w (b - a), in the wide type.
static Value fn_lerp(Host *h, const Args *args)
{
    TORCH_BIND("lerp", "input", "end", "weight");
    DType t = torch_promote(h, v[0], v[1]), w = TORCH_WIDE;
    Value in[2] = {v[1], torch_keep(v[0])};
    in[0] = torch_elementwise(h, LANE_OP_SUB, in, 2, w, DT_NONE, at);
    in[1] = v[2];
    in[0] = torch_elementwise(h, LANE_OP_MUL, in, 2, w, DT_NONE, at);
    in[1] = v[0];
    return torch_elementwise(h, LANE_OP_ADD, in, 2, w, t, at);
}

// a + value b c, or b / c, rounded once.
static Value added(Host *h, const Args *args, const char *name, LaneOp op)
{
    TORCH_BIND(name, "input", "tensor1", "tensor2", "*", "value=");
    DType t = torch_promote_list(h, v, 3), w = TORCH_WIDE;
    if (!dtype_is_float(t) && op == LANE_OP_MUL)
        w = t;
    Value x = torch_elementwise(h, op, v + 1, 2, w, DT_NONE, at);
    if (torch_given(v[3]))
        x = torch_elementwise(h, LANE_OP_MUL, (Value[]){x, v[3]}, 2, w, DT_NONE,
                              at);
    return torch_elementwise(h, LANE_OP_ADD, (Value[]){v[0], x}, 2, w, t, at);
}

static Value fn_addcmul(Host *h, const Args *args)
{
    return added(h, args, "addcmul", LANE_OP_MUL);
}

static Value fn_addcdiv(Host *h, const Args *args)
{
    return added(h, args, "addcdiv", LANE_OP_DIV);
}

const TorchRow torch_math_rows[] = {
    TORCH_ROW(exp, BOTH), TORCH_ROW(exp2, BOTH), TORCH_ROW(expm1, BOTH),
    TORCH_ROW(log, BOTH), TORCH_ROW(log2, BOTH), TORCH_ROW(log10, BOTH),
    TORCH_ROW(log1p, BOTH), TORCH_ROW(sqrt, BOTH), TORCH_ROW(rsqrt, BOTH),
    TORCH_ROW(sin, BOTH), TORCH_ROW(cos, BOTH), TORCH_ROW(tan, BOTH),
    TORCH_ROW(asin, BOTH), TORCH_ROW(acos, BOTH), TORCH_ROW(atan, BOTH),
    TORCH_ROW(sinh, BOTH), TORCH_ROW(cosh, BOTH), TORCH_ROW(tanh, ALL),
    TORCH_ROW(sigmoid, ALL), TORCH_ROW(erf, BOTH), TORCH_ROW(abs, BOTH),
    TORCH_SAME(absolute, abs, BOTH), TORCH_ROW(sign, BOTH),
    TORCH_ROW(neg, BOTH), TORCH_SAME(negative, neg, BOTH),
    TORCH_ROW(bitwise_not, BOTH), TORCH_ROW(floor, BOTH),
    TORCH_ROW(ceil, BOTH), TORCH_ROW(trunc, BOTH), TORCH_SAME(fix, trunc, BOTH),
    TORCH_ROW(round, BOTH), TORCH_ROW(isnan, BOTH), TORCH_ROW(isinf, BOTH),
    TORCH_ROW(isfinite, BOTH), TORCH_ROW(isposinf, BOTH),
    TORCH_ROW(isneginf, BOTH), TORCH_ROW(addcmul, BOTH),
    TORCH_ROW(addcdiv, BOTH), TORCH_ROW(nan_to_num, BOTH),
    TORCH_ROW(mul, BOTH), TORCH_SAME(multiply, mul, BOTH),
    TORCH_ROW(floor_divide, BOTH), TORCH_ROW(remainder, BOTH),
    TORCH_ROW(fmod, BOTH), TORCH_ROW(bitwise_and, BOTH),
    TORCH_ROW(bitwise_or, BOTH), TORCH_ROW(bitwise_xor, BOTH),
    TORCH_ROW(bitwise_left_shift, BOTH), TORCH_ROW(bitwise_right_shift, BOTH),
    TORCH_ROW(atan2, BOTH), TORCH_SAME(arctan2, atan2, BOTH),
    TORCH_ROW(maximum, BOTH), TORCH_ROW(minimum, BOTH), TORCH_ROW(fmax, BOTH),
    TORCH_ROW(fmin, BOTH), TORCH_ROW(add, BOTH), TORCH_ROW(sub, BOTH),
    TORCH_SAME(subtract, sub, BOTH), TORCH_ROW(pow, BOTH),
    TORCH_ROW(eq, BOTH), TORCH_ROW(ne, BOTH), TORCH_ROW(lt, BOTH),
    TORCH_ROW(le, BOTH), TORCH_ROW(gt, BOTH), TORCH_ROW(ge, BOTH),
    TORCH_SAME(less, lt, BOTH), TORCH_SAME(less_equal, le, BOTH),
    TORCH_SAME(greater, gt, BOTH), TORCH_SAME(greater_equal, ge, BOTH),
    TORCH_SAME(not_equal, ne, BOTH), TORCH_ROW(div, BOTH),
    TORCH_SAME(divide, div, BOTH), TORCH_SAME(true_divide, div, BOTH),
    TORCH_ROW(logical_and, BOTH), TORCH_ROW(logical_or, BOTH),
    TORCH_ROW(logical_xor, BOTH), TORCH_ROW(logical_not, BOTH),
    TORCH_ROW(where, IN_TORCH), TORCH_SAME(where, where_of, METHOD),
    TORCH_ROW(masked_fill, BOTH),
    TORCH_ROW(clamp, BOTH), TORCH_SAME(clip, clamp, BOTH),
    TORCH_ROW(clamp_min, BOTH), TORCH_ROW(clamp_max, BOTH),
    TORCH_ROW(reciprocal, BOTH), TORCH_ROW(square, BOTH),
    TORCH_ROW(logaddexp, BOTH), TORCH_ROW(lerp, BOTH), TORCH_END,
};
