// wrap_site.c - which instructions may overflow, and which are meant to.
//
// Read off the code, before it runs. Numbers that are taken for bits are no
// sizes: what comes from unsigned types, exclusive or, complements, bit casts,
// random generators or a multiplication by a large odd constant (the multiplier
// of a hash) may wrap, and what was put together by shifts and masks may lose
// its upper bits when it is narrowed.
#include "check/wrap_int.h"

#include <stdlib.h>
#include <string.h>

enum {
    FLAG_MIXED = 1,             // a hash, or bits of another type
    FLAG_PACKED = 2,            // made by shifts and masks
    FLAG_TRUTH = 4,             // 0 or 1 of a comparison
    FLAG_SHIFTED = 8,           // comes straight from a shift to the left
    FLAG_BITS = FLAG_MIXED | FLAG_PACKED,
};

enum { HASH_FACTOR = 1 << 16 };

typedef struct {
    const Code *code;
    const InstrList *body;
    uint8_t *slot, *lanes;      // flags, by register as it is now
    int *made;                  // by vector register: where it got its value
    uint8_t *flags;             // of the result, by pc
    uint8_t *buffer;            // by root
} Walk;

static bool is_unsigned(DType t)
{
    return t < DT_COUNT && dtype_info(t)->kind == KIND_UINT;
}

static bool is_signed(DType t)
{
    return t < DT_COUNT && dtype_info(t)->kind == KIND_INT;
}

// 's' or 'v' for a register, by the place of the operand: d, a, b, c.
static char letter_of(const Instr *i, int which)
{
    const char *operands = instr_info((InstrOp)i->op)->operands;

    return (size_t)which < strlen(operands) ? operands[which] : '-';
}

static uint8_t flags_at(const Walk *x, const Instr *i, int which, int reg)
{
    char letter = letter_of(i, which);

    if (reg < 0)
        return 0;
    return letter == 's' ? x->slot[reg] : letter == 'v' ? x->lanes[reg] : 0;
}

static bool is_hash_factor(int64_t v)
{
    return v & 1 && (v > HASH_FACTOR || v < -HASH_FACTOR);
}

static bool holds_hash_factor(const Walk *x, const Instr *i, int which, int reg)
{
    const Instr *fill;

    if (reg < 0)
        return false;
    if (letter_of(i, which) == 'v') {
        fill = x->made[reg] < 0 ? NULL : &x->body->code[x->made[reg]];
        if (!fill || fill->op != INSTR_VFILL)
            return false;
        reg = fill->a;
    }
    return x->code->constant[reg] != DT_NONE &&
           is_hash_factor(x->code->slot[reg].i);
}

static uint8_t flags_of_op(const Walk *x, const Instr *i)
{
    uint8_t a = flags_at(x, i, 1, i->a), b = flags_at(x, i, 2, i->b);
    uint8_t c = flags_at(x, i, 3, i->c);

    if (lane_op_info((LaneOp)i->lane)->truth || i->lane == LANE_OP_NOT)
        return FLAG_TRUTH;
    if (i->type == LANE_U32 || i->type == LANE_U64)
        return FLAG_BITS;
    if (i->type != LANE_I32 && i->type != LANE_I64)
        return 0;
    switch ((LaneOp)i->lane) {
    case LANE_OP_AND:
    case LANE_OP_OR:
        return a & b & FLAG_TRUTH ? FLAG_TRUTH
                                  : FLAG_PACKED | ((a | b) & FLAG_MIXED);
    case LANE_OP_XOR:
        return a & b & FLAG_TRUTH ? FLAG_TRUTH : FLAG_BITS;
    case LANE_OP_BITNOT:
        return FLAG_BITS;
    case LANE_OP_SHL:
        return FLAG_PACKED | FLAG_SHIFTED | (a & FLAG_MIXED);
    case LANE_OP_SHR:
        return FLAG_PACKED | (a & FLAG_MIXED);
    case LANE_OP_ADD:
    case LANE_OP_SUB:
        return (uint8_t)(((a | b) & FLAG_BITS) |
                         ((a | b) & FLAG_SHIFTED ? FLAG_MIXED : 0));
    case LANE_OP_MUL:
        if (holds_hash_factor(x, i, 1, i->a) ||
            holds_hash_factor(x, i, 2, i->b))
            return FLAG_BITS;
        return (a | b) & FLAG_BITS;
    case LANE_OP_SELECT:
        return b & c & FLAG_TRUTH ? FLAG_TRUTH : (b | c) & FLAG_BITS;
    case LANE_OP_MIN:
    case LANE_OP_MAX:
        return (a | b) & FLAG_BITS;
    default:
        return 0;
    }
}

static uint8_t flags_of_cast(const Walk *x, const Instr *i)
{
    DType to = (DType)i->dtype, from = (DType)i->from;

    if (to == DT_BOOL || from == DT_BOOL)
        return FLAG_TRUTH;
    if (dtype_is_float(from))
        return 0;
    if (is_unsigned(to) || is_unsigned(from))
        return FLAG_BITS;
    return flags_at(x, i, 1, i->a) & FLAG_BITS;
}

static uint8_t flags_of_buffer(const Walk *x, const Instr *i)
{
    int b = x->code->access[i->a].buffer;
    DType t = x->code->buffer[b].dtype;

    if (t == DT_BOOL)
        return FLAG_TRUTH;
    return is_unsigned(t) ? FLAG_BITS : x->buffer[x->code->buffer[b].root];
}

static uint8_t flags_of(const Walk *x, const Instr *i)
{
    switch ((InstrOp)i->op) {
    case INSTR_OP:
    case INSTR_VOP:
        return flags_of_op(x, i);
    case INSTR_CAST:
    case INSTR_VCAST:
        return flags_of_cast(x, i);
    case INSTR_ROUND:
    case INSTR_VROUND:
        return is_unsigned((DType)i->dtype) ? FLAG_BITS
                                            : flags_at(x, i, 1, i->a);
    case INSTR_MOV:
    case INSTR_VMOV:
    case INSTR_VEXPAND:
    case INSTR_VFILL:
    case INSTR_VSHUFFLE:
    case INSTR_VWARP:
    case INSTR_AGREE:
    case INSTR_VFIRST:
        return flags_at(x, i, 1, i->a);
    case INSTR_LOAD:
    case INSTR_VLOAD:
    case INSTR_VATOMIC:
    case INSTR_AGREEMEM:
        return flags_of_buffer(x, i);
    case INSTR_BITS:
    case INSTR_VBITS:
    case INSTR_VPHILOX:
    case INSTR_VRNGSTATE:
    case INSTR_VVOTE:
        return FLAG_BITS;
    default:
        return 0;
    }
}

// What a store leaves in its buffer.
static void keep_stored(const Walk *x, const Instr *i)
{
    uint8_t *to = &x->buffer[x->code->buffer[x->code->access[i->a].buffer].root];
    LaneOp op = (LaneOp)i->lane;

    *to |= flags_at(x, i, 2, i->b) & FLAG_BITS;
    if (i->op == INSTR_VATOMIC &&
        (op == LANE_OP_AND || op == LANE_OP_OR || op == LANE_OP_XOR))
        *to |= FLAG_BITS;
}

static void walk_body(Walk *x)
{
    for (int pc = 0; pc < x->body->len; pc++) {
        const Instr *i = &x->body->code[pc];
        char d = letter_of(i, 0);

        x->flags[pc] = flags_of(x, i);
        if (i->op == INSTR_VSTORE || i->op == INSTR_STORE ||
            i->op == INSTR_VATOMIC)
            keep_stored(x, i);
        if (i->d < 0 || i->op == INSTR_JUMPGE || i->op == INSTR_NEXT)
            continue;
        if (d == 's')
            x->slot[i->d] = x->flags[pc];
        if (d == 'v') {
            x->lanes[i->d] = x->flags[pc];
            x->made[i->d] = pc;
        }
    }
}

static Walk begin_walk(const Code *c, int launch, uint8_t *buffer)
{
    int vectors = c->vector_count > c->warp_vector_count
                      ? c->vector_count : c->warp_vector_count;
    Walk x = {.code = c, .body = &c->launch[launch].body, .buffer = buffer};

    x.slot = xcalloc((size_t)c->slot_count + 1, 1);
    x.lanes = xcalloc((size_t)vectors + 1, 1);
    x.made = xcalloc((size_t)vectors + 1, sizeof *x.made);
    for (int i = 0; i < vectors; i++)
        x.made[i] = -1;
    x.flags = xcalloc((size_t)x.body->len + 1, 1);
    return x;
}

static void end_walk(const Walk *x)
{
    free(x->slot);
    free(x->lanes);
    free(x->made);
    free(x->flags);
}

uint8_t *wrap_buffers(const Code *c)
{
    size_t n = (size_t)c->buffer_count + 1;
    uint8_t *now = xcalloc(n, 1), *before = xcalloc(n, 1);

    do {
        memcpy(before, now, n);
        for (int l = 0; l < c->launch_count; l++) {
            Walk x = begin_walk(c, l, now);

            walk_body(&x);
            end_walk(&x);
        }
    } while (memcmp(before, now, n));
    free(before);
    return now;
}

// ---- sites ---------------------------------------------------------------

// A step whose result a narrow type may not hold is rounded by what follows.
static DType result_dtype(const InstrList *body, int pc)
{
    const Instr *i = &body->code[pc], *next = i + 1;

    if (pc + 1 < body->len &&
        (next->op == INSTR_ROUND || next->op == INSTR_VROUND) &&
        next->a == i->d)
        return (DType)next->dtype;
    return i->type == LANE_I64 ? DT_I64 : DT_I32;
}

static WrapKind kind_of_op(const Walk *x, int pc)
{
    const Instr *i = &x->body->code[pc];
    bool bits = (x->flags[pc] & FLAG_MIXED) != 0;

    if (i->type == LANE_F32 || i->type == LANE_F64)
        return WRAP_NOTHING;
    switch ((LaneOp)i->lane) {
    case LANE_OP_AND:
    case LANE_OP_OR:
    case LANE_OP_XOR:
        return x->flags[pc] & FLAG_TRUTH ? WRAP_NOTHING : WRAP_BITS;
    case LANE_OP_BITNOT:
    case LANE_OP_POPCOUNT:
    case LANE_OP_CLZ:
        return WRAP_BITS;
    case LANE_OP_SHL:
    case LANE_OP_SHR:
        return WRAP_SHIFT;
    case LANE_OP_ADD:
    case LANE_OP_SUB:
    case LANE_OP_MUL:
    case LANE_OP_NEG:
    case LANE_OP_ABS:
    case LANE_OP_FLOORDIV:
    case LANE_OP_TRUNCDIV:
        return bits || i->type == LANE_U32 || i->type == LANE_U64
                   ? WRAP_NOTHING : WRAP_OP;
    default:
        return WRAP_NOTHING;
    }
}

static WrapKind kind_of_cast(const Walk *x, int pc)
{
    const Instr *i = &x->body->code[pc];
    DType to = (DType)i->dtype, from = (DType)i->from;

    if (dtype_is_float(from))
        return dtype_is_int(to) ? WRAP_FLOAT : WRAP_NOTHING;
    if (is_unsigned(to))
        return WRAP_BITS;
    if (!is_signed(to) || !is_signed(from) || x->flags[pc] & FLAG_PACKED ||
        dtype_info(to)->bits >= dtype_info(from)->bits)
        return WRAP_NOTHING;
    return WRAP_CAST;
}

static bool is_sum(const Walk *x, int buffer, LaneOp op)
{
    return op == LANE_OP_ADD && is_signed(x->code->buffer[buffer].dtype);
}

static WrapKind kind_of_tile(const Walk *x, const Instr *i, DType *dtype)
{
    const Code *c = x->code;
    int to = -1, from = -1;
    LaneOp op = LANE_OP_ADD;
    WrapKind kind = WRAP_GEMM;

    if (i->op == INSTR_GEMM) {
        to = from = c->gemm[i->a].c.buffer;
    } else if (i->op == INSTR_REDUCE) {
        kind = WRAP_REDUCE;
        to = c->reduction[i->a].dst, from = c->reduction[i->a].src;
        op = c->reduction[i->a].op;
    } else {
        kind = WRAP_SCAN;
        to = c->scan[i->a].dst.buffer, from = c->scan[i->a].src.buffer;
        op = c->scan[i->a].op;
    }
    *dtype = c->buffer[to].dtype;
    if (!is_sum(x, to, op) || !is_signed(c->buffer[from].dtype) ||
        x->buffer[c->buffer[from].root] & FLAG_MIXED)
        return WRAP_NOTHING;
    return kind;
}

// Whether a factor is the multiplier of a hash.
static bool hashes(const Affine *f)
{
    bool any = is_hash_factor(f->row) || is_hash_factor(f->col);

    for (int i = 0; i < f->count; i++)
        any |= is_hash_factor(f->term[i].factor);
    return any;
}

// Sums that several blocks add to are looked at only where these take turns:
// else the order, and with it the finding, would not be the same each time.
static WrapKind kind_of_atomic(const Walk *x, const Launch *l, int pc)
{
    const Instr *i = &x->body->code[pc];
    int b = x->code->access[i->a].buffer;
    BufferPlace p = x->code->buffer[x->code->buffer[b].root].place;

    if (!is_sum(x, b, (LaneOp)i->lane) || x->flags[pc] & FLAG_MIXED ||
        (p != BUFFER_SCRATCH && !l->ordered))
        return WRAP_NOTHING;
    return WRAP_ATOMIC;
}

// A sum over all threads of a block of one warp.
static bool is_warp_sum(const Meeting *m, const Launch *l)
{
    return m->kind == MEET_REDUCE && m->op == LANE_OP_ADD &&
           is_signed(m->dtype) && l->threads <= l->wave &&
           l->shape[0] == l->threads;
}

static WrapSite site_of(const Walk *x, const Launch *l, int pc)
{
    const Instr *i = &x->body->code[pc];
    WrapSite w = {.kind = WRAP_NOTHING, .mask = -1};
    DType t = (DType)i->dtype;

    switch ((InstrOp)i->op) {
    case INSTR_OP:
    case INSTR_VOP:
        w.kind = (uint8_t)kind_of_op(x, pc);
        t = result_dtype(x->body, pc);
        if (w.kind == WRAP_OP && !is_signed(t))
            w.kind = WRAP_NOTHING;
        break;
    case INSTR_CAST:
    case INSTR_VCAST:
        w.kind = (uint8_t)kind_of_cast(x, pc);
        break;
    case INSTR_ROUND:
    case INSTR_VROUND:
        w.kind = is_unsigned(t) ? WRAP_BITS : WRAP_NOTHING;
        break;
    case INSTR_BITS:
    case INSTR_VBITS:
        w.kind = WRAP_BITS;
        break;
    case INSTR_AFFINE:
        w.kind = t == DT_I32 && !hashes(&x->code->affine[i->a])
                     ? WRAP_AFFINE : WRAP_NOTHING;
        break;
    case INSTR_VAFFINE:
        w.kind = i->type == LANE_I32 && !hashes(&x->code->affine[i->b])
                     ? WRAP_COORDINATES : WRAP_NOTHING;
        t = DT_I32;
        break;
    case INSTR_GEMM:
    case INSTR_REDUCE:
    case INSTR_SCAN:
        w.kind = (uint8_t)kind_of_tile(x, i, &t);
        break;
    case INSTR_VWARP:
        t = result_dtype(x->body, pc);
        w.kind = i->lane == LANE_OP_ADD && is_signed(t) &&
                         !(x->flags[pc] & FLAG_MIXED) &&
                         (i->type == LANE_I32 || i->type == LANE_I64)
                     ? WRAP_WARP : WRAP_NOTHING;
        break;
    case INSTR_MEET:
        t = x->code->meeting[i->a].dtype;
        w.kind = is_warp_sum(&x->code->meeting[i->a], l) ? WRAP_WARP
                                                         : WRAP_NOTHING;
        break;
    case INSTR_VATOMIC:
        w.kind = (uint8_t)kind_of_atomic(x, l, pc);
        t = x->code->buffer[x->code->access[i->a].buffer].dtype;
        break;
    default:
        break;
    }
    w.dtype = (uint8_t)t;
    return w;
}

// ---- masks ---------------------------------------------------------------

static int mask_register(const Instr *i)
{
    return i->op == INSTR_VSTORE || i->op == INSTR_VATOMIC ? i->c : -1;
}

// From the stores of a straight piece of code back to what they store: lanes
// outside of a mask that was known before are computed for nobody.
static void set_masks(const Walk *x, const int *defined, WrapSite *out)
{
    int mask = -1, since = 0;

    for (int pc = x->body->len - 1; pc >= 0; pc--) {
        const Instr *i = &x->body->code[pc];

        for (int o = 1; o < 4; o++)
            if (letter_of(i, o) == 'l')
                mask = -1;
        if (mask_register(i) >= 0) {
            mask = mask_register(i);
            since = defined[pc];
        }
        out[pc].mask = mask >= 0 && since < pc ? mask : -1;
    }
}

void wrap_sites(const Code *c, int launch, const uint8_t *buffer_flags,
                WrapSite *out)
{
    uint8_t *buffer = xcalloc((size_t)c->buffer_count + 1, 1);
    Walk x = begin_walk(c, launch, buffer);
    int *defined = xcalloc((size_t)x.body->len + 1, sizeof *defined);

    memcpy(buffer, buffer_flags, (size_t)c->buffer_count);
    walk_body(&x);
    for (int i = 0; i < (c->vector_count > c->warp_vector_count
                             ? c->vector_count : c->warp_vector_count); i++)
        x.made[i] = -1;
    for (int pc = 0; pc < x.body->len; pc++) {
        const Instr *i = &x.body->code[pc];

        if (mask_register(i) >= 0)
            defined[pc] = x.made[mask_register(i)];
        if (letter_of(i, 0) == 'v' && i->d >= 0)
            x.made[i->d] = pc;
        out[pc] = site_of(&x, &c->launch[launch], pc);
    }
    set_masks(&x, defined, out);
    free(defined);
    free(buffer);
    end_walk(&x);
}
