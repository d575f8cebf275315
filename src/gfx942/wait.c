// wait.c - what is under way, and what s_waitcnt waits for.
//
// vmcnt counts vector memory in order. lgkmcnt counts LDS, in order among
// themselves, and scalar loads, which come in any order: a wait that leaves n
// under way is sure of all but the last n LDS accesses, and of a scalar load
// only when n is 0.
#include "gfx942/wave_int.h"

static void mark(Wave *w, const Pending *p, int by)
{
    uint8_t *of = p->scalar ? w->scalar_pending : w->vector_pending;
    for (int i = 0; i < p->count; i++)
        of[p->first + i] += by;
    w->pending += p->count ? by : 0;
}

static void retire(Wave *w, const Pending *p)
{
    mark(w, p, -1);
    if (p->transfer >= 0)
        lds_transfer(w, &w->transfers[p->transfer]);
    if (p->shared && (int32_t)(p->sequence - w->done) > 0)
        w->done = p->sequence;
}

static void retire_first(Wave *w, Queue *q)
{
    Pending p = q->at[q->head];
    q->head = (q->head + 1) % QUEUE;
    q->len--;
    retire(w, &p);
}

// A full queue makes the hardware wait for the oldest.
static void push(Wave *w, Queue *q, Pending p)
{
    if (q->len == QUEUE)
        retire_first(w, q);
    q->at[(q->head + q->len++) % QUEUE] = p;
    mark(w, &p, 1);
}

// Registers of operands: vector ones count from OPERAND_VGPR.
void wait_push_vector(Wave *w, Queue *q, uint16_t first, int count,
                      int32_t transfer)
{
    push(w, q, (Pending){.first = count ? first - OPERAND_VGPR : 0,
                         .count = count, .transfer = transfer});
}

void wait_push_scalar(Wave *w, uint16_t first, int count)
{
    if (first + count > SCALARS)
        count = SCALARS - first;
    push(w, &w->lgkm, (Pending){.first = first, .count = count, .scalar = true,
                                .transfer = -1});
}

void wait_push_shared(Wave *w, uint16_t first, int count)
{
    push(w, &w->lgkm,
         (Pending){.first = count ? first - OPERAND_VGPR : 0, .count = count,
                   .shared = true, .sequence = w->sequence, .transfer = -1});
}

// A flat access may have gone either way: it is waited for in both.
void wait_push_flat(Wave *w, uint16_t first, int count)
{
    push(w, &w->lgkm,
         (Pending){.first = count ? first - OPERAND_VGPR : 0, .count = count,
                   .unordered = true, .shared = true, .sequence = w->sequence,
                   .transfer = -1});
}

static void wait_lgkm(Wave *w, int most)
{
    Queue *q = &w->lgkm, kept = {0};
    int ordered = 0;
    for (int i = 0; i < q->len; i++)
        ordered += !q->at[(q->head + i) % QUEUE].unordered;
    int over = ordered - most;
    while (q->len) {
        Pending p = q->at[q->head];
        q->head = (q->head + 1) % QUEUE;
        q->len--;
        bool done = p.unordered ? most == 0 : over-- > 0;
        if (done)
            retire(w, &p);
        else
            kept.at[kept.len++] = p;
    }
    *q = kept;
}

void wait_for(Wave *w, int vm, int lgkm)
{
    while (w->vm.len > vm)
        retire_first(w, &w->vm);
    if (w->lgkm.len && lgkm < 15)
        wait_lgkm(w, lgkm);
}

// ---- use before the wait ----------------------------------------------------

static void check_registers(Wave *w, uint16_t operand, int count)
{
    if (operand < SCALARS) {
        for (int i = 0; i < count && operand + i < SCALARS; i++)
            if (w->scalar_pending[operand + i]) {
                wave_finding(w, GFX_NOT_WAITED, -1, operand + i);
                return;
            }
    } else if (operand >= OPERAND_VGPR && operand != OPERAND_NONE) {
        int first = operand - OPERAND_VGPR;
        for (int i = 0; i < count; i++)
            if (w->vector_pending[first + i]) {
                wave_finding(w, GFX_NOT_WAITED, -1, operand + i);
                return;
            }
    }
}

static int source_size(const IsaInstr *in, const IsaInfo *info, int i)
{
    if (isa_marked(info, 'c') && i == 2)
        return 2;
    if (info->encoding == ENC_FLAT && i == 0)
        return in->segment == SEGMENT_FLAT
                       || (in->segment == SEGMENT_GLOBAL && !in->has_soffset)
                   ? 2 : in->has_address;
    if (info->encoding == ENC_FLAT && i == 2)
        return in->segment == SEGMENT_GLOBAL ? 2 : 1;
    if (info->encoding == ENC_MUBUF)
        return i == 0 ? in->offen + in->idxen : i == 1 ? 4 : 1;
    if (info->encoding == ENC_SMEM && i == 1)
        return in->has_soffset;
    return info->size[i];
}

// Loads of vector memory write in order: one may follow another to the same
// register. What LDS or a flat access is to write is another matter.
static bool follows_load(const Wave *w, const IsaInstr *in, const IsaInfo *info)
{
    const Queue *q = &w->lgkm;
    int first = in->dst - OPERAND_VGPR;

    if (info->encoding != ENC_MUBUF &&
        (info->encoding != ENC_FLAT || in->segment == SEGMENT_FLAT))
        return false;
    for (int i = 0; i < q->len; i++) {
        const Pending *p = &q->at[(q->head + i) % QUEUE];
        if (!p->scalar && p->first < first + info->d &&
            first < p->first + p->count)
            return false;
    }
    return true;
}

// Called while something is under way: its registers may neither be read nor
// written by another instruction.
void wait_check(Wave *w, const IsaInstr *in)
{
    const IsaInfo *info = isa_info(in->op);
    if (info->encoding == ENC_SOPP)
        return;
    for (int i = 0; i < 3; i++)
        if (in->src[i] != OPERAND_NONE)
            check_registers(w, in->src[i], source_size(in, info, i));
    if (in->dst != OPERAND_NONE && !follows_load(w, in, info))
        check_registers(w, in->dst, info->d);
    if (in->sdst != OPERAND_NONE)
        check_registers(w, in->sdst, 2);
}
