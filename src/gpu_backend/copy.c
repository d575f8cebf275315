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

// ---- through registers -----------------------------------------------------

// Whether every `v` registers of a loop are a run of points of one row.
static bool has_runs(const Dist *d, int threads, int v)
{
    int n = d->layout->locals;

    for (int i = 0; i < threads * n; i++) {
        int first = d->points[i - i % n % v];
        if (first < 0 ? d->points[i] >= 0
                      : first % d->extent[d->rank - 1] % v ||
                            d->points[i] != first + i % n % v)
            return false;
    }
    return n % v == 0;
}

Text value_to_store(Emit *e, const IrCopyMap *m, Text x)
{
    bool leaves = in_registers(e, m->src.buffer) &&
                  !in_registers(e, m->dst.buffer);

    if (e->dialect->vendor != VENDOR_AMD || !leaves || !fills_registers(e) ||
        m->src.buffer->dtype != DT_F32)
        return x;
    return text_format(e->arena, "late(%.*s)", TEXT_ARG(x));
}

// An element of a vector, as the other side has it.
static Text converted(Emit *e, const IrCopyMap *m, Text x)
{
    x = value_to_store(e, m, x);
    return convert(e, m->dst.buffer->dtype, m->src.buffer->dtype, false, x,
                   true);
}

static void load_vector(Emit *e, const IrCopyMap *m, int v)
{
    DType t = m->src.buffer->dtype;
    Spot from = place_of_side(e, m->src.buffer, m->src.min, m->src.map);
    Text have = guard_of(e, &from), at = element(e, &from);
    int bytes = v * bits_of(e, m->src.buffer) / 8;

    line(e, "alignas(16) %s x0[%d];", type_of(t), v);
    if (have.len)
        line(e, "move_or_clear<%d>(x0, &%.*s, %.*s);", bytes, TEXT_ARG(at),
             TEXT_ARG(have));
    else
        line(e, "move<%d>(x0, &%.*s);", bytes, TEXT_ARG(at));
}

static void store_vector(Emit *e, const IrCopyMap *m, int v)
{
    Spot to = place_of_side(e, m->dst.buffer, m->dst.min, m->dst.map);
    Text want = both(e, e->dist->mine, guard_of(e, &to));

    if (m->dst.buffer->scope == SCOPE_GLOBAL)
        e->stored[root_buffer(m->dst.buffer)->id] = true;
    if (want.len)
        line(e, "if (%.*s)", TEXT_ARG(want));
    line(e, "%smove<%d>(&%.*s, y0);", want.len ? "    " : "",
         v * bits_of(e, m->dst.buffer) / 8, TEXT_ARG(element(e, &to)));
}

// Vectors of memory, elements of registers, and conversions in between.
static void through_registers(Emit *e, const IrCopyMap *m, int v)
{
    bool from = in_registers(e, m->src.buffer);
    bool to = in_registers(e, m->dst.buffer);

    if (!from)
        load_vector(e, m, v);
    if (!to)
        line(e, "alignas(16) %s y0[%d];", type_of(m->dst.buffer->dtype), v);
    line(e, "#pragma unroll");
    if (from || to) {
        open_brace(e, "for (int i0 = 0, l0 = l; i0 < %d; i0++) {", v);
        line(e, "const int l = l0 + i0;");
    } else {
        open_brace(e, "for (int i0 = 0; i0 < %d; i0++) {", v);
    }
    Spot x = place_of_side(e, m->src.buffer, m->src.min, m->src.map);
    Spot y = place_of_side(e, m->dst.buffer, m->dst.min, m->dst.map);
    Text value = converted(e, m, from ? element(e, &x) : TEXT("x0[i0]"));
    line(e, "%.*s = %.*s;", TEXT_ARG(to ? element(e, &y) : TEXT("y0[i0]")),
         TEXT_ARG(value));
    close_brace(e);
    if (!to)
        store_vector(e, m, v);
}

static bool can_stage(const Emit *e, const Dist *d, int v)
{
    return !d->layout || (d->points && has_runs(d, e->threads, v));
}

// A few turns are written out: their loads are under way at the same time.
static bool takes_turns(const Emit *e, const Dist *d, const PlanMove *plan)
{
    enum { MOST = 8 };
    int64_t points = 1;

    for (int i = 0; i < d->rank; i++)
        points *= d->extent[i];
    return e->dialect->vendor == VENDOR_AMD && !d->layout &&
           plan->kind == MOVE_PLAIN && e->threads &&
           points / d->vector <= (int64_t)MOST * e->threads;
}

// Guarded loads are branches, which clang moves no store across.
static bool loads_first(const Emit *e, const Dist *d, const IrCopyMap *m)
{
    enum { MOST_TILES = 128 };

    return d->unrolled && m->src.buffer->scope == SCOPE_GLOBAL &&
           m->dst.buffer->scope == SCOPE_SHARED &&
           m->src.buffer->dtype == m->dst.buffer->dtype &&
           registers_of_tiles(e) <= MOST_TILES;
}

static void load_and_store(Emit *e, IrStmt *s)
{
    open_brace(e, "{");
    copy_ahead(e, s, AHEAD_DECLARE);
    copy_ahead(e, s, AHEAD_LOAD);
    copy_ahead(e, s, AHEAD_STORE);
    close_brace(e);
}

// False: element by element, please.
bool copy_vectors(Emit *e, IrStmt *s, const IrCopyMap *m)
{
    const PlanMove *plan = plan_copy_move(e->launch, s);
    bool async = plan && plan->kind == MOVE_CP_ASYNC;
    Dist d = {.stmt = s, .rank = m->rank, .layout = loop_layout(e, s)};

    if (!plan || !m->src.buffer)
        return false;
    if (tma_store(e, s))
        return true;
    if (plan->kind == MOVE_TMA || plan->kind == MOVE_BULK) {
        refuse(e, "a copy that TMA makes here");
        return true;
    }
    if (plan->width < 2)
        return false;
    d.vector = plan->width;
    for (int i = 0; i < m->rank; i++)
        if (!ir_is_int(m->extent[i], &d.extent[i]))
            return false;
    d.unrolled = takes_turns(e, &d, plan);
    if (loads_first(e, &d, m)) {
        load_and_store(e, s);
        return true;
    }
    dist_open(e, &d);
    if (!can_stage(e, &d, d.vector))
        refuse(e, "vectors of this layout");
    else if (d.layout || m->src.buffer->dtype != m->dst.buffer->dtype)
        through_registers(e, m, d.vector);
    else
        move(e, m, plan->bytes, async);
    dist_close(e, &d);
    if (async && !e->filling)
        e->uses_async = true;
    return true;
}

// ---- ahead of their use ----------------------------------------------------

static void load_ahead(Emit *e, const IrCopyMap *m, Text regs, int bytes)
{
    Spot from = place_of_side(e, m->src.buffer, m->src.min, m->src.map);
    Text have = guard_of(e, &from), at = element(e, &from);

    if (have.len) {
        line(e, "%.*s[i0] = Words<%d>();", TEXT_ARG(regs), bytes);
        line(e, "if (%.*s)", TEXT_ARG(have));
        e->indent++;
    }
    line(e, "%.*s[i0] = *(const Words<%d> *)&%.*s;", TEXT_ARG(regs), bytes,
         TEXT_ARG(at));
    if (have.len)
        e->indent--;
}

static void store_ahead(Emit *e, const IrCopyMap *m, Text regs, int bytes)
{
    Spot to = place_of_side(e, m->dst.buffer, m->dst.min, m->dst.map);
    Text want = guard_of(e, &to);

    if (want.len)
        line(e, "if (%.*s)", TEXT_ARG(want));
    line(e, "%s*(Words<%d> *)&%.*s = %.*s[i0];", want.len ? "    " : "",
         bytes, TEXT_ARG(element(e, &to)), TEXT_ARG(regs));
}

void copy_ahead(Emit *e, IrStmt *s, AheadStep step)
{
    IrCopyMap m;
    const PlanMove *plan = plan_copy_move(e->launch, s);
    Dist d = {.stmt = s, .unrolled = true};
    int64_t points = 1;

    if (!ir_resolve_copy(e->k, s->at, s->operand[0].region,
                         s->operand[1].region, &m) || !plan)
        BUG("a copy ahead that is none");
    d.rank = m.rank;
    for (int i = 0; i < m.rank; i++)
        points *= ir_is_int(m.extent[i], &d.extent[i]) ? d.extent[i] : 0;
    int width = plan->width > 1 ? plan->width : 1;
    int bytes = width * dtype_info(m.dst.buffer->dtype)->bits / 8;
    Text regs = text_format(e->arena, "%.*s_ahead",
                            TEXT_ARG(e->buffer[m.dst.buffer->id]));
    if (step == AHEAD_DECLARE) {
        line(e, "Words<%d> %.*s[%lld];", bytes, TEXT_ARG(regs),
             (long long)(points / width + e->threads - 1) / e->threads);
        return;
    }
    d.vector = width;
    dist_open(e, &d);
    if (step == AHEAD_LOAD)
        load_ahead(e, &m, regs, bytes);
    else
        store_ahead(e, &m, regs, bytes);
    dist_close(e, &d);
}
