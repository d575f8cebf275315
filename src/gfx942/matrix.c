// matrix.c - v_mfma: registers to tiles, num's arithmetic, and back.
//
// EXEC does not matter to these instructions.
#include "gfx942/wave_int.h"

#include "device/fragment.h"

enum { MOST_ELEMENTS = 32, MOST_TILE_BYTES = 8192 };

typedef struct MatrixPlan {
    DeviceMma mma;
    MmaSpec spec;
    int registers[2];                           // of A and B, of a lane
    // Where a lane's piece of A and B begins, in bytes of the packed tiles:
    // its elements are neighbours along k.
    uint16_t piece[2][LANES];
    int elements, registers_each;               // of C
    uint16_t cell[LANES][MOST_ELEMENTS];        // of C, in elements
} MatrixPlan;

static void plan_piece(MatrixPlan *p, FragmentOperand operand)
{
    const DeviceMma *m = &p->mma;
    Fragment f = fragment_of(m, operand);
    p->registers[operand] = f.registers;
    for (int lane = 0; lane < LANES; lane++) {
        FragmentCell c = fragment_cell(m, operand, lane, 0);
        int row = operand == FRAGMENT_A ? c.row : c.column;
        int k = operand == FRAGMENT_A ? c.column : c.row;
        int rows = operand == FRAGMENT_A ? m->m : m->n;
        p->piece[operand][lane] =
            (uint16_t)(((c.block * rows + row) * m->k + k) * f.bits / 8);
    }
}

static void plan_result(MatrixPlan *p)
{
    const DeviceMma *m = &p->mma;
    Fragment f = fragment_of(m, FRAGMENT_C);
    p->elements = f.elements;
    p->registers_each = f.bits / 32;
    for (int lane = 0; lane < LANES; lane++)
        for (int e = 0; e < f.elements; e++) {
            FragmentCell c = fragment_cell(m, FRAGMENT_C, lane, e);
            p->cell[lane][e] =
                (uint16_t)((c.block * m->m + c.row) * m->n + c.column);
        }
}

MatrixPlan *matrix_plan(Arena *a, const Device *d, IsaOp op)
{
    MatrixPlan *p = new(a, MatrixPlan);
    const char *why;
    if (!mma_find(d, text_of(isa_info(op)->name), &p->mma, &why)
        || !device_mma_spec(d, &p->mma, &p->spec))
        return NULL;
    plan_piece(p, FRAGMENT_A);
    plan_piece(p, FRAGMENT_B);
    plan_result(p);
    return p;
}

static void take_operand(Wave *w, const MatrixPlan *p, int operand,
                         uint16_t from, uint8_t *tile)
{
    const uint32_t *row = vector_row(w, from);
    for (int r = 0; r < p->registers[operand]; r++, row += LANES)
        for (int lane = 0; lane < LANES; lane++)
            memcpy(tile + p->piece[operand][lane] + 4 * r, &row[lane], 4);
}

static void take_c(Wave *w, const MatrixPlan *p, const IsaInstr *in,
                   uint32_t *tile)
{
    int each = p->registers_each;
    uint16_t c = in->src[2];
    uint64_t constant = c >= OPERAND_VGPR ? 0
                        : each == 2       ? scalar_get64(w, c, in)
                                          : scalar_get(w, c, in);
    const uint32_t *row = c >= OPERAND_VGPR ? vector_row(w, c) : NULL;
    for (int e = 0; e < p->elements; e++)
        for (int r = 0; r < each; r++)
            for (int lane = 0; lane < LANES; lane++)
                tile[p->cell[lane][e] * each + r] =
                    row ? row[(e * each + r) * LANES + lane]
                        : (uint32_t)(constant >> 32 * r);
}

static void put_d(Wave *w, const MatrixPlan *p, uint16_t dst,
                  const uint32_t *tile)
{
    int each = p->registers_each;
    uint32_t *row = vector_row(w, dst);
    for (int e = 0; e < p->elements; e++)
        for (int r = 0; r < each; r++, row += LANES)
            for (int lane = 0; lane < LANES; lane++)
                row[lane] = tile[p->cell[lane][e] * each + r];
}

static void multiply(const MatrixPlan *p, const uint8_t *a, const uint8_t *b,
                     uint32_t *c)
{
    const DeviceMma *m = &p->mma;
    int a_bits = mma_type_info(m->a)->bits, b_bits = mma_type_info(m->b)->bits;
    for (int block = 0; block < m->blocks; block++) {
        uint32_t *tile = c + block * m->m * m->n * p->registers_each;
        MmaTile t = {
            .m = m->m, .n = m->n, .k = m->k,
            .a = a + block * m->m * m->k * a_bits / 8,
            .b = b + block * m->n * m->k * b_bits / 8,
            .c = tile, .d = tile,
            .lda = m->k, .ldb = m->k, .ldc = m->n, .ldd = m->n,
        };
        mma_tile(&p->spec, MMA_PATH_VECTOR, &t);
    }
}

void exec_matrix(Wave *w, const IsaInstr *in)
{
    const MatrixPlan *p = w->group->run->matrix[in->op];
    uint8_t a[MOST_TILE_BYTES], b[MOST_TILE_BYTES];
    uint32_t c[MOST_TILE_BYTES / 4];
    bool sources = in->src[0] >= OPERAND_VGPR && in->src[1] >= OPERAND_VGPR;
    if (!p || !sources || in->cbsz || in->abid || in->blgp) {
        wave_stop(w, p ? GFX_MODE : GFX_UNSUPPORTED, 0);
        return;
    }
    w->group->count[COUNT_MFMA]++;
    w->group->count[COUNT_LANES] += LANES;
    take_operand(w, p, FRAGMENT_A, in->src[0], a);
    take_operand(w, p, FRAGMENT_B, in->src[1], b);
    take_c(w, p, in, c);
    multiply(p, a, b, c);
    put_d(w, p, in->dst, c);
}
