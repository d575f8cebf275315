// decode.c - on the CPU, what some of upstream's examples import as CUDA source:
// decoders of weights of 4 and 2 bits. For --extern; upstream.tsv says where.
#include <stdint.h>
#include <string.h>

static uint16_t bf16_of(float f)        // f has no more digits than bf16
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static float float_of_bf16(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

// Four float4_e2m1 in 16 bits, whose sign, exponent and mantissa lie apart: of
// the first three at 15, 8..7 and 6 after a shift by 0, 3 and 6; of the last in
// what those leave.
static uint16_t twiddled(uint16_t w, int i)
{
    uint16_t bits = i < 3 ? (uint16_t)(w << 3 * i) & 0x81C0
                          : (uint16_t)((w << 1 & 0x8000) | (w >> 3 & 0x0180) |
                                       (w >> 7 & 0x0040));

    return bf16_of(float_of_bf16(bits) * 0x1p126f);
}

// n groups of four bytes, the first byte uppermost.
void decode_fp4_to_bf16_twiddling(const uint8_t *from, uint16_t *to, int n)
{
    for (; n > 0; n--, from += 4, to += 8)
        for (int i = 0; i < 4; i++) {
            to[i] = twiddled((uint16_t)(from[0] << 8 | from[1]), i);
            to[i + 4] = twiddled((uint16_t)(from[2] << 8 | from[3]), i);
        }
}

// Eight integers of 4 bits, those of the lower half of each 32 at even places.
static void interleaved(const uint8_t *from, _Float16 *to, int least)
{
    uint32_t w;

    memcpy(&w, from, sizeof w);
    for (int i = 0; i < 8; i++)
        to[i] = (_Float16)((int)(w >> (4 * (i / 2) + 16 * (i % 2)) & 15) +
                           least);
}

void decode_i4u_to_f16(const uint8_t *from, _Float16 *to)
{
    interleaved(from, to, 0);
}

void decode_i4s_to_f16(const uint8_t *from, _Float16 *to)
{
    interleaved(from, to, -8);
}

// Sixteen of 2 bits: every fourth of a byte lies in one 32-bit word.
void decode_i2u_to_i8s(const uint8_t *from, int8_t *to)
{
    for (int i = 0; i < 16; i++)
        to[i] = from[i % 4] >> 2 * (i / 4) & 3;
}
