// debug_stop.c - where a block stops: lines, watched values, the first NaN.
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/debug.h"

static Arena *arena_of(const Debug *d)
{
    return d->s.cli->arena;
}

// ---- stops ------------------------------------------------------------------

void debug_break(Debug *d, Text e)
{
    Break b = {0};
    size_t i = 0;
    int64_t line;
    int count, best = 0;

    code_steps(kernel_code(d->kernel, CODE_STEPPED), &count);
    while (i < e.len && !isspace((unsigned char)e.at[i]))
        i++;
    Text rest = text_trim(text_slice(e, i, e.len));
    if (!text_to_i64(text_slice(e, 0, i), &line)
        || (rest.len && !text_starts(rest, "if "))) {
        debug_fail(d, "break takes LINE or LINE if CONDITION, as in: break 104 "
                   "if k == 3");
        return;
    }
    for (int k = 0; k < count; k++) {
        Span at = d->steps[k].at;
        int l = sources_place(d->s.cli->sources, at.file, at.begin).line;

        if (d->steps[k].stmt >= 0 && at.file == d->s.file && l >= line
            && (!best || l < best))
            best = l;
    }
    if (!best) {
        debug_fail(d, "no statement of the kernel is at line %" PRId64
             " or behind it", line);
        return;
    }
    b.line = best;
    if (rest.len) {
        b.condition = text_copy(arena_of(d), text_slice(rest, 3, rest.len));
        b.test = text_format(arena_of(d), "bool(%.*s)", TEXT_ARG(b.condition));
    }
    vec_push(arena_of(d), &d->breaks, b);
    printf("stop %d at line %d", d->breaks.len, best);
    printf(rest.len ? " if %.*s\n" : "%.*s\n", TEXT_ARG(b.condition));
}

void debug_forget_stops(Debug *d)
{
    for (int i = 0; i < d->watches.len; i++) {
        buf_release(&d->watches.at[i].bits);
        buf_release(&d->watches.at[i].words);
    }
    d->breaks.len = d->watches.len = 0;
}

void debug_delete(Debug *d, Text e)
{
    int64_t n;

    if (!e.len) {
        debug_forget_stops(d);
        return;
    }
    if (!text_to_i64(e, &n) || n < 1 || n > d->breaks.len
        || !d->breaks.at[n - 1].line)
        debug_fail(d, "there is no stop '%.*s'", TEXT_ARG(e));
    else
        d->breaks.at[n - 1].line = 0;
}

void debug_stops(Debug *d, Text e)
{
    (void)e;
    for (int i = 0; i < d->breaks.len; i++)
        if (d->breaks.at[i].line) {
            printf("  %d  line %d", i + 1, d->breaks.at[i].line);
            if (d->breaks.at[i].condition.len)
                printf(" if %.*s", TEXT_ARG(d->breaks.at[i].condition));
            putchar('\n');
        }
    for (int i = 0; i < d->watches.len; i++)
        printf("  watch %.*s\n", TEXT_ARG(d->watches.at[i].expression));
}

// Elements to compare and words to show.
static bool watched_value(Debug *d, const Watch *w, TextBuf *bits,
                          TextBuf *words)
{
    int pins = lang_pins(d->s.host->lang);
    Value v;
    bool ok = debug_evaluate(d, w->expression, &v);
    Tensor *t = ok ? tensor_of(v) : NULL;
    int64_t n = t ? tensor_count(t) : 0;

    if (t) {
        double *all = xmalloc((size_t)(n + 1) * sizeof *all);

        tensor_read(t, DT_F64, all, CAST_TORCH);
        buf_add(bits, (const char *)all, (size_t)n * sizeof *all);
        if (n == 1)
            buf_printf(words, interp_is_undefined(*all) ? "undefined" : "%.9g",
                       *all);
        else
            buf_printf(words, "%" PRId64 " elements", n);
        free(all);
    } else if (ok) {
        value_repr(d->s.host->lang, words, v);
        buf_add(bits, words->at, words->len);
    }
    lang_unpin(d->s.host->lang, pins);
    return ok;
}

void debug_watch(Debug *d, Text e)
{
    Watch w = {.expression = text_copy(arena_of(d), e)};

    if (!e.len)
        debug_fail(d, "watch what? An element, as in x[3,5], or an expression");
    else if (!watched_value(d, &w, &w.bits, &w.words))
        d->failed = !d->talks;
    else
        vec_push(arena_of(d), &d->watches, w);
}

static bool same_bytes(const TextBuf *a, const TextBuf *b)
{
    return a->len == b->len && (!a->len || !memcmp(a->at, b->at, a->len));
}

static bool has_changed(Debug *d, Watch *w, TextBuf *words)
{
    TextBuf bits = {0}, now = {0};
    bool ok = watched_value(d, w, &bits, &now);
    bool changed = ok && !same_bytes(&bits, &w->bits);

    if (changed)
        buf_printf(words, "%.*s: %.*s, was %.*s", TEXT_ARG(w->expression),
                   (int)now.len, now.at, (int)w->words.len, w->words.at);
    buf_release(&w->bits);
    buf_release(&w->words);
    w->bits = bits;
    w->words = now;
    return changed;
}

// ---- the first NaN ----------------------------------------------------------

// NaN that something computed, and nobody left there undefined.
static int64_t count_nan(Debug *d, const CodeName *n)
{
    InterpTile tile;
    int64_t count = 1, nan = 0;
    double *all;

    if (n->buffer < 0 || !dtype_is_float(n->dtype)
        || !interp_stop_tile(d->at, n->buffer, &tile))
        return 0;
    for (int i = 0; i < tile.rank; i++)
        count *= tile.shape[i];
    all = xmalloc((size_t)(count + 1) * sizeof *all);
    interp_stop_read(d->at, n->buffer, all);
    for (int64_t i = 0; i < count; i++)
        nan += isnan(all[i]) && !interp_is_undefined(all[i]);
    free(all);
    return nan;
}

void debug_count_nan(Debug *d)
{
    for (int i = 0; i < d->step->name_count; i++) {
        const CodeName *n = &d->step->name[i];

        if (n->buffer >= 0)
            d->nan[n->buffer] = count_nan(d, n);
    }
}

static bool finds_nan(Debug *d, TextBuf *words)
{
    bool found = false;

    for (int i = 0; i < d->step->name_count; i++) {
        const CodeName *n = &d->step->name[i];
        int64_t before = n->buffer < 0 ? 0 : d->nan[n->buffer];
        int64_t now = count_nan(d, n);

        if (now > before)
            buf_printf(words, "%s%.*s has %" PRId64 " NaN, after line %d",
                       found ? "; " : "", TEXT_ARG(n->name), now, d->before);
        found |= now > before;
        if (n->buffer >= 0)
            d->nan[n->buffer] = now;
    }
    return found;
}

// ---- does it stop -----------------------------------------------------------

static bool holds(Debug *d, const Break *b)
{
    int pins = lang_pins(d->s.host->lang);
    Value v;
    bool ok = true;

    if (b->condition.len) {
        ok = debug_evaluate(d, b->test, &v);
        if (!ok)
            d->failed = !d->talks;
        ok = !ok || v.b;                    // one that fails stops, too
    }
    lang_unpin(d->s.host->lang, pins);
    return ok;
}

static bool breaks_here(Debug *d, TextBuf *words)
{
    for (int i = 0; i < d->breaks.len; i++)
        if (d->breaks.at[i].line == debug_line(d) && d->step->stmt >= 0
            && holds(d, &d->breaks.at[i])) {
            buf_printf(words, "stop %d", i + 1);
            return true;
        }
    return false;
}

static bool is_reached(const Debug *d)
{
    int first;

    interp_stop_threads(d->at, &first);
    if (first != d->warp)
        return false;
    return d->step->stmt < 0 || d->going == TO_STEP
           || (d->going == TO_NEXT && d->step->depth <= d->depth);
}

const char *debug_reason(Debug *d, TextBuf *words)
{
    bool stops = breaks_here(d, words);

    for (int i = 0; i < d->watches.len; i++)
        stops |= has_changed(d, &d->watches.at[i], words);
    if (d->going == TO_NAN)
        stops |= finds_nan(d, words);
    return stops || is_reached(d) ? text_cstr(arena_of(d), buf_view(words))
                                  : NULL;
}
