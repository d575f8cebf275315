// gemm.c - T.gemm by mma.sync, or by the threads themselves.
//
// A warp multiplies its part of the tile 16 x 8 results at a time. Operands in
// shared memory are read by ldmatrix where their rows lie along k and start at
// 16 bytes (or, of 16 bits, across k, transposed), else element by element.
#include "gpu_backend/gemm.h"

static const PlanGemm *plan_of(const Emit *e, const IrStmt *s)
{
    for (int i = 0; i < e->launch->gemm_count; i++)
        if (e->launch->gemms[i].stmt == s)
            return &e->launch->gemms[i];
    return NULL;
}

static Text min_of(Emit *e, const IrRegion *r, int d)
{
    if (r->form == REGION_WHOLE || !r->min[d])
        return TEXT("0");
    return expr(e, r->min[d]);
}

Matrix gemm_matrix(const PlanGemm *g, bool is_b)
{
    const IrGemmShape *h = &g->shape;
    const IrRegion *r = g->stmt->operand[h->operand[is_b]].region;

    return is_b ? (Matrix){r, g->b, h->b_col, h->b_row, NULL, NULL}
                : (Matrix){r, g->a, h->a_row, h->a_col, NULL, NULL};
}

Text gemm_at(Emit *e, const Matrix *m, Text row, Text col)
{
    Text index[IR_MAX_RANK];
    const IrBuffer *b = m->buffer;

    for (int d = 0; d < b->rank; d++) {
        index[d] = min_of(e, m->region, d);
        if (d == m->row)
            index[d] = sum(e, index[d], row);
        if (d == m->col)
            index[d] = sum(e, index[d], col);
    }
    return text_format(e->arena, "%.*s[%.*s]", TEXT_ARG(e->buffer[b->id]),
                       TEXT_ARG(shared_offset(e, b, index)));
}

// Whether rows of 8 more are that much further on, whatever the swizzle.
static bool repeats(Emit *e, const Matrix *m)
{
    const IrBuffer *b = m->buffer;
    const PlanShared *s = &e->plan->shared[root_buffer(m->buffer)->id];

    return s->swizzle && b->rank > 1 && !b->alias_of && in_shared(e, b) &&
           m->region->form == REGION_WHOLE;
}

Text gemm_at_base(Emit *e, const Matrix *m, Text row, Text col, Text base)
{
    bool is_row = m->row == m->buffer->rank - 2;

    if (!repeats(e, m))
        return is_row ? gemm_at(e, m, sum(e, base, row), col)
                      : gemm_at(e, m, row, sum(e, base, col));
    const PlanShared *s = &e->plan->shared[root_buffer(m->buffer)->id];
    Text at = gemm_at(e, m, row, col);
    at.len--;                                   // its bracket
    return text_format(e->arena, "%.*s + (%.*s) * %d]", TEXT_ARG(at),
                       TEXT_ARG(base), s->swizzle * 128 / gemm_bits(m));
}

// An element of A: of a sparse one 0, unless its group keeps it.
static Text operand_at(Emit *e, const Matrix *m, Text row, Text k)
{
    const IrGemmShape *g = m->sparse;

    if (!g)
        return gemm_at(e, m, row, k);
    int word = gemm_bits(m->places) / 4;    // groups that one of E describes
    Text group = text_format(e->arena, "(%.*s) / %d", TEXT_ARG(k), g->group);
    Text places = gemm_at(e, m->places, row,
                          text_format(e->arena, "%.*s / %d", TEXT_ARG(group),
                                      word));
    Text all = text_format(e->arena, "kept_of_%s((u32)%.*s >> %.*s %% %d * 4, "
                           "(%.*s) %% %d", g->kept == 1 ? "two" : "four",
                           TEXT_ARG(places), TEXT_ARG(group), word,
                           TEXT_ARG(k), g->group);
    for (int r = 0; r < g->kept; r++) {
        Text at = text_format(e->arena, "%.*s * %d + %d", TEXT_ARG(group),
                              g->kept, r);
        all = text_format(e->arena, "%.*s, %.*s", TEXT_ARG(all),
                          TEXT_ARG(gemm_at(e, m, row, at)));
    }
    return text_format(e->arena, "%.*s)", TEXT_ARG(all));
}

// Those of 4 bits are multiplied as 8.
int gemm_bits(const Matrix *m)
{
    int bits = dtype_info(m->buffer->dtype)->bits;
    return bits < 8 ? 8 : bits;
}

// ---- without a matrix unit -------------------------------------------------

static const char *calculated_in(DType c)
{
    return c == DT_F64 ? "double" : dtype_is_float(c) ? "float" : type_of(c);
}

static Text as_calculated(Emit *e, DType c, DType from, Text x)
{
    if (c == DT_F64)
        return convert(e, DT_F64, from, false, x, true);
    if (dtype_is_float(c))
        return convert(e, DT_F32, from, false, x, true);
    return text_format(e->arena, "(%s)%.*s", type_of(c), TEXT_ARG(x));
}

static void point_of_c(Emit *e, const PlanGemm *g, const Matrix *a,
                       const Matrix *b, Spot *p)
{
    DType c = g->c->dtype;
    const char *type = calculated_in(c);
    Text i = e->dist->index[0], j = e->dist->index[1];
    Text old = element(e, p);

    line(e, "%s sum0 = %.*s;", type, TEXT_ARG(as_calculated(e, c, c, old)));
    // Written out whole, the loops of all elements share what they read, which
    // takes registers without end.
    if (e->dialect->vendor == VENDOR_AMD && in_shared(e, a->buffer) &&
        in_shared(e, b->buffer))
        line(e, "#pragma unroll 8");
    open_brace(e, "for (int k0 = 0; k0 < %lld; k0++) {", (long long)g->shape.k);
    line(e, "const %s x0 = %.*s;", type,
         TEXT_ARG(as_calculated(e, c, a->buffer->dtype,
                                operand_at(e, a, i, TEXT("k0")))));
    line(e, "const %s y0 = %.*s;", type,
         TEXT_ARG(as_calculated(e, c, b->buffer->dtype,
                                gemm_at(e, b, j, TEXT("k0")))));
    if (dtype_is_float(c))
        line(e, "sum0 = %s(x0, y0, sum0);", c == DT_F64 ? "fma" : "fmaf");
    else
        line(e, "sum0 += x0 * y0;");
    close_brace(e);
    Text r = is_narrow(c) ? narrow(e, c, TEXT("sum0")) : TEXT("sum0");
    line(e, "%.*s = %.*s;", TEXT_ARG(old), TEXT_ARG(r));
}

static void by_threads(Emit *e, const PlanGemm *g, const Matrix *a,
                       const Matrix *b)
{
    IrBuffer *c = g->c;
    const IrRegion *r = g->stmt->operand[g->shape.operand[2]].region;
    IrExpr *min[IR_MAX_RANK] = {0};
    int map[IR_MAX_RANK];
    Dist d = {.stmt = g->stmt, .rank = 2,
              .extent = {g->shape.m, g->shape.n}};

    for (int i = 0; i < c->rank; i++) {
        map[i] = i == g->shape.c_row ? 0 : i == g->shape.c_col ? 1 : -1;
        min[i] = r->form == REGION_WHOLE ? NULL : r->min[i];
    }
    if (in_registers(e, c)) {
        if (c->rank != 2 || r->form != REGION_WHOLE) {
            refuse(e, "T.gemm into a part of '%.*s'", TEXT_ARG(c->name));
            return;
        }
        d.layout = e->plan->fragments[c->id];
    }
    dist_open(e, &d);
    Spot p = place_of_side(e, c, min, map);
    point_of_c(e, g, a, b, &p);
    dist_close(e, &d);
}

// ---- operands in shared memory ---------------------------------------------

// Each register is `word` elements along k.
static void read_plain(Emit *e, const Matrix *m, const char *to, int regs,
                       bool is_a, Text base, Text first)
{
    int word = 32 / gemm_bits(m);
    const char *row = is_a ? "lane / 4 + r0 % 2 * 8" : "lane / 4";
    const char *step = is_a ? "r0 / 2" : "r0";
    Text all = {0};

    line(e, "stay_behind();");
    line(e, "#pragma unroll");
    open_brace(e, "for (int r0 = 0; r0 < %d; r0++) {", regs);
    line(e, "const int x0 = %.*s + %s;", TEXT_ARG(base), row);
    line(e, "const int y0 = %.*s + (lane %% 4 + 4 * (%s)) * %d;",
         TEXT_ARG(first), step, word);
    for (int i = 0; i < word; i++) {
        Text k = i ? text_format(e->arena, "y0 + %d", i) : TEXT("y0");
        Text x = operand_at(e, m, TEXT("x0"), k);
        all = i ? text_format(e->arena, "%.*s, %.*s", TEXT_ARG(all),
                              TEXT_ARG(x))
                : x;
    }
    line(e, "%s[r0] = pack(%.*s);", to, TEXT_ARG(all));
    close_brace(e);
}

// Lane groups of 8 give the rows of one 8 x 8 tile (of 16 bits) each.
static void read_matrix(Emit *e, const Matrix *m, PlanRead kind, const char *to,
                        int tiles, bool is_a, Text base, Text k)
{
    int v = 128 / gemm_bits(m);
    const char *row, *col;

    if (kind == READ_ROWS) {
        row = is_a ? "lane % 16" : "lane % 8 + lane / 16 * 8";
        col = is_a ? "lane / 16" : "lane / 8 % 2";
    } else {
        row = is_a ? "lane / 8 % 2 * 8" : "lane / 16 * 8";
        col = is_a ? "lane % 8 + lane / 16 * 8" : "lane % 16";
    }
    if (tiles == 2) {
        row = kind == READ_ROWS ? "lane % 8" : "0";
        col = kind == READ_ROWS ? "lane / 8 % 2" : "lane % 16";
    }
    Text x = sum(e, base, text_of(row)), y = text_of(col);
    if (kind == READ_ROWS)
        y = text_format(e->arena, "%s * %d", col, v);
    line(e, "ldmatrix_x%d%s(%s, &%.*s);", tiles,
         kind == READ_COLUMNS ? "_trans" : "", to,
         TEXT_ARG(gemm_at(e, m, x, sum(e, k, y))));
}

// ---- operands in registers -------------------------------------------------

static void read_registers(Emit *e, const Matrix *m, const char *to, int regs,
                           Text first)
{
    int word = 32 / gemm_bits(m);
    Text name = e->buffer[m->buffer->id], all = {0};

    line(e, "#pragma unroll");
    line(e, "for (int r0 = 0; r0 < %d; r0++)", regs);
    for (int i = 0; i < word; i++) {
        Text x = text_format(e->arena, "%.*s[%.*s + r0 * %d + %d]",
                             TEXT_ARG(name), TEXT_ARG(first), word, i);
        all = i ? text_format(e->arena, "%.*s, %.*s", TEXT_ARG(all),
                              TEXT_ARG(x))
                : x;
    }
    line(e, "    %s[r0] = pack(%.*s);", to, TEXT_ARG(all));
}

// ---- one step along k ------------------------------------------------------

typedef struct {
    const PlanGemm *g;
    Matrix a, b;
    int rows, cols;                 // 16- and 8-wide tiles of a warp
    int part;                       // of the columns: read at a time
} Mma;

// Fragments take half of the registers that a thread can have, and with what
// is worked on not more than all.
static bool is_crowded(const Emit *e)
{
    enum { MOST = 255 };
    const PlanRegisters *r = &e->launch->registers;

    return r->fragments > MOST / 2 && r->fragments + r->operands <= MOST;
}

// Tiles of B that a warp has in registers beside its results: fewer where each
// is put together from single elements.
static int columns_at_a_time(const Emit *e, int cols, bool plain)
{
    int most = plain ? (is_crowded(e) ? 1 : 2) : 8;
    int n = cols < most ? cols : most;

    while (cols % n || (n > 1 && n % 2 && cols % 2 == 0))
        n--;
    return n;
}

static void read_a(Emit *e, const Mma *m)
{
    int wr = m->rows, regs = 4 * (32 / gemm_bits(&m->a));
    PlanRead kind = plan_reads(m->g, false);
    Text base = text_format(e->arena, "m0 + ti * 16");

    line(e, "#pragma unroll");
    open_brace(e, "for (int ti = 0; ti < %d; ti++) {", wr);
    if (in_registers(e, m->a.buffer))
        read_registers(e, &m->a, "ta[ti]", 4,
                       text_format(e->arena, "(ti + k0 / %d * %d) * %d",
                                   m->g->inst_k, wr, regs));
    else if (kind == READ_PLAIN)
        read_plain(e, &m->a, "ta[ti]", 4, true, base, TEXT("k0"));
    else
        read_matrix(e, &m->a, kind, "ta[ti]", 4, true, base, TEXT("k0"));
    close_brace(e);
}

static void read_b(Emit *e, const Mma *m)
{
    int regs = 2 * (32 / gemm_bits(&m->b));
    PlanRead kind = plan_reads(m->g, true);
    bool pairs = kind != READ_PLAIN && m->part % 2 == 0;
    Text tile = m->part < m->cols ? TEXT("(t0 + tj)") : TEXT("tj");
    Text base = text_format(e->arena, "n0 + %.*s * 8", TEXT_ARG(tile));

    if (in_registers(e, m->b.buffer))
        pairs = false;
    line(e, "#pragma unroll");
    open_brace(e, "for (int tj = 0; tj < %d; tj%s) {", m->part,
               pairs ? " += 2" : "++");
    if (in_registers(e, m->b.buffer))
        read_registers(e, &m->b, "tb[tj]", 2,
                       text_format(e->arena, "(%.*s + k0 / %d * %d) * %d",
                                   TEXT_ARG(tile), m->g->inst_k, m->cols,
                                   regs));
    else if (kind == READ_PLAIN)
        read_plain(e, &m->b, "tb[tj]", 2, false, base, TEXT("k0"));
    else
        read_matrix(e, &m->b, kind, "tb[tj]", pairs ? 4 : 2, false, base,
                    TEXT("k0"));
    close_brace(e);
}

static const char *word_of(DType t)
{
    switch (t) {
    case DT_F32:
    case DT_TF32:
        return "tf32";
    default:
        return type_of(t);
    }
}

static void multiply(Emit *e, const Mma *m)
{
    DType a = m->g->a->dtype, b = m->g->b->dtype, c = m->g->c->dtype;
    const char *word_a = word_of(a), *word_b = word_of(b);
    Text name = e->buffer[m->g->c->id];

    line(e, "#pragma unroll");
    line(e, "for (int ti = 0; ti < %d; ti++)", m->rows);
    line(e, "    #pragma unroll");
    line(e, "    for (int tj = 0; tj < %d; tj++)", m->part);
    line(e, "        mma_%s_%s(&%.*s[(ti * %d + %stj) * 4], ta[ti], tb[tj]);",
         a == b ? word_a
                : text_cstr(e->arena, text_format(e->arena, "%s_%s", word_a,
                                                  word_b)),
         c == DT_F32 ? "f32" : type_of(c), TEXT_ARG(name), m->cols,
         m->part < m->cols ? "t0 + " : "");
}

// float32 operands are rounded as the unit wants them.
static void round_operand(Emit *e, const char *name, int tiles, int regs)
{
    line(e, "#pragma unroll");
    line(e, "for (int ti = 0; ti < %d; ti++)", tiles);
    line(e, "    #pragma unroll");
    line(e, "    for (int r0 = 0; r0 < %d; r0++)", regs);
    line(e, "        %s[ti][r0] = tf32_bits(%s[ti][r0]);", name, name);
}

const IrExpr *gemm_clears(const Emit *e, const PlanGemm *g)
{
    const IrStmt *s = g->stmt;
    int at = op_param_find(op_info(e->k->ops, s->op), TEXT("clear_accum"));

    return at >= 0 && at < s->operand_count &&
                   s->operand[at].kind == OPERAND_EXPR
               ? s->operand[at].expr : NULL;
}

static void gemm_clear(Emit *e, const PlanGemm *g)
{
    const IrExpr *x = gemm_clears(e, g);
    int64_t known;
    const char *type = type_of(g->c->dtype);
    Text name = e->buffer[g->c->id];

    if (!x || (ir_is_int(x, &known) && !known))
        return;
    bool always = ir_is_int(x, &known);
    if (!always)
        open_brace(e, "if (%.*s) {", TEXT_ARG(expr(e, x)));
    if (in_registers(e, g->c)) {
        line(e, "#pragma unroll");
        line(e, "for (int l = 0; l < %d; l++)",
             e->plan->fragments[g->c->id]->locals);
        line(e, "    %.*s[l] = %s();", TEXT_ARG(name), type);
    } else {
        const IrBuffer *c = g->c;
        int64_t n = 1;
        for (int d = 0; d < c->rank; d++)
            n *= fixed_extent(c, d);
        line(e, "for (int p = tid; p < %lld; p += %d)", (long long)n,
             e->threads);
        line(e, "    %.*s[p] = %s();", TEXT_ARG(name), type);
        sync_now(e);
    }
    if (!always)
        close_brace(e);
}

static void by_warps(Emit *e, const Mma *m)
{
    const PlanGemm *g = m->g;
    int64_t steps = g->shape.k / g->inst_k;
    bool fixed = in_registers(e, m->a.buffer) || in_registers(e, m->b.buffer);

    open_brace(e, "{");
    if (is_crowded(e))
        line(e, "const int lane = anew(tid %% %d), warp = anew(tid / %d);",
             e->lanes, e->lanes);
    line(e, "const int m0 = warp %% %d * %d, n0 = warp / %d * %d;", g->m_warps,
         m->rows * 16, g->m_warps, m->cols * 8);
    line(e, fixed || steps <= 8 ? "#pragma unroll" : "#pragma unroll 2");
    open_brace(e, "for (int k0 = 0; k0 < %lld; k0 += %d) {",
               (long long)g->shape.k, g->inst_k);
    line(e, "u32 ta[%d][4];", m->rows);
    read_a(e, m);
    if (g->rounds)
        round_operand(e, "ta", m->rows, 4);
    if (m->part < m->cols) {
        line(e, "#pragma unroll");
        open_brace(e, "for (int t0 = 0; t0 < %d; t0 += %d) {", m->cols,
                   m->part);
    }
    line(e, "u32 tb[%d][2];", m->part);
    read_b(e, m);
    if (g->rounds)
        round_operand(e, "tb", m->part, 2);
    multiply(e, m);
    if (m->part < m->cols)
        close_brace(e);
    close_brace(e);
    close_brace(e);
}

// Upstream plans mma.sync of 8-bit floats for sm_80, which has none; its own
// kernels stop there.
static bool lacks_mma(const Emit *e, DType t)
{
    return e->plan->device->arch == ARCH_SM80 && dtype_is_float(t) &&
           dtype_info(t)->bits == 8;
}

static IrBuffer *places_of(const PlanGemm *g)
{
    return g->shape.group ? g->stmt->operand[g->shape.operand[3]].region->buffer
                          : NULL;
}

void gemm(Emit *e, IrStmt *s)
{
    const PlanGemm *g = plan_of(e, s);

    if (!g || e->divergent || e->dist) {
        refuse(e, "%s here", op_surface(s->op));
        return;
    }
    if (g->unit == PLAN_MMA && lacks_mma(e, g->a->dtype)) {
        refuse(e, "%s of %s for %s", op_surface(s->op),
               dtype_info(g->a->dtype)->name, device_arch_name(e->plan->device));
        return;
    }
    const IrGemmShape *h = &g->shape;
    const Matrix places = {h->group ? s->operand[h->operand[3]].region : NULL,
                           places_of(g), h->e_row, h->e_col, NULL, NULL};
    Mma m = {.g = g, .a = gemm_matrix(g, false), .b = gemm_matrix(g, true)};
    m.a.sparse = h->group ? h : NULL;
    m.a.places = &places;
    sync_before(e, s);
    if (g->unit == PLAN_MFMA) {
        gemm_clear(e, g);
        mfma(e, g, &m.a, &m.b);
        return;
    }
    if (g->unit == PLAN_WGMMA) {
        wgmma(e, g);
        if (!e->in_flight)
            line(e, "wgmma_wait<0>();");
        return;
    }
    gemm_clear(e, g);
    if (g->unit == PLAN_SCALAR) {
        by_threads(e, g, &m.a, &m.b);
        return;
    }
    m.rows = (int)h->m / g->m_warps / 16;
    m.cols = (int)h->n / g->n_warps / 8;
    m.part = columns_at_a_time(e, m.cols, !in_registers(e, m.b.buffer) &&
                                          plan_reads(g, true) == READ_PLAIN);
    by_warps(e, &m);
}
