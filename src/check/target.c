// target.c - what a device cannot do as the program asks for it.
//
// Read off the code, without a run: products that the matrix instructions do
// not fit, and code that takes a warp for 32 lanes where it has 64.
#include "check/check.h"
#include "code/instr.h"

typedef struct {
    const Code *code;
    const Launch *launch;
    const Device *device;
    bool named;                 // by the user
    Arena *a;
    CheckFindings *out;
} Target;

static void add(Target *t, FindingId id, int pc, Text message, Text fix)
{
    CheckFinding f = {.id = id,
                      .at = t->launch->body.at[pc],
                      .message = message,
                      .fix = fix,
                      .count = 1,
                      .block = -1,
                      .param = -1};

    vec_push(t->a, t->out, f);
}

// ---- products ------------------------------------------------------------

// Values of k that one instruction of upstream's choice takes.
static int64_t atom_of(const Device *d, DType t)
{
    switch (dtype_info(t)->bits) {
    case 8:
        return 32;
    case 16:
        return 16;
    case 32:
        return d->vendor == VENDOR_AMD ? 4 : 8;
    default:
        return 4;
    }
}

static DType operand_dtype(const Target *t, const Matrix *m)
{
    return t->code->buffer[m->buffer].dtype;
}

static void check_k(Target *t, const Gemm *g, int pc)
{
    DType type = operand_dtype(t, &g->a);
    int64_t atom = atom_of(t->device, type);

    if (g->k % atom == 0 || dtype_info(type)->bits < 8)
        return;
    add(t, FINDING_GEMM_K, pc,
        text_format(t->a, "K is %lld, no multiple of the %lld that a matrix "
                    "instruction of %s takes in %s", (long long)g->k,
                    (long long)atom, t->device->name, dtype_info(type)->name),
        text_format(t->a, "make the tile's K a multiple of %lld",
                    (long long)atom));
}

static void check_threads(Target *t, int pc)
{
    long long wave = t->device->warp_lanes, n = t->launch->threads;

    if (n % wave == 0)
        return;
    add(t, FINDING_GEMM_THREADS, pc,
        text_format(t->a, "a product by %lld threads: a wave of %s has %lld, "
                    "and %s", n, t->device->name, wave,
                    n < wave ? "none would be whole"
                             : "the last would not be whole"),
        text_format(t->a, "threads=%lld", (n + wave - 1) / wave * wave));
}

static bool is_fnuz(DType t)
{
    return t == DT_E4M3FNUZ || t == DT_E5M2FNUZ;
}

static bool is_fp8(DType t)
{
    return is_fnuz(t) || t == DT_E4M3FN || t == DT_E5M2;
}

static void check_fp8(Target *t, const Gemm *g, int pc)
{
    DType type = operand_dtype(t, &g->a);
    bool fnuz = t->device->fp8 == FP8_FNUZ;

    if (!is_fp8(type))
        type = operand_dtype(t, &g->b);
    if (!is_fp8(type) || t->device->fp8 == FP8_NONE || is_fnuz(type) == fnuz)
        return;
    add(t, FINDING_FP8_KIND, pc,
        text_format(t->a, "%s has no matrix instruction for %s: its 8-bit "
                    "floats are the '%s' kind", t->device->name,
                    dtype_info(type)->name, fnuz ? "fnuz" : "fn"),
        text_format(t->a, "choose the dtype by the target"));
}

// ---- warps ---------------------------------------------------------------

static bool is_warp_op(const Instr *i)
{
    return i->op == INSTR_VSHUFFLE || i->op == INSTR_VVOTE ||
           i->op == INSTR_VWARP;
}

static const Instr *definition(const Target *t, int pc, int reg)
{
    while (--pc >= 0) {
        const Instr *i = &t->launch->body.code[pc];

        if (i->d == reg && (i->op == INSTR_VFILL || i->op == INSTR_VAFFINE ||
                            i->op == INSTR_VOP || i->op == INSTR_VCAST ||
                            i->op == INSTR_VLOAD || i->op == INSTR_VMOV))
            return i;
    }
    return NULL;
}

// The thread's own number, and nothing else.
static bool is_thread(const Target *t, int pc, int reg)
{
    const Instr *i = definition(t, pc, reg);

    return i && i->op == INSTR_VAFFINE && t->code->affine[i->b].col == 1;
}

static bool is_constant(const Target *t, int pc, int reg, int64_t v)
{
    const Instr *i = definition(t, pc, reg);

    return i && i->op == INSTR_VFILL &&
           t->code->constant[i->a] != DT_NONE && t->code->slot[i->a].i == v;
}

static bool splits_by_32(const Target *t, int pc)
{
    const Instr *i = &t->launch->body.code[pc];
    int64_t v;

    if (i->op != INSTR_VOP || i->b < 0 || !is_thread(t, pc, i->a))
        return false;
    switch ((LaneOp)i->lane) {
    case LANE_OP_FLOORDIV:
    case LANE_OP_FLOORMOD:
    case LANE_OP_TRUNCDIV:
    case LANE_OP_TRUNCMOD:
        v = 32;
        break;
    case LANE_OP_SHR:
        v = 5;
        break;
    case LANE_OP_AND:
        v = 31;
        break;
    default:
        return false;
    }
    return is_constant(t, pc, i->b, v);
}

static void check_wave(Target *t, int pc)
{
    if (!splits_by_32(t, pc))
        return;
    add(t, FINDING_WAVE_SIZE, pc,
        text_format(t->a, "the threads are split by 32, and lanes exchange "
                    "values: a wave of %s has %lld", t->device->name,
                    (long long)t->device->warp_lanes),
        TEXT("take the size from the target: T.get_warp_idx()"));
}

// ---- all -----------------------------------------------------------------

static void check_launch(Target *t)
{
    const InstrList *body = &t->launch->body;
    bool exchanges = false;

    for (int i = 0; i < body->len; i++)
        exchanges |= is_warp_op(&body->code[i]);
    for (int i = 0; i < body->len; i++) {
        if (exchanges && t->device->warp_lanes != 32)
            check_wave(t, i);
        if (body->code[i].op != INSTR_GEMM)
            continue;
        check_k(t, &t->code->gemm[body->code[i].a], i);
        check_threads(t, i);
        if (t->named)
            check_fp8(t, &t->code->gemm[body->code[i].a], i);
    }
}

void check_targets(const Code *c, const Device *const *devices, int count,
                   bool named, Arena *a, CheckFindings *out)
{
    for (int d = 0; d < count; d++)
        for (int l = 0; l < c->launch_count; l++) {
            Target t = {c, &c->launch[l], devices[d], named, a, out};

            check_launch(&t);
        }
}
