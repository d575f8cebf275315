// lane.c - instructions between lanes, and those of the LDS crossbar that do
// not touch memory.
#include "gfx942/wave_int.h"

void exec_readfirstlane(Wave *w, const IsaInstr *in)
{
    uint64_t exec = wave_exec(w);
    int lane = exec ? __builtin_ctzll(exec) : 0;
    VectorSpace space;
    scalar_put(w, in->dst,
               vector_source(w, in, 0, VALU_U32, space)[lane]);
}

void exec_readlane(Wave *w, const IsaInstr *in)
{
    VectorSpace space;
    uint32_t lane = scalar_get(w, in->src[1], in) & 63;
    scalar_put(w, in->dst, vector_source(w, in, 0, VALU_U32, space)[lane]);
}

// EXEC does not matter to it.
void exec_writelane(Wave *w, const IsaInstr *in)
{
    uint32_t lane = scalar_get(w, in->src[1], in) & 63;
    vector_row(w, in->dst)[lane] = scalar_get(w, in->src[0], in);
}

void exec_swap(Wave *w, const IsaInstr *in)
{
    uint32_t first[LANES], second[LANES];
    if (in->src[0] < OPERAND_VGPR) {
        wave_stop(w, GFX_MODE, 0);
        return;
    }
    memcpy(first, vector_row(w, in->dst), sizeof first);
    memcpy(second, vector_row(w, in->src[0]), sizeof second);
    vector_write(w, in->dst, second, 1, wave_exec(w));
    vector_write(w, in->src[0], first, 1, wave_exec(w));
}

// op_sel chooses a register of the first pair for the lower result, op_sel_hi
// one of the second pair for the upper.
void exec_pk_mov(Wave *w, const IsaInstr *in)
{
    VectorSpace space[2];
    uint32_t made[2 * LANES];
    IsaInstr plain = *in;
    plain.op_sel = 0;
    plain.op_sel_hi = 7;
    for (int i = 0; i < 2; i++) {
        const uint32_t *from = vector_source(w, &plain, i, VALU_U64, space[i]);
        int chosen = i == 0 ? in->op_sel & 1 : in->op_sel >> 1 & 1;
        memcpy(made + i * LANES, from + chosen * LANES,
               sizeof(uint32_t[LANES]));
    }
    vector_write(w, in->dst, made, 2, wave_exec(w));
}

// ---- ds_permute, ds_bpermute, ds_swizzle ------------------------------------

static void deliver(Wave *w, const IsaInstr *in, const uint32_t made[LANES])
{
    Group *g = w->group;
    g->count[COUNT_LDS]++;
    vector_write(w, in->dst, made, 1, wave_exec(w));
    w->sequence++;
    wait_push_shared(w, in->dst, 1);
}

// An inactive lane is read as zero.
void exec_bpermute(Wave *w, const IsaInstr *in)
{
    const uint32_t *address = vector_row(w, in->src[0]);
    const uint32_t *data = vector_row(w, in->src[1]);
    uint64_t exec = wave_exec(w);
    uint32_t made[LANES];
    for (int i = 0; i < LANES; i++) {
        uint32_t from = (address[i] + (uint32_t)in->offset) >> 2 & 63;
        made[i] = exec >> from & 1 ? data[from] : 0;
    }
    deliver(w, in, made);
}

void exec_permute(Wave *w, const IsaInstr *in)
{
    const uint32_t *address = vector_row(w, in->src[0]);
    const uint32_t *data = vector_row(w, in->src[1]);
    uint64_t exec = wave_exec(w);
    uint32_t made[LANES] = {0};
    for (int i = 0; i < LANES; i++)
        if (exec >> i & 1)
            made[(address[i] + (uint32_t)in->offset) >> 2 & 63] = data[i];
    deliver(w, in, made);
}

// In groups of 32 lanes: and, or, xor masks of the lane; or four lanes of four.
static int swizzled(int offset, int lane)
{
    if (offset & 0x8000)
        return (lane & ~3) | (offset >> 2 * (lane & 3) & 3);
    int at = ((lane & 31 & (offset & 31)) | (offset >> 5 & 31))
             ^ (offset >> 10 & 31);
    return (lane & 32) | at;
}

void exec_swizzle(Wave *w, const IsaInstr *in)
{
    const uint32_t *data = vector_row(w, in->src[0]);
    uint64_t exec = wave_exec(w);
    uint32_t made[LANES];
    for (int i = 0; i < LANES; i++) {
        int from = swizzled(in->offset, i);
        made[i] = exec >> from & 1 ? data[from] : 0;
    }
    deliver(w, in, made);
}
