// report_missing.c - values and outputs that were never written, as findings.
//
// A missing value is one finding for its buffer, at the first place that read
// it; what it reached are notes to it. What did not reach anything is silent.
#include "check/check_int.h"

#include <inttypes.h>

// ---- missing values ------------------------------------------------------

static bool is_sink(NoteKind kind)
{
    return kind == NOTE_BRANCH || kind == NOTE_ADDRESS || kind == NOTE_OUTPUT;
}

static bool is_before(const Note *x, const Note *y)
{
    if (!y || x->launch != y->launch)
        return !y || x->launch < y->launch;
    return x->block != y->block ? x->block < y->block : x->order < y->order;
}

static const Note *first_of(const Report *r, int buffer, NoteKind kind)
{
    const Note *best = NULL;

    for (int i = 0; i < r->count; i++)
        if (r->notes[i].buffer == buffer && r->notes[i].kind == kind &&
            is_before(&r->notes[i], best))
            best = &r->notes[i];
    return best;
}

// Elements of a parameter that still hold a value of this origin.
static int64_t left_in(const Report *r, int param, int buffer)
{
    const Shade *m = &r->k->global[param];
    int64_t n = 0;

    for (int64_t i = 0; m->watched && i < m->count; i++)
        n += m->at[i] && !(m->at[i] & SHADE_NEVER) && m->at[i] == buffer + 1;
    return n / shade_width(r->k, param);
}

static bool counts(const Report *r, const Note *n, int64_t *left)
{
    *left = n->kind == NOTE_OUTPUT ? left_in(r, (int)n->x[0], n->buffer) : 0;
    return is_sink(n->kind) && (n->kind != NOTE_OUTPUT || *left > 0);
}

static void note_sink(const Report *r, CheckFinding *f, const Note *n,
                      int64_t left)
{
    TextBuf b = {0};

    if (n->kind == NOTE_OUTPUT) {
        buf_puts(&b, "reaches ");
        put_count(&b, left, "element");
        buf_printf(&b, " of '%.*s' here", TEXT_ARG(name_of(r, (int)n->x[0])));
    } else {
        buf_puts(&b, n->kind == NOTE_BRANCH ? "decides what is done here"
                                            : "is used as an index here");
        buf_puts(&b, ", ");
        put_count(&b, n->count, "time");
    }
    add_note(r, f, span_of(r, n->launch, n->a), &b);
}

// "through 'acc_s', 'scores_max'": tiles on the way.
void note_way(const Report *r, CheckFinding *f, int buffer)
{
    TextBuf b = {0};

    for (int i = 0; i < r->count; i++) {
        const Note *n = &r->notes[i];
        bool known = n->kind != NOTE_FLOW || n->buffer != buffer ||
                     n->x[0] == buffer;

        for (int j = 0; j < i && !known; j++)
            known = r->notes[j].kind == NOTE_FLOW &&
                    r->notes[j].buffer == buffer &&
                    r->notes[j].x[0] == n->x[0];
        if (!known)
            buf_printf(&b, "%s'%.*s'", b.len ? ", " : "on its way it is in ",
                       TEXT_ARG(name_of(r, (int)n->x[0])));
    }
    if (b.len)
        add_note(r, f, (Span){0}, &b);
    buf_release(&b);
}

static void add_origin_facts(const Report *r, CheckFinding *f, int buffer)
{
    add_fact(r, f, buffer, r->k->code->buffer[buffer].at, FACT_MISSING);
    for (int i = 0; i < r->count; i++) {
        const Note *n = &r->notes[i];
        const Access *a = access_at(r, n->launch, n->a);

        if (n->buffer != buffer)
            continue;
        if (n->kind == NOTE_READ)
            add_fact(r, f, buffer, span_of(r, n->launch, n->a), FACT_READ);
        else if ((n->kind == NOTE_ADDRESS || n->kind == NOTE_BRANCH) && a)
            add_fact(r, f, a->buffer, span_of(r, n->launch, n->a), FACT_INDEX);
    }
}

void report_origin(Report *r, int buffer)
{
    const CodeBuffer *b = &r->k->code->buffer[buffer];
    const Note *read = first_of(r, buffer, NOTE_READ);
    CheckFinding *f = NULL;
    TextBuf words = {0};
    int64_t left;

    for (int i = 0; i < r->count && read; i++) {
        const Note *n = &r->notes[i];

        if (n->buffer != buffer || !counts(r, n, &left))
            continue;
        if (!f) {
            f = add_finding(r, FINDING_UNINIT,
                            span_of(r, read->launch, read->a));
            f->count = read->count;
            f->tile = b->name;
            add_origin_facts(r, f, buffer);
            f->message = text_format(
                r->a, "'%.*s' is read here and was never written there",
                TEXT_ARG(b->name));
            note_when(r, f, read);
            note_way(r, f, buffer);
            buf_puts(&words, "allocated here");
            add_note(r, f, b->at, &words);
        }
        note_sink(r, f, n, left);
    }
    if (f && b->place != BUFFER_PARAM)
        f->fix = text_format(r->a, "T.clear(%.*s), or write all of it, "
                             "before this", TEXT_ARG(b->name));
}

// ---- outputs -------------------------------------------------------------

static void put_index(TextBuf *b, const CodeBuffer *c, const int64_t *shape,
                      int64_t at)
{
    int64_t index[CODE_RANK];

    for (int d = c->rank - 1; d >= 0; d--) {
        index[d] = shape[d] > 0 ? at % shape[d] : 0;
        at = shape[d] > 0 ? at / shape[d] : 0;
    }
    for (int d = 0; d < c->rank; d++)
        buf_printf(b, "%s%" PRId64, d ? ", " : "[", index[d]);
    buf_puts(b, "]");
}

// Which elements are missing, and what stores to the others.
static void add_unwritten_facts(const Report *r, CheckFinding *f, int buffer)
{
    const Code *c = r->k->code;
    const Shade *m = &r->k->global[buffer];
    int width = shade_width(r->k, buffer);
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (int64_t i = 0; i < m->count; i++)
        h = (h ^ (uint64_t)(i % width ? 0 : (m->at[i] >> 7) + 1)) *
            UINT64_C(0x100000001b3);
    f->missing = h;
    add_fact(r, f, buffer, f->at, FACT_MISSING);
    for (int l = 0; l < c->launch_count; l++)
        for (int i = 0; i < c->launch[l].body.len; i++)
            if (is_store_at(r, l, i) &&
                root_of_buffer(c, access_at(r, l, i)->buffer) == buffer)
                add_fact(r, f, buffer, span_of(r, l, i), FACT_STORES);
}

void report_unwritten(Report *r, int buffer)
{
    Check *k = r->k;
    const CodeBuffer *b = &k->code->buffer[buffer];
    const Shade *m = &k->global[buffer];
    int64_t never = 0, first = -1, last = -1;
    int width = shade_width(k, buffer);
    TextBuf words = {0};
    CheckFinding *f;

    for (int64_t i = 0; i < m->count; i++)
        if (m->at[i] & SHADE_NEVER) {
            never++;
            first = first < 0 ? i / width : first;
            last = i / width;
        }
    // without a store it is an output that this configuration does not have
    if (!never || !check_stores_to(k, b->param))
        return;
    f = add_finding(r, FINDING_OUTPUT_UNWRITTEN, b->at);
    f->count = never / width;
    f->param = b->param;
    add_unwritten_facts(r, f, buffer);
    put_count(&words, f->count, "element");
    buf_puts(&words, " of ");
    buf_grouped(&words, m->count / width);
    buf_printf(&words, " of the output '%.*s' %s written by no block",
               TEXT_ARG(b->name), f->count == 1 ? "is" : "are");
    f->message = text_from(r, &words);
    buf_puts(&words, "from ");
    put_index(&words, b, k->shape[buffer], first);
    buf_puts(&words, " to ");
    put_index(&words, b, k->shape[buffer], last);
    add_note(r, f, (Span){0}, &words);
}
