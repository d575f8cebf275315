// resolve_tile.c - shape rules of gemm, reductions, scans and the other tile
// operations (tilelang_surface 4.5 to 4.7).
#include "ir/ir_int.h"

static const char *surface(const IrKernel *k, const IrStmt *s)
{
    return op_info(k->ops, s->op)->surface;
}

static const IrRegion *region_at(IrKernel *k, const IrStmt *s, int i)
{
    if (i < s->operand_count && s->operand[i].kind == OPERAND_REGION)
        return s->operand[i].region;
    const OpInfo *info = op_info(k->ops, s->op);
    ir_error(k, s->at, "ir-operand", "%s: %.*s must be a buffer or a slice of "
             "one", info->surface, TEXT_ARG(info->param[i].name));
    return NULL;
}

static bool is_shared(IrScope s)
{
    return s == SCOPE_SHARED || s == SCOPE_SHARED_STATIC;
}

static bool is_on_chip_tile(IrScope s)
{
    return is_shared(s) || s == SCOPE_FRAGMENT;
}

static bool is_float_dtype(const IrRegion *r)
{
    return dtype_is_float(r->buffer->dtype);
}

static void note_allocation(IrKernel *k, const IrBuffer *b)
{
    if (b->at.file)
        diag_note(k->diag, b->at, "%.*s is allocated here", TEXT_ARG(b->name));
}

static bool bad_scope(IrKernel *k, const IrStmt *s, const IrRegion *r,
                      const char *wanted)
{
    ir_error(k, r->at, "ir-scope", "%s: %.*s is in %s; it must be %s",
             surface(k, s), TEXT_ARG(r->buffer->name),
             ir_scope_name(r->buffer->scope), wanted);
    note_allocation(k, r->buffer);
    return false;
}

// ---- gemm -------------------------------------------------------------------

typedef struct {
    const IrRegion *region;
    const char *name;               // "A"
    int64_t rows, cols;
    int rank;
} Matrix;

static bool matrix_init(IrKernel *k, const IrStmt *s, int i, const char *name,
                        Matrix *m)
{
    const IrRegion *r = region_at(k, s, i);
    if (!r)
        return false;
    *m = (Matrix){.region = r, .name = name, .rank = r->buffer->rank};
    if (r->form == REGION_POINT || m->rank < 2)
        return ir_error(k, r->at, "ir-shape",
                        "%s: %s must be a matrix, a whole buffer or a slice",
                        surface(k, s), name);
    for (int d = 0; d < m->rank - 2; d++)
        if (!is_one(region_extent(k, r, d)))
            return ir_error(k, r->at, "ir-shape",
                            "%s: dimension %d of %s must be a single index; "
                            "the matrix is in the last two", surface(k, s), d,
                            name);
    if (!ir_is_int(region_extent(k, r, m->rank - 2), &m->rows) ||
        !ir_is_int(region_extent(k, r, m->rank - 1), &m->cols))
        return ir_error(k, r->at, "ir-shape",
                        "%s: the size of %s must be constant", surface(k, s),
                        name);
    return true;
}

// One size that two matrices share.
static bool sizes_agree(IrKernel *k, const IrStmt *s, char size,
                        const Matrix *x, int64_t from_x, const Matrix *y,
                        int64_t from_y)
{
    if (from_x == from_y)
        return true;
    ir_error(k, s->at, "ir-shape",
             "%s: %c is %lld in %s (%.*s, %lldx%lld) and %lld in %s (%.*s, "
             "%lldx%lld)", surface(k, s), size, (long long)from_x, x->name,
             TEXT_ARG(x->region->buffer->name), (long long)x->rows,
             (long long)x->cols, (long long)from_y, y->name,
             TEXT_ARG(y->region->buffer->name), (long long)y->rows,
             (long long)y->cols);
    note_allocation(k, x->region->buffer);
    note_allocation(k, y->region->buffer);
    return false;
}

static bool gemm_operands_fit(IrKernel *k, const IrStmt *s, const Matrix *a,
                              const Matrix *b, const Matrix *c)
{
    const IrBuffer *x = a->region->buffer, *y = b->region->buffer;
    if (x->dtype != y->dtype)
        return ir_error(k, s->at, "ir-type", "%s: A is %s and B is %s; they "
                        "must be of one dtype", surface(k, s),
                        dtype_info(x->dtype)->name, dtype_info(y->dtype)->name);
    if (!is_on_chip_tile(x->scope))
        return bad_scope(k, s, a->region, "in shared memory or a fragment");
    if (!is_on_chip_tile(y->scope))
        return bad_scope(k, s, b->region, "in shared memory or a fragment");
    if (c->region->buffer->scope != SCOPE_FRAGMENT)
        return bad_scope(k, s, c->region, "a fragment");
    return true;
}

// How a dtype is kept 2:4 sparse; four bits of E say which of a group.
static bool sparse_group(IrKernel *k, const IrStmt *s, DType t,
                         IrGemmShape *out)
{
    int bits = dtype_info(t)->bits;
    out->group = bits == 32 ? 2 : 4;
    out->kept = bits == 32 ? 1 : 2;
    return bits == 8 || bits == 16 || bits == 32 ||
           ir_error(k, s->at, "ir-type", "%s of %s: A has 8, 16 or 32 bits",
                    surface(k, s), dtype_info(t)->name);
}

static bool metadata_fits(IrKernel *k, const IrStmt *s, IrGemmShape *out)
{
    Matrix e;
    if (!matrix_init(k, s, out->operand[3], "E", &e))
        return false;
    DType t = e.region->buffer->dtype;
    int bits = dtype_info(t)->bits;
    if (!dtype_is_int(t) || bits < 8 || bits > 32)
        return ir_error(k, e.region->at, "ir-type",
                        "%s: E is %s, not an integer of 8, 16 or 32 bits",
                        surface(k, s), dtype_info(t)->name);
    bool te = ir_attr_int(s, ATTR_TRANSPOSE_E, 0);
    int64_t rows = te ? e.cols : e.rows, words = te ? e.rows : e.cols;
    out->e_row = e.rank - (te ? 1 : 2);
    out->e_col = e.rank - (te ? 2 : 1);
    int64_t covers = (int64_t)(bits / 4) * out->group;
    if (rows == out->m && words * covers == out->k)
        return true;
    return ir_error(k, s->at, "ir-shape",
                    "%s: E (%.*s) has %lld rows of %lld words of %d bits, for "
                    "%lldx%lld elements of A it is %lld rows of %lld",
                    surface(k, s), TEXT_ARG(e.region->buffer->name),
                    (long long)rows, (long long)words, bits, (long long)out->m,
                    (long long)out->k, (long long)out->m,
                    (long long)(out->k / covers));
}

static bool resolve_gemm(IrKernel *k, const IrStmt *s, IrGemmShape *out)
{
    Matrix a, b, c;
    const int *at = out->operand;
    if (!matrix_init(k, s, at[0], "A", &a) ||
        !matrix_init(k, s, at[1], "B", &b) ||
        !matrix_init(k, s, at[2], "C", &c) ||
        !gemm_operands_fit(k, s, &a, &b, &c))
        return false;
    bool ta = ir_attr_int(s, ATTR_TRANSPOSE_A, 0);
    bool tb = ir_attr_int(s, ATTR_TRANSPOSE_B, 0);
    int64_t inner = ta ? a.rows : a.cols;
    if (out->group)
        inner = inner / out->kept * out->group;
    *out = (IrGemmShape){
        .group = out->group, .kept = out->kept,
        .operand = {at[0], at[1], at[2], at[3]},
        .m = c.rows, .n = c.cols, .k = inner,
        .trans_a = ta, .trans_b = tb,
        .a_row = a.rank - (ta ? 1 : 2), .a_col = a.rank - (ta ? 2 : 1),
        .b_row = b.rank - (tb ? 1 : 2), .b_col = b.rank - (tb ? 2 : 1),
        .c_row = c.rank - 2, .c_col = c.rank - 1,
    };
    return sizes_agree(k, s, 'M', &a, ta ? a.cols : a.rows, &c, c.rows) &&
           sizes_agree(k, s, 'K', &a, out->k, &b, tb ? b.cols : b.rows) &&
           sizes_agree(k, s, 'N', &b, tb ? b.rows : b.cols, &c, c.cols);
}

bool ir_resolve_gemm(IrKernel *k, const IrStmt *s, IrGemmShape *out)
{
    bool sparse = s->op == OP_GEMM_SP;
    *out = (IrGemmShape){.operand = {0, 1 + sparse, 2 + sparse, sparse}};
    if (!sparse)
        return resolve_gemm(k, s, out);
    const IrRegion *a = region_at(k, s, 0);
    return a && sparse_group(k, s, a->buffer->dtype, out) &&
           resolve_gemm(k, s, out) && metadata_fits(k, s, out);
}

// ---- reductions -------------------------------------------------------------

// A dimension attribute, counted from the end when negative.
static bool dimension(IrKernel *k, const IrStmt *s, const IrBuffer *b,
                      int fallback, int *out)
{
    int64_t dim = ir_attr_int(s, ATTR_DIM, fallback);
    if (dim < -b->rank || dim >= b->rank)
        return ir_error(k, s->at, "ir-shape",
                        "%s: dim=%lld, but %.*s has %d dimension%s",
                        surface(k, s), (long long)dim, TEXT_ARG(b->name),
                        b->rank, b->rank == 1 ? "" : "s");
    *out = (int)(dim < 0 ? dim + b->rank : dim);
    return true;
}

// out is src without dim, or with 1 there. Reducing one dimension leaves [1].
static bool reduced_shape(const IrBuffer *src, const IrBuffer *out, int dim,
                          bool *keep_dim)
{
    *keep_dim = out->rank == src->rank;
    if (!*keep_dim && out->rank != src->rank - 1)
        return false;
    for (int d = 0, o = 0; d < src->rank; d++) {
        if (d == dim) {
            if (*keep_dim && !is_one(out->shape[o++]))
                return false;
        } else if (!same_size(src->shape[d], out->shape[o++])) {
            return false;
        }
    }
    return true;
}

static bool bad_reduced_shape(IrKernel *k, const IrStmt *s,
                              const IrReduceShape *r)
{
    TextBuf text = {0};
    IrExpr *wanted[IR_MAX_RANK];
    int n = 0;
    for (int d = 0; d < r->src->rank; d++)
        if (d != r->dim)
            wanted[n++] = r->src->shape[d];
    if (n == 0)
        wanted[n++] = ir_int(k, DT_I32, 1, s->at);
    buf_printf(&text, "%s: reducing dimension %d of %.*s (", surface(k, s),
               r->dim, TEXT_ARG(r->src->name));
    sizes_print(&text, r->src->shape, r->src->rank);
    buf_puts(&text, ") leaves ");
    sizes_print(&text, wanted, n);
    buf_printf(&text, ", and %.*s is ", TEXT_ARG(r->out->name));
    sizes_print(&text, r->out->shape, r->out->rank);
    ir_error(k, s->at, "ir-shape", "%.*s", TEXT_ARG(buf_view(&text)));
    buf_release(&text);
    note_allocation(k, r->out);
    return false;
}

static bool whole(IrKernel *k, const IrStmt *s, const IrRegion *r)
{
    bool scalar = r->form == REGION_POINT && r->buffer->scope == SCOPE_VAR;
    if (r->form == REGION_WHOLE || scalar)
        return true;
    return ir_error(k, r->at, "ir-region", "%s takes whole buffers, not a "
                    "slice of %.*s", surface(k, s), TEXT_ARG(r->buffer->name));
}

static bool reduce_scopes(IrKernel *k, const IrStmt *s, const IrRegion *src,
                          const IrRegion *out)
{
    IrScope from = src->buffer->scope, to = out->buffer->scope;
    if (from == SCOPE_LOCAL)
        return to == SCOPE_LOCAL || to == SCOPE_VAR ||
               bad_scope(k, s, out, "local, as the source is");
    if (!is_on_chip_tile(from))
        return bad_scope(k, s, src, "a fragment or in shared memory");
    return is_on_chip_tile(to) ||
           bad_scope(k, s, out, "a fragment or in shared memory");
}

bool ir_resolve_reduce(IrKernel *k, const IrStmt *s, IrReduceShape *r)
{
    const IrRegion *src = region_at(k, s, 0);
    const IrRegion *out = src ? region_at(k, s, 1) : NULL;
    if (!out || !whole(k, s, src) || !whole(k, s, out) ||
        !reduce_scopes(k, s, src, out))
        return false;
    *r = (IrReduceShape){.src = src->buffer, .out = out->buffer,
                         .clear = ir_attr_int(s, ATTR_CLEAR, 1)};
    if (!dimension(k, s, r->src, -1, &r->dim))
        return false;
    bool bits = s->op == OP_REDUCE_BITAND || s->op == OP_REDUCE_BITOR ||
                s->op == OP_REDUCE_BITXOR;
    if (bits && (is_float_dtype(src) || is_float_dtype(out)))
        return ir_error(k, s->at, "ir-type", "%s takes integers, not %s",
                        surface(k, s), dtype_info(src->buffer->dtype)->name);
    return reduced_shape(r->src, r->out, r->dim, &r->keep_dim) ||
           bad_reduced_shape(k, s, r);
}

// ---- scans ------------------------------------------------------------------

static bool same_extents(IrKernel *k, const IrRegion *a, const IrRegion *b)
{
    if (a->buffer->rank != b->buffer->rank)
        return false;
    for (int d = 0; d < a->buffer->rank; d++)
        if (!same_size(region_extent(k, a, d), region_extent(k, b, d)))
            return false;
    return true;
}

bool ir_resolve_scan(IrKernel *k, const IrStmt *s, IrScanShape *out)
{
    const IrRegion *src = region_at(k, s, 0);
    if (!src)
        return false;
    bool in_place = s->operand_count < 2 || s->operand[1].kind == OPERAND_NONE;
    const IrRegion *dst = in_place ? src : region_at(k, s, 1);
    if (!dst)
        return false;
    if (src->form == REGION_POINT || dst->form == REGION_POINT ||
        src->buffer->rank > 2)
        return ir_error(k, src->at, "ir-shape",
                        "%s takes buffers or slices of one or two dimensions",
                        surface(k, s));
    if (!same_extents(k, src, dst))
        return ir_error(k, s->at, "ir-shape",
                        "%s: %.*s and %.*s differ in shape", surface(k, s),
                        TEXT_ARG(src->buffer->name),
                        TEXT_ARG(dst->buffer->name));
    *out = (IrScanShape){.src = src, .dst = dst,
                         .reverse = ir_attr_int(s, ATTR_REVERSE, 0)};
    return dimension(k, s, src->buffer, 0, &out->dim);
}

// ---- transpose, im2col ------------------------------------------------------

static bool transposed_extents(IrKernel *k, const IrRegion *src,
                               const IrRegion *dst)
{
    int rank = src->buffer->rank;
    if (rank != dst->buffer->rank || rank < 2 || src->form == REGION_POINT ||
        dst->form == REGION_POINT)
        return false;
    for (int d = 0; d < rank; d++) {
        int from = d < rank - 2 ? d : 2 * rank - 3 - d;
        if (!same_size(region_extent(k, dst, d), region_extent(k, src, from)))
            return false;
    }
    return true;
}

bool ir_resolve_transpose(IrKernel *k, const IrStmt *s, IrCopyMap *out)
{
    const IrRegion *src = region_at(k, s, 0);
    const IrRegion *dst = src ? region_at(k, s, 1) : NULL;
    IrCopyMap from;
    if (!dst || !ir_resolve_fill(k, src, &from) ||
        !ir_resolve_fill(k, dst, out))
        return false;
    if (!transposed_extents(k, src, dst))
        return ir_error(k, s->at, "ir-shape",
                        "%s: %.*s must have the shape of %.*s with the last "
                        "two dimensions exchanged", surface(k, s),
                        TEXT_ARG(dst->buffer->name),
                        TEXT_ARG(src->buffer->name));
    int rank = src->buffer->rank;
    *out = (IrCopyMap){.rank = from.rank};
    out->src.buffer = src->buffer;
    out->dst.buffer = dst->buffer;
    for (int d = 0; d < rank; d++) {
        int loop = from.dst.map[d];
        int to = d < rank - 2 ? d : 2 * rank - 3 - d;
        out->src.min[d] = src->min[d];
        out->src.map[d] = loop;
        out->dst.min[to] = dst->min[to];
        out->dst.map[to] = loop;
        if (loop >= 0)
            out->extent[loop] = from.extent[loop];
    }
    return true;
}

bool ir_resolve_im2col(IrKernel *k, const IrStmt *s)
{
    static const IrAttrId sizes[] = {ATTR_KERNEL, ATTR_STRIDE, ATTR_DILATION};
    const IrRegion *img = region_at(k, s, 0);
    const IrRegion *col = img ? region_at(k, s, 1) : NULL;
    if (!col)
        return false;
    if (img->form != REGION_WHOLE || img->buffer->rank != 4)
        return ir_error(k, img->at, "ir-shape",
                        "%s takes a whole NHWC image of four dimensions",
                        surface(k, s));
    if (col->form == REGION_POINT || col->buffer->rank < 2)
        return ir_error(k, col->at, "ir-shape",
                        "%s writes a tile of at least two dimensions",
                        surface(k, s));
    if (img->buffer->dtype != col->buffer->dtype)
        return ir_error(k, s->at, "ir-type", "%s: the image is %s, the tile %s",
                        surface(k, s), dtype_info(img->buffer->dtype)->name,
                        dtype_info(col->buffer->dtype)->name);
    for (size_t i = 0; i < countof(sizes); i++)
        if (ir_attr_int(s, sizes[i], 0) < 1)
            return ir_error(k, s->at, "ir-shape", "%s: %s must be at least 1",
                            surface(k, s), ir_attr_name(sizes[i]));
    return true;
}

// ---- by op ------------------------------------------------------------------

// A static region beyond its buffer: legal only where accesses are predicated.
static bool inside(IrKernel *k, const IrStmt *s, const IrRegion *r)
{
    for (int d = 0; d < r->buffer->rank; d++) {
        int64_t min = 0, extent, size;
        ir_is_int(r->min[d], &min);
        if (!r->extent[d] || !ir_is_int(r->extent[d], &extent) ||
            !ir_is_int(r->buffer->shape[d], &size) || min + extent <= size)
            continue;
        return ir_error(k, r->at, "ir-region",
                        "%s: elements %lld to %lld of dimension %d, and %.*s "
                        "has %lld there", surface(k, s), (long long)min,
                        (long long)(min + extent - 1), d,
                        TEXT_ARG(r->buffer->name), (long long)size);
    }
    return true;
}

static bool regions_inside(IrKernel *k, const IrStmt *s)
{
    for (int i = 0; i < s->operand_count; i++)
        if (s->operand[i].kind == OPERAND_REGION &&
            s->operand[i].region->form == REGION_SLICE &&
            !inside(k, s, s->operand[i].region))
            return false;
    return true;
}

static bool resolve_fill(IrKernel *k, const IrStmt *s)
{
    const IrRegion *r = region_at(k, s, 0);
    IrCopyMap map;
    return r && regions_inside(k, s) && ir_resolve_fill(k, r, &map);
}

// A single element as value is a scalar for every element of dst.
bool ir_resolve_atomic(IrKernel *k, const IrStmt *s, IrCopyMap *out)
{
    const IrRegion *dst = region_at(k, s, 0);
    if (!dst)
        return false;
    IrScope scope = dst->buffer->scope;
    if (scope != SCOPE_GLOBAL && !is_shared(scope))
        return bad_scope(k, s, dst, "in global or shared memory");
    const IrOperand *value = &s->operand[1];
    if (value->kind == OPERAND_REGION && value->region->form != REGION_POINT)
        return ir_resolve_copy(k, s->at, value->region, dst, out);
    return ir_resolve_fill(k, dst, out);
}

// Two or four elements that follow each other, from single elements on.
static bool resolve_atomic_pair(IrKernel *k, const IrStmt *s)
{
    const IrRegion *dst = region_at(k, s, 0);
    const IrRegion *src = dst ? region_at(k, s, 1) : NULL;
    if (!src)
        return false;
    IrScope scope = dst->buffer->scope;
    if (scope != SCOPE_GLOBAL && !is_shared(scope))
        return bad_scope(k, s, dst, "in global or shared memory");
    if (dst->form == REGION_POINT && src->form == REGION_POINT)
        return true;
    return ir_error(k, s->at, "ir-region", "%s takes the first element of each "
                    "side", surface(k, s));
}

static bool resolve_atomic_store(IrKernel *k, const IrStmt *s)
{
    const IrRegion *dst = region_at(k, s, 0);
    if (!dst || dst->form == REGION_POINT)
        return dst != NULL;
    return ir_error(k, dst->at, "ir-region", "%s takes a single element",
                    surface(k, s));
}

static bool is_reducer(IrKernel *k, const IrStmt *s, const IrRegion *r)
{
    return r->buffer->scope == SCOPE_REDUCER ||
           bad_scope(k, s, r, "made by T.alloc_reducer");
}

static bool resolve_update(IrKernel *k, const IrStmt *s)
{
    const IrRegion *r = region_at(k, s, 0);
    if (!r || !is_reducer(k, s, r))
        return false;
    bool whole = s->op == OP_REDUCER_INIT;
    if ((r->form == REGION_POINT) != whole)
        return true;
    return ir_error(k, r->at, "ir-region", "%s takes %s", surface(k, s),
                    whole ? "a whole reducer" : "one element, acc[i]");
}

bool ir_resolve_finalize(IrKernel *k, const IrStmt *s, IrCopyMap *out)
{
    const IrRegion *r = region_at(k, s, 0);
    *out = (IrCopyMap){0};
    if (!r || !is_reducer(k, s, r))
        return false;
    if (s->operand[1].kind == OPERAND_NONE)
        return true;
    const IrRegion *dst = region_at(k, s, 1);
    return dst && ir_resolve_copy(k, s->at, r, dst, out);
}

static bool resolve_copy(IrKernel *k, const IrStmt *s)
{
    const IrRegion *src = region_at(k, s, 0);
    const IrRegion *dst = src ? region_at(k, s, 1) : NULL;
    IrCopyMap map;
    return dst && ir_resolve_copy(k, s->at, src, dst, &map);
}

bool ir_resolve_tile(IrKernel *k, const IrStmt *s)
{
    IrGemmShape gemm;
    IrReduceShape reduce;
    IrScanShape scan;
    IrCopyMap map;
    switch (s->op) {
    case OP_COPY: case OP_ASYNC_COPY: case OP_TMA_COPY:
        return resolve_copy(k, s);
    case OP_FILL: case OP_CLEAR:
        return resolve_fill(k, s);
    case OP_GEMM: case OP_GEMM_SP: case OP_WGMMA_GEMM:
        return regions_inside(k, s) && ir_resolve_gemm(k, s, &gemm);
    case OP_CUMSUM: case OP_CUMMAX:
        return ir_resolve_scan(k, s, &scan);
    case OP_TRANSPOSE:
        return ir_resolve_transpose(k, s, &map);
    case OP_IM2COL:
        return ir_resolve_im2col(k, s);
    case OP_ATOMIC_ADDX2: case OP_ATOMIC_ADDX4:
        return resolve_atomic_pair(k, s);
    case OP_ATOMIC_STORE:
        return resolve_atomic_store(k, s);
    case OP_REDUCER_INIT: case OP_REDUCER_UPDATE:
        return resolve_update(k, s);
    case OP_FINALIZE_REDUCER:
        return ir_resolve_finalize(k, s, &map);
    default:
        if (op_is_reduction(s->op))
            return ir_resolve_reduce(k, s, &reduce);
        return !op_is_atomic(s->op) || ir_resolve_atomic(k, s, &map);
    }
}
