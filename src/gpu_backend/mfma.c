// mfma.c - T.gemm by MFMA of 16 x 16 or 32 x 32 results.
//
// The operands are exchanged: what the instruction calls its rows are columns
// of the result, so that a lane has columns of one row, four and four. That is
// how the instruction wants its left operand, too, and a product that another
// one takes as that needs no lane to tell another anything.
//
// A lane has k_pack runs of k that lie side by side in memory; instruction i of
// a step multiplies run i of all lanes.
#include "gpu_backend/gemm.h"

typedef struct {
    const PlanGemm *g;
    bool is_b;
    int mix;                        // tiles that are read together
    int wide, tiles;                // rows of a tile; tiles of a wave
    int words;                      // 32 bits each, of a lane and step
    int per;                        // elements in them
    const Matrix *m;
    const char *to, *tile, *base;   // names: "ta", "ti", "m0"
    const char *raw;                // "ra": what is read, where it is mixed
    Text ring;                      // of steps that are read ahead
} Operand;

static void read_vector(Emit *e, const Operand *o)
{
    Text base = text_format(e->arena, "%s + %s * %d", o->base, o->tile,
                            o->wide);
    Text row = text_format(e->arena, "lane %% %d", o->wide);
    Text k = text_format(e->arena, "k0 + lane / %d * %d", o->wide,
                         o->per);

    line(e, "move<%d>(%s[%s], &%.*s);", o->words * 4, o->to, o->tile,
         TEXT_ARG(gemm_at_base(e, o->m, row, k, base)));
}

// Rows of `mix` tiles that lie side by side, for each k: a word of a tile takes
// its halves from two of them.
static void read_columns(Emit *e, const Operand *o)
{
    Text row = text_format(e->arena, "%s + %s * %d + lane %% %d * %d", o->base,
                           o->tile, o->wide, o->wide, o->mix);
    Text k = text_format(e->arena, "lane / %d * %d + r0", o->wide, o->per);

    line(e, "#pragma unroll");
    line(e, "for (int r0 = 0; r0 < %d; r0++)", o->per);
    line(e, "    move<%d>(&%s[%s][r0 * %d], &%.*s);", o->mix * 2, o->raw,
         o->tile, o->mix / 2,
         TEXT_ARG(gemm_at_base(e, o->m, row, k, TEXT("k0"))));
}

static void mix_columns(Emit *e, const Operand *o)
{
    int half = o->mix / 2;

    line(e, "#pragma unroll");
    line(e, "for (int r0 = 0; r0 < %d; r0++)", o->words * o->mix);
    line(e, "    %s[%s + r0 %% %d][r0 / %d] = halves(", o->to, o->tile, o->mix,
         o->mix);
    line(e, "        %s[%s][r0 / %d * %d + r0 / 2 %% %d],", o->raw, o->tile,
         o->mix, 2 * half, half);
    line(e, "        %s[%s][r0 / %d * %d + %d + r0 / 2 %% %d], r0 %% 2);",
         o->raw, o->tile, o->mix, 2 * half, half, half);
}

typedef Text ElementOf(Emit *e, const Operand *o, int i);

// Word r0 is made of the elements i that follow `of`'s first.
static void read_words(Emit *e, const Operand *o, ElementOf *of)
{
    int word = 32 / gemm_bits(o->m);
    Text all = {0};

    line(e, "#pragma unroll");
    open_brace(e, "for (int r0 = 0; r0 < %d; r0++) {", o->words);
    for (int i = 0; i < word; i++) {
        Text x = of(e, o, i);
        all = i ? text_format(e->arena, "%.*s, %.*s", TEXT_ARG(all),
                              TEXT_ARG(x))
                : x;
    }
    line(e, "%s[%s][r0] = pack(%.*s);", o->to, o->tile, TEXT_ARG(all));
    close_brace(e);
}

static Text shared_element(Emit *e, const Operand *o, int i)
{
    Text row = text_format(e->arena, "%s + %s * %d + lane %% %d", o->base,
                           o->tile, o->wide, o->wide);
    Text k = text_format(e->arena, "k0 + lane / %d * %d + r0 * %d + %d",
                         o->wide, o->per, 32 / gemm_bits(o->m), i);

    return gemm_at(e, o->m, row, k);
}

static Text register_element(Emit *e, const Operand *o, int i)
{
    return text_format(e->arena,
                       "%.*s[(%s + k0 / %d * %d) * %d + r0 * %d + %d]",
                       TEXT_ARG(e->buffer[o->m->buffer->id]), o->tile,
                       o->per * 64 / o->wide, o->tiles, o->per,
                       32 / gemm_bits(o->m), i);
}

typedef enum { FROM_REGISTERS, BY_ROWS, BY_COLUMNS, BY_ELEMENTS } OperandSource;

static OperandSource source_of(Emit *e, const Operand *o)
{
    PlanRead read = plan_reads(o->g, o->is_b);

    if (in_registers(e, o->m->buffer))
        return FROM_REGISTERS;
    return read == READ_ROWS ? BY_ROWS
           : read == READ_COLUMNS ? BY_COLUMNS : BY_ELEMENTS;
}

static void open_tiles(Emit *e, const Operand *o, bool mixed)
{
    line(e, "#pragma unroll");
    open_brace(e, "for (int %s = 0; %s < %d; %s += %d) {", o->tile, o->tile,
               o->tiles, o->tile, mixed ? o->mix : 1);
}

// Vectors of shared memory of the step at k0.
static void read_operand(Emit *e, const Operand *o)
{
    OperandSource from = source_of(e, o);

    if (from != BY_ROWS && from != BY_COLUMNS)
        return;
    open_tiles(e, o, from == BY_COLUMNS);
    if (from == BY_ROWS)
        read_vector(e, o);
    else
        read_columns(e, o);
    close_brace(e);
}

// The words that are multiplied, where they have not been read as they are.
static void make_operand(Emit *e, const Operand *o)
{
    OperandSource from = source_of(e, o);

    if (from == BY_ROWS)
        return;
    open_tiles(e, o, from == BY_COLUMNS);
    if (from == BY_COLUMNS)
        mix_columns(e, o);
    else
        read_words(e, o, from == FROM_REGISTERS ? register_element
                                                : shared_element);
    close_brace(e);
}

// e4m3fn is multiplied as e4m3fnuz, which means half of it: sums are held as a
// quarter meanwhile.
static bool is_doubled(const PlanGemm *g)
{
    return g->a->dtype == DT_E4M3FN;
}

static void as_fnuz(Emit *e, const Operand *o)
{
    if (!is_doubled(o->g))
        return;
    line(e, "#pragma unroll");
    line(e, "for (int r0 = 0; r0 < %d; r0++)", o->tiles * o->words);
    line(e, "    %s[r0 / %d][r0 %% %d] = e4m3_as_fnuz(%s[r0 / %d][r0 %% %d]);",
         o->to, o->words, o->words, o->to, o->words, o->words);
}

static const char *instruction(Emit *e, const PlanGemm *g)
{
    DType a = is_doubled(g) ? DT_E4M3FNUZ : g->a->dtype;
    DType b = is_doubled(g) ? DT_E4M3FNUZ : g->b->dtype;
    const char *left = a == DT_TF32 ? "tf32" : type_of(a);

    // exchanged: the right operand comes first
    if (a != b)
        return text_cstr(e->arena, text_format(e->arena, "mfma_%s_%s",
                                               type_of(b), left));
    return text_cstr(e->arena, text_format(e->arena, "mfma%s_%s",
                                           g->wide == 32 ? "32" : "", left));
}

static void multiply(Emit *e, const Operand *a, const Operand *b, Text sums)
{
    const PlanGemm *g = a->g;
    int words = a->words / g->k_pack;

    line(e, "#pragma unroll");
    line(e, "for (int i0 = 0; i0 < %d; i0 += %d)", a->words, words);
    line(e, "    #pragma unroll");
    line(e, "    for (int ti = 0; ti < %d; ti++)", a->tiles);
    line(e, "        #pragma unroll");
    line(e, "        for (int tj = 0; tj < %d; tj++)", b->tiles);
    line(e, "            %s(&%.*s[(ti * %d + tj) * %d], &tb[tj][i0], "
            "&ta[ti][i0]);", instruction(e, g), TEXT_ARG(sums), b->tiles,
         g->wide * g->wide / 64);
}

static Operand operand(const PlanGemm *g, const Matrix *m, bool is_b)
{
    int size = (int)(is_b ? g->shape.n / g->n_warps : g->shape.m / g->m_warps);
    int per = g->inst_k * g->k_pack * g->wide / 64;

    return (Operand){
        .g = g, .is_b = is_b, .mix = is_b ? g->n_mix : g->m_mix,
        .wide = g->wide, .tiles = size / g->wide,
        .words = per * gemm_bits(m) / 32,
        .per = per, .m = m, .to = is_b ? "tb" : "ta",
        .tile = is_b ? "tj" : "ti", .base = is_b ? "n0" : "m0",
        .raw = is_b ? "rb" : "ra",
        .ring = is_b ? TEXT("rb_ring") : TEXT("ra_ring"),
    };
}

// Registers of `slots` steps; one's where it is 0.
static void declare(Emit *e, const Operand *o, int slots)
{
    const char *name = slots || source_of(e, o) == BY_COLUMNS ? o->raw : o->to;

    if (slots)
        line(e, "alignas(16) u32 %.*s[%d][%d][%d];", TEXT_ARG(o->ring), slots,
             o->tiles, o->words);
    else
        line(e, "alignas(16) u32 %s[%d][%d];", name, o->tiles, o->words);
}

// The names that reading gives its results, in slot `slot` of the ring.
static void in_slot(Emit *e, const Operand *o, const char *slot)
{
    const char *name = source_of(e, o) == BY_COLUMNS ? o->raw : o->to;

    line(e, "u32 (&%s)[%d][%d] = %.*s[%s];", name, o->tiles, o->words,
         TEXT_ARG(o->ring), slot);
}

// Sums of fewer bits than the unit's are rounded at the end.
static void convert_sums(Emit *e, const PlanGemm *g, int count, bool back)
{
    DType c = g->c->dtype;
    Text name = e->buffer[g->c->id];
    Text mine = text_format(e->arena, "%.*s[l]", TEXT_ARG(name));
    const char *by = !is_doubled(g) ? "" : back ? " * 4.0f" : " * 0.25f";

    line(e, "#pragma unroll");
    line(e, "for (int l = 0; l < %d; l++)", count);
    if (back)
        line(e, "    %.*s = %.*s%s;", TEXT_ARG(mine),
             TEXT_ARG(narrow(e, c, TEXT("sums[l]"))), by);
    else
        line(e, "    sums[l] = %.*s%s;", TEXT_ARG(widen(e, c, mine)), by);
}

// ---- operands that are read before the loop --------------------------------

static int number_of(const Emit *e, const PlanGemm *g)
{
    return (int)(g - e->launch->gemms);
}

bool is_held(const Emit *e, const IrStmt *s, int operand)
{
    for (int i = 0; i < e->launch->gemm_count; i++) {
        const PlanGemm *g = &e->launch->gemms[i];
        if (g->stmt == s && g->held)
            return g->shape.operand[0] == operand;
    }
    return false;
}

static void origin(Emit *e, const PlanGemm *g, const Operand *left,
                   const Operand *right)
{
    line(e, "const int m0 = warp %% %d * %d, n0 = warp / %d * %d;", g->m_warps,
         left->tiles * g->wide, g->m_warps, right->tiles * g->wide);
}

static void name_held(Emit *e, const PlanGemm *g, const Operand *left)
{
    int step = g->inst_k * g->k_pack;

    line(e, "u32 (&%s)[%d][%d] = held_%d[k0 / %d];", left->to, left->tiles,
         left->words, number_of(e, g), step);
}

static void hold(Emit *e, const PlanGemm *g)
{
    Matrix a = gemm_matrix(g, false), b = gemm_matrix(g, true);
    Operand left = operand(g, &a, false), right = operand(g, &b, true);
    bool *read = new_array(e->arena, bool, e->k->buffer_count + 1);
    int step = g->inst_k * g->k_pack;

    read[root_buffer(g->a)->id] = true;
    sync_reads(e, read);
    note_line(e, g->stmt);
    line(e, "alignas(16) u32 held_%d[%d][%d][%d];", number_of(e, g),
         (int)g->shape.k / step, left.tiles, left.words);
    open_brace(e, "{");
    origin(e, g, &left, &right);
    line(e, "#pragma unroll");
    open_brace(e, "for (int k0 = 0; k0 < %lld; k0 += %d) {",
               (long long)g->shape.k, step);
    name_held(e, g, &left);
    read_operand(e, &left);
    as_fnuz(e, &left);
    close_brace(e);
    close_brace(e);
}

void held_operands(Emit *e, const IrStmt *loop)
{
    for (int i = 0; i < e->launch->gemm_count; i++)
        if (e->launch->gemms[i].held == loop)
            hold(e, &e->launch->gemms[i]);
}

// ---- a product -------------------------------------------------------------

// The steps of k, and how many of them are read ahead of the one that is
// multiplied. What is read is in rings of that many slots and one.
typedef struct {
    const PlanGemm *g;
    Operand left, right;
    int step, steps, ahead, slots;
} Product;

static bool is_read(Emit *e, const Product *p, const Operand *o)
{
    OperandSource from = source_of(e, o);

    return (from == BY_ROWS || from == BY_COLUMNS) && (o->is_b || !p->g->held);
}

// As many as 32 registers take, 8 where the tiles of a thread fill most of
// them; none where products have nothing else in between to hide.
static void choose_ahead(Emit *e, Product *p)
{
    enum { WORDS = 32, FEW_WORDS = 16, MANY_TILES = 112, MOST_TILES = 160 };
    const Operand *both[] = {&p->left, &p->right};
    int words = 0, tiles = registers_of_tiles(e);

    for (int i = 0; i < 2; i++)
        if (is_read(e, p, both[i]))
            words += both[i]->tiles * both[i]->words;
    p->slots = p->ahead = 0;
    if (!words || tiles > MOST_TILES)
        return;
    p->ahead = (tiles > MANY_TILES ? FEW_WORDS : WORDS) / words;
    if (p->ahead > p->steps)
        p->ahead = p->steps;
    if (p->ahead)
        p->slots = p->ahead < p->steps ? p->ahead + 1 : p->steps;
}

static void declare_all(Emit *e, const Product *p, bool rings)
{
    const Operand *both[] = {&p->left, &p->right};

    for (int i = 0; i < 2; i++) {
        bool read = is_read(e, p, both[i]);
        if (!rings && !both[i]->is_b && p->g->held)
            continue;
        if (rings ? read : !p->slots || !read)
            declare(e, both[i], rings ? p->slots : 0);
        // What is mixed goes to words of its own.
        if (!rings && source_of(e, both[i]) == BY_COLUMNS)
            line(e, "alignas(16) u32 %s[%d][%d];", both[i]->to, both[i]->tiles,
                 both[i]->words);
    }
}

static void read_both(Emit *e, const Product *p)
{
    const Operand *both[] = {&p->left, &p->right};

    for (int i = 0; i < 2; i++)
        if (is_read(e, p, both[i])) {
            if (p->slots)
                in_slot(e, both[i], "slot");
            read_operand(e, both[i]);
        }
}

// The steps that are read before the first is multiplied.
static void read_first(Emit *e, const Product *p)
{
    line(e, "#pragma unroll");
    open_brace(e, "for (int slot = 0; slot < %d; slot++) {", p->ahead);
    line(e, "const int k0 = slot * %d;", p->step);
    read_both(e, p);
    close_brace(e);
    line(e, "keep_order();");
}

static void read_next(Emit *e, const Product *p)
{
    if (p->ahead < p->steps) {
        open_brace(e, "if (k0 + %d < %lld) {", p->ahead * p->step,
                   (long long)p->g->shape.k);
        line(e, "const int next = k0 + %d, slot = next / %d %% %d;",
             p->ahead * p->step, p->step, p->slots);
        open_brace(e, "{");
        line(e, "const int k0 = next;");
        read_both(e, p);
        close_brace(e);
        close_brace(e);
        line(e, "keep_order();");
    }
    line(e, "const int slot = k0 / %d %% %d;", p->step, p->slots);
}

static void one_step(Emit *e, const Product *p, Text sums)
{
    const Operand *both[] = {&p->left, &p->right};

    if (p->g->held)
        name_held(e, p->g, &p->left);
    declare_all(e, p, false);
    if (!p->slots)
        read_both(e, p);
    for (int i = 0; i < 2; i++) {
        if (p->slots && is_read(e, p, both[i]))
            in_slot(e, both[i], "slot");
        if (both[i]->is_b || !p->g->held) {
            make_operand(e, both[i]);
            as_fnuz(e, both[i]);
        }
    }
    multiply(e, &p->left, &p->right, sums);
}

static void all_steps(Emit *e, const Product *p, Text sums)
{
    if (p->slots && e->early != p->g) {
        declare_all(e, p, true);
        read_first(e, p);
    }
    line(e, "#pragma unroll");
    open_brace(e, "for (int k0 = 0; k0 < %lld; k0 += %d) {",
               (long long)p->g->shape.k, p->step);
    if (p->slots)
        read_next(e, p);
    one_step(e, p, sums);
    if (p->slots && p->ahead < p->steps)
        line(e, "keep_order();");
    close_brace(e);
}

static Product product(Emit *e, const PlanGemm *g, const Matrix *a,
                       const Matrix *b)
{
    Product p = {.g = g, .left = operand(g, a, false),
                 .right = operand(g, b, true), .step = g->inst_k * g->k_pack};

    p.steps = (int)g->shape.k / p.step;
    choose_ahead(e, &p);
    return p;
}

static Text early_ring(Emit *e, const PlanGemm *g)
{
    return text_format(e->arena, "rb_ring_%d", number_of(e, g));
}

// The right operand's first steps, of a product that will take its left one
// from registers.
static bool read_early(Emit *e, const PlanGemm *g)
{
    Matrix a = gemm_matrix(g, false), b = gemm_matrix(g, true);
    Product p = product(e, g, &a, &b);
    bool *read = new_array(e->arena, bool, e->k->buffer_count + 1);

    if (!p.slots || source_of(e, &p.left) != FROM_REGISTERS ||
        !is_read(e, &p, &p.right))
        return false;
    p.right.ring = early_ring(e, g);
    read[root_buffer(g->b)->id] = true;
    sync_reads(e, read);
    note_line(e, g->stmt);
    declare_all(e, &p, true);
    open_brace(e, "{");
    origin(e, g, &p.left, &p.right);
    read_first(e, &p);
    close_brace(e);
    return true;
}

static bool is_in(const IrStmt *block, const IrStmt *s)
{
    for (int i = 0; i < block->len; i++)
        if (block->body[i] == s || (block->body[i]->kind == STMT_BLOCK &&
                                    is_in(block->body[i], s)))
            return true;
    return false;
}

void mfma_read_early(Emit *e, const IrStmt *block, const IrBuffer *tile)
{
    for (int i = 0; i < e->launch->gemm_count && !e->early; i++) {
        const PlanGemm *g = &e->launch->gemms[i];
        const IrRegion *r = g->stmt->operand[g->shape.operand[1]].region;
        if (g->unit == PLAN_MFMA && g->b == tile &&
            r->form == REGION_WHOLE && is_in(block, g->stmt) &&
            read_early(e, g))
            e->early = g;
    }
}

void mfma(Emit *e, const PlanGemm *g, const Matrix *a, const Matrix *b)
{
    Product p = product(e, g, a, b);
    int count = p.left.tiles * p.right.tiles * g->wide * g->wide / 64;
    bool narrow_sums = is_narrow(g->c->dtype) || is_doubled(g);
    Text sums = narrow_sums ? TEXT("sums") : e->buffer[g->c->id];

    if (e->early == g)
        p.right.ring = early_ring(e, g);
    open_brace(e, "{");
    if (e->early != g || p.ahead < p.steps)
        origin(e, g, &p.left, &p.right);
    if (narrow_sums) {
        line(e, "float sums[%d];", count);
        convert_sums(e, g, count, false);
    }
    // Waves that multiply go before those that calculate, or bring tiles.
    if (p.slots)
        line(e, "priority<1>();");
    all_steps(e, &p, sums);
    if (p.slots)
        line(e, "priority<0>();");
    if (narrow_sums)
        convert_sums(e, g, count, true);
    close_brace(e);
    if (e->early == g)
        e->early = NULL;
}
