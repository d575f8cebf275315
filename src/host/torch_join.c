// torch_join.c - several tensors to one and one to several.
#include "host/torch_int.h"

// ---- repeats ----------------------------------------------------------------

// [r0, n0, r1, n1, ...], the r expanded, then merged.
static Value repeated(Host *h, const Tensor *t, int rank, const int64_t *times,
                      Span at)
{
    int64_t wide[TENSOR_MAX_RANK], shape[TENSOR_MAX_RANK];
    Tensor view = *t;
    if (rank < t->rank || 2 * rank > TENSOR_MAX_RANK)
        lang_raise(h->lang, "RuntimeError", at,
                   "repeat() of %d dimensions with %d numbers", t->rank, rank);
    for (int d = 0; d < rank; d++) {
        int own = d - (rank - t->rank);
        int64_t size = own < 0 ? 1 : t->shape[own];
        if (times[d] < 0
            || __builtin_mul_overflow(times[d], size, &shape[d]))
            lang_raise(h->lang, "RuntimeError", at,
                       "repeat() %lld times", (long long)times[d]);
        if (own < 0)
            view = tensor_unsqueeze(&view, 2 * d);
        view = tensor_unsqueeze(&view, 2 * d);
        wide[2 * d] = times[d];
        wide[2 * d + 1] = size;
    }
    view = tensor_expand(&view, 2 * rank, wide);
    Tensor whole;
    if (!tensor_view(&whole, &view, rank, shape))
        return torch_reshaped(h, &view, rank, shape, at);
    tensor_copy_later(&view, &whole);       // never shares memory
    tensor_release(&whole);
    return tensor_value(h, view);
}

static Value fn_repeat(Host *h, const Args *args)
{
    Tensor *t = torch_first(h, args);
    int64_t times[TENSOR_MAX_RANK];
    int rank = torch_sizes(h, args, 1, times);
    return repeated(h, t, rank, times, args->at_span);
}

static Value fn_tile(Host *h, const Args *args)
{
    Tensor *t = torch_first(h, args);
    int64_t times[TENSOR_MAX_RANK], all[TENSOR_MAX_RANK];
    int n = torch_sizes(h, args, 1, times), rank = n > t->rank ? n : t->rank;
    for (int d = 0; d < rank; d++)
        all[d] = d < rank - n ? 1 : times[d - (rank - n)];
    return repeated(h, t, rank, all, args->at_span);
}

// [a, b] repeated [2, 1] times: numbers [0, 0, 1].
static Tensor repeat_numbers(Host *h, const Tensor *repeats, int64_t size,
                             Span at)
{
    Tensor times, out;
    int64_t n = 0, k = 0;
    if (!tensor_cast(&times, repeats, DT_I64, true))
        torch_no_memory(h, at);
    const int64_t *r = tensor_data(&times);
    bool one = tensor_count(&times) == 1;
    for (int64_t i = 0; i < size; i++)
        if (r[one ? 0 : i] < 0
            || __builtin_add_overflow(n, r[one ? 0 : i], &n))
            lang_raise(h->lang, "RuntimeError", at,
                       "repeat_interleave(): repeats of %lld",
                       (long long)r[one ? 0 : i]);
    if (!tensor_new_raw(&h->heap, &out, DT_I64, 1, &n))
        torch_no_memory(h, at);
    int64_t *to = tensor_data(&out);
    for (int64_t i = 0; i < size; i++)
        for (int64_t j = 0; j < r[one ? 0 : i]; j++)
            to[k++] = i;
    tensor_release(&times);
    return out;
}

static Value repeat_by_tensor(Host *h, const Tensor *t, int d,
                              const Tensor *repeats, Span at)
{
    int order[TENSOR_MAX_RANK], back[TENSOR_MAX_RANK], n = 0;
    int64_t size = t->rank ? t->shape[d] : 1;
    Tensor out, whole;
    if (repeats->rank > 1 || dtype_is_float(repeats->dtype)
        || (tensor_count(repeats) != 1 && tensor_count(repeats) != size))
        lang_raise(h->lang, "RuntimeError", at,
                   "repeat_interleave(): repeats must be one integer or %lld",
                   (long long)size);
    Tensor numbers = repeat_numbers(h, repeats, size, at);
    order[n++] = d;
    for (int e = 0; e < t->rank; e++)
        if (e != d)
            order[n++] = e;
    for (int e = 0; e < n; e++)
        back[order[e]] = e;
    Tensor moved = tensor_permute(t, order);
    bool ok = tensor_pick(&h->heap, &out, &moved, 1, &numbers);
    tensor_release(&numbers);
    if (!ok)
        torch_no_memory(h, at);
    moved = tensor_permute(&out, back);
    ok = tensor_contiguous(&whole, &moved);
    tensor_release(&out);
    return torch_result(h, ok, whole, at);
}

// repeat_interleave(x, 3, dim), (x, tensor, dim), (repeats): numbers.
static Value fn_repeat_interleave(Host *h, const Args *args)
{
    TORCH_BIND("repeat_interleave", "input", "repeats=", "dim=", "*",
               "output_size=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at), out;
    if (!torch_given(v[1]))
        return tensor_value(h, repeat_numbers(h, t, tensor_count(t), at));
    Value x = v[0];
    int64_t count = tensor_count(t);
    if (!torch_given(v[2]))
        x = torch_reshaped(h, t, 1, &count, at);
    t = tensor_of(x);
    int d = torch_given(v[2]) ? torch_dim(h, v[2], t->rank, at) : 0;
    if (torch_is_list(v[1]))
        lang_unsupported(h->lang, at, "repeats as a list");
    if (t->rank == 0)
        x = torch_view(h, t, tensor_unsqueeze(t, 0)), t = tensor_of(x);
    if (tensor_of(v[1]))
        return repeat_by_tensor(h, t, d, tensor_of(v[1]), at);
    int64_t n = torch_int(h, v[1], "repeats", 1, at);
    if (n < 0 || t->rank + 1 > TENSOR_MAX_RANK)
        lang_raise(h->lang, "RuntimeError", at,
                   "repeat_interleave(): repeats of %lld", (long long)n);
    return torch_result(h, tensor_repeat_interleave(&out, t, n, d), out, at);
}

// ---- several to one ---------------------------------------------------------

static Value joined(Host *h, Value list, Value dim, bool stack, Span at)
{
    const char *name = stack ? "stack" : "cat";
    const Tensor *in[TORCH_MOST_TENSORS], *places[TORCH_MOST_TENSORS];
    Tensor wide[TORCH_MOST_TENSORS], out;
    List *items = value_to_list(h->lang, list, at);
    int n = torch_tensor_list(h, list, in, at), used = 0;
    int rank = in[0]->rank + stack;
    for (int i = 0; i < n && !stack; i++)   // an empty vector fits everywhere
        rank = in[i]->rank > rank ? in[i]->rank : rank;
    if (rank > TENSOR_MAX_RANK || rank == 0)
        lang_raise(h->lang, "RuntimeError", at, "%s(): %s", name,
                   rank ? "too many dimensions"
                        : "tensors without dimensions do not join");
    int d = torch_given(dim) ? torch_dim(h, dim, rank, at) : 0;
    for (int i = 0; i < n; i++) {
        bool nothing = !stack && in[i]->rank == 1 && in[i]->shape[0] == 0;
        if (nothing && rank > 1)
            continue;
        wide[i] = stack ? tensor_unsqueeze(in[i], d) : *in[i];
        bool same = wide[i].rank == rank;
        for (int e = 0; same && used && e < rank; e++)
            same = wide[i].shape[e] == places[0]->shape[e]
                   || (!stack && e == d);
        if (!same)
            lang_raise(h->lang, "RuntimeError", at,
                       "%s(): tensor %d has another shape than those before",
                       name, i);
        places[used++] = &wide[i];
    }
    DType t = torch_promote_list(h, items->at, n);
    if (used == 0)
        places[used++] = in[0];
    return torch_result(h, tensor_cat(&h->heap, &out, places, used,
                                      places[0]->rank == rank ? d : 0, t),
                        out, at);
}

static Value fn_cat(Host *h, const Args *args)
{
    TORCH_BIND("cat", "tensors", "dim=");
    return joined(h, v[0], v[1], false, at);
}

static Value fn_stack(Host *h, const Args *args)
{
    TORCH_BIND("stack", "tensors", "dim=");
    return joined(h, v[0], v[1], true, at);
}

// Views of one shape: [n0, n1, ...].
static Value fn_meshgrid(Host *h, const Args *args)
{
    Span at = args->at_span;
    const Tensor *in[TENSOR_MAX_RANK];
    Value out[TENSOR_MAX_RANK], list;
    int64_t shape[TENSOR_MAX_RANK];
    bool swapped = false;
    list = args->count == 1 && torch_is_list(args->at[0])
               ? args->at[0] : v_tuple(h->lang, args->at, args->count);
    for (int i = 0; i < args->keyword_count; i++)
        swapped = args->values[i].kind == VAL_STR
                  && text_is(args->values[i].s, "xy");
    if (list.list->len > TENSOR_MAX_RANK)
        lang_raise(h->lang, "RuntimeError", at, "meshgrid() of %d tensors",
                   list.list->len);
    int n = torch_tensor_list(h, list, in, at);
    for (int i = 0; i < n; i++) {
        if (in[i]->rank > 1)
            lang_raise(h->lang, "RuntimeError", at,
                       "meshgrid() takes tensors of one dimension");
        shape[i] = tensor_count(in[i]);
    }
    for (int i = 0; i < n; i++) {
        Tensor t = in[i]->rank ? *in[i] : tensor_unsqueeze(in[i], 0);
        for (int d = i + 1; d < n; d++)
            t = tensor_unsqueeze(&t, t.rank);
        t = tensor_expand(&t, n, shape);
        if (swapped && n > 1) {
            int order[TENSOR_MAX_RANK];
            for (int d = 0; d < n; d++)
                order[d] = d == 0 ? 1 : d == 1 ? 0 : d;
            t = tensor_permute(&t, order);
        }
        out[i] = torch_view(h, in[i], t);
    }
    return v_tuple(h->lang, out, n);
}

// ---- one to several ---------------------------------------------------------

// split(t, 3) or split(t, [1, 2]); chunk(t, n).
static Value cut(Host *h, const Args *args, const char *name, bool chunks)
{
    TORCH_BIND(name, "input", chunks ? "chunks" : "split_size", "dim=");
    Value parts[TORCH_MOST_TENSORS];
    int n = 0;
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    int d = torch_given(v[2]) ? torch_dim(h, v[2], t->rank, at) : 0;
    bool list = torch_is_list(v[1]);
    int64_t from = 0, each = 0;
    if (t->rank == 0)
        lang_raise(h->lang, "RuntimeError", at, "%s() of no dimension", name);
    if (!list) {
        each = torch_int(h, v[1], "the size", 0, at);
        if (chunks && each > 0)
            each = (t->shape[d] + each - 1) / each;
        if (each < 0 || (each == 0 && t->shape[d]))
            lang_raise(h->lang, "RuntimeError", at, "%s() in parts of %lld",
                       name, (long long)each);
    }
    while (list ? n < v[1].list->len : from < t->shape[d] || n == 0) {
        int64_t size = list ? torch_int(h, v[1].list->at[n], "a size", 0, at)
                            : each;
        int64_t left = t->shape[d] - from;
        size = !list && size > left ? left : size;
        if (n == TORCH_MOST_TENSORS || size < 0 || size > left)
            lang_raise(h->lang, "RuntimeError", at,
                       "%s(): the parts do not fit size %lld", name,
                       (long long)t->shape[d]);
        parts[n++] = torch_view(h, t, tensor_slice(t, d, from, size, 1));
        from += size;
    }
    if (from != t->shape[d])
        lang_raise(h->lang, "RuntimeError", at,
                   "%s(): the parts add up to %lld, not %lld", name,
                   (long long)from, (long long)t->shape[d]);
    return v_tuple(h->lang, parts, n);
}

static Value fn_split(Host *h, const Args *args)
{
    return cut(h, args, "split", false);
}

static Value fn_chunk(Host *h, const Args *args)
{
    return cut(h, args, "chunk", true);
}

static Value fn_unbind(Host *h, const Args *args)
{
    TORCH_BIND("unbind", "input", "dim=");
    Value parts[TORCH_MOST_TENSORS];
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    int d = torch_given(v[1]) ? torch_dim(h, v[1], t->rank, at) : 0;
    if (t->rank == 0 || t->shape[d] > TORCH_MOST_TENSORS)
        lang_raise(h->lang, "RuntimeError", at,
                   "unbind() of more than %d parts, or of no dimension",
                   TORCH_MOST_TENSORS);
    for (int i = 0; i < t->shape[d]; i++)
        parts[i] = torch_view(h, t, tensor_select(t, d, i));
    return v_tuple(h->lang, parts, (int)t->shape[d]);
}

const TorchRow torch_join_rows[] = {
    TORCH_ROW(repeat, METHOD), TORCH_ROW(tile, BOTH),
    TORCH_ROW(repeat_interleave, BOTH), TORCH_ROW(cat, IN_TORCH),
    TORCH_SAME(concat, cat, IN_TORCH), TORCH_SAME(concatenate, cat, IN_TORCH),
    TORCH_ROW(stack, IN_TORCH), TORCH_ROW(meshgrid, IN_TORCH),
    TORCH_ROW(split, BOTH), TORCH_ROW(chunk, BOTH), TORCH_ROW(unbind, BOTH),
    TORCH_END,
};
