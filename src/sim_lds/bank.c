// bank.c - which lanes of an access collide in shared memory.
#include "sim_lds/bank.h"
#include "sim_lds/bank_int.h"

#include <limits.h>

static const BankOpInfo ops[] = {
#define BANK_NV(id, name, kind, bits, parts, sm90, sm80)                      \
    [BANK_##id] = {name, VENDOR_NVIDIA, BANK_##kind, bits, parts},
#define BANK_AMD(id, name, kind, bits, parts, ...)                            \
    [BANK_##id] = {name, VENDOR_AMD, BANK_##kind, bits, parts},
#include "sim_lds/bank_op.def"
};

static const BankRule rules[][ARCH_COUNT] = {
#define BANK_NV(id, name, kind, bits, parts, sm90, sm80)                      \
    [BANK_##id] = {                                                           \
        [ARCH_SM90] = {GROUPS_NONE, 32, BASIS_##sm90},                        \
        [ARCH_SM80] = {GROUPS_NONE, 32, BASIS_##sm80},                        \
    },
#define BANK_AMD(id, name, kind, bits, parts, g942, n942, b942, g950, n950,   \
                 b950)                                                        \
    [BANK_##id] = {                                                           \
        [ARCH_GFX942] = {GROUPS_##g942, n942, BASIS_##b942},                  \
        [ARCH_GFX950] = {GROUPS_##g950, n950, BASIS_##b950},                  \
    },
#include "sim_lds/bank_op.def"
};

// Every spelling of every instruction.
static const struct {
    const char *name;
    BankOp op;
} names[] = {
#define BANK_NV(id, name, ...) {name, BANK_##id},
#define BANK_AMD(id, name, ...) {name, BANK_##id},
#define BANK_ALIAS(id, name) {name, BANK_##id},
#include "sim_lds/bank_op.def"
};

const BankOpInfo *bank_op_info(BankOp op)
{
    return &ops[op];
}

const BankRule *bank_rule(const Device *d, BankOp op)
{
    return &rules[op][d->arch];
}

bool bank_has_op(const Device *d, BankOp op)
{
    return bank_rule(d, op)->basis != BASIS_NONE;
}

bool bank_op_find(DeviceVendor vendor, Text name, BankOp *out)
{
    for (size_t i = 0; i < countof(names); i++) {
        if (ops[names[i].op].vendor != vendor || !text_is(name, names[i].name))
            continue;
        *out = names[i].op;
        return true;
    }
    return false;
}

const char *bank_op_nearest(DeviceVendor vendor, Text name)
{
    const char *best = NULL;
    int best_distance = INT_MAX;
    for (size_t i = 0; i < countof(names); i++) {
        if (ops[names[i].op].vendor != vendor)
            continue;
        int distance = text_distance(name, text_of(names[i].name));
        if (distance < best_distance) {
            best_distance = distance;
            best = names[i].name;
        }
    }
    return best;
}

// AMD's wide accesses need dwords, the others and NVIDIA's their own size.
static int alignment(const BankOpInfo *op)
{
    int bytes = op->bits / 8;
    return op->vendor == VENDOR_AMD && bytes > 4 ? 4 : bytes;
}

static const char *misaligned(const BankOpInfo *op)
{
    switch (alignment(op)) {
    case 2:
        return "the address is odd; 16-bit accesses need a multiple of 2";
    case 4:
        return "the address is not a multiple of 4";
    case 8:
        return "the address is not a multiple of 8";
    default:
        return "the address is not a multiple of 16";
    }
}

static const char *mask_problem(const Device *d, const BankAccess *a)
{
    uint64_t all = d->warp_lanes == 64 ? ~0ull : (1ull << d->warp_lanes) - 1;
    if (a->active & ~all)
        return "the mask has bits beyond the lanes of a warp";
    if (a->active == 0)
        return "no lane is active";
    if (bank_op_info(a->op)->kind == BANK_MATRIX && a->active != all)
        return "ldmatrix and stmatrix need every lane active";
    return NULL;
}

bool bank_check(const Device *d, const BankAccess *a, int *lane,
                const char **why)
{
    const BankOpInfo *op = bank_op_info(a->op);
    *lane = -1;
    *why = mask_problem(d, a);
    if (*why)
        return false;
    int matrix_lanes = 8 * op->parts;
    for (int l = 0; l < d->warp_lanes; l++) {
        if (!(a->active >> l & 1))
            continue;
        if (op->kind == BANK_MATRIX && l >= matrix_lanes)
            break;
        for (int p = 0; p < (op->vendor == VENDOR_AMD ? op->parts : 1); p++) {
            int64_t at = a->address[l] + a->offset[p];
            *lane = l;
            if (at < 0 || at > d->smem_block - op->bits / 8)
                *why = "the address is outside the shared memory of a block";
            else if (at % alignment(op))
                *why = misaligned(op);
            if (*why)
                return false;
        }
    }
    return true;
}

// Compare-and-swap sends its second operand in wavefronts of its own.
static BankCount count_nvidia(const BankOpInfo *op, const BankPass *passes,
                              int n)
{
    BankCount c = {0};
    for (int i = 0; i < n; i++) {
        c.passes += passes[i].ways > 0;
        c.cycles += passes[i].ways;
    }
    c.conflicts = c.cycles - c.passes;
    if (op->kind == BANK_ATOMIC)
        c.cycles *= op->parts;
    return c;
}

// Each group costs a cycle whether a lane of it is active or not.
static BankCount count_amd(const BankPass *passes, int n)
{
    BankCount c = {.passes = n, .cycles = n};
    for (int i = 0; i < n; i++)
        if (passes[i].ways > 1)
            c.conflicts += passes[i].ways - 1;
    c.cycles += c.conflicts;
    return c;
}

// A wide access that is only dword-aligned was seen once, free of conflicts.
static bool naturally_aligned(const BankAccess *a, const BankOpInfo *op)
{
    int64_t low_bits = 0;
    for (uint64_t left = a->active; left; left &= left - 1)
        for (int p = 0; p < op->parts; p++)
            low_bits |= a->address[__builtin_ctzll(left)] + a->offset[p];
    int bytes = op->bits == 96 ? 16 : op->bits / 8;
    return low_bits % bytes == 0;
}

BankCount bank_count(const Device *d, const BankAccess *a)
{
    const BankOpInfo *op = bank_op_info(a->op);
    BankPass passes[BANK_PASSES];
    int n = bank_passes(d, a, passes);
    Basis basis = bank_rule(d, a->op)->basis;
    if (d->vendor == VENDOR_NVIDIA) {
        BankCount c = count_nvidia(op, passes, n);
        c.cycles_basis = c.conflicts_basis = basis;
        return c;
    }
    BankCount c = count_amd(passes, n);
    if (!naturally_aligned(a, op))
        basis = BASIS_ESTIMATE;
    c.conflicts_basis = basis;
    // IDX_ACTIVE was published for ds_read_b32 of gfx9 alone.
    c.cycles_basis = a->op == BANK_READ_B32 && d->arch == ARCH_GFX942
                         ? basis : BASIS_ESTIMATE;
    return c;
}
