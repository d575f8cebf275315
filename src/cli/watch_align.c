// watch_align.c - copies that the tensor memory unit cannot make, or threads.
//
// It moves boxes of tensors whose rows lie a multiple of 16 bytes apart, in runs
// of as many. T.copy falls back to plain loads where that does not hold;
// T.tma_copy asks for the unit.
#include "cli/watch_int.h"

enum { TMA_BYTES = 16, VECTOR_BYTES = 16 };

typedef struct {
    RunWatch *w;
    const KernelObject *k;
    const KernelArg *args;
    CheckFindings *found;
} Aligning;

static void add(Aligning *g, const IrStmt *s, Text message, Text fix)
{
    CheckFinding f = {.id = FINDING_ALIGNMENT,
                      .at = s->at,
                      .message = message,
                      .fix = fix,
                      .count = 1,
                      .block = -1,
                      .param = -1};

    vec_push(g->w->report.cli->arena, g->found, f);
}

static int64_t bytes_of(DType t, int64_t elements)
{
    return elements * dtype_info(t)->bits / 8;
}

// The bytes between two of dimension d, and of the region's innermost run.
static void check_region(Aligning *g, const IrStmt *s, const IrRegion *r)
{
    const IrBuffer *b = r->buffer;
    Arena *a = g->w->report.cli->arena;
    const Text pad_rows = TEXT("pad the tensor's rows, or use T.copy");
    int last = b->rank - 1;
    int64_t run;

    if (b->scope != SCOPE_GLOBAL || b->param < 0 || b->alias_of)
        return;
    const Tensor *t = &g->args[b->param].tensor;
    run = bytes_of(b->dtype, t->offset) % TMA_BYTES;
    if (run) {
        add(g, s, text_format(a, "T.tma_copy: '%.*s' begins %lld bytes past a "
                              "multiple of the %d that TMA needs",
                              TEXT_ARG(b->name), (long long)run, TMA_BYTES),
            TEXT("copy the view to a tensor of its own, or use T.copy"));
        return;
    }
    for (int d = 0; d < last; d++) {
        int64_t apart = bytes_of(b->dtype, t->strides[d]);

        if (t->shape[d] > 1 && apart % TMA_BYTES) {
            add(g, s, text_format(a, "T.tma_copy: rows of '%.*s' lie %lld bytes "
                                  "apart, no multiple of the %d that TMA needs",
                                  TEXT_ARG(b->name), (long long)apart,
                                  TMA_BYTES), pad_rows);
            return;
        }
    }
    if (r->extent[last] && ir_is_int(r->extent[last], &run) &&
        bytes_of(b->dtype, run) % TMA_BYTES)
        add(g, s, text_format(a, "T.tma_copy: a row of the box is %lld bytes, "
                              "no multiple of the %d that TMA needs",
                              (long long)bytes_of(b->dtype, run), TMA_BYTES),
            pad_rows);
}

// A vector of a thread has at most 16 bytes and 1, 2, 4... elements, and
// coalesced_width has to divide it.
static void check_width(Aligning *g, const IrStmt *s)
{
    int64_t n = ir_attr_int(s, ATTR_COALESCED_WIDTH, 0);
    int bits = 8;

    for (int i = 0; i < 2; i++)
        if (s->operand[i].kind == OPERAND_REGION &&
            dtype_info(s->operand[i].region->buffer->dtype)->bits > bits)
            bits = dtype_info(s->operand[i].region->buffer->dtype)->bits;
    if (n < 1 || ((n & (n - 1)) == 0 && n * bits <= 8 * VECTOR_BYTES))
        return;
    add(g, s, text_format(g->w->report.cli->arena,
                          "coalesced_width=%lld divides no vector of %d-bit "
                          "elements, which has at most %d bytes", (long long)n,
                          bits, VECTOR_BYTES),
        TEXT("take 1, 2, 4 or 8 elements of at most 16 bytes in all"));
}

static bool visit(void *ctx, IrStmt *s)
{
    Aligning *g = ctx;

    if (s->kind == STMT_TILE && s->op == OP_COPY)
        check_width(g, s);
    for (int i = 0; s->kind == STMT_TILE && s->op == OP_TMA_COPY && i < 2; i++)
        if (s->operand[i].kind == OPERAND_REGION)
            check_region(g, s, s->operand[i].region);
    return true;
}

void watch_alignment(RunWatch *w, const KernelObject *k, const KernelArg *args,
                     CheckFindings *found)
{
    Aligning g = {w, k, args, found};

    if (w->host->options.device->vendor == VENDOR_NVIDIA)
        ir_walk(k->ir->body, visit, NULL, &g);
}
