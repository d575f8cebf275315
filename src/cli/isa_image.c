// isa_image.c - what a code object says of its kernels.
#include "cli/isa_device.h"
#include "cli/isa_orders.h"

bool isa_image_put(TextBuf *out, Arena *a, Text image)
{
    const char *why;
    const GfxObject *o = gfx_object_read(a, image.at, image.len, &why);

    for (int i = 0; o && i < o->kernel_count; i++) {
        buf_printf(out, "%s%s:\n", i ? "\n" : "", o->kernels[i].name);
        isa_disassemble(out, o, &o->kernels[i]);
    }
    return o != NULL;
}

// ---- what it says of them ---------------------------------------------------

// Bytes that a lane gets at one place: of ds_read2_b32 4.
static int read_bytes(const IsaInfo *info)
{
    static const struct {
        const char *tail;
        int bytes;
    } kinds[] = {
        {"_u8", 1}, {"_i8", 1}, {"_u16", 2}, {"_i16", 2}, {"_b32", 4},
        {"_b64", 8}, {"_b96", 12}, {"_b128", 16}, {"_d16", 2}, {"_d16_hi", 2},
    };
    Text name = text_of(info->name);

    if (!text_starts(name, "ds_read"))
        return 0;
    for (size_t i = 0; i < countof(kinds); i++)
        if (text_ends(name, kinds[i].tail))
            return kinds[i].bytes;
    return 0;
}

static void count(GpuIsa *u, const IsaInfo *info)
{
    int bytes = read_bytes(info);

    switch (info->encoding) {
    case ENC_SOP2: case ENC_SOPK: case ENC_SOP1: case ENC_SOPC: case ENC_SOPP:
        u->salu++;
        break;
    case ENC_SMEM:
        u->smem++;
        break;
    case ENC_DS:
        u->lds++;
        break;
    case ENC_FLAT: case ENC_MUBUF:
        u->vmem++;
        break;
    default:
        u->mfma += isa_marked(info, 'M');
        u->valu += !isa_marked(info, 'M');
    }
    if (bytes && (!u->narrowest_read || bytes < u->narrowest_read))
        u->narrowest_read = bytes;
}

static void read_kernel(Arena *a, const GfxObject *o, const GfxKernel *k,
                        GpuUsage *out)
{
    GpuIsa *u = new (a, GpuIsa);

    *u = (GpuIsa){.vgprs = k->vgprs, .agprs = k->agprs, .sgprs = k->sgprs,
                  .vgpr_spills = k->vgpr_spills, .sgpr_spills = k->sgpr_spills,
                  .scratch = k->scratch_bytes};
    for (uint64_t at = k->entry; at < k->end;) {
        const IsaInstr *in = &o->code[(at - OBJECT_BASE) / 4];
        if (in->op)
            count(u, isa_info((IsaOp)in->op));
        at += 4 * (in->words ? in->words : 1);
    }
    *out = (GpuUsage){.symbol = text_copy(a, text_of(k->name)),
                      .registers = k->vgprs, .spills = 4 * k->vgpr_spills,
                      .static_shared = k->lds_bytes, .isa = u};
}

bool isa_image_usage(Arena *a, Text image, GpuBuilt *out, const char **why)
{
    const GfxObject *o = gfx_object_read(a, image.at, image.len, why);

    if (!o)
        return false;
    out->usage = new_array(a, GpuUsage, o->kernel_count + 1);
    for (int i = 0; i < o->kernel_count; i++)
        read_kernel(a, o, &o->kernels[i], &out->usage[out->usage_count++]);
    return true;
}
