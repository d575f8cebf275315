// verify_expr.c - expressions and regions of a well-formed IR.
#include "ir/verify_int.h"

bool *verify_known(Verifier *v, const IrVar *var)
{
    for (int low = 0, high = v->vars.len; low < high;) {
        int mid = low + (high - low) / 2;
        if (v->vars.at[mid]->id == var->id)
            return &v->known[mid];
        if (v->vars.at[mid]->id < var->id)
            low = mid + 1;
        else
            high = mid;
    }
    BUG("variable %d is not in the kernel", var->id);
}

bool verify_buffer_alive(Verifier *v, const IrBuffer *b, Span at)
{
    const IrBuffer *base = b;
    while (base->alias_of)
        base = base->alias_of;
    if (v->alive[b->id] || v->alive[base->id])
        return true;
    return ir_error(v->k, at, "ir-scope", "%.*s is not allocated here",
                    TEXT_ARG(b->name));
}

// ---- one node ---------------------------------------------------------------

// Building the node again must give the node: then its type is right, and its
// text reads back as what it is.
static bool rebuilds(Verifier *v, IrExpr *e)
{
    ArenaMark m = arena_mark(v->k->arena);
    IrExpr *again = NULL;
    if (e->kind == EXPR_SELECT && e->count == 3)
        again = ir_op(v->k, OP_IF_THEN_ELSE, e->args, 3, e->at);
    else if (e->kind == EXPR_OP && ir_op_arity(e->op) == e->count && e->count)
        again = ir_op(v->k, e->op, e->args, e->count, e->at);
    else if (e->kind == EXPR_CAST && e->count == 1)
        again = ir_cast(v->k, e->args[0], e->dtype, e->sat, e->at);
    else if (e->kind == EXPR_REINTERPRET && e->count == 1)
        again = ir_reinterpret(v->k, e->args[0], e->dtype, e->at);
    bool same = again && ir_same(again, e);
    arena_release(v->k->arena, m);
    return same || ir_error(v->k, e->at, "ir-type",
                            "an expression is not in the form that the "
                            "builders give it");
}

static bool verify_atomic(Verifier *v, const IrExpr *e)
{
    const IrExpr *value = ir_atomic_value(e);
    if (!op_is_atomic(e->op) && value)
        return ir_error(v->k, e->at, "ir-operand", "%s is no atomic",
                        op_surface(e->op));
    if (e->dtype != e->buffer->dtype ||
        (value && value->dtype != e->buffer->dtype))
        return ir_error(v->k, e->at, "ir-type", "an atomic's value has the "
                        "dtype of its buffer");
    return verify_buffer_alive(v, e->buffer, e->at) &&
           verify_index(v, e->buffer, e->args, e->count - (value != NULL),
                        e->at);
}

static bool verify_node(Verifier *v, IrExpr *e)
{
    switch (e->kind) {
    case EXPR_INT:
        return int_fits(e->dtype, int_value(e)) ||
               ir_error(v->k, e->at, "ir-overflow", "%lld does not fit %s",
                        (long long)e->i64, dtype_info(e->dtype)->name);
    case EXPR_FLOAT:
        return dtype_is_float(e->dtype) ||
               ir_error(v->k, e->at, "ir-type", "a float of dtype %s",
                        dtype_info(e->dtype)->name);
    case EXPR_VAR:
        if (e->dtype != e->var->dtype)
            return ir_error(v->k, e->at, "ir-type", "%.*s is %s",
                            TEXT_ARG(e->var->name),
                            dtype_info(e->var->dtype)->name);
        return *verify_known(v, e->var) ||
               ir_error(v->k, e->at, "ir-scope", "%.*s is not defined here",
                        TEXT_ARG(e->var->name));
    case EXPR_LOAD:
        if (e->dtype != e->buffer->dtype)
            return ir_error(v->k, e->at, "ir-type", "%.*s holds %s",
                            TEXT_ARG(e->buffer->name),
                            dtype_info(e->buffer->dtype)->name);
        return verify_buffer_alive(v, e->buffer, e->at) &&
               verify_index(v, e->buffer, e->args, e->count, e->at);
    case EXPR_OP: case EXPR_CAST: case EXPR_SELECT: case EXPR_REINTERPRET:
        return rebuilds(v, e);
    case EXPR_ATOMIC:
        return ir_error(v->k, e->at, "ir-operand",
                        "an atomic with a result must be a value of its own");
    }
    return false;
}

static bool verify_args(Verifier *v, IrExpr *e)
{
    for (int i = 0; i < e->count; i++)
        if (!verify_expr(v, e->args[i], e->at))
            return false;
    return true;
}

// The arguments of an index are checked by verify_index.
bool verify_expr(Verifier *v, IrExpr *e, Span at)
{
    if (!e)
        return ir_error(v->k, at, "ir-operand", "an expression is missing");
    if (e->depth > EXPR_MAX_DEPTH || e->size > EXPR_MAX_SIZE)
        return ir_error(v->k, e->at, "ir-too-deep",
                        "an expression is too large");
    return (e->kind == EXPR_LOAD || verify_args(v, e)) && verify_node(v, e);
}

bool verify_value(Verifier *v, IrExpr *e, Span at)
{
    if (!e || e->kind != EXPR_ATOMIC)
        return verify_expr(v, e, at);
    IrExpr *value = e->count ? ir_atomic_value(e) : NULL;
    return e->count > 0 && (!value || verify_expr(v, value, e->at)) &&
           verify_atomic(v, e);
}

bool verify_bool(Verifier *v, IrExpr *e, Span at)
{
    if (!verify_expr(v, e, at))
        return false;
    return e->dtype == DT_BOOL ||
           ir_error(v->k, e->at, "ir-type", "a condition is %s, not bool",
                    dtype_info(e->dtype)->name);
}

bool verify_int(Verifier *v, IrExpr *e, Span at)
{
    if (!verify_expr(v, e, at))
        return false;
    return dtype_is_int(e->dtype) ||
           ir_error(v->k, e->at, "ir-type", "this is %s and must be an integer",
                    dtype_info(e->dtype)->name);
}

// ---- indices ----------------------------------------------------------------

static bool no_parallel_var(void *ctx, IrExpr *e)
{
    Verifier *v = ctx;
    const IrStmt *p = v->parallel;
    for (int i = 0; p && e->kind == EXPR_VAR && i < p->var_count; i++) {
        if (p->vars[i] != e->var)
            continue;
        v->failed = true;
        ir_error(v->k, e->at, "ir-parallel",
                 "a local buffer belongs to each thread: it cannot be indexed "
                 "by %.*s of T.Parallel; use a fragment",
                 TEXT_ARG(e->var->name));
    }
    return true;
}

bool verify_index(Verifier *v, const IrBuffer *b, IrExpr *const *index, int n,
                  Span at)
{
    IrExpr *out[IR_MAX_RANK];
    for (int i = 0; i < n; i++) {
        if (!verify_expr(v, index[i], at))
            return false;
        if (b->scope == SCOPE_LOCAL)
            ir_walk_expr(index[i], no_parallel_var, v);
    }
    return check_index(v->k, b, index, n, at, out);
}

static bool verify_slice(Verifier *v, const IrRegion *r, int d)
{
    if (!verify_int(v, r->min[d], r->at))
        return false;
    if (r->step[d] < 1)
        return ir_error(v->k, r->at, "ir-region", "a slice has step %lld",
                        (long long)r->step[d]);
    return !r->extent[d] || verify_int(v, r->extent[d], r->at);
}

static bool has_extents(const IrRegion *r)
{
    for (int d = 0; d < r->buffer->rank; d++)
        if (r->extent[d])
            return true;
    return false;
}

bool verify_region(Verifier *v, const IrRegion *r, Span at)
{
    if (!r || !r->buffer)
        return ir_error(v->k, at, "ir-operand", "a region is missing");
    if (!verify_buffer_alive(v, r->buffer, r->at))
        return false;
    for (int d = 0; d < r->buffer->rank; d++)
        if (!verify_slice(v, r, d))
            return false;
    if (has_extents(r) != (r->form != REGION_POINT))
        return ir_error(v->k, r->at, "ir-region",
                        "an element has no extents, a slice has");
    return r->form != REGION_POINT ||
           verify_index(v, r->buffer, r->min, r->buffer->rank, r->at);
}
