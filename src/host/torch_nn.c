// torch_nn.c - what torch.nn.functional is used for in references.
//
// Functions made of several steps are computed in f64 and rounded once.
#include <math.h>

#include "host/torch_int.h"

typedef struct {
    Host *h;
    DType t, w;                 // of the argument, computed in
    Span at;
} Wide;

// The argument in the wide type; it may be used several times.
static Value widen(Wide *c, Host *h, Value v, Span at)
{
    DType t = torch_tensor(h, v, "the argument", at)->dtype;
    *c = (Wide){h, t, TORCH_WIDE, at};
    if (!dtype_is_float(t))
        lang_raise(h->lang, "RuntimeError", at,
                   "this function takes floats, not %s", dtype_info(t)->name);
    return torch_keep(torch_cast(h, v, c->w, at));
}

static Value narrow(const Wide *c, Value v)
{
    return torch_cast(c->h, v, c->t, c->at);
}

static Value op2(const Wide *c, LaneOp op, Value a, Value b)
{
    return torch_elementwise(c->h, op, (Value[]){a, b}, 2, c->w, DT_NONE,
                             c->at);
}

static Value op1(const Wide *c, LaneOp op, Value a)
{
    return torch_elementwise(c->h, op, &a, 1, c->w, DT_NONE, c->at);
}

static Value number(const Wide *c, Value v, double fallback)
{
    return v_float(torch_given(v) ? value_to_float(c->h->lang, v, "a number",
                                                   c->at) : fallback);
}

// ---- activations ------------------------------------------------------------

static Value fn_relu(Host *h, const Args *args)
{
    TORCH_BIND("relu", "input", "inplace=");
    torch_tensor(h, v[0], "the argument", at);
    return torch_extreme(h, v[0], v_int(0), true, at);
}

static Value fn_silu(Host *h, const Args *args)
{
    TORCH_BIND("silu", "input", "inplace=");
    Wide c;
    Value x = widen(&c, h, v[0], at);
    return narrow(&c, op2(&c, LANE_OP_MUL, x, op1(&c, LANE_OP_SIGMOID, x)));
}

// x/2 (1 + erf(x / sqrt 2)), or the tanh form.
static Value fn_gelu(Host *h, const Args *args)
{
    TORCH_BIND("gelu", "input", "*", "approximate=");
    Wide c;
    Value x = widen(&c, h, v[0], at), y;
    if (v[1].kind == VAL_STR && text_is(v[1].s, "tanh")) {
        y = op2(&c, LANE_OP_MUL, x, x);
        y = op2(&c, LANE_OP_MUL, y, x);
        y = op2(&c, LANE_OP_MUL, y, v_float(0.044715));
        y = op2(&c, LANE_OP_ADD, y, x);
        y = op2(&c, LANE_OP_MUL, y, v_float(sqrt(2 / M_PI)));
        y = op1(&c, LANE_OP_TANH, y);
    } else {
        y = op2(&c, LANE_OP_MUL, x, v_float(M_SQRT1_2));
        y = op1(&c, LANE_OP_ERF, y);
    }
    y = op2(&c, LANE_OP_ADD, y, v_float(1));
    y = op2(&c, LANE_OP_MUL, y, x);
    return narrow(&c, op2(&c, LANE_OP_MUL, y, v_float(0.5)));
}

// log(1 + e^bx) / b, the identity beyond the threshold.
static Value fn_softplus(Host *h, const Args *args)
{
    TORCH_BIND("softplus", "input", "beta=", "threshold=");
    Wide c;
    Value x = widen(&c, h, v[0], at), beta = number(&c, v[1], 1);
    Value scaled = torch_keep(op2(&c, LANE_OP_MUL, x, beta));
    Value y = op1(&c, LANE_OP_LOG1P, op1(&c, LANE_OP_EXP, scaled));
    y = op2(&c, LANE_OP_DIV, y, beta);
    Value above = torch_compare(h, AST_OP_GT, scaled, number(&c, v[2], 20), at);
    return narrow(&c, torch_select(h, above, x, y, c.w, at));
}

static Value fn_logsigmoid(Host *h, const Args *args)
{
    TORCH_BIND("logsigmoid", "input");
    Wide c;
    Value x = widen(&c, h, v[0], at);
    Value low = op2(&c, LANE_OP_MINNAN, x, v_float(0));
    Value y = op1(&c, LANE_OP_NEG, op1(&c, LANE_OP_ABS, x));
    y = op1(&c, LANE_OP_LOG1P, op1(&c, LANE_OP_EXP, y));
    return narrow(&c, op2(&c, LANE_OP_SUB, low, y));
}

static Value fn_leaky_relu(Host *h, const Args *args)
{
    TORCH_BIND("leaky_relu", "input", "negative_slope=", "inplace=");
    Wide c;
    Value x = widen(&c, h, v[0], at);
    Value above = torch_compare(h, AST_OP_GT, x, v_int(0), at);
    Value y = op2(&c, LANE_OP_MUL, x, number(&c, v[1], 0.01));
    return narrow(&c, torch_select(h, above, x, y, c.w, at));
}

static Value fn_elu(Host *h, const Args *args)
{
    TORCH_BIND("elu", "input", "alpha=", "inplace=");
    Wide c;
    Value x = widen(&c, h, v[0], at);
    Value above = torch_compare(h, AST_OP_GT, x, v_int(0), at);
    Value y = op2(&c, LANE_OP_MUL, op1(&c, LANE_OP_EXPM1, x),
                  number(&c, v[1], 1));
    return narrow(&c, torch_select(h, above, x, y, c.w, at));
}

// ---- layers -----------------------------------------------------------------

static Value fn_linear(Host *h, const Args *args)
{
    TORCH_BIND("linear", "input", "weight", "bias=");
    Tensor *w = torch_tensor(h, v[1], "weight", at);
    if (w->rank != 2)
        lang_raise(h->lang, "RuntimeError", at,
                   "linear() takes a weight of 2 dimensions, found %d",
                   w->rank);
    Value y = torch_matmul(h, v[0], torch_transposed(h, v[1], 0, 1), at);
    if (torch_given(v[2]))
        y = torch_binary(h, LANE_OP_ADD, y, v[2], DT_NONE, at);
    return y;
}

// (x - mean) / sqrt(var + eps) over the dimensions of mask.
static Value normalized(const Wide *c, Value x, uint32_t mask, double eps,
                        bool centred)
{
    Host *h = c->h;
    Value square, y = x;
    if (centred) {
        Value mean = torch_reduce(h, x, REDUCE_MEAN, mask, true, c->w, c->at);
        y = torch_keep(op2(c, LANE_OP_SUB, x, mean));
    }
    square = op2(c, LANE_OP_MUL, y, y);
    Value var = torch_reduce(h, square, REDUCE_MEAN, mask, true, c->w, c->at);
    torch_done(square);
    var = op1(c, LANE_OP_RSQRT, op2(c, LANE_OP_ADD, var, v_float(eps)));
    return op2(c, LANE_OP_MUL, y, var);
}

static uint32_t last_dims(Host *h, const Tensor *t, Value shape, Span at)
{
    int64_t sizes[TENSOR_MAX_RANK];
    int n = torch_size_list(h, shape, sizes, at);
    bool fits = n > 0 && n <= t->rank;
    for (int i = 0; fits && i < n; i++)
        fits = sizes[i] == t->shape[t->rank - n + i];
    if (!fits)
        lang_raise(h->lang, "RuntimeError", at,
                   "normalized_shape is not that of the last dimensions");
    return ((UINT32_C(1) << n) - 1) << (t->rank - n);
}

static Value norm_layer(Host *h, const Args *args, const char *name,
                        bool centred)
{
    TORCH_BIND(name, "input", "normalized_shape", "weight=", "bias=", "eps=");
    Wide c;
    Value x = widen(&c, h, v[0], at);
    uint32_t mask = last_dims(h, tensor_of(x), v[1], at);
    double eps = torch_given(v[4]) ? value_to_float(h->lang, v[4], "eps", at)
                 : centred ? 1e-5 : c.t == DT_F64 ? 0x1p-52 : 0x1p-23;
    Value y = normalized(&c, x, mask, eps, centred);
    if (torch_given(v[2]))
        y = op2(&c, LANE_OP_MUL, y, v[2]);
    if (torch_given(v[3]))
        y = op2(&c, LANE_OP_ADD, y, v[3]);
    return narrow(&c, y);
}

static Value fn_layer_norm(Host *h, const Args *args)
{
    return norm_layer(h, args, "layer_norm", true);
}

// rms_norm(x, shape, weight, eps) has no bias.
static Value fn_rms_norm(Host *h, const Args *args)
{
    TORCH_BIND("rms_norm", "input", "normalized_shape", "weight=", "eps=");
    Value all[5] = {v[0], v[1], v[2], V_NONE, v[3]};
    Args again = {.at = all, .count = 5, .at_span = at};
    return norm_layer(h, &again, "rms_norm", false);
}

// x / max(norm, eps)
static Value fn_normalize(Host *h, const Args *args)
{
    TORCH_BIND("normalize", "input", "p=", "dim=", "eps=");
    Wide c;
    Value x = widen(&c, h, v[0], at);
    Tensor out, *t = tensor_of(x);
    double p = torch_given(v[1]) ? value_to_float(h->lang, v[1], "p", at) : 2;
    Value dim = torch_given(v[2]) ? v[2] : v_int(t->rank > 1 ? 1 : 0);
    bool ok = tensor_norm(&h->heap, &out, t, REDUCE_NORM,
                          torch_dims(h, dim, t->rank, at), true, c.w, p);
    Value n = torch_result(h, ok, out, at);
    n = op2(&c, LANE_OP_MAXNAN, n, number(&c, v[3], 1e-12));
    return narrow(&c, op2(&c, LANE_OP_DIV, x, n));
}

// x y / (|x| |y|) along dim, no length counting as less than eps.
static Value fn_cosine_similarity(Host *h, const Args *args)
{
    TORCH_BIND("cosine_similarity", "x1", "x2", "dim=", "eps=");
    Wide c;
    Value side[2] = {widen(&c, h, v[0], at), widen(&c, h, v[1], at)};
    Value dim = torch_given(v[2]) ? v[2] : v_int(1), lengths = V_NONE;
    int rank = tensor_of(side[0])->rank;
    if (rank != tensor_of(side[1])->rank)
        lang_unsupported(h->lang, at, "cosine_similarity() of tensors with %d "
                         "and %d dimensions", rank, tensor_of(side[1])->rank);
    uint32_t mask = torch_dims(h, dim, rank, at);
    for (int i = 0; i < 2; i++) {
        Tensor out;
        bool ok = tensor_norm(&h->heap, &out, tensor_of(side[i]), REDUCE_NORM,
                              mask, false, c.w, 2);
        Value n = torch_result(h, ok, out, at);
        n = op2(&c, LANE_OP_MAXNAN, n, number(&c, v[3], 1e-8));
        lengths = torch_keep(i ? op2(&c, LANE_OP_MUL, lengths, n) : n);
    }
    Value product = op2(&c, LANE_OP_MUL, side[0], side[1]);
    Value sum = torch_reduce(h, product, REDUCE_SUM, mask, false, c.w, at);
    return narrow(&c, op2(&c, LANE_OP_DIV, sum, lengths));
}

// ---- padding ----------------------------------------------------------------

// [left, right] of the last dimension, then of the one before, ...
static Value fn_pad(Host *h, const Args *args)
{
    TORCH_BIND("pad", "input", "pad", "mode=", "value=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    int64_t by[TENSOR_MAX_RANK], shape[TENSOR_MAX_RANK];
    int n = torch_size_list(h, v[1], by, at);
    if (n % 2 || n / 2 > t->rank)
        lang_raise(h->lang, "RuntimeError", at,
                   "pad() takes a pair for each of at most %d dimensions",
                   t->rank);
    if (v[2].kind == VAL_STR && !text_is(v[2].s, "constant"))
        lang_unsupported(h->lang, at, "pad() with mode '%.*s'",
                         TEXT_ARG(v[2].s));
    Tensor from = *t;
    for (int d = 0; d < t->rank; d++)
        shape[d] = t->shape[d];
    for (int i = 0; i < n / 2; i++) {
        int d = t->rank - 1 - i;
        shape[d] += by[2 * i] + by[2 * i + 1];
        if (shape[d] < 0)
            lang_raise(h->lang, "RuntimeError", at,
                       "pad(): dimension %d gets size %lld", d,
                       (long long)shape[d]);
    }
    Value fill = torch_given(v[3]) ? v[3] : v_int(0);
    Value out = torch_filled(h, t->dtype, t->rank, shape, fill, at);
    Tensor to = *tensor_of(out);
    for (int i = 0; i < n / 2; i++) {
        int d = t->rank - 1 - i;
        int64_t left = by[2 * i], cut = left < 0 ? -left : 0;
        int64_t skip = left > 0 ? left : 0;
        int64_t room = shape[d] - skip, have = t->shape[d] - cut;
        int64_t size = room < have ? room : have;
        from = tensor_slice(&from, d, cut, size > 0 ? size : 0, 1);
        to = tensor_slice(&to, d, skip, size > 0 ? size : 0, 1);
    }
    tensor_assign(&to, &from);
    return out;
}

// ---- attention --------------------------------------------------------------

// True where the query may look: key j <= query i, both from the start.
static Value causal_mask(Host *h, int64_t rows, int64_t cols, Span at)
{
    int64_t shape[2] = {rows, cols};
    Value ones = torch_filled(h, DT_BOOL, 2, shape, v_bool(true), at);
    Tensor out;
    return torch_result(h, tensor_triangle(&out, tensor_of(ones), 0, false),
                        out, at);
}

static Value repeat_heads(Host *h, Value x, int64_t heads, Span at)
{
    Tensor *t = tensor_of(x), out;
    int d = t->rank - 3;
    if (d < 0 || t->shape[d] == 0 || heads % t->shape[d])
        lang_raise(h->lang, "RuntimeError", at,
                   "enable_gqa: the heads of key and value do not divide "
                   "those of query");
    return torch_result(h, tensor_repeat_interleave(&out, t,
                                                    heads / t->shape[d], d),
                        out, at);
}

static Value masked(const Wide *c, Value scores, Value mask)
{
    if (tensor_of(mask)->dtype != DT_BOOL)
        return op2(c, LANE_OP_ADD, scores, mask);
    return torch_select(c->h, mask, scores, v_float(-INFINITY), c->w, c->at);
}

// A row that sees nothing gives 0, not NaN.
static Value attention_weights(const Wide *c, Value scores, bool may_be_empty)
{
    Host *h = c->h;
    int last = tensor_of(scores)->rank - 1;
    Value blind = V_NONE;
    if (may_be_empty) {
        Value max = torch_reduce(h, scores, REDUCE_AMAX, 1u << last, true, c->w,
                                 c->at);
        blind = torch_compare(h, AST_OP_EQ, max, v_float(-INFINITY), c->at);
    }
    Value w = torch_row_op(h, scores, ROWS_SOFTMAX, last, c->w, c->at);
    torch_done(scores);
    if (may_be_empty)
        w = torch_select(h, blind, v_float(0), w, c->w, c->at);
    return w;
}

static Value fn_scaled_dot_product_attention(Host *h, const Args *args)
{
    TORCH_BIND("scaled_dot_product_attention", "query", "key", "value",
               "attn_mask=", "dropout_p=", "is_causal=", "*", "scale=",
               "enable_gqa=");
    Wide c;
    Value q = widen(&c, h, v[0], at);
    Value k = torch_cast(h, v[1], c.w, at), x = torch_cast(h, v[2], c.w, at);
    Tensor *t = tensor_of(q), *s = tensor_of(k);
    if (t->rank < 2 || s->rank < 2 || tensor_of(x)->rank < 2)
        lang_raise(h->lang, "RuntimeError", at,
                   "scaled_dot_product_attention() takes [..., length, dim]");
    if (torch_given(v[4])
        && value_to_float(h->lang, v[4], "dropout_p", at) != 0)
        lang_unsupported(h->lang, at, "dropout_p other than 0");
    bool causal = torch_flag(h, v[5], false, at);
    if (causal && torch_given(v[3]))
        lang_raise(h->lang, "RuntimeError", at,
                   "attn_mask and is_causal exclude each other");
    if (torch_flag(h, v[7], false, at) && t->rank > 2) {
        k = repeat_heads(h, k, t->shape[t->rank - 3], at);
        x = repeat_heads(h, x, t->shape[t->rank - 3], at);
        s = tensor_of(k);
    }
    double scale = 1 / sqrt((double)t->shape[t->rank - 1]);
    Value scores = torch_matmul(h, q, torch_transposed(h, k, s->rank - 2,
                                                       s->rank - 1), at);
    scores = op2(&c, LANE_OP_MUL, scores, number(&c, v[6], scale));
    if (causal)
        v[3] = causal_mask(h, t->shape[t->rank - 2], s->shape[s->rank - 2], at);
    if (torch_given(v[3]))
        scores = masked(&c, scores, v[3]);
    Value w = attention_weights(&c, scores, torch_given(v[3]));
    return narrow(&c, torch_matmul(h, w, x, at));
}

const TorchRow torch_nn_rows[] = {
    TORCH_ROW(relu, ALL), TORCH_ROW(silu, IN_NN), TORCH_ROW(gelu, IN_NN),
    TORCH_ROW(softplus, IN_NN), TORCH_ROW(logsigmoid, IN_NN),
    TORCH_ROW(leaky_relu, IN_NN), TORCH_ROW(elu, IN_NN),
    TORCH_ROW(linear, IN_NN), TORCH_ROW(layer_norm, IN_NN),
    TORCH_ROW(rms_norm, IN_NN), TORCH_ROW(normalize, IN_NN),
    TORCH_ROW(cosine_similarity, IN_TORCH | IN_NN),
    TORCH_ROW(pad, IN_NN), TORCH_ROW(scaled_dot_product_attention, IN_NN),
    TORCH_END,
};
