// lanes_philox.h - Philox4x32-10 for many counters at a time.
//
// Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011. Sixty-four counters walk through the ten rounds together.
#ifndef NUM_LANES_PHILOX_H
#define NUM_LANES_PHILOX_H

#include "num/lanes_int.h"

enum { PHILOX_GROUP = 64 };

typedef struct {
    uint32_t word[4][PHILOX_GROUP];
} PhiloxGroup;

static void philox_round(PhiloxGroup *g, uint32_t k0, uint32_t k1)
{
    for (int i = 0; i < PHILOX_GROUP; i++) {
        uint64_t a = (uint64_t)0xD2511F53u * g->word[0][i];
        uint64_t b = (uint64_t)0xCD9E8D57u * g->word[2][i];
        uint32_t w0 = (uint32_t)(b >> 32) ^ g->word[1][i] ^ k0;
        uint32_t w2 = (uint32_t)(a >> 32) ^ g->word[3][i] ^ k1;
        g->word[0][i] = w0;
        g->word[1][i] = (uint32_t)b;
        g->word[2][i] = w2;
        g->word[3][i] = (uint32_t)a;
    }
}

static void philox(uint32_t *out0, uint32_t *out1, uint64_t first, int64_t n,
                   uint32_t high, const uint32_t key[2])
{
    for (int64_t at = 0; at < n; at += PHILOX_GROUP) {
        PhiloxGroup g;
        int64_t part = n - at < PHILOX_GROUP ? n - at : PHILOX_GROUP;
        for (int i = 0; i < PHILOX_GROUP; i++) {
            uint64_t counter = first + (uint64_t)(at + i);
            g.word[0][i] = (uint32_t)counter;
            g.word[1][i] = (uint32_t)(counter >> 32);
            g.word[2][i] = high;
            g.word[3][i] = 0;
        }
        for (uint32_t r = 0; r < 10; r++)
            philox_round(&g, key[0] + r * 0x9E3779B9u,
                         key[1] + r * 0xBB67AE85u);
        for (int64_t i = 0; i < part; i++) {
            out0[at + i] = g.word[0][i];
            out1[at + i] = g.word[1][i];
        }
    }
}
#endif
