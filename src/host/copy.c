// copy.c - moves elements between views: layouts, broadcasts, conversions.
//
// Dimensions are ordered by the destination's strides and merged where both
// sides allow. Then the work is cut in tiles of two dimensions: `inner`, the
// destination's fastest, and `across`, the source's fastest of the others.
// When those differ (a transposition) a tile is gathered to a small buffer, so
// that each cache line is read and written once.
//
//          inner ->                  source: fast across
//   across +--------+                destination: fast along inner
//      |   | tile   |
#include <string.h>

#include "host/ops.h"
#include "support/parallel.h"

enum {
    ROW = 1024, TILE = 4096,    // elements of a straight row, of a tile
    SIDE = 16, LENGTH = 256,    // a transposing tile: across, inner
    PITCH = LENGTH + 8,         // rows of the buffer in different cache sets
    BUFFER = SIDE * PITCH,
};

typedef struct {
    int rank;
    int64_t shape[TENSOR_MAX_RANK];
    int64_t to_stride[TENSOR_MAX_RANK], from_stride[TENSOR_MAX_RANK];
    DType to, from;
    char *dst;
    const char *src;
    CastRule rule;
    int inner, across;          // across -1: tiles are rows
    int64_t inner_part, across_part, inner_tiles, across_tiles, tiles;
} Copy;

// ---- preparation ------------------------------------------------------------

static void swap_dims(Copy *c, int a, int b)
{
    int64_t *lists[] = {c->shape, c->to_stride, c->from_stride};
    for (int i = 0; i < 3; i++) {
        int64_t keep = lists[i][a];
        lists[i][a] = lists[i][b];
        lists[i][b] = keep;
    }
}

static void remove_dim(Copy *c, int d)
{
    for (int e = d; e + 1 < c->rank; e++)
        swap_dims(c, e, e + 1);
    c->rank--;
}

static void order_dims(Copy *c)
{
    for (int d = c->rank - 1; d >= 0; d--)
        if (c->shape[d] == 1)
            remove_dim(c, d);
    for (int i = 1; i < c->rank; i++)
        for (int j = i; j > 0 && c->to_stride[j - 1] < c->to_stride[j]; j--)
            swap_dims(c, j - 1, j);
    for (int d = c->rank - 2; d >= 0; d--)
        if (c->to_stride[d] == c->to_stride[d + 1] * c->shape[d + 1]
            && c->from_stride[d] == c->from_stride[d + 1] * c->shape[d + 1]) {
            c->shape[d + 1] *= c->shape[d];
            remove_dim(c, d);
        }
    if (c->rank == 0) {
        c->rank = 1;
        c->shape[0] = c->to_stride[0] = c->from_stride[0] = 1;
    }
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool is_straight(const Copy *c)
{
    return c->from_stride[c->inner] == 1 && c->to_stride[c->inner] == 1;
}

static void choose_tiles(Copy *c)
{
    c->inner = c->rank - 1;
    c->across = c->rank - 2;
    for (int d = 0; d < c->inner && !is_straight(c); d++)
        if (c->from_stride[d] && (!c->from_stride[c->across]
            || c->from_stride[d] < c->from_stride[c->across]))
            c->across = d;
    c->inner_part = smaller(c->shape[c->inner], is_straight(c) ? ROW : LENGTH);
    c->across_part = is_straight(c) ? TILE / c->inner_part : SIDE;
    c->inner_tiles = (c->shape[c->inner] - 1) / c->inner_part + 1;
    c->across_tiles = 1;
    if (c->across >= 0) {
        c->across_part = smaller(c->shape[c->across], c->across_part);
        c->across_tiles = (c->shape[c->across] - 1) / c->across_part + 1;
    } else {
        c->across_part = 1;
    }
    c->tiles = c->inner_tiles * c->across_tiles;
    for (int d = 0; d < c->rank; d++)
        if (d != c->inner && d != c->across)
            c->tiles *= c->shape[d];
}

// ---- one tile ---------------------------------------------------------------

typedef struct {
    const char *src;
    char *dst;
    int64_t rows, cols;
    int64_t from_row, from_col, to_row, to_col;     // strides in elements
} Tile;

#define GATHER(T)                                                              \
    static void gather_##T(T *out, const Tile *t)                              \
    {                                                                          \
        const T *in = (const T *)t->src;                                       \
        for (int64_t c = 0; c < t->cols; c++)                                  \
            for (int64_t r = 0; r < t->rows; r++)                              \
                out[r * PITCH + c] = in[r * t->from_row + c * t->from_col];    \
    }
GATHER(uint8_t)
GATHER(uint16_t)
GATHER(uint32_t)
GATHER(uint64_t)

static void gather(void *out, const Tile *t, size_t bytes)
{
    if (bytes == 1)
        gather_uint8_t(out, t);
    else if (bytes == 2)
        gather_uint16_t(out, t);
    else if (bytes == 4)
        gather_uint32_t(out, t);
    else
        gather_uint64_t(out, t);
}

// Floats wrap to 8- and 16-bit integers, as torch goes through wider ones.
static bool wraps(const Copy *c)
{
    DTypeKind kind = dtype_info(c->to)->kind;

    return c->rule == CAST_TORCH && dtype_is_float(c->from) &&
           (kind == KIND_INT || kind == KIND_UINT) &&
           dtype_info(c->to)->bits < 32;
}

static void floats_to_narrow(const Copy *c, char *dst, const char *src,
                             int64_t n)
{
    int64_t whole[LENGTH];
    size_t bytes = dtype_bytes(c->from, 1), to = dtype_bytes(c->to, 1);
    for (int64_t at = 0; at < n; at += LENGTH) {
        int64_t m = n - at < LENGTH ? n - at : LENGTH;
        num_convert(DT_I64, whole, c->from, src + at * (int64_t)bytes, m);
        num_convert(c->to, dst + at * (int64_t)to, DT_I64, whole, m);
    }
}

static void convert(const Copy *c, void *dst, const void *src, int64_t n)
{
    if (wraps(c))
        floats_to_narrow(c, dst, src, n);
    else if (c->to == c->from)
        memcpy(dst, src, dtype_bytes(c->to, n));
    else if (c->rule == CAST_SAT)
        num_convert(c->to, dst, c->from, src, n);
    else
        num_convert_torch(c->to, dst, c->from, src, n);
}

static void scatter(char *dst, int64_t stride, const char *src, int64_t n,
                    size_t bytes)
{
    for (int64_t i = 0; i < n; i++)
        memcpy(dst + i * stride * (int64_t)bytes, src + i * bytes, bytes);
}

static void put_row(const Copy *c, const Tile *t, char *dst, const void *src)
{
    _Alignas(64) char row[ROW * 8];
    if (t->to_col == 1) {
        convert(c, dst, src, t->cols);
        return;
    }
    convert(c, row, src, t->cols);
    scatter(dst, t->to_col, row, t->cols, dtype_bytes(c->to, 1));
}

static void copy_tile(const Copy *c, const Tile *t)
{
    _Alignas(64) char buffer[BUFFER * 8];
    size_t from = dtype_bytes(c->from, 1), to = dtype_bytes(c->to, 1);
    bool straight = t->from_col == 1;
    if (!straight)
        gather(buffer, t, from);
    for (int64_t r = 0; r < t->rows; r++)
        put_row(c, t, t->dst + r * t->to_row * (int64_t)to,
                straight ? t->src + r * t->from_row * (int64_t)from
                         : buffer + r * PITCH * from);
}

static void copy_item(void *ctx, int worker, int64_t item)
{
    const Copy *c = ctx;
    int64_t rest = item, to = 0, from = 0;
    int64_t i = rest % c->inner_tiles * c->inner_part;
    rest /= c->inner_tiles;
    int64_t a = rest % c->across_tiles * c->across_part;
    rest /= c->across_tiles;
    for (int d = c->rank - 1; d >= 0; d--) {
        int64_t at = d == c->inner ? i : d == c->across ? a
                                       : rest % c->shape[d];
        if (d != c->inner && d != c->across)
            rest /= c->shape[d];
        to += at * c->to_stride[d];
        from += at * c->from_stride[d];
    }
    Tile t = {.cols = smaller(c->shape[c->inner] - i, c->inner_part),
              .rows = 1, .from_col = c->from_stride[c->inner],
              .to_col = c->to_stride[c->inner]};
    if (c->across >= 0) {
        t.rows = smaller(c->shape[c->across] - a, c->across_part);
        t.from_row = c->from_stride[c->across];
        t.to_row = c->to_stride[c->across];
    }
    t.src = c->src + from * (int64_t)dtype_bytes(c->from, 1);
    t.dst = c->dst + to * (int64_t)dtype_bytes(c->to, 1);
    (void)worker;
    copy_tile(c, &t);
}

static void set_up(Copy *c, DType to, void *dst, const int64_t *to_strides,
                   const Tensor *src, CastRule rule)
{
    *c = (Copy){.rank = src->rank, .to = to, .from = src->dtype, .dst = dst,
                .rule = rule};
    c->src = tensor_data(src);
    memcpy(c->shape, src->shape, sizeof c->shape);
    memcpy(c->to_stride, to_strides, sizeof c->to_stride);
    memcpy(c->from_stride, src->strides, sizeof c->from_stride);
    order_dims(c);
    choose_tiles(c);
}

// ---- entries ----------------------------------------------------------------

static void copy_into(Tensor *dst, const Tensor *src, CastRule rule)
{
    Copy c;
    Tensor from = tensor_source(src);
    if (tensor_count(src) == 0)
        return;
    set_up(&c, dst->dtype, tensor_data(dst), dst->strides, &from, rule);
    parallel_for(c.tiles, 8, copy_item, &c);
}

void tensor_read(const Tensor *src, DType to, void *dst, CastRule rule)
{
    Copy c;
    Tensor flat = *src, from = tensor_source(src);
    if (tensor_count(src) == 0)
        return;
    tensor_row_major(&flat);
    set_up(&c, to, dst, flat.strides, &from, rule);
    for (int64_t i = 0; i < c.tiles; i++)
        copy_item(&c, 0, i);
}

// A promise is as good as a copy where many elements come from few.
static bool worth_waiting(const Tensor *t)
{
    enum { MANY = 1 << 20, FEW = 16 };
    int64_t n = tensor_count(t), own = n;
    for (int d = 0; d < t->rank; d++)
        if (t->strides[d] == 0 && t->shape[d] > 1)
            own /= t->shape[d];
    return n >= MANY && own <= n / FEW;
}

bool tensor_contiguous(Tensor *out, const Tensor *t)
{
    if (tensor_is_contiguous(t)) {
        *out = tensor_retain(t);
        return true;
    }
    Tensor from = tensor_source(t);
    if (worth_waiting(&from)) {
        tensor_copy_later(out, t);
        return true;
    }
    return tensor_cast(out, t, t->dtype, true);
}

bool tensor_cast(Tensor *out, const Tensor *t, DType to, bool sat)
{
    if (!tensor_new_raw(tensor_heap(t), out, to, t->rank, t->shape))
        return false;
    copy_into(out, t, sat ? CAST_SAT : CAST_TORCH);
    return true;
}

static bool overlaps(const Tensor *dst, const Tensor *src)
{
    return dst->storage == src->storage && !tensor_is_pending(src);
}

void tensor_assign(Tensor *dst, const Tensor *src)
{
    tensor_will_write(dst);
    Tensor view = tensor_expand(src, dst->rank, dst->shape), apart;
    bool copied = overlaps(dst, src) && tensor_data(dst) != tensor_data(src)
                  && tensor_cast(&apart, &view, src->dtype, true);
    copy_into(dst, copied ? &apart : &view, CAST_TORCH);
    if (copied)
        tensor_release(&apart);
}

void tensor_assign_number(Tensor *dst, double f64, int64_t i64)
{
    char word[8];
    Copy c;
    if (tensor_count(dst) == 0)
        return;
    tensor_will_write(dst);
    if (dtype_is_float(dst->dtype))
        num_convert_torch(dst->dtype, word, DT_F64, &f64, 1);
    else if (dst->dtype == DT_BOOL)
        num_put_i64(DT_BOOL, word, !(f64 == 0));
    else
        num_put_i64(dst->dtype, word, i64);
    Tensor from = *dst;
    memset(from.strides, 0, sizeof from.strides);
    set_up(&c, dst->dtype, tensor_data(dst), dst->strides, &from, CAST_SAT);
    c.src = word;
    parallel_for(c.tiles, 8, copy_item, &c);
}

double tensor_get_f64(const Tensor *t, const int64_t *index)
{
    int64_t at = 0;
    for (int d = 0; d < t->rank; d++)
        at += index[d] * t->strides[d];
    return num_get_f64(t->dtype, (char *)tensor_data(t)
                                     + (int64_t)dtype_bytes(t->dtype, 1) * at);
}
