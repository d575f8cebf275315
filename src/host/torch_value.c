// torch_value.c - the tensor object: operators, attributes, methods.
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

// ---- results ----------------------------------------------------------------

void torch_no_memory(Host *h, Span at)
{
    lang_raise_exit(h->lang, EXIT_LIMIT, "MemoryError", at,
                    "a tensor of %.3g GiB does not fit into memory (tensors "
                    "have %.3g GiB)", h->heap.refused / 0x1p30,
                    (double)h->heap.now / 0x1p30);
}

void torch_bad_index(Host *h, const BadIndex *bad, Span at)
{
    if (bad->dim < 0)
        torch_no_memory(h, at);
    lang_raise(h->lang, "IndexError", at,
               "index %lld is out of range for dimension %d of size %lld",
               (long long)bad->index, bad->dim, (long long)bad->size);
}

Value torch_result(Host *h, bool ok, Tensor t, Span at)
{
    if (!ok)
        torch_no_memory(h, at);
    return tensor_value(h, t);
}

Value torch_view(Host *h, const Tensor *t, Tensor borrowed)
{
    tensor_retain(t);
    return tensor_value(h, borrowed);
}

Tensor *torch_steal(Value v)
{
    TensorObject *o = (TensorObject *)foreign_as(v, &tensor_type);
    return o && o->t.storage && foreign_may_steal(&o->foreign) ? &o->t : NULL;
}

Value torch_keep(Value v)
{
    if (v.kind == VAL_FOREIGN)
        v.foreign->bound = true;
    return v;
}

void torch_done(Value v)
{
    if (torch_steal(v))
        tensor_release(torch_steal(v));
}

void torch_will_write(Host *h, Tensor *t, Span at)
{
    for (int d = 0; d < t->rank; d++)
        if (t->shape[d] > 1 && t->strides[d] == 0)
            lang_raise(h->lang, "RuntimeError", at,
                       "an expanded tensor cannot be written to: several of "
                       "its elements are one; clone() it first");
    tensor_touch(t);
    tensor_will_write(t);
}

void torch_check_overlap(Host *h, const Tensor *to, const Tensor *from,
                         Span at)
{
    int64_t n = tensor_count(to), m = tensor_count(from);
    bool dense = tensor_is_contiguous(to) && tensor_is_contiguous(from);
    if (to->storage != from->storage || !dense || to->dtype != from->dtype
        || (to->offset == from->offset && n == m))
        return;
    if (to->offset < from->offset + m && from->offset < to->offset + n)
        lang_raise(h->lang, "RuntimeError", at, "the value shares memory with "
                   "the place it is assigned to: clone() it first");
}

// ---- arguments --------------------------------------------------------------

Tensor *torch_tensor(Host *h, Value v, const char *what, Span at)
{
    Tensor *t = tensor_of(v);
    if (!t)
        lang_raise(h->lang, "TypeError", at, "%s must be a tensor, not %s",
                   what, value_type_name(v));
    if (!t->storage)
        BUG("a tensor is used after its memory was taken over");
    return t;
}

Tensor *torch_first(Host *h, const Args *args)
{
    if (args->count < 1)
        lang_raise(h->lang, "TypeError", args->at_span,
                   "the tensor is missing");
    return torch_tensor(h, args->at[0], "the argument", args->at_span);
}

bool torch_flag(Host *h, Value v, bool fallback, Span at)
{
    return torch_given(v) ? value_truth(h->lang, v, at) : fallback;
}

int64_t torch_int(Host *h, Value v, const char *what, int64_t fallback, Span at)
{
    if (tensor_of(v))
        v = torch_item(h, tensor_of(v), at);
    return torch_given(v) ? value_to_int(h->lang, v, what, at) : fallback;
}

int torch_dim(Host *h, Value v, int rank, Span at)
{
    int64_t d = torch_int(h, v, "dim", 0, at);
    int room = rank ? rank : 1;
    if (d < -room || d >= room)
        lang_raise(h->lang, "IndexError", at,
                   "dimension %lld is out of range for a tensor of %d "
                   "dimensions", (long long)d, rank);
    return (int)(d < 0 ? d + room : d);
}

uint32_t torch_dims(Host *h, Value v, int rank, Span at)
{
    uint32_t mask = 0, all = (UINT32_C(1) << rank) - 1;
    if (!torch_given(v) || (torch_is_list(v) && v.list->len == 0))
        return all;
    List one = {.at = &v, .len = 1};
    List *items = torch_is_list(v) ? v.list : &one;
    for (int i = 0; i < items->len; i++) {
        uint32_t bit = 1u << torch_dim(h, items->at[i], rank, at);
        if (mask & bit)
            lang_raise(h->lang, "RuntimeError", at,
                       "a dimension appears twice in dim");
        mask |= bit;
    }
    return mask & all;
}

int torch_size_list(Host *h, Value v, int64_t *shape, Span at)
{
    List one = {.at = &v, .len = 1};
    List *items = torch_is_list(v) ? v.list : &one;
    if (items->len > TENSOR_MAX_RANK)
        lang_raise(h->lang, "ValueError", at, "more than %d dimensions",
                   TENSOR_MAX_RANK);
    for (int i = 0; i < items->len; i++)
        shape[i] = torch_int(h, items->at[i], "a size", 0, at);
    return items->len;
}

// Sizes given by name: flip(dims=[0]), expand(size=(2, 3)).
static const Value *named_sizes(const Args *args)
{
    static const char *const names[] = {"dims", "size", "shape", "repeats"};

    for (int i = 0; i < args->keyword_count; i++)
        for (size_t n = 0; n < countof(names); n++)
            if (text_is(args->names[i], names[n]))
                return &args->values[i];
    return NULL;
}

int torch_sizes(Host *h, const Args *args, int from, int64_t *shape)
{
    const Value *named = args->count <= from ? named_sizes(args) : NULL;

    if (named)
        return torch_size_list(h, *named, shape, args->at_span);
    if (args->count == from + 1)
        return torch_size_list(h, args->at[from], shape, args->at_span);
    List rest = {.at = args->at + from, .len = args->count - from};
    Value list = {.kind = VAL_TUPLE, .list = &rest};
    return torch_size_list(h, list, shape, args->at_span);
}

int torch_tensor_list(Host *h, Value v, const Tensor **in, Span at)
{
    List *items = value_to_list(h->lang, v, at);
    if (items->len == 0)
        lang_raise(h->lang, "ValueError", at, "expected a list of tensors; it "
                   "is empty");
    if (items->len > TORCH_MOST_TENSORS)
        lang_raise(h->lang, "RuntimeError", at,
                   "expected 1 to %d tensors, found %d", TORCH_MOST_TENSORS,
                   items->len);
    for (int i = 0; i < items->len; i++)
        in[i] = torch_tensor(h, items->at[i], "an item", at);
    return items->len;
}

// ---- operators --------------------------------------------------------------

static Text operator_name(AstOp op)
{
    static const char *const names[] = {
        [AST_OP_ADD] = "add", [AST_OP_SUB] = "sub", [AST_OP_MUL] = "mul",
        [AST_OP_DIV] = "div", [AST_OP_FLOORDIV] = "floor",
        [AST_OP_MOD] = "remainder", [AST_OP_POW] = "pow",
        [AST_OP_MATMUL] = "matmul", [AST_OP_NEG] = "neg",
    };
    bool known = (size_t)op < countof(names) && names[op];
    return text_of(known ? names[op] : "an operator");
}

static bool binary(Lang *l, AstOp op, Value a, Value b, Value *out, Span at)
{
    Host *h = lang_options(l)->ctx;
    Value in[2] = {a, b};
    Args args = {.at = in, .count = 2, .at_span = at};
    bool wanted = tape_wants(h, &args);
    if (wanted)
        tape_hold(&args);
    bool known = torch_operator(h, op, a, b, out, at);
    if (known && wanted)
        tape_record(h, operator_name(op), &args, *out);
    return known;
}

// A result that is to be written into t: it must fit without widening.
static void check_fits(Host *h, const Tensor *t, const Tensor *v, Span at)
{
    Tensor shape = {0};
    bool fits = broadcast_shapes(t, v, &shape.rank, shape.shape)
                && tensor_same_shape(&shape, t);
    bool narrows = dtype_is_float(v->dtype) && !dtype_is_float(t->dtype);
    if (!fits)
        lang_raise(h->lang, "RuntimeError", at,
                   "an in-place operation cannot change the tensor's shape");
    if (narrows || (t->dtype == DT_BOOL && v->dtype != DT_BOOL))
        lang_raise(h->lang, "RuntimeError", at,
                   "a result of %s cannot be written into a tensor of %s",
                   dtype_info(v->dtype)->name, dtype_info(t->dtype)->name);
}

static void write_into(Host *h, Tensor *t, Value v, Span at)
{
    Tensor *from = torch_tensor(h, v, "the result", at);
    check_fits(h, t, from, at);
    torch_will_write(h, t, at);
    tensor_assign(t, from);
    torch_done(v);
}

static bool inplace(Lang *l, AstOp op, Foreign *self, Value b, Span at)
{
    TensorObject *o = (TensorObject *)self;
    Host *h = o->host;
    (void)l;
    bool bound = self->bound;
    Value out, in[2] = {v_foreign(self), b};
    Args args = {.at = in, .count = 2, .at_span = at};
    bool wanted = tape_wants(h, &args);
    Value before = wanted ? tape_before_write(h, o, operator_name(op), at)
                          : V_NONE;
    self->bound = true;
    bool known = torch_operator(h, op, in[0], b, &out, at);
    self->bound = bound;
    if (known)
        write_into(h, &o->t, out, at);
    if (known && wanted)
        tape_after_write(h, o, operator_name(op), &args, before);
    return known;
}

static Value unary_plain(Lang *l, AstOp op, Foreign *self, Span at)
{
    Host *h = ((TensorObject *)self)->host;
    Value v = v_foreign(self);
    DType t = ((TensorObject *)self)->t.dtype;
    if (op == AST_OP_POS)
        return v;
    if (op == AST_OP_INVERT && t == DT_BOOL)
        return torch_elementwise(h, LANE_OP_NOT, &v, 1, DT_BOOL, DT_BOOL, at);
    if (op == AST_OP_NEG && t == DT_BOOL)
        lang_raise(l, "RuntimeError", at, "negation of a bool tensor is not "
                   "there: use ~ or logical_not()");
    if (op == AST_OP_INVERT && dtype_is_float(t))
        lang_raise(l, "TypeError", at, "~ takes integers and bool, not %s",
                   dtype_info(t)->name);
    return torch_unary(h, op == AST_OP_NEG ? LANE_OP_NEG : LANE_OP_BITNOT, v,
                       at);
}

static Value unary(Lang *l, AstOp op, Foreign *self, Span at)
{
    Host *h = ((TensorObject *)self)->host;
    Value v = v_foreign(self);
    Args args = {.at = &v, .count = 1, .at_span = at};
    if (!tape_wants(h, &args))
        return unary_plain(l, op, self, at);
    tape_hold(&args);
    Value out = unary_plain(l, op, self, at);
    tape_record(h, operator_name(op), &args, out);
    return out;
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
        lang_raise(l, "TypeError", at,
                   "a tensor without dimensions has no len()");
    return t->shape[0];
}

// ---- attributes -------------------------------------------------------------

Value torch_shape_tuple(Lang *l, const Tensor *t)
{
    Value dims[TENSOR_MAX_RANK];
    for (int d = 0; d < t->rank; d++)
        dims[d] = v_int(t->shape[d]);
    return v_tuple(l, dims, t->rank);
}

static Value reversed(TensorObject *o)
{
    int order[TENSOR_MAX_RANK], n = o->t.rank;
    for (int d = 0; d < n; d++)
        order[d] = n - 1 - d;
    return torch_view(o->host, &o->t, tensor_permute(&o->t, order));
}

static Value matrix_transposed(Lang *l, TensorObject *o, Span at)
{
    if (o->t.rank < 2)
        lang_raise(l, "RuntimeError", at, ".mT of %d dimensions", o->t.rank);
    return torch_transposed(o->host, v_foreign(&o->foreign), o->t.rank - 2,
                            o->t.rank - 1);
}

static Value transposed(Lang *l, TensorObject *o, Text name, Span at)
{
    Value v = v_foreign(&o->foreign);
    Args args = {.at = &v, .count = 1, .at_span = at};
    Value out = text_is(name, "T") ? reversed(o) : matrix_transposed(l, o, at);
    if (tape_wants(o->host, &args))
        tape_record(o->host, name, &args, out);
    return out;
}

static bool getattr(Lang *l, Foreign *self, Text name, Value *out, Span at)
{
    TensorObject *o = (TensorObject *)self;
    if (text_is(name, "shape"))
        *out = torch_shape_tuple(l, &o->t);
    else if (text_is(name, "dtype"))
        *out = v_dtype(o->t.dtype);
    else if (text_is(name, "device"))
        *out = v_str(TEXT("cuda"));
    else if (text_is(name, "ndim"))
        *out = v_int(o->t.rank);
    else if (text_is(name, "itemsize"))
        *out = v_int((int64_t)dtype_bytes(o->t.dtype, 1));
    else if (text_is(name, "nbytes"))
        *out = v_int((int64_t)dtype_bytes(o->t.dtype, tensor_count(&o->t)));
    else if (text_is(name, "is_cuda"))
        *out = v_bool(true);
    else if (text_is(name, "T") || text_is(name, "mT"))
        *out = transposed(l, o, name, at);
    else
        return tape_getattr(o, name, out);
    return true;
}

// ---- methods ----------------------------------------------------------------

enum { FEW_ARGS = 8 };

// The arguments behind the tensor; `few` lends memory.
static Args with_self(Lang *l, Foreign *self, const Args *args, Value *few)
{
    Args all = *args;
    all.count = args->count + 1;
    all.at = all.count <= FEW_ARGS ? few
                                   : new_array(lang_arena(l), Value, all.count);
    all.at[0] = v_foreign(self);
    for (int i = 0; i < args->count; i++)
        all.at[i + 1] = args->at[i];
    all.spans = NULL;
    return all;
}

// x.transpose_(0, 1): x becomes another view.
static void become(Tensor *t, const Tensor *view)
{
    Tensor before = *t;
    *t = tensor_retain(view);
    tensor_release(&before);
}

// x.name_(...): the result of x.name(...) is written into x.
static bool inplace_method(Lang *l, Foreign *self, Text name, const Args *args,
                           Value *out)
{
    TensorObject *o = (TensorObject *)self;
    bool bound = self->bound;
    if (name.len < 2 || name.at[name.len - 1] != '_'
        || name.at[name.len - 2] == '_')
        return false;
    TorchFn *fn = torch_find_inplace(text_slice(name, 0, name.len - 1));
    if (!fn)
        return false;
    Value few[FEW_ARGS];
    Args all = with_self(l, self, args, few);
    Text plain = text_slice(name, 0, name.len - 1);
    bool wanted = tape_wants(o->host, &all);
    Value before = wanted ? tape_before_write(o->host, o, plain, args->at_span)
                          : V_NONE;
    self->bound = true;                     // must outlive the computation
    Value v = fn(o->host, &all);
    self->bound = bound;
    Tensor *t = torch_tensor(o->host, v, "the result", args->at_span);
    if (t->storage == o->t.storage)
        become(&o->t, t);
    else
        write_into(o->host, &o->t, v, args->at_span);
    if (wanted)
        tape_after_write(o->host, o, plain, &all, before);
    *out = v_foreign(self);
    return true;
}

// fill_(), zero_(), copy_(): written into x by the function itself.
static bool writes(Text name)
{
    return name.len > 2 && name.at[name.len - 1] == '_'
           && name.at[name.len - 2] != '_';
}

static bool method(Lang *l, Foreign *self, Text name, const Args *args,
                   Value *out)
{
    TensorObject *o = (TensorObject *)self;
    if (tape_method(l, o, name, args, out))
        return true;
    TorchFn *fn = torch_find(name, METHOD);
    if (!fn)
        return inplace_method(l, self, name, args, out);
    Value few[FEW_ARGS];
    Args all = with_self(l, self, args, few);
    if (!writes(name) || !tape_wants(o->host, &all)) {
        *out = tape_call(o->host, name, fn, &all);
        return true;
    }
    Value before = tape_before_write(o->host, o, name, args->at_span);
    *out = fn(o->host, &all);
    tape_after_write(o->host, o, name, &all, before);
    return true;
}

// ---- text -------------------------------------------------------------------

static void repr_number(TextBuf *out, const Tensor *t, const int64_t *index)
{
    if (!dtype_is_float(t->dtype) && t->dtype != DT_BOOL) {
        Tensor one = *t;
        for (int d = 0; d < t->rank; d++)
            one.offset += index[d] * t->strides[d];
        buf_printf(out, "%lld",
                   (long long)num_get_i64(t->dtype, tensor_data(&one)));
        return;
    }
    double v = tensor_get_f64(t, index);
    if (t->dtype == DT_BOOL)
        buf_puts(out, v != 0 ? "True" : "False");
    else if (v != v)
        buf_puts(out, "nan");
    else
        buf_printf(out, "%.4f", v);
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

static Value getitem(Lang *l, Foreign *self, Value index, Span at)
{
    Host *h = ((TensorObject *)self)->host;
    Value in[2] = {v_foreign(self), index};
    Args args = {.at = in, .count = 2, .at_span = at};
    bool wanted = tape_wants(h, &args);
    if (wanted)
        tape_hold(&args);
    Value out = torch_getitem(l, self, index, at);
    if (wanted)
        tape_record(h, TEXT("getitem"), &args, out);
    return out;
}

static void setitem(Lang *l, Foreign *self, Value index, Value v, Span at)
{
    TensorObject *o = (TensorObject *)self;
    Value in[3] = {v_foreign(self), index, v};
    Args args = {.at = in, .count = 3, .at_span = at};
    bool wanted = tape_wants(o->host, &args);
    Value before = wanted ? tape_before_write(o->host, o, TEXT("setitem"), at)
                          : V_NONE;
    torch_setitem(l, self, index, v, at);
    if (wanted)
        tape_after_write(o->host, o, TEXT("setitem"), &args, before);
}

static void mark_held(Foreign *self, void (*mark)(Lang *l, Value v), Lang *l)
{
    const TensorObject *o = (TensorObject *)self;
    mark(l, o->node);
    mark(l, o->grad);
}

static bool holds(const Foreign *self)
{
    const TensorObject *o = (const TensorObject *)self;
    return o->node.kind == VAL_FOREIGN || o->grad.kind == VAL_FOREIGN;
}

static void release(Foreign *self)
{
    tensor_release(&((TensorObject *)self)->t);
}

const ForeignType tensor_type = {
    .name = "Tensor",
    .has_more = true,
    .getattr = getattr,
    .setattr = tape_setattr,
    .method = method,
    .mark = mark_held,
    .holds = holds,
    .getitem = getitem,
    .setitem = setitem,
    .binary = binary,
    .inplace = inplace,
    .unary = unary,
    .truth = truth,
    .length = length,
    .repr = repr,
    .release = release,
};
