// lower_race.c - which launches need their blocks one after the other.
//
// Blocks may run at the same time only where none can see what another wrote.
// That is not proved here in full (indices may come from memory); a launch is
// ordered when there is a reason to think that its blocks meet:
//   - a tensor is both read and written, or updated by atomics;
//   - a store's place does not depend on a block index that varies, so that
//     all those blocks write it;
//   - tiles of neighbouring blocks overlap: the index moves by less per block
//     than the range that one block covers;
//   - the block indices of a store take fewer values than there are blocks;
//   - two stores to a tensor place their blocks differently.
#include "code/code_int.h"

static void order(Lower *l)
{
    l->launches.at[l->launch].ordered = true;
}

// ---- how stores place the blocks -----------------------------------------

// The terms of f that depend on the block, and the range of all others.
static Form block_part(Lower *l, const Form *f, Range *rest)
{
    Form part = form_const(0), other = *f;

    other.count = 0;
    for (int i = 0; i < f->count; i++)
        if (l->fact.at[f->term[i].slot].taint & TAINT_BLOCKS)
            part.term[part.count++] = f->term[i];
        else
            other.term[other.count++] = f->term[i];
    *rest = form_range(l, &other);
    return part;
}

static const AffineTerm *term_of(const Form *f, int slot)
{
    for (int i = 0; i < f->count; i++)
        if (f->term[i].slot == slot)
            return &f->term[i];
    return NULL;
}

static bool same_part(const Form *a, const Form *b)
{
    for (int i = 0; i < a->count; i++) {
        const AffineTerm *t = term_of(b, a->term[i].slot);

        if (!t || t->factor != a->term[i].factor)
            return false;
    }
    return a->count == b->count;
}

static Range range_union(Range a, Range b)
{
    if (!a.known || !b.known)
        return (Range){.known = false};
    return range_of(a.low < b.low ? a.low : b.low,
                    a.high > b.high ? a.high : b.high);
}

// Adds a store to what is known of its tensor; false when blocks lie
// differently in it than in stores before.
static bool add_store(Lower *l, const IrBuffer *b, const Form *index,
                      StorePlace *p)
{
    bool first = !p->rank;

    if (first)
        *p = (StorePlace){.buffer = b->id, .rank = b->rank};
    if (p->buffer != b->id)
        return false;
    for (int d = 0; d < b->rank; d++) {
        Range rest;
        Form part = block_part(l, &index[d], &rest);

        if (!first && !same_part(&p->part[d], &part))
            return false;
        p->part[d] = part;
        p->rest[d] = first ? rest : range_union(p->rest[d], rest);
    }
    return true;
}

// ---- overlapping tiles ---------------------------------------------------

static int64_t magnitude(int64_t v)
{
    return v < 0 ? -v : v;
}

// The elements a block covers around term t of dimension d, what other terms
// with smaller steps add included. Unknown: 0.
static int64_t width_around(const Lower *l, const StorePlace *p, int d,
                            const AffineTerm *t)
{
    const Form *f = &p->part[d];
    Range r = p->rest[d];

    for (int i = 0; i < f->count; i++)
        if (magnitude(f->term[i].factor) < magnitude(t->factor))
            r = range_sum(r, range_scaled(l->fact.at[f->term[i].slot].range,
                                          f->term[i].factor));
    return r.known && r.high - r.low < INT64_MAX / 2 ? r.high - r.low + 1 : 0;
}

// Whether blocks that differ in index d only can write the same element.
static bool neighbours_meet(const Lower *l, const StorePlace *p, int d)
{
    int slot = l->launches.at[l->launch].block[d], users = 0, at = 0;
    const AffineTerm *t;

    for (int i = 0; i < p->rank; i++)
        if (form_taint(l, &p->part[i]) >> d & 1) {
            users++;
            at = i;
        }
    t = users == 1 ? term_of(&p->part[at], slot) : NULL;
    return t && width_around(l, p, at, t) > magnitude(t->factor);
}

// How many values a slot may take; 0: not known.
static int64_t values_of(const Lower *l, int slot)
{
    Range r = l->fact.at[slot].range;

    return r.known && r.high - r.low < INT32_MAX ? r.high - r.low + 1 : 0;
}

// Whether there are fewer places than blocks: bx // 2 of 4 blocks is 0 or 1.
static bool places_are_few(const Lower *l, const StorePlace *p)
{
    const Launch *launch = &l->launches.at[l->launch];
    int64_t places = 1, blocks = 1;

    for (int d = 0; d < launch->grid_rank; d++)
        if (l->grid_taint >> d & 1 &&
            (!values_of(l, launch->block[d]) ||
             __builtin_mul_overflow(blocks, values_of(l, launch->block[d]),
                                    &blocks)))
            return false;
    for (int d = 0; d < p->rank; d++)
        for (int i = 0; i < p->part[d].count; i++)
            if (__builtin_mul_overflow(
                    places, values_of(l, p->part[d].term[i].slot), &places))
                return false;
    return places > 0 && places < blocks;
}

static bool blocks_meet(const Lower *l, const StorePlace *p)
{
    if (places_are_few(l, p))
        return true;
    for (int d = 0; d < l->launches.at[l->launch].grid_rank; d++)
        if (l->grid_taint >> d & 1 && neighbours_meet(l, p, d))
            return true;
    return false;
}

// ---- notes ---------------------------------------------------------------

static void note_both(Lower *l, int root)
{
    if (!l->read[root] || !l->write[root])
        return;
    order(l);
    l->code->reads_written_global = true;
}

void note_read(Lower *l, const IrBuffer *b)
{
    int root = root_of(l, b->id);

    if (!is_global(b) || l->launch < 0)
        return;
    l->read[root] = true;
    note_both(l, root);
}

void note_write(Lower *l, const IrBuffer *b, const Form *index)
{
    int root = root_of(l, b->id);
    uint8_t taint = l->control;

    if (!is_global(b) || l->launch < 0)
        return;
    for (int d = 0; d < b->rank; d++)
        taint |= form_taint(l, &index[d]);
    l->write[root] = true;
    if (l->grid_taint & ~taint || !add_store(l, b, index, &l->place[root]) ||
        blocks_meet(l, &l->place[root]))
        order(l);
    note_both(l, root);
}

void note_atomic(Lower *l, const IrBuffer *b)
{
    if (!is_global(b) || l->launch < 0)
        return;
    l->code->atomics_on_global = true;
    l->write[root_of(l, b->id)] = true;
    order(l);
}
