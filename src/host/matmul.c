// matmul.c - matrix products.
//
// Operands are brought to f32, f64 or i64 lanes with rows in order; views that
// have that already are read where they are. A batched product is cut in
// blocks of rows and columns that threads share out; each result is one chain
// of fused multiply-adds in ascending k, whatever the cuts.
#include <string.h>

#include "host/ops.h"
#include "support/parallel.h"

enum { ROWS_MOST = 256, COLS_MOST = 512, LEAST = 64, ITEMS_A_THREAD = 4 };

typedef struct {
    Tensor a, b;                // [batch..., m, k], [batch..., k, n], in lanes
    Tensor *out;                // [batch..., m, n], in lanes
    int64_t m, n, k, batches;
    int64_t rows, cols;         // of a block
    int64_t row_blocks, col_blocks;
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

static const char *element(const Tensor *t, int64_t at)
{
    int64_t bytes = (int64_t)dtype_bytes(t->dtype, 1);
    return (const char *)tensor_data(t) + at * bytes;
}

static void multiply_block(void *ctx, int worker, int64_t item)
{
    const Product *p = ctx;
    int64_t col = item % p->col_blocks * p->cols;
    int64_t row = item / p->col_blocks % p->row_blocks * p->rows;
    int64_t batch = item / p->col_blocks / p->row_blocks;
    int m = (int)(p->m - row < p->rows ? p->m - row : p->rows);
    int n = (int)(p->n - col < p->cols ? p->n - col : p->cols);
    int64_t lda = p->a.strides[p->a.rank - 2];
    int64_t ldb = p->b.strides[p->b.rank - 2];
    const void *a = element(&p->a, batch_offset(&p->a, batch) + row * lda);
    const void *b = element(&p->b, batch_offset(&p->b, batch) + col);
    size_t bytes = lane_bytes(p->lane);
    char *c = (char *)tensor_data(p->out)
              + ((batch * p->m + row) * p->n + col) * (int64_t)bytes;
    (void)worker;
    for (int i = 0; i < m; i++)
        memset(c + i * p->n * (int64_t)bytes, 0, n * bytes);
    if (p->lane == LANE_F32)
        p->lanes->gemm_f32(m, n, (int)p->k, a, lda, b, ldb, (float *)c,
                           p->n);
    else
        p->lanes->gemm_f64(m, n, (int)p->k, a, lda, b, ldb, (double *)c,
                           p->n);
}

// Integers, exactly: the plain loop.
static void multiply_int_row(void *ctx, int worker, int64_t item)
{
    const Product *p = ctx;
    int64_t batch = item / p->m, i = item % p->m;
    int64_t lda = p->a.strides[p->a.rank - 2];
    int64_t ldb = p->b.strides[p->b.rank - 2];
    const uint64_t *a =
        (const void *)element(&p->a, batch_offset(&p->a, batch) + i * lda);
    const uint64_t *b =
        (const void *)element(&p->b, batch_offset(&p->b, batch));
    uint64_t *c = (uint64_t *)tensor_data(p->out) + item * p->n;
    (void)worker;
    memset(c, 0, p->n * sizeof *c);
    for (int64_t k = 0; k < p->k; k++)
        for (int64_t j = 0; j < p->n; j++)
            c[j] += a[k] * b[k * ldb + j];
}

// Blocks large enough for the kernels, small enough to give all threads work.
static void choose_blocks(Product *p)
{
    int64_t want = (int64_t)ITEMS_A_THREAD * parallel_threads();
    p->rows = p->m < ROWS_MOST ? p->m : ROWS_MOST;
    p->cols = p->n < COLS_MOST ? p->n : COLS_MOST;
    for (;;) {
        p->row_blocks = (p->m + p->rows - 1) / p->rows;
        p->col_blocks = (p->n + p->cols - 1) / p->cols;
        if (p->batches * p->row_blocks * p->col_blocks >= want)
            return;
        if (p->cols > LEAST && p->cols >= p->rows)
            p->cols = (p->cols / 2 + LEAST - 1) / LEAST * LEAST;
        else if (p->rows > LEAST)
            p->rows = (p->rows + 1) / 2;
        else
            return;
    }
}

static void run_product(Product *p)
{
    if (p->batches == 0 || p->m == 0 || p->n == 0)
        return;
    if (p->k == 0) {
        tensor_assign_number(p->out, 0, 0);
        return;
    }
    if (p->lane == LANE_I64) {
        parallel_for(p->batches * p->m, 8, multiply_int_row, p);
        return;
    }
    choose_blocks(p);
    parallel_for(p->batches * p->row_blocks * p->col_blocks, 1, multiply_block,
                 p);
}

// ---- operands ---------------------------------------------------------------

static DType lane_dtype(DType t)
{
    if (!dtype_is_float(t))
        return DT_I64;
    return t == DT_F64 ? DT_F64 : DT_F32;
}

// Copies nothing twice: expanded batch dimensions shrink to one.
static Tensor shrunk(const Tensor *t)
{
    Tensor out = *t;
    for (int d = 0; d < t->rank - 2; d++)
        if (t->strides[d] == 0 && t->shape[d] > 1)
            out.shape[d] = 1;
    return out;
}

static bool rows_in_order(const Tensor *t)
{
    int last = t->rank - 1;
    return t->shape[last] <= 1
           || (t->strides[last] == 1
               && (t->shape[last - 1] <= 1
                   || t->strides[last - 1] >= t->shape[last]
                   || t->strides[last - 1] == 0));
}

static bool operand(Tensor *out, const Tensor *t, DType lane)
{
    Tensor source = tensor_source(t);
    Tensor small = shrunk(&source);
    if (t->dtype == lane && rows_in_order(&small)) {
        *out = tensor_retain(&small);
        return true;
    }
    return tensor_cast(out, &small, lane, true);
}

static Tensor expand_batch(const Tensor *t, int rank, const int64_t *batch)
{
    int64_t shape[TENSOR_MAX_RANK];
    memcpy(shape, batch, rank * sizeof *shape);
    shape[rank - 2] = t->shape[t->rank - 2];
    shape[rank - 1] = t->shape[t->rank - 1];
    return tensor_expand(t, rank, shape);
}

static bool multiply(Product *p, const Tensor *a, const Tensor *b, DType lane,
                     const int64_t *shape, int rank)
{
    Tensor x = {0}, y = {0};
    bool ok = operand(&x, a, lane) && operand(&y, b, lane);
    if (ok) {
        p->a = expand_batch(&x, rank, shape);
        p->b = expand_batch(&y, rank, shape);
        run_product(p);
    }
    tensor_release(&x);
    tensor_release(&y);
    return ok;
}

bool tensor_matmul(TensorHeap *h, Tensor *out, const Tensor *a,
                   const Tensor *b, DType result)
{
    int rank = a->rank > b->rank ? a->rank : b->rank;
    int64_t shape[TENSOR_MAX_RANK];
    DType lane = lane_dtype(a->dtype);
    Tensor wide;
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
    if (p.k > INT32_MAX || !tensor_new_raw(h, &wide, lane, rank, shape))
        return false;
    bool ok = multiply(&p, a, b, lane, shape, rank);
    if (ok && result == lane) {
        *out = wide;
        return true;
    }
    ok = ok && tensor_cast(out, &wide, result, true);
    tensor_release(&wide);
    return ok;
}
