// fit.c - closed forms of what plans tell as tables.
//
// A table gives a number for each thread and each register (or point) of it.
// Nearly all of them add up what the bits of the two numbers stand for; runs of
// bits with doubling values are one product. What does not is linear with
// divisions, or stays a table.
#include "gpu_backend/emit_int.h"

#include <string.h>

static int32_t at(const FitTable *t, int thread, int local)
{
    return t->value[(size_t)thread * t->locals + local];
}

static bool is_active(const FitTable *t, int thread, int local)
{
    return !t->active || t->active[(size_t)thread * t->locals + local];
}

// ---- sums of bits ----------------------------------------------------------

enum { MAX_BITS = 20 };

typedef struct {
    int32_t base, thread[MAX_BITS], local[MAX_BITS];
    int thread_bits, local_bits;
} Bits;

static int bits_for(int n)
{
    int bits = 0;

    while (1 << bits < n)
        bits++;
    return bits;
}

// What a sum of bits grows by when a number is counted up to one whose lowest
// bit is i: that bit comes, those below it go.
static void count_steps(const int32_t *bit, int bits, int32_t *step)
{
    int32_t below = 0;

    for (int i = 0; i < bits; i++) {
        step[i] = bit[i] - below;
        below += bit[i];
    }
}

// Whether each active entry is the sum of its bits; with a limit, and below it
// what is active and nothing else.
static bool is_sum_of_bits(const FitTable *t, const Bits *b,
                           const int32_t *limit)
{
    int32_t thread_step[MAX_BITS], local_step[MAX_BITS], first = b->base;

    count_steps(b->thread, b->thread_bits, thread_step);
    count_steps(b->local, b->local_bits, local_step);
    for (int i = 0; i < t->threads; i++) {
        first += i ? thread_step[__builtin_ctz(i)] : 0;
        int32_t v = first;
        for (int l = 0; l < t->locals; l++) {
            v += l ? local_step[__builtin_ctz(l)] : 0;
            bool active = is_active(t, i, l);
            if ((active && v != at(t, i, l))
                || (limit && active != (v < *limit)))
                return false;
        }
    }
    return true;
}

static bool fit_bits(const FitTable *t, Bits *b)
{
    *b = (Bits){.thread_bits = bits_for(t->threads),
                .local_bits = bits_for(t->locals)};
    if (!is_active(t, 0, 0))
        return false;
    b->base = at(t, 0, 0);
    for (int i = 0; i < b->thread_bits; i++)
        if (is_active(t, 1 << i, 0))
            b->thread[i] = at(t, 1 << i, 0) - b->base;
    for (int i = 0; i < b->local_bits; i++)
        if (is_active(t, 0, 1 << i))
            b->local[i] = at(t, 0, 1 << i) - b->base;
    return is_sum_of_bits(t, b, NULL);
}

static Text join(Emit *e, Text all, Text term)
{
    if (!all.len)
        return term;
    return text_format(e->arena, "%.*s + %.*s", TEXT_ARG(all), TEXT_ARG(term));
}

// Bits [from, to) of `name`, of values step, 2 step, 4 step ...
static Text run(Emit *e, const char *name, int from, int to, int bits,
                int32_t step)
{
    Text x = text_of(name);

    if (from)
        x = text_format(e->arena, "%.*s / %d", TEXT_ARG(x), 1 << from);
    if (to < bits)
        x = text_format(e->arena, "%.*s %% %d", TEXT_ARG(x), 1 << (to - from));
    if (step == 1)
        return x;
    return text_format(e->arena, from || to < bits ? "(%.*s) * %d"
                                                   : "%.*s * %d",
                       TEXT_ARG(x), step);
}

static Text runs(Emit *e, Text all, const char *name, const int32_t *value,
                 int bits)
{
    for (int i = 0; i < bits;) {
        int n = i + 1;
        if (!value[i]) {
            i++;
            continue;
        }
        while (n < bits && value[n] == value[n - 1] * 2)
            n++;
        // The bits of l above those that count are not there to be cut off.
        all = join(e, all, run(e, name, i, n, bits, value[i]));
        i = n;
    }
    return all;
}

static Text bits_text(Emit *e, const Bits *b)
{
    Text all = {0};

    if (b->base)
        all = text_format(e->arena, "%d", b->base);
    all = runs(e, all, "tid", b->thread, b->thread_bits);
    all = runs(e, all, "l", b->local, b->local_bits);
    return all.len ? all : TEXT("0");
}

// Whether what is active is what the closed form puts below `limit`.
bool fit_below(const FitTable *t, int32_t limit)
{
    Bits b;

    return fit_bits(t, &b) && is_sum_of_bits(t, &b, &limit);
}

// ---- sums of digits --------------------------------------------------------

// value = base + step * (x / div % mod), where all of it is regular.
typedef struct {
    int32_t step;
    int div, mod;                   // mod 0: no limit
} Digit;

enum { MAX_DIGITS = 4 };

typedef struct {
    Digit digit[MAX_DIGITS];
    int count;
} Digits;

// The function f of n numbers as a sum of digits.
static bool fit_digits(const int32_t *f, int n, Digits *out)
{
    int div = 1;

    out->count = 0;
    while (div < n) {
        int32_t step = f[div] - f[0];
        int mod = 1;
        while (mod * div < n && f[mod * div] - f[0] == mod * step)
            mod++;
        if (step && out->count == MAX_DIGITS)
            return false;
        bool all = mod * div >= n;
        if (step)
            out->digit[out->count++] = (Digit){step, div, all ? 0 : mod};
        if (all)
            break;
        div *= mod;
    }
    for (int i = 0; i < n; i++) {
        int32_t v = f[0];
        for (int k = 0; k < out->count; k++) {
            const Digit *d = &out->digit[k];
            v += d->step * (d->mod ? i / d->div % d->mod : i / d->div);
        }
        if (v != f[i])
            return false;
    }
    return true;
}

static Text digits_text(Emit *e, Text all, const char *name, const Digits *d)
{
    for (int i = 0; i < d->count; i++) {
        const Digit *g = &d->digit[i];
        Text x = text_of(name);
        if (g->div > 1)
            x = text_format(e->arena, "%.*s / %d", TEXT_ARG(x), g->div);
        if (g->mod)
            x = text_format(e->arena, "%.*s %% %d", TEXT_ARG(x), g->mod);
        if (g->step != 1)
            x = text_format(e->arena, g->div > 1 || g->mod ? "(%.*s) * %d"
                                                           : "%.*s * %d",
                            TEXT_ARG(x), g->step);
        all = join(e, all, x);
    }
    return all;
}

static bool is_sum(const FitTable *t)
{
    for (int i = 0; i < t->threads; i++)
        for (int l = 0; l < t->locals; l++)
            if (is_active(t, i, l) &&
                at(t, i, l) != at(t, i, 0) + at(t, 0, l) - at(t, 0, 0))
                return false;
    return true;
}

// Inactive entries take the value that a regular neighbour suggests: none.
static Text fit_sum(Emit *e, const FitTable *t)
{
    Digits threads, locals;
    int live = 0;
    Text all = {0};

    while (live < t->threads && is_active(t, live, 0))
        live++;
    for (int l = 0; l < t->locals; l++)
        if (!is_active(t, 0, l))
            return all;
    if (!live || !is_sum(t))
        return all;
    for (int i = live; i < t->threads; i++)
        for (int l = 0; l < t->locals; l++)
            if (is_active(t, i, l))
                return all;
    int32_t *f = new_array(e->arena, int32_t, live + 1);
    for (int i = 0; i < live; i++)
        f[i] = at(t, i, 0);
    if (!fit_digits(f, live, &threads) ||
        !fit_digits(t->value, t->locals, &locals))
        return all;
    if (f[0])
        all = text_format(e->arena, "%d", f[0]);
    all = digits_text(e, all, "tid", &threads);
    all = digits_text(e, all, "l", &locals);
    return all.len ? all : TEXT("0");
}

// ---- tables ----------------------------------------------------------------

static int known_table(const Emit *e, const FitTable *t)
{
    size_t n = (size_t)t->threads * t->locals;

    for (int i = 0; i < e->printed.len; i++) {
        const FitTable *x = &e->printed.at[i];
        if (x->threads == t->threads && x->locals == t->locals &&
            !memcmp(x->value, t->value, n * sizeof *t->value))
            return i + 1;
    }
    return 0;
}

static Text table(Emit *e, const FitTable *t)
{
    TextBuf *b = &e->tables;
    int id = known_table(e, t);

    if (id || e->quiet)
        return text_format(e->arena, "table_%d[tid * %d + l]", id, t->locals);
    vec_push(e->arena, &e->printed, *t);
    id = e->printed.len;
    buf_printf(b, "%s int table_%d[%d] = {", e->dialect->constant, id,
               t->threads * t->locals);
    for (int i = 0; i < t->threads * t->locals; i++)
        buf_printf(b, "%s%d,", i % 16 ? " " : "\n    ", t->value[i]);
    buf_puts(b, "\n};\n\n");
    return text_format(e->arena, "table_%d[tid * %d + l]", id, t->locals);
}

Text fit(Emit *e, const FitTable *t, bool allow_table)
{
    Bits b;

    if (fit_bits(t, &b))
        return bits_text(e, &b);
    Text sum = fit_sum(e, t);
    if (sum.len || !allow_table)
        return sum;
    return table(e, t);
}

// ---- conditions ------------------------------------------------------------

static bool same_for_locals(const FitTable *t)
{
    for (int i = 0; i < t->threads; i++)
        for (int l = 1; l < t->locals; l++)
            if (is_active(t, i, l) != is_active(t, i, 0))
                return false;
    return true;
}

static bool equals_mask(const FitTable *t, int mask)
{
    for (int i = 0; i < t->threads; i++)
        if (is_active(t, i, 0) != ((i & mask) == 0))
            return false;
    return true;
}

Text fit_active(Emit *e, const FitTable *t)
{
    int live = 0, mask = 0;
    bool all = true;

    for (int i = 0; i < t->threads * t->locals; i++)
        all &= !t->active || t->active[i];
    if (all)
        return (Text){0};
    if (same_for_locals(t)) {
        while (live < t->threads && is_active(t, live, 0))
            live++;
        bool low = true;
        for (int i = live; i < t->threads; i++)
            low &= !is_active(t, i, 0);
        if (low)
            return text_format(e->arena, "tid < %d", live);
        for (int i = 1; i < t->threads; i *= 2)
            mask |= is_active(t, i, 0) ? 0 : i;
        if (equals_mask(t, mask))
            return text_format(e->arena, "(tid & %d) == 0", mask);
    }
    FitTable yes = {t->threads, t->locals, NULL, NULL};
    int32_t *v = new_array(e->arena, int32_t, t->threads * t->locals);
    for (int i = 0; i < t->threads * t->locals; i++)
        v[i] = t->active[i];
    yes.value = v;
    return table(e, &yes);
}
