// lds_layouts.c - layouts of shared buffers with fewer bank conflicts.
//
// For each buffer with conflicts the known swizzles and paddings are planned and
// counted again, the best is kept, and the next buffer is tried on top of it. A
// layout is for all targets: on none may conflicts, the cycles of shared memory
// or the estimated time grow, and all must still fit.
#include "cli/lds_advice.h"

#include <string.h>

typedef LdsLayoutCost Sum;

typedef struct {
    const LdsReport *r;
    Arena *scratch;                     // of one attempt
    Sum now[DEVICE_COUNT];
    LdsLayout *out;
    int found, room;
} Search;

// ---- what a layout costs ---------------------------------------------------

static bool sum_launch(const Search *w, const Plan *p, const CountLaunch *l,
                       Sum *sum)
{
    LdsTarget t = lds_target(p, l->launch);
    Ledger g = ledger_make(w->scratch, p, l, w->r->counts.sizes);

    sum->conflicts += l->shared.conflicts;
    sum->cycles += l->shared.cycles;
    sum->unknown += l->unknown;
    sum->us += g.serial_us;
    if (t.bytes > sum->bytes)
        sum->bytes = t.bytes;
    return t.fits;
}

// False: no plan, or one that does not fit.
static bool sum_plan(const Search *w, const Plan *p, Sum *out)
{
    bool fits = true;
    int n;
    const CountLaunch *l;

    *out = (Sum){0};
    l = count_launches(counts_of(&w->r->counts, w->scratch, p), &n);
    for (int i = 0; i < n; i++)
        fits &= sum_launch(w, p, &l[i], out);
    return fits;
}

static const PlanBuffer *planned(const Plan *p, const IrBuffer *b)
{
    for (int i = 0; i < p->launch_count; i++)
        for (int j = 0; j < p->launches[i].buffer_count; j++)
            if (p->launches[i].buffers[j].ir == b)
                return &p->launches[i].buffers[j];
    return NULL;
}

// TMA and wgmma read a layout by its swizzle, and no other will do.
static bool is_fixed(const Plan *p, const IrBuffer *b)
{
    for (int i = 0; i < p->launch_count; i++)
        for (int j = 0; j < p->launches[i].move_count; j++) {
            const PlanMove *v = &p->launches[i].moves[j];

            if (v->buffer == b && (v->kind == MOVE_TMA || v->kind == MOVE_BULK ||
                                   v->kind == MOVE_WGMMA ||
                                   v->kind == MOVE_CALL))
                return true;
        }
    return false;
}

static bool same_layout(const Plan *a, const Plan *b, const IrBuffer *buffer)
{
    const PlanBuffer *x = planned(a, buffer), *y = planned(b, buffer);

    if (!x || !y || x->layout.size != y->layout.size ||
        !x->layout.address != !y->layout.address)
        return false;
    return !x->layout.address ||
           !memcmp(x->layout.address, y->layout.address,
                   sizeof *x->layout.address * (size_t)x->layout.elements);
}

// Plans a target with the layouts that buffers have now; false: no better, or
// not to be had.
static bool is_no_worse(const Search *w, int t, const IrBuffer *b, Sum *sum)
{
    const LdsReport *r = w->r;
    const Sum *now = &w->now[t];
    IrKernel k = *r->kernel->ir;
    const Plan *p;

    k.arena = w->scratch;
    p = plan_build(w->scratch, &k, r->devices[t], r->plan[t]->rules);
    if (!p || p->launch_count != r->plan[t]->launch_count ||
        (is_fixed(p, b) && !same_layout(p, r->plan[t], b)) ||
        is_fixed(p, b) != is_fixed(r->plan[t], b) || !sum_plan(w, p, sum))
        return false;
    for (int i = 0; i < p->launch_count; i++)
        if (p->launches[i].refused && !r->plan[t]->launches[i].refused)
            return false;
    return sum->conflicts <= now->conflicts && sum->cycles <= now->cycles &&
           sum->unknown <= now->unknown && sum->us <= now->us * 1.000001;
}

static bool attempt(const Search *w, IrBuffer *b, IrIndexMap *map,
                    LdsLayout *out)
{
    IrIndexMap *before = b->layout;
    ArenaMark mark = arena_mark(w->scratch);
    Diag *d = w->r->cli->diag;
    DiagHold hold = diag_hold(d);
    bool ok = true, better = false;

    b->layout = map;
    for (int t = 0; ok && t < w->r->device_count; t++) {
        out->before[t] = w->now[t];
        ok = is_no_worse(w, t, b, &out->after[t]);
        better |= out->after[t].conflicts < w->now[t].conflicts;
    }
    b->layout = before;
    diag_settle(d, &hold, true);
    arena_release(w->scratch, mark);
    return ok && better;
}

// ---- layouts to try --------------------------------------------------------

static IrIndexMap *map_new(Arena *a, const IrBuffer *b)
{
    IrIndexMap *m = new (a, IrIndexMap);

    m->replicate = 1;
    m->in_rank = b->rank;
    for (int d = 0; d < b->rank; d++)
        m->in_shape[d] = b->shape[d];
    return m;
}

// Rows `pitch` elements apart. The variables are no kernel's: they are looked up
// in the map alone.
static IrIndexMap *padded(const Search *w, const IrBuffer *b, int64_t pitch)
{
    IrKernel k = *w->r->kernel->ir;
    IrIndexMap *m;
    IrExpr *row;

    k.arena = w->r->cli->arena;
    m = map_new(k.arena, b);
    for (int d = 0; d < 2; d++)
        m->in[d] = ir_var(&k, VAR_LOOP, d ? TEXT("j") : TEXT("i"), DT_I32,
                          b->at);
    row = ir_op2(&k, OP_MUL, ir_use(&k, m->in[0], b->at),
                 ir_int(&k, DT_I32, pitch, b->at), b->at);
    m->out_rank = 1;
    m->out[0] = ir_op2(&k, OP_ADD, row, ir_use(&k, m->in[1], b->at), b->at);
    return m;
}

static bool is_better(const Search *w, const LdsLayout *a, const LdsLayout *b)
{
    int64_t cycles = 0, bytes = 0;

    for (int t = 0; t < w->r->device_count; t++) {
        cycles += a->after[t].cycles - b->after[t].cycles;
        bytes += a->after[t].bytes - b->after[t].bytes;
    }
    return cycles ? cycles < 0 : bytes < 0;
}

static void consider(const Search *w, IrBuffer *b, LdsLayout c, LdsLayout *best)
{
    c.buffer = b;
    if (attempt(w, b, c.map, &c) && (!best->map || is_better(w, &c, best)))
        *best = c;
}

// The widest swizzle that rows allow goes by a name that needs no width.
static void try_swizzles(const Search *w, IrBuffer *b, int64_t row_bytes,
                         LdsLayout *best)
{
    static const struct {
        const char *maker;
        int bytes;
    } swizzles[] = {
        {"make_full_bank_swizzled_layout", 128},
        {"make_half_bank_swizzled_layout", 64},
        {"make_quarter_bank_swizzled_layout", 32},
    };
    bool any = false;

    for (size_t i = 0; i < countof(swizzles); i++) {
        IrIndexMap *m;

        if (row_bytes % swizzles[i].bytes)
            continue;
        m = map_new(w->r->cli->arena, b);
        m->maker = text_of(any ? swizzles[i].maker : "make_swizzled_layout");
        consider(w, b, (LdsLayout){.map = m}, best);
        any = true;
    }
}

static void try_paddings(const Search *w, IrBuffer *b, int64_t cols,
                         LdsLayout *best)
{
    static const int paddings[] = {4, 8, 16, 32, 64};   // bytes of a row
    int bits = dtype_info(b->dtype)->bits;

    for (size_t i = 0; i < countof(paddings); i++) {
        int64_t pitch = cols + paddings[i] * 8 / bits;

        if (paddings[i] * 8 % bits == 0)
            consider(w, b, (LdsLayout){.map = padded(w, b, pitch),
                                       .pitch = pitch}, best);
    }
}

// The best that there is for a buffer; map is NULL where none is better.
static LdsLayout best_of(const Search *w, IrBuffer *b)
{
    int64_t bits = dtype_info(b->dtype)->bits, cols = 0;
    bool fixed = false;
    LdsLayout best = {0};

    ir_is_int(b->shape[1], &cols);
    for (int t = 0; t < w->r->device_count; t++)
        fixed |= is_fixed(w->r->plan[t], b);
    try_swizzles(w, b, cols * bits / 8, &best);
    if (!fixed)
        try_paddings(w, b, cols, &best);
    return best;
}

// ---- buffers ---------------------------------------------------------------

// Of all launches and targets; -1: an access is not counted.
static int64_t conflicts_of(const LdsReport *r, const IrBuffer *b)
{
    int64_t sum = 0;

    for (int t = 0; t < r->device_count; t++)
        for (int i = 0; i < r->launch_count; i++) {
            const CountLaunch *l = r->launches[i].target[t].counts;

            for (int j = 0; j < l->count; j++) {
                if (!l->at[j].is_shared || l->at[j].move->buffer != b)
                    continue;
                if (l->at[j].unknown)
                    return -1;
                sum += l->at[j].sum.conflicts;
            }
        }
    return sum;
}

static bool is_candidate(const Search *w, const IrBuffer *b)
{
    if (b->scope != SCOPE_SHARED || b->rank != 2 || b->alias_of ||
        conflicts_of(w->r, b) <= 0)
        return false;
    for (int i = 0; i < w->found; i++)
        if (w->out[i].buffer == b)
            return false;
    return true;
}

static IrBuffer *worst_left(const Search *w, const bool *tried)
{
    const IrKernel *k = w->r->kernel->ir;
    IrBuffer *worst = NULL;

    for (int i = 0; i < k->buffer_count; i++) {
        IrBuffer *b = k->buffers[i];

        if (!tried[i] && is_candidate(w, b) &&
            (!worst || conflicts_of(w->r, b) > conflicts_of(w->r, worst)))
            worst = b;
    }
    return worst;
}

static void take(Search *w, const LdsLayout *best)
{
    memcpy(w->now, best->after, sizeof w->now);
    w->out[w->found++] = *best;
}

// With the layouts that buffers have now.
static void count_advised(LdsReport *r)
{
    for (int t = 0; t < r->device_count; t++) {
        const Plan *p = plan_build(r->cli->arena, r->kernel->ir, r->devices[t],
                                   r->plan[t]->rules);
        int n;

        if (p)
            r->advised[t] = count_launches(counts_of(&r->counts, r->cli->arena,
                                                     p), &n);
    }
}

int lds_advise_layouts(LdsReport *r, LdsLayout *out, int room, bool counts)
{
    const IrKernel *k = r->kernel->ir;
    Search w = {.r = r, .out = out, .room = room};
    IrIndexMap *before[LAYOUTS_SHOWN];
    bool *tried;
    IrBuffer *b;

    if (!r->fits || r->counts.unknown || r->plan[0]->rules != PLAN_TILELANG)
        return 0;
    tried = new_array(r->cli->arena, bool, k->buffer_count + 1);
    w.scratch = arena_create();
    for (int t = 0; t < r->device_count; t++)
        sum_plan(&w, r->plan[t], &w.now[t]);
    while (w.found < room && (b = worst_left(&w, tried))) {
        LdsLayout best = best_of(&w, b);

        for (int i = 0; i < k->buffer_count; i++)
            tried[i] |= k->buffers[i] == b;
        if (!best.map)
            continue;
        before[w.found] = b->layout;
        b->layout = best.map;
        take(&w, &best);
    }
    if (counts && w.found)
        count_advised(r);
    for (int i = 0; i < w.found; i++)
        out[i].buffer->layout = before[i];
    arena_destroy(w.scratch);
    return w.found;
}

// ---- report ----------------------------------------------------------------

void lds_layout_value(TextBuf *b, const LdsLayout *l)
{
    int64_t rows = 0, cols = 0;

    ir_is_int(l->buffer->shape[0], &rows);
    ir_is_int(l->buffer->shape[1], &cols);
    if (l->pitch)
        buf_printf(b, "T.Layout((%lld, %lld), lambda i, j: i * %lld + j)",
                   (long long)rows, (long long)cols, (long long)l->pitch);
    else
        buf_printf(b, "tilelang.layout.%.*s(%.*s)", TEXT_ARG(l->map->maker),
                   TEXT_ARG(l->buffer->name));
}

void lds_layout_line(TextBuf *b, const LdsLayout *l)
{
    buf_printf(b, "T.annotate_layout({%.*s: ", TEXT_ARG(l->buffer->name));
    lds_layout_value(b, l);
    buf_puts(b, "})");
}

void lds_layouts_text(TextBuf *b, const LdsReport *r)
{
    if (!r->layout_count)
        return;
    buf_puts(b, "\nfewer conflicts, each planned and counted again on top of "
                "those above it (--fix N: the first N)\n");
    for (int i = 0; i < r->layout_count; i++) {
        const LdsLayout *l = &r->layouts[i];

        buf_printf(b, "  %d  ", i + 1);
        lds_layout_line(b, l);
        if (lds_line(r->cli, l->buffer->at))
            buf_printf(b, "   after :%d", lds_line(r->cli, l->buffer->at));
        if (l->buffer->layout)
            buf_puts(b, ", instead of its own");
        for (int t = 0; t < r->device_count; t++) {
            buf_printf(b, "%s%s ", t ? "   " : "\n       ",
                       r->devices[t]->name);
            buf_grouped(b, l->before[t].conflicts);
            buf_puts(b, " -> ");
            buf_grouped(b, l->after[t].conflicts);
            buf_printf(b, " conflicts, %+lld bytes",
                       (long long)(l->after[t].bytes - l->before[t].bytes));
        }
        buf_addc(b, '\n');
    }
}

void lds_layouts_json(Json *j, const LdsReport *r)
{
    json_key(j, TEXT("layouts"));
    json_begin_array(j);
    for (int i = 0; i < r->layout_count; i++) {
        const LdsLayout *l = &r->layouts[i];
        TextBuf line = {0};

        lds_layout_line(&line, l);
        json_begin_object(j);
        json_key(j, TEXT("line"));
        json_text(j, buf_view(&line));
        json_key(j, TEXT("conflicts"));
        json_begin_object(j);
        for (int t = 0; t < r->device_count; t++) {
            json_key(j, text_of(r->devices[t]->name));
            json_int(j, l->after[t].conflicts);
        }
        json_end_object(j);
        json_key(j, TEXT("bytes"));
        json_begin_object(j);
        for (int t = 0; t < r->device_count; t++) {
            json_key(j, text_of(r->devices[t]->name));
            json_int(j, l->after[t].bytes);
        }
        json_end_object(j);
        json_end_object(j);
        buf_release(&line);
    }
    json_end_array(j);
}
