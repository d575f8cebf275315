// map.c - elementwise operations with broadcasting.
//
// Dimensions that every operand walks with one stride are merged; then rows of
// the last dimension are cut in chunks that fit the first cache: load to
// lanes, compute, round, store. Memory that holds lanes already is computed on
// where it is.
#include <string.h>

#include "host/ops.h"
#include "support/parallel.h"

enum { CHUNK = 1024, MAX_IN = 3, ITEM = 1 << 15, WORTH_COPY = 1 << 12 };

typedef struct {
    int rank;
    int64_t shape[TENSOR_MAX_RANK];
    int64_t strides[MAX_IN + 1][TENSOR_MAX_RANK];   // [0]: out
    int count;                  // operands
    const Operand *in;
    char *data[MAX_IN + 1];     // NULL: the operand is a number
    DType dtype[MAX_IN + 1];
    LaneType lane[MAX_IN + 1];  // what each is brought to
    DType compute;
    LaneOp op;
    const Lanes *lanes;
    int64_t inner, chunks, row_chunks;
} Walk;

// What one thread works with.
typedef struct {
    _Alignas(64) char lanes[MAX_IN + 1][CHUNK * 8];
    _Alignas(64) char wide[CHUNK * 8], packed[CHUNK * 8];
} Scratch;

// ---- shapes -----------------------------------------------------------------

bool broadcast_shapes(const Tensor *a, const Tensor *b, int *rank,
                      int64_t *shape)
{
    int64_t count = 1;
    *rank = a->rank > b->rank ? a->rank : b->rank;
    for (int i = 1; i <= *rank; i++) {
        int64_t x = i <= a->rank ? a->shape[a->rank - i] : 1;
        int64_t y = i <= b->rank ? b->shape[b->rank - i] : 1;
        if (x != y && x != 1 && y != 1)
            return false;
        shape[*rank - i] = x == 1 ? y : x;
        if (__builtin_mul_overflow(count, shape[*rank - i], &count))
            return false;
    }
    return true;
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
    if (m->rank == 0) {
        m->rank = 1;
        m->shape[0] = 1;
        for (int i = 0; i <= m->count; i++)
            m->strides[i][0] = 1;
    }
}

static void set_view(Walk *m, int i, const Tensor *t)
{
    for (int d = 0; d < m->rank; d++)
        m->strides[i][d] = t->strides[d];
    m->data[i] = tensor_data(t);
    m->dtype[i] = t->dtype;
}

// ---- lanes ------------------------------------------------------------------

static bool is_lane_memory(DType t, LaneType lane)
{
    return dtype_bytes(t, 1) == lane_bytes(lane) && lane_type_of(t) == lane;
}

static void gather(char *out, const char *at, int64_t stride, size_t bytes,
                   int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        memcpy(out + i * bytes, at + i * stride * (int64_t)bytes, bytes);
}

static void spread(char *out, size_t lane, int64_t have, int64_t n)
{
    for (int64_t done = have; done < n;) {
        int64_t part = done < n - done ? done : n - done;
        memcpy(out + done * lane, out, part * lane);
        done += part;
    }
}

// n elements of operand i as lanes: in s->lanes[i], or where they are.
static const void *load_lanes(const Walk *m, Scratch *s, int i, const char *at,
                              int64_t n)
{
    DType t = m->dtype[i];
    LaneType own = lane_type_of(t), lane = m->lane[i];
    int64_t stride = m->strides[i][m->rank - 1], k = stride == 0 ? 1 : n;
    void *out = s->lanes[i];
    if (stride == 1 && is_lane_memory(t, lane))
        return at;
    if (stride != 1 && k > 1) {
        gather(s->packed, at, stride, dtype_bytes(t, 1), k);
        at = s->packed;
    }
    if (lane == LANE_F64) {
        m->lanes->load_f64[t](out, at, NULL, NULL, k);
    } else {
        void *to = own == lane ? out : s->wide;
        m->lanes->load[t](to, at, NULL, NULL, k);
        if (own != lane)
            m->lanes->convert[own][lane](out, to, NULL, NULL, k);
    }
    spread(out, lane_bytes(lane), k, n);
    return out;
}

static void number_lanes(const Walk *m, int i, char *out, int64_t n)
{
    const Operand *o = &m->in[i - 1];
    LaneType lane = m->lane[i];
    float f = (float)o->f64;
    if (lane == LANE_F32)
        memcpy(out, &f, sizeof f);
    else if (lane == LANE_F64)
        memcpy(out, &o->f64, sizeof o->f64);
    else
        memcpy(out, &o->i64, lane_bytes(lane));     // little-endian
    spread(out, lane_bytes(lane), 1, n);
}

static void store_lanes(const Walk *m, Scratch *s, LaneType from,
                        const void *lanes, char *at, int64_t n)
{
    DType t = m->dtype[0];
    LaneType own = lane_type_of(t);
    size_t bytes = dtype_bytes(t, 1);
    int64_t stride = m->strides[0][m->rank - 1];
    char *to = stride == 1 ? at : s->packed;
    if (from == LANE_F64) {
        m->lanes->store_f64[t](to, lanes, NULL, NULL, n);
    } else {
        if (from != own) {
            m->lanes->convert[from][own](s->wide, lanes, NULL, NULL, n);
            lanes = s->wide;
        }
        m->lanes->store[t](to, lanes, NULL, NULL, n);
    }
    for (int64_t i = 0; to == s->packed && i < n; i++)
        memcpy(at + i * stride * (int64_t)bytes, to + i * bytes, bytes);
}

static void run_chunk(const Walk *m, Scratch *s, char *const *at, int64_t n)
{
    const void *arg[MAX_IN] = {NULL, NULL, NULL};
    bool truth = lane_op_info(m->op)->truth;
    LaneType lane = lane_type_of(m->compute), from = truth ? LANE_I32 : lane;
    bool rounds = !truth && m->lanes->round[m->compute];
    for (int i = 1; i <= m->count; i++)
        arg[i - 1] = at[i] ? load_lanes(m, s, i, at[i], n) : s->lanes[i];
    bool direct = m->strides[0][m->rank - 1] == 1
                  && is_lane_memory(m->dtype[0], from);
    void *out = direct ? (void *)at[0] : s->lanes[0];
    m->lanes->op[m->op][lane](out, arg[0], arg[1], arg[2], n);
    if (rounds)
        m->lanes->round[m->compute](out, out, NULL, NULL, n);
    if (!direct)
        store_lanes(m, s, from, out, at[0], n);
}

static void place(const Walk *m, int64_t chunk, char **at, int64_t *n)
{
    int64_t row = chunk / m->row_chunks, col = chunk % m->row_chunks * CHUNK;
    *n = m->inner - col < CHUNK ? m->inner - col : CHUNK;
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
}

static int64_t item_chunks(const Walk *m)
{
    int64_t n = m->inner < CHUNK ? m->inner : CHUNK;
    return ITEM / n;
}

static void run_item(void *ctx, int worker, int64_t item)
{
    const Walk *m = ctx;
    Scratch s;
    int64_t per = item_chunks(m), from = item * per, to = from + per;
    (void)worker;
    to = to < m->chunks ? to : m->chunks;
    for (int i = 1; i <= m->count; i++)
        if (!m->data[i])
            number_lanes(m, i, s.lanes[i], m->inner < CHUNK ? m->inner : CHUNK);
    for (int64_t c = from; c < to; c++) {
        char *at[MAX_IN + 1];
        int64_t n;
        place(m, c, at, &n);
        run_chunk(m, &s, at, n);
    }
}

static void run_map(Walk *m)
{
    int64_t n = 1;
    for (int d = 0; d < m->rank; d++)
        n *= m->shape[d];
    if (n == 0)
        return;
    merge_dims(m);
    m->inner = m->shape[m->rank - 1];
    m->row_chunks = (m->inner + CHUNK - 1) / CHUNK;
    m->chunks = n / m->inner * m->row_chunks;
    int64_t per = item_chunks(m);
    parallel_for((m->chunks + per - 1) / per, 1, run_item, m);
}

// ---- entries ----------------------------------------------------------------

static bool can_reuse(const Tensor *reuse, DType result, int rank,
                      const int64_t *shape)
{
    if (!reuse || reuse->dtype != result || reuse->rank != rank
        || !tensor_is_contiguous(reuse) || tensor_is_shared(reuse)
        || tensor_is_pending(reuse))
        return false;
    for (int d = 0; d < rank; d++)
        if (reuse->shape[d] != shape[d])
            return false;
    return true;
}

// Walking across memory costs more than a copy in order.
static bool walks_across(const Tensor *t)
{
    int last = t->rank - 1;
    return tensor_count(t) >= WORTH_COPY && t->shape[last] > 1
           && t->strides[last] != 0 && t->strides[last] != 1;
}

static bool add_operand(Walk *m, int i, const Operand *o, Tensor *hold)
{
    Tensor view;
    m->lane[i] = m->op == LANE_OP_SELECT && i == 1 ? LANE_I32
                                                   : lane_type_of(m->compute);
    if (!o->t)
        return true;
    view = tensor_source(o->t);
    if (walks_across(&view)) {
        if (!tensor_contiguous(hold, &view))
            return false;
        view = *hold;
    }
    view = tensor_expand(&view, m->rank, m->shape);
    set_view(m, i, &view);
    return true;
}

bool tensor_map(TensorHeap *h, Tensor *out, LaneOp op, DType compute,
                DType result, int rank, const int64_t *shape,
                const Operand *in, int count, Tensor *reuse)
{
    Walk m = {.rank = rank, .count = count, .in = in, .compute = compute,
              .op = op, .lanes = lanes_best()};
    Tensor hold[MAX_IN] = {{0}};
    bool ok = true;
    if (can_reuse(reuse, result, rank, shape))
        *out = tensor_retain(reuse);
    else if (!tensor_new_raw(h, out, result, rank, shape))
        return false;
    memcpy(m.shape, shape, rank * sizeof *shape);
    for (int i = 0; i < count && ok; i++)
        ok = add_operand(&m, i + 1, &in[i], &hold[i]);
    set_view(&m, 0, out);
    if (ok)
        run_map(&m);
    else
        tensor_release(out);
    for (int i = 0; i < count; i++)
        tensor_release(&hold[i]);
    return ok;
}
