// einsum.c - einsum: products and sums over named dimensions.
//
// Two operands at a time, from the left, become one batched matrix product:
// letters that both have and the result keeps are batch, those that both have
// and nobody keeps are k, the others m and n. A letter along which an operand
// only repeats itself is not one that it has.
#include <stdlib.h>
#include <string.h>

#include "host/ops.h"

enum { OPERANDS = 8, LETTERS = 128, FIRST_DOT = 1 };

typedef struct {
    char at[OPERANDS * TENSOR_MAX_RANK];
    int len;
} Letters;

typedef struct {
    Letters in[OPERANDS], out;
    bool dots[OPERANDS], out_dots;  // "..." was there
    int dots_at[OPERANDS], out_dots_at;
    int count;
    int64_t size[LETTERS];
} Equation;

typedef struct {
    Tensor t;                   // owned
    Letters l;
} Term;

// ---- the equation -----------------------------------------------------------

static int find(const Letters *l, char c)
{
    const char *at = l->len ? memchr(l->at, c, (size_t)l->len) : NULL;
    return at ? (int)(at - l->at) : -1;
}

static bool has(const Letters *l, char c)
{
    return find(l, c) >= 0;
}

static bool add(Letters *l, char c)
{
    if (l->len >= TENSOR_MAX_RANK)
        return false;
    l->at[l->len++] = c;
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// One side's term: letters and at most one "...".
static bool read_term(Text t, Letters *l, bool *dots, int *dots_at,
                      TextBuf *why)
{
    for (size_t i = 0; i < t.len; i++) {
        if (t.at[i] == ' ')
            continue;
        bool three = text_starts(text_slice(t, i, t.len), "...");
        if (three && !*dots) {
            *dots = true;
            *dots_at = l->len;
            i += 2;
        } else if (!is_letter(t.at[i]) || !add(l, t.at[i])) {
            buf_puts(why, "the equation has a character that does not belong "
                          "there, or too many letters");
            return false;
        }
    }
    return true;
}

static size_t arrow_in(Text t)
{
    size_t i = 0;
    while (i < t.len && !text_starts(text_slice(t, i, t.len), "->"))
        i++;
    return i;
}

static bool read_operands(Text left, Equation *e, TextBuf *why)
{
    size_t from = 0;
    for (size_t i = 0; i <= left.len; i++) {
        if (i < left.len && left.at[i] != ',')
            continue;
        int n = e->count++;
        if (n == OPERANDS) {
            buf_puts(why, "more than 8 operands");
            return false;
        }
        if (!read_term(text_slice(left, from, i), &e->in[n], &e->dots[n],
                       &e->dots_at[n], why))
            return false;
        from = i + 1;
    }
    return true;
}

static void insert(Letters *l, int at, char first, int n)
{
    memmove(l->at + at + n, l->at + at, (size_t)(l->len - at));
    for (int i = 0; i < n; i++)
        l->at[at + i] = (char)(first + i);
    l->len += n;
}

// "..." stands for dimensions aligned at the right: letters of their own.
static bool spell_dots(Equation *e, const Tensor *const *in, TextBuf *why)
{
    int most = 0;
    for (int i = 0; i < e->count; i++) {
        int n = in[i]->rank - e->in[i].len;
        if (e->dots[i] ? n < 0 : n != 0) {
            buf_puts(why, "an operand has other dimensions than the equation "
                          "says");
            return false;
        }
        most = n > most ? n : most;
    }
    for (int i = 0; i < e->count; i++) {
        int n = in[i]->rank - e->in[i].len;
        insert(&e->in[i], e->dots_at[i], (char)(FIRST_DOT + most - n), n);
    }
    if (e->out_dots) {
        if (e->out.len + most > TENSOR_MAX_RANK) {
            buf_puts(why, "the result has too many dimensions");
            return false;
        }
        insert(&e->out, e->out_dots_at, FIRST_DOT, most);
    }
    return true;
}

// Without "->" the result has "..." and the letters that appear once, in order.
static bool imply_output(Equation *e)
{
    bool ok = true;
    for (char c = 'A'; c <= 'z'; c++) {
        int times = 0;
        for (int i = 0; i < e->count; i++)
            for (int d = 0; d < e->in[i].len; d++)
                times += e->in[i].at[d] == c;
        if (times == 1)
            ok = ok && add(&e->out, c);
    }
    for (int i = 0; i < e->count; i++)
        e->out_dots = e->out_dots || e->dots[i];
    return ok;
}

static char dot_or(char letter)
{
    return letter < 'A' ? '.' : letter;
}

static bool find_sizes(Equation *e, const Tensor *const *in, TextBuf *why)
{
    memset(e->size, -1, sizeof e->size);
    for (int i = 0; i < e->count; i++)
        for (int d = 0; d < in[i]->rank; d++) {
            int64_t *s = &e->size[(int)e->in[i].at[d]], n = in[i]->shape[d];
            if (*s >= 0 && *s != n && *s != 1 && n != 1) {
                buf_printf(why, "'%c' stands for sizes %lld and %lld",
                           dot_or(e->in[i].at[d]), (long long)*s, (long long)n);
                return false;
            }
            *s = *s < 0 || *s == 1 ? n : *s;
        }
    for (int d = 0; d < e->out.len; d++) {
        Letters before = {.len = d};
        memcpy(before.at, e->out.at, (size_t)d);
        if (e->size[(int)e->out.at[d]] < 0)
            buf_printf(why, "the result has '%c', which no operand has",
                       e->out.at[d]);
        else if (has(&before, e->out.at[d]))
            buf_printf(why, "the result has '%c' twice", e->out.at[d]);
    }
    return why->len == 0;
}

static bool read_equation(Text t, Equation *e, const Tensor *const *in,
                          int count, TextBuf *why)
{
    size_t arrow = arrow_in(t);
    *e = (Equation){0};
    if (!read_operands(text_slice(t, 0, arrow), e, why))
        return false;
    if (e->count != count) {
        buf_puts(why, "the equation and the operands differ in number");
        return false;
    }
    if (arrow < t.len) {
        if (!read_term(text_slice(t, arrow + 2, t.len), &e->out, &e->out_dots,
                       &e->out_dots_at, why))
            return false;
    } else if (!imply_output(e)) {
        buf_puts(why, "the result has too many dimensions");
        return false;
    }
    return spell_dots(e, in, why) && find_sizes(e, in, why);
}

// ---- terms ------------------------------------------------------------------

static void drop(Term *x, int d)
{
    x->t = tensor_select(&x->t, d, 0);
    memmove(x->l.at + d, x->l.at + d + 1, (size_t)(x->l.len - d - 1));
    x->l.len--;
}

// A letter twice in one operand: its diagonal. One along which the operand is
// the same everywhere, though not everything is: gone.
static Term term_of(const Equation *e, int i, const Tensor *t)
{
    Term x = {.t = tensor_source(t), .l = e->in[i]};
    for (int d = 0; d < x.l.len; d++)
        for (int o = d + 1; o < x.l.len; o++)
            if (x.l.at[o] == x.l.at[d]) {
                char c = x.l.at[d];
                x.t = tensor_diagonal(&x.t, 0, d, o);
                memmove(x.l.at + o, x.l.at + o + 1, (size_t)(x.l.len - o - 1));
                memmove(x.l.at + d, x.l.at + d + 1, (size_t)(x.l.len - d - 2));
                x.l.at[x.l.len-- - 2] = c;
                d = -1;
                break;
            }
    for (int d = x.l.len - 1; d >= 0; d--)
        if (x.t.shape[d] == 1 && e->size[(int)x.l.at[d]] != 1)
            drop(&x, d);
    tensor_retain(&x.t);
    return x;
}

// Letters that the result or a later operand wants.
static Letters wanted(const Equation *e, int from)
{
    Letters l = e->out;
    for (int i = from; i < e->count; i++)
        for (int d = 0; d < e->in[i].len; d++)
            if (!has(&l, e->in[i].at[d]))
                l.at[l.len++] = e->in[i].at[d];
    return l;
}

// Sums over the letters of x that are in neither list.
static bool sum_out(TensorHeap *h, Term *x, const Letters *a, const Letters *b)
{
    uint32_t mask = 0;
    Letters left = {0};
    for (int d = 0; d < x->l.len; d++) {
        if (has(a, x->l.at[d]) || (b && has(b, x->l.at[d])))
            left.at[left.len++] = x->l.at[d];
        else
            mask |= 1u << d;
    }
    if (!mask)
        return true;
    Tensor sum;
    DType t = dtype_is_float(x->t.dtype) ? x->t.dtype : DT_I64;
    if (!tensor_reduce(h, &sum, &x->t, REDUCE_SUM, mask, false, t))
        return false;
    tensor_release(&x->t);
    *x = (Term){sum, left};
    return true;
}

// A letter that the result keeps and along which x repeats itself, while the
// other operand has it, need not be x's.
static void forget_repeats(Term *x, const Term *y, const Letters *keep)
{
    for (int d = x->l.len - 1; d >= 0; d--)
        if (x->t.shape[d] > 1 && x->t.strides[d] == 0
            && has(keep, x->l.at[d]) && has(&y->l, x->l.at[d]))
            drop(x, d);
}

// ---- two operands -----------------------------------------------------------

enum { BATCH, LEFT, INNER, RIGHT, GROUPS };

static int64_t product_of(const Equation *e, const Letters *l)
{
    int64_t p = 1;
    for (int i = 0; i < l->len; i++)
        p *= e->size[(int)l->at[i]];
    return p;
}

static void split_letters(const Term *x, const Term *y, const Letters *keep,
                          Letters group[GROUPS])
{
    memset(group, 0, GROUPS * sizeof *group);
    for (int d = 0; d < x->l.len; d++) {
        char c = x->l.at[d];
        Letters *g = !has(&y->l, c) ? &group[LEFT]
                     : has(keep, c) ? &group[BATCH] : &group[INNER];
        g->at[g->len++] = c;
    }
    for (int d = 0; d < y->l.len; d++)
        if (!has(&x->l, y->l.at[d]))
            group[RIGHT].at[group[RIGHT].len++] = y->l.at[d];
}

// x as [batch..., first, second], the groups merged.
static bool as_matrix(Tensor *out, const Term *x, const Equation *e,
                      const Letters *batch, const Letters *first,
                      const Letters *second)
{
    const Letters *groups[] = {batch, first, second};
    int order[TENSOR_MAX_RANK], n = 0;
    int64_t shape[TENSOR_MAX_RANK];
    for (int g = 0; g < 3; g++)
        for (int i = 0; i < groups[g]->len; i++)
            order[n++] = find(&x->l, groups[g]->at[i]);
    Tensor view = tensor_permute(&x->t, order);
    for (int i = 0; i < batch->len; i++)
        shape[i] = e->size[(int)batch->at[i]];
    shape[batch->len] = product_of(e, first);
    shape[batch->len + 1] = product_of(e, second);
    return tensor_reshape(out, &view, batch->len + 2, shape);
}

static void name_result(Term *out, const Equation *e, const Letters *group)
{
    static const int order[] = {BATCH, LEFT, RIGHT};
    out->l = (Letters){0};
    for (int g = 0; g < 3; g++)
        for (int i = 0; i < group[order[g]].len; i++)
            out->l.at[out->l.len++] = group[order[g]].at[i];
    out->t.rank = out->l.len;
    for (int d = 0; d < out->l.len; d++)
        out->t.shape[d] = e->size[(int)out->l.at[d]];
    tensor_row_major(&out->t);
}

// x becomes x times y, with the letters of batch, left and right.
static bool contract(TensorHeap *h, Term *x, Term *y, const Letters *keep,
                     const Equation *e, DType result, TextBuf *why)
{
    Letters group[GROUPS];
    Tensor a = {0}, b = {0}, c;
    forget_repeats(x, y, keep);
    forget_repeats(y, x, keep);
    split_letters(x, y, keep, group);
    if (group[BATCH].len > TENSOR_MAX_RANK - 2
        || group[BATCH].len + group[LEFT].len + group[RIGHT].len
               > TENSOR_MAX_RANK) {
        buf_puts(why, "a product has too many dimensions");
        return false;
    }
    bool ok = as_matrix(&a, x, e, &group[BATCH], &group[LEFT], &group[INNER])
              && as_matrix(&b, y, e, &group[BATCH], &group[INNER],
                           &group[RIGHT])
              && tensor_matmul(h, &c, &a, &b, result);
    tensor_release(&a);
    tensor_release(&b);
    if (!ok)
        return false;
    tensor_release(&x->t);
    x->t = c;
    name_result(x, e, group);
    return true;
}

static bool multiply_next(TensorHeap *h, Term *x, const Equation *e, int i,
                          const Tensor *t, DType result, TextBuf *why)
{
    Letters keep = wanted(e, i + 1);
    Term y = term_of(e, i, t);
    bool ok = sum_out(h, &y, &keep, &x->l)
              && contract(h, x, &y, &keep, e, result, why)
              && sum_out(h, x, &keep, NULL);
    tensor_release(&y.t);
    return ok;
}

// x with its dimensions as the equation wants them, repeated where it has none.
static bool deliver(Tensor *out, const Term *x, const Equation *e, DType result)
{
    Tensor view = x->t;
    int64_t shape[TENSOR_MAX_RANK];
    int order[TENSOR_MAX_RANK], extra = x->l.len;
    for (int d = 0; d < e->out.len; d++) {
        int own = find(&x->l, e->out.at[d]);
        if (own < 0)
            view = tensor_unsqueeze(&view, view.rank);
        order[d] = own < 0 ? extra++ : own;
        shape[d] = e->size[(int)e->out.at[d]];
    }
    view = tensor_permute(&view, order);
    view = tensor_expand(&view, e->out.len, shape);
    return view.dtype == result ? tensor_contiguous(out, &view)
                                : tensor_cast(out, &view, result, true);
}

bool tensor_einsum(TensorHeap *h, Tensor *out, Text equation,
                   const Tensor *const *in, int count, DType result,
                   TextBuf *why)
{
    Equation e;
    if (!read_equation(equation, &e, in, count, why))
        return false;
    Letters keep = wanted(&e, 1);
    Term x = term_of(&e, 0, in[0]);
    bool ok = sum_out(h, &x, &keep, NULL);
    for (int i = 1; i < count && ok; i++)
        ok = multiply_next(h, &x, &e, i, in[i], result, why);
    ok = ok && deliver(out, &x, &e, result);
    tensor_release(&x.t);
    return ok;
}
