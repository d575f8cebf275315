// schedule.c - workers, and the blocks of a launch in parallel.
//
// Everything a worker needs is allocated before the blocks start: inside the
// parallel region there is no malloc, no output and no diagnostics.
#include "interp/interp_int.h"
#include "support/parallel.h"

#include <stdlib.h>
#include <string.h>

enum {
    ALIGN = 64,
    REGISTER = CODE_LANES * 8 + 64,
    GUARD = 256,
    LARGE_BYTES = 32 << 20,
    MOST_RESIDENT = 1 << 16 // blocks on a device, and more
};

// ---- memory of a worker --------------------------------------------------

static void *aligned(size_t bytes)
{
    void *p = NULL;

    if (posix_memalign(&p, ALIGN, bytes + GUARD))
        fatal(EXIT_LIMIT, "out of memory (%zu bytes wanted)", bytes);
    return p;
}

int64_t worker_bytes(const Run *run)
{
    const Code *c = run->code;

    return c->scratch_bytes + crew_bytes(c) +
           (int64_t)c->vector_count * REGISTER +
           4 * run->pack_bytes + CODE_LANES * 24 +
           (int64_t)c->slot_count * (int64_t)sizeof(Slot) +
           (int64_t)c->buffer_count * (int64_t)sizeof(Tensor) +
           (int64_t)c->site_count * (int64_t)sizeof(Finding);
}

void init_worker(Run *run, Worker *w, bool host)
{
    const Code *c = run->code;
    int vectors = c->vector_count;

    *w = (Worker){
        .run = run, .code = c, .lanes = run->lanes, .launch = -1, .fuel = FUEL,
        .pitch = REGISTER};
    w->slot = xcalloc((size_t)c->slot_count + 1, sizeof(Slot));
    memcpy(w->slot, c->slot, (size_t)c->slot_count * sizeof(Slot));
    w->buffer = xcalloc((size_t)c->buffer_count + 1, sizeof(Tensor));
    w->finding = xcalloc((size_t)c->site_count + 1, sizeof(Finding));
    w->stride = xcalloc((size_t)c->access_count + 1, sizeof(Stride));
    w->trips = xcalloc((size_t)c->pipeline_count + 1, sizeof *w->trips);
    w->raw = aligned(CODE_LANES * 8);
    if (host)
        return;
    w->v = xcalloc((size_t)vectors + 1, sizeof *w->v);
    w->own = aligned((size_t)vectors * REGISTER);
    for (int i = 0; i < vectors; i++)
        w->v[i] = w->own + (size_t)i * REGISTER;
    w->scratch = aligned((size_t)c->scratch_bytes);
    for (int i = 0; i < 4; i++)
        w->pack[i] = aligned((size_t)run->pack_bytes);
    w->offset = aligned(CODE_LANES * sizeof *w->offset);
    w->inside = aligned(CODE_LANES * sizeof *w->inside);
    make_crew(c, &w->crew);
}

void release_worker(Worker *w)
{
    free(w->slot);
    free(w->buffer);
    free(w->finding);
    free(w->stride);
    free(w->trips);
    free(w->raw);
    free(w->v);
    free(w->own);
    free(w->scratch);
    for (int i = 0; i < 4; i++)
        free(w->pack[i]);
    free(w->offset);
    free(w->inside);
    free_crew(&w->crew);
}

static void set_tensors(Run *run, Worker *w);

void make_workers(Run *run)
{
    run->worker_count = parallel_threads();
    run->workers = xcalloc((size_t)run->worker_count, sizeof(Worker));
    for (int i = 0; i < run->worker_count; i++)
        init_worker(run, &run->workers[i], false);
    set_tensors(run, &run->workers[0]);
    plan_gemms(run, &run->workers[0]);
    find_matrices(run);
}

void free_workers(Run *run)
{
    for (int i = 0; i < run->worker_count; i++)
        release_worker(&run->workers[i]);
    free(run->workers);
    free(run->gemm);
    free(run->matrix);
    xgemm_destroy(run->xgemm);
}

// ---- tensors -------------------------------------------------------------

// Lanes are rounded to their dtype before they are stored: an infinity that one
// holds is meant, and stays.
LaneFn *exact_store(const Lanes *l, DType t)
{
    return l->store_nosat[t] ? l->store_nosat[t] : l->store[t];
}

static void set_access(const Worker *w, const CodeBuffer *b, Tensor *t)
{
    bool wide = lane_type_of(b->dtype) != LANE_F32
                    ? dtype_info(b->dtype)->bits >= 32
                    : b->dtype == DT_F32;

    t->type = lane_type_of(b->dtype);
    t->lane = (int)lane_bytes(t->type);
    t->element = b->element;
    if (b->lanes || wide)
        return;
    t->load = w->lanes->load[b->dtype];
    t->store = exact_store(w->lanes, b->dtype);
}

static void set_shape(const Worker *w, const CodeBuffer *b, Tensor *t)
{
    int64_t stride = 1;

    for (int d = b->rank - 1; d >= 0; d--) {
        t->shape[d] =
            b->shape[d] >= 0 ? b->shape[d] : w->slot[b->shape_slot[d]].i;
        t->stride[d] = stride;
        stride *= t->shape[d];
    }
}

static void set_param(const Worker *w, int index, const CodeBuffer *b,
                      Tensor *t)
{
    const InterpArg *a = &w->run->args[b->param];
    int64_t bytes = b->element;

    t->at = a->data;
    t->writes = a->writes;
    t->global = true;
    for (int d = 0; d < a->rank; d++)
        bytes *= a->shape[d];
    t->large = bytes >= LARGE_BYTES;
    if (b->root != index)
        return; // a view is row-major over all of it
    for (int d = 0; d < b->rank; d++) {
        t->shape[d] = a->shape[d];
        t->stride[d] = a->strides[d];
    }
}

// Where each buffer is for this worker. Sizes have been checked.
static void set_tensors(Run *run, Worker *w)
{
    const Code *c = run->code;

    for (int i = 0; i < c->buffer_count; i++) {
        const CodeBuffer *b = &c->buffer[i], *root = &c->buffer[b->root];
        Tensor *t = &w->buffer[i];

        *t = (Tensor){0};
        t->private = root->place == BUFFER_PRIVATE;
        set_access(w, b, t);
        set_shape(w, b, t);
        if (root->place == BUFFER_PARAM)
            set_param(w, i, b, t);
        else if (root->place == BUFFER_WORKSPACE) {
            t->at = run->workspace[b->root];
            t->global = true;
        } else if (w->scratch && root->offset >= 0) {
            t->at = w->scratch + root->offset;
        }
    }
}

// ---- blocks --------------------------------------------------------------

typedef struct {
    Run *run;
    int launch;
    int64_t grid[3], blocks; // to be run
    const int64_t *chosen;   // their ids, or NULL: all
} Blocks;

static void enter_block(Blocks *b, Worker *w, int64_t block)
{
    const Launch *l = &b->run->code->launch[b->launch];
    int64_t rest = block;

    for (int d = 0; d < l->grid_rank; d++) {
        w->slot[l->block[d]].i = rest % b->grid[d];
        rest /= b->grid[d];
    }
    w->launch = b->launch;
    w->block = block;
    w->stored = false;
}

static void run_block(Blocks *b, Worker *w, int64_t block)
{
    const Launch *l = &b->run->code->launch[b->launch];

    enter_block(b, w, block);
    observe_block(w, true);
    if (l->per_thread) {
        start_crew(w, l);
        if (!run_crew(w) && !w->stopped)
            report_stuck(w);
    } else {
        run_list(w, &l->body);
    }
    stream_settle();
    observe_block(w, false);
    if (w->stopped)
        return;
    w->idle_blocks += !w->stored;
    if (b->run->options->print_count)
        show_block_end(w);
}

static void one_block(void *ctx, int worker, int64_t item)
{
    Blocks *b = ctx;
    Run *run = b->run;
    Worker *w = &run->workers[worker];
    int64_t done;

    if (w->stopped)
        return;
    run_block(b, w, b->chosen ? b->chosen[item] : item);
    if (w->stopped)
        return;
    done = atomic_fetch_add(&run->done, 1) + 1;
    if (run->options->progress && worker == 0)
        run->options->progress(run->options->progress_ctx, done,
                               run->result->blocks_total);
}

static void start_workers(Run *run)
{
    size_t bytes = (size_t)run->code->slot_count * sizeof(Slot);

    for (int i = 0; i < run->worker_count; i++) {
        Worker *w = &run->workers[i];

        memcpy(w->slot, run->host.slot, bytes);
        set_tensors(run, w);
        w->stopped = false;
    }
}

static bool chosen_blocks(Blocks *b)
{
    const InterpOptions *o = b->run->options;
    int64_t all = b->blocks;

    if (b->launch != b->run->code->launch_count - 1 || !o->blocks)
        return true;
    b->chosen = o->blocks;
    b->blocks = o->block_count;
    for (int64_t i = 0; i < b->blocks; i++)
        if (b->chosen[i] < 0 || b->chosen[i] >= all)
            return false;
    return true;
}

// The grid as the host part left it; false when it is nothing to run.
static bool grid_of(Run *run, int launch, Blocks *b)
{
    const Launch *l = &run->code->launch[launch];

    bool some = true;

    b->blocks = 1;
    for (int d = 0; d < 3; d++) {
        b->grid[d] = d < l->grid_rank ? run->host.slot[l->grid[d]].i : 1;
        run->result->grid[launch][d] = b->grid[d];
        some = some && b->grid[d] > 0 &&
               !__builtin_mul_overflow(b->blocks, b->grid[d], &b->blocks);
    }
    return some && chosen_blocks(b);
}

// ---- blocks that wait for each other -------------------------------------

// Every block keeps its warps and its memory; each goes as far as it can, then
// all that wait for the grid go on.
static void enter_grid(Blocks *b, Worker *w, const Crew *crew, int64_t i)
{
    w->crew = crew[i];
    w->scratch = crew[i].scratch;
    set_tensors(b->run, w);
    enter_block(b, w, b->chosen ? b->chosen[i] : i);
}

static bool grid_turn(Blocks *b, Worker *w, Crew *crew, bool *some)
{
    bool all = true;

    *some = false;
    for (int64_t i = 0; i < b->blocks && !w->stopped; i++) {
        enter_grid(b, w, crew, i);
        if (!run_crew(w))
            all = false;
        crew[i] = w->crew;
    }
    for (int64_t i = 0; i < b->blocks; i++)
        for (int k = 0; k < crew[i].count; k++)
            *some |= crew[i].warp[k].state == WARP_GRID;
    return all;
}

static bool grid_is_there(const Blocks *b, const Crew *crew)
{
    for (int64_t i = 0; i < b->blocks; i++)
        for (int k = 0; k < crew[i].count; k++)
            if (crew[i].warp[k].state != WARP_GRID)
                return false;
    return true;
}

// A grid that waits for itself has to be on the device as a whole.
static void check_grid(const Blocks *b)
{
    const Code *c = b->run->code;
    int64_t limit = b->run->options->memory_limit, each, all;

    each = c->scratch_bytes + crew_bytes(c);
    if (b->blocks > MOST_RESIDENT ||
        __builtin_mul_overflow(each, b->blocks, &all) ||
        (limit && all > limit))
        fatal(EXIT_LIMIT,
              "T.sync_grid: %lld blocks of %lld bytes cannot be kept at the "
              "same time",
              (long long)b->blocks, (long long)each);
}

static void start_grid(Blocks *b, Worker *w, Crew *crew)
{
    for (int64_t i = 0; i < b->blocks; i++) {
        make_crew(b->run->code, &crew[i]);
        crew[i].scratch = aligned((size_t)b->run->code->scratch_bytes);
        enter_block(b, w, b->chosen ? b->chosen[i] : i);
        w->crew = crew[i];
        start_crew(w, &b->run->code->launch[b->launch]);
        observe_block(w, true);
        crew[i] = w->crew;
    }
}

static void stuck_grid(Blocks *b, Worker *w, Crew *crew)
{
    for (int64_t i = 0; i < b->blocks; i++) {
        w->crew = crew[i];
        enter_block(b, w, b->chosen ? b->chosen[i] : i);
        report_stuck(w);
    }
}

static void run_grid(Blocks *b)
{
    Worker *w = &b->run->workers[0];
    Crew own = w->crew, *crew = xcalloc((size_t)b->blocks + 1, sizeof *crew);
    char *scratch = w->scratch;
    bool some;

    check_grid(b);
    start_grid(b, w, crew);
    while (!grid_turn(b, w, crew, &some) && !w->stopped) {
        if (!some || !grid_is_there(b, crew)) {
            stuck_grid(b, w, crew);
            break;
        }
        for (int64_t i = 0; i < b->blocks; i++)
            release_grid(&crew[i]);
    }
    stream_settle();
    for (int64_t i = 0; i < b->blocks; i++) {
        enter_grid(b, w, crew, i);
        observe_block(w, false);
        free(crew[i].scratch);
        free_crew(&crew[i]);
    }
    free(crew);
    w->crew = own;
    w->scratch = scratch;
    set_tensors(b->run, w);
    if (!w->stopped)
        atomic_fetch_add(&b->run->done, b->blocks);
}

static void run_launch(Run *run, int launch)
{
    Blocks b = {.run = run, .launch = launch};

    run->result->launches++;
    if (!grid_of(run, launch, &b))
        return;
    run->result->blocks_total += b.blocks;
    start_workers(run);
    observe_launch(&run->workers[0], launch, b.blocks);
    if (run->code->launch[launch].grid_sync) {
        run_grid(&b);
        return;
    }
    if (!run->code->launch[launch].ordered && !run->options->print_count) {
        parallel_for(b.blocks, 1, one_block, &b);
        return;
    }
    for (int64_t i = 0; i < b.blocks && !parallel_cancelled(); i++)
        one_block(&b, 0, i);
}

const Instr *exec_LAUNCH(Worker *w, const Instr *i)
{
    if (!w->run->sizing)
        run_launch(w->run, i->a);
    return parallel_cancelled() ? NULL : i + 1;
}

const Instr *exec_WORKSPACE(Worker *w, const Instr *i)
{
    const CodeBuffer *b = &w->code->buffer[i->a];
    int64_t bytes = b->element;

    for (int d = 0; d < b->rank; d++) {
        int64_t n =
            b->shape[d] >= 0 ? b->shape[d] : w->slot[b->shape_slot[d]].i;

        if (n < 0 || __builtin_mul_overflow(bytes, n, &bytes))
            fatal(EXIT_LIMIT, "workspace '%.*s' is too large",
                  TEXT_ARG(b->name));
    }
    w->run->workspace_bytes += bytes;
    if (w->run->sizing || w->run->workspace[i->a])
        return i + 1;
    w->run->workspace[i->a] = xcalloc((size_t)bytes + GUARD, 1);
    return i + 1;
}
