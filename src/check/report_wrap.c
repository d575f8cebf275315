// report_wrap.c - numbers that wrapped and did harm, in people's words.
#include "check/wrap_int.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const Instr *instr_of(const Report *r, const Note *n)
{
    return &r->k->code->launch[n->launch].body.code[n->a];
}

static void put_number(TextBuf *b, int64_t v)
{
    buf_printf(b, v < 0 ? "(%" PRId64 ")" : "%" PRId64, v);
}

// Sums of tiles may be larger than what a note holds.
static void put_result(TextBuf *b, int64_t v)
{
    if (v == INT64_MAX || v == INT64_MIN)
        buf_puts(b, v < 0 ? "less than -2^63" : "more than 2^63");
    else
        buf_printf(b, "%" PRId64, v);
}

static void put_float(TextBuf *b, int64_t bits)
{
    double v;

    memcpy(&v, &bits, sizeof v);
    if (isnan(v))
        buf_puts(b, "nan");
    else
        buf_printf(b, "%.9g", v);
}

// "2147483647 + 1", or of two operands the function
static void put_operation(TextBuf *b, const Instr *i, const Note *n)
{
    LaneOp op = (LaneOp)i->lane;
    const char *sign = op == LANE_OP_ADD   ? " + "
                       : op == LANE_OP_SUB ? " - "
                       : op == LANE_OP_MUL ? " * "
                       : op == LANE_OP_SHL ? " << "
                       : op == LANE_OP_SHR ? " >> "
                                           : " / ";

    if (op == LANE_OP_ABS || op == LANE_OP_NEG) {
        buf_puts(b, op == LANE_OP_ABS ? "the magnitude of " : "-");
        put_number(b, n->x[0]);
        return;
    }
    put_number(b, n->x[0]);
    buf_puts(b, sign);
    put_number(b, n->x[1]);
}

static void put_sum(TextBuf *b, const char *what, const Note *n)
{
    if (n->x[0])
        buf_printf(b, "%s adds %" PRId64 " to %" PRId64 ": ", what, n->x[1],
                   n->x[0]);
    else
        buf_printf(b, "%s is ", what);
    put_result(b, n->x[2]);
}

static void put_message(const Report *r, TextBuf *b, const Note *n)
{
    const WrapSite *w = &r->k->wraps->site[n->launch][n->a];
    const char *type = dtype_info((DType)w->dtype)->name;
    const Instr *i = instr_of(r, n);

    switch ((WrapKind)w->kind) {
    case WRAP_OP:
        put_operation(b, i, n);
        buf_puts(b, " is ");
        put_result(b, n->x[2]);
        break;
    case WRAP_SHIFT:
        put_operation(b, i, n);
        buf_printf(b, ": a shift of %s takes 0 to %d bits", type,
                   8 * (int)lane_bytes((LaneType)i->type) - 1);
        return;
    case WRAP_FLOAT:
        put_float(b, n->x[0]);
        buf_printf(b, " is converted to %s", type);
        break;
    case WRAP_CAST:
        buf_printf(b, "%" PRId64 " is converted to %s", n->x[0], type);
        break;
    case WRAP_GEMM:
        put_sum(b, "the product", n);
        break;
    case WRAP_REDUCE:
        put_sum(b, "the reduction", n);
        break;
    case WRAP_SCAN:
    case WRAP_ATOMIC:
        put_sum(b, w->kind == WRAP_SCAN ? "the running sum" : "this", n);
        break;
    default:
        buf_puts(b, w->kind == WRAP_WARP ? "the sum of the lanes is "
                                         : "the result is ");
        put_result(b, n->x[2]);
        break;
    }
    if (w->kind == WRAP_CAST || w->kind == WRAP_FLOAT)
        buf_puts(b, ", which cannot hold it");
    else
        buf_printf(b, ", which %s cannot hold", type);
}

static bool is_sink(const Note *n)
{
    return n->kind == NOTE_OUTPUT || n->kind == NOTE_ADDRESS ||
           n->kind == NOTE_BRANCH;
}

static void note_sinks(const Report *r, CheckFinding *f, int origin)
{
    TextBuf b = {0};

    for (int i = 0; i < r->count; i++) {
        const Note *n = &r->notes[i];

        if (n->buffer != origin - 1 || !is_sink(n))
            continue;
        if (n->kind == NOTE_OUTPUT) {
            buf_puts(&b, "reaches ");
            put_count(&b, n->count, "element");
            buf_printf(&b, " of '%.*s' here",
                       TEXT_ARG(name_of(r, (int)n->x[0])));
        } else {
            buf_puts(&b, n->kind == NOTE_ADDRESS ? "is used as an index here, "
                                                 : "decides what is done here, ");
            put_count(&b, n->count, "time");
        }
        add_note(r, f, span_of(r, n->launch, n->a), &b);
        if (n->kind != NOTE_OUTPUT && access_at(r, n->launch, n->a))
            add_fact(r, f, access_at(r, n->launch, n->a)->buffer,
                     span_of(r, n->launch, n->a), FACT_INDEX);
    }
}

static const char *remedy(WrapKind kind)
{
    switch (kind) {
    case WRAP_SHIFT:
        return "test the count before it is used";
    case WRAP_FLOAT:
    case WRAP_CAST:
        return "clamp it to the type's limits first: T.clamp(x, low, high)";
    default:
        return "compute it in a wider type: T.cast(x, \"int64\"), or in an "
               "unsigned one if it is meant to wrap";
    }
}

static void report_place(Report *r, const Note *n, int origin)
{
    WrapKind kind = r->k->wraps->site[n->launch][n->a].kind;
    bool narrows = kind == WRAP_CAST || kind == WRAP_FLOAT;
    CheckFinding *f = add_finding(r, narrows ? FINDING_NARROWING
                                             : FINDING_INT_OVERFLOW,
                                  span_of(r, n->launch, n->a));
    TextBuf b = {0};

    put_message(r, &b, n);
    f->message = text_copy(r->a, buf_view(&b));
    buf_release(&b);
    f->count = n->count;
    note_when(r, f, n);
    note_way(r, f, origin - 1);
    note_sinks(r, f, origin);
    f->fix = text_of(remedy(kind));
}

static const Note *begin_of(const Report *r, int launch, int pc)
{
    for (int i = 0; i < r->count; i++)
        if (r->notes[i].kind == NOTE_WRAP && r->notes[i].launch == launch &&
            r->notes[i].a == pc)
            return &r->notes[i];
    return NULL;
}

void report_wraps(Report *r)
{
    for (int o = 0; r->k->wraps && o <= SHADE_ORIGIN; o++) {
        bool harm = false, meant = false;
        int launch, pc;

        if (!wrap_place(r->k, o, &launch, &pc))
            continue;
        for (int i = 0; i < r->count; i++)
            if (r->notes[i].buffer == o - 1) {
                harm |= is_sink(&r->notes[i]);
                meant |= r->notes[i].kind == NOTE_BITS;
            }
        if (harm && !meant && begin_of(r, launch, pc))
            report_place(r, begin_of(r, launch, pc), o);
    }
}
