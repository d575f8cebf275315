// torch_scatter.c - elements by index tensors, as torch names it.
#include "host/torch_int.h"

static void check_index(Host *h, const Tensor *t, const Tensor *index, int dim,
                        const Tensor *src, const char *name, Span at)
{
    int rank = t->rank ? t->rank : 1;
    bool fits = (index->rank ? index->rank : 1) == rank;
    if (dtype_is_float(index->dtype) || index->dtype == DT_BOOL)
        lang_raise(h->lang, "RuntimeError", at,
                   "%s() takes an index of integers, not %s", name,
                   dtype_info(index->dtype)->name);
    for (int d = 0; fits && d < t->rank && d < index->rank; d++)
        fits = (d == dim || index->shape[d] <= t->shape[d])
               && (!src || index->shape[d] <= src->shape[d]);
    if (!fits || (src && src->rank != t->rank && tensor_count(index)))
        lang_raise(h->lang, "RuntimeError", at,
                   "%s(): the index is not within the tensors' shapes", name);
}

static _Noreturn void bad_element(Host *h, const BadIndex *bad, Span at)
{
    if (bad->dim < 0)
        torch_no_memory(h, at);
    lang_raise(h->lang, "RuntimeError", at,
               "index %lld is out of range for dimension %d of size %lld",
               (long long)bad->index, bad->dim, (long long)bad->size);
}

static Value fn_gather(Host *h, const Args *args)
{
    TORCH_BIND("gather", "input", "dim", "index", "*", "sparse_grad=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at), out;
    Tensor *i = torch_tensor(h, v[2], "index", at);
    BadIndex bad;
    int d = torch_dim(h, v[1], t->rank, at);
    check_index(h, t, i, d, NULL, "gather", at);
    if (!tensor_gather(&h->heap, &out, t, d, i, &bad))
        bad_element(h, &bad, at);
    return tensor_value(h, out);
}

static PutRule rule_of(Host *h, Value v, Span at)
{
    static const struct {
        const char *name;
        PutRule rule;
    } rules[] = {
        {"sum", PUT_ADD}, {"add", PUT_ADD}, {"prod", PUT_MUL},
        {"multiply", PUT_MUL}, {"amax", PUT_MAX}, {"amin", PUT_MIN},
    };
    if (!torch_given(v))
        return PUT_SET;
    for (size_t i = 0; v.kind == VAL_STR && i < countof(rules); i++)
        if (text_is(v.s, rules[i].name))
            return rules[i].rule;
    lang_raise(h->lang, "RuntimeError", at,
               "reduce is one of sum, prod, amax, amin");
}

// A copy of x with src put in.
static Value scattered(Host *h, Value x, Value dim, Value index, Value src,
                       PutRule rule, const char *name, Span at)
{
    Tensor *t = torch_tensor(h, x, "the argument", at), out;
    Tensor *i = torch_tensor(h, index, "index", at);
    BadIndex bad;
    int d = torch_dim(h, dim, t->rank, at);
    if (!tensor_of(src)) {
        Value n = torch_filled(h, t->dtype, 0, NULL, src, at);
        Tensor wide = tensor_expand(tensor_of(n), i->rank, i->shape);
        src = torch_view(h, tensor_of(n), wide);
    }
    Tensor *s = torch_tensor(h, src, "src", at);
    if (s->dtype != t->dtype)
        lang_raise(h->lang, "RuntimeError", at,
                   "%s(): src is %s, the tensor %s", name,
                   dtype_info(s->dtype)->name, dtype_info(t->dtype)->name);
    check_index(h, t, i, d, s, name, at);
    if (!tensor_cast(&out, t, t->dtype, true))
        torch_no_memory(h, at);
    Value result = tensor_value(h, out);
    if (!tensor_scatter(tensor_of(result), d, i, s, rule, &bad))
        bad_element(h, &bad, at);
    return result;
}

static Value fn_scatter(Host *h, const Args *args)
{
    TORCH_BIND("scatter", "input", "dim", "index", "src=", "*", "reduce=",
               "value=");
    Value src = torch_given(v[3]) ? v[3] : v[5];
    return scattered(h, v[0], v[1], v[2], src, rule_of(h, v[4], at), "scatter",
                     at);
}

static Value fn_scatter_add(Host *h, const Args *args)
{
    TORCH_BIND("scatter_add", "input", "dim", "index", "src");
    return scattered(h, v[0], v[1], v[2], v[3], PUT_ADD, "scatter_add", at);
}

static Value fn_scatter_reduce(Host *h, const Args *args)
{
    TORCH_BIND("scatter_reduce", "input", "dim", "index", "src", "reduce", "*",
               "include_self=");
    if (!torch_flag(h, v[5], true, at))
        lang_unsupported(h->lang, at,
                         "scatter_reduce() with include_self=False");
    return scattered(h, v[0], v[1], v[2], v[3], rule_of(h, v[4], at),
                     "scatter_reduce", at);
}

// ---- whole slices -----------------------------------------------------------

// t with dimension d first.
static Tensor to_front(const Tensor *t, int d)
{
    int order[TENSOR_MAX_RANK], n = 1;
    order[0] = d;
    for (int e = 0; e < t->rank; e++)
        if (e != d)
            order[n++] = e;
    return t->rank ? tensor_permute(t, order) : tensor_unsqueeze(t, 0);
}

static Tensor from_front(const Tensor *t, int d)
{
    int order[TENSOR_MAX_RANK];
    for (int e = 0; e < t->rank; e++)
        order[e] = e == d ? 0 : e < d ? e + 1 : e;
    return tensor_permute(t, order);
}

static Tensor row_numbers(Host *h, const Tensor *t, const Tensor *index,
                          const char *name, Span at)
{
    Tensor flat, one = index->rank ? *index : tensor_unsqueeze(index, 0);
    BadIndex bad;
    if (dtype_is_float(index->dtype) || index->rank > 1)
        lang_raise(h->lang, "RuntimeError", at,
                   "%s() takes an index of integers, of one dimension", name);
    if (!tensor_flat_index(&h->heap, &flat, t, &one, 1, &bad))
        torch_bad_index(h, &bad, at);
    tensor_value(h, flat);                  // kept until the call is over
    return flat;
}

static Value fn_index_select(Host *h, const Args *args)
{
    TORCH_BIND("index_select", "input", "dim", "index");
    Tensor *t = torch_tensor(h, v[0], "the argument", at), out, whole;
    Tensor *i = torch_tensor(h, v[2], "index", at);
    int d = torch_dim(h, v[1], t->rank, at);
    Tensor front = to_front(t, d);
    Tensor flat = row_numbers(h, &front, i, "index_select", at);
    if (!tensor_pick(&h->heap, &out, &front, 1, &flat))
        torch_no_memory(h, at);
    Tensor view = from_front(&out, d);
    bool ok = tensor_contiguous(&whole, &view);
    tensor_release(&out);
    return torch_result(h, ok, whole, at);
}

static Value put_slices(Host *h, const Args *args, const char *name, bool add)
{
    TORCH_BIND(name, "input", "dim", "index", "source", "*", "alpha=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at), out;
    Tensor *i = torch_tensor(h, v[2], "index", at);
    Value src = v[3];
    int d = torch_dim(h, v[1], t->rank, at);
    if (torch_given(v[4]))
        src = torch_binary(h, LANE_OP_MUL, src, v[4], DT_NONE, at);
    Tensor *s = torch_tensor(h, src, "source", at);
    Tensor from = to_front(s, d), want = to_front(t, d);
    want.shape[0] = tensor_count(i);
    if (s->dtype != t->dtype || !tensor_same_shape(&from, &want))
        lang_raise(h->lang, "RuntimeError", at,
                   "%s(): source has another dtype or shape than the slices",
                   name);
    if (!tensor_cast(&out, t, t->dtype, true))
        torch_no_memory(h, at);
    Value result = tensor_value(h, out);
    Tensor front = to_front(&out, d);
    Tensor flat = row_numbers(h, &front, i, name, at);
    tensor_put(&front, 1, &flat, &from, add);
    return result;
}

static Value fn_index_add(Host *h, const Args *args)
{
    return put_slices(h, args, "index_add", true);
}

static Value fn_index_copy(Host *h, const Args *args)
{
    return put_slices(h, args, "index_copy", false);
}

// ---- masks ------------------------------------------------------------------

static Value fn_masked_select(Host *h, const Args *args)
{
    TORCH_BIND("masked_select", "input", "mask");
    Tensor *t = torch_tensor(h, v[0], "the argument", at), shape = {0};
    Tensor *m = torch_tensor(h, v[1], "mask", at);
    if (m->dtype != DT_BOOL
        || !broadcast_shapes(t, m, &shape.rank, shape.shape))
        lang_raise(h->lang, "RuntimeError", at,
                   "masked_select() takes a bool mask that fits");
    Tensor a = tensor_expand(t, shape.rank, shape.shape);
    Tensor b = tensor_expand(m, shape.rank, shape.shape);
    if (shape.rank == 0) {
        a = tensor_unsqueeze(&a, 0);
        b = tensor_unsqueeze(&b, 0);
    }
    Value x = torch_view(h, t, a), mask = torch_view(h, m, b);
    return torch_getitem(h->lang, x.foreign, mask, at);
}

static Value fn_nonzero(Host *h, const Args *args)
{
    TORCH_BIND("nonzero", "input", "*", "as_tuple=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at), out;
    if (torch_flag(h, v[1], false, at))
        return torch_find(TEXT("where"), IN_TORCH)(
            h, &(Args){.at = v, .count = 1, .at_span = at});
    return torch_result(h, tensor_nonzero(&h->heap, &out, t), out, at);
}

static Value fn_bincount(Host *h, const Args *args)
{
    TORCH_BIND("bincount", "input", "weights=", "minlength=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at), x, out;
    int64_t most = torch_int(h, v[2], "minlength", 0, at) - 1;
    if (torch_given(v[1]))
        lang_unsupported(h->lang, at, "bincount() with weights");
    if (dtype_is_float(t->dtype) || t->rank != 1)
        lang_raise(h->lang, "RuntimeError", at, "bincount() takes integers of "
                   "one dimension");
    if (!tensor_cast(&x, t, DT_I64, true))
        torch_no_memory(h, at);
    tensor_value(h, x);                     // kept until the call is over
    const int64_t *from = tensor_data(&x);
    for (int64_t i = 0; i < tensor_count(&x); i++) {
        if (from[i] < 0)
            lang_raise(h->lang, "RuntimeError", at,
                       "bincount() takes no negative numbers");
        most = from[i] > most ? from[i] : most;
    }
    int64_t size = most == INT64_MAX ? -1 : most + 1;
    if (!tensor_new(&h->heap, &out, DT_I64, 1, &size))
        torch_no_memory(h, at);
    int64_t *to = tensor_data(&out);
    for (int64_t i = 0; i < tensor_count(&x); i++)
        to[from[i]]++;
    return tensor_value(h, out);
}

const TorchRow torch_scatter_rows[] = {
    TORCH_ROW(bincount, BOTH),
    TORCH_ROW(gather, BOTH), TORCH_ROW(scatter, BOTH),
    TORCH_ROW(scatter_add, BOTH), TORCH_ROW(scatter_reduce, BOTH),
    TORCH_ROW(index_select, BOTH), TORCH_ROW(index_add, BOTH),
    TORCH_ROW(index_copy, BOTH), TORCH_ROW(masked_select, BOTH),
    TORCH_ROW(nonzero, BOTH), TORCH_SAME(argwhere, nonzero, BOTH), TORCH_END,
};
