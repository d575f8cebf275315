// count.c - the cost of each access in each situation, and the sums.
#include "sim_lds/async.h"
#include "sim_lds/count_int.h"

#include <stdlib.h>
#include <string.h>

// A situation of an access: what one execution costs, and how many there are.
typedef struct {
    CountAccess *access;
    uint64_t hash;
    int len;
    int64_t *key;
    CountSum once;
    int64_t times;
} Case;

struct Counter {
    Arena *arena;
    const Plan *plan;
    CountLaunch *launches;
    int launch_count;
    struct {
        Case *at;
        int len, room;
    } cases;
    int *slots;                     // of a hash table: index + 1
    int slot_count;
};

// ---- the table -------------------------------------------------------------

static uint64_t hash_of(const CountAccess *a, const int64_t *key, int len)
{
    uint64_t h = (uint64_t)(uintptr_t)a * 0x9e3779b97f4a7c15u;

    for (int i = 0; i < len; i++) {
        h = (h ^ (uint64_t)key[i]) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

static void grow(Counter *c)
{
    c->slot_count = c->slot_count ? 2 * c->slot_count : 64;
    c->slots = new_array(c->arena, int, c->slot_count);
    for (int i = 0; i < c->cases.len; i++) {
        uint64_t at = c->cases.at[i].hash;

        while (c->slots[at % (unsigned)c->slot_count])
            at++;
        c->slots[at % (unsigned)c->slot_count] = i + 1;
    }
}

static bool is_case(const Case *k, const CountAccess *a, const int64_t *key,
                    int len)
{
    return k->access == a && k->len == len &&
           !memcmp(k->key, key, sizeof *key * (size_t)len);
}

// The case, or a new one with *fresh set.
static Case *case_of(Counter *c, CountAccess *a, const int64_t *key, int len,
                     bool *fresh)
{
    uint64_t hash = hash_of(a, key, len), at = hash;
    Case k = {.access = a, .hash = hash, .len = len};

    *fresh = false;
    if (2 * c->cases.len >= c->slot_count)
        grow(c);
    for (; c->slots[at % (unsigned)c->slot_count]; at++) {
        Case *old = &c->cases.at[c->slots[at % (unsigned)c->slot_count] - 1];
        if (old->hash == hash && is_case(old, a, key, len))
            return old;
    }
    *fresh = true;
    k.key = new_array(c->arena, int64_t, len + 1);
    memcpy(k.key, key, sizeof *key * (size_t)len);
    vec_push(c->arena, &c->cases, k);
    c->slots[at % (unsigned)c->slot_count] = c->cases.len;
    return &c->cases.at[c->cases.len - 1];
}

CountLaunch *count_open(Counter *c, int *n)
{
    *n = c->launch_count;
    return c->launches;
}

const Plan *count_plan(const Counter *c)
{
    return c->plan;
}

Arena *count_arena(const Counter *c)
{
    return c->arena;
}

// ---- one execution ---------------------------------------------------------

typedef struct {
    const Device *device;
    CountAccess *access;
    CountSum *once;
    PlanIssue *source;              // of cp.async: the reads of global memory
    int source_count;
    int64_t start;                  // of the buffer in shared memory
} Costing;

static void note_worst(Costing *k, const BankAccess *a)
{
    BankPass passes[BANK_PASSES];
    int n = bank_passes(k->device, a, passes);

    for (int i = 0; i < n; i++) {
        int lanes = __builtin_popcountll(passes[i].lanes);

        if (lanes > k->access->lanes)
            k->access->lanes = lanes;
        if (passes[i].ways <= k->access->ways)
            continue;
        k->access->ways = passes[i].ways;
        k->access->worst = *a;
    }
}

static BankOp op_of_issue(const Costing *k, const PlanIssue *i)
{
    const PlanMove *v = k->access->move;

    return i->tiles ? count_matrix_op(v, i->tiles)
                    : count_bank_op(k->device, v);
}

// Buffers start at multiples of 16 bytes, wherever they are.
static bool is_aligned(Costing *k, const BankAccess *a)
{
    CountAccess *c = k->access;
    BankAccess near = *a;

    for (int i = 0; i < BANK_LANES; i++)
        near.address[i] &= 127;
    if (bank_check(k->device, &near, &c->misaligned_lane, &c->misaligned))
        return true;
    c->unknown = c->misaligned;
    return false;
}

static void cost_shared(void *ctx, const PlanIssue *i)
{
    Costing *k = ctx;
    CountAccess *c = k->access;
    BankAccess a = {.op = op_of_issue(k, i), .active = i->active};
    int bytes = i->tiles ? 4 * i->tiles : c->move->bytes;
    BankCount n;

    memcpy(a.address, i->address, sizeof a.address);
    if (c->misaligned || !is_aligned(k, &a))
        return;
    n = bank_count(k->device, &a);
    if (c->move->kind == MOVE_CP_ASYNC)     // as if it were a store
        n.cycles_basis = n.conflicts_basis = BASIS_ESTIMATE;
    note_worst(k, &a);
    k->once->issues++;
    k->once->bytes += (int64_t)bytes * __builtin_popcountll(i->active);
    k->once->passes += n.passes;
    k->once->cycles += n.cycles;
    k->once->conflicts += n.conflicts;
    c->cycles_basis = basis_worse(c->cycles_basis, n.cycles_basis);
    c->conflicts_basis = basis_worse(c->conflicts_basis, n.conflicts_basis);
}

static void cost_global(void *ctx, const PlanIssue *i)
{
    Costing *k = ctx;
    CountAccess *c = k->access;
    GlobalAccess a = {.kind = count_global_kind(c->move), .active = i->active,
                      .bytes = c->move->bytes};
    GlobalCount n;

    memcpy(a.address, i->address, sizeof a.address);
    if (a.kind == GLOBAL_BYPASS || a.kind == GLOBAL_COPY)
        a.kind = GLOBAL_LOAD;       // the same sectors; banks count elsewhere
    n = global_count(k->device, &a);
    k->once->issues++;
    k->once->bytes += (int64_t)a.bytes * __builtin_popcountll(i->active);
    k->once->sectors += n.sectors;
    k->once->lines += n.lines;
    c->sectors_basis = basis_worse(c->sectors_basis, n.sectors_basis);
}

// What a picture shows of a copy: the banks that it fills, as a store would.
static void keep_picture(Costing *k, const PlanIssue *i)
{
    BankAccess a = {.op = op_of_issue(k, i), .active = i->active};

    memcpy(a.address, i->address, sizeof a.address);
    k->access->worst = a;
}

// What a cp.async reads; lanes out of range only clear.
static GlobalAccess copy_of(const Costing *k, const PlanIssue *i)
{
    const CountAccess *c = k->access;
    GlobalAccess a = {.kind = count_global_kind(c->move),
                      .bytes = c->move->bytes, .active = i->active,
                      .cleared = i->active};

    for (int s = 0; s < k->source_count; s++) {
        if (k->source[s].turn != i->turn)
            continue;
        a.cleared &= ~k->source[s].active;
        memcpy(a.address, k->source[s].address, sizeof a.address);
    }
    for (int lane = 0; lane < BANK_LANES; lane++)
        a.shared[lane] = k->start + i->address[lane];
    return a;
}

static void cost_copy(void *ctx, const PlanIssue *i)
{
    Costing *k = ctx;
    CountAccess *c = k->access;
    GlobalAccess a = copy_of(k, i);
    AsyncCount n = async_count(k->device, &a);
    Basis basis = k->device->arch == ARCH_SM90 ? BASIS_MEASURED
                                               : BASIS_ESTIMATE;
    int ways = n.ideal ? (n.wavefronts + n.ideal - 1) / n.ideal : 0;

    k->once->issues++;
    k->once->bytes += (int64_t)a.bytes * __builtin_popcountll(i->active);
    k->once->passes += n.ideal;
    k->once->cycles += n.wavefronts;
    k->once->conflicts += n.wavefronts - n.ideal;
    c->cycles_basis = basis_worse(c->cycles_basis, basis);
    c->conflicts_basis = c->cycles_basis;
    if (n.passes != n.ideal && a.kind == GLOBAL_COPY)
        n.counters = BASIS_ESTIMATE;
    c->counters_basis = basis_worse(c->counters_basis, n.counters);
    c->lanes = 32 / (a.bytes / 4);
    if (ways > c->ways) {
        c->ways = ways;
        keep_picture(k, i);
    }
}

typedef struct {
    Arena *arena;
    struct {
        PlanIssue *at;
        int len, room;
    } list;
} Issues;

static void keep_issue(void *ctx, const PlanIssue *i)
{
    Issues *k = ctx;
    vec_push(k->arena, &k->list, *i);
}

static const PlanMove *source_of(const PlanLaunch *l, const PlanMove *v)
{
    for (int i = 0; i < l->move_count; i++)
        if (l->moves[i].loop == v->loop && l->moves[i].way == MOVE_LOAD)
            return &l->moves[i];
    return NULL;
}

// What cp.async reads, whose banks or lines count too; else NULL. On AMD it is a
// load and a store.
static const PlanMove *copied_from(const Counter *c, const PlanLaunch *l,
                                   const CountAccess *a)
{
    const PlanMove *v = a->move;

    return a->is_shared && v->kind == MOVE_CP_ASYNC &&
                   c->plan->device->vendor == VENDOR_NVIDIA
               ? source_of(l, v)
               : NULL;
}

static int64_t start_of(const PlanLaunch *l, const PlanMove *v)
{
    for (int i = 0; i < l->buffer_count; i++)
        if (v->buffer && l->buffers[i].ir == v->buffer)
            return l->buffers[i].offset;
    return 0;
}

static bool cost_case(Counter *c, const PlanLaunch *l, CountAccess *a,
                      const PlanEnv *env, CountSum *once)
{
    Costing k = {.device = c->plan->device, .access = a, .once = once,
                 .start = start_of(l, a->move)};
    const PlanMove *v = a->move, *source = copied_from(c, l, a);
    ArenaMark mark = arena_mark(c->arena);
    Issues far = {.arena = c->arena};
    bool ok;

    if (source) {
        plan_each_issue(c->plan, l, source, env, keep_issue, &far);
        k.source = far.list.at;
        k.source_count = far.list.len;
        ok = plan_each_issue(c->plan, l, v, env, cost_copy, &k);
    } else {
        ok = plan_each_issue(c->plan, l, v, env,
                             a->is_shared ? cost_shared : cost_global, &k);
    }
    arena_release(c->arena, mark);
    return ok;
}

// The length of the key, or -1.
static int key_of(const Counter *c, const PlanLaunch *l, const CountAccess *a,
                  const PlanEnv *env, int64_t out[2 * PLAN_KEY])
{
    const PlanMove *source = copied_from(c, l, a);
    int len = plan_access_key(c->plan, a->move, env, out), more;

    if (len < 0 || !source)
        return len;
    more = plan_access_key(c->plan, source, env, out + len);
    return more < 0 ? -1 : len + more;
}

static void count_access(Counter *c, const PlanLaunch *l, CountAccess *a,
                         const PlanEnv *env, int64_t times)
{
    int64_t key[2 * PLAN_KEY];
    CountSum once = {.executions = 1};
    bool fresh;
    int len;
    Case *k;

    if (a->unknown)
        return;
    if (a->passes_by) {
        a->sum.executions += times;
        return;
    }
    len = key_of(c, l, a, env, key);
    if (len < 0) {
        a->unknown = "its addresses or masks depend on data";
        return;
    }
    k = case_of(c, a, key, len, &fresh);
    k->times += times;
    if (!fresh)
        return;
    if (!cost_case(c, l, a, env, &once))
        a->unknown = "its addresses or masks depend on data";
    k->once = once;
}

static CountStmt *stmt_of(Counter *c, const IrStmt *s)
{
    for (int i = 0; i < c->launch_count; i++)
        for (int j = 0; j < c->launches[i].stmt_count; j++)
            if (c->launches[i].stmts[j].stmt == s)
                return &c->launches[i].stmts[j];
    return NULL;
}

void count_block(Counter *c, const IrStmt *s, int64_t block, int64_t times)
{
    CountStmt *k = stmt_of(c, s);

    if (!k || k->blocks.len >= COUNT_BLOCKS)
        return;
    vec_push(c->arena, &k->blocks, ((typeof(*k->blocks.at)){block, times}));
}

void count_run(Counter *c, const IrStmt *s, const PlanEnv *env, int64_t times)
{
    CountStmt *k = stmt_of(c, s);

    if (k)
        k->executions += times;
    for (int i = 0; i < c->launch_count; i++) {
        CountLaunch *l = &c->launches[i];

        for (int j = 0; j < l->count; j++)
            if (l->at[j].move->stmt == s)
                count_access(c, l->launch, &l->at[j], env, times);
    }
}

// ---- the whole -------------------------------------------------------------

static bool has_event(const Code *code, const IrStmt *s)
{
    int n;
    const CodeEvent *e = code_events(code, &n);

    for (int i = 0; i < n; i++)
        if (e[i].stmt == s->id)
            return true;
    return false;
}

static bool find_thread(void *ctx, IrExpr *e)
{
    bool *found = ctx;

    *found |= e->kind == EXPR_VAR && e->var->kind == VAR_THREAD;
    return true;
}

static bool names_threads(const IrStmt *launch)
{
    bool found = false;

    ir_walk(launch->then, NULL, find_thread, &found);
    return found;
}

// No event: a scalar that all threads take alike, or what each does for itself.
static const char *without_event(const PlanLaunch *l, const PlanMove *v)
{
    return !v->loop || v->loop->rank || names_threads(l->stmt)
               ? "only closed expressions count code of single threads"
               : "one word for all lanes: no conflicts, number unknown";
}

static void count_open_launch(Counter *c, CountLaunch *l, const Code *code)
{
    const PlanLaunch *p = l->launch;

    l->count = p->move_count;
    l->at = new_array(c->arena, CountAccess, l->count + 1);
    for (int j = 0; j < l->count; j++) {
        CountAccess *a = &l->at[j];

        *a = count_access_of(c->plan->device, &p->moves[j], code != NULL);
        if (!a->unknown && code && !has_event(code, a->move->stmt))
            a->unknown = without_event(p, a->move);
    }
    l->block_count = -1;
    l->stmt_count = p->task_count;
    l->stmts = new_array(c->arena, CountStmt, l->stmt_count + 1);
    for (int j = 0; j < l->stmt_count; j++)
        l->stmts[j].stmt = p->tasks[j].stmt;
}

Counter *count_new(Arena *a, const Plan *p, const Code *code)
{
    Counter *c = new (a, Counter);

    *c = (Counter){.arena = a, .plan = p, .launch_count = p->launch_count,
                   .launches = new_array(a, CountLaunch, p->launch_count + 1)};
    for (int i = 0; i < p->launch_count; i++) {
        c->launches[i].launch = &p->launches[i];
        count_open_launch(c, &c->launches[i], code);
    }
    return c;
}

void count_exclude(Counter *c, uint32_t file, const char *why)
{
    for (int i = 0; i < c->launch_count; i++)
        for (int j = 0; j < c->launches[i].count; j++) {
            CountAccess *a = &c->launches[i].at[j];

            if (a->move->stmt && a->move->stmt->at.file == file)
                a->unknown = why;
        }
}

// ---- sums ------------------------------------------------------------------

static void add(CountSum *to, const CountSum *one, int64_t times)
{
    to->executions += one->executions * times;
    to->issues += one->issues * times;
    to->bytes += one->bytes * times;
    to->passes += one->passes * times;
    to->cycles += one->cycles * times;
    to->conflicts += one->conflicts * times;
    to->sectors += one->sectors * times;
    to->lines += one->lines * times;
}

const CountLaunch *count_launches(Counter *c, int *n)
{
    for (int i = 0; i < c->cases.len; i++) {
        Case *k = &c->cases.at[i];

        add(&k->access->sum, &k->once, k->times);
        k->times = 0;
    }
    for (int i = 0; i < c->launch_count; i++) {
        CountLaunch *l = &c->launches[i];

        l->shared = l->global = (CountSum){0};
        l->unknown = 0;
        for (int j = 0; j < l->count; j++) {
            const CountAccess *a = &l->at[j];

            add(a->is_shared ? &l->shared : &l->global, &a->sum, 1);
            l->unknown += a->is_shared && a->unknown;
        }
    }
    *n = c->launch_count;
    return c->launches;
}
