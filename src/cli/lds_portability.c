// lds_portability.c - what changes for a kernel from one target to another.
#include "cli/lds_report.h"
#include "cli/report.h"

static void put(TextBuf *b, bool *any, const char *name)
{
    size_t line = b->len;

    if (!*any)
        buf_puts(b, "portability\n");
    *any = true;
    line = b->len;
    buf_printf(b, "  %s", name);
    report_column(b, line, 20);
}

// "A on mi300x, B on h100": a value for each target.
static void put_each(TextBuf *b, const LdsReport *r,
                     void put_one(TextBuf *b, const LdsReport *r, int t))
{
    for (int t = 0; t < r->device_count; t++) {
        buf_puts(b, t ? ", " : "");
        put_one(b, r, t);
        buf_printf(b, " on %s", r->devices[t]->name);
    }
    buf_addc(b, '\n');
}

static void put_limit(TextBuf *b, const LdsReport *r, int t)
{
    buf_grouped(b, r->devices[t]->smem_block);
}

static void put_warps(TextBuf *b, const LdsReport *r, int t)
{
    const Device *d = r->devices[t];

    buf_printf(b, "%d of %d lanes",
               device_warps(d, r->launches[0].target[t].plan->threads),
               (int)d->warp_lanes);
}

static void put_unit(TextBuf *b, const LdsReport *r, int t)
{
    static const char *const unit[] = {"mma", "wgmma", "MFMA"};
    const PlanGemm *g = &r->launches[0].target[t].plan->gemms[0];

    buf_printf(b, "%s in %d x %d", unit[g->unit], g->m_warps, g->n_warps);
}

static void put_fp8(TextBuf *b, const LdsReport *r, int t)
{
    DeviceFp8 kind = r->devices[t]->fp8;

    buf_puts(b, kind == FP8_FN ? "e4m3fn" : kind == FP8_FNUZ ? "e4m3fnuz"
                                                             : "none");
}

// ---- does it matter? -------------------------------------------------------

static bool differs(const LdsReport *r, int64_t of(const Device *d))
{
    for (int t = 1; t < r->device_count; t++)
        if (of(r->devices[t]) != of(r->devices[0]))
            return true;
    return false;
}

static int64_t limit_of(const Device *d)
{
    return d->smem_block;
}

static int64_t lanes_of(const Device *d)
{
    return d->warp_lanes;
}

static int64_t fp8_of(const Device *d)
{
    return d->fp8;
}

static int64_t arch_of(const Device *d)
{
    return d->arch;
}

static bool is_fp8(DType t)
{
    return dtype_info(t)->bits == 8 && !dtype_is_int(t) && t != DT_BOOL;
}

static bool uses_fp8(const LdsReport *r)
{
    const IrKernel *k = r->kernel->ir;

    for (int i = 0; i < k->buffer_count; i++)
        if (is_fp8(k->buffers[i]->dtype))
            return true;
    return false;
}

static bool has_gemm(const LdsReport *r)
{
    for (int t = 0; t < r->device_count; t++)
        if (!r->launches[0].target[t].plan->gemm_count)
            return false;
    return true;
}

static bool feeds(const LdsReport *r, int t)
{
    for (int i = 0; i < r->launch_count; i++)
        if (r->launches[i].target[t].plan->producers)
            return true;
    return false;
}

void lds_portability_text(TextBuf *b, const LdsReport *r)
{
    bool any = false;

    if (r->device_count < 2 || !r->launch_count || !differs(r, arch_of))
        return;
    if (differs(r, limit_of)) {
        put(b, &any, "bytes of a block");
        put_each(b, r, put_limit);
    }
    if (differs(r, lanes_of)) {
        put(b, &any, "warps, waves");
        put_each(b, r, put_warps);
    }
    if (has_gemm(r)) {
        put(b, &any, "first gemm");
        put_each(b, r, put_unit);
    }
    if (uses_fp8(r) && differs(r, fp8_of)) {
        put(b, &any, "8-bit floats");
        put_each(b, r, put_fp8);
    }
    for (int t = 0; t < r->device_count; t++) {
        if (feeds(r, t)) {
            put(b, &any, "producer warps");
            buf_printf(b, "only %s has them; elsewhere the warps that compute "
                       "also copy\n", r->devices[t]->name);
        }
        if (lds_stages_idle(r, r->devices[t])) {
            put(b, &any, "num_stages");
            buf_printf(b, "does nothing on %s: a serial loop there\n",
                       r->devices[t]->name);
        }
    }
}
