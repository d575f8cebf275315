// capture.h - files of matrix instructions as hardware executed them.
//
// A file is records, little-endian, one after the other:
//     char name[64]; int32 M, N, K, bytesA, bytesB, bytesC, bytesD, tiles,
//     typeA, typeB, typeC, typeD;
// then A of all tiles (row-major M x K), B (stored N x K), C and D (M x N).
// bytesX are bytes of a tile, types are numbers of num/mma_type.def. The name
// starts with the unit, mma, wgmma or mfma, and may say "negA" (A is negated),
// "satfinite" (clamped) and "xN chained" (D fed back as C, N times in all).
#ifndef DEVICE_CAPTURE_H
#define DEVICE_CAPTURE_H

#include "device/device.h"

typedef struct {
    Text name;
    int m, n, k;
    int64_t tiles;
    int repeats;                                // of "xN chained", else 1
    Basis basis;                                // of the arithmetic
    MmaSpec spec;
    const char *a, *b, *c, *d;                  // unaligned, all tiles
    size_t a_bytes, b_bytes, c_bytes;           // of a tile; d's are c's
} Capture;

// The record at *at, which moves past it. False with `*why` set when it is
// malformed; then *at is where the fault lies.
bool capture_next(Text file, size_t *at, Capture *out, const char **why);

// Computes a tile again into `d` (c_bytes, aligned to 8).
void capture_run(const Capture *c, MmaPath path, int64_t tile, void *d);
#endif
