// tape.c - what tensors were made of, for gradients.
//
// While gradients are on, an operation on a tensor that needs one leaves a
// node: its name, its arguments and its results. prelude/autograd.py walks the
// nodes backward; it holds the rule of each operation. Functions made of
// several steps record nothing inside: they are one operation.
#include <stdlib.h>

#include "host/torch_int.h"

typedef struct {
    Value value;                // a tensor among the arguments or results
    uint32_t version;           // of its storage, when it was used
} Saved;

typedef struct Node {
    Foreign foreign;
    int64_t id;                 // later nodes have higher ones
    Text name;
    Span at;                    // the operation in the program
    Value args, kw, outs;       // tuple, dict, tuple
    Saved *saved;
    int saved_count;
} Node;

static TensorObject *object_of(Value v)
{
    return (TensorObject *)foreign_as(v, &tensor_type);
}

bool tape_tracks(Value v)
{
    const TensorObject *o = object_of(v);
    return o && (o->requires_grad || o->node.kind == VAL_FOREIGN);
}

static bool any_tracked(const Value *in, int n)
{
    for (int i = 0; i < n; i++) {
        if (tape_tracks(in[i]))
            return true;
        if (torch_is_list(in[i])
            && any_tracked(in[i].list->at, in[i].list->len))
            return true;
    }
    return false;
}

bool tape_wants(const Host *h, const Args *args)
{
    return h->grad_used && !h->no_grad
           && (any_tracked(args->at, args->count)
               || any_tracked(args->values, args->keyword_count));
}

// ---- nodes ------------------------------------------------------------------

static void node_mark(Foreign *self, void (*mark)(Lang *l, Value v), Lang *l)
{
    const Node *n = (Node *)self;
    mark(l, n->args);
    mark(l, n->kw);
    mark(l, n->outs);
}

static void node_release(Foreign *self)
{
    free(((Node *)self)->saved);
}

static bool node_getattr(Lang *l, Foreign *self, Text name, Value *out, Span at)
{
    const Node *n = (Node *)self;
    (void)l, (void)at;
    if (text_is(name, "id"))
        *out = v_int(n->id);
    else if (text_is(name, "name"))
        *out = v_str(n->name);
    else if (text_is(name, "args"))
        *out = n->args;
    else if (text_is(name, "kw"))
        *out = n->kw;
    else if (text_is(name, "outs"))
        *out = n->outs;
    else
        return false;
    return true;
}

// n.use(x): x, unless it was written to since.
static bool node_method(Lang *l, Foreign *self, Text name, const Args *args,
                        Value *out)
{
    const Node *n = (Node *)self;
    if (!text_is(name, "use") || args->count != 1)
        return false;
    *out = args->at[0];
    for (int i = 0; object_of(*out) && i < n->saved_count; i++) {
        const TensorObject *o = object_of(n->saved[i].value);
        if (n->saved[i].value.foreign != out->foreign)
            continue;
        if (o->t.storage && tensor_version(&o->t) == n->saved[i].version)
            return true;
        lang_raise(l, "RuntimeError", args->at_span, "a tensor that the "
                   "gradient of %.*s() needs was changed in place",
                   TEXT_ARG(n->name));
    }
    return true;
}

static const ForeignType node_type = {
    .name = "Node", .getattr = node_getattr, .method = node_method,
    .mark = node_mark, .release = node_release,
};

static void save(Node *n, Value v)
{
    TensorObject *o = object_of(v);
    if (o) {
        o->foreign.bound = true;
        n->saved = xrealloc(n->saved, n->saved_count + 1, sizeof *n->saved);
        n->saved[n->saved_count++] =
            (Saved){v, o->t.storage ? tensor_version(&o->t) : 0};
    }
    for (int i = 0; torch_is_list(v) && i < v.list->len; i++)
        save(n, v.list->at[i]);
}

// The program may change its list.
static Value own(Lang *l, Value v)
{
    return v.kind == VAL_LIST ? v_list(l, v.list->at, v.list->len) : v;
}

static Node *node_new(Host *h, Text name, const Args *args)
{
    Lang *l = h->lang;
    Node *n = xcalloc(1, sizeof *n);
    n->id = ++h->nodes;
    n->name = name;
    n->at = args->at_span;
    n->args = v_tuple(l, args->at, args->count);
    n->kw = v_dict(l);
    n->outs = V_NONE;
    for (int i = 0; i < args->count; i++)
        n->args.list->at[i] = own(l, args->at[i]);
    for (int i = 0; i < args->keyword_count; i++)
        dict_set(l, n->kw.dict, v_str(args->names[i]), own(l, args->values[i]));
    save(n, n->args);
    for (int i = 0; i < args->keyword_count; i++)
        save(n, args->values[i]);
    lang_adopt(l, &n->foreign, &node_type, sizeof *n);
    n->foreign.bound = true;
    return n;
}

// A result of float dtype that is none of the arguments comes from n.
static void attach(Node *n, Value v, int index)
{
    TensorObject *o = object_of(v);
    if (!o || !dtype_is_float(o->t.dtype))
        return;
    o->node = v_foreign(&n->foreign);
    o->output = index;
    o->requires_grad = true;
    o->foreign.bound = true;
}

static void node_results(Host *h, Node *n, Value out)
{
    bool many = torch_is_list(out);
    n->outs = many ? v_tuple(h->lang, out.list->at, out.list->len)
                   : v_tuple(h->lang, &out, 1);
    for (int i = 0; i < n->outs.list->len; i++) {
        attach(n, n->outs.list->at[i], i);
        save(n, n->outs.list->at[i]);
    }
}

// Operations whose results depend on no values, or stop the gradient.
static bool stops(Text name)
{
    static const char *const names[] = {
        "zeros_like", "ones_like", "empty_like", "full_like", "randn_like",
        "rand_like", "new_zeros", "new_ones", "new_empty", "new_full",
        "new_tensor", "detach", "floor", "ceil", "round", "trunc", "sign",
        "fix", "numpy", "copysign", "heaviside",
    };
    for (size_t i = 0; i < countof(names); i++)
        if (text_is(name, names[i]))
            return true;
    return false;
}

static bool is_argument(const Args *args, Value out)
{
    for (int i = 0; i < args->count; i++)
        if (args->at[i].kind == VAL_FOREIGN && out.kind == VAL_FOREIGN
            && args->at[i].foreign == out.foreign)
            return true;
    return false;
}

static bool has_floats(Value v)
{
    const Tensor *t = tensor_of(v);
    for (int i = 0; torch_is_list(v) && i < v.list->len; i++)
        if (has_floats(v.list->at[i]))
            return true;
    return t && dtype_is_float(t->dtype);
}

void tape_hold(const Args *args)
{
    for (int i = 0; i < args->count; i++)
        torch_keep(args->at[i]);
    for (int i = 0; i < args->keyword_count; i++)
        torch_keep(args->values[i]);
}

void tape_record(Host *h, Text name, const Args *args, Value out)
{
    if (has_floats(out) && !stops(name) && !is_argument(args, out))
        node_results(h, node_new(h, name, args), out);
}

Value tape_call(Host *h, Text name, TorchFn *call, const Args *args)
{
    if (!tape_wants(h, args))
        return call(h, args);
    tape_hold(args);
    Value out = call(h, args);
    tape_record(h, name, args, out);
    return out;
}

// ---- operations in place ----------------------------------------------------

// Operations whose gradient does not read what the tensor was.
static bool forgets(Text name)
{
    static const char *const names[] = {
        "add", "sub", "masked_fill", "setitem", "copy_", "fill_", "zero_",
        "exp", "sqrt", "rsqrt", "sigmoid", "tanh", "relu", "tril", "triu",
    };
    for (size_t i = 0; i < countof(names); i++)
        if (text_is(name, names[i]))
            return true;
    return false;
}

// The tensor that o was: its place in the graph, and its elements where the
// gradient reads them.
static Value former(Host *h, const TensorObject *o, Text name, Span at)
{
    TensorObject *was = xcalloc(1, sizeof *was);
    was->host = h;
    was->t = o->t;
    was->t.storage = NULL;
    was->node = o->node;
    was->output = o->output;
    was->requires_grad = o->requires_grad;
    Value v = lang_adopt(h->lang, &was->foreign, &tensor_type, 0);
    if (!forgets(name) && !tensor_cast(&was->t, &o->t, o->t.dtype, true))
        torch_no_memory(h, at);
    return v;
}

Value tape_before_write(Host *h, TensorObject *o, Text name, Span at)
{
    if (tape_tracks(v_foreign(&o->foreign)) && o->node.kind != VAL_FOREIGN)
        lang_raise(h->lang, "RuntimeError", at, "a leaf tensor that needs a "
                   "gradient is changed in place by %.*s()", TEXT_ARG(name));
    if (tensor_is_shared(&o->t))
        lang_unsupported(h->lang, at, "the gradient of '%.*s' in place on a "
                         "tensor that shares its memory", TEXT_ARG(name));
    return former(h, o, name, at);
}

void tape_after_write(Host *h, TensorObject *o, Text name, const Args *args,
                      Value before)
{
    Value *in = new_array(lang_arena(h->lang), Value, args->count + 1);
    Args all = *args;
    in[0] = before;
    for (int i = 1; i < args->count; i++)
        in[i] = args->at[i];
    all.at = in;
    node_results(h, node_new(h, name, &all), v_foreign(&o->foreign));
}

// ---- what prelude/autograd.py asks -------------------------------------------

static TensorObject *argument(Lang *l, const Args *args, int i)
{
    TensorObject *o = i < args->count ? object_of(args->at[i]) : NULL;
    if (!o)
        lang_raise(l, "TypeError", args->at_span, "expected a tensor");
    return o;
}

static Value ask_node(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    Value node = argument(l, args, 0)->node;
    return node.kind == VAL_FOREIGN ? node : V_NONE;
}

static Value ask_output(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return v_int(argument(l, args, 0)->output);
}

static Value ask_tracked(Lang *l, void *ctx, const Args *args)
{
    (void)l, (void)ctx;
    return v_bool(args->count == 1 && tape_tracks(args->at[0]));
}

static Value ask_key(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return v_int((int64_t)(intptr_t)argument(l, args, 0));
}

static Value ask_retains(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return v_bool(argument(l, args, 0)->retains);
}

static Value set_grad(Lang *l, void *ctx, const Args *args)
{
    TensorObject *o = argument(l, args, 0);
    (void)ctx;
    if (args->count != 2)
        lang_raise(l, "TypeError", args->at_span, "expected a gradient");
    o->grad = torch_keep(args->at[1]);
    return V_NONE;
}

// The results of an autograd.Function: (cls, ctx, args, results).
static Value of_function(Lang *l, void *ctx, const Args *args)
{
    Host *h = ctx;
    if (args->count != 4 || args->at[2].kind != VAL_TUPLE)
        lang_raise(l, "TypeError", args->at_span, "expected four arguments");
    Args in = {.at = args->at[2].list->at, .count = args->at[2].list->len,
               .at_span = args->at_span};
    Node *n = node_new(h, TEXT("Function"), &in);
    dict_set(l, n->kw.dict, v_str(TEXT("cls")), args->at[0]);
    dict_set(l, n->kw.dict, v_str(TEXT("ctx")), args->at[1]);
    node_results(h, n, args->at[3]);
    return V_NONE;
}

// no_rule(node), no_rule(node, "what of it"), no_rule(None, "what")
static Value no_rule(Lang *l, void *ctx, const Args *args)
{
    const Node *n = args->count ? (Node *)foreign_as(args->at[0], &node_type)
                                : NULL;
    Text more = args->count > 1 && args->at[1].kind == VAL_STR ? args->at[1].s
                                                               : (Text){0};
    (void)ctx;
    if (!n)
        lang_unsupported(l, args->at_span, "%.*s", TEXT_ARG(more));
    lang_unsupported(l, n->at, "the gradient of '%.*s'%s%.*s",
                     TEXT_ARG(n->name), more.len ? " " : "", TEXT_ARG(more));
}

static Value grad_enabled(Lang *l, void *ctx, const Args *args)
{
    (void)l, (void)args;
    return v_bool(((Host *)ctx)->no_grad == 0);
}

Value tape_helpers(Host *h)
{
    static const struct {
        const char *name;
        Value (*call)(Lang *, void *, const Args *);
    } rows[] = {
        {"node_of", ask_node}, {"output_of", ask_output},
        {"tracked", ask_tracked}, {"key_of", ask_key},
        {"retains", ask_retains}, {"set_grad", set_grad},
        {"of_function", of_function}, {"no_rule", no_rule},
        {"grad_enabled", grad_enabled},
    };
    Module *m = lang_module(h->lang, "_tape");
    for (size_t i = 0; i < countof(rows); i++)
        module_set(h->lang, m, rows[i].name,
                   v_builtin(h->lang, rows[i].name, rows[i].call, h));
    return (Value){.kind = VAL_MODULE, .module = m};
}

// ---- what programs see --------------------------------------------------------

static Value detached(TensorObject *o)
{
    Tensor t = tensor_retain(&o->t);
    return tensor_value(o->host, t);
}

static Value backward(Lang *l, TensorObject *o, const Args *args)
{
    Value autograd, call, in[9];
    Args all = *args;
    if (!prelude_import(o->host, TEXT("torch.autograd"), &autograd)
        || !lang_getattr(l, autograd, TEXT("tensor_backward"), &call,
                         args->at_span))
        BUG("the prelude has no tensor_backward");
    if (args->count > 8)
        lang_raise(l, "TypeError", args->at_span,
                   "backward() takes at most 4 arguments");
    in[0] = v_foreign(&o->foreign);
    for (int i = 0; i < args->count; i++)
        in[i + 1] = args->at[i];
    all.at = in;
    all.count = args->count + 1;
    return lang_call(l, call, &all);
}

void tape_require(TensorObject *o, bool on, Span at)
{
    Lang *l = o->host->lang;
    if (on && !dtype_is_float(o->t.dtype))
        lang_raise(l, "RuntimeError", at, "only floating-point tensors can "
                   "need gradients, not %s", dtype_info(o->t.dtype)->name);
    if (!on && o->node.kind == VAL_FOREIGN)
        lang_raise(l, "RuntimeError", at, "only a leaf tensor can stop needing "
                   "a gradient: use detach()");
    o->requires_grad = on;
    o->foreign.bound = true;
    o->host->grad_used |= on;
}

bool tape_method(Lang *l, TensorObject *o, Text name, const Args *args,
                 Value *out)
{
    Span at = args->at_span;
    *out = v_foreign(&o->foreign);
    if (text_is(name, "backward")) {
        *out = backward(l, o, args);
    } else if (text_is(name, "requires_grad_")) {
        Value on = args->count ? args->at[0] : v_bool(true);
        tape_require(o, value_truth(l, on, at), at);
    } else if (text_is(name, "detach")) {
        *out = detached(o);
    } else if (text_is(name, "detach_")) {
        o->node = V_NONE;
        o->requires_grad = false;
    } else if (text_is(name, "retain_grad")) {
        o->retains = true;
        *out = V_NONE;
    } else {
        return false;
    }
    return true;
}

bool tape_getattr(TensorObject *o, Text name, Value *out)
{
    bool made = o->node.kind == VAL_FOREIGN;
    if (text_is(name, "requires_grad"))
        *out = v_bool(o->requires_grad);
    else if (text_is(name, "grad"))
        *out = o->grad.kind == VAL_FOREIGN ? o->grad : V_NONE;
    else if (text_is(name, "data"))
        *out = tape_tracks(v_foreign(&o->foreign)) ? detached(o)
                                                   : v_foreign(&o->foreign);
    else if (text_is(name, "is_leaf"))
        *out = v_bool(!made);
    else if (text_is(name, "grad_fn"))
        *out = made ? o->node : V_NONE;
    else
        return false;
    return true;
}

bool tape_setattr(Lang *l, Foreign *self, Text name, Value v, Span at)
{
    TensorObject *o = (TensorObject *)self;
    if (text_is(name, "requires_grad"))
        tape_require(o, value_truth(l, v, at), at);
    else if (text_is(name, "grad") && (v.kind == VAL_NONE || tensor_of(v)))
        o->grad = torch_keep(v);
    else if (text_is(name, "data") && tensor_of(v)) {
        Tensor before = o->t;
        o->t = tensor_retain(tensor_of(v));
        tensor_release(&before);
    } else
        return false;
    return true;
}
