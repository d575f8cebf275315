// report.c - notes of a run as findings, in people's words.
#include "check/check_int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// ---- words ---------------------------------------------------------------

Span span_of(const Report *r, int launch, int pc)
{
    return r->k->code->launch[launch].body.at[pc];
}

Text name_of(const Report *r, int buffer)
{
    return r->k->code->buffer[buffer].name;
}

Text text_from(const Report *r, TextBuf *b)
{
    Text t = text_copy(r->a, buf_view(b));

    buf_release(b);
    return t;
}

// "block (3, 0)"
static void put_block(const Report *r, TextBuf *b, int launch, int64_t block)
{
    const Launch *l = &r->k->code->launch[launch];
    bool known = launch < r->r->launches;
    const int64_t *grid = known ? r->r->grid[launch] : NULL;

    buf_puts(b, "block (");
    for (int d = 0; d < (known ? l->grid_rank : 1); d++) {
        int64_t n = known && grid[d] > 0 ? grid[d] : INT64_MAX;

        buf_printf(b, "%s%" PRId64, d ? ", " : "", block % n);
        block /= n;
    }
    buf_addc(b, ')');
}

static bool starts_before(const Code *c, const CodeLoop *a, const CodeLoop *b)
{
    const Instr *body = c->launch[a->launch].body.code;

    return a->next + body[a->next].b < b->next + body[b->next].b;
}

// ", k=0 of ko, iteration (3, 5)": the loops around, then the lane.
static void put_when(const Report *r, TextBuf *b, const Note *n)
{
    const Code *c = r->k->code;
    bool thread = c->launch[n->launch].per_thread;
    int order[NOTE_LOOPS];

    put_block(r, b, n->launch, n->block);
    for (int i = 0; i < n->loops; i++) {
        int j = i;

        for (; j > 0 && starts_before(c, &c->loop[n->loop[i]],
                                      &c->loop[n->loop[order[j - 1]]]); j--)
            order[j] = order[j - 1];
        order[j] = i;
    }
    for (int i = 0; i < n->loops; i++)
        buf_printf(b, ", %.*s=%" PRId64,
                   TEXT_ARG(c->loop[n->loop[order[i]]].name),
                   n->turn[order[i]]);
    if (n->col >= 0 && thread)
        buf_printf(b, ", thread %" PRId64, n->col);
    else if (n->col >= 0)
        buf_printf(b, ", iteration (%" PRId64 ", %" PRId64 ")", n->row, n->col);
}

void put_count(TextBuf *b, int64_t n, const char *what)
{
    buf_grouped(b, n);
    buf_printf(b, " %s%s", what, n == 1 ? "" : "s");
}

// ---- findings ------------------------------------------------------------

CheckFinding *add_finding(Report *r, FindingId id, Span at)
{
    vec_push(r->a, r->out, ((CheckFinding){.id = id,
                                         .at = at,
                                         .block = -1,
                                         .param = -1}));
    return &r->out->at[r->out->len - 1];
}

void add_note(const Report *r, CheckFinding *f, Span at, TextBuf *words)
{
    CheckNote *all = new_array(r->a, CheckNote, f->note_count + 1);

    if (f->note_count)
        memcpy(all, f->notes, (size_t)f->note_count * sizeof *all);
    all[f->note_count++] = (CheckNote){at, text_from(r, words)};
    f->notes = all;
}

void note_when(const Report *r, CheckFinding *f, const Note *n)
{
    TextBuf b = {0};

    buf_puts(&b, "first in ");
    put_when(r, &b, n);
    f->launch = n->launch;
    f->block = n->block;
    add_note(r, f, (Span){0}, &b);
}

// ---- accesses ------------------------------------------------------------

static InstrOp op_at(const Report *r, int launch, int pc)
{
    return (InstrOp)r->k->code->launch[launch].body.code[pc].op;
}

const Access *access_at(const Report *r, int launch, int pc)
{
    const Instr *i = &r->k->code->launch[launch].body.code[pc];

    switch ((InstrOp)i->op) {
    case INSTR_LOAD:
    case INSTR_STORE:
    case INSTR_VLOAD:
    case INSTR_VSTORE:
    case INSTR_VATOMIC:
        return &r->k->code->access[i->a];
    default:
        return NULL;
    }
}

bool is_store_at(const Report *r, int launch, int pc)
{
    InstrOp op = op_at(r, launch, pc);

    return op == INSTR_STORE || op == INSTR_VSTORE || op == INSTR_VATOMIC;
}

// ---- stores of several blocks ---------------------------------------------

// The two accesses of a note.
static void add_pair(const Report *r, CheckFinding *f, const Note *n)
{
    add_fact(r, f, n->buffer, span_of(r, n->launch, n->a), FACT_SECOND);
    add_fact(r, f, n->buffer, span_of(r, n->launch, n->b), FACT_FIRST);
}

static void report_conflict(Report *r, const Note *n)
{
    CheckFinding *f =
        add_finding(r, FINDING_OUTPUT_CONFLICT, span_of(r, n->launch, n->a));
    TextBuf words = {0};

    add_pair(r, f, n);
    f->count = n->count;
    f->message = text_format(r->a, "blocks store different values to the same "
                             "elements of '%.*s'",
                             TEXT_ARG(name_of(r, n->buffer)));
    note_when(r, f, n);
    buf_puts(&words, "the other is stored here, by ");
    put_block(r, &words, n->launch, n->x[0]);
    add_note(r, f, span_of(r, n->launch, n->b), &words);
}

// ---- races ---------------------------------------------------------------

// The finding of the same place, to which this is one more partner; or NULL.
static CheckFinding *same_race(const Report *r, Span at)
{
    for (int i = 0; i < r->out->len; i++) {
        CheckFinding *f = &r->out->at[i];

        if (f->id == FINDING_RACE_ITERATIONS && f->at.file == at.file &&
            f->at.begin == at.begin)
            return f;
    }
    return NULL;
}

static void report_race(Report *r, const Note *n)
{
    Span at = span_of(r, n->launch, n->a);
    bool loads = op_at(r, n->launch, n->a) == INSTR_VLOAD;
    bool loaded = op_at(r, n->launch, n->b) == INSTR_VLOAD;
    CheckFinding *f = same_race(r, at);
    TextBuf words = {0};

    if (!f) {
        f = add_finding(r, FINDING_RACE_ITERATIONS, at);
        f->message = text_format(
            r->a, "%s elements of '%.*s' that other iterations %s",
            loads ? "loads" : "stores", TEXT_ARG(name_of(r, n->buffer)),
            loaded ? "load" : loads ? "store" : "store as well");
        note_when(r, f, n);
    }
    add_pair(r, f, n);
    f->count += n->count;
    buf_printf(&words, "%s here, by ", loaded ? "loaded" : "stored");
    if (n->x[0] < 0)
        buf_puts(&words, "several iterations");
    else
        buf_printf(&words, "iteration (%" PRId64 ", %" PRId64 ")",
                   n->x[0] / n->x[1], n->x[0] % n->x[1]);
    add_note(r, f, span_of(r, n->launch, n->b), &words);
}

// "loads", or "loaded" for what was done `before`.
static const char *word_of_use(InstrOp op, bool before)
{
    return op == INSTR_VATOMIC ? before ? "updated" : "updates"
           : op == INSTR_VLOAD || op == INSTR_LOAD
               ? before ? "loaded" : "loads"
               : before ? "stored" : "stores";
}

static void report_race_blocks(Report *r, const Note *n)
{
    InstrOp now = op_at(r, n->launch, n->a), was = op_at(r, n->launch, n->b);
    CheckFinding *f =
        add_finding(r, FINDING_RACE_BLOCKS, span_of(r, n->launch, n->a));
    TextBuf words = {0};

    add_pair(r, f, n);
    f->count = n->count;
    f->message = text_format(
        r->a, "%s elements of '%.*s' that other blocks %s",
        word_of_use(now, false), TEXT_ARG(name_of(r, n->buffer)),
        was == INSTR_VATOMIC                     ? "update"
        : was == INSTR_VLOAD || was == INSTR_LOAD ? "load"
                                                  : "store");
    note_when(r, f, n);
    buf_printf(&words, "%s here, by ", word_of_use(was, true));
    if (n->x[0] < 0)
        buf_puts(&words, "several blocks");
    else
        put_block(r, &words, n->launch, n->x[0]);
    add_note(r, f, span_of(r, n->launch, n->b), &words);
}

// ---- global indices ------------------------------------------------------

static const Access *access_of(const Report *r, const Note *n)
{
    const Instr *i = &r->k->code->launch[n->launch].body.code[n->a];

    return &r->k->code->access[i->a];
}

static bool is_global(const Report *r, int buffer)
{
    BufferPlace p = r->k->code->buffer[buffer].place;

    return p != BUFFER_SCRATCH && p != BUFFER_PRIVATE;
}

static void report_index(Report *r, const Note *n)
{
    bool global = is_global(r, n->buffer), tail = n->kind == NOTE_TAIL;
    CheckFinding *f = add_finding(r, tail     ? FINDING_TAIL
                                     : global ? FINDING_INDEX_RANGE
                                              : FINDING_OUT_OF_BOUNDS,
                                  span_of(r, n->launch, n->a));
    const Access *a = access_of(r, n);
    bool loaded = a->loaded >> n->x[0] & 1 && !tail;

    f->count = n->count;
    add_fact(r, f, n->buffer, f->at, a->store ? FACT_SKIPPED : FACT_PLAIN);
    bool free = global && r->k->options.unguarded &&
                !(a->clipped >> n->x[0] & 1);

    f->message = text_format(
        r->a, "%sindex %" PRId64 " of dimension %" PRId64 " of '%.*s', which "
        "has %" PRId64 " elements there: %s", loaded ? "loaded " : "",
        n->x[1], n->x[0], TEXT_ARG(name_of(r, n->buffer)), n->x[2],
        free ? "tl.disable_safe_memory_legalize leaves it without a guard"
        : a->store ? "the store is skipped" : "the load gives 0");
    note_when(r, f, n);
    if (!tail)
        f->fix = global ? TEXT("test the index before it is used")
                        : TEXT("copy as much as the smaller tile holds");
}

static void report_overflow(Report *r, const Note *n)
{
    CheckFinding *f =
        add_finding(r, FINDING_INDEX_OVERFLOW, span_of(r, n->launch, n->a));

    f->count = n->count;
    add_fact(r, f, n->buffer, f->at, FACT_PLAIN);
    f->message = text_format(
        r->a, "index %" PRId64 " of dimension %" PRId64 " of '%.*s' is "
        "computed in int32, which ends at 2147483647", n->x[1], n->x[0],
        TEXT_ARG(name_of(r, n->buffer)));
    note_when(r, f, n);
    f->fix = TEXT("compute it in 64 bits: T.cast(..., \"int64\")");
}

// ---- what interp itself found --------------------------------------------

// The accesses of a block's memory at a place, of which one is at fault.
static void add_interp_facts(const Report *r, CheckFinding *f)
{
    const InstrList *body = &r->k->code->launch[f->launch].body;

    for (int i = 0; i < body->len; i++) {
        const Access *a = access_at(r, f->launch, i);
        Span at = span_of(r, f->launch, i);

        if (a && at.file == f->at.file && at.begin == f->at.begin &&
            at.end == f->at.end && !is_global(r, a->buffer))
            add_fact(r, f, a->buffer, at,
                     is_store_at(r, f->launch, i) ? FACT_SKIPPED : FACT_PLAIN);
    }
}

static void report_interp(Report *r)
{
    for (int i = 0; i < r->r->finding_count; i++) {
        const InterpFinding *x = &r->r->findings[i];
        FindingId id;
        CheckFinding *f;

        if (!finding_find(text_of(x->id), &id))
            BUG("no finding '%s'", x->id);
        f = add_finding(r, id, x->at);
        f->message = text_copy(r->a, text_of(x->message));
        f->count = x->count;
        f->launch = x->launch;
        f->block = x->block;
        if (id == FINDING_OUT_OF_BOUNDS)
            add_interp_facts(r, f);
    }
}

// ---- work ----------------------------------------------------------------

static void report_idle(Report *r)
{
    const InterpResult *x = r->r;
    CheckFinding *f;

    if (!x->idle_blocks || x->cancelled || r->k->options.some_blocks)
        return;
    f = add_finding(r, FINDING_IDLE_BLOCKS, r->k->code->launch[0].at);
    f->message = text_format(r->a, "%" PRId64 " of %" PRId64 " blocks store "
                             "nothing to global memory", x->idle_blocks,
                             x->blocks_total);
    f->count = 1;
}

// ---- all -----------------------------------------------------------------

static bool wants(const Report *r, FindingId id)
{
    return r->k->options.groups >> finding_info(id)->group & 1;
}

static int by_place(const void *a, const void *b)
{
    const CheckFinding *x = a, *y = b;

    if (x->at.file != y->at.file)
        return x->at.file < y->at.file ? -1 : 1;
    if (x->at.begin != y->at.begin)
        return x->at.begin < y->at.begin ? -1 : 1;
    return x->id != y->id ? (x->id < y->id ? -1 : 1)
                          : text_compare(x->message, y->message);
}

static void keep_wanted(Report *r)
{
    int kept = 0;

    for (int i = 0; i < r->out->len; i++)
        if (wants(r, r->out->at[i].id))
            r->out->at[kept++] = r->out->at[i];
    r->out->len = kept;
    if (kept)
        qsort(r->out->at, (size_t)kept, sizeof *r->out->at, by_place);
}

// Threads that wait for ever are why elements are not written.
static bool is_stuck(const InterpResult *result)
{
    for (int i = 0; i < result->finding_count; i++)
        if (!strcmp(result->findings[i].id, "threads-stuck"))
            return true;
    return false;
}

void report_all(Check *k, Arena *a, const InterpResult *result,
                CheckFindings *out)
{
    Note *notes;
    Report r = {.k = k, .a = a, .r = result, .out = out};

    r.count = merge_notes(k, &notes);
    r.notes = notes;
    if (k->tracing) {
        report_values(&r);
        free(notes);
        return;
    }
    report_interp(&r);
    report_dead_stores(&r);
    report_idle(&r);
    for (int i = 0; i < k->code->buffer_count; i++) {
        report_origin(&r, i);
        if (k->code->buffer[i].place == BUFFER_PARAM &&
            k->code->buffer[i].root == i && k->global[i].at &&
            k->empty[k->code->buffer[i].param] && !k->options.some_blocks &&
            !result->cancelled && !is_stuck(result))
            report_unwritten(&r, i);
    }
    for (int i = 0; i < r.count; i++)
        if (notes[i].kind == NOTE_CONFLICT)
            report_conflict(&r, &notes[i]);
        else if (notes[i].kind == NOTE_RACE)
            report_race(&r, &notes[i]);
        else if (notes[i].kind == NOTE_RACE_BLOCKS)
            report_race_blocks(&r, &notes[i]);
        else if (notes[i].kind == NOTE_INDEX || notes[i].kind == NOTE_TAIL)
            report_index(&r, &notes[i]);
        else if (notes[i].kind == NOTE_OVERFLOW)
            report_overflow(&r, &notes[i]);
        else if (notes[i].kind == NOTE_ALIGN)
            report_align(&r, &notes[i]);
    report_wraps(&r);
    report_order(&r);
    report_barriers(&r, is_stuck(result));
    free(notes);
    keep_wanted(&r);
}
