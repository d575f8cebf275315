// report_order.c - accesses of threads and of what they started, as findings.
#include "check/race_int.h"

#include <inttypes.h>
#include <stdlib.h>

// One of the two accesses of a note.
typedef struct {
    int root;
    Way way;
    MadeBy by;
} Side;

static Side side_of(int64_t x)
{
    return (Side){(int)(x >> 16), (Way)(x >> 8 & 0xff), (MadeBy)(x & 0xff)};
}

static Side earlier(const Note *n)
{
    return side_of(n->x[1]);
}

static Side later(const Note *n)
{
    return side_of(n->x[2]);
}

static FindingId id_of(const Note *n)
{
    Side before = earlier(n), now = later(n);

    if (before.by == MADE_BY_WARPS && now.by == MADE_BY_WARPS)
        return FINDING_RACE_THREADS;
    if (now.way == LOADS && before.by != MADE_BY_WARPS && before.way != LOADS)
        return FINDING_ASYNC_READ;
    return FINDING_ASYNC_OVERWRITE;
}

// "warp 2 (threads 64 to 95)", "warps 0 to 3 (threads 0 to 127)"
static void put_warps(TextBuf *b, const Launch *l, uint64_t warps)
{
    int first = 0, last = MOST_WARPS - 1, end;

    while (first < last && !(warps >> first & 1))
        first++;
    while (last > first && !(warps >> last & 1))
        last--;
    end = (last + 1) * l->wave;
    if (end > l->threads)
        end = (int)l->threads;
    buf_printf(b, first == last ? "warp %d" : "warps %d to %d", first, last);
    buf_printf(b, " (threads %d to %d)", first * l->wave, end - 1);
}

static const char *started_as(MadeBy by)
{
    switch (by) {
    case MADE_BY_TMA:
        return "the copy is started here; its barrier's phase is not waited "
               "for in between";
    case MADE_BY_COPIES:
        return "the copy is started here; its group is not waited for in "
               "between";
    case MADE_BY_MATRIX:
        return "the product is started here; T.wait_wgmma is not between";
    case MADE_BY_STORES:
        return "the copy out of it is started here; T.tma_store_wait is not "
               "between";
    case MADE_BY_WARPS:
        break;
    }
    return "";
}

static void note_other(const Report *r, CheckFinding *f, const Note *n)
{
    const Launch *l = &r->k->code->launch[n->launch];
    Side e = earlier(n);
    TextBuf b = {0};

    if (e.by != MADE_BY_WARPS) {
        buf_puts(&b, started_as(e.by));
    } else {
        if (e.root != n->buffer)
            buf_printf(&b, "'%.*s', which has the same bytes, is ",
                       TEXT_ARG(name_of(r, e.root)));
        buf_puts(&b, e.way == LOADS ? "loaded here" : "stored here");
        if (l->per_thread) {
            buf_puts(&b, " by ");
            put_warps(&b, l, (uint64_t)n->x[0]);
        }
        buf_puts(&b, ", and nothing orders the two");
    }
    add_note(r, f, span_of(r, n->launch, n->b), &b);
}

static bool is_divergent(const Report *r, const Note *n)
{
    const OrderPlan *p = order_plan(r->k, n->launch);

    return p->divergent[n->a] || p->divergent[n->b];
}

static void note_why(const Report *r, CheckFinding *f, const Note *n)
{
    const OrderPlan *p = order_plan(r->k, n->launch);
    const int *stmt = r->k->code->launch[n->launch].body.stmt;
    TextBuf b = {0};

    if (p->global[n->buffer])
        buf_puts(&b, "the compiler puts no barriers between accesses of global "
                     "memory");
    else if (r->k->code->no_auto_sync)
        buf_puts(&b, "tl.disable_thread_storage_sync: the compiler puts no "
                     "barriers");
    else if (stmt[n->a] == stmt[n->b])
        buf_puts(&b, "both are of one statement: no barrier can stand in it");
    else if (is_divergent(r, n))
        buf_puts(&b, "only a part of a warp may come here: no barrier can "
                     "stand in between");
    else
        buf_puts(&b, "these threads meet at no barrier in between");
    add_note(r, f, (Span){0}, &b);
}

static bool same_span(Span a, Span b)
{
    return a.file == b.file && a.begin == b.begin && a.end == b.end;
}

static bool has_note_at(const CheckFinding *f, Span at)
{
    for (int i = 0; i < f->note_count; i++)
        if (same_span(f->notes[i].at, at))
            return true;
    return false;
}

static bool is_of_threads(FindingId id)
{
    return id == FINDING_RACE_THREADS || id == FINDING_ASYNC_READ ||
           id == FINDING_ASYNC_OVERWRITE;
}

// The finding of the same cause: at the same place, of the same pair the other
// way round, or of what was started or is in use at the same place.
static CheckFinding *same_cause(const Report *r, FindingId id, Span at,
                                Span other)
{
    bool pair = id == FINDING_RACE_THREADS;

    for (int i = 0; i < r->out->len; i++) {
        CheckFinding *f = &r->out->at[i];

        if (!is_of_threads(f->id) || pair != (f->id == FINDING_RACE_THREADS))
            continue;
        if ((f->id == id && same_span(f->at, at)) ||
            (pair ? same_span(f->at, other) && has_note_at(f, at)
                  : has_note_at(f, other)))
            return f;
    }
    return NULL;
}

static Text message_of(const Report *r, const Note *n, FindingId id)
{
    Side e = earlier(n);
    bool loads = later(n).way == LOADS;
    Text name = name_of(r, n->buffer);

    if (id == FINDING_ASYNC_READ)
        return text_format(r->a, "'%.*s' is read before what fills it is done",
                           TEXT_ARG(name));
    if (id == FINDING_ASYNC_OVERWRITE)
        return text_format(r->a, "'%.*s' is overwritten while it may still be "
                           "%s", TEXT_ARG(name),
                           e.way == LOADS ? "read" : "written");
    if (e.root != n->buffer)
        return text_format(r->a, "stores elements of '%.*s' over those of "
                           "'%.*s' that other threads %s", TEXT_ARG(name),
                           TEXT_ARG(name_of(r, e.root)),
                           e.way == LOADS ? "load" : "store");
    return text_format(r->a, "%s elements of '%.*s' that other threads %s",
                       loads ? "loads" : "stores", TEXT_ARG(name),
                       e.way == LOADS ? "load"
                       : loads        ? "store"
                                      : "store as well");
}

// Who did not wait for what fills a tile does not know either that it is done
// when the next is started.
static bool follows_from_read(const Report *r, const Note *n)
{
    for (int i = 0; i < r->count; i++) {
        const Note *x = &r->notes[i];

        if (x->kind == NOTE_THREADS && x->launch == n->launch &&
            x->buffer == n->buffer && id_of(x) == FINDING_ASYNC_READ)
            return true;
    }
    return false;
}

static void note_more(const Report *r, CheckFinding *f, const Note *n,
                      FindingId id)
{
    TextBuf b = {0};

    buf_text(&b, message_of(r, n, id));
    buf_puts(&b, ", here as well");
    add_note(r, f, span_of(r, n->launch, n->a), &b);
}

static void report_one(Report *r, const Note *n)
{
    FindingId id = id_of(n);
    Span at = span_of(r, n->launch, n->a), other = span_of(r, n->launch, n->b);
    CheckFinding *f = same_cause(r, id, at, other);

    if (id == FINDING_ASYNC_OVERWRITE && earlier(n).way != LOADS &&
        follows_from_read(r, n))
        return;
    if (!f) {
        f = add_finding(r, id, at);
        f->message = message_of(r, n, id);
        note_when(r, f, n);
        if (id == FINDING_RACE_THREADS)
            note_why(r, f, n);
    } else if (!same_span(f->at, at) && !has_note_at(f, at)) {
        note_more(r, f, n, id);
    }
    add_fact(r, f, n->buffer, at, FACT_SECOND);
    add_fact(r, f, earlier(n).root, other, FACT_FIRST);
    f->count += n->count;
    if (!same_span(f->at, other) && !has_note_at(f, other))
        note_other(r, f, n);
}

static int by_place(const void *a, const void *b)
{
    const Note *x = a, *y = b;

    if (x->launch != y->launch)
        return x->launch < y->launch ? -1 : 1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return x->b != y->b ? (x->b < y->b ? -1 : 1) : x->buffer - y->buffer;
}

void report_order(Report *r)
{
    Note *all = xcalloc((size_t)r->count + 1, sizeof *all);
    int n = 0;

    for (int i = 0; i < r->count; i++)
        if (r->notes[i].kind == NOTE_THREADS)
            all[n++] = r->notes[i];
    qsort(all, (size_t)n, sizeof *all, by_place);
    for (int i = 0; i < n; i++)
        report_one(r, &all[i]);
    free(all);
}
