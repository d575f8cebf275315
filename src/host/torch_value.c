// torch_value.c - the tensor object: operators, attributes, methods.
#include <math.h>
#include <stdlib.h>

#include "host/torch_int.h"

Value tensor_value(Host *h, Tensor t)
{
    TensorObject *o = xcalloc(1, sizeof *o);
    o->host = h;
    o->t = t;
    return lang_adopt(h->lang, &o->foreign, &tensor_type, tensor_bytes(&t));
}

Tensor *tensor_of(Value v)
{
    TensorObject *o = (TensorObject *)foreign_as(v, &tensor_type);
    return o ? &o->t : NULL;
}

// ---- helpers -----------------------------------------------------------------------

DType torch_dtype(const Host *h, DType t)
{
    return h->f64 && dtype_is_float(t) && !dtype_is_fp8(t) ? DT_F64 : t;
}

void torch_no_memory(Host *h, Span at)
{
    lang_raise(h->lang, "MemoryError", at,
               "a tensor does not fit into memory (%.1f GiB are in use)",
               h->heap.now / 0x1p30);
}

Value torch_result(Host *h, bool ok, Tensor t, Span at)
{
    if (!ok)
        torch_no_memory(h, at);
    return tensor_value(h, t);
}

Tensor *torch_tensor(Host *h, Value v, const char *what, Span at)
{
    Tensor *t = tensor_of(v);
    if (!t)
        lang_raise(h->lang, "TypeError", at, "%s must be a tensor, not %s",
                   what, value_type_name(v));
    return t;
}

Tensor *torch_steal(Value v)
{
    TensorObject *o = (TensorObject *)foreign_as(v, &tensor_type);
    return o && foreign_may_steal(&o->foreign) ? &o->t : NULL;
}

int torch_dim(Host *h, Value v, int rank, Span at)
{
    int64_t d = value_to_int(h->lang, v, "dim", at);
    int room = rank ? rank : 1;
    if (d < -room || d >= room)
        lang_raise(h->lang, "IndexError", at,
                   "dimension %lld is out of range for a tensor of %d "
                   "dimensions", (long long)d, rank);
    return (int)(d < 0 ? d + room : d);
}

uint32_t torch_dims(Host *h, Value v, int rank, Span at)
{
    uint32_t mask = 0;
    if (v.kind == VAL_UNBOUND || v.kind == VAL_NONE)
        return (UINT32_C(1) << rank) - 1;
    List one = {.at = &v, .len = 1};
    List *items = v.kind == VAL_TUPLE || v.kind == VAL_LIST ? v.list : &one;
    for (int i = 0; i < items->len; i++)
        mask |= 1u << torch_dim(h, items->at[i], rank, at);
    return mask;
}

int torch_size_list(Host *h, Value v, int64_t *shape, Span at)
{
    List one = {.at = &v, .len = 1};
    List *items = v.kind == VAL_TUPLE || v.kind == VAL_LIST ? v.list : &one;
    if (items->len > TENSOR_MAX_RANK)
        lang_raise(h->lang, "ValueError", at, "more than %d dimensions",
                   TENSOR_MAX_RANK);
    for (int i = 0; i < items->len; i++)
        shape[i] = value_to_int(h->lang, items->at[i], "a size", at);
    return items->len;
}

int torch_sizes(Host *h, const Args *args, int from, int64_t *shape)
{
    if (args->count == from + 1)
        return torch_size_list(h, args->at[from], shape, args->at_span);
    Value rest = v_tuple(h->lang, args->at + from, args->count - from);
    return torch_size_list(h, rest, shape, args->at_span);
}

// ---- promotion -----------------------------------------------------------------------

bool torch_is_number(Value v)
{
    return v.kind == VAL_INT || v.kind == VAL_FLOAT || v.kind == VAL_BOOL;
}

static int category(DType t)
{
    return t == DT_BOOL ? 0 : dtype_is_float(t) ? 2 : 1;
}

static DType wider_int(DType a, DType b)
{
    const DTypeInfo *x = dtype_info(a), *y = dtype_info(b);
    if (x->kind == y->kind)
        return x->bits >= y->bits ? a : b;
    int u = x->kind == KIND_UINT ? x->bits : y->bits;
    int s = x->kind == KIND_UINT ? y->bits : x->bits;
    DType sign = x->kind == KIND_UINT ? b : a;
    if (s > u)
        return sign;
    return u <= 8 ? DT_I16 : u <= 16 ? DT_I32 : DT_I64;
}

static DType promote_types(DType a, DType b)
{
    if (a == b)
        return a;
    if (category(a) != category(b))
        return category(a) > category(b) ? a : b;
    if (category(a) == 1)
        return wider_int(a, b);
    if (dtype_is_fp8(a) || dtype_is_fp8(b))
        return dtype_is_fp8(a) && dtype_is_fp8(b) ? DT_F32
               : dtype_is_fp8(a) ? b : a;
    if (dtype_info(a)->bits == dtype_info(b)->bits)
        return DT_F32;          // f16 with bf16
    return dtype_info(a)->bits > dtype_info(b)->bits ? a : b;
}

static DType number_type(const Host *h, Value v)
{
    return v.kind == VAL_FLOAT ? torch_dtype(h, DT_F32)
           : v.kind == VAL_BOOL ? DT_BOOL : DT_I64;
}

// Tensors with dimensions outrank those without, and those outrank numbers,
// within one category.
static int rank_of(Value v)
{
    Tensor *t = tensor_of(v);
    return !t ? 0 : t->rank == 0 ? 1 : 2;
}

DType torch_promote(Host *h, Value a, Value b)
{
    Tensor *x = tensor_of(a), *y = tensor_of(b);
    DType s = x ? x->dtype : number_type(h, a);
    DType t = y ? y->dtype : number_type(h, b);
    int ra = rank_of(a), rb = rank_of(b);
    if (ra == rb)
        return promote_types(s, t);
    DType high = ra > rb ? s : t, low = ra > rb ? t : s;
    return category(high) >= category(low) ? high : low;
}

Operand torch_operand(Host *h, Value v, Span at)
{
    Tensor *t = tensor_of(v);
    if (t)
        return (Operand){.t = t};
    if (v.kind == VAL_FLOAT) {
        bool fits = fabs(v.f) < 9.2e18;
        return (Operand){.f64 = v.f, .i64 = fits ? (int64_t)v.f : 0};
    }
    if (!torch_is_number(v))
        lang_raise(h->lang, "TypeError", at,
                   "expected a tensor or a number, found %s",
                   value_type_name(v));
    int64_t i = v.kind == VAL_INT ? v.i : v.b;
    return (Operand){.f64 = (double)i, .i64 = i};
}

// ---- elementwise ------------------------------------------------------------------------

static void shape_words(TextBuf *b, const Tensor *t)
{
    buf_addc(b, '[');
    for (int d = 0; d < t->rank; d++)
        buf_printf(b, "%s%lld", d ? ", " : "", (long long)t->shape[d]);
    buf_addc(b, ']');
}

static _Noreturn void do_not_broadcast(Host *h, const Tensor *a,
                                       const Tensor *b, Span at)
{
    TextBuf m = {0};
    shape_words(&m, a);
    buf_puts(&m, " and ");
    shape_words(&m, b);
    Text t = text_copy(h->options.arena, buf_view(&m));
    buf_release(&m);
    lang_raise(h->lang, "RuntimeError", at,
               "shapes %.*s do not fit together", TEXT_ARG(t));
}

Value torch_elementwise(Host *h, LaneOp op, const Value *in, int count,
                        DType compute, DType result, Span at)
{
    Operand operands[3];
    Tensor shape = {0}, out, *reuse = NULL;
    for (int i = 0; i < count; i++) {
        Tensor *t = tensor_of(in[i]);
        operands[i] = torch_operand(h, in[i], at);
        if (!t)
            continue;
        Tensor next = {0};
        if (!broadcast_shapes(&shape, t, &next.rank, next.shape))
            do_not_broadcast(h, &shape, t, at);
        shape = next;
        if (torch_steal(in[i]) && !reuse)
            reuse = torch_steal(in[i]);
    }
    if (result == DT_NONE)
        result = compute;
    bool ok = tensor_map(&h->heap, &out, op, compute, result, shape.rank,
                         shape.shape, operands, count, reuse);
    return torch_result(h, ok, out, at);
}

Value torch_binary(Host *h, LaneOp op, Value a, Value b, DType result, Span at)
{
    Value in[2] = {a, b};
    return torch_elementwise(h, op, in, 2, torch_promote(h, a, b), result, at);
}

Value torch_compare(Host *h, AstOp op, Value a, Value b, Span at)
{
    bool swap = op == AST_OP_GT || op == AST_OP_GE;
    LaneOp row = op == AST_OP_EQ ? LANE_OP_EQ : op == AST_OP_NE ? LANE_OP_NE
                 : op == AST_OP_LT || op == AST_OP_GT ? LANE_OP_LT
                                                      : LANE_OP_LE;
    return torch_binary(h, row, swap ? b : a, swap ? a : b, DT_BOOL, at);
}

// Functions of floats take integers as f32.
Value torch_unary(Host *h, LaneOp op, Value a, Span at)
{
    Tensor *t = torch_tensor(h, a, "the argument", at);
    LaneType lane = lane_type_of(t->dtype);
    bool native = lanes_best()->op[op][lane] != NULL;
    DType compute = native ? t->dtype : torch_dtype(h, DT_F32);
    return torch_elementwise(h, op, &a, 1, compute, DT_NONE, at);
}

// ---- operators ----------------------------------------------------------------------------

static bool arithmetic(AstOp op, LaneOp *out)
{
    static const struct {
        AstOp op;
        LaneOp lane;
    } table[] = {
        {AST_OP_ADD, LANE_OP_ADD}, {AST_OP_SUB, LANE_OP_SUB},
        {AST_OP_MUL, LANE_OP_MUL}, {AST_OP_FLOORDIV, LANE_OP_FLOORDIV},
        {AST_OP_MOD, LANE_OP_FLOORMOD}, {AST_OP_POW, LANE_OP_POW},
        {AST_OP_AND, LANE_OP_AND}, {AST_OP_OR, LANE_OP_OR},
        {AST_OP_XOR, LANE_OP_XOR}, {AST_OP_SHL, LANE_OP_SHL},
        {AST_OP_SHR, LANE_OP_SHR},
    };
    for (size_t i = 0; i < countof(table); i++)
        if (table[i].op == op) {
            *out = table[i].lane;
            return true;
        }
    return false;
}

static Value divide(Host *h, Value a, Value b, Span at)
{
    DType t = torch_promote(h, a, b);
    Value in[2] = {a, b};
    if (!dtype_is_float(t))
        t = torch_dtype(h, DT_F32);
    return torch_elementwise(h, LANE_OP_DIV, in, 2, t, DT_NONE, at);
}

// x ** 2 is x * x, as torch computes it.
static Value power(Host *h, Value a, Value b, Span at)
{
    if (b.kind == VAL_INT && b.i == 2 && tensor_of(a))
        return torch_binary(h, LANE_OP_MUL, a, a, DT_NONE, at);
    if (b.kind == VAL_FLOAT && b.f == 0.5 && tensor_of(a))
        return torch_unary(h, LANE_OP_SQRT, a, at);
    return torch_binary(h, LANE_OP_POW, a, b, DT_NONE, at);
}

static bool binary(Lang *l, AstOp op, Value a, Value b, Value *out, Span at)
{
    Host *h = lang_options(l)->ctx;
    LaneOp lane;
    bool known = (tensor_of(a) || torch_is_number(a))
                 && (tensor_of(b) || torch_is_number(b));
    if (op == AST_OP_IS || op == AST_OP_IS_NOT)
        return false;
    if (!known)
        return false;
    if (op == AST_OP_MATMUL)
        *out = torch_matmul(h, a, b, at);
    else if (op == AST_OP_DIV)
        *out = divide(h, a, b, at);
    else if (op == AST_OP_POW)
        *out = power(h, a, b, at);
    else if (op >= AST_OP_EQ && op <= AST_OP_GE)
        *out = torch_compare(h, op, a, b, at);
    else if (arithmetic(op, &lane))
        *out = torch_binary(h, lane, a, b, DT_NONE, at);
    else
        return false;
    return true;
}

static bool inplace(Lang *l, AstOp op, Foreign *self, Value b, Span at)
{
    TensorObject *o = (TensorObject *)self;
    Value out;
    if (!binary(l, op, v_foreign(self), b, &out, at))
        return false;
    tensor_assign(&o->t, tensor_of(out));
    return true;
}

static Value unary(Lang *l, AstOp op, Foreign *self, Span at)
{
    Host *h = ((TensorObject *)self)->host;
    Value v = v_foreign(self);
    if (op == AST_OP_POS)
        return v;
    if (op == AST_OP_INVERT && tensor_of(v)->dtype == DT_BOOL)
        return torch_elementwise(h, LANE_OP_NOT, &v, 1, DT_BOOL, DT_BOOL, at);
    (void)l;
    return torch_unary(h, op == AST_OP_NEG ? LANE_OP_NEG : LANE_OP_BITNOT, v,
                       at);
}

static bool truth(Lang *l, Foreign *self, Span at)
{
    const Tensor *t = &((TensorObject *)self)->t;
    int64_t zero[TENSOR_MAX_RANK] = {0};
    if (tensor_count(t) != 1)
        lang_raise(l, "RuntimeError", at,
                   "a tensor of %lld elements is neither true nor false: use "
                   ".any() or .all()", (long long)tensor_count(t));
    return tensor_get_f64(t, zero) != 0;
}

static int64_t length(Lang *l, Foreign *self, Span at)
{
    const Tensor *t = &((TensorObject *)self)->t;
    if (t->rank == 0)
        lang_raise(l, "TypeError", at, "a tensor without dimensions has no len()");
    return t->shape[0];
}

// ---- attributes -----------------------------------------------------------------------------

static Value shape_tuple(Lang *l, const Tensor *t)
{
    Value dims[TENSOR_MAX_RANK];
    for (int d = 0; d < t->rank; d++)
        dims[d] = v_int(t->shape[d]);
    return v_tuple(l, dims, t->rank);
}

static Value transposed(TensorObject *o, bool all)
{
    int order[TENSOR_MAX_RANK], n = o->t.rank;
    for (int d = 0; d < n; d++)
        order[d] = all ? n - 1 - d : d;
    if (!all && n >= 2) {
        order[n - 1] = n - 2;
        order[n - 2] = n - 1;
    }
    Tensor keep = tensor_retain(&o->t);
    return tensor_value(o->host, tensor_permute(&keep, order));
}

static bool getattr(Lang *l, Foreign *self, Text name, Value *out, Span at)
{
    TensorObject *o = (TensorObject *)self;
    (void)at;
    if (text_is(name, "shape"))
        *out = shape_tuple(l, &o->t);
    else if (text_is(name, "dtype"))
        *out = v_dtype(o->t.dtype);
    else if (text_is(name, "device"))
        *out = v_str(TEXT("cuda"));
    else if (text_is(name, "ndim"))
        *out = v_int(o->t.rank);
    else if (text_is(name, "is_cuda"))
        *out = v_bool(true);
    else if (text_is(name, "requires_grad"))
        *out = v_bool(false);
    else if (text_is(name, "data"))
        *out = v_foreign(self);
    else if (text_is(name, "T"))
        *out = transposed(o, true);
    else if (text_is(name, "mT"))
        *out = transposed(o, false);
    else
        return false;
    return true;
}

static Args with_self(Lang *l, Foreign *self, const Args *args)
{
    Args all = *args;
    all.count = args->count + 1;
    all.at = new_array(lang_arena(l), Value, all.count);
    all.at[0] = v_foreign(self);
    for (int i = 0; i < args->count; i++)
        all.at[i + 1] = args->at[i];
    all.spans = NULL;
    return all;
}

// x.name_(...): the result of x.name(...) is written into x.
static bool inplace_method(Lang *l, Foreign *self, Text name, const Args *args,
                           Value *out)
{
    TensorObject *o = (TensorObject *)self;
    if (name.len < 2 || name.at[name.len - 1] != '_'
        || name.at[name.len - 2] == '_')
        return false;
    TorchFn *fn = torch_find(text_slice(name, 0, name.len - 1), true);
    if (!fn)
        return false;
    Args all = with_self(l, self, args);
    Value v = fn(o->host, &all);
    if (tensor_of(v) != &o->t)
        tensor_assign(&o->t, torch_tensor(o->host, v, "the result",
                                          args->at_span));
    *out = v_foreign(self);
    return true;
}

static bool method(Lang *l, Foreign *self, Text name, const Args *args,
                   Value *out)
{
    TensorObject *o = (TensorObject *)self;
    TorchFn *fn = torch_find(name, true);
    if (!fn)
        return inplace_method(l, self, name, args, out);
    Args all = with_self(l, self, args);
    *out = fn(o->host, &all);
    return true;
}

static void repr_number(TextBuf *out, const Tensor *t, const int64_t *index)
{
    double v = tensor_get_f64(t, index);
    if (dtype_is_float(t->dtype))
        buf_printf(out, "%.4f", v);
    else if (t->dtype == DT_BOOL)
        buf_puts(out, v != 0 ? "True" : "False");
    else
        buf_printf(out, "%.0f", v);
}

static void repr_level(TextBuf *out, const Tensor *t, int d, int64_t *index)
{
    if (d == t->rank) {
        repr_number(out, t, index);
        return;
    }
    buf_addc(out, '[');
    for (int64_t i = 0; i < t->shape[d]; i++) {
        if (t->shape[d] > 8 && i == 3) {
            i = t->shape[d] - 3;
            buf_puts(out, ", ...");
        }
        if (i)
            buf_puts(out, ", ");
        index[d] = i;
        repr_level(out, t, d + 1, index);
    }
    buf_addc(out, ']');
}

static void repr(Lang *l, Foreign *self, TextBuf *out)
{
    const Tensor *t = &((TensorObject *)self)->t;
    int64_t index[TENSOR_MAX_RANK] = {0};
    (void)l;
    buf_puts(out, "tensor(");
    repr_level(out, t, 0, index);
    if (t->dtype != DT_F32 && t->dtype != DT_I64 && t->dtype != DT_BOOL)
        buf_printf(out, ", dtype=torch.%s", dtype_info(t->dtype)->name);
    buf_addc(out, ')');
}

static void release(Foreign *self)
{
    tensor_release(&((TensorObject *)self)->t);
}

const ForeignType tensor_type = {
    .name = "Tensor",
    .getattr = getattr,
    .method = method,
    .getitem = torch_getitem,
    .setitem = torch_setitem,
    .binary = binary,
    .inplace = inplace,
    .unary = unary,
    .truth = truth,
    .length = length,
    .repr = repr,
    .release = release,
};
