// reduce.c - reductions along one dimension, and scans.
//
// A source in registers: each thread combines what it has, then with partners
// at XOR distances, within a warp by shuffles, beyond through a workspace. A
// source in shared memory: some lanes share each result.
#include "gpu_backend/emit_int.h"

static const PlanReduce *plan_of(const Emit *e, const IrStmt *s)
{
    for (int i = 0; i < e->launch->reduce_count; i++)
        if (e->launch->reduces[i].stmt == s)
            return &e->launch->reduces[i];
    return NULL;
}

static Text source_value(Emit *e, const IrStmt *s, DType to, DType from, Text x)
{
    Text v = convert(e, to, from, false, x, true);

    if (s->op != OP_REDUCE_ABSMAX && s->op != OP_REDUCE_ABSSUM)
        return v;
    return text_format(e->arena, "magnitude(%.*s)", TEXT_ARG(v));
}

static int64_t inner_of(const IrReduceShape *r)
{
    int64_t inner = 1;

    for (int d = r->dim + 1; d < r->src->rank; d++)
        inner *= fixed_extent(r->src, d);
    return inner;
}

static int64_t result_of(const IrReduceShape *r, int64_t element)
{
    int64_t inner = inner_of(r), extent = fixed_extent(r->src, r->dim);
    return element / (inner * extent) * inner + element % inner;
}

// ---- tables over the registers of a fragment -------------------------------

typedef struct {
    FitTable t;
    int32_t *points, *value;
} Table;

static Table table_over(Emit *e, const PlanFragment *f)
{
    Table t = {.t = {e->threads, f->locals, NULL, NULL}};
    size_t n = (size_t)e->threads * f->locals;
    bool *active = new_array(e->arena, bool, n + 1);

    t.points = plan_points(e->arena, f, e->threads);
    t.value = new_array(e->arena, int32_t, n + 1);
    if (!t.points) {
        refuse(e, "this layout of a reduction");
        t.points = t.value;
    }
    for (size_t i = 0; i < n; i++)
        active[i] = t.points[i] >= 0;
    t.t.value = t.value;
    t.t.active = active;
    return t;
}

static int cells(const Table *t)
{
    return t->t.threads * t->t.locals;
}

static void open_registers(Emit *e, const Table *t)
{
    Text active = fit_active(e, &t->t);

    line(e, "#pragma unroll");
    if (active.len)
        open_brace(e, "for (int l = 0; l < %d; l++) if (%.*s) {", t->t.locals,
                   TEXT_ARG(active));
    else
        open_brace(e, "for (int l = 0; l < %d; l++) {", t->t.locals);
}

// ---- a source in registers -------------------------------------------------

static void combine_own(Emit *e, const IrStmt *s, const PlanReduce *r)
{
    const IrReduceShape *h = &r->shape;
    const PlanFragment *f = e->plan->fragments[h->src->id];
    DType to = h->out->dtype;
    Table t = table_over(e, f);

    line(e, "%s part[%d];", type_of(to), r->part->locals);
    line(e, "#pragma unroll");
    line(e, "for (int l = 0; l < %d; l++)", r->part->locals);
    line(e, "    part[l] = %.*s;", TEXT_ARG(identity(e, s->op, to)));
    for (int i = 0; i < cells(&t); i++)
        if (t.points[i] >= 0)
            t.value[i] = r->part->local[result_of(h, t.points[i])];
    Text where = fit(e, &t.t, true);
    Text x = text_format(e->arena, "%.*s[l]", TEXT_ARG(e->buffer[h->src->id]));
    Text old = text_format(e->arena, "part[%.*s]", TEXT_ARG(where));
    open_registers(e, &t);
    line(e, "%.*s = %.*s;", TEXT_ARG(old),
         TEXT_ARG(combine(e, s->op, to, old,
                          source_value(e, s, to, h->src->dtype, x))));
    close_brace(e);
}

static Text workspace(Emit *e, const IrStmt *s, DType t)
{
    for (int i = 0; i < e->launch->buffer_count; i++) {
        const PlanBuffer *b = &e->launch->buffers[i];
        if (!b->ir && b->stmt == s)
            return text_format(e->arena, "((%s *)(arena + %lld))", type_of(t),
                               (long long)b->offset);
    }
    refuse(e, "a reduction without its workspace");
    return TEXT("0");
}

static void combine_step(Emit *e, const IrStmt *s, const PlanReduce *r, int step)
{
    DType t = r->shape.out->dtype;

    if (step < e->lanes) {
        line(e, "#pragma unroll");
        line(e, "for (int l = 0; l < %d; l++)", r->part->locals);
        line(e, "    part[l] = %.*s;",
             TEXT_ARG(combine(e, s->op, t, TEXT("part[l]"),
                              text_format(e->arena, "shuffle_xor(part[l], %d)",
                                          step))));
        return;
    }
    line(e, "#pragma unroll");
    open_brace(e, "for (int l = 0; l < %d; l++) {", r->part->locals);
    meet(e);
    line(e, "work[tid] = part[l];");
    meet(e);
    line(e, "part[l] = %.*s;",
         TEXT_ARG(combine(e, s->op, t, TEXT("part[l]"),
                          text_format(e->arena, "work[tid ^ %d]", step))));
    close_brace(e);
}

// Where result `o` belongs in `out`, of whatever kind.
static Text out_element(Emit *e, const IrReduceShape *h, Text o)
{
    Text index[IR_MAX_RANK];
    int64_t inner = 1;

    for (int d = h->out->rank - 1; d >= 0; d--) {
        int64_t n = fixed_extent(h->out, d);
        Text x = o;
        if (inner > 1)
            x = text_format(e->arena, "(%.*s) / %lld", TEXT_ARG(x),
                            (long long)inner);
        if (d)
            x = text_format(e->arena, "%s%.*s%s %% %lld",
                            inner > 1 ? "" : "(", TEXT_ARG(x),
                            inner > 1 ? "" : ")", (long long)n);
        index[d] = n == 1 ? TEXT("0") : x;
        inner *= n;
    }
    Text at = in_shared(e, h->out) ? shared_offset(e, h->out, index)
                                   : text_format(e->arena, "%.*s", TEXT_ARG(o));
    if (h->out->scope == SCOPE_VAR)
        return e->buffer[h->out->id];
    return text_format(e->arena, "%.*s[%.*s]",
                       TEXT_ARG(e->buffer[h->out->id]), TEXT_ARG(at));
}

static void put(Emit *e, const IrStmt *s, const IrReduceShape *h, Text to,
                Text value)
{
    if (!h->clear)
        value = combine(e, s->op, h->out->dtype, to, value);
    line(e, "%.*s = %.*s;", TEXT_ARG(to), TEXT_ARG(value));
}

// Every holder of a result in `out` takes it from the workspace.
static void take(Emit *e, const IrStmt *s, const IrReduceShape *h)
{
    Table t = table_over(e, e->plan->fragments[h->out->id]);

    for (int i = 0; i < cells(&t); i++)
        t.value[i] = t.points[i] < 0 ? 0 : t.points[i];
    Text from = text_format(e->arena, "work[%.*s]",
                            TEXT_ARG(fit(e, &t.t, true)));
    Text to = text_format(e->arena, "%.*s[l]",
                          TEXT_ARG(e->buffer[h->out->id]));
    meet(e);
    open_registers(e, &t);
    put(e, s, h, to, from);
    close_brace(e);
}

// Every holder of a result in `out` has it in `part` already.
static void take_own(Emit *e, const IrStmt *s, const PlanReduce *r)
{
    const IrReduceShape *h = &r->shape;
    Table t = table_over(e, e->plan->fragments[h->out->id]);

    if (!r->is_own) {
        refuse(e, "a reduction into threads that do not take part");
        return;
    }
    for (int i = 0; i < cells(&t); i++)
        t.value[i] = t.points[i] < 0 ? 0 : r->part->local[t.points[i]];
    Text from = text_format(e->arena, "part[%.*s]",
                            TEXT_ARG(fit(e, &t.t, true)));
    open_registers(e, &t);
    put(e, s, h, text_format(e->arena, "%.*s[l]",
                             TEXT_ARG(e->buffer[h->out->id])), from);
    close_brace(e);
}

static void deliver(Emit *e, const IrStmt *s, const PlanReduce *r)
{
    const IrReduceShape *h = &r->shape;
    const PlanFragment *out = e->plan->fragments[h->out->id];
    bool registers = in_registers(e, h->out);

    if (registers && plan_same(out, r->part)) {
        line(e, "#pragma unroll");
        open_brace(e, "for (int l = 0; l < %d; l++) {", out->locals);
        put(e, s, h, text_format(e->arena, "%.*s[l]",
                                 TEXT_ARG(e->buffer[h->out->id])),
            TEXT("part[l]"));
        close_brace(e);
        return;
    }
    if (!registers && !in_shared(e, h->out)) {
        refuse(e, "a reduction of a tile into '%.*s'",
                    TEXT_ARG(h->out->name));
        return;
    }
    if (registers && e->plan->rules == PLAN_TILELANG) {
        take_own(e, s, r);
        return;
    }
    Table t = table_over(e, r->part);
    bool *first = new_array(e->arena, bool, cells(&t) + 1);
    for (int i = 0; i < cells(&t); i++) {
        t.value[i] = t.points[i] < 0 ? 0 : t.points[i];
        first[i] = t.points[i] >= 0 &&
                   r->part->thread[t.points[i]] == i / t.t.locals;
    }
    Text o = fit(e, &t.t, true);
    t.t.active = first;
    if (registers)
        meet(e);
    open_registers(e, &t);
    if (registers)
        line(e, "work[%.*s] = part[l];", TEXT_ARG(o));
    else
        put(e, s, h, out_element(e, h, o), TEXT("part[l]"));
    close_brace(e);
    if (registers)
        take(e, s, h);
}

static void from_registers(Emit *e, const IrStmt *s, const PlanReduce *r)
{
    open_brace(e, "{");
    if (r->workspace)
        line(e, "%s *const work = %.*s;", type_of(r->shape.out->dtype),
             TEXT_ARG(workspace(e, s, r->shape.out->dtype)));
    combine_own(e, s, r);
    for (int i = 0; i < r->step_count; i++)
        combine_step(e, s, r, r->steps[i]);
    deliver(e, s, r);
    close_brace(e);
}

// ---- a source in shared memory ---------------------------------------------

// Element number `n` (text) of the reduced dimension of result `o`.
static Text source_element(Emit *e, const IrReduceShape *h, const char *o,
                           const char *n)
{
    Text index[IR_MAX_RANK], rest = text_of(o);
    int64_t inner = 1;

    for (int d = h->src->rank - 1; d >= 0; d--) {
        if (d == h->dim) {
            index[d] = text_of(n);
            continue;
        }
        int64_t extent = fixed_extent(h->src, d);
        index[d] = text_format(e->arena, "%.*s / %lld %% %lld", TEXT_ARG(rest),
                               (long long)inner, (long long)extent);
        inner *= extent;
    }
    Text at = in_shared(e, h->src) ? shared_offset(e, h->src, index)
                                   : (Text){0};
    if (!at.len) {              // an array of a thread: row-major
        int64_t stride = 1;
        at = TEXT("0");
        for (int d = h->src->rank - 1; d >= 0; d--) {
            at = text_format(e->arena, "%.*s + (%.*s) * %lld", TEXT_ARG(at),
                             TEXT_ARG(index[d]), (long long)stride);
            stride *= fixed_extent(h->src, d);
        }
    }
    return text_format(e->arena, "%.*s[%.*s]",
                       TEXT_ARG(e->buffer[h->src->id]), TEXT_ARG(at));
}

static void from_shared(Emit *e, const IrStmt *s, const PlanReduce *r)
{
    const IrReduceShape *h = &r->shape;
    DType t = h->out->dtype;
    int64_t extent = fixed_extent(h->src, h->dim), n = r->results;
    int lanes = r->lanes, step = e->threads / lanes;
    bool registers = in_registers(e, h->out);

    open_brace(e, "{");
    if (registers)
        line(e, "%s *const work = %.*s;", type_of(t),
             TEXT_ARG(workspace(e, s, t)));
    open_brace(e, "for (int o0 = 0; o0 < %lld; o0 += %d) {", (long long)n,
               step);
    line(e, "const int o1 = o0 + tid / %d;", lanes);
    line(e, "%s sum0 = %.*s;", type_of(t), TEXT_ARG(identity(e, s->op, t)));
    open_brace(e, "for (int x0 = tid %% %d; x0 < %lld && o1 < %lld; x0 += %d) {",
               lanes, (long long)extent, (long long)n, lanes);
    Text v = source_element(e, h, "o1", "x0");
    line(e, "sum0 = %.*s;",
         TEXT_ARG(combine(e, s->op, t, TEXT("sum0"),
                          source_value(e, s, t, h->src->dtype, v))));
    close_brace(e);
    for (int m = 1; m < lanes; m *= 2)
        line(e, "sum0 = %.*s;",
             TEXT_ARG(combine(e, s->op, t, TEXT("sum0"),
                              text_format(e->arena, "shuffle_xor(sum0, %d)",
                                          m))));
    open_brace(e, "if (tid %% %d == 0 && o1 < %lld) {", lanes, (long long)n);
    if (registers)
        line(e, "work[o1] = sum0;");
    else
        put(e, s, h, out_element(e, h, TEXT("o1")), TEXT("sum0"));
    close_brace(e);
    close_brace(e);
    if (registers)
        take(e, s, h);
    close_brace(e);
}

// Each thread reduces an array of its own.
static void from_own(Emit *e, const IrStmt *s, const PlanReduce *r)
{
    const IrReduceShape *h = &r->shape;
    DType t = h->out->dtype;

    open_brace(e, "for (int o1 = 0; o1 < %lld; o1++) {", (long long)r->results);
    line(e, "%s sum0 = %.*s;", type_of(t), TEXT_ARG(identity(e, s->op, t)));
    open_brace(e, "for (int x0 = 0; x0 < %lld; x0++) {",
               (long long)fixed_extent(h->src, h->dim));
    Text v = source_element(e, h, "o1", "x0");
    line(e, "sum0 = %.*s;",
         TEXT_ARG(combine(e, s->op, t, TEXT("sum0"),
                          source_value(e, s, t, h->src->dtype, v))));
    close_brace(e);
    put(e, s, h, out_element(e, h, TEXT("o1")), TEXT("sum0"));
    close_brace(e);
}

void reduce(Emit *e, IrStmt *s)
{
    const PlanReduce *r = plan_of(e, s);

    if (!r || e->dist) {
        refuse(e, "%s here", op_surface(s->op));
        return;
    }
    if (ir_attr_int(s, ATTR_NAN_PROPAGATE, 0)) {
        refuse(e, "%s with nan_propagate", op_surface(s->op));
        return;
    }
    sync_before(e, s);
    if (is_private(e, r->shape.src) && is_private(e, r->shape.out)) {
        from_own(e, s, r);
        return;
    }
    if (e->divergent) {
        refuse(e, "%s that only some threads reach", op_surface(s->op));
        return;
    }
    if (in_registers(e, r->shape.src))
        from_registers(e, s, r);
    else if (in_shared(e, r->shape.src) && !is_private(e, r->shape.out))
        from_shared(e, s, r);
    else
        refuse(e, "%s between these two", op_surface(s->op));
}

// ---- scans -----------------------------------------------------------------

static Text region_element(Emit *e, const IrRegion *r, const Text *index)
{
    Text at[IR_MAX_RANK];

    for (int d = 0; d < r->buffer->rank; d++) {
        at[d] = index[d];
        if (r->form != REGION_WHOLE && r->min[d])
            at[d] = sum(e, expr(e, r->min[d]), index[d]);
    }
    return text_format(e->arena, "%.*s[%.*s]",
                       TEXT_ARG(e->buffer[r->buffer->id]),
                       TEXT_ARG(shared_offset(e, r->buffer, at)));
}

static int64_t region_extent(const IrRegion *r, int d)
{
    int64_t n = -1;

    if (r->form == REGION_WHOLE)
        return fixed_extent(r->buffer, d);
    if (!r->extent[d])
        return 1;
    return ir_is_int(r->extent[d], &n) ? n : -1;
}

static void scan_elements(Emit *e, const IrScanShape *h, Op op, Text from,
                          Text to, int64_t n)
{
    DType t = h->dst->buffer->dtype;

    open_brace(e, "for (int x0 = 0; x0 < %lld; x0++) {", (long long)n);
    Text v = convert(e, t, h->src->buffer->dtype, false, from, true);
    line(e, "sum0 = %.*s;", TEXT_ARG(combine(e, op, t, TEXT("sum0"), v)));
    line(e, "%.*s = sum0;", TEXT_ARG(to));
    close_brace(e);
}

static void scan_vectors(Emit *e, const IrScanShape *h, Op op, Text from,
                         Text to, int64_t n, int width)
{
    DType t = h->dst->buffer->dtype;
    int bytes = width * (is_nibble(t) ? 8 : dtype_info(t)->bits) / 8;

    open_brace(e, "for (int x0 = 0; x0 < %lld; x0 += %d) {", (long long)n,
               width);
    line(e, "alignas(16) %s y0[%d];", type_of(t), width);
    line(e, "move<%d>(y0, &%.*s);", bytes, TEXT_ARG(from));
    line(e, "#pragma unroll");
    line(e, "for (int i0 = 0; i0 < %d; i0++)", width);
    line(e, "    y0[i0] = sum0 = %.*s;",
         TEXT_ARG(combine(e, op, t, TEXT("sum0"), TEXT("y0[i0]"))));
    line(e, "move<%d>(&%.*s, y0);", bytes, TEXT_ARG(to));
    close_brace(e);
}

// One thread walks each line.
void scan(Emit *e, IrStmt *s)
{
    IrScanShape h;
    int64_t lines = 1;
    Text from[IR_MAX_RANK], rest = TEXT("p");

    if (!ir_resolve_scan(e->k, s, &h) || e->divergent || e->dist ||
        !in_shared(e, h.src->buffer) || !in_shared(e, h.dst->buffer) ||
        h.src->buffer->rank != h.dst->buffer->rank) {
        refuse(e, "%s here", op_surface(s->op));
        return;
    }
    sync_before(e, s);
    int64_t n = region_extent(h.src, h.dim);
    for (int d = h.src->buffer->rank - 1; d >= 0; d--) {
        int64_t extent = region_extent(h.src, d);
        if (extent < 0) {
            refuse(e, "%s of a size that is not constant",
                        op_surface(s->op));
            return;
        }
        if (d == h.dim)
            continue;
        from[d] = text_format(e->arena, "%.*s / %lld %% %lld", TEXT_ARG(rest),
                              (long long)lines, (long long)extent);
        lines *= extent;
    }
    from[h.dim] = h.reverse ? text_format(e->arena, "%lld - x0",
                                          (long long)n - 1)
                            : TEXT("x0");
    DType t = h.dst->buffer->dtype;
    open_brace(e, "for (int p = tid; p < %lld; p += %d) {", (long long)lines,
               e->threads);
    Op op = s->op == OP_CUMMAX ? OP_REDUCE_MAX : OP_REDUCE_SUM;
    line(e, "%s sum0 = %.*s;", type_of(t), TEXT_ARG(identity(e, op, t)));
    const PlanMove *plan = plan_tile_move(e->launch, s);
    if (plan && plan->width > 1)
        scan_vectors(e, &h, op, region_element(e, h.src, from),
                     region_element(e, h.dst, from), n, plan->width);
    else
        scan_elements(e, &h, op, region_element(e, h.src, from),
                      region_element(e, h.dst, from), n);
    close_brace(e);
}
