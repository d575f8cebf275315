// watch_align.c - copies that the tensor memory unit cannot make.
//
// It moves boxes of tensors whose rows lie a multiple of 16 bytes apart, in runs
// of as many. T.copy falls back to plain loads where that does not hold;
// T.tma_copy asks for the unit.
#include "cli/watch_int.h"

enum { TMA_BYTES = 16 };

typedef struct {
    RunWatch *w;
    const KernelObject *k;
    const KernelArg *args;
    CheckFindings *found;
} Aligning;

static void add(Aligning *g, const IrStmt *s, Text message)
{
    CheckFinding f = {.id = FINDING_ALIGNMENT,
                      .at = s->at,
                      .message = message,
                      .fix = TEXT("pad the tensor's rows, or use T.copy"),
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
    int last = b->rank - 1;
    int64_t run;

    if (b->scope != SCOPE_GLOBAL || b->param < 0 || b->alias_of)
        return;
    const Tensor *t = &g->args[b->param].tensor;
    for (int d = 0; d < last; d++) {
        int64_t apart = bytes_of(b->dtype, t->strides[d]);

        if (t->shape[d] > 1 && apart % TMA_BYTES) {
            add(g, s, text_format(a, "T.tma_copy: rows of '%.*s' lie %lld bytes "
                                  "apart, no multiple of the %d that TMA needs",
                                  TEXT_ARG(b->name), (long long)apart,
                                  TMA_BYTES));
            return;
        }
    }
    if (r->extent[last] && ir_is_int(r->extent[last], &run) &&
        bytes_of(b->dtype, run) % TMA_BYTES)
        add(g, s, text_format(a, "T.tma_copy: a row of the box is %lld bytes, "
                              "no multiple of the %d that TMA needs",
                              (long long)bytes_of(b->dtype, run), TMA_BYTES));
}

static bool visit(void *ctx, IrStmt *s)
{
    Aligning *g = ctx;

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
