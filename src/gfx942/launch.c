// launch.c - what the runtime passes to a kernel; findings and counters in
// words.
#include "gfx942/wave_int.h"

// ---- hidden arguments -------------------------------------------------------

static bool hidden_value(const GfxLaunch *l, Text kind, uint64_t *out)
{
    static const struct {
        const char *name;
        enum { BLOCKS, THREADS, REMAINDER, ZERO, DIMS, LDS, SHARED, PRIVATE }
            what;
        int dimension;
    } known[] = {
        {"hidden_block_count_x", BLOCKS, 0},
        {"hidden_block_count_y", BLOCKS, 1},
        {"hidden_block_count_z", BLOCKS, 2},
        {"hidden_group_size_x", THREADS, 0},
        {"hidden_group_size_y", THREADS, 1},
        {"hidden_group_size_z", THREADS, 2},
        {"hidden_remainder_x", REMAINDER, 0},
        {"hidden_remainder_y", REMAINDER, 1},
        {"hidden_remainder_z", REMAINDER, 2},
        {"hidden_global_offset_x", ZERO, 0},
        {"hidden_global_offset_y", ZERO, 0},
        {"hidden_global_offset_z", ZERO, 0},
        {"hidden_grid_dims", DIMS, 0},
        {"hidden_dynamic_lds_size", LDS, 0},
        {"hidden_none", ZERO, 0},
        {"hidden_printf_buffer", ZERO, 0},
        {"hidden_hostcall_buffer", ZERO, 0},
        {"hidden_multigrid_sync_arg", ZERO, 0},
        {"hidden_heap_v1", ZERO, 0},
        {"hidden_default_queue", ZERO, 0},
        {"hidden_completion_action", ZERO, 0},
        {"hidden_queue_ptr", ZERO, 0},
        {"hidden_shared_base", SHARED, 0},
        {"hidden_private_base", PRIVATE, 0},
    };
    for (size_t i = 0; i < countof(known); i++) {
        if (!text_is(kind, known[i].name))
            continue;
        switch (known[i].what) {
        case BLOCKS: *out = l->grid[known[i].dimension]; break;
        case THREADS: *out = l->block[known[i].dimension]; break;
        case DIMS:
            *out = l->grid[2] * l->block[2] > 1   ? 3
                   : l->grid[1] * l->block[1] > 1 ? 2 : 1;
            break;
        case LDS: *out = (uint64_t)l->dynamic_lds; break;
        case SHARED: *out = SHARED_APERTURE >> 32; break;
        case PRIVATE: *out = PRIVATE_APERTURE >> 32; break;
        default: *out = 0;
        }
        return true;
    }
    return false;
}

bool gfx_fill_hidden(const GfxLaunch *l, uint8_t *kernarg, Text *unknown)
{
    for (int i = 0; i < l->kernel->arg_count; i++) {
        const GfxArg *arg = &l->kernel->args[i];
        uint64_t value;
        if (!text_starts(arg->kind, "hidden_"))
            continue;
        if (!hidden_value(l, arg->kind, &value) || arg->size > 8) {
            *unknown = arg->kind;
            return false;
        }
        memcpy(kernarg + arg->offset, &value, arg->size);
    }
    return true;
}

// ---- findings and counters --------------------------------------------------

static const struct {
    const char *id, *sentence;
    ExitCode exit;
} kinds[] = {
#define GFX_FINDING(id, name, code, sentence)                                 \
    [GFX_##id] = {name, sentence, EXIT_##code},
#include "gfx942/finding.def"
};

const char *gfx_finding_id(GfxFindingKind k)
{
    return kinds[k].id;
}

ExitCode gfx_finding_exit(GfxFindingKind k)
{
    return kinds[k].exit;
}

static void put_place(TextBuf *b, const GfxObject *o, uint64_t address)
{
    const GfxKernel *k = gfx_kernel_at(o, address);
    if (k)
        buf_printf(b, "%s+0x%llx", k->name,
                   (unsigned long long)(address - k->entry));
    else
        buf_printf(b, "0x%llx", (unsigned long long)address);
}

static void put_unsupported(TextBuf *b, const GfxObject *o, uint64_t pc)
{
    uint32_t word;
    const IsaInstr *in = &o->code[(pc - OBJECT_BASE) / 4];
    memcpy(&word, o->image + (pc - OBJECT_BASE), sizeof word);
    buf_printf(b, " (word %08x", word);
    if (!in->op) {
        const char *near = isa_nearest(word);
        buf_printf(b, "%s%s", near ? "; the nearest known is " : "",
                   near ? near : "");
    }
    buf_addc(b, ')');
}

static void put_register(TextBuf *b, uint64_t r)
{
    if (r >= OPERAND_AGPR)
        buf_printf(b, "a%d ", (int)(r - OPERAND_AGPR));
    else if (r >= OPERAND_VGPR)
        buf_printf(b, "v%d ", (int)(r - OPERAND_VGPR));
    else
        buf_printf(b, "s%d ", (int)r);
}

void gfx_finding_put(TextBuf *b, const GfxObject *o, const GfxFinding *f)
{
    unsigned long long value = f->value;
    if (f->kind == GFX_NOT_WAITED)
        put_register(b, f->value);
    buf_puts(b, kinds[f->kind].sentence);
    switch (f->kind) {
    case GFX_UNSUPPORTED: put_unsupported(b, o, f->pc); break;
    case GFX_LDS_RACE: case GFX_LDS_IN_FLIGHT:
        buf_puts(b, "; the other is at ");
        put_place(b, o, f->value);
        break;
    case GFX_OUT_OF_BOUNDS: case GFX_READ_ONLY: case GFX_LDS_BOUNDS:
    case GFX_SCRATCH_BOUNDS: case GFX_MISALIGNED: case GFX_BAD_JUMP:
        buf_printf(b, ": 0x%llx", value);
        break;
    default: break;
    }
}

const char *gfx_counter_name(GfxCounter c)
{
    static const char *const names[] = {
#define GFX_COUNTER(id, name, doc) [COUNT_##id] = name,
#include "gfx942/counter.def"
    };

    return names[c];
}
