// resolve.c - what regions mean: the iteration space of copies, fills and
// atomics (tilelang_surface 4.4, 4.5, 4.11).
//
// Each side of a copy has extents: a whole buffer its shape, a slice what it
// says and 1 for plain indices, an element none. The rules bring the two lists
// together; what remains larger than 1 on the side with the deeper memory is
// the loop, and both sides' larger-than-1 dimensions walk it in order.
#include "ir/ir_int.h"

typedef struct {
    const IrRegion *region;
    int rank, n;                    // of the buffer; of the extents
    IrExpr *extent[IR_MAX_RANK];
} Side;

// The extents of a region as written: a REGION_POINT has none (returns 0).
static int ir_region_rank(const IrRegion *r)
{
    return r->form == REGION_POINT ? 0 : r->buffer->rank;
}

bool is_one(const IrExpr *e)
{
    int64_t v;
    return ir_is_int(e, &v) && v == 1;
}

// Of sizes that may be int32 or int64.
bool same_size(const IrExpr *a, const IrExpr *b)
{
    int64_t x, y;
    return ir_is_int(a, &x) && ir_is_int(b, &y) ? x == y : ir_same(a, b);
}

IrExpr *region_extent(IrKernel *k, const IrRegion *r, int d)
{
    return r->extent[d] ? r->extent[d] : ir_int(k, DT_I32, 1, r->at);
}

// ---- messages ---------------------------------------------------------------

void sizes_print(TextBuf *out, IrExpr *const *size, int n)
{
    for (int i = 0; i < n; i++) {
        int64_t v;
        if (i)
            buf_addc(out, 'x');
        if (ir_is_int(size[i], &v))
            buf_printf(out, "%lld", (long long)v);
        else
            ir_print_expr(out, size[i]);
    }
}

static void side_print(TextBuf *out, const Side *s)
{
    const IrRegion *r = s->region;
    buf_printf(out, "%s%.*s is ",
               r->form == REGION_SLICE ? "the slice of " : "",
               TEXT_ARG(r->buffer->name));
    if (r->form == REGION_POINT)
        buf_puts(out, "one element");
    else
        sizes_print(out, s->extent, s->n);
}

// Both places; a is where the message points.
static bool shapes_differ(IrKernel *k, const Side *a, const Side *b)
{
    TextBuf text = {0};
    buf_puts(&text, "shapes differ: ");
    side_print(&text, a);
    buf_puts(&text, ", ");
    side_print(&text, b);
    ir_error(k, a->region->at, "ir-shape", "%.*s", TEXT_ARG(buf_view(&text)));
    if (b->region->at.file)
        diag_note(k->diag, b->region->at, "the other side");
    buf_release(&text);
    return false;
}

// ---- sides ------------------------------------------------------------------

static bool side_init(IrKernel *k, Side *s, const IrRegion *r)
{
    s->region = r;
    s->rank = r->buffer->rank;
    s->n = ir_region_rank(r);
    for (int d = 0; d < s->n; d++) {
        if (r->step[d] > 1)
            return ir_error(k, r->at, "ir-region",
                            "a tile operation takes slices of step 1");
        s->extent[d] = region_extent(k, r, d);
    }
    return true;
}

static int count_loops(IrExpr *const *extent, int n)
{
    int loops = 0;
    for (int d = 0; d < n; d++)
        loops += !is_one(extent[d]);
    return loops;
}

// An element takes the other side's rank; its extents start as 1.
static void lend_rank(IrKernel *k, Side *to, const Side *from)
{
    to->n = from->n;
    for (int d = 0; d < to->n; d++)
        to->extent[d] = ir_int(k, DT_I32, 1, to->region->at);
}

// Right-aligned: a 1 takes the other's extent, else both the larger. Nothing
// changes when both have as many extents other than 1.
static void legalise(IrKernel *k, Side *a, Side *b)
{
    if (count_loops(a->extent, a->n) == count_loops(b->extent, b->n))
        return;
    for (int i = 1; i <= a->n && i <= b->n; i++) {
        IrExpr **x = &a->extent[a->n - i], **y = &b->extent[b->n - i];
        if (same_size(*x, *y))
            continue;
        if (is_one(*x))
            *x = *y;
        else if (is_one(*y))
            *y = *x;
        else
            *x = *y = ir_op2(k, OP_MAX, *x, *y, a->region->at);
    }
}

// Back to one extent per buffer dimension: an element's leading dimensions
// stay single, a slice is never widened.
static bool side_finish(IrKernel *k, Side *s)
{
    const IrRegion *r = s->region;
    if (r->form == REGION_POINT) {
        int missing = s->rank - s->n;
        if (missing < 0)
            return ir_error(k, r->at, "ir-shape",
                            "%.*s[...] has %d indices, the other side %d "
                            "dimensions; it needs at least as many",
                            TEXT_ARG(r->buffer->name), s->rank, s->n);
        for (int d = s->rank - 1; d >= 0; d--)
            s->extent[d] = d >= missing ? s->extent[d - missing]
                                        : ir_int(k, DT_I32, 1, r->at);
        s->n = s->rank;
    }
    for (int d = 0; d < s->n && r->form == REGION_SLICE; d++) {
        IrExpr *own = region_extent(k, r, d);
        if (!same_size(own, s->extent[d]))
            s->extent[d] = ir_op2(k, OP_MIN, own, s->extent[d], r->at);
    }
    return true;
}

static int scope_level(IrScope s)
{
    switch (s) {
    case SCOPE_FRAGMENT: case SCOPE_LOCAL: case SCOPE_REDUCER: return 2;
    case SCOPE_SHARED: case SCOPE_SHARED_STATIC: return 1;
    default: return 0;
    }
}

static bool provably_smaller(IrKernel *k, IrExpr *a, IrExpr *b)
{
    int64_t v;
    return ir_is_int(ir_op2(k, OP_SUB, a, b, a->at), &v) && v < 0;
}

// The loops of `base` must be as many as src's and not provably shorter.
static bool covers(IrKernel *k, const Side *base, const Side *src)
{
    int d = 0;
    for (int i = 0; i < src->n; i++) {
        if (is_one(src->extent[i]))
            continue;
        while (d < base->n && is_one(base->extent[d]))
            d++;
        if (d == base->n ||
            provably_smaller(k, base->extent[d], src->extent[i]))
            return false;
        d++;
    }
    return true;
}

// The loops of `base`, and which dimension of a side walks which.
static void take_loops(const Side *base, IrCopyMap *out)
{
    out->rank = 0;
    for (int d = 0; d < base->n; d++)
        if (!is_one(base->extent[d]))
            out->extent[out->rank++] = base->extent[d];
}

static void take_side(const Side *s, IrBuffer **buffer, IrExpr **min, int *map)
{
    int loop = 0;
    *buffer = s->region->buffer;
    for (int d = 0; d < s->rank; d++) {
        min[d] = s->region->min[d];
        map[d] = s->n == 0 || is_one(s->extent[d]) ? -1 : loop++;
    }
}

static void finish_map(const Side *base, const Side *a, const Side *b,
                       IrCopyMap *out)
{
    *out = (IrCopyMap){0};
    take_loops(base, out);
    if (a)
        take_side(a, &out->src.buffer, out->src.min, out->src.map);
    take_side(b, &out->dst.buffer, out->dst.min, out->dst.map);
}

static bool whole_shapes_agree(const Side *a, const Side *b)
{
    if (a->region->form != REGION_WHOLE || b->region->form != REGION_WHOLE)
        return true;
    if (a->n != b->n)
        return false;
    for (int d = 0; d < a->n; d++)
        if (!same_size(a->extent[d], b->extent[d]))
            return false;
    return true;
}

bool ir_resolve_copy(IrKernel *k, Span at, const IrRegion *src,
                     const IrRegion *dst, IrCopyMap *out)
{
    Side a = {0}, b = {0};
    (void)at;
    if (!side_init(k, &a, src) || !side_init(k, &b, dst))
        return false;
    if (!whole_shapes_agree(&a, &b))
        return shapes_differ(k, &a, &b);
    Side as_written_a = a, as_written_b = b;
    if (a.n || b.n) {
        if (!a.n)
            lend_rank(k, &a, &b);
        if (!b.n)
            lend_rank(k, &b, &a);
        legalise(k, &a, &b);
        if (!side_finish(k, &a) || !side_finish(k, &b))
            return false;
    }
    bool src_is_base = scope_level(src->buffer->scope) >=
                       scope_level(dst->buffer->scope);
    const Side *base = src_is_base ? &a : &b;
    if (count_loops(a.extent, a.n) != count_loops(b.extent, b.n) ||
        !covers(k, base, &a))
        return shapes_differ(k, &as_written_a, &as_written_b);
    finish_map(base, &a, &b, out);
    return true;
}

bool ir_resolve_fill(IrKernel *k, const IrRegion *dst, IrCopyMap *out)
{
    Side s = {0};
    if (!side_init(k, &s, dst))
        return false;
    finish_map(&s, NULL, &s, out);
    return true;
}
