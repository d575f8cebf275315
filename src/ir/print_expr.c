// print_expr.c - expressions, regions and attribute values as text.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/text_int.h"

// ---- literals ---------------------------------------------------------------

static void print_suffix(TextBuf *out, DType t, DType usual)
{
    if (t != usual)
        buf_printf(out, "_%s", dtype_info(t)->brief);
}

// The shortest decimal text that reads back as v; it always looks like a float.
static void print_real(TextBuf *out, double v)
{
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    if (isnan(v))
        snprintf(text, sizeof text, "nan");
    buf_puts(out, text);
    if (!strpbrk(text, ".einf"))
        buf_puts(out, ".0");
}

static void print_int(TextBuf *out, const IrExpr *e)
{
    if (e->dtype == DT_BOOL) {
        buf_puts(out, e->i64 ? "True" : "False");
        return;
    }
    if (dtype_info(e->dtype)->kind == KIND_UINT)
        buf_printf(out, "%llu", (unsigned long long)e->i64);
    else
        buf_printf(out, "%lld", (long long)e->i64);
    print_suffix(out, e->dtype, DT_I32);
}

static bool is_negative_literal(const IrExpr *e)
{
    return (e->kind == EXPR_INT && e->i64 < 0 &&
            dtype_info(e->dtype)->kind == KIND_INT) ||
           (e->kind == EXPR_FLOAT && signbit(e->f64) && !isnan(e->f64));
}

// ---- expressions ------------------------------------------------------------

static int precedence(const IrExpr *e)
{
    if (is_negative_literal(e))
        return PRECEDENCE_UNARY;
    if (e->kind != EXPR_OP)
        return PRECEDENCE_PRIMARY;
    if (e->op == OP_NOT)
        return 3;
    if (e->op == OP_NEG || e->op == OP_BITNOT)
        return PRECEDENCE_UNARY;
    int infix = infix_precedence(e->op);
    return infix ? infix : PRECEDENCE_PRIMARY;
}

static void print_within(const Printer *p, const IrExpr *e, int least)
{
    bool parens = precedence(e) < least;
    if (parens)
        buf_addc(p->out, '(');
    print_expr(p, e);
    if (parens)
        buf_addc(p->out, ')');
}

void print_exprs(const Printer *p, IrExpr *const *e, int n)
{
    for (int i = 0; i < n; i++) {
        if (i)
            buf_puts(p->out, ", ");
        print_expr(p, e[i]);
    }
}

static void print_call(const Printer *p, const char *name, const IrExpr *e)
{
    buf_printf(p->out, "%s(", name);
    print_exprs(p, e->args, e->count);
    buf_addc(p->out, ')');
}

static void print_infix(const Printer *p, const IrExpr *e, int level)
{
    // comparisons do not chain, powers take primaries
    bool tight = level == 4 || e->op == OP_POW;
    int left = e->op == OP_POW ? PRECEDENCE_PRIMARY : level + tight;
    print_within(p, e->args[0], left);
    buf_printf(p->out, " %s ", op_spelling(e->op));
    print_within(p, e->args[1],
                 e->op == OP_POW ? PRECEDENCE_PRIMARY : level + 1);
}

static void print_op(const Printer *p, const IrExpr *e)
{
    int infix = infix_precedence(e->op);
    if (infix) {
        print_infix(p, e, infix);
    } else if (e->op == OP_NOT) {
        buf_puts(p->out, "not ");
        print_within(p, e->args[0], 4);
    } else if (e->op == OP_NEG || e->op == OP_BITNOT) {
        buf_addc(p->out, e->op == OP_NEG ? '-' : '~');
        // a literal would become a negative literal
        bool literal = e->args[0]->kind == EXPR_INT ||
                       e->args[0]->kind == EXPR_FLOAT;
        print_within(p, e->args[0], literal ? PRECEDENCE_PRIMARY + 1
                                            : PRECEDENCE_UNARY);
    } else {
        print_call(p, op_spelling(e->op), e);
    }
}

static void print_indexed(const Printer *p, const IrBuffer *b,
                          IrExpr *const *index, int n)
{
    spell_buffer(p->out, p->names, b);
    buf_addc(p->out, '[');
    print_exprs(p, index, n);
    buf_addc(p->out, ']');
}

static void print_cast(const Printer *p, const IrExpr *e)
{
    buf_printf(p->out, "%s(", dtype_info(e->dtype)->name);
    print_expr(p, e->args[0]);
    buf_puts(p->out, e->sat ? ")" : ", sat=False)");
}

static void print_atomic(const Printer *p, const IrExpr *e)
{
    const IrExpr *value = ir_atomic_value(e);
    buf_printf(p->out, "%s(", op_spelling(e->op));
    print_indexed(p, e->buffer, e->args, e->count - (value != NULL));
    if (value) {
        buf_puts(p->out, ", ");
        print_expr(p, value);
    }
    buf_addc(p->out, ')');
}

void print_expr(const Printer *p, const IrExpr *e)
{
    switch (e->kind) {
    case EXPR_INT:
        print_int(p->out, e);
        break;
    case EXPR_FLOAT:
        print_real(p->out, e->f64);
        print_suffix(p->out, e->dtype, DT_F32);
        break;
    case EXPR_VAR:
        spell_var(p->out, p->names, e->var);
        break;
    case EXPR_LOAD:
        print_indexed(p, e->buffer, e->args, e->count);
        break;
    case EXPR_OP:
        print_op(p, e);
        break;
    case EXPR_CAST:
        print_cast(p, e);
        break;
    case EXPR_SELECT:
        print_call(p, "T.if_then_else", e);
        break;
    case EXPR_REINTERPRET:
        buf_puts(p->out, "T.reinterpret(");
        print_expr(p, e->args[0]);
        buf_printf(p->out, ", %s)", dtype_info(e->dtype)->name);
        break;
    case EXPR_ATOMIC:
        print_atomic(p, e);
        break;
    }
}

void ir_print_expr(TextBuf *out, const IrExpr *e)
{
    print_expr(&(Printer){.out = out}, e);
}

// ---- regions: min:+extent ---------------------------------------------------

static void print_slice(const Printer *p, const IrRegion *r, int d)
{
    print_expr(p, r->min[d]);
    if (!r->extent[d])
        return;
    buf_puts(p->out, ":+");
    print_expr(p, r->extent[d]);
    if (r->step[d] != 1)
        buf_printf(p->out, ":%lld", (long long)r->step[d]);
}

void print_region(const Printer *p, const IrRegion *r)
{
    spell_buffer(p->out, p->names, r->buffer);
    if (r->form == REGION_WHOLE)
        return;
    buf_addc(p->out, '[');
    for (int d = 0; d < r->buffer->rank; d++) {
        if (d)
            buf_puts(p->out, ", ");
        print_slice(p, r, d);
    }
    buf_addc(p->out, ']');
}

// ---- attributes -------------------------------------------------------------

static void print_map_inputs(const Printer *p, const IrIndexMap *m)
{
    buf_addc(p->out, '[');
    for (int i = 0; i < m->in_rank; i++) {
        if (i)
            buf_puts(p->out, ", ");
        if (m->in[i]) {
            spell_var(p->out, p->names, m->in[i]);
            buf_puts(p->out, " < ");
        }
        print_expr(p, m->in_shape[i]);
    }
    buf_addc(p->out, ']');
}

void print_index_map(const Printer *p, const IrIndexMap *m)
{
    buf_puts(p->out, "layout(");
    if (m->maker.len) {
        print_string(p->out, m->maker);
        buf_puts(p->out, ", ");
    }
    print_map_inputs(p, m);
    if (m->out_rank) {
        buf_puts(p->out, " -> [");
        print_exprs(p, m->out, m->out_rank);
        buf_addc(p->out, ']');
    }
    if (m->thread) {
        buf_puts(p->out, ", thread=");
        print_expr(p, m->thread);
    }
    if (m->replicate != 1)
        buf_printf(p->out, ", replicate=%lld", (long long)m->replicate);
    if (m->replica) {
        buf_puts(p->out, ", replica=");
        spell_var(p->out, p->names, m->replica);
    }
    buf_addc(p->out, ')');
}

static void print_list(const Printer *p, const IrAttrValue *v)
{
    bool dict = v->kind == ATTRVAL_DICT;
    buf_addc(p->out, dict ? '{' : '[');
    for (int i = 0; i < v->list.len; i++) {
        if (i)
            buf_puts(p->out, dict && i % 2 ? ": " : ", ");
        print_attr_value(p, &v->list.at[i]);
    }
    buf_addc(p->out, dict ? '}' : ']');
}

void print_attr_value(const Printer *p, const IrAttrValue *v)
{
    switch (v->kind) {
    case ATTRVAL_NONE:
        buf_puts(p->out, "None");
        break;
    case ATTRVAL_INT:
        buf_printf(p->out, "%lld", (long long)v->i64);
        break;
    case ATTRVAL_BOOL:
        buf_puts(p->out, v->i64 ? "True" : "False");
        break;
    case ATTRVAL_FLOAT:
        print_real(p->out, v->f64);
        break;
    case ATTRVAL_TEXT:
        print_string(p->out, v->text);
        break;
    case ATTRVAL_EXPR:
        buf_addc(p->out, '(');
        print_expr(p, v->expr);
        buf_addc(p->out, ')');
        break;
    case ATTRVAL_LAYOUT:
        print_index_map(p, v->layout);
        break;
    case ATTRVAL_LIST: case ATTRVAL_DICT:
        print_list(p, v);
        break;
    }
}
