// torch_loss.c - losses, one_hot, convolution: more of torch.nn.functional.
#include "host/torch_int.h"

static Value op2(Host *h, LaneOp op, Value a, Value b, DType t, Span at)
{
    return torch_elementwise(h, op, (Value[]){a, b}, 2, t, DT_NONE, at);
}

// "none", "sum" or "mean" of a loss in dtype w, rounded to t.
static Value reduced(Host *h, Value loss, Value how, DType w, DType t, Span at)
{
    Text text = how.kind == VAL_STR ? how.s : TEXT("mean");
    int rank = tensor_of(loss)->rank;
    uint32_t all = (UINT32_C(1) << rank) - 1;
    if (text_is(text, "batchmean")) {
        int64_t n = rank ? tensor_of(loss)->shape[0] : 1;
        loss = torch_reduce(h, loss, REDUCE_SUM, all, false, w, at);
        loss = op2(h, LANE_OP_DIV, loss, v_int(n), w, at);
    } else if (text_is(text, "mean") || text_is(text, "sum")) {
        loss = torch_reduce(h, loss, text_is(text, "sum") ? REDUCE_SUM
                                                          : REDUCE_MEAN,
                            all, false, w, at);
    } else if (!text_is(text, "none")) {
        lang_raise(h->lang, "ValueError", at,
                   "'%.*s' is no reduction: none, sum, mean", TEXT_ARG(text));
    }
    return torch_cast(h, loss, t, at);
}

static Value difference(Host *h, const Value *v, DType *t, DType *w, Span at)
{
    torch_tensor(h, v[0], "input", at);
    torch_tensor(h, v[1], "target", at);
    *t = torch_promote(h, v[0], v[1]);
    *w = TORCH_WIDE;
    return op2(h, LANE_OP_SUB, v[0], v[1], *w, at);
}

static Value fn_mse_loss(Host *h, const Args *args)
{
    TORCH_BIND("mse_loss", "input", "target", "size_average=", "reduce=",
               "reduction=");
    DType t, w;
    Value d = difference(h, v, &t, &w, at);
    return reduced(h, op2(h, LANE_OP_MUL, d, d, w, at), v[4], w, t, at);
}

static Value fn_l1_loss(Host *h, const Args *args)
{
    TORCH_BIND("l1_loss", "input", "target", "size_average=", "reduce=",
               "reduction=");
    DType t, w;
    Value d = difference(h, v, &t, &w, at);
    return reduced(h, torch_unary(h, LANE_OP_ABS, d, at), v[4], w, t, at);
}

// target (log target - input); a target of 0 gives 0.
static Value fn_kl_div(Host *h, const Args *args)
{
    TORCH_BIND("kl_div", "input", "target", "size_average=", "reduce=",
               "reduction=", "log_target=");
    torch_tensor(h, v[0], "input", at);
    DType t = torch_tensor(h, v[1], "target", at)->dtype, w = TORCH_WIDE;
    Value y = torch_keep(torch_cast(h, v[1], w, at)), x;
    if (torch_flag(h, v[5], false, at)) {
        x = op2(h, LANE_OP_SUB, y, v[0], w, at);
        y = torch_elementwise(h, LANE_OP_EXP, &y, 1, w, DT_NONE, at);
        return reduced(h, op2(h, LANE_OP_MUL, x, y, w, at), v[4], w, t, at);
    }
    Value zero = torch_compare(h, AST_OP_EQ, y, v_int(0), at);
    x = torch_elementwise(h, LANE_OP_LOG, &y, 1, w, DT_NONE, at);
    x = op2(h, LANE_OP_MUL, x, y, w, at);
    x = torch_select(h, zero, v_int(0), x, w, at);
    x = op2(h, LANE_OP_SUB, x, op2(h, LANE_OP_MUL, y, v[0], w, at), w, at);
    return reduced(h, x, v[4], w, t, at);
}

// Logits [n, classes] and the number of a class each.
static Value fn_cross_entropy(Host *h, const Args *args)
{
    TORCH_BIND("cross_entropy", "input", "target", "weight=", "size_average=",
               "ignore_index=", "reduce=", "reduction=");
    Tensor *x = torch_tensor(h, v[0], "input", at), out;
    Tensor *y = torch_tensor(h, v[1], "target", at);
    DType t = x->dtype, w = TORCH_WIDE;
    BadIndex bad;
    if (torch_given(v[2]) || torch_given(v[4]) || x->rank != 2 || y->rank != 1
        || dtype_is_float(y->dtype))
        lang_unsupported(h->lang, at, "cross_entropy() but of [n, classes] "
                         "and n numbers of classes");
    if (x->shape[0] != y->shape[0])
        lang_raise(h->lang, "ValueError", at,
                   "cross_entropy(): %lld rows and %lld targets",
                   (long long)x->shape[0], (long long)y->shape[0]);
    Value p = torch_row_op(h, v[0], ROWS_LOG_SOFTMAX, 1, w, at);
    Tensor column = tensor_unsqueeze(y, 1);
    if (!tensor_gather(&h->heap, &out, tensor_of(p), 1, &column, &bad))
        torch_bad_index(h, &bad, at);
    out = tensor_select(&out, 1, 0);
    Value loss = torch_unary(h, LANE_OP_NEG, tensor_value(h, out), at);
    return reduced(h, loss, v[6], w, t, at);
}

static Value fn_one_hot(Host *h, const Args *args)
{
    TORCH_BIND("one_hot", "tensor", "num_classes=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    int64_t shape[TENSOR_MAX_RANK] = {0};
    BadIndex bad;
    if (dtype_is_float(t->dtype) || t->rank == TENSOR_MAX_RANK)
        lang_raise(h->lang, "RuntimeError", at, "one_hot() takes integers");
    int64_t classes = torch_int(h, v[1], "num_classes", -1, at);
    if (classes < 0 && tensor_count(t)) {
        Value most = torch_reduce(h, v[0], REDUCE_AMAX,
                                  torch_dims(h, V_NONE, t->rank, at), false,
                                  DT_I64, at);
        classes = torch_item(h, tensor_of(most), at).i + 1;
    }
    for (int d = 0; d < t->rank; d++)
        shape[d] = t->shape[d];
    shape[t->rank] = classes < 0 ? 0 : classes;
    Value out = torch_filled(h, DT_I64, t->rank + 1, shape, v_int(0), at);
    Tensor index = tensor_unsqueeze(t, t->rank);
    Value ones = torch_filled(h, DT_I64, index.rank, index.shape, v_int(1), at);
    if (!tensor_scatter(tensor_of(out), t->rank, &index, tensor_of(ones),
                        PUT_SET, &bad))
        torch_bad_index(h, &bad, at);
    return out;
}

static Value fn_embedding(Host *h, const Args *args)
{
    TORCH_BIND("embedding", "input", "weight");
    torch_tensor(h, v[0], "input", at);
    torch_tensor(h, v[1], "weight", at);
    return torch_getitem(h->lang, v[1].foreign, v[0], at);
}

// ---- convolution ------------------------------------------------------------

typedef struct {
    const char *name;
    int64_t step[2], pad[2], spread[2], groups, out[2];
    Span at;
} Convolution;

static void pair(Host *h, Value v, int64_t fallback, int64_t out[2], Span at)
{
    out[0] = out[1] = fallback;
    if (!torch_given(v))
        return;
    if (torch_size_list(h, v, out, at) == 1)
        out[1] = out[0];
}

static Value padded(Host *h, Value x, const int64_t by[2], Span at)
{
    Tensor *t = tensor_of(x);
    int64_t shape[4] = {t->shape[0], t->shape[1], t->shape[2] + 2 * by[0],
                        t->shape[3] + 2 * by[1]};
    Value out = torch_filled(h, t->dtype, 4, shape, v_int(0), at);
    Tensor to = tensor_slice(tensor_of(out), 2, by[0], t->shape[2], 1);
    to = tensor_slice(&to, 3, by[1], t->shape[3], 1);
    tensor_assign(&to, t);
    return out;
}

// [n, rows, cols, channels, kh, kw]: what each result looks at.
static Tensor windows(const Convolution *c, const Tensor *x, const Tensor *w)
{
    const int64_t *s = x->strides;
    return (Tensor){
        .storage = x->storage, .dtype = x->dtype, .offset = x->offset,
        .rank = 6,
        .shape = {x->shape[0], c->out[0], c->out[1], x->shape[1], w->shape[2],
                  w->shape[3]},
        .strides = {s[0], s[2] * c->step[0], s[3] * c->step[1], s[1],
                    s[2] * c->spread[0], s[3] * c->spread[1]},
    };
}

// One group: [n * rows * cols, channels of w].
static Value convolve(Host *h, const Convolution *c, const Tensor *x,
                      const Tensor *w)
{
    int64_t flat[2] = {x->shape[0] * c->out[0] * c->out[1],
                       x->shape[1] * w->shape[2] * w->shape[3]};
    Tensor seen = windows(c, x, w);
    Value a = torch_reshaped(h, &seen, 2, flat, c->at);
    flat[0] = w->shape[0];
    Value b = torch_reshaped(h, w, 2, flat, c->at);
    return torch_matmul(h, a, torch_transposed(h, b, 0, 1), c->at);
}

static Value all_groups(Host *h, const Convolution *c, const Tensor *x,
                        const Tensor *w)
{
    int64_t in = w->shape[1], out = w->shape[0] / c->groups;
    int64_t shape[2] = {x->shape[0] * c->out[0] * c->out[1], w->shape[0]};

    if (c->groups == 1)
        return convolve(h, c, x, w);
    Value y = torch_filled(h, x->dtype, 2, shape, v_int(0), c->at);
    for (int64_t g = 0; g < c->groups; g++) {
        Tensor part = tensor_slice(x, 1, g * in, in, 1);
        Tensor kernel = tensor_slice(w, 0, g * out, out, 1);
        Tensor to = tensor_slice(tensor_of(y), 1, g * out, out, 1);
        tensor_assign(&to, tensor_of(convolve(h, c, &part, &kernel)));
    }
    return y;
}

static void check_convolution(Host *h, Convolution *c, const Tensor *x,
                              const Tensor *w)
{
    if (c->groups < 1 || w->shape[0] % c->groups
        || x->shape[1] != w->shape[1] * c->groups)
        lang_raise(h->lang, "RuntimeError", c->at, "%s(): %lld channels of the "
                   "input are no %lld groups of %lld for %lld results", c->name,
                   (long long)x->shape[1], (long long)c->groups,
                   (long long)w->shape[1], (long long)w->shape[0]);
    for (int i = 0; i < 2; i++) {
        int64_t reach = c->spread[i] * (w->shape[2 + i] - 1) + 1;
        if (c->step[i] < 1 || c->spread[i] < 1 || x->shape[2 + i] < reach)
            lang_raise(h->lang, "RuntimeError", c->at,
                       "%s(): the kernel is larger than the input", c->name);
        c->out[i] = (x->shape[2 + i] - reach) / c->step[i] + 1;
    }
}

// Of x [n, channels, rows, cols] and w [results, channels, kh, kw].
static Value convolution(Host *h, Convolution *c, Value input, const Tensor *w,
                         Value bias)
{
    Value in = padded(h, input, c->pad, c->at);
    Tensor *x = tensor_of(in);
    check_convolution(h, c, x, w);
    tensor_data(x);
    Value y = all_groups(h, c, x, w);
    if (torch_given(bias))
        y = torch_binary(h, LANE_OP_ADD, y, bias, DT_NONE, c->at);
    int64_t shape[4] = {x->shape[0], c->out[0], c->out[1], w->shape[0]};
    y = torch_reshaped(h, tensor_of(y), 4, shape, c->at);
    Tensor view = tensor_permute(tensor_of(y), (int[]){0, 3, 1, 2}), whole;
    return torch_result(h, tensor_contiguous(&whole, &view), whole, c->at);
}

// From the arguments' fourth on: stride, padding, dilation, groups.
static Convolution convolution_of(Host *h, const char *name, const Value *v,
                                  Span at)
{
    Convolution c = {.name = name, .at = at,
                     .groups = torch_int(h, v[6], "groups", 1, at)};

    pair(h, v[3], 1, c.step, at);
    pair(h, v[4], 0, c.pad, at);
    pair(h, v[5], 1, c.spread, at);
    return c;
}

static Value fn_conv2d(Host *h, const Args *args)
{
    TORCH_BIND("conv2d", "input", "weight", "bias=", "stride=", "padding=",
               "dilation=", "groups=");
    Tensor *x = torch_tensor(h, v[0], "input", at);
    Tensor *w = torch_tensor(h, v[1], "weight", at);
    Convolution c = convolution_of(h, "conv2d", v, at);
    if (x->rank != 4 || w->rank != 4)
        lang_unsupported(h->lang, at, "conv2d() but of [n, c, h, w] and "
                         "[k, c, y, x]");
    return convolution(h, &c, v[0], w, v[2]);
}

// As conv2d of one row.
static Value fn_conv1d(Host *h, const Args *args)
{
    TORCH_BIND("conv1d", "input", "weight", "bias=", "stride=", "padding=",
               "dilation=", "groups=");
    Tensor *x = torch_tensor(h, v[0], "input", at);
    Tensor *w = torch_tensor(h, v[1], "weight", at);
    Convolution c = convolution_of(h, "conv1d", v, at);
    if (x->rank != 3 || w->rank != 3)
        lang_unsupported(h->lang, at, "conv1d() but of [n, c, l] and [k, c, x]");
    c.step[0] = c.spread[0] = 1;
    c.pad[0] = 0;
    Tensor rows = tensor_unsqueeze(w, 2);
    Value in = torch_view(h, x, tensor_unsqueeze(x, 2));
    Tensor *y = tensor_of(convolution(h, &c, in, &rows, v[2]));
    return torch_view(h, y, tensor_select(y, 2, 0));
}

const TorchRow torch_loss_rows[] = {
    TORCH_ROW(mse_loss, IN_NN), TORCH_ROW(l1_loss, IN_NN),
    TORCH_ROW(kl_div, IN_NN), TORCH_ROW(cross_entropy, IN_NN),
    TORCH_ROW(one_hot, IN_NN), TORCH_ROW(embedding, IN_NN),
    TORCH_ROW(conv1d, IN_TORCH | IN_NN), TORCH_ROW(conv2d, IN_TORCH | IN_NN),
    TORCH_END,
};
