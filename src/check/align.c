// align.c - addresses that an asynchronous copy of a thread cannot take.
//
// cp.async moves 4, 8 or 16 bytes between addresses that are multiples of as
// many. T.ptx_cp_async is that instruction, whatever the addresses are; copies
// of tiles choose their width themselves.
#include "check/check_int.h"

#include <stdlib.h>

// Where the bytes of one copy begin: its first load and its first store.
static void mark_copy(const Code *c, const InstrList *body, int from,
                      uint8_t *out)
{
    int load = -1, store = -1, bits = 0, n = 0;

    for (int i = from; i < body->len; i++) {
        const Instr *in = &body->code[i];

        if (in->op == INSTR_PAR)
            return;                             // a tile
        if (in->op == INSTR_ORDER && in->a == ORDER_END)
            break;
        if (in->op == INSTR_VLOAD && load < 0)
            load = i;
        if (in->op != INSTR_VSTORE)
            continue;
        store = store < 0 ? i : store;
        bits = dtype_info(c->buffer[c->access[in->a].buffer].dtype)->bits;
        n++;
    }
    if (load < 0 || store < 0)
        return;
    out[load] = out[store] = (uint8_t)(n * bits / 8);
}

void align_create(Check *k)
{
    const Code *c = k->code;

    k->copied = xcalloc((size_t)c->launch_count + 1, sizeof *k->copied);
    for (int l = 0; l < c->launch_count; l++) {
        const InstrList *body = &c->launch[l].body;

        for (int i = 0; i < body->len; i++) {
            if (body->code[i].op != INSTR_ORDER ||
                body->code[i].a != ORDER_CP_ASYNC)
                continue;
            if (!k->copied[l])
                k->copied[l] = xcalloc((size_t)body->len, 1);
            mark_copy(c, body, i, k->copied[l]);
        }
    }
}

void align_destroy(Check *k)
{
    for (int l = 0; k->copied && l < k->code->launch_count; l++)
        free(k->copied[l]);
    free(k->copied);
}

static bool is_size(int bytes)
{
    return bytes == 4 || bytes == 8 || bytes == 16;
}

// Bytes from the last multiple of 16 to the buffer's first element.
static int64_t start_of(Check *k, const InterpStep *s, int buffer)
{
    int64_t n;
    int root = root_of_buffer(k->code, buffer);

    if (k->code->buffer[root].place != BUFFER_PARAM)
        return 0;
    return (int64_t)((uintptr_t)interp_memory_of(s, buffer, &n) % 16);
}

static void note_copy(Check *k, const InterpStep *s, int buffer, int lane,
                      int64_t at, int bytes)
{
    Note *n = note(k, s, NOTE_ALIGN, -1, buffer, 0);

    if (!n->count) {
        n->x[0] = at;
        n->x[1] = bytes;
        note_lane(n, s, lane);
    }
    n->count++;
}

void align_before(Check *k, const InterpStep *s)
{
    const Instr *i = s->instr;
    int bytes = k->copied[s->launch] ? k->copied[s->launch][s->pc] : 0;
    int mask = i->op == INSTR_VLOAD ? i->b : i->c, bits;
    const int32_t *active;
    const Access *a;
    int64_t start;
    InterpTouch t;

    if (!bytes)
        return;
    a = &k->code->access[i->a];
    active = mask < 0 ? NULL : s->v[mask];
    bits = dtype_info(k->code->buffer[a->buffer].dtype)->bits;
    start = start_of(k, s, a->buffer);
    interp_touch(s, a, false, &t);
    for (int j = 0; j < s->n; j++) {
        int64_t at = t.offset ? t.offset[j]
                              : t.at + j / t.cols * t.sr + j % t.cols * t.sc;

        at = start + at * bits / 8;
        if ((active && !active[j]) || (t.offset && !t.inside[j]) ||
            (is_size(bytes) && at % bytes == 0))
            continue;
        note_copy(k, s, a->buffer, j, at, bytes);
    }
}

void report_align(Report *r, const Note *n)
{
    CheckFinding *f;

    if (!is_size((int)n->x[1]) && is_store_at(r, n->launch, n->a))
        return;                                 // its load is told
    f = add_finding(r, FINDING_ALIGNMENT, span_of(r, n->launch, n->a));
    f->count = n->count;
    if (is_size((int)n->x[1]))
        f->message = text_format(
            r->a, "T.ptx_cp_async of %lld bytes at byte %lld of '%.*s': its "
            "addresses are multiples of %lld", (long long)n->x[1],
            (long long)n->x[0], TEXT_ARG(name_of(r, n->buffer)),
            (long long)n->x[1]);
    else
        f->message = text_format(r->a, "T.ptx_cp_async of %lld bytes: a thread "
                                 "copies 4, 8 or 16", (long long)n->x[1]);
    note_when(r, f, n);
    f->fix = TEXT("pad the rows, or copy fewer bytes at a time");
}
