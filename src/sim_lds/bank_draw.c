// bank_draw.c - draws an access: lanes over banks, pass by pass.
//
//     pass 1 of 2: lanes 0-15, 2 wavefronts
//            bank    0   1   2   3 ...
//     wavefront 1    0   0   1   1 ...
//     wavefront 2    8   8   9   9 ...
//
// A cell names the lowest lane on that word of the bank; '+' says that more
// lanes share it.
#include "sim_lds/bank_file.h"

#include <string.h>

enum { HALF = 32, LABEL = 13 };                 // banks of a line; columns

typedef struct {
    TextBuf *out;
    const Device *device;
    const BankPass *pass;
    BankWord words[BANK_WORDS];
    int count;
    bool color;
} Drawing;

static const char *unit_of(const Device *d)
{
    return d->vendor == VENDOR_AMD ? "cycle" : "wavefront";
}

// "0-7, 12, 14-15"
static void put_lanes(TextBuf *b, uint64_t lanes)
{
    const char *comma = "";
    while (lanes) {
        int first = __builtin_ctzll(lanes), last = first;
        while (last < 63 && lanes >> (last + 1) & 1)
            last++;
        buf_printf(b, last > first ? "%s%d-%d" : "%s%d", comma, first, last);
        comma = ", ";
        lanes &= last == 63 ? 0 : ~0ull << (last + 1);
    }
}

static const BankWord *word_at(const Drawing *g, int bank, int way)
{
    for (int i = 0; i < g->count; i++)
        if (g->words[i].bank == bank && g->words[i].way == way)
            return &g->words[i];
    return NULL;
}

static void put_cell(const Drawing *g, int bank, int way)
{
    const BankWord *w = word_at(g, bank, way);
    if (!w)
        buf_puts(g->out, "  . ");
    else
        buf_printf(g->out, " %2d%c", __builtin_ctzll(w->lanes),
                   w->lanes & (w->lanes - 1) ? '+' : ' ');
}

// One way of 32 banks; '.' is a bank at rest.
static void put_way(const Drawing *g, int first, int way)
{
    char label[32];
    snprintf(label, sizeof label, "%s %d", unit_of(g->device), way + 1);
    buf_printf(g->out, "%*s ", LABEL, label);
    bool conflict = way > 0 && g->color;
    buf_puts(g->out, conflict ? "\033[31m" : "");
    for (int bank = first; bank < first + HALF; bank++)
        put_cell(g, bank, way);
    while (g->out->len && g->out->at[g->out->len - 1] == ' ')
        g->out->len--;
    buf_puts(g->out, conflict ? "\033[0m\n" : "\n");
}

static void put_banks(const Drawing *g, int first)
{
    buf_printf(g->out, "%*s ", LABEL, "bank");
    for (int bank = first; bank < first + HALF; bank++)
        buf_printf(g->out, bank < first + HALF - 1 ? " %2d " : " %2d\n", bank);
    for (int way = 0; way < g->pass->ways; way++)
        put_way(g, first, way);
}

static int worst_bank(const Drawing *g)
{
    int ways[BANK_MOST] = {0}, worst = 0;
    for (int i = 0; i < g->count; i++)
        if (++ways[g->words[i].bank] > ways[worst])
            worst = g->words[i].bank;
    return worst;
}

static void put_pass_title(const Drawing *g, const BankOpInfo *op, int i, int n)
{
    int ways = g->pass->ways;
    buf_printf(g->out, "\n  pass %d of %d", i + 1, n);
    if (op->kind == BANK_MATRIX)
        buf_printf(g->out, ", matrix %d", g->pass->part);
    else if (op->parts > 1)
        buf_printf(g->out, ", address %d", g->pass->part);
    if (!ways) {
        buf_puts(g->out, ": no active lane\n");
        return;
    }
    buf_puts(g->out, ": lanes ");
    put_lanes(g->out, g->pass->lanes);
    buf_printf(g->out, ", %d %s%s", ways, unit_of(g->device),
               ways > 1 ? "s" : "");
    if (ways > 1)
        buf_printf(g->out, " for %d %s in bank %d", ways,
                   op->kind == BANK_ATOMIC ? "lanes" : "words", worst_bank(g));
    buf_puts(g->out, "\n\n");
}

static void put_pass(Drawing *g, const BankOpInfo *op, int i, int n)
{
    put_pass_title(g, op, i, n);
    if (!g->pass->ways)
        return;
    for (int first = 0; first < g->pass->banks; first += HALF)
        put_banks(g, first);
}

static void put_summary(TextBuf *b, const Device *d, const BankCount *c)
{
    bool amd = d->vendor == VENDOR_AMD;
    buf_printf(b, "  %d %s%s (%s), %d %s%s (%s), %d pass%s\n", c->cycles,
               amd ? "idx_active cycle" : "wavefront",
               c->cycles == 1 ? "" : "s",
               basis_name(c->cycles_basis), c->conflicts,
               amd ? "bank_conflict" : "conflict",
               c->conflicts == 1 || amd ? "" : "s",
               basis_name(c->conflicts_basis), c->passes,
               c->passes == 1 ? "" : "es");
}

void bank_draw(TextBuf *out, const Device *d, const BankRow *row, bool color)
{
    const BankOpInfo *op = bank_op_info(row->access.op);
    BankPass passes[BANK_PASSES];
    int n = bank_passes(d, &row->access, passes);
    BankCount count = bank_count(d, &row->access);
    buf_printf(out, "%.*s, line %d, on %s: lanes ", TEXT_ARG(row->op),
               row->line, d->name);
    put_lanes(out, row->access.active);
    buf_puts(out, " active\n");
    put_summary(out, d, &count);
    for (int i = 0; i < n; i++) {
        Drawing g = {.out = out, .device = d, .pass = &passes[i],
                     .color = color};
        g.count = bank_words(d, &row->access, &passes[i], g.words);
        put_pass(&g, op, i, n);
    }
    buf_puts(out, "\n  A cell is the lane on that word of the bank");
    buf_puts(out, op->kind == BANK_ATOMIC
                      ? "; lanes of an atomic take turns.\n"
                      : "; + more lanes share it.\n");
}
