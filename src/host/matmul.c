// matmul.c - matrix products and einsum.
//
// A batched product is cut into items of (batch, block of rows); operands are
// brought to f32 or f64 lanes and packed row-major once per batch entry.
#include <stdlib.h>
#include <string.h>

#include "host/ops.h"
#include "support/parallel.h"

enum { ROW_BLOCK = 128, COL_BLOCK = 512 };

typedef struct {
    Tensor a, b;                // [batch..., m, k], [batch..., k, n], in lanes
    Tensor *out;                // [batch..., m, n], in lanes
    int64_t m, n, k, batches, row_blocks, col_blocks;
    LaneType lane;
    const Lanes *lanes;
} Product;

static int64_t batch_offset(const Tensor *t, int64_t batch)
{
    int64_t at = 0;
    for (int d = t->rank - 3; d >= 0; d--) {
        at += batch % t->shape[d] * t->strides[d];
        batch /= t->shape[d];
    }
    return at;
}

static void multiply_item(void *ctx, int worker, int64_t item)
{
    const Product *p = ctx;
    int64_t cols = item % p->col_blocks;
    int64_t rows = item / p->col_blocks % p->row_blocks;
    int64_t batch = item / p->col_blocks / p->row_blocks;
    int64_t m0 = rows * ROW_BLOCK, n0 = cols * COL_BLOCK;
    int m = (int)(p->m - m0 < ROW_BLOCK ? p->m - m0 : ROW_BLOCK);
    int n = (int)(p->n - n0 < COL_BLOCK ? p->n - n0 : COL_BLOCK);
    size_t bytes = lane_bytes(p->lane);
    int64_t lda = p->a.strides[p->a.rank - 2];
    int64_t ldb = p->b.strides[p->b.rank - 2];
    const char *a = (char *)tensor_data(&p->a)
                    + (batch_offset(&p->a, batch) + m0 * lda) * (int64_t)bytes;
    const char *b = (char *)tensor_data(&p->b)
                    + (batch_offset(&p->b, batch) + n0) * (int64_t)bytes;
    char *c = (char *)tensor_data(p->out)
              + ((batch * p->m + m0) * p->n + n0) * (int64_t)bytes;
    (void)worker;
    if (p->lane == LANE_F32)
        p->lanes->gemm_f32(m, n, (int)p->k, (const float *)a, lda,
                           (const float *)b, ldb, (float *)c, p->n);
    else
        p->lanes->gemm_f64(m, n, (int)p->k, (const double *)a, lda,
                           (const double *)b, ldb, (double *)c, p->n);
}

// Integers, exactly: the plain loop.
static void multiply_int_row(void *ctx, int worker, int64_t item)
{
    const Product *p = ctx;
    int64_t batch = item / p->m, i = item % p->m;
    const int64_t *a = (const int64_t *)tensor_data(&p->a)
                       + batch_offset(&p->a, batch)
                       + i * p->a.strides[p->a.rank - 2];
    const int64_t *b = (const int64_t *)tensor_data(&p->b)
                       + batch_offset(&p->b, batch);
    int64_t *c = (int64_t *)tensor_data(p->out) + item * p->n;
    int64_t ldb = p->b.strides[p->b.rank - 2];
    (void)worker;
    for (int64_t k = 0; k < p->k; k++)
        for (int64_t j = 0; j < p->n; j++)
            c[j] = (int64_t)((uint64_t)c[j]
                             + (uint64_t)a[k] * (uint64_t)b[k * ldb + j]);
}

static DType lane_dtype(DType t)
{
    if (!dtype_is_float(t))
        return DT_I64;
    return t == DT_F64 ? DT_F64 : DT_F32;
}

// Rows must be contiguous in the last dimension, in the lane's dtype.
static bool operand(Tensor *out, const Tensor *t, DType lane)
{
    bool ready = t->dtype == lane
                 && (t->strides[t->rank - 1] == 1 || t->shape[t->rank - 1] <= 1);
    if (ready) {
        *out = tensor_retain(t);
        return true;
    }
    return t->dtype == lane ? tensor_contiguous(out, t)
                            : tensor_cast(out, t, lane, true);
}

static Tensor expand_batch(const Tensor *t, int rank, const int64_t *batch)
{
    int64_t shape[TENSOR_MAX_RANK];
    memcpy(shape, batch, (rank - 2) * sizeof *shape);
    shape[rank - 2] = t->shape[t->rank - 2];
    shape[rank - 1] = t->shape[t->rank - 1];
    Tensor out = tensor_expand(t, rank, shape);
    out.strides[rank - 2] = t->strides[t->rank - 2];
    out.strides[rank - 1] = t->strides[t->rank - 1];
    return out;
}

static void run_product(Product *p)
{
    if (p->m == 0 || p->n == 0 || p->k == 0)
        return;
    if (p->lane == LANE_I64) {
        parallel_for(p->batches * p->m, 8, multiply_int_row, p);
        return;
    }
    p->row_blocks = (p->m + ROW_BLOCK - 1) / ROW_BLOCK;
    p->col_blocks = (p->n + COL_BLOCK - 1) / COL_BLOCK;
    parallel_for(p->batches * p->row_blocks * p->col_blocks, 1, multiply_item,
                 p);
}

bool tensor_matmul(TensorHeap *h, Tensor *out, const Tensor *a,
                   const Tensor *b, DType result)
{
    int rank = a->rank > b->rank ? a->rank : b->rank;
    int64_t shape[TENSOR_MAX_RANK];
    DType lane = lane_dtype(a->dtype);
    Tensor wide, oa, ob;
    Product p = {.m = a->shape[a->rank - 2], .k = a->shape[a->rank - 1],
                 .n = b->shape[b->rank - 1], .batches = 1, .out = &wide,
                 .lane = lane_type_of(lane), .lanes = lanes_best()};
    for (int i = 3; i <= rank; i++) {
        int64_t x = i <= a->rank ? a->shape[a->rank - i] : 1;
        int64_t y = i <= b->rank ? b->shape[b->rank - i] : 1;
        shape[rank - i] = x == 1 ? y : x;
        p.batches *= shape[rank - i];
    }
    shape[rank - 2] = p.m;
    shape[rank - 1] = p.n;
    if (!tensor_new(h, &wide, lane, rank, shape))
        return false;
    if (!operand(&oa, a, lane))
        return false;
    if (!operand(&ob, b, lane))
        return false;
    p.a = expand_batch(&oa, rank, shape);
    p.b = expand_batch(&ob, rank, shape);
    run_product(&p);
    tensor_release(&oa);
    tensor_release(&ob);
    if (result == lane) {
        *out = wide;
        return true;
    }
    bool ok = tensor_cast(out, &wide, result, true);
    tensor_release(&wide);
    return ok;
}

// ---- einsum ------------------------------------------------------------------------------

enum { LETTERS = 52 };

typedef struct {
    char in[8][TENSOR_MAX_RANK], out[TENSOR_MAX_RANK];
    int in_len[8], out_len, count;
    int64_t size[128];
} Equation;

static bool add_letter(char *list, int *len, char c)
{
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter || *len == TENSOR_MAX_RANK)
        return false;
    list[(*len)++] = c;
    return true;
}

static bool has(const char *list, int len, char c)
{
    return len && memchr(list, c, len) != NULL;
}

// Without "->" the result has the letters that appear once, in order.
static void implied_output(Equation *e)
{
    for (char c = 'A'; c <= 'z'; c++) {
        int times = 0;
        for (int i = 0; i < e->count; i++)
            for (int d = 0; d < e->in_len[i]; d++)
                times += e->in[i][d] == c;
        if (times == 1)
            add_letter(e->out, &e->out_len, c);
    }
}

static bool parse_equation(Text t, Equation *e, const char **why)
{
    bool arrow = false;
    *e = (Equation){.count = 1};
    for (size_t i = 0; i < t.len; i++) {
        char c = t.at[i];
        if (c == ' ')
            continue;
        if (c == '.') {
            *why = "'...' in an equation is not supported";
            return false;
        }
        if (c == '-' && i + 1 < t.len && t.at[i + 1] == '>' && !arrow) {
            arrow = true;
            i++;
        } else if (c == ',' && !arrow && e->count < 8) {
            e->count++;
        } else if (!(arrow ? add_letter(e->out, &e->out_len, c)
                           : add_letter(e->in[e->count - 1],
                                        &e->in_len[e->count - 1], c))) {
            *why = "the equation has a character that does not belong there";
            return false;
        }
    }
    if (!arrow)
        implied_output(e);
    return true;
}

static bool check_sizes(Equation *e, const Tensor *const *in, int count,
                        const char **why)
{
    if (e->count != count) {
        *why = "the equation and the operands differ in number";
        return false;
    }
    for (int i = 0; i < 128; i++)
        e->size[i] = -1;
    for (int i = 0; i < count; i++) {
        if (e->in_len[i] != in[i]->rank) {
            *why = "an operand has other dimensions than the equation says";
            return false;
        }
        for (int d = 0; d < in[i]->rank; d++) {
            int64_t *s = &e->size[(int)e->in[i][d]];
            if (*s >= 0 && *s != in[i]->shape[d] && *s != 1
                && in[i]->shape[d] != 1) {
                *why = "a letter stands for two different sizes";
                return false;
            }
            if (*s < 0 || *s == 1)
                *s = in[i]->shape[d];
        }
    }
    for (int d = 0; d < e->out_len; d++)
        if (e->size[(int)e->out[d]] < 0) {
            *why = "the result has a letter that no operand has";
            return false;
        }
    return true;
}

// A letter twice in one operand: its diagonal.
static void take_diagonals(Tensor *t, char *letters, int *len)
{
    for (int d = 0; d < *len; d++)
        for (int o = d + 1; o < *len; o++) {
            if (letters[o] != letters[d])
                continue;
            t->strides[d] += t->strides[o];
            for (int s = o; s + 1 < *len; s++) {
                letters[s] = letters[s + 1];
                t->shape[s] = t->shape[s + 1];
                t->strides[s] = t->strides[s + 1];
            }
            (*len)--;
            t->rank--;
            o--;
        }
}

typedef struct {
    Tensor t;                   // owned
    char letters[TENSOR_MAX_RANK];
    int len;
} Term;

static Tensor arrange(const Term *x, const char *order, int n,
                      const Equation *e)
{
    Tensor out = x->t;
    out.rank = n;
    for (int d = 0; d < n; d++) {
        const char *at = x->len ? memchr(x->letters, order[d], x->len) : NULL;
        int own = at ? (int)(at - x->letters) : -1;
        out.shape[d] = own < 0 ? 1 : x->t.shape[own];
        out.strides[d] = own < 0 ? 0 : x->t.strides[own];
        if (own >= 0 && out.shape[d] == 1 && e->size[(int)order[d]] != 1)
            out.strides[d] = 0;
        if (own >= 0)
            out.shape[d] = e->size[(int)order[d]];
    }
    return out;
}

// Sums over the letters of x that nothing else needs.
static bool sum_out(TensorHeap *h, Term *x, const char *keep, int keep_len)
{
    uint32_t mask = 0;
    char left[TENSOR_MAX_RANK];
    int n = 0;
    for (int d = 0; d < x->len; d++) {
        if (has(keep, keep_len, x->letters[d]))
            left[n++] = x->letters[d];
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
    x->t = sum;
    memcpy(x->letters, left, n);
    x->len = n;
    return true;
}

static int64_t product_of(const Equation *e, const char *letters, int n)
{
    int64_t p = 1;
    for (int i = 0; i < n; i++)
        p *= e->size[(int)letters[i]];
    return p;
}

// x and y as [batch, m, k] and [batch, k, n]; the result's letters are
// batch, m, n.
static bool contract(TensorHeap *h, Term *out, Term *x, Term *y,
                     const char *keep, int keep_len, const Equation *e,
                     DType result)
{
    char all[4][TENSOR_MAX_RANK];       // batch, m, k, n
    int len[4] = {0};
    for (int d = 0; d < x->len; d++) {
        char c = x->letters[d];
        bool in_y = has(y->letters, y->len, c), kept = has(keep, keep_len, c);
        int group = in_y ? (kept ? 0 : 2) : 1;
        all[group][len[group]++] = c;
    }
    for (int d = 0; d < y->len; d++)
        if (!has(x->letters, x->len, y->letters[d]))
            all[3][len[3]++] = y->letters[d];
    char order[3 * TENSOR_MAX_RANK];
    if (len[0] + len[1] + len[3] > TENSOR_MAX_RANK - 2)
        return false;
    int64_t batch = product_of(e, all[0], len[0]);
    int64_t m = product_of(e, all[1], len[1]), k = product_of(e, all[2], len[2]);
    int64_t n = product_of(e, all[3], len[3]);
    int at = 0;
    for (int g = 0; g < 3; g++)
        for (int i = 0; i < len[g]; i++)
            order[at++] = all[g][i];
    Tensor view = arrange(x, order, at, e), a, b, c;
    bool ok = tensor_reshape(&a, &view, 3, (int64_t[]){batch, m, k});
    at = 0;
    static const int second[] = {0, 2, 3};
    for (int g = 0; g < 3; g++)
        for (int i = 0; i < len[second[g]]; i++)
            order[at++] = all[second[g]][i];
    view = arrange(y, order, at, e);
    ok = ok && tensor_reshape(&b, &view, 3, (int64_t[]){batch, k, n});
    ok = ok && tensor_matmul(h, &c, &a, &b, result);
    if (!ok)
        return false;
    tensor_release(&a);
    tensor_release(&b);
    tensor_release(&x->t);
    tensor_release(&y->t);
    static const int third[] = {0, 1, 3};
    int64_t shape[TENSOR_MAX_RANK];
    out->len = 0;
    for (int g = 0; g < 3; g++)
        for (int i = 0; i < len[third[g]]; i++) {
            shape[out->len] = e->size[(int)all[third[g]][i]];
            out->letters[out->len++] = all[third[g]][i];
        }
    out->t = c;
    out->t.rank = out->len;
    memcpy(out->t.shape, shape, out->len * sizeof *shape);
    tensor_row_major(&out->t);
    return true;
}

static int letters_needed(const Equation *e, int from, char *out)
{
    int n = 0;
    for (int d = 0; d < e->out_len; d++)
        out[n++] = e->out[d];
    for (int i = from; i < e->count; i++)
        for (int d = 0; d < e->in_len[i]; d++)
            if (!has(out, n, e->in[i][d]))
                out[n++] = e->in[i][d];
    return n;
}

static Term term_of(const Equation *e, int i, const Tensor *t)
{
    Term x = {.t = tensor_retain(t), .len = e->in_len[i]};
    memcpy(x.letters, e->in[i], sizeof x.letters);
    take_diagonals(&x.t, x.letters, &x.len);
    return x;
}

bool tensor_einsum(TensorHeap *h, Tensor *out, Text equation,
                   const Tensor *const *in, int count, DType result,
                   const char **why)
{
    Equation e;
    char keep[8 * TENSOR_MAX_RANK];
    *why = NULL;
    if (!parse_equation(equation, &e, why) || !check_sizes(&e, in, count, why))
        return false;
    Term x = term_of(&e, 0, in[0]);
    if (!sum_out(h, &x, keep, letters_needed(&e, 1, keep)))
        return false;
    for (int i = 1; i < count; i++) {
        char mine[8 * TENSOR_MAX_RANK];
        Term y = term_of(&e, i, in[i]), z;
        int n = letters_needed(&e, i + 1, keep);
        memcpy(mine, keep, n);
        for (int d = 0; d < x.len; d++)
            if (!has(mine, n, x.letters[d]))
                mine[n++] = x.letters[d];
        if (!sum_out(h, &y, mine, n))
            return false;
        n = letters_needed(&e, i + 1, keep);
        if (!contract(h, &z, &x, &y, keep, n, &e, result))
            return false;
        x = z;
        if (!sum_out(h, &x, keep, n))
            return false;
    }
    Tensor view = arrange(&x, e.out, e.out_len, &e);
    bool ok = view.dtype == result ? tensor_contiguous(out, &view)
                                   : tensor_cast(out, &view, result, true);
    tensor_release(&x.t);
    return ok;
}
