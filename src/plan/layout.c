// layout.c - fragments as tables: which thread holds which element.
//
// A matrix instruction works on 16 x 16 (or 16 x 8, 16 x 32) micro tiles. A
// warp has wr x wc of them; within one, `lane` and `local` say where an
// element is, and the formulas below place micro tiles in warps.
#include "plan/plan_int.h"

PlanFragment *plan_fragment_new(PlanState *p, const IrBuffer *b, int replicas)
{
    PlanFragment *f = new (p->arena, PlanFragment);

    f->rank = b->rank;
    f->elements = 1;
    for (int d = 0; d < b->rank; d++) {
        f->shape[d] = 1;
        ir_is_int(b->shape[d], &f->shape[d]);
        f->elements *= (int)f->shape[d];
    }
    f->replicas = replicas;
    f->local = new_array(p->arena, int32_t, f->elements);
    f->thread = new_array(p->arena, int32_t, (size_t)f->elements * replicas);
    return f;
}

static void count_locals(PlanFragment *f)
{
    f->locals = 0;
    for (int e = 0; e < f->elements; e++)
        if (f->local[e] >= f->locals)
            f->locals = f->local[e] + 1;
}

// ---- the accumulator of a gemm ---------------------------------------------

typedef struct {
    int thread, local;
} Spot;

// The part of C that one warp has.
static int warp_rows(const PlanGemm *g)
{
    return (int)g->shape.m / g->m_warps;
}

static int warp_cols(const PlanGemm *g)
{
    return (int)g->shape.n / g->n_warps;
}

// mma.sync and wgmma: lane 4 (i % 8) + (j % 8) / 2 holds pairs of columns.
static Spot nvidia_c(const PlanGemm *g, int i, int j)
{
    int rows = warp_rows(g), cols = warp_cols(g);
    int wide = cols % 16 ? 8 : 16, per = wide / 2;
    int wr = rows / 16, wc = cols / wide;
    int right = wide == 16 ? j % 16 / 8 : 0, low = i % 16 / 8;
    Spot s = {4 * (i % 8) + j % 8 / 2, 0};

    s.thread += 32 * g->m_warps * (j / cols);
    if (g->unit == PLAN_WGMMA) {
        s.thread += 32 * (i / 16 % 4) + 128 * (i / (64 * wr));
        s.local = per * wc * (i / 64 % wr);
    } else {
        s.thread += 32 * (i / rows);
        s.local = per * wc * (i / 16 % wr);
    }
    s.local += per * (j / wide % wc) + 4 * right + 2 * low + j % 2;
    return s;
}

// MFMA with operands exchanged: a lane holds 4 columns of one row, and of
// 32 x 32 results the 4 columns 8, 16 and 24 after them.
static Spot amd_c(const PlanGemm *g, int i, int j)
{
    int rows = warp_rows(g), cols = warp_cols(g), wide = g->wide;
    int row = plan_micro_row(i % rows, wide, g->m_mix);
    int col = plan_micro_row(j % cols, wide, g->n_mix);
    int lanes = plan_row_lanes(g), per = wide / lanes;

    return (Spot){
        row + wide * (col / 4 % lanes) + 64 * (i / rows) +
            64 * g->m_warps * (j / cols),
        plan_micro(i % rows, wide, g->m_mix) * per * (cols / wide) +
            plan_micro(j % cols, wide, g->n_mix) * per +
            col / (4 * lanes) * 4 + col % 4,
    };
}

// Threads and locals are sums of a part that the row decides and one that the
// column decides.
static PlanFragment *accumulator(PlanState *p, const PlanGemm *g)
{
    PlanFragment *f = plan_fragment_new(p, g->c, 1);
    int m = (int)g->shape.m, n = (int)g->shape.n;
    Spot *row = new_array(p->arena, Spot, m + n), *col = row + m;
    bool amd = g->unit == PLAN_MFMA;

    for (int i = 0; i < m; i++)
        row[i] = amd ? amd_c(g, i, 0) : nvidia_c(g, i, 0);
    for (int j = 0; j < n; j++)
        col[j] = amd ? amd_c(g, 0, j) : nvidia_c(g, 0, j);
    for (int e = 0; e < f->elements; e++) {
        int i = e / n % m, j = e % n;
        f->local[e] = row[i].local + col[j].local;
        f->thread[e] = row[i].thread + col[j].thread;
    }
    count_locals(f);
    return f;
}

// ---- operands in registers -------------------------------------------------

// Row x of M (or column of N) and k, of the micro tile at (micro, k / width).
static Spot nvidia_operand(const PlanGemm *g, const IrBuffer *b, int x, int k,
                           int *width)
{
    int word = 32 / dtype_info(b->dtype)->bits;     // elements of a register
    int half = k % (8 * word) / (4 * word), low = x % 16 / 8;
    bool is_b = b == g->b;

    *width = 8 * word;
    return (Spot){4 * (x % 8) + k % (4 * word) / word,
                  (is_b ? 2 * low + half : 2 * half + low) * word + k % word};
}

static Spot amd_operand(const PlanGemm *g, int x, int k, int *width)
{
    int lanes = plan_row_lanes(g), per = g->inst_k * g->k_pack / lanes;

    *width = lanes * per;
    return (Spot){x % g->wide + g->wide * (k % *width / per), k % per};
}

// Of the first of the warps along the other operand, which all hold the same.
static Spot operand_spot(const PlanGemm *g, int x, int k, bool is_b)
{
    int size = (int)(is_b ? g->shape.n : g->shape.m);
    bool amd = g->unit == PLAN_MFMA;
    int wide = amd ? g->wide : 16, width;
    int mine = is_b ? g->n_warps : g->m_warps, wr = size / mine / wide;
    int tile = x / (wide * wr), micro = x / wide % wr;
    Spot s = amd ? amd_operand(g, x, k, &width)
                 : nvidia_operand(g, is_b ? g->b : g->a, x, k, &width);
    int per = amd ? width / plan_row_lanes(g) : width / 2;  // of a micro tile

    if (g->unit == PLAN_WGMMA) {
        tile = x / 16 % mine;
        micro = x / (16 * mine);
    }
    s.local += per * (micro + wr * (k / width));
    s.thread += (amd ? 64 : 32) * (is_b ? g->m_warps : 1) * tile;
    return s;
}

static PlanFragment *operand(PlanState *p, const PlanGemm *g, bool is_b)
{
    const IrBuffer *b = is_b ? g->b : g->a;
    PlanFragment *f = plan_fragment_new(p, b, is_b ? g->m_warps : g->n_warps);
    bool k_rows = is_b ? !g->shape.trans_b : g->shape.trans_a;
    int cols = (int)f->shape[f->rank - 1], rows = f->elements / cols;
    int next = (g->unit == PLAN_MFMA ? 64 : 32) * (is_b ? 1 : g->m_warps);
    Spot *row = new_array(p->arena, Spot, rows + cols), *col = row + rows;

    for (int i = 0; i < rows; i++)
        row[i] = operand_spot(g, k_rows ? 0 : i, k_rows ? i : 0, is_b);
    for (int j = 0; j < cols; j++)
        col[j] = operand_spot(g, k_rows ? j : 0, k_rows ? 0 : j, is_b);
    for (int e = 0; e < f->elements; e++) {
        int i = e / cols, j = e % cols;
        f->local[e] = row[i].local + col[j].local;
        for (int r = 0; r < f->replicas; r++)
            f->thread[(size_t)r * f->elements + e] =
                row[i].thread + col[j].thread + r * next;
    }
    count_locals(f);
    return f;
}

PlanFragment *plan_gemm_fragment(PlanState *p, const PlanGemm *g,
                                 const IrBuffer *b)
{
    return b == g->c ? accumulator(p, g) : operand(p, g, b == g->b);
}

// ---- layouts from others ---------------------------------------------------

enum { MARKS = PLAN_MAX_THREADS / 64 };

// Threads in ascending order, each once; bits of `mark` are clear before and
// after.
static int sort_unique(int32_t *at, int n, uint64_t mark[MARKS])
{
    int kept = 0;

    if (n == 1)
        return 1;
    for (int i = 0; i < n; i++)
        mark[at[i] / 64] |= UINT64_C(1) << at[i] % 64;
    for (int w = 0; w < MARKS; w++)
        for (; mark[w]; mark[w] &= mark[w] - 1)
            at[kept++] = 64 * w + __builtin_ctzll(mark[w]);
    return kept;
}

PlanFragment *plan_condense(PlanState *p, const IrBuffer *b,
                            const int32_t *thread, int replicas)
{
    PlanFragment *f = plan_fragment_new(p, b, replicas);
    int32_t *set = new_array(p->arena, int32_t, replicas + PLAN_MAX_THREADS);
    int32_t *held = new_array(p->arena, int32_t, PLAN_MAX_THREADS);
    uint64_t mark[MARKS] = {0};
    int fewest = replicas;

    for (int e = 0; e < f->elements; e++) {
        for (int r = 0; r < replicas; r++)
            set[r] = thread[(size_t)r * f->elements + e];
        int n = sort_unique(set, replicas, mark);
        for (int r = 0; r < n; r++)
            f->thread[(size_t)r * f->elements + e] = set[r];
        if (n < fewest)
            fewest = n;
        f->local[e] = held[set[0]]++;
    }
    f->replicas = fewest;
    count_locals(f);
    return f;
}
