// launch.c - which kernel of a file, with which arguments, on which tensors.
#include <stdlib.h>
#include <string.h>

#include "host/launch.h"

// ---- which kernel -------------------------------------------------------------------

static bool launchable(Value v)
{
    return v.kind == VAL_KERNEL || jit_of(v) || kernel_of(v);
}

int launch_candidates(Module *m, Candidate *out, int room)
{
    int n = 0;
    for (int i = 0; i < m->members.len; i++) {
        Value *v = m->members.at[i].value;
        if (!v || !launchable(*v))
            continue;
        if (n < room)
            out[n] = (Candidate){m->members.at[i].key, *v};
        n++;
    }
    return n;
}

static void list_candidates(Host *h, const Candidate *c, int n)
{
    TextBuf b = {0};
    for (int i = 0; i < n; i++)
        buf_printf(&b, "%s%.*s", i ? ", " : "", TEXT_ARG(c[i].name));
    diag_note(h->options.diag, (Span){0}, "choose one with --kernel: %.*s",
              (int)b.len, b.at);
    buf_release(&b);
}

static bool by_name(Module *m, Text name, const Candidate *c, int n,
                    Candidate *out)
{
    Value v;
    for (int i = 0; i < n; i++) {
        bool inner = c[i].value.kind == VAL_KERNEL
                     && text_eq(c[i].value.kernel->name, name);
        if (text_eq(c[i].name, name) || inner) {
            *out = c[i];
            return true;
        }
    }
    // a factory without a decorator has to be named
    if (lang_module_get(m, name, &v) && v.kind == VAL_FUNCTION) {
        *out = (Candidate){name, v};
        return true;
    }
    return false;
}

bool launch_choose(Host *h, Module *m, Text name, Candidate *out)
{
    Candidate c[64];
    int n = launch_candidates(m, c, countof(c));
    Diag *d = h->options.diag;
    if (name.len && by_name(m, name, c, n < 64 ? n : 64, out))
        return true;
    if (!name.len && n == 1) {
        *out = c[0];
        return true;
    }
    if (name.len)
        diag_error(d, EXIT_USAGE, (Span){0}, "no-such-kernel",
                   "there is no kernel '%.*s'", TEXT_ARG(name));
    else if (n == 0)
        diag_error(d, EXIT_USAGE, (Span){0}, "no-kernel",
                   "the file has no kernel: no @T.prim_func and no "
                   "@tilelang.jit function at its top level");
    else
        diag_error(d, EXIT_USAGE, (Span){0}, "several-kernels",
                   "the file has %d kernels", n);
    if (n)
        list_candidates(h, c, n < 64 ? n : 64);
    return false;
}

// ---- with which arguments ---------------------------------------------------------------

typedef struct {
    Host *h;
    const Candidate *c;
    const NamedText *defines;
    int count;
    KernelObject *made;
} Making;

static bool is_param(const Function *fn, Text name)
{
    for (int i = 0; i < function_param_count(fn); i++) {
        Value v;
        bool has;
        if (text_eq(function_param(fn, i, &v, &has), name))
            return true;
    }
    return false;
}

static bool is_late(const IrKernel *ir, Text name)
{
    for (int i = 0; i < ir->symbol_count; i++)
        if (text_eq(ir->symbols[i]->name, name))
            return true;
    for (int i = 0; i < ir->param_count; i++)
        if (ir->params[i].is_scalar && text_eq(ir->params[i].name, name))
            return true;
    return false;
}

// -D names that the kernel does not have are mistakes.
static void check_defines(Making *m, const Function *fn, bool eager)
{
    const IrKernel *ir = m->made->ir;
    for (int i = 0; i < m->count; i++) {
        Text name = m->defines[i].name, near = {0};
        int best = 4;
        Value v;
        if ((fn && is_param(fn, name)) || is_late(ir, name)
            || (eager && kernel_argument(m->made, name, &v)))
            continue;
        for (int j = 0; fn && j < function_param_count(fn); j++) {
            bool has;
            Text p = function_param(fn, j, &v, &has);
            if (text_distance(p, name) < best) {
                best = text_distance(p, name);
                near = p;
            }
        }
        diag_error(m->h->options.diag, EXIT_USAGE, (Span){0}, "unknown-define",
                   "-D %.*s: '%.*s' has no such argument or size",
                   TEXT_ARG(name), TEXT_ARG(m->c->name));
        if (near.len)
            diag_note(m->h->options.diag, (Span){0}, "did you mean '%.*s'?",
                      TEXT_ARG(near));
        m->made = NULL;
        return;
    }
}

static void make_from_jit(Making *m, JitObject *j)
{
    Lang *l = m->h->lang;
    const Function *fn = j->function.function;
    Dict *given = v_dict(l).dict;
    for (int i = 0; i < m->count; i++)
        if (j->eager || is_param(fn, m->defines[i].name))
            dict_set(l, given, v_str(m->defines[i].name),
                     lang_literal(l, m->defines[i].value));
    m->made = jit_make(j, given, fn->def->name_at);
    check_defines(m, fn, j->eager);
}

static void make_body(Lang *l, void *ctx)
{
    Making *m = ctx;
    Value v = m->c->value;
    (void)l;
    if (v.kind == VAL_FUNCTION)
        v = jit_new(m->h, v);
    if (jit_of(v)) {
        make_from_jit(m, jit_of(v));
        return;
    }
    m->made = kernel_of(v) ? kernel_of(v)
                           : kernel_from_ir(m->h, v.kernel, V_NONE, (Span){0});
    check_defines(m, NULL, false);
}

// Factory parameters without a value are a usage error, and all are named.
static bool missing_defines(Making *m)
{
    JitObject *j = jit_of(m->c->value);
    TextBuf b = {0};
    if (!j || j->configs.kind != VAL_NONE)
        return false;
    const Function *fn = j->function.function;
    for (int i = 0; i < function_param_count(fn); i++) {
        Value v;
        bool has, given = false;
        Text name = function_param(fn, i, &v, &has);
        for (int k = 0; k < m->count; k++)
            given = given || text_eq(m->defines[k].name, name);
        if (!has && !given && !j->eager)
            buf_printf(&b, "%s-D %.*s=...", b.len ? " " : "", TEXT_ARG(name));
    }
    if (b.len) {
        diag_error(m->h->options.diag, EXIT_USAGE, fn->def->name_at,
                   "missing-define", "'%.*s' needs %.*s",
                   TEXT_ARG(fn->name), (int)b.len, b.at);
    }
    bool any = b.len > 0;
    buf_release(&b);
    return any;
}

KernelObject *launch_make(Host *h, const Candidate *c, const NamedText *defines,
                          int define_count)
{
    Making m = {h, c, defines, define_count, NULL};
    if (missing_defines(&m))
        return NULL;
    if (!lang_try(h->lang, make_body, &m, NULL))
        return NULL;
    return m.made;
}

bool launch_reference(Host *h, Module *m, Text name, bool named, Value *out)
{
    if (m && lang_module_get(m, name, out)
        && (out->kind == VAL_FUNCTION || out->kind == VAL_BUILTIN))
        return true;
    if (named)
        diag_error(h->options.diag, EXIT_USAGE, (Span){0}, "no-reference",
                   "the file has no function '%.*s'", TEXT_ARG(name));
    *out = V_NONE;
    return false;
}

// ---- on which tensors --------------------------------------------------------------------

typedef struct {
    Host *h;
    KernelObject *k;
    const CaseOptions *o;
    LaunchCase *c;
    SymbolSize sizes[64];
    int size_count;
    bool *given;
} Filling;

static void add_size(Filling *f, Text name, int64_t value)
{
    for (int i = 0; i < f->size_count; i++)
        if (text_eq(f->sizes[i].name, name))
            return;
    if (f->size_count < (int)countof(f->sizes))
        f->sizes[f->size_count++] = (SymbolSize){name, value};
}

static bool define_number(Filling *f, Text name, Value *out)
{
    for (int i = 0; i < f->o->define_count; i++)
        if (text_eq(f->o->defines[i].name, name)) {
            *out = lang_literal(f->h->lang, f->o->defines[i].value);
            return true;
        }
    return false;
}

static bool sizes_from_defines(Filling *f)
{
    const IrKernel *ir = f->k->ir;
    for (int i = 0; i < ir->symbol_count; i++) {
        Value v;
        if (!define_number(f, ir->symbols[i]->name, &v))
            continue;
        if (v.kind != VAL_INT || v.i < 0) {
            diag_error(f->h->options.diag, EXIT_USAGE, (Span){0}, "bad-define",
                       "-D %.*s: a size is a whole number, 0 or more",
                       TEXT_ARG(ir->symbols[i]->name));
            return false;
        }
        add_size(f, ir->symbols[i]->name, v.i);
    }
    return true;
}

static int tensor_param(const Filling *f, Text name)
{
    for (int i = 0; i < f->k->ir->param_count; i++)
        if (!f->k->ir->params[i].is_scalar
            && text_eq(f->k->ir->params[i].name, name))
            return i;
    return -1;
}

static void shape_text(TextBuf *b, const int64_t *shape, int rank)
{
    buf_addc(b, '[');
    for (int d = 0; d < rank; d++)
        buf_printf(b, "%s%lld", d ? "," : "", (long long)shape[d]);
    buf_addc(b, ']');
}

// The tensor must be what parameter p declares.
static bool fits(Filling *f, int p, const Tensor *t, const char *what)
{
    const IrBuffer *b = f->k->ir->params[p].buffer;
    int64_t want[IR_MAX_RANK] = {0};
    bool same = t->rank == b->rank && t->dtype == b->dtype;
    for (int d = 0; same && d < b->rank; d++)
        if (b->shape[d]->kind == EXPR_VAR)
            add_size(f, b->shape[d]->var->name, t->shape[d]);
    bool known = kernel_shape(f->k, p, f->sizes, f->size_count, want);
    for (int d = 0; same && known && d < b->rank; d++)
        same = t->shape[d] == want[d];
    if (same || !known)
        return known;
    TextBuf m = {0};
    buf_printf(&m, "%s", dtype_info(b->dtype)->brief);
    shape_text(&m, want, b->rank);
    buf_printf(&m, ", %s %s", what, dtype_info(t->dtype)->brief);
    shape_text(&m, t->shape, t->rank);
    diag_error(f->h->options.diag, EXIT_USAGE, b->at, "wrong-tensor",
               "'%.*s' is %.*s", TEXT_ARG(b->name), (int)m.len, m.at);
    buf_release(&m);
    return false;
}

static bool bad_file(Filling *f, Text name, Text file, const char *why)
{
    diag_error(f->h->options.diag, EXIT_ENVIRONMENT, (Span){0}, "bad-file",
               "cannot read '%.*s' from '%.*s': %s", TEXT_ARG(name),
               TEXT_ARG(file), why);
    return false;
}

static bool read_tensor(Filling *f, const NamedText *in, Tensor *out)
{
    const char *why = "it holds no such tensor";
    Arena *a0 = f->h->options.arena;
    ArrayFile *file = array_open(a0, text_cstr(a0, in->value), &why);
    if (!file)
        return bad_file(f, in->name, in->value, why);
    const ArrayView *a = array_count(file) == 1 && !array_at(file, 0)->name.len
                             ? array_at(file, 0) : array_find(file, in->name);
    bool ok = a && tensor_from_array(f->h, a, out, &why);
    array_close(file);
    return ok || bad_file(f, in->name, in->value, why);
}

static bool take_file(Filling *f, const NamedText *in)
{
    int p = tensor_param(f, in->name);
    if (p < 0) {
        diag_error(f->h->options.diag, EXIT_USAGE, (Span){0}, "no-such-tensor",
                   "--in %.*s: the kernel has no such tensor",
                   TEXT_ARG(in->name));
        return false;
    }
    if (f->given[p]) {
        diag_error(f->h->options.diag, EXIT_USAGE, (Span){0}, "given-twice",
                   "--in %.*s is given twice", TEXT_ARG(in->name));
        return false;
    }
    f->given[p] = read_tensor(f, in, &f->c->args[p].tensor);
    f->c->supply[p] = in->value;
    return f->given[p];
}

static bool take_list(Filling *f, const List *list, Text words)
{
    int n = 0;
    for (int i = 0; i < f->k->ir->param_count; i++) {
        if (kernel_is_output(f->k, i) || n >= list->len)
            continue;
        Value v = list->at[n++];
        Tensor *t = tensor_of(v);
        KernelArg *a = &f->c->args[i];
        if (f->given[i])
            continue;
        if (f->k->ir->params[i].is_scalar) {
            a->i64 = v.kind == VAL_INT ? v.i : (int64_t)v.f;
            a->f64 = v.kind == VAL_INT ? (double)v.i : v.f;
        } else if (!t || !tensor_contiguous(&a->tensor, t)) {
            diag_error(f->h->options.diag, EXIT_PROGRAM, f->k->ir->at,
                       "bad-inputs", "value %d of %.*s is %s, not a tensor "
                       "for '%.*s'", n - 1, TEXT_ARG(words),
                       value_type_name(v), TEXT_ARG(f->k->ir->params[i].name));
            return false;
        }
        f->given[i] = true;
        f->c->supply[i] = words;
    }
    return true;
}

typedef struct {
    Filling *f;
    Value inputs;
    bool ok;
} InputsCall;

static void inputs_body(Lang *l, void *ctx)
{
    InputsCall *c = ctx;
    const Dict *d = c->f->k->arguments;
    const Function *fn = c->inputs.function;
    int n = d ? d->len : 0;
    Args args = {.at_span = fn->def->name_at};
    args.names = new_array(lang_arena(l), Text, n + 1);
    args.values = new_array(lang_arena(l), Value, n + 1);
    bool open = false;          // has **kwargs
    for (int i = 0; fn->def->b && i < fn->def->b->x.len; i++)
        open = open || fn->def->b->x.at[i]->param == PARAM_DOUBLE_STAR;
    for (int i = 0; i < n; i++) {
        if (d->keys[i].kind != VAL_STR || (!open && !is_param(fn, d->keys[i].s)))
            continue;
        args.names[args.keyword_count] = d->keys[i].s;
        args.values[args.keyword_count++] = d->values[i];
    }
    Value v = lang_call(l, c->inputs, &args);
    c->ok = take_list(c->f, value_to_list(l, v, fn->def->name_at),
                      TEXT("inputs()"));
}

static bool take_inputs_function(Filling *f)
{
    InputsCall c = {.f = f};
    if (!f->h->module
        || !lang_module_get(f->h->module, TEXT("inputs"), &c.inputs)
        || c.inputs.kind != VAL_FUNCTION)
        return true;
    int mark = lang_pins(f->h->lang);
    bool ok = lang_try(f->h->lang, inputs_body, &c, NULL) && c.ok;
    lang_unpin(f->h->lang, mark);
    return ok;
}

static bool fill_scalar(Filling *f, int i)
{
    Value v;
    const IrParam *p = &f->k->ir->params[i];
    KernelArg *a = &f->c->args[i];
    a->is_scalar = true;
    if (f->given[i])
        return true;
    if (!define_number(f, p->name, &v)
        || (v.kind != VAL_INT && v.kind != VAL_FLOAT && v.kind != VAL_BOOL)) {
        diag_error(f->h->options.diag, EXIT_USAGE, p->var->at, "missing-scalar",
                   "scalar '%.*s' needs a number: -D %.*s=...",
                   TEXT_ARG(p->name), TEXT_ARG(p->name));
        return false;
    }
    a->f64 = v.kind == VAL_FLOAT ? v.f : v.kind == VAL_INT ? (double)v.i : v.b;
    a->i64 = v.kind == VAL_INT ? v.i : v.kind == VAL_BOOL ? v.b : (int64_t)v.f;
    return true;
}

static bool no_memory(Filling *f, int p, const int64_t *shape)
{
    const IrBuffer *b = f->k->ir->params[p].buffer;
    TextBuf m = {0};
    shape_text(&m, shape, b->rank);
    diag_error(f->h->options.diag, EXIT_LIMIT, b->at, "no-memory",
               "tensor '%.*s' %s%.*s does not fit into memory",
               TEXT_ARG(b->name), dtype_info(b->dtype)->brief, (int)m.len,
               m.at);
    buf_release(&m);
    return false;
}

static bool fill_tensor(Filling *f, int i)
{
    const IrBuffer *b = f->k->ir->params[i].buffer;
    Tensor *t = &f->c->args[i].tensor;
    int64_t shape[IR_MAX_RANK];
    if (f->given[i])
        return fits(f, i, t, "found");
    if (!kernel_shape(f->k, i, f->sizes, f->size_count, shape))
        return false;
    if (!tensor_new(&f->h->heap, t, b->dtype, b->rank, shape))
        return no_memory(f, i, shape);
    if (kernel_is_output(f->k, i))
        return true;
    supply_fill(t, f->o->supply, f->h->options.seed, i);
    f->c->supply[i] = text_of(supply_words(f->o->supply, b->dtype));
    return true;
}

static bool take_expects(Filling *f)
{
    for (int i = 0; i < f->o->expect_count; i++) {
        const NamedText *e = &f->o->expect[i];
        int p = tensor_param(f, e->name);
        if (p < 0) {
            diag_error(f->h->options.diag, EXIT_USAGE, (Span){0},
                       "no-such-tensor",
                       "--expect %.*s: the kernel has no such tensor",
                       TEXT_ARG(e->name));
            return false;
        }
        if (!read_tensor(f, e, &f->c->expects[p])
            || !fits(f, p, &f->c->expects[p], "the file has"))
            return false;
        f->c->is_output[p] = true;
    }
    return true;
}

// ---- what a kernel writes, when out_idx does not say ------------------------------------------

typedef struct {
    bool *written;
    const OpTable *ops;
} Written;

static void note_written(const Written *w, const IrBuffer *b)
{
    while (b->alias_of)
        b = b->alias_of;
    if (b->param >= 0)
        w->written[b->param] = true;
}

static bool visit_written(void *ctx, IrStmt *s)
{
    const Written *w = ctx;
    if (s->kind == STMT_STORE)
        note_written(w, s->buffer);
    if (s->kind != STMT_TILE)
        return true;
    const OpInfo *info = op_info(w->ops, s->op);
    for (int i = 0; i < s->operand_count; i++)
        if (s->operand[i].kind == OPERAND_REGION
            && info->param[i].access != 'r')
            note_written(w, s->operand[i].region->buffer);
    return true;
}

static void find_outputs(Filling *f)
{
    const IrKernel *ir = f->k->ir;
    for (int i = 0; i < ir->param_count; i++)
        f->c->is_output[i] = kernel_is_output(f->k, i);
    if (ir->config.output_count == 0) {
        Written w = {f->c->is_output, f->h->options.ops};
        ir_walk(ir->body, visit_written, NULL, &w);
    }
}

bool launch_case(Host *h, KernelObject *k, const CaseOptions *options,
                 LaunchCase *out)
{
    Arena *a = h->options.arena;
    int n = k->ir->param_count;
    Filling f = {.h = h, .k = k, .o = options, .c = out};
    f.given = new_array(a, bool, n + 1);
    *out = (LaunchCase){.kernel = k};
    out->args = new_array(a, KernelArg, n + 1);
    out->is_output = new_array(a, bool, n + 1);
    out->supply = new_array(a, Text, n + 1);
    out->expects = new_array(a, Tensor, n + 1);
    for (int i = 0; i < n; i++)
        out->expects[i].rank = -1;
    bool ok = sizes_from_defines(&f);
    for (int i = 0; ok && i < options->in_count; i++)
        ok = take_file(&f, &options->in[i]);
    if (ok && options->inputs)
        ok = take_list(&f, options->inputs, TEXT("given by the script"));
    ok = ok && (options->inputs || take_inputs_function(&f));
    for (int i = 0; ok && i < n; i++)
        ok = k->ir->params[i].is_scalar ? fill_scalar(&f, i)
                                        : fill_tensor(&f, i);
    find_outputs(&f);
    return ok && take_expects(&f);
}

void launch_case_release(LaunchCase *c)
{
    for (int i = 0; i < c->kernel->ir->param_count; i++) {
        if (c->args[i].tensor.storage)
            tensor_release(&c->args[i].tensor);
        if (c->expects[i].rank >= 0)
            tensor_release(&c->expects[i]);
    }
}
