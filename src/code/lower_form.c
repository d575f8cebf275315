// lower_form.c - integer expressions that are affine in slots and lanes.
//
// Indices and bounds are mostly sums of loop variables with constant factors.
// Kept as a Form they cost one instruction, their range can be bounded, and a
// T.Parallel sees by what step an access moves. All of it in int64: an index
// does not wrap where the program's int32 would.
#include "code/code_int.h"

#include <string.h>

Range range_of(int64_t low, int64_t high)
{
    return (Range){.known = low <= high, .low = low, .high = high};
}

Range range_sum(Range a, Range b)
{
    Range r = {.known = a.known && b.known};

    if (r.known)
        r.known = !__builtin_add_overflow(a.low, b.low, &r.low) &&
                  !__builtin_add_overflow(a.high, b.high, &r.high);
    return r;
}

Range range_scaled(Range a, int64_t factor)
{
    Range r = {.known = a.known};

    if (factor == 0)
        return range_of(0, 0);
    if (r.known)
        r.known = !__builtin_mul_overflow(a.low, factor, &r.low) &&
                  !__builtin_mul_overflow(a.high, factor, &r.high);
    if (factor < 0)
        r = (Range){r.known, r.high, r.low};
    return r;
}

Form form_const(int64_t v)
{
    return (Form){.base = v, .lanes = {.reg = -1}};
}

Form form_slot(int slot)
{
    return (Form){.count = 1, .term[0] = {slot, 1}, .lanes = {.reg = -1}};
}

static bool is_const(const Form *f)
{
    return !f->count && !f->row && !f->col && f->lanes.reg < 0;
}

static bool add_term(Form *f, AffineTerm t)
{
    for (int i = 0; i < f->count; i++)
        if (f->term[i].slot == t.slot) {
            if (__builtin_add_overflow(f->term[i].factor, t.factor,
                                       &f->term[i].factor))
                return false;
            if (!f->term[i].factor)
                f->term[i] = f->term[--f->count];
            return true;
        }
    if (f->count == FORM_TERMS)
        return false;
    f->term[f->count++] = t;
    return true;
}

// a += factor * b where neither has lanes; false on overflow, a is spoilt.
static bool add_symbolic(Form *a, const Form *b, int64_t factor)
{
    int64_t t;

    if (__builtin_mul_overflow(b->base, factor, &t) ||
        __builtin_add_overflow(a->base, t, &a->base) ||
        __builtin_mul_overflow(b->row, factor, &t) ||
        __builtin_add_overflow(a->row, t, &a->row) ||
        __builtin_mul_overflow(b->col, factor, &t) ||
        __builtin_add_overflow(a->col, t, &a->col))
        return false;
    for (int i = 0; i < b->count; i++) {
        AffineTerm term = b->term[i];

        if (__builtin_mul_overflow(term.factor, factor, &term.factor) ||
            !add_term(a, term))
            return false;
    }
    return true;
}

static Val scaled_lanes(Lower *l, Val v, int64_t factor)
{
    Val args[2] = {v};

    if (factor == 1)
        return v;
    args[1] = slot_value(int_slot(l, DT_I64, factor), DT_I64);
    return apply(l, LANE_OP_MUL, DT_I64, DT_I64, args, 2);
}

static Val sum_lanes(Lower *l, Val a, Val b)
{
    Val args[2] = {a, b};

    return apply(l, LANE_OP_ADD, DT_I64, DT_I64, args, 2);
}

// All of f as lanes of int64.
static void make_lanes(Lower *l, Form *f)
{
    Val v = form_value(l, f, DT_I64);

    *f = form_const(0);
    f->lanes = promote(l, v, v.level == AT_SLOT ? AT_LANES : v.level);
}

bool form_add(Lower *l, Form *a, const Form *b, int64_t factor)
{
    Form sum = *a, other = *b;
    Val lanes = {.reg = -1};

    a->wide = sum.wide = a->wide || b->wide;
    sum.lanes.reg = other.lanes.reg = -1;
    if (!add_symbolic(&sum, &other, factor)) {
        // Too many terms or overflow: go on with numbers, which wrap.
        make_lanes(l, a);
        other = *b;
        make_lanes(l, &other);
        a->lanes = sum_lanes(l, a->lanes, scaled_lanes(l, other.lanes, factor));
        return !l->failed;
    }
    if (b->lanes.reg >= 0)
        lanes = scaled_lanes(l, b->lanes, factor);
    if (a->lanes.reg >= 0)
        lanes = lanes.reg >= 0 ? sum_lanes(l, a->lanes, lanes) : a->lanes;
    *a = sum;
    a->lanes = lanes;
    return !l->failed;
}

static bool is_affine_op(const IrExpr *e)
{
    return e->kind == EXPR_OP && is_signed_index(e->dtype) &&
           (e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL ||
            e->op == OP_NEG);
}

static bool is_index_cast(const IrExpr *e)
{
    return e->kind == EXPR_CAST && is_signed_index(e->dtype) &&
           is_signed_index(e->args[0]->dtype);
}

static const Binding *binding_of(const Lower *l, const IrExpr *e)
{
    return e->kind == EXPR_VAR ? &l->binding[e->var->id] : NULL;
}

static bool is_scaling(const IrExpr *e, int64_t *factor, const IrExpr **rest)
{
    for (int i = 0; i < 2; i++)
        if (ir_is_int(e->args[i], factor)) {
            *rest = e->args[1 - i];
            return true;
        }
    return false;
}

static bool is_pure_at(const Lower *l, const IrExpr *e, int depth)
{
    const Binding *b = binding_of(l, e);
    const IrExpr *rest;
    int64_t factor;

    if (depth > DEPTH_LIMIT || (b && b->by_thread && !in_thread_code(l)))
        return false;
    if (e->kind == EXPR_OP && e->op == OP_GET_THREAD_BINDING)
        return in_thread_code(l) && l->thread_index[0].dtype == DT_NONE;
    if (e->kind == EXPR_INT)
        return is_signed_index(e->dtype);
    if (b)
        return b->kind == BIND_FORM ||
               (b->kind == BIND_VAL && b->val.level == AT_SLOT &&
                is_signed_index(b->val.dtype));
    if (is_index_cast(e))
        return e->dtype == DT_I64 && is_pure_at(l, e->args[0], depth + 1);
    if (!is_affine_op(e))
        return false;
    if (e->op == OP_NEG)
        return is_pure_at(l, e->args[0], depth + 1);
    if (e->op == OP_MUL)
        return is_scaling(e, &factor, &rest) && is_pure_at(l, rest, depth + 1);
    return is_pure_at(l, e->args[0], depth + 1) &&
           is_pure_at(l, e->args[1], depth + 1);
}

bool form_is_pure(const Lower *l, const IrExpr *e)
{
    return is_pure_at(l, e, 0);
}

// Not affine: a number computed the ordinary way.
static bool form_of_value(Lower *l, const IrExpr *e, Form *out)
{
    Val v = value_of(l, e);

    if (l->failed)
        return false;
    if (v.level == AT_SLOT) {
        *out = form_slot(v.reg);
        return true;
    }
    *out = form_const(0);
    out->lanes = cast_value(l, v, DT_I64, true);
    return !l->failed;
}

static bool form_of_var(Lower *l, const IrExpr *e, Form *out)
{
    const Binding *b = binding_of(l, e);

    if (b->kind == BIND_FORM && (!b->by_thread || in_thread_code(l))) {
        *out = *b->form;
        return true;
    }
    return form_of_value(l, e, out);
}

static bool form_of_sum(Lower *l, const IrExpr *e, Form *out)
{
    Form right;

    if (e->op == OP_NEG) {
        *out = form_const(0);
        return form_of(l, e->args[0], &right) && form_add(l, out, &right, -1);
    }
    return form_of(l, e->args[0], out) && form_of(l, e->args[1], &right) &&
           form_add(l, out, &right, e->op == OP_SUB ? -1 : 1);
}

static bool form_of_product(Lower *l, const IrExpr *e, Form *out)
{
    const IrExpr *rest;
    int64_t factor;
    Form f;

    if (!is_scaling(e, &factor, &rest))
        return form_of_value(l, e, out);
    *out = form_const(0);
    return form_of(l, rest, &f) && form_add(l, out, &f, factor);
}

bool form_of(Lower *l, const IrExpr *e, Form *out)
{
    bool ok;

    *out = form_const(0);
    if (++l->depth > DEPTH_LIMIT) {
        unsupported(l, "an expression is nested more than %d deep",
                    DEPTH_LIMIT);
        ok = false;
    } else if (e->kind == EXPR_INT) {
        *out = form_const(e->i64);
        ok = true;
    } else if (e->kind == EXPR_VAR) {
        ok = form_of_var(l, e, out);
    } else if (is_index_cast(e)) {
        ok = form_of(l, e->args[0], out);
    } else if (e->kind == EXPR_OP && e->op == OP_GET_THREAD_BINDING &&
               in_thread_code(l) && thread_form(l, e, out)) {
        ok = true;
    } else if (is_affine_op(e)) {
        ok = e->op == OP_MUL ? form_of_product(l, e, out)
                             : form_of_sum(l, e, out);
    } else {
        ok = form_of_value(l, e, out);
    }
    l->depth--;
    out->wide |= dtype_info(e->dtype)->bits == 64;
    return ok && !l->failed;
}

static Range coordinate_range(int64_t extent)
{
    return extent > 0 ? range_of(0, extent - 1) : (Range){.known = false};
}

Range form_range(Lower *l, const Form *f)
{
    Range r = range_of(f->base, f->base);

    if (f->lanes.reg >= 0)
        return (Range){.known = false};
    for (int i = 0; i < f->count; i++)
        r = range_sum(r, range_scaled(l->fact.at[f->term[i].slot].range,
                                      f->term[i].factor));
    if (f->row)
        r = range_sum(
            r, range_scaled(coordinate_range(l->par->row_extent), f->row));
    if (f->col)
        r = range_sum(
            r, range_scaled(coordinate_range(l->par->col_extent), f->col));
    return r;
}

uint8_t form_taint(const Lower *l, const Form *f)
{
    uint8_t taint = f->lanes.reg >= 0 ? taint_of(l, &f->lanes, 1) : 0;

    for (int i = 0; i < f->count; i++)
        taint |= l->fact.at[f->term[i].slot].taint;
    return taint;
}

static int add_affine(Lower *l, const Form *f)
{
    Affine a = {
        .base = f->base, .count = f->count, .row = f->row, .col = f->col};

    a.term = new_array(l->arena, AffineTerm, (size_t)f->count);
    memcpy(a.term, f->term, sizeof(AffineTerm) * (size_t)f->count);
    vec_push(l->arena, &l->affine, a);
    return l->affine.len - 1;
}

// Coordinates of the T.Parallel itself are body slots too.
static bool form_in_body(const Lower *l, const Form *f)
{
    for (int i = 0; i < f->count; i++)
        if (in_body(l, f->term[i].slot))
            return true;
    return false;
}

static Range dtype_range(DType t)
{
    return t == DT_I32 ? range_of(INT32_MIN, INT32_MAX)
                       : range_of(INT64_MIN, INT64_MAX);
}

// The scalar part of f as a slot of dtype t (int32 wraps).
static int scalar_part(Lower *l, const Form *f, DType t)
{
    Form s = *f;
    Range fits = dtype_range(t), r;
    int slot;
    bool wraps;

    s.row = s.col = 0;
    s.lanes.reg = -1;
    r = form_range(l, &s);
    wraps = !(r.known && r.low >= fits.low && r.high <= fits.high);
    if (!s.count)
        return int_slot(l, t, t == DT_I32 ? (int32_t)s.base : s.base);
    if (s.count == 1 && s.term[0].factor == 1 && !s.base &&
        (t == DT_I64 || !wraps))
        return s.term[0].slot;
    slot = scalar_instr(
        l,
        (Instr){
            .op = INSTR_AFFINE, .dtype = (uint8_t)t, .a = add_affine(l, &s)},
        !form_in_body(l, &s));
    l->fact.at[slot].taint = form_taint(l, &s);
    if (!wraps)
        l->fact.at[slot].range = r;
    return slot;
}

int form_base_slot(Lower *l, const Form *f)
{
    return scalar_part(l, f, DT_I64);
}

static Val coordinate_lanes(Lower *l, const Form *f, DType t)
{
    bool row = !f->col;
    int base = scalar_part(l, f, DT_I64);
    Form steps = {.row = f->row, .col = f->col};
    Val v = {row ? AT_ROW : AT_LANES, new_reg(l, false), t, true,
             form_taint(l, f)};

    emit(l, (Instr){.op = INSTR_VAFFINE,
                    .flags = row ? INSTR_ROW : 0,
                    .type = (uint8_t)lane_type_of(t),
                    .d = v.reg,
                    .a = base,
                    .b = add_affine(l, &steps)});
    return v;
}

Val form_value(Lower *l, const Form *f, DType t)
{
    Val v;
    Form rest = *f;

    rest.lanes.reg = -1;
    if (f->lanes.reg < 0 && !f->row && !f->col)
        return slot_value(scalar_part(l, f, t), t);
    if (f->lanes.reg < 0)
        return coordinate_lanes(l, f, t);
    v = f->lanes;
    if (!is_const(&rest) || rest.base)
        v = sum_lanes(l, v, form_value(l, &rest, DT_I64));
    return cast_value(l, v, t, true);
}
