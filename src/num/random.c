// random.c - where the streams of XORWOW and MRG32k3a begin, as cuRAND has it.
//
// Marsaglia: "Xorshift RNGs", J. Stat. Soft. 8 (2003); L'Ecuyer, Simard, Chen,
// Kelton: "An object-oriented random-number package with many long streams and
// substreams", Oper. Res. 50 (2002). A generator is linear: to go n steps ahead
// is the n-th power of its step, for XORWOW as the polynomial x^n modulo the
// characteristic polynomial of the step, for MRG32k3a as a matrix.
#include "num/num.h"

#include <string.h>

// ---- XORWOW ------------------------------------------------------------------

enum { XOR_WORDS = 5, XOR_BITS = 32 * XOR_WORDS };

// A polynomial over GF(2) of a degree below XOR_BITS; bit i is x^i.
typedef struct { uint32_t w[XOR_WORDS]; } Poly;

// The characteristic polynomial of the step, less x^160; by Berlekamp and
// Massey from its bits.
static const Poly xor_modulus = {
    {0x00060001, 0x08610030, 0x00062121, 0x0f3c0035, 0x00000f0e}};
// x^(2^67): sequences are 2^67 steps apart.
static const Poly xor_sequence = {
    {0x26294934, 0x77bbc248, 0x1a87dad0, 0x930052d4, 0x947e6dd2}};
static const Poly xor_x = {{2}};

static Poly poly_times_x(Poly p)
{
    uint32_t over = p.w[XOR_WORDS - 1] >> 31;

    for (int i = XOR_WORDS - 1; i > 0; i--)
        p.w[i] = p.w[i] << 1 | p.w[i - 1] >> 31;
    p.w[0] <<= 1;
    for (int i = 0; over && i < XOR_WORDS; i++)
        p.w[i] ^= xor_modulus.w[i];
    return p;
}

static Poly poly_times(Poly a, const Poly *b)
{
    Poly r = {{0}};

    for (int bit = 0; bit < XOR_BITS; bit++, a = poly_times_x(a))
        if (b->w[bit / 32] >> bit % 32 & 1)
            for (int i = 0; i < XOR_WORDS; i++)
                r.w[i] ^= a.w[i];
    return r;
}

static Poly poly_power(Poly base, uint64_t n)
{
    Poly r = {{1}};

    for (; n; n >>= 1, base = poly_times(base, &base))
        if (n & 1)
            r = poly_times(r, &base);
    return r;
}

static void xor_step(uint32_t v[XOR_WORDS])
{
    uint32_t t = v[0] ^ v[0] >> 2;

    memmove(v, v + 1, (XOR_WORDS - 1) * sizeof *v);
    v[4] = v[3] ^ v[3] << 4 ^ t ^ t << 1;
}

static void xor_ahead(uint32_t v[XOR_WORDS], const Poly *by)
{
    uint32_t sum[XOR_WORDS] = {0};

    for (int bit = 0; bit < XOR_BITS; bit++, xor_step(v))
        if (by->w[bit / 32] >> bit % 32 & 1)
            for (int i = 0; i < XOR_WORDS; i++)
                sum[i] ^= v[i];
    memcpy(v, sum, sizeof sum);
}

// The last word counts by itself; 2^67 steps bring it back.
static void xorwow(uint64_t seed, uint64_t sequence, uint64_t offset,
                   uint32_t state[NUM_RANDOM_WORDS])
{
    uint32_t t0 = 1099087573u * ((uint32_t)seed ^ 0xAAD26B49u);
    uint32_t t1 = 2591861531u * ((uint32_t)(seed >> 32) ^ 0xF7DCEFDDu);
    Poly by = poly_power(xor_sequence, sequence), more;

    state[0] = 123456789u + t0;
    state[1] = 362436069u ^ t0;
    state[2] = 521288629u + t1;
    state[3] = 88675123u ^ t1;
    state[4] = 5783321u + t0;
    state[5] = 6615241u + t1 + t0 + 362437u * (uint32_t)offset;
    more = poly_power(xor_x, offset);
    by = poly_times(by, &more);
    xor_ahead(state, &by);
}

// ---- MRG32k3a ------------------------------------------------------------------

typedef struct { uint32_t m[3][3]; } Matrix;

// The modulus of each half, its step, and 2^76 steps, a sequence.
static const struct {
    uint32_t modulus;
    Matrix step, sequence;
} mrg[2] = {
    {4294967087u,
     {{{0, 1, 0}, {0, 0, 1}, {4294967087u - 810728u, 1403580u, 0}}},
     {{{82758667u, 1871391091u, 4127413238u},
       {3672831523u, 69195019u, 1871391091u},
       {3672091415u, 3528743235u, 69195019u}}}},
    {4294944443u,
     {{{0, 1, 0}, {0, 0, 1}, {4294944443u - 1370589u, 0, 527612u}}},
     {{{1511326704u, 3759209742u, 1610795712u},
       {4292754251u, 1511326704u, 3889917532u},
       {3859662829u, 4292754251u, 3708466080u}}}},
};

static uint32_t times_mod(uint32_t a, uint32_t b, uint32_t modulus)
{
    return (uint32_t)((uint64_t)a * b % modulus);
}

static void matrix_vector(const Matrix *a, uint32_t v[3], uint32_t modulus)
{
    uint32_t out[3];

    for (int i = 0; i < 3; i++) {
        uint64_t sum = 0;

        for (int k = 0; k < 3; k++)
            sum += times_mod(a->m[i][k], v[k], modulus);
        out[i] = (uint32_t)(sum % modulus);
    }
    memcpy(v, out, sizeof out);
}

static Matrix matrix_square(const Matrix *a, uint32_t modulus)
{
    Matrix r;

    for (int j = 0; j < 3; j++) {
        uint32_t column[3] = {a->m[0][j], a->m[1][j], a->m[2][j]};

        matrix_vector(a, column, modulus);
        for (int i = 0; i < 3; i++)
            r.m[i][j] = column[i];
    }
    return r;
}

static void mrg_ahead(Matrix step, uint64_t n, uint32_t v[3], uint32_t modulus)
{
    for (; n; n >>= 1, step = matrix_square(&step, modulus))
        if (n & 1)
            matrix_vector(&step, v, modulus);
}

static void mrg32k3a(uint64_t seed, uint64_t sequence, uint64_t offset,
                     uint32_t state[NUM_RANDOM_WORDS])
{
    uint32_t x[2] = {(uint32_t)seed ^ 0x55555555u,
                     (uint32_t)(seed >> 32) ^ 0xAAAAAAAAu};

    for (int h = 0; h < 2; h++) {
        uint32_t *s = state + 3 * h;

        for (int i = 0; i < 3; i++)
            s[i] = seed ? times_mod(x[(h + i) % 2], 12345, mrg[h].modulus)
                        : 12345;
        mrg_ahead(mrg[h].sequence, sequence, s, mrg[h].modulus);
        mrg_ahead(mrg[h].step, offset, s, mrg[h].modulus);
    }
}

void num_random_start(NumRandom generator, uint64_t seed, uint64_t sequence,
                      uint64_t offset, uint32_t state[NUM_RANDOM_WORDS])
{
    if (generator == NUM_XORWOW)
        xorwow(seed, sequence, offset, state);
    else
        mrg32k3a(seed, sequence, offset, state);
}
