// pack4.c - tensors of 4-bit dtypes: two elements a byte for the program, one
// here. The last dimension is the one that is packed.
#include "host/tensor.h"

DType tensor_storage_dtype(DType t)
{
    if (t == DT_TF32)
        return DT_F32;
    if (dtype_info(t)->bits >= 8)
        return t;
    return dtype_info(t)->kind == KIND_INT ? DT_I8 : DT_U8;
}

bool tensor_is_packed(const Tensor *t, DType want)
{
    return dtype_info(want)->bits < 8 && t->dtype != want && t->rank
           && dtype_bytes(t->dtype, 1) == 1;
}

static int64_t row_count(const Tensor *t)
{
    int64_t n = 1;

    for (int d = 0; d + 1 < t->rank; d++)
        n *= t->shape[d];
    return n;
}

// Where row r of all rows begins.
static int64_t row_at(const Tensor *t, int64_t r)
{
    int64_t at = 0;

    for (int d = t->rank - 2; d >= 0; d--) {
        at += r % t->shape[d] * t->strides[d];
        r /= t->shape[d];
    }
    return at;
}

// Rows that lie apart stay apart: a kernel may take their strides.
static bool keeps_strides(const Tensor *t)
{
    if (tensor_is_contiguous(t) || t->strides[t->rank - 1] != 1)
        return false;
    for (int d = 0; d < t->rank; d++)
        if (t->strides[d] < 1 || t->shape[d] < 1)
            return false;
    return true;
}

static bool new_unpacked(Tensor *out, const Tensor *packed, DType t,
                         const int64_t *shape)
{
    int64_t span = 2;

    if (!keeps_strides(packed))
        return tensor_new_raw(tensor_heap(packed), out, t, packed->rank, shape);
    for (int d = 0; d < packed->rank; d++)
        span += 2 * (packed->shape[d] - 1) * packed->strides[d];
    if (!tensor_new(tensor_heap(packed), out, t, 1, &span))
        return false;
    out->rank = packed->rank;
    for (int d = 0; d < packed->rank; d++) {
        out->shape[d] = shape[d];
        out->strides[d] = d + 1 < packed->rank ? 2 * packed->strides[d] : 1;
    }
    return true;
}

bool tensor_unpack4(Tensor *out, const Tensor *packed, DType t, int64_t last)
{
    int64_t shape[TENSOR_MAX_RANK], bytes = packed->shape[packed->rank - 1];
    Tensor dense;

    if (last < 0)
        last = 2 * bytes;
    for (int d = 0; d < packed->rank; d++)
        shape[d] = packed->shape[d];
    shape[packed->rank - 1] = last;
    if ((last + 1) / 2 != bytes || !tensor_contiguous(&dense, packed))
        return false;
    if (!new_unpacked(out, packed, t, shape)) {
        tensor_release(&dense);
        return false;
    }
    const char *from = tensor_data(&dense);
    char *to = tensor_data(out);
    for (int64_t r = 0; r < row_count(packed); r++)
        num_unpack4(t, to + row_at(out, r), from + r * bytes, last);
    tensor_release(&dense);
    return true;
}

void tensor_pack4(Tensor *packed, const Tensor *t)
{
    int64_t bytes = packed->shape[packed->rank - 1];
    int64_t last = t->shape[t->rank - 1];
    Tensor dense;

    if (!tensor_contiguous(&dense, packed))
        return;
    char *to = tensor_data(&dense);
    const char *from = tensor_data(t);
    for (int64_t r = 0; r < row_count(t); r++)
        num_pack4(to + r * bytes, from + row_at(t, r), last);
    if (dense.storage != packed->storage)
        tensor_assign(packed, &dense);
    tensor_release(&dense);
}
