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

// MFMA with operands exchanged: a lane holds 4 columns of one row.
static Spot amd_c(const PlanGemm *g, int i, int j)
{
    int rows = warp_rows(g), cols = warp_cols(g);
    int wr = rows / 16, wc = cols / 16;

    return (Spot){
        i % 16 + 16 * (j % 16 / 4) + 64 * (i / rows) +
            64 * g->m_warps * (j / cols),
        i / 16 % wr * 4 * wc + j / 16 % wc * 4 + j % 4,
    };
}

static PlanFragment *accumulator(PlanState *p, const PlanGemm *g)
{
    PlanFragment *f = plan_fragment_new(p, g->c, 1);
    int n = (int)g->shape.n;

    for (int e = 0; e < f->elements; e++) {
        int i = e / n % (int)g->shape.m, j = e % n;
        Spot s = g->unit == PLAN_MFMA ? amd_c(g, i, j) : nvidia_c(g, i, j);
        f->local[e] = s.local;
        f->thread[e] = s.thread;
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
    int per = g->inst_k * g->k_pack / 4;

    *width = 4 * per;
    return (Spot){x % 16 + 16 * (k % *width / per), k % per};
}

// The `other` warps along the other operand hold the same elements.
static void place(const PlanGemm *g, PlanFragment *f, int e, int x, int k,
                  bool is_b)
{
    int size = (int)(is_b ? g->shape.n : g->shape.m);
    int mine = is_b ? g->n_warps : g->m_warps, wr = size / mine / 16, width;
    int tile = x / (16 * wr), micro = x / 16 % wr;
    bool amd = g->unit == PLAN_MFMA;
    Spot s = amd ? amd_operand(g, x, k, &width)
                 : nvidia_operand(g, is_b ? g->b : g->a, x, k, &width);
    int per = amd ? width / 4 : width / 2;          // locals of a micro tile

    if (g->unit == PLAN_WGMMA) {
        tile = x / 16 % mine;
        micro = x / (16 * mine);
    }
    f->local[e] = s.local + per * (micro + wr * (k / width));
    for (int r = 0; r < f->replicas; r++) {
        int warp = is_b ? r + g->m_warps * tile : tile + g->m_warps * r;
        f->thread[r * f->elements + e] = s.thread + (amd ? 64 : 32) * warp;
    }
}

static PlanFragment *operand(PlanState *p, const PlanGemm *g, bool is_b)
{
    const IrBuffer *b = is_b ? g->b : g->a;
    PlanFragment *f = plan_fragment_new(p, b, is_b ? g->m_warps : g->n_warps);
    bool k_rows = is_b ? !g->shape.trans_b : g->shape.trans_a;
    int cols = (int)f->shape[f->rank - 1];

    for (int e = 0; e < f->elements; e++) {
        int row = e / cols, col = e % cols;
        place(g, f, e, k_rows ? col : row, k_rows ? row : col, is_b);
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

// Threads in ascending order, each once; `mark` is clear before and after.
static int sort_unique(int32_t *at, int n, bool *mark)
{
    int kept = 0;

    for (int i = 0; i < n; i++)
        mark[at[i]] = true;
    for (int t = 0; t < PLAN_MAX_THREADS; t++) {
        if (mark[t])
            at[kept++] = t;
        mark[t] = false;
    }
    return kept;
}

PlanFragment *plan_condense(PlanState *p, const IrBuffer *b,
                            const int32_t *thread, int replicas)
{
    PlanFragment *f = plan_fragment_new(p, b, replicas);
    int32_t *set = new_array(p->arena, int32_t, replicas + PLAN_MAX_THREADS);
    int32_t *held = new_array(p->arena, int32_t, PLAN_MAX_THREADS);
    bool *mark = new_array(p->arena, bool, PLAN_MAX_THREADS);
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
