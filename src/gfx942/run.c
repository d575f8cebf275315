// run.c - runs a launch: workgroups one by one, their waves interleaved.
//
// With seed 0 a wave runs until it meets a barrier or ends, in order. Any
// other seed switches between waves at random places, and runs the workgroups
// in another order; a program without races gives the same bits either way.
// Workgroups are spread over threads unless the code has atomics of device
// memory, whose order would show.
#include "gfx942/wave_int.h"

#include <stdlib.h>

#include "support/parallel.h"

enum {
    FINDINGS_MOST = 256,                        // places, of a worker
    QUANTUM = 48,                               // most instructions of a turn
    KERNARG_PAD = 64,
    POLL = 4096,                                // instructions between polls
};

// ---- findings ---------------------------------------------------------------

void wave_finding(Wave *w, GfxFindingKind kind, int lane, uint64_t value)
{
    Group *g = w->group;
    FindingList *l = &g->findings;
    uint64_t pc = OBJECT_BASE + 4ull * w->pc;
    for (int i = 0; i < l->len; i++)
        if (l->at[i].kind == kind && l->at[i].pc == pc) {
            l->at[i].count++;
            return;
        }
    if (l->len < l->room)
        l->at[l->len++] = (GfxFinding){kind, pc, g->block, w->id, lane, value,
                                       1};
}

void wave_stop(Wave *w, GfxFindingKind kind, uint64_t value)
{
    wave_finding(w, kind, -1, value);
    w->group->halted = true;
}

// ---- a wave -----------------------------------------------------------------

static void count_kind(Group *g, IsaEncoding e)
{
    static const uint8_t kind[ENC_COUNT] = {
        [ENC_SOP2] = COUNT_SALU, [ENC_SOPK] = COUNT_SALU,
        [ENC_SOP1] = COUNT_SALU, [ENC_SOPC] = COUNT_SALU,
        [ENC_SMEM] = COUNT_SMEM, [ENC_VOP1] = COUNT_VALU,
        [ENC_VOP2] = COUNT_VALU, [ENC_VOPC] = COUNT_VALU,
        [ENC_VOP3] = COUNT_VALU, [ENC_VOP3P] = COUNT_VALU,
    };
    if (kind[e])
        g->count[kind[e]]++;
}

// An instruction without its function stops the group.
static void step(Wave *w)
{
    Group *g = w->group;
    const IsaInstr *in = &g->run->code[w->pc];
    Exec *exec = in->op ? g->run->exec[in->op] : NULL;
    if (!in->words || w->pc + in->words > g->run->words) {
        wave_stop(w, GFX_BAD_JUMP, OBJECT_BASE + 4ull * w->pc);
        return;
    }
    if (!exec) {
        wave_stop(w, GFX_UNSUPPORTED, 0);
        return;
    }
    w->next = w->pc + in->words;
    if (w->pending)
        wait_check(w, in);
    count_kind(g, isa_info((IsaOp)in->op)->encoding);
    if (g->block < g->run->traced) {
        StepsBefore b = steps_before(w);
        exec(w, in);
        steps_add(w, &b);
    } else {
        exec(w, in);
    }
    if (w->next >= g->run->words && w->state != WAVE_DONE)
        wave_stop(w, GFX_BAD_JUMP, OBJECT_BASE + 4ull * w->next);
    else
        w->pc = w->next;
}

static void release_barrier(Group *g)
{
    for (int i = 0; i < g->wave_count; i++) {
        Wave *w = &g->waves[i];
        if (w->state == WAVE_AT_BARRIER)
            w->state = WAVE_READY;
        w->published = w->done;
    }
    g->waiting = 0;
}

// Runs a wave until it waits, ends, or has had its turn.
static void turn(Wave *w, int64_t most)
{
    Group *g = w->group;
    int64_t limit = g->run->launch->most_steps;
    for (int64_t i = 0; i < most; i++) {
        step(w);
        if (g->halted || w->state != WAVE_READY)
            return;
        if (++g->steps % POLL == 0 && parallel_cancelled())
            g->halted = g->stopped = true;
        if (limit && g->steps >= limit)
            g->halted = g->stopped = true;
        if (g->halted)
            return;
    }
}

// ---- a workgroup ------------------------------------------------------------

static uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static Wave *choose(Group *g)
{
    int ready = 0, at;
    for (int i = 0; i < g->wave_count; i++)
        ready += g->waves[i].state == WAVE_READY;
    if (!ready)
        return NULL;
    at = g->run->launch->seed ? (int)(random_next(&g->random) % ready) : 0;
    for (int i = 0;; i++)
        if (g->waves[i].state == WAVE_READY && at-- == 0)
            return &g->waves[i];
}

static void run_waves(Group *g)
{
    bool mixed = g->run->launch->seed != 0 && g->wave_count > 1;
    while (!g->halted) {
        Wave *w = choose(g);
        if (w) {
            turn(w, mixed ? 1 + (int64_t)(random_next(&g->random) % QUANTUM)
                          : INT64_MAX);
            continue;
        }
        if (!g->waiting)
            return;
        release_barrier(g);
        if (parallel_cancelled())
            g->halted = g->stopped = true;
    }
}

// What the kernel's descriptor asks for, in this order.
static int put_user_scalars(Wave *w)
{
    const Run *run = w->group->run;
    const GfxKernel *k = run->launch->kernel;
    int at = 0;
    if (k->properties & 1) {                    // private segment buffer
        at += 4;
    }
    if (k->properties & 2) {
        scalar_put64(w, at, PACKET_ADDRESS);
        at += 2;
    }
    if (k->properties & 4)                      // queue
        at += 2;
    if (k->properties & 8) {
        scalar_put64(w, at, KERNARG_ADDRESS);
        at += 2;
    }
    if (k->properties & 16)                     // dispatch id
        at += 2;
    if (k->properties & 32)                     // flat scratch
        at += 2;
    if (k->properties & 64)
        scalar_put(w, at++, run->scratch_bytes);
    int count = k->preload & 0x7f, first = k->preload >> 7;
    for (int i = 0; i < count; i++) {
        uint32_t word = 0;
        if (4 * (first + i + 1) <= k->kernarg_size)
            memcpy(&word, run->launch->kernarg + 4 * (first + i), 4);
        scalar_put(w, at + i, word);
    }
    return k->rsrc2 >> 1 & 31;
}

static void put_scalars(Wave *w)
{
    const GfxKernel *k = w->group->run->launch->kernel;
    int at = put_user_scalars(w);
    for (int d = 0; d < 3; d++)
        if (k->rsrc2 >> (7 + d) & 1)
            scalar_put(w, at++, w->group->position[d]);
    uint32_t left = w->group->run->threads - LANES * (uint32_t)w->id;
    scalar_put64(w, OPERAND_EXEC,
                 left >= LANES ? ~0ull : (1ull << left) - 1);
}

// v0: the thread's place in the workgroup, 10 bits a dimension.
static void put_threads(Wave *w)
{
    const uint32_t *size = w->group->run->launch->block;
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t t = LANES * (uint32_t)w->id + i;
        w->v[0][i] = t % size[0] | t / size[0] % size[1] << 10
                     | t / size[0] / size[1] << 20;
    }
}

enum { PRELOAD_SKIP = 256 };

static void start_wave(Group *g, int id)
{
    Wave *w = &g->waves[id];
    const GfxKernel *k = g->run->launch->kernel;
    uint32_t (*rows)[LANES] = w->v;
    Transfer *transfers = w->transfers;
    // Registers hold anything; the same anything whoever ran here before.
    for (int file = 0; file < 2; file++)
        for (int r = 256 * file; r < 256 * file + g->run->rows[file]; r++)
            for (int i = 0; i < LANES; i++)
                rows[r][i] = 0x7fa00000u | (uint32_t)r;
    memset(w, 0, sizeof *w);
    w->v = rows;
    w->transfers = transfers;
    w->id = id;
    w->group = g;
    w->mode = k->rsrc1 >> 12 & 0xff;
    // Preloaded arguments start the kernel after the code that loads them.
    uint64_t entry = k->entry + (k->preload & 0x7f ? PRELOAD_SKIP : 0);
    w->pc = (uint32_t)((entry - OBJECT_BASE) / 4);
    if (w->pc >= g->run->words)
        w->pc = 0;
    put_scalars(w);
    put_threads(w);
    g->count[COUNT_WAVES]++;
}

static void start_group(Group *g, int64_t block)
{
    const uint32_t *grid = g->run->launch->grid;
    g->block = block;
    g->position[0] = (uint32_t)(block % grid[0]);
    g->position[1] = (uint32_t)(block / grid[0] % grid[1]);
    g->position[2] = (uint32_t)(block / grid[0] / grid[1]);
    g->waiting = g->ended = 0;
    g->steps = 0;
    g->random = g->run->launch->seed ^ (uint64_t)block << 20;
    memset(g->lds, 0xa5, g->lds_bytes);
    if (g->written) {
        memset(g->written, 0, g->lds_bytes / 4 * sizeof *g->written);
        memset(g->read, 0, g->lds_bytes / 4 * sizeof *g->read);
    }
    for (int i = 0; i < g->wave_count; i++)
        start_wave(g, i);
}

static void run_block(void *ctx, int worker, int64_t item)
{
    Run *run = ctx;
    Group *g = run->workers[worker];
    int64_t block = item;
    if (run->launch->seed)                      // another order, each once
        block = (item * run->stride + run->first) % run->blocks;
    if (g->halted)
        return;
    start_group(g, block);
    run_waves(g);
    g->done += !g->halted;
}

// ---- a launch ---------------------------------------------------------------

static Group *make_group(Arena *a, Run *run)
{
    Group *g = new(a, Group);
    const GfxLaunch *l = run->launch;
    g->run = run;
    g->wave_count = (int)((run->threads + LANES - 1) / LANES);
    g->lds_bytes = (uint32_t)(l->kernel->lds_bytes + l->dynamic_lds + 3) & ~3u;
    g->lds = new_array(a, uint8_t, g->lds_bytes + 16);
    if (g->wave_count > 1) {
        g->written = new_array(a, LastWrite, g->lds_bytes / 4 + 1);
        g->read = arena_alloc(a, g->lds_bytes / 4 + 1, sizeof *g->read);
    }
    g->scratch = new_array(a, uint8_t, (size_t)g->wave_count * LANES
                                           * run->scratch_bytes + 1);
    g->findings.at = new_array(a, GfxFinding, FINDINGS_MOST);
    g->findings.room = FINDINGS_MOST;
    for (int i = 0; i < g->wave_count; i++) {
        g->waves[i].v = arena_alloc(a, VECTOR_ROWS, sizeof *g->waves[i].v);
        if (run->transfers)
            g->waves[i].transfers = new_array(a, Transfer, QUEUE);
    }
    return g;
}

static void put16(uint8_t *at, uint32_t v)
{
    at[0] = (uint8_t)v;
    at[1] = (uint8_t)(v >> 8);
}

// hsa_kernel_dispatch_packet_t
static void make_packet(Run *run)
{
    const GfxLaunch *l = run->launch;
    for (int d = 0; d < 3; d++) {
        uint32_t threads = l->grid[d] * l->block[d];
        put16(run->packet + 4 + 2 * d, l->block[d]);
        memcpy(run->packet + 12 + 4 * d, &threads, 4);
    }
    uint64_t kernarg = KERNARG_ADDRESS;
    memcpy(run->packet + 40, &kernarg, 8);
}

// Scalar loads may read beyond the arguments, up to their own width.
static uint8_t *padded_kernarg(Arena *a, const GfxLaunch *l)
{
    int bytes = l->kernel->kernarg_size;
    uint8_t *at = new_array(a, uint8_t, bytes + KERNARG_PAD);
    memcpy(at, l->kernarg, bytes);
    return at;
}

static void map_regions(Arena *a, Run *run)
{
    const GfxLaunch *l = run->launch;
    Region *r = new_array(a, Region, l->buffer_count + 3);
    int n = 0;
    for (int i = 0; i < l->buffer_count; i++) {
        const GfxBuffer *b = &l->buffers[i];
        r[n++] = (Region){b->address, b->bytes, b->at, b->writable};
    }
    r[n++] = (Region){OBJECT_BASE, l->object->image_bytes, l->object->image,
                      false};
    r[n++] = (Region){KERNARG_ADDRESS,
                      (uint64_t)l->kernel->kernarg_size + KERNARG_PAD,
                      padded_kernarg(a, l), false};
    r[n++] = (Region){PACKET_ADDRESS, sizeof run->packet, run->packet, false};
    run->regions = r;
    run->region_count = n;
}

// How far an operand reaches into VGPRs or AGPRs.
static void reach(Run *run, uint16_t operand, int size)
{
    if (operand < OPERAND_VGPR || operand == OPERAND_NONE)
        return;
    int file = operand >= OPERAND_AGPR;
    int top = operand - (file ? OPERAND_AGPR : OPERAND_VGPR) + size;
    if (top > 256)
        top = 256;
    if (run->rows[file] < top)
        run->rows[file] = top;
}

// What the code of the kernel and of what it may call is like.
static void survey(Arena *a, Run *run)
{
    const GfxObject *o = run->launch->object;
    run->rows[0] = 1;
    for (size_t i = 0; i < o->words; i++) {
        const IsaInstr *in = &o->code[i];
        const IsaInfo *info = isa_info((IsaOp)in->op);
        bool vmem = info->encoding == ENC_FLAT || info->encoding == ENC_MUBUF;
        if (!in->op)
            continue;
        run->atomics |= vmem && info->number >= 64;
        run->transfers |= in->lds;
        run->float_atomics |= vmem && info->number >= 77
                              && info->number <= 82;
        if (in->op == OP_S_SET_GPR_IDX_ON)
            run->rows[0] = 256;
        reach(run, in->dst, info->d);
        for (int k = 0; k < 3; k++)
            reach(run, in->src[k], info->size[k] > 2 ? info->size[k] : 2);
        if (isa_marked(info, 'M') && !run->matrix[in->op])
            run->matrix[in->op] = matrix_plan(a, run->device, (IsaOp)in->op);
    }
}

static int64_t gcd(int64_t a, int64_t b)
{
    return b ? gcd(b, a % b) : a;
}

static void choose_order(Run *run)
{
    uint64_t state = run->launch->seed;
    run->first = (int64_t)(random_next(&state) % (uint64_t)run->blocks);
    run->stride = 1 + (int64_t)(random_next(&state) % (uint64_t)run->blocks);
    while (gcd(run->stride, run->blocks) != 1)
        run->stride++;
}

static int by_place(const void *a, const void *b)
{
    const GfxFinding *x = a, *y = b;
    if (x->pc != y->pc)
        return x->pc < y->pc ? -1 : 1;
    if (x->kind != y->kind)
        return (int)x->kind - (int)y->kind;
    return (x->block > y->block) - (x->block < y->block);
}

static void merge(Arena *a, Run *run, int workers, GfxResult *out)
{
    int total = 0, kept = 0;
    for (int i = 0; i < workers; i++)
        total += run->workers[i]->findings.len;
    GfxFinding *all = new_array(a, GfxFinding, total + 1);
    total = 0;
    for (int i = 0; i < workers; i++) {
        const Group *g = run->workers[i];
        for (int c = 0; c < GFX_COUNTERS; c++)
            out->count[c] += g->count[c];
        out->conflicts_estimate |= g->estimate;
        out->blocks_done += g->done;
        out->stopped |= g->stopped;
        memcpy(all + total, g->findings.at,
               g->findings.len * sizeof *all);
        total += g->findings.len;
    }
    qsort(all, total, sizeof *all, by_place);
    for (int i = 0; i < total; i++)
        if (kept && all[kept - 1].pc == all[i].pc
            && all[kept - 1].kind == all[i].kind)
            all[kept - 1].count += all[i].count;
        else
            all[kept++] = all[i];
    out->findings = all;
    out->finding_count = kept;
}

enum { DENORM_WIDE = 0xc0, ROUND = 0xf };

static bool check_launch(const GfxLaunch *l, const char **why)
{
    const GfxKernel *k = l->kernel;
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    uint32_t mode = k->rsrc1 >> 12 & 0xff;
    *why = NULL;
    if (!threads || threads > 1024 || l->block[0] > 1024
        || l->block[1] > 1024 || l->block[2] > 1024)
        *why = "a workgroup has 1 to 1024 threads";
    else if (threads > (uint64_t)k->max_threads)
        *why = "the kernel was built for fewer threads in a workgroup";
    else if (k->lds_bytes + (int64_t)l->dynamic_lds > 65536)
        *why = "a workgroup of gfx942 has 65,536 bytes of shared memory";
    else if (mode & ROUND || (mode & DENORM_WIDE) != DENORM_WIDE)
        *why = "the kernel asks for a rounding mode, or flushes f16 and f64 "
               "denormals, which is not supported";
    else if (k->scratch_bytes > 1 << 20)
        *why = "the kernel asks for more than 1 MiB of private memory a lane";
    return !*why;
}

bool gfx_run(Arena *a, const GfxLaunch *launch, GfxResult *out,
             const char **why)
{
    *out = (GfxResult){0};
    if (!check_launch(launch, why))
        return false;
    Run *run = new(a, Run);
    run->launch = launch;
    run->code = launch->object->code;
    run->words = launch->object->words;
    run->valu = valu_best();
    run->device = device_find(TEXT("mi300x"));
    run->threads = launch->block[0] * launch->block[1] * launch->block[2];
    run->blocks = (int64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    for (int op = 0; op < OP_TOTAL; op++)
        run->exec[op] = exec_for((IsaOp)op);
    survey(a, run);
    run->scratch_bytes = (uint32_t)launch->kernel->scratch_bytes;
    map_regions(a, run);
    make_packet(run);
    if (!run->blocks)
        return true;
    choose_order(run);
    steps_open(a, run);
    int workers = run->atomics ? 1 : parallel_threads();
    run->workers = new_array(a, Group *, workers);
    for (int i = 0; i < workers; i++)
        run->workers[i] = make_group(a, run);
    if (workers > 1)
        parallel_for(run->blocks, 1, run_block, run);
    for (int64_t i = 0; i < run->blocks && workers == 1; i++)
        if (!parallel_cancelled())
            run_block(run, 0, i);
    merge(a, run, workers, out);
    steps_close(a, run, &out->cycles);
    out->float_atomics = run->float_atomics;
    out->stopped |= parallel_cancelled() != 0;
    return true;
}
