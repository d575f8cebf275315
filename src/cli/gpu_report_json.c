// gpu_report_json.c - a launch on a device for machines; docs/json.schema.
#include <math.h>

#include "cli/gpu_report.h"
#include "cli/isa_device.h"
#include "cli/json_keys.h"
#include "device/occupancy.h"

static void begin(Json *j, const char *key)
{
    json_key(j, text_of(key));
    json_begin_object(j);
}

static void device(Json *j, const GpuReport *r)
{
    const GpuInfo *i = r->device;

    begin(j, "device");
    key_string(j, "name", i->name);
    key_int(j, "sms", i->sms);
    key_int(j, "clock", i->clock);
    key_int(j, "memory", i->memory);
    key_int(j, "l2", i->l2);
    key_int(j, "driver", i->driver);
    if (i->executor)
        key_string(j, "executor", i->executor);
    json_end_object(j);
}

// By the rule of the occupancy tables, with the registers that the kernel got.
static int planned_blocks(const GpuReport *r, int launch)
{
    const GpuLaunch *l = &r->kernel->program->launches[launch];
    BlockNeeds needs = {
        .threads = l->threads[0] * l->threads[1] * l->threads[2],
        .registers = r->c->needs[launch].registers,
        .smem = l->dynamic_shared + r->c->needs[launch].static_shared,
        .barriers = 1};

    return device_occupancy(r->kernel->target, &needs).blocks;
}

static void code_object(Json *j, const GpuUsage *u)
{
    const GpuIsa *x = u->isa;

    begin(j, "code_object");
    key_int(j, "vgprs", x->vgprs);
    key_int(j, "agprs", x->agprs);
    key_int(j, "sgprs", x->sgprs);
    key_int(j, "vgpr_spills", x->vgpr_spills);
    key_int(j, "sgpr_spills", x->sgpr_spills);
    key_int(j, "scratch_bytes", x->scratch);
    key_int(j, "lds_bytes", u->static_shared);
    key_int(j, "narrowest_lds_read", x->narrowest_read);
    begin(j, "instructions");
    key_int(j, "mfma", x->mfma);
    key_int(j, "valu", x->valu);
    key_int(j, "salu", x->salu);
    key_int(j, "lds", x->lds);
    key_int(j, "global", x->vmem);
    key_int(j, "scalar_loads", x->smem);
    json_end_object(j);
    json_end_object(j);
}

static void kernels(Json *j, const GpuReport *r)
{
    const GpuProgram *p = r->kernel->program;

    json_key(j, TEXT("kernels"));
    json_begin_array(j);
    for (int i = 0; i < p->launch_count; i++) {
        const GpuLaunch *l = &p->launches[i];
        const GpuUsage *u = gpu_usage(&r->kernel->built, l->symbol);

        json_begin_object(j);
        key_text(j, "symbol", l->symbol);
        key_int(j, "threads", l->threads[0] * l->threads[1] * l->threads[2]);
        key_int(j, "shared_bytes", l->dynamic_shared + l->static_shared);
        if (u) {
            key_int(j, "registers", u->registers);
            key_int(j, "spill_bytes", u->spills);
        }
        if (u && u->isa)
            code_object(j, u);
        if (r->c) {
            json_key(j, TEXT("grid"));
            json_begin_array(j);
            for (int d = 0; d < 3; d++)
                json_int(j, r->c->calls[i].grid[d]);
            json_end_array(j);
            key_int(j, "blocks_per_sm", r->c->needs[i].blocks);
            key_int(j, "planned_blocks_per_sm", planned_blocks(r, i));
        }
        json_end_object(j);
    }
    json_end_array(j);
}

static void build(Json *j, const GpuReport *r)
{
    const GpuBuilt *b = &r->kernel->built;

    begin(j, "build");
    key_text(j, "toolchain", b->toolchain);
    key_string(j, "arch", r->arch);
    key_string(j, "rules", plan_rules_name(r->kernel->plan->rules));
    key_string(j, "planned_for", r->kernel->target->name);
    key_bool(j, "cached", b->cached);
    key_number(j, "seconds", b->seconds);
    kernels(j, r);
    json_end_object(j);
}

static void against_run(Json *j, const GpuOutput *g)
{
    key_number(j, "rel", g->rel);
    key_number(j, "limit", g->limit);
    key_bool(j, "ok", !g->wrong);
    key_int(j, "compared", g->compared);
    key_int(j, "bits_equal", g->equal);
}

static void output(Json *j, const GpuReport *r, const GpuOutput *g,
                   const OutputVerdict *o)
{
    json_begin_object(j);
    report_json_output(j, &r->run, o);
    begin(j, "run");
    against_run(j, g);
    if (g->as_sets)
        key_bool(j, "as_sets", true);
    key_number(j, "worst_ulps", g->worst_ulps);
    json_end_object(j);
    if (r->verdict->poisoned) {
        key_int(j, "unwritten", g->unwritten);
        key_bool(j, "repeats", g->repeats);
    }
    json_end_object(j);
}

static void verify(Json *j, const GpuReport *r)
{
    const GpuVerdict *v = r->verdict;

    json_key(j, TEXT("outputs"));
    json_begin_array(j);
    for (int i = 0; i < v->output_count && i < r->run.v->output_count; i++)
        output(j, r, &v->outputs[i], &r->run.v->outputs[i]);
    json_end_array(j);
    if (v->reached.compared) {
        begin(j, "reached");
        against_run(j, &v->reached);
        json_end_object(j);
    }
    key_int(j, "blocks", v->blocks);
    key_int(j, "blocks_compared", v->sampled);
    key_bool(j, "poisoned", v->poisoned);
    if (v->poisoned)
        key_bool(j, "nothing_outside", v->beside < 0);
}

static void executed(Json *j, const GpuReport *r)
{
    begin(j, "executed");
    isa_device_json(r->executor, j);
    if (r->planned.known) {
        begin(j, "planned");
        key_int(j, "lds_accesses", r->planned.issues);
        key_int(j, "conflicts", r->planned.conflicts);
        key_int(j, "not_counted", r->planned.unknown);
        json_end_object(j);
    }
    json_end_object(j);
}

static void start(Json *j, const GpuTimes *t)
{
    begin(j, "start");
    key_number(j, "staged", t->staged);
    key_number(j, "device", t->device);
    key_number(j, "planned", t->planned);
    key_number(j, "built", t->built);
    key_number(j, "loaded", t->loaded);
    key_number(j, "ran", t->ran);
    json_end_object(j);
}

static void bench(Json *j, const GpuBench *n)
{
    begin(j, "bench");
    key_number(j, "median_ms", n->median);
    key_number(j, "min_ms", n->low);
    key_number(j, "p95_ms", n->p95);
    key_int(j, "runs", n->runs);
    key_int(j, "warm", n->warm);
    key_int(j, "input_sets", n->copies);
    key_number(j, "bytes", n->bytes);
    key_number(j, "floor_ms", fmax(n->matrix_floor, n->memory_floor));
    if (n->flops_exact) {
        key_number(j, "flops", n->flops);
        key_number(j, "tflops", n->flops / n->median * 1e-9);
    }
    if (n->clock)
        key_int(j, "clock", n->clock);
    if (n->slowed)
        key_string(j, "slowed_by", n->slowed);
    json_end_object(j);
}

void gpu_report_json(Json *j, const GpuReport *r)
{
    json_begin_object(j);
    if (r->run.sweep.len)
        key_text(j, "sweep", r->run.sweep);
    report_json_kernel(j, r->run.cli, r->kernel->kernel);
    key_int(j, "exit", r->run.exit);
    if (r->device)
        device(j, r);
    build(j, r);
    if (r->times)
        start(j, r->times);
    if (r->c) {
        key_bool(j, "compared", r->run.v->has_reference);
        verify(j, r);
    }
    if (r->c && r->executor)
        executed(j, r);
    if (r->bench)
        bench(j, r->bench);
    json_end_object(j);
}
