// report_values.c - what a trace found, in people's words.
#include "check/check_int.h"

#include <math.h>
#include <string.h>

static double kept_double(const Note *n, int at)
{
    double v;

    memcpy(&v, &n->x[at], sizeof v);
    return v;
}

static void put_number(TextBuf *b, double v)
{
    if (isnan(v))
        buf_puts(b, "nan");
    else if (isinf(v))
        buf_puts(b, v < 0 ? "(-inf)" : "inf");
    else
        buf_printf(b, v < 0 ? "(%.9g)" : "%.9g", v);
}

static const Instr *instr_of(const Report *r, const Note *n)
{
    return &r->k->code->launch[n->launch].body.code[n->a];
}

// "(-inf) - (-inf)", "float16 of 70000", "exp2(129)"
static void put_operation(const Report *r, TextBuf *b, const Note *n)
{
    static const struct {
        LaneOp op;
        const char *sign;
    } signs[] = {{LANE_OP_ADD, "+"}, {LANE_OP_SUB, "-"}, {LANE_OP_MUL, "*"},
                 {LANE_OP_DIV, "/"}};
    const Instr *i = instr_of(r, n);
    const LaneOpInfo *info = lane_op_info((LaneOp)i->lane);
    const char *sign = NULL;

    if (i->op == INSTR_GEMM || i->op == INSTR_REDUCE) {
        buf_puts(b, i->op == INSTR_GEMM ? "the product" : "the reduction");
        return;
    }
    if (i->op != INSTR_VOP && i->op != INSTR_OP) {
        buf_printf(b, "%s of ", dtype_info((DType)i->dtype)->name);
        put_number(b, kept_double(n, 0));
        return;
    }
    for (size_t j = 0; j < countof(signs); j++)
        if (signs[j].op == (LaneOp)i->lane)
            sign = signs[j].sign;
    if (!sign)
        buf_printf(b, "%s(", info->name);
    put_number(b, kept_double(n, 0));
    if (info->arity > 1) {
        buf_printf(b, sign ? " %s " : "%s", sign ? sign : ", ");
        put_number(b, kept_double(n, 1));
    }
    buf_puts(b, sign ? "" : ")");
}

static const Note *begin_of(const Report *r, int origin)
{
    for (int i = 0; i < r->count; i++)
        if (r->notes[i].kind == NOTE_BEGIN && r->notes[i].buffer == origin)
            return &r->notes[i];
    return NULL;
}

static void report_begin(Report *r, const Note *n)
{
    double result = kept_double(n, 2);
    CheckFinding *f =
        add_finding(r, isnan(result) ? FINDING_NAN : FINDING_OVERFLOW,
                    span_of(r, n->launch, n->a));
    TextBuf b = {0};

    put_operation(r, &b, n);
    buf_puts(&b, " is ");
    put_number(&b, result);
    buf_puts(&b, ", which reaches an output");
    f->message = text_copy(r->a, buf_view(&b));
    buf_release(&b);
    f->count = n->count;
    note_when(r, f, n);
    note_way(r, f, n->buffer);
    for (int i = 0; i < r->count; i++) {
        const Note *o = &r->notes[i];

        if (o->kind != NOTE_OUTPUT || o->buffer != n->buffer)
            continue;
        buf_grouped(&b, o->count);
        buf_printf(&b, " element%s of '%.*s' in this block",
                   o->count == 1 ? "" : "s",
                   TEXT_ARG(name_of(r, (int)o->x[0])));
        add_note(r, f, span_of(r, o->launch, o->a), &b);
    }
}

// Origins of which something was stored, each once.
void report_values(Report *r)
{
    bool told[SHADE_ORIGIN + 1] = {false};

    for (int i = 0; i < r->count; i++) {
        const Note *n = &r->notes[i];

        if (n->kind != NOTE_OUTPUT || told[n->buffer] ||
            !begin_of(r, n->buffer))
            continue;
        told[n->buffer] = true;
        report_begin(r, begin_of(r, n->buffer));
    }
}
