// wave_int.h - the state of a run: waves, workgroups, memory.
#ifndef GFX942_WAVE_INT_H
#define GFX942_WAVE_INT_H

#include <string.h>

#include "device/device.h"
#include "gfx942/gfx942.h"
#include "gfx942/valu.h"

enum {
    LANES = WAVE_LANES, VECTOR_ROWS = 512 + 64, SCALARS = 128, MOST_WAVES = 16,
    DWORD_MOST = 32,                            // registers of one operand
};

// Apertures of the flat address space.
#define SHARED_APERTURE 0x0001000000000000ull
#define PRIVATE_APERTURE 0x0002000000000000ull
#define KERNARG_ADDRESS 0x20000000ull
#define PACKET_ADDRESS 0x30000000ull

// A memory operation that has not been waited for.
typedef struct {
    uint16_t first, count;                      // registers it will write
    bool scalar;                                // they are scalar ones
    bool unordered;                             // may come before others
    bool shared;                                // an LDS access
    uint32_t sequence;                          // of it
    int32_t transfer;                           // number of a Transfer, or -1
} Pending;

enum { QUEUE = 64 };

typedef struct {
    Pending at[QUEUE];
    int head, len;
} Queue;

// A load to shared memory under way: what arrives when it is waited for.
typedef struct {
    uint64_t lanes;
    uint32_t address;                           // of lane 0 in LDS
    uint32_t pc;
    int bytes;                                  // of a lane
    uint32_t data[LANES];
} Transfer;

typedef enum { WAVE_READY, WAVE_AT_BARRIER, WAVE_DONE } WaveState;

typedef struct Group Group;

typedef struct Wave {
    uint32_t (*v)[LANES];                       // VECTOR_ROWS
    uint32_t s[SCALARS];
    uint32_t scc, mode;
    uint32_t pc, next;                          // words of the image
    int id;
    WaveState state;
    Group *group;
    Queue vm, lgkm;
    int pending;                                // entries with registers
    uint8_t vector_pending[VECTOR_ROWS], scalar_pending[SCALARS];
    uint32_t sequence, done;                    // LDS accesses: last, waited
    uint32_t published;                         // done when it met a barrier
    Transfer *transfers;                        // QUEUE of them, on demand
    uint32_t lane_mask[LANES];                  // of lane_mask_of
    uint64_t lane_mask_of;
} Wave;

// What was last done to a word of shared memory.
typedef struct {
    uint32_t sequence, pc;
    uint8_t wave;
    bool atomic, part;                          // part: less than the word
} LastWrite;

typedef struct {
    uint64_t base, bytes;
    uint8_t *at;
    bool writable;
} Region;

typedef struct {
    GfxFinding *at;
    int len, room;
} FindingList;

typedef struct Run Run;

// A workgroup, and all that one thread of ours needs to run it.
struct Group {
    const Run *run;
    int64_t block;
    uint32_t position[3];
    Wave waves[MOST_WAVES];
    int wave_count, waiting, ended;
    uint8_t *lds;
    uint32_t lds_bytes;
    LastWrite *written;                         // a word; NULL: one wave
    uint32_t (*read)[MOST_WAVES];               // sequence of the last read
    uint8_t *scratch;                           // of the group
    int64_t count[GFX_COUNTERS];
    bool estimate;
    FindingList findings;
    bool halted, stopped;                       // stopped: by a limit
    int64_t done;                               // blocks that ended
    int64_t steps;                              // of the block
    uint64_t random;
    const Region *last;                         // region of the last access
};

typedef void Exec(Wave *w, const IsaInstr *in);

struct Run {
    const GfxLaunch *launch;
    const IsaInstr *code;
    size_t words;
    Region *regions;
    int region_count;
    const ValuTable *valu;
    const Device *device;
    uint32_t threads, scratch_bytes;            // of a group, of a lane
    int rows[2];                                // VGPRs, AGPRs of the code
    int64_t blocks, first, stride;              // stride: order of the blocks
    bool atomics, float_atomics, transfers;     // the code has such
    uint8_t packet[64];
    Exec *exec[OP_TOTAL];                       // NULL: not supported
    struct MatrixPlan *matrix[OP_TOTAL];        // of the code's matrix ops
    Group **workers;
    int traced;                                 // workgroups, from the first
    GfxTrace *traces;                           // [workgroup][wave]
};

// exec.c - which function executes an instruction; NULL: not supported.
Exec *exec_for(IsaOp op);

// run.c
// Reports once a place. FINDING of LDS and waits let the wave go on, the ones
// that make no sense further stop the group.
void wave_finding(Wave *w, GfxFindingKind kind, int lane, uint64_t value);
void wave_stop(Wave *w, GfxFindingKind kind, uint64_t value);

// steps.c
typedef struct {
    uint32_t pc;
    int64_t lds, sectors;                       // counted before
} StepsBefore;
StepsBefore steps_before(const Wave *w);
void steps_add(Wave *w, const StepsBefore *b);
void steps_open(Arena *a, Run *run);
void steps_close(Arena *a, Run *run, GfxCycles *out);

// wait.c
void wait_push_vector(Wave *w, Queue *q, uint16_t first, int count,
                      int32_t transfer);
void wait_push_scalar(Wave *w, uint16_t first, int count);
void wait_push_shared(Wave *w, uint16_t first, int count);
void wait_push_flat(Wave *w, uint16_t first, int count);
void wait_for(Wave *w, int vm, int lgkm);
void wait_check(Wave *w, const IsaInstr *in);

// scalar.c
extern const struct ScalarTable { Exec *fn[OP_TOTAL]; } scalar_table;
uint32_t scalar_get(const Wave *w, uint16_t operand, const IsaInstr *in);
uint64_t scalar_get64(const Wave *w, uint16_t operand, const IsaInstr *in);
void scalar_put(Wave *w, uint16_t operand, uint32_t value);
void scalar_put64(Wave *w, uint16_t operand, uint64_t value);

static inline uint64_t wave_exec(const Wave *w)
{
    return w->s[OPERAND_EXEC] | (uint64_t)w->s[OPERAND_EXEC + 1] << 32;
}

// smem.c, vector.c, lane.c, matrix.c, vmem.c, lds.c
Exec exec_smem, exec_valu, exec_compare, exec_mix, exec_matrix, exec_global,
    exec_buffer, exec_lds, exec_readfirstlane, exec_readlane, exec_writelane,
    exec_swap, exec_permute, exec_bpermute, exec_swizzle, exec_pk_mov,
    exec_nothing;

// vector.c - a source as 64 lanes: a row of the wave, or `space` filled.
typedef uint32_t VectorSpace[2][LANES];
const uint32_t *vector_source(Wave *w, const IsaInstr *in, int i, ValuType t,
                              VectorSpace space);
uint32_t *vector_row(Wave *w, uint16_t operand);
// The rows of `count` registers, under a mask.
void vector_write(Wave *w, uint16_t operand, const uint32_t *from, int count,
                  uint64_t lanes);

// memory.c - device memory by address.
typedef enum { MEMORY_READ, MEMORY_WRITE } MemoryUse;
// Where `bytes` at an address are; NULL after reporting it.
uint8_t *memory_at(Wave *w, uint64_t address, int bytes, MemoryUse use,
                   int lane);

// atomic.c
typedef enum {
    ATOMIC_SWAP, ATOMIC_CMPSWAP, ATOMIC_ADD, ATOMIC_SUB, ATOMIC_RSUB,
    ATOMIC_SMIN, ATOMIC_UMIN, ATOMIC_SMAX, ATOMIC_UMAX, ATOMIC_AND, ATOMIC_OR,
    ATOMIC_XOR, ATOMIC_INC, ATOMIC_DEC, ATOMIC_ADD_F, ATOMIC_MIN_F,
    ATOMIC_MAX_F, ATOMIC_PK_ADD_F16, ATOMIC_PK_ADD_BF16, ATOMIC_NONE,
} AtomicOp;
// What memory of 4 or 8 bytes holds afterwards.
uint64_t atomic_result(AtomicOp op, int bytes, uint64_t old, uint64_t data,
                       uint64_t compare);
AtomicOp atomic_of_vmem(int number);            // 64..108 in FLAT and MUBUF
AtomicOp atomic_of_ds(IsaOp op);

// lds.c - shared memory, with what orders its accesses.
bool lds_knows(IsaOp op);
void lds_transfer(Wave *w, const Transfer *t);
// Where a flat access at shared memory goes; NULL after reporting it.
uint8_t *lds_at(Wave *w, uint64_t address, int bytes, MemoryUse use,
                bool atomic, int lane);

// matrix.c - NULL when the instruction's bits are not known.
struct MatrixPlan *matrix_plan(Arena *a, const Device *d, IsaOp op);
#endif
