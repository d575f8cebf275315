// watch_pipeline.c - the staged program, executed, against the serial one.
//
// Most schedules read in every trip what the serial loop reads: nothing is run.
// Where one does not, the program runs once more in the order of the stages;
// what it stores differently is a finding, at the statement that reads first
// what another trip wrote.
#include <string.h>

#include "cli/watch_int.h"
#include "plan/plan.h"

typedef struct {
    RunWatch *w;
    const KernelObject *k;
    const KernelArg *serial, *staged;
    PlanStaged plan;
} Comparing;

static Text words(const Comparing *c, TextBuf *b)
{
    Text t = text_copy(c->w->report.cli->arena, buf_view(b));

    buf_release(b);
    return t;
}

// ---- the first element that differs -----------------------------------------

static void put_value(TextBuf *b, const Tensor *t, const int64_t *index)
{
    double v = tensor_get_f64(t, index);

    buf_printf(b, "%.*g", dtype_is_int(t->dtype) ? 20 : 6, v);
}

static void put_element(TextBuf *b, const Text name, const Tensor *x,
                        const Tensor *y, int64_t flat)
{
    int64_t index[TENSOR_MAX_RANK];

    flat_to_index(x, flat, index);
    buf_printf(b, "%.*s[", TEXT_ARG(name));
    for (int d = 0; d < x->rank; d++)
        buf_printf(b, "%s%lld", d ? ", " : "", (long long)index[d]);
    buf_puts(b, "] is ");
    put_value(b, x, index);
    buf_puts(b, " by the loop and ");
    put_value(b, y, index);
    buf_puts(b, " by the pipeline");
}

// Of the first parameter with one; false: all bytes are the same.
static bool first_difference(const Comparing *c, TextBuf *b, int *param)
{
    for (int i = 0; i < c->k->ir->param_count; i++) {
        const Tensor *x = &c->serial[i].tensor, *y = &c->staged[i].tensor;
        int64_t n = c->serial[i].is_scalar ? 0 : tensor_count(x);
        size_t each = n ? (size_t)dtype_bytes(x->dtype, n) / (size_t)n : 0;
        const char *p, *q;

        if (!n || x->storage == y->storage || !tensor_is_contiguous(x))
            continue;
        p = tensor_data(x), q = tensor_data(y);
        for (int64_t e = 0; each && e < n; e++)
            if (memcmp(p + (size_t)e * each, q + (size_t)e * each, each)) {
                put_element(b, c->k->ir->params[i].name, x, y, e);
                *param = i;
                return true;
            }
    }
    return false;
}

// ---- the finding --------------------------------------------------------------

// Who wrote what is read: in the serial loop, and in the pipeline.
static CheckNote writer_note(const Comparing *c, bool serial)
{
    const PlanStaged *p = &c->plan;
    Span at = serial ? p->wanted : p->got;
    int64_t turn = serial ? p->wanted_turn : p->got_turn;
    TextBuf b = {0};

    buf_printf(&b, "in trip %lld the %s reads what ", (long long)p->turn,
               serial ? "loop" : "pipeline");
    if (at.file)
        buf_printf(&b, "this wrote in trip %lld", (long long)turn);
    else
        buf_puts(&b, "was there before the loop");
    return (CheckNote){at, words(c, &b)};
}

static void add(Comparing *c, TextBuf *element, int param, CheckFindings *found)
{
    Arena *a = c->w->report.cli->arena;
    const PlanStaged *p = &c->plan;
    CheckFinding f = {.id = FINDING_PIPELINE_ORDER,
                      .at = p->reader,
                      .count = 1,
                      .block = -1,
                      .param = param,
                      .tile = p->buffer};

    f.message = text_format(a, "the pipeline reads another '%.*s' here than "
                            "the loop does", TEXT_ARG(p->buffer));
    f.notes = new_array(a, CheckNote, 3);
    f.notes[f.note_count++] = writer_note(c, true);
    f.notes[f.note_count++] = writer_note(c, false);
    f.notes[f.note_count++] = (CheckNote){{0}, words(c, element)};
    f.fix = TEXT("read a tile after the copy that fills it, or num_stages=0");
    vec_push(a, found, f);
}

// ---- the run --------------------------------------------------------------------

static void run_staged(Comparing *c, CheckFindings *found)
{
    Host *h = c->w->host;
    KernelObject staged = *c->k;
    InterpOptions run = {.max_findings = 1,
                         .memory_limit = host_memory_left(h)};
    TextBuf element = {0};
    InterpResult r;
    int param = -1;

    staged.ir = c->plan.kernel;
    memset(staged.code, 0, sizeof staged.code);
    memset(staged.failed, 0, sizeof staged.failed);
    r = kernel_run(&staged, CODE_AS_WRITTEN, c->staged, NULL, &run);
    if (r.launches && !r.cancelled && first_difference(c, &element, &param))
        add(c, &element, param, found);
    buf_release(&element);
    interp_result_release(&r);
}

void watch_pipeline(RunWatch *w, const KernelObject *k, const Check *check,
                    const KernelArg *args, CheckFindings *found)
{
    const Cli *cli = w->report.cli;
    KernelArg *fresh = new_array(cli->arena, KernelArg, k->ir->param_count + 1);
    bool quiet = diag_quiet(cli->diag, true);
    Comparing c = {.w = w, .k = k, .serial = args, .staged = fresh};

    c.plan = plan_staged(cli->arena, k->ir, w->host->options.device);
    if (c.plan.reordered && c.plan.kernel && !k->matrices) {
        if (watch_fresh(w, k, check, args, fresh))
            run_staged(&c, found);
        watch_fresh_release(k, check, fresh);
    }
    diag_quiet(cli->diag, quiet);
}
