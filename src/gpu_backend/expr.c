// expr.c - expressions.
#include "gpu_backend/emit_int.h"

#include <string.h>

// ---- parentheses -----------------------------------------------------------

// How tightly the outermost operator of a text binds; operators have blanks
// around them.
static int binding(Text t)
{
    static const struct {
        const char *word;
        int level;
    } words[] = {
        {" ? ", 1}, {" || ", 2}, {" && ", 3}, {" | ", 4}, {" ^ ", 5},
        {" & ", 6}, {" == ", 7}, {" != ", 7}, {" < ", 8}, {" <= ", 8},
        {" > ", 8}, {" >= ", 8}, {" << ", 9}, {" >> ", 9}, {" + ", 10},
        {" - ", 10}, {" * ", 11}, {" / ", 11}, {" % ", 11},
    };
    int depth = 0, level = 13;

    if (t.len && (t.at[0] == '-' || t.at[0] == '!' || t.at[0] == '~'))
        level = 12;
    for (size_t i = 0; i < t.len; i++) {
        depth += t.at[i] == '(' || t.at[i] == '[';
        depth -= t.at[i] == ')' || t.at[i] == ']';
        for (size_t w = 0; depth == 0 && w < countof(words); w++)
            if (words[w].level < level &&
                text_starts(text_slice(t, i, t.len), words[w].word))
                level = words[w].level;
    }
    return level;
}

static Text paren(Emit *e, Text t, int least)
{
    if (binding(t) >= least)
        return t;
    return text_format(e->arena, "(%.*s)", TEXT_ARG(t));
}

static Text infix(Emit *e, Text a, const char *op, int level, Text b)
{
    a = paren(e, a, level);
    b = paren(e, b, level + 1);
    return text_format(e->arena, "%.*s %s %.*s", TEXT_ARG(a), op, TEXT_ARG(b));
}

static Text call2(Emit *e, const char *name, Text a, Text b)
{
    return text_format(e->arena, "%s(%.*s, %.*s)", name, TEXT_ARG(a),
                       TEXT_ARG(b));
}

// ---- integers --------------------------------------------------------------

static bool is_natural(const Emit *e, const IrExpr *x)
{
    Range r = interval_of(e, x);
    return dtype_info(x->dtype)->kind == KIND_UINT || (r.known && r.low >= 0);
}

static Text divide(Emit *e, const IrExpr *x, Text a, Text b)
{
    bool mod = x->op == OP_FLOORMOD;
    Range r = interval_of(e, x->args[1]);
    bool plain = is_natural(e, x->args[0]) && r.known && r.low > 0;

    if (dtype_info(x->dtype)->kind == KIND_UINT && r.known && r.low > 0)
        plain = true;
    if (plain)
        return wrap(e, x->dtype, infix(e, a, mod ? "%" : "/", 11, b));
    return call2(e, mod ? "floor_mod" : "floor_div", a, b);
}

static Text shift(Emit *e, const IrExpr *x, Text a, Text b)
{
    bool left = x->op == OP_SHL;
    Range r = interval_of(e, x->args[1]);

    if (r.known && r.low >= 0 && r.high < dtype_info(x->dtype)->bits)
        return wrap(e, x->dtype, infix(e, a, left ? "<<" : ">>", 9, b));
    return call2(e, left ? "shift_left" : "shift_right", a,
                 text_format(e->arena, "(i64)(%.*s)", TEXT_ARG(b)));
}

// ---- operators -------------------------------------------------------------

static const struct {
    Op op;
    const char *word;
    int level;
} operators[] = {
    {OP_ADD, "+", 10}, {OP_SUB, "-", 10}, {OP_MUL, "*", 11}, {OP_DIV, "/", 11},
    {OP_IEEE_ADD, "+", 10}, {OP_IEEE_SUB, "-", 10}, {OP_IEEE_MUL, "*", 11},
    {OP_IEEE_FDIV, "/", 11},
    {OP_BITAND, "&", 6}, {OP_BITOR, "|", 4}, {OP_BITXOR, "^", 5},
    {OP_EQ, "==", 7}, {OP_NE, "!=", 7}, {OP_LT, "<", 8}, {OP_LE, "<=", 8},
    {OP_AND, "&&", 3}, {OP_OR, "||", 2},
};

// Functions of floats; the suffix "f" makes the one for float.
static const struct {
    Op op;
    const char *name;
    bool plain;                     // overloaded by us
} functions[] = {
    {OP_EXP, "exp", 0}, {OP_EXP2, "exp2", 0}, {OP_EXP10, "exp10", 0},
    {OP_LOG, "log", 0}, {OP_LOG2, "log2", 0}, {OP_LOG10, "log10", 0},
    {OP_LOG1P, "log1p", 0}, {OP_SQRT, "sqrt", 0}, {OP_RSQRT, "rsqrt", 0},
    {OP_SIN, "sin", 0}, {OP_COS, "cos", 0}, {OP_TAN, "tan", 0},
    {OP_ASIN, "asin", 0}, {OP_ACOS, "acos", 0}, {OP_ATAN, "atan", 0},
    {OP_ATAN2, "atan2", 0}, {OP_SINH, "sinh", 0}, {OP_COSH, "cosh", 0},
    {OP_TANH, "tanh", 0}, {OP_ERF, "erf", 0}, {OP_FLOOR, "floor", 0},
    {OP_CEIL, "ceil", 0}, {OP_TRUNC, "trunc", 0}, {OP_ROUND, "rint", 0},
    {OP_ROUND_AWAY, "round", 0}, {OP_FMOD, "fmod", 0}, {OP_POW, "pow", 0},
    {OP_FAST_EXP, "exp", 0}, {OP_FAST_EXP10, "exp10", 0},
    {OP_FAST_LOG, "log", 0}, {OP_FAST_LOG2, "log2", 0},
    {OP_FAST_LOG10, "log10", 0}, {OP_FAST_SIN, "sin", 0},
    {OP_FAST_COS, "cos", 0}, {OP_FAST_TAN, "tan", 0},
    {OP_IEEE_FSQRT, "sqrt", 0}, {OP_IEEE_FRSQRT, "rsqrt", 0},
    {OP_IEEE_FMAF, "fma", 0}, {OP_ABS, "fabs", 0},
    {OP_SIGMOID, "sigmoid", 1}, {OP_ISNAN, "is_nan", 1},
    {OP_ISINF, "is_inf", 1}, {OP_ISFINITE, "is_finite", 1},
    {OP_FLOORDIV, "floor_div", 1}, {OP_FLOORMOD, "floor_mod", 1},
};

static Text arguments(Emit *e, const IrExpr *x)
{
    Text all = {0};

    for (int i = 0; i < x->count; i++) {
        Text a = wide_expr(e, x->args[i]);
        all = i ? text_format(e->arena, "%.*s, %.*s", TEXT_ARG(all),
                              TEXT_ARG(a))
                : a;
    }
    return all;
}

static bool is_fast(const Emit *e)
{
    return ir_config_is_set(e->k, "tl.enable_fast_math");
}

static Text float_function(Emit *e, const IrExpr *x)
{
    DType t = x->args[0]->dtype;

    for (size_t i = 0; i < countof(functions); i++) {
        if (functions[i].op != x->op)
            continue;
        bool single = !functions[i].plain && t != DT_F64;
        if (e->dialect->math &&
            !prelude_has(e, text_format(e->arena, "%s%s", functions[i].name,
                                        single ? "f" : "")))
            refuse(e, "%s of %s", op_surface(x->op), dtype_info(t)->name);
        if (single && x->op == OP_EXP2 && is_fast(e))
            return text_format(e->arena, "fast_exp2(%.*s)",
                               TEXT_ARG(arguments(e, x)));
        return text_format(e->arena, "%s%s(%.*s)", functions[i].name,
                           single ? "f" : "", TEXT_ARG(arguments(e, x)));
    }
    return (Text){0};
}

static Text int_function(Emit *e, const IrExpr *x, Text a, Text b)
{
    DType t = x->args[0]->dtype;
    bool is_long = dtype_info(t)->bits == 64;

    switch (x->op) {
    case OP_TRUNCDIV:
    case OP_TRUNCMOD:
        return call2(e, x->op == OP_TRUNCDIV ? "trunc_div" : "trunc_mod", a, b);
    case OP_FLOORDIV:
    case OP_FLOORMOD:
        return divide(e, x, a, b);
    case OP_SHL:
    case OP_SHR:
        return shift(e, x, a, b);
    case OP_ABS:
        return wrap(e, t, text_format(e->arena, "%.*s < 0 ? -%.*s : %.*s",
                                      TEXT_ARG(paren(e, a, 9)),
                                      TEXT_ARG(paren(e, a, 13)),
                                      TEXT_ARG(paren(e, a, 2))));
    case OP_BITNOT:
        if (t == DT_BOOL)
            return text_format(e->arena, "!%.*s", TEXT_ARG(paren(e, a, 12)));
        return wrap(e, t, text_format(e->arena, "~%.*s",
                                      TEXT_ARG(paren(e, a, 12))));
    case OP_POPCOUNT:
        return text_format(e->arena, "(%s)%s((%s)%.*s)", type_of(x->dtype),
                           is_long ? "__popcll" : "__popc",
                           is_long  ? "u64"
                           : dtype_info(t)->bits == 8  ? "u8"
                           : dtype_info(t)->bits == 16 ? "u16"
                                                       : "u32",
                           TEXT_ARG(paren(e, a, 12)));
    case OP_POW:
        return call2(e, "int_pow", a, b);
    default:
        refuse(e, "%s of %s", op_surface(x->op), dtype_info(t)->name);
        return a;
    }
}

// Narrow operands come as floats; a narrow result is not rounded yet.
static Text operation(Emit *e, const IrExpr *x)
{
    Text a = wide_expr(e, x->args[0]), b = {0};
    DType t = x->args[0]->dtype;

    if (x->count > 1)
        b = wide_expr(e, x->args[1]);
    if (x->op == OP_DIV && x->dtype == DT_F32 && is_fast(e) &&
        prelude_has(e, TEXT("fast_div")))
        return call2(e, "fast_div", a, b);
    for (size_t i = 0; i < countof(operators); i++)
        if (operators[i].op == x->op)
            return wrap(e, x->dtype, infix(e, a, operators[i].word,
                                           operators[i].level, b));
    switch (x->op) {
    case OP_NEG:
        return wrap(e, x->dtype, text_format(e->arena, "-%.*s",
                                             TEXT_ARG(paren(e, a, 13))));
    case OP_NOT:
        return text_format(e->arena, "!%.*s", TEXT_ARG(paren(e, a, 12)));
    case OP_MAX:
    case OP_MIN:
        return call2(e, x->op == OP_MAX ? "max_of" : "min_of", a, b);
    case OP_SELECT:
        return text_format(e->arena, "%.*s ? %.*s : %.*s",
                           TEXT_ARG(paren(e, a, 2)), TEXT_ARG(paren(e, b, 2)),
                           TEXT_ARG(paren(e, wide_expr(e, x->args[2]), 1)));
    case OP_FAST_RCP:
    case OP_IEEE_FRCP:
        return infix(e, TEXT("1.0f"), "/", 11, a);
    default:
        break;
    }
    if (dtype_is_float(t)) {
        Text f = float_function(e, x);
        if (f.len)
            return f;
    }
    Text by_thread = thread_op(e, x);
    if (by_thread.len)
        return is_narrow(x->dtype) ? widen(e, x->dtype, by_thread) : by_thread;
    return int_function(e, x, a, b);
}

// ---- all of them -----------------------------------------------------------

static bool gives_raw(const IrExpr *x)
{
    return x->kind == EXPR_OP && is_narrow(x->dtype);
}

static Text reinterpret(Emit *e, const IrExpr *x)
{
    return text_format(e->arena, "bits_as<%s>(%.*s)", type_of(x->dtype),
                       TEXT_ARG(expr(e, x->args[0])));
}

static Text select(Emit *e, const IrExpr *x, bool wide)
{
    Text c = expr(e, x->args[0]);
    Text t = wide ? wide_expr(e, x->args[1]) : expr(e, x->args[1]);
    Text f = wide ? wide_expr(e, x->args[2]) : expr(e, x->args[2]);

    return text_format(e->arena, "%.*s ? %.*s : %.*s", TEXT_ARG(paren(e, c, 2)),
                       TEXT_ARG(paren(e, t, 2)), TEXT_ARG(paren(e, f, 1)));
}

static Text load_expr(Emit *e, const IrExpr *x)
{
    Spot p = place_of(e, x->buffer, x->args);
    return paren(e, load(e, &p), 2);
}

static Text cast_expr(Emit *e, const IrExpr *x)
{
    const IrExpr *a = x->args[0];

    return convert(e, x->dtype, a->dtype, true, wide_expr(e, a), x->sat);
}

Text expr(Emit *e, const IrExpr *x)
{
    if (e->failed)
        return TEXT("0");
    if (!type_of(x->dtype)) {
        refuse(e, "values of %s", dtype_info(x->dtype)->name);
        return TEXT("0");
    }
    switch (x->kind) {
    case EXPR_INT:
        return literal_int(e, x->dtype, x->i64);
    case EXPR_FLOAT:
        return narrow(e, x->dtype, literal(e, x->dtype, x->f64));
    case EXPR_VAR:
        return e->var[x->var->id];
    case EXPR_LOAD:
        return load_expr(e, x);
    case EXPR_CAST:
        return cast_expr(e, x);
    case EXPR_SELECT:
        return select(e, x, false);
    case EXPR_REINTERPRET:
        return reinterpret(e, x);
    case EXPR_ATOMIC:
        return atomic_expr(e, x);
    case EXPR_OP:
        return gives_raw(x) ? narrow(e, x->dtype, operation(e, x))
                            : operation(e, x);
    }
    return TEXT("0");
}

Text wide_expr(Emit *e, const IrExpr *x)
{
    if (!is_narrow(x->dtype))
        return expr(e, x);
    if (x->kind == EXPR_FLOAT)
        return literal(e, x->dtype, x->f64);
    if (x->kind == EXPR_SELECT)
        return select(e, x, true);
    if (gives_raw(x))
        return text_format(e->arena, "f32(to_%s(%.*s))", type_of(x->dtype),
                           TEXT_ARG(operation(e, x)));
    return widen(e, x->dtype, expr(e, x));
}

// ---- what differs between threads ------------------------------------------

typedef struct {
    const Emit *e;
    bool found;
} Vary;

static bool vary(void *ctx, IrExpr *x)
{
    Vary *v = ctx;

    if (x->kind == EXPR_VAR)
        v->found |= v->e->varies[x->var->id];
    if (x->kind == EXPR_LOAD)
        v->found |= v->e->varies_in[x->buffer->id];
    if (x->kind == EXPR_ATOMIC)
        v->found = true;
    // Counts and votes of a block are the same for all its threads.
    if (x->kind == EXPR_OP)
        v->found |= op_is_warp(x->op) && x->op != OP_SYNCTHREADS_COUNT &&
                    x->op != OP_SYNCTHREADS_AND && x->op != OP_SYNCTHREADS_OR;
    return true;
}

bool expr_varies(const Emit *e, const IrExpr *x)
{
    Vary v = {e, false};

    if (x)
        ir_walk_expr((IrExpr *)x, vary, &v);
    return v.found;
}

typedef struct {
    Emit *e;
    bool changed, inside;           // inside a condition that varies
} Flow;

static void set(Flow *f, bool *at, bool value)
{
    if (value && !*at)
        *at = f->changed = true;
}

static bool flow(void *ctx, IrStmt *s)
{
    Flow *f = ctx, in = *f;
    Emit *e = f->e;

    if (s->kind == STMT_FOR && s->loop == LOOP_PARALLEL)
        return false;
    if (s->kind == STMT_LET)
        set(f, &e->varies[s->var->id], expr_varies(e, s->value));
    if (s->kind == STMT_STORE && is_private(e, s->buffer)) {
        bool v = f->inside || expr_varies(e, s->value);
        for (int i = 0; i < s->index_count; i++)
            v |= expr_varies(e, s->index[i]);
        set(f, &e->varies_in[s->buffer->id], v);
    }
    for (int i = 0; s->kind == STMT_TILE && i < s->operand_count; i++)
        if (s->operand[i].kind == OPERAND_REGION &&
            is_private(e, s->operand[i].region->buffer))
            set(f, &e->varies_in[s->operand[i].region->buffer->id],
                e->by_thread);
    if (s->kind == STMT_FOR)
        for (int i = 0; i < s->var_count; i++)
            set(f, &e->varies[s->vars[i]->id],
                expr_varies(e, s->start[i]) || expr_varies(e, s->extent[i]));
    if (s->kind == STMT_IF || s->kind == STMT_WHILE || s->kind == STMT_FOR) {
        bool v = s->kind == STMT_FOR ? e->varies[s->vars[0]->id]
                                     : expr_varies(e, s->cond);
        in.inside = f->inside || v;
        ir_walk(s->then, flow, NULL, &in);
        if (s->otherwise)
            ir_walk(s->otherwise, flow, NULL, &in);
        f->changed |= in.changed;
        return false;
    }
    return true;
}

void find_varying(Emit *e, const IrStmt *launch)
{
    Flow f = {.e = e};

    do {
        f.changed = false;
        ir_walk(launch->then, flow, NULL, &f);
    } while (f.changed);
}
