// record.c - what workers notice, without memory of their own in the run.
//
// A note is found by its kind and places, so that a fault that happens a
// million times is one note with a count. Blocks are handed out in ascending
// order and each is run by one worker: the first time in the lowest block is
// the same for any number of threads.
#include "check/check_int.h"

#include <stdlib.h>
#include <string.h>

static bool same(const Note *x, NoteKind kind, const InterpStep *s, int b,
                 int buffer)
{
    return x->kind == kind && x->launch == s->launch && x->a == s->pc &&
           x->b == b && x->buffer == buffer;
}

static uint32_t hash(NoteKind kind, const InterpStep *s, int b, int buffer)
{
    uint64_t h = (uint64_t)kind * 31 + (uint64_t)s->launch;

    h = h * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)s->pc;
    h = h * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)(b + 1);
    h = h * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)(buffer + 1);
    return (uint32_t)(h >> 40);
}

// ---- where in the loops --------------------------------------------------

// The serial loops around instruction pc: its NEXT comes after, and jumps back
// to before it.
static void set_loops(const Check *k, const InterpStep *s, Note *n)
{
    const Code *c = k->code;

    n->loops = 0;
    for (int i = 0; i < c->loop_count && n->loops < NOTE_LOOPS; i++) {
        const CodeLoop *l = &c->loop[i];
        const Instr *next = &c->launch[s->launch].body.code[l->next];

        if (l->launch != s->launch || l->next < s->pc ||
            l->next + next->b > s->pc)
            continue;
        n->loop[n->loops] = i;
        n->turn[n->loops++] = s->slot[l->slot].i;
    }
}

void note_lane(Note *n, const InterpStep *s, int lane)
{
    if (n->count != 0 || !s->cols)
        return;
    n->row = s->row0 + lane / s->cols;
    n->col = s->col0 + lane % s->cols;
}

static Note *find(Check *k, const InterpStep *s, NoteKind kind, int b,
                  int buffer)
{
    Notes *t = &k->workers[s->worker].notes;
    uint32_t i = hash(kind, s, b, buffer) % MOST_NOTES;

    while (t->at[i].block >= 0 && !same(&t->at[i], kind, s, b, buffer))
        i = (i + 1) % MOST_NOTES;
    if (t->at[i].block >= 0)
        return &t->at[i];
    if (t->len == MOST_NOTES / 2) {
        t->full = true;
        return NULL;
    }
    t->len++;
    t->at[i] = (Note){.kind = kind,
                      .launch = s->launch,
                      .a = s->pc,
                      .b = b,
                      .buffer = buffer,
                      .block = s->block,
                      .order = t->order++,
                      .row = -1,
                      .col = -1};
    set_loops(k, s, &t->at[i]);
    return &t->at[i];
}

// Adds `count` when that is not 0; the caller may fill in a note whose count
// was 0 before it adds. A full table gives a note that nobody reads.
Note *note(Check *k, const InterpStep *s, NoteKind kind, int b, int buffer,
           int64_t count)
{
    Note *n = find(k, s, kind, b, buffer);

    if (!n)
        n = &k->workers[s->worker].notes.at[MOST_NOTES];
    n->count += count;
    return n;
}

// ---- merging -------------------------------------------------------------

static int by_key(const void *a, const void *b)
{
    const Note *x = a, *y = b;

    if (x->launch != y->launch)
        return x->launch < y->launch ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->buffer != y->buffer)
        return x->buffer < y->buffer ? -1 : 1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    return x->block < y->block ? -1 : x->block > y->block;
}

static bool equal_keys(const Note *x, const Note *y)
{
    return x->launch == y->launch && x->kind == y->kind &&
           x->buffer == y->buffer && x->a == y->a && x->b == y->b;
}

int merge_notes(const Check *k, Note **out)
{
    int n = 0, kept = 0;
    Note *all = xcalloc((size_t)k->worker_count * MOST_NOTES + 1, sizeof *all);

    for (int i = 0; i < k->worker_count; i++)
        for (int j = 0; j < MOST_NOTES; j++)
            if (k->workers[i].notes.at[j].block >= 0)
                all[n++] = k->workers[i].notes.at[j];
    qsort(all, (size_t)n, sizeof *all, by_key);
    for (int i = 0; i < n; i++) {
        if (kept && equal_keys(&all[kept - 1], &all[i]))
            all[kept - 1].count += all[i].count;
        else
            all[kept++] = all[i];
    }
    *out = all;
    return kept;
}
