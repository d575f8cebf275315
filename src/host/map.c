// map.c - elementwise operations with broadcasting.
//
// Dimensions that every operand walks with one stride are merged; then rows of
// the last dimension are cut in chunks that fit the first cache: load to
// lanes, compute, round, store.
#include <stdlib.h>
#include <string.h>

#include "host/ops.h"
#include "support/parallel.h"

enum { CHUNK = 1024, MAX_IN = 3, ITEM = 1 << 16 };

typedef struct {
    int rank;
    int64_t shape[TENSOR_MAX_RANK];
    int64_t strides[MAX_IN + 1][TENSOR_MAX_RANK];   // [0]: out
    int count;                  // operands
    const Operand *in;
    char *data[MAX_IN + 1];
    DType dtype[MAX_IN + 1];
    DType compute;
    LaneType lane;
    LaneOp op;
    bool move_only;             // store operand 0
    const Lanes *lanes;
    int64_t inner, rows, chunks;    // of the last dimension
} Walk;

// ---- shapes ----------------------------------------------------------------------

bool broadcast_shapes(const Tensor *a, const Tensor *b, int *rank,
                      int64_t *shape)
{
    *rank = a->rank > b->rank ? a->rank : b->rank;
    for (int i = 1; i <= *rank; i++) {
        int64_t x = i <= a->rank ? a->shape[a->rank - i] : 1;
        int64_t y = i <= b->rank ? b->shape[b->rank - i] : 1;
        if (x != y && x != 1 && y != 1)
            return false;
        shape[*rank - i] = x == 1 ? y : x;
    }
    return true;
}

Tensor tensor_expand(const Tensor *t, int rank, const int64_t *shape)
{
    Tensor out = *t;
    out.rank = rank;
    for (int d = 0; d < rank; d++) {
        int own = d - (rank - t->rank);
        out.shape[d] = shape[d];
        out.strides[d] = own < 0 || t->shape[own] == 1 ? 0 : t->strides[own];
    }
    return out;
}

static bool mergeable(const Walk *m, int d)
{
    for (int i = 0; i <= m->count; i++)
        if (m->strides[i][d] != m->strides[i][d + 1] * m->shape[d + 1])
            return false;
    return true;
}

static void drop_dim(Walk *m, int d)
{
    for (int e = d; e + 1 < m->rank; e++) {
        m->shape[e] = m->shape[e + 1];
        for (int i = 0; i <= m->count; i++)
            m->strides[i][e] = m->strides[i][e + 1];
    }
    m->rank--;
}

static void merge_dims(Walk *m)
{
    for (int d = m->rank - 1; d >= 0; d--)
        if (m->shape[d] == 1 && m->rank > 1)
            drop_dim(m, d);
    for (int d = m->rank - 2; d >= 0; d--)
        if (mergeable(m, d)) {
            m->shape[d + 1] *= m->shape[d];
            drop_dim(m, d);
        }
}

static void set_view(Walk *m, int i, const Tensor *t)
{
    for (int d = 0; d < m->rank; d++)
        m->strides[i][d] = t->strides[d];
    m->data[i] = tensor_data(t);
    m->dtype[i] = t->dtype;
}

// ---- lanes -----------------------------------------------------------------------

static void gather(char *out, const char *at, int64_t stride, size_t bytes,
                   int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        memcpy(out + i * bytes, at + i * stride * (int64_t)bytes, bytes);
}

// n elements of operand i to lanes of the computation's type.
static void load_lanes(const Walk *m, int i, const char *at, int64_t stride,
                       void *out, int64_t n)
{
    DType t = m->dtype[i];
    LaneType own = lane_type_of(t);
    size_t bytes = dtype_bytes(t, 1);
    _Alignas(64) char packed[CHUNK * 8], wide[CHUNK * 8];
    int64_t k = stride == 0 ? 1 : n;
    if (stride != 1 && k > 1) {
        gather(packed, at, stride, bytes, k);
        at = packed;
    }
    void *to = own == m->lane ? out : wide;
    if (m->lane == LANE_F64 && own != LANE_F64 && m->lanes->load_f64[t]) {
        m->lanes->load_f64[t](out, at, NULL, NULL, k);
    } else {
        m->lanes->load[t](to, at, NULL, NULL, k);
        if (own != m->lane)
            m->lanes->convert[own][m->lane](out, wide, NULL, NULL, k);
    }
    size_t lane = lane_bytes(m->lane);
    for (int64_t done = k; done < n;) {     // spread a broadcast value
        int64_t part = done < n - done ? done : n - done;
        memcpy((char *)out + done * lane, out, part * lane);
        done += part;
    }
}

static void number_lanes(const Walk *m, const Operand *o, void *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        switch (m->lane) {
        case LANE_F32:
            ((float *)out)[i] = (float)o->f64;
            break;
        case LANE_F64:
            ((double *)out)[i] = o->f64;
            break;
        case LANE_I32:
        case LANE_U32:
            ((int32_t *)out)[i] = (int32_t)o->i64;
            break;
        default:
            ((int64_t *)out)[i] = o->i64;
            break;
        }
    }
}

static void store_lanes(const Walk *m, LaneType from, const void *lanes,
                        char *at, int64_t stride, int64_t n)
{
    DType t = m->dtype[0];
    LaneType own = lane_type_of(t);
    size_t bytes = dtype_bytes(t, 1);
    _Alignas(64) char wide[CHUNK * 8], packed[CHUNK * 8];
    char *to = stride == 1 ? at : packed;
    if (from == LANE_F64 && own != LANE_F64 && m->lanes->store_f64[t]) {
        m->lanes->store_f64[t](to, lanes, NULL, NULL, n);
    } else {
        if (from != own) {
            m->lanes->convert[from][own](wide, lanes, NULL, NULL, n);
            lanes = wide;
        }
        m->lanes->store[t](to, lanes, NULL, NULL, n);
    }
    for (int64_t i = 0; to == packed && i < n; i++)
        memcpy(at + i * stride * (int64_t)bytes, packed + i * bytes, bytes);
}

static bool gives_condition(LaneOp op)
{
    return (op >= LANE_OP_EQ && op <= LANE_OP_LE) || op == LANE_OP_ISNAN
           || op == LANE_OP_ISINF || op == LANE_OP_ISFINITE;
}

static void run_chunk(const Walk *m, char *const *at, int64_t n)
{
    _Alignas(64) char lanes[MAX_IN + 1][CHUNK * 8];
    int last = m->rank - 1;
    void *arg[MAX_IN] = {NULL, NULL, NULL};
    LaneType from = m->lane;
    for (int i = 0; i < m->count; i++) {
        Walk view = *m;
        arg[i] = lanes[i];
        if (m->op == LANE_OP_SELECT && i == 0)
            view.lane = LANE_I32;       // the condition
        if (m->in[i].t)
            load_lanes(&view, i + 1, at[i + 1], m->strides[i + 1][last],
                       arg[i], n);
        else
            number_lanes(&view, &m->in[i], arg[i], n);
    }
    void *out = arg[0];
    if (!m->move_only) {
        out = lanes[MAX_IN];
        m->lanes->op[m->op][m->lane](out, arg[0], arg[1], arg[2], n);
        if (gives_condition(m->op))
            from = LANE_I32;
        else if (m->lanes->round[m->compute])
            m->lanes->round[m->compute](out, out, NULL, NULL, n);
    }
    store_lanes(m, from, out, at[0], m->strides[0][last], n);
}

static void run_item(void *ctx, int worker, int64_t item)
{
    const Walk *m = ctx;
    int64_t per = ITEM / CHUNK;             // chunks an item has
    int64_t from = item * per, to = from + per;
    int64_t each = (m->inner + CHUNK - 1) / CHUNK;
    (void)worker;
    to = to < m->chunks ? to : m->chunks;
    for (int64_t c = from; c < to; c++) {
        char *at[MAX_IN + 1];
        int64_t row = c / each, col = c % each * CHUNK;
        int64_t n = m->inner - col < CHUNK ? m->inner - col : CHUNK;
        for (int i = 0; i <= m->count; i++) {
            int64_t offset = col * m->strides[i][m->rank - 1], r = row;
            for (int d = m->rank - 2; d >= 0; d--) {
                offset += r % m->shape[d] * m->strides[i][d];
                r /= m->shape[d];
            }
            at[i] = m->data[i]
                        ? m->data[i] + offset * (int64_t)dtype_bytes(m->dtype[i], 1)
                        : NULL;
        }
        run_chunk(m, at, n);
    }
}

static void run_map(Walk *m)
{
    int64_t n = 1;
    for (int d = 0; d < m->rank; d++)
        n *= m->shape[d];
    if (n == 0)
        return;
    if (m->rank == 0) {
        m->rank = 1;
        m->shape[0] = 1;
        for (int i = 0; i <= m->count; i++)
            m->strides[i][0] = 1;
    }
    merge_dims(m);
    m->inner = m->shape[m->rank - 1];
    m->rows = n / m->inner;
    m->chunks = m->rows * ((m->inner + CHUNK - 1) / CHUNK);
    int64_t per = ITEM / CHUNK;
    parallel_for((m->chunks + per - 1) / per, 1, run_item, m);
}

// ---- entries ------------------------------------------------------------------------

static bool can_reuse(const Tensor *reuse, DType result, int rank,
                      const int64_t *shape)
{
    if (!reuse || reuse->dtype != result || reuse->rank != rank
        || !tensor_is_contiguous(reuse) || tensor_is_shared(reuse))
        return false;
    for (int d = 0; d < rank; d++)
        if (reuse->shape[d] != shape[d])
            return false;
    return true;
}

bool tensor_map(TensorHeap *h, Tensor *out, LaneOp op, DType compute,
                DType result, int rank, const int64_t *shape,
                const Operand *in, int count, Tensor *reuse)
{
    Walk m = {.rank = rank, .count = count, .in = in, .compute = compute,
             .op = op, .lanes = lanes_best(), .lane = lane_type_of(compute)};
    if (can_reuse(reuse, result, rank, shape))
        *out = tensor_retain(reuse);
    else if (!tensor_new(h, out, result, rank, shape))
        return false;
    memcpy(m.shape, shape, rank * sizeof *shape);
    set_view(&m, 0, out);
    for (int i = 0; i < count; i++) {
        Tensor view;
        if (!in[i].t)
            continue;
        view = tensor_expand(in[i].t, rank, shape);
        set_view(&m, i + 1, &view);
    }
    run_map(&m);
    return true;
}

// Integers of 64 bits pass through integer lanes, all else through f64.
static DType carrier(DType dst, DType src)
{
    bool floats = dtype_is_float(dst) || dtype_is_float(src);
    return floats ? DT_F64 : dtype_info(src)->kind == KIND_UINT ? DT_U64 : DT_I64;
}

void tensor_assign(Tensor *dst, const Tensor *src)
{
    Operand in = {.t = src};
    Walk m = {.rank = dst->rank, .count = 1, .in = &in, .move_only = true,
             .lanes = lanes_best()};
    Tensor view = tensor_expand(src, dst->rank, dst->shape);
    m.compute = dst->dtype == src->dtype ? src->dtype
                                         : carrier(dst->dtype, src->dtype);
    m.lane = lane_type_of(m.compute);
    memcpy(m.shape, dst->shape, sizeof m.shape);
    set_view(&m, 0, dst);
    set_view(&m, 1, &view);
    run_map(&m);
}

void tensor_assign_number(Tensor *dst, double f64, int64_t i64)
{
    Operand in = {.f64 = f64, .i64 = i64};
    Walk m = {.rank = dst->rank, .count = 1, .in = &in, .move_only = true,
             .lanes = lanes_best()};
    m.compute = dtype_is_float(dst->dtype) ? DT_F64 : DT_I64;
    m.lane = lane_type_of(m.compute);
    memcpy(m.shape, dst->shape, sizeof m.shape);
    set_view(&m, 0, dst);
    run_map(&m);
}
