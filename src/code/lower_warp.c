// lower_warp.c - what the threads of a warp or block do with one another:
// shuffles, votes, barriers, reductions over threads.
#include "code/code_int.h"

// ---- expressions ---------------------------------------------------------

static Val result_lanes(Lower *l, DType t)
{
    return (Val){AT_LANES, new_reg(l, false), t, true, 7};
}

static Val lanes_of(Lower *l, const IrExpr *e, DType t)
{
    return promote(l, cast_value(l, value_of(l, e), t, true), AT_LANES);
}

static Val shuffle(Lower *l, const IrExpr *e)
{
    Val v = lanes_of(l, e->args[0], map_dtype(l, e->dtype));
    Val at = lanes_of(l, e->args[1], DT_I32), r;
    Shuffle kind = e->op == OP_SHFL_XOR    ? SHUFFLE_XOR
                   : e->op == OP_SHFL_UP   ? SHUFFLE_UP
                   : e->op == OP_SHFL_DOWN ? SHUFFLE_DOWN
                                           : SHUFFLE_LANE;

    int wave = l->launches.at[l->launch].wave;

    if (e->args[2]->i64 == 64 && wave == 32)
        unsupported(l, "a shuffle among 64 lanes, where a warp has 32: such a "
                       "program is for --target mi300x, whose waves have 64");
    else if (e->args[2]->i64 > wave)
        bad_program(l, "code-width", "a shuffle among %lld lanes: a warp has "
                    "%d", (long long)e->args[2]->i64, wave);
    if (l->failed)
        return v;
    r = result_lanes(l, v.dtype);
    emit(l, (Instr){.op = INSTR_VSHUFFLE,
                    .type = (uint8_t)lane_type_of(v.dtype),
                    .dtype = (uint8_t)kind,
                    .from = (uint8_t)e->args[2]->i64,
                    .d = r.reg,
                    .a = v.reg,
                    .b = at.reg,
                    .c = l->par->mask});
    release(l, v);
    release(l, at);
    return r;
}

static Val random_bits(Lower *l, const IrExpr *e)
{
    Val v[3], r;

    for (int i = 0; i < 3; i++)
        v[i] = lanes_of(l, e->args[i], DT_U64);
    if (l->failed)
        return v[0];
    r = result_lanes(l, DT_U32);
    emit(l, (Instr){.op = e->op == OP_RNG_STATE ? INSTR_VRNGSTATE
                                                : INSTR_VPHILOX,
                    .from = e->op == OP_RNG_STATE ? (uint8_t)e->args[3]->i64
                                                  : 0,
                    .d = r.reg,
                    .a = v[0].reg,
                    .b = v[1].reg,
                    .c = v[2].reg});
    for (int i = 0; i < 3; i++)
        release(l, v[i]);
    return r;
}

static Vote vote_of(Op op)
{
    return op == OP_ANY_SYNC         ? VOTE_ANY
           : op == OP_ALL_SYNC       ? VOTE_ALL
           : op == OP_MATCH_ANY_SYNC ? VOTE_SAME
           : op == OP_MATCH_ALL_SYNC ? VOTE_ALL_SAME
                                     : VOTE_BALLOT;
}

static Val vote(Lower *l, const IrExpr *e)
{
    Vote kind = vote_of(e->op);
    bool match = kind == VOTE_SAME || kind == VOTE_ALL_SAME;
    Val v = lanes_of(l, e->args[0],
                     match ? map_dtype(l, e->args[0]->dtype) : DT_BOOL);
    Val r;

    if (l->failed)
        return v;
    r = result_lanes(l, e->dtype);
    emit(l, (Instr){.op = INSTR_VVOTE,
                    .type = (uint8_t)lane_type_of(v.dtype),
                    .dtype = (uint8_t)kind,
                    .d = r.reg,
                    .a = v.reg,
                    .b = -1,
                    .c = l->par->mask});
    release(l, v);
    return r;
}

static LaneOp warp_lane(Op op)
{
    return op == OP_WARP_REDUCE_MAX      ? LANE_OP_MAX
           : op == OP_WARP_REDUCE_MIN    ? LANE_OP_MIN
           : op == OP_WARP_REDUCE_BITAND ? LANE_OP_AND
           : op == OP_WARP_REDUCE_BITOR  ? LANE_OP_OR
                                         : LANE_OP_ADD;
}

static Val warp_reduce(Lower *l, const IrExpr *e)
{
    Val v = lanes_of(l, e->args[0], map_dtype(l, e->dtype)), r;

    if (l->failed)
        return v;
    r = result_lanes(l, v.dtype);
    emit(l, (Instr){.op = INSTR_VWARP,
                    .lane = (uint8_t)warp_lane(e->op),
                    .type = (uint8_t)lane_type_of(v.dtype),
                    .dtype = (uint8_t)v.dtype,
                    .d = r.reg,
                    .a = v.reg,
                    .b = -1,
                    .c = l->par->mask});
    release(l, v);
    return r;
}

// ---- meetings ------------------------------------------------------------

static void meet(Lower *l, Meeting m, const char *what, int d, int value)
{
    m.set = l->set;
    m.site = new_site(l, SITE_MEET, -1, false, text_of(what));
    vec_push(l->arena, &l->meeting, m);
    emit(l, (Instr){.op = INSTR_MEET,
                    .d = d,
                    .a = l->meeting.len - 1,
                    .b = value,
                    .c = l->par->mask});
}

static Val counted_sync(Lower *l, const IrExpr *e)
{
    Meeting m = {.kind = e->op == OP_SYNCTHREADS_AND  ? MEET_AND
                         : e->op == OP_SYNCTHREADS_OR ? MEET_OR
                                                      : MEET_COUNT,
                 .id = -1,
                 .wait = true};
    Val v = lanes_of(l, e->args[0], DT_BOOL), r;

    if (l->failed)
        return v;
    r = result_lanes(l, DT_I32);
    meet(l, m, op_surface(e->op), r.reg, v.reg);
    release(l, v);
    return r;
}

Val warp_value(Lower *l, const IrExpr *e)
{
    if (e->op == OP_GET_THREAD_BINDING)
        return thread_index(l, e);
    if (!in_thread_code(l)) {
        unsupported(l, "%s belongs in a thread's own code, not in tile code "
                       "such as T.Parallel", op_surface(e->op));
        return slot_value(int_slot(l, DT_I32, 0), map_dtype(l, e->dtype));
    }
    switch (e->op) {
    case OP_RNG_RAND:
    case OP_RNG_STATE:
        return random_bits(l, e);
    case OP_SHFL_SYNC:
    case OP_SHFL_XOR:
    case OP_SHFL_UP:
    case OP_SHFL_DOWN:
        return shuffle(l, e);
    case OP_SYNCTHREADS_COUNT:
    case OP_SYNCTHREADS_AND:
    case OP_SYNCTHREADS_OR:
        return counted_sync(l, e);
    case OP_WARP_REDUCE_SUM:
    case OP_WARP_REDUCE_MAX:
    case OP_WARP_REDUCE_MIN:
    case OP_WARP_REDUCE_BITAND:
    case OP_WARP_REDUCE_BITOR:
        return warp_reduce(l, e);
    default:
        return vote(l, e);
    }
}

static void sync_threads(Lower *l, const IrStmt *s)
{
    int64_t id = ir_attr_int(s, ATTR_BARRIER_ID, -1);
    int64_t count = ir_attr_int(s, ATTR_ARRIVE_COUNT, 0);
    Meeting m = {.kind = MEET_SYNC, .id = -1, .wait = true};

    if (id >= MOST_NAMED_BARRIERS || id < -1) {
        bad_program(l, "code-barrier", "barrier %lld: a block has barriers 0 "
                    "to %d", (long long)id, MOST_NAMED_BARRIERS - 1);
        return;
    }
    if (count < 0 || count > MOST_THREADS || count % 32) {
        bad_program(l, "code-barrier", "a barrier for %lld threads: their "
                    "number is a multiple of a warp's 32", (long long)count);
        return;
    }
    if (id >= 0 && count) {
        m.id = (int)id;
        m.count = (int)count;
    }
    m.wait = s->op == OP_SYNC_THREADS;
    meet(l, m, op_surface(s->op), -1, -1);
}

// T.tvm_thread_allreduce: operands count, value, condition, out.
static void all_reduce(Lower *l, const IrStmt *s)
{
    const IrAttrValue *op = ir_attr_get(s, ATTR_OP);
    const IrRegion *out = operand_region(l, s, 3);
    Meeting m = {.kind = MEET_REDUCE,
                 .id = -1,
                 .wait = true,
                 .axes = (unsigned)ir_attr_int(s, ATTR_AXES, 7),
                 .op = LANE_OP_ADD};
    Form index[IR_MAX_RANK];
    DType t;
    Val v, r;

    if (!out)
        return;
    if (op && op->kind == ATTRVAL_TEXT)
        m.op = text_is(op->text, "max")   ? LANE_OP_MAX
               : text_is(op->text, "min") ? LANE_OP_MIN
               : text_is(op->text, "mul") ? LANE_OP_MUL
               : text_is(op->text, "and") ? LANE_OP_AND
               : text_is(op->text, "or")  ? LANE_OP_OR
                                          : LANE_OP_ADD;
    t = map_dtype(l, s->operand[1].expr->dtype);
    v = lanes_of(l, s->operand[1].expr, t);
    if (l->failed)
        return;
    m.dtype = t;
    m.type = lane_type_of(t);
    r = result_lanes(l, t);
    meet(l, m, op_surface(s->op), r.reg, v.reg);
    release(l, v);
    if (index_forms(l, out->buffer, out->min, out->buffer->rank, index))
        store_to(l, out->buffer, index,
                 cast_value(l, r, map_dtype(l, out->buffer->dtype), true), 0);
}

// ---- memory barriers -----------------------------------------------------

void init_barriers(Lower *l, const IrStmt *alloc)
{
    const IrAttrValue *a = ir_attr_get(alloc, ATTR_ARRIVALS);
    CodeBuffer *b = &l->code->buffer[alloc->buffer->id];
    int n = a && a->kind == ATTRVAL_LIST ? a->list.len : 0;

    if (b->rank != 1 || b->shape[0] != n) {
        bad_program(l, "code-barrier", "'%.*s' needs a number of arrivals for "
                    "each of its barriers", TEXT_ARG(b->name));
        return;
    }
    b->arrivals = new_array(l->arena, int, (size_t)n);
    for (int i = 0; i < n; i++) {
        int64_t count = a->list.at[i].kind == ATTRVAL_INT ? a->list.at[i].i64
                                                          : 0;

        if (count < 1 || count > (1 << 20) - 1)
            bad_program(l, "code-barrier", "barrier %d of '%.*s' waits for "
                        "%lld arrivals; it takes 1 to 1048575", i,
                        TEXT_ARG(b->name), (long long)count);
        b->arrivals[i] = (int)count;
    }
    emit(l, (Instr){.op = INSTR_BARINIT, .a = alloc->buffer->id});
}

Val first_lane(Lower *l, Val v)
{
    int slot;

    if (v.level == AT_SLOT || l->failed)
        return v;
    slot = new_slot(l, true);
    emit(l, (Instr){.op = INSTR_VFIRST,
                    .type = (uint8_t)lane_type_of(v.dtype),
                    .dtype = (uint8_t)v.dtype,
                    .d = slot,
                    .a = v.reg,
                    .b = new_site(l, SITE_AGREE, -1, false, TEXT("")),
                    .c = l->par->mask});
    l->fact.at[slot].taint = v.taint;
    release(l, v);
    return slot_value(slot, v.dtype);
}

int element_access(Lower *l, const IrRegion *r)
{
    const IrBuffer *b = r->buffer;
    Access a = {.buffer = b->id, .kind = ACCESS_DIMS, .rank = b->rank};
    Form f;

    if (!buffer_usable(l, b))
        return -1;
    a.site = new_site(l, SITE_BOUNDS, b->id, false, TEXT(""));
    for (int d = 0; d < b->rank; d++) {
        Val v;

        if (!form_of(l, r->min[d], &f) || !fix_index(l, b, d, &f))
            return -1;
        v = first_lane(l, form_value(l, &f, DT_I64));
        a.dim[d] = (AccessDim){.slot = v.reg, .lanes = -1};
    }
    vec_push(l->arena, &l->access, a);
    return l->access.len - 1;
}

static int barrier_of(Lower *l, const IrStmt *s)
{
    const IrRegion *r = operand_region(l, s, 0);

    if (!r)
        return -1;
    if (r->buffer->scope != SCOPE_BARRIER) {
        bad_program(l, "code-barrier", "'%.*s' is no barrier: T.alloc_barrier "
                    "makes one", TEXT_ARG(r->buffer->name));
        return -1;
    }
    return element_access(l, r);
}

static void arrive(Lower *l, const IrStmt *s)
{
    int access = barrier_of(l, s), bytes = int_slot(l, DT_I64, 0);
    bool expects = s->op == OP_MBARRIER_EXPECT_TX ||
                   s->op == OP_MBARRIER_ARRIVE_EXPECT_TX;

    if (expects && !l->failed)
        bytes = first_lane(l, cast_value(l, value_of(l, s->operand[1].expr),
                                         DT_I64, true))
                    .reg;
    if (l->failed)
        return;
    emit(l, (Instr){.op = INSTR_BARARRIVE,
                    .flags = s->op == OP_MBARRIER_EXPECT_TX ? INSTR_EXPECT
                             : s->op == OP_CP_ASYNC_BARRIER_NOINC
                                 ? INSTR_COPIES
                                 : 0,
                    .d = place_here(l),
                    .a = access,
                    .b = bytes,
                    .c = l->par->mask});
}

static void wait(Lower *l, const IrStmt *s)
{
    int access = barrier_of(l, s);
    Val parity;

    if (l->failed)
        return;
    parity = first_lane(
        l, cast_value(l, value_of(l, s->operand[1].expr), DT_I64, true));
    if (l->failed)
        return;
    emit(l, (Instr){.op = INSTR_BARWAIT,
                    .d = new_site(l, SITE_STUCK,
                                  s->operand[0].region->buffer->id, false,
                                  text_of(op_surface(s->op))),
                    .a = access,
                    .b = parity.reg,
                    .c = l->par->mask});
}

// ---- copies of single threads --------------------------------------------

enum { MOST_COPIED = 16 };

// The last index of the region moves by i elements.
static bool moved(Lower *l, const IrRegion *r, int64_t i, Form *index)
{
    int last = r->buffer->rank - 1;
    Form by = form_const(i);

    for (int d = 0; d <= last; d++)
        if (!form_of(l, r->min[d], &index[d]))
            return false;
    return form_add(l, &index[last], &by, 1);
}

static Val copied(Lower *l, const IrStmt *s, const Form *from, int mask)
{
    const IrRegion *src = s->operand[1].region;
    int saved = l->par->mask;
    Val v;

    l->par->mask = mask;
    v = load_of(l, src->buffer, from, ~0u);
    l->par->mask = saved;
    return v;
}

// T.ptx_cp_async: a false predicate writes zeros.
static void cp_async(Lower *l, const IrStmt *s)
{
    const IrRegion *dst = operand_region(l, s, 0);
    const IrRegion *src = dst ? operand_region(l, s, 1) : NULL;
    int64_t n = ir_attr_int(s, ATTR_NUM_ELEMS, 0);
    int mask = l->par->mask;
    Val pred = {.reg = -1}, v[3];
    Form from[IR_MAX_RANK], to[IR_MAX_RANK];
    DType t;

    if (!src)
        return;
    if (n < 1 || n > MOST_COPIED) {
        bad_program(l, "code-cp-async", "a thread copies 1 to %d elements, not "
                    "%lld", MOST_COPIED, (long long)n);
        return;
    }
    if (s->operand[3].kind == OPERAND_EXPR) {
        pred = frozen_vector(l, lanes_of(l, s->operand[3].expr, DT_BOOL));
        mask = and_masks(l, mask, pred.reg);
    }
    t = map_dtype(l, dst->buffer->dtype);
    begin_order(l, ORDER_CP_ASYNC, NULL);
    for (int64_t i = 0; i < n && !l->failed; i++) {
        if (!moved(l, src, i, from) || !moved(l, dst, i, to))
            return;
        v[0] = cast_value(l, copied(l, s, from, mask), t, true);
        if (pred.reg >= 0) {
            v[1] = v[0];
            v[2] = slot_value(int_slot(l, t, 0), t);
            v[0] = pred;
            v[0] = apply(l, LANE_OP_SELECT, t, t, v, 3);
        }
        store_to(l, dst->buffer, to, v[0], 0);
    }
    end_order(l);
}

// ---- statements ----------------------------------------------------------

static void grid_sync(Lower *l)
{
    l->launches.at[l->launch].grid_sync = true;
    l->launches.at[l->launch].ordered = true;
    emit(l, (Instr){.op = INSTR_GRIDSYNC,
                    .a = new_site(l, SITE_STUCK, -1, false,
                                  TEXT("T.sync_grid"))});
}

bool lower_warp_stmt(Lower *l, const IrStmt *s)
{
    if (lower_order(l, s))
        return true;
    if (!in_thread_code(l))
        return false;
    switch (s->op) {
    case OP_SYNC_THREADS:
    case OP_NAMED_BARRIER_ARRIVE:
        sync_threads(l, s);
        return true;
    case OP_SYNC_GRID:
    case OP_SYNC_GLOBAL:
        grid_sync(l);
        return true;
    case OP_TVM_THREAD_ALLREDUCE:
        all_reduce(l, s);
        return true;
    case OP_MBARRIER_ARRIVE:
    case OP_BARRIER_ARRIVE:
    case OP_MBARRIER_EXPECT_TX:
    case OP_MBARRIER_ARRIVE_EXPECT_TX:
    case OP_CP_ASYNC_BARRIER_NOINC:
        arrive(l, s);
        return true;
    case OP_MBARRIER_WAIT_PARITY:
    case OP_BARRIER_WAIT:
        wait(l, s);
        return true;
    case OP_PTX_CP_ASYNC:
        cp_async(l, s);
        return true;
    default:
        return false;
    }
}
