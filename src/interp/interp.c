// interp.c - arguments in, results out.
#include "interp/interp_int.h"
#include "support/parallel.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// ---- arguments -----------------------------------------------------------

static bool bad_argument(Run *run, Diag *d, const char *format, ...)
    PRINTF_LIKE(3, 4);

static bool bad_argument(Run *run, Diag *d, const char *format, ...)
{
    char message[300];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    diag_error(d, EXIT_USAGE, run->code->at, "run-argument", "%s", message);
    return false;
}

static bool check_tensor(Run *run, Diag *d, const CodeParam *p,
                         const InterpArg *a)
{
    const CodeBuffer *b = &run->code->buffer[p->buffer];

    if (a->dtype != p->dtype)
        return bad_argument(run, d, "'%.*s' is %s, the kernel takes %s",
                            TEXT_ARG(p->name), dtype_info(a->dtype)->name,
                            dtype_info(p->dtype)->name);
    if (a->rank != b->rank)
        return bad_argument(run, d,
                            "'%.*s' has %d dimensions, the kernel "
                            "takes %d",
                            TEXT_ARG(p->name), a->rank, b->rank);
    for (int i = 0; i < a->rank; i++)
        if (a->shape[i] < 0)
            return bad_argument(run, d, "dimension %d of '%.*s' is negative", i,
                                TEXT_ARG(p->name));
    return true;
}

static bool check_kinds(Run *run, Diag *d, int count)
{
    const Code *c = run->code;

    if (count != c->param_count)
        return bad_argument(run, d, "%d arguments, the kernel takes %d", count,
                            c->param_count);
    for (int i = 0; i < count; i++) {
        const CodeParam *p = &c->param[i];
        const InterpArg *a = &run->args[i];

        if (p->is_scalar != a->is_scalar)
            return bad_argument(run, d, "'%.*s' is a %s, the kernel takes a %s",
                                TEXT_ARG(p->name),
                                a->is_scalar ? "scalar" : "tensor",
                                p->is_scalar ? "scalar" : "tensor");
        if (!p->is_scalar && !check_tensor(run, d, p, a))
            return false;
    }
    return true;
}

static void set_scalars(Run *run)
{
    for (int i = 0; i < run->code->param_count; i++) {
        const CodeParam *p = &run->code->param[i];
        const InterpArg *a = &run->args[i];
        Slot given = {.i = a->i64}, out = {0};
        DType from = DT_I64;

        if (!p->is_scalar)
            continue;
        if (dtype_is_float(p->dtype)) {
            given.d = a->f64;
            from = DT_F64;
        }
        cast_lanes(&run->host, &out, p->dtype, &given, from, true, 1);
        fix_slot(&out, lane_type_of(p->dtype));
        run->host.slot[p->slot] = out;
    }
}

// A size that does not fit is found out when shapes are checked.
static int64_t symbol_value(const CodeSymbol *s, const InterpArg *args)
{
    const InterpArg *a = &args[s->param];
    int64_t size = s->stride ? a->strides[s->dim] : a->shape[s->dim];

    return (size - s->offset) / s->factor;
}

static bool bind_symbols(Run *run, Diag *d)
{
    for (int i = 0; i < run->code->symbol_count; i++) {
        const CodeSymbol *s = &run->code->symbol[i];

        if (s->param < 0)
            return bad_argument(run, d,
                                "'%.*s' is no dimension of any tensor: "
                                "its value is unknown",
                                TEXT_ARG(s->name));
        run->host.slot[s->slot].i = symbol_value(s, run->args);
    }
    return true;
}

static bool check_shape(Run *run, Diag *d, const CodeParam *p,
                        const InterpArg *a)
{
    const CodeBuffer *b = &run->code->buffer[p->buffer];

    for (int i = 0; i < a->rank; i++) {
        int64_t want =
            b->shape[i] >= 0 ? b->shape[i] : run->host.slot[b->shape_slot[i]].i;

        if (a->shape[i] != want)
            return bad_argument(run, d,
                                "dimension %d of '%.*s' is %" PRId64
                                ", the kernel takes %" PRId64,
                                i, TEXT_ARG(p->name), a->shape[i], want);
        if (b->stride_slot[i] < 0 || a->shape[i] < 2)
            continue;
        want = run->host.slot[b->stride_slot[i]].i;
        if (a->strides[i] != want)
            return bad_argument(run, d,
                                "stride %d of '%.*s' is %" PRId64
                                ", the kernel takes %" PRId64,
                                i, TEXT_ARG(p->name), a->strides[i], want);
    }
    return true;
}

static bool is_dense(const InterpArg *a)
{
    int64_t stride = 1;

    for (int i = a->rank - 1; i >= 0; i--) {
        if (a->shape[i] > 1 && a->strides[i] != stride)
            return false;
        stride *= a->shape[i];
    }
    return true;
}

static int64_t bytes_of(const Run *run, const CodeBuffer *b)
{
    int64_t bytes = (int64_t)dtype_bytes(b->dtype, 1);

    for (int i = 0; i < b->rank; i++) {
        int64_t n =
            b->shape[i] >= 0 ? b->shape[i] : run->host.slot[b->shape_slot[i]].i;

        if (n < 0 || __builtin_mul_overflow(bytes, n, &bytes))
            return INT64_MAX;
    }
    return bytes;
}

// Views of global buffers must lie within them.
static bool check_views(Run *run, Diag *d)
{
    const Code *c = run->code;

    for (int i = 0; i < c->buffer_count; i++) {
        const CodeBuffer *b = &c->buffer[i], *root = &c->buffer[b->root];

        if (b->permuted && b->place == BUFFER_PARAM &&
            !is_dense(&run->args[b->param]))
            return bad_argument(run, d,
                                "'%.*s' has a layout of its own and "
                                "must be contiguous",
                                TEXT_ARG(b->name));
        if (b->root == i ||
            (root->place != BUFFER_PARAM && root->place != BUFFER_WORKSPACE))
            continue;
        if (bytes_of(run, b) > bytes_of(run, root))
            return bad_argument(run, d,
                                "'%.*s' is larger than '%.*s', which "
                                "it is a view of",
                                TEXT_ARG(b->name), TEXT_ARG(root->name));
        if (root->place == BUFFER_PARAM && !is_dense(&run->args[root->param]))
            return bad_argument(run, d,
                                "'%.*s' is viewed in another shape and "
                                "must be contiguous",
                                TEXT_ARG(root->name));
    }
    return true;
}

static bool set_arguments(Run *run, Diag *d, int count)
{
    if (!check_kinds(run, d, count))
        return false;
    set_scalars(run);
    if (!bind_symbols(run, d))
        return false;
    run_list(&run->host, &run->code->shapes);
    for (int i = 0; i < count; i++)
        if (!run->code->param[i].is_scalar &&
            !check_shape(run, d, &run->code->param[i], &run->args[i]))
            return false;
    return check_views(run, d);
}

// ---- the run -------------------------------------------------------------

static void init_run(Run *run, const Code *c, const InterpArg *args,
                     const InterpOptions *options, InterpResult *result)
{
    *run = (Run){.code = c,
                 .lanes = lanes_best(),
                 .args = args,
                 .options = options,
                 .result = result};
    run->pack_bytes = pack_need(c);
    run->workspace =
        xcalloc((size_t)c->buffer_count + 1, sizeof *run->workspace);
    init_worker(run, &run->host, true);
}

static void release_run(Run *run)
{
    free_workers(run);
    release_worker(&run->host);
    release_natives(run);
    for (int i = 0; i < run->code->buffer_count; i++)
        free(run->workspace[i]);
    free(run->workspace);
}

static int64_t memory_of(Run *run)
{
    run->sizing = true;
    run->workspace_bytes = 0;
    run_list(&run->host, &run->code->host);
    run->sizing = false;
    return run->workspace_bytes + worker_bytes(run) * parallel_threads();
}

static bool fits(Run *run, Diag *d)
{
    int64_t need = memory_of(run), limit = run->options->memory_limit;

    run->result->scratch_bytes = worker_bytes(run);
    if (!limit || need <= limit)
        return true;
    diag_error(d, EXIT_LIMIT, run->code->at, "run-memory",
               "the run needs %" PRId64 " MiB of working memory, %" PRId64
               " MiB are allowed",
               need >> 20, limit >> 20);
    return false;
}

static bool check_grids(Run *run, Diag *d)
{
    const Code *c = run->code;

    for (int i = 0; i < c->launch_count; i++)
        for (int k = 0; k < c->launch[i].grid_rank; k++) {
            int64_t n = run->host.slot[c->launch[i].grid[k]].i;

            if (n < 0)
                return bad_argument(run, d,
                                    "the grid of T.Kernel is %" PRId64
                                    " in dimension %d",
                                    n, k);
        }
    return true;
}

static void sum_pipelines(Run *run)
{
    InterpResult *r = run->result;
    const Code *c = run->code;

    r->pipeline_count = c->pipeline_count;
    r->pipelines = xcalloc((size_t)r->pipeline_count + 1, sizeof *r->pipelines);
    for (int p = 0; p < r->pipeline_count; p++) {
        InterpPipeline *to = &r->pipelines[p];

        *to = (InterpPipeline){c->pipeline[p].name, c->pipeline[p].at,
                               c->pipeline[p].launch, 0};
        for (int i = 0; i < run->worker_count; i++)
            if (to->trips < run->workers[i].trips[p])
                to->trips = run->workers[i].trips[p];
    }
}

static void sum_up(Run *run)
{
    InterpResult *r = run->result;

    sum_pipelines(run);
    r->blocks_done = atomic_load(&run->done);
    r->cancelled = parallel_cancelled() != 0;
    for (int i = 0; i < run->worker_count; i++) {
        r->flops += run->workers[i].flops;
        r->idle_blocks += run->workers[i].idle_blocks;
        r->ragged |= run->workers[i].ragged;
    }
    collect_findings(run);
    r->ok = !r->cancelled && !r->finding_total;
}

InterpResult interp_run(const Code *c, Diag *d, const InterpArg *args,
                        int arg_count, const InterpOptions *options)
{
    static const InterpOptions none = {0};
    InterpResult r = {0};
    double start;
    Run run;

    r.grid = xcalloc((size_t)c->launch_count + 1, sizeof *r.grid);
    init_run(&run, c, args, options ? options : &none, &r);
    if (set_arguments(&run, d, arg_count) && fits(&run, d) &&
        check_grids(&run, d) && find_natives(&run, d)) {
        make_workers(&run);
        start = time_now();
        run_list(&run.host, &c->host);
        r.seconds = time_now() - start;
        sum_up(&run);
    }
    release_run(&run);
    return r;
}

void interp_result_release(InterpResult *r)
{
    free(r->findings);
    free(r->grid);
    free(r->pipelines);
    buf_release(&r->printed);
    *r = (InterpResult){0};
}
