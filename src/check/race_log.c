// race_log.c - what was accessed in a block, by whom and when, as long as not
// all warps have heard of it.
#include "check/race_int.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_WORDS = 1 << 16,
    MOST_ENTRIES = 256,
    FEW_ENTRIES = 8,
    LEAST_BYTES = 1 << 16,
};

// ---- units ---------------------------------------------------------------

static void need(Units *u, int64_t words)
{
    if (u->room >= words)
        return;
    u->room = words + words / 2;
    u->bit = xrealloc(u->bit, (size_t)u->room, sizeof *u->bit);
}

// Makes room for units from `first` to `last`.
static void cover(Units *u, int64_t first, int64_t last)
{
    int64_t word = first / 64, end = last / 64 + 1;

    if (u->words && word > u->word)
        word = u->word;
    if (u->words && end < u->word + u->words)
        end = u->word + u->words;
    if (u->words && word == u->word && end - word == u->words)
        return;
    need(u, end - word);
    memmove(u->bit + (u->words ? u->word - word : 0), u->bit,
            (size_t)u->words * sizeof *u->bit);
    if (!u->words) {
        memset(u->bit, 0, (size_t)(end - word) * sizeof *u->bit);
    } else {
        int64_t before = u->word - word, after = before + u->words;

        memset(u->bit, 0, (size_t)before * sizeof *u->bit);
        memset(u->bit + after, 0,
               (size_t)(end - word - after) * sizeof *u->bit);
    }
    u->word = word;
    u->words = end - word;
}

void units_add(Units *u, int64_t first, int64_t n)
{
    int64_t last = first + n - 1;

    if (last / 64 - (u->words ? u->word : first / 64) > MOST_WORDS)
        return;
    cover(u, first, last);
    for (int64_t w = first / 64; w <= last / 64; w++) {
        int64_t low = w == first / 64 ? first % 64 : 0;
        int64_t high = w == last / 64 ? last % 64 : 63;

        u->bit[w - u->word] |=
            ~UINT64_C(0) << low & ~UINT64_C(0) >> (63 - high);
    }
}

static void units_add_all(Units *u, const Units *more)
{
    cover(u, more->word * 64, (more->word + more->words) * 64 - 1);
    for (int64_t i = 0; i < more->words; i++)
        u->bit[more->word - u->word + i] |= more->bit[i];
}

bool units_have(const Units *u, int64_t unit)
{
    int64_t w = unit / 64 - u->word;

    return w >= 0 && w < u->words && u->bit[w] >> unit % 64 & 1;
}

bool units_meet(const Units *a, const Units *b)
{
    int64_t first = a->word > b->word ? a->word : b->word;
    int64_t end = a->word + a->words < b->word + b->words
                      ? a->word + a->words : b->word + b->words;

    for (int64_t w = first; w < end; w++)
        if (a->bit[w - a->word] & b->bit[w - b->word])
            return true;
    return false;
}

// ---- entries -------------------------------------------------------------

RaceLog *race_log(const Check *k, BlockOrder *o)
{
    int n = k->code->buffer_count + 1;

    if (!o->log) {
        o->log = xcalloc(1, sizeof *o->log);
        o->log->buffers = n;
        o->log->most = k->code->scratch_bytes > LEAST_BYTES
                           ? k->code->scratch_bytes
                           : LEAST_BYTES;
        o->log->buffer = xcalloc((size_t)n, sizeof *o->log->buffer);
    }
    return o->log;
}

static void clear_entry(RaceLog *r, Entry *e)
{
    r->bytes -= e->units.room * (int64_t)sizeof *e->units.bit;
    if (e->lane)
        r->bytes -= MOST_LANES * (int64_t)sizeof *e->lane;
    free(e->units.bit);
    free(e->lane);
    *e = (Entry){.pc = -1};
}

// The others keep their order.
static void leave(RaceLog *r, EntryList *l, int i)
{
    clear_entry(r, &l->at[i]);
    l->len--;
    memmove(&l->at[i], &l->at[i + 1], (size_t)(l->len - i) * sizeof *l->at);
}

void race_log_reset(BlockOrder *o)
{
    for (int i = 0; o->log && i < o->log->buffers; i++) {
        EntryList *l = &o->log->buffer[i];

        while (l->len)
            clear_entry(o->log, &l->at[--l->len]);
    }
}

void race_log_release(BlockOrder *o)
{
    race_log_reset(o);
    for (int i = 0; o->log && i < o->log->buffers; i++)
        free(o->log->buffer[i].at);
    if (o->log) {
        free(o->log->buffer);
        free(o->log->now.bit);
    }
    free(o->log);
    o->log = NULL;
}

static void forget_past(const BlockOrder *o, EntryList *l)
{
    for (int i = l->len - 1; i >= 0; i--)
        if (order_is_past(o, l->by, &l->at[i].when))
            leave(o->log, l, i);
}

static bool same_moment(const Moment *a, const Moment *b)
{
    if (a->by != b->by || a->base != b->base || a->warps != b->warps)
        return false;
    for (int w = 0; w < MOST_WARPS; w++)
        if (a->warps >> w & 1 && a->at[w] != b->at[w])
            return false;
    return true;
}

static Entry *new_entry(const BlockOrder *o, EntryList *l, const Entry *like)
{
    if (l->len >= FEW_ENTRIES)
        forget_past(o, l);
    if (l->len >= MOST_ENTRIES || (l->len && o->log->bytes > o->log->most))
        leave(o->log, l, 0); // what is forgotten is at worst not found
    if (l->len == l->room) {
        l->room = l->room ? 2 * l->room : FEW_ENTRIES;
        l->at = xrealloc(l->at, (size_t)l->room, sizeof *l->at);
    }
    l->at[l->len] = *like;
    return &l->at[l->len++];
}

Entry *race_log_add(BlockOrder *o, EntryList *l, const Entry *like)
{
    Entry *e = NULL;
    int64_t room;

    for (int i = l->len - 1; i >= 0 && !e; i--)
        if (l->at[i].pc == like->pc && l->at[i].way == like->way &&
            l->at[i].root == like->root &&
            l->at[i].step == like->step &&
            same_moment(&l->at[i].when, &like->when))
            e = &l->at[i];
    if (!e)
        e = new_entry(o, l, like);
    room = e->units.room;
    units_add_all(&e->units, &o->log->now);
    o->log->bytes +=
        (e->units.room - room) * (int64_t)sizeof *e->units.bit;
    return e;
}

void race_log_lane(RaceLog *r, Entry *e, int64_t unit, int lane)
{
    if (e->lanes == MOST_LANES || (!e->lane && r->bytes > r->most))
        return;
    if (!e->lane) {
        e->lane = xcalloc(MOST_LANES, sizeof *e->lane);
        r->bytes += MOST_LANES * (int64_t)sizeof *e->lane;
    }
    e->lane[e->lanes++] = (UnitLane){unit, lane};
}

int race_log_lane_of(const Entry *e, int64_t unit)
{
    for (int i = e->lanes - 1; i >= 0; i--)
        if (e->lane[i].unit == unit)
            return e->lane[i].lane;
    return -1;
}
