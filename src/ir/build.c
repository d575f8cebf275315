// build.c - makes kernels, variables, buffers and the leaves of expressions.
#include "ir/ir_int.h"

void *ir_error(IrKernel *k, Span at, const char *id, const char *format, ...)
{
    TextBuf b = {0};
    va_list args;
    va_start(args, format);
    buf_vprintf(&b, format, args);
    va_end(args);
    diag_error(k->diag, EXIT_PROGRAM, at, id, "%.*s", TEXT_ARG(buf_view(&b)));
    buf_release(&b);
    return NULL;
}

// ---- kernel -----------------------------------------------------------------

IrKernel *ir_kernel(Arena *a, const OpTable *ops, Diag *d, Text name, Span at)
{
    IrKernel *k = new(a, IrKernel);
    k->arena = a;
    k->ops = ops;
    k->diag = d;
    k->name = text_copy(a, name);
    k->at = at;
    k->body = ir_block(k, at);
    return k;
}

IrVar *ir_var(IrKernel *k, IrVarKind kind, Text name, DType t, Span at)
{
    IrVar *v = new(k->arena, IrVar);
    v->id = k->next_var++;
    v->kind = kind;
    v->name = text_copy(k->arena, name);
    v->dtype = t;
    v->at = at;
    return v;
}

// The counted arrays of IrKernel, as vec_push wants them.
#define push(k, array, count, room_of, x)                                     \
    do {                                                                      \
        if ((k)->count == (k)->room_of)                                       \
            vec_grow_((k)->arena, (void **)&(k)->array, &(k)->room_of,        \
                      sizeof *(k)->array);                                    \
        (k)->array[(k)->count++] = (x);                                       \
    } while (0)

void add_symbol(IrKernel *k, IrVar *v)
{
    push(k, symbols, symbol_count, symbol_room, v);
}

IrVar *ir_symbol(IrKernel *k, Text name, DType t, Span at)
{
    for (int i = 0; i < k->symbol_count; i++)
        if (text_eq(k->symbols[i]->name, name))
            return k->symbols[i];
    IrVar *v = ir_var(k, VAR_SYMBOL, name, t, at);
    add_symbol(k, v);
    return v;
}

int ir_param(IrKernel *k, Text name, IrBuffer *buffer, IrVar *var)
{
    IrParam p = {.name = text_copy(k->arena, name), .is_scalar = var != NULL,
                 .buffer = buffer, .var = var};
    if (buffer)
        buffer->param = k->param_count;
    push(k, params, param_count, param_room, p);
    return k->param_count - 1;
}

// ---- buffers ----------------------------------------------------------------

bool dtype_usable(IrKernel *k, DType t, Span at)
{
    if ((unsigned)t < DT_COUNT && dtype_info(t)->built)
        return true;
    const char *name = (unsigned)t < DT_COUNT ? dtype_info(t)->name : "none";
    diag_error(k->diag, EXIT_LIMIT, at, "ir-dtype",
               "dtype %s is not supported yet", name);
    return false;
}

// A new buffer may have no name yet.
static Text called(const IrBuffer *b)
{
    return b->name.len ? b->name : TEXT("this buffer");
}

static bool check_extent(IrKernel *k, const IrBuffer *b, int d)
{
    IrExpr *e = b->shape[d];
    int64_t n;
    if (!e)
        return false;
    if (!dtype_is_int(e->dtype))
        return ir_error(k, e->at, "ir-shape",
                        "dimension %d of %.*s is %s, not an integer", d,
                        TEXT_ARG(called(b)), dtype_info(e->dtype)->name);
    bool constant = ir_is_int(e, &n);
    if (!constant && b->scope != SCOPE_GLOBAL)
        return ir_error(k, e->at, "ir-shape",
                        "dimension %d of %.*s is not known when the kernel is "
                        "built; on-chip buffers need constant sizes", d,
                        TEXT_ARG(called(b)));
    if (constant && (n < 0 || (n == 0 && b->scope != SCOPE_GLOBAL)))
        return ir_error(k, e->at, "ir-shape", "dimension %d of %.*s is %lld", d,
                        TEXT_ARG(called(b)), (long long)n);
    return true;
}

// The constant dimensions alone must leave a byte count that fits 62 bits.
static bool check_size(IrKernel *k, const IrBuffer *b, Span at)
{
    int64_t bytes = 16, n;
    for (int i = 0; i < b->rank; i++)
        if (ir_is_int(b->shape[i], &n) && n > 0 &&
            (__builtin_mul_overflow(bytes, n, &bytes) || bytes >> 62))
            return ir_error(k, at, "ir-shape", "%.*s is too large",
                            TEXT_ARG(called(b)));
    return true;
}

IrBuffer *ir_buffer(IrKernel *k, Text name, DType t, IrScope scope, int rank,
                    IrExpr *const *shape, IrExpr *const *strides, Span at)
{
    if (rank < 1 || rank > IR_MAX_RANK)
        return ir_error(k, at, "ir-shape",
                        "%.*s has %d dimensions; 1 to %d are possible",
                        TEXT_ARG(name), rank, IR_MAX_RANK);
    if (!dtype_usable(k, t, at))
        return NULL;
    IrBuffer *b = new(k->arena, IrBuffer);
    *b = (IrBuffer){.id = k->buffer_count, .name = text_copy(k->arena, name),
                    .dtype = t, .scope = scope, .rank = rank, .param = -1,
                    .at = at};
    for (int i = 0; i < rank; i++) {
        b->shape[i] = shape[i];
        b->strides[i] = strides ? strides[i] : NULL;
        if (!check_extent(k, b, i) || (strides && !strides[i]))
            return NULL;
    }
    if (!check_size(k, b, at))
        return NULL;
    push(k, buffers, buffer_count, buffer_room, b);
    return b;
}

// ---- expressions: leaves ----------------------------------------------------

IrExpr *new_expr(IrKernel *k, IrExprKind kind, DType t, Span at, int count,
                 IrExpr *const *args)
{
    int depth = 1, size = 1;
    for (int i = 0; i < count; i++) {
        if (!args[i])
            return NULL;
        depth = args[i]->depth >= depth ? args[i]->depth + 1 : depth;
        size += args[i]->size;
        if (depth > EXPR_MAX_DEPTH || size > EXPR_MAX_SIZE)
            return ir_error(k, at, "ir-too-deep",
                            "the expression is too large; "
                            "give a part of it a name in the kernel");
    }
    IrExpr *e = new(k->arena, IrExpr);
    *e = (IrExpr){.kind = kind, .dtype = t, .at = at, .sat = true,
                  .depth = depth, .size = size, .count = count};
    e->args = new_array(k->arena, IrExpr *, (size_t)count);
    for (int i = 0; i < count; i++)
        e->args[i] = args[i];
    return e;
}

IrExpr *ir_int(IrKernel *k, DType t, int64_t v, Span at)
{
    if (!dtype_usable(k, t, at))
        return NULL;
    if (dtype_is_float(t))
        return ir_float(k, t, (double)v, at);
    return int_const(k, t, t == DT_U64 ? (Wide)(uint64_t)v : (Wide)v, at);
}

IrExpr *ir_literal(IrKernel *k, int64_t v, Span at)
{
    return ir_int(k, int_fits(DT_I32, v) ? DT_I32 : DT_I64, v, at);
}

IrExpr *ir_float(IrKernel *k, DType t, double v, Span at)
{
    if (!dtype_usable(k, t, at))
        return NULL;
    if (!dtype_is_float(t))
        return ir_error(k, at, "ir-type", "%s is no float dtype",
                        dtype_info(t)->name);
    IrExpr *e = new_expr(k, EXPR_FLOAT, t, at, 0, NULL);
    e->f64 = v;
    return e;
}

IrExpr *ir_use(IrKernel *k, IrVar *v, Span at)
{
    if (!v)
        return NULL;
    IrExpr *e = new_expr(k, EXPR_VAR, v->dtype, at, 0, NULL);
    e->var = v;
    return e;
}

// ---- indices ----------------------------------------------------------------

bool check_one_index(IrKernel *k, const IrBuffer *b, int d, IrExpr **index)
{
    IrExpr *e = *index;
    int64_t i, n;
    if (!e)
        return false;
    if (!dtype_is_int(e->dtype))
        return ir_error(k, e->at, "ir-index",
                        "index %d of %.*s is %s, not an integer", d,
                        TEXT_ARG(b->name), dtype_info(e->dtype)->name);
    if (!ir_is_int(e, &i))
        return true;
    if (i < 0)
        *index = ir_op2(k, OP_ADD, b->shape[d], e, e->at);
    if (!ir_is_int(b->shape[d], &n) || (i >= -n && i < n))
        return *index != NULL;
    return ir_error(k, e->at, "ir-index-range",
                    "index %lld is out of range: dimension %d of %.*s has %lld "
                    "elements", (long long)i, d, TEXT_ARG(b->name),
                    (long long)n);
}

bool check_index_count(IrKernel *k, const IrBuffer *b, int n, Span at)
{
    return n == b->rank ||
           ir_error(k, at, "ir-index-count",
                    "%.*s has %d dimension%s, %d ind%s given",
                    TEXT_ARG(b->name), b->rank, b->rank == 1 ? "" : "s", n,
                    n == 1 ? "ex" : "ices");
}

bool check_index(IrKernel *k, const IrBuffer *b, IrExpr *const *index, int n,
                 Span at, IrExpr **out)
{
    bool good = check_index_count(k, b, n, at);
    for (int i = 0; good && i < n; i++) {
        out[i] = index[i];
        good = check_one_index(k, b, i, &out[i]);
    }
    return good;
}

IrExpr *ir_load(IrKernel *k, IrBuffer *b, IrExpr *const *index, int n, Span at)
{
    IrExpr *args[IR_MAX_RANK];
    if (!b || !check_index(k, b, index, n, at, args))
        return NULL;
    IrExpr *e = new_expr(k, EXPR_LOAD, b->dtype, at, n, args);
    if (e)
        e->buffer = b;
    return e;
}

IrExpr *ir_atomic(IrKernel *k, Op op, IrBuffer *b, IrExpr *const *index, int n,
                  IrExpr *value, Span at)
{
    IrExpr *args[IR_MAX_RANK + 1];
    bool load = op == OP_ATOMIC_LOAD;
    if (!b || (!value && !load) || !check_index(k, b, index, n, at, args))
        return NULL;
    if (!load)
        args[n] = ir_cast(k, value, b->dtype, true, at);
    IrExpr *e = new_expr(k, EXPR_ATOMIC, b->dtype, at, n + !load, args);
    if (!e)
        return NULL;
    e->op = op;
    e->buffer = b;
    return e;
}

IrExpr *ir_atomic_value(const IrExpr *e)
{
    return e->op == OP_ATOMIC_LOAD ? NULL : e->args[e->count - 1];
}
