// copy.c - copies between global and shared memory, several elements at a time.
//
// Where rows of both sides start at multiples of a vector and a tile's rows are
// multiples of it, a vector is in range or out of range as a whole. cp.async
// brings it without a register in between; the next barrier waits for it.
#include "gpu_backend/emit_int.h"

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return a < 0 ? -a : a;
}

// What divides an expression, by the constants in it; 0: it is 0.
static int64_t divisor(const IrExpr *x)
{
    if (!x)
        return 0;
    switch (x->kind) {
    case EXPR_INT:
        return x->i64 < 0 ? -x->i64 : x->i64;
    case EXPR_CAST:
        return divisor(x->args[0]);
    case EXPR_OP:
        if (x->op == OP_ADD || x->op == OP_SUB)
            return gcd(divisor(x->args[0]), divisor(x->args[1]));
        if (x->op == OP_MUL)
            return divisor(x->args[0]) * divisor(x->args[1]) % (1 << 20);
        return 1;
    default:
        return 1;
    }
}

// The widest vector of at most `v` elements that one side allows.
static int64_t side_vector(const Emit *e, const IrBuffer *b,
                           IrExpr *const *min, const int *map, int last,
                           int64_t v)
{
    int r = b->rank - 1;

    if (r < 0 || map[r] != last || b->alias_of || b->pointed ||
        (b->scope == SCOPE_GLOBAL && b->layout))
        return 1;
    for (int d = 0; d < r; d++)
        if (map[d] == last)
            return 1;
    for (int d = 0; d < b->rank; d++)
        if (b->strides[d])
            return 1;
    int64_t cols = fixed_extent(b, r);
    v = gcd(v, divisor(min[r]));
    if (b->rank > 1)
        v = cols < 0 ? 1 : gcd(v, cols);
    else if (b->scope == SCOPE_GLOBAL)
        v = cols < 0 ? 1 : gcd(v, cols);
    (void)e;
    return v;
}

static int vector_of(const Emit *e, const IrCopyMap *m)
{
    const IrBuffer *from = m->src.buffer, *to = m->dst.buffer;
    int64_t extent, v;

    if (!from || from->dtype != to->dtype || m->rank < 1 || from->safe_value ||
        in_registers(e, from) || in_registers(e, to) || is_private(e, from) ||
        is_private(e, to) || !ir_is_int(m->extent[m->rank - 1], &extent))
        return 1;
    v = gcd(128 / dtype_info(to->dtype)->bits, extent);
    v = side_vector(e, from, m->src.min, m->src.map, m->rank - 1, v);
    return (int)side_vector(e, to, m->dst.min, m->dst.map, m->rank - 1, v);
}

static Text both(Emit *e, Text a, Text b)
{
    if (!a.len || !b.len)
        return a.len ? a : b;
    return text_format(e->arena, "%.*s && %.*s", TEXT_ARG(a), TEXT_ARG(b));
}

static void move(Emit *e, const IrCopyMap *m, int bytes, bool async)
{
    Spot from = place_of_side(e, m->src.buffer, m->src.min, m->src.map);
    Spot to = place_of_side(e, m->dst.buffer, m->dst.min, m->dst.map);
    Text have = guard_of(e, &from), want = guard_of(e, &to);
    Text a = element(e, &from), b = element(e, &to);

    if (m->dst.buffer->scope == SCOPE_GLOBAL) {
        e->stored[root_buffer(m->dst.buffer)->id] = true;
        // What is not there is read as 0.
        want = both(e, want, (Text){0});
    }
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
    int v = vector_of(e, m);
    int bytes = v * dtype_info(m->dst.buffer->dtype)->bits / 8;
    bool in = m->src.buffer && m->src.buffer->scope == SCOPE_GLOBAL &&
              in_shared(e, m->dst.buffer);
    Dist d = {.stmt = s, .rank = m->rank, .vector = v};

    if (v < 2 || bytes < 4)
        return false;
    for (int i = 0; i < m->rank; i++)
        if (!ir_is_int(m->extent[i], &d.extent[i]))
            return false;
    bool async = in && e->dialect->has_cp_async &&
                 (e->in_ring ? e->ring_copy : true);
    dist_open(e, &d);
    move(e, m, bytes, async);
    dist_close(e, &d);
    if (async && !e->in_ring)
        e->uses_async = true;
    return true;
}
