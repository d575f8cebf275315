// conflicts.c - executions by closed expressions, a control walk or a run.
#include <string.h>

#include "host/conflicts.h"

#include "support/parallel.h"

const char *count_way_name(CountWay w)
{
    static const char *const names[] = {"best", "closed", "walk", "run",
                                        "quick"};
    return names[w];
}

// ---- sizes -----------------------------------------------------------------

static bool take_size(Host *h, const CaseOptions *o, const IrVar *v,
                      int64_t *sizes)
{
    for (int i = 0; i < o->define_count; i++) {
        Value n;

        if (!text_eq(o->defines[i].name, v->name))
            continue;
        n = lang_literal(h->lang, o->defines[i].value);
        sizes[v->id] = n.kind == VAL_INT ? n.i : 0;
        return n.kind == VAL_INT || v->kind == VAR_PARAM;
    }
    return false;
}

static bool take_sizes(Host *h, const IrKernel *k, const CaseOptions *o,
                       int64_t *sizes)
{
    bool all = true;

    for (int i = 0; i < k->symbol_count; i++)
        all &= take_size(h, o, k->symbols[i], sizes);
    for (int i = 0; i < k->param_count; i++)
        if (k->params[i].is_scalar)
            all &= take_size(h, o, k->params[i].var, sizes);
    return all;
}

// ---- running ---------------------------------------------------------------

static bool run_events(Host *h, KernelObject *k, const CaseOptions *options,
                       CodeMode mode, Counts *out)
{
    InterpOptions o = {.event = count_event, .event_ctx = out->events,
                       .memory_limit = host_memory_left(h)};
    CaseOptions with = *options;
    InterpResult r;
    LaunchCase c;
    bool ok;

    with.zero_floats = mode == CODE_CONTROL && !out->by_data;
    ok = launch_case(h, k, &with, &c);
    if (ok) {
        r = kernel_run(k, mode, c.args, NULL, &o);
        ok = r.ok || r.finding_total;
        interp_result_release(&r);
    }
    launch_case_release(&c);
    return ok;
}

// ---- closed expressions ----------------------------------------------------

// Emitters of hand-written matrix code move elements here; what upstream makes
// of them are matrix instructions.
static void exclude_emitters(const Counts *c, const Plan *p, Counter *out)
{
    for (int i = 0; i < p->launch_count; i++)
        for (int j = 0; j < p->launches[i].move_count; j++) {
            const IrStmt *s = p->launches[i].moves[j].stmt;

            if (s && s->at.file &&
                !strcmp(sources_get(c->sources, s->at.file)->path, "_emitters"))
                count_exclude(out, s->at.file,
                              "an intrinsic of hand-written matrix code");
        }
}

static Counter *fresh_counter(const Counts *c, Arena *a, const Plan *p)
{
    Counter *out = count_new(a, p, c->code);

    exclude_emitters(c, p, out);
    if (!c->unknown)
        count_sizes(out, c->sizes);
    return out;
}

Counter *counts_closed(const Counts *c, Arena *a, const Plan *p)
{
    Counter *out = fresh_counter(c, a, p);

    return !c->unknown && count_closed(out, c->sizes) ? out : NULL;
}

static bool is_closed(Arena *a, const Counts *c, const Plan *const *plans,
                      int n)
{
    ArenaMark mark = arena_mark(a);
    bool closed = true;

    for (int i = 0; i < n && closed; i++)
        closed = counts_closed(c, a, plans[i]) != NULL;
    arena_release(a, mark);
    return closed;
}

// A kernel that does not lower can still be planned, and its message belongs to
// a command that runs it.
static const Code *lower(KernelObject *k, CodeMode mode)
{
    Host *h = k->host;
    Diag *own;

    if (!k->code[mode]) {
        own = diag_create(h->options.sources, NULL, false);
        k->code[mode] = code_lower(h->options.arena, own, k->ir, mode);
        diag_destroy(own);
    }
    return k->code[mode];
}

static bool find_native(void *ctx, IrStmt *s)
{
    *(bool *)ctx |= s->kind == STMT_TILE && s->op == OP_CALL_EXTERN;
    return true;
}

static bool calls_natives(const IrKernel *k)
{
    bool found = false;

    ir_walk(k->body, find_native, NULL, &found);
    return found;
}

void counts_begin(Host *h, KernelObject *k, const CaseOptions *options,
                  Counts *out)
{
    *out = (Counts){.way = COUNT_CLOSED, .sources = h->options.sources,
                    .sizes = new_array(h->options.arena, int64_t,
                                       k->ir->next_var + 1)};
    if (!take_sizes(h, k->ir, options, out->sizes))
        out->unknown = "sizes are not given (-D NAME=VALUE)";
    else if (calls_natives(k->ir))
        out->unknown = "a C function reads and writes too";
    else
        out->code = lower(k, CODE_CONTROL);
}

bool counts_make(Host *h, KernelObject *k, const Plan *const *plans, int n,
                 const CaseOptions *options, CountWay way, Counts *out)
{
    Arena *a = h->options.arena;
    CodeMode mode = way == COUNT_RUN ? CODE_COUNTED : CODE_CONTROL;

    counts_begin(h, k, options, out);
    if (way == COUNT_WALK || way == COUNT_RUN)
        out->way = way;
    if (out->unknown)
        return true;
    if (!out->code) {
        out->way = COUNT_CLOSED;
        if (way == COUNT_WALK || way == COUNT_RUN ||
            !is_closed(a, out, plans, n))
            out->unknown = "code of single threads, or one that cannot be run";
        return true;
    }
    out->by_data = code_facts(out->code).tile_dependent;
    if (way != COUNT_WALK && way != COUNT_RUN) {
        if (is_closed(a, out, plans, n)) {
            out->by_data = false;
            return true;
        }
        if (way == COUNT_CLOSED) {
            out->unknown = "there is no closed expression";
            return true;
        }
        if (way == COUNT_QUICK && out->by_data) {
            out->unknown = "tiles decide what runs";
            return true;
        }
        out->way = out->by_data ? COUNT_RUN : COUNT_WALK;
    }
    if (mode == CODE_COUNTED && !kernel_code(k, mode))
        return false;
    out->events = count_events_new(a, mode == CODE_COUNTED
                                          ? k->code[mode] : out->code,
                                   plans, n, out->sizes);
    return run_events(h, k, options, mode, out);
}

// Sizes of T.dynamic as the tensors have them.
static void sizes_of(const IrKernel *k, const KernelArg *args, int64_t *sizes)
{
    for (int i = 0; i < k->param_count; i++) {
        const IrBuffer *b = k->params[i].buffer;

        if (k->params[i].is_scalar) {
            sizes[k->params[i].var->id] = args[i].i64;
            continue;
        }
        for (int d = 0; d < b->rank && d < args[i].tensor.rank; d++) {
            IrLinear l;
            int64_t size;

            if (ir_linear(b->shape[d], &l) &&
                ir_linear_solve(&l, args[i].tensor.shape[d], &size))
                sizes[l.symbol->id] = size;
        }
    }
}

bool counts_are_known(KernelObject *k)
{
    return lower(k, CODE_COUNTED) != NULL;
}

bool counts_for_run(KernelObject *k, const Plan *const *plans, int n,
                    const KernelArg *args, Counts *out)
{
    Arena *a = k->host->options.arena;

    *out = (Counts){.way = COUNT_RUN, .sources = k->host->options.sources,
                    .sizes = new_array(a, int64_t, k->ir->next_var + 1)};
    sizes_of(k->ir, args, out->sizes);
    out->code = kernel_code(k, CODE_COUNTED);
    if (!out->code)
        return false;
    out->events = count_events_new(a, out->code, plans, n, out->sizes);
    return true;
}

Counter *counts_of(const Counts *c, Arena *a, const Plan *p)
{
    Counter *out = fresh_counter(c, a, p);

    if (c->unknown)
        return out;
    if (c->events)
        count_events_feed(c->events, out);
    else
        count_closed(out, c->sizes);
    return out;
}

void counts_release(Counts *c)
{
    if (c->events)
        count_events_free(c->events);
}
