// tile.c - tile operations that are loops over elements.
#include "gpu_backend/emit_int.h"

bool gpu_is_hint(const Emit *e, const IrStmt *s)
{
    return op_info(e->k->ops, s->op)->class == OPCLASS_HINT;
}

static bool resolve(Emit *e, IrStmt *s, IrCopyMap *m)
{
    switch (s->op) {
    case OP_COPY:
    case OP_ASYNC_COPY:
    case OP_TMA_COPY:
        return ir_resolve_copy(e->k, s->at, s->operand[0].region,
                               s->operand[1].region, m);
    case OP_FILL:
    case OP_CLEAR:
        return ir_resolve_fill(e->k, s->operand[0].region, m);
    case OP_TRANSPOSE:
        return ir_resolve_transpose(e->k, s, m);
    case OP_FINALIZE_REDUCER:
        return ir_resolve_finalize(e->k, s, m);
    default:
        return ir_resolve_atomic(e->k, s, m);
    }
}

static void open_map(Emit *e, Dist *d, IrStmt *s, const IrCopyMap *m)
{
    d->stmt = s;
    d->layout = loop_layout(e, s);
    d->rank = m->rank;
    for (int i = 0; i < m->rank; i++) {
        if (!ir_is_int(m->extent[i], &d->extent[i])) {
            d->extent[i] = -1;
            d->size[i] = expr(e, m->extent[i]);
        }
    }
    dist_open(e, d);
}

static Text value_of(Emit *e, IrStmt *s, const IrCopyMap *m, DType to)
{
    if (m->src.buffer) {
        Spot p = place_of_side(e, m->src.buffer, m->src.min, m->src.map);
        Text v = value_to_store(e, m, load(e, &p));
        return convert(e, to, m->src.buffer->dtype, false, v, true);
    }
    const IrOperand *o = s->operand_count > 1 ? &s->operand[1] : NULL;
    if (o && o->kind == OPERAND_EXPR)
        return convert(e, to, o->expr->dtype, true, wide_expr(e, o->expr),
                       true);
    if (o && o->kind == OPERAND_REGION) {
        Spot p = place_of(e, o->region->buffer, o->region->min);
        return convert(e, to, o->region->buffer->dtype, false, load(e, &p),
                       true);
    }
    return dtype_is_float(to) ? narrow(e, to, literal(e, to, 0))
                              : literal_int(e, to, 0);
}

static void elements(Emit *e, IrStmt *s, const IrCopyMap *m)
{
    Spot to = place_of_side(e, m->dst.buffer, m->dst.min, m->dst.map);
    Text v = value_of(e, s, m, m->dst.buffer->dtype);

    if (op_is_atomic(s->op))
        atomic_update(e, s->op, &to, v);
    else
        store(e, &to, v);
}

static bool is_copy(Op op)
{
    return op == OP_COPY || op == OP_ASYNC_COPY || op == OP_TMA_COPY;
}

// A side that is each thread's own array, or at a place of its own.
static bool is_own(const Emit *e, const IrBuffer *b, IrExpr *const *min)
{
    bool own = b && is_private(e, b);

    for (int d = 0; b && d < b->rank; d++)
        own |= min[d] && expr_varies(e, min[d]);
    return own;
}

static void loop_over(Emit *e, IrStmt *s)
{
    IrCopyMap m = {0};
    Dist d = {0};

    if (!resolve(e, s, &m)) {
        e->failed = true;
        return;
    }
    if (!m.dst.buffer)
        return;
    if (!e->dist && !m.rank && !op_is_atomic(s->op) && !e->by_thread) {
        sync_before(e, s);
        bool once = !is_private(e, m.dst.buffer) &&
                    !in_registers(e, m.dst.buffer) && !e->divergent;
        if (once)
            open_brace(e, "if (tid == 0) {");
        d.before = NULL;
        elements(e, s, &m);
        if (once)
            close_brace(e);
        return;
    }
    if (e->dist || (!m.rank && e->by_thread)) {
        if (m.rank)
            refuse(e, "%s of a tile inside of a T.Parallel",
                        op_surface(s->op));
        elements(e, s, &m);
        return;
    }
    d.each = is_own(e, m.src.buffer, m.src.min) ||
             is_own(e, m.dst.buffer, m.dst.min);
    if (e->divergent && !d.each) {
        refuse(e, "%s that only some threads reach", op_surface(s->op));
        return;
    }
    sync_before(e, s);
    if (!d.each && is_copy(s->op) && copy_vectors(e, s, &m))
        return;
    if (!m.rank)
        open_brace(e, "if (tid == 0) {");
    else
        open_map(e, &d, s, &m);
    elements(e, s, &m);
    if (!m.rank)
        close_brace(e);
    else
        dist_close(e, &d);
}

// ---- T.im2col --------------------------------------------------------------

static Text scalar(Emit *e, const IrStmt *s, int i)
{
    return expr(e, s->operand[i].expr);
}

// Row m of the tile is an output pixel, column k a tap of its window.
static void im2col(Emit *e, IrStmt *s)
{
    IrBuffer *img = s->operand[0].region->buffer;
    IrBuffer *col = s->operand[1].region->buffer;
    long long kernel = ir_attr_int(s, ATTR_KERNEL, 1);
    long long stride = ir_attr_int(s, ATTR_STRIDE, 1);
    long long dilation = ir_attr_int(s, ATTR_DILATION, 1);
    long long pad = ir_attr_int(s, ATTR_PAD, 0);
    long long reach = (kernel - 1) * dilation + 1;
    Dist d = {.stmt = s, .rank = 2};
    IrExpr *min[IR_MAX_RANK] = {0};
    const int map[] = {0, 1};

    if (!ir_resolve_im2col(e->k, s) || e->dist || e->divergent ||
        !in_shared(e, col) || col->rank != 2 || img->rank != 4 ||
        s->operand[1].region->form != REGION_WHOLE) {
        refuse(e, "%s here", op_surface(s->op));
        return;
    }
    sync_before(e, s);
    d.extent[0] = fixed_extent(col, 0);
    d.extent[1] = fixed_extent(col, 1);
    Text h = expr(e, img->shape[1]), w = expr(e, img->shape[2]);
    Text c = expr(e, img->shape[3]), step_m = scalar(e, s, 2);
    Text step_k = scalar(e, s, 3);
    dist_open(e, &d);
    line(e, "const i64 im_m = (i64)(%.*s) * %lld + e0;", TEXT_ARG(step_m),
         (long long)d.extent[0]);
    line(e, "const i64 im_k = (i64)(%.*s) * %lld + e1;", TEXT_ARG(step_k),
         (long long)d.extent[1]);
    line(e, "const int im_h = (%.*s + %lld) / %lld + 1;", TEXT_ARG(h),
         2 * pad - reach, stride);
    line(e, "const int im_w = (%.*s + %lld) / %lld + 1;", TEXT_ARG(w),
         2 * pad - reach, stride);
    line(e, "const i64 im_n = im_m / (im_h * im_w), im_c = im_k %% (%.*s);",
         TEXT_ARG(c));
    line(e, "const i64 im_y = im_m %% (im_h * im_w) / im_w * %lld + "
            "im_k / (%lld * (%.*s)) * %lld - %lld;", stride, kernel,
         TEXT_ARG(c), dilation, pad);
    line(e, "const i64 im_x = im_m %% im_w * %lld + im_k / (%.*s) %% %lld * "
            "%lld - %lld;", stride, TEXT_ARG(c), kernel, dilation, pad);
    line(e, "const bool im_in = im_n < (%.*s) && im_y >= 0 && im_y < (%.*s) && "
            "im_x >= 0 && im_x < (%.*s);", TEXT_ARG(expr(e, img->shape[0])),
         TEXT_ARG(h), TEXT_ARG(w));
    Spot from = {.buffer = img, .index = {TEXT("im_n"), TEXT("im_y"),
                                          TEXT("im_x"), TEXT("im_c")}};
    Spot to = place_of_side(e, col, min, map);
    store(e, &to, text_format(e->arena, "im_in ? %.*s : %s()",
                              TEXT_ARG(element(e, &from)),
                              type_of(col->dtype)));
    dist_close(e, &d);
}

void tile(Emit *e, IrStmt *s)
{
    if (mbarrier_stmt(e, s) || gpu_is_hint(e, s))
        return;
    switch (s->op) {
    case OP_COPY:
    case OP_ASYNC_COPY:
    case OP_TMA_COPY:
    case OP_FILL:
    case OP_CLEAR:
    case OP_TRANSPOSE:
    case OP_FINALIZE_REDUCER:
    case OP_ATOMIC_ADD:
    case OP_ATOMIC_MAX:
    case OP_ATOMIC_MIN:
    case OP_ATOMIC_OR:
        loop_over(e, s);
        return;
    case OP_IM2COL:
        im2col(e, s);
        return;
    case OP_GEMM:
    case OP_GEMM_SP:
    case OP_WGMMA_GEMM:
        gemm(e, s);
        return;
    case OP_CUMSUM:
    case OP_CUMMAX:
        scan(e, s);
        return;
    default:
        break;
    }
    if (op_is_reduction(s->op)) {
        reduce(e, s);
        return;
    }
    if (!thread_stmt(e, s))
        refuse(e, "%s", op_surface(s->op));
}
