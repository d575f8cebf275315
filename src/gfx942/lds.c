// lds.c - shared memory: data, order between waves, bank conflicts.
//
// Each word remembers its last write and each wave's last read by the number
// that the wave gave the access. A wave publishes at a barrier what it has
// waited for by then; a wave that meets another's access which is not
// published has found a race.
#include "gfx942/wave_int.h"

#include "sim_lds/bank.h"

// ---- order ------------------------------------------------------------------

static bool published(const Group *g, int wave, uint32_t sequence)
{
    return (int32_t)(g->waves[wave].published - sequence) >= 0;
}

// The other wave had not waited for it, or there was no barrier since.
static void report(Wave *w, int other, uint32_t sequence, int lane,
                   uint32_t pc)
{
    const Wave *o = &w->group->waves[other];
    bool late = (int32_t)(o->done - sequence) < 0;
    wave_finding(w, late ? GFX_LDS_IN_FLIGHT : GFX_LDS_RACE, lane,
                 OBJECT_BASE + 4ull * pc);
}

static void check_write(Wave *w, const LastWrite *last, bool atomic, int lane)
{
    if (!last->sequence || last->wave == w->id || last->part
        || (last->atomic && atomic)
        || published(w->group, last->wave, last->sequence))
        return;
    report(w, last->wave, last->sequence, lane, last->pc);
}

static void check_reads(Wave *w, const uint32_t read[MOST_WAVES], int lane)
{
    const Group *g = w->group;
    for (int i = 0; i < g->wave_count; i++)
        if (i != w->id && read[i] && !published(g, i, read[i])) {
            report(w, i, read[i], lane, w->pc);
            return;
        }
}

static void follow(Wave *w, uint32_t word, bool part, MemoryUse use,
                   bool atomic, int lane)
{
    Group *g = w->group;
    LastWrite *last = &g->written[word];
    if (!part)
        check_write(w, last, atomic, lane);
    if (use == MEMORY_READ) {
        if (!part)
            g->read[word][w->id] = w->sequence;
        return;
    }
    if (!part && !atomic)
        check_reads(w, g->read[word], lane);
    *last = (LastWrite){.sequence = w->sequence, .pc = w->pc,
                        .wave = (uint8_t)w->id, .atomic = atomic,
                        .part = part};
}

static bool lds_access(Wave *w, uint32_t address, int bytes, MemoryUse use,
                       bool atomic, int lane)
{
    Group *g = w->group;
    if (address > g->lds_bytes || (uint32_t)bytes > g->lds_bytes - address) {
        wave_finding(w, GFX_LDS_BOUNDS, lane, address);
        return false;
    }
    if (g->written)
        for (uint32_t word = address / 4; word <= (address + bytes - 1) / 4;
             word++)
            follow(w, word, bytes < 4, use, atomic, lane);
    return true;
}

uint8_t *lds_at(Wave *w, uint64_t address, int bytes, MemoryUse use,
                bool atomic, int lane)
{
    return lds_access(w, (uint32_t)address, bytes, use, atomic, lane)
               ? w->group->lds + (uint32_t)address : NULL;
}

// What a load to shared memory brought, once it is there.
void lds_transfer(Wave *w, const Transfer *t)
{
    uint32_t pc = w->pc;
    w->pc = t->pc;
    w->sequence++;
    for (int i = 0; i < LANES; i++) {
        uint32_t address = t->address + 4 * (uint32_t)i;
        if (t->lanes >> i & 1
            && lds_access(w, address, 4, MEMORY_WRITE, false, i))
            memcpy(w->group->lds + address, &t->data[i], 4);
    }
    w->done = w->sequence;
    w->pc = pc;
}

// ---- conflicts --------------------------------------------------------------

static BankOp bank_op(IsaOp op)
{
    BankOp found;
    const IsaInfo *info = isa_info(op);
    if (bank_op_find(VENDOR_AMD, text_of(info->name), &found))
        return found;
    return info->size[1] > 1 ? BANK_WRITE_B64 : BANK_ADD_U32;
}

static void count_conflicts(Wave *w, const IsaInstr *in, const uint32_t *base,
                            const int offset[2])
{
    Group *g = w->group;
    BankAccess a = {.op = bank_op((IsaOp)in->op), .active = wave_exec(w),
                    .offset = {offset[0], offset[1]}};
    for (int i = 0; i < LANES; i++)
        a.address[i] = base[i] & ~(bank_op_info(a.op)->bits >= 32 ? 3u : 0);
    BankCount c = bank_count(g->run->device, &a);
    g->count[COUNT_CONFLICT] += c.conflicts;
    g->count[COUNT_IDX_ACTIVE] += c.cycles;
    g->estimate |= c.conflicts_basis == BASIS_ESTIMATE;
}

// ---- instructions -----------------------------------------------------------

typedef struct {
    int bytes;                                  // of an access, of a lane
    bool store, sign, low, high;                // d16: a half of the register
} Shape;

static Shape shape_of(IsaOp op)
{
    switch (op) {
    case OP_DS_WRITE_B8: return (Shape){.bytes = 1, .store = true};
    case OP_DS_WRITE_B16: return (Shape){.bytes = 2, .store = true};
    case OP_DS_WRITE_B8_D16_HI:
        return (Shape){.bytes = 1, .store = true, .high = true};
    case OP_DS_WRITE_B16_D16_HI:
        return (Shape){.bytes = 2, .store = true, .high = true};
    case OP_DS_WRITE_B32: case OP_DS_WRITE2_B32: case OP_DS_WRITE2ST64_B32:
        return (Shape){.bytes = 4, .store = true};
    case OP_DS_WRITE_B64: case OP_DS_WRITE2_B64: case OP_DS_WRITE2ST64_B64:
        return (Shape){.bytes = 8, .store = true};
    case OP_DS_WRITE_B96: return (Shape){.bytes = 12, .store = true};
    case OP_DS_WRITE_B128: return (Shape){.bytes = 16, .store = true};
    case OP_DS_READ_U8: return (Shape){.bytes = 1};
    case OP_DS_READ_I8: return (Shape){.bytes = 1, .sign = true};
    case OP_DS_READ_U16: return (Shape){.bytes = 2};
    case OP_DS_READ_I16: return (Shape){.bytes = 2, .sign = true};
    case OP_DS_READ_U8_D16: return (Shape){.bytes = 1, .low = true};
    case OP_DS_READ_U8_D16_HI: return (Shape){.bytes = 1, .high = true};
    case OP_DS_READ_I8_D16:
        return (Shape){.bytes = 1, .sign = true, .low = true};
    case OP_DS_READ_I8_D16_HI:
        return (Shape){.bytes = 1, .sign = true, .high = true};
    case OP_DS_READ_U16_D16: return (Shape){.bytes = 2, .low = true};
    case OP_DS_READ_U16_D16_HI: return (Shape){.bytes = 2, .high = true};
    case OP_DS_READ_B32: case OP_DS_READ2_B32: case OP_DS_READ2ST64_B32:
        return (Shape){.bytes = 4};
    case OP_DS_READ_B64: case OP_DS_READ2_B64: case OP_DS_READ2ST64_B64:
        return (Shape){.bytes = 8};
    case OP_DS_READ_B96: return (Shape){.bytes = 12};
    case OP_DS_READ_B128: return (Shape){.bytes = 16};
    default: return (Shape){.bytes = 0};
    }
}

static uint32_t narrow_loaded(Shape s, uint32_t raw, uint32_t old)
{
    if (s.bytes == 1)
        raw = s.sign ? (uint32_t)(int8_t)raw : raw & 0xff;
    else if (s.bytes == 2)
        raw = s.sign ? (uint32_t)(int16_t)raw : raw & 0xffff;
    if (s.low)
        return (old & 0xffff0000) | (raw & 0xffff);
    return s.high ? (old & 0xffff) | raw << 16 : raw;
}

static void load_lane(const Group *g, uint32_t address, Shape s, uint32_t *to,
                      int lane)
{
    uint32_t data[4] = {0};
    memcpy(data, g->lds + address, s.bytes);
    if (s.bytes < 4)
        data[0] = narrow_loaded(s, data[0], to[lane]);
    for (int r = 0; r < (s.bytes + 3) / 4; r++)
        to[r * LANES + lane] = data[r];
}

static void store_lane(const Group *g, uint32_t address, Shape s,
                       const uint32_t *from, int lane)
{
    uint32_t data[4];
    for (int r = 0; r < (s.bytes + 3) / 4; r++)
        data[r] = from[r * LANES + lane];
    if (s.high)
        data[0] >>= 16;
    memcpy(g->lds + address, data, s.bytes);
}

// `base` is a copy: a load may write its own address register.
static void access_part(Wave *w, Shape s, const uint32_t base[LANES],
                        int offset, uint32_t *registers)
{
    Group *g = w->group;
    MemoryUse use = s.store ? MEMORY_WRITE : MEMORY_READ;
    for (uint64_t left = wave_exec(w); left; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        uint32_t address = base[lane] + (uint32_t)offset;
        if (!lds_access(w, address, s.bytes, use, false, lane))
            continue;
        if (s.store)
            store_lane(g, address, s, registers, lane);
        else
            load_lane(g, address, s, registers, lane);
    }
}

static void access(Wave *w, const IsaInstr *in, Shape s)
{
    const IsaInfo *info = isa_info(in->op);
    bool two = isa_marked(info, '2');
    int unit = strstr(info->name, "st64") ? 64 * s.bytes : s.bytes;
    int offset[2] = {two ? in->offset * unit : in->offset,
                     two ? in->offset1 * unit : 0};
    uint32_t base[LANES];
    memcpy(base, vector_row(w, in->src[0]), sizeof base);
    for (int part = 0; part <= two; part++) {
        uint16_t r = s.store ? in->src[1 + part]
                             : in->dst + part * (s.bytes / 4);
        access_part(w, s, base, offset[part], vector_row(w, r));
    }
    count_conflicts(w, in, base, offset);
}

static uint64_t lane_value(const uint32_t *row, int lane, int bytes)
{
    return row[lane] | (bytes == 8 ? (uint64_t)row[LANES + lane] << 32 : 0);
}

static void atomic(Wave *w, const IsaInstr *in, AtomicOp op)
{
    const IsaInfo *info = isa_info(in->op);
    int bytes = 4 * info->size[1], offset[2] = {in->offset, 0};
    uint32_t address[LANES];
    memcpy(address, vector_row(w, in->src[0]), sizeof address);
    const uint32_t *data = vector_row(w, in->src[1]);
    const uint32_t *other = info->size[2] ? vector_row(w, in->src[2]) : data;
    for (uint64_t left = wave_exec(w); left; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        uint32_t at = address[lane] + (uint32_t)in->offset;
        uint64_t old = 0;
        if (at % bytes) {
            wave_finding(w, GFX_MISALIGNED, lane, at);
            continue;
        }
        if (!lds_access(w, at, bytes, MEMORY_WRITE, true, lane))
            continue;
        memcpy(&old, w->group->lds + at, bytes);
        // ds_cmpst has what to compare with first.
        uint64_t first = lane_value(data, lane, bytes);
        uint64_t second = lane_value(other, lane, bytes);
        uint64_t made = atomic_result(op, bytes, old,
                                      op == ATOMIC_CMPSWAP ? second : first,
                                      first);
        memcpy(w->group->lds + at, &made, bytes);
        for (int r = 0; r < info->d; r++)
            vector_row(w, in->dst)[r * LANES + lane] =
                (uint32_t)(old >> 32 * r);
    }
    count_conflicts(w, in, address, offset);
}

bool lds_knows(IsaOp op)
{
    return shape_of(op).bytes || atomic_of_ds(op) != ATOMIC_NONE;
}

void exec_lds(Wave *w, const IsaInstr *in)
{
    const IsaInfo *info = isa_info(in->op);
    Shape s = shape_of((IsaOp)in->op);
    AtomicOp op = atomic_of_ds((IsaOp)in->op);
    if (in->gds) {
        wave_stop(w, GFX_MODE, 0);
        return;
    }
    w->group->count[COUNT_LDS]++;
    w->sequence++;
    if (s.bytes)
        access(w, in, s);
    else
        atomic(w, in, op);
    wait_push_shared(w, in->dst, in->dst == OPERAND_NONE ? 0 : info->d);
}
