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
} Operand;

static void read_vector(Emit *e, const Operand *o)
{
    Text row = text_format(e->arena, "%s + %s * %d + lane %% %d", o->base,
                           o->tile, o->wide, o->wide);
    Text k = text_format(e->arena, "k0 + lane / %d * %d", o->wide,
                         o->per);

    line(e, "move<%d>(%s[%s], &%.*s);", o->words * 4, o->to, o->tile,
         TEXT_ARG(gemm_at(e, o->m, row, k)));
}

// Rows of `mix` tiles that lie side by side, for each k: a word of a tile takes
// its halves from two of them.
static void read_columns(Emit *e, const Operand *o)
{
    Text row = text_format(e->arena, "%s + %s * %d + lane %% %d * %d", o->base,
                           o->tile, o->wide, o->wide, o->mix);
    Text k = text_format(e->arena, "k0 + lane / %d * %d + r0", o->wide,
                         o->per);

    line(e, "alignas(8) u32 across[%d][%d];", o->per, o->mix / 2);
    line(e, "#pragma unroll");
    line(e, "for (int r0 = 0; r0 < %d; r0++)", o->per);
    line(e, "    move<%d>(across[r0], &%.*s);", o->mix * 2,
         TEXT_ARG(gemm_at(e, o->m, row, k)));
    line(e, "#pragma unroll");
    line(e, "for (int r0 = 0; r0 < %d; r0++)", o->words * o->mix);
    line(e, "    %s[%s + r0 %% %d][r0 / %d] = halves(", o->to, o->tile, o->mix,
         o->mix);
    line(e, "        across[r0 / %d * 2][r0 / 2 %% %d],", o->mix, o->mix / 2);
    line(e, "        across[r0 / %d * 2 + 1][r0 / 2 %% %d], r0 %% 2);", o->mix,
         o->mix / 2);
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

static void read_operand(Emit *e, const Operand *o)
{
    const IrBuffer *b = o->m->buffer;

    PlanRead read = plan_reads(o->g, o->is_b);
    bool across = !in_registers(e, b) && read == READ_COLUMNS;

    line(e, "#pragma unroll");
    open_brace(e, "for (int %s = 0; %s < %d; %s += %d) {", o->tile, o->tile,
               o->tiles, o->tile, across ? o->mix : 1);
    if (across)
        read_columns(e, o);
    else if (in_registers(e, b))
        read_words(e, o, register_element);
    else if (read == READ_ROWS)
        read_vector(e, o);
    else
        read_words(e, o, shared_element);
    close_brace(e);
}

static const char *instruction(Emit *e, const PlanGemm *g)
{
    DType a = g->a->dtype, b = g->b->dtype;
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
    };
}

static void declare(Emit *e, const Operand *o)
{
    line(e, "alignas(16) u32 %s[%d][%d];", o->to, o->tiles, o->words);
}

// Sums of fewer bits than the unit's are rounded at the end.
static void convert_sums(Emit *e, const PlanGemm *g, int count, bool back)
{
    DType c = g->c->dtype;
    Text name = e->buffer[g->c->id];
    Text mine = text_format(e->arena, "%.*s[l]", TEXT_ARG(name));

    line(e, "#pragma unroll");
    line(e, "for (int l = 0; l < %d; l++)", count);
    if (back)
        line(e, "    %.*s = %.*s;", TEXT_ARG(mine),
             TEXT_ARG(narrow(e, c, TEXT("sums[l]"))));
    else
        line(e, "    sums[l] = %.*s;", TEXT_ARG(widen(e, c, mine)));
}

void mfma(Emit *e, const PlanGemm *g, const Matrix *a, const Matrix *b)
{
    Operand left = operand(g, a, false), right = operand(g, b, true);
    int step = g->inst_k * g->k_pack;
    int count = left.tiles * right.tiles * g->wide * g->wide / 64;
    bool narrow_sums = is_narrow(g->c->dtype);
    Text sums = narrow_sums ? TEXT("sums") : e->buffer[g->c->id];

    open_brace(e, "{");
    line(e, "const int m0 = warp %% %d * %d, n0 = warp / %d * %d;", g->m_warps,
         left.tiles * g->wide, g->m_warps, right.tiles * g->wide);
    if (narrow_sums) {
        line(e, "float sums[%d];", count);
        convert_sums(e, g, count, false);
    }
    line(e, "#pragma unroll");
    open_brace(e, "for (int k0 = 0; k0 < %lld; k0 += %d) {",
               (long long)g->shape.k, step);
    declare(e, &left);
    declare(e, &right);
    read_operand(e, &left);
    read_operand(e, &right);
    multiply(e, &left, &right, sums);
    close_brace(e);
    if (narrow_sums)
        convert_sums(e, g, count, true);
    close_brace(e);
}
