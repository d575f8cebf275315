// lds_report_json.c - lds-report for machines.
#include "cli/lds_advice.h"
#include "cli/json_keys.h"

static void json_buffer(Json *j, const LdsReport *r, const PlanBuffer *b)
{
    json_begin_object(j);
    json_key(j, TEXT("name"));
    json_text(j, b->name);
    if (b->ir && lds_line(r->cli, b->ir->at))
        key_int(j, "line", lds_line(r->cli, b->ir->at));
    key_int(j, "bytes", b->bytes);
    key_int(j, "copies", b->copies);
    if (!b->is_static)
        key_int(j, "offset", b->offset);
    key_int(j, "first", b->first);
    key_int(j, "last", b->last);
    json_end_object(j);
}

static void json_registers(Json *j, const LdsTarget *t)
{
    json_key(j, TEXT("registers"));
    json_begin_object(j);
    key_int(j, "needed", t->needed);
    key_int(j, "most", t->most);
    key_int(j, "blocks", t->resident);
    key_string(j, "basis", basis_name(BASIS_ESTIMATE));
    json_end_object(j);
}

void lds_target_json(Json *j, const LdsTarget *t, const Device *d)
{
    json_key(j, TEXT("target"));
    json_string(j, d->name);
    key_int(j, "bytes", t->bytes);
    key_int(j, "limit", d->smem_block);
    json_key(j, TEXT("fits"));
    json_bool(j, t->fits);
    key_int(j, "barriers", t->barriers);
    key_int(j, "threads", t->threads);
    key_int(j, "fragment_registers", t->registers);
    json_registers(j, t);
    key_int(j, "blocks_at_most", t->occupancy.blocks);
    json_key(j, TEXT("limited_by"));
    json_begin_array(j);
    for (int i = 0; i < OCC_LIMIT_COUNT; i++)
        if (t->occupancy.binding >> i & 1)
            json_string(j, occ_limit_name(i));
    json_end_array(j);
}

static void json_target(Json *j, const LdsReport *r, const LdsTarget *t,
                        const Device *d)
{
    json_begin_object(j);
    lds_target_json(j, t, d);
    json_key(j, TEXT("buffers"));
    json_begin_array(j);
    for (int i = 0; i < t->plan->buffer_count; i++)
        if (!t->plan->buffers[i].is_unused)
            json_buffer(j, r, &t->plan->buffers[i]);
    json_end_array(j);
    lds_conflicts_json(j, r, t->counts, d);
    lds_ledger_json(j, r, t);
    lds_order_json(j, t);
    json_end_object(j);
}

void lds_launches_json(Json *j, const LdsReport *r)
{
    json_key(j, TEXT("launches"));
    json_begin_array(j);
    for (int i = 0; i < r->launch_count; i++) {
        const LdsLaunch *l = &r->launches[i];

        json_begin_object(j);
        if (l->blocks >= 0)
            key_int(j, "blocks", l->blocks);
        json_key(j, TEXT("targets"));
        json_begin_array(j);
        for (int t = 0; t < r->device_count; t++)
            json_target(j, r, &l->target[t], r->devices[t]);
        json_end_array(j);
        json_end_object(j);
    }
    json_end_array(j);
}

void lds_report_json(Json *j, const LdsReport *r, const char *file)
{
    json_begin_object(j);
    if (file) {
        json_key(j, TEXT("file"));
        json_string(j, file);
    }
    json_key(j, TEXT("kernel"));
    json_text(j, r->kernel->ir->name);
    json_key(j, TEXT("rules"));
    json_string(j, plan_rules_name(r->plan[0]->rules));
    json_key(j, TEXT("fits"));
    json_bool(j, r->fits);
    lds_launches_json(j, r);
    if (!r->fits)
        lds_advice_json(j, r);
    if (r->layout_count)
        lds_layouts_json(j, r);
    json_end_object(j);
}
