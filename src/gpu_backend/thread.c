// thread.c - what single threads and warps do: indices, shuffles, votes,
// atomics, barriers.
#include "gpu_backend/emit_int.h"

static Text call1(Emit *e, const char *name, const IrExpr *x)
{
    return text_format(e->arena, "%s(%.*s)", name, TEXT_ARG(expr(e, x)));
}

static Text shuffle(Emit *e, const IrExpr *x, const char *name)
{
    Text width = x->count > 2 ? expr(e, x->args[2])
                              : text_format(e->arena, "%d", e->lanes);

    return text_format(e->arena, "%s(%.*s, %.*s, %.*s)", name,
                       TEXT_ARG(expr(e, x->args[0])),
                       TEXT_ARG(expr(e, x->args[1])), TEXT_ARG(width));
}

static Text thread_index(Emit *e, const IrExpr *x)
{
    int64_t dim = 0;

    if (x->count)
        ir_is_int(x->args[0], &dim);
    return text_format(e->arena, "(int)%s",
                       e->dialect->thread[dim == 1 ? 1 : dim ? 2 : 0]);
}

static Text warp_reduce(Emit *e, const IrExpr *x)
{
    static const struct {
        Op op, how;
    } all[] = {
        {OP_WARP_REDUCE_SUM, OP_REDUCE_SUM},
        {OP_WARP_REDUCE_MAX, OP_REDUCE_MAX},
        {OP_WARP_REDUCE_MIN, OP_REDUCE_MIN},
        {OP_WARP_REDUCE_BITAND, OP_REDUCE_BITAND},
        {OP_WARP_REDUCE_BITOR, OP_REDUCE_BITOR},
    };
    Text v = fresh(e, "all");

    line(e, "%s %.*s = %.*s;", type_of(x->dtype), TEXT_ARG(v),
         TEXT_ARG(expr(e, x->args[0])));
    for (size_t i = 0; i < countof(all); i++) {
        if (all[i].op != x->op)
            continue;
        for (int m = e->lanes / 2; m >= 1; m /= 2) {
            Text other = text_format(e->arena, "shuffle_xor(%.*s, %d)",
                                     TEXT_ARG(v), m);
            line(e, "%.*s = %.*s;", TEXT_ARG(v),
                 TEXT_ARG(combine(e, all[i].how, x->dtype, v, other)));
        }
    }
    return v;
}

// 32 bits at a position of a Philox stream.
static Text random_bits(Emit *e, const IrExpr *x)
{
    return text_format(e->arena, "philox(%.*s, %.*s, %.*s)",
                       TEXT_ARG(expr(e, x->args[0])),
                       TEXT_ARG(expr(e, x->args[1])),
                       TEXT_ARG(expr(e, x->args[2])));
}

// Empty: no such operation of threads.
Text thread_op(Emit *e, const IrExpr *x)
{
    switch (x->op) {
    case OP_GET_THREAD_BINDING:
        return thread_index(e, x);
    case OP_SHFL_XOR:
        return shuffle(e, x, "shuffle_xor");
    case OP_SHFL_UP:
        return shuffle(e, x, "shuffle_up");
    case OP_SHFL_DOWN:
        return shuffle(e, x, "shuffle_down");
    case OP_SHFL_SYNC:
        return shuffle(e, x, "shuffle");
    case OP_ANY_SYNC:
        return call1(e, "any_lane", x->args[0]);
    case OP_ALL_SYNC:
        return call1(e, "all_lanes", x->args[0]);
    case OP_BALLOT:
    case OP_BALLOT_SYNC:
        return text_format(e->arena, "(%s)ballot(%.*s)", type_of(x->dtype),
                           TEXT_ARG(expr(e, x->args[0])));
    case OP_WARP_REDUCE_SUM:
    case OP_WARP_REDUCE_MAX:
    case OP_WARP_REDUCE_MIN:
    case OP_WARP_REDUCE_BITAND:
    case OP_WARP_REDUCE_BITOR:
        return warp_reduce(e, x);
    case OP_SYNCTHREADS_COUNT:
        return call1(e, "block_count", x->args[0]);
    case OP_SYNCTHREADS_AND:
        return call1(e, "block_and", x->args[0]);
    case OP_SYNCTHREADS_OR:
        return call1(e, "block_or", x->args[0]);
    case OP_RNG_RAND:
        return random_bits(e, x);
    case OP_CLZ:
        return text_format(e->arena, "(%s)(%s(%.*s))", type_of(x->dtype),
                           "leading_zeros", TEXT_ARG(expr(e, x->args[0])));
    default:
        return (Text){0};
    }
}

// ---- atomics ---------------------------------------------------------------

static const char *atomic_name(Op op)
{
    switch (op) {
    case OP_ATOMIC_ADD: return "atomic_add";
    case OP_ATOMIC_MAX: return "atomic_max";
    case OP_ATOMIC_MIN: return "atomic_min";
    case OP_ATOMIC_OR:  return "atomic_or";
    default:            return NULL;
    }
}

void atomic_update(Emit *e, Op op, const Spot *p, Text value)
{
    const char *name = atomic_name(op);
    Text guard = guard_of(e, p), mine = e->dist ? e->dist->mine : (Text){0};
    Text at = element(e, p);

    if (!name || in_registers(e, p->buffer) || is_private(e, p->buffer)) {
        refuse(e, "%s of '%.*s'", op_surface(op),
                    TEXT_ARG(p->buffer->name));
        return;
    }
    if (p->buffer->scope == SCOPE_GLOBAL)
        e->stored[root_buffer(p->buffer)->id] = true;
    if (mine.len)
        guard = guard.len ? text_format(e->arena, "%.*s && %.*s",
                                        TEXT_ARG(mine), TEXT_ARG(guard))
                          : mine;
    if (guard.len)
        line(e, "if (%.*s)", TEXT_ARG(guard));
    line(e, "%s%s(&%.*s, %.*s);", guard.len ? "    " : "", name, TEXT_ARG(at),
         TEXT_ARG(value));
}

Text atomic_expr(Emit *e, const IrExpr *x)
{
    const char *name = atomic_name(x->op);
    Spot p = place_of(e, x->buffer, x->args);
    Text guard = guard_of(e, &p), at = element(e, &p), call;
    const IrExpr *value = ir_atomic_value(x);

    if (x->buffer->scope == SCOPE_GLOBAL && value)
        e->stored[root_buffer(x->buffer)->id] = true;
    if (!e->by_thread && !e->dist && !e->divergent)
        refuse(e, "%s whose old value a whole block uses",
                    op_surface(x->op));
    if (x->op == OP_ATOMIC_LOAD)
        call = text_format(e->arena, "atomic_load(&%.*s)", TEXT_ARG(at));
    else if (name && value)
        call = text_format(e->arena, "%s(&%.*s, %.*s)", name, TEXT_ARG(at),
                           TEXT_ARG(convert(e, x->buffer->dtype, value->dtype,
                                            false, expr(e, value), true)));
    else
        refuse(e, "%s", op_surface(x->op));
    if (!guard.len || e->failed)
        return e->failed ? TEXT("0") : call;
    return text_format(e->arena, "(%.*s ? %.*s : (%s)0)", TEXT_ARG(guard),
                       TEXT_ARG(call), type_of(x->dtype));
}

// ---- statements ------------------------------------------------------------

static void sync_threads(Emit *e, IrStmt *s)
{
    long long n = ir_attr_int(s, ATTR_ARRIVE_COUNT, e->threads);

    if (!ir_attr_get(s, ATTR_BARRIER_ID))
        sync_now(e);
    else if (e->dialect->vendor == VENDOR_NVIDIA)
        line(e, "named_barrier(%lld, %lld);",
             (long long)ir_attr_int(s, ATTR_BARRIER_ID, 0), n);
    else if (n == e->threads)           // AMD has one barrier, of all threads
        line(e, "%s;", e->dialect->barrier);
    else
        refuse(e, "T.sync_threads of %lld of %d threads", n, e->threads);
}

static void evaluate(Emit *e, IrStmt *s)
{
    if (!e->dist)
        sync_before(e, s);
    if (s->operand_count && s->operand[0].kind == OPERAND_EXPR)
        line(e, "(void)(%.*s);", TEXT_ARG(expr(e, s->operand[0].expr)));
}

static void atomic_row(Emit *e, IrStmt *s, int n)
{
    const IrRegion *dst = s->operand[0].region, *src = s->operand[1].region;

    if (!e->dist)
        sync_before(e, s);
    for (int i = 0; i < n; i++) {
        Spot to = place_of(e, dst->buffer, dst->min);
        Spot from = place_of(e, src->buffer, src->min);
        int a = dst->buffer->rank - 1, b = src->buffer->rank - 1;
        if (i) {
            Text step = text_format(e->arena, "%d", i);
            to.index[a] = sum(e, to.index[a], step);
            from.index[b] = sum(e, from.index[b], step);
            to.range[a].known = from.range[b].known = false;
            to.guarded[a] = from.guarded[b] = true;
        }
        Text v = convert(e, dst->buffer->dtype, src->buffer->dtype, false,
                         load(e, &from), true);
        atomic_update(e, OP_ATOMIC_ADD, &to, v);
    }
}

static void atomic_store(Emit *e, IrStmt *s)
{
    const IrRegion *dst = s->operand[0].region;

    if (!e->dist)
        sync_before(e, s);
    Spot to = place_of(e, dst->buffer, dst->min);
    Text guard = guard_of(e, &to);
    Text v = convert(e, dst->buffer->dtype, s->operand[1].expr->dtype, false,
                     expr(e, s->operand[1].expr), true);
    if (dst->buffer->scope == SCOPE_GLOBAL)
        e->stored[root_buffer(dst->buffer)->id] = true;
    if (guard.len)
        line(e, "if (%.*s)", TEXT_ARG(guard));
    line(e, "atomic_store(&%.*s, %.*s);", TEXT_ARG(element(e, &to)),
         TEXT_ARG(v));
}

static Op reducer_op(Emit *e, const IrStmt *s)
{
    const IrAttrValue *name = ir_attr_get(s, ATTR_OP);
    Op op = OP_REDUCE_SUM;

    if (name && !op_reduction_find(e->k->ops, name->text, &op))
        refuse(e, "this reducer");
    return op;
}

static void reducer_init(Emit *e, IrStmt *s)
{
    const IrBuffer *b = s->operand[0].region->buffer;
    int64_t n = 1;

    sync_before(e, s);
    for (int d = 0; d < b->rank; d++)
        n *= fixed_extent(b, d);
    Text v = identity(e, reducer_op(e, s), b->dtype);
    if (s->operand[1].kind == OPERAND_EXPR)
        v = convert(e, b->dtype, s->operand[1].expr->dtype, true,
                    wide_expr(e, s->operand[1].expr), true);
    line(e, "for (int p = tid; p < %lld; p += %d)", (long long)n, e->threads);
    line(e, "    %.*s[p] = %.*s;", TEXT_ARG(e->buffer[b->id]), TEXT_ARG(v));
}

static void reducer_update(Emit *e, IrStmt *s)
{
    const IrRegion *r = s->operand[0].region;
    const IrExpr *x = s->operand[1].expr;
    Op op = reducer_op(e, s);

    if (!e->dist)
        sync_before(e, s);
    Spot to = place_of(e, r->buffer, r->min);
    Text v = convert(e, r->buffer->dtype, x->dtype, true, wide_expr(e, x),
                     true);
    switch (op) {
    case OP_REDUCE_SUM:
        atomic_update(e, OP_ATOMIC_ADD, &to, v);
        return;
    case OP_REDUCE_MAX:
        atomic_update(e, OP_ATOMIC_MAX, &to, v);
        return;
    case OP_REDUCE_MIN:
        atomic_update(e, OP_ATOMIC_MIN, &to, v);
        return;
    case OP_REDUCE_BITOR:
        atomic_update(e, OP_ATOMIC_OR, &to, v);
        return;
    default:
        refuse(e, "a reducer of this kind");
    }
}

// ---- reductions over threads -----------------------------------------------

static Op all_reduce_op(Emit *e, const IrStmt *s)
{
    static const struct {
        const char *name;
        Op op;
    } all[] = {
        {"add", OP_REDUCE_SUM}, {"max", OP_REDUCE_MAX}, {"min", OP_REDUCE_MIN},
        {"and", OP_REDUCE_BITAND}, {"or", OP_REDUCE_BITOR},
    };
    const IrAttrValue *op = ir_attr_get(s, ATTR_OP);

    if (!op || op->kind != ATTRVAL_TEXT)
        return OP_REDUCE_SUM;
    for (size_t i = 0; i < countof(all); i++)
        if (text_is(op->text, all[i].name))
            return all[i].op;
    refuse(e, "%s by %.*s", op_surface(s->op), TEXT_ARG(op->text));
    return OP_REDUCE_SUM;
}

// T.tvm_thread_allreduce: every thread adds up what those have that differ
// from it in the dimensions reduced over, in their order.
static void all_reduce(Emit *e, IrStmt *s)
{
    const IrRegion *out = s->operand[3].region;
    const IrExpr *x = s->operand[1].expr;
    const int64_t *n = e->launch->stmt->threads;
    int axes = (int)ir_attr_int(s, ATTR_AXES, 7);
    const char *type = type_of(x->dtype);
    int64_t *end = e->dialect->fixed_arena ? &e->gpu->static_shared
                                           : &e->gpu->dynamic_shared;
    int64_t at = (*end + 15) / 16 * 16, stride = 1;
    Op op = all_reduce_op(e, s);
    Text base = TEXT("tid");

    if (e->divergent || e->dist || e->group) {
        refuse(e, "%s here", op_surface(s->op));
        return;
    }
    if (!e->quiet)
        *end = at + e->threads * dtype_bytes(x->dtype, 1);
    sync_before(e, s);
    open_brace(e, "{");
    line(e, "%s *const work = (%s *)(arena + %lld);", type, type,
         (long long)at);
    line(e, "work[tid] = %.*s;", TEXT_ARG(expr(e, x)));
    meet(e);
    line(e, "%s part = %.*s;", type, TEXT_ARG(identity(e, op, x->dtype)));
    for (int d = 0; d < 3; stride *= n[d++])
        if (axes >> d & 1 && n[d] > 1)
            base = text_format(e->arena, "%.*s - %s * %lld", TEXT_ARG(base),
                               e->dialect->thread[d], (long long)stride);
    line(e, "const int first = (int)(%.*s);", TEXT_ARG(base));
    Text from = TEXT("first");
    stride = 1;
    for (int d = 0; d < 3; stride *= n[d++]) {
        if (!(axes >> d & 1) || n[d] < 2)
            continue;
        open_brace(e, "for (int x%d = 0; x%d < %lld; x%d++) {", d, d,
                   (long long)n[d], d);
        from = text_format(e->arena, "%.*s + x%d * %lld", TEXT_ARG(from), d,
                           (long long)stride);
    }
    line(e, "part = %.*s;",
         TEXT_ARG(combine(e, op, x->dtype, TEXT("part"),
                          text_format(e->arena, "work[%.*s]",
                                      TEXT_ARG(from)))));
    for (int d = 0; d < 3; d++)
        if (axes >> d & 1 && n[d] > 1)
            close_brace(e);
    meet(e);
    Spot to = place_of(e, out->buffer, out->min);
    store(e, &to, convert(e, out->buffer->dtype, x->dtype, false, TEXT("part"),
                          true));
    close_brace(e);
}

// Blocks wait for each other: all of them run at the same time.
static void sync_grid(Emit *e, IrStmt *s)
{
    if (e->divergent || e->dist || e->group || !e->dialect->has_grid_sync) {
        refuse(e, "%s here", op_surface(s->op));
        return;
    }
    e->cooperative = true;
    line(e, "sync_grid();");
    hazards_clear(e);
}

// False: not one of these.
bool thread_stmt(Emit *e, IrStmt *s)
{
    switch (s->op) {
    case OP_SYNC_THREADS:
        sync_threads(e, s);
        return true;
    case OP_SYNC_WARP:
        line(e, "sync_warp();");
        return true;
    case OP_TVM_THREAD_ALLREDUCE:
        all_reduce(e, s);
        return true;
    case OP_SYNC_GRID:
    case OP_SYNC_GLOBAL:
        sync_grid(e, s);
        return true;
    case OP_CALL_EXTERN:
        refuse(e, "%s", op_surface(s->op));
        return true;
    case OP_EVALUATE:
        evaluate(e, s);
        return true;
    case OP_ATOMIC_ADDX2:
    case OP_ATOMIC_ADDX4:
        atomic_row(e, s, s->op == OP_ATOMIC_ADDX2 ? 2 : 4);
        return true;
    case OP_ATOMIC_STORE:
        atomic_store(e, s);
        return true;
    case OP_REDUCER_INIT:
        reducer_init(e, s);
        return true;
    case OP_REDUCER_UPDATE:
        reducer_update(e, s);
        return true;
    default:
        return false;
    }
}
