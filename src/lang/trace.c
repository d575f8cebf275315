// trace.c - runs a kernel's body once and keeps what its T.* calls built.
//
// A kernel body is ordinary Python to the evaluator, but its frame is marked
// `traced`: trace_stmt.c then gives assignments, loops and conditions their
// TileLang meaning (tilelang_surface 4.1). Lazy kernels (@T.prim_func) are
// traced where they are defined. Eager ones are traced per set of argument
// shapes, twice: a probe runs up to the first T.Kernel to see which T.const
// name stands where in which tensor, then the body runs with plain integers.
#include <string.h>

#include "lang/trace_int.h"

Trace *trace_need(Lang *l, const char *what, Span at)
{
    if (!l->trace)
        lang_raise(l, "TypeError", at,
                   "%s is only valid inside a kernel (@T.prim_func, or a "
                   "function with T.Kernel)", what);
    return l->trace;
}

IrKernel *trace_kernel(Lang *l)
{
    if (l->trace)
        return l->trace->k;
    if (!l->scratch)
        l->scratch = ir_kernel(lang_arena(l), l->options.ops, l->options.diag,
                               TEXT("factory"), (Span){0});
    return l->scratch;
}

void trace_add(Lang *l, IrStmt *s)
{
    Trace *t = l->trace;

    if (t->lazy)
        lang_raise(l, "TypeError", s->at,
                   "only a value may stand here: this makes a statement, and "
                   "the operand need not be evaluated; use if");
    ir_append(t->k, t->block, s);
}

void trace_first(Lang *l, IrStmt *s)
{
    Trace *t = l->trace;
    IrStmt *block = t->launch ? t->launch->then : NULL;

    if (!block || t->block == block) {
        trace_add(l, s);
        return;
    }
    ir_append(t->k, block, s);
    memmove(block->body + t->first + 1, block->body + t->first,
            (size_t)(block->len - 1 - t->first) * sizeof *block->body);
    block->body[t->first++] = s;
}

void trace_lazy(Lang *l, int by)
{
    if (l->trace)
        l->trace->lazy += by;
}

IrStmt *trace_emit(Lang *l, IrStmtKind kind, Span at)
{
    IrStmt *s = ir_stmt(l->trace->k, kind, at);

    trace_add(l, s);
    return s;
}

Value trace_freeze(Lang *l, Text name, IrExpr *e, Span at)
{
    Trace *t = l->trace;
    IrStmt *s;

    // a thread index is a variable of the launch
    if (e->kind == EXPR_VAR || e->kind == EXPR_INT || e->kind == EXPR_FLOAT
        || (e->kind == EXPR_OP && e->op == OP_GET_THREAD_BINDING))
        return expr_value(l, e);
    s = ir_let(t->k, name, e, at);
    trace_add(l, s);
    if (e->kind == EXPR_LOAD) {
        struct Let let = {s->var, e};

        vec_push(lang_arena(l), &t->lets, let);
    }
    return v_expr(ir_use(t->k, s->var, at));
}

// IR builders report by themselves and return NULL; the trace cannot go on.
bool trace_builder_ok(Lang *l, const void *built, Span at)
{
    if (!built)
        lang_raise(l, "StagingError", at, "this cannot be built");
    return true;
}

// ---- scopes ------------------------------------------------------------------

// Remembers that the innermost scope of frame f binds `name`.
void trace_scope_note(Lang *l, Frame *f, Text name)
{
    TraceScope *s = l->trace->scope;

    if (s && s->frame == f)
        map_set(lang_arena(l), &s->bound, name, s);
}

// Device values bound in the scope end with it, whatever the name was before.
// Python values stay: they were set while staging.
void trace_scope_close(Lang *l, TraceScope *s)
{
    for (int i = 0; i < s->bound.len; i++) {
        Value *now = map_get(&s->frame->names, s->bound.at[i].key);

        if (now && v_is_device(*now))
            *now = (Value){.kind = VAL_UNBOUND, .s = text_of(s->what)};
    }
    l->trace->scope = s->outer;
}

// What stands after a break or continue is never reached.
static void warn_unreachable(Lang *l, const AstList *body)
{
    for (int i = 0; i + 1 < body->len; i++)
        if (body->at[i]->kind == AST_BREAK || body->at[i]->kind == AST_CONTINUE)
            diag_warning(l->options.diag, body->at[i + 1]->at,
                         "stage-unreachable",
                         "this is never reached: it is left out");
}

IrStmt *trace_body(Lang *l, Frame *f, const AstList *body, const char *what,
                   Span at)
{
    Trace *t = l->trace;
    TraceScope scope = {.outer = t->scope, .what = what, .frame = f};
    IrStmt *outer = t->block;
    IrStmt *block = ir_block(t->k, at);
    t->scope = &scope;
    t->block = block;
    if (exec_block(l, f, body) != FLOW_NEXT)
        warn_unreachable(l, body);
    t->block = outer;
    trace_scope_close(l, &scope);
    return block;
}

// ---- parameters ----------------------------------------------------------------

static void adopt_symbol(Lang *l, IrVar *v)
{
    IrKernel *k = l->trace->k;
    for (int i = 0; i < k->symbol_count; i++)
        if (k->symbols[i] == v)
            return;
    IrVar **more = new_array(lang_arena(l), IrVar *, k->symbol_count + 1);
    for (int i = 0; i < k->symbol_count; i++)
        more[i] = k->symbols[i];
    more[k->symbol_count++] = v;
    k->symbols = more;
    k->symbol_room = k->symbol_count;
}

static bool adopt_visit(void *ctx, IrExpr *e)
{
    if (e->kind == EXPR_VAR && e->var->kind == VAR_SYMBOL)
        adopt_symbol(ctx, e->var);
    return true;
}

static IrExpr *shape_entry(Lang *l, Value v, Span at)
{
    if (v.kind == VAL_INT) {
        if (v.i < 0)
            lang_raise(l, "ValueError", at, "a tensor size of %lld is negative",
                       (long long)v.i);
        return ir_int(l->trace->k, v.i > INT32_MAX ? DT_I64 : DT_I32, v.i,
                      at);
    }
    IrExpr *e = to_expr(l, v, at);
    ir_walk_expr(e, adopt_visit, l);
    return e;
}

static int shape_exprs(Lang *l, const List *shape, IrExpr **out, Span at)
{
    if (shape->len > IR_MAX_RANK)
        lang_unsupported(l, at, "a tensor with %d dimensions (at most %d)",
                         shape->len, IR_MAX_RANK);
    for (int i = 0; i < shape->len; i++)
        out[i] = shape_entry(l, shape->at[i], at);
    return shape->len;
}

IrBuffer *trace_tensor(Lang *l, const TensorSpec *spec, Text name, Span at)
{
    IrExpr *shape[IR_MAX_RANK], *strides[IR_MAX_RANK];
    int rank = shape_exprs(l, spec->shape, shape, at);
    if (spec->strides && shape_exprs(l, spec->strides, strides, at) != rank)
        lang_raise(l, "ValueError", at, "%d strides for %d dimensions",
                   spec->strides->len, rank);
    IrBuffer *b = ir_buffer(l->trace->k, name, spec->dtype, spec->scope, rank,
                            shape, spec->strides ? strides : NULL, at);
    trace_builder_ok(l, b, at);
    b->lanes = spec->lanes;
    return b;
}

static Value declare_param(Lang *l, Text name, Value annotation, Span at)
{
    IrKernel *k = l->trace->k;
    if (annotation.kind == VAL_TENSORSPEC) {
        IrBuffer *b = trace_tensor(l, annotation.spec, name, at);
        ir_param(k, name, b, NULL);
        return v_buffer(b);
    }
    if (annotation.kind == VAL_PRIM && annotation.prim == OP_PTR) {
        IrVar *v = ir_var(k, VAR_PARAM, name, DT_I64, at);
        int i = ir_param(k, name, NULL, v);
        k->params[i].pointer = true;
        return v_expr(ir_use(k, v, at));
    }
    if (annotation.kind == VAL_EXPR && annotation.expr->kind == EXPR_VAR)
        annotation = v_dtype(annotation.expr->dtype);       // T.int32()
    if (annotation.kind == VAL_DTYPE) {
        IrVar *v = ir_var(k, VAR_PARAM, name, annotation.dtype, at);
        ir_param(k, name, NULL, v);
        return v_expr(ir_use(k, v, at));
    }
    lang_raise(l, "TypeError", at,
               "parameter '%.*s' of a kernel needs an annotation, "
               "T.Tensor(shape, dtype) or a dtype; found %s",
               TEXT_ARG(name), value_type_name(annotation));
}

// ---- running a body --------------------------------------------------------------

static void trace_open(Lang *l, Trace *t, Function *fn, Span at)
{
    Arena *a = lang_arena(l);
    t->function = fn;
    t->k = ir_kernel(a, l->options.ops, l->options.diag, fn->name, at);
    // symbols made outside a kernel keep their ids in all that use them
    t->k->config.wave = l->options.device
                            ? (int)l->options.device->warp_lanes : 0;
    t->k->next_var = l->scratch ? l->scratch->next_var : 0;
    t->block = t->k->body;
    t->outer = l->trace;
    l->trace = t;
}

static Frame *kernel_frame(Lang *l, Function *fn, Span at)
{
    Frame *f = frame_new(l, fn->def, fn->closure, fn->module);
    f->function = fn;
    f->traced = true;
    frame_enter(l, f, at);
    return f;
}

static void trace_close(Lang *l, Trace *t)
{
    frame_leave(l);
    l->trace = t->outer;
}

static bool note_launch(void *ctx, IrStmt *s)
{
    if (s->kind == STMT_LAUNCH)
        *(bool *)ctx = true;
    return true;
}

static bool has_launch(IrStmt *body)
{
    bool found = false;

    ir_walk(body, note_launch, NULL, &found);
    return found;
}

static void check_result(Lang *l, Trace *t, int errors_before, Span at)
{
    if (diag_raised(l->options.diag) > errors_before)
        lang_raise(l, "StagingError", at, "kernel '%.*s' was not built",
                   TEXT_ARG(t->k->name));
    if (!has_launch(t->k->body))    // it is verified when it is compiled
        return;
    if (!ir_verify(t->k))
        lang_raise(l, "StagingError", at, "kernel '%.*s' is not valid",
                   TEXT_ARG(t->k->name));
}

static const AstList *params_of(const Function *fn)
{
    static const AstList none = {0};
    return fn->def->b ? &fn->def->b->x : &none;
}

// The defining frame evaluates annotations, as Python does.
static Value annotation_value(Lang *l, Function *fn, const Ast *param)
{
    if (!param->a)
        return (Value){.kind = VAL_NONE};
    return eval(l, fn->closure, param->a);
}

// ---- eager kernels ------------------------------------------------------------------

// Is parameter `name` declared by `name: T.Tensor(...)` in the body?
static bool declared_in_body(const Function *fn, Text name)
{
    for (int i = 0; i < fn->def->x.len; i++) {
        const Ast *s = fn->def->x.at[i];
        if (s->kind == AST_ANNASSIGN && !s->c && s->a->kind == AST_NAME
            && text_eq(s->a->text, name))
            return true;
    }
    return false;
}

// T.Tensor[...], T.Tensor(...) or T.ptr as the annotation of a parameter.
static bool is_tensor_annotation(const Ast *e)
{
    if (e && (e->kind == AST_CALL || e->kind == AST_SUBSCRIPT))
        e = e->a;
    return e && (e->kind == AST_ATTRIBUTE || e->kind == AST_NAME)
           && (text_is(e->text, "Tensor") || text_is(e->text, "StridedTensor")
               || text_is(e->text, "ptr"));
}

static bool defines_function(const AstList *body)
{
    for (int i = 0; i < body->len; i++)
        if (body->at[i]->kind == AST_FUNCTION)
            return true;
    return false;
}

bool lang_declares_tensor(const Function *fn, int param)
{
    const Ast *p = fn->def->b->x.at[param];

    return declared_in_body(fn, p->text) || is_tensor_annotation(p->a);
}

// A launch of its own, or tensors for a macro to launch on.
bool lang_is_eager(const Function *fn)
{
    if (fn->is_prim_func || fn->is_macro || fn->def->kind != AST_FUNCTION)
        return false;
    if (trace_launches(&fn->def->x, 0))
        return true;
    if (defines_function(&fn->def->x))
        return false;
    for (int i = 0; i < function_param_count(fn); i++)
        if (lang_declares_tensor(fn, i))
            return true;
    return false;
}

IrBuffer *trace_param(const Trace *t, Text name)
{
    for (int i = 0; i < t->k->param_count; i++)
        if (text_eq(t->k->params[i].name, name))
            return t->k->params[i].buffer;
    return NULL;
}

Value trace_argument(const Trace *t, Text name)
{
    const AstList *params = params_of(t->function);
    const Args *args = t->args;

    if (!args)                      // a prim_func
        return (Value){.kind = VAL_UNBOUND};
    for (int i = 0; i < args->keyword_count; i++)
        if (text_eq(args->names[i], name))
            return args->values[i];
    for (int i = 0; i < params->len && i < args->count; i++)
        if (text_eq(params->at[i]->text, name))
            return args->at[i];
    return (Value){.kind = VAL_UNBOUND};
}

// A parameter whose annotation declares it.
static bool bind_annotated(Lang *l, Frame *f, Function *fn, const Ast *p)
{
    Value spec;

    if (!is_tensor_annotation(p->a) || declared_in_body(fn, p->text))
        return false;
    spec = annotation_value(l, fn, p);
    if (spec.kind != VAL_TENSORSPEC
        && !(spec.kind == VAL_PRIM && spec.prim == OP_PTR))
        return false;
    spec = declare_param(l, p->text, spec, p->at);
    if (spec.kind == VAL_BUFFER)
        trace_check_dtype(l, l->trace, spec.buffer, p->at);
    name_bind(l, f, p->text, spec);
    return true;
}

static void bind_eager_params(Lang *l, Frame *f, Function *fn,
                              const Args *args)
{
    const AstList *params = params_of(fn);
    for (int i = 0; i < params->len; i++) {
        const Ast *p = params->at[i];
        if (bind_annotated(l, f, fn, p))
            continue;
        Value v = trace_argument(l->trace, p->text);
        if (v.kind == VAL_UNBOUND)
            v = fn->defaults[i];
        if (v.kind == VAL_UNBOUND && !declared_in_body(fn, p->text))
            lang_raise(l, "TypeError", args->at_span,
                       "%.*s() is missing argument '%.*s'",
                       TEXT_ARG(fn->name), TEXT_ARG(p->text));
        name_bind(l, f, p->text, v);
    }
}

bool trace_holds(DType held, DType t)
{
    if (held == t)
        return true;
    if (dtype_info(t)->bits < 8)
        return held == DT_I8 || held == DT_U8;
    return t == DT_TF32 && held == DT_F32;
}

static void match_const(Lang *l, Trace *t, const IrExpr *e, int64_t size,
                        const char *what, int d, const IrBuffer *b, Span at)
{
    for (int i = 0; i < t->consts.len; i++) {
        ConstSize *c = &t->consts.at[i];

        if (e->kind != EXPR_VAR || e->var != c->var)
            continue;
        if (c->known && c->value != size)
            lang_raise(l, "ValueError", at,
                       "%.*s is %lld here and %lld in %s %d of '%.*s'",
                       TEXT_ARG(c->name), (long long)c->value,
                       (long long)size, what, d, TEXT_ARG(b->name));
        c->known = true;
        c->value = size;
    }
}

// A T.const name that stands alone as a size or stride of a declared tensor
// takes the actual one.
static void match_consts(Lang *l, Trace *t, const IrBuffer *b, Value actual,
                         Span at)
{
    if (actual.kind != VAL_TENSORSPEC)
        return;
    const List *shape = actual.spec->shape;
    if (shape->len != b->rank)
        lang_raise(l, "ValueError", at,
                   "'%.*s' is declared with %d dimension%s, the tensor has %d",
                   TEXT_ARG(b->name), b->rank, b->rank == 1 ? "" : "s",
                   shape->len);
    // two elements of 4 bits are one of the tensor's
    bool packed = dtype_info(b->dtype)->bits < 8
                  && actual.spec->dtype != b->dtype;
    int64_t stride = 1;
    for (int d = b->rank - 1; d >= 0; d--) {
        bool last = d + 1 == b->rank;
        int64_t size = shape->at[d].i * (last && packed ? 2 : 1);
        const List *given = actual.spec->strides;
        if (given)
            stride = given->at[d].i * (!last && packed ? 2 : 1);
        match_const(l, t, b->shape[d], size, "dimension", d, b, at);
        if (b->strides[d])
            match_const(l, t, b->strides[d], stride, "the stride of dimension",
                        d, b, at);
        stride *= size;
    }
}

// Every size needs a value; all that have none are named.
static void check_consts(Lang *l, Trace *t, const Function *fn)
{
    TextBuf names = {0}, words = {0};
    Span at = {0};

    for (int i = 0; i < t->consts.len; i++) {
        const ConstSize *c = &t->consts.at[i];

        if (c->known)
            continue;
        at = names.len ? at : c->at;
        buf_printf(&names, "%s%.*s", names.len ? ", " : "", TEXT_ARG(c->name));
        buf_printf(&words, " -D %.*s=...", TEXT_ARG(c->name));
    }
    Text missing = text_copy(lang_arena(l), buf_view(&names));
    Text defines = text_copy(lang_arena(l), buf_view(&words));
    buf_release(&names);
    buf_release(&words);
    if (missing.len)
        lang_raise_exit(l, EXIT_USAGE, "ValueError", at,
                        "'%.*s' needs a value for %.*s: a T.const size is read "
                        "off a tensor or given by name,%.*s",
                        TEXT_ARG(fn->name), TEXT_ARG(missing),
                        TEXT_ARG(defines));
}

static bool is_size(const Trace *t, Text name)
{
    for (int i = 0; i < t->consts.len; i++)
        if (text_eq(t->consts.at[i].name, name))
            return true;
    for (int i = 0; i < t->k->symbol_count; i++)
        if (text_eq(t->k->symbols[i]->name, name))
            return true;
    return false;
}

// What is given by name is an argument or a size.
static void check_given(Lang *l, const Trace *t, const Function *fn)
{
    for (int i = 0; t->given && i < t->given->len; i++) {
        Value key = t->given->keys[i];

        if (key.kind == VAL_STR && !is_size(t, key.s))
            lang_raise_exit(l, EXIT_USAGE, "TypeError", fn->def->name_at,
                            "'%.*s' has no argument or size '%.*s'",
                            TEXT_ARG(fn->name), TEXT_ARG(key.s));
    }
}

static void probe_eager(Lang *l, Trace *t, Function *fn, const Args *args,
                        Span at)
{
    trace_open(l, t, fn, at);
    t->eager = t->probing = true;
    Frame *f = kernel_frame(l, fn, at);
    bind_eager_params(l, f, fn, args);
    exec_block(l, f, &fn->def->x);
    trace_close(l, t);
    for (int i = 0; i < t->k->param_count; i++) {
        const IrParam *p = &t->k->params[i];

        if (p->buffer)
            match_consts(l, t, p->buffer, trace_argument(t, p->name),
                         p->buffer->at);
    }
    check_consts(l, t, fn);
    check_given(l, t, fn);
}

static void check_returned(Lang *l, const Trace *t, const Function *fn)
{
    int made = 0;

    for (int i = 0; i < t->k->param_count; i++)
        made += t->k->params[i].name.len == 0;
    if (made != t->result_count)
        lang_raise(l, "ValueError", fn->def->name_at,
                   "'%.*s' makes %d tensor%s by T.empty and returns %d: each "
                   "must be returned", TEXT_ARG(fn->name), made,
                   made == 1 ? "" : "s", t->result_count);
}

// Inputs in the order of the function's parameters, then the results.
static void order_params(Lang *l, Trace *t, Function *fn)
{
    IrKernel *k = t->k;
    const AstList *params = params_of(fn);
    IrParam *ordered = new_array(lang_arena(l), IrParam, k->param_count + 1);
    int n = 0;
    for (int j = 0; j < params->len; j++)
        for (int i = 0; i < k->param_count; i++)
            if (text_eq(k->params[i].name, params->at[j]->text))
                ordered[n++] = k->params[i];
    check_returned(l, t, fn);
    k->config.outputs = new_array(lang_arena(l), int, t->result_count + 1);
    for (int r = 0; r < t->result_count; r++)
        for (int i = 0; i < k->param_count; i++)
            if (k->params[i].buffer == t->results[r]) {
                k->params[i].name = t->results[r]->name;
                k->config.outputs[k->config.output_count++] = n;
                ordered[n++] = k->params[i];
            }
    for (int i = 0; i < n; i++) {
        k->params[i] = ordered[i];
        if (k->params[i].buffer)
            k->params[i].buffer->param = i;
    }
    k->param_count = n;
}

IrKernel *lang_trace_eager(Lang *l, Value function, const Args *args,
                           const Dict *consts, Span at)
{
    Function *fn = function.function;
    Trace probe = {.given = consts, .args = args};
    int errors = diag_raised(l->options.diag);
    probe_eager(l, &probe, fn, args, at);
    Trace t = {.given = consts, .args = args, .eager = true};
    t.consts.at = probe.consts.at;
    t.consts.len = probe.consts.len;
    trace_open(l, &t, fn, fn->def->name_at);
    Frame *f = kernel_frame(l, fn, at);
    bind_eager_params(l, f, fn, args);
    exec_block(l, f, &fn->def->x);
    trace_close(l, &t);
    order_params(l, &t, fn);
    t.k->config.eager = true;
    check_result(l, &t, errors, fn->def->name_at);
    return t.k;
}

// ---- prim_funcs --------------------------------------------------------------------

// Parameters that the body declares, and T.empty, are as in an eager kernel.
static bool declares_later(const Trace *t, const Function *fn)
{
    for (int i = 0; i < t->k->param_count; i++)
        if (t->k->params[i].name.len == 0)
            return true;
    for (int i = 0; i < params_of(fn)->len; i++)
        if (declared_in_body(fn, params_of(fn)->at[i]->text))
            return true;
    return false;
}

IrKernel *trace_prim_func(Lang *l, Function *fn, Span at)
{
    Trace t = {.eager = true};
    int errors = diag_raised(l->options.diag);
    trace_open(l, &t, fn, fn->def->name_at);
    const AstList *params = params_of(fn);
    Value *bound = new_array(lang_arena(l), Value, params->len + 1);
    for (int i = 0; i < params->len; i++) {
        const Ast *p = params->at[i];
        Value annotation = annotation_value(l, fn, p);
        if (declared_in_body(fn, p->text))
            continue;
        bound[i] = declare_param(l, p->text, annotation, p->at);
    }
    Frame *f = kernel_frame(l, fn, at);
    for (int i = 0; i < params->len; i++)
        if (bound[i].kind != VAL_UNBOUND)
            name_bind(l, f, params->at[i]->text, bound[i]);
    exec_block(l, f, &fn->def->x);
    trace_close(l, &t);
    if (declares_later(&t, fn))
        order_params(l, &t, fn);
    t.k->config.eager = t.result_count > 0;
    check_result(l, &t, errors, fn->def->name_at);
    return t.k;
}
