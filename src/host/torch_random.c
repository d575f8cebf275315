// torch_random.c - random tensors: the supply's generator, a stream for each.
#include "host/torch_int.h"

typedef struct {
    int rank;
    int64_t shape[TENSOR_MAX_RANK];
    DType t;
} Recipe;

// Sizes, positional or as size=, and dtype=.
static Recipe read_recipe(Host *h, const Args *args, const char *name)
{
    Recipe r = {.t = DT_F32};
    bool sized = false;
    Value dtype = V_NONE;
    for (int i = 0; i < args->keyword_count; i++) {
        if (text_is(args->names[i], "dtype")) {
            dtype = args->values[i];
        } else if (text_is(args->names[i], "size")) {
            r.rank = torch_size_list(h, args->values[i], r.shape,
                                     args->at_span);
            sized = true;
        }
    }
    if (!sized)
        r.rank = args->count ? torch_sizes(h, args, 0, r.shape) : 0;
    for (int d = 0; d < r.rank; d++)
        if (r.shape[d] < 0)
            lang_raise(h->lang, "RuntimeError", args->at_span,
                       "%s(): a size of %lld", name, (long long)r.shape[d]);
    r.t = torch_asked_dtype(h, dtype, DT_F32, args->at_span);
    return r;
}

static Recipe recipe_like(Host *h, const Args *args)
{
    Tensor *t = torch_first(h, args);
    Recipe r = {.rank = t->rank};
    Value dtype = V_NONE;
    for (int d = 0; d < t->rank; d++)
        r.shape[d] = t->shape[d];
    for (int i = 0; i < args->keyword_count; i++)
        if (text_is(args->names[i], "dtype"))
            dtype = args->values[i];
    r.t = torch_asked_dtype(h, dtype, t->dtype, args->at_span);
    return r;
}

static uint32_t next_stream(Host *h)
{
    return 0x10000u + h->random_streams++;
}

static Value random_tensor(Host *h, const Recipe *r, SupplyKind kind, DType t,
                           Span at)
{
    Tensor out;
    if (!dtype_is_float(t))
        lang_raise(h->lang, "RuntimeError", at,
                   "random numbers of dtype %s: use randint()",
                   dtype_info(t)->name);
    if (!tensor_new_raw(&h->heap, &out, t, r->rank, r->shape))
        torch_no_memory(h, at);
    supply_fill(&out, kind, h->options.seed, next_stream(h));
    return tensor_value(h, out);
}

static Value fn_randn(Host *h, const Args *args)
{
    Recipe r = read_recipe(h, args, "randn");
    return random_tensor(h, &r, SUPPLY_RANDN, r.t, args->at_span);
}

static Value fn_randn_like(Host *h, const Args *args)
{
    Recipe r = recipe_like(h, args);
    return random_tensor(h, &r, SUPPLY_RANDN, r.t, args->at_span);
}

// U(0,1) from U(-1,1): (x + 1) / 2 is exact in f32.
static Value uniform(Host *h, const Recipe *r, Span at)
{
    DType w = TORCH_WIDE;
    Value v = random_tensor(h, r, SUPPLY_UNIFORM, w, at);
    v = torch_elementwise(h, LANE_OP_ADD, (Value[]){v, v_float(1)}, 2, w,
                          DT_NONE, at);
    return torch_elementwise(h, LANE_OP_MUL, (Value[]){v, v_float(0.5)}, 2, w,
                             r->t, at);
}

static Value fn_rand(Host *h, const Args *args)
{
    Recipe r = read_recipe(h, args, "rand");
    return uniform(h, &r, args->at_span);
}

static Value fn_rand_like(Host *h, const Args *args)
{
    Recipe r = recipe_like(h, args);
    return uniform(h, &r, args->at_span);
}

static int64_t draw(const uint32_t key[2], int64_t i, int64_t count)
{
    uint32_t c[4] = {(uint32_t)i, (uint32_t)((uint64_t)i >> 32), 0, 0}, w[4];
    philox4x32(c, key, w);
    uint64_t word = (uint64_t)w[1] << 32 | w[0];
    return (int64_t)((unsigned __int128)word * (uint64_t)count >> 64);
}

// randint(high, size), randint(low, high, size)
static Value fn_randint(Host *h, const Args *args)
{
    TORCH_BIND("randint", "low=", "high=", "size=", "*", "dtype=", "device=",
               "generator=", "requires_grad=", "out=");
    Recipe r = {0};
    Tensor out;
    if (torch_is_list(v[1])) {
        v[2] = v[1];
        v[1] = V_NONE;
    }
    int64_t low = torch_int(h, v[0], "low", 0, at);
    int64_t high = torch_int(h, v[1], "high", low, at);
    low = torch_given(v[0]) && torch_given(v[1]) ? low : 0;
    r.rank = torch_given(v[2]) ? torch_size_list(h, v[2], r.shape, at) : 0;
    if (high <= low || high - low < 0)
        lang_raise(h->lang, "RuntimeError", at,
                   "randint() from %lld to %lld is empty", (long long)low,
                   (long long)high);
    DType t = torch_asked_dtype(h, v[3], DT_I64, at);
    if (!tensor_new_raw(&h->heap, &out, t, r.rank, r.shape))
        torch_no_memory(h, at);
    uint32_t key[2] = {(uint32_t)h->options.seed, next_stream(h)};
    int64_t n = tensor_count(&out);
    for (int64_t i = 0; i < n; i++)
        num_put_i64(t, (char *)tensor_data(&out) + dtype_bytes(t, i),
                    low + draw(key, i, high - low));
    return tensor_value(h, out);
}

// Fisher and Yates.
static Value fn_randperm(Host *h, const Args *args)
{
    TORCH_BIND("randperm", "n", "*", "dtype=", "device=", "generator=");
    int64_t n = torch_int(h, v[0], "n", 0, at);
    Tensor out;
    if (n < 0)
        lang_raise(h->lang, "RuntimeError", at, "randperm() of %lld",
                   (long long)n);
    if (!tensor_new_raw(&h->heap, &out, DT_I64, 1, &n))
        torch_no_memory(h, at);
    uint32_t key[2] = {(uint32_t)h->options.seed, next_stream(h)};
    int64_t *p = tensor_data(&out);
    for (int64_t i = 0; i < n; i++) {
        int64_t j = draw(key, i, i + 1);
        p[i] = p[j];
        p[j] = i;
    }
    return torch_cast(h, tensor_value(h, out),
                      torch_asked_dtype(h, v[1], DT_I64, at), at);
}

// Where each element is true with its own probability.
static Value fn_bernoulli(Host *h, const Args *args)
{
    TORCH_BIND("bernoulli", "input", "*", "generator=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    Recipe r = {.rank = t->rank, .t = t->dtype};
    for (int d = 0; d < t->rank; d++)
        r.shape[d] = t->shape[d];
    Value u = uniform(h, &r, at);
    return torch_cast(h, torch_compare(h, AST_OP_LT, u, v[0], at), r.t, at);
}

// x.normal_(mean, std), x.uniform_(low, high)
static Value scaled(Host *h, const Args *args, const char *name,
                    SupplyKind kind, double a, double b)
{
    TORCH_BIND(name, "input", "from=", "to=", "*", "generator=", "mean=",
               "std=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    Recipe r = {.rank = t->rank};
    DType w = TORCH_WIDE;
    for (int i = 0; i < 2; i++)
        v[1 + i] = torch_given(v[4 + i]) ? v[4 + i] : v[1 + i];
    a = torch_given(v[1]) ? value_to_float(h->lang, v[1], name, at) : a;
    b = torch_given(v[2]) ? value_to_float(h->lang, v[2], name, at) : b;
    for (int d = 0; d < t->rank; d++)
        r.shape[d] = t->shape[d];
    bool unit = kind == SUPPLY_UNIFORM;
    Value x = random_tensor(h, &r, kind, w, at);
    x = torch_elementwise(h, LANE_OP_MUL,
                          (Value[]){x, v_float(unit ? (b - a) / 2 : b)}, 2, w,
                          DT_NONE, at);
    return torch_elementwise(h, LANE_OP_ADD,
                             (Value[]){x, v_float(unit ? (a + b) / 2 : a)}, 2,
                             w, DT_NONE, at);
}

static Value fn_normal(Host *h, const Args *args)
{
    return scaled(h, args, "normal_", SUPPLY_RANDN, 0, 1);
}

static Value fn_uniform(Host *h, const Args *args)
{
    return scaled(h, args, "uniform_", SUPPLY_UNIFORM, 0, 1);
}

const TorchRow torch_random_rows[] = {
    TORCH_ROW(randn, IN_TORCH), TORCH_ROW(randn_like, IN_TORCH),
    TORCH_ROW(rand, IN_TORCH), TORCH_ROW(rand_like, IN_TORCH),
    TORCH_ROW(randint, IN_TORCH), TORCH_ROW(randperm, IN_TORCH),
    TORCH_ROW(bernoulli, BOTH), TORCH_ROW(normal, METHOD),
    TORCH_ROW(uniform, METHOD), TORCH_END,
};
