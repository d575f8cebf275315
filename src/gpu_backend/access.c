// access.c - elements of buffers: where they are, and whether they are there.
#include "gpu_backend/emit_int.h"

int64_t fixed_extent(const IrBuffer *b, int d)
{
    int64_t n;
    return ir_is_int(b->shape[d], &n) ? n : -1;
}

bool in_registers(const Emit *e, const IrBuffer *b)
{
    return e->plan->fragments[b->id] && !e->plan->spilled[b->id];
}

bool in_shared(const Emit *e, const IrBuffer *b)
{
    b = root_buffer((IrBuffer *)b);
    return b->scope == SCOPE_SHARED || b->scope == SCOPE_SHARED_STATIC ||
           b->scope == SCOPE_REDUCER || b->scope == SCOPE_BARRIER ||
           e->plan->spilled[b->id];
}

// An array or variable of each thread.
bool is_private(const Emit *e, const IrBuffer *b)
{
    b = root_buffer((IrBuffer *)b);
    return b->scope == SCOPE_LOCAL || b->scope == SCOPE_VAR ||
           (b->scope == SCOPE_FRAGMENT && !in_registers(e, b) &&
            !e->plan->spilled[b->id]);
}

const PlanBuffer *arena_of(const Emit *e, const IrBuffer *b)
{
    for (int i = 0; i < e->launch->buffer_count; i++)
        if (e->launch->buffers[i].ir == root_buffer((IrBuffer *)b))
            return &e->launch->buffers[i];
    return NULL;
}

Spot place_of(Emit *e, IrBuffer *b, IrExpr *const *index)
{
    Spot p = {.buffer = b, .expr = index};
    int64_t fixed;

    if (in_registers(e, b))
        return p;
    for (int d = 0; d < b->rank; d++) {
        p.index[d] = expr(e, index[d]);
        p.range[d] = interval_of(e, index[d]);
        p.guarded[d] = !ir_is_int(index[d], &fixed);
    }
    return p;
}

// One side of a tile operation: min[d], or min[d] plus a loop variable.
Spot place_of_side(Emit *e, IrBuffer *b, IrExpr *const *min, const int *map)
{
    Spot p = {.buffer = b, .expr = min, .map = map};
    const Dist *d = e->dist;

    if (in_registers(e, b))
        return p;
    for (int i = 0; i < b->rank; i++) {
        Range r = min[i] ? interval_of(e, min[i]) : (Range){true, 0, 0};
        bool is_zero = r.known && r.low == 0 && r.high == 0;
        p.index[i] = min[i] ? expr(e, min[i]) : TEXT("0");
        p.guarded[i] = map[i] >= 0 || !r.known || r.low != r.high;
        if (map[i] >= 0) {
            Text v = d->index[map[i]];
            p.index[i] = is_zero ? v : sum(e, p.index[i], v);
            e->gpu->is_short |= b->scope == SCOPE_GLOBAL &&
                                fixed_extent(b, i) >= 0 &&
                                fixed_extent(b, i) < d->extent[map[i]];
            if (r.known && d->extent[map[i]] > 0)
                r.high += d->extent[map[i]] - 1;
            else
                r.known = false;
        }
        p.range[i] = r;
    }
    return p;
}

// ---- guards ----------------------------------------------------------------

Text both(Emit *e, Text a, Text b)
{
    if (!a.len || !b.len)
        return a.len ? a : b;
    return text_format(e->arena, "%.*s && %.*s", TEXT_ARG(a), TEXT_ARG(b));
}

// Text whose outermost operator might be weaker than a comparison.
static Text operand(Emit *e, Text t)
{
    for (size_t i = 0; i < t.len; i++)
        if (t.at[i] == '?' || t.at[i] == '&' || t.at[i] == '|')
            return text_format(e->arena, "(%.*s)", TEXT_ARG(t));
    return t;
}

Text guard_of(Emit *e, const Spot *p)
{
    const IrBuffer *b = p->buffer;
    Text all = {0};

    if (in_registers(e, b) || is_private(e, b))
        return all;
    for (int d = 0; d < b->rank; d++) {
        int64_t extent = fixed_extent(b, d);
        Range r = p->range[d];
        if (!p->guarded[d] || (b->scope != SCOPE_GLOBAL && !p->map))
            continue;
        if (!r.known || r.low < 0)
            all = both(e, all, text_format(e->arena, "%.*s >= 0",
                                           TEXT_ARG(operand(e, p->index[d]))));
        if (!r.known || extent < 0 || r.high >= extent)
            all = both(e, all,
                       text_format(e->arena, "%.*s < %.*s",
                                   TEXT_ARG(operand(e, p->index[d])),
                                   TEXT_ARG(operand(e, expr(e, b->shape[d])))));
    }
    e->gpu->is_cut |= all.len > 0;
    return all;
}

// ---- addresses -------------------------------------------------------------

static Text factor(Emit *e, Text t)
{
    for (size_t i = 0; i < t.len; i++)
        if (t.at[i] == ' ')
            return text_format(e->arena, "(%.*s)", TEXT_ARG(t));
    return t;
}

Text sum(Emit *e, Text a, Text b)
{
    if (text_is(a, "0"))
        return b;
    if (text_is(b, "0"))
        return a;
    bool low = false;
    for (size_t i = 0; i < b.len; i++)
        low |= b.at[i] == '?' || b.at[i] == '&' || b.at[i] == '|' ||
               b.at[i] == '^' || b.at[i] == '<' || b.at[i] == '>';
    bool low_a = false;
    for (size_t i = 0; i < a.len; i++)
        low_a |= a.at[i] == '?' || a.at[i] == '&' || a.at[i] == '|' ||
                 a.at[i] == '^' || a.at[i] == '<' || a.at[i] == '>';
    return text_format(e->arena, low_a ? (low ? "(%.*s) + (%.*s)"
                                              : "(%.*s) + %.*s")
                                       : (low ? "%.*s + (%.*s)"
                                              : "%.*s + %.*s"),
                       TEXT_ARG(a), TEXT_ARG(b));
}

static Text times(Emit *e, Text a, Text stride)
{
    if (text_is(a, "0") || text_is(stride, "1"))
        return a;
    return text_format(e->arena, "%.*s * %.*s", TEXT_ARG(factor(e, a)),
                       TEXT_ARG(factor(e, stride)));
}

// The elements from one index of dimension d to the next, row-major.
static Text stride_of(Emit *e, const IrBuffer *b, int d)
{
    Text all = {0};
    int64_t fixed = 1;

    if (b->strides[d])
        return expr(e, b->strides[d]);
    for (int i = d + 1; i < b->rank; i++) {
        bool whole = is_packed(b) && i == b->rank - 1;  // rows are whole bytes
        int64_t n = fixed_extent(b, i);
        if (n >= 0) {
            fixed *= whole ? n + n % 2 : n;
            continue;
        }
        Text x = text_format(e->arena, whole ? "(((i64)%.*s + 1) / 2 * 2)"
                                             : "(i64)%.*s",
                             TEXT_ARG(factor(e, expr(e, b->shape[i]))));
        all = all.len ? text_format(e->arena, "%.*s * %.*s", TEXT_ARG(all),
                                    TEXT_ARG(x))
                      : x;
    }
    if (!all.len)
        return text_format(e->arena, "%lld", (long long)fixed);
    if (fixed == 1)
        return all;
    return text_format(e->arena, "%.*s * %lld", TEXT_ARG(all),
                       (long long)fixed);
}

// Whether offsets of all elements fit in 31 bits.
static bool is_small(const IrBuffer *b)
{
    int64_t n = 1;

    for (int d = 0; d < b->rank; d++) {
        int64_t x = fixed_extent(b, d);
        if (x < 0 || b->strides[d] || (x && n > INT32_MAX / x))
            return false;
        n *= x;
    }
    return true;
}

static bool is_permuted(const IrBuffer *b)
{
    return b->scope == SCOPE_GLOBAL && b->layout && !b->layout->maker.len &&
           b->layout->out_rank > 0 && !b->alias_of;
}

// T.annotate_layout on a tensor: the place that the map says, row-major over
// the highest values of its outputs.
static Text permuted_offset(Emit *e, const IrBuffer *b, const Text *index)
{
    const IrIndexMap *m = b->layout;
    Text all = TEXT("0");
    int64_t stride = 1;

    for (int i = 0; i < m->in_rank; i++) {
        int64_t n = i < b->rank ? fixed_extent(b, i) : -1;
        if (n < 0 || m->in_rank != b->rank) {
            refuse(e, "the layout of '%.*s'", TEXT_ARG(b->name));
            return all;
        }
        e->range[m->in[i]->id] = (Range){true, 0, n - 1};
        e->var[m->in[i]->id] =
            text_format(e->arena, is_small(b) ? "(%.*s)" : "((i64)(%.*s))",
                        TEXT_ARG(index[i]));
    }
    for (int i = m->out_rank - 1; i >= 0; i--) {
        Range r = interval_of(e, m->out[i]);
        if (!r.known || r.low < 0) {
            refuse(e, "the layout of '%.*s'", TEXT_ARG(b->name));
            return all;
        }
        Text x = times(e, expr(e, m->out[i]),
                       text_format(e->arena, "%lld", (long long)stride));
        all = sum(e, x, all);
        stride *= r.high + 1;
    }
    return all;
}

static Text linear_offset(Emit *e, const IrBuffer *b, const Text *index)
{
    Text all = TEXT("0");
    bool small = is_small(b) || b->scope != SCOPE_GLOBAL;

    if (is_permuted(b))
        return permuted_offset(e, b, index);

    for (int d = 0; d < b->rank; d++) {
        Text stride = stride_of(e, b, d), i = index[d];
        if (!small && !text_is(stride, "1"))
            i = text_format(e->arena, "(i64)%.*s", TEXT_ARG(factor(e, i)));
        all = sum(e, all, times(e, i, stride));
    }
    return all;
}

// Rows that are padded: their pitch in elements, or 0.
static int pitch_of(const PlanShared *s, int64_t cols)
{
    int pitch = s->elements > cols ? s->address[cols] : 0;

    for (int i = 0; i < s->elements; i++)
        if (s->address[i] != i / cols * pitch + i % cols)
            return 0;
    return pitch;
}

Text shared_offset(Emit *e, const IrBuffer *b, const Text *index)
{
    const PlanShared *s = &e->plan->shared[root_buffer((IrBuffer *)b)->id];
    int r = b->rank;

    if (!s->address || b->alias_of)
        return linear_offset(e, b, index);
    int64_t rows = r > 1 ? fixed_extent(b, r - 2) : 1;
    int64_t cols = fixed_extent(b, r - 1);
    int vector = 128 / bits_of(e, b);
    Text i = r > 1 ? index[r - 2] : TEXT("0"), all = TEXT("0");
    int64_t size = s->size;

    for (int d = r - 3; d >= 0; size *= fixed_extent(b, d--))
        all = sum(e, times(e, index[d], text_format(e->arena, "%lld",
                                                    (long long)size)), all);
    if (s->swizzle) {
        Text in = text_format(e->arena, "swizzle<%lld, %d, %d>(%.*s, %.*s)",
                              (long long)rows, s->swizzle, vector, TEXT_ARG(i),
                              TEXT_ARG(index[r - 1]));
        return sum(e, all, in);
    }
    int pitch = pitch_of(s, cols);
    if (!pitch && rows > 1)
        refuse(e, "this layout of shared memory");
    return sum(e, all, sum(e, times(e, i, text_format(e->arena, "%d", pitch)),
                           index[r - 1]));
}

Text element(Emit *e, const Spot *p)
{
    const IrBuffer *b = p->buffer;
    Text name = e->buffer[b->id], at;

    if (is_packed(b))
        refuse(e, "the address of an element of '%.*s', half a byte,",
               TEXT_ARG(b->name));
    if (in_registers(e, b))
        at = dist_local(e, p);
    else if (b->scope == SCOPE_VAR)
        return name;
    else if (in_shared(e, b))
        at = shared_offset(e, b, p->index);
    else
        at = linear_offset(e, b, p->index);
    return text_format(e->arena, "%.*s[%.*s]", TEXT_ARG(name), TEXT_ARG(at));
}

// One that can be read, and not written.
static Text element_value(Emit *e, const Spot *p)
{
    const IrBuffer *b = p->buffer;

    if (!is_packed(b))
        return element(e, p);
    return text_format(e->arena, "nibble_%s(%.*s, %.*s)",
                       dtype_info(b->dtype)->brief, TEXT_ARG(e->buffer[b->id]),
                       TEXT_ARG(linear_offset(e, b, p->index)));
}

static Text safe_value(Emit *e, const IrBuffer *b)
{
    DType t = b->dtype;

    if (b->safe_value)
        return convert(e, t, b->safe_value->dtype, true,
                       wide_expr(e, b->safe_value), true);
    if (is_narrow(t))
        return text_format(e->arena, "%s()", type_of(t));
    return text_format(e->arena, "(%s)0", type_of(t));
}

Text load(Emit *e, const Spot *p)
{
    Text guard = guard_of(e, p), at = element_value(e, p);

    if (!guard.len)
        return at;
    return text_format(e->arena, "%.*s ? %.*s : %.*s", TEXT_ARG(guard),
                       TEXT_ARG(at), TEXT_ARG(safe_value(e, p->buffer)));
}

// One thread of those that do the same stores what others can see.
static Text writer(Emit *e, const IrBuffer *b)
{
    if (in_registers(e, b) || is_private(e, b))
        return (Text){0};
    return e->dist ? e->dist->mine : (Text){0};
}

void store(Emit *e, const Spot *p, Text value)
{
    Text guard = guard_of(e, p), mine = writer(e, p->buffer);
    bool packed = is_packed(p->buffer);
    Text at = packed ? linear_offset(e, p->buffer, p->index) : element(e, p);

    if (p->buffer->scope == SCOPE_GLOBAL)
        e->stored[root_buffer(p->buffer)->id] = true;
    if (mine.len)
        guard = guard.len ? text_format(e->arena, "%.*s && %.*s",
                                        TEXT_ARG(mine), TEXT_ARG(guard))
                          : mine;
    if (guard.len) {
        line(e, "if (%.*s)", TEXT_ARG(guard));
        e->indent++;
    }
    if (packed)
        line(e, "put_nibble(%.*s, %.*s, %s(%.*s));",
             TEXT_ARG(e->buffer[p->buffer->id]), TEXT_ARG(at),
             is_narrow(p->buffer->dtype) ? "bits_as<u8>" : "(u8)",
             TEXT_ARG(value));
    else
        line(e, "%.*s = %.*s;", TEXT_ARG(at), TEXT_ARG(value));
    if (guard.len)
        e->indent--;
}
