// mod_random.c - the module random: Python's own generator and numbers.
//
// MT19937 and the ways in which Python draws from it, so that a seed gives the
// same numbers there and here. Unseeded it starts from 0: a program does the
// same each time.
#include <math.h>

#include "lang/eval_int.h"

enum { N = 624, M = 397 };

typedef struct {
    uint32_t state[N];
    int next;
} Twister;

static void start(Twister *t, uint32_t s)
{
    for (int i = 0; i < N; i++) {
        t->state[i] = s;
        s = 1812433253u * (s ^ s >> 30) + (uint32_t)i + 1;
    }
    t->next = N;
}

static void start_by_keys(Twister *t, const uint32_t *key, int count)
{
    uint32_t *s = t->state;
    int i = 1, j = 0;

    start(t, 19650218u);
    for (int k = N > count ? N : count; k; k--) {
        s[i] = (s[i] ^ (s[i - 1] ^ s[i - 1] >> 30) * 1664525u) + key[j] +
               (uint32_t)j;
        if (++i == N) {
            s[0] = s[N - 1];
            i = 1;
        }
        j = j + 1 == count ? 0 : j + 1;
    }
    for (int k = N - 1; k; k--) {
        s[i] = (s[i] ^ (s[i - 1] ^ s[i - 1] >> 30) * 1566083941u) -
               (uint32_t)i;
        if (++i == N) {
            s[0] = s[N - 1];
            i = 1;
        }
    }
    s[0] = 0x80000000u;
}

static void refill(Twister *t)
{
    uint32_t *s = t->state;

    for (int i = 0; i < N; i++) {
        uint32_t y = (s[i] & 0x80000000u) | (s[(i + 1) % N] & 0x7fffffffu);

        s[i] = s[(i + M) % N] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    t->next = 0;
}

static uint32_t draw(Twister *t)
{
    uint32_t y;

    if (t->next == N)
        refill(t);
    y = t->state[t->next++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

// ---- numbers ---------------------------------------------------------------

static void seed_by(Twister *t, uint64_t v)
{
    uint32_t key[2] = {(uint32_t)v, (uint32_t)(v >> 32)};

    start_by_keys(t, key, key[1] ? 2 : 1);
}

static double fraction(Twister *t)
{
    uint32_t a = draw(t) >> 5, b = draw(t) >> 6;

    return (a * 67108864.0 + b) * (1.0 / 9007199254740992.0);
}

static uint64_t bits(Twister *t, int k)
{
    uint64_t low;

    if (k <= 32)
        return draw(t) >> (32 - k);
    low = draw(t);
    return low | (uint64_t)(draw(t) >> (64 - k)) << 32;
}

// In [0, n), n > 0.
static int64_t below(Twister *t, int64_t n)
{
    int k = 64 - __builtin_clzll((uint64_t)n);
    uint64_t r;

    do
        r = bits(t, k);
    while (r >= (uint64_t)n);
    return (int64_t)r;
}

// ---- functions -------------------------------------------------------------

static Value r_seed(Lang *l, void *ctx, const Args *args)
{
    int64_t i = 0;

    args_count(l, "seed", args, 0, 2);
    if (args->count && args->at[0].kind != VAL_NONE &&
        !as_int(args->at[0], &i))
        lang_unsupported(l, args->at_span, "a seed that is no int");
    seed_by(ctx, i < 0 ? 0 - (uint64_t)i : (uint64_t)i);
    return V_NONE;
}

static Value r_random(Lang *l, void *ctx, const Args *args)
{
    args_count(l, "random", args, 0, 0);
    return v_float(fraction(ctx));
}

static Value r_uniform(Lang *l, void *ctx, const Args *args)
{
    double a, b;

    args_count(l, "uniform", args, 2, 2);
    a = value_to_float(l, args->at[0], "a", args->at_span);
    b = value_to_float(l, args->at[1], "b", args->at_span);
    return v_float(a + (b - a) * fraction(ctx));
}

static Value in_range(Lang *l, Twister *t, const int64_t *r, Span at)
{
    int64_t n = range_len(r);

    if (n == 0)
        lang_raise(l, "ValueError", at, "empty range for randrange()");
    return v_int(r[0] + r[2] * below(t, n));
}

static Value r_randrange(Lang *l, void *ctx, const Args *args)
{
    Value r = range_make(l, args);

    return in_range(l, ctx, r.range.r, args->at_span);
}

static Value r_randint(Lang *l, void *ctx, const Args *args)
{
    int64_t r[3] = {0, 0, 1};

    args_count(l, "randint", args, 2, 2);
    r[0] = need_int(l, args->at[0], args->at_span);
    r[1] = need_int(l, args->at[1], args->at_span);
    if (__builtin_add_overflow(r[1], 1, &r[1]))
        int_overflow(l, args->at_span);
    return in_range(l, ctx, r, args->at_span);
}

static Value r_getrandbits(Lang *l, void *ctx, const Args *args)
{
    int64_t k;

    args_count(l, "getrandbits", args, 1, 1);
    k = need_int(l, args->at[0], args->at_span);
    if (k < 0 || k > 63)
        int_overflow(l, args->at_span);
    return v_int(k ? (int64_t)bits(ctx, (int)k) : 0);
}

static Value r_choice(Lang *l, void *ctx, const Args *args)
{
    int64_t n;

    args_count(l, "choice", args, 1, 1);
    n = value_len(l, args->at[0], args->at_span);
    if (n == 0)
        lang_raise(l, "IndexError", args->at_span,
                   "Cannot choose from an empty sequence");
    return getitem(l, args->at[0], v_int(below(ctx, n)), args->at_span);
}

static Value r_shuffle(Lang *l, void *ctx, const Args *args)
{
    List *list;

    args_count(l, "shuffle", args, 1, 1);
    if (args->at[0].kind != VAL_LIST)
        lang_raise(l, "TypeError", args->at_span,
                   "'%s' object does not support item assignment",
                   value_type_name(args->at[0]));
    list = args->at[0].list;
    for (int i = list->len - 1; i > 0; i--) {
        int64_t k = below(ctx, i + 1);
        Value v = list->at[i];

        list->at[i] = list->at[k];
        list->at[k] = v;
    }
    return V_NONE;
}

// Few of many are drawn until they are new, else out of a shrinking pool: the
// choice between the two is Python's, as it decides the numbers.
static bool draws_from_pool(int n, int k)
{
    int64_t set = 21;

    if (k > 5)
        set += (int64_t)pow(4, ceil(log(k * 3) / log(4)));
    return n <= set;
}

static void sample_pool(Lang *l, Twister *t, const List *from, List *out,
                        int k)
{
    Value *pool = new_array(l->options.arena, Value, (size_t)from->len);

    for (int i = 0; i < from->len; i++)
        pool[i] = from->at[i];
    for (int i = 0; i < k; i++) {
        int64_t j = below(t, from->len - i);

        list_append(l, out, pool[j]);
        pool[j] = pool[from->len - i - 1];
    }
}

static void sample_new(Lang *l, Twister *t, const List *from, List *out, int k)
{
    bool *taken = new_array(l->options.arena, bool, (size_t)from->len);

    for (int i = 0; i < k; i++) {
        int64_t j = below(t, from->len);

        while (taken[j])
            j = below(t, from->len);
        taken[j] = true;
        list_append(l, out, from->at[j]);
    }
}

static Value r_sample(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"population", "k"};
    List *from, *out = list_new(l, 4, false);
    Value in[2];
    int64_t k;

    args_bind(l, "sample", args, names, 2, in);
    from = value_to_list(l, in[0], args->at_span);
    k = need_int(l, in[1], args->at_span);
    if (k < 0 || k > from->len)
        lang_raise(l, "ValueError", args->at_span,
                   "Sample larger than population or is negative");
    if (draws_from_pool(from->len, (int)k))
        sample_pool(l, ctx, from, out, (int)k);
    else
        sample_new(l, ctx, from, out, (int)k);
    return v_of_list(out);
}

void fill_random(Lang *l, Module *m)
{
    static const struct {
        const char *name;
        Value (*call)(Lang *, void *, const Args *);
    } table[] = {
        {"seed", r_seed}, {"random", r_random}, {"uniform", r_uniform},
        {"randrange", r_randrange}, {"randint", r_randint},
        {"getrandbits", r_getrandbits}, {"choice", r_choice},
        {"shuffle", r_shuffle}, {"sample", r_sample},
    };
    Twister *t = new (l->options.arena, Twister);

    seed_by(t, 0);
    for (size_t i = 0; i < countof(table); i++)
        module_set(l, m, table[i].name,
                   v_builtin(l, table[i].name, table[i].call, t));
}
