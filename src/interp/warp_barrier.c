// warp_barrier.c - what threads do with one another: meetings, shuffles,
// votes, memory barriers.
#include "interp/interp_int.h"

#include <string.h>

static bool active(const int32_t *mask, int lane)
{
    return !mask || mask[lane];
}

static int active_lanes(const Worker *w, const int32_t *mask)
{
    int n = 0;

    for (int i = 0; i < w->n; i++)
        n += active(mask, i);
    return n;
}

// ---- shuffles and votes --------------------------------------------------

// The lane that lane i reads in groups of `width`.
static int source_lane(Shuffle kind, int i, int at, int width)
{
    int base = i / width * width, in = i % width, from = in;

    switch (kind) {
    case SHUFFLE_LANE:
        return base + (int)((unsigned)at % (unsigned)width);
    case SHUFFLE_XOR:
        from = in ^ at;
        break;
    case SHUFFLE_UP:
        from = at <= in ? in - at : in;
        break;
    case SHUFFLE_DOWN:
        from = at < width - in ? in + at : in;
        break;
    }
    return from >= 0 && from < width ? base + from : i;
}

// A lane that is not there gives the reader its own value.
const Instr *exec_VSHUFFLE(Worker *w, const Instr *i)
{
    size_t lane = lane_bytes((LaneType)i->type);
    const int32_t *at = w->v[i->b];
    const char *from = w->v[i->a];
    char *out = (char *)w->pack[0];

    for (int j = 0; j < w->n; j++) {
        int k = source_lane((Shuffle)i->dtype, j, at[j], i->from);

        if (k >= w->n)
            k = j;
        memcpy(out + (size_t)j * lane, from + (size_t)k * lane, lane);
    }
    memcpy(w->v[i->d], out, (size_t)w->n * lane);
    return i + 1;
}

// The lanes that hold, or that have lane j's value, a bit each.
static uint64_t holding(const Worker *w, const Instr *i, int j)
{
    size_t lane = lane_bytes((LaneType)i->type);
    const int32_t *mask = mask_of(w, i->c), *truth = w->v[i->a];
    const char *v = w->v[i->a];
    uint64_t bits = 0;

    for (int k = 0; k < w->n; k++) {
        bool in = j < 0 ? truth[k] != 0
                        : !memcmp(v + (size_t)k * lane, v + (size_t)j * lane,
                                  lane);

        bits |= (uint64_t)(in && active(mask, k)) << k;
    }
    return bits;
}

static uint64_t active_bits(const Worker *w, const int32_t *mask)
{
    uint64_t bits = 0;

    for (int k = 0; k < w->n; k++)
        bits |= (uint64_t)active(mask, k) << k;
    return bits;
}

static uint64_t vote(const Worker *w, const Instr *i, int j)
{
    uint64_t all = active_bits(w, mask_of(w, i->c)), bits;

    switch ((Vote)i->dtype) {
    case VOTE_ANY:
        return holding(w, i, -1) != 0;
    case VOTE_ALL:
        return holding(w, i, -1) == all;
    case VOTE_BALLOT:
        return holding(w, i, -1);
    case VOTE_SAME:
        return holding(w, i, j);
    case VOTE_ALL_SAME:
        bits = holding(w, i, j);
        return bits == all ? all : 0;
    }
    return 0;
}

const Instr *exec_VVOTE(Worker *w, const Instr *i)
{
    bool wide = i->dtype == VOTE_BALLOT;
    uint64_t *eight = (uint64_t *)w->pack[0];
    uint32_t *four = (uint32_t *)w->pack[0];

    for (int j = 0; j < w->n; j++)
        if (wide)
            eight[j] = vote(w, i, j);
        else
            four[j] = (uint32_t)vote(w, i, j);
    memcpy(w->v[i->d], w->pack[0], (size_t)w->n * (wide ? 8 : 4));
    return i + 1;
}

static void combine(const Worker *w, LaneOp op, LaneType type, DType dtype,
                    void *into, const void *with)
{
    Slot sum = {0};

    w->lanes->op[op][type](&sum, into, with, NULL, 1);
    if (w->lanes->round[dtype])
        w->lanes->round[dtype](&sum, &sum, NULL, NULL, 1);
    memcpy(into, &sum, lane_bytes(type));
}

// The order of the butterfly with distances 16, 8, 4, 2, 1 within 32 lanes;
// lanes that are not active are left out.
const Instr *exec_VWARP(Worker *w, const Instr *i)
{
    size_t lane = lane_bytes((LaneType)i->type);
    const int32_t *mask = mask_of(w, i->c);
    char *out = w->v[i->d];

    for (int base = 0; base < w->n; base += 32) {
        bool here[32] = {false};
        char v[32 * 8];

        for (int j = 0; j < 32 && base + j < w->n; j++) {
            here[j] = active(mask, base + j);
            memcpy(v + (size_t)j * lane,
                   (char *)w->v[i->a] + (size_t)(base + j) * lane, lane);
        }
        for (int far = 16; far; far /= 2)
            for (int j = 0; j < far; j++) {
                if (here[j] && here[j + far])
                    combine(w, (LaneOp)i->lane, (LaneType)i->type,
                            (DType)i->dtype, v + (size_t)j * lane,
                            v + (size_t)(j + far) * lane);
                else if (here[j + far])
                    memcpy(v + (size_t)j * lane, v + (size_t)(j + far) * lane,
                           lane);
                here[j] |= here[j + far];
            }
        for (int j = base; j < base + 32 && j < w->n; j++)
            memcpy(out + (size_t)j * lane, v, lane);
    }
    return i + 1;
}

// ---- random bits ---------------------------------------------------------

// Philox4x32-10 as cuRAND counts: the position by fours in the lower half of
// the counter, the sequence in the upper, the seed as key.
static uint32_t philox(uint64_t seed, uint64_t sequence, uint64_t position)
{
    uint32_t x[4] = {(uint32_t)(position / 4),
                     (uint32_t)(position / 4 >> 32), (uint32_t)sequence,
                     (uint32_t)(sequence >> 32)};
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};

    for (int r = 0; r < 10; r++) {
        uint64_t a = (uint64_t)x[0] * 0xD2511F53u;
        uint64_t b = (uint64_t)x[2] * 0xCD9E8D57u;

        x[0] = (uint32_t)(b >> 32) ^ x[1] ^ key[0];
        x[1] = (uint32_t)b;
        x[2] = (uint32_t)(a >> 32) ^ x[3] ^ key[1];
        x[3] = (uint32_t)a;
        key[0] += 0x9E3779B9u;
        key[1] += 0xBB67AE85u;
    }
    return x[position % 4];
}

const Instr *exec_VPHILOX(Worker *w, const Instr *i)
{
    const uint64_t *seed = w->v[i->a], *sequence = w->v[i->b];
    const uint64_t *position = w->v[i->c];
    uint32_t *d = w->v[i->d];

    for (int j = 0; j < w->n; j++)
        d[j] = philox(seed[j], sequence[j], position[j]);
    return i + 1;
}

const Instr *exec_VRNGSTATE(Worker *w, const Instr *i)
{
    const uint64_t *seed = w->v[i->a], *sequence = w->v[i->b];
    const uint64_t *offset = w->v[i->c];
    uint32_t *d = w->v[i->d], state[NUM_RANDOM_WORDS];

    for (int j = 0; j < w->n; j++) {
        num_random_start(i->from / NUM_RANDOM_WORDS, seed[j], sequence[j],
                         offset[j], state);
        d[j] = state[i->from % NUM_RANDOM_WORDS];
    }
    return i + 1;
}

// ---- meetings ------------------------------------------------------------

static const Meeting *meeting_of(const Worker *w, const Warp *warp)
{
    return &w->code->meeting[warp->at->a];
}

static const int32_t *warp_mask(const Warp *warp)
{
    return warp->at->c < 0 ? NULL : warp->v[warp->at->c];
}

static void go_on(Warp *warp)
{
    warp->state = WARP_READY;
    warp->at++;
}

static bool waits_at(const Worker *w, const Warp *warp, const Meeting *m)
{
    const Meeting *other;

    if (warp->state != WARP_MEET)
        return false;
    other = meeting_of(w, warp);
    return m->id >= 0 ? other->id == m->id
                      : other->id < 0 && other->set == m->set &&
                            other->kind == m->kind;
}

static bool all_met(const Worker *w, const Meeting *m)
{
    const ThreadSet *s = &w->code->set[m->set];

    for (int k = 0; k < w->crew.count; k++)
        if (set_comes(w, s, &w->crew.warp[k]) &&
            !waits_at(w, &w->crew.warp[k], m))
            return false;
    return true;
}

static int64_t count_true(const Worker *w, const Meeting *m, int64_t *all)
{
    int64_t n = 0;

    *all = 0;
    for (int k = 0; k < w->crew.count; k++) {
        const Warp *warp = &w->crew.warp[k];
        const int32_t *truth, *mask;

        if (!waits_at(w, warp, m))
            continue;
        truth = warp->v[warp->at->b];
        mask = warp_mask(warp);
        for (int j = 0; j < warp->lanes; j++) {
            n += active(mask, j) && truth[j];
            *all += active(mask, j);
        }
    }
    return n;
}

static void give_count(Worker *w, const Meeting *m)
{
    int64_t all, n = count_true(w, m, &all);
    int32_t result = m->kind == MEET_COUNT ? (int32_t)n
                     : m->kind == MEET_AND ? n == all
                                           : n > 0;

    for (int k = 0; k < w->crew.count; k++) {
        const Warp *warp = &w->crew.warp[k];

        if (waits_at(w, warp, m))
            fill_lanes(warp->v[warp->at->d], 4, warp->lanes, &result);
    }
}

// Where the threads that differ from thread t in the axes come together.
static int reduced(const Launch *l, unsigned axes, int t)
{
    int unit = 1, out = 0;

    for (int d = 0; d < 3; unit *= l->shape[d++])
        if (!(axes >> d & 1))
            out += t / unit % l->shape[d] * unit;
    return out;
}

// Halves come together, the upper on the lower: n values `apart` bytes from
// each other, the result in the first.
static void fold(const Worker *w, const Meeting *m, char *v, int n,
                 size_t apart)
{
    int half = 1;

    while (half * 2 < n)
        half *= 2;
    for (; half && n > 1; half /= 2) {
        for (int i = 0; i + half < n; i++)
            combine(w, m->op, m->type, m->dtype, v + (size_t)i * apart,
                    v + (size_t)(i + half) * apart);
        n = half;
    }
}

// First within warps, then from warp to warp, as shuffles do it.
static void fold_group(const Worker *w, const Meeting *m, char *v, int n)
{
    size_t lane = lane_bytes(m->type);
    int wave = w->code->launch[w->launch].wave;

    if (n <= wave || n % wave) {
        fold(w, m, v, n, lane);
        return;
    }
    for (int i = 0; i < n; i += wave)
        fold(w, m, v + (size_t)i * lane, wave, lane);
    fold(w, m, v, n / wave, (size_t)wave * lane);
}

// The values of the threads of each group in ascending order, or its sum to
// all of them.
static void gather_group(Worker *w, const Meeting *m, int to, char *v, int *n,
                         bool give)
{
    const Launch *l = &w->code->launch[w->launch];
    size_t lane = lane_bytes(m->type);

    *n = 0;
    for (int k = 0; k < w->crew.count; k++) {
        const Warp *warp = &w->crew.warp[k];

        for (int j = 0; j < warp->lanes && waits_at(w, warp, m); j++) {
            size_t at = (size_t)j * lane;

            if (reduced(l, m->axes, warp->first + j) != to)
                continue;
            if (give)
                memcpy((char *)warp->v[warp->at->d] + at, v, lane);
            else
                memcpy(v + (size_t)(*n)++ * lane,
                       (char *)warp->v[warp->at->b] + at, lane);
        }
    }
}

static void give_sum(Worker *w, const Meeting *m)
{
    const Launch *l = &w->code->launch[w->launch];
    int n;

    for (int t = 0; t < l->threads; t++) {
        if (reduced(l, m->axes, t) != t)
            continue; // not the first of its group
        gather_group(w, m, t, w->pack[0], &n, false);
        fold_group(w, m, w->pack[0], n);
        gather_group(w, m, t, w->pack[0], &n, true);
    }
}

static void disperse(Worker *w, const Meeting *m)
{
    if (m->kind == MEET_REDUCE)
        give_sum(w, m);
    else if (m->kind != MEET_SYNC)
        give_count(w, m);
    if (m->id >= 0)
        w->crew.arrived[m->id] = 0;
    for (int k = 0; k < w->crew.count; k++)
        if (waits_at(w, &w->crew.warp[k], m))
            go_on(&w->crew.warp[k]);
}

// A warp counts as a whole at a named barrier.
static bool named_is_full(Worker *w, const Meeting *m)
{
    int *arrived = &w->crew.arrived[m->id];

    *arrived += w->code->launch[w->launch].wave;
    return *arrived >= m->count;
}

const Instr *exec_MEET(Worker *w, const Instr *i)
{
    const Meeting *m = &w->code->meeting[i->a];
    const int32_t *mask = mask_of(w, i->c);

    if (!active_lanes(w, mask))
        return i + 1;
    check_lanes(w, &w->code->set[m->set], mask, m->site);
    if (!m->wait) {
        if (named_is_full(w, m))
            disperse(w, m);
        return i + 1;
    }
    stop_warp(w, WARP_MEET, i);
    if (m->id >= 0 ? named_is_full(w, m) : all_met(w, m))
        disperse(w, m);
    return NULL;
}

// Nothing: what it would wait for is done.
const Instr *exec_ORDER(Worker *w, const Instr *i)
{
    (void)w;
    return i + 1;
}

// ---- memory barriers -----------------------------------------------------

const Instr *exec_BARINIT(Worker *w, const Instr *i)
{
    const CodeBuffer *b = &w->code->buffer[i->a];
    MemoryBarrier *at = (MemoryBarrier *)w->buffer[i->a].at;

    for (int64_t k = 0; k < b->shape[0]; k++)
        at[k] = (MemoryBarrier){.count = b->arrivals[k],
                                .pending = b->arrivals[k]};
    return i + 1;
}

static MemoryBarrier *barrier_at(Worker *w, const Access *a, int64_t *element)
{
    const Tensor *t = &w->buffer[a->buffer];
    int64_t k = w->slot[a->dim[0].slot].i;

    *element = k;
    if (k >= 0 && k < t->shape[0])
        return (MemoryBarrier *)t->at + k;
    report(w, a->site, 1, 0, k, t->shape[0]);
    return NULL;
}

static void complete(Worker *w, MemoryBarrier *b)
{
    if (b->pending > 0 || b->bytes)
        return;
    b->phase++;
    b->pending = b->count;
    for (int k = 0; k < w->crew.count; k++) {
        Warp *warp = &w->crew.warp[k];

        if (warp->state == WARP_BARRIER && warp->barrier == b)
            warp->state = WARP_READY; // it looks again
    }
}

// More arrivals than a phase has complete the next one too.
const Instr *exec_BARARRIVE(Worker *w, const Instr *i)
{
    int lanes = active_lanes(w, mask_of(w, i->c));
    int64_t element;
    MemoryBarrier *b;

    if (!lanes)
        return i + 1;
    b = barrier_at(w, &w->code->access[i->a], &element);
    if (!b)
        return i + 1;
    b->bytes += w->slot[i->b].i * lanes;
    for (int k = 0; k < lanes && !(i->flags & INSTR_EXPECT); k++) {
        b->pending--;
        complete(w, b);
    }
    return i + 1;
}

const Instr *exec_BARWAIT(Worker *w, const Instr *i)
{
    int64_t parity = w->slot[i->b].i & 1, element;
    MemoryBarrier *b;

    if (!active_lanes(w, mask_of(w, i->c)))
        return i + 1;
    b = barrier_at(w, &w->code->access[i->a], &element);
    if (!b || (b->phase & 1) != parity)
        return i + 1;
    w->warp->barrier = b;
    w->warp->element = element;
    w->warp->parity = parity;
    return stop_warp(w, WARP_BARRIER, i);
}
