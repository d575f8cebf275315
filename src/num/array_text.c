// array_text.c - arrays as NumPy's array2string prints them (2.3 and later).
//
// Eight places at most, and of those as few as tell a value from its
// neighbours; lines of 75 columns; of more than 1,000 elements the first and
// last three along each dimension.
#include "num/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 8, COLUMNS = 75, THRESHOLD = 1000, EDGE = 3, WORD = 64,
       DIGITS = 40 };

typedef enum { AS_INTEGERS, AS_TRUTHS, AS_FIXED, AS_SCIENTIFIC } Style;

typedef struct {
    const NumArray *a;
    TextBuf *out;
    bool summary;
    Style style;
    int left, right;            // columns before and after the point
    int places, exponent;       // digits of AS_SCIENTIFIC
    // while the elements are looked at
    bool any, negative_infinity, infinity, nan;
    double least, most;         // magnitudes that are not 0
    int64_t index[NUM_ARRAY_RANK];
} ArrayText;

static NumScalar element(const ArrayText *t)
{
    return t->a->get(t->a->ctx, t->index);
}

// Calls `visit` for the elements that are shown.
static void each(ArrayText *t, int d, void (*visit)(ArrayText *t, NumScalar v))
{
    int64_t n = t->a->shape[d];
    bool cut = t->summary && n > 2 * EDGE;

    for (int64_t i = 0; i < n; i++) {
        if (cut && i == EDGE)
            i = n - EDGE;
        t->index[d] = i;
        if (d + 1 < t->a->rank)
            each(t, d + 1, visit);
        else
            visit(t, element(t));
    }
}

// ---- digits ------------------------------------------------------------

// What a text of v gives when it is read as one of t.
static bool reads_back(DType t, const char *text, double v)
{
    double read = strtod(text, NULL);

    return t == DT_F64   ? read == v
           : t == DT_F16 ? num_round_f64(DT_F16, read) == v
                         : (double)strtof(text, NULL) == v;
}

// The fewest digits that tell v, finite, from its neighbours, as d.ddde+xx.
static void shortest(DType t, double v, char out[DIGITS])
{
    for (int places = 0; places <= 16; places++) {
        snprintf(out, DIGITS, "%.*e", places, v);
        if (reads_back(t, out, v))
            return;
    }
}

static void trim_zeros(char *fraction)
{
    size_t n = strlen(fraction);

    while (n && fraction[n - 1] == '0')
        fraction[--n] = '\0';
}

// v with its point: the shortest digits, or those of PLACES places.
static void fixed(DType t, double v, char out[WORD])
{
    char digits[DIGITS], *point;
    int places;

    shortest(t, v, digits);
    point = strchr(digits, '.');
    places = (point ? (int)(strchr(digits, 'e') - point) - 1 : 0) -
             atoi(strchr(digits, 'e') + 1);
    if (places > PLACES)
        snprintf(out, WORD, "%.*f", PLACES, v);
    else                        // the digits alone are what counts
        snprintf(out, WORD, "%.*f", places > 0 ? places : 0,
                 strtod(digits, NULL));
    if (!strchr(out, '.'))
        strcat(out, ".");
    trim_zeros(strchr(out, '.') + 1);
}

// v as d.ddd and its exponent, which is returned.
static int scientific(DType t, double v, char out[WORD])
{
    char *e;
    int exponent;

    shortest(t, v, out);
    e = strchr(out, 'e');
    if (e - out > PLACES + 2 + (v < 0 || signbit(v)))
        snprintf(out, WORD, "%.*e", PLACES, v);
    e = strchr(out, 'e');
    exponent = atoi(e + 1);
    *e = '\0';
    if (!strchr(out, '.'))
        strcat(out, ".");
    trim_zeros(strchr(out, '.') + 1);
    return exponent;
}

// ---- the common form -------------------------------------------------------

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static void measure_integer(ArrayText *t, NumScalar v)
{
    char text[WORD];
    bool sign = dtype_info(t->a->dtype)->kind != KIND_UINT;

    t->left = larger(t->left, sign ? snprintf(text, WORD, "%lld",
                                              (long long)v.i)
                                   : snprintf(text, WORD, "%llu",
                                              (unsigned long long)v.i));
}

static void range_of(ArrayText *t, NumScalar v)
{
    double size = fabs(v.f);

    t->nan |= isnan(v.f);
    t->infinity |= isinf(v.f);
    t->negative_infinity |= isinf(v.f) && v.f < 0;
    if (!isfinite(v.f) || size == 0)
        return;
    t->least = t->any && t->least < size ? t->least : size;
    t->most = t->any && t->most > size ? t->most : size;
    t->any = true;
}

static void measure_float(ArrayText *t, NumScalar v)
{
    char text[WORD], *point;

    if (!isfinite(v.f))
        return;
    if (t->style == AS_SCIENTIFIC) {
        int e = abs(scientific(t->a->dtype, v.f, text));

        t->exponent = larger(t->exponent, e >= 100 ? 3 : 2);
    } else {
        fixed(t->a->dtype, v.f, text);
    }
    point = strchr(text, '.');
    t->left = larger(t->left, (int)(point - text));
    t->right = larger(t->right, (int)strlen(point + 1));
}

static void choose_float(ArrayText *t)
{
    DType kind = t->a->dtype == DT_F64 || t->a->dtype == DT_F16 ? t->a->dtype
                                                                : DT_F32;
    double large = kind == DT_F64 ? 1e8 : kind == DT_F32 ? 1e6 : 1e3;

    each(t, 0, range_of);
    t->style = t->any && (t->most >= large ||
                          t->least < num_round_f64(kind, 1e-4) ||
                          num_round_f64(kind, t->most / t->least) > 1000)
                   ? AS_SCIENTIFIC : AS_FIXED;
    each(t, 0, measure_float);
    if (t->style == AS_SCIENTIFIC) {
        t->places = t->right;
        t->right += t->exponent + 2;
    }
    if (t->nan)
        t->left = larger(t->left, 3 - t->right - 1);
    if (t->infinity)
        t->left = larger(t->left, 3 + t->negative_infinity - t->right - 1);
}

// ---- elements ------------------------------------------------------------

static void put_float(const ArrayText *t, double v, char out[WORD])
{
    char text[WORD + DIGITS];
    int width = t->left + t->right + 1, e, before;

    if (!isfinite(v)) {
        snprintf(out, WORD, "%*s", width, isnan(v) ? "nan"
                                          : v < 0  ? "-inf" : "inf");
        return;
    }
    if (t->style == AS_SCIENTIFIC) {
        snprintf(text, WORD, "%.*e", t->places, v);     // digits beyond, too
        e = atoi(strchr(text, 'e') + 1);
        *strchr(text, 'e') = '\0';
        snprintf(text + strlen(text), DIGITS, "%se%c%0*d",
                 t->places ? "" : ".", e < 0 ? '-' : '+', t->exponent, abs(e));
    } else {
        fixed(t->a->dtype, v, text);
    }
    before = t->left - (int)(strchr(text, '.') - text);
    snprintf(out, WORD, "%*s%-*s", before, "", width - before, text);
}

static void put_element(const ArrayText *t, char out[WORD])
{
    NumScalar v = element(t);

    if (t->style == AS_TRUTHS)
        snprintf(out, WORD, "%s", v.i ? " True" : "False");
    else if (t->style != AS_INTEGERS)
        put_float(t, v.f, out);
    else if (dtype_info(t->a->dtype)->kind == KIND_UINT)
        snprintf(out, WORD, "%*llu", t->left, (unsigned long long)v.i);
    else
        snprintf(out, WORD, "%*lld", t->left, (long long)v.i);
}

// ---- lines ------------------------------------------------------------

static void indent(TextBuf *out, int n)
{
    for (int i = 0; i < n; i++)
        buf_addc(out, ' ');
}

// One row, whose lines after the first are indented; `line` holds what is not
// written yet.
static void add_word(ArrayText *t, TextBuf *line, const char *word, int hang,
                     bool first)
{
    int width = COLUMNS - hang, used = hang + (int)line->len + !first;

    if (used + (int)strlen(word) > width && used > hang) {
        Text full = buf_view(line);

        while (full.len && full.at[full.len - 1] == ' ')
            full.len--;
        buf_text(t->out, full);
        buf_addc(t->out, '\n');
        indent(t->out, hang);
        line->len = 0;
    } else if (!first) {
        buf_addc(line, ' ');
    }
    buf_puts(line, word);
}

static void put_row(ArrayText *t, int d)
{
    int64_t n = t->a->shape[d];
    bool cut = t->summary && n > 2 * EDGE;
    TextBuf line = {0};
    char word[WORD];

    for (int64_t i = 0; i < n; i++) {
        if (cut && i == EDGE) {
            add_word(t, &line, "...", d + 1, false);
            i = n - EDGE;
        }
        t->index[d] = i;
        put_element(t, word);
        add_word(t, &line, word, d + 1, i == 0);
    }
    buf_text(t->out, buf_view(&line));
    buf_release(&line);
}

static void next_part(ArrayText *t, int d)
{
    for (int i = d + 1; i < t->a->rank; i++)
        buf_addc(t->out, '\n');
    indent(t->out, d + 1);
}

static void put_part(ArrayText *t, int d)
{
    int64_t n = t->a->shape[d];
    bool cut = t->summary && n > 2 * EDGE;

    buf_addc(t->out, '[');
    if (d + 1 == t->a->rank) {
        put_row(t, d);
        n = 0;
    }
    for (int64_t i = 0; i < n; i++) {
        if (i)
            next_part(t, d);
        if (cut && i == EDGE) {
            buf_puts(t->out, "...");
            next_part(t, d);
            i = n - EDGE;
        }
        t->index[d] = i;
        put_part(t, d + 1);
    }
    buf_addc(t->out, ']');
}

void num_array_text(TextBuf *out, const NumArray *a)
{
    ArrayText t = {.a = a, .out = out};
    int64_t size = 1;

    for (int d = 0; d < a->rank; d++)
        size *= a->shape[d];
    if (size == 0) {
        buf_puts(out, "[]");
        return;
    }
    t.summary = size > THRESHOLD;
    if (a->dtype == DT_BOOL) {
        t.style = AS_TRUTHS;
    } else if (dtype_is_float(a->dtype)) {
        choose_float(&t);
    } else {
        t.style = AS_INTEGERS;
        each(&t, 0, measure_integer);
    }
    put_part(&t, 0);
}
