// kernels.cpp - kernels that the executor's tests run; NumPy has their results.
#include "device.h"

// ---- arithmetic -------------------------------------------------------------

KERNEL(256) vector_add(const float *a, const float *b, float *c, int n)
{
    int i = block() * 256 + thread();
    if (i < n)
        c[i] = a[i] + b[i];
}

// Branches that lanes take differently, loops of different lengths.
KERNEL(64) collatz(const int *start, int *steps, int n)
{
    int i = block() * 64 + thread();
    if (i >= n)
        return;
    unsigned x = start[i];
    int count = 0;
    while (x != 1) {
        if (x & 1)
            x = 3 * x + 1;
        else
            x >>= 1;
        count++;
    }
    steps[i] = count;
}

KERNEL(64) divide(const float *a, const float *b, float *quotient,
                  const int *x, const int *y, int *whole, int *rest)
{
    int i = block() * 64 + thread();
    quotient[i] = a[i] / b[i];
    whole[i] = x[i] / y[i];
    rest[i] = x[i] % y[i];
}

KERNEL(64) wide(const double *a, const double *b, double *out,
                const long *x, const long *y, long *product)
{
    int i = block() * 64 + thread();
    out[i] = a[i] * b[i] + 1.0 / b[i];
    product[i] = x[i] * y[i] + (x[i] >> 7) - (y[i] << 3);
}

KERNEL(64) halves(const half *a, const half *b, half *out)
{
    int i = block() * 64 + thread();
    half8 x = ((const half8 *)a)[i], y = ((const half8 *)b)[i];
    ((half8 *)out)[i] = x * y + x;
}

KERNEL(64) bytes(const signed char *a, const unsigned char *b, short *sum,
                 unsigned char *low)
{
    int i = block() * 64 + thread();
    sum[i] = a[i] + b[i];
    low[i] = a[i] * b[i];
}

// ---- across lanes -----------------------------------------------------------

template <int control> DEVICE float moved(float x)
{
    return __builtin_bit_cast(float, __builtin_amdgcn_update_dpp(
        0, __builtin_bit_cast(int, x), control, 15, 15, true));
}

DEVICE float swizzled(float x, int mask)
{
    return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(
        4 * (lane() ^ mask), __builtin_bit_cast(int, x)));
}

// A sum of each row of 64: DPP inside rows of 16, ds_bpermute across.
KERNEL(64) row_sum(const float *x, float *out)
{
    float s = x[block() * 64 + thread()];
    s += moved<0xb1>(s);        // quad_perm:[1,0,3,2]
    s += moved<0x4e>(s);        // quad_perm:[2,3,0,1]
    s += moved<0x141>(s);       // row_half_mirror
    s += moved<0x140>(s);       // row_mirror
    s += swizzled(s, 16);
    s += swizzled(s, 32);
    if (thread() == 0)
        out[block()] = s;
}

// Softmax over rows of 256: exp2, LDS between the waves.
KERNEL(256) softmax(const float *x, float *out)
{
    SHARED float top[4], total[4];
    int at = block() * 256 + thread(), wave = thread() / 64;
    float v = x[at], m = v;
    for (int d = 1; d < 64; d *= 2)
        m = __builtin_fmaxf(m, swizzled(m, d));
    if (lane() == 0)
        top[wave] = m;
    sync();
    for (int w = 0; w < 4; w++)
        m = __builtin_fmaxf(m, top[w]);
    float e = __builtin_amdgcn_exp2f((v - m) * 1.44269504f), s = e;
    for (int d = 1; d < 64; d *= 2)
        s += swizzled(s, d);
    if (lane() == 0)
        total[wave] = s;
    sync();
    s = total[0] + total[1] + total[2] + total[3];
    out[at] = e / s;
}

// ---- shared memory ----------------------------------------------------------

// 32 x 32 tiles; `pad` words after each row.
template <int pad>
DEVICE void transpose_tile(const float *x, float *out, int n,
                           float *tile)
{
    int row = thread() / 32, column = thread() % 32;
    for (int i = 0; i < 32; i += 8)
        tile[(row + i) * (32 + pad) + column] =
            x[(block_y() * 32 + row + i) * n + block() * 32 + column];
    sync();
    for (int i = 0; i < 32; i += 8)
        out[(block() * 32 + row + i) * n + block_y() * 32 + column] =
            tile[column * (32 + pad) + row + i];
}

KERNEL(256) transpose(const float *x, float *out, int n)
{
    SHARED float tile[32 * 32];
    transpose_tile<0>(x, out, n, tile);
}

KERNEL(256) transpose_padded(const float *x, float *out, int n)
{
    SHARED float tile[32 * 33];
    transpose_tile<1>(x, out, n, tile);
}

// Tree over 256 values in shared memory.
KERNEL(256) block_max(const float *x, float *out)
{
    SHARED float part[256];
    part[thread()] = x[block() * 256 + thread()];
    sync();
    for (int half_size = 128; half_size; half_size /= 2) {
        if (thread() < half_size)
            part[thread()] = __builtin_fmaxf(part[thread()],
                                             part[thread() + half_size]);
        sync();
    }
    if (thread() == 0)
        out[block()] = part[0];
}

KERNEL(256) histogram(const unsigned char *x, unsigned *bins, int n)
{
    SHARED unsigned part[256];
    part[thread()] = 0;
    sync();
    for (int i = block() * 256 + thread(); i < n; i += 1024)
        __hip_atomic_fetch_add(&part[x[i]], 1, __ATOMIC_RELAXED,
                               __HIP_MEMORY_SCOPE_WORKGROUP);
    sync();
    __hip_atomic_fetch_add(&bins[thread()], part[thread()], __ATOMIC_RELAXED,
                           __HIP_MEMORY_SCOPE_AGENT);
}

// ---- matrix -----------------------------------------------------------------

// C = A B, A 16m x k, B k x 16n given as n x k; a wave a tile.
KERNEL(64) gemm_16x16x16_f16(const half *a, const half *b, float *c, int n,
                             int k)
{
    int i = lane() % 16, quarter = lane() / 16;
    float4 sum = {0, 0, 0, 0};
    for (int at = 0; at < k; at += 16) {
        half4 x = *(const half4 *)(a + (block_y() * 16 + i) * k + at
                                   + quarter * 4);
        half4 y = *(const half4 *)(b + (block() * 16 + i) * k + at
                                   + quarter * 4);
        sum = __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, sum, 0, 0, 0);
    }
    for (int r = 0; r < 4; r++)
        c[(block_y() * 16 + quarter * 4 + r) * n + block() * 16 + i] = sum[r];
}

// 64 x 64 tiles by four waves, A and B staged in shared memory.
KERNEL(256) gemm_32x32x8_f16(const half *a, const half *b, float *c, int n,
                             int k)
{
    SHARED half as[64 * 32], bs[64 * 32];
    int wave = thread() / 64, i = lane() % 32, half_wave = lane() / 32;
    int row = thread() / 4, column = thread() % 4 * 8;
    float16 sum = {};
    for (int at = 0; at < k; at += 32) {
        *(half8 *)(as + row * 32 + column) =
            *(const half8 *)(a + (block_y() * 64 + row) * k + at + column);
        *(half8 *)(bs + row * 32 + column) =
            *(const half8 *)(b + (block() * 64 + row) * k + at + column);
        sync();
        for (int q = 0; q < 32; q += 8) {
            half4 x = *(half4 *)(as + (wave / 2 * 32 + i) * 32 + q
                                        + half_wave * 4);
            half4 y = *(half4 *)(bs + (wave % 2 * 32 + i) * 32 + q
                                        + half_wave * 4);
            sum = __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, sum, 0, 0, 0);
        }
        sync();
    }
    for (int r = 0; r < 16; r++)
        c[(block_y() * 64 + wave / 2 * 32 + r / 4 * 8 + half_wave * 4 + r % 4)
          * n + block() * 64 + wave % 2 * 32 + i] = sum[r];
}

KERNEL(64) gemm_16x16x32_fp8(const unsigned char *a, const unsigned char *b,
                             float *c, int n, int k)
{
    int i = lane() % 16, quarter = lane() / 16;
    float4 sum = {0, 0, 0, 0};
    for (int at = 0; at < k; at += 32) {
        long x = *(const long *)(a + (block_y() * 16 + i) * k + at
                                 + quarter * 8);
        long y = *(const long *)(b + (block() * 16 + i) * k + at
                                 + quarter * 8);
        sum = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(x, y, sum, 0, 0, 0);
    }
    for (int r = 0; r < 4; r++)
        c[(block_y() * 16 + quarter * 4 + r) * n + block() * 16 + i] = sum[r];
}
