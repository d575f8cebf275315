// vector.c - how many elements one thread moves at a time.
//
// 16 bytes of the widest dtype of a loop, less where an access is not
// contiguous in the innermost variable or does not start at a multiple.
#include "plan/plan_int.h"

static int gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return (int)(a < 0 ? -a : a);
}

// Is the access contiguous in the innermost variable? A load of one place for
// all counts as that.
static bool is_contiguous(const PlanLoop *l, const PlanAccess *a, int width)
{
    int64_t point[IR_MAX_RANK] = {0};
    int64_t first = plan_element(l, a, point);
    bool next = true, same = !a->is_store;

    for (int n = 1; n < width; n++) {
        point[l->rank - 1] = n;
        int64_t at = plan_element(l, a, point);
        next &= at == first + n;
        same &= at == first;
    }
    return next || same;
}

static bool in_memory(const IrBuffer *b)
{
    return b->scope == SCOPE_GLOBAL || b->scope == SCOPE_SHARED ||
           b->scope == SCOPE_SHARED_STATIC;
}

// A move between memory and registers is as wide as memory allows; registers
// count where a loop does more, or nothing else is there.
static bool constrains(const PlanLoop *l, const IrBuffer *b)
{
    bool memory = false;
    int stores = 0;

    for (int i = 0; i < l->access.len; i++) {
        memory |= in_memory(l->access.at[i].buffer);
        stores += l->access.at[i].is_store;
    }
    return in_memory(b) || !memory || stores > 1;
}

static const IrExpr *let_of(const PlanState *p, const IrVar *v)
{
    return v->kind == VAR_LET ? p->let[v->id] : NULL;
}

// What is known to divide an index, by the constants in it; `along` counts 0.
static int64_t divisor(const PlanState *p, const IrExpr *e, const IrVar *along)
{
    int64_t n, by;

    if (!e)
        return 0;
    switch (e->kind) {
    case EXPR_INT:
        return e->i64 < 0 ? -e->i64 : e->i64;
    case EXPR_VAR:
        if (e->var == along)
            return 0;
        return let_of(p, e->var) ? divisor(p, let_of(p, e->var), along) : 1;
    case EXPR_CAST:
        return divisor(p, e->args[0], along);
    case EXPR_OP:
        n = divisor(p, e->args[0], along);
        if (e->op == OP_ADD || e->op == OP_SUB)
            return gcd(n, divisor(p, e->args[1], along));
        if (e->op == OP_MUL)
            return n * divisor(p, e->args[1], along) % (1 << 20);
        if (e->op == OP_FLOORDIV && ir_is_int(e->args[1], &by) && by > 0)
            return n % by == 0 ? n / by : 1;
        return 1;
    default:
        return 1;
    }
}

bool plan_divides(const PlanState *p, const IrExpr *e, int64_t n)
{
    return divisor(p, e, NULL) % n == 0;
}

static bool occurs(const PlanState *p, const IrExpr *e, const IrVar *v)
{
    if (e->kind == EXPR_VAR && e->var == v)
        return true;
    if (e->kind == EXPR_VAR && let_of(p, e->var))
        return occurs(p, let_of(p, e->var), v);
    for (int i = 0; i < e->count; i++)
        if (occurs(p, e->args[i], v))
            return true;
    return false;
}

// Is a condition known to be the same for `width` neighbours along v?
static bool is_uniform(const PlanState *p, const IrExpr *e, const IrVar *v,
                       int width)
{
    if (!occurs(p, e, v))
        return true;
    if (e->kind == EXPR_CAST)
        return is_uniform(p, e->args[0], v, width);
    if (e->kind != EXPR_OP)
        return false;
    if (e->op == OP_AND || e->op == OP_OR || e->op == OP_NOT)
        return is_uniform(p, e->args[0], v, width) &&
               (e->op == OP_NOT || is_uniform(p, e->args[1], v, width));
    return e->op == OP_LT && !occurs(p, e->args[1], v) &&
           divisor(p, e->args[0], v) % width == 0 &&
           divisor(p, e->args[1], v) % width == 0;
}

static bool is_masked(const PlanState *p, const PlanLoop *l,
                      const PlanAccess *a, int width)
{
    for (const PlanGuard *g = a->guard; g; g = g->outer)
        if (l->rank && !is_uniform(p, g->cond, l->var[l->rank - 1], width))
            return true;
    return false;
}

// Whether a side of a tile operation may reach past the end of its row.
static bool may_leave(const PlanLoop *l, const PlanAccess *a, int64_t row)
{
    int last = a->buffer->rank - 1, along = a->map[last];
    int64_t first = 0;

    return (a->min[last] && !ir_is_int(a->min[last], &first)) ||
           first + (along < 0 ? 1 : l->extent[along]) > row;
}

// The widest vector of a global row that starts where the access does. A layout
// of the tensor may tear rows apart.
static int aligned(const PlanState *p, const PlanLoop *l, const PlanAccess *a,
                   int width)
{
    const IrBuffer *b = a->buffer;
    int64_t row;

    if (b->scope != SCOPE_GLOBAL || b->rank < 1)
        return width;
    if (b->layout)
        return 1;
    if (!ir_is_int(b->shape[b->rank - 1], &row))
        row = 1;
    if (b->rank > 1)
        width = gcd(width, row);
    if (a->expr[b->rank - 1])
        return width;
    if (b->rank == 1 && may_leave(l, a, row))
        width = gcd(width, row);
    return gcd(width, divisor(p, a->min[b->rank - 1], NULL));
}

// The width that dtypes, rows and wishes allow.
static int plan_limit(const PlanState *p, const PlanLoop *l)
{
    int64_t wanted = ir_attr_int(l->stmt, ATTR_COALESCED_WIDTH, 0);
    int width = 16;

    for (int i = 0; i < l->access.len; i++) {
        const PlanAccess *a = &l->access.at[i];
        int bits = dtype_info(a->buffer->dtype)->bits;
        bool stays = !a->is_store && plan_stays(p, l, a);
        if (constrains(l, a->buffer) && !stays)
            width = gcd(width, 128 / bits);
        width = aligned(p, l, a, width);
    }
    if (wanted > 0 && width % wanted == 0)
        width = (int)wanted;
    return width < 1 ? 1 : width;
}

int plan_vector(const PlanState *p, const PlanLoop *l)
{
    int width = plan_limit(p, l);

    if (!l->rank)
        return 1;
    width = gcd(width, l->extent[l->rank - 1]);
    for (int i = 0; i < l->access.len; i++)
        while (width > 1 && in_memory(l->access.at[i].buffer) &&
               !is_contiguous(l, &l->access.at[i], width))
            width /= 2;
    return width;
}

// A loop on memory alone: the width that leaves the fewest lanes idle.
static int plan_spread(const PlanState *p, const PlanLoop *l)
{
    int64_t threads = p->spread, least = -1;
    int width = plan_vector(p, l), best = width;

    for (int v = width; v >= 1; v /= 2) {
        int64_t step = threads * v;
        int64_t idle = (l->points + step - 1) / step * step - l->points;
        if (least < 0 || idle < least) {
            least = idle;
            best = v;
        }
    }
    return best;
}

// ---- with layouts ----------------------------------------------------------

// Where a point of the loop finds its element, in elements of the buffer.
static int64_t address_of(const PlanState *p, const PlanLoop *l,
                          const PlanAccess *a, const int64_t *point)
{
    const PlanShared *s = &p->shared[a->buffer->id];
    int64_t e = plan_element(l, a, point);

    if (!s->address || e < 0)
        return e;
    return e / s->elements * s->size + s->address[e % s->elements];
}

// The points that each of `threads` threads works on, by its local number; -1:
// none.
static int32_t *points_of(PlanState *p, const PlanFragment *f, int threads)
{
    int n = threads * f->locals;
    int32_t *at = new_array(p->arena, int32_t, n + 1);

    for (int i = 0; i < n; i++)
        at[i] = -1;
    for (int e = 0; e < f->elements; e++)
        at[(size_t)f->thread[e] * f->locals + f->local[e]] = e;
    return at;
}

// Where every point of the loop finds its element.
static void find_addresses(const PlanState *p, const PlanLoop *l,
                           const PlanAccess *a, int64_t *out)
{
    int64_t point[IR_MAX_RANK] = {0};

    for (int64_t n = 0; n < l->points; n++) {
        out[n] = address_of(p, l, a, point);
        plan_next_point(l, point);
    }
}

// Whether runs of `width` locals are runs of memory that start at a multiple.
static bool runs(const PlanAccess *a, const int64_t *address,
                 const int32_t *points, int count, int width)
{
    for (int i = 0; i < count; i += width) {
        if (points[i] < 0)
            continue;
        int64_t first = address[points[i]];
        bool same = !a->is_store;
        bool next = first % width == 0;
        for (int k = 1; k < width; k++) {
            if (points[i + k] < 0)
                return false;
            int64_t x = address[points[i + k]];
            same &= x == first;
            next &= x == first + k;
        }
        if (!same && !next)
            return false;
    }
    return true;
}

// The innermost variable moves along the vector in every layout there is.
bool plan_stays(const PlanState *p, const PlanLoop *l, const PlanAccess *a)
{
    int64_t point[IR_MAX_RANK] = {0};

    if (!l->rank || l->extent[l->rank - 1] < 2)
        return false;
    int64_t first = address_of(p, l, a, point);
    point[l->rank - 1] = 1;
    return address_of(p, l, a, point) == first;
}

// Where conditions contradict each other everything can be proved, that a store
// stays put as well: upstream does those one by one.
int plan_vector_of(PlanState *p, const PlanOp *op)
{
    const PlanLoop *l = op->loop;
    int width = plan_limit(p, l);

    if (p->has_if && plan_never_runs(p->arena, p->plan, p->launch, op->stmt))
        return 1;
    if (!op->layout)
        return plan_spread(p, l);
    int threads = device_warps(p->device, p->launch->threads) *
                  (int)p->device->warp_lanes;
    int32_t *points = points_of(p, op->layout, threads);
    int64_t *address = new_array(p->arena, int64_t, l->points + 1);
    int locals = op->layout->locals, count = threads * locals;
    for (int i = 0; i < l->access.len && width > 1; i++) {
        const PlanAccess *a = &l->access.at[i];
        while (width > 1 && is_masked(p, l, a, width))
            width /= 2;
        if (!in_memory(a->buffer))
            continue;
        find_addresses(p, l, a, address);
        while (width > 1 && (locals % width ||
                             !runs(a, address, points, count, width)))
            width /= 2;
    }
    return width;
}

// Whether rows and places of a shared tile leave every vector whole.
static bool is_whole(const PlanState *p, const PlanAccess *a, int width)
{
    const IrBuffer *b = a->buffer;
    int64_t row = 1, first = 0;

    if (p->shared[b->id].swizzle || b->scope == SCOPE_GLOBAL || !in_memory(b))
        return true;
    return !p->shared[b->id].address && !a->expr[b->rank - 1] &&
           (!a->min[b->rank - 1] || ir_is_int(a->min[b->rank - 1], &first)) &&
           ir_is_int(b->shape[b->rank - 1], &row) && row % width == 0 &&
           first % width == 0;
}

// An odd pitch of rows or a layout of the user's own may tear vectors apart that
// the elements' order allows; threads keep the points that they were dealt.
int plan_torn(PlanState *p, const PlanLoop *l, const PlanWork *w, int width)
{
    int64_t *address = NULL;

    for (int i = 0; i < l->access.len && width > 1; i++) {
        const PlanAccess *a = &l->access.at[i];
        if (is_whole(p, a, width))
            continue;
        if (!address)
            address = new_array(p->arena, int64_t, l->points + 1);
        find_addresses(p, l, a, address);
        while (width > 1 && !runs(a, address, w->point, w->threads * w->locals,
                                  width))
            width /= 2;
    }
    return width;
}

// ---- copies by the rules `tilesim` ------------------------------------------

// The widest vector of at most `v` elements that one side allows.
static int side_vector(const PlanState *p, const PlanLoop *l,
                       const PlanAccess *a, int v)
{
    const IrBuffer *b = a->buffer;
    int last = b->rank - 1;
    int64_t cols = 1;

    if (last < 0 || a->map[last] != l->rank - 1 || b->alias_of || b->pointed ||
        b->safe_value || (b->scope == SCOPE_GLOBAL && b->layout))
        return 1;
    for (int d = 0; d < b->rank; d++)
        if (b->strides[d] || (d < last && a->map[d] == l->rank - 1))
            return 1;
    v = gcd(v, divisor(p, a->min[last], NULL));
    if (b->rank < 2 && b->scope != SCOPE_GLOBAL)
        return v;
    return ir_is_int(b->shape[last], &cols) ? gcd(v, cols) : 1;
}

// Rows of both sides start at multiples of a vector, and a tile's rows are
// multiples of it: a vector is in range or out of range as a whole.
int plan_copy_vector(const PlanState *p, const PlanLoop *l)
{
    const PlanAccess *from = &l->access.at[0], *to = &l->access.at[1];
    int bits = plan_bits(p->plan->rules, to->buffer), v;

    if (l->access.len != 2 || l->rank < 1 || bits < 8 ||
        from->buffer->dtype != to->buffer->dtype ||
        plan_bits(p->plan->rules, from->buffer) != bits)
        return 1;
    v = gcd(128 / bits, l->extent[l->rank - 1]);
    v = side_vector(p, l, to, side_vector(p, l, from, v));
    return v * bits < 32 ? 1 : v;
}

// Whether every run of `width` numbers of a thread is a run of one row, and,
// where moves are of registers in a row, of the registers of `a` too; threads
// that share one share all of it.
static bool runs_in_registers(PlanState *p, const PlanAccess *a,
                              const PlanFragment *layout, int width)
{
    const PlanFragment *f = p->fragment[a->buffer->id];
    const int32_t *points = plan_points(p->arena, layout, p->launch->threads);
    int n = p->launch->threads * layout->locals;
    int row = (int)layout->shape[layout->rank - 1];
    bool any = p->device->vendor == VENDOR_AMD;

    if (!points || layout->locals % width)
        return false;
    for (int i = 0; i < n; i++) {
        int first = points[i - i % width], at = points[i], k = i % width;
        if ((first < 0) != (at < 0))
            return false;
        if (first < 0)
            continue;
        if (at != first + k || first % row % width ||
            layout->thread[at] != layout->thread[first])
            return false;
        if (!any && f->local[a->element[at]] != f->local[a->element[first]] + k)
            return false;
    }
    return true;
}

// The same between registers and memory, by the numbers of the loop's layout.
int plan_register_vector(PlanState *p, const PlanLoop *l,
                         const PlanFragment *layout)
{
    const PlanAccess *from = &l->access.at[0], *to = &l->access.at[1];
    const PlanAccess *own = to, *far = from;
    int v;

    if (l->access.len != 2 || l->rank < 1)
        return 1;
    if (!to->element || p->spilled[to->buffer->id])
        own = from, far = to;
    if (!own->element || far->element || !p->fragment[own->buffer->id])
        return 1;
    int bits = plan_bits(p->plan->rules, far->buffer);
    if (bits < 8)
        return 1;
    v = gcd(128 / bits, l->extent[l->rank - 1]);
    v = side_vector(p, l, far, v);
    int64_t *address = new_array(p->arena, int64_t, l->points + 1);
    int32_t *points = points_of(p, layout, p->launch->threads);
    int count = p->launch->threads * layout->locals;
    if (v > 1)
        find_addresses(p, l, far, address);
    while (v > 1 && !(runs_in_registers(p, own, layout, v) &&
                      runs(far, address, points, count, v)))
        v /= 2;
    return v;
}

int plan_line_vector(const PlanState *p, const IrRegion *r, int v)
{
    const IrBuffer *b = r->buffer;
    int last = b->rank - 1;
    int64_t n;

    if (last < 0 || b->alias_of || !ir_is_int(b->shape[last], &n))
        return 1;
    v = gcd(v, n);
    if (r->form == REGION_WHOLE)
        return v;
    if (r->min[last])
        v = gcd(v, divisor(p, r->min[last], NULL));
    return r->extent[last] && ir_is_int(r->extent[last], &n) ? gcd(v, n) : 1;
}
