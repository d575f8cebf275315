// extern.c - functions that tests/golden/run/extern.tile calls.
#include <stdbool.h>
#include <stdint.h>

float axpy(float a, float x, float y)
{
    return a * x + y;
}

double half(double x)
{
    return x / 2;
}

int8_t after(int8_t x)
{
    return (int8_t)(x + 1);
}

uint16_t high(uint32_t x)
{
    return (uint16_t)(x >> 16);
}

int64_t wide(int64_t x, uint8_t y)
{
    return x * 1000000007 + y;
}

bool odd(int x)
{
    return x & 1;
}

void fill(float *p, int n, float first)
{
    for (int i = 0; i < n; i++)
        p[i] = first + (float)i;
}

int next(int *p)
{
    return (*p)++;
}

// Two numbers of 4 bits, 8 being 0, in each byte.
void unpack(const uint8_t *from, int16_t *to, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (int16_t)((from[i / 2] >> 4 * (i % 2) & 15) - 8);
}

// Multiplies by 2, which adds 1 to the exponent.
void twice_f16(uint16_t *bits, int n)
{
    for (int i = 0; i < n; i++)
        bits[i] = (uint16_t)(bits[i] + 0x400);
}
