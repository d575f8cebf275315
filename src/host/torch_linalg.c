// torch_linalg.c - products of matrices and vectors, as torch names them.
#include "host/torch_int.h"

static void check_product(Host *h, const Tensor *a, const Tensor *b, Span at)
{
    if (a->dtype != b->dtype)
        lang_raise(h->lang, "RuntimeError", at,
                   "expected one dtype, found %s and %s",
                   dtype_info(a->dtype)->name, dtype_info(b->dtype)->name);
    if (a->dtype == DT_BOOL)
        lang_raise(h->lang, "RuntimeError", at,
                   "matrix products are not there for bool");
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
    if (col)
        out = tensor_select(&out, out.rank - 1, 0);
    if (row)
        out = tensor_select(&out, out.rank - (col ? 1 : 2), 0);
    return tensor_value(h, out);
}

Value torch_transposed(Host *h, Value x, int a, int b)
{
    const Tensor *t = tensor_of(x);
    int order[TENSOR_MAX_RANK];
    for (int d = 0; d < t->rank; d++)
        order[d] = d == a ? b : d == b ? a : d;
    return torch_view(h, t, tensor_permute(t, order));
}

// A product of operands that must have these ranks.
static Value ranked(Host *h, const Args *args, const char *name, int left,
                    int right)
{
    TORCH_BIND(name, "input", "mat2");
    Tensor *a = torch_tensor(h, v[0], "the left operand", at);
    Tensor *b = torch_tensor(h, v[1], "the right operand", at);
    if (a->rank != left || b->rank != right)
        lang_raise(h->lang, "RuntimeError", at,
                   "%s() takes tensors of %d and %d dimensions, found %d and "
                   "%d", name, left, right, a->rank, b->rank);
    if (left == 3 && a->shape[0] != b->shape[0])
        lang_raise(h->lang, "RuntimeError", at,
                   "%s(): batch sizes %lld and %lld differ", name,
                   (long long)a->shape[0], (long long)b->shape[0]);
    return torch_matmul(h, v[0], v[1], at);
}

static Value fn_matmul(Host *h, const Args *args)
{
    TORCH_BIND("matmul", "input", "other");
    return torch_matmul(h, v[0], v[1], at);
}

static Value fn_mm(Host *h, const Args *args)
{
    return ranked(h, args, "mm", 2, 2);
}

static Value fn_bmm(Host *h, const Args *args)
{
    return ranked(h, args, "bmm", 3, 3);
}

static Value fn_mv(Host *h, const Args *args)
{
    return ranked(h, args, "mv", 2, 1);
}

static Value fn_dot(Host *h, const Args *args)
{
    return ranked(h, args, "dot", 1, 1);
}

static Value fn_outer(Host *h, const Args *args)
{
    TORCH_BIND("outer", "input", "vec2");
    Tensor *a = torch_tensor(h, v[0], "input", at);
    Tensor *b = torch_tensor(h, v[1], "vec2", at);
    if (a->rank != 1 || b->rank != 1)
        lang_raise(h->lang, "RuntimeError", at,
                   "outer() takes two tensors of one dimension");
    Value column = torch_view(h, a, tensor_unsqueeze(a, 1));
    return torch_binary(h, LANE_OP_MUL, column, v[1], DT_NONE, at);
}

// Every product of an element of a and one of b: sizes multiply.
static Value fn_kron(Host *h, const Args *args)
{
    TORCH_BIND("kron", "input", "other");
    Tensor a = *torch_tensor(h, v[0], "input", at);
    Tensor b = *torch_tensor(h, v[1], "other", at);
    int64_t shape[TENSOR_MAX_RANK];
    while (a.rank < b.rank)
        a = tensor_unsqueeze(&a, 0);
    while (b.rank < a.rank)
        b = tensor_unsqueeze(&b, 0);
    int n = a.rank;
    if (2 * n > TENSOR_MAX_RANK)
        lang_raise(h->lang, "RuntimeError", at, "kron() of %d dimensions", n);
    for (int d = 0; d < n; d++) {
        if (__builtin_mul_overflow(a.shape[2 * d], b.shape[2 * d], &shape[d]))
            lang_raise(h->lang, "RuntimeError", at, "kron() is too large");
        a = tensor_unsqueeze(&a, 2 * d + 1);
        b = tensor_unsqueeze(&b, 2 * d);
    }
    Value x = torch_view(h, tensor_of(v[0]), a);
    Value y = torch_view(h, tensor_of(v[1]), b);
    x = torch_binary(h, LANE_OP_MUL, x, y, DT_NONE, at);
    return torch_reshaped(h, tensor_of(x), n, shape, at);
}

// beta input + alpha (a @ b)
static Value added_product(Host *h, const Args *args, const char *name)
{
    TORCH_BIND(name, "input", "mat1", "mat2", "*", "beta=", "alpha=");
    Value p = torch_matmul(h, v[1], v[2], at), x = v[0];
    if (torch_given(v[4]))
        p = torch_binary(h, LANE_OP_MUL, p, v[4], DT_NONE, at);
    if (torch_given(v[3]))
        x = torch_binary(h, LANE_OP_MUL, x, v[3], DT_NONE, at);
    return torch_binary(h, LANE_OP_ADD, x, p, DT_NONE, at);
}

static Value fn_addmm(Host *h, const Args *args)
{
    return added_product(h, args, "addmm");
}

static Value fn_baddbmm(Host *h, const Args *args)
{
    return added_product(h, args, "baddbmm");
}

// fp8 matrices times scales, as f32 sums.
static Value fn__scaled_mm(Host *h, const Args *args)
{
    TORCH_BIND("_scaled_mm", "input", "mat2", "scale_a=", "scale_b=", "bias=",
               "scale_result=", "out_dtype=", "use_fast_accum=");
    DType wide = torch_dtype(h, DT_F32);
    Value a = torch_cast(h, v[0], wide, at), b = torch_cast(h, v[1], wide, at);
    Value p = torch_matmul(h, a, b, at);
    for (int i = 2; i <= 4; i++)
        if (torch_given(v[i]))
            p = torch_elementwise(h, i == 4 ? LANE_OP_ADD : LANE_OP_MUL,
                                  (Value[]){p, v[i]}, 2, wide, DT_NONE, at);
    return torch_cast(h, p, torch_asked_dtype(h, v[6], wide, at), at);
}

// ---- einsum -----------------------------------------------------------------

static Value fn_einsum(Host *h, const Args *args)
{
    const Tensor *in[8] = {NULL};
    Tensor out;
    TextBuf why = {0};
    Lang *l = h->lang;
    Span at = args->at_span;
    if (args->count < 2 || args->at[0].kind != VAL_STR)
        lang_raise(l, "TypeError", at, "einsum takes an equation and tensors");
    List rest = {.at = args->at + 1, .len = args->count - 1};
    if (rest.len == 1 && torch_is_list(rest.at[0]))
        rest = *rest.at[0].list;
    if (rest.len > (int)countof(in) || rest.len < 1)
        lang_unsupported(l, at, "einsum of %d tensors", rest.len);
    for (int i = 0; i < rest.len; i++) {
        in[i] = torch_tensor(h, rest.at[i], "an operand", at);
        if (in[i]->dtype != in[0]->dtype)
            lang_raise(l, "RuntimeError", at,
                       "expected one dtype, found %s and %s",
                       dtype_info(in[0]->dtype)->name,
                       dtype_info(in[i]->dtype)->name);
    }
    if (!tensor_einsum(&h->heap, &out, args->at[0].s, in, rest.len,
                       in[0]->dtype, &why)) {
        if (why.len == 0)
            torch_no_memory(h, at);
        Text text = text_copy(h->options.arena, buf_view(&why));
        buf_release(&why);
        lang_raise(l, "RuntimeError", at, "einsum '%.*s': %.*s",
                   TEXT_ARG(args->at[0].s), TEXT_ARG(text));
    }
    return tensor_value(h, out);
}

const TorchRow torch_linalg_rows[] = {
    TORCH_ROW(matmul, BOTH), TORCH_ROW(mm, BOTH), TORCH_ROW(bmm, BOTH),
    TORCH_ROW(mv, BOTH), TORCH_ROW(dot, BOTH), TORCH_ROW(outer, BOTH),
    TORCH_ROW(kron, BOTH),
    TORCH_ROW(addmm, BOTH), TORCH_ROW(baddbmm, BOTH),
    TORCH_ROW(_scaled_mm, IN_TORCH), TORCH_ROW(einsum, IN_TORCH), TORCH_END,
};
