// vmem.c - vector memory: global, flat, scratch and buffer instructions.
#include "gfx942/wave_int.h"

#include "sim_lds/global.h"

// Numbers that FLAT and MUBUF share: loads 16 to 23, stores 24 to 31, d16 loads
// 32 to 37, atomics from 64.
typedef struct {
    int bytes;                                  // of a lane
    bool store, sign, low, high;
} Shape;

static bool shape_of(int number, Shape *out)
{
    static const Shape shapes[] = {
        {.bytes = 1}, {.bytes = 1, .sign = true}, {.bytes = 2},
        {.bytes = 2, .sign = true}, {.bytes = 4}, {.bytes = 8}, {.bytes = 12},
        {.bytes = 16}, {.bytes = 1, .store = true},
        {.bytes = 1, .store = true, .high = true}, {.bytes = 2, .store = true},
        {.bytes = 2, .store = true, .high = true}, {.bytes = 4, .store = true},
        {.bytes = 8, .store = true}, {.bytes = 12, .store = true},
        {.bytes = 16, .store = true}, {.bytes = 1, .low = true},
        {.bytes = 1, .high = true}, {.bytes = 1, .sign = true, .low = true},
        {.bytes = 1, .sign = true, .high = true}, {.bytes = 2, .low = true},
        {.bytes = 2, .high = true}, {.bytes = 1}, {.bytes = 1, .sign = true},
        {.bytes = 2}, {.bytes = 2, .sign = true}, {.bytes = 4},
    };
    if (number < 16 || number >= 16 + (int)countof(shapes))
        return false;
    *out = shapes[number - 16];
    return true;
}

// Where each lane goes. A lane outside a buffer reads 0 and stores nothing.
typedef struct {
    uint64_t lanes, outside;
    uint64_t address[LANES];
    uint32_t room[LANES];                       // bytes inside the buffer
    bool scratch;                               // addresses of private memory
} Places;

// ---- addresses --------------------------------------------------------------

static uint64_t pair_of(const uint32_t *row, int lane)
{
    return row[lane] | (uint64_t)row[LANES + lane] << 32;
}

static void flat_places(Wave *w, const IsaInstr *in, Places *p)
{
    const uint32_t *v = in->has_address ? vector_row(w, in->src[0]) : NULL;
    bool global = in->segment == SEGMENT_GLOBAL;
    uint64_t base = 0;
    p->scratch = in->segment == SEGMENT_SCRATCH;
    if (in->has_soffset)
        base = global ? scalar_get64(w, in->src[2], in)
                      : scalar_get(w, in->src[2], in);
    bool wide = in->segment == SEGMENT_FLAT || (global && !in->has_soffset);
    for (int i = 0; i < LANES; i++) {
        uint64_t own = !v ? 0 : wide ? pair_of(v, i) : v[i];
        p->address[i] = base + own + (uint64_t)(int64_t)in->offset;
        p->room[i] = ~0u;
    }
}

enum { BUFFER_ADD_TID = 1 << 23 };

// The descriptor: 48 bits of address, 14 of stride, swizzle; the number of
// records; flags.
static bool buffer_places(Wave *w, const IsaInstr *in, Places *p)
{
    const uint32_t *v = in->has_address ? vector_row(w, in->src[0]) : NULL;
    uint64_t head = scalar_get64(w, in->src[1], in);
    uint32_t records = scalar_get(w, in->src[1] + 2, in);
    uint32_t flags = scalar_get(w, in->src[1] + 3, in);
    uint64_t base = head & 0xffffffffffff, stride = head >> 48 & 0x3fff;
    uint64_t soffset = scalar_get(w, in->src[2], in);
    if (head >> 63 || flags & BUFFER_ADD_TID)
        return false;
    for (int i = 0; i < LANES; i++) {
        uint64_t index = in->idxen ? v[i] : 0;
        uint64_t offset = (uint32_t)in->offset;
        if (in->offen)
            offset += v[in->idxen ? LANES + i : i];
        p->address[i] = base + soffset + offset + stride * index;
        uint64_t used = soffset + offset;
        uint64_t room = stride     ? (index < records ? ~0ull : 0)
                        : used < records ? records - used : 0;
        p->room[i] = room < ~0u ? (uint32_t)room : ~0u;
        if (!p->room[i])
            p->outside |= 1ull << i;
    }
    return true;
}

// ---- a lane -----------------------------------------------------------------

static uint8_t *scratch_at(Wave *w, uint64_t address, int bytes, int lane)
{
    Group *g = w->group;
    uint64_t size = g->run->scratch_bytes;
    if (address > size || (uint64_t)bytes > size - address) {
        wave_finding(w, GFX_SCRATCH_BOUNDS, lane, address);
        return NULL;
    }
    return g->scratch + ((uint64_t)w->id * LANES + lane) * size + address;
}

static uint8_t *place(Wave *w, const Places *p, const IsaInstr *in, int bytes,
                      MemoryUse use, int lane)
{
    uint64_t address = p->address[lane];
    if (p->scratch)
        return scratch_at(w, address, bytes, lane);
    if (isa_info(in->op)->encoding == ENC_FLAT
        && in->segment == SEGMENT_FLAT) {
        uint64_t aperture = address & 0xffffffff00000000;
        if (aperture == SHARED_APERTURE)
            return lds_at(w, address & 0xffffffff, bytes, use,
                          isa_info(in->op)->number >= 64, lane);
        if (aperture == PRIVATE_APERTURE)
            return scratch_at(w, address & 0xffffffff, bytes, lane);
    }
    return memory_at(w, address, bytes, use, lane);
}

static uint32_t narrow_loaded(Shape s, uint32_t raw, uint32_t old)
{
    if (s.bytes == 1 && s.sign)
        raw = (uint32_t)(int8_t)raw;
    else if (s.bytes == 2 && s.sign)
        raw = (uint32_t)(int16_t)raw;
    if (s.low)
        return (old & 0xffff0000) | (raw & 0xffff);
    return s.high ? (old & 0xffff) | raw << 16 : raw;
}

static int inside(const Places *p, int bytes, int lane)
{
    uint32_t room = p->room[lane];
    return room >= (uint32_t)bytes ? bytes : bytes < 4 ? 0 : (int)(room & ~3u);
}

static void load_lane(Wave *w, const Places *p, const IsaInstr *in, Shape s,
                      uint32_t *to, int lane)
{
    uint32_t data[4] = {0};
    int bytes = inside(p, s.bytes, lane);
    if (bytes) {
        const uint8_t *at = place(w, p, in, bytes, MEMORY_READ, lane);
        if (at)
            memcpy(data, at, bytes);
    }
    if (s.bytes < 4)
        data[0] = narrow_loaded(s, data[0], to[lane]);
    for (int r = 0; r < (s.bytes + 3) / 4; r++)
        to[r * LANES + lane] = data[r];
}

static void store_lane(Wave *w, const Places *p, const IsaInstr *in, Shape s,
                       const uint32_t *from, int lane)
{
    uint32_t data[4];
    int bytes = inside(p, s.bytes, lane);
    for (int r = 0; r < (s.bytes + 3) / 4; r++)
        data[r] = from[r * LANES + lane];
    if (s.high)
        data[0] >>= 16;
    if (!bytes)
        return;
    uint8_t *at = place(w, p, in, bytes, MEMORY_WRITE, lane);
    if (at)
        memcpy(at, data, bytes);
}

// ---- counts -----------------------------------------------------------------

static void count_sectors(Wave *w, const Places *p, int bytes, bool store)
{
    Group *g = w->group;
    GlobalAccess a = {.kind = store ? GLOBAL_STORE : GLOBAL_LOAD,
                      .bytes = bytes, .active = p->lanes & ~p->outside};
    if (p->scratch || !a.active)
        return;
    for (int i = 0; i < LANES; i++)
        a.address[i] = (int64_t)p->address[i];
    g->count[store ? COUNT_STORE_SECTORS : COUNT_LOAD_SECTORS] +=
        global_count(g->run->device, &a).sectors;
}

// ---- to shared memory -------------------------------------------------------

static int32_t start_transfer(Wave *w, const IsaInstr *in, const Places *p,
                              Shape s)
{
    wait_for(w, QUEUE - 1, 15);
    int32_t slot = (w->vm.head + w->vm.len) % QUEUE;
    Transfer *t = &w->transfers[slot];
    *t = (Transfer){.lanes = p->lanes, .pc = w->pc, .bytes = 4,
                    .address = (w->s[OPERAND_M0] & 0xffff)
                               + (uint32_t)in->offset};
    for (uint64_t left = p->lanes; left; left &= left - 1)
        load_lane(w, p, in, s, t->data, __builtin_ctzll(left));
    return slot;
}

// ---- instructions -----------------------------------------------------------

static void run_load(Wave *w, const IsaInstr *in, const Places *p, Shape s)
{
    int32_t transfer = -1;
    int count = (s.bytes + 3) / 4;
    if (in->lds) {
        transfer = start_transfer(w, in, p, s);
        count = 0;
    } else {
        uint32_t *to = vector_row(w, in->dst);
        for (uint64_t left = p->lanes; left; left &= left - 1)
            load_lane(w, p, in, s, to, __builtin_ctzll(left));
    }
    w->group->count[COUNT_VMEM_READ]++;
    wait_push_vector(w, &w->vm, count ? in->dst : 0, count, transfer);
}

static void run_store(Wave *w, const IsaInstr *in, const Places *p, Shape s,
                      uint16_t data)
{
    const uint32_t *from = vector_row(w, data);
    for (uint64_t left = p->lanes; left; left &= left - 1)
        store_lane(w, p, in, s, from, __builtin_ctzll(left));
    w->group->count[COUNT_VMEM_WRITE]++;
    wait_push_vector(w, &w->vm, 0, 0, -1);
}

static uint64_t value_of(const uint32_t *row, int bytes, int lane)
{
    return bytes == 8 ? pair_of(row, lane) : row[lane];
}

static void run_atomic(Wave *w, const IsaInstr *in, const Places *p,
                       uint16_t data, bool returns)
{
    int number = isa_info(in->op)->number, bytes = number >= 96 ? 8 : 4;
    AtomicOp op = atomic_of_vmem(number);
    if (number >= 79 && number <= 81)
        bytes = 8;
    const uint32_t *from = vector_row(w, data);
    for (uint64_t left = p->lanes; left; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        uint64_t old = 0, made;
        uint8_t *at = NULL;
        if (p->address[lane] % bytes)
            wave_finding(w, GFX_MISALIGNED, lane, p->address[lane]);
        else if (inside(p, bytes, lane) == bytes)
            at = place(w, p, in, bytes, MEMORY_WRITE, lane);
        if (at) {
            // The new value comes before the one to compare with.
            uint64_t compare = value_of(from + bytes / 4 * LANES, bytes, lane);
            memcpy(&old, at, bytes);
            made = atomic_result(op, bytes, old, value_of(from, bytes, lane),
                                 compare);
            memcpy(at, &made, bytes);
        }
        for (int r = 0; r < bytes / 4 && returns; r++)
            vector_row(w, in->dst)[r * LANES + lane] =
                (uint32_t)(old >> 32 * r);
    }
    w->group->count[returns ? COUNT_VMEM_READ : COUNT_VMEM_WRITE]++;
    wait_push_vector(w, &w->vm, returns ? in->dst : 0,
                     returns ? bytes / 4 : 0, -1);
}

static void run(Wave *w, const IsaInstr *in, Places *p, uint16_t data)
{
    int number = isa_info(in->op)->number;
    Shape s = {.bytes = 4, .store = true};
    p->lanes = wave_exec(w);
    if (number >= 64) {
        run_atomic(w, in, p, data, in->sc0);
    } else if (!shape_of(number, &s) || (in->lds && s.bytes > 4)) {
        wave_stop(w, GFX_UNSUPPORTED, 0);
        return;
    } else if (s.store) {
        run_store(w, in, p, s, data);
    } else {
        run_load(w, in, p, s);
    }
    count_sectors(w, p, s.bytes, s.store);
}

void exec_global(Wave *w, const IsaInstr *in)
{
    Places p = {0};
    w->sequence += in->segment == SEGMENT_FLAT; // it may be one of LDS
    flat_places(w, in, &p);
    run(w, in, &p, in->src[1]);
    if (in->segment == SEGMENT_FLAT) {
        w->group->count[COUNT_FLAT]++;
        bool loads = in->dst != OPERAND_NONE;
        wait_push_flat(w, loads ? in->dst : 0,
                       loads ? isa_info(in->op)->d : 0);
    }
}

void exec_buffer(Wave *w, const IsaInstr *in)
{
    Places p = {0};
    if (!isa_info(in->op)->d)                   // caches
        return;
    if (!buffer_places(w, in, &p)) {
        wave_stop(w, GFX_MODE, 0);
        return;
    }
    run(w, in, &p, in->dst);
}
