// vector.c - values of several lanes, as T.Ramp, T.ldg128 and the vector dtypes
// make them.
//
// Such a value is staged as the tuple of its lanes, which are scalars: what is
// done to it is done to each. A subscript that is a vector reads or writes an
// element per lane; a slice of a buffer takes a vector of as many lanes.
#include <ctype.h>
#include <string.h>

#include "lang/eval_int.h"
#include "lang/trace_int.h"

enum { MOST_LANES = 256 };

typedef struct {
    Value at[MOST_LANES];
    int len;
} Lanes;

bool v_is_vector(const Lang *l, Value v)
{
    return v.kind == VAL_TUPLE && v.list->cls &&
           v.list->cls == l->more->vector;
}

static Value vector_value(Lang *l, const Lanes *lanes)
{
    Value v = v_tuple(l, lanes->at, lanes->len);

    if (!l->more->vector) {
        l->more->vector = new (lang_arena(l), Class);
        l->more->vector->name = TEXT("vector");
    }
    v.list->cls = l->more->vector;
    return v;
}

Value vector_of(Lang *l, const Value *lanes, int n)
{
    Lanes out = {.len = n};

    memcpy(out.at, lanes, (size_t)n * sizeof *lanes);
    return vector_value(l, &out);
}

static void add_lane(Lang *l, Lanes *lanes, Value v, Span at)
{
    if (lanes->len == MOST_LANES)
        lang_unsupported(l, at, "a vector of more than %d lanes", MOST_LANES);
    lanes->at[lanes->len++] = v;
}

static void add_expr(Lang *l, Lanes *lanes, IrExpr *e, Span at)
{
    trace_builder_ok(l, e, at);
    add_lane(l, lanes, v_expr(e), at);
}

// Lane i of a vector; a scalar has the same in each.
static Value lane(const Lang *l, Value v, int i)
{
    return v_is_vector(l, v) ? v.list->at[i] : v;
}

// The lanes that a and b have together.
static int lanes_of(Lang *l, Value a, Value b, Span at)
{
    int n = v_is_vector(l, a) ? a.list->len : b.list->len;

    if (v_is_vector(l, a) && v_is_vector(l, b) && b.list->len != n)
        lang_raise(l, "ValueError", at, "vectors of %d and %d lanes", n,
                   b.list->len);
    return n;
}

Value vector_binary(Lang *l, AstOp op, Value a, Value b, Span at)
{
    int n = lanes_of(l, a, b, at);
    Lanes out = {.len = 0};

    for (int i = 0; i < n; i++)
        add_lane(l, &out, binary_op(l, op, lane(l, a, i), lane(l, b, i), at),
                 at);
    return vector_value(l, &out);
}

// ---- subscripts ------------------------------------------------------------

static int index_lanes(const Lang *l, Value index)
{
    if (v_is_vector(l, index))
        return index.list->len;
    for (int i = 0; v_is_sequence(index) && i < index.list->len; i++)
        if (v_is_vector(l, index.list->at[i]))
            return index.list->at[i].list->len;
    return 0;
}

bool index_is_vector(const Lang *l, Value index)
{
    return index_lanes(l, index) > 0;
}

// A lane below 0 counts from the end of dimension d, though its sign is known
// on the device only.
static Value wrapped(Lang *l, const IrBuffer *b, int d, Value v, Span at)
{
    if (v.kind != VAL_EXPR || d >= b->rank)
        return v;
    return device_select(l, device_binary(l, AST_OP_LT, v, v_int(0), at),
                         device_binary(l, AST_OP_ADD, v, v_expr(b->shape[d]),
                                       at), v, at);
}

// The subscript of lane i alone.
static Value index_lane(Lang *l, const IrBuffer *b, Value index, int i,
                        Span at)
{
    Value items[IR_MAX_RANK];
    int n = index_lanes(l, index);

    if (v_is_vector(l, index))
        return wrapped(l, b, 0, index.list->at[i], at);
    for (int d = 0; d < index.list->len && d < IR_MAX_RANK; d++) {
        items[d] = index.list->at[d];
        if (v_is_vector(l, items[d]) && items[d].list->len != n)
            lang_raise(l, "ValueError", at, "vectors of %d and %d lanes", n,
                       items[d].list->len);
        if (v_is_vector(l, items[d]))
            items[d] = wrapped(l, b, d, items[d].list->at[i], at);
    }
    return v_tuple(l, items, index.list->len);
}

Value vector_getitem(Lang *l, Value base, Value index, Span at)
{
    Lanes out = {.len = 0};

    for (int i = 0; i < index_lanes(l, index); i++)
        add_lane(l, &out, device_getitem(l, base, index_lane(l, base.buffer, index,
                                                             i, at), at), at);
    return vector_value(l, &out);
}

// All lanes are read before the first is written.
static void freeze(Lang *l, Lanes *lanes, Span at)
{
    for (int i = 0; i < lanes->len && !l->trace->lazy; i++)
        if (lanes->at[i].kind == VAL_EXPR)
            lanes->at[i] = trace_freeze(l, TEXT("lane"), lanes->at[i].expr, at);
}

static Lanes frozen(Lang *l, Value v, int n, Span at)
{
    Lanes out = {.len = 0};

    if (v_is_vector(l, v) && v.list->len != n)
        lang_raise(l, "ValueError", at, "%d lanes are stored to %d elements",
                   v.list->len, n);
    for (int i = 0; i < n; i++)
        add_lane(l, &out, lane(l, v, i), at);
    freeze(l, &out, at);
    return out;
}

void vector_setitem(Lang *l, Value base, Value index, Value v, Span at)
{
    int n = index_lanes(l, index);
    Lanes lanes = frozen(l, v, n, at);

    for (int i = 0; i < n; i++)
        device_setitem(l, base, index_lane(l, base.buffer, index, i, at),
                       lanes.at[i], at);
}

// Element i of a region, the last dimension fastest.
static void element(Lang *l, const IrRegion *r, int64_t i, IrExpr **index,
                    Span at)
{
    for (int d = r->buffer->rank - 1; d >= 0; d--) {
        int64_t n = 1;

        if (r->extent[d])
            ir_is_int(r->extent[d], &n);
        index[d] = ir_op2(trace_kernel(l), OP_ADD, r->min[d],
                          ir_int(trace_kernel(l), DT_I32, i % n, at), at);
        trace_builder_ok(l, index[d], at);
        i /= n;
    }
}

static int region_size(Lang *l, const IrRegion *r, Span at)
{
    int64_t count = 1, n;

    for (int d = 0; d < r->buffer->rank; d++) {
        if (!r->extent[d])
            continue;
        if (!ir_is_int(r->extent[d], &n) || n < 1 || n > MOST_LANES / count)
            lang_unsupported(l, at, "a vector of other than 1 to %d elements",
                             MOST_LANES);
        count *= n;
    }
    return (int)count;
}

void vector_fill(Lang *l, const IrRegion *r, Value v, Span at)
{
    int n = region_size(l, r, at);
    Lanes lanes = frozen(l, v, n, at);
    IrExpr *index[IR_MAX_RANK];

    for (int i = 0; i < n; i++) {
        element(l, r, i, index, at);
        store_element(l, r->buffer, index, to_expr(l, lanes.at[i], at), at);
    }
}

// ---- words of another size -------------------------------------------------

static DType word_of(int bits)
{
    return bits == 8 ? DT_U8 : bits == 16 ? DT_U16 : bits == 32 ? DT_U32
                                                                : DT_U64;
}

static int bits_of(Lang *l, Value v, Span at)
{
    int bits = dtype_info(to_expr(l, v, at)->dtype)->bits;

    if (bits < 8)
        lang_unsupported(l, at, "lanes of %d bits", bits);
    return bits;
}

static IrExpr *shifted(Lang *l, Op op, IrExpr *e, int by, Span at)
{
    IrKernel *k = trace_kernel(l);

    return by ? ir_op2(k, op, e, ir_int(k, e->dtype, by, at), at) : e;
}

// Part i of a wide word.
static IrExpr *word_part(Lang *l, IrExpr *e, int i, int bits, Span at)
{
    return ir_cast(trace_kernel(l), shifted(l, OP_SHR, e, i * bits, at),
                   word_of(bits), true, at);
}

// n narrow words from `from` on as one.
static IrExpr *word_joined(Lang *l, const Lanes *in, int from, int n, int bits,
                           Span at)
{
    IrKernel *k = trace_kernel(l);
    IrExpr *sum = NULL;

    for (int i = 0; i < n; i++) {
        IrExpr *e = ir_cast(k, in->at[from + i].expr, word_of(n * bits), true,
                            at);

        e = shifted(l, OP_SHL, e, i * bits, at);
        sum = sum ? ir_op2(k, OP_BITOR, sum, e, at) : e;
    }
    return sum;
}

// The bits of all lanes as words of `bits` bits.
static void as_words(Lang *l, const Lanes *in, int bits, Lanes *out, Span at)
{
    IrKernel *k = trace_kernel(l);
    int have = bits_of(l, in->at[0], at), step = have < bits ? bits / have : 1;
    Lanes words = {.len = 0};

    for (int i = 0; i < in->len; i++)
        add_expr(l, &words, ir_reinterpret(k, to_expr(l, in->at[i], at),
                                           word_of(have), at), at);
    if (in->len % step)
        lang_raise(l, "ValueError", at, "%d lanes of %d bits are no words of "
                   "%d bits", in->len, have, bits);
    for (int i = 0; i < words.len; i += step)
        for (int p = 0; p < (have > bits ? have / bits : 1); p++)
            add_expr(l, out, have > bits
                                 ? word_part(l, words.at[i].expr, p, bits, at)
                                 : word_joined(l, &words, i, step, have, at),
                     at);
}

// ---- vector dtypes ---------------------------------------------------------

// "float32x2" as float32 and 2.
static bool vector_dtype(Text name, DType *t, int *lanes)
{
    size_t n = name.len;

    *lanes = 0;
    while (n && isdigit((unsigned char)name.at[n - 1]))
        n--;
    if (n < 2 || n == name.len || name.at[n - 1] != 'x' ||
        !dtype_find(text_slice(name, 0, n - 1), t))
        return false;
    for (size_t i = n; i < name.len && *lanes <= MOST_LANES; i++)
        *lanes = 10 * *lanes + (name.at[i] - '0');
    return *lanes > 0 && *lanes <= MOST_LANES;
}

bool vectype_find(Text name, Value *out)
{
    DType t;
    int n;

    if (!vector_dtype(name, &t, &n) || n < 2 || (n & (n - 1)))
        return false;
    *out = (Value){.kind = VAL_VECTYPE, .vec = {t, n}};
    return true;
}

Text vectype_name(Lang *l, Value v)
{
    return text_format(lang_arena(l), "%sx%d", dtype_info(v.vec.dtype)->name,
                       v.vec.lanes);
}

bool vectype_getattr(Lang *l, Value v, Text name, Value *out)
{
    int bits = dtype_info(v.vec.dtype)->bits * v.vec.lanes;

    if (text_is(name, "bits"))
        *out = v_int(bits);
    else if (text_is(name, "bytes") || text_is(name, "itemsize"))
        *out = v_int((bits + 7) / 8);
    else if (text_is(name, "lanes"))
        *out = v_int(v.vec.lanes);
    else if (text_is(name, "name"))
        *out = v_str(vectype_name(l, v));
    else if (text_is(name, "as_torch") && bits == 8)
        lang_getattr(l, v_dtype(v.vec.dtype), name, out, (Span){0});
    else
        return false;
    return true;
}

// T.float32x2(a, b)
Value vectype_call(Lang *l, Value type, const Args *args)
{
    Lanes out = {.len = 0};
    Span at = args->at_span;

    if (args->count != type.vec.lanes || args->keyword_count)
        lang_raise(l, "TypeError", at, "T.%.*s() takes %d values, found %d",
                   TEXT_ARG(vectype_name(l, type)), type.vec.lanes,
                   args->count);
    for (int i = 0; i < args->count; i++)
        add_expr(l, &out, ir_cast(trace_kernel(l), to_expr(l, args->at[i], at),
                                  type.vec.dtype, true, at), at);
    return vector_value(l, &out);
}

// T.alloc_var(T.float32x2): a variable for each lane.
Value vector_of_vars(Lang *l, Value type, Value (*var)(Lang *l, DType t,
                                                       Span at), Span at)
{
    Lanes out = {.len = 0};

    for (int i = 0; i < type.vec.lanes; i++)
        add_lane(l, &out, var(l, type.vec.dtype, at), at);
    return vector_value(l, &out);
}

// T.reinterpret of or to a vector; false: of a scalar to a scalar.
static bool reinterpret(Lang *l, const Bound *b, Value *out)
{
    Lanes in = {.len = 0}, words = {.len = 0};
    Value to = b->at[1];
    DType t = to.vec.dtype;
    int n = to.vec.lanes;

    if (to.kind != VAL_VECTYPE
        && !(to.kind == VAL_STR && vector_dtype(to.s, &t, &n))) {
        if (!v_is_vector(l, b->at[0]))
            return false;
        t = value_to_dtype(l, to, b->spans[1]);
        n = 1;
    }
    if (!v_is_vector(l, b->at[0]))
        add_lane(l, &in, b->at[0], b->call);
    for (int i = 0; v_is_vector(l, b->at[0]) && i < b->at[0].list->len; i++)
        add_lane(l, &in, b->at[0].list->at[i], b->call);
    as_words(l, &in, dtype_info(t)->bits, &words, b->call);
    if (words.len != n)
        lang_raise(l, "ValueError", b->call, "%d bits cannot be read as %d "
                   "lane%s of %s", words.len * dtype_info(t)->bits, n,
                   n == 1 ? "" : "s", dtype_info(t)->name);
    for (int i = 0; i < n; i++)
        words.at[i] = v_expr(ir_reinterpret(trace_kernel(l), words.at[i].expr,
                                            t, b->call));
    *out = n == 1 ? words.at[0] : vector_value(l, &words);
    return true;
}

// ---- T.Ramp, T.Broadcast, T.Shuffle, T.extract_lane ------------------------

static int lane_count(Lang *l, const Bound *b, int i)
{
    int64_t n = bound_int(l, b, i, 0);

    if (n < 1 || n > MOST_LANES)
        lang_raise(l, "ValueError", b->spans[i], "%s: lanes=%lld is not from "
                   "1 to %d", b->info->surface, (long long)n, MOST_LANES);
    return (int)n;
}

// base + i * stride, or the value in each lane
static Value spread(Lang *l, const Bound *b)
{
    bool ramp = b->op == OP_RAMP;
    int n = lane_count(l, b, ramp ? 2 : 1);
    Lanes out = {.len = 0};

    for (int i = 0; i < n; i++) {
        Value v = b->at[0];

        if (ramp)
            v = binary_op(l, AST_OP_ADD, v,
                          binary_op(l, AST_OP_MUL, b->at[1], v_int(i),
                                    b->call), b->call);
        add_lane(l, &out, v, b->call);
    }
    return vector_value(l, &out);
}

static int64_t lane_index(Lang *l, Value v, int64_t n, Span at)
{
    if (v.kind != VAL_INT)
        lang_raise(l, "TypeError", at, "a lane is a compile-time integer, not "
                   "%s", value_type_name(v));
    if (v.i < 0 || v.i >= n)
        lang_raise(l, "IndexError", at, "lane %lld is out of bounds for %lld "
                   "lanes", (long long)v.i, (long long)n);
    return v.i;
}

static Value extract_lane(Lang *l, const Bound *b)
{
    if (!v_is_device(b->at[0]) && !v_is_vector(l, b->at[0]))
        lang_raise(l, "TypeError", b->spans[0], "%s expects a PrimExpr, "
                   "found %s", b->info->surface, value_type_name(b->at[0]));
    if (!v_is_vector(l, b->at[0]))
        lang_raise(l, "ValueError", b->spans[0], "%s expects a vector "
                   "expression, found %s", b->info->surface,
                   value_type_name(b->at[0]));
    const List *lanes = b->at[0].list;
    return lanes->at[lane_index(l, b->at[1], lanes->len, b->spans[1])];
}

// The lanes of all the vectors, picked by number.
static Value shuffle(Lang *l, const Bound *b)
{
    List *vectors = value_to_list(l, b->at[0], b->spans[0]);
    List *picked = value_to_list(l, b->at[1], b->spans[1]);
    Lanes all = {.len = 0}, out = {.len = 0};

    for (int i = 0; i < vectors->len; i++) {
        Value v = vectors->at[i];

        for (int j = 0; j < (v_is_vector(l, v) ? v.list->len : 1); j++)
            add_lane(l, &all, lane(l, v, j), b->call);
    }
    for (int i = 0; i < picked->len; i++)
        add_lane(l, &out, all.at[lane_index(l, picked->at[i], all.len,
                                            b->spans[1])], b->call);
    if (!out.len)
        lang_raise(l, "ValueError", b->call, "%s of no lanes",
                   b->info->surface);
    return out.len == 1 ? out.at[0] : vector_value(l, &out);
}

// ---- loads and stores of 32 to 256 bits ------------------------------------

typedef struct {
    int bits;
    bool store, shared;
} Access;

static bool access_of(Op op, Access *a)
{
    static const struct {
        Op op;
        Access access;
    } rows[] = {
        {OP_LDG32, {32, false, false}},   {OP_LDG64, {64, false, false}},
        {OP_LDG128, {128, false, false}}, {OP_LDG256, {256, false, false}},
        {OP_STG32, {32, true, false}},    {OP_STG64, {64, true, false}},
        {OP_STG128, {128, true, false}},  {OP_STG256, {256, true, false}},
        {OP_LDS32, {32, false, true}},    {OP_LDS64, {64, false, true}},
        {OP_LDS128, {128, false, true}},  {OP_STS32, {32, true, true}},
        {OP_STS64, {64, true, true}},     {OP_STS128, {128, true, true}},
    };

    for (size_t i = 0; i < countof(rows); i++)
        if (rows[i].op == op)
            return *a = rows[i].access, true;
    return false;
}

static bool in_shared(const IrBuffer *b)
{
    return b->scope == SCOPE_SHARED || b->scope == SCOPE_SHARED_STATIC;
}

// The elements that an access of `bits` bits covers, as a row from the first.
static IrRegion *covered(Lang *l, const Bound *b, const Access *a, int *count)
{
    IrRegion *r = new (lang_arena(l), IrRegion);
    Value v = b->at[0];

    if (v_is_vector(l, v))
        v = v.list->at[0];
    *r = *to_region(l, v, b->spans[0]);
    int size = dtype_info(r->buffer->dtype)->bits, last = r->buffer->rank - 1;
    if (size < 8 || size > a->bits)
        lang_unsupported(l, b->call, "%s of elements of %d bits",
                         b->info->surface, size);
    if (in_shared(r->buffer) != a->shared)
        lang_raise(l, "ValueError", b->spans[0], "%s works on %s memory; "
                   "'%.*s' is in %s", b->info->surface,
                   a->shared ? "shared" : "global", TEXT_ARG(r->buffer->name),
                   ir_scope_name(r->buffer->scope));
    *count = a->bits / size;
    r->form = REGION_SLICE;
    for (int d = 0; d <= last; d++) {
        r->extent[d] = d == last ? ir_int(trace_kernel(l), DT_I32, *count,
                                          b->call) : NULL;
        r->step[d] = 1;
    }
    return r;
}

static void load_all(Lang *l, const IrRegion *r, int n, Lanes *out, Span at)
{
    IrExpr *index[IR_MAX_RANK];

    for (int i = 0; i < n; i++) {
        element(l, r, i, index, at);
        add_expr(l, out, ir_load(trace_kernel(l), r->buffer, index,
                                 r->buffer->rank, at), at);
    }
}

// uint32, or a vector of them; 0 where pred does not hold.
static Value wide_load(Lang *l, const Bound *b, const Access *a)
{
    int n, pred = op_param_find(b->info, TEXT("pred"));
    IrRegion *r = covered(l, b, a, &n);
    Lanes in = {.len = 0}, out = {.len = 0};

    load_all(l, r, n, &in, b->call);
    as_words(l, &in, 32, &out, b->call);
    for (int i = 0; i < out.len && pred >= 0 && bound_given(b, pred); i++)
        out.at[i] = device_select(l, b->at[pred], out.at[i],
                                  v_expr(ir_int(trace_kernel(l), DT_U32, 0,
                                                b->call)), b->call);
    freeze(l, &out, b->call);
    return out.len == 1 ? out.at[0] : vector_value(l, &out);
}

static void store_words(Lang *l, const Bound *b, const IrRegion *r,
                        const Lanes *words)
{
    IrKernel *k = trace_kernel(l);
    DType t = r->buffer->dtype;
    Lanes out = {.len = 0};
    IrExpr *index[IR_MAX_RANK];

    as_words(l, words, dtype_info(t)->bits, &out, b->call);
    for (int i = 0; i < out.len; i++) {
        element(l, r, i, index, b->call);
        store_element(l, r->buffer, index,
                      ir_reinterpret(k, out.at[i].expr, t, b->call), b->call);
    }
}

static Value wide_store(Lang *l, const Bound *b, const Access *a)
{
    int n, pred = op_param_find(b->info, TEXT("pred"));
    IrRegion *r = covered(l, b, a, &n);
    IrStmt *outer = l->trace->block;
    Lanes words = {.len = 0};
    Value v = b->at[1];

    for (int i = 0; i < (v_is_vector(l, v) ? v.list->len : 1); i++)
        add_lane(l, &words, lane(l, v, i), b->call);
    n = words.len * bits_of(l, words.at[0], b->call);
    if (n != a->bits)
        lang_raise(l, "ValueError", b->spans[1], "%s stores %d bits; the value "
                   "has %d", b->info->surface, a->bits, n);
    freeze(l, &words, b->call);
    if (pred < 0 || !bound_given(b, pred)) {
        store_words(l, b, r, &words);
        return V_NONE;
    }
    IrStmt *guarded = ir_stmt(l->trace->k, STMT_IF, b->call);
    guarded->cond = to_condition(l, b->at[pred], b->spans[pred]);
    guarded->then = l->trace->block = ir_block(l->trace->k, b->call);
    store_words(l, b, r, &words);
    l->trace->block = outer;
    trace_add(l, guarded);
    return V_NONE;
}

// ---- atomics that give the old values --------------------------------------

// The regions of dst and value: slices, names of them, or loads by a T.Ramp.
static IrRegion *first_of_row(Lang *l, const Bound *b, int i)
{
    Value v = b->at[i];

    if (v_is_vector(l, v))
        v = v.list->at[0];
    return to_region(l, v, b->spans[i]);
}

Value vector_atomic(Lang *l, const Bound *b, int n)
{
    IrKernel *k = trace_kernel(l);
    IrRegion row[2];
    IrExpr *to[IR_MAX_RANK];
    Lanes values = {.len = 0}, out = {.len = 0};

    for (int i = 0; i < 2; i++) {
        row[i] = *first_of_row(l, b, i);
        for (int d = 0; d < row[i].buffer->rank; d++)
            row[i].extent[d] = d + 1 < row[i].buffer->rank
                                   ? NULL : ir_int(k, DT_I32, n, b->call);
    }
    load_all(l, &row[1], n, &values, b->call);
    for (int i = 0; i < n; i++) {
        element(l, &row[0], i, to, b->call);
        add_expr(l, &out, ir_atomic(k, OP_ATOMIC_ADD, row[0].buffer, to,
                                    row[0].buffer->rank, values.at[i].expr,
                                    b->call), b->call);
    }
    freeze(l, &out, b->call);
    return vector_value(l, &out);
}

// ---- the call --------------------------------------------------------------

bool vector_call(Lang *l, const Bound *b, Value *out)
{
    Access a;

    switch (b->op) {
    case OP_RAMP:
    case OP_BROADCAST:
        *out = spread(l, b);
        return true;
    case OP_SHUFFLE:
        *out = shuffle(l, b);
        return true;
    case OP_EXTRACT_LANE:
        *out = extract_lane(l, b);
        return true;
    case OP_REINTERPRET:
        return reinterpret(l, b, out);
    default:
        break;
    }
    if (!access_of(b->op, &a))
        return false;
    trace_need(l, b->info->surface, b->call);
    *out = a.store ? wide_store(l, b, &a) : wide_load(l, b, &a);
    return true;
}
