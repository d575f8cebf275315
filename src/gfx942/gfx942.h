// gfx942.h - executes a kernel of a code object on the CPU.
//
// A wave is 64 lanes under EXEC. What a memory instruction loads may not be
// read before s_waitcnt has waited for it, and what another wave wrote to
// shared memory not before a barrier: both are findings. docs/exec-isa.md says
// what is exact and what is not.
#ifndef GFX942_GFX942_H
#define GFX942_GFX942_H

#include "gfx942/cycles.h"

// Memory of the device that a kernel may touch, at an address of its own.
typedef struct {
    const char *name;
    void *at;
    uint64_t bytes;
    bool writable;
    uint64_t address;                           // set by gfx_place()
} GfxBuffer;

// Gives each buffer an address; unmapped memory lies between them.
void gfx_place(GfxBuffer *buffers, int count);

typedef struct {
    const GfxObject *object;
    const GfxKernel *kernel;
    uint32_t grid[3];                           // workgroups
    uint32_t block[3];                          // threads of one
    int dynamic_lds;
    const uint8_t *kernarg;                     // kernel->kernarg_size bytes
    const GfxBuffer *buffers;
    int buffer_count;
    uint64_t seed;                              // of the interleaving; 0: none
    int64_t most_steps;                         // of a workgroup; 0: no limit
    int resident;                               // workgroups of a compute unit
                                                // whose time is told; 0: none
} GfxLaunch;

// Fills in what the runtime passes besides the arguments (value_kind hidden_).
// False, with the kind, when one is not supported.
bool gfx_fill_hidden(const GfxLaunch *l, uint8_t *kernarg, Text *unknown);

typedef enum {
#define GFX_FINDING(id, ...) GFX_##id,
#include "gfx942/finding.def"
    GFX_FINDING_COUNT
} GfxFindingKind;

typedef struct {
    GfxFindingKind kind;
    uint64_t pc;                                // address of the instruction
    int64_t block;
    int wave, lane;                             // lane -1: not of one lane
    uint64_t value;                             // register, address, other pc
    int64_t count;
} GfxFinding;

const char *gfx_finding_id(GfxFindingKind k);
ExitCode gfx_finding_exit(GfxFindingKind k);
// A sentence about it.
void gfx_finding_put(TextBuf *out, const GfxObject *o, const GfxFinding *f);

typedef enum {
#define GFX_COUNTER(id, ...) COUNT_##id,
#include "gfx942/counter.def"
    GFX_COUNTERS
} GfxCounter;

const char *gfx_counter_name(GfxCounter c);

typedef struct {
    int64_t count[GFX_COUNTERS];
    bool conflicts_estimate, sectors_estimate;  // basis of the two figures
    GfxFinding *findings;                       // by pc
    int finding_count;
    int64_t blocks_done;
    bool stopped;                               // Ctrl-C or --timeout
    bool float_atomics;                         // their order shows in bits
    GfxCycles cycles;                           // of the first `resident` ones
} GfxResult;

// Whether the executor knows what an instruction means.
bool gfx_executes(IsaOp op);

// False with a sentence when the launch itself is impossible.
bool gfx_run(Arena *a, const GfxLaunch *launch, GfxResult *out,
             const char **why);
#endif
