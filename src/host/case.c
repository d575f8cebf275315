// case.c - the tensors of one launch: given, made by the program, or generated.
#include <stdlib.h>
#include <string.h>

#include "host/launch_int.h"

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

// The tensor must be what parameter p declares; a tf32 is kept as an f32.
static bool fits(Filling *f, int p, const Tensor *t, const char *what)
{
    const IrBuffer *b = f->k->ir->params[p].buffer;
    int64_t want[IR_MAX_RANK] = {0};
    bool same = t->rank == b->rank
                && (t->dtype == b->dtype
                    || (t->dtype == DT_F32 && b->dtype == DT_TF32));
    for (int d = 0; same && d < b->rank; d++) {
        IrLinear l;
        int64_t size;
        if (ir_linear(b->shape[d], &l)
            && ir_linear_solve(&l, t->shape[d], &size))
            add_size(f, l.symbol->name, size);
    }
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

static bool read_tensor(Filling *f, const NamedText *in, Tensor *out)
{
    const char *why = "it holds no such tensor";
    Arena *a0 = f->h->options.arena;
    ArrayFile *file = array_open(a0, text_cstr(a0, in->value), &why);
    if (!file)
        return array_bad_file(f->h, in->name, in->value, why);
    const ArrayView *a = array_named(file, in->name);
    bool ok = a && tensor_from_array(f->h, a, out, &why);
    array_close(file);
    return ok || array_bad_file(f->h, in->name, in->value, why);
}

static bool usage(Filling *f, const char *id, const char *format, ...)
    PRINTF_LIKE(3, 4);
static bool usage(Filling *f, const char *id, const char *format, ...)
{
    TextBuf b = {0};
    va_list args;
    va_start(args, format);
    buf_vprintf(&b, format, args);
    va_end(args);
    diag_error(f->h->options.diag, EXIT_USAGE, (Span){0}, id, "%.*s",
               (int)b.len, b.at);
    buf_release(&b);
    return false;
}

static bool no_such_tensor(Filling *f, const char *option, Text name)
{
    TextBuf b = {0};
    for (int i = 0; i < f->k->ir->param_count; i++)
        if (!f->k->ir->params[i].is_scalar)
            buf_printf(&b, "%s%.*s", b.len ? ", " : "",
                       TEXT_ARG(f->k->ir->params[i].name));
    usage(f, "no-such-tensor", "%s %.*s: the kernel has no such tensor; it has "
          "%.*s", option, TEXT_ARG(name), (int)b.len, b.at);
    buf_release(&b);
    return false;
}

static bool take_file(Filling *f, const NamedText *in)
{
    int p = tensor_param(f, in->name);
    if (p < 0)
        return no_such_tensor(f, "--in", in->name);
    if (f->given[p])
        return usage(f, "given-twice", "--in %.*s is given twice",
                     TEXT_ARG(in->name));
    f->given[p] = read_tensor(f, in, &f->c->args[p].tensor);
    f->c->supply[p] = in->value;
    return f->given[p];
}

// Options with the nameless files, which hold tensors by name, spelt out: the
// kernel's outputs, or its inputs.
typedef struct {
    NamedText *at;
    int len, room;
} NamedList;

static bool spell_out(Filling *f, const char *option, const NamedText *from,
                      int count, bool outputs, NamedList *out)
{
    Arena *a = f->h->options.arena;
    const char *why;
    for (int i = 0; i < count; i++) {
        int before = out->len;
        ArrayFile *file = NULL;
        if (from[i].name.len) {
            vec_push(a, out, from[i]);
            continue;
        }
        bool written = !strcmp(option, "--out");
        if (!written
            && !(file = array_open(a, text_cstr(a, from[i].value), &why)))
            return array_bad_file(f->h, TEXT("tensors"), from[i].value, why);
        for (int p = 0; p < f->k->ir->param_count; p++) {
            Text name = f->k->ir->params[p].name;
            bool wanted = outputs ? f->c->is_output[p]
                                  : !kernel_is_output(f->k, p);
            if (wanted && !f->k->ir->params[p].is_scalar
                && (written || array_find(file, name)))
                vec_push(a, out, ((NamedText){name, from[i].value}));
        }
        if (file)
            array_close(file);
        if (out->len == before)
            return usage(f, "no-such-tensor", "%s %.*s: it holds none of the "
                         "kernel's %s", option, TEXT_ARG(from[i].value),
                         outputs ? "outputs" : "inputs");
    }
    return true;
}

static bool take_files(Filling *f)
{
    NamedList in = {0};
    if (!spell_out(f, "--in", f->o->in, f->o->in_count, false, &in))
        return false;
    for (int i = 0; i < in.len; i++)
        if (!take_file(f, &in.at[i]))
            return false;
    return true;
}

static bool take_outs(Filling *f)
{
    NamedList out = {0};
    if (!spell_out(f, "--out", f->o->out, f->o->out_count, true, &out))
        return false;
    for (int i = 0; i < out.len; i++) {
        const NamedText *o = &out.at[i];
        if (tensor_param(f, o->name) < 0)
            return no_such_tensor(f, "--out", o->name);
        const char *why = array_refuses(f->c, o->name, o->value);
        if (why)
            return usage(f, "out-file", "--out %.*s=%.*s: %s",
                         TEXT_ARG(o->name), TEXT_ARG(o->value), why);
    }
    f->c->outs = out.at;
    f->c->out_count = out.len;
    return true;
}

static bool take_list(Filling *f, const List *list, Text words, Span at)
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
            diag_error(f->h->options.diag, EXIT_PROGRAM, at, "bad-inputs",
                       "value %d of %.*s is %s, not a tensor "
                       "for '%.*s'", n - 1, TEXT_ARG(words),
                       value_type_name(v), TEXT_ARG(f->k->ir->params[i].name));
            return false;
        }
        f->given[i] = true;
        f->c->made_by_program = true;
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
        if (d->keys[i].kind != VAL_STR
            || (!open && !launch_takes(fn, d->keys[i].s)))
            continue;
        args.names[args.keyword_count] = d->keys[i].s;
        args.values[args.keyword_count++] = d->values[i];
    }
    Value v = lang_call(l, c->inputs, &args);
    c->ok = take_list(c->f, value_to_list(l, v, fn->def->name_at),
                      TEXT("inputs()"), fn->def->name_at);
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
    double bytes = dtype_bytes(b->dtype, 1);
    shape_text(&m, shape, b->rank);
    for (int d = 0; d < b->rank; d++)
        bytes *= shape[d];
    diag_error(f->h->options.diag, EXIT_LIMIT, b->at, "no-memory",
               "tensor '%.*s' %s%.*s does not fit into memory: it has %.0f GiB",
               TEXT_ARG(b->name), dtype_info(b->dtype)->brief, (int)m.len,
               m.at, bytes / 0x1p30);
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
    if (f->o->zero_floats && dtype_is_float(b->dtype))
        return true;
    if (kernel_is_output(f->k, i)) {
        tensor_poison(t);
        return true;
    }
    supply_fill(t, f->o->supply, f->h->options.seed, i);
    f->c->supply[i] = text_of(supply_words(f->o->supply, b->dtype));
    return true;
}

static bool take_expects(Filling *f)
{
    NamedList expect = {0};
    if (!spell_out(f, "--expect", f->o->expect, f->o->expect_count, true,
                   &expect))
        return false;
    for (int i = 0; i < expect.len; i++) {
        const NamedText *e = &expect.at[i];
        int p = tensor_param(f, e->name);
        if (p < 0)
            return no_such_tensor(f, "--expect", e->name);
        if (f->c->expects[p].rank >= 0)
            return usage(f, "given-twice", "--expect %.*s is given twice",
                         TEXT_ARG(e->name));
        Tensor t;
        if (!read_tensor(f, e, &t))
            return false;
        f->c->expects[p] = t;
        if (!fits(f, p, &t, "the file has"))
            return false;
        f->c->is_output[p] = true;
    }
    return true;
}

// ---- what a kernel writes, when out_idx does not say ------------------------

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

static void empty_case(Host *h, KernelObject *k, LaunchCase *out)
{
    Arena *a = h->options.arena;
    int n = k->ir->param_count;
    *out = (LaunchCase){.kernel = k};
    out->is_output = new_array(a, bool, n + 1);
    out->supply = new_array(a, Text, n + 1);
    out->expects = new_array(a, Tensor, n + 1);
    out->before = new_array(a, Tensor, n + 1);
    for (int i = 0; i < n; i++)
        out->expects[i].rank = out->before[i].rank = -1;
}

void launch_case_of(Host *h, KernelObject *k, KernelArg *args, LaunchCase *out)
{
    Filling f = {.h = h, .k = k, .c = out};
    empty_case(h, k, out);
    out->args = args;
    out->made_by_program = true;
    find_outputs(&f);
}

bool launch_case(Host *h, KernelObject *k, const CaseOptions *options,
                 LaunchCase *out)
{
    Arena *a = h->options.arena;
    int n = k->ir->param_count;
    Filling f = {.h = h, .k = k, .o = options, .c = out};
    f.given = new_array(a, bool, n + 1);
    empty_case(h, k, out);
    out->args = new_array(a, KernelArg, n + 1);
    find_outputs(&f);
    bool ok = sizes_from_defines(&f) && take_files(&f);
    if (ok && options->inputs)
        ok = take_list(&f, options->inputs, TEXT("given by the script"),
                       k->ir->at);
    ok = ok && (options->inputs || take_inputs_function(&f));
    for (int i = 0; ok && i < n; i++)
        ok = k->ir->params[i].is_scalar ? fill_scalar(&f, i)
                                        : fill_tensor(&f, i);
    return ok && take_expects(&f) && take_outs(&f);
}

void launch_case_release(LaunchCase *c)
{
    for (int i = 0; i < c->kernel->ir->param_count; i++) {
        if (c->args[i].tensor.storage)
            tensor_release(&c->args[i].tensor);
        if (c->expects[i].rank >= 0)
            tensor_release(&c->expects[i]);
        if (c->before[i].rank >= 0)
            tensor_release(&c->before[i]);
    }
}
