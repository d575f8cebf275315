// kernel.c - kernels as Python objects, and running them on tensors.
#include <stdlib.h>
#include <string.h>

#include "host/host.h"
#include "support/parallel.h"

KernelObject *kernel_of(Value v)
{
    return (KernelObject *)foreign_as(v, &kernel_type);
}

Value kernel_new(Host *h, IrKernel *ir, Text factory, const Dict *arguments)
{
    KernelObject *k = xcalloc(1, sizeof *k);
    k->host = h;
    k->ir = ir;
    k->factory = factory;
    k->arguments = arguments;
    Value v = lang_adopt(h->lang, &k->foreign, &kernel_type, sizeof *k);
    list_append(h->lang, h->kept.list, v);
    vec_push(h->options.arena, &h->kernels, k);
    return v;
}

int64_t host_memory_left(const Host *h)
{
    int64_t left = h->heap.limit - h->heap.now;
    return !h->heap.limit ? 0 : left > 0 ? left : 1;
}

Code *kernel_code(KernelObject *k, CodeMode mode)
{
    if (!k->code[mode] && !k->failed[mode]) {
        k->code[mode] = code_lower(k->host->options.arena,
                                   k->host->options.diag, k->ir, mode);
        k->failed[mode] = !k->code[mode];
    }
    return k->code[mode];
}

bool kernel_follow(KernelObject *k, const Plan *p)
{
    const HostOptions *o = &k->host->options;
    bool must = o->numerics == NUMERICS_EXACT;
    PlanMatrices *m = new (o->arena, PlanMatrices);
    k->matrices = NULL;
    if (o->numerics == NUMERICS_IEEE)
        return true;
    DiagHold hold = diag_hold(o->diag);
    bool known = p && plan_matrices(o->arena, p, m);
    diag_settle(o->diag, &hold, !known && !must);
    if (known)
        k->matrices = m;
    else if (must)
        diag_note(o->diag, (Span){0}, "--numerics is the arithmetic of what a "
                  "compiler makes for %s; ieee needs no such",
                  p ? p->device->name : o->device->name);
    k->no_matrices = must && !known;
    return !k->no_matrices;
}

// What a run by itself follows: upstream's compiler.
static bool set_numerics(KernelObject *k)
{
    const HostOptions *o = &k->host->options;
    if (o->numerics != NUMERICS_EXACT || k->matrices)
        return true;
    return !k->no_matrices
           && kernel_follow(k, plan_build(o->arena, k->ir, o->device,
                                          PLAN_TILELANG));
}

bool kernel_is_output(const KernelObject *k, int param)
{
    const IrConfig *c = &k->ir->config;
    for (int i = 0; i < c->output_count; i++)
        if (c->outputs[i] == param)
            return true;
    return false;
}

bool kernel_argument(const KernelObject *k, Text name, Value *out)
{
    return k->arguments
           && dict_get(k->host->lang, k->arguments, v_str(name), out);
}

// ---- shapes -----------------------------------------------------------------

typedef struct {
    const SymbolSize *sizes;
    int count;
    Text missing;
} SizeEnv;

static bool size_of_symbol(void *ctx, const IrVar *v, int64_t *out)
{
    SizeEnv *env = ctx;

    for (int i = 0; i < env->count; i++)
        if (text_eq(env->sizes[i].name, v->name)) {
            *out = env->sizes[i].value;
            return true;
        }
    env->missing = v->name;
    return false;
}

static bool size_of_expr(SizeEnv *env, const IrExpr *e, int64_t *out)
{
    return ir_evaluate(e, size_of_symbol, env, out);
}

static bool shape_of(const IrBuffer *b, SizeEnv *env, int64_t *shape)
{
    for (int d = 0; d < b->rank; d++)
        if (!size_of_expr(env, b->shape[d], &shape[d]))
            return false;
    return true;
}

static bool size_known(const SizeEnv *env, Text name)
{
    for (int i = 0; i < env->count; i++)
        if (text_eq(env->sizes[i].name, name))
            return true;
    return false;
}

static void report_missing(const KernelObject *k, const SizeEnv *env)
{
    TextBuf b = {0};
    for (int i = 0; i < k->ir->symbol_count; i++)
        if (!size_known(env, k->ir->symbols[i]->name))
            buf_printf(&b, "%s%.*s", b.len ? ", " : "",
                       TEXT_ARG(k->ir->symbols[i]->name));
    diag_error(k->host->options.diag, EXIT_USAGE, k->ir->at, "missing-size",
               "kernel '%.*s' needs a value for %.*s",
               TEXT_ARG(k->ir->name), (int)b.len, b.at);
    diag_note(k->host->options.diag, (Span){0},
              "give it with -D %.*s=..., or bind a tensor with --in",
              TEXT_ARG(env->missing));
    buf_release(&b);
}

bool kernel_shape(KernelObject *k, int param, const SymbolSize *sizes,
                  int size_count, int64_t *shape)
{
    SizeEnv env = {.sizes = sizes, .count = size_count};
    const IrBuffer *b = k->ir->params[param].buffer;
    if (shape_of(b, &env, shape))
        return true;
    if (env.missing.len)
        report_missing(k, &env);
    else
        diag_error(k->host->options.diag, EXIT_USAGE, b->at, "bad-size",
                   "the shape of '%.*s' cannot be computed",
                   TEXT_ARG(b->name));
    return false;
}

// ---- running ----------------------------------------------------------------

static InterpArg interp_arg(const IrParam *p, const KernelArg *a,
                            uint8_t *writes)
{
    InterpArg out = {.is_scalar = p->is_scalar};
    if (p->is_scalar) {
        out.dtype = p->var->dtype;
        out.i64 = a->i64;
        out.f64 = a->f64;
        return out;
    }
    out.dtype = a->tensor.dtype;
    if (p->buffer->dtype == DT_TF32 && out.dtype == DT_F32)
        out.dtype = DT_TF32;
    out.rank = a->tensor.rank;
    for (int d = 0; d < out.rank && d < INTERP_MAX_RANK; d++) {
        out.shape[d] = a->tensor.shape[d];
        out.strides[d] = a->tensor.strides[d];
    }
    out.data = tensor_data(&a->tensor);
    out.writes = writes;
    return out;
}

int64_t host_address(Host *h, const Tensor *t)
{
    for (int i = 0; i < h->pointed.len; i++)
        if (h->pointed.at[i].storage == t->storage)
            return (intptr_t)tensor_data(t);
    vec_push(h->options.arena, &h->pointed, tensor_retain(t));
    return (intptr_t)tensor_data(t);
}

// All of the storages, wherever in them an address is.
static const InterpMemory *pointed_memory(const Host *h)
{
    InterpMemory *m = xcalloc(h->pointed.len + 1, sizeof *m);

    for (int i = 0; i < h->pointed.len; i++) {
        Tensor whole = h->pointed.at[i];
        whole.offset = 0;
        tensor_touch(&whole);           // a kernel may write there
        m[i] = (InterpMemory){tensor_data(&whole),
                              (int64_t)tensor_bytes(&whole)};
    }
    return m;
}

InterpResult kernel_run(KernelObject *k, CodeMode mode, const KernelArg *args,
                        uint8_t *const *writes, const InterpOptions *options)
{
    InterpResult failed = {0};
    Code *code = kernel_code(k, mode);
    if (!code)
        return failed;
    bool written = mode == CODE_AS_WRITTEN || mode == CODE_STEPPED;
    if (written && !set_numerics(k))
        return failed;
    int n = k->ir->param_count;
    InterpArg *in = xcalloc(n + 1, sizeof *in);
    for (int i = 0; i < n; i++)
        in[i] = interp_arg(&k->ir->params[i], &args[i],
                           writes ? writes[i] : NULL);
    InterpOptions o = *options;
    o.matrices = written ? k->matrices : NULL;
    o.memory = pointed_memory(k->host);
    o.memory_count = k->host->pointed.len;
    InterpNatives natives;
    if (k->host->options.natives) {
        natives = natives_table(k->host->options.natives);
        o.natives = &natives;
    }
    InterpResult r = interp_run(code, k->host->options.diag, in, n, &o);
    free((void *)o.memory);
    free(in);
    return r;
}

// ---- kernel(A, B) in a script -----------------------------------------------

// Sizes that the given tensors show: a symbol standing alone as a size.
static int sizes_from(const KernelObject *k, const KernelArg *args,
                      const bool *given, SymbolSize *sizes, int room)
{
    int n = 0;
    for (int i = 0; i < k->ir->param_count; i++) {
        const IrBuffer *b = k->ir->params[i].buffer;
        if (!b && given[i] && n < room
            && dtype_is_int(k->ir->params[i].var->dtype))
            sizes[n++] = (SymbolSize){k->ir->params[i].name, args[i].i64};
        if (!b || !given[i] || b->rank != args[i].tensor.rank)
            continue;
        for (int d = 0; d < b->rank && n < room; d++) {
            int64_t size = args[i].tensor.shape[d];
            IrLinear l;

            if (d + 1 == b->rank
                && tensor_is_packed(&args[i].tensor, b->dtype))
                size *= 2;
            if (ir_linear(b->shape[d], &l)
                && ir_linear_solve(&l, size, &sizes[n].value))
                sizes[n++].name = l.symbol->name;
        }
    }
    return n;
}

static void take_scalar(Lang *l, Host *h, const IrParam *p, Value v,
                        KernelArg *out, Span at)
{
    out->is_scalar = true;
    Tensor *t = tensor_of(v);
    if (t && p->pointer) {
        out->i64 = host_address(h, t);
        return;
    }
    if (t && tensor_count(t) == 1) {
        int64_t zero[TENSOR_MAX_RANK] = {0};
        v = v_float(tensor_get_f64(t, zero));
        if (!dtype_is_float(p->var->dtype))
            v = v_int((int64_t)v.f);
    }
    if (dtype_is_float(p->var->dtype))
        out->f64 = value_to_float(l, v, "a scalar argument", at);
    else
        out->i64 = value_to_int(l, v, "a scalar argument", at);
}

static void take_argument(KernelObject *k, int i, Value v, KernelArg *out,
                          Span at)
{
    const IrParam *p = &k->ir->params[i];
    Lang *l = k->host->lang;
    if (p->is_scalar) {
        take_scalar(l, k->host, p, v, out, at);
        return;
    }
    Tensor *t = tensor_of(v);
    if (!t)
        lang_raise(l, "TypeError", at, "argument '%.*s' is a tensor; found %s",
                   TEXT_ARG(p->name), value_type_name(v));
    tensor_will_write(t);               // for all that is known here
    out->tensor = *t;
}

static void allocate_outputs(KernelObject *k, KernelArg *args, bool *given,
                             Span at)
{
    Host *h = k->host;
    SymbolSize sizes[32];
    int n = sizes_from(k, args, given, sizes, countof(sizes));
    for (int i = 0; i < k->ir->param_count; i++) {
        int64_t shape[IR_MAX_RANK];
        const IrBuffer *b = k->ir->params[i].buffer;
        if (given[i])
            continue;
        if (!kernel_shape(k, i, sizes, n, shape))
            lang_raise(h->lang, "ValueError", at, "no shape for output '%.*s'",
                       TEXT_ARG(b->name));
        if (b->rank && dtype_info(b->dtype)->bits < 8)
            shape[b->rank - 1] = (shape[b->rank - 1] + 1) / 2;
        if (!tensor_new(&h->heap, &args[i].tensor,
                        tensor_storage_dtype(b->dtype), b->rank, shape))
            lang_raise(h->lang, "MemoryError", at,
                       "no memory for output '%.*s'", TEXT_ARG(b->name));
        tensor_poison(&args[i].tensor);
    }
}

// The outputs as the program gets them; those it passed itself are shared.
static Value results(KernelObject *k, const KernelArg *args, const bool *passed)
{
    const IrConfig *c = &k->ir->config;
    Lang *l = k->host->lang;
    Value items[16];
    int n = 0;
    for (int i = 0; i < c->output_count && n < (int)countof(items); i++) {
        const Tensor *t = &args[c->outputs[i]].tensor;
        items[n++] = tensor_value(k->host, passed[c->outputs[i]]
                                               ? tensor_retain(t) : *t);
    }
    if (n == 0)
        return V_NONE;
    return n == 1 ? items[0] : v_list(l, items, n);
}

static void bind_call(KernelObject *k, const Args *call, KernelArg *args,
                      bool *given)
{
    Lang *l = k->host->lang;
    int next = 0, inputs = 0;
    for (int i = 0; i < k->ir->param_count; i++)
        inputs += !kernel_is_output(k, i);
    bool all = call->count == k->ir->param_count && inputs < call->count;
    for (int i = 0; i < k->ir->param_count; i++) {
        if (kernel_is_output(k, i) && !all)
            continue;
        Value v = {0};
        for (int j = 0; j < call->keyword_count; j++)
            if (text_eq(call->names[j], k->ir->params[i].name))
                v = call->values[j];
        if (v.kind == VAL_UNBOUND && next < call->count)
            v = call->at[next++];
        if (v.kind == VAL_UNBOUND)
            lang_raise(l, "TypeError", call->at_span,
                       "kernel '%.*s' takes %d arguments, found %d: "
                       "'%.*s' is missing", TEXT_ARG(k->ir->name), inputs,
                       call->count, TEXT_ARG(k->ir->params[i].name));
        take_argument(k, i, v, &args[i], call->at_span);
        given[i] = true;
    }
    if (next < call->count)
        lang_raise(l, "TypeError", call->at_span,
                   "kernel '%.*s' takes %d arguments, found %d",
                   TEXT_ARG(k->ir->name), inputs, call->count);
}

// The reason was reported, or is Ctrl-C.
static _Noreturn void did_not_run(const KernelObject *k, const Args *call)
{
    Host *h = k->host;
    int why = parallel_cancelled();
    if (why)
        lang_stop(h->lang, why < 0 ? EXIT_LIMIT : EXIT_INTERRUPTED);
    diag_note(h->options.diag, call->at_span, "'%.*s' was called from here",
              TEXT_ARG(k->ir->name));
    lang_stop(h->lang, diag_exit(h->options.diag));
}

// Tensors of two elements a byte are unpacked for the run, into `packed` goes
// what the program gave.
static void unpack_arguments(KernelObject *k, KernelArg *args, Tensor *packed,
                             Span at)
{
    for (int i = 0; i < k->ir->param_count; i++) {
        const IrBuffer *b = k->ir->params[i].buffer;
        int64_t last = -1;

        packed[i].rank = -1;
        if (!b || !tensor_is_packed(&args[i].tensor, b->dtype))
            continue;
        ir_is_int(b->shape[b->rank - 1], &last);
        packed[i] = args[i].tensor;
        if (args[i].tensor.rank != b->rank
            || !tensor_unpack4(&args[i].tensor, &packed[i], b->dtype, last))
            lang_raise(k->host->lang, "ValueError", at,
                       "'%.*s' is %s, two elements a byte: %lld bytes in its "
                       "last dimension are expected", TEXT_ARG(b->name),
                       dtype_info(b->dtype)->name, (long long)(last + 1) / 2);
    }
}

static void pack_arguments(const KernelObject *k, KernelArg *args,
                           Tensor *packed)
{
    for (int i = 0; i < k->ir->param_count; i++) {
        if (packed[i].rank < 0)
            continue;
        tensor_pack4(&packed[i], &args[i].tensor);
        tensor_release(&args[i].tensor);
    }
}

// ---- T.assume -----------------------------------------------------------------

typedef struct {
    const IrKernel *ir;
    const KernelArg *args;
    const IrExpr *broken;
} Assumed;

// A size or scalar of this call.
static bool known_size(void *ctx, const IrVar *v, int64_t *out)
{
    const Assumed *a = ctx;

    for (int i = 0; i < a->ir->param_count; i++) {
        const IrParam *p = &a->ir->params[i];

        if (p->is_scalar && p->var == v && dtype_is_int(v->dtype))
            return *out = a->args[i].i64, true;
        for (int d = 0; p->buffer && d < p->buffer->rank; d++)
            if (p->buffer->shape[d]->kind == EXPR_VAR
                && p->buffer->shape[d]->var == v)
                return *out = a->args[i].tensor.shape[d], true;
    }
    return false;
}

static bool check_assume(void *ctx, IrStmt *s)
{
    Assumed *a = ctx;
    int64_t holds;

    if (s->kind == STMT_TILE && s->op == OP_ASSUME && s->operand_count
        && s->operand[0].kind == OPERAND_EXPR && !a->broken
        && ir_evaluate(s->operand[0].expr, known_size, a, &holds) && !holds)
        a->broken = s->operand[0].expr;
    return true;
}

// What sizes alone decide is checked before the launch, as upstream does.
static void check_assumes(KernelObject *k, const KernelArg *args, Span at)
{
    Assumed a = {k->ir, args, NULL};
    TextBuf words = {0};

    ir_walk(k->ir->body, check_assume, NULL, &a);
    if (!a.broken)
        return;
    ir_print_expr(&words, a.broken);
    Text t = text_copy(lang_arena(k->host->lang), buf_view(&words));
    buf_release(&words);
    lang_raise(k->host->lang, "RuntimeError", at, "Assume: %.*s does not hold "
               "for this call of '%.*s'", TEXT_ARG(t), TEXT_ARG(k->ir->name));
}

static bool empty_grid(const InterpResult *r, int64_t n[3])
{
    for (int i = 0; i < r->launches; i++) {
        memcpy(n, r->grid[i], sizeof r->grid[i]);
        if (n[0] <= 0 || n[1] <= 0 || n[2] <= 0)
            return true;
    }
    return false;
}

// A GPU refuses to launch no block, and so do upstream's kernels.
static _Noreturn void refuse_grid(const KernelObject *k, const int64_t n[3],
                                  Span at)
{
    lang_raise(k->host->lang, "RuntimeError", at, "'%.*s' launches a grid of "
               "%lld x %lld x %lld blocks; each dimension has at least 1",
               TEXT_ARG(k->ir->name), (long long)n[0], (long long)n[1],
               (long long)n[2]);
}

static Value kernel_call(Lang *l, Foreign *self, const Args *call)
{
    KernelObject *k = (KernelObject *)self;
    int n = k->ir->param_count;
    KernelArg *args = new_array(lang_arena(l), KernelArg, n + 1);
    bool *given = new_array(lang_arena(l), bool, n + 1);
    bind_call(k, call, args, given);
    allocate_outputs(k, args, given, call->at_span);
    check_assumes(k, args, call->at_span);
    Value out = results(k, args, given);    // owned from here on
    if (k->host->options.record_only)
        return out;
    InterpOptions options = {.max_findings = 20,
                             .memory_limit = host_memory_left(k->host)};
    Tensor *packed = new_array(lang_arena(l), Tensor, n + 1);
    unpack_arguments(k, args, packed, call->at_span);
    if (k->host->options.launching)
        k->host->options.launching(k->host->options.ctx, k, args);
    if (k->host->options.watching)
        k->host->options.watching(k->host->options.ctx, k, args, given,
                                  &options);
    InterpResult r = kernel_run(k, CODE_AS_WRITTEN, args, NULL, &options);
    if (r.launches && k->host->options.launched)
        k->host->options.launched(k->host->options.ctx, k, &r);
    pack_arguments(k, args, packed);
    if (r.printed.len)
        buf_write(&r.printed, k->host->options.out);
    bool ok = r.ok || r.finding_total;
    int64_t grid[3];
    bool empty = empty_grid(&r, grid);
    interp_result_release(&r);
    if (!ok)
        did_not_run(k, call);
    if (empty)
        refuse_grid(k, grid, call->at_span);
    return out;
}

static void kernel_repr(Lang *l, Foreign *self, TextBuf *out)
{
    (void)l;
    buf_printf(out, "<kernel %.*s>",
               TEXT_ARG(((KernelObject *)self)->ir->name));
}

static void kernel_mark(Foreign *self, void (*mark)(Lang *l, Value v), Lang *l)
{
    const KernelObject *k = (KernelObject *)self;
    const Dict *held[] = {k->arguments, k->config};
    for (size_t i = 0; i < countof(held); i++)
        if (held[i])
            mark(l, (Value){.kind = VAL_DICT, .dict = (Dict *)held[i]});
}

const ForeignType kernel_type = {
    .name = "kernel",
    .call = kernel_call,
    .getattr = kernel_getattr,
    .method = kernel_method,
    .mark = kernel_mark,
    .repr = kernel_repr,
};
