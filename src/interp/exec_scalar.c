// exec_scalar.c - instructions on slots, and conversions between dtypes.
//
// A slot is a register of one lane: the lane operations run on it with n = 1,
// and integers are then extended to int64 again. The commonest integer
// operations are done in place.
#include "interp/interp_int.h"

#include <string.h>

void fix_slot(Slot *s, LaneType t)
{
    int32_t i;
    uint32_t u;

    if (t == LANE_I32) {
        memcpy(&i, s, sizeof i);
        s->i = i;
    } else if (t == LANE_U32) {
        memcpy(&u, s, sizeof u);
        s->i = u;
    }
}

// ---- operations ----------------------------------------------------------

static bool quick_op(Slot *d, LaneOp op, int64_t a, int64_t b)
{
    switch (op) {
    case LANE_OP_ADD:
        d->i = (int64_t)((uint64_t)a + (uint64_t)b);
        return true;
    case LANE_OP_SUB:
        d->i = (int64_t)((uint64_t)a - (uint64_t)b);
        return true;
    case LANE_OP_MUL:
        d->i = (int64_t)((uint64_t)a * (uint64_t)b);
        return true;
    case LANE_OP_LT:
        d->i = a < b;
        return true;
    case LANE_OP_LE:
        d->i = a <= b;
        return true;
    case LANE_OP_EQ:
        d->i = a == b;
        return true;
    case LANE_OP_NE:
        d->i = a != b;
        return true;
    case LANE_OP_MIN:
        d->i = a < b ? a : b;
        return true;
    case LANE_OP_MAX:
        d->i = a > b ? a : b;
        return true;
    case LANE_OP_AND:
        d->i = a & b;
        return true;
    case LANE_OP_OR:
        d->i = a | b;
        return true;
    default:
        return false;
    }
}

static const void *operand(const Worker *w, int slot)
{
    return slot < 0 ? NULL : &w->slot[slot];
}

const Instr *exec_OP(Worker *w, const Instr *i)
{
    Slot *d = &w->slot[i->d], result = {0};
    LaneType t = (LaneType)i->type;

    if ((t == LANE_I32 || t == LANE_I64) && i->b >= 0 && i->c < 0 &&
        quick_op(d, (LaneOp)i->lane, w->slot[i->a].i, w->slot[i->b].i)) {
        fix_slot(d, t);
        return i + 1;
    }
    w->lanes->op[i->lane][t](&result, operand(w, i->a), operand(w, i->b),
                             operand(w, i->c), 1);
    fix_slot(&result, lane_op_info((LaneOp)i->lane)->truth ? LANE_I32 : t);
    *d = result;
    return i + 1;
}

const Instr *exec_MOV(Worker *w, const Instr *i)
{
    w->slot[i->d] = w->slot[i->a];
    return i + 1;
}

const Instr *exec_AFFINE(Worker *w, const Instr *i)
{
    const Affine *f = &w->code->affine[i->a];
    uint64_t sum = (uint64_t)f->base;

    for (int t = 0; t < f->count; t++)
        sum +=
            (uint64_t)f->term[t].factor * (uint64_t)w->slot[f->term[t].slot].i;
    w->slot[i->d].i = i->dtype == DT_I32 ? (int32_t)sum : (int64_t)sum;
    return i + 1;
}

const Instr *exec_ROUND(Worker *w, const Instr *i)
{
    LaneFn *round = w->lanes->round[i->dtype];
    Slot r = w->slot[i->a];

    if (round) {
        round(&r, &w->slot[i->a], NULL, NULL, 1);
        fix_slot(&r, lane_type_of((DType)i->dtype));
    }
    w->slot[i->d] = r;
    return i + 1;
}

// ---- conversions ---------------------------------------------------------

static DType lane_as_dtype(LaneType t)
{
    static const DType of[LANE_COUNT] = {
        [LANE_F32] = DT_F32, [LANE_F64] = DT_F64, [LANE_I32] = DT_I32,
        [LANE_U32] = DT_U32, [LANE_I64] = DT_I64, [LANE_U64] = DT_U64,
    };

    return of[t];
}

static void to_narrow_float(const Lanes *l, void *dst, DType to,
                            const void *src, LaneType from, bool saturate,
                            int64_t n)
{
    LaneFn *round =
        !saturate && l->round_nosat[to] ? l->round_nosat[to] : l->round[to];

    if (from == LANE_F32) {
        round(dst, src, NULL, NULL, n);
        return;
    }
    l->convert_odd[from](dst, src, NULL, NULL, n);
    round(dst, dst, NULL, NULL, n);
}

static void to_narrow_int(const Lanes *l, void *dst, DType to, const void *src,
                          LaneType from, int64_t n)
{
    bool is_float = from == LANE_F32 || from == LANE_F64;

    if (from == LANE_I32) {
        l->round[to](dst, src, NULL, NULL, n);
        return;
    }
    l->convert[from][LANE_I32](dst, src, NULL, NULL, n);
    (is_float ? l->clamp : l->round)[to](dst, dst, NULL, NULL, n);
}

static void to_bool(const Worker *w, void *dst, const void *src, LaneType from,
                    int64_t n)
{
    num_convert(DT_BOOL, w->raw, lane_as_dtype(from), src, n);
    w->lanes->load[DT_BOOL](dst, w->raw, NULL, NULL, n);
}

// At most CODE_LANES lanes; dst and src do not overlap.
void cast_lanes(const Worker *w, void *dst, DType to, const void *src,
                DType from, bool saturate, int64_t n)
{
    const Lanes *l = w->lanes;
    LaneType have = lane_type_of(from), want = lane_type_of(to);

    if (to == DT_BOOL && have != LANE_I32)
        to_bool(w, dst, src, have, n);
    else if (want == LANE_F32 && to != DT_F32)
        to_narrow_float(l, dst, to, src, have, saturate, n);
    else if (want == LANE_I32 && to != DT_I32)
        to_narrow_int(l, dst, to, src, have, n);
    else if (have == want)
        memcpy(dst, src, (size_t)n * lane_bytes(want));
    else
        l->convert[have][want](dst, src, NULL, NULL, n);
}

const Instr *exec_CAST(Worker *w, const Instr *i)
{
    Slot r = {0};

    cast_lanes(w, &r, (DType)i->dtype, &w->slot[i->a], (DType)i->from,
               !(i->flags & INSTR_NO_SAT), 1);
    fix_slot(&r, lane_type_of((DType)i->dtype));
    w->slot[i->d] = r;
    return i + 1;
}

const Instr *exec_BITS(Worker *w, const Instr *i)
{
    Slot r = {0}, bits = {0};

    exact_store(w->lanes, (DType)i->from)(&bits, &w->slot[i->a], NULL, NULL, 1);
    w->lanes->load[i->dtype](&r, &bits, NULL, NULL, 1);
    fix_slot(&r, lane_type_of((DType)i->dtype));
    w->slot[i->d] = r;
    return i + 1;
}

// ---- elements ------------------------------------------------------------

// The offset of an element, or false with a finding where that is one.
bool element_of(Worker *w, const Access *a, int64_t *at)
{
    const Tensor *t = &w->buffer[a->buffer];

    *at = w->slot[a->dim[0].slot].i;
    if (a->kind == ACCESS_FLAT)
        return true;
    *at = 0;
    for (int d = 0; d < a->rank; d++) {
        int64_t i = w->slot[a->dim[d].slot].i;

        if (i < 0 || i >= t->shape[d]) {
            if (!(a->quiet >> d & 1))
                report(w, a->site, 1, d, i, t->shape[d]);
            return false;
        }
        *at += i * t->stride[d];
    }
    if (a->permuted)
        *at = w->slot[a->place.slot].i;
    return true;
}

const Instr *exec_LOAD(Worker *w, const Instr *i)
{
    const Access *a = &w->code->access[i->a];
    int64_t at;

    if (element_of(w, a, &at))
        load_one(w, &w->buffer[a->buffer], &w->slot[i->d], at);
    else
        safe_value(w, a->buffer, &w->slot[i->d]);
    return i + 1;
}

const Instr *exec_STORE(Worker *w, const Instr *i)
{
    const Access *a = &w->code->access[i->a];
    int64_t at;

    if (element_of(w, a, &at))
        store_elements(w, &w->buffer[a->buffer], at, &w->slot[i->b], 1);
    return i + 1;
}

// ---- allocation ----------------------------------------------------------

// What never-written memory reads as: NaN, or -1 as far as the dtype has it.
static void fill_unwritten(Worker *w, int buffer)
{
    const CodeBuffer *b = &w->code->buffer[w->code->buffer[buffer].root];
    const DTypeInfo *info = dtype_info(b->dtype);
    int32_t *lane = (int32_t *)w->buffer[buffer].at;

    if (b->lanes && lane_type_of(b->dtype) == LANE_I32 &&
        info->kind != KIND_INT) {
        int32_t all = info->kind == KIND_BOOL ? 1 : (1 << info->bits) - 1;

        for (int64_t j = 0; j < b->bytes / 4; j++)
            lane[j] = all;
        return;
    }
    memset(lane, 0xff, (size_t)b->bytes);
}

const Instr *exec_ALLOC(Worker *w, const Instr *i)
{
    for (int b = i->a; b >= 0; b = w->code->buffer[b].copy)
        fill_unwritten(w, b);
    return i + 1;
}
