// copy.c - copies between global and shared memory, several elements at a time.
//
// The plan says how many. cp.async brings them without a register in between;
// the next barrier waits for it.
#include "gpu_backend/emit_int.h"

static void move(Emit *e, const IrCopyMap *m, int bytes, bool async)
{
    Spot from = place_of_side(e, m->src.buffer, m->src.min, m->src.map);
    Spot to = place_of_side(e, m->dst.buffer, m->dst.min, m->dst.map);
    Text have = guard_of(e, &from), want = guard_of(e, &to);
    Text a = element(e, &from), b = element(e, &to);

    if (m->dst.buffer->scope == SCOPE_GLOBAL)
        e->stored[root_buffer(m->dst.buffer)->id] = true;
    if (want.len)
        open_brace(e, "if (%.*s) {", TEXT_ARG(want));
    if (async) {
        line(e, "cp_async<%d>(&%.*s, &%.*s, %.*s);", bytes, TEXT_ARG(b),
             TEXT_ARG(a), TEXT_ARG(have.len ? have : TEXT("true")));
    } else if (have.len) {
        line(e, "move_or_clear<%d>(&%.*s, &%.*s, %.*s);", bytes, TEXT_ARG(b),
             TEXT_ARG(a), TEXT_ARG(have));
    } else {
        line(e, "move<%d>(&%.*s, &%.*s);", bytes, TEXT_ARG(b), TEXT_ARG(a));
    }
    if (want.len)
        close_brace(e);
}

// False: element by element, please.
bool copy_vectors(Emit *e, IrStmt *s, const IrCopyMap *m)
{
    const PlanMove *plan = plan_copy_store(e->launch, s);
    bool async = plan && plan->kind == MOVE_CP_ASYNC;
    Dist d = {.stmt = s, .rank = m->rank};

    if (!plan || plan->width < 2)
        return false;
    d.vector = plan->width;
    for (int i = 0; i < m->rank; i++)
        if (!ir_is_int(m->extent[i], &d.extent[i]))
            return false;
    dist_open(e, &d);
    move(e, m, plan->bytes, async);
    dist_close(e, &d);
    if (async && !e->in_ring)
        e->uses_async = true;
    return true;
}
