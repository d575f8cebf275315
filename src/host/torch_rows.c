// torch_rows.c - softmax, running sums, sorting, as torch names them.
#include "host/torch_int.h"

Value torch_row_op(Host *h, Value x, RowOp op, int dim, DType t, Span at)
{
    Tensor out, *in = torch_tensor(h, x, "the argument", at);
    Tensor *reuse = torch_steal(x);
    bool ok = tensor_rows(&h->heap, &out, NULL, in, op, dim, t, reuse);
    if (ok && reuse && out.storage == reuse->storage)
        tensor_release(reuse);              // it is out's now
    return torch_result(h, ok, out, at);
}

static Value soft(Host *h, const Args *args, const char *name, RowOp op)
{
    TORCH_BIND(name, "input", "dim=", "_stacklevel=", "dtype=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    if (v[2].kind == VAL_DTYPE)             // torch.softmax(x, dim, dtype)
        v[3] = v[2];
    DType out = torch_asked_dtype(h, v[3], t->dtype, at);
    if (!dtype_is_float(out))
        lang_raise(h->lang, "RuntimeError", at,
                   "%s() of %s: convert to a float first", name,
                   dtype_info(out)->name);
    if (!torch_given(v[1]))
        lang_raise(h->lang, "TypeError", at, "%s() needs dim=", name);
    return torch_row_op(h, v[0], op, torch_dim(h, v[1], t->rank, at), out, at);
}

static Value fn_softmax(Host *h, const Args *args)
{
    return soft(h, args, "softmax", ROWS_SOFTMAX);
}

static Value fn_log_softmax(Host *h, const Args *args)
{
    return soft(h, args, "log_softmax", ROWS_LOG_SOFTMAX);
}

static Value running(Host *h, const Args *args, const char *name, RowOp op)
{
    TORCH_BIND(name, "input", "dim", "*", "dtype=");
    DType own = torch_tensor(h, v[0], "the argument", at)->dtype;
    DType out = torch_asked_dtype(h, v[2], dtype_is_float(own) ? own : DT_I64,
                                  at);
    Value x = dtype_is_float(own) && !dtype_is_float(out)
                  ? torch_cast(h, v[0], out, at) : v[0];
    return torch_row_op(h, x, op, torch_dim(h, v[1], tensor_of(x)->rank, at),
                        out, at);
}

static Value fn_cumsum(Host *h, const Args *args)
{
    return running(h, args, "cumsum", ROWS_CUMSUM);
}

static Value fn_cumprod(Host *h, const Args *args)
{
    return running(h, args, "cumprod", ROWS_CUMPROD);
}

// Each element less the one before, n times.
static Value fn_diff(Host *h, const Args *args)
{
    TORCH_BIND("diff", "input", "n=", "dim=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    int64_t n = torch_int(h, v[1], "n", 1, at);
    int d = torch_dim(h, torch_given(v[2]) ? v[2] : v_int(-1), t->rank, at);
    Value x = v[0];
    if (t->rank == 0 || n < 0)
        lang_raise(h->lang, "RuntimeError", at,
                   "diff() needs a dimension, and n of 0 or more");
    for (; n > 0 && tensor_of(x)->shape[d] > 0; n--) {
        t = tensor_of(x);
        int64_t size = t->shape[d] - 1;
        Value after = torch_view(h, t, tensor_slice(t, d, 1, size, 1));
        Value before = torch_view(h, t, tensor_slice(t, d, 0, size, 1));
        x = torch_binary(h, t->dtype == DT_BOOL ? LANE_OP_XOR : LANE_OP_SUB,
                         after, before, DT_NONE, at);
    }
    return x;
}

// ---- with places ------------------------------------------------------------

static Value with_places(Host *h, const char *name, Value x, RowOp op, int dim,
                         Span at)
{
    static const char *const fields[] = {"values", "indices"};
    Tensor *t = torch_tensor(h, x, "the argument", at), out, places;
    if (!tensor_rows(&h->heap, &out, &places, t, op, dim, t->dtype, NULL))
        torch_no_memory(h, at);
    Value both[2] = {tensor_value(h, out), tensor_value(h, places)};
    return v_named_tuple(h->lang, name, fields, both, 2);
}

static Value fn_cummax(Host *h, const Args *args)
{
    TORCH_BIND("cummax", "input", "dim");
    int rank = torch_tensor(h, v[0], "the argument", at)->rank;
    return with_places(h, "cummax", v[0], ROWS_CUMMAX,
                       torch_dim(h, v[1], rank, at), at);
}

static Value fn_cummin(Host *h, const Args *args)
{
    TORCH_BIND("cummin", "input", "dim");
    int rank = torch_tensor(h, v[0], "the argument", at)->rank;
    return with_places(h, "cummin", v[0], ROWS_CUMMIN,
                       torch_dim(h, v[1], rank, at), at);
}

static Value sorted(Host *h, Value x, Value dim, Value descending, Span at)
{
    int rank = torch_tensor(h, x, "the argument", at)->rank;
    int d = torch_dim(h, torch_given(dim) ? dim : v_int(-1), rank, at);
    bool down = torch_flag(h, descending, false, at);
    return with_places(h, "sort", x, down ? ROWS_SORT_DOWN : ROWS_SORT_UP, d,
                       at);
}

static Value fn_sort(Host *h, const Args *args)
{
    TORCH_BIND("sort", "input", "dim=", "descending=", "*", "stable=");
    return sorted(h, v[0], v[1], v[2], at);
}

static Value fn_argsort(Host *h, const Args *args)
{
    TORCH_BIND("argsort", "input", "dim=", "descending=", "*", "stable=");
    return sorted(h, v[0], v[1], v[2], at).list->at[1];
}

// The first k of the sorted ones.
static Value fn_topk(Host *h, const Args *args)
{
    static const char *const fields[] = {"values", "indices"};
    TORCH_BIND("topk", "input", "k", "dim=", "largest=", "sorted=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    int64_t k = torch_int(h, v[1], "k", 0, at);
    int d = torch_dim(h, torch_given(v[2]) ? v[2] : v_int(-1), t->rank, at);
    if (k < 0 || k > (t->rank ? t->shape[d] : 1))
        lang_raise(h->lang, "RuntimeError", at,
                   "topk(): k = %lld is out of range for size %lld",
                   (long long)k, (long long)(t->rank ? t->shape[d] : 1));
    bool largest = torch_flag(h, v[3], true, at);
    Value all = sorted(h, v[0], v_int(d), v_bool(largest), at), both[2];
    for (int i = 0; i < 2; i++) {
        Tensor *one = tensor_of(all.list->at[i]), out;
        Tensor part = t->rank ? tensor_slice(one, d, 0, k, 1) : *one;
        both[i] = torch_result(h, tensor_contiguous(&out, &part), out, at);
    }
    return v_named_tuple(h->lang, "topk", fields, both, 2);
}

const TorchRow torch_rows_rows[] = {
    TORCH_ROW(softmax, ALL), TORCH_ROW(log_softmax, ALL),
    TORCH_ROW(cumsum, BOTH), TORCH_ROW(diff, BOTH), TORCH_ROW(cumprod, BOTH),
    TORCH_ROW(cummax, BOTH), TORCH_ROW(cummin, BOTH), TORCH_ROW(sort, BOTH),
    TORCH_ROW(argsort, BOTH), TORCH_ROW(topk, BOTH), TORCH_END,
};
