// mbarrier.c - what programs do that specialise warps by hand: barriers of
// their own, copies of single threads, registers that groups hand on.
//
// T.tma_copy is done by the threads that reach it before they arrive, so that
// there are no bytes for a barrier to wait for.
#include "gpu_backend/emit_int.h"

// ---- barriers --------------------------------------------------------------

static void barrier_array(Emit *e, const IrStmt *alloc)
{
    const IrAttrValue *a = ir_attr_get(alloc, ATTR_ARRIVALS);
    Text name = e->buffer[alloc->buffer->id];
    int64_t at = (e->gpu->dynamic_shared + 7) / 8 * 8;

    if (!a || a->kind != ATTRVAL_LIST) {
        refuse(e, "'%.*s', whose arrivals are not known",
               TEXT_ARG(alloc->buffer->name));
        return;
    }
    line(e, "u64 *const %.*s = (u64 *)(arena + %lld);", TEXT_ARG(name),
         (long long)at);
    e->gpu->dynamic_shared = at + 8 * a->list.len;
    for (int i = 0; i < a->list.len; i++) {
        line(e, "if (tid == 0)");
        line(e, "    barrier_init(&%.*s[%d], %lld);", TEXT_ARG(name), i,
             (long long)a->list.at[i].i64);
    }
}

typedef struct {
    Emit *e;
    bool any;
} Open;

static bool open_one(void *ctx, IrStmt *s)
{
    Open *o = ctx;

    if (s->kind == STMT_ALLOC && s->buffer->scope == SCOPE_BARRIER) {
        barrier_array(o->e, s);
        o->any = true;
    }
    return true;
}

void mbarriers_open(Emit *e)
{
    Open o = {.e = e};

    ir_walk((IrStmt *)e->launch->stmt->then, open_one, NULL, &o);
    if (!o.any)
        return;
    if (!e->dialect->has_mbarrier)
        refuse(e, "%s", op_surface(OP_ALLOC_BARRIER));
    line(e, "if (tid == 0)");
    line(e, "    barrier_fence();");
    line(e, "%s;", e->dialect->barrier);
}

static Text barrier_at(Emit *e, const IrStmt *s)
{
    const IrRegion *r = s->operand[0].region;
    Spot p = place_of(e, r->buffer, r->min);

    return element(e, &p);
}

// What the thread has copied is there before it says so. Where one thread
// speaks for others, they have met.
static void arrive(Emit *e, const IrStmt *s)
{
    if (e->uses_async && !e->filling)
        line(e, "cp_async_wait_all();");
    line(e, "barrier_arrive(&%.*s);", TEXT_ARG(barrier_at(e, s)));
}

static void wait(Emit *e, const IrStmt *s)
{
    line(e, "barrier_wait(&%.*s, (u32)(%.*s));", TEXT_ARG(barrier_at(e, s)),
         TEXT_ARG(expr(e, s->operand[1].expr)));
}

// ---- copies of single threads ----------------------------------------------

static void copy_async(Emit *e, IrStmt *s)
{
    const IrRegion *dst = s->operand[0].region, *src = s->operand[1].region;
    long long n = ir_attr_int(s, ATTR_NUM_ELEMS, 0);
    long long bytes = n * dtype_info(dst->buffer->dtype)->bits / 8;

    if (!e->dialect->has_cp_async || dst->buffer->dtype != src->buffer->dtype ||
        (bytes != 4 && bytes != 8 && bytes != 16)) {
        refuse(e, "%s of %lld bytes", op_surface(s->op), bytes);
        return;
    }
    sync_before(e, s);
    Spot to = place_of(e, dst->buffer, dst->min);
    Spot from = place_of(e, src->buffer, src->min);
    Text there = guard_of(e, &from);
    if (s->operand[3].kind == OPERAND_EXPR)
        there = both(e, there, text_format(e->arena, "(%.*s)", TEXT_ARG(expr(e,
                                               s->operand[3].expr))));
    line(e, "cp_async<%lld>(&%.*s, &%.*s, %.*s);", bytes,
         TEXT_ARG(element(e, &to)), TEXT_ARG(element(e, &from)),
         TEXT_ARG(there.len ? there : TEXT("true")));
}

// ---- registers -------------------------------------------------------------

// T.set_max_nreg(n, is_inc)
static bool is_more(const IrStmt *s)
{
    const IrAttrValue *a = ir_attr_get(s, ATTR_ANNOTATIONS);

    for (int i = 0; a && a->kind == ATTRVAL_DICT && i + 1 < a->list.len; i += 2)
        if (text_is(a->list.at[i].text, "is_inc"))
            return a->list.at[i + 1].i64 != 0;
    return s->op == OP_INC_MAX_NREG;
}

// Whole warpgroups hand on registers; for others it is a hint.
static void set_registers(Emit *e, const IrStmt *s)
{
    bool more = is_more(s);

    if (e->group && e->threads % 128 == 0 && e->dialect->has_mbarrier &&
        e->plan->device->arch == ARCH_SM90)
        line(e, "registers_%s<%lld>();", more ? "more" : "fewer",
             (long long)ir_attr_int(s, ATTR_REG_COUNT, 0));
}

// False: not one of these.
bool mbarrier_stmt(Emit *e, IrStmt *s)
{
    switch (s->op) {
    case OP_MBARRIER_ARRIVE:
    case OP_MBARRIER_ARRIVE_EXPECT_TX:
    case OP_BARRIER_ARRIVE:
        arrive(e, s);
        return true;
    case OP_MBARRIER_WAIT_PARITY:
    case OP_BARRIER_WAIT:
        wait(e, s);
        return true;
    case OP_CP_ASYNC_BARRIER_NOINC:
        line(e, "cp_async_arrive(&%.*s);", TEXT_ARG(barrier_at(e, s)));
        return true;
    case OP_PTX_CP_ASYNC:
        copy_async(e, s);
        return true;
    case OP_PTX_COMMIT_GROUP:
        line(e, "cp_async_commit();");
        return true;
    case OP_PTX_WAIT_GROUP:
        line(e, "cp_async_wait_all();");
        return true;
    case OP_NAMED_BARRIER_ARRIVE:
        line(e, "named_arrive(%lld, %lld);",
             (long long)ir_attr_int(s, ATTR_BARRIER_ID, 0),
             (long long)ir_attr_int(s, ATTR_ARRIVE_COUNT, e->threads));
        return true;
    case OP_SET_MAX_NREG:
    case OP_INC_MAX_NREG:
    case OP_DEC_MAX_NREG:
        set_registers(e, s);
        return true;
    // Copies and products are done when the next statement runs.
    case OP_MBARRIER_EXPECT_TX:
    case OP_TMA_STORE_ARRIVE:
    case OP_TMA_STORE_WAIT:
    case OP_FENCE_PROXY_ASYNC:
    case OP_WAIT_WGMMA:
    case OP_WARPGROUP_ARRIVE:
    case OP_WARPGROUP_COMMIT_BATCH:
    case OP_WARPGROUP_WAIT:
    case OP_WARPGROUP_FENCE_OPERAND:
        return true;
    default:
        return false;
    }
}
