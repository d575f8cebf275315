// emulated_instructions.h - goes where a kernel's text has "instructions".

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
static inline int block_count(bool x) { return emulator.sync_count(x); }
static inline bool block_or(bool x) { return emulator.sync_count(x) > 0; }
static inline bool block_and(bool x) { return emulator.sync_count(!x) == 0; }
static inline void named_barrier(int id, int n) { emulator.sync_some(id, n); }

// ---- matrices

// Thread t gets element 2 (t % 4) and the next of row t / 4 of each 8 x 8 tile,
// whose rows' addresses 8 lanes give.
template <int tiles, bool trans>
static inline void load_tiles(u32 *r, const void *p)
{
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

// PTX: groupID g = lane / 4, t = lane % 4; a word holds n elements along k.
//   A register r: row g + 8 (r % 2), k = n (t + 4 (r / 2)) + s
//   B register r: column g, k = n (t + 4 r) + s
//   C element i:  row g + 8 (i / 2), column 2 t + i % 2
template <int bits, typename Sum, typename A, typename B, typename Value>
static inline void multiply(Value *d, const u32 *a, const u32 *b, A value_a,
                            B value_b)
{
    const int n = 32 / bits;
    Operands mine = {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}};
    Lanes<Operands> all = all_of(mine);
    int lane = emulator.lane();
    for (int i = 0; i < 4; i++) {
        int row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
        Sum sum = (Sum)d[i];
        for (int k = 0; k < 8 * n; k++) {
            int t = k / n % 4, half = k / (4 * n), s = k % n;
            Operands x = all[row % 8 * 4 + t], y = all[column * 4 + t];
            u32 wa = x.a[row / 8 + 2 * half] >> s * (bits % 32);
            u32 wb = y.b[half] >> s * (bits % 32);
            sum += (Sum)value_a(wa) * (Sum)value_b(wb);
        }
        d[i] = (Value)sum;
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

#define MMA(name, value, sum, bits, fa, fb)                                   \
    static inline void mma_##name(value *d, const u32 *a, const u32 *b)      \
    {                                                                         \
        multiply<bits, sum>(d, a, b, fa, fb);                                 \
    }
MMA(f16_f32, float, double, 16, of_f16, of_f16)
MMA(bf16_f32, float, double, 16, of_bf16, of_bf16)
MMA(tf32_f32, float, double, 32, of_tf32, of_tf32)
MMA(e4m3_f32, float, double, 8, of_e4m3, of_e4m3)
MMA(e5m2_f32, float, double, 8, of_e5m2, of_e5m2)
MMA(e4m3_e5m2_f32, float, double, 8, of_e4m3, of_e5m2)
MMA(e5m2_e4m3_f32, float, double, 8, of_e5m2, of_e4m3)
MMA(i8_int, int, int, 8, of_i8, of_i8)
MMA(u8_int, int, int, 8, of_u8, of_u8)
MMA(i8_u8_int, int, int, 8, of_i8, of_u8)
MMA(u8_i8_int, int, int, 8, of_u8, of_i8)
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

// ---- copies: done when they are waited for

struct Pending {
    void *to;
    const void *from;
    int bytes;
};
#define MAX_PENDING 4096
// One list for each thread would do; copies at once are right as well, but
// would not show a wait that is missing.
template <int n> static inline void cp_async(void *to, const void *from)
{
    memcpy(to, from, n);
}
static inline void cp_async_commit() {}
template <int n> static inline void cp_async_wait() {}
