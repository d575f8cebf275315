// print.c - a plan as text, one fact a line: launch, fact, subject, value.
//
// The facts are those of tests/data/plan/upstream.tsv. Layouts are tables of
// thousands of numbers; a CRC-32 of the table stands for one.
#include "plan/plan.h"

#include <stdlib.h>
#include <zlib.h>

static void row(TextBuf *out, int launch, const char *fact, Text subject)
{
    if (launch < 0)
        buf_puts(out, "-");
    else
        buf_printf(out, "%d", launch);
    buf_printf(out, "\t%s\t%.*s\t", fact, TEXT_ARG(subject));
}

static uint32_t crc(uint32_t c, const int32_t *at, size_t n)
{
    return (uint32_t)crc32(c, (const Bytef *)at, (uInt)(n * sizeof *at));
}

static void print_number(TextBuf *out, int launch, const char *fact, int64_t n)
{
    row(out, launch, fact, TEXT("-"));
    buf_printf(out, "%lld\n", (long long)n);
}

// ---- instructions ----------------------------------------------------------

static void print_move(TextBuf *out, const PlanMove *v)
{
    switch (v->kind) {
    case MOVE_PLAIN:
        buf_printf(out, "%d", v->bytes);
        return;
    case MOVE_CP_ASYNC:
        buf_printf(out, "cp.async.%d", v->bytes);
        return;
    case MOVE_TMA:
        buf_puts(out, "tma");
        return;
    case MOVE_BULK:
        buf_puts(out, "bulk");
        return;
    case MOVE_LDMATRIX:
        buf_printf(out, "ldmatrix.x%d%s", v->tiles,
                   v->transposed ? "_trans" : "");
        return;
    case MOVE_STMATRIX:
        buf_printf(out, "stmatrix.m8n8_x%d", v->tiles);
        return;
    case MOVE_WGMMA:
        buf_puts(out, "wgmma");
        return;
    case MOVE_ATOMIC:
        buf_puts(out, v->lanes == 2 ? "AtomicAddx2" : "AtomicAdd");
        return;
    case MOVE_SCAN:
    case MOVE_CALL:
        return;
    }
}

typedef struct {
    TextBuf word[8];
    int count;
} Words;

static int by_text(const void *x, const void *y)
{
    return text_compare(buf_view(x), buf_view(y));
}

static void add_word(Words *w, const PlanMove *v)
{
    TextBuf b = {0};

    print_move(&b, v);
    for (int i = 0; i < w->count; i++) {
        if (text_eq(buf_view(&w->word[i]), buf_view(&b))) {
            buf_release(&b);
            return;
        }
    }
    if (w->count < (int)countof(w->word))
        w->word[w->count++] = b;
    else
        buf_release(&b);
}

// Statements of the source, not the library's.
static bool is_printed(const PlanMove *v)
{
    return v->buffer && v->kind != MOVE_SCAN && v->kind != MOVE_CALL;
}

static bool is_first(const PlanLaunch *l, int at)
{
    if (!is_printed(&l->moves[at]))
        return false;
    for (int i = 0; i < at; i++)
        if (l->moves[i].buffer == l->moves[at].buffer &&
            l->moves[i].way == l->moves[at].way && is_printed(&l->moves[i]))
            return false;
    return true;
}

// One line a buffer and direction, with all instructions used.
static void print_moves(TextBuf *out, int launch, const PlanLaunch *l)
{
    static const char *const ways[] = {"load", "store", "atomic"};

    for (int i = 0; i < l->move_count; i++) {
        const PlanMove *v = &l->moves[i];
        Words w = {0};
        if (!is_first(l, i))
            continue;
        for (int j = i; j < l->move_count; j++)
            if (l->moves[j].buffer == v->buffer && l->moves[j].way == v->way &&
                is_printed(&l->moves[j]))
                add_word(&w, &l->moves[j]);
        qsort(w.word, w.count, sizeof *w.word, by_text);
        row(out, launch, ways[v->way], v->buffer->name);
        for (int j = 0; j < w.count; j++) {
            buf_printf(out, "%s%.*s", j ? " " : "",
                       TEXT_ARG(buf_view(&w.word[j])));
            buf_release(&w.word[j]);
        }
        buf_puts(out, "\n");
    }
}

static void print_launch(TextBuf *out, const Plan *p, int i)
{
    const PlanLaunch *l = &p->launches[i];

    if (l->refused) {
        row(out, -1, "lower", TEXT("-"));
        buf_printf(out, "refused: %s\n", l->refused);
    } else if (l->doubted) {
        row(out, -1, "lower", TEXT("-"));
        buf_printf(out, "perhaps: %s\n", l->doubted);
    }
    print_number(out, i, "threads", l->threads + l->producers);
    print_number(out, i, "arena", l->arena);
    print_number(out, i, "barriers", l->barriers);
    for (int j = 0; j < l->buffer_count; j++) {
        const PlanBuffer *b = &l->buffers[j];
        if (b->is_unused)
            continue;
        row(out, i, b->is_static ? "static" : "offset", b->name);
        buf_printf(out, "%lld\n",
                   (long long)(b->is_static ? b->bytes : b->offset));
    }
    for (int j = 0; j < l->fragment_count; j++) {
        const IrBuffer *b = l->fragments[j];
        if (!p->fragments[b->id])
            continue;
        row(out, i, "registers", b->name);
        buf_printf(out, "%d\n", p->fragments[b->id]->locals);
    }
    print_moves(out, i, l);
}

static void print_shared(TextBuf *out, const PlanBuffer *b)
{
    if (!b->ir)
        return;
    row(out, -1, "shape", b->name);
    for (int i = 0; b->slots > 1 && i < b->rings; i++)
        buf_printf(out, "%dx", b->slots);
    for (int d = 0; d < b->ir->rank; d++) {
        int64_t n = 0;
        ir_is_int(b->ir->shape[d], &n);
        buf_printf(out, "%s%lld", d ? "x" : "", (long long)n);
    }
    buf_puts(out, "\n");
    if (b->is_static)
        return;
    row(out, -1, "layout", b->name);
    if (b->layout.address)
        buf_printf(out, "%08x\n",
                   crc(0, b->layout.address, b->layout.elements));
    else
        buf_puts(out, "linear\n");
}

static void print_gemm(TextBuf *out, const PlanGemm *g)
{
    static const char *const unit[] = {"cuda.mma", "cuda.wgmma", "rocm.mfma",
                                       "scalar"};

    buf_printf(out, "-\twarps\t%.*s,%.*s,%.*s\t%dx%d %s\n",
               TEXT_ARG(g->a->name), TEXT_ARG(g->b->name), TEXT_ARG(g->c->name),
               g->m_warps, g->n_warps, unit[g->unit]);
}

static void print_fragment(TextBuf *out, Text name, const PlanFragment *f)
{
    uint32_t c = crc(0, f->thread, (size_t)f->elements * f->replicas);

    for (int r = 0; r < f->replicas; r++)
        c = crc(c, f->local, f->elements);
    row(out, -1, "fragment", name);
    buf_printf(out, "%dx%d %08x\n", f->locals, f->replicas, c);
}

void plan_print(TextBuf *out, const Plan *p)
{
    buf_printf(out, "# plan of %.*s for %s (%s) by the rules %s\n",
               TEXT_ARG(p->kernel->name), p->device->name,
               device_arch_name(p->device), plan_rules_name(p->rules));
    for (int i = 0; i < p->launch_count; i++)
        print_launch(out, p, i);
    for (int i = 0; i < p->launch_count; i++) {
        const PlanLaunch *l = &p->launches[i];
        for (int j = 0; j < l->buffer_count; j++)
            print_shared(out, &l->buffers[j]);
        for (int j = 0; j < l->gemm_count; j++)
            print_gemm(out, &l->gemms[j]);
    }
    for (int i = 0; i < p->kernel->buffer_count; i++)
        if (p->fragments[i])
            print_fragment(out, p->kernel->buffers[i]->name, p->fragments[i]);
}
