// cycles.c - issues recorded waves on a model of one compute unit.
//
// Each SIMD starts at most one instruction of a kind every 4 cycles, each from
// another wave; a wave starts its instructions in order, one every 4 cycles.
// The wave of the highest s_setprio goes first, then the oldest. Fetching
// instructions takes no time. Where a workgroup ends the next one starts.
#include "gfx942/cycles.h"

#include <string.h>

#include "device/device.h"

enum {
    SLOT = 4,                                   // cycles between two issues
    SLOW_VALU = 16,                             // transcendental, 32-bit times
    TAKEN = 16,                                 // a branch that is taken
    PASS = 4,
    // Beyond the passes of a matrix instruction until its result is read as
    // A or B or by others, and as another place of C.
    RESULT_PASSES = 4, OTHER_C_PASSES = 2,
    // Reads of one wave: 64 of 32, 64 and 128 bits take 501, 852 and 1,384
    // cycles, which is 4 + 2 times the cycles of the banks, and this latency.
    LDS_ADDRESSES = 4, LDS_BANK = 2, LDS_LATENCY = 100,
    LANE_EXCHANGE = 4,                          // of banks, ds_bpermute
    SCALAR_LATENCY = 200, GLOBAL_LATENCY = 500,
    VMEM_ISSUE = 16,                            // of the one address path
    MOST_LGKM = 15, MOST_VM = 63,               // under way
    ROWS = 576, QUEUED = 64, MOST_RESIDENT = 64,
};

typedef enum {
    UNIT_VALU, UNIT_SALU, UNIT_LDS, UNIT_MEMORY, UNIT_SCALAR_MEMORY,
    UNIT_BRANCH, UNIT_NONE, UNIT_COUNT,
} Unit;

// When what is under way will have come, in order.
typedef struct {
    int64_t at[QUEUED];
    int head, len;
} Arrivals;

typedef struct {
    const GfxTrace *trace;
    size_t next;
    int group, simd, priority, age;
    bool at_barrier, ended;
    int64_t since;                              // the last one was started
    int64_t row[ROWS];                          // a result is written
    bool by_matrix[ROWS];
    uint16_t first[ROWS];                       // of the operand it was part of
    Arrivals vm, lgkm;
} Wave;

typedef struct {
    const GfxObject *object;
    int64_t now;
    Wave *waves;
    int wave_count, waves_each, started;
    int left;                                   // workgroups still to start
    bool full;
    int64_t valu[GFX_SIMDS], matrix[GFX_SIMDS];     // free from then on
    int64_t lds[GFX_LDS_PORTS], vmem;
    int16_t *matrix_cycles;                         // by IsaOp
    GfxCycles *out;
} Cu;

const char *gfx_time_name(GfxTime t)
{
    static const char *const names[] = {
#define GFX_TIME(id, key, name) [TIME_##id] = name,
#include "gfx942/cycles.def"
    };
    return names[t];
}

const char *gfx_time_key(GfxTime t)
{
    static const char *const keys[] = {
#define GFX_TIME(id, key, name) [TIME_##id] = key,
#include "gfx942/cycles.def"
    };
    return keys[t];
}

// ---- instructions -----------------------------------------------------------

static const IsaInstr *instr_of(const Cu *u, const Wave *w)
{
    return &u->object->code[w->trace->at[w->next].pc];
}

static bool is_matrix(const IsaInstr *in)
{
    return isa_marked(isa_info((IsaOp)in->op), 'M');
}

static bool is_branch(const IsaInstr *in)
{
    const char *name = isa_info((IsaOp)in->op)->name;
    return !strncmp(name, "s_cbranch", 9) || !strncmp(name, "s_branch", 8)
           || !strncmp(name, "s_setpc", 7) || !strncmp(name, "s_swappc", 8);
}

static Unit unit_of(const IsaInstr *in)
{
    switch (isa_info((IsaOp)in->op)->encoding) {
    case ENC_SOPP: return is_branch(in) ? UNIT_BRANCH : UNIT_NONE;
    case ENC_SOP1: return is_branch(in) ? UNIT_BRANCH : UNIT_SALU;
    case ENC_SOP2: case ENC_SOPK: case ENC_SOPC: return UNIT_SALU;
    case ENC_SMEM: return UNIT_SCALAR_MEMORY;
    case ENC_DS: return UNIT_LDS;
    case ENC_FLAT: case ENC_MUBUF: return UNIT_MEMORY;
    default: return UNIT_VALU;
    }
}

static GfxTime issue_time(const IsaInstr *in)
{
    switch (unit_of(in)) {
    case UNIT_VALU: return is_matrix(in) ? TIME_MATRIX : TIME_VALU;
    case UNIT_SALU: case UNIT_BRANCH: return TIME_SALU;
    case UNIT_LDS: return TIME_LDS;
    case UNIT_MEMORY: case UNIT_SCALAR_MEMORY: return TIME_MEMORY;
    default: return TIME_INTERNAL;
    }
}

// A quarter of the rate: functions of f32 and f16, products of 32-bit integers.
static bool is_slow(const IsaInstr *in)
{
    static const char *const slow[] = {
        "v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_",
        "v_mul_lo_u32", "v_mul_hi_u32", "v_mul_hi_i32", "v_mad_u64_u32",
        "v_mad_i64_i32",
    };
    const char *name = isa_info((IsaOp)in->op)->name;
    for (size_t i = 0; i < countof(slow); i++)
        if (!strncmp(name, slow[i], strlen(slow[i])))
            return true;
    return false;
}

static int matrix_cycles(const Cu *u, const IsaInstr *in)
{
    return u->matrix_cycles[in->op];
}

// ---- what is under way ------------------------------------------------------

static void arrive(Arrivals *q, int64_t at)
{
    int64_t last = q->len ? q->at[(q->head + q->len - 1) % QUEUED] : 0;
    q->at[(q->head + q->len++) % QUEUED] = at > last ? at : last;
}

// When no more than `most` are under way; 0: they are not.
static int64_t time_of(const Arrivals *q, int most)
{
    return q->len > most
               ? q->at[(q->head + q->len - most - 1) % QUEUED] : 0;
}

static void forget(Arrivals *q, int64_t now)
{
    while (q->len && q->at[q->head] <= now) {
        q->head = (q->head + 1) % QUEUED;
        q->len--;
    }
}

// ---- registers --------------------------------------------------------------

static int row_of(uint16_t operand)
{
    return operand >= OPERAND_VGPR && operand != OPERAND_NONE
               ? operand - OPERAND_VGPR : -1;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

// `extra`: passes after the unit is done with it.
static int64_t operand_time(const Wave *w, uint16_t operand, int size,
                            int extra)
{
    int64_t at = 0;
    int first = row_of(operand);
    for (int i = 0; first >= 0 && i < size && first + i < ROWS; i++)
        if (w->row[first + i])
            at = later(at, w->row[first + i]
                               + (w->by_matrix[first + i] ? extra * PASS : 0));
    return at;
}

static int size_of(const IsaInfo *info, int i)
{
    return info->size[i] ? info->size[i] : 1;
}

// C that is the whole of the last result goes on from it at once.
static int64_t c_time(const Wave *w, const IsaInstr *in, int size)
{
    int row = row_of(in->src[2]);
    if (row < 0)
        return 0;
    bool same = in->src[2] == in->dst && w->first[row] == in->dst;
    return operand_time(w, in->src[2], size, same ? 0 : OTHER_C_PASSES);
}

static int64_t registers_time(const Wave *w, const IsaInstr *in)
{
    const IsaInfo *info = isa_info((IsaOp)in->op);
    bool matrix = is_matrix(in);
    int64_t at = 0;
    for (int i = 0; i < 3; i++)
        at = later(at, matrix && i == 2
                           ? c_time(w, in, size_of(info, i))
                           : operand_time(w, in->src[i], size_of(info, i),
                                          RESULT_PASSES));
    if (!matrix)
        at = later(at, operand_time(w, in->dst, info->d, RESULT_PASSES));
    return at;
}

static void set_rows(Wave *w, const IsaInstr *in, int64_t at, bool matrix)
{
    int first = row_of(in->dst), size = isa_info((IsaOp)in->op)->d;
    for (int i = 0; first >= 0 && i < size && first + i < ROWS; i++) {
        w->row[first + i] = at;
        w->by_matrix[first + i] = matrix;
        w->first[first + i] = in->dst;
    }
}

// ---- when the next instruction of a wave may start --------------------------

typedef struct {
    int64_t at;
    GfxTime why;
} Start;

static void not_before(Start *s, int64_t at, GfxTime why)
{
    if (at > s->at)
        *s = (Start){at, why};
}

static void wait_count(const Wave *w, const IsaInstr *in, Start *s)
{
    unsigned imm = (unsigned)in->offset;
    int vm = (imm & 15) | (imm >> 10 & 0x30), lgkm = imm >> 8 & 15;
    not_before(s, time_of(&w->lgkm, lgkm), TIME_WAIT_LDS);
    not_before(s, time_of(&w->vm, vm), TIME_WAIT_MEMORY);
}

static Start start_of(const Cu *u, const Wave *w)
{
    const IsaInstr *in = instr_of(u, w);
    Unit unit = unit_of(in);
    Start s = {w->since, TIME_WAIT_TURN};
    if (in->op == OP_S_WAITCNT)
        wait_count(w, in, &s);
    if (unit == UNIT_VALU)
        not_before(&s, u->valu[w->simd], TIME_WAIT_VALU);
    if (unit == UNIT_VALU && is_matrix(in))
        not_before(&s, u->matrix[w->simd], TIME_WAIT_MATRIX);
    if (unit == UNIT_VALU || unit == UNIT_LDS || unit == UNIT_MEMORY)
        not_before(&s, registers_time(w, in), TIME_WAIT_RESULT);
    if (unit == UNIT_LDS || unit == UNIT_SCALAR_MEMORY)
        not_before(&s, time_of(&w->lgkm, MOST_LGKM - 1), TIME_WAIT_LDS);
    if (unit == UNIT_MEMORY) {
        not_before(&s, time_of(&w->vm, MOST_VM - 1), TIME_WAIT_MEMORY);
        not_before(&s, time_of(&w->lgkm, MOST_LGKM - 1), TIME_WAIT_LDS);
    }
    return s;
}

// ---- starting it ------------------------------------------------------------

static void start_valu(Cu *u, Wave *w, const IsaInstr *in)
{
    int64_t busy = is_slow(in) ? SLOW_VALU : SLOT;
    if (is_matrix(in)) {
        int cycles = matrix_cycles(u, in);
        u->matrix[w->simd] = u->now + cycles;
        u->out->matrix += cycles;
        u->valu[w->simd] = u->now + SLOT;
        set_rows(w, in, u->now + cycles, true);
        return;
    }
    u->valu[w->simd] = u->now + busy;
    u->out->valu += busy;
    set_rows(w, in, u->now + busy, false);
}

static void start_lds(Cu *u, Wave *w, const GfxStep *s)
{
    int64_t *port = &u->lds[w->simd % GFX_LDS_PORTS];
    int64_t busy = LDS_ADDRESSES
                   + LDS_BANK * (s->lds ? s->lds : LANE_EXCHANGE);
    *port = later(*port, u->now) + busy;
    u->out->lds += busy;
    arrive(&w->lgkm, *port + LDS_LATENCY);
}

static void start_memory(Cu *u, Wave *w, const GfxStep *s)
{
    u->vmem = later(u->vmem, u->now)
              + (s->sectors > VMEM_ISSUE ? s->sectors : VMEM_ISSUE);
    arrive(&w->vm, u->vmem + GLOBAL_LATENCY);
}

static void meet(Cu *u, int group)
{
    Wave *all = &u->waves[group * u->waves_each];
    int64_t last = 0;
    for (int i = 0; i < u->waves_each; i++) {
        if (!all[i].ended && !all[i].at_barrier)
            return;
        last = later(last, all[i].since);
    }
    for (int i = 0; i < u->waves_each; i++) {
        Wave *w = &all[i];
        if (w->ended || !w->at_barrier)
            continue;
        u->out->wave[TIME_WAIT_BARRIER] += last - w->since;
        w->since = last;
        w->at_barrier = false;
    }
}

static void start_internal(Cu *u, Wave *w, const IsaInstr *in)
{
    if (in->op == OP_S_NOP)
        w->since += SLOT * (in->offset & 15);
    else if (in->op == OP_S_SLEEP)
        w->since += 64 * (in->offset & 127);
    else if (in->op == OP_S_SETPRIO)
        w->priority = in->offset & 3;
    else if (in->op == OP_S_BARRIER)
        w->at_barrier = true;
    u->out->wave[TIME_INTERNAL] += w->since - u->now - SLOT;
}

static void place_wave(Cu *u, int i, int64_t at)
{
    Wave *w = &u->waves[i];
    *w = (Wave){.trace = w->trace, .group = i / u->waves_each,
                .simd = i % GFX_SIMDS, .age = u->started++, .since = at,
                .ended = !w->trace->len};
}

// The next workgroup takes the place of one that has ended.
static void refill(Cu *u, int group)
{
    int first = group * u->waves_each;
    int64_t end = 0;
    for (int i = first; i < first + u->waves_each; i++) {
        if (!u->waves[i].ended)
            return;
        end = later(end, u->waves[i].since);
    }
    if (!u->left) {
        u->full = false;
        u->out->cycles = end;
        return;
    }
    u->left--;
    for (int i = first; i < first + u->waves_each; i++) {
        u->out->wave[TIME_ENDED] += end - u->waves[i].since;
        place_wave(u, i, end);
    }
}

static void start(Cu *u, Wave *w, GfxTime why)
{
    const GfxStep *s = &w->trace->at[w->next];
    const IsaInstr *in = instr_of(u, w);
    u->out->wave[why] += u->now - w->since;
    u->out->wave[issue_time(in)] += SLOT;
    w->since = u->now + SLOT;
    forget(&w->vm, u->now);
    forget(&w->lgkm, u->now);
    switch (unit_of(in)) {
    case UNIT_VALU: start_valu(u, w, in); break;
    case UNIT_LDS: start_lds(u, w, s); break;
    case UNIT_MEMORY: start_memory(u, w, s); break;
    case UNIT_SCALAR_MEMORY: arrive(&w->lgkm, u->now + SCALAR_LATENCY); break;
    case UNIT_BRANCH:
        if (w->next + 1 < w->trace->len && s[1].pc != s->pc + in->words) {
            w->since = u->now + TAKEN;
            u->out->wave[TIME_SALU] += TAKEN - SLOT;
        }
        break;
    case UNIT_NONE: start_internal(u, w, in); break;
    default: break;
    }
    u->out->steps++;
    if (++w->next == w->trace->len)
        w->ended = true;
    if (w->ended || w->at_barrier)
        meet(u, w->group);
    if (w->ended)
        refill(u, w->group);
}

// ---- who goes first ---------------------------------------------------------

static bool before(const Wave *a, const Wave *b)
{
    return a->priority != b->priority ? a->priority > b->priority
                                      : a->age < b->age;
}

// Starts what a SIMD can at this time.
static void issue(Cu *u, int simd)
{
    Wave *best[UNIT_NONE] = {0};
    GfxTime why[UNIT_NONE];
    for (int i = 0; i < u->wave_count; i++) {
        Wave *w = &u->waves[i];
        if (w->simd != simd || w->ended || w->at_barrier || w->since > u->now)
            continue;
        Start s = start_of(u, w);
        Unit unit = unit_of(instr_of(u, w));
        if (s.at > u->now)
            continue;
        if (unit == UNIT_NONE) {
            start(u, w, s.why);
        } else if (!best[unit] || before(w, best[unit])) {
            best[unit] = w;
            why[unit] = s.why;
        }
    }
    for (int k = 0; k < UNIT_NONE; k++)
        if (best[k] && u->full)
            start(u, best[k], why[k]);
}

static int64_t round_up(int64_t t)
{
    return (t + SLOT - 1) / SLOT * SLOT;
}

// The next time at which a wave can start something; -1: all have ended.
static int64_t next_time(const Cu *u)
{
    int64_t at = -1;
    for (int i = 0; i < u->wave_count; i++) {
        const Wave *w = &u->waves[i];
        if (w->ended || w->at_barrier)
            continue;
        int64_t t = later(round_up(start_of(u, w).at), u->now + SLOT);
        if (at < 0 || t < at)
            at = t;
    }
    return at;
}

// ---- a compute unit ---------------------------------------------------------

static void learn_matrix(Cu *u, Arena *a)
{
    const Device *d = device_find(TEXT("mi300x"));
    u->matrix_cycles = new_array(a, int16_t, OP_TOTAL);
    for (int op = 1; op < OP_TOTAL; op++) {
        DeviceMma m;
        const char *why;
        const IsaInfo *info = isa_info((IsaOp)op);
        if (isa_marked(info, 'M'))
            u->matrix_cycles[op] =
                mma_find(d, text_of(info->name), &m, &why) && m.cycles
                    ? (int16_t)m.cycles : 16 * PASS;
    }
}

static void place_waves(Cu *u, const GfxTrace *traces)
{
    for (int i = 0; i < u->wave_count; i++) {
        u->waves[i].trace = &traces[i];
        place_wave(u, i, 0);
        u->out->cut |= traces[i].cut;
        u->out->steps_each += (int64_t)traces[i].len;
    }
}

// What waves are at when the unit is no longer full.
static void close_waves(Cu *u)
{
    GfxCycles *out = u->out;
    for (int s = 0; s < GFX_SIMDS; s++)
        out->cycles = later(out->cycles, u->matrix[s]);
    for (int i = 0; i < u->wave_count; i++) {
        const Wave *w = &u->waves[i];
        GfxTime at = w->ended        ? TIME_ENDED
                     : w->at_barrier ? TIME_WAIT_BARRIER
                                     : start_of(u, w).why;
        if (out->cycles > w->since)
            out->wave[at] += out->cycles - w->since;
    }
}

void gfx_cycles(Arena *a, const GfxObject *o, const GfxTrace *traces,
                int groups, int waves, int rounds, GfxCycles *out)
{
    Cu u = {.object = o, .out = out, .wave_count = groups * waves,
            .waves_each = waves, .left = groups * (rounds - 1), .full = true};
    *out = (GfxCycles){.groups = groups, .waves = waves};
    u.waves = new_array(a, Wave, u.wave_count + 1);
    learn_matrix(&u, a);
    place_waves(&u, traces);
    for (u.now = 0; u.now >= 0 && u.full; u.now = next_time(&u))
        for (int simd = 0; simd < GFX_SIMDS; simd++)
            issue(&u, simd);
    close_waves(&u);
}

int64_t gfx_cycles_each(const GfxCycles *c)
{
    return c->steps ? (int64_t)((double)c->cycles * (double)c->steps_each
                                / (double)c->steps / c->groups) : 0;
}

double gfx_matrix_utilisation(const GfxCycles *c)
{
    return c->cycles ? (double)c->matrix / (double)(GFX_SIMDS * c->cycles) : 0;
}
