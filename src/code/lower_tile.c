// lower_tile.c - tile operations with an instruction of their own: gemm,
// reductions, scans, im2col, print.
#include "code/code_int.h"

#include <math.h>

static IrKernel *kernel_of(Lower *l)
{
    return (IrKernel *)l->k; // resolution only adds nodes to its arena
}

// ---- gemm ----------------------------------------------------------------

static bool matrix_of(Lower *l, const IrRegion *r, int row, int col, Matrix *m)
{
    const IrBuffer *b = r->buffer;
    Form f;

    *m = (Matrix){.buffer = storage_of(l, b), .row = row, .col = col};
    if (!buffer_usable(l, b))
        return false;
    for (int d = 0; d < b->rank; d++) {
        if (!form_of(l, r->min[d], &f) || !fix_index(l, b, d, &f))
            return false;
        m->at[d] = form_base_slot(l, &f);
    }
    return true;
}

static DType operand_dtype(Lower *l, const IrRegion *r)
{
    return map_dtype(l, r->buffer->dtype);
}

static LaneType gemm_type(Lower *l, DType a, DType c)
{
    if (!dtype_is_float(c) && !dtype_is_float(a) &&
        lane_type_of(c) == LANE_I32 && lane_bytes(lane_type_of(a)) == 4)
        return LANE_I32;
    if (!dtype_is_float(c) || !dtype_is_float(a))
        unsupported(l, "T.gemm of %s into %s", dtype_info(a)->name,
                    dtype_info(c)->name);
    return a == DT_F64 || c == DT_F64 ? LANE_F64 : LANE_F32;
}

static int clear_slot(Lower *l, const IrStmt *s)
{
    int at = op_param_find(op_info(l->k->ops, s->op), TEXT("clear_accum"));
    Val v;

    if (at < 0 || at >= s->operand_count ||
        s->operand[at].kind != OPERAND_EXPR)
        return -1;
    v = value_of(l, s->operand[at].expr);
    return l->failed ? -1 : cast_value(l, v, DT_BOOL, true).reg;
}

static void lower_gemm(Lower *l, const IrStmt *s)
{
    const IrRegion *r[3];
    IrGemmShape shape;
    Gemm g = {0};

    if (!ir_resolve_gemm(kernel_of(l), s, &shape)) {
        l->failed = true;
        return;
    }
    for (int i = 0; i < 3; i++)
        if (!(r[i] = operand_region(l, s, shape.operand[i])))
            return;
    g.group = shape.group;
    g.kept = shape.kept;
    if (g.group && !matrix_of(l, operand_region(l, s, shape.operand[3]),
                              shape.e_row, shape.e_col, &g.e))
        return;
    g.stmt = s->id;
    g.m = shape.m;
    g.n = shape.n;
    g.k = shape.k;
    g.clear = clear_slot(l, s);
    g.type = gemm_type(l, operand_dtype(l, r[0]), operand_dtype(l, r[2]));
    g.site = new_site(l, SITE_BOUNDS, r[2]->buffer->id, true, TEXT("T.gemm"));
    if (!matrix_of(l, r[0], shape.a_row, shape.a_col, &g.a) ||
        !matrix_of(l, r[1], shape.b_row, shape.b_col, &g.b) ||
        !matrix_of(l, r[2], shape.c_row, shape.c_col, &g.c))
        return;
    vec_push(l->arena, &l->gemm, g);
    emit(l, (Instr){.op = INSTR_GEMM, .a = l->gemm.len - 1});
}

// ---- reductions and scans ------------------------------------------------

static bool tile_usable(Lower *l, const IrBuffer *b)
{
    if (!buffer_usable(l, b))
        return false;
    if (l->code->buffer[b->id].place != BUFFER_SCRATCH)
        unsupported(l, "'%.*s' must be a fragment, in shared memory or local",
                    TEXT_ARG(b->name));
    return !l->failed;
}

static LaneOp reduction_lane(const IrStmt *s)
{
    LaneOp op = lane_of_op(s->op);

    if (!ir_attr_int(s, ATTR_NAN_PROPAGATE, 0))
        return op;
    return op == LANE_OP_MAX ? LANE_OP_MAXNAN
           : op == LANE_OP_MIN ? LANE_OP_MINNAN
                               : op;
}

// What combining changes nothing: 0, all ones, the limits of t.
Val identity_of(Lower *l, LaneOp op, DType t)
{
    bool least = op == LANE_OP_MIN || op == LANE_OP_MINNAN;
    const DTypeInfo *info = dtype_info(t);
    double top = info->has_infinity ? (double)INFINITY : info->max_finite;
    Range r = limits_of(t);
    int64_t v = 0;

    if (op == LANE_OP_AND) {
        v = info->kind == KIND_BOOL ? 1 : -1;
    } else if (least || op == LANE_OP_MAX || op == LANE_OP_MAXNAN) {
        if (info->kind == KIND_FLOAT)
            return slot_value(float_slot(l, t, least ? top : -top), t);
        if (!r.known)
            r = info->kind == KIND_INT ? range_of(INT64_MIN, INT64_MAX)
                                       : range_of(0, -1);
        v = least ? r.high : r.low;
    }
    return slot_value(int_slot(l, t, v), t);
}

static void lower_reduce(Lower *l, const IrStmt *s)
{
    IrReduceShape shape;
    Reduction r = {.op = reduction_lane(s)};
    DType dtype;

    if (!ir_resolve_reduce(kernel_of(l), s, &shape)) {
        l->failed = true;
        return;
    }
    if (!tile_usable(l, shape.src) || !tile_usable(l, shape.out))
        return;
    r.src = storage_of(l, shape.src);
    r.dst = storage_of(l, shape.out);
    r.dim = shape.dim;
    r.magnitude = s->op == OP_REDUCE_ABSMAX || s->op == OP_REDUCE_ABSSUM;
    r.clear = shape.clear || s->op == OP_REDUCE_ABSSUM;
    if (!dtype_is_float(l->code->buffer[r.dst].dtype) &&
        (r.op == LANE_OP_MAXNAN || r.op == LANE_OP_MINNAN))
        r.op = r.op == LANE_OP_MAXNAN ? LANE_OP_MAX : LANE_OP_MIN;
    dtype = l->code->buffer[r.dst].dtype;
    r.start = identity_of(l, r.magnitude ? LANE_OP_ADD : r.op, dtype).reg;
    vec_push(l->arena, &l->reduction, r);
    emit(l, (Instr){.op = INSTR_REDUCE, .a = l->reduction.len - 1});
}

static bool constant_extent(Lower *l, const IrRegion *r, int d, int64_t *out)
{
    if (d < 0) {
        *out = 1;
        return true;
    }
    if (r->extent[d] && ir_is_int(r->extent[d], out) && *out >= 0)
        return true;
    unsupported(l, "T.cumsum of a slice whose size is not constant");
    return false;
}

static void lower_scan(Lower *l, const IrStmt *s)
{
    IrScanShape shape;
    Scan z = {.op = lane_of_op(s->op)};
    int rank, row;

    if (!ir_resolve_scan(kernel_of(l), s, &shape)) {
        l->failed = true;
        return;
    }
    if (!tile_usable(l, shape.src->buffer) ||
        !tile_usable(l, shape.dst->buffer))
        return;
    rank = shape.src->buffer->rank;
    row = rank - 2;
    z.down = rank == 2 && shape.dim == 0;
    z.reverse = shape.reverse;
    z.site = new_site(l, SITE_BOUNDS, shape.dst->buffer->id, true, TEXT(""));
    if (!constant_extent(l, shape.src, row, &z.rows) ||
        !constant_extent(l, shape.src, rank - 1, &z.cols) ||
        !matrix_of(l, shape.src, row, rank - 1, &z.src) ||
        !matrix_of(l, shape.dst, row, rank - 1, &z.dst))
        return;
    vec_push(l->arena, &l->scan, z);
    emit(l, (Instr){.op = INSTR_SCAN, .a = l->scan.len - 1});
}

// ---- im2col --------------------------------------------------------------

static int step_slot(Lower *l, const IrStmt *s, int operand)
{
    Form f;

    if (operand >= s->operand_count ||
        s->operand[operand].kind != OPERAND_EXPR ||
        !form_of(l, s->operand[operand].expr, &f))
        return int_slot(l, DT_I64, 0);
    return form_base_slot(l, &f);
}

static void lower_im2col(Lower *l, const IrStmt *s)
{
    const IrRegion *img = operand_region(l, s, 0);
    const IrRegion *col = img ? operand_region(l, s, 1) : NULL;
    Im2col m = {.kernel = ir_attr_int(s, ATTR_KERNEL, 1),
                .stride = ir_attr_int(s, ATTR_STRIDE, 1),
                .dilation = ir_attr_int(s, ATTR_DILATION, 1),
                .pad = ir_attr_int(s, ATTR_PAD, 0)};

    if (!col)
        return;
    if (!ir_resolve_im2col(kernel_of(l), s)) {
        l->failed = true;
        return;
    }
    if (col->form != REGION_WHOLE || col->buffer->rank != 2) {
        unsupported(l, "T.im2col into a slice");
        return;
    }
    if (!buffer_usable(l, img->buffer) || !tile_usable(l, col->buffer))
        return;
    if (has_layout(img->buffer)) {
        unsupported(l, "T.im2col of a tensor with a layout");
        return;
    }
    note_read(l, img->buffer);
    m.src = img->buffer->id;
    m.dst = storage_of(l, col->buffer);
    m.step_m = step_slot(l, s, 2);
    m.step_k = step_slot(l, s, 3);
    vec_push(l->arena, &l->im2col, m);
    emit(l, (Instr){.op = INSTR_IM2COL, .a = l->im2col.len - 1});
}

// ---- print ---------------------------------------------------------------

static void print_operand(Lower *l, const IrOperand *o, Print *p)
{
    Form index[IR_MAX_RANK];
    Val v;

    if (o->kind == OPERAND_REGION && o->region->form != REGION_POINT) {
        p->kind = PRINT_BUFFER;
        p->buffer = storage_of(l, o->region->buffer);
        p->dtype = map_dtype(l, o->region->buffer->dtype);
        buffer_usable(l, o->region->buffer);
        return;
    }
    p->kind = PRINT_SLOT;
    if (o->kind == OPERAND_EXPR) {
        v = value_of(l, o->expr);
    } else {
        const IrRegion *r = o->region;

        if (!index_forms(l, r->buffer, r->min, r->buffer->rank, index))
            return;
        v = load_of(l, r->buffer, index, 0);
    }
    p->slot = v.reg;
    p->dtype = v.dtype;
}

static void lower_print(Lower *l, const IrStmt *s)
{
    const IrAttrValue *msg = ir_attr_get(s, ATTR_MSG);
    Print p = {.kind = PRINT_MESSAGE};

    if (msg && msg->kind == ATTRVAL_TEXT)
        p.message = msg->text;
    if (s->operand_count > 0 && s->operand[0].kind != OPERAND_NONE)
        print_operand(l, &s->operand[0], &p);
    if (l->failed)
        return;
    l->code->prints = true;
    if (l->launch >= 0)
        l->launches.at[l->launch].ordered = true;
    vec_push(l->arena, &l->print, p);
    emit(l, (Instr){.op = INSTR_PRINT, .a = l->print.len - 1});
}

// ---- dispatch ------------------------------------------------------------

// Tile operations that a T.Parallel may hold, on single elements.
static bool runs_per_element(Op op)
{
    return op_is_atomic(op) || op == OP_ATOMIC_ADDX2 ||
           op == OP_ATOMIC_ADDX4 || op == OP_ATOMIC_STORE ||
           op == OP_REDUCER_UPDATE;
}

// What each thread can do for itself, on an array of its own.
static bool runs_in_thread(Op op)
{
    return op == OP_COPY || op == OP_TMA_COPY || op == OP_FILL ||
           op == OP_CLEAR || op == OP_TRANSPOSE || runs_per_element(op);
}

// A single element outside of T.Parallel: every thread of the block adds to it.
static bool adds_per_thread(const Lower *l, const IrStmt *s)
{
    return !l->par && !l->thread && l->launch >= 0 &&
           l->launches.at[l->launch].threads > 1 && is_point(s) &&
           (s->op == OP_ATOMIC_ADD || s->op == OP_ATOMIC_ADDX2 ||
            s->op == OP_ATOMIC_ADDX4);
}

static void lower_added(Lower *l, const IrStmt *s)
{
    if (s->op == OP_ATOMIC_ADD)
        lower_atomic(l, s);
    else
        lower_atomic_row(l, s, s->op == OP_ATOMIC_ADDX2 ? 2 : 4);
}

static void lower_per_thread(Lower *l, const IrStmt *s)
{
    int threads = int_slot(l, DT_I64, l->launches.at[l->launch].threads);
    int thread = new_slot(l, false), entry, next;
    LoopCtx ctx;

    emit(l, (Instr){.op = INSTR_MOV, .d = thread, .a = int_slot(l, DT_I64, 0)});
    loop_enter(l, &ctx, thread);
    entry = emit(l, (Instr){.op = INSTR_JUMPGE, .d = thread, .a = threads});
    lower_added(l, s);
    loop_continue_here(l, &ctx);
    next = l->out->len;
    emit(l, (Instr){.op = INSTR_NEXT,
                    .d = thread,
                    .a = threads,
                    .b = entry + 1 - next});
    patch(l, entry);
    loop_leave(l, &ctx);
}

// A tile operation that is not done when the next statement begins.
static void lower_started(Lower *l, const IrStmt *s, CodeOrder kind)
{
    bool tells = s->op == OP_TMA_COPY && s->operand_count > 2 &&
                 s->operand[2].kind == OPERAND_REGION;

    begin_order(l, kind, tells ? s->operand[2].region : NULL);
    if (kind == ORDER_MATRIX)
        lower_gemm(l, s);
    else
        lower_copy(l, s);
    end_order(l);
}

void lower_tile(Lower *l, const IrStmt *s)
{
    const OpInfo *info = op_info(l->k->ops, s->op);
    CodeOrder started = started_by(s);

    if (info->class == OPCLASS_HINT)
        return;
    if (s->op == OP_CALL_EXTERN) {
        lower_extern(l, s);
        return;
    }
    if ((info->class == OPCLASS_SIMT || info->class == OPCLASS_ARCH) &&
        lower_warp_stmt(l, s))
        return;
    if (in_thread_code(l) && !runs_in_thread(s->op)) {
        unsupported(l, "%s by a thread alone", info->surface);
        return;
    }
    if (l->par && !in_thread_code(l) && s->op == OP_COPY && is_point(s)) {
        lower_element_copy(l, s);
        return;
    }
    if (l->par && !in_thread_code(l) && info->class == OPCLASS_TILE &&
        !runs_per_element(s->op)) {
        unsupported(l, "%s inside of a T.Parallel", info->surface);
        return;
    }
    if (adds_per_thread(l, s)) {
        lower_per_thread(l, s);
        return;
    }
    if (started != ORDER_END) {
        lower_started(l, s, started);
        return;
    }
    switch (s->op) {
    case OP_COPY:
        lower_copy(l, s);
        break;
    case OP_FILL:
    case OP_CLEAR:
        lower_fill(l, s);
        break;
    case OP_GEMM:
    case OP_GEMM_SP:
        lower_gemm(l, s);
        break;
    case OP_CUMSUM:
    case OP_CUMMAX:
        lower_scan(l, s);
        break;
    case OP_TRANSPOSE:
        lower_transpose(l, s);
        break;
    case OP_IM2COL:
        lower_im2col(l, s);
        break;
    case OP_PRINT:
        lower_print(l, s);
        break;
    case OP_ATOMIC_ADDX2:
    case OP_ATOMIC_ADDX4:
        lower_added(l, s);
        break;
    case OP_ATOMIC_STORE:
        lower_atomic_store(l, s);
        break;
    case OP_REDUCER_INIT:
    case OP_REDUCER_UPDATE:
    case OP_FINALIZE_REDUCER:
        lower_reducer(l, s);
        break;
    default:
        if (op_is_reduction(s->op))
            lower_reduce(l, s);
        else if (op_is_atomic(s->op))
            lower_atomic(l, s);
        else
            unsupported(l, "%s is not supported yet", info->surface);
    }
}
