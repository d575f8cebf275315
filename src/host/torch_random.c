// torch_random.c - random tensors: the supply's generator, a stream for each.
#include "host/torch_int.h"

typedef TorchRecipe Recipe;

static DType recipe_dtype(Host *h, const Recipe *r, DType fallback, Span at)
{
    return torch_asked_dtype(h, r->dtype, fallback, at);
}

// x's shape; dtype= as given.
static Recipe recipe_like(Host *h, const Args *args, const char *name)
{
    Tensor *t = torch_first(h, args);
    Args keywords = *args;
    keywords.count = 0;
    Recipe r = torch_recipe(h, &keywords, name, false);
    if (args->count > 1)
        lang_raise(h->lang, "TypeError", args->at_span,
                   "%s() takes one tensor", name);
    r.rank = t->rank;
    for (int d = 0; d < t->rank; d++)
        r.shape[d] = t->shape[d];
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
    Recipe r = torch_recipe(h, args, "randn", false);
    Span at = args->at_span;
    DType t = recipe_dtype(h, &r, torch_float(h), at);
    return random_tensor(h, &r, SUPPLY_RANDN, t, at);
}

static Value fn_randn_like(Host *h, const Args *args)
{
    Recipe r = recipe_like(h, args, "randn_like");
    Span at = args->at_span;
    DType own = tensor_of(args->at[0])->dtype;
    return random_tensor(h, &r, SUPPLY_RANDN, recipe_dtype(h, &r, own, at), at);
}

// U(0,1) from U(-1,1): (x + 1) / 2 is exact.
static Value uniform(Host *h, const Recipe *r, DType t, Span at)
{
    DType w = TORCH_WIDE;
    Value v = random_tensor(h, r, SUPPLY_UNIFORM, w, at);
    v = torch_elementwise(h, LANE_OP_ADD, (Value[]){v, v_float(1)}, 2, w,
                          DT_NONE, at);
    return torch_elementwise(h, LANE_OP_MUL, (Value[]){v, v_float(0.5)}, 2, w,
                             t, at);
}

static Value fn_rand(Host *h, const Args *args)
{
    Recipe r = torch_recipe(h, args, "rand", false);
    return uniform(h, &r, recipe_dtype(h, &r, torch_float(h), args->at_span),
                   args->at_span);
}

static Value fn_rand_like(Host *h, const Args *args)
{
    Recipe r = recipe_like(h, args, "rand_like");
    DType own = tensor_of(args->at[0])->dtype;
    return uniform(h, &r, recipe_dtype(h, &r, own, args->at_span),
                   args->at_span);
}

static uint64_t draw(const uint32_t key[2], int64_t i, uint64_t count)
{
    uint32_t c[4] = {(uint32_t)i, (uint32_t)((uint64_t)i >> 32), 0, 0}, w[4];
    philox4x32(c, key, w);
    uint64_t word = (uint64_t)w[1] << 32 | w[0];
    return (uint64_t)((unsigned __int128)word * count >> 64);
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
    if (high <= low)
        lang_raise(h->lang, "RuntimeError", at,
                   "randint() from %lld to %lld is empty", (long long)low,
                   (long long)high);
    DType t = torch_asked_dtype(h, v[3], DT_I64, at);
    if (!tensor_new_raw(&h->heap, &out, t, r.rank, r.shape))
        torch_no_memory(h, at);
    uint32_t key[2] = {(uint32_t)h->options.seed, next_stream(h)};
    int64_t n = tensor_count(&out);
    // The span of int64 fits no int64.
    uint64_t span = (uint64_t)high - (uint64_t)low;
    for (int64_t i = 0; i < n; i++)
        num_put_i64(t, (char *)tensor_data(&out) + dtype_bytes(t, i),
                    (int64_t)((uint64_t)low + draw(key, i, span)));
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
        int64_t j = (int64_t)draw(key, i, (uint64_t)i + 1);
        p[i] = p[j];
        p[j] = i;
    }
    return torch_cast(h, tensor_value(h, out),
                      torch_asked_dtype(h, v[1], DT_I64, at), at);
}

// Where each element is true with its own probability.
static Recipe recipe_of(const Tensor *t)
{
    Recipe r = {.rank = t->rank};
    for (int d = 0; d < t->rank; d++)
        r.shape[d] = t->shape[d];
    return r;
}

// Where each element is true with its own probability.
static Value fn_bernoulli(Host *h, const Args *args)
{
    TORCH_BIND("bernoulli", "input", "*", "generator=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    Recipe r = recipe_of(t);
    Value u = uniform(h, &r, TORCH_WIDE, at);
    return torch_cast(h, torch_compare(h, AST_OP_LT, u, v[0], at), t->dtype,
                      at);
}

// x a + b of random x, written into a tensor.
static Value write_random(Host *h, Value to, SupplyKind kind, double a,
                          double b, Span at)
{
    Tensor *t = torch_tensor(h, to, "the argument", at);
    Recipe r = recipe_of(t);
    DType w = TORCH_WIDE;
    torch_will_write(h, t, at);
    Value x = random_tensor(h, &r, kind, w, at);
    x = torch_elementwise(h, LANE_OP_MUL, (Value[]){x, v_float(a)}, 2, w,
                          DT_NONE, at);
    x = torch_elementwise(h, LANE_OP_ADD, (Value[]){x, v_float(b)}, 2, w,
                          DT_NONE, at);
    tensor_assign(t, tensor_of(x));
    torch_done(x);
    return to;
}

static double number(Host *h, Value v, double fallback, Span at)
{
    return torch_given(v) ? value_to_float(h->lang, v, "a number", at)
                          : fallback;
}

static Value fn_normal_(Host *h, const Args *args)
{
    TORCH_BIND("normal_", "input", "mean=", "std=", "*", "generator=");
    return write_random(h, v[0], SUPPLY_RANDN, number(h, v[2], 1, at),
                        number(h, v[1], 0, at), at);
}

static Value fn_uniform_(Host *h, const Args *args)
{
    TORCH_BIND("uniform_", "input", "from=", "to=", "*", "generator=");
    double low = number(h, v[1], 0, at), high = number(h, v[2], 1, at);
    return write_random(h, v[0], SUPPLY_UNIFORM, (high - low) / 2,
                        (high + low) / 2, at);
}

const TorchRow torch_random_rows[] = {
    TORCH_ROW(randn, IN_TORCH), TORCH_ROW(randn_like, IN_TORCH),
    TORCH_ROW(rand, IN_TORCH), TORCH_ROW(rand_like, IN_TORCH),
    TORCH_ROW(randint, IN_TORCH), TORCH_ROW(randperm, IN_TORCH),
    TORCH_ROW(bernoulli, BOTH), TORCH_ROW(normal_, METHOD),
    TORCH_ROW(uniform_, METHOD), TORCH_END,
};
