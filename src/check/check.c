// check.c - one run under watch: shadows are made, hooks handed on.
//
// How a check sees a run. interp shows each instruction before it runs
// (interp/observe.h): where it is, its registers, and, on demand, the elements
// that it touches. A check never changes the run. Three kinds of state:
//
//   shadows   a byte for each lane of a register, each slot and each unit of
//             storage (shade.c): 0, or which buffer's missing value it comes
//             from. Registers and tiles without any are skipped by one test,
//             which is why a clean program costs little (shadow.c).
//   owners    by element of global memory, who stored it last, kept only where
//             the blocks of a launch may meet (outputs.c).
//   notes     what happened at which instructions, counted (record.c).
//
// After the run report.c turns notes into findings: one for each cause, with
// the places that it reached.
#include "check/check_int.h"

#include <stdlib.h>
#include <string.h>

#include "support/parallel.h"

// ---- tables --------------------------------------------------------------

static const FindingInfo infos[] = {
#define FINDING(id, slug, group, level, title, text)                          \
    {slug, CHECK_##group, CHECK_##level, title, text},
#include "check/finding.def"
};

const FindingInfo *finding_info(FindingId id)
{
    return &infos[id];
}

bool finding_find(Text slug, FindingId *out)
{
    for (int i = 0; i < FINDING_COUNT; i++)
        if (text_is(slug, infos[i].slug)) {
            *out = (FindingId)i;
            return true;
        }
    return false;
}

const char *check_group_name(CheckGroup g)
{
    static const char *const names[CHECK_GROUP_COUNT] = {
        [CHECK_BOUNDS] = "bounds",       [CHECK_UNINIT] = "uninitialised",
        [CHECK_RACES] = "races",         [CHECK_BARRIERS] = "barriers",
        [CHECK_PIPELINES] = "pipelines", [CHECK_VALUES] = "values",
        [CHECK_OUTPUTS] = "outputs",     [CHECK_TARGETS] = "targets",
    };

    return names[g];
}

bool check_group_exists(CheckGroup g)
{
    for (int i = 0; i < FINDING_COUNT; i++)
        if (infos[i].group == g)
            return true;
    return false;
}

// ---- workers --------------------------------------------------------------

static Shadows make_shadows(int slots, int vectors, int pitch)
{
    return (Shadows){
        .slot = xcalloc((size_t)slots + 1, 1),
        .lanes = xcalloc((size_t)vectors * (size_t)pitch + 1, 1),
        .dirty = xcalloc((size_t)vectors + 1, sizeof(bool)),
        .pitch = pitch,
    };
}

static void release_shadows(const Shadows *s)
{
    free(s->slot);
    free(s->lanes);
    free(s->dirty);
}

static int most_warps(const Code *c)
{
    int64_t most = 0;

    for (int i = 0; i < c->launch_count; i++) {
        const Launch *l = &c->launch[i];
        int64_t n = l->per_thread ? (l->threads + l->wave - 1) / l->wave : 0;

        most = n > most ? n : most;
    }
    return (int)most;
}

static void make_scratch(const Check *k, CheckWorker *w)
{
    const Code *c = k->code;

    w->scratch = xcalloc((size_t)c->buffer_count + 1, sizeof *w->scratch);
    for (int i = 0; i < c->buffer_count; i++) {
        const CodeBuffer *b = &c->buffer[i];
        Shade *m = &w->scratch[i];

        if (b->root != i || b->offset < 0 || b->bytes <= 0 || !k->unit[i] ||
            (b->place != BUFFER_SCRATCH && b->place != BUFFER_PRIVATE))
            continue;
        m->unit = k->unit[i];
        m->count = b->bytes / m->unit;
        m->at = xcalloc((size_t)m->count + 1, 1);
    }
}

static void make_worker(const Check *k, CheckWorker *w)
{
    const Code *c = k->code;

    w->home = make_shadows(c->slot_count, c->vector_count, CODE_LANES);
    w->warp_count = most_warps(c);
    w->warp = xcalloc((size_t)w->warp_count + 1, sizeof *w->warp);
    for (int i = 0; i < w->warp_count; i++)
        w->warp[i] = make_shadows(c->slot_count, c->warp_vector_count, 64);
    make_scratch(k, w);
}

static void make_notes(CheckWorker *w)
{
    w->notes.at = xcalloc(MOST_NOTES + 1, sizeof *w->notes.at);
    for (int i = 0; i <= MOST_NOTES; i++)
        w->notes.at[i].block = -1;
}

static void release_worker(const Check *k, CheckWorker *w)
{
    release_shadows(&w->home);
    for (int i = 0; i < w->warp_count; i++)
        release_shadows(&w->warp[i]);
    free(w->warp);
    for (int i = 0; i < k->code->buffer_count; i++)
        free(w->scratch[i].at);
    free(w->scratch);
    free(w->barrier);
    order_release(w->order);
    race_release(k, w->race);
    free(w->notes.at);
}

// ---- blocks that wait for each other --------------------------------------

enum { MOST_GRID_BYTES = 256 << 20 };

static void leave_grid(Check *k)
{
    for (int64_t i = 0; i < k->grid_blocks && k->grid; i++)
        release_worker(k, &k->grid[i]);
    free(k->grid);
    k->grid = NULL;
    k->grid_blocks = 0;
}

static int64_t shadow_bytes(const Check *k)
{
    const Code *c = k->code;
    int64_t n = c->slot_count + (int64_t)c->vector_count * CODE_LANES +
                most_warps(c) * (c->slot_count +
                                 64 * (int64_t)c->warp_vector_count);

    for (int i = 0; i < c->buffer_count; i++)
        if (c->buffer[i].root == i && c->buffer[i].bytes > 0 && k->unit[i] &&
            (c->buffer[i].place == BUFFER_SCRATCH ||
             c->buffer[i].place == BUFFER_PRIVATE))
            n += c->buffer[i].bytes / k->unit[i];
    return n;
}

// Too large a grid is not watched, and that is said.
static void make_grid(Check *k, int launch, int64_t blocks)
{
    int64_t each = shadow_bytes(k), all;

    if (__builtin_mul_overflow(each, blocks, &all) || all > MOST_GRID_BYTES) {
        k->limit = (CheckLimit){true, launch, -1, blocks};
        return;
    }
    k->grid_blocks = blocks;
    k->grid = xcalloc((size_t)blocks + 1, sizeof *k->grid);
    for (int64_t i = 0; i < blocks; i++)
        make_worker(k, &k->grid[i]);
}

// ---- hooks ---------------------------------------------------------------

// Blocks that wait for each other take turns on one worker: each needs shadows
// of its own.
static bool is_watched(const Check *k, const InterpStep *s)
{
    return !k->code->launch[s->launch].grid_sync || k->grid;
}

static bool wants(const Check *k, CheckGroup g)
{
    return k->options.groups >> g & 1;
}

static int64_t units_of(const Check *k, const InterpStep *s, int root)
{
    int64_t n;

    k->data[root] = interp_memory_of(s, root, &n);
    k->elements[root] = n;
    for (int d = 0; d < k->code->buffer[root].rank; d++)
        k->shape[root][d] = interp_extent(s, root, d);
    return n * shade_width(k, root);
}

// Room for the shadows of global buffers that come to life without contents
// or are written; what is only read is whole.
static void shade_globals(Check *k, const InterpStep *s)
{
    const Code *c = k->code;

    for (int i = 0; i < c->buffer_count; i++) {
        const CodeBuffer *b = &c->buffer[i];
        bool param = b->place == BUFFER_PARAM;
        Shade *m = &k->global[i];

        if (b->root != i || m->at ||
            (param ? !check_stores_to(k, b->param)
                   : b->place != BUFFER_WORKSPACE))
            continue;
        m->count = units_of(k, s, i);
        m->global = true;
        m->unit = k->unit[i];
        if (!k->data[i])
            continue;
        m->at = xcalloc((size_t)m->count + 1, 1);
        if (!is_watched(k, s))
            continue;
        if (!k->tracing && (!param || k->empty[b->param]))
            shade_fill(m, never_written(i));
    }
}

static void on_launch(void *ctx, const InterpStep *s)
{
    Check *k = ctx;

    leave_grid(k);
    if (k->code->launch[s->launch].grid_sync)
        make_grid(k, s->launch, s->blocks);
    shade_globals(k, s);
    if (!k->tracing)
        outputs_launch(k, s);
    if (!k->tracing && wants(k, CHECK_RACES))
        race_block_launch(k, s);
}

static void on_begin(void *ctx, const InterpStep *s)
{
    Check *k = ctx;
    CheckWorker *w = worker_of_step(k, s);
    size_t slots = (size_t)k->code->slot_count;

    k->workers[s->worker].notes.order = 0;
    if (!is_watched(k, s))
        return;
    for (int i = 0; i < k->code->buffer_count && !k->tracing; i++)
        if (k->code->buffer[i].place == BUFFER_PRIVATE)
            shade_fill(&w->scratch[i], never_written(i));
    memset(w->home.slot, 0, slots);
    for (int i = 0; i < w->warp_count; i++)
        memset(w->warp[i].slot, 0, slots);
    if (k->order && wants(k, CHECK_RACES))
        order_begin(k, s);
    if (k->order && wants(k, CHECK_BARRIERS))
        barrier_begin(k, s);
}

static void on_end(void *ctx, const InterpStep *s)
{
    Check *k = ctx;

    if (is_watched(k, s) && k->order && wants(k, CHECK_BARRIERS))
        barrier_end(k, s);
}

static void on_done(void *ctx, const InterpStep *s)
{
    Check *k = ctx;

    if (is_watched(k, s))
        trace_after(k, s);
}

static void on_instr(void *ctx, const InterpStep *s)
{
    Check *k = ctx;

    if (!is_watched(k, s))
        return;
    if (k->tracing) {
        trace_before(k, s);
        return;
    }
    if (wants(k, CHECK_VALUES))
        values_before(k, s);
    if (wants(k, CHECK_OUTPUTS))
        outputs_before(k, s);
    if (wants(k, CHECK_BOUNDS))
        bounds_before(k, s);
    if (wants(k, CHECK_RACES)) {
        race_before(k, s);
        race_block_before(k, s);
        race_thread_before(k, s);
    }
    if (wants(k, CHECK_BARRIERS))
        barrier_before(k, s);
    shadow_before(k, s);
    if (k->wraps)
        wrap_before(k, s);
    if (k->copied)
        align_before(k, s);
}

// ---- life ----------------------------------------------------------------

// The smallest element among a buffer's views.
static void set_units(Check *k)
{
    const Code *c = k->code;

    for (int i = 0; i < c->buffer_count; i++) {
        int *unit = &k->unit[c->buffer[i].root];

        if (c->buffer[i].element > 0 &&
            (!*unit || c->buffer[i].element < *unit))
            *unit = c->buffer[i].element;
    }
}

Check *check_create(const Code *c, const CheckOptions *options)
{
    Check *k = xcalloc(1, sizeof *k);
    size_t buffers = (size_t)c->buffer_count + 1;

    k->code = c;
    k->options = *options;
    k->tracing = options->trace != NULL;
    if (k->tracing)
        k->target = *options->trace;
    k->empty = xcalloc((size_t)c->param_count + 1, sizeof *k->empty);
    for (int i = 0; options->empty && i < c->param_count; i++)
        k->empty[i] = options->empty[i];
    k->unit = xcalloc(buffers, sizeof *k->unit);
    set_units(k);
    k->global = xcalloc(buffers, sizeof *k->global);
    k->owners = xcalloc(buffers, sizeof *k->owners);
    k->elements = xcalloc(buffers, sizeof *k->elements);
    k->touch = xcalloc(buffers, sizeof *k->touch);
    k->data = xcalloc(buffers, sizeof *k->data);
    k->shape = xcalloc(buffers, sizeof *k->shape);
    k->worker_count = parallel_threads();
    k->workers = xcalloc((size_t)k->worker_count, sizeof *k->workers);
    for (int i = 0; i < k->worker_count; i++) {
        make_worker(k, &k->workers[i]);
        make_notes(&k->workers[i]);
    }
    if (wants(k, CHECK_RACES) && !k->tracing)
        race_create(k);
    if ((wants(k, CHECK_RACES) || wants(k, CHECK_BARRIERS)) && !k->tracing)
        order_create(k);
    if (wants(k, CHECK_VALUES) && !k->tracing)
        wrap_create(k);
    if (wants(k, CHECK_TARGETS) && !k->tracing)
        align_create(k);
    k->observer = xcalloc(1, sizeof *k->observer);
    *k->observer = (InterpObserver){.ctx = k,
                                    .launch = on_launch,
                                    .begin = on_begin,
                                    .before = on_instr,
                                    .end = on_end,
                                    .after = k->tracing ? on_done : NULL};
    return k;
}

bool check_wants_places(const Code *c)
{
    return c->no_auto_sync;
}

const InterpObserver *check_observer(const Check *k)
{
    return k->observer;
}

void check_findings(Check *k, Arena *a, const InterpResult *r,
                    CheckFindings *out)
{
    report_all(k, a, r, out);
}

bool check_limit(const Check *k, Arena *a, Span *at, Text *words)
{
    const CheckLimit *l = &k->limit;
    TextBuf b = {0};

    if (!l->reached)
        return false;
    *at = k->code->launch[l->launch].at;
    if (l->buffer < 0) {
        buf_grouped(&b, l->size);
        buf_printf(&b, " blocks that meet at T.sync_grid are not checked: the "
                   "shadows of all of them would take more than %d MiB",
                   MOST_GRID_BYTES >> 20);
    } else {
        buf_printf(&b, "which blocks meet in '%.*s' is not checked: it has ",
                   TEXT_ARG(k->code->buffer[l->buffer].name));
        buf_grouped(&b, l->size);
        buf_puts(&b, " elements, for which more than 256 MiB would be needed");
    }
    *words = text_copy(a, buf_view(&b));
    buf_release(&b);
    return true;
}

static bool uses_param(const Check *k, int param, bool store)
{
    const Code *c = k->code;

    for (int l = 0; l < c->launch_count; l++)
        for (int i = 0; i < c->launch[l].body.len; i++) {
            InstrOp op = (InstrOp)c->launch[l].body.code[i].op;
            int a = c->launch[l].body.code[i].a, root;
            bool loads = op == INSTR_VLOAD || op == INSTR_LOAD;
            bool stores = op == INSTR_VSTORE || op == INSTR_STORE;

            if (op != INSTR_VATOMIC && !(store ? stores : loads))
                continue;
            root = c->buffer[c->access[a].buffer].root;
            if (c->buffer[root].place == BUFFER_PARAM &&
                c->buffer[root].param == param)
                return true;
        }
    return false;
}

bool check_stores_to(const Check *k, int param)
{
    return uses_param(k, param, true);
}

bool check_loads_from(const Check *k, int param)
{
    return uses_param(k, param, false);
}

void check_destroy(Check *k)
{
    if (!k)
        return;
    race_destroy(k);
    wrap_destroy(k);
    align_destroy(k);
    leave_grid(k);
    for (int i = 0; i < k->worker_count; i++)
        release_worker(k, &k->workers[i]);
    order_plan_release(k);
    for (int i = 0; i < k->code->buffer_count; i++) {
        free(k->global[i].at);
        free(k->owners[i].block);
        free(k->owners[i].pc);
        free(k->touch[i]);
    }
    free(k->workers);
    free(k->global);
    free(k->owners);
    free(k->touch);
    free(k->elements);
    free(k->shape);
    free((void *)k->data);
    free(k->unit);
    free(k->empty);
    free(k->observer);
    free(k);
}
