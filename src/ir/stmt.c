// stmt.c - makes statements, regions and attributes; names of enumerators.
#include "ir/ir_int.h"

IrStmt *ir_stmt(IrKernel *k, IrStmtKind kind, Span at)
{
    IrStmt *s = new(k->arena, IrStmt);
    s->kind = kind;
    s->id = k->next_stmt++;
    s->origin = -1;
    s->at = at;
    return s;
}

IrStmt *ir_block(IrKernel *k, Span at)
{
    return ir_stmt(k, STMT_BLOCK, at);
}

void ir_append(IrKernel *k, IrStmt *block, IrStmt *s)
{
    if (!s)
        return;
    if (block->len == block->room)
        vec_grow_(k->arena, (void **)&block->body, &block->room,
                  sizeof *block->body);
    block->body[block->len++] = s;
}

IrStmt *ir_tile(IrKernel *k, Op op, Span at)
{
    IrStmt *s = ir_stmt(k, STMT_TILE, at);
    s->op = op;
    s->operand_count = op_info(k->ops, op)->param_count;
    s->operand = new_array(k->arena, IrOperand, (size_t)s->operand_count);
    return s;
}

IrStmt *ir_store(IrKernel *k, IrBuffer *b, IrExpr *const *index, int n,
                 IrExpr *value, Span at)
{
    IrExpr *checked[IR_MAX_RANK];
    if (!b || !value || !check_index(k, b, index, n, at, checked))
        return NULL;
    value = ir_cast(k, value, b->dtype, true, value->at);
    if (!value)
        return NULL;
    IrStmt *s = ir_stmt(k, STMT_STORE, at);
    s->buffer = b;
    s->value = value;
    s->index_count = n;
    s->index = new_array(k->arena, IrExpr *, (size_t)n);
    for (int i = 0; i < n; i++)
        s->index[i] = checked[i];
    return s;
}

IrStmt *ir_let(IrKernel *k, Text name, IrExpr *value, Span at)
{
    if (!value)
        return NULL;
    IrStmt *s = ir_stmt(k, STMT_LET, at);
    s->var = ir_var(k, VAR_LET, name, value->dtype, at);
    s->value = value;
    return s;
}

// ---- regions ----------------------------------------------------------------

IrRegion *ir_region_whole(IrKernel *k, IrBuffer *b, Span at)
{
    if (!b)
        return NULL;
    IrRegion *r = new(k->arena, IrRegion);
    r->buffer = b;
    r->form = REGION_WHOLE;
    r->at = at;
    for (int i = 0; i < b->rank; i++) {
        r->min[i] = ir_int(k, DT_I32, 0, at);
        r->extent[i] = b->shape[i];
        r->step[i] = 1;
    }
    return r;
}

// A bound of a slice; a constant below zero counts from the end.
static IrExpr *slice_bound(IrKernel *k, const IrBuffer *b, int d, IrExpr *e)
{
    int64_t v;
    if (!dtype_is_int(e->dtype))
        return ir_error(k, e->at, "ir-index",
                        "a slice bound of %.*s is %s, not an integer",
                        TEXT_ARG(b->name), dtype_info(e->dtype)->name);
    return ir_is_int(e, &v) && v < 0 ? ir_op2(k, OP_ADD, b->shape[d], e, e->at)
                                     : e;
}

static bool region_slice(IrKernel *k, IrRegion *r, int d, const IrSubscript *s,
                         Span at)
{
    IrBuffer *b = r->buffer;
    int64_t n;
    if (s->step < 1)
        return ir_error(k, at, "ir-region", "the step of a slice is %lld; it "
                        "must be positive", (long long)s->step);
    r->form = REGION_SLICE;
    r->step[d] = s->step;
    r->min[d] = s->start ? slice_bound(k, b, d, s->start)
                         : ir_int(k, DT_I32, 0, at);
    IrExpr *stop = s->stop ? slice_bound(k, b, d, s->stop) : b->shape[d];
    r->extent[d] = ir_op2(k, OP_SUB, stop, r->min[d], at);
    if (r->extent[d] && s->step > 1)
        r->extent[d] = ir_op2(k, OP_CEILDIV, r->extent[d],
                              ir_literal(k, s->step, at), at);
    if (!r->extent[d] || !ir_is_int(r->extent[d], &n) || n > 0)
        return r->extent[d] != NULL;
    return ir_error(k, at, "ir-region",
                    "dimension %d of this slice of %.*s is empty", d,
                    TEXT_ARG(b->name));
}

IrRegion *ir_region(IrKernel *k, IrBuffer *b, const IrSubscript *s, int n,
                    Span at)
{
    if (!b || !check_index_count(k, b, n, at))
        return NULL;
    IrRegion *r = new(k->arena, IrRegion);
    r->buffer = b;
    r->form = REGION_POINT;
    r->at = at;
    for (int i = 0; i < n; i++) {
        r->step[i] = 1;
        r->min[i] = s[i].start;
        if (s[i].is_slice ? !region_slice(k, r, i, &s[i], at)
                          : !check_one_index(k, b, i, &r->min[i]))
            return NULL;
    }
    return r;
}

// ---- attributes -------------------------------------------------------------

void ir_attr(IrKernel *k, IrStmt *s, IrAttrId id, IrAttrValue v)
{
    IrAttr **at = &s->attrs;
    while (*at && (*at)->id < id)
        at = &(*at)->next;
    if (!*at || (*at)->id != id) {
        IrAttr *a = new(k->arena, IrAttr);
        a->id = id;
        a->next = *at;
        *at = a;
    }
    (*at)->value = v;
}

const IrAttrValue *ir_attr_get(const IrStmt *s, IrAttrId id)
{
    for (const IrAttr *a = s->attrs; a; a = a->next)
        if (a->id == id)
            return &a->value;
    return NULL;
}

int64_t ir_attr_int(const IrStmt *s, IrAttrId id, int64_t fallback)
{
    const IrAttrValue *v = ir_attr_get(s, id);
    bool is = v && (v->kind == ATTRVAL_INT || v->kind == ATTRVAL_BOOL);
    return is ? v->i64 : fallback;
}

bool ir_config_is_set(const IrKernel *kernel, const char *key)
{
    const IrAttrValue *v = &kernel->config.pass_configs;

    for (int i = 0; v->kind == ATTRVAL_DICT && i + 1 < v->list.len; i += 2) {
        const IrAttrValue *k = &v->list.at[i], *x = k + 1;
        if (k->kind == ATTRVAL_TEXT && text_is(k->text, key))
            return (x->kind == ATTRVAL_BOOL || x->kind == ATTRVAL_INT) &&
                   x->i64;
    }
    return false;
}

static const char *const attr_names[ATTR_COUNT] = {
#define ATTR(id, name, ...) [ATTR_##id] = name,
#include "ir/attr.def"
};

bool ir_attr_find(Text name, IrAttrId *out)
{
    for (int i = 0; i < ATTR_COUNT; i++) {
        if (!text_is(name, attr_names[i]))
            continue;
        *out = (IrAttrId)i;
        return true;
    }
    return false;
}

const char *ir_attr_name(IrAttrId id)
{
    return attr_names[id];
}

const char *ir_scope_name(IrScope s)
{
    static const char *const names[] = {
        [SCOPE_GLOBAL] = "global",          [SCOPE_SHARED] = "shared.dyn",
        [SCOPE_SHARED_STATIC] = "shared",   [SCOPE_FRAGMENT] = "local.fragment",
        [SCOPE_LOCAL] = "local",            [SCOPE_VAR] = "local.var",
        [SCOPE_BARRIER] = "shared.barrier", [SCOPE_REDUCER] = "local.reducer",
    };
    return names[s];
}

const char *ir_loop_name(IrLoopKind l)
{
    static const char *const names[] = {
        [LOOP_SERIAL] = "serial",         [LOOP_UNROLL] = "unroll",
        [LOOP_VECTORIZED] = "vectorized", [LOOP_PARALLEL] = "Parallel",
        [LOOP_PIPELINED] = "Pipelined",   [LOOP_PERSISTENT] = "Persistent",
        [LOOP_THREAD] = "thread_binding", [LOOP_GRID] = "grid",
    };
    return names[l];
}
