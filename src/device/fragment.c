// fragment.c - which lane's register holds which element of a matrix operand.
//
// NVIDIA: a lane is 4 g + t. Think in 32-bit words along k: a word holds one
// tf32, two f16 or four bytes. AMD: a lane holds P successive k of one row.
// docs/devices.md has the formulas; the MFMA ones are one formula for all.
#include "device/fragment.h"

// ---- sizes -----------------------------------------------------------------

static int operand_bits(const DeviceMma *m, FragmentOperand operand)
{
    MmaType t = operand == FRAGMENT_A   ? m->a
                : operand == FRAGMENT_B ? m->b : m->acc;
    return mma_type_info(t)->bits;
}

static int lanes_of(const DeviceMma *m)
{
    return m->unit == MMA_UNIT_MFMA ? 64 : m->unit == MMA_UNIT_WGMMA ? 128 : 32;
}

Fragment fragment_of(const DeviceMma *m, FragmentOperand operand)
{
    Fragment f = {
        .in_registers = m->unit != MMA_UNIT_WGMMA || operand != FRAGMENT_B,
        .lanes = lanes_of(m), .bits = operand_bits(m, operand),
        .rows = operand == FRAGMENT_B ? m->k : m->m,
        .columns = operand == FRAGMENT_A ? m->k : m->n, .blocks = m->blocks,
    };
    if (!f.in_registers)
        return f;
    f.elements = f.rows * f.columns * f.blocks / f.lanes;
    f.registers = (f.elements * f.bits + 31) / 32;
    return f;
}

void fragment_register(const Fragment *f, int element, int *number, int *bit)
{
    *number = element * f->bits / 32;
    *bit = element * f->bits % 32;
}

// ---- NVIDIA ----------------------------------------------------------------

// A of an mma.sync, or of the 16 rows that a warp of a wgmma has: register r
// is row g + 8 (r & 1), word t + 4 (r / 2) of k; m8n8k4 has row g alone.
static FragmentCell nvidia_a(const DeviceMma *m, int lane, int e)
{
    int warp = lane / 32, g = lane % 32 / 4, t = lane % 4;
    int bits = operand_bits(m, FRAGMENT_A);
    int word = bits < 32 ? 32 / bits : 1;       // elements of a word
    int r = e / word, s = e % word, tall = m->m >= 16;
    int row = g + (tall ? 8 * (r & 1) : 0), step = tall ? r >> 1 : r;
    return (FragmentCell){16 * warp + row, word * (t + 4 * step) + s, 0};
}

static FragmentCell nvidia_b(const DeviceMma *m, int lane, int e)
{
    int g = lane / 4, t = lane % 4, bits = operand_bits(m, FRAGMENT_B);
    int word = bits < 32 ? 32 / bits : 1;
    return (FragmentCell){word * (t + 4 * (e / word)) + e % word, g, 0};
}

// C and D: pairs of columns 2t, 2t + 1; rows g and g + 8; every 8 columns.
static FragmentCell nvidia_c(const DeviceMma *m, int lane, int e)
{
    int warp = lane / 32, g = lane % 32 / 4, t = lane % 4;
    int tall = m->m >= 16, r = e >> 1;
    int row = g + (tall ? 8 * (r & 1) : 0), step = tall ? r >> 1 : r;
    return (FragmentCell){16 * warp + row, 8 * step + 2 * t + (e & 1), 0};
}

// ---- AMD -------------------------------------------------------------------

static FragmentCell amd_a(const DeviceMma *m, int lane, int e, int size)
{
    int per_lane = m->m * m->k * m->blocks / 64;
    return (FragmentCell){lane % size,
                          per_lane * (lane / (size * m->blocks)) + e,
                          lane / size % m->blocks};
}

static FragmentCell amd_c(const DeviceMma *m, int lane, int r)
{
    if (m->acc == MMA_F64 && m->m == 4)
        return (FragmentCell){lane / 16, lane % 4, lane / 4 % 4};
    if (m->acc == MMA_F64)
        return (FragmentCell){4 * r + lane / 16, lane % 16, 0};
    switch (m->m) {
    case 4:
        return (FragmentCell){r, lane % 4, lane / 4};
    case 16:
        return (FragmentCell){4 * (lane / 16) + r % 4, lane % 16, r / 4};
    default:
        return (FragmentCell){8 * (r / 4 % 4) + 4 * (lane / 32) + r % 4,
                              lane % 32, r / 16};
    }
}

static FragmentCell amd_cell(const DeviceMma *m, FragmentOperand operand,
                             int lane, int e)
{
    if (operand == FRAGMENT_C)
        return amd_c(m, lane, e);
    if (operand == FRAGMENT_A)
        return amd_a(m, lane, e, m->m);
    FragmentCell c = amd_a(m, lane, e, m->n);
    return (FragmentCell){c.column, c.row, c.block};
}

// ---- both ------------------------------------------------------------------

FragmentCell fragment_cell(const DeviceMma *m, FragmentOperand operand,
                           int lane, int element)
{
    if (m->unit == MMA_UNIT_MFMA)
        return amd_cell(m, operand, lane, element);
    if (operand == FRAGMENT_A)
        return nvidia_a(m, lane, element);
    if (operand == FRAGMENT_B)
        return nvidia_b(m, lane, element);
    return nvidia_c(m, lane, element);
}

void fragment_find(const DeviceMma *m, FragmentOperand operand,
                   FragmentCell cell, int *lane, int *element)
{
    Fragment f = fragment_of(m, operand);
    for (*lane = 0; *lane < f.lanes; ++*lane) {
        for (*element = 0; *element < f.elements; ++*element) {
            FragmentCell c = fragment_cell(m, operand, *lane, *element);
            if (c.row == cell.row && c.column == cell.column &&
                c.block == cell.block)
                return;
        }
    }
    BUG("no lane holds row %d, column %d, block %d of %s", cell.row,
        cell.column, cell.block, m->name);
}
