// wgmma.c - T.gemm by wgmma: a warpgroup multiplies 64 rows at a time, and the
// unit reads its operands from shared memory by itself.
//
// A descriptor names the first row of 8 x 8 words and how far it is to the
// next: along the rows of an operand whose k is contiguous, or across k in
// steps of 8 and from panel to panel where its rows are.
#include "gpu_backend/emit_int.h"

typedef struct {
    IrBuffer *buffer;
    const PlanShared *shared;
    bool across;                    // k is not the contiguous dimension
    int row, col;                   // dimensions: m or n, and k
    int64_t rows, cols;             // extents of the buffer's dimensions
    int size;                       // bytes of an element
} Operand;

static Operand operand_of(const Emit *e, IrBuffer *b, int row, int col)
{
    return (Operand){b, &e->plan->shared[b->id], col != b->rank - 1, row, col,
                     fixed_extent(b, 0), fixed_extent(b, 1),
                     dtype_info(b->dtype)->bits / 8};
}

static int64_t address(const Operand *o, int64_t row, int64_t col)
{
    int64_t i = o->row == 0 ? row : col, j = o->row == 0 ? col : row;

    return (int64_t)o->shared->address[i * o->cols + j] * o->size;
}

// In units of 16 bytes, as descriptors count.
static int64_t step(const Operand *o, int64_t row, int64_t col)
{
    return address(o, row, col) / 16;
}

static void descriptor(Emit *e, const Operand *o, const char *name,
                       const char *group, int64_t rows)
{
    int swizzle = 16 * o->shared->swizzle;
    int64_t panel = o->across ? o->rows * swizzle : 16;
    int mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3;

    line(e, "const u64 %s = matrix_descriptor(%.*s, %lld, %d, %d) + "
            "%s * %lld;", name, TEXT_ARG(e->buffer[o->buffer->id]),
         (long long)panel, 8 * swizzle, mode, group,
         (long long)(rows ? step(o, rows, 0) : 0));
}

const PlanGemm *wgmma_of(const Emit *e, const IrStmt *s)
{
    for (int i = 0; i < e->launch->gemm_count; i++)
        if (e->launch->gemms[i].stmt == s &&
            e->launch->gemms[i].unit == PLAN_WGMMA)
            return &e->launch->gemms[i];
    return NULL;
}

static const char *word_of(DType t)
{
    return t == DT_F16 ? "f16" : t == DT_BF16 ? "bf16" : t == DT_TF32 ? "tf32"
         : t == DT_E4M3FN ? "e4m3" : "e5m2";
}

typedef struct {
    const PlanGemm *g;
    Operand a, b;
    bool from_registers;            // A
    int n;                          // columns of one instruction
    Text name;                      // of its function
} Wgmma;

// ---- what the unit takes ---------------------------------------------------

static bool has_word(DType t)
{
    return t == DT_F16 || t == DT_BF16 || t == DT_TF32 || t == DT_E4M3FN ||
           t == DT_E5M2;
}

static bool is_whole(const PlanGemm *g, int operand)
{
    const IrRegion *r = g->stmt->operand[g->shape.operand[operand]].region;

    return r->form == REGION_WHOLE && r->buffer->rank == 2 &&
           !r->buffer->alias_of;
}

// The element that a thread has in register r of C, or of A at a step of k.
static int64_t point_of_c(const Wgmma *w, int thread, int r)
{
    const PlanGemm *g = w->g;
    int groups = g->m_warps / 4, group = thread / 128, lane = thread % 32;
    int n = (int)g->shape.n / g->n_warps;
    int rows = (int)g->shape.m / g->m_warps / 16;
    int i = r / (n / 2), q = r % (n / 2);
    int64_t row = group % groups * 64 * rows + 64 * i + thread % 128 / 32 * 16 +
                  lane / 4 + 8 * (q / 2 % 2);
    int64_t col = group / groups * n + q / 4 * 8 + lane % 4 * 2 + q % 2;

    return row * g->shape.n + col;
}

static int64_t point_of_a(const Wgmma *w, int thread, int r)
{
    const PlanGemm *g = w->g;
    int word = 4 / w->a.size, lane = thread % 32, q = r / word % 4;
    int64_t row = thread / 128 % (g->m_warps / 4) * 64 +
                  thread % 128 / 32 * 16 + lane / 4 + 8 * (q % 2);
    int64_t col = r / (4 * word) * g->inst_k + q / 2 * 4 * word +
                  lane % 4 * word + r % word;

    return row * g->shape.k + col;
}

// Whether registers are numbered as the instruction has them.
static bool in_order(Emit *e, const Wgmma *w, const IrBuffer *b,
                     int64_t point(const Wgmma *w, int thread, int r))
{
    const PlanFragment *f = e->plan->fragments[b->id];
    int32_t *at = plan_points(e->arena, f, e->threads);

    for (int i = 0; at && i < e->threads * f->locals; i++)
        if (at[i] != point(w, i / f->locals, i % f->locals))
            return false;
    return at != NULL;
}

// Upstream's plan has products for the unit that are not written here yet.
static bool is_taken(Emit *e, const Wgmma *w)
{
    const PlanGemm *g = w->g;
    bool a_fits = w->from_registers
                      ? !g->shape.trans_a && g->shape.m == 16 * g->m_warps &&
                            in_order(e, w, g->a, point_of_a)
                      : w->a.shared->swizzle && in_shared(e, g->a);

    return !g->shape.group && has_word(g->a->dtype) &&
           g->a->dtype == g->b->dtype && g->c->dtype == DT_F32 &&
           in_registers(e, g->c) && is_whole(g, 0) && is_whole(g, 1) &&
           is_whole(g, 2) && a_fits && w->b.shared->swizzle &&
           in_order(e, w, g->c, point_of_c);
}

// ---- the instruction -------------------------------------------------------

static void list(TextBuf *out, int first, int n)
{
    for (int i = 0; i < n; i++)
        buf_printf(out, "%s%%%d", i ? i % 12 ? ", " : ", \"\n        \"" : "",
                   first + i);
}

static void function(Emit *e, const Wgmma *w)
{
    TextBuf *out = &e->functions;
    int regs = w->n / 2, a = regs, b = regs + (w->from_registers ? 4 : 1);
    const char *word = word_of(w->g->a->dtype);
    bool wide = dtype_info(w->g->a->dtype)->bits == 16;

    if (e->quiet || map_get(&e->function_names, w->name))
        return;
    map_set(e->arena, &e->function_names, w->name, e);
    buf_printf(out, "DEVICE void %.*s(float *d, %s, u64 b, int add)\n{\n",
               TEXT_ARG(w->name),
               w->from_registers ? "const u32 *a" : "u64 a");
    buf_printf(out, "    asm volatile(\n        \"{ .reg .pred p; "
               "setp.ne.b32 p, %%%d, 0; \"\n        \"wgmma.mma_async.sync."
               "aligned.m64n%dk%d.f32.%s.%s {\"\n        \"", b + 1, w->n,
               w->g->inst_k, word, word);
    list(out, 0, regs);
    buf_puts(out, "}, \"\n        \"");
    if (w->from_registers) {
        buf_puts(out, "{");
        list(out, a, 4);
        buf_printf(out, "}, %%%d, p, 1, 1", b);
    } else {
        buf_printf(out, "%%%d, %%%d, p, 1, 1", a, b);
    }
    if (wide && !w->from_registers)
        buf_printf(out, ", %d", w->a.across);
    if (wide)
        buf_printf(out, ", %d", w->b.across);
    buf_puts(out, "; }\"\n        : ");
    for (int i = 0; i < regs; i++)
        buf_printf(out, "%s\"+f\"(d[%d])", i ? i % 6 ? ", " : ",\n          "
                                             : "", i);
    buf_puts(out, "\n        : ");
    for (int i = 0; w->from_registers && i < 4; i++)
        buf_printf(out, "\"r\"(a[%d]), ", i);
    buf_printf(out, "%s\"l\"(b), \"r\"(add));\n}\n",
               w->from_registers ? "" : "\"l\"(a), ");
}

static Text name_of_function(Emit *e, const Wgmma *w)
{
    return text_format(e->arena, "wgmma_m64n%dk%d_%s%s%s%s", w->n,
                       w->g->inst_k, word_of(w->g->a->dtype),
                       w->from_registers ? "_registers" : "",
                       !w->from_registers && w->a.across ? "_at" : "",
                       w->b.across ? "" : "_bt");
}

// ---- a product -------------------------------------------------------------

static int columns_of(int n)
{
    for (int x = 256; x >= 8; x -= 8)
        if (n % x == 0)
            return x;
    return 0;
}

static void registers_of_a(Emit *e, const Wgmma *w, int64_t k)
{
    int word = 4 / (dtype_info(w->g->a->dtype)->bits / 8);
    int64_t first = k / w->g->inst_k * 4 * word;
    Text name = e->buffer[w->g->a->id];
    TextBuf all = {0};

    for (int r = 0; r < 4; r++) {
        buf_puts(&all, r ? ", pack(" : "pack(");
        for (int i = 0; i < word; i++)
            buf_printf(&all, "%s%.*s[%lld]", i ? ", " : "", TEXT_ARG(name),
                       (long long)first + r * word + i);
        buf_puts(&all, ")");
    }
    line(e, "const u32 a_%lld[4] = {%.*s};", (long long)k, (int)all.len,
         all.at);
    buf_release(&all);
}

static void product(Emit *e, const Wgmma *w, int64_t row, int64_t column,
                    int64_t k, int first, Text add)
{
    Text c = e->buffer[w->g->c->id], a;

    if (w->from_registers)
        a = text_format(e->arena, "a_%lld", (long long)k);
    else
        a = text_format(e->arena, "desc_a + %lld", (long long)step(&w->a, row, k));
    line(e, "%.*s(&%.*s[%d], %.*s, desc_b + %lld, %.*s);", TEXT_ARG(w->name),
         TEXT_ARG(c), first, TEXT_ARG(a), (long long)step(&w->b, column, k),
         TEXT_ARG(add));
}

// Whether the unit adds to what is there: 1, 0 or an expression.
static Text adds(Emit *e, const PlanGemm *g)
{
    const IrExpr *x = gemm_clears(e, g);
    int64_t known;

    if (!x)
        return e->from_zero == g->stmt ? TEXT("0") : TEXT("1");
    if (ir_is_int(x, &known))
        return known ? TEXT("0") : TEXT("1");
    return text_format(e->arena, "!(%.*s)", TEXT_ARG(expr(e, x)));
}

void wgmma(Emit *e, const PlanGemm *g)
{
    const IrGemmShape *h = &g->shape;
    int groups = g->m_warps / 4, n = (int)h->n / g->n_warps;
    int rows = (int)h->m / g->m_warps / 16;     // instructions down a group
    Wgmma w = {.g = g, .a = operand_of(e, g->a, h->a_row, h->a_col),
               .b = operand_of(e, g->b, h->b_col, h->b_row),
               .from_registers = in_registers(e, g->a), .n = columns_of(n)};

    if (e->plan->rules == PLAN_TILELANG && !is_taken(e, &w)) {
        refuse(e, "wgmma of these operands ('%.*s' of %s, '%.*s')",
               TEXT_ARG(g->a->name), dtype_info(g->a->dtype)->name,
               TEXT_ARG(g->c->name));
        return;
    }
    w.name = name_of_function(e, &w);
    function(e, &w);
    open_brace(e, "{");
    line(e, "const int group = tid / 128;");
    Text add = adds(e, g);
    if (!w.from_registers)
        descriptor(e, &w.a, "desc_a", text_cstr(e->arena, text_format(e->arena,
                   "(group %% %d)", groups)), groups > 1 ? 64 * rows : 0);
    descriptor(e, &w.b, "desc_b", text_cstr(e->arena, text_format(e->arena,
               "(group / %d)", groups)), g->n_warps > 1 ? n : 0);
    for (int64_t k = 0; w.from_registers && k < h->k; k += g->inst_k)
        registers_of_a(e, &w, k);
    line(e, "wgmma_fence();");
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j += w.n)
            for (int64_t k = 0; k < h->k; k += g->inst_k)
                product(e, &w, 64 * i, j, k, i * (n / 2) + j / 2,
                        k ? TEXT("1") : add);
    line(e, "wgmma_commit();");
    close_brace(e);
}
