// isa_orders.c - a kernel's machine code, run in several orders of its waves.
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/isa_orders.h"
#include "cli/json_keys.h"
#include "support/parallel.h"

// ---- running ----------------------------------------------------------------

typedef uint8_t **Contents;

static Contents save(const GfxLaunch *l)
{
    Contents c = xcalloc((size_t)l->buffer_count + 1, sizeof *c);

    for (int i = 0; i < l->buffer_count; i++) {
        c[i] = xmalloc(l->buffers[i].bytes + 1);
        memcpy(c[i], l->buffers[i].at, l->buffers[i].bytes);
    }
    return c;
}

static void restore(const GfxLaunch *l, const Contents c)
{
    for (int i = 0; i < l->buffer_count; i++)
        memcpy(l->buffers[i].at, c[i], l->buffers[i].bytes);
}

static void drop(const GfxLaunch *l, Contents c)
{
    for (int i = 0; i < l->buffer_count; i++)
        free(c[i]);
    free(c);
}

static void add_finding(IsaOrders *o, GfxFinding f)
{
    for (int i = 0; i < o->finding_count; i++)
        if (o->findings[i].kind == f.kind && o->findings[i].pc == f.pc)
            return;
    o->findings = xrealloc(o->findings, o->finding_count + 1,
                           sizeof *o->findings);
    o->findings[o->finding_count++] = f;
}

static bool run_order(Arena *a, const GfxLaunch *l, uint64_t seed,
                      IsaOrders *o, GfxResult *out, const char **why)
{
    GfxLaunch now = *l;

    now.seed = seed;
    if (seed)
        now.resident = 0;
    if (!gfx_run(a, &now, out, why))
        return false;
    for (int i = 0; i < out->finding_count; i++)
        add_finding(o, out->findings[i]);
    o->count++;
    return true;
}

static void compare(const GfxLaunch *l, const Contents first,
                    const GfxResult *other, IsaOrders *o)
{
    GfxFinding f = {.kind = GFX_DIVERGED, .pc = l->kernel->entry, .lane = -1,
                    .count = 1};

    // Sums of floats in memory may come in any order.
    if (other->stopped || other->float_atomics)
        return;
    for (int i = 0; i < l->buffer_count; i++)
        if (memcmp(first[i], l->buffers[i].at, l->buffers[i].bytes)) {
            f.value = (uint64_t)i;
            add_finding(o, f);
            return;
        }
}

static void run_others(Arena *a, const GfxLaunch *l, int orders, uint64_t seed,
                       const Contents start, IsaOrders *o)
{
    Contents first = save(l);
    const char *why;

    for (int i = 1; i < orders && !o->result.stopped; i++) {
        GfxResult other = {0};

        restore(l, start);
        run_order(a, l, seed + (uint64_t)i, o, &other, &why);
        compare(l, first, &other, o);
        o->result.stopped |= other.stopped;
    }
    restore(l, first);
    drop(l, first);
}

bool isa_run(Arena *a, const GfxLaunch *l, int orders, uint64_t seed,
             IsaOrders *out, const char **why)
{
    Contents start = save(l);

    *out = (IsaOrders){0};
    bool ok = run_order(a, l, 0, out, &out->result, why);
    if (ok)
        run_others(a, l, orders, seed, start, out);
    drop(l, start);
    return ok;
}

ExitCode isa_exit(const IsaOrders *o)
{
    ExitCode code = EXIT_CLEAN;

    if (o->result.stopped)
        code = parallel_cancelled() == SIGINT ? EXIT_INTERRUPTED : EXIT_LIMIT;
    for (int i = 0; i < o->finding_count; i++)
        code = exit_worst(code, gfx_finding_exit(o->findings[i].kind));
    return code;
}

// ---- in words ---------------------------------------------------------------

void isa_put_finding(TextBuf *b, const char *file, const GfxObject *o,
                     const GfxFinding *f)
{
    const GfxKernel *k = gfx_kernel_at(o, f->pc);

    buf_printf(b, "%s:%s+0x%llx: error: ", file, k ? k->name : "",
               (unsigned long long)(f->pc - (k ? k->entry : OBJECT_BASE)));
    gfx_finding_put(b, o, f);
    buf_printf(b, " [%s]\n    ", gfx_finding_id(f->kind));
    isa_print(b, &o->code[(f->pc - OBJECT_BASE) / 4]);
    buf_printf(b, "\n    workgroup %lld, wave %d", (long long)f->block,
               f->wave);
    if (f->lane >= 0)
        buf_printf(b, ", lane %d", f->lane);
    if (f->count > 1)
        buf_printf(b, "; %lld times", (long long)f->count);
    buf_addc(b, '\n');
}

static const char *isa_counter_basis(const GfxResult *r, GfxCounter c)
{
    if (c == COUNT_LOAD_SECTORS || c == COUNT_STORE_SECTORS)
        return "estimate";
    if (c == COUNT_CONFLICT || c == COUNT_IDX_ACTIVE)
        return r->conflicts_estimate ? "estimate" : "published";
    return "";
}

void isa_put_counters(TextBuf *b, const GfxResult *r)
{
    for (int c = 0; c < GFX_COUNTERS; c++) {
        size_t from = b->len;
        if (!r->count[c])
            continue;
        buf_printf(b, "  %-21s", gfx_counter_name((GfxCounter)c));
        TextBuf n = {0};
        buf_grouped(&n, r->count[c]);
        buf_printf(b, "%16.*s  %s", (int)n.len, n.at,
                   isa_counter_basis(r, (GfxCounter)c));
        buf_release(&n);
        while (b->len > from && b->at[b->len - 1] == ' ')
            b->len--;
        buf_addc(b, '\n');
    }
}

void isa_json_counters(Json *out, const GfxResult *r)
{
    json_key(out, TEXT("counters"));
    json_begin_object(out);
    for (int c = 0; c < GFX_COUNTERS; c++)
        key_int(out, gfx_counter_name((GfxCounter)c), r->count[c]);
    json_end_object(out);
    key_text(out, "conflicts_basis",
             text_of(isa_counter_basis(r, COUNT_CONFLICT)));
    key_text(out, "sectors_basis",
             text_of(isa_counter_basis(r, COUNT_LOAD_SECTORS)));
}

void isa_disassemble(TextBuf *b, const GfxObject *o, const GfxKernel *k)
{
    uint64_t at = k->entry;

    while (at < k->end) {
        const IsaInstr *in = &o->code[(at - OBJECT_BASE) / 4];
        uint32_t word;

        memcpy(&word, o->image + (at - OBJECT_BASE), sizeof word);
        buf_printf(b, "%6llx  %08x  ", (unsigned long long)(at - k->entry),
                   word);
        isa_print(b, in);
        buf_addc(b, '\n');
        at += 4 * (in->words ? in->words : 1);
    }
}
