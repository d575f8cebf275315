// emulated_instructions.h - goes where a kernel's text has "instructions".
#include "emulated_proxies.h"

static inline float bits_f32(u32 x) { float r; memcpy(&r, &x, 4); return r; }
static inline u32 f32_bits(float x) { u32 r; memcpy(&r, &x, 4); return r; }
static inline double bits_f64(u64 x) { double r; memcpy(&r, &x, 8); return r; }
static inline u64 f64_bits(double x) { u64 r; memcpy(&r, &x, 8); return r; }

static inline float half_value(u16 h) { return (float)__builtin_bit_cast(_Float16, h); }
static inline u16 half_bits(float x)
{
    return __builtin_bit_cast(u16, (_Float16)x);
}
#ifdef HAS_F16
static inline f16 to_f16(float x) { return f16{half_bits(x)}; }
static inline float f32(f16 x) { return half_value(x.bits); }
#endif

static inline u32 join(u16 low, u16 high) { return low | (u32)high << 16; }
static inline float fast_exp2(float x) { return x < -126 ? 0 : exp2f(x); }
template <int n> static inline void keep(float (&)[n]) {}
static inline void stay_behind() {}
static inline int anew(int x) { return x; }

// ---- warps

template <typename T> struct Lanes {
    const unsigned char (*at)[64];
    T operator[](int lane) const
    {
        T x;
        memcpy(&x, at[lane], sizeof x);
        return x;
    }
};
template <typename T> static inline Lanes<T> all_of(const T &mine)
{
    return {emulator.collect(&mine, sizeof mine)};
}
template <typename T> static inline T exchange_xor(T x, int mask, int width)
{
    int me = emulator.lane(), to = me ^ mask;
    Lanes<T> all = all_of(x);
    return to / width > me / width ? x : all[to & 31];
}
template <typename T> static inline T exchange_up(T x, int by, int width)
{
    int me = emulator.lane();
    Lanes<T> all = all_of(x);
    return me % width < by ? x : all[me - by];
}
template <typename T> static inline T exchange_down(T x, int by, int width)
{
    int me = emulator.lane();
    Lanes<T> all = all_of(x);
    return me % width + by >= width ? x : all[me + by];
}
template <typename T> static inline T exchange(T x, int lane, int width)
{
    int me = emulator.lane();
    Lanes<T> all = all_of(x);
    return all[me / width * width + (lane & (width - 1))];
}
static inline u32 ballot(bool x)
{
    Lanes<bool> all = all_of(x);
    u32 r = 0;
    for (int i = 0; i < 32; i++)
        r |= (u32)all[i] << i;
    return r;
}
static inline bool any_lane(bool x) { return ballot(x) != 0; }
static inline bool all_lanes(bool x) { return ballot(x) == ~0u; }
static inline void sync_warp() { ballot(true); }
static inline void sync_grid() { emulator.sync_grid(); }
static inline int block_count(bool x) { return emulator.sync_count(x); }
static inline bool block_or(bool x) { return emulator.sync_count(x) > 0; }
static inline bool block_and(bool x) { return emulator.sync_count(!x) == 0; }
static inline void named_barrier(int id, int n) { emulator.sync_some(id, n); }
static inline void named_arrive(int id, int n) { emulator.arrive_some(id, n); }

// ---- matrices

// Thread t gets element 2 (t % 4) and the next of row t / 4 of each 8 x 8 tile,
// whose rows' addresses 8 lanes give.
template <int tiles, bool trans>
static inline void load_tiles(u32 *r, const void *p)
{
    note_read(p);
    Lanes<const u16 *> row = all_of((const u16 *)p);
    int t = emulator.lane();
    for (int i = 0; i < tiles; i++) {
        u16 low, high;
        if (trans) {
            low = row[8 * i + t % 4 * 2][t / 4];
            high = row[8 * i + t % 4 * 2 + 1][t / 4];
        } else {
            low = row[8 * i + t / 4][t % 4 * 2];
            high = row[8 * i + t / 4][t % 4 * 2 + 1];
        }
        r[i] = low | (u32)high << 16;
    }
}
static inline void aligned_to_16(const void *p)
{
    if ((uintptr_t)p % 16)
        __builtin_trap();
}
static inline void ldmatrix_x4(u32 *r, const void *p)
{
    aligned_to_16(p);
    load_tiles<4, false>(r, p);
}
static inline void ldmatrix_x4_trans(u32 *r, const void *p)
{
    aligned_to_16(p);
    load_tiles<4, true>(r, p);
}
static inline void ldmatrix_x2(u32 *r, const void *p)
{
    load_tiles<2, false>(r, p);
}
static inline void ldmatrix_x2_trans(u32 *r, const void *p)
{
    load_tiles<2, true>(r, p);
}

struct Operands {
    u32 a[4], b[2];
};

// ---- the sums of the tensor cores, as docs/numerics.md has them: FUSED

// Of a value; a subnormal of its format has the format's least.
static inline int exponent_of(float x, int least)
{
    int e = ilogbf(x);
    return e < least ? least : e;
}

// Toward zero, to a multiple of 2^grid.
static inline double cut_off(double x, int grid)
{
    return ldexp(trunc(ldexp(x, -grid)), grid);
}

// n products and c, cut off `fraction` bits below the largest exponent; their
// sum cut to `keep` bits. `least` is the operands' least exponent.
static inline float fused(const float *a, const float *b, int n, int least,
                          float c, int fraction, int keep)
{
    int e = c != 0 ? exponent_of(c, -126) : -133;
    double sum = 0;
    float plain = c;
    for (int k = 0; k < n; k++) {
        plain += a[k] * b[k];
        if (a[k] == 0 || b[k] == 0 || !isfinite(a[k]) || !isfinite(b[k]))
            continue;
        int p = exponent_of(a[k], least) + exponent_of(b[k], least);
        e = p > e ? p : e;
    }
    for (int k = 0; k < n; k++) {
        if (!isfinite(a[k]) || !isfinite(b[k]) || !isfinite(c))
            return plain;           // infinite, or no number
        sum += cut_off((double)a[k] * b[k], e - fraction);
    }
    sum += cut_off(c, e - fraction);
    if (sum == 0)
        return 0;
    int top = ilogb(sum) < -126 ? -126 : ilogb(sum);
    return (float)cut_off(sum, top - (keep - 1));
}

// mma.sync of fp8 on the f16 unit: HALVES.
static inline float halves(const float *a, const float *b, int n, float c)
{
    float x[2][16], y[2][16], t = 0;
    for (int k = 0; k < n; k++) {
        int half = k / 2 % 2, at = k / 4 * 2 + k % 2;
        x[half][at] = a[k], y[half][at] = b[k];
    }
    t = fused(x[0], y[0], n / 2, -14, t, 25, 24);
    return fused(x[1], y[1], n / 2, -14, t, 25, 24) + c;
}

// PTX: groupID g = lane / 4, t = lane % 4; a word holds n elements along k.
//   A register r: row g + 8 (r % 2), k = n (t + 4 (r / 2)) + s
//   B register r: column g, k = n (t + 4 r) + s
//   C element i:  row g + 8 (i / 2), column 2 t + i % 2
template <int bits, typename A, typename B, typename Value, typename Sum>
static inline void multiply(Value *d, const u32 *a, const u32 *b, A value_a,
                            B value_b, Sum sum_up)
{
    const int n = 32 / bits;
    Value x_of[8 * n], y_of[8 * n];
    Operands mine = {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}};
    Lanes<Operands> all = all_of(mine);
    int lane = emulator.lane();
    for (int i = 0; i < 4; i++) {
        int row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
        for (int k = 0; k < 8 * n; k++) {
            int t = k / n % 4, half = k / (4 * n), s = k % n;
            Operands x = all[row % 8 * 4 + t], y = all[column * 4 + t];
            u32 wa = x.a[row / 8 + 2 * half] >> s * (bits % 32);
            u32 wb = y.b[half] >> s * (bits % 32);
            x_of[k] = value_a(wa), y_of[k] = value_b(wb);
        }
        d[i] = sum_up(x_of, y_of, 8 * n, d[i]);
    }
}
static inline float of_f16(u32 w) { return half_value((u16)w); }
static inline float of_bf16(u32 w) { return bits_f32(w << 16); }
static inline float of_tf32(u32 w) { return bits_f32(w & 0xffffe000u); }
static inline float of_e4m3(u32 w)
{
    int c = w & 0x7f, e = c >> 3, m = c & 7;
    float v = c == 0x7f ? NAN : e ? ldexpf(8 + m, e - 10) : ldexpf(m, -9);
    return w & 0x80 ? -v : v;
}
static inline float of_e5m2(u32 w)
{
    return half_value((u16)((w & 0xff) << 8));
}
static inline int of_i8(u32 w) { return (i8)w; }
static inline int of_u8(u32 w) { return (u8)w; }

static inline float sum_f16(const float *a, const float *b, int n, float c)
{
    return fused(a, b, n, -14, c, 25, 24);
}
// bf16 and tf32
static inline float sum_wide(const float *a, const float *b, int n, float c)
{
    return fused(a, b, n, -126, c, 25, 24);
}
static inline int sum_int(const int *a, const int *b, int n, int c)
{
    u32 sum = (u32)c;
    for (int k = 0; k < n; k++)
        sum += (u32)(a[k] * b[k]);
    return (int)sum;
}

#define MMA(name, value, sum, bits, fa, fb)                                   \
    static inline void mma_##name(value *d, const u32 *a, const u32 *b)      \
    {                                                                         \
        multiply<bits>(d, a, b, fa, fb, sum);                                 \
    }
MMA(f16_f32, float, sum_f16, 16, of_f16, of_f16)
MMA(bf16_f32, float, sum_wide, 16, of_bf16, of_bf16)
MMA(tf32_f32, float, sum_wide, 32, of_tf32, of_tf32)
MMA(e4m3_f32, float, halves, 8, of_e4m3, of_e4m3)
MMA(e5m2_f32, float, halves, 8, of_e5m2, of_e5m2)
MMA(e4m3_e5m2_f32, float, halves, 8, of_e4m3, of_e5m2)
MMA(e5m2_e4m3_f32, float, halves, 8, of_e5m2, of_e4m3)
MMA(i8_int, int, sum_int, 8, of_i8, of_i8)
MMA(u8_int, int, sum_int, 8, of_u8, of_u8)
MMA(i8_u8_int, int, sum_int, 8, of_i8, of_u8)
MMA(u8_i8_int, int, sum_int, 8, of_u8, of_i8)
#ifdef HAS_F16
static inline void mma_f16_f16(f16 *d, const u32 *a, const u32 *b)
{
    float c[4];
    for (int i = 0; i < 4; i++)
        c[i] = f32(d[i]);
    mma_f16_f32(c, a, b);
    for (int i = 0; i < 4; i++)
        d[i] = to_f16(c[i]);
}
#endif

// ---- asynchronous copies: done when they are waited for, as late as may be

struct Pending {
    void *to;
    const void *from;
    int bytes, group;
};
struct Copies {
    Pending at[2048];
    int count, group;
    unsigned block;
};
static Copies copies_of[1024];

static inline Copies *my_copies()
{
    Copies *c = &copies_of[emulator.thread_number()];
    if (c->block != *emulator.block_number)
        c->count = c->group = 0;
    c->block = *emulator.block_number;
    return c;
}
template <int n>
static inline void cp_async(void *to, const void *from, bool there)
{
    Copies *c = my_copies();
    if ((uintptr_t)to % n || (there && (uintptr_t)from % n) ||
        c->count == 2048)
        __builtin_trap();
    c->at[c->count++] = Pending{to, there ? from : nullptr, n, c->group};
}
static inline void cp_async_commit() { my_copies()->group++; }
static inline void finish_copies(int before)
{
    Copies *c = my_copies();
    int kept = 0;
    for (int i = 0; i < c->count; i++) {
        const Pending *p = &c->at[i];
        if (p->group >= before) {
            c->at[kept++] = *p;
            continue;
        }
        note_written(p->to);
        if (p->from)
            memcpy(p->to, p->from, p->bytes);
        else
            memset(p->to, 0, p->bytes);
    }
    c->count = kept;
}
template <int n> static inline void cp_async_wait()
{
    finish_copies(my_copies()->group - n);
}
static inline void cp_async_wait_all() { finish_copies(1 << 30); }

// ---- mbarriers

struct Mbarrier {
    int16_t count, pending;
    int32_t parity : 1, bytes : 31;
};
static inline void settle(Mbarrier *b)
{
    if (b->pending || b->bytes)
        return;
    b->pending = b->count;
    b->parity = ~b->parity;
}
static inline void barrier_init(u64 *at, int arrivals)
{
    Mbarrier *b = (Mbarrier *)at;
    *b = Mbarrier{(int16_t)arrivals, (int16_t)arrivals, 0, 0};
}
static inline void barrier_fence() {}
static inline void barrier_arrive(u64 *at)
{
    Mbarrier *b = (Mbarrier *)at;
    b->pending--;
    settle(b);
}
static inline void barrier_expect(u64 *at, int bytes)
{
    Mbarrier *b = (Mbarrier *)at;
    b->bytes += bytes;
    b->pending--;
    settle(b);
}
static inline void barrier_wait(u64 *at, u32 parity)
{
    while ((((Mbarrier *)at)->parity & 1u) == parity)
        emulator.pause();
}

static inline void cp_async_arrive(u64 *at)
{
    cp_async_wait_all();
    barrier_arrive(at);
}

// ---- boxes of tensors

struct alignas(64) TensorMap { u64 words[16]; };

// Shared memory's swizzles mix bits 4, 5, 6 of an address with bits 7, 8, 9.
static inline char *mixed(char *p, int width)
{
    uintptr_t a = (uintptr_t)p, bits = width == 128 ? 7 : width == 64 ? 3
                                     : width == 32 ? 1 : 0;
    return (char *)(a ^ ((a >> 7 & bits) << 4));
}
// An element of a box: where it is in shared memory and in the tensor, NULL
// outside of that.
struct Boxed {
    const u64 *w;
    int rank, size, width, box[5], n;
    Boxed(const TensorMap *m) : w(m->words), n(1)
    {
        static const int widths[] = {0, 32, 64, 128};
        rank = w[1] & 255;
        size = 1 << (w[1] >> 8 & 255);
        width = widths[w[1] >> 16 & 3];
        for (int d = 0; d < rank; d++)
            n *= box[d] = (int)(w[11] >> 12 * d & 4095);
    }
    char *in_tile(const void *tile, int i) const
    {
        return mixed((char *)tile + (i64)i * size, width);
    }
    char *in_tensor(const int *c, int i) const
    {
        char *p = (char *)w[0];
        for (int d = 0; d < rank; i /= box[d++]) {
            i64 at = c[d] + i % box[d];
            if (at < 0 || (u64)at >= w[2 + d])
                return NULL;
            p += at * (d ? (i64)w[6 + d] : size);
        }
        return p;
    }
};
static inline void arrived(u64 *full, int bytes)
{
    Mbarrier *b = (Mbarrier *)full;
    b->bytes -= bytes;
    settle(b);
}
static inline void tma_load(void *to, const TensorMap *m, u64 *full,
                            const int *c)
{
    Boxed x(m);
    must_align(to, 128);
    for (int i = 0; i < x.n; i++) {
        const char *from = x.in_tensor(c, i);
        unit_writes(x.in_tile(to, i));
        if (from)
            memcpy(x.in_tile(to, i), from, x.size);
        else
            memset(x.in_tile(to, i), 0, x.size);
    }
    arrived(full, x.n * x.size);
}
static inline void tma_store(const TensorMap *m, const void *from,
                             const int *c)
{
    Boxed x(m);
    must_align(from, 128);
    for (int i = 0; i < x.n; i++) {
        char *to = x.in_tensor(c, i);
        unit_reads(x.in_tile(from, i));
        if (to)
            memcpy(to, x.in_tile(from, i), x.size);
    }
}
static inline void tma_load_1d(void *to, const TensorMap *m, u64 *full, int a)
{
    int c[] = {a};
    tma_load(to, m, full, c);
}
static inline void tma_load_2d(void *to, const TensorMap *m, u64 *full, int a,
                               int b)
{
    int c[] = {a, b};
    tma_load(to, m, full, c);
}
static inline void tma_load_3d(void *to, const TensorMap *m, u64 *full, int a,
                               int b, int d)
{
    int c[] = {a, b, d};
    tma_load(to, m, full, c);
}
static inline void tma_load_4d(void *to, const TensorMap *m, u64 *full, int a,
                               int b, int d, int f)
{
    int c[] = {a, b, d, f};
    tma_load(to, m, full, c);
}
static inline void tma_load_5d(void *to, const TensorMap *m, u64 *full, int a,
                               int b, int d, int f, int g)
{
    int c[] = {a, b, d, f, g};
    tma_load(to, m, full, c);
}
static inline void tma_store_1d(const TensorMap *m, const void *from, int a)
{
    int c[] = {a};
    tma_store(m, from, c);
}
static inline void tma_store_2d(const TensorMap *m, const void *from, int a,
                                int b)
{
    int c[] = {a, b};
    tma_store(m, from, c);
}
static inline void tma_store_3d(const TensorMap *m, const void *from, int a,
                                int b, int d)
{
    int c[] = {a, b, d};
    tma_store(m, from, c);
}
static inline void tma_store_4d(const TensorMap *m, const void *from, int a,
                                int b, int d, int f)
{
    int c[] = {a, b, d, f};
    tma_store(m, from, c);
}
static inline void tma_store_5d(const TensorMap *m, const void *from, int a,
                                int b, int d, int f, int g)
{
    int c[] = {a, b, d, f, g};
    tma_store(m, from, c);
}
static inline void tma_store_wait() {}
static inline void bulk_load(void *to, const void *from, u64 *full, int bytes)
{
    must_align((const char *)to + bytes, 16);
    must_align(from, 16);
    memcpy(to, from, bytes);
    arrived(full, bytes);
}
static inline void bulk_store(void *to, const void *from, int bytes)
{
    must_align(to, 16);
    must_align((const char *)from + bytes, 16);
    memcpy(to, from, bytes);
}

// ---- wgmma: done at once

static inline void wgmma_fence() {}
static inline void wgmma_commit() {}
template <int n> static inline void wgmma_wait() {}
template <int n> static inline void registers_fewer() {}
template <int n> static inline void registers_more() {}
static inline u64 matrix_descriptor(const void *p, u32 panel, u32 rows,
                                    u64 mode)
{
    u64 at = (u64)((const unsigned char *)p - *emulator.arena);
    return at >> 4 | (u64)(panel >> 4) << 16 | (u64)(rows >> 4) << 32 |
           mode << 62;
}
// Element (row, k) of what a descriptor names; `across`: rows are contiguous.
static inline char *matrix_at(u64 d, bool across, int size, int row, int k)
{
    char *p = (char *)*emulator.arena + ((d & 0x3fff) << 4);
    int panel = (int)(d >> 16 & 0x3fff) << 4;
    int rows = (int)(d >> 32 & 0x3fff) << 4;
    int width = d >> 62 == 1 ? 128 : d >> 62 == 2 ? 64 : 32, in = width / size;
    if (across)
        p += row / in * panel + k / 8 * rows + k % 8 * width + row % in * size;
    else
        p += row / 8 * rows + row % 8 * width + k * size;
    return mixed(p, width);
}
template <int size, typename Value>
static inline float matrix_value(u64 d, bool across, int row, int k, Value v)
{
    const char *p = matrix_at(d, across, size, row, k);
    u32 w = 0;
    unit_reads(p);
    memcpy(&w, p, size);
    return v(w);
}
// The least exponent of a format, by what decodes it.
static inline int wgmma_least(float (*value)(u32))
{
    return value == of_f16 || value == of_e5m2 ? -14
         : value == of_e4m3 ? -6 : -126;
}
template <int n, int steps, int size, bool across_b, typename Value, typename A>
static inline void wgmma_rows(float *d, u64 b, int add, Value v, A a)
{
    int warp = emulator.thread_number() / 32 % 4, lane = emulator.lane();
    for (int i = 0; i < n / 2; i++) {
        int row = 16 * warp + lane / 4 + 8 * (i / 2 % 2);
        int column = i / 4 * 8 + lane % 4 * 2 + i % 2;
        float x[steps], y[steps];
        for (int k = 0; k < steps; k++) {
            x[k] = a(row, k);
            y[k] = matrix_value<size>(b, across_b, column, k, v);
        }
        // one step of 32, 16 or 8 k; fp8 keeps 13 bits of what it adds
        d[i] = fused(x, y, steps, wgmma_least(v), add ? d[i] : 0,
                     size == 1 ? 13 : 25, size == 1 ? 14 : 24);
    }
}
template <int n, int steps, int size, bool across_a, bool across_b,
          typename Value>
static inline void wgmma_shared(float *d, u64 a, u64 b, int add, Value v)
{
    wgmma_rows<n, steps, size, across_b>(d, b, add, v, [=](int row, int k) {
        return matrix_value<size>(a, across_a, row, k, v);
    });
}
template <int n, int steps, int size, bool across_b, typename Value>
static inline void wgmma_registers(float *d, const u32 *a, u64 b, int add,
                                   Value v)
{
    Operands mine = {{a[0], a[1], a[2], a[3]}, {0, 0}};
    Lanes<Operands> all = all_of(mine);
    const int word = 4 / size;
    wgmma_rows<n, steps, size, across_b>(d, b, add, v, [=](int row, int k) {
        Operands x = all[row % 8 * 4 + k / word % 4];
        u32 w = x.a[row % 16 / 8 + 2 * (k / (4 * word))];
        return v(w >> k % word * (8 * size % 32));
    });
}
