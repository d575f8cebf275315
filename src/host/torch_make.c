// torch_make.c - new tensors: ones, arange, randn, torch.tensor.
#include <math.h>

#include "host/torch_int.h"

static bool given(Value v)
{
    return v.kind != VAL_UNBOUND && v.kind != VAL_NONE;
}

// Keywords that say where a tensor lives or how it is tracked: no effect here.
static const char *const inert[] = {
    "device", "requires_grad", "layout", "pin_memory", "memory_format", "out",
    "generator",
};

// Positional sizes and the keywords that matter; `value` is fill_value.
typedef struct {
    int rank;
    int64_t shape[TENSOR_MAX_RANK];
    Value dtype, value;
} Recipe;

static bool is_inert(Text name)
{
    for (size_t i = 0; i < countof(inert); i++)
        if (text_is(name, inert[i]))
            return true;
    return false;
}

static Recipe read_recipe(Host *h, const Args *args, const char *name,
                          bool filled)
{
    Recipe r = {.dtype = {.kind = VAL_UNBOUND}, .value = {.kind = VAL_UNBOUND}};
    Args sizes = *args;
    if (filled && args->count == 2) {
        r.value = args->at[1];
        sizes.count = 1;
    }
    bool sized = false;
    for (int i = 0; i < args->keyword_count; i++) {
        if (text_is(args->names[i], "dtype"))
            r.dtype = args->values[i];
        else if (text_is(args->names[i], "fill_value"))
            r.value = args->values[i];
        else if (text_is(args->names[i], "size")) {
            r.rank = torch_size_list(h, args->values[i], r.shape, args->at_span);
            sized = true;
        } else if (!is_inert(args->names[i]))
            lang_raise(h->lang, "TypeError", args->at_span,
                       "%s() has no argument '%.*s'", name,
                       TEXT_ARG(args->names[i]));
    }
    if (!sized)
        r.rank = sizes.count ? torch_sizes(h, &sizes, 0, r.shape) : 0;
    for (int d = 0; d < r.rank; d++)
        if (r.shape[d] < 0)
            lang_raise(h->lang, "RuntimeError", args->at_span,
                       "%s(): a size of %lld", name, (long long)r.shape[d]);
    return r;
}

static DType recipe_dtype(Host *h, const Recipe *r, DType fallback, Span at)
{
    DType t = given(r->dtype) ? value_to_dtype(h->lang, r->dtype, at) : fallback;
    if (!dtype_info(t)->built)
        lang_unsupported(h->lang, at, "tensors of dtype %s",
                         dtype_info(t)->name);
    return torch_dtype(h, t);
}

static Value filled(Host *h, DType t, int rank, const int64_t *shape, Value v,
                    Span at)
{
    Tensor out;
    if (!tensor_new(&h->heap, &out, t, rank, shape))
        torch_no_memory(h, at);
    Operand o = torch_operand(h, v, at);
    if (o.f64 != 0 || isnan(o.f64))
        tensor_fill_f64(&out, o.f64);
    return tensor_value(h, out);
}

static Value constant(Host *h, const Args *args, const char *name, Value v)
{
    Recipe r = read_recipe(h, args, name, false);
    DType t = recipe_dtype(h, &r, DT_F32, args->at_span);
    return filled(h, t, r.rank, r.shape, v, args->at_span);
}

static Value fn_zeros(Host *h, const Args *args)
{
    return constant(h, args, "zeros", v_int(0));
}

static Value fn_ones(Host *h, const Args *args)
{
    return constant(h, args, "ones", v_int(1));
}

static Value fn_full(Host *h, const Args *args)
{
    Recipe r = read_recipe(h, args, "full", true);
    DType own = r.value.kind == VAL_FLOAT ? DT_F32
                : r.value.kind == VAL_BOOL ? DT_BOOL : DT_I64;
    if (!torch_is_number(r.value))
        lang_raise(h->lang, "TypeError", args->at_span,
                   "full() needs a number to fill with");
    DType t = recipe_dtype(h, &r, own, args->at_span);
    return filled(h, t, r.rank, r.shape, r.value, args->at_span);
}

// ---- like another tensor ----------------------------------------------------------

static Value like(Host *h, const Args *args, const char *name, Value v)
{
    Value dtype = {.kind = VAL_UNBOUND};
    if (args->count < 1)
        lang_raise(h->lang, "TypeError", args->at_span, "%s() of what?", name);
    Tensor *t = torch_tensor(h, args->at[0], "the argument", args->at_span);
    if (args->count > 1)
        v = args->at[1];
    for (int i = 0; i < args->keyword_count; i++) {
        if (text_is(args->names[i], "dtype"))
            dtype = args->values[i];
        else if (text_is(args->names[i], "fill_value"))
            v = args->values[i];
    }
    Recipe r = {.dtype = dtype};
    return filled(h, recipe_dtype(h, &r, t->dtype, args->at_span), t->rank,
                  t->shape, v, args->at_span);
}

static Value fn_zeros_like(Host *h, const Args *args)
{
    return like(h, args, "zeros_like", v_int(0));
}

static Value fn_ones_like(Host *h, const Args *args)
{
    return like(h, args, "ones_like", v_int(1));
}

static Value fn_full_like(Host *h, const Args *args)
{
    return like(h, args, "full_like", v_int(0));
}

// x.new_zeros(shape): x's dtype.
static Value as_new(Host *h, const Args *args, const char *name, Value v,
                    bool fill)
{
    Args rest = *args;
    Tensor *t = torch_tensor(h, args->at[0], "the argument", args->at_span);
    rest.at++;
    rest.count--;
    Recipe r = read_recipe(h, &rest, name, fill);
    return filled(h, recipe_dtype(h, &r, t->dtype, args->at_span), r.rank,
                  r.shape, fill ? r.value : v, args->at_span);
}

static Value fn_new_zeros(Host *h, const Args *args)
{
    return as_new(h, args, "new_zeros", v_int(0), false);
}

static Value fn_new_ones(Host *h, const Args *args)
{
    return as_new(h, args, "new_ones", v_int(1), false);
}

static Value fn_new_full(Host *h, const Args *args)
{
    return as_new(h, args, "new_full", v_int(0), true);
}

// ---- sequences ---------------------------------------------------------------------

static Value fn_arange(Host *h, const Args *args)
{
    Recipe r = {.dtype = {.kind = VAL_UNBOUND}};
    Value v[3] = {v_int(0), V_NONE, v_int(1)};
    Span at = args->at_span;
    if (args->count == 1)
        v[1] = args->at[0];
    for (int i = 0; args->count > 1 && i < args->count && i < 3; i++)
        v[i] = args->at[i];
    for (int i = 0; i < args->keyword_count; i++) {
        Text name = args->names[i];
        if (text_is(name, "dtype"))
            r.dtype = args->values[i];
        else if (text_is(name, "start"))
            v[0] = args->values[i];
        else if (text_is(name, "end"))
            v[1] = args->values[i];
        else if (text_is(name, "step"))
            v[2] = args->values[i];
    }
    bool ints = true;
    double x[3];
    for (int i = 0; i < 3; i++) {
        ints = ints && v[i].kind != VAL_FLOAT;
        x[i] = value_to_float(h->lang, v[i], "arange()", at);
    }
    if (x[2] == 0 || (x[1] - x[0]) / x[2] > 1e12)
        lang_raise(h->lang, "RuntimeError", at, "arange() with step %g", x[2]);
    int64_t n = (int64_t)ceil((x[1] - x[0]) / x[2]);
    n = n < 0 ? 0 : n;
    Tensor out;
    DType t = recipe_dtype(h, &r, ints ? DT_I64 : DT_F32, at);
    if (!tensor_new(&h->heap, &out, t, 1, &n))
        torch_no_memory(h, at);
    size_t bytes = dtype_bytes(t, 1);
    for (int64_t i = 0; i < n; i++) {
        char *p = (char *)tensor_data(&out) + i * bytes;
        if (ints && !dtype_is_float(t))
            num_put_i64(t, p, (int64_t)x[0] + i * (int64_t)x[2]);
        else
            num_put_f64(t, p, x[0] + (double)i * x[2]);
    }
    return tensor_value(h, out);
}

static Value fn_eye(Host *h, const Args *args)
{
    Recipe r = read_recipe(h, args, "eye", false);
    if (r.rank == 1)
        r.shape[1] = r.shape[0];
    r.rank = 2;
    DType t = recipe_dtype(h, &r, DT_F32, args->at_span);
    Value v = filled(h, t, 2, r.shape, v_int(0), args->at_span);
    Tensor *o = tensor_of(v);
    for (int64_t i = 0; i < r.shape[0] && i < r.shape[1]; i++)
        num_put_f64(t, (char *)tensor_data(o)
                           + dtype_bytes(t, i * r.shape[1] + i), 1);
    return v;
}

// ---- random: the supply's generator, one stream per tensor --------------------------------

static Value random_tensor(Host *h, const Recipe *r, SupplyKind kind, DType t,
                           Span at)
{
    Tensor out;
    if (!tensor_new(&h->heap, &out, t, r->rank, r->shape))
        torch_no_memory(h, at);
    supply_fill(&out, kind, h->options.seed, 0x10000u + h->random_streams++);
    return tensor_value(h, out);
}

static Value fn_randn(Host *h, const Args *args)
{
    Recipe r = read_recipe(h, args, "randn", false);
    DType t = recipe_dtype(h, &r, DT_F32, args->at_span);
    return random_tensor(h, &r, SUPPLY_RANDN, t, args->at_span);
}

static Value fn_randn_like(Host *h, const Args *args)
{
    Tensor *t = torch_tensor(h, args->count ? args->at[0] : V_NONE,
                             "the argument", args->at_span);
    Recipe r = {.rank = t->rank};
    for (int d = 0; d < t->rank; d++)
        r.shape[d] = t->shape[d];
    return random_tensor(h, &r, SUPPLY_RANDN, t->dtype, args->at_span);
}

// U(0,1) from U(-1,1): (x + 1) / 2 is exact.
static Value fn_rand(Host *h, const Args *args)
{
    Recipe r = read_recipe(h, args, "rand", false);
    Span at = args->at_span;
    DType t = recipe_dtype(h, &r, DT_F32, at);
    Value v = random_tensor(h, &r, SUPPLY_UNIFORM, torch_dtype(h, DT_F32), at);
    v = torch_binary(h, LANE_OP_ADD, v, v_float(1), DT_NONE, at);
    return torch_binary(h, LANE_OP_MUL, v, v_float(0.5), t, at);
}

// randint(high, size), randint(low, high, size)
static Value fn_randint(Host *h, const Args *args)
{
    static const char *const names[] = {"low", "high=", "size=", "*", "dtype=",
                                        "device=", "generator="};
    Value v[6];
    Span at = args->at_span;
    args_bind(h->lang, "randint", args, names, countof(names), v);
    if (v[1].kind == VAL_TUPLE || v[1].kind == VAL_LIST) {
        v[2] = v[1];
        v[1] = (Value){.kind = VAL_UNBOUND};
    }
    int64_t low = 0, high = value_to_int(h->lang, v[0], "low", at);
    if (given(v[1])) {
        low = high;
        high = value_to_int(h->lang, v[1], "high", at);
    }
    Recipe r = {.dtype = v[3]};
    r.rank = given(v[2]) ? torch_size_list(h, v[2], r.shape, at) : 0;
    if (high <= low)
        lang_raise(h->lang, "RuntimeError", at,
                   "randint() from %lld to %lld is empty", (long long)low,
                   (long long)high);
    DType t = recipe_dtype(h, &r, DT_I64, at);
    Tensor out;
    if (!tensor_new(&h->heap, &out, t, r.rank, r.shape))
        torch_no_memory(h, at);
    uint32_t key[2] = {(uint32_t)h->options.seed,
                       0x10000u + h->random_streams++};
    int64_t n = tensor_count(&out);
    for (int64_t i = 0; i < n; i++) {
        uint32_t c[4] = {(uint32_t)i, (uint32_t)((uint64_t)i >> 32), 0, 0}, w[4];
        philox4x32(c, key, w);
        uint64_t word = (uint64_t)w[1] << 32 | w[0];
        unsigned __int128 wide = (unsigned __int128)word * (uint64_t)(high - low);
        num_put_i64(t, (char *)tensor_data(&out) + dtype_bytes(t, i),
                    low + (int64_t)(wide >> 64));
    }
    return tensor_value(h, out);
}

// ---- torch.tensor([...]) -----------------------------------------------------------------

static void measure(Host *h, Value v, Recipe *r, int depth, Span at)
{
    if (v.kind != VAL_LIST && v.kind != VAL_TUPLE)
        return;
    if (depth == TENSOR_MAX_RANK)
        lang_raise(h->lang, "ValueError", at, "too many nested lists");
    r->shape[depth] = v.list->len;
    r->rank = depth + 1;
    if (v.list->len)
        measure(h, v.list->at[0], r, depth + 1, at);
}

static void put_items(Host *h, Value v, const Recipe *r, int depth, Tensor *out,
                      int64_t *at_item, Span at)
{
    if (depth == r->rank) {
        Tensor *t = tensor_of(v);
        char *p = (char *)tensor_data(out) + dtype_bytes(out->dtype, *at_item);
        if (t)
            v = torch_item(h, t, at);
        Operand o = torch_operand(h, v, at);
        if (v.kind == VAL_FLOAT || dtype_is_float(out->dtype))
            num_put_f64(out->dtype, p, o.f64);
        else
            num_put_i64(out->dtype, p, o.i64);
        (*at_item)++;
        return;
    }
    if ((v.kind != VAL_LIST && v.kind != VAL_TUPLE)
        || v.list->len != r->shape[depth])
        lang_raise(h->lang, "ValueError", at,
                   "the nested lists are not of one length");
    for (int i = 0; i < v.list->len; i++)
        put_items(h, v.list->at[i], r, depth + 1, out, at_item, at);
}

static DType list_dtype(Value v, int depth)
{
    DType t = DT_BOOL;
    if (v.kind == VAL_FLOAT)
        return DT_F32;
    if (tensor_of(v))
        return tensor_of(v)->dtype;
    if ((v.kind != VAL_LIST && v.kind != VAL_TUPLE) || depth > TENSOR_MAX_RANK)
        return v.kind == VAL_BOOL ? DT_BOOL : DT_I64;
    if (v.list->len == 0)
        return DT_F32;
    for (int i = 0; i < v.list->len; i++) {
        DType u = list_dtype(v.list->at[i], depth + 1);
        if (dtype_is_float(u))
            return u;
        t = u == DT_I64 ? DT_I64 : t;
    }
    return t;
}

static Value fn_tensor(Host *h, const Args *args)
{
    static const char *const names[] = {"data", "*", "dtype=", "device=",
                                        "requires_grad=", "pin_memory="};
    Value v[5];
    Span at = args->at_span;
    args_bind(h->lang, "tensor", args, names, countof(names), v);
    Recipe r = {.dtype = v[1]};
    Tensor out;
    int64_t n = 0;
    measure(h, v[0], &r, 0, at);
    DType t = recipe_dtype(h, &r, list_dtype(v[0], 0), at);
    if (!tensor_new(&h->heap, &out, t, r.rank, r.shape))
        torch_no_memory(h, at);
    put_items(h, v[0], &r, 0, &out, &n, at);
    return tensor_value(h, out);
}

#define FUNCTION(name) {#name, fn_##name, false, true}
#define METHOD(name) {#name, fn_##name, true, false}
const TorchRow torch_make_rows[] = {
    FUNCTION(zeros), FUNCTION(ones), FUNCTION(full),
    {"empty", fn_zeros, false, true}, FUNCTION(zeros_like),
    FUNCTION(ones_like), FUNCTION(full_like),
    {"empty_like", fn_zeros_like, false, true}, FUNCTION(arange),
    FUNCTION(eye), FUNCTION(randn), FUNCTION(randn_like), FUNCTION(rand),
    FUNCTION(randint), FUNCTION(tensor), {"as_tensor", fn_tensor, false, true},
    METHOD(new_zeros), METHOD(new_ones), METHOD(new_full),
    {"new_empty", fn_new_zeros, true, false}, {NULL, NULL, false, false},
};
