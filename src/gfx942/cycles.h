// cycles.h - an estimate of the time that a compute unit takes.
//
// Recorded instruction streams of waves are issued on one compute unit of four
// SIMDs, in order and with the latencies of cycles.c. No figure of it was
// measured on a card; docs/gpu-mi300x.md says where each number is from.
#ifndef GFX942_CYCLES_H
#define GFX942_CYCLES_H

#include "gfx942/object.h"

// One instruction that a wave executed.
typedef struct {
    uint32_t pc;                                // word of the image
    uint16_t lds;                               // cycles of its banks
    uint16_t sectors;                           // 64 bytes of global memory
} GfxStep;

typedef struct {
    GfxStep *at;
    size_t len, room;
    bool cut;                                   // it went on
} GfxTrace;

typedef enum {
#define GFX_TIME(id, ...) TIME_##id,
#include "gfx942/cycles.def"
    GFX_TIMES
} GfxTime;

const char *gfx_time_name(GfxTime t);
const char *gfx_time_key(GfxTime t);        // "wait_matrix"

enum { GFX_SIMDS = 4, GFX_LDS_PORTS = 2 };

typedef struct {
    int groups, waves;                          // on the unit; of a group
    int64_t cycles;                             // while it was full
    int64_t steps, steps_each;                  // instructions: all, of one
                                                // time all groups
    int64_t matrix, valu, lds;                  // busy: of SIMDs, of LDS ports
    int64_t wave[GFX_TIMES];                    // of all waves
    bool cut;
} GfxCycles;

// traces[group * waves + wave]. The groups start together, each `rounds` times
// one after the other, until the first one has no successor.
void gfx_cycles(Arena *a, const GfxObject *o, const GfxTrace *traces,
                int groups, int waves, int rounds, GfxCycles *out);
// From the end of a workgroup to the end of the next one.
int64_t gfx_cycles_each(const GfxCycles *c);
// Busy cycles of the matrix units over all cycles of the four.
double gfx_matrix_utilisation(const GfxCycles *c);
#endif
