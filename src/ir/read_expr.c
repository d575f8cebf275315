// read_expr.c - expressions, regions and attribute values of the text form.
#include <math.h>

#include "ir/text_int.h"

// Builders have reported: stop.
static IrExpr *built(Reader *r, IrExpr *e)
{
    if (!e && !r->failed) {
        r->failed = true;
        r->pos = r->text.len;
        r->word.kind = WORD_END;
    }
    return r->failed ? NULL : e;
}

// ---- literals ---------------------------------------------------------------

static IrExpr *int_literal(Reader *r, Word w, bool negative)
{
    DType t = w.suffix == DT_NONE ? DT_I32 : w.suffix;
    if (dtype_is_float(t) || !dtype_usable(r->k, t, w.at))
        return reader_fail(r, "an integer needs an integer dtype");
    Wide v = negative ? -(Wide)w.magnitude : (Wide)w.magnitude;
    return built(r, int_const(r->k, t, v, w.at));
}

static IrExpr *literal(Reader *r, bool negative)
{
    Word w = r->word;
    reader_next(r);
    if (w.kind == WORD_INT)
        return int_literal(r, w, negative);
    DType t = w.suffix == DT_NONE ? DT_F32 : w.suffix;
    if (!dtype_is_float(t))
        return reader_fail(r, "a float needs a float dtype");
    return built(r, ir_float(r->k, t, negative ? -w.real : w.real, w.at));
}

// "inf", "nan", "inf_f16": turns the NAME ahead into a FLOAT.
static bool special_float(Reader *r)
{
    Text t = r->word.text;
    bool inf = text_is(t, "inf") || text_starts(t, "inf_");
    if (r->word.kind != WORD_NAME ||
        (!inf && !text_is(t, "nan") && !text_starts(t, "nan_")))
        return false;
    r->word.suffix = DT_NONE;
    for (int d = 0; d < DT_COUNT && t.len > 4; d++)
        if (text_is(text_slice(t, 4, t.len), dtype_info((DType)d)->brief))
            r->word.suffix = (DType)d;
    if (t.len > 3 && r->word.suffix == DT_NONE)
        return false;
    r->word.kind = WORD_FLOAT;
    r->word.real = inf ? INFINITY : NAN;
    return true;
}

static bool number_ahead(Reader *r)
{
    return r->word.kind == WORD_INT || r->word.kind == WORD_FLOAT ||
           special_float(r);
}

// ---- primaries --------------------------------------------------------------

bool read_exprs(Reader *r, const char *close, IrExpr **out, int room, int *n)
{
    *n = 0;
    if (reader_take(r, close))
        return true;
    do {
        if (*n == room)
            return reader_fail(r, "at most %d values can stand here", room);
        out[*n] = read_expr(r);
        if (!out[(*n)++])
            return false;
    } while (reader_take(r, ","));
    return reader_need(r, close);
}

static IrExpr *read_load(Reader *r, Span at)
{
    IrExpr *index[IR_MAX_RANK];
    int n;
    IrBuffer *b = reader_buffer(r);
    if (!b || !reader_need(r, "[") ||
        !read_exprs(r, "]", index, IR_MAX_RANK, &n))
        return NULL;
    return built(r, ir_load(r->k, b, index, n, at));
}

// dtype "(" expr [", sat=False"] ")"
static IrExpr *read_cast(Reader *r, DType t, Span at)
{
    bool sat = true;
    reader_next(r);
    if (!reader_need(r, "("))
        return NULL;
    IrExpr *e = read_expr(r);
    if (reader_take(r, ","))
        sat = !(reader_need(r, "sat") && reader_need(r, "=") &&
                reader_need(r, "False"));
    if (!reader_need(r, ")"))
        return NULL;
    return built(r, ir_cast(r->k, e, t, sat, at));
}

static IrExpr *read_reinterpret(Reader *r, Span at)
{
    DType t;
    IrExpr *e = read_expr(r);
    if (!reader_need(r, ","))
        return NULL;
    Text name = reader_name(r);
    if (r->failed || !dtype_find(name, &t))
        return reader_fail(r, "expected a dtype before this");
    return reader_need(r, ")") ? built(r, ir_reinterpret(r->k, e, t, at))
                               : NULL;
}

static IrExpr *read_atomic(Reader *r, Op op, Span at)
{
    IrExpr *index[IR_MAX_RANK];
    int n;
    IrBuffer *b = reader_buffer(r);
    IrExpr *value = NULL;
    if (!b || !reader_need(r, "[") ||
        !read_exprs(r, "]", index, IR_MAX_RANK, &n))
        return NULL;
    if (op != OP_ATOMIC_LOAD && reader_need(r, ","))
        value = read_expr(r);
    if (!reader_need(r, ")"))
        return NULL;
    return built(r, ir_atomic(r->k, op, b, index, n, value, at));
}

bool reader_op(Reader *r, Text word, Op *out)
{
    if (!text_starts(word, "T."))
        return false;
    word = text_slice(word, 2, word.len);
    if (text_is(word, "round_away") || text_is(word, "rng_state")) {
        *out = text_is(word, "rng_state") ? OP_RNG_STATE : OP_ROUND_AWAY;
        return true;
    }
    return op_find(r->k->ops, word, out);
}

static IrExpr *read_call(Reader *r, Op op, Span at)
{
    IrExpr *args[4];
    int n;
    reader_next(r);
    if (!reader_need(r, "("))
        return NULL;
    if (op == OP_REINTERPRET)
        return read_reinterpret(r, at);
    if (op_is_atomic(op) || op == OP_ATOMIC_LOAD)
        return read_atomic(r, op, at);
    if (!ir_op_arity(op))
        return reader_fail(r, "%s is no expression", op_surface(op));
    if (!read_exprs(r, ")", args, 4, &n))
        return NULL;
    if (n != ir_op_arity(op))
        return reader_fail(r, "%s takes %d operands", op_surface(op),
                           ir_op_arity(op));
    return built(r, ir_op(r->k, op, args, n, at));
}

static IrExpr *read_named(Reader *r)
{
    Span at = r->word.at;
    const Entity *e = reader_entity(r);
    DType t;
    Op op;
    if (e && e->buffer)
        return read_load(r, at);
    if (e)
        return built(r, ir_use(r->k, reader_var(r), at));
    if (dtype_find(r->word.text, &t))
        return read_cast(r, t, at);
    if (reader_op(r, r->word.text, &op))
        return read_call(r, op, at);
    return reader_fail(r, "unknown name '%.*s'", TEXT_ARG(r->word.text));
}

static IrExpr *read_primary(Reader *r)
{
    Span at = r->word.at;
    if (reader_take(r, "True"))
        return built(r, ir_int(r->k, DT_BOOL, 1, at));
    if (reader_take(r, "False"))
        return built(r, ir_int(r->k, DT_BOOL, 0, at));
    if (reader_take(r, "(")) {
        IrExpr *e = read_expr(r);
        return reader_need(r, ")") ? e : NULL;
    }
    if (number_ahead(r))
        return literal(r, false);
    return r->word.kind == WORD_NAME ? read_named(r)
                                     : reader_fail(r, "expected an expression");
}

// ---- operators --------------------------------------------------------------

static IrExpr *read_binary(Reader *r, int least);

static IrExpr *read_prefix(Reader *r)
{
    Span at = r->word.at;
    if (reader_take(r, "not"))
        return built(r, ir_op1(r->k, OP_NOT, read_binary(r, 4), at));
    if (reader_take(r, "~"))
        return built(r, ir_op1(r->k, OP_BITNOT,
                               read_binary(r, PRECEDENCE_UNARY), at));
    if (!reader_take(r, "-"))
        return read_primary(r);
    if (number_ahead(r))
        return literal(r, true);
    return built(r, ir_op1(r->k, OP_NEG, read_binary(r, PRECEDENCE_UNARY), at));
}

// The infix operator ahead, when it binds at least that tightly.
static bool infix_ahead(const Reader *r, int least, Op *out)
{
    static const Op ops[] = {
        OP_OR, OP_AND, OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE, OP_BITOR,
        OP_BITXOR, OP_BITAND, OP_SHL, OP_SHR, OP_ADD, OP_SUB, OP_MUL, OP_DIV,
        OP_FLOORDIV, OP_FLOORMOD, OP_POW,
    };
    for (size_t i = 0; i < countof(ops); i++) {
        if (infix_precedence(ops[i]) < least ||
            !reader_is(r, op_surface(ops[i])))
            continue;
        *out = ops[i];
        return true;
    }
    return false;
}

static IrExpr *read_binary(Reader *r, int least)
{
    Op op;
    if (!reader_enter(r))
        return NULL;
    IrExpr *left = read_prefix(r);
    while (left && infix_ahead(r, least, &op)) {
        Span at = r->word.at;
        reader_next(r);
        IrExpr *right = read_binary(r, infix_precedence(op) + 1);
        left = right ? built(r, ir_op2(r->k, op, left, right, at)) : NULL;
    }
    reader_leave(r);
    return left;
}

IrExpr *read_expr(Reader *r)
{
    return r->failed ? NULL : read_binary(r, 1);
}

// ---- regions ----------------------------------------------------------------

// expr [":+" expr [":" step]]
static bool read_slice(Reader *r, IrRegion *region, int d)
{
    region->step[d] = 1;
    region->min[d] = read_expr(r);
    if (!region->min[d])
        return false;
    if (!reader_take(r, ":+"))
        return true;
    region->form = REGION_SLICE;
    region->extent[d] = read_expr(r);
    return region->extent[d] &&
           (!reader_take(r, ":") ||
            reader_int(r, 1, INT32_MAX, &region->step[d]));
}

IrRegion *read_region(Reader *r)
{
    Span at = r->word.at;
    IrBuffer *b = reader_buffer(r);
    if (!b)
        return NULL;
    if (!reader_take(r, "["))
        return ir_region_whole(r->k, b, at);
    IrRegion *region = new(r->arena, IrRegion);
    *region = (IrRegion){.buffer = b, .form = REGION_POINT, .at = at};
    for (int d = 0; d < b->rank; d++)
        if ((d && !reader_need(r, ",")) || !read_slice(r, region, d))
            return NULL;
    return reader_need(r, "]") ? region : NULL;
}

// ---- attribute values -------------------------------------------------------

// "[" {[var "<"] expr} "]"
static bool read_map_inputs(Reader *r, IrIndexMap *m)
{
    if (!reader_need(r, "["))
        return false;
    while (!reader_take(r, "]")) {
        if (m->in_rank == IR_MAX_RANK)
            return reader_fail(r, "a layout of too many dimensions");
        if (m->in_rank && !reader_need(r, ","))
            return false;
        const Entity *e = reader_entity(r);
        bool input = e && e->var && e->var->kind == VAR_LOOP;
        if (input && (m->in[m->in_rank] = reader_var(r), !reader_need(r, "<")))
            return false;
        m->in_shape[m->in_rank] = read_expr(r);
        if (!m->in_shape[m->in_rank++])
            return false;
    }
    return true;
}

static bool read_map_option(Reader *r, IrIndexMap *m)
{
    if (reader_take(r, "thread"))
        return reader_need(r, "=") && (m->thread = read_expr(r));
    if (reader_take(r, "replicate"))
        return reader_need(r, "=") &&
               reader_int(r, 1, INT32_MAX, &m->replicate);
    if (reader_take(r, "replica"))
        return reader_need(r, "=") && (m->replica = reader_var(r));
    return reader_fail(r, "expected thread=, replicate= or replica=");
}

IrIndexMap *read_index_map(Reader *r)
{
    IrIndexMap *m = new(r->arena, IrIndexMap);
    m->replicate = 1;
    if (!reader_need(r, "layout") || !reader_need(r, "("))
        return NULL;
    if (r->word.kind == WORD_STRING) {
        m->maker = reader_string(r);
        if (!reader_need(r, ","))
            return NULL;
    }
    if (!read_map_inputs(r, m))
        return NULL;
    if (reader_take(r, "->") &&
        (!reader_need(r, "[") ||
         !read_exprs(r, "]", m->out, (int)countof(m->out), &m->out_rank)))
        return NULL;
    while (reader_take(r, ","))
        if (!read_map_option(r, m))
            return NULL;
    return reader_need(r, ")") ? m : NULL;
}

static bool push_value(Reader *r, IrAttrValue *list, int *room)
{
    IrAttrValue v;
    if (!read_attr_value(r, &v))
        return false;
    if (list->list.len == *room)
        vec_grow_(r->arena, (void **)&list->list.at, room, sizeof v);
    list->list.at[list->list.len++] = v;
    return true;
}

// behind "[" or "{"
static bool read_values(Reader *r, IrAttrValue *out, bool dict)
{
    int room = 0;
    const char *close = dict ? "}" : "]";
    *out = (IrAttrValue){.kind = dict ? ATTRVAL_DICT : ATTRVAL_LIST};
    while (!reader_take(r, close)) {
        if (out->list.len && !reader_need(r, ","))
            return false;
        if (!push_value(r, out, &room) ||
            (dict && (!reader_need(r, ":") || !push_value(r, out, &room))))
            return false;
    }
    return true;
}

static bool read_number_value(Reader *r, IrAttrValue *out)
{
    bool negative = reader_take(r, "-");
    if (!number_ahead(r))
        return reader_fail(r, "expected a value");
    *out = (IrAttrValue){.kind = ATTRVAL_FLOAT,
                         .f64 = negative ? -r->word.real : r->word.real};
    if (r->word.kind == WORD_FLOAT) {
        reader_next(r);
        return true;
    }
    Wide v = negative ? -(Wide)r->word.magnitude : (Wide)r->word.magnitude;
    if (!int_fits(DT_I64, v))
        return reader_fail(r, "this number is out of range");
    *out = (IrAttrValue){.kind = ATTRVAL_INT, .i64 = (int64_t)v};
    reader_next(r);
    return true;
}

static bool read_value(Reader *r, IrAttrValue *out)
{
    *out = (IrAttrValue){.kind = ATTRVAL_NONE};
    if (reader_take(r, "None"))
        return true;
    if (reader_is(r, "True") || reader_is(r, "False")) {
        *out = (IrAttrValue){.kind = ATTRVAL_BOOL, .i64 = reader_is(r, "True")};
        reader_next(r);
        return true;
    }
    if (r->word.kind == WORD_STRING) {
        *out = (IrAttrValue){.kind = ATTRVAL_TEXT, .text = reader_string(r)};
        return true;
    }
    if (reader_is(r, "layout")) {
        *out =
            (IrAttrValue){.kind = ATTRVAL_LAYOUT, .layout = read_index_map(r)};
        return out->layout != NULL;
    }
    if (reader_take(r, "(")) {
        *out = (IrAttrValue){.kind = ATTRVAL_EXPR, .expr = read_expr(r)};
        return reader_need(r, ")");
    }
    bool dict = reader_is(r, "{");
    if (reader_take(r, "{") || reader_take(r, "["))
        return read_values(r, out, dict);
    return read_number_value(r, out);
}

bool read_attr_value(Reader *r, IrAttrValue *out)
{
    if (!reader_enter(r))
        return false;
    bool good = read_value(r, out);
    reader_leave(r);
    return good && !r->failed;
}
