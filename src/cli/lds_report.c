// lds_report.c - plans of a kernel for several targets, side by side.
#include "cli/lds_report.h"

int lds_line(const Cli *c, Span at)
{
    return at.file ? sources_place(c->sources, at.file, at.begin).line : 0;
}

// ---- rows ------------------------------------------------------------------

static LdsRow *row_of(LdsReport *r, LdsLaunch *l, IrBuffer *b, int *room)
{
    LdsRow fresh = {.ir = b};
    struct {
        LdsRow *at;
        int len, room;
    } rows = {l->rows, l->row_count, *room};

    for (int i = 0; i < rows.len; i++)
        if (rows.at[i].ir == b)
            return &rows.at[i];
    vec_push(r->cli->arena, &rows, fresh);
    l->rows = rows.at;
    l->row_count = rows.len;
    *room = rows.room;
    return &rows.at[rows.len - 1];
}

// Buffers in the order of the first target; the workspaces last.
static void make_rows(LdsReport *r, LdsLaunch *l)
{
    int room = 0;

    for (int own = 1; own >= 0; own--)
        for (int t = 0; t < r->device_count; t++) {
            const PlanLaunch *p = l->target[t].plan;

            for (int i = 0; i < p->buffer_count; i++) {
                const PlanBuffer *b = &p->buffers[i];
                LdsRow *row;

                if (b->is_unused || own != (b->ir != NULL))
                    continue;
                row = row_of(r, l, b->ir, &room);
                row->at[t] = b;
                row->bytes[t] += b->bytes;
            }
        }
}

// ---- a launch on a target --------------------------------------------------

// 32-bit registers that hold a thread's part of every fragment.
static int fragment_registers(const Plan *p, const PlanLaunch *l)
{
    int64_t bits = 0;

    for (int i = 0; i < l->fragment_count; i++) {
        const IrBuffer *b = l->fragments[i];
        const PlanFragment *f = p->fragments[b->id];

        if (f)
            bits += ((int64_t)f->locals * dtype_info(b->dtype)->bits + 31) /
                    32 * 32;
    }
    return (int)(bits / 32);
}

// mbarriers that the kernel allocates itself; the plan counts those of
// pipelines alone.
static bool count_barriers(void *ctx, IrStmt *s)
{
    int64_t *count = ctx, n = 1, extent;

    if (s->kind != STMT_ALLOC || s->buffer->scope != SCOPE_BARRIER)
        return true;
    for (int d = 0; d < s->buffer->rank; d++)
        if (ir_is_int(s->buffer->shape[d], &extent))
            n *= extent;
    *count += n;
    return true;
}

LdsTarget lds_target(const Plan *p, const PlanLaunch *l)
{
    const Device *d = p->device;
    LdsTarget t = {.plan = l, .threads = l->threads + l->producers};
    BlockNeeds needs = {.threads = t.threads};
    int64_t own = 0;

    ir_walk(l->stmt->then, count_barriers, NULL, &own);
    t.barriers = (int)(l->barriers + own);
    t.bytes = l->arena + l->static_bytes +
              (int64_t)t.barriers * LDS_BARRIER_BYTES;
    t.fits = t.bytes <= d->smem_block;
    t.registers = fragment_registers(p, l);
    needs.smem = t.bytes;
    t.occupancy = device_occupancy(d, &needs);
    t.most = occupancy_registers_for(d, t.threads, 1);
    t.needed = plan_registers_of(p, l, t.most);
    needs.registers = t.needed < t.most ? t.needed : t.most;
    t.resident = device_occupancy(d, &needs).blocks;
    return t;
}

static void make_grid(LdsLaunch *l)
{
    const IrStmt *s = l->stmt;

    l->blocks = 1;
    for (int d = 0; d < IR_MAX_GRID; d++) {
        l->grid[d] = 1;
        if (d < s->var_count && !ir_is_int(s->extent[d], &l->grid[d]))
            l->blocks = -1;
        if (l->blocks >= 0 &&
            __builtin_mul_overflow(l->blocks, l->grid[d], &l->blocks))
            l->blocks = -1;
    }
}

static void make_launch(LdsReport *r, int index)
{
    LdsLaunch *l = &r->launches[index];

    l->index = index;
    l->stmt = r->plan[0]->launches[index].stmt;
    make_grid(l);
    for (int t = 0; t < r->device_count; t++) {
        l->target[t] = lds_target(r->plan[t], &r->plan[t]->launches[index]);
        r->fits = r->fits && l->target[t].fits;
    }
    make_rows(r, l);
}

CountWay lds_count_way(const Cli *c)
{
    Text way = cli_text(c, OPT_COUNTED_BY, "best");

    for (int i = 0; i < COUNT_WAY_COUNT; i++)
        if (text_is(way, count_way_name(i)))
            return i;
    cli_usage(c, "--count %.*s: expected closed, walk or run", TEXT_ARG(way));
}

// What no compiler could make of it: a user's layout moves rows apart by less.
static void tell_misaligned(const LdsReport *r, const CountLaunch *l,
                            const Device *d)
{
    for (int i = 0; i < l->count; i++) {
        const CountAccess *a = &l->at[i];

        if (a->misaligned)
            diag_error(r->cli->diag, EXIT_FINDINGS, a->move->at,
                       "lds-alignment", "%s of '%.*s' on %s: %s in lane %d; "
                       "its layout has to keep the instruction's %s together",
                       a->instruction, TEXT_ARG(a->move->buffer->name),
                       d->name, a->misaligned, a->misaligned_lane,
                       a->move->kind == MOVE_PLAIN ? "elements" : "rows");
    }
}

void lds_report_count(LdsReport *r)
{
    int n;

    for (int t = 0; t < r->device_count; t++) {
        Counter *c = counts_of(&r->counts, r->cli->arena, r->plan[t]);
        const CountLaunch *l = count_launches(c, &n);

        for (int i = 0; i < r->launch_count; i++) {
            LdsTarget *own = &r->launches[i].target[t];

            own->counts = &l[i];
            tell_misaligned(r, &l[i], r->devices[t]);
            own->order = order_make(r->cli->arena, r->plan[t], own->plan,
                                    r->counts.sizes, own->resident);
            if (!r->counts.unknown)
                own->ledger = ledger_make(r->cli->arena, r->plan[t], &l[i],
                                          r->counts.sizes);
        }
    }
}

bool lds_report_plan(const Cli *c, KernelObject *k,
                     const Device *const *devices, int count, LdsReport *out)
{
    *out = (LdsReport){.cli = c, .kernel = k, .devices = devices,
                       .device_count = count, .fits = true};
    for (int t = 0; t < count; t++) {
        out->plan[t] = plan_build(c->arena, k->ir, devices[t],
                                  session_rules(c, PLAN_TILELANG));
        if (!out->plan[t])
            return false;
    }
    out->launch_count = out->plan[0]->launch_count;
    out->launches = new_array(c->arena, LdsLaunch, out->launch_count);
    for (int i = 0; i < out->launch_count; i++)
        make_launch(out, i);
    return true;
}

bool lds_report_make(Cli *c, KernelObject *k, const Device *const *devices,
                     int count, const CaseOptions *options, LdsReport *out)
{
    if (!lds_report_plan(c, k, devices, count, out) ||
        !counts_make(k->host, k, out->plan, count, options, lds_count_way(c),
                     &out->counts))
        return false;
    lds_report_count(out);
    return true;
}

void lds_report_free(LdsReport *r)
{
    counts_release(&r->counts);
}

int64_t lds_conflicts(const LdsReport *r, int target)
{
    int64_t n = 0;

    for (int i = 0; i < r->launch_count; i++)
        n += r->launches[i].target[target].counts->shared.conflicts;
    return n;
}

static bool find_staged(void *ctx, IrStmt *s)
{
    bool *found = ctx;

    if (s->kind == STMT_FOR && s->loop == LOOP_PIPELINED &&
        ir_attr_int(s, ATTR_NUM_STAGES, 0) > 0 && !ir_attr_get(s, ATTR_ORDER))
        *found = true;
    return true;
}

bool lds_stages_idle(const LdsReport *r, const Device *d)
{
    bool found = false;

    if (d->arch != ARCH_GFX942)
        return false;
    ir_walk(r->kernel->ir->body, find_staged, NULL, &found);
    return found;
}
